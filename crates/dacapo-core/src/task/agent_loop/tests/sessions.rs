//! Conversations that go on (L13).

use super::world::*;
use crate::engine::Planned as _;
use crate::engine::machine::{Begin, Effect, Input, Machine as _};
use crate::event::{Command, Envelope, Event, Outcome, StopDetail, StopReason, TurnEnd, Usage};
use crate::spec::SessionMode;
use crate::spec::{AgentCommand, TaskSpec};

fn resuming(iterations: u32) -> TaskSpec {
    let mut spec = iter(iterations);
    spec.policy.session = SessionMode::Resume;
    spec.agents = vec![resumable("one")];
    spec
}

fn in_session(turn: Turn) -> Turn {
    Turn { session: Some("s1".into()), ..turn }
}

#[test]
fn l13_the_follow_up_is_the_prompt_a_blank_line_and_the_text() {
    let world = World::new(resuming(3)).turns(&[in_session(done())]).run();
    assert_eq!(
        world.prompts(),
        ["Build the feature", "Build the feature\n\n繼續", "Build the feature\n\n繼續"]
    );
    let turns: Vec<_> = world.turns.iter().map(|turn| (turn.continued, turn.session.as_deref())).collect();
    assert_eq!(turns, [(false, None), (true, Some("s1")), (true, Some("s1"))]);
}

#[test]
fn l13_failed_checks_and_what_people_say_go_between_the_two() {
    let mut spec = resuming(2);
    spec.policy.checks = vec!["cargo test".into(), "lint".into()];
    let mut world =
        World::new(spec).turns(&[in_session(done())]).check(|_, _, index| if index == 0 { 101 } else { 0 });
    world.tell = Some((0, "Use tabs."));
    let world = world.run();
    assert_eq!(
        world.prompts()[1],
        "Build the feature\n\n\
         These checks failed:\n`cargo test` → exit 101\nline of cargo test\nended 101\n\n\
         The user adds:\nUse tabs.\n\n\
         繼續"
    );
}

#[test]
fn s2_what_is_told_during_a_turn_is_heard_by_the_next_iteration_and_only_by_it() {
    for spec in [iter(3), resuming(3)] {
        let mut world = World::new(spec).turns(&[in_session(done())]);
        world.tell = Some((0, "Use tabs."));
        let world = world.run();
        let heard: Vec<bool> = world.prompts().iter().map(|prompt| prompt.contains("Use tabs.")).collect();
        assert_eq!(heard, [false, true, false]);
    }
}

/// Which prompts of so many iterations have what was told during the first turn.
fn heard(spec: TaskSpec, orders: &[(u32, Command)]) -> Vec<bool> {
    let mut world = World::new(spec).turns(&[in_session(done())]);
    world.begin(Begin::default());
    let mut orders = orders.to_vec();
    while let Some(effect) = world.machine.effect() {
        if let Effect::RunTurn(plan) = &effect {
            let due = orders.extract_if(.., |(turn, _)| *turn == plan.turn).collect::<Vec<_>>();
            for (_, order) in due {
                world.input(&Input::Command(command(order)), None);
            }
        }
        world.step();
    }
    world.prompts().iter().map(|prompt| prompt.contains("The user adds:\nUse tabs.")).collect()
}

#[test]
fn s2_guidance_is_heard_by_every_later_iteration_until_it_is_taken_back() {
    let tabs = || Command::Tell { text: "Use tabs.".into(), standing: true };
    assert_eq!(heard(iter(5), &[(1, tabs())]), [false, false, true, true, true]);
    assert_eq!(heard(iter(5), &[(0, tabs()), (2, Command::Untell)]), [false, true, true, false, false]);
    let once = Command::Tell { text: "Use tabs.".into(), standing: false };
    assert_eq!(heard(iter(4), &[(0, once)]), [false, true, false, false]);
    assert_eq!(heard(resuming(4), &[(0, tabs())]), [false, true, false, false], "it remembers");
}

