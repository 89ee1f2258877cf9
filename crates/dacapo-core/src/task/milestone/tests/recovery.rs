//! After a crash: the tree first, then the round where it was; none lost, none counted twice (M9).

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine};
use crate::event::{Command, Event, Outcome, StopReason, TurnEnd};
use crate::task::milestone::MilestoneStep;

/// Everything up to the nth line of a run that goes well, in a process that dies there.
fn cut(of: &World, at: usize) -> World {
    let mut world = World::new((*of.spec).clone());
    for (line, because) in of.journal[..at].iter().zip(&of.because) {
        world.machine.apply(line);
        world.journal.push(line.clone());
        world.because.push(because.clone());
        world.now = line.at;
        world.active = std::time::Duration::from_millis(line.elapsed_ms);
    }
    world
}

#[test]
fn m9_killed_at_any_line_no_round_is_lost_or_counted_twice() {
    let script = [report(1, "F-1"), no("a"), says("bad"), report(2, "F-1"), says("Hm"), yes()];
    let whole = World::new(spec()).script(&script).run();
    assert_eq!(whole.end(), (Outcome::Completed, StopReason::Promise, 5, 4, 1));
    for at in 1..whole.journal.len() {
        // The turn in flight did not come to its end.
        let mut world = cut(&whole, at);
        let in_turn = matches!(world.machine.effect(), Some(Effect::RunTurn(_)));
        if in_turn {
            world.script = [ends(TurnEnd::Interrupted)].into();
        }
        let world = world.resume(&[]);
        let (outcome, _, rounds, accepted, rejected) = world.end();
        assert_eq!((outcome, rounds, accepted + rejected), (Outcome::Completed, rounds, rounds), "line {at}");
        assert_eq!(accepted, 4, "line {at}");
        let numbers: Vec<u32> = world.records().iter().map(|record| record.iteration).collect();
        assert_eq!(numbers, (0..rounds).collect::<Vec<_>>(), "line {at}");
    }
}

#[test]
fn m9_who_goes_on_is_told_what_the_project_remembers_by_now() {
    for (memory, told) in
        [("A newer memory.", Some("<project_memory>\nA newer memory.\n</project_memory>")), ("", None)]
    {
        let mut world = World::new(spec());
        world.begin(Begin::default());
        assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 2)));
        world.script = [ends(TurnEnd::Interrupted)].into();
        let world = world.resume(&[Command::Remember { memory: memory.to_owned() }]);
        for prompt in [world.prompt(3), world.prompt(4)] {
            assert!(!prompt.contains("A memory."), "{prompt}");
            assert_eq!(prompt.contains("<project_memory>"), told.is_some(), "{prompt}");
            assert!(told.is_none_or(|told| prompt.contains(told)), "{prompt}");
        }
    }
}

#[test]
fn m9_both_are_told_that_they_were_interrupted_and_what_was_done() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 2)));
    world.script = [ends(TurnEnd::Interrupted)].into();
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..14], "D1 A1 D2 D2 A2");
    for turn in [3, 4] {
        let told = world.prompt(turn);
        assert!(told.contains("## After an interruption\n"), "{told}");
        assert!(told.contains("Round 1 had been finished."), "{told}");
        assert!(told.contains("A memory."), "{told}");
    }
    assert!(world.prompt(3).contains("0001001 feat: it"), "the log: {}", world.prompt(3));
    assert!(!world.prompt(5).contains("interrupt"), "once each");
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m9_a_turn_that_was_on_record_and_not_had_says_it_too() {
    for turn in [2_usize, 3] {
        let mut world = World::new(spec());
        world.begin(Begin::default());
        assert!(
            world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn as usize == turn))
        );
        let world = world.resume(&[]);
        assert_eq!(world.order(), "D1 A1 D2 A2 D3 A3 D4 A4");
        for turn in [turn, turn + 1] {
            let told = world.prompt(turn);
            for part in ["## After an interruption\n", "A memory.", "feat: it"] {
                assert_eq!(told.matches(part).count(), 1, "{part} in {told}");
            }
        }
    }
}

