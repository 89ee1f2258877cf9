//! Agents as commands (A1, A7), what reaches them and what becomes of what they do (C4, C5, C11).

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::World;

#[test]
fn a1_an_agent_is_told_its_task_iteration_and_workspace_and_starts_at_the_top() {
    let world = World::new();
    fs::create_dir(world.repo().join("sub")).unwrap();
    let out = world.scratch("env");
    let agent =
        format!("echo \"$DACAPO_TASK $DACAPO_ITERATION $DACAPO_WORKSPACE $PWD $MINE\" >> {}", out.display());
    let mut command = world.command(&["exec", "--name", "t", "--iter", "2", "--agent-cmd", &agent, "go"]);
    let output = command.current_dir(world.repo().join("sub")).env("MINE", "kept").output().unwrap();
    assert!(output.status.success());
    let top = fs::canonicalize(world.repo()).unwrap();
    let top = top.display();
    let expected = format!("t 0 {top} {top} kept\nt 1 {top} {top} kept\n");
    assert_eq!(fs::read_to_string(out).unwrap(), expected);
}

#[test]
fn a1_an_agent_that_believes_its_environment_works_in_the_right_place() {
    let world = World::new();
    // A shell would look for itself; what it was given is what a program that does not look goes by.
    let agent = "tr '\\0' '\\n' < /proc/$$/environ | grep -E '^(PWD|DACAPO_WORKSPACE)=' > given";
    let mut command = world.command(&["exec", "--name", "t", "--agent-cmd", agent, "go"]);
    let output = command.env("PWD", world.scratch("elsewhere")).output().unwrap();
    assert!(output.status.success());
    let top = fs::canonicalize(world.repo()).unwrap();
    let given = world.read("given");
    let mut lines: Vec<&str> = given.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [format!("DACAPO_WORKSPACE={}", top.display()), format!("PWD={}", top.display())]);
}

#[test]
fn a1_an_agent_is_a_plain_process() {
    let world = World::new();
    // Nothing of ours reaches it: it ignores and blocks no signal that a child of the test's own does not, and has no
    // file open but its own.
    let signals = "grep -E 'SigBlk|SigIgn' /proc/self/status";
    let plain = std::process::Command::new("sh").args(["-c", signals]).output().unwrap();
    let agent = format!("{signals} > signals; ls /proc/$$/fd > files");
    let _ = world.exec(&["--name", "t", "--agent-cmd", &agent, "go"]).expect(0);
    let masks = |text: &str| -> Vec<u64> {
        text.lines().map(|line| u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap()).collect()
    };
    let plain = masks(&String::from_utf8(plain.stdout).unwrap());
    for (own, plain) in masks(&world.read("signals")).into_iter().zip(plain) {
        assert_eq!(own & !plain, 0, "{own:x} and not {plain:x}");
    }
    // While the shell writes this list it holds nothing but its own three files and the list.
    let files = world.read("files");
    let numbers: Vec<u32> = files.lines().map(|line| line.parse().unwrap()).collect();
    assert!(numbers.iter().all(|number| *number < 3 || *number == 10), "{numbers:?}");
}

#[test]
fn a1_an_agent_need_not_read_its_prompt() {
    let world = World::new();
    let file = world.scratch("prompt");
    fs::write(&file, "繼".repeat(1 << 18)).unwrap();
    let words = ["--iter", "2", "--agent-cmd", "exec 0<&-; echo x >> a", "--json", "--prompt-file"];
    let result = world.exec(&[&words[..], &[file.to_str().unwrap()]].concat()).expect(0).result();
    assert_eq!(World::counts(&result), [2, 2, 0]);
}

#[test]
fn a1_an_agents_own_variables_come_from_the_config() {
    let world = World::new();
    world.program("bot", "#!/bin/sh\necho \"$MODE\" > mode\n");
    world.config("agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nenv = { MODE = \"fast {x}\" }\n");
    let _ = world.exec(&["--name", "t", "go"]).expect(0);
    assert_eq!(world.read("mode"), "fast {x}\n");
}

