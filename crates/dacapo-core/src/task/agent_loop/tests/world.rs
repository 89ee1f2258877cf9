//! A world in which agents, checks, git and the clock do what a script says.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::engine::Planned as _;
use crate::engine::machine::{
    Begin, CheckPlan, CommitPlan, Effect, FoundLimit, Input, Machine, ProofPlan, SetupPlan, TurnPlan,
    WritingPlan,
};
use crate::event::{
    CheckPhase, Command, CommitPlanned, Envelope, Event, FORMAT, IterationRecord, KnownLimit, Outcome,
    Received, SetupResult, StopReason, TaskResult, TurnEnd, WritingEnd,
};
use crate::event::{Hidden, ProofCache};
use crate::git::Oid;
use crate::spec::{TaskSpec, Writing};
use crate::task::agent_loop::AgentLoop;

mod records;
mod turns;

pub(super) use self::turns::*;
pub(super) use super::specs::*;

/// Words of a person for the next iteration alone.
pub(super) fn tell(text: &str) -> Received {
    command(Command::Tell { text: text.into(), standing: false })
}

/// What a person wants; each has an id of its own by what it says.
pub(super) fn command(command: Command) -> Received {
    Received { id: format!("{command:?}"), by: "a person".into(), command }
}

/// A stop, when the loop comes to what `when` describes for the `nth` time (from 0).
pub(super) struct StopAt {
    pub(super) when: fn(&Effect) -> bool,
    pub(super) nth: u32,
}

type TurnScript = Box<dyn FnMut(&TurnPlan) -> Turn>;
type CheckScript = Box<dyn FnMut(&CheckPlan) -> (i32, String)>;
type WritingScript = Box<dyn FnMut(&WritingPlan) -> WritingEnd>;
type CommitScript = Box<dyn FnMut(&CommitPlan) -> CommitPlanned>;
type ProofScript = Box<dyn FnMut(&ProofPlan) -> Input>;
type LookScript = Box<dyn FnMut(usize, Timestamp) -> Option<KnownLimit>>;

