//! When locks are looked for that a killed git has left: when a task is taken up again, and before a turn of an agent. By
//! then all that could still work with them is dead.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use crate::event::{Envelope, Event};
use crate::git::{EndedRun, Oid, Repo};
use crate::spec::Place;
use crate::store::TaskDir;

/// A run that died showed its last sign of life at most this long before its death.
const SILENCE: Duration = Duration::from_secs(5 * 60);

/// What the journal tells of the process that drove the task before.
#[derive(Debug, Default)]
pub(super) struct EarlierRun {
    began: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The commit that it was about to move the branch to, or had moved it to.
    commit: Option<Oid>,
    branch: Option<String>,
}

impl EarlierRun {
    pub(super) fn saw(&mut self, line: &Envelope) {
        self.last = Some(line.at);
        match &line.event {
            Event::TaskStarted { .. } | Event::Resumed { .. } => self.began = Some(line.at),
            Event::CommitIntent(planned) => self.commit.clone_from(&planned.commit),
            Event::WorkspaceReady { branch, .. } => self.branch.clone_from(branch),
            _ => {}
        }
    }
}

impl Driver<'_> {
    /// After an interruption. The caller holds the task's lock, which our own git holds too: it is gone, as is the agent.
    pub(super) fn clear_locks_of_earlier_run(&mut self) -> Result<(), DriverError> {
        let (Some(began), Some(last)) = (self.earlier.run.began, self.earlier.run.last) else {
            return Ok(());
        };
        // Agents print long after the last line of the journal was written.
        let until = SystemTime::from(last).max(last_output(&self.dir).unwrap_or(SystemTime::UNIX_EPOCH));
        let at_work = (began.into(), until + SILENCE);
        let spec = std::sync::Arc::clone(&self.spec);
        let (branch, worktree) = match &spec.place {
            Place::Worktree { path, branch, .. } => (Some(branch.clone()), Some(path.as_path())),
            Place::InPlace { branch, .. } => {
                let own = branch.as_ref().map(|own| own.name.clone());
                (own.or_else(|| self.earlier.run.branch.clone()), None)
            }
        };
        // Whoever needs it says what is wrong with it.
        let Ok(user) = self.discover(&spec.top) else { return Ok(()) };
        let own = worktree.and_then(|path| user.private(path).ok());
        let commit = self.earlier.run.commit.clone();
        let run = EndedRun {
            worktree,
            branch: branch.as_deref(),
            rescue: &format!("refs/dacapo/rescue/{}", spec.name),
            commit: commit.as_ref(),
            at_work,
        };
        own.map_or(Ok(()), |own| self.clear_locks(&own, &run))?;
        self.clear_locks(&user, &run)
    }

    /// Before a turn, and before the work is judged: what ran before was ended with all its processes. Not while an agent
    /// that speaks ACP lives: its git may be at work.
    pub(super) fn clear_locks_of_last_turn(&mut self) -> Result<(), DriverError> {
        let Some(workspace) = self.workspace.as_ref().filter(|_| self.turns.acp.kept.is_empty()) else {
            return Ok(());
        };
        if !workspace.repo.what_is_gone().is_empty() {
            return Ok(());
        }
        let (repo, exclusive) = (workspace.repo.clone(), workspace.exclusive());
        let top = repo.toplevel().to_owned();
        let now = SystemTime::now();
        let branch = repo.head()?.branch;
        let run = EndedRun {
            worktree: exclusive.then_some(top.as_path()),
            branch: branch.as_deref(),
            rescue: &format!("refs/dacapo/rescue/{}", self.spec.name),
            commit: None,
            at_work: (now - self.record.clock.of_this_process(), now),
        };
        self.clear_locks(&repo, &run)
    }

    fn clear_locks(&mut self, repo: &Repo, run: &EndedRun<'_>) -> Result<(), DriverError> {
        for notice in repo.clear_left_locks(run)? {
            self.input(&Input::Notice((&notice).into()))?;
        }
        Ok(())
    }
}

/// When an agent last printed something.
fn last_output(dir: &TaskDir) -> Option<SystemTime> {
    let files = std::fs::read_dir(dir.turn_path(0, "raw").parent()?).ok()?;
    files.flatten().filter_map(|file| file.metadata().ok()?.modified().ok()).max()
}
