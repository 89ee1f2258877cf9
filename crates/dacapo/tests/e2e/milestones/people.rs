//! What a person can do at a pause (M10), and where a person has the last word (M5).

use rustix::process::Signal;

use super::refusals::refused;
use super::{ACCEPTS, BRANCH, BUILDS, ID, Stage};
use crate::support::wait_for;

/// Paused after three rejections of F-1.
pub(super) fn stuck() -> Stage {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "build F-1", "build F-1", "build F-1", "build F-2", "complete"],
        &["reject one", "reject two", "reject three", "accept", "accept", "accept_all"],
    );
    let _ = stage.start().expect(4);
    stage
}

#[test]
fn m10_what_is_told_at_a_pause_is_heard_by_both_when_it_goes_on() {
    let stage = stuck();
    let _ = stage.run(&["tell", ID, "write it on one line"]).expect(0);
    stage.stands("paused", [3, 0, 3]);
    assert_eq!(stage.calls(), [3, 3], "telling starts nothing");
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [6, 3, 0]);
    for agent in ["dev", "acc"] {
        stage.assert_told(agent, 4, "write it on one line");
        stage.assert_not_told(agent, 5, "write it on one line");
    }
}

#[test]
fn m9_who_goes_on_is_told_what_the_project_remembers_by_now() {
    const MEMORY: &str = ".dacapo/memory/project.md";
    let remembered = |stage: &Stage| {
        let events = stage.world.events(ID, "command_received");
        events.iter().filter(|event| event["command"] == "remember").count()
    };
    // What git shows of the user's checkout stays the same throughout.
    let ignored = |stage: Stage| {
        let before =
            std::fs::read_to_string(stage.world.repo().join(".git/info/exclude")).unwrap_or_default();
        stage.world.write(".git/info/exclude", format!("{before}memory/\n"));
        stage
    };
    let stage = ignored(Stage::new());
    stage.world.write(MEMORY, "Tests are slow.\n");
    let no = ["reject no"; 3];
    stage.play(&["build F-1"; 6], &[no, no].concat());
    let _ = stage.start().expect(4);
    stage.world.write(MEMORY, "Tests are fast by now.\n");
    let _ = stage.milestone("resume", &[]).expect(4);
    let logs = stage.run(&["logs", ID]).expect(0).stdout;
    assert!(logs.contains("dacapo resume: uses the project memory in the file from now on\n"), "{logs}");
    for (call, told, not) in [(3, "are slow", "are fast by now"), (4, "are fast by now", "are slow")] {
        stage.assert_told("dev", call, told);
        stage.assert_not_told("dev", call, not);
    }
    // In the background, too; what has not changed is not told of again, and what is gone is forgotten.
    stage.play(&[&["build F-1"; 6][..], &BUILDS].concat(), &[&[no, no].concat()[..], &ACCEPTS].concat());
    std::fs::remove_file(stage.world.repo().join(MEMORY)).unwrap();
    let _ = stage.milestone("resume", &["--spawn"]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.assert_not_told("dev", 7, "Tests are");
    assert_eq!(remembered(&stage), 2);
    // As at the start, it has its bound.
    let stage = ignored(stuck());
    stage.world.write(MEMORY, "x".repeat(300 << 10));
    let ran = stage.milestone("resume", &[]).expect(2);
    assert!(ran.stderr.contains("300 KiB: too much to give to the agents every round"), "{}", ran.stderr);
    stage.stands("paused", [3, 0, 3]);
    stage.world.write(MEMORY, "");
    let _ = stage.milestone("resume", &[]).expect(0);
    assert_eq!(remembered(&stage), 0);
}

#[test]
fn m10_approve_overrules_the_acceptor() {
    let stage = stuck();
    stage.play(
        &["exit 9", "exit 9", "exit 9", "build F-2", "complete"],
        &["exit 9", "exit 9", "exit 9", "accept", "accept_all"],
    );
    let _ = stage.milestone("approve", &[]).expect(0);
    stage.stands("completed", [5, 3, 0]);
    assert_eq!(stage.calls(), [5, 5]);
    assert_eq!(stage.verdicts()[2], (true, "person".to_owned()));
    let shown: serde_json::Value =
        serde_json::from_str(&stage.milestone("show", &["--json"]).expect(0).stdout).unwrap();
    for (at, round) in shown["history"].as_array().unwrap().iter().enumerate() {
        assert_eq!(round["verdict"], stage.round(at + 1)["verdict"], "one story: {round:#}");
    }
    let page = stage.milestone("show", &[]).expect(0).stdout;
    let third = page.split("\nRound 3").nth(1).unwrap().split("\nRound 4").next().unwrap();
    let verdict = third.find("verdict   ✓ accepted by a person, against: three");
    assert!(verdict > third.find("dacapo approve") && third.contains("dacapo approve"), "{page}");
    stage.assert_told("dev", 4, "F-1 (accepted)");
    stage.assert_not_told("dev", 4, "The last round was rejected");
}

#[test]
fn m10_approve_of_a_final_rejection_completes_it() {
    let stage = Stage::with("max_iterations_per_milestone: 3\n", "");
    stage.play(&BUILDS, &["accept", "accept", "reject no; printf 'C-1: met\\nC-2: not met\\n'"]);
    let _ = stage.start().expect(4);
    stage.stands("paused", [3, 2, 0]);
    let _ = stage.run(&["approve", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.calls(), [3, 3], "nobody is asked again");
    let _ = stage.run(&["wait", ID]).expect(0);
}

/// Whoever paused it may have done so because of the verdict.
#[test]
fn m10_at_a_pause_of_a_person_the_newest_rejection_can_be_overruled() {
    let stage = Stage::unconfined();
    stage.play(
        &["dacapo pause two >&2; build F-1", "build F-2", "complete"],
        &["reject bad 'too short'", "accept", "accept_all"],
    );
    let _ = stage.start().expect(4);
    stage.stands("paused", [1, 0, 1]);
    let needs = stage.status()["needs"].clone();
    assert_eq!(needs["kind"], "resume");
    assert!(needs["options"].as_array().unwrap().contains(&"dacapo approve two".into()), "{needs:#}");
    refused(&stage.world, &["milestone", "reject", ID, "no"], "is not waiting for your verdict: paused by");
    let shown = stage.milestone("show", &[]).expect(0).stdout;
    assert!(shown.contains("dacapo milestone approve two "), "{shown}");
    let _ = stage.milestone("approve", &[]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!((stage.calls(), stage.verdicts()[0].clone()), ([3, 3], (true, "person".to_owned())));
}

/// In the middle of a round nothing was judged yet that a yes could be about.
#[test]
fn m10_at_a_pause_within_a_round_nothing_is_to_be_approved() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "touch $scratch/at-work; sleep 1000", "build F-1", "build F-2", "complete"],
        &["reject bad 'too short'", "accept", "accept", "accept_all"],
    );
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    let _ = stage.run(&["pause", "--now", ID]).expect(0);
    wait_for("the pause", || stage.status()["status"] == "paused");
    stage.world.assert_nothing_left(ID);
    let options = stage.status()["needs"]["options"].to_string();
    assert!(!options.contains("approve"), "{options}");
    refused(&stage.world, &["milestone", "approve", ID], "has no verdict to overrule now");
    let _ = stage.milestone("resume", &[]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [4, 3, 0]);
}