#[test]
fn a7_a_profile_that_loops_continues_its_session_where_it_can() {
    let world = World::new();
    world.program("bot", "#!/bin/sh\necho x >> log\n");
    world.config(
        "agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nresume = [\"-c\"]\nloop_enabled = true\n\
         max_iterations = 2\nfollow_up = \"go on {x}\"\n",
    );
    let _ = world.exec(&["--name", "t", "Build it"]).expect(3);
    assert_eq!(world.prompt("t", 1), "Build it\n\ngo on {x}");
    let _ = world.exec(&["--name", "u", "--session", "fresh", "Build it"]).expect(3);
    assert!(world.prompt("u", 1).starts_with("<task_context>\n"));
}

#[test]
fn l13_failed_checks_and_words_go_between_prompt_and_follow_up() {
    let world = World::new();
    world.program("bot", "#!/bin/sh\necho x >> log\n");
    world.config("agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nresume = [\"-c\"]\n");
    let check = "echo because; false";
    let words = ["--name", "t", "--session", "resume", "--check", check, "--max-iterations", "2", "Build it"];
    let _ = world.exec(&words).expect(3);
    let expected = "Build it\n\nThese checks failed:\n`echo because; false` → exit 1\nbecause\n\nContinue.";
    assert_eq!(world.prompt("t", 1), expected);
    let _ = world.run(&["resume", "t", "with", "care", "--iter", "1"]).expect(3);
    let expected = expected.replace("\n\nContinue.", "\n\nThe user adds:\nwith care\n\nContinue.");
    assert_eq!(world.prompt("t", 2), expected);
}

#[test]
fn l13_an_agent_that_cannot_continue_is_refused_for_resume() {
    let world = World::new();
    world.program("bot", "#!/bin/sh\n");
    world.config(
        "agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nloop_enabled = true\nsession = \"resume\"\n",
    );
    let ran = world.exec(&["go"]).expect(2);
    assert!(ran.stderr.contains("set resume = […] in [agents.bot]"), "{}", ran.stderr);
}

#[test]
fn c4_a_commit_says_what_the_agent_says_it_did() {
    let world = World::new();
    let agent = "echo x > a; echo 'Return JWT on successful login. Adds the login route; tests for both.'";
    let _ = world.exec(&["--name", "auth", "--agent-cmd", agent, "go"]).expect(0);
    assert_eq!(
        world.git(&["log", "-1", "--format=%B"]),
        "[iter-0] Return JWT on successful login\n\nAdds the login route; tests for both.\n\n\
         Dacapo-Task: auth\nDacapo-Iteration: 0\nDacapo-Outcome: success"
    );
    let record = &world.events("auth", "iteration_finished")[0];
    assert_eq!(record["changed_files"], json!(["a"]));
    assert_eq!(record["commit_id"], world.git(&["rev-parse", "HEAD"]));
    let _ = world.exec(&["--name", "b", "--no-summary", "--agent-cmd", "echo hi; date > c", "go"]).expect(0);
    assert_eq!(world.subjects()[0], "[iter-0] Iteration 0 changes");
}

