//! Settings: files, environment and flags in, one [`Config`] out, with the origin of every value.
//!
//! `types.rs` says what can be set. Its JSON Schema ([`schema`]) becomes the shape against which each source is
//! checked, so that all mistakes are found at once and each has its place; the sources are then merged key by
//! key, and only the result goes through serde.

mod brought;
mod edit;
mod environment;
mod file;
mod judging;
mod language;
mod layers;
mod path;
mod problem;
mod sample;
mod shape;
mod show;
#[cfg(test)]
mod tests;
mod text;
mod timespan;
mod types;

pub use crate::messages::Language;
pub use brought::{Brought, Confirmed, Entry, Use};
pub use edit::{set, unset};
pub use judging::{ProofCaches, Proofs, RepoSettings, RoomChoice, Tests, TestsMode};
pub use language::language;
pub use layers::{Layers, Loaded, Origin, PROJECT_FILE, Project, Sources, load, load_as_if};
pub use problem::{ConfigError, Problem, ValueLocation};
pub use sample::{Whose, sample};
pub use shape::schema;
pub use show::{ConfigObject, Setting, object, render, settings};
pub use timespan::{NotATimespan, Timespan};
pub use types::{
    AgentProfile, Api, Config, ContextPassing, DEFAULT_FOLLOW_UP, GlyphSet, LoopSettings, Milestone, Notify,
    OutputFormat, PlatformCli, Price, PromptInput, PullRequests, Session, SpawnTask, Worktree,
};
