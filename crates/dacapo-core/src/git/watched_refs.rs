//! Branches, tags and stashed changes at one moment, and which of them are elsewhere a while later (R9).
//!
//! Read from the files, once before and once after each turn: files that look as they did are not read again. Where refs are
//! not kept in files (reftable), git lists them, and only after its own list of tables has changed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::regular;
use super::{Oid, Repo, Rescued};

const OPERATION: &str = "look at branches and tags";
/// Refs below these are watched.
const WATCHED: [&str; 2] = ["refs/heads", "refs/tags"];
/// Branches below this one are moved by Dacapo.
const OURS: &str = "refs/heads/dacapo/";
const STASH: &str = "refs/stash";
/// The words that begin the reflog's message where Dacapo moved a ref.
pub(super) const BY_DACAPO: &str = "dacapo: ";
/// Nobody has more; an agent could make so many that looking at them would take for ever.
const MOST_REFS: usize = 50_000;
const DEEPEST: usize = 32;

/// Inode, size and time of the last change of whatever kind: nobody can set that one back.
type Stamp = (u64, u64, i64, i64);

/// Where the watched refs of a repository are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchedRefs {
    /// Refs that have a file each.
    loose: BTreeMap<String, (Stamp, Oid)>,
    packed: Listed,
    stash: Listed,
}

/// What one file lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Listed {
    stamp: Option<Stamp>,
    refs: BTreeMap<String, Oid>,
}

/// A ref that is not where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRef {
    /// The full name; `refs/stash` for stashed changes that are gone.
    pub name: String,
    /// The object it named: for a tag with a message not the commit itself.
    pub from: Oid,
    /// None: it is gone.
    pub to: Option<Oid>,
}

impl WatchedRefs {
    fn at(&self, name: &str) -> Option<&Oid> {
        self.loose.get(name).map(|(_, oid)| oid).or_else(|| self.packed.refs.get(name))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        // A loose ref wins over a packed one of its name.
        let packed = self.packed.refs.keys().filter(|name| !self.loose.contains_key(*name));
        self.loose.keys().chain(packed)
    }

    /// The refs that were there `before` and are gone or elsewhere now, by name. Dacapo's own branches are left out.
    fn moved_since(&self, before: &Self) -> Vec<MovedRef> {
        let mut moved: Vec<MovedRef> = before
            .names()
            .filter(|name| !name.starts_with(OURS))
            .filter_map(|name| {
                let (from, to) = (before.at(name)?, self.at(name));
                (to != Some(from)).then(|| MovedRef {
                    name: name.clone(),
                    from: from.clone(),
                    to: to.cloned(),
                })
            })
            .collect();
        moved.sort_by(|one, other| one.name.cmp(&other.name));
        let gone = before.stash.refs.iter().filter(|(entry, _)| !self.stash.refs.contains_key(*entry));
        moved.extend(gone.map(|(_, from)| MovedRef { name: STASH.to_owned(), from: from.clone(), to: None }));
        moved
    }
}

impl Repo {
    /// Where the watched refs are now. What looks as it did `before` is not read again.
    pub fn watched_refs(&self, before: Option<&WatchedRefs>) -> Result<WatchedRefs, GitError> {
        let nothing = WatchedRefs::default();
        let before = before.unwrap_or(&nothing);
        let logged = self.common_dir().join("logs").join(STASH);
        let stash = listed(&logged, &before.stash, |bytes| Ok(stashed(bytes)))?;
        if self.reftable {
            let tables = self.common_dir().join("reftable/tables.list");
            let packed = listed(&tables, &before.packed, |_| self.refs_by_git())?;
            return Ok(WatchedRefs { loose: BTreeMap::new(), packed, stash });
        }
        let mut loose = BTreeMap::new();
        // Loose refs first: `git pack-refs` writes the pack before it removes the file.
        for dir in WATCHED {
            self.loose_below(dir, &before.loose, &mut loose)?;
        }
        let packed =
            listed(&self.common_dir().join("packed-refs"), &before.packed, |bytes| Ok(packed(bytes)))?;
        Ok(WatchedRefs { loose, packed, stash })
    }

