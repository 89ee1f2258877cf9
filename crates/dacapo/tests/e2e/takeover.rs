//! `takeover`: a person in the agent's own session, in the same worktree (S2). The agent is a small program that goes by
//! the name of a real one and writes down how it was called.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{World, wait_for};
use crate::terminal::Terminal;

/// Headless it waits in its first turn until it is ended or let go; at a terminal it takes one line and writes it to a
/// file.
const CLAUDE: &str = r#"#!/bin/sh
case " $* " in
*" -p "*)
  cat > /dev/null
  id=
  while [ $# -gt 0 ]; do
    case $1 in --session-id|--resume) id=$2 ;; esac
    shift
  done
  echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
  echo "$id" > SCRATCH/session
  touch SCRATCH/begun
  while [ -d SCRATCH/home ] && [ ! -e SCRATCH/go ]; do sleep 0.02; done
  echo x >> work.txt
  echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"did it"}]}}'
  echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"did it\",\"session_id\":\"$id\",\"total_cost_usd\":0.01,\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}"
  ;;
*)
  [ -t 0 ] && [ -t 1 ] && tty=yes
  trap 'echo interrupted >> SCRATCH/calls' INT
  echo "$* | $PWD | $DACAPO_TASK | $tty" >> SCRATCH/calls
  echo "your turn"
  while ! read line; do :; done
  echo "$line" > person.txt
  ;;
esac
"#;

fn world() -> World {
    let world = World::new();
    world.config("keep_awake = false\n");
    let scratch = world.scratch("").display().to_string();
    world.program("claude", &CLAUDE.replace("SCRATCH/", &scratch));
    world
}

fn worktree(world: &World, task: &str) -> PathBuf {
    world.status(task)["worktree"].as_str().unwrap().into()
}

fn calls(world: &World) -> String {
    fs::read_to_string(world.scratch("calls")).unwrap_or_default()
}

fn sit_down(world: &World, words: &[&str]) -> Terminal {
    let terminal = world.at_terminal(&[&["takeover"], words].concat());
    terminal.shows("your turn");
    terminal
}

#[test]
fn s2_a_person_takes_over_and_then_the_loop_goes_on() {
    let world = world();
    let words = ["spawn", "--name", "t", "--agent", "claude", "--iter", "2", "go"];
    let _ = world.run(&words).expect(0);
    world.wait_for_file("begun");
    let session = fs::read_to_string(world.scratch("session")).unwrap();
    let mut terminal = sit_down(&world, &["t"]);
    let place = worktree(&world, "t");
    assert_eq!(calls(&world), format!("--resume {} | {} | t | yes\n", session.trim(), place.display()));
    // Nobody else can go on with it meanwhile.
    let ran = world.run(&["resume", "t"]).expect(2);
    assert!(ran.stderr.contains("Task 't' is still running."), "{}", ran.stderr);
    // Ctrl-C is the agent's.
    terminal.press("\u{3}");
    wait_for("the agent to be interrupted", || calls(&world).ends_with("interrupted\n"));
    fs::write(world.scratch("go"), "").unwrap();
    terminal.press("by hand\n");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "pausing t; what its agent has done is committed",
        "claude, where it left off, in ",
        "1 uncommitted file: it becomes part of the next iteration's commit",
        "t continues in the background; dacapo attach t shows it",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let _ = world.run(&["wait", "t"]).expect(0);
    assert_eq!(world.tree("dacapo/t"), ["README.md", "person.txt", "work.txt"]);
    let resumed: Vec<Value> = world.events("t", "resumed");
    assert_eq!(resumed.len(), 1);
    world.assert_nothing_left("t");
}

#[test]
fn s2_a_task_that_was_not_at_work_is_left_as_it_is_afterwards() {
    let world = world();
    let _ = world.run(&["spawn", "--name", "t", "--agent", "claude", "--iter", "2", "go"]).expect(0);
    world.wait_for_file("begun");
    let mut terminal = sit_down(&world, &["t", "--no-resume"]);
    terminal.press("one\n");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("t is not running: dacapo resume t continues it"), "{said}");
    assert_eq!(world.status("t")["status"], "paused");
    let mut terminal = sit_down(&world, &[]);
    terminal.press("two\n");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("pausing"), "{said}");
    assert_eq!(world.status("t")["status"], "paused");
    assert_eq!(fs::read_to_string(worktree(&world, "t").join("person.txt")).unwrap(), "two\n");
    fs::write(world.scratch("go"), "").unwrap();
    let _ = world.run(&["resume", "t"]).expect(0);
    let _ = world.run(&["wait", "t"]).expect(0);
    // One that has ended can be looked at, too.
    let mut terminal = sit_down(&world, &["t"]);
    terminal.press("three\n");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("t had already ended (completed): dacapo resume t \"what to add\""), "{said}");
}

#[test]
fn s2_an_agent_without_a_session_of_its_own_leaves_a_shell() {
    let world = world();
    let scratch = world.scratch("");
    let shell = format!(
        "#!/bin/sh\n[ -t 0 ] && tty=yes\necho \"$* | $PWD | $DACAPO_TASK | $tty\" > {}calls\necho x > by-shell\n",
        scratch.display()
    );
    let shell = world.program("my-shell", &shell);
    let _ = world.run(&["spawn", "--name", "t", "--agent-cmd", "echo x >> f", "go"]).expect(0);
    let _ = world.run(&["wait", "t"]).expect(0);
    let mut command = world.command(&["takeover", "t"]);
    let (code, said) = Terminal::start(command.env("SHELL", shell)).end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("cannot open an interactive session of echo: starting a shell in "), "{said}");
    assert_eq!(calls(&world), format!(" | {} | t | yes\n", worktree(&world, "t").display()));
    // One that cannot be run changes nothing.
    let mut command = world.command(&["takeover", "t"]);
    let (code, said) = Terminal::start(command.env("SHELL", world.scratch("missing"))).end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot run ") && said.contains("dacapo resume t"), "{said}");
}

#[test]
fn s2_taking_over_needs_a_terminal_and_a_task() {
    let world = world();
    let ran = world.run(&["takeover", "t"]).expect(2);
    assert!(ran.stderr.contains("takeover needs a terminal"), "{}", ran.stderr);
    let (code, said) = world.at_terminal(&["takeover", "t"]).end();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("Task 't' not found"), "{said}");
}
