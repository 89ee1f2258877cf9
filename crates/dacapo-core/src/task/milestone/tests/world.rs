//! A world in which a Developer, an Acceptor, git and the clock do what a script says.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::engine::Planned as _;
use crate::engine::machine::{Begin, CheckPlan, Effect, Input, Machine, ProofPlan, TurnPlan, WorkQuery};
use crate::engine::machine::{NamedCommit, WorkFacts};
use crate::event::{
    CheckPhase, CheckResult, Command, Envelope, Event, FORMAT, FailureKind, IterationRecord, KnownLimit,
    NeedKind, Outcome, Received, SetupResult, StopReason, TaskResult, TurnEnd, TurnRecord, Usage,
};
use crate::event::{Hidden, HiddenWhy};
use crate::git::Oid;
use crate::spec::TaskSpec;
use crate::task::milestone::Milestone;
use crate::task::milestone::MilestoneStep;

pub(super) use super::specs::*;

pub(super) fn command(command: Command) -> Received {
    Received { id: format!("{command:?}"), by: "a person".into(), command }
}

pub(super) fn set(key: &str, value: &str) -> Command {
    Command::Set { key: key.into(), value: value.into() }
}

/// What an agent does in a turn.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) end: TurnEnd,
    pub(super) reply: String,
    pub(super) timed_out: bool,
    pub(super) session: Option<String>,
    pub(super) usage: Usage,
}

pub(super) fn says(reply: &str) -> Turn {
    Turn {
        end: TurnEnd::Done,
        reply: reply.into(),
        timed_out: false,
        session: None,
        usage: Usage { input: 10, output: 5, cached: 0, ..Usage::default() },
    }
}

pub(super) fn ends(end: TurnEnd) -> Turn {
    Turn { end, ..says("") }
}

pub(super) fn overdue() -> Turn {
    let message = "no end within 10m".into();
    Turn { timed_out: true, ..ends(TurnEnd::Failed { failure: FailureKind::Transient, fault: message }) }
}

pub(super) fn failed(failure: FailureKind) -> Turn {
    ends(TurnEnd::Failed { failure, fault: "exit 1".into() })
}

pub(super) fn report(round: u32, feature: &str) -> Turn {
    says(&format!(
        "Done.\n\n## Implementation Report — Round {round}\n\n**Feature**: {feature}\n**Commit**: {}\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- src/{round}.rs: it\n\n### Notes\nIt is wonderful.\n",
        commit_of(round).short()
    ))
}

pub(super) fn complete(round: u32) -> Turn {
    says(&format!(
        "## ALL_FEATURES_COMPLETE\n\n### Commits\n- {}: feat: it\n\n### Summary\nPraise be to me.\n",
        commit_of(round).short()
    ))
}

pub(super) fn yes() -> Turn {
    says("ACCEPTED\nC-1: met\nC-2: met\n")
}

pub(super) fn no(reason: &str) -> Turn {
    says(&format!("REJECTED: {reason}\nC-1: not met\nC-2: met\n"))
}

type Inspection = Box<dyn FnMut(&WorkQuery, &mut WorkFacts)>;

pub(super) struct World {
    pub(super) spec: Arc<TaskSpec>,
    pub(super) machine: Milestone,
    pub(super) journal: Vec<Envelope>,
    /// The effect that led to each line of the journal; none for what came from outside.
    pub(super) because: Vec<Option<Effect>>,
    pub(super) turns: Vec<TurnPlan>,
    pub(super) checks: Vec<CheckPlan>,
    pub(super) sleeps: Vec<Duration>,
    pub(super) kept: u32,
    pub(super) now: Timestamp,
    pub(super) active: Duration,
    /// The next turns, in order; when they are used up everything goes well.
    pub(super) script: VecDeque<Turn>,
    pub(super) on_inspect: Inspection,
    pub(super) check_code: i32,
    /// How checks of proofs end, one after the other; then as all do.
    pub(super) proof_codes: VecDeque<i32>,
    pub(super) proofs: Vec<ProofPlan>,
    /// Why no proof can be had.
    pub(super) no_proof: Option<&'static str>,
    pub(super) check_tail: String,
    /// The tip of the branch in the end, where it is not the newest round's commit.
    pub(super) tip: Option<Oid>,
    pub(super) known_limit: Option<KnownLimit>,
    /// Comes while this turn runs.
    pub(super) meanwhile: Option<(u32, Input)>,
}

