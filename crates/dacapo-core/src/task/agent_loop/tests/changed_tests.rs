//! The user's tests are the yardstick (L20): what follows when a commit passes only with the tests that its agent changed.

use super::world::*;
use crate::engine::machine::{Begin, Effect, Input, ProofPlan};
use crate::event::{
    ChangedTest, CheckPhase, Choice, Command, Event, FewerTests, InlineChange, InlineTest, NeedKind, Needs,
    Originals, Outcome, ProofState, StopReason, TestChange, TestsChange, TestsResult,
};
use crate::proof::{ProofRun, Start};
use crate::spec::{TaskSpec, TestsMode};

/// One test was changed.
fn change() -> TestsChange {
    TestsChange {
        base_commit: base(),
        changed: vec![ChangedTest { path: "test_a.py".into(), how: TestChange::Changed }],
        total: 1,
        inline: Vec::new(),
        affects_originals: true,
        not_for_originals: Vec::new(),
    }
}

fn answers(change: TestsChange) -> impl FnMut(&ProofPlan) -> Input {
    move |_| Input::ProofReady { set_up: false, cache: None, tests: Some(change.clone()) }
}

/// Red before the first iteration, then green but for runs with the originals, which end as `originals` says.
fn world(spec: TaskSpec, mut originals: impl FnMut(u32) -> i32 + 'static) -> World {
    let mut world = World::new(spec).check(move |phase, iteration, _| match phase {
        CheckPhase::Baseline => 1,
        CheckPhase::Originals => originals(iteration.unwrap()),
        CheckPhase::Iteration | CheckPhase::Proof | CheckPhase::HeldOut => 0,
    });
    world.on_proof = Box::new(answers(change()));
    world
}

fn runs(world: &World) -> Vec<(CheckPhase, u32)> {
    let proofs = world.checks.iter().filter(|plan| plan.phase.is_of_proof());
    proofs.map(|plan| (plan.phase, plan.index)).collect()
}

fn tests(world: &World) -> TestsResult {
    *world.result().tests.clone().expect("it has checks")
}

fn asked(world: &World) -> Needs {
    let asked = world.journal.iter().rev().find_map(|line| match &line.event {
        Event::Paused { needs } => Some(needs.clone()),
        _ => None,
    });
    asked.expect("it paused")
}

/// A person answers the paused task.
fn answer(mut world: World, command: Command) -> World {
    world.begin(Begin::default());
    world.input(&Input::Command(super::world::command(command)), None);
    world.drive();
    world
}

fn approve() -> Command {
    Command::Approve { choice: None }
}

#[test]
fn l20_a_commit_that_passes_with_the_tests_as_they_were_is_proven() {
    let world = world(checked(5, &["a", "b"]), |_| 0).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert!(world.result().verified);
    let (own, originals) = (CheckPhase::Proof, CheckPhase::Originals);
    assert_eq!(runs(&world), [(own, 0), (own, 1), (originals, 0), (originals, 1)]);
    let plans: Vec<_> = world.proofs.iter().map(|plan| (plan.run, plan.start)).collect();
    assert_eq!(plans, [(ProofRun::Commit, Start::Caches), (ProofRun::Originals, Start::Caches)]);
    assert_eq!(tests(&world).originals, Originals::Green);
    assert_eq!(tests(&world).changed, change().changed);
}

#[test]
fn l20_without_a_changed_test_there_is_one_run() {
    let mut world = world(checked(5, &["a"]), |_| 1);
    world.on_proof = Box::new(answers(TestsChange { affects_originals: false, ..change() }));
    let world = world.run();
    assert!(world.result().verified);
    assert_eq!((runs(&world).len(), tests(&world).originals), (1, Originals::NotRun));
}

#[test]
fn l20_the_user_may_allow_every_change() {
    let mut spec = checked(5, &["a"]);
    spec.policy.tests.mode = TestsMode::Free;
    let world = world(spec, |_| 1).run();
    assert!(world.result().verified);
    assert_eq!(
        (runs(&world).len(), tests(&world).mode, tests(&world).changed_total),
        (1, TestsMode::Free, 1)
    );
    assert!(!world.prompts()[0].contains("<tests-changed>"));
}

#[test]
fn l20_the_agent_is_told_once_and_may_repair() {
    let world = world(checked(5, &["a"]), |iteration| i32::from(iteration == 0)).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    assert!(world.result().verified);
    let prompts = world.prompts();
    assert!(prompts[0].contains("<tests-changed>why</tests-changed>"), "{}", prompts[0]);
    let told = "not with the tests as they were before the task, and that counts. With the files below as they were:\n`a` → exit 1\n\
                line of a\nended 1\nYou changed:\n- test_a.py: changed\n";
    assert!(prompts[1].contains(told), "{}", prompts[1]);
}

