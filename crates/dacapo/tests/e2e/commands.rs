//! The commands about tasks that `exec` made (S2, S7, S10, S13, L16, L17).

use std::fs;

use serde_json::{Value, json};

use crate::support::World;

/// An agent that says it is at work and goes on when it is told to.
fn waiting_agent(world: &World) -> String {
    let (begun, go) = (world.scratch("begun"), world.scratch("go"));
    format!("touch {}; while ! test -e {}; do sleep 0.05; done; date > log", begun.display(), go.display())
}

fn let_go(world: &World) {
    fs::write(world.scratch("go"), "").unwrap();
}

/// A text without its `[HH:MM:SS] `.
fn without_clock(line: &str) -> &str {
    let (clock, text) = line.split_at(11);
    let shape: String = clock.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "[00:00:00] ", "{line}");
    text
}

#[test]
fn s13_the_log_of_a_loop_has_its_lines() {
    let world = World::new();
    let agent = "echo x >> log; echo Step $DACAPO_ITERATION done.; test $DACAPO_ITERATION = 0 || echo FIN-1";
    let words = ["--name", "t", "--until", "FIN-1", "--max-iterations", "3", "--agent-cmd", agent, "go"];
    let _ = world.exec(&words).expect(0);
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    let lines: Vec<&str> = logs.lines().map(without_clock).collect();
    let own = |line: &&&str| {
        let starts = ["Task t started (pid ", "Workspace: ", "Confined (guarded)"];
        !starts.iter().any(|start| line.starts_with(start))
    };
    let commits = world.git(&["log", "--format=%h", "--abbrev=7"]);
    let commits: Vec<&str> = commits.lines().collect();
    let expected = [
        "Registering loop for task t: max_iterations=3, completion_promise=Some(\"FIN-1\")",
        "Registered loop state for task t: max_iterations=3",
        "Iteration 0: Starting...",
        &format!("Committed: {}", commits[1]),
        "Iteration 0 summary: Step 0 done.",
        "=== Iteration 1 complete (1 succeeded, 0 failed) ===",
        "Loop iteration 1 of 3 for task t (can_continue=true)",
        "Iteration 1: Starting...",
        "Completion promise 'FIN-1' detected in output",
        &format!("Committed: {}", commits[0]),
        "Iteration 1 summary: Step 1 done.",
        "=== Iteration 2 complete (2 succeeded, 0 failed) ===",
        "Loop iteration 2 of 3 for task t (can_continue=false)",
        "Loop complete: completion promise detected for task t",
        "Removed loop state for task t",
    ];
    assert_eq!(lines.iter().filter(own).copied().collect::<Vec<_>>(), expected);
    assert_eq!(lines.len(), expected.len() + 3);
    let same: Vec<Value> = world
        .run(&["logs", "t", "--json"])
        .expect(0)
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(same, world.journal("t"));
    assert_eq!(world.run(&["logs", "t", "--turn", "1"]).expect(0).stdout, "Step 1 done.\nFIN-1\n");
}

#[test]
fn s13_a_loop_that_ends_at_its_cap_says_so_and_errors_are_there() {
    let world = World::new();
    let words = ["--name", "t", "--max-iterations", "2", "--agent-cmd", "echo x >> log; exit 7", "go"];
    let mut command = world.command(&[&["exec"], &words[..]].concat());
    let ran = crate::support::Ran::from(command.env("DACAPO_LOG", "info").output().unwrap()).expect(3);
    let logs = world.run(&["logs"]).expect(0).stdout;
    for line in [
        "completion_promise=None",
        "Agent failed: the agent exited with code 7",
        "=== Iteration 2 complete (0 succeeded, 2 failed) ===",
        "Loop iteration 2 of 2 for task t (can_continue=false)",
        "Loop complete: max iterations reached for task t",
        "Removed loop state for task t",
    ] {
        assert!(logs.contains(line), "{line}\n{logs}");
        assert!(ran.stderr.contains(line), "{line}\n{}", ran.stderr);
    }
    assert!(ran.stderr.contains(" INFO "), "{}", ran.stderr);
}

