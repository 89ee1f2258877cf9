//! Setting a task's worktree aside so that it can be brought back bit for bit (S9, K6).
//!
//! `git stash` leaves untracked files out, filters change bytes, and modes and empty directories vanish in any commit. So
//! nothing is converted: the directory is renamed, and the task's own repository (its HEAD, its index, an operation in
//! progress) with it. Refs of the user's repository keep every object that only these name.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::error::GitError;
use super::guard::is_secret_name;
use super::private::base_ref;
use super::regular;
use super::worktree::WorktreeError;
use super::{Oid, Repo, Rescued};

const AWAY: &str = "set the worktree aside";
const BACK: &str = "bring the worktree back";

/// The directory's files, below what is set aside.
const TREE: &str = "tree";
/// What an operation in progress, or the last one, points to, and what was stashed last.
const POINTERS: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD", "refs/stash"];

/// What was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The tip of the branch.
    pub tip: Option<Oid>,
    /// The refs that keep it.
    pub refs: Vec<String>,
}

impl Repo {
    /// Keeps what a branch and a worktree hold under refs below `prefix` (`refs/dacapo/rescue/NAME/STAMP`), after carrying over
    /// what the task has committed. A ref that is there already is never moved. A repository of the task's that cannot be
    /// read is kept as files alone.
    pub fn keep_under(&self, prefix: &str, branch: &str, worktree: &Path) -> Result<SetAside, WorktreeError> {
        let shared = self.shared();
        let mut refs = Vec::new();
        match self.keep_own(prefix, branch, worktree) {
            Ok(kept) => refs.extend(kept),
            Err(error @ WorktreeError::CheckedOut { .. }) => return Err(error),
            Err(error) => tracing::warn!(%error, "only the files of the task's repository are kept"),
        }
        let tip = shared.read_ref(branch)?;
        if let Some(tip) = &tip {
            refs.insert(0, shared.rescue(prefix, "tip", tip)?.name);
        }
        Ok(SetAside { tip, refs })
    }

    /// Refs that keep what only the task's own repository names.
    fn keep_own(&self, prefix: &str, branch: &str, worktree: &Path) -> Result<Vec<String>, WorktreeError> {
        if fs::symlink_metadata(worktree.join(".git")).is_err() {
            return Ok(Vec::new());
        }
        let own = self.private(worktree)?;
        let tip = own.read_ref(branch)?;
        let mut found: Vec<(String, Oid)> = Vec::new();
        let mut keep = |kind: &str, oid: Oid| found.push((kind.to_owned(), oid));
        if let Some(head) = own.head()?.commit.filter(|head| Some(head) != tip.as_ref()) {
            keep("head", head);
        }
        if let Some(tree) = own.tree_of_all_stages()? {
            keep("index", tree);
        }
        for name in POINTERS {
            let oid = if name.starts_with("refs/") {
                own.read_ref(name)?
            } else {
                let said = regular::read(&own.git_dir().join(name)).unwrap_or_default();
                Oid::from_output(said.split(|byte| *byte == b'\n').next().unwrap_or_default()).ok()
            };
            let Some(oid) = oid else { continue };
            let is_kept = |tip: &Oid| own.is_ancestor(&oid, tip);
            if own.has_commit(&oid)? && !tip.as_ref().map_or(Ok(false), is_kept)? {
                keep(&name.trim_start_matches("refs/").to_lowercase().replace('_', "-"), oid);
            }
        }
        let rescue = prefix.rsplit_once('/').map_or(prefix, |(above, _)| above);
        self.carry_now(worktree, branch, rescue)?;
        self.fetch_objects(&own.objects_dir(), found.iter().map(|(_, oid)| oid))?;
        let shared = self.shared();
        let kept = |(kind, oid): (String, Oid)| Ok(shared.rescue(prefix, &kind, &oid)?.name);
        found.into_iter().map(kept).collect()
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

    /// Whether [`Repo::set_aside`] may: nobody has the branch checked out.
    pub(crate) fn can_set_aside(&self, branch: &str) -> Result<(), WorktreeError> {
        let listed = self.shared().listed_worktrees()?;
        match listed.into_iter().find(|listed| listed.branch.as_deref() == Some(branch)) {
            Some(listed) => Err(WorktreeError::CheckedOut { branch: short(branch), at: listed.path }),
            None => Ok(()),
        }
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
            shared.can_set_aside(branch)?;
            let tip = shared.read_ref(branch)?;
            // One that git cannot read has nothing more that could be kept.
            let own = self.private(worktree).and_then(|own| own.read_ref(branch)).ok().flatten();
            if [&tip, &own].into_iter().any(|tip| tip.is_some() && *tip != kept.tip) {
                return Err(WorktreeError::BranchMoved(short(branch)));
            }
            fs::create_dir_all(to).map_err(GitError::io(AWAY, to))?;
            let tree = to.join(TREE);
            if fs::symlink_metadata(worktree).is_ok() && fs::symlink_metadata(&tree).is_ok() {
                return Err(WorktreeError::PathExists(tree));
            }
            rename(AWAY, worktree, &tree)?;
            // The branch goes last. Until here everything can be found by its old name.
            match tip {
                Some(tip) => shared.delete_branch_unlocked(branch, &tip),
                None => Ok(()),
            }
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
        let tree = from.join(TREE);
        shared.locked(|| {
            let there = shared.read_ref(branch)?;
            if there.is_some() && there.as_ref() != tip {
                return Err(WorktreeError::BranchExists(short(branch)));
            }
            if fs::symlink_metadata(worktree).is_ok() && fs::symlink_metadata(&tree).is_ok() {
                return Err(WorktreeError::PathExists(worktree.to_owned()));
            }
            if let Some(parent) = worktree.parent() {
                fs::create_dir_all(parent).map_err(GitError::io(BACK, parent))?;
            }
            if let (None, Some(tip)) = (&there, tip) {
                // The base is part of the branch's history.
                let orders = format!("create {branch} {tip}\nupdate {} {tip}\n", base_ref(branch));
                let call = shared.call(BACK).args(["update-ref", "--stdin", "-m", "dacapo: brought back"]);
                call.stdin(orders.into_bytes()).stdout()?;
            }
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
