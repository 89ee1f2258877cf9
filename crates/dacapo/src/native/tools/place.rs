//! The workspace, and nothing but it. A path of the model is walked one name at a time from a directory that is held
//! open, and links are followed by hand: so neither `..`, an absolute path, a link nor a directory that changes while
//! we look leads out.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// As many as the system itself follows.
const MOST_LINKS: usize = 40;

/// The system takes no longer one.
const LONGEST_PATH: usize = 4096;

/// No project is deeper; each directory on the way is held open.
const DEEPEST: usize = 64;

/// No tool reads or writes a larger file as a whole.
pub(super) const LARGEST: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct Place {
    /// As it was given, and as it really is: the model may use either.
    names: [PathBuf; 2],
    root: OwnedFd,
}

/// What is to be done with directories on the way that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    Make,
}

/// The last name of a path, in a directory inside the workspace. What it names, if anything, is no link.
struct Located {
    directory: OwnedFd,
    name: OsString,
    kind: Option<FileType>,
}

impl Place {
    pub(super) fn open(workspace: &Path) -> Result<Self, String> {
        let failed =
            |error: std::io::Error| format!("the workspace {} is gone: {error}", workspace.display());
        let real = workspace.canonicalize().map_err(failed)?;
        let root = open_directory(rustix::fs::CWD, real.as_os_str()).map_err(|error| failed(error.into()))?;
        Ok(Place { names: [workspace.to_owned(), real], root })
    }

    /// The directory in which commands run.
    pub(super) fn path(&self) -> &Path {
        &self.names[1]
    }

    /// A file, to be read.
    pub(super) fn read(&self, path: &str) -> Result<File, String> {
        let found = self.find(path, Missing::Fail)?;
        match found.kind {
            Some(FileType::RegularFile) => found.open(path, OFlags::RDONLY),
            Some(FileType::Directory) => Err(format!(
                "{} is a directory; `search` with names=true lists its files",
                path.escape_debug()
            )),
            Some(_) => Err(format!("{} is no regular file", path.escape_debug())),
            None => Err(format!("there is no {}", path.escape_debug())),
        }
    }

