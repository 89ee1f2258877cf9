//! Brings tasks home: everything is checked first, then the plan is told, then they are merged one by one (S11).

use dacapo_core::engine::DriverContext;
use dacapo_core::git::{MergeStyle, Oid, Repo};
use dacapo_core::merge::{Halt, LeftOut, MergeObserver, Merger, Outcome, Planned, take_back_cut_short};
use dacapo_core::radar::Radar;
use dacapo_core::store::{InheritedLocks, Lock, LockError, LockTarget, RepoDir, WorkspaceLock, files};
use dacapo_core::view::{MergedInto, TaskView};
use serde::{Deserialize, Serialize};

use super::run::context_by;
use super::start::{MERGE_HOLDER, take_workspace};
use crate::App;
use crate::config::{Loaded, load};
use crate::error::Failure;
use crate::messages::{Text, say};
use crate::note::Note;
use crate::present::errors;
use crate::present::{left_out, words};
use crate::question::{Answers, NotYet};
use crate::trust::Using;

mod candidates;
mod room;

use candidates::{Gathered, gather};

/// What every refusal keeps.
fn unmerged() -> Text {
    say(|m| m.kept_nothing_merged())
}

/// What is to be merged into the branch that is checked out, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MergeRequest {
    /// The tasks, in the order in which they are merged.
    pub tasks: Vec<String>,
    /// All tasks that are proven and ready, the oldest first.
    pub ready: bool,
    /// What an agent is to heed when it joins them.
    pub query: Option<String>,
    /// One new commit a task, without its history.
    pub squash: bool,
    /// Who resolves conflicts; none: the task's own agent.
    pub agent: Option<String>,
    /// Any command as agent.
    pub agent_cmd: Option<String>,
    /// The model the agent is to use.
    pub model: Option<String>,
    /// Nobody resolves conflicts.
    pub no_agent: bool,
    /// Commits that hold a known secret are merged too.
    pub allow_secret: bool,
}

/// What a merge would do.
#[derive(Debug)]
pub struct MergePlan {
    /// The branch (full name).
    pub into: String,
    pub from: Oid,
    /// Each task, in order.
    pub tasks: Vec<Planned>,
    /// Each of the same tasks as it stands.
    pub views: Vec<TaskView>,
    /// Those that have been merged before, and where they went.
    pub merged: Vec<(String, MergedInto)>,
    /// Warnings about the settings.
    pub warnings: Vec<String>,
}

/// What came of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// Tasks that could not be merged.
    pub left_out: usize,
    /// It was stopped before the last task.
    pub halted: bool,
}

pub trait ObserveMerge: MergeObserver {
    /// It begins: `halt` stops it in good order from now on.
    fn begins(&mut self, halt: &Halt) -> Result<(), Failure> {
        let _ = halt;
        Ok(())
    }

    fn plan(&mut self, plan: &MergePlan);

    /// What became of a task.
    fn outcome(&mut self, branch: &str, name: &str, outcome: &Outcome);

    /// All is done; where the branch was, and where it is.
    fn finished(&mut self, from: &Oid, now: Option<&Oid>);
}

/// Everything that a merge holds and knows before it begins.
struct Prepared {
    repo: Repo,
    data: RepoDir,
    into: String,
    from: Oid,
    loaded: Loaded,
    gathered: Gathered,
}

impl App {
    /// What a merge would do. Nothing is changed, and nothing runs, so it needs nobody's word.
    pub fn merge_plan(&self, request: &MergeRequest) -> Result<MergePlan, Failure> {
        let (repo, data) = self.repository()?;
        let (into, from) = current_branch(&repo)?;
        let loaded = load(&self.project_sources(repo.toplevel()))?;
        let gathered = gather(self, request, (&repo, &data), &loaded.config, &into)?;
        room::look(&repo, &from, &gathered.candidates)?;
        let prepared = Prepared { repo, data, into, from, loaded, gathered };
        let limits = self.home()?.limits();
        let setting = || context_by(self, limits.clone());
        let plan = prepared.plan(&prepared.merger(self, request, &setting));
        prepared.survey(self);
        plan
    }

    /// Merges tasks into the branch that is checked out.
    pub fn merge(
        &self,
        request: &MergeRequest,
        answers: &Answers,
        observer: &mut dyn ObserveMerge,
    ) -> Result<Merged, NotYet> {
        let (repo, data) = self.repository()?;
        let (into, from) = current_branch(&repo)?;
        let agents =
            if request.agent_cmd.is_some() || request.no_agent { Some("") } else { request.agent.as_deref() };
        let uses = [Using::Agents(agents), Using::Checks, Using::Setup];
        let loaded = self.settings(repo.toplevel(), &uses, answers)?;
        let merging = one_at_a_time(&data)?;
        repo.hand_down(&merging);
        let _at_work = self.at_work(&repo, &data);
        let gathered = gather(self, request, (&repo, &data), &loaded.config, &into)?;
        take_back(self, &repo, &gathered, &into)?;
        room::look(&repo, &from, &gathered.candidates)?;
        let workspace = take_workspace(&repo, MERGE_HOLDER)?;
        repo.hand_down(workspace.lock());
        // Checks and agents work beside the tasks: what they hold keeps another merge away.
        let locks = InheritedLocks::of(std::iter::once(&merging).chain([WorkspaceLock::lock(&workspace)]));
        let prepared = Prepared { repo, data, into, from, loaded, gathered };
        let limits = self.home()?.limits();
        let setting = || DriverContext { locks: locks.clone(), ..context_by(self, limits.clone()) };
        let merger = prepared.merger(self, request, &setting);
        let merged = prepared.bring_home(&merger, observer)?;
        prepared.survey(self);
        Ok(merged)
    }
}

