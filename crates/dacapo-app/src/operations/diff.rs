//! What a task changed.

use dacapo_core::git::{Change, GitError, Oid, Repo};
use dacapo_core::view::TaskView;

use crate::App;
use crate::error::Failure;
use crate::messages::say;
use crate::present::errors;

/// The commits between which a task changed something.
#[derive(Debug)]
pub struct Diff {
    pub repo: Repo,
    pub view: TaskView,
    /// None: everything is new.
    pub from: Option<Oid>,
    /// None: nothing was committed.
    pub to: Option<Oid>,
}

impl App {
    /// What a task changed in all, or in one iteration (from 1).
    pub fn diff(&self, task: Option<&str>, iteration: Option<u32>) -> Result<Diff, Failure> {
        let (repo, dir) = self.task(task)?;
        let view = self.view(&dir)?;
        let (from, to) = range(&view, iteration)?;
        let to = to.filter(|to| Some(to) != from.as_ref());
        Ok(Diff { repo, view, from, to })
    }
}

impl Diff {
    /// The files.
    pub fn files(&self) -> Result<Vec<Change>, Failure> {
        let failed = |error: GitError| Failure::failed(errors::text(&error));
        match &self.to {
            Some(to) => self.repo.changed_between(self.from.as_ref(), to).map_err(failed),
            None => Ok(Vec::new()),
        }
    }
}

fn range(view: &TaskView, iteration: Option<u32>) -> Result<(Option<Oid>, Option<Oid>), Failure> {
    let Some(number) = iteration else {
        return Ok((view.base_commit.clone(), view.last_commit.clone()));
    };
    let index = number.checked_sub(1).map(|index| index as usize);
    let Some(record) = index.and_then(|index| view.iterations.get(index)) else {
        return Err(Failure::usage(say(|m| m.diff_no_iteration(&view.name, number)))
            .hint(say(|m| m.diff_iterations(view.iterations.len()))));
    };
    let before =
        view.iterations[..index.unwrap_or(0)].iter().rev().find_map(|record| record.commit_id.clone());
    Ok((before.or_else(|| view.base_commit.clone()), record.commit_id.clone()))
}
