//! Rounds, as they go when both sides keep to the rules (M4–M6).

use super::{ACCEPTS, BRANCH, BUILDS, ID, Stage};

#[test]
fn m4_accepted_at_once() {
    let stage = Stage::with("", "checks = [\"test -s F-1\"]");
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.calls(), [3, 3]);
    assert_eq!(stage.commits(), ["feat: F-1 in round 1", "feat: F-2 in round 2"]);
    let status = stage.status();
    assert_eq!((&status["status"], &status["outcome"]), (&"completed".into(), &"completed".into()));
    assert_eq!((&status["verified"], &status["branch"]), (&true.into(), &BRANCH.into()));
    for (round, commit) in [(1, format!("{BRANCH}~1")), (2, BRANCH.to_owned()), (3, BRANCH.to_owned())] {
        let reported = stage.round(round)["report"]["commit_id"].clone();
        assert_eq!(reported, stage.world.git(&["rev-parse", &commit]).as_str(), "round {round}");
    }
    assert_eq!(stage.round(3)["report"]["feature"], serde_json::Value::Null, "all of them");
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m4_an_accepted_round_forgets_the_rejections_before_it() {
    let stage = Stage::new();
    let seen = "dacapo status two --json > $scratch/seen-$round";
    let build = [format!("{seen}; build F-1"), format!("{seen}; build F-2"), format!("{seen}; complete")];
    let [one, two, all] = build.each_ref().map(String::as_str);
    stage.play(
        &[one, one, one, two, two, two, all],
        &[
            "reject 'too short'",
            "reject 'too long'",
            "accept",
            "reject 'too wide'",
            "reject no",
            "accept",
            "accept_all",
        ],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [7, 3, 0]);
    assert_eq!(stage.calls(), [7, 7]);
    let counted: Vec<u64> = (1..=7)
        .map(|round| {
            let text = std::fs::read_to_string(stage.world.scratch(&format!("seen-{round}"))).unwrap();
            let seen: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(seen["milestone"]["status"], "in_progress");
            seen["milestone"]["consecutive_rejections"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(counted, [0, 1, 2, 0, 1, 2, 0], "at the beginning of each round");
    stage.assert_told("dev", 2, "too short");
    stage.assert_told("dev", 3, "too long");
    stage.assert_not_told("dev", 4, "The last round was rejected");
    assert_eq!(stage.commits().len(), 6);
}

#[test]
fn m4_three_in_a_row_need_a_person_and_guidance_goes_to_both() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "build F-1", "build F-1", "build F-1", "build F-2", "complete"],
        &["reject one", "reject two", "reject 'three is too many'", "accept", "accept", "accept_all"],
    );
    let _ = stage.start().expect(4);
    stage.stands("paused", [3, 0, 3]);
    let (kind, question) = stage.needs();
    assert_eq!(kind, "rejections");
    assert!(question.contains("3×") && question.contains("three is too many"), "{question}");
    let _ = stage.run(&["wait", ID]).expect(4);
    assert_eq!(stage.calls(), [3, 3], "nobody is asked while a person is");
    let _ = stage.milestone("resume", &["write", "it on one line"]).expect(0);
    stage.stands("completed", [6, 3, 0]);
    for agent in ["dev", "acc"] {
        stage.assert_told(agent, 4, "write it on one line");
        stage.assert_not_told(agent, 5, "write it on one line");
    }
    stage.assert_told("dev", 4, "three is too many");
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m5_the_final_acceptance_is_not_counted_among_the_three_but_among_the_rounds() {
    let stage = Stage::new();
    let not_met = "reject 'C-2 is not met'; printf 'C-1: met\\nC-2: not met: there is a third\\n'";
    stage.play(
        &[
            "build F-1",
            "build F-2",
            "build F-2",
            "complete",
            "git commit -q --allow-empty -m 'docs: x' >&2; complete",
            "complete",
            "complete",
        ],
        &["accept", "reject a", "reject b", not_met, not_met, not_met, "accept_all"],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [7, 2, 0]);
    assert_eq!(stage.calls(), [7, 7]);
    stage.assert_told("dev", 5, "there is a third");
    let last = stage.told("acc", 7);
    for text in
        ["C-1: both files are there", "C-2: nothing else is", "feat: F-1 in round 1", "feat: F-2 in round 3"]
    {
        assert!(last.contains(text), "{text}\n{last}");
    }
}

#[test]
fn m5_an_acceptance_beside_a_criterion_that_is_not_met_is_asked_for_again() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "build F-2", "complete", "complete"],
        &[
            "accept",
            "accept",
            "accept; printf 'C-1: met\\nC-2: not met: a third\\n'",
            "accept; echo 'C-1: met'",
            "accept_all",
        ],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [4, 3, 0]);
    assert_eq!(stage.calls(), [4, 5]);
    stage.assert_told("acc", 4, "but not every criterion is met (C-2: not met: a third)");
    assert_eq!(stage.verdicts()[2], (false, "acceptor".to_owned()), "what was said was not taken back");
    stage.assert_told("dev", 4, "C-2: not met: a third");
}

