//! Why something failed is seen without being asked for, and all that was printed can be read (S2, S3, U6).

use serde_json::Value;

use crate::support::World;

const KEY: &str = "echo connecting >&2; echo 'API key invalid' >&2; exit 1";

#[test]
fn s2_what_a_failed_agent_wrote_to_standard_error_is_seen_everywhere() {
    let world = World::new();
    let ran = world.exec(&["--name", "t", "--agent-cmd", KEY, "go"]).expect(1);
    let message = "the agent exited with code 1: API key invalid";
    assert!(ran.stdout.contains("✗ failed (the agent failed) · 1 iteration"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(&format!("\n  {message}\n  stderr: connecting\n          API key invalid\n")),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr, "", "it is said once");
    for command in ["status", "logs", "list"] {
        let shown = world.run(&[command]).expect(0).stdout;
        assert!(shown.contains("API key invalid"), "{command}: {shown}");
    }
    let tail = Value::from("connecting\nAPI key invalid");
    let status = world.status("t");
    assert_eq!(status["iterations"][0]["error"], message);
    assert_eq!(status["iterations"][0]["stderr_tail"], tail);
    assert_eq!(status["result"]["stderr_tail"], tail);
    assert_eq!(world.events("t", "task_finished")[0]["stderr_tail"], tail);
    assert_eq!(world.events("t", "turn_finished")[0]["stderr_tail"], tail);
    let list: Value = serde_json::from_str(&world.run(&["list", "--json"]).expect(0).stdout).unwrap();
    assert_eq!((&list[0]["error"], &list[0]["stderr_tail"]), (&Value::from(message), &tail));
}

#[test]
fn s2_logs_reads_all_that_was_kept() {
    let world = World::new();
    let agent = "echo out-$DACAPO_TURN; printf 'err-%s\\nmore' $DACAPO_TURN >&2; date >> log";
    let check = "seq 1 40; echo checked; test -f never";
    let words = ["--name", "t", "--max-iterations", "2", "--check", check, "--agent-cmd", agent, "go"];
    let _ = world.exec(&words).expect(3);
    let shown = |flags: &[&str]| {
        let words: Vec<&str> = ["logs", "t"].into_iter().chain(flags.iter().copied()).collect();
        world.run(&words).expect(0).stdout
    };
    assert_eq!(shown(&["--turn", "1"]), "out-1\n");
    assert_eq!(shown(&["--turn", "1", "--stderr"]), "err-1\nmore");
    assert_eq!(
        shown(&["--stderr"]),
        "--- turn 0, iteration 1, echo\nerr-0\nmore\n--- turn 1, iteration 2, echo\nerr-1\nmore\n"
    );
    let whole: String = (1..=40).map(|line| format!("{line}\n")).chain(["checked\n".to_owned()]).collect();
    for run in ["1", "2", "3"] {
        assert_eq!(shown(&["--check", run]), whole, "before the first iteration and after each");
    }
    assert_eq!(shown(&["--check", "2", "-n", "2"]), "40\nchecked\n");
    let ran = world.run(&["logs", "t", "--check", "4"]).expect(2);
    assert!(ran.stderr.contains("ran 3 times: there is no run 4"), "{}", ran.stderr);
    let log = shown(&[]);
    assert!(log.contains("(all of it: dacapo logs --check 2)"), "{log}");
    let last: Vec<&str> = log.lines().rev().take(3).collect();
    let last: String = last.into_iter().rev().map(|line| format!("{line}\n")).collect();
    assert_eq!(shown(&["-n", "3"]), last);
    assert_eq!(shown(&["--since", "1h"]), log);
    assert_eq!(shown(&["--since", "2100-01-01"]), "");
    assert_eq!(shown(&["--json", "-n", "1"]).lines().count(), 1);
}

#[test]
fn l4_a_check_that_timed_out_says_so_every_time_and_the_line_that_says_most_is_quoted() {
    let world = World::new();
    let check = "echo 'test result: FAILED. 3 passed; 1 failed'; echo '  13: <unknown>'; test -f log && sleep 1000; exit 1";
    let words = ["--name", "t", "--check", check, "--check-timeout", "4s", "--max-iterations", "1"];
    let ran = world.exec(&[&words[..], &["--agent-cmd", "date > log", "go"]].concat()).expect(3);
    let said = "\"test result: FAILED. 3 passed; 1 failed\"";
    for wanted in
        [format!("✗ exit 1  {said}"), "exit 1 timed out\n".into(), format!("✗ → ✗ timed out {said}")]
    {
        assert!(ran.stdout.contains(&wanted), "{wanted}\n{}", ran.stdout);
    }
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert!(shown.contains("✗ timed out on ") && shown.contains(said), "{shown}");
}

#[test]
fn s3_a_worktree_that_cannot_be_made_is_a_failed_task_and_said_by_spawn() {
    let world = World::new();
    world.write(".gitattributes", "README.md filter=broken\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "filtered"]);
    world.git(&["config", "filter.broken.clean", "cat"]);
    world.git(&["config", "filter.broken.smudge", "false"]);
    world.git(&["config", "filter.broken.required", "true"]);
    let words = ["spawn", "--name", "w", "--agent-cmd", "date > log", "go"];
    let ran = world.run(&words).expect(1);
    let message = "task 'w' could not start: cannot create the worktree: ";
    assert!(ran.stderr.contains(message) && ran.stderr.contains("dacapo resume w"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("runs in the background"), "{}", ran.stdout);
    let status = world.status("w");
    assert_eq!(
        (&status["status"], &status["result"]["stop_reason"]),
        (&"failed".into(), &"setup_failed".into())
    );
    let log = world.run(&["logs", "w"]).expect(0).stdout;
    assert!(log.contains("Failed to prepare workspace: cannot create the worktree: "), "{log}");
    let shown = world.run(&["status", "w"]).expect(0).stdout;
    assert!(shown.contains("✗ failed (the worktree could not be created)"), "{shown}");
    assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "main", "nothing half-made stays");
    world.git(&["config", "--unset", "filter.broken.required"]);
    world.git(&["config", "filter.broken.smudge", "cat"]);
    let _ = world.run(&["resume", "w"]).expect(0);
    let _ = world.run(&["wait", "w"]).expect(0);
    assert_eq!(world.status("w")["status"], "completed");
}

#[test]
fn s3_a_setup_that_fails_is_a_failed_task_and_in_the_log() {
    let world = World::new();
    world.config("[worktree]\nsetup = [\"echo no modules; exit 3\"]\n");
    let ran = world.run(&["spawn", "--name", "s", "--agent-cmd", "date > log", "go"]);
    let said = "task 's' could not start: setup `echo no modules; exit 3` failed (exit 3)";
    // On a machine that is busy it may fail later than anybody waits for it.
    assert!(ran.stderr.contains(said) || ran.stdout.contains("runs in the background"), "{ran:?}");
    let _ = world.run(&["wait", "s"]).expect(1);
    let status = world.status("s");
    assert_eq!(
        (&status["status"], &status["result"]["stop_reason"]),
        (&"failed".into(), &"setup_failed".into())
    );
    let log = world.run(&["logs", "s"]).expect(0).stdout;
    assert!(log.contains("exit 3") && log.contains("no modules"), "{log}");
}

#[test]
fn l4_a_check_that_lacks_its_dependencies_is_told_the_setup_that_the_lock_file_names() {
    let world = World::new();
    world.program("npm", "#!/bin/sh\necho '> mocha'\necho 'sh: 1: mocha: not found' >&2\nexit 127\n");
    world.write("package-lock.json", "{}");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "lock"]);
    for (place, cure) in [
        ("--noworktree", "what `npm test` needs is not installed: npm ci (by package-lock.json)"),
        ("--worktree", "put [worktree] setup = [\"npm ci\"] into .dacapo/config.toml"),
    ] {
        let words = ["--name", "t", place, "--check", "npm test", "--agent-cmd", "date > log", "go"];
        let ran = world.exec(&words).expect(2);
        let message = "check `npm test` cannot be run (exit 127): sh: 1: mocha: not found";
        assert!(ran.stderr.contains(message) && ran.stderr.contains(cure), "{}", ran.stderr);
        assert!(!ran.stderr.contains("correct the check"), "{}", ran.stderr);
    }
}
