//! Which repository, which task: looked up as a person names them, with what is found on the way put right.

use std::io;
use std::path::{Path, PathBuf};

use dacapo_core::dropped::Dropped;
use dacapo_core::git::{DiscoverError, Repo, WorktreeError, display_path};
use dacapo_core::process::{Swept, tail};
use dacapo_core::recovery::end_leftovers;
use dacapo_core::spec::{Place, TaskName, TaskSpec};
use dacapo_core::store::at_work::{self, AtWork};
use dacapo_core::store::{OpenError, RepoDir, TaskDir};
use dacapo_core::view::{Status, TaskView, ViewError};

use super::rename;
use crate::App;
use crate::error::{Code, Failure, suggest};
use crate::messages::{Messages, Text, command, say};
use crate::note::Note;
use crate::present::errors::{self, InWords as _};
use crate::present::notices::told;

impl App {
    /// Where the user stands; in a task's worktree, which has a repository of its own, the checkout that the task is of.
    pub(super) fn place(&self) -> Result<PathBuf, Failure> {
        let here = self.here()?;
        let task = self.home()?.task_around(here);
        Ok(task
            .and_then(|dir| dir.spec_of_any_format().ok())
            .map_or_else(|| here.to_owned(), |spec| spec.top))
    }

    /// Carries over what a task has committed in its own repository, as far as it can be read (S3).
    pub fn carry(&self, repo: &Repo, spec: &TaskSpec) -> Result<(), WorktreeError> {
        let Place::Worktree { path, branch, .. } = &spec.place else { return Ok(()) };
        if !repo.is_carried(path, branch) {
            repo.carry_now(path, branch, &format!("refs/dacapo/rescue/{}", spec.name))?;
        }
        Ok(())
    }

    /// The same for a command that can do without.
    fn try_to_carry(&self, repo: &Repo, dir: &TaskDir) {
        let Ok(spec) = dir.spec() else { return };
        if let Err(error) = self.carry(repo, &spec) {
            self.note(&Note::NotCarried { task: dir.name(), error: errors::text(&error) });
        }
    }

    /// The repository around the user's directory, and its data.
    pub fn repository(&self) -> Result<(Repo, RepoDir), Failure> {
        let repo = self.discover(&self.place()?).map_err(|error| not_usable(&error))?;
        let data = self.home()?.repo(repo.common_dir());
        // Specs and journals are text, and so are the paths in them.
        if let Some(path) = [repo.toplevel(), data.path()].into_iter().find(|path| path.to_str().is_none()) {
            let path = display_path(path);
            return Err(Failure::usage(say(|m| m.path_not_text(&path)))
                .kept(say(Messages::kept_nothing_changed))
                .hint(say(Messages::path_not_text_cure)));
        }
        Ok((repo, data))
    }

    /// The data of the repository around the user's directory, without a git process where that is possible.
    pub fn repository_data(&self) -> Result<RepoDir, Failure> {
        let home = self.home()?;
        if let Some(data) = home.task_around(self.here()?).and_then(|dir| dir.repo()) {
            return Ok(data);
        }
        let common_dir =
            dacapo_core::git::common_dir(self.here()?, &self.env).map_err(|error| not_usable(&error))?;
        Ok(home.repo(&common_dir))
    }

    /// The task that is meant: by its name, or the latest of this repository.
    pub fn task(&self, name: Option<&str>) -> Result<(Repo, TaskDir), Failure> {
        let (repo, data) = self.repository()?;
        let tasks = data.tasks().map_err(|error| {
            let (path, error) = (data.path().display().to_string(), error.to_string());
            Failure::failed(say(|m| m.cannot_read(&path, &error)))
        })?;
        let Some(name) = name else {
            let latest = tasks
                .into_iter()
                .filter_map(|dir| Some((dir.spec().ok()?.created_at, dir)))
                .max_by_key(|(at, _)| *at);
            return match latest {
                Some((_, dir)) => {
                    rename::finish_begun(self, &repo, &data, &dir);
                    self.try_to_carry(&repo, &dir);
                    Ok((repo, dir))
                }
                None => {
                    Err(Failure::usage(say(Messages::task_none_yet)).hint(say(Messages::task_exec_something)))
                }
            };
        };
        match TaskName::parse(name).map(|name| data.task(&name)) {
            Ok(dir) if dir.exists() => {
                if let Err(error @ OpenError::Older { .. }) = dir.spec() {
                    return Err(unreadable(&error.into(), &dir));
                }
                rename::finish_begun(self, &repo, &data, &dir);
                self.try_to_carry(&repo, &dir);
                Ok((repo, dir))
            }
            _ => {
                let names: Vec<String> = tasks.iter().map(TaskDir::name).collect();
                let failure = Failure::usage(say(|m| m.task_not_found(name))).coded(Code::TaskNotFound);
                if is_put_away(self, &repo, &data, name) {
                    return Err(failure.hint(say(|m| m.task_was_dropped(name))));
                }
                if let Some(now) = rename::renamed_to(&data, name) {
                    return Err(failure.hint(say(|m| m.task_was_renamed(&now))));
                }
                Err(match suggest(name, names.iter().map(String::as_str)) {
                    Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
                    None => failure.hint(say(Messages::hint_list_shows_tasks)),
                })
            }
        }
    }

