//! Killed inside a turn, and what that leaves in the tree: the Developer puts it in order first, then the round goes on.

use super::*;
use crate::crash::for_each;
use crate::crash::guards::Aim;

/// What a turn of the Developer leaves behind when it is killed in round 2, and what its next turn is told of it.
struct Left {
    point: &'static str,
    script: &'static str,
    told: &'static [&'static str],
}

const LEFT: [Left; 7] = [
    Left {
        point: "begin",
        script: "echo half >> one; echo half > new; git add new; echo more > unknown; stay",
        told: &["are not committed; commit or undo them:\n\n```\nnew\none\nunknown\n```"],
    },
    // A git that waits for its hook holds the index. The lock that it leaves is removed before the next turn.
    Left {
        point: "built",
        script: "git add -A; mkdir \"$desk/hooks\"
            printf '#!/bin/sh\\ntouch %s/ready; sleep 1000\\n' \"$desk\" > \"$desk/hooks/pre-commit\"
            chmod +x \"$desk/hooks/pre-commit\"
            git -c core.hooksPath=\"$desk/hooks\" commit -qam 'feat: two'",
        told: &["are not committed; commit or undo them:\n\n```\ntwo\n```"],
    },
    Left { point: "committed", script: "touch \"$(git rev-parse --git-path HEAD.lock)\"; stay", told: &[] },
    Left {
        point: "begin",
        script: "git checkout -q --detach; echo bad > two; commit 'feat: two'; stay",
        told: &["HEAD is on no branch (detached): go back to milestone/m."],
    },
    Left {
        point: "begin",
        script: "git checkout -qb elsewhere; echo half > two; stay",
        told: &["HEAD is on elsewhere: go back", "are not committed; commit or undo them:\n\n```\ntwo\n```"],
    },
    Left {
        point: "begin",
        script: "git checkout -q --detach; echo other > one; commit other; other=$(git rev-parse HEAD)
            git checkout -q milestone/m; git merge -q --no-ff --no-commit \"$other\"; stay",
        told: &["(a merge that was begun and not finished)"],
    },
    Left { point: "committed", script: "stay", told: &[] },
];

#[test]
fn m9_killed_in_the_developers_turn_it_puts_the_tree_in_order_first() {
    for_each(&LEFT, |left| {
        let world = team(Format::Sessions, Format::Text);
        world.accident("developer.2", left.point, left.script);
        let mut runner = world.until_ready(&START);
        Aim::Runner.strike(runner.id());
        runner.wait().unwrap();
        wait_for("the tree to be gone without a resume", || world.processes("m").is_empty());
        let had = world.turns_seen().len();
        assert_eq!(had, 3);
        world.milestone_to_the_end();
        let turns = world.turns_seen();
        let next = &turns[had];
        assert_eq!((next.role.as_str(), next.round), ("developer", 2), "{}", left.script);
        assert_eq!(next.session.as_deref(), Some("developer-0"), "the same conversation");
        next.assert_recovers(1, &["feat: one"]);
        let first = next.told.find("## First put the tree in order");
        assert_eq!(first.is_some(), !left.told.is_empty(), "{}", next.told);
        assert!(first < next.told.find("## What is to be done"), "{}", next.told);
        for told in left.told {
            assert!(next.told.contains(told), "{told}: {}", next.told);
        }
        if left.point == "committed" {
            assert!(next.told.contains("feat: two"), "the commit that was not reported: {}", next.told);
        }
        assert_eq!(world.sent_back(), Vec::<Value>::new(), "{}", left.script);
        let cleans = usize::from(!left.told.is_empty());
        assert_eq!(next.told.contains("Only put the tree in order"), cleans == 1, "{}", next.told);
        assert_eq!(turns.len(), 2 * ROUNDS + 1 + cleans, "one turn was had twice: {}", left.script);
        world.assert_whole();
    });
}

