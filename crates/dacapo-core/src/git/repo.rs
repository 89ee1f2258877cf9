//! A repository with a working tree: where it is, and the small questions asked of it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use super::ahead::Ahead;
use super::error::GitError;
use super::places::Places;
use super::regular;
use super::run::{Call, Git};
use super::status::{RawChange, Status, parse_raw_diff, parse_status};
use super::{Change, ChangeKind, Oid, SpecialKind};
use crate::env::Env;
use crate::inherited_locks::{Descriptors, InheritedLocks};
use crate::process::Supervision;

/// Why there is no usable repository at a directory.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// No directory up to the root is one.
    #[error("{} is not in a git repository", .0.display())]
    NotARepository(PathBuf),
    /// It has no working tree.
    #[error("{} is a bare repository: there is no working tree to work in", .0.display())]
    Bare(PathBuf),
    /// The directory is inside `.git`.
    #[error("{} is inside a .git directory, not in a working tree", .0.display())]
    InsideGitDir(PathBuf),
    /// It belongs to somebody else, and git refuses it (`safe.directory`).
    #[error("git does not trust the repository at {}: {said}", .dir.display())]
    DubiousOwnership {
        /// Where it was looked for.
        dir: PathBuf,
        /// What git said, its own hint included.
        said: String,
    },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A repository and one working tree of it.
///
/// Every git command names both explicitly. Were they found by looking upwards, an agent that removes `.git`
/// would make the engine commit into whatever repository lies above.
#[derive(Debug, Clone)]
pub struct Repo {
    toplevel: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// The content of `.git` where that is a file (linked worktrees, submodules), to put it back.
    pub(super) link: Option<Vec<u8>>,
    pub(super) reftable: bool,
    sha256: bool,
    /// A task's own repository (`private.rs`).
    pub(super) private: bool,
    /// Without `GIT_DIR`: for looking at other directories.
    base: Git,
    git: Git,
    pub(super) nameless: OnceLock<()>,
    /// What was started ahead for the commit under way.
    pub(super) ahead: Arc<Ahead>,
    /// The newest commit that we made, and its tree.
    newest: Arc<Mutex<Option<(Oid, Oid)>>>,
}

impl Repo {
    /// Set once a git of ours was killed, while the command that had started it lives on.
    pub fn git_killed(&self) -> Arc<OnceLock<SystemTime>> {
        Arc::clone(self.git.killed())
    }

    /// Since when a git of ours can have left locks because somebody killed it.
    pub(super) fn killed_since(&self) -> Option<SystemTime> {
        self.git.killed_since()
    }

    /// Finds the repository whose working tree holds `dir`, with one git call. `env` is the user's environment, for every
    /// git command of this repository; what in it names another repository has no effect.
    pub fn discover(dir: &Path, env: &Env) -> Result<Self, DiscoverError> {
        Self::discover_under(dir, env, &Supervision::default())
    }

    /// The same; `supervision` is for every git command of this repository.
    pub fn discover_under(dir: &Path, env: &Env, supervision: &Supervision) -> Result<Self, DiscoverError> {
        Self::discover_by(Git::new(env, supervision), dir)
    }

