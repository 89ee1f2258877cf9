//! Agents that try again in vain and agents that are not allowed to do what they were asked: told as it happens, and not
//! taken for work.

use serde_json::json;

use crate::support::World;

fn end(result: &serde_json::Value) -> (&str, &str, [u64; 3]) {
    let text = |field: &str| result[field].as_str().unwrap();
    (text("outcome"), text("stop_reason"), World::counts(result))
}

#[test]
fn a_turn_that_was_refused_and_did_nothing_is_a_failure_that_says_what_would_have_helped() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - say: I will write it.\n    - refuse: write a.txt\n    - refuse: write a.txt\n    - say: All done.\n",
    );
    let words = ["--name", "t", "--agent", &agent, "--iter", "3"];
    let ran = world.exec(&[&words[..], &["go"]].concat()).expect(1);
    ran.says("  not allowed: write a.txt\n")
        .says("rehearsal was not allowed to use write a.txt, and changed nothing; use --approval auto");
    let status = world.status("t");
    assert_eq!(end(&status["result"]), ("failed", "permanent_error", [1, 0, 1]));
    let record = &world.events("t", "iteration_finished")[0];
    assert_eq!((&record["success"], &record["outcome"]), (&json!(false), &json!("failure")));
    let logs = world.run(&["logs", "t"]).expect(0);
    logs.says("Iteration 0 failed: rehearsal was not allowed to use write a.txt, and changed nothing");
    world.assert_nothing_left("t");
}

#[test]
fn a_turn_that_was_refused_here_and_there_but_did_something_is_a_success() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - refuse: shell rm -rf /\n    - write: { path: a, text: '{iteration}' }\n",
    );
    let ran = world.exec(&["--name", "t", "--agent", &agent, "--iter", "2", "go"]).expect(0);
    ran.says("  not allowed: shell rm -rf /\n").silent_about("changed nothing");
    assert_eq!(end(&world.status("t")["result"]), ("completed", "iterations", [2, 2, 0]));
    assert!(world.git(&["log", "-1", "--format=%B"]).ends_with("Dacapo-Outcome: success"));
}

#[test]
fn many_refusals_do_not_fill_the_screen() {
    let world = World::new();
    let refusals: String = (0..40).map(|n| format!("    - refuse: tool {n}\n")).collect();
    let agent = world.rehearsal(&format!("iterations:\n  - - say: hm\n{refusals}"));
    let ran = world.exec(&["--name", "t", "--agent", &agent, "--iter", "2", "go"]).expect(1);
    assert_eq!(ran.stdout.matches("  not allowed: ").count(), 5, "{}", ran.stdout);
    ran.says("not allowed to use tool 0, tool 1, tool 2, tool 3, tool 4, and");
}

#[test]
fn l17_a_model_call_that_is_made_again_is_what_the_agent_is_doing() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - retry: { status: 503, message: overloaded, times: 5 }\n    - retry: no route to host\n    - write: { path: a, text: x }\n",
    );
    let mut command = world.command(&["exec", "--name", "t", "--agent", &agent, "--iter", "1", "go"]);
    let output = command.env("DACAPO_LOG", "info").output().unwrap();
    let ran = crate::support::Ran::from(output).expect(0);
    assert_eq!(ran.stdout.matches("▸ retrying: 503 overloaded\n").count(), 1, "said once: {}", ran.stdout);
    ran.says("▸ retrying: no route to host\n").says("Agent is retrying: 503 overloaded");
    assert_eq!(end(&world.status("t")["result"]), ("completed", "iterations", [1, 1, 0]));
}

#[test]
fn l8_a_login_that_is_refused_again_ends_it_at_once() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - write: { path: a, text: x }\n    - retry: { status: 401, message: invalid key, times: 2 }\n    - hang: true\n",
    );
    let words = ["--name", "t", "--agent", &agent, "--iter", "5", "--json", "go"];
    let result = world.exec(&words).expect(1).result();
    assert_eq!(end(&result), ("failed", "permanent_error", [1, 0, 1]));
    assert_eq!(result["detail"]["message"], "not logged in: invalid key");
    assert_eq!(world.events("t", "turn_finished")[0]["failure"], "permanent");
    assert_eq!(world.tree("HEAD"), ["README.md", "a"], "what it left is kept");
    world.assert_nothing_left("t");
}

#[test]
fn l8_a_login_that_is_refused_once_and_renewed_is_no_failure() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - retry: { status: 401, message: expired }\n    - say: renewed\n    - retry: { status: 401, message: expired }\n    - write: { path: a, text: x }\n",
    );
    let _ = world.exec(&["--agent", &agent, "--iter", "1", "go"]).expect(0);
}

#[test]
fn l12_an_agent_that_tries_for_ever_is_given_up_and_may_heal() {
    let world = World::new();
    let agent = world.rehearsal(
        "iterations:\n  - - retry: { message: connection refused, times: 10000, pause: 1ms }\n    - hang: true\n  - - write: { path: a, text: x }\n",
    );
    let words = ["--name", "t", "--agent", &agent, "--iter", "2", "--json", "go"];
    let result = world.exec(&words).expect(0).result();
    assert_eq!(end(&result), ("completed", "iterations", [2, 1, 1]));
    let failed = &world.events("t", "turn_finished")[0];
    assert_eq!((&failed["end"], &failed["failure"]), (&json!("failed"), &json!("transient")));
    let message = failed["fault"]["message"].as_str().unwrap();
    assert!(message.starts_with("gave up after ") && message.ends_with(": connection refused"), "{message}");
    world.assert_nothing_left("t");
}
