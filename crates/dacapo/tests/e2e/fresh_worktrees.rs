//! A fresh worktree is usable: where it starts, which files come along, what is run in it, which ports are its own (S3).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::support::{Ran, World};

const AGENT: &str = "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";

fn run(world: &World, flags: &[&str]) -> Ran {
    let words = ["--worktree", "--name", "t", "--iter", "2", "--agent-cmd", AGENT];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).chain(["go"]).collect();
    world.exec(&words)
}

fn worktree(world: &World, name: &str) -> PathBuf {
    PathBuf::from(world.status(name)["worktree"].as_str().unwrap())
}

fn setup(world: &World, commands: &[&str]) {
    world.config(&format!("[worktree]\nsetup = {commands:?}\n"));
}

#[test]
fn s3_a_worktree_starts_where_it_was_asked_to() {
    let world = World::new();
    world.git(&["branch", "old"]);
    world.write("more", "more\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "second"]);
    let _ = run(&world, &["--base", "old"]).expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t"]), "[iter-1] did it\n[iter-0] did it\nfirst");
    let view = world.status("t");
    assert_eq!(view["base_branch"], "old");
    assert_eq!(view["base_commit"], world.git(&["rev-parse", "old"]));
    // A branch of a remote is for the branch of its name there, a commit for the one we are on.
    world.git(&["update-ref", "refs/remotes/origin/release", "old"]);
    for (base, branch) in [("origin/release", "release"), ("HEAD~1", "main")] {
        let _ = world
            .exec(&["--worktree", "--name", branch, "--base", base, "--agent-cmd", "true", "go"])
            .expect(0);
        assert_eq!(world.status(branch)["base_branch"], branch, "{base}");
        assert_eq!(world.status(branch)["base_commit"], world.git(&["rev-parse", "old"]), "{base}");
    }
}

#[test]
fn s3_a_base_that_is_none_is_refused() {
    let world = World::new();
    world.git(&["branch", "release"]);
    let before = world.git(&["for-each-ref"]);
    run(&world, &["--base", "relaese"]).expect(2).says("--base 'relaese'").says("did you mean 'release'?");
    for none in ["-x", "", "HEAD:README.md", "main..release", "no such\nthing"] {
        run(&world, &["--base", none]).expect(2).says("is not a branch, tag or commit here");
    }
    world.exec(&["--base", "main", "--agent-cmd", "true", "go"]).expect(2).says("add --worktree");
    world.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    run(&world, &["--base", "release", "--with-changes"]).expect(2).says("leave one of them out");
    assert!(world.tasks().is_empty());
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(world.git(&["for-each-ref"]), before);
}

#[test]
fn s3_files_that_worktreeinclude_names_come_along() {
    let world = World::new();
    world.write(".gitignore", "*.secret\nnode_modules/\nbuild/\n");
    world.write("tracked.conf", "committed\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "more"]);
    world.write(
        ".worktreeinclude",
        ".env*\n*.secret\n*.conf\nnode_modules\nbuild/*\n!build/drop\nlink\nnested\nbin/\n",
    );
    world.git(&["add", ".worktreeinclude"]);
    world.git(&["commit", "-qm", "include"]);
    world.write("tracked.conf", "changed\n");
    world.write("local.conf", "untracked\n");
    world.write(".env", "TOKEN=x\n");
    world.write("a\nb \u{e9}.secret", "odd\n");
    world.write("node_modules/pkg/index.js", "1\n");
    world.write("node_modules/.bin/tool", "#!/bin/sh\n");
    world.write("build/keep/x", "x\n");
    world.write("build/drop/y", "y\n");
    world.write("other", "stays\n");
    world.write("bin/in", "in\n");
    symlink("../README.md", world.repo().join("node_modules/link")).unwrap();
    symlink("/", world.repo().join("link")).unwrap();
    let tool = world.repo().join("node_modules/.bin/tool");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.repo().join(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    world.git(&["init", "-q", "nested"]);
    world.write("nested/.env", "not ours\n");

    run(&world, &[]).expect(0).says("copied by .worktreeinclude: 9 files (39 B)").says("nested");
    let at = worktree(&world, "t");
    let read =
        |name: &str| fs::read_to_string(at.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read("tracked.conf"), "committed\n", "what git knows is as git knows it");
    assert_eq!(
        (read("local.conf"), read(".env"), read("a\nb \u{e9}.secret"), read("bin/in")),
        ("untracked\n".into(), "TOKEN=x\n".into(), "odd\n".into(), "in\n".into())
    );
    assert_eq!((read("node_modules/pkg/index.js"), read("build/keep/x")), ("1\n".into(), "x\n".into()));
    assert!(!at.join("build/drop").exists() && !at.join("other").exists() && !at.join("nested").exists());
    assert_eq!(fs::read_link(at.join("link")).unwrap(), Path::new("/"));
    assert_eq!(fs::read_link(at.join("node_modules/link")).unwrap(), Path::new("../README.md"));
    let same = |name: &str| {
        let (a, b) = (fs::metadata(at.join(name)).unwrap(), fs::metadata(world.repo().join(name)).unwrap());
        assert_eq!((a.mode(), a.mtime(), a.mtime_nsec()), (b.mode(), b.mtime(), b.mtime_nsec()), "{name}");
        assert_ne!(a.ino(), b.ino(), "{name}: a copy, not the same file");
    };
    same(".env");
    same("node_modules/.bin/tool");
    // None of it is the agent's work.
    assert_eq!(world.git(&["diff", "--name-only", "main", "dacapo/t"]), "f0\nf1");
    let event = &world.events("t", "files_included")[0];
    assert_eq!(
        (&event["files_total"], &event["uncommitted"]),
        (&9.into(), &serde_json::json!([".env", "bin/in", "link", "local.conf"]))
    );
}

#[test]
fn s3_files_that_came_along_are_not_committed_after_a_resume_either() {
    let world = World::new();
    world.write(".worktreeinclude", "local.conf\n");
    world.write("local.conf", "mine\n");
    world.git(&["add", ".worktreeinclude"]);
    world.git(&["commit", "-qm", "include"]);
    let _ = run(&world, &[]).expect(0);
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    assert_eq!(world.git(&["diff", "--name-only", "main", "dacapo/t"]), "f0\nf1\nf2");
    // Touched by the agent it is the agent's work.
    fs::write(worktree(&world, "t").join("local.conf"), "the agent's\n").unwrap();
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    assert_eq!(world.git(&["show", "dacapo/t:local.conf"]), "the agent's");
}

#[test]
fn s3_a_link_in_the_worktree_leads_nothing_out_of_it() {
    let world = World::new();
    let outside = world.scratch("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, world.repo().join("dir")).unwrap();
    world.git(&["add", "dir"]);
    world.git(&["commit", "-qm", "a link"]);
    // Here it is a directory.
    fs::remove_file(world.repo().join("dir")).unwrap();
    world.write("dir/file.secret", "secret\n");
    world.write(".worktreeinclude", "*.secret\n");
    run(&world, &[]).expect(0).says("not copied: dir/file.secret");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn s3_setup_runs_before_everything_else() {
    let world = World::new();
    setup(&world, &["echo one; echo $DACAPO_TASK > a.out; pwd", "echo two >&2; cat a.out > b.out"]);
    world.write(".gitignore", "*.out\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "ignore"]);
    let flags =
        ["--worktree", "--name", "t", "--agent-cmd", AGENT, "--check", "grep -q t b.out && test -e f0", "go"];
    world.exec(&flags).expect(0).says("setup   echo one").says("before  grep").says("✗ exit 1");
    let order: Vec<String> = world
        .journal("t")
        .iter()
        .filter_map(|line| line["type"].as_str())
        .filter(|kind| ["workspace_ready", "setup_finished", "check_finished", "turn_started"].contains(kind))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        order,
        [
            "workspace_ready",
            "setup_finished",
            "setup_finished",
            "check_finished",
            "turn_started",
            "check_finished",
            "check_finished"
        ],
        "the last one is the proof"
    );
    let receipts = world.status("t")["setup"].clone();
    assert_eq!((&receipts[1]["exit_code"], &receipts[1]["tail"]), (&0.into(), &"two".into()));
    let output = world.task_dir("t").join(receipts[0]["output_file"].as_str().unwrap());
    assert_eq!(fs::read_to_string(output).unwrap(), format!("one\n{}\n", worktree(&world, "t").display()));
    world.run(&["logs", "t"]).expect(0).says("Setup `echo one; echo $DACAPO_TASK > a.out; pwd`: exit 0");
    assert_eq!(world.status("t")["notices"], serde_json::json!([]));
    // In this checkout there is nothing to set up.
    let _ = world.exec(&["--name", "here", "--agent-cmd", AGENT, "go"]).expect(0);
    assert!(world.events("here", "setup_finished").is_empty());
    world.assert_nothing_left("t");
}

#[test]
fn s3_a_setup_that_fails_is_a_clear_state() {
    let world = World::new();
    let ready = world.scratch("ready");
    setup(
        &world,
        &["echo fine", &format!("for n in 1 2 3; do echo line $n; done; test -e {}", ready.display())],
    );
    run(&world, &[])
        .expect(1)
        .says("✗ failed (the worktree could not be set up)")
        .says("line 3")
        .says("next: dacapo resume t  continue");
    let view = world.status("t");
    assert_eq!((&view["status"], &view["result"]["stop_reason"]), (&"failed".into(), &"setup_failed".into()));
    assert_eq!((&view["iteration"], &view["setup"][1]["exit_code"]), (&0.into(), &1.into()));
    assert!(world.events("t", "turn_started").is_empty());
    world.run(&["logs", "t"]).expect(0).says("line 2");
    assert!(worktree(&world, "t").join("README.md").exists(), "it is there to be looked at");
    fs::write(&ready, "").unwrap();
    let _ = world.run(&["resume", "t"]).expect(0);
    assert_eq!(world.events("t", "setup_finished").len(), 3, "only the one that failed runs again");
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn s3_a_setup_is_ended_at_its_limit_with_all_it_started() {
    let world = World::new();
    world.config("[worktree]\nsetup = [\"setsid sleep 1000 & sleep 1000\"]\nsetup_timeout = \"1s\"\n");
    run(&world, &[]).expect(1).says("failed (timed out)");
    assert_eq!(world.status("t")["setup"][0]["timed_out"], true);
    world.assert_nothing_left("t");
}

#[test]
fn r1_a_setup_that_was_killed_runs_again() {
    let world = World::new();
    let (begun, go) = (world.scratch("begun"), world.scratch("go"));
    let command = format!("echo x >> runs.out; touch {}; test -e {} || cat", begun.display(), go.display());
    world.write(".gitignore", "*.out\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "ignore"]);
    // A setup that waits for ever, until the file is there.
    setup(&world, &["echo first >> runs.out", &format!("{command} < {}", world.scratch("pipe").display())]);
    assert!(std::process::Command::new("mkfifo").arg(world.scratch("pipe")).status().unwrap().success());
    let words = ["exec", "--worktree", "--name", "t", "--iter", "1", "--agent-cmd", AGENT, "go"];
    let running = world.start(&words);
    // The pipe has no writer: opening it is what the command waits in.
    crate::support::wait_for("the first command to end", || {
        world.task_dir_or_none("t").is_some() && world.events("t", "setup_finished").len() == 1
    });
    running.signal(rustix::process::Signal::KILL);
    let _ = running.end();
    crate::support::wait_for("all of it to be gone", || world.status("t")["status"] == "interrupted");
    fs::write(&go, "").unwrap();
    // Whoever opens it now finds somebody at the other end.
    let _end = fs::File::options().read(true).write(true).open(world.scratch("pipe")).unwrap();
    let _ = world.run(&["resume", "t"]).expect(0);
    assert_eq!(
        fs::read_to_string(worktree(&world, "t").join("runs.out")).unwrap().lines().next(),
        Some("first")
    );
    assert_eq!(world.events("t", "setup_finished").len(), 2);
    world.assert_nothing_left("t");
}

#[test]
fn s3_files_that_the_setup_changed_are_not_committed() {
    let world = World::new();
    setup(&world, &["echo changed > README.md; echo new > lockfile"]);
    let _ = run(&world, &[]).expect(0);
    assert_eq!(world.git(&["diff", "--name-only", "main", "dacapo/t"]), "f0\nf1");
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    assert_eq!(world.git(&["diff", "--name-only", "main", "dacapo/t"]), "f0\nf1\nf2");
}

#[test]
fn s3_every_task_has_ports_of_its_own() {
    let world = World::new();
    setup(&world, &["echo $DACAPO_PORT_BASE > setup.port"]);
    let agent = "echo $DACAPO_PORT_BASE > agent.port; echo ok";
    let flags = [
        "--worktree",
        "--name",
        "a",
        "--agent-cmd",
        agent,
        "--check",
        "echo $DACAPO_PORT_BASE; test -e agent.port",
        "go",
    ];
    let _ = world.exec(&flags).expect(0);
    let base = world.status("a")["port_base"].as_u64().unwrap();
    assert!((20_000..32_760).contains(&base), "{base}");
    let at = worktree(&world, "a");
    for name in ["setup.port", "agent.port"] {
        assert_eq!(fs::read_to_string(at.join(name)).unwrap(), format!("{base}\n"), "{name}");
    }
    assert_eq!(world.receipts("a", "baseline").len(), 1);
    assert_eq!(world.events("a", "check_finished")[0]["tail"], base.to_string());
    // Two at once never have the same.
    let hold = format!(
        "echo $DACAPO_PORT_BASE > {}; while [ -d {} ]; do sleep 0.02; done",
        world.scratch("held").display(),
        world.home().display()
    );
    let running = world.start(&["exec", "--worktree", "--name", "b", "--agent-cmd", &hold, "go"]);
    crate::support::wait_for("the port of b", || {
        fs::read_to_string(world.scratch("held")).is_ok_and(|text| text.ends_with('\n'))
    });
    let held: u64 = fs::read_to_string(world.scratch("held")).unwrap().trim().parse().unwrap();
    let lease = fs::File::open(world.data().join(format!("leases/ports-{held}"))).unwrap();
    assert!(lease.try_lock_shared().is_err(), "held as long as it runs");
    running.signal(rustix::process::Signal::TERM);
    let _ = running.end();
    crate::support::wait_for("the lease to end", || lease.try_lock().is_ok());
    // A task in this checkout has none.
    let _ = world.exec(&["--name", "here", "--no-commit", "--agent-cmd", "env > env.txt", "go"]).expect(0);
    assert!(!world.read("env.txt").contains("DACAPO_PORT_BASE"));
}

#[test]
fn s3_a_file_system_without_locks_is_told_before_anything_starts() {
    let world = World::new();
    let dir = tempfile::tempdir().unwrap();
    let (source, library) = (dir.path().join("no_locks.c"), dir.path().join("no_locks.so"));
    fs::write(&source, "#include <errno.h>\nint flock(int fd, int how) { errno = EOPNOTSUPP; return -1; }\n")
        .unwrap();
    let mut build = std::process::Command::new("cc");
    let built = build.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.unwrap().success());
    let words = ["exec", "--worktree", "--name", "t", "--agent-cmd", "true", "go"];
    let mut command = world.command(&words);
    let ran = Ran::from(command.env("LD_PRELOAD", &library).output().unwrap()).expect(2);
    ran.says("has no file locks").says("DACAPO_HOME=DIR").says("nothing was started");
    assert!(world.tasks().is_empty());
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
}

#[test]
fn s3_submodules_are_named() {
    let world = World::new();
    let other = world.scratch("other");
    world.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    world.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        other.to_str().unwrap(),
        "libs/other",
    ]);
    world.git(&["commit", "-qm", "a submodule"]);
    run(&world, &[])
        .expect(0)
        .says("submodule libs/other is empty in a fresh worktree")
        .says("git submodule update --init");
    assert_eq!(world.git(&["diff", "--name-only", "main", "dacapo/t"]), "f0\nf1");
}
