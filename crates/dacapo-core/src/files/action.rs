//! What was tried with a file when that failed.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    Read,
    Write,
    Create,
    Open,
    Remove,
    Move,
    Rename,
    Copy,
    Compare,
    Clean,
    Lock,
    Inspect,
    Repair,
    Run,
    /// With the process of an agent.
    TalkTo,
    StartThread,
    /// One in which a commit is proven.
    WaitForCheckout,
}

/// As in `cannot read PATH`, for logs.
impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Create => "create",
            Self::Open => "open",
            Self::Remove => "remove",
            Self::Move => "move",
            Self::Rename => "rename",
            Self::Copy => "copy",
            Self::Compare => "compare",
            Self::Clean => "clean",
            Self::Lock => "lock",
            Self::Inspect => "inspect",
            Self::Repair => "repair",
            Self::Run => "run",
            Self::TalkTo => "talk to",
            Self::StartThread => "start a thread for",
            Self::WaitForCheckout => "wait for a proof checkout in",
        })
    }
}
