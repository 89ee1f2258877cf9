//! The engine and what is built on it as a library neither print nor ask, and know nothing of the process that they run in:
//! that comes in as a value, or two surfaces could not share them.

use super::list::{Found, Rule};
use super::source::Crate;
use super::tokens::{Role, UsedPath};

pub(super) const RULE: Rule = Rule {
    file: "process-state.txt",
    fault: "the process's streams or environment in a crate that must not know them, not listed",
    remedy: "Take it as an argument, or return what is to be shown; the program hands in and prints.",
};

/// The crates that must not.
const CRATES: [&str; 2] = ["dacapo-core", "dacapo-app"];

const MACROS: [&str; 5] = ["dbg", "eprint", "eprintln", "print", "println"];
const PLACES: [&[&str]; 4] =
    [&["std", "env"], &["std", "io", "stderr"], &["std", "io", "stdin"], &["std", "io", "stdout"]];
/// These read nothing of the process.
const HARMLESS: [&[&str]; 3] =
    [&["std", "env", "consts"], &["std", "env", "join_paths"], &["std", "env", "split_paths"]];

/// How often, by file and name.
pub(super) fn find(crates: &[Crate]) -> Found {
    let mut found = Found::new();
    for file in crates.iter().filter(|one| CRATES.contains(&one.name.as_str())).flat_map(|one| &one.files) {
        for path in file.paths.iter().filter(|path| forbidden(path)) {
            let mut name = path.segments.join("::");
            if path.role == Role::Macro {
                name.push('!');
            }
            let finding = found.entry(format!("{}: {name}", file.path)).or_default();
            *finding.times.get_or_insert(0) += 1;
            finding.notes.push(format!("{}:{}", file.path, path.line));
        }
    }
    found
}

fn forbidden(path: &UsedPath) -> bool {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    if path.role == Role::Macro {
        return segments.last().is_some_and(|name| MACROS.contains(name));
    }
    let below = |place: &&[&str]| segments.starts_with(place);
    PLACES.iter().any(below) && !HARMLESS.iter().any(below)
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{File, scan};
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let (file, _) = scan(text, &["a".to_owned()]).unwrap();
        let file = File { path: "a.rs".to_owned(), ..file };
        let found = find(&[Crate { name: name.to_owned(), files: vec![file] }]);
        found
            .into_iter()
            .map(|(key, finding)| format!("{key} {} {}", finding.times.unwrap(), finding.notes[0]))
            .collect()
    }

    #[test]
    fn streams_and_environment_under_any_name() {
        let text = "use std::{env, io};
            fn f() { println!(); std::eprint!(\"x\"); env::var(\"A\"); env::var(\"B\"); io::stdin().lines(); }";
        let all = [
            "a.rs: println! 1 a.rs:2",
            "a.rs: std::env 1 a.rs:1",
            "a.rs: std::env::var 2 a.rs:2",
            "a.rs: std::eprint! 1 a.rs:2",
            "a.rs: std::io::stdin 1 a.rs:2",
        ];
        assert_eq!(found("dacapo-core", text), all);
        assert_eq!(found("dacapo", text), [""; 0]);
    }

    #[test]
    fn what_reads_nothing_of_the_process_is_free() {
        let text = "fn f() { writeln!(out); std::env::consts::OS; std::env::split_paths(x); env!(\"A\"); job.stdin(); }";
        assert_eq!(found("dacapo-core", text), [""; 0]);
        assert_eq!(found("dacapo-core", "#[cfg(test)] mod tests { fn f() { println!(); } }"), [""; 0]);
    }
}
