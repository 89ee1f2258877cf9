//! The proof of the commit (L4): only it verifies, and nothing but it is lost where it cannot be had.

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, ProofPlan};
use crate::event::{
    CheckPhase, Choice, Event, NeedKind, Outcome, ProofFailure, ProofState, StopReason, Unproven,
};
use crate::event::{Hidden, HiddenWhy};
use crate::proof::Start;
use crate::spec::{CachePolicy, ProofAt, ProofPolicy, TaskSpec};

fn checked_in_worktree(iterations: u32, checks: &[&str]) -> TaskSpec {
    TaskSpec { place: in_worktree(), ..checked(iterations, checks) }
}

/// Red before the first iteration, then green here; in the proof as `proof` says.
fn world(spec: TaskSpec, mut proof: impl FnMut(u32, u32) -> i32 + 'static) -> World {
    let mut world = World::new(spec).check(move |phase, iteration, index| match (phase, iteration) {
        (CheckPhase::Proof, Some(iteration)) => proof(iteration, index),
        (CheckPhase::Baseline, _) => 1,
        _ => 0,
    });
    world.hidden = vec![Hidden { path: "data.json".into(), why: HiddenWhy::Ignored }];
    world
}

fn proof_runs(world: &World) -> Vec<(u32, u32)> {
    let proofs = world.checks.iter().filter(|plan| plan.phase == CheckPhase::Proof);
    proofs.map(|plan| (plan.iteration.unwrap(), plan.index)).collect()
}

fn failure(world: &World) -> ProofFailure {
    world.result().proof_state.as_ref().and_then(ProofState::failure).cloned().expect("a red proof")
}

fn unproven(world: &World) -> Unproven {
    match world.result().proof_state.clone() {
        Some(ProofState::PassedHere(unproven)) => unproven,
        other => panic!("{other:?}"),
    }
}

#[test]
fn l4_only_what_passes_in_a_checkout_of_the_commit_is_verified() {
    let world = world(checked(5, &["a", "b"]), |_, _| 0).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(world.result().verified);
    assert_eq!(
        world.result().proof_state,
        Some(ProofState::Proven { commit_id: commit_of(0), cache: None, exposed: None })
    );
    assert_eq!(proof_runs(&world), [(0, 0), (0, 1)]);
    assert_eq!(world.proofs.len(), 1);
    assert_eq!((&world.proofs[0].commit, world.proofs[0].start), (&commit_of(0), Start::Caches));
    let plan = world.checks.last().unwrap();
    assert_eq!((plan.phase, plan.commit.clone()), (CheckPhase::Proof, Some(commit_of(0))));
}

#[test]
fn l4_nothing_is_proven_before_all_that_was_asked_for_holds() {
    let mut spec = checked_in_worktree(3, &["a"]);
    spec.policy.until = Some("DONE".into());
    let world = World::new(spec)
        .turns(&[done(), done(), promised()])
        .check(|phase, _, _| i32::from(phase == CheckPhase::Baseline))
        .run();
    assert_eq!(proof_runs(&world), [(2, 0)]);
    assert!(world.result().verified);
}

#[test]
fn l4_in_a_worktree_the_agent_is_told_once_what_no_commit_holds() {
    let world = world(checked_in_worktree(5, &["a", "b"]), |iteration, index| {
        i32::from(iteration == 0 && index == 1)
    });
    let world = world.run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    assert!(world.result().verified);
    assert_eq!(proof_runs(&world), [(0, 0), (0, 1), (1, 0), (1, 1)]);
    let told = &world.prompts()[1];
    assert!(told.contains("not in a fresh checkout of your commit 0001000"), "{told}");
    assert!(told.contains("`b` → exit 1\nline of b"), "{told}");
    assert!(told.contains("- data.json: ignored by .gitignore\n"), "{told}");
    assert!(!told.contains("… and"), "{told}");
    assert_eq!(world.count(|event| matches!(event, Event::ProofFailed { .. })), 1);
}

