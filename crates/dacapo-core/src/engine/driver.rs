//! Carries effects out and is the only writer of the journal.
//!
//! Everything that can happen meanwhile (a child's end, what an agent prints, a signal, a command) arrives in one
//! channel, so waiting for it all is one `recv` with a deadline. Short effects (git, files) are done on the spot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::durability::Durability;
use super::left_locks::EarlierRun;
use super::limits::Limits;
use super::machine::{Begin, Effect, Input, Machine};
use super::mirroring::Mirroring;
use super::planted::TurnBegun;
use super::standing::{For, Standing};
use super::surroundings::{Control, DriverError, Setting, Sink};
use super::talker::Talks;
use super::tampering::Tampering;
use super::turn::Parsed;
use super::workspace::Workspace;
use crate::agent::acp::{Question, Talk};
use crate::event::{AgentEvent, Envelope, Event, FORMAT, SetupResult, TaskResult};
use crate::process::{Finished, Launcher, Masker, sweep};
use crate::proof::{Lease, ProofError};
use crate::spec::TaskSpec;
use crate::store::{Held, Journal, JournalError, ProbeLock, TaskDir};

/// A wall clock may jump and a machine may be suspended: a sleep looks at it again after so long.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(30);

/// All that can reach the driver while it waits.
#[derive(Debug)]
pub(super) enum Message {
    Stop {
        by: String,
    },
    /// Something lies in the inbox.
    Mail,
    /// It is this task's turn, or it has a place to work.
    Place(For, std::io::Result<Held>),
    /// A child and all it started is gone.
    ChildGone(Box<Finished>),
    Agent(AgentEvent),
    /// What an agent that one talks with wants to be answered.
    Talk(Box<Talk>),
    /// All of a turn's output has been read.
    Parsed(Box<Parsed>),
    /// The task that tried whether a limit is over does so no more.
    ProbeFree(std::io::Result<ProbeLock>),
    /// A checkout to prove a commit in is free.
    ProofLease(Box<Result<Lease, ProofError>>),
    /// The process of this agent, with which one talks, is gone, with all it started.
    TalkerGone(usize, Box<Finished>),
    /// A person's answer.
    Answer {
        number: u64,
        choice: Option<usize>,
    },
}

/// Drives one task.
pub struct Driver<'a> {
    pub(super) spec: Arc<TaskSpec>,
    pub(super) dir: TaskDir,
    pub(super) machine: Box<dyn Machine + Send>,
    pub(super) launcher: Launcher,
    pub(super) masker: Arc<Masker>,
    pub(super) setting: Setting,
    pub(super) workspace: Option<Workspace>,
    pub(super) durability: Durability,
    pub(super) limits: Limits,
    pub(super) talks: Talks,
    /// The checkout in which a commit is proven now.
    pub(super) proof: Option<Lease>,
    /// The hash of what proofs are made with.
    pub(super) start_sha256: Option<String>,
    /// The ports that an earlier process of the task had.
    pub(super) ports_before: Option<u16>,
    /// What checks of an earlier process left behind, and when that was seen.
    pub(super) earlier_litter: HashMap<String, Timestamp>,
    pub(super) earlier: EarlierRun,
    /// Commands that are in the journal.
    pub(super) commands_taken: HashSet<String>,
    /// It was said that files which are no commands lie in the inbox.
    pub(super) strangers_named: bool,
    /// Something is in the inbox, and we were told.
    pub(super) mail: Arc<AtomicBool>,
    pub(super) standing: Standing,
    pub(super) mirroring: Mirroring,
    pub(super) tampering: Tampering,
    /// What the turn at work waits for.
    pub(super) asked: Option<Question>,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) outbox: Sender<Message>,
    inbox: Receiver<Message>,
    journal: Journal,
    last: Option<Envelope>,
    /// An earlier process has made the place to work in.
    pub(super) workspace_was_made: bool,
    begun: bool,
    /// Whose turn is run next: of one that begins now no file can be there yet.
    pub(super) turn_begun: TurnBegun,
    /// An earlier process has driven the task before.
    pub(super) taken_up: bool,
    sub: u64,
    elapsed_before: Duration,
    pub(super) started: Instant,
    next_tick: Instant,
    result: Option<TaskResult>,
}

