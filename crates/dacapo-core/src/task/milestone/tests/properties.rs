//! Random worlds, nonsense at any time.

use std::time::Duration;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::WorkFacts;
use crate::engine::machine::{Begin, Effect, Input, Machine};
use crate::event::{Command, Envelope, Event, FailureKind, KnownLimit, Outcome, TurnEnd};
use crate::spec::{Cap, TaskSpec};
use crate::task::milestone::Milestone;
use crate::task::milestone::MilestoneStep;

/// Choices; when they are used up, everything goes well.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn below(&mut self, n: u8) -> u8 {
        self.0.next().map_or(0, |byte| byte % n)
    }

    fn yes(&mut self, of: u8) -> bool {
        self.0.next().is_some_and(|byte| byte % of == 0)
    }
}

pub(super) fn any_spec() -> impl Strategy<Value = TaskSpec> {
    (1_u32..9, 1_u32..4, any::<bool>(), 0_usize..3, any::<bool>(), proptest::option::of(1_u64..300), 0_u32..4)
        .prop_map(|(rounds, rejections, review, checks, resumes, tokens, failures)| {
            let mut details = details();
            details.max_rejections = rejections;
            details.requires_human_review = review;
            let mut spec = with(&details);
            spec.policy.cap = Some(Cap::by_iter(rounds));
            spec.policy.checks = (0..checks).map(|n| format!("check {n}")).collect();
            spec.base_branch = Some("refs/heads/main".into());
            spec.policy.max_tokens = tokens;
            spec.policy.max_failures = failures;
            spec.policy.max_wait = Duration::from_secs(7200);
            if resumes {
                spec.agents = vec![resumable("codex"), resumable("claude")];
            }
            spec
        })
}

fn any_turn(choices: &mut Choices, world: &World, agent: usize, round: u32) -> Turn {
    let turn = match choices.below(14) {
        8 => overdue(),
        9 => failed(if choices.yes(4) { FailureKind::Permanent } else { FailureKind::Transient }),
        10 => {
            let resets_at = choices.yes(2).then(|| world.now + SignedDuration::from_mins(20));
            ends(TurnEnd::Limit { message: "limit".into(), resets_at })
        }
        11 => ends(match choices.below(3) {
            0 => TurnEnd::Budget,
            1 => TurnEnd::Cancelled,
            _ => TurnEnd::Interrupted,
        }),
        12 => says("nonsense"),
        _ if agent == 0 => match choices.below(5) {
            4 => complete(round),
            3 => report(round, "something"),
            n => report(round, &format!("F-{}", n + 1)),
        },
        _ => match choices.below(6) {
            0..=2 => yes(),
            3 => no("not good"),
            4 => says(&format!("REJECTED: x\n- [R{}] again\nC-1: met\nC-2: met\n", choices.below(5))),
            _ => says("REJECTED: x\n- new\n- [R1] old\nC-1: met\nC-2: not met\n"),
        },
    };
    Turn { session: choices.yes(2).then(|| "s".into()), ..turn }
}

fn any_command(choices: &mut Choices) -> Command {
    match choices.below(11) {
        9 => Command::Refreeze { definition: super::definitions::AUTH.replace("Logout", "Leave") },
        10 => Command::Refreeze {
            definition: ["nonsense", super::definitions::AUTH][usize::from(choices.below(2))].into(),
        },
        0 => Command::Kill,
        1 => Command::Pause { now: true },
        2 => Command::Pause { now: false },
        3 => Command::Tell { text: "words".into(), standing: true },
        4 => Command::Approve { choice: choices.yes(2).then(|| choices.below(4).into()) },
        5 => Command::Reject { reason: None },
        6 => set("rounds", &format!("{}{}", if choices.yes(2) { "+" } else { "" }, 1 + choices.below(5))),
        7 => set("rejections", &choices.below(4).to_string()),
        _ => set("colour", "red"),
    }
}

