//! What git says about the work of a milestone, and how what nobody has committed is kept.

use std::path::Path;

use jiff::Timestamp;

use super::driver::Driver;
use super::machine::{Input, WorkQuery};
use super::surroundings::DriverError;
use super::workspace::{MAX_FILE_BYTES, local_date};
use crate::event::{NamedCommit, WorkFacts};
use crate::git::{CommitRequest, Head, Oid, Repo, display_path};

impl Driver<'_> {
    /// Looks, and changes nothing: doing it again is harmless.
    pub(super) fn inspect_work(&mut self, query: &WorkQuery) -> Result<Input, DriverError> {
        let workspace = self.workspace()?;
        let repo = &workspace.repo;
        let gone = repo.what_is_gone();
        if !gone.is_empty() {
            let gone: Vec<String> = gone.iter().map(ToString::to_string).collect();
            return Ok(Input::WorkspaceFailed(gone.join("; ")));
        }
        let head = repo.head()?;
        let tip = match &query.branch {
            Some(branch) => repo.read_ref(branch)?,
            None => head.commit.clone(),
        };
        let dirt = repo.dirt()?;
        let others = workspace.not_the_agents();
        let dirty = dirt.tracked.into_iter().chain(dirt.untracked).chain(dirt.unmerged);
        let dirty = dirty.filter(|path| !others.contains(path)).map(|path| display_path(&path));
        let mut facts = WorkFacts {
            dirty: dirty.take(WorkFacts::MOST_FILES).collect(),
            head: head.commit,
            branch: head.branch,
            ..WorkFacts::default()
        };
        if let Some(operation) = dirt.operation {
            facts.dirty.insert(0, format!("(a {operation} that was begun and not finished)"));
        }
        for named in &query.commits {
            facts.commits.push(named_commit(repo, named, query.base.as_ref(), tip.as_ref())?);
        }
        let Some(tip) = tip else { return Ok(Input::Inspected(facts)) };
        let log = repo.log_between(query.base.as_ref(), &tip)?;
        let lines = log.iter().map(|(commit, subject)| format!("{} {subject}", commit.short()));
        facts.log = lines.take(WorkFacts::MOST_LOG).collect();
        facts.definition_changed = repo
            .changed_between(query.base.as_ref(), &tip)?
            .iter()
            .any(|change| change.path == Path::new(&query.definition));
        let changed = repo.changed_between(query.start.as_ref().or(query.base.as_ref()), &tip)?;
        facts.changed_total = u32::try_from(changed.len()).unwrap_or(u32::MAX);
        let changed = changed.iter().map(|change| display_path(&change.path));
        facts.changed_files = changed.take(WorkFacts::MOST_FILES).collect();
        Ok(Input::Inspected(facts))
    }

    /// A commit of what is there, which no branch holds: the Developer commits, not we (S8, M6). The same tree gives the
    /// same ref's name again, so doing it twice keeps it once more at worst.
    pub(super) fn keep_work(&mut self) -> Result<Input, DriverError> {
        let Some(workspace) = &self.workspace else { return Ok(Input::Kept { reference: None }) };
        let repo = &workspace.repo;
        if !repo.what_is_gone().is_empty() {
            return Ok(Input::Kept { reference: None });
        }
        let home: Head = repo.head()?;
        let message = format!("What {} had not committed when it was ended\n", self.spec.name);
        let prefix = format!("refs/dacapo/rescue/{}/killed", self.spec.name);
        let prepared = repo.prepare_commit(&CommitRequest {
            start: home.commit.as_ref(),
            home: &home,
            message: &message,
            date: local_date(Timestamp::now()),
            rescue_prefix: &prefix,
            exclusive: false,
            max_file_bytes: MAX_FILE_BYTES,
            known: &[],
            landing: None,
            skip: &workspace.not_the_agents(),
        })?;
        let kept = match &prepared.commit {
            Some(commit) => Some(repo.keep_commit(&prefix, &commit.oid)?.name),
            None => None,
        };
        for problem in &prepared.problems {
            self.input(&Input::Notice(format!("not kept under a ref: {problem}")))?;
        }
        if let Some(reference) = &kept {
            self.input(&Input::Notice(format!("what was not committed is kept as {reference}")))?;
        }
        Ok(Input::Kept { reference: kept })
    }
}

/// Of several commits with these digits none is meant; an earlier one of the user's is not the milestone's.
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
