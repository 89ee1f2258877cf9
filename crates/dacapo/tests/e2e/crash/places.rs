//! R2: the place to work in, or to keep records in, is not what it was.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::*;

fn five() -> Vec<&'static str> {
    [&["--agent-cmd", AGENT], &FIVE[..]].concat()
}

#[test]
fn r2_a_deleted_worktree_is_made_again_and_that_is_said() {
    let world = World::new();
    // After the second iteration: what is committed is all there is.
    assert!(world.exec_dies(At::After(17), &[&["--worktree"], &five()[..]].concat()));
    let worktree = PathBuf::from(world.status("t")["worktree"].as_str().unwrap());
    world.assert_nothing_left("t");
    fs::remove_dir_all(&worktree).unwrap();
    world.resume_to_the_end("t");
    world.assert_five("t", "dacapo/t");
    let said = world.run(&["status", "t"]).expect(0);
    assert!(said.stdout.contains("the worktree had been removed and was created again"), "{}", said.stdout);
}

#[test]
fn r2_a_data_directory_that_cannot_be_written_stops_before_anything_is_done() {
    let world = World::new();
    fs::write(world.data().join("repos"), "not a directory").unwrap();
    let ran = world.run(&[&["exec"], &five()[..]].concat()).expect(1);
    assert!(ran.stderr.contains("repos"), "{}", ran.stderr);
    assert_eq!(world.subjects(), ["first"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(world.data().join("repos")).unwrap(), "not a directory");
}

#[test]
fn r2_a_task_directory_that_cannot_be_written_is_said_and_goes_on_when_mended() {
    let world = World::new();
    assert!(world.exec_dies(At::After(20), &five()));
    world.assert_nothing_left("t");
    let turns = world.task_dir("t").join("turns");
    let aside = world.scratch("turns");
    fs::rename(&turns, &aside).unwrap();
    fs::write(&turns, "not a directory").unwrap();
    let ran = world.run(&["resume", "t"]).expect(1);
    assert!(ran.stderr.contains("turns"), "{}", ran.stderr);
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["status"], "interrupted");
    fs::remove_file(&turns).unwrap();
    fs::rename(&aside, &turns).unwrap();
    world.resume_to_the_end("t");
    world.assert_five("t", "main");
}

#[test]
fn r2_a_damaged_spec_is_said_and_nothing_is_overwritten() {
    let world = World::new();
    assert!(world.exec_dies(At::After(20), &five()));
    world.assert_nothing_left("t");
    let spec = world.task_dir("t").join("spec.json");
    let whole = fs::read(&spec).unwrap();
    let newer = String::from_utf8(whole.clone()).unwrap().replacen("\"v\": 4", "\"v\": 99", 1);
    let damaged = [&whole[..whole.len() / 2], b"", newer.as_bytes(), b"[]"];
    for bytes in damaged {
        fs::write(&spec, bytes).unwrap();
        for words in [["resume", "t"], ["status", "t"]] {
            let ran = world.run(&words).expect(1);
            assert!(ran.stderr.contains("spec.json"), "{}", ran.stderr);
        }
        assert_eq!(fs::read(&spec).unwrap(), bytes);
    }
    fs::write(&spec, whole).unwrap();
    world.resume_to_the_end("t");
    world.assert_five("t", "main");
}

/// A lock of a git that cannot have been the task's: it is older than the task.
fn locked_before_the_run(lock: &Path) {
    let file = fs::File::create_new(lock).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

#[test]
fn r2_locks_that_another_program_left_in_the_repository() {
    // Work goes on past a locked index: the commit is made beside it.
    let world = World::new();
    assert!(world.exec_dies(At::After(20), &five()));
    world.assert_nothing_left("t");
    let lock = world.repo().join(".git/index.lock");
    locked_before_the_run(&lock);
    world.resume_to_the_end("t");
    assert!(lock.exists(), "it is not ours to remove");
    fs::remove_file(&lock).unwrap();
    assert_eq!(world.events("t", "iteration_finished").len(), 5);
    assert_eq!(world.subjects().len(), 6);

    // A branch cannot be moved past its lock: that is said, and is no loss.
    for name in ["refs/heads/main.lock", "HEAD.lock"] {
        let world = World::new();
        assert!(world.exec_dies(At::After(20), &five()));
        world.assert_nothing_left("t");
        let lock = world.repo().join(".git").join(name);
        locked_before_the_run(&lock);
        let ran = world.run(&["resume", "t"]).expect(1);
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
        assert_eq!(world.status("t")["status"], "interrupted");
        world.assert_nothing_left("t");
        assert!(lock.exists(), "it is not ours to remove");
        fs::remove_file(&lock).unwrap();
        world.resume_to_the_end("t");
        world.assert_five("t", "main");
    }
}

#[test]
fn a_task_of_an_older_dacapo_is_left_as_it_is_and_can_be_put_away() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--worktree", "--agent-cmd", "date > a", "go"]).expect(0);
    let dir = world.task_dir("t");
    let older = |file: &str, now: &str, then: &str| {
        let text = fs::read_to_string(dir.join(file)).unwrap().replace(now, then);
        fs::write(dir.join(file), &text).unwrap();
        text
    };
    let spec = older("spec.json", "\"v\": 4", "\"v\": 1");
    let journal = older("journal.jsonl", "{\"v\":3,", "{\"v\":1,");
    for (words, only_shows) in [
        (&["resume", "t"][..], false),
        (&["status", "t"], true),
        (&["merge", "t"], false),
        (&["set", "t", "iter=9"], false),
        (&["open", "t"], true),
    ] {
        let ran = world.run(words).expect(1);
        for said in ["written by an older Dacapo (format 1; this one reads 4)", "dacapo drop t"] {
            assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
        }
        assert_eq!(ran.stderr.contains("nothing was "), !only_shows, "{words:?}: {}", ran.stderr);
        assert_eq!(fs::read_to_string(dir.join("spec.json")).unwrap(), spec);
        assert_eq!(fs::read_to_string(dir.join("journal.jsonl")).unwrap(), journal);
    }
    assert!(world.run(&["list"]).expect(0).stderr.contains("older Dacapo"));
    let _ = world.run(&["drop", "t"]).expect(0);
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(fs::read_to_string(dir.join("journal.jsonl")).unwrap(), journal);
}
