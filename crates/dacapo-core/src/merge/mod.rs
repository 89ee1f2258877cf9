//! Bringing tasks home (S11, K12): into the branch that is checked out, one after the other, each proven first.
//!
//! ```text
//! for each task:  scratch worktree at the branch's tip ─► merge ─► conflict? ─► agent ─► resolved, by evidence? ─┐
//!                                                           └──────────────── commit (hooks, signature) ◄────────┘
//!                 checks in a proof checkout of that commit ─► merge_intent ─► the branch moves ─► merged ─► tidy up
//! ```
//!
//! Whatever goes wrong before the branch moves leaves that task out and nothing changed. A crash leaves at most a scratch
//! worktree, which the next merge removes; one that came after the branch had moved is recognised by the intent in the
//! task's journal, and the rest is done then.

mod attempt;
mod checks;
mod halt;
mod home;
mod plan;
mod turn;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use crate::engine::{DriverContext, Kinds};
use crate::event::{
    AgentEvent, CheckResult, Exposed, Fault, LeftFile, NeedKind, Needs, SecretFile, TestsResult,
};
use crate::git::{Advanced, GitError, MergeStyle, Oid, Repo};
use crate::spec::{AgentSpec, CachePolicy, TaskSpec};
use crate::store::{Lock, RepoDir, TaskDir};
use crate::view::TaskView;

pub use halt::Halt;
pub use home::{Home, HomeProblem, take_back_cut_short};
pub use plan::{Expected, Planned};

/// Where merge attempts leave what their agents and checks printed, below a repository's data.
const RECORDS: &str = "merges";
/// How many of these are kept.
const MOST_RECORDS: usize = 30;

/// A task that is to be merged. Its lock is held: nobody resumes it meanwhile.
#[derive(Debug)]
pub struct Candidate {
    pub dir: TaskDir,
    pub spec: TaskSpec,
    /// What became of it.
    pub view: TaskView,
    /// Its branch (full name).
    pub branch: String,
    /// The tip of that.
    pub tip: Oid,
    /// Held as long as this is about it.
    pub lock: Lock,
    /// What has to pass on the result.
    pub checks: Vec<String>,
    /// Who resolves conflicts, and who takes over at a limit; none: nobody.
    pub agents: Vec<AgentSpec>,
}

impl Candidate {
    /// The tests that the task changed, while it waits for a person to decide about them.
    pub(super) fn undecided_tests(&self) -> Option<&TestsResult> {
        let asks = |needs: &Needs| matches!(needs.kind, NeedKind::TestsChanged { .. });
        self.view.tests().filter(|_| self.view.needs.as_ref().is_some_and(asks))
    }

    /// A person has approved the tests that the task changed; a record that is not whole says nothing.
    pub fn tests_are_approved(&self) -> bool {
        self.view.record.is_whole() && self.view.tests().is_some_and(|tests| tests.approved)
    }
}

/// A merge of several tasks into one branch.
pub struct Merger<'a> {
    /// The checkout that the user stands in.
    pub repo: &'a Repo,
    pub data: &'a RepoDir,
    /// The kinds of task that there are.
    pub kinds: Kinds,
    /// The branch that is checked out there (full name).
    pub into: String,
    pub how: MergeStyle,
    /// What the agent is to heed in every merge, conflict or not.
    pub query: Option<String>,
    /// What makes a fresh checkout usable: run before agents and checks.
    pub setup: Vec<String>,
    /// The caches that proofs start with.
    pub cache: CachePolicy,
    /// The limit of each of these.
    pub setup_timeout: Duration,
    /// What an agent brings with its resolution may hold a known secret.
    pub allow_secret: bool,
    /// What children are run with.
    pub setting: &'a dyn Fn() -> DriverContext,
    pub halt: Halt,
}

/// What became of one task.
#[derive(Debug)]
pub enum Outcome {
    /// The branch holds it.
    Merged(MergeSuccess),
    /// The branch held all of it already.
    AlreadyThere(Home),
    /// The task has no commits of its own.
    Empty,
    /// Nothing of it has changed.
    LeftOut(LeftOut),
    /// A person stopped it; nothing of it has changed.
    Halted,
}

