//! Whatever is offered at a pause is taken (M10).

use super::world::*;
use crate::engine::machine::{Begin, Input};
use crate::event::{Choice, Command, Event, Needs, Outcome, StopReason};
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

/// Does what is offered, and says how many turns were had since.
fn take(choice: &Choice, world: World) -> (World, usize) {
    let before = world.turns.len();
    let give = |mut world: World, wanted: Command| {
        world.input(&Input::Command(command(wanted)), None);
        world
    };
    let world = match choice {
        Choice::Tell => give(world, Command::Tell { text: "words".into(), standing: true }).resume(&[]),
        Choice::Resume => world.resume(&[]),
        Choice::ResumeUnproven => {
            let mut world = world;
            world.machine = fold(&world.spec, &world.journal);
            let proof = Some(ProofPolicy { at: ProofAt::Workspace, ..world.spec.policy.proof.clone() });
            world.begin(Begin { proof, ..Begin::default() });
            world.drive();
            world
        }
        Choice::ResumeWithRounds { rounds } => world.resume(&[set("rounds", &rounds.to_string())]),
        Choice::AddRounds { rounds } => give(world, set("rounds", &format!("+{rounds}"))).resume(&[]),
        Choice::Approve => world.resume(&[Command::Approve { choice: None }]),
        Choice::Reject => world.resume(&[Command::Reject { reason: None }]),
        Choice::Abandon => world.resume(&[Command::Abandon]),
        Choice::Answer | Choice::Kill | Choice::Offered { .. } => panic!("nobody offers {choice:?}"),
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
        assert_eq!(tag(&asked.kind), kind, "{asked:?}");
        assert!(asked.choices.len() >= 3, "{asked:?}");
        for choice in &asked.choices {
            let (world, turns) = take(choice, pause());
            let (outcome, reason, ..) = world.end();
            if *choice == Choice::Abandon {
                assert_eq!(
                    (outcome, reason, turns),
                    (Outcome::Cancelled, StopReason::Abandoned, 0),
                    "{kind}: {choice:?}"
                );
                continue;
            }
            let approved = *choice == Choice::Approve;
            assert!(turns > 0 || approved, "{kind}: {choice:?} starts nothing: {outcome:?}");
            // Who says no in a review is asked again when it is accepted again; nobody else is.
            let again = tag(&needs(&world).kind) == kind && outcome == Outcome::Paused && kind != "review";
            assert!(approved || !again, "{kind}: {choice:?} is asked again");
            if approved {
                assert!(world.machine.accepted > 0, "{kind}: {choice:?} accepts nothing");
            }
        }
    }
}
