//! The one error at the edge: what happened, what was kept, what to do next, and the exit code.
//!
//! Inside, every operation has its own error type. Here they become one, because a person (and a script reading
//! `--json`) always needs the same four things, whatever went wrong (U6).

use std::error::Error as StdError;
use std::fmt::{self, Write as _};

use dacapo_core::event::FORMAT;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_width::UnicodeWidthStr as _;

use crate::messages::{Messages, Text};

/// What kind of failure it is. The exit code of the command says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ErrorKind")]
pub enum Kind {
    /// It could not be done (exit code 1).
    Failed,
    /// It was refused before anything changed: a wrong argument, an unknown task, a missing agent, an invalid config (2).
    Usage,
    /// It reached a limit: iterations, time, budget, stall (3).
    Stopped,
    /// A person must decide something (4).
    NeedsPerson,
    /// A person or a signal ended it (130).
    Cancelled,
}

impl Kind {
    /// The process exit code of L15.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::Stopped => 3,
            Kind::NeedsPerson => 4,
            Kind::Cancelled => 130,
        }
    }
}

/// An error that a program may want to react to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ErrorCode")]
pub enum Code {
    /// There is no task of that name here.
    TaskNotFound,
    /// The directory is in no git repository.
    NoRepository,
    /// The repository has no remote.
    NoRemote,
}

/// An error as it leaves the program.
#[derive(Debug)]
pub struct Failure {
    pub code: Option<Code>,
    /// Decides the exit code.
    pub kind: Kind,
    /// What happened, without `error:`. More lines are allowed where several things are wrong at once.
    pub message: Text,
    /// What is safe: the first question after any failure of a tool that touches one's work.
    pub kept: Option<Text>,
    /// What to do next, best first.
    pub hints: Vec<Text>,
    /// The cause, for logs.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Failure {
    /// An error of the given kind.
    pub fn new(kind: Kind, message: impl Into<Text>) -> Self {
        Failure { code: None, kind, message: message.into(), kept: None, hints: Vec::new(), source: None }
    }

