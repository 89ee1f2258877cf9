//! What the commands of checks run: scripts, targets and files of the project, as they were at the base.

use std::collections::BTreeSet;

use super::{Comparison, Status, parts};

/// Of so many files it is looked what they run.
const MOST_READ: usize = 60;

/// The commands of checks, and what they run in turn.
#[derive(Debug, Default)]
pub(super) struct Commands {
    texts: Vec<String>,
    /// Names of scripts and targets. The empty one: the first target.
    used: BTreeSet<String>,
    /// Files of the project that are run.
    files: BTreeSet<String>,
}

impl Commands {
    pub(super) fn of(
        checks: &[String],
        base: &BTreeSet<String>,
        read: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let manifests: Vec<(&str, String)> = base
            .iter()
            .filter(|path| is_manifest(path) && !path.contains("node_modules/"))
            .take(MOST_READ)
            .filter_map(|path| Some((path.as_str(), read(path)?)))
            .collect();
        let mut found = Self::default();
        let mut open: Vec<(String, Depth)> =
            checks.iter().map(|check| (check.clone(), Depth::Check)).collect();
        while let Some((text, depth)) = open.pop() {
            if found.texts.contains(&text) || found.texts.len() >= MOST_READ {
                continue;
            }
            let names = used_names(&text);
            for name in names.into_iter().flat_map(|name| [format!("pre{name}"), format!("post{name}"), name])
            {
                if found.used.insert(name.clone()) {
                    let texts = manifests.iter().flat_map(|(path, text)| texts_of(path, text, &name));
                    open.extend(texts.map(|text| (text, depth)));
                }
            }
            for file in run_files(&text, depth, base) {
                if found.files.insert(file.clone()) && !is_other_language(&file) {
                    open.extend(read(&file).map(|text| (text, Depth::Script)));
                }
            }
            found.texts.push(text);
        }
        found
    }

    /// Names of scripts and targets that are run.
    pub(super) fn used(&self) -> &BTreeSet<String> {
        &self.used
    }

    /// Returns true if this file of the project is run.
    pub(super) fn run(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Returns true if a program that they run goes by this file.
    pub(super) fn reads(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let programs: &[&str] = match name.as_str() {
            "makefile" | "gnumakefile" => &["make", "gmake"],
            "justfile" | ".justfile" => &["just"],
            "deno.json" | "deno.jsonc" => &["deno"],
            "build.rs" => &["cargo"],
            "mix.exs" => &["mix"],
            "build.gradle" | "build.gradle.kts" | "gradlew" => &["gradle", "gradlew"],
            "pom.xml" | "mvnw" => &["mvn", "mvnw"],
            "rakefile" => &["rake"],
            "gemfile" => &["bundle"],
            _ => return false,
        };
        self.runs(programs)
    }

    /// Returns true if it says how text is formatted, and a check looks at that.
    pub(super) fn formats(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let says = |word: &str| self.texts.iter().any(|text| words(text).any(|one| base_name(one) == word));
        match name {
            "rustfmt.toml" | ".rustfmt.toml" => says("fmt") || says("rustfmt"),
            ".editorconfig" => says("editorconfig-checker") || says("ec"),
            _ if name.starts_with(".prettier") || name.starts_with("prettier.config.") => says("prettier"),
            _ => false,
        }
    }

    fn runs(&self, programs: &[&str]) -> bool {
        self.texts.iter().any(|text| words(text).any(|word| programs.contains(&base_name(word))))
    }
}

/// The checks that name a path which is there and was not at the base, by their number.
pub(super) fn naming_new(checks: &[String], comparison: &Comparison<'_>) -> Vec<u32> {
    let added: BTreeSet<&str> = comparison
        .changes
        .iter()
        .filter(|change| change.status == Status::Added)
        .map(|change| change.path.as_str())
        .collect();
    let is_there = |word: &str| comparison.base.contains(word) || has_below(comparison.base.iter(), word);
    let is_new = |word: &str| {
        let word = word.trim_start_matches("./").trim_end_matches('/');
        let word = word.split("::").next().unwrap_or(word);
        let comes = added.contains(word) || has_below(added.iter(), word);
        !word.is_empty() && comes && !is_there(word)
    };
    let numbered = (0_u32..).zip(checks);
    numbered.filter(|(_, check)| words(check).any(is_new)).map(|(number, _)| number).collect()
}

fn has_below<S: AsRef<str>>(mut paths: impl Iterator<Item = S>, folder: &str) -> bool {
    paths.any(|path| path.as_ref().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["package.json", "makefile", "gnumakefile", "justfile", ".justfile"].contains(&name.as_str())
}

/// What a script or target of this name runs.
fn texts_of(path: &str, text: &str, name: &str) -> Vec<String> {
    if path.ends_with("package.json") {
        return parts::scripts(text)
            .into_iter()
            .filter(|(known, _)| known == name)
            .map(|(_, text)| text)
            .collect();
    }
    let rules = super::makefile::rules_of(text);
    let first = rules.iter().flat_map(|rule| &rule.targets).find(|target| !target.starts_with('.')).cloned();
    let mut open = vec![if name.is_empty() { first.unwrap_or_default() } else { name.to_owned() }];
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(target) = open.pop() {
        if target.is_empty() || !seen.insert(target.clone()) {
            continue;
        }
        for rule in rules.iter().filter(|rule| rule.targets.contains(&target)) {
            open.extend(rule.needs.iter().cloned());
            found.push(rule.text.clone());
        }
    }
    found
}

/// Scripts of npm and its like, and targets of make and just, that a command names.
fn used_names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for command in text.split(['\n', ';', '&', '|']) {
        let words: Vec<&str> = words(command).collect();
        for (at, word) in words.iter().enumerate() {
            let rest = &words[at + 1..];
            match base_name(word) {
                "npm" | "pnpm" | "yarn" | "bun" | "npx" => found.extend(script_name(rest)),
                "make" | "gmake" | "just" => found.extend(targets(rest)),
                _ => {}
            }
        }
    }
    found
}

fn script_name(words: &[&str]) -> Option<String> {
    let mut plain = words.iter().filter(|word| !word.starts_with('-'));
    let first = *plain.next()?;
    Some(match first {
        "run" | "run-script" | "rum" | "urn" => (*plain.next()?).to_owned(),
        "t" | "tst" => "test".to_owned(),
        other => other.to_owned(),
    })
}

fn targets(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut skip = false;
    for word in words {
        let takes_one = ["-C", "-f", "--directory", "--file", "--justfile", "-j", "-d"].contains(word);
        if !std::mem::replace(&mut skip, takes_one) && !word.starts_with('-') && !word.contains('=') {
            found.push((*word).to_owned());
        }
    }
    if found.is_empty() {
        found.push(String::new());
    }
    found
}

/// Whose command it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// A check, or a script or target that it names.
    Check,
    /// A script's: what it runs may be what is being worked on.
    Script,
}

