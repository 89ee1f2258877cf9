//! Reads files of a repository without git. An agent may have put a FIFO in the place of any of them: to open that would wait
//! for somebody to write to it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file to read it. What is no regular file is refused; a link counts as what it leads to.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// All of a file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r05_a_fifo_is_refused_without_waiting_for_a_writer() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a FIFO");
        assert_eq!(read(&fifo).map_err(|error| error.kind()), Err(io::ErrorKind::InvalidInput));
        std::fs::write(dir.path().join("file"), "text").expect("a file");
        assert_eq!(read(&dir.path().join("file")).expect("its content"), b"text");
    }
}
