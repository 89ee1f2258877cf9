//! Many tasks at a glance: what a list shows of each, read from an index where the task's journal is as it was, and
//! folded from the journal where it is not.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::cut_chars;
use crate::engine::{KindView, Kinds};
use crate::event::{NeedKind, Outcome, StopDetail, StopReason, TestsMark, TestsResult};
use crate::git::Oid;
use crate::store::{Index, RepoDir, Stamp, TaskDir};
use crate::view::{CurrentStep, Status, TaskView, ViewError};

/// Words of an agent or a person that a list shows: one line is all it has for them.
const MOST_WORDS: usize = 300;
/// Of a prompt there is room for less.
const MOST_PROMPT: usize = 100;

/// All tasks of a repository, by name.
#[derive(Debug)]
pub struct Overview<T> {
    /// Tasks that could be read.
    pub tasks: Vec<T>,
    /// Those that do not: one must not hide the others.
    pub problems: Vec<Problem>,
}

/// A task that does not read.
#[derive(Debug)]
pub struct Problem {
    pub name: String,
    pub path: PathBuf,
    pub error: ViewError,
}

/// What a surface wants to know of each of many tasks. It must follow from the journal alone, and from whether a process
/// drives the task.
pub trait Glance: Serialize + DeserializeOwned {
    /// The file that it is kept in, beside the tasks.
    const INDEX: &'static str;

    /// What the journal says.
    fn of(view: &TaskView) -> Self;

    fn status(&self) -> Status;

    /// The same task, shown as interrupted because no process drives it.
    fn interrupted(self) -> Self;
}

/// Looks at all tasks of a repository. `now` decides which journals are old enough to be remembered.
pub fn overview<T: Glance>(repo: &RepoDir, kinds: Kinds, now: SystemTime) -> io::Result<Overview<T>> {
    let dirs = repo.tasks()?;
    let mut found = Overview { tasks: Vec::with_capacity(dirs.len()), problems: Vec::new() };
    if dirs.is_empty() {
        return Ok(found);
    }
    let parent = File::open(repo.tasks_path())?;
    let mut index = Index::open(repo.path().join(T::INDEX), now);
    for dir in &dirs {
        match look(dir, kinds, &parent, &mut index) {
            Ok(glance) => found.tasks.push(glance),
            Err(error) => {
                found.problems.push(Problem { name: dir.name(), path: dir.path().to_owned(), error });
            }
        }
    }
    index.save(|name| dirs.binary_search_by(|dir| dir.name().as_str().cmp(name)).is_ok());
    Ok(found)
}

fn look<T: Glance>(dir: &TaskDir, kinds: Kinds, parent: &File, index: &mut Index<T>) -> Result<T, ViewError> {
    /// A task that is started and ends again and again while it is looked at is at work.
    const LOOKS: usize = 3;
    let name = dir.name();
    let journal = Path::new(&name).join("journal.jsonl");
    let mut looks = 0;
    loop {
        looks += 1;
        // Taken before the journal is read: what is written in between makes the entry count for nothing, instead of
        // hiding it.
        let stamp = Stamp::below(parent, &journal).ok();
        let known = stamp.as_ref().and_then(|stamp| index.get(&name, stamp));
        let (glance, new) = match known {
            Some(glance) => (glance, false),
            None => (T::of(&TaskView::fold(dir, kinds)?), true),
        };
        let settled = glance.status().is_settled();
        // Only of tasks without an end: for a settled one the lock says nothing, and it costs two more calls for each
        // of a thousand.
        if !settled && dir.is_driven().map_err(ViewError::Lock)? {
            return Ok(glance);
        }
        // It may have ended between the two looks (K2).
        if !settled && Stamp::below(parent, &journal).ok() != stamp && looks < LOOKS {
            continue;
        }
        if new && let Some(stamp) = stamp {
            index.put(&name, stamp, &glance);
        }
        return Ok(if settled { glance } else { glance.interrupted() });
    }
}

