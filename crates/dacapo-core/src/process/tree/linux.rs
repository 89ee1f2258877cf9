//! Trees of processes from `/proc`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process};

use self::proc::Proc;
use super::{Adopt, LostGuard, Members, PATIENCE, Process};
use crate::process::liveness::TreeSample;
use crate::process::{RUNNER_ARGUMENT, guard, is_runner};

mod proc;

/// What a guard calls itself.
const GUARD_NAME: &str = "dacapo-guard";

/// Many lives of a process that only starts the next: whatever is on its way passes by within this time.
const CHASE: Duration = Duration::from_millis(30);
/// Where to look around the newest id.
const CHASE_BEHIND: u32 = 6;
const CHASE_AHEAD: u32 = 3;

/// Whether orphaned descendants become children of this process instead of init's.
pub(in crate::process) fn adopt(whom: Adopt) -> rustix::io::Result<()> {
    rustix::process::set_child_subreaper(match whom {
        Adopt::Orphans => Some(rustix::process::getpid()),
        Adopt::Nobody => None,
    })
}

/// Waits for orphans that have become our children and have ended since: nobody else will. They are told from children of
/// our own, for which somebody waits, by a session that is not ours.
pub(in crate::process) fn reap_adopted(guards: &BTreeSet<u32>) {
    let proc = Proc::real();
    let own_pid = std::process::id();
    let Some(own) = proc.process(own_pid) else { return };
    for child in proc.children(own_pid).into_iter().filter(|child| !guards.contains(child)) {
        let adopted = proc.process(child).filter(|child| child.zombie && child.session != own.session);
        if let Some(pid) = adopted.and_then(|child| Pid::from_raw(child.pid.cast_signed())) {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}

/// Lets the kernel kill this process when the *thread* that forked it ends. Between fork and exec.
pub(in crate::process) fn die_with_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
}

/// Whether `/proc` is there: without it no program of ours can be started again as a guard, and nothing that an agent
/// started can be found.
pub fn can_see_processes() -> io::Result<()> {
    Proc::real().is_there()
}

/// Visits every process below `root`. The job needs no extra mention here: it cannot leave the tree of a subreaper.
pub(super) fn below(root: u32, _job: u32, visit: &mut dyn FnMut(&Process)) {
    Proc::real().below(root, visit);
}

/// What the tree below a guard uses, the guard itself left out, and who is in it.
pub(in crate::process) fn sample(guard: u32) -> Option<(TreeSample, Members)> {
    Proc::real().sample(guard)
}

/// Every process that carries the tag, with everything below it and in its session, except the caller's own line.
pub(super) fn tagged(tag: &str) -> Vec<Process> {
    let proc = Proc::real();
    let all = proc.all();
    let own_line = ancestors(&all, std::process::id());
    let own_sessions: HashSet<u32> =
        all.iter().filter(|process| own_line.contains(&process.pid)).map(|process| process.session).collect();
    // `environ` shows the environment at exec. A program that changes its own variables is still found; one that was
    // started with an empty environment is found by its session.
    let carriers: Vec<&Process> = all
        .iter()
        .filter(|process| !own_line.contains(&process.pid) && proc.carries(process.pid, tag) == Some(true))
        .collect();
    let sessions: HashSet<u32> = carriers
        .iter()
        .map(|process| process.session)
        // Session 0 belongs to the kernel or to another namespace, 1 to init: never a job's.
        .filter(|session| *session > 1 && !own_sessions.contains(session))
        .collect();
    let roots: BTreeSet<u32> = carriers
        .iter()
        .map(|process| process.pid)
        .chain(all.iter().filter(|process| sessions.contains(&process.session)).map(|process| process.pid))
        .collect();
    with_descendants(&all, &roots).into_iter().filter(|process| !own_line.contains(&process.pid)).collect()
}

/// Ends processes with the tag that are too short-lived for [`tagged`]: each starts the next and exits, sooner than one can
/// look at all there are. But the kernel tells the newest id, and there, or right beside it, such a one is.
pub(super) fn chase(tag: &str) -> BTreeSet<u32> {
    let proc = Proc::real();
    let own_line = ancestors(&proc.all(), std::process::id());
    let mut killed = BTreeSet::new();
    let start = Instant::now();
    while start.elapsed() < CHASE {
        let Some(newest) = proc.newest_pid() else { break };
        for pid in newest.saturating_sub(CHASE_BEHIND)..=newest.saturating_add(CHASE_AHEAD) {
            if !own_line.contains(&pid)
                && proc.carries(pid, tag) == Some(true)
                && let Some(process) = Pid::from_raw(pid.cast_signed())
                && kill_process(process, Signal::KILL).is_ok()
            {
                killed.insert(pid);
            }
        }
    }
    killed
}

/// The groups of this process and of what it runs under: a signal to one of them would hit the caller.
pub(super) fn groups_of_own_line() -> BTreeSet<u32> {
    let all = Proc::real().all();
    let own_line = ancestors(&all, std::process::id());
    all.iter().filter(|process| own_line.contains(&process.pid)).map(|process| process.group).collect()
}

/// Our children that a lost guard left to us, with everything below them.
///
/// Ours are also the git and other helpers that threads of this process run meanwhile, and tasks that it, or what it has
/// started, has spawned: they live under locks of their own. An orphan is told from them by the tag, by having been seen
/// below the guard, or by these together: it has a session that is not ours (the guard gave its job one), began after the
/// guard did, is not a program of ours, and carries no other tag.
pub(super) fn orphans(lost: &LostGuard<'_>, guards: &BTreeSet<u32>) -> Vec<Process> {
    let proc = Proc::real();
    let own_pid = std::process::id();
    let all = proc.all();
    let Some(own) = all.iter().find(|process| process.pid == own_pid) else { return Vec::new() };
    let own_programs = [proc.program(own_pid), fs::canonicalize(lost.program).ok()];
    let is_ours = |pid| {
        own_programs.contains(&proc.program(pid)) || proc.is_run_as(pid, &[guard::ARGUMENT, RUNNER_ARGUMENT])
    };
    let roots: BTreeSet<u32> = all
        .iter()
        .filter(|process| process.parent == own_pid && !guards.contains(&process.pid))
        .filter(|process| {
            // With the start time: an id that was seen below the guard may have been given to another process since.
            lost.seen.contains(&(process.pid, process.started))
                || match lost.tag.and_then(|tag| proc.carries(process.pid, tag)) {
                    Some(true) => true,
                    Some(false) | None => {
                        // A zombie is harmless, and may be a child that another thread waits for.
                        !process.zombie
                            && process.session != own.session
                            && process.started >= lost.started
                            && !is_ours(process.pid)
                            && !proc.carries_any(process.pid)
                    }
                }
        })
        .map(|process| process.pid)
        .collect();
    with_descendants(&all, &roots)
}

/// When the machine was started: no process of before is alive.
pub(crate) fn boot_time() -> Option<SystemTime> {
    Proc::real().boot_time()
}

/// The guards that have a file open: the task's lock, for one, which no agent ever gets.
pub fn guards_with_open(file: &Path) -> Vec<Pid> {
    let proc = Proc::real();
    let Ok(wanted) = fs::metadata(file) else { return Vec::new() };
    proc.all()
        .into_iter()
        .filter(|process| !process.zombie && process.name == GUARD_NAME)
        .filter(|process| proc.has_open(process.pid, &wanted) == Some(true))
        .filter_map(|process| Pid::from_raw(process.pid.cast_signed()))
        .collect()
}

/// Ends a process that is no child of ours, and waits until it has let go of all it had open.
pub(super) fn kill_and_wait(pid: Pid) {
    let ended = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty());
    let _ = kill_process(pid, Signal::KILL);
    let Ok(ended) = ended else { return };
    let mut ended = [PollFd::new(&ended, PollFlags::IN)];
    let _ = poll(&mut ended, PATIENCE.try_into().ok().as_ref());
}

