//! Files that are untracked when a task begins in the user's checkout (C10): no obstacle, no part of a commit until an
//! iteration changes them, and never lost.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{Ran, World};

const AGENT: &str = "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";
const REF: &str = "refs/dacapo/rescue/t/before/untracked";

fn run(world: &World, agent: &str, flags: &[&str]) -> Ran {
    let words = ["--name", "t", "--iter", "2", "--agent-cmd", agent];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).chain(["go"]).collect();
    world.exec(&words)
}

fn untracked(world: &World) -> String {
    world.git(&["status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn c10_untracked_files_stop_nothing_and_are_left_out() {
    let world = World::new();
    world.write("notes.txt", "mine\n");
    world.write("my todo.md", "mine\n");
    run(&world, AGENT, &[])
        .expect(0)
        .says("note    2 untracked files are left out of commits: my todo.md, notes.txt")
        .says("\n  2 untracked files are left out of commits: my todo.md, notes.txt\n");
    assert_eq!(world.subjects(), ["[iter-1] did it", "[iter-0] did it", "first"]);
    assert_eq!((world.changed("HEAD~1"), world.changed("HEAD")), (vec!["f0".into()], vec!["f1".into()]));
    assert_eq!(untracked(&world), "?? \"my todo.md\"\n?? notes.txt");
    assert_eq!(world.read("notes.txt"), "mine\n");
    assert_eq!(world.at(REF, "notes.txt"), "mine");
    let view = world.status("t");
    assert_eq!(
        view["untracked"],
        json!({"left_out_total": 2, "left_out": ["my todo.md", "notes.txt"], "kept": [REF], "touched": [], "touched_total": 0})
    );
    world.ended("completed", [2, 2, 0]);
    // The next one finds the same.
    let words = ["--name", "u", "--iter", "1", "--agent-cmd", "echo u > u", "go"];
    world.exec(&words).expect(0).says("2 untracked files are left out of commits");
    assert_eq!(world.changed("HEAD"), ["u"]);
    assert_eq!(world.git(&["rev-parse", REF]).len(), 40);
}

#[test]
fn c10_what_an_iteration_changes_is_committed_and_its_old_content_kept() {
    let world = World::new();
    for name in ["notes.txt", "gone", "moved", "same", "added"] {
        world.write(name, "mine\n");
    }
    symlink("nowhere", world.repo().join("link")).unwrap();
    let odd = world.repo().join(OsStr::from_bytes(b"odd\n\xff"));
    fs::write(&odd, "mine\n").unwrap();
    let agent = "cat > /dev/null; case $DACAPO_ITERATION in 0) echo agent > one; for f in odd*; do printf x >> \"$f\"; done;; \
                 1) echo agent >> notes.txt; rm gone; mv moved there; ln -sf elsewhere link; touch same; \
                 git add added; git commit -qm mine added;; esac; echo did it";
    let ran = run(&world, agent, &[]).expect(0);
    let says = |text: &str| ran.says(text);
    says(
        "odd\\n\\xff was untracked before the task; iteration 1 changed it, and it is committed; its old content is in refs/",
    );
    says(&format!(
        "link, notes.txt were untracked before the task; iteration 2 changed them, and they are committed; their old content: git show {REF}:PATH"
    ));
    says(
        "gone, moved were untracked before the task; they are gone since iteration 2; git restore --source=",
    );
    says("added was untracked before the task; the agent committed it in iteration 2");
    says("\n  1 untracked file is left out of commits: same\n");
    assert_eq!(untracked(&world), "?? same");
    assert_eq!(
        world.tree("HEAD"),
        ["README.md", "added", "link", "notes.txt", "\"odd\\n\\377\"", "one", "there"]
    );
    for name in ["notes.txt", "gone", "moved", "same", "added"] {
        assert_eq!(world.at(REF, name), "mine", "{name}");
    }
    assert_eq!(world.at(REF, "link"), "nowhere");
    assert_eq!(world.at("HEAD", "notes.txt"), "mine\nagent");
    // What the ref offers works.
    let _ = world.git(&["restore", &format!("--source={REF}"), "--", "gone"]);
    assert_eq!(world.read("gone"), "mine\n");
    let diff = world.run(&["diff", "t", "--stat"]).expect(0);
    assert!(diff.stderr.contains("note: link, notes.txt were untracked before the task"), "{}", diff.stderr);
    let status = world.run(&["status", "t"]).expect(0).stdout;
    assert!(status.contains("notes.txt were untracked before the task"), "{status}");
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains("gone, moved were untracked before the task"), "{logs}");
    let view = world.status("t");
    assert_eq!(
        (&view["untracked"]["touched_total"], &view["untracked"]["left_out_total"]),
        (&json!(6), &json!(1))
    );
    let dropped = world.run(&["drop", "t"]).expect(0).stdout;
    assert!(
        dropped.contains(&format!("{REF} still keeps the files that were untracked before the task")),
        "{dropped}"
    );
    assert_eq!(world.at(REF, "notes.txt"), "mine");
}

#[test]
fn c10_secrets_and_repositories_stay_where_they_are_and_that_is_said() {
    let world = World::new();
    world.write(".env", "KEY=mine\n");
    world.git(&["init", "-q", "vendor"]);
    world.write("vendor/x", "theirs\n");
    let agent = "cat > /dev/null; echo $DACAPO_ITERATION > f; echo KEY=agent > .env; git add -A; echo did it";
    run(&world, agent, &[])
        .expect(0)
        .says("2 untracked files are left out of commits: .env, vendor/")
        .says("not kept in case an iteration changes them: .env (looks like a secret); vendor/ (a git repository of its own)")
        .says("not committed: .env: looks like a secret")
        .says(".env was untracked before the task; iteration 1 changed it, and it is not committed; its old content was not kept");
    assert_eq!(world.tree("HEAD"), ["README.md", "f"]);
    assert_eq!(untracked(&world), "?? .env\n?? vendor/");
    let all = world.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    let secrets = all.lines().filter(|line| line.ends_with(" blob 9"));
    let held: Vec<String> =
        secrets.map(|line| world.git(&["cat-file", "blob", line.split(' ').next().unwrap()])).collect();
    assert!(!held.contains(&"KEY=mine".to_owned()), "{held:?}");
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn c10_a_check_that_changes_such_a_file_makes_it_no_part_of_a_commit() {
    let world = World::new();
    world.write("results.json", "mine\n");
    world.write("tmp", "mine\n");
    let check = "date +%N > results.json; rm -f tmp; test -e f1";
    let agent = "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";
    let flags = ["--check", check, "--proof", "workspace"];
    let words = ["--name", "t", "--agent-cmd", agent];
    let words: Vec<&str> = words.into_iter().chain(flags).chain(["go"]).collect();
    let ran = world.exec(&words).expect(0);
    ran.silent_about("were untracked before the task").silent_about("was untracked before the task");
    assert_eq!(world.tree("HEAD"), ["README.md", "f0", "f1"]);
    assert_eq!(world.at(REF, "results.json"), "mine");
    assert_eq!(world.at(REF, "tmp"), "mine");
    let first = &world.events("t", "check_finished")[0];
    assert_eq!(first["changed_files"], json!(["results.json", "tmp"]));
}

#[test]
fn l4_a_check_that_needs_an_untracked_file_proves_nothing_and_says_why() {
    let world = World::new();
    world.write("conf/local", "mine\n");
    let words = ["--name", "t", "--check", "test -e f0 && cat conf/local", "--agent-cmd", AGENT, "go"];
    world
        .exec(&words)
        .expect(0)
        .says("passed here, not proven")
        .says("conf/local  untracked before the task, and so left out of its commits")
        .says("to prove it: commit the files that the checks need, then resume");
    assert_eq!(world.status("t")["verified"], json!(false));
    let failed = &world.events("t", "proof_failed")[0];
    assert_eq!(failed["hidden"], json!([{"path": "conf/local", "why": "untracked_before"}]));
}

#[test]
fn s10_an_ended_task_that_goes_on_leaves_new_files_of_the_user_out() {
    let world = World::new();
    world.write("notes", "mine\n");
    let _ = world.exec(&["--name", "t", "--agent-cmd", "cat > /dev/null; date >> log", "go"]).expect(0);
    world.write("later", "mine\n");
    world.write("notes", "mine, too\n");
    world.run(&["resume", "t", "more"]).expect(0).says("1 untracked file is left out of commits: later");
    assert_eq!(
        world.tree("HEAD"),
        ["README.md", "log", "notes"],
        "what was known and changed is as any other"
    );
    assert_eq!(untracked(&world), "?? later");
    assert_eq!(
        (world.at(REF, "notes").as_str(), world.at(&format!("{REF}-2"), "later").as_str()),
        ("mine", "mine")
    );
    // Changed tracked files still stop it.
    world.write("README.md", "mine\n");
    world
        .run(&["resume", "t", "more"])
        .expect(2)
        .says("1 uncommitted file here since task 't' ended (README.md)");
}

#[test]
fn c10_a_task_that_was_killed_knows_whose_files_are_whose() {
    let world = World::unconfined();
    world.write("notes", "mine\n");
    world.write("todo", "mine\n");
    world.write("gone", "mine\n");
    // The first attempt changes files of the user's, and then Dacapo itself is gone.
    let agent = format!(
        "cat > /dev/null; echo new > new; if ! test -e {0}; then touch {0}; echo agent > todo; rm gone; \
         kill -9 $(cat {1}); sleep 60; fi; echo did it",
        world.scratch("tried").display(),
        world.scratch("runner").display()
    );
    let script = format!("echo $$ > {}; exec \"$@\"", world.scratch("runner").display());
    let dacapo = world.command(&["exec", "--name", "t", "--iter", "1", "--agent-cmd", &agent, "go"]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(script).arg("sh").arg(dacapo.get_program()).args(dacapo.get_args());
    world.dress(&mut shell);
    let died = shell.current_dir(world.repo()).output().unwrap();
    assert!(!died.status.success());
    world
        .run(&["resume", "t"])
        .expect(0)
        .says("todo was untracked before the task; iteration 1 changed it, and it is committed")
        .says("gone was untracked before the task; it is gone since iteration 1");
    assert_eq!(world.tree("HEAD"), ["README.md", "new", "todo"]);
    assert_eq!(untracked(&world), "?? notes");
    assert_eq!((world.at(REF, "todo").as_str(), world.at(REF, "gone").as_str()), ("mine", "mine"));
    assert_eq!(world.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo"]), REF);
    world.assert_nothing_left("t");
}

#[test]
fn r2_without_its_list_all_that_is_untracked_is_left_out() {
    let world = World::new();
    world.write("notes", "mine\n");
    let _ = world.exec(&["--name", "t", "--agent-cmd", "cat > /dev/null; date >> log", "go"]).expect(0);
    fs::remove_dir_all(world.task_dir("t").join("untracked")).unwrap();
    world
        .run(&["resume", "t", "more"])
        .expect(0)
        .says("cannot tell which files were untracked before the task")
        .says("1 untracked file is left out of commits: notes");
    assert_eq!(
        (world.tree("HEAD"), world.read("notes")),
        (vec!["README.md".into(), "log".into()], "mine\n".into())
    );
}

#[test]
fn c10_what_would_be_left_out_is_said_before_it_starts() {
    let world = World::new();
    world.write("notes", "mine\n");
    let said = "1 untracked file is left out of commits: notes";
    world.exec(&["--dry-run", "--agent-cmd", AGENT, "go"]).expect(0).says(said);
    let words = ["spawn", "--noworktree", "--name", "t", "--iter", "1", "--agent-cmd", AGENT, "go"];
    world.run(&words).expect(0).says(said);
    let _ = world.run(&["wait", "t"]).expect(0);
    assert_eq!(world.changed("HEAD"), ["f0"]);
}
