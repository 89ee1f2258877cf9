//! What is asked for: shown beforehand, asked again, from an issue, with variables (S17).

use std::fs;

use serde_json::Value;

use crate::bad_input::refused;
use crate::support::{Ran, World};

const AGENT: &str = "cat > /dev/null; echo \"$MODE-$MY_TOKEN\" | cut -c1-40 > out; date >> log; echo did it";

fn spec(world: &World, name: &str) -> Value {
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
    let ran = world.run(&["make it pass", "--dry-run", "--agent-cmd", AGENT]).expect(0);
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
    assert_eq!(second["place"]["branch"], "refs/heads/dacapo/t-2");
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
        (&["rerun", "t", "--max-tokens", "5"], "--max-tokens could not be held"),
        (&["rerun", "t", "--base", "nowhere"], "--base 'nowhere' is no branch"),
    ] {
        refused(&world, words, says);
    }
}

#[test]
fn s17_an_issue_is_the_prompt() {
    let world = World::with_remote("https://github.com/owner/name.git");
    world.platform(
        "gh",
        "case \"$1 $2 $3\" in 'issue view 12') printf '%s' '{\"title\":\"Login fails\",\"body\":\"Steps:\\r\\n1. open\",\"url\":\"https://github.com/owner/name/issues/12\"}';; *) echo 'could not resolve to an issue' >&2; exit 1;; esac",
    );
    let words = ["spawn", "--issue", "12", "--iter", "1", "--agent-cmd", AGENT];
    let ran = world.run(&words).expect(0);
    assert!(
        ran.stdout.contains("the prompt is issue 12: Login fails (https://github.com/"),
        "{}",
        ran.stdout
    );
    let _ = world.run(&["wait"]).expect(0);
    assert_eq!(world.tasks(), ["login-fails"]);
    assert_eq!(spec(&world, "login-fails")["prompt"], "Login fails\n\nSteps:\r\n1. open");
    assert!(world.platform_calls("gh")[0].argv.contains(&"--repo=github.com/owner/name".to_owned()));
    let ran = world.run(&["spawn", "--issue", "13", "--agent-cmd", AGENT]).expect(2);
    assert!(ran.stderr.contains("could not resolve to an issue"), "{}", ran.stderr);
    let _ = world.run(&["spawn", "--issue", "12", "--agent-cmd", AGENT, "and a prompt"]).expect(2);

    let world = World::with_remote("https://github.com/owner/name.git");
    refused(&world, &["spawn", "--issue", "12", "--agent-cmd", "cat"], "needs gh for github.com/owner/name");
    let world = World::new();
    refused(&world, &["spawn", "--issue", "12", "--agent-cmd", "cat"], "this repository has no remote");
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
