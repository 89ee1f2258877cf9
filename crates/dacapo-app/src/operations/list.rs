//! The tasks of a repository, or of all.

use std::collections::HashMap;
use std::time::{Instant, SystemTime};

use dacapo_core::git::{self, Oid};
use dacapo_core::overview::{Brief, Glance, Overview, nobody_at_work, overview};
use dacapo_core::proof::Pool;
use dacapo_core::radar::Known;
use dacapo_core::spec::TaskName;
use dacapo_core::store::{Home, RepoDir, disk_usage};
use dacapo_core::view::{Status, TaskView};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::App;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::note::Note;
use crate::present::errors;
use crate::present::json::task::{ListedTask, Task};
use crate::present::listing::rows::row;
use crate::present::listing::{Conflict, Entry, MergeForecast};
use crate::present::next::Next;
use crate::present::words;
use crate::sizes::{MEASURE_AT_MOST, Measure, Occupied};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those of the repository around the user's directory.
    Repository,
    /// Those of all repositories.
    Everywhere,
}

/// Tasks, for people.
#[derive(Debug)]
pub struct Listed {
    /// Each with what is known of it beside its journal.
    pub entries: Vec<Entry>,
    /// How many there are in repositories that were not asked for.
    pub elsewhere: usize,
    /// Checkouts in which commits are proven, and what they take on disk, where that was to be measured.
    pub proofs: Option<(usize, u64)>,
}

impl App {
    /// The tasks, with all that people want to see of them at a glance.
    pub fn list(&self, scope: Scope, measure: Measure) -> Result<Listed, Failure> {
        let home = self.home()?;
        let repos = self.repositories(&home, scope)?;
        let mut entries = Vec::new();
        for repo in &repos {
            let known = Occupied::of(repo, measure);
            let mut briefs = glance::<Brief>(self, repo)?;
            briefs
                .iter_mut()
                .filter(|brief| brief.left_by_hand > 0)
                .for_each(|brief| look_again(self, repo, brief));
            for brief in &briefs {
                clear_up_if_interrupted(self, repo, &brief.name, brief.status);
            }
            let marks = Marks::of(self, repo, briefs.iter(), scope);
            entries.extend(briefs.into_iter().map(|brief| entry(brief, &known, &marks)));
        }
        let elsewhere = if scope == Scope::Repository { elsewhere(&home, &repos) } else { 0 };
        let proofs = (measure == Measure::Now).then(|| proofs(&repos));
        Ok(Listed { entries, elsewhere, proofs })
    }

    pub fn list_json(&self, scope: Scope, measure: Measure) -> Result<Vec<ListedTask>, Failure> {
        let (mut listed, now) = (Vec::new(), Timestamp::now());
        for repo in &self.repositories(&self.home()?, scope)? {
            let known = Occupied::of(repo, measure);
            let mut elements = glance::<Element>(self, repo)?;
            for Element { brief, task } in &mut elements {
                clear_up_if_interrupted(self, repo, &brief.name, brief.status);
                if brief.left_by_hand > 0 {
                    look_again(self, repo, brief);
                    task["uncommitted_total"] = brief.left_by_hand.into();
                }
            }
            let marks = Marks::of(self, repo, elements.iter().map(|element| &element.brief), scope);
            listed.extend(elements.into_iter().map(|Element { brief, task }| {
                let worktree_bytes = known.worktree(&brief.name, Some(&brief.created_at.to_string()));
                let (merges, entry) = (marks.forecast(&brief), entry(brief, &known, &marks));
                let row = row(&entry, now);
                let command = row.next.command_line(Messages::ENGLISH);
                let next = vec![Next { act: None, command, meaning: String::new() }];
                let disk_bytes = entry.occupies;
                ListedTask { task, group: row.group, merges, next, worktree_bytes, disk_bytes }
            }));
        }
        Ok(listed)
    }

    pub(super) fn repositories(&self, home: &Home, scope: Scope) -> Result<Vec<RepoDir>, Failure> {
        match scope {
            Scope::Repository => Ok(vec![self.repository_data()?]),
            Scope::Everywhere => all(home),
        }
    }
}

fn clear_up_if_interrupted(app: &App, repo: &RepoDir, name: &str, status: Status) {
    if status == Status::Interrupted
        && let Ok(name) = TaskName::parse(name)
    {
        app.clear_up_behind(&repo.task(&name));
    }
}

/// What a takeover left may be committed by now. Only such tasks are looked at, so that the rest costs nothing.
fn look_again(app: &App, repo: &RepoDir, brief: &mut Brief) {
    let tree = TaskName::parse(&brief.name).ok().and_then(|name| app.discover(&repo.worktree(&name)).ok());
    if let Some(dirt) = tree.and_then(|tree| tree.dirt().ok()) {
        brief.left_by_hand = dirt.count() as u64;
    }
}

/// What belongs to no task: checkouts in which commits are proven.
fn proofs(repos: &[RepoDir]) -> (usize, u64) {
    let deadline = Instant::now() + MEASURE_AT_MOST;
    let all: Vec<_> = repos
        .iter()
        .flat_map(|repo| Pool::at(repo.path().to_owned()).leftovers().unwrap_or_default())
        .collect();
    (all.len(), all.iter().map(|checkout| disk_usage(&checkout.path, deadline).0).sum())
}

