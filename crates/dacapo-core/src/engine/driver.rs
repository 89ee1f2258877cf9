//! Carries effects out. It is the only writer of the journal of the task that it drives.
//!
//! Everything that can happen meanwhile (a child's end, what an agent prints, a signal, a command) arrives in one
//! channel, and `listen.rs` is where it is waited for. Short effects (git, files) are done on the spot.

use std::sync::Arc;

use jiff::Timestamp;

use super::acp_process::AcpProcesses;
use super::admission::Admission;
use super::context::{Control, DriverContext, DriverError, Sink};
use super::durability::Durability;
use super::earlier::Earlier;
use super::machine::{Begin, Effect, Input, Machine, Step};
use super::mailbox::Mailbox;
use super::mirroring::Mirroring;
use super::moved_refs::RefWatch;
use super::planted::TurnBegun;
use super::proof::ProofCheckout;
use super::secrets::{masked, masker};
use super::spec_file::SpecFile;
use super::tampering::Tampering;
use super::task_journal::TaskJournal;
use super::usage_limits::Limits;
use super::workspace::Workspace;
use crate::event::{Envelope, Event, Notice, TaskResult, WorkspaceProblem};
use crate::files::FileAction;
use crate::process::{Launcher, Masker, RoomMade, keep_memory_to_ourselves, sweep};
use crate::spec::TaskSpec;
use crate::store::{Journal, TaskDir};

/// The same step so often in a row means that the machine does not take in what came of it. A few are right: one that
/// only asks for the time may be asked for by one reason after another.
const SAME_STEP_IN_ROW: u32 = 8;

/// Drives one task. The parts own their state; the driver has the sequence.
pub struct Driver<'a> {
    pub(super) spec: Arc<TaskSpec>,
    pub(super) dir: TaskDir,
    pub(super) spec_file: SpecFile,
    pub(super) machine: Box<dyn Machine + Send>,
    pub(super) context: DriverContext,
    pub(super) launcher: Launcher,
    pub(super) record: TaskJournal<'a>,
    pub(super) mailbox: Mailbox,
    pub(super) earlier: Earlier,
    pub(super) admission: Admission,
    pub(super) workspace: Option<Workspace>,
    pub(super) proof: ProofCheckout,
    pub(super) turns: Turns,
}

/// What outlives a turn of an agent.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Whose turn is run next: of one that begins now no file can be there yet.
    pub(super) begun: TurnBegun,
    pub(super) limits: Limits,
    pub(super) acp: AcpProcesses,
    pub(super) tampering: Tampering,
    pub(super) refs: Option<RefWatch>,
    /// How the last command was confined; none: that is on record.
    pub(super) room: Option<RoomMade>,
}

impl<'a> Driver<'a> {
    /// Takes up the task in `dir`, whose lock the caller holds. Nothing is done before [`Driver::run`].
    pub fn new(
        spec: TaskSpec,
        dir: TaskDir,
        mut context: DriverContext,
        sink: &'a mut dyn Sink,
    ) -> Result<(Self, Control), DriverError> {
        let spec = Arc::new(spec);
        let spec_file = SpecFile::read(&dir)?;
        let mut machine = context.kinds.machine(&spec)?;
        let mut last: Option<Envelope> = None;
        let mut earlier = Earlier::default();
        // Folded by the same `apply` that takes in new events: a resumed machine cannot differ from one that never
        // stopped.
        let journal = Journal::open(&dir.journal_path(), |line| {
            machine.apply(&line);
            earlier.saw(&line, &spec.place);
            last = Some(line);
        })?;
        let launcher = launcher(&dir, &spec, &context)?;
        let after = (Durability::start(&dir, &journal)?, Mirroring::of(&dir.name(), &context.env));
        let mailbox = Mailbox::new(std::mem::take(&mut earlier.commands));
        let control = Control(mailbox.outbox());
        let driver = Self {
            record: TaskJournal::new(spec.name.to_string(), (journal, last), after, sink),
            proof: ProofCheckout::new(earlier.start_sha256.take()),
            admission: Admission::new(context.repo_slot.take(), context.machine_slot.take()),
            workspace: None,
            turns: Turns::default(),
            spec,
            dir,
            spec_file,
            machine,
            context,
            launcher,
            mailbox,
            earlier,
        };
        Ok((driver, control))
    }

