//! The one public vocabulary: what happened to a task ([`Event`]) and what its agent does ([`AgentEvent`]).
//!
//! An [`Event`] decides something, so it is in the journal before anyone acts on it. An [`AgentEvent`] is read from
//! the raw output of a turn and never stored a second time. Surfaces render both and add nothing of their own.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git::Oid;
use crate::json::{branch, optional_branch};
use crate::spec::ProofPolicy;

mod agent;
mod agent_fault;
mod check;
mod command;
mod detail;
mod envelope;
mod fault;
mod hidden;
mod needs;
mod notice;
mod own;
mod proof;
mod record;
mod result;
mod room;
mod tests_changed;
mod untracked;
pub(crate) mod words;
mod workspace;

pub use agent::{AgentEvent, FailureKind, Usage};
pub use agent_fault::AgentFault;
pub use check::{CheckBrief, CheckPhase, CheckResult, SetupResult};
pub use command::{Command, Received};
pub use detail::{Attempt, ChangeCause, Exit, LimitSaid, Metered, StopDetail, WaitCause};
pub use envelope::{CameAt, Envelope};
pub use fault::{Fault, LogIn, NotAllowed, TimeLimit};
pub use hidden::{Hidden, HiddenWhy};
pub use needs::{Choice, MainBranch, NeedKind, Needs};
pub use notice::{GitNotice, LeftFile, LeftWhy, MirrorProblem, Notice, SecretFile, WorkspaceNotice};
pub use own::KindStep;
pub use proof::{Exposed, ProofCache, ProofFailure, ProofState, Unproven};
pub use record::{
    CommitPlanned, Ended, IterationRecord, KnownLimit, TurnEnd, TurnRecord, WritingEnd, WritingRecord,
};
pub use result::{Outcome, Proof, Result as TaskResult, StopReason, Tokens};
pub use tests_changed::{
    ChangedTest, FewerTests, InlineChange, InlineTest, Originals, TestChange, TestsChange, TestsDiff,
    TestsMark, TestsResult,
};

pub use room::{RoomReceipt, RoomWalls};
pub use untracked::{UntrackedFate, UntrackedFile, UntrackedFound, UntrackedNotKept, UntrackedTouched};
pub use workspace::{HeadAt, InTheWay, WorkspaceProblem};

/// The version of the format of journal lines and `--json` output.
pub const FORMAT: u32 = 3;

