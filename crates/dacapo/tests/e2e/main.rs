//! The program from outside: real git, real processes, real signals, the scripted agent as a real child.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot go on fails its test")]

#[path = "../../testing/model_server/mod.rs"]
mod model_server;

mod acp;
mod acp_agent;
mod adapters;
mod agents;
mod asked;
mod attach;
mod bad_input;
mod causes;
mod checks;
mod commands;
mod completions;
mod config_edit;
#[cfg(target_os = "linux")]
mod crash;
mod doctor;
mod documented;
mod driven;
#[cfg(target_os = "linux")]
mod dropping;
mod echoes;
mod forge;
mod founding;
mod fresh_worktrees;
mod front_door;
mod hostile_git;
mod hostile_output;
mod hostile_processes;
mod inside;
mod installed;
mod issues;
mod json_output;
mod kit;
mod languages;
mod limits;
mod list;
mod manual;
mod merge;
#[cfg(target_os = "linux")]
mod milestone_deaths;
mod milestones;
mod milestones_written;
mod misdeed;
mod native;
mod notifications;
mod opening;
mod private;
mod prompts;
mod proof;
mod pruning;
mod pull_requests;
mod readers;
mod records;
mod refusals;
#[cfg(target_os = "linux")]
mod renaming;
mod repositories;
mod requests;
#[cfg(target_os = "linux")]
mod rooms;
mod secrets;
mod shared_limits;
mod spawned;
mod support;
#[cfg(target_os = "linux")]
mod takeover;
#[cfg(target_os = "linux")]
mod terminal;
mod toy_surface;
mod trust;
#[cfg(target_os = "linux")]
mod tui;
mod untracked;
mod worktrees;
mod writers;
mod yardstick;
