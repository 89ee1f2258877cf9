//! The one public vocabulary: what happened to a task ([`Event`]) and what its agent does ([`AgentEvent`]).
//!
//! An [`Event`] decides something, so it is in the journal before anyone acts on it. An [`AgentEvent`] is read from
//! the raw output of a turn and never stored a second time. Surfaces render both and add nothing of their own.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::git::Oid;
use crate::spec::ProofPolicy;

mod agent;
mod agent_fault;
mod check;
mod command;
mod detail;
mod fault;
mod hidden;
mod needs;
mod notice;
mod own;
mod proof;
mod record;
mod result;
mod untracked;
pub(crate) mod words;
mod workspace;

pub use agent::{AgentEvent, FailureKind, Usage};
pub use agent_fault::AgentFault;
pub use check::{CheckBrief, CheckPhase, CheckResult, SetupResult};
pub use command::{Command, Received};
pub use detail::{Attempt, ChangeCause, Exit, LimitSaid, Metered, StopDetail, WaitCause};
pub use fault::{Fault, LogIn, NotAllowed, TimeLimit};
pub use hidden::{Hidden, HiddenWhy};
pub use needs::{Choice, MainBranch, NeedKind, Needs};
pub use notice::{GitNotice, LeftFile, LeftWhy, MirrorProblem, Notice, WorkspaceNotice};
pub use own::KindStep;
pub use proof::{ProofFailure, ProofState, Unproven};
pub use record::{
    CommitPlanned, Ended, IterationRecord, KnownLimit, TurnEnd, TurnRecord, WritingEnd, WritingRecord,
};
pub use result::{Outcome, Proof, Result as TaskResult, StopReason, Tokens};

pub use untracked::{UntrackedFate, UntrackedFile, UntrackedFound, UntrackedNotKept, UntrackedTouched};
pub use workspace::{HeadAt, InTheWay, WorkspaceProblem};

/// The version of the format of journal lines and `--json` output.
pub const FORMAT: u32 = 2;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Version of the format.
    pub v: u32,
    /// Position in the journal, from 0 without a gap.
    pub seq: u64,
    /// When, by the wall clock.
    pub at: Timestamp,
    /// How long the task has been active by then. Monotonic: a clock that jumps does not end a loop, and time in which
    /// the task was paused or its process gone does not count.
    pub elapsed_ms: u64,
    /// The task's name.
    pub task: String,
    /// How much the agent at work had printed by then; none between turns, and from older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_at: Option<CameAt>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// How far the output of the turn at work had come when something happened: where that stands when the turn is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameAt {
    /// The turn.
    pub turn: u32,
    /// Bytes in its raw file.
    pub raw: u64,
    /// Bytes of its standard error.
    pub stderr: u64,
}