    /// The refs that moved from `before` to `now`, but for `own` and those that Dacapo moved itself.
    pub fn moved_refs(&self, before: &WatchedRefs, now: &WatchedRefs, own: Option<&str>) -> Vec<MovedRef> {
        let mut moved = now.moved_since(before);
        moved.retain(|moved| Some(moved.name.as_str()) != own && !self.is_moved_by_dacapo(moved));
        moved
    }

    /// Keeps what a moved ref named, if no ref leads there any more.
    pub fn keep_moved(&self, prefix: &str, from: &Oid) -> Result<Option<Rescued>, GitError> {
        let call = self.call(OPERATION).args(["rev-list", "--max-count=1", from.as_str(), "--not", "--all"]);
        let unreachable = call.stdout()?;
        if unreachable.is_empty() {
            return Ok(None);
        }
        self.rescue(prefix, "moved", from).map(Some)
    }

    /// By the last line of the ref's log. Of a ref without a log nobody can tell.
    fn is_moved_by_dacapo(&self, moved: &MovedRef) -> bool {
        let Some(to) = &moved.to else { return false };
        let Ok(log) = regular::read(&self.common_dir().join("logs").join(&moved.name)) else { return false };
        let last = log.strip_suffix(b"\n").unwrap_or(&log).rsplit(|byte| *byte == b'\n').next();
        let message = last.and_then(|line| Some((line, memchr::memchr(b'\t', line)?)));
        message.is_some_and(|(line, tab)| {
            line[tab + 1..].starts_with(BY_DACAPO.as_bytes())
                && memchr::memmem::find(&line[..tab], to.as_str().as_bytes()).is_some()
        })
    }

    fn refs_by_git(&self) -> Result<BTreeMap<String, Oid>, GitError> {
        let call = self.call(OPERATION).args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let out = call.args(WATCHED).stdout()?;
        Ok(packed(&out))
    }

    fn loose_below(
        &self,
        top: &str,
        before: &BTreeMap<String, (Stamp, Oid)>,
        found: &mut BTreeMap<String, (Stamp, Oid)>,
    ) -> Result<(), GitError> {
        let mut open = vec![(top.to_owned(), 0)];
        while let Some((dir, depth)) = open.pop() {
            let path = self.common_dir().join(&dir);
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(GitError::io(OPERATION, &path)(error)),
            };
            for entry in entries {
                let entry = entry.map_err(GitError::io(OPERATION, &path))?;
                // A name that is not text is none of a ref that anybody made with git's help.
                let Some(name) = entry.file_name().to_str().map(|name| format!("{dir}/{name}")) else {
                    continue;
                };
                let Ok(meta) = entry.metadata() else { continue };
                if meta.is_dir() && depth < DEEPEST {
                    open.push((name, depth + 1));
                } else if meta.is_file() && !name.ends_with(".lock") && found.len() < MOST_REFS {
                    let stamp = stamp(&meta);
                    let known = before.get(&name).filter(|(then, _)| *then == stamp);
                    let oid = known.map(|(_, oid)| oid.clone()).or_else(|| loose(&entry.path()));
                    found.extend(oid.map(|oid| (name, (stamp, oid))));
                }
            }
        }
        Ok(())
    }
}

fn stamp(meta: &Metadata) -> Stamp {
    (meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec())
}

/// None: a symbolic ref, or what is none at all.
fn loose(file: &Path) -> Option<Oid> {
    let bytes = regular::read(file).ok()?;
    Oid::parse(std::str::from_utf8(&bytes).ok()?.trim_end()).ok()
}

