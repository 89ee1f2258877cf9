//! What a piece of text is to its reader. Facts have a role; each surface decides what a role looks like.

use anstyle::Style;

use super::words::{BAD, BOLD, DIM, GOOD, WARN};

/// Why a text stands out, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Proven: the only role that is green.
    Proven,
    Failed,
    /// A person should look at it.
    Attention,
    /// More important than the text around it.
    Strong,
    /// Less important than the text around it.
    Hint,
}

impl Role {
    /// What it looks like in a terminal.
    pub const fn style(self) -> Style {
        match self {
            Role::Proven => GOOD,
            Role::Failed => BAD,
            Role::Attention => WARN,
            Role::Strong => BOLD,
            Role::Hint => DIM,
        }
    }
}
