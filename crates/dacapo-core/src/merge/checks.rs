//! Checks on what would come home, run as the engine runs them: under a guard, with their limit, their output on file.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

use super::attempt::Scratch;
use super::turn::Record;
use super::{Candidate, LeftOut, MergeObserver, Merger, Proven, Step, Stopped};
use crate::engine::checks::{Ended, as_in_ci, job, receipt};
use crate::engine::confinement::{room_of, room_of_held_out};
use crate::engine::machine::{CheckPlan, Effect, Input};
use crate::engine::masker;
use crate::engine::proving::Proving;
use crate::engine::turn::environment;
use crate::event::{CheckPhase, CheckResult, ProofState};
use crate::git::{Oid, Repo};
use crate::process::{Finished, Job, Launcher, Stop};
use crate::proof::{Lease, Pool, ProofError, ProofRun, Request, Snapshot};
use crate::spec::{LoopPolicy, ProofPolicy, Setup, TestsMode};

/// What can happen while a check runs.
enum Word {
    Gone(Box<Finished>),
    Halt,
}

/// Where a command runs.
struct RunIn<'a> {
    cwd: PathBuf,
    /// The proof that it is a part of.
    lease: Option<&'a Lease>,
    /// The scratch worktree, where that is no proof.
    scratch: Option<&'a Repo>,
}

impl<'a> RunIn<'a> {
    fn of(lease: &'a Lease) -> Self {
        Self { cwd: lease.tree().to_owned(), lease: Some(lease), scratch: None }
    }

    fn scratch(scratch: &'a Repo) -> Self {
        Self { cwd: scratch.toplevel().to_owned(), lease: None, scratch: Some(scratch) }
    }
}

/// A commit that would come home.
pub(super) struct Proposal<'a> {
    pub(super) commit: &'a Oid,
    /// The tip of the branch that it would come to.
    pub(super) onto: &'a Oid,
}

/// How the repository was set up before the task's agent ran. Without it nothing can be proven: what holds now may be the
/// agent's doing.
fn snapshot_of(candidate: &Candidate) -> Result<Snapshot, LeftOut> {
    let path = candidate.dir.start_path();
    let opened = match &candidate.view.start_sha256 {
        Some(sha256) => Snapshot::open(&path, sha256),
        None => Err(ProofError::SnapshotMissing { path }),
    };
    opened.map_err(|error| LeftOut::trouble(&error))
}

/// Keeps what a green proof built.
fn keep_caches(lease: &mut Lease) {
    if let Err(error) = lease.keep_caches() {
        tracing::warn!(%error, "the caches of a proof cannot be kept");
    }
}

