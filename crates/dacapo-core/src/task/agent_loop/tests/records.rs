//! What is kept of an iteration (C2–C4, K3).

use super::world::*;
use crate::engine::machine::Input;
use crate::event::{CheckBrief, CheckPhase, CommitPlanned, Ended, Event, Exit};

#[test]
fn c2_the_record_of_an_iteration() {
    let world = World::new(checked(2, &["cargo test"]))
        .turns(&[
            Turn { summary: "Added login.".into(), ..done() },
            Turn { summary: String::new(), ..failed() },
        ])
        .run();
    let [first, second] = world.records()[..] else { panic!("two iterations") };
    assert_eq!(first.iteration, 0);
    assert_eq!(first.commit_id, Some(commit_of(0)));
    assert_eq!(
        (first.changed_files.as_slice(), first.changed_total),
        (["src/a.rs".to_owned()].as_slice(), 1)
    );
    assert_eq!(first.summary, "Added login.");
    assert_eq!(
        (first.success, first.outcome, crate::context::faults(&first.faults).as_deref()),
        (true, Ended::Success, None)
    );
    assert_eq!((first.usage.input, first.usage.output), (10, 5));
    assert!((60_000..61_000).contains(&first.duration_ms), "{}", first.duration_ms);
    let brief = CheckBrief {
        command: "cargo test".into(),
        phase: CheckPhase::Iteration,
        passed: false,
        ending: Exit { exit_code: Some(1), timed_out: false },
    };
    assert_eq!(first.checks, [brief]);
    assert!(first.timestamp > start());
    assert_eq!(
        (second.success, second.outcome, crate::context::faults(&second.faults).as_deref()),
        (false, Ended::Failure, Some("exit 1"))
    );
    assert_eq!(second.summary, "No significant actions in this iteration.");
    let json = serde_json::to_value(second).unwrap();
    for field in
        ["iteration", "commit_id", "changed_files", "summary", "success", "timestamp", "tokens", "checks"]
    {
        assert!(!json[field].is_null(), "{field}");
    }
}

#[test]
fn c2_the_commit_is_absent_when_nothing_changed() {
    let world = World::new(iter(1)).commit(changes_nothing).run();
    assert_eq!(world.records()[0].commit_id, None);
    assert!(serde_json::to_value(world.records()[0]).unwrap().get("commit_id").is_none());
    assert_eq!(world.count(|event| matches!(event, Event::NoCommit(_))), 1);
}

#[test]
fn c3_commits_of_the_agents_own_count() {
    let world = World::new(iter(2))
        .commit(|plan| match plan.iteration {
            0 => CommitPlanned { commit: None, parent: Some(oid(42)), ..changes(plan) },
            _ => changes(plan),
        })
        .run();
    assert_eq!(world.records()[0].commit_id, Some(oid(42)), "HEAD, and no extra commit");
    assert_eq!((&world.commits[1].start, &world.commits[1].tip), (&Some(oid(42)), &Some(oid(42))));
}

#[test]
fn c3_a_problem_leaves_the_tip_where_it_was_and_the_record_without_a_commit() {
    let mut world = World::new(iter(2)).commit(|plan| match plan.iteration {
        0 => CommitPlanned {
            commit: None,
            parent: Some(oid(42)),
            problems: vec!["HEAD went elsewhere".into()],
            ..changes(plan)
        },
        _ => changes(plan),
    });
    // The user committed after the base was taken: HEAD is not our tip, and no commit of the iteration either.
    world.begin(crate::engine::machine::Begin::default());
    world.step();
    world.head = Some(oid(9));
    world.drive();
    assert_eq!(world.records()[0].commit_id, None);
    assert_eq!(crate::context::faults(&world.records()[0].faults).as_deref(), Some("HEAD went elsewhere"));
    assert_eq!(world.commits[0].start, Some(oid(9)));
    assert_eq!(world.commits[1].tip, Some(base()));
}

#[test]
fn k3_a_landing_that_ended_elsewhere_is_a_failed_iteration_without_a_commit() {
    let mut world = World::new(iter(2));
    world.lands_elsewhere = vec![0];
    let world = world.run();
    let record = world.records()[0];
    assert_eq!((record.success, &record.commit_id, record.changed_total), (false, &None, 1));
    assert_eq!(crate::context::faults(&record.faults).as_deref(), Some("the branch was moved"));
    assert_eq!(world.commits[1].tip, Some(base()));
    assert_eq!(world.records()[1].commit_id, Some(commit_of(1)));
}

#[test]
fn c4_the_commit_message_comes_from_the_summary_and_says_how_the_turn_went() {
    let script = [
        Turn { summary: "Return JWT on successful login. Adds the route; tests for both.".into(), ..done() },
        Turn { summary: String::new(), ..failed() },
    ];
    let world = World::new(iter(2)).turns(&script).run();
    assert_eq!(
        world.commits[0].message,
        "[iter-0] Return JWT on successful login\n\nAdds the route; tests for both.\n\n\
         Dacapo-Task: x\nDacapo-Iteration: 0\nDacapo-Outcome: success\n"
    );
    assert_eq!(
        world.commits[1].message,
        "[iter-1] Iteration 1 changes\n\nDacapo-Task: x\nDacapo-Iteration: 1\nDacapo-Outcome: failure\n"
    );
}

#[test]
fn k3_the_date_of_a_commit_comes_from_the_journal() {
    let world = World::new(iter(1)).run();
    let ended = world.journal.iter().find(|line| matches!(line.event, Event::TurnFinished(_))).unwrap();
    assert_eq!(world.commits[0].at, ended.at);
}

#[test]
fn c11_the_switches_for_commits_and_summaries() {
    let mut spec = iter(2);
    spec.context.auto_commit = false;
    spec.context.generate_summary = false;
    let world = World::new(spec).run();
    assert!(world.commits.iter().all(|plan| !plan.commit));
    assert_eq!(world.count(|event| matches!(event, Event::Committed { .. })), 0);
    let record = world.records()[0];
    assert_eq!((record.commit_id.as_ref(), record.summary.as_str(), record.changed_total), (None, "", 1));
    assert!(world.prompts()[1].contains("Files: src/a.rs\nSummary: none\n"));
    assert!(!world.prompts()[1].contains("Do not run git commit"), "nobody else would");
    assert!(world.commits[0].message.starts_with("[iter-0] Iteration 0 changes\n"));
}

#[test]
fn r4_counts_of_a_journal_that_holds_everything_twice_do_not_overflow() {
    let world = World::new(iter(2)).run();
    let twice = [world.journal.as_slice(), world.journal.as_slice()].concat();
    let mut machine = fold(&world.spec, &twice);
    machine.life.verdict = Some(crate::engine::stop::out_of_iterations(&machine.life.policy, 1));
    machine.phase = super::super::Phase::Between;
    let finishing =
        Input::Finishing { last_commit: None, trust_files: Vec::new(), elapsed: std::time::Duration::ZERO };
    let Some(Event::TaskFinished(result)) = machine.decide_on(&finishing).pop() else { panic!("it is over") };
    assert_eq!((result.iterations_succeeded, result.iterations_failed), (4, 0));
}
