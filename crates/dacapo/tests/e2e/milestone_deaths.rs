//! M9: whatever ends the process of a milestone, at whatever instant, it goes on from there: no round is lost or had
//! twice, the Developer puts the tree in order first, and both agents hear that they were interrupted.
//!
//! The milestone is always the same one: a feature that is accepted, one that is rejected with a finding and then
//! repaired, and the final acceptance. Its agents are `agent.sh`, which writes down all that it is told.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

mod again;
mod answers;
mod background;
mod events;
mod git;
mod sessions;
mod turns;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{World, wait_for};

const AGENT: &str = include_str!("milestone_deaths/agent.sh");

const DEFINITION: &str = "---\ndeveloper: builder\nacceptor: judge\n---\n\n## Goal\n\nTwo files.\n\n## Features\n\n- one\n- two\n\n## Acceptance Criteria\n\n- both are good\n";

const MEMORY: &str = "The files were three once.";

/// Rounds of the milestone, with the final one.
const ROUNDS: usize = 4;

const ACP: &str = include_str!("milestone_deaths/acp.sh");

/// How an agent talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// No session, and no final word: a turn that nobody watched to its end is had again.
    Text,
    /// With both, in a process a turn.
    Sessions,
    /// With both, in a process that lives as long as Dacapo's.
    Acp,
}

impl Format {
    fn settings(self, name: &str, role: &str, world: &World) -> String {
        let (script, output, more) = match self {
            Format::Text => ("agent.sh", "text", "prompt = \"stdin\"\n"),
            Format::Sessions => {
                ("agent.sh", "rehearsal", "prompt = \"stdin\"\nresume = [\"--resume\", \"{session}\"]\n")
            }
            Format::Acp => ("acp.sh", "acp", ""),
        };
        let words = ["sh", &at(world, script), role, &at(world, "desk"), output];
        format!("[agents.{name}]\ncommand = {words:?}\noutput = \"{output}\"\n{more}")
    }
}

fn at(world: &World, name: &str) -> String {
    world.scratch(name).to_str().unwrap().to_owned()
}

/// A turn of an agent, as it saw it.
#[derive(Debug)]
struct Turn {
    role: String,
    round: usize,
    /// The session that it was to go on in.
    session: Option<String>,
    told: String,
}

impl Turn {
    /// M9: what was done, the commits, the project's memory, and that there was an interruption.
    #[track_caller]
    fn assert_recovers(&self, rounds: usize, commits: &[&str]) {
        let told = &self.told;
        let done = match rounds {
            0 => "No round had been finished.".to_owned(),
            1 => "Round 1 had been finished.".to_owned(),
            many => format!("Rounds 1 to {many} had been finished."),
        };
        for part in ["## After an interruption", "was interrupted", &done, MEMORY].iter().chain(commits) {
            assert!(told.contains(part), "{} {} lacks {part:?}:\n{told}", self.role, self.round);
        }
    }
}

/// A milestone `m` that is to be started, with these two.
fn team(developer: Format, acceptor: Format) -> World {
    let world = World::new();
    fs::write(world.scratch("agent.sh"), AGENT).unwrap();
    fs::write(world.scratch("acp.sh"), ACP).unwrap();
    fs::create_dir(world.scratch("desk")).unwrap();
    world.config(&format!(
        "[notify]\ndesktop = false\n{}{}",
        developer.settings("builder", "developer", &world),
        acceptor.settings("judge", "acceptor", &world),
    ));
    world.write(".dacapo/milestones/m.md", DEFINITION);
    world.write(".dacapo/memory/project.md", MEMORY);
    world.git(&["add", "-f", ".dacapo"]);
    world.git(&["commit", "-qm", "plan"]);
    world
}

const START: [&str; 6] = ["milestone", "start", "m", "--check", "test -e one", "--json"];
const RESUME: [&str; 4] = ["milestone", "resume", "m", "--json"];

impl World {
    /// All turns, in the order in which they began.
    fn turns_seen(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Ok(who) = fs::read_to_string(self.scratch("desk").join(format!("{}/who", turns.len()))) {
            let told = self.scratch("desk").join(format!("{}/told", turns.len()));
            let words: Vec<&str> = who.split_whitespace().collect();
            turns.push(Turn {
                role: words[0].to_owned(),
                round: words[1].parse().unwrap(),
                session: Some(words[2].to_owned()).filter(|session| session != "new"),
                told: fs::read_to_string(told).unwrap(),
            });
        }
        turns
    }

    /// What happens to the first turn of this role in this round, from a point of its work on.
    fn accident(&self, turn: &str, point: &str, script: &str) {
        let path = self.scratch("desk").join(format!("{turn}.sh"));
        fs::write(path, format!("# {point}\n{script}\n")).unwrap();
    }

    /// Starts it, and waits until somebody waits to be killed.
    fn until_ready(&self, words: &[&str]) -> Child {
        let ready = self.scratch("desk").join("ready");
        let _ = fs::remove_file(&ready);
        let child = self.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the moment", || ready.exists());
        child
    }