#[test]
fn s2_logs_follow_a_task_to_its_end() {
    let world = World::new();
    let agent = waiting_agent(&world);
    let task = world.start(&["exec", "--name", "t", "--iter", "1", "--agent-cmd", &agent, "go"]);
    world.wait_for_file("begun");
    let follow = world.start(&["logs", "-f", "t"]);
    let wait = world.start(&["wait", "t"]);
    let status = world.status("t");
    assert_eq!((&status["status"], &status["iteration"]), (&json!("running"), &json!(0)));
    assert!(status["pid"].is_u64());
    let list = world.run(&["list"]).expect(0).stdout;
    assert!(list.contains("RUNNING    t") && list.contains("dacapo attach t"), "{list}");
    let_go(&world);
    let _ = task.end().expect(0);
    let followed = follow.end().expect(0).stdout;
    assert!(followed.ends_with("] Removed loop state for task t\n"), "{followed}");
    assert_eq!(followed, world.run(&["logs", "t"]).expect(0).stdout);
    let waited = wait.end().expect(0).stdout;
    assert!(waited.contains("finished, unverified"), "{waited}");
    // Of a task that is over, following shows all and ends.
    assert_eq!(world.run(&["logs", "-f"]).expect(0).stdout, followed);
}

#[test]
fn s2_wait_has_the_exit_code_of_the_outcome() {
    let world = World::new();
    let exec = |name: &str, flags: &[&str], code| {
        let _ = world.exec(&[&["--name", name], flags, &["go"]].concat()).expect(code);
        let waited = world.run(&["wait", name]).expect(code);
        assert!(waited.stdout.contains("next: "), "{}", waited.stdout);
        let waited = world.run(&["wait", name, "--json"]).expect(code);
        serde_json::from_str::<Value>(&waited.stdout).unwrap()["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(exec("a", &["--agent-cmd", "true"], 0), "completed");
    assert_eq!(exec("b", &["--agent-cmd", "exit 9"], 1), "failed");
    assert_eq!(exec("c", &["--until", "X-1", "--max-iterations", "1", "--agent-cmd", "true"], 3), "stopped");
}

#[test]
fn s7_a_second_loop_in_the_same_checkout_is_refused_and_names_the_first() {
    let world = World::new();
    let agent = waiting_agent(&world);
    let first = world.start(&["exec", "--name", "first", "--agent-cmd", &agent, "go"]);
    world.wait_for_file("begun");
    let second = world.exec(&["--name", "second", "--agent-cmd", "date > other", "go"]).expect(2);
    assert!(second.stderr.contains("Task 'first' is running in this checkout"), "{}", second.stderr);
    assert!(second.stderr.contains("--worktree"), "{}", second.stderr);
    let resumed = world.run(&["resume", "first"]).expect(2);
    assert!(resumed.stderr.contains("Task 'first' is still running."), "{}", resumed.stderr);
    assert_eq!(world.tasks(), ["first"]);
    let beside =
        world.exec(&["--name", "beside", "--worktree", "--agent-cmd", "date > other", "go"]).expect(0);
    assert!(beside.stdout.contains("dacapo/beside"), "{}", beside.stdout);
    let_go(&world);
    let _ = first.end().expect(0);
    assert_eq!(world.tree("HEAD"), ["README.md", "log"]);
    assert_eq!(world.tree("dacapo/beside"), ["README.md", "other"]);
    let _ = world.exec(&["--name", "second", "--agent-cmd", "date > other", "go"]).expect(0);
}

#[test]
fn s2_diff_shows_what_a_task_or_an_iteration_changed() {
    let world = World::new();
    let agent = "echo $DACAPO_ITERATION > \"f $DACAPO_ITERATION\"; rm -f README.md";
    let _ = world.exec(&["--name", "t", "--iter", "2", "--agent-cmd", agent, "go"]).expect(0);
    let all = world.run(&["diff", "t"]).expect(0).stdout;
    for line in ["+++ b/f 0", "+++ b/f 1", "--- a/README.md"] {
        assert!(all.contains(line), "{line}\n{all}");
    }
    let second = world.run(&["diff", "--iteration", "2"]).expect(0).stdout;
    assert!(second.contains("+++ b/f 1") && !second.contains("f 0"), "{second}");
    assert!(world.run(&["diff", "--stat"]).expect(0).stdout.contains("3 files changed"));
    let files: Value = serde_json::from_str(&world.run(&["diff", "--json"]).expect(0).stdout).unwrap();
    let changed: Vec<&Value> = files["files"].as_array().unwrap().iter().collect();
    assert_eq!(
        json!(changed),
        json!([{"path": "README.md", "change": "deleted"}, {"path": "f 0", "change": "added"}, {"path": "f 1", "change": "added"}])
    );
    let _ = world.exec(&["--name", "u", "--agent-cmd", "true", "go"]).expect(0);
    assert_eq!(world.run(&["diff"]).expect(0).stdout, "nothing was committed\n");
}

#[test]
fn s10_a_completed_task_goes_on_with_words_or_iterations() {
    let world = World::new();
    let agent = "echo $DACAPO_ITERATION >> log; test $DACAPO_ITERATION -lt 1 || echo FIN-1";
    let words =
        ["--name", "t", "--until", "FIN-1", "--max-iterations", "3", "--agent-cmd", agent, "Build it"];
    let _ = world.exec(&words).expect(0);
    let refused = world.run(&["resume", "t"]).expect(2);
    assert!(refused.stderr.contains("Task 't' is completed"), "{}", refused.stderr);
    assert!(refused.stderr.contains("dacapo resume t --iter 5"), "{}", refused.stderr);
    let result = world.run(&["resume", "t", "and", "tests", "--json"]).expect(0).result();
    assert_eq!(World::counts(&result), [3, 3, 0]);
    let prompt = world.prompt("t", 2);
    assert!(prompt.contains("The user adds:\nand tests\n") && prompt.ends_with("\n\nBuild it"), "{prompt}");
    assert!(prompt.contains("Iteration: 3 of 5\n"), "as many more as the task had\n{prompt}");
    // And again: not more from time to time.
    let _ = world.run(&["resume", "t", "once more"]).expect(0);
    assert!(world.prompt("t", 3).contains("Iteration: 4 of 6\n"), "{}", world.prompt("t", 3));
    assert_eq!(world.read("log"), "0\n1\n2\n3\n");
    let result = world.run(&["resume", "t", "--iter", "1", "--json"]).expect(0).result();
    assert_eq!(World::counts(&result), [5, 5, 0]);
    assert_eq!(world.subjects().len(), 6);
    world.assert_nothing_left("t");
}

#[test]
fn s10_a_single_run_goes_on_with_one_more() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--agent-cmd", "echo x >> log", "go"]).expect(0);
    for round in 2..=4 {
        let result = world.run(&["resume", "t", "more", "--json"]).expect(0).result();
        assert_eq!(World::counts(&result), [round, round, 0]);
    }
    let result = world.run(&["resume", "t", "--iter", "2", "--json"]).expect(0).result();
    assert_eq!(World::counts(&result), [6, 6, 0]);
}

#[test]
fn s10_a_task_at_its_cap_needs_more_iterations() {
    let world = World::new();
    let agent = "echo $DACAPO_ITERATION >> log; test $DACAPO_ITERATION != 3 || echo FIN-1";
    let words = ["--name", "t", "--until", "FIN-1", "--max-iterations", "2", "--agent-cmd", agent, "go"];
    let _ = world.exec(&words).expect(3);
    let refused = world.run(&["resume", "t"]).expect(2);
    assert!(refused.stderr.contains("has used all of its 2 iterations"), "{}", refused.stderr);
    assert_eq!(world.journal("t").last().unwrap()["type"], "task_finished", "nothing was written");
    let result = world.run(&["resume", "t", "--iter", "2", "--json"]).expect(0).result();
    assert_eq!((&result["stop_reason"], World::counts(&result)), (&json!("promise"), [4, 4, 0]));
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains("Loop iteration 4 of 4 for task t (can_continue=false)"), "{logs}");
}

