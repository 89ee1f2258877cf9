//! Pauses, answers, limits that are changed, kill (M5, M7, M10).

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input};
use crate::event::{Choice, Command, Event, NeedKind, Outcome, StopReason};
use crate::task::milestone::MilestoneStep;

const YES: Command = Command::Approve { choice: None };

fn reviewed() -> World {
    let mut details = details();
    details.requires_human_review = true;
    World::new(with(&details)).script(&[complete(1), yes()]).run()
}

#[test]
fn m5_where_a_person_has_the_last_word_it_waits_for_it() {
    let world = reviewed();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 1, 1, 0));
    assert_eq!(tag(&world.question()), "review");
    let again = world.resume(&[]);
    assert_eq!(
        (again.result().outcome, again.turns.len()),
        (Outcome::Paused, 2),
        "resume alone is no answer"
    );
    let approved = again.resume(&[YES]);
    assert_eq!(approved.end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
    assert_eq!(approved.turns.len(), 2);
}

#[test]
fn m5_a_person_who_says_no_sends_it_back_to_the_developer() {
    let mut world = reviewed();
    world.script = [complete(2), yes()].into();
    let tell = Command::Tell { text: "the docs are missing".into(), standing: true };
    let world = world.resume(&[tell, Command::Reject { reason: None }]);
    assert!(world.prompt(2).contains("a person rejected the milestone"), "{}", world.prompt(2));
    assert!(world.prompt(2).contains("the docs are missing"));
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 2, 1, 1));
    assert_eq!(world.resume(&[YES]).end(), (Outcome::Completed, StopReason::Promise, 2, 1, 1));
}

#[test]
fn m5_a_no_that_is_taken_back_counts_once() {
    let mut details = details();
    details.requires_human_review = true;
    let mut spec = with(&details);
    spec.policy.cap = Some(crate::spec::Cap::by_iter(1));
    let world =
        World::new(spec).script(&[complete(1), yes()]).run().resume(&[Command::Reject { reason: None }]);
    assert_eq!((tag(&world.question()).as_str(), world.end().3), ("rounds", 0));
    assert_eq!(world.resume(&[YES]).end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
}

#[test]
fn r2_a_workspace_that_is_gone_ends_it_with_the_round_open() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    for _ in 0..2 {
        assert!(
            world
                .drive_to(|effect| matches!(effect, Effect::InspectWork(query) if !query.commits.is_empty()))
        );
        world.input(&Input::WorkspaceFailed(vec!["the working directory is gone".into()]), None);
        world.drive();
        assert_eq!(world.end(), (Outcome::Failed, StopReason::SetupFailed, 1, 0, 0));
        world.begin(Begin::default());
    }
    world.drive();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m5_what_is_killed_in_review_is_still_in_review_afterwards() {
    let world = reviewed().resume(&[Command::Kill]);
    assert_eq!(world.result().outcome, Outcome::Cancelled);
    let again = world.resume(&[]);
    assert_eq!((again.result().outcome, again.turns.len()), (Outcome::Paused, 2));
}

fn thrice_rejected() -> World {
    let script = [report(1, "F-1"), no("a"), report(2, "F-1"), no("b"), report(3, "F-1"), no("c")];
    World::new(spec()).script(&script).run()
}

#[test]
fn m10_a_person_may_overrule_the_verdict() {
    let world = thrice_rejected().resume(&[YES, YES]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 6, 4, 2));
    assert!(world.prompt(6).contains("F-1 (accepted)"), "{}", world.prompt(6));
    assert!(!world.prompt(6).contains("was rejected"));
}

#[test]
fn m10_a_person_may_settle_a_finding() {
    let mut world = thrice_rejected();
    world.script = [report(4, "F-1"), says("REJECTED: x\n- [R1] c\n"), yes()].into();
    let world = world.resume(&[Command::Approve { choice: Some(1) }]);
    assert!(world.prompt(8).contains("names only what is settled (R1)"), "{}", world.prompt(8));
    assert_eq!(world.result().outcome, Outcome::Completed);
}