    /// Writes down that the task begins, or goes on and with what; nothing else is done yet. Whoever is told after this
    /// that the task goes on is told the truth, whatever is killed next.
    pub fn begin(&mut self) -> Result<(), DriverError> {
        if !self.record.begins() {
            return Ok(());
        }
        if self.record.is_empty() {
            let spec_sha256 = self.spec_file.sha256();
            self.record(created(&self.spec, spec_sha256, self.launcher.masker()))?;
        } else {
            self.clear_up_behind_the_dead()?;
        }
        // Without a seal nothing counts as proven; that is no reason not to work.
        // Before `TaskStarted` or `Resumed` is written: the seal is checked against the time of that line.
        let kept = keep_memory_to_ourselves(&self.context.env);
        if let Err(error) = kept.and_then(|()| self.record.begin_seal()) {
            self.record(Event::Notice(Notice::NotSealed { error: error.to_string() }))?;
        }
        let begin = Begin {
            pid: std::process::id(),
            version: self.context.version.clone(),
            more_iterations: self.context.more_iterations.take(),
            follow_up: self.context.follow_up.take(),
            proof: self.context.proof.take(),
        };
        self.input(&Input::Begin(begin))
    }

    /// Drives the task to its end.
    pub fn run(mut self) -> Result<TaskResult, DriverError> {
        self.begin()?;
        // Commands that were given while nobody drove the task count from its first step on.
        let _watch = self.open_inbox()?;
        self.reopen_workspace()?;
        let mut prepared = false;
        let mut same_in_row = 0;
        while let Some(step) = self.machine.next() {
            self.take_what_came()?;
            let is_next = |driver: &Self| driver.machine.next() == Some(step);
            // A command may have changed what comes next, both before and during the wait for a slot. So the machine
            // is asked again rather than told that its step was skipped.
            if !is_next(&self) || !self.admit(step)? || !is_next(&self) {
                continue;
            }
            if !std::mem::replace(&mut prepared, true) {
                // The guard of the first turn starts while we look at the repository.
                self.launcher.prepare();
            }
            self.mirror_before(step)?;
            let performed = match self.perform(step) {
                Err(error) if error.is_by_stop() => {
                    // The machine has yet to hear why; what it wants done then is another thing, or cannot be done.
                    self.take_what_came()?;
                    if is_next(&self) {
                        return Err(error);
                    }
                    continue;
                }
                performed => performed?,
            };
            if let Some(input) = performed {
                self.input(&input)?;
                // Nothing follows the end.
                if self.machine.next().is_some() {
                    self.note_room()?;
                }
                same_in_row = if is_next(&self) { same_in_row + 1 } else { 0 };
            }
            // On a damaged record the machine may go round for ever, and a turn each time is a burnt budget.
            let most = if matches!(step, Step::RunTurn { .. }) { 1 } else { SAME_STEP_IN_ROW };
            if same_in_row >= most {
                return Err(DriverError::NoProgress { task: self.spec.name.to_string() });
            }
        }
        // After the last line, so that a caller who is told of the end can rely on it through a power cut.
        self.record.durability.finish();
        self.mirror_the_end();
        self.record
            .into_result()
            .ok_or_else(|| DriverError::Workspace(WorkspaceProblem::said("the task ended without a result")))
    }

