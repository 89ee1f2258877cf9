//! What an agent is told of the tests that judge its work (L20).

use std::fmt::Write as _;

use super::history::one_line;
use super::prompt::checks;
use crate::agent::PLACEHOLDER;
use crate::event::{CheckResult, InlineChange, TestChange, TestsResult};
use crate::spec::TestsMode;

/// How many files and tests are named.
const MOST_TOLD: usize = 40;

/// What the next turn is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct TestsTold<'a> {
    /// What it may do to tests; none where no check judges.
    pub mode: Option<TestsMode>,
    /// Its commit fails with the tests as they were.
    pub red: Option<RedOriginals<'a>>,
}

/// A commit that passes with its own tests, and not with those that were there before.
#[derive(Debug, Clone, Copy)]
pub struct RedOriginals<'a> {
    pub tests: &'a TestsResult,
    /// What the failed checks printed.
    pub failed: &'a [CheckResult],
}

impl TestsTold<'_> {
    /// The rule, where there is one.
    pub(super) fn rule(&self) -> Option<String> {
        match self.mode? {
            TestsMode::Free => None,
            TestsMode::Original => Some(format!(
                "Your work must also pass with the tests, fixtures, snapshots, test scripts, and test and lint settings as \
                 they were before the task. New tests are welcome. If an existing test itself must change, do not work around \
                 it: end your answer with <tests-changed>{PLACEHOLDER}</tests-changed>, with the reason in place of \
                 `{PLACEHOLDER}`. A person decides then."
            )),
            TestsMode::Locked => Some(
                "Tests, fixtures, snapshots, test scripts, and test and lint settings that existed before the task are put \
                 back before every commit: do not change them. New tests are welcome."
                    .to_owned(),
            ),
        }
    }

    /// How the commit fails with the tests as they were, what the checks printed within so many bytes.
    pub(super) fn shortfall(&self, bytes: usize) -> Option<String> {
        let RedOriginals { tests, failed } = self.red?;
        let mut out = String::from(
            "All checks pass with the tests as they are in your commit, but not with the tests as they were before the task, \
             and that counts.",
        );
        let said = checks(failed.iter(), bytes);
        if !said.is_empty() {
            let _ = write!(out, " With the files below as they were:\n{said}");
        }
        out.push_str("\nYou changed:\n");
        for file in tests.changed.iter().filter(|file| file.how != TestChange::Inline).take(MOST_TOLD) {
            let _ = writeln!(out, "- {}: {}", one_line(&file.path), change(file.how));
        }
        for test in tests.inline.iter().take(MOST_TOLD) {
            let _ = writeln!(
                out,
                "- {}: {} {}",
                one_line(&test.path),
                one_line(&test.name),
                inline_change(test.how)
            );
        }
        if let Some(fewer) = tests.fewer {
            let _ =
                writeln!(out, "- {} tests ran before the task, and {} run now", fewer.before, fewer.after);
        }
        let _ = write!(
            out,
            "Make the work pass with the tests as they were (new tests may stay). If they must change because the task asks for \
             it, or because a test is wrong, say why with <tests-changed>{PLACEHOLDER}</tests-changed>: a person decides."
        );
        Some(out)
    }
}

/// How a file that judges the work changed, as agents are told.
pub(crate) fn change(how: TestChange) -> &'static str {
    match how {
        TestChange::Added => "new, and it changes what is tested",
        TestChange::Changed => "changed",
        TestChange::Deleted => "deleted",
        TestChange::Part => "the part that judges was changed",
        TestChange::NotSeparable => "changed",
        TestChange::Inline => "tests in it were changed",
    }
}

/// How a test in a source file changed, as agents are told.
pub(crate) fn inline_change(how: InlineChange) -> &'static str {
    match how {
        InlineChange::Removed => "was removed",
        InlineChange::Ignored => "does not run any more",
        InlineChange::Changed => "checks something else",
    }
}
