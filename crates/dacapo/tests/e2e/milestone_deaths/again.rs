//! Killed again while it recovers, and at moments that nobody chose.

use super::*;
use crate::crash::{At, for_each};

#[test]
fn m9_killed_again_while_it_recovers() {
    // Any fixed sequence will do; this one is a small linear congruence.
    let mut state = 7_u64;
    let mut number = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below).unwrap()
    };
    let cases: Vec<[At; 3]> = (0..9)
        .map(|case| {
            let [first, second, third] = [number(39), number(9), number(9)];
            match case % 3 {
                0 => [At::After(first), At::After(second), At::Before(third)],
                1 => [At::Before(first), At::After(second), At::After(third)],
                _ => [At::Torn(first), At::Torn(second), At::Torn(third)],
            }
        })
        .collect();
    for_each(&cases, |[first, second, third]| {
        let world = team(Format::Sessions, Format::Text);
        assert!(world.dies(*first, &START), "{first:?}");
        for at in [second, third] {
            // Ended before: there was less left to do than that.
            let (status, ran) = world.run_to(*at, &RESUME);
            let over = ran.code == 2 && ran.stderr.contains("is completed");
            assert!(status.code().is_none() || ran.code == 0 || over, "{at:?}: {ran:?}");
        }
        world.milestone_to_the_end();
        world.assert_whole();
    });
}

#[test]
fn m9_killed_again_in_the_turn_that_puts_the_tree_in_order() {
    let world = team(Format::Sessions, Format::Text);
    world.accident("developer.2", "begin", "echo half > two; echo more > unknown; stay");
    let strike = |runner: &mut Child| {
        crate::crash::guards::Aim::Runner.strike(runner.id());
        runner.wait().unwrap();
        wait_for("the tree to be gone", || world.processes("m").is_empty());
    };
    strike(&mut world.until_ready(&START));
    // The second turn of the round puts everything in order, and dies with another file half written.
    fs::remove_dir(world.scratch("desk/developer.2.sh.met")).unwrap();
    world.accident("developer.2", "cleaned", "echo again > again; stay");
    strike(&mut world.until_ready(&RESUME));
    world.milestone_to_the_end();
    let turns = world.turns_seen();
    assert!(
        turns[3].told.contains("are not committed; commit or undo them:\n\n```\ntwo\nunknown\n```"),
        "{}",
        turns[3].told
    );
    assert!(
        turns[4].told.contains("are not committed; commit or undo them:\n\n```\nagain\n```"),
        "{}",
        turns[4].told
    );
    for turn in &turns[3..5] {
        turn.assert_recovers(1, &["feat: one"]);
        assert_eq!(turn.session.as_deref(), Some("developer-0"));
    }
    assert_eq!(turns.len(), 2 * ROUNDS + 3, "two that were killed, and the one that cleaned up");
    world.assert_whole();
}
