//! Work that goes well: commits, sessions, tokens, cost (A1, A3, C4, L10, L13).

use std::collections::BTreeSet;

use dacapo_core::agent::BUILT_IN;
use serde_json::{Value, json};

use crate::agents::{Agent, Retries};
use crate::model_server::{CallKind, ModelServer, Usage};
use crate::rig::Rig;
use crate::running::Running;
use crate::scripts::writer;

/// Three iterations, each in a conversation of its own.
pub(crate) fn three_iterations(agent: &'static Agent) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    let ran = rig.exec(&["--iter", "3", "Add a file."]).expect(0);
    let result = ran.result();
    assert_eq!(counts(&result), [3, 3, 0]);

    let world = &rig.world;
    for number in 0..3 {
        let commit = format!("HEAD~{}", 2 - number);
        let files = world.git(&["diff", "--name-status", &format!("{commit}~1"), &commit]);
        assert_eq!(files, format!("A\tfile-{number}.txt"), "made by its own tool, and nothing else");
        assert_eq!(world.git(&["show", &format!("{commit}:file-{number}.txt")]), format!("text {number}"));
        let subject = world.git(&["log", "-1", "--format=%s", &commit]);
        assert!(subject.starts_with(&format!("[iter-{number}] Added file-{number}.txt")), "{subject}");
        let trailers = world.git(&["log", "-1", "--format=%(trailers:only,unfold)", &commit]);
        let expected = format!("Dacapo-Task: t\nDacapo-Iteration: {number}\nDacapo-Outcome: success");
        assert_eq!(trailers.trim(), expected);
    }
    assert_eq!(world.git(&["status", "--porcelain"]), "");

    let sessions = rig.sessions();
    let own: BTreeSet<String> = (agent.sessions)(&world.home()).into_iter().collect();
    assert_eq!(sessions.iter().cloned().collect::<BTreeSet<_>>(), own, "the agent's own ids");
    assert_eq!(own.len(), 3, "one conversation for each iteration: {sessions:?}");
    accounts(&rig, &server, &result);
    assert_eq!(server.unknown(), Vec::<String>::new());
    world.assert_nothing_left("t");
}

/// Two iterations in one conversation.
pub(crate) fn session_resume(agent: &'static Agent) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    let ran = rig.exec(&["--iter", "2", "--session", "resume", "Add the crimson file."]).expect(0);
    let result = ran.result();
    assert_eq!(counts(&result), [2, 2, 0]);

    let sessions = rig.sessions();
    assert_eq!((agent.sessions)(&rig.world.home()), [sessions[0].clone()], "one conversation: {sessions:?}");
    assert_eq!(sessions[0], sessions[1]);

    let calls = server.calls(CallKind::Main);
    assert_eq!(calls.len(), 4, "two for each turn");
    let history = calls[2].history();
    for earlier in ["crimson", "Added file-0.txt with one line."] {
        assert!(history.contains(earlier), "the model is told what went before, '{earlier}':\n{history}");
    }
    assert!(!calls[0].history().contains("Added file-0.txt"), "and not before it happened");
    accounts(&rig, &server, &result);
    rig.world.assert_nothing_left("t");
}

/// A prompt that no command line can hold arrives whole.
pub(crate) fn long_prompt(agent: &'static Agent) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    // codex takes 1,048,576 characters at most.
    let middle = "lorem ipsum dolor sit amet\n".repeat(37_100);
    let file = rig.world.scratch("prompt");
    std::fs::write(&file, format!("it begins here\n{middle}and it ends there")).unwrap();
    let file = file.to_string_lossy().into_owned();
    let ran = rig.exec(&["--iter", "1", "--prompt-file", &file]).expect(0);
    assert_eq!(counts(&ran.result()), [1, 1, 0]);
    let history = server.calls(CallKind::Main)[0].history();
    assert!(history.len() > 1_000_000, "{} bytes", history.len());
    assert!(history.contains("it begins here") && history.contains("and it ends there"));
}

/// An agent that may not do what it is asked to does nothing, says that all is well, and is not believed.
pub(crate) fn without_permission(agent: &'static Agent) {
    let (rig, _server) = Rig::start(agent, Retries::AsShipped, |repo| writer(agent, repo));
    rig.configure(&format!("[agents.shy]\ncommand = {:?}\noutput = {:?}\n", agent.shy, agent.cli));
    let ran = Running::start(rig.command_of("shy", &["--iter", "1", "Add a file."])).finish();
    assert_eq!(rig.world.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "README.md", "{}", ran.stdout);
    let helps = BUILT_IN.iter().find(|adapter| adapter.name() == agent.cli).unwrap().unattended()[0];
    let turns = rig.turns();
    let refused = turns[0]["not_allowed"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("{}\n{}", turns[0], rig.last_words()));
    assert!(refused.contains(helps), "it does not name {helps}: {refused}");
}

/// Tokens and money of each turn, and of the task, are those that the server charged.
fn accounts(rig: &Rig, server: &ModelServer, result: &Value) {
    let charged: Vec<Usage> =
        server.requests().iter().filter(|one| one.is(CallKind::Main)).map(|one| one.usage.unwrap()).collect();
    let turns = rig.turns();
    // Each turn is a call that uses a tool and one that says so.
    let mut sum = Usage::default();
    for (turn, calls) in turns.iter().zip(charged.chunks(2)) {
        let expected = (rig.agent.tells)(calls.iter().copied().sum());
        let usage = &turn["tokens"];
        let told = [&usage["input"], &usage["output"], &usage["cached"]];
        assert_eq!(
            told,
            [expected.input, expected.output, expected.cached].map(|n| json!(n)).each_ref(),
            "{turn}"
        );
        let cost = turn["cost_usd"].as_f64().unwrap_or_else(|| panic!("no cost in {turn}"));
        assert!((cost - rig.agent.price.of(expected)).abs() < 1e-9, "{cost} for {expected:?}");
        sum += expected;
    }
    assert_eq!(turns.len() * 2, charged.len());
    assert_eq!(result["tokens"], json!({ "input": sum.input, "output": sum.output, "cached": sum.cached }));
    let cost = result["cost_usd"].as_f64().unwrap();
    assert!((cost - rig.agent.price.of(sum)).abs() < 1e-9, "{cost} for {sum:?}");
}

/// `iterations_attempted`, `_succeeded`, `_failed`.
pub(crate) fn counts(result: &Value) -> [u64; 3] {
    ["iterations_attempted", "iterations_succeeded", "iterations_failed"]
        .map(|field| result[field].as_u64().unwrap())
}
