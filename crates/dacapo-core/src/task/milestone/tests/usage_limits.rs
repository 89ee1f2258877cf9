//! Usage limits, budgets, time, failures, setup.

use std::time::Duration;

use jiff::SignedDuration;

use super::world::*;
use crate::engine::machine::Input;
use crate::event::{
    Command, Event, FailureKind, Fault, KnownLimit, Metered, Notice, Outcome, StopDetail, StopReason,
    TimeLimit, TurnEnd, Usage,
};
use crate::spec::{Place, Setup};

fn limited(minutes: Option<i64>) -> Turn {
    let resets_at = minutes.map(|minutes| start() + SignedDuration::from_mins(minutes));
    ends(TurnEnd::Limit { message: "limit reached".into(), resets_at })
}

#[test]
fn l9_a_limit_is_waited_for_and_costs_no_round() {
    let world = World::new(spec())
        .script(&[limited(Some(30)), report(1, "F-1"), limited(None), limited(None), yes()])
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    assert_eq!(&world.order()[..14], "D1 D1 A1 A1 A1");
    let minutes: Vec<u64> = world.sleeps.iter().map(|wait| wait.as_secs().div_ceil(60)).collect();
    assert_eq!(minutes, [29, 1, 2]);
}

#[test]
fn l9_a_limit_that_another_task_found_is_not_run_into() {
    for until in [Some(start() + SignedDuration::from_mins(5)), None] {
        let mut world = World::new(spec());
        world.known_limit = Some(KnownLimit {
            agent: "codex".into(),
            message: "limit".into(),
            by: "other".into(),
            until,
            guesses: 0,
        });
        let world = world.run();
        assert_eq!(
            (world.result().outcome, world.turns.len(), world.sleeps.len()),
            (Outcome::Completed, 8, 1)
        );
    }
}

#[test]
fn l9_waiting_has_an_end_and_can_be_taken_up() {
    let mut spec = spec();
    spec.policy.max_wait = Duration::from_secs(600);
    let world = World::new(spec).script(&[limited(Some(60))]).run();
    assert_eq!(world.end(), (Outcome::TimeElapsed, StopReason::LimitWait, 1, 0, 0));
    let mut world = world;
    world.pass(Duration::from_secs(7200));
    let world = world.resume(&[]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn s2_a_pause_does_not_wait_for_a_limit() {
    let mut world = World::new(spec()).script(&[limited(Some(30))]);
    world.begin(crate::engine::machine::Begin::default());
    assert!(world.drive_to(|effect| matches!(effect, crate::engine::machine::Effect::Sleep { .. })));
    world.input(&Input::Command(command(Command::Pause { now: false })), None);
    world.drive();
    assert_eq!(world.end(), (Outcome::Paused, StopReason::NeedsPerson, 1, 0, 0));
    assert_eq!(world.resume(&[]).end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn l10_a_budget_ends_it_and_an_allowance_anew_goes_on() {
    let mut spec = spec();
    spec.policy.max_tokens = Some(40);
    let world = World::new(spec).run();
    assert_eq!(world.end(), (Outcome::BudgetExhausted, StopReason::Budget, 2, 1, 0));
    assert_eq!(world.order(), "D1 A1 D2");
    let mut world = world;
    while world.result().outcome == Outcome::BudgetExhausted {
        world = world.resume(&[]);
    }
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    assert_eq!(world.turns.len(), 8, "no turn was had twice");
    assert_eq!(world.result().tokens.input, 80);
}

#[test]
fn l10_a_second_turn_in_a_row_of_unknown_usage_ends_a_milestone() {
    let mut spec = spec();
    spec.policy.max_tokens = Some(1000);
    let silent = |turn: Turn| Turn { usage: Usage::default(), ..turn };
    let world = World::new(spec.clone()).script(&[silent(report(1, "F-1")), silent(yes())]).run();
    assert_eq!(world.end().0, Outcome::BudgetExhausted);
    assert_eq!(world.order(), "D1 A1");
    let detail = world.result().detail.clone();
    assert!(
        matches!(detail, Some(StopDetail::UsageUnknown { amount: Metered::Tokens, turns: 2, .. })),
        "{detail:?}"
    );
    let notices = |world: &World| {
        let unknown = |event: &Event| matches!(event, Event::Notice(Notice::UsageUnknown { .. }));
        world.journal.iter().filter(|line| unknown(&line.event)).count()
    };
    assert_eq!(notices(&world), 1);
    assert_eq!(world.resume(&[]).end().0, Outcome::Completed, "an allowance anew goes on");
    let world = World::new(spec).script(&[silent(report(1, "F-1")), yes(), silent(report(2, "F-2"))]).run();
    assert_eq!((world.end().0, notices(&world)), (Outcome::Completed, 2), "not in a row");
}

#[test]
fn l10_what_is_complete_is_complete_whatever_it_cost() {
    let mut spec = spec();
    spec.policy.max_cost = Some(1.0);
    let dear = Turn { usage: Usage { cost_usd: Some(5.0), ..Usage::default() }, ..yes() };
    let world = World::new(spec).script(&[complete(1), dear]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 1, 1, 0));
    assert_eq!((world.turns[0].budget, world.result().cost_usd), (Some(1.0), Some(5.0)));
}

#[test]
fn l2_no_round_begins_when_the_time_is_used_up() {
    let mut spec = spec();
    spec.policy.time = Some(Duration::from_secs(100));
    let world = World::new(spec).run();
    assert_eq!(world.end(), (Outcome::TimeElapsed, StopReason::Time, 1, 1, 0));
}

#[test]
fn l8_a_call_that_fails_is_tried_again_in_the_same_round() {
    let world = World::new(spec())
        .script(&[
            failed(FailureKind::Transient),
            failed(FailureKind::Transient),
            report(1, "F-1"),
            failed(FailureKind::Transient),
            yes(),
        ])
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    let seconds: Vec<u64> = world.sleeps.iter().map(|wait| wait.as_secs_f64().round() as u64).collect();
    assert_eq!(seconds, [1, 2, 1]);
    let mut spec = spec();
    spec.policy.max_failures = 2;
    let script = [failed(FailureKind::Transient), failed(FailureKind::Transient)];
    let world = World::new(spec).script(&script).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::Failures, 1, 0, 0));
}

#[test]
fn l8_what_cannot_heal_ends_it_at_once_and_the_round_goes_on_later() {
    let world = World::new(spec()).script(&[report(1, "F-1"), failed(FailureKind::Permanent)]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::PermanentError, 1, 0, 0));
    assert_eq!(world.result().detail, Some(StopDetail::said("exit 1")));
    let world = world.resume(&[]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
    assert_eq!(&world.order()[..8], "D1 A1 A1");
}

#[test]
fn s3_a_worktree_is_made_usable_first() {
    let mut spec = spec();
    spec.place = Place::Worktree {
        path: "/w".into(),
        branch: BRANCH.into(),
        with_changes: false,
        base: None,
        setup: Setup { commands: vec!["npm ci".into()], ..Setup::default() },
    };
    let mut world = World::new(spec);
    world.check_code = 1;
    let mut world = world.run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::SetupFailed, 0, 0, 0));
    assert_eq!(world.result().failed_setup.as_deref(), Some("npm ci"));
    world.check_code = 0;
    let world = world.resume(&[]);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 4, 4, 0));
}

