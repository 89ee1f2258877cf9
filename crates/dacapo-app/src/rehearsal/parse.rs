//! From bytes to a [`Script`], with errors that say where and what to do.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_saphyr::Error as Yaml;

use super::script::Script;
use crate::messages::{Messages, Text, say};

/// Far more than any script needs; it keeps a wrong path (a log, a device) from filling memory.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file could not be read.
    #[error("cannot read the rehearsal script {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// The file is bigger than [`MAX_BYTES`].
    #[error("{} is bigger than 1 MiB: no rehearsal script is", path.display())]
    TooBig { path: PathBuf },
    /// The script says something that has no meaning.
    #[error("{}{at}: {message}{}", path.display(), help.as_ref().map(|h| format!("; {h}")).unwrap_or_default())]
    Invalid {
        path: PathBuf,
        at: At,
        message: Text,
        /// What may have been meant.
        help: Option<Text>,
    },
}

impl ScriptError {
    pub fn told(&self) -> Text {
        match self {
            Self::Read { path, source } => {
                say(|m| m.script_unreadable(&path.display().to_string(), &source.to_string()))
            }
            Self::TooBig { path } => say(|m| m.script_too_big(&path.display().to_string())),
            Self::Invalid { path, at, message, help } => say(|m| {
                let told = m.error_of(&format!("{}{at}", path.display()), message.in_words(m));
                match help {
                    Some(help) => m.clauses(&told, help.in_words(m)),
                    None => told,
                }
            }),
        }
    }
}

/// A place in a file, from 1. Zero where it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return Ok(());
        }
        write!(f, ":{}:{}", self.line, self.column)
    }
}

/// Reads and checks the script in a file.
pub fn check(path: &Path) -> Result<Script, ScriptError> {
    let read = |source| ScriptError::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(read)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(read)?;
    parse(path, &bytes)
}

/// Checks a script that is already in memory; `path` is for the messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Script, ScriptError> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ScriptError::TooBig { path: path.to_owned() });
    }
    let invalid = |at, message: Text, help| ScriptError::Invalid { path: path.to_owned(), at, message, help };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = place(&bytes[..error.valid_up_to()]);
        invalid(at, say(Messages::script_not_utf8), None)
    })?;
    let script: Script = serde_saphyr::from_str(text).map_err(|error| {
        let error = innermost(&error);
        let at = error
            .location()
            .map_or(At { line: 0, column: 0 }, |at| At { line: at.line(), column: at.column() });
        let (message, help) = explain(error);
        invalid(at, message, help)
    })?;
    if script.iterations.is_empty() {
        return Err(invalid(
            At { line: 0, column: 0 },
            say(Messages::script_no_iterations),
            Some(say(Messages::script_give_iterations)),
        ));
    }
    Ok(script)
}

/// Where the text that begins with these bytes goes on.
fn place(before: &[u8]) -> At {
    let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    At {
        line: before.iter().filter(|b| **b == b'\n').count() as u64 + 1,
        column: String::from_utf8_lossy(&before[line_start..]).chars().count() as u64 + 1,
    }
}

fn innermost(error: &Yaml) -> &Yaml {
    match error {
        Yaml::WithSnippet { error, .. } | Yaml::AliasError { error, .. } => innermost(error),
        error => error,
    }
}

