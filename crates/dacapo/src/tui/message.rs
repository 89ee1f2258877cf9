//! What the loop hears: of the user, of tasks, of what it had done.

use dacapo_app::note::Note;
use dacapo_app::operations::act::OperationResult;
use dacapo_app::question::NotYet;

use super::effect::Act;
use super::key::Key;
use super::live::News;
use super::mouse::Mouse;
use super::screen::Answer;

/// Which screen something is for. One that was closed hears nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ScreenId(pub(crate) u64);

pub(crate) enum Message {
    Key(Key),
    Mouse(Mouse),
    Pasted(String),
    Resized {
        columns: u16,
        rows: u16,
    },
    Tasks(News),
    /// For one screen, of its job, its feed, or a card that it opened.
    Answered {
        screen: ScreenId,
        answer: Answer,
    },
    /// An operation is over, or needs an answer first.
    Acted {
        act: Act,
        came: Box<Result<OperationResult, NotYet>>,
    },
    /// Something happened beside an operation, or how far it has come.
    Noted(Note),
    /// The terminal is ours again.
    Returned {
        /// Why the other program could not be run.
        problem: Option<String>,
    },
    /// The clock has moved on as far as a screen wanted.
    Tick,
    Signal(Signal),
}

/// What the system wants of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGTERM, SIGHUP, or the terminal is gone.
    End { exit_code: u8 },
    /// SIGINT from outside: at the keyboard Ctrl-C is a key.
    Interrupt,
    /// SIGTSTP from outside.
    Stop,
}
