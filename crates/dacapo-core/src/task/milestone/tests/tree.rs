//! An Acceptor that does more than judge: what is found, what counts, who repairs it.

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::WorkFacts;
use crate::engine::machine::{Begin, Effect, Input, WorkQuery};
use crate::event::{FailureKind, Outcome, StopReason, TurnEnd};
use crate::task::milestone::{Judge, MilestoneStep};

type Change = fn(&mut WorkFacts);

/// What is found after the nth turn of round 1, from 0: the Developer's, the Acceptor's, ….
fn found(after: usize, change: Change) -> impl FnMut(&WorkQuery, &mut WorkFacts) {
    let mut looks = 0;
    move |_, facts| {
        if looks == after {
            change(facts);
        }
        looks += 1;
    }
}

fn touched(change: Change, verdict: Turn) -> World {
    World::new(spec()).script(&[report(1, "F-1 Login"), verdict]).inspect(found(1, change)).run()
}

#[test]
fn m4_the_work_is_looked_at_before_a_verdict_counts() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.agent == 1)));
    world.step();
    assert!(matches!(world.machine.effect(), Some(Effect::InspectWork(_))), "{:?}", world.machine.effect());
    world.step();
    assert!(matches!(world.steps().last(), Some(MilestoneStep::Accepted { .. })), "and no line for nothing");
}

#[test]
fn m4_what_the_acceptor_leaves_lying_about_is_not_the_developers_and_the_verdict_counts() {
    let world = touched(|facts| facts.dirty = vec!["__pycache__/a.pyc".into()], yes());
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    let told = world.prompt(2);
    assert!(
        told.contains("These paths are not committed; commit or undo them:\n\n```\n__pycache__/a.pyc\n```"),
        "{told}"
    );
    assert!(told.contains("left by the Acceptor"), "{told}");
    assert!(world.prompt(3).contains("You judge, and change nothing"), "{}", world.prompt(3));
    assert!(!world.prompt(5).contains("You judge, and change nothing: work"), "once: {}", world.prompt(5));
    assert!(!world.prompt(4).contains("left by the Acceptor"), "{}", world.prompt(4));
}

#[test]
fn m4_an_acceptance_of_what_is_not_there_any_more_is_none() {
    let moves: [(Change, &str); 3] = [
        (|facts| facts.tip = Some(oid(0xabc_def0)), "milestone/auth was at 0001001 and is abcdef0"),
        (|facts| facts.tip = None, "milestone/auth was at 0001001 and is gone"),
        (|facts| facts.branch = Some("refs/heads/x".into()), "HEAD is on x"),
    ];
    for (change, what) in moves {
        let world = touched(change, yes());
        let record = world.records()[0];
        assert!(!record.success, "{what}");
        let reason = crate::context::faults(&record.faults).unwrap();
        assert!(
            reason.starts_with("the Acceptor changed what it was to judge") && reason.contains(what),
            "{reason}"
        );
        let told = world.prompt(2);
        assert!(told.contains("## First put the tree in order") && told.contains(what), "{told}");
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 5, 4, 1));
    }
}

#[test]
fn m11_what_the_acceptor_committed_is_judged_with_the_next_round() {
    let world = touched(|facts| facts.tip = Some(oid(0xabc_def0)), yes());
    let starts = world.starts();
    assert_eq!(starts[1], oid(7), "with the round that nobody has judged");
    assert_eq!(starts[2], commit_of(2), "and no further");
    assert!(world.prompt(2).contains("see `git log 0001001..abcdef0`"), "{}", world.prompt(2));
}

#[test]
fn m11_a_rejection_counts_with_its_findings_whatever_else_its_author_did() {
    let world = touched(|facts| facts.tip = Some(oid(0xabc_def0)), says("REJECTED: no\n- no limit\n"));
    let rejected = world.steps().into_iter().find_map(|step| match step {
        MilestoneStep::Rejected { by, findings, .. } => Some((by, findings.len())),
        _ => None,
    });
    assert_eq!(rejected, Some((Judge::Acceptor, 1)));
    assert!(world.prompt(2).contains("[R1] no limit") && world.prompt(2).contains("abcdef0"));
}

#[test]
fn m4_what_is_no_verdict_and_moved_the_branch_is_not_asked_for_again() {
    let world = touched(|facts| facts.tip = Some(oid(0xabc_def0)), says("I fixed it for you"));
    assert_eq!(&world.order()[..11], "D1 A1 D2 A2");
}

