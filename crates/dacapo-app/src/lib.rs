//! Everything a person or a program can do with Dacapo, without a surface: no arguments, no printing, nothing read from a
//! terminal. What depends on the user comes in as an [`App`].
//!
//! | modules | what they hold |
//! |---|---|
//! | `operations` | what can be done, one file per operation |
//! | `request` | a request and the settings become a `TaskSpec` |
//! | `config`, `trust` | settings with their origin; what a repository brings, and what the user confirmed |
//! | `agents`, `native`, `rehearsal`, `writers` | agents on this machine, the built-in ones, who writes summaries |
//! | `found_checks`, `milestones` | the project's own checks; milestone files in the checkout |
//! | `present` | facts become words |
//! | `question`, `note`, `error` | what only the user can decide, what they should hear, the one error at the edge |
//! | `notify`, `pull_request`, `guarded_command` | notifications, pull requests, and foreign programs run under a guard |
//! | `messages` | what people are told, in three languages |
//! | `inside_task` | refuses orders that come from inside a task |
//! | `new_files`, `scratch`, `sizes` | new files in the checkout, scratch repositories, sizes on disk |
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod agents;
mod app;
pub mod committed_secrets;
pub mod config;
pub mod error;
pub mod found_checks;
pub mod guarded_command;
pub mod inside_task;
pub mod json_reference;
pub mod messages;
pub mod milestones;
pub mod native;
pub mod new_files;
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