pub(super) struct World {
    pub(super) spec: Arc<TaskSpec>,
    pub(super) machine: AgentLoop,
    pub(super) journal: Vec<Envelope>,
    /// The effect that led to each line of the journal; none for what came from outside.
    pub(super) because: Vec<Option<Effect>>,
    pub(super) turns: Vec<TurnPlan>,
    pub(super) started: Vec<Option<Oid>>,
    pub(super) commits: Vec<CommitPlan>,
    pub(super) checks: Vec<CheckPlan>,
    pub(super) writings: Vec<WritingPlan>,
    pub(super) sleeps: Vec<Duration>,
    /// Commands of the setup that ran, and how the nth of these runs ends; below 0: at its time limit.
    pub(super) setups: Vec<String>,
    pub(super) on_setup: Box<dyn FnMut(usize) -> i32>,
    pub(super) head: Option<Oid>,
    pub(super) now: Timestamp,
    pub(super) active: Duration,
    pub(super) on_turn: TurnScript,
    pub(super) on_check: CheckScript,
    pub(super) on_commit: CommitScript,
    /// What other tasks know of the account of an agent whose turn is about to start.
    pub(super) on_look: LookScript,
    /// Checkouts that were asked for, and what came of the nth.
    pub(super) proofs: Vec<ProofPlan>,
    pub(super) on_proof: ProofScript,
    /// What the workspace has and no commit holds.
    pub(super) hidden: Vec<Hidden>,
    /// How long another task takes to try whether a limit is over.
    pub(super) probe_takes: Duration,
    /// What other tasks were told.
    pub(super) shared: Vec<FoundLimit>,
    pub(super) on_writing: WritingScript,
    /// Landings of these iterations find the branch elsewhere.
    pub(super) lands_elsewhere: Vec<u32>,
    pub(super) stop: Option<StopAt>,
    /// Said while this turn runs.
    pub(super) tell: Option<(u32, &'static str)>,
    pub(super) presets: bool,
}

/// Every iteration changes a file, and the engine commits it.
pub(super) fn changes(plan: &CommitPlan) -> CommitPlanned {
    CommitPlanned {
        iteration: plan.iteration,
        commit: plan.commit.then(|| commit_of(plan.iteration)),
        parent: plan.tip.clone(),
        subject: plan.message.lines().next().unwrap_or_default().into(),
        changed_files: vec!["src/a.rs".into()],
        changed_total: 1,
        ..CommitPlanned::default()
    }
}

/// The checkout is there, and its setup ran only where that was asked for.
/// Caches of an earlier commit.
pub(super) fn cache(confirm: bool) -> ProofCache {
    ProofCache { commit_id: oid(7), confirm }
}

pub(super) fn ready(plan: &ProofPlan) -> Input {
    Input::ProofReady { set_up: !plan.setup.commands.is_empty(), cache: None, tests: None }
}

/// Nothing changes.
pub(super) fn changes_nothing(plan: &CommitPlan) -> CommitPlanned {
    CommitPlanned { iteration: plan.iteration, parent: plan.tip.clone(), ..CommitPlanned::default() }
}

impl World {
    /// A world in which every turn is done without a promise, every check is red and every commit lands.
    pub(super) fn new(spec: TaskSpec) -> Self {
        let spec = Arc::new(spec);
        Self {
            machine: AgentLoop::new(Arc::clone(&spec)),
            spec,
            journal: Vec::new(),
            because: Vec::new(),
            turns: Vec::new(),
            started: Vec::new(),
            commits: Vec::new(),
            checks: Vec::new(),
            writings: Vec::new(),
            sleeps: Vec::new(),
            setups: Vec::new(),
            on_setup: Box::new(|_| 0),
            head: Some(base()),
            now: start(),
            active: Duration::ZERO,
            on_turn: Box::new(|_| done()),
            on_check: Box::new(|_| (1, "red".into())),
            on_commit: Box::new(changes),
            on_look: Box::new(|_, _| None),
            proofs: Vec::new(),
            on_proof: Box::new(ready),
            hidden: Vec::new(),
            probe_takes: Duration::from_secs(20),
            shared: Vec::new(),
            on_writing: Box::new(|plan| WritingEnd::Done {
                text: match plan.what {
                    Writing::Summary => format!("Summed up {}. In short.", plan.iteration),
                    Writing::CommitMessage => format!("Word {}\n\nWhy it was done.", plan.iteration),
                },
            }),
            lands_elsewhere: Vec::new(),
            stop: None,
            tell: None,
            presets: false,
        }
    }

    /// Turn `n` of the whole task goes by the `n`th entry; the last one stands for all that follow.
    pub(super) fn turns(mut self, script: &[Turn]) -> Self {
        let script = script.to_vec();
        self.on_turn = Box::new(move |plan| script[(plan.turn as usize).min(script.len() - 1)].clone());
        self
    }

    pub(super) fn on_turn(mut self, script: impl FnMut(&TurnPlan) -> Turn + 'static) -> Self {
        self.on_turn = Box::new(script);
        self
    }

    /// What other tasks know when agent `n` is about to start at this time.
    pub(super) fn look(
        mut self,
        script: impl FnMut(usize, Timestamp) -> Option<KnownLimit> + 'static,
    ) -> Self {
        self.on_look = Box::new(script);
        self
    }

    /// The exit code of a check by (phase, iteration, index).
    pub(super) fn check(
        mut self,
        mut script: impl FnMut(CheckPhase, Option<u32>, u32) -> i32 + 'static,
    ) -> Self {
        self.on_check = Box::new(move |plan| {
            let code = script(plan.phase, plan.iteration, plan.index);
            (code, format!("line of {}\nended {code}", plan.command))
        });
        self
    }

    pub(super) fn commit(mut self, script: impl FnMut(&CommitPlan) -> CommitPlanned + 'static) -> Self {
        self.on_commit = Box::new(script);
        self
    }

    pub(super) fn writing(mut self, script: impl FnMut(&WritingPlan) -> WritingEnd + 'static) -> Self {
        self.on_writing = Box::new(script);
        self
    }

    pub(super) fn stop(mut self, nth: u32, when: fn(&Effect) -> bool) -> Self {
        self.stop = Some(StopAt { when, nth });
        self
    }

    /// From nothing to the end.
    pub(super) fn run(mut self) -> Self {
        self.begin(Begin::default());
        self.drive();
        self
    }

