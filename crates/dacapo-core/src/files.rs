//! How files of the data directory are made and opened (R0). They are the user's alone whatever the umask, and what is
//! opened is a regular file: a link that somebody planted is not followed, a FIFO blocks nobody, a device is not read.
//! Whatever is found in a file's place is named in the error and left as it is.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

mod action;

pub use action::FileAction;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Opens a file to read it.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, OpenOptions::new().read(true))
}

/// Opens a file to append to it and to read it; it is made where it is not there.
pub fn append(path: &Path) -> io::Result<File> {
    let file = opened(path, OpenOptions::new().read(true).append(true).create(true))?;
    keep_to_owner(&file, FILE_MODE)?;
    Ok(file)
}

/// The same of a file that must be there.
pub(crate) fn append_existing(path: &Path) -> io::Result<File> {
    let file = opened(path, OpenOptions::new().read(true).append(true))?;
    keep_to_owner(&file, FILE_MODE)?;
    Ok(file)
}

/// Makes a file that must not be there, to append to it and to read it.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let file = opened(path, OpenOptions::new().read(true).append(true).create_new(true))?;
    keep_to_owner(&file, FILE_MODE)?;
    Ok(file)
}

/// Opens a small file that is locked or says who holds something; it is made where it is not there, and never cut.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    let file = opened(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
    keep_to_owner(&file, FILE_MODE)?;
    Ok(file)
}

/// All of a file. One that is longer than `most` bytes is refused: no file of ours is.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(&open(path)?, path, most)
}

fn read_all(file: &File, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("{} is longer than {most} bytes", path.display());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The same of a file by which commands are run: one that another user could have written is refused.
pub(crate) fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let found = file.metadata()?;
    let denied = |why: &str| {
        let message = format!("{} {why}", path.display());
        io::Error::new(io::ErrorKind::PermissionDenied, message)
    };
    if !is_trusted(found.uid(), rustix::process::geteuid().as_raw()) {
        return Err(denied("belongs to another user"));
    }
    if found.mode() & 0o002 != 0 {
        return Err(denied("can be written by every user of this machine: look at it, then chmod 600 it"));
    }
    // From the file that was looked at: under its name there may be another one by now.
    read_all(&file, path, most)
}

/// Root could do anything as this user anyway.
fn is_trusted(owner: u32, own: u32) -> bool {
    owner == own || owner == 0
}

/// Writes a file that appears under its name complete or not at all, in place of whatever was there: a link is replaced,
/// not followed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(parent)?;
    file.write_all(bytes)?;
    keep_to_owner(file.as_file(), FILE_MODE)?;
    // A rename: readers see the old content or the new, never half of it, and who has the old file open keeps reading
    // that.
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The same, and on disk when this returns: a power cut does not take it back.
pub(crate) fn replace_on_disk(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(parent)?;
    file.write_all(bytes)?;
    keep_to_owner(file.as_file(), FILE_MODE)?;
    // First the content, then the name: the other way round a power cut could leave the name with an empty file.
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    // The rename itself is an entry of the directory, which has to be forced to disk on its own.
    sync_dir(parent)
}

/// Forces the names in a directory to disk.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Moves whatever has this name out of the way, and says what it was and where it is now. None: nothing was there.
pub(crate) fn set_aside(path: &Path) -> io::Result<Option<(&'static str, PathBuf)>> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".aside-{number}"));
        PathBuf::from(name)
    };
    let free = (1..=u32::MAX).map(named).find(|aside| fs::symlink_metadata(aside).is_err());
    let aside = free.ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(path, &aside)?;
    Ok(Some((what_it_is(&found), aside)))
}

/// Makes a directory and all above it that are not there. One that is there already must be one and no link, and is
/// closed to others.
pub fn make_dir(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => return close_to_others(path, &found),
        Ok(found) => return Err(planted(path, &found, "directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        make_dir(parent)?;
    }
    match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Ok(()) => close_to_others(path, &fs::symlink_metadata(path)?),
        // Somebody else was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(path)?;
            if found.is_dir() {
                close_to_others(path, &found)
            } else {
                Err(planted(path, &found, "directory"))
            }
        }
        Err(error) => Err(error),
    }
}

/// Closes a directory of an older version to others, if it is there.
pub(crate) fn close_dir(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => close_to_others(path, &found),
        Ok(found) => Err(planted(path, &found, "directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn close_to_others(path: &Path, found: &Metadata) -> io::Result<()> {
    let own = found.uid() == rustix::process::geteuid().as_raw();
    // A sticky directory is meant for everybody: somebody keeps data right in /tmp.
    let shared = found.mode() & 0o1000 != 0;
    if own && !shared && found.mode() & 0o777 != DIRECTORY_MODE {
        fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE))?;
    }
    Ok(())
}

/// A umask can only take away what a file is made with; one of an older version may be open to others.
fn keep_to_owner(file: &File, mode: u32) -> io::Result<()> {
    let found = file.metadata()?;
    let own = found.uid() == rustix::process::geteuid().as_raw();
    if own && found.mode() & 0o777 != mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(())
}