/// The reader's words in the script's terms, and a way out.
fn explain(error: &Yaml) -> (Text, Option<Text>) {
    let one_key = || Some(say(Messages::script_step_is_one_key));
    match error {
        // The only choices by name are the steps and the two kinds of output.
        Yaml::SerdeUnknownVariant { variant, expected, .. } => {
            let message = match expected.contains(&"say") {
                true => say(|m| m.script_no_step(variant)),
                false => say(|m| m.script_no_output(variant)),
            };
            (message, Some(suggest(variant, expected)))
        }
        Yaml::SerdeUnknownField { field, expected, .. } => {
            (say(|m| m.script_no_setting(field)), Some(suggest(field, expected)))
        }
        Yaml::SerdeMissingField { field, .. } => (say(|m| m.script_missing(field)), None),
        Yaml::DuplicateMappingKey { key, .. } => (
            match key {
                Some(key) => say(|m| m.script_twice(key)),
                None => say(Messages::script_key_twice),
            },
            None,
        ),
        Yaml::ExpectedMappingEndAfterEnumVariantValue { .. } => {
            (say(Messages::script_second_key), Some(say(Messages::script_begin_new_step)))
        }
        Yaml::ExpectedStringKeyForExternallyTaggedEnum { .. } => {
            (say(Messages::script_step_empty), one_key())
        }
        Yaml::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => {
            (say(Messages::script_not_a_step), one_key())
        }
        Yaml::Unexpected { expected: "sequence start", .. } => {
            (say(Messages::script_list_expected), Some(say(Messages::script_iteration_is_list)))
        }
        Yaml::NullIntoString { .. } => {
            (say(Messages::script_text_expected), Some(say(Messages::script_empty_text)))
        }
        Yaml::Eof { .. } => (say(Messages::script_ends_early), Some(say(Messages::script_needs_iterations))),
        Yaml::MultipleDocuments { .. } => (say(Messages::script_one_document), None),
        Yaml::InvalidScalar { ty: "boolean", .. } => (say(Messages::script_true_or_false), None),
        Yaml::SerdeInvalidType { unexpected, expected, .. }
        | Yaml::SerdeInvalidValue { unexpected, expected, .. } => {
            (say(|m| m.script_expected(&expected.to_string(), &unexpected.to_string())), None)
        }
        // The texts of this crate's own values are already for people.
        Yaml::Message { msg, .. } => (msg.as_str().into(), None),
        other => (strip_place(&other.to_string()).into(), None),
    }
}

/// The message without the reader's own account of the place: it stands in front already.
fn strip_place(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message.to_owned(),
    }
}

