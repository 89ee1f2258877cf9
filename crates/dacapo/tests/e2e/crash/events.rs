//! SIGKILL at every event.

use super::*;

/// A run that dies before or after an event, for all events or for those that `wanted` names by number and count, and
/// is then resumed at once. Gives back how many events an undisturbed run has.
fn walk(
    words: &[&str],
    make: impl Fn() -> World + Sync,
    wanted: impl Fn(usize, usize) -> bool,
    check: impl Fn(&World) + Sync,
) -> usize {
    let world = make();
    let _ = world.run(&[&["exec"], words].concat()).expect(0);
    let events = world.journal("t").len();
    check(&world);
    let walked = (0..events).filter(|event| wanted(*event, events));
    let instants: Vec<At> = walked.flat_map(|event| [At::Before(event), At::After(event)]).collect();
    for_each(&instants, |at| {
        let world = make();
        assert!(world.exec_dies(*at, words), "{at:?}");
        let written = match at {
            At::Before(event) => *event,
            At::After(event) => event + 1,
            _ => unreachable!(),
        };
        assert_eq!(world.journal_or_none("t").len(), written, "{at:?}: one write an event");
        world.resume_to_the_end("t");
        check(&world);
    });
    events
}

/// The start with the first iteration, and the last iteration with the end.
fn ends(event: usize, events: usize) -> bool {
    event < 12 || event + 8 >= events
}

#[test]
fn r1_sigkill_at_every_event_then_resume_gives_five_iterations_and_five_commits() {
    let words = [&["--agent-cmd", AGENT], &FIVE[..]].concat();
    let events = walk(&words, World::new, |_, _| true, |world| world.assert_five("t", "main"));
    // Created, started, ready, the check before and its room; seven an iteration; the proof and its check; the end.
    assert_eq!(events, 5 + 5 * 7 + 2 + 1);
}

#[test]
fn r1_the_same_in_a_worktree() {
    let words = [&["--worktree", "--agent-cmd", AGENT], &FIVE[..]].concat();
    walk(&words, World::new, ends, |world| {
        world.assert_five("t", "dacapo/t");
        let worktree = PathBuf::from(world.status("t")["worktree"].as_str().unwrap());
        assert_eq!(world.git_in(&worktree, &["status", "--porcelain"]), "");
        assert_eq!(world.subjects(), ["first"], "the user's own branch stays");
    });
}

#[test]
fn r1_the_same_with_a_live_session_over_acp() {
    let words = ["--name", "t", "--agent", "bot", "--iter", "5", "--session", "resume", "--json", "work"];
    let make = || {
        let world = World::new();
        let turn = json!([{ "write": ["log", "line\n"] }, { "say": "Wrote a line." }]);
        world.acp(&json!({ "resume": true, "turns": [turn] }));
        world
    };
    walk(&words, make, ends, |world| {
        world.assert_five("t", "main");
        let sessions = world.events("t", "turn_finished");
        let done = sessions.iter().filter(|turn| turn["end"] == "done");
        let mut done: Vec<&str> = done.map(|turn| turn["session_id"].as_str().unwrap()).collect();
        done.dedup();
        assert_eq!(done.len(), 1, "one conversation, however often its process ended");
    });
}

#[test]
fn r1_the_same_with_an_agent_that_commits_by_itself() {
    let agent = "if ! grep -q ^$DACAPO_ITERATION log; then
        echo $DACAPO_ITERATION >> log; git add log; git -c maintenance.auto=false commit -qm \"own $DACAPO_ITERATION\"
    fi
    if [ $DACAPO_ITERATION = 4 ]; then echo '<promise>COMPLETE</promise>'; fi";
    let words = [&["--agent-cmd", agent], &FIVE[..]].concat();
    walk(&words, World::new, ends, |world| {
        assert_eq!(world.subjects(), ["own 4", "own 3", "own 2", "own 1", "own 0", "first"]);
        assert_eq!(world.status("t")["iterations_succeeded"], 5);
        let recorded: Vec<Value> =
            world.events("t", "iteration_finished").iter().map(|event| event["commit_id"].clone()).collect();
        let there = world.git(&["log", "--reverse", "--format=%H"]);
        assert_eq!(recorded, there.lines().skip(1).collect::<Vec<_>>());
        world.assert_in_order("t");
    });
}

#[test]
fn r1_the_same_with_an_agent_whose_finished_turns_are_not_paid_twice() {
    let turn = "[{write: {path: log, text: \"{iteration}\\n\", append: true}}, {usage: {input: 10, output: 5}}, {say: Not yet.}]";
    let last = "[{write: {path: log, text: \"{iteration}\\n\", append: true}}, {usage: {input: 10, output: 5}}, {done: true}]";
    let script = format!("iterations: [{turn}, {turn}, {turn}, {turn}, {last}]");
    let make = || {
        let world = World::new();
        world.rehearsal(&script);
        world
    };
    let words = [&["--agent", "rehearsal:../script.yaml"], &FIVE[..]].concat();
    walk(&words, make, ends, |world| {
        world.assert_five("t", "main");
        assert_eq!(world.read("log"), "0\n1\n2\n3\n4\n", "no turn was played twice");
        assert_eq!(world.events("t", "turn_started").len(), 5);
        assert_eq!(world.status("t")["tokens"], json!({"input": 50, "output": 25, "cached": 0}));
    });
}

#[test]
fn r1_killed_again_while_it_resumes() {
    let words = [&["--agent-cmd", AGENT], &FIVE[..]].concat();
    // Any fixed sequence will do; this one is a small linear congruence.
    let mut state = 20_u64;
    let mut number = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below).unwrap()
    };
    let pairs: Vec<(At, At)> = (0..40)
        .map(|case| {
            let (first, second) = (number(39), number(12));
            match case % 4 {
                0 => (At::After(first), At::After(second)),
                1 => (At::Before(first), At::After(second)),
                2 => (At::After(first), At::Before(second)),
                _ => (At::Torn(first), At::Torn(second)),
            }
        })
        .collect();
    for_each(&pairs, |(first, second)| {
        let world = World::new();
        assert!(world.exec_dies(*first, &words), "{first:?}");
        // False: there was less left to do than that.
        world.dies(*second, &["resume", "t", "--json"]);
        world.resume_to_the_end("t");
        world.assert_five("t", "main");
    });
}

#[test]
fn l4_what_a_check_left_behind_is_not_committed_after_a_crash_either() {
    let check = "date +%N >> report.txt; false";
    let agent = "echo $DACAPO_ITERATION >> log";
    let words =
        ["--name", "t", "--max-iterations", "3", "--check", check, "--agent-cmd", agent, "--json", "x"];
    // Created, started, ready, check; iteration, turn, turn, intent, commit, check, iteration; iteration, turn, turn.
    let instants: Vec<At> = (4..14).map(At::After).collect();
    for_each(&instants, |at| {
        let world = World::new();
        assert!(world.exec_dies(*at, &words), "{at:?}");
        let _ = world.run(&["resume", "t", "--json"]).expect(3);
        assert_eq!(world.git(&["log", "--format=%s", "--", "report.txt"]), "", "{at:?}");
        assert_eq!(world.git(&["status", "--porcelain"]), "?? report.txt");
        assert_eq!(world.subjects().len(), 4);
    });
}
