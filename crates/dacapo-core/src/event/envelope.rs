//! One line of the journal: an event, and what is known of every event.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Event;
use crate::json::seconds;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct Envelope {
    /// The version of this format.
    pub v: u32,
    /// The position in the journal: 0, 1, 2, …
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// How long the task had been active by then. Time in which it was paused, queued or had no process does not count, and
    /// a clock that is set changes nothing.
    #[schemars(rename = "elapsed_seconds", with = "f64")]
    pub elapsed_ms: u64,
    /// The task's name at that time.
    pub task: String,
    /// How much the agent had printed by then. Only during a turn.
    #[schemars(rename = "turn_output", skip_serializing_if = "Option::is_none")]
    pub came_at: Option<CameAt>,
    #[schemars(flatten)]
    pub event: Event,
}

impl Envelope {
    /// The same, where the end of a task says of its active time what its line says.
    #[must_use]
    pub(crate) fn consistent(mut self) -> Self {
        if let Event::TaskFinished(result) = &mut self.event {
            result.elapsed_seconds = self.elapsed_ms as f64 / 1000.0;
        }
        self
    }
}

/// How much an agent had printed when something happened: it shows where the event belongs in the output of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TurnOutput")]
pub struct CameAt {
    /// The turn's number.
    pub turn: u32,
    /// How many bytes are in `turns/NNNN.raw`.
    #[serde(rename = "raw_bytes")]
    pub raw: u64,
    /// How many bytes are in `turns/NNNN.err`.
    #[serde(rename = "stderr_bytes")]
    pub stderr: u64,
}

/// A line as it is written. The end of a task says itself how long it was active: that stands in its line once.
#[derive(Serialize)]
struct WrittenLine<'a> {
    v: u32,
    seq: u64,
    at: &'a Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_seconds: Option<f64>,
    task: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_output: Option<CameAt>,
    #[serde(flatten)]
    event: &'a Event,
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { v, seq, at, elapsed_ms, task, came_at, event } = self;
        let ends = matches!(event, Event::TaskFinished(_));
        let line = WrittenLine {
            v: *v,
            seq: *seq,
            at,
            elapsed_seconds: (!ends).then_some(*elapsed_ms as f64 / 1000.0),
            task,
            turn_output: *came_at,
            event,
        };
        line.serialize(serializer)
    }
}

/// A line as it is read.
#[derive(Deserialize)]
struct ReadLine {
    v: u32,
    seq: u64,
    at: Timestamp,
    #[serde(rename = "elapsed_seconds", with = "seconds")]
    elapsed_ms: u64,
    task: String,
    #[serde(default)]
    turn_output: Option<CameAt>,
    #[serde(flatten)]
    event: Event,
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ReadLine { v, seq, at, elapsed_ms, task, turn_output, event } =
            ReadLine::deserialize(deserializer)?;
        Ok(Self { v, seq, at, elapsed_ms, task, came_at: turn_output, event }.consistent())
    }
}
