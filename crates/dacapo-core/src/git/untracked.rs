//! What of the user's no commit holds when a task begins to work in their checkout (C10).
//!
//! Such files are left out of commits until somebody changes them. An agent may do that, or remove them, so their content
//! is kept under a rescue ref first: byte for byte, past all filters, and within bounds. How each file looked is remembered,
//! so that to see that nothing has happened to it takes no more than a `stat`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::guard::{self, LeftOutReason};
use super::ignored::is_cache;
use super::stage::is_about_the_machine;
use super::standalone::quoted;
use super::{CommitRequest, Oid, Repo};

const KEEP: &str = "keep untracked files";
const COMPARE: &str = "look at untracked files";
const HEADER: &[u8] = b"dacapo untracked files 1";

/// Modes as in a tree.
const LINK: u32 = 0o120_000;
const PROGRAM: u32 = 0o100_755;
const PLAIN: u32 = 0o100_644;

/// Why the content of an untracked file is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotKept {
    /// It looks like a secret. What git keeps can be read by whoever can read the repository, so a secret stays only where
    /// the user put it.
    Secret,
    /// It is larger than the limit.
    TooBig,
    /// It is in a directory that a build or a package manager fills again.
    Cache,
    /// More than this is not kept of one checkout.
    TooMuch,
    /// It is a git repository of its own.
    Repository,
    /// It cannot be read, or is neither a file nor a link.
    Unreadable,
}

const WORDS: [(NotKept, &str); 6] = [
    (NotKept::Secret, "secret"),
    (NotKept::TooBig, "too-big"),
    (NotKept::Cache, "cache"),
    (NotKept::TooMuch, "too-much"),
    (NotKept::Repository, "repository"),
    (NotKept::Unreadable, "unreadable"),
];

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub struct KeepLimits {
    /// The number of files; the smallest are kept first.
    pub files: usize,
    /// The number of bytes in all.
    pub bytes: u64,
}

/// How a path looked. Where it is the same, nobody has written to it since: the time of the last change of whatever kind
/// cannot be set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    mode: u32,
    size: u64,
    inode: u64,
    changed: (i64, i64),
}

/// What is known of one file from before the task.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Before {
    look: Look,
    content: Result<Oid, NotKept>,
    /// How it looked when it was last found to be another.
    differs: Option<Look>,
}

/// Files that were untracked before the task, each as it was then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Untracked {
    files: BTreeMap<PathBuf, Before>,
    /// The ref that holds their content, as far as it is kept.
    kept: Option<String>,
}

/// What has become of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// Unchanged.
    pub same: BTreeSet<PathBuf>,
    /// These have another content, another mode, or are of another kind.
    pub changed: BTreeSet<PathBuf>,
    /// These are not there any more.
    pub gone: BTreeSet<PathBuf>,
}

impl Look {
    /// `None` if nothing is there.
    fn at(toplevel: &Path, path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(toplevel.join(path)).ok()?;
        if is_repository(path) {
            // What is done inside of it is not seen by this repository either.
            return Some(Self { mode: found.mode() & 0o170_000, size: 0, inode: 0, changed: (0, 0) });
        }
        let changed = (found.ctime(), found.ctime_nsec());
        Some(Self { mode: found.mode(), size: found.len(), inode: found.ino(), changed })
    }

    /// As a tree has it; none: neither a file nor a link.
    fn tree_mode(&self) -> Option<u32> {
        match self.mode & 0o170_000 {
            0o120_000 => Some(LINK),
            0o100_000 if self.mode & 0o100 != 0 => Some(PROGRAM),
            0o100_000 => Some(PLAIN),
            _ => None,
        }
    }
}

