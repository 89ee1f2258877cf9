//! What happened beside what was asked for, and how far what takes long has come, as it happens.

use std::fmt;
use std::sync::Arc;

use dacapo_core::event::AgentEvent;
use dacapo_core::git::Oid;
use serde::{Deserialize, Serialize};

use crate::messages::Text;

/// Something that a user should hear although they did not ask for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// Processes that a task left behind were ended.
    LeftoversEnded { task: String, processes: usize },
    /// A process that a task left behind cannot be ended by us.
    LeftoverUnreachable { task: String, pid: u32, program: String },
    /// What a task has committed in its own repository cannot be carried into the user's.
    NotCarried { task: String, error: Text },
    /// A lock of git's that a killed command left was removed.
    LockRemoved { what: Text },
    /// A rename that was cut short is complete now.
    RenameFinished { from: String, to: String },
    /// A rename that was cut short still is: the error, for people.
    RenameUnfinished { failure: Text },
    /// Files that a killed merge had begun to move went back.
    MergeTakenBack { task: String, files: usize },
    /// A task whose commits hold a known secret is not among those that are merged.
    SecretNotMerged { task: String, why: Text },
    /// A task that was told to end has not yet.
    NotEndedYet { task: String, killed_in_seconds: u64 },
    /// The process of a task hears nothing, and is killed.
    NotListening { task: String },
    /// What the user confirmed cannot be stored.
    TrustNotStored { error: String },
    /// A task whose record does not read.
    TaskUnreadable { task: String, error: Text, path: String },
    /// A warning about the settings.
    Settings { warning: Text },
    /// How far the merge of a task has come.
    Merging { task: String, now: MergeStep },
}

/// What a merge does with a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum MergeStep {
    Begun,
    /// An agent resolves conflicts, or joins what there is without any.
    Resolving {
        agent: String,
        conflicts: Vec<String>,
    },
    Agent {
        event: AgentEvent,
    },
    /// A check runs on the result.
    Check {
        command: String,
    },
    Checked {
        command: String,
        passed: bool,
    },
    /// The branch was moved by somebody else: once more from there.
    Again,
    /// It is over with this task.
    Ended {
        #[serde(flatten)]
        result: MergeResult,
    },
}

/// What became of a task in a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum MergeResult {
    Merged {
        commit_id: Oid,
    },
    AlreadyThere,
    Empty,
    LeftOut {
        #[serde(rename = "message")]
        reason: Text,
    },
    #[serde(rename = "stopped")]
    Halted,
}

/// Who hears of notes.
#[derive(Clone)]
pub struct Notes(Arc<dyn Fn(&Note) + Send + Sync>);

impl Notes {
    /// Each is given to `listener` as soon as it is known.
    pub fn new(listener: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    pub fn tell(&self, note: &Note) {
        (self.0)(note);
    }
}

/// Nobody hears of them but the log.
impl Default for Notes {
    fn default() -> Self {
        Self::new(|note| tracing::info!("{note:?}"))
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_passes_between_processes() {
        let merging = |now| Note::Merging { task: "a".into(), now };
        let commit_id = Oid::parse(&"a".repeat(40)).unwrap();
        let tool = AgentEvent::Text { text: "I look".into() };
        for (now, json) in [
            (MergeStep::Begun, r#"{"step":"begun"}"#.to_owned()),
            (
                MergeStep::Agent { event: tool },
                r#"{"step":"agent","event":{"kind":"text","text":"I look"}}"#.to_owned(),
            ),
            (
                MergeStep::Checked { command: "make".into(), passed: false },
                r#"{"step":"checked","command":"make","passed":false}"#.to_owned(),
            ),
            (
                MergeStep::Ended { result: MergeResult::Merged { commit_id: commit_id.clone() } },
                format!(r#"{{"step":"ended","result":"merged","commit_id":"{commit_id}"}}"#),
            ),
        ] {
            let text = serde_json::to_string(&merging(now.clone())).unwrap();
            assert_eq!(text, format!(r#"{{"note":"merging","task":"a","now":{json}}}"#));
            assert_eq!(serde_json::from_str::<Note>(&text).unwrap(), merging(now));
        }
    }
}
