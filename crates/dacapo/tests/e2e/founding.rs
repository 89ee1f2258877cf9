//! The founding cases of the loop, from outside.

use std::fs;

use crate::support::World;

const FIVE: &str = "echo $DACAPO_ITERATION >> log; test $DACAPO_ITERATION != 1";

#[test]
fn l8_five_iterations_are_attempted_when_the_second_fails() {
    let world = World::new();
    let ran = world.exec(&["--name", "t", "--iter", "5", "--agent-cmd", FIVE, "--json", "go"]).expect(0);
    let result = ran.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(World::counts(&result), [5, 4, 1]);
    assert_eq!(world.read("log"), "0\n1\n2\n3\n4\n");
    let finished = world.events("t", "iteration_finished");
    let failed: Vec<_> = finished.iter().filter(|e| e["success"] == false).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["iteration"], 1);
    let of = |subject: &str| subject.split(' ').next().unwrap().to_owned();
    let subjects: Vec<String> = world.subjects().iter().map(|subject| of(subject)).collect();
    assert_eq!(subjects, ["[iter-4]", "[iter-3]", "[iter-2]", "[iter-1]", "[iter-0]", "first"]);
    let trailers = world.git(&["log", "-1", "--format=%(trailers:only)", "--skip=3"]);
    assert_eq!(trailers, "Dacapo-Task: t\nDacapo-Iteration: 1\nDacapo-Outcome: failure");
    world.assert_nothing_left("t");
}

#[test]
fn l3_a_promise_in_the_second_of_five_iterations_completes() {
    let world = World::new();
    let agent = "echo $DACAPO_ITERATION >> log; test $DACAPO_ITERATION = 0 || echo I am DONE-42 now";
    let words = ["--name", "t", "--until", "DONE-42", "--max-iterations", "5", "--agent-cmd", agent];
    let result = world.exec(&[&words[..], &["--json", "go"]].concat()).expect(0).result();
    assert_eq!((&result["outcome"], &result["stop_reason"]), (&"completed".into(), &"promise".into()));
    assert_eq!(result["verified"], false, "a promise is a claim");
    assert_eq!(World::counts(&result), [2, 2, 0]);
    assert_eq!(world.read("log"), "0\n1\n");
    world.assert_nothing_left("t");
}

#[test]
fn l5_without_the_promise_three_iterations_are_max_reached() {
    let agent = "echo $DACAPO_ITERATION >> log; echo still at it";
    for flags in [&["--until", "X-1", "--max-iterations", "3"][..], &["--max-iterations", "3"]] {
        let world = World::new();
        let words = [&["--name", "t", "--agent-cmd", agent, "--json"], flags, &["go"]].concat();
        let result = world.exec(&words).expect(3).result();
        assert_eq!(
            (&result["outcome"], &result["stop_reason"]),
            (&"max_reached".into(), &"iterations".into()),
            "{flags:?}"
        );
        assert_eq!(World::counts(&result), [3, 3, 0], "{flags:?}");
        assert_eq!(world.status("t")["status"], "stopped");
    }
}

#[test]
fn a7_a_profile_that_loops_runs_its_iterations_without_a_promise() {
    let world = World::new();
    world.program("bot", "#!/bin/sh\necho $DACAPO_ITERATION >> log\n");
    world.config(
        "agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nloop_enabled = true\nmax_iterations = 3\n",
    );
    let result = world.exec(&["--name", "t", "--json", "go"]).expect(3).result();
    assert_eq!(result["outcome"], "max_reached");
    assert_eq!(World::counts(&result), [3, 3, 0]);
    assert_eq!(world.events("t", "task_created")[0]["looping"], true);
}

#[test]
fn a7_a_profiles_promise_ends_its_loop_and_counts_for_nothing_when_the_loop_is_off() {
    let profile = |on: bool| {
        format!(
            "agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nloop_enabled = {on}\n\
             max_iterations = 4\ncompletion_promise = \"FIN-7\"\n"
        )
    };
    for (on, attempted) in [(true, 2), (false, 1)] {
        let world = World::new();
        world.program("bot", "#!/bin/sh\necho x >> log\ntest $DACAPO_ITERATION = 0 || echo FIN-7\n");
        world.config(&profile(on));
        let result = world.exec(&["--name", "t", "--json", "go"]).expect(0).result();
        assert_eq!(World::counts(&result)[0], attempted, "loop_enabled = {on}");
        let told = world.prompt("t", 0).contains("FIN-7");
        assert_eq!(told, on, "the agent is told of a promise that counts, and of no other");
    }
}

