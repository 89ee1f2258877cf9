//! Files that are put into the user's checkout: never over one that is there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::Failure;
use crate::messages::{Messages, say};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFile {
    /// The file is there now.
    Created,
    /// Something was there before, and is as it was.
    Exists,
}

/// Puts a file there, with the folders around it. All of it or nothing: half a file would be in the way of the next try.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<NewFile, Failure> {
    put(path, bytes).map_err(|error| {
        let (path, error) = (path.display().to_string(), error.to_string());
        Failure::failed(say(|m| m.cannot_be_written(&path, &error))).kept(say(Messages::init_kept))
    })
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<NewFile> {
    if path.symlink_metadata().is_ok() {
        return Ok(NewFile::Exists);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // Exclusively: of two that write at once, one finds it there, and a link that leads elsewhere is not followed.
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(NewFile::Exists),
        Err(error) => return Err(error),
    };
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map(|()| NewFile::Created)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c.md");
        assert_eq!(put(&path, b"one").unwrap(), NewFile::Created);
        assert_eq!(put(&path, b"two").unwrap(), NewFile::Exists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("elsewhere", &link).unwrap();
        assert_eq!(put(&link, b"x").unwrap(), NewFile::Exists);
        assert!(!dir.path().join("elsewhere").exists(), "a link that leads nowhere is not followed");
        assert!(put(&path.join("below a file"), b"x").is_err());
    }
}
