//! Known secrets stay out of records, prompts and commits, wherever they come from and wherever an agent puts them.

use std::path::Path;

use serde_json::{Value, json};

use crate::misdeed::all_files;
use crate::support::{Ran, World};

const KEY: &str = "sk-proj-a1b2c3d4e5f6g7h8";

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The files of the data directory that hold a text.
fn records_with(world: &World, text: &str) -> Vec<String> {
    let records = all_files(&world.data()).into_iter().filter(|(path, _)| !path.contains("/worktrees/"));
    let leaks = records.filter(|(path, bytes)| path.contains(text) || holds(bytes, text));
    leaks.map(|(path, _)| path.rsplit('/').next().unwrap().to_owned()).collect()
}

fn spec(world: &World, task: &str) -> Value {
    serde_json::from_slice(&std::fs::read(world.task_dir(task).join("spec.json")).unwrap()).unwrap()
}

fn with_key(world: &World, words: &[&str]) -> Ran {
    Ran::from(world.command(words).env("API_TOKEN", KEY).output().unwrap())
}

#[test]
fn s15_the_variables_of_an_agent_reach_no_record() {
    let world = World::new();
    let bot = r#"echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo I used $OPENAI_API_KEY to log in.; echo $OPENAI_API_KEY >&2; test -n "$OPENAI_API_KEY""#;
    let config = |env: &str| {
        world.config(&format!(
            "keep_awake = false\n[agents.bot]\ncommand = [\"sh\", \"-c\", '''cat > /dev/null; {bot}''']\n{env}\n"
        ));
    };
    config(&format!("env = {{ OPENAI_API_KEY = \"{KEY}\", MODE = \"fast\" }}"));
    for words in [&["exec", "--name", "t", "--worktree"][..], &["spawn", "--name", "u"]] {
        let words = [words, &["--agent", "bot", "--iter", "2", "go"]].concat();
        let ran = world.run(&words).expect(0);
        let _ = world.run(&["wait", words[2]]).expect(0);
        ran.silent_about(KEY);
        world.run(&["logs", words[2]]).expect(0).silent_about(KEY);
        let message = world.git(&["log", "--format=%B", &format!("dacapo/{}", words[2])]);
        assert!(!message.contains(KEY) && message.contains("I used "), "{message}");
    }
    assert_eq!(records_with(&world, KEY), Vec::<String>::new());
    assert_eq!(spec(&world, "t")["agents"][0]["env"], json!([["MODE", "fast"], ["OPENAI_API_KEY", null]]));

    let again = |task: &str| world.run(&["resume", task, "--iter", "1"]);
    let _ = again("t").expect(0);
    let _ = world.run(&["rerun", "t", "--name", "v", "--iter", "1"]).expect(0);
    let _ = world.run(&["wait", "v"]).expect(0);
    // The settings have it no more: whoever goes on gives it.
    config("");
    again("u")
        .expect(2)
        .says("agent 'bot' of task 'u' was given OPENAI_API_KEY, which is a secret and not stored")
        .says("do:   OPENAI_API_KEY=… dacapo resume u");
    let resumed = world.command(&["resume", "u", "--iter", "1"]).env("OPENAI_API_KEY", KEY).output().unwrap();
    let _ = Ran::from(resumed).expect(0);
    let _ = world.run(&["wait", "u"]).expect(0);
    assert_eq!(World::counts(&world.status("u")["result"]), [3, 3, 0], "it was there each time");
    assert_eq!(records_with(&world, KEY), Vec::<String>::new());
}

#[test]
fn c9_a_file_that_holds_a_known_secret_is_left_out_and_the_agent_is_told() {
    let world = World::new();
    world.write("tracked.py", "key = None\n");
    let _ = world.git(&["add", "."]);
    let _ = world.git(&["commit", "-qm", "more"]);
    let agent = r#"cat > /dev/null; echo work > ok$DACAPO_ITERATION
        if test $DACAPO_ITERATION = 0; then
            echo "key = \"$API_TOKEN\"" > settings.py; echo "key = \"$API_TOKEN\"" > tracked.py; git add tracked.py
            printf '\0\1%s\2' "$(printf %s "$API_TOKEN" | base64)" > data.bin
        fi
        if test $DACAPO_ITERATION = 2; then echo 'key = env("API_TOKEN")' > settings.py; fi
        echo done"#;
    let token = format!("API_TOKEN={KEY}");
    let words =
        ["exec", "--name", "t", "--worktree", "--iter", "3", "--env", &token, "--agent-cmd", agent, "go"];
    let ran = world.run(&words).expect(0);
    ran.says("not committed: settings.py: it holds the value of API_TOKEN").silent_about(KEY);
    ran.says("not committed: tracked.py: it holds the value of API_TOKEN");
    let log = world.git(&["log", "--reverse", "--format=%s", "--name-only", "dacapo/t"]);
    let files: Vec<&str> = log.lines().filter(|line| !line.is_empty() && !line.starts_with('[')).collect();
    assert_eq!(&files[files.len() - 4..], ["ok0", "ok1", "ok2", "settings.py"], "{log}");
    assert_eq!(world.git(&["show", "dacapo/t:tracked.py"]), "key = None");
    let told = world.prompt("t", 1);
    for file in ["settings.py", "tracked.py", "data.bin"] {
        assert!(told.contains(&format!("- {file}: it holds the value of API_TOKEN")), "{told}");
    }
    let left = &world.events("t", "commit_intent")[0]["left_out"];
    assert_eq!(left.as_array().unwrap().len(), 3, "{left}");
    assert_eq!(left[1], json!({"path": "settings.py", "why": "holds_secret", "variable": "API_TOKEN"}));
    assert_eq!(records_with(&world, KEY), Vec::<String>::new());
}