#[test]
fn m9_dead_before_it_could_ask_it_asks_when_it_is_taken_up() {
    let thrice = [report(1, "F-1"), no("a"), report(2, "F-1"), no("b"), report(3, "F-1"), no("c")];
    let insists = "REJECTED: still\n- [R1] a\nC-1: not met";
    let settled = [
        report(1, "F-1"),
        says("REJECTED: a\n- a"),
        report(2, "F-1"),
        yes(),
        report(3, "F-2"),
        says(insists),
    ];
    for script in [thrice.to_vec(), [&settled[..], &[says(insists)]].concat()] {
        let whole = World::new(spec()).script(&script).run();
        assert_eq!(whole.end().0, Outcome::Paused);
        let asked = whole.question();
        let third = whole.journal.iter().position(
            |line| matches!(&line.event, Event::IterationFinished(record) if record.iteration == 2),
        );
        for at in third.unwrap() + 1..whole.journal.len() {
            let world = cut(&whole, at).resume(&[]);
            assert_eq!((world.end(), world.question()), (whole.end(), asked.clone()), "line {at}");
            assert_eq!(world.turns.len(), 0, "line {at}");
            // Who speaks has seen it, and is heard.
            let begin = Begin { follow_up: Some("Do it.".into()), ..Begin::default() };
            let mut world = cut(&whole, at);
            world.begin(begin);
            world.drive();
            assert_eq!(world.end().0, Outcome::Completed, "line {at}");
        }
        assert_eq!(whole.resume(&[]).end().0, Outcome::Completed);
    }
}

#[test]
fn m9_a_dirty_tree_is_the_developers_first_business() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 2)));
    world.script = [ends(TurnEnd::Interrupted)].into();
    let mut looks = 0;
    let world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.dirty = vec!["half.rs".into()];
            facts.branch = Some("refs/heads/main".into());
        }
    });
    let mut world = world;
    world.script.extend([says("undone, and here is no report")]);
    world
        .input(&Input::Command(command(Command::Tell { text: "mind the gap".into(), standing: true })), None);
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..17], "D1 A1 D2 D2 D2 A2");
    let told = world.prompt(3);
    assert!(told.contains("## First put the tree in order\n\n- HEAD is on main: go back to milestone/auth.\n- These paths are not committed; commit or undo them:\n\n```\nhalf.rs\n```\n"), "{told}");
    assert!(
        told.contains("Only put the tree in order") && told.contains("no report is asked for now"),
        "{told}"
    );
    assert!(!told.contains("## Your reply") && !told.contains("mind the gap"), "{told}");
    let next = world.prompt(4);
    for part in [
        "## After an interruption\n",
        "A memory.",
        "mind the gap",
        "Implement the next feature",
        "## Your reply",
    ] {
        assert!(next.contains(part), "{part}: {next}");
    }
    assert!(!next.contains("First put the tree"), "{next}");
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

/// Interrupted between two rounds, or in the Developer's turn, with a tree that is dirty for so many looks.
fn dirty_for(looks: u32, turn: u32, script: &[Turn]) -> World {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == turn)));
    world.script = std::iter::once(ends(TurnEnd::Interrupted)).chain(script.iter().cloned()).collect();
    let mut seen = 0;
    let world = world.inspect(move |_, facts| {
        seen += 1;
        if seen <= looks {
            facts.dirty = vec!["half.rs".into()];
        }
    });
    world.resume(&[])
}

#[test]
fn m9_a_clean_up_is_judged_by_the_tree_alone() {
    for reply in ["done", "", "## Implementation Report — Round 2", "REJECTED: no"] {
        let world = dirty_for(1, 2, &[says(reply)]);
        assert_eq!(&world.order()[..17], "D1 A1 D2 D2 D2 A2", "{reply}");
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0), "{reply}");
    }
    // Once more it is told what is still there; what a report may get wrong is not used up by that.
    let world = dirty_for(2, 2, &[says("done"), says("now"), says("no report"), report(2, "F-2")]);
    assert_eq!(&world.order()[..23], "D1 A1 D2 D2 D2 D2 D2 A2");
    assert!(world.prompt(4).contains("the tree is not clean: commit or undo half.rs"), "{}", world.prompt(4));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    let world = dirty_for(3, 2, &[says("done"), says("really")]);
    let error = crate::context::faults(&world.records()[1].faults).unwrap();
    assert_eq!(
        error,
        "the tree was not put in order in 2 turns: the tree is not clean: commit or undo half.rs"
    );
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 5, 4, 1));
}

