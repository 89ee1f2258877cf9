//! What a merge puts away comes back, and a merge that was cut short can be finished (S11, R1).

use std::fs;
use std::path::Path;

use super::{commit, merge, task, worktree, world};
use crate::crash::{At, for_each};
use crate::dropping::{DEADLY_GIT, dies};
use crate::support::World;

/// One of the task's files is ignored and took hours to make, others can be made again by a build.
const AGENT: &str = "mkdir -p results node_modules/x build && echo weights > results/model.bin \
    && echo x > node_modules/x/index.js && echo x > build/CACHEDIR.TAG && echo 1 > new && echo t";

fn ignoring_world() -> World {
    let world = world();
    world.write(".gitignore", "results/\nnode_modules/\nbuild/\n");
    commit(&world, "ignore");
    world
}

fn model(tree: &Path) -> Option<String> {
    fs::read_to_string(tree.join("results/model.bin")).ok()
}

#[test]
fn s11_undo_brings_back_ignored_files_and_says_how_to_move_the_branch_back() {
    let world = ignoring_world();
    task(&world, "t", AGENT, &[]);
    let (tree, tip, main) =
        (worktree(&world, "t"), world.git(&["rev-parse", "dacapo/t"]), world.git(&["rev-parse", "main"]));
    let _ = merge(&world, &["t"]).expect(0);
    assert!(!tree.exists());
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
    world
        .run(&["undo", "t"])
        .expect(0)
        .says("t is back: branch dacapo/t and ")
        .says(&format!("git reset --keep {}", &main[..7]));
    assert_eq!(model(&tree).as_deref(), Some("weights\n"));
    assert_eq!(world.git(&["rev-parse", "dacapo/t"]), tip);
    // Caches can be made again; they do not fill the disk.
    assert!(!tree.join("node_modules").exists() && !tree.join("build").exists());
    assert_eq!(world.git_in(&tree, &["status", "--porcelain"]), "");
    let _ = world.git(&["reset", "-q", "--keep", &main[..7]]);
    merge(&world, &["t"]).expect(0).says("✓ t  fast-forward to");
    // Where the branch has gone on, nothing is to be thrown away.
    world.write("later", "1\n");
    commit(&world, "later");
    world.run(&["undo", "t"]).expect(0).says(&format!("git revert --no-edit {}..{}", &main[..7], &tip[..7]));
}

#[test]
fn s9_prune_does_not_remove_ignored_files_that_no_build_makes() {
    let world = ignoring_world();
    for (name, agent) in [("t", AGENT), ("plain", "echo 1 > plain; echo plain")] {
        task(&world, name, agent, &[]);
        let _ = merge(&world, &[name]).expect(0);
    }
    // Merged by hand: the worktree is still there.
    task(&world, "u", &AGENT.replace("new", "other"), &[]);
    world.git(&["merge", "-q", "--no-edit", "dacapo/u"]);
    let tree = worktree(&world, "u");
    world.run(&["prune"]).expect(0).says("merged; contains files that are in no commit");
    assert_eq!((tree.exists(), world.git(&["branch", "--list", "dacapo/*"])), (false, String::new()));
    for name in ["t", "u"] {
        let _ = world.run(&["undo", name]).expect(0);
        assert_eq!(model(&worktree(&world, name)).as_deref(), Some("weights\n"), "{name}");
    }
    world
        .run(&["undo", "plain"])
        .expect(2)
        .says("nothing to undo: there is no dropped or merged task 'plain'");
}

/// All that a merge that was cut short must come to, whoever finishes it.
fn finished(world: &World, plan: &str, tip: &str) {
    let tree = worktree(world, "t");
    assert_eq!(world.git(&["rev-parse", "main"]), tip, "{plan}: merged once");
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "", "{plan}");
    assert!(!tree.exists(), "{plan}");
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1, "{plan}");
    merge(world, &["t"]).expect(0).says("already merged");
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(model(&tree).as_deref(), Some("weights\n"), "{plan}");
    assert_eq!(world.git(&["rev-parse", "dacapo/t"]), tip, "{plan}");
    assert_eq!(world.git_in(&tree, &["status", "--porcelain"]), "", "{plan}");
    world.run(&["undo", "--list"]).expect(0).says("nothing to bring back");
}

/// The task, ready to be merged by a fast-forward, and where it stands.
fn ready() -> (World, String, String) {
    let world = ignoring_world();
    task(&world, "t", AGENT, &[]);
    let (main, tip) = (world.git(&["rev-parse", "main"]), world.git(&["rev-parse", "dacapo/t"]));
    (world, main, tip)
}

/// How many git calls a merge makes.
fn git_calls() -> usize {
    let (world, ..) = ready();
    world.program("git", DEADLY_GIT);
    let calls = tempfile::tempdir().unwrap();
    let mut command = world.command(&["merge", "t"]);
    let ran = command.env("DIES_AT", "never").env("CALLS", calls.path()).output().unwrap();
    assert!(ran.status.success());
    fs::read_dir(calls.path()).unwrap().count()
}