fn any_facts(choices: &mut Choices, facts: &mut WorkFacts) {
    match choices.below(13) {
        12 => (facts.main_lost, facts.main) = (true, None),
        9 => facts.tip = Some(oid(1)),
        10 => facts.main_moved = vec!["abcdef0 feat: it".into()],
        11 => (facts.tip, facts.main) = (None, Some(oid(2))),
        4 => facts.dirty = vec!["a".into()],
        5 => facts.branch = None,
        6 => facts.definition_changed = true,
        7 => facts.commits.iter_mut().for_each(|commit| commit.found = None),
        8 => facts.log.push("more".into()),
        _ => {}
    }
}

/// An input that nobody waits for.
fn nonsense(choices: &mut Choices, world: &World) -> Input {
    match choices.below(9) {
        0 => Input::WorkspaceFailed(vec!["no".into()]),
        1 => Input::TurnBegins { head: None, session: Some("x".into()) },
        2 => Input::Inspected(WorkFacts::default()),
        3 => Input::Kept { reference: None },
        4 => Input::Settle { now: world.now },
        5 => Input::WaitOver,
        6 => Input::Landed,
        7 => Input::LimitKnown(KnownLimit {
            agent: ["codex", "claude", "x"][choices.below(3) as usize].into(),
            message: "m".into(),
            by: "o".into(),
            until: None,
            guesses: 1,
        }),
        _ => Input::Finishing { last_commit: None, trust_files: Vec::new(), elapsed: Duration::ZERO },
    }
}

/// What must be true after every single step.
fn check_state(machine: &Milestone) {
    let at_work = u32::from(machine.round.is_some());
    assert_eq!(machine.rounds, machine.finished + at_work);
    assert!(machine.accepted <= machine.finished);
    assert!(machine.rounds <= machine.max_rounds, "{} of {}", machine.rounds, machine.max_rounds);
    if machine.life.verdict.is_some() {
        let starts = match machine.effect() {
            Some(Effect::BeginTurn(_) | Effect::RunTurn(_) | Effect::Sleep { .. }) => true,
            Some(Effect::RunCheck(plan)) => plan.phase != crate::event::CheckPhase::Proof,
            _ => false,
        };
        assert!(!starts, "a stopped milestone starts nothing");
    }
}

