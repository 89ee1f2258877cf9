//! Kill {runner, guard, both, gently, now} × {plain, setsid, daemon, deaf, fork loop}: nothing survives.

use std::io::Write;
use std::time::Duration;

use dacapo_core::process::sweep;
use rustix::process::Signal;

use crate::support::{AMPLE_GRACE, EXE, Runner, is_alive, kill, named, run, script, wait_for};

/// Leaves its id in the file `$0` and sleeps.
const MARK: &str = r#"echo $$ >> "$0"; exec sleep 1000"#;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Tree {
    Plain,
    Setsid,
    /// Twice forked, in its own session, without the tag.
    Daemon,
    /// Ignores SIGTERM.
    Deaf,
    /// Forks for ever.
    Loop,
    /// Each process starts one in a new session and exits.
    Comet,
}

impl Tree {
    fn script(self) -> String {
        let body = match self {
            Self::Plain => r#"sh -c "$M" "$0" & sh -c "$M" "$0" &"#,
            Self::Setsid => r#"setsid sh -c "$M" "$0" & setsid -f sh -c "$M" "$0""#,
            // The daemon's id comes second, or it would be taken for the other's.
            Self::Daemon => {
                r#"sh -c "$M" "$0" & while ! test -s "$0"; do sleep 0.01; done
                (env -i /usr/bin/setsid /bin/sh -c '/bin/sh -c "$1" "$0" & exit' "$0" "$M" &)"#
            }
            Self::Deaf => r#"trap '' TERM; sh -c "$M" "$0" & setsid sh -c "$M" "$0" &"#,
            Self::Loop => r#"echo 1 >> "$0"; echo 2 >> "$0"; while :; do sh -c 'sleep 0.2' "$0" & done"#,
            Self::Comet => {
                r#"C='echo 1 >> "$0"; setsid sh -c "$C" "$0" & exit'; export C; setsid sh -c "$C" "$0" &"#
            }
        };
        format!("M='{MARK}'; export M; {body}\n while :; do sleep 1000; done")
    }

    /// Those that do not end when they are asked to use all of it; for the others no machine is too slow.
    fn grace(self) -> Duration {
        match self {
            Self::Plain | Self::Setsid | Self::Daemon | Self::Loop => AMPLE_GRACE,
            Self::Deaf => Duration::from_millis(500),
            // The shell that has started it must have ended by then, beside it.
            Self::Comet => Duration::from_secs(3),
        }
    }

