//! What a person or a program can do with Dacapo, without a surface: no arguments, no printing, nothing read from a
//! terminal. Whatever depends on the user comes in as an [`App`].
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod agents;
mod app;
pub mod config;
pub mod errand;
pub mod error;
pub mod found_checks;
pub mod inside;
pub mod laying;
pub mod messages;
pub mod milestones;
pub mod native;
pub mod note;
pub mod notify;
pub mod operations;
pub mod present;
pub mod pull_request;
pub mod question;
pub mod rehearsal;
pub mod request;
pub mod scratch;
pub mod sizes;
pub mod trust;
pub mod writers;

pub use app::App;