impl Prepared {
    fn merger<'a>(
        &'a self,
        app: &App,
        request: &MergeRequest,
        setting: &'a dyn Fn() -> DriverContext,
    ) -> Merger<'a> {
        let config = &self.loaded.config;
        Merger {
            repo: &self.repo,
            data: &self.data,
            kinds: app.kinds,
            into: self.into.clone(),
            how: if request.squash { MergeStyle::Squash } else { MergeStyle::Merge },
            query: request.query.clone(),
            setup: config.worktree.setup.clone(),
            cache: config.proof.cache.into(),
            setup_timeout: config.worktree.setup_timeout.duration(),
            allow_secret: request.allow_secret,
            setting,
            halt: Halt::ringing(app.supervision.stop_signal()),
        }
    }

    fn plan(&self, merger: &Merger<'_>) -> Result<MergePlan, Failure> {
        Ok(MergePlan {
            into: self.into.clone(),
            from: self.from.clone(),
            tasks: merger.plan(&self.gathered.candidates).map_err(|error| failed(&error))?,
            views: self.gathered.candidates.iter().map(|candidate| candidate.view.clone()).collect(),
            merged: self.gathered.merged.clone(),
            warnings: self.loaded.warnings.iter().map(ToString::to_string).collect(),
        })
    }

    /// What lists show of conflicts is looked up here, where somebody waits anyway.
    fn survey(&self, app: &App) {
        if let Err(error) = Radar::of(&self.data).survey(&self.repo, &self.into, &app.kinds.branches()) {
            tracing::debug!(%error, "the conflict radar could not be brought up to date");
        }
    }

    fn bring_home(&self, merger: &Merger<'_>, observer: &mut dyn ObserveMerge) -> Result<Merged, Failure> {
        observer.begins(&merger.halt)?;
        merger.clear_up().map_err(|error| failed(&error))?;
        observer.plan(&self.plan(merger)?);
        let mut merged = Merged { left_out: 0, halted: false };
        for candidate in &self.gathered.candidates {
            let outcome = merger.merge(candidate, observer);
            observer.outcome(&candidate.branch, candidate.spec.name.as_str(), &outcome);
            match outcome {
                Outcome::LeftOut(_) => merged.left_out += 1,
                Outcome::Halted => {
                    merged.halted = true;
                    break;
                }
                Outcome::Merged(_) | Outcome::AlreadyThere(_) | Outcome::Empty => {}
            }
        }
        let now = merger.repo.head().ok().and_then(|head| head.commit);
        observer.finished(&self.from, now.as_ref());
        Ok(merged)
    }
}

fn failed(error: &LeftOut) -> Failure {
    Failure::failed(left_out::why(error)).kept(unmerged())
}

/// Files that a merge was moving here when it was killed go back first: they are nobody's changes.
fn take_back(app: &App, repo: &Repo, gathered: &Gathered, into: &str) -> Result<(), Failure> {
    for candidate in &gathered.candidates {
        let files = take_back_cut_short(repo, candidate, into)
            .map_err(|error| Failure::failed(errors::text(&error)).kept(unmerged()))?;
        if files > 0 {
            app.note(&Note::MergeTakenBack { task: candidate.spec.name.to_string(), files });
        }
    }
    Ok(())
}

/// The branch that is checked out here, and where it is.
fn current_branch(repo: &Repo) -> Result<(String, Oid), Failure> {
    let head = repo.head().map_err(|error| Failure::failed(errors::text(&error)))?;
    match (head.branch, head.commit) {
        (Some(branch), Some(commit)) => Ok((branch, commit)),
        (None, _) => Err(Failure::usage(say(|m| m.merge_detached()))
            .kept(unmerged())
            .hint(say(|m| m.merge_switch_to_branch()))),
        (Some(branch), None) => {
            Err(Failure::usage(say(|m| m.merge_branch_without_commits(words::branch(&branch))))
                .kept(unmerged())
                .hint(say(|m| m.merge_switch_branch())))
        }
    }
}

/// Two merges in one repository would each prove something that is not there any more (R4).
fn one_at_a_time(data: &RepoDir) -> Result<Lock, Failure> {
    let made = files::make_dir(data.path());
    made.map_err(|error| {
        let path = data.path().display().to_string();
        Failure::failed(say(|m| m.cannot_be_written(&path, &error.to_string())))
    })?;
    // Nothing else locks the directory of a repository's data.
    let target = LockTarget::dir(data.path().to_owned(), data.path().join("merge.lock"));
    Lock::take(&target).map_err(|error| match error {
        LockError::Held => Failure::usage(say(|m| m.merge_under_way()))
            .kept(unmerged())
            .hint(say(|m| m.merge_wait_then_merge())),
        LockError::Lingering => Failure::usage(say(|m| m.merge_still_finishing()))
            .kept(unmerged())
            .hint(say(|m| m.merge_wait_then_merge())),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => {
            Failure::failed(errors::text(&error)).kept(unmerged())
        }
    })
}
