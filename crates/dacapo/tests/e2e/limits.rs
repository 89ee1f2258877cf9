//! How long a loop goes on: iterations, time, failures, stall, budgets, usage limits, hangs (L2, L5, L8–L12).

use serde_json::{Value, json};

use crate::model_server::{Call, CallKind, ModelServer, Reply};
use crate::support::World;

fn end(result: &Value) -> (&str, &str, [u64; 3]) {
    (result["outcome"].as_str().unwrap(), result["stop_reason"].as_str().unwrap(), World::counts(result))
}

#[test]
fn l5_one_iteration_and_a_hundred() {
    let world = World::new();
    for (max, attempted) in [("1", 1), ("100", 100)] {
        let words = ["--until", "X-1", "--stall", "0", "--max-iterations", max, "--agent-cmd", "true"];
        let result = world.exec(&[&words[..], &["--json", "go"]].concat()).expect(3).result();
        assert_eq!(end(&result), ("max_reached", "iterations", [attempted, attempted, 0]));
    }
}

#[test]
fn l5_a_cap_outside_its_bounds_is_clamped_and_said() {
    let world = World::new();
    for (name, wanted, used, code) in
        [("a", "0", 1, 3), ("b", "101", 100, 0), ("c", "-7", 1, 3), ("d", "99999999999", 100, 0)]
    {
        let agent = "test $DACAPO_ITERATION = 0 || echo X-1";
        let words =
            ["--name", name, "--until", "X-1", "--max-iterations", wanted, "--agent-cmd", agent, "go"];
        let ran = world.exec(&words).expect(code);
        let note = format!("--max-iterations {wanted} is outside 1…100: using {used}");
        assert!(ran.stdout.contains(&note), "{}", ran.stdout);
        assert_eq!(world.status(name)["max_iterations"], used);
    }
    let words = ["--until", "X-1", "--stall", "0", "--iter", "102", "--agent-cmd", "true", "--json", "go"];
    let result = world.exec(&words).expect(3).result();
    assert_eq!(World::counts(&result)[0], 102, "--iter beside a condition is not clamped");
}

#[test]
fn l2_anything_else_for_a_limit_is_refused_by_its_message() {
    let world = World::new();
    for (flag, value, hint) in [
        ("--iter", "1h", "--time 1h"),
        ("--iter", "0", "--iter 5"),
        ("--iter", "-3", "--iter 5"),
        ("--iter", "abc", "--iter 5"),
        ("--iter", "", "--iter 5"),
        ("--iter", "1.5", "--iter 5"),
        ("--iter", "99999999999", "--iter 5"),
        ("--iter", "+5", "--iter 5"),
        ("--time", "90", "--time 90s or --time 90m; for a count: --iter 90"),
        ("--time", "0s", "--time 1h30m"),
        ("--time", "-1h", "--time 1h30m"),
        ("--time", "1h 30m", "--time 1h30m"),
        ("--time", "abc", "--time 1h30m"),
        ("--time", "", "--time 1h30m"),
        ("--time", "1w", "--time 1h30m"),
    ] {
        let ran = world.exec(&[flag, value, "--agent-cmd", "true", "go"]).expect(2);
        let message = format!(
            "error: Invalid loop condition: '{value}'. Expected count (e.g., '5') or duration (e.g., '1h')\n  \
             kept: everything; nothing was started\n  do:   {hint}\n"
        );
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", message.as_str()), "{flag} {value}");
    }
    assert_eq!(world.tasks(), [] as [&str; 0]);
    for time in ["30s", "5m", "1h", "1h30m", "2d"] {
        let _ = world.exec(&["--time", time, "--iter", "1", "--agent-cmd", "true", "go"]).expect(0);
    }
}

