//! Children under a guard, with real processes.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does")]

#[path = "process/descriptors.rs"]
mod descriptors;
#[path = "process/jobs.rs"]
mod jobs;
#[path = "process/kills.rs"]
mod kills;
#[path = "process/rooms.rs"]
mod rooms;
#[path = "process/support.rs"]
mod support;
