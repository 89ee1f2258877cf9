//! The file of a new milestone: what is known of it, and in place of the rest a comment that says what to write there.
//!
//! Nothing in it passes for content: a section without any is empty, and so the file is refused, with its line, by
//! whatever would run it.

use std::fmt::Write as _;

use dacapo_core::task::milestone::{Definition, DefinitionError, Flaw};
use jiff::Timestamp;

/// What is known of a milestone before its file is written.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'a> {
    pub title: &'a str,
    /// What it is for.
    pub goal: Option<&'a str>,
    /// What is to be built.
    pub features: &'a [String],
    /// What must hold in the end.
    pub criteria: &'a [String],
    pub created: Timestamp,
}

/// A section that must say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are named as in the file")]
pub enum Section {
    Goal,
    Features,
    AcceptanceCriteria,
}

impl Section {
    pub fn name(self) -> &'static str {
        match self {
            Section::Goal => "Goal",
            Section::Features => "Features",
            Section::AcceptanceCriteria => "Acceptance Criteria",
        }
    }
}

/// Settings, each with what it is for.
const SETTINGS: &str = "\
# auto_start: true                   # may start automatically (dacapo milestone start --auto)
# requires_human_review: true        # you decide at the end: dacapo milestone approve
# developer: claude                  # the agent that builds
# acceptor: codex                    # the agent that judges; may be another one
# max_iterations_per_milestone: 20   # rounds of any verdict; then it pauses
# max_consecutive_rejections: 3      # in a row; then it pauses
# call_timeout: 10m                  # for one agent call
# max_cost: 5                        # USD
# max_tokens: 500000
";

const GOAL: &str = "<!-- What it is for, in a few sentences. -->\n";
const FEATURES: &str = "\
<!-- A list of what is to be built, in order; a round builds one of them. For example:
- Log in with a name and a password
  Accept: POST /login with the right password answers 200 and a token
-->
";
const CRITERIA: &str = "\
<!-- A list of what must hold in the end; the Acceptor says of each whether it does. For example:
- All tests pass, and there is one for each feature
-->
";
const CONSTRAINTS: &str = "\
<!-- What must not be done on the way; may stay empty. For example:
- No new dependencies
-->
";

impl Outline<'_> {
    /// The sections that are still empty.
    pub fn empty(&self) -> Vec<Section> {
        let all = [
            (Section::Goal, self.goal.is_none()),
            (Section::Features, self.features.is_empty()),
            (Section::AcceptanceCriteria, self.criteria.is_empty()),
        ];
        all.into_iter().filter(|(_, empty)| *empty).map(|(section, _)| section).collect()
    }

    /// The file. What is given must stay what it is: text that would read as something else there is an error.
    pub fn text(&self) -> Result<String, DefinitionError> {
        let filler = ["-".to_owned()];
        let or_filler = |items: &'_ [String]| if items.is_empty() { filler.to_vec() } else { items.to_vec() };
        let (features, criteria) = (or_filler(self.features), or_filler(self.criteria));
        let whole =
            Outline { goal: self.goal.or(Some("-")), features: &features, criteria: &criteria, ..*self };
        let read = Definition::parse(&whole.rendered())?;
        let as_given = read.features.len() == features.len()
            && read.criteria.len() == criteria.len()
            && read.constraints.is_empty()
            && read.others.is_empty()
            && read.title.as_deref() == Some(self.title.trim());
        if !as_given {
            return Err(DefinitionError { line: 1, flaw: Flaw::ReadsOtherwise });
        }
        Ok(self.rendered())
    }

    fn rendered(&self) -> String {
        // To the second: it is for people too.
        let created = Timestamp::from_second(self.created.as_second()).unwrap_or(self.created);
        let mut out = format!("---\ncreated: {created}\n{SETTINGS}---\n\n# {}\n", self.title.trim());
        let mut section = |name: &str, hint: &str, body: String| {
            let body = if body.is_empty() { hint } else { &body };
            let _ = write!(out, "\n## {name}\n\n{body}");
        };
        let list = |items: &[String]| items.iter().map(|item| format!("- {}\n", item.trim())).collect();
        let goal = self.goal.map_or_else(String::new, |goal| format!("{}\n", goal.trim()));
        section("Goal", GOAL, goal);
        section("Features", FEATURES, list(self.features));
        section("Acceptance Criteria", CRITERIA, list(self.criteria));
        section("Constraints", CONSTRAINTS, String::new());
        out
    }
}