    /// What was sent back: there was never a reason to.
    fn sent_back(&self) -> Vec<Value> {
        let steps = self.events("m", "milestone").into_iter();
        steps.filter(|step| step["step"].as_str().is_some_and(|word| word.ends_with("sent_back"))).collect()
    }

    /// Goes on with the milestone to its end, with nothing between a death and this. False: it was over.
    fn milestone_to_the_end(&self) -> bool {
        let ran = self.run(&RESUME);
        let over_before = ran.code == 2 && ran.stderr.contains("is completed");
        assert!(ran.code == 0 || over_before, "resume: {}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
        !over_before
    }

    /// As if nothing had happened: every round once and with its verdict, every commit once, and nothing left. Gives back
    /// the milestone as it is shown, with subjects for commits.
    #[track_caller]
    fn assert_whole(&self) -> Value {
        let status = self.status("m");
        assert_eq!(status["outcome"], "completed", "{status:#}");
        assert_eq!((&status["iteration"], &status["iterations_succeeded"]), (&json!(4), &json!(3)));
        let rounds: Vec<Value> = self
            .events("m", "iteration_finished")
            .iter()
            .map(|round| {
                json!([round["iteration"], round["success"], round["summary"], round["changed_files"]])
            })
            .collect();
        assert_eq!(
            Value::from(rounds),
            json!([
                [0, true, "accepted: F-1", ["one"]],
                [1, false, "rejected: F-2", ["two"]],
                [2, true, "accepted: F-2", ["two"]],
                [3, true, "accepted: all features complete", []],
            ])
        );
        let shown = &status["milestone"];
        let counts = ["status", "rounds", "iteration_count", "consecutive_rejections"].map(|key| &shown[key]);
        assert_eq!(counts, [&json!("completed"), &json!(4), &json!(3), &json!(0)], "{shown:#}");
        let own = self.git(&["log", "--format=%H %s", "main..milestone/m"]);
        let own: Vec<(&str, &str)> = own.lines().map(|line| line.split_once(' ').unwrap()).collect();
        let subjects: Vec<&str> = own.iter().map(|(_, subject)| *subject).collect();
        assert_eq!(subjects, ["fix: two", "feat: two", "feat: one"], "each commit once");
        assert_eq!(self.git(&["log", "--format=%s", "main"]), "plan\nfirst", "main is untouched");
        self.assert_left_in_order(Path::new(status["worktree"].as_str().unwrap()));
        self.assert_mirrored(shown, &status["tokens"]);
        let text = own.iter().fold(shown.to_string(), |text, (commit, subject)| {
            text.replace(commit, subject).replace(&commit[..7], subject)
        });
        serde_json::from_str(&text).unwrap()
    }

    /// The files in the main checkout say what is so (M8), and nothing of an earlier one is left.
    #[track_caller]
    fn assert_mirrored(&self, shown: &Value, tokens: &Value) {
        let mirror = self.mirror("milestones/m.json").unwrap();
        let said = ["status", "rounds", "iteration_count", "consecutive_rejections"].map(|key| &mirror[key]);
        let is = ["status", "rounds", "iteration_count", "consecutive_rejections"].map(|key| &shown[key]);
        assert_eq!(said, is, "{mirror:#}");
        let used = tokens["input"].as_u64().unwrap() + tokens["output"].as_u64().unwrap();
        let fixed = [&mirror["tokens_used"], &mirror["branch_name"], &mirror["base_commit"]];
        let main = self.git(&["rev-parse", "main"]);
        assert_eq!(fixed, [&json!(used), &json!("milestone/m"), &json!(main)], "{mirror:#}");
        let state = self.mirror("state.json").unwrap();
        assert_eq!((&state["status"], &state["current_milestone"]), (&json!("sleeping"), &Value::Null));
        let files = fs::read_dir(self.repo().join(".dacapo")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.filter(|name| name.starts_with(".mirror")).count(), 0);
    }

    /// A file for others to read, below `.dacapo`: it is not there, or it is whole.
    fn mirror(&self, name: &str) -> Option<Value> {
        let text = fs::read_to_string(self.repo().join(".dacapo").join(name)).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    /// The journal is whole, the trees are clean, and nothing is held or half-done.
    #[track_caller]
    fn assert_left_in_order(&self, worktree: &Path) {
        let numbers: Vec<u64> = self.journal("m").iter().map(|line| line["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
        assert_eq!(self.git(&["status", "--porcelain", "--branch"]), "## main");
        assert_eq!(self.git_in(worktree, &["status", "--porcelain", "--branch"]), "## milestone/m");
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1, "the user's");
        assert_eq!(self.git(&["for-each-ref", "refs/dacapo/rescue"]), "", "nothing had to be rescued");
        let locks = ["index.lock", "HEAD.lock", "refs/heads/milestone/m.lock"];
        let dirs = [self.repo().join(".git"), worktree.join(".git")];
        for lock in dirs.iter().flat_map(|dir| locks.map(|lock| dir.join(lock))) {
            assert!(!lock.exists(), "{lock:?}");
        }
        self.assert_nothing_left("m");
    }
}