#[test]
fn m10_an_answer_may_be_written_down_before_anybody_takes_it_up() {
    let mut world = thrice_rejected();
    world.script = [report(4, "F-1"), says("REJECTED: x\n- [R1] c\n"), yes()].into();
    world.input(&Input::Command(command(Command::Approve { choice: Some(1) })), None);
    let world = world.resume(&[]);
    assert!(world.prompt(8).contains("names only what is settled (R1)"), "{}", world.prompt(8));
    let mut world = thrice_rejected();
    world.input(&Input::Command(command(YES)), None);
    assert_eq!(world.resume(&[]).end(), (Outcome::Completed, StopReason::Promise, 6, 4, 2));
    let mut world = reviewed();
    world.input(&Input::Command(command(YES)), None);
    assert_eq!(world.machine.effect(), None);
    assert_eq!(world.resume(&[]).end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
}

fn offers_approval(world: &World) -> bool {
    let needs = world.machine.needs().expect("it is paused");
    needs.offers(&Choice::Approve)
}

#[test]
fn m10_at_any_pause_between_rounds_the_newest_verdict_may_be_overruled() {
    let pause = || Input::Command(command(Command::Pause { now: false }));
    let script = [report(1, "F-1"), no("a")];
    let world = World::new(spec()).script(&script).during(1, pause()).run();
    assert!(offers_approval(&world));
    let world = world.resume(&[YES]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    assert!(world.prompt(2).contains("F-1 (accepted)"), "{}", world.prompt(2));
    let now = Input::Command(command(Command::Pause { now: true }));
    let world = World::new(spec()).script(&script).during(2, now).run();
    assert!(!offers_approval(&world));
    let world = world.resume(&[YES]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 5, 4, 1), "its repair is under way");
}

#[test]
fn m10_what_is_told_at_a_pause_is_heard_by_both() {
    let mut world = thrice_rejected();
    world.input(
        &Input::Command(command(Command::Tell { text: "in the app, 5/min".into(), standing: true })),
        None,
    );
    let world = world.resume(&[Command::Reject { reason: Some("not in nginx".into()) }]);
    for turn in [6, 7] {
        let told = world.prompt(turn);
        assert!(told.contains("in the app, 5/min") && told.contains("not in nginx"), "{told}");
    }
    assert!(!world.prompt(8).contains("in the app"), "once each");
}

#[test]
fn m5_the_reason_of_a_no_reaches_the_developer_and_the_acceptor_knows_of_it() {
    let mut world = reviewed();
    world.script = [complete(2), yes()].into();
    let world = world.resume(&[Command::Reject { reason: Some("no docs".into()) }]);
    assert!(world.prompt(2).contains("a person rejected the milestone: no docs"), "{}", world.prompt(2));
    assert!(world.prompt(3).contains("a person rejected the milestone: no docs"), "{}", world.prompt(3));
}

#[test]
fn m10_a_final_rejection_that_is_overruled_completes_it() {
    let mut spec = spec();
    spec.policy.cap = Some(crate::spec::Cap::by_iter(1));
    let world = World::new(spec).script(&[complete(1), no("x")]).run();
    assert_eq!(world.question(), NeedKind::Rounds { used: 1, reason: Some("x".into()) });
    let world = world.resume(&[YES]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
}

#[test]
fn m10_at_every_pause_it_may_be_given_up() {
    let options = |world: &World| {
        let mut asked = world.journal.iter().rev().filter_map(|line| match &line.event {
            Event::Paused { needs } => Some(needs.choices.clone()),
            _ => None,
        });
        asked.next().expect("a person was asked")
    };
    let now = Input::Command(command(Command::Pause { now: true }));
    let paused = World::new(spec()).during(0, now).run();
    for world in [thrice_rejected(), reviewed(), paused] {
        let offered = options(&world);
        assert_eq!(offered.last(), Some(&Choice::Abandon), "{offered:?}");
        assert!(!offered.contains(&Choice::Kill), "{offered:?}");
    }
}

#[test]
fn m10_where_nothing_was_reported_there_is_nothing_to_overrule() {
    let world = World::new(spec()).script(&[overdue(), overdue(), overdue()]).run();
    let world = world.resume(&[YES]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 7, 4, 3), "it just goes on");
}

#[test]
fn m10_a_report_that_was_asked_for_anew_and_never_came_is_not_offered() {
    let mut details = details();
    details.max_rejections = 1;
    let fails = failed(crate::event::FailureKind::Transient);
    let script = [report(1, "F-1"), fails, says("no report"), says("no report")];
    let mut looks = 0;
    let world = World::new(with(&details))
        .script(&script)
        .inspect(move |_, facts| {
            looks += 1;
            if looks > 1 {
                facts.tip = Some(oid(0xabc_def0));
            }
        })
        .run();
    assert_eq!((world.order().as_str(), tag(&world.question()).as_str()), ("D1 A1 D1 D1", "rejections"));
    let needs = world.journal.iter().find_map(|line| match &line.event {
        Event::Paused { needs } => Some(needs.clone()),
        _ => None,
    });
    let needs = needs.unwrap();
    assert!(!needs.offers(&Choice::Approve), "{needs:?}");
}

#[test]
fn m10_an_answer_to_somebody_elses_question_is_none_to_ours() {
    let world = World::new(spec()).during(1, Input::Command(command(YES))).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m7_no_round_begins_beyond_the_limit() {
    let mut details = details();
    details.max_rejections = 1000;
    let script: Vec<Turn> = (1..=20).flat_map(|round| [report(round, "F-1"), no("x")]).collect();
    let world = World::new(with(&details)).script(&script).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 20, 0, 20));
    assert_eq!(world.question(), NeedKind::Rounds { used: 20, reason: Some("x".into()) });
    let same = world.resume(&[]);
    assert_eq!((same.end().2, same.turns.len()), (20, 40), "without more there is no round 21");
    let more = same.resume(&[set("rounds", "+10")]);
    assert_eq!(more.end(), (Outcome::Completed, StopReason::Promise, 24, 4, 20));
}

