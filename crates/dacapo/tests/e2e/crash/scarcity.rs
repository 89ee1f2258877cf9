//! A machine that has no threads left, or no `/proc`: said as what it is, and the task can go on (R2).

use std::os::unix::process::CommandExt as _;

use super::*;

/// A thread needs room for its stack.
fn with_little_memory(command: &mut Command, bytes: u64) {
    #[expect(unsafe_code, reason = "a limit of the child alone can only be set in it")]
    // SAFETY: setrlimit is async-signal-safe and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            let limit = rustix::process::Rlimit { current: Some(bytes), maximum: Some(bytes) };
            Ok(rustix::process::setrlimit(rustix::process::Resource::As, limit)?)
        });
    }
}

/// From the first limit under which the program starts at all to one that is enough: nowhere a panic, and afterwards the
/// task is there or it is not.
#[test]
fn r2_a_thread_that_cannot_be_started_is_an_error_and_no_panic() {
    let words = ["exec", "--name", "t", "--agent-cmd", "echo 1 > f; echo did it", "--json", "go"];
    let mut refused = 0;
    for megabytes in (24..=72).step_by(4) {
        let world = World::new();
        let mut command = world.command(&words);
        with_little_memory(&mut command, megabytes << 20);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let (status, ran) = (output.status, Ran::from(output));
        let said = format!("{megabytes} MB: {status}\n{}\n{}", ran.stdout, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{said}");
        if !ran.stderr.contains("cannot start a thread") {
            continue;
        }
        refused += 1;
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(ran.stderr.contains("ulimit -v"), "{said}");
        let _ = world.run(&["resume", "t", "--json"]).expect(0);
        world.assert_nothing_left("t");
    }
    assert!(refused > 0, "no limit was between too little to start and enough");
}
