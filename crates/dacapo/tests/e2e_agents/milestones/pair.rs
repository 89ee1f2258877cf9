//! A world with two real agents in it and a milestone for them, and what the model server saw of both.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use dacapo_core::spec::TaskName;
use dacapo_core::store::Home;
use serde_json::Value;

use super::script::{Asked, DEFINITION, ID, Players, Role, opening};
use crate::agents::{Agent, Retries};
use crate::model_server::{Answer, Call, CallKind, ModelServer, Usage};
use crate::rig::{config, environment};
use crate::running::Running;
use crate::support::{Ran, World};

/// What the project remembers; both are told so after an interruption.
pub(crate) const MEMORY: &str = "The crimson rule: a file for each feature.";

/// A Developer and an Acceptor at home in one world.
pub(crate) struct Pair {
    pub(crate) world: World,
    pub(crate) server: ModelServer,
    pub(crate) players: Players,
    /// Where main is, and all that is in the main checkout.
    main: String,
    env: BTreeMap<OsString, OsString>,
}

impl Pair {
    /// Both talk to one server, which answers so.
    pub(crate) fn with(
        developer: &'static Agent,
        acceptor: &'static Agent,
        answer: impl Fn(&Players, &Asked<'_>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let world = World::new();
        world.write(&format!(".dacapo/milestones/{ID}.md"), DEFINITION);
        world.write(".dacapo/memory/project.md", MEMORY);
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "a milestone"]);
        let main = world.git(&["rev-parse", "main"]);
        let players = Players { developer, acceptor, worktree: worktree(&world) };
        let server = ModelServer::start({
            let players = players.clone();
            move |call| {
                let asked =
                    Asked::read(call).unwrap_or_else(|| panic!("none of the milestone: {}", call.history()));
                answer(&players, &asked)
            }
        });
        let mut agents = vec![developer, acceptor];
        agents.dedup_by_key(|agent| agent.name);
        let env = environment(&world, &agents, &server.url(), Retries::AsShipped);
        world.config(&agents.into_iter().map(config).collect::<String>());
        Self { world, server, players, main, env }
    }

    /// `dacapo milestone …`, not started yet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.world.command(&["milestone"]);
        command.args(words).envs(&self.env);
        command
    }

    /// `dacapo milestone start`, with both agents.
    pub(crate) fn start(&self) -> Running {
        let Players { developer, acceptor, .. } = &self.players;
        let words = ["start", ID, "--developer", developer.name, "--acceptor", acceptor.name];
        Running::start(self.command(&words))
    }

    /// It ends with this exit code; else all is shown.
    #[track_caller]
    pub(crate) fn ends(&self, running: Running, code: i32) -> Ran {
        let ran = running.finish();
        assert_eq!(
            ran.code,
            code,
            "\n--- stdout\n{}\n--- stderr\n{}\n{}",
            ran.stdout,
            ran.stderr,
            self.talk()
        );
        ran
    }

    /// What is shown when a test fails: both conversations, as they were last seen.
    fn talk(&self) -> String {
        let talk = |role| self.calls(role).last().map(Call::history).unwrap_or_default();
        format!("--- Developer\n{}\n--- Acceptor\n{}", talk(Role::Developer), talk(Role::Acceptor))
    }

    pub(crate) fn agent(&self, role: Role) -> &'static Agent {
        match role {
            Role::Developer => self.players.developer,
            Role::Acceptor => self.players.acceptor,
        }
    }

    /// The calls of one role, oldest first.
    pub(crate) fn calls(&self, role: Role) -> Vec<Call> {
        let calls = self.server.calls(CallKind::Main).into_iter();
        calls.filter(|call| Asked::read(call).is_some_and(|asked| asked.role == role)).collect()
    }

    /// The first call of each turn of a role: what it was told.
    pub(crate) fn turns_of(&self, role: Role) -> Vec<Call> {
        let calls = self.calls(role).into_iter();
        calls.filter(|call| Asked::read(call).is_some_and(|asked| asked.results.is_empty())).collect()
    }

    /// Turns of the journal, by role.
    pub(crate) fn recorded(&self, role: Role) -> Vec<Value> {
        let prompt =
            |turn: &Value| self.world.prompt(ID, u32::try_from(turn["turn"].as_u64().unwrap()).unwrap());
        let of_role = |turn: &Value| opening(&prompt(turn)).is_some_and(|(told, _)| told == role);
        self.world.events(ID, "turn_finished").into_iter().filter(of_role).collect()
    }

    /// How often a process was greeted over ACP, in each turn of a role.
    pub(crate) fn greetings(&self, role: Role) -> Vec<usize> {
        let number = |turn: &Value| turn["turn"].as_u64().unwrap().to_string();
        let raw = |turn: &Value| self.world.run(&["logs", ID, "--turn", &number(turn)]).expect(0).stdout;
        self.recorded(role).iter().map(|turn| raw(turn).matches("\"protocolVersion\"").count()).collect()
    }

    /// Its status in `dacapo milestone list --json`.
    pub(crate) fn standing(&self) -> String {
        let listed = self.world.run(&["milestone", "list", "--json"]).expect(0).stdout;
        let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
        assert_eq!((listed.len(), &listed[0]["id"]), (1, &ID.into()), "{listed:?}");
        listed[0]["status"].as_str().unwrap().to_owned()
    }

    /// Main and its checkout are as they were.
    pub(crate) fn assert_main_untouched(&self) {
        assert_eq!(self.world.git(&["rev-parse", "main", "HEAD"]), format!("{0}\n{0}", self.main));
        assert_eq!(self.world.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(self.world.git(&["status", "--porcelain"]), "");
    }

    /// Tokens and money are those that the server charged, all calls of both agents summed up.
    pub(crate) fn assert_accounts(&self) {
        let charged = self.charged(|_| true);
        assert_eq!(self.accounts(), (charged.0, Cents::of(charged.1)));
    }

    /// The same where a turn was broken off in this round, of which the agent tells some or nothing: no more is missing.
    pub(crate) fn assert_accounts_but_for(&self, role: Role, round: u32) {
        let first = |asked: &Asked<'_>| asked.role == role && asked.round == round;
        let times = self.turns_of(role).iter().filter_map(Asked::read).find(first).map(|asked| asked.times);
        let charged = self.charged(|_| true);
        // The turn in its place has another number in the conversation, be it the first of a new one.
        let rest = self.charged(|asked| !(first(asked) && Some(asked.times) == times));
        let (tokens, cost) = self.accounts();
        assert!(rest.0.input <= tokens.input && tokens.input <= charged.0.input, "{tokens:?} of {charged:?}");
        assert!(
            rest.0.output <= tokens.output && tokens.output <= charged.0.output,
            "{tokens:?} of {charged:?}"
        );
        assert!(Cents::of(rest.1) <= cost && cost <= Cents::of(charged.1), "{cost:?} of {charged:?}");
    }

    /// What the JSON for programs says; the mirror in the main checkout says the same.
    fn accounts(&self) -> (Usage, Cents) {
        let status = self.world.status(ID);
        let count =
            |name: &str| status["tokens"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {status:#}"));
        let tokens = Usage { input: count("input"), output: count("output"), cached: 0 };
        let cost = |json: &Value| {
            Cents::of(json["cost_usd"].as_f64().unwrap_or_else(|| panic!("no cost in {json:#}")))
        };
        let mirror = self.mirror(&format!("milestones/{ID}.json"));
        assert_eq!(mirror["tokens_used"], tokens.input + tokens.output, "{mirror:#}");
        assert_eq!(cost(&mirror), cost(&status), "{mirror:#}");
        (tokens, cost(&status))
    }

    /// A mirror in the main checkout.
    pub(crate) fn mirror(&self, path: &str) -> Value {
        let text = self.world.read(&format!(".dacapo/{path}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
    }

    /// What the server charged for such calls, and what that costs, as the agents tell it.
    fn charged(&self, wanted: impl Fn(&Asked<'_>) -> bool) -> (Usage, f64) {
        let mut sum = (Usage::default(), 0.0);
        for one in self.server.requests() {
            let (Some(call), Some(usage)) = (&one.call, one.usage) else { continue };
            let asked = Asked::read(call).unwrap_or_else(|| panic!("nobody pays for {}", one.body));
            if wanted(&asked) {
                let agent = self.agent(asked.role);
                let told = (agent.tells)(usage);
                sum.1 += agent.price.of(told);
                sum.0 += Usage { cached: 0, ..told };
            }
        }
        sum
    }
}

/// Money, to a ten-millionth of a cent: sums in another order differ by less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cents(i64);

impl Cents {
    #[expect(clippy::cast_possible_truncation, reason = "tests are cheap")]
    fn of(usd: f64) -> Self {
        Self((usd * 1e9).round() as i64)
    }
}

/// Where the milestone's worktree will be.
fn worktree(world: &World) -> PathBuf {
    let common = dacapo_core::git::common_dir(&world.repo(), &std::env::vars_os().collect()).unwrap();
    Home::new(world.data()).repo(&common).worktree(&TaskName::parse(ID).unwrap())
}
