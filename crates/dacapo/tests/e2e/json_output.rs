//! All that programs read, of tasks of every fate, is documented: what commands print, and the files of a task.

use std::fs;

use dacapo_app::json_reference::{Reference, Root};
use serde_json::Value;

use crate::documented::{assert_documented, printed};
use crate::support::{World, wait_for, whole_lines};

/// The journal and the spec of every task, and what tells of milestones in the checkout.
#[track_caller]
pub(crate) fn check_files(world: &World) {
    let journal = Reference::journal();
    for name in world.tasks() {
        let dir = world.task_dir(&name);
        for line in whole_lines(&dir.join("journal.jsonl")) {
            assert_documented(&journal, Root::Event, &line);
        }
        let spec = serde_json::from_slice(&fs::read(dir.join("spec.json")).unwrap()).unwrap();
        assert_documented(&journal, Root::Spec, &spec);
    }
    for (file, root) in [("state.json", Root::OwnState), ("milestones/two.json", Root::OwnFile)] {
        if let Ok(bytes) = fs::read(world.repo().join(".dacapo").join(file)) {
            assert_documented(&journal, root, &serde_json::from_slice(&bytes).unwrap());
        }
    }
}

/// The types of objects in what was printed.
fn types(stdout: &str) -> Vec<String> {
    let mut types: Vec<String> = stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    types.sort();
    types.dedup();
    types
}

#[test]
fn l16_every_event_of_a_loop_is_documented() {
    let world = World::new();
    let report = world.scratch("told.json");
    world.config(&format!("[notify]\ncommand = \"cat > {}\"\n", report.display()));
    let agent = world.rehearsal(
        "iterations:
  - - say: Working.
    - think: Which file?
    - plan: [one, two]
    - tool: { name: Edit, summary: a.txt, output: ok, failed: false }
    - write: { path: a.txt, text: x }
    - secret: .env
    - usage: { input: 30, output: 4, cached: 2, cost_usd: 0.01 }
    - retry: { status: 503, message: busy, times: 2, pause: 1ms }
    - refuse: write b.txt
    - limit: { resets_in: 1s, attempts: 1, message: usage limit reached }
    - fail: { message: connection lost, code: 1, permanent: false, attempts: 1 }
  - - write: { path: b.txt, text: x }
    - usage: { input: 30, output: 4, cost_usd: 0.01 }
    - done: true
",
    );
    let words = [
        "--name",
        "t",
        "--worktree",
        "--agent",
        &agent,
        "--check",
        "test -e b.txt",
        "--until",
        "<promise>DONE</promise>",
    ];
    let words =
        [&words[..], &["--env", "MODE=a", "--max-iterations", "4", "--max-cost", "5", "--json", "go"]];
    let ran = world.exec(&words.concat()).expect(0);
    let types = types(&ran.stdout);
    for kind in ["agent_event", "check_finished", "committed", "waiting", "proof_started", "task_finished"] {
        assert!(types.iter().any(|seen| seen == kind), "{kind} is not among {types:?}");
    }
    for words in [
        &["status", "t"][..],
        &["list"],
        &["list", "--size", "--all", "--done"],
        &["wait", "t"],
        &["logs", "t"],
        &["attach", "t"],
        &["diff", "t"],
    ] {
        let _ = world.run(&[words, &["--json"]].concat()).expect(0);
    }
    let told = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_documented(printed(), Root::Notification, &told);
    check_files(&world);
}

