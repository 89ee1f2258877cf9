//! Real agents, from outside: the pinned CLIs that `cargo xtask setup` installs, each with a home of its own, against the
//! scripted model server. Nothing here needs a network or a key.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

#[path = "../../testing/agent_clis.rs"]
mod agent_clis;
#[path = "../e2e/documented.rs"]
mod documented;
#[path = "../../testing/model_server/mod.rs"]
mod model_server;
#[path = "../e2e/support.rs"]
#[expect(dead_code, reason = "the end-to-end tests of the program need more of the world")]
mod support;

mod agents;
mod failures;
mod interrupt;
mod rig;
mod running;
mod scripts;
mod work;

mod acp;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod milestones;
mod opencode;
mod plain;
mod qwen;
mod written;