/// Whether the parent of a guard is a runner, and not whoever takes orphans in.
pub(super) fn has_runner(guard: Pid) -> bool {
    let guard = Proc::real().process(guard.as_raw_nonzero().get().cast_unsigned());
    guard.is_some_and(|guard| is_runner(guard.parent))
}

/// Whether somebody has stopped a process (SIGSTOP, a debugger).
pub fn is_stopped(pid: Pid) -> bool {
    let stat = fs::read_to_string(Proc::real().of(pid.as_raw_nonzero().get().cast_unsigned()).join("stat"));
    let state = |stat: &str| stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    stat.is_ok_and(|stat| matches!(state(&stat), Some('T' | 't')))
}

/// Whether a git is at work right below a process, or below a guard of it.
pub fn waits_for_git(pid: Pid) -> bool {
    let proc = Proc::real();
    let below = |pid| proc.children(pid).into_iter().filter_map(|child| proc.process(child));
    let is_git = |child: &Process| !child.zombie && child.name.starts_with("git");
    below(pid.as_raw_nonzero().get().cast_unsigned())
        .any(|child| is_git(&child) || child.name == GUARD_NAME && below(child.pid).any(|job| is_git(&job)))
}

/// The command lines of what a git has started that is no git, for people.
pub(in crate::process) fn programs_below(git: u32) -> Vec<String> {
    let proc = Proc::real();
    let (mut gits, mut found) = (vec![git], Vec::new());
    while let Some(git) = gits.pop() {
        for child in proc.children(git).into_iter().filter_map(|child| proc.process(child)) {
            if child.name == "git" {
                gits.push(child.pid);
            } else {
                found.extend(proc.command_line(child.pid));
            }
        }
    }
    found
}

