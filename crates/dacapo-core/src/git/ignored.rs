//! Files that git ignores: work that no commit holds, or what a build makes again.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::{Oid, Repo};

/// Directories that a package manager or a build fills again.
const CACHES: [&str; 4] = ["node_modules", ".venv", "target", "__pycache__"];
/// Marks a directory as a cache: <https://bford.info/cachedir/>.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Whether an ignored directory can be made again by a build.
pub(super) fn is_cache(dir: &Path) -> bool {
    let is_dir = fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir());
    let named = dir.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache));
    is_dir && (named || dir.join(CACHE_TAG).is_file())
}

/// What git ignores below a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ignored {
    /// Directories that a build makes again.
    pub(crate) caches: Vec<PathBuf>,
    /// Files and whole directories of any other kind.
    pub(crate) others: Vec<PathBuf>,
}

impl Ignored {
    /// Removes the caches. One that cannot be removed stays: it costs room, and nothing else.
    pub(crate) fn remove_caches(&self) {
        for cache in &self.caches {
            if let Err(error) = fs::remove_dir_all(cache)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::debug!(%error, cache = %cache.display(), "a cache stays");
            }
        }
    }
}

impl Repo {
    /// What git ignores in a directory that holds, or held, a checkout of `commit`.
    pub(crate) fn ignored_in(&self, files: &Path, commit: Option<&Oid>) -> Result<Ignored, GitError> {
        const OPERATION: &str = "look for ignored files";
        let shared = self.shared();
        let dir = tempfile::Builder::new().prefix("dacapo-scratch-").tempdir_in(shared.common_dir());
        let dir = dir.map_err(GitError::io(OPERATION, shared.common_dir()))?;
        let index = dir.path().join("index");
        let call = || shared.call_in(OPERATION, files).env("GIT_INDEX_FILE", &index);
        if let Some(commit) = commit {
            call().args(["read-tree", commit.as_str()]).stdout()?;
        }
        let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let listed = call().args(words).stdout()?;
        let mut found = Ignored::default();
        for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let path = files.join(OsStr::from_bytes(name.strip_suffix(b"/").unwrap_or(name)));
            if is_cache(&path) { found.caches.push(path) } else { found.others.push(path) }
        }
        Ok(found)
    }
}
