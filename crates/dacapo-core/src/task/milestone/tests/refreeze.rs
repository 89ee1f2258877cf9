//! Other criteria while it is under way (M11).

use super::definitions::AUTH;
use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input};
use crate::event::{Command, Outcome, StopReason, TurnEnd};
use crate::task::milestone::MilestoneStep;
use crate::task::milestone::{Definition, Frozen};

fn refreeze(text: &str) -> Command {
    Command::Refreeze { definition: text.into() }
}

/// The first feature is gone, the second one the first, the last one accepted by something; there is a new criterion.
fn other() -> String {
    AUTH.replace("- Login. Accept: POST /login returns a token\n", "")
        .replace("F-2: Logout", "F-1: Logout")
        .replace(
            "* [ ] **F-3** Rate limit\n  five tries a minute",
            "- Rate limit\n  five tries a minute\n  Accept: 429",
        )
        .replace("2. C-2: nothing", "2. docs\n3. nothing")
}

/// Paused after the first two rounds, both accepted.
fn paused() -> World {
    let pause = Input::Command(command(Command::Pause { now: false }));
    World::new(spec()).during(2, pause).run()
}

const CHANGES: [&str; 5] = [
    "- F-2 is F-1 now: Logout",
    "- F-2, Rate limit five tries a minute, is accepted by something else: 429",
    "- the old F-1 is gone: Login.",
    "- C-2 is new: docs",
    "- C-2 is C-3 now: nothing is logged that is secret",
];

#[test]
fn m11_what_is_held_to_is_replaced_and_what_is_the_same_stays_done() {
    let world = paused();
    assert_eq!(world.machine.done, [true, true, false]);
    let mut world = world;
    world.script =
        [report(3, "F-2"), yes(), complete(4), says("ACCEPTED\nC-1: met\nC-2: met\nC-3: met\n")].into();
    let world = world.resume(&[refreeze(&other())]);
    let Some(MilestoneStep::Refrozen { definition, frozen, changes }) =
        world.steps().into_iter().find(|step| matches!(step, MilestoneStep::Refrozen { .. }))
    else {
        panic!("{:?}", world.steps())
    };
    assert_eq!((definition, frozen), (other(), Definition::parse(&other()).unwrap().frozen()));
    assert_eq!(changes[..], CHANGES);
    for turn in [4, 5] {
        let told = world.prompt(turn);
        assert!(told.contains("A person has changed what the milestone is held to"), "{told}");
        assert!(CHANGES.iter().all(|change| told.contains(change)), "{told}");
    }
    assert!(world.prompt(4).contains("F-1 (accepted): Logout"), "{}", world.prompt(4));
    assert!(world.prompt(4).contains("F-2 (not done): Rate limit"), "{}", world.prompt(4));
    assert!(world.prompt(5).contains("Accept: 429"), "{}", world.prompt(5));
    assert!(!world.prompt(6).contains("A person has changed"), "once: {}", world.prompt(6));
    assert!(world.prompt(7).contains("C-3: nothing is logged"), "{}", world.prompt(7));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m11_what_is_held_to_now_is_told_by_the_journal() {
    let world = paused().resume(&[refreeze(&other())]);
    let mut frozen = Frozen::of(&details());
    assert_eq!(frozen.differences(AUTH).unwrap(), Vec::<String>::new());
    assert_eq!(frozen.differences(&other()).unwrap()[..], CHANGES);
    assert!(frozen.differences("nonsense").is_err());
    for line in &world.journal {
        frozen.take_in(&line.event);
    }
    assert_eq!(frozen, Frozen { definition: other(), frozen: Definition::parse(&other()).unwrap().frozen() });
    assert!(frozen.differences(&other()).unwrap().is_empty());
    assert_eq!(frozen.differences(AUTH).unwrap().len(), 5);
}

#[test]
fn m11_what_was_asked_for_while_nobody_drove_it_counts_when_it_goes_on() {
    let mut world = paused();
    world.input(&Input::Command(command(refreeze(&other()))), None);
    assert_eq!(world.machine.effect(), None, "it stays paused");
    let mut frozen = Frozen::of(&details());
    world.journal.iter().for_each(|line| frozen.take_in(&line.event));
    assert_eq!(frozen.definition, other());
    let world = world.resume(&[]);
    assert!(world.prompt(4).contains("A person has changed"), "{}", world.prompt(4));
}

#[test]
fn m11_what_does_not_read_or_is_the_same_changes_nothing() {
    for text in ["nonsense", AUTH] {
        let world = paused().resume(&[refreeze(text)]);
        assert!(!world.steps().iter().any(|step| matches!(step, MilestoneStep::Refrozen { .. })), "{text}");
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    }
}

#[test]
fn m11_other_settings_are_taken_without_a_word() {
    let text = AUTH.replace("max_cost: 7.5", "max_cost: 9");
    let world = paused().resume(&[refreeze(&text)]);
    let changes = world.steps().into_iter().find_map(|step| match step {
        MilestoneStep::Refrozen { changes, .. } => Some(changes.clone()),
        _ => None,
    });
    assert_eq!(changes, Some(Vec::new()));
    assert!(!world.prompt(4).contains("What has happened"), "{}", world.prompt(4));
    assert!(world.prompt(4).contains("max_cost: 9"));
}

#[test]
fn m11_in_a_turn_it_waits_and_a_report_made_for_the_old_ones_is_asked_for_anew() {
    let wanted = Input::Command(command(refreeze(&AUTH.replace("returns a token", "returns a cookie"))));
    let world = World::new(spec()).during(0, wanted.clone()).run();
    assert_eq!(&world.order()[..11], "D1 D1 A1 D2");
    assert!(world.prompt(1).contains("has changed since your report"), "{}", world.prompt(1));
    assert!(world.prompt(2).contains("returns a cookie"), "{}", world.prompt(2));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    // The Acceptor was at work: its verdict counts for what it judged; the feature is another one now.
    let world = World::new(spec()).during(1, wanted).run();
    assert_eq!(&world.order()[..11], "D1 A1 D2 A2");
    assert!(world.prompt(2).contains("F-1 (not done)"), "{}", world.prompt(2));
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 5, 5, 0));
}

