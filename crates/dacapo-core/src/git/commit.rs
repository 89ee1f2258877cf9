//! One iteration, one commit: from a working tree in any state to a commit object that waits to be landed.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::reconcile::Reconciled;
use super::regular;
use super::repo::{changes, read_raw_diff};
use super::run::{Call, Running};
use super::stage::{NewSecrets, Plan, Rules};
use super::status::{GITLINK, RawChange, Status};
use super::{Apart, Change, Head, LeftOut, NewCommit, Notice, Oid, Prepared, Problem, Repo, guard};
use crate::process::Masker;

/// A moment as git writes it: seconds since 1970 and the offset of the place. Author and committer both get
/// it, so that the same work gives the same commit id when it is done again after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitDate {
    /// Seconds since 1970-01-01 UTC; git knows no earlier time.
    pub unix_seconds: i64,
    /// Minutes east of UTC.
    pub offset_minutes: i32,
}

impl CommitDate {
    /// As it stands in a commit.
    pub(super) fn raw(self) -> String {
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let minutes = self.offset_minutes.unsigned_abs();
        format!("{} {sign}{:02}{:02}", self.unix_seconds.max(0), minutes / 60, minutes % 60)
    }

    /// As git takes it; the sign tells it that no guessing is needed.
    fn git(self) -> String {
        format!("@{}", self.raw())
    }
}

impl From<&jiff::Zoned> for CommitDate {
    fn from(moment: &jiff::Zoned) -> Self {
        Self { unix_seconds: moment.timestamp().as_second(), offset_minutes: moment.offset().seconds() / 60 }
    }
}

/// What an iteration's commit is to be.
#[derive(Debug, Clone, Copy)]
pub struct CommitRequest<'a> {
    /// The commit at the start of the iteration; none when there was none yet.
    pub start: Option<&'a Oid>,
    /// Where HEAD ought to be: our branch and the last tip we know.
    pub home: &'a Head,
    pub message: &'a str,
    /// The date of author and committer.
    pub date: CommitDate,
    /// Where rescued commits go, e.g. `refs/dacapo/rescue/NAME/iter-3`.
    pub rescue_prefix: &'a str,
    /// Whether the working tree is the task's own: then a lock left in it is nobody's.
    pub exclusive: bool,
    /// New files over this size are left out.
    pub max_file_bytes: u64,
    /// Paths that were left out before the task began: nothing is said of them again.
    pub known: &'a [PathBuf],
    /// The reason with which it will be landed right after: what can be started ahead for that, is.
    pub landing: Option<&'a str>,
    /// What is no part of the commit as it is now.
    pub apart: &'a Apart,
    /// New files and changes that hold one of these are left out.
    pub secrets: Option<&'a Masker>,
}

/// How often HEAD may move under our eyes before that is an error.
const LOOKS: usize = 3;

impl Repo {
    /// Makes the commit of an iteration. The agent's processes must be dead. No branch is moved to it: that is
    /// [`Repo::land`], after the intent is in the journal. Run again, it gives the same commit.
    pub fn prepare_commit(&self, request: &CommitRequest<'_>) -> Result<Prepared, GitError> {
        let mut prepared = Prepared::nothing(request.home.clone());
        prepared.problems = self.what_is_gone();
        if !prepared.problems.is_empty() {
            return Ok(prepared);
        }
        self.check_link(&mut prepared)?;
        if request.exclusive {
            prepared.notices.extend(self.clear_stale_locks(request.home.branch.as_deref())?);
        }
        // `commit-tree` knows nothing of it: the merge or rebase would stay open on top of a commit that it does not
        // expect.
        if let Some(operation) = self.operation() {
            prepared.head = self.head()?;
            prepared.problems.push(Problem::OperationInProgress(operation));
            return Ok(prepared);
        }
        // HEAD is read from files, the status by git: somebody may commit in between. What both agree on is
        // committed.
        for _ in 0..LOOKS {
            match self.reconcile(request, &mut prepared.notices)? {
                Reconciled::Taken(head) => prepared.head = head,
                Reconciled::Refused(problem) => {
                    prepared.problems.push(problem);
                    return Ok(prepared);
                }
            }
            prepared.own_commits = prepared.head.commit != request.home.commit;
            let (status, index) = self.look(request, &mut prepared)?;
            // Otherwise HEAD moved between the two looks, and the plan would be made against another parent.
            if status.head == prepared.head.commit {
                return self.commit_what_is_there(request, status, index, prepared);
            }
        }
        Err(GitError::unexpected(
            "look at the working tree",
            b"another HEAD each time: somebody else is committing",
        ))
    }