/// Git tells of a nested repository as one path, which ends so.
fn is_repository(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// Whether objects are written.
#[derive(Clone, Copy)]
enum Hashing {
    Write,
    Only,
}

impl Repo {
    /// Remembers how these untracked paths look ([`super::Dirt::untracked`]) and keeps their content under a ref below
    /// `request.rescue_prefix`. Nothing that is there is touched. Of the same files the same ref is made again.
    pub fn take_untracked(
        &self,
        paths: Vec<PathBuf>,
        limits: KeepLimits,
        request: &CommitRequest<'_>,
    ) -> Result<Untracked, GitError> {
        let mut taken = Untracked::default();
        let mut wanted = Vec::new();
        let mut caches = Caches::default();
        for path in paths {
            // Before its content is read: what is written to it meanwhile makes it another.
            let Some(look) = Look::at(self.toplevel(), &path) else { continue };
            let why = if caches.hold(self.toplevel(), &path) {
                Some(NotKept::Cache)
            } else {
                self.why_not_kept(&path, &look, request.max_file_bytes)
            };
            if why.is_none() {
                wanted.push((look.size, path.clone()));
            }
            let content = Err(why.unwrap_or(NotKept::TooMuch));
            taken.files.insert(path, Before { look, content, differs: None });
        }
        // The smallest first: notes and sources rather than one large recording.
        wanted.sort();
        let mut bytes = 0_u64;
        let within = |(size, _): &&(u64, PathBuf)| {
            bytes = bytes.saturating_add(*size);
            bytes <= limits.bytes
        };
        let chosen: Vec<&Path> =
            wanted.iter().take(limits.files).take_while(within).map(|(_, path)| path.as_path()).collect();
        let ids = self.ids_of(&chosen, Hashing::Write)?;
        let mut entries = Vec::new();
        for (path, id) in chosen.into_iter().zip(ids) {
            let Some(before) = taken.files.get_mut(path) else { continue };
            before.content = id.ok_or(NotKept::Unreadable);
            if let (Ok(id), Some(mode)) = (&before.content, before.look.tree_mode()) {
                entries.push((path.to_owned(), format!("{mode:o} {id}")));
            }
        }
        taken.kept = self.keep_entries(&entries, request, &mut taken.files)?;
        Ok(taken)
    }

    fn why_not_kept(&self, path: &Path, look: &Look, max_file_bytes: u64) -> Option<NotKept> {
        if is_repository(path) {
            return Some(NotKept::Repository);
        }
        match guard::judge(self.toplevel(), path, max_file_bytes) {
            Some(
                LeftOutReason::Secret
                | LeftOutReason::HoldsSecret { .. }
                | LeftOutReason::NameHoldsSecret { .. },
            ) => Some(NotKept::Secret),
            Some(LeftOutReason::TooBig { .. }) => Some(NotKept::TooBig),
            Some(LeftOutReason::NotStageable(_)) => Some(NotKept::Unreadable),
            None if look.tree_mode().is_none() => Some(NotKept::Unreadable),
            None => None,
        }
    }

    /// A commit of these files, and nothing else, under a ref. What git cannot take as a path is noted as not kept.
    fn keep_entries(
        &self,
        entries: &[(PathBuf, String)],
        request: &CommitRequest<'_>,
        files: &mut BTreeMap<PathBuf, Before>,
    ) -> Result<Option<String>, GitError> {
        if entries.is_empty() {
            return Ok(None);
        }
        let dir = self.scratch_dir(KEEP)?;
        let index = dir.path().join("index");
        let mut refused = Vec::new();
        self.add_entries(entries, &index, &mut refused)?;
        for path in &refused {
            if let Some(before) = files.get_mut(path) {
                before.content = Err(NotKept::Unreadable);
            }
        }
        if refused.len() == entries.len() {
            return Ok(None);
        }
        let tree = self.write_tree(Some(&index))?;
        let commit = self.commit_tree(&tree, None, request)?;
        Ok(Some(self.rescue(request.rescue_prefix, "untracked", &commit)?.name))
    }

    /// One git call when all goes well; otherwise the names that git refuses are found by halving.
    fn add_entries(
        &self,
        entries: &[(PathBuf, String)],
        index: &Path,
        refused: &mut Vec<PathBuf>,
    ) -> Result<(), GitError> {
        let mut lines = Vec::new();
        for (path, entry) in entries {
            lines.extend_from_slice(entry.as_bytes());
            lines.push(b'\t');
            lines.extend_from_slice(path.as_os_str().as_bytes());
            lines.push(0);
        }
        let call = self.call(KEEP).args(["update-index", "-z", "--index-info"]);
        match call.env("GIT_INDEX_FILE", index).stdin(lines).stdout() {
            Ok(_) => Ok(()),
            Err(error) if !is_a_paths_fault(&error) => Err(error),
            Err(_) => {
                if let [(path, _)] = entries {
                    refused.push(path.clone());
                    return Ok(());
                }
                let (first, second) = entries.split_at(entries.len() / 2);
                self.add_entries(first, index, refused)?;
                self.add_entries(second, index, refused)
            }
        }
    }

    /// The ids of files and links as blobs, byte for byte. None: it cannot be read.
    fn ids_of(&self, paths: &[&Path], how: Hashing) -> Result<Vec<Option<Oid>>, GitError> {
        let mut scratch = None;
        let mut names: Vec<(usize, Vec<u8>)> = Vec::new();
        for (nth, path) in paths.iter().enumerate() {
            let full = self.toplevel().join(path);
            // Opening a pipe would wait for somebody to write to it.
            let Ok(found) = fs::symlink_metadata(&full) else { continue };
            if found.is_symlink() {
                // Git would read what it leads to.
                let Ok(leads_to) = fs::read_link(&full) else { continue };
                let dir = match scratch.take() {
                    Some(dir) => dir,
                    None => self.scratch_dir(KEEP)?,
                };
                let file = dir.path().join(nth.to_string());
                fs::write(&file, leads_to.as_os_str().as_bytes()).map_err(GitError::io(KEEP, &file))?;
                names.push((nth, file.into_os_string().into_vec()));
                scratch = Some(dir);
            } else if found.is_file() && fs::File::open(&full).is_ok() {
                names.push((nth, path.as_os_str().as_bytes().to_vec()));
            }
        }
        let mut ids = vec![None; paths.len()];
        if !names.is_empty() {
            self.hash(&names, how, &mut ids)?;
        }
        Ok(ids)
    }

    fn hash(
        &self,
        names: &[(usize, Vec<u8>)],
        how: Hashing,
        ids: &mut [Option<Oid>],
    ) -> Result<(), GitError> {
        let mut lines = Vec::new();
        for (_, name) in names {
            lines.extend(quoted(name));
            lines.push(b'\n');
        }
        let operation = match how {
            Hashing::Write => KEEP,
            Hashing::Only => COMPARE,
        };
        // Without filters: autocrlf or LFS would store other bytes than the user's.
        let mut call = self.call(operation).args(["hash-object", "--no-filters", "--stdin-paths"]);
        if matches!(how, Hashing::Write) {
            call = call.arg("-w");
        }
        match call.stdin(lines).stdout() {
            Ok(out) => {
                for ((nth, _), line) in names.iter().zip(out.split(|byte| *byte == b'\n')) {
                    let id = Oid::from_output(line).map_err(|_| GitError::unexpected(operation, line))?;
                    ids[*nth] = Some(id);
                }
                Ok(())
            }
            Err(error) if !is_a_paths_fault(&error) => Err(error),
            Err(_) if names.len() == 1 => Ok(()),
            Err(_) => {
                let (first, second) = names.split_at(names.len() / 2);
                self.hash(first, how, ids)?;
                self.hash(second, how, ids)
            }
        }
    }

    fn scratch_dir(&self, operation: &'static str) -> Result<tempfile::TempDir, GitError> {
        let dir = tempfile::Builder::new().prefix("dacapo-scratch-").tempdir_in(self.git_dir());
        dir.map_err(GitError::io(operation, self.git_dir()))
    }
}

fn is_a_paths_fault(error: &GitError) -> bool {
    matches!(error, GitError::Failed { .. }) && !is_about_the_machine(error.stderr())
}

/// Which directories are caches: each is looked at once.
#[derive(Default)]
struct Caches(BTreeMap<PathBuf, bool>);

impl Caches {
    /// Whether one of the directories that a path is in is a cache.
    fn hold(&mut self, toplevel: &Path, path: &Path) -> bool {
        let mut dirs = path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty());
        dirs.any(|dir| match self.0.get(dir) {
            Some(known) => *known,
            None => *self.0.entry(dir.to_owned()).or_insert_with(|| is_cache(&toplevel.join(dir))),
        })
    }
}

