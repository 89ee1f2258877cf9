//! Known secrets in what is about to be committed, and in commits that others made (C9).
//!
//! Files are read as git reads them anyway; git itself is asked only where a secret was found, or an agent has committed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::guard::LeftOutReason;
use super::repo::read_raw_diff;
use super::stage::{NewSecrets, Plan, Rules};
use super::status::RawChange;
use super::{LeftOut, Oid, Repo};
use crate::process::{Masker, SecretScan};

const OPERATION: &str = "look for secrets in commits";

/// A file in a commit that brings the value of a known secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedSecret {
    pub path: PathBuf,
    /// The variables whose values it holds, or its name does.
    pub variable: String,
    /// The commit that brought it.
    pub commit: Oid,
}

/// What of a branch is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// Each of its commits: what one of them brings, a later one does not take out of the history.
    EachCommit,
    /// What they come to.
    Result,
}

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeFile {
    mode: Vec<u8>,
    oid: String,
}

impl Repo {
    /// Takes files out of the plan whose new content or name holds the value of a secret that they did not hold before.
    pub(super) fn leave_secrets_out(&self, plan: &mut Plan, rules: Rules<'_>) -> Result<(), GitError> {
        let Some(secrets) = rules.secrets.filter(|secrets| !secrets.masker.is_empty()) else { return Ok(()) };
        let masker = secrets.masker;
        let (update, remove): (HashSet<&PathBuf>, HashSet<&PathBuf>) =
            (plan.update.iter().collect(), plan.remove.iter().collect());
        let staged = plan.staged_paths.iter().filter(|path| !update.contains(path));
        let paths = plan.update.iter().chain(staged).filter(|path| !remove.contains(path));
        let mut found: Vec<(PathBuf, Held)> =
            paths.filter_map(|path| Some((path.clone(), held(masker, self.toplevel(), path)?))).collect();
        if found.is_empty() {
            return Ok(());
        }
        self.forget_what_was_there(&mut found, plan, secrets)?;
        let out: HashSet<&PathBuf> = found.iter().map(|(path, _)| path).collect();
        plan.update.retain(|path| !out.contains(path));
        plan.changed.retain(|change| !out.contains(&change.path));
        let staged: Vec<PathBuf> =
            plan.staged_paths.iter().filter(|path| out.contains(path)).cloned().collect();
        if !staged.is_empty() {
            let mut in_head = self.files_in(secrets.head, &staged)?;
            for path in staged {
                match in_head.remove(&path) {
                    Some(file) => plan.restore.push(index_line(&file, &path)),
                    None => plan.remove.push(path),
                }
            }
        }
        plan.left_out.extend(found.into_iter().map(|(path, held)| LeftOut { path, why: held.reason() }));
        Ok(())
    }

    /// What a file held at the start is not new in it; and what a removed file held has only moved.
    fn forget_what_was_there(
        &self,
        found: &mut Vec<(PathBuf, Held)>,
        plan: &Plan,
        secrets: NewSecrets<'_>,
    ) -> Result<(), GitError> {
        let paths: Vec<PathBuf> = found.iter().map(|(path, _)| path).chain(&plan.removed).cloned().collect();
        let before = self.files_in(secrets.start, &paths)?;
        let oids = before.values().map(|file| file.oid.clone()).collect();
        let held = self.secrets_in_blobs(oids, secrets.masker)?;
        let held = |path: &PathBuf| before.get(path).and_then(|file| held.get(&file.oid));
        let moved: BTreeSet<&String> = plan.removed.iter().filter_map(held).flatten().collect();
        found.retain_mut(|(path, now)| match (before.contains_key(path), now) {
            (true, Held::Name(_)) => false,
            (true, Held::Content(variables)) => {
                variables.retain(|name| held(path).is_none_or(|held| !held.contains(name)));
                !variables.is_empty()
            }
            (false, Held::Name(_)) => true,
            (false, Held::Content(variables)) => {
                variables.retain(|name| !moved.contains(name));
                !variables.is_empty()
            }
        });
        Ok(())
    }

