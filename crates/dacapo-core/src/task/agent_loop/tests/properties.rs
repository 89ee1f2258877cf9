//! Random specs, random worlds, nonsense at any time.

use std::time::Duration;

use proptest::prelude::*;

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine};
use crate::event::{CheckPhase, Command, Envelope, Event, KnownLimit, Outcome, TurnEnd, WaitCause};
use crate::proof::Start;
use crate::spec::SessionMode;
use crate::spec::{ProofAt, ProofPolicy, TaskSpec};

mod any;

pub(super) use self::any::any_spec;
use self::any::{
    Choices, any_command, any_known, any_planned, any_turn, any_writing, changed_tests, nonsense,
};

/// What must be true after every single step.
fn check_state(world: &World) {
    let machine = &world.machine;
    let at_work = u32::from(machine.current.is_some());
    assert_eq!(machine.attempted, machine.finished + at_work, "attempted = succeeded + failed (+ current)");
    assert!(machine.succeeded <= machine.finished);
    if let Some(cap) = machine.cap {
        assert!(machine.attempted <= cap.iterations, "{} of {}", machine.attempted, cap.iterations);
    }
    if machine.life.verdict.is_some() {
        let starts =
            matches!(machine.effect(), Some(Effect::BeginTurn(_) | Effect::RunTurn(_) | Effect::Write(_)));
        assert!(!starts, "a stopped loop never starts a turn or a call");
    }
}

/// What must be true of the whole journal.
fn check_journal(journal: &[Envelope]) {
    let (mut started, mut settled, mut finished, mut stopped) = (0, 0, 0, false);
    let mut written = None;
    for line in journal {
        match &line.event {
            Event::Written(record) => {
                let this = (record.iteration, record.what);
                assert_eq!((record.iteration, settled), (started - 1, started - 1), "before the commit");
                assert!(written < Some(this), "each at most once and in order: {written:?}, {this:?}");
                written = Some(this);
            }
            Event::IterationStarted { iteration, .. } => {
                assert_eq!(*iteration, started, "one after the other, never back");
                started += 1;
            }
            Event::Committed { iteration, .. } => {
                assert_eq!((*iteration, settled), (started - 1, started - 1), "committed at most once");
                settled += 1;
            }
            Event::NoCommit(planned) => {
                assert_eq!((planned.iteration, settled), (started - 1, started - 1), "settled at most once");
                settled += 1;
            }
            Event::IterationFinished(record) => {
                assert_eq!((record.iteration, settled, finished), (started - 1, started, started - 1));
                finished += 1;
            }
            Event::StopRequested { .. } => stopped = true,
            Event::CommandReceived(received)
                if matches!(received.command, Command::Kill | Command::Pause { now: true }) =>
            {
                stopped = true;
            }
            Event::Resumed { .. } | Event::TaskStarted { .. } => stopped = false,
            Event::TurnStarted { .. } => assert!(!stopped, "a stopped loop never starts a turn"),
            Event::TaskFinished(result) => {
                let all = result.iterations_succeeded + result.iterations_failed;
                assert_eq!((result.iterations_attempted, all), (started, finished));
                let open = u32::from(result.outcome == Outcome::Paused) * (started - finished);
                assert_eq!(started, finished + open, "no task ends in the middle of an iteration");
                assert!(open <= 1, "one that pauses may wait in it for its next turn");
            }
            _ => {}
        }
    }
}

/// Under a budget no iteration starts after two successful turns in a row of which nobody knows what they used (L10).
fn check_budget(spec: &TaskSpec, journal: &[Envelope]) {
    let mut unknown = 0;
    for line in journal {
        match &line.event {
            Event::TurnFinished(record) if record.end == TurnEnd::Done => {
                unknown = if record.usage.knows_tokens() { 0 } else { unknown + 1 };
            }
            Event::IterationStarted { iteration, .. } => {
                assert!(spec.policy.max_tokens.is_none() || unknown < 2, "iteration {iteration}");
            }
            Event::Resumed { .. } => unknown = 0,
            _ => {}
        }
    }
}

