//! A main branch that is not where a person's work leaves it: no agent is told to move it, a person is asked (M2).

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::WorkFacts;
use crate::engine::machine::{Begin, Effect, Input, WorkQuery};
use crate::event::{Command, MainBranch, NeedKind, Outcome, StopDetail, StopReason};
use crate::task::milestone::MilestoneStep;

const MAIN: &str = "refs/heads/main";

fn beside_main() -> crate::spec::TaskSpec {
    crate::spec::TaskSpec { base_branch: Some(MAIN.into()), ..spec() }
}

#[test]
fn m2_main_is_asked_about_from_where_it_was_last_seen() {
    let mut asked = Vec::new();
    let mut world = World::new(beside_main());
    world.begin(Begin::default());
    while let Some(effect) = world.machine.effect() {
        if let Effect::InspectWork(query) = &effect {
            asked.push(query.main_was.clone());
            let mut facts = world.facts(query);
            // Somebody commits on main in another checkout: nobody's fault.
            facts.main = Some(oid(asked.len() as u32));
            world.input(&Input::Inspected(facts), Some(&effect));
        } else {
            world.step();
        }
        if world.machine.finished == 1 {
            break;
        }
    }
    assert_eq!(asked, [Some(oid(0xba5e)), Some(oid(1))]);
    let pause = Input::Command(command(Command::Pause { now: true }));
    let world = World::new(beside_main()).during(2, pause).run();
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let log = std::rc::Rc::clone(&seen);
    let world = world.inspect(move |query, _| log.borrow_mut().push(query.main_was.clone())).resume(&[]);
    assert_eq!(seen.borrow()[0], None, "whoever took it up may have merged it");
    assert_eq!(seen.borrow()[1], Some(oid(0xba5e)));
    assert_eq!(world.result().outcome, Outcome::Completed);
}

type Change = fn(&mut WorkFacts);

/// Main has moved for whoever looks the nth time, from 0; who looks again from there finds nothing new.
fn found(at: usize, change: Change) -> impl FnMut(&WorkQuery, &mut WorkFacts) {
    let mut looks = 0;
    move |_, facts| {
        if looks == at {
            change(facts);
        }
        looks += 1;
    }
}

type Found = fn(&mut MainBranch);

const ODD: [(Change, Found); 3] = [
    (
        |facts| {
            facts.main = Some(oid(0xfee));
            facts.main_moved = vec!["0000fee feat: it".into()];
        },
        |found| found.commits = vec!["0000fee feat: it".into()],
    ),
    (|facts| (facts.main, facts.main_lost) = (None, true), |found| (found.now, found.lost) = (None, true)),
    (|facts| (facts.main, facts.main_lost) = (Some(oid(0xfee)), true), |found| found.lost = true),
];

fn branch(change: Found) -> MainBranch {
    let mut found = MainBranch {
        branch: Some("main".into()),
        since_round: 1,
        was: Some(oid(0xba5e)),
        now: Some(oid(0xfee)),
        lost: false,
        commits: Vec::new(),
    };
    change(&mut found);
    found
}

#[test]
fn m2_where_main_is_not_as_it_should_be_a_person_is_asked_and_no_agent() {
    // After the report, and after the verdict.
    for look in [0, 1] {
        for (change, so) in ODD {
            let world = World::new(beside_main()).inspect(found(look, change)).run();
            assert_eq!(world.question(), NeedKind::Main { found: Some(branch(so)) });
            let rounds = u32::try_from(look).unwrap();
            assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 1, rounds, 0));
            assert_eq!(world.order(), ["D1", "D1 A1"][look], "what was said is taken in, and nothing begun");
            let world = world.resume(&[]);
            assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
            assert_eq!(world.order(), "D1 A1 D2 A2 D3 A3 D4 A4");
            for turn in &world.turns {
                assert!(!turn.prompt.contains("update-ref"), "{}", turn.prompt);
                assert!(!turn.prompt.contains("was it you"), "{}", turn.prompt);
            }
        }
    }
}

#[test]
fn m2_dead_before_it_could_ask_about_main_it_asks_when_it_is_taken_up() {
    let (change, so) = ODD[0];
    let whole = World::new(beside_main()).inspect(found(0, change)).run();
    let moved = whole
        .journal
        .iter()
        .position(|line| matches!(MilestoneStep::of(&line.event), Some(MilestoneStep::MainMoved { .. })))
        .unwrap();
    for at in moved + 1..whole.journal.len() - 1 {
        let mut world = World::new(beside_main());
        world.journal = whole.journal[..at].to_vec();
        world.because = whole.because[..at].to_vec();
        let world = world.resume(&[]);
        assert_eq!(world.question(), NeedKind::Main { found: Some(branch(so)) }, "line {at}");
        assert_eq!(world.turns.len(), 0, "line {at}");
        assert_eq!(world.resume(&[]).result().outcome, Outcome::Completed);
    }
}

#[test]
fn m5_a_milestone_that_is_complete_says_what_became_of_main() {
    let (change, so) = ODD[1];
    let script = [complete(1), yes()];
    let world = World::new(beside_main()).script(&script).inspect(found(1, change)).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
    assert_eq!(world.result().detail, Some(StopDetail::Main(branch(so))));
    let mut reviewed = details();
    reviewed.requires_human_review = true;
    let spec = crate::spec::TaskSpec { base_branch: Some(MAIN.into()), ..with(&reviewed) };
    let world = World::new(spec).script(&script).inspect(found(1, change)).run();
    assert_eq!(world.question(), NeedKind::Review { found: Some(branch(so)) });
}

#[test]
fn m2_who_paused_it_meanwhile_is_told_of_main_too() {
    let (change, so) = ODD[2];
    let pause = Input::Command(command(Command::Pause { now: true }));
    let mut world = World::new(beside_main());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::InspectWork(_))));
    world.input(&pause, None);
    let mut world = world.inspect(found(0, change));
    world.drive();
    assert_eq!(world.question(), NeedKind::Main { found: Some(branch(so)) });
}
