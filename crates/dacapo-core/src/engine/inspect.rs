//! What git says about work that agents commit themselves, and how what nobody has committed is kept.

use crate::event::{Notice, TestsDiff, WorkspaceProblem};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::context::DriverError;
use super::driver::Driver;
use super::machine::{Input, NamedCommit, WorkFacts, WorkQuery};
use super::workspace::{MAX_FILE_BYTES, Workspace, local_date};
use crate::git::{ChangeKind, CommitRequest, Compared, Head, Oid, Repo, display_path};
use crate::proof;
use crate::yardstick::Judges;

/// How many places where HEAD was are compared with.
const MOST_MOVES: usize = 1000;

impl Driver<'_> {
    /// Looks, and changes nothing: doing it again is harmless.
    pub(super) fn inspect_work(&mut self, query: &WorkQuery) -> Result<Input, DriverError> {
        self.clear_locks_of_last_turn()?;
        let users = self.workspace_mut()?.compare_users()?;
        let workspace = self.workspace()?;
        let repo = &workspace.repo;
        let gone = repo.what_is_gone();
        if !gone.is_empty() {
            return Ok(Input::WorkspaceFailed(gone.iter().map(WorkspaceProblem::from).collect()));
        }
        let head = repo.head()?;
        let tip = match &query.branch {
            Some(branch) => repo.read_ref(branch)?,
            None => head.commit.clone(),
        };
        let dirt = repo.dirt()?;
        let others = workspace.not_the_agents(&users);
        let dirty = dirt.tracked.into_iter().chain(dirt.untracked).chain(dirt.unmerged);
        let definition = Path::new(&query.definition);
        // The user's own words, which nobody needs to commit.
        let as_frozen = reads(&repo.toplevel().join(definition), &query.frozen);
        let dirty = dirty.filter(|path| !others.contains(path) && (!as_frozen || path != definition));
        let dirty = dirty.map(|path| display_path(&path));
        let mut facts = WorkFacts {
            dirty: dirty.take(WorkFacts::MOST_FILES).collect(),
            head: head.commit,
            branch: head.branch,
            tip: tip.clone(),
            ..WorkFacts::default()
        };
        if let Some(operation) = dirt.operation {
            facts.dirty.insert(0, format!("(a {operation} that was begun and not finished)"));
        }
        if workspace.exclusive() {
            facts.locks = left_locks(repo, query.branch.as_deref());
        }
        for named in &query.commits {
            facts.commits.push(named_commit(repo, named, query.base.as_ref(), tip.as_ref())?);
        }
        let log = match &tip {
            Some(tip) => repo.log_between(query.base.as_ref(), tip)?,
            None => Vec::new(),
        };
        main_branch(workspace, query, &log, &mut facts)?;
        let Some(tip) = tip else { return Ok(Input::Inspected(facts)) };
        let lines = log.iter().map(|(commit, subject)| format!("{} {subject}", commit.short()));
        facts.log = lines.take(WorkFacts::MOST_LOG).collect();
        facts.definition_changed =
            repo.changed_between(query.base.as_ref(), &tip)?.iter().any(|change| change.path == definition)
                && repo.file_at(&tip, definition, query.frozen.len())?.as_deref()
                    != Some(query.frozen.as_bytes());
        let start = query.start.as_ref().or(query.base.as_ref());
        let changed = repo.changed_between(start, &tip)?;
        facts.changed_total = u32::try_from(changed.len()).unwrap_or(u32::MAX);
        let changed = changed.iter().map(|change| display_path(&change.path));
        facts.changed_files = changed.take(WorkFacts::MOST_FILES).collect();
        let committed = match users == Compared::default() {
            true => BTreeSet::new(),
            false => {
                let all = repo.changed_between(query.base.as_ref(), &tip)?.into_iter();
                all.filter(|change| change.kind != ChangeKind::Deleted).map(|change| change.path).collect()
            }
        };
        if query.diff {
            let diff = repo.diff_text(start, &tip, &[], WorkFacts::MOST_DIFF)?;
            // What an agent has committed may hold what no journal does (S15).
            facts.diff = diff.map(|diff| self.launcher.masker().mask_str(&diff));
        }
        if let Some(since) = &query.tests_since {
            facts.tests = self.changed_tests(repo, since, &tip)?;
        }
        self.report_touched(query.iteration, &users, &committed)?;
        self.report_committed_secrets(start, Some(&tip))?;
        Ok(Input::Inspected(facts))
    }

    /// What changed of the files that judge the work.
    fn changed_tests(&self, repo: &Repo, since: &Oid, tip: &Oid) -> Result<Option<TestsDiff>, DriverError> {
        let policy = &self.spec.policy;
        let judges = Judges { checks: &policy.checks, protect: &policy.tests.protect };
        let Some(files) = proof::changed_tests(repo, since, tip, judges)? else { return Ok(None) };
        let paths: Vec<PathBuf> = files.changed.iter().map(|file| PathBuf::from(&file.path)).collect();
        let diff = repo.diff_text(Some(since), tip, &paths, WorkFacts::MOST_DIFF)?;
        Ok(Some(TestsDiff { files, diff: diff.map(|diff| self.launcher.masker().mask_str(&diff)) }))
    }

    /// A commit of what is there, which no branch holds: the Developer commits, not we (S8, M6). Index and files stay as they are. The same tree gives the
    /// same ref's name again, so doing it twice keeps it once more at worst.
    pub(super) fn keep_work(&mut self) -> Result<Input, DriverError> {
        let Some(workspace) = self.workspace.as_mut() else { return Ok(Input::Kept { reference: None }) };
        let users = workspace.compare_users()?;
        let repo = &workspace.repo;
        if !repo.what_is_gone().is_empty() {
            return Ok(Input::Kept { reference: None });
        }
        let home: Head = repo.head()?;
        let message = format!("What {} had not committed when it was ended\n", self.spec.name);
        let prefix = format!("refs/dacapo/rescue/{}/killed", self.spec.name);
        let loose = repo.keep_loose(&CommitRequest {
            start: home.commit.as_ref(),
            home: &home,
            message: &message,
            date: local_date(Timestamp::now()),
            rescue_prefix: &prefix,
            exclusive: false,
            max_file_bytes: MAX_FILE_BYTES,
            known: &[],
            landing: None,
            apart: &workspace.not_the_agents(&users),
            secrets: None,
        })?;
        let kept = loose.kept.map(|kept| kept.name);
        for left in &loose.left_out {
            self.input(&Input::Notice(Notice::NotKept(left.into())))?;
        }
        for path in &loose.nested {
            self.input(&Input::Notice(Notice::RepositoryNotKept { path: display_path(path) }))?;
        }
        if let Some(reference) = &kept {
            self.input(&Input::Notice(Notice::Kept { reference: reference.clone() }))?;
        }
        Ok(Input::Kept { reference: kept })
    }
}

