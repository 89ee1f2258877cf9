//! Checks and their receipts (L3, L4, L15, L16).

use serde_json::json;

use crate::support::World;

#[test]
fn l4_red_to_green_is_proven() {
    let world = World::new();
    let agent = "echo x >> log; test $DACAPO_ITERATION != 1 || echo ok > done; echo I did what I could.";
    let words = ["--name", "t", "--check", "cat done", "--agent-cmd", agent];
    let ran = world.exec(&[&words[..], &["go"]].concat()).expect(0);
    assert!(ran.stdout.contains("✓ proven · 2 iterations"), "{}", ran.stdout);
    let head = world.git(&["rev-parse", "HEAD"]);
    let green = format!("cat done ✗ → ✓ \"ok\" on {}", &head[..7]);
    assert!(ran.stdout.contains(&green), "{}", ran.stdout);
    assert!(ran.stdout.contains("     cat done still fails\n"), "{}", ran.stdout);
    let status = world.status("t");
    assert_eq!((&status["outcome"], &status["verified"]), (&json!("completed"), &json!(true)));
    assert_eq!(status["result"]["stop_reason"], "checks");
    let proof = &status["result"]["proof"][0];
    assert_eq!((&proof["before"], &proof["after"]), (&json!(false), &json!(true)));
    let command = || "cat done".to_owned();
    assert_eq!(world.receipts("t", "baseline"), [(command(), Some(1), false)]);
    assert_eq!(world.receipts("t", "iteration"), [(command(), Some(1), false), (command(), Some(0), false)]);
    let last = &status["checks"][2];
    assert_eq!((&last["commit_id"], &last["tail"]), (&json!(head), &json!("ok")));
    assert!(last["duration_seconds"].is_f64());
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    for line in ["  before  cat done ✗ exit 1", "            cat done ✓ exit 0 on ", &green] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn l4_a_check_that_was_green_already_needs_the_promise_too() {
    let world = World::new();
    let words = ["--check", "echo fine", "--max-iterations", "2", "--name"];
    let ran = world.exec(&[&words[..], &["t", "--agent-cmd", "date >> log", "go"]].concat()).expect(3);
    let needed = "note    the checks pass already, so the task is done only when date also says it is\n";
    assert!(ran.stdout.contains(needed), "{}", ran.stdout);
    assert!(ran.stdout.contains("     date has not said it is done; echo fine passes\n"), "{}", ran.stdout);
    assert!(world.prompt("t", 0).contains("<promise>COMPLETE</promise>"));
    assert_eq!(world.status("t")["verified"], false);

    let agent = "date >> log; echo '<promise>COMPLETE</promise>'";
    let ran = world.exec(&[&words[..], &["u", "--agent-cmd", agent, "go"]].concat()).expect(0);
    assert!(ran.stdout.contains("echo fine ✓ stayed green \"fine\""), "{}", ran.stdout);
    assert_eq!(world.status("u")["verified"], true);

    let agent = "date >> log; echo MINE-1";
    let ran =
        world.exec(&[&words[..], &["v", "--until", "MINE-1", "--agent-cmd", agent, "go"]].concat()).expect(0);
    assert!(ran.stdout.contains("stayed green"), "{}", ran.stdout);
    assert!(!world.prompt("v", 0).contains("COMPLETE"));
}

#[test]
fn l4_without_a_baseline_a_green_check_completes_and_proves_nothing() {
    let world = World::new();
    let words = ["--name", "t", "--check", "true", "--no-baseline", "--agent-cmd", "date >> log", "--json"];
    let result = world.exec(&[&words[..], &["go"]].concat()).expect(0).result();
    assert_eq!((&result["outcome"], &result["verified"]), (&json!("completed"), &json!(false)));
    assert_eq!(world.receipts("t", "baseline"), []);
}

#[test]
fn l4_a_check_that_cannot_run_is_refused_and_leaves_nothing() {
    let world = World::new();
    world.write("not-executable", "x");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "more"]);
    let before = world.everything();
    for check in ["no-such-command-here --all", "./not-executable"] {
        for place in ["--noworktree", "--worktree"] {
            let words = ["--name", "t", place, "--check", "true", "--check", check];
            let ran = world.exec(&[&words[..], &["--agent-cmd", "date >> log", "go"]].concat()).expect(2);
            let message = format!("check `{check}` cannot be run (exit 12");
            assert!(ran.stderr.contains(&message), "{}", ran.stderr);
            assert!(ran.stderr.contains("\n  do:   "), "{}", ran.stderr);
            assert!(!ran.stdout.contains("dacapo resume"), "there is nothing to resume:\n{}", ran.stdout);
            assert_eq!(world.tasks(), [] as [&str; 0]);
            assert_eq!(world.git(&["branch", "--format=%(refname)"]), "refs/heads/main");
            assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
        }
    }
    // Which ports are leased is for all tasks of the machine, and the files of leases stay.
    let shared = [world.repo().join(".git"), world.data().join("leases")];
    let is_content =
        |path: &std::path::Path| path.is_file() && !shared.iter().any(|shared| path.starts_with(shared));
    let files = |all: std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        all.into_iter().filter(|(path, _)| is_content(path)).collect::<Vec<_>>()
    };
    assert_eq!(files(world.everything()), files(before));
}