/// What must be true of the whole journal.
fn check_journal(journal: &[Envelope]) {
    let (mut started, mut judged, mut finished, mut stopped) = (0, 0, 0, false);
    let mut at_work = false;
    let (mut accepted, mut overruled) = (0, false);
    for line in journal {
        match &line.event {
            Event::IterationStarted { iteration, .. } => {
                assert_eq!((*iteration, finished), (started, started), "one after the other, never back");
                started += 1;
            }
            Event::TurnStarted { iteration, .. } => {
                assert!(!at_work, "never both at work");
                assert!(!stopped, "a stopped milestone never starts a turn");
                assert_eq!(*iteration, started - 1);
                at_work = true;
            }
            Event::TurnFinished(_) => {
                assert!(at_work);
                at_work = false;
            }
            Event::Own(step) => {
                if let Some(
                    MilestoneStep::Accepted { iteration, .. } | MilestoneStep::Rejected { iteration, .. },
                ) = MilestoneStep::read(step)
                {
                    assert!(!at_work);
                    assert_eq!((iteration, judged), (started - 1, started - 1), "judged once");
                    judged += 1;
                }
            }
            Event::IterationFinished(record) => {
                assert_eq!((record.iteration, judged, finished), (started - 1, started, started - 1));
                finished += 1;
                accepted += u32::from(record.success);
            }
            Event::StopRequested { .. } => stopped = true,
            Event::CommandReceived(received)
                if matches!(received.command, Command::Approve { choice: None } | Command::Reject { .. }) =>
            {
                (overruled, stopped) = (true, false);
            }
            Event::CommandReceived(received)
                if matches!(received.command, Command::Kill | Command::Pause { now: true }) =>
            {
                stopped = true;
            }
            // A person's no goes on; so does a limit that is set.
            Event::CommandReceived(_) | Event::Resumed { .. } | Event::TaskStarted { .. } => stopped = false,
            Event::TaskFinished(result) => {
                assert!(!at_work, "nothing is at work when it ends");
                assert_eq!(result.iterations_attempted, started);
                assert_eq!(result.iterations_succeeded + result.iterations_failed, finished);
                assert!(overruled || result.iterations_succeeded == accepted, "unless a person overruled it");
                if result.outcome == Outcome::Completed {
                    assert_eq!(started, finished, "a whole one has no open round");
                }
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
        check_state(&world.machine);
        if choices.yes(8) {
            let input = nonsense(&mut choices, &world);
            let in_turn = matches!(world.machine.effect(), Some(Effect::RunTurn(_)));
            world.input(&input, None);
            assert!(!in_turn || world.machine.round.is_some());
            continue;
        }
        if choices.yes(30) {
            world.input(&Input::Stop { by: "SIGINT".into() }, None);
            continue;
        }
        if choices.yes(25) {
            let wanted = any_command(&mut choices);
            world.input(&Input::Command(command(wanted)), None);
            continue;
        }
        if choices.yes(40) {
            let more_iterations = choices.yes(3).then(|| u32::from(choices.below(3)));
            let follow_up = choices.yes(3).then(|| "more".to_owned());
            world.machine = fold(&world.spec, &world.journal);
            world.begin(Begin { more_iterations, follow_up, ..Begin::default() });
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
                let turn = any_turn(&mut choices, &world, plan.agent, plan.iteration + 1);
                world.pass(Duration::from_secs(60));
                Some(Input::TurnEnded(world.turn_record(plan, &turn)))
            }
            Effect::InspectWork(query) => {
                let mut facts = world.facts(query);
                any_facts(&mut choices, &mut facts);
                Some(Input::Inspected(facts))
            }
            Effect::PrepareWorkspace if choices.yes(8) => Some(Input::WorkspaceFailed(vec!["no".into()])),
            _ => {
                world.check_code = i32::from(choices.below(2));
                world.perform(&effect)
            }
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
    panic!("the milestone does not end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_world_keeps_the_rules(spec in any_spec(), entropy in proptest::collection::vec(any::<u8>(), 0..600)) {
        check_journal(&live(spec, entropy).journal);
    }

    #[test]
    fn any_prefix_folds_to_the_effect_in_flight(
        spec in any_spec(),
        entropy in proptest::collection::vec(any::<u8>(), 0..250),
    ) {
        let world = live(spec, entropy);
        let mut machine = Milestone::new(std::sync::Arc::clone(&world.spec)).unwrap();
        for (line, effect) in world.journal.iter().zip(&world.because) {
            if let Some(effect) = effect {
                prop_assert_eq!(machine.effect(), Some(effect.clone()), "before {:?}", line.event);
            }
            machine.apply(line);
        }
        prop_assert_eq!(format!("{machine:?}"), format!("{:?}", world.machine));
    }
}

#[test]
fn p3_the_state_does_not_grow_with_rounds() {
    let mut details = details();
    details.max_rejections = 100_000;
    let mut spec = with(&details);
    spec.policy.cap = Some(Cap::by_iter(100_000));
    let mut world = World::new(spec);
    world.begin(Begin::default());
    let mut sizes = Vec::new();
    while world.machine.finished < 600 {
        if let Some(Effect::RunTurn(plan)) = world.machine.effect() {
            let round = plan.iteration + 1;
            world.script =
                [if plan.agent == 0 { report(round, "F-1") } else { no(&format!("reason {round:09}")) }]
                    .into();
        }
        world.step();
        if matches!(world.machine.finished, 100 | 600) && world.machine.round.is_none() {
            sizes.push(format!("{:?}", world.machine).len());
        }
        world.journal.clear();
        world.because.clear();
        world.turns.clear();
        world.checks.clear();
    }
    let (early, late) = (sizes[0], *sizes.last().unwrap());
    assert!(late <= early + early / 20, "{early} bytes after 100 rounds, {late} after 600");
}