/// A task that has come home.
#[derive(Debug)]
pub struct MergeSuccess {
    /// Where the branch was.
    pub from: Oid,
    /// Where the branch is now.
    pub commit: Oid,
    /// The branch just moved on to the task's own commit.
    pub fast_forward: bool,
    /// What was proven on the result.
    pub checks: Vec<Proven>,
    /// The agent that resolved conflicts, where there were any.
    pub resolved: Option<Resolved>,
    /// What became of worktree and branch.
    pub home: Home,
}

/// A check that holds for the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    pub command: String,
    /// Not run again: the task's own receipt is for exactly this commit.
    pub by_receipt: bool,
    /// Why it could see files that an agent left.
    pub exposed: Option<Exposed>,
}

/// What an agent did to a merge.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub agent: String,
    pub conflicts: Vec<PathBuf>,
    /// Files in which the result differs from git's own merge.
    pub touched: Vec<PathBuf>,
    /// New files that were kept out, and why.
    pub left_out: Vec<LeftFile>,
    /// File with everything it printed.
    pub record: PathBuf,
}

/// Why a task was left out.
#[derive(Debug, thiserror::Error)]
pub enum LeftOut {
    /// Nobody is there to resolve it.
    #[error("conflicts in {files}, and there is no agent to resolve them", files = names(.0))]
    Conflicts(Vec<PathBuf>),
    /// The query needs one.
    #[error("no agent is available to follow the query")]
    NoAgent,
    /// The agent could not.
    #[error("agent '{agent}' did not resolve it: {}", crate::context::fault(.fault))]
    Unresolved {
        agent: String,
        fault: Box<Fault>,
        /// File with everything it printed.
        record: PathBuf,
    },
    /// A check does not pass on the result.
    #[error("check `{}` fails on the result ({}){}", .result.command, .result.ending(), last_line(.result))]
    Check {
        result: Box<CheckResult>,
        /// File with everything it printed.
        output: PathBuf,
    },
    /// The result passes, and does not with the tests as they were.
    #[error("the checks fail on the result with the tests as they were")]
    Tests(Box<TestsResult>),
    /// A scratch worktree could not be made usable.
    #[error("setup `{}` failed ({}){}", .result.command, .result.ending(), last_line(.result))]
    Setup {
        result: Box<CheckResult>,
        /// File with everything it printed.
        output: PathBuf,
    },
    /// What the agent made of it holds a known secret.
    #[error("{} holds the value of {}", .0.path, .0.variable)]
    Secret(Box<SecretFile>),
    /// The branch was moved by somebody else, and again while it was tried anew.
    #[error("someone else moved the branch twice in the meantime")]
    Moved,
    /// Somebody switched to another branch meanwhile.
    #[error("another branch was checked out in the meantime")]
    Switched,
    /// Files of the user's own are where the result has files.
    #[error("files here are in the way: {0}")]
    InTheWay(String),
    /// A hook, a signature, git, the disk.
    #[error("{0}")]
    Trouble(String),
}

impl LeftOut {
    fn trouble(error: &dyn std::fmt::Display) -> Self {
        Self::Trouble(error.to_string())
    }

    /// Where to look for more.
    pub fn look_at(&self) -> Option<&PathBuf> {
        match self {
            Self::Unresolved { record, .. } => Some(record),
            Self::Check { output, .. } | Self::Setup { output, .. } => Some(output),
            Self::Conflicts(_)
            | Self::NoAgent
            | Self::Tests(_)
            | Self::Secret(_)
            | Self::Moved
            | Self::Switched
            | Self::InTheWay(_)
            | Self::Trouble(_) => None,
        }
    }
}

impl From<GitError> for LeftOut {
    fn from(error: GitError) -> Self {
        Self::trouble(&error)
    }
}

/// Five names, then their number.
fn names(files: &[PathBuf]) -> String {
    let mut shown: Vec<String> = files.iter().take(5).map(|path| crate::git::display_path(path)).collect();
    if files.len() > shown.len() {
        shown.push(format!("… ({} in all)", files.len()));
    }
    shown.join(", ")
}

fn last_line(result: &CheckResult) -> String {
    match result.telling_line() {
        line if line.is_empty() => line,
        line => format!(": {}", crate::context::cut_columns(&line, 100)),
    }
}

