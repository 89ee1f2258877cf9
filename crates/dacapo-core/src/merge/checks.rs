//! Checks on what would come home, run as the engine runs them: under a guard, with their limit, their output on file.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::attempt::Scratch;
use super::turn::Record;
use super::{Candidate, LeftOut, Merger, Proven, Step, Stopped, Watch};
use crate::engine::checks::{Ended, as_in_ci, job, receipt};
use crate::engine::machine::CheckPlan;
use crate::engine::turn::environment;
use crate::event::{CheckPhase, CheckResult};
use crate::git::Oid;
use crate::process::{Finished, Launcher, Masker, Stop};

/// What can happen while a check runs.
enum Word {
    Gone(Box<Finished>),
    Halt,
}

impl Merger<'_> {
    /// Runs every check at the commit that is checked out in `scratch`; the first that fails leaves the task out.
    pub(super) fn prove(
        &self,
        candidate: &Candidate,
        scratch: &Scratch<'_>,
        commit: &Oid,
        record: &mut Record,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Proven>, Stopped> {
        let mut proven = Vec::new();
        for command in &candidate.checks {
            let plan = self.plan_of(record, command, candidate.spec.policy.check_timeout, Some(commit));
            let (result, output) = self.run(&plan, scratch, record, watch)?;
            if !result.passed() {
                return Err(LeftOut::Check { result: Box::new(result), output }.into());
            }
            proven.push(Proven { command: command.clone(), by_receipt: false });
        }
        Ok(proven)
    }

    /// Makes a fresh worktree usable.
    pub(super) fn set_up(
        &self,
        scratch: &Scratch<'_>,
        record: &mut Record,
        watch: &mut dyn Watch,
    ) -> Result<(), Stopped> {
        let included = self.repo.copy_included(scratch.repo()?)?;
        tracing::debug!(files = included.files.len(), "files of .worktreeinclude");
        for command in &self.setup {
            let plan = self.plan_of(record, command, self.setup_timeout, None);
            let (result, output) = self.run(&plan, scratch, record, watch)?;
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
            phase: CheckPhase::Clean,
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
        scratch: &Scratch<'_>,
        record: &Record,
        watch: &mut dyn Watch,
    ) -> Result<(CheckResult, PathBuf), Stopped> {
        watch.step(&Step::Check(&plan.command));
        let setting = (self.setting)();
        let output = record.dir.check_path(u64::from(plan.index));
        let cwd = scratch.repo()?.toplevel().to_owned();
        let env = as_in_ci(environment(&setting.env, &record.spec, &cwd));
        let masker = Masker::from_env(setting.env.iter().cloned());
        let failed = |error: &dyn std::fmt::Display| {
            LeftOut::Trouble(format!("check `{}` could not be run: {error}", plan.command))
        };
        let launcher = Launcher::new(setting.program, masker.into()).map_err(|error| failed(&error))?;
        let mut launcher = launcher.for_home(self.data.home());
        let started = Instant::now();
        let (sender, words) = mpsc::channel();
        let gone = sender.clone();
        let running = launcher
            .launch(job(&plan.command, cwd, env, &output), move |finished| {
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
        watch.step(&Step::Checked(&result));
        Ok((result, output))
    }
}
