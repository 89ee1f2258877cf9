//! Commands that are at work in a repository: `merge`, `drop`, `undo`, `prune`. No journal says when they ran, and one that
//! is killed can leave git's locks; the mark it leaves says from when on they can be its own (R1).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use super::{RepoDir, files};

/// The mark of a command that is at work. It goes with the command, unless that is killed, or a git that it had started:
/// that leaves the same locks.
#[derive(Debug)]
pub struct AtWork {
    path: PathBuf,
    git_killed: Arc<OnceLock<SystemTime>>,
    /// As long as it is locked, its command lives.
    _locked: File,
}

impl AtWork {
    /// Marks a command that begins now.
    pub fn mark(data: &RepoDir, git_killed: Arc<OnceLock<SystemTime>>) -> io::Result<Self> {
        let dir = data.at_work_path();
        files::make_dir(&dir)?;
        let made = tempfile::Builder::new().prefix("").tempfile_in(&dir)?;
        // Locked before it is kept under its name: an unlocked mark means that its command was killed.
        made.as_file().lock()?;
        let (file, path) = made.keep().map_err(|error| error.error)?;
        Ok(Self { path, git_killed, _locked: file })
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if self.git_killed.get().is_none() {
            // One that stays costs the next command a look.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A command that was killed.
#[derive(Debug)]
pub struct Killed {
    pub since: SystemTime,
    path: PathBuf,
}

impl Killed {
    /// It has been cleared up behind.
    pub fn forget(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The commands that were killed in this repository and that nobody has cleared up behind.
pub fn killed(data: &RepoDir) -> Vec<Killed> {
    let entries = fs::read_dir(data.at_work_path()).into_iter().flatten().flatten();
    entries.filter_map(|entry| look(&entry.path())).collect()
}

fn look(path: &Path) -> Option<Killed> {
    let file = files::open(path).ok()?;
    // Shared, so that two commands that look at once do not take each other for the command itself.
    file.try_lock_shared().ok()?;
    let since = file.metadata().ok()?.modified().ok()?;
    Some(Killed { since, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Home;

    #[test]
    fn r1_a_command_at_work_is_told_from_one_that_was_killed() {
        let dir = tempfile::tempdir().unwrap();
        let data = Home::new(dir.path().to_owned()).repo(&dir.path().join("repo/.git"));
        assert!(killed(&data).is_empty(), "no command was ever run");
        let at_work = AtWork::mark(&data, Arc::default()).unwrap();
        assert!(killed(&data).is_empty(), "it is at work");
        drop(at_work);
        assert_eq!(fs::read_dir(data.at_work_path()).unwrap().count(), 0, "it has ended");

        // What stays of one that is killed: its mark, which nobody has locked.
        files::replace(&data.at_work_path().join("left"), b"").unwrap();
        let mut found = killed(&data);
        assert_eq!(found.len(), 1);
        assert!(found[0].since <= SystemTime::now());
        found.remove(0).forget();
        assert!(killed(&data).is_empty());
    }

    #[test]
    fn r1_a_command_whose_git_was_killed_leaves_its_mark() {
        let dir = tempfile::tempdir().unwrap();
        let data = Home::new(dir.path().to_owned()).repo(&dir.path().join("repo/.git"));
        let git_killed = Arc::<OnceLock<SystemTime>>::default();
        let at_work = AtWork::mark(&data, Arc::clone(&git_killed)).unwrap();
        git_killed.set(SystemTime::now()).unwrap();
        assert!(killed(&data).is_empty(), "it is at work");
        drop(at_work);
        assert_eq!(killed(&data).len(), 1, "what its git left is cleared up behind by the next");
    }
}