/// What a file lists, by `read` where it does not look as it did before.
fn listed(
    file: &PathBuf,
    before: &Listed,
    read: impl FnOnce(&[u8]) -> Result<BTreeMap<String, Oid>, GitError>,
) -> Result<Listed, GitError> {
    let Ok(meta) = fs::symlink_metadata(file) else { return Ok(Listed::default()) };
    let stamp = Some(stamp(&meta));
    if stamp == before.stamp {
        return Ok(before.clone());
    }
    let bytes = regular::read(file).map_err(GitError::io(OPERATION, file))?;
    Ok(Listed { stamp, refs: read(&bytes)? })
}

/// Lines of `ID NAME`.
fn packed(bytes: &[u8]) -> BTreeMap<String, Oid> {
    let line = |line: &[u8]| {
        let space = memchr::memchr(b' ', line)?;
        let name = std::str::from_utf8(&line[space + 1..]).ok()?;
        let is_watched =
            WATCHED.iter().any(|dir| name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')));
        Some((name.to_owned(), Oid::from_output(&line[..space]).ok()?)).filter(|_| is_watched)
    };
    bytes.split(|byte| *byte == b'\n').filter_map(line).take(MOST_REFS).collect()
}

/// The entries of the stash's log, by what they name.
fn stashed(log: &[u8]) -> BTreeMap<String, Oid> {
    let entry = |line: &[u8]| Oid::from_output(line.split(|byte| *byte == b' ').nth(1)?).ok();
    let entries = log.split(|byte| *byte == b'\n').filter_map(entry);
    entries.take(MOST_REFS).map(|oid| (oid.as_str().to_owned(), oid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::parse(&digit.to_string().repeat(40)).expect("an id")
    }

    fn refs(loose: &[(&str, char)], packed: &[(&str, char)], stash: &[char]) -> WatchedRefs {
        let listed = |refs: BTreeMap<String, Oid>| Listed { stamp: None, refs };
        let packed = packed.iter().map(|(name, digit)| ((*name).to_owned(), oid(*digit))).collect();
        let stash = stash.iter().map(|digit| (oid(*digit).as_str().to_owned(), oid(*digit))).collect();
        let loose =
            loose.iter().map(|(name, digit)| ((*name).to_owned(), ((0, 0, 0, 0), oid(*digit)))).collect();
        WatchedRefs { loose, packed: listed(packed), stash: listed(stash) }
    }

    fn moved(name: &str, from: char, to: Option<char>) -> MovedRef {
        MovedRef { name: name.to_owned(), from: oid(from), to: to.map(oid) }
    }

    #[test]
    fn r9_moved_and_deleted_refs_are_found_and_new_ones_are_not() {
        let before = refs(
            &[("refs/heads/main", '1'), ("refs/heads/dacapo/other", '1'), ("refs/tags/v1", '2')],
            &[("refs/heads/main", '9'), ("refs/heads/old", '3'), ("refs/heads/kept", '4')],
            &['5', '6'],
        );
        let after = refs(
            &[("refs/heads/kept", '4'), ("refs/heads/new", '7'), ("refs/heads/dacapo/other", '8')],
            &[("refs/heads/main", '8')],
            &['6', '7'],
        );
        let expected = [
            moved("refs/heads/main", '1', Some('8')),
            moved("refs/heads/old", '3', None),
            moved("refs/tags/v1", '2', None),
            moved("refs/stash", '5', None),
        ];
        assert_eq!(after.moved_since(&before), expected);
        assert_eq!(before.moved_since(&before), []);
    }

    #[test]
    fn r9_packing_moves_nothing() {
        let before = refs(&[("refs/heads/main", '1')], &[], &[]);
        assert_eq!(refs(&[], &[("refs/heads/main", '1')], &[]).moved_since(&before), []);
    }

    #[test]
    fn r9_of_packed_refs_only_branches_and_tags_are_read() {
        let one = "1".repeat(40);
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{one} refs/heads/a b\n{one} refs/remotes/origin/x\n\
             {one} refs/tags/v1\n^{one}\nnonsense\n{one} refs/headsup\n"
        );
        let names: Vec<String> = packed(text.as_bytes()).into_keys().collect();
        assert_eq!(names, ["refs/heads/a b", "refs/tags/v1"]);
    }
}
