//! Linked worktrees as git knows them: the user's own, and checkouts in which we merge.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::Repo;
use super::error::GitError;
use super::regular;

const FIND: &str = "find git's record of a worktree";

/// A worktree as git lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: PathBuf,
    /// Full name of the branch.
    pub(super) branch: Option<String>,
}

impl Repo {
    /// All worktrees that git knows of, the first checkout among them.
    pub(super) fn listed_worktrees(&self) -> Result<Vec<Listed>, GitError> {
        /// What git ends with when it does not know a flag.
        const USAGE: i32 = 129;
        let call = || self.call("list the worktrees").args(["worktree", "list", "--porcelain"]);
        let answer = call().arg("-z").output()?;
        let (out, end) = match answer.exit {
            Some(0) => (answer.stdout, 0),
            // Before 2.36, lines: a name with a line break in it is none that we know.
            Some(USAGE) => (call().stdout()?, b'\n'),
            _ => return Err(answer.error()),
        };
        let mut all: Vec<Listed> = Vec::new();
        for field in out.split(|byte| *byte == end) {
            let (key, value) = match field.iter().position(|byte| *byte == b' ') {
                Some(at) => (&field[..at], &field[at + 1..]),
                None => (field, &[][..]),
            };
            match (key, all.last_mut()) {
                (b"worktree", _) => {
                    all.push(Listed { path: OsStr::from_bytes(value).into(), ..Listed::default() });
                }
                (b"branch", Some(last)) => last.branch = Some(String::from_utf8_lossy(value).into_owned()),
                _ => {}
            }
        }
        Ok(all)
    }

    fn records(&self) -> PathBuf {
        self.common_dir().join("worktrees")
    }

    /// Git's record of the worktree at `path`, whether its directory is still there or not.
    pub(super) fn record_of(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let records = match fs::read_dir(self.records()) {
            Ok(records) => records,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io(FIND, path)(error)),
        };
        let wanted = settled(path);
        let leads_there = |record: &PathBuf| {
            regular::read(&record.join("gitdir")).is_ok_and(|text| {
                // Relative to the record, where the user's git is told to write it so.
                let link = record.join(OsStr::from_bytes(text.trim_ascii_end()));
                link.parent().is_some_and(|dir| settled(dir) == wanted)
            })
        };
        Ok(records.flatten().map(|entry| entry.path()).find(leads_there))
    }
}

/// A path whose directory is spelled as the system knows it. The last part may be gone, and is not followed.
pub(super) fn settled(path: &Path) -> PathBuf {
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
