//! What a job inherits, and what only its guard does.

use std::fs::{File, OpenOptions};

use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use crate::support::{AMPLE_GRACE, Runner, is_alive, kill, launcher, run, script, start, wait_for};

fn is_free(path: &std::path::Path) -> bool {
    flock(File::open(path).unwrap(), FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn lock(path: &std::path::Path) -> File {
    let file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    file
}

#[test]
fn a_guard_holds_the_lock_until_its_tree_is_empty_and_the_job_never_sees_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let text =
        r#"trap '' TERM; ls -l /proc/self/fd > fds; echo $$ >> "$0"; sleep 1000 & echo $! >> "$0"; wait"#;
    std::fs::create_dir(&path).unwrap();
    let runner = Runner::start_locking(&path, text, AMPLE_GRACE);
    let (guard, stranger) = (runner.guard(), runner.stranger());
    let pids = runner.pids(2);
    let holds = |pid: u32| {
        std::fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|fds| {
            fds.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|target| target == path))
        })
    };
    assert!(holds(guard) && holds(runner.child.id()));
    assert!(!pids.iter().any(|pid| holds(*pid)) && is_alive(stranger) && !holds(stranger));
    let seen = std::fs::read_to_string(runner.path("fds")).unwrap();
    // 0, 1, 2, the file `fds` is on 1, and the directory that `ls` reads.
    assert_eq!(seen.lines().filter(|line| line.contains("->")).count(), 4, "{seen}");

    // A guard that cannot act keeps the lock, whatever happened to the runner.
    kill(guard, Signal::STOP);
    kill(runner.child.id(), Signal::KILL);
    wait_for("the runner's end", || (!is_alive(runner.child.id())).then_some(()));
    assert!(!is_free(&path) && pids.iter().all(|pid| is_alive(*pid)));
    kill(guard, Signal::CONT);
    wait_for("a free lock", || is_free(&path).then_some(()));
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    assert!(is_alive(stranger), "the lock is free though it lives");
    kill(stranger, Signal::KILL);
}

#[test]
fn what_a_guard_is_given_to_hold_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let mut launcher = launcher();
    launcher.prepare();
    let mut job = script(dir.path(), "read line");
    let (theirs, ours) = std::io::pipe().unwrap();
    job.stdin = dacapo_core::process::Stdin::From(theirs.into());
    job.holds.push(lock(&path).into());
    let (_running, told) = start(&mut launcher, job);
    assert!(!is_free(&path));
    drop(ours);
    assert!(told.recv().unwrap().unreachable.is_empty());
    wait_for("a free lock", || is_free(&path).then_some(()));
}

#[test]
fn a_job_starts_with_clean_signals_and_its_own_session() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!run(script(dir.path(), "cat /proc/self/status; cat /proc/self/stat")).guard_lost);
    let status = std::fs::read_to_string(dir.path().join("out")).unwrap();
    for field in ["SigBlk", "SigIgn", "SigPnd", "ShdPnd"] {
        let value = status.lines().find_map(|line| line.strip_prefix(&format!("{field}:"))).unwrap().trim();
        // glibc ignores 32 and 33, its own, in whatever it spawns, and lets nobody change that.
        let own_to_libc = 0b11 << 31;
        assert_eq!(u64::from_str_radix(value, 16).unwrap() & !own_to_libc, 0, "{field}");
    }
    let stat: Vec<&str> = status.lines().last().unwrap().split(' ').collect();
    // `cat` is a child of the shell, which leads the session.
    assert_eq!(stat[3], stat[5], "{stat:?}");
}
