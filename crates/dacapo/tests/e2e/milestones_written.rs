//! Milestones as people write, find and read them: `milestone new`, `list`, `show`, and `init`.

mod choosing;
mod finding;
mod laying_out;
mod reading;
