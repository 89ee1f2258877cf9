//! Agents that do to git what they should not. Nothing is lost, earlier commits stay, and people are told.

#[cfg(target_os = "linux")]
mod hanging;
mod moved_refs;
mod special_files;

use crate::misdeed::play;
use crate::support::World;

#[test]
fn r1_an_index_lock_that_the_agents_git_left_in_place_is_removed() {
    let world = World::new();
    play(&world, &[], "touch .git/index.lock").expect(0).says("note    removed the stale lock ");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-1] did it 1", "[iter-0] did it 0", "first"]);
    world.ended("completed", [3, 3, 0]);
    assert!(!world.repo().join(".git/index.lock").exists());
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn r2_an_index_lock_of_somebody_else_in_place_is_worked_around_and_left_alone() {
    let world = World::new();
    let _holder = std::fs::File::create(world.repo().join(".git/index.lock")).unwrap();
    play(&world, &[], "true")
        .expect(0)
        .says("the index is locked; if no git is running, remove ")
        .says(".git/index.lock and run `git reset`");
    world.status_text().says("index.lock and run `git reset`");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-1] did it 1", "[iter-0] did it 0", "first"]);
    assert_eq!(world.changed("HEAD"), ["f2"]);
    world.ended("completed", [3, 3, 0]);
    // Doing as told leaves a clean tree.
    std::fs::remove_file(world.repo().join(".git/index.lock")).unwrap();
    world.git(&["reset", "-q"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn r2_a_stale_index_lock_in_a_worktree_is_removed() {
    let world = World::new();
    play(&world, &["--worktree"], "touch $(git rev-parse --git-dir)/index.lock")
        .expect(0)
        .says("note    removed the stale lock ");
    assert_eq!(world.git(&["log", "--format=%s", "main..dacapo/t"]).lines().count(), 3);
    assert_eq!(world.git(&["log", "--format=%s", "main"]), "first");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn k4_a_nested_repository_without_commits_is_kept_and_fails_the_iteration() {
    let world = World::new();
    play(&world, &[], "git init -q nested; echo x > nested/x")
        .expect(0)
        .says("nested/ is a git repository of its own and was not committed");
    world.status_text().says("nested/ is a git repository of its own and was not committed");
    assert_eq!(world.read("nested/x"), "x\n");
    assert_eq!(world.changed("HEAD~1"), ["f1"], "the rest of the iteration is committed");
    assert!(
        world.prompt("t", 2).contains("nested/ is a git repository of its own"),
        "the next one hears of it"
    );
    world.ended("completed", [3, 1, 2]);
}

#[test]
fn k4_a_nested_repository_with_commits_is_kept_also_when_it_was_added() {
    let world = World::new();
    let misdeed = "git init -q nested; cd nested; echo x > x; git add x; git commit -qm inner; cd ..; \
                   git add nested 2>/dev/null";
    play(&world, &[], misdeed).expect(0).says("is a git repository of its own and was not committed");
    assert_eq!(world.read("nested/x"), "x\n");
    assert_eq!(world.git_in(&world.repo().join("nested"), &["log", "--format=%s"]), "inner");
    assert_eq!(world.git(&["ls-tree", "--name-only", "HEAD"]), "README.md\nf0\nf1\nf2");
    world.ended("completed", [3, 1, 2]);
}

/// Two branches that changed the same line.
const DIVERGED: &str = "echo base > m; git add m; git commit -qm m; git checkout -qb other; echo a > m; \
                        git commit -qam a; git checkout -q main; echo b > m; git commit -qam b";

#[test]
fn k4_a_half_done_merge_is_kept_and_nothing_is_committed_over_it() {
    let world = World::new();
    play(&world, &[], &format!("{DIVERGED}; git merge other; true"))
        .expect(0)
        .says("a merge was begun and not finished; nothing was committed");
    world.status_text().says("a merge was begun and not finished; nothing was committed");
    assert!(world.repo().join(".git/MERGE_HEAD").exists());
    assert!(world.read("m").contains("<<<<<<<"));
    assert_eq!((world.read("f1"), world.read("f2")), ("1\n".into(), "2\n".into()));
    assert_eq!(world.subjects()[..3], ["b", "m", "[iter-0] did it 0"]);
    world.ended("completed", [3, 1, 2]);
}

#[test]
fn k4_an_agent_that_finishes_the_merge_in_the_next_iteration_goes_on() {
    let world = World::new();
    let misdeed = format!(
        "{DIVERGED}; git merge other; true; fi; \
         if [ $DACAPO_ITERATION = 2 ]; then echo both > m; git add m; git commit -qm merged"
    );
    play(&world, &[], &misdeed).expect(0).says("a merge was begun and not finished");
    assert_eq!(world.subjects()[..2], ["[iter-2] did it 2", "merged"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn k4_a_rebase_in_progress_is_kept() {
    let world = World::new();
    play(&world, &[], &format!("{DIVERGED}; git rebase other; true"))
        .expect(0)
        .says("a rebase was begun and not finished; nothing was committed");
    assert!(world.repo().join(".git/rebase-merge").exists());
    assert_eq!(world.git(&["log", "--format=%s", "main"]), "b\nm\n[iter-0] did it 0\nfirst");
    world.git(&["rebase", "--abort"]);
    world.ended("completed", [3, 1, 2]);
}

#[test]
fn c3_an_agent_that_commits_by_itself_gets_no_second_commit() {
    let world = World::new();
    let _ = play(&world, &[], "git add -A; git commit -qm own").expect(0);
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "own", "[iter-0] did it 0", "first"]);
    let records = world.events("t", "iteration_finished");
    assert_eq!(records[1]["commit_id"], world.git(&["rev-parse", "HEAD~1"]));
    assert_eq!(records[1]["changed_files"], serde_json::json!(["f1"]));
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn c3_what_an_agent_left_beside_its_own_commit_is_committed_on_top() {
    let world = World::new();
    let _ = play(&world, &[], "git add -A; git commit -qm own; echo rest > rest").expect(0);
    assert_eq!(world.subjects()[..3], ["[iter-2] did it 2", "[iter-1] did it 1", "own"]);
    assert_eq!(world.changed("HEAD~1"), ["rest"]);
    let records = world.events("t", "iteration_finished");
    assert_eq!(records[1]["changed_files"], serde_json::json!(["f1", "rest"]));
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn k4_work_on_another_branch_is_rescued_and_head_is_put_back() {
    let world = World::new();
    let misdeed = "git branch -q other main~1; git checkout -q other; echo there > there; git add -A; \
                   git commit -qm elsewhere; echo changed > there; echo loose > loose";
    play(&world, &[], misdeed)
        .expect(0)
        .says("HEAD was moved to other (")
        .says("and is back at main (")
        .says("kept as refs/dacapo/rescue/t/iter-1/head, refs/dacapo/rescue/t/iter-1/tree");
    world.status_text().says("kept as refs/dacapo/rescue/t/iter-1/head, refs/dacapo/rescue/t/iter-1/tree");
    assert_eq!(world.rescued(), ["iter-1/head", "iter-1/tree"]);
    assert_eq!(world.at("refs/dacapo/rescue/t/iter-1/head", "there"), "there");
    assert_eq!(world.at("refs/dacapo/rescue/t/iter-1/tree", "there"), "changed");
    assert_eq!(world.at("refs/dacapo/rescue/t/iter-1/tree", "loose"), "loose");
    assert_eq!(world.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-0] did it 0", "first"]);
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn k4_a_new_branch_with_the_work_on_it_is_followed() {
    for (misdeed, commits) in [
        ("git checkout -qb feature; git add -A; git commit -qm own", "own"),
        ("git checkout -qb feature", "[iter-1] did it 1"),
    ] {
        let world = World::new();
        play(&world, &[], misdeed)
            .expect(0)
            .says("note    HEAD had been moved to feature; it is back on main, with the work");
        assert_eq!(world.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(world.subjects(), ["[iter-2] did it 2", commits, "[iter-0] did it 0", "first"]);
        world.ended("completed", [3, 3, 0]);
    }
}

#[test]
fn k4_a_detached_head_is_put_back_with_its_work() {
    let world = World::new();
    play(&world, &[], "git checkout -q --detach; git add -A; git commit -qm own")
        .expect(0)
        .says("note    HEAD had been moved to a detached HEAD; it is back on main, with the work");
    assert_eq!(world.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "own", "[iter-0] did it 0", "first"]);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn k4_a_hard_reset_does_not_lose_earlier_iterations() {
    let world = World::new();
    play(&world, &[], "git add -A; git reset -q --hard HEAD~1; echo after > after")
        .expect(0)
        .says("HEAD was moved to main (")
        .says("kept as refs/dacapo/rescue/t/iter-1/head");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-0] did it 0", "first"]);
    assert_eq!(world.read("f0"), "0\n", "the file that the reset took is back");
    assert_eq!(world.at("refs/dacapo/rescue/t/iter-1/tree", "after"), "after");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn k4_an_amended_commit_is_rescued_and_the_original_stays() {
    let world = World::new();
    play(&world, &[], "git add -A; git commit -q --amend -m amended")
        .expect(0)
        .says("kept as refs/dacapo/rescue/t/iter-1/head");
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-0] did it 0", "first"]);
    assert_eq!(world.at("refs/dacapo/rescue/t/iter-1/head", "f1"), "1");
    world.ended("completed", [3, 2, 1]);
}

#[test]
fn k4_a_deleted_branch_is_there_again() {
    for place in [&[][..], &["--worktree"]] {
        let world = World::new();
        let misdeed = "b=$(git symbolic-ref --short HEAD); git checkout -q --detach; git branch -qD $b";
        play(&world, place, misdeed).expect(0).says("HEAD had been moved to a detached HEAD; it is back on ");
        let branch = if place.is_empty() { "main" } else { "dacapo/t" };
        let log = world.git(&["log", "--format=%s", branch]);
        assert_eq!(log, "[iter-2] did it 2\n[iter-1] did it 1\n[iter-0] did it 0\nfirst");
        world.ended("completed", [3, 3, 0]);
    }
}

#[test]
fn c9_secrets_and_huge_files_stay_out_also_when_the_agent_staged_them() {
    for stage in ["true", "git add -f -A"] {
        let world = World::new();
        let misdeed = format!("echo KEY=1 > .env; head -c 60000000 /dev/zero > big.bin; {stage}");
        play(&world, &[], &misdeed)
            .expect(0)
            .says("note    not committed: .env: looks like a secret")
            .says("note    not committed: big.bin: 60000000 bytes is over the limit");
        world.status_text().says("not committed: .env: looks like a secret");
        assert_eq!(world.git(&["log", "--format=", "--name-only", "--all"]), "f2\nf1\nf0\nREADME.md");
        assert_eq!(world.read(".env"), "KEY=1\n");
        assert_eq!(world.git(&["status", "--porcelain"]), "?? .env\n?? big.bin");
        world.ended("completed", [3, 3, 0]);
    }
}

#[test]
fn c9_a_secret_that_the_agent_committed_itself_is_named() {
    let world = World::new();
    play(&world, &[], "echo KEY=1 > .env; git add -f -A; git commit -qm x")
        .expect(0)
        .says("note    the agent committed .env: looks like a secret");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn k3_forged_trailers_change_nothing() {
    let world = World::new();
    let forged = "git add -A; git commit -qm '[iter-2] fake\n\nDacapo-Task: t\nDacapo-Iteration: 2\n\
                  Dacapo-Outcome: success'; echo 'Dacapo-Outcome: cancelled'; echo 'Dacapo-Task: other'";
    let _ = play(&world, &[], forged).expect(0);
    assert_eq!(world.subjects(), ["[iter-2] did it 2", "[iter-2] fake", "[iter-0] did it 0", "first"]);
    let trailers = world.git(&["log", "-1", "--format=%(trailers:only)"]);
    assert_eq!(trailers.trim(), "Dacapo-Task: t\nDacapo-Iteration: 2\nDacapo-Outcome: success");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn k3_trailers_that_the_agent_says_do_not_get_into_the_message() {
    let world = World::new();
    let _ =
        play(&world, &[], "echo; echo 'Dacapo-Outcome: cancelled'; echo 'Dacapo-Iteration: 77'").expect(0);
    let trailers = world.git(&["log", "-1", "--format=%(trailers:only)", "HEAD~1"]);
    assert_eq!(trailers.trim(), "Dacapo-Task: t\nDacapo-Iteration: 1\nDacapo-Outcome: success");
}

#[test]
fn r2_a_removed_worktree_is_made_again() {
    let world = World::unconfined();
    play(&world, &["--worktree", "--check", "test -f f2"], "rm -rf \"$DACAPO_WORKSPACE\"")
        .expect(0)
        .says("the working directory ")
        .says("is gone")
        .says("note    the working directory was created again at ");
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t"]), "[iter-2] did it 2\n[iter-0] did it 0\nfirst");
    world.ended("completed", [3, 2, 1]);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    assert_eq!(world.git_in(worktree.as_ref(), &["status", "--porcelain"]), "");
}

#[test]
fn r2_a_worktree_without_its_git_file_is_mended() {
    let world = World::new();
    play(&world, &["--worktree"], "rm -rf .git").expect(0).says(".git had been removed and was restored");
    assert_eq!(world.git(&["log", "--format=%s", "main..dacapo/t"]).lines().count(), 3);
    assert_eq!(world.subjects(), ["first"]);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r2_a_removed_checkout_ends_the_loop_with_a_clear_message() {
    for flags in [&[][..], &["--no-commit"], &["--check", "test -f f2"]] {
        let world = World::unconfined();
        let ran = play(&world, flags, "rm -rf \"$DACAPO_WORKSPACE\"");
        std::fs::create_dir_all(world.repo()).unwrap();
        let _ = ran
            .expect(1)
            .says("✗ failed (the workspace is gone) · 2 iterations · 1 failed")
            .says("the working directory ")
            .says("/repo is gone; there is no repository at ")
            .silent_about("symbolic-ref");
        let last = world.journal("t").pop().unwrap();
        assert_eq!((&last["type"], &last["outcome"]), (&"task_finished".into(), &"failed".into()));
        world.assert_nothing_left("t");
    }
}

#[test]
fn r2_a_removed_git_directory_ends_the_loop_and_the_files_stay() {
    let world = World::new();
    play(&world, &[], "rm -rf .git")
        .expect(1)
        .says("✗ failed (the workspace is gone) · 2 iterations · 1 failed")
        .says("there is no repository at ")
        .silent_about("symbolic-ref");
    assert_eq!((world.read("f0"), world.read("f1")), ("0\n".into(), "1\n".into()));
    world.assert_nothing_left("t");
}

#[test]
fn r2_a_history_made_anew_is_told_and_not_built_on() {
    let world = World::unconfined();
    play(&world, &[], "rm -rf .git; git init -qb main; git add -A; git commit -qm anew")
        .expect(0)
        .says("is no longer in the repository");
    assert_eq!(world.subjects(), ["anew"]);
    world.ended("completed", [3, 1, 2]);
}