    /// Ids to wait for, and whether they are real ones.
    fn start(self) -> (Runner, Vec<u32>) {
        let runner = Runner::start(&self.script(), self.grace());
        let pids = runner.pids(2);
        let pids = if matches!(self, Self::Loop | Self::Comet) { Vec::new() } else { pids };
        (runner, pids)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    Runner,
    Guard,
    Both,
    Gently,
    Now,
}

fn nothing_survives(by: By, tree: Tree) {
    let (mut runner, pids) = tree.start();
    let guard = runner.guard();
    let say = |runner: &mut Runner, word: &str| {
        runner.child.stdin.as_mut().unwrap().write_all(word.as_bytes()).unwrap();
    };
    match by {
        By::Runner => kill(runner.child.id(), Signal::KILL),
        By::Guard => kill(guard, Signal::KILL),
        By::Both => {
            kill(runner.child.id(), Signal::STOP);
            kill(guard, Signal::KILL);
            kill(runner.child.id(), Signal::KILL);
            runner.child.wait().unwrap();
            wait_for("the guard's end", || (!is_alive(guard)).then_some(()));
            let swept = sweep(&runner.tag());
            assert!(swept.unreachable.is_empty(), "{swept:?}");
        }
        By::Gently => say(&mut runner, "gentle\n"),
        By::Now => say(&mut runner, "now\n"),
    }
    if by != By::Runner && by != By::Both {
        let done = runner.done();
        assert_eq!(done.contains("guard_lost: true"), by == By::Guard, "{done}");
        let exit = match (by, tree) {
            (By::Guard, _) => "exit: Lost",
            (By::Gently, Tree::Deaf) | (By::Now, _) => "exit: Signal(9)",
            _ => "exit: Signal(15)",
        };
        assert!(done.contains(exit), "{done}");
    }
    let pids_file = runner.path("pids").to_string_lossy().into_owned();
    for pid in pids.iter().copied().chain([guard]) {
        // Nothing ties it to the run any more, except for a guard or a runner that lives.
        if by == By::Both && tree == Tree::Daemon && Some(&pid) != pids.first() && pid != guard {
            kill(pid, Signal::KILL);
        }
        wait_for(&format!("{by:?} × {tree:?}: the end of {pid}"), || (!is_alive(pid)).then_some(()));
    }
    wait_for(&format!("{by:?} × {tree:?}: no process of the script"), || {
        let alive: Vec<u32> = named(&pids_file).into_iter().filter(|pid| *pid != runner.child.id()).collect();
        alive.is_empty().then_some(())
    });
    // A comet is too fast to be seen, but not to be heard: it writes a line with every hop.
    if tree == Tree::Comet {
        let length = || std::fs::metadata(runner.path("pids")).map_or(0, |meta| meta.len());
        let before = length();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(length(), before, "{by:?}: the comet is still on its way");
    }
}

macro_rules! kills {
    ($($name:ident: $by:ident),*) => {$(
        mod $name {
            use super::*;
            #[test] fn plain() { nothing_survives(By::$by, Tree::Plain); }
            #[test] fn setsid() { nothing_survives(By::$by, Tree::Setsid); }
            #[test] fn daemon() { nothing_survives(By::$by, Tree::Daemon); }
            #[test] fn deaf() { nothing_survives(By::$by, Tree::Deaf); }
            #[test] fn fork_loop() { nothing_survives(By::$by, Tree::Loop); }
            #[test] fn comet() { nothing_survives(By::$by, Tree::Comet); }
        }
    )*};
}

kills!(runner_killed: Runner, guard_killed: Guard, both_killed: Both, stopped_gently: Gently, stopped_now: Now);

#[test]
fn a_leaked_child_that_holds_the_output_is_ended_with_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let job =
        script(dir.path(), "setsid sleep 1000 & echo $! > pid; (setsid sleep 1000 &); echo said; exit 7");
    let finished = run(job);
    assert_eq!(finished.exit, dacapo_core::process::Exit::Code(7));
    assert_eq!((finished.leftovers, finished.capture_error, finished.stopped), (2, None, None));
    assert_eq!(std::fs::read(dir.path().join("out")).unwrap(), b"said\n");
    let pid: u32 = std::fs::read_to_string(dir.path().join("pid")).unwrap().trim().parse().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn a_gentle_stop_lets_the_job_clear_up_and_leaves_nothing() {
    // The child speaks for itself, as a program of its own: until then it has the shell's handler, and what it is told to do is
    // forgotten as the shell clears its traps in it.
    let script = format!(
        r#"trap 'echo cleared; exit 3' TERM; echo $$ >> "$0"; sh -c '{MARK}' "$0" & while :; do wait; done"#
    );
    let mut runner = Runner::start(&script, AMPLE_GRACE);
    runner.pids(2);
    runner.child.stdin.as_mut().unwrap().write_all(b"gentle\ngentle\n").unwrap();
    let done = runner.done();
    assert!(done.contains("exit: Code(3)") && done.contains("stopped: Some(Gentle)"), "{done}");
    assert!(done.contains("leftovers: 0"), "{done}");
    assert_eq!(std::fs::read(runner.path("out")).unwrap(), b"cleared\n");
}

/// A server, for one: its own program is another than the one that tasks are started with, and it lives on.
#[test]
fn a_task_that_a_process_has_started_is_no_orphan_of_its_lost_guard() {
    let programs = tempfile::tempdir().unwrap();
    let program = programs.path().join("dacapo");
    std::fs::copy(EXE, &program).unwrap();
    let script = Tree::Daemon.script();
    let runner = Runner::start_with_task(&program, &script, AMPLE_GRACE);
    let (guard, task) = (runner.guard(), runner.task());
    let left = runner.pids(2);
    wait_for("a session of its own", || (session(task) == Some(task)).then_some(()));
    // A program that is replaced while it runs is another file from then on.
    std::fs::rename(&program, programs.path().join("old")).unwrap();
    kill(guard, Signal::KILL);
    let done = runner.done();
    assert!(done.contains("guard_lost: true"), "{done}");
    assert!(!left.iter().any(|pid| is_alive(*pid)), "what the guard watched over");
    assert!(is_alive(task), "it was started by the same process, and is no part of the job");
    kill(task, Signal::KILL);
}

#[test]
fn what_is_left_to_itself_is_waited_for_when_it_ends() {
    let child = std::process::Command::new("true").spawn().unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", child.id()));
    dacapo_core::process::leave(child);
    wait_for("no zombie", || (!process.exists()).then_some(()));
}

fn session(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_ascii_whitespace().nth(3)?.parse().ok()
}
