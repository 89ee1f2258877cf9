//! What is asked for: shown beforehand, asked again, with variables (S17).

use std::fs;

use serde_json::Value;

use crate::bad_input::refused;
use crate::support::{Ran, World};

const AGENT: &str = "cat > /dev/null; echo \"$MODE-$MY_TOKEN\" | cut -c1-40 > out; date >> log; echo did it";

pub(crate) fn spec(world: &World, name: &str) -> Value {
    serde_json::from_slice(&fs::read(world.task_dir(name).join("spec.json")).unwrap()).unwrap()
}

#[test]
fn s17_a_dry_run_shows_what_would_run_and_changes_nothing() {
    let world = World::new();
    world.write("Makefile", "test:\n\ttrue\n");
    let before = world.everything();
    let words = [
        "--dry-run",
        "--agent-cmd",
        AGENT,
        "--check",
        "test -e out",
        "--iter",
        "3",
        "--name",
        "t",
        "make\nit",
    ];
    for command in ["exec", "spawn"] {
        let words: Vec<&str> = [command, "--allow-dirty"].into_iter().chain(words).collect();
        let ran = world.run(&words).expect(0);
        for part in
            ["t would run", "command sh -c ", "check   test -e out", "limits  3 iterations", "prompt  make\n"]
        {
            assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
        }
    }
    let ran = world.run(&["make it pass", "--dry-run", "--checks", "--agent-cmd", AGENT]).expect(0);
    assert!(ran.stdout.contains("make-it-pass would run in the background"), "{}", ran.stdout);
    assert!(ran.stdout.contains("check   make test"), "{}", ran.stdout);
    let ran = world.run(&["spawn", "--dry-run", "--agent-cmd", AGENT, "--json", "go"]).expect(0);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&shown["type"], &shown["prompt"], &shown["branch"]),
        (&"dry_run".into(), &"go".into(), &"dacapo/go".into())
    );
    assert_eq!(world.everything(), before);
    refused(
        &world,
        &["spawn", "--dry-run", "--agent-cmd", AGENT, "--iter", "x", "go"],
        "Invalid loop condition",
    );
}

#[test]
fn s15_a_secret_that_was_given_for_the_agent_is_not_gits() {
    let world = World::new();
    let seen = world.scratch("git-saw");
    let git = format!(
        "#!/bin/sh\necho \"git ${{MY_TOKEN:-nothing}}\" >> {}\nPATH=${{PATH#\"$(dirname \"$0\")\":}}\nexec git \"$@\"\n",
        seen.display()
    );
    world.program("git", &git);
    let token = ["--env", "MY_TOKEN=s3cret-value-of-mine"];
    let words =
        ["--name", "t", "--iter", "1", "--agent-cmd", "cat > /dev/null; echo ${#MY_TOKEN} > out", "go"];
    let _ = world.exec(&[&token[..], &words].concat()).expect(0);
    assert_eq!(world.read("out"), "20\n", "the agent has it");
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.lines().count() > 3 && seen.lines().all(|line| line == "git nothing"), "{seen}");
}

