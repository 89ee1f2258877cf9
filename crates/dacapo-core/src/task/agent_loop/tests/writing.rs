//! Summaries and commit messages by models of their own (C4, C5): never in the way of an iteration.

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine};
use crate::event::{Event, Outcome, TurnEnd, Usage, WritingEnd};
use crate::spec::TaskSpec;
use crate::spec::Writing;

fn written(iterations: u32) -> TaskSpec {
    let mut spec = iter(iterations);
    spec.context.summary_by = Some(agent("summer"));
    spec.context.message_by = Some(agent("worder"));
    spec
}

fn fails(_: &crate::engine::machine::WritingPlan) -> WritingEnd {
    WritingEnd::Failed { fault: "no answer".into() }
}

fn asked(world: &World) -> Vec<(u32, Writing)> {
    world.writings.iter().map(|plan| (plan.iteration, plan.what)).collect()
}

#[test]
fn c5_a_models_summary_is_the_record_and_the_context_of_the_next_iteration() {
    let world = World::new(written(2)).run();
    assert_eq!(
        asked(&world),
        [
            (0, Writing::Summary),
            (0, Writing::CommitMessage),
            (1, Writing::Summary),
            (1, Writing::CommitMessage)
        ]
    );
    assert_eq!(world.records()[0].summary, "Summed up 0. In short.");
    assert!(world.prompts()[1].contains("Summary: Summed up 0. In short.\n"), "{}", world.prompts()[1]);
    assert_eq!(world.writings[1].summary, "Summed up 0. In short.", "what the message is made of");
    assert_eq!(world.writings[2].start, Some(commit_of(0)));
}

#[test]
fn c4_a_models_message_is_the_commits() {
    let world = World::new(written(1)).run();
    assert_eq!(
        world.commits[0].message,
        "[iter-0] Word 0\n\nWhy it was done.\n\nDacapo-Task: x\nDacapo-Iteration: 0\nDacapo-Outcome: success\n"
    );
    assert_eq!(world.records()[0].commit_id, Some(commit_of(0)));
}

#[test]
fn c5_a_summary_that_fails_never_costs_the_iteration() {
    let world = World::new(written(2)).writing(fails).run();
    assert_eq!(world.end().3, 2, "both succeeded");
    assert_eq!(world.records()[0].summary, "Summary generation failed");
    assert!(world.commits[0].message.starts_with("[iter-0] Did a part\n\n"), "{}", world.commits[0].message);
    let mute = Turn { summary: String::new(), ..done() };
    let world = World::new(written(1)).turns(&[mute]).writing(fails).run();
    assert!(world.commits[0].message.starts_with("[iter-0] Iteration 0 changes\n\nDacapo-"));
}

#[test]
fn c4_a_message_that_fails_is_made_from_the_summary() {
    let mut spec = written(1);
    spec.context.summary_by = None;
    let world = World::new(spec).writing(fails).run();
    assert_eq!(asked(&world), [(0, Writing::CommitMessage)]);
    assert_eq!(world.records()[0].summary, "Did a part.");
    assert!(world.commits[0].message.starts_with("[iter-0] Did a part\n\n"), "{}", world.commits[0].message);
}

#[test]
fn c5_nothing_to_write_about_is_no_failure() {
    let mute = Turn { summary: String::new(), ..done() };
    let world = World::new(written(1)).turns(&[mute]).writing(|_| WritingEnd::Nothing).run();
    assert_eq!(world.records()[0].summary, "No significant actions in this iteration.");
}

#[test]
fn c5_only_a_turn_that_was_done_is_written_about() {
    let ends = [failed(), broken(), ended(TurnEnd::Budget), ended(TurnEnd::Cancelled)];
    for turn in ends {
        let world = World::new(written(1)).turns(std::slice::from_ref(&turn)).run();
        assert_eq!(asked(&world), [], "{:?}", turn.end);
        assert_eq!(world.records()[0].summary, "Did a part.", "its own words: {:?}", turn.end);
    }
    let world = World::new(written(1)).turns(&[limited(None), done()]).run();
    assert_eq!(world.writings[0].turns, [(0, 0), (1, 0)], "both turns of the iteration");
}

#[test]
fn c11_what_is_switched_off_is_not_written() {
    let mut spec = written(1);
    spec.context.generate_summary = false;
    let world = World::new(spec).run();
    assert_eq!(asked(&world), [(0, Writing::CommitMessage)]);
    let mut spec = written(1);
    spec.context.auto_commit = false;
    let world = World::new(spec).run();
    assert_eq!(asked(&world), [(0, Writing::Summary)]);
}

