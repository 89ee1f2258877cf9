//! What is refused before anything is changed.

use std::fs;

use super::{commit, merge, of_task, task, users, worktree, world};
use crate::support::{Ran, World};

/// Exit 2, these words, and nothing has changed.
fn refused(world: &World, words: &[&str], says: &[&str]) {
    let before = users(world);
    let ran = merge(world, words).expect(2);
    for text in says {
        ran.says(text);
    }
    ran.says("kept: everything; nothing was merged");
    assert_eq!(users(world), before);
}

#[test]
fn s11_bad_names_and_queries_are_refused() {
    let world = world();
    task(&world, "auth", "echo 1 > new; echo t", &[]);
    task(&world, "docs", "echo 1 > docs; echo t", &[]);
    let _ = world.exec(&["-q", "--name", "here", "--agent-cmd", "echo 1 > here; echo t", "do it"]).expect(0);
    refused(&world, &["auht"], &["Task 'auht' not found", "did you mean 'auth'?"]);
    refused(&world, &["auth,nothing-like-it"], &["Task 'nothing-like-it' not found"]);
    refused(&world, &["../auth"], &["Task '../auth' not found"]);
    refused(&world, &[], &["which task should be merged?", "dacapo merge auth   finished, unverified"]);
    refused(&world, &["--ready"], &["no task is proven and ready"]);
    refused(&world, &[","], &["which task should be merged?"]);
    refused(&world, &["auth,auth"], &["task 'auth' is named twice"]);
    refused(&world, &["auth", "docs"], &["'docs' is a task", "did you mean 'auth,docs'?"]);
    refused(&world, &["auth", "keep", "docs", "here"], &["did you mean 'auth,docs,here'?"]);
    refused(&world, &["here"], &["Task 'here' worked in your own checkout: its commits are already on main"]);
    refused(&world, &["auth", " "], &["the query is empty"]);
    refused(&world, &["auth", "--agent", "nobody"], &["unknown agent 'nobody'"]);
    refused(&world, &["auth", "--agent-cmd", "no-such-program-anywhere"], &["agent not found"]);
    // A sentence may speak of a task.
    let _ = merge(&world, &["auth", "keep the docs", "--dry-run", "--agent-cmd", "true"]).expect(0);
}

#[test]
fn s11_a_checkout_that_is_not_in_order_is_refused() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    task(&world, "f", "echo theirs > f; echo f", &[]);
    world.write("f", "changed\n");
    let in_the_way = "1 uncommitted change here in files that the merge touches (f)";
    refused(&world, &["f"], &[in_the_way, "do:   commit them, or git stash"]);
    world.git(&["add", "f"]);
    refused(&world, &["t,f", "--dry-run"], &[in_the_way]);
    world.git(&["reset", "-q", "--hard"]);
    world.git(&["checkout", "-q", "-b", "side", "main~1"]);
    world.write("f", "side\n");
    commit(&world, "side");
    world.git(&["checkout", "-q", "main"]);
    assert!(!world.git_output(&["merge", "-q", "side"]).status.success());
    refused(&world, &["t"], &["in progress in this checkout: merge", "git merge --abort"]);
    world.git(&["merge", "--abort"]);
    world.git(&["checkout", "-q", "--detach"]);
    let ran = merge(&world, &["t"]).expect(2);
    ran.says("HEAD is detached").says("git switch main");
    world.git(&["checkout", "-q", "main"]);
}

#[test]
fn s11_untracked_files_in_the_way_are_named_before_anything_runs() {
    let world = world();
    let ran = world.scratch("ran");
    world.config(&format!("checks = [\"echo x >> {}\"]\n", ran.display()));
    task(&world, "t", "mkdir dir; echo 1 > new; echo 1 > dir/sub; echo 1 > ignored; echo t", &[]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "no fast-forward"]);
    // Untracked files are nobody's business, unless they are in the way.
    world.write("untracked", "mine\n");
    fs::write(world.repo().join(".git/info/exclude"), "ignored\n").unwrap();
    let agent = format!("touch {}", world.scratch("agent").display());
    for (name, is) in [("new", "new"), ("ignored", "ignored"), ("dir", "dir"), ("new/deep", "new/deep")] {
        world.write(name, "mine\n");
        let before = of_task(&world, "t");
        let says = format!("1 untracked file here where the merge brings files ({is})");
        refused(&world, &["t", "--dry-run"], &[&says]);
        refused(&world, &["t", "and look at it", "--agent-cmd", &agent], &[&says, "do:   move them away"]);
        assert_eq!((world.read(name).as_str(), of_task(&world, "t")), ("mine\n", before));
        assert!(!ran.exists() && !world.scratch("agent").exists(), "nothing ran");
        fs::remove_file(world.repo().join(name)).unwrap();
    }
    // An empty directory is no file.
    let _ = merge(&world, &["t"]).expect(0);
    let all = ["untracked", "new", "ignored", "dir/sub"].map(|name| world.read(name));
    assert_eq!(all, ["mine\n", "1\n", "1\n", "1\n"]);
}