#[test]
fn s6_tasks_that_fail_ask_and_pause_are_documented() {
    let world = World::new();
    let failing = world.scratch("failing.yaml");
    fs::write(&failing, "iterations:\n  - - write: { path: a, text: x }\n    - exit: 3\n").unwrap();
    let failing = format!("rehearsal:{}", failing.display());
    let words = ["--name", "failed", "--worktree", "--agent", &failing, "--iter", "2", "--max-failures", "1"];
    let _ = world.exec(&[&words[..], &["--json", "go"]].concat()).expect(1);
    let agent = world.rehearsal("iterations:\n  - - say: '<blocked>Which one?</blocked>'\n");
    let words = ["--name", "asks", "--agent", &agent, "--check", "test -e no", "--json", "go"];
    let _ = world.exec(&words).expect(4);
    let slow = world.scratch("slow.yaml");
    fs::write(&slow, "iterations:\n  - - write: { path: a, text: x }\n    - hang: true\n").unwrap();
    let slow = format!("rehearsal:{}", slow.display());
    let _ = world
        .run(&["spawn", "--name", "paused", "--agent", &slow, "--iter", "2", "--json", "go on"])
        .expect(0);
    wait_for("the turn", || {
        world.task_dir_or_none("paused").is_some() && !world.events("paused", "turn_started").is_empty()
    });
    let _ = world.run(&["list", "--json"]).expect(0);
    let _ = world.run(&["tell", "paused", "hurry"]).expect(0);
    let _ = world.run(&["set", "paused", "iter=9"]).expect(0);
    let _ = world.run(&["pause", "paused", "--now", "--json"]).expect(0);
    let _ = world.run(&["wait", "paused", "--json"]).expect(4);
    let _ = world.run(&["kill", "paused", "--json"]);
    for name in ["failed", "asks", "paused"] {
        let _ = world.run(&["status", name, "--json"]).expect(0);
    }
    let _ = world.run(&["list", "--json"]).expect(0);
    let error = world.run(&["status", "nobody", "--json"]).expect(2);
    assert_eq!(types(&error.stdout), ["error"]);
    check_files(&world);
}

#[test]
fn s11_what_becomes_of_a_task_after_its_end_is_documented() {
    let world = World::new();
    let writes = |name: &str, path: &str| {
        let file = world.scratch(&format!("{name}.yaml"));
        fs::write(&file, format!("iterations:\n  - - write: {{ path: {path}, text: {name} }}\n")).unwrap();
        let agent = format!("rehearsal:{}", file.display());
        let check = format!("grep -qs {name} {path}");
        let words = ["--name", name, "--worktree", "--agent", &agent, "--check", &check, "--json", "go"];
        let _ = world.exec(&words).expect(0);
    };
    writes("one", "README.md");
    writes("two", "README.md");
    writes("three", "c.txt");
    let listed = world.run(&["list", "--json"]).expect(0);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let of =
        |name: &str| listed.as_array().unwrap().iter().find(|task| task["name"] == name).unwrap().clone();
    assert_eq!(
        (&of("two")["merges"], &of("three")["merges"]["cleanly"], &of("two")["group"]),
        (
            &serde_json::json!({
                "cleanly": false, "into": "main", "conflicts": [{"task": "one", "files": ["README.md"]}],
            }),
            &true.into(),
            &"ready".into(),
        )
    );
    assert_eq!(of("three")["next"], serde_json::json!([{"command": "dacapo merge three"}]));
    let _ = world.run(&["merge", "one,two", "--dry-run", "--json"]).expect(0);
    let merged = world.run(&["merge", "one,two", "--no-agent", "--json"]).expect(1);
    assert_eq!(types(&merged.stdout), ["merge_finished", "merge_plan", "merge_result"]);
    let listed = world.run(&["list", "--json"]).expect(0);
    assert!(
        listed.stdout.contains(r#""conflicts":[{"branch":"main","files":["README.md"]}]"#),
        "{}",
        listed.stdout
    );
    for words in [
        &["status", "one"][..],
        &["rename", "three", "four"],
        &["drop", "four"],
        &["undo", "--list"],
        &["undo", "four"],
        &["drop", "four"],
        &["prune", "--dry-run"],
        &["prune", "--dropped"],
    ] {
        let _ = world.run(&[words, &["--json"]].concat()).expect(0);
    }
    check_files(&world);
}

#[test]
fn s2_what_other_commands_print_is_documented() {
    let world = World::new();
    world.config("[notify]\ncommand = \"exit 3\"\n");
    let agent = world.rehearsal("iterations:\n  - - write: { path: a, text: x }\n");
    world.write("package-lock.json", "{}");
    for (words, code) in [
        (&["init"][..], 0),
        (&["config", "show"], 0),
        (&["trust", "--list"], 0),
        (&["notify", "test"], 1),
        (
            &[
                "exec",
                "--dry-run",
                "--agent",
                &agent,
                "--check",
                "make",
                "--env",
                "A=b",
                "--time",
                "1h",
                "go",
            ],
            0,
        ),
        (&["spawn", "--dry-run", "--agent", &agent, "go on"], 0),
    ] {
        let _ = world.run(&[words, &["--json"]].concat()).expect(code);
    }
    // Whether an agent can be used here is not for a test to say.
    let _ = world.run(&["doctor", "--json"]);
}
