//! The user's tests are the yardstick (L20): which files of a commit judge it, what the commit changes of them, and what is put
//! back so that it is judged by them as they were. Pure; whoever calls it reads the files.

use std::collections::BTreeSet;

use crate::event::{ChangedTest, InlineTest, TestChange, TestsChange};
use crate::git::Oid;
use crate::suspect_files::is_sensitive_to_trust;
use commands::Commands;
use parts::{Mixed, Part};
use rust_tests::RustTests;

mod collecting;
mod commands;
mod glob;
mod makefile;
mod parts;
mod python_tests;
mod rust_lexer;
mod rust_tests;
mod summaries;
#[cfg(test)]
mod tests;

pub(crate) use summaries::tests_run;

/// How many files and tests are named.
const MOST_NAMED: usize = 100;

/// A path in which the commit differs from its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Added,
    Changed,
    Deleted,
}

/// A commit beside its base.
pub(crate) struct Comparison<'a> {
    /// All paths of the base.
    pub(crate) base: &'a BTreeSet<String>,
    pub(crate) changes: &'a [Change],
    /// The text of a file in the base.
    pub(crate) was: &'a dyn Fn(&str) -> Option<String>,
    /// The text of a file in the commit.
    pub(crate) is: &'a dyn Fn(&str) -> Option<String>,
}

/// What judges the work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judges<'a> {
    pub(crate) checks: &'a [String],
    /// Patterns of the user's.
    pub(crate) protect: &'a [String],
}

/// What a commit changes of what judges it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) changed: Vec<ChangedTest>,
    pub(crate) inline: Vec<InlineTest>,
    /// How to have the files as they were.
    pub(crate) put_back: Vec<PutBack>,
    pub(crate) affects_originals: bool,
    pub(crate) not_for_originals: Vec<u32>,
}

/// What is done with a changed path, by its place in the list of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PutBack {
    pub(crate) change: usize,
    pub(crate) with: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// The file of the base.
    Base,
    /// No file.
    Nothing,
    /// The commit's file, with the part that judges as it was.
    Merged(String),
}

impl Judgement {
    /// For the record.
    pub(crate) fn facts(&self, base: &Oid) -> TestsChange {
        TestsChange {
            base_commit: base.clone(),
            changed: self.changed.iter().take(MOST_NAMED).cloned().collect(),
            total: self.changed.len() as u64,
            inline: self.inline.iter().take(MOST_NAMED).cloned().collect(),
            affects_originals: self.affects_originals,
            not_for_originals: self.not_for_originals.clone(),
        }
    }
}

/// Compares what judges a commit with what judged its base.
pub(crate) fn judge(judges: Judges<'_>, comparison: &Comparison<'_>) -> Judgement {
    let commands = Commands::of(judges.checks, comparison.base, comparison.was);
    let mut found = Judgement {
        changed: Vec::new(),
        inline: inline_tests(comparison, |path| is_whole(judges, &commands, path)),
        put_back: Vec::new(),
        affects_originals: false,
        not_for_originals: commands::naming_new(judges.checks, comparison),
    };
    for (at, change) in comparison.changes.iter().enumerate() {
        let Some((how, with)) = of_file(judges, &commands, comparison, change) else { continue };
        found.affects_originals |= match how {
            TestChange::Changed | TestChange::Deleted | TestChange::Part | TestChange::Inline => true,
            TestChange::Added => collecting::matters(&change.path, comparison.base),
            TestChange::NotSeparable => false,
        };
        found.changed.push(ChangedTest { path: change.path.clone(), how });
        found.put_back.extend(with.map(|with| PutBack { change: at, with }));
    }
    for test in &found.inline {
        let known = |file: &ChangedTest| file.path == test.path;
        if !found.changed.iter().any(known) {
            found.changed.push(ChangedTest { path: test.path.clone(), how: TestChange::Inline });
        }
        found.affects_originals = true;
    }
    found
}

