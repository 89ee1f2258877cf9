//! How a milestone is seen, from the record of a real one: a report sent back, three rejections, a pause, guidance, the end.

use dacapo_core::engine::Kinds;
use dacapo_core::event::{CheckPhase, Choice, Command, Envelope, Event, NeedKind, Needs, Received};
use dacapo_core::spec::TaskSpec;
use dacapo_core::view::TaskView;

use super::*;
use crate::messages::Language;
use crate::present::log::LogLines;
use crate::present::next::explained;
use crate::present::{report, status};

const SPEC: &str = include_str!("../../../tests/fixtures/milestone/spec.json");
const JOURNAL: &str = include_str!("../../../tests/fixtures/milestone/journal.jsonl");

fn spec() -> TaskSpec {
    serde_json::from_str(SPEC).unwrap()
}

fn lines() -> impl Iterator<Item = Envelope> {
    JOURNAL.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// As it was when the line with this number was the newest.
fn until(seq: u64) -> TaskView {
    let mut view = TaskView::new(&spec(), Kinds::default());
    lines().filter(|line| line.seq <= seq).for_each(|line| view.apply(&line));
    view
}

fn seen(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn status_at(seq: u64) -> String {
    seen(&status::status(&until(seq), None, None, Messages::ENGLISH))
}

#[test]
fn m10_status_while_it_runs_says_who_is_at_work() {
    insta::assert_snapshot!(status_at(30), @r#"
    auth · running · round 3 of 20 · 1 rejected in a row · Acceptor is working · 1s
      goal    Login with a rate limit
      agents  Developer codex · Acceptor claude · process 11666
      where   /home/ada/data/repos/app-42d6aa48/worktrees/auth · milestone/auth from 00651aa · ports 25100–25109
      ✓ F-1   login
      ○ F-2   rate limit
      ○ F-3   audit log
      ✗ R1    nginx is not the code (since round 2)
      ✗ R2    no test for it (since round 2)
      round 1 ✓ f9a2e41  F-1 login  1 file 309ms
                accepted by the Acceptor
                criteria: C-1 met
                sent back to the Developer: there is no commit 0123456
                test -e f1 ✓ exit 0 on f9a2e41 25ms
      round 2 ✗ 8927797  F-2 rate limit  1 file 132ms
                rejected by the Acceptor: no limiter in the code (R1 R2)
                test -e f1 ✓ exit 0 on 8927797 11ms
      note    ended 1 process that was left running
      next: dacapo attach auth    watch it
            dacapo tell auth "…"  tell the agent something
            dacapo kill auth      end it; its work is kept
    "#);
    let head = |seq| status_at(seq).lines().next().map(str::to_owned).unwrap();
    assert_eq!(
        [4, 9, 11, 16, 72].map(head),
        [
            "auth · running · round 1 of 20 · Developer is working",
            "auth · running · round 1 of 20 · checks are running",
            "auth · running · round 1 of 20 · Acceptor is working",
            "auth · running · round 2 of 20 · Developer is working",
            "auth · running · round 7 of 20 · final acceptance · 2s",
        ]
    );
}

#[test]
fn l15_a_round_that_passed_its_checks_is_not_green_without_proof() {
    let green = format!("{}", words::GOOD);
    let view = until(30);
    let shown = status::status(&view, None, None, Messages::ENGLISH);
    assert!(shown.contains("\u{1b}[1m✓\u{1b}[0m f9a2e41"), "{shown:?}");
    assert!(!shown.contains(&green), "{shown:?}");
    let mut record = view.iterations[0].clone();
    assert!(!sign(true, &record).contains(&green));
    record.checks[0].phase = CheckPhase::Proof;
    assert!(sign(true, &record).contains(&green));
    assert!(!sign(false, &record).contains(&green) && !verdict_sign(true).contains(&green));
}

#[test]
fn m5_a_verdict_is_shown_with_its_reason_alone_and_the_criteria_apart() {
    let said = |accepted, reason: &str| {
        let (by, findings, not_itemised) = (JudgedBy::Acceptor, Vec::new(), false);
        let seen = VerdictView { round: 1, accepted, by, reason: reason.to_owned(), findings, not_itemised };
        (verdict(&seen, Messages::ENGLISH), criteria(&seen, Messages::ENGLISH).unwrap_or_default())
    };
    let pair = |verdict: &str, criteria: &str| (verdict.to_owned(), criteria.to_owned());
    assert_eq!(
        said(false, "C-1: met\nC-2: not met: no log\n\nThe log is empty."),
        pair("rejected by the Acceptor: The log is empty.", "C-2 not met · C-1 met")
    );
    assert_eq!(
        said(false, "C-1: met\nC-2: not met: no log"),
        pair("rejected by the Acceptor: C-2: not met: no log", "C-2 not met · C-1 met")
    );
    assert_eq!(said(true, "C-1: met\nC-2: met"), pair("accepted by the Acceptor", "C-1, C-2 met"));
    assert_eq!(said(true, "well done\nC-1: met"), pair("accepted by the Acceptor: well done", "C-1 met"));
    assert_eq!(said(false, "no log"), pair("rejected by the Acceptor: no log", ""));
}

#[test]
fn m10_status_at_a_pause_begins_with_what_a_person_can_do() {
    insta::assert_snapshot!(status_at(45), @r#"
    auth · paused · 4 of 20 rounds · 3 rejected in a row
      needs   rejected 3×: no limiter in the code
      next: dacapo tell auth "…"    tell both sides, then resume
            dacapo resume auth      continue
            dacapo approve auth     accept the latest round
            dacapo approve auth R1  settle this finding, then resume
            dacapo kill auth        end it; you can still resume it
      goal    Login with a rate limit
      agents  Developer codex · Acceptor claude
      where   /home/ada/data/repos/app-42d6aa48/worktrees/auth · milestone/auth from 00651aa
      ✓ F-1   login
      ○ F-2   rate limit
      ○ F-3   audit log
      settled R2 R3
      ✗ R1    nginx is not the code (since round 2)
      ✗ R4    no test for it (since round 4)
      round 1 ✓ f9a2e41  F-1 login  1 file 309ms
                accepted by the Acceptor
                criteria: C-1 met
                sent back to the Developer: there is no commit 0123456
                test -e f1 ✓ exit 0 on f9a2e41 25ms
      round 2 ✗ 8927797  F-2 rate limit  1 file 132ms
                rejected by the Acceptor: no limiter in the code (R1 R2)
                test -e f1 ✓ exit 0 on 8927797 11ms
      round 3 ✗ 7dc1892  F-2 rate limit  1 file 539ms
                rejected by the Acceptor: no limiter in the code (R1 R3)
                test -e f1 ✓ exit 0 on 7dc1892 11ms
      round 4 ✗ 522efa9  F-2 rate limit  1 file 959ms
                rejected by the Acceptor: no limiter in the code (R1 R4)
                test -e f1 ✓ exit 0 on 522efa9 15ms
      note    ended 1 process that was left running
      note    ended 1 process that was left running
    ‖ paused: it needs your decision · 4 rounds · 1 accepted · 1 of 3 features done · 2s
      test -e f1 ✓ on 522efa9
      ⚠ tests, CI or checks changed: f1
      4 commits on milestone/auth (00651aa..522efa9) in /home/ada/data/repos/app-42d6aa48/worktrees/auth
    "#);
}

#[test]
fn m4_the_end_in_a_few_lines() {
    let result = |seq| {
        let view = until(seq);
        seen(&report::result(&view, view.result.as_ref().unwrap(), Messages::ENGLISH))
    };
    insta::assert_snapshot!(result(45), @r#"
    ‖ paused: it needs your decision · 4 rounds · 1 accepted · 1 of 3 features done · 2s
      rejected 3×: no limiter in the code
      R1 open since round 2: nginx is not the code
      R4 open since round 4: no test for it
      test -e f1 ✓ on 522efa9
      ⚠ tests, CI or checks changed: f1
      4 commits on milestone/auth (00651aa..522efa9) in /home/ada/data/repos/app-42d6aa48/worktrees/auth
      next: dacapo tell auth "…"    tell both sides, then resume
            dacapo resume auth      continue
            dacapo approve auth     accept the latest round
            dacapo approve auth R1  settle this finding, then resume
            dacapo kill auth        end it; you can still resume it
    "#);
    insta::assert_snapshot!(result(76), @r#"
    ✓ proven · 7 rounds · 4 accepted · 3 of 3 features done · 3s
      test -e f1 ✓ on 1c93477
      ⚠ tests, CI or checks changed: f1
      6 commits on milestone/auth (00651aa..1c93477) in /home/ada/data/repos/app-42d6aa48/worktrees/auth
      next: dacapo diff auth   see what changed
            dacapo merge auth  merge it into your branch
            dacapo pr auth     open a pull request
            dacapo drop auth   drop it; dacapo undo brings it back
    "#);
}

#[test]
fn s13_the_log_has_a_line_for_every_report_and_verdict() {
    let mut log = LogLines::for_task(&spec(), Kinds::default());
    let part = lines().filter(|line| line.seq < 24 || line.seq > 41 && line.seq < 51 || line.seq > 69);
    let all: Vec<String> = part.flat_map(|line| log.lines(&line)).map(|(_, text)| text).collect();
    assert!(all.iter().all(|line| !line.contains('\n')), "a line is a line: {all:#?}");
    insta::assert_snapshot!(all.join("\n"), @r#"
    Registering loop for task auth: max_iterations=20, completion_promise=None
    Registered loop state for task auth: max_iterations=20
    Task auth started (pid 11666, dacapo 0.1.0)
    Workspace: /home/ada/data/repos/app-42d6aa48/worktrees/auth (base commit 00651aa)
    Iteration 0: Starting...
    Developer codex at work in round 1
    Round 1: sent back to the Developer: there is no commit 0123456
    Developer codex at work in round 1
    Round 1: reported F-1, commit f9a2e41, 1 file
    Check `test -e f1`: exit 0 (25ms)
    Acceptor claude at work in round 1
    Round 1: ACCEPTED by the Acceptor
    Iteration 0 summary: accepted: F-1
    === Iteration 1 complete (1 succeeded, 0 failed) ===
    Loop iteration 1 of 20 for task auth (can_continue=true)
    Iteration 1: Starting...
    Developer codex at work in round 2
    Round 2: reported F-2, commit 8927797, 1 file
    Check `test -e f1`: exit 0 (11ms)
    Acceptor claude at work in round 2
    Round 2: REJECTED by the Acceptor: no limiter in the code
      [R1] nginx is not the code
      [R2] no test for it
    Iteration 1 summary: rejected: F-2
    === Iteration 2 complete (1 succeeded, 1 failed) ===
    Loop iteration 2 of 20 for task auth (can_continue=true)
    Round 4: REJECTED by the Acceptor: no limiter in the code
      [R1] nginx is not the code
      [R4] no test for it
    Iteration 3 summary: rejected: F-2
    === Iteration 4 complete (1 succeeded, 2 failed) ===
    Loop iteration 4 of 20 for task auth (can_continue=true)
    Paused: rejected 3×: no limiter in the code
    Removed loop state for task auth
    dacapo tell: in the app, 5/min
    Task auth resumed (pid 12271)
    Registering loop for task auth: max_iterations=20, completion_promise=None
    Registered loop state for task auth: max_iterations=20
    Iteration 4: Starting...
    Developer codex at work in round 5
    Round 7: reported that all features are complete, commit 1c93477
    Check `test -e f1`: exit 0 (14ms)
    Acceptor claude at work in round 7
    Round 7: ACCEPTED by the Acceptor
    Iteration 6 summary: accepted: all features complete
    === Iteration 7 complete (2 succeeded, 2 failed) ===
    Loop iteration 7 of 20 for task auth (can_continue=true)
    Loop complete: the whole milestone is accepted for task auth
    Removed loop state for task auth
    "#);
}

/// A limit below what was begun undoes nothing, and the log speaks of the one that counts.
#[test]
fn s13_the_log_knows_the_limit_of_rounds_as_the_machine_does() {
    let mut log = LogLines::for_task(&spec(), Kinds::default());
    let mut said = Vec::new();
    for line in lines().filter(|line| line.seq <= 23) {
        if line.seq == 23 {
            let command = Command::Set { key: "rounds".to_owned(), value: "1".to_owned() };
            let received = Received { id: "1".to_owned(), by: "dacapo set".to_owned(), command };
            said.extend(log.lines(&Envelope { event: Event::CommandReceived(received), ..line.clone() }));
        }
        said.extend(log.lines(&line));
    }
    let said: Vec<String> = said.into_iter().map(|(_, text)| text).collect();
    assert!(said.iter().any(|line| line.starts_with("Loop iteration 2 of 2 for task auth")), "{said:#?}");
}

#[test]
fn u6_what_agents_and_authors_write_cannot_drive_the_terminal() {
    let evil = "\u{1b}[2J\u{7}evil\u{202e}\nDacapo";
    let escaped = serde_json::to_string(evil).unwrap();
    let words = escaped.trim_matches('"');
    let journal = JOURNAL.replace("nginx is not the code", words).replace("there is no commit", words);
    let mut view = TaskView::new(&spec(), Kinds::default());
    let mut log = LogLines::for_task(&spec(), Kinds::default());
    let mut said = String::new();
    for line in journal.lines().take(46) {
        let line: Envelope = serde_json::from_str(line).unwrap();
        view.apply(&line);
        log.lines(&line).into_iter().for_each(|(_, text)| said.push_str(&text));
    }
    said += &seen(&status::status(&view, None, None, Messages::ENGLISH));
    said += &seen(&report::result(&view, view.result.as_ref().unwrap(), Messages::ENGLISH));
    assert!(said.contains("evil"));
    assert!(!said.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{said:?}");
}

#[test]
fn m10_every_answer_says_what_it_is_for() {
    let offered = [Choice::Approve, Choice::Abandon, Choice::Offered { name: "x y".into() }];
    let needs = Needs { kind: NeedKind::Settled { reason: String::new() }, choices: offered.to_vec() };
    let view = until(45);
    let lines = |status| {
        let mut milestone = MilestoneView::of(view.own()).unwrap().clone();
        milestone.status = status;
        let answers = answers("auth", &needs, &milestone, Messages::ENGLISH);
        explained(&answers).iter().map(|line| seen(line)).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(MilestoneStatus::Paused),
        [
            "dacapo approve auth            accept the latest round",
            "dacapo approve auth R1         settle this finding, then resume",
            "dacapo milestone abandon auth  abandon it for good",
            "x y",
        ]
    );
    assert_eq!(
        lines(MilestoneStatus::AwaitingReview)[0],
        "dacapo approve auth            complete the milestone"
    );
}

#[test]
fn s12_a_pull_request_names_goal_features_and_what_was_accepted() {
    let body = crate::pull_request::body_of(&until(45), &spec());
    assert!(!body.contains("### Task"), "{body}");
    insta::assert_snapshot!(body, @r#"
    ### Goal

    > People can log in, and nobody can guess passwords.

    ### Features

    - [x] F-1 login: `f9a2e41`
    - [ ] F-2 rate limit
    - [ ] F-3 audit log

    ⚠ **Not settled with the Acceptor**

    - R1 nginx is not the code
    - R4 no test for it

    ### Checks

    - `test -e f1` – → ✓ on `522efa9`

    Not proven: it is not completed with all checks green on its last commit.

    ⚠ **Tests, CI, checks or settings were changed** (look at these first): `f1`

    ### Commits


    4 rounds · 1 accepted · 2s · Developer codex, Acceptor claude · ended as paused · task `auth` of Dacapo
    "#);
}

#[test]
fn u5_a_milestone_has_no_english_sentence_in_chinese() {
    for language in [Language::SimplifiedChinese, Language::TraditionalChinese] {
        let messages = Messages::new(language);
        for seq in [4, 11, 30, 45, 72, 76] {
            let view = until(seq);
            let mut shown = seen(&status::status(&view, Some(250_000_000), None, messages));
            if let Some(result) = &view.result {
                shown += &seen(&report::result(&view, result, messages));
            }
            let own = [
                "Login with a rate limit",
                "rate limit",
                "audit log",
                "nginx is not the code",
                "no limiter in the code",
                "no test for it",
                "there is no commit",
                "test -e f1",
            ];
            crate::present::chinese::assert_no_english(&shown, &own);
        }
    }
}
