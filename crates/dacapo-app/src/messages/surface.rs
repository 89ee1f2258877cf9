//! Where the reader is: a command is named the way it is typed there.

use std::fmt::Display;

use super::Messages;

/// How the table writes the beginning of a command.
pub const COMMAND_PREFIX: &str = "{dacapo}";

/// Where a text is read, and commands are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// `dacapo kill x`
    Shell,
    /// `/kill x`
    App,
}

impl Surface {
    /// What comes before the words of a command.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Shell => "dacapo ",
            Self::App => "/",
        }
    }
}

impl Messages {
    pub(super) fn prefix(self) -> &'static str {
        self.surface.prefix()
    }

    /// A command as it is typed here: `command("kill x")`.
    pub fn command(self, words: impl Display) -> String {
        format!("{}{words}", self.prefix())
    }

    /// What comes after `Task 'x' is still running.` (S7).
    pub fn kill_it_first(self, task: &str) -> String {
        match self.surface {
            Surface::Shell => self.task_kill_first(task),
            Surface::App => self.task_spawn_kill_first(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;

    #[test]
    fn u7_commands_are_named_as_they_are_typed_where_the_reader_is() {
        let shell = Messages::ENGLISH;
        assert_eq!(shell.command("kill x"), "dacapo kill x");
        assert_eq!(shell.for_app().command("kill x"), "/kill x");
        assert_eq!(shell.hint_resume_continues("x"), "dacapo resume x continues it");
        assert_eq!(shell.for_app().hint_resume_continues("x"), "/resume x continues it");
        let chinese = Messages::new(Language::TraditionalChinese).for_app();
        assert_eq!(chinese.hint_resume_continues("x"), "/resume x 繼續執行它");
    }

    #[test]
    fn s7_a_running_task_is_killed_from_where_the_user_is() {
        let said = |m: Messages| [m.task_still_running("x"), m.kill_it_first("x")].join(" ");
        assert_eq!(said(Messages::ENGLISH), "Task 'x' is still running. Use dacapo kill x first.");
        assert_eq!(said(Messages::ENGLISH.for_app()), "Task 'x' is still running. Use /spawn --kill first.");
    }
}
