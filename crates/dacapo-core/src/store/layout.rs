//! Where things are below `$DACAPO_HOME`.

use std::io;
use std::path::{Path, PathBuf};

use crate::spec::TaskName;

use super::{SharedLimits, Slots, TaskDir};

/// The data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The directory at `path`; it is made when something is first written.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The data of the repository whose common git directory this is: the same from each of its worktrees.
    pub fn repo(&self, common_dir: &Path) -> RepoDir {
        let is_plain = common_dir.file_name().is_some_and(|name| name == ".git");
        let named = if is_plain { common_dir.parent().unwrap_or(common_dir) } else { common_dir };
        let folder = named.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plain: String = folder
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
            .take(40)
            .collect();
        let plain = plain.trim_matches('.');
        RepoDir(self.0.join("repos").join(format!("{plain}-{:08x}", short_hash(common_dir))))
    }

    /// The task in whose worktree a directory is; none: it is in no task's.
    pub fn task_around(&self, dir: &Path) -> Option<TaskDir> {
        let repos = self.repos_path();
        let dir = dir.canonicalize().ok()?;
        let below = dir.strip_prefix(repos.canonicalize().ok()?).ok()?;
        let mut parts = below.iter();
        let (repo, worktrees, name) = (parts.next()?, parts.next()?, parts.next()?.to_str()?);
        let name = TaskName::parse(name).ok().filter(|_| worktrees == "worktrees")?;
        Some(RepoDir(repos.join(repo)).task(&name)).filter(TaskDir::exists)
    }

    /// What tasks of this machine know of usage limits.
    pub fn limits(&self) -> SharedLimits {
        SharedLimits::at(self.0.join("limits"))
    }

    /// The slots of tasks that work at the same time, at most so many.
    pub fn slots(&self, most: u32) -> Slots {
        Slots::new(self.0.join("slots"), most)
    }

    /// Where the data of repositories is.
    pub fn repos_path(&self) -> PathBuf {
        self.0.join("repos")
    }

    /// All repositories that have data.
    pub fn repos(&self) -> io::Result<Vec<RepoDir>> {
        entries(&self.repos_path()).map(|all| all.into_iter().map(RepoDir).collect())
    }
}

impl TaskDir {
    /// The data of the repository that this task is of.
    pub fn repo(&self) -> Option<RepoDir> {
        Some(RepoDir(self.path().parent()?.parent()?.to_owned()))
    }
}

/// FNV-1a: stable over versions and machines, which the standard hasher is not; it only has to keep folders apart.
fn short_hash(path: &Path) -> u32 {
    use std::os::unix::ffi::OsStrExt;
    let wide = path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (wide ^ (wide >> 32)) as u32
}

/// The data of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoDir(PathBuf);

impl RepoDir {
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The data directory that this is in.
    pub(crate) fn home(&self) -> &Path {
        self.0.ancestors().nth(2).unwrap_or(&self.0)
    }

    pub fn tasks_path(&self) -> PathBuf {
        self.0.join("tasks")
    }

    /// The directory of a task, there or not.
    pub fn task(&self, name: &TaskName) -> TaskDir {
        TaskDir::at(self.tasks_path().join(name.as_str()))
    }

    pub fn worktree(&self, name: &TaskName) -> PathBuf {
        self.0.join("worktrees").join(name.as_str())
    }

    /// Names of the worktrees that are there.
    pub fn worktrees(&self) -> io::Result<std::collections::HashSet<std::ffi::OsString>> {
        let all = entries(&self.0.join("worktrees"))?;
        Ok(all.iter().filter_map(|path| path.file_name().map(std::ffi::OsStr::to_owned)).collect())
    }

    /// The one slot of a kind of task of which only one is at work in the repository at a time.
    pub fn repo_slot(&self, kind: &str) -> Slots {
        Slots::new(self.0.join("turns").join(kind), 1)
    }

    /// The marks of commands that are at work in the repository.
    pub(crate) fn at_work_path(&self) -> PathBuf {
        self.0.join("at-work")
    }

    /// Where what was put away is.
    pub fn dropped_path(&self) -> PathBuf {
        self.0.join("dropped")
    }

    /// All tasks, by name.
    pub fn tasks(&self) -> io::Result<Vec<TaskDir>> {
        let dir = self.tasks_path();
        let mut names = Vec::new();
        match std::fs::read_dir(&dir) {
            Ok(entries) => {
                for entry in entries {
                    names.extend(entry?.file_name().to_str().and_then(|name| TaskName::parse(name).ok()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // The names alone: to compare whole paths takes as long as all the rest of a list.
        names.sort_unstable();
        Ok(names.iter().map(|name| TaskDir::at(dir.join(name.as_str()))).collect())
    }
}

fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