#[test]
fn s17_variables_reach_agent_checks_and_setup_and_secrets_are_not_stored() {
    let world = World::new();
    world.config("keep_awake = false\n[worktree]\nsetup = [\"echo $MODE > setup-$MODE\"]\n");
    let secret = "s3cret-value-of-mine";
    let token = format!("MY_TOKEN={secret}");
    let words = [
        "spawn",
        "--name",
        "t",
        "--iter",
        "1",
        "--env",
        "MODE=fast",
        "--env",
        &token,
        "--check",
        "test \"$MODE\" = fast && test -n \"$MY_TOKEN\" && test -e out",
        "--proof",
        "workspace",
        "--agent-cmd",
        AGENT,
        "go",
    ];
    let _ = world.run(&words).expect(0);
    let _ = world.run(&["wait", "t"]).expect(0);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    let out = fs::read_to_string(format!("{worktree}/out")).unwrap();
    assert_eq!(out, format!("fast-{secret}\n"), "the agent itself gets it");
    assert!(fs::metadata(format!("{worktree}/setup-fast")).is_ok());
    for (path, bytes) in world.everything() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(path.ends_with("out") || !text.contains(secret), "{}", path.display());
    }
    assert_eq!(spec(&world, "t")["env"], serde_json::json!([["MODE", "fast"], ["MY_TOKEN", null]]));
    // Who goes on has to give it again.
    refused(&world, &["resume", "t", "--iter", "1"], "MY_TOKEN is not set here");
    let ran =
        Ran::from(world.command(&["resume", "t", "--iter", "1"]).env("MY_TOKEN", secret).output().unwrap());
    let _ = ran.expect(0);
    let _ = world.run(&["wait", "t"]);
    assert_eq!(World::counts(&world.status("t")["result"]), [2, 2, 0]);
    refused(&world, &["spawn", "--env", "NOPE", "--agent-cmd", AGENT, "go"], "expected KEY=VALUE");
    refused(&world, &["spawn", "--env", "DACAPO_TASK=x", "--agent-cmd", AGENT, "go"], "set by Dacapo itself");
}

#[test]
fn s17_a_request_is_run_again_under_a_new_name() {
    let world = World::new();
    let words =
        ["--name", "t", "--worktree", "--iter", "2", "--agent-cmd", AGENT, "--env", "MODE=a", "make it good"];
    let _ = world.exec(&words).expect(0);
    let ran = world.run(&["rerun", "t"]).expect(0);
    assert!(ran.stdout.contains("task    t-2"), "{}", ran.stdout);
    let (first, second) = (spec(&world, "t"), spec(&world, "t-2"));
    for same in ["prompt", "agents", "policy", "context", "foreground", "env"] {
        assert_eq!(first[same], second[same], "{same}");
    }
    assert_ne!(first["tag"], second["tag"]);
    assert_eq!(second["place"]["branch"], "dacapo/t-2");
    let _ = world.run(&["rerun", "t-2", "--iter", "1", "--agent-cmd", "date > other", "-q"]).expect(0);
    assert_eq!(spec(&world, "t-3")["policy"]["cap"]["iterations"], 1);
    assert_eq!(world.git(&["log", "--format=%s", "dacapo/t-3"]).lines().count(), 2);
    let ran = world.run(&["rerun", "t", "--dry-run"]).expect(0);
    assert!(ran.stdout.contains("t-4 would run in the foreground"), "{}", ran.stdout);
    let _ = world.run(&["spawn", "--name", "s", "--iter", "1", "--agent-cmd", AGENT, "go"]).expect(0);
    let _ = world.run(&["wait", "s"]).expect(0);
    let ran = world.run(&["rerun", "s", "--name", "again"]).expect(0);
    assert!(ran.stdout.starts_with("again runs in the background"), "{}", ran.stdout);
    let _ = world.run(&["wait", "again"]).expect(0);
    for (words, says) in [
        (&["rerun", "nobody"][..], "Task 'nobody' not found"),
        (&["rerun", "t", "--name", "s"], "Task 's' already exists"),
        (&["rerun", "t", "--iter", "0"], "Invalid loop condition: '0'"),
        (&["rerun", "t", "--max-tokens", "5"], "--max-tokens cannot be enforced"),
        (&["rerun", "t", "--base", "nowhere"], "--base 'nowhere' is not a branch, tag or commit here"),
    ] {
        refused(&world, words, says);
    }
}

