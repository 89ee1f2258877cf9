//! What a workspace has and the checkout of its commit has not.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::checkout::At;
use super::snapshot::Included;
use super::{Lease, ProofError, files};
use crate::event::{Hidden, HiddenWhy};
use crate::files::FileAction;
use crate::git::{Entry, Flags, IgnoredBy, LeftOutReason, Repo, display_path};

/// How many untracked paths are looked at.
const MOST_SEEN: usize = 20_000;

/// What was found, the most telling first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenFiles {
    /// At most [`HiddenFiles::MOST`].
    pub files: Vec<Hidden>,
    /// How many there are in all.
    pub total: u64,
}

impl HiddenFiles {
    /// How many are named.
    pub const MOST: usize = 100;
}

/// A difference, before it is known why.
#[derive(Debug)]
enum Difference {
    /// A path of the commit whose file in the workspace is another, or is gone.
    /// With the id of the blob, where a filter may have made one of the other.
    Tracked { path: Vec<u8>, oid: Option<String> },
    /// A file or link that the checkout has not.
    File { path: Vec<u8> },
    /// A directory that the checkout has not.
    Directory { path: Vec<u8>, kind: DirectoryKind },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryKind {
    /// What is in it was found too.
    Plain,
    Empty,
    Cache,
    Repository,
}

impl Lease {
    /// Compares a workspace with the commit that was last prepared here, by content: no bit of an index and no filter has a
    /// say in it. Files over `max_file_bytes` are left out of commits, as are those of the user's that were untracked before.
    /// To be called while nothing runs in either.
    pub fn hidden(
        &self,
        workspace: &Repo,
        max_file_bytes: u64,
        untracked_before: &BTreeSet<PathBuf>,
    ) -> Result<HiddenFiles, ProofError> {
        let Some(at) = &self.at else { return Ok(HiddenFiles::default()) };
        // Checks may have changed files here.
        self.sync_again(at)?;
        let search = Search { at, tree: self.tree(), workspace, max_file_bytes, untracked_before };
        let mut found = Vec::new();
        search.tracked(&mut found).map_err(ProofError::file(FileAction::Compare, workspace.toplevel()))?;
        let changed = search.why_changed(&found)?;
        let mut others = Vec::new();
        let read = ProofError::file(FileAction::Read, workspace.toplevel());
        search.directory(&mut Vec::new(), &mut others).map_err(read)?;
        let others = search.why_untracked(&others)?;
        let mut all: Vec<(u8, Hidden)> =
            changed.into_iter().map(|hidden| (rank(&hidden), hidden)).chain(others).collect();
        let total = all.len() as u64;
        all.sort_by(|(one, a), (other, b)| (one, &a.path).cmp(&(other, &b.path)));
        let files = all.into_iter().take(HiddenFiles::MOST).map(|(_, hidden)| hidden).collect();
        Ok(HiddenFiles { files, total })
    }
}

/// Behind all others: what can be made again.
const CACHES: u8 = 9;

/// What is most likely to have made the check pass comes first.
fn rank(hidden: &Hidden) -> u8 {
    match hidden.why {
        HiddenWhy::AssumeUnchanged | HiddenWhy::SkipWorktree | HiddenWhy::Filtered => 0,
        HiddenWhy::Changed => 1,
        HiddenWhy::LeftOutSecret | HiddenWhy::LeftOutSize => 2,
        HiddenWhy::IncludedChanged | HiddenWhy::UntrackedBefore => 3,
        HiddenWhy::Excluded => 4,
        HiddenWhy::Ignored if !hidden.path.ends_with('/') => 5,
        HiddenWhy::Ignored | HiddenWhy::Untracked => 6,
        HiddenWhy::NestedRepository => 7,
        HiddenWhy::EmptyDirectory => 8,
    }
}

struct Search<'a> {
    at: &'a At,
    tree: &'a Path,
    workspace: &'a Repo,
    max_file_bytes: u64,
    untracked_before: &'a BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn tracked(&self, found: &mut Vec<Difference>) -> io::Result<()> {
        for entry in self.at.tracked.iter() {
            let path = OsStr::from_bytes(&entry.path);
            let (here, there) = (self.workspace.toplevel().join(path), self.tree.join(path));
            // What is in a submodule is not of this commit.
            if entry.mode == Entry::GITLINK {
                continue;
            }
            match compare(&here, &there)? {
                Compared::Same => {}
                Compared::OtherBytes => {
                    found
                        .push(Difference::Tracked { path: entry.path.clone(), oid: Some(entry.oid.clone()) });
                }
                Compared::OtherKind => {
                    found.push(Difference::Tracked { path: entry.path.clone(), oid: None });
                }
            }
        }
        Ok(())
    }

    fn why_changed(&self, found: &[Difference]) -> Result<Vec<Hidden>, ProofError> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        // A workspace that an agent has broken answers nothing; what differs is known all the same.
        let flags: HashMap<Vec<u8>, Flags> =
            self.workspace.hiding_flags().unwrap_or_default().into_iter().collect();
        let mut hidden = Vec::new();
        for one in found.iter() {
            let Difference::Tracked { path, oid } = one else { continue };
            let is_missing = || fs::symlink_metadata(self.full(path)).is_err();
            let why = match flags.get(path) {
                // The user has only a part of the commit checked out.
                Some(Flags::SkipWorktree) if self.is_sparse() && is_missing() => continue,
                Some(Flags::AssumeUnchanged) => HiddenWhy::AssumeUnchanged,
                Some(Flags::SkipWorktree) => HiddenWhy::SkipWorktree,
                Some(Flags::None) | None => {
                    let oid = oid.as_ref().filter(|_| hidden.len() < HiddenFiles::MOST);
                    let is_filtered = oid.is_some_and(|oid| {
                        self.workspace.id_after_filters(path).is_ok_and(|filtered| filtered == *oid)
                    });
                    if is_filtered { HiddenWhy::Filtered } else { HiddenWhy::Changed }
                }
            };
            hidden.push(Hidden { path: shown(path), why });
        }
        Ok(hidden)
    }

    fn is_sparse(&self) -> bool {
        self.workspace.git_dir().join("info/sparse-checkout").is_file()
    }

    /// Returns true if anything is in it.
    fn directory(&self, dir: &mut Vec<u8>, found: &mut Vec<Difference>) -> io::Result<bool> {
        let mut is_empty = true;
        for entry in fs::read_dir(self.workspace.toplevel().join(OsStr::from_bytes(dir)))? {
            let entry = entry?;
            is_empty = false;
            if dir.is_empty() && entry.file_name() == ".git" || found.len() >= MOST_SEEN {
                continue;
            }
            let length = dir.len();
            if !dir.is_empty() {
                dir.push(b'/');
            }
            dir.extend_from_slice(entry.file_name().as_bytes());
            if entry.file_type()?.is_dir() {
                self.below(dir, found)?;
            } else {
                self.file(dir, found)?;
            }
            dir.truncate(length);
        }
        Ok(!is_empty)
    }

    fn below(&self, path: &mut Vec<u8>, found: &mut Vec<Difference>) -> io::Result<()> {
        if self.at.tracked.get(path).is_some() {
            return Ok(());
        }
        if self.at.tracked.has_below(path) {
            return self.directory(path, found).map(drop);
        }
        let full = self.workspace.toplevel().join(OsStr::from_bytes(path));
        let is_here =
            fs::symlink_metadata(self.tree.join(OsStr::from_bytes(path))).is_ok_and(|at| at.is_dir());
        let kind = if full.join(".git").exists() {
            DirectoryKind::Repository
        } else if is_cache(&full) {
            DirectoryKind::Cache
        } else {
            DirectoryKind::Plain
        };
        // A cache is in both, or a repository of its own: what is in it is nobody's to compare.
        if is_here && kind != DirectoryKind::Plain {
            return Ok(());
        }
        let place = found.len();
        if !is_here {
            found.push(Difference::Directory { path: path.clone(), kind });
        }
        // Nobody may read it: that it is there is all that can be said.
        if kind == DirectoryKind::Plain && !self.directory(path, found).unwrap_or(true) && !is_here {
            found.truncate(place);
            found.push(Difference::Directory { path: path.clone(), kind: DirectoryKind::Empty });
        }
        Ok(())
    }

    fn file(&self, path: &[u8], found: &mut Vec<Difference>) -> io::Result<()> {
        if self.at.tracked.get(path).is_some() {
            return Ok(());
        }
        let is_here = fs::symlink_metadata(self.tree.join(OsStr::from_bytes(path))).is_ok();
        let is_same = match self.included(path) {
            Some(included) => self.at.snapshot.is_same(included, &self.full(path))?,
            // Checks have made it in both.
            None => is_here,
        };
        if !is_same {
            found.push(Difference::File { path: path.to_vec() });
        }
        Ok(())
    }

    /// One that the checkout has.
    fn included(&self, path: &[u8]) -> Option<&Included> {
        let mut all = self.at.snapshot.included();
        all.find(|file| file.path.as_os_str().as_bytes() == path)
    }

    fn full(&self, path: &[u8]) -> PathBuf {
        self.workspace.toplevel().join(OsStr::from_bytes(path))
    }

    fn why_untracked(&self, found: &[Difference]) -> Result<Vec<(u8, Hidden)>, ProofError> {
        let paths: Vec<&[u8]> = found
            .iter()
            .map(|one| match one {
                Difference::Tracked { path, .. }
                | Difference::File { path }
                | Difference::Directory { path, .. } => path.as_slice(),
            })
            .collect();
        let ignored = if paths.is_empty() {
            Vec::new()
        } else {
            let unknown = || vec![IgnoredBy::Nothing; paths.len()];
            self.workspace.ignored_by(&paths).unwrap_or_else(|_| unknown())
        };
        let mut hidden = Vec::new();
        let mut named: Option<Vec<u8>> = None;
        for (one, by) in found.iter().zip(ignored) {
            let (path, kind) = match one {
                Difference::Directory { path, kind } => (path, Some(*kind)),
                Difference::File { path } | Difference::Tracked { path, .. } => (path, None),
            };
            if named.as_ref().is_some_and(|dir| path.starts_with(dir)) {
                continue;
            }
            let why = match (by, kind) {
                (_, Some(DirectoryKind::Repository)) => HiddenWhy::NestedRepository,
                (_, Some(DirectoryKind::Empty)) => HiddenWhy::EmptyDirectory,
                (_, None) if self.included(path).is_some() => HiddenWhy::IncludedChanged,
                (IgnoredBy::GitIgnore, _) => HiddenWhy::Ignored,
                (IgnoredBy::Excludes, _) => HiddenWhy::Excluded,
                // The files in it say why.
                (IgnoredBy::Nothing, Some(DirectoryKind::Plain)) => continue,
                (IgnoredBy::Nothing, Some(DirectoryKind::Cache)) => HiddenWhy::Untracked,
                (IgnoredBy::Nothing, None) => self.why_uncommitted(path),
            };
            let mut name = path.clone();
            if kind.is_some() {
                name.push(b'/');
                // One line for all that is in it.
                named = Some(name.clone());
            }
            let one = Hidden { path: shown(&name), why };
            hidden.push((if kind == Some(DirectoryKind::Cache) { CACHES } else { rank(&one) }, one));
        }
        Ok(hidden)
    }

    fn why_uncommitted(&self, path: &[u8]) -> HiddenWhy {
        match self.workspace.left_out(Path::new(OsStr::from_bytes(path)), self.max_file_bytes) {
            Some(
                LeftOutReason::Secret
                | LeftOutReason::HoldsSecret { .. }
                | LeftOutReason::NameHoldsSecret { .. },
            ) => HiddenWhy::LeftOutSecret,
            Some(LeftOutReason::TooBig { .. }) => HiddenWhy::LeftOutSize,
            Some(LeftOutReason::NotStageable(_)) | None
                if self.untracked_before.contains(Path::new(OsStr::from_bytes(path))) =>
            {
                HiddenWhy::UntrackedBefore
            }
            Some(LeftOutReason::NotStageable(_)) | None => HiddenWhy::Untracked,
        }
    }
}