#[test]
fn m11_what_is_complete_or_in_review_is_open_again_by_other_criteria() {
    let text = AUTH.replace("Rate limit", "Lockout");
    for review in [false, true] {
        let mut details = details();
        details.requires_human_review = review;
        let world = World::new(with(&details)).run();
        assert_eq!(world.end().2, 4);
        let same = world.resume(&[refreeze(AUTH)]);
        assert_eq!(same.end().2, 4, "the same criteria open nothing");
        let world = same.resume(&[refreeze(&text)]);
        assert_eq!((world.end().2, world.end().3), (6, 6), "review {review}: the new feature, and the whole");
        let outcome = if review { Outcome::Paused } else { Outcome::Completed };
        assert_eq!(world.result().outcome, outcome);
    }
}

#[test]
fn m11_a_kill_wins_and_the_new_ones_wait() {
    let mut world = paused();
    world.machine = fold(&world.spec, &world.journal);
    world.begin(Begin::default());
    world.input(&Input::Command(command(Command::Kill)), None);
    world.input(&Input::Command(command(refreeze(&other()))), None);
    assert!(!matches!(world.machine.effect(), Some(Effect::Settle)));
    world.drive();
    assert_eq!(world.result().outcome, Outcome::Cancelled);
    assert!(world.resume(&[]).prompt(4).contains("A person has changed"));
}

#[test]
fn m11_overruling_after_other_criteria_marks_the_feature_that_was_meant() {
    let script = [report(1, "F-2"), no("a"), report(2, "F-2"), no("b"), report(3, "F-2"), no("c")];
    let mut world = World::new(spec()).script(&script).run();
    world.machine = fold(&world.spec, &world.journal);
    world.begin(Begin::default());
    world.input(&Input::Command(command(refreeze(&other()))), None);
    assert!(world.step(), "it is refrozen");
    world.input(&Input::Command(command(Command::Approve { choice: None })), None);
    assert_eq!(world.machine.done, [true, false]);
}

#[test]
fn m11_a_report_made_for_the_old_ones_is_asked_for_anew_also_behind_a_clean_up() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 1)));
    world.script = [ends(TurnEnd::Interrupted)].into();
    let mut looks = 0;
    let mut world = world.inspect(move |_, facts| {
        looks += 1;
        if looks == 1 {
            facts.dirty = vec!["half.rs".into()];
        }
    });
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::BeginTurn(start) if start.agent == 0)));
    world.input(&Input::Command(command(refreeze(&other()))), None);
    world.script = [report(1, "F-1")].into();
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunTurn(plan) if plan.turn == 3)));
    assert_eq!(world.order(), "D1 A1 D1");
    let told = world.prompt(2);
    assert!(told.contains("what the milestone is held to has changed since your report"), "{told}");
    assert!(told.contains("half.rs") && !told.contains("Only put the tree in order"), "{told}");
    let taken = world.steps().into_iter().filter(|step| matches!(step, MilestoneStep::ReportTaken { .. }));
    assert_eq!(taken.count(), 2, "the new one is what is judged");
}
