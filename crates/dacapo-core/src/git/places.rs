//! Where git reads in nearly every command. A FIFO there would make it wait for ever for somebody to write to it, and a
//! setting there can make every command start others.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::{GitError, SpecialKind};
use super::regular;
use crate::process::Reach;

/// In the git directory of a working tree.
const OWN: [&str; 11] = [
    "HEAD",
    "index",
    "config.worktree",
    "commondir",
    "gitdir",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "ORIG_HEAD",
    "logs/HEAD",
    "info/sparse-checkout",
];
/// In the one that all working trees share.
const SHARED: [&str; 8] = [
    "config",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/commit-graph",
];
/// In the working tree, and of the first two one in every folder.
const IN_TREE: [&str; 4] = [".gitignore", ".gitattributes", ".gitmodules", ".git"];
/// In the git directory of a submodule.
const OF_MODULE: [&str; 2] = ["config", "HEAD"];

/// No more submodules, and no more entries of a tree, are looked at.
const MOST_MODULES: usize = 100;
const MOST_ENTRIES: usize = 200_000;
/// Larger settings are not looked through: what they name is unknown.
const MOST_SETTINGS: u64 = 1 << 20;
/// Settings by which any command may start another or read a file of any name, in lower case.
const FAR_REACHING: [&[u8]; 3] = [b"include", b"promisor", b"partialclone"];

/// Where one working tree of a repository, and the repository, keep what git reads.
#[derive(Debug)]
pub(super) struct Places {
    top: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// How the settings looked when they were last read, and whether they are far-reaching.
    settings: Mutex<Option<(Stamp, bool)>>,
}

/// Inode, size and time of the last change of whatever kind.
type Stamp = (u64, u64, i64, i64);

impl Places {
    pub(super) fn new(top: &Path, git_dir: &Path, common_dir: &Path) -> Self {
        let (top, git_dir, common_dir) = (top.to_owned(), git_dir.to_owned(), common_dir.to_owned());
        Self { top, git_dir, common_dir, settings: Mutex::default() }
    }

    /// The first special file where git would read.
    pub(super) fn special_file(&self) -> Option<(PathBuf, SpecialKind)> {
        let own = OWN.iter().map(|name| self.git_dir.join(name));
        let shared = SHARED.iter().map(|name| self.common_dir.join(name));
        let tree = IN_TREE.iter().map(|name| self.top.join(name));
        let known = own.chain(shared).chain(tree).find_map(|path| Some((special(&path)?, path)));
        let known =
            known.or_else(|| self.branch_files().into_iter().find_map(|path| Some((special(&path)?, path))));
        let known = known.or_else(|| self.module_files().find_map(|path| Some((special(&path)?, path))));
        known.map(|(kind, path)| (path, kind))
    }

    pub(super) fn refuse_special_files(&self, operation: &'static str) -> Result<(), GitError> {
        match self.special_file() {
            Some((path, kind)) => Err(GitError::SpecialFile { operation, path, kind }),
            None => Ok(()),
        }
    }

    /// The same, and at any depth of the working tree and among all refs and their logs; for when git does not come back.
    pub(super) fn any_special_file(&self) -> Option<(PathBuf, SpecialKind)> {
        let in_tree = |name: &OsStr| IN_TREE[..2].iter().any(|read| name == *read);
        let refs = ["refs", "logs"].map(|name| self.common_dir.join(name));
        let known = self.special_file().or_else(|| special_below(self.top.clone(), in_tree));
        known.or_else(|| refs.into_iter().find_map(|dir| special_below(dir, |_| true)))
    }

    /// What a command can start here that by itself starts nothing: a partial clone fetches what is missing.
    pub(super) fn reach(&self) -> Reach {
        let path = self.common_dir.join("config");
        let Ok(meta) = fs::metadata(&path) else { return Reach::Itself };
        let stamp = (meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec());
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let far = match *known {
            Some((before, far)) if before == stamp => far,
            _ => {
                !meta.is_file()
                    || meta.size() > MOST_SETTINGS
                    || far_reaching(&regular::read(&path).unwrap_or_default())
            }
        };
        *known = Some((stamp, far));
        if far { Reach::OtherPrograms } else { Reach::Itself }
    }

    /// The branch that is checked out, and its log.
    fn branch_files(&self) -> Vec<PathBuf> {
        let head = regular::read(&self.git_dir.join("HEAD")).unwrap_or_default();
        let head = String::from_utf8_lossy(&head);
        let Some(name) = head.strip_prefix("ref:").map(str::trim) else { return Vec::new() };
        vec![self.common_dir.join(name), self.common_dir.join("logs").join(name)]
    }

    fn module_files(&self) -> impl Iterator<Item = PathBuf> {
        let modules = fs::read_dir(self.common_dir.join("modules")).into_iter().flatten().flatten();
        modules.take(MOST_MODULES).flat_map(|module| OF_MODULE.map(|name| module.path().join(name)))
    }
}

/// The first special file below a directory, among those whose names git reads.
fn special_below(dir: PathBuf, is_read: impl Fn(&OsStr) -> bool) -> Option<(PathBuf, SpecialKind)> {
    let (mut open, mut left) = (vec![dir], MOST_ENTRIES);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() && name != ".git" {
                open.push(entry.path());
            } else if !kind.is_file() && is_read(&name) {
                let path = entry.path();
                if let Some(kind) = special(&path) {
                    return Some((path, kind));
                }
            }
        }
    }
    None
}

fn far_reaching(settings: &[u8]) -> bool {
    let settings = settings.to_ascii_lowercase();
    FAR_REACHING.iter().any(|word| memchr::memmem::find(&settings, word).is_some())
}

/// The kind of a file that nobody can simply read to its end; a link counts as what it leads to.
pub(super) fn special(path: &Path) -> Option<SpecialKind> {
    kind(&fs::metadata(path).ok()?)
}

fn kind(meta: &Metadata) -> Option<SpecialKind> {
    let file = meta.file_type();
    if file.is_fifo() {
        Some(SpecialKind::Fifo)
    } else if file.is_socket() {
        Some(SpecialKind::Socket)
    } else if file.is_block_device() || file.is_char_device() && !is_null(meta) {
        Some(SpecialKind::Device)
    } else {
        None
    }
}

/// Settings are switched off by a link to `/dev/null`.
fn is_null(meta: &Metadata) -> bool {
    fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev())
}
