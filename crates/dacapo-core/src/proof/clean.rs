//! Removes from a checkout what is neither of the commit nor a cache.
//!
//! No pattern of git's has a say in it: code of earlier proofs has run in this directory, and whatever that left behind
//! must not decide about the next one.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::files;
use crate::git::Entry;

const CACHES: [&str; 3] = ["node_modules", ".venv", "target"];

/// The beginning of a file `CACHEDIR.TAG` (bford.info/cachedir).
const CACHE_TAG: &[u8; 43] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The paths of a commit.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// Those in the working tree, ordered by their bytes.
    pub(super) present: Vec<Entry>,
    /// Those that a sparse checkout leaves out.
    pub(super) skipped: Vec<Entry>,
}

impl Tracked {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let (skipped, present) = entries.into_iter().partition(|entry| entry.skipped);
        Self { present, skipped }
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<&Entry> {
        let at = self.present.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok()?;
        self.present.get(at)
    }

    /// Whether something below a directory is tracked.
    pub(super) fn has_below(&self, dir: &[u8]) -> bool {
        let prefix = [dir, b"/"].concat();
        let at = self.present.partition_point(|entry| entry.path < prefix);
        self.present.get(at).is_some_and(|entry| entry.path.starts_with(&prefix))
    }
}

/// Whether to remove, or only to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Remove,
    Count,
}

/// What stays.
#[derive(Debug)]
pub(super) struct Cleaner<'a> {
    pub(super) tree: &'a Path,
    pub(super) tracked: &'a Tracked,
    /// Files that came with `.worktreeinclude`.
    pub(super) included: &'a HashSet<Vec<u8>>,
    /// Untracked files and directories that `[proof] keep` names.
    pub(super) kept: &'a HashSet<Vec<u8>>,
    pub(super) act: Act,
}

impl Cleaner<'_> {
    /// Gives the number of files, links and directories that do not stay.
    pub(super) fn run(&self) -> io::Result<u64> {
        let mut removed = 0;
        self.directory(&mut Vec::new(), &mut removed)?;
        Ok(removed)
    }

    /// Whether something in it stays.
    fn directory(&self, path: &mut Vec<u8>, removed: &mut u64) -> io::Result<bool> {
        let full = self.full(path);
        let mut stays = false;
        for entry in fs::read_dir(&full)? {
            let name = entry?.file_name();
            if path.is_empty() && name == ".git" {
                stays = true;
                continue;
            }
            let length = path.len();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            stays |= self.entry(path, removed)?;
            path.truncate(length);
        }
        Ok(stays)
    }

    fn entry(&self, path: &mut Vec<u8>, removed: &mut u64) -> io::Result<bool> {
        let full = self.full(path);
        let found = fs::symlink_metadata(&full)?;
        let tracked = self.tracked.get(path);
        if tracked.is_some_and(|entry| entry.mode != Entry::GITLINK) {
            return Ok(true);
        }
        if !found.is_dir() {
            if self.included.contains(path) || found.is_file() && self.kept.contains(path) {
                return Ok(true);
            }
            *removed += 1;
            if self.act == Act::Remove {
                fs::remove_file(&full)?;
            }
            return Ok(false);
        }
        // A directory with the name of a cache counts as one only if nothing in it is tracked.
        let is_tracked = tracked.is_some() || self.tracked.has_below(path);
        if !is_tracked && (self.kept.contains(path) || is_cache(&full)) {
            return Ok(true);
        }
        if self.act == Act::Remove {
            files::open_up(&full, &found)?;
        }
        let stays = self.directory(path, removed)? || is_tracked;
        if !stays {
            *removed += 1;
            if self.act == Act::Remove {
                fs::remove_dir(&full)?;
            }
        }
        Ok(stays)
    }

    fn full(&self, path: &[u8]) -> PathBuf {
        self.tree.join(OsStr::from_bytes(path))
    }
}

/// Whether a directory holds nothing that could not be made again.
pub(super) fn is_cache(dir: &Path) -> bool {
    let by_name = dir.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache));
    by_name || is_tagged(dir)
}

fn is_tagged(dir: &Path) -> bool {
    let mut begin = [0; CACHE_TAG.len()];
    let read = files::open(&dir.join("CACHEDIR.TAG")).and_then(|mut tag| tag.read_exact(&mut begin));
    read.is_ok() && begin == *CACHE_TAG
}

/// Lets us into every directory below `dir`.
pub(super) fn open_all(dir: &Path) -> io::Result<()> {
    files::open_up(dir, &fs::symlink_metadata(dir)?)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_all(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracked(paths: &[&str]) -> Tracked {
        let entry = |path: &&str| Entry {
            path: path.as_bytes().to_vec(),
            mode: 0o100_644,
            oid: String::new(),
            skipped: false,
        };
        Tracked::new(paths.iter().map(entry).collect())
    }

    #[test]
    fn l4_paths_are_found_by_their_bytes() {
        let tracked = tracked(&["a-b", "a/b", "a0", "b/c/d"]);
        assert!(tracked.get(b"a/b").is_some() && tracked.get(b"a").is_none());
        assert!(tracked.has_below(b"a") && tracked.has_below(b"b") && tracked.has_below(b"b/c"));
        assert!(!tracked.has_below(b"a-b") && !tracked.has_below(b"c") && !tracked.has_below(b""));
    }

    #[test]
    fn l4_caches_stay_and_nothing_else_untracked_does() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in [
            ".git/config",
            "src/main.rs",
            "src/target/tracked",
            "src/target/planted",
            "target/debug/x",
            "web/node_modules/y",
            "cache/CACHEDIR.TAG",
            "cache/z",
            "fake/CACHEDIR.TAG",
            "vendor/bundle/gem",
            "vendor/other",
            "nested/.git/config",
            ".env",
        ] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "").unwrap();
        }
        fs::write(at("cache/CACHEDIR.TAG"), [CACHE_TAG.as_slice(), b"\n# more"].concat()).unwrap();
        fs::write(at("fake/CACHEDIR.TAG"), "Signature: something else, and long enough for it").unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        fs::create_dir(at("links")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("links/target")).unwrap();
        let tracked = tracked(&["src/main.rs", "src/target/tracked"]);
        let set = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect::<HashSet<_>>();
        let (included, kept) = (set(&[".env"]), set(&["vendor/bundle"]));
        let clean = |act| {
            Cleaner { tree: dir.path(), tracked: &tracked, included: &included, kept: &kept, act }.run()
        };
        let counted = clean(Act::Count).unwrap();
        assert!(at("links/target").is_symlink());
        assert_eq!(clean(Act::Remove).unwrap(), counted);
        assert_eq!(clean(Act::Remove).unwrap(), 0);
        let mut left: Vec<String> = Vec::new();
        let mut open = vec![dir.path().to_owned()];
        while let Some(next) = open.pop() {
            for path in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    open.push(path);
                } else {
                    left.push(path.strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        left.sort();
        let expected = [
            ".env",
            ".git/config",
            "cache/CACHEDIR.TAG",
            "cache/z",
            "src/main.rs",
            "src/target/tracked",
            "target/debug/x",
            "vendor/bundle/gem",
            "web/node_modules/y",
        ];
        assert_eq!(left, expected);
    }
}
