//! Calls that take too long count as rejections, with the reason (M7); calls that fail do not count.

use super::{ID, Stage};
use crate::support::wait_for;

#[test]
fn m7_calls_of_the_developer_that_take_too_long_are_rejections() {
    // No call that must succeed has this limit, so it does not matter how slow anything is.
    let stage = Stage::with("call_timeout: 1s\n", "");
    let hangs = "sleep 1000";
    stage.play(
        &[hangs, hangs, hangs, "build F-1", "build F-2", "complete"],
        &["accept", "accept", "accept_all"],
    );
    let _ = stage.start().expect(4);
    stage.stands("paused", [3, 0, 3]);
    assert_eq!(stage.calls(), [3, 0]);
    let (kind, question) = stage.needs();
    assert_eq!(kind, "rejections");
    let asked = "rejected 3×: the Developer's call was ended before it was done: not finished within call_timeout in [milestone] (1s)";
    assert_eq!(question, asked);
    let said = stage.milestone("show", &[]).expect(0).stdout + &stage.run(&["logs", ID]).expect(0).stdout;
    assert!(said.contains("call_timeout") && !said.contains("turn-timeout"), "{said}");
    assert_eq!(stage.verdicts(), [(); 3].map(|()| (false, "engine".to_owned())));
    stage.world.assert_nothing_left(ID);
    let _ = stage.run(&["set", ID, "turn-timeout=10m"]).expect(0);
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [6, 3, 0]);
    stage.assert_told("dev", 4, "was ended before it was done");
}

#[test]
fn m7_a_call_of_the_acceptor_that_takes_too_long_is_a_rejection() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "");
    let (built, go) = (stage.world.scratch("built"), stage.world.scratch("go"));
    let waits =
        format!("build F-1; touch {}; until [ -e {} ]; do sleep 0.05; done", built.display(), go.display());
    stage.play(&[&waits, "build F-1", "complete"], &["sleep 1000", "accept", "accept_all"]);
    std::thread::scope(|scope| {
        let started = scope.spawn(|| stage.start().expect(4));
        wait_for("the Developer to have built it", || built.exists());
        let _ = stage.run(&["set", ID, "turn-timeout=1s"]).expect(0);
        std::fs::write(&go, "").unwrap();
        let _ = started.join().unwrap();
    });
    stage.stands("paused", [1, 0, 1]);
    let (kind, question) = stage.needs();
    assert_eq!(kind, "rejections");
    assert!(question.contains("the Acceptor's call was ended before it was done"), "{question}");
    assert_eq!(stage.calls(), [1, 1]);
    let _ = stage.run(&["set", ID, "turn-timeout=10m"]).expect(0);
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [3, 2, 0]);
    assert_eq!(stage.commits().len(), 2, "what was built before is kept");
}

#[test]
fn m7_the_limit_of_a_call_comes_from_the_config() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "[milestone]\ncall_timeout = \"1s\"\n");
    stage.play(&["sleep 1000"], &[]);
    let _ = stage.start().expect(4);
    stage.stands("paused", [1, 0, 1]);
}

#[test]
fn l8_a_call_that_fails_is_tried_again_in_the_same_round() {
    let stage = Stage::new();
    stage.play(&["exit 7", "build F-1", "complete"], &["exit 7", "accept", "accept_all"]);
    let _ = stage.start().expect(0);
    stage.stands("completed", [2, 2, 0]);
    assert_eq!(stage.calls(), [3, 3]);
}
