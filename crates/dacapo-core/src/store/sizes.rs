//! What tasks take on disk. Counting the files of a worktree with its build caches takes seconds, so it is done at the end
//! of a task or when somebody asks, and kept with its time in one file a repository. It decides nothing.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RepoDir, TaskDir, files};

/// The version of the file; one of another is made anew.
const SIZES_FORMAT: u32 = 1;

/// Far more than a thousand tasks need.
const LARGEST_FILE: u64 = 64 << 20;

/// A block of `st_blocks`, whatever the file system's own are.
const BLOCK: u64 = 512;

/// What a task takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub worktree: u64,
    /// Its record: what its agent printed, above all.
    pub record: u64,
    /// There was no time to count all: it is more than that.
    #[serde(default)]
    pub at_least: bool,
    pub at: Timestamp,
    /// Tells the task from another of the same name.
    pub task_created_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct SizesFile {
    v: u32,
    tasks: BTreeMap<String, Size>,
}

/// Measures a task's worktree and record until `deadline`.
pub fn measure(dir: &TaskDir, worktree: Option<&Path>, deadline: Instant) -> io::Result<Size> {
    let (mut worktree_bytes, mut at_least) = (0, false);
    if let Some(worktree) = worktree {
        (worktree_bytes, at_least) = disk_usage(worktree, deadline);
    }
    let (record, cut) = disk_usage(dir.path(), deadline);
    let spec = dir.spec().map_err(io::Error::other)?;
    Ok(Size {
        worktree: worktree_bytes,
        record,
        at_least: at_least || cut,
        at: Timestamp::now(),
        task_created_at: spec.created_at,
    })
}

/// What was measured, by name. Whatever is wrong with the file, nothing is known then.
pub fn sizes(repo: &RepoDir) -> BTreeMap<String, Size> {
    let read = files::read(&path(repo), LARGEST_FILE)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<SizesFile>(&bytes).ok());
    read.filter(|kept| kept.v == SIZES_FORMAT).map(|kept| kept.tasks).unwrap_or_default()
}

/// Keeps what was measured beside what is known of other tasks that are still there.
pub fn keep_sizes(repo: &RepoDir, measured: impl IntoIterator<Item = (String, Size)>) -> io::Result<()> {
    // Several tasks may end at once; the lock goes with the file when we are done, or dead.
    let lock = files::open_or_create(&repo.path().join("sizes.lock"))?;
    lock.lock()?;
    let there: HashSet<String> = repo.tasks()?.iter().map(TaskDir::name).collect();
    let mut tasks = sizes(repo);
    tasks.extend(measured);
    tasks.retain(|name, _| there.contains(name));
    files::replace(&path(repo), &serde_json::to_vec(&SizesFile { v: SIZES_FORMAT, tasks })?)
}

fn path(repo: &RepoDir) -> PathBuf {
    repo.path().join("sizes.json")
}

