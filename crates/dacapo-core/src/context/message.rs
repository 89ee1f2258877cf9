//! The message of an iteration's commit (C4).

use super::text::cut_columns;
use crate::event::Ended;

/// Width of the first line.
const SUBJECT_COLUMNS: usize = 72;
/// Lines of body at most.
const BODY_LINES: usize = 3;

/// What a commit message is made of.
#[derive(Debug, Clone, Copy)]
pub struct CommitMessage<'a> {
    /// The task's name.
    pub task: &'a str,
    /// The iteration, from 0.
    pub iteration: u32,
    /// How it went.
    pub ended: Ended,
    /// What the agent says it did; may be empty.
    pub summary: &'a str,
}

impl CommitMessage<'_> {
    /// The whole message. A commit is never lost for want of one.
    pub fn render(&self) -> String {
        let mut sentences = sentences(self.summary);
        let what = if sentences.is_empty() {
            format!("Iteration {} changes", self.iteration)
        } else {
            sentences.remove(0)
        };
        let subject = cut_columns(&format!("[iter-{}] {what}", self.iteration), SUBJECT_COLUMNS);
        let shortened = subject.ends_with('…');
        let mut body = Vec::new();
        if shortened {
            // What did not fit into the first line is not lost.
            body.extend(wrap(&what));
        }
        for sentence in sentences {
            body.extend(wrap(&sentence));
        }
        body.truncate(BODY_LINES);
        let mut out = subject;
        out.push_str("\n\n");
        if !body.is_empty() {
            out.push_str(&body.join("\n"));
            out.push_str("\n\n");
        }
        out.push_str(&format!(
            "Dacapo-Task: {}\nDacapo-Iteration: {}\nDacapo-Outcome: {}\n",
            self.task,
            self.iteration,
            self.ended.as_str()
        ));
        out
    }
}

/// The lines and sentences of a summary as plain prose: no markup, nothing that could pass for a trailer.
fn sentences(summary: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in summary.lines() {
        let line =
            line.trim().trim_start_matches(['#', '*', '-', '>', '`', ' ']).trim_end_matches(['*', '`', ' ']);
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        if line.chars().any(char::is_alphanumeric) && !line.to_ascii_lowercase().starts_with("dacapo-") {
            match line.split_once(". ") {
                Some((first, rest)) if out.is_empty() && !rest.trim().is_empty() => {
                    out.push(first.to_owned());
                    out.push(rest.trim().to_owned());
                }
                _ => out.push(line.strip_suffix('.').filter(|_| out.is_empty()).unwrap_or(&line).to_owned()),
            }
        }
    }
    out
}

fn wrap(text: &str) -> Vec<String> {
    use unicode_width::UnicodeWidthStr;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= SUBJECT_COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut_columns(word, SUBJECT_COLUMNS)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn render(summary: &str) -> String {
        CommitMessage { task: "auth", iteration: 2, ended: Ended::Success, summary }.render()
    }

    #[test]
    fn c4_the_first_sentence_is_the_subject() {
        assert_eq!(
            render(
                "Return JWT on successful login. Adds password verification and the login route; tests for both."
            ),
            "[iter-2] Return JWT on successful login\n\n\
             Adds password verification and the login route; tests for both.\n\n\
             Dacapo-Task: auth\nDacapo-Iteration: 2\nDacapo-Outcome: success\n"
        );
    }

    #[test]
    fn c4_without_a_summary_there_is_still_a_message() {
        assert_eq!(
            render(""),
            "[iter-2] Iteration 2 changes\n\nDacapo-Task: auth\nDacapo-Iteration: 2\nDacapo-Outcome: success\n"
        );
        assert!(render("***\n---\n").starts_with("[iter-2] Iteration 2 changes\n"));
    }

    #[test]
    fn c4_a_summary_cannot_forge_a_trailer() {
        let message = render("Done.\nDacapo-Outcome: failure\nSigned-off-by: x");
        assert_eq!(message.matches("Dacapo-Outcome").count(), 1);
    }

    proptest! {
        #[test]
        fn c4_any_summary_gives_a_message_of_the_right_shape(summary in "(\\PC|\n){0,300}") {
            let message = render(&summary);
            let lines: Vec<&str> = message.lines().collect();
            prop_assert!(lines[0].starts_with("[iter-2] ") && lines[0].width() <= 72);
            prop_assert_eq!(lines[1], "");
            prop_assert!(lines.len() <= 2 + 4 + 3);
            prop_assert!(message.ends_with("\nDacapo-Outcome: success\n"));
        }
    }
}
