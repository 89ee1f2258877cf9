//! What a task changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dacapo_core::git::{Change, FileStat, GitError, Lines, Oid, Repo, Whitespace};
use dacapo_core::store::TaskDir;
use dacapo_core::view::TaskView;

use crate::App;
use crate::error::Failure;
use crate::messages::say;
use crate::present::errors;

/// Which part of what a task changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiffPart {
    #[default]
    All,
    /// One iteration, counted from 1.
    Iteration(u32),
    /// The tests, settings and scripts that judge its work.
    Tests,
}

impl DiffPart {
    /// The iteration, where it is one.
    pub fn iteration(self) -> Option<u32> {
        match self {
            DiffPart::Iteration(number) => Some(number),
            DiffPart::All | DiffPart::Tests => None,
        }
    }
}

/// The commits between which a task changed something.
#[derive(Debug)]
pub struct Diff {
    pub repo: Repo,
    pub view: TaskView,
    /// `None` if everything is new.
    pub from: Option<Oid>,
    /// `None` if nothing was committed.
    pub to: Option<Oid>,
    /// Only these files, from the top of the repository; empty: all.
    pub paths: Vec<PathBuf>,
}

impl App {
    /// What a task changed, all or a part of it.
    pub fn diff(&self, task: Option<&str>, part: DiffPart) -> Result<Diff, Failure> {
        let (repo, dir) = self.task(task)?;
        let view = self.view(&dir)?;
        let (from, to) = range(&view, part.iteration())?;
        let mut to = to.filter(|to| Some(to) != from.as_ref());
        let mut paths = Vec::new();
        if part == DiffPart::Tests {
            let changed = view.tests().map(|tests| tests.changed.as_slice()).unwrap_or_default();
            paths = changed.iter().map(|file| PathBuf::from(&file.path)).collect();
            to = to.filter(|_| !paths.is_empty());
        }
        Ok(Diff { repo, view, from, to, paths })
    }
}

/// Of a long loop the newest iterations are counted.
const MOST_COUNTED: usize = 100;

impl App {
    /// How many lines each iteration added and removed, by its number from 0.
    pub fn lines_changed(&self, dir: &TaskDir) -> Result<HashMap<u32, (u64, u64)>, Failure> {
        let (repo, _) = self.repository()?;
        let view = self.view(dir)?;
        let mut counted = HashMap::new();
        let skipped = view.iterations.len().saturating_sub(MOST_COUNTED);
        for record in view.iterations.iter().skip(skipped).filter(|record| record.commit_id.is_some()) {
            let (from, to) = range(&view, Some(record.iteration + 1))?;
            let Some(to) = to else { continue };
            let files = repo
                .stat_between(from.as_ref(), &to, Whitespace::Counts, &[])
                .map_err(|error| failed(&error))?;
            let sum = files.iter().fold((0, 0), |(all_added, all_removed), file| match file.lines {
                Lines::Counted { added, removed } => (all_added + added, all_removed + removed),
                Lines::Binary | Lines::New => (all_added, all_removed),
            });
            counted.insert(record.iteration, sum);
        }
        Ok(counted)
    }
}

fn failed(error: &GitError) -> Failure {
    Failure::failed(errors::text(error))
}

impl Diff {
    /// The files, with how many lines of each.
    pub fn stat(&self, whitespace: Whitespace) -> Result<Vec<FileStat>, Failure> {
        match &self.to {
            Some(to) => self
                .repo
                .stat_between(self.from.as_ref(), to, whitespace, &self.paths)
                .map_err(|error| failed(&error)),
            None => Ok(Vec::new()),
        }
    }

    /// The patch, into a file: it may be of any size.
    pub fn write_patch(&self, whitespace: Whitespace, to_file: &Path) -> Result<(), Failure> {
        match &self.to {
            Some(to) => self
                .repo
                .write_patch(self.from.as_ref(), to, whitespace, &self.paths, to_file)
                .map_err(|error| failed(&error)),
            None => Ok(()),
        }
    }

    /// The files, without their lines.
    pub fn files(&self) -> Result<Vec<Change>, Failure> {
        match &self.to {
            Some(to) => {
                let mut all =
                    self.repo.changed_between(self.from.as_ref(), to).map_err(|error| failed(&error))?;
                all.retain(|change| self.paths.is_empty() || self.paths.contains(&change.path));
                Ok(all)
            }
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