#[test]
fn l2_a_duration_lets_the_iteration_end_and_stops_the_next() {
    let world = World::new();
    // Time enough to get to the first iteration, however busy the machine is.
    let agent = "echo begun >> log; sleep 4.2; echo ended >> log";
    let words = ["--time", "4s", "--agent-cmd", agent, "--json", "go"];
    let result = world.exec(&[&["--until", "X-1"], &words[..]].concat()).expect(3).result();
    assert_eq!(end(&result), ("time_elapsed", "time", [1, 1, 0]));
    assert_eq!(world.read("log"), "begun\nended\n");
    let result = world.exec(&words).expect(0).result();
    assert_eq!(end(&result), ("completed", "time", [1, 1, 0]), "a pure loop did what it was for");
    let result = world.exec(&[&["--iter", "1"], &words[..]].concat()).expect(0).result();
    assert_eq!(end(&result), ("completed", "iterations", [1, 1, 0]), "the first to be reached ends it");
}

#[test]
fn l8_so_many_failures_in_a_row_end_it() {
    let world = World::new();
    let agent = "echo $DACAPO_ITERATION >> log; test $DACAPO_ITERATION = 1";
    let words = ["--until", "X-1", "--max-failures", "2", "--max-iterations", "9", "--agent-cmd", agent];
    let result = world.exec(&[&words[..], &["--name", "t", "--json", "go"]].concat()).expect(1).result();
    assert_eq!(end(&result), ("failed", "failures", [4, 1, 3]));
    let waits: Vec<Value> = world.events("t", "waiting");
    assert_eq!(waits.len(), 2, "a pause after each failure that another iteration follows");
    assert!(waits.iter().all(|wait| wait["why"] == "backoff"));
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains("Loop complete: too many failures in a row for task t"), "{logs}");
}

#[test]
fn l8_an_error_that_cannot_heal_ends_it_at_once() {
    let world = World::new();
    let agent = world
        .rehearsal("iterations:\n  - - fail: { message: 'not logged in: run /login', permanent: true }\n");
    let ran = world.exec(&["--name", "t", "--iter", "5", "--agent", &agent, "go"]).expect(1);
    assert!(ran.stdout.contains("not logged in: run /login"), "{}", ran.stdout);
    let status = world.status("t");
    assert_eq!(end(&status["result"]), ("failed", "permanent_error", [1, 0, 1]));
}

#[test]
fn l15_a_pure_loop_in_which_nothing_succeeds_has_failed() {
    let world = World::new();
    let result = world.exec(&["--iter", "2", "--agent-cmd", "exit 3", "--json", "go"]).expect(1).result();
    assert_eq!(end(&result), ("failed", "iterations", [2, 0, 2]));
    assert!(result["detail"]["message"].as_str().unwrap().contains("exited with code 3"));
}

#[test]
fn l11_no_change_or_the_same_failure_again_and_again_is_a_stall() {
    let world = World::new();
    let idle = ["--until", "X-1", "--agent-cmd", "echo nothing to do"];
    for (flags, attempted) in [(&["--stall", "2"][..], 2), (&[][..], 3)] {
        let result = world.exec(&[&idle[..], flags, &["--json", "go"]].concat()).expect(3).result();
        assert_eq!(end(&result), ("stalled", "stall", [attempted, attempted, 0]));
    }
    // Digits differ from run to run; the failure is the same.
    let check = "echo \"1 of $(wc -l < log) failed\"; false";
    let words = ["--check", check, "--stall", "2", "--agent-cmd", "date +%N >> log", "--json", "go"];
    let result = world.exec(&words).expect(3).result();
    assert_eq!(end(&result), ("stalled", "stall", [2, 2, 0]));
    // Another failure each time is progress of a kind, and pure loops never stall.
    let check = "tail -n 1 log | tr 0-9 a-j; false";
    let agent = "echo $DACAPO_ITERATION$(wc -c < log) >> log";
    let words = ["--check", check, "--stall", "2", "--max-iterations", "4", "--agent-cmd", agent, "--json"];
    let result = world.exec(&[&words[..], &["go"]].concat()).expect(3).result();
    assert_eq!(end(&result), ("max_reached", "iterations", [4, 4, 0]));
    let result = world.exec(&["--iter", "5", "--agent-cmd", "true", "--json", "go"]).expect(0).result();
    assert_eq!(World::counts(&result), [5, 5, 0]);
}

