//! `rename`: from then on a task is known by its new name everywhere, whatever is killed on the way (S17).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::dropping::{DEADLY_GIT, all, dies, make_a_mess, snapshot};
use crate::support::{Ran, World, wait_for};

const AGENT: &str =
    "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it as $DACAPO_TASK";

/// A task in a worktree that has come to its end.
fn task(world: &World, name: &str) -> PathBuf {
    let words = ["--worktree", "--name", name, "--iter", "1", "--agent-cmd", AGENT, "go"];
    let _ = world.exec(&words).expect(0);
    PathBuf::from(world.status(name)["worktree"].as_str().unwrap())
}

fn rename(world: &World, from: &str, to: &str) -> Ran {
    world.run(&["rename", from, to])
}

/// All that an order which is refused must leave alone: everything but who had a lock last, and what git did to look.
fn kept(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = world.everything();
    // The folder of marks stays when the mark of a command is gone.
    let left = |path: &Path| path.ends_with("lock") || path.ends_with("at-work");
    files.retain(|path, _| !left(path) && !path.starts_with(world.repo().join(".git")));
    files.insert("refs".into(), world.git(&["for-each-ref"]).into_bytes());
    files
}

#[test]
fn s17_a_proven_task_is_renamed_and_merged_without_another_proof() {
    let world = World::new();
    let runs = world.scratch("runs");
    let check = format!("echo run >> {}; test -e f0", runs.display());
    let count = || fs::read_to_string(&runs).unwrap().lines().count();
    let words = ["--worktree", "--name", "old", "--check", &check, "--agent-cmd", AGENT, "make f0"];
    let _ = world.exec(&words).expect(0);
    let was = world.status("old");

    rename(&world, "old", "new").expect(0).says("renamed old to new: branch dacapo/new and ");
    assert_eq!(world.tasks(), ["new"]);
    let is = world.status("new");
    let at = was["worktree"].as_str().unwrap().replace("worktrees/old", "worktrees/new");
    assert_eq!(
        ["name", "branch", "worktree", "verified", "status"].map(|field| is[field].clone()),
        [json!("new"), json!("dacapo/new"), json!(at), json!(true), json!("completed")]
    );
    for same in
        ["prompt", "created_at", "finished_at", "last_commit", "iterations", "checks", "record", "result"]
    {
        assert_eq!(is[same], was[same], "{same}");
    }
    assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "dacapo/new\nmain");
    assert_eq!(world.git_in(Path::new(&at), &["status", "--porcelain", "--branch"]), "## dacapo/new");
    world.run(&["list"]).expect(0).says("new  ✓ proven, merges cleanly");
    world.run(&["logs", "new"]).expect(0).says("Renamed from old to new");
    world.run(&["diff", "new", "--stat"]).expect(0).says("f0");
    world.run(&["status", "old"]).expect(2).says("Task 'old' not found").says("it was renamed to 'new'");

    // The name is free, and whoever has it now is another.
    task(&world, "old");
    let before = count();
    world.run(&["merge", "new"]).expect(0).says("(proven on this commit)").says("✓ new  fast-forward to");
    assert_eq!(count(), before, "its receipt is believed");
    assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "dacapo/old\nmain");
    world.assert_nothing_left("new");
}

#[test]
fn s17_a_stopped_task_is_renamed_and_goes_on_under_its_new_name() {
    let world = World::new();
    task(&world, "old");
    let ran = world.run(&["rename", "old", "new", "--json"]).expect(0);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let at = PathBuf::from(said["worktree"].as_str().unwrap());
    let fields = ["v", "type", "from", "to", "branch"].map(|field| said[field].clone());
    assert_eq!(fields, [json!(3), json!("renamed"), json!("old"), json!("new"), json!("dacapo/new")]);
    let _ = world.run(&["resume", "new", "--iter", "1"]).expect(0);
    let log = world.git(&[
        "log",
        "-2",
        "--format=%s, %(trailers:key=Dacapo-Task,valueonly,separator=)",
        "dacapo/new",
    ]);
    assert_eq!(log, "[iter-1] did it as new, new\n[iter-0] did it as old, old");
    assert!(at.join("f1").exists());
    let tasks: Vec<Value> = world.journal("new").iter().map(|line| line["task"].clone()).collect();
    let first_new = tasks.iter().position(|task| task == "new").unwrap();
    assert!(tasks[..first_new].iter().all(|task| task == "old"), "earlier lines keep the name of then");
    assert!(tasks[first_new..].iter().all(|task| task == "new"), "{tasks:?}");
    assert_eq!(world.status("new")["record"]["whole"], true);
}

