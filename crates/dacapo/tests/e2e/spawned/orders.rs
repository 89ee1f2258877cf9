//! What a person wants of a task while it runs: kill, pause, tell, set.

use super::AGENT;
use crate::support::{World, wait_for};

/// An agent that says that it is at work, and works until it is let go.
fn waiting(world: &World) -> String {
    format!(
        "cat > /dev/null; echo $$ > {0}.new; mv {0}.new {0}; while ! test -e {1}; do sleep 0.02; done; \
         echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it",
        world.scratch("ready").display(),
        world.scratch("go").display()
    )
}

fn let_go(world: &World) {
    std::fs::write(world.scratch("go"), "").unwrap();
}

#[test]
fn s8_kill_ends_the_agent_and_keeps_what_it_did() {
    let world = World::new();
    let ready = world.scratch("ready");
    world.spawned(
        "t",
        5,
        &format!("cat > /dev/null; echo half > half; touch {}; sleep 1000", ready.display()),
    );
    world.wait_for_file("ready");
    let said = world.run(&["kill", "t"]).expect(0);
    assert!(said.stdout.contains("cancelled"), "{}", said.stdout);
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["status"], "cancelled");
    assert_eq!(world.git(&["show", "dacapo/t:half"]), "half", "what was there is committed");
    // A second time there is nothing to end.
    crate::bad_input::refused(&world, &["kill", "t"], "Task 't' is not running (cancelled)");
}

#[test]
fn s8_kill_ends_what_left_the_session_and_what_ignores_signals() {
    let world = World::new();
    let agent = format!(
        "trap '' TERM INT HUP; cat > /dev/null; setsid sh -c \"trap '' TERM HUP; sleep 1000\" & \
         setsid -f sh -c 'sleep 1001' & (env -i setsid sh -c 'sleep 1002 & sleep 1003' &) ; touch {}; sleep 1004; sleep 1005",
        world.scratch("ready").display()
    );
    world.spawned("t", 5, &agent);
    world.wait_for_file("ready");
    let _ = world.run(&["kill", "t"]).expect(0);
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["outcome"], "cancelled");
}

/// Sends a signal to the process that drives the task.
fn signal(world: &World, signal: rustix::process::Signal) {
    let pid = world.status("t")["pid"].as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn s8_kill_ends_a_task_whose_own_process_is_dead() {
    let world = World::new();
    world.spawned("t", 5, &waiting(&world));
    world.wait_for_file("ready");
    signal(&world, rustix::process::Signal::KILL);
    wait_for("the lock", || world.status("t")["status"] == "interrupted");
    let _ = world.run(&["kill", "t"]).expect(0);
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["status"], "cancelled");
}

/// Stopped, it hears nothing: kill wakes it.
#[test]
fn s8_kill_ends_a_task_whose_own_process_is_stopped() {
    let world = World::new();
    world.spawned("t", 5, &waiting(&world));
    world.wait_for_file("ready");
    signal(&world, rustix::process::Signal::STOP);
    let said = world.run(&["kill", "t"]).expect(0);
    assert_eq!(said.stderr, "");
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["status"], "cancelled");
}

/// What Dacapo itself could not do is said where people look for it.
#[test]
fn r2_a_process_that_ends_by_an_error_of_its_own_says_which() {
    let world = World::new();
    world.spawned("t", 5, &waiting(&world));
    world.wait_for_file("ready");
    let journal = world.task_dir("t").join("journal.jsonl");
    // The disk takes it away, and gives it back later.
    std::fs::copy(&journal, world.scratch("away")).unwrap();
    std::fs::remove_file(&journal).unwrap();
    let_go(&world);
    let lock = std::fs::File::open(world.task_dir("t")).unwrap();
    wait_for("its process to end", || lock.try_lock_shared().is_ok());
    lock.unlock().unwrap();
    std::fs::rename(world.scratch("away"), &journal).unwrap();
    let said = world.run(&["status", "t"]).expect(0).stdout;
    assert!(said.contains("interrupted: its process is gone; nothing is lost\n          error: "), "{said}");
    let said = world.wait("t").expect(1).stderr;
    assert!(said.contains("its process is gone:\n") && said.contains("was removed while"), "{said}");
    // What one process said is not why the next one ended.
    let _ = world.run(&["resume", "t"]).expect(0);
    let _ = world.wait("t").expect(0);
    assert_eq!(std::fs::read_to_string(world.task_dir("t").join("runner.log")).unwrap(), "");
}