#[test]
fn s10_a_failed_task_goes_on() {
    let world = World::new();
    let flag = world.scratch("fixed");
    let agent = format!("echo x >> log; test -e {} || exit 1; echo FIN-1", flag.display());
    let words = ["--name", "t", "--until", "FIN-1", "--max-failures", "1", "--agent-cmd", &agent, "go"];
    let _ = world.exec(&words).expect(1);
    fs::write(flag, "").unwrap();
    let result = world.run(&["resume", "--json"]).expect(0).result();
    assert_eq!(World::counts(&result), [2, 1, 1]);
}

#[test]
fn s10_changes_of_the_users_are_not_mixed_into_a_resumed_task() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--agent-cmd", "echo x >> log", "go"]).expect(0);
    world.write("log", "not the agent's\n");
    let refused = world.run(&["resume", "t", "more"]).expect(2);
    assert!(
        refused.stderr.contains("1 uncommitted file here since task 't' ended (log)"),
        "{}",
        refused.stderr
    );
    world.git(&["checkout", "-q", "log"]);
    let _ = world.run(&["resume", "t", "more"]).expect(0);
}

#[test]
fn l16_json_is_all_there_is_on_stdout_and_ends_with_the_result() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - say: Working.\n    - tool: { name: Edit, summary: a }\n    - write: { path: a, text: x }\n    - usage: { input: 30, output: 4, cost_usd: 0.01 }\n",
    );
    let words = ["--name", "t", "--agent", &agent, "--check", "test -f a", "--json", "go"];
    let ran = world.exec(&words).expect(0);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert!(line["v"] == 3 && line["seq"].is_u64() && line["task"] == "t", "{line}");
        assert!(line["at"].as_str().unwrap().ends_with('Z'), "{line}");
    }
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
    let journal: Vec<Value> = lines.iter().filter(|line| line["type"] != "agent_event").cloned().collect();
    assert_eq!(journal, world.journal("t"));
    let agent: Vec<(Value, Value)> =
        of("agent_event").iter().map(|line| (line["sub"].clone(), line["event"]["kind"].clone())).collect();
    assert!(agent.iter().any(|(_, kind)| kind == "tool_call"), "{agent:?}");
    assert!(agent.iter().enumerate().all(|(index, (sub, _))| *sub == index), "{agent:?}");
    let result = ran.result();
    let head = world.git(&["rev-parse", "HEAD"]);
    let base = world.git(&["rev-parse", "HEAD~1"]);
    for (field, value) in [
        ("outcome", json!("completed")),
        ("stop_reason", json!("checks")),
        ("verified", json!(true)),
        ("iterations_attempted", json!(1)),
        ("iterations_succeeded", json!(1)),
        ("iterations_failed", json!(0)),
        ("tokens", json!({"input": 30, "output": 4, "cached": 0})),
        ("cost_usd", json!(0.01)),
        ("base_commit", json!(base)),
        ("last_commit", json!(head)),
    ] {
        assert_eq!(result[field], value, "{field}");
    }
    assert!(result["elapsed_seconds"].is_f64());
    let record = &of("iteration_finished")[0];
    for field in
        ["iteration", "commit_id", "changed_files", "summary", "success", "timestamp", "tokens", "checks"]
    {
        assert!(record.get(field).is_some(), "{field}");
    }
}

