//! A task works in a git repository of its own (S3): whatever an agent does with git there, the user's stays as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::misdeed::play;
use crate::support::{Ran, World};

/// Every file of the user's git directory, but for the task's branch, the refs that keep something, and objects.
fn digest(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let git_dir = world.repo().join(".git");
    let ours = [
        "refs/heads/dacapo",
        "logs/refs/heads/dacapo",
        "refs/dacapo",
        "logs/refs/dacapo",
        "objects",
        "dacapo.lock",
        "dacapo-workspace.lock",
    ];
    let (mut open, mut files) = (vec![git_dir.clone()], BTreeMap::new());
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let name = entry.path().strip_prefix(&git_dir).unwrap().to_owned();
            if ours.iter().any(|ours| name == Path::new(ours)) {
                continue;
            }
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => drop(files.insert(name, fs::read(entry.path()).unwrap())),
            }
        }
    }
    files
}

fn worktree(world: &World) -> PathBuf {
    world.status("t")["worktree"].as_str().unwrap().into()
}

const MISDEEDS: &str = "git stash -u && git stash clear; git branch -f main HEAD~1; git branch -q -D other; git tag -d v1 > /dev/null; \
     git update-ref refs/heads/evil HEAD; git config user.name Eve; git config core.hooksPath /evil; \
     git remote add evil /nowhere; git reflog expire --expire=now --all; git pack-refs --all; git gc -q --prune=now; \
     echo 1 > f1";

