//! Which guards this process runs below: how Dacapo tells whether an order comes from a person or from an agent.
//!
//! A process cannot choose its ancestors. Everything below a guard stays below it, since a guard is a subreaper, and
//! a guard's command line is the guard's own: whatever an agent does to its environment, session or parent, the walk
//! from it upwards passes its guard. Outside Linux an orphan goes to init instead, and is not recognised.

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
        path.canonicalize()
            .is_ok_and(|real| real.ancestors().any(|dir| Self::of(dir).is_ok_and(|id| id == self)))
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

/// A guard that this process runs below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardAbove {
    pub pid: u32,
    /// The data directory that it works for; `None` where it does not say.
    pub home: Option<HomeId>,
}

/// The guards that this process runs below, nearest first. An error means that nobody can tell.
pub fn guards_above() -> io::Result<Vec<GuardAbove>> {
    Ok(platform::line()?.iter().filter_map(|(pid, argv)| guard(*pid, argv)).collect())
}

fn guard(pid: u32, argv: &[String]) -> Option<GuardAbove> {
    let is_guard = argv.get(1).is_some_and(|argument| argument == ARGUMENT);
    is_guard.then(|| GuardAbove { pid, home: argv.get(2).and_then(|text| text.parse().ok()) })
}

/// Processes with their command lines, from the nearest ancestor to the farthest.
type Line = Vec<(u32, Vec<String>)>;

#[cfg(target_os = "linux")]
mod platform {
    use std::fs;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::Line;

    pub(super) fn line() -> io::Result<Line> {
        from(Path::new("/proc"), std::process::id())
    }

    pub(super) fn from(proc: &Path, own: u32) -> io::Result<Line> {
        let mut line = Line::new();
        let mut at = own;
        // An error about ourselves is returned: "no guard above" would make an agent's order look like a person's.
        let mut above = parent(proc, at)?;
        while above > 0 {
            match argv(&proc.join(above.to_string())).and_then(|argv| Ok((argv, parent(proc, above)?))) {
                Ok((argv, next)) => {
                    line.push((above, argv));
                    (at, above) = (above, next);
                }
                // It ended under our eyes, and somebody else is the parent now.
                Err(_) if parent(proc, at)? != above => above = parent(proc, at)?,
                // Processes of other users can be hidden from us; a guard of ours is none of them.
                Err(_) => break,
            }
        }
        Ok(line)
    }

    fn argv(dir: &Path) -> io::Result<Vec<String>> {
        let bytes = fs::read(dir.join("cmdline"))?;
        let words = bytes.split(|byte| *byte == 0);
        Ok(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }

    /// From `pid (name) state ppid …`; the name may hold spaces and parentheses.
    fn parent(proc: &Path, pid: u32) -> io::Result<u32> {
        let path: PathBuf = proc.join(pid.to_string()).join("stat");
        let stat = fs::read(&path)?;
        let rest = memchr::memrchr(b')', &stat).map(|end| &stat[end + 1..]).unwrap_or_default();
        let rest = String::from_utf8_lossy(rest);
        let parent = rest.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok());
        parent.ok_or_else(|| io::Error::other(format!("{} names no parent", path.display())))
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::collections::HashMap;
    use std::io;

    use super::Line;

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
        while let Some((parent, argv)) = rows.get(&at).filter(|_| line.iter().all(|(pid, _)| *pid != at)) {
            line.push((at, argv.clone()));
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
    fn r7_guards_are_found_by_their_own_command_line() {
        let proc = tempfile::tempdir().unwrap();
        for (pid, parent, argv) in [
            (1, 0, "init"),
            (10, 1, "dacapo exec go"),
            (11, 10, "/proc/self/exe __guard 7:42"),
            (12, 11, "sh -c x"),
            (13, 12, "/proc/self/exe __guard"),
            (14, 13, "__guard dacapo"),
            (15, 14, "dacapo set"),
        ] {
            let dir = proc.path().join(pid.to_string());
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("stat"), format!("{pid} (a ) b) S {parent} 1 1")).unwrap();
            std::fs::write(dir.join("cmdline"), argv.replace(' ', "\0") + "\0").unwrap();
        }
        let found = |own| {
            let line = platform::from(proc.path(), own).unwrap();
            line.iter().filter_map(|(pid, argv)| guard(*pid, argv)).collect::<Vec<_>>()
        };
        let known = GuardAbove { pid: 11, home: Some(HomeId { device: 7, inode: 42 }) };
        assert_eq!(found(15), [GuardAbove { pid: 13, home: None }, known]);
        assert_eq!(found(10), []);
        // Nobody can tell: that is not the same as none.
        std::fs::remove_dir_all(proc.path().join("15")).unwrap();
        assert!(platform::from(proc.path(), 15).is_err());
    }
}
