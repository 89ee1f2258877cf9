//! Where a milestone works and when: in the user's checkout, and one at a time in a repository (M2).

use super::refusals::refused;
use super::{ACCEPTS, BRANCH, BUILDS, FILE, ID, Stage};
use crate::support::wait_for;

const HERE: [&str; 4] = ["milestone", "start", ID, "--noworktree"];
const WAITS: &str = "touch $scratch/at-work; until test -e $scratch/go; do sleep 0.02; done";

impl Stage {
    /// In place HEAD moves, and nothing else of the user's does.
    #[track_caller]
    fn in_place(&self, words: &[&str], code: i32) {
        let main = self.world.git(&["rev-parse", "main"]);
        let _ = self.world.run(words).expect(code);
        assert_eq!(self.world.git(&["rev-parse", "main"]), main, "after {words:?}");
        assert_eq!(self.world.git(&["branch", "--show-current"]), BRANCH);
        assert_eq!(self.world.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn m2_in_place_it_works_on_its_branch_in_the_users_checkout() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "build F-1", "build F-1", "build F-1", "build F-2", "complete"],
        &["reject a", "reject b", "reject c", "accept", "accept", "accept_all"],
    );
    stage.in_place(&HERE, 4);
    stage.stands("paused", [3, 0, 3]);
    stage.in_place(&["milestone", "resume", ID, "once more"], 0);
    stage.stands("completed", [6, 3, 0]);
    assert!(stage.world.repo().join("F-2").exists());
    assert_eq!(stage.commits().len(), 5);
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m6_in_place_a_developer_that_commits_on_main_is_a_persons_to_judge() {
    let stage = Stage::with("max_iterations_per_milestone: 1\n", "");
    stage.play(&["git checkout -q main; build F-1", "build F-1"], &["accept"]);
    let base = stage.world.git(&["rev-parse", "main"]);
    let _ = stage.world.run(&HERE).expect(4);
    assert_eq!(stage.needs().0, "main");
    let _ = stage.world.git(&["checkout", "-q", BRANCH]);
    let _ = stage.world.git(&["branch", "-f", "main", &base]);
    stage.in_place(&["milestone", "resume", ID], 4);
    stage.assert_told("dev", 2, "HEAD is on main");
    stage.stands("paused", [1, 1, 0]);
}

#[test]
fn m2_in_place_what_the_user_has_not_committed_is_in_the_way() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    stage.world.write("README.md", "mine\n");
    refused(&stage.world, &HERE, "README.md");
    stage.world.git(&["checkout", "-q", "."]);
    stage.world.git(&["branch", BRANCH]);
    refused(&stage.world, &HERE, "branch 'milestone/two' already exists");
}

#[test]
fn c10_in_place_what_was_untracked_before_is_not_the_developers_to_clean_up() {
    let stage = Stage::with("max_iterations_per_milestone: 1\n", "");
    for name in ["notes", "todo", "data"] {
        stage.world.write(name, "mine\n");
    }
    let first = "echo 1 > F-1; git add F-1; git commit -qm one; report F-1 $(git rev-parse HEAD)";
    stage.play(&[first, "rm todo; echo more >> data; build F-2", "complete"], &ACCEPTS);
    stage.world.run(&HERE).expect(4).says("3 untracked files are left out of commits: data, notes, todo");
    // They come along to another branch, and are no reason not to go on.
    let _ = stage.world.git(&["switch", "-q", "main"]);
    stage
        .world
        .run(&["milestone", "resume", ID, "--rounds", "9"])
        .expect(0)
        .says("this checkout was on main; it was switched to milestone/two to continue")
        .says("data was untracked before the task; round 2 changed it, and it is committed")
        .says("notes was untracked before the task; the agent committed it in round 2")
        .says("todo was untracked before the task; it is gone since round 2");
    assert_eq!(stage.calls(), [3, 3], "nobody was asked to clean up");
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.world.git(&["show", "--format=", "--name-only", "milestone/two~1"]), "F-1");
    for name in ["notes", "todo", "data"] {
        assert_eq!(stage.world.at("refs/dacapo/rescue/two/before/untracked", name), "mine", "{name}");
    }
}