#[test]
fn l4_a_check_that_never_ends_is_ended() {
    let world = World::new();
    let words = ["--name", "t", "--check", "echo begun; sleep 1000", "--check-timeout", "4s"];
    let ran = world
        .exec(&[&words[..], &["--max-iterations", "1", "--agent-cmd", "date > log", "go"]].concat())
        .expect(3);
    assert!(ran.stdout.contains("timed out"), "{}", ran.stdout);
    let command = || "echo begun; sleep 1000".to_owned();
    assert_eq!(world.receipts("t", "baseline"), [(command(), None, true)]);
    assert_eq!(world.receipts("t", "iteration"), [(command(), None, true)]);
    assert_eq!(world.status("t")["checks"][1]["tail"], "begun");
    world.assert_nothing_left("t");
}

#[test]
fn l4_checks_run_as_in_ci_with_their_input_closed() {
    let world = World::new();
    let check =
        "test \"$CI\" = 1 && test -z \"$(cat)\" && test \"$PWD\" = \"$DACAPO_WORKSPACE\" && test -f done";
    let agent = "test -z \"$CI\" && mkdir -p sub && touch done";
    let mut command = world.command(&["exec", "--name", "t", "--check", check, "--agent-cmd", agent, "go"]);
    std::fs::create_dir(world.repo().join("sub")).unwrap();
    let ran = crate::support::Ran::from(command.current_dir(world.repo().join("sub")).output().unwrap());
    let _ = ran.expect(0);
}

#[test]
fn l4_files_a_check_changes_are_reported_and_never_committed() {
    let world = World::new();
    let check = "echo x >> report.txt; echo y >> README.md; test -f done";
    let agent = "echo x >> log; test $DACAPO_ITERATION != 2 || touch done";
    let ran = world.exec(&["--name", "t", "--check", check, "--agent-cmd", agent, "go"]).expect(0);
    assert!(ran.stdout.contains("changed files, not committed: README.md, report.txt"), "{}", ran.stdout);
    for iteration in 0..3 {
        let files = world.git(&["show", "--format=", "--name-only", &format!("HEAD~{}", 2 - iteration)]);
        let expected = if iteration == 2 { "done\nlog" } else { "log" };
        assert_eq!(files, expected, "iteration {iteration}");
    }
    let checks = world.status("t")["checks"].clone();
    assert_eq!(checks[0]["changed_files"], json!(["README.md", "report.txt"]), "{checks}");
    assert_eq!(world.read("README.md").lines().count(), 5, "and they are left as the check made them");
}

#[test]
fn l4_a_file_that_the_agent_touches_after_the_check_is_the_agents() {
    let world = World::new();
    let check = "test -f report.txt || echo from the check > report.txt; test -f done";
    let agent = "test $DACAPO_ITERATION != 1 || { echo mine >> report.txt; touch done; }; echo x >> log";
    let _ = world.exec(&["--name", "t", "--check", check, "--agent-cmd", agent, "go"]).expect(0);
    assert_eq!(world.git(&["show", "--format=", "--name-only", "HEAD~1"]), "log");
    assert_eq!(world.git(&["show", "--format=", "--name-only", "HEAD"]), "done\nlog\nreport.txt");
}

#[test]
fn l4_files_of_a_check_stay_uncommitted_when_the_task_goes_on_later() {
    let world = World::new();
    let check = "echo x >> report.txt; test -f done";
    let words = ["--name", "t", "--check", check, "--max-iterations", "1", "--agent-cmd", "date +%N >> log"];
    let _ = world.exec(&[&words[..], &["go"]].concat()).expect(3);
    let _ = world.run(&["resume", "t", "--iter", "2"]).expect(3);
    assert_eq!(world.tree("HEAD"), ["README.md", "log"]);
    assert_eq!(world.read("report.txt").lines().count(), 4);
}

