//! Killed around a pause: what was to be asked is asked, and what was answered counts.

use super::*;
use crate::crash::{At, for_each};

/// A milestone of which a person has the last word, up to that point.
fn in_review() -> World {
    let world = team(Format::Sessions, Format::Sessions);
    let definition = DEFINITION.replacen("---\n", "---\nrequires_human_review: true\n", 1);
    world.write(".dacapo/milestones/m.md", definition);
    world.git(&["commit", "-qam", "review"]);
    world.git(&["reset", "-q", "--soft", "HEAD~2"]);
    world.git(&["commit", "-qm", "plan"]);
    let _ = world.run(&START).expect(4);
    assert_eq!(world.status("m")["milestone"]["status"], "awaiting_review");
    world
}

/// A milestone that stands after three rejections.
fn rejected() -> World {
    let world = team(Format::Sessions, Format::Sessions);
    fs::write(world.scratch("desk/strict"), "").unwrap();
    world
}

const APPROVE: [&str; 4] = ["milestone", "approve", "m", "--json"];

#[test]
fn m10_an_approval_counts_whatever_was_killed_with_it() {
    // It goes on, it is told, it ends. Whoever resumes means what was answered; whoever answers again says nothing new.
    let cases = [
        (At::Before(0), RESUME),
        (At::Before(0), APPROVE),
        (At::After(0), RESUME),
        (At::After(0), APPROVE),
        (At::After(1), RESUME),
        (At::After(2), RESUME),
    ];
    for_each(&cases, |(at, then)| {
        let world = in_review();
        assert!(world.dies(*at, &APPROVE), "{at:?}");
        let ran = world.run(then);
        if ran.stderr.contains("dacapo milestone resume m continues it") {
            assert_eq!(ran.code, 2, "{at:?} {then:?}: {ran:?}");
            let _ = world.run(&RESUME).expect(0);
        } else {
            let over = ran.code == 2 && ran.stderr.contains("completed");
            assert!(ran.code == 0 || over, "{at:?} {then:?}: {ran:?}");
        }
        assert_eq!(world.turns_seen().len(), 2 * ROUNDS, "nobody had to work again");
        world.assert_whole();
    });
}

#[test]
fn m10_a_no_in_review_reaches_the_developer_whatever_was_killed_with_it() {
    let reject = ["milestone", "reject", "m", "--json", "two is dull"];
    let cases = [At::Before(0), At::After(0), At::After(1), At::After(4)];
    for_each(&cases, |at| {
        let world = in_review();
        assert!(world.dies(*at, &reject), "{at:?}");
        let ran = world.run(&RESUME);
        assert_eq!(ran.code, 4, "{at:?}: it is in review again: {ran:?}");
        let turns = world.turns_seen();
        let next = &turns[2 * ROUNDS];
        assert_eq!((next.role.as_str(), next.round), ("developer", 5));
        assert!(next.told.contains("two is dull"), "{at:?}: {}", next.told);
        assert_eq!(turns.len(), 2 * ROUNDS + 2, "one round more: {at:?}");
        let status = world.status("m");
        let shown = &status["milestone"];
        let counts = ["status", "rounds", "iteration_count"].map(|key| &shown[key]);
        assert_eq!(counts, [&json!("awaiting_review"), &json!(5), &json!(3)], "{at:?} {shown:#}");
        world.assert_left_in_order(Path::new(status["worktree"].as_str().unwrap()));
    });
}

#[test]
fn m9_three_rejections_are_asked_about_though_it_died_before_it_could() {
    let whole = rejected();
    let _ = whole.run(&START).expect(4);
    let journal = whole.journal("m");
    let asked = whole.status("m")["needs"].clone();
    assert_eq!(asked["question"], "rejected 3×: never in round 3");
    let verdict = journal.iter().rposition(|line| line["step"] == "rejected").unwrap();
    let instants: Vec<At> = (verdict - 1..journal.len() - 1).map(At::After).collect();
    for_each(&instants, |at| {
        let world = rejected();
        assert!(world.dies(*at, &START), "{at:?}");
        let ran = world.run(&RESUME);
        assert_eq!(ran.code, 4, "{at:?}: {ran:?}");
        let status = world.status("m");
        assert_eq!(status["needs"], asked, "{at:?}");
        assert_eq!(status["milestone"]["consecutive_rejections"], 3, "{at:?}");
        assert_eq!(world.turns_seen().len(), 6, "no round was begun: {at:?}");
        // Whoever resumes now has seen it.
        fs::remove_file(world.scratch("desk/strict")).unwrap();
        let _ = world.run(&[&RESUME[..], &["do", "better"]].concat()).expect(0);
        let turns = world.turns_seen();
        assert!(turns[6].told.contains("do better"), "{}", turns[6].told);
        assert_eq!((turns[6].round, turns.len()), (4, 8), "{at:?}");
        let shown = &world.status("m")["milestone"];
        let counts = ["rounds", "iteration_count", "consecutive_rejections"].map(|key| &shown[key]);
        assert_eq!(counts, [&json!(4), &json!(1), &json!(0)], "{at:?} {shown:#}");
    });
}

#[test]
fn m10_a_verdict_that_was_overruled_stays_so_whatever_was_killed_with_it() {
    for_each(&[At::Before(0), At::After(0), At::After(1), At::After(2)], |at| {
        let world = rejected();
        let _ = world.run(&START).expect(4);
        fs::remove_file(world.scratch("desk/strict")).unwrap();
        assert!(world.dies(*at, &APPROVE), "{at:?}");
        let _ = world.run(&RESUME).expect(0);
        let turns = world.turns_seen();
        assert!(!turns[6].told.contains("was rejected"), "{at:?}: {}", turns[6].told);
        let shown = &world.status("m")["milestone"];
        let counts = ["rounds", "iteration_count", "consecutive_rejections"].map(|key| &shown[key]);
        assert_eq!(counts, [&json!(4), &json!(2), &json!(0)], "{at:?} {shown:#}");
    });
}