/// Whether a process has a file open, or is a git that began before `since` and works below one of `places`: git closes some
/// of its lock files long before it removes them. True also where that cannot be found out.
pub(crate) fn file_may_be_in_use(file: &Path, since: SystemTime, places: &[&Path]) -> bool {
    let proc = Proc::real();
    let (Ok(wanted), Some(boot)) = (fs::metadata(file), proc.boot_time()) else { return true };
    let all = proc.all();
    if !all.iter().any(|process| process.pid == std::process::id()) {
        return true;
    }
    let ticks_per_second = 1000.0 / proc.ms_per_tick;
    all.iter().filter(|process| !process.zombie).any(|process| {
        #[expect(clippy::cast_precision_loss, reason = "hundredths of a second since the boot")]
        let began = boot + Duration::from_secs_f64(process.started as f64 / ticks_per_second);
        // Our own gits are waited for one by one; those that were started ahead take no locks.
        let is_ours = process.parent == std::process::id();
        let is_git = process.name.starts_with("git") && began <= since && !is_ours;
        let works_there = || match fs::read_link(proc.of(process.pid).join("cwd")) {
            Ok(cwd) => places.iter().any(|place| cwd.starts_with(place)),
            // One that has ended since has none; of somebody else's nobody knows.
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        };
        proc.has_open(process.pid, &wanted) == Some(true) || is_git && works_there()
    })
}

/// When a process started: with its id, what it is recognised by.
pub(in crate::process) fn identity(pid: u32) -> Option<u64> {
    Proc::real().process(pid).map(|process| process.started)
}

/// The processes in `roots` and everything below them.
fn with_descendants(all: &[Process], roots: &BTreeSet<u32>) -> Vec<Process> {
    let mut children = BTreeMap::<u32, Vec<&Process>>::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: BTreeMap<u32, &Process> = all
        .iter()
        .filter(|process| roots.contains(&process.pid))
        .map(|process| (process.pid, process))
        .collect();
    let mut open: Vec<u32> = roots.iter().copied().collect();
    while let Some(parent) = open.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if found.insert(child.pid, child).is_none() {
                open.push(child.pid);
            }
        }
    }
    found.into_values().cloned().collect()
}

/// This process and everything it runs under.
fn ancestors(all: &[Process], pid: u32) -> HashSet<u32> {
    let parents: BTreeMap<u32, u32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let mut line = HashSet::from([0, 1]);
    let mut at = pid;
    while line.insert(at) {
        at = parents.get(&at).copied().unwrap_or(0);
    }
    line
}
