//! Journals with lines missing, doubled or out of order: whoever takes the milestone up still comes to an end.

use proptest::prelude::*;

use super::properties::{any_spec, live};
use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input};
use crate::event::{Command, Envelope};
use crate::task::damaged_journal::damage;

/// Takes the milestone up from what is left of its journal. Whatever is done next must lead somewhere else.
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
        assert!(world.journal.len() < 5_000, "the milestone does not end");
        if let Some(input) = world.perform(&effect) {
            world.input(&input, Some(&effect));
        }
        // Some effects only ask for the time, for one reason after another.
        in_row = if world.machine.effect().as_ref() == Some(&effect) { in_row + 1 } else { 0 };
        assert!(in_row < 10, "goes round for ever: {effect:?}");
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r4_a_damaged_journal_keeps_no_milestone_from_ending(
        spec in any_spec(),
        entropy in proptest::collection::vec(any::<u8>(), 0..250),
        wounds in proptest::collection::vec(any::<(u8, u16)>(), 1..4),
        kill in any::<bool>(),
    ) {
        let world = live(spec, entropy);
        let journal = damage(&world.journal, &wounds);
        let orders: &[Command] = if kill { &[Command::Kill] } else { &[] };
        let after = take_up(&world, &journal, orders);
        if kill {
            let started = after.because.iter().flatten().filter(|effect| matches!(effect, Effect::RunTurn(_)));
            prop_assert_eq!(started.count(), 0, "a killed milestone starts no turn");
        }
    }
}
