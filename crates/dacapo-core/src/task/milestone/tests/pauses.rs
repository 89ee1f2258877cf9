//! Whatever is offered at a pause is taken as it is printed (M10).

use super::world::*;
use crate::engine::machine::{Begin, Input};
use crate::event::{Command, Event, Needs, Outcome, StopReason};
use crate::spec::{Cap, ProofAt, ProofPolicy};

fn needs(world: &World) -> Needs {
    let mut asked = world.journal.iter().rev().filter_map(|line| match &line.event {
        Event::Paused { needs } => Some(needs.clone()),
        _ => None,
    });
    asked.next().expect("a person was asked")
}

fn by_a_person() -> World {
    let script = [report(1, "F-1"), no("a")];
    let pause = Input::Command(command(Command::Pause { now: false }));
    World::new(spec()).script(&script).during(1, pause).run()
}

fn rejected() -> World {
    let script = [report(1, "F-1"), no("a"), report(2, "F-1"), no("b"), report(3, "F-1"), no("c")];
    World::new(spec()).script(&script).run()
}

fn settled() -> World {
    let no = |items: &str| says(&format!("REJECTED: see below\n{items}"));
    let script = [
        report(1, "F-1"),
        no("- a\n- b"),
        report(2, "F-1"),
        no("- [R2] b"),
        report(3, "F-1"),
        no("- [R1] a"),
        no("- [R1] a!"),
    ];
    World::new(spec()).script(&script).run()
}

fn rejected_as_a_whole() -> World {
    let script: Vec<Turn> = (1..=3).flat_map(|round| [complete(round), no("a")]).collect();
    let world = World::new(spec()).script(&script);
    let world = world.inspect(|_, facts| {
        (facts.head, facts.tip) = (Some(oid(1)), Some(oid(1)));
    });
    world.run()
}

fn out_of_rounds() -> World {
    let mut spec = spec();
    spec.policy.cap = Some(Cap::by_iter(1));
    World::new(spec).script(&[report(1, "F-1"), no("a")]).run()
}

fn in_review() -> World {
    let mut details = details();
    details.requires_human_review = true;
    World::new(with(&details)).script(&[complete(1), yes()]).run()
}

fn main_moved() -> World {
    let mut spec = spec();
    spec.base_branch = Some("refs/heads/main".into());
    let mut looks = 0;
    let world = World::new(spec).script(&[report(1, "F-1"), no("a")]).inspect(move |_, facts| {
        looks += 1;
        if looks == 2 {
            facts.main_moved = vec!["0000fee feat: it".into()];
        }
    });
    world.run()
}

fn red_proofs() -> World {
    let mut world = World::new(super::proof::in_worktree()).script(&[complete(1), complete(2)]);
    world.proof_codes = [1, 1].into();
    world.run()
}

/// Does what is printed, and says how many turns were had since.
fn take(option: &str, world: World) -> (World, usize) {
    let before = world.turns.len();
    let words: Vec<&str> = option.split(' ').collect();
    let give = |mut world: World, wanted: Command| {
        world.input(&Input::Command(command(wanted)), None);
        world
    };
    let world = match words.as_slice() {
        ["dacapo", "tell", "auth", _] => {
            give(world, Command::Tell { text: "words".into(), standing: true }).resume(&[])
        }
        ["dacapo", "resume", "auth"] => world.resume(&[]),
        ["dacapo", "resume", "auth", "--proof", "workspace"] => {
            let mut world = world;
            world.machine = fold(&world.spec, &world.journal);
            let proof = Some(ProofPolicy { at: ProofAt::Workspace, ..world.spec.policy.proof.clone() });
            world.begin(Begin { proof, ..Begin::default() });
            world.drive();
            world
        }
        ["dacapo", "milestone", "resume", "auth", "--rounds", rounds] => {
            world.resume(&[set("rounds", rounds)])
        }
        ["dacapo", "set", "auth", change] => {
            let (key, value) = change.split_once('=').unwrap();
            give(world, set(key, value)).resume(&[])
        }
        ["dacapo", "approve", "auth"] => world.resume(&[Command::Approve { choice: None }]),
        ["dacapo", "reject", "auth"] => world.resume(&[Command::Reject { reason: None }]),
        ["dacapo", "milestone", "abandon", "auth"] => world.resume(&[Command::Abandon]),
        other => panic!("nobody can do {other:?}"),
    };
    let turns = world.turns.len() - before;
    (world, turns)
}

#[test]
fn m10_every_answer_that_is_offered_at_any_pause_is_taken() {
    type Pause = fn() -> World;
    let pauses: [(&str, Pause); 8] = [
        ("resume", by_a_person),
        ("rejections", rejected),
        ("settled", settled),
        ("final", rejected_as_a_whole),
        ("rounds", out_of_rounds),
        ("review", in_review),
        ("main", main_moved),
        ("proof", red_proofs),
    ];
    for (kind, pause) in pauses {
        let asked = needs(&pause());
        assert_eq!(asked.kind, kind, "{}", asked.question);
        assert!(asked.options.len() >= 3, "{asked:?}");
        for option in &asked.options {
            let (world, turns) = take(option, pause());
            let (outcome, reason, ..) = world.end();
            if option.ends_with("abandon auth") {
                assert_eq!(
                    (outcome, reason, turns),
                    (Outcome::Cancelled, StopReason::Abandoned, 0),
                    "{kind}: {option}"
                );
                continue;
            }
            let approved = option.starts_with("dacapo approve");
            assert!(turns > 0 || approved, "{kind}: {option} starts nothing: {outcome:?}");
            // Who says no in a review is asked again when it is accepted again; nobody else is.
            let again = needs(&world).kind == kind && outcome == Outcome::Paused && kind != "review";
            assert!(approved || !again, "{kind}: {option} is asked again");
            if approved {
                assert!(world.machine.accepted > 0, "{kind}: {option} accepts nothing");
            }
        }
    }
}