impl World {
    pub(super) fn new(spec: TaskSpec) -> Self {
        let spec = Arc::new(spec);
        Self {
            machine: Milestone::new(Arc::clone(&spec)).unwrap(),
            spec,
            journal: Vec::new(),
            because: Vec::new(),
            turns: Vec::new(),
            checks: Vec::new(),
            sleeps: Vec::new(),
            kept: 0,
            now: start(),
            active: Duration::ZERO,
            script: VecDeque::new(),
            on_inspect: Box::new(|_, _| {}),
            check_code: 0,
            proof_codes: VecDeque::new(),
            proofs: Vec::new(),
            no_proof: None,
            check_tail: "1 passed".into(),
            tip: None,
            known_limit: None,
            meanwhile: None,
        }
    }

    pub(super) fn script(mut self, turns: &[Turn]) -> Self {
        self.script = turns.iter().cloned().collect();
        self
    }

    pub(super) fn inspect(mut self, script: impl FnMut(&WorkQuery, &mut WorkFacts) + 'static) -> Self {
        self.on_inspect = Box::new(script);
        self
    }

    pub(super) fn during(mut self, turn: u32, input: Input) -> Self {
        self.meanwhile = Some((turn, input));
        self
    }

    pub(super) fn run(mut self) -> Self {
        self.begin(Begin::default());
        self.drive();
        self
    }

    /// Takes the task up again; the commands lie in its inbox by then.
    pub(super) fn resume(mut self, commands: &[Command]) -> Self {
        self.machine = fold(&self.spec, &self.journal);
        self.begin(Begin::default());
        for wanted in commands {
            self.input(&Input::Command(command(wanted.clone())), None);
        }
        self.drive();
        self
    }

    pub(super) fn begin(&mut self, begin: Begin) {
        self.input(&Input::Begin(begin), None);
    }

    pub(super) fn drive(&mut self) {
        while self.step() {}
    }

    /// Drives until `when` is next; false: it never is.
    pub(super) fn drive_to(&mut self, when: impl Fn(&Effect) -> bool) -> bool {
        loop {
            match self.machine.effect() {
                Some(effect) if when(&effect) => return true,
                Some(_) => self.step(),
                None => return false,
            };
        }
    }

    pub(super) fn step(&mut self) -> bool {
        assert!(self.journal.len() < 100_000, "the milestone does not end");
        let Some(effect) = self.machine.effect() else { return false };
        let lines = self.journal.len();
        if let Some(input) = self.perform(&effect) {
            self.input(&input, Some(&effect));
        }
        assert!(self.journal.len() > lines, "an effect without a consequence: {effect:?}");
        true
    }

