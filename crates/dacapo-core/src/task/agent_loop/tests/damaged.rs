//! Journals with lines missing, doubled or out of order: whoever takes the task up still comes to an end.

use proptest::prelude::*;

use super::properties::{any_spec, live};
use super::specs::iter;
use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input};
use crate::event::{Command, Envelope, Event, Outcome};
use crate::task::damaged_journal::damage;

/// Takes the task up from what is left of its journal. Whatever is done next must lead somewhere else.
fn take_up(world: &World, journal: &[Envelope], orders: &[Command]) -> World {
    let spec = (*world.spec).clone();
    let mut world = World::new(spec);
    world.machine = fold(&world.spec, journal);
    world.begin(Begin::default());
    for order in orders {
        world.input(&Input::Command(command(order.clone())), None);
    }
    let mut in_row = 0;
    while let Some(effect) = world.machine.effect() {
        assert!(world.journal.len() < 5_000, "the loop does not end");
        if let Some(input) = world.perform(&effect) {
            world.input(&input, Some(&effect));
        }
        // Some effects only ask for the time, for one reason after another.
        in_row = if world.machine.effect().as_ref() == Some(&effect) { in_row + 1 } else { 0 };
        assert!(in_row < 10, "goes round for ever: {effect:?}");
    }
    world
}

#[test]
fn r4_a_turn_whose_iteration_was_never_seen_to_begin_is_not_run_for_ever() {
    let world = World::new(iter(3)).run();
    let started = world.journal.iter().position(|line| matches!(line.event, Event::IterationStarted { .. }));
    let begun = started.expect("an iteration began");
    let mut journal = world.journal[..=begun + 2].to_vec();
    journal.remove(begun);

    let killed = take_up(&world, &journal, &[Command::Kill]);
    assert_eq!(killed.result().outcome, Outcome::Cancelled);
    assert!(killed.turns.is_empty(), "a killed task starts no turn");

    let resumed = take_up(&world, &journal, &[]);
    assert_eq!(resumed.turns.len(), 3, "as many turns as were asked for");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r4_a_damaged_journal_keeps_no_loop_from_ending(
        spec in any_spec(),
        entropy in proptest::collection::vec(any::<u8>(), 0..200),
        wounds in proptest::collection::vec(any::<(u8, u16)>(), 1..4),
        kill in any::<bool>(),
    ) {
        let world = live(spec, entropy);
        let journal = damage(&world.journal, &wounds);
        let orders: &[Command] = if kill { &[Command::Kill] } else { &[] };
        let after = take_up(&world, &journal, orders);
        if kill {
            let started = after.because.iter().flatten().filter(|effect| matches!(effect, Effect::RunTurn(_)));
            prop_assert_eq!(started.count(), 0, "a killed task starts no turn");
        }
    }
}
