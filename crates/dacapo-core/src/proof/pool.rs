//! A few checkouts a repository, each used by one proof at a time.
//!
//! Checkout N is the directory `N` beside the lock file `N.lock`. The lock is shared with every git and every guard that
//! works in the checkout, so a free one means that nothing does.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Lease, ProofError, files};
use crate::files::FileAction;
use crate::store::Bell;

/// How many proofs of a repository run at once; each more would build everything anew.
const MOST: u32 = 4;

/// The version of `last.json`; one of another is not read.
const LAST_FORMAT: u32 = 1;

/// The proof checkouts of a repository.
#[derive(Debug, Clone)]
pub struct Pool {
    dir: PathBuf,
}

/// A checkout that is there, for who counts and removes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    number: u32,
    pub path: PathBuf,
    /// The task that used it last.
    pub task: Option<String>,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
}

/// Who used a checkout last, and what its setup was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Last {
    v: u32,
    pub(super) task: String,
    pub(super) used_at: Timestamp,
    /// The setup that succeeded here last; none: it must run.
    pub(super) setup: Option<SetUp>,
}

/// A setup that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SetUp {
    /// Of the commands and of the lock files.
    pub(super) fingerprint: String,
    /// It made files that are no caches and go with the next cleaning.
    pub(super) leaves_files: bool,
}

/// The lock of a checkout, not taken.
type Door = (u32, File);

impl Pool {
    /// The checkouts below `dir` ([`crate::store::RepoDir::proofs_path`]), which is made when it is needed.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Takes a checkout for a task: its own, else one that others have not used for the longest time, else a new one. None:
    /// all are in use.
    pub fn lease(&self, task: &str) -> Result<Option<Lease>, ProofError> {
        let mut doors = self.doors()?;
        self.take(&mut doors, task)
    }

    /// The same; sleeps until one is free. For a thread of its own.
    pub fn wait(&self, task: &str) -> Result<Lease, ProofError> {
        files::make_dir(&self.dir).map_err(ProofError::file(FileAction::Create, &self.dir))?;
        // Opened once: closing one would ring our own bell.
        let mut bell = Bell::hang_in(&self.dir);
        let mut doors = self.doors()?;
        loop {
            if let Some(lease) = self.take(&mut doors, task)? {
                return Ok(lease);
            }
            bell.wait().map_err(ProofError::file(FileAction::WaitForCheckout, &self.dir))?;
        }
    }

    /// All that are there.
    pub fn checkouts(&self) -> io::Result<Vec<Checkout>> {
        let mut found = Vec::new();
        for number in 0..MOST {
            let path = self.dir.join(number.to_string());
            if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            let last = Last::read(&path);
            let changed = || Timestamp::try_from(fs::metadata(&path).ok()?.modified().ok()?).ok();
            let used_at = last.as_ref().map(|last| last.used_at).or_else(changed);
            found.push(Checkout { number, path, task: last.map(|last| last.task), used_at });
        }
        Ok(found)
    }

    /// Removes a checkout that is as it was listed. False: it is in use, or was used meanwhile.
    pub fn remove(&self, checkout: &Checkout) -> io::Result<bool> {
        let (_, lock) = self.door(checkout.number)?;
        // Compared under the lock: between the listing and the lock a proof may have used it.
        if !try_lock(&lock)? || !self.checkouts()?.contains(checkout) {
            return Ok(false);
        }
        // First of all: what is left of the checkout, should we be killed, has no setup.
        files::remove(&Last::path(&checkout.path))?;
        files::remove(&checkout.path)?;
        Ok(true)
    }

    fn take(&self, doors: &mut Vec<Door>, task: &str) -> Result<Option<Lease>, ProofError> {
        let checkouts = self.checkouts().map_err(ProofError::file(FileAction::Read, &self.dir))?;
        let wanted = |(number, _): &Door| {
            let found = checkouts.iter().find(|found| found.number == *number);
            let used = found.and_then(|found| found.used_at).map_or(0, Timestamp::as_microsecond);
            match found {
                // The newest of its own has the most of what it needs.
                Some(own) if own.task.as_deref() == Some(task) => (0, -used, *number),
                Some(_) => (1, used, *number),
                None => (2, 0, *number),
            }
        };
        // One that others have used before a new one: it has the dependencies already.
        doors.sort_by_key(wanted);
        for at in 0..doors.len() {
            let (number, lock) = &doors[at];
            let dir = self.dir.join(number.to_string());
            if !try_lock(lock).map_err(ProofError::file(FileAction::Lock, &dir))? {
                continue;
            }
            let (_, lock) = doors.swap_remove(at);
            files::make_dir(&dir).map_err(ProofError::file(FileAction::Create, &dir))?;
            let setup = Last::read(&dir).and_then(|last| last.setup);
            let last = Last { v: LAST_FORMAT, task: task.to_owned(), used_at: Timestamp::now(), setup };
            last.write(&dir)?;
            return Ok(Some(Lease::new(dir, lock, last)));
        }
        Ok(None)
    }

    fn doors(&self) -> Result<Vec<Door>, ProofError> {
        files::make_dir(&self.dir).map_err(ProofError::file(FileAction::Create, &self.dir))?;
        let door = |number| self.door(number).map_err(ProofError::file(FileAction::Lock, &self.dir));
        (0..MOST).map(door).collect()
    }

    fn door(&self, number: u32) -> io::Result<Door> {
        let path = self.dir.join(format!("{number}.lock"));
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut open = OpenOptions::new();
        open.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags.bits().cast_signed());
        Ok((number, open.open(path)?))
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Last {
    fn path(checkout: &std::path::Path) -> PathBuf {
        checkout.join("last.json")
    }

    fn read(checkout: &std::path::Path) -> Option<Self> {
        let last: Self = serde_json::from_slice(&files::read(&Self::path(checkout)).ok()?).ok()?;
        (last.v == LAST_FORMAT).then_some(last)
    }

    pub(super) fn write(&self, checkout: &std::path::Path) -> Result<(), ProofError> {
        let path = Self::path(checkout);
        let json = serde_json::to_vec(self).map_err(io::Error::from);
        json.and_then(|json| files::replace(&path, &json)).map_err(ProofError::file(FileAction::Write, path))
    }
}