#[test]
fn s3_what_an_agent_does_with_git_stays_in_the_tasks_repository() {
    let world = World::new();
    world.git(&["branch", "other"]);
    world.git(&["tag", "v1"]);
    world.write("README.md", "mine\n");
    world.git(&["stash"]);
    let before = digest(&world);
    let objects = world.git(&["rev-list", "--all", "--objects"]);
    play(&world, &["--worktree"], MISDEEDS)
        .expect(0)
        .silent_about(" moved while ")
        .silent_about("was removed while");
    assert_eq!(digest(&world), before);
    assert_eq!(
        world.git(&["log", "--format=%s", "main..dacapo/t"]),
        "[iter-2] did it 2\n[iter-1] did it 1\n[iter-0] did it 0"
    );
    let now = world.git(&["rev-list", "--all", "--objects"]);
    assert!(objects.lines().all(|object| now.contains(object)), "{now}");
    assert_eq!(world.git(&["fsck", "--strict", "--no-dangling"]), "");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn s3_each_commit_is_in_the_users_repository_by_the_next_turn_but_one() {
    let world = World::new();
    let top = world.repo();
    // The commit of the first iteration is carried while the second works: the third finds it.
    let agent = format!(
        "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; \
         if [ $DACAPO_ITERATION = 2 ]; then git -C {top:?} log --format=%s dacapo/t > seen; fi; echo did it"
    );
    let words = ["--name", "t", "--worktree", "--iter", "3", "--agent-cmd", &agent, "go"];
    let _ = world.exec(&words).expect(0);
    let seen = fs::read_to_string(worktree(&world).join("seen")).unwrap();
    assert!(seen.contains("[iter-0] did it"), "{seen}");
    assert_eq!(
        world.git(&["rev-parse", "dacapo/t"]),
        world.git_in(&worktree(&world), &["rev-parse", "HEAD"])
    );
}

#[test]
fn s3_hooks_of_the_users_do_not_run_in_a_task_and_run_at_its_merge() {
    let world = World::new();
    let hooks = world.repo().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let ran = world.scratch("ran");
    world.program("hook", &format!("#!/bin/sh\necho \"$0\" >> {}\n", ran.display()));
    fs::copy(world.bin().join("hook"), hooks.join("pre-commit")).unwrap();
    fs::copy(world.bin().join("hook"), hooks.join("post-checkout")).unwrap();
    play(&world, &["--worktree"], "git add -A; git commit -qm 'by the agent'").expect(0);
    assert!(!ran.exists(), "{:?}", fs::read_to_string(&ran));
    assert_eq!(world.git(&["log", "--format=%s", "main..dacapo/t"]).lines().count(), 3);
}

#[test]
fn s3_a_commit_that_a_killed_runner_left_is_carried_when_somebody_asks() {
    let world = World::new();
    play(&world, &["--worktree"], "true").expect(0);
    let at = worktree(&world);
    fs::write(at.join("by-hand"), "1").unwrap();
    world.git_in(&at, &["add", "-A"]);
    world.git_in(&at, &["commit", "-qm", "by hand"]);
    assert_ne!(world.git(&["log", "-1", "--format=%s", "dacapo/t"]), "by hand");
    let _ = world.run(&["status", "t"]).expect(0);
    assert_eq!(world.git(&["log", "-1", "--format=%s", "dacapo/t"]), "by hand");
    let _ = world.run(&["merge", "t"]).expect(0);
    assert!(world.repo().join("by-hand").exists());
    assert_eq!(world.git(&["for-each-ref", "refs/dacapo/base"]), "", "nothing is kept without need");
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(world.git_in(&at, &["log", "-1", "--format=%s"]), "by hand");
}

#[test]
fn s3_what_leads_out_of_the_tasks_repository_is_named_and_nothing_of_the_users_moves() {
    let top = |world: &World| world.repo().display().to_string();
    for misdeed in [
        "rm -rf .git; ln -s TOP/.git .git",
        "rm -rf .git; echo 'gitdir: TOP/.git' > .git",
        "echo TOP/.git > .git/commondir",
        "rm .git/HEAD; ln -s TOP/.git/HEAD .git/HEAD",
        "rm -rf .git/refs; ln -s TOP/.git/refs .git/refs",
        "rm -f .git/index; ln -s TOP/.git/index .git/index",
    ] {
        let world = World::new();
        let before = digest(&world);
        let ran = play(&world, &["--worktree"], &misdeed.replace("TOP", &top(&world)));
        ran.says("was replaced; git commands there reach another repository");
        assert_eq!(digest(&world), before, "{misdeed}");
        assert_eq!(world.subjects(), ["first"], "{misdeed}");
        assert_eq!(world.git(&["status", "--porcelain"]), "", "{misdeed}");
        // What was committed before is carried beside this very turn: it is there, or it waits.
        let carried = world.git(&["log", "--format=%s", "main..dacapo/t"]);
        assert!(["", "[iter-0] did it 0"].contains(&carried.as_str()), "{misdeed}: {carried}");
        let _ = world.run(&["drop", "t"]).expect(0);
        assert_eq!(digest(&world), before, "{misdeed}");
    }
}

#[test]
fn s3_a_task_is_found_from_its_worktree_and_none_starts_there() {
    let world = World::new();
    play(&world, &["--worktree"], "true").expect(0);
    let at = worktree(&world);
    let from = |words: &[&str]| Ran::from(world.command(words).current_dir(&at).output().unwrap());
    from(&["list"]).expect(0).says("t");
    from(&["diff", "t", "--stat"]).expect(0).says("f0");
    from(&["exec", "--agent-cmd", "true", "more"])
        .expect(2)
        .says("this is the worktree of task 't'")
        .says(&format!("cd {}", world.repo().display()));
    assert_eq!(world.tasks(), ["t"]);
    from(&["merge", "t"]).expect(0).says("t");
    assert!(world.repo().join("f0").exists());
}

#[test]
fn s3_pr_pushes_from_the_users_repository() {
    let world = World::new();
    let remote = world.scratch("remote.git");
    world.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    let evil = world.scratch("evil.git");
    world.git(&["init", "-q", "--bare", evil.to_str().unwrap()]);
    world.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    world.git(&["push", "-q", "origin", "main"]);
    let misdeed = format!("git remote set-url origin {}", evil.display());
    play(&world, &["--worktree"], &misdeed).expect(0);
    let _ = world.run(&["pr", "t"]);
    assert_eq!(world.git_in(&evil, &["for-each-ref"]), "");
    assert!(world.git_in(&remote, &["for-each-ref"]).contains("dacapo/t"));
}