#[test]
fn l3_all_conditions_must_hold_in_the_same_iteration() {
    let world = World::new();
    let agent = "echo x >> log; case $DACAPO_ITERATION in 0) touch a;; 1) rm a; touch b;; 2) touch a;; esac";
    let words = ["--name", "t", "--check", "test -f a", "--check", "test -f b", "--json"];
    let result = world.exec(&[&words[..], &["--agent-cmd", agent, "go"]].concat()).expect(0).result();
    assert_eq!(World::counts(&result), [3, 3, 0]);
}

/// What is asked for more begins with green checks: they prove nothing about it, and the user is told what is needed.
#[test]
fn l4_after_a_proof_more_work_needs_the_promise_and_the_screen_says_so() {
    let world = World::new();
    let agent = "echo x > done; date >> log";
    let words = ["--name", "t", "--check", "test -e done", "--agent-cmd", agent, "go"];
    let ran = world.exec(&words).expect(0);
    let needed = "the checks pass already, so the task is done only when echo also says it is";
    assert!(!ran.stdout.contains(needed), "{}", ran.stdout);
    assert!(!ran.stdout.contains("says it is done"), "nobody asked: {}", ran.stdout);
    let ran = world.run(&["resume", "t", "also this", "--iter", "1"]).expect(3);
    assert!(ran.stdout.contains(needed), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("     echo has not said it is done; test -e done passes\n"),
        "{}",
        ran.stdout
    );
}

/// Only where all of them pass already is the promise needed.
#[test]
fn l4_one_green_check_beside_a_red_one_needs_no_promise() {
    let world = World::new();
    let words = ["--name", "t", "--check", "true", "--check", "test -e done", "--agent-cmd"];
    let ran = world.exec(&[&words[..], &["echo x > done", "go"]].concat()).expect(0);
    assert!(!ran.stdout.contains("the checks pass already"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("     true passes; test -e done passes; the proof passed\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn l3_a_false_done_is_caught() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - write: { path: a, text: '1' }\n    - lie: true\n  - - write: { path: done, text: x }\n    - done: true\n",
    );
    let words = ["--name", "t", "--check", "test -f done", "--until", "<promise>OK</promise>"];
    let ran = world.exec(&[&words[..], &["--agent", &agent, "go"]].concat()).expect(0);
    assert!(ran.stdout.contains("rehearsal says it is done; test -f done still fails\n"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("rehearsal says it is done; test -f done passes; the proof passed\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(world.status("t")["iteration"], 2);
}

#[test]
fn l3_the_projects_own_checks_come_from_the_config() {
    let world = World::new();
    world.config("checks = [\"test -f done\", \"test -f log\"]\n");
    let words = ["--name", "t", "--checks", "--check", "test -f done", "--agent-cmd", "touch done log", "go"];
    let _ = world.exec(&words).expect(0);
    let commands: Vec<String> = world.receipts("t", "baseline").into_iter().map(|r| r.0).collect();
    assert_eq!(commands, ["test -f done", "test -f log"], "each once");
}

#[test]
fn l3_the_projects_own_checks_are_found_and_shown() {
    let world = World::new();
    world.write("Makefile", "test:\n\ttest -f done\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "make"]);
    world.program("make", "#!/bin/sh\ntest \"$*\" = test && test -f done\n");
    let agent = "touch done; echo '# a comment' >> Makefile";
    let ran = world.exec(&["--name", "t", "--checks", "--agent-cmd", agent, "go"]).expect(0);
    assert!(ran.stderr.contains("check   make test (Makefile"), "{}", ran.stderr);
    assert!(ran.stdout.contains("make test ✗ → ✓"), "{}", ran.stdout);
    assert!(ran.stdout.contains("⚠ tests, CI or checks changed: Makefile"), "{}", ran.stdout);
}

#[test]
fn l16_changed_tests_ci_and_checks_are_named() {
    let world = World::new();
    world.write("check.sh", "test -f done\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "check"]);
    let agent = "mkdir -p tests .github/workflows src; touch done src/a tests/a_test.py .github/workflows/ci.yml; \
                 echo : >> check.sh";
    let words = ["--name", "t", "--check", "sh check.sh", "--agent-cmd", agent, "go"];
    let ran = world.exec(&words).expect(0);
    let named = "tests changed; the checks also pass with them as they were: \
                 .github/workflows/ci.yml (new), check.sh, tests/a_test.py (new)";
    assert!(ran.stdout.contains(named), "{}", ran.stdout);
    let files = [".github/workflows/ci.yml", "check.sh", "tests/a_test.py"];
    assert_eq!(world.status("t")["result"]["trust_files"], json!(files));
}