fn opened(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    // NOFOLLOW: an agent could plant a link to a file of the user's in the place of ours. NONBLOCK: to open a FIFO
    // would wait for its other end. NOCTTY: a terminal must not become ours by being opened. What was opened is
    // looked at afterwards, by descriptor, so that it cannot be exchanged between the look and the use.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = how.mode(FILE_MODE).custom_flags(flags.bits().cast_signed()).open(path);
    let what_is_there = || fs::symlink_metadata(path).ok().filter(|found| !found.is_file());
    match file {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(file) => Err(planted(path, &file.metadata()?, "file")),
        // A link, or a FIFO or socket that cannot be opened so.
        Err(error) => Err(match what_is_there() {
            Some(found) => planted(path, &found, "file"),
            None => error,
        }),
    }
}

fn planted(path: &Path, found: &Metadata, wanted: &str) -> io::Error {
    let what = what_it_is(found);
    let message = format!("{} is {what}, not a {wanted} that Dacapo made", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn what_it_is(found: &Metadata) -> &'static str {
    let kind = found.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () if kind.is_dir() => "a directory",
        () => "a file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn r0_what_is_in_the_way_is_moved_and_nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert_eq!(set_aside(&at("0002.raw")).unwrap(), None);
        fs::write(at("0002.raw"), "first").unwrap();
        assert_eq!(set_aside(&at("0002.raw")).unwrap(), Some(("a file", at("0002.raw.aside-1"))));
        std::os::unix::fs::symlink(at("nowhere"), at("0002.raw")).unwrap();
        assert_eq!(set_aside(&at("0002.raw")).unwrap(), Some(("a symbolic link", at("0002.raw.aside-2"))));
        fs::create_dir(at("0002.raw")).unwrap();
        assert_eq!(set_aside(&at("0002.raw")).unwrap(), Some(("a directory", at("0002.raw.aside-3"))));
        assert_eq!(fs::read_to_string(at("0002.raw.aside-1")).unwrap(), "first");
        assert!(at("0002.raw").symlink_metadata().is_err());
    }

    #[test]
    fn r0_what_is_planted_is_named_and_neither_followed_nor_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("target"), "mine").unwrap();
        std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        for (name, what) in [
            ("link", "a symbolic link"),
            ("dangling", "a symbolic link"),
            ("fifo", "a FIFO"),
            ("socket", "a socket"),
            ("directory", "a directory"),
        ] {
            let path = at(name);
            for opened in [open(&path), append(&path), append_existing(&path), open_or_create(&path)] {
                let error = opened.unwrap_err().to_string();
                assert!(error.contains(what) && error.contains(name), "{name}: {error}");
            }
            assert!(create_new(&path).is_err(), "{name}");
            assert!(read(&path, 10).is_err(), "{name}");
            if name != "directory" {
                let error = make_dir(&path).unwrap_err().to_string();
                assert!(error.contains(what), "{name}: {error}");
            }
        }
        assert!(!at("nowhere").exists());
        replace(&at("link"), b"new").unwrap();
        assert_eq!(fs::read(at("target")).unwrap(), b"mine", "a link is replaced, not followed");
        assert_eq!(fs::read(at("link")).unwrap(), b"new");
        assert_eq!(open(&at("not there")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn r0_files_and_directories_of_an_older_version_are_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["append", "lock"] {
            fs::write(at(name), "").unwrap();
            fs::set_permissions(at(name), Permissions::from_mode(0o666)).unwrap();
        }
        fs::create_dir(at("dir")).unwrap();
        fs::set_permissions(at("dir"), Permissions::from_mode(0o777)).unwrap();
        append(&at("append")).unwrap();
        open_or_create(&at("lock")).unwrap();
        make_dir(&at("dir")).unwrap();
        make_dir(&at("a/b/c")).unwrap();
        fs::create_dir(at("shared")).unwrap();
        fs::set_permissions(at("shared"), Permissions::from_mode(0o1777)).unwrap();
        make_dir(&at("shared")).unwrap();
        assert_eq!(mode(&at("shared")), 0o1777, "what is meant for everybody stays so");
        create_new(&at("a/new")).unwrap();
        replace(&at("a/b/replaced"), b"").unwrap();
        assert_eq!([mode(&at("append")), mode(&at("lock")), mode(&at("a/new"))], [0o600; 3]);
        assert_eq!(mode(&at("a/b/replaced")), 0o600);
        assert_eq!(["dir", "a", "a/b", "a/b/c"].map(|name| mode(&at(name))), [0o700; 4]);
    }

    #[test]
    fn r0_a_file_that_another_user_could_have_written_runs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spec.json");
        fs::write(&path, "{}").unwrap();
        for (open_mode, readable) in [(0o600, true), (0o664, true), (0o666, false), (0o602, false)] {
            fs::set_permissions(&path, Permissions::from_mode(open_mode)).unwrap();
            assert_eq!(read_own(&path, 10).is_ok(), readable, "{open_mode:o}");
        }
        assert!(is_trusted(1000, 1000) && is_trusted(0, 1000));
        assert!(!is_trusted(1001, 1000) && !is_trusted(1000, 0));
        let long = read(&path, 1).unwrap_err();
        assert_eq!(long.kind(), io::ErrorKind::FileTooLarge);
    }
}
