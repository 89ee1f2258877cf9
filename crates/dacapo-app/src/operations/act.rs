//! Everything that changes something, as one value: what a surface that lives long has a short process do for it, so that
//! locks, guards, working directory and environment are always those of a command.

use std::path::PathBuf;

use dacapo_core::event::StopReason;
use dacapo_core::git::Oid;
use dacapo_core::spec::ProofAt;
use serde::{Deserialize, Serialize};

use super::background::Begun;
use super::config::ConfigChange;
use super::init::InitResult;
use super::kind;
use super::merge::MergeRequest;
use super::send::{Delivery, Pausing};
use super::spawn::Started;
use super::terminal_plan::TerminalPlan;
use crate::config::{Timespan, Whose};
use crate::messages::Text;
use crate::request::TaskRequest;

mod cancel;
mod carry_out;
mod elsewhere;

pub use crate::note::MergeResult;
pub use cancel::OperationCanceller;
pub use elsewhere::{ARGUMENT, Call, Line};

/// What is to be done. Tasks that start or go on do so in the background.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Operation {
    /// What the request does not say has a good default (L0).
    Prompt {
        request: TaskRequest,
    },
    Start {
        request: TaskRequest,
    },
    Rerun {
        task: String,
        changes: TaskRequest,
    },
    Resume {
        task: String,
        iter: Option<u32>,
        prompt: Option<String>,
        proof: Option<ProofAt>,
    },
    Tell {
        task: String,
        text: String,
        #[serde(default)]
        once: bool,
    },
    Untell {
        task: String,
    },
    Set {
        task: String,
        changes: Vec<String>,
    },
    Pause {
        task: String,
        #[serde(default)]
        now: bool,
    },
    Kill {
        task: String,
    },
    Approve {
        task: String,
        choice: Option<usize>,
    },
    Reject {
        task: String,
        reason: Option<String>,
    },
    Merge {
        request: MergeRequest,
    },
    OpenPullRequest {
        task: String,
        title: Option<String>,
        base: Option<String>,
        #[serde(default)]
        draft: bool,
        #[serde(default)]
        allow_secret: bool,
    },
    Rename {
        task: String,
        name: String,
    },
    Drop {
        tasks: Vec<String>,
    },
    Undo {
        task: Option<String>,
    },
    Prune {
        older_than: Option<Timespan>,
        #[serde(default)]
        all_dropped: bool,
    },
    /// Sets one setting in a config file. The value is written as in the environment.
    SetConfig {
        key: String,
        value: String,
        #[serde(default)]
        file: Whose,
    },
    /// Takes one setting out of a config file.
    UnsetConfig {
        key: String,
        #[serde(default)]
        file: Whose,
    },
    /// Confirms exactly the content with this hash (R6).
    Trust {
        hash: String,
    },
    /// Takes one confirmation back, or all.
    RevokeTrust {
        hash: Option<String>,
    },
    /// Creates the files that Dacapo reads in a repository, and takes over what the directory `import` of another program
    /// holds.
    Init {
        #[serde(default)]
        import: Option<PathBuf>,
    },
    /// Finds out what opens the files of a task in the user's editor. The surface runs it.
    Open {
        task: String,
    },
    /// Finds out what lets a person work in a task's own place. The surface runs it, with the person's terminal.
    Takeover {
        task: String,
        /// The task is left as it is afterwards.
        #[serde(default)]
        no_resume: bool,
    },
    /// What only tasks of one kind have done to them, as that kind writes it.
    Own {
        kind: String,
        step: serde_json::Value,
    },
}

