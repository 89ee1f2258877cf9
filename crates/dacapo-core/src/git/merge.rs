//! Bringing a task's branch home (S11, K12). All of it happens in a scratch worktree; the branch itself moves last, and
//! only from where it was when the merge was tried and checked. What somebody else resolves is in `resolution.rs`.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::error::GitError;
use super::run::Call;
use super::{Oid, Repo};

const TRY: &str = "see whether it merges";
const MERGE: &str = "merge";
/// What the reflog says. It begins as [`super::watched_refs::BY_DACAPO`] does.
const BY_DACAPO_MERGE: &str = "dacapo: merge";
const MOVE: &str = "move the branch";
/// Git's exit code for options that it does not know.
const USAGE: i32 = 129;

/// What a merge would come to. Found without touching a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// There is nothing to merge.
    UpToDate,
    /// The branch just moves on.
    FastForward,
    /// Both sides changed, and git can join them.
    Clean,
    /// These files were changed on both sides.
    Conflicts(Vec<PathBuf>),
}

/// What git's own merge comes to.
pub(super) struct Tried {
    pub(super) tree: Oid,
    pub(super) conflicts: Vec<PathBuf>,
}

/// Whether two commits can be joined without somebody's help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Joining {
    Clean,
    /// They conflict in these files.
    Conflicts(Vec<PathBuf>),
}

/// How a branch is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStyle {
    /// With its history: fast-forward where possible, else by a commit with two parents.
    Merge,
    /// As one new commit without its history.
    Squash,
}

/// Settings of the user's that would make another merge of it than the one that was asked for, and past resolutions that
/// git would put in by itself, without anybody having looked at them here.
const AS_ASKED: [&str; 4] = ["-c", "rerere.enabled=false", "-c", "merge.autoStash=false"];

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// There was nothing to merge.
    UpToDate,
    /// HEAD is here now.
    At(Oid),
    /// These files are left with conflicts in them.
    Conflicts(Vec<PathBuf>),
}

/// What became of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advanced {
    /// It is where the merge put it.
    Done,
    /// Somebody else has moved the branch since.
    Moved,
    /// It is checked out, and files there are in the way: what git says about them.
    InTheWay(String),
}

impl Repo {
    /// What merging `theirs` into `ours` would come to. Needs git 2.38.
    pub fn preview_merge(&self, ours: &Oid, theirs: &Oid) -> Result<Preview, GitError> {
        if self.is_ancestor(theirs, ours)? {
            return Ok(Preview::UpToDate);
        }
        if self.is_ancestor(ours, theirs)? {
            return Ok(Preview::FastForward);
        }
        let tried = self.try_tree(ours, theirs)?;
        Ok(if tried.conflicts.is_empty() { Preview::Clean } else { Preview::Conflicts(tried.conflicts) })
    }

    /// The tree that git's own merge gives, with markers where both sides changed the same, and where that is.
    pub(super) fn try_tree(&self, ours: &Oid, theirs: &Oid) -> Result<Tried, GitError> {
        let call = self.call(TRY).args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        let answer = call.args([ours.as_str(), theirs.as_str()]).output()?;
        match answer.exit {
            Some(0 | 1) => {}
            Some(USAGE) => return Err(GitError::TooOld { operation: TRY, needs: "2.38" }),
            _ => return Err(answer.error()),
        }
        let tree = answer.stdout.split(|byte| *byte == 0).next().unwrap_or_default();
        let tree = Oid::from_output(tree).map_err(|_| GitError::unexpected(TRY, &answer.stdout))?;
        let mut conflicts = paths(&answer.stdout, 1);
        if answer.exit == Some(1) && conflicts.is_empty() {
            // A conflict that git puts down to no file at all is one all the same.
            conflicts.push(PathBuf::from("."));
        }
        Ok(Tried { tree, conflicts })
    }

    /// Whether two commits cannot be joined without somebody's help. One git call.
    pub(crate) fn would_conflict(&self, one: &Oid, other: &Oid) -> Result<bool, GitError> {
        Ok(!self.try_tree(one, other)?.conflicts.is_empty())
    }

