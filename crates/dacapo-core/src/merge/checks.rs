//! Checks on what would come home, run as the engine runs them: under a guard, with their limit, their output on file.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::attempt::Scratch;
use super::turn::Record;
use super::{Candidate, LeftOut, MergeObserver, Merger, Proven, Step, Stopped};
use crate::engine::checks::{Ended, as_in_ci, job, receipt};
use crate::engine::machine::CheckPlan;
use crate::engine::turn::environment;
use crate::event::{CheckPhase, CheckResult};
use crate::git::Oid;
use crate::process::{Finished, Job, Launcher, Masker, Stop};
use crate::proof::{Lease, Pool, ProofError, Request, Snapshot};

/// What can happen while a check runs.
enum Word {
    Gone(Box<Finished>),
    Halt,
}

/// Where a command runs.
struct RunIn {
    cwd: PathBuf,
    /// Held until all that it started is gone.
    holds: Vec<OwnedFd>,
}

impl RunIn {
    fn of(lease: &Lease) -> Self {
        Self { cwd: lease.tree().to_owned(), holds: lease.share().into_iter().collect() }
    }

    fn scratch(scratch: &Scratch<'_>) -> Result<Self, LeftOut> {
        Ok(Self { cwd: scratch.repo()?.toplevel().to_owned(), holds: Vec::new() })
    }
}

