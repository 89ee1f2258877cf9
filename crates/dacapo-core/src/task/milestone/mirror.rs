//! What a milestone says of itself in files of the main checkout (M8): a part of its progress, in names that are fixed.

use serde_json::{Map, Value, json};

use super::Milestone;
use super::progress::MilestoneStatus;
use crate::engine::machine::Whereabouts;
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
        let own = json!({
            "v": FORMAT,
            "id": id,
            "status": status.as_str(),
            "phase": progress.phase.filter(|_| status == progress.status).map(|phase| phase.as_str()),
            "iteration_count": progress.accepted,
            "rounds": progress.rounds,
            "consecutive_rejections": progress.rejections,
            "branch_name": self.branch_name(),
            "base_commit": self.life.workspace.base,
            // Of both agents, all turns, input (what was cached is part of it) and output: what their models' servers count.
            "tokens_used": self.life.budget.usage.tokens(),
            "cost_usd": self.life.budget.usage.cost_usd,
        });
        let (word, current) = match status {
            MilestoneStatus::InProgress => ("awake", Some(&id)),
            MilestoneStatus::Paused => ("paused", Some(&id)),
            // Nothing is left to be done by itself (M8).
            MilestoneStatus::AwaitingReview | MilestoneStatus::Completed | MilestoneStatus::Abandoned => {
                ("sleeping", None)
            }
        };
        let all = json!({ "v": FORMAT, "status": word, "current_milestone": current });
        let takes_over = status == MilestoneStatus::InProgress;
        vec![
            Document {
                within: &["milestones"],
                name: format!("{id}.json"),
                content: fields(own),
                owner: Owner::Task,
            },
            Document {
                within: &[],
                name: "state.json".into(),
                content: fields(all),
                // One is at work at a time, and what becomes of another one meanwhile is not the news.
                owner: Owner::Named { by: "current_milestone", takes_over },
            },
        ]
    }
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
