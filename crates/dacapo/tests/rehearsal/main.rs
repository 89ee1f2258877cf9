//! The scripted agent as a process: every step, played by the built program in a scratch directory.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

mod files;
mod output;
mod processes;
mod stage;
mod turns;