/// After an interruption all that was at work here is gone, so nobody holds these.
fn left_locks(repo: &Repo, branch: Option<&str>) -> Vec<String> {
    let own = ["index.lock", "HEAD.lock"].map(|name| repo.git_dir().join(name));
    let of_branch = branch.map(|branch| repo.common_dir().join(format!("{branch}.lock")));
    let left = own.into_iter().chain(of_branch).filter(|path| path.symlink_metadata().is_ok());
    left.map(|path| display_path(&path)).collect()
}

/// The file says exactly this.
fn reads(path: &Path, text: &str) -> bool {
    let fits = path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == text.len() as u64);
    fits && std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}

/// Where the main branch is, and which of its new commits came from here: HEAD of this working tree was at them, or they
/// are the task's. By author or time nobody can tell an agent from the person whose name it commits under.
fn main_branch(
    workspace: &Workspace,
    query: &WorkQuery,
    own: &[(Oid, String)],
    facts: &mut WorkFacts,
) -> Result<(), DriverError> {
    let Some(name) = query.main.as_ref().filter(|name| query.branch.as_ref() != Some(*name)) else {
        return Ok(());
    };
    // The user's: what an agent does with that of the task's own repository stays there.
    let (repo, own_repo) = (workspace.users(), &workspace.repo);
    facts.main = repo.read_ref(name)?;
    let Some(was) = &query.main_was else { return Ok(()) };
    let Some(now) = facts.main.as_ref().filter(|now| *now != was) else {
        facts.main_lost = facts.main.is_none();
        return Ok(());
    };
    // What is not even in the repository any more is certainly not on it.
    let kept = repo.has_commit(was)?;
    facts.main_lost = !kept || !repo.is_ancestor(was, now)?;
    let was = if kept { Some(was) } else { query.base.as_ref() };
    // The reflog of HEAD belongs to this worktree alone, unlike that of a branch.
    let been: HashSet<Oid> = own_repo.head_was_at(MOST_MOVES)?.into_iter().collect();
    let own: HashSet<&Oid> = own.iter().map(|(commit, _)| commit).collect();
    let new = repo.log_between(was, now)?.into_iter();
    let moved = new.filter(|(commit, _)| own.contains(commit) || been.contains(commit));
    let lines = moved.map(|(commit, subject)| format!("{} {subject}", commit.short()));
    facts.main_moved = lines.take(WorkFacts::MOST_FILES).collect();
    Ok(())
}

/// Of several commits with these digits none is meant; an earlier one of the user's is not the task's.
fn named_commit(
    repo: &Repo,
    named: &str,
    base: Option<&Oid>,
    tip: Option<&Oid>,
) -> Result<NamedCommit, DriverError> {
    let found = repo.commit_of_digits(named)?;
    let on_branch = match (&found, tip) {
        (Some(commit), Some(tip)) => {
            repo.is_ancestor(commit, tip)?
                && !base.map_or(Ok(false), |base| repo.is_ancestor(commit, base))?
        }
        _ => false,
    };
    Ok(NamedCommit { named: named.to_owned(), found, on_branch })
}
