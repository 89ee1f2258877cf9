//! Milestones by command, with scripted agents: every way in which a round can go (M1–M11). Whatever the two do, the main
//! branch and the user's checkout stay as they were.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Ran, World};

mod documented;
mod findings;
mod founding;
mod hostile;
mod in_app;
mod left_over;
mod limits;
mod people;
mod places;
mod refreezing;
mod refusals;
mod rounds;
mod sessions;
mod tampering;
mod timeouts;
mod wording;

/// The id of the milestone in these tests.
const ID: &str = "two";
const BRANCH: &str = "milestone/two";
const FILE: &str = ".dacapo/milestones/two.md";

const DEFINITION: &str = "# Two files

## Goal
Two files, F-1 and F-2.

## Features
- the first file
  Accept: F-1 is not empty
- the second file

## Acceptance Criteria
- both files are there
- nothing else is

## Constraints
No third file.
";

/// What the agents' scripts are written with. A call runs the snippet of its number.
const WORDS: &str = r#"round=$((DACAPO_ITERATION + 1))
commit() { git add -A && git commit -qm "$1"; }
report() { # FEATURE COMMIT
    printf '## Implementation Report — Round %s\n\n**Feature**: %s\n**Commit**: %s\n' "$round" "$1" "$2"
    printf '**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- %s: written in round %s\n\n### Notes\nA marvel of %s.\n' "$1" "$round" "$1"
}
build() { # FEATURE
    echo "$round.$DACAPO_ATTEMPT" > "$1"; commit "feat: $1 in round $round"; echo 'On it.'; report "$1" "$(git rev-parse HEAD)"
}
complete() {
    printf '## ALL_FEATURES_COMPLETE\n\n### Commits\n'; git log --format='- %H: %s' "$base..HEAD"
    printf '\n### Summary\nA marvel of a milestone.\n'
}
accept() { echo ACCEPTED; }
accept_all() { printf 'ACCEPTED\nC-1: met\nC-2: met\n'; }
reject() { # REASON FINDING…
    echo "REJECTED: $1"; shift; for finding in "$@"; do echo "- $finding"; done
}
dacapo() { HOME=$home DACAPO_HOME=$data "$program" -C "$repo" "$@"; }
"#;

/// All features at once, and everything accepted.
const BUILDS: [&str; 3] = ["build F-1", "build F-2", "complete"];
const ACCEPTS: [&str; 3] = ["accept", "accept", "accept_all"];

/// A repository with a milestone, and its two agents `dev` and `acc`.
struct Stage {
    world: World,
    /// The main branch.
    main: &'static str,
    /// What the main branch, HEAD and the checkout were.
    before: String,
}

impl Stage {
    fn new() -> Self {
        Self::with("", "")
    }

    /// One whose agents reach what a room keeps from them.
    fn unconfined() -> Self {
        Self::with("", "room = \"none\"")
    }

