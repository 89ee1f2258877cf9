//! What can be typed next, and what each command does.

use std::fmt::Write as _;

use dacapo_core::event::{Choice, Needs};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::act::NextAct;
use super::needs;
use super::words::{DIM, paint};
use crate::messages::Messages;

/// A command that a person may want to run next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Next {
    /// None where it is no act of ours but another program's command.
    #[serde(skip)]
    pub act: Option<NextAct>,
    /// The command as it is typed. An answer that an agent offers is named as the agent names it.
    pub command: String,
    /// What the command does. Absent where the command says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub meaning: String,
}

impl Next {
    /// Something that a person types, and no act of ours.
    pub fn new(command: impl Into<String>, meaning: String) -> Self {
        Self { act: None, command: command.into(), meaning }
    }

    pub fn of(act: NextAct, meaning: String, messages: Messages) -> Self {
        Self { command: act.command_line(messages), act: Some(act), meaning }
    }

    /// What can be answered to task `name`, the most likely first.
    pub fn answers(needs: &Needs, name: &str, messages: Messages) -> Vec<Self> {
        let acts = needs::answers(needs, name).into_iter();
        acts.zip(&needs.choices).map(|(act, choice)| Self::answer(act, choice, messages)).collect()
    }

    fn answer(act: NextAct, choice: &Choice, messages: Messages) -> Self {
        let meaning = match choice {
            Choice::Resume => messages.next_resume(),
            Choice::Answer => messages.next_answer(),
            Choice::ResumeUnproven => messages.next_resume_unproven(),
            Choice::ResumeWithRounds { .. } => messages.next_more_rounds(),
            Choice::AddRounds { .. } => messages.next_raise_rounds(),
            Choice::Tell => messages.next_tell(),
            Choice::Approve => messages.next_approve(),
            Choice::Reject => messages.next_reject(),
            Choice::Kill => messages.next_kill(),
            Choice::Abandon => messages.next_abandon(),
            Choice::Offered { .. } => String::new(),
        };
        Self::of(act, meaning, messages)
    }
}

/// The same without the line break at its end.
pub fn lines(all: &[Next], messages: Messages) -> String {
    block(all, messages).trim_end().to_owned()
}

/// A line each, the meanings below each other.
pub fn explained(all: &[Next]) -> Vec<String> {
    let width = all.iter().map(|next| next.command.width()).max().unwrap_or(0).min(48);
    let line = |Next { command, meaning, .. }: &Next| match meaning.as_str() {
        "" => command.clone(),
        meaning => {
            let gap = width.saturating_sub(command.width());
            format!("{command}{:gap$}  {}", "", paint(DIM, meaning))
        }
    };
    all.iter().map(line).collect()
}

/// `  next: …`, the most likely first; empty where there is nothing to type.
pub fn block(all: &[Next], messages: Messages) -> String {
    let label = messages.label_next();
    let mut out = String::new();
    for (nth, line) in explained(all).iter().enumerate() {
        let before = if nth == 0 { label.clone() } else { " ".repeat(label.width()) };
        let _ = writeln!(out, "  {before}{line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;

    #[test]
    fn u7_every_command_has_its_line_and_what_it_does() {
        let messages = Messages::ENGLISH;
        let all = [
            Next::new("dacapo diff x", messages.next_diff()),
            Next::new("dacapo resume x --iter 5", messages.next_more_iterations(5)),
            Next::new("Allow once", String::new()),
        ];
        let shown = |messages| anstream::adapter::strip_str(&block(&all, messages)).to_string();
        assert_eq!(
            shown(messages),
            "  next: dacapo diff x             see what changed\n        \
             dacapo resume x --iter 5  continue for 5 more iterations\n        Allow once\n"
        );
        let chinese = shown(Messages::new(Language::SimplifiedChinese));
        assert!(chinese.starts_with("  下一步：dacapo diff x  "), "{chinese}");
        assert!(
            chinese.contains("\n          dacapo resume x"),
            "aligned by columns, not characters: {chinese}"
        );
        assert_eq!(block(&[], messages), "");
    }
}
