//! The kinds of task that are tortured, how each is started, and how one is brought to its end.

use serde_json::Value;

use super::case::{Case, LOOK, Ran, WORK};
use super::invariants::bytes_of;
use super::tally::Fault;
use crate::Outcome;

/// Both agents of a milestone, as the end-to-end tests have them.
const MILESTONE_AGENT: &str = include_str!("../../../crates/dacapo/tests/e2e/milestone_deaths/agent.sh");

const MILESTONE: &str = "---\ndeveloper: builder\nacceptor: judge\n---\n\n## Goal\n\nTwo files.\n\n## Features\n\n\
                         - one\n- two\n\n## Acceptance Criteria\n\n- both are good\n";

/// Green from the third iteration on, whichever of them made a file.
pub(super) const CHECK: &str = "ls f[2-9].txt";

/// What an agent does in a turn: a file with the iteration's number, one that git ignores, and a line for the user's diary.
pub(super) const AGENT: &str = "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION.txt; \
                     mkdir -p results; echo $DACAPO_ITERATION > results/model.bin; \
                     if test -e diary.txt; then echo $DACAPO_ITERATION >> diary.txt; fi; echo did it";

const SCRIPT: &str = "iterations:\n  - - say: Working on it.\n    - write: { path: \"f{iteration}.txt\", text: \"{iteration}\\n\" }\n    \
                      - usage: { input: 10, output: 5, cost_usd: 0.01 }\n    - sleep: 5ms\n    - say: did it\n";

/// How a task can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    InPlace,
    InPlaceChecked,
    Worktree,
    WorktreeChecked,
    Spawned,
    SpawnedChecked,
    /// Spawned behind another that has the only place.
    Queued,
    Milestone,
    MilestoneSpawned,
}

impl Kind {
    /// All but the milestones.
    pub(super) const LOOPS: [Self; 7] = [
        Self::InPlace,
        Self::InPlaceChecked,
        Self::Worktree,
        Self::WorktreeChecked,
        Self::Spawned,
        Self::SpawnedChecked,
        Self::Queued,
    ];

    pub(super) fn is_milestone(self) -> bool {
        match self {
            Self::Milestone | Self::MilestoneSpawned => true,
            Self::InPlace
            | Self::InPlaceChecked
            | Self::Worktree
            | Self::WorktreeChecked
            | Self::Spawned
            | Self::SpawnedChecked
            | Self::Queued => false,
        }
    }

    /// Whether its end is to be proven.
    pub(super) fn is_checked(self) -> bool {
        matches!(self, Self::InPlaceChecked | Self::WorktreeChecked | Self::SpawnedChecked)
    }

    pub(super) fn is_in_background(self) -> bool {
        matches!(self, Self::Spawned | Self::SpawnedChecked | Self::Queued | Self::MilestoneSpawned)
    }

    pub(super) fn is_in_place(self) -> bool {
        matches!(self, Self::InPlace | Self::InPlaceChecked)
    }

    /// Changes to files that starting and running it takes, its git's included: where strikes are aimed at.
    pub(super) fn calls(self) -> usize {
        match self {
            Self::InPlace => 240,
            Self::InPlaceChecked | Self::Worktree => 280,
            Self::WorktreeChecked | Self::Spawned => 320,
            Self::SpawnedChecked | Self::Queued => 360,
            Self::Milestone | Self::MilestoneSpawned => 420,
        }
    }
}

/// A task and how it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The command that starts it.
    pub(super) words: Vec<String>,
}

/// Iterations of a loop that no check ends.
pub(super) const ITERATIONS: u64 = 3;

impl Task {
    /// Writes what it needs; nothing is started.
    pub(super) fn new(case: &mut Case, name: &str, kind: Kind) -> Outcome<Self> {
        if kind.is_milestone() {
            return Self::milestone(case, kind);
        }
        let start = if kind.is_in_background() { "spawn" } else { "exec" };
        let mut words = vec![start.to_owned(), "--name".to_owned(), name.to_owned()];
        let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        match kind {
            Kind::InPlace | Kind::InPlaceChecked => add(&["--noworktree"]),
            Kind::Worktree | Kind::WorktreeChecked => add(&["--worktree"]),
            Kind::Spawned | Kind::SpawnedChecked | Kind::Queued => {}
            Kind::Milestone | Kind::MilestoneSpawned => {}
        }
        let iterations = ITERATIONS.to_string();
        if kind.is_checked() {
            add(&["--max-iterations", "9", "--check", CHECK, "--stall", "0"]);
        } else {
            add(&["--iter", &iterations]);
        }
        if case.random.percent(50) {
            let script = case.write("desk/script.yaml", SCRIPT)?;
            add(&["--agent", &format!("rehearsal:{}", script.display())]);
            if case.random.percent(30) {
                add(&["--session", "resume"]);
            }
        } else {
            add(&["--agent-cmd", AGENT]);
        }
        add(&["work on it"]);
        if kind == Kind::Queued {
            case.config("[spawn_task]\nmax_concurrent = 1\n")?;
        }
        Ok(Self { name: name.to_owned(), kind, words })
    }

    /// As [`Task::new`], with a command of its own as agent.
    pub(super) fn with_agent(case: &mut Case, kind: Kind, agent: &str) -> Outcome<Self> {
        let mut task = Self::new(case, "t", kind)?;
        let flags = ["--agent", "--agent-cmd", "--session"];
        while let Some(at) = task.words.iter().position(|word| flags.contains(&word.as_str())) {
            task.words.drain(at..at + 2);
        }
        let at = task.words.len() - 1;
        task.words.splice(at..at, ["--agent-cmd".to_owned(), agent.to_owned()]);
        Ok(task)
    }