    fn discover_by(base: Git, dir: &Path) -> Result<Self, DiscoverError> {
        const OPERATION: &str = "find the repository";
        if let Some(places) = super::locate::places(dir) {
            places.refuse_special_files(OPERATION)?;
        }
        let ask = |what: &[&str]| {
            let call = base.call(OPERATION, dir).args(["rev-parse", "--path-format=absolute"]);
            call.args(what).output()
        };
        // The one that fails without a working tree comes last: the others are answered before it.
        let answer = ask(&[
            // One call answers all of it; a git process costs about a millisecond, and this runs before anything
            // else.
            "--is-bare-repository",
            "--show-object-format",
            "--git-dir",
            "--git-common-dir",
            "--show-toplevel",
        ])?;
        if answer.exit != Some(0) {
            let said = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
            return Err(if said.contains("dubious ownership") {
                DiscoverError::DubiousOwnership { dir: dir.to_owned(), said }
            } else if said.contains("not a git repository") {
                DiscoverError::NotARepository(dir.to_owned())
            } else if answer.stdout.starts_with(b"true") {
                DiscoverError::Bare(dir.to_owned())
            } else if said.contains("must be run in a work tree") {
                DiscoverError::InsideGitDir(dir.to_owned())
            } else {
                answer.error().into()
            });
        }
        let lines: Vec<&[u8]> =
            answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout).split(|&b| b == b'\n').collect();
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let (git_dir, common_dir, toplevel) = if let [_, _, git_dir, common_dir, toplevel] = lines[..] {
            (path(git_dir), path(common_dir), path(toplevel))
        } else {
            // A directory with a line break in its name: ask one by one.
            let one = |what| -> Result<PathBuf, GitError> {
                let answer = ask(&[what])?;
                Ok(path(answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout)))
            };
            (one("--git-dir")?, one("--git-common-dir")?, one("--show-toplevel")?)
        };
        // Both are named on every call, so that git never searches: see the comment on `Repo`.
        let git = base.clone().with("GIT_DIR", &git_dir).with("GIT_WORK_TREE", &toplevel);
        let git = git.reading(Places::new(&toplevel, &git_dir, &common_dir));
        let dot_git = toplevel.join(".git");
        let link = fs::symlink_metadata(&dot_git).ok().filter(fs::Metadata::is_file);
        Ok(Self {
            // Remembered now, because an agent may remove the file later.
            link: link.and_then(|_| regular::read(&dot_git).ok()),
            reftable: common_dir.join("reftable").is_dir(),
            sha256: lines.get(1) == Some(&&b"sha256"[..]),
            private: false,
            toplevel,
            git_dir,
            common_dir,
            base,
            git,
            nameless: OnceLock::new(),
            ahead: Arc::default(),
            newest: Arc::default(),
        })
    }

    /// The repository around another directory, as a rule another working tree of the same one, with the same environment.
    pub(crate) fn beside(&self, dir: &Path) -> Result<Self, DiscoverError> {
        Self::discover_by(self.base.clone(), dir)
    }

    /// The repository without any working tree of it, for what must work while one of them moves.
    pub(super) fn shared(&self) -> Self {
        let dir = self.common_dir.clone();
        Self {
            git: self.base.clone().with("GIT_DIR", &dir).reading(Places::new(&dir, &dir, &dir)),
            toplevel: dir.clone(),
            git_dir: dir,
            link: None,
            ahead: Arc::default(),
            ..self.clone()
        }
    }

    /// The first file that git would read and that has no end.
    pub(super) fn special_file(&self) -> Option<(PathBuf, SpecialKind)> {
        self.git.places()?.special_file()
    }

    /// The root of the working tree.
    pub fn toplevel(&self) -> &Path {
        &self.toplevel
    }

    /// This working tree's own git directory.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all working trees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether this is a worktree added to a repository, not its first.
    pub fn is_linked_worktree(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// A git command on this repository.
    pub(super) fn call(&self, operation: &'static str) -> Call {
        // Refs can still be read and written when the agent has removed the working tree.
        let dir = if self.toplevel.is_dir() { &self.toplevel } else { &self.common_dir };
        self.git.call(operation, dir)
    }

    /// Every git command of this repository that is started from now on, through whichever working tree, holds this lock
    /// too as long as it lives: who finds the lock free knows that none is left.
    pub fn hand_down(&self, lock: &impl Descriptors) {
        self.base.handed().add(lock);
    }

    #[must_use]
    pub(crate) fn holding(mut self, handed: &InheritedLocks) -> Self {
        self.base = self.base.holding(handed);
        self.git = self.git.holding(handed);
        self
    }

    /// The user's environment, as it was given, without what names another repository.
    pub(crate) fn env(&self) -> &Env {
        self.base.users_environment()
    }

    /// How git is run here.
    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// How git is run outside of this repository.
    pub(super) fn base(&self) -> &Git {
        &self.base
    }

    /// A git command on this repository with the files of a directory that is no worktree of it.
    pub(super) fn call_in(&self, operation: &'static str, files: &Path) -> Call {
        self.git.clone().with("GIT_WORK_TREE", files).call(operation, files)
    }

    /// In the user's own name: hooks run, commits are signed.
    pub(super) fn call_as_user(&self, operation: &'static str) -> Call {
        self.git.call_as_user(operation, &self.toplevel)
    }

    /// The same with the hooks of another working tree: a relative `core.hooksPath` may name files there that no commit
    /// holds, and a fresh checkout would run none.
    pub(crate) fn with_hooks_of(mut self, other: &Self) -> Result<Self, GitError> {
        let call = other.call_as_user("find the hooks");
        let out = call.args(["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).stdout()?;
        let path = OsString::from_vec(out.strip_suffix(b"\n").unwrap_or(&out).to_vec());
        self.git = self
            .git
            .with("GIT_CONFIG_COUNT", "1")
            .with("GIT_CONFIG_KEY_0", "core.hooksPath")
            .with("GIT_CONFIG_VALUE_0", path);
        Ok(self)
    }

    pub(super) fn is_sha256(&self) -> bool {
        self.sha256
    }

    /// The tree without entries, which every repository knows without storing it.
    pub(super) fn empty_tree(&self) -> &'static str {
        if self.sha256 {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        }
    }

    /// The id that stands for "there must be none" as an old value.
    pub(super) fn zero(&self) -> &'static str {
        const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
        if self.sha256 { ZEROS } else { &ZEROS[..40] }
    }

    pub fn objects_dir(&self) -> PathBuf {
        self.common_dir.join("objects")
    }

    /// Whether `old` is `new` or one of its ancestors.
    pub(crate) fn is_ancestor(&self, old: &Oid, new: &Oid) -> Result<bool, GitError> {
        if old == new {
            return Ok(true);
        }
        let answer = self
            .call("compare commits")
            .args(["merge-base", "--is-ancestor", old.as_str(), new.as_str()])
            .output()?;
        match answer.exit {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.error()),
        }
    }

    /// Whether the repository still has this commit.
    pub fn has_commit(&self, oid: &Oid) -> Result<bool, GitError> {
        let wanted = format!("{oid}^{{commit}}");
        Ok(self.call("look for a commit").args(["cat-file", "-e", &wanted]).output()?.exit == Some(0))
    }

    /// The tree of a commit.
    pub(super) fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let wanted = format!("{commit}^{{tree}}");
        self.oid_from("read a commit", self.call("read a commit").args(["rev-parse", "--verify", &wanted]))
    }

    /// The same without asking git where it is a commit of our own.
    pub(super) fn known_tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match newest {
            Some((made, tree)) if made == *commit => Ok(tree),
            _ => self.tree_of(commit),
        }
    }

    pub(super) fn remember_tree(&self, commit: &Oid, tree: &Oid) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some((commit.clone(), tree.clone()));
    }

    pub(super) fn oid_from(&self, operation: &'static str, call: Call) -> Result<Oid, GitError> {
        let out = call.stdout()?;
        Oid::from_output(&out).map_err(|_| GitError::unexpected(operation, &out))
    }

    /// Every path in which two commits differ; from `None` all that `tip` holds. A rename is both its paths.
    pub fn changed_between(&self, base: Option<&Oid>, tip: &Oid) -> Result<Vec<Change>, GitError> {
        Ok(changes(&self.raw_diff(base, tip)?))
    }

    pub(super) fn raw_diff(&self, base: Option<&Oid>, tip: &Oid) -> Result<Vec<RawChange>, GitError> {
        read_raw_diff(&self.diff_call(base, tip).stdout()?)
    }

    /// With the directories (`-t`): a file that became one is a change too.
    pub(super) fn diff_call(&self, base: Option<&Oid>, tip: &Oid) -> Call {
        let base = base.map_or(self.empty_tree(), Oid::as_str);
        self.call("compare trees").args([
            "diff-tree",
            "-r",
            "-t",
            "--raw",
            "-z",
            "--no-renames",
            "--no-abbrev",
            "--no-ext-diff",
            base,
            tip.as_str(),
        ])
    }

    pub(super) fn status(&self, index: Option<&Path>) -> Result<(Status, String), GitError> {
        const OPERATION: &str = "look at the working tree";
        let mut call = self.call(OPERATION).args([
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "-uall",
            "--no-renames",
        ]);
        if let Some(index) = index {
            call = call.env("GIT_INDEX_FILE", index);
        }
        let answer = call.output()?;
        if answer.exit != Some(0) {
            return Err(answer.error());
        }
        let status = parse_status(&answer.stdout).map_err(|bad| GitError::unexpected(OPERATION, &bad.0))?;
        let warnings: String = String::from_utf8_lossy(&answer.stderr).trim().chars().take(2000).collect();
        Ok((status, warnings))
    }
}

pub(super) fn read_raw_diff(output: &[u8]) -> Result<Vec<RawChange>, GitError> {
    parse_raw_diff(output).map_err(|bad| GitError::unexpected("compare trees", &bad.0))
}

/// What a raw diff says about files.
pub(super) fn changes(raw: &[RawChange]) -> Vec<Change> {
    use super::status::TREE;
    let of = |change: &RawChange| {
        // A file that became a directory is listed as a change of one path: for files it is gone.
        let (was, is) = (
            change.old_mode != TREE && change.old_mode != 0,
            change.new_mode != TREE && change.new_mode != 0,
        );
        let kind = match (was, is) {
            (false, false) => return None,
            (false, true) => ChangeKind::Added,
            (true, false) => ChangeKind::Deleted,
            (true, true) if change.status == b'T' => ChangeKind::TypeChanged,
            (true, true) => ChangeKind::Modified,
        };
        Some(Change { path: change.path.clone(), kind })
    };
    raw.iter().filter_map(of).collect()
}
