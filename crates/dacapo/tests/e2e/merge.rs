//! `dacapo merge`: tasks come home, each proven first (S11).

mod conflicts;
mod interrupted;
mod refusals;
mod undoing;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Ran, World};

/// A repository whose file `f` has three lines to quarrel about.
fn world() -> World {
    let world = World::new();
    world.write("f", "a\nb\nc\n");
    commit(&world, "more");
    world
}

fn commit(world: &World, message: &str) {
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", message]);
}

/// A task of one iteration in a worktree of its own.
fn task(world: &World, name: &str, agent: &str, flags: &[&str]) {
    let words = ["--quiet", "--worktree", "--name", name, "--agent-cmd", agent];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).collect();
    let prompt = format!("do {name}");
    let ran = world.exec(&[words.as_slice(), &[prompt.as_str()]].concat());
    assert!(matches!(ran.code, 0 | 3), "{}{}", ran.stdout, ran.stderr);
}

fn merge(world: &World, words: &[&str]) -> Ran {
    world.run(&[&["merge"], words].concat())
}

fn worktree(world: &World, name: &str) -> PathBuf {
    PathBuf::from(world.status(name)["worktree"].as_str().unwrap())
}

/// All that belongs to the user: refs, HEAD, what is not committed. The scratch worktrees are gone too.
fn users(world: &World) -> String {
    let parts = [
        world.git(&["for-each-ref"]),
        world.git(&["symbolic-ref", "-q", "HEAD"]),
        world.git(&["status", "--porcelain"]),
        world.git(&["worktree", "list", "--porcelain"]),
    ];
    parts.join("\n--\n")
}

/// All that belongs to one task.
fn of_task(world: &World, name: &str) -> String {
    let worktree = worktree(world, name);
    let branch = format!("refs/heads/dacapo/{name}");
    let parts = [
        world.git(&["rev-parse", &branch]),
        world.git_in(&worktree, &["status", "--porcelain", "--branch"]),
        fs::read_to_string(world.task_dir(name).join("journal.jsonl")).unwrap(),
    ];
    parts.join("\n--\n")
}

fn json_results(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "merge_result").collect()
}

#[test]
fn s11_of_three_tasks_two_conflict_and_one_breaks_the_checks_and_main_has_what_is_good() {
    let world = world();
    world.config("checks = [\"test ! -e broken\"]\n");
    task(&world, "good", "sed -i s/b/GOOD/ f; echo good", &[]);
    task(&world, "clash", "sed -i s/b/CLASH/ f; echo clash", &[]);
    task(&world, "breaks", "echo x > broken; echo breaks", &[]);
    let (clash, breaks) = (of_task(&world, "clash"), of_task(&world, "breaks"));
    let good = world.git(&["rev-parse", "dacapo/good"]);
    merge(&world, &["good,clash,breaks", "--no-agent"])
        .expect(1)
        .says("✓ good")
        .says("✗ clash   left out: conflicts in f, and there is no agent to resolve them")
        .says("✗ breaks  left out: check `test ! -e broken` fails on the result (exit 1)")
        .says("1 merged · 2 left out (clash, breaks)");
    assert_eq!(world.git(&["rev-parse", "main"]), good, "exactly what is good");
    assert_eq!(
        (world.read("f").as_str(), world.git(&["status", "--porcelain"]).as_str()),
        ("a\nGOOD\nc\n", "")
    );
    assert_eq!((of_task(&world, "clash"), of_task(&world, "breaks")), (clash, breaks), "untouched");
    // What came home has gone, and is kept.
    assert!(!worktree(&world, "good").exists());
    assert_eq!(world.git(&["branch", "--list", "dacapo/good"]), "");
    let refs = world.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/dacapo/rescue/good/"]);
    assert!(refs.contains(&good) && refs.contains("/merged-") && refs.contains("/tip"), "{refs}");
    let merged = &world.status("good")["merged"];
    assert_eq!((&merged["into"], &merged["commit_id"]), (&"main".into(), &good.as_str().into()));
    // Not twice, and not resumed.
    merge(&world, &["good"]).expect(0).says("already merged into main");
    world.run(&["resume", "good", "--iter", "1"]).expect(2).says("Task 'good' was merged into main");
}

#[test]
fn s11_what_was_proven_on_the_very_commit_is_not_run_again_and_everything_else_is() {
    let world = world();
    let runs = world.scratch("runs");
    let check = format!("echo run >> {} && test -e new", runs.display());
    let count = || fs::read_to_string(&runs).unwrap().lines().count();
    task(&world, "one", "echo 1 > new; echo one", &["--check", &check]);
    task(&world, "two", "echo 1 > new; echo 2 > two; echo two", &["--check", &check]);
    let before = count();
    merge(&world, &["one"]).expect(0).says("(proven on this commit)").says("✓ one  fast-forward to");
    assert_eq!(count(), before, "the receipt is for this commit");
    merge(&world, &["two", "--dry-run"]).expect(0).says("1 two 1 commit, 2 files     merge");
    assert_eq!(count(), before, "a plan runs nothing");
    merge(&world, &["two"]).expect(0).says("✓ two  merged as");
    assert_eq!(count(), before + 1, "the result is a commit that nobody has checked");
    let message = world.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("Merge task 'two': do two\n\n1 commit on dacapo/two. Checks: `"),
        "{message}"
    );
    assert!(message.ends_with("\n\nDacapo-Task: two"), "{message}");
    assert_eq!(world.git(&["log", "-1", "--format=%an %cn"]), "Test Test", "in the user's own name");
}

