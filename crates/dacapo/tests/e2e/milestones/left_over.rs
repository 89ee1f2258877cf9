//! What a killed git or a killed run leaves of a milestone: locks, and files that say it is still at work.

use super::{ACCEPTS, BUILDS, ID, Stage};

#[test]
fn r1_a_lock_that_the_developers_git_left_does_not_make_its_next_commits_fail() {
    let stage = Stage::new();
    // As a git that was killed in the middle of its work.
    let leaves = "touch \"$(git rev-parse --git-path index.lock)\" \"$(git rev-parse --git-path HEAD.lock)\"; echo 'Not yet.'";
    stage.play(&[leaves, "build F-1", "build F-2", "complete"], &ACCEPTS);
    let _ = stage.start().expect(0);
    let notices = stage.world.notices(ID);
    let removed = notices.iter().filter(|notice| notice.contains("removed the stale lock "));
    assert_eq!(removed.count(), 2, "{notices:#?}");
    assert_eq!(stage.commits().len(), 2);
    assert_eq!(stage.standing().0, "completed");
}

#[test]
fn m8_a_mirror_that_a_death_behind_the_end_left_is_put_right_by_list_and_show() {
    let stage = Stage::new();
    // What the files say while it is at work is what they say when it dies before it can write them again.
    let copies =
        "cp \"$repo/.dacapo/milestones/two.json\" \"$repo/.dacapo/state.json\" \"$scratch\"; complete";
    stage.play(&[BUILDS[0], BUILDS[1], copies], &ACCEPTS);
    let _ = stage.start().expect(0);
    let mirror = || stage.world.read(".dacapo/milestones/two.json");
    let copy = |name: &str| std::fs::read_to_string(stage.world.scratch(name)).unwrap();
    let (stale, state) = (copy("two.json"), copy("state.json"));
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
