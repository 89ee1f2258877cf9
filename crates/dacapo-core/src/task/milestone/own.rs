//! What those hear of a milestone who do not know what it is, and what a list keeps of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AtWork, MilestonePhase, MilestoneStatus, MilestoneView, Milestones, RoundView};
use crate::engine::{Counts, KindView, Purpose};
use crate::event::Envelope;

impl KindView for MilestoneView {
    fn apply(&mut self, line: &Envelope) {
        self.take_in(line);
    }

    fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn to_json_in_full(&self) -> Value {
        let history = Some(self.history.as_slice());
        serde_json::to_value(MilestoneInFull { view: self, history }).unwrap_or_default()
    }

    fn brief(&self) -> Value {
        let brief = MilestoneBrief {
            status: self.status,
            phase: self.phase,
            at_work: self.at_work,
            round: self.round,
            rounds: self.rounds,
            max_rounds: self.max_rounds,
            rejections: self.consecutive_rejections,
        };
        serde_json::to_value(brief).unwrap_or_default()
    }

    fn interrupted(&mut self) {
        self.at_work = None;
    }

    fn forget_details(&mut self) {
        let over = self.history.len().saturating_sub(1);
        self.history.drain(..over);
    }

    /// A person can overrule a verdict and raise the limit on rounds, so the machine's numbers count, not the records'.
    fn counts(&self) -> Option<Counts> {
        Some(Counts {
            most: self.max_rounds,
            succeeded: self.iteration_count,
            failed: self.rounds.saturating_sub(self.iteration_count),
            commits: u32::try_from(self.progress().commits).unwrap_or(u32::MAX),
        })
    }

    /// Both sides have a conversation that goes on.
    fn remembers_guidance(&self) -> bool {
        true
    }

    /// That is the Acceptor's word, which has a place of its own.
    fn explains_failures(&self) -> bool {
        true
    }

    fn purpose(&self) -> Option<Purpose> {
        Some(Purpose {
            word: Milestones::NAME,
            title: self.about().to_owned(),
            goal: self.goal.clone(),
            parts: self.features.iter().map(|feature| format!("{} {}", feature.id, feature.text)).collect(),
            parts_done: self.features_told(),
        })
    }

    fn boxed(&self) -> Box<dyn KindView> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// What programs are told of a milestone.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Milestone")]
pub struct MilestoneInFull<'a> {
    #[serde(flatten)]
    view: &'a MilestoneView,
    /// Every round. Absent in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a [RoundView]>,
}

/// What a list for people says of a milestone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MilestoneBrief {
    pub status: MilestoneStatus,
    pub phase: Option<MilestonePhase>,
    /// Who has the work in hand.
    pub at_work: Option<AtWork>,
    /// The round at work, from 1.
    pub round: Option<u32>,
    /// Rounds that are over.
    pub rounds: u32,
    /// The limit on them.
    pub max_rounds: u32,
    /// Rejections in a row.
    pub rejections: u32,
}

impl MilestoneBrief {
    /// Of a task in a list, by its kind and what that has of its own; none: it is no milestone.
    pub fn of(kind: &str, own: Option<&Value>) -> Option<Self> {
        Self::deserialize(own.filter(|_| kind == Milestones::NAME)?).ok()
    }
}
