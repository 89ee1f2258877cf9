//! Who is still there. Each case is a process of its own to which every orphan below it falls (a subreaper), so that
//! nothing gets away by leaving its session or emptying its environment.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

use crate::Outcome;

/// A process, as `ps` would show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) command: String,
}

/// From now on orphans below this process become its children.
pub(super) fn adopt_orphans() -> Outcome {
    set_child_subreaper(Some(getpid())).map_err(|e| format!("cannot adopt orphans: {e}"))
}

/// Everything below a process that runs, whoever is its parent in between. One that has ended and that nobody waited for
/// runs no more.
pub(super) fn below(root: i32) -> Vec<Process> {
    let all: Vec<(i32, i32, bool)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let (parent, dead) = parent(&entry.path())?;
            Some((pid, parent, dead))
        })
        .collect();
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&one) = family.get(next) {
        next += 1;
        family.extend(all.iter().filter(|(_, parent, _)| *parent == one).map(|(pid, ..)| *pid));
    }
    let alive = |pid: &i32| all.iter().any(|(one, _, dead)| one == pid && !dead);
    family.split_off(1).into_iter().filter(alive).map(|pid| Process { pid, command: command(pid) }).collect()
}

/// Everything below this process.
pub(super) fn ours() -> Vec<Process> {
    below(getpid().as_raw_nonzero().get())
}

/// Waits until `gone` says so of what is left, for as long as a busy machine may need; what is left then.
pub(super) fn wait_until(patience: Duration, gone: impl Fn(&[Process]) -> bool) -> Vec<Process> {
    let start = Instant::now();
    loop {
        let left = ours();
        if gone(&left) || start.elapsed() > patience {
            return left;
        }
        // There is nothing to wait on for processes that are not our children.
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ends everything below a process. Those that start others are outrun by doing it again.
pub(super) fn end_below(root: i32) {
    for _ in 0..200 {
        let left = below(root);
        if left.is_empty() {
            return;
        }
        for process in left {
            kill(process.pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// SIGKILL for one process that this run has started.
pub(super) fn kill(pid: i32) -> bool {
    send(pid, Signal::KILL)
}

pub(super) fn send(pid: i32, signal: Signal) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

fn command(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).trim_end_matches('\0').replace('\0', " ")
}

/// The parent, and whether it has ended.
fn parent(process: &Path) -> Option<(i32, bool)> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // `PID (any name, brackets too) S PPID …`
    let mut rest = stat.rsplit_once(") ")?.1.split(' ');
    let state = rest.next()?;
    Some((rest.next()?.parse().ok()?, matches!(state, "Z" | "X")))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_runs_below_is_found_and_ended() {
        let mut child = Command::new("sh")
            .args(["-c", "sh -c 'sleep 1000 & echo up; wait' & wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut up = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let found = below(pid);
        assert!(found.iter().any(|p| p.command.starts_with("sh -c sleep 1000 &")), "{found:?}");
        end_below(pid);
        assert!(below(pid).is_empty());
        child.wait().unwrap();
    }
}
