//! Setting a task's worktree aside so that it can be brought back bit for bit (S9, K6).
//!
//! `git stash` leaves untracked files out, filters change bytes, and modes and empty directories vanish in any commit. So
//! nothing is converted: the directory is renamed, and git's own record of the worktree (its HEAD, its index, an operation
//! in progress) is moved beside it. Refs keep every object that only these name from being collected.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::error::GitError;
use super::guard::is_secret_name;
use super::regular;
use super::worktree::WorktreeError;
use super::worktree_admin::settled;
use super::{Oid, Repo, Rescued};

const AWAY: &str = "set the worktree aside";
const BACK: &str = "bring the worktree back";

/// The directory's files, below what is set aside.
const TREE: &str = "tree";
/// Git's record of the worktree.
pub(crate) const RECORD: &str = "record";
/// The branch's reflog.
const REFLOG: &str = "reflog";
/// What an operation in progress, or the last one, points to.
const POINTERS: [&str; 5] = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD"];

/// What was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The tip of the branch.
    pub tip: Option<Oid>,
    /// The refs that keep it.
    pub refs: Vec<String>,
}

impl Repo {
    /// Keeps what a branch and a worktree hold under refs below `prefix` (`refs/dacapo/rescue/NAME/STAMP`). A ref that is
    /// there already is never moved.
    pub fn keep_under(&self, prefix: &str, branch: &str, worktree: &Path) -> Result<SetAside, WorktreeError> {
        let shared = self.shared();
        let mut refs = Vec::new();
        let mut keep = |kind: &str, oid: &Oid| -> Result<(), WorktreeError> {
            refs.push(shared.rescue(prefix, kind, oid)?.name);
            Ok(())
        };
        let tip = shared.read_ref(branch)?;
        if let Some(tip) = &tip {
            keep("tip", tip)?;
        }
        if let Some(own) = self.own_worktree(worktree) {
            if let Some(head) = own.head()?.commit.filter(|head| Some(head) != tip.as_ref()) {
                keep("head", &head)?;
            }
            if let Some(tree) = own.tree_of_all_stages()? {
                keep("index", &tree)?;
            }
            for name in POINTERS {
                let said = regular::read(&own.git_dir().join(name)).unwrap_or_default();
                let first = said.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let Ok(oid) = Oid::from_output(first) else { continue };
                let is_kept = |tip: &Oid| own.is_ancestor(&oid, tip);
                if own.has_commit(&oid)? && !tip.as_ref().map_or(Ok(false), is_kept)? {
                    keep(&name.to_lowercase().replace('_', "-"), &oid)?;
                }
            }
        }
        Ok(SetAside { tip, refs })
    }

    /// The worktree at `path`, where it is one of this repository's: looking upwards from a directory that lost its `.git`
    /// would find somebody else's.
    pub(super) fn own_worktree(&self, path: &Path) -> Option<Self> {
        let own = self.beside(path).ok()?;
        let same = settled(own.common_dir()) == settled(self.common_dir());
        (same && settled(own.toplevel()) == settled(path)).then_some(own)
    }