/// Nobody starts a turn with an account that is known to be limited, and nobody waits longer than is allowed.
fn check_limits(spec: &TaskSpec, journal: &[Envelope]) {
    let mut limited: Option<&str> = None;
    let (mut waited, mut probe) = (Duration::ZERO, None);
    for line in journal {
        match &line.event {
            Event::LimitKnown(known) => limited = Some(&known.agent),
            Event::TurnStarted { agent, .. } => {
                assert_ne!(limited, Some(agent.as_str()), "line {}", line.seq);
            }
            Event::AgentChanged { .. } => limited = None,
            Event::Waiting { until, cause: WaitCause::Limit(_) } => {
                waited += Duration::try_from(until.duration_since(line.at)).unwrap_or_default();
            }
            Event::Waiting { cause: WaitCause::Probe(_), .. } => probe = Some(line.elapsed_ms),
            Event::WaitOver => {
                limited = None;
                waited += probe
                    .take()
                    .map_or(Duration::ZERO, |since| Duration::from_millis(line.elapsed_ms - since));
            }
            Event::StopRequested { .. } => probe = None,
            // Whoever takes it up looks again.
            Event::Resumed { .. } => (limited, waited) = (None, Duration::ZERO),
            _ => {}
        }
        // The clock of this world goes on by a moment with each line.
        assert!(waited <= spec.policy.max_wait + Duration::from_secs(1), "line {}: {waited:?}", line.seq);
    }
}

/// Whoever says that a commit is proven has seen all checks pass in a checkout of it, in this very process, and none fail with the
/// tests as they were or held out; and nobody says it of another.
fn check_proofs(spec: &TaskSpec, journal: &[Envelope]) {
    let mut passed: Vec<(u32, Option<crate::git::Oid>)> = Vec::new();
    let (mut finished_checks, mut failed) = (0, false);
    for line in journal {
        match &line.event {
            // What passed with the commit's own tests still holds.
            Event::ProofStarted { originals: true, .. } => failed = false,
            Event::TaskStarted { .. } | Event::Resumed { .. } | Event::ProofStarted { .. } => {
                passed.clear();
                failed = false;
            }
            Event::CheckFinished(check)
                if matches!(check.phase, CheckPhase::Originals | CheckPhase::HeldOut) =>
            {
                failed |= !check.passed();
            }
            Event::CheckFinished(check) if check.phase == CheckPhase::Proof => {
                assert!(finished_checks >= spec.policy.checks.len(), "all pass here before any is proven");
                if check.passed() {
                    passed.push((check.index, check.commit.clone()));
                }
            }
            Event::CheckFinished(check) if check.phase == CheckPhase::Iteration && check.passed() => {
                finished_checks += 1;
            }
            Event::CheckFinished(_) => finished_checks = 0,
            Event::TaskFinished(result) if result.verified => {
                let wanted: Vec<_> =
                    (0..spec.policy.checks.len() as u32).map(|n| (n, result.last_commit.clone())).collect();
                assert_eq!(passed, wanted, "line {}", line.seq);
                assert!(!failed, "line {}", line.seq);
            }
            _ => {}
        }
    }
}

