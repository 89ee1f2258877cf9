//! Ctrl-C in the middle of an agent's work (L14).

use std::fs;

use serde_json::json;

use crate::agents::{Agent, Retries};
use crate::model_server::{Call, Failure, Last, Reply, Said};
use crate::rig::{Rig, runs};
use crate::running::Running;
use crate::support::wait_for;

/// While the agent's shell tool sleeps: nothing of its tree is left, and what was there is committed.
pub(crate) fn ctrl_c(agent: &'static Agent) {
    let (rig, _server) = Rig::start(agent, Retries::AsShipped, |repo| {
        let slept = repo.parent().unwrap().join("slept");
        // The shell becomes the sleep, so the process id is its own.
        let sleep = format!("sh -c 'echo $$ > {}; exec sleep 987'", slept.display());
        let results = |call: &Call| call.said.iter().filter(|said| matches!(said, Said::Result(_))).count();
        move |call: &Call| match (call.last(), results(call)) {
            (Last::Prompt(_), _) => Reply::call((agent.write)(&repo.join("before.txt"), "before\n")).into(),
            (Last::Result(_), 1) => Reply::call((agent.shell)(&sleep)).into(),
            (Last::Result(_), _) => Failure::Hang.into(),
        }
    });
    let slept = rig.world.scratch("slept");
    let mut running = Running::start(rig.command(&["--iter", "3", "Add a file, then rest."]));
    let asleep = || fs::read_to_string(&slept).ok().and_then(|text| text.trim().parse::<u32>().ok());
    wait_for("the agent's shell to sleep", || asleep().is_some());
    let sleeper = asleep().unwrap();
    // It tells its id just before it becomes the sleep.
    wait_for("the sleep, which the test itself must see", || runs(sleeper, "sleep 987"));
    assert!(!rig.world.processes("t").is_empty(), "the test itself must see the agent");

    let process = rustix::process::Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let finished = running.wait_for("its end", |event| event["type"] == "task_finished");
    // At this moment, not some time later.
    assert!(!runs(sleeper, "sleep 987"), "the sleep is left");
    running.finish().expect(130);
    assert_eq!(rig.world.processes("t"), Vec::<u32>::new(), "processes are left");
    assert_eq!(finished["outcome"], "cancelled", "{finished}");

    assert_eq!(rig.world.git(&["show", "HEAD:before.txt"]), "before");
    let trailers = rig.world.git(&["log", "-1", "--format=%(trailers:only,unfold)"]);
    assert!(trailers.contains("Dacapo-Iteration: 0\nDacapo-Outcome: cancelled"), "{trailers}");
    let turn = &rig.turns()[0];
    assert_eq!(
        turn["end"],
        json!("cancelled"),
        "an exit code of 0 after our own signal is no success: {turn}"
    );
    rig.world.assert_nothing_left("t");
}
