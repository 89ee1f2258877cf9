//! Settings from the environment: `DACAPO_` and the path in capitals, dots and dashes as underscores.

use std::ffi::OsString;

use super::path::KeyPath;
use super::problem::{Problem, ValueLocation};
use super::shape::{Fitted, Misfit, Shape};
use crate::error::suggest;
use crate::messages::{Text, say};

const PREFIX: &str = "DACAPO_";

/// Variables with the prefix that are not settings: where data goes, and what Dacapo tells its agents and checks.
const RESERVED: [&str; 18] = [
    "DACAPO_HOME",
    "DACAPO_DEMO",
    "DACAPO_TRUST",
    "DACAPO_LOG",
    "DACAPO_TASK",
    "DACAPO_ITERATION",
    "DACAPO_WORKSPACE",
    "DACAPO_PORT_BASE",
    "DACAPO_RUN",
    "DACAPO_READ_ONLY",
    "DACAPO_TURN",
    "DACAPO_ATTEMPT",
    "DACAPO_STATUS",
    "DACAPO_OUTCOME",
    "DACAPO_VERIFIED",
    "DACAPO_MESSAGE",
    "DACAPO_COST_USD",
    "DACAPO_PULL_REQUEST",
];

/// What the environment says.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) entries: Vec<(KeyPath, Fitted, String)>,
    pub(super) warnings: Vec<Text>,
    pub(super) problems: Vec<Problem>,
}

/// Reads the variables. `known` are the settings of the files: a name such as `gpt-5.5` cannot be written in a
/// variable, but `GPT_5_5` finds it there. An empty variable counts as not set, as everywhere in a shell.
pub(super) fn read(variables: &[(String, OsString)], shape: &Shape, known: &[KeyPath]) -> Environment {
    let mut found = Environment::default();
    let mut variables: Vec<_> = variables.iter().collect();
    variables.sort();
    for (name, value) in variables {
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        if RESERVED.contains(&name.as_str()) || value.is_empty() {
            continue;
        }
        let mut candidates = Vec::new();
        matches(shape, rest, &Match::default(), known, &mut candidates);
        let Some(best) = candidates.into_iter().min_by_key(|m| (m.guessed_length, m.path.len())) else {
            found.warnings.push(unknown(name, shape));
            continue;
        };
        let path = KeyPath(best.path);
        if best.ambiguous {
            let key = path.to_string();
            found.warnings.push(say(|m| m.config_variable_guessed(name, &key)));
        }
        let Some(leaf) = shape.leaf(&path) else { continue };
        let place = ValueLocation::Env(name.clone());
        let Some(text) = value.to_str() else {
            found.problems.push(Problem::NotUtf8 { place });
            continue;
        };
        match leaf.fit(&leaf.read(text)) {
            Ok(fitted) => found.entries.push((path, fitted, name.clone())),
            Err(misfit) => found.problems.push(Problem::wrong_value(&path, place, in_words(misfit, text))),
        }
    }
    found
}

/// Everything in the environment is text, so "found text" says nothing; the value does, where it is no secret:
/// only numbers and booleans are reported as the wrong kind, and those are none.
fn in_words(misfit: Misfit, text: &str) -> Misfit {
    if misfit.found == "text" { Misfit { found: super::shape::quoted(text), ..misfit } } else { misfit }
}

fn unknown(name: &str, shape: &Shape) -> Text {
    // Compared without the prefix they share, which would make any two short names look alike.
    let settings = shape.leaves(&|_| Vec::new()).iter().map(variable).collect::<Vec<_>>();
    let candidates = settings.iter().map(String::as_str).chain(RESERVED);
    match suggest(&name[PREFIX.len()..], candidates.map(|candidate| &candidate[PREFIX.len()..])) {
        Some(meant) => {
            let meant = format!("{PREFIX}{meant}");
            say(|m| m.config_variable_meant(name, &meant))
        }
        None => say(|m| m.config_variable_unknown(name)),
    }
}

/// The variable of a setting.
pub(super) fn variable(path: &KeyPath) -> String {
    let keys: Vec<String> = path.0.iter().map(|key| capitals(key)).collect();
    format!("{PREFIX}{}", keys.join("_"))
}

fn capitals(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// One way to read a variable's name as a path.
#[derive(Debug, Default, Clone)]
struct Match {
    path: Vec<String>,
    /// Letters in names that no file has. Fewest wins: names from files first, then the longest setting.
    guessed_length: usize,
    /// A guessed name that may have been written with other characters than underscores.
    ambiguous: bool,
}

impl Match {
    fn with(&self, key: &str) -> Match {
        let mut path = self.path.clone();
        path.push(key.to_owned());
        Match { path, ..*self }
    }
}

fn matches(shape: &Shape, rest: &str, so_far: &Match, known: &[KeyPath], found: &mut Vec<Match>) {
    match shape {
        Shape::Leaf(_) if rest.is_empty() => found.push(so_far.clone()),
        Shape::Leaf(_) => {}
        Shape::Table { fields, .. } => {
            for (key, inner) in fields {
                let Some(after) = rest.strip_prefix(&capitals(key)) else { continue };
                let after = if after.is_empty() { Some("") } else { after.strip_prefix('_') };
                if let Some(after) = after {
                    matches(inner, after, &so_far.with(key), known, found);
                }
            }
        }
        // A table of variables: the rest is the name, as it is.
        Shape::Map(inner) if matches!(**inner, Shape::Leaf(_)) => {
            if !rest.is_empty() {
                matches(inner, "", &so_far.with(rest), known, found);
            }
        }
        Shape::Map(inner) => {
            for (end, _) in rest.match_indices('_') {
                let (name, after) = (&rest[..end], &rest[end + 1..]);
                let depth = so_far.path.len();
                let same = |path: &&KeyPath| {
                    path.0.starts_with(&so_far.path)
                        && path.0.get(depth).is_some_and(|key| capitals(key) == name)
                };
                if let Some(path) = known.iter().find(same) {
                    matches(inner, after, &so_far.with(&path.0[depth]), known, found);
                } else if !name.is_empty() {
                    let guess = so_far.with(&name.to_lowercase());
                    let guessed_length = guess.guessed_length + name.len();
                    let guess = Match { guessed_length, ambiguous: name.contains('_'), ..guess };
                    matches(inner, after, &guess, known, found);
                }
            }
        }
    }
}