#[test]
fn m9_what_a_killed_acceptor_left_is_put_in_order_by_the_developer() {
    for_each(&[Format::Text, Format::Sessions], |format| {
        let world = team(Format::Sessions, *format);
        world.accident("acceptor.2", "begin", "echo x >> two; echo y > note; git add note; stay");
        let mut runner = world.until_ready(&START);
        Aim::Runner.strike(runner.id());
        runner.wait().unwrap();
        world.milestone_to_the_end();
        let turns = world.turns_seen();
        let order: Vec<(&str, usize)> = turns.iter().map(|turn| (turn.role.as_str(), turn.round)).collect();
        let (developer, acceptor) = ("developer", "acceptor");
        assert_eq!(
            order[..6],
            [(developer, 1), (acceptor, 1), (developer, 2), (acceptor, 2), (developer, 2), (acceptor, 2)]
        );
        let cleans = &turns[4];
        cleans.assert_recovers(1, &["feat: one", "feat: two"]);
        assert!(
            cleans.told.contains("are not committed; commit or undo them:\n\n```\nnote\ntwo\n```"),
            "{}",
            cleans.told
        );
        assert!(cleans.told.contains("Only put the tree in order"), "{}", cleans.told);
        turns[5].assert_recovers(1, &["feat: one", "feat: two"]);
        let session = (*format == Format::Sessions).then(|| "acceptor-1".to_owned());
        assert_eq!(turns[5].session, session);
        assert_eq!(turns.len(), 2 * ROUNDS + 2);
        assert_eq!(world.sent_back(), Vec::<Value>::new());
        world.assert_whole();
    });
}

#[test]
fn m9_killed_with_its_guards_nothing_is_left_and_the_round_goes_on() {
    let aims = [Aim::Both, Aim::BothGuardsFirst];
    let cases: Vec<(&str, Aim)> =
        ["developer.2", "acceptor.3"].into_iter().flat_map(|turn| aims.map(|aim| (turn, aim))).collect();
    for_each(&cases, |(turn, aim)| {
        let world = team(Format::Text, Format::Sessions);
        world.accident(turn, "begin", "setsid sleep 1001 & setsid sh -c 'trap \"\" TERM; sleep 1002' & stay");
        let mut runner = world.until_ready(&START);
        aim.strike(runner.id());
        runner.wait().unwrap();
        world.milestone_to_the_end();
        assert_eq!(world.turns_seen().len(), 2 * ROUNDS + 1, "{turn} {aim:?}");
        world.assert_whole();
    });
}

#[test]
fn m9_killed_in_a_check_the_tree_is_looked_at_and_the_check_is_run_again() {
    let world = team(Format::Sessions, Format::Sessions);
    let desk = at(&world, "desk");
    let check = format!(
        "echo half > litter; if [ -e two ] && mkdir {desk}/hung 2>/dev/null; then touch {desk}/ready; sleep 1000; fi
         rm litter; test -e one"
    );
    let mut runner = world.until_ready(&["milestone", "start", "m", "--check", &check, "--json"]);
    Aim::Runner.strike(runner.id());
    runner.wait().unwrap();
    let had = world.turns_seen().len();
    world.milestone_to_the_end();
    let turns = world.turns_seen();
    // Whose litter it is nobody can tell any more: it may be a person's work.
    assert_eq!((turns[had].role.as_str(), turns[had].round), ("developer", 2));
    assert!(turns[had].told.contains("Only put the tree in order"), "{}", turns[had].told);
    turns[had].assert_recovers(1, &["feat: one", "feat: two"]);
    assert_eq!((turns[had + 1].role.as_str(), turns[had + 1].round), ("acceptor", 2));
    assert_eq!(turns.len(), 2 * ROUNDS + 1, "what was reported stands");
    let results = world.events("m", "check_finished");
    let in_rounds = results.iter().filter(|result| result["phase"] == "iteration").count();
    assert_eq!(in_rounds, ROUNDS, "one result a round");
    world.assert_whole();
}
