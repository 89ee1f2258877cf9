//! The proof of the commit (L4): the last run of the checks is in a checkout to which no agent writes.

mod agents_settings;
mod company;
mod false_proofs;
mod from_nothing;
mod held_out;
mod merging;
mod setup;

use serde_json::{Value, json};

use crate::support::{Ran, World, wait_for};

const CHECK: &str = "sh check.sh";

/// A repository whose check wants 42 as the answer, and has 41.
fn world() -> World {
    checked(World::new())
}

/// The same, with an agent that reaches what a room keeps from it.
fn unconfined() -> World {
    checked(World::unconfined())
}

fn checked(world: World) -> World {
    world.write("check.sh", "test \"$(cat tracked answer .env 2>/dev/null | tail -n1)\" = 42\n");
    world.write("tracked", "41\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "check"]);
    world
}

/// `exec` of task `t`, whose agent leaves a commit and does this.
fn exec(world: &World, does: &str, flags: &[&str]) -> Ran {
    let agent = format!("echo $DACAPO_ITERATION >> log; {does}");
    let words = ["--name", "t", "--check", CHECK, "--agent-cmd", &agent];
    world.exec(&[&words[..], flags, &["go"]].concat())
}

/// How a check ends in a fresh clone of main.
fn in_a_clone(world: &World, check: &str) -> bool {
    let clone = world.scratch("clone");
    let _ = std::fs::remove_dir_all(&clone);
    world.git(&["clone", "-q", world.repo().to_str().unwrap(), clone.to_str().unwrap()]);
    let mut command = std::process::Command::new("sh");
    world.dress(&mut command);
    command.args(["-c", check]).current_dir(&clone).status().unwrap().success()
}

fn proof_state(world: &World) -> Value {
    world.status("t")["result"]["proof_state"].clone()
}

#[test]
fn l4_a_proof_names_the_commit_and_merge_believes_it() {
    let world = world();
    let ran = exec(&world, "echo 42 > answer", &["--worktree"]).expect(0);
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    assert!(ran.stdout.contains("✓ proven · 1 iteration"), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("{CHECK} ✗ → ✓ on {}", &tip[..7])), "{}", ran.stdout);
    assert!(ran.stdout.contains("sh check.sh passes; the proof passed\n"), "{}", ran.stdout);
    assert_eq!(proof_state(&world), json!({"state": "proven", "commit_id": tip}));
    assert_eq!(world.receipts("t", "proof"), [(CHECK.to_owned(), Some(0), false)]);
    let receipt = world.status("t")["checks"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&receipt["phase"], &receipt["commit_id"]), (&json!("proof"), &json!(tip)));
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert!(shown.contains("(proof)"), "{shown}");
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains(&format!("Proving {} in a separate checkout", &tip[..7])), "{logs}");
    let plan = world.run(&["merge", "t", "--dry-run"]).expect(0).stdout;
    assert!(plan.contains("(proven on this commit)"), "{plan}");
    let _ = world.run(&["merge", "t"]).expect(0);
    assert!(in_a_clone(&world, CHECK));
}

#[test]
fn l4_proof_workspace_passes_here_and_proves_nothing() {
    let world = world();
    let ran = exec(&world, "echo 42 > answer", &["--proof", "workspace"]).expect(0);
    assert!(ran.stdout.contains("● finished, unverified"), "{}", ran.stdout);
    assert!(ran.stdout.contains("passed here, not proven: --proof workspace"), "{}", ran.stdout);
    assert!(ran.stdout.contains("sh check.sh ✗ → ✓ here"), "{}", ran.stdout);
    assert_eq!(proof_state(&world), json!({"state": "passed_here", "why": "workspace_only"}));
    assert_eq!(world.receipts("t", "proof"), []);
    let refused = exec(&world, "true", &["--proof", "elsewhere"]).expect(2);
    assert!(refused.stderr.contains("checkout, workspace"), "{}", refused.stderr);
}

#[test]
fn l4_in_place_without_commits_it_passes_here_and_is_not_proven() {
    let world = world();
    let ran = exec(&world, "echo 42 > answer", &["--no-commit"]).expect(0);
    assert!(ran.stdout.contains("passed here, not proven: what passed is in no commit"), "{}", ran.stdout);
    assert_eq!(world.status("t")["verified"], false);
}

#[test]
fn l4_the_first_commit_of_a_repository_can_be_proven() {
    let world = World::without_repo();
    world.git(&["init", "-q", "-b", "main"]);
    let words = ["--name", "t", "--check", "test -f done", "--agent-cmd", "touch done", "go"];
    let ran = world.exec(&words).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
}

#[test]
fn l4_checks_of_a_proof_see_the_checkout_as_their_workspace() {
    let world = World::new();
    let check = "test -f done && test \"$PWD\" = \"$DACAPO_WORKSPACE\" && pwd && git status --porcelain";
    let words = ["--name", "t", "--check", check, "--agent-cmd", "touch done", "go"];
    let _ = world.exec(&words).expect(0);
    let tails: Vec<Value> = world.events("t", "check_finished").iter().map(|e| e["tail"].clone()).collect();
    assert_eq!(tails[1], json!(world.repo()));
    let tree = tails[2].as_str().unwrap();
    assert!(tree.contains("/proof/") && tree.lines().count() == 1, "clean, and elsewhere: {tree}");
}

#[test]
fn r1_killed_in_the_proof_resume_proves_again_and_commits_nothing_twice() {
    let world = World::new();
    let go = world.scratch("go");
    let check = format!(
        "test -f done && {{ case $PWD in */proof/*) test -f {0} || sleep 1000;; esac; }}",
        go.display()
    );
    let words = ["exec", "--worktree", "--name", "t", "--check", &check, "--agent-cmd", "touch done", "go"];
    let mut child = world.command(&words).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("the proof to begin", || {
        world.task_dir_or_none("t").is_some() && !world.events("t", "proof_started").is_empty()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("all that it started to end", || world.processes("t").is_empty());
    assert_eq!(world.status("t")["status"], "interrupted");
    std::fs::write(&go, "").unwrap();
    let ran = world.run(&["resume", "t"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.events("t", "committed").len(), 1);
    assert_eq!(world.events("t", "turn_started").len(), 1, "the agent has nothing to do with it");
    assert_eq!(world.events("t", "proof_started").len(), 2);
    world.assert_nothing_left("t");
}