/// The recorded request with everything in it that flags can say, for an agent that costs nothing.
fn recorded(world: &World, script: &str) {
    let agent = world.rehearsal(script);
    let words = [
        "--name",
        "t",
        "--worktree",
        "--agent",
        &agent,
        "--iter",
        "1",
        "--time",
        "1h",
        "--until",
        "SHIPPED",
        "--check",
        "true",
        "--no-baseline",
        "--proof",
        "workspace",
        "--max-cost",
        "3",
        "--idle-timeout",
        "7m",
        "--session",
        "resume",
        "--context-max-tokens",
        "900",
        "--no-summary",
        "--env",
        "MODE=a",
        "--env",
        "KEEP=k",
        "make it good",
    ];
    let _ = world.exec(&words).expect(0);
}

#[test]
fn s17_every_flag_replaces_what_was_recorded_and_the_rest_stays() {
    let world = World::new();
    recorded(
        &world,
        "iterations:\n  - - say: SHIPPED\n    - write: {path: out, text: \"{iteration}\\n\", append: true}\n    - usage: {input: 1, output: 1, cost_usd: 0.01}\n",
    );
    world.write("plan.md", "First this.\n");
    world.write("prompt.md", "make it better\n");
    let before = spec(&world, "t");
    let again = |name: &str, flags: &[&str]| -> Value {
        let words = [&["rerun", "t", "--name", name, "-q"][..], flags].concat();
        let ran = world.run(&words);
        assert!(ran.code != 2, "{words:?}: {}", ran.stderr);
        spec(&world, name)
    };
    let changed = |spec: &Value| -> Vec<String> {
        let mut changed = Vec::new();
        for part in ["prompt", "plan", "agents", "env", "pull_request", "base_branch", "foreground"] {
            changed.extend((spec[part] != before[part]).then(|| part.to_owned()));
        }
        for part in ["policy", "context"] {
            let fields = before[part].as_object().unwrap().keys();
            changed.extend(fields.filter(|field| spec[part][*field] != before[part][*field]).cloned());
        }
        changed
    };
    for (name, flags, expected) in [
        ("same", &[][..], &[][..]),
        ("iter", &["--iter", "2"], &["cap"]),
        ("cap", &["--max-iterations", "2"], &["cap"]),
        ("time", &["--time", "2h"], &["time_seconds"]),
        ("cost", &["--max-cost", "5"], &["max_cost_usd"]),
        ("tokens", &["--max-tokens", "5000"], &["max_tokens"]),
        ("failures", &["--max-failures", "3"], &["max_failures"]),
        ("stall", &["--stall", "9"], &["stall"]),
        ("turn", &["--turn-timeout", "9m"], &["turn_timeout_seconds"]),
        ("idle", &["--idle-timeout", "9m"], &["idle_timeout_seconds"]),
        ("wait", &["--max-wait", "9m"], &["max_wait_seconds"]),
        ("until", &["--until", "IT"], &["completion_promise"]),
        ("check", &["--check", "test -e out"], &["checks"]),
        ("slow", &["--check-timeout", "9m"], &["check_timeout_seconds"]),
        ("proof", &["--proof", "checkout"], &["proof"]),
        ("fresh", &["--session", "fresh"], &["session"]),
        ("plan", &["--plan", "plan.md"], &["plan"]),
        ("prompt", &["make", "it better"], &["prompt"]),
        ("file", &["--prompt-file", "prompt.md"], &["prompt"]),
        ("env", &["--env", "MODE=b"], &["env"]),
        ("context", &["--no-context", "--loop-prompt", "Go on."], &["enabled", "loop_prompt"]),
        ("bound", &["--context-max-tokens", "800"], &["context_max_tokens"]),
        ("bare", &["--no-commit"], &["auto_commit"]),
    ] {
        assert_eq!(changed(&again(name, flags)), expected, "{flags:?}");
    }
    assert_eq!(spec(&world, "env")["env"], serde_json::json!([["KEEP", "k"], ["MODE", "b"]]));
    assert_eq!(spec(&world, "plan")["plan"]["text"], "First this.");
    assert_eq!(spec(&world, "cap")["policy"]["cap"]["source"], "max_iterations");
    assert_eq!(spec(&world, "same")["place"]["place"], "worktree");
    let _ = world.git(&["add", "-A"]);
    let _ = world.git(&["commit", "-qm", "plan"]);
    assert_eq!(again("here", &["--noworktree"])["place"]["place"], "in_place");
    let ran = world.run(&["rerun", "t", "--pr", "--noworktree"]).expect(2);
    assert!(ran.stderr.contains("--pr needs a worktree"), "{}", ran.stderr);
    refused(&world, &["rerun", "t", "again"], "'again' is a single word, not a prompt");
    refused(&world, &["rerun", "t", "--approval", "read-only"], "it cannot ask for approval");
    refused(&world, &["rerun", "t", "--model", "big"], "Dacapo cannot choose its model");
}