    /// The tasks that are meant by a list of names: all are looked up before any of them is touched, none twice.
    pub fn tasks(&self, names: &[String]) -> Result<Vec<(Repo, TaskDir)>, Failure> {
        distinct(names)?.into_iter().map(|name| self.task(Some(name))).collect()
    }

    /// Whether a task of this repository has this name.
    pub fn is_task(&self, name: &str) -> bool {
        let data = self.repository_data().ok();
        data.zip(TaskName::parse(name).ok()).is_some_and(|(data, name)| data.task(&name).exists())
    }

    /// A task as it stands. What one that was interrupted has left running is ended (R1).
    pub fn view(&self, dir: &TaskDir) -> Result<TaskView, Failure> {
        let load = || TaskView::load(dir, self.kinds).map_err(|error| unreadable(&error, dir));
        let mut view = load()?;
        if !view.status.is_settled() && view.status != Status::Interrupted {
            let swept = dir.end_stopped_guards();
            if swept != Swept::default() {
                self.tell_of_leftovers(dir, &swept);
                view = load()?;
            }
        }
        if view.status == Status::Interrupted {
            self.clear_up_behind(dir);
        }
        Ok(view)
    }

    /// Ends what a task that was found interrupted has left running (R1).
    pub fn clear_up_behind(&self, dir: &TaskDir) {
        self.tell_of_leftovers(dir, &end_leftovers(dir, self.kinds));
    }

    /// Says what was ended, and what could not be.
    pub fn tell_of_leftovers(&self, dir: &TaskDir, swept: &Swept) {
        if !swept.killed.is_empty() {
            self.note(&Note::LeftoversEnded { task: dir.name(), processes: swept.killed.len() });
        }
        for process in &swept.unreachable {
            let (pid, program) = (process.pid, process.name.clone());
            self.note(&Note::LeftoverUnreachable { task: dir.name(), pid, program });
        }
    }

    /// Marks a command that changes the repository as being at work, after clearing up behind those that were killed. A mark
    /// that cannot be made keeps nobody from working: without it the locks of a killed command are named, and stay.
    pub fn at_work(&self, repo: &Repo, data: &RepoDir) -> Option<AtWork> {
        for command in at_work::killed(data) {
            match repo.clear_locks_of_command(command.since) {
                Ok(removed) => {
                    for what in removed {
                        self.note(&Note::LockRemoved { what: say(|m| told(&(&what).into(), "", m)) });
                    }
                    command.forget();
                }
                Err(error) => tracing::warn!("{error}"),
            }
        }
        AtWork::mark(data, repo.git_killed()).ok()
    }

    /// A task whose process ended without an event; in the background it may have said why.
    pub fn interrupted(&self, dir: &TaskDir) -> Failure {
        self.clear_up_behind(dir);
        let name = dir.name();
        let last = last_words(dir).map_or_else(String::new, |words| format!(":\n{words}"));
        Failure::failed(say(|m| m.task_interrupted(&name, &last)))
            .kept(say(Messages::task_interrupted_kept))
            .hint(command(format_args!("resume {name}")))
    }
}

/// Names, each once; at least one.
pub(crate) fn distinct(names: &[String]) -> Result<Vec<&str>, Failure> {
    let mut wanted: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    if wanted.is_empty() {
        return Err(Failure::usage(say(Messages::task_none_named)).hint(say(Messages::hint_list_shows_tasks)));
    }
    Ok(wanted)
}

/// What the process of a task in the background said last, if it said anything.
pub fn last_words(dir: &TaskDir) -> Option<String> {
    let bytes = tail(&dir.runner_log_path(), 2000).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join("\n");
    (!last.is_empty()).then_some(last)
}

/// Whether `undo` could bring something of this task back.
pub fn is_put_away(app: &App, repo: &Repo, data: &RepoDir, name: &str) -> bool {
    Dropped::of(repo, data, app.kinds).all().is_ok_and(|all| all.iter().any(|kept| kept.name == name))
}