#[test]
fn l17_quiet_prints_nothing_and_colours_are_honoured() {
    let world = World::new();
    let exec = |flags: &[&str], no_color: bool| {
        let mut command = world
            .command(&[&["exec", "--agent-cmd", "date +%N > a", "--iter", "1"], flags, &["go"]].concat());
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let ran = crate::support::Ran::from(command.output().unwrap()).expect(0);
        assert_eq!(ran.stderr, "");
        ran.stdout
    };
    assert_eq!(exec(&["--quiet"], false), "");
    assert!(!exec(&[], false).contains('\u{1b}'), "a pipe has no colours");
    assert!(exec(&["--color", "always"], false).contains('\u{1b}'));
    assert!(!exec(&["--color", "never"], false).contains('\u{1b}'));
    assert!(!exec(&[], true).contains('\u{1b}'));
    let failed = world.exec(&["--quiet", "--agent", "nobody", "go"]).expect(2);
    assert!(failed.stderr.starts_with("error: unknown agent 'nobody'"), "{}", failed.stderr);
}

#[test]
fn u5_settings_are_shown_with_their_origin() {
    let world = World::new();
    world.config("agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\n");
    world.write(".dacapo/config.toml", "main_branch = \"trunk\"\n");
    let mut command = world.command(&["config", "show"]);
    let ran = crate::support::Ran::from(command.env("DACAPO_LANGUAGE", "zh-TW").output().unwrap()).expect(0);
    for (line, origin) in [
        ("agent = \"bot\"", "config.toml"),
        ("main_branch = \"trunk\"", ".dacapo/config.toml"),
        ("language = \"zh-TW\"", "DACAPO_LANGUAGE"),
        ("keep_awake = true", "預設"),
    ] {
        let found = ran.stdout.lines().find(|found| found.starts_with(line)).unwrap_or_default();
        assert!(found.contains(origin), "{line} # {origin}\n{}", ran.stdout);
    }
    let json: Value =
        serde_json::from_str(&world.run(&["config", "show", "--json"]).expect(0).stdout).unwrap();
    assert!(json["settings"].as_array().unwrap().iter().any(|setting| setting["key"] == "agent"));
    let schema: Value = serde_json::from_str(&world.run(&["config", "schema"]).expect(0).stdout).unwrap();
    assert_eq!(schema["title"], "Dacapo settings");
    let path = world.run(&["config", "path"]).expect(0).stdout;
    assert!(path.contains(".config/dacapo/config.toml") && path.contains(".dacapo/config.toml"), "{path}");
}

