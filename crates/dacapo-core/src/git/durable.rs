//! Forcing a commit to disk. Git by default does not, and doing it inline costs half as much again as the
//! commit itself: so it is a step of its own, run beside the next turn, objects before the ref that names them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// From so many files on, one call for the whole file system is cheaper.
const MANY: usize = 2000;

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
    directories.into_iter().rev().try_for_each(sync_one)
}

fn sync_one(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
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
