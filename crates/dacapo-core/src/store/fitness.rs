//! Whether a directory can hold what is kept here. Found out before anything starts: half-way through a task it would be
//! too late.

use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::files;

/// Why a directory is of no use.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// Nothing can be written there.
    #[error("cannot write to {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    /// Its file system has no locks: two processes could do one task's work.
    #[error("the file system of {} has no file locks: {source}", path.display())]
    NoLocks { path: PathBuf, source: io::Error },
    /// A directory cannot be renamed there: what is dropped could not be kept.
    #[error("the file system of {} cannot rename a directory: {source}", path.display())]
    NoRenames { path: PathBuf, source: io::Error },
}

/// Tries locks and renames in `dir`, which is made if it is not there.
pub fn fit(dir: &Path) -> Result<(), Unfit> {
    let unwritable = |source| Unfit::Unwritable { path: dir.to_owned(), source };
    files::make_dir(dir).map_err(unwritable)?;
    let probe = tempfile::Builder::new().prefix(".probe-").tempdir_in(dir).map_err(unwritable)?;
    can_lock(probe.path())?;
    let (from, to) = (probe.path().join("from"), probe.path().join("to"));
    fs::create_dir(&from).map_err(unwritable)?;
    fs::rename(&from, &to).map_err(|source| Unfit::NoRenames { path: dir.to_owned(), source })
}

/// Whether files in `dir` can be locked. Nothing stays there.
pub fn can_lock(dir: &Path) -> Result<(), Unfit> {
    let unwritable = |source| Unfit::Unwritable { path: dir.to_owned(), source };
    let probe = tempfile::Builder::new().prefix(".probe-").tempfile_in(dir).map_err(unwritable)?;
    match probe.as_file().try_lock() {
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(source)) => Err(Unfit::NoLocks { path: dir.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_a_plain_directory_is_fit_and_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("a/b");
        fit(&data).unwrap();
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(matches!(fit(&dir.path().join("file")), Err(Unfit::Unwritable { .. })));
    }
}