    /// With more in the front matter, and more in the config before its first table.
    fn with(settings: &str, config: &str) -> Self {
        let world = World::new();
        world.write(FILE, format!("---\ndeveloper: dev\nacceptor: acc\n{settings}---\n{DEFINITION}"));
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "docs: a milestone"]);
        let agents = ["dev", "acc"].map(|name| {
            fs::create_dir(world.scratch(name)).unwrap();
            let script = world.scratch(name).join("agent");
            format!("[agents.{name}]\ncommand = [\"sh\", {script:?}]\noutput = \"text\"\n")
        });
        world.config(&format!("{config}\n{}", agents.concat()));
        let stage = Self { world, main: "main", before: String::new() };
        stage.plays("dev", &[]);
        stage.plays("acc", &[]);
        stage.with_all_this()
    }

    /// What the user has now must stay.
    fn with_all_this(self) -> Self {
        Self { before: self.users(), ..self }
    }

    /// What each call of an agent does; a call beyond these says so, which is no reply that fits.
    fn plays(&self, agent: &str, calls: &[&str]) {
        let dir = self.world.scratch(agent);
        let set = |name: &str, path: PathBuf| format!("{name}={:?}\n", path.display().to_string());
        let mut script = [
            set("stage", dir.clone()),
            set("repo", self.world.repo()),
            set("home", self.world.home()),
            set("data", self.world.data()),
            set("program", env!("CARGO_BIN_EXE_dacapo").into()),
            set("scratch", self.world.scratch("")),
        ]
        .concat();
        script += &format!("base={}\n{WORDS}", self.world.git(&["rev-parse", self.main]));
        script += "call=$(($(ls \"$stage\" | grep -c '^told-') + 1))\n";
        script += "cat > \"$stage/told-$call\"; echo \"$@\" > \"$stage/words-$call\"\ncase $call in\n";
        for (at, call) in calls.iter().enumerate() {
            script += &format!("{}) {call}\n;;\n", at + 1);
        }
        script += "*) echo 'nothing is left to do' ;;\nesac\n";
        fs::write(dir.join("agent"), script).unwrap();
    }

    /// Both agents' calls.
    fn play(&self, developer: &[&str], acceptor: &[&str]) {
        self.plays("dev", developer);
        self.plays("acc", acceptor);
    }

    /// `dacapo …`, after which the main branch is where it was.
    #[must_use]
    #[track_caller]
    fn run(&self, words: &[&str]) -> Ran {
        let ran = self.world.run(words);
        assert_eq!(self.users(), self.before, "after {words:?}\n{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// `dacapo milestone COMMAND two …`
    #[must_use]
    #[track_caller]
    fn milestone(&self, command: &str, words: &[&str]) -> Ran {
        let words: Vec<&str> = ["milestone", command, ID].into_iter().chain(words.iter().copied()).collect();
        self.run(&words)
    }

    #[must_use]
    #[track_caller]
    fn start(&self) -> Ran {
        self.milestone("start", &[])
    }

    /// What is the user's: the main branch, where HEAD is, and what is not committed.
    fn users(&self) -> String {
        let head = self.world.git(&["symbolic-ref", "HEAD"]);
        let at = self.world.git(&["rev-parse", self.main, "HEAD"]);
        format!("{head}\n{at}\n{}", self.world.git(&["status", "--porcelain", "--untracked-files=all"]))
    }

    /// `status --json`.
    fn status(&self) -> Value {
        self.world.status(ID)
    }

    /// The status, then rounds, accepted ones and rejections in a row.
    fn standing(&self) -> (String, [u64; 3]) {
        let seen = self.status()["milestone"].clone();
        let numbers = ["rounds", "iteration_count", "consecutive_rejections"];
        (seen["status"].as_str().unwrap().to_owned(), numbers.map(|field| seen[field].as_u64().unwrap()))
    }

    /// In its status and in the files of the main checkout (M8).
    #[track_caller]
    fn stands(&self, status: &str, [rounds, accepted, rejections]: [u64; 3]) {
        assert_eq!(
            self.standing(),
            (status.to_owned(), [rounds, accepted, rejections]),
            "{:#}",
            self.status()["milestone"]
        );
        let own: Value = serde_json::from_str(&self.world.read(&FILE.replace(".md", ".json"))).unwrap();
        let fields = ["status", "rounds", "iteration_count", "consecutive_rejections", "branch_name"];
        let expected = json!([status, rounds, accepted, rejections, BRANCH]);
        assert_eq!(Value::from(fields.map(|field| own[field].clone()).to_vec()), expected, "{own:#}");
        let all: Value = serde_json::from_str(&self.world.read(".dacapo/state.json")).unwrap();
        let current = match status {
            "completed" | "awaiting_review" => json!(["sleeping", null]),
            _ => json!(["paused", ID]),
        };
        assert_eq!(json!([all["status"], all["current_milestone"]]), current, "{all:#}");
    }

    /// What a person is asked: the kind of question, and its words.
    fn needs(&self) -> (String, String) {
        let needs = self.status()["needs"].clone();
        ["kind", "question"].map(|field| needs[field].as_str().unwrap_or_default().to_owned()).into()
    }

    /// One round of the history, from 1.
    fn round(&self, number: usize) -> Value {
        self.status()["milestone"]["history"][number - 1].clone()
    }

    /// How each round was judged: accepted, by whom.
    fn verdicts(&self) -> Vec<(bool, String)> {
        let history = self.status()["milestone"]["history"].clone();
        let verdicts = history.as_array().unwrap().iter().map(|round| &round["verdict"]);
        verdicts
            .map(|verdict| {
                (verdict["accepted"].as_bool().unwrap(), verdict["by"].as_str().unwrap().to_owned())
            })
            .collect()
    }

    /// Calls of the Developer and of the Acceptor so far.
    fn calls(&self) -> [usize; 2] {
        ["dev", "acc"].map(|agent| {
            let files = fs::read_dir(self.world.scratch(agent)).unwrap();
            files
                .filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().starts_with("told-"))
                .count()
        })
    }

    /// What an agent was told in one of its calls, from 1.
    #[track_caller]
    fn told(&self, agent: &str, call: usize) -> String {
        let path = self.world.scratch(agent).join(format!("told-{call}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[track_caller]
    fn assert_told(&self, agent: &str, call: usize, what: &str) {
        let told = self.told(agent, call);
        assert!(told.contains(what), "{agent} was not told in call {call}: {what}\n{told}");
    }

    #[track_caller]
    fn assert_not_told(&self, agent: &str, call: usize, what: &str) {
        let told = self.told(agent, call);
        assert!(!told.contains(what), "{agent} was told in call {call}: {what}\n{told}");
    }

    /// Subjects of the milestone's commits, oldest first.
    fn commits(&self) -> Vec<String> {
        let log = self.world.git(&["log", "--reverse", "--format=%s", &format!("{}..{BRANCH}", self.main)]);
        log.lines().map(str::to_owned).collect()
    }
}
