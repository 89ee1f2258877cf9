//! What people are shown of a milestone (M8, M10): the fold of the same journal, at every point of it.

use serde_json::{Value, json};

use super::world::*;
use crate::engine::Kinds;
use crate::engine::machine::{Begin, Effect};
use crate::event::{Command, Event, Outcome};
use crate::task::milestone::{Definition, MilestoneStatus};
use crate::task::milestone::{JudgedBy, MilestoneView};
use crate::view::{Status, TaskView};

fn view(world: &World) -> TaskView {
    let mut view = TaskView::new(&world.spec, Kinds::default());
    world.journal.iter().for_each(|line| view.apply(line));
    view
}

fn block(world: &World) -> MilestoneView {
    MilestoneView::of(view(world).own()).expect("a milestone").clone()
}

/// Status, phase, who is at work, round; rounds, accepted, rejections.
fn place(view: &MilestoneView) -> Value {
    let counts = [view.rounds, view.iteration_count, view.consecutive_rejections];
    json!([view.status, view.phase, view.at_work, view.round, counts])
}

fn is_turn(agent: usize) -> impl Fn(&Effect) -> bool {
    move |effect| matches!(effect, Effect::RunTurn(plan) if plan.agent == agent)
}

#[test]
fn m8_it_says_where_it_stands_at_every_point() {
    let mut world = World::new(spec()).script(&[
        report(1, "F-1 login"),
        no("no rate limit\n- [R1] no limiter in code"),
        complete(2),
    ]);
    world.begin(Begin::default());
    let (developer, acceptor) = ("waiting for Developer", "waiting for Acceptor");
    let expect = |world: &World, phase: &str, at_work: Value, round: Option<u32>, counts: [u32; 3]| {
        assert_eq!(place(&block(world)), json!(["in_progress", phase, at_work, round, counts]));
    };
    expect(&world, developer, Value::Null, None, [0, 0, 0]);
    assert!(world.drive_to(is_turn(0)));
    expect(&world, developer, json!("developer"), Some(1), [0, 0, 0]);
    assert!(world.drive_to(|effect| matches!(effect, Effect::RunCheck(_))));
    expect(&world, acceptor, json!("checks"), Some(1), [0, 0, 0]);
    assert!(world.drive_to(is_turn(1)));
    expect(&world, acceptor, json!("acceptor"), Some(1), [0, 0, 0]);
    world.step();
    assert!(world.drive_to(is_turn(0)));
    expect(&world, developer, json!("developer"), Some(2), [1, 0, 1]);
    assert!(world.drive_to(is_turn(1)));
    expect(&world, "final acceptance", json!("acceptor"), Some(2), [1, 0, 1]);
    world.drive();
    assert_eq!(place(&block(&world)), json!(["completed", null, null, null, [2, 1, 0]]));
}

#[test]
fn m11_rounds_features_and_findings_are_in_the_json() {
    let world = World::new(spec())
        .script(&[
            says("I did it."),
            report(1, "F-1 login"),
            says("Hm."),
            no("no rate limit\n- no limiter in code\n- no test"),
            report(2, "F-1 login"),
            no("still none\n- [R1] nginx is not the code"),
            report(3, "F-1 login"),
            yes(),
        ])
        .run();
    let view = view(&world);
    let own = view.own().unwrap();
    let mut all = own.to_json_in_full();
    let history = all.as_object_mut().unwrap().remove("history").unwrap();
    let feature = |id: &str, text: &str| json!({"id": id, "text": text, "done": true});
    let finding = |id: &str, text: &str| json!({"id": id, "text": text, "open": false, "since": 1});
    assert_eq!(
        all,
        json!({
            "status": "completed", "phase": null, "at_work": null, "developer": "codex", "acceptor": "claude",
            "round": null, "rounds": 6, "max_rounds": 20, "iteration_count": 4,
            "consecutive_rejections": 0, "max_consecutive_rejections": 3,
            "title": "Authentication", "goal": "People can log in.\nAnd out.",
            "features": [
                feature("F-1", "Login."), feature("F-2", "Logout"),
                feature("F-3", "Rate limit\n  five tries a minute"),
            ],
            "findings": [finding("R1", "nginx is not the code"), finding("R2", "no test")],
            "last_report": {"round": 6, "feature": null, "feature_id": null, "commit_id": commit_of(6)},
            "last_verdict": {
                "round": 6, "accepted": true, "by": "acceptor", "reason": "C-1: met\nC-2: met", "findings": [],
            },
        })
    );
    assert_eq!(history.as_array().map(Vec::len), Some(6));
    let report = |round| json!({"round": round, "feature": "F-1 login", "feature_id": "F-1", "commit_id": commit_of(round)});
    let check = json!({"command": "cargo test", "phase": "iteration", "passed": true, "exit_code": 0, "timed_out": false});
    let checks = json!([check]);
    let first = &history[0];
    assert_eq!((&first["report"], &first["checks"]), (&report(1), &checks));
    assert!(first["reports_sent_back"][0].as_str().unwrap().contains("Implementation Report"), "{first}");
    assert!(first["verdicts_sent_back"][0].as_str().unwrap().contains("ACCEPTED"), "{first}");
    assert_eq!(
        history[1],
        json!({
            "round": 2, "report": report(2), "reports_sent_back": [], "verdicts_sent_back": [], "checks": checks,
            "verdict": {
                "round": 2, "accepted": false, "by": "acceptor", "findings": ["R1"],
                "reason": "still none\n- [R1] nginx is not the code\nC-1: not met\nC-2: met",
            },
        })
    );
    assert_eq!(own.to_json()["history"], Value::Null, "a list has no words of rounds");
    let counts = (view.iteration, view.iterations_succeeded, view.iterations_failed, view.max_iterations);
    assert_eq!((counts, view.verified), ((6, 4, 2, Some(20)), true));
}