/// What a list for people says of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    pub name: String,
    /// The checkout it was asked for in.
    pub repo: String,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Proven, not merely claimed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub verified: bool,
    /// What is said of its tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestsMark>,
    /// Why its record cannot be relied on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_record: Option<String>,
    /// Its checks did not pass at the end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub red: bool,
    /// Files that a person has left uncommitted in its worktree.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_by_hand: u64,
    /// Active time until something happened last.
    #[serde(default)]
    pub elapsed_seconds: f64,
    /// When the newest event happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
    /// What it is doing, where it is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<CurrentStep>,
    /// What was asked, the beginning of it.
    #[serde(default)]
    pub prompt: String,
    /// What a person is needed for, as much of it as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<NeedKind>,
    /// What more its result says, as much of it as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<StopDetail>,
    /// Iterations finished.
    pub iteration: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Cost so far, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The agent at work.
    pub agent: String,
    /// When its limit ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_until: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When it joined the row of those who wait for a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// It works in a worktree of its own, on this branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_branch: Option<String>,
    /// The branch that has taken its work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
    /// The pull request that offers its branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// The commit it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<Oid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<Oid>,
    #[serde(default)]
    pub kind: String,
    /// What only that kind has ([`crate::engine::KindView::brief`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Brief {
    /// Whether it has left commits.
    pub fn has_changes(&self) -> bool {
        self.last_commit.is_some() && self.last_commit != self.base_commit
    }

    /// Whether it stands because a person paused it: nothing is asked.
    pub fn is_paused_by_hand(&self) -> bool {
        self.status == Status::Paused && matches!(self.needs, Some(NeedKind::Resume { .. }))
    }

    /// Returns true if a person approved its changed tests.
    pub fn has_approved_tests(&self) -> bool {
        self.tests == Some(TestsMark::Approved) && self.broken_record.is_none()
    }

    /// Whether the agent itself asks, and goes on with an answer (L18).
    pub fn is_blocked(&self) -> bool {
        matches!(self.needs, Some(NeedKind::Blocked { .. }))
    }
}

impl Glance for Brief {
    const INDEX: &'static str = "tasks.index";

    fn of(view: &TaskView) -> Self {
        let result = view.result.as_ref();
        Self {
            name: view.name.clone(),
            repo: view.repo.clone(),
            status: view.status,
            outcome: view.outcome,
            stop_reason: result.map(|result| result.stop_reason),
            verified: view.verified,
            tests: view.tests().and_then(TestsResult::mark),
            broken_record: view.record.summary(),
            red: result.is_some_and(|result| result.proof.iter().any(|proof| proof.after == Some(false))),
            left_by_hand: view.left_by_hand,
            elapsed_seconds: view.elapsed_seconds,
            last_at: view.last_at,
            doing: view.doing.clone(),
            prompt: cut_chars(&view.prompt, MOST_PROMPT),
            needs: view.needs.as_ref().map(|needs| needs.kind.cut(MOST_WORDS)),
            detail: result.and_then(|result| result.detail.as_ref()).map(|detail| detail.cut(MOST_WORDS)),
            iteration: view.iteration,
            max_iterations: view.max_iterations,
            cost_usd: view.cost_usd,
            agent: view.agent.clone(),
            waiting_until: view.waiting_until,
            created_at: view.created_at,
            queued_at: view.queued_at,
            finished_at: view.finished_at,
            own_branch: view.worktree.as_ref().and(view.branch.clone()),
            merged_into: view.merged.as_ref().map(|merged| merged.into.clone()),
            pull_request: view.pull_request.clone(),
            base_commit: view.base_commit.clone(),
            last_commit: view.last_commit.clone(),
            kind: view.kind.clone(),
            own: view.own().map(KindView::brief).filter(|brief| !brief.is_null()),
        }
    }

    fn status(&self) -> Status {
        self.status
    }

    fn interrupted(mut self) -> Self {
        self.status = Status::Interrupted;
        self.doing = None;
        self.own.iter_mut().for_each(nobody_at_work);
        self
    }
}

/// What a kind says of a task that nobody drives.
pub fn nobody_at_work(own: &mut Value) {
    if let Some(at_work) = own.get_mut("at_work") {
        *at_work = Value::Null;
    }
}

#[cfg(test)]
mod tests;
