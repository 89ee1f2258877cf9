//! Real agents over the Agent Client Protocol (A2).

use serde_json::{Value, json};

use crate::agents::{Agent, COPILOT_ACP, GEMINI_ACP, OPENCODE_ACP, Retries};
use crate::model_server::{Call, CallKind, Last, Reply, Usage};
use crate::rig::Rig;
use crate::scripts::writer;
use crate::{failures, interrupt, work};

#[test]
fn a2_three_iterations_are_three_commits_with_their_cost() {
    work::three_iterations(&GEMINI_ACP);
}

#[test]
fn l13_a_conversation_goes_on() {
    work::session_resume(&COPILOT_ACP);
}

/// Three iterations in one conversation with one process. The turns, and what was charged for each of their calls.
fn live(agent: &'static Agent) -> (Vec<Value>, Vec<Usage>) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    let ran = rig.exec(&["--iter", "3", "--session", "resume", "Add the crimson file."]).expect(0);
    assert_eq!(work::counts(&ran.result()), [3, 3, 0]);
    for number in 0..3 {
        assert_eq!(rig.world.git(&["show", &format!("HEAD:file-{number}.txt")]), format!("text {number}"));
        // One raw file a turn; the process was opened in the first.
        let raw = rig.world.run(&["logs", "t", "--turn", &number.to_string()]).expect(0).stdout;
        assert_eq!(raw.matches("\"protocolVersion\"").count(), usize::from(number == 0), "{raw}");
        assert_eq!(raw.matches("\"stopReason\"").count(), 1, "{raw}");
    }
    let sessions = rig.sessions();
    assert_eq!(sessions, vec![sessions[0].clone(); 3]);
    let calls = server.calls(CallKind::Main);
    assert_eq!(calls.len(), 6, "two for each turn");
    let history = calls[4].history();
    for earlier in ["Added file-0.txt", "Added file-1.txt"] {
        assert!(history.contains(earlier), "the model is told what went before, '{earlier}':\n{history}");
    }
    rig.world.assert_nothing_left("t");
    let charged =
        server.requests().iter().filter(|one| one.is(CallKind::Main)).map(|one| one.usage.unwrap()).collect();
    (rig.turns(), charged)
}

#[test]
fn a2_a_live_session_serves_three_iterations_of_gemini() {
    let (turns, charged) = live(&GEMINI_ACP);
    for (turn, calls) in turns.iter().zip(charged.chunks(2)) {
        let expected: Usage = calls.iter().copied().sum();
        let told = (turn["tokens"]["input"].as_u64(), turn["tokens"]["output"].as_u64());
        assert_eq!(told, (Some(expected.input), Some(expected.output)), "{turn}");
    }
}

#[test]
fn a2_a_live_session_serves_three_iterations_of_copilot() {
    let (turns, charged) = live(&COPILOT_ACP);
    for (turn, calls) in turns.iter().zip(charged.chunks(2)) {
        let expected: Usage = calls.iter().copied().sum();
        let usage = &turn["tokens"];
        let told = [&usage["input"], &usage["output"], &usage["cached"]];
        assert_eq!(
            told,
            [expected.input, expected.output, expected.cached].map(|n| json!(n)).each_ref(),
            "{turn}"
        );
    }
}

#[test]
fn a2_a_live_session_serves_three_iterations_of_opencode() {
    let (turns, charged) = live(&OPENCODE_ACP);
    for (turn, calls) in turns.iter().zip(charged.chunks(2)) {
        // It tells what the last call used, and what all of them cost.
        assert_eq!(turn["tokens"]["output"].as_u64(), Some(calls[1].output), "{turn}");
        let cost = turn["cost_usd"].as_f64().unwrap();
        let expected = OPENCODE_ACP.price.of(calls.iter().copied().sum());
        assert!((cost - expected).abs() < 1e-9, "{cost} for {expected}");
    }
}

/// Its process is killed after the first turn; the second one takes the conversation up, where the agent can.
fn reopened(agent: &'static Agent) -> (Rig, crate::support::Ran, String) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    // From a room nothing outside of it can be killed.
    let rig = rig.unconfined();
    // All that carries the tag of the task and is the agent. The check itself has the agent's argument in its own, and
    // comes before the agent where its id has one digit more.
    let kill = format!(
        "[ -e file-1.txt ] || for p in /proc/[0-9]*; do [ $p != /proc/$$ ] && \
         tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q -- ' {}' && \
         tr '\\0' '\\n' < $p/environ | grep -q \"^DACAPO_RUN=$DACAPO_RUN$\" && kill -9 ${{p#/proc/}}; done; false",
        agent.config.split('"').nth(3).unwrap()
    );
    let words = [
        "--max-iterations",
        "2",
        "--stall",
        "0",
        "--session",
        "resume",
        "--no-baseline",
        "--check",
        &kill,
        "Add the crimson file.",
    ];
    let ran = rig.exec(&words);
    let calls = server.calls(CallKind::Main);
    let history = calls.get(2).map(Call::history).unwrap_or_default();
    (rig, ran, history)
}

