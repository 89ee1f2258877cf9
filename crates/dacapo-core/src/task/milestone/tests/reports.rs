//! Reports held against git (M6).

use super::world::*;
use crate::engine::Kinds;
use crate::engine::machine::WorkFacts;
use crate::event::{Event, Outcome};
use crate::task::milestone::MilestoneStep;
use crate::view::TaskView;

/// What is complained about when git says this of the first report.
fn complaints(change: impl Fn(&mut WorkFacts) + 'static) -> (Vec<String>, World) {
    let mut looks = 0;
    let world = World::new(spec())
        .inspect(move |_, facts| {
            looks += 1;
            if looks == 1 {
                change(facts);
            }
        })
        .run();
    let sent_back = world.steps().into_iter().find_map(|step| match step {
        MilestoneStep::ReportSentBack { complaints, .. } => Some(complaints.clone()),
        _ => None,
    });
    (sent_back.unwrap_or_default(), world)
}

#[test]
fn m6_what_git_does_not_confirm_goes_back_before_the_acceptor_sees_it() {
    type Change = fn(&mut WorkFacts);
    let cases: [(Change, &str); 5] = [
        (|facts| facts.commits[0].found = None, "there is no commit 0001001"),
        (
            |facts| facts.commits[0].on_branch = false,
            "commit 0001001 is not one of this milestone's on milestone/auth",
        ),
        (|facts| facts.dirty = vec!["a".into(), "b".into()], "the tree is not clean: commit or undo a, b"),
        (
            |facts| facts.branch = Some("refs/heads/main".into()),
            "HEAD is on main, not on milestone/auth: go back to it; what you committed elsewhere belongs there",
        ),
        (
            |facts| facts.definition_changed = true,
            ".dacapo/milestones/auth.md was changed: what the milestone is held to is not yours to change; bring it back as it was and commit that",
        ),
    ];
    for (change, told) in cases {
        let (complaints, world) = complaints(change);
        assert_eq!(complaints, [told]);
        assert_eq!(&world.order()[..8], "D1 D1 A1", "{told}");
        assert!(world.prompt(1).contains(&format!("## Your last reply was sent back\n\n- {told}\n")));
        assert_eq!((world.result().outcome, world.result().iterations_failed), (Outcome::Completed, 0));
    }
}

#[test]
fn m6_the_second_bad_report_of_a_round_is_a_rejection() {
    let world = World::new(spec()).script(&[says("I am done"), says("So I am"), report(2, "F-1")]).run();
    assert_eq!(&world.order()[..11], "D1 D1 D2 A2");
    let error = crate::context::faults(&world.records()[0].faults).unwrap();
    assert_eq!(
        error,
        "the report was invalid twice: the reply has no heading '## Implementation Report — Round 1' (nor '## ALL_FEATURES_COMPLETE') on a line of its own"
    );
    assert_eq!(world.records()[0].commit_id, None);
    assert_eq!((world.result().outcome, world.result().iterations_failed), (Outcome::Completed, 1));
}

#[test]
fn m6_every_commit_of_a_completion_report_must_be_there() {
    let reply = "## ALL_FEATURES_COMPLETE\n\n### Commits\n- 1111111: a\n- 2222222: b\n\n### Summary\nx\n";
    let world = World::new(spec()).script(&[says(reply)]).inspect(|_, facts| {
        if let Some(second) = facts.commits.get_mut(1) {
            second.found = None;
        }
    });
    let world = world.run();
    assert!(world.prompt(1).contains("- there is no commit 2222222\n"), "{}", world.prompt(1));
    assert_eq!(world.result().outcome, Outcome::Completed);
}

#[test]
fn m6_what_is_wrong_with_form_and_tree_is_told_at_once() {
    let mut looks = 0;
    let world = World::new(spec()).script(&[says("hello")]).inspect(move |query, facts| {
        looks += 1;
        if looks == 1 {
            assert!(query.commits.is_empty());
            facts.dirty = (0..12).map(|n| format!("f{n}")).collect();
        }
    });
    let world = world.run();
    let told = world.prompt(1);
    assert!(told.contains("the reply has no heading") && told.contains("f9 and 2 more"), "{told}");
}

#[test]
fn m6_a_feature_that_cannot_be_matched_is_judged_by_all_and_marks_none() {
    let world = World::new(spec()).script(&[report(1, "Something else"), yes()]).run();
    let told = world.prompt(1);
    let all =
        "- F-1 Login.\n  Accept: POST /login returns a token\n- F-2 Logout\n  Accept: the token is void\n";
    assert!(told.contains(all), "{told}");
    assert_eq!(world.end().2, 5, "all three are still to be done");
}

#[test]
fn m6_which_feature_was_reported_is_on_record_and_is_not_read_again() {
    let world = World::new(spec()).script(&[report(1, "Logout"), yes()]).run();
    let mut journal = world.journal.clone();
    let taken = journal.iter_mut().find_map(|line| match MilestoneStep::of(&line.event) {
        Some(step @ MilestoneStep::ReportTaken { .. }) => Some((line, step)),
        _ => None,
    });
    let (line, mut step) = taken.unwrap();
    let MilestoneStep::ReportTaken { feature, feature_at, .. } = &mut step else { unreachable!() };
    assert_eq!(*feature_at, Some(1));
    *feature = "a name that this version cannot tell".into();
    line.event = step.into();
    let rounds = journal.iter().position(|line| matches!(line.event, Event::IterationFinished(_))).unwrap();
    assert_eq!(fold(&world.spec, &journal[..=rounds]).done, [false, true, false]);
    let mut view = TaskView::new(&world.spec, Kinds::default());
    journal[..=rounds].iter().for_each(|line| view.apply(line));
    let shown =
        crate::task::milestone::MilestoneView::of(view.own()).unwrap().history[0].report.clone().unwrap();
    assert_eq!(shown.feature_id.as_deref(), Some("F-2"));
}
