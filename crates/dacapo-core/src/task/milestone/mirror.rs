//! What a milestone says of itself in files of the main checkout (M8): a part of its progress, in names that are fixed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Milestone;
use super::progress::{MilestonePhase, MilestoneStatus};
use crate::engine::machine::Whereabouts;
use crate::git::Oid;
use crate::mirror::{Document, Owner};

/// The version of both files.
const FORMAT: u32 = 1;

impl Milestone {
    /// `.dacapo/milestones/ID.json` and `.dacapo/state.json`. Before it has a branch there is nothing to tell: it is `pending`, and
    /// stays so where it is refused.
    pub(super) fn documents(&self, whereabouts: Whereabouts) -> Vec<Document> {
        if !self.life.workspace.ready {
            return Vec::new();
        }
        let id = self.life.spec.name.to_string();
        let progress = self.progress();
        let status = match whereabouts {
            Whereabouts::Dropped if progress.status != MilestoneStatus::Completed => {
                MilestoneStatus::Abandoned
            }
            Whereabouts::Dropped | Whereabouts::Here => progress.status,
        };
        let own = MilestoneFile {
            v: FORMAT,
            id: id.clone(),
            status,
            phase: progress.phase.filter(|_| status == progress.status),
            iteration_count: progress.accepted,
            rounds: progress.rounds,
            consecutive_rejections: progress.rejections,
            branch_name: self.branch_name().to_owned(),
            base_commit: self.life.workspace.base.clone(),
            tokens_used: self.life.budget.usage.tokens(),
            cost_usd: self.life.budget.usage.cost_usd,
        };
        let (word, current) = match status {
            MilestoneStatus::InProgress => (StateWord::Awake, Some(id.clone())),
            MilestoneStatus::Paused => (StateWord::Paused, Some(id.clone())),
            // Nothing is left to be done by itself (M8).
            MilestoneStatus::AwaitingReview | MilestoneStatus::Completed | MilestoneStatus::Abandoned => {
                (StateWord::Sleeping, None)
            }
        };
        let all = StateFile { v: FORMAT, status: word, current_milestone: current };
        let takes_over = status == MilestoneStatus::InProgress;
        vec![
            Document {
                within: &["milestones"],
                name: format!("{id}.json"),
                content: fields(&own),
                owner: Owner::Task,
            },
            Document {
                within: &[],
                name: "state.json".into(),
                content: fields(&all),
                // One is at work at a time, and what becomes of another one meanwhile is not the news.
                owner: Owner::Named { by: "current_milestone", takes_over },
            },
        ]
    }
}

fn fields(file: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(file) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// `.dacapo/milestones/ID.json` in the main checkout: where a milestone stands. The time of its last change is in it, too, as
/// `updated_at`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MilestoneFile {
    /// The version of this file.
    v: u32,
    /// The milestone's id.
    id: String,
    /// Its status. A milestone that was dropped is `abandoned`.
    status: MilestoneStatus,
    /// Its phase; null if it is over.
    phase: Option<MilestonePhase>,
    /// How many rounds were accepted.
    iteration_count: u32,
    /// How many rounds have ended.
    rounds: u32,
    /// How many of the last rounds were rejected in a row.
    consecutive_rejections: u32,
    /// Its branch.
    branch_name: String,
    /// The commit it started from; null in a repository without commits.
    base_commit: Option<Oid>,
    /// The tokens that both agents used, input (cached ones included) and output together.
    tokens_used: u64,
    /// What they cost; null if it is not known.
    cost_usd: Option<f64>,
}

/// `.dacapo/state.json` in the main checkout: whether a milestone is going on. The time of its last change is in it, too, as
/// `updated_at`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StateFile {
    /// The version of this file.
    v: u32,
    /// What is going on.
    status: StateWord,
    /// The milestone that is going on or paused; null if there is none.
    current_milestone: Option<String>,
}

/// What is going on in a repository.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StateWord {
    /// A milestone is in progress.
    Awake,
    /// No milestone is in progress.
    Sleeping,
    /// A milestone is paused.
    Paused,
}