    /// Refused before anything started: exit 2.
    pub fn usage(message: impl Into<Text>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// It ran and failed: exit 1.
    pub fn failed(message: impl Into<Text>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// A limit was reached: exit 3.
    pub fn stopped(message: impl Into<Text>) -> Self {
        Self::new(Kind::Stopped, message)
    }

    /// A person must decide: exit 4.
    pub fn needs_person(message: impl Into<Text>) -> Self {
        Self::new(Kind::NeedsPerson, message)
    }

    /// Ended by a person or a signal: exit 130.
    pub fn cancelled(message: impl Into<Text>) -> Self {
        Self::new(Kind::Cancelled, message)
    }

    /// Says which one it is, for callers.
    #[must_use]
    pub fn coded(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
    }

    /// Adds a next step; the first one added is the best one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what was kept.
    #[must_use]
    pub fn kept(mut self, kept: impl Into<Text>) -> Self {
        self.kept = Some(kept.into());
        self
    }

    /// Keeps the cause for logs. People read `message`, so say there what matters.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The process exit code of L15.
    pub fn exit_code(&self) -> u8 {
        self.kind.exit_code()
    }

    fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut cause = self.source();
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// The form for people, in their language, without a newline at the end.
    pub fn shown(&self, messages: Messages) -> Shown<'_> {
        Shown { failure: self, messages }
    }

    /// The object that `--json` prints as its last line.
    pub fn to_json(&self) -> ErrorObject {
        ErrorObject {
            v: FORMAT,
            r#type: "error",
            kind: self.kind,
            code: self.code,
            exit_code: self.exit_code(),
            message: self.message.english().to_owned(),
            kept: self.kept.as_ref().map(|kept| kept.english().to_owned()),
            hints: self.hints.iter().map(|hint| hint.english().to_owned()).collect(),
            causes: self.causes(),
        }
    }
}

/// An error: what every command prints last with `--json` if it could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorObject {
    /// The version of this format.
    v: u32,
    /// Says what the object is.
    #[schemars(extend("const" = "error"))]
    r#type: &'static str,
    /// What kind of failure it is.
    kind: Kind,
    /// Names the error where a program may want to react to it; null for all others.
    code: Option<Code>,
    /// The exit code of the command.
    exit_code: u8,
    /// What happened, as a sentence.
    message: String,
    /// What was kept, as a sentence; null where nothing was at risk.
    kept: Option<String>,
    /// What to do next, the best first.
    hints: Vec<String>,
    /// What caused it, the nearest first.
    causes: Vec<String>,
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// How one process hands a failure to another: in all languages, with its causes as words.
#[derive(Serialize, Deserialize)]
struct Handed {
    kind: Kind,
    code: Option<Code>,
    message: Text,
    kept: Option<Text>,
    hints: Vec<Text>,
    causes: Vec<String>,
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Handed {
            kind: self.kind,
            code: self.code,
            message: self.message.clone(),
            kept: self.kept.clone(),
            hints: self.hints.clone(),
            causes: self.causes(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Handed { kind, code, message, kept, hints, causes } = Handed::deserialize(deserializer)?;
        let source = causes.into_iter().rev().fold(None, |source, message| {
            Some(Box::new(Cause { message, source }) as Box<dyn StdError + Send + Sync>)
        });
        Ok(Failure { code, kind, message, kept, hints, source })
    }
}

/// A cause that came from another process.
#[derive(Debug)]
struct Cause {
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Cause {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// The form for people, in English:
///
/// ```text
/// error: claude is not logged in; iteration 1 did not start
///   kept: everything; worktree unchanged
///   do:   claude /login, then dacapo resume tests
///   or:   dacapo resume tests --agent codex   (logged in)
/// ```
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Messages::ENGLISH)
    }
}

/// A failure in the user's language.
#[derive(Debug)]
pub struct Shown<'a> {
    failure: &'a Failure,
    messages: Messages,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.write(f, self.messages)
    }
}

impl Failure {
    fn write(&self, f: &mut fmt::Formatter<'_>, messages: Messages) -> fmt::Result {
        let of = |text: &Text| messages.with_short_paths(text.in_words(messages));
        labelled(f, &messages.label_error(), &of(&self.message))?;
        let (kept, first, or) = (messages.label_kept(), messages.label_do(), messages.label_or());
        let width = kept.width().max(first.width()).max(or.width());
        let label = |label: &str| format!("  {label}{:1$}", "", width - label.width());
        if let Some(text) = &self.kept {
            f.write_char('\n')?;
            labelled(f, &label(&kept), &of(text))?;
        }
        for (index, hint) in self.hints.iter().enumerate() {
            f.write_char('\n')?;
            labelled(f, &label(if index == 0 { &first } else { &or }), &of(hint))?;
        }
        Ok(())
    }
}

impl StdError for Failure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// Writes a label and its text, further lines lined up under the first.
fn labelled(f: &mut fmt::Formatter<'_>, label: &str, text: &str) -> fmt::Result {
    f.write_str(label)?;
    let indent = label.width();
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            write!(f, "\n{:indent$}", "")?;
        }
        line.chars().try_for_each(|c| write_visible(f, c))?;
    }
    Ok(())
}

/// Messages quote file names, keys and agent output. What those contain must not be able to drive the terminal.
fn write_visible(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    if c == '\t' || !c.is_control() { f.write_char(c) } else { write!(f, "{}", c.escape_default()) }
}