#[test]
fn m4_an_acceptor_that_does_so_thrice_needs_a_person() {
    let mut looks = 0;
    let world = World::new(spec())
        .inspect(move |_, facts| {
            looks += 1;
            if looks % 2 == 0 {
                facts.tip = Some(oid(0xabc_def0));
            }
        })
        .run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 3, 0, 3));
    assert_eq!(tag(&world.question()), "rejections");
}

#[test]
fn m5_what_lies_about_when_all_is_accepted_is_kept() {
    let dirt = found(1, |facts| facts.dirty = vec!["notes.txt".into()]);
    let world = World::new(spec()).script(&[complete(1), yes()]).inspect(dirt).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
    assert_eq!(world.kept, 1);
}

#[test]
fn m9_an_acceptor_whose_call_was_cut_short_is_looked_after() {
    let cases = [
        overdue(),
        failed(FailureKind::Transient),
        ends(TurnEnd::Limit { message: "limit".into(), resets_at: None }),
    ];
    for turn in cases {
        let what = format!("{:?}", turn.end);
        let dirt = found(1, |facts| facts.dirty = vec!["half.txt".into()]);
        let world = World::new(spec()).script(&[report(1, "F-1"), turn]).inspect(dirt).run();
        assert!(world.prompt(2).contains("half.txt"), "{what}: {}", world.prompt(2));
        assert_eq!(world.turns[2].agent, 0, "{what}: the Developer puts it in order first");
        assert_eq!(world.result().outcome, Outcome::Completed, "{what}");
    }
}

#[test]
fn m9_a_branch_that_moved_while_nobody_watched_is_reported_anew() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 1)));
    world.script = [ends(TurnEnd::Interrupted), report(1, "F-1")].into();
    let mut looks = 0;
    let world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.tip = Some(oid(0xabc_def0));
        }
    });
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..14], "D1 A1 D1 A1 D2");
    assert!(world.prompt(2).contains("is at abcdef0, but was at 0001001"), "{}", world.prompt(2));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn r2_a_workspace_that_is_gone_when_a_verdict_came_asks_for_it_again() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.agent == 1)));
    world.step();
    world.input(&Input::WorkspaceFailed(vec!["gone".into()]), None);
    world.drive();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::SetupFailed, 1, 0, 0));
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..8], "D1 A1 A1");
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

/// The Acceptor fails for ever and leaves the work as `change` says each time; the Developer puts it in order.
fn fails_and_meddles(change: Change, max_failures: u32) -> World {
    let mut spec = spec();
    spec.policy.max_failures = max_failures;
    let mut world = World::new(spec);
    world.begin(Begin::default());
    let mut acceptor_was_last = false;
    while let Some(effect) = world.machine.effect() {
        match &effect {
            Effect::RunTurn(plan) => {
                acceptor_was_last = plan.agent == 1;
                let turn =
                    if acceptor_was_last { failed(FailureKind::Transient) } else { world.goes_well(plan) };
                world.script = [turn].into();
                world.step();
            }
            Effect::InspectWork(query) => {
                let mut facts = world.facts(query);
                if acceptor_was_last {
                    change(&mut facts);
                }
                world.input(&Input::Inspected(facts), Some(&effect));
            }
            _ => {
                world.step();
            }
        }
        assert!(world.turns.len() < 100, "the Developer's budget is burnt: {}", world.order());
    }
    world
}

#[test]
fn l8_an_acceptor_that_fails_for_ever_ends_it_whatever_it_leaves_behind() {
    let meddles: [Change; 2] =
        [|facts| facts.dirty = vec!["half.txt".into()], |facts| facts.tip = Some(oid(0xabc_def0))];
    for change in meddles {
        let world = fails_and_meddles(change, 3);
        assert_eq!(world.end(), (Outcome::Failed, StopReason::Failures, 1, 0, 0), "{}", world.order());
        assert_eq!(world.order(), "D1 A1 D1 A1 D1 A1");
    }
}

#[test]
fn l8_clean_ups_of_a_round_have_an_end_where_failures_have_none() {
    for change in
        [(|facts| facts.dirty = vec!["half.txt".into()]) as Change, |facts| facts.tip = Some(oid(0xabc_def0))]
    {
        let world = fails_and_meddles(change, 0);
        assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 3, 0, 3), "{}", world.order());
        assert_eq!(world.order().split(' ').filter(|turn| *turn == "D1").count(), 4, "{}", world.order());
        let reason = crate::context::faults(&world.records()[0].faults).unwrap();
        assert!(reason.starts_with("the work was not as reported 4 times"), "{reason}");
    }
}