#[test]
fn s17_defaults_of_a_request_follow_the_flags_that_change_it() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--worktree", "--agent-cmd", AGENT, "make it good"]).expect(0);
    let shown = |flags: &[&str]| {
        let _ = world.run(&[&["rerun", "t", "-q", "--name", "n"], flags].concat());
        let policy = spec(&world, "n")["policy"].clone();
        let _ = world.run(&["drop", "n"]).expect(0);
        ["looping", "cap", "stall", "max_failures"].map(|field| policy[field].clone())
    };
    let cap = |iterations: u32, source: &str| serde_json::json!({"iterations": iterations, "source": source});
    assert_eq!(shown(&[]), [false.into(), cap(1, "iter"), 0.into(), 0.into()]);
    assert_eq!(shown(&["--iter", "2"]), [true.into(), cap(2, "iter"), 0.into(), 0.into()]);
    let until_checked = shown(&["--check", "test -e out"]);
    assert_eq!(until_checked, [true.into(), cap(5, "max_iterations"), 3.into(), 10.into()]);
}

#[test]
fn s17_another_agent_may_do_no_more_than_the_one_before() {
    let world = World::new();
    let agent = |name: &str| format!("[agents.{name}]\ncommand = [\"false\"]\noutput = \"acp\"\n");
    world.config(&format!("keep_awake = false\n{}{}", agent("a"), agent("b")));
    let _ = world.run(&["exec", "--name", "t", "--agent", "a", "--approval", "read-only", "go"]).expect(1);
    let _ = world.run(&["rerun", "t", "--agent", "b", "-q"]).expect(1);
    let _ = world.run(&["rerun", "t", "--approval", "edits", "-q"]).expect(1);
    let agent = |name: &str| {
        let spec = spec(&world, name);
        (spec["agents"][0]["name"].clone(), spec["agents"][0]["approval"].clone())
    };
    assert_eq!(agent("t-2"), ("b".into(), "read_only".into()));
    assert_eq!(agent("t-3"), ("a".into(), "edits".into()));
}

#[test]
fn s2_set_refuses_what_exec_refuses() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--iter", "2", "--agent-cmd", "date >> log", "go"]).expect(0);
    for (key, value) in [
        ("iter", "0"),
        ("iter", "1h"),
        ("iter", "-1"),
        ("time", "90"),
        ("time", "soon"),
        ("max-cost", "0"),
        ("max-cost", "-1"),
        ("max-cost", "nan"),
        ("max-cost", "5"),
        ("max-tokens", "0"),
        ("max-tokens", "many"),
        ("max-tokens", "5000"),
        ("max-failures", "-1"),
        ("stall", "x"),
        ("turn-timeout", "0"),
        ("turn-timeout", "x"),
        ("idle-timeout", ""),
        ("max-wait", "1x"),
    ] {
        let flag = format!("--{key}={value}");
        let ran = world.run(&["exec", "--agent-cmd", "date >> log", &flag, "go"]);
        assert_eq!(ran.code, 2, "exec {flag}: {}", ran.stderr);
        let ran = world.run(&["set", "t", &format!("{key}={value}")]);
        assert_eq!(ran.code, 2, "set {key}={value}: {}{}", ran.stdout, ran.stderr);
    }
}
