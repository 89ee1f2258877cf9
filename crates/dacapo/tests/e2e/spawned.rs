//! Tasks in the background: their names, their order, their life and their end (S1–S10).

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Ran, World, wait_for};

#[cfg(target_os = "linux")]
mod deaths;
mod kinds;
mod milestones;
mod orders;
mod queue;

/// Each iteration writes a file of its own.
pub(crate) const AGENT: &str = "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";

impl World {
    /// `dacapo spawn --name NAME …`
    #[must_use]
    pub(crate) fn spawn(&self, name: &str, flags: &[&str]) -> Ran {
        let words: Vec<&str> =
            ["spawn", "--name", name].into_iter().chain(flags.iter().copied()).chain(["go"]).collect();
        self.run(&words)
    }

    /// The same, with a shell script as agent, and it must begin.
    pub(crate) fn spawned(&self, name: &str, iterations: u32, agent: &str) {
        let iterations = iterations.to_string();
        let _ = self.spawn(name, &["--iter", &iterations, "--agent-cmd", agent]).expect(0);
    }

    /// What `dacapo wait` ends with.
    #[must_use]
    pub(crate) fn wait(&self, name: &str) -> Ran {
        self.run(&["wait", name])
    }
}

#[test]
fn s1_a_task_in_the_background_does_its_work_in_a_worktree_of_its_own() {
    let world = World::new();
    let said = world.spawn("t", &["--iter", "3", "--agent-cmd", AGENT]).expect(0);
    assert!(said.stdout.starts_with("t runs in the background with cat, on branch dacapo/t\n"), "{said:?}");
    let _ = world.wait("t").expect(0);
    let log = world.git(&["log", "--format=%s", "dacapo/t"]);
    assert_eq!(log, "[iter-2] did it\n[iter-1] did it\n[iter-0] did it\nfirst");
    assert_eq!(world.subjects(), ["first"], "the user's branch is untouched");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    let status = world.status("t");
    assert_eq!((&status["status"], &status["pid"]), (&"completed".into(), &Value::Null));
    world.assert_nothing_left("t");
}

#[test]
fn s1_json_and_quiet_say_what_was_started() {
    let world = World::new();
    let said = world.spawn("t", &["--agent-cmd", AGENT, "--json"]).expect(0);
    let view: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&view["name"], &view["kind"]), (&"t".into(), &"loop".into()));
    let said = world.spawn("u", &["--agent-cmd", AGENT, "--quiet"]).expect(0);
    assert_eq!(said.stdout, "u\n");
    for name in ["t", "u"] {
        let _ = world.wait(name).expect(0);
    }
}

#[test]
fn s1_names_that_are_none_change_nothing() {
    let world = World::new();
    let before = world.everything();
    for name in ["a b", "..", "a/b", "../x", "-x", "Über", "A", "", &"x".repeat(65), "a\nb"] {
        let said = world.run(&["spawn", &format!("--name={name}"), "--agent-cmd", AGENT, "go"]).expect(2);
        assert!(said.stderr.contains("name"), "{name:?}: {}", said.stderr);
        assert_eq!(world.everything(), before, "{name:?}");
    }
    let said = world.run(&["spawn", "--name", "-x", "--agent-cmd", AGENT, "go"]).expect(2);
    assert!(said.stderr.contains("invalid task name '-x'"), "{}", said.stderr);
    let longest = "x".repeat(64);
    let _ = world.spawn(&longest, &["--agent-cmd", AGENT]).expect(0);
    let _ = world.wait(&longest).expect(0);
}

#[test]
fn s1_a_name_made_from_the_prompt_is_numbered() {
    let world = World::new();
    for _ in 0..3 {
        let _ = world.run(&["spawn", "--agent-cmd", AGENT, "Fix the tests"]).expect(0);
    }
    let names = world.tasks();
    assert_eq!(names, ["fix-the-tests", "fix-the-tests-2", "fix-the-tests-3"]);
    for name in names {
        let _ = world.wait(&name).expect(0);
    }
}