/// What was started in the foreground can go on in the background; flags for one that begins are not dropped in silence.
#[test]
fn m2_one_that_was_cut_short_goes_on_in_the_background_where_asked() {
    let stage = Stage::new();
    let hangs = "touch $scratch/at-work; sleep 1000";
    stage.play(&[hangs, hangs, "build F-1", "build F-2", "complete"], &ACCEPTS);
    let cut_short = |stage: &Stage| {
        stage.world.wait_for_file("at-work");
        std::fs::remove_file(stage.world.scratch("at-work")).unwrap();
    };
    let running = stage.world.start(&["milestone", "start", ID]);
    cut_short(&stage);
    running.signal(Signal::KILL);
    let _ = running.end();
    stage.world.assert_nothing_left(ID);
    let said = stage.run(&["milestone", "start", "--auto", "--spawn", "--developer", "acc"]).expect(0);
    assert!(said.stdout.contains("two continues in the background"), "{}", said.stdout);
    assert!(said.stderr.contains("--developer only applies to a new milestone"), "{}", said.stderr);
    cut_short(&stage);
    let _ = stage.run(&["pause", "--now", ID]).expect(0);
    wait_for("the pause", || stage.status()["status"] == "paused");
    stage.world.assert_nothing_left(ID);
    let said = stage.run(&["resume", ID, "--spawn"]).expect(0);
    assert!(said.stdout.contains("two continues in the background"), "{}", said.stdout);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
}

