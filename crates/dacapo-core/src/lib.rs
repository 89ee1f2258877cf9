//! The engine of Dacapo. It never meets the user: no printing, no arguments, no home directory, no environment.
//!
//! A `TaskSpec` says what was asked. A pure machine decides what happens next, the driver carries it out and records
//! events in the journal, and a view is what folding those events gives. The flow is drawn in ARCHITECTURE.md.
//!
//! | modules | what they hold |
//! |---|---|
//! | `spec`, `event`, `view`, `overview` | what was asked, what happened, what is shown of one task and of many |
//! | `engine`, `task` | the driver, and the kinds of task with their machines |
//! | `agent`, `context` | one adapter per agent; what agents and commits are told |
//! | `process`, `git`, `proof` | guarded children, the user's git, checkouts in which commits are proven |
//! | `store`, `files`, `env`, `json` | task directories, journals and locks; how files are opened; the environment as a value; how spans and branches are written |
//! | `follow`, `mirror` | reading a task that another process drives; files that say where a task stands |
//! | `merge`, `dropped`, `prune`, `renaming` | what happens to a task after its end |
//! | `radar`, `recovery`, `trust` | branches that conflict, leftovers of a crash, changed files a person should look at |
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod spec;

pub mod engine;
pub mod merge;
pub mod task;

pub mod context;

pub mod agent;

pub mod store;

pub mod proof;

pub mod dropped;
pub mod prune;
pub mod renaming;

pub mod env;
pub mod files;
pub mod git;
mod inherited_locks;
pub mod json;
pub mod process;
pub mod radar;
mod random;
pub mod recovery;
mod text;

pub mod mirror;

pub mod event;
pub mod follow;
pub mod suspect_files;
mod yardstick;

pub mod view;

pub mod overview;
