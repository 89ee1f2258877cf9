//! The real agents with another model write summaries and commit messages, and change nothing (C4, C5).

use serde_json::json;

use crate::agents::{Agent, CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, QWEN, Retries};
use crate::model_server::{CallKind, Reply, Usage};
use crate::rig::Rig;
use crate::scripts::writer;
use crate::work::counts;

/// What stands in the prompt for a summary, and in the one for a message.
const ASKS: [&str; 2] = ["<conversation>", "Write the message of a git commit."];

/// One iteration, then the agent once more with `model` for each of the two; the server hears of it as `heard`.
fn by_another_model(agent: &'static Agent, model: &str, heard: &str) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |repo| {
        let work = writer(agent, repo);
        move |call| {
            let history = call.history();
            if history.contains(ASKS[0]) {
                Reply::say("Here is the summary:\n\nAdds a file by its own tool. It has one line.").into()
            } else if history.contains(ASKS[1]) {
                Reply::say("```\nAdd the first file\n\nSomebody asked for it.\n```").into()
            } else {
                work(call)
            }
        }
    });
    rig.configure(&format!("[prices.{model:?}]\ninput = 1.0\noutput = 2.0\n"));
    let models = ["--summary-model", model, "--commit-message-model", model];
    let ran =
        rig.exec(&[&["--iter", "1", "--max-cost", "5"][..], &models, &["Add a file."]].concat()).expect(0);
    let result = ran.result();
    assert_eq!(counts(&result), [1, 1, 0]);

    let world = &rig.world;
    let record = world.events("t", "iteration_finished").remove(0);
    assert_eq!(record["summary"], "Adds a file by its own tool. It has one line.", "{}", rig.last_words());
    let message = world.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("[iter-0] Add the first file\n\nSomebody asked for it.\n\nDacapo-"),
        "{message}"
    );
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "README.md\nfile-0.txt");
    assert_eq!(world.git(&["status", "--porcelain"]), "");

    let calls = server.requests();
    let asked = |what: &str| -> Vec<(String, Usage)> {
        let all = calls.iter().filter_map(|one| Some((one.call.as_ref()?, one.usage?)));
        all.filter(|(call, _)| call.history().contains(what))
            .map(|(call, usage)| (call.model.clone(), usage))
            .collect()
    };
    let mut sum = (rig.agent.tells)(
        calls
            .iter()
            .filter(|one| one.is(CallKind::Main))
            .filter(|one| {
                one.call.as_ref().is_some_and(|call| !ASKS.iter().any(|ask| call.history().contains(ask)))
            })
            .filter_map(|one| one.usage)
            .sum(),
    );
    for (what, event) in ASKS.iter().zip(world.events("t", "written")) {
        // Some ask a question of their own about it, without tools; that is none of the answer.
        let (by, usage) = asked(what).pop().unwrap_or_else(|| panic!("nobody was asked: {event}"));
        assert!(by.contains(heard), "{by} was asked, not {heard}");
        let usage = (rig.agent.tells)(usage);
        assert_eq!((&event["end"], &event["by"]), (&json!("done"), &json!(model)));
        assert_eq!(event["tokens"]["input"], usage.input, "{event}");
        assert!(event["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0), "{event}");
        sum += usage;
    }
    assert_eq!(
        result["tokens"],
        json!({ "input": sum.input, "output": sum.output, "cached": sum.cached }),
        "calls beside turns count"
    );
    world.assert_nothing_left("t");
}

#[test]
fn c4_c5_claude() {
    by_another_model(&CLAUDE, "haiku", "haiku");
}

#[test]
fn c4_c5_codex() {
    by_another_model(&CODEX, "gpt-5.4-mini", "gpt-5.4-mini");
}

#[test]
fn c4_c5_copilot() {
    by_another_model(&COPILOT, "gpt-5-mini", "gpt-5-mini");
}

#[test]
fn c4_c5_gemini() {
    by_another_model(&GEMINI, "gemini-2.5-flash", "gemini-2.5-flash");
}

#[test]
fn c4_c5_opencode() {
    by_another_model(&OPENCODE, "scripted/scripted", "scripted");
}

#[test]
fn c4_c5_qwen() {
    by_another_model(&QWEN, "qwen-small", "qwen-small");
}
