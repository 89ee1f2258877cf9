//! Proves a commit in a checkout of the pool (L4). Whatever goes wrong here costs the proof and nothing else.

use std::fmt::Display;
use std::path::PathBuf;

use super::checks::{Ran, Shell};
use super::confinement::{room_of, room_of_held_out};
use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::listen::{Waited, Wakeup};
use super::machine::{Input, ProofPlan, Step};
use super::mailbox::Report;
use super::workspace::MAX_FILE_BYTES;
use crate::event::{CheckResult, Event, Exposed, Notice};
use crate::files::FileAction;
use crate::git::Repo;
use crate::process::{Exit, Finished, Job, tail};
use crate::proof::{Lease, Pool, Prepared, ProofError, ProofRun, Request, Snapshot, Whose};
use crate::spec::{Place, ProofAt, Setup};
use crate::store::TaskDir;

/// How much of what a failed setup printed is looked through for its last line.
const TAIL_BYTES: usize = 4 << 10;

/// What became of the setup of a checkout.
enum SetUp {
    Done,
    Failed(String),
    /// The task is to stop.
    Stopped,
}

fn unavailable(problem: impl Display) -> Input {
    Input::ProofUnavailable { message: problem.to_string(), cure: None }
}

/// The checkout in which commits are proven.
#[derive(Debug)]
pub(super) struct ProofCheckout {
    /// While a commit is proven in it.
    lease: Option<Lease>,
    /// How many checks of the proof passed there, none after one that did not.
    passed: Option<usize>,
    /// The hash of what proofs are made with.
    pub(super) start_sha256: Option<String>,
}

impl ProofCheckout {
    pub(super) fn new(start_sha256: Option<String>) -> Self {
        Self { lease: None, passed: None, start_sha256 }
    }

    /// Gives the checkout back as soon as it is not needed: others may wait for it. What a green proof built is kept.
    pub(super) fn release_unless_needed_for(&mut self, step: Step, checks: usize) {
        if step.is_of_proof() {
            return;
        }
        if let Some(mut lease) = self.lease.take() {
            self.keep_caches(&mut lease, checks);
        }
    }

    /// Keeps what a green proof built.
    fn keep_caches(&self, lease: &mut Lease, checks: usize) {
        if checks > 0
            && self.passed == Some(checks)
            && let Err(error) = lease.keep_caches()
        {
            tracing::warn!(%error, "the caches of a proof cannot be kept");
        }
    }

    /// Notes what a check of the proof came to.
    pub(super) fn note(&mut self, check: &CheckResult) {
        self.passed = self.passed.filter(|_| check.passed()).map(|passed| passed + 1);
    }

    /// Makes a command one of the proof at work, if there is one.
    pub(super) fn house(&self, job: Job, whose: Whose) -> Job {
        match &self.lease {
            Some(lease) => lease.house(job, whose),
            None => job,
        }
    }

    /// Why a command of the proof at work could see what the agent left.
    pub(super) fn exposed(&self, finished: &Finished) -> Option<Exposed> {
        self.lease.as_ref()?.exposed(finished)
    }

    /// Where the checks of a proof run; none: there is no checkout at hand.
    pub(super) fn tree(&self) -> Option<PathBuf> {
        self.lease.as_ref().map(|lease| lease.tree().to_owned())
    }

    fn snapshot(&self, dir: &TaskDir) -> Result<Snapshot, String> {
        let Some(sha256) = &self.start_sha256 else {
            return Err("there is no record of how the repository was set up at the start".to_owned());
        };
        Snapshot::open(&dir.start_path(), sha256).map_err(|error| error.to_string())
    }
}