#[test]
fn m9_between_two_rounds_the_next_one_begins_with_the_clean_up() {
    let pause = Input::Command(command(Command::Pause { now: false }));
    let mut world = World::new(spec()).during(1, pause).run();
    world.script = [says("undone")].into();
    let mut looks = 0;
    let world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.dirty = vec!["half.rs".into()];
        }
    });
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..14], "D1 A1 D2 D2 A2");
    assert!(world.prompt(2).contains("Only put the tree in order"), "{}", world.prompt(2));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m9_what_somebody_else_put_in_order_needs_no_turn() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 2)));
    world.script = [ends(TurnEnd::Interrupted)].into();
    let mut looks = 0;
    let mut world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.dirty = vec!["half.rs".into()];
        }
    });
    world.machine = fold(&world.spec, &world.journal);
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::BeginTurn(_))));
    // Killed again before the turn; a person has cleaned up meanwhile.
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..11], "D1 A1 D2 D2");
    assert!(!world.prompt(3).contains("Only put the tree in order"), "{}", world.prompt(3));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

/// Killed at any line of a recovery that has a clean-up in it, twice over.
#[test]
fn m9_killed_at_any_line_of_a_clean_up_no_round_is_lost_or_counted_twice() {
    let whole = dirty_for(2, 2, &[says("done"), says("now"), says("no report"), report(2, "F-2")]);
    for at in 1..whole.journal.len() {
        for dirty in [0, 1, 3] {
            let mut world = cut(&whole, at);
            if matches!(world.machine.effect(), Some(Effect::RunTurn(_))) {
                world.script = [ends(TurnEnd::Interrupted)].into();
            }
            let mut looks = 0;
            let world = world.inspect(move |_, facts| {
                looks += 1;
                if looks <= dirty {
                    facts.dirty = vec!["half.rs".into()];
                }
            });
            let world = world.resume(&[]);
            let (outcome, _, rounds, accepted, rejected) = world.end();
            assert_eq!(
                (outcome, accepted, accepted + rejected),
                (Outcome::Completed, 4, rounds),
                "line {at}, {dirty}"
            );
            let numbers: Vec<u32> = world.records().iter().map(|record| record.iteration).collect();
            assert_eq!(numbers, (0..rounds).collect::<Vec<_>>(), "line {at}, {dirty}");
        }
    }
}

/// Interrupted in the Acceptor's first turn; the tree is dirty then, and as `later` says when it was looked at again.
fn dirty_before_the_acceptor(
    later: fn(u32, &mut crate::engine::machine::WorkFacts),
    script: &[Turn],
) -> World {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 1)));
    world.script = std::iter::once(ends(TurnEnd::Interrupted)).chain(script.iter().cloned()).collect();
    let mut looks = 0;
    let world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.dirty = vec!["half.rs".into()];
        } else {
            later(looks, facts);
        }
    });
    world.resume(&[])
}

#[test]
fn m9_the_developer_cleans_up_before_the_acceptor_goes_on() {
    let world = dirty_before_the_acceptor(|_, _| {}, &[says("undone")]);
    assert_eq!(&world.order()[..11], "D1 A1 D1 A1");
    assert!(world.prompt(2).contains("Only put the tree in order"), "{}", world.prompt(2));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    assert_eq!(
        world.checks.len(),
        6,
        "the report of the round still stands, what there is now is checked, and in the end proven"
    );
}

#[test]
fn m9_what_was_committed_on_the_way_is_reported_anew() {
    let moved = |looks: u32, facts: &mut crate::engine::machine::WorkFacts| {
        if looks == 2 {
            facts.log.insert(0, "abcdef0 fix: leftovers".into());
        }
    };
    let world = dirty_before_the_acceptor(moved, &[says("committed"), report(1, "F-1")]);
    assert_eq!(&world.order()[..14], "D1 A1 D1 D1 A1");
    assert!(world.prompt(3).contains("report again"), "{}", world.prompt(3));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m9_commits_of_a_clean_up_that_was_cut_short_are_reported_anew_too() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 1)));
    world.script = [ends(TurnEnd::Interrupted)].into();
    let mut looks = 0;
    let mut world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.dirty = vec!["half.rs".into()];
        } else {
            facts.log.insert(0, "abcdef0 fix: leftovers".into());
            (facts.head, facts.tip) = (Some(oid(0xabc)), Some(oid(0xabc)));
        }
    });
    world.machine = fold(&world.spec, &world.journal);
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 2)));
    // It had committed what was left, and died.
    world.script = [ends(TurnEnd::Interrupted), says("all in order"), report(1, "F-1")].into();
    let world = world.resume(&[]);
    assert_eq!(&world.order()[..17], "D1 A1 D1 D1 D1 A1");
    assert!(world.prompt(4).contains("report again"), "{}", world.prompt(4));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m9_a_lock_that_a_killed_git_left_is_named() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 2)));
    world.script = [ends(TurnEnd::Interrupted)].into();
    let mut looks = 0;
    let world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.locks = vec!["/x/.git/index.lock".into()];
        }
    });
    let world = world.resume(&[]);
    let told = world.prompt(3);
    assert!(told.contains("## First put the tree in order\n\n- a git that was killed left /x/.git/index.lock: remove it, or git refuses to commit\n"), "{told}");
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m9_a_tree_that_stays_dirty_is_a_rejection() {
    let stays = |looks: u32, facts: &mut crate::engine::machine::WorkFacts| {
        if looks <= 3 {
            facts.dirty = vec!["half.rs".into()];
        }
    };
    let world = dirty_before_the_acceptor(stays, &[says("done"), says("done")]);
    assert_eq!(&world.order()[..17], "D1 A1 D1 D1 D2 A2");
    assert_eq!(
        crate::context::faults(&world.records()[0].faults).as_deref(),
        Some("the tree was not put in order in 2 turns: the tree is not clean: commit or undo half.rs")
    );
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 5, 4, 1));
}