#[test]
fn l10_a_budget_ends_the_turn_in_which_it_is_used_up_and_keeps_its_work() {
    for flags in [["--max-tokens", "1000"], ["--max-cost", "0.50"]] {
        let world = World::new();
        let agent = world.rehearsal(
            "iterations:\n  - - write: { path: a, text: 'work' }\n    - usage: { input: 400, output: 100, cost_usd: 0.2 }\n    - usage: { input: 900, output: 200, cost_usd: 0.6 }\n    - hang: true\n",
        );
        let words = ["--name", "t", "--agent", &agent, "--iter", "5", "--json"];
        let result = world.exec(&[&words[..], &flags, &["go"]].concat()).expect(3).result();
        assert_eq!(
            (&result["outcome"], &result["stop_reason"]),
            (&json!("budget_exhausted"), &json!("budget"))
        );
        assert_eq!(result["tokens"], json!({"input": 900, "output": 200, "cached": 0}));
        assert_eq!(result["cost_usd"], json!(0.6));
        assert_eq!(world.tree("HEAD"), ["README.md", "a"]);
        assert_eq!(result["last_commit"], world.git(&["rev-parse", "HEAD"]));
        world.assert_nothing_left("t");
    }
}

#[test]
fn l10_a_budget_counts_over_iterations() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - write: { path: a, text: '{iteration}' }\n    - usage: { input: 300, output: 100, cost_usd: 0.02 }\n",
    );
    let words = ["--name", "t", "--agent", &agent, "--iter", "9", "--max-tokens", "1000", "--json", "go"];
    let result = world.exec(&words).expect(3).result();
    assert_eq!(result["outcome"], "budget_exhausted");
    // The third turn may be over before it is stopped.
    assert_eq!(result["iterations_attempted"], 3);
    assert_eq!(result["tokens"], json!({"input": 900, "output": 300, "cached": 0}));
    assert_eq!(world.subjects().len(), 4);
}

#[test]
fn l10_a_budget_that_cannot_be_held_is_refused() {
    let world = World::new();
    for flag in ["--max-cost", "--max-tokens"] {
        let ran = world.exec(&[flag, "5", "--iter", "2", "--agent-cmd", "cat", "go"]).expect(2);
        assert!(ran.stderr.contains("reports no usage"), "{}", ran.stderr);
        assert!(ran.stderr.contains("\n  do:   "), "{}", ran.stderr);
    }
    assert_eq!(world.tasks(), [] as [&str; 0]);
}

#[test]
fn l10_a_budget_in_money_needs_to_know_what_is_spent() {
    let world = World::new();
    let server = ModelServer::start(|_: &Call| Reply::say("Adds a file.").into());
    let agent = world.rehearsal("iterations: [[write: { path: '{iteration}', text: x }]]");
    let words =
        ["--agent", &agent, "--summary-model", "native:tiny", "--max-cost", "1", "--iter", "3", "--json"];
    let words = [&words[..], &["go"]].concat();
    let endpoint = format!("[agents.native]\napi = \"openai\"\nbase_url = \"{}\"\n", server.url());
    world.config(&endpoint);
    let ran = world.exec(&words).expect(2);
    ran.says("agent 'native' does not report its cost: --max-cost cannot be enforced");
    ran.says("set [prices.\"tiny\"] input = …").says("--max-tokens works without prices");
    assert_eq!((world.tasks(), server.requests().len()), (Vec::new(), 0));
    // A dollar a token: the first summary is over the budget.
    world.config(&format!("{endpoint}[prices.tiny]\ninput = 1000000.0\noutput = 1000000.0\n"));
    let result = world.exec(&words).expect(3).result();
    assert_eq!(end(&result), ("budget_exhausted", "budget", [1, 1, 0]));
    let charged = server.usage(CallKind::Side);
    assert_eq!(result["cost_usd"], (charged.input + charged.output) as f64);
}

