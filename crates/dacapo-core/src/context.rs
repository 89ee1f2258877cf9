//! What the next iteration is told and what git keeps: history, prompt, summary, commit message, and what a
//! model is asked that writes the latter two. All pure text.

mod changed_tests;
mod closing;
mod conversation;
mod history;
mod merge_message;
mod message;
mod prompt;
mod sentence;
mod shortfall;
mod summary;
mod wording;

pub use crate::event::words::{fault, faults};
pub use crate::text::{
    cut, cut_chars, cut_columns, failure_line, is_deceptive, last_lines, success_line, tail_lines,
};
pub use changed_tests::{RedOriginals, TestsTold};
pub(crate) use changed_tests::{change, inline_change};
pub use conversation::Conversation;
pub use history::{History, Past};
pub(crate) use merge_message::MergeMessage;
pub use message::CommitMessage;
#[cfg(test)]
pub(crate) use prompt::inert;
pub use prompt::{PromptParts, prompt};
pub use shortfall::{Shortfall, hidden_because, hidden_files};
pub use summary::{question, reason, summarize};
pub use wording::{About, changed_files, message_prompt, summary_prompt, written_message, written_summary};