#[test]
fn m9_a_turn_whose_end_is_on_file_is_not_had_again() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 1)));
    let world = world.resume(&[]);
    assert_eq!(world.order(), "D1 A1 D2 A2 D3 A3 D4 A4");
    let looked =
        world.steps().iter().filter(|step| matches!(step, MilestoneStep::TreeLookedAt { .. })).count();
    assert_eq!(looked, 1, "before the next turn");
}

#[test]
fn a_stopped_one_starts_no_turn_whoever_asks() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::BeginTurn(_))));
    world.input(&Input::Command(command(Command::Kill)), None);
    let lines = world.journal.len();
    world.input(&Input::TurnBegins { head: None, session: None }, None);
    assert_eq!(world.journal.len(), lines);
    world.drive();
    assert!(!world.journal.iter().any(|line| matches!(line.event, Event::TurnStarted { .. })));
}

/// Stopped while the second check of round 1 ran; the tree is as `change` says when it is taken up.
fn stopped_in_a_check(
    stop: Option<Command>,
    change: fn(&mut crate::engine::machine::WorkFacts),
    script: &[Turn],
) -> World {
    let mut spec = spec();
    spec.policy.checks = vec!["make lint".into(), "make test".into()];
    let mut world = World::new(spec);
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunCheck(plan) if plan.index == 1)));
    if let Some(stop) = stop {
        world.input(&Input::Command(command(stop)), None);
        world.drive();
    }
    world.checks.clear();
    world.script = script.iter().cloned().collect();
    let mut looks = 0;
    let world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            change(facts);
        }
    });
    world.resume(&[])
}

fn stops() -> [Option<Command>; 3] {
    [None, Some(Command::Kill), Some(Command::Pause { now: true })]
}

#[test]
fn m9_a_check_that_was_cut_short_runs_again_only_on_what_was_reported() {
    for stop in stops() {
        let dirty = |facts: &mut crate::engine::machine::WorkFacts| facts.dirty = vec!["mine.rs".into()];
        let world = stopped_in_a_check(stop, dirty, &[says("undone")]);
        assert_eq!(&world.order()[..8], "D1 D1 A1", "the tree comes first");
        assert!(world.prompt(1).contains("Only put the tree in order"), "{}", world.prompt(1));
        assert!(world.prompt(1).contains("mine.rs"), "{}", world.prompt(1));
        let indices: Vec<u32> = world.checks.iter().take(2).map(|check| check.index).collect();
        assert_eq!(indices, [0, 1], "all of them, on the clean tree");
        assert_eq!(world.records()[0].checks.len(), 2);
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    }
}

#[test]
fn m9_commits_that_came_while_a_check_was_cut_short_are_reported_anew() {
    for stop in stops() {
        let moved = |facts: &mut crate::engine::machine::WorkFacts| facts.tip = Some(oid(0xabc_def0));
        let world = stopped_in_a_check(stop, moved, &[]);
        assert_eq!(&world.order()[..8], "D1 D1 A1");
        assert!(world.prompt(1).contains("is at abcdef0, but was at 0001001"), "{}", world.prompt(1));
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    }
}

#[test]
fn m9_in_a_tree_that_is_in_order_the_checks_go_on() {
    for stop in stops() {
        let world = stopped_in_a_check(stop, |_| {}, &[]);
        assert_eq!(&world.order()[..8], "D1 A1 D2");
        assert_eq!(world.checks[0].index, 1);
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    }
}