#[test]
fn s15_a_secret_in_the_name_of_a_file_is_masked_and_the_file_left_out() {
    let world = World::new();
    let agent = r#"cat > /dev/null; echo x > "a-$API_TOKEN.txt"; mkdir -p d; echo y > "d/$API_TOKEN"; echo z > ok$DACAPO_ITERATION; echo done"#;
    let words = [
        "exec",
        "--name",
        "t",
        "--iter",
        "2",
        "--json",
        "--check",
        "test -e nothing",
        "--agent-cmd",
        agent,
        "go",
    ];
    let ran = with_key(&world, &words);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    ran.silent_about(KEY);
    assert_eq!(records_with(&world, KEY), Vec::<String>::new());
    let tree = world.git(&["log", "--format=", "--name-only"]);
    assert_eq!(tree, "ok1\nok0\nREADME.md");
    let told = world.prompt("t", 1);
    let stars = "*".repeat(KEY.len());
    assert!(told.contains(&format!("- a-{stars}.txt: its name holds the value of API_TOKEN")), "{told}");
    world.run(&["logs", "t"]).expect(0).silent_about(KEY);
    let status = with_key(&world, &["status", "t", "--json"]).expect(0);
    status.silent_about(KEY);
}

#[test]
fn c9_a_secret_that_the_agent_committed_is_named_and_not_merged() {
    let world = World::new();
    let agent = r#"cat > /dev/null; echo "key = $API_TOKEN" > settings.py; git add -A; git commit -qm mine
        git rm -q settings.py; git commit -qm 'and gone'; echo work > ok; echo done"#;
    let ran =
        with_key(&world, &["exec", "--name", "t", "--worktree", "--iter", "1", "--agent-cmd", agent, "go"]);
    let ran = ran.expect(0);
    ran.says("the agent committed settings.py, which holds the value of API_TOKEN").silent_about(KEY);
    let found =
        world.events("t", "notice").into_iter().find(|event| event["what"] == "secret_committed").unwrap();
    assert_eq!((&found["path"], &found["variable"]), (&json!("settings.py"), &json!("API_TOKEN")), "{found}");

    let before = world.git(&["rev-parse", "HEAD"]);
    // By the record alone: the value is not known here.
    for words in [&["merge", "t"][..], &["merge", "t", "--dry-run"]] {
        world
            .run(words)
            .expect(2)
            .says("settings.py, in a commit of task 't', holds the value of API_TOKEN")
            .says("kept:")
            .says("do:   dacapo merge t --allow-secret");
    }
    assert_eq!(world.git(&["rev-parse", "HEAD"]), before);
    world
        .run(&["pr", "t"])
        .expect(2)
        .says("settings.py, in a commit of task 't', holds the value of API_TOKEN")
        .says("kept: everything; nothing was pushed")
        .says("do:   dacapo pr t --allow-secret");
    // What it came to does not have it.
    let _ = world.run(&["merge", "t", "--squash", "--dry-run"]).expect(0);
    let _ = world.run(&["merge", "t", "--allow-secret"]).expect(0);
    assert!(Path::new(&world.repo().join("ok")).exists());
}

#[test]
fn c9_a_secret_that_is_known_only_now_is_not_merged_either() {
    let world = World::new();
    let agent = format!("cat > /dev/null; echo key = {KEY} > settings.py; echo done");
    let _ = world.exec(&["--name", "t", "--worktree", "--iter", "1", "--agent-cmd", &agent, "go"]).expect(0);
    with_key(&world, &["merge", "t"])
        .expect(2)
        .says("settings.py, in a commit of task 't', holds the value of API_TOKEN");
    with_key(&world, &["merge", "t", "--squash"]).expect(2).says("--allow-secret");
    let _ = world.run(&["merge", "t"]).expect(0);
}