/// SIGKILL at each of the last git calls of a merge; `finish` then brings it to its end.
fn at_the_last_git_calls(last: usize, finish: impl Fn(&World) + Sync) {
    let calls = git_calls();
    let plans: Vec<String> =
        (calls - last..calls).flat_map(|call| [format!("before:{call}"), format!("after:{call}")]).collect();
    let chunks: Vec<&[String]> = plans.chunks(plans.len().div_ceil(4)).collect();
    for_each(&chunks, |plans| {
        let (world, main, tip) = ready();
        world.program("git", DEADLY_GIT);
        for plan in *plans {
            assert!(dies(&world, &["merge", "t"], plan), "{plan}");
            finish(&world);
            finished(&world, plan, &tip);
            let _ = world.git(&["reset", "-q", "--hard", &main]);
        }
    });
}

#[test]
fn r1_a_merge_killed_at_any_git_call_of_its_end_is_finished_by_the_next_one() {
    at_the_last_git_calls(20, |world| {
        let _ = merge(world, &["t"]).expect(0);
    });
}

#[test]
fn r1_a_merge_killed_after_it_was_recorded_is_finished_by_prune() {
    at_the_last_git_calls(8, |world| {
        // Before that it is no merged task, and none of prune's business.
        if world.status("t")["merged"].is_null() || world.git(&["branch", "--list", "dacapo/*"]).is_empty() {
            let _ = merge(world, &["t"]).expect(0);
        } else {
            let _ = world.run(&["prune"]).expect(0);
        }
    });
}

#[test]
fn r1_a_merge_killed_at_any_journal_line_is_finished_by_the_next_one() {
    let (world, main, tip) = ready();
    let mut died = 0;
    // Two lines: the intent and the merge.
    for at in [At::Before(0), At::After(0), At::Before(1), At::After(1), At::Torn(0), At::Torn(1)] {
        died += usize::from(world.dies(at, &["merge", "t"]));
        let _ = merge(&world, &["t"]).expect(0);
        finished(&world, &format!("{at:?}"), &tip);
        let _ = world.git(&["reset", "-q", "--hard", &main]);
    }
    assert_eq!(died, 6);
}

#[test]
fn r1_locks_that_a_merge_left_do_not_block_the_next_one() {
    let (world, _, tip) = ready();
    // The intent is on record, and the power went while the branch moved.
    assert!(world.dies(At::After(0), &["merge", "t"]));
    let names =
        ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "refs/heads/main.lock", "refs/heads/dacapo/t.lock"];
    let locks = names.map(|name| world.repo().join(".git").join(name));
    locks.iter().for_each(|lock| fs::write(lock, "").unwrap());
    let _ = merge(&world, &["t"]).expect(0);
    assert_eq!(locks.iter().filter(|lock| lock.exists()).count(), 0);
    finished(&world, "locks", &tip);
}

#[test]
fn r2_a_full_disk_at_the_end_of_a_merge_or_of_its_undo_leaves_something_to_go_on_with() {
    let (world, main, tip) = ready();
    // There is no room for the intent: nothing happens.
    let (status, ran) = world.run_to(At::Full(0), &["merge", "t"]);
    assert_eq!((status.code(), world.git(&["rev-parse", "main"])), (Some(1), main), "{}", ran.stdout);
    // Nor for the record of the merge: it stands, and nothing of the task goes before it is written.
    let (status, ran) = world.run_to(At::Full(1), &["merge", "t"]);
    assert_eq!((status.code(), world.git(&["rev-parse", "main"])), (Some(0), tip.clone()), "{}", ran.stderr);
    let ran = ran.says("its worktree and branch were left in place, because the merge could not be recorded");
    assert!(worktree(&world, "t").exists(), "{}", ran.stdout);
    let _ = merge(&world, &["t"]).expect(0);
    // Nor for the undo of it.
    let (status, ran) = world.run_to(At::Full(0), &["undo", "t"]);
    assert_eq!(status.code(), Some(1), "{}", ran.stderr);
    let _ = ran.says("dacapo undo t-");
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(model(&worktree(&world, "t")).as_deref(), Some("weights\n"));
    assert_eq!(world.git(&["rev-parse", "dacapo/t"]), tip);
    world.run(&["undo", "--list"]).expect(0).says("nothing to bring back");
}

#[test]
fn s9_an_undo_that_a_lock_stops_at_its_last_step_goes_on_once_the_lock_is_gone() {
    let world = World::new();
    let _ =
        world.exec(&["--name", "t", "--worktree", "--agent-cmd", "echo x > f; echo done", "go"]).expect(0);
    let _ = world.git(&["pack-refs", "--all"]);
    let lock = world.repo().join(".git/packed-refs.lock");
    fs::write(&lock, "").unwrap();
    // Somebody has it open, so it is nobody's to remove.
    let held = fs::File::open(&lock).unwrap();
    world.run(&["merge", "t", "--no-agent"]).expect(0).says("could not be removed");
    let _ = world.run(&["undo", "t"]).expect(1);
    drop(held);
    fs::remove_file(&lock).unwrap();
    world.run(&["undo", "t"]).expect(0).says("t is back");
    assert_eq!(world.git(&["for-each-ref", "refs/dacapo/rescue"]), "");
    world.run(&["undo", "--list"]).expect(0).says("nothing to bring back");
}
