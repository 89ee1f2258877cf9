//! Limits on rounds and rejections (M7), from the front matter, the config and by command.

use super::refusals::refused;
use super::{ACCEPTS, BUILDS, ID, Stage};

const SIX: [&str; 6] = ["build F-1"; 6];

#[test]
fn m7_at_the_limit_it_pauses_instead_of_beginning_another_round() {
    let stage = Stage::with("max_iterations_per_milestone: 2\n", "");
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(4);
    stage.stands("paused", [2, 2, 0]);
    assert_eq!((stage.needs().0.as_str(), stage.calls()), ("rounds", [2, 2]));
    for words in
        [["resume", ID].as_slice(), &["milestone", "resume", ID], &["milestone", "resume", ID, "go on"]]
    {
        refused(&stage.world, words, "has used all of its 2 rounds");
    }
    let _ = stage.milestone("resume", &["--rounds", "5", "carry", "on"]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.assert_told("dev", 3, "Round 3 of 5");
    stage.assert_told("dev", 3, "carry on");
}

#[test]
fn m7_a_limit_that_was_used_up_again_pauses_again() {
    let stage = Stage::with("max_iterations_per_milestone: 1\nmax_consecutive_rejections: 9\n", "");
    stage.play(&SIX, &["reject a", "reject b", "reject c"]);
    let _ = stage.start().expect(4);
    stage.stands("paused", [1, 0, 1]);
    let said = stage.milestone("resume", &["--rounds", "3"]).expect(4);
    assert!(said.stdout.contains("limits  3 rounds, "), "what is said first is what counts: {}", said.stdout);
    stage.stands("paused", [3, 0, 3]);
    assert_eq!((stage.needs().0.as_str(), stage.calls()), ("rounds", [3, 3]));
    // A limit that is not higher than what was used is none.
    refused(&stage.world, &["milestone", "resume", ID, "--rounds", "3"], "--rounds 3 leaves none");
    let said = stage.run(&["resume", ID, "--iter", "2"]).expect(4);
    assert!(said.stdout.contains("limits  5 rounds, "), "{}", said.stdout);
    assert!(said.stdout.contains("round 4 of 5"), "{}", said.stdout);
    stage.stands("paused", [5, 0, 5]);
}

#[test]
fn m5_rejections_of_the_whole_count_toward_the_rounds() {
    let stage = Stage::with("max_iterations_per_milestone: 3\n", "");
    let no = "reject no; printf 'C-1: met\\nC-2: not met\\n'";
    stage.play(&["build F-1", "complete", "complete", "complete"], &["accept", no, no, no]);
    let _ = stage.start().expect(4);
    stage.stands("paused", [3, 1, 0]);
    assert_eq!(stage.needs().0, "rounds");
    let _ = stage.milestone("resume", &["--rounds", "9"]).expect(4);
    stage.stands("paused", [4, 1, 0]);
    assert_eq!(stage.needs().0, "final", "three times, and no commit between them");
}

/// Whatever is printed at the limit works as it stands.
#[test]
fn m10_every_answer_that_is_offered_at_the_round_limit_works() {
    let limited = || {
        let stage = Stage::with("max_iterations_per_milestone: 1\n", "");
        stage.play(
            &["build F-1", "build F-1", "build F-2", "complete"],
            &["reject a", "accept", "accept", "accept_all"],
        );
        let _ = stage.start().expect(4);
        stage
    };
    let options = limited().status()["needs"]["options"].clone();
    let offered: Vec<&str> =
        options.as_array().unwrap().iter().map(|option| option.as_str().unwrap()).collect();
    assert_eq!(
        offered,
        [
            "dacapo milestone resume two --rounds 11",
            "dacapo set two rounds=+10",
            "dacapo approve two",
            "dacapo milestone abandon two",
        ]
    );
    for (option, standing) in offered.iter().zip([
        ("completed", [4, 3, 0]),
        ("paused", [1, 0, 1]),
        // It is accepted; and no round is left for the next feature.
        ("paused", [1, 1, 0]),
        ("abandoned", [1, 0, 1]),
    ]) {
        let stage = limited();
        let words: Vec<&str> = option.split(' ').skip(1).collect();
        let code = if words[0] == "approve" { 4 } else { 0 };
        let _ = stage.run(&words).expect(code);
        assert_eq!(stage.standing(), (standing.0.to_owned(), standing.1), "{option}");
        if words[0] == "set" {
            let _ = stage.run(&["resume", ID]).expect(0);
            stage.stands("completed", [4, 3, 0]);
        }
    }
}

#[test]
fn m7_the_config_sets_limits_and_the_front_matter_wins() {
    let config = "[milestone]\nmax_iterations_per_milestone = 4\nmax_consecutive_rejections = 2\n";
    for (settings, rounds, rejections, kind) in [
        ("", 2, 2, "rejections"),
        ("max_consecutive_rejections: 9\n", 4, 4, "rounds"),
        ("max_consecutive_rejections: 1\n", 1, 1, "rejections"),
        ("max_consecutive_rejections: 9\nmax_iterations_per_milestone: 5\n", 5, 5, "rounds"),
    ] {
        let stage = Stage::with(settings, config);
        stage.play(&SIX, &["reject no"; 6]);
        let _ = stage.start().expect(4);
        stage.stands("paused", [rounds, 0, rejections]);
        assert_eq!(stage.needs().0, kind, "{settings}");
        let limits = stage.status()["milestone"].clone();
        assert_eq!(limits["max_rounds"].as_u64(), Some(rounds.max(4)), "{settings}");
    }
}

#[test]
fn m10_limits_are_set_at_a_pause() {
    let stage = Stage::with("max_iterations_per_milestone: 2\n", "");
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(4);
    let _ = stage.run(&["set", ID, "rounds=+2"]).expect(0);
    assert_eq!(stage.status()["milestone"]["max_rounds"], 4);
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.assert_told("dev", 3, "Round 3 of 4");
}

#[test]
fn m7_a_budget_ends_it_and_no_agent_without_usage_is_given_one() {
    let stage = Stage::with("max_cost: 5\n", "");
    stage.play(&BUILDS, &ACCEPTS);
    let said = stage.start().expect(2);
    assert!(said.stderr.contains("reports no usage: max_cost cannot be enforced"), "{}", said.stderr);
    assert!(stage.world.tasks().is_empty());
    let said = {
        let stage = Stage::with("max_tokens: 5\n", "");
        stage.start().expect(2)
    };
    assert!(said.stderr.contains("max_tokens cannot be enforced"), "{}", said.stderr);
}

#[test]
fn m10_rejections_are_limits_as_well() {
    let stage = Stage::with("max_consecutive_rejections: 2\n", "");
    stage.play(&SIX, &["reject a", "reject b", "reject c", "reject d", "reject e"]);
    let _ = stage.start().expect(4);
    stage.stands("paused", [2, 0, 2]);
    for wrong in ["rejections=0", "rejections=x", "rounds=0", "call-timeout=soon", "stall=3"] {
        refused(&stage.world, &["set", ID, wrong], wrong.split('=').next().unwrap());
    }
    let _ = stage.run(&["set", ID, "rejections=+1", "call-timeout=9m"]).expect(0);
    assert_eq!(stage.status()["milestone"]["max_consecutive_rejections"], 3);
    // Whoever takes it up has seen why it stands: it counts from 0 again.
    let _ = stage.milestone("resume", &[]).expect(4);
    stage.stands("paused", [5, 0, 3]);
    assert_eq!(stage.needs().0, "rejections");
}

#[test]
fn m10_show_says_which_rounds_it_left_out_and_all_of_them_can_be_seen() {
    let stage = Stage::with("max_iterations_per_milestone: 6\nmax_consecutive_rejections: 9\n", "");
    stage.play(&SIX, &["reject no"; 6]);
    let _ = stage.start().expect(4);
    let reports = |page: &str| page.matches("    ## Implementation Report — Round ").count();
    let page = stage.milestone("show", &[]).expect(0).stdout;
    let left_out = "\n… round 1 is not shown: dacapo milestone show two --all\n";
    assert!(page.contains(left_out) && reports(&page) == 5, "{page}");
    let page = stage.milestone("show", &["--all"]).expect(0).stdout;
    assert!(!page.contains("left out") && reports(&page) == 6, "{page}");
}
