//! A `/proc`, read.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::{Members, Process, TAG_VARIABLE};
use super::with_descendants;
use crate::process::liveness::TreeSample;

/// A `/proc`; tests bring their own.
pub(super) struct Proc {
    root: PathBuf,
    pub(super) ms_per_tick: f64,
}

impl Proc {
    pub(super) fn real() -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a hundred ticks a second")]
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Self { root: PathBuf::from("/proc"), ms_per_tick: 1000.0 / ticks }
    }

    pub(super) fn is_there(&self) -> io::Result<()> {
        let own = self.root.join("self/stat");
        fs::read(&own).map(drop).map_err(|error| {
            let root = self.root.display();
            io::Error::new(
                error.kind(),
                format!("cannot read {root} ({error}): Dacapo finds and ends by it what agents start; mount -t proc proc {root}"),
            )
        })
    }

    pub(super) fn of(&self, pid: u32) -> PathBuf {
        self.root.join(pid.to_string())
    }

    pub(super) fn process(&self, pid: u32) -> Option<Process> {
        self.parse(pid, &fs::read(self.of(pid).join("stat")).ok()?)
    }

    /// Reads `pid (name) state ppid …`; the name may hold spaces and parentheses.
    fn parse(&self, pid: u32, stat: &[u8]) -> Option<Process> {
        // A process can call itself `x) S 1 (`: only the last parenthesis ends the name for sure.
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
    pub(super) fn newest_pid(&self) -> Option<u32> {
        fs::read_to_string(self.root.join("loadavg")).ok()?.split_ascii_whitespace().next_back()?.parse().ok()
    }

    pub(super) fn all(&self) -> Vec<Process> {
        self.pids().filter_map(|pid| self.process(pid)).collect()
    }

    /// Visits all descendants of `root`, each as soon as it is found: a fork loop is hit only by being quick.
    pub(super) fn below(&self, root: u32, visit: &mut dyn FnMut(&Process)) {
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

    pub(super) fn children(&self, pid: u32) -> Vec<u32> {
        // A child is listed under the *thread* that forked it, so the lists of all threads are needed.
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

    pub(super) fn sample(&self, guard: u32) -> Option<(TreeSample, Members)> {
        let mut members = Vec::new();
        // What has ended and was waited for is counted in the guard's `children_cpu_ms`: without it the total would
        // fall when a process ends.
        let mut sample = TreeSample { cpu_ms: self.process(guard)?.children_cpu_ms, ..TreeSample::default() };
        self.below(guard, &mut |process| {
            sample.cpu_ms += process.cpu_ms + process.children_cpu_ms;
            // With XOR the order in which processes are found does not matter. The start time is part of it, so that
            // an id that was reused counts as another process.
            sample.processes ^= scatter(u64::from(process.pid) ^ process.started.rotate_left(32));
            sample.count += 1;
            members.push((process.pid, process.started));
        });
        Some((sample, members))
    }

    /// Does this process carry the tag? `None` when its environment is empty or not ours to read.
    pub(super) fn carries(&self, pid: u32, tag: &str) -> Option<bool> {
        let environ = self.environ(pid)?;
        let wanted = format!("{TAG_VARIABLE}={tag}");
        Some(environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    }

    pub(super) fn carries_any(&self, pid: u32) -> bool {
        let prefix = format!("{TAG_VARIABLE}=");
        self.environ(pid).is_some_and(|environ| {
            environ.split(|byte| *byte == 0).any(|entry| entry.starts_with(prefix.as_bytes()))
        })
    }

    fn environ(&self, pid: u32) -> Option<Vec<u8>> {
        fs::read(self.of(pid).join("environ")).ok().filter(|environ| !environ.is_empty())
    }

    /// Whether the process has this file open. `None` when it is not ours to look.
    pub(super) fn has_open(&self, pid: u32, wanted: &fs::Metadata) -> Option<bool> {
        use std::os::unix::fs::MetadataExt as _;
        let open = fs::read_dir(self.of(pid).join("fd")).ok()?;
        Some(open.flatten().any(|entry| {
            let is_it = |open: fs::Metadata| (open.dev(), open.ino()) == (wanted.dev(), wanted.ino());
            fs::metadata(entry.path()).is_ok_and(is_it)
        }))
    }

    pub(super) fn boot_time(&self) -> Option<SystemTime> {
        let stat = fs::read_to_string(self.root.join("stat")).ok()?;
        let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Whether its first argument is one of these. Of our own program that says more than its path does, which is another
    /// one when the program was replaced meanwhile.
    pub(super) fn is_run_as(&self, pid: u32, arguments: &[&str]) -> bool {
        let line = fs::read(self.of(pid).join("cmdline")).unwrap_or_default();
        let first = line.split(|byte| *byte == 0).nth(1);
        first.is_some_and(|first| arguments.iter().any(|argument| argument.as_bytes() == first))
    }

    /// Its words; of a shell that was given a command, that command.
    pub(super) fn command_line(&self, pid: u32) -> Option<String> {
        let line = fs::read(self.of(pid).join("cmdline")).ok()?;
        let text = String::from_utf8_lossy(line.strip_suffix(b"\0").unwrap_or(&line)).into_owned();
        let words: Vec<&str> = text.split('\0').collect();
        match words[..] {
            [shell, "-c", command, ..] if shell.ends_with("sh") => Some(command.to_owned()),
            [""] => None,
            _ => Some(words.join(" ")),
        }
    }

    pub(super) fn program(&self, pid: u32) -> Option<PathBuf> {
        fs::read_link(self.of(pid).join("exe")).ok().map(|exe| Path::new(&exe).to_path_buf())
    }
}

/// Spreads the bits, so that sets of neighbouring ids differ in their sum.
fn scatter(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::{ancestors, can_see_processes};
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