#[test]
fn s11_files_that_come_into_the_way_during_the_merge_stay() {
    let world = world();
    for (name, exclude) in [("new", ""), ("kept", "kept\n")] {
        task(&world, name, &format!("echo 1 > {name}; echo t"), &[]);
        fs::write(world.repo().join(".git/info/exclude"), exclude).unwrap();
        let mine = world.repo().join(name);
        world.config(&format!("checks = [\"echo mine > {}\"]\n", mine.display()));
        merge(&world, &[name]).expect(1).says("left out: files here are in the way").says(name);
        assert_eq!(world.read(name), "mine\n");
    }
}

#[test]
fn s11_changes_in_files_that_the_merge_does_not_touch_stay_as_they_are() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    world.write("staged", "mine\n");
    world.git(&["add", "staged"]);
    world.write("f", "mine, not committed\n");
    let _ = merge(&world, &["t"]).expect(0);
    assert_eq!((world.read("new").as_str(), world.read("f").as_str()), ("1\n", "mine, not committed\n"));
    assert_eq!(world.git(&["status", "--porcelain"]), " M f\nA  staged".trim_end());
    let tree = world.tree("HEAD");
    assert!(tree.contains(&"new".to_owned()) && !tree.contains(&"staged".to_owned()), "{tree:?}");
}

#[test]
fn s11_all_that_is_proven_comes_home_at_once() {
    let world = world();
    for name in ["one", "two"] {
        let check = format!("test -e {name}");
        task(&world, name, &format!("echo 1 > {name}; echo t"), &["--check", &check]);
    }
    task(&world, "claimed", "echo 1 > claimed; echo t", &[]);
    merge(&world, &[]).expect(2).says("dacapo merge --ready   all proven tasks");
    let _ = merge(&world, &["--ready"]).expect(0);
    let files = ["one", "two", "claimed"].map(|name| world.repo().join(name).exists());
    assert_eq!(files, [true, true, false]);
}

#[test]
fn s7_a_running_task_is_refused() {
    let world = world();
    task(&world, "done", "echo 1 > new; echo t", &[]);
    let (at_work, go) = (world.scratch("at-work"), world.scratch("go"));
    let agent = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.05; done; echo 1 > late; echo late",
        at_work.display(),
        go.display()
    );
    let running = world.start(&["exec", "-q", "--worktree", "--name", "t", "--agent-cmd", &agent, "go on"]);
    world.wait_for_file("at-work");
    refused(&world, &["done,t"], &["Task 't' is still running.", "dacapo wait t", "dacapo kill t"]);
    let inside = |name: &str| {
        Ran::from(world.command(&["merge", name]).current_dir(worktree(&world, "t")).output().unwrap())
    };
    fs::write(&go, "").unwrap();
    let _ = running.end().expect(0);
    let _ = inside("done,t").expect(0);
    assert_eq!(world.read("late"), "1\n");
}

#[test]
fn r2_a_branch_that_was_deleted_by_hand_is_named_with_how_to_get_it_back() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    fs::remove_dir_all(worktree(&world, "t")).unwrap();
    world.git(&["branch", "-D", "dacapo/t"]);
    refused(
        &world,
        &["t"],
        &[
            "branch 'dacapo/t' of task 't' is gone",
            &format!("git branch dacapo/t {} brings it back", &tip[..7]),
        ],
    );
    world.git(&["branch", "dacapo/t", &tip]);
    let _ = merge(&world, &["t"]).expect(0);
    assert_eq!(world.read("new"), "1\n");
}