#[test]
fn s2_a_pause_takes_hold_after_the_iteration_and_resume_goes_on() {
    let world = World::new();
    world.spawned("t", 3, &waiting(&world));
    world.wait_for_file("ready");
    let said = world.run(&["pause", "t"]).expect(0);
    assert!(said.stdout.contains("after this iteration"), "{}", said.stdout);
    wait_for("the task to hear of it", || world.events("t", "command_received").len() == 1);
    let_go(&world);
    let ended = world.run(&["wait", "t"]).expect(4).stdout;
    // Who paused it is told so, and how to go on; not that somebody is needed, nor what was typed.
    assert!(ended.starts_with("‖ paused by you · 1 iteration · "), "{ended}");
    assert!(!ended.contains("dacapo pause") && !ended.contains("it needs your decision"), "{ended}");
    assert!(ended.contains("\n  next: dacapo resume t  ") && ended.contains("  continue\n"), "{ended}");
    let status = world.status("t");
    assert_eq!((&status["status"], &status["iteration"]), (&"paused".into(), &1.into()));
    assert_eq!(status["needs"]["question"], "paused by you");
    let said = world.run(&["pause", "t"]).expect(2);
    assert!(said.stderr.contains("Task 't' is not running (paused)"), "{}", said.stderr);
    let _ = world.run(&["resume", "t"]).expect(0);
    let _ = world.wait("t").expect(0);
    assert_eq!(world.git(&["rev-list", "--count", "main..dacapo/t"]), "3");
    assert!(world.status("t")["needs"].is_null());
}

#[test]
fn s2_a_pause_now_ends_the_turn() {
    let world = World::new();
    world.spawned("t", 3, &waiting(&world));
    world.wait_for_file("ready");
    let said = world.run(&["pause", "t", "--now"]).expect(0);
    assert!(said.stdout.contains("t is paused"), "{}", said.stdout);
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["status"], "paused");
    let_go(&world);
    let _ = world.run(&["resume", "t"]).expect(0);
    let _ = world.wait("t").expect(0);
    assert_eq!(world.status("t")["iterations_failed"], 1, "the one that was ended counts");
}

#[test]
fn s2_what_is_told_and_set_while_it_runs_holds() {
    let world = World::new();
    world.spawned("t", 9, &waiting(&world));
    world.wait_for_file("ready");
    let _ = world.run(&["tell", "t", "use", "tabs"]).expect(0);
    let _ = world.run(&["set", "t", "iter=2", "stall=4"]).expect(0);
    wait_for("both in the journal", || world.events("t", "command_received").len() == 3);
    let_go(&world);
    let _ = world.wait("t").expect(0);
    assert_eq!(world.status("t")["iteration"], 2);
    assert!(world.prompt("t", 1).contains("use tabs"));
    assert_eq!(std::fs::read_dir(world.task_dir("t").join("inbox")).unwrap().count(), 0);
    let said = world.run(&["logs", "t"]).expect(0);
    assert!(said.stdout.contains("dacapo tell: use tabs"), "{}", said.stdout);
    assert!(said.stdout.contains("Loop iteration 1 of 2 for task t (can_continue=true)"), "{}", said.stdout);
}

#[test]
fn s2_what_is_told_and_set_while_nobody_drives_it_holds_later() {
    let world = World::new();
    world.spawned("t", 1, AGENT);
    let _ = world.wait("t").expect(0);
    let said = world.run(&["tell", "t", "use tabs"]).expect(0);
    assert!(said.stdout.contains("dacapo resume t"), "{}", said.stdout);
    let _ = world.run(&["set", "t", "iter=+2"]).expect(0);
    assert_eq!(world.status("t")["max_iterations"], 3);
    let _ = world.run(&["resume", "t", "more"]).expect(0);
    let _ = world.wait("t").expect(0);
    assert!(world.prompt("t", 1).contains("use tabs"));
}