    /// The files that bring a secret between two commits. `from` none: from the very first commit on.
    pub fn secrets_between(
        &self,
        from: Option<&Oid>,
        to: &Oid,
        looked: Looked,
        masker: &Masker,
    ) -> Result<Vec<CommittedSecret>, GitError> {
        if masker.is_empty() || from == Some(to) {
            return Ok(Vec::new());
        }
        let changes: Vec<(Oid, RawChange)> = match looked {
            Looked::EachCommit => self.changes_by_commit(from, to)?,
            Looked::Result => {
                let raw = self.raw_diff(from, to)?;
                raw.into_iter().map(|change| (to.clone(), change)).collect()
            }
        };
        // A link's target is what it holds; a submodule is a repository of its own.
        let is_file = |mode: u32| matches!(mode >> 12, 0o10 | 0o12);
        let changes: Vec<&(Oid, RawChange)> =
            changes.iter().filter(|(_, change)| is_file(change.new_mode)).collect();
        let new = changes.iter().map(|(_, change)| change.new_oid.as_str().to_owned()).collect();
        let held = self.secrets_in_blobs(new, masker)?;
        let suspects: Vec<_> = changes
            .into_iter()
            .map(|(commit, change)| {
                let is_new = !is_file(change.old_mode);
                let named =
                    if is_new { masker.secrets_in(change.path.as_os_str().as_bytes()) } else { Vec::new() };
                (commit, change, held.get(change.new_oid.as_str()).cloned().unwrap_or_default(), named)
            })
            .filter(|(_, _, held, named)| !held.is_empty() || !named.is_empty())
            .collect();
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let old = suspects.iter().filter(|(_, change, ..)| is_file(change.old_mode));
        let old = old.map(|(_, change, ..)| change.old_oid.as_str().to_owned()).collect();
        let before = self.secrets_in_blobs(old, masker)?;
        let mut found: Vec<CommittedSecret> = Vec::new();
        for (commit, change, mut variables, named) in suspects {
            if let Some(before) = before.get(change.old_oid.as_str()) {
                variables.retain(|name| !before.contains(name));
            }
            variables.extend(named.into_iter().filter(|name| !variables.contains(name)).collect::<Vec<_>>());
            let secret = CommittedSecret {
                path: change.path.clone(),
                variable: variables.join(", "),
                commit: commit.clone(),
            };
            if !variables.is_empty() && !found.contains(&secret) {
                found.push(secret);
            }
        }
        Ok(found)
    }

    /// What each commit changes against each of its parents, the oldest first.
    fn changes_by_commit(&self, from: Option<&Oid>, to: &Oid) -> Result<Vec<(Oid, RawChange)>, GitError> {
        let commits = self.rev_list(from, to)?;
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let flags =
            ["diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "-z", "--no-renames", "--no-abbrev"];
        let out = self.call(OPERATION).args(flags).stdin(commits).stdout()?;
        let mut changes = Vec::new();
        let (mut commit, mut piece): (Option<Oid>, Vec<u8>) = (None, Vec::new());
        let mut records = out.split(|byte| *byte == 0).peekable();
        while let Some(record) = records.next() {
            if record.starts_with(b":") {
                piece.clear();
                for part in [record, records.next().unwrap_or_default()] {
                    piece.extend_from_slice(part);
                    piece.push(0);
                }
                let read = read_raw_diff(&piece)?;
                changes.extend(commit.iter().cloned().zip(read));
            } else if !record.is_empty() {
                let id = record.split(|byte| *byte == b' ').next().unwrap_or_default();
                commit = Some(Oid::from_output(id).map_err(|_| GitError::unexpected(OPERATION, record))?);
            }
        }
        Ok(changes)
    }

    /// The commits that `to` has and `from` has not, the oldest first.
    fn rev_list(&self, from: Option<&Oid>, to: &Oid) -> Result<Vec<u8>, GitError> {
        let list = self.call(OPERATION).args(["rev-list", "--reverse", to.as_str()]);
        match from {
            Some(from) => list.arg(format!("^{from}")).stdout(),
            None => list.stdout(),
        }
    }

    /// The commits of these that `tip` has and `without` has not.
    pub fn commits_among<'c>(
        &self,
        commits: impl IntoIterator<Item = &'c Oid>,
        (without, tip): (Option<&Oid>, &Oid),
    ) -> Result<BTreeSet<Oid>, GitError> {
        let wanted: BTreeSet<&Oid> = commits.into_iter().collect();
        if wanted.is_empty() {
            return Ok(BTreeSet::new());
        }
        let out = self.rev_list(without, tip)?;
        let all = out.split(|byte| *byte == b'\n').filter_map(|line| Oid::from_output(line).ok());
        Ok(all.filter(|commit| wanted.contains(commit)).collect())
    }

    /// Whether a file is in `tip` as it was in `commit`. What cannot be told counts as yes.
    pub fn still_holds(&self, tip: &Oid, commit: &Oid, path: &str) -> Result<bool, GitError> {
        let path = [PathBuf::from(path)];
        let was = self.files_in(Some(commit), &path)?;
        let is = self.files_in(Some(tip), &path)?;
        Ok(was.is_empty() || was == is)
    }