/// What can happen to a task. Each is true when written and never taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The task was asked for; `spec.json` beside the journal says exactly what.
    TaskCreated {
        /// Which kind of task.
        kind: String,
        /// The agents, the first one first.
        agent: String,
        /// The user's prompt.
        prompt: String,
        /// The cap on iterations, if there is one.
        max_iterations: Option<u32>,
        /// The promise asked for from the start.
        completion_promise: Option<String>,
        /// False for a single run: nothing is registered and nothing loops.
        looping: bool,
    },
    /// A process drives the task now.
    TaskStarted {
        /// Its process id.
        pid: u32,
        /// Which Dacapo.
        version: String,
    },
    /// A later process took the task up again.
    Resumed {
        /// Its process id.
        pid: u32,
        /// Which Dacapo.
        version: String,
        /// More iterations than were asked for first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more_iterations: Option<u32>,
        /// What a person adds to the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        follow_up: Option<String>,
        /// The agents from now on, where the person chose others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// How commits are proven from now on, where the person changed that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<ProofPolicy>,
    },
    /// The place to work in is there.
    WorkspaceReady {
        /// The directory.
        path: String,
        /// The branch that is worked on (full name), none when HEAD is detached.
        branch: Option<String>,
        /// The commit everything builds on; none in a repository without commits.
        base_commit: Option<Oid>,
        /// The user's own uncommitted changes, kept apart before the start (`--allow-dirty`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_changes: Option<String>,
        /// The first of the ten ports that are the task's alone as long as it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port_base: Option<u16>,
        /// The SHA-256 of what proofs are made with, as it was before anybody worked here; none: there is no such snapshot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_sha256: Option<String>,
    },
    /// The ports that this process leased instead, because somebody else had taken those of the process before it.
    PortsLeased {
        /// The first of ten.
        port_base: u16,
    },
    /// Files of the user's checkout that are not in git came into the fresh worktree (`.worktreeinclude`).
    FilesIncluded {
        /// How many.
        files: u64,
        /// Their size.
        bytes: u64,
        /// Those that git would see as new: they are left out of commits until somebody touches them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        uncommitted: Vec<String>,
    },
    /// Files were untracked in the user's checkout before the task worked there, or worked there again.
    UntrackedFound(UntrackedFound),
    /// An iteration changed or removed some of them.
    UntrackedTouched(UntrackedTouched),
    /// A command that makes the fresh worktree usable ran to its end or to its limit.
    SetupFinished(SetupResult),
    /// The place to work in could not be made.
    WorkspaceFailed {
        /// One at least.
        problems: Vec<WorkspaceProblem>,
    },
    /// A check ran to its end or to its limit.
    CheckFinished(CheckResult),
    /// All checks passed in the workspace; a checkout of the commit is ready to run them once more.
    ProofStarted {
        /// The iteration.
        iteration: u32,
        /// The commit.
        commit_id: Oid,
        /// The setup ran there just now.
        set_up: bool,
    },
    /// No such checkout can be had. Nothing but the proof is affected.
    ProofUnavailable {
        /// The iteration.
        iteration: u32,
        /// The commit.
        commit_id: Oid,
        /// What went wrong.
        message: String,
        /// What would help.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cure: Option<String>,
    },
    /// The checks failed there.
    ProofFailed {
        /// The iteration.
        iteration: u32,
        /// The commit.
        commit_id: Oid,
        /// Files of the workspace that the commit does not hold, or holds otherwise; the first of them.
        hidden: Vec<Hidden>,
        /// How many they are in truth.
        hidden_total: u64,
    },
    /// An iteration began.
    IterationStarted {
        /// Its number, from 0.
        iteration: u32,
        /// Where HEAD was; the iteration keeps this over all its turns.
        start_commit: Option<Oid>,
    },
    /// The agent is about to be given a turn.
    TurnStarted {
        /// Counts over the whole task; names the files in `turns/`.
        turn: u32,
        /// The iteration it belongs to.
        iteration: u32,
        /// Which agent.
        agent: String,
        /// The session, where it is known before.
        session: Option<String>,
        /// The session is one that an earlier turn opened.
        continued: bool,
    },
    /// The turn is over, its processes are gone, its output is on file.
    TurnFinished(TurnRecord),
    /// A model of its own was asked for a summary or a commit message.
    Written(WritingRecord),
    /// The commit object exists; the branch is moved to it next.
    CommitIntent(CommitPlanned),
    /// There is nothing to commit: nothing changed, the agent committed by itself, or the tree is not in a state to be
    /// committed.
    NoCommit(CommitPlanned),
    /// The branch is where the iteration put it.
    Committed {
        /// The iteration.
        iteration: u32,
        /// The commit.
        commit: Oid,
        /// First line of its message.
        subject: String,
    },
    /// What only tasks of this kind do.
    #[serde(skip)]
    Own(KindStep),
    /// The iteration is over.
    IterationFinished(IterationRecord),
    /// Another task knows of a limit of the account that the next turn would have used; so there was none.
    LimitKnown(KnownLimit),
    /// The loop sleeps.
    Waiting {
        /// Until then, by the wall clock; for `probe` at the latest.
        until: Timestamp,
        /// Why.
        #[serde(flatten)]
        cause: WaitCause,
    },
    /// It sleeps no more.
    WaitOver,
    /// The next agent of the list takes over.
    AgentChanged {
        /// The new one.
        agent: String,
        /// Why.
        #[serde(flatten)]
        cause: ChangeCause,
    },
    /// A person is needed.
    Paused {
        /// What for.
        needs: Needs,
    },
    /// The turn at work waits for a person's answer.
    Asked {
        /// What for.
        needs: Needs,
    },
    /// It waits no more: there is an answer, or none is wanted any more.
    Answered,
    /// Something a person should know; it decides nothing.
    Notice(Notice),
    /// Its writer found something in the journal that is not its own: from here on nothing counts as proven.
    RecordAltered {
        /// What, and where it was kept.
        message: String,
    },
    /// The task is to end: by a signal or by command.
    StopRequested {
        /// `cancelled`, or what else makes it impossible to go on in the middle of an iteration.
        reason: StopReason,
        /// By what.
        detail: StopDetail,
    },
    /// A person wants something of it.
    CommandReceived(Received),
    /// All places are taken: it waits for one, and that time does not count.
    Queued,
    /// It has a place.
    Dequeued,
    /// The end.
    TaskFinished(TaskResult),
    /// The branch `into` is moved next from `from` to `commit`, which holds the task's work.
    MergeIntent {
        /// The branch (full name).
        into: String,
        /// Where it is.
        from: Oid,
        /// Where it goes.
        commit: Oid,
        /// The task's history is not in it.
        squash: bool,
    },
    /// The task's work is on another branch. Its own branch and its worktree go now.
    Merged {
        /// The branch (full name).
        into: String,
        /// The commit that brought it there.
        commit: Oid,
        /// The task's history is not in it.
        squash: bool,
        /// The refs that keep what the task's own branch and worktree held.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// Worktree and branch are back after a merge, by `dacapo undo`. What was merged stays where it is.
    MergeUndone {
        /// The branch that the work was merged into (full name).
        into: String,
    },
    /// The task has another name from now on (`dacapo rename`); earlier lines carry the old one.
    Renamed {
        /// The name it had.
        from: String,
        /// The name it has.
        to: String,
        /// Its worktree from now on; none: it works in the user's own checkout.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<String>,
        /// Its branch from now on (full name), likewise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    },
    /// A person has worked in its workspace (`dacapo takeover`) and is gone again.
    TakenOver {
        /// Files that are in no commit yet.
        uncommitted: u64,
    },
    /// The task's branch is on the remote, and a pull request offers it.
    PullRequest {
        /// Where people look at it.
        url: String,
        /// The branch that is offered, by its short name.
        branch: String,
        /// The branch it is offered to.
        base: String,
        /// The program that opened or found it.
        cli: String,
    },
    /// Somebody was told that the task ended or needs a person, or could not be told.
    Notified {
        /// By which way: `desktop`, `webhook` or `command`.
        how: String,
        /// Why not, where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

impl Event {
    /// Whether it only happens in a workspace that has been made. Lines of a record may be missing, the one that says so
    /// among them.
    pub(crate) fn needs_workspace(&self) -> bool {
        matches!(
            self,
            Self::WorkspaceReady { .. }
                | Self::SetupFinished(_)
                | Self::CheckFinished(_)
                | Self::IterationStarted { .. }
                | Self::TurnStarted { .. }
                | Self::TurnFinished(_)
                | Self::CommitIntent(_)
                | Self::Committed { .. }
                | Self::IterationFinished(_)
        )
    }

    /// Whether this version knows the type of an event, which need not read otherwise.
    pub(crate) fn is_known(event: &serde_json::Value) -> bool {
        let tag = |name: &str| event.get(name).and_then(serde_json::Value::as_str);
        // serde says which tags there are by refusing the others; there is no list of them that could be forgotten.
        fn knows<T: serde::de::DeserializeOwned>(name: &str, tag: &str) -> bool {
            let only_tagged = serde_json::json!({ name: tag });
            match serde_json::from_value::<T>(only_tagged) {
                Ok(_) => true,
                Err(error) => !error.to_string().starts_with(&format!("unknown variant `{tag}`")),
            }
        }
        // Without a type it is no event at all, and nothing to be skipped.
        tag("type").is_none_or(|kind| knows::<Self>("type", kind))
    }
}

/// Why a loop sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The agent's usage limit.
    Limit,
    /// Another task tries whether that limit is over.
    Probe,
    /// The pause after a failed iteration.
    Backoff,
}

#[cfg(test)]
mod tests;