impl Driver<'_> {
    /// What proofs are made with, as it is before anybody works here. Without it the task runs all the same.
    pub(super) fn take_snapshot(&mut self, user: &Repo) -> Result<(), DriverError> {
        let mergeable = matches!(self.spec.place, Place::Worktree { .. });
        let checked = self.spec.policy.is_judged() && self.spec.policy.proof.at == ProofAt::Checkout;
        if !checked && !mergeable {
            return Ok(());
        }
        let suspects = self.suspects(user)?;
        match Snapshot::take(user, &self.dir.repo_path(), &self.dir.start_path(), &suspects) {
            Ok(snapshot) => self.proof.start_sha256 = Some(snapshot.sha256().to_owned()),
            Err(error) => {
                self.proof.start_sha256 = None;
                self.input(&Input::Notice(Notice::NoProofs { error: error.to_string() }))?;
            }
        }
        Ok(())
    }

    /// None: the task is to stop.
    pub(super) fn prepare_proof(&mut self, plan: &ProofPlan) -> Result<Option<Input>, DriverError> {
        self.record.sink.activity(&Activity::Proving(&plan.commit));
        let snapshot = match self.proof.snapshot(&self.dir) {
            Ok(snapshot) => snapshot,
            Err(message) => return Ok(Some(unavailable(message))),
        };
        let mut lease = match self.lease_checkout()? {
            None => return Ok(None),
            Some(Ok(lease)) => lease,
            Some(Err(error)) => return Ok(Some(unavailable(error))),
        };
        if plan.run == ProofRun::Originals {
            // The commit itself is behind us; what comes now builds nothing that may be kept.
            self.proof.keep_caches(&mut lease, self.spec.policy.checks.len());
        }
        let guarded = room_of(&self.spec, &self.dir, &self.context, None);
        let held_out = room_of_held_out(&self.spec, &self.dir, &self.context);
        let workspace = &self.workspace()?.repo;
        let env = self.environment(lease.tree());
        let request = Request {
            source: workspace,
            workspace: Some(workspace.toplevel()),
            commit: &plan.commit,
            snapshot: &snapshot,
            setup: &plan.setup.commands,
            base: plan.base.as_ref(),
            start: plan.start,
            run: plan.run,
            checks: &self.spec.policy.checks,
            tests: &self.spec.policy.tests,
            env: &env,
            guarded: guarded.as_ref(),
            held_out: held_out.as_ref(),
        };
        let prepared = lease.prepare(&request);
        self.proof.passed = Some(0);
        // Before the result is looked at: also a checkout that could not be prepared is given back by
        // `release_unless_needed_for`.
        self.proof.lease = Some(lease);
        let Prepared { needs_setup: set_up, cache, tests } = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Some(unavailable(error))),
        };
        if set_up {
            match self.set_up_checkout(&plan.setup)? {
                SetUp::Done => {}
                SetUp::Failed(message) => return Ok(Some(unavailable(message))),
                SetUp::Stopped => return Ok(None),
            }
        }
        Ok(Some(Input::ProofReady { set_up, cache, tests }))
    }

    /// One of the pool, waited for where all are in use. None: the task is to stop.
    fn lease_checkout(&mut self) -> Result<Option<Result<Lease, ProofError>>, DriverError> {
        if let Some(lease) = self.proof.lease.take() {
            return Ok(Some(Ok(lease)));
        }
        let pool = Pool::at(self.dir.repo_path());
        match pool.lease() {
            Ok(None) => {}
            Ok(Some(lease)) => return Ok(Some(Ok(lease))),
            Err(error) => return Ok(Some(Err(error))),
        }
        self.record(Event::Notice(Notice::ProofCheckoutsInUse))?;
        let outbox = self.mailbox.outbox();
        let waiting = std::thread::Builder::new().name("proof".into()).spawn(move || {
            outbox.report(Report::ProofLease(Box::new(pool.wait())));
        });
        if let Err(source) = waiting {
            let path = self.dir.path().to_owned();
            return Ok(Some(Err(ProofError::File { what: FileAction::WaitForCheckout, path, source })));
        }
        self.wait(None, |driver, heard| match heard {
            Wakeup::Report(Report::ProofLease(lease)) => Ok(Waited::Break(Some(*lease))),
            Wakeup::Stop => Ok(Waited::Break(None)),
            other @ (Wakeup::Commands | Wakeup::Report(_) | Wakeup::Deadline) => {
                driver.nobody_waits_for(other);
                Ok(Waited::Continue(None))
            }
        })
    }

    fn set_up_checkout(&mut self, setup: &Setup) -> Result<SetUp, DriverError> {
        let Some(cwd) = self.proof.tree() else { return Ok(SetUp::Stopped) };
        for command in &setup.commands {
            self.record.sink.activity(&Activity::Setup(command));
            let output = self.dir.setup_path(self.record.next_seq());
            self.keep_directory_of(&output)?;
            let env = self.environment(&cwd);
            let (cwd, timeout) = (cwd.clone(), setup.timeout);
            let shell = Shell { command, cwd, env, output: &output, timeout, whose: Whose::Project };
            let ending = match self.run_shell(shell)? {
                None => return Ok(SetUp::Stopped),
                Some(Ran { timed_out: true, .. }) => "timed out".to_owned(),
                Some(Ran { exit: Exit::Code(0), .. }) => continue,
                Some(Ran { exit: Exit::Code(code), .. }) => format!("exit {code}"),
                Some(Ran { .. }) => "ended by a signal".to_owned(),
            };
            let text = tail(&output, TAIL_BYTES).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
            let last = last.map_or_else(String::new, |line| format!(": {line}"));
            return Ok(SetUp::Failed(format!("setup `{command}` failed in the checkout ({ending}){last}")));
        }
        if let Some(lease) = self.proof.lease.as_mut()
            && let Err(error) = lease.setup_done()
        {
            // It runs once more the next time.
            tracing::warn!(%error, "cannot note that the setup ran");
        }
        Ok(SetUp::Done)
    }

    /// What the workspace has and the checkout does not.
    pub(super) fn find_hidden(&mut self) -> Result<Input, DriverError> {
        let users = self.workspace_mut()?.compare_users()?.same;
        let workspace = &self.workspace()?.repo;
        let found = self.proof.lease.as_ref().map(|lease| lease.hidden(workspace, MAX_FILE_BYTES, &users));
        match found {
            Some(Ok(found)) => Ok(Input::HiddenFound { hidden: found.files, total: found.total }),
            Some(Err(error)) => {
                self.input(&Input::Notice(Notice::HiddenUnknown { error: error.to_string() }))?;
                Ok(Input::HiddenFound { hidden: Vec::new(), total: 0 })
            }
            None => Ok(Input::HiddenFound { hidden: Vec::new(), total: 0 }),
        }
    }
}
