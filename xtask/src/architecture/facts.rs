//! The engine says what, and the surface that shows it says how one types it: no sentence of the engine names a flag or a
//! command of the command line. What agents are told is for them, and git's own commands are git's.

use super::list::{Found, Rule};
use super::source::Crate;

pub(super) const RULE: Rule = Rule {
    file: "surface-words.txt",
    fault: "a sentence of the engine that names a flag or a command, not listed",
    remedy: "Return what it is about as a value (an enum with fields), and say it in dacapo-app/src/present/.",
};

/// The crate that must not.
const CRATE: &str = "dacapo-core";

/// What is said to agents.
const TO_AGENTS: [&str; 3] = ["/context/", "/task/milestone/prompts", "/merge/words.rs"];

/// How often, by file.
pub(super) fn find(crates: &[Crate]) -> Found {
    let mut found = Found::new();
    for file in crates.iter().filter(|one| one.name == CRATE).flat_map(|one| &one.files) {
        if TO_AGENTS.iter().any(|place| file.path.contains(place)) {
            continue;
        }
        for (sentence, line) in file.sentences.iter().filter(|(sentence, _)| names_surface(sentence)) {
            let finding = found.entry(file.path.clone()).or_default();
            *finding.times.get_or_insert(0) += 1;
            finding.notes.push(format!("line {line}: {sentence}"));
        }
    }
    found
}

/// `dacapo resume x`, or `--flag` where no git stands before it.
fn names_surface(sentence: &str) -> bool {
    let begins_word = |at: usize| sentence[at..].starts_with(|c: char| c.is_ascii_lowercase());
    let command = sentence.match_indices("dacapo ").any(|(at, found)| begins_word(at + found.len()));
    let flag = sentence.match_indices("--").any(|(at, found)| {
        let before = &sentence[..at];
        begins_word(at + found.len())
            && before.ends_with(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | '(' | '\''))
            && !before.contains("git ")
            // An argument of its own, as git gets it.
            && !(before == "\"" && sentence.contains('='))
    });
    command || flag
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{File, scan};
    use super::*;

    fn found(name: &str, path: &str, text: &str) -> Vec<String> {
        let (file, _) = scan(text, &[]).unwrap();
        let files = vec![File { path: path.to_owned(), ..file }];
        let found = find(&[Crate { name: name.to_owned(), files }]);
        found.into_values().flat_map(|finding| finding.notes).collect()
    }

    #[test]
    fn sentences_with_flags_and_commands_of_the_engine_alone() {
        let text = r#"
            /// `dacapo resume` goes on, and --iter too.
            fn f() { format!("dacapo drop {name}"); bail!("use --approval auto"); }
            #[error("no task; dacapo list shows them")]
            struct E;
            const ARGV: [&str; 3] = ["--json", "-p --verbose", "--format=%H %s"];
            fn g() { say("hidden by git update-index --skip-worktree"); say("dacapo 1.2 and a -- b"); }
        "#;
        let all = [
            r#"line 3: "dacapo drop {name}""#,
            r#"line 3: "use --approval auto""#,
            r#"line 4: "no task; dacapo list shows them""#,
            r#"line 6: "-p --verbose""#,
        ];
        assert_eq!(found("dacapo-core", "a.rs", text), all);
        assert_eq!(found("dacapo-app", "a.rs", text), [""; 0]);
        assert_eq!(found("dacapo-core", "crates/dacapo-core/src/context/prompt.rs", text), [""; 0]);
        assert_eq!(
            found("dacapo-core", "a.rs", "#[cfg(test)] mod tests { const A: &str = \"dacapo kill x\"; }"),
            [""; 0]
        );
    }
}
