//! Proofs (L4): checks run once more on exactly the commit, in a checkout that is made from nothing an agent could have
//! written, and thrown away afterwards.
//!
//! [`Snapshot::take`] records before the first turn how git was configured and which files `.worktreeinclude` brings.
//! [`Pool::lease`] gives a place to work in, [`Lease::prepare`] makes the checkout there, from the objects of the
//! repository's own store, and [`Lease::hidden`] names what a workspace has and the commit does not.

use std::io;
use std::path::PathBuf;

use crate::files::FileAction;
use crate::git::GitError;

mod bases;
mod caches;
mod checkout;
mod config;
mod downloads;
mod files;
mod hidden;
mod installed;
mod originals;
mod outside;
mod pool;
mod room;
mod snapshot;
mod store;
mod suspects;
mod tracked;

pub use crate::event::{Hidden, HiddenWhy};
pub use checkout::{Lease, Prepared, ProofRun, Request, Start, Whose};
pub use hidden::HiddenFiles;
pub(crate) use originals::{changed_tests, put_back};
pub use pool::{Leftover, Pool};
pub use snapshot::Snapshot;
pub use suspects::{Suspect, Suspects, Watch};

/// Why there is no proof checkout to be had.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Git could not do its part: the commit is gone, a required filter failed, …
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file of the checkout or of the snapshot.
    #[error("cannot {what} {path}: {source}", path = .path.display())]
    File {
        /// What was to be done with it.
        what: FileAction,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// The snapshot of the start is not there.
    #[error("it cannot be proven: the settings noted before the agent ran are gone ({path})", path = .path.display())]
    SnapshotMissing { path: PathBuf },
    /// The snapshot of the start is not what was taken.
    #[error("it cannot be proven: the settings noted before the agent ran were changed ({path})", path = .path.display())]
    SnapshotChanged {
        /// The file that differs.
        path: PathBuf,
    },
}

impl ProofError {
    fn file(what: FileAction, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