#[test]
fn a7_a_profiles_promise_holds_beside_iterations_and_time() {
    for bound in [["--iter", "3"], ["--time", "1h"]] {
        let world = World::new();
        world.program("bot", "#!/bin/sh\necho x >> log\necho FIN-7\n");
        world.config(
            "agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nloop_enabled = true\n\
             completion_promise = \"FIN-7\"\n",
        );
        let words = [&["--name", "t", "--json"], &bound[..], &["go"]].concat();
        let result = world.exec(&words).expect(0).result();
        assert_eq!((&result["outcome"], World::counts(&result)[0]), (&"completed".into(), 1), "{bound:?}");
    }
}

#[test]
fn l3_an_empty_promise_in_a_profile_is_none() {
    let world = World::new();
    world.program("bot", "#!/bin/sh\ntrue\n");
    world.config(
        "agent = \"bot\"\n[agents.bot]\ncommand = [\"bot\"]\nloop_enabled = true\nmax_iterations = 4\n\
         completion_promise = \"\"\n",
    );
    let result = world.exec(&["--name", "t", "--json", "go"]).expect(3).result();
    assert_eq!((&result["outcome"], World::counts(&result)[0]), (&"max_reached".into(), 4));
}

#[test]
fn l1_without_loop_flags_it_runs_once_and_no_loop_is_registered() {
    let world = World::new();
    let result = world.exec(&["--name", "t", "--agent-cmd", "echo a > a", "--json", "go"]).expect(0).result();
    assert_eq!(World::counts(&result), [1, 1, 0]);
    assert_eq!(world.events("t", "task_created")[0]["looping"], false);
    assert_eq!(world.prompt("t", 0), "go", "the prompt is the user's, unchanged");
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(!logs.contains("oop"), "{logs}");
    let failed = world.exec(&["--name", "u", "--agent-cmd", "exit 4", "--json", "go"]).expect(1).result();
    assert_eq!((&failed["outcome"], World::counts(&failed)), (&"failed".into(), [1, 0, 1]));
    world.assert_nothing_left("t");
}

#[test]
fn l13_a_follow_up_is_prompt_blank_line_text() {
    let world = World::new();
    let saved = world.scratch("prompts");
    fs::create_dir(&saved).unwrap();
    world.program(
        "bot",
        &format!(
            "#!/bin/sh\ncat > {0}/$DACAPO_ITERATION\necho \"$@\" > {0}/args-$DACAPO_ITERATION\n",
            saved.display()
        ),
    );
    let bot = "[agents.bot]\ncommand = [\"bot\", \"-p\"]\nresume = [\"--continue\"]\n";
    let read = |name: &str| fs::read_to_string(saved.join(name)).unwrap();
    for (name, before, behind, word) in [
        ("zh", "language = \"zh-CN\"\n", "", "继续"),
        ("tw", "language = \"zh-TW\"\n", "", "繼續"),
        ("own", "", "loop_enabled = true\n", "繼續"),
        ("t", "", "", "Continue."),
    ] {
        world.config(&format!("{before}{bot}{behind}"));
        let words = ["--name", name, "--agent", "bot", "--session", "resume", "--iter", "2"];
        world.exec(&[&words[..], &["Build the feature"]].concat()).expect(0);
        assert_eq!(read("0"), "Build the feature");
        assert_eq!(read("1"), format!("Build the feature\n\n{word}"));
        assert_eq!((read("args-0").as_str(), read("args-1").as_str()), ("-p\n", "-p --continue\n"));
    }
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains("] Starting loop follow-up for task t (iteration 1)\n"), "{logs}");
}

#[test]
fn l13_a_session_that_dacapo_names_is_the_one_that_is_continued() {
    let world = World::new();
    let args = world.scratch("args");
    world.program("bot", &format!("#!/bin/sh\necho \"$@\" >> {}\n", args.display()));
    world.config(
        "[agents.bot]\ncommand = [\"bot\", \"--id\", \"{session}\"]\nresume = [\"--resume\", \"{session}\"]\n",
    );
    world.exec(&["--name", "t", "--agent", "bot", "--session", "resume", "--iter", "2", "go"]).expect(0);
    let text = fs::read_to_string(args).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines[0].len(), 2);
    let id = lines[0][1];
    assert_eq!(id.len(), 36, "{id}");
    assert_eq!(lines[1], ["--id", id, "--resume", id]);
}

