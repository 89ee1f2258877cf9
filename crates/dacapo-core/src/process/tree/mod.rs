//! Finding and ending whole trees of processes.
//!
//! On Linux every descendant of the guard is reachable, because the guard is a subreaper: what loses its parent becomes
//! the guard's child. Elsewhere only the process group of the job is.

use std::collections::BTreeSet;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::Unreachable;

mod frozen;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

pub(super) use frozen::Frozen;
pub use platform::can_see_processes;
pub(super) use platform::{adopt, die_with_parent, identity, programs_below, reap_adopted, sample};
pub(crate) use platform::{boot_time, file_may_be_in_use};
pub use platform::{guards_with_open, is_stopped, waits_for_git};

/// The variable whose value ties a process to a run; callers put it into the environment of every job.
pub const TAG_VARIABLE: &str = "DACAPO_RUN";

/// How long to try when all that is left refuses to be signalled.
const PATIENCE_WITH_FOREIGN: Duration = Duration::from_secs(2);
/// How long to try when something accepts the signal and does not go: a fork loop, or a process stuck in the kernel.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process as the system shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// Ended, but not yet waited for.
    pub(super) zombie: bool,
    /// Own processor time.
    pub(super) cpu_ms: u64,
    /// Processor time of the children it has waited for.
    pub(super) children_cpu_ms: u64,
    /// When it started, in a unit that only compares.
    pub(super) started: u64,
    pub(super) name: String,
}

/// Processes by id and start.
pub(super) type Members = Vec<(u32, u64)>;

/// Who becomes our child when it loses its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adopt {
    /// All that descend from us.
    Orphans,
    /// Nobody: they go to init.
    Nobody,
}

/// What is known about a guard that died.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "orphans go to init there"))]
pub(super) struct LostGuard<'a> {
    /// The tag of its job, if it had one.
    pub(super) tag: Option<&'a str>,
    /// When it started, from `Process::started`.
    pub(super) started: u64,
    /// Processes seen below it, with their start.
    pub(super) seen: &'a [(u32, u64)],
    /// The program that it was, which is not always the one that runs here.
    pub(super) program: &'a std::path::Path,
}

/// What a hunt has done so far.
#[derive(Debug)]
pub(super) struct Hunt {
    begun: Instant,
    killed: BTreeSet<u32>,
    refused: Vec<Unreachable>,
    alive: Vec<Unreachable>,
    fresh: bool,
}

impl Hunt {
    pub(super) fn new() -> Self {
        Self {
            begun: Instant::now(),
            killed: BTreeSet::new(),
            refused: Vec::new(),
            alive: Vec::new(),
            fresh: false,
        }
    }

    /// Begins a pass over what is there now.
    fn begin_pass(&mut self) {
        self.refused.clear();
        self.alive.clear();
        self.fresh = false;
    }

    /// Sends SIGKILL to the process and to its group.
    ///
    /// The group is the stronger weapon: the kernel lets no fork slip past a signal to a group, so a loop of processes
    /// that fork and exit dies although no list of it is ever up to date.
    fn kill(&mut self, process: &Process, spared_groups: &BTreeSet<u32>) {
        if !spared_groups.contains(&process.group) {
            signal_group(process.group, Signal::KILL);
        }
        let sent = signal(process.pid, Signal::KILL);
        if process.zombie {
            return;
        }
        let named = || Unreachable { pid: process.pid, name: process.name.clone() };
        match sent {
            Ok(()) => {
                self.alive.push(named());
                self.fresh |= self.killed.insert(process.pid);
            }
            Err(rustix::io::Errno::PERM) => self.refused.push(named()),
            // Gone, by the signal to its group or by itself.
            Err(_) => self.fresh |= self.killed.insert(process.pid),
        }
    }

    /// True when the last pass hit something new, so that the next one should follow at once.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// True when going on would only burn time.
    pub(super) fn is_hopeless(&self) -> bool {
        let patience = if self.alive.is_empty() { PATIENCE_WITH_FOREIGN } else { PATIENCE };
        self.begun.elapsed() >= patience
    }

    /// What the last pass has seen alive.
    pub(super) fn survivors(&self) -> Vec<Unreachable> {
        self.refused.iter().chain(&self.alive).cloned().collect()
    }

    /// Everything that was hit.
    pub(super) fn killed(&self) -> &BTreeSet<u32> {
        &self.killed
    }
}

/// Sends SIGKILL once to everything below this process.
pub(super) fn kill_descendants(hunt: &mut Hunt, job: u32) {
    // The job leaves our group before it becomes itself; for an instant it is still in it.
    let own_group = BTreeSet::from([own_group()]);
    hunt.begin_pass();
    platform::below(std::process::id(), job, &mut |process| hunt.kill(process, &own_group));
}

