//! What an agent asks of people (L18), and what people tell it from then on (S2).

use serde_json::json;

use crate::support::World;

/// Asks in its first iteration, and is done when the prompt has the answer.
const ASKS: &str = "p=$(cat); echo x >> log; case $p in *'answer: the blue'*) echo Used the blue key.; echo FIN-1;; \
                    *) echo Looked around.; echo '<blocked>Which key: the blue one or'; echo 'the red one?</blocked>';; esac";

#[test]
fn l18_a_blocked_agent_asks_and_goes_on_with_the_answer() {
    let world = World::new();
    let words = ["--name", "t", "--until", "FIN-1", "--agent-cmd", ASKS, "use the key"];
    let ran = world.exec(&words).expect(4);
    let question = "Which key: the blue one or the red one?";
    assert!(
        ran.stdout.contains("\n‖ paused: the agent cannot continue without you · 1 iteration · "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains(&format!("\n  {question}\n")), "{}", ran.stdout);
    assert!(
        ran.stdout.ends_with(
            "  next: dacapo resume t \"your answer\"  answer it and continue\n        \
             dacapo kill t                  end it; its work is kept\n"
        ),
        "{}",
        ran.stdout
    );
    assert_eq!(world.subjects(), ["[iter-0] Looked around", "first"], "its work is committed");
    let status = world.status("t");
    assert_eq!((&status["status"], &status["needs"]["kind"]), (&json!("paused"), &json!("blocked")));
    assert_eq!(status["needs"]["question"], question);
    assert_eq!(status["iterations"][0]["blocked"], question);
    assert_eq!(world.events("t", "task_finished")[0]["stop_reason"], "needs_person");
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert_eq!(shown.matches(question).count(), 1, "{shown}");
    assert!(shown.contains(&format!("  needs   {question}\n")), "{shown}");
    let list = world.run(&["list"]).expect(0).stdout;
    assert!(list.contains(&format!("NEEDS YOU  t  {question}  dacapo resume t \"your answer\"\n")), "{list}");
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains(&format!("Agent is blocked: {question}\n")), "{logs}");
    assert!(logs.contains(&format!("Paused: {question}\n")), "{logs}");
    assert!(logs.contains("(can_continue=false)"), "{logs}");

    // Without an answer it asks again.
    let _ = world.run(&["resume", "t"]).expect(4);
    assert_eq!(world.status("t")["needs"]["question"], question);
    let _ = world.run(&["resume", "t", "the blue one"]).expect(0);
    let told = format!("The user adds:\nYou asked: {question}\nThe answer: the blue one\n");
    assert!(world.prompt("t", 2).contains(&told), "{}", world.prompt("t", 2));
    assert_eq!(world.status("t")["status"], "completed");
    world.assert_nothing_left("t");
}

#[test]
fn l17_an_agent_that_asks_has_not_said_that_it_is_done() {
    let world = World::new();
    let agent = "echo '<blocked>Which key?</blocked>'";
    let ran = world.exec(&["--name", "t", "--check", "test -e key", "--agent-cmd", agent, "go"]).expect(4);
    assert!(ran.stdout.contains("     echo is blocked; test -e key still fails\n"), "{}", ran.stdout);
}

#[test]
fn l18_an_agent_that_repeats_its_prompt_is_not_blocked() {
    let world = World::new();
    let agent = "cat; echo x >> log; test $DACAPO_ITERATION = 0 || echo FIN-1";
    let words = ["--name", "t", "--until", "FIN-1", "--agent-cmd", agent, "go"];
    let _ = world.exec(&words).expect(0);
    assert_eq!(world.status("t")["iteration"], 2);
}

#[test]
fn s2_guidance_stands_until_it_is_taken_back() {
    let world = World::new();
    let words = ["--name", "t", "--iter", "1", "--agent-cmd", "echo x >> log; exit 1", "go"];
    let _ = world.exec(&words).expect(1);
    let said = world.run(&["tell", "t", "use tabs"]).expect(0).stdout;
    assert_eq!(
        said,
        "t will get this in every iteration once it resumes: dacapo resume t; dacapo tell t --clear withdraws it\n"
    );
    let _ = world.run(&["tell", "t", "--once", "look twice"]).expect(0);
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert!(
        shown.contains("  told    use tabs (every iteration)\n") && !shown.contains("look twice"),
        "{shown}"
    );
    assert_eq!(world.status("t")["guidance"], json!(["use tabs"]));
    let _ = world.run(&["resume", "t", "--iter", "2"]).expect(1);
    let heard = |turn, text: &str| world.prompt("t", turn).contains(text);
    assert_eq!([heard(1, "use tabs"), heard(2, "use tabs")], [true, true]);
    assert_eq!([heard(1, "look twice"), heard(2, "look twice")], [true, false]);
    assert_eq!(world.run(&["tell", "t", "--clear"]).expect(0).stdout, "t will no longer get this\n");
    assert_eq!(world.status("t")["guidance"], json!(null));
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(1);
    assert!(!heard(3, "use tabs"));
    let _ = world.run(&["tell", "t"]).expect(2);
    let _ = world.run(&["tell", "t", "--clear", "x"]).expect(2);
}

#[test]
fn s13_a_loop_that_is_taken_up_is_registered_again() {
    let world = World::new();
    let words =
        ["--name", "t", "--max-iterations", "1", "--until", "FIN-1", "--agent-cmd", "echo x >> log", "go"];
    let _ = world.exec(&words).expect(3);
    let mut command = world.command(&["resume", "t", "--iter", "2"]);
    let ran = crate::support::Ran::from(command.env("DACAPO_LOG", "info").output().unwrap()).expect(3);
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    for line in [
        "Registering loop for task t: max_iterations=3, completion_promise=Some(\"FIN-1\")",
        "Registered loop state for task t: max_iterations=3",
        "=== Iteration 3 complete (3 succeeded, 0 failed) ===",
        "Loop iteration 3 of 3 for task t (can_continue=false)",
        "Removed loop state for task t",
    ] {
        assert!(logs.contains(line), "{line}\n{logs}");
        assert!(ran.stderr.contains(line), "{line}\n{}", ran.stderr);
    }
    assert_eq!(logs.matches("Registered loop state").count(), 2, "{logs}");
    assert_eq!(logs.matches("Removed loop state").count(), 2, "{logs}");
}

#[test]
fn s13_what_ends_a_loop_between_two_iterations_is_an_error_line() {
    let world = World::new();
    world.config("[agents.bot]\ncommand = [\"bot\"]\nresume = [\"-c\"]\n");
    let bot = world.program("bot", "#!/bin/sh\necho x >> log\nrm \"$0\"\n");
    let words = ["--name", "t", "--iter", "2", "--session", "resume", "--agent", "bot", "go"];
    let _ = world.exec(&words).expect(1);
    assert!(!bot.exists());
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains("] Failed to start loop follow-up: "), "{logs}");
    assert!(logs.ends_with("] Removed loop state for task t\n"), "{logs}");
}