impl Untracked {
    /// How many they are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Whether this is one of them.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// The ref that holds their content; none: nothing of it is kept.
    pub fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// The ref that holds the content of this one.
    pub fn kept_of(&self, path: &Path) -> Option<&str> {
        self.files.get(path).filter(|before| before.content.is_ok()).and(self.kept())
    }

    /// Those whose content is not kept, and why.
    pub fn not_kept(&self) -> impl Iterator<Item = (&Path, NotKept)> {
        self.files
            .iter()
            .filter_map(|(path, before)| Some((path.as_path(), before.content.as_ref().err().copied()?)))
    }

    /// They are no longer the user's alone: somebody has changed them.
    pub fn forget(&mut self, is_gone: impl Fn(&Path) -> bool) {
        self.files.retain(|path, _| !is_gone(path));
    }

    /// Looks what has become of them, by content where they look otherwise.
    pub fn compare(&mut self, repo: &Repo) -> Result<Compared, GitError> {
        let mut compared = Compared::default();
        let mut doubtful = Vec::new();
        for (path, before) in &self.files {
            let Some(look) = Look::at(repo.toplevel(), path) else {
                compared.gone.insert(path.clone());
                continue;
            };
            if look == before.look {
                compared.same.insert(path.clone());
            } else if before.content.is_ok()
                && before.differs != Some(look)
                && look.tree_mode() == before.look.tree_mode()
            {
                doubtful.push((path.clone(), look));
            } else {
                compared.changed.insert(path.clone());
            }
        }
        if doubtful.is_empty() {
            return Ok(compared);
        }
        let paths: Vec<&Path> = doubtful.iter().map(|(path, _)| path.as_path()).collect();
        let ids = repo.ids_of(&paths, Hashing::Only)?;
        for ((path, look), id) in doubtful.into_iter().zip(ids) {
            let Some(before) = self.files.get_mut(&path) else { continue };
            if id.is_some() && id.as_ref() == before.content.as_ref().ok() {
                // Touched but with the same content: remembered, so that it is not hashed again after every turn.
                before.look = look;
                compared.same.insert(path);
            } else {
                before.differs = Some(look);
                compared.changed.insert(path);
            }
        }
        Ok(compared)
    }