#[test]
fn r1_an_interrupted_task_is_renamed_and_goes_on() {
    let world = World::new();
    let up = world.scratch("up");
    let agent =
        format!("echo half > half; touch {0}; test $DACAPO_TASK = new || sleep 600; echo done", up.display());
    let running = world.start(&["exec", "--worktree", "--name", "old", "--agent-cmd", &agent, "go"]);
    world.wait_for_file("up");
    running.signal(rustix::process::Signal::KILL);
    let _ = running.end();
    wait_for("its lock", || world.run(&["rename", "old", "new"]).code == 0);
    assert_eq!(world.status("new")["status"], "interrupted");
    let _ = world.run(&["resume", "new"]).expect(0);
    assert_eq!(world.git(&["show", "dacapo/new:half"]), "half");
    world.assert_nothing_left("new");
}

#[test]
fn s17_what_cannot_be_renamed_is_said_and_nothing_changes() {
    let world = World::new();
    let at = task(&world, "old");
    task(&world, "other");
    world.git(&["branch", "dacapo/taken"]);
    fs::create_dir(at.with_file_name("there")).unwrap();
    let before = kept(&world);
    for (from, to, says) in [
        ("odl", "new", "did you mean 'old'?"),
        ("nobody", "new", "Task 'nobody' not found"),
        ("../old", "new", "Task '../old' not found"),
        ("old", "other", "Task 'other' already exists"),
        ("old", "old", "Task 'old' already has this name"),
        ("old", "taken", "branch 'dacapo/taken' already exists"),
        ("old", "there", "Worktree for task 'there' already exists"),
    ] {
        rename(&world, from, to).expect(2).says(says).says("kept: everything; nothing was renamed");
    }
    for name in ["a b", "..", "a/b", "../x", "Über", "A", "", "a.b", "繼續", &"x".repeat(65), "a\nb"] {
        rename(&world, "old", name).expect(2).says("invalid task name").says("dacapo rename old ");
    }
    world.run(&["rename", "old", "--", "-x"]).expect(2).says("invalid task name '-x'");
    let _ = world.run(&["rename", "old"]).expect(2);
    let ran = world.run(&["rename", "old", "other", "--json"]).expect(2);
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["message"], "Task 'other' already exists");

    let inside =
        Ran::from(world.command(&["rename", "old", "new"]).current_dir(&at).output().unwrap()).expect(2);
    inside.says("you are in the worktree of task 'old'").says(&format!("cd {}", world.repo().display()));
    world.git(&["checkout", "-q", "dacapo/old"]);
    rename(&world, "old", "new")
        .expect(2)
        .says("branch 'dacapo/old' is checked out at ")
        .says(" switch main");
    world.git(&["checkout", "-q", "main"]);
    let after = kept(&world);
    let others = |all: &BTreeMap<PathBuf, Vec<u8>>, than: &BTreeMap<PathBuf, Vec<u8>>| -> Vec<PathBuf> {
        all.iter()
            .filter(|(path, bytes)| than.get(*path) != Some(*bytes))
            .map(|(path, _)| path.clone())
            .collect()
    };
    assert_eq!((others(&before, &after), others(&after, &before)), (vec![], vec![]));
    let _ = rename(&world, "old", "new").expect(0);
}

#[test]
fn s17_a_task_that_runs_or_waits_keeps_its_name() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 1\n");
    let go = world.scratch("go");
    let agent = format!(
        "touch {}; while ! test -e {}; do sleep 0.02; done",
        world.scratch("up").display(),
        go.display()
    );
    world.spawned("runs", 1, &agent);
    world.wait_for_file("up");
    world.spawned("waits", 1, &agent);
    wait_for("its place in the row", || world.status("waits")["status"] == "queued");
    for name in ["runs", "waits"] {
        rename(&world, name, "new")
            .expect(2)
            .says(&format!("Task '{name}' is still running."))
            .says(&format!("dacapo kill {name}"));
    }
    assert_eq!(world.tasks(), ["runs", "waits"]);
    fs::write(go, "").unwrap();
    for name in ["runs", "waits"] {
        let _ = world.wait(name).expect(0);
    }
    let _ = rename(&world, "waits", "new").expect(0);
    assert_eq!(world.tasks(), ["new", "runs"]);
}

#[test]
fn s17_a_task_in_the_checkout_changes_only_its_record() {
    let world = World::new();
    let _ = world.exec(&["--name", "here", "--agent-cmd", AGENT, "go"]).expect(0);
    let (head, status) = (world.git(&["rev-parse", "HEAD"]), world.git(&["status", "--porcelain"]));
    rename(&world, "here", "there").expect(0).says("renamed here to there: its record\n");
    assert_eq!((world.git(&["rev-parse", "HEAD"]), world.git(&["status", "--porcelain"])), (head, status));
    let is = world.status("there");
    assert_eq!((&is["branch"], &is["worktree"]), (&json!("main"), &Value::Null));
    let _ = world.run(&["resume", "there", "--iter", "1"]).expect(0);
    assert_eq!(world.subjects()[0], "[iter-1] did it as there");
}