    /// Takes the task up again and drives it to its end.
    pub(super) fn resume(mut self, more_iterations: Option<u32>, follow_up: Option<&str>) -> Self {
        self.begin(Begin { more_iterations, follow_up: follow_up.map(str::to_owned), ..Begin::default() });
        self.drive();
        self
    }

    pub(super) fn begin(&mut self, begin: Begin) {
        self.pass(Duration::ZERO);
        self.input(&Input::Begin(begin), None);
    }

    pub(super) fn drive(&mut self) {
        while self.step() {}
    }

    /// Carries one effect out. False: there is none.
    pub(super) fn step(&mut self) -> bool {
        assert!(self.journal.len() < 100_000, "the loop does not end");
        let Some(effect) = self.machine.effect() else { return false };
        if let Some(stop) = &mut self.stop
            && (stop.when)(&effect)
        {
            if stop.nth == 0 {
                self.stop = None;
                return self.stopped_in(&effect);
            }
            stop.nth -= 1;
        }
        if let Some(input) = self.perform(&effect) {
            self.input(&input, Some(&effect));
        }
        true
    }

    /// A signal while `effect` is carried out; a turn in flight is ended, a check or a sleep has no result.
    fn stopped_in(&mut self, effect: &Effect) -> bool {
        self.input(&Input::Stop { by: "SIGINT".into() }, None);
        match effect {
            Effect::RunTurn(plan) => {
                self.turns.push(plan.clone());
                let record = self.turn_record(plan, &ended(TurnEnd::Cancelled));
                self.input(&Input::TurnEnded(record), None);
            }
            Effect::RunSetup(_)
            | Effect::RunCheck(_)
            | Effect::PrepareProof(_)
            | Effect::FindHidden { .. }
            | Effect::Sleep { .. }
            | Effect::AwaitProbe { .. }
            | Effect::ShareLimit(_)
            | Effect::Settle
            | Effect::InspectWork(_)
            | Effect::KeepWork
            | Effect::BeginTurn(_) => {}
            Effect::Write(plan) => {
                self.writings.push(plan.clone());
                let record = self.writing_record(plan, WritingEnd::Cancelled);
                self.input(&Input::Written(record), None);
            }
            Effect::PrepareWorkspace | Effect::PrepareCommit(_) | Effect::Land(_) | Effect::Finish { .. } => {
                if self.machine.effect().as_ref() == Some(effect)
                    && let Some(input) = self.perform(effect)
                {
                    self.input(&input, None);
                }
            }
        }
        true
    }

    fn run_setup(&mut self, plan: &SetupPlan) -> SetupResult {
        self.setups.push(plan.command.clone());
        self.pass(Duration::from_secs(2));
        let code = (self.on_setup)(self.setups.len() - 1);
        SetupResult {
            index: plan.index,
            command: plan.command.clone(),
            exit_code: (code >= 0).then_some(code),
            timed_out: code < 0,
            duration_ms: 2000,
            tail: (0..20).map(|n| format!("line {n}\n")).collect(),
            output: "setup/0003.raw".into(),
            changed_files: Vec::new(),
        }
    }

