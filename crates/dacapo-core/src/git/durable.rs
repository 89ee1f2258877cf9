//! Forcing a commit to disk. Git by default does not, and doing it inline costs half as much again as the
//! commit itself: so it is a step of its own, run beside the next turn, objects before the ref that names them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// From this many files on, one call for the whole file system is cheaper.
const MANY: usize = 2000;

/// The loose objects in `dir` that were written at `since` or later. Found by the times that the file system keeps, without
/// asking git: objects are never changed, and a directory changes when one is added to it.
pub fn written_since(dir: &Path, since: SystemTime) -> Vec<PathBuf> {
    let is_new = |path: &Path| {
        fs::symlink_metadata(path).and_then(|meta| meta.modified()).is_ok_and(|modified| modified >= since)
    };
    let below = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let fan_out = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 2);
    below(dir)
        // A directory's own time changes when a file is added, so all others need not be read.
        .filter(|path| fan_out(path) && is_new(path))
        .flat_map(|path| below(&path).filter(|object| is_new(object)).collect::<Vec<_>>())
        .collect()
}

/// Forces files and the directories that name them to disk. A file that is not there has been packed, or never
/// was loose: git forces packs to disk itself.
pub fn sync(paths: &[PathBuf]) -> io::Result<()> {
    if paths.len() > MANY {
        return match paths.iter().find_map(|path| File::open(path.parent()?).ok()) {
            Some(directory) => sync_file_system(&directory),
            None => Ok(()),
        };
    }
    let mut directories: BTreeSet<&Path> = BTreeSet::new();
    for path in paths {
        sync_one(path)?;
        // Two levels: the directory of an object may itself be new.
        directories.extend(path.ancestors().skip(1).take(2));
    }
    // Deeper directories first, so that a name is never on disk before what it leads to.
    directories.into_iter().rev().try_for_each(sync_one)
}

fn sync_one(path: &Path) -> io::Result<()> {
    let found = std::fs::metadata(path).map(|found| found.is_file() || found.is_dir());
    match found.and_then(|plain| plain.then(|| File::open(path)).transpose()) {
        // A FIFO in its place: there is nothing to force to disk, and to open it would wait for somebody to write to it.
        Ok(None) => Ok(()),
        Ok(Some(file)) => file.sync_all(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn sync_file_system(any: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(any)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_any: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_tolerated_few_or_many() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let there = dir.path().join("there");
        std::fs::write(&there, "x").expect("write");
        sync(&[there.clone(), dir.path().join("gone/object")]).expect("sync");
        sync(&vec![there; MANY + 1]).expect("sync of the file system");
        sync(&[]).expect("nothing");
    }
}
