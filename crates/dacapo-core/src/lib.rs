//! The loop engine of Dacapo. It never meets the user: no printing, no arguments, no home directory, no terminal.
//!
//! From a task's spec, by the engine and its machines, to events, and from these to what is shown; below them git, processes and files.
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
mod handed;
pub mod process;
pub mod radar;
mod random;
pub mod recovery;
mod text;

pub mod mirror;

pub mod event;
pub mod follow;
pub mod trust;

pub mod view;

pub mod overview;