/// The candidate that `word` was most likely meant to be; `None` when nothing is close enough to be worth saying.
///
/// Close means: few edits (a swap of neighbours is one) for the length of the word, or one is the beginning of
/// the other. A wrong suggestion costs more than none, so short words need to be very near.
pub fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = fold(word);
    let length = word.chars().count();
    if length == 0 {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = fold(candidate);
            let longest = length.max(other.chars().count());
            // Longer ones cannot be near; without this a hostile word would cost quadratic time and memory.
            if longest > 100 {
                return None;
            }
            let edits = strsim::damerau_levenshtein(&word, &other);
            let begins = length >= 3 && (other.starts_with(&word) || word.starts_with(&other));
            let near = edits * 3 <= longest || (begins && edits * 2 <= longest);
            near.then_some((edits, candidate))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// `max-iterations`, `MaxIterations` and `max_iterations` are the same word to a person.
fn fold(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_what_was_kept_and_what_to_do() {
        let failure = Failure::usage("claude is not logged in; iteration 1 did not start")
            .kept("everything; worktree unchanged")
            .hint("claude /login, then dacapo resume tests")
            .hint("dacapo resume tests --agent codex   (logged in)");
        insta::assert_snapshot!(failure, @r"
        error: claude is not logged in; iteration 1 did not start
          kept: everything; worktree unchanged
          do:   claude /login, then dacapo resume tests
          or:   dacapo resume tests --agent codex   (logged in)
        ");
        assert_eq!(failure.exit_code(), 2);
    }

    #[test]
    fn u5_people_read_it_in_their_language() {
        let failure = Failure::usage("claude: 401").kept("a").hint("b").hint("c");
        let chinese = Messages::new(crate::messages::Language::SimplifiedChinese);
        insta::assert_snapshot!(failure.shown(chinese), @r"
        错误：claude: 401
          已保留：a
          下一步：b
          或者：  c
        ");
    }

    #[test]
    fn further_lines_are_aligned_and_control_characters_are_shown_not_obeyed() {
        let failure = Failure::failed("one\ntwo \u{1b}[31mred\u{7}").hint("a\nb");
        assert_eq!(failure.to_string(), "error: one\n       two \\u{1b}[31mred\\u{7}\n  do:   a\n        b");
    }

    #[test]
    fn scripts_read_the_same() {
        let failure = Failure::needs_person("rejected three times")
            .hint("dacapo approve auth")
            .caused_by(std::io::Error::other("why"));
        assert_eq!(
            serde_json::to_value(failure.to_json()).unwrap(),
            serde_json::json!({"v": 3, "type": "error", "kind": "needs_person", "code": null, "exit_code": 4,
                   "message": "rejected three times", "kept": null, "hints": ["dacapo approve auth"],
                   "causes": ["why"]})
        );
    }

    #[test]
    fn a_failure_passes_between_processes() {
        let failure = Failure::needs_person("rejected").kept("all").hint("a").hint("b").caused_by(Cause {
            message: "outer".into(),
            source: Some(Box::new(std::io::Error::other("inner"))),
        });
        let text = serde_json::to_string(&failure).unwrap();
        let again: Failure = serde_json::from_str(&text).unwrap();
        assert_eq!(again.to_json(), failure.to_json());
        assert_eq!(again.exit_code(), 4);
        assert!(serde_json::from_str::<Failure>(&text.replace("needs_person", "sunny")).is_err());
    }

    #[test]
    fn every_kind_has_its_exit_code() {
        let codes = [("failed", 1), ("usage", 2), ("stopped", 3), ("needs_person", 4), ("cancelled", 130)];
        for (name, code) in codes {
            let kind: Kind = serde_json::from_value(name.into()).unwrap();
            assert_eq!(kind.exit_code(), code, "{name}");
        }
    }

    #[test]
    fn suggestions_are_near_or_none() {
        let keys = ["agent", "agents", "checks", "max_iterations", "main_branch", "notify"];
        for (word, expected) in [
            ("max_iteration", Some("max_iterations")),
            ("maxIterations", Some("max_iterations")),
            ("max-iterations", Some("max_iterations")),
            ("chekcs", Some("checks")),
            ("check", Some("checks")),
            ("agnet", Some("agent")),
            ("notfy", Some("notify")),
            ("main", None),
            ("a", None),
            ("zebra", None),
            ("", None),
        ] {
            assert_eq!(suggest(word, keys), expected, "{word}");
        }
        assert_eq!(suggest(&"x".repeat(1 << 20), keys), None);
    }
}