#[test]
fn l4_a_follow_up_in_the_same_session_hears_of_it_too() {
    let mut spec = checked_in_worktree(5, &["a"]);
    spec.policy.session = crate::spec::SessionMode::Resume;
    spec.agents = vec![resumable("one")];
    let world = world(spec, |iteration, _| i32::from(iteration == 0))
        .on_turn(|_| Turn { session: Some("s".into()), ..done() })
        .run();
    assert!(world.turns[1].continued);
    assert!(world.prompts()[1].contains("- data.json: ignored by .gitignore\n"), "{}", world.prompts()[1]);
}

#[test]
fn l4_the_second_red_proof_in_a_row_pauses_and_names_the_cure() {
    let mut spec = checked_in_worktree(9, &["a"]);
    spec.policy.proof.suggested_setup = vec!["npm ci".into()];
    let mut world = world(spec, |_, _| 1);
    world.hidden =
        (0..8).map(|n| Hidden { path: format!("node_modules/{n}\n"), why: HiddenWhy::Ignored }).collect();
    let world = world.run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 2, 0));
    assert_eq!(world.result().outcome.exit_code(), 4);
    assert!(!world.result().verified);
    let Some(Event::Paused { needs }) =
        world.journal.iter().map(|line| &line.event).find(|event| matches!(event, Event::Paused { .. }))
    else {
        panic!("not paused")
    };
    let NeedKind::Proof { failure: Some(failure) } = &needs.kind else { panic!("{needs:?}") };
    assert_eq!(failure.commit_id.short(), "0001001");
    assert_eq!(failure.checks.iter().map(|check| check.command.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!((failure.hidden.len(), failure.hidden_total), (8, 8));
    assert_eq!(failure.cure.as_deref(), Some("[worktree] setup = [\"npm ci\"]"));
    assert_eq!(needs.choices, [Choice::Resume, Choice::ResumeUnproven, Choice::Kill]);
}

#[test]
fn l4_a_red_proof_in_the_last_iteration_is_no_completion() {
    let world = world(checked_in_worktree(1, &["a"]), |_, _| 1).run();
    assert_eq!(world.end(), (Outcome::MaxReached, StopReason::Iterations, 1, 1, 0));
    assert_eq!(failure(&world).hidden[0].path, "data.json");
}

#[test]
fn l4_in_place_a_red_proof_ends_completed_and_unverified() {
    let world = world(checked(5, &["a"]), |_, _| 3).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(!world.result().verified);
    let failure = failure(&world);
    assert_eq!((&failure.commit_id, failure.hidden_total), (&commit_of(0), 1));
    assert_eq!((failure.checks[0].command.as_str(), failure.checks[0].ending.exit_code), ("a", Some(3)));
    assert_eq!(world.result().proof[0].after, Some(true), "here it passed");
}

/// Answers a plan as a checkout would that has caches.
fn with_caches(confirm: bool) -> impl FnMut(&ProofPlan) -> Input {
    move |plan| Input::ProofReady {
        set_up: false,
        cache: (plan.start == Start::Caches).then(|| cache(confirm)),
        tests: None,
    }
}

#[test]
fn l4_a_red_proof_from_caches_is_made_once_more_from_nothing() {
    for green in [true, false] {
        let mut runs = 0;
        let mut world = world(checked_in_worktree(1, &["a", "b"]), move |_, _| {
            runs += 1;
            i32::from(runs == 1 || !green)
        });
        world.on_proof = Box::new(with_caches(false));
        let world = world.run();
        let starts: Vec<Start> = world.proofs.iter().map(|plan| plan.start).collect();
        assert_eq!(starts, [Start::Caches, Start::Nothing]);
        assert_eq!(proof_runs(&world), [(0, 0), (0, 0), (0, 1)], "the first red one is enough");
        assert_eq!(world.result().verified, green);
        assert_eq!(world.result().proof_cache, green.then_some(CachePolicy::None));
        assert_eq!(world.count(|event| matches!(event, Event::ProofFailed { .. })), usize::from(!green));
    }
}

#[test]
fn l4_a_green_proof_from_caches_counts_unless_files_are_gone() {
    let mut plain = world(checked_in_worktree(1, &["a"]), |_, _| 0);
    plain.on_proof = Box::new(with_caches(false));
    let plain = plain.run();
    assert_eq!((plain.proofs.len(), plain.result().verified), (1, true));
    assert_eq!(plain.result().proof_cache, Some(CachePolicy::Base));

    let mut gone = world(checked_in_worktree(1, &["a"]), |_, _| 0);
    gone.on_proof = Box::new(with_caches(true));
    let gone = gone.run();
    let starts: Vec<Start> = gone.proofs.iter().map(|plan| plan.start).collect();
    assert_eq!((starts, gone.result().verified), (vec![Start::Caches, Start::Nothing], true));
    assert_eq!(gone.result().proof_cache, Some(CachePolicy::None));
}

#[test]
fn l4_without_caches_every_proof_starts_from_nothing() {
    let mut spec = checked_in_worktree(1, &["a"]);
    spec.policy.proof.cache = CachePolicy::None;
    let world = world(spec, |_, _| 1).run();
    assert_eq!(world.proofs.iter().map(|plan| plan.start).collect::<Vec<_>>(), [Start::Nothing]);
}

#[test]
fn l4_without_a_checkout_it_is_completed_and_unverified_and_says_why() {
    let mut spec = checked_in_worktree(5, &["a"]);
    spec.policy.proof.suggested_setup = vec!["npm ci".into()];
    let mut world = world(spec, |_, _| 0);
    world.on_proof =
        Box::new(|_| Input::ProofUnavailable { message: "no space left on device".into(), cure: None });
    let world = world.run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(!world.result().verified);
    let message = "no space left on device".into();
    let cure = Some("[worktree] setup = [\"npm ci\"]".into());
    assert_eq!(unproven(&world), Unproven::Unavailable { message, cure });
    assert_eq!(proof_runs(&world), []);
}

#[test]
fn l4_proof_workspace_leaves_it_out_and_says_so() {
    let mut spec = checked_in_worktree(5, &["a"]);
    spec.policy.proof.at = ProofAt::Workspace;
    let world = world(spec, |_, _| 0).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert_eq!((world.result().verified, world.proofs.len()), (false, 0));
    assert_eq!(unproven(&world), Unproven::WorkspaceOnly);
}

#[test]
fn l4_what_is_in_no_commit_cannot_be_proven() {
    let mut spec = checked(5, &["a"]);
    spec.context.auto_commit = false;
    let world = world(spec, |_, _| 0).run();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
    assert_eq!((unproven(&world), world.proofs.len()), (Unproven::NoCommit, 0));
}

#[test]
fn l4_a_stop_in_the_proof_cancels_and_proves_nothing() {
    let in_proof = |effect: &Effect| match effect {
        Effect::PrepareProof(_) => true,
        Effect::RunCheck(plan) => plan.phase == CheckPhase::Proof,
        _ => false,
    };
    for nth in 0..3 {
        let world = world(checked_in_worktree(5, &["a", "b"]), |_, _| 0).stop(nth, in_proof).run();
        assert_eq!(world.end(), (Outcome::Cancelled, StopReason::Cancelled, 1, 1, 0), "{nth}");
        assert_eq!(unproven(&world), Unproven::Interrupted);
    }
}

#[test]
fn r1_killed_in_the_proof_it_is_proven_again_from_its_beginning() {
    let whole = world(checked_in_worktree(5, &["a", "b"]), |_, _| 0).run();
    let started = whole.journal.iter().position(|line| matches!(line.event, Event::ProofStarted { .. }));
    for at in started.unwrap()..whole.journal.len() {
        let mut next = world(checked_in_worktree(5, &["a", "b"]), |_, _| 0);
        next.journal = whole.journal[..at].to_vec();
        next.because = whole.because[..at].to_vec();
        next.machine = fold(&next.spec, &next.journal);
        next.head = Some(commit_of(0));
        next.begin(Begin::default());
        assert!(
            matches!(next.machine.effect(), Some(Effect::PrepareProof(_))),
            "{at}: {:?}",
            next.machine.effect()
        );
        next.drive();
        assert_eq!(proof_runs(&next), [(0, 0), (0, 1)], "{at}");
        assert!(next.result().verified, "{at}");
        assert_eq!(next.count(|event| matches!(event, Event::Committed { .. })), 1, "{at}");
        assert!(next.turns.is_empty(), "{at}");
    }
}

#[test]
fn l4_resume_after_the_pause_proves_first_and_then_lets_the_agent_go_on() {
    for fixed in [true, false] {
        let mut spec = checked_in_worktree(9, &["a"]);
        spec.policy.proof.suggested_setup = vec!["npm ci".into()];
        let mut runs = 0;
        let mut world = world(spec, move |_, _| {
            runs += 1;
            i32::from(runs < 3 || (runs == 3 && !fixed))
        })
        .run();
        assert_eq!(world.result().outcome, Outcome::Paused);
        let mut proof = world.spec.policy.proof.clone();
        proof.setup.commands = vec!["npm ci".into()];
        world.begin(Begin { proof: fixed.then_some(proof), ..Begin::default() });
        world.drive();
        assert_eq!(world.result().outcome, Outcome::Completed);
        assert!(world.result().verified);
        assert_eq!(world.turns.len(), if fixed { 2 } else { 3 });
        assert_eq!(world.proofs[2].setup.commands.len(), usize::from(fixed));
        if !fixed {
            assert!(world.prompts()[2].contains("- data.json: ignored"), "told again");
        }
    }
}

#[test]
fn l4_resume_without_proof_completes_unverified() {
    let mut world = world(checked_in_worktree(9, &["a"]), |_, _| 1).run();
    let proof = ProofPolicy { at: ProofAt::Workspace, ..ProofPolicy::default() };
    world.begin(Begin { proof: Some(proof), ..Begin::default() });
    world.drive();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
    assert_eq!((unproven(&world), world.turns.len()), (Unproven::WorkspaceOnly, 2));
}

#[test]
fn l4_who_died_before_it_could_ask_asks() {
    let whole = world(checked_in_worktree(9, &["a"]), |_, _| 1).run();
    let paused = whole.journal.iter().position(|line| matches!(line.event, Event::Paused { .. })).unwrap();
    let mut next = world(checked_in_worktree(9, &["a"]), |_, _| 1);
    next.journal = whole.journal[..paused].to_vec();
    next.because = whole.because[..paused].to_vec();
    next.machine = fold(&next.spec, &next.journal);
    next.begin(Begin::default());
    next.drive();
    assert_eq!((next.result().outcome, next.turns.len()), (Outcome::Paused, 0));
}

#[test]
fn l4_a_proof_of_another_commit_verifies_nothing() {
    let mut world = world(checked_in_worktree(5, &["a"]), |_, _| 0);
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::Finish { .. })) {
        world.step();
    }
    world.head = Some(oid(42));
    world.drive();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
}

#[test]
fn the_state_of_a_proof_reads_as_it_was_written() {
    let failed = Unproven::Failed(ProofFailure {
        commit_id: oid(1),
        checks: Vec::new(),
        hidden: vec![Hidden { path: "a".into(), why: HiddenWhy::SkipWorktree }],
        hidden_total: 7,
        cure: None,
    });
    let json = serde_json::to_value(ProofState::PassedHere(failed.clone())).unwrap();
    assert_eq!((&json["state"], &json["why"]), (&"passed_here".into(), &"failed".into()));
    assert_eq!(json["hidden"][0]["why"], "skip_worktree");
    let unavailable = Unproven::Unavailable { message: "x".into(), cure: None };
    for state in [
        ProofState::Proven { commit_id: oid(1), cache: None, exposed: None },
        ProofState::PassedHere(failed),
        ProofState::PassedHere(unavailable),
        ProofState::PassedHere(Unproven::NoCommit),
        ProofState::PassedHere(Unproven::WorkspaceOnly),
        ProofState::PassedHere(Unproven::Interrupted),
    ] {
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<ProofState>(&text).unwrap(), state, "{text}");
    }
}