#[test]
fn m3_each_has_a_conversation_of_its_own() {
    let mut spec = spec();
    spec.agents = vec![resumable("codex"), resumable("claude")];
    let named = |turn: Turn, id: &str| Turn { session: Some(id.into()), ..turn };
    let world = World::new(spec)
        .script(&[named(report(1, "F-1"), "d"), named(yes(), "a"), report(2, "F-2"), yes()])
        .run();
    let sessions: Vec<(Option<&str>, bool)> =
        world.turns.iter().map(|turn| (turn.session.as_deref(), turn.continued)).collect();
    assert_eq!(sessions[..4], [(None, false), (None, false), (Some("d"), true), (Some("a"), true)]);
    assert!(world.turns[3].earlier.input == 10 && world.turns.iter().all(|turn| turn.keep_reply));
    let fresh = World::new(super::world::spec()).run();
    assert!(fresh.turns.iter().all(|turn| !turn.continued), "an agent that can do neither begins anew");
}

#[test]
fn m7_a_limit_is_named_as_a_milestone_calls_it_and_waiting_for_an_account_counts_for_nothing() {
    let fault = Fault::TooSlow { limit: TimeLimit::Call, limit_ms: 600_000 };
    let late = ends(TurnEnd::Failed { failure: FailureKind::Transient, fault });
    let late = Turn { timed_out: true, ..late };
    let world =
        World::new(spec()).script(&[late, limited(None), report(2, "F-1"), limited(None), yes()]).run();
    assert_eq!(world.turns[0].hard_limit_is, TimeLimit::Call);
    assert_eq!(
        crate::context::faults(&world.records()[0].faults).as_deref(),
        Some(
            "the Developer's call was ended before it was done: not finished within call_timeout in [milestone] (10m)"
        )
    );
    assert_eq!(
        world.end(),
        (Outcome::Completed, StopReason::Promise, 5, 4, 1),
        "one rejection, by time alone"
    );
    assert_eq!(&world.order()[..14], "D1 D2 D2 A2 A2");
}

#[test]
fn m3_a_conversation_that_is_lost_begins_anew_with_all_there_is_to_know() {
    let mut spec = spec();
    spec.agents = vec![resumable("codex"), resumable("gemini")];
    let named = |turn: Turn, id: &str| Turn { session: Some(id.into()), ..turn };
    let world = World::new(spec)
        .script(&[
            named(report(1, "F-1"), "d"),
            named(yes(), "a"),
            report(2, "F-2"),
            failed(FailureKind::SessionLost),
            named(yes(), "another"),
            complete(2),
        ])
        .run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 3, 3, 0));
    let sessions: Vec<(Option<&str>, bool)> =
        world.turns.iter().map(|turn| (turn.session.as_deref(), turn.continued)).collect();
    assert_eq!(sessions[3..5], [(Some("a"), true), (None, false)]);
    assert_eq!(sessions[6], (Some("another"), true));
    let told = &world.turns[4].prompt;
    assert!(told.contains("Round 1 had been finished.") && told.contains("## Accepted by"), "{told}");
    assert!(world.sleeps.is_empty(), "nothing needs time to heal");
}

#[test]
fn m3_a_conversation_that_was_never_there_is_not_begun_for_ever() {
    let world = World::new(spec()).script(&[failed(FailureKind::SessionLost)]).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::PermanentError, 1, 0, 0));
}