#[test]
fn s11_a_check_of_the_project_that_the_task_never_ran_is_run_even_for_a_fast_forward() {
    let world = world();
    task(&world, "t", "echo 1 > bad; echo t", &["--check", "test -e bad"]);
    world.config("checks = [\"test ! -e bad\"]\n");
    let before = (users(&world), of_task(&world, "t"));
    merge(&world, &["t"]).expect(1).says("check `test ! -e bad` fails on the result");
    assert_eq!((users(&world), of_task(&world, "t")), before);
}

#[test]
fn s11_a_squash_is_one_commit_with_what_the_iterations_came_to() {
    let world = world();
    let agent = "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo Adds file $DACAPO_ITERATION.";
    task(&world, "t", agent, &["--iter", "2"]);
    let main = world.git(&["rev-parse", "main"]);
    merge(&world, &["t", "--squash"]).expect(0).says("squash").says("✓ t  merged as");
    assert_eq!(world.git(&["log", "-1", "--format=%P"]), main);
    assert_eq!(
        world.git(&["log", "-1", "--format=%B"]),
        "do t\n\n- Adds file 0\n- Adds file 1\n\nNo checks.\n\nDacapo-Task: t"
    );
    assert_eq!((world.read("f0").as_str(), world.read("f1").as_str()), ("0\n", "1\n"));
    assert_eq!(world.status("t")["merged"]["squash"], true);
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
}

#[test]
fn s11_a_dry_run_changes_nothing_and_tells_what_would_conflict_with_what() {
    let world = world();
    for (name, text) in [("one", "ONE"), ("two", "TWO")] {
        task(&world, name, &format!("sed -i s/b/{text}/ f; echo {name}"), &[]);
    }
    let before = (users(&world), of_task(&world, "one"), of_task(&world, "two"));
    merge(&world, &["one,two", "--dry-run", "--no-agent"])
        .expect(1)
        .says("1 one 1 commit, 1 file      fast-forward")
        .says("conflicts with one in f; no agent: it will be left out")
        .says("nothing was changed (--dry-run)");
    let ran = merge(&world, &["one,two", "--dry-run", "--agent-cmd", "true", "--json"]).expect(0);
    let plan: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(plan["tasks"][1]["expected"], "conflicts");
    assert_eq!(
        (&plan["tasks"][1]["conflicts"][0], &plan["tasks"][1]["conflicts_with"][0]),
        (&"f".into(), &"one".into())
    );
    assert_eq!(plan["tasks"][1]["agent"], "true");
    assert_eq!((users(&world), of_task(&world, "one"), of_task(&world, "two")), before);
}

#[test]
fn c9_hooks_run_and_one_that_refuses_leaves_the_task_out() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    world.write("other", "1\n");
    commit(&world, "main went on");
    let hook = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = world.repo().join(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    hook("commit-msg", "echo no such merges here >&2; exit 1");
    let before = (users(&world), of_task(&world, "t"));
    merge(&world, &["t"]).expect(1).says("✗ t").says("no such merges here");
    assert_eq!((users(&world), of_task(&world, "t")), before);
    hook("commit-msg", "[ -n \"$(git ls-files -- '*.md')\" ] && echo by-hook >> \"$1\"");
    hook("post-merge", &format!("git rev-parse --show-toplevel >> {}", world.scratch("tops").display()));
    let _ = merge(&world, &["t"]).expect(0);
    assert!(world.git(&["log", "-1", "--format=%B"]).ends_with("by-hook"));
    world.run(&["status", "t"]).expect(0).says("merged  into main as ");
    let tops = fs::read_to_string(world.scratch("tops")).unwrap();
    assert_eq!(PathBuf::from(tops.lines().last().unwrap()), world.repo().canonicalize().unwrap());
}

#[test]
fn c9_hooks_that_only_this_checkout_has_run_too_and_so_does_signing() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    world.write("other", "1\n");
    commit(&world, "main went on");
    // As made by a package manager: relative, and in no commit.
    fs::write(world.repo().join(".git/info/exclude"), "hooks\n").unwrap();
    world.write("hooks/commit-msg", "#!/bin/sh\necho by-own-hook >> \"$1\"\n");
    world.git_output(&["config", "core.hooksPath", "hooks"]);
    std::process::Command::new("chmod")
        .arg("755")
        .arg(world.repo().join("hooks/commit-msg"))
        .status()
        .unwrap();
    let signer = world.program("signer", "#!/bin/sh\necho no key today >&2\nexit 1\n");
    world.git(&["config", "commit.gpgSign", "true"]);
    world.git(&["config", "gpg.program", signer.to_str().unwrap()]);
    let before = (users(&world), of_task(&world, "t"));
    merge(&world, &["t"]).expect(1).says("✗ t").says("no key today");
    assert_eq!((users(&world), of_task(&world, "t")), before);
    world.git(&["config", "commit.gpgSign", "false"]);
    let _ = merge(&world, &["t"]).expect(0);
    assert!(world.git(&["log", "-1", "--format=%B"]).ends_with("by-own-hook"));
}