#[test]
fn u6_bad_orders_change_nothing() {
    let world = World::new();
    world.spawned("t", 1, AGENT);
    let _ = world.wait("t").expect(0);
    let before = world.everything();
    for (words, message) in [
        (["set", "t", "itr=3"].as_slice(), "did you mean 'iter'?"),
        (&["set", "t", "iter"], "'iter' is not KEY=VALUE"),
        (&["set", "t", "iter=0"], "expected a count"),
        (&["set", "t", "time=5"], "expected a duration"),
        (&["set", "t", "rounds=+10"], "'rounds' is a limit of a milestone; for a loop it is 'iter'"),
        (&["set", "t", "call-timeout=5m"], "for a loop it is 'turn-timeout'"),
        (&["set", "t", "rejections=5"], "these can be changed: iter, time, "),
        (&["set", "t", "iter=2", "max-cost=1"], "reports no usage"),
        (&["set", "t", "max-cost=1"], "nothing was changed"),
        (&["tell", "t", " "], "nothing to tell"),
        (&["tell", "u", "x"], "Task 'u' not found"),
        (&["kill", "t", "u"], "Task 'u' not found"),
        (&["pause", "t"], "is not running (completed)"),
    ] {
        let said = world.run(words).expect(2);
        assert!(said.stderr.contains(message), "{words:?}: {}", said.stderr);
        assert_eq!(world.everything(), before, "{words:?}");
    }
}

#[test]
fn u6_what_is_said_to_do_after_a_kill_can_be_done() {
    let world = World::new();
    world.spawned("t", 1, &waiting(&world));
    world.wait_for_file("ready");
    let said = world.run(&["kill", "t"]).expect(0);
    assert!(said.stdout.contains("dacapo resume t --iter 5"), "{}", said.stdout);
    let said = world.run(&["list"]).expect(0);
    assert!(said.stdout.contains("dacapo resume t --iter 5"), "{}", said.stdout);
    let_go(&world);
    let _ = world.run(&["resume", "t", "--iter", "5"]).expect(0);
    let _ = world.wait("t").expect(0);
}

#[test]
fn u6_a_task_that_never_had_its_worktree_claims_none() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 1\n");
    world.spawned("first", 1, &waiting(&world));
    world.spawned("t", 1, AGENT);
    let said = world.run(&["kill", "t"]).expect(0);
    assert!(said.stdout.contains("ended before its worktree was created"), "{}", said.stdout);
    let_go(&world);
    let _ = world.wait("first").expect(0);
}

#[test]
fn s8_kill_needs_no_room_on_the_disk() {
    let world = World::new();
    world.spawned("t", 1, &waiting(&world));
    world.wait_for_file("ready");
    // As on a full disk, nothing can be put into its inbox any more.
    let inbox = world.task_dir("t").join("inbox");
    std::fs::remove_dir_all(&inbox).unwrap();
    std::fs::write(&inbox, "").unwrap();
    let said = world.run(&["kill", "t"]).expect(0);
    assert!(said.stdout.starts_with("■ cancelled · 1 iteration"), "{said:?}");
    world.assert_nothing_left("t");
}

#[test]
fn s10_a_worktree_that_somebody_removed_is_made_again() {
    let world = World::new();
    world.spawned("t", 1, AGENT);
    let _ = world.wait("t").expect(0);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    std::fs::remove_dir_all(&worktree).unwrap();
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    let _ = world.wait("t").expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "main..dacapo/t"]), "[iter-1] did it\n[iter-0] did it");
    assert_eq!(world.git_in(worktree.as_ref(), &["status", "--porcelain"]), "");
    let said = world.run(&["status", "t"]).expect(0);
    assert!(said.stdout.contains("the worktree had been removed and was created again"), "{}", said.stdout);
}