fn of_file(
    judges: Judges<'_>,
    commands: &Commands,
    comparison: &Comparison<'_>,
    change: &Change,
) -> Option<(TestChange, Option<Content>)> {
    let path = change.path.as_str();
    if path.starts_with(".dacapo/") {
        return None;
    }
    if is_whole(judges, commands, path) {
        return Some(match change.status {
            Status::Added => (TestChange::Added, Some(Content::Nothing)),
            Status::Changed => (TestChange::Changed, Some(Content::Base)),
            Status::Deleted => (TestChange::Deleted, Some(Content::Base)),
        });
    }
    if let Some(mixed) = Mixed::of(path, commands.reads(path)) {
        let was = (comparison.was)(path);
        let part = match change.status {
            // Without it nothing of it judges any more.
            Status::Deleted => match mixed.compare(was.as_deref(), "", commands.used()) {
                Part::Same => return None,
                Part::Differs(_) | Part::NotSeparable => Part::NotSeparable,
            },
            // A package of its own brings its own settings.
            Status::Added if !comparison.has_sibling(path) => return None,
            Status::Added | Status::Changed => {
                let is = (comparison.is)(path).unwrap_or_default();
                mixed.compare(was.as_deref(), &is, commands.used())
            }
        };
        return match part {
            Part::Same => None,
            Part::Differs(text) => Some((TestChange::Part, Some(Content::Merged(text)))),
            Part::NotSeparable if change.status == Status::Deleted => {
                Some((TestChange::Deleted, Some(Content::Base)))
            }
            Part::NotSeparable => Some((TestChange::NotSeparable, None)),
        };
    }
    // What takes the place of a directory of tests.
    let below = format!("{path}/");
    let replaces = change.status == Status::Added
        && comparison
            .base
            .range(below.clone()..)
            .next()
            .is_some_and(|next| next.starts_with(&below) && is_whole(judges, commands, next));
    replaces.then_some((TestChange::Changed, Some(Content::Nothing)))
}

impl Comparison<'_> {
    /// Returns true if there were files beside or below this one.
    fn has_sibling(&self, path: &str) -> bool {
        let folder = path.rfind('/').map_or("", |at| &path[..=at]);
        self.base.range(folder.to_owned()..).next().is_some_and(|next| next.starts_with(folder))
    }
}

/// Whether all of a file judges.
fn is_whole(judges: Judges<'_>, commands: &Commands, path: &str) -> bool {
    use crate::suspect_files::Role;
    if path.starts_with(".dacapo/") {
        return false;
    }
    if judges.protect.iter().any(|pattern| glob::matches(pattern, path)) || commands.run(path) {
        return true;
    }
    if Mixed::of(path, commands.reads(path)).is_some() {
        return false;
    }
    let by_name = match is_sensitive_to_trust(path) {
        Some(Role::Test | Role::Ci | Role::Check) => true,
        Some(Role::Dacapo) | None => false,
    };
    by_name || collecting::matters_by_name(path) || commands.formats(path)
}

/// Tests in source files that are not what they were.
fn inline_tests(comparison: &Comparison<'_>, is_whole: impl Fn(&str) -> bool) -> Vec<InlineTest> {
    let mut found = rust(comparison, &is_whole);
    found.extend(python(comparison, &is_whole));
    found
}

fn rust(comparison: &Comparison<'_>, is_whole: &impl Fn(&str) -> bool) -> Vec<InlineTest> {
    let files = comparison.changes.iter().filter(|change| change.path.ends_with(".rs"));
    let now: Vec<(&Change, RustTests)> = files
        .map(|change| {
            let text = (comparison.is)(&change.path).filter(|_| change.status != Status::Deleted);
            (change, text.map(|text| RustTests::of(&text)).unwrap_or_default())
        })
        .collect();
    let mut found = Vec::new();
    for (at, (change, is)) in now.iter().enumerate() {
        if is_whole(&change.path) {
            continue;
        }
        let was = (comparison.was)(&change.path).filter(|_| change.status != Status::Added);
        let was = was.map(|text| RustTests::of(&text)).unwrap_or_default();
        if was.is_empty() && is.is_empty() {
            continue;
        }
        let others: Vec<&RustTests> =
            now.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, (_, tests))| tests).collect();
        found.extend(named(&change.path, was.weakened(is, &others)));
    }
    found
}

/// Examples in docstrings, where something at the base says that they are run.
fn python(comparison: &Comparison<'_>, is_whole: &impl Fn(&str) -> bool) -> Vec<InlineTest> {
    const SETTINGS: [&str; 5] = ["pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "Makefile"];
    let changed: Vec<&Change> = comparison
        .changes
        .iter()
        .filter(|change| {
            change.path.ends_with(".py") && change.status != Status::Added && !is_whole(&change.path)
        })
        .collect();
    let run = |name: &&str| (comparison.was)(name).is_some_and(|text| text.contains("doctest"));
    if changed.is_empty() || !SETTINGS.iter().any(run) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for change in changed {
        let was = python_tests::examples(&(comparison.was)(&change.path).unwrap_or_default());
        let is = (comparison.is)(&change.path).filter(|_| change.status != Status::Deleted);
        let is = python_tests::examples(&is.unwrap_or_default());
        found.extend(named(&change.path, python_tests::weakened(&was, &is)));
    }
    found
}

fn named(path: &str, tests: Vec<(String, crate::event::InlineChange)>) -> impl Iterator<Item = InlineTest> {
    tests.into_iter().map(move |(name, how)| InlineTest { path: path.to_owned(), name, how })
}

/// Returns true if the text of this file is needed to tell what judges in it.
pub(crate) fn needs_text(path: &str) -> bool {
    path.ends_with(".rs") || path.ends_with(".py") || Mixed::of(path, true).is_some()
}
