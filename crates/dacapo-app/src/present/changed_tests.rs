//! What people read about tests that a task changed (L20).

use std::fmt::Write as _;

use dacapo_core::event::{
    ChangedTest, CheckBrief, FewerTests, InlineChange, InlineTest, NeedKind, Originals, TestChange,
    TestsMark, TestsResult,
};

use super::words::{self, DIM, WARN, paint};
use crate::messages::Messages;

/// How many files are named in a line.
const NAMED: usize = 5;

/// `tests changed (--tests free)`.
pub fn mark(mark: TestsMark, messages: Messages) -> String {
    match mark {
        TestsMark::AwaitsApproval | TestsMark::Reviewed => messages.tests_mark_awaits(),
        TestsMark::Approved => messages.ended_tests_approved(),
        TestsMark::Free => messages.tests_mark_free(),
    }
}

/// `test_a.py, conftest.py (new), src/a.rs (tests::adds removed) and 3 more`.
pub fn files(tests: &TestsResult, messages: Messages) -> String {
    listed(&tests.changed, tests.changed_total, &tests.inline, messages)
}

fn listed(changed: &[ChangedTest], total: u64, inline: &[InlineTest], messages: Messages) -> String {
    let named: Vec<String> = changed
        .iter()
        .take(NAMED)
        .map(|file| {
            let path = words::line(&file.path, words::WHOLE);
            match how(file, inline, messages) {
                Some(how) => messages.tests_file_how(&path, &how),
                None => path,
            }
        })
        .collect();
    let more = total.saturating_sub(named.len() as u64);
    let more = if more > 0 { messages.and_more(more) } else { String::new() };
    format!("{}{more}", named.join(", "))
}

fn how(file: &ChangedTest, inline: &[InlineTest], messages: Messages) -> Option<String> {
    match file.how {
        TestChange::Added => Some(messages.test_added()),
        TestChange::Changed => None,
        TestChange::Deleted => Some(messages.test_deleted()),
        TestChange::Part => Some(messages.test_part()),
        TestChange::NotSeparable => Some(messages.test_not_separable()),
        TestChange::Inline => {
            let tests = inline.iter().filter(|test| test.path == file.path).take(NAMED);
            let named: Vec<String> = tests.map(|test| inline_test(test, messages)).collect();
            Some(named.join(", "))
        }
    }
}

fn inline_test(test: &InlineTest, messages: Messages) -> String {
    let name = words::line(&test.name, 60);
    match test.how {
        InlineChange::Removed => messages.test_removed(&name),
        InlineChange::Ignored => messages.test_ignored(&name),
        InlineChange::Changed => messages.test_changed(&name),
    }
}

/// What the end of a task says about its tests, a line each; empty where nothing was there that changed.
pub fn summary(tests: &TestsResult, messages: Messages) -> String {
    let mut out = String::new();
    let warn = |out: &mut String, text: &str| {
        let _ = writeln!(out, "  {}", paint(WARN, &format!("⚠ {text}")));
    };
    match tests.mark() {
        Some(mark) => {
            let text = self::mark(mark, messages);
            let files = files(tests, messages);
            let text = if files.is_empty() { text } else { messages.tests_with_files(&text, &files) };
            warn(&mut out, &text);
        }
        None if tests.originals == Originals::Green => {
            let text = messages.tests_pass_as_they_were(&files(tests, messages));
            let _ = writeln!(out, "  {}", paint(DIM, &text));
        }
        None => {}
    }
    if let Some(FewerTests { before, after }) = tests.fewer {
        warn(&mut out, &messages.tests_fewer(before, after));
    }
    if let Some(reason) = &tests.reason {
        let reason = words::line(reason, words::WHOLE);
        let _ = writeln!(out, "  {}", messages.tests_reason(&reason));
    }
    out
}

/// The question in one line, for a task that needs a person for it; none for another need.
pub fn question(kind: &NeedKind, messages: Messages) -> Option<String> {
    let NeedKind::TestsChanged { changed, changed_total, inline, .. } = kind else { return None };
    Some(messages.needs_tests_changed(&listed(changed, *changed_total, inline, messages)))
}

/// What goes with the question, a line each: what fails, and why the agent did it.
pub fn details(kind: &NeedKind, messages: Messages) -> Vec<String> {
    let NeedKind::TestsChanged { failed, fewer, reason, .. } = kind else { return Vec::new() };
    let check =
        |check: &CheckBrief| messages.needs_check(&check.command, &words::exit(&check.ending, messages));
    let mut lines = Vec::new();
    if !failed.is_empty() {
        let checks: Vec<String> = failed.iter().map(check).collect();
        lines.push(messages.needs_tests_failed(&checks.join(", ")));
    }
    lines.extend(fewer.map(|FewerTests { before, after }| messages.tests_fewer(before, after)));
    lines.push(match reason {
        Some(reason) => messages.tests_reason(&words::line(reason, words::WHOLE)),
        None => messages.tests_no_reason(),
    });
    lines
}