#[test]
fn l20_told_once_and_still_red_a_person_decides() {
    let world = world(checked(9, &["a"]), |_| 1).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 2, 0));
    assert_eq!(world.result().outcome.exit_code(), 4);
    let failed = tests(&world).failed;
    assert_eq!((failed.len(), failed[0].phase), (1, CheckPhase::Originals));
    let kind = NeedKind::TestsChanged {
        changed: change().changed,
        changed_total: 1,
        inline: Vec::new(),
        failed,
        fewer: None,
        reason: None,
    };
    assert_eq!(asked(&world), Needs { kind, choices: vec![Choice::Approve, Choice::Reject, Choice::Kill] });
    assert_eq!(
        world.result().proof_state,
        Some(ProofState::TestsChanged { commit_id: commit_of(1) }),
        "it passes with its own tests"
    );
    assert!(!world.result().verified);
}

#[test]
fn l20_a_reason_in_the_same_turn_costs_no_further_turn() {
    let world = world(checked(9, &["a"]), |_| 1).turns(&[tests_changed("two plus two is four")]).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 1, 1, 0));
    assert_eq!(tests(&world).reason.as_deref(), Some("two plus two is four"));
}

#[test]
fn l20_a_reason_alone_is_an_answer_where_a_promise_is_due() {
    let mut spec = checked(9, &["a"]);
    spec.policy.until = Some("DONE".into());
    let script = [promised(), tests_changed("it was wrong")];
    let world = world(spec, |_| 1).turns(&script).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 2, 0));
    assert_eq!(tests(&world).reason.as_deref(), Some("it was wrong"));
}

#[test]
fn l20_a_reason_without_need_changes_nothing() {
    let world = world(checked(9, &["a"]), |_| 0).turns(&[tests_changed("no need")]).run();
    assert!(world.result().verified);
    assert_eq!(tests(&world).reason, None);
}

#[test]
fn l20_with_no_iteration_left_none_is_tried() {
    let world = world(checked(1, &["a"]), |_| 1).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 1, 1, 0));
    let mut spec = checked(9, &["a"]);
    spec.policy.max_tokens = Some(1);
    assert_eq!(self::world(spec, |_| 1).run().end().0, Outcome::Paused, "nothing is left to pay another one");
}

#[test]
fn l20_blocked_comes_before_it() {
    let world = world(checked(9, &["a"]), |_| 1).turns(&[blocked("Which key?")]).run();
    assert!(matches!(asked(&world).kind, NeedKind::Blocked { .. }));
}

#[test]
fn l20_approved_it_is_completed_and_not_verified() {
    let world = answer(world(checked(1, &["a"]), |_| 1).run(), approve());
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 1, 1, 0));
    assert_eq!((world.result().verified, tests(&world).approved), (false, true));
    assert_eq!(tests(&world).originals, Originals::Red);
    assert_eq!(world.turns.len(), 1);
}

#[test]
fn l20_rejected_it_goes_on_with_the_persons_words() {
    let mut rejected = false;
    let world = world(checked(1, &["a"]), move |_| i32::from(!std::mem::replace(&mut rejected, true))).run();
    let world = answer(world, Command::Reject { reason: Some("Keep the old name too.".into()) });
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Checks, 2, 2, 0));
    assert!(world.result().verified);
    let said = "The tests must stay as they were before the task. Make the work pass with them.\nKeep the old name too.";
    assert!(world.prompts()[1].contains(said), "{}", world.prompts()[1]);
}

#[test]
fn l20_only_what_was_asked_can_be_approved() {
    let mut world = world(checked(9, &["a"]), |_| 1);
    world.begin(Begin::default());
    world.input(&Input::Command(command(approve())), None);
    world.drive();
    assert_eq!((world.result().outcome, tests(&world).approved), (Outcome::Paused, false));
    // Over means over: an answer that nobody takes in is none.
    world.input(&Input::Command(command(approve())), None);
    assert_eq!(world.result().outcome, Outcome::Paused);
    // Resumed without an answer the agent has another turn, and the question is taken back.
    world.begin(Begin::default());
    assert!(world.step() && world.step(), "a turn begins");
    world.input(&Input::Command(command(approve())), None);
    world.drive();
    assert_eq!((world.result().outcome, tests(&world).approved), (Outcome::Paused, false));
}

