//! Bad input: a message, a hint, exit 2, and nothing is changed (U6, L15, S7).

use std::fs;

use crate::support::{Ran, World};

/// Refused: exit 2, nothing on stdout, a message with `says` and something to do, everything as it was.
#[track_caller]
pub(crate) fn refused(world: &World, words: &[&str], says: &str) {
    let before = world.everything();
    let mut command = world.command(words);
    world.hide_other_programs(&mut command);
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 2, "{words:?}\n--- stdout\n{}\n--- stderr\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{words:?}");
    assert!(ran.stderr.starts_with("error: "), "{words:?}\n{}", ran.stderr);
    assert!(ran.stderr.contains(says), "{words:?}: {says}\n{}", ran.stderr);
    let hints = ["\n  do:   ", "\n  tip: ", "[possible values: ", "For more information, try '--help'"];
    assert!(hints.iter().any(|hint| ran.stderr.contains(hint)), "{words:?}: no hint\n{}", ran.stderr);
    let after = world.everything();
    let changed: Vec<_> = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes))
        .map(|(path, _)| path)
        .chain(before.keys().filter(|path| !after.contains_key(*path)))
        .collect();
    assert!(changed.is_empty(), "{words:?} changed {changed:?}");
}

#[test]
fn u6_every_flag_of_exec_refuses_a_wrong_value() {
    let world = World::new();
    let missing = world.scratch("missing");
    let missing = missing.to_str().unwrap();
    let long = "x".repeat(65);
    for (flags, says) in [
        (&["--prompt-file", missing][..], "cannot read the prompt"),
        (&["--name", "two words", "go"], "invalid task name 'two words'"),
        (&["--name", "..", "go"], "invalid task name '..'"),
        (&["--name", "a/b", "go"], "invalid task name 'a/b'"),
        (&["--name", "Upper", "go"], "invalid task name 'Upper'"),
        (&["--name", "é", "go"], "invalid task name 'é'"),
        (&["--name", "", "go"], "invalid task name ''"),
        (&["--name", &long, "go"], "use 1 to 64 of a-z"),
        (&["--name=-x", "go"], "invalid task name '-x'"),
        (&["--model", "gpt", "go"], "cannot choose its model"),
        (&["--approval", "maybe", "go"], "invalid value 'maybe'"),
        (&["--approval", "ask", "go"], "cannot ask for approval"),
        (&["--session", "old", "go"], "invalid value 'old'"),
        (&["--session", "resume", "--iter", "2", "go"], "cannot continue a session"),
        (&["--iter", "1h", "go"], "Invalid loop condition: '1h'"),
        (&["--time", "90", "go"], "Invalid loop condition: '90'"),
        (&["--max-iterations", "many", "go"], "invalid value 'many'"),
        (&["--max-failures", "-1", "go"], "invalid value '-1'"),
        (&["--max-failures", "x", "go"], "invalid value 'x'"),
        (&["--stall", "x", "go"], "invalid value 'x'"),
        (&["--stall", "-1", "go"], "invalid value '-1'"),
        (&["--max-cost", "x", "go"], "invalid value 'x'"),
        (&["--max-cost", "0", "go"], "--max-cost 0"),
        (&["--max-cost", "nan", "go"], "--max-cost NaN"),
        (&["--max-cost", "inf", "go"], "--max-cost inf"),
        (&["--max-cost=-1", "go"], "--max-cost -1"),
        (&["--max-tokens", "0", "go"], "--max-tokens 0"),
        (&["--max-tokens", "1.5", "go"], "invalid value '1.5'"),
        (&["--turn-timeout", "5", "go"], "--turn-timeout"),
        (&["--turn-timeout", "0s", "go"], "--turn-timeout"),
        (&["--idle-timeout", "abc", "go"], "--idle-timeout"),
        (&["--max-wait", "1y", "go"], "--max-wait"),
        (&["--check-timeout", "", "go"], "--check-timeout"),
        (&["--check", "", "go"], "--check '' is empty"),
        (&["--check", "  ", "go"], "is empty"),
        (&["--checks", "go"], "no checks were found"),
        (&["--with-changes", "go"], "--with-changes"),
        (&["--pr", "go"], "--pr needs a worktree"),
        (&["--pr=A title", "go"], "--pr needs a worktree"),
        (&["--plan", missing, "go"], "cannot read the plan"),
        (&["--plan", "README.md", "--no-plan", "go"], "cannot be used with"),
        (&["--summary-max-tokens", "x", "go"], "invalid value 'x'"),
        (&["--summary-max-tokens", "0", "go"], "--summary-max-tokens"),
        (&["--summary-max-tokens", "19", "go"], "19 is not in 20..=100000"),
        (&["--context-max-tokens", "-5", "go"], "-5"),
        (&["--context-max-tokens", "0", "go"], "--context-max-tokens"),
        (&["--summary-model", "native:", "go"], "names no model"),
        (&["--summary-model", "native:tiny", "go"], "no endpoint is set"),
        (&["--color", "green", "go"], "invalid value 'green'"),
        (&["-C", missing, "go"], "missing"),
        (&["--quiet=yes", "go"], "--quiet"),
    ] {
        refused(&world, &[&["exec", "--agent-cmd", "date > log"], flags].concat(), says);
    }
}

