//! Questions to the person at the terminal. One is asked only where it can be seen before anything is typed: a command in a
//! pasted block must not take the next line of that block for an answer.

use std::io::{self, IsTerminal as _, Write as _};

use rustix::termios::{QueueSelector, tcflush};

use crate::args::Show;
use crate::terminal::is_ready;

/// Who could answer a question now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person who sees it and has typed nothing yet.
    Person,
    /// Lines are waiting that were typed for somebody else.
    TypedAhead,
    /// No terminal, or output for programs.
    Nobody,
}

impl Audience {
    /// Who reads standard error and writes standard input.
    pub(crate) fn now(show: Show) -> Self {
        let stdin = io::stdin();
        if show.json || show.quiet || !stdin.is_terminal() || !io::stderr().is_terminal() {
            Self::Nobody
        } else if is_ready(&stdin) {
            Self::TypedAhead
        } else {
            Self::Person
        }
    }
}

/// What a yes must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Default {
    /// Enter alone is a yes.
    Yes,
    /// Only a clear yes is one.
    No,
}

/// Asks the person; half a line that was typed before is no answer.
pub(crate) fn yes(question: &str, default: Default) -> bool {
    let stdin = io::stdin();
    let _ = tcflush(&stdin, QueueSelector::IFlush);
    let mut err = anstream::stderr();
    let _ = write!(err, "{question} ").and_then(|()| err.flush());
    let mut answer = String::new();
    let read = stdin.read_line(&mut answer).unwrap_or(0);
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => true,
        // The end of input is no Enter.
        "" => read > 0 && default == Default::Yes,
        _ => false,
    }
}