/// An answer that cannot be taken in now is not kept for later either.
#[test]
fn m10_what_is_answered_while_the_checkout_is_taken_changes_nothing() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "");
    stage.play(&["build F-1", "complete"], &["reject no", "accept_all"]);
    stage.in_place(&HERE, 4);
    let agent = format!("cat > /dev/null; scratch={}; {WAITS}", stage.world.scratch("").display());
    let _ =
        stage.world.run(&["spawn", "--noworktree", "--name", "loop", "--agent-cmd", &agent, "go"]).expect(0);
    stage.world.wait_for_file("at-work");
    let inbox = || std::fs::read_dir(stage.world.task_dir(ID).join("inbox")).map_or(0, Iterator::count);
    let before = (stage.world.journal(ID), inbox());
    for words in [["milestone", "approve", ID].as_slice(), &["milestone", "resume", ID, "--rounds", "9"]] {
        let said = stage.world.run(words).expect(2);
        assert!(
            said.stderr.contains("Task 'loop' is running in this checkout"),
            "{words:?}: {}",
            said.stderr
        );
        assert_eq!((stage.world.journal(ID), inbox()), before, "{words:?}");
    }
    std::fs::write(stage.world.scratch("go"), "").unwrap();
    let _ = stage.world.run(&["wait", "loop"]).expect(0);
    stage.stands("paused", [1, 0, 1]);
    stage.in_place(&["milestone", "approve", ID], 0);
    stage.stands("completed", [2, 2, 0]);
}

#[test]
fn m2_one_at_a_time_and_the_next_in_the_background_waits() {
    let stage = Stage::new();
    let text = stage.world.read(FILE);
    stage.world.write(".dacapo/milestones/three.md", text);
    let stage = stage.with_all_this();
    // The calls are counted over both: had the second one begun early, it would have had those of the first.
    let first = format!("{WAITS}; build F-1");
    stage.play(
        &[&first, "complete", "build F-1", "complete"],
        &["accept", "accept_all", "accept", "accept_all"],
    );
    let _ = stage.milestone("start", &["--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    refused(&stage.world, &["milestone", "start", "three"], ID);
    let _ = stage.run(&["spawn", "--milestone", "three"]).expect(0);
    wait_for("it to be queued", || stage.world.status("three")["status"] == "queued");
    let said = stage.run(&["milestone", "start", "three"]).expect(2);
    assert!(said.stderr.contains("was already started"), "{}", said.stderr);
    assert_eq!(stage.calls(), [1, 0]);
    std::fs::write(stage.world.scratch("go"), "").unwrap();
    for id in [ID, "three"] {
        let _ = stage.run(&["wait", id]).expect(0);
        assert_eq!(stage.world.status(id)["milestone"]["status"], "completed", "{id}");
    }
    assert_eq!(stage.calls(), [4, 4]);
    stage.assert_told("dev", 2, "milestone two");
    stage.assert_told("dev", 3, "milestone three");
    for id in [ID, "three"] {
        stage.world.assert_nothing_left(id);
    }
}

#[test]
fn m2_one_that_stood_in_a_row_starts_from_where_main_is_by_then() {
    let stage = Stage::with("max_iterations_per_milestone: 1\n", "");
    let text = stage.world.read(FILE);
    stage.world.write(".dacapo/milestones/three.md", text);
    stage.play(&[&format!("{WAITS}; build F-1"), "build F-1"], &["accept", "accept"]);
    let was = stage.world.git(&["rev-parse", "main"]);
    let _ = stage.world.run(&["milestone", "start", ID, "--spawn"]).expect(0);
    stage.world.wait_for_file("at-work");
    let _ = stage.world.run(&["milestone", "start", "three", "--spawn"]).expect(0);
    wait_for("it to be queued", || stage.world.status("three")["status"] == "queued");
    let _ = stage.world.git(&["commit", "-q", "--allow-empty", "-m", "what the second one needs"]);
    let main = stage.world.git(&["rev-parse", "main"]);
    std::fs::write(stage.world.scratch("go"), "").unwrap();
    for (id, base) in [(ID, was), ("three", main)] {
        let _ = stage.world.run(&["wait", id]).expect(4);
        assert_eq!(stage.world.status(id)["milestone"]["iteration_count"], 1, "{id}");
        assert_eq!(stage.world.git(&["rev-parse", &format!("milestone/{id}~1")]), base, "{id}");
        let mirror: serde_json::Value =
            serde_json::from_str(&stage.world.read(&format!(".dacapo/milestones/{id}.json"))).unwrap();
        assert_eq!(mirror["base_commit"], base.as_str(), "{id}");
    }
}

#[test]
fn m2_one_that_waits_for_a_person_is_in_nobodys_way() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "");
    let text = stage.world.read(FILE);
    stage.world.write(".dacapo/milestones/three.md", text);
    let stage = stage.with_all_this();
    stage.play(
        &["build F-1", "build F-1", "complete", "complete"],
        &["reject no", "accept", "accept_all", "accept_all"],
    );
    let _ = stage.start().expect(4);
    let _ = stage.run(&["milestone", "start", "three"]).expect(0);
    let _ = stage.milestone("approve", &[]).expect(0);
    stage.stands("completed", [2, 2, 0]);
    assert_eq!(stage.world.status("three")["milestone"]["status"], "completed");
}
