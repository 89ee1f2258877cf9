//! What a killed git or a killed run leaves of a milestone: locks, and files that say it is still at work.

use super::{ACCEPTS, BUILDS, ID, Stage};
use crate::crash::At;

#[test]
fn r1_a_lock_that_the_developers_git_left_does_not_make_its_next_commits_fail() {
    let stage = Stage::new();
    // As a git that was killed in the middle of its work.
    let leaves = "touch \"$(git rev-parse --git-path index.lock)\" \"$(git rev-parse --git-path HEAD.lock)\"; echo 'Not yet.'";
    stage.play(&[leaves, "build F-1", "build F-2", "complete"], &ACCEPTS);
    let _ = stage.start().expect(0);
    let notices = stage.world.events(ID, "notice");
    let removed =
        |notice: &serde_json::Value| notice["message"].as_str().unwrap().contains("removed the stale lock ");
    assert_eq!(notices.iter().filter(|notice| removed(notice)).count(), 2, "{notices:#?}");
    assert_eq!(stage.commits().len(), 2);
    assert_eq!(stage.standing().0, "completed");
}

/// A milestone whose process died right behind its last event, before it could say so in the checkout.
fn dead_behind_its_end() -> Stage {
    let undisturbed = Stage::new();
    undisturbed.play(&BUILDS, &ACCEPTS);
    let _ = undisturbed.start().expect(0);
    // Some of these are written by another process than the one that drives it.
    for event in (0..undisturbed.world.journal(ID).len()).rev() {
        let stage = Stage::new();
        stage.play(&BUILDS, &ACCEPTS);
        let (status, _) = stage.world.run_to(At::After(event), &["milestone", "start", ID]);
        let last = stage.world.journal(ID).pop().unwrap();
        if !status.success() && last["type"] == "task_finished" {
            return stage;
        }
    }
    panic!("it never died there");
}

#[test]
fn m8_a_mirror_that_a_death_behind_the_end_left_is_put_right_by_list_and_show() {
    let stage = dead_behind_its_end();
    let mirror = || stage.world.read(".dacapo/milestones/two.json");
    let (stale, state) = (mirror(), stage.world.read(".dacapo/state.json"));
    assert!(stale.contains("in_progress"), "{stale}");
    for words in [["milestone", "list"].as_slice(), &["milestone", "show", ID], &["status", ID]] {
        stage.world.write(".dacapo/milestones/two.json", &stale);
        stage.world.write(".dacapo/state.json", &state);
        let _ = stage.run(words).expect(0);
        assert!(mirror().contains("\"completed\""), "{words:?}: {}", mirror());
        let rounds = stage.status()["milestone"]["rounds"].as_u64().unwrap();
        stage.stands("completed", [rounds, rounds, 0]);
        // One that is right is not written again.
        let before = mirror();
        let _ = stage.run(words).expect(0);
        assert_eq!(mirror(), before, "{words:?}");
    }
}
