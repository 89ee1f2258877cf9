//! Rounds, verdicts, rejections, the final acceptance (M4, M5).

use super::world::*;
use crate::event::{Ended, NeedKind, Outcome, StopReason};
use crate::task::milestone::MilestoneStep;

const COMPLETED: (Outcome, StopReason) = (Outcome::Completed, StopReason::Promise);
const PAUSED: (Outcome, StopReason) = (Outcome::Paused, StopReason::NeedsPerson);

#[test]
fn m4_three_features_are_accepted_at_once_and_then_the_milestone() {
    let world = World::new(spec()).run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 4, 4, 0));
    assert_eq!(world.order(), "D1 A1 D2 A2 D3 A3 D4 A4");
    assert!(world.result().verified, "the checks were green in the end");
    let records = world.records();
    assert_eq!(records[1].summary, "accepted: F-2 it");
    assert_eq!(records[1].commit_id, Some(commit_of(2)));
    assert_eq!((records[3].promise, records[3].outcome), (true, Ended::Success));
    assert_eq!(world.checks.len(), 5, "before every look of the Acceptor, and the proof of the whole");
    assert_eq!(world.checks[1].commit, Some(commit_of(2)));
}

#[test]
fn m4_an_acceptance_sets_the_counter_back() {
    let world = World::new(spec()).script(&[
        report(1, "F-1"),
        no("first"),
        report(2, "F-1"),
        no("second"),
        report(3, "F-1"),
        yes(),
        report(4, "F-2"),
        no("third"),
        report(5, "F-2"),
        no("fourth"),
    ]);
    let world = world.run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 8, 4, 4));
    assert!(
        world.prompt(2).contains("## The last round was rejected\n\n```\nfirst\n"),
        "{}",
        world.prompt(2)
    );
    assert!(!world.prompt(6).contains("was rejected"), "{}", world.prompt(6));
    assert_eq!(
        crate::context::faults(&world.records()[0].faults).as_deref(),
        Some("first\nC-1: not met\nC-2: met")
    );
}

#[test]
fn m4_three_rejections_in_a_row_need_a_person() {
    let script = [report(1, "F-1"), no("a"), report(2, "F-1"), no("b"), report(3, "F-1"), no("no limit")];
    let world = World::new(spec()).script(&script).run();
    assert_eq!(world.end(), (PAUSED.0, PAUSED.1, 3, 0, 3));
    assert_eq!(world.result().outcome.exit_code(), 4);
    assert_eq!(world.question(), NeedKind::Rejections { times: 3, reason: "no limit".into() });
    let mut world = world;
    world.script = [report(4, "F-1"), no("c"), report(5, "F-1"), no("d")].into();
    let guidance = crate::event::Command::Tell { text: "in the app, 5/min".into(), standing: true };
    let world = world.resume(&[guidance]);
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 9, 4, 5));
    assert!(
        world.prompt(6).contains("## What a person says\n\n- in the app, 5/min\n"),
        "{}",
        world.prompt(6)
    );
    assert!(world.prompt(7).contains("in the app, 5/min"), "the Acceptor hears it too");
    assert!(!world.prompt(8).contains("5/min"), "once each");
}

#[test]
fn m5_rejections_of_the_whole_do_not_count_toward_the_three_but_are_rounds() {
    let mut details = details();
    details.max_rejections = 2;
    let script = [
        report(1, "F-1"),
        yes(),
        report(2, "F-2"),
        no("not counted back by a final one"),
        complete(3),
        no("C-1"),
        complete(4),
        no("C-1 again"),
        complete(5),
        no("and again"),
        complete(6),
        yes(),
    ];
    let world = World::new(with(&details)).script(&script).run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 6, 2, 4));
    assert!(world.prompt(6).contains("## The last round was rejected\n\n```\nC-1\n"));
}

#[test]
fn m5_a_final_verdict_without_its_lines_is_asked_for_once_more() {
    let world = World::new(spec()).script(&[complete(1), says("ACCEPTED"), yes()]).run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 1, 1, 0));
    assert_eq!(world.order(), "D1 A1 A1");
    assert!(world.prompt(2).contains("nothing is said of C-1, C-2"));
}

#[test]
fn m4_a_reply_that_is_neither_is_asked_for_once_more_and_then_counts() {
    let world = World::new(spec()).script(&[report(1, "F-1"), says("Looks good!"), yes()]).run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 4, 4, 0));
    assert_eq!(&world.order()[..8], "D1 A1 A1");
    let world = World::new(spec())
        .script(&[report(1, "F-1"), says("Hm."), says("Good!"), says("no report"), report(2, "F-1")])
        .run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 5, 4, 1));
    assert_eq!(&world.order()[..17], "D1 A1 A1 D2 D2 A2");
    let error = crate::context::faults(&world.records()[0].faults).unwrap();
    assert!(error.starts_with("the Acceptor twice gave no verdict: the first line must be"), "{error}");
}

#[test]
fn m7_a_call_that_takes_too_long_is_a_rejection_with_its_reason() {
    let script = [overdue(), report(2, "F-1"), overdue(), overdue()];
    let world = World::new(spec()).script(&script).run();
    assert_eq!(world.end(), (PAUSED.0, PAUSED.1, 3, 0, 3));
    assert_eq!(world.order(), "D1 D2 A2 D3");
    let errors: Vec<String> =
        world.records().iter().filter_map(|record| crate::context::faults(&record.faults)).collect();
    assert_eq!(
        errors,
        [
            "the Developer's call was ended before it was done: no end within 10m",
            "the Acceptor's call was ended before it was done: no end within 10m",
            "the Developer's call was ended before it was done: no end within 10m",
        ]
    );
    assert!(world.prompt(1).contains("no end within 10m"));
}

