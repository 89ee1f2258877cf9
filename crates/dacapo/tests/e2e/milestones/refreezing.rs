//! What a milestone is held to is frozen at its start; a person may freeze it anew (M11).

use super::refusals::refused;
use super::{ACCEPTS, BUILDS, FILE, ID, Stage};

impl Stage {
    /// The user changes the file, and commits that on main or not.
    fn rewrite(self, from: &str, to: &str) -> Self {
        let text = self.world.read(FILE);
        assert!(text.contains(from), "{text}");
        self.world.write(FILE, text.replace(from, to));
        self.with_all_this()
    }
}

fn stuck() -> Stage {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "build F-2", "build F-2", "build F-2", "build F-2", "complete"],
        &[
            "accept",
            "reject a 'too short'",
            "reject b '[R1] too short'",
            "reject c '[R1] too short'",
            "accept",
            "accept_all",
        ],
    );
    let _ = stage.start().expect(4);
    stage
}

#[test]
fn m11_a_changed_file_is_refused_until_it_is_frozen_anew() {
    let stage = stuck().rewrite("nothing else is", "a third file may be");
    for words in [
        ["milestone", "resume", ID].as_slice(),
        &["resume", ID],
        &["milestone", "approve", ID],
        &["approve", ID],
    ] {
        refused(&stage.world, words, "two.md was changed since the milestone was started");
    }
    let _ = stage.milestone("resume", &["--refreeze"]).expect(0);
    stage.stands("completed", [6, 3, 0]);
    for agent in ["dev", "acc"] {
        stage.assert_told(agent, 5, "A person has changed what the milestone is held to");
        stage.assert_told(agent, 5, "a third file may be");
        stage.assert_not_told(agent, 6, "A person has changed");
    }
    stage.assert_told("acc", 6, "C-2: a third file may be");
    stage.assert_not_told("acc", 6, "nothing else is");
    // What was accepted by the same words stays so, and findings have their ids.
    stage.assert_told("dev", 5, "F-1 (accepted)");
    stage.assert_told("dev", 5, "[R1] too short");
}

#[test]
fn m11_settings_and_layout_are_not_what_the_review_is_held_to() {
    let stage = stuck().rewrite("acceptor: acc", "acceptor: acc\nauto_start: true\n");
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [6, 3, 0]);
}

#[test]
fn m11_a_file_that_does_not_read_or_is_gone_changes_nothing() {
    let stage = stuck().rewrite("## Goal", "## Gaol");
    for words in [["milestone", "resume", ID].as_slice(), &["milestone", "resume", ID, "--refreeze"]] {
        refused(&stage.world, words, "two.md:7: '## Gaol' is not a section");
    }
    std::fs::remove_file(stage.world.repo().join(FILE)).unwrap();
    let stage = stage.with_all_this();
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [6, 3, 0]);
    stage.assert_told("acc", 6, "C-2: nothing else is");
}

#[test]
fn m11_a_feature_that_is_new_is_built_and_others_keep_their_verdict() {
    let stage = stuck().rewrite("- the second file", "- the second file, larger\n- a third file");
    stage.play(
        &["exit 9", "exit 9", "exit 9", "exit 9", "build F-2", "build F-3", "complete"],
        &["exit 9", "exit 9", "exit 9", "exit 9", "accept", "accept", "accept_all"],
    );
    let _ = stage.milestone("resume", &["--refreeze", "mind the third"]).expect(0);
    stage.stands("completed", [7, 4, 0]);
    stage.assert_told("dev", 5, "F-1 (accepted)");
    stage.assert_told("dev", 5, "F-3 (not done): a third file");
    stage.assert_told("dev", 5, "mind the third");
    let features = stage.status()["milestone"]["features"].clone();
    assert_eq!(features.as_array().map(Vec::len), Some(3), "{features:#}");
    assert!(features.as_array().unwrap().iter().all(|feature| feature["done"] == true), "{features:#}");
}

#[test]
fn m11_the_developer_may_carry_the_new_text_over_but_not_another() {
    let stage = stuck().rewrite("nothing else is", "a third file may be");
    let merges = "cp $repo/.dacapo/milestones/two.md .dacapo/milestones/two.md; build F-2";
    stage.play(
        &[
            "exit 9",
            "exit 9",
            "exit 9",
            "exit 9",
            merges,
            "echo >> .dacapo/milestones/two.md; build F-2",
            "git revert -n HEAD; build F-2",
            "complete",
        ],
        &["exit 9", "exit 9", "exit 9", "exit 9", "accept", "accept", "accept_all"],
    );
    let _ = stage.milestone("resume", &["--refreeze"]).expect(0);
    stage.assert_told("dev", 7, "two.md was changed");
    stage.stands("completed", [7, 4, 0]);
}

#[test]
fn m5_a_review_of_other_criteria_begins_anew() {
    let stage = Stage::with("requires_human_review: true\n", "");
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(4);
    let stage = stage.rewrite("nothing else is", "a third file may be");
    refused(&stage.world, &["milestone", "approve", ID], "was changed since the milestone was started");
    stage.play(&["exit 9", "exit 9", "exit 9", "complete"], &["exit 9", "exit 9", "exit 9", "accept_all"]);
    let _ = stage.milestone("resume", &["--refreeze"]).expect(4);
    stage.stands("awaiting_review", [4, 4, 0]);
    stage.assert_told("acc", 4, "C-2: a third file may be");
    let _ = stage.milestone("approve", &[]).expect(0);
    stage.stands("completed", [4, 4, 0]);
}
