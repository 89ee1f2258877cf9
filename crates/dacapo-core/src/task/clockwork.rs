//! A kind of task that nobody else knows (S5): a toy that is wound up and ticks, with steps and a view of its own and the
//! whole life of a task. It is one module; whoever registers it needs a line.

use std::any::Any;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lifecycle::{
    AtTheEnd, Company, Conversation, Ending, Known, Lifecycle, PAUSED, Relief, Tally, Wait, never_run,
};
use crate::engine::Planned as _;
use crate::engine::machine::{self, Begin, Effect, Input, Machine, TurnPlan, TurnStart};
use crate::engine::stop::Verdict;
use crate::engine::{Counts, Kind, KindView, Kinds, NotThatKind};
use crate::event::{
    Command, Envelope, Event, KindStep, NeedKind, Outcome, Received, SetupResult, StopDetail, StopReason,
    TimeLimit, TurnEnd, TurnRecord, Usage, WaitReason,
};
use crate::spec::{Place, Setup, TaskSpec};
use crate::view::{Status, TaskView};

const NAME: &str = "clockwork";

struct Clockworks;

impl Kind for Clockworks {
    fn name(&self) -> &'static str {
        NAME
    }

    fn machine(&self, spec: Arc<TaskSpec>) -> Result<Box<dyn Machine + Send>, NotThatKind> {
        Ok(Box::new(Clockwork::new(spec)?))
    }

    fn view(&self, _: &TaskSpec) -> Option<Box<dyn KindView>> {
        Some(Box::new(Dial::default()))
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Step {
    Ticked { tick: u32 },
}

struct Clockwork {
    life: Lifecycle,
    phase: Phase,
    conversation: Conversation,
    wanted: u32,
    ticks: u32,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Preparing,
    Between,
    Turn { turn: u32, continued: bool },
    Ticking,
    Waits(Wait),
}

impl Clockwork {
    fn new(spec: Arc<TaskSpec>) -> Result<Self, NotThatKind> {
        let missing = || NotThatKind::Details { kind: NAME, message: "it has no ticks".into() };
        let wanted = spec.details["ticks"].as_u64().and_then(|ticks| u32::try_from(ticks).ok());
        Ok(Self {
            wanted: wanted.ok_or_else(missing)?,
            life: Lifecycle::new(spec),
            phase: Phase::Preparing,
            conversation: Conversation::default(),
            ticks: 0,
        })
    }

    fn prepare(&mut self) {
        self.phase = if self.life.is_prepared() { Phase::Between } else { Phase::Preparing };
    }

    fn settle(&mut self) {
        if self.life.verdict.is_some() {
            return;
        }
        if self.ticks >= self.wanted {
            self.life.verdict = Some(Verdict { outcome: Outcome::Completed, reason: StopReason::Iterations });
        } else if self.life.pausing.is_some() && self.phase == Phase::Between {
            self.life.detail = self.life.pausing.take().map(|by| StopDetail::By { by });
            self.life.verdict = Some(PAUSED);
        }
    }

    fn turn_finished(&mut self, record: &TurnRecord) {
        let Phase::Turn { continued, .. } = self.phase else { return };
        self.life.budget.add(&record.usage);
        self.life.meter(record);
        self.conversation.turn_finished(record, &self.life.spec.agents[0], continued);
        self.phase = match &record.end {
            TurnEnd::Done => Phase::Ticking,
            TurnEnd::Limit { message, resets_at } => Phase::Waits(Wait::said(message, *resets_at)),
            TurnEnd::Failed { .. } | TurnEnd::Cancelled | TurnEnd::Budget | TurnEnd::Interrupted => {
                Phase::Between
            }
        };
        if self.life.verdict.is_none() && self.life.over_budget(&Usage::default()) {
            self.life.ends(Outcome::BudgetExhausted, StopReason::Budget, StopDetail::BudgetUsed);
        }
    }

    fn commanded(&mut self, received: &Received) {
        match &received.command {
            Command::Kill | Command::Abandon => {
                self.life.stop(StopDetail::by(&received.by), StopReason::Cancelled);
            }
            Command::Pause { now: true } => {
                self.life.stop(StopDetail::by(&received.by), StopReason::NeedsPerson);
            }
            Command::Pause { now: false } => {
                self.life.pausing = Some(received.by.clone());
                self.settle();
            }
            _ => {}
        }
    }

    fn idle(&self) -> bool {
        !matches!(self.phase, Phase::Turn { .. } | Phase::Ticking)
    }
}

impl Machine for Clockwork {
    fn decide(&self, input: &Input) -> Vec<Event> {
        let life = &self.life;
        match (&self.phase, input) {
            (phase, Input::Begin(begin)) => {
                let fresh = *phase == Phase::Preparing && !life.workspace.ready;
                vec![life.begin(begin, if fresh { Known::Nothing } else { Known::Past })]
            }
            (_, Input::Command(received)) => vec![Event::CommandReceived(received.clone())],
            (_, Input::Stop { by }) if life.verdict.is_none() || life.is_paused() => {
                vec![Event::StopRequested { reason: StopReason::Cancelled, detail: StopDetail::by(by) }]
            }
            (_, Input::Finishing { last_commit, trust_files, elapsed }) if self.idle() => {
                let needs = life.is_paused().then(|| life.needs_by_hand());
                let at = AtTheEnd { last_commit: last_commit.as_ref(), trust_files, elapsed: *elapsed };
                let tally = Tally { attempted: self.ticks, succeeded: self.ticks, finished: self.ticks };
                life.finish(needs, at, Ending { tally, verified: false, stderr_tail: None, before: &[] })
            }
            (Phase::Preparing, input) => life.prepared(input).into_iter().collect(),
            (Phase::Waits(wait), input) => life.waited(0, wait, Relief::Nobody, input),
            (Phase::Between, Input::TurnBegins { session, .. }) if life.verdict.is_none() => {
                let continued = self.conversation.continues(&life.spec.agents[0], Company::Alone);
                let agent = life.spec.agents[0].name.clone();
                let (turn, session) = (life.turns, session.clone());
                vec![Event::TurnStarted { turn, iteration: self.ticks, agent, session, continued }]
            }
            (Phase::Between, Input::LimitKnown(known)) => vec![Event::LimitKnown(known.clone())],
            (Phase::Turn { turn, .. }, Input::TurnEnded(record)) if record.turn == *turn => {
                life.turn_ended(0, record)
            }
            (Phase::Turn { turn, .. }, Input::Settle { .. }) => {
                vec![Event::TurnFinished(never_run(*turn, self.ticks, None))]
            }
            (Phase::Ticking, Input::Settle { .. }) => {
                vec![Event::Own(KindStep::new(NAME, &Step::Ticked { tick: self.ticks }))]
            }
            _ => Vec::new(),
        }
    }

    fn apply(&mut self, line: &Envelope) {
        self.life.at(line);
        match &line.event {
            Event::Resumed { .. } => {
                if self.life.result.take().is_some_and(|result| result.outcome != Outcome::Paused) {
                    self.life.renew_allowance();
                }
                self.life.pausing = None;
                self.life.take_back_verdict();
                self.life.limits.renew_wait();
            }
            Event::WorkspaceReady { branch, base_commit, .. } => {
                self.life.workspace_ready(branch.as_deref(), base_commit.as_ref());
                self.prepare();
            }
            Event::WorkspaceFailed { problems } => {
                self.life.ends(Outcome::Failed, StopReason::SetupFailed, StopDetail::workspace(problems));
            }
            Event::SetupFinished(result) => match self.life.setup_finished(result) {
                Ok(()) => self.prepare(),
                Err(detail) => self.life.ends(Outcome::Failed, StopReason::SetupFailed, detail),
            },
            Event::TurnStarted { turn, session, continued, .. } => {
                self.life.turns = turn + 1;
                self.conversation.turn_started(session.as_deref(), *continued);
                self.phase = Phase::Turn { turn: *turn, continued: *continued };
            }
            Event::TurnFinished(record) => self.turn_finished(record),
            Event::Own(step) => {
                if let Some(Step::Ticked { tick }) = step.read(NAME) {
                    self.ticks = tick + 1;
                    self.phase = Phase::Between;
                }
            }
            Event::LimitKnown(known) => self.phase = Phase::Waits(self.life.limit_known(0, known)),
            Event::Waiting { until, cause } => {
                let before = match &self.phase {
                    Phase::Waits(wait) => Some(wait.clone()),
                    _ => None,
                };
                self.phase = Phase::Waits(self.life.falls_asleep(
                    0,
                    before.as_ref(),
                    (*until, cause.reason()),
                    line.at,
                ));
            }
            Event::WaitOver => {
                if let Phase::Waits(wait) = std::mem::replace(&mut self.phase, Phase::Between) {
                    self.life.wakes(&wait, line);
                }
            }
            Event::StopRequested { reason, detail } => self.life.stop(detail.clone(), *reason),
            Event::CommandReceived(received) => self.commanded(received),
            Event::TaskFinished(result) => self.life.result = Some(result.clone()),
            _ => {}
        }
        self.settle();
    }

    fn next(&self) -> Option<machine::Step> {
        use machine::Step;
        Some(match &self.phase {
            _ if self.life.result.is_some() => return None,
            Phase::Turn { .. } if self.life.verdict.is_some() => Step::Settle,
            Phase::Turn { turn, .. } => Step::RunTurn { turn: *turn },
            Phase::Ticking => Step::Settle,
            _ if self.life.verdict.is_some() => Step::Finish,
            Phase::Preparing => self.life.preparation(),
            Phase::Waits(wait) => self.life.waits(0, wait),
            Phase::Between => Step::BeginTurn(TurnStart { agent: 0, fresh: true }),
        })
    }

    fn plan(&self, step: machine::Step) -> Effect {
        let (machine::Step::RunTurn { .. }, Phase::Turn { turn, continued }) = (step, &self.phase) else {
            let wait = if let Phase::Waits(wait) = &self.phase { Some(wait) } else { None };
            return self.life.plan(step, wait);
        };
        Effect::RunTurn(TurnPlan {
            turn: *turn,
            iteration: self.ticks,
            attempt: 0,
            agent: 0,
            prompt: self.life.spec.prompt.clone(),
            session: self.conversation.session.clone(),
            continued: *continued,
            promise: None,
            keep_reply: false,
            earlier: self.conversation.usage,
            budget: self.life.cost_left(),
            hard_limit: self.life.policy.turn_timeout,
            hard_limit_is: TimeLimit::Turn,
            idle_limit: self.life.policy.idle_timeout,
            wait_left: self.life.wait_left(),
        })
    }

    fn ends_now(&self) -> bool {
        self.life.verdict.is_some()
    }

    fn over_budget(&self, turn: &Usage) -> bool {
        self.life.over_budget(turn)
    }
}

/// What a clockwork shows.
#[derive(Debug, Clone, Default)]
struct Dial {
    ticks: u32,
    waits: u32,
}

impl KindView for Dial {
    fn apply(&mut self, line: &Envelope) {
        match &line.event {
            Event::Own(step) => {
                self.ticks += u32::from(step.read::<Step>(NAME).is_some());
            }
            Event::Waiting { .. } => self.waits += 1,
            _ => {}
        }
    }

    fn to_json(&self) -> Value {
        json!({ "ticks": self.ticks, "waits": self.waits })
    }

    fn counts(&self) -> Option<Counts> {
        Some(Counts { most: 3, succeeded: self.ticks, failed: 0, commits: 0 })
    }

    fn boxed(&self) -> Box<dyn KindView> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A driver without a world: it carries out what is asked for by saying so.
struct Driven {
    spec: Arc<TaskSpec>,
    machine: Box<dyn Machine + Send>,
    journal: Vec<Envelope>,
    view: TaskView,
    effects: Vec<&'static str>,
    now: Timestamp,
    /// How the turns end, by their numbers; others are done.
    ends: fn(u32) -> TurnEnd,
}

impl Driven {
    fn new(ends: fn(u32) -> TurnEnd) -> Self {
        let kinds = Kinds::of(&[&Clockworks]);
        let mut spec: TaskSpec =
            serde_json::from_str(include_str!("../../tests/formats/v3/spec.json")).unwrap();
        spec.kind = NAME.into();
        spec.details = json!({ "ticks": 3 });
        spec.place = Place::Worktree {
            path: "/worktree".into(),
            branch: "refs/heads/dacapo/old".into(),
            with_changes: false,
            base: None,
            setup: Setup { commands: vec!["make deps".into()], ..Setup::default() },
        };
        let spec = Arc::new(spec);
        let view = TaskView::new(&spec, kinds);
        let machine = kinds.machine(&spec).unwrap();
        let now = "2026-11-16T00:00:00Z".parse().unwrap();
        let mut driven = Self { spec, machine, journal: Vec::new(), view, effects: Vec::new(), now, ends };
        driven.hears(&Input::Begin(Begin::default()));
        driven
    }

    /// Every line goes through its form on disk.
    fn hears(&mut self, input: &Input) {
        for event in self.machine.decide(input) {
            let seq = self.journal.len() as u64;
            let (at, task) = (self.now, self.spec.name.to_string());
            let line =
                Envelope { v: 1, seq, at, elapsed_ms: seq * 10, task, came_at: None, event }.consistent();
            let read: Envelope = serde_json::from_slice(&serde_json::to_vec(&line).unwrap()).unwrap();
            assert_eq!(read, line);
            self.machine.apply(&read);
            self.view.apply(&read);
            self.journal.push(read);
        }
    }

    fn command(&mut self, command: Command) {
        let received = Received { id: "1".into(), by: "dacapo test".into(), command };
        self.hears(&Input::Command(received));
    }

    /// Until the effect of this name is due, or the task is over.
    fn run_until(&mut self, wanted: &str) {
        while let Some(effect) = self.machine.effect() {
            let (name, input) = self.carried_out(&effect);
            if name == wanted {
                return;
            }
            self.effects.push(name);
            let before = self.journal.len();
            self.hears(&input);
            assert!(self.journal.len() > before || name == "share", "{name} leads nowhere");
        }
    }

    fn carried_out(&self, effect: &Effect) -> (&'static str, Input) {
        let settle = Input::Settle { now: self.now };
        match effect {
            Effect::PrepareWorkspace => {
                let base = crate::git::Oid::parse(&"b".repeat(40)).ok();
                let branch = Some("refs/heads/dacapo/old".to_owned());
                let (path, kept_changes, port_base, start_sha256) =
                    ("/worktree".to_owned(), None, None, None);
                let ready =
                    Input::WorkspaceReady { path, branch, base, kept_changes, port_base, start_sha256 };
                ("workspace", ready)
            }
            Effect::RunSetup(plan) => {
                let (index, command, output) = (plan.index, plan.command.clone(), String::new());
                let (exit_code, tail, changed_files) = (Some(0), String::new(), Vec::new());
                let (timed_out, duration_ms) = (false, 1);
                let result = SetupResult {
                    index,
                    command,
                    exit_code,
                    timed_out,
                    duration_ms,
                    tail,
                    output,
                    changed_files,
                };
                ("setup", Input::SetupDone(result))
            }
            Effect::BeginTurn(_) => ("begin", Input::TurnBegins { head: None, session: None }),
            Effect::RunTurn(plan) => {
                let record = TurnRecord { end: (self.ends)(plan.turn), ..never_run(plan.turn, 0, None) };
                ("turn", Input::TurnEnded(record))
            }
            Effect::ShareLimit(_) => ("share", settle),
            Effect::Sleep { .. } | Effect::AwaitProbe { .. } => ("sleep", Input::WaitOver),
            Effect::Settle => ("settle", settle),
            Effect::Finish { .. } => {
                let (last_commit, trust_files) = (None, Vec::new());
                ("finish", Input::Finishing { last_commit, trust_files, elapsed: std::time::Duration::ZERO })
            }
            other => panic!("no clockwork asks for {other:?}"),
        }
    }
}

#[test]
fn s5_a_kind_of_its_own_has_the_whole_life_of_a_task() {
    let mut driven = Driven::new(|turn| match turn {
        1 => TurnEnd::Limit { message: "wound down".into(), resets_at: None },
        _ => TurnEnd::Done,
    });
    driven.run_until("sleep");
    assert_eq!(
        driven.effects,
        ["workspace", "setup", "begin", "turn", "settle", "begin", "turn", "share"],
        "prepared, ticked once, ran into a limit"
    );
    let Some(Effect::Sleep { why, .. }) = driven.machine.effect() else { panic!("it waits") };
    assert_eq!((why, driven.view.status), (WaitReason::Limit, Status::Waiting));
    // Whoever comes now finds it as it is: nothing is remembered but the journal.
    let mut anew = Kinds::of(&[&Clockworks]).machine(&driven.spec).unwrap();
    driven.journal.iter().for_each(|line| anew.apply(line));
    assert_eq!(anew.effect(), driven.machine.effect());

    driven.hears(&Input::WaitOver);
    driven.command(Command::Pause { now: false });
    driven.run_until("");
    assert_eq!((driven.view.status, driven.machine.effect()), (Status::Paused, None));
    let needs = driven.view.needs.clone().unwrap();
    assert_eq!(needs.kind, NeedKind::Resume { by: Some("dacapo test".into()) });

    driven.hears(&Input::Begin(Begin { pid: 7, ..Begin::default() }));
    driven.run_until("");
    let result = driven.view.result.clone().unwrap();
    assert_eq!((result.outcome, result.iterations_succeeded), (Outcome::Completed, 3));
    assert_eq!((driven.view.status, driven.view.iterations_succeeded), (Status::Completed, 3));
    assert_eq!(driven.view.own().unwrap().to_json(), json!({ "ticks": 3, "waits": 1 }));
    assert_eq!(driven.view.own().unwrap().as_any().downcast_ref::<Dial>().unwrap().ticks, 3);
    let steps: Vec<String> = driven
        .journal
        .iter()
        .filter(|line| matches!(line.event, Event::Own(_)))
        .map(|line| serde_json::to_string(&line.event).unwrap())
        .collect();
    assert_eq!(steps[0], r#"{"type":"clockwork","step":"ticked","tick":0}"#);
}

#[test]
fn s5_a_kind_of_its_own_is_stopped_and_refused_as_any_other() {
    let mut driven = Driven::new(|_| TurnEnd::Done);
    driven.run_until("turn");
    driven.hears(&Input::Stop { by: "SIGTERM".into() });
    assert!(driven.machine.ends_now());
    driven.run_until("");
    assert_eq!((driven.view.status, driven.view.iterations_succeeded), (Status::Cancelled, 0));
    let spec = TaskSpec { details: Value::Null, ..(*driven.spec).clone() };
    let refused = Kinds::of(&[&Clockworks]).machine(&Arc::new(spec)).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "cannot read the spec of this clockwork: it has no ticks");
    let unknown = Kinds::default().machine(&driven.spec).map(|_| ()).unwrap_err();
    assert_eq!(unknown, NotThatKind::Unknown(NAME.into()));
    // To a program that does not know the kind it is still a task.
    let mut view = TaskView::new(&driven.spec, Kinds::default());
    driven.journal.iter().for_each(|line| view.apply(line));
    assert_eq!((view.status, view.own().is_none()), (Status::Cancelled, true));
}
