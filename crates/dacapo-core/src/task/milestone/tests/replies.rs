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

fn report(feature: &str, commit: &str, changes: &[&str]) -> DeveloperReply {
    let changes = changes.iter().map(|change| (*change).to_owned()).collect();
    DeveloperReply::Report(Report { feature: feature.into(), commit: commit.into(), changes })
}

fn completion(commits: &[&str], summary: &str) -> DeveloperReply {
    let commits = commits.iter().map(|commit| (*commit).to_owned()).collect();
    DeveloperReply::Completion(Completion { commits, summary: summary.into() })
}

#[test]
fn m6_a_report_is_read() {
    let changes = ["src/auth.rs: tokens can be made void", "tests/auth.rs: a test for it"];
    let read = report("F-2 Logout", "0123abc", &changes);
    assert_eq!(DeveloperReply::parse(REPORT, 3), Ok(read.clone()));
    let talkative = format!("I am done.\n\n{}", REPORT.replace('\n', "\r\n"));
    assert_eq!(DeveloperReply::parse(&talkative, 3), Ok(read.clone()));
    // What is not read may say anything, or nothing.
    for (from, to) in [
        ("— Round 3", "— Round 2"),
        ("— Round 3", "- round 3:"),
        ("## Impl", "# Impl"),
        ("## Implementation Report — Round 3", "**Implementation Report — Round 3**"),
        ("## Implementation Report — Round 3", "## 实现报告 — 第 3 轮"),
        ("## Implementation Report — Round 3", "**实现报告 — 第 3 轮**"),
        ("## Implementation Report — Round 3\n", "## Implementation Report — Round 3\n\nIt took a while.\n"),
        ("12 passed, 0 failed", "all of them"),
        ("**Tests**: 12 passed, 0 failed\n**Lint**: clean\n", ""),
        ("**Lint**: clean", "**Lint**: clean\n**Lint**: clean\n**Risk**: none"),
        ("### Notes", "## Praise"),
        ("**Commit**: `0123ABC`", "- Commit: 0123abc"),
        ("**Commit**: `0123ABC`", "**Commit:** 0123abc (feat: defaced)"),
        ("**Commit**: `0123ABC`", "**提交**：`0123abc`"),
        ("**Commit**: `0123ABC`", "**Commit hash**: [`0123abc`](x)"),
        ("**Commit**: `0123ABC`", "| Commit | 0123abc |"),
        ("**Commit**: `0123ABC`", "### Commit\n\n`0123abc`\n"),
        ("**Feature**: F-2 Logout", "功能：F-2 Logout"),
        ("**Feature**: F-2 Logout", "**功能**: **F-2 Logout**"),
        ("### Changes", "### 变更"),
        ("### Changes", "**Changes**:"),
        ("### Changes", "## 改动："),
    ] {
        assert!(REPORT.contains(from), "{from}");
        let reply = REPORT.replacen(from, to, 1);
        assert_eq!(DeveloperReply::parse(&reply, 3), Ok(read.clone()), "{reply}");
    }
    let fenced = format!("Here it is:\n```markdown\n{}```\n", REPORT.split("### Notes").next().unwrap());
    assert_eq!(DeveloperReply::parse(&fenced, 3), Ok(read));
}

#[test]
fn m6_what_was_changed_is_read_as_it_is_told() {
    let changes = |part: &str| {
        let reply = format!("## Implementation Report\n\nFeature: x\nCommit: 0123abc\n\n{part}");
        match DeveloperReply::parse(&reply, 1) {
            Ok(DeveloperReply::Report(report)) => report.changes,
            other => panic!("{other:?}: {reply}"),
        }
    };
    assert_eq!(changes(""), Vec::<String>::new());
    assert_eq!(changes("### Changes\nAll of it.\n\nAnd more.\n### Notes\n- no"), ["All of it.", "And more."]);
    assert_eq!(
        changes("### Changes\n\n1. a.rs\n   - in it\n2. b.rs: x\n\n**Notes**: - no"),
        ["a.rs - in it", "b.rs: x"]
    );
    assert_eq!(changes("Changes: one file\n"), ["one file"]);
    assert_eq!(changes("### Changes\n```\n a.rs | 2 +-\n```\n"), ["a.rs | 2 +-"]);
}

#[test]
fn m6_of_several_reports_the_one_of_this_round_counts() {
    let of = |round: u32, commit: &str| {
        format!("## Implementation Report — Round {round}\n**Feature**: F-{round}\n**Commit**: {commit}\n")
    };
    let both = format!("As I said:\n{}\n{}", of(2, "2222222"), of(3, "3333333"));
    assert_eq!(DeveloperReply::parse(&both, 3), Ok(report("F-3", "3333333", &[])));
    assert_eq!(DeveloperReply::parse(&both, 2), Ok(report("F-2", "2222222", &[])));
    assert_eq!(DeveloperReply::parse(&both, 7), Ok(report("F-3", "3333333", &[])), "else the newest");
}