#[test]
fn m7_resume_may_ask_for_more_rounds() {
    let mut spec = spec();
    spec.policy.cap = Some(crate::spec::Cap::by_iter(1));
    let mut world = World::new(spec).run();
    assert_eq!(tag(&world.question()), "rounds");
    world.begin(Begin { more_iterations: Some(2), ..Begin::default() });
    world.drive();
    assert_eq!((world.end().0, world.end().2), (Outcome::Paused, 3));
}

#[test]
fn m10_limits_can_be_set_while_it_runs() {
    let wanted = |key: &str, value: &str| Input::Command(command(set(key, value)));
    let world = World::new(spec()).during(1, wanted("rounds", "2")).run();
    assert_eq!((world.end().0, world.end().2), (Outcome::Paused, 2));
    let world =
        World::new(spec()).script(&[report(1, "F-1"), no("x")]).during(1, wanted("rejections", "1")).run();
    assert_eq!(tag(&world.question()), "rejections");
    let world = world.resume(&[set("rejections", "+4")]);
    assert_eq!((world.result().outcome, world.machine.max_rejections), (Outcome::Completed, 5));
    let world = World::new(spec()).during(0, wanted("call_timeout", "1m")).run();
    assert_eq!(world.turns[1].hard_limit, Some(std::time::Duration::from_secs(60)));
    let world = World::new(spec()).during(0, wanted("colour", "red")).run();
    assert_eq!(world.result().outcome, Outcome::Completed);
}

#[test]
fn s2_a_pause_waits_for_the_end_of_the_round() {
    let world = World::new(spec()).during(0, Input::Command(command(Command::Pause { now: false }))).run();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 1, 1, 0));
    assert_eq!(world.question(), NeedKind::Resume { by: Some("a person".into()) });
    assert_eq!(world.kept, 0, "nothing was in the middle of anything");
    assert_eq!(world.resume(&[]).end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn s2_a_pause_at_once_ends_the_turn_and_the_round_goes_on_afterwards() {
    for turn in 0..8 {
        let pause = Input::Command(command(Command::Pause { now: true }));
        let world = World::new(spec()).during(turn, pause).run();
        assert_eq!(world.result().outcome, Outcome::Paused, "turn {turn}");
        assert_eq!(world.turns.len() as u32, turn + 1);
        let world = world.resume(&[]);
        assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0), "turn {turn}");
        assert_eq!(world.turns.len(), 9, "only that turn was had twice");
    }
}

#[test]
fn s8_what_is_killed_is_kept_and_no_round_is_lost() {
    for turn in 0..8 {
        for stop in [Input::Stop { by: "SIGINT".into() }, Input::Command(command(Command::Kill))] {
            let world = World::new(spec()).during(turn, stop).run();
            assert_eq!((world.result().outcome, world.kept), (Outcome::Cancelled, 1), "turn {turn}");
            assert!(
                world
                    .steps()
                    .iter()
                    .any(|step| matches!(step, MilestoneStep::TreeKept { reference: Some(_) }))
            );
            let world = world.resume(&[]);
            assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0), "turn {turn}");
        }
    }
}

#[test]
fn s8_a_stop_before_anything_was_made_keeps_nothing() {
    let mut world = World::new(spec());
    world.begin(Begin::default());
    world.input(&Input::Stop { by: "SIGINT".into() }, None);
    world.drive();
    assert_eq!((world.result().outcome, world.kept, world.turns.len()), (Outcome::Cancelled, 0, 0));
    assert_eq!(world.resume(&[]).result().outcome, Outcome::Completed);
}

