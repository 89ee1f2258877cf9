//! The milestones of a repository: the files that define them, joined with what came of each (M1, M2).
//!
//! What a milestone is to bring is in `.dacapo/milestones/ID.md` of the main checkout. What came of it is the fold of its
//! task's journal; only where there is no task any more is the mirror beside the file (`ID.json`) believed, so that a
//! milestone that was completed and dropped is not begun once more.

mod auto;
mod catalog;
mod comments;
mod files;
mod mirror;
mod outline;
mod story;

pub use auto::{Auto, Candidate, next};
pub use catalog::fold;
pub use catalog::{Catalog, Entry, Known, MilestoneTask, Status, known_of};
pub use comments::says_something;
pub use files::{Folder, Unusable, Written, read_text};
pub use mirror::Mirror;
pub use outline::{Outline, Section};
pub use story::{Round, Speaker, Statement, Story};