#[test]
fn s2_what_a_conversation_was_told_is_unsaid_in_it() {
    let mut world = World::new(resuming(4)).turns(&[in_session(done())]);
    world.begin(Begin::default());
    world.input(&Input::Command(command(Command::Tell { text: "Use tabs.".into(), standing: true })), None);
    while world.turns.len() < 2 {
        world.step();
    }
    world.input(&Input::Command(command(Command::Untell)), None);
    world.drive();
    assert!(world.prompts()[0].contains("The user adds:\nUse tabs."));
    assert!(world.prompts()[2].contains("The user adds:\nThis holds no longer:\nUse tabs.\n"));
    assert!(!world.prompts()[3].contains("tabs"));
}

#[test]
fn s2_guidance_outlives_an_end_but_not_completion() {
    for (turn, outcome, still) in
        [(done(), Outcome::MaxReached, true), (promised(), Outcome::Completed, false)]
    {
        let mut world = World::new(until(2, "DONE")).turns(&[turn]);
        world.begin(Begin::default());
        world.input(
            &Input::Command(command(Command::Tell { text: "Use tabs.".into(), standing: true })),
            None,
        );
        world.drive();
        assert_eq!(world.result().outcome, outcome);
        let before = world.turns.len();
        let world = world.resume(Some(1), Some("also this"));
        assert_eq!(world.prompts()[before].contains("Use tabs."), still, "{outcome:?}");
    }
}

#[test]
fn s2_what_is_told_in_a_limit_wait_is_heard_by_the_same_iteration() {
    let mut world = World::new(iter(2)).turns(&[limited(None), limited(None), done()]);
    world.tell = Some((0, "Use tabs."));
    let world = world.run();
    let heard: Vec<bool> = world.prompts().iter().map(|prompt| prompt.contains("Use tabs.")).collect();
    assert_eq!(heard, [false, true, true, false], "in each of its turns");
}

#[test]
fn l13_a_missing_session_id_ends_the_loop_and_says_so() {
    let world = World::new(resuming(3)).run();
    assert_eq!(world.end(), (Outcome::Failed, StopReason::PermanentError, 1, 1, 0));
    assert_eq!(world.result().detail, Some(StopDetail::NoSession));
    let world = World::new(resuming(1)).run();
    assert_eq!(world.result().outcome, Outcome::Completed, "no follow-up, no need of it");
}

#[test]
fn l13_a_turn_that_failed_before_it_had_a_session_is_just_begun_again() {
    let world = World::new(resuming(3)).turns(&[failed(), in_session(done())]).run();
    assert_eq!(world.end(), (Outcome::Completed, StopReason::Iterations, 3, 2, 1));
    let continued: Vec<_> = world.turns.iter().map(|turn| turn.continued).collect();
    assert_eq!(continued, [false, false, true]);
}

#[test]
fn l13_a_failed_turn_in_a_known_session_is_followed_up_in_it() {
    let world = World::new(resuming(2)).turns(&[in_session(failed())]).run();
    let continued: Vec<_> = world.turns.iter().map(|turn| turn.continued).collect();
    assert_eq!(continued, [false, true]);
}

#[test]
fn l13_a_session_whose_id_we_chose_is_taken_up_only_when_it_surely_exists() {
    let ends = [
        (done(), true),
        (ended(TurnEnd::Interrupted), false),
        (failed(), false),
        (limited(None), true),
        // Its very first question was refused.
        (Turn { usage: Usage::default(), ..limited(None) }, false),
    ];
    for (turn, continued) in ends {
        let end = turn.end.clone();
        let mut spec = resuming(2);
        spec.agents[0].command = AgentCommand::Argv(vec!["one".into(), "--session-id={session}".into()]);
        let mut world = World::new(spec).turns(&[turn, done()]);
        world.presets = true;
        let world = world.run();
        assert_eq!(world.turns[0].session.as_deref(), Some("preset-0"));
        assert_eq!(world.turns[1].continued, continued, "{end:?}");
        let session = if continued { "preset-0" } else { "preset-1" };
        assert_eq!(world.turns[1].session.as_deref(), Some(session), "{end:?}");
    }
}

#[test]
fn l13_an_agent_that_cannot_resume_gets_the_context() {
    let mut spec = resuming(2);
    spec.agents = vec![agent("one")];
    let world = World::new(spec).turns(&[in_session(done())]).run();
    assert!(world.prompts()[1].starts_with("<task_context>"));
    assert!(!world.turns[1].continued);
}

