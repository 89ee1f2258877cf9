//! The loop engine of Dacapo. It never meets the user: no printing, no arguments, no home directory, no terminal.
//!
//! The modules in the order in which data flows:
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

pub mod git;
pub mod process;
pub mod radar;
pub mod recovery;

pub mod mirror;

pub mod event;
pub mod trust;

pub mod view;

pub mod overview;
