//! `dacapo "PROMPT"` (L0).

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use crate::bad_input::refused;
use crate::support::{Ran, World};

/// A world with a scripted agent that does what is asked in its second iteration.
fn world() -> World {
    let world = World::new();
    let script = "iterations:
  - - say: I look around.
    - write: { path: notes.txt, text: x }
  - - write: { path: done.txt, text: x }
    - done: true
";
    world.config(&format!("agent = \"bot\"\nkeep_awake = false\n{}", world.scripted("bot", script)));
    world
}

/// The same with checks in its config.
fn checked() -> World {
    let world = world();
    world.write(".dacapo/config.toml", "checks = [\"test -e done.txt\"]\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "checks"]);
    world.trust();
    world
}

#[test]
fn l0_a_prompt_runs_in_the_background_and_is_shown_to_its_end() {
    let world = checked();
    world.write("mine.txt", "not committed\n");
    let ran = world.run(&["make it pass"]).expect(0);
    let expected = "agent   bot\ncheck   test -e done.txt (config)\n\
                    where   dacapo/make-it-pass · your 1 uncommitted file stays here\n\
                    limits  10 iterations, 8h00m, stops after 3 without progress\nbefore  test -e done.txt ✗ exit 1\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n✓ proven · 2 iterations"), "{}", ran.stdout);
    assert_eq!(
        world.tree("dacapo/make-it-pass"),
        [".dacapo/config.toml", "README.md", "done.txt", "notes.txt"]
    );
    assert_eq!(world.subjects(), ["checks", "first"], "the user's own checkout is left alone");
    let spec = fs::read_to_string(world.task_dir("make-it-pass").join("spec.json")).unwrap();
    let spec: serde_json::Value = serde_json::from_str(&spec).unwrap();
    assert_eq!((&spec["foreground"], &spec["prompt"]), (&false.into(), &"make it pass".into()));
    world.assert_nothing_left("make-it-pass");
}

