//! The scripted model server does what it says, seen by a client that looks at the bytes. That real agents understand it
//! is shown where they run against it (`e2e_agents`).
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

#[path = "../../testing/model_server/mod.rs"]
mod model_server;

mod client;
mod failures;
mod formats;
mod scripts;
