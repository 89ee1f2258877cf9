//! `--worktree`, `--with-changes`, `--allow-dirty`, `--no-commit`: where the work goes, and what of the user's stays.

use std::fs;
use std::path::PathBuf;

use crate::support::{Ran, World};

const AGENT: &str = "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";

fn run(world: &World, flags: &[&str]) -> Ran {
    let words = ["--name", "t", "--iter", "2", "--agent-cmd", AGENT];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).chain(["go"]).collect();
    world.exec(&words)
}

/// A changed, a staged, a removed and a new file.
fn dirty() -> World {
    let world = World::new();
    world.write("gone", "gone\n");
    world.write("staged", "old\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "more"]);
    world.write("README.md", "mine\n");
    world.write("staged", "staged\n");
    world.git(&["add", "staged"]);
    fs::remove_file(world.repo().join("gone")).unwrap();
    world.write("new file", "new\n");
    world
}

const DIRT: &str = " M README.md\n D gone\nM  staged\n?? \"new file\"";

fn dirt(world: &World) -> String {
    world.git(&["status", "--porcelain"])
}

#[test]
fn s3_a_worktree_has_a_branch_of_its_own_and_main_is_untouched() {
    let world = World::new();
    run(&world, &["--worktree"]).expect(0).says("where   dacapo/t · ").says("2 commits on dacapo/t (");
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t"]), "[iter-1] did it\n[iter-0] did it\nfirst");
    assert_eq!(world.subjects(), ["first"]);
    assert!(!world.repo().join("f0").exists());
    let view = world.status("t");
    assert_eq!((&view["branch"], &view["base_branch"]), (&"dacapo/t".into(), &"main".into()));
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn s2_a_task_is_found_from_inside_its_own_worktree() {
    let world = World::new();
    let _ = run(&world, &["--worktree"]).expect(0);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    let shown = Ran::from(world.command(&["status"]).current_dir(worktree).output().unwrap()).expect(0);
    shown.says("t · completed · 2 iterations of 2 done");
}

#[test]
fn c10_uncommitted_files_stay_behind_and_are_counted() {
    let world = dirty();
    run(&world, &["--worktree"])
        .expect(0)
        .says("note    4 uncommitted files stay here; --with-changes copies them");
    assert_eq!(dirt(&world), DIRT);
    assert_eq!(world.git(&["show", "dacapo/t:README.md"]), "hello");
    assert_eq!(world.changed("dacapo/t"), ["f1"]);
}

#[test]
fn c10_with_changes_takes_them_along_in_a_commit_of_their_own() {
    let world = dirty();
    run(&world, &["--worktree", "--with-changes"]).expect(0).says("uncommitted files were copied");
    assert_eq!(dirt(&world), DIRT, "and leaves them where they are");
    assert_eq!(
        world.git(&["log", "--format=%s", "dacapo/t"]),
        "[iter-1] did it\n[iter-0] did it\nUncommitted changes before t\nmore\nfirst"
    );
    assert_eq!(world.changed("dacapo/t~1"), ["f0"], "never in an iteration's commit");
    assert_eq!(world.changed("dacapo/t~2"), ["README.md", "gone", "new file", "staged"]);
    assert_eq!(world.git(&["show", "dacapo/t:new file"]), "new");
}

#[test]
fn s7_a_branch_that_is_there_already_is_not_touched() {
    let world = World::new();
    // At HEAD, as after a merge: the one place where it could be mistaken for one of ours.
    world.git(&["branch", "dacapo/t"]);
    run(&world, &["--worktree"])
        .expect(2)
        .says("error: branch 'dacapo/t' already exists")
        .says("kept: everything; nothing was started")
        .says("choose another --name")
        .silent_about("check");
    assert_eq!(world.git(&["rev-parse", "dacapo/t"]), world.git(&["rev-parse", "main"]));
    assert!(world.tasks().is_empty());
    // A name made from the prompt takes the next number.
    world.git(&["branch", "dacapo/do-it"]);
    world.exec(&["--worktree", "--agent-cmd", "echo x > x", "do it"]).expect(0).says("dacapo/do-it-2");
}

#[test]
fn s7_a_directory_that_is_there_already_is_not_touched() {
    let world = World::new();
    let _ = run(&world, &["--worktree"]).expect(0);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    fs::write(format!("{worktree}/precious"), "work\n").unwrap();
    fs::remove_dir_all(world.task_dir("t")).unwrap();
    run(&world, &["--worktree"]).expect(2).says("Worktree for task 't' already exists");
    assert_eq!(fs::read_to_string(format!("{worktree}/precious")).unwrap(), "work\n");
    assert_eq!(world.git(&["log", "--format=%s", "main..dacapo/t"]).lines().count(), 2);
}

#[test]
fn s7_what_is_at_the_place_of_a_worktree_is_named_with_the_command_that_removes_it() {
    // With a space, since a command is to be pasted as it is printed.
    for (case, says) in [
        ("mkdir X; echo a > X/a", "rm -r "),
        ("echo a > X", "rm "),
        ("ln -s /nowhere X", "rm "),
        ("git clone -q . X", "rm -r "),
    ] {
        let world = World::new();
        let data = world.scratch("my data");
        let run =
            |words: &[&str]| Ran::from(world.command(words).env("DACAPO_HOME", &data).output().unwrap());
        let shell = |line: &str| {
            let mut command = std::process::Command::new("sh");
            world.dress(&mut command);
            let ran = Ran::from(command.args(["-c", line]).current_dir(world.repo()).output().unwrap());
            assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        };
        let agent = ["--worktree", "--agent-cmd", "echo x > x", "do it"];
        let _ = run(&[&["exec", "--name", "first"], &agent[..]].concat()).expect(0);
        let first: serde_json::Value =
            serde_json::from_str(&run(&["status", "first", "--json"]).stdout).unwrap();
        let place = PathBuf::from(first["worktree"].as_str().unwrap()).with_file_name("t");
        shell(&case.replace('X', &format!("'{}'", place.display())));
        let words = [&["exec", "--name", "t"], &agent[..]].concat();
        let said = run(&words).expect(2).says("Worktree for task 't' already exists").stderr.clone();
        let hint = said.lines().find_map(|line| line.strip_prefix("  do:   ")).unwrap();
        let words_after = [" when ", " makes ", " removes "];
        let command = words_after.iter().fold(hint, |rest, word| rest.split(word).next().unwrap());
        assert!(command.starts_with(says), "{case}: {hint}");
        shell(command);
        let _ = run(&words).expect(0);
    }
}

#[test]
fn s7_a_name_is_not_used_twice() {
    let world = World::new();
    let _ = run(&world, &["--worktree"]).expect(0);
    run(&world, &["--worktree"]).expect(2).says("Task 't' already exists").says("dacapo resume t");
}

#[test]
fn r2_a_deleted_worktree_is_made_again_by_resume_and_named_where_its_branch_went_too() {
    let world = World::new();
    let _ = run(&world, &["--worktree"]).expect(0);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    fs::remove_dir_all(&worktree).unwrap();
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    let ran = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    ran.says("the worktree had been removed and was created again from dacapo/t");
    let _ = world.git(&["merge-base", "--is-ancestor", &tip, "dacapo/t"]);
    fs::remove_dir_all(&worktree).unwrap();
    let _ = world.git(&["update-ref", "-d", "refs/heads/dacapo/t"]);
    let ran = world.run(&["resume", "t", "--iter", "1"]).expect(1);
    ran.says("the workspace of task 't' cannot be used").says(&worktree);
    world.assert_nothing_left("t");
}

#[test]
fn c10_a_dirty_tree_is_refused_and_set_apart_when_allowed() {
    let world = dirty();
    run(&world, &[])
        .expect(2)
        .says("3 tracked files here have uncommitted changes (README.md, gone, staged)")
        .says("do:   commit them first")
        .says("or:   --worktree")
        .says("or:   --allow-dirty");
    assert_eq!(dirt(&world), DIRT);
    assert!(world.tasks().is_empty());
    let _ = run(&world, &["--allow-dirty"]).expect(0);
    assert_eq!(
        world.subjects(),
        ["[iter-1] did it", "[iter-0] did it", "Uncommitted changes before t", "more", "first"]
    );
    assert_eq!(world.changed("HEAD~2"), ["README.md", "gone", "new file", "staged"]);
    assert_eq!((world.changed("HEAD~1"), world.changed("HEAD")), (vec!["f0".into()], vec!["f1".into()]));
    assert_eq!(world.at("refs/dacapo/rescue/t/before/tree", "new file"), "new");
    assert_eq!(world.at("refs/dacapo/rescue/t/before/index", "staged"), "staged");
    let view = world.status("t");
    assert_eq!(
        view["base_commit"],
        world.git(&["rev-parse", "HEAD~2"]),
        "the user's part is no part of the task"
    );
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn c11_no_commit_touches_nothing() {
    let world = dirty();
    run(&world, &["--no-commit"]).expect(0).says("● 1  not committed  did it").says("0 commits on main");
    assert_eq!(world.subjects(), ["more", "first"]);
    assert_eq!(
        dirt(&world),
        format!("{DIRT}\n?? f0\n?? f1")
            .replace("?? \"new file\"\n?? f0\n?? f1", "?? f0\n?? f1\n?? \"new file\"")
    );
    assert_eq!(world.git(&["for-each-ref", "refs/dacapo"]), "");
    world.ended("completed", [2, 2, 0]);
}