    /// What a commit has under these paths.
    fn files_in(
        &self,
        commit: Option<&Oid>,
        paths: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, TreeFile>, GitError> {
        let mut files = BTreeMap::new();
        let Some(commit) = commit else { return Ok(files) };
        for some in paths.chunks(200) {
            let call = self.call("read a commit").args(["ls-tree", "-z", commit.as_str(), "--"]);
            let out = call.args(some).stdout()?;
            files.extend(out.split(|byte| *byte == 0).filter_map(tree_file));
        }
        Ok(files)
    }

    /// The variables whose values these blobs hold; those that hold none are not in it.
    fn secrets_in_blobs(
        &self,
        mut oids: Vec<String>,
        masker: &Masker,
    ) -> Result<BTreeMap<String, Vec<String>>, GitError> {
        oids.sort();
        oids.dedup();
        if oids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut asked = oids.join("\n").into_bytes();
        asked.push(b'\n');
        let mut reader = BatchReader::new(masker);
        let call = self.call(OPERATION).args(["cat-file", "--batch", "--buffer"]).stdin(asked);
        call.spawn()?.each_piece(&mut |piece| reader.feed(piece))?;
        Ok(reader.found)
    }
}

/// What a file of the working tree holds.
enum Held {
    Name(Vec<String>),
    Content(Vec<String>),
}

impl Held {
    fn reason(self) -> LeftOutReason {
        match self {
            Self::Name(variables) => LeftOutReason::NameHoldsSecret { variable: variables.join(", ") },
            Self::Content(variables) => LeftOutReason::HoldsSecret { variable: variables.join(", ") },
        }
    }
}

fn held(masker: &Masker, toplevel: &Path, path: &Path) -> Option<Held> {
    let named = masker.secrets_in(path.as_os_str().as_bytes());
    if !named.is_empty() {
        return Some(Held::Name(named));
    }
    let full = toplevel.join(path);
    let found = fs::symlink_metadata(&full).ok()?;
    let variables = if found.is_symlink() {
        masker.secrets_in(fs::read_link(&full).ok()?.as_os_str().as_bytes())
    } else if found.is_file() {
        // It may have become a pipe, which must not be waited for.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = flags.bits().try_into().ok()?;
        let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(&full).ok()?;
        // What cannot be read cannot be committed either.
        masker.secrets_in_file(file).ok()?
    } else {
        return None;
    };
    (!variables.is_empty()).then_some(Held::Content(variables))
}

/// `MODE TYPE OID TAB PATH`.
fn tree_file(record: &[u8]) -> Option<(PathBuf, TreeFile)> {
    let tab = memchr::memchr(b'\t', record)?;
    let mut fields = record[..tab].split(|byte| *byte == b' ');
    let (mode, kind, oid) = (fields.next()?, fields.next()?, fields.next()?);
    let path = PathBuf::from(OsString::from_vec(record[tab + 1..].to_vec()));
    let oid = String::from_utf8(oid.to_vec()).ok()?;
    (kind == b"blob").then(|| (path, TreeFile { mode: mode.to_vec(), oid }))
}

/// What `update-index --index-info` reads.
fn index_line(file: &TreeFile, path: &Path) -> Vec<u8> {
    [&file.mode, b" ".as_slice(), file.oid.as_bytes(), b"\t", path.as_os_str().as_bytes(), b"\0"].concat()
}

/// Reads what `cat-file --batch` prints, in pieces of any size: `OID TYPE SIZE`, the content, a newline.
struct BatchReader<'m> {
    masker: &'m Masker,
    header: Vec<u8>,
    blob: Option<Blob<'m>>,
    found: BTreeMap<String, Vec<String>>,
}

struct Blob<'m> {
    oid: String,
    /// What of it is still to come, with the newline behind it.
    left: u64,
    scan: SecretScan<'m>,
}

impl<'m> BatchReader<'m> {
    fn new(masker: &'m Masker) -> Self {
        Self { masker, header: Vec::new(), blob: None, found: BTreeMap::new() }
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Some(mut blob) = self.blob.take() else {
                let Some(end) = memchr::memchr(b'\n', bytes) else {
                    self.header.extend_from_slice(bytes);
                    return;
                };
                self.header.extend_from_slice(&bytes[..end]);
                bytes = &bytes[end + 1..];
                self.blob = self.begin();
                continue;
            };
            let now = usize::try_from(blob.left).unwrap_or(usize::MAX).min(bytes.len());
            blob.scan.feed(&bytes[..now]);
            blob.left -= now as u64;
            bytes = &bytes[now..];
            if blob.left > 0 {
                self.blob = Some(blob);
                continue;
            }
            let variables = blob.scan.variables();
            if !variables.is_empty() {
                self.found.insert(blob.oid, variables);
            }
        }
    }

    /// One that is missing has no content.
    fn begin(&mut self) -> Option<Blob<'m>> {
        let header = String::from_utf8(std::mem::take(&mut self.header)).ok()?;
        let mut fields = header.split(' ');
        let (oid, size) = (fields.next()?.to_owned(), fields.nth(1)?.parse::<u64>().ok()?);
        Some(Blob { oid, left: size + 1, scan: SecretScan::new(self.masker) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c9_batches_are_read_in_pieces_of_any_size() {
        let masker = Masker::from_env([("API_TOKEN".into(), "t0ken-0123456789".into())]);
        let out = b"aa blob 3\nabc\nbb missing\ncc blob 22\nx t0ken-0123456789\nyy\n\ndd blob 0\n\nee blob 16\nt0ken-0123456789\n";
        for size in 1..out.len() {
            let mut reader = BatchReader::new(&masker);
            out.chunks(size).for_each(|piece| reader.feed(piece));
            let held: Vec<_> = reader.found.keys().map(String::as_str).collect();
            assert_eq!(held, ["cc", "ee"], "in pieces of {size}");
        }
    }
}