    /// Of each of these pairs, whether they conflict; none where that cannot be said, for histories without a common
    /// beginning for one. One git process for as many as it can answer.
    pub(crate) fn conflicts(&self, pairs: &[(Oid, Oid)]) -> Result<Vec<Option<Joining>>, GitError> {
        let mut answers = Vec::with_capacity(pairs.len());
        while answers.len() < pairs.len() {
            let asked: String =
                pairs[answers.len()..].iter().map(|(one, other)| format!("{one} {other}\n")).collect();
            let call = self.call(TRY).args([
                "merge-tree",
                "--write-tree",
                "--stdin",
                "--name-only",
                "--no-messages",
            ]);
            let answer = call.stdin(asked.into_bytes()).output()?;
            let told = joinings(&answer.stdout);
            // Any other failure is about one pair: git ends there, and the rest is asked again.
            if answer.exit == Some(USAGE) || answer.exit.is_none() {
                return Err(answer.error());
            }
            let all = answers.len() + told.len() >= pairs.len();
            answers.extend(told.into_iter().map(Some));
            if !all {
                // It gave up on this one, and with it on all behind.
                answers.push(None);
            }
        }
        answers.truncate(pairs.len());
        Ok(answers)
    }

    /// A commit that no ref names, as the merge of these would be: to see how the next one would go on top of it. None
    /// where they conflict.
    pub fn trial_merge(&self, ours: &Oid, theirs: &Oid, how: MergeStyle) -> Result<Option<Oid>, GitError> {
        if how == MergeStyle::Merge && self.is_ancestor(ours, theirs)? {
            return Ok(Some(theirs.clone()));
        }
        let tried = self.try_tree(ours, theirs)?;
        if !tried.conflicts.is_empty() {
            return Ok(None);
        }
        let call = self.call(TRY).args(["commit-tree", tried.tree.as_str(), "-p", ours.as_str()]);
        let call = match how {
            MergeStyle::Merge => call.args(["-p", theirs.as_str()]),
            MergeStyle::Squash => call,
        };
        // Nobody sees it, so nobody's name is needed for it.
        let call = ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"]
            .iter()
            .fold(call, |call, field| call.env(&format!("GIT_{field}"), "dacapo"));
        self.oid_from(TRY, call.args(["-m", "trial"])).map(Some)
    }

    /// Merges `theirs` into HEAD of this worktree, in the user's name.
    pub fn merge_here(&self, theirs: &Oid, message: &str, how: MergeStyle) -> Result<Merged, GitError> {
        let ours = self.tip()?;
        if self.is_ancestor(theirs, &ours)? {
            return Ok(Merged::UpToDate);
        }
        let words: &[&str] = match how {
            MergeStyle::Squash => &["--squash"],
            MergeStyle::Merge => &["--no-edit", "-m", message],
        };
        let answer = self.merge_call(words, theirs).output()?;
        // The exit code can be the same for conflicts and for a hook that refuses; the index tells.
        let unmerged = self.unmerged()?;
        if !unmerged.is_empty() {
            return Ok(Merged::Conflicts(unmerged));
        }
        if answer.exit != Some(0) {
            return Err(answer.error());
        }
        match how {
            MergeStyle::Squash => self.commit_as_user(message).map(Merged::At),
            MergeStyle::Merge => self.tip().map(Merged::At),
        }
    }

    /// `--ff`: a user's `merge.ff = only` or `false` is about merges by hand.
    pub(super) fn merge_call(&self, words: &[&str], theirs: &Oid) -> Call {
        let call = self.call_as_user(MERGE).args(AS_ASKED).args(["merge", "-q", "--ff"]);
        call.args(words).arg(theirs.as_str())
    }

    /// Commits what is staged, with the user's hooks and signature.
    pub(super) fn commit_as_user(&self, message: &str) -> Result<Oid, GitError> {
        let call = self.call_as_user(MERGE).args(["commit", "-q", "--allow-empty", "--no-edit"]);
        call.args(["-m", message]).stdout()?;
        self.tip()
    }

    pub(super) fn tip(&self) -> Result<Oid, GitError> {
        self.head()?.commit.ok_or_else(|| GitError::unexpected(MERGE, b"no commit"))
    }

    /// How many commits `tip` has that `base` has not.
    pub fn commits_between(&self, base: &Oid, tip: &Oid) -> Result<u64, GitError> {
        const OPERATION: &str = "count commits";
        let range = format!("{base}..{tip}");
        let out = self.call(OPERATION).args(["rev-list", "--count", &range]).stdout()?;
        let number = String::from_utf8_lossy(&out).trim().parse();
        number.map_err(|_| GitError::unexpected(OPERATION, &out))
    }