#[test]
fn l20_a_death_before_the_question_asks_it_again() {
    let mut world = world(checked(1, &["a"]), |_| 1);
    world.begin(Begin::default());
    while !matches!(world.journal.last().map(|line| &line.event), Some(Event::IterationFinished(_))) {
        assert!(world.step());
    }
    world.begin(Begin::default());
    world.drive();
    assert_eq!((world.turns.len(), world.result().outcome), (1, Outcome::Paused));
    assert!(matches!(asked(&world).kind, NeedKind::TestsChanged { .. }));
}

#[test]
fn l20_a_death_in_the_second_run_begins_the_proof_anew() {
    let mut world = world(checked(5, &["a"]), |_| 0);
    world.begin(Begin::default());
    while world.proofs.len() < 2 {
        assert!(world.step());
    }
    world.begin(Begin::default());
    world.drive();
    assert!(world.result().verified);
    let runs: Vec<ProofRun> = world.proofs.iter().map(|plan| plan.run).collect();
    use ProofRun::{Commit, Originals};
    assert_eq!(runs, [Commit, Originals, Commit, Originals]);
}

#[test]
fn l20_tests_in_source_files_that_are_gone_count_as_red() {
    let mut world = world(checked(1, &["a"]), |_| 0);
    let inline =
        InlineTest { path: "src/a.rs".into(), name: "tests::adds".into(), how: InlineChange::Removed };
    world.on_proof = Box::new(answers(TestsChange { inline: vec![inline.clone()], ..change() }));
    let world = world.run();
    assert_eq!(world.result().outcome, Outcome::Paused);
    assert_eq!((tests(&world).inline, tests(&world).originals), (vec![inline], Originals::Red));
    assert_eq!(runs(&world), [(CheckPhase::Proof, 0)]);
}

#[test]
fn l20_a_check_that_names_a_new_file_is_left_out_of_the_second_run() {
    let mut world = world(checked(1, &["a", "b", "c"]), |_| 0);
    world.on_proof = Box::new(answers(TestsChange { not_for_originals: vec![0, 2], ..change() }));
    let world = world.run();
    assert!(world.result().verified);
    assert_eq!(runs(&world).last(), Some(&(CheckPhase::Originals, 1)));
    assert_eq!(runs(&world).len(), 4);
}

#[test]
fn l20_where_every_check_names_a_new_file_there_is_no_second_run() {
    let mut world = world(checked(1, &["a"]), |_| 1);
    world.on_proof = Box::new(answers(TestsChange { not_for_originals: vec![0], ..change() }));
    let world = world.run();
    assert!(world.result().verified);
    assert_eq!(tests(&world).originals, Originals::NotRun);
}

#[test]
fn l20_a_second_run_that_is_red_from_caches_is_made_again_from_nothing() {
    let mut nth = 0;
    let mut world = world(checked(1, &["a"]), move |_| {
        nth += 1;
        i32::from(nth == 1)
    });
    world.on_proof = Box::new(|plan| Input::ProofReady {
        set_up: false,
        cache: (plan.start == Start::Caches && plan.run == ProofRun::Originals).then(|| cache(false)),
        tests: Some(change()),
    });
    let world = world.run();
    assert!(world.result().verified);
    let starts: Vec<Start> = world.proofs.iter().map(|plan| plan.start).collect();
    assert_eq!(starts, [Start::Caches, Start::Caches, Start::Nothing]);
}

#[test]
fn l20_fewer_tests_than_before_are_no_proof() {
    let counts = |before: u64, after: u64| {
        let mut world = World::new(checked(1, &["a"]));
        world.on_proof = Box::new(answers(TestsChange { affects_originals: false, ..change() }));
        world.begin(Begin::default());
        while let Some(effect) = crate::engine::Planned::effect(&world.machine) {
            let input = match &effect {
                Effect::RunCheck(plan) => {
                    let mut result = world.run_check(plan);
                    let first = plan.phase == CheckPhase::Baseline;
                    result.tests_run = Some(if first { before } else { after });
                    result.exit_code = Some(i32::from(first));
                    Some(Input::CheckDone(result))
                }
                effect => world.perform(effect),
            };
            world.input(&input.unwrap(), Some(&effect));
        }
        world
    };
    for (before, after) in [(3, 3), (3, 4), (0, 0)] {
        assert!(counts(before, after).result().verified, "{before} → {after}");
    }
    let world = counts(3, 2);
    assert_eq!(world.result().outcome, Outcome::Paused);
    assert_eq!(tests(&world).fewer, Some(FewerTests { before: 3, after: 2 }));
}