#[cfg(test)]
mod tests {
    use dacapo_core::task::milestone::KEYS;

    use super::*;

    fn outline<'a>(goal: Option<&'a str>, features: &'a [String], criteria: &'a [String]) -> Outline<'a> {
        let created = "2026-11-16T05:20:00.123Z".parse().unwrap();
        Outline { title: "Users can log in", goal, features, criteria, created }
    }

    #[test]
    fn m1_what_is_not_filled_in_is_refused_with_its_place() {
        let text = outline(None, &[], &[]).text().unwrap();
        let told = |text: &str| Definition::parse(text).unwrap_err().to_string();
        assert_eq!(told(&text), "line 16: the goal is empty (say what it is for)");
        let text = text.replace(GOAL, "Log in.\n");
        assert_eq!(told(&text), "line 20: '## Features' is empty (write at least one item: '- …')");
        let text = text.replace(FEATURES, "- One\n");
        assert_eq!(
            told(&text),
            "line 24: '## Acceptance Criteria' is empty (write at least one item: '- …')"
        );
        let text = text.replace(CRITERIA, "- It works\n");
        assert!(Definition::parse(&text).is_ok(), "{text}");
    }

    #[test]
    fn m1_what_is_all_known_can_be_started_at_once() {
        let (features, criteria) =
            (["Log in".to_owned(), "Log out\n  Accept: gone".to_owned()], ["ok".to_owned()]);
        let outline = outline(Some("Log in.\nAnd out."), &features, &criteria);
        let read = Definition::parse(&outline.text().unwrap()).unwrap();
        assert_eq!(read.title.as_deref(), Some("Users can log in"));
        assert_eq!(read.goal, "Log in.\nAnd out.");
        assert_eq!((read.features.len(), read.features[1].accept.as_deref()), (2, Some("gone")));
        assert_eq!(read.settings.created, Some("2026-11-16T05:20:00Z".parse().unwrap()));
        assert_eq!(outline.empty(), []);
    }

    #[test]
    fn m1_what_is_given_cannot_pass_for_something_else() {
        let plain = ["a".to_owned()];
        for goal in ["x\n## Features\n- mine", "```", "## Goal", "<!-- x", "<!-- x -->"] {
            assert!(outline(Some(goal), &plain, &plain).text().is_err(), "{goal}");
            assert!(outline(Some(goal), &[], &[]).text().is_err(), "{goal}");
        }
        for item in ["a\n- b", "a\n## Constraints\nnone", "", "F-7 x"] {
            assert!(outline(Some("x"), &[item.to_owned()], &plain).text().is_err(), "{item}");
        }
        let two_lines = Outline { title: "a\n# b", ..outline(None, &[], &[]) };
        assert!(two_lines.text().is_err());
    }

    #[test]
    fn m1_every_setting_is_explained_and_right() {
        let text = outline(Some("x"), &["a".to_owned()], &["b".to_owned()]).text().unwrap();
        let set = text.replace("\n# ", "\n").replacen("\nUsers", "\n# Users", 1);
        let read = Definition::parse(&set).unwrap();
        assert!(read.settings.auto_start && read.settings.requires_human_review, "{set}");
        assert_eq!(read.settings.max_cost, Some(5.0));
        for key in KEYS {
            assert!(set.contains(&format!("\n{key}: ")), "{key}");
        }
    }
}