#[test]
fn a5_the_demo_catches_a_false_done_and_leaves_nothing_behind() {
    let world = World::without_repo();
    let temp = world.scratch("temp");
    fs::create_dir(&temp).unwrap();
    let before = world.everything();
    let mut command = world.command(&["demo"]);
    let ran = crate::support::Ran::from(command.env("TMPDIR", &temp).output().unwrap()).expect(0);
    for text in [
        "rehearsal says it is done; sh test.sh still fails",
        "sh test.sh passes",
        "✓ proven",
        "sh test.sh ✗ → ✓",
        "[iter-0]",
    ] {
        assert!(ran.stdout.contains(text), "{text}\n{}", ran.stdout);
    }
    assert_eq!(ran.stderr, "");
    assert!(!ran.stdout.contains("is ignored"), "the demo's own variable is known:\n{}", ran.stdout);
    assert!(!ran.stdout.contains("diff demo"), "what is gone is not offered:\n{}", ran.stdout);
    assert!(!ran.stdout.contains("dacapo resume"), "there is no task to go on with: {}", ran.stdout);
    let next = "next, in your own repository:\n  dacapo doctor                   check that your agents are ready\n  \
                dacapo \"fix the failing tests\"  start a task\n";
    assert!(ran.stdout.ends_with(next), "{}", ran.stdout);
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
    assert_eq!(world.everything(), before);
    let mut command = world.command(&["demo", "--json"]);
    let ran = crate::support::Ran::from(command.env("TMPDIR", &temp).output().unwrap()).expect(0);
    assert_eq!(ran.result()["verified"], true);
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
}

#[test]
fn s10_what_a_task_left_out_of_its_commits_is_not_in_the_way() {
    let world = World::new();
    let agent = "echo x >> log; echo KEY=made-up > .env";
    let _ = world.exec(&["--name", "t", "--agent-cmd", agent, "go"]).expect(0);
    let _ = world.run(&["resume", "t", "more"]).expect(0);
    assert_eq!(world.tree("HEAD"), ["README.md", "log"]);
    assert_eq!(world.read(".env"), "KEY=made-up\n");
}

#[test]
fn s10_a_worktree_task_whose_start_was_cut_short_is_made_again() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--worktree", "--agent-cmd", "true", "go"]).expect(0);
    // As if killed right after git had made branch and worktree: only what was written before is there.
    let journal = world.task_dir("t").join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let begun: Vec<&str> = text.lines().take(2).collect();
    assert!(begun[1].contains("task_started"));
    fs::write(&journal, format!("{}\n", begun.join("\n"))).unwrap();
    fs::remove_dir_all(world.task_dir("t").join("turns")).unwrap();
    fs::create_dir(world.task_dir("t").join("turns")).unwrap();
    assert_eq!(world.status("t")["status"], "interrupted");
    let result = world.run(&["resume", "t", "--json"]).expect(0).result();
    assert_eq!(World::counts(&result), [1, 1, 0]);
}

#[test]
fn s10_a_resumed_task_says_how_many_more_there_are() {
    let world = World::new();
    let words = ["--name", "t", "--max-iterations", "1", "--agent-cmd", "echo x >> log", "go"];
    let _ = world.exec(&words).expect(3);
    let ran = world.run(&["resume", "t", "--iter", "2"]).expect(3);
    assert!(ran.stdout.contains("limits  2 more iterations\n"), "{}", ran.stdout);
}
