//! The places where proofs of a repository run, each used by one proof at a time.
//!
//! Place N is the directory `N` beside the lock file `N.lock`. The lock is shared with every git and every guard that works
//! there, so a free one means that nothing does. Places have fixed names because builds remember paths.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use super::bases::Bases;
use super::checkout::UNDELETABLE;
use super::store::Store;
use super::{Lease, ProofError, files};
use crate::files::FileAction;
use crate::store::Bell;

/// How many proofs of a repository run at once; each more would build everything anew.
const MOST: u32 = 4;

/// All that proofs of a repository need: its store, its kept caches and the places.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The data of the repository.
    data: PathBuf,
}

/// Something that proofs left, or keep for later ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub path: PathBuf,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
}

/// The lock of a place, not taken.
type Door = (u32, File);

impl Pool {
    /// For the data directory of a repository ([`crate::store::RepoDir::path`]), which is made when it is needed.
    pub fn at(data: PathBuf) -> Self {
        Self { data }
    }

    /// Takes the first free place; none: all are in use.
    pub fn lease(&self) -> Result<Option<Lease>, ProofError> {
        let mut doors = self.doors()?;
        self.take(&mut doors)
    }

    /// The same; sleeps until one is free. For a thread of its own.
    pub fn wait(&self) -> Result<Lease, ProofError> {
        let places = self.places();
        files::make_dir(&places).map_err(ProofError::file(FileAction::Create, &places))?;
        // Opened once: closing one would ring our own bell.
        let mut bell = Bell::hang_in(&places);
        let mut doors = self.doors()?;
        loop {
            if let Some(lease) = self.take(&mut doors)? {
                return Ok(lease);
            }
            bell.wait().map_err(ProofError::file(FileAction::WaitForCheckout, &places))?;
        }
    }

    /// Lists what can be removed: what crashes left, what could not be removed, kept caches, and the store.
    pub fn leftovers(&self) -> io::Result<Vec<Leftover>> {
        let undeletable = self.places().join(UNDELETABLE);
        let is_checkout = |path: &PathBuf| path.is_dir() && *path != undeletable;
        let in_places = below(&self.places())?.into_iter().filter(is_checkout);
        let undeletable = below(&undeletable)?;
        let bases = below(&self.data.join("bases"))?;
        let all = in_places.chain(undeletable).chain(bases).chain([self.data.join("store.git")]);
        let look = |path: PathBuf| {
            let found = fs::symlink_metadata(&path).ok()?;
            let modified = found.modified().ok().max(changed_in(&path));
            let used_at = modified.and_then(|modified| Timestamp::try_from(modified).ok());
            Some(Leftover { path, used_at })
        };
        Ok(all.filter_map(look).collect())
    }

    /// Removes a leftover. False: it is in use.
    pub fn remove(&self, leftover: &Leftover) -> io::Result<bool> {
        // Whoever works in a place, or fills the store for one, holds the lock of a place.
        let mut held = Vec::new();
        for number in 0..MOST {
            let (_, lock) = self.door(number)?;
            if !try_lock(&lock)? {
                return Ok(false);
            }
            held.push(lock);
        }
        files::remove(&leftover.path)?;
        Ok(true)
    }

    fn take(&self, doors: &mut Vec<Door>) -> Result<Option<Lease>, ProofError> {
        for at in 0..doors.len() {
            let (number, lock) = &doors[at];
            let dir = self.places().join(number.to_string());
            if try_lock(lock).map_err(ProofError::file(FileAction::Lock, &dir))? {
                let (_, lock) = doors.remove(at);
                let store = Store::at(self.data.join("store.git"));
                return Ok(Some(Lease::new(dir, store, Bases::at(self.data.join("bases")), lock)));
            }
        }
        Ok(None)
    }

    fn places(&self) -> PathBuf {
        self.data.join("proof")
    }

    fn doors(&self) -> Result<Vec<Door>, ProofError> {
        let places = self.places();
        files::make_dir(&places).map_err(ProofError::file(FileAction::Create, &places))?;
        let door = |number| self.door(number).map_err(ProofError::file(FileAction::Lock, &places));
        (0..MOST).map(door).collect()
    }

    fn door(&self, number: u32) -> io::Result<Door> {
        let path = self.places().join(format!("{number}.lock"));
        Ok((number, crate::files::open_or_create(&path)?))
    }
}

fn below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// When something directly in a directory was last changed: a fetch changes files of the store, not the store itself.
fn changed_in(dir: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(dir).ok()?.flatten();
    entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
