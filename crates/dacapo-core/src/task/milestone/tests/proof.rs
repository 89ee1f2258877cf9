//! The proof of the whole milestone (L4): between the checks of the final state and the Acceptor.

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect};
use crate::event::{CheckPhase, Choice, Command, Event, NeedKind, Outcome, ProofState, Unproven};
use crate::event::{Hidden, HiddenWhy};
use crate::spec::{Place, ProofAt, Setup, TaskSpec};
use crate::task::milestone::{Judge, MilestoneStep};

pub(super) fn in_worktree() -> TaskSpec {
    let place = Place::Worktree {
        path: "/data/worktrees/auth".into(),
        branch: BRANCH.into(),
        with_changes: false,
        base: None,
        setup: Setup::default(),
    };
    TaskSpec { place, ..spec() }
}

fn proof_runs(world: &World) -> usize {
    world.checks.iter().filter(|plan| plan.phase == CheckPhase::Proof).count()
}

fn rejections(world: &World) -> Vec<String> {
    let steps = world.steps().into_iter().filter_map(|step| match step {
        MilestoneStep::Rejected { by: Judge::Engine, reason, .. } => Some(reason),
        _ => None,
    });
    steps.collect()
}

#[test]
fn l4_only_the_final_state_is_proven_and_only_then_verified() {
    let world = World::new(in_worktree()).run();
    let result = world.result();
    assert_eq!((result.outcome, result.verified), (Outcome::Completed, true));
    let commit_id = result.last_commit.clone().unwrap();
    assert_eq!(
        result.proof_state,
        Some(ProofState::Proven { commit_id: commit_id.clone(), cache: None, exposed: None })
    );
    assert_eq!((world.proofs.len(), &world.proofs[0].commit), (1, &commit_id));
    assert_eq!(proof_runs(&world), world.spec.policy.checks.len());
}

#[test]
fn l4_a_red_proof_goes_back_to_the_developer_before_the_acceptor_is_asked() {
    let mut world = World::new(in_worktree());
    world.proof_codes = [1].into();
    let world = world.run();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, true));
    let rejections = rejections(&world);
    assert_eq!(rejections.len(), 1);
    assert!(rejections[0].contains("- lib.so: ignored by .gitignore"), "{}", rejections[0]);
    let told = world.turns.iter().filter(|turn| turn.prompt.contains("- lib.so: ignored by .gitignore"));
    assert_eq!(told.count(), 1, "the Developer, once");
    assert_eq!(world.machine.rejections, 0, "those of the whole milestone do not count");
}

#[test]
fn l4_the_second_red_proof_in_a_row_asks_a_person() {
    let mut world = World::new(in_worktree());
    world.proof_codes = [1, 1].into();
    let world = world.run();
    assert_eq!(world.result().outcome, Outcome::Paused);
    let needs = world.machine.needs().expect("it is paused");
    let NeedKind::Proof { failure: Some(failure) } = &needs.kind else { panic!("{needs:?}") };
    assert_eq!(failure.hidden, [Hidden { path: "lib.so".into(), why: HiddenWhy::Ignored }]);
    assert!(needs.offers(&Choice::ResumeUnproven), "{needs:?}");
    let accepted = world.resume(&[Command::Approve { choice: None }]);
    assert_eq!((accepted.result().outcome, accepted.result().verified), (Outcome::Completed, false));
}

#[test]
fn l4_in_place_a_red_proof_is_completed_and_unverified() {
    let mut world = World::new(spec());
    world.proof_codes = [1].into();
    let world = world.run();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
    assert!(world.result().proof_state.as_ref().is_some_and(|state| state.failure().is_some()));
}

#[test]
fn l4_without_a_checkout_or_without_wanting_one_nothing_is_verified() {
    let mut world = World::new(in_worktree());
    world.no_proof = Some("no space left on device");
    let world = world.run();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
    let mut spec = in_worktree();
    spec.policy.proof.at = ProofAt::Workspace;
    let world = World::new(spec).run();
    assert_eq!((world.result().verified, world.proofs.len()), (false, 0));
    assert_eq!(world.result().proof_state, Some(ProofState::PassedHere(Unproven::WorkspaceOnly)));
}

#[test]
fn r1_killed_in_the_proof_or_after_it_the_next_process_proves_again() {
    let whole = World::new(in_worktree()).run();
    let started =
        whole.journal.iter().position(|line| matches!(line.event, Event::ProofStarted { .. })).unwrap();
    for at in started..whole.journal.len() {
        let mut next = World::new(in_worktree());
        next.journal = whole.journal[..at].to_vec();
        next.because = whole.because[..at].to_vec();
        next.machine = fold(&next.spec, &next.journal);
        next.begin(Begin::default());
        next.drive();
        assert_eq!((next.result().outcome, next.result().verified), (Outcome::Completed, true), "{at}");
        assert_eq!(proof_runs(&next), next.spec.policy.checks.len(), "{at}");
    }
}

#[test]
fn l14_a_stop_in_the_proof_proves_nothing_and_resume_does() {
    let mut world = World::new(in_worktree());
    world.begin(Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, Effect::PrepareProof(_))));
    world.input(&crate::engine::machine::Input::Stop { by: "SIGINT".into() }, None);
    world.drive();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Cancelled, false));
    let world = world.resume(&[]);
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, true));
    assert_eq!(world.machine.effect(), None);
}
