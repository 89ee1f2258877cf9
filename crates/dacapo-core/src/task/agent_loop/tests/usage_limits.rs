//! Usage limits (L9).

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::world::*;
use crate::event::{Ended, Event, LimitSaid, Outcome, StopDetail, StopReason};
use crate::spec::TaskSpec;

fn hours(n: i64) -> Timestamp {
    start() + SignedDuration::from_hours(n)
}

fn two_agents() -> TaskSpec {
    let mut spec = iter(1);
    spec.agents.push(agent("two"));
    spec
}

#[test]
fn l9_the_iteration_keeps_its_number_and_costs_no_failure() {
    let mut spec = iter(2);
    spec.policy.max_failures = 1;
    let world = World::new(spec).turns(&[done(), limited(Some(hours(3))), done()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 2, 2, 0));
    let turns: Vec<_> = world.turns.iter().map(|turn| (turn.turn, turn.iteration, turn.attempt)).collect();
    assert_eq!(turns, [(0, 0, 0), (1, 1, 0), (2, 1, 1)]);
    assert_eq!(world.count(|event| matches!(event, Event::IterationStarted { .. })), 2);
    let until = world.journal.iter().find_map(|line| match &line.event {
        Event::Waiting { until, .. } => Some(*until),
        _ => None,
    });
    assert_eq!(until, Some(hours(3)));
    assert_eq!(world.records()[1].usage.input, 20, "both turns are on the bill");
    assert_eq!(world.turns[1].prompt, world.turns[2].prompt);
}

#[test]
fn l9_without_a_reset_time_it_backs_off() {
    let mut script = vec![limited(None); 4];
    script.push(done());
    script.push(limited(None));
    script.push(done());
    let world = World::new(iter(2)).turns(&script).run();
    let rounded: Vec<f64> = world.sleeps.iter().map(|sleep| (sleep.as_secs_f64() / 60.0).round()).collect();
    assert_eq!(
        rounded,
        [1.0, 2.0, 4.0, 8.0, 1.0],
        "the pauses grow, and start anew after a turn that went well"
    );
}

#[test]
fn l9_a_reset_that_has_passed_is_not_tried_again_at_once() {
    let mut script = vec![limited(Some(hours(-1))); 2];
    script.push(done());
    let world = World::new(iter(1)).turns(&script).run();
    assert!(world.sleeps.iter().all(|sleep| *sleep > Duration::from_secs(30)), "{:?}", world.sleeps);
}

#[test]
fn l9_max_wait_bounds_the_sum_of_all_waits() {
    let mut spec = until(9, "DONE");
    spec.policy.max_wait = Duration::from_secs(3 * 3600);
    let world = World::new(spec)
        .on_turn(|plan| match plan.turn {
            0 => limited(Some(hours(2))),
            1 => done(),
            _ => limited(Some(hours(4))),
        })
        .run();
    assert_eq!(world.end(), (Outcome::TimeElapsed, StopReason::LimitWait, 2, 1, 1));
    assert_eq!(world.result().outcome.exit_code(), 3);
    assert_eq!(world.sleeps.len(), 1);
    let limit = LimitSaid { message: "limit reached".into(), found_by: None, probing: false };
    assert_eq!(world.result().detail, Some(StopDetail::LimitTooLong { limit }));
    let record = world.records()[1];
    assert_eq!((record.outcome, &record.commit_id), (Ended::Cancelled, &Some(commit_of(1))));
    // Who resumes it is willing to wait again.
    let world = world.on_turn(|_| promised()).resume(None, None);
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Promise, 3, 2, 1));
}

#[test]
fn l9_the_next_agent_takes_over_instead_of_waiting() {
    let world = World::new(two_agents()).turns(&[limited(Some(hours(3))), done()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
    let turns: Vec<_> = world.turns.iter().map(|turn| (turn.agent, turn.attempt)).collect();
    assert_eq!(turns, [(0, 0), (1, 1)]);
    assert!(world.sleeps.is_empty());
    assert_eq!(world.count(|event| matches!(event, Event::AgentChanged { agent, .. } if agent == "two")), 1);
}

#[test]
fn l9_when_all_are_limited_it_waits_for_the_first_that_is_free() {
    let script = [limited(Some(hours(1))), limited(Some(hours(5))), done()];
    let world = World::new(two_agents()).turns(&script).run();
    let agents: Vec<_> = world.turns.iter().map(|turn| turn.agent).collect();
    assert_eq!(agents, [0, 1, 0], "the first agent is free again first");
    assert_eq!(world.sleeps.len(), 1);
    assert!(world.sleeps[0] <= Duration::from_secs(3600));
    let script = [limited(Some(hours(5))), limited(Some(hours(1))), done()];
    let world = World::new(two_agents()).turns(&script).run();
    let agents: Vec<_> = world.turns.iter().map(|turn| turn.agent).collect();
    assert_eq!(agents, [0, 1, 1]);
    assert!(world.sleeps[0] <= Duration::from_secs(3600));
}

#[test]
fn l9_agents_without_reset_times_do_not_pass_the_turn_round_for_ever() {
    let mut spec = two_agents();
    spec.policy.max_wait = Duration::from_secs(3600);
    let world = World::new(spec).turns(&[limited(None)]).run();
    assert_eq!(world.result().stop_reason, StopReason::LimitWait);
    assert!(world.turns.len() < 40, "{} turns", world.turns.len());
    let mut same_name = two_agents();
    same_name.agents[1].name = "one".into();
    let world = World::new(same_name).turns(&[limited(None), done()]).run();
    let agents: Vec<_> = world.turns.iter().map(|turn| turn.agent).collect();
    assert_eq!(agents, [0, 1]);
}

#[test]
fn l9_a_single_run_waits_too() {
    let world = World::new(spec()).turns(&[limited(Some(hours(1))), done()]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 1, 1, 0));
}

#[test]
fn l13_the_agent_that_takes_over_begins_its_own_conversation() {
    let mut spec = two_agents();
    spec.policy.cap = Some(crate::spec::Cap::by_iter(3));
    spec.policy.session = crate::spec::SessionMode::Resume;
    for agent in &mut spec.agents {
        // Continues its newest conversation, whatever its id.
        agent.resume = Some(vec!["--continue".into()]);
    }
    let world = World::new(spec).turns(&[done(), limited(Some(hours(3))), done()]).run();
    let turns: Vec<_> = world.turns.iter().map(|turn| (turn.agent, turn.continued)).collect();
    assert_eq!(turns, [(0, false), (0, true), (1, false), (1, true)]);
    assert!(world.turns[2].prompt.starts_with("<task_context>"), "it hears what was done before");
}
