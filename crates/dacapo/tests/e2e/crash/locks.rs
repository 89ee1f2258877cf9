//! Lock files of git that a power cut or an OOM kill leaves behind: ours are removed, others are named with the cure.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use super::*;

/// Created, started, ready, check, its room; iteration, turn, turn, intent: then the branch moves.
const INTENT: usize = 8;
/// Created, started: then the worktree is made.
const STARTED: usize = 1;
/// In the middle of the first turn.
const TURN_STARTED: usize = 6;

fn lock(world: &World, name: &str, text: &str) -> PathBuf {
    let path = world.repo().join(".git").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn left(locks: &[PathBuf]) -> Vec<&PathBuf> {
    locks.iter().filter(|lock| lock.exists()).collect()
}

fn notices(world: &World) -> String {
    world.notices("t").iter().map(|notice| format!("{notice}\n")).collect()
}

#[test]
fn r1_locks_left_in_a_worktree_do_not_block_resume() {
    let words = [&["--worktree", "--agent-cmd", AGENT], &FIVE[..]].concat();
    for_each(&[STARTED, TURN_STARTED, INTENT], |event| {
        let world = World::new();
        assert!(world.exec_dies(At::After(*event), &words));
        let mut locks = vec![
            lock(&world, "refs/heads/dacapo/t.lock", ""),
            lock(&world, "refs/dacapo/rescue/t/iter-0/commit.lock", ""),
            lock(&world, "packed-refs.lock", ""),
            lock(&world, "config.lock", ""),
        ];
        // With nothing but this there is a repository that was begun.
        let names =
            ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "refs/heads/dacapo/t.lock", "packed-refs.lock"];
        let repo = fs::read_dir(world.data().join("repos")).unwrap().next().unwrap().unwrap().path();
        for name in names {
            let path = repo.join("worktrees/t/.git").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            locks.push(path);
        }
        world.resume_to_the_end("t");
        assert_eq!(left(&locks), [] as [&PathBuf; 0], "after event {event}");
        assert!(notices(&world).contains("removed the stale lock "), "{}", notices(&world));
        world.assert_five("t", "dacapo/t");
    });
}

#[test]
fn r1_locks_that_our_git_left_in_the_users_checkout_are_removed() {
    let words = [&["--agent-cmd", AGENT], &FIVE[..]].concat();
    for_each(&[TURN_STARTED, INTENT], |event| {
        let world = World::new();
        assert!(world.exec_dies(At::After(*event), &words));
        let names = ["index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"];
        let locks = names.map(|name| lock(&world, name, ""));
        world.resume_to_the_end("t");
        assert_eq!(left(&locks), [] as [&PathBuf; 0], "after event {event}");
        assert!(notices(&world).contains("refs/heads/main.lock"), "{}", notices(&world));
        world.assert_five("t", "main");
    });
}

/// A lock that is not ours, by what there is to see, and what would let go of it.
fn is_named_and_not_removed(make: impl Fn(&World) -> (PathBuf, Option<fs::File>)) {
    let world = World::new();
    let words = [&["--agent-cmd", AGENT], &FIVE[..]].concat();
    assert!(world.exec_dies(At::After(INTENT), &words));
    let (lock, holder) = make(&world);
    let inode = fs::metadata(&lock).unwrap().ino();
    world
        .run(&["resume", "t"])
        .expect(1)
        .says("refs/heads/main.lock")
        .says(&format!("rm {}", lock.display()))
        .says("dacapo resume t");
    assert_eq!(fs::metadata(&lock).unwrap().ino(), inode, "it stays");
    drop(holder);
    fs::remove_file(&lock).unwrap();
    world.resume_to_the_end("t");
    world.assert_five("t", "main");
}

#[test]
fn r1_a_lock_that_a_live_process_has_open_is_named_and_not_removed() {
    is_named_and_not_removed(|world| {
        let path = lock(world, "refs/heads/main.lock", "");
        let holder = fs::File::open(&path).unwrap();
        (path, Some(holder))
    });
}

#[test]
fn r2_a_lock_from_another_time_is_named_and_not_removed() {
    is_named_and_not_removed(|world| {
        let path = lock(world, "refs/heads/main.lock", "");
        let before = SystemTime::now() - Duration::from_secs(3600);
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        (path, None)
    });
}

#[test]
fn r1_a_lock_that_holds_our_commit_is_ours_whenever_it_was_made() {
    let world = World::new();
    let words = [&["--agent-cmd", AGENT], &FIVE[..]].concat();
    assert!(world.exec_dies(At::After(INTENT), &words));
    let commit = world.events("t", "commit_intent")[0]["commit_id"].as_str().unwrap().to_owned();
    let path = lock(&world, "refs/heads/main.lock", &format!("{commit}\n"));
    let before = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    world.resume_to_the_end("t");
    assert!(!path.exists());
    world.assert_five("t", "main");
}

#[test]
fn r1_the_locks_of_a_command_that_was_killed_are_removed_by_the_next_one() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--worktree", "--agent-cmd", AGENT, "go"]).expect(0);
    let marks = world.task_dir("t").ancestors().nth(2).unwrap().join("at-work");
    fs::create_dir_all(&marks).unwrap();
    fs::write(marks.join("left"), "").unwrap();
    let locks = [lock(&world, "packed-refs.lock", ""), lock(&world, "AUTO_MERGE.lock", "")];
    let ran = world.run(&["drop", "t"]).expect(0);
    ran.says("packed-refs.lock").says("AUTO_MERGE.lock").says("a command that was killed");
    assert_eq!(left(&locks), Vec::<&PathBuf>::new());
    assert_eq!(fs::read_dir(&marks).unwrap().count(), 0);
}
