//! What the turn makes of an adapter's knowledge: last words on standard error, retries in vain, withheld tools. The
//! agents are scripts that print what the real ones do; the real ones are in `e2e_agents`.

use crate::support::World;

/// A world whose `name` on PATH is this shell script.
fn world_with(name: &str, script: &str) -> World {
    let world = World::new();
    world.program(name, &format!("#!/bin/sh\ncat > prompt\n{script}\n"));
    world
}

const GEMINI_STARTS: &str = r#"echo '{"type":"init","session_id":"s"}'"#;

#[test]
fn l8_the_last_words_know_what_the_stream_does_not() {
    let script = format!(
        "{GEMINI_STARTS}
         echo '{{\"type\":\"result\",\"status\":\"error\",\"error\":{{\"message\":\"[API Error: no such thing]\"}}}}'
         echo 'Error when talking to Gemini API Full report: /r ModelNotFoundError: no such thing' >&2
         exit 1"
    );
    let world = world_with("gemini", &script);
    let ran = world.exec(&["--name", "t", "--iter", "5", "--agent", "gemini", "--json", "go"]).expect(1);
    assert_eq!(World::counts(&ran.result()), [1, 0, 1], "it will not heal");
    let error = &world.events("t", "iteration_finished")[0]["error"];
    assert!(error.as_str().unwrap().starts_with("the model is not found: "), "{error}");
}

#[test]
fn l9_retries_on_standard_error_are_shown_and_a_limit_that_never_ends_is_one() {
    let script = format!(
        "{GEMINI_STARTS}
         for i in $(seq 1 45); do
             echo \"Attempt $i failed with status 429. Retrying with backoff... _ApiError: slow down\" >&2
         done
         exec sleep 987"
    );
    let world = world_with("gemini", &script);
    let ran = world.exec(&["--name", "t", "--iter", "2", "--agent", "gemini", "--max-wait", "1s", "go"]);
    assert!(ran.stdout.contains("retrying: 429: _ApiError: slow down"), "{}", ran.stdout);
    let turn = &world.events("t", "turn_finished")[0];
    assert_eq!(turn["end"], "limit", "{turn}");
    world.assert_nothing_left("t");
}

#[test]
fn l12_an_agent_that_asks_a_broken_model_for_ever_is_ended() {
    let step = r#"echo '{"type":"step_start","sessionID":"s"}'
        echo '{"type":"text","sessionID":"s","part":{"text":"pon"}}'
        echo '{"type":"step_finish","sessionID":"s","part":{"reason":"unknown","tokens":{"input":1,"output":1}}}'"#;
    let world = world_with("opencode", &format!("while :; do\n{step}\ndone"));
    let words = ["--name", "t", "--agent", "opencode", "--json", "go"];
    let ran = world.exec(&words).expect(1);
    assert_eq!(World::counts(&ran.result()), [1, 0, 1]);
    let turn = &world.events("t", "turn_finished")[0];
    assert_eq!(turn["failure"], "transient", "{turn}");
    assert!(turn["fault"]["message"].as_str().unwrap().contains("40 attempts"), "{turn}");
    assert_eq!(turn["session_id"], "s");
    world.assert_nothing_left("t");
}

#[test]
fn a8_tools_that_were_never_offered_are_missed_where_nothing_was_done() {
    let done = format!("{GEMINI_STARTS}\necho '{{\"type\":\"result\",\"status\":\"success\"}}'");
    let world = world_with("gemini", &done);
    world.config("[agents.g]\ncommand = [\"gemini\", \"-o\", \"stream-json\"]\noutput = \"gemini\"\n");
    let _ = world.exec(&["--name", "t", "--agent", "g", "go"]);
    // The prompt that the script keeps is a change, but not in a second iteration.
    let _ = world.exec(&["--name", "u", "--agent", "g", "go"]).expect(1);
    let error = world.events("u", "iteration_finished")[0]["error"].as_str().unwrap().to_owned();
    let expected =
        "g had no tools that can change files, and changed nothing; put --yolo into the agent's command";
    assert_eq!(error, expected);
    let _ = world.exec(&["--name", "v", "--agent", "gemini", "go"]).expect(0);
}

/// As 2.0.10 does it: a flag that it does not know ends it at once; else the user's own background server does the work.
const OPENCODE_2: &str = r#"case " $* " in *" --version "*) echo 2.0.10; exit;; esac
case " $* " in *" --dir"*) printf 'ERROR\n  Unrecognized flag: --dir in command opencode run\n' >&2; exit 1;; esac
touch served
echo '{"type":"step_start","sessionID":"s"}'
echo '{"type":"step_finish","sessionID":"s","part":{"reason":"stop","tokens":{"input":1,"output":1}}}'"#;

#[test]
fn k6_opencode_2_is_ended_before_its_server_does_anything() {
    let world = world_with("opencode", OPENCODE_2);
    let words = ["--name", "t", "--iter", "5", "--agent", "opencode", "--json", "go"];
    let ran = world.exec(&words).expect(1);
    assert_eq!(World::counts(&ran.result()), [1, 0, 1], "another turn would not go better");
    assert!(!world.repo().join("served").exists(), "its server has worked");
    let error = &world.events("t", "iteration_finished")[0]["error"];
    let expected = "opencode 2 runs its tools in a background server that it shares with all sessions, where they \
                    cannot be ended; install opencode 1: `npm install -g opencode-ai@1`";
    assert_eq!(error, expected);

    let ran = world.run(&["doctor", "opencode"]);
    assert!(ran.stdout.contains("opencode 2 runs its tools in a background server"), "{}", ran.stdout);
}