#[test]
fn l1_a_prompt_must_say_something() {
    let world = World::new();
    let bytes = world.scratch("bytes");
    fs::write(&bytes, b"caf\xe9").unwrap();
    let nul = world.scratch("nul");
    fs::write(&nul, b"a\0b").unwrap();
    let empty = world.scratch("empty");
    fs::write(&empty, " \n\t\n").unwrap();
    let file = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let agent = ["exec", "--agent-cmd", "date > log"];
    let refused = |words: &[&str], says| refused(&world, &[&agent[..], words].concat(), says);
    refused(&[], "the prompt is empty");
    refused(&[""], "the prompt is empty");
    refused(&["   "], "the prompt is empty");
    refused(&["-"], "the prompt is empty");
    refused(&["--prompt-file", &file(&bytes)], "the prompt is not UTF-8 text");
    refused(&["--prompt-file", &file(&nul)], "NUL byte");
    refused(&["--prompt-file", &file(&empty)], "the prompt is empty");
    refused(&["--prompt-file", &file(&world.home())], "cannot read the prompt");
    refused(&["--prompt-file", "README.md", "and words"], "cannot be used with");
}

#[test]
fn u6_what_is_unknown_gets_a_suggestion() {
    let world = World::new();
    let agent = ["exec", "--agent-cmd", "date > log", "go"];
    for (words, says) in [
        (&["--itre", "5"][..], "--iter"),
        (&["--max-iteration", "5"], "--max-iterations"),
        (&["--chek", "true"], "--check"),
        (&["--worktre"], "--worktree"),
    ] {
        refused(&world, &[&agent[..], words].concat(), says);
    }
    for (words, says) in [
        (&["exce", "go"][..], "dacapo exec go"),
        (&["stats"], "dacapo status"),
        (&["fix-it"], "unrecognized subcommand 'fix-it'"),
        (&["list", "--jason"], "--json"),
        (&["config", "shwo"], "show"),
        (&["rehearsal", "chek", "x"], "check"),
        (&["logs", "--turn", "x"], "invalid value 'x'"),
        (&["diff", "--iteration", "x"], "invalid value 'x'"),
        (&["resume", "--iter", "0"], "Invalid loop condition: '0'"),
        (&["rehearsal", "check", "no-such.yaml"], "no-such.yaml"),
    ] {
        refused(&world, words, says);
    }
}

#[test]
fn l15_an_agent_that_is_not_there_is_refused() {
    let world = World::new();
    world.config(
        "[agents.mybot]\ncommand = [\"no-such-bot\"]\n[agents.path]\ncommand = [\"./bot\"]\n[agents.bare]\n",
    );
    for (flags, says) in [
        (&[][..], "no agent is installed: claude, codex"),
        (&["--agent", ""], "--agent needs a name"),
        (&["--agent", " , "], "--agent needs a name"),
        (&["--agent", "mybott"], "did you mean 'mybot'?"),
        (&["--agent", "nobody-knows"], "unknown agent 'nobody-knows'"),
        (&["--agent", "mybot"], "'no-such-bot' ([agents.mybot] command) is not on PATH"),
        (&["--agent", "path"], "'./bot' ([agents.path] command)"),
        (&["--agent", "bare"], "unknown agent 'bare'"),
        (&["--agent", "claude"], "agent not found: 'claude' (--agent) is not on PATH"),
        (&["--agent", "codex"], "do:   npm install -g @openai/codex"),
        (&["--agent", "rehearsal"], "has no usable script"),
        (&["--agent", "rehearsal:missing.yaml"], "missing.yaml"),
        (&["--agent", "rehearsal:README.md"], "README.md"),
        (&["--agent-cmd", ""], "--agent-cmd is empty"),
        (&["--agent-cmd", "no-such-bot --headless"], "'no-such-bot' (--agent-cmd) is not on PATH"),
        (&["--agent", "a", "--agent-cmd", "true"], "cannot be used with"),
    ] {
        refused(&world, &[&["exec"], flags, &["go"]].concat(), says);
    }
}