    fn perform(&mut self, step: Step) -> Result<Option<Input>, DriverError> {
        self.turns.limits.release_unless_needed_for(step);
        self.proof.release_unless_needed_for(step, self.spec.policy.checks.len());
        if step.is_of_proof() {
            self.dismiss_agents()?;
        } else {
            self.recall_agents();
        }
        Ok(match &self.machine.plan(step) {
            Effect::PrepareWorkspace => Some(self.prepare_workspace()?),
            Effect::RunSetup(plan) => self.run_setup(plan)?,
            Effect::RunCheck(plan) => {
                let ended = self.run_check(plan)?;
                self.keep_spec_file()?;
                ended
            }
            Effect::PrepareProof(plan) => self.prepare_proof(plan)?,
            Effect::FindHidden { .. } => Some(self.find_hidden()?),
            Effect::BeginTurn(start) => Some(self.begin_turn(*start)?),
            Effect::RunTurn(plan) => {
                self.remember_settings_files();
                self.watch_refs();
                let ended = self.run_turn(&self.told_of_room(plan))?;
                self.report_moved_refs()?;
                self.report_settings_files()?;
                self.keep_spec_file()?;
                self.probe_ended(&ended)?;
                self.record.turn_output = None;
                Some(ended)
            }
            Effect::Write(plan) => Some(self.write(plan)?),
            Effect::PrepareCommit(plan) => Some(self.prepare_commit(plan)?),
            Effect::Land(landing) => Some(self.land(landing)?),
            Effect::InspectWork(query) => Some(self.inspect_work(query)?),
            Effect::KeepWork => Some(self.keep_work()?),
            Effect::Sleep { until, .. } => self.sleep_until(*until)?.then_some(Input::WaitOver),
            Effect::ShareLimit(found) => Some(self.share_limit(found)?),
            Effect::AwaitProbe { agent, until } => self.await_probe(*agent, *until)?,
            Effect::Settle => Some(Input::Settle { now: Timestamp::now() }),
            Effect::Finish { base } => {
                self.end_acp_processes()?;
                self.end_watch();
                self.say_where_it_stays()?;
                self.keep_spec_file()?;
                self.carry_the_rest()?;
                Some(self.gather_result(base.as_ref())?)
            }
        })
    }

    /// Gives the machine an input and writes down what follows.
    pub(super) fn input(&mut self, input: &Input) -> Result<(), DriverError> {
        for event in self.machine.decide(input) {
            self.record(event)?;
        }
        Ok(())
    }

    /// On disk before anyone acts on it.
    pub(super) fn record(&mut self, event: Event) -> Result<(), DriverError> {
        let event = masked(event, self.launcher.masker());
        let machine = &mut self.machine;
        self.record.append(event, &mut |line| machine.apply(line))
    }

    /// Runner and guard may both have been killed; then the environment tag finds what they left.
    fn clear_up_behind_the_dead(&mut self) -> Result<(), DriverError> {
        // Only the holder of the task's lock gets here. Guards hold that lock too, so whatever carries the tag now
        // belongs to a run whose guard is dead as well.
        let swept = sweep(&self.spec.tag);
        if !swept.killed.is_empty() {
            let count = swept.killed.len() as u64;
            self.input(&Input::Notice(Notice::EarlierProcessesEnded { count }))?;
        }
        for process in swept.unreachable {
            let (pid, program) = (process.pid, process.name);
            self.input(&Input::Notice(Notice::EarlierProcessLeft { pid, program }))?;
        }
        self.clear_locks_of_earlier_run()
    }
}

fn created(spec: &TaskSpec, spec_sha256: String, masker: &Masker) -> Event {
    Event::TaskCreated {
        kind: spec.kind.clone(),
        agent: spec.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(","),
        // The whole prompt is in the spec; a journal holds no secret, also none that the user wrote (S15).
        prompt: masker.mask_str(&spec.prompt),
        max_iterations: spec.policy.cap.map(|cap| cap.iterations),
        completion_promise: spec.policy.until.clone(),
        looping: spec.policy.looping,
        spec_sha256: Some(spec_sha256),
    }
}

/// Starts children as this task's.
fn launcher(dir: &TaskDir, spec: &TaskSpec, context: &DriverContext) -> Result<Launcher, DriverError> {
    let masker = Arc::new(masker(&context.env, spec));
    let launcher = Launcher::new(context.program.clone(), masker).map_err(|source| DriverError::File {
        what: FileAction::Run,
        path: context.program.clone(),
        source,
    })?;
    let launcher = launcher.holding(&context.locks);
    Ok(match (context.supervision.guards(), dir.repo()) {
        (Some(guards), _) => launcher.under(guards),
        (None, Some(data)) => launcher.for_home(data.home()),
        (None, None) => launcher,
    })
}