#[test]
fn m5_where_a_person_has_the_last_word_yes_completes_it() {
    let stage = Stage::with("requires_human_review: true\n", "");
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(4);
    stage.stands("awaiting_review", [3, 3, 0]);
    assert_eq!(stage.needs().0, "review");
    let _ = stage.run(&["wait", ID]).expect(4);
    let said = stage.milestone("resume", &[]).expect(2);
    assert!(said.stderr.contains("is waiting for your verdict"), "{}", said.stderr);
    let said = stage.milestone("approve", &["R1"]).expect(2);
    assert!(said.stderr.contains("a verdict on the whole milestone"), "{}", said.stderr);
    stage.stands("awaiting_review", [3, 3, 0]);
    let _ = stage.milestone("approve", &[]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!((stage.calls(), stage.needs().0.as_str()), ([3, 3], ""));
    let said = stage.milestone("approve", &[]).expect(2);
    assert!(said.stderr.contains("is not asking anything (completed)"), "{}", said.stderr);
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m5_where_a_person_has_the_last_word_no_is_heard_by_the_developer() {
    let stage = Stage::with("requires_human_review: true\n", "");
    stage.play(
        &["build F-1", "build F-2", "complete", "build F-1", "complete"],
        &["accept", "accept", "accept_all", "accept", "accept_all"],
    );
    let _ = stage.start().expect(4);
    let _ = stage.milestone("reject", &["the first", "file is ugly"]).expect(4);
    stage.stands("awaiting_review", [5, 4, 0]);
    stage.assert_told("dev", 4, "a person rejected the milestone: the first file is ugly");
    stage.assert_not_told("dev", 5, "ugly");
    assert_eq!(stage.calls(), [5, 5]);
    let _ = stage.milestone("approve", &[]).expect(0);
    stage.stands("completed", [5, 4, 0]);
}

#[test]
fn m10_a_review_in_the_background_is_answered_as_any_question() {
    let stage = Stage::with("requires_human_review: true\n", "");
    stage.play(
        &["build F-1", "build F-2", "complete", "build F-1", "complete"],
        &["accept", "accept", "accept_all", "accept", "accept_all"],
    );
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(4);
    let _ = stage.run(&["reject", ID, "ugly"]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(4);
    stage.stands("awaiting_review", [5, 4, 0]);
    stage.assert_told("dev", 4, "ugly");
    let _ = stage.run(&["approve", ID]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [5, 4, 0]);
}

#[test]
fn m10_an_answer_that_does_not_fit_changes_nothing() {
    let stage = stuck();
    let before = stage.world.everything();
    for (words, told) in [
        (["reject", ID, "again"].as_slice(), "is not waiting for your verdict: rejected 3×"),
        (&["milestone", "reject", ID], "is not waiting for your verdict: rejected 3×"),
        (&["milestone", "approve", ID, "x"], "a finding is written R3"),
        (&["approve", "ghost"], "not found"),
        (&["set", ID, "colour=red"], "colour"),
        (&["tell", ID, " "], "nothing to tell"),
        (&["pause", ID], "is not running"),
    ] {
        let said = stage.run(words).expect(2);
        assert!(said.stderr.contains(told), "{words:?}: {}", said.stderr);
        assert_eq!(stage.world.everything(), before, "{words:?}");
    }
}

/// Where no report fitted there is nothing in the round, and where it was accepted nothing is left to say yes to.
#[test]
fn m10_what_nobody_could_accept_is_not_approved() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "");
    stage.play(&["echo hello", "echo hello", "build F-1", "complete"], &["accept", "accept_all"]);
    let _ = stage.start().expect(4);
    let approve = ["milestone", "approve", ID];
    refused(&stage.world, &approve, "round 1 of milestone 'two' has no report to accept");
    refused(&stage.world, &["approve", ID], "has no report to accept");
    let options = stage.status()["needs"]["options"].to_string();
    assert!(!options.contains("approve") && options.contains("dacapo resume two"), "{options}");
    for words in [["milestone", "show", ID].as_slice(), &["status", ID]] {
        let said = stage.run(words).expect(0).stdout;
        assert!(said.contains("rejected by Dacapo: "), "nobody else did: {said}");
    }
    let logged = stage.run(&["logs", ID]).expect(0).stdout;
    assert!(logged.contains("Round 1: REJECTED by Dacapo: "), "{logged}");
    let _ = stage.milestone("resume", &["report, please"]).expect(0);
    let stage = Stage::with("max_iterations_per_milestone: 1\n", "");
    stage.play(&["build F-1"], &["accept"]);
    let _ = stage.start().expect(4);
    refused(&stage.world, &approve, "round 1 of milestone 'two' is already accepted");
    assert_eq!(stage.needs(), ("rounds".to_owned(), "the only round is used up".to_owned()));
}

#[test]
fn m11_only_a_finding_that_is_open_can_be_settled() {
    let stage = stuck();
    refused(&stage.world, &["milestone", "approve", ID, "R77"], "finding R77 is not open");
    refused(&stage.world, &["approve", ID, "1"], "open findings: R3");
}

#[test]
fn s9_a_pause_waits_for_the_end_of_the_round() {
    let stage = Stage::new();
    let go = "touch $scratch/at-work; until test -e $scratch/go; do sleep 0.02; done; build F-1";
    stage.play(&[go, "build F-2", "complete"], &ACCEPTS);
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    let said = stage.run(&["resume", ID]).expect(2);
    assert!(said.stderr.contains("is still running"), "{}", said.stderr);
    let said = stage.milestone("approve", &[]).expect(2);
    assert!(said.stderr.contains("is not asking anything (running)"), "{}", said.stderr);
    let _ = stage.run(&["pause", ID]).expect(0);
    let _ = stage.run(&["tell", ID, "small files please"]).expect(0);
    std::fs::write(stage.world.scratch("go"), "").unwrap();
    let _ = stage.run(&["wait", ID]).expect(4);
    stage.stands("paused", [1, 1, 0]);
    assert_eq!((stage.needs().0.as_str(), stage.calls()), ("resume", [1, 1]));
    let said = stage.milestone("approve", &[]).expect(2);
    assert!(said.stderr.contains("round 1 of milestone 'two' is already accepted"), "{}", said.stderr);
    let _ = stage.milestone("resume", &[]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    // Said while the Developer was at work: the Acceptor of that round heard it, the Developer in its next.
    stage.assert_told("acc", 1, "small files please");
    stage.assert_told("dev", 2, "small files please");
}

#[test]
fn s8_a_killed_milestone_keeps_what_was_not_committed_and_goes_on() {
    let stage = Stage::new();
    let hangs = "echo half > half; touch $scratch/at-work; sleep 1000";
    stage.play(&[hangs, "rm half; echo 'It is gone.'", "build F-1", "build F-2", "complete"], &ACCEPTS);
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    let _ = stage.run(&["kill", ID]).expect(0);
    let status = stage.status();
    assert_eq!((&status["status"], &status["milestone"]["rounds"]), (&"cancelled".into(), &0.into()));
    stage.world.assert_nothing_left(ID);
    let kept = stage.world.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue"]);
    assert_eq!(stage.world.git(&["show", &format!("{kept}:half")]), "half");
    let _ = stage.milestone("resume", &[]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.assert_told("dev", 2, "was interrupted");
    stage.assert_told("dev", 2, "half");
    stage.assert_told("dev", 2, "Only put the tree in order");
    stage.assert_told("dev", 3, "was interrupted");
    stage.assert_told("acc", 1, "was interrupted");
    stage.assert_not_told("dev", 4, "was interrupted");
}

#[test]
fn r1_an_interrupted_milestone_goes_on_in_its_round() {
    let stage = Stage::new();
    let hangs = "touch $scratch/at-work; sleep 1000";
    stage.play(&BUILDS, &[hangs, "accept", "accept", "accept_all"]);
    let running = stage.world.start(&["milestone", "start", ID]);
    stage.world.wait_for_file("at-work");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    stage.world.assert_nothing_left(ID);
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.calls(), [3, 4], "the Developer's report stands");
}

#[test]
fn m10_an_abandoned_milestone_is_over_and_its_branch_stays() {
    let stage = stuck();
    let _ = stage.milestone("abandon", &[]).expect(0);
    let (status, _) = stage.standing();
    assert_eq!(status, "abandoned");
    assert_eq!(stage.commits().len(), 3);
    for words in [["milestone", "start", ID].as_slice(), &["milestone", "approve", ID]] {
        let _ = stage.run(words).expect(2);
    }
    stage.world.assert_nothing_left(ID);
    assert_eq!(stage.calls(), [3, 3]);
    // Nothing takes it up again by itself; a person who thinks otherwise may.
    let _ = stage.run(&["milestone", "start", "--auto"]).expect(0);
    assert_eq!(stage.calls(), [3, 3]);
    let _ = stage.milestone("abandon", &[]).expect(0);
    assert_eq!(stage.standing().0, "abandoned");
    let _ = stage.milestone("resume", &["after all"]).expect(0);
    stage.stands("completed", [6, 3, 0]);
}

#[test]
fn m10_abandon_ends_what_runs() {
    let stage = Stage::new();
    stage.play(&["touch $scratch/at-work; sleep 1000"], &[]);
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    let said = stage.milestone("abandon", &["--json"]).expect(0);
    let seen: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(seen["milestone"]["status"], "abandoned", "{seen:#}");
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m10_a_completed_milestone_is_merged_like_any_task() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(0);
    let said = stage.milestone("abandon", &[]).expect(2);
    assert!(said.stderr.contains("is completed"), "{}", said.stderr);
    let said = stage.milestone("resume", &[]).expect(2);
    assert!(said.stderr.contains("is completed"), "{}", said.stderr);
    let tip = stage.world.git(&["rev-parse", BRANCH]);
    let merged = stage.world.run(&["merge", ID]).expect(0);
    assert!(stage.world.repo().join("F-1").exists() && stage.world.repo().join("F-2").exists(), "{merged:?}");
    stage.world.git(&["merge-base", "--is-ancestor", &tip, "main"]);
}

#[test]
fn m4_a_pause_at_once_keeps_the_round() {
    let stage = Stage::new();
    let hangs = "touch $scratch/at-work; sleep 1000";
    stage.play(&[hangs, "build F-1", "build F-2", "complete"], &ACCEPTS);
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    let _ = stage.run(&["pause", "--now", ID]).expect(0);
    wait_for("the pause", || stage.status()["status"] == "paused");
    stage.world.assert_nothing_left(ID);
    let _ = stage.milestone("resume", &["take your time"]).expect(0);
    let _ = stage.run(&["wait", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.assert_told("dev", 2, "take your time");
}