pub(super) fn live(spec: TaskSpec, entropy: Vec<u8>) -> World {
    let mut choices = Choices(entropy.into_iter());
    let mut world = World::new(spec);
    world.begin(Begin::default());
    for _ in 0..20_000 {
        check_state(&world);
        if choices.yes(8) {
            let input = nonsense(&mut choices, &world);
            world.input(&input, None);
            continue;
        }
        if choices.yes(30) {
            world.input(&Input::Stop { by: "SIGINT".into() }, None);
            continue;
        }
        if choices.yes(30) {
            let wanted = any_command(&mut choices);
            let in_turn = matches!(world.machine.effect(), Some(Effect::RunTurn(_)));
            world.input(&Input::Command(command(wanted)), None);
            assert!(
                !in_turn || world.machine.current.is_some(),
                "a turn in flight ends before its iteration"
            );
            continue;
        }
        if choices.yes(40) {
            world.input(&Input::Command(tell("words")), None);
            let more_iterations = choices.yes(3).then(|| u32::from(choices.below(3)));
            let follow_up = choices.yes(3).then(|| "more".to_owned());
            world.machine = fold(&world.spec, &world.journal);
            let proof = choices.yes(4).then(|| ProofPolicy {
                at: if choices.yes(2) { ProofAt::Workspace } else { ProofAt::Checkout },
                ..world.spec.policy.proof.clone()
            });
            world.begin(Begin { more_iterations, follow_up, proof, ..Begin::default() });
            continue;
        }
        let Some(effect) = world.machine.effect() else {
            if choices.yes(2) {
                world.begin(Begin::default());
                continue;
            }
            return world;
        };
        let input = match &effect {
            Effect::RunTurn(plan) => {
                let turn = any_turn(&mut choices, world.now);
                world.pass(Duration::from_secs(60));
                Some(Input::TurnEnded(world.turn_record(plan, &turn)))
            }
            Effect::PrepareCommit(plan) => {
                Some(Input::Prepared(any_planned(&mut choices, plan.iteration, plan.tip.clone())))
            }
            Effect::Write(plan) => {
                let end = any_writing(&mut choices);
                Some(Input::Written(world.writing_record(plan, end)))
            }
            Effect::RunCheck(_) => match world.perform(&effect) {
                Some(Input::CheckDone(mut result)) => {
                    result.exit_code = Some(i32::from(choices.below(4)));
                    Some(Input::CheckDone(result))
                }
                other => other,
            },
            Effect::PrepareProof(plan) if choices.below(5) > 3 => {
                let message = format!("no checkout of {}", plan.commit);
                Some(Input::ProofUnavailable { message, cure: None })
            }
            Effect::PrepareProof(plan) => {
                let with_caches = plan.start == Start::Caches && choices.yes(2);
                let cache = with_caches.then(|| cache(choices.yes(2)));
                Some(Input::ProofReady {
                    set_up: !plan.setup.commands.is_empty(),
                    cache,
                    tests: changed_tests(&mut choices),
                })
            }
            Effect::Land(_) if choices.yes(6) => Some(Input::LandedElsewhere { problem: "moved".into() }),
            Effect::BeginTurn(start) if choices.yes(5) => {
                let agent = world.spec.agents[start.agent].name.clone();
                Some(Input::LimitKnown(KnownLimit { agent, ..any_known(&mut choices, &world) }))
            }
            Effect::AwaitProbe { .. } => {
                world.probe_takes = Duration::from_secs(u64::from(choices.below(100)) * 120);
                world.perform(&effect)
            }
            Effect::PrepareWorkspace if choices.yes(8) => Some(Input::WorkspaceFailed(vec!["no".into()])),
            _ => world.perform(&effect),
        };
        let lines = world.journal.len();
        if let Some(input) = input {
            world.input(&input, Some(&effect));
        }
        assert!(
            world.journal.len() > lines,
            "an effect without a consequence goes round for ever: {effect:?}"
        );
    }
    panic!("the loop does not end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_world_keeps_the_rules(spec in any_spec(), entropy in proptest::collection::vec(any::<u8>(), 0..600)) {
        let world = live(spec, entropy);
        check_journal(&world.journal);
        check_budget(&world.spec, &world.journal);
        check_limits(&world.spec, &world.journal);
        check_proofs(&world.spec, &world.journal);
    }

    #[test]
    fn any_prefix_folds_to_the_effect_in_flight(
        spec in any_spec(),
        entropy in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let world = live(spec, entropy);
        let mut machine = crate::task::agent_loop::AgentLoop::new(std::sync::Arc::clone(&world.spec));
        for (line, effect) in world.journal.iter().zip(&world.because) {
            if let Some(effect) = effect {
                prop_assert_eq!(machine.effect(), Some(effect.clone()), "before {:?}", line.event);
            }
            let text = serde_json::to_string(line).unwrap();
            let read: Envelope = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, line, "{}", text);
            machine.apply(&read);
        }
        prop_assert_eq!(format!("{machine:?}"), format!("{:?}", world.machine));
    }
}

#[test]
fn p3_the_state_does_not_grow_with_iterations() {
    let mut spec = checked(5000, &["a"]);
    spec.policy.session = SessionMode::Resume;
    spec.agents = vec![resumable("one"), agent("two")];
    // It is full by then; until it is, the history grows.
    spec.context.context_max_tokens = 500;
    let mut world = World::new(spec).on_turn(|plan| match plan.turn % 7 {
        3 => failed(),
        5 => limited(None),
        _ => Turn { session: Some(format!("session {:09}", plan.turn)), summary: "x".repeat(500), ..done() },
    });
    world.on_check = Box::new(|plan| (1, format!("{:09}", plan.iteration.unwrap_or(0))));
    world.begin(Begin::default());
    let mut sizes = Vec::new();
    while world.machine.finished < 2000 {
        world.step();
        if matches!(world.machine.finished, 50 | 2000) && world.machine.current.is_none() {
            sizes.push(format!("{:?}", world.machine).len());
        }
        // The journal is not the state.
        world.journal.clear();
        world.because.clear();
        world.turns.clear();
        world.commits.clear();
        world.checks.clear();
    }
    let (early, late) = (sizes[0], *sizes.last().unwrap());
    assert!(late <= early + early / 20, "{early} bytes after 50 iterations, {late} after 2000");
}