#[test]
fn l13_fresh_sessions_are_fresh() {
    let mut spec = resuming(3);
    spec.policy.session = SessionMode::Fresh;
    let mut world = World::new(spec).turns(&[in_session(done())]);
    world.presets = true;
    let world = world.run();
    assert!(world.turns.iter().all(|turn| !turn.continued));
    let sessions: Vec<_> = world.turns.iter().map(|turn| turn.session.clone().unwrap()).collect();
    assert_eq!(sessions, ["preset-0", "preset-1", "preset-2"]);
    let fresh = world.because.iter().flatten().all(|effect| match effect {
        Effect::BeginTurn(start) => start.fresh,
        _ => true,
    });
    assert!(fresh);
}

#[test]
fn l13_a_session_goes_on_after_the_task_is_taken_up_again() {
    let world = World::new(resuming(1)).turns(&[in_session(done())]).run().resume(Some(1), Some("And X."));
    assert_eq!(world.prompts()[1], "Build the feature\n\nThe user adds:\nAnd X.\n\n繼續");
    assert_eq!(world.turns[1].session.as_deref(), Some("s1"));
}

#[test]
fn s17_a_renamed_task_goes_on_with_its_new_branch_and_a_new_session() {
    let renamed = |branch: Option<&str>| {
        let mut world = World::new(resuming(1)).turns(&[in_session(done())]).run();
        let event = Event::Renamed {
            from: "x".into(),
            to: "y".into(),
            worktree: branch.map(|_| "/worktrees/y".into()),
            branch: branch.map(str::to_owned),
        };
        let line = Envelope { event, ..world.journal.last().unwrap().clone() };
        world.machine.apply(&line);
        let world = world.resume(Some(2), None);
        let continued: Vec<bool> = world.turns.iter().map(|turn| turn.continued).collect();
        (continued, world.commits.into_iter().map(|commit| commit.branch.unwrap()).collect::<Vec<_>>())
    };
    let own = |turns: [bool; 3], branches: [&str; 3]| (turns.to_vec(), branches.map(str::to_owned).to_vec());
    let (old, new) = ("refs/heads/main", "refs/heads/dacapo/y");
    assert_eq!(renamed(Some(new)), own([false, false, true], [old, new, new]));
    assert_eq!(renamed(None), own([false, true, true], [old, old, old]), "in place nothing has moved");
}

/// Tokens read that earlier turns of each turn's conversation used.
fn earlier(world: &World) -> Vec<u64> {
    world.turns.iter().map(|turn| turn.earlier.input).collect()
}

#[test]
fn l10_a_turn_knows_what_its_conversation_has_used_before() {
    let cost = |usd| Turn {
        usage: Usage { input: 10, output: 1, cached: 2, cost_usd: Some(usd), ..Usage::default() },
        ..done()
    };
    let script = [in_session(cost(0.5)), in_session(failed()), in_session(cost(0.25)), in_session(done())];
    let world = World::new(resuming(4)).turns(&script).run();
    assert_eq!(earlier(&world), [0, 10, 20, 30], "what a failed turn used is part of it");
    let usage = world.turns[3].earlier;
    assert_eq!((usage.output, usage.cached, usage.cost_usd), (1 + 5 + 1, 4, Some(0.75)));
}

#[test]
fn l10_a_new_conversation_has_used_nothing() {
    let mut fresh = resuming(3);
    fresh.policy.session = SessionMode::Fresh;
    assert_eq!(earlier(&World::new(fresh).turns(&[in_session(done())]).run()), [0, 0, 0]);
    let begun_again = World::new(resuming(3)).turns(&[failed(), in_session(done())]).run();
    assert_eq!(earlier(&begun_again), [0, 0, 10]);
}

#[test]
fn l10_another_agents_conversation_is_another_one() {
    let mut spec = resuming(2);
    spec.agents = vec![resumable("one"), resumable("two")];
    let script = [in_session(limited(None)), in_session(done())];
    let world = World::new(spec).turns(&script).run();
    let turns: Vec<_> = world.turns.iter().map(|turn| (turn.agent, turn.earlier.input)).collect();
    assert_eq!(turns, [(0, 0), (1, 0), (1, 10)]);
}

#[test]
fn l10_a_conversation_that_is_taken_up_again_has_used_what_it_used() {
    let world = World::new(resuming(1)).turns(&[in_session(done())]).run().resume(Some(1), None);
    assert_eq!(earlier(&world), [0, 10]);
}