    /// The directory or the repository itself may be what the agent removed, or made unreadable.
    pub(crate) fn what_is_gone(&self) -> Vec<Problem> {
        let mut gone = Vec::new();
        if !self.toplevel().is_dir() {
            gone.push(Problem::WorkspaceGone(self.toplevel().to_owned()));
        }
        let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
        if !is_there(&self.git_dir().join("HEAD")) || !is_there(&self.common_dir().join("objects")) {
            gone.push(Problem::RepositoryGone(self.git_dir().to_owned()));
        }
        let link = if self.private { super::private::link_in(self.git_dir()) } else { None };
        gone.extend(link.map(Problem::LinkReplaced));
        gone.extend(self.special_file().map(|(path, kind)| Problem::SpecialFile(path, kind)));
        gone
    }

    /// A worktree's `.git` is a one-line file; without it every git command in there reaches another repository.
    fn check_link(&self, prepared: &mut Prepared) -> Result<(), GitError> {
        let Some(link) = &self.link else { return Ok(()) };
        let file = self.toplevel().join(".git");
        match fs::symlink_metadata(&file) {
            Err(_) => {
                fs::write(&file, link).map_err(GitError::io("put .git back", &file))?;
                prepared.notices.push(Notice::LinkRestored(file));
            }
            Ok(found) if found.is_file() && regular::read(&file).is_ok_and(|now| now == *link) => {}
            Ok(_) => prepared.problems.push(Problem::LinkReplaced(file)),
        }
        Ok(())
    }

    /// One `git status`, with the index repaired first where there is none to speak of.
    fn look(
        &self,
        request: &CommitRequest<'_>,
        prepared: &mut Prepared,
    ) -> Result<(Status, Option<PathBuf>), GitError> {
        let index = self.index_to_read(prepared.head.commit == request.home.commit)?;
        if index.is_none() {
            prepared.notices.extend(self.heal_missing_index(&prepared.head)?);
        }
        let (status, warnings) = match self.status(index.as_deref()) {
            Err(error) if index.is_none() && Self::is_broken_index(&error) => {
                prepared.notices.push(self.heal_broken_index(&prepared.head)?);
                self.status(None)?
            }
            looked => looked?,
        };
        if !warnings.is_empty() {
            prepared.notices.push(Notice::Warning(warnings));
        }
        Ok((status, index))
    }

    fn commit_what_is_there(
        &self,
        request: &CommitRequest<'_>,
        status: Status,
        index: Option<PathBuf>,
        mut prepared: Prepared,
    ) -> Result<Prepared, GitError> {
        let is_new_base = request.start != prepared.head.commit.as_ref();
        let rules = Rules {
            max_file_bytes: request.max_file_bytes,
            known: request.known,
            apart: request.apart,
            tracked_in: request.start.filter(|_| is_new_base),
            secrets: request.secrets.map(|masker| NewSecrets {
                masker,
                start: request.start,
                head: prepared.head.commit.as_ref(),
            }),
        };
        let mut plan = self.plan(status, rules)?;
        prepared
            .notices
            .extend(std::mem::take(&mut plan.dirty_submodules).into_iter().map(Notice::SubmoduleDirty));
        prepared.left_out = std::mem::take(&mut plan.left_out);
        if !plan.unmerged.is_empty() {
            prepared.problems.push(Problem::Unmerged(std::mem::take(&mut plan.unmerged)));
            return self.without_commit(request, prepared);
        }
        prepared.problems.extend(std::mem::take(&mut plan.nested).into_iter().map(Problem::NestedRepository));
        if plan.is_empty() {
            prepared.notices.extend(self.locked_index().map(Notice::IndexLocked));
            return self.without_commit(request, prepared);
        }
        if let Some(reason) = request.landing {
            self.start_ahead(reason);
        }
        let left_out = prepared.left_out.len();
        let tree = self.stage_and_write(request, &plan, index, &mut prepared)?;
        let parent = prepared.head.commit.clone();
        let as_planned = !plan.staged && plan.remove.is_empty() && prepared.left_out.len() == left_out;
        if let (true, false, Some(parent)) = (as_planned, is_new_base, &parent) {
            plan.changed.sort_by(|a, b| a.path.cmp(&b.path));
            return self.commit_as_planned(request, tree, parent, plan.changed, prepared);
        }
        let commit = self.commit_tree_call(&tree, parent.as_ref(), request.message, request.date).spawn()?;
        // The diff runs beside it: it needs the tree only.
        let diff = self.diff_call(request.start, &tree).stdout();
        let oid = self.finish_commit(commit, &tree, parent.as_ref(), request)?;
        let raw = read_raw_diff(&diff?)?;
        // Changes that cancel each other out (line ends, staged and reverted) are no commit.
        let is_same = match &parent {
            Some(parent) if is_new_base => self.tree_of(parent)? == tree,
            _ => raw.is_empty() && (parent.is_some() || request.start.is_some()),
        };
        let is_empty_first = parent.is_none() && tree.as_str() == self.empty_tree();
        if !is_same && !is_empty_first {
            prepared.commit = Some(NewCommit { oid, parent, tree });
        }
        self.describe(request, &raw, prepared)
    }