#[test]
fn s7_a_name_is_given_once_also_at_the_same_instant() {
    let world = World::new();
    let flags = ["spawn", "--name", "t", "--agent-cmd", AGENT, "go"];
    let both: Vec<_> = (0..2).map(|_| world.start(&flags)).collect();
    let mut ends: Vec<Ran> = both.into_iter().map(super::kit::Started::end).collect();
    ends.sort_by_key(|end| end.code);
    assert_eq!((ends[0].code, ends[1].code), (0, 2), "{ends:?}");
    assert!(ends[1].stderr.contains("Task 't' already exists"), "{}", ends[1].stderr);
    let _ = world.wait("t").expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t"]), "[iter-0] did it\nfirst");
    world.assert_nothing_left("t");
}

#[test]
fn s7_what_is_in_the_way_is_named_and_left_alone() {
    let world = World::new();
    world.git(&["branch", "dacapo/taken"]);
    let said = world.spawn("taken", &["--agent-cmd", AGENT]).expect(2);
    assert!(said.stderr.contains("branch 'dacapo/taken' already exists"), "{}", said.stderr);
    assert!(world.tasks().is_empty());
    let _ = world.spawn("gone", &["--agent-cmd", AGENT]).expect(0);
    let _ = world.wait("gone").expect(0);
    let worktree = world.status("gone")["worktree"].as_str().unwrap().to_owned();
    fs::remove_dir_all(&worktree).unwrap();
    world.git(&["branch", "-D", "dacapo/gone"]);
    fs::remove_dir_all(world.task_dir("gone")).unwrap();
    fs::create_dir_all(&worktree).unwrap();
    let said = world.spawn("gone", &["--agent-cmd", AGENT]).expect(2);
    assert!(said.stderr.contains("Worktree for task 'gone' already exists"), "{}", said.stderr);
    let said = world.run(&["status", "goone"]).expect(2);
    assert!(said.stderr.contains("Task 'goone' not found"), "{}", said.stderr);
}

#[test]
fn s7_one_loop_per_workspace() {
    let world = World::new();
    let ready = world.scratch("ready");
    let agent = format!("touch {}; sleep 1000", ready.display());
    let _ = world.spawn("first", &["--noworktree", "--agent-cmd", &agent]).expect(0);
    world.wait_for_file("ready");
    let before = world.tasks();
    for words in [
        ["exec", "--agent-cmd", AGENT, "go"].as_slice(),
        &["spawn", "--noworktree", "--agent-cmd", AGENT, "go"],
    ] {
        let said = world.run(words).expect(2);
        assert!(said.stderr.contains("Task 'first' is running in this checkout"), "{}", said.stderr);
    }
    assert_eq!(world.tasks(), before);
    let said = world.run(&["resume", "first"]).expect(2);
    assert!(said.stderr.contains("Task 'first' is still running.\n"), "{}", said.stderr);
    assert!(said.stderr.contains("dacapo kill first"), "{}", said.stderr);
    let _ = world.run(&["kill", "first"]).expect(0);
    world.assert_nothing_left("first");
    assert_eq!(world.status("first")["status"], "cancelled");
}

#[test]
fn s10_an_ended_task_goes_on_in_the_background_with_a_follow_up() {
    let world = World::new();
    let agent = "cat > told$DACAPO_ITERATION; echo did it";
    world.spawned("t", 1, agent);
    let _ = world.wait("t").expect(0);
    let said = world.run(&["resume", "t"]).expect(2);
    assert!(said.stderr.contains("Task 't' is completed"), "{}", said.stderr);
    let _ = world.run(&["resume", "t", "now the docs", "--iter", "2"]).expect(0);
    let _ = world.wait("t").expect(0);
    let status = world.status("t");
    assert_eq!((&status["iteration"], &status["status"]), (&3.into(), &"completed".into()));
    assert!(world.prompt("t", 1).contains("now the docs"));
    assert_eq!(world.git(&["rev-list", "--count", "main..dacapo/t"]), "3");
}