#[test]
fn s9_a_renamed_task_is_dropped_and_comes_back_bit_for_bit() {
    let world = World::new();
    let at = task(&world, "t");
    make_a_mess(&world, &at);
    let (files, was) = (snapshot(&at), all(&world, "t"));
    let _ = rename(&world, "t", "u").expect(0);
    let is = all(&world, "u");
    assert_eq!(tree(&snapshot(&at.with_file_name("u"))), tree(&files));
    assert_eq!(
        (&is.index, &is.staged, &is.log, &is.reflog),
        (&was.index, &was.staged, &was.log, &was.reflog)
    );
    assert_eq!(is.status, was.status.replace("dacapo/t", "dacapo/u"));
    world.run(&["drop", "u"]).expect(0).says("dropped u: worktree and branch dacapo/u at ");
    world.run(&["undo", "u"]).expect(0).says("u is back: branch dacapo/u and ");
    assert_eq!(all(&world, "u"), is);
}

#[test]
fn s9_what_was_merged_is_brought_back_under_the_new_name() {
    let world = World::new();
    task(&world, "old");
    let tip = world.git(&["rev-parse", "dacapo/old"]);
    let _ = world.run(&["merge", "old"]).expect(0);
    rename(&world, "old", "new").expect(0).says("renamed old to new: its record\n");
    let at = task(&world, "old");
    let listed: Value =
        serde_json::from_str(&world.run(&["undo", "--list", "--json"]).expect(0).stdout).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["branch"]), (&json!("new"), &json!("dacapo/new")));
    world.run(&["undo", "new"]).expect(0).says("new is back: branch dacapo/new and ");
    assert_eq!(world.git(&["rev-parse", "dacapo/new"]), tip);
    let back = at.with_file_name("new");
    assert_eq!(world.git_in(&back, &["status", "--porcelain", "--branch"]), "## dacapo/new");
    let _ = world.run(&["resume", "new", "--iter", "1"]).expect(0);
}

#[test]
fn s12_a_pull_request_stays_where_it_was_offered() {
    const URL: &str = "https://github.com/owner/name/pull/7";
    let world = World::with_remote("https://github.com/owner/name.git");
    world.platform(
        "gh",
        &format!("case \"$1 $2\" in 'pr list') echo '[{{\"url\":\"{URL}\",\"headRefName\":\"dacapo/old\",\"isCrossRepository\":false}}]';; *) exit 9;; esac"),
    );
    let _ = world.exec(&["--name", "old", "--worktree", "--pr", "--agent-cmd", AGENT, "go"]).expect(0);
    rename(&world, "old", "new").expect(0).says("its pull request stays on the old branch");
    assert_eq!(world.status("new")["pull_request"], URL);
    world.run(&["resume", "new", "and more"]).expect(0).says(URL);
    assert_eq!(world.pushed("dacapo/old"), world.git(&["rev-parse", "dacapo/new"]));
    world.run(&["pr", "new", "--dry-run"]).expect(0).says("push   dacapo/new as dacapo/old to ");
}

/// Without the task's repository, in which a branch has another name.
fn tree<T: Clone>(files: &BTreeMap<PathBuf, T>) -> BTreeMap<PathBuf, T> {
    let own = files.iter().filter(|(path, _)| !path.starts_with(".git"));
    own.map(|(path, file)| (path.clone(), file.clone())).collect()
}

/// SIGKILL at every git call of a rename, then `on` leads to the end of it.
fn at_every_call(on: impl Fn(&World, &str)) {
    let world = World::new();
    let at = task(&world, "old");
    fs::write(at.join("mine"), "1\n").unwrap();
    world.git(&["config", "branch.dacapo/old.merge", "refs/heads/theirs"]);
    let was = all(&world, "old");
    world.program("git", DEADLY_GIT);
    let (mut died, mut half) = (0, 0);
    for call in 0..100 {
        let mut over = true;
        for when in ["before", "after"] {
            let plan = format!("{when}:{call}");
            if dies(&world, &["rename", "old", "new"], &plan) {
                over = false;
                died += 1;
                half += usize::from(world.tasks() == ["new"]);
            }
            let _ = world.run(&["list"]).expect(0);
            on(&world, &plan);
            assert_eq!(world.tasks(), ["new"], "{plan}");
            let is = all(&world, "new");
            assert_eq!(
                (tree(&is.files), &is.index, &is.log),
                (tree(&was.files), &was.index, &was.log),
                "{plan}"
            );
            assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "dacapo/new\nmain", "{plan}");
            assert_eq!(world.git(&["config", "branch.dacapo/new.merge"]), "refs/heads/theirs", "{plan}");
            let _ = rename(&world, "new", "old").expect(0);
        }
        if over {
            assert!(died >= 10 && half >= 6, "{died} deaths, {half} in the middle");
            return;
        }
    }
    panic!("no end");
}