#[test]
fn l0_a_prompt_comes_from_standard_input_too_and_may_look_like_a_flag() {
    let world = checked();
    let elsewhere = world.scratch("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let repo = world.repo();
    let words = ["-C", repo.to_str().unwrap(), "--color=never", "-"];
    let mut child = world
        .command(&words)
        .current_dir(&elsewhere)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("- first\n- second 繼續\n".as_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.tasks().len(), 1);
    let spec = fs::read_to_string(world.task_dir(&world.tasks()[0]).join("spec.json")).unwrap();
    let spec: serde_json::Value = serde_json::from_str(&spec).unwrap();
    assert_eq!(spec["prompt"], "- first\n- second 繼續");
    let _ = world.run(&["--help me to make it pass"]).expect(0);
    assert_eq!(world.tasks().len(), 2);
}

#[test]
fn l0_without_checks_the_agents_word_ends_it_unproven() {
    let world = world();
    let ran = world.run(&["write the file"]).expect(0);
    assert!(
        ran.stdout.contains("check   none found: it is done when the agent says so, unproven\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("● finished, unverified · 2 iterations"), "{}", ran.stdout);
}

#[test]
fn l0_where_an_api_key_pays_ten_dollars_are_the_limit() {
    let world = checked();
    world.config("keep_awake = false\n");
    let claude = r#"#!/bin/sh
cat > /dev/null
echo > done.txt
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":1}}'
"#;
    world.program("claude", claude);
    let mut command = world.command(&["make it pass"]);
    world.hide_other_programs(&mut command);
    let key = "sk-ant-made-up-for-this-test";
    let ran = Ran::from(command.env("ANTHROPIC_API_KEY", key).output().unwrap()).expect(0);
    let agent = "agent   claude · billed to ANTHROPIC_API_KEY · skips permission prompts\n";
    assert!(ran.stdout.starts_with(agent), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("limits  10 iterations, 8h00m, $10.00, stops after 3 without progress\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn l10_a_task_without_a_limit_on_cost_is_told_how_to_set_one() {
    let world = checked();
    for (agent, key, says) in [
        (
            "claude",
            "ANTHROPIC_API_KEY",
            "no limit on cost (billed to ANTHROPIC_API_KEY), --max-cost sets one\n",
        ),
        (
            "gemini",
            "GEMINI_API_KEY",
            "no limit on cost (billed to GEMINI_API_KEY), --max-cost needs [prices]",
        ),
    ] {
        world.program(agent, "#!/bin/sh\n");
        let mut command = world.command(&["exec", "--dry-run", "--agent", agent, "x y"]);
        world.hide_other_programs(&mut command);
        let ran = Ran::from(command.env(key, "made-up-for-this-test").output().unwrap()).expect(0);
        assert!(ran.stdout.contains(&format!("limits  1 iteration; {says}")), "{}", ran.stdout);
    }
}

#[test]
fn l0_what_is_no_prompt_is_refused_with_what_would_be_one() {
    let world = world();
    for (words, says) in [
        (&[""][..], "the prompt is empty"),
        (&["  "], "the prompt is empty"),
        (&["\n"], "the prompt is empty"),
        (&["-"], "the prompt is empty"),
        (&["fix"], "unrecognized subcommand 'fix'"),
        (&["stauts"], "did you mean 'dacapo status'?"),
        (&["fix", "the", "tests"], "quote it: dacapo \"fix the tests\""),
        (&["status boom"], "dacapo status boom, without quotes"),
        (&["stop x"], "dacapo stop x, without quotes"),
        (&["stop", "x"], "Task 'x' not found"),
        (&["--iter", "0", "fix the tests"], "Invalid loop condition: '0'"),
        (&["--agnet", "bot", "fix the tests"], "'--agent'"),
        (&["fix the tests", "--until", ""], "--until is empty"),
        (&["fix the tests", "--worktree", "--noworktree"], "cannot be used with '--noworktree'"),
        (&["-C", "no-such-directory", "fix the tests"], "-C no-such-directory"),
    ] {
        refused(&world, words, says);
    }
    let ran = Ran::from(world.command(&[OsStr::from_bytes(b"fix caf\xe9")]).output().unwrap()).expect(2);
    assert!(ran.stderr.contains("the prompt is not UTF-8 text"), "{}", ran.stderr);
    assert!(world.tasks().is_empty());
}

#[test]
fn l0_it_takes_the_flags_of_spawn() {
    let world = checked();
    let words =
        ["--iter", "1", "make it pass", "--name", "mine", "--time", "1h", "--check", "test -e notes.txt"];
    let ran = world.run(&words).expect(0);
    let expected = "agent   bot\ncheck   test -e notes.txt\nwhere   dacapo/mine\nlimits  1 iteration, 1h00m, stops after 3 without progress\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    let ran = world.run(&["make it pass", "--json"]).expect(0);
    assert!(ran.stdout.lines().all(|line| line.starts_with('{')), "{}", ran.stdout);
    let ran = world.run(&["make it pass", "-q"]).expect(0);
    assert_eq!(ran.stdout, "");
    let ran = world.run(&["status boom", "--json"]).expect(2);
    let error: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&error["type"], &error["exit_code"]), (&"error".into(), &2.into()));
}

#[test]
fn l0_what_is_missing_is_named_before_anything_is_made() {
    let world = World::new();
    refused(&world, &["fix the tests"], "no agent is installed: claude, codex");
    let world = World::without_repo();
    refused(&world, &["fix the tests"], "git add -A && git commit -m start");
    world.git(&["init", "-q", "-b", "main"]);
    refused(&world, &["fix the tests"], "this repository has no commits yet, and a worktree needs one");
    assert!(world.tasks().is_empty());
}

#[test]
fn l3_found_checks_that_nobody_confirmed_are_not_run_without_a_terminal() {
    let world = world();
    let log = world.scratch("make.log");
    world.program("make", &format!("#!/bin/sh\necho ran >> '{}'\ntest -e done.txt\n", log.display()));
    world.write("Makefile", "test:\n\ttest -e done.txt\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "make"]);
    let ran = world.run(&["make it pass"]).expect(2);
    for text in ["make test", "--check 'CMD'", "--checks"] {
        assert!(ran.stderr.contains(text), "{text}\n{}", ran.stderr);
    }
    assert_eq!((log.exists(), world.tasks()), (false, Vec::<String>::new()));
    // Whoever asks for them confirms them.
    let ran = world.run(&["make it pass", "--checks"]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    let _ = world.run(&["make it pass"]).expect(2);
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use super::world;
    use crate::support::World;
    use crate::terminal::Terminal;

    const QUESTION: &str = "check   make test (Makefile test:)   [Enter] use  [e]dit  [n]one";

    /// A project with a check that can be found.
    fn with_makefile() -> World {
        let world = world();
        world.program("make", "#!/bin/sh\ntest -e done.txt\n");
        world.write("Makefile", "test:\n\ttest -e done.txt\n");
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "make"]);
        world
    }

    #[test]
    fn l3_found_checks_are_shown_confirmed_and_remembered() {
        let world = with_makefile();
        let mut terminal = world.at_terminal(&["make it pass"]);
        terminal.shows(QUESTION);
        terminal.asks();
        terminal.press("\r");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("✓ proven"), "{said}");
        let (code, said) = world.at_terminal(&["make it pass"]).end();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("[Enter]") && said.contains("make test (Makefile test:)\r\n"), "{said}");
        assert_eq!(world.tasks(), ["make-it-pass", "make-it-pass-2"]);
    }

    #[test]
    fn l3_a_check_can_be_edited_or_left_out() {
        let world = with_makefile();
        let mut terminal = world.at_terminal(&["make it pass"]);
        terminal.shows(QUESTION);
        terminal.asks();
        // The line begins with the command that was found.
        terminal.press("e");
        terminal.shows("check   make test\r");
        terminal.press("\u{15}test -e done.txt\r");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("test -e done.txt (as you chose)\r\n") && said.contains("✓ proven"), "{said}");
        // What was chosen holds wherever the project's checks are asked for.
        let ran = world.run(&["spawn", "--checks", "--name", "more", "more of it"]).expect(0);
        let _ = world.run(&["wait", "more"]).expect(0);
        assert_eq!(world.receipts("more", "baseline")[0].0, "test -e done.txt", "{}", ran.stdout);

        let world = with_makefile();
        let mut terminal = world.at_terminal(&["make it pass"]);
        terminal.shows(QUESTION);
        terminal.asks();
        terminal.press("n");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("none, as you chose"), "{said}");
        assert!(said.contains("● finished, unverified"), "{said}");
        // It can be taken back.
        let mut terminal = world.at_terminal(&["make it pass", "--checks"]);
        terminal.shows(QUESTION);
        terminal.asks();
        terminal.press("\r");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("✓ proven"), "{said}");
    }

    #[test]
    fn l3_a_question_that_does_not_fit_has_a_line_of_its_own() {
        let world = world();
        world.write("package.json", "{\"scripts\": {\"test\": \"mocha --some-long-flag\"}}");
        world.write("pytest.ini", "[pytest]\n");
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "checks"]);
        let mut terminal = world.at_terminal(&["make it pass"]);
        terminal.shows("\r\n\r\u{1b}[K        [Enter] use  [e]dit  [n]one ");
        terminal.asks();
        terminal.press("\u{3}");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(130), "{said}");
    }

    #[test]
    fn l3_a_pasted_block_keeps_its_next_line() {
        // Nobody is asked, so found checks run only where they were asked for.
        for (words, tasks) in [("\"make it pass\" -q", 0), ("spawn --checks make it pass", 1)] {
            let world = with_makefile();
            let line = format!("\"$0\" {words}; read next; echo \"the next line: $next\"");
            let shell =
                crate::terminal::in_shell(&world.command(&["-c", &line, env!("CARGO_BIN_EXE_dacapo")]));
            let (code, said) = Terminal::start_with(&shell, "dacapo list\n").end();
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains("the next line: dacapo list"), "{said}");
            assert!(!said.contains("[Enter]"), "{said}");
            assert_eq!(
                (world.tasks().len(), said.contains("not confirmed yet")),
                (tasks, tasks == 0),
                "{said}"
            );
            let _ = world.run(&["wait"]);
        }
    }

    #[test]
    fn l3_who_leaves_at_the_question_has_started_nothing() {
        let world = with_makefile();
        let mut terminal = world.at_terminal(&["make it pass"]);
        terminal.shows(QUESTION);
        terminal.asks();
        terminal.press("\u{3}");
        let (code, said) = terminal.end();
        assert_eq!(code, Some(130), "{said}");
        assert!(said.contains("nothing was started"), "{said}");
        assert!(world.tasks().is_empty());
    }
}
