//! SIGKILL while a git of the runner's is under way, which then goes on beside the one that resumes.

use std::os::unix::process::ExitStatusExt as _;

use super::*;
use crate::crash::git::world_for_slow_git;
use crate::crash::{SIGKILL, for_each};
use crate::support::Ran;

#[test]
fn m9_sigkill_inside_git_calls_then_resume_at_once() {
    let whole = team(Format::Sessions, Format::Sessions);
    world_for_slow_git(&whole);
    let mut command = whole.command(&START);
    let _ = Ran::from(command.env("RUNNER_DIES_AT", "never").output().unwrap()).expect(0);
    let calls = fs::read_dir(whole.scratch("calls")).unwrap().count();
    assert!(calls > ROUNDS * 4, "{calls}");
    // All that make the worktree; of the rounds, which are alike, some.
    let walked = (0..calls).filter(|call| *call < 12 || call % 13 == 0);
    let plans: Vec<String> =
        walked.map(|call| format!("{}:{call}", if call % 2 == 0 { "before" } else { "after" })).collect();
    for_each(&plans, |plan| {
        let world = team(Format::Sessions, Format::Sessions);
        world_for_slow_git(&world);
        let mut command = world.command(&START);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.env("RUNNER_DIES_AT", plan).status().unwrap();
        assert_eq!(status.signal(), Some(SIGKILL), "{plan}");
        let resumed = world.scratch("calls/resumed");
        if world.tasks().is_empty() {
            // It died before there was a task: the same words start it now, and nothing is in their way.
            fs::write(resumed, "").unwrap();
            let _ = world.run(&START).expect(0);
        } else if !world.status("m")["outcome"].is_null() {
            // It was over, and was telling others: whoever takes it up does that for it.
            fs::write(resumed, "").unwrap();
            wait_for("its git to end", || world.processes("m").is_empty());
            assert!(!world.milestone_to_the_end(), "{plan}");
        } else {
            let resume = world.start(&RESUME);
            // From here on the dead runner's git goes on, beside the one that resumes.
            fs::write(resumed, "").unwrap();
            let _ = resume.end().expect(0);
        }
        world.assert_whole();
        wait_for("the tasks directory to hold nothing half-made", || world.tasks() == ["m"]);
    });
}