impl Merger<'_> {
    /// Runs every check in a checkout of the commit to which no agent writes; one that fails leaves the task out. What was
    /// installed there may be of another commit, so the setup runs anew before that is said.
    pub(super) fn prove(
        &self,
        candidate: &Candidate,
        commit: &Oid,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<Vec<Proven>, Stopped> {
        let snapshot = self.snapshot(candidate, record)?;
        let own = &candidate.view.proof_policy;
        let setup = if self.setup.is_empty() { &own.setup.commands } else { &self.setup };
        let keep = if self.keep.is_empty() { &own.keep } else { &self.keep };
        let mut lease = self.lease(candidate.spec.name.as_str())?;
        let request = Request { source: self.repo, commit, snapshot: &snapshot, keep, setup };
        let mut needs_setup = lease.prepare(&request).map_err(|error| LeftOut::trouble(&error))?.needs_setup;
        loop {
            if needs_setup {
                self.set_up_checkout(setup, &mut lease, record, observer)?;
            }
            match self.run_all(candidate, commit, &lease, record, observer)? {
                Ok(proven) => return Ok(proven),
                // Once: the second failure is with a fresh setup, and counts.
                Err(_) if !needs_setup && !setup.is_empty() => needs_setup = true,
                Err(left_out) => return Err(left_out.into()),
            }
        }
    }

    fn run_all(
        &self,
        candidate: &Candidate,
        commit: &Oid,
        lease: &Lease,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<Result<Vec<Proven>, LeftOut>, Stopped> {
        let mut proven = Vec::new();
        for command in &candidate.checks {
            let plan = self.plan_of(record, command, candidate.spec.policy.check_timeout, Some(commit));
            let (result, output) = self.run(&plan, RunIn::of(lease), record, observer)?;
            if !result.passed() {
                return Ok(Err(LeftOut::Check { result: Box::new(result), output }));
            }
            proven.push(Proven { command: command.clone(), by_receipt: false });
        }
        Ok(Ok(proven))
    }

    fn set_up_checkout(
        &self,
        setup: &[String],
        lease: &mut Lease,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<(), Stopped> {
        for command in setup {
            let plan = self.plan_of(record, command, self.setup_timeout, None);
            let (result, output) = self.run(&plan, RunIn::of(lease), record, observer)?;
            if !result.passed() {
                return Err(LeftOut::Setup { result: Box::new(result), output }.into());
            }
        }
        if let Err(error) = lease.setup_done() {
            // It runs once more the next time.
            tracing::warn!(%error, "cannot note that the setup ran");
        }
        Ok(())
    }

    /// What counted beside the commits when the task started; for a task without it, what counts here now.
    fn snapshot(&self, candidate: &Candidate, record: &Record) -> Result<Snapshot, LeftOut> {
        let taken = candidate.view.start_sha256.as_ref();
        let opened = taken.map(|sha256| Snapshot::open(&candidate.dir.start_path(), sha256));
        let snapshot = match opened {
            None | Some(Err(ProofError::SnapshotMissing { .. })) => {
                Snapshot::take(self.repo, &record.dir.start_path())
            }
            Some(opened) => opened,
        };
        snapshot.map_err(|error| LeftOut::trouble(&error))
    }

    /// A checkout of the pool, waited for where all are in use.
    fn lease(&self, task: &str) -> Result<Lease, Stopped> {
        let pool = Pool::at(self.data.proofs_path());
        if let Some(lease) = pool.lease(task).map_err(|error| LeftOut::trouble(&error))? {
            return Ok(lease);
        }
        let (sender, words) = mpsc::channel();
        let (halt, task) = (sender.clone(), task.to_owned());
        let waiting = std::thread::Builder::new().name("proof".into()).spawn(move || {
            let _ = sender.send(Some(pool.wait(&task)));
        });
        waiting.map_err(|error| LeftOut::trouble(&error))?;
        let word = self.halt.heard_by(move |_: &str| drop(halt.send(None)), || words.recv());
        match word {
            Ok(Some(lease)) => Ok(lease.map_err(|error| LeftOut::trouble(&error))?),
            Ok(None) | Err(_) => Err(Stopped::Halted),
        }
    }

    /// Makes a fresh worktree usable, for an agent.
    pub(super) fn set_up(
        &self,
        scratch: &Scratch<'_>,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<(), Stopped> {
        let included = self.repo.copy_included(scratch.repo()?)?;
        tracing::debug!(files = included.files.len(), "files of .worktreeinclude");
        for command in &self.setup {
            let plan = self.plan_of(record, command, self.setup_timeout, None);
            let (result, output) = self.run(&plan, RunIn::scratch(scratch)?, record, observer)?;
            if !result.passed() {
                return Err(LeftOut::Setup { result: Box::new(result), output }.into());
            }
        }
        Ok(())
    }

    fn plan_of(
        &self,
        record: &mut Record,
        command: &str,
        timeout: Duration,
        commit: Option<&Oid>,
    ) -> CheckPlan {
        CheckPlan {
            phase: CheckPhase::Proof,
            iteration: None,
            index: record.next_run(),
            command: command.to_owned(),
            timeout,
            commit: commit.cloned(),
        }
    }

    fn run(
        &self,
        plan: &CheckPlan,
        at: RunIn,
        record: &Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<(CheckResult, PathBuf), Stopped> {
        observer.step(&Step::Check(&plan.command));
        let setting = (self.setting)();
        let output = record.dir.check_path(u64::from(plan.index));
        let RunIn { cwd, holds } = at;
        let env = as_in_ci(environment(&setting.env, &record.spec, &cwd));
        let masker = Masker::from_env(setting.env.iter().cloned());
        let failed = |error: &dyn std::fmt::Display| {
            LeftOut::Trouble(format!("check `{}` could not be run: {error}", plan.command))
        };
        let launcher = Launcher::new(setting.program, masker.into()).map_err(|error| failed(&error))?;
        setting.locks.add(&record.lock);
        let mut launcher = launcher.for_home(self.data.home()).holding(&setting.locks);
        let started = Instant::now();
        let (sender, words) = mpsc::channel();
        let gone = sender.clone();
        let running = launcher
            .launch(Job { holds, ..job(&plan.command, cwd, env, &output) }, move |finished| {
                let _ = gone.send(Word::Gone(Box::new(finished)));
            })
            .map_err(|error| failed(&error))?;
        let halt = move |_: &str| drop(sender.send(Word::Halt));
        let mut deadline = Some(started + plan.timeout);
        let (mut timed_out, mut halted) = (false, false);
        let finished = self.halt.heard_by(halt, || {
            loop {
                let word = match deadline {
                    Some(deadline) => words.recv_timeout(deadline.saturating_duration_since(Instant::now())),
                    None => words.recv().map_err(|_| RecvTimeoutError::Disconnected),
                };
                match word {
                    Ok(Word::Gone(finished)) => break Some(finished),
                    Ok(Word::Halt) => halted = true,
                    Err(RecvTimeoutError::Timeout) => timed_out = true,
                    Err(RecvTimeoutError::Disconnected) => break None,
                }
                // Stopped once. From here on only its end is waited for, which the guard brings about within the
                // grace.
                deadline = None;
                running.stop(Stop::Gentle);
            }
        });
        let Some(finished) = finished else { return Err(failed(&"its guard was lost").into()) };
        if halted {
            return Err(Stopped::Halted);
        }
        let ended = Ended { exit: finished.exit, timed_out, took: started.elapsed() };
        let result = receipt(plan, &output, &ended);
        observer.step(&Step::Checked(&result));
        Ok((result, output))
    }
}