#[test]
fn m10_kill_wins_over_a_pause() {
    let mut world = thrice_rejected();
    world.machine = fold(&world.spec, &world.journal[..world.journal.len() - 2]);
    world.journal.truncate(world.journal.len() - 2);
    world.because.truncate(world.journal.len());
    assert!(matches!(world.machine.effect(), Some(Effect::Finish { .. })));
    world.input(&Input::Command(command(Command::Kill)), None);
    world.drive();
    assert_eq!(world.result().outcome, Outcome::Cancelled);
}

#[test]
fn s10_a_completed_one_goes_on_only_when_more_is_asked_for() {
    let world = World::new(spec()).run();
    let mut same = world.resume(&[]);
    assert_eq!((same.result().outcome, same.turns.len()), (Outcome::Completed, 8));
    same.begin(Begin { follow_up: Some("also the docs".into()), ..Begin::default() });
    same.drive();
    assert!(same.prompt(8).contains("also the docs"));
    assert_eq!(same.end(), (Outcome::Completed, StopReason::Promise, 5, 5, 0));
}

#[test]
fn m1_a_spec_that_is_none_is_refused() {
    let refused = |change: fn(&mut crate::spec::TaskSpec)| {
        let mut spec = spec();
        change(&mut spec);
        crate::task::milestone::Milestone::new(std::sync::Arc::new(spec)).unwrap_err().to_string()
    };
    assert!(refused(|spec| spec.details = serde_json::Value::Null).contains("cannot read the spec"));
    assert!(
        refused(|spec| drop(spec.agents.pop()))
            .ends_with("it needs a Developer and an Acceptor, not 1 agents")
    );
    assert!(refused(|spec| spec.policy.cap = None).ends_with("it has no limit on rounds"));
    assert!(
        refused(|spec| spec.details["definition"] = "x".into())
            .contains("line 1: the section '## Goal' is missing")
    );
}

#[test]
fn a_task_that_was_begun_is_read_by_a_version_that_freezes_or_words_it_otherwise() {
    let mut spec = spec();
    spec.details["frozen"] = "the hash of an older version".into();
    spec.details["prompts"] =
        serde_json::json!({ "developer": "{{no_such_name}}", "acceptor": "Judge {{id}}." });
    let world = World::new(spec).run();
    assert_eq!(world.result().outcome, Outcome::Completed);
    assert!(world.prompt(0).starts_with("You are the Developer of milestone auth."), "{}", world.prompt(0));
    assert!(world.prompt(1).starts_with("Judge auth."), "{}", world.prompt(1));
}

#[test]
fn commands_are_in_the_journal_whenever_they_come() {
    let mut world = World::new(spec()).run();
    let lines = world.journal.len();
    world.input(&Input::Command(command(Command::Kill)), None);
    assert!(matches!(world.journal[lines].event, Event::CommandReceived(_)));
    assert_eq!(world.machine.effect(), None, "it is over");
}

#[test]
fn s2_limits_are_those_of_the_kind() {
    use crate::engine::{Kind as _, Kinds};
    use crate::spec::{Amount, Change, InvalidChange};
    use crate::task::milestone::Milestones;
    let read = |key: &str, value: &str| Milestones.change(key, value);
    assert_eq!(read("rounds", "+10"), Ok(Change::Iterations(Amount::More(10))));
    assert_eq!(read("max_iterations_per_milestone", "5"), Ok(Change::Iterations(Amount::To(5))));
    assert_eq!(read("rejections", "2"), Ok(Change::Rejections(Amount::To(2))));
    let minute = std::time::Duration::from_secs(60);
    assert_eq!(read("call_timeout", "1m"), Ok(Change::TurnTimeout(minute)));
    for key in Milestones.limits() {
        for bad in ["", "x", "-1", "++1", "+", "NaN"] {
            assert!(
                matches!(read(key, bad), Err(InvalidChange::Value { key: named, .. }) if named == *key),
                "{key}={bad}"
            );
        }
    }
    assert_eq!(
        read("rejections", "0").unwrap_err().to_string(),
        "rejections=0: expected a count such as 3 or +2"
    );
    assert_eq!(read("stall", "3"), Err(InvalidChange::Key("stall".into())));
    let of_a_loop = Kinds::default().find("loop").unwrap();
    assert_eq!(of_a_loop.change("rounds", "3"), Err(InvalidChange::Key("rounds".into())));
}