#[test]
fn s9_files_that_no_commit_holds_are_set_aside_with_the_worktree() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let tree = worktree(&world, "t");
    fs::write(tree.join("notes"), "precious\n").unwrap();
    fs::write(tree.join("f"), "changed\n").unwrap();
    let ran = merge(&world, &["t", "--json"]).expect(0);
    let aside = PathBuf::from(json_results(&ran)[0]["set_aside"].as_str().unwrap());
    assert!(!tree.exists());
    assert_eq!(fs::read_to_string(aside.join("tree/notes")).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(aside.join("tree/f")).unwrap(), "changed\n");
    assert_eq!((world.read("new").as_str(), world.read("f").as_str()), ("1\n", "a\nb\nc\n"));
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    // It can be had back, and then it can go on.
    world.run(&["resume", "t", "more"]).expect(2).says("was merged into main").says("dacapo undo t");
    let _ = world.run(&["undo", "t"]).expect(0);
    let _ = world.run(&["resume", "t", "more"]).expect(0);
    assert_eq!(world.status("t")["iteration"], 2);
}

#[test]
fn r2_a_worktree_that_was_removed_by_hand_is_not_needed() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    fs::remove_dir_all(worktree(&world, "t")).unwrap();
    let _ = merge(&world, &["t"]).expect(0);
    assert_eq!((world.read("new").as_str(), world.git(&["worktree", "list"]).lines().count()), ("1\n", 1));
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
}

#[test]
fn s11_the_branch_of_the_checkout_one_stands_in_is_the_one_that_moves() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let other = world.scratch("other");
    world.git(&["worktree", "add", "-q", "-b", "release", other.to_str().unwrap()]);
    let main = world.git(&["rev-parse", "main"]);
    let ran = Ran::from(world.command(&["merge", "t"]).current_dir(&other).output().unwrap()).expect(0);
    ran.says("into    release");
    assert_eq!(fs::read_to_string(other.join("new")).unwrap(), "1\n");
    assert_eq!(
        (world.git(&["rev-parse", "main"]), world.git(&["status", "--porcelain"])),
        (main, String::new())
    );
    assert_eq!(world.git_in(&other, &["status", "--porcelain"]), "");
}

#[test]
fn s11_what_was_merged_by_hand_is_recognised_and_tidied_up() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    task(&world, "idle", "echo nothing", &[]);
    world.git(&["merge", "-q", "dacapo/t"]);
    let main = world.git(&["rev-parse", "main"]);
    let ran = merge(&world, &["t,idle", "--json"]).expect(0);
    let results: Vec<Value> = json_results(&ran).iter().map(|result| result["result"].clone()).collect();
    assert_eq!(results, ["already_there", "empty"]);
    assert_eq!(world.git(&["rev-parse", "main"]), main);
    assert_eq!(world.git(&["branch", "--list", "dacapo/*", "--format=%(refname:short)"]), "dacapo/idle");
}

#[test]
fn s11_setup_makes_the_scratch_worktree_usable_for_checks() {
    let world = world();
    world.write(".gitignore", "deps\n");
    world.write(".worktreeinclude", "local.cfg\n");
    commit(&world, "ignore and include");
    world.write("local.cfg", "secret\n");
    // Proofs have the files of the start.
    task(&world, "t", "echo 1 > new; echo t", &[]);
    world.config("checks = [\"test -e deps && grep -q secret local.cfg\"]\n[worktree]\nsetup = [\"touch deps junk\"]\n");
    world.write("more", "x\n");
    world.git(&["add", "more"]);
    world.git(&["commit", "-qm", "more"]);
    let agent = "test -e deps && echo joined >> new";
    let _ = merge(&world, &["t", "join them", "--agent-cmd", agent]).expect(0);
    assert_eq!(world.read("new"), "1\njoined\n");
    assert_eq!(
        world.changed("HEAD^1..HEAD"),
        ["new"],
        "what makes a worktree usable is no part of the merge"
    );
    assert_eq!(world.git(&["status", "--porcelain"]), "?? local.cfg");
    task(&world, "u", "echo 1 > other; echo u", &[]);
    world.config("checks = [\"true\"]\n[worktree]\nsetup = [\"echo no network >&2; exit 7\"]\n");
    merge(&world, &["u"])
        .expect(1)
        .says("left out: setup `echo no network >&2; exit 7` failed (exit 7): no network");
}