#[test]
fn l13_a_follow_up_to_the_scripted_agent_goes_into_its_session() {
    let world = World::new();
    let saved = world.scratch("prompt");
    let agent = world.rehearsal(&format!(
        "iterations:\n  - - save_prompt: {0}-{{iteration}}\n    - write: {{ path: a, text: '{{iteration}}' }}\n",
        saved.display()
    ));
    let words = ["--name", "t", "--agent", &agent, "--session", "resume", "--iter", "3", "Build the feature"];
    world.exec(&words).expect(0);
    for (iteration, prompt) in
        ["Build the feature", "Build the feature\n\nContinue.", "Build the feature\n\nContinue."]
            .iter()
            .enumerate()
    {
        let path = world.scratch(&format!("prompt-{iteration}"));
        assert_eq!(fs::read_to_string(path).unwrap(), *prompt);
    }
    let turns = world.events("t", "turn_finished");
    let sessions: Vec<_> = turns.iter().map(|turn| turn["session_id"].as_str().unwrap()).collect();
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
}

#[test]
fn l13_without_a_session_id_the_loop_ends_and_says_so() {
    let world = World::new();
    let agent = world.rehearsal("session: false\niterations:\n  - - write: { path: a, text: x }\n");
    let words = ["--name", "t", "--agent", &agent, "--session", "resume", "--iter", "3", "--json", "go"];
    let result = world.exec(&words).expect(1).result();
    assert_eq!((&result["outcome"], &result["stop_reason"]), (&"failed".into(), &"permanent_error".into()));
    assert_eq!(World::counts(&result), [1, 1, 0]);
    let logs = world.run(&["logs", "t"]).expect(0).stdout;
    assert!(logs.contains("] Failed to get session ID for loop follow-up (task t)\n"), "{logs}");
    assert!(logs.ends_with("] Removed loop state for task t\n"), "{logs}");
}

#[test]
fn l3_an_empty_promise_is_refused_as_a_flag_and_none_in_a_profile() {
    let world = World::new();
    let agent = "[\"sh\", \"-c\", \"echo x >> a; echo done\"]";
    world.config(&format!(
        "keep_awake = false\n[agents.bot]\ncommand = {agent}\nloop_enabled = true\nmax_iterations = 2\ncompletion_promise = \"\"\n"
    ));
    let ran = world.exec(&["--name", "t", "--until", "", "--agent", "bot", "go"]).expect(2);
    assert!(ran.stderr.starts_with("error: --until is empty"), "{}", ran.stderr);
    assert!(world.tasks().is_empty());
    let result = world.exec(&["--name", "t", "--agent", "bot", "--json", "go"]).result();
    assert_eq!(World::counts(&result), [2, 2, 0]);
    assert_eq!(world.prompt("t", 0), "go", "no rule is made of an empty promise");
}

#[test]
fn l7_a_promise_in_two_writes_is_found() {
    let split = "iterations:\n  - - split: { text: '<promise>COMPLETE</promise>', at: 9, pause: 50ms }\n";
    let shell = ["--agent-cmd", "printf 'all <promise>COM'; sleep 0.05; printf 'PLETE</promise> here'"];
    let world = World::new();
    let found = |agent: &[&str]| {
        let until = ["--until", "<promise>COMPLETE</promise>", "--json", "go"];
        let result = world.exec(&[agent, &until].concat()).expect(0).result();
        assert_eq!((&result["stop_reason"], World::counts(&result)), (&"promise".into(), [1, 1, 0]));
    };
    found(&shell);
    found(&["--agent", &world.rehearsal(split)]);
    found(&["--agent", &world.rehearsal(&format!("output: text\n{split}"))]);
    assert_eq!(world.tasks(), ["go", "go-2", "go-3"]);
}

#[test]
fn l6_a_promise_in_the_last_allowed_iteration_is_completed() {
    let world = World::new();
    let agent = "echo x >> log; test $DACAPO_ITERATION != 2 || printf FIN-9";
    for limit in ["--iter", "--max-iterations"] {
        let words = ["--until", "FIN-9", limit, "3", "--agent-cmd", agent, "--json", "go"];
        let result = world.exec(&words).expect(0).result();
        assert_eq!((&result["outcome"], World::counts(&result)), (&"completed".into(), [3, 3, 0]), "{limit}");
    }
}

#[test]
fn l3_a_promise_of_a_failed_iteration_does_not_count() {
    let world = World::new();
    let agent = "echo x >> log; echo FIN-9; test $DACAPO_ITERATION != 0";
    let words = ["--until", "FIN-9", "--agent-cmd", agent, "--json", "go"];
    let result = world.exec(&words).expect(0).result();
    assert_eq!(World::counts(&result), [2, 1, 1]);
}
