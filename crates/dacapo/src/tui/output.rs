//! Everything an agent printed, however much it is: a window of entries in memory around the place that is looked at, filled by a
//! thread that reads forward from sparse places.
//!
//! | module | what it holds |
//! |---|---|
//! | `entry`, `markdown`, `rows` | what a turn says becomes entries, and these become rows of the screen |
//! | `span`, `reader`, `before`, `hunt`, `window` | reading from any place, the jobs of the thread, searching, what is in memory |
//! | `shared`, `feed` | what thread and screen have in common, and the thread |
//! | `view`, `mouse`, `drawing` | the pane: where one is, what is folded, keys and the mouse; what it looks like |

mod before;
mod drawing;
mod entry;
mod feed;
mod hunt;
mod markdown;
mod mouse;
mod reader;
mod rows;
mod search;
mod searching;
mod shared;
mod span;
mod view;
mod window;

pub(crate) use feed::{OutputChanged, app_of, dir_of};
pub(crate) use span::Source;
pub(crate) use view::{Output, Pressed};

#[cfg(test)]
mod tests;
