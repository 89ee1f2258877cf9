//! What a checkout needs before checks can run in it: from the config, or by lock files.

use super::{CHECK, exec, proof_state, world};
use crate::support::World;

/// A repository with a lock file, and an `npm` that installs what the check needs.
fn npm() -> World {
    let world = World::new();
    let log = world.scratch("npm.log");
    world.program(
        "npm",
        &format!("#!/bin/sh\necho \"$1\" >> {}\ncase $1 in ci) mkdir -p node_modules && touch node_modules/ok;; test) test -f done && test -f node_modules/ok;; esac\n", log.display()),
    );
    world.write("package.json", "{\"scripts\": {\"test\": \"t\"}}\n");
    world.write("package-lock.json", "{}\n");
    world.write(".gitignore", "node_modules\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "package"]);
    world.write("node_modules/ok", "");
    world
}

fn installed(world: &World) -> usize {
    let log = std::fs::read_to_string(world.scratch("npm.log")).unwrap_or_default();
    log.lines().filter(|line| *line == "ci").count()
}

#[test]
fn l4_the_setup_of_the_config_makes_a_checkout_usable() {
    let world = World::new();
    world.config("[worktree]\nsetup = [\"touch dep\"]\n");
    world.write(".gitignore", "dep\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "ignore"]);
    let words = ["--check", "test -f done && test -f dep", "--agent-cmd", "touch done dep"];
    for (name, place) in [("t", "--worktree"), ("u", "--noworktree")] {
        let ran = world.exec(&[&words[..], &["--name", name, place, "go"]].concat()).expect(0);
        assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    }
}

#[test]
fn l4_a_setup_that_fails_costs_the_proof_alone_and_is_named() {
    let world = world();
    world.config("[worktree]\nsetup = [\"echo no network; exit 7\"]\n");
    let ran = exec(&world, "echo 42 > answer", &[]).expect(0);
    let why = "passed here, not proven: setup `echo no network; exit 7` failed in the checkout (exit 7): no network";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    assert_eq!(proof_state(&world)["why"], "unavailable");
    assert_eq!(world.status("t")["outcome"], "completed");
}

#[test]
fn l4_what_lock_files_say_is_named_where_nobody_has_confirmed_it() {
    let world = npm();
    let words = ["--name", "t", "--check", "npm test", "--agent-cmd", "touch done", "go"];
    let ran = world.exec(&words).expect(0);
    for text in [
        "passed here, not proven: in a checkout of",
        "to prove it: [worktree] setup = [\"npm ci\"] in .dacapo/config.toml",
        "node_modules/  ignored by .gitignore",
    ] {
        assert!(ran.stdout.contains(text), "{text}\n{}", ran.stdout);
    }
    assert_eq!((installed(&world), &world.status("t")["verified"]), (0, &false.into()));
}

#[test]
fn l4_who_asks_for_the_projects_own_checks_gets_its_setup_too() {
    let world = npm();
    let words = ["--name", "t", "--checks", "--agent-cmd", "touch done", "go"];
    let ran = world.exec(&words).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(installed(&world), 1, "in the checkout of the proof, not here");
}

#[test]
fn l4_resume_after_the_pause_proves_with_the_setup_that_is_there_now() {
    let world = npm();
    let agent = "mkdir -p node_modules; touch done node_modules/ok; echo x >> log";
    let words = ["--name", "t", "--worktree", "--check", "npm test", "--agent-cmd", agent, "go"];
    let ran = world.exec(&words).expect(4);
    assert!(ran.stdout.contains("[worktree] setup = [\"npm ci\"]"), "{}", ran.stdout);
    world.config("[worktree]\nsetup = [\"npm ci\"]\n");
    let ran = world.run(&["resume", "t"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.events("t", "turn_started").len(), 2, "the agent was not asked again");
}

#[test]
fn l4_resume_without_proof_ends_it_unverified() {
    let world = world();
    let _ = exec(&world, "echo answer > .gitignore; echo 42 > answer", &["--worktree"]).expect(4);
    let ran = world.run(&["resume", "t", "--proof", "workspace"]).expect(0);
    assert!(ran.stdout.contains("passed here, not proven: --proof workspace"), "{}", ran.stdout);
    assert_eq!(world.events("t", "turn_started").len(), 2);
    assert_eq!(world.receipts("t", "proof").len(), 2, "no proof was tried again: {CHECK}");
}

#[cfg(target_os = "linux")]
#[test]
fn l4_at_a_terminal_the_setup_is_shown_and_confirmed_once() {
    let world = npm();
    let words = ["exec", "--name", "t", "--check", "npm test", "--agent-cmd", "touch done", "go"];
    let mut terminal = world.at_terminal(&words);
    terminal.shows("setup   npm ci (package-lock.json)");
    terminal.shows("[Enter] yes  [n]o");
    terminal.press("\r");
    terminal.shows("✓ proven");
    assert_eq!(terminal.end().0, Some(0));
    let words =
        ["exec", "--name", "u", "--check", "npm test", "--no-baseline", "--agent-cmd", "echo x >> log", "go"];
    let terminal = world.at_terminal(&words);
    terminal.shows("finished, unverified");
    assert!(!terminal.said().contains("[Enter] yes"), "{}", terminal.said());
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(installed(&world), 1, "the checkout is kept, and nothing that it depends on has changed");
}

#[cfg(target_os = "linux")]
#[test]
fn l4_who_says_no_at_the_terminal_is_not_asked_again_and_nothing_runs() {
    let world = npm();
    for (name, asked) in [("t", true), ("u", false)] {
        let words = [
            "exec",
            "--name",
            name,
            "--check",
            "npm test",
            "--no-baseline",
            "--agent-cmd",
            "echo x >> log; touch done",
            "go",
        ];
        let mut terminal = world.at_terminal(&words);
        if asked {
            terminal.shows("[Enter] yes  [n]o");
            terminal.press("n\r");
        }
        terminal.shows("to prove it: [worktree] setup");
        assert_eq!(terminal.end().0, Some(0));
    }
    assert_eq!(installed(&world), 0);
}