/// A task is back; what was merged of it stays where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaysMerged {
    /// As people call it.
    pub branch: String,
    /// How it is taken out again, in git's own words.
    pub way_back: Option<Text>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub enum OperationResult {
    /// A task was made; `notes` is what the user should hear about the request.
    Started {
        task: String,
        begun: Begun,
        notes: Vec<Text>,
    },
    Resumed {
        task: String,
        begun: Begun,
    },
    /// The task has learnt of it, or does when it goes on.
    Heard {
        when: Delivery,
    },
    Told {
        when: Delivery,
        once: bool,
    },
    Pausing {
        how: Pausing,
    },
    Killed {
        stop_reason: Option<StopReason>,
    },
    /// The task that asked has its answer.
    Answered,
    /// One of several findings is settled, and nothing goes on by that.
    FindingSettled {
        finding: usize,
    },
    Merged {
        #[serde(rename = "from_commit")]
        from: Oid,
        #[serde(rename = "to_commit")]
        to: Option<Oid>,
        tasks: Vec<MergedTask>,
        halted: bool,
    },
    PullRequest {
        branch: String,
        url: Option<String>,
        message: Option<Text>,
    },
    Renamed {
        from: String,
        #[serde(rename = "to")]
        name: String,
    },
    /// All that went; where not all of them did, why.
    Dropped {
        tasks: Vec<String>,
        problem: Option<String>,
    },
    Undone {
        task: String,
        /// The branch that what was merged stays in, and how it is taken out of it.
        merged: Option<StaysMerged>,
    },
    Pruned {
        removed: Vec<String>,
        bytes: u64,
        problems: Vec<Text>,
    },
    ConfigSet {
        change: ConfigChange,
    },
    ConfigUnset {
        change: ConfigChange,
    },
    Trusted,
    TrustRevoked {
        hashes: Vec<String>,
    },
    Initialized {
        files: InitResult,
    },
    /// Nothing has changed yet: the surface runs this where the person is.
    ToRun {
        plan: TerminalPlan,
    },
    /// The task has ended for good.
    Ended {
        task: String,
    },
}

/// What became of a task in a merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergedTask {
    pub task: String,
    #[serde(flatten)]
    pub result: MergeResult,
}

impl OperationResult {
    fn started(started: Started) -> Self {
        let task = started.spec.name.to_string();
        OperationResult::Started { task, begun: started.begun, notes: started.notes }
    }
}

impl Operation {
    /// The command's name if agents inside a task may not give it (R7); none if they may.
    pub fn order(&self) -> Option<&'static str> {
        match self {
            Operation::Resume { .. } => Some("resume"),
            Operation::Set { .. } => Some("set"),
            Operation::Kill { .. } => Some("kill"),
            Operation::Approve { .. } => Some("approve"),
            Operation::Reject { .. } => Some("reject"),
            Operation::Merge { .. } => Some("merge"),
            Operation::OpenPullRequest { .. } => Some("pr"),
            Operation::Rename { .. } => Some("rename"),
            Operation::Drop { .. } => Some("drop"),
            Operation::Undo { .. } => Some("undo"),
            Operation::Prune { .. } => Some("prune"),
            Operation::SetConfig { .. } => Some("config set"),
            Operation::UnsetConfig { .. } => Some("config unset"),
            Operation::Trust { .. } | Operation::RevokeTrust { .. } => Some("trust"),
            Operation::Takeover { .. } => Some("takeover"),
            Operation::Own { kind, step } => kind::of(kind).and_then(|own| own.order(step)),
            Operation::Init { .. }
            | Operation::Open { .. }
            | Operation::Prompt { .. }
            | Operation::Start { .. }
            | Operation::Rerun { .. }
            | Operation::Tell { .. }
            | Operation::Untell { .. }
            | Operation::Pause { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Operation {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn operations_read_with_what_is_needed_alone() {
        assert_eq!(
            read(r#"{"operation": "start", "request": {"prompt": "fix it", "iter": 2}}"#),
            Operation::Start {
                request: TaskRequest {
                    prompt: Some("fix it".into()),
                    iter: Some(2),
                    ..TaskRequest::default()
                }
            }
        );
        assert_eq!(
            read(r#"{"operation": "tell", "task": "t", "text": "hurry"}"#),
            Operation::Tell { task: "t".into(), text: "hurry".into(), once: false }
        );
        let own = Operation::Own { kind: "k".into(), step: serde_json::json!({"step": "end"}) };
        assert_eq!(read(r#"{"operation": "own", "kind": "k", "step": {"step": "end"}}"#), own);
        let error = serde_json::from_str::<Operation>(r#"{"operation": "delete"}"#).unwrap_err();
        assert!(error.to_string().contains("unknown variant `delete`"), "{error}");
    }

    #[test]
    fn what_came_of_it_passes_between_processes() {
        let oid = Oid::parse(&"a".repeat(40)).unwrap();
        let merged = |result| MergedTask { task: "t".into(), result };
        let done = OperationResult::Merged {
            from: oid.clone(),
            to: Some(oid.clone()),
            tasks: vec![
                merged(MergeResult::Merged { commit_id: oid }),
                merged(MergeResult::LeftOut { reason: "conflicts".into() }),
            ],
            halted: false,
        };
        let text = serde_json::to_string(&done).unwrap();
        assert_eq!(serde_json::from_str::<OperationResult>(&text).unwrap(), done);
        assert!(text.contains(r#"{"task":"t","result":"left_out","message":{"en":"conflicts"}}"#), "{text}");
    }
}