/// What a task that somebody else drives cannot have done to it now (S7): how to end it from here.
pub fn still_running(name: &str) -> Failure {
    Failure::usage(say(|m| m.task_still_running(name)))
        .kept(say(Messages::kept_nothing_changed))
        .hint(say(|m| m.kill_it_first(name)))
        .hint(say(|m| m.task_attach_or_wait(name)))
}

/// What a process that is gone has started, a git in a large repository for one, is not done yet.
pub fn still_finishing(task: &str) -> Failure {
    Failure::usage(say(|m| m.task_still_finishing(task)))
        .kept(say(Messages::kept_nothing_started))
        .hint(say(|m| m.task_wait_then_again(task)))
}

/// What a task was asked for, believed only as its journal vouches for it (R4).
pub(crate) fn vouched_spec(dir: &TaskDir) -> Result<TaskSpec, Failure> {
    dir.vouched_spec().map_err(|error| not_believed(dir, &error))
}

/// A task whose spec does not read, or is not what was asked for.
pub(crate) fn not_believed(dir: &TaskDir, error: &OpenError) -> Failure {
    match error {
        OpenError::Doubtful { path, doubt } => {
            let (name, path) = (dir.name(), path.display().to_string());
            Failure::usage(say(|m| m.task_spec_not_believed(&name, &doubt.in_words(m))))
                .kept(say(Messages::kept_nothing_changed))
                .hint(say(|m| m.task_put_spec_back(&path)))
                .hint(say(|m| m.task_drop_keeps_commits(&name)))
        }
        OpenError::NotFound(_) | OpenError::Unreadable { .. } | OpenError::Older { .. } => {
            Failure::failed(errors::text(error))
        }
    }
}

/// A task whose record does not read.
pub fn unreadable(error: &ViewError, dir: &TaskDir) -> Failure {
    let name = dir.name();
    let path = dir.path().display().to_string();
    let failure = Failure::failed(say(|m| m.task_unreadable(&name, &error.in_words(m))))
        .kept(say(Messages::kept_nothing_written));
    if error.is_older() {
        return failure
            .hint(say(Messages::task_finish_with_its_version))
            .hint(say(|m| m.task_drop_keeps_commits(&name)));
    }
    failure.hint(say(|m| m.hint_look_at(&path)))
}

/// A task that cannot be told anything.
pub(crate) fn unreachable(name: &str, error: &io::Error) -> Failure {
    let error = error.to_string();
    Failure::failed(say(|m| m.task_unreachable(name, &error)))
}

/// The checkout at `top`, wherever the user is.
pub(crate) fn checkout(app: &App, top: &Path) -> Result<Repo, Failure> {
    app.discover(top).map_err(|error| not_usable(&error))
}

fn not_usable(error: &DiscoverError) -> Failure {
    let refused = |message: Text| Failure::usage(message).kept(say(Messages::kept_nothing_started));
    match error {
        DiscoverError::NotARepository(dir) => {
            let dir = dir.display().to_string();
            refused(say(|m| m.repository_none(&dir)))
                .coded(Code::NoRepository)
                .hint("git init")
                .hint(say(Messages::repository_elsewhere))
        }
        DiscoverError::Bare(dir) => {
            let dir = dir.display().to_string();
            refused(say(|m| m.repository_bare(&dir))).hint(say(Messages::repository_clone_it))
        }
        DiscoverError::InsideGitDir(dir) => {
            let dir = dir.display().to_string();
            refused(say(|m| m.repository_inside_git_dir(&dir))).hint(say(Messages::repository_leave_git_dir))
        }
        DiscoverError::DubiousOwnership { dir, said } => {
            let dir = dir.display().to_string();
            refused(say(|m| m.repository_dubious(&dir, said))).hint(say(|m| m.repository_trust_owner(&dir)))
        }
        DiscoverError::Git(error) => refused(errors::text(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s7_a_running_task_says_how_to_kill_it_from_where_the_user_is() {
        let said = |messages| still_running("x").shown(messages).to_string();
        insta::assert_snapshot!(said(Messages::ENGLISH), @r"
        error: Task 'x' is still running.
          kept: everything; nothing was changed
          do:   Use dacapo kill x first.
          or:   dacapo attach x shows it, dacapo wait x waits for it
        ");
        insta::assert_snapshot!(said(Messages::ENGLISH.for_app()), @r"
        error: Task 'x' is still running.
          kept: everything; nothing was changed
          do:   Use /spawn --kill first.
          or:   /attach x shows it, /wait x waits for it
        ");
    }
}