    /// The first lines of the messages of these commits, the newest first, at most `most`.
    pub(crate) fn subjects_between(
        &self,
        base: &Oid,
        tip: &Oid,
        most: usize,
    ) -> Result<Vec<String>, GitError> {
        let (range, count) = (format!("{base}..{tip}"), format!("--max-count={most}"));
        let call = self.call("read commits").args(["log", "-z", "--no-show-signature", "--format=%s"]);
        let out = call.args([&count, &range]).stdout()?;
        let subjects = out.split(|byte| *byte == 0).filter(|subject| !subject.is_empty());
        Ok(subjects.map(|subject| String::from_utf8_lossy(subject).into_owned()).collect())
    }

    /// The newest commit that both have; none for histories that have nothing in common.
    pub fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>, GitError> {
        const OPERATION: &str = "compare commits";
        let answer = self.call(OPERATION).args(["merge-base", one.as_str(), other.as_str()]).output()?;
        match answer.exit {
            Some(0) => Oid::from_output(&answer.stdout)
                .map(Some)
                .map_err(|_| GitError::unexpected(OPERATION, &answer.stdout)),
            Some(1) => Ok(None),
            _ => Err(answer.error()),
        }
    }

    /// Files with conflicts that git knows of.
    pub(crate) fn unmerged(&self) -> Result<Vec<PathBuf>, GitError> {
        let out = self.call(MERGE).args(["diff", "--name-only", "--diff-filter=U", "-z"]).stdout()?;
        Ok(paths(&out, 0))
    }

    /// Moves a branch (full name) from `old` to `new`. Where it is checked out here, the files move with it, and files
    /// of the user's own that are in the way stop it.
    pub fn advance(&self, branch: &str, new: &Oid, old: &Oid) -> Result<Advanced, GitError> {
        let head = self.head()?;
        if head.branch.as_deref() == Some(branch) {
            // The checks ran on a merge with `old`. On top of anything else it would be unproven.
            if head.commit.as_ref() != Some(old) {
                return Ok(Advanced::Moved);
            }
            // Ctrl-C at the terminal is for us, not for a git that is in the middle of the user's files.
            let call = self.call_as_user(MOVE).args(AS_ASKED).apart();
            // Git would write over ignored files without a word; they are the user's, too.
            let words = ["merge", "-q", "--ff-only", "--no-overwrite-ignore", new.as_str()];
            let answer = call.args(words).env("GIT_REFLOG_ACTION", BY_DACAPO_MERGE).output()?;
            return Ok(match answer.exit {
                Some(0) => Advanced::Done,
                _ if self.read_ref(branch)?.as_ref() != Some(old) => Advanced::Moved,
                _ => Advanced::InTheWay(String::from_utf8_lossy(&answer.stderr).trim().to_owned()),
            });
        }
        if self.read_ref(branch)?.as_ref() != Some(old) {
            return Ok(Advanced::Moved);
        }
        // Not checked out here, so there are no files to move: the ref alone, with its old value as a condition.
        let call = self.call(MOVE).args(["update-ref", "-m", BY_DACAPO_MERGE, branch]);
        let answer = call.args([new.as_str(), old.as_str()]).output()?;
        match answer.exit {
            Some(0) => Ok(Advanced::Done),
            _ if self.read_ref(branch)?.as_ref() != Some(old) => Ok(Advanced::Moved),
            _ => Err(answer.error()),
        }
    }
}

/// `STATUS NUL TREE NUL [FILE NUL]… NUL` for each merge; status 0 means conflicts.
fn joinings(bytes: &[u8]) -> Vec<Joining> {
    let mut fields = bytes.split(|byte| *byte == 0);
    let mut joinings = Vec::new();
    while let Some(status) = fields.next().filter(|status| matches!(status, [b'0' | b'1'])) {
        let (tree, mut files, mut whole) = (fields.next(), Vec::new(), false);
        for field in fields.by_ref() {
            whole = field.is_empty();
            if whole {
                break;
            }
            files.push(PathBuf::from(std::ffi::OsStr::from_bytes(field)));
        }
        if tree.is_none() || !whole {
            break;
        }
        joinings.push(if status == b"0" { Joining::Conflicts(files) } else { Joining::Clean });
    }
    joinings
}

/// Names between NULs, after the first `skip` fields.
pub(super) fn paths(bytes: &[u8], skip: usize) -> Vec<PathBuf> {
    let fields = bytes.split(|byte| *byte == 0).skip(skip).filter(|field| !field.is_empty());
    let mut paths: Vec<PathBuf> =
        fields.map(|field| PathBuf::from(std::ffi::OsStr::from_bytes(field))).collect();
    paths.dedup();
    paths
}
