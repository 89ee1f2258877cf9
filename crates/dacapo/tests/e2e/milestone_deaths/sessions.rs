//! The conversations of both agents after a death (M3, M9): opened again where that can be, else begun anew with all of
//! the context.

use super::*;
use crate::crash::for_each;
use crate::crash::guards::Aim;

/// Dies in this turn, and goes on. Gives back the turns that were had before and after.
fn dies_in(world: &World, turn: &str) -> (Vec<Turn>, Vec<Turn>) {
    world.accident(turn, "begin", "stay");
    let mut runner = world.until_ready(&START);
    Aim::Runner.strike(runner.id());
    runner.wait().unwrap();
    wait_for("the tree to be gone", || world.processes("m").is_empty());
    let had = world.turns_seen().len();
    world.milestone_to_the_end();
    world.assert_whole();
    let mut before = world.turns_seen();
    let after = before.split_off(had);
    (before, after)
}

fn sessions<'a>(turns: &'a [Turn], role: &str) -> Vec<Option<&'a str>> {
    turns.iter().filter(|turn| turn.role == role).map(|turn| turn.session.as_deref()).collect()
}

#[test]
fn m3_conversations_over_acp_are_loaded_again() {
    for_each(&["developer.2", "acceptor.2"], |turn| {
        let world = team(Format::Acp, Format::Acp);
        let (before, after) = dies_in(&world, turn);
        for role in ["developer", "acceptor"] {
            let (before, after) = (sessions(&before, role), sessions(&after, role));
            // The first turn of the Acceptor's may be all that it has had.
            let session = after[0].expect("it goes on");
            assert!(session.starts_with(role), "{session}");
            assert_eq!(before[0], None, "begun once");
            assert!(
                before[1..].iter().chain(&after).all(|other| *other == Some(session)),
                "{before:?} {after:?}"
            );
        }
        for role in ["developer", "acceptor"] {
            let next = after.iter().find(|turn| turn.role == role).unwrap();
            next.assert_recovers(next.round - 1, &["feat: one", "feat: two"][..next.round - 1]);
        }
    });
}

#[test]
fn m3_a_conversation_of_which_nobody_knows_that_it_began_is_begun_anew_with_everything() {
    for_each(&[Format::Acp, Format::Text], |format| {
        for role in ["developer", "acceptor"] {
            let world = team(*format, *format);
            let (_, after) = dies_in(&world, &format!("{role}.1"));
            let next = &after[0];
            assert_eq!(
                (next.role.as_str(), next.round, next.session.as_deref()),
                (role, 1, None),
                "{format:?}"
            );
            next.assert_recovers(0, if role == "developer" { &[] } else { &["feat: one"] });
            let whole = if role == "developer" { "<milestone>" } else { "## Feature" };
            assert!(next.told.contains(whole), "{format:?}: {}", next.told);
        }
    });
}

#[test]
fn m3_who_has_no_session_gets_everything_every_time() {
    let world = team(Format::Text, Format::Text);
    let (before, after) = dies_in(&world, "developer.3");
    assert!(before.iter().chain(&after).all(|turn| turn.session.is_none()));
    after[0].assert_recovers(2, &["feat: one", "feat: two"]);
    for part in
        ["<milestone>", "F-1 (accepted): one", "F-2 (not done): two", "[R1] two says bad", "two is bad"]
    {
        assert!(after[0].told.contains(part), "{part}: {}", after[0].told);
    }
}