#[test]
fn u6_a_bad_config_is_refused_with_its_place() {
    let world = World::new();
    let path = world.home().join(".config/dacapo/config.toml");
    for (text, says) in [
        ("agnet = \"x\"\n", "config.toml:1:1; did you mean 'agent'?"),
        ("\n[agents.x]\ncomand = [\"y\"]\n", "config.toml:3:1; did you mean '"),
        (
            "[spawn_task.context_passing]\nenabled = \"yes\"\n",
            "invalid value for 'spawn_task.context_passing.enabled'",
        ),
        ("[agents.x]\nmax_iterations = \"5\"\n", "invalid value for 'agents.x.max_iterations'"),
        ("[agents.x]\nsession = \"old\"\n", "invalid value for 'agents.x.session'"),
        ("checks = \"cargo test\"\n", "invalid value for 'checks'"),
        ("agent = \n", "not valid TOML in "),
        ("[agents.x]\nscript = \"a\"\n", "only for the built-in agent 'rehearsal'"),
        ("language = \"klingon\"\n", "invalid value for 'language'"),
    ] {
        world.config(text);
        refused(&world, &["exec", "--agent-cmd", "date > log", "go"], says);
        refused(&world, &["config", "show"], says);
    }
    fs::write(&path, b"agent = \"\xff\"").unwrap();
    refused(&world, &["exec", "--agent-cmd", "date > log", "go"], "not UTF-8 text");
    fs::remove_file(path).unwrap();
    world.write(".dacapo/config.toml", "max_concurent = 3\n");
    refused(&world, &["exec", "--agent-cmd", "date > log", "go"], ".dacapo/config.toml:1:1");
}

#[test]
fn c11_a_bad_variable_is_refused_by_its_name() {
    let world = World::new();
    let mut command = world.command(&["exec", "--agent-cmd", "true", "go"]);
    let ran = crate::support::Ran::from(command.env("DACAPO_KEEP_AWAKE", "perhaps").output().unwrap());
    assert!(ran.stderr.contains("DACAPO_KEEP_AWAKE"), "{}", ran.stderr);
    assert_eq!(ran.expect(2).stdout, "");
    assert_eq!(world.tasks(), [] as [&str; 0]);
}

#[test]
fn s7_a_name_that_is_taken_is_refused() {
    let world = World::new();
    let words = ["exec", "--name", "t", "--agent-cmd", "date > log", "go"];
    let _ = world.run(&words).expect(0);
    refused(&world, &words, "Task 't' already exists");
    refused(&world, &[&words[..], &["--worktree"]].concat(), "Task 't' already exists");
}

#[test]
fn s7_a_branch_or_worktree_that_is_taken_is_left_alone() {
    let world = World::new();
    let _ = world.exec(&["--name", "first", "--agent-cmd", "true", "go"]).expect(0);
    let data = world.task_dir("first").parent().unwrap().parent().unwrap().to_owned();
    world.git(&["branch", "dacapo/t"]);
    let words = ["exec", "--name", "t", "--worktree", "--agent-cmd", "date > log", "go"];
    refused(&world, &words, "branch 'dacapo/t' already exists");
    let words = ["exec", "--name", "u", "--worktree", "--agent-cmd", "date > log", "go"];
    fs::create_dir_all(data.join("worktrees/u")).unwrap();
    fs::write(data.join("worktrees/u/work"), "precious").unwrap();
    refused(&world, &words, "Worktree for task 'u' already exists");
    // A name that was made from the prompt is numbered instead.
    let _ = world.exec(&["--worktree", "--agent-cmd", "date > log", "t"]).expect(0);
    let _ = world.exec(&["--worktree", "--agent-cmd", "date > log", "u"]).expect(0);
    assert_eq!(world.tasks(), ["first", "t-2", "u-2"]);
    assert_eq!(fs::read_to_string(data.join("worktrees/u/work")).unwrap(), "precious");
}

