//! The agent under the engine: commits, usage and limits as for any other, and nothing left after Ctrl-C.

use serde_json::json;

use super::desk::{APIS, KEY};
use crate::model_server::{Call, CallKind, Failure, Last, ModelServer, Reply, ToolUse};
use crate::support::{World, wait_for};

/// `--agent native`, as the config describes its endpoint.
fn configure(world: &World, api: &str, url: &str) {
    world.config(&format!(
        "agent = \"native\"\n[agents.native]\napi = \"{api}\"\nbase_url = \"{url}\"\nmodel = \"m\"\n\
         key_env = \"MY_KEY\"\nenv = {{ MY_KEY = \"{KEY}\" }}\n[prices.m]\ninput = 1.0\noutput = 2.0\n"
    ));
}

#[test]
fn a6_what_the_config_does_not_say_is_asked_for_before_anything_starts() {
    let world = World::new();
    world.config("agent = \"native\"\n");
    let refused = world.exec(&["go"]).expect(2);
    assert!(refused.stderr.contains("[agents.native] api"), "{}", refused.stderr);
    world.config("agent = \"native\"\n[agents.native]\napi = \"openai\"\n");
    let refused = world.exec(&["go"]).expect(2);
    assert!(refused.stderr.contains("--model M"), "{}", refused.stderr);
    let refused = world.exec(&["--model", "m", "--approval", "ask", "go"]).expect(2);
    assert!(refused.stderr.contains("--approval edits"), "{}", refused.stderr);
}

#[test]
fn a6_three_iterations_three_commits_and_what_they_used() {
    for (api, session) in APIS.into_iter().zip(["fresh", "resume"]) {
        let server = ModelServer::start(|call: &Call| match call.last() {
            Last::Prompt(_) => {
                let path = format!("file-{}", call.number);
                Reply::call(ToolUse::new("write_file", json!({"path": path, "content": "x"}))).into()
            }
            Last::Result(_) => Reply::say(format!("Wrote a file at call {}.", call.number)).into(),
        });
        let world = World::new();
        configure(&world, api, &server.url());
        let words = ["--name", "t", "--iter", "3", "--session", session, "--json", "Write a file"];
        let result = world.exec(&words).expect(0).result();
        let subjects = world.subjects();
        assert_eq!(
            subjects,
            [
                "[iter-2] Wrote a file at call 5",
                "[iter-1] Wrote a file at call 3",
                "[iter-0] Wrote a file at call 1",
                "first"
            ],
        );
        let charged = server.usage(CallKind::Main);
        assert_eq!(
            result["tokens"],
            json!({"input": charged.input, "output": charged.output, "cached": charged.cached}),
            "{result}"
        );
        let cost = (charged.input as f64 + 2.0 * charged.output as f64) / 1e6;
        assert!((result["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9, "{result}");
        let asked = server.calls(CallKind::Main);
        let answered =
            asked[4].said.iter().filter(|said| matches!(said, crate::model_server::Said::Model(_))).count();
        assert_eq!(answered > 0, session == "resume", "the model sees the history where the session goes on");
        world.assert_nothing_left("t");
    }
}

#[test]
fn l9_a_limit_is_waited_for_by_the_loop() {
    let server = ModelServer::start(|call: &Call| match call.number {
        0 => Failure::limited(Some(1)).into(),
        _ => Reply::say("Done.").into(),
    });
    let world = World::new();
    configure(&world, "anthropic", &server.url());
    let result = world.exec(&["--name", "t", "--iter", "1", "--json", "go"]).expect(0).result();
    assert_eq!(World::counts(&result), [1, 1, 0]);
    assert_eq!(server.calls(CallKind::Main).len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn l14_ctrl_c_while_its_shell_runs_leaves_nothing_and_keeps_the_work() {
    use rustix::process::{Pid, Signal, kill_process};
    let command = "echo half > half; setsid sleep 987 & echo up > ../up; sleep 987";
    let server = ModelServer::start(move |_: &Call| {
        Reply::call(ToolUse::new("shell", json!({ "command": command }))).into()
    });
    let world = World::new();
    configure(&world, "openai", &server.url());
    let mut command = world.command(&["exec", "--name", "t", "--iter", "3", "--quiet", "go"]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("the tool to run", || world.scratch("up").exists());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    world.assert_nothing_left("t");
    assert_eq!(world.git(&["show", "HEAD:half"]), "half");
}