const CACHE_NAMES: [&str; 3] = ["node_modules", ".venv", "target"];

/// The beginning of a file `CACHEDIR.TAG` (bford.info/cachedir).
const CACHE_TAG: &[u8; 43] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Returns true if a directory most likely holds nothing that could not be made again.
fn is_cache(dir: &Path) -> bool {
    let mut begin = [0; CACHE_TAG.len()];
    let mut is_tagged = || {
        let read = files::open(&dir.join("CACHEDIR.TAG")).and_then(|mut tag| tag.read_exact(&mut begin));
        read.is_ok() && begin == *CACHE_TAG
    };
    dir.file_name().is_some_and(|name| CACHE_NAMES.iter().any(|cache| name == *cache)) || is_tagged()
}

fn shown(path: &[u8]) -> String {
    display_path(Path::new(OsStr::from_bytes(path)))
}

enum Compared {
    Same,
    OtherBytes,
    /// One is missing, no file, or not executable.
    OtherKind,
}

fn compare(here: &Path, there: &Path) -> io::Result<Compared> {
    let (Ok(ours), Ok(theirs)) = (fs::symlink_metadata(here), fs::symlink_metadata(there)) else {
        return Ok(Compared::OtherKind);
    };
    if ours.is_symlink() && theirs.is_symlink() {
        let same = fs::read_link(here)? == fs::read_link(there)?;
        return Ok(if same { Compared::Same } else { Compared::OtherBytes });
    }
    let are_files = ours.is_file() && theirs.is_file();
    if !are_files || (ours.mode() ^ theirs.mode()) & 0o100 != 0 {
        return Ok(Compared::OtherKind);
    }
    if ours.len() != theirs.len() {
        return Ok(Compared::OtherBytes);
    }
    // One that cannot be read differs.
    let (Ok(mut ours), Ok(mut theirs)) = (files::open(here), files::open(there)) else {
        return Ok(Compared::OtherKind);
    };
    let (mut left, mut right) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let (one, other) = (fill(&mut ours, &mut left)?, fill(&mut theirs, &mut right)?);
        if left[..one] != right[..other] {
            return Ok(Compared::OtherBytes);
        }
        if one == 0 {
            return Ok(Compared::Same);
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
