//! Which guards and runners this process runs below: how Dacapo tells whether an order comes from a person or from an agent.
//!
//! A process cannot choose its ancestors. Everything below a guard stays below it, since a guard is a subreaper, and
//! a guard's command line is the guard's own: whatever an agent does to its environment, session or parent, the walk
//! from it upwards passes its guard. An agent that kills its guard becomes a child of the runner, which is a subreaper too and
//! shows what it is by its name: nobody else can change the name of a process. Outside Linux an orphan goes to init instead,
//! and is not recognised. Below a pid namespace the walk ends too early: see [`super::PidNamespace`].

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::str::FromStr;

use super::guard::ARGUMENT;

/// A data directory, by what the file system knows it by: no other spelling, link or name changes that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HomeId {
    device: u64,
    inode: u64,
}

impl HomeId {
    /// The directory at this path, links followed.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = path.metadata()?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }

    /// Whether this path, links followed, is that directory or lies below it.
    pub fn contains(self, path: &Path) -> bool {
        is_below(path, |home| home == self)
    }
}

impl fmt::Display for HomeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.inode)
    }
}

impl FromStr for HomeId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (device, inode) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self { device: device.parse()?, inode: inode.parse()? })
    }
}

/// What fits of a data directory into the name of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HomeMark(u32);

impl HomeMark {
    fn of(home: HomeId) -> Self {
        let hash = hmac_sha256::Hash::hash(home.to_string().as_bytes());
        Self(u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]))
    }
}

/// A guard or a runner that this process runs below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskAbove {
    pub pid: u32,
    pub works_for: WorksFor,
}

/// The data directory of a guard or a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorksFor {
    /// This one.
    Home(HomeId),
    /// One with this mark.
    Marked(HomeMark),
    /// It does not say.
    Unknown,
}

impl WorksFor {
    /// Whether this path, links followed, is that directory or lies below it. Of one that does not say nobody knows.
    pub fn contains(self, path: &Path) -> bool {
        match self {
            Self::Home(home) => home.contains(path),
            Self::Marked(mark) => is_below(path, |home| HomeMark::of(home) == mark),
            Self::Unknown => true,
        }
    }
}

/// The guards and runners that this process runs below, nearest first. An error means that nobody can tell.
pub fn tasks_above() -> io::Result<Vec<TaskAbove>> {
    Ok(platform::line()?.iter().filter_map(Ancestor::task).collect())
}

/// What runners of a data directory call themselves: as long as a name can be.
const RUNNER_PREFIX: &str = "dacapo-";

/// Lets everybody see that this process is the runner of a task in this data directory. Where that cannot be shown, its guards
/// still are.
pub(super) fn show_as_runner(home: HomeId) {
    platform::call_ourselves(&format!("{RUNNER_PREFIX}{:08x}", HomeMark::of(home).0));
}

/// No task runs below this process any more. One that keeps its memory to itself cannot take its name back, and does not live on
/// for long.
pub(super) fn show_as_no_runner() {
    platform::call_ourselves("dacapo");
}

/// Whether a process shows itself as the runner of some task.
pub(crate) fn is_runner(pid: u32) -> bool {
    platform::name(pid).is_some_and(|name| mark(&name).is_some())
}

/// The mark in the name of a runner.
fn mark(name: &str) -> Option<HomeMark> {
    let digits = name.strip_prefix(RUNNER_PREFIX).filter(|digits| digits.len() == 8)?;
    u32::from_str_radix(digits, 16).ok().map(HomeMark)
}

/// A process above this one.
#[derive(Debug)]
struct Ancestor {
    pid: u32,
    name: String,
    argv: Vec<String>,
}

impl Ancestor {
    fn task(&self) -> Option<TaskAbove> {
        let works_for = if self.argv.get(1).is_some_and(|argument| argument == ARGUMENT) {
            self.argv.get(2).and_then(|text| text.parse().ok()).map_or(WorksFor::Unknown, WorksFor::Home)
        } else {
            WorksFor::Marked(mark(&self.name)?)
        };
        Some(TaskAbove { pid: self.pid, works_for })
    }
}

/// Whether one of the directories that a path leads through, links followed, is meant.
fn is_below(path: &Path, is_meant: impl Fn(HomeId) -> bool) -> bool {
    path.canonicalize().is_ok_and(|real| real.ancestors().any(|dir| HomeId::of(dir).is_ok_and(&is_meant)))
}

/// Processes from the nearest ancestor to the farthest.
type Line = Vec<Ancestor>;

#[cfg(target_os = "linux")]
mod platform {
    use std::fs;
    use std::io;

    use super::{Ancestor, Line};
    use crate::process::procfs::ProcFs;

    pub(super) fn line() -> io::Result<Line> {
        let proc = ProcFs::real()?;
        let own = proc.own_pid()?;
        from(&proc, own)
    }

    pub(super) fn from(proc: &ProcFs, own: u32) -> io::Result<Line> {
        let mut line = Line::new();
        let mut at = own;
        // An error about ourselves is returned: "no guard above" would make an agent's order look like a person's.
        let mut above = stat(proc, at)?.1;
        while above > 0 {
            match argv(proc, above).and_then(|argv| Ok((argv, stat(proc, above)?))) {
                Ok((argv, (name, next))) => {
                    line.push(Ancestor { pid: above, name, argv });
                    (at, above) = (above, next);
                }
                // It ended under our eyes, and somebody else is the parent now.
                Err(_) if stat(proc, at)?.1 != above => above = stat(proc, at)?.1,
                // Somebody has put something in front of it.
                Err(error) if error.raw_os_error() == Some(libc::EXDEV) => return Err(error),
                // Processes of other users can be hidden from us; a guard of ours is none of them.
                Err(_) => break,
            }
        }
        Ok(line)
    }