impl<'a> Driver<'a> {
    /// Takes up the task in `dir`, whose lock the caller holds. Nothing is done before [`Driver::run`].
    pub fn new(
        spec: TaskSpec,
        dir: TaskDir,
        mut setting: Setting,
        sink: &'a mut dyn Sink,
    ) -> Result<(Self, Control), DriverError> {
        let spec = Arc::new(spec);
        let mut machine = setting.kinds.machine(&spec)?;
        let mut last: Option<Envelope> = None;
        let mut earlier_litter = HashMap::new();
        let mut earlier = EarlierRun::default();
        let mut commands_taken = HashSet::new();
        let mut workspace_was_made = false;
        let mut ports_before = None;
        let mut start_before = None;
        let journal = Journal::open(&dir.journal_path(), |line| {
            machine.apply(&line);
            earlier.saw(&line);
            match &line.event {
                Event::CheckFinished(check) => {
                    earlier_litter.extend(check.changed_files.iter().map(|name| (name.clone(), line.at)));
                }
                Event::WorkspaceReady { port_base, start_sha256, .. } => {
                    workspace_was_made = true;
                    start_before.clone_from(start_sha256);
                    ports_before = *port_base;
                }
                Event::PortsLeased { port_base } => ports_before = Some(*port_base),
                Event::FilesIncluded { uncommitted: files, .. }
                | Event::SetupFinished(SetupResult { changed_files: files, .. }) => {
                    earlier_litter.extend(files.iter().map(|name| (name.clone(), line.at)));
                }
                Event::CommandReceived(received) => drop(commands_taken.insert(received.id.clone())),
                _ => {}
            }
            last = Some(line);
        })?;
        let masker = Arc::new(Masker::from_env(setting.env.iter().cloned()));
        let launcher = Launcher::new(setting.program.clone(), Arc::clone(&masker)).map_err(|source| {
            DriverError::File { what: "prepare to run", path: setting.program.clone(), source }
        })?;
        let launcher = match dir.repo() {
            Some(data) => launcher.for_home(data.home()),
            None => launcher,
        };
        let durability = Durability::start(&dir, &journal)?;
        let (outbox, inbox) = mpsc::channel();
        let control = Control(outbox.clone());
        let now = Instant::now();
        let mirroring = Mirroring::of(&dir.name());
        let driver = Self {
            spec,
            dir,
            machine,
            mirroring,
            tampering: Tampering::default(),
            standing: Standing::new(setting.turn.take(), setting.places.take()),
            commands_taken,
            strangers_named: false,
            mail: Arc::default(),
            asked: None,
            workspace_was_made,
            begun: false,
            turn_begun: TurnBegun::Earlier,
            ports_before,
            launcher,
            masker,
            setting,
            workspace: None,
            durability,
            limits: Limits::default(),
            talks: Talks::default(),
            proof: None,
            start_sha256: start_before,
            earlier_litter,
            earlier,
            sink,
            outbox,
            inbox,
            journal,
            elapsed_before: last
                .as_ref()
                .map_or(Duration::ZERO, |line| Duration::from_millis(line.elapsed_ms)),
            taken_up: last.is_some(),
            last,
            sub: 0,
            started: now,
            next_tick: now,
            result: None,
        };
        Ok((driver, control))
    }