#[test]
fn c11_without_commits_everything_stays_in_the_tree() {
    let world = World::new();
    let agent = "echo $DACAPO_ITERATION > f$DACAPO_ITERATION";
    let words = ["--name", "t", "--no-commit", "--iter", "2", "--agent-cmd", agent, "--json", "go"];
    let result = world.exec(&words).expect(0).result();
    assert_eq!(result["base_commit"], result["last_commit"]);
    assert_eq!(world.subjects(), ["first"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "?? f0\n?? f1");
    let files: Vec<Value> =
        world.events("t", "iteration_finished").iter().map(|e| e["changed_files"].clone()).collect();
    assert_eq!(files, [json!(["f0"]), json!(["f0", "f1"])]);
}

#[test]
fn l16_what_differs_from_what_was_typed_is_said_beside_json_too() {
    let world = World::new();
    let words = ["--max-iterations", "101", "--until", "FIN-1", "--agent-cmd", "echo FIN-1", "--json", "go"];
    let ran = world.exec(&words).expect(0);
    assert!(ran.stderr.contains("--max-iterations 101 is outside 1…100: using 100"), "{}", ran.stderr);
    let _ = ran.result();
    world.program("bot", "#!/bin/sh\necho FIN-1\n");
    world.config("[agents.bot]\ncommand = [\"bot\"]\nloop_enabled = true\nmax_iterations = 500\n");
    let ran = world.exec(&["--agent", "bot", "--until", "FIN-1", "go"]).expect(0);
    assert!(ran.stdout.contains("is outside 1…100: using 100"), "{}", ran.stdout);
}

#[test]
fn r3_a_reader_that_leaves_does_not_end_the_task() {
    for flags in [&[][..], &["--json"]] {
        let world = World::new();
        let words = ["exec", "--name", "t", "--iter", "3", "--agent-cmd", "echo x >> a; echo said"];
        let mut command = world.command(&[&words[..], flags, &["go"]].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert!(child.wait().unwrap().success());
        assert_eq!(world.read("a"), "x\nx\nx\n");
    }
}

#[test]
fn s15_a_key_of_the_environment_reaches_no_record() {
    let world = World::new();
    let agent = "echo \"Used $SERVICE_API_KEY to log in.\"; echo x >> a";
    let check = "echo \"with $SERVICE_API_KEY\"; false";
    let words =
        ["exec", "--name", "t", "--max-iterations", "2", "--check", check, "--agent-cmd", agent, "go"];
    let mut command = world.command(&words);
    let key = "sk-0123456789abcdef";
    let ran = crate::support::Ran::from(command.env("SERVICE_API_KEY", key).output().unwrap()).expect(3);
    assert!(!ran.stdout.contains(key) && !ran.stderr.contains(key), "{}", ran.stdout);
    assert!(world.subjects()[0].starts_with("[iter-1] Used "), "{:?}", world.subjects());
    assert!(!world.git(&["log", "--format=%B"]).contains(key));
    for (path, bytes) in world.everything() {
        let holds = bytes.windows(key.len()).any(|window| window == key.as_bytes());
        assert!(!holds, "{}", path.display());
    }
    assert_eq!(
        world.run(&["logs", "--turn", "0"]).expect(0).stdout.len(),
        "Used  to log in.\n".len() + key.len()
    );
}

#[test]
fn c10_the_users_changes_are_set_apart_left_behind_or_taken_along() {
    let world = World::new();
    world.write("README.md", "mine\n");
    world.write("new", "mine too\n");
    let exec = |name: &str, flags: &[&str]| {
        let agent = "echo the agent >> README.md; echo x > log";
        let words = ["--name", name, "--agent-cmd", agent];
        world.exec(&[&words, flags, &["go"]].concat()).expect(0).stdout
    };
    let said = exec("behind", &["--worktree"]);
    assert!(said.contains("2 uncommitted files"), "{said}");
    assert_eq!(world.tree("dacapo/behind"), ["README.md", "log"]);
    assert_eq!(world.git(&["show", "dacapo/behind:README.md"]), "hello\nthe agent");
    let _ = exec("along", &["--worktree", "--with-changes"]);
    assert_eq!(world.git(&["show", "dacapo/along:README.md"]), "mine\nthe agent");
    assert_eq!(world.git(&["show", "dacapo/along:new"]), "mine too");
    assert_eq!(world.subjects(), ["first"], "the user's own branch has not moved");
    let _ = exec("apart", &["--allow-dirty"]);
    assert_eq!(world.subjects().len(), 3);
    assert_eq!(world.git(&["show", "HEAD~1:README.md"]), "mine");
    assert_eq!(world.git(&["show", "--format=", "--name-only", "HEAD~1"]), "README.md\nnew");
    assert_eq!(world.git(&["show", "--format=", "--name-only", "HEAD"]), "README.md\nlog");
    let rescued = world.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue/apart"]);
    assert_eq!(rescued.lines().count(), 1, "{rescued}");
}