/// Sends SIGTERM once to everything below this process.
///
/// First the list, then the signals: a parent that ends at once hands its children up to where the walk has been. And
/// again for whom the list has missed, but not for ever: a fork loop is the business of SIGKILL.
pub(super) fn ask_descendants_to_end(job: u32) {
    let mut asked = BTreeSet::new();
    for _ in 0..10 {
        let mut missed = Vec::new();
        platform::below(std::process::id(), job, &mut |process| {
            if asked.insert(process.pid) {
                missed.push((process.pid, process.group));
            }
        });
        if missed.is_empty() {
            return;
        }
        for (pid, group) in missed {
            let _ = signal(pid, Signal::TERM);
            // Where descendants cannot be listed, the group stands for them.
            if cfg!(not(target_os = "linux")) {
                signal_group(group, Signal::TERM);
            }
        }
    }
}

/// What `sweep` did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The processes it ended.
    pub killed: Vec<u32>,
    /// The processes it found and could not end.
    pub unreachable: Vec<Unreachable>,
}

/// Ends every process whose environment carries `DACAPO_RUN=<tag>`, everything below those, and everything in their
/// sessions; for use after runner and guard were both killed. It never touches the caller or what the caller runs under.
///
/// A daemon that left the session *and* emptied its environment cannot be found this way. Does nothing outside Linux.
pub fn sweep(tag: &str) -> Swept {
    hunt_down(|| platform::tagged(tag), Some(tag))
}

/// Ends the guards that have a file open (a task's lock, for one), that somebody has stopped (SIGSTOP) and whose runner is gone,
/// with all that lives below them. A guard that is woken could be stopped again; a stopped one keeps what it watched over below
/// it, so that it can be ended from here.
pub fn end_stopped_guards(file: &std::path::Path) -> Swept {
    let guards = guards_with_open(file).into_iter().filter(|guard| is_stopped(*guard));
    let guards: Vec<Pid> = guards.filter(|guard| !platform::has_runner(*guard)).collect();
    if guards.is_empty() {
        return Swept::default();
    }
    let below = || {
        let mut found = Vec::new();
        for guard in &guards {
            let guard = guard.as_raw_nonzero().get().cast_unsigned();
            platform::below(guard, guard, &mut |process| found.push(process.clone()));
        }
        found
    };
    let swept = hunt_down(below, None);
    guards.into_iter().for_each(platform::kill_and_wait);
    swept
}

/// Ends what a guard that died left behind; those processes are this process's children now.
pub(super) fn end_orphans(
    lost: &LostGuard<'_>,
    guards: impl Fn() -> MutexGuard<'static, BTreeSet<u32>>,
) -> Swept {
    // The lock on the list of guards is held while looking, so that none can be started and mistaken for an orphan.
    hunt_down(|| platform::orphans(lost, &guards()), lost.tag)
}

/// Kills what `quarry` lists until it lists nothing, and nothing with the tag is too fast to be listed.
fn hunt_down(quarry: impl Fn() -> Vec<Process>, tag: Option<&str>) -> Swept {
    let spared_groups = platform::groups_of_own_line();
    let mut hunt = Hunt::new();
    let mut unreachable = Vec::new();
    loop {
        hunt.begin_pass();
        let found = quarry();
        for process in &found {
            hunt.kill(process, &spared_groups);
        }
        // A zombie stays listed until its parent waits for it, and orphans of a lost guard are children of ours now.
        for pid in hunt.killed.iter().copied() {
            reap(pid);
        }
        if found.iter().all(|process| process.zombie) {
            let caught = tag.map(platform::chase).unwrap_or_default();
            if caught.is_empty() {
                break;
            }
            hunt.killed.extend(caught);
        }
        if hunt.is_hopeless() {
            unreachable = hunt.survivors();
            break;
        }
        if !hunt.is_fresh() {
            // The system offers nothing to wait for: these processes are not all children of ours.
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    // A process that was signalled but is still alive was not ended, whatever `killed` says.
    let lost: BTreeSet<u32> = unreachable.iter().map(|process| process.pid).collect();
    Swept { killed: hunt.killed.difference(&lost).copied().collect(), unreachable }
}

/// Lets a process go on that was stopped (SIGSTOP, Ctrl-Z).
pub fn wake(pid: Pid) {
    // One that is gone needs no waking.
    let _ = kill_process(pid, Signal::CONT);
}

/// Waits for an orphan that became our child. What was never ours gives an error, which says all there is to say.
fn reap(pid: u32) {
    let _ = rustix::process::waitpid(Pid::from_raw(pid.cast_signed()), rustix::process::WaitOptions::NOHANG);
}

fn signal(pid: u32, signal: Signal) -> rustix::io::Result<()> {
    match Pid::from_raw(pid.cast_signed()) {
        Some(pid) if pid.as_raw_nonzero().get() > 1 => kill_process(pid, signal),
        _ => Err(rustix::io::Errno::SRCH),
    }
}

pub(super) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group.cast_signed()).filter(|_| group > 1) {
        let _ = kill_process_group(group, signal);
    }
}

/// 0 where the group was made outside of this PID namespace, which rustix holds to be impossible.
#[expect(unsafe_code, reason = "rustix makes a NonZero of it")]
fn own_group() -> u32 {
    // SAFETY: getpgrp takes nothing and always succeeds.
    unsafe { libc::getpgrp() }.cast_unsigned()
}