fn suggest(wrong: &str, known: &[&'static str]) -> Text {
    let wrong = wrong.to_lowercase();
    let nearest = known.iter().map(|name| (strsim::damerau_levenshtein(&wrong, name), *name)).min();
    match nearest {
        Some((distance, name)) if distance <= 1 + name.len() / 4 => say(|m| m.script_did_you_mean(name)),
        _ => say(|m| m.agent_there_are(&known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Run, Step};
    use super::super::values::{Bytes, Claim, Span};
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn read(text: &str) -> Result<Script, ScriptError> {
        parse(Path::new("r.yaml"), text.as_bytes())
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    fn steps(text: &str) -> Vec<Step> {
        read(&format!("iterations:\n- {}", text.replace('\n', "\n  "))).unwrap().iterations.remove(0)
    }

    #[test]
    fn mistakes_are_located_and_explained() {
        for (text, message) in [
            (
                "iterations:\n  - - say: a\n    - sya: b\n",
                "r.yaml:3:7: there is no step `sya`; did you mean `say`?",
            ),
            (
                "iterations:\n  - - say: a\n      hang: true\n",
                "r.yaml:3:7: a step is exactly one key, and this is a second one; begin a new step with `- `",
            ),
            (
                "iterations:\n  - - write: { path: a, apend: true }\n",
                "r.yaml:2:25: there is no setting `apend` here; did you mean `append`?",
            ),
            (
                "iterations:\n  - - run: { command: a, most: true }\n",
                "r.yaml:2:26: there is no setting `most` here; did you mean `must`?",
            ),
            ("iterations:\n  - - write: { text: a }\n", "r.yaml:2:16: `path` is missing"),
            (
                "iterations:\n  - - sleep: 2x\n",
                "r.yaml:2:14: `2x` is no duration: write `50ms`, `2s` or `1m30s`",
            ),
            ("iterations:\n  - - exit: 300\n", "r.yaml:2:13: 300 is no exit code: 0 to 255"),
            ("iterations:\n  - - fork_loop: 100000\n", "r.yaml:2:18: 100000 is too many: at most 10000"),
            (
                "iterations:\n  - - raw: '\\q'\n",
                "r.yaml:2:12: there is no escape `\\q`: use \\n \\r \\t \\0 \\e \\xff \\\\",
            ),
            (
                "iterations:\n  - say: a\n",
                "r.yaml:2:5: expected a list; an iteration is a list of steps: `- - say: hello`",
            ),
            (
                "iteration:\n  - - say: a\n",
                "r.yaml:1:1: there is no setting `iteration` here; did you mean `iterations`?",
            ),
            (
                "output: json\niterations:\n  - - say: a\n",
                "r.yaml:1:9: there is no output `json`; available: events, text",
            ),
            (
                "iterations: []\n",
                "r.yaml: there are no iterations; give at least one list of steps under `iterations:`",
            ),
            ("session: true\n", "r.yaml:1:1: `iterations` is missing"),
            (
                "",
                "r.yaml:1:1: the script ends too early; it needs `iterations:` with a list of steps for each",
            ),
            ("session: yes\nsession: no\n", "r.yaml:2:1: `session` is given twice"),
        ] {
            assert_eq!(error(text), message, "for {text:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_located() {
        let error = parse(Path::new("r.yaml"), b"# \xc3\xa9\n# \xff\n").unwrap_err();
        assert_eq!(error.to_string(), "r.yaml:2:3: this is not UTF-8 text");
    }

    #[test]
    fn too_much_is_refused_before_it_is_read() {
        let bytes = vec![b'#'; MAX_BYTES as usize + 1];
        assert!(matches!(parse(Path::new("r.yaml"), &bytes), Err(ScriptError::TooBig { .. })));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        error(&"[".repeat(100_000));
        error(&format!("iterations: {}", "[".repeat(100_000)));
        error(&format!("iterations:\n{}", "- ".repeat(100_000)));
    }

    #[test]
    fn aliases_cannot_multiply_without_end() {
        let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
        for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
            bomb.push_str(&format!("{to}: &{to} [*{from}, *{from}, *{from}, *{from}]\n"));
        }
        error(&bomb);
    }

    #[test]
    fn short_and_long_forms_mean_the_same() {
        assert_eq!(
            steps("- run: make\n- run: { command: make }"),
            vec![Step::Run(Run { command: "make".into(), must: false }); 2]
        );
        let hangs = steps("- hang: true\n- hang: {}");
        assert_eq!(hangs[0], hangs[1]);
        assert_eq!(steps("- hang: false")[0].stops(), Some(Some(0)), "a flag that is off stops nothing");
        assert_eq!(
            steps("- lie: true\n- done: finished"),
            [Step::Lie(Claim::Asked), Step::Done(Claim::Text("finished".into()))]
        );
        let leaks = steps("- leak: true\n- leak: { for: 10m, count: 1 }");
        assert_eq!(leaks[0], leaks[1]);
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("50ms", 50),
            ("2s", 2000),
            ("1m30s", 90_000),
            ("1h", 3_600_000),
            ("1.5", 1500),
            ("1s500ms", 1500),
            ("3", 3000),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Span(Duration::from_millis(millis))), "{text}");
        }
        for text in ["", "s", "2x", "1m30", "-1s", "1 s", "1..2s", "9999999h", "1e9s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn escapes_make_any_byte() {
        assert_eq!(r"a\xff\n\0\\é".parse(), Ok(Bytes(b"a\xff\n\0\\\xc3\xa9".to_vec())));
        for text in [r"\", r"\x", r"\xf", r"\xgg", r"\q"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(Path::new("r.yaml"), &bytes);
        }

        #[test]
        fn nothing_that_looks_like_a_script_makes_it_panic(
            text in "(iterations:\n)?(( ){0,4}-? ?(say|run|limit|hang|leak|raw|split|\\{|\\[|\\*a|&a|!x)?:? ?[a-z0-9\"'\\\\{}:,-]{0,8}\n){0,12}"
        ) {
            let _ = read(&text);
        }

        #[test]
        fn durations_never_panic(text in "[0-9.]{0,12}(ms|s|m|h|é)?[0-9.]{0,30}[a-z]?") {
            let _ = text.parse::<Span>();
        }
    }
}
