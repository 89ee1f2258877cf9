//! Held-out checks (L3): they decide with the others whether a commit is proven, and no agent gets to know them.

use serde_json::json;

use crate::support::{Ran, World};

/// What the visible check wants is in the repository; the held-out one asks for more.
const VISIBLE: &str = "test \"$(sh add.sh 2 3)\" = 5";
const SECRET: &str = "test-40-plus-2";

fn world() -> World {
    let world = World::new();
    world.write("add.sh", "echo 0\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "start"]);
    std::fs::write(world.scratch("secret.sh"), script()).unwrap();
    world
}

/// The held-out check. It prints what nobody but the user may read.
fn script() -> String {
    format!("echo {SECRET} says $(sh add.sh 40 2)\ntest \"$(sh add.sh 40 2)\" = 42\n")
}

fn hidden(world: &World) -> String {
    format!("sh {}", world.scratch("secret.sh").display())
}

fn exec(world: &World, agent: &str, flags: &[&str]) -> Ran {
    let words = ["--name", "t", "--worktree", "--agent-cmd", agent];
    world.exec(&[&words[..], flags, &["go"]].concat())
}

/// Knows the visible answer, and nothing else.
const HARD_CODED: &str = "echo 'echo 5' > add.sh; echo $DACAPO_ITERATION >> log; cat >> prompts";
const HONEST: &str = "echo 'echo $(($1 + $2))' > add.sh; cat > /dev/null";

#[test]
fn l3_a_held_out_check_catches_answers_that_are_hard_coded() {
    let world = world();
    let hidden = hidden(&world);
    let flags = ["--check", VISIBLE, "--hidden-check", &hidden, "--max-iterations", "3"];
    let ran = exec(&world, HARD_CODED, &flags).expect(4);
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    let status = world.status("t");
    assert_eq!((&status["verified"], &status["status"]), (&json!(false), &json!("paused")));
    // The agent learns that one failed, and nothing else.
    let prompt = world.prompt("t", 1);
    assert!(prompt.contains("A held-out check failed"), "{prompt}");
    for text in [SECRET, "secret.sh", "40 2"] {
        assert!(!prompt.contains(text), "{prompt}");
    }
    // The user sees everything.
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert!(shown.contains(&hidden), "{shown}");
    assert!(format!("{}", status["checks"]).contains(SECRET), "{}", status["checks"]);
}

#[test]
fn l3_work_that_also_passes_the_held_out_checks_is_proven() {
    let world = world();
    let ran = exec(&world, HONEST, &["--check", VISIBLE, "--hidden-check", &hidden(&world)]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.status("t")["verified"], true);
    let merged = world.run(&["merge", "t"]).expect(0);
    assert!(merged.stdout.contains(&hidden(&world)), "{}", merged.stdout);
}

#[test]
fn l3_held_out_checks_of_the_users_own_settings_count_for_each_task_of_the_repository() {
    let world = world();
    let settings = format!("[repos.{:?}]\nhidden_checks = [{:?}]\n", world.repo(), hidden(&world));
    world.config(&settings);
    let ran = exec(&world, HARD_CODED, &["--check", VISIBLE, "--max-iterations", "3"]).expect(4);
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    // A project cannot bring one, nor take one away.
    std::fs::create_dir_all(world.repo().join(".dacapo")).unwrap();
    world.write(".dacapo/config.toml", "[repos.\"/x\"]\nhidden_checks = [\"true\"]\n");
    let refused = world.run(&["exec", "--agent-cmd", "true", "go"]).expect(2);
    assert!(refused.stderr.contains("may only be set in your own config file"), "{}", refused.stderr);
}

#[test]
fn l3_alone_they_run_when_the_agent_says_that_it_is_done() {
    let world = world();
    let agent = format!("{HONEST}; test $DACAPO_ITERATION = 0 || echo '<promise>COMPLETE</promise>'");
    let ran = exec(&world, &agent, &["--hidden-check", &hidden(&world)]).expect(0);
    assert_eq!(world.events("t", "iteration_finished").len(), 2, "{}", ran.stdout);
    let phases: Vec<_> = world.events("t", "check_finished").iter().map(|e| e["phase"].clone()).collect();
    assert_eq!(phases, [json!("held_out")]);
}

#[test]
fn l3_without_a_proof_held_out_checks_are_refused() {
    let world = world();
    for flags in [["--proof", "workspace"], ["--no-commit", "--no-plan"]] {
        let flags = [&["--hidden-check", "true"][..], &flags].concat();
        let ran = exec(&world, HONEST, &flags).expect(2);
        assert!(ran.stderr.contains("held-out checks run only when a commit is proven"), "{}", ran.stderr);
    }
    assert_eq!(world.tasks(), Vec::<String>::new());
}

#[test]
fn l3_no_prompt_process_or_file_of_the_workspace_tells_an_agent_about_held_out_checks() {
    // Other tests have held-out checks, too, and processes are seen by all.
    const ONLY_HERE: &str = "only-in-this-test";
    let world = world();
    let out = world.scratch("found");
    std::fs::create_dir_all(&out).unwrap();
    let looks = format!(
        "{HONEST}; out={out:?}; env > $out/env; \
         for pid in /proc/[0-9]*; do tr '\\0' ' ' < $pid/cmdline; cat $pid/environ; done > $out/processes 2> /dev/null; \
         grep -rsa 'only-in-this-tes[t]' . {repo:?} > $out/files; true",
        repo = world.repo(),
    );
    let hidden = format!("echo {ONLY_HERE}");
    let flags = ["--check", VISIBLE, "--hidden-check", &hidden, "--max-iterations", "2"];
    let ran = exec(&world, &looks, &flags).expect(0);
    let read: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(read.len(), 3);
    for path in read {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains(ONLY_HERE), "{}", path.display());
    }
    assert!(!world.prompt("t", 0).contains(ONLY_HERE));
    // Whoever looks into the records finds them, and that is said at the start and at the end.
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(said.matches("held-out checks are readable here").count(), 2, "{said}");
}
