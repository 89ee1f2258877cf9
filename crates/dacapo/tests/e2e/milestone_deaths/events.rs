//! SIGKILL at every event.

use super::*;
use crate::crash::{At, for_each};

/// Dies at every instant that is `wanted`, then goes on at once.
fn walk(developer: Format, acceptor: Format, wanted: impl Fn(&Value) -> bool) {
    let whole = team(developer, acceptor);
    let _ = whole.run(&START).expect(0);
    let (shown, journal) = (whole.assert_whole(), whole.journal("m"));
    assert_eq!(whole.turns_seen().len(), 2 * ROUNDS);
    let walked = journal.iter().enumerate().filter(|(_, event)| wanted(event));
    let instants: Vec<At> = walked.flat_map(|(at, event)| instants(at, event)).collect();
    assert!(!instants.is_empty());
    for_each(&instants, |at| {
        let world = team(developer, acceptor);
        assert!(world.dies(*at, &START), "{at:?}");
        let written = world.journal_or_none("m");
        assert_mirrored_so_far(&world, &written);
        let had = world.turns_seen();
        let went_on = world.milestone_to_the_end();
        assert_eq!(world.assert_whole(), shown, "{at:?}");
        let turns = world.turns_seen();
        assert_turns(&turns, developer, acceptor);
        if went_on && written.iter().any(|line| line["type"] == "turn_started") {
            assert_told(&written, &turns[had.len()..]);
        }
    });
}

/// After each event; and before it where something was done since the one before, which may be done again.
fn instants(at: usize, event: &Value) -> impl Iterator<Item = At> {
    let acted = ["task_created", "workspace_ready", "turn_finished", "check_finished", "task_finished"];
    let before = acted.iter().any(|kind| event["type"] == *kind).then_some(At::Before(at));
    before.into_iter().chain([At::After(at)])
}

/// A turn whose final word is on file is not had again; one in plain text has none, and may be.
fn assert_turns(turns: &[Turn], developer: Format, acceptor: Format) {
    for (role, format) in [("developer", developer), ("acceptor", acceptor)] {
        let own: Vec<&Turn> = turns.iter().filter(|turn| turn.role == role).collect();
        match format {
            Format::Sessions | Format::Acp => {
                let rounds: Vec<usize> = own.iter().map(|turn| turn.round).collect();
                assert_eq!(rounds, [1, 2, 3, 4], "{role}");
                let first = own[1].session.clone();
                assert!(first.is_some());
                assert!(own[1..].iter().all(|turn| turn.session == first), "one conversation: {own:#?}");
            }
            Format::Text => {
                assert!(own.len() <= ROUNDS + 1, "{role}: {own:#?}");
                assert!(own.iter().all(|turn| turn.session.is_none()));
            }
        }
    }
}

/// At a death the files say what was so after the last round, or after the one before; never half of it.
fn assert_mirrored_so_far(world: &World, written: &[Value]) {
    let rounds = written.iter().filter(|line| line["type"] == "iteration_finished").count();
    let state = world.mirror("state.json");
    let Some(mirror) = world.mirror("milestones/m.json") else {
        assert!(rounds == 0, "{written:#?}");
        return;
    };
    let told = usize::try_from(mirror["rounds"].as_u64().unwrap()).unwrap();
    assert!(told == rounds || told + 1 == rounds, "{told} of {rounds}");
    assert_eq!(mirror["iteration_count"], [0, 1, 1, 2, 3][told]);
    assert_eq!(mirror["consecutive_rejections"], u64::from(told == 2));
    assert_eq!(mirror["status"], "in_progress");
    // The one is written right after the other.
    assert!(state.is_none_or(|state| state["current_milestone"] == "m"), "{mirror}");
}

/// The first that each hears after the death.
fn assert_told(written: &[Value], after: &[Turn]) {
    let rounds = written.iter().filter(|line| line["type"] == "iteration_finished").count();
    for role in ["developer", "acceptor"] {
        let Some(turn) = after.iter().find(|turn| turn.role == role) else { continue };
        // The Developer may have ended rounds before the Acceptor hears anything.
        let rounds = rounds.max(turn.round - 1);
        let commits = &["feat: one", "feat: two", "fix: two"][..rounds.min(3)];
        turn.assert_recovers(rounds, commits);
    }
}

#[test]
fn m9_sigkill_at_every_event_then_resume_loses_and_doubles_no_round() {
    walk(Format::Sessions, Format::Text, |_| true);
}

#[test]
fn m9_the_same_around_turns_of_agents_that_one_talks_with() {
    let turns = ["turn_started", "turn_finished"];
    let early = |event: &Value| event["iteration"].as_u64().is_some_and(|round| round < 2);
    walk(Format::Acp, Format::Acp, |event| early(event) && turns.iter().any(|kind| event["type"] == *kind));
}

#[test]
fn m9_the_same_around_turns_where_only_the_acceptor_has_a_session() {
    walk(Format::Text, Format::Sessions, |event| {
        event["type"] == "turn_finished" && event["iteration"].as_u64() == Some(1)
    });
}
