//! L7: a promise counts where the agent itself makes it, not where it repeats what it was told.

use crate::support::World;

const PROMISE: &str = "<promise>COMPLETE</promise>";
const PROMPT: &str = "Do it, then say <promise>COMPLETE</promise> and nothing else.\n第二行";

fn outcome(world: &World, agent: &[&str]) -> (String, [u64; 3]) {
    let words = ["--until", PROMISE, "--max-iterations", "2", "--json", PROMPT];
    let ran = world.exec(&[agent, &words].concat());
    let result = ran.result();
    (result["outcome"].as_str().unwrap().to_owned(), World::counts(&result))
}

#[test]
fn l7_a_plain_text_agent_that_repeats_its_prompt_promises_nothing() {
    let world = World::new();
    assert_eq!(outcome(&world, &["--agent-cmd", "date >> log; cat"]), ("max_reached".into(), [2, 2, 0]));
    let noisy = "date >> log; echo 'You said:'; cat; echo; echo That I was told, now I work.";
    assert_eq!(outcome(&world, &["--agent-cmd", noisy]), ("max_reached".into(), [2, 2, 0]));
    let twice = "date >> log; cat > p; cat p; cat p; rm p";
    assert_eq!(outcome(&world, &["--agent-cmd", twice]), ("max_reached".into(), [2, 2, 0]));
}

#[test]
fn l7_a_plain_text_agent_that_quotes_its_prompt_promises_nothing() {
    let world = World::new();
    for quote in
        ["sed 's/^/> /'", "sed 's/^/│ /'", "nl -ba", "sed 's/^/    /'", "fold -sw 30 | sed 's/^/> /'"]
    {
        let agent = format!("date >> log; {quote}; echo; echo Now I work.");
        assert_eq!(outcome(&world, &["--agent-cmd", &agent]), ("max_reached".into(), [2, 2, 0]), "{quote}");
    }
    let own = format!("sed 's/^/> /'; echo; echo '{PROMISE}'");
    assert_eq!(outcome(&world, &["--agent-cmd", &own]), ("completed".into(), [1, 1, 0]));
}

#[test]
fn l7_what_it_says_beyond_the_prompt_counts() {
    let world = World::new();
    let after = format!("cat; echo; echo 'so: {PROMISE}'");
    assert_eq!(outcome(&world, &["--agent-cmd", &after]), ("completed".into(), [1, 1, 0]));
    let before = format!("echo '{PROMISE}'; cat");
    assert_eq!(outcome(&world, &["--agent-cmd", &before]), ("completed".into(), [1, 1, 0]));
    // A prompt in slow pieces: nothing is decided before it is known to be an echo.
    let slow = format!("cat > p; head -c 60 p; sleep 0.05; tail -c +61 p; rm p; echo '{PROMISE}'");
    assert_eq!(outcome(&world, &["--agent-cmd", &slow]), ("completed".into(), [1, 1, 0]));
}

#[test]
fn l7_an_echo_of_a_context_with_the_promise_in_it_is_an_echo_too() {
    let world = World::new();
    // From the second iteration on the prompt says the promise three times: task, rule, prompt.
    let agent = "date >> log; cat";
    let words = ["--name", "t", "--until", PROMISE, "--max-iterations", "3", "--agent-cmd", agent, PROMPT];
    world.exec(&words).expect(3);
    assert!(world.prompt("t", 2).matches(PROMISE).count() >= 3);
    assert_eq!(world.status("t")["iteration"], 3);
}

#[test]
fn l7_tools_and_thoughts_of_an_agent_with_events_do_not_count() {
    let world = World::new();
    let script = format!(
        "iterations:\n  - - echo_prompt: true\n    - think: '{PROMISE}'\n    - tool: {{ name: x, output: '{PROMISE}' }}\n    - stderr: '{PROMISE}'\n    - write: {{ path: a, text: '{{iteration}}' }}\n"
    );
    let agent = world.rehearsal(&script);
    assert_eq!(outcome(&world, &["--agent", &agent]), ("max_reached".into(), [2, 2, 0]));
    let agent = world.rehearsal(&format!("{script}    - say: 'yes: {PROMISE}'\n"));
    assert_eq!(outcome(&world, &["--agent", &agent]), ("completed".into(), [1, 1, 0]));
}

#[test]
fn l7_that_all_of_a_plain_text_agents_output_counts_is_said_once() {
    let world = World::new();
    let words = ["--until", "Q-1", "--max-iterations", "2", "--agent-cmd", "date >> log", "go"];
    let ran = world.exec(&words).expect(3);
    assert_eq!(ran.stdout.matches("prints plain text").count(), 1, "{}", ran.stdout);
    let ran = world.exec(&["--iter", "1", "--agent-cmd", "true", "go"]).expect(0);
    assert!(!ran.stdout.contains("prints plain text"), "{}", ran.stdout);
    let agent = world.rehearsal("iterations:\n  - - done: 'Q-1'\n");
    let ran = world.exec(&["--until", "Q-1", "--agent", &agent, "go"]).expect(0);
    assert!(!ran.stdout.contains("prints plain text"), "{}", ran.stdout);
}

#[test]
fn l7_a_promise_of_an_earlier_iteration_does_not_count_later() {
    let world = World::new();
    // Said beside a red check; when the check is green it is not said again.
    let agent =
        "date >> log; test $DACAPO_ITERATION != 0 || echo DONE-3; test $DACAPO_ITERATION != 1 || touch ok";
    let words = ["--until", "DONE-3", "--check", "test -f ok", "--max-iterations", "3", "--json"];
    let result = world.exec(&[&words[..], &["--agent-cmd", agent, "go"]].concat()).expect(3).result();
    assert_eq!(result["outcome"], "max_reached");
    assert_eq!(result["verified"], false);
}
