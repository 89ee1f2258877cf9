//! The message of an iteration's commit (C4).

use super::sentence::sentences;
use crate::event::Ended;
use crate::text::{cut_columns, is_deceptive};

/// Width of the first line.
pub(super) const SUBJECT_COLUMNS: usize = 72;
/// Lines of body at most.
const BODY_LINES: usize = 3;

/// What a commit message is made of.
#[derive(Debug, Clone, Copy)]
pub struct CommitMessage<'a> {
    pub task: &'a str,
    /// The iteration, from 0.
    pub iteration: u32,
    pub ended: Ended,
    /// What the agent says it did; may be empty.
    pub summary: &'a str,
    /// The message as a model wrote it.
    pub written: Option<&'a str>,
}

impl CommitMessage<'_> {
    /// The whole message. A commit is never lost for want of one.
    pub(crate) fn render(&self) -> String {
        let (what, sentences) = self.words();
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

    /// What the first line says, and what the body is made of: a model's words, else the agent's, else none.
    fn words(&self) -> (String, Vec<String>) {
        let mut summary = sentences(self.summary);
        let mut written = self.written.map(|text| lines(text).collect::<Vec<_>>()).unwrap_or_default();
        if !written.is_empty() {
            let first = written.remove(0);
            let subject = first.strip_suffix('.').unwrap_or(&first).to_owned();
            summary.retain(|sentence| !subject.contains(sentence.trim_end_matches('.')));
            return (subject, if written.is_empty() { summary } else { written });
        }
        if summary.is_empty() {
            return (format!("Iteration {} changes", self.iteration), summary);
        }
        (summary.remove(0), summary)
    }
}

/// The lines of a text that say something.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(plain)
}

/// A line as plain prose: no markup, no number of an iteration, nothing that could pass for a trailer. None where it says
/// nothing.
pub(super) fn plain(line: &str) -> Option<String> {
    if line.trim_start().starts_with("```") {
        return None;
    }
    let line: String = line.chars().filter(|c| !c.is_control() && !is_deceptive(*c)).collect();
    let line = line.replace("**", "");
    let mut rest = line.trim();
    while let Some(shorter) = without_mark(rest) {
        rest = shorter.trim_start();
    }
    let line = unquoted(rest);
    (line.chars().any(char::is_alphanumeric) && !is_trailer(&line)).then_some(line)
}

/// Without a mark of a heading, list or quotation, a box that is ticked, or `[iter-3]` at its beginning.
fn without_mark(line: &str) -> Option<&str> {
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && heading.starts_with(' ') {
        return Some(heading);
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if (1..=3).contains(&(line.len() - digits.len())) {
        return digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "));
    }
    if let Some((number, rest)) = line.strip_prefix("[iter-").and_then(|rest| rest.split_once(']')) {
        return number.bytes().all(|b| b.is_ascii_digit()).then_some(rest);
    }
    ["- ", "* ", "+ ", "> ", "• ", "✅", "✓", "✔", "[x] ", "[X] ", "[ ] "]
        .into_iter()
        .find_map(|mark| line.strip_prefix(mark))
}

/// `` `foo.rs` parses `` begins with a mark too.
fn unquoted(line: &str) -> String {
    for mark in ['`', '*', '_'] {
        let inside = line.strip_prefix(mark).and_then(|rest| rest.split_once(mark));
        if let Some((inside, rest)) = inside.filter(|(inside, _)| !inside.is_empty()) {
            return format!("{inside}{rest}");
        }
    }
    line.trim_end_matches(['*', ' ']).to_owned()
}

/// Ours, and the ones by which somebody else would claim a part in the commit.
fn is_trailer(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let signed = line.split_once(':').is_some_and(|(key, _)| key.ends_with("-by") && !key.contains(' '));
    signed || line.starts_with("dacapo-")
}

pub(super) fn wrap(text: &str) -> Vec<String> {
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
        CommitMessage { task: "auth", iteration: 2, ended: Ended::Success, summary, written: None }.render()
    }

    fn written(text: &str, summary: &str) -> String {
        let message =
            CommitMessage { task: "auth", iteration: 2, ended: Ended::Success, summary, written: Some(text) };
        message.render()
    }

    const TRAILERS: &str = "\n\nDacapo-Task: auth\nDacapo-Iteration: 2\nDacapo-Outcome: success\n";

    #[test]
    fn c4_a_models_message_is_taken_as_it_is() {
        let message = written("[iter-7] Return JWT v2. Now.\n\nAdds the route.\n- Tests.\n", "x");
        assert_eq!(message, format!("[iter-2] Return JWT v2. Now\n\nAdds the route.\nTests.{TRAILERS}"));
        let long = written(&"word ".repeat(30), "");
        assert!(long.lines().next().unwrap().width() <= 72, "{long}");
        assert!(long.contains("\n\nword word"), "what did not fit is in the body: {long}");
    }

    #[test]
    fn c4_a_models_message_without_a_body_gets_one_from_the_summary() {
        let message = written("Return JWT", "Added login. The route is new.");
        assert_eq!(message, format!("[iter-2] Return JWT\n\nAdded login\nThe route is new.{TRAILERS}"));
        assert_eq!(
            written("Add it. Now.", "Add it. Now. Or never."),
            format!("[iter-2] Add it. Now\n\nNow. Or never.{TRAILERS}")
        );
        assert_eq!(written("Add it. Now.", "Add it. Now."), format!("[iter-2] Add it. Now{TRAILERS}"));
        assert_eq!(written("***", "Added login."), format!("[iter-2] Added login{TRAILERS}"));
        assert_eq!(written("", ""), format!("[iter-2] Iteration 2 changes{TRAILERS}"));
    }

    #[test]
    fn c4_a_model_cannot_forge_a_trailer() {
        let message = written("A\n\nB\n\nCo-Authored-By: M <m@x>\nDacapo-Task: other\nSigned-off-by: y", "");
        assert_eq!(message, format!("[iter-2] A\n\nB{TRAILERS}"));
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
    fn c4_characters_that_reorder_or_hide_others_stay_out() {
        let message = render(
            "Fix \u{202e}gnihtemos\u{202c} in \u{2066}a\u{2069}\u{200b}\u{200f}.\n\u{200b}Dacapo-Task: other\n\u{feff}Signed-off-by: me",
        );
        assert_eq!(message, format!("[iter-2] Fix gnihtemos in a{TRAILERS}"));
        assert_eq!(written("Add \u{202d}it", ""), format!("[iter-2] Add it{TRAILERS}"));
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
            let message = written(&summary, "");
            prop_assert!(message.lines().next().unwrap().width() <= 72);
            prop_assert!(message.lines().count() <= 2 + 4 + 3);
        }
    }
}