    pub(super) fn perform(&mut self, effect: &Effect) -> Option<Input> {
        Some(match effect {
            Effect::PrepareWorkspace => Input::WorkspaceReady {
                path: "/repo".into(),
                branch: Some(BRANCH.into()),
                base: Some(oid(0xba5e)),
                kept_changes: None,
                port_base: None,
                start_sha256: None,
            },
            Effect::PrepareProof(plan) => {
                self.proofs.push(plan.clone());
                match self.no_proof {
                    Some(message) => Input::ProofUnavailable { message: message.into(), cure: None },
                    None => Input::ProofReady {
                        set_up: !plan.setup.commands.is_empty(),
                        cache: None,
                        tests: None,
                    },
                }
            }
            Effect::FindHidden { .. } => Input::HiddenFound {
                hidden: vec![Hidden { path: "lib.so".into(), why: HiddenWhy::Ignored }],
                total: 1,
            },
            Effect::RunSetup(plan) => Input::SetupDone(SetupResult {
                index: plan.index,
                command: plan.command.clone(),
                exit_code: Some(self.check_code),
                timed_out: false,
                duration_ms: 5,
                tail: "last words".into(),
                output: "setup/0000.raw".into(),
                changed_files: Vec::new(),
            }),
            Effect::RunCheck(plan) => {
                self.checks.push(plan.clone());
                Input::CheckDone(CheckResult {
                    phase: plan.phase,
                    iteration: plan.iteration,
                    index: plan.index,
                    command: plan.command.clone(),
                    exit_code: Some(match plan.phase {
                        CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => {
                            self.proof_codes.pop_front().unwrap_or(self.check_code)
                        }
                        CheckPhase::Baseline | CheckPhase::Iteration => self.check_code,
                    }),
                    timed_out: false,
                    duration_ms: 5,
                    commit: plan.commit.clone(),
                    tail: self.check_tail.clone(),
                    fingerprint: String::new(),
                    changed_files: Vec::new(),
                    tests_run: None,
                    exposed: None,
                })
            }
            Effect::BeginTurn(_) => match self.known_limit.take() {
                Some(known) => Input::LimitKnown(known),
                None => {
                    let before = self.machine.rounds;
                    let head = if before == 0 { oid(7) } else { commit_of(before) };
                    Input::TurnBegins { head: Some(head), session: None }
                }
            },
            Effect::RunTurn(plan) => {
                self.turns.push(plan.clone());
                if let Some((_, input)) = self.meanwhile.take_if(|(turn, _)| *turn == plan.turn) {
                    self.input(&input, None);
                    if self.machine.ends_now() {
                        let record = self.turn_record(plan, &ends(TurnEnd::Cancelled));
                        return Some(Input::TurnEnded(record));
                    }
                }
                let turn = self.script.pop_front().unwrap_or_else(|| self.goes_well(plan));
                self.pass(Duration::from_secs(60));
                Input::TurnEnded(self.turn_record(plan, &turn))
            }
            Effect::InspectWork(query) => {
                let mut facts = self.facts(query);
                (self.on_inspect)(query, &mut facts);
                Input::Inspected(facts)
            }
            Effect::KeepWork => {
                self.kept += 1;
                Input::Kept { reference: Some("refs/dacapo/rescue/auth/killed/work".into()) }
            }
            Effect::Sleep { until, .. } | Effect::AwaitProbe { until, .. } => {
                let wait = Duration::try_from(until.duration_since(self.now)).unwrap_or_default();
                self.sleeps.push(wait);
                self.pass(wait);
                Input::WaitOver
            }
            Effect::ShareLimit(_) | Effect::Settle => Input::Settle { now: self.now },
            Effect::Finish { .. } => {
                let last_commit = self.tip.clone().unwrap_or_else(|| commit_of(self.machine.rounds));
                Input::Finishing {
                    last_commit: Some(last_commit),
                    trust_files: Vec::new(),
                    elapsed: self.active,
                }
            }
            Effect::Write(_) | Effect::PrepareCommit(_) | Effect::Land(_) => {
                panic!("in a milestone the Developer commits: {effect:?}")
            }
        })
    }

    /// All is committed on the branch, and every commit that is named is there.
    pub(super) fn facts(&self, query: &WorkQuery) -> WorkFacts {
        let found = |named: &String| NamedCommit {
            named: named.clone(),
            found: Oid::parse(&format!("{named:0<40}")).ok(),
            on_branch: true,
        };
        WorkFacts {
            head: Some(commit_of(self.machine.rounds)),
            tip: Some(commit_of(self.machine.rounds)),
            main: query.main.as_ref().map(|_| oid(0xba5e)),
            branch: Some(BRANCH.into()),
            commits: query.commits.iter().map(found).collect(),
            changed_files: vec!["src/a.rs".into()],
            changed_total: 1,
            diff: query.diff.then(|| "diff --git a/src/a.rs b/src/a.rs\n+it\n".into()),
            log: vec![format!("{} feat: it", commit_of(self.machine.accepted).short())],
            ..WorkFacts::default()
        }
    }