#[test]
fn l10_what_models_write_counts_toward_totals_and_budgets() {
    let world = World::new(written(2)).run();
    let usage = world.records()[0].usage;
    assert_eq!((usage.input, usage.output), (10 + 2 * 3, 5 + 2));
    assert_eq!((world.result().tokens.input, world.result().tokens.output), (32, 14));

    let mut spec = written(5);
    spec.policy.max_tokens = Some(19);
    let world = World::new(spec).run();
    assert_eq!(asked(&world), [(0, Writing::Summary)], "15 by the turn, 19 with the summary");
    assert_eq!(world.end().0, Outcome::BudgetExhausted);
    assert_eq!(world.records()[0].summary, "Summed up 0. In short.");

    let mut spec = written(5);
    spec.policy.max_tokens = Some(15);
    let world = World::new(spec).run();
    assert_eq!(asked(&world), [], "the turn has used it up");
    let mut turn = World::new(written(1));
    turn.begin(Begin::default());
    while !matches!(turn.machine.effect(), Some(Effect::Write(_))) {
        turn.step();
    }
    assert!(!turn.machine.over_budget(&Usage { input: u64::MAX, ..Usage::default() }), "there is none");
}

#[test]
fn l13_a_conversation_does_not_count_what_models_beside_it_used() {
    let mut spec = written(2);
    spec.policy.session = crate::spec::SessionMode::Resume;
    spec.agents = vec![resumable("one")];
    let world = World::new(spec).turns(&[Turn { session: Some("s".into()), ..done() }]).run();
    assert_eq!(world.turns[1].earlier, Usage { input: 10, output: 5, cached: 0, ..Usage::default() });
}

#[test]
fn l14_nobody_who_wants_to_stop_waits_for_a_model() {
    for nth in [0, 1] {
        let world = World::new(written(3)).stop(nth, |effect| matches!(effect, Effect::Write(_))).run();
        assert_eq!(world.end().0, Outcome::Cancelled);
        assert_eq!(world.writings.len(), nth as usize + 1, "none was asked after the signal");
        assert_eq!(world.records().len(), 1);
        assert_eq!(world.records()[0].commit_id, Some(commit_of(0)), "what is there is committed");
        let summary = if nth == 0 { "Did a part." } else { "Summed up 0. In short." };
        assert_eq!(world.records()[0].summary, summary);
    }
}

#[test]
fn l14_stopped_before_it_was_asked_the_loop_goes_on_without_it() {
    let mut world = World::new(written(3));
    world.begin(Begin::default());
    while !matches!(world.machine.effect(), Some(Effect::Write(_))) {
        world.step();
    }
    world.input(&Input::Stop { by: "SIGINT".into() }, None);
    assert_eq!(world.machine.effect(), Some(Effect::Settle));
    world.drive();
    assert_eq!((world.end().0, world.writings.len()), (Outcome::Cancelled, 0));
    let ends = world.journal.iter().filter_map(|line| match &line.event {
        Event::Written(record) => Some((record.what, record.end.clone())),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [(Writing::Summary, WritingEnd::Cancelled)]);
}

#[test]
fn r1_a_call_in_flight_is_derived_again_from_any_prefix() {
    let world = World::new(written(2)).run();
    let mut calls = 0;
    for at in 0..world.journal.len() {
        if let Some(effect @ Effect::Write(_)) = &world.because[at] {
            calls += 1;
            assert_eq!(fold(&world.spec, &world.journal[..at]).effect().as_ref(), Some(effect));
            let mut next = World::new(written(2));
            next.journal = world.journal[..at].to_vec();
            next.because = world.because[..at].to_vec();
            next.machine = fold(&next.spec, &next.journal);
            next.now = world.journal[at - 1].at;
            next.begin(Begin::default());
            assert_eq!(next.machine.effect().as_ref(), Some(effect), "after it was taken up again");
            next.drive();
            let (lines, wanted) = (next.records(), world.records());
            let texts = |records: &[&crate::event::IterationRecord]| -> Vec<String> {
                records.iter().map(|record| record.summary.clone()).collect()
            };
            assert_eq!(texts(&lines), texts(&wanted));
        }
    }
    assert_eq!(calls, 4);
}

#[test]
fn an_iteration_of_many_turns_names_the_newest() {
    let script: Vec<Turn> = (0..20).map(|_| limited(None)).chain([done()]).collect();
    let world = World::new(written(1)).turns(&script).run();
    let turns: Vec<u32> = world.writings[0].turns.iter().map(|(turn, _)| *turn).collect();
    assert_eq!(turns, (13..=20).collect::<Vec<_>>());
}