    /// The usual case: nothing but what git saw in the working tree. What changed is known without another look.
    fn commit_as_planned(
        &self,
        request: &CommitRequest<'_>,
        tree: Oid,
        parent: &Oid,
        changed: Vec<Change>,
        mut prepared: Prepared,
    ) -> Result<Prepared, GitError> {
        // Changes that cancel each other out (line ends) are no commit.
        if self.known_tree_of(parent)? == tree {
            return Ok(prepared);
        }
        let oid = match self.write_ahead(&tree, parent, request.message, request.date)? {
            Some(oid) => oid,
            None => {
                let call = self.commit_tree_call(&tree, Some(parent), request.message, request.date);
                self.finish_commit(call.spawn()?, &tree, Some(parent), request)?
            }
        };
        self.remember_tree(&oid, &tree);
        prepared.changed = changed;
        prepared.commit = Some(NewCommit { oid, parent: Some(parent.clone()), tree });
        Ok(prepared)
    }

    /// Stages and writes the tree, past a lock if there is one.
    fn stage_and_write(
        &self,
        request: &CommitRequest<'_>,
        plan: &Plan,
        index: Option<PathBuf>,
        prepared: &mut Prepared,
    ) -> Result<Oid, GitError> {
        let mut index = index;
        // In place the lock may be the user's own git. Its index is left alone; a copy takes its place once the lock
        // is gone.
        if self.locked_index().is_some() {
            index = self.index_past_lock(&mut prepared.notices)?;
        }
        // Editors run `git status` whenever a file changes, so the index can be locked again right after a look.
        for _ in 0..LOOKS {
            let staged = self.stage(plan, index.as_deref());
            let written = staged.and_then(|refused| Ok((refused, self.write_tree(index.as_deref())?)));
            match written {
                // Taken between two of our calls: editors look at the working tree all the time.
                Err(GitError::IndexLocked { .. }) if index.is_none() && request.exclusive => {
                    prepared.notices.extend(self.clear_stale_locks(None)?);
                }
                Err(GitError::IndexLocked { .. }) if index.is_none() => {
                    index = self.index_past_lock(&mut prepared.notices)?;
                }
                written => {
                    let (refused, tree) = written?;
                    let told = refused.into_iter().filter(|file| !request.known.contains(&file.path));
                    prepared.left_out.extend(told);
                    return Ok(tree);
                }
            }
        }
        Err(GitError::IndexLocked { lock: self.git_dir().join("index.lock") })
    }

    pub(super) fn write_tree(&self, index: Option<&Path>) -> Result<Oid, GitError> {
        const OPERATION: &str = "write the tree";
        let mut call = self.call(OPERATION).arg("write-tree");
        if let Some(index) = index {
            call = call.env("GIT_INDEX_FILE", index);
        }
        self.oid_from(OPERATION, call)
    }

