//! All milestones of a repository, each with its file and what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use dacapo_core::engine::Kinds;
use dacapo_core::event::Envelope;
use dacapo_core::git::Repo;
use dacapo_core::spec::{TaskName, TaskSpec};
use dacapo_core::store::{RepoDir, TaskDir, read};
use dacapo_core::task::milestone::MilestoneView;
use dacapo_core::task::milestone::{
    Definition, Details, Milestone, MilestoneProgress, MilestoneStatus, Milestones,
};
use dacapo_core::view::{self, TaskView};

use crate::messages::{Messages, Text, say};
use crate::present::{self, errors};

use super::auto::{Auto, Candidate, next};
use super::{Folder, Mirror, Written};

/// The status of a milestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was never begun.
    Pending,
    Begun(MilestoneStatus),
}

impl Status {
    /// It is at work, or its process is gone.
    pub const IN_PROGRESS: Self = Self::Begun(MilestoneStatus::InProgress);
    /// It goes on when a person takes it up.
    pub const PAUSED: Self = Self::Begun(MilestoneStatus::Paused);
    /// Accepted; a person has the last word.
    pub const AWAITING_REVIEW: Self = Self::Begun(MilestoneStatus::AwaitingReview);
    /// Accepted for good.
    pub const COMPLETED: Self = Self::Begun(MilestoneStatus::Completed);
    /// Given up for good.
    pub const ABANDONED: Self = Self::Begun(MilestoneStatus::Abandoned);

    /// The word for it, in JSON and in the mirror.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Begun(status) => status.as_str(),
        }
    }

    pub fn in_words(self, messages: Messages) -> String {
        match self {
            Status::Pending => messages.milestone_status_pending(),
            Status::Begun(status) => present::milestone::status(status, messages),
        }
    }
}

/// All milestones of a repository, by ID.
#[derive(Debug)]
pub struct Catalog {
    folder: Folder,
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
pub struct Entry {
    /// Its ID, or the name of a file that is not a milestone.
    pub name: String,
    /// Its file; none: it is gone.
    pub written: Option<Written>,
    pub known: Known,
}

/// What is known of a milestone beside its file.
#[derive(Debug)]
pub enum Known {
    /// Nothing: it was never begun.
    Nothing,
    /// As the journal of its task says.
    Task(Box<MilestoneTask>),
    /// Its task is gone; this was mirrored.
    Mirrored(Mirror),
    /// There is something, and it does not read.
    Unreadable(Text),
    /// A task has its name and is no milestone.
    OtherTask,
}

/// What the task of a milestone tells.
pub struct MilestoneTask {
    pub dir: TaskDir,
    pub spec: Arc<TaskSpec>,
    /// As every task is shown; what only a milestone has is beside it.
    pub view: TaskView,
    /// As a milestone is shown.
    pub milestone: MilestoneView,
}

impl fmt::Debug for MilestoneTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MilestoneTask")
            .field("dir", &self.dir)
            .field("status", &self.view.status)
            .finish_non_exhaustive()
    }
}

impl MilestoneTask {
    fn read(dir: TaskDir, spec: TaskSpec, kinds: Kinds) -> Result<Self, Text> {
        let view = TaskView::load(&dir, kinds).map_err(|error| errors::text(&error))?;
        let spec = Arc::new(spec);
        let Some(milestone) = MilestoneView::of(view.own()).cloned() else {
            let why = Milestone::new(Arc::clone(&spec)).err().map(|error| errors::text(&error));
            return Err(why.unwrap_or_else(|| say(Messages::milestones_task_is_none)));
        };
        Ok(Self { dir, spec, view, milestone })
    }

    pub fn progress(&self) -> MilestoneProgress<'_> {
        self.milestone.progress()
    }

    /// The names of Developer and Acceptor.
    pub fn agents(&self) -> (String, String) {
        let name = |at: usize| self.spec.agents.get(at).map(|agent| agent.name.clone()).unwrap_or_default();
        (name(0), name(1))
    }

    /// What only a milestone has in its spec.
    pub fn details(&self) -> Option<Details> {
        serde_json::from_value(self.spec.details.clone()).ok()
    }

    /// Its process is gone in the middle of it.
    pub fn is_interrupted(&self) -> bool {
        self.view.status == view::Status::Interrupted
    }

    /// A process drives it, or it waits in a row for one.
    pub fn is_at_work(&self) -> bool {
        matches!(self.view.status, view::Status::Running | view::Status::Waiting | view::Status::Queued)
    }
}

/// What a journal holds; one that has not been begun holds nothing.
pub fn fold(dir: &TaskDir, each: impl FnMut(Envelope)) -> Result<(), Text> {
    let path = dir.journal_path();
    if path.exists() { read(&path, each).map(drop).map_err(|error| errors::text(&error)) } else { Ok(()) }
}

impl Catalog {
    /// Looks at the files and the tasks of a repository.
    pub fn read(repo: &Repo, data: &RepoDir, kinds: Kinds) -> std::io::Result<Self> {
        let folder = Folder::of(repo);
        let mut entries = BTreeMap::new();
        for written in folder.all()? {
            let known = written.id().map_or(Known::Nothing, |id| known_of(&folder, data, &id, kinds));
            let name = written.name.clone();
            entries.insert(name.clone(), Entry { name, written: Some(written), known });
        }
        // Milestones that run are shown though somebody removed their file.
        for dir in data.tasks()? {
            let name = dir.name();
            let is_milestone = || dir.spec().is_ok_and(|spec| spec.kind == Milestones::NAME);
            if entries.contains_key(&name) || !is_milestone() {
                continue;
            }
            if let Ok(id) = TaskName::parse(&name) {
                let known = known_of(&folder, data, &id, kinds);
                entries.insert(name.clone(), Entry { name, written: None, known });
            }
        }
        Ok(Self { folder, entries })
    }