#[test]
fn u6_why_a_process_in_the_background_gave_up_is_told() {
    let world = World::new();
    world.spawned("t", 1, AGENT);
    let _ = world.wait("t").expect(0);
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    std::fs::remove_dir_all(world.status("t")["worktree"].as_str().unwrap()).unwrap();
    let _ = world.git(&["update-ref", "-d", "refs/heads/dacapo/t"]);
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    let why = "its worktree and branch dacapo/t were removed";
    for (words, code) in [(["wait", "t"], 1), (["attach", "t"], 1), (["status", "t"], 0)] {
        let said = world.run(&words).expect(code);
        assert!(format!("{}{}", said.stdout, said.stderr).contains(why), "{words:?}: {said:?}");
    }
    // What it says to do works, and then the old error is none of its words any more.
    let _ = world.git(&["branch", "dacapo/t", &tip]);
    let _ = world.run(&["resume", "t"]).expect(0);
    let _ = world.wait("t").expect(0);
    assert_eq!(world.status("t")["iteration"], 2);
}

#[test]
fn s2_several_tasks_are_paused_waited_for_and_resumed_at_once() {
    let world = World::new();
    for name in ["a", "b"] {
        world.spawned(name, 2, &waiting(&world));
        world.wait_for_file("ready");
        std::fs::remove_file(world.scratch("ready")).unwrap();
    }
    // What one of them is refused does not keep the others from it.
    let ran = world.run(&["pause", "a,b", "nobody"]).expect(2);
    assert!(ran.stderr.contains("Task 'nobody' not found"), "{ran:?}");
    let ran = world.run(&["pause", "a,b", "--now"]).expect(0);
    assert_eq!(ran.stdout.matches("is paused").count(), 2, "{ran:?}");
    let ran = world.run(&["wait", "a", "b"]).expect(4);
    assert!(ran.stdout.starts_with("a\n") && ran.stdout.contains("\nb\n"), "{ran:?}");
    let_go(&world);
    let ran = world.run(&["resume", "a,b"]).expect(0);
    assert_eq!(ran.stdout.matches("continues in the background").count(), 2, "{ran:?}");
    let ran = world.run(&["wait", "a,b", "--json"]).expect(0);
    assert_eq!(ran.stdout.lines().count(), 2, "{ran:?}");
    let ran = world.run(&["kill", "a,b"]).expect(2);
    assert_eq!(ran.stderr.matches("is not running (completed)").count(), 2, "{ran:?}");
    let ran = world.run(&["rm", "a,b"]).expect(0);
    assert_eq!(ran.stdout.matches("dropped").count(), 2, "{ran:?}");
}

#[test]
fn s2_wait_any_ends_with_the_first() {
    let world = World::new();
    world.spawned("slow", 1, &waiting(&world));
    world.wait_for_file("ready");
    world.spawned("quick", 1, AGENT);
    let ran = world.run(&["wait", "slow,quick", "--any"]).expect(0);
    assert!(ran.stdout.starts_with("quick\n"), "{ran:?}");
    assert_eq!(world.status("slow")["status"], "running");
    // The second time it has ended before anybody waits.
    let ran = world.run(&["wait", "slow", "quick", "--any", "--json"]).expect(0);
    assert!(ran.stdout.contains("\"name\":\"quick\""), "{ran:?}");
    let _ = world.run(&["kill", "slow"]).expect(0);
}

#[test]
fn s2_names_that_people_type_are_understood() {
    let world = World::new();
    let _ = world.run(&["run", "--name", "t", "--agent-cmd", AGENT, "go"]).expect(0);
    for words in [&["ps"][..], &["ls"], &["show", "t"], &["log", "t"]] {
        let _ = world.run(words).expect(0);
    }
    crate::bad_input::refused(&world, &["stop", "t"], "Task 't' is not running (completed)");
    let _ = world.run(&["rm", "t"]).expect(0);
    assert!(world.tasks().is_empty());
}

#[test]
fn s1_a_task_that_has_no_place_is_announced_as_queued() {
    let world = World::new();
    world.config("[spawn_task]\nmax_concurrent = 1\n");
    world.spawned("first", 1, &waiting(&world));
    world.wait_for_file("ready");
    let said = world.spawn("t", &["--iter", "1", "--agent-cmd", AGENT]).expect(0);
    assert!(said.stdout.starts_with("t is queued until a slot is free, with cat, on branch"), "{said:?}");
    let_go(&world);
    let _ = world.wait("t").expect(0);
}