    /// Only the process itself can write it, so this is for our own.
    pub(super) fn call_ourselves(name: &str) {
        // That of the process as a whole is the one of its first thread, which this may not be.
        let named = fs::write("/proc/self/comm", name);
        if let Err(error) = named {
            tracing::debug!("the process cannot be named: {error}");
        }
    }

    pub(super) fn name(pid: u32) -> Option<String> {
        Some(stat(&ProcFs::real().ok()?, pid).ok()?.0)
    }

    fn argv(proc: &ProcFs, pid: u32) -> io::Result<Vec<String>> {
        let bytes = proc.read(pid, "cmdline")?;
        let words = bytes.split(|byte| *byte == 0);
        Ok(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }

    /// Name and parent, from `pid (name) state ppid …`; the name may hold spaces and parentheses.
    fn stat(proc: &ProcFs, pid: u32) -> io::Result<(String, u32)> {
        let stat = proc.read(pid, "stat")?;
        let odd = || io::Error::other(format!("/proc/{pid}/stat names no parent"));
        let begin = memchr::memchr(b'(', &stat).ok_or_else(odd)? + 1;
        let end = memchr::memrchr(b')', &stat).filter(|end| *end >= begin).ok_or_else(odd)?;
        let rest = String::from_utf8_lossy(&stat[end + 1..]);
        let parent = rest.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok());
        Ok((String::from_utf8_lossy(&stat[begin..end]).into_owned(), parent.ok_or_else(odd)?))
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::collections::HashMap;
    use std::io;

    use super::{Ancestor, Line};

    /// There is no name that others see.
    pub(super) fn call_ourselves(_name: &str) {}

    pub(super) fn name(_pid: u32) -> Option<String> {
        None
    }

    pub(super) fn line() -> io::Result<Line> {
        let listed = std::process::Command::new("ps").args(["-axwwo", "pid=,ppid=,args="]).output()?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let rows: HashMap<u32, (u32, Vec<String>)> = listed
            .lines()
            .filter_map(|row| {
                let mut fields = row.split_ascii_whitespace();
                let (pid, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
                Some((pid, (parent, fields.map(str::to_owned).collect())))
            })
            .collect();
        let mut line = Line::new();
        let own = rows.get(&std::process::id()).map(|(parent, _)| *parent);
        let mut at = own.ok_or_else(|| io::Error::other("ps does not list us"))?;
        while let Some((parent, argv)) = rows.get(&at).filter(|_| line.iter().all(|above| above.pid != at)) {
            line.push(Ancestor { pid: at, name: String::new(), argv: argv.clone() });
            at = *parent;
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r7_a_data_directory_is_known_by_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let (home, link) = (dir.path().join("home"), dir.path().join("link"));
        std::fs::create_dir_all(home.join("repos/r")).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let id = HomeId::of(&home).unwrap();
        assert_eq!(HomeId::of(&link).unwrap(), id);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.contains(&home) && id.contains(&link.join("repos/r")) && !id.contains(dir.path()));
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(home.join("repos"), elsewhere.join("repos")).unwrap();
        assert!(id.contains(&elsewhere.join("repos")) && !id.contains(&elsewhere));
        std::fs::rename(&home, dir.path().join("moved")).unwrap();
        assert!(id.contains(&dir.path().join("moved/repos")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn r7_guards_and_runners_are_found_by_what_nobody_else_can_change() {
        let proc = tempfile::tempdir().unwrap();
        for (pid, parent, name, argv) in [
            (1, 0, "a ) b", "init"),
            (10, 1, "dacapo-0000002a", "dacapo exec go"),
            (11, 10, "dacapo-guard", "/proc/self/exe __guard 7:42"),
            (12, 11, "a ) b", "sh -c x"),
            (13, 12, "dacapo-guard", "/proc/self/exe __guard"),
            (14, 13, "dacapo-0000002", "__guard dacapo"),
            (15, 14, "dacapo", "dacapo set"),
            (16, 10, "orphan", "sh -c x"),
        ] {
            let dir = proc.path().join(pid.to_string());
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("stat"), format!("{pid} ({name}) S {parent} 1 1")).unwrap();
            std::fs::write(dir.join("cmdline"), argv.replace(' ', "\0") + "\0").unwrap();
        }
        let root = super::super::procfs::ProcFs::at(proc.path()).unwrap();
        let found = |own| {
            let line = platform::from(&root, own).unwrap();
            line.iter().filter_map(Ancestor::task).collect::<Vec<_>>()
        };
        let runner = TaskAbove { pid: 10, works_for: WorksFor::Marked(HomeMark(42)) };
        let known = TaskAbove { pid: 11, works_for: WorksFor::Home(HomeId { device: 7, inode: 42 }) };
        let unknown = TaskAbove { pid: 13, works_for: WorksFor::Unknown };
        assert_eq!(found(15), [unknown, known, runner]);
        assert_eq!(found(16), [runner], "its guard is gone");
        assert_eq!(found(10), []);
        // Nobody can tell: that is not the same as none.
        std::fs::remove_dir_all(proc.path().join("15")).unwrap();
        assert!(platform::from(&root, 15).is_err());
    }

    #[test]
    fn r7_a_runner_shows_its_data_directory() {
        let dir = tempfile::tempdir().unwrap();
        let home = HomeId::of(dir.path()).unwrap();
        let marked = WorksFor::Marked(HomeMark::of(home));
        assert!(marked.contains(&dir.path().join(".")) && !marked.contains(Path::new("/")));
        assert!(WorksFor::Unknown.contains(Path::new("/")));
        show_as_runner(home);
        assert_eq!(is_runner(std::process::id()), cfg!(target_os = "linux"));
    }
}