/// What is under way, for people.
#[derive(Debug)]
pub enum Step<'a> {
    /// This task is begun.
    Begin(&'a str),
    /// An agent is at work.
    Resolving {
        agent: &'a str,
        conflicts: &'a [PathBuf],
        /// Where what it prints goes.
        record: &'a std::path::Path,
    },
    Agent(&'a AgentEvent),
    Check(&'a str),
    /// It has its result.
    Checked(&'a CheckResult),
    /// The branch was moved by somebody else: once more from there.
    Again,
}

/// Is told what is under way.
pub trait MergeObserver {
    /// Something has begun or is done.
    fn step(&mut self, step: &Step<'_>);
}

/// A result that is proven and waits for the branch to move.
struct Made {
    commit: Oid,
    fast_forward: bool,
    checks: Vec<Proven>,
    resolved: Option<Resolved>,
}

/// How an attempt came to its end before there was a result.
enum Stopped {
    LeftOut(LeftOut),
    Halted,
}

impl<E: Into<LeftOut>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::LeftOut(error.into())
    }
}

impl Merger<'_> {
    /// Removes what merges that died have left: their scratch worktrees, their processes.
    pub fn clear_up(&self) -> Result<(), LeftOut> {
        turn::sweep_records(&self.records());
        self.repo.remove_left_checkouts().map_err(|error| LeftOut::trouble(&error))
    }

    fn records(&self) -> PathBuf {
        self.data.path().join(RECORDS)
    }

    pub fn merge(&self, candidate: &Candidate, observer: &mut dyn MergeObserver) -> Outcome {
        observer.step(&Step::Begin(candidate.spec.name.as_str()));
        match self.bring(candidate, observer) {
            Ok(outcome) => outcome,
            Err(_) if self.halt.is_asked() => Outcome::Halted,
            Err(Stopped::Halted) => Outcome::Halted,
            Err(Stopped::LeftOut(why)) => Outcome::LeftOut(why),
        }
    }

    fn bring(&self, candidate: &Candidate, observer: &mut dyn MergeObserver) -> Result<Outcome, Stopped> {
        // Once more if somebody moved the branch meanwhile. Not for ever: on a branch that never rests each try costs
        // a run of the checks.
        for again in [false, true] {
            if again {
                observer.step(&Step::Again);
            }
            if self.halt.is_asked() {
                return Err(Stopped::Halted);
            }
            home::clear_left_locks(self.repo, candidate, &self.into)?;
            let ours = self.tip()?;
            if let Some(intent) = home::landed_before(self.repo, candidate, &self.into)? {
                return Ok(Outcome::AlreadyThere(home::settle(self, candidate, &intent)));
            }
            if self.repo.is_ancestor(&candidate.tip, &ours)? {
                let own = candidate.view.base_commit.as_ref() != Some(&candidate.tip);
                let intent = home::Intent { from: None, commit: ours, squash: false };
                return Ok(if own {
                    Outcome::AlreadyThere(home::settle(self, candidate, &intent))
                } else {
                    Outcome::Empty
                });
            }
            let made = self.attempt(candidate, &ours, observer)?;
            if self.halt.is_asked() {
                return Err(Stopped::Halted);
            }
            // The checks can take an hour, in which the user may have switched. Then the files here are not the
            // branch's.
            if self.repo.head()?.branch.as_deref() != Some(self.into.as_str()) {
                return Err(LeftOut::Switched.into());
            }
            let intent = home::Intent {
                from: Some(ours.clone()),
                commit: made.commit.clone(),
                squash: self.how == MergeStyle::Squash,
            };
            home::intend(self, candidate, &ours, &intent).map_err(|error| LeftOut::trouble(&error))?;
            match self.repo.advance(&self.into, &made.commit, &ours)? {
                Advanced::Done => {
                    return Ok(Outcome::Merged(MergeSuccess {
                        from: ours,
                        home: home::settle(self, candidate, &intent),
                        commit: made.commit,
                        fast_forward: made.fast_forward,
                        checks: made.checks,
                        resolved: made.resolved,
                    }));
                }
                Advanced::Moved => {}
                Advanced::InTheWay(said) => return Err(LeftOut::InTheWay(said).into()),
            }
        }
        Err(LeftOut::Moved.into())
    }

    /// Where the branch is.
    fn tip(&self) -> Result<Oid, LeftOut> {
        let at = self.repo.read_ref(&self.into)?;
        at.ok_or_else(|| LeftOut::Trouble(format!("{} is gone", self.into)))
    }
}