    /// Writes down that the task begins, or goes on and with what; nothing else is done yet. Whoever is told after this
    /// that the task goes on is told the truth, whatever is killed next.
    pub fn begin(&mut self) -> Result<(), DriverError> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        if self.last.is_none() {
            self.record(self.created())?;
        } else {
            self.clear_up_behind_the_dead()?;
        }
        // Without a seal nothing counts as proven; that is no reason not to work.
        if let Err(error) = self.journal.begin_seal() {
            self.record(Event::Notice { message: format!("this run cannot be sealed: {error}") })?;
        }
        let begin = Begin {
            pid: std::process::id(),
            version: self.setting.version.clone(),
            more_iterations: self.setting.more_iterations.take(),
            follow_up: self.setting.follow_up.take(),
            proof: self.setting.proof.take(),
        };
        self.input(&Input::Begin(begin))
    }

    /// Drives the task to its end.
    pub fn run(mut self) -> Result<TaskResult, DriverError> {
        self.begin()?;
        let _watch = self.open_inbox()?;
        self.reopen_workspace()?;
        let mut prepared = false;
        while let Some(effect) = self.machine.next() {
            while let Ok(message) = self.inbox.try_recv() {
                self.absorb(message)?;
            }
            let is_next = |driver: &Self| driver.machine.next().as_ref() == Some(&effect);
            if !is_next(&self) || !self.stand(&effect)? || !is_next(&self) {
                continue;
            }
            if !std::mem::replace(&mut prepared, true) {
                // The guard of the first turn starts while we look at the repository.
                self.launcher.prepare();
            }
            self.mirror_before(&effect)?;
            if let Some(input) = self.perform(effect)? {
                self.input(&input)?;
            }
        }
        self.durability.finish();
        self.mirror_the_end();
        self.result.ok_or_else(|| DriverError::Workspace("the task ended without a result".into()))
    }

    fn perform(&mut self, effect: Effect) -> Result<Option<Input>, DriverError> {
        self.limits.release_unless_needed_for(&effect);
        self.release_proof_unless_needed_for(&effect);
        Ok(match effect {
            Effect::PrepareWorkspace => Some(self.prepare_workspace()?),
            Effect::RunSetup(plan) => self.run_setup(&plan)?,
            Effect::RunCheck(plan) => self.run_check(&plan)?,
            Effect::PrepareProof(plan) => self.prepare_proof(&plan)?,
            Effect::FindHidden { .. } => Some(self.find_hidden()?),
            Effect::BeginTurn(start) => Some(self.begin_turn(start)?),
            Effect::RunTurn(plan) => {
                self.remember_settings_files();
                let ended = self.run_turn(&plan)?;
                self.report_settings_files()?;
                self.probe_ended(&ended)?;
                Some(ended)
            }
            Effect::Write(plan) => Some(self.write(&plan)?),
            Effect::PrepareCommit(plan) => Some(self.prepare_commit(&plan)?),
            Effect::Land(landing) => Some(self.land(&landing)?),
            Effect::InspectWork(query) => Some(self.inspect_work(&query)?),
            Effect::KeepWork => Some(self.keep_work()?),
            Effect::Sleep { until, .. } => self.sleep_until(until)?,
            Effect::ShareLimit(found) => Some(self.share_limit(&found)?),
            Effect::AwaitProbe { agent, until } => self.await_probe(agent, until)?,
            Effect::Settle => Some(Input::Settle { now: Timestamp::now() }),
            Effect::Finish { base } => {
                self.end_talks()?;
                self.say_where_it_stays()?;
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
        let iteration_over = matches!(event, Event::IterationFinished(_));
        if iteration_over {
            // A power cut costs at most the newest iteration: the one before is on disk by now.
            if let Some(problem) = self.durability.wait() {
                self.record_line(Event::Notice { message: problem })?;
            }
        }
        self.record_line(event)?;
        if iteration_over {
            self.durability.begin();
        }
        Ok(())
    }

    fn record_line(&mut self, mut event: Event) -> Result<(), DriverError> {
        if let Event::TaskFinished(result) = &mut event {
            // On a record that somebody else has written to nothing is proven (R4).
            result.verified &= self.journal.record().is_whole();
        }
        let line = Envelope {
            v: FORMAT,
            seq: self.journal.next_seq(),
            at: Timestamp::now(),
            elapsed_ms: u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX),
            task: self.spec.name.to_string(),
            event,
        };
        if let Event::TaskFinished(_) = &line.event
            && let Err(error) = self.journal.seal(&line)
        {
            tracing::warn!("the journal cannot be sealed: {error}");
        }
        match self.journal.append(&line) {
            Ok(()) => {}
            // What was there before is ours, and the rest is out of the way: it is said, and the task goes on unproven.
            Err(error @ JournalError::Foreign { .. }) => {
                self.record_line(Event::RecordAltered { message: error.to_string() })?;
                return self.record_line(line.event);
            }
            Err(error) => return Err(error.into()),
        }
        self.machine.apply(&line);
        if let Event::TaskFinished(result) = &line.event {
            self.result = Some(result.clone());
        }
        self.mirroring.saw(&line.event);
        self.sink.event(&line);
        self.last = Some(line);
        self.sub = 0;
        Ok(())
    }

    fn created(&self) -> Event {
        Event::TaskCreated {
            kind: self.spec.kind.clone(),
            agent: self.spec.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(","),
            // The whole prompt is in the spec; a journal holds no secret, also none that the user wrote (S15).
            prompt: self.masker.mask_str(&self.spec.prompt),
            max_iterations: self.spec.policy.cap.map(|cap| cap.iterations),
            completion_promise: self.spec.policy.until.clone(),
            looping: self.spec.policy.looping,
        }
    }

    /// Runner and guard may both have been killed; then the environment tag finds what they left.
    fn clear_up_behind_the_dead(&mut self) -> Result<(), DriverError> {
        let swept = sweep(&self.spec.tag);
        if !swept.killed.is_empty() {
            let message = format!("ended {} processes left by an earlier run", swept.killed.len());
            self.input(&Input::Notice(message))?;
        }
        for process in swept.unreachable {
            let message =
                format!("process {} ({}) of an earlier run cannot be ended", process.pid, process.name);
            self.input(&Input::Notice(message))?;
        }
        self.clear_locks_of_earlier_run()
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.journal.next_seq()
    }

    /// Active time of the task so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.elapsed_before + self.started.elapsed()
    }

    /// The next message, or none at `deadline`. Surfaces tick meanwhile.
    pub(super) fn receive(&mut self, deadline: Option<Instant>) -> Option<Message> {
        loop {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return self.inbox.try_recv().ok();
            }
            let tick = self.sink.tick_every().map(|every| {
                if self.next_tick <= now {
                    self.sink.tick();
                    self.next_tick = now + every;
                }
                self.next_tick
            });
            let wake = [deadline, tick].into_iter().flatten().min();
            let received = match wake {
                Some(wake) => self.inbox.recv_timeout(wake.saturating_duration_since(now)),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) => {}
                // We hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// A message that is not about what is being waited for. True: the task is to stop.
    pub(super) fn absorb(&mut self, message: Message) -> Result<bool, DriverError> {
        match message {
            Message::Stop { by } => {
                self.input(&Input::Stop { by })?;
                Ok(true)
            }
            Message::Mail => {
                let ended = self.machine.ends_now();
                self.take_orders()?;
                Ok(!ended && self.machine.ends_now())
            }
            Message::Agent(event) => {
                self.show(&event);
                Ok(false)
            }
            Message::TalkerGone(agent, finished) => {
                self.talker_gone(agent, &finished)?;
                Ok(false)
            }
            // The end of a child or of a probe, or words, that nobody waits for any more.
            Message::ChildGone(_)
            | Message::Parsed(_)
            | Message::ProbeFree(_)
            | Message::ProofLease(_)
            | Message::Place(..)
            | Message::Talk(_)
            | Message::Answer { .. } => Ok(false),
        }
    }

    pub(super) fn show(&mut self, event: &AgentEvent) {
        if let Some(last) = &self.last {
            self.sink.agent(last, self.sub, event);
            self.sub += 1;
        }
    }

    fn sleep_until(&mut self, until: Timestamp) -> Result<Option<Input>, DriverError> {
        while let Some(deadline) = next_look(until) {
            if let Some(message) = self.receive(Some(deadline))
                && self.absorb(message)?
            {
                return Ok(None);
            }
        }
        Ok(Some(Input::WaitOver))
    }
}

/// When to look at the wall clock again while `until` has not come.
pub(super) fn next_look(until: Timestamp) -> Option<Instant> {
    let left = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
    (!left.is_zero()).then(|| Instant::now() + left.min(LOOK_AT_CLOCK))
}