#[test]
fn m6_what_the_checks_say_goes_to_the_acceptor_and_the_developers_praise_does_not() {
    let check = "cat F-2 || { echo F-2 is 'not there'; exit 3; }";
    let stage = Stage::with("", &format!("checks = [\"true\", {check:?}]"));
    stage.world.write(".dacapo/soul.md", "Be kind.\n");
    stage.world.write(".dacapo/memory/project.md", "Tests are slow.\n");
    stage.world.write("VISION.md", "A world of files.\n");
    let stage = stage.with_all_this();
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(0);
    stage.assert_told("acc", 1, &format!("`{check}` → "));
    stage.assert_told("acc", 1, "F-2 is not there");
    stage.assert_told("acc", 1, "`true` → passed");
    stage.assert_not_told("acc", 2, "F-2 is not there");
    for call in 1..=3 {
        stage.assert_not_told("acc", call, "marvel");
        stage.assert_not_told("acc", call, "A world of files.");
        stage.assert_told("acc", call, "Be kind.");
        for text in ["Be kind.", "Tests are slow.", "A world of files.", "No third file.", BRANCH] {
            stage.assert_told("dev", call, text);
        }
    }
    // Its own acceptance line, the commit and the changes.
    stage.assert_told("acc", 1, "Accept: F-1 is not empty");
    stage.assert_not_told("acc", 2, "F-1 is not empty");
    stage.assert_told("acc", 1, "- F-1: written in round 1");
    stage.assert_told("acc", 2, &stage.world.git(&["rev-parse", BRANCH]));
    let receipts = stage.round(1)["checks"].clone();
    assert_eq!(receipts.as_array().map(Vec::len), Some(2), "{receipts}");
    assert_eq!(stage.status()["verified"], true);
}

#[test]
fn l20_the_acceptor_is_shown_what_changed_of_the_tests() {
    let stage = Stage::with("", "checks = [\"sh check.sh\"]");
    stage.world.write("check.sh", "test -s F-1\n");
    stage.world.git(&["add", "-A"]);
    stage.world.git(&["commit", "-qm", "test: a check"]);
    let stage = stage.with_all_this();
    let weakens = "echo true > check.sh; build F-1";
    stage.play(&[weakens, "build F-2", "complete"], &ACCEPTS);
    let _ = stage.start().expect(0);
    stage.assert_told("acc", 1, "Tests and settings that changed");
    stage.assert_told("acc", 1, "- check.sh: changed");
    stage.assert_not_told("acc", 2, "Tests and settings that changed");
    // In the end, of the whole milestone.
    stage.assert_told("acc", 3, "- check.sh: changed");
    stage.assert_told("acc", 3, "-test -s F-1\n+true");
    let status = stage.status();
    assert_eq!(status["tests"]["changed"][0]["path"], "check.sh", "{}", status["tests"]);
    let list = stage.world.run(&["list"]).expect(0).stdout;
    assert!(list.contains("⚠ tests changed"), "{list}");
}

#[test]
fn m1_a_feature_that_cannot_be_told_is_judged_by_all_of_them() {
    let stage = Stage::new();
    stage.play(
        &["echo 1 > F-1; commit f; report 'something' \"$(git rev-parse HEAD)\"", "complete"],
        &["accept", "accept_all"],
    );
    let _ = stage.start().expect(0);
    stage.assert_told("acc", 1, "Accept: F-1 is not empty");
    stage.assert_told("acc", 1, "the second file");
    stage.assert_told("acc", 2, "F-1 (never accepted by itself)");
}

#[test]
fn m5_who_accepts_the_whole_accepts_every_feature() {
    let stage = Stage::with("requires_human_review: true\n", "");
    let both =
        "echo 1 > F-1; echo 2 > F-2; commit both; report 'F-1 the first file' \"$(git rev-parse HEAD)\"";
    stage.play(&[both, "complete"], &["accept", "accept_all"]);
    let done = || {
        let features = stage.status()["milestone"]["features"].clone();
        features.as_array().unwrap().iter().map(|feature| feature["done"] == true).collect::<Vec<_>>()
    };
    let ran = stage.start().expect(4);
    assert!(ran.stdout.contains(" · 2 of 2 features done · "), "{}", ran.stdout);
    assert_eq!(done(), [true, true]);
    let _ = stage.run(&["milestone", "approve", ID]).expect(0);
    stage.stands("completed", [2, 2, 0]);
    assert_eq!(done(), [true, true]);
    let status = stage.run(&["status", ID]).expect(0).stdout;
    assert!(status.contains("  ✓ F-2   the second file\n") && !status.contains('○'), "{status}");
    let list = stage.run(&["milestone", "list"]).expect(0).stdout;
    assert!(list.contains("completed  2/2 features"), "{list}");
    let shown = stage.run(&["milestone", "show", ID]).expect(0).stdout;
    assert!(
        shown.contains(" · 2 of 2 features · ") && shown.contains("  ✓ F-2 the second file\n"),
        "{shown}"
    );
}

#[test]
fn m4_a_milestone_in_the_background_is_the_same() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    let said = stage.milestone("start", &["--spawn", "--json"]).expect(0);
    let view: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&view["name"], &view["kind"]), (&ID.into(), &"milestone".into()));
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.world.assert_nothing_left(ID);
}

#[test]
fn s5_spawn_takes_a_milestone_as_any_task() {
    let stage = Stage::new();
    stage.play(&["build F-1"; 3], &["reject a", "reject b", "reject c"]);
    let _ = stage.run(&["spawn", "--milestone", ID]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(4);
    stage.stands("paused", [3, 0, 3]);
    stage.play(
        &["exit 9", "exit 9", "exit 9", "build F-1", "build F-2", "complete"],
        &["exit 9", "exit 9", "exit 9", "accept", "accept", "accept_all"],
    );
    // In the background it goes on there.
    let _ = stage.run(&["resume", ID, "once more"]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [6, 3, 0]);
    stage.assert_told("dev", 4, "once more");
    stage.world.assert_nothing_left(ID);
}