#[test]
fn m4_three_rejections_are_a_pause_with_the_reason() {
    let three = [1, 2, 3].map(|round| [report(round, "F-1"), no("no rate limit")]).concat();
    let world = World::new(spec()).script(&three).run();
    let shown = view(&world);
    assert_eq!(shown.status, Status::Paused);
    assert_eq!(shown.needs.as_ref().map(|needs| tag(&needs.kind)), Some("rejections".into()));
    let milestone = MilestoneView::of(shown.own()).unwrap();
    assert_eq!(place(milestone), json!(["paused", "paused", null, null, [3, 0, 3]]));
    // A person says that it is good enough, and may have another limit.
    let set = set("rounds", "+10");
    let world = world.resume(&[Command::Approve { choice: None }, set]);
    let milestone = block(&world);
    let third = milestone.history[2].verdict.as_ref().unwrap();
    assert_eq!((third.accepted, third.by), (true, JudgedBy::Person));
    assert!(milestone.features[0].done, "{:?}", milestone.features);
    assert_eq!((milestone.max_rounds, view(&world).max_iterations), (30, Some(30)));
    assert_eq!(view(&world).iterations_succeeded, world.result().iterations_succeeded);
}

#[test]
fn m5_a_review_a_no_and_a_kill_have_their_status() {
    let mut details = details();
    details.requires_human_review = true;
    let world = World::new(with(&details)).script(&[complete(1), yes()]).run();
    let milestone = block(&world);
    assert_eq!(milestone.status, MilestoneStatus::AwaitingReview);
    assert_eq!(milestone.features_done(), 3, "who accepts the whole accepts every feature");
    let world = world.resume(&[Command::Reject { reason: Some("no docs".into()) }, Command::Kill]);
    let milestone = block(&world);
    assert_eq!(milestone.features_done(), 0, "and it was sent back");
    assert_eq!(milestone.status, MilestoneStatus::Paused, "it can be taken up again");
    let last = milestone.last_verdict.unwrap();
    assert_eq!((last.accepted, last.by), (false, JudgedBy::Person));
    assert!(last.reason.contains("no docs"), "{}", last.reason);
    let world = world.resume(&[Command::Abandon]);
    assert_eq!(block(&world).status, MilestoneStatus::Abandoned);
    assert_eq!(block(&world).phase, None);
}

#[test]
fn l15_only_checks_of_the_very_last_commit_prove_it() {
    let proven = World::new(spec()).run();
    assert_eq!((proven.result().outcome, proven.result().verified), (Outcome::Completed, true));
    let mut world = World::new(spec());
    world.tip = Some(oid(0xbad));
    let world = world.run();
    assert_eq!((world.result().outcome, world.result().verified), (Outcome::Completed, false));
    let mut world = World::new(spec());
    world.check_code = 1;
    assert!(!world.run().result().verified, "red is accepted, and not proven");
    let mut unchecked = spec();
    unchecked.policy.checks.clear();
    assert!(!World::new(unchecked).run().result().verified);
}

#[test]
fn s5_what_is_no_milestone_has_no_such_part() {
    let mut other = spec();
    other.kind = "loop".into();
    assert!(TaskView::new(&other, Kinds::default()).own().is_none());
    let mut broken = spec();
    broken.details = json!({ "what": "a later version wrote" });
    let mut view = TaskView::new(&broken, Kinds::default());
    World::new(spec()).run().journal.iter().for_each(|line| view.apply(line));
    assert_eq!((MilestoneView::of(view.own()), view.status, view.iteration), (None, Status::Completed, 4));
}

#[test]
fn p3_of_a_milestone_that_is_watched_only_the_round_at_work_is_kept() {
    let world = World::new(spec()).run();
    let mut view = TaskView::new(&world.spec, Kinds::default());
    for line in &world.journal {
        view.apply(line);
        view.forget_details();
        let milestone = MilestoneView::of(view.own()).unwrap();
        assert!(milestone.history.len() <= 1);
        if let Event::IterationFinished(record) = &line.event {
            assert_eq!(milestone.history[0].round, record.iteration + 1);
        }
    }
}

#[test]
fn m11_other_places_give_other_ids_to_what_was_reported_too() {
    let text =
        |features: &str| format!("## Goal\ng\n## Features\n{features}## Acceptance Criteria\n- x\n- y\n");
    let mut details = details();
    details.definition = text("- a\n- b\n");
    details.frozen = Definition::parse(&details.definition).unwrap().frozen();
    let mut script = vec![report(1, "F-1 a"), yes()];
    script.extend([2, 3, 4].map(|round| [report(round, "F-2 b"), no("no")]).concat());
    let world = World::new(with(&details)).script(&script).run();
    assert_eq!(
        block(&world).features_told(),
        [format!("F-1 a ({})", commit_of(1).short()), "F-2 b (not accepted)".into()]
    );
    let mut world = world;
    world.script = [complete(5), yes()].into();
    let world = world.resume(&[Command::Refreeze { definition: text("- new\n- a\n") }]);
    let milestone = block(&world);
    let ids: Vec<Option<&str>> = milestone
        .history
        .iter()
        .map(|round| round.report.as_ref().and_then(|report| report.feature_id.as_deref()))
        .collect();
    assert_eq!(ids, [Some("F-2"), None, None, None, None], "{:?}", milestone.history);
    let told = milestone.features_told();
    assert_eq!(told, ["F-1 new".to_owned(), format!("F-2 a ({})", commit_of(1).short())]);
}
