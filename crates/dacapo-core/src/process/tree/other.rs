//! Where there is neither `/proc` nor a subreaper: the process group of the job is what can be reached.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use rustix::process::Pid;

use super::{LostGuard, Members, Process};
use crate::process::liveness::TreeSample;

/// There is no such thing here: what leaves the group and loses its parent is out of reach.
pub(in crate::process) fn adopt(_: super::Adopt) -> rustix::io::Result<()> {
    Ok(())
}

/// Nothing is adopted here.
pub(in crate::process) fn reap_adopted(_: &BTreeSet<u32>) {}

/// There is no such thing here: the job is ended by the guard only.
pub(in crate::process) fn die_with_parent() -> rustix::io::Result<()> {
    Ok(())
}

/// Nothing of the kind is needed here.
pub fn can_see_processes() -> std::io::Result<()> {
    Ok(())
}

/// Not known on this system.
pub(crate) fn boot_time() -> Option<SystemTime> {
    None
}

/// Nobody can be found by what it has open.
pub fn guards_with_open(_file: &Path) -> Vec<Pid> {
    Vec::new()
}

/// No guard is ever listed.
pub(super) fn kill_and_wait(_pid: Pid) {}

/// No guard is ever listed.
pub(super) fn has_runner(_guard: Pid) -> bool {
    true
}

/// It cannot be found out on this system.
pub fn is_stopped(_pid: Pid) -> bool {
    false
}

/// That cannot be found out: it is given time.
pub fn waits_for_git(_pid: Pid) -> bool {
    true
}

/// That cannot be found out on this system.
pub(in crate::process) fn programs_below(_pid: u32) -> Vec<String> {
    Vec::new()
}

/// It cannot be found out on this system.
pub(crate) fn file_may_be_in_use(_file: &Path, _since: SystemTime, _places: &[&Path]) -> bool {
    true
}

/// Shows the job itself; its session and group carry its id, and a signal to it reaches the group.
pub(super) fn below(root: u32, job: u32, visit: &mut dyn FnMut(&Process)) {
    visit(&Process {
        pid: job,
        parent: root,
        group: job,
        session: job,
        zombie: true,
        cpu_ms: 0,
        children_cpu_ms: 0,
        started: 0,
        name: String::new(),
    });
}

/// Asks `ps`: seldom enough not to matter.
pub(in crate::process) fn sample(guard: u32) -> Option<(TreeSample, Members)> {
    let listed = std::process::Command::new("ps").args(["-axo", "pid=,ppid=,time="]).output().ok()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let rows: Vec<(u32, u32, u64)> = listed
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?, milliseconds(fields.next()?)?))
        })
        .collect();
    rows.iter().find(|(pid, ..)| *pid == guard)?;
    let mut sample = TreeSample::default();
    let mut open = vec![guard];
    while let Some(parent) = open.pop() {
        for (pid, _, cpu_ms) in rows.iter().filter(|(pid, of, _)| *of == parent && *pid != parent) {
            sample.cpu_ms += cpu_ms;
            sample.processes ^= u64::from(*pid).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sample.count += 1;
            open.push(*pid);
        }
    }
    Some((sample, Members::new()))
}

/// Reads `[[hours:]minutes:]seconds[.hundredths]`.
fn milliseconds(time: &str) -> Option<u64> {
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let seconds =
        whole.split(':').try_fold(0, |sum: u64, part| Some(sum * 60 + part.parse::<u64>().ok()?))?;
    Some(seconds * 1000 + fraction.parse::<u64>().ok()? * 10)
}

/// Environments of others cannot be read here.
pub(super) fn tagged(_tag: &str) -> Vec<Process> {
    Vec::new()
}

/// There is no way to tell.
pub(super) fn chase(_tag: &str) -> std::collections::BTreeSet<u32> {
    std::collections::BTreeSet::new()
}

/// Our own group.
pub(super) fn groups_of_own_line() -> BTreeSet<u32> {
    BTreeSet::from([super::own_group()])
}

/// Orphans go to init here.
pub(super) fn orphans(_lost: &LostGuard<'_>, _guards: &BTreeSet<u32>) -> Vec<Process> {
    Vec::new()
}

/// Not needed on this system: nothing is adopted.
pub(in crate::process) fn identity(_pid: u32) -> Option<u64> {
    None
}