    fn without_commit(&self, request: &CommitRequest<'_>, prepared: Prepared) -> Result<Prepared, GitError> {
        match &prepared.head.commit {
            Some(tip) if request.start != Some(tip) => {
                let raw = self.raw_diff(request.start, tip)?;
                self.describe(request, &raw, prepared)
            }
            _ => Ok(prepared),
        }
    }

    /// Fills in what changed since the start, and what the agent's own commits hold that ours would not.
    fn describe(
        &self,
        request: &CommitRequest<'_>,
        raw: &[RawChange],
        mut prepared: Prepared,
    ) -> Result<Prepared, GitError> {
        prepared.changed = changes(raw);
        if prepared.own_commits {
            let judged = raw
                .iter()
                .filter(|change| change.old_mode == 0 && matches!(change.new_mode >> 12, 0o10 | 0o12));
            let known: Vec<LeftOut> = judged
                .filter_map(|change| {
                    let why = guard::judge(self.toplevel(), &change.path, request.max_file_bytes)?;
                    Some(LeftOut { path: change.path.clone(), why })
                })
                .collect();
            prepared.notices.extend(known.into_iter().map(Notice::CommittedByAgent));
            if raw.iter().any(|change| change.new_mode == GITLINK && change.old_mode != GITLINK) {
                let registered = self.registered_submodules()?;
                let added =
                    raw.iter().filter(|change| change.new_mode == GITLINK && change.old_mode != GITLINK);
                let nested = added.filter(|change| !registered.contains(&change.path));
                prepared.problems.extend(nested.map(|change| Problem::NestedRepository(change.path.clone())));
            }
        }
        Ok(prepared)
    }

    fn commit_tree_call(&self, tree: &Oid, parent: Option<&Oid>, message: &str, date: CommitDate) -> Call {
        let mut call = self.call("make the commit").args(["commit-tree", "--no-gpg-sign", tree.as_str()]);
        if let Some(parent) = parent {
            call = call.args(["-p", parent.as_str()]);
        }
        if self.nameless.get().is_some() {
            for (name, value) in [
                ("GIT_AUTHOR_NAME", "Dacapo"),
                ("GIT_AUTHOR_EMAIL", "dacapo@localhost"),
                ("GIT_COMMITTER_NAME", "Dacapo"),
                ("GIT_COMMITTER_EMAIL", "dacapo@localhost"),
            ] {
                call = call.env(name, value);
            }
        }
        // Git takes no NUL in a message, and a commit is never lost for want of one.
        let message = message.replace('\0', "\u{fffd}");
        let date = date.git();
        call.env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .args(["-F", "-"])
            .stdin(message.into_bytes())
    }

    fn finish_commit(
        &self,
        running: Running,
        tree: &Oid,
        parent: Option<&Oid>,
        request: &CommitRequest<'_>,
    ) -> Result<Oid, GitError> {
        match running.stdout() {
            Ok(out) => Oid::from_output(&out).map_err(|_| GitError::unexpected("make the commit", &out)),
            // Once only: `set` fails the second time, so that an error about something else cannot repeat this for
            // ever.
            Err(error) if is_about_the_name(error.stderr()) && self.nameless.set(()).is_ok() => {
                let again = self.commit_tree_call(tree, parent, request.message, request.date);
                self.oid_from("make the commit", again)
            }
            Err(error) => Err(error),
        }
    }

    /// A commit object in one step, for what is only to be kept.
    pub(super) fn commit_tree(
        &self,
        tree: &Oid,
        parent: Option<&Oid>,
        request: &CommitRequest<'_>,
    ) -> Result<Oid, GitError> {
        let running = self.commit_tree_call(tree, parent, request.message, request.date).spawn()?;
        self.finish_commit(running, tree, parent, request)
    }
}

/// Git refuses to commit for somebody without a name or an address.
fn is_about_the_name(stderr: &str) -> bool {
    let parts =
        ["ident name", "auto-detect", "no email was given", "no name was given", "tell me who you are"];
    parts.iter().any(|part| stderr.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_git_reads_them() {
        let date = |unix_seconds, offset_minutes| CommitDate { unix_seconds, offset_minutes }.git();
        assert_eq!(date(1_700_000_000, 480), "@1700000000 +0800");
        assert_eq!(date(1, -210), "@1 -0330");
        assert_eq!(date(-5, 0), "@0 +0000");
    }
}