#[test]
fn l13_a_killed_process_is_reopened_by_load_of_copilot() {
    let (rig, ran, history) = reopened(&COPILOT_ACP);
    let ran = ran.expect(3);
    assert!(ran.stdout.contains("\"notice\":\"agent_ended\""), "{}", ran.stdout);
    assert!(history.contains("Added file-0.txt"), "{history}");
    let raw = rig.world.run(&["logs", "t", "--turn", "1"]).expect(0).stdout;
    assert!(raw.contains("user_message_chunk"), "its history was told: {raw}");
    let turn = &rig.turns()[1];
    assert_eq!(
        (&turn["summary"], turn["tokens"]["input"].as_u64() > Some(0)),
        (&json!("Added file-1.txt with one line."), true),
        "{turn}"
    );
    rig.world.assert_nothing_left("t");
}

#[test]
fn l13_a_killed_process_is_reopened_by_resume_of_opencode() {
    let (rig, ran, history) = reopened(&OPENCODE_ACP);
    let ran = ran.expect(3);
    assert!(ran.stdout.contains("\"notice\":\"agent_ended\""), "{}", ran.stdout);
    assert!(history.contains("Added file-0.txt"), "{history}");
    let sessions = rig.sessions();
    assert_eq!(sessions[0], sessions[1]);
    rig.world.assert_nothing_left("t");
}

/// It advertises `session/load`, and this version of it cannot load what it saved over ACP.
#[test]
fn l13_a_killed_process_of_gemini_ends_the_loop_or_is_reopened_but_nothing_begins_anew() {
    let (rig, ran, history) = reopened(&GEMINI_ACP);
    match ran.code {
        3 => assert!(history.contains("Added file-0.txt"), "{history}"),
        1 => {
            let result = ran.result();
            let message = result["detail"]["message"].as_str().unwrap();
            assert!(message.contains("Failed to get session ID for loop follow-up"), "{message}");
        }
        code => panic!("{code}: {}", ran.stdout),
    }
    rig.world.assert_nothing_left("t");
}

/// An edit and a command; only one of them is allowed.
#[test]
fn a8_edits_are_allowed_and_commands_refused() {
    for agent in [&GEMINI_ACP, &COPILOT_ACP] {
        let (rig, _server) = Rig::start(agent, Retries::AsShipped, |repo| {
            move |call: &Call| {
                let results = call
                    .said
                    .iter()
                    .filter(|said| matches!(said, crate::model_server::Said::Result(_)))
                    .count();
                match (call.last(), results) {
                    (Last::Prompt(_), _) => {
                        Reply::call((agent.write)(&repo.join("edited.txt"), "edited\n")).into()
                    }
                    (Last::Result(_), 1) => Reply::call((agent.shell)("echo run > ran.txt")).into(),
                    (Last::Result(_), _) => Reply::say("I did what I could.").into(),
                }
            }
        });
        let ran = rig.exec(&["--iter", "1", "--approval", "edits", "Edit and run."]).expect(0);
        assert_eq!(rig.world.git(&["show", "HEAD:edited.txt"]), "edited");
        assert!(!rig.world.repo().join("ran.txt").exists(), "{}: {}", agent.name, ran.stdout);
        rig.world.assert_nothing_left("t");
    }
}

#[test]
fn a1_a_prompt_of_a_megabyte_arrives() {
    work::long_prompt(&GEMINI_ACP);
}

#[test]
fn l8_not_logged_in_ends_it() {
    for agent in [&GEMINI_ACP, &COPILOT_ACP, &OPENCODE_ACP] {
        failures::not_logged_in(agent);
    }
}

#[test]
fn l9_a_limit_is_waited_for() {
    failures::limited(&GEMINI_ACP);
}

#[test]
fn l12_a_hanging_server_ends_the_turn() {
    failures::hanging(&COPILOT_ACP);
}

#[test]
fn l8_a_cut_answer_may_heal() {
    failures::cut(&GEMINI_ACP);
}

#[test]
fn l8_an_unreachable_server_is_not_tried_for_ever() {
    failures::unreachable(&GEMINI_ACP);
}

#[test]
fn l14_ctrl_c_leaves_no_process_and_keeps_the_work() {
    for agent in [&GEMINI_ACP, &COPILOT_ACP, &OPENCODE_ACP] {
        interrupt::ctrl_c(agent);
    }
}
