//! The same in the background, in the user's own checkout, and in the row behind another milestone.

use super::*;
use crate::crash::for_each;
use crate::crash::guards::{Aim, kill};

const SPAWN: [&str; 6] = ["milestone", "start", "m", "--check", "test -e one", "--spawn"];

impl World {
    /// The process that drives the milestone.
    fn runner(&self, name: &str) -> u32 {
        u32::try_from(self.status(name)["pid"].as_u64().unwrap()).unwrap()
    }

    /// Waits until nothing of it is left.
    fn gone(&self, name: &str) {
        self.assert_nothing_left(name);
        assert_eq!(self.status(name)["status"], "interrupted");
    }
}

#[test]
fn m9_in_the_background_it_dies_in_either_ones_turn_and_goes_on() {
    for_each(&["developer.2", "acceptor.3"], |turn| {
        let world = team(Format::Sessions, Format::Text);
        world.accident(turn, "begin", "echo half > two; stay");
        let _ = world.run(&SPAWN).expect(0);
        world.wait_for_file("desk/ready");
        Aim::Runner.strike(world.runner("m"));
        world.gone("m");
        let had = world.turns_seen().len();
        let _ = world.run(&RESUME).expect(0);
        let _ = world.wait("m").expect(0);
        let next = &world.turns_seen()[had];
        assert_eq!(next.role, "developer", "{turn}");
        assert!(
            next.told.contains("are not committed; commit or undo them:\n\n```\ntwo\n```"),
            "{}",
            next.told
        );
        world.assert_whole();
    });
}

#[test]
fn m9_in_the_row_behind_another_it_dies_again_and_again() {
    let world = team(Format::Sessions, Format::Text);
    world.write(".dacapo/milestones/other.md", DEFINITION);
    world.git(&["add", "-f", ".dacapo"]);
    world.git(&["commit", "-q", "--amend", "-m", "plan"]);
    world.accident(
        "developer.1",
        "begin",
        "touch \"$desk/ready\"; while ! [ -e \"$desk/go\" ]; do sleep 0.02; done",
    );
    let _ = world.run(&["milestone", "start", "other", "--check", "true", "--spawn"]).expect(0);
    world.wait_for_file("desk/ready");
    let _ = world.run(&SPAWN).expect(0);
    for _ in 0..3 {
        wait_for("the row", || world.status("m")["status"] == "queued");
        kill(world.runner("m"), rustix::process::Signal::KILL);
        world.gone("m");
        let _ = world.run(&RESUME).expect(0);
    }
    assert_eq!(world.turns_seen().len(), 1, "there is one milestone at a time");
    // The one before it dies too: the row moves on, and the dead one can go on later.
    wait_for("the row", || world.status("m")["status"] == "queued");
    Aim::Runner.strike(world.runner("other"));
    world.gone("other");
    let _ = world.wait("m").expect(0);
    assert_eq!(world.status("m")["status"], "completed");
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/m"]), "fix: two\nfeat: two\nfeat: one");
    world.assert_nothing_left("m");
    fs::write(world.scratch("desk/go"), "").unwrap();
    let _ = world.run(&["milestone", "resume", "other"]).expect(0);
    let _ = world.wait("other").expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/other"]), "fix: two\nfeat: two\nfeat: one");
    world.assert_nothing_left("other");
}

#[test]
fn m9_in_the_users_checkout_it_dies_and_goes_on_there() {
    let start = [&START[..], &["--noworktree"]].concat();
    for_each(&["developer.2", "acceptor.3"], |turn| {
        let world = team(Format::Sessions, Format::Text);
        world.accident(turn, "begin", "echo half > two; echo half > new; stay");
        let mut runner = world.until_ready(&start);
        Aim::Runner.strike(runner.id());
        runner.wait().unwrap();
        world.gone("m");
        let had = world.turns_seen().len();
        world.milestone_to_the_end();
        let next = &world.turns_seen()[had];
        assert_eq!(next.role, "developer", "{turn}");
        assert!(next.told.contains("are not committed; commit or undo them:"), "{}", next.told);
        let status = world.status("m");
        assert_eq!(status["outcome"], "completed");
        let shown = &status["milestone"];
        let counts = ["rounds", "iteration_count", "consecutive_rejections"].map(|key| &shown[key]);
        assert_eq!(counts, [&json!(4), &json!(3), &json!(0)], "{shown:#}");
        assert_eq!(
            world.git(&["log", "--format=%s", "milestone/m"]),
            "fix: two\nfeat: two\nfeat: one\nplan\nfirst"
        );
        assert_eq!(world.git(&["log", "--format=%s", "main"]), "plan\nfirst");
        assert_eq!(world.git(&["status", "--porcelain"]), "");
        world.assert_nothing_left("m");
    });
}
