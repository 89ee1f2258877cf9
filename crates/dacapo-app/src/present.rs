//! Facts become words.

pub mod act;
mod agent_faults;
pub mod changed_tests;
#[cfg(test)]
mod chinese;
pub mod conclusion;
pub mod ends;
pub mod errors;
pub mod faults;
pub mod json;
pub mod kind_words;
pub mod left_out;
pub mod leftovers;
pub mod legend;
pub mod listing;
pub mod log;
pub mod milestone;
pub mod needs;
pub mod next;
pub mod notes;
pub mod notices;
pub mod page;
pub mod proof;
pub(crate) mod prose;
pub mod refusals;
pub mod report;
pub mod role;
pub mod rooms;
pub mod settings;
pub mod status;
pub mod table;
pub mod untracked;
pub mod words;
pub mod workspace;
