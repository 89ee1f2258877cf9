//! Reports: what is read of them, what is said about what is missing, and anything at all.

use proptest::prelude::*;

use crate::task::milestone::{Completion, DeveloperReply, Report};

const REPORT: &str = "\
## Implementation Report — Round 3

**Feature**: F-2 Logout
**Commit**: `0123ABC`
**Tests**: 12 passed, 0 failed
**Lint**: clean

### Changes
- src/auth.rs: tokens can be
  made void
- tests/auth.rs: a test for it

### Notes
It went well.

```
## ALL_FEATURES_COMPLETE
```
";

fn complaints(reply: &str) -> Vec<String> {
    DeveloperReply::parse(reply, 3).expect_err(reply)
}

#[test]
fn m6_a_report_is_read() {
    let report = Report {
        round: 3,
        feature: "F-2 Logout".into(),
        commit: "0123abc".into(),
        passed: 12,
        failed: 0,
        issues: 0,
        changes: vec!["src/auth.rs: tokens can be made void".into(), "tests/auth.rs: a test for it".into()],
        notes: "It went well.\n\n```\n## ALL_FEATURES_COMPLETE\n```".into(),
    };
    assert_eq!(DeveloperReply::parse(REPORT, 3), Ok(DeveloperReply::Report(report.clone())));
    let talkative = format!("I am done.\n\n{}", REPORT.replace('\n', "\r\n"));
    assert_eq!(DeveloperReply::parse(&talkative, 3), Ok(DeveloperReply::Report(report)));
    let short = REPORT.split("### Notes").next().unwrap().replace("clean", "1 issue");
    let Ok(DeveloperReply::Report(read)) = DeveloperReply::parse(&short, 3) else { panic!("{short}") };
    assert_eq!((read.notes.as_str(), read.issues), ("", 1));
}

#[test]
fn m6_what_does_not_fit_is_told_precisely() {
    let cases = [
        (
            "— Round 3",
            "— Round 2",
            "the heading must be '## Implementation Report — Round 3', not '## Implementation Report — Round 2'",
        ),
        (
            "— Round 3",
            "- Round 3",
            "the heading must be '## Implementation Report — Round 3', not '## Implementation Report - Round 3'",
        ),
        (
            "**Commit**: `0123ABC`",
            "**Commit**: HEAD",
            "**Commit** must be a hash of 7 or more digits, not 'HEAD'",
        ),
        ("**Commit**: `0123ABC`\n", "", "the field **Commit** is missing"),
        ("**Commit**: `0123ABC`", "**Commit**:", "the field **Commit** is empty"),
        ("**Lint**: clean", "**Lint**: clean\n**Lint**: clean", "**Lint** is there twice"),
        ("12 passed, 0 failed", "all", "**Tests** must be '{n} passed, {n} failed', not 'all'"),
        (
            "12 passed, 0 failed",
            "99999999999 passed, 0 failed",
            "**Tests** must be '{n} passed, {n} failed', not '99999999999 passed, 0 failed'",
        ),
        ("clean", "good", "**Lint** must be 'clean' or '{n} issues', not 'good'"),
        ("**Tests**", "Tests", "'Tests: 12 passed, 0 failed' is not a field of the report"),
        ("### Changes", "### Change", "'### Change' is not a part of the report"),
        (
            "- src/auth.rs: tokens can be",
            "- src/auth.rs",
            "in '### Changes' write '- {path}: …', not '- src/auth.rs made void'",
        ),
        ("- src/auth.rs: tokens can be", "All of it", "'### Changes' is a list of '- …'; found 'All of it'"),
        ("### Notes", "### Changes", "'### Changes' is there twice"),
        ("### Notes", "## Praise", "'## Praise' is not a part of the report"),
        (
            "It went",
            "## ALL_FEATURES_COMPLETE\n",
            "the reply has both '## Implementation Report' and '## ALL_FEATURES_COMPLETE': reply with one of them",
        ),
    ];
    for (from, to, told) in cases {
        assert!(REPORT.contains(from), "{from}");
        let found = complaints(&REPORT.replacen(from, to, 1));
        assert_eq!(found[0], told, "{found:?}");
    }
    let missing = complaints("I did everything you asked for.");
    assert_eq!(
        missing,
        [
            "the reply has no heading '## Implementation Report — Round 3' (nor '## ALL_FEATURES_COMPLETE') on a line of its own, outside of code fences"
        ]
    );
    assert_eq!(complaints("## Implementation Report — Round 3").len(), 5);
}

