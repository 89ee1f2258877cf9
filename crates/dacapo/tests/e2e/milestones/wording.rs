//! `.dacapo/prompts/`: the user's own wording of what the two are told.

use std::fs;

use super::refusals::refused;
use super::{ACCEPTS, BRANCH, BUILDS, ID, Stage};

impl Stage {
    fn prompt(&self, name: &str, text: &str) {
        self.world.write(&format!(".dacapo/prompts/{name}.md"), text);
    }

    /// What differs between two of the same: where it is, and its commits.
    fn own_names(&self) -> Vec<String> {
        let commits = self.world.git(&["log", "--format=%H", BRANCH])
            + "\n"
            + &self.world.git(&["log", "--format=%h", BRANCH]);
        let places = [self.world.data(), self.world.repo()].map(|path| path.display().to_string());
        places.into_iter().chain(commits.lines().map(str::to_owned)).collect()
    }
}

#[test]
fn m6_own_words_are_told_and_what_must_be_known_comes_behind_them() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    stage
        .prompt("developer", "<!-- for the Developer -->\nBuild in {{round}} of {{rounds}}, \\{{kindly}}.\n");
    stage.prompt("acceptor", "Be strict about {{feature}}\n");
    stage.prompt("final", "Look at all of {{id}}.\n");
    let stage = stage.with_all_this();
    stage.world.trust();
    let _ = stage.start().expect(0);
    stage.stands("completed", [3, 3, 0]);
    let told = stage.told("dev", 1);
    assert!(told.starts_with("Build in 1 of 20, {{kindly}}."), "{told}");
    for given in ["Two files, F-1 and F-2.", "milestone/two", "## Implementation Report — Round 1"] {
        assert!(told.contains(given), "{given}: {told}");
    }
    assert!(!told.contains("for the Developer"), "{told}");
    stage.assert_told("dev", 2, "Build in 2 of 20");
    for (call, own, given) in
        [(1, "Be strict about", "F-1 is not empty"), (3, "Look at all of two.", "nothing else is")]
    {
        assert!(stage.told("acc", call).starts_with(own), "{}", stage.told("acc", call));
        stage.assert_told("acc", call, given);
        stage.assert_told("acc", call, "ACCEPTED");
    }
}

#[test]
fn m6_own_words_that_do_not_read_are_refused_with_file_and_line() {
    let stage = Stage::new();
    stage.prompt("acceptor", "Judge.\n\nIt is about {{feture}}.\n");
    refused(&stage.world, &["milestone", "start", ID], ".dacapo/prompts/acceptor.md:3: ");
    let said = stage.world.run(&["milestone", "start", ID]).expect(2);
    assert!(said.stderr.contains("feature"), "what was meant is named: {}", said.stderr);
    stage.prompt("acceptor", "It is about {{feature.\n");
    refused(&stage.world, &["milestone", "start", ID], ".dacapo/prompts/acceptor.md:1: '{{' is not closed");
    assert!(stage.world.tasks().is_empty());
}

/// What `init` writes there is comment: both hear what they hear without it.
#[test]
fn m1_what_init_lays_out_changes_nothing_of_what_they_are_told() {
    let told = [false, true].map(|laid_out| {
        let stage = Stage::new();
        stage.play(&BUILDS, &ACCEPTS);
        if laid_out {
            let _ = stage.world.run(&["init"]).expect(0);
            assert!(fs::exists(stage.world.repo().join(".dacapo/prompts/final.md")).unwrap());
        }
        let stage = stage.with_all_this();
        let _ = stage.start().expect(0);
        let own = stage.own_names();
        let told = ["dev", "acc"].map(|agent| [1, 2, 3].map(|call| stage.told(agent, call)).concat());
        own.iter().fold(told.concat(), |text, own| text.replace(own, "…"))
    });
    assert_eq!(told[0], told[1]);
}
