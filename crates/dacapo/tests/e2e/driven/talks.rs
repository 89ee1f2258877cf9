//! Two live conversations (M3): Developer and Acceptor over ACP, each in one process for the whole milestone.

use std::fs;

use serde_json::{Value, json};

use super::{DEFINITION, TOOLS};
use crate::support::{World, is_gone, wait_for};

/// What the Developer does in round `n`.
fn builds(n: u32) -> Value {
    let tools = TOOLS.replace("cat > /dev/null; n=$((DACAPO_ITERATION + 1))", &format!("n={n}"));
    json!([{ "run": format!("{tools}{}", super::BUILDS) }])
}

fn accepts() -> Value {
    json!([{ "say": "ACCEPTED\nC-1: met" }])
}

/// A world with both agents, and the milestone written down.
fn world(developer: &Value, acceptor: &Value) -> World {
    let world = World::new();
    world.config(&format!("{}{}", world.acp_agent("dev", developer), world.acp_agent("acc", acceptor)));
    world.write(".dacapo/milestones/two.md", DEFINITION);
    world
}

fn start(more: &[&str]) -> Vec<String> {
    let words = ["milestone", "start", "two", "--developer", "dev", "--acceptor", "acc"];
    words.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

/// Initialised once, opened once, and then only prompted.
fn one_conversation(prompts: usize) -> Vec<String> {
    let mut all = vec!["initialize".to_owned(), "session/new".to_owned()];
    all.extend(std::iter::repeat_n("session/prompt".to_owned(), prompts));
    all
}

#[test]
fn m3_both_processes_live_through_the_milestone() {
    let developer = json!({ "turns": [builds(1), builds(2), builds(3)] });
    let world = world(&developer, &json!({ "turns": [accepts()] }));
    let _ = world.run(&start(&[])).expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/two"]), "feat: 2\nfeat: 1");
    for agent in ["dev", "acc"] {
        assert_eq!(world.talkers(agent).len(), 1, "{agent}: one process");
        assert_eq!(world.methods(agent), one_conversation(3), "{agent}");
        assert!(is_gone(&world.talkers(agent)[0].to_string()), "{agent} is gone with the task");
    }
    assert_eq!(world.notices("two"), Vec::<String>::new());
    world.assert_nothing_left("two");
}

#[test]
fn m3_the_death_of_one_between_its_turns_is_not_the_others() {
    // The Acceptor, in its first turn, ends the process of the Developer, which waits for the next round.
    let log = "$(grep -o '\"pid\":[0-9]*' \"${ACP_LOG%acc.log}dev.log\" | tail -n 1 | cut -d: -f2)";
    let kills = json!([{ "run": format!("kill -9 {log}") }, { "say": "ACCEPTED" }]);
    let developer = json!({ "load": true, "resume": true, "turns": [builds(1), builds(2), builds(3)] });
    let world = world(&developer, &json!({ "turns": [kills, accepts()] })).without_rooms();
    let _ = world.run(&start(&[])).expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/two"]), "feat: 2\nfeat: 1");
    assert_eq!(world.talkers("dev").len(), 2, "opened again once");
    assert_eq!(world.talkers("acc").len(), 1, "and the other one lived on");
    let lost: Vec<String> = world
        .notices("two")
        .into_iter()
        .filter(|notice| notice.contains("ended between two turns"))
        .collect();
    assert_eq!(lost, ["the process of dev ended between two turns"]);
    world.assert_nothing_left("two");
}

#[test]
fn m3_nothing_runs_while_it_is_paused_or_when_it_was_killed() {
    for (order, code) in [(["pause", "two", "--now"].as_slice(), 4), (["kill", "two"].as_slice(), 130)] {
        let developer =
            json!({ "load": true, "turns": [builds(1), [{ "touch": "second" }, { "hang": "deaf" }]] });
        let world = world(&developer, &json!({ "turns": [accepts()], "stays": true }));
        let _ = world.run(&start(&["--spawn"])).expect(0);
        wait_for("the second round", || world.scratch("second").exists());
        let pids: Vec<u64> = ["dev", "acc"].into_iter().flat_map(|agent| world.talkers(agent)).collect();
        assert_eq!(pids.len(), 2);
        assert!(pids.iter().all(|pid| !is_gone(&pid.to_string())), "both live");
        let _ = world.run(order).expect(0);
        let _ = world.wait("two").expect(code);
        assert!(pids.iter().all(|pid| is_gone(&pid.to_string())), "{order:?}: {pids:?}");
        world.assert_nothing_left("two");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn m3_both_end_with_a_driver_that_was_killed() {
    let developer = json!({ "load": true, "turns": [
        builds(1), [{ "touch": "second" }, { "hang": "deaf" }], builds(2), builds(3)
    ] });
    let world = world(&developer, &json!({ "load": true, "turns": [accepts()], "stays": true }));
    let _ = world.run(&start(&["--spawn"])).expect(0);
    wait_for("the second round", || world.scratch("second").exists());
    let pid = world.status("two")["pid"].as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    world.assert_nothing_left("two");
    fs::remove_file(world.scratch("second")).unwrap();
    let _ = world.run(&["resume", "two"]).expect(0);
    let _ = world.wait("two").expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/two"]), "feat: 2\nfeat: 1");
    assert_eq!(world.talkers("dev").len(), 2);
    world.assert_nothing_left("two");
}
