//! Files and directories that are the user's alone, whatever the umask is, and the removal of anything at all.

use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A pattern file, a manifest or a configuration that is longer is not read.
const MOST_BYTES: u64 = 64 << 20;

/// More threads than this wait for the file system.
const MOST_COPIERS: usize = 4;

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

/// Removes whatever is at `path`, if anything is: also directories that nobody may enter, and trees that are deeper than a
/// path can be long.
///
/// A directory that is found is moved up beside the others before it is emptied, so no path has more than two names below
/// `path`, and nothing recurses.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.is_dir() {
        return fs::remove_file(path);
    }
    open_up(path, &found)?;
    let mut full = vec![path.to_owned()];
    let mut moved: u64 = 0;
    while let Some(dir) = full.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let (name, found) = (entry.path(), entry.metadata()?);
            if !found.is_dir() {
                fs::remove_file(&name)?;
            } else if dir == path {
                open_up(&name, &found)?;
                full.push(name);
            } else {
                // To move a directory elsewhere is to change its `..`: we must be able to write to it.
                open_up(&name, &found)?;
                let up = loop {
                    moved += 1;
                    let up = path.join(format!(".moved-{moved}"));
                    if fs::symlink_metadata(&up).is_err() {
                        break up;
                    }
                };
                fs::rename(&name, &up)?;
                full.push(up);
            }
        }
        // Empty by now: what it held was removed or moved up. The top one holds what was moved, and goes last.
        if dir != path {
            fs::remove_dir(dir)?;
        }
    }
    fs::remove_dir(path)
}

/// Lets us into a directory of ours that was closed to us.
pub(super) fn open_up(path: &Path, found: &fs::Metadata) -> io::Result<()> {
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode | 0o700))
}

/// Lets us into every directory below `dir`.
pub(super) fn open_all(dir: &Path) -> io::Result<()> {
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        open_up(&dir, &fs::symlink_metadata(&dir)?)?;
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Copies a directory with everything in it: contents (shared with the original where the file system can), modes, times
/// and links. What is neither file, directory nor link is left out.
pub(super) fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    let (mut made, mut files) = (Vec::new(), Vec::new());
    while let Some((from, to)) = open.pop() {
        fs::create_dir(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push((source, target));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
            } else if kind.is_file() {
                files.push((source, target));
            }
        }
        made.push((from, to));
    }
    copy_files(&files)?;
    // Deepest first, and last of all: writing to a directory changes its time.
    for (from, to) in made.iter().rev() {
        let found = fs::metadata(from)?;
        fs::set_permissions(to, found.permissions())?;
        File::open(to)?.set_times(FileTimes::new().set_modified(found.modified()?))?;
    }
    Ok(())
}

/// Copies files on several cores: most of the time goes into creating them.
fn copy_files(files: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let copy = || {
        while let Some((from, to)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            copy_file(from, to)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(MOST_COPIERS)).map(|_| scope.spawn(copy)).collect();
        let mut copied = copy();
        for other in others {
            let ended = other.join().unwrap_or_else(|_| Err(io::Error::other("a copying thread broke")));
            copied = copied.and(ended);
        }
        copied
    })
}

/// Copies a file with its mode and time.
pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open(from)?;
    let found = source.metadata()?;
    let mode = found.permissions().mode() & 0o777;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    if !clone_file(&source, &target) {
        io::copy(&mut source, &mut target)?;
    }
    target.set_permissions(Permissions::from_mode(mode))?;
    target.set_times(FileTimes::new().set_modified(found.modified()?))
}

/// Lets both files share their blocks; false where the file system cannot.
#[cfg(target_os = "linux")]
fn clone_file(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone_file(_: &File, _: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_trees_deeper_than_a_path_and_closed_directories_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("tree");
        fs::create_dir(&top).unwrap();
        let (mut at, mut depth) = (rustix::fs::open(&top, OFLAGS, Mode::empty()).unwrap(), 0);
        let name = "d".repeat(200);
        // 300 names of 200 bytes: far over PATH_MAX.
        while depth < 300 {
            rustix::fs::mkdirat(&at, name.as_str(), Mode::from_raw_mode(0o700)).unwrap();
            at = rustix::fs::openat(&at, name.as_str(), OFLAGS, Mode::empty()).unwrap();
            depth += 1;
        }
        fs::create_dir_all(top.join("closed/in")).unwrap();
        fs::write(top.join("closed/in/file"), "x").unwrap();
        for closed in ["closed/in", "closed"] {
            fs::set_permissions(top.join(closed), Permissions::from_mode(0o0)).unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), top.join("link")).unwrap();
        remove(&top).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn l4_a_copy_has_the_modes_times_and_links_of_the_original() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("bin")).unwrap();
        fs::write(from.join("bin/tool"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(from.join("bin/tool"), Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("bin/tool", from.join("tool")).unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
        for path in ["bin/tool", "bin"] {
            File::open(from.join(path)).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
        }
        copy_dir(&from, &to).unwrap();
        let look = |path: &str| {
            let found = fs::symlink_metadata(to.join(path)).unwrap();
            (found.permissions().mode() & 0o777, found.modified().unwrap())
        };
        assert_eq!((look("bin/tool"), look("bin").1), ((0o755, old), old));
        assert_eq!(fs::read_link(to.join("tool")).unwrap(), Path::new("bin/tool"));
        assert_eq!(fs::read_to_string(to.join("tool")).unwrap(), "#!/bin/sh\n");
    }

    use rustix::fs::Mode;
    const OFLAGS: rustix::fs::OFlags = rustix::fs::OFlags::DIRECTORY;
}