    /// One milestone, without a look at the others; none: nothing is known of it.
    pub fn one(repo: &Repo, data: &RepoDir, id: &TaskName, kinds: Kinds) -> Option<Entry> {
        let folder = Folder::of(repo);
        let written = folder.written(id);
        let known = known_of(&folder, data, id, kinds);
        let nothing = written.is_none() && matches!(known, Known::Nothing | Known::OtherTask);
        (!nothing).then(|| Entry { name: id.to_string(), written, known })
    }

    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// All of them, by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The milestone that a process drives, or that waits in a row for one.
    pub fn at_work(&self) -> Option<&Entry> {
        self.entries().find(|entry| entry.task().is_some_and(MilestoneTask::is_at_work))
    }

    /// Which goes on or begins when nobody names one (M2).
    pub fn next(&self, repo: &Repo) -> Option<Auto> {
        let candidates: Vec<Candidate> =
            self.entries().filter_map(|entry| entry.candidate(repo, &self.folder)).collect();
        next(&candidates)
    }
}

/// What is known of a milestone beside its file.
pub fn known_of(folder: &Folder, data: &RepoDir, id: &TaskName, kinds: Kinds) -> Known {
    let dir = data.task(id);
    if dir.exists() {
        let spec = match dir.spec() {
            Ok(spec) => spec,
            Err(error) => return Known::Unreadable(errors::text(&error)),
        };
        if spec.kind != Milestones::NAME {
            return Known::OtherTask;
        }
        return match MilestoneTask::read(dir, spec, kinds) {
            Ok(told) => Known::Task(Box::new(told)),
            Err(error) => Known::Unreadable(say(|m| m.milestones_task_unreadable(error.in_words(m)))),
        };
    }
    let path = folder.mirror(id);
    match Mirror::read(&path) {
        Ok(Some(mirror)) if mirror.status == Status::Pending.as_str() => Known::Nothing,
        Ok(Some(mirror)) => Known::Mirrored(mirror),
        Ok(None) => Known::Nothing,
        Err(error) => Known::Unreadable(say(|m| m.error_of(&format!("{id}.json"), error.in_words(m)))),
    }
}

impl Entry {
    /// What its task tells, where it has one.
    pub fn task(&self) -> Option<&MilestoneTask> {
        match &self.known {
            Known::Task(told) => Some(told),
            Known::Nothing | Known::Mirrored(_) | Known::Unreadable(_) | Known::OtherTask => None,
        }
    }

    pub fn status(&self) -> Status {
        match &self.known {
            Known::Nothing | Known::OtherTask => Status::Pending,
            Known::Task(told) => Status::Begun(told.progress().status),
            Known::Mirrored(mirror) if mirror.status == "completed" => Status::COMPLETED,
            Known::Mirrored(mirror) if mirror.status == "abandoned" => Status::ABANDONED,
            // It was begun, and what it did is gone, or cannot be read: only a person knows whether to begin it again.
            Known::Mirrored(_) | Known::Unreadable(_) => Status::PAUSED,
        }
    }

    /// What it is to bring: of one that was begun, what it is held to; else what its file says.
    pub fn definition(&self) -> Option<&Definition> {
        match &self.known {
            Known::Task(told) => Some(told.progress().definition),
            Known::Nothing | Known::Mirrored(_) | Known::Unreadable(_) | Known::OtherTask => {
                self.written.as_ref().and_then(Written::definition)
            }
        }
    }

    /// What a person should know before anything else.
    pub fn problems(&self) -> Vec<Text> {
        let mut problems = Vec::new();
        match self.written.as_ref().map(|written| &written.read) {
            Some(Err(error)) => problems.push(error.told()),
            Some(Ok((_, definition))) => {
                let frozen = self.task().map(|told| told.progress().definition.frozen());
                let over = matches!(self.status(), Status::COMPLETED | Status::ABANDONED);
                if !over && frozen.is_some_and(|frozen| frozen != definition.frozen()) {
                    problems.push(say(|m| m.milestones_problem_changed(&self.name)));
                }
            }
            None => problems.push(say(Messages::milestones_problem_no_file)),
        }
        match &self.known {
            Known::Nothing | Known::Task(_) => {}
            Known::Mirrored(mirror) if self.status() == Status::PAUSED => {
                let was = |m| mirror.status_in_words(m);
                problems.push(say(|m| m.milestones_problem_task_gone(&was(m), &self.name)));
            }
            Known::Mirrored(_) => {}
            Known::Unreadable(error) => problems.push(error.clone()),
            Known::OtherTask => problems.push(say(|m| m.milestones_problem_name_taken(&self.name))),
        }
        problems
    }

    fn candidate(&self, repo: &Repo, folder: &Folder) -> Option<Candidate> {
        let id = TaskName::parse(&self.name).ok()?;
        match &self.known {
            Known::Task(told) if told.is_interrupted() => {
                Some(Candidate::Gone { id, begun: told.spec.created_at })
            }
            Known::Nothing => {
                let written = self.written.as_ref()?;
                let settings = &written.definition()?.settings;
                if !settings.auto_start {
                    return None;
                }
                let created = settings.created;
                let path = written.path.strip_prefix(folder.top()).unwrap_or(Path::new("."));
                // A process of git for each that does not say: only where it counts.
                let first_commit =
                    if created.is_none() { repo.first_commit_of(path).ok().flatten() } else { None };
                Some(Candidate::Pending { id, created, first_commit, modified: written.modified })
            }
            Known::Task(_) | Known::Mirrored(_) | Known::Unreadable(_) | Known::OtherTask => None,
        }
    }
}
