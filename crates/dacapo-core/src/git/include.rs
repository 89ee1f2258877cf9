//! Files of the user's checkout that a fresh worktree needs although git does not know them: `.worktreeinclude` names
//! them, in the syntax of `.gitignore`, and git itself reads it.

use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use super::Repo;
use super::error::GitError;

const COPY: &str = "copy what .worktreeinclude names";
const NAME: &str = ".worktreeinclude";

/// Ignored files that were copied into a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Included {
    /// Files and links that were copied.
    pub files: Vec<PathBuf>,
    pub bytes: u64,
    /// What was named and did not come: repositories of their own, and what would lead out of the worktree.
    pub skipped: Vec<PathBuf>,
}

impl Repo {
    /// Copies what `.worktreeinclude` at the top of this checkout names into another working tree. Only what git does not
    /// track here, and never over something that is there.
    pub(crate) fn copy_included(&self, to: &Self) -> Result<Included, GitError> {
        let (files, skipped) = self.included()?;
        let mut included = Included { skipped, ..Included::default() };
        for path in files {
            match copy(self.toplevel(), to.toplevel(), &path)? {
                Copied::Yes(bytes) => {
                    included.bytes += bytes;
                    included.files.push(path);
                }
                Copied::IsThere => {}
                Copied::No => included.skipped.push(path),
            }
        }
        Ok(included)
    }

    /// The files that `.worktreeinclude` at the top of this checkout names, of those that git does not track; and what it
    /// names that is a repository of its own.
    pub(crate) fn included(&self) -> Result<(Vec<PathBuf>, Vec<PathBuf>), GitError> {
        let list = self.toplevel().join(NAME);
        if !list.is_file() {
            return Ok((Vec::new(), Vec::new()));
        }
        let call = self.call(COPY).args(["ls-files", "--others", "--ignored", "-z", "--exclude-from"]);
        let out = call.arg(&list).stdout()?;
        let names = out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let (nested, files): (Vec<&[u8]>, Vec<&[u8]>) = names.partition(|name| name.ends_with(b"/"));
        let path = |name: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(name));
        Ok((files.into_iter().map(path).collect(), nested.into_iter().map(path).collect()))
    }

    /// Submodules, which are empty in a fresh worktree.
    pub(crate) fn submodules(&self) -> Result<Vec<PathBuf>, GitError> {
        if !self.toplevel().join(".gitmodules").is_file() {
            return Ok(Vec::new());
        }
        let out = self.call("look for submodules").args(["ls-files", "-s", "-z"]).stdout()?;
        let links = out.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
        let path = |entry: &[u8]| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            Some(PathBuf::from(std::ffi::OsStr::from_bytes(&entry[tab + 1..])))
        };
        Ok(links.filter_map(path).collect())
    }
}

enum Copied {
    Yes(u64),
    IsThere,
    No,
}

fn copy(from: &Path, to: &Path, path: &Path) -> Result<Copied, GitError> {
    let (source, target) = (from.join(path), to.join(path));
    let found = match fs::symlink_metadata(&source) {
        Ok(found) if found.is_file() || found.is_symlink() => found,
        // Something else, or gone since git saw it.
        Ok(_) | Err(_) => return Ok(Copied::No),
    };
    if fs::symlink_metadata(&target).is_ok() {
        return Ok(Copied::IsThere);
    }
    if !make_directories(from, to, path.parent().unwrap_or(Path::new("")))? {
        return Ok(Copied::No);
    }
    if found.is_symlink() {
        let leads_to = fs::read_link(&source).map_err(GitError::io(COPY, &source))?;
        std::os::unix::fs::symlink(leads_to, &target).map_err(GitError::io(COPY, &target))?;
        return Ok(Copied::Yes(0));
    }
    // The kernel shares the blocks where the file system can.
    fs::copy(&source, &target).map_err(GitError::io(COPY, &source))?;
    // Build tools go by the times of files.
    if let Ok(modified) = found.modified() {
        let set =
            File::open(&target).and_then(|file| file.set_times(FileTimes::new().set_modified(modified)));
        set.map_err(GitError::io(COPY, &target))?;
    }
    Ok(Copied::Yes(found.len()))
}

/// The directories that lead to a file, with the modes that they have at its source. False: one of them is something
/// else here, a link perhaps that leads out of the worktree.
fn make_directories(from: &Path, to: &Path, path: &Path) -> Result<bool, GitError> {
    let (mut there, mut here) = (from.to_owned(), to.to_owned());
    for part in path.components() {
        let Component::Normal(name) = part else { return Ok(false) };
        there.push(name);
        here.push(name);
        match fs::symlink_metadata(&here) {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => return Ok(false),
            Err(_) => {}
        }
        let mode = fs::symlink_metadata(&there).map_or(0o755, |found| found.mode() & 0o777);
        // Files go into it, whatever it is afterwards.
        let made = fs::DirBuilder::new().mode(mode | 0o700).create(&here);
        made.map_err(GitError::io(COPY, &here))?;
    }
    Ok(true)
}