    /// As it is stored: records that end in a zero byte, the header, the ref, then
    /// `MODE SIZE INODE SECONDS NANOSECONDS CONTENT PATH` for each.
    pub fn written(&self) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        bytes.push(0);
        bytes.extend_from_slice(self.kept.as_deref().unwrap_or("-").as_bytes());
        bytes.push(0);
        for (path, Before { look, content, .. }) in &self.files {
            let Look { mode, size, inode, changed: (seconds, nanos) } = look;
            let content = match content {
                Ok(id) => id.as_str(),
                Err(why) => WORDS.iter().find(|(known, _)| known == why).map_or("", |(_, word)| word),
            };
            bytes.extend(format!("{mode:o} {size} {inode} {seconds} {nanos} {content} ").into_bytes());
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// Reads what [`Untracked::written`] gave; none: it is something else.
    pub fn parsed(bytes: &[u8]) -> Option<Self> {
        let mut records = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        if records.next()? != HEADER {
            return None;
        }
        let kept = String::from_utf8(records.next()?.to_vec()).ok()?;
        let files = records.map(parsed_file).collect::<Option<_>>()?;
        Some(Self { files, kept: Some(kept).filter(|kept| kept != "-") })
    }
}

fn parsed_file(record: &[u8]) -> Option<(PathBuf, Before)> {
    let mut words = record.splitn(7, |byte| *byte == b' ');
    let mut word = || std::str::from_utf8(words.next()?).ok();
    let mode = u32::from_str_radix(word()?, 8).ok()?;
    let (size, inode) = (word()?.parse().ok()?, word()?.parse().ok()?);
    let changed = (word()?.parse().ok()?, word()?.parse().ok()?);
    let content = word()?;
    let content = match WORDS.iter().find(|(_, word)| *word == content) {
        Some((why, _)) => Err(*why),
        None => Ok(Oid::parse(content).ok()?),
    };
    let path = PathBuf::from(OsString::from_vec(words.next()?.to_vec()));
    Some((path, Before { look: Look { mode, size, inode, changed }, content, differs: None }))
}