    /// The next feature, the completion when there is none, and every verdict a yes.
    pub(super) fn goes_well(&self, plan: &TurnPlan) -> Turn {
        let round = plan.iteration + 1;
        if plan.agent == 1 {
            return yes();
        }
        match self.machine.done.iter().position(|done| !done) {
            Some(at) => report(round, &format!("F-{} it", at + 1)),
            None => complete(round),
        }
    }

    pub(super) fn turn_record(&self, plan: &TurnPlan, turn: &Turn) -> TurnRecord {
        TurnRecord {
            turn: plan.turn,
            iteration: plan.iteration,
            end: turn.end.clone(),
            session: turn.session.clone().or_else(|| plan.session.clone()),
            promise: false,
            summary: String::new(),
            usage: turn.usage,
            duration_ms: 5,
            output_bytes: 0,
            exit_code: None,
            not_allowed: None,
            reply: plan.keep_reply.then(|| turn.reply.clone()),
            timed_out: turn.timed_out,
            stderr_tail: None,
            blocked: None,
            tests_changed: None,
        }
    }

    pub(super) fn input(&mut self, input: &Input, because: Option<&Effect>) {
        for event in self.machine.decide(input) {
            self.pass(Duration::from_millis(1));
            let line = Envelope {
                v: FORMAT,
                seq: self.journal.len() as u64,
                at: self.now,
                elapsed_ms: u64::try_from(self.active.as_millis()).unwrap(),
                task: "auth".into(),
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

    pub(super) fn records(&self) -> Vec<&IterationRecord> {
        let finished = self.journal.iter().filter_map(|line| match &line.event {
            Event::IterationFinished(record) => Some(record),
            _ => None,
        });
        finished.collect()
    }

    pub(super) fn steps(&self) -> Vec<MilestoneStep> {
        self.journal.iter().filter_map(|line| MilestoneStep::of(&line.event)).collect()
    }

    /// The newest result.
    pub(super) fn result(&self) -> &TaskResult {
        let mut results = self.journal.iter().rev().filter_map(|line| match &line.event {
            Event::TaskFinished(result) => Some(result),
            _ => None,
        });
        results.next().expect("the task is over")
    }

    /// Outcome, reason, rounds begun, accepted, and the others.
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

    /// The newest question to a person.
    pub(super) fn question(&self) -> NeedKind {
        let mut asked = self.journal.iter().rev().filter_map(|line| match &line.event {
            Event::Paused { needs } => Some(needs.kind.clone()),
            _ => None,
        });
        asked.next().expect("a person was asked")
    }

    /// Where each round began.
    pub(super) fn starts(&self) -> Vec<Oid> {
        let started = self.journal.iter().filter_map(|line| match &line.event {
            Event::IterationStarted { start_commit, .. } => start_commit.clone(),
            _ => None,
        });
        started.collect()
    }

    /// `D1 A1 D2 …`: who had a turn, in which round from 1.
    pub(super) fn order(&self) -> String {
        let turns = self
            .turns
            .iter()
            .map(|turn| format!("{}{}", if turn.agent == 0 { 'D' } else { 'A' }, turn.iteration + 1));
        turns.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn prompt(&self, turn: usize) -> &str {
        &self.turns[turn].prompt
    }
}

/// The state that a journal folds to, read back from its lines.
pub(super) fn fold(spec: &Arc<TaskSpec>, journal: &[Envelope]) -> Milestone {
    let mut machine = Milestone::new(Arc::clone(spec)).unwrap();
    for line in journal {
        let text = serde_json::to_string(line).unwrap();
        let read: Envelope = serde_json::from_str(&text).unwrap();
        assert_eq!(&read, line, "{text}");
        machine.apply(&read);
    }
    machine
}

/// What a person is needed for, in a word.
pub(super) fn tag(kind: &NeedKind) -> String {
    serde_json::to_value(kind).unwrap()["kind"].as_str().unwrap().to_owned()
}