#[test]
fn m6_what_is_missing_is_told_precisely() {
    let cases = [
        (
            "**Commit**: `0123ABC`",
            "**Commit**: HEAD",
            "**Commit** must be a hash of 7 or more digits, not 'HEAD'",
        ),
        ("**Commit**: `0123ABC`\n", "", "the field **Commit** is missing, or empty"),
        ("**Commit**: `0123ABC`", "**Commit**:", "the field **Commit** is missing, or empty"),
        ("**Feature**: F-2 Logout\n", "", "the field **Feature** is missing, or empty"),
        (
            "It went",
            "## ALL_FEATURES_COMPLETE\n",
            "the reply has both '## Implementation Report' and '## ALL_FEATURES_COMPLETE': reply with one of them",
        ),
    ];
    for (from, to, told) in cases {
        assert!(REPORT.contains(from), "{from}");
        assert_eq!(complaints(&REPORT.replacen(from, to, 1)), [told]);
    }
    for none in [
        "I did everything you asked for.",
        "The implementation report follows later.",
        "say ALL_FEATURES_COMPLETE",
        "not ALL_FEATURES_COMPLETE yet",
    ] {
        assert_eq!(
            complaints(none),
            [
                "the reply has no heading '## Implementation Report — Round 3' (nor '## ALL_FEATURES_COMPLETE') on a line of its own"
            ]
        );
    }
    assert_eq!(complaints("## Implementation Report — Round 3").len(), 2);
}

#[test]
fn m5_a_completion_report_is_read() {
    let read = |text: &str| DeveloperReply::parse(text, 9).unwrap();
    let text = "All is done.\n## ALL_FEATURES_COMPLETE\n\n所有功能已实现并提交。\n\n### Commits\n- 0123abc: feat: login\n- `fedcba9876`: fix: x\n- fix: it (`1234567`)\n- 0123abc: again\n- none\n\n### Summary\nAll of it.\n";
    let all = ["0123abc", "fedcba9876", "1234567"];
    assert_eq!(read(text), completion(&all, "All of it."));
    assert_eq!(read(text).commits(), all);
    assert_eq!(
        read(&text.replace("### Commits", "### 提交").replace("### Summary", "**总结**：")),
        completion(&all, "All of it.")
    );
    for bare in [
        "## ALL_FEATURES_COMPLETE",
        "**ALL_FEATURES_COMPLETE**",
        "ALL_FEATURES_COMPLETE.",
        "```\n## ALL_FEATURES_COMPLETE\n```",
    ] {
        assert_eq!(read(bare), completion(&[], ""), "{bare}");
    }
    assert_eq!(read("## ALL_FEATURES_COMPLETE\n\nhurrah\n"), completion(&[], "hurrah"));
}

fn any_report() -> impl Strategy<Value = Report> {
    let words = "[a-zA-Z0-9繼`{}][a-z 繼.{}-]{0,40}[a-z]";
    let change = ("[a-z/]{1,20}\\.rs", words).prop_map(|(path, what)| format!("{path}: {what}"));
    (words, "[0-9a-f]{7,40}", proptest::collection::vec(change, 0..6))
        .prop_map(|(feature, commit, changes)| Report { feature, commit, changes })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m6_what_is_reported_is_read(report in any_report(), round in 1_u32..99, chatter in "[a-z .\n]{0,60}") {
        let Report { feature, commit, changes } = &report;
        let changes: String = changes.iter().map(|change| format!("- {change}\n")).collect();
        let text = format!("{chatter}\n## Implementation Report — Round {round}\n\n{chatter}\n\n**Feature**: {feature}\n**Commit**: {commit}\n**Tests**: {chatter}\n\n### Changes\n{changes}\n### Notes\n{chatter}\n");
        prop_assert_eq!(DeveloperReply::parse(&text, round), Ok(DeveloperReply::Report(report)), "{}", text);
    }

    #[test]
    fn m5_what_is_claimed_is_read(
        commits in proptest::collection::btree_map("[0-9a-f]{7,40}", "[a-z][a-z :]{0,20}[a-z]", 1..9),
        summary in "[a-z][a-z\n]{0,60}[a-z]",
    ) {
        let listed: String = commits.iter().map(|(commit, message)| format!("- {commit}: {message}\n")).collect();
        let text = format!("## ALL_FEATURES_COMPLETE\n\nDone.\n\n### Commits\n{listed}\n### Summary\n{summary}\n");
        let commits = commits.into_keys().collect();
        prop_assert_eq!(DeveloperReply::parse(&text, 1), Ok(DeveloperReply::Completion(Completion { commits, summary })), "{}", text);
    }

    #[test]
    fn m6_any_reply_reads_or_has_complaints(text in "(\\PC|\n|\r\n|## Implementation Report — Round 1\n|\\*\\*Commit\\*\\*: |### Changes\n|### Commits\n|## ALL_FEATURES_COMPLETE\n|- |```|a: b|0123abc){0,60}") {
        match DeveloperReply::parse(&text, 1) {
            Ok(read) => prop_assert!(read.commits().iter().all(|commit| commit.len() >= 7)),
            Err(complaints) => prop_assert!(!complaints.is_empty() && complaints.iter().all(|c| c.len() < 1000)),
        }
    }
}