#[test]
fn s1_it_outlives_the_terminal_that_started_it() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let world = World::new();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let other_side = || fs::OpenOptions::new().read(true).write(true).open(&name).unwrap();
    let go = world.scratch("go");
    let agent = format!(
        "cat > /dev/null; while ! test -e {0}; do sleep 0.02; done; echo 1 > f; echo did it",
        go.display()
    );
    let shell = format!(
        "{} spawn --name t --agent-cmd \"$AGENT\" go > {1}.new; mv {1}.new {1}; sleep 1000",
        env!("CARGO_BIN_EXE_dacapo"),
        world.scratch("said").display()
    );
    let mut command = std::process::Command::new("setsid");
    world.dress(&mut command);
    command.args(["--ctty", "sh", "-c", &shell]).env("AGENT", &agent);
    command.stdin(other_side()).stdout(other_side()).stderr(other_side());
    let mut shell = command.spawn().unwrap();
    world.wait_for_file("said");
    wait_for("the agent", || !world.events("t", "turn_started").is_empty());
    // The terminal is closed: the kernel tells its session.
    drop(terminal);
    let ended = shell.wait().unwrap();
    assert!(!ended.success(), "the shell went with its terminal: {ended:?}");
    fs::write(go, "").unwrap();
    let _ = world.wait("t").expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t"]), "[iter-0] did it\nfirst");
    world.assert_nothing_left("t");
}

#[test]
fn s1_a_start_that_fails_leaves_nothing() {
    let world = World::new();
    // Where the row of waiting tasks ought to be is a file.
    fs::write(world.data().join("slots"), "").unwrap();
    let said = world.spawn("t", &["--agent-cmd", AGENT]).expect(1);
    assert!(said.stderr.contains("could not be started in the background"), "{}", said.stderr);
    assert!(world.tasks().is_empty());
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
}

#[test]
fn a8_a_task_in_the_background_waits_for_an_answer_by_command() {
    let world = World::new();
    world.acp(&json!({ "turns": [[
        { "ask": ["first", "execute", "make clean"] },
        { "ask": ["second", "execute", "rm -rf /"] },
    ]] }));
    let told = world.scratch("told");
    let bot = fs::read_to_string(world.home().join(".config/dacapo/config.toml")).unwrap();
    let command = format!("cat > {0}.new; mv {0}.new {0}", told.display());
    world.config(&format!("{bot}[notify]\ndesktop = false\ncommand = {command:?}\n"));
    let _ = world.spawn("t", &["--agent", "bot", "--approval", "ask"]).expect(0);
    let asks = |what: &str| world.status("t")["needs"]["question"].as_str().is_some_and(|q| q.contains(what));
    wait_for("the first question", || asks("make clean"));
    let status = world.status("t");
    assert_eq!((&status["status"], &status["needs"]["kind"]), (&"running".into(), &"permission".into()));
    // Where people look, it needs them.
    let list = world.run(&["list"]).expect(0).stdout;
    assert!(list.contains("NEEDS YOU  t") && list.contains("make clean"), "{list}");
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert!(shown.contains("needs   ") && shown.contains("next: dacapo approve t [CHOICE]"), "{shown}");
    world.wait_for_file("told");
    let message: Value = serde_json::from_slice(&fs::read(&told).unwrap()).unwrap();
    assert_eq!(
        (&message["type"], &message["next"][0]["command"]),
        (&"needs_person".into(), &"dacapo approve t".into())
    );
    let said = world.run(&["approve", "t", "99"]).expect(2);
    assert!(said.stderr.contains("there is no choice 99"), "{}", said.stderr);
    let _ = world.run(&["approve", "t"]).expect(0);
    wait_for("the second question", || asks("rm -rf /"));
    let _ = world.run(&["reject", "t"]).expect(0);
    let _ = world.wait("t");
    let said = world.run(&["approve", "t"]).expect(2);
    assert!(said.stderr.contains("Task 't' is not asking anything"), "{}", said.stderr);
    let raw = world.run(&["logs", "t", "--turn", "0"]).expect(0).stdout;
    assert!(raw.contains("first: once") && raw.contains("second: no"), "{raw}");
    world.assert_nothing_left("t");
}

/// Standard streams of whoever spawns are not held open by the task: a script that waits for them goes on.
#[test]
fn s1_who_reads_what_spawn_says_is_not_kept_waiting() {
    let world = World::new();
    let agent = "cat > /dev/null; sleep 1000";
    // A third descriptor, as a shell script or a build tool has: it is the caller's alone, too.
    let shell =
        format!("exec 3>&1; {} spawn --name t --agent-cmd \"$AGENT\" go", env!("CARGO_BIN_EXE_dacapo"));
    let mut command = std::process::Command::new("sh");
    world.dress(&mut command);
    command.args(["-c", &shell]).env("AGENT", agent).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Returns when the pipes are closed by everybody.
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let _ = world.run(&["kill", "t"]).expect(0);
    world.assert_nothing_left("t");
}