#[test]
fn m5_a_completion_report_is_read() {
    let text = "All is done.\n## ALL_FEATURES_COMPLETE\n\n### Commits\n- 0123abc: feat: login\n- `fedcba9876`: fix: x\n\n### Summary\nAll of it.\n";
    let completion = Completion {
        commits: vec![("0123abc".into(), "feat: login".into()), ("fedcba9876".into(), "fix: x".into())],
        summary: "All of it.".into(),
    };
    let read = DeveloperReply::parse(text, 9).unwrap();
    assert_eq!(read.commits(), ["0123abc", "fedcba9876"]);
    assert_eq!(read, DeveloperReply::Completion(completion));
    let bare = complaints("## ALL_FEATURES_COMPLETE");
    assert_eq!(bare, ["the part '### Commits' is missing", "the part '### Summary' is missing"]);
    let odd = complaints("## ALL_FEATURES_COMPLETE\nhurrah\n### Commits\n- none\n### Summary\n");
    assert_eq!(
        odd,
        [
            "'hurrah' stands before '### Commits'; say it in '### Summary'",
            "in '### Commits' write '- {hash}: {message}', not '- none'",
            "'### Summary' is empty",
        ]
    );
    assert!(complaints("say ALL_FEATURES_COMPLETE")[0].starts_with("the reply has no heading"));
}

fn any_report() -> impl Strategy<Value = Report> {
    let words = "[a-zA-Z0-9繼`{}][a-z 繼.{}-]{0,40}[a-z]";
    let change = ("[a-z/]{1,20}\\.rs", words).prop_map(|(path, what)| format!("{path}: {what}"));
    (
        1_u32..99,
        words,
        "[0-9a-f]{7,40}",
        any::<(u32, u32)>(),
        0_u32..9,
        proptest::collection::vec(change, 1..6),
        proptest::option::of(words),
    )
        .prop_map(|(round, feature, commit, (passed, failed), issues, changes, notes)| Report {
            round,
            feature,
            commit,
            passed,
            failed,
            issues,
            changes,
            notes: notes.unwrap_or_default(),
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m6_what_is_reported_is_read(report in any_report(), chatter in "[a-z .\n]{0,60}") {
        let text = format!("{chatter}\n{report}");
        prop_assert_eq!(DeveloperReply::parse(&text, report.round), Ok(DeveloperReply::Report(report)), "{}", text);
    }

    #[test]
    fn m5_what_is_claimed_is_read(
        commits in proptest::collection::vec(("[0-9a-f]{7,40}", "[a-z][a-z :]{0,20}[a-z]"), 1..9),
        summary in "[a-z][a-z\n]{0,60}[a-z]",
    ) {
        let completion = Completion { commits, summary };
        let text = completion.to_string();
        prop_assert_eq!(DeveloperReply::parse(&text, 1), Ok(DeveloperReply::Completion(completion)), "{}", text);
    }

    #[test]
    fn m6_any_reply_reads_or_has_complaints(text in "(\\PC|\n|\r\n|## Implementation Report — Round 1\n|\\*\\*Commit\\*\\*: |### Changes\n|### Commits\n|## ALL_FEATURES_COMPLETE\n|- |```|a: b|0123abc){0,60}") {
        match DeveloperReply::parse(&text, 1) {
            Ok(read) => prop_assert!(!read.commits().is_empty()),
            Err(complaints) => prop_assert!(!complaints.is_empty() && complaints.iter().all(|c| c.len() < 1000)),
        }
    }
}