/// What can happen to a task. Each is true when written and never taken back. The comments here are what docs/json.md says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case")]
#[schemars(rename = "Event")]
pub enum Event {
    /// The task was created. `spec.json` beside the journal says exactly what was asked.
    TaskCreated {
        /// The kind of task: `loop` or `milestone`.
        kind: String,
        /// The agents, separated by commas, in the order in which they take over at a usage limit.
        agent: String,
        /// The prompt of the task.
        prompt: String,
        /// The limit on iterations; null if there is none.
        max_iterations: Option<u32>,
        /// The text by which the agent says that it is done; null if it is not asked for one.
        completion_promise: Option<String>,
        /// False if the task is a single run, without a loop.
        looping: bool,
        /// The SHA-256 of `spec.json`. What was asked for is believed only while the file has this hash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spec_sha256: Option<String>,
    },
    /// A process drives the task from now on.
    TaskStarted {
        /// The id of the process.
        pid: u32,
        /// The version of Dacapo.
        version: String,
    },
    /// Another process drives the task from now on.
    Resumed {
        /// The id of the process.
        pid: u32,
        /// The version of Dacapo.
        version: String,
        /// How many iterations the task may make from now on. Absent if the limit stays as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more_iterations: Option<u32>,
        /// What a person added to the prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        follow_up: Option<String>,
        /// The agents from now on. Absent if they stay as they were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// How commits are proven from now on. Absent if that stays as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<ProofPolicy>,
    },
    /// The directory that the task works in is ready.
    WorkspaceReady {
        /// The directory.
        path: String,
        /// The branch that the task works on; null if HEAD is detached.
        #[serde(with = "optional_branch", default)]
        #[schemars(with = "Option<String>")]
        branch: Option<String>,
        /// The commit the task starts from; null in a repository without commits.
        base_commit: Option<Oid>,
        /// The ref that keeps the user's uncommitted changes, which were set aside (`--allow-dirty`). Absent if there were none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_changes: Option<String>,
        /// The first of the ten ports that are reserved for the task while it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port_base: Option<u16>,
        /// The SHA-256 of the files that proofs are made with, as they were before the task. Absent if there is no such copy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_sha256: Option<String>,
    },
    /// The task has other ports: somebody else took its ports while it had no process.
    PortsLeased {
        /// The first of the ten ports.
        port_base: u16,
    },
    /// Files that are not in git were copied from the user's checkout into the new worktree (`.worktreeinclude`).
    FilesIncluded {
        /// How many files.
        #[serde(rename = "files_total")]
        files: u64,
        /// Their size.
        bytes: u64,
        /// The files among them that git would see as new. They are not committed until somebody changes them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        uncommitted: Vec<String>,
    },
    /// There were untracked files in the user's checkout before the task worked there.
    UntrackedFound(UntrackedFound),
    /// An iteration changed or removed files that were untracked before the task.
    UntrackedTouched(UntrackedTouched),
    /// A command that makes the new worktree usable has ended.
    SetupFinished(SetupResult),
    /// The directory to work in could not be made.
    WorkspaceFailed {
        /// What is wrong; at least one.
        problems: Vec<WorkspaceProblem>,
    },
    /// A check has ended.
    CheckFinished(CheckResult),
    /// All checks passed where the agent works. They are run once more in a checkout of the commit.
    ProofStarted {
        /// The iteration, from 0.
        iteration: u32,
        /// The commit that is to be proven.
        commit_id: Oid,
        /// True if the setup ran in that checkout first.
        set_up: bool,
        /// The caches that it starts with; without it, it starts from nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<ProofCache>,
        /// What the commit changes of the tests, settings and scripts that judge it. Absent if there is no base commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<TestsChange>,
        /// True if these files are in the checkout as they were in the base commit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        originals: bool,
    },
    /// The commit could not be proven, because there is no checkout to do it in. The task goes on.
    ProofUnavailable {
        /// The iteration, from 0.
        iteration: u32,
        /// The commit that was to be proven.
        commit_id: Oid,
        /// What went wrong.
        message: String,
        /// A setting or command that would help.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cure: Option<String>,
    },
    /// The checks passed where the agent works, and failed in a checkout of the commit.
    ProofFailed {
        /// The iteration, from 0.
        iteration: u32,
        /// The commit that was to be proven.
        commit_id: Oid,
        /// Files that the agent has and the commit does not, the first of them: they may be the reason.
        hidden: Vec<Hidden>,
        /// How many such files there are.
        hidden_total: u64,
    },
    /// An iteration started.
    IterationStarted {
        /// Its number, from 0.
        iteration: u32,
        /// The commit that HEAD was on; null in a repository without commits.
        start_commit: Option<Oid>,
    },
    /// The agent is about to be started for one turn.
    TurnStarted {
        /// Its number, from 0, over the whole task. The files in `turns/` have this number.
        turn: u32,
        /// The iteration it belongs to, from 0.
        iteration: u32,
        /// The agent's name.
        agent: String,
        /// The id of the agent's conversation; null if it is not known yet.
        #[serde(rename = "session_id")]
        session: Option<String>,
        /// True if the conversation is one of an earlier turn.
        continued: bool,
    },
    /// A turn has ended. All processes that it started are gone.
    TurnFinished(TurnRecord),
    /// A model other than the agent was asked for a summary or a commit message.
    Written(WritingRecord),
    /// The iteration's commit exists. The branch is moved to it next.
    CommitIntent(CommitPlanned),
    /// There is nothing to commit: nothing changed, the agent committed by itself, or the files cannot be committed as they are.
    NoCommit(CommitPlanned),
    /// The branch is at the iteration's commit.
    Committed {
        /// The iteration, from 0.
        iteration: u32,
        /// The commit.
        #[serde(rename = "commit_id")]
        commit: Oid,
        /// The first line of its message.
        subject: String,
    },
    /// What only tasks of this kind do.
    #[serde(skip)]
    Own(KindStep),
    /// An iteration has ended.
    IterationFinished(IterationRecord),
    /// No turn was started, because another task knows of a usage limit of the same account.
    LimitKnown(KnownLimit),
    /// The task waits.
    Waiting {
        /// When it goes on. For `probe`, at the latest.
        #[serde(rename = "waiting_until")]
        until: Timestamp,
        /// Why it waits.
        #[serde(flatten)]
        cause: WaitCause,
    },
    /// The task does not wait any more.
    WaitOver,
    /// Another agent of the list takes over.
    AgentChanged {
        /// The agent that works from now on.
        agent: String,
        /// Why the agents change.
        #[serde(flatten)]
        cause: ChangeCause,
    },
    /// The task is going to pause, because a person must decide something.
    Paused {
        /// What a person must decide.
        needs: Needs,
    },
    /// The running turn waits for a person's answer.
    Asked {
        /// What a person must decide.
        needs: Needs,
    },
    /// The turn does not wait for an answer any more.
    Answered,
    /// Something that a person should know. It changes nothing for the task.
    Notice(Notice),
    /// The journal had content that Dacapo did not write. From here on nothing counts as proven.
    RecordAltered {
        /// What was found, and where it was kept.
        message: String,
    },
    /// The task is going to end before it is done.
    StopRequested {
        /// Why: `cancelled`, or what makes it impossible to go on.
        #[serde(rename = "stop_reason")]
        reason: StopReason,
        /// Details of the reason.
        detail: StopDetail,
    },
    /// A person, or a program for them, sent the task a command.
    CommandReceived(Received),
    /// The task is queued, because too many tasks are running. Queued time does not count as active.
    Queued,
    /// The task left the queue.
    Dequeued,
    /// The task has ended.
    TaskFinished(TaskResult),
    /// The branch `into` is about to be moved, to a commit that contains the task's work.
    MergeIntent {
        /// The branch that it was merged into.
        #[serde(with = "branch")]
        #[schemars(with = "String")]
        into: String,
        /// Where the branch is.
        #[serde(rename = "from_commit")]
        from: Oid,
        /// Where it is moved to.
        #[serde(rename = "commit_id")]
        commit: Oid,
        /// True if one new commit holds all changes, without the task's own commits.
        squash: bool,
    },
    /// The task was merged. Its own branch and its worktree are removed next.
    Merged {
        /// The branch that contains the task's work now.
        #[serde(with = "branch")]
        #[schemars(with = "String")]
        into: String,
        /// The commit that the branch is at.
        #[serde(rename = "commit_id")]
        commit: Oid,
        /// True if one new commit holds all changes, without the task's own commits.
        squash: bool,
        /// The refs that keep what the task's branch and worktree held.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// Worktree and branch of a merged task are back (`dacapo undo`). What was merged stays merged.
    MergeUndone {
        /// The branch that the task was merged into.
        #[serde(with = "branch")]
        #[schemars(with = "String")]
        into: String,
    },
    /// The task has another name from now on (`dacapo rename`). Earlier lines have the old one.
    Renamed {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
        /// The task's worktree from now on. Absent if it works in the user's checkout.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<String>,
        /// The task's branch from now on. Absent if it works in the user's checkout.
        #[serde(with = "optional_branch", default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        branch: Option<String>,
    },
    /// A person worked in the task's worktree (`dacapo takeover`) and has left it.
    TakenOver {
        /// How many files are not committed.
        #[serde(rename = "uncommitted_total")]
        uncommitted: u64,
    },
    /// A pull request offers the task's branch.
    PullRequest {
        /// The address of the pull request.
        url: String,
        /// The branch that is offered.
        branch: String,
        /// The branch it is offered to.
        #[serde(rename = "base_branch")]
        base: String,
        /// The program that opened or found the pull request.
        cli: String,
    },
    /// A notification that the task ended or needs a person was sent, or failed.
    Notified {
        /// The way: `desktop`, `webhook` or `command`.
        how: String,
        /// Why that failed. Absent if it worked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// How commands of the task are confined from now on, found out by trying it from inside.
    RoomTested(RoomReceipt),
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
