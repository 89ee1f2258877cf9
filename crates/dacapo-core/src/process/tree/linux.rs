//! Trees of processes from `/proc`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use super::{LostGuard, Members, Process, TAG_VARIABLE};
use crate::process::liveness::TreeSample;

/// What a guard calls itself.
const GUARD_NAME: &str = "dacapo-guard";

/// Many lives of a process that only starts the next: whatever is on its way passes by within this time.
const CHASE: Duration = Duration::from_millis(30);
/// Where to look around the newest id.
const CHASE_BEHIND: u32 = 6;
const CHASE_AHEAD: u32 = 3;

/// Makes orphaned descendants children of this process instead of init's.
pub(in crate::process) fn become_reaper() -> rustix::io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
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
    let carriers: Vec<&Process> = all
        .iter()
        .filter(|process| !own_line.contains(&process.pid) && proc.carries(process.pid, tag) == Some(true))
        .collect();
    let sessions: HashSet<u32> = carriers
        .iter()
        .map(|process| process.session)
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
/// Ours are also the git and other helpers that threads of this process run meanwhile, and tasks it has spawned. An
/// orphan is told from them by the tag, by having been seen below the guard, or by these together: it has a session that
/// is not ours (the guard gave its job one), began after the guard did, is not our own program, and carries no other tag.
pub(super) fn orphans(lost: &LostGuard<'_>, guards: &BTreeSet<u32>) -> Vec<Process> {
    let proc = Proc::real();
    let own_pid = std::process::id();
    let all = proc.all();
    let Some(own) = all.iter().find(|process| process.pid == own_pid) else { return Vec::new() };
    let own_program = proc.program(own_pid);
    let roots: BTreeSet<u32> = all
        .iter()
        .filter(|process| process.parent == own_pid && !guards.contains(&process.pid))
        .filter(|process| {
            lost.seen.contains(&(process.pid, process.started))
                || match lost.tag.and_then(|tag| proc.carries(process.pid, tag)) {
                    Some(true) => true,
                    Some(false) | None => {
                        // A zombie is harmless, and may be a child that another thread waits for.
                        !process.zombie
                            && process.session != own.session
                            && process.started >= lost.started
                            && proc.program(process.pid) != own_program
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

/// Whether somebody has stopped a process (SIGSTOP, a debugger).
pub fn is_stopped(pid: Pid) -> bool {
    let stat = fs::read_to_string(Proc::real().of(pid.as_raw_nonzero().get().cast_unsigned()).join("stat"));
    let state = |stat: &str| stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    stat.is_ok_and(|stat| matches!(state(&stat), Some('T' | 't')))
}

/// Whether a git is at work right below a process.
pub fn waits_for_git(pid: Pid) -> bool {
    let proc = Proc::real();
    let children = proc.children(pid.as_raw_nonzero().get().cast_unsigned());
    let is_git =
        |child| proc.process(child).is_some_and(|child| !child.zombie && child.name.starts_with("git"));
    children.into_iter().any(is_git)
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

/// A `/proc`; tests bring their own.
struct Proc {
    root: PathBuf,
    ms_per_tick: f64,
}

impl Proc {
    fn real() -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a hundred ticks a second")]
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Self { root: PathBuf::from("/proc"), ms_per_tick: 1000.0 / ticks }
    }

    fn is_there(&self) -> io::Result<()> {
        let own = self.root.join("self/stat");
        fs::read(&own).map(drop).map_err(|error| {
            let root = self.root.display();
            io::Error::new(
                error.kind(),
                format!("cannot read {root} ({error}): Dacapo finds and ends by it what agents start; mount -t proc proc {root}"),
            )
        })
    }

    fn of(&self, pid: u32) -> PathBuf {
        self.root.join(pid.to_string())
    }

    fn process(&self, pid: u32) -> Option<Process> {
        self.parse(pid, &fs::read(self.of(pid).join("stat")).ok()?)
    }

    /// Reads `pid (name) state ppid …`; the name may hold spaces and parentheses.
    fn parse(&self, pid: u32, stat: &[u8]) -> Option<Process> {
        let (open, close) = (memchr::memchr(b'(', stat)?, memchr::memrchr(b')', stat)?);
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().take(20).collect();
        let number =
            |at: usize| fields.get(at)?.parse::<i64>().ok().map(|number| number.max(0).cast_unsigned());
        let id = |at: usize| u32::try_from(number(at)?).ok();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "ms"
        )]
        let ms = |ticks: u64| (ticks as f64 * self.ms_per_tick) as u64;
        Some(Process {
            pid,
            parent: id(1)?,
            group: id(2)?,
            session: id(3)?,
            zombie: matches!(*fields.first()?, "Z" | "X"),
            cpu_ms: ms(number(11)? + number(12)?),
            children_cpu_ms: ms(number(13)? + number(14)?),
            started: number(19)?,
            name,
        })
    }

    fn pids(&self) -> impl Iterator<Item = u32> {
        fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
    }

    /// The id that was given out last: the end of the line in `loadavg`.
    fn newest_pid(&self) -> Option<u32> {
        fs::read_to_string(self.root.join("loadavg")).ok()?.split_ascii_whitespace().next_back()?.parse().ok()
    }

    fn all(&self) -> Vec<Process> {
        self.pids().filter_map(|pid| self.process(pid)).collect()
    }

    /// Visits all descendants of `root`, each as soon as it is found: a fork loop is hit only by being quick.
    fn below(&self, root: u32, visit: &mut dyn FnMut(&Process)) {
        if !self.has_children_files(root) {
            return self.below_by_scan(root, visit);
        }
        let mut seen = HashSet::from([root]);
        let mut open = vec![root];
        while let Some(parent) = open.pop() {
            for child in self.children(parent) {
                if seen.insert(child)
                    && let Some(process) = self.process(child)
                {
                    visit(&process);
                    open.push(child);
                }
            }
        }
    }

    fn has_children_files(&self, pid: u32) -> bool {
        self.of(pid).join("task").join(pid.to_string()).join("children").exists()
    }

    fn children(&self, pid: u32) -> Vec<u32> {
        let tasks = fs::read_dir(self.of(pid).join("task")).into_iter().flatten().flatten();
        tasks
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .flat_map(|list| {
                list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
            })
            .collect()
    }

    /// For kernels without `children` files. Ids grow, so nearly all are found in one pass, parents before children.
    fn below_by_scan(&self, root: u32, visit: &mut dyn FnMut(&Process)) {
        let mut tree = BTreeSet::from([root]);
        let mut others = Vec::new();
        for process in self.pids().filter_map(|pid| self.process(pid)) {
            if process.pid != root && tree.contains(&process.parent) {
                tree.insert(process.pid);
                visit(&process);
            } else {
                others.push(process);
            }
        }
        for process in with_descendants(&others, &tree) {
            if !tree.contains(&process.pid) {
                visit(&process);
            }
        }
    }

    fn sample(&self, guard: u32) -> Option<(TreeSample, Members)> {
        let mut members = Vec::new();
        let mut sample = TreeSample { cpu_ms: self.process(guard)?.children_cpu_ms, ..TreeSample::default() };
        self.below(guard, &mut |process| {
            sample.cpu_ms += process.cpu_ms + process.children_cpu_ms;
            sample.processes ^= scatter(u64::from(process.pid) ^ process.started.rotate_left(32));
            sample.count += 1;
            members.push((process.pid, process.started));
        });
        Some((sample, members))
    }

    /// Does this process carry the tag? `None` when its environment is empty or not ours to read.
    fn carries(&self, pid: u32, tag: &str) -> Option<bool> {
        let environ = self.environ(pid)?;
        let wanted = format!("{TAG_VARIABLE}={tag}");
        Some(environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    }

    fn carries_any(&self, pid: u32) -> bool {
        let prefix = format!("{TAG_VARIABLE}=");
        self.environ(pid).is_some_and(|environ| {
            environ.split(|byte| *byte == 0).any(|entry| entry.starts_with(prefix.as_bytes()))
        })
    }

    fn environ(&self, pid: u32) -> Option<Vec<u8>> {
        fs::read(self.of(pid).join("environ")).ok().filter(|environ| !environ.is_empty())
    }

    /// Whether the process has this file open. `None` when it is not ours to look.
    fn has_open(&self, pid: u32, wanted: &fs::Metadata) -> Option<bool> {
        use std::os::unix::fs::MetadataExt as _;
        let open = fs::read_dir(self.of(pid).join("fd")).ok()?;
        Some(open.flatten().any(|entry| {
            let is_it = |open: fs::Metadata| (open.dev(), open.ino()) == (wanted.dev(), wanted.ino());
            fs::metadata(entry.path()).is_ok_and(is_it)
        }))
    }

    fn boot_time(&self) -> Option<SystemTime> {
        let stat = fs::read_to_string(self.root.join("stat")).ok()?;
        let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    fn program(&self, pid: u32) -> Option<PathBuf> {
        fs::read_link(self.of(pid).join("exe")).ok().map(|exe| Path::new(&exe).to_path_buf())
    }
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

/// Spreads the bits, so that sets of neighbouring ids differ in their sum.
fn scatter(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `10 → 11 → 12`, `10 → 5` (an id from before the ids began anew), `1 → 20`.
    fn fake(children_files: bool) -> (tempfile::TempDir, Proc) {
        let dir = tempfile::tempdir().unwrap();
        for (pid, parent, children) in
            [(10, 1, "11 5 "), (11, 10, "12 "), (12, 11, ""), (5, 10, ""), (20, 1, "")]
        {
            let task = dir.path().join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&task).unwrap();
            let stat =
                format!("{pid} (a ) b) S {parent} {pid} {pid} 0 -1 0 0 0 0 0 3 4 50 60 20 0 1 0 {pid}00 0");
            fs::write(dir.path().join(format!("{pid}/stat")), stat).unwrap();
            if children_files {
                fs::write(task.join("children"), children).unwrap();
            }
        }
        let proc = Proc { root: dir.path().to_path_buf(), ms_per_tick: 10.0 };
        (dir, proc)
    }

    #[test]
    fn both_ways_find_the_whole_tree() {
        for children_files in [true, false] {
            let (_dir, proc) = fake(children_files);
            let mut found = BTreeSet::new();
            proc.below(10, &mut |process| assert!(found.insert(process.pid)));
            assert_eq!(found, BTreeSet::from([5, 11, 12]), "children files: {children_files}");
        }
    }

    #[test]
    fn a_sample_counts_the_tree_and_not_the_guard() {
        let (_dir, proc) = fake(true);
        let (sample, members) = proc.sample(10).unwrap();
        assert_eq!(members.len(), 3);
        assert_eq!((sample.cpu_ms, sample.count), (1100 + 3 * (70 + 1100), 3));
        assert_ne!(proc.sample(11).unwrap().0.processes, sample.processes);
        assert_eq!(proc.sample(99), None);
    }

    #[test]
    fn a_name_with_parentheses_is_read_whole() {
        let (_dir, proc) = fake(false);
        let process = proc.process(12).unwrap();
        assert_eq!((process.name.as_str(), process.parent, process.started), ("a ) b", 11, 1200));
    }

    #[test]
    fn r2_a_proc_that_is_not_mounted_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let proc = Proc { root: dir.path().to_path_buf(), ms_per_tick: 10.0 };
        let error = proc.is_there().unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot read {} (No such file", dir.path().display())), "{error}");
        assert!(error.contains("mount -t proc"), "{error}");
        can_see_processes().unwrap();
    }

    #[test]
    fn the_own_line_ends_at_init() {
        let (_dir, proc) = fake(false);
        assert_eq!(ancestors(&proc.all(), 12), HashSet::from([0, 1, 10, 11, 12]));
    }
}
