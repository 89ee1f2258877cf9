//! Models that fail: what heals, what does not, what is waited for (L8, L9, L12).

use dacapo_core::agent::BUILT_IN;
use jiff::Timestamp;
use serde_json::json;

use crate::agents::{Agent, Retries};
use crate::model_server::{CallKind, ClosedPort, Failure};
use crate::rig::Rig;
use crate::running::Running;
use crate::scripts::{Switch, until, writer};
use crate::work::counts;

/// A login that is refused ends the loop at once, however patient the agent is, and says what to do.
pub(crate) fn not_logged_in(agent: &'static Agent) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |_| |_: &_| Failure::UNAUTHORIZED.into());
    let ran = rig.exec(&["--iter", "3", "Add a file."]).expect(1);
    let result = ran.result();
    assert_eq!((&result["outcome"], counts(&result)), (&json!("failed"), [1, 0, 1]), "{}", rig.last_words());
    let turns = rig.turns();
    assert_eq!(turns.len(), 1);
    let (end, failure) = (&turns[0]["end"], &turns[0]["failure"]);
    assert_eq!((end, failure), (&json!("failed"), &json!("permanent")), "{}", turns[0]);
    let how = BUILT_IN.iter().find(|adapter| adapter.name() == agent.cli).unwrap().how_to_log_in();
    // Who has set a key is told that it was refused, and not to set one.
    let told = result["detail"]["message"].as_str().unwrap();
    let refused = told.starts_with("the key in ") && told.contains(" was refused");
    assert_ne!(refused, told.contains(how), "{told}");
    assert!(!server.calls(CallKind::Main).is_empty());
    rig.world.assert_nothing_left("t");
}

/// A usage limit is waited for, by the agent's own word, and the same iteration goes on.
pub(crate) fn limited(agent: &'static Agent) {
    let over = Switch::default();
    let (mut rig, _server) = Rig::start(agent, Retries::Few, |repo| {
        until(over.clone(), || (agent.limit)().answer.into(), writer(agent, repo))
    });
    let limit = (agent.limit)();
    for (name, value) in limit.account {
        rig.set(name, *value);
    }
    let mut running = Running::start(rig.command(&["--iter", "2", "Add a file."]));
    let waiting = running.wait_for("a word that it waits", |event| event["type"] == "waiting");
    over.turn_on();
    let ran = running.finish().expect(0);
    assert_eq!(counts(&ran.result()), [2, 2, 0], "a limit is no failure");

    assert_eq!(waiting["why"], "limit", "{waiting}");
    let time = |value: &serde_json::Value| value.as_str().unwrap().parse::<Timestamp>().unwrap();
    let wait = time(&waiting["waiting_until"]).duration_since(time(&waiting["at"])).as_secs();
    assert!(
        (0..=limit.lasts).contains(&wait),
        "it waits {wait} s for a limit of {} s: {waiting}",
        limit.lasts
    );
    let turns = rig.turns();
    let numbers: Vec<(u64, &str)> = turns
        .iter()
        .map(|turn| (turn["iteration"].as_u64().unwrap(), turn["end"].as_str().unwrap()))
        .collect();
    assert_eq!(numbers, [(0, "limit"), (0, "done"), (1, "done")]);
    rig.world.assert_nothing_left("t");
}

/// An agent that tries again for minutes, where the loop may wait for seconds: `--max-wait` ends that.
pub(crate) fn tries_for_minutes(agent: &'static Agent, answer: fn() -> Failure) {
    let (rig, server) = Rig::start(agent, Retries::AsShipped, |_| move |_: &_| answer().into());
    let ran = rig.exec(&["--iter", "1", "--max-wait", "5s", "Add a file."]).expect(3);
    let result = ran.result();
    let seen = (&result["outcome"], &result["stop_reason"]);
    assert_eq!(seen, (&json!("time_elapsed"), &json!("limit_wait")), "{result}");
    let (calls, turns) = (server.calls(CallKind::Main).len(), rig.turns());
    // It would have made eleven, in three minutes.
    assert!(calls < 9, "{calls} calls of the model");
    assert_eq!((turns.len(), &turns[0]["end"]), (1, &json!("limit")), "{turns:?}");
    rig.world.assert_nothing_left("t");
}

/// A model that never answers is given up, and the loop goes on.
pub(crate) fn hanging(agent: &'static Agent) {
    let over = Switch::default();
    let (rig, _server) = Rig::start(agent, Retries::AsShipped, |repo| {
        until(over.clone(), || Failure::Hang.into(), writer(agent, repo))
    });
    let words = ["--iter", "2", "--idle-timeout", "3s", "Add a file."];
    let mut running = Running::start(rig.command(&words));
    let failed = running.wait_for("an iteration", |event| event["type"] == "iteration_finished");
    over.turn_on();
    assert_eq!(failed["error"], "no output and no activity for --idle-timeout (3s)", "{failed}");
    let ran = running.finish().expect(0);
    assert_eq!(counts(&ran.result()), [2, 1, 1]);
    assert_eq!(rig.world.read("file-0.txt"), "text 0\n");
    rig.world.assert_nothing_left("t");
}

/// Answers that break off are a failure that may heal, whatever the agent's exit code says.
pub(crate) fn cut(agent: &'static Agent) {
    let over = Switch::default();
    let (rig, _server) = Rig::start(agent, Retries::Few, |repo| {
        until(over.clone(), || Failure::Cut.into(), writer(agent, repo))
    });
    let words = ["--iter", "2", "--turn-timeout", "30s", "Add a file."];
    let mut running = Running::start(rig.command(&words));
    let failed = running.wait_for("an iteration", |event| event["type"] == "iteration_finished");
    over.turn_on();
    assert_eq!(failed["success"], false, "{failed}");
    let ran = running.finish().expect(0);
    assert_eq!(counts(&ran.result()), [2, 1, 1]);
    let turn = &rig.turns()[0];
    assert_eq!((&turn["end"], &turn["failure"]), (&json!("failed"), &json!("transient")), "{turn}");
    rig.world.assert_nothing_left("t");
}

/// A server that is not there is a failure that may heal, and is not tried for ever.
pub(crate) fn unreachable(agent: &'static Agent) {
    let closed = ClosedPort::take();
    let rig = Rig::at(&closed.url(), agent, Retries::Few);
    let words = ["--iter", "5", "--max-failures", "2", "--turn-timeout", "8s", "Add a file."];
    let ran = rig.exec(&words).expect(1);
    let result = ran.result();
    assert_eq!((&result["stop_reason"], counts(&result)), (&json!("failures"), [2, 0, 2]));
    for turn in rig.turns() {
        assert_eq!((&turn["end"], &turn["failure"]), (&json!("failed"), &json!("transient")), "{turn}");
    }
    rig.world.assert_nothing_left("t");
}
