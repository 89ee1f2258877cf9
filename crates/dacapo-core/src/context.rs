//! What the next iteration is told and what git keeps: history, prompt, summary, commit message. All pure text.

mod history;
mod message;
mod prompt;
mod summary;
mod text;

pub use history::{History, Past};
pub use message::CommitMessage;
pub use prompt::{Told, completion_rule, prompt};
pub use summary::summarize;
pub use text::{cut, cut_columns, tail_lines};