    pub(super) fn perform(&mut self, effect: &Effect) -> Option<Input> {
        Some(match effect {
            Effect::PrepareWorkspace => Input::WorkspaceReady {
                path: "/repo".into(),
                branch: Some("refs/heads/main".into()),
                base: self.head.clone(),
                kept_changes: None,
                port_base: None,
                start_sha256: None,
            },
            Effect::RunSetup(plan) => Input::SetupDone(self.run_setup(plan)),
            Effect::RunCheck(plan) => Input::CheckDone(self.run_check(plan)),
            Effect::PrepareProof(plan) => {
                self.proofs.push(plan.clone());
                (self.on_proof)(plan)
            }
            Effect::FindHidden { .. } => {
                Input::HiddenFound { hidden: self.hidden.clone(), total: self.hidden.len() as u64 }
            }
            Effect::BeginTurn(start) => {
                if let Some(known) = (self.on_look)(start.agent, self.now) {
                    return Some(Input::LimitKnown(known));
                }
                self.started.push(self.head.clone());
                let session = (start.fresh && self.presets).then(|| format!("preset-{}", self.turns.len()));
                Input::TurnBegins { head: self.head.clone(), session }
            }
            Effect::RunTurn(plan) => {
                self.turns.push(plan.clone());
                if let Some((_, text)) = self.tell.take_if(|(turn, _)| *turn == plan.turn) {
                    self.input(&Input::Command(tell(text)), None);
                }
                let turn = (self.on_turn)(plan);
                self.pass(turn.takes);
                Input::TurnEnded(self.turn_record(plan, &turn))
            }
            Effect::Write(plan) => {
                self.writings.push(plan.clone());
                let end = (self.on_writing)(plan);
                Input::Written(self.writing_record(plan, end))
            }
            Effect::PrepareCommit(plan) => {
                self.commits.push(plan.clone());
                let planned = (self.on_commit)(plan);
                if planned.commit.is_none() && planned.problems.is_empty() {
                    self.head.clone_from(&planned.parent);
                }
                Input::Prepared(planned)
            }
            Effect::Land(landing) if self.lands_elsewhere.contains(&landing.iteration) => {
                Input::LandedElsewhere { problem: "the branch was moved".into() }
            }
            Effect::Land(landing) => {
                self.head = Some(landing.commit.clone());
                Input::Landed
            }
            Effect::Sleep { until, .. } => {
                let wait = Duration::try_from(until.duration_since(self.now)).unwrap_or_default();
                self.sleeps.push(wait);
                self.pass(wait);
                Input::WaitOver
            }
            Effect::AwaitProbe { until, .. } => {
                let most = Duration::try_from(until.duration_since(self.now)).unwrap_or_default();
                let wait = self.probe_takes.min(most);
                self.sleeps.push(wait);
                self.pass(wait);
                Input::WaitOver
            }
            Effect::ShareLimit(found) => {
                self.shared.push(found.clone());
                Input::Settle { now: self.now }
            }
            Effect::InspectWork(_) | Effect::KeepWork => panic!("a loop asks for neither"),
            Effect::Settle => Input::Settle { now: self.now },
            Effect::Finish { .. } => Input::Finishing {
                last_commit: self.head.clone(),
                trust_files: Vec::new(),
                elapsed: self.active,
            },
        })
    }

    pub(super) fn input(&mut self, input: &Input, because: Option<&Effect>) {
        for event in self.machine.decide(input) {
            self.pass(Duration::from_millis(1));
            let line = Envelope {
                v: FORMAT,
                seq: self.journal.len() as u64,
                at: self.now,
                elapsed_ms: u64::try_from(self.active.as_millis()).unwrap(),
                task: "x".into(),
                came_at: None,
                event,
            }
            .consistent();
            self.machine.apply(&line);
            self.journal.push(line);
            self.because.push(because.cloned());
        }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += SignedDuration::try_from(time).unwrap();
        self.active += time;
    }

    pub(super) fn count(&self, which: impl Fn(&Event) -> bool) -> usize {
        self.journal.iter().filter(|line| which(&line.event)).count()
    }

    pub(super) fn records(&self) -> Vec<&IterationRecord> {
        let finished = self.journal.iter().filter_map(|line| match &line.event {
            Event::IterationFinished(record) => Some(record),
            _ => None,
        });
        finished.collect()
    }

    /// The newest result.
    pub(super) fn result(&self) -> &TaskResult {
        let results = self.journal.iter().rev();
        let mut results = results.filter_map(|line| {
            if let Event::TaskFinished(result) = &line.event { Some(result) } else { None }
        });
        results.next().expect("the task is over")
    }

    /// Outcome, reason, and how many iterations were attempted, succeeded and failed.
    pub(super) fn end(&self) -> (Outcome, StopReason, u32, u32, u32) {
        let result = self.result();
        (
            result.outcome,
            result.stop_reason,
            result.iterations_attempted,
            result.iterations_succeeded,
            result.iterations_failed,
        )
    }

    pub(super) fn prompts(&self) -> Vec<&str> {
        self.turns.iter().map(|turn| turn.prompt.as_str()).collect()
    }
}

/// The state that a journal folds to.
pub(super) fn fold(spec: &Arc<TaskSpec>, journal: &[Envelope]) -> AgentLoop {
    let mut machine = AgentLoop::new(Arc::clone(spec));
    for line in journal {
        machine.apply(line);
    }
    machine
}
