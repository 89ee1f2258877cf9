//! What green proofs wrote, kept for proofs of commits that are built on theirs (L4).
//!
//! A directory for each commit, named by it. A proof may start from a copy of it only if the history of the task's base has
//! that commit, or one with the same files (as a squash merge makes it): what an agent's work wrote is used by nobody before
//! the user has taken that work over.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::caches::{Cache, CacheKind, Transfer};
use super::{ProofError, downloads, files};
use crate::files::FileAction;
use crate::git::{Bare, Oid};

/// How many are kept for a repository: the base of most tasks, and what was proven since.
const MOST: usize = 3;

const FORMAT: u32 = 1;
const RECORD: &str = "base.json";

/// The kept caches of a repository.
#[derive(Debug, Clone)]
pub(super) struct Bases {
    dir: PathBuf,
}

/// What is known of the proof that wrote kept caches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    v: u32,
    pub(super) commit: Oid,
    /// The id of the commit's tree.
    tree: String,
    kept_at: Timestamp,
    /// Not after anything was built: files that are still the same get this time, so that they count as old.
    pub(super) checked_out_at: SystemTime,
    /// Of the setup commands, manifests and lock files.
    pub(super) fingerprint: String,
    /// The setup wrote files beside the caches, so it has to run each time.
    pub(super) setup_leaves_files: bool,
    caches: Vec<Cache>,
}

/// Kept caches that nobody removes while this lives.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) base: Base,
    dir: PathBuf,
    _lock: File,
}

impl Base {
    pub(super) fn new(commit: Oid, checked_out_at: SystemTime, fingerprint: String) -> Self {
        Self {
            v: FORMAT,
            commit,
            tree: String::new(),
            kept_at: Timestamp::now(),
            checked_out_at,
            fingerprint,
            setup_leaves_files: false,
            caches: Vec::new(),
        }
    }
}

impl Bases {
    pub(super) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Finds the newest caches of a commit, or of its files, that the history of `base` has.
    pub(super) fn find(&self, git: &Bare, base: &Oid) -> Result<Option<Found>, ProofError> {
        if fs::symlink_metadata(&self.dir).is_err() {
            return Ok(None);
        }
        let lock = self.lock(File::lock_shared)?;
        let history = git.history(base)?;
        let is_known = |base: &Base| history.contains(base.commit.as_str()) || history.contains(&base.tree);
        let found = self.all().into_iter().find(|(_, base)| is_known(base));
        Ok(found.map(|(dir, base)| Found { base, dir, _lock: lock }))
    }

    /// Moves the caches of a checkout here, and removes the oldest ones. A crash leaves none, or all of them.
    pub(super) fn keep(
        &self,
        mut base: Base,
        git: &Bare,
        caches: &[Cache],
        from: Source<'_>,
    ) -> Result<(), ProofError> {
        base.tree = git.tree_of(&base.commit)?;
        files::make_dir(&self.dir).map_err(ProofError::file(FileAction::Create, &self.dir))?;
        let _lock = self.lock(File::lock)?;
        let dir = self.dir.join(base.commit.as_str());
        let mut kept = || -> io::Result<()> {
            files::remove(&dir)?;
            files::make_dir(&dir.join("tree"))?;
            for cache in caches {
                if cache.transfer(from.tree, &dir.join("tree"), Transfer::Move)? {
                    base.caches.push(cache.clone());
                }
            }
            downloads::transfer(from.downloads, &dir.join("downloads"), Transfer::Move)?;
            // Last: without it the directory counts for nothing.
            files::replace(&dir.join(RECORD), &serde_json::to_vec(&base).map_err(io::Error::from)?)?;
            for (old, _) in self.all().into_iter().skip(MOST) {
                files::remove(&old)?;
            }
            Ok(())
        };
        kept().map_err(ProofError::file(FileAction::Write, &dir))
    }

    /// All that are whole, the newest first; what is not whole is removed when its commit is kept again, or pruned.
    fn all(&self) -> Vec<(PathBuf, Base)> {
        let dirs = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<(PathBuf, Base)> = dirs
            .filter_map(|dir| {
                let base: Base = serde_json::from_slice(&files::read(&dir.join(RECORD)).ok()?).ok()?;
                let is_right = base.v == FORMAT && dir.ends_with(base.commit.as_str());
                is_right.then_some((dir, base))
            })
            .collect();
        found.sort_by_key(|(_, base)| std::cmp::Reverse(base.kept_at));
        found
    }

    fn lock(&self, take: fn(&File) -> io::Result<()>) -> Result<File, ProofError> {
        let path = self.dir.with_extension("lock");
        let opened = crate::files::open_or_create(&path);
        let locked = opened.and_then(|file| take(&file).map(|()| file));
        locked.map_err(ProofError::file(FileAction::Lock, path))
    }
}

/// The directories of a proof.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) tree: &'a Path,
    pub(super) downloads: &'a Path,
}

impl Found {
    /// Copies caches into a new checkout. Of what was installed, nothing is copied where the fingerprint is another one, or
    /// where the checkout would have no such cache. Returns what kinds were copied.
    pub(super) fn copy(
        &self,
        wanted: &[Cache],
        fingerprint: &str,
        to: Source<'_>,
    ) -> io::Result<Vec<CacheKind>> {
        let mut copied = Vec::new();
        for cache in self.base.caches.iter().filter(|cache| wanted.contains(cache)) {
            let counts = match cache.kind {
                CacheKind::Cargo => true,
                CacheKind::Installed => self.base.fingerprint == fingerprint,
            };
            if counts && cache.transfer(&self.dir.join("tree"), to.tree, Transfer::Copy)? {
                copied.push(cache.kind);
            }
        }
        downloads::transfer(&self.dir.join("downloads"), to.downloads, Transfer::Copy)?;
        Ok(copied)
    }
}