#[test]
fn r1_a_rename_that_was_killed_is_finished_by_the_same_order() {
    at_every_call(|world, plan| {
        let again = rename(world, "old", "new");
        let over = again.code == 0 || again.stderr.contains("it was renamed to 'new'");
        assert!(over, "{plan}: {again:?}");
    });
}

#[test]
fn r1_a_rename_that_was_killed_is_finished_by_whoever_names_the_task_next() {
    let turn = std::cell::Cell::new(0);
    at_every_call(|world, plan| {
        if world.tasks() == ["old"] {
            // It had not begun: nothing has changed.
            let _ = world.run(&["resume", "old"]).expect(2);
            let _ = rename(world, "old", "new").expect(0);
            return;
        }
        turn.set(turn.get() + 1);
        match turn.get() % 4 {
            0 => drop(world.run(&["status", "new"]).expect(0)),
            1 => drop(world.run(&["tell", "new", "be quick"]).expect(0)),
            2 => {
                let _ = world.run(&["drop", "new"]).expect(0);
                let _ = world.run(&["undo", "new"]).expect(0);
            }
            _ => {
                // Its old name is free from the first moment on.
                let _ = world.exec(&["--worktree", "--name", "old", "--agent-cmd", "true", "go"]).expect(0);
                let _ = world.run(&["drop", "old"]).expect(0);
                let _ = world.run(&["prune", "--dropped"]).expect(0);
            }
        }
        assert!(world.task_dir("new").join("name.json").exists(), "{plan}");
    });
}

#[test]
fn r1_where_a_rename_cannot_be_finished_nobody_works_on_the_task() {
    let world = World::new();
    task(&world, "old");
    let _ = rename(&world, "old", "new").expect(0);
    // As if it had been cut short when the branch was made, and somebody had made another one of that name since.
    let at = PathBuf::from(world.status("new")["worktree"].as_str().unwrap());
    world.git_in(&at, &["checkout", "-q", "--detach"]);
    world.git(&["branch", "dacapo/old", "main"]);
    let paper = world.task_dir("new").join("name.json");
    let text = fs::read_to_string(&paper).unwrap().replace("\"done\": true", "\"done\": false");
    fs::write(&paper, text).unwrap();
    let cure = "dacapo rename old new finishes it";
    world
        .run(&["status", "new"])
        .expect(0)
        .says("new · completed")
        .says("is not completely renamed")
        .says(cure);
    for words in [
        &["resume", "new", "--iter", "1"][..],
        &["merge", "new"],
        &["drop", "new"],
        &["tell", "new", "x"],
        &["rename", "new", "newer"],
    ] {
        world.run(words).expect(1).says("Task 'new' is not completely renamed").says(cure);
    }
    world.run(&["rename", "old", "new"]).expect(1).says("branch 'dacapo/new' already exists").says(cure);
    world.git(&["branch", "-m", "dacapo/old", "theirs"]);
    world.run(&["rename", "old", "new"]).expect(0).says("renamed old to new");
    let _ = world.run(&["drop", "new"]).expect(0);
    assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "main\ntheirs");
}

#[test]
fn r1_a_git_that_outlives_its_rename_keeps_the_task_to_itself() {
    let world = World::new();
    task(&world, "old");
    let git = r#"#!/bin/sh
case " $* " in *" update-ref "*"refs/heads/dacapo/new"*)
    if [ -n "$OUTLIVES" ]; then
        case $(cat /proc/$PPID/comm) in dacapo*) kill -9 $PPID ;; esac
        touch UP
        while ! test -e GO; do sleep 0.02; done
    fi ;;
esac
PATH=${PATH#"$(dirname "$0")":}
exec git "$@"
"#;
    let path = |name: &str| world.scratch(name).display().to_string();
    world.program("git", &git.replace("UP", &path("up")).replace("GO", &path("go")));
    let mut killed = world.command(&["rename", "old", "new"]).env("OUTLIVES", "1").spawn().unwrap();
    assert!(!killed.wait().unwrap().success());
    world.wait_for_file("up");
    for words in [&["rename", "old", "new"][..], &["resume", "new", "--iter", "1"]] {
        world.run(words).expect(2).says("a git or guard process that it started is still running");
    }
    fs::write(world.scratch("go"), "").unwrap();
    wait_for("git to be done", || rename(&world, "old", "new").code == 0);
    assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "dacapo/new\nmain");
    let _ = world.run(&["resume", "new", "--iter", "1"]).expect(0);
}