#[test]
fn l10_agents_that_name_no_cost_are_priced_by_the_config_or_refused() {
    let mut held = 0;
    for adapter in dacapo_core::agent::BUILT_IN.iter().filter(|adapter| !adapter.reports_cost()) {
        let name = adapter.name();
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../dacapo-core/tests/fixtures/agents");
        let fixture = std::path::Path::new(fixtures).join(name).join("multi.jsonl");
        let world = World::new();
        let said = fixture.display();
        world.program(name, &format!("#!/bin/sh\ncat > /dev/null\necho $$ > f\ncat {said}\n"));
        let words = ["--agent", name, "--model", "m-1", "--max-cost", "1", "--iter", "3", "--json", "go"];
        let ran = world.exec(&words).expect(2);
        ran.says(&format!("agent '{name}' does not report its cost")).says("[prices.\"m-1\"]");
        assert_eq!(world.tasks(), [] as [&str; 0], "{name}");
        // A dollar a token: whatever the fixture says it used is over the budget.
        world.config("[prices.m-1]\ninput = 1000000.0\noutput = 1000000.0\n");
        let result = world.exec(&words).result();
        let tokens = &result["tokens"];
        let used = tokens["input"].as_u64().unwrap() + tokens["output"].as_u64().unwrap();
        // Some tell their usage in a file that nobody writes here.
        if used > 0 {
            assert_eq!(result["outcome"], "budget_exhausted", "{name}: {result}");
            let cost = result["cost_usd"].as_f64().unwrap();
            assert!((cost - used as f64).abs() < 0.5, "{name}: {cost} for {used}");
            held += 1;
        }
    }
    assert!(held > 0, "some agent was held to its budget");
}

