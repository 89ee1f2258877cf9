//! Built-in agents as they are found on PATH (A4, L0): small scripts under their names, in a PATH that has nothing else.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use crate::support::{Ran, World, wait_for};

/// A turn of codex that did something, and its version.
const CODEX: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo 'WARNING: 1.0 is a number' >&2; echo 'codex-cli 0.166.0'; exit; fi
echo '{"type":"thread.started","thread_id":"t-1"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"pong"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2}}'
"#;

fn run(world: &World, words: &[&str], env: &[(&str, &str)]) -> Ran {
    let mut command = world.command(words);
    world.hide_other_programs(&mut command);
    command.envs(env.iter().copied());
    Ran::from(command.output().unwrap())
}

fn report(ran: &Ran, name: &str) -> Value {
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    all["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap().clone()
}

fn log_codex_in(home: &Path, secret: &str) {
    fs::create_dir_all(home.join(".codex")).unwrap();
    fs::write(home.join(".codex/auth.json"), format!("{{\"OPENAI_API_KEY\":{secret:?}}}")).unwrap();
}

#[test]
fn l0_the_first_agent_that_is_installed_and_logged_in_does_the_work() {
    let world = World::new();
    let ran = run(&world, &["exec", "go"], &[]).expect(2);
    assert!(ran.stderr.starts_with("error: no agent is installed: claude, codex, "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("\n  do:   dacapo doctor shows how to install each of them"),
        "{}",
        ran.stderr
    );

    world.program("codex", CODEX);
    let ran = run(&world, &["exec", "go"], &[]).expect(2);
    assert!(ran.stderr.contains("codex is installed but not logged in: run `codex login`"), "{}", ran.stderr);
    assert_eq!(world.tasks(), [] as [&str; 0]);

    let ran = run(&world, &["exec", "go"], &[("CODEX_API_KEY", "sk-0123456789abcdef")]).expect(0);
    let line = "agent   codex (installed, logged in; billed to CODEX_API_KEY)\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);

    // One that is logged in comes before one of which that is not known.
    world.program("gemini", "#!/bin/sh\nexit 1\n");
    log_codex_in(&world.home(), "sk-0123456789abcdef");
    let ran = run(&world, &["exec", "go"], &[]).expect(0);
    assert!(
        ran.stdout.contains("agent   codex (installed, logged in; billed to the API key in "),
        "{}",
        ran.stdout
    );
    let ran = run(&world, &["exec", "--agent", "codex", "go"], &[]).expect(0);
    assert!(ran.stdout.contains("agent   codex\n"), "who chose it needs no reason: {}", ran.stdout);
}

#[test]
fn a4_doctor_says_what_is_installed_who_pays_and_never_shows_a_key() {
    let world = World::new();
    world.program("codex", CODEX);
    let secret = "sk-0123456789abcdef";
    let out = run(&world, &["doctor", "--json"], &[]).expect(1);
    let codex = report(&out, "codex");
    assert_eq!((&codex["state"], &codex["version"]), (&"not_logged_in".into(), &"0.166.0".into()));
    assert!(codex["hint"].as_str().unwrap().contains("codex login"));
    assert_eq!(report(&out, "gemini")["state"], "not_found");
    assert_eq!(report(&out, "gemini")["hint"], "npm install -g @google/gemini-cli");

    let env = [("CODEX_API_KEY", secret)];
    let ran = run(&world, &["doctor", "codex"], &env).expect(0);
    assert!(ran.stdout.contains("✓ codex       0.166.0 · logged in\n"), "{}", ran.stdout);
    let billed = "CODEX_API_KEY is set: turns are billed to it, not to a subscription";
    assert!(ran.stdout.contains(billed), "{}", ran.stdout);
    let codex = run(&world, &["doctor", "codex", "--probe", "--json"], &env).expect(0);
    let codex = report(&codex, "codex");
    assert_eq!(codex["billing"], serde_json::json!({"kind": "api_key", "from": "CODEX_API_KEY"}));
    assert_eq!((&codex["probe"]["outcome"], &codex["probe"]["reply"]), (&"done".into(), &"pong".into()));
    assert_eq!(codex["probe"]["tokens"], serde_json::json!({"input": 10, "output": 2, "cached": 0}));

    log_codex_in(&world.home(), secret);
    for flags in [&["doctor"][..], &["doctor", "--json"], &["doctor", "--probe"]] {
        let ran = run(&world, flags, &[]).expect(0);
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{}", ran.stdout);
    }
}

#[test]
fn a4_a_cli_that_hangs_is_ended_with_all_it_started_and_one_that_is_broken_is_no_use() {
    let world = World::new();
    let pids = world.scratch("pids");
    world.program(
        "codex",
        &format!(
            "#!/bin/sh\nsetsid sleep 1000 & echo $! > {0}; echo $$ >> {0}; sleep 1001\n",
            pids.display()
        ),
    );
    world.program("gemini", "#!/bin/sh\necho 'env: node: No such file or directory' >&2; exit 127\n");
    let env = [("CODEX_API_KEY", "sk-0123456789abcdef"), ("GEMINI_API_KEY", "sk-0123456789abcdef")];
    let out = run(&world, &["doctor", "--json", "codex", "gemini"], &env).expect(0);
    let codex = report(&out, "codex");
    assert_eq!((&codex["state"], &codex["version"]), (&"ready".into(), &Value::Null), "it may only be slow");
    assert!(codex["problem"].as_str().unwrap().starts_with("no answer to --version"));
    let gemini = report(&out, "gemini");
    assert_eq!(gemini["state"], "unusable");
    assert!(gemini["problem"].as_str().unwrap().contains("env: node: No such file"), "{gemini}");
    for pid in fs::read_to_string(&pids).unwrap().lines() {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        wait_for("the program to be gone", || test_kill_process(pid).is_err());
    }
}
