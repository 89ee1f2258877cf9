//! Held-out checks (L3): a part of the proof that no agent gets to know.

use super::world::*;
use crate::engine::machine::CheckPlan;
use crate::event::{CheckPhase, Event, NeedKind, Outcome, ProofState, StopReason};
use crate::spec::{ProofPolicy, TaskSpec};

const SECRET: &str = "sh /home/me/secret.sh";

fn with_held_out(checks: &[&str]) -> TaskSpec {
    let mut spec = TaskSpec { place: in_worktree(), ..checked(5, checks) };
    spec.policy.proof =
        ProofPolicy { hidden_checks: vec![SECRET.into(), "true".into()], ..ProofPolicy::default() };
    spec
}

/// Green here and in the proof, held-out checks aside.
fn world(spec: TaskSpec, mut held_out: impl FnMut(u32, u32) -> i32 + 'static) -> World {
    World::new(spec).check(move |phase, iteration, index| match (phase, iteration) {
        (CheckPhase::HeldOut, Some(iteration)) => held_out(iteration, index),
        (CheckPhase::Baseline, _) => 1,
        _ => 0,
    })
}

fn runs(world: &World) -> Vec<(CheckPhase, u32, String)> {
    let of_proof = world.checks.iter().filter(|plan| plan.phase.is_of_proof());
    of_proof.map(|plan| (plan.phase, plan.index, plan.command.clone())).collect()
}

#[test]
fn l3_held_out_checks_run_in_the_proof_after_the_others() {
    let world = world(with_held_out(&["a", "b"]), |_, _| 0).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(world.result().verified);
    assert_eq!(
        runs(&world),
        [
            (CheckPhase::Proof, 0, "a".into()),
            (CheckPhase::Proof, 1, "b".into()),
            (CheckPhase::HeldOut, 0, SECRET.into()),
            (CheckPhase::HeldOut, 1, "true".into()),
        ]
    );
}

#[test]
fn l3_they_do_not_run_while_a_check_that_the_agent_knows_is_red() {
    let world = World::new(with_held_out(&["a"]))
        .check(|phase, iteration, _| i32::from(phase != CheckPhase::Iteration && iteration != Some(1)))
        .run();
    let of_iteration = |wanted| move |plan: &&CheckPlan| plan.iteration == Some(wanted);
    let held_out = |plan: &&CheckPlan| plan.phase == CheckPhase::HeldOut;
    assert_eq!(world.checks.iter().filter(of_iteration(0)).filter(held_out).count(), 0);
    assert_eq!(world.checks.iter().filter(of_iteration(1)).filter(held_out).count(), 2);
}

#[test]
fn l3_the_agent_is_told_that_one_failed_and_nothing_else_of_it() {
    let world = world(with_held_out(&["a"]), |iteration, _| i32::from(iteration == 0)).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    assert!(world.result().verified);
    let told = &world.prompts()[1];
    assert!(told.contains("A held-out check failed on your commit 0001000"), "{told}");
    for prompt in world.prompts() {
        assert!(
            !prompt.contains("secret") && !prompt.contains("line of sh") && !prompt.contains("line of true"),
            "{prompt}"
        );
    }
}

#[test]
fn l3_a_red_check_beside_a_red_held_out_one_is_told_alone() {
    let mut spec = with_held_out(&["a"]);
    spec.policy.proof.hidden_checks.truncate(1);
    let world = World::new(spec).check(|phase, iteration, _| match (phase, iteration) {
        (CheckPhase::Baseline, _) => 1,
        (phase, Some(0)) if phase.is_of_proof() => 1,
        _ => 0,
    });
    let world = world.run();
    let told = &world.prompts()[1];
    assert!(told.contains("not in a fresh checkout") && !told.contains("held-out"), "{told}");
    assert_eq!(
        world.count(
            |event| matches!(event, Event::CheckFinished(check) if check.phase == CheckPhase::HeldOut)
        ),
        1
    );
}

#[test]
fn l3_the_second_time_a_person_is_asked_and_sees_which() {
    let world = world(with_held_out(&["a"]), |_, index| i32::from(index == 0)).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 2, 0));
    let needs = world.journal.iter().find_map(|line| match &line.event {
        Event::Paused { needs } => Some(needs.clone()),
        _ => None,
    });
    let Some(NeedKind::Proof { failure: Some(failure) }) = needs.map(|needs| needs.kind) else {
        panic!("not asked")
    };
    assert_eq!(failure.checks.iter().map(|check| check.command.as_str()).collect::<Vec<_>>(), [SECRET]);
}

#[test]
fn l3_alone_they_wait_for_the_promise() {
    let mut spec = with_held_out(&[]);
    spec.policy.until = Some("DONE".into());
    let world = world(spec, |_, _| 0).turns(&[done(), promised()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    assert_eq!(runs(&world).len(), 2);
    assert!(matches!(world.result().proof_state, Some(ProofState::Proven { .. })));
}

#[test]
fn l3_without_anything_that_says_done_they_do_not_run() {
    let mut spec = with_held_out(&[]);
    spec.policy.until = None;
    let world = world(spec, |_, _| 1).run();
    assert_eq!(runs(&world), []);
    assert!(!world.result().verified);
}
