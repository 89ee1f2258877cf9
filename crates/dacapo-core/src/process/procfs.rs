//! `/proc` as the kernel shows it to us, and not as somebody has dressed it up: an agent with a mount namespace of its own can
//! mount other files over it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, fstatfs, openat, openat2, readlinkat};
use rustix::io::Errno;

/// A directory like `/proc`.
#[derive(Debug)]
pub(super) struct ProcFs {
    root: OwnedFd,
    resolve: ResolveFlags,
}

impl ProcFs {
    /// The real one.
    pub(super) fn real() -> io::Result<Self> {
        let root = Self::open(Path::new("/proc"), ResolveFlags::NO_XDEV)?;
        if fstatfs(&root.root)?.f_type != PROC_SUPER_MAGIC {
            return Err(io::Error::other("/proc is not the kernel's"));
        }
        Ok(root)
    }

    /// Any directory.
    #[cfg(test)]
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Self::open(path, ResolveFlags::empty())
    }

    fn open(path: &Path, resolve: ResolveFlags) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: openat(CWD, path, flags, Mode::empty())?, resolve })
    }

    /// The id of this process as this `/proc` counts, which may be that of an outer pid namespace.
    pub(super) fn own_pid(&self) -> io::Result<u32> {
        let own = readlinkat(&self.root, "self", Vec::new())?;
        let own = own.to_str().ok().and_then(|own| own.parse().ok());
        own.ok_or_else(|| io::Error::other("/proc does not show this process"))
    }

    /// A file of a process.
    pub(super) fn read(&self, pid: u32, name: &str) -> io::Result<Vec<u8>> {
        let file = self.file(pid, name, OFlags::RDONLY | OFlags::CLOEXEC)?;
        let mut bytes = Vec::new();
        File::from(file).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// What a link in a directory of a process says.
    pub(super) fn link(&self, pid: u32, dir: &str, name: &str) -> io::Result<PathBuf> {
        let dir = self.file(pid, dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
        let link = readlinkat(&dir, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(link.as_bytes())))
    }

    fn file(&self, pid: u32, name: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let path = format!("{pid}/{name}");
        match openat2(&self.root, &path, flags, Mode::empty(), self.resolve) {
            // Before Linux 5.6, and where a filter of system calls does not know it.
            Err(Errno::NOSYS | Errno::PERM) => Ok(openat(&self.root, &path, flags, Mode::empty())?),
            done => Ok(done?),
        }
    }
}
