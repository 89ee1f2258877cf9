//! The honest way out (L18).

use proptest::prelude::*;

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine as _};
use crate::event::{Choice, Event, NeedKind, Needs, Outcome, StopReason, TaskResult};
use crate::spec::TaskSpec;

fn asks(world: &World) -> Option<&Needs> {
    world.journal.iter().rev().find_map(|line| match &line.event {
        Event::Paused { needs } => Some(needs),
        _ => None,
    })
}

fn paused(result: &TaskResult) -> bool {
    (result.outcome, result.stop_reason) == (Outcome::Paused, StopReason::NeedsPerson)
}

#[test]
fn l18_a_blocked_agent_pauses_the_task_with_its_question_and_its_work_committed() {
    let world = World::new(until(5, "DONE")).turns(&[done(), blocked("Which key?")]).run();
    assert!(paused(world.result()), "{:?}", world.result());
    assert_eq!(world.commits.len(), 2);
    assert_eq!(world.result().outcome.exit_code(), 4);
    assert_eq!(
        asks(&world),
        Some(&Needs {
            kind: NeedKind::Blocked { question: "Which key?".into() },
            choices: vec![Choice::Answer, Choice::Kill],
        })
    );
    let record = world.records().last().cloned().unwrap();
    assert_eq!((record.success, record.blocked.as_deref()), (true, Some("Which key?")));
}

#[test]
fn l18_the_answer_is_in_the_next_prompt_and_the_loop_goes_on() {
    let world = World::new(until(5, "DONE")).turns(&[blocked("Which key?"), promised()]).run();
    let world = world.resume(None, Some("the blue one"));
    assert!(
        world.prompts()[1].contains("The user adds:\nYou asked: Which key?\nThe answer: the blue one\n"),
        "{}",
        world.prompts()[1]
    );
    assert_eq!(world.result().outcome, Outcome::Completed);
}

#[test]
fn l18_the_same_reason_again_pauses_again_and_never_loops() {
    let mut world = World::new(until(3, "DONE")).turns(&[blocked("Which key?")]).run();
    for answers in 1..=5 {
        assert!(paused(world.result()));
        assert_eq!(world.turns.len(), answers, "a turn an answer");
        world = world.resume(None, Some("the blue one"));
    }
    assert!(paused(world.result()));
}

#[test]
fn l6_completion_comes_first_then_blocked_then_the_limits() {
    let both = Turn { promise: true, ..blocked("Which key?") };
    let world = World::new(until(1, "DONE")).turns(std::slice::from_ref(&both)).run();
    assert_eq!(world.result().outcome, Outcome::Completed);
    // A promise that a check refutes is none.
    let mut spec = checked(1, &["a"]);
    spec.policy.until = Some("DONE".into());
    assert!(paused(World::new(spec).turns(&[both]).run().result()));
    let mut poor = until(1, "DONE");
    poor.policy.max_tokens = Some(1);
    assert!(paused(World::new(poor).turns(&[blocked("Which key?")]).run().result()), "before the budget");
    let mut stalled = until(9, "DONE");
    stalled.policy.stall = 1;
    let world = World::new(stalled).commit(changes_nothing).turns(&[blocked("Which key?")]).run();
    assert!(paused(world.result()), "before a stall");
    let dead = Turn { blocked: Some("Which key?".into()), ..broken() };
    let world = World::new(until(2, "DONE")).turns(&[dead]).run();
    assert_eq!(world.result().stop_reason, StopReason::PermanentError, "what cannot heal says what to do");
}

#[test]
fn l18_a_loop_that_just_does_its_rounds_does_them_all() {
    let world = World::new(iter(3)).turns(&[blocked("Which key?")]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 3, 0));
    assert!(world.prompts().iter().all(|prompt| !prompt.contains("<blocked>")));
}

#[test]
fn l18_who_died_before_it_could_ask_asks_when_it_is_taken_up() {
    let mut world = World::new(until(3, "DONE")).turns(&[blocked("Which key?")]);
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::Finish { .. })) {
        world.step();
    }
    let world = world.resume(None, None);
    assert!(paused(world.result()) && world.turns.len() == 1);
    assert_eq!(
        asks(&world).map(|needs| needs.kind.clone()),
        Some(NeedKind::Blocked { question: "Which key?".into() })
    );
}

#[test]
fn l18_a_kill_counts_more_than_a_question_and_leaves_none_behind() {
    let world = World::new(until(3, "DONE"))
        .turns(&[blocked("Which key?"), done()])
        .stop(0, |effect| matches!(effect, Effect::Finish { .. }))
        .run();
    assert_eq!(world.result().outcome, Outcome::Cancelled);
    let world = world.resume(None, Some("go on"));
    assert!(!world.prompts()[1].contains("You asked"), "{}", world.prompts()[1]);
}

fn any_spec(checks: bool, promise: bool) -> TaskSpec {
    let mut spec = if checks { checked(4, &["a"]) } else { until(4, "DONE") };
    if promise {
        spec.policy.until = Some("DONE".into());
    }
    spec
}

proptest! {
    /// Whatever turns come and however often people answer: after a turn that blocked no other starts without a person,
    /// unless the task was complete with it, and each answer gets at most as many turns as the limit allows.
    #[test]
    fn l18_no_turn_follows_a_blocked_one_without_a_person(
        script in prop::collection::vec((any::<bool>(), any::<bool>(), 0_u8..3), 1..12),
        green in any::<bool>(),
        checks in any::<bool>(),
        answers in prop::collection::vec(any::<bool>(), 0..5),
    ) {
        let turns: Vec<Turn> = script
            .iter()
            .map(|(is_blocked, is_promised, kind)| {
                let turn = if *kind == 0 { failed() } else { done() };
                Turn { promise: *is_promised, blocked: is_blocked.then(|| "Which key?".into()), ..turn }
            })
            .collect();
        let mut world = World::new(any_spec(checks, true)).turns(&turns);
        if green {
            world = world.check(|phase, _, _| i32::from(phase == crate::event::CheckPhase::Baseline));
        }
        world = world.run();
        for answered in answers {
            world = world.resume(None, answered.then_some("the blue one"));
        }
        let mut is_blocked = false;
        for line in &world.journal {
            match &line.event {
                Event::TurnStarted { .. } => prop_assert!(!is_blocked, "a turn after a question"),
                Event::IterationFinished(record) => is_blocked = record.blocked.is_some(),
                Event::Resumed { .. } => is_blocked = false,
                Event::TaskFinished(result) if is_blocked => {
                    let complete = result.outcome == Outcome::Completed;
                    prop_assert!(complete || paused(result), "{result:?}");
                    prop_assert!(complete || asks(&world).is_some());
                }
                _ => {}
            }
        }
        // The journal alone says the same.
        let mut again = crate::task::agent_loop::AgentLoop::new(std::sync::Arc::clone(&world.spec));
        world.journal.iter().for_each(|line| again.apply(line));
        prop_assert_eq!(format!("{again:?}"), format!("{:?}", world.machine));
    }
}

#[test]
fn l18_what_was_told_while_it_was_blocked_is_heard_when_it_goes_on() {
    let mut world = World::new(until(3, "DONE")).turns(&[blocked("Which key?"), promised()]).run();
    world.input(&Input::Command(tell("the blue one")), None);
    assert!(world.machine.effect().is_none(), "word was left, no more");
    let world = world.resume(None, None);
    assert!(world.prompts()[1].contains("The user adds:\nthe blue one\n"));
}
