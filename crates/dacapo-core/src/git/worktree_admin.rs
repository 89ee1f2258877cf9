//! Git's record of a linked worktree: the directory in `.git/worktrees` with its HEAD, its index and whatever operation
//! is in progress. It moves away and comes back as a whole; the repository may be on another file system than our data.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::Repo;
use super::error::GitError;
use super::regular;
use crate::inherited_locks::hand_down;

const FIND: &str = "find git's record of a worktree";
const MOVE: &str = "move git's record of a worktree";

/// A worktree as git lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: PathBuf,
    /// Full name of the branch.
    pub(super) branch: Option<String>,
    /// Somebody locked it, perhaps with a reason.
    pub(super) locked: Option<String>,
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
                (b"locked", Some(last)) => last.locked = Some(String::from_utf8_lossy(value).into_owned()),
                _ => {}
            }
        }
        Ok(all)
    }

    /// Worktrees below `dir` that git knows and that are not there any more.
    pub(crate) fn lost_worktrees(&self, dir: &Path) -> Result<Vec<PathBuf>, GitError> {
        let dir = dir.canonicalize().unwrap_or_else(|_| settled(dir));
        let is_lost = |path: &PathBuf| path.starts_with(&dir) && fs::symlink_metadata(path).is_err();
        Ok(self.shared().listed_worktrees()?.into_iter().map(|listed| listed.path).filter(is_lost).collect())
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

    /// Moves a record out of the repository, to `to`. Once it is there completely, git does not know the worktree any more.
    pub(super) fn take_record(&self, record: &Path, to: &Path) -> Result<(), GitError> {
        match fs::rename(record, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
            done => return done.map_err(GitError::io(MOVE, record)),
        }
        // A copy that a crash cut short is not under its name; one that is under it is complete.
        if fs::symlink_metadata(to).is_err() {
            self.copy_whole(record, to).map_err(GitError::io(MOVE, record))?;
        }
        // Out of git's sight first: half a record would be a worktree that git cannot read.
        let gone = self.common_dir().join(format!("dacapo-gone-{}", crate::random::hex(6)));
        fs::rename(record, &gone).map_err(GitError::io(MOVE, record))?;
        fs::remove_dir_all(&gone).map_err(GitError::io(MOVE, &gone))
    }

    /// Puts a record back for the worktree that will be at `worktree`, whose files are in `tree` now: under its old name,
    /// or under another where a later worktree has taken that; then both sides name the new one.
    pub(super) fn give_record_back(
        &self,
        record: &Path,
        worktree: &Path,
        tree: &Path,
    ) -> Result<(), GitError> {
        if fs::symlink_metadata(record).is_err() {
            return Ok(());
        }
        if self.record_of(worktree)?.is_some() {
            // It was copied back before a crash.
            return fs::remove_dir_all(record).map_err(GitError::io(MOVE, record));
        }
        let records = self.records();
        fs::create_dir_all(&records).map_err(GitError::io(MOVE, &records))?;
        let link = tree.join(".git");
        let said = regular::read(&link).unwrap_or_default();
        let named = said.trim_ascii_end().strip_prefix(b"gitdir: ");
        let wanted = named
            .map(|name| settled(&worktree.join(OsStr::from_bytes(name))))
            .filter(|path| path.parent() == settled(&records.join("x")).parent());
        let base = worktree.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut home = wanted.clone().unwrap_or_else(|| records.join(&base));
        let mut number = 1_u32;
        while fs::symlink_metadata(&home).is_ok() {
            home = records.join(format!("{base}{number}"));
            number += 1;
        }
        if wanted.as_ref() != Some(&home) && fs::symlink_metadata(tree).is_ok() {
            let mut text = b"gitdir: ".to_vec();
            text.extend_from_slice(home.as_os_str().as_bytes());
            text.push(b'\n');
            fs::write(&link, text).map_err(GitError::io(MOVE, &link))?;
        }
        match fs::rename(record, &home) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
            done => return done.map_err(GitError::io(MOVE, record)),
        }
        self.copy_whole(record, &home).map_err(GitError::io(MOVE, record))?;
        fs::remove_dir_all(record).map_err(GitError::io(MOVE, record))
    }

    /// By `cp -a`, which knows about links, modes, times and holes; under its name only when it is complete.
    fn copy_whole(&self, from: &Path, to: &Path) -> io::Result<()> {
        // Beside the directory that git looks through, not in it.
        let beside = match to.parent().filter(|parent| parent.ends_with("worktrees")) {
            Some(records) => records.parent().unwrap_or(records).join("dacapo-record.part"),
            None => to.with_extension("part"),
        };
        match fs::remove_dir_all(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut cp = std::process::Command::new("cp");
        self.env().dress(&mut cp).arg("-a").arg("--").arg(from).arg(&beside);
        let held = self.handed().held();
        let handed: Vec<_> = held.iter().flat_map(|files| files.iter()).map(AsFd::as_fd).collect();
        hand_down(&mut cp, &handed);
        let status = cp.status()?;
        if !status.success() {
            return Err(io::Error::other(format!("cp ended with {status}")));
        }
        fs::rename(&beside, to)
    }
}

/// A path whose directory is spelled as the system knows it. The last part may be gone, and is not followed.
pub(super) fn settled(path: &Path) -> PathBuf {
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