/// The one place where what is known of a task beside its journal is put to it.
fn entry(brief: Brief, known: &Occupied, marks: &Marks) -> Entry {
    let occupies = known.task(&brief.name, Some(&brief.created_at.to_string()));
    Entry { radar: marks.forecast(&brief).as_ref().map(MergeForecast::radar), brief, occupies }
}

/// A task as `list --json` needs it, kept in an index of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Element {
    brief: Brief,
    /// What [`Task`] says of it.
    task: Value,
}

impl Glance for Element {
    const INDEX: &'static str = "tasks-json.index";

    fn of(view: &TaskView) -> Self {
        Self { brief: Brief::of(view), task: serde_json::to_value(Task::of(view)).unwrap_or_default() }
    }

    fn status(&self) -> Status {
        self.brief.status
    }

    fn interrupted(self) -> Self {
        let Self { brief, mut task } = self;
        task["status"] = Status::Interrupted.as_str().into();
        task["pid"] = Value::Null;
        if let Some(fields) = task.as_object_mut() {
            fields.remove("doing");
            fields.get_mut(&brief.kind).into_iter().for_each(nobody_at_work);
        }
        Self { brief: brief.interrupted(), task }
    }
}

/// What the conflict radar knows of a repository's tasks. Nothing is looked up here: that costs milliseconds a pair (K13).
#[derive(Default)]
struct Marks {
    known: Known,
    /// The branch that tasks would be merged into, and its tip.
    into: Option<(String, Oid)>,
    /// Tasks by the tip of their branch.
    tasks: HashMap<Oid, String>,
}

impl Marks {
    fn of<'a>(app: &App, repo: &RepoDir, briefs: impl Iterator<Item = &'a Brief>, scope: Scope) -> Self {
        let here = app.place().ok().filter(|_| scope == Scope::Repository);
        let Some(here) = here else { return Self::default() };
        let tasks = briefs.filter(|brief| is_out(brief));
        Self {
            known: dacapo_core::radar::Radar::of(repo).known(),
            into: git::current_branch(&here),
            tasks: tasks.filter_map(|brief| Some((brief.last_commit.clone()?, brief.name.clone()))).collect(),
        }
    }

    /// None: it has nothing to merge, or nobody has looked yet.
    fn forecast(&self, brief: &Brief) -> Option<MergeForecast> {
        let tip = brief.last_commit.as_ref().filter(|_| is_out(brief))?;
        let (name, into) = self.into.as_ref()?;
        let branch = words::branch(name).to_owned();
        // It began where that branch is now.
        let ahead = brief.base_commit.as_ref() == Some(into);
        let conflict = if ahead { Some(false) } else { self.known.conflict(tip, into) };
        let files = |other: &Oid| self.known.files(tip, other);
        let with_branch = (conflict == Some(true)).then(|| Conflict {
            branch: Some(branch.clone()),
            task: None,
            files: files(into),
        });
        let rivals = self.known.rivals(tip).iter().filter_map(|other| Some((other, self.tasks.get(other)?)));
        let with_tasks = rivals.map(|(other, task)| Conflict {
            branch: None,
            task: Some(task.clone()),
            files: files(other),
        });
        let conflicts: Vec<Conflict> = with_branch.into_iter().chain(with_tasks).collect();
        let cleanly = conflicts.is_empty();
        (conflict.is_some() || !cleanly).then_some(MergeForecast { cleanly, into: branch, conflicts })
    }
}

/// It has work on a branch of its own.
fn is_out(brief: &Brief) -> bool {
    brief.own_branch.is_some() && brief.merged_into.is_none() && brief.has_changes()
}

fn all(home: &Home) -> Result<Vec<RepoDir>, Failure> {
    let mut repos =
        home.repos().map_err(|error| Failure::failed(say(|m| m.data_unreadable(&error.to_string()))))?;
    repos.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(repos)
}

/// Tasks of other repositories than these.
fn elsewhere(home: &Home, here: &[RepoDir]) -> usize {
    let repos = home.repos().unwrap_or_default();
    let others = repos.iter().filter(|repo| !here.contains(repo));
    others.map(|repo| repo.tasks().map_or(0, |tasks| tasks.len())).sum()
}

/// The tasks of a repository, from its index where that is up to date. One that does not read hides no other.
pub fn glance<T: Glance>(app: &App, repo: &RepoDir) -> Result<Vec<T>, Failure> {
    let Overview { tasks, problems } = overview(repo, app.kinds, SystemTime::now()).map_err(|error| {
        Failure::failed(say(|m| m.cannot_read(&repo.path().display().to_string(), &error.to_string())))
    })?;
    for problem in problems {
        app.note(&Note::TaskUnreadable {
            task: problem.name.clone(),
            error: errors::text(&problem.error),
            path: problem.path.to_string_lossy().into_owned(),
        });
    }
    Ok(tasks)
}