#[test]
fn m5_a_final_review_that_takes_too_long_does_not_count_toward_the_three() {
    let mut details = details();
    details.max_rejections = 1;
    let world = World::new(with(&details)).script(&[complete(1), overdue(), complete(2), yes()]).run();
    assert_eq!(world.end(), (COMPLETED.0, COMPLETED.1, 2, 1, 1));
}

#[test]
fn m6_red_checks_go_to_the_acceptor_as_evidence_and_are_no_proof() {
    let mut world = World::new(spec());
    world.check_code = 101;
    let world = world.run();
    let told = world.prompt(1);
    assert!(told.contains("`cargo test` → exit 101; its last lines:\n\n```\n1 passed\n```\n"), "{told}");
    assert!(!world.prompt(2).contains("cargo test` → exit"), "the round was accepted all the same");
    let mut world = World::new(spec()).script(&[report(1, "F-1"), no("red")]);
    world.check_code = 101;
    let world = world.run();
    assert!(
        world.prompt(2).contains("## Checks that failed on it\n\n`cargo test` → exit 101"),
        "{}",
        world.prompt(2)
    );
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
    let mut spec = spec();
    spec.policy.checks.clear();
    let world = World::new(spec).run();
    assert!(world.prompt(1).contains("## Checks that Dacapo ran on it\n\nNone are set up.\n"));
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
}

#[test]
fn m6_checks_are_on_record_for_the_commit_they_ran_on() {
    let world = World::new(spec())
        .script(&[report(1, "F-1"), yes(), report(1, "F-2"), yes()])
        .inspect(|_, facts| facts.tip = Some(oid(0xabc_def0)))
        .run();
    assert_eq!(world.checks[0].commit, Some(oid(0xabc_def0)), "the tree is at the tip, whatever is reported");
    assert_eq!(world.records()[0].commit_id, Some(commit_of(1)));
}

#[test]
fn m4_every_round_has_one_verdict_in_the_journal() {
    let world =
        World::new(spec()).script(&[overdue(), says("x"), says("y"), report(3, "F-1"), no("z")]).run();
    let verdicts = world.steps().into_iter().filter_map(|step| match step {
        MilestoneStep::Accepted { iteration, .. } => Some((iteration, true)),
        MilestoneStep::Rejected { iteration, .. } => Some((iteration, false)),
        _ => None,
    });
    let verdicts: Vec<(u32, bool)> = verdicts.collect();
    assert_eq!(verdicts, [(0, false), (1, false), (2, false)]);
    assert_eq!(world.end(), (PAUSED.0, PAUSED.1, 3, 0, 3));
}

#[test]
fn m11_what_was_not_accepted_is_in_the_change_that_is_judged_next() {
    let script = [
        says("no report"),
        says("no report"),
        report(2, "F-1"),
        overdue(),
        report(3, "F-1"),
        no("a"),
        report(4, "F-1"),
        yes(),
        report(5, "F-2"),
        yes(),
    ];
    let mut details = details();
    details.max_rejections = 9;
    let world = World::new(with(&details)).script(&script).run();
    assert_eq!(world.starts()[..5], [oid(7), oid(7), oid(7), oid(7), commit_of(4)]);
    let judged: Vec<&str> =
        world.turns.iter().filter(|turn| turn.agent == 1).map(|turn| turn.prompt.as_str()).collect();
    assert!(judged[2].contains("`git diff 0000007..0001004` shows the whole change"), "{}", judged[2]);
    assert!(judged[3].contains("`git diff 0001004..0001005`"), "{}", judged[3]);
}

#[test]
fn m10_what_a_person_accepted_is_not_judged_again() {
    let script = [report(1, "F-1"), no("a"), report(2, "F-1"), no("b"), report(3, "F-1"), no("c")];
    let world = World::new(spec()).script(&script).run();
    let world = world.resume(&[crate::event::Command::Approve { choice: None }]);
    assert_eq!(world.starts()[..4], [oid(7), oid(7), oid(7), commit_of(3)]);
}

#[test]
fn m7_a_developer_whom_nobody_judged_has_nothing_to_repair() {
    let unjudged = [vec![report(1, "F-1"), overdue()], vec![report(1, "F-1"), says("Hm."), says("Good!")]];
    for script in unjudged {
        let world = World::new(spec()).script(&script).run();
        let turn = world.turns.iter().find(|turn| turn.agent == 0 && turn.iteration == 1).unwrap();
        let told = turn.prompt.as_str();
        assert!(told.contains("Nobody has judged what you reported"), "{told}");
        assert!(told.contains("## The last round counts as rejected\n\n```\nthe Acceptor"), "{told}");
        assert!(!told.contains("Repair what was rejected"), "{told}");
    }
    let world = World::new(spec()).script(&[overdue()]).run();
    assert!(world.prompt(1).contains("ended without a report that could be judged"), "{}", world.prompt(1));
    let world = World::new(spec()).script(&[report(1, "F-1"), no("red")]).run();
    assert!(world.prompt(2).contains("Repair what was rejected, and settle all open findings."));
}