/// The bytes that everything below `top` takes on its file system, by blocks and each file once, however many names it
/// has; and whether the deadline came first. What cannot be read is not counted: it may be going away just now.
pub fn disk_usage(top: &Path, deadline: Instant) -> (u64, bool) {
    let Ok(meta) = fs::symlink_metadata(top) else { return (0, false) };
    let walk = Walk {
        state: Mutex::new(State { open: vec![top.to_owned()], ..State::default() }),
        more: Condvar::new(),
        device: meta.dev(),
        deadline,
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    std::thread::scope(|scope| {
        // One of them is this thread: where the system starts no more, it does all of it.
        for _ in 1..workers {
            if std::thread::Builder::new().spawn_scoped(scope, || walk.work()).is_err() {
                break;
            }
        }
        walk.work();
    });
    let state = walk.state();
    (state.bytes + meta.blocks() * BLOCK, state.cut)
}

struct Walk {
    state: Mutex<State>,
    more: Condvar,
    device: u64,
    deadline: Instant,
}

#[derive(Default)]
struct State {
    /// Directories that nobody has read yet.
    open: Vec<PathBuf>,
    /// Threads that read one.
    busy: usize,
    bytes: u64,
    /// Files with several names that were counted.
    seen: HashSet<u64>,
    cut: bool,
}

impl Walk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(dir) = self.take() {
            let (mut bytes, mut below, mut shared) = (0, Vec::new(), Vec::new());
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let Ok(meta) = entry.metadata() else { continue };
                if meta.dev() != self.device {
                    continue;
                }
                if meta.is_dir() {
                    below.push(entry.path());
                } else if meta.nlink() > 1 {
                    shared.push(meta);
                    continue;
                }
                bytes += meta.blocks() * BLOCK;
            }
            self.give(bytes, below, &shared);
        }
    }

    /// A directory to read; none when there is none left, here or in any thread's hands.
    fn take(&self) -> Option<PathBuf> {
        let mut state = self.state();
        loop {
            if Instant::now() >= self.deadline && !state.open.is_empty() {
                state.open.clear();
                state.cut = true;
            }
            if let Some(dir) = state.open.pop() {
                state.busy += 1;
                return Some(dir);
            }
            // The last thread that runs out of work wakes the others, which would otherwise wait for directories for
            // ever.
            if state.busy == 0 {
                self.more.notify_all();
                return None;
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give(&self, bytes: u64, below: Vec<PathBuf>, shared: &[Metadata]) {
        let mut state = self.state();
        state.busy -= 1;
        state.bytes += bytes;
        for meta in shared {
            if state.seen.insert(meta.ino()) {
                state.bytes += meta.blocks() * BLOCK;
            }
        }
        state.open.extend(below);
        drop(state);
        self.more.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use std::fs::File;

    use super::*;
    use crate::spec::TaskName;
    use crate::store::Home;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    #[test]
    fn what_is_counted_is_what_du_counts() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b/c")).unwrap();
        for number in 0..300 {
            fs::create_dir_all(at(&format!("many/{}", number % 17))).unwrap();
            fs::write(at(&format!("many/{}/{number}", number % 17)), vec![b'x'; number * 31]).unwrap();
        }
        fs::write(at("a/b/large"), vec![7; 3 << 20]).unwrap();
        fs::hard_link(at("a/b/large"), at("a/again")).unwrap();
        fs::hard_link(at("a/b/large"), at("many/again")).unwrap();
        File::create(at("a/hole")).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::symlink(dir.path(), at("a/b/c/round")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        let du = std::process::Command::new("du").args(["-s", "-k"]).arg(dir.path()).output().unwrap();
        let du: u64 = String::from_utf8_lossy(&du.stdout).split_whitespace().next().unwrap().parse().unwrap();
        let (bytes, cut) = disk_usage(dir.path(), soon());
        assert_eq!((bytes.div_ceil(1024), cut), (du, false));
        assert_eq!(disk_usage(&at("not there"), soon()), (0, false));
        assert!(disk_usage(dir.path(), Instant::now()).1, "there was no time");
    }

    #[test]
    fn what_was_measured_is_kept_for_tasks_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let repo = Home::new(dir.path().to_owned()).repo(Path::new("/x/.git"));
        let size = |worktree| Size {
            worktree,
            record: 1,
            at_least: false,
            at: "2026-11-15T10:00:00Z".parse().unwrap(),
            task_created_at: "2026-11-15T09:00:00Z".parse().unwrap(),
        };
        let names: Vec<String> = (0..8).map(|number| format!("t{number}")).collect();
        for name in &names {
            fs::create_dir_all(repo.task(&TaskName::parse(name).unwrap()).path()).unwrap();
        }
        std::thread::scope(|scope| {
            for (number, name) in names.iter().enumerate() {
                let repo = &repo;
                scope.spawn(move || {
                    for _ in 0..5 {
                        keep_sizes(repo, [(name.clone(), size(number as u64))]).unwrap();
                    }
                });
            }
        });
        assert_eq!(sizes(&repo).into_keys().collect::<Vec<_>>(), names, "none is lost");
        fs::remove_dir_all(repo.task(&TaskName::parse("t0").unwrap()).path()).unwrap();
        keep_sizes(&repo, [("t1".into(), size(77)), ("never".into(), size(1))]).unwrap();
        let kept = sizes(&repo);
        assert_eq!(kept.keys().cloned().collect::<Vec<_>>(), names[1..]);
        assert_eq!(kept["t1"], size(77));
        for bad in ["", "{", r#"{"v":9,"tasks":{}}"#, "\0\0\0"] {
            fs::write(path(&repo), bad).unwrap();
            assert!(sizes(&repo).is_empty());
        }
    }
}