#[test]
fn c10_a_dirty_tree_is_refused_with_what_to_do() {
    let world = World::new();
    world.write("README.md", "changed\n");
    world.write("new file", "mine\n");
    let words = ["exec", "--name", "t", "--agent-cmd", "date > log", "go"];
    refused(&world, &words, "1 tracked file here has uncommitted changes (README.md)");
    for way in ["--worktree", "--allow-dirty", "commit them first"] {
        refused(&world, &words, way);
    }
    world.git(&["add", "-A"]);
    refused(&world, &words, "2 tracked files here have uncommitted changes (README.md, new file)");
}

#[test]
fn u6_what_the_parser_of_the_command_line_says_has_the_form_of_every_error() {
    let world = World::new();
    let ran = world.run(&["exec", "--itr", "3", "fix it"]).expect(2);
    let expected = "error: unexpected argument '--itr' found\n  do:   did you mean '--iter'?\n";
    assert_eq!(ran.stderr, expected);
    let ran = world.run(&["fix", "the", "tests"]).expect(2);
    assert!(ran.stderr.starts_with("error: unrecognized subcommand 'fix'\n"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("To have an agent do it, quote it: dacapo \"fix the tests\""),
        "{}",
        ran.stderr
    );
}

#[test]
fn u6_a_command_that_only_shows_something_does_not_say_what_was_kept() {
    let world = World::new();
    for (words, kept) in [
        (&["status"][..], false),
        (&["diff"], false),
        (&["logs", "t"], false),
        (&["exec", "--agent-cmd", "true", "go"], true),
    ] {
        let ran = Ran::from(world.command(words).current_dir(world.home()).output().unwrap()).expect(2);
        assert!(ran.stderr.contains("is not in a git repository"), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("kept: "), kept, "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn s7_an_unknown_task_is_refused_by_every_command() {
    let world = World::new();
    let commands = [&["status"][..], &["logs"], &["logs", "-f"], &["diff"], &["wait"], &["resume"]];
    for words in commands {
        refused(&world, words, "this repository has no tasks yet");
        refused(&world, &[words, &["nope"]].concat(), "Task 'nope' not found");
        refused(&world, &[words, &["../nope"]].concat(), "Task '../nope' not found");
    }
    let _ = world.exec(&["--name", "parser", "--agent-cmd", "date > log", "go"]).expect(0);
    for words in commands {
        refused(&world, &[words, &["praser"]].concat(), "did you mean 'parser'?");
    }
    refused(&world, &["logs", "parser", "--turn", "7"], "has no turn 7");
    refused(&world, &["diff", "parser", "--iteration", "2"], "has no iteration 2");
    refused(&world, &["diff", "parser", "--iteration", "0"], "has no iteration 0");
}

#[test]
fn u6_errors_are_json_for_programs() {
    let world = World::new();
    for words in [&["status", "nope", "--json"][..], &["exec", "--agent", "nobody", "--json", "go"]] {
        let ran = world.run(words).expect(2);
        let error: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&error["type"], &error["exit_code"]), (&"error".into(), &2.into()));
        assert!(error["hints"].as_array().is_some_and(|hints| !hints.is_empty()), "{error}");
    }
}

#[test]
fn l15_a_command_line_that_is_not_understood_is_an_error_for_programs_too() {
    let world = World::new();
    for words in
        [&["list", "--nope", "--json"][..], &["lits", "--json"], &["--json", "list"], &["kill", "--json"]]
    {
        let ran = world.run(words).expect(2);
        let error: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&error["type"], &error["exit_code"]), (&"error".into(), &2.into()), "{words:?}");
        assert_ne!(error["message"], "", "{words:?}");
        assert!(error["hints"].as_array().is_some_and(|hints| !hints.is_empty()), "{error}");
        assert!(ran.stderr.starts_with("error: "), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn l15_output_that_cannot_be_written_is_a_failure() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--agent-cmd", "date > log", "go"]).expect(0);
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["status", "t"],
        &["logs", "t"],
        &["diff", "t"],
        &["config", "schema"],
        &["--help"],
        &["--version"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::from(world.command(words).stdout(full).output().unwrap());
        assert_eq!(ran.code, 1, "{words:?}: {}", ran.stderr);
        // A diff is shown by git, in its own words.
        let says = if words[0] == "diff" { "write failure" } else { "No space left on device" };
        assert!(ran.stderr.contains(says), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn an_error_that_cannot_be_shown_keeps_its_exit_code() {
    let world = World::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = world.command(&["status", "nobody"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