#[test]
fn l10_a_budget_ends_a_loop_whose_usage_nobody_knows() {
    for (flag, report) in [
        (["--max-cost", "1"], r#""usage":{"input_tokens":5,"output_tokens":5}"#),
        (["--max-cost", "1"], r#""total_cost_usd":null,"usage":{"input_tokens":5,"output_tokens":5}"#),
        (["--max-cost", "1"], r#""total_cost_usd":-3,"usage":{"input_tokens":5,"output_tokens":5}"#),
        (["--max-cost", "1"], r#""total_cost_usd":"0.2","usage":{"input_tokens":5,"output_tokens":5}"#),
        (["--max-cost", "1"], r#""total_cost_usd":1e300,"usage":{"input_tokens":5,"output_tokens":5}"#),
        (["--max-tokens", "99"], r#""total_cost_usd":0.1"#),
        (["--max-tokens", "99"], r#""total_cost_usd":0.1,"usage":{"input_tokens":"5","output_tokens":5}"#),
        (["--max-tokens", "99"], r#""total_cost_usd":0.1,"usage":{"input_tokens":5}"#),
    ] {
        let world = World::new();
        let result = format!(r#"{{"type":"result","subtype":"success","is_error":false,{report}}}"#);
        world.program("claude", &format!("#!/bin/sh\ncat > /dev/null\necho $$ > f\necho '{result}'\n"));
        let words =
            [&["--name", "t", "--agent", "claude", "--iter", "5", "--json"][..], &flag, &["go"]].concat();
        let result = world.exec(&words).expect(3).result();
        assert_eq!(end(&result), ("budget_exhausted", "budget", [2, 2, 0]), "{report}");
        let detail = &result["detail"];
        assert_eq!(
            (&detail["what"], &detail["agent"]),
            (&json!("usage_unknown"), &json!("claude")),
            "{detail}"
        );
        let shown = world.run(&["status", "t"]).expect(0).stdout;
        assert!(shown.contains("usage unknown: claude reported no usable "), "{shown}");
        let notices = world.notices("t");
        let said = notices.iter().filter(|notice| notice.starts_with("usage unknown"));
        assert_eq!(said.count(), 1, "{notices:?}");
    }
}

#[test]
fn l10_every_agent_that_may_take_over_is_held_to_the_budget_before_it_starts() {
    let world = World::new();
    let rehearsal = world.rehearsal("iterations:\n  - - say: done\n");
    let agents = format!("{rehearsal},codex");
    world.program("codex", "#!/bin/sh\nexit 1\n");
    for (words, says) in [
        (["--agent", agents.as_str()], "agent 'codex' does not report its cost"),
        (["--agent-cmd", "true"], "prints plain text and reports no usage"),
    ] {
        let words = [&words[..], &["--max-cost", "1", "--iter", "2", "go"]].concat();
        world.exec(&words).expect(2).says(says);
        assert_eq!(world.tasks(), [] as [&str; 0]);
    }
}

#[test]
fn l9_a_usage_limit_is_waited_for_and_costs_no_failure() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - write: { path: a, text: half }\n    - limit: { resets_in: 1s, message: 'limit reached' }\n    - write: { path: a, text: whole }\n",
    );
    let ran = world.exec(&["--name", "t", "--agent", &agent, "--iter", "2", "go"]).expect(0);
    assert!(ran.stdout.contains("waiting until ") && ran.stdout.contains("limit reached"), "{}", ran.stdout);
    let status = world.status("t");
    assert_eq!(end(&status["result"]), ("completed", "iterations", [2, 2, 0]));
    let turns: Vec<(u64, String)> = world
        .events("t", "turn_finished")
        .iter()
        .map(|turn| (turn["iteration"].as_u64().unwrap(), turn["end"].as_str().unwrap().to_owned()))
        .collect();
    let (limit, done) = ("limit".to_owned(), "done".to_owned());
    assert_eq!(turns, [(0, limit.clone()), (0, done.clone()), (1, limit), (1, done)]);
    let waits = world.events("t", "waiting");
    assert!(waits.len() == 2 && waits.iter().all(|wait| wait["why"] == "limit"), "{waits:?}");
    assert_eq!(world.events("t", "wait_over").len(), 2);
    assert_eq!(world.git(&["show", "HEAD:a"]), "whole");
}

#[test]
fn l9_a_limit_that_lasts_longer_than_allowed_ends_it_and_keeps_the_work() {
    let world = World::new();
    let agent = world
        .rehearsal("iterations:\n  - - write: { path: a, text: half }\n    - limit: { resets_in: 2h }\n");
    let words = ["--name", "t", "--agent", &agent, "--iter", "3", "--max-wait", "1h", "--json", "go"];
    let result = world.exec(&words).expect(3).result();
    assert_eq!((&result["outcome"], &result["stop_reason"]), (&json!("time_elapsed"), &json!("limit_wait")));
    assert_eq!(world.tree("HEAD"), ["README.md", "a"]);
    assert_eq!(world.events("t", "waiting").len(), 0);
}

#[test]
fn l9_the_next_agent_takes_over_instead_of_waiting() {
    let world = World::new();
    let limited = "iterations:\n  - - limit: { resets_in: 2h, attempts: 9 }\n";
    let works = "iterations:\n  - - write: { path: a, text: '{iteration}' }\n";
    world.config(&(world.scripted("one", limited) + &world.scripted("two", works)));
    let ran = world.exec(&["--name", "t", "--agent", "one,two", "--iter", "2", "go"]).expect(0);
    assert!(ran.stdout.contains("two takes over"), "{}", ran.stdout);
    let agents: Vec<String> = world
        .events("t", "turn_started")
        .iter()
        .map(|turn| format!("{} {}", turn["iteration"], turn["agent"].as_str().unwrap()))
        .collect();
    assert_eq!(agents, ["0 one", "0 two", "1 two"]);
    assert_eq!(world.status("t")["agent"], "two");
    assert_eq!(world.events("t", "waiting").len(), 0);
}

#[test]
fn l9_when_all_agents_are_limited_it_waits() {
    // Neither says when its limit ends: handing the turn to and fro would never end.
    for resets in ["", "resets_in: 5h, "] {
        let world = World::new();
        let limited = format!("iterations:\n  - - limit: {{ {resets}attempts: 99 }}\n");
        world.config(&(world.scripted("one", &limited) + &world.scripted("two", &limited)));
        let words = ["--name", "t", "--agent", "one,two", "--iter", "2", "--max-wait", "1s", "--json", "go"];
        let result = world.exec(&words).expect(3).result();
        assert_eq!(result["stop_reason"], "limit_wait");
        assert_eq!(world.events("t", "turn_started").len(), 2, "each was asked once");
    }
}

#[test]
fn l9_the_agent_whose_limit_ends_first_goes_on() {
    let world = World::new();
    let soon = "iterations:\n  - - limit: { resets_in: 1s }\n    - write: { path: a, text: x }\n";
    let late = "iterations:\n  - - limit: { resets_in: 5h, attempts: 99 }\n";
    world.config(&(world.scripted("one", soon) + &world.scripted("two", late)));
    let words = ["--name", "t", "--agent", "one,two", "--iter", "1", "--max-wait", "1h", "--json", "go"];
    let result = world.exec(&words).expect(0).result();
    assert_eq!(World::counts(&result), [1, 1, 0]);
    let turns = world.events("t", "turn_started");
    let agents: Vec<&str> = turns.iter().map(|turn| turn["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["one", "two", "one"]);
}

#[test]
fn l12_a_turn_that_takes_too_long_is_ended_and_the_loop_goes_on() {
    let world = World::new();
    // Longer than the second iteration can take on any machine.
    for (name, flag, limit, message) in [
        ("a", "--turn-timeout", "6s", "not finished within --turn-timeout (6s)"),
        ("b", "--idle-timeout", "3s", "no output and no activity for --idle-timeout (3s)"),
    ] {
        let agent = world.rehearsal(
            "iterations:\n  - - write: { path: a, text: '{task}' }\n    - hang: true\n  - - write: { path: b, text: '{task}' }\n",
        );
        let words = ["--name", name, "--agent", &agent, flag, limit, "--iter", "2", "--json", "go"];
        let result = world.exec(&words).expect(0).result();
        assert_eq!(World::counts(&result), [2, 1, 1], "{flag}");
        let failed = &world.events(name, "iteration_finished")[0];
        assert_eq!((&failed["success"], &failed["error"]), (&json!(false), &json!(message)));
        assert_eq!(world.git(&["show", "HEAD~1:a"]), name, "what it left is kept");
        world.assert_nothing_left(name);
    }
}

#[test]
fn l12_an_agent_that_is_silent_but_busy_lives() {
    let world = World::new();
    let agent = world.rehearsal("iterations:\n  - - spin: 5s\n    - write: { path: a, text: x }\n");
    let words = ["--name", "t", "--agent", &agent, "--idle-timeout", "2s", "--iter", "1", "--json", "go"];
    let result = world.exec(&words).expect(0).result();
    assert_eq!(World::counts(&result), [1, 1, 0]);
}

#[test]
fn l9_two_scripts_of_the_scripted_agent_take_over_from_each_other() {
    let world = World::new();
    let limited = world.rehearsal("iterations:\n  - - limit: { resets_in: 2h, attempts: 9 }\n");
    let other = world.scratch("other.yaml");
    std::fs::write(&other, "iterations:\n  - - write: { path: a, text: x }\n").unwrap();
    let both = format!("{limited},rehearsal:{}", other.display());
    let ran = world.exec(&["--name", "t", "--agent", &both, "--iter", "1", "go"]).expect(0);
    assert!(ran.stdout.contains("rehearsal-2 takes over"), "{}", ran.stdout);
    assert_eq!(world.tree("HEAD"), ["README.md", "a"]);
    let twice = format!("{limited},{limited}");
    let ran = world.exec(&["--agent", &twice, "--iter", "1", "go"]).expect(2);
    assert!(ran.stderr.contains("is named twice"), "{}", ran.stderr);
}