/// Files of the project that a command runs and goes by: shell scripts, and what is called like a check. What is piped on,
/// captured or written to a file is looked at, and does not judge.
fn run_files(text: &str, depth: Depth, base: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for command in simple_commands(text) {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
        let assigns = |word: &&&str| {
            word.contains('=') || ["then", "do", "else", "!", "exec", "time", "env"].contains(*word)
        };
        let begin = words.iter().take_while(assigns).count();
        let Some(first) = words.get(begin) else { continue };
        let shell = ["sh", "bash", "dash", "zsh", ".", "source"].contains(&base_name(first));
        let other =
            ["python", "python3", "node", "ruby", "perl", "php", "deno", "bun"].contains(&base_name(first));
        let mut behind = words[begin + 1..].iter();
        let file = match shell || other {
            // Options of an interpreter stand before its file.
            true => behind.find(|word| !word.starts_with('-') || ["-c", "-m"].contains(*word)),
            false => Some(first).filter(|first| first.contains('/')),
        };
        let Some(path) = file.map(|file| file.trim_start_matches("$PWD/").trim_start_matches("./")) else {
            continue;
        };
        let judges = is_called_check(path) || (depth == Depth::Check && (shell || is_shell(path)));
        if base.contains(path) && judges {
            found.push(path.to_owned());
        }
    }
    found
}

/// The commands of a shell text whose result counts, and not what they print. An approximation: quotes are no borders.
fn simple_commands(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut found, mut from, mut at, mut captured) = (Vec::new(), 0, 0, 0_usize);
    while at <= bytes.len() {
        let here = bytes.get(at).copied();
        let (width, pipes) = match here {
            None | Some(b';' | b'\n' | b'(') => (1, false),
            Some(b'&') if at > 0 && bytes[at - 1] == b'>' => {
                at += 1;
                continue;
            }
            Some(b'&') => (1 + usize::from(bytes.get(at + 1) == Some(&b'&')), false),
            Some(b'|') if bytes.get(at + 1) == Some(&b'|') => (2, false),
            Some(b'|' | b')' | b'`') => (1, true),
            Some(_) => {
                at += 1;
                continue;
            }
        };
        let command = text.get(from..at).unwrap_or_default();
        let writes = command
            .match_indices('>')
            .any(|(at, _)| !command[at..].starts_with(">&") && !command[at..].starts_with(">/dev/"));
        if !command.trim().is_empty() && !pipes && captured == 0 && !writes {
            found.push(command.trim());
        }
        match here {
            Some(b'(') if at > 0 && bytes[at - 1] == b'$' => captured += 1,
            Some(b')') => captured = captured.saturating_sub(1),
            _ => {}
        }
        at += width;
        from = at;
    }
    found
}

fn is_shell(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".sh") || name.ends_with(".bash")
}

/// A script that is not for a shell: its words are no commands.
fn is_other_language(path: &str) -> bool {
    !is_shell(path) && path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// A program may be what is being worked on; one of this name judges.
fn is_called_check(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let words: BTreeSet<&str> = lower.split(|c: char| !c.is_ascii_alphabetic()).collect();
    [
        "test", "tests", "check", "checks", "verify", "lint", "ci", "spec", "scripts", "tools", "validate",
        "smoke",
    ]
    .iter()
    .any(|known| words.contains(known))
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| c.is_whitespace() || ";&|()'\"`".contains(c)).filter(|word| !word.is_empty())
}

fn base_name(word: &str) -> &str {
    word.rsplit_once('/').map_or(word, |(_, name)| name)
}