    fn milestone(case: &mut Case, kind: Kind) -> Outcome<Self> {
        let script = case.write("desk/agent.sh", MILESTONE_AGENT)?;
        let format = case.random.pick(&["text", "rehearsal"]);
        let agent = |name: &str, role: &str| {
            let more = if format == "text" { "" } else { "resume = [\"--resume\", \"{session}\"]\n" };
            format!(
                "[agents.{name}]\ncommand = [\"sh\", {:?}, \"{role}\", {:?}, \"{format}\"]\noutput = \"{format}\"\nprompt = \"stdin\"\n{more}",
                script,
                case.path("desk")
            )
        };
        case.config(&format!("{}{}", agent("builder", "developer"), agent("judge", "acceptor")))?;
        case.write("repo/.dacapo/milestones/t.md", MILESTONE)?;
        case.git(&["add", "-f", ".dacapo/milestones/t.md"])?;
        case.git(&["commit", "-qm", "plan"])?;
        let mut words: Vec<String> =
            ["milestone", "start", "t", "--check", "test -e one"].map(str::to_owned).to_vec();
        if kind == Kind::MilestoneSpawned {
            words.push("--spawn".to_owned());
        }
        Ok(Self { name: "t".to_owned(), kind, words })
    }

    /// The branch that it works on.
    pub(super) fn branch(&self) -> String {
        match self.kind {
            Kind::InPlace | Kind::InPlaceChecked => "main".to_owned(),
            Kind::Milestone | Kind::MilestoneSpawned => format!("milestone/{}", self.name),
            Kind::Worktree | Kind::WorktreeChecked | Kind::Spawned | Kind::SpawnedChecked | Kind::Queued => {
                format!("dacapo/{}", self.name)
            }
        }
    }

    fn resume_words(&self) -> Vec<&str> {
        if self.kind.is_milestone() {
            vec!["milestone", "resume", &self.name]
        } else {
            vec!["resume", &self.name]
        }
    }
}

/// How much a task may have suffered, and so what its end must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffered {
    /// Only the program's own process was hit: nothing at all may be seen of it at the end.
    RunnerOnly,
    /// Its guard or git or disk too: an iteration may have failed.
    More,
}

/// Goes on with a task until it is over, as a person would who knows `resume` and nothing else. Gives its state; none
/// where it never came to be, however often it was asked for.
pub(super) fn settle(case: &mut Case, task: &Task) -> Outcome<Option<Value>> {
    let mut last: Option<Ran> = None;
    for _ in 0..8 {
        let Some(status) = case.status(&task.name)? else {
            if case.task_dir(&task.name).is_some() {
                case.fault(Fault::State, format!("`status {}` fails on its own task", task.name));
                return Ok(None);
            }
            // It died before there was a task: the same words start it now.
            last = Some(case.run(WORK, &task.words)?);
            wait(case, task)?;
            continue;
        };
        match status["status"].as_str().unwrap_or_default() {
            "completed" => return Ok(Some(status)),
            "running" | "queued" | "waiting" => wait(case, task)?,
            "interrupted" | "paused" | "failed" | "stopped" | "cancelled" => {
                case.tally.count("resumed");
                let ran = case.run(WORK, &task.resume_words())?;
                if ran.code == 2 && ran.err.contains("has used ") {
                    return Ok(Some(status));
                }
                last = Some(ran);
                wait(case, task)?;
            }
            other => {
                case.fault(Fault::State, format!("`status` knows no state '{other}'"));
                return Ok(Some(status));
            }
        }
    }
    let mut said = last.map(|ran| ran.said()).unwrap_or_default();
    if let Some(dir) = case.task_dir(&task.name).filter(|_| task.kind.is_in_background()) {
        said.push_str(&String::from_utf8_lossy(&bytes_of(&dir.join("runner.log"))));
    }
    let fault = if said.contains(".lock") { Fault::StaleLock } else { Fault::State };
    let status = case.status(&task.name)?;
    let state = status.as_ref().map_or("no task".to_owned(), |status| status["status"].to_string());
    case.fault(
        fault,
        format!("after eight tries `resume` has not brought {} to its end ({state}): {said}", task.name),
    );
    Ok(None)
}

/// Waits for a task in the background; what it is then, `status` says.
pub(super) fn wait(case: &mut Case, task: &Task) -> Outcome {
    if task.kind.is_in_background() {
        case.run(WORK, &["wait", &task.name])?;
    }
    Ok(())
}

/// The commands that only look. None may hang, panic, or end by a signal, whatever lies on the disk.
pub(super) fn look(case: &mut Case, name: &str) -> Outcome {
    let views: [&[&str]; 8] = [
        &["list"],
        &["list", "--json"],
        &["status", name],
        &["status", name, "--json"],
        &["logs", name],
        &["diff", name],
        &["undo", "--list"],
        &["milestone", "list"],
    ];
    for words in views {
        let ran = case.run(LOOK, words)?;
        if ran.code > 128 || ran.code < 0 {
            case.fault(Fault::State, format!("`{}`: {}", words.join(" "), ran.said()));
        }
    }
    Ok(())
}