    /// All of a text file that is not too large.
    pub(super) fn text(&self, path: &str) -> Result<(File, String), String> {
        use std::io::Read as _;
        let found = self.find(path, Missing::Fail)?;
        let file = match found.kind {
            Some(FileType::RegularFile) => found.open(path, OFlags::RDWR)?,
            Some(_) => return Err(format!("{} is no regular file", path.escape_debug())),
            None => return Err(format!("there is no {}", path.escape_debug())),
        };
        let mut bytes = Vec::new();
        (&file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed("read", path, &error))?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!("{} is larger than {} MB", path.escape_debug(), LARGEST >> 20));
        }
        let text =
            String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", path.escape_debug()))?;
        Ok((file, text))
    }

    /// A file to write to from its beginning, made if it is not there. Tells whether it was.
    pub(super) fn write(&self, path: &str) -> Result<(File, bool), String> {
        let found = self.find(path, Missing::Make)?;
        match found.kind {
            None => Ok((found.open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?, false)),
            Some(FileType::RegularFile) => Ok((found.open(path, OFlags::WRONLY)?, true)),
            Some(FileType::Directory) => Err(format!("{} is a directory", path.escape_debug())),
            Some(_) => Err(format!("{} is no regular file", path.escape_debug())),
        }
    }

    /// The path as seen from the top of the workspace.
    pub(super) fn relative(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{} is not inside the workspace", path.escape_debug());
        if path.is_empty() || path.len() > LONGEST_PATH || path.contains('\0') {
            return Err("the path is empty, or none".into());
        }
        let path = Path::new(path);
        let path = match path.is_absolute() {
            true => self.names.iter().find_map(|root| path.strip_prefix(root).ok()).ok_or_else(outside)?,
            false => path,
        };
        if path.components().any(|part| matches!(part, Component::ParentDir)) {
            return Err(format!("{}; paths are without `..` here", outside()));
        }
        Ok(path.components().filter(|part| matches!(part, Component::Normal(_))).collect())
    }

    fn find(&self, path: &str, missing: Missing) -> Result<Located, String> {
        let outside = || format!("{} is not inside the workspace", path.escape_debug());
        let wrong = |error: Errno| failed("reach", path, &error.into());
        let mut names: VecDeque<OsString> = self.relative(path)?.iter().map(OsStr::to_owned).collect();
        if names.len() > DEEPEST {
            // Before any directory is made.
            return Err(format!("{} is too deep", path.escape_debug()));
        }
        let mut above: Vec<OwnedFd> = Vec::new();
        let mut links = 0;
        while let Some(name) = names.pop_front() {
            if name == ".." {
                above.pop().ok_or_else(outside)?;
                continue;
            }
            // Whatever the case: on macOS `.GIT` is the same directory, and a hook written there would run with the
            // user's rights.
            if name.eq_ignore_ascii_case(".git") {
                return Err(format!("{} belongs to git", path.escape_debug()));
            }
            let here = above.last().unwrap_or(&self.root).as_fd();
            // By an open directory and a single name. A path as a whole would be resolved by the kernel, through
            // links that may change between the look and the use.
            let kind = match rustix::fs::statat(here, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
                Err(Errno::NOENT) => None,
                Err(error) => return Err(wrong(error)),
            };
            if kind == Some(FileType::Symlink) {
                links += 1;
                if links > MOST_LINKS {
                    return Err(format!("{}: too many links", path.escape_debug()));
                }
                let target = rustix::fs::readlinkat(here, &name, Vec::new()).map_err(wrong)?;
                let target = Path::new(OsStr::from_bytes(target.as_bytes())).to_owned();
                self.follow(&target, &mut names, &mut above).ok_or_else(outside)?;
                continue;
            }
            if names.is_empty() {
                let directory = here.try_clone_to_owned().map_err(|error| failed("reach", path, &error))?;
                return Ok(Located { directory, name, kind });
            }
            if kind.is_none() {
                if missing == Missing::Fail {
                    return Err(format!("there is no {}", path.escape_debug()));
                }
                rustix::fs::mkdirat(here, &name, Mode::from_raw_mode(0o777)).map_err(wrong)?;
            }
            if above.len() == DEEPEST {
                return Err(format!("{} is too deep", path.escape_debug()));
            }
            let next = open_directory(here, &name).map_err(wrong)?;
            above.push(next);
        }
        Err(format!("{} is a directory", path.escape_debug()))
    }

    /// Goes on at the target of a link; none when it is certain that it leads out.
    fn follow(&self, target: &Path, names: &mut VecDeque<OsString>, above: &mut Vec<OwnedFd>) -> Option<()> {
        let target = match target.is_absolute() {
            true => {
                let inside = self.names.iter().find_map(|root| target.strip_prefix(root).ok())?;
                above.clear();
                inside
            }
            false => target,
        };
        for part in target.components().rev() {
            match part {
                Component::Normal(_) | Component::ParentDir => names.push_front(part.as_os_str().to_owned()),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(())
    }
}

impl Located {
    /// Not blocking, so that a pipe which took the file's place just now does not hold us up; what is opened is looked
    /// at again for the same reason.
    fn open(&self, path: &str, how: OFlags) -> Result<File, String> {
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, &self.name, flags, Mode::from_raw_mode(0o666));
        let file = File::from(opened.map_err(|error| failed("open", path, &error.into()))?);
        match file.metadata() {
            Ok(meta) if meta.is_file() => Ok(file),
            Ok(_) => Err(format!("{} is no regular file", path.escape_debug())),
            Err(error) => Err(failed("open", path, &error)),
        }
    }
}

fn open_directory(at: impl std::os::fd::AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

pub(super) fn failed(what: &str, path: &str, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.escape_debug())
}

#[cfg(test)]
mod tests;