impl Merger<'_> {
    /// Proves a commit as the engine does after an iteration, by the same steps. A check that fails leaves the task out.
    pub(super) fn prove(
        &self,
        candidate: &Candidate,
        attempt: &Proposal<'_>,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<Vec<Proven>, Stopped> {
        if let Some(tests) = candidate.undecided_tests() {
            return Err(LeftOut::Tests(Box::new(tests.clone())).into());
        }
        let snapshot = snapshot_of(candidate)?;
        let policy = self.policy(candidate);
        let mut lease = self.lease()?;
        let mut proving = Proving::new(0, attempt.commit.clone(), Vec::new());
        loop {
            let input = match proving.effect(&policy, Some(attempt.onto)) {
                Effect::PrepareProof(plan) => {
                    if plan.run == ProofRun::Originals {
                        keep_caches(&mut lease);
                    }
                    let setting = (self.setting)();
                    let env = environment(&setting.env, &record.spec, lease.tree());
                    let guarded = room_of(&record.spec, &record.dir, &setting, None);
                    let held_out = room_of_held_out(&record.spec, &record.dir, &setting);
                    let request = Request {
                        source: self.repo,
                        commit: &plan.commit,
                        snapshot: &snapshot,
                        setup: &plan.setup.commands,
                        base: plan.base.as_ref(),
                        start: plan.start,
                        run: plan.run,
                        checks: &policy.checks,
                        tests: &policy.tests,
                        env: &env,
                        workspace: None,
                        guarded: guarded.as_ref(),
                        held_out: held_out.as_ref(),
                    };
                    let prepared = lease.prepare(&request).map_err(|error| LeftOut::trouble(&error))?;
                    if prepared.needs_setup {
                        self.set_up_checkout(&plan.setup.commands, &mut lease, record, observer)?;
                    }
                    Input::ProofReady {
                        set_up: prepared.needs_setup,
                        cache: prepared.cache,
                        tests: prepared.tests,
                    }
                }
                Effect::RunCheck(plan) => {
                    let (result, output) = self.run(&plan, RunIn::of(&lease), record, observer)?;
                    // Not the last word while caches may be to blame.
                    let last = plan.phase != CheckPhase::Originals && !proving.is_from_caches();
                    if !result.passed() && last {
                        return Err(LeftOut::Check { result: Box::new(result), output }.into());
                    }
                    Input::CheckDone(result)
                }
                _ => return Err(LeftOut::Trouble("the proof went an unknown way".to_owned()).into()),
            };
            let state = proving.decide(&input).and_then(|event| proving.take_in(&event, &policy));
            if let Some(ProofState::Proven { .. }) = state {
                keep_caches(&mut lease);
                let proven = |check: &CheckResult| Proven {
                    command: check.command.clone(),
                    by_receipt: false,
                    exposed: check.exposed.clone(),
                };
                let own = proving.checks().filter(|check| check.phase == CheckPhase::Proof);
                return Ok(own.map(proven).collect());
            }
            if let Some(state @ ProofState::TestsChanged { .. }) = state {
                let tests = proving.tests(&state, &policy);
                return Err(tests
                    .map_or_else(
                        || LeftOut::Trouble("tests changed".to_owned()),
                        |tests| LeftOut::Tests(Box::new(tests)),
                    )
                    .into());
            }
        }
    }

    /// The task's checks and limits, with the setup that the settings have by now.
    fn policy(&self, candidate: &Candidate) -> LoopPolicy {
        let own = &candidate.view.proof_policy;
        let mut tests = candidate.spec.policy.tests.clone();
        if candidate.tests_are_approved() {
            tests.mode = TestsMode::Free;
        }
        let commands = if self.setup.is_empty() { own.setup.commands.clone() } else { self.setup.clone() };
        LoopPolicy {
            checks: candidate.checks.clone(),
            tests,
            proof: ProofPolicy {
                cache: self.cache,
                setup: Setup { commands, timeout: self.setup_timeout },
                ..own.clone()
            },
            ..candidate.spec.policy.clone()
        }
    }

    fn set_up_checkout(
        &self,
        setup: &[String],
        lease: &mut Lease,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<(), Stopped> {
        for command in setup {
            let plan = self.setup_plan(command);
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

    /// A checkout of the pool, waited for where all are in use.
    fn lease(&self) -> Result<Lease, Stopped> {
        let pool = Pool::at(self.data.path().to_owned());
        if let Some(lease) = pool.lease().map_err(|error| LeftOut::trouble(&error))? {
            return Ok(lease);
        }
        let (sender, words) = mpsc::channel();
        let halt = sender.clone();
        let waiting = std::thread::Builder::new().name("proof".into()).spawn(move || {
            let _ = sender.send(Some(pool.wait()));
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
        let repo = scratch.repo()?;
        for command in &self.setup {
            let plan = self.setup_plan(command);
            let (result, output) = self.run(&plan, RunIn::scratch(repo), record, observer)?;
            if !result.passed() {
                return Err(LeftOut::Setup { result: Box::new(result), output }.into());
            }
        }
        Ok(())
    }

    fn setup_plan(&self, command: &str) -> CheckPlan {
        CheckPlan {
            phase: CheckPhase::Proof,
            iteration: None,
            index: 0,
            command: command.to_owned(),
            timeout: self.setup_timeout,
            commit: None,
        }
    }

    fn run(
        &self,
        plan: &CheckPlan,
        at: RunIn<'_>,
        record: &mut Record,
        observer: &mut dyn MergeObserver,
    ) -> Result<(CheckResult, PathBuf), Stopped> {
        observer.step(&Step::Check(&plan.command));
        let setting = (self.setting)();
        let run = u64::from(record.next_run());
        let output = record.dir.check_path(run);
        let RunIn { cwd, lease, scratch } = at;
        let env = as_in_ci(environment(&setting.env, &record.spec, &cwd));
        let masker = masker(&setting.env, &record.spec);
        let failed = |error: &dyn std::fmt::Display| {
            LeftOut::Trouble(format!("check `{}` could not be run: {error}", plan.command))
        };
        let job = job(&plan.command, cwd, env, &output);
        let job = match lease {
            Some(lease) => lease.house(job, plan.phase.into()),
            None => Job { room: room_of(&record.spec, &record.dir, &setting, scratch), ..job },
        };
        let launcher = Launcher::new(setting.program, masker.into()).map_err(|error| failed(&error))?;
        setting.locks.add(&record.lock);
        let mut launcher = launcher.for_home(self.data.home()).holding(&setting.locks);
        let started = Instant::now();
        let (sender, words) = mpsc::channel();
        let gone = sender.clone();
        let running = launcher
            .launch(job, move |finished| {
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
        let exposed = lease.and_then(|lease| lease.exposed(&finished));
        let ended = Ended { exit: finished.exit, timed_out, took: started.elapsed() };
        let result = CheckResult { exposed, ..receipt(plan, &output, &ended) };
        observer.step(&Step::Checked(&result));
        Ok((result, output))
    }
}