    /// A tree with every blob that the index names. The index itself is only read. With conflicts in it there is no plain
    /// tree; then each stage has a directory of its own.
    fn tree_of_all_stages(&self) -> Result<Option<Oid>, WorktreeError> {
        const OPERATION: &str = "keep the index";
        let scratch = self.scratch_index()?;
        if let Ok(tree) = self.write_tree(Some(&scratch.file)) {
            return Ok(Some(tree));
        }
        let listed = self.call(OPERATION).args(["ls-files", "-s", "-z"]).env("GIT_INDEX_FILE", &scratch.file);
        let answer = listed.output()?;
        if answer.exit != Some(0) {
            // One that git cannot read names nothing; as a file it is moved aside with the rest.
            return Ok(None);
        }
        let mut entries = Vec::new();
        for entry in answer.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            // MODE SP OID SP STAGE TAB PATH
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (about, path) = (&entry[..tab], &entry[tab + 1..]);
            let Some((about, stage)) = about.split_at_checked(about.len().saturating_sub(2)) else {
                continue;
            };
            entries.extend_from_slice(about);
            entries.extend_from_slice(b" 0\tstage-");
            entries.extend_from_slice(stage.trim_ascii());
            entries.push(b'/');
            entries.extend_from_slice(path);
            entries.push(0);
        }
        let anew = scratch.file.with_file_name("stages");
        let call = self.call(OPERATION).args(["update-index", "-z", "--index-info"]);
        call.env("GIT_INDEX_FILE", &anew).stdin(entries).stdout()?;
        Ok(self.write_tree(Some(&anew)).ok())
    }

    /// Whether [`Repo::set_aside`] may: nobody else has the branch checked out, nobody has locked the worktree.
    pub(crate) fn can_set_aside(&self, worktree: &Path, branch: &str) -> Result<(), WorktreeError> {
        let here = settled(worktree);
        for listed in self.shared().listed_worktrees()? {
            let is_it = settled(&listed.path) == here;
            match listed {
                listed if is_it && listed.locked.is_some() => {
                    let reason = listed.locked.unwrap_or_default();
                    return Err(WorktreeError::Locked { path: listed.path, reason });
                }
                listed if !is_it && listed.branch.as_deref() == Some(branch) => {
                    let branch = short(branch);
                    return Err(WorktreeError::CheckedOut { branch, at: listed.path });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Moves the worktree and its branch out of the way, to the directory `to`. What they hold is under refs already
    /// ([`Repo::keep_under`] gave `kept`). A crash in between leaves something that can be set aside or brought back.
    pub fn set_aside(
        &self,
        worktree: &Path,
        branch: &str,
        to: &Path,
        kept: &SetAside,
    ) -> Result<(), WorktreeError> {
        let shared = self.shared();
        shared.locked(|| {
            shared.can_set_aside(worktree, branch)?;
            let tip = shared.read_ref(branch)?;
            if tip.is_some() && tip != kept.tip {
                return Err(WorktreeError::BranchMoved(short(branch)));
            }
            fs::create_dir_all(to).map_err(GitError::io(AWAY, to))?;
            let tree = to.join(TREE);
            if fs::symlink_metadata(worktree).is_ok() && fs::symlink_metadata(&tree).is_ok() {
                return Err(WorktreeError::PathExists(tree));
            }
            // The record first: while it is here and the directory is not, any `git worktree prune` would remove it.
            let record = shared.record_of(worktree)?;
            if let Some(record) = &record {
                shared.take_record(record, &to.join(RECORD))?;
            }
            if let Err(error) = rename(AWAY, worktree, &tree) {
                if record.is_some() {
                    shared.give_record_back(&to.join(RECORD), worktree, worktree)?;
                }
                return Err(error);
            }
            if let Some(tip) = tip {
                let log = shared.common_dir().join("logs").join(branch);
                if fs::symlink_metadata(&log).is_ok_and(|found| found.is_file()) {
                    // Git deletes a branch's reflog with the branch.
                    fs::copy(&log, to.join(REFLOG)).map_err(GitError::io(AWAY, &log))?;
                }
                // The branch goes last. Until here everything can be found by its old name.
                shared.call(AWAY).args(["update-ref", "-d", branch, tip.as_str()]).stdout()?;
            }
            Ok(())
        })
    }

    /// Puts back what [`Repo::set_aside`] moved to `from`. Refused where something else has its place now; then nothing
    /// has moved.
    pub fn bring_back(
        &self,
        from: &Path,
        worktree: &Path,
        branch: &str,
        tip: Option<&Oid>,
    ) -> Result<(), WorktreeError> {
        let shared = self.shared();
        let (tree, record, log) = (from.join(TREE), from.join(RECORD), from.join(REFLOG));
        shared.locked(|| {
            let there = shared.read_ref(branch)?;
            if there.is_some() && there.as_ref() != tip {
                return Err(WorktreeError::BranchExists(short(branch)));
            }
            let is_away = fs::symlink_metadata(&tree).is_ok();
            if fs::symlink_metadata(worktree).is_ok() && is_away {
                return Err(WorktreeError::PathExists(worktree.to_owned()));
            }
            if let Some(parent) = worktree.parent() {
                fs::create_dir_all(parent).map_err(GitError::io(BACK, parent))?;
            }
            if let (None, Some(tip)) = (&there, tip) {
                shared.call(BACK).args(["update-ref", branch, tip.as_str(), shared.zero()]).stdout()?;
            }
            if fs::symlink_metadata(&log).is_ok() {
                let home = shared.common_dir().join("logs").join(branch);
                // git makes no reflog in a bare repository; that of a worktree's branch went with the branch.
                if let Some(parent) = home.parent() {
                    fs::create_dir_all(parent).map_err(GitError::io(BACK, parent))?;
                }
                fs::copy(&log, &home).map_err(GitError::io(BACK, &home))?;
                fs::remove_file(&log).map_err(GitError::io(BACK, &log))?;
            }
            shared.give_record_back(&record, worktree, if is_away { &tree } else { worktree })?;
            rename(BACK, &tree, worktree)?;
            match fs::remove_dir(from) {
                // The caller may keep papers of its own in it.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                done => Ok(done.map_err(GitError::io(BACK, from))?),
            }
        })
    }

    /// Whether a directory holds what a commit does, ignored files aside.
    pub(crate) fn is_tree_of(&self, files: &Path, commit: &Oid) -> Result<bool, GitError> {
        Ok(self.tree_of_files(files, Some(commit))? == Some(self.shared().tree_of(commit)?))
    }

    /// Keeps the files of a directory that is no worktree any more under a ref below `prefix`, as a tree: all that are not
    /// ignored and do not look like secrets.
    pub(crate) fn keep_files(
        &self,
        prefix: &str,
        files: &Path,
        on: Option<&Oid>,
    ) -> Result<Rescued, GitError> {
        let tree = self.tree_of_files(files, on)?;
        let tree = tree.ok_or_else(|| GitError::unexpected("keep files", b"no tree"))?;
        self.shared().rescue(prefix, "files", &tree)
    }

    /// None: what git made of it cannot be told apart from what it could not read.
    fn tree_of_files(&self, files: &Path, on: Option<&Oid>) -> Result<Option<Oid>, GitError> {
        const OPERATION: &str = "keep files";
        let shared = self.shared();
        let dir = tempfile::Builder::new().prefix("dacapo-scratch-").tempdir_in(shared.common_dir());
        let dir = dir.map_err(GitError::io(OPERATION, shared.common_dir()))?;
        let index = dir.path().join("index");
        let call = || shared.call_in(OPERATION, files).env("GIT_INDEX_FILE", &index);
        if let Some(commit) = on {
            call().args(["read-tree", commit.as_str()]).stdout()?;
        }
        // A file that cannot be read stays as the commit has it, and the rest is kept all the same: so whatever the
        // exit code.
        call().args(["add", "-u", "--ignore-errors", "--", "."]).output()?;
        let others = call().args(["ls-files", "--others", "--exclude-standard", "-z"]).stdout()?;
        let mut wanted = Vec::new();
        for name in others.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !name.ends_with(b"/")) {
            if !is_secret_name(Path::new(std::ffi::OsStr::from_bytes(name))) {
                wanted.extend_from_slice(name);
                wanted.push(0);
            }
        }
        call().args(["update-index", "--add", "-z", "--stdin"]).stdin(wanted).stdout()?;
        let answer = call().args(["write-tree"]).output()?;
        Ok(Oid::from_output(&answer.stdout).ok().filter(|_| answer.exit == Some(0)))
    }

    /// Removes refs that keep nothing which is not elsewhere.
    pub(crate) fn forget_refs(&self, names: &[String]) -> Result<(), GitError> {
        if names.is_empty() {
            return Ok(());
        }
        let orders: String = names.iter().map(|name| format!("delete {name}\n")).collect();
        let call = self.shared().call("forget refs").args(["update-ref", "--no-deref", "--stdin"]);
        call.stdin(orders.into_bytes()).stdout().map(drop)
    }

    /// The branches (full names) that a commit is part of.
    pub(crate) fn branches_with(&self, commit: &Oid) -> Result<Vec<String>, GitError> {
        let call = self.shared().call("look for a commit").args(["for-each-ref", "--format=%(refname)"]);
        let out = call.args(["--contains", commit.as_str(), "refs/heads/"]).stdout()?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }
}

pub(super) fn short(branch: &str) -> String {
    branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned()
}

/// Files are only ever renamed: a copy of a worktree can be cut short by a full disk or a crash, and is no longer the
/// same for git's index.
fn rename(operation: &'static str, from: &Path, to: &Path) -> Result<(), WorktreeError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            Err(WorktreeError::OtherFileSystem { from: from.to_owned(), to: to.to_owned() })
        }
        // Moved before a crash, or never there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(from).is_err() => {
            Ok(())
        }
        done => Ok(done.map_err(GitError::io(operation, from))?),
    }
}
