//! What the commands of milestones print with `--json`.

use dacapo_core::event::Needs;
use dacapo_core::task::milestone::{MilestonePhase, RoundView};
use dacapo_core::view::Status;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::present::json::Versioned;
use crate::present::next::Next;

/// An object that a command of milestones prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MilestoneObject {
    /// `milestone new --json`: the file of a new milestone.
    MilestoneCreated(MilestoneCreated),
    /// Each element of `milestone list --json`, and `milestone show --json`.
    Milestone(Box<MilestoneObjectInFull>),
}

impl MilestoneObject {
    /// As it is printed.
    pub fn line(self) -> String {
        Versioned::new(self).line()
    }
}

/// The file of a new milestone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MilestoneCreated {
    /// The milestone's id.
    pub id: String,
    /// Its file.
    pub path: String,
    /// The sections that are still to be written.
    pub fill_in: Vec<String>,
}

/// A milestone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MilestoneEntry {
    /// The milestone's id. If it was started, this is the name of its task, too.
    pub id: String,
    /// `pending`, `in_progress`, `paused`, `awaiting_review`, `completed` or `abandoned`.
    pub status: String,
    /// The heading of its file; null if it has none.
    pub title: Option<String>,
    /// Its file; null if the file is gone.
    pub path: Option<String>,
    /// When the file was created; null if it does not say so.
    pub created_at: Option<Timestamp>,
    /// Whether it is started automatically; null if the file cannot be read.
    pub auto_start: Option<bool>,
    /// Whether a person must approve the result; null if the file cannot be read.
    pub requires_human_review: Option<bool>,
    /// How many features it has.
    pub features: FeatureCount,
    /// The round that is going on, from 1; null if none is.
    pub round: Option<u32>,
    /// How many rounds have ended; null if it was not started.
    pub rounds: Option<u32>,
    /// The limit on rounds; null if it was not started.
    pub max_rounds: Option<u32>,
    /// How many rounds were accepted; null if it was not started.
    pub iteration_count: Option<u32>,
    /// How many of the last rounds were rejected in a row; null if it was not started.
    pub consecutive_rejections: Option<u32>,
    /// The phase; null if it is over or was not started.
    pub phase: Option<MilestonePhase>,
    /// The agent that builds; null if it is not known yet.
    pub developer: Option<String>,
    /// The agent that judges; null if it is not known yet.
    pub acceptor: Option<String>,
    /// The tokens used so far, input and output together; null if it was not started.
    pub tokens_used: Option<u64>,
    /// The cost so far; null if it is not known.
    pub cost_usd: Option<f64>,
    /// The milestone's branch; null if it has none yet.
    pub branch: Option<String>,
    /// The status of its task; null if it was not started.
    pub task_status: Option<Status>,
    /// What is wrong with it, a sentence each.
    pub problems: Vec<String>,
}

/// How many features a milestone has.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct FeatureCount {
    /// How many were accepted; null if that is not known.
    pub done: Option<usize>,
    /// How many there are; null if the file cannot be read.
    pub total: Option<usize>,
}

/// A milestone, with everything that was said about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MilestoneObjectInFull {
    #[serde(flatten)]
    pub entry: MilestoneEntry,
    #[serde(flatten)]
    pub page: Option<MilestonePage>,
}

/// What `milestone show --json` adds. In a list all of it is absent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MilestonePage {
    /// What its file says. Absent if the file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<DefinitionObject>,
    /// The SHA-256 of what the milestone is held to. Absent if the file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// What the Acceptor wants or wanted to be different. Absent if it was not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<FindingLists>,
    /// What a person must decide; null if nobody is needed.
    #[schemars(with = "Option<Needs>")]
    pub needs: Option<Value>,
    /// What people said before the first round.
    pub said_before: Vec<StatementObject>,
    /// Every round, with what was said in it.
    pub history: Vec<RoundObject>,
    /// Commands that a person may want to run next, the most likely first.
    pub next: Vec<Next>,
}

/// What the file of a milestone says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "MilestoneDefinition")]
pub struct DefinitionObject {
    /// What the milestone is for.
    pub goal: String,
    /// What is to be built, in order.
    pub features: Vec<FeatureObject>,
    /// What must hold in the end.
    pub criteria: Vec<CriterionObject>,
    /// What must not be done on the way; may be empty.
    pub constraints: String,
    /// All other sections of the file; may be empty.
    pub others: String,
}

/// A feature of a milestone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "DefinedFeature")]
pub struct FeatureObject {
    /// `F-1`, `F-2`, …
    pub id: String,
    /// The feature, as the file says it.
    pub text: String,
    /// What it is accepted by; null if the file does not say.
    pub accept: Option<String>,
    /// True if it was accepted; null if the milestone was not started.
    pub done: Option<bool>,
}

/// A criterion of a milestone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Criterion")]
pub struct CriterionObject {
    /// `C-1`, `C-2`, …
    pub id: String,
    /// The criterion, as the file says it.
    pub text: String,
}

/// Findings of the Acceptor.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindingLists {
    /// Those that are open.
    pub open: Vec<FindingObject>,
    /// Those that are settled, the newest of them.
    pub settled: Vec<FindingObject>,
}

/// Something that the Acceptor wants to be different.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "NamedFinding")]
pub struct FindingObject {
    /// `R1`, `R2`, …
    pub id: String,
    /// The finding, in the Acceptor's words.
    pub text: String,
}

/// Something that was said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Statement")]
pub struct StatementObject {
    /// `developer`, `acceptor`, `dacapo` or `person`.
    pub who: String,
    /// The turn in which an agent said it; null for all others.
    pub turn: Option<u32>,
    /// What was said.
    pub text: String,
}

/// A round, with what was said in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "RoundInFull")]
pub struct RoundObject {
    #[serde(flatten)]
    pub seen: RoundView,
    /// Who said what, in order.
    pub said: Vec<StatementObject>,
    /// How long the round took; null if it is going on.
    pub duration_seconds: Option<f64>,
    /// What the round cost; null if it is not known.
    pub cost_usd: Option<f64>,
}

/// The heading and the introduction of these objects in docs/json.md.
pub const SECTION: (&str, &str) = (
    "Milestones",
    "What the commands `dacapo milestone …` print. The task of a milestone has `milestone` in `status --json`, and its journal the event [`milestone`](#milestone).",
);

/// The files for other programs: about a milestone, and about which one is under way.
pub const FILES: (&str, &str) = (".dacapo/milestones/ID.json", ".dacapo/state.json");
