//! Files and directories that are the user's alone, whatever the umask is, and the removal of anything at all.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// A pattern file, a manifest or a configuration that is longer is not read.
const MOST_BYTES: u64 = 64 << 20;

/// Makes a directory, and those above it that are missing.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    // A directory that was there before, or a umask that takes the owner's bits.
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is a link; remove it"));
    }
    let mode = found.permissions().mode() & 0o777;
    if mode == 0o700 { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(0o700)) }
}

/// A new file; whatever was there is replaced, and a link is not followed.
pub(super) fn create(path: &Path) -> io::Result<File> {
    // O_EXCL does not follow a link in the last place; what is there is removed and not written through.
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove(path)?;
            create()
        }
        made => made,
    }
}

/// Writes a new file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Replaces a file; after a crash it is the old or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    write(&new, bytes)?;
    fs::rename(new, path)
}

/// Opens a file of ours: a regular one, and never through a link.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

/// Reads a file of ours.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of the user's, who may have put a link there; none: it is not there, or is no file.
pub(super) fn read_users(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        _ => return Ok(None),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Removes whatever is at `path`, if anything is, also directories that nobody may enter. Gives the number of entries.
pub(super) fn remove(path: &Path) -> io::Result<u64> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    if !found.is_dir() {
        return fs::remove_file(path).map(|()| 1);
    }
    let mut removed = 1;
    open_up(path, &found)?;
    for entry in fs::read_dir(path)? {
        removed += remove(&entry?.path())?;
    }
    fs::remove_dir(path).map(|()| removed)
}

/// Lets us into a directory of ours that was closed to us.
pub(super) fn open_up(path: &Path, found: &fs::Metadata) -> io::Result<()> {
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode | 0o700))
}
