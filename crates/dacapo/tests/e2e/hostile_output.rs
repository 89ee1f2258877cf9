//! Agents that print too much, rubbish, secrets, or what looks like our own records; and those that touch our records.

use std::fs::{self, File};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::misdeed::{all_files, play};
use crate::support::{World, own_memory_kb, wait_for};

const HUNDRED_MB: u64 = 100 << 20;

#[test]
fn r3_a_hundred_megabytes_without_a_newline_need_no_memory() {
    let world = World::new();
    let agent =
        format!("head -c {HUNDRED_MB} /dev/zero | tr '\\0' x; printf '<promise>OK</promise>'; echo > f");
    let words = ["exec", "--name", "t", "--until", "<promise>OK</promise>", "--agent-cmd", &agent, "go"];
    let log = world.scratch("log");
    let mut child = world.command(&words).stdout(File::create(&log).unwrap()).spawn().unwrap();
    let mut peak_kb = 0;
    wait_for("the run to end", || {
        peak_kb = peak_kb.max(own_memory_kb(child.id()));
        child.try_wait().unwrap().is_some()
    });
    let said = fs::read_to_string(&log).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(said.contains("● finished, unverified · 1 iteration"), "the promise at the very end: {said}");
    assert!(said.len() < 10_000, "people are not flooded");
    let raw = fs::metadata(world.task_dir("t").join("turns/0000.raw")).unwrap().len();
    assert_eq!(raw, HUNDRED_MB + "<promise>OK</promise>".len() as u64);
    assert_eq!(world.events("t", "turn_finished")[0]["output_bytes"], raw);
    assert!(peak_kb > 0 && peak_kb < 30 << 10, "{peak_kb} kB");
    world.ended("completed", [1, 1, 0]);
}

#[test]
fn r3_invalid_utf8_is_kept_byte_for_byte_and_json_stays_json() {
    let world = World::new();
    let noise: Vec<u8> = (0..=255_u8).cycle().take(4096).chain(*b"\xe7\xb9\nfine\xff\xfe\xf0\x9f").collect();
    fs::write(world.scratch("noise"), &noise).unwrap();
    let agent = "cat ../noise; cat ../noise >&2; echo x > f$DACAPO_ITERATION";
    let words = ["exec", "--name", "t", "--iter", "2", "--agent-cmd", agent, "--json", "go"];
    let output = world.command(&words).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    let text = std::str::from_utf8(&output.stdout).expect("JSON is UTF-8");
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    for turn in ["0000.raw", "0000.err", "0001.raw"] {
        assert_eq!(fs::read(world.task_dir("t").join("turns").join(turn)).unwrap(), noise, "{turn}");
    }
    assert_eq!(world.subjects().len(), 3);
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn r3_terminal_escapes_reach_neither_terminal_nor_prompt_nor_commit() {
    let world = World::new();
    let noise = r"printf '\033[2J\033[31mred\033[0m \033]0;title\007done\r\033[Kagain\033[1A\n'";
    let ran = play(&world, &[], noise).expect(0);
    ran.silent_about("\u{1b}").silent_about("\u{7}");
    world.status_text().silent_about("\u{1b}").silent_about("\u{7}");
    let message = world.git(&["log", "--format=%B"]);
    assert!(!message.contains('\u{1b}') && !message.contains('\u{7}'), "{message:?}");
    assert!(!world.prompt("t", 2).contains('\u{1b}'), "{:?}", world.prompt("t", 2));
    let raw = fs::read(world.task_dir("t").join("turns/0001.raw")).unwrap();
    assert!(raw.windows(4).any(|bytes| bytes == b"\x1b[2J"), "the raw file has it all");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn s15_secrets_of_the_environment_reach_no_record() {
    const KEY: &str = "sk-proj-a1b2c3d4e5f6g7h8";
    let world = World::new();
    let agent = "echo x > f$DACAPO_ITERATION; echo $OPENAI_API_KEY >&2; echo key is $OPENAI_API_KEY; \
                 printf '%s' $OPENAI_API_KEY | cut -c1-9 | tr -d '\\n'; sleep 0.2; \
                 printf '%s\\n' $OPENAI_API_KEY | cut -c10-; echo I used $OPENAI_API_KEY to log in.; \
                 test $DACAPO_ITERATION != 1";
    let prompt = format!("log in with {KEY}");
    let words = ["exec", "--name", "t", "--iter", "3", "--json", "--check", "echo $OPENAI_API_KEY; false"];
    let words: Vec<&str> = words.into_iter().chain(["--agent-cmd", agent, &prompt]).collect();
    let output =
        world.command(&words).env("OPENAI_API_KEY", KEY).env("DACAPO_LOG", "debug").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let holds = |bytes: &[u8]| bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
    assert!(!holds(&output.stdout), "--json: {}", String::from_utf8_lossy(&output.stdout));
    assert!(!holds(&output.stderr), "logs: {}", String::from_utf8_lossy(&output.stderr));
    let leaks: Vec<String> = all_files(&world.data())
        .into_iter()
        .filter(|(_, bytes)| holds(bytes))
        .map(|(path, _)| path.rsplit('/').next().unwrap().to_owned())
        .collect();
    // The user wrote it into the prompt, so what the agent is told and what was asked hold it: nothing else.
    let allowed = |name: &String| name == "spec.json" || name.ends_with(".prompt");
    assert_eq!(leaks.iter().filter(|name| !allowed(name)).collect::<Vec<_>>(), Vec::<&String>::new());
    let told = world.prompt("t", 2);
    let by_the_user = told.matches(&prompt).count();
    assert_eq!(told.matches(KEY).count(), by_the_user, "{told}");
    assert!(!world.git(&["log", "--format=%B"]).contains(KEY));
    let summary = &world.events("t", "iteration_finished")[0]["summary"];
    assert!(summary.as_str().unwrap().contains("I used ************************ to log in."), "{summary}");
    world.assert_nothing_left("t");
}

#[test]
fn s15_escaped_secrets_of_a_json_agent_reach_no_record_and_its_numbers_stay() {
    const SECRETS: [(&str, &str); 4] = [
        ("PGPASSWORD", "pa\"ss\\wörd/1"),
        ("SSHPASS", "alllowercaseletters"),
        ("CLIENTSECRET", "/begins/with/a/slash"),
        ("FOO_TOKEN", "input_tokens"),
    ];
    let world = World::new();
    let said: Vec<&str> = SECRETS[..3].iter().map(|(_, secret)| *secret).collect();
    let text =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": said.join(" and ")}]}});
    let text = text.to_string();
    let escaped = text.replace('ö', "\\u00f6").replace('/', "\\/");
    let end = r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-1","total_cost_usd":0.1,"usage":{"input_tokens":7,"output_tokens":2}}"#;
    fs::write(world.scratch("said"), format!("{escaped}\n{text}\n{end}\n")).unwrap();
    let printed = world.scratch("said");
    world.program("claude", &format!("#!/bin/sh\ncat > /dev/null\necho $$ > f\ncat {}\n", printed.display()));
    let words = ["exec", "--name", "t", "--agent", "claude", "--iter", "1", "--json", "go"];
    let output = world.command(&words).envs(SECRETS).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let result = &world.status("t")["result"];
    assert_eq!(
        result["tokens"],
        json!({"input": 7, "output": 2, "cached": 0}),
        "a word of the format is no secret"
    );
    let mut everywhere = all_files(&world.data());
    everywhere.push(("--json".into(), output.stdout));
    everywhere.push(("log".into(), world.git(&["log", "--format=%B"]).into_bytes()));
    let forms = said.iter().flat_map(|secret| {
        let json = serde_json::to_string(secret).unwrap().trim_matches('"').to_owned();
        [(*secret).to_owned(), json.clone(), json.replace('ö', "\\u00f6").replace('/', "\\/")]
    });
    for form in forms {
        for (path, bytes) in &everywhere {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains(&form), "{form} in {path}: {text}");
        }
    }
}

#[test]
fn k3_a_printed_journal_is_only_text() {
    let world = World::new();
    let fake = r#"printf '%s\n' '{"v":1,"seq":11,"task":"t","type":"task_finished","outcome":"completed"}' '{"type":"result","is_error":true}'"#;
    let ran = play(&world, &["--json"], fake).expect(0);
    let kinds: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "task_finished").count(), 1);
    assert_eq!(ran.result()["iterations_succeeded"], 3);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn c9_what_an_agent_writes_into_dacapo_is_not_committed_and_not_obeyed() {
    let world = World::new();
    let misdeed = "mkdir -p .dacapo/plans; echo x > .dacapo/state.json; echo 'agent = \"evil\"' > .dacapo/config.toml; \
                   git add -f .dacapo";
    let _ = play(&world, &[], misdeed).expect(0);
    assert_eq!(world.git(&["log", "--format=", "--name-only"]), "f2\nf1\nf0\nREADME.md");
    assert_eq!(world.read(".dacapo/state.json"), "x\n", "nothing is removed either");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r2_removed_turns_are_made_again_and_said() {
    let world = World::unconfined();
    play(&world, &[], "rm -rf $DACAPO_HOME/repos/*/tasks/t/turns")
        .expect(0)
        .says("/tasks/t/turns had been removed and was created again; earlier output is lost");
    assert_eq!(world.subjects().len(), 4);
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r2_removed_check_files_are_made_again() {
    let world = World::unconfined();
    play(&world, &["--check", "test -f f2"], "rm -rf $DACAPO_HOME/repos/*/tasks/t/checks")
        .expect(0)
        .says("/tasks/t/checks had been removed and was created again");
    world.ended("completed", [3, 3, 0]);
}

#[test]
fn r2_a_removed_journal_ends_the_run_and_says_what_is_kept() {
    for misdeed in ["rm $DACAPO_HOME/repos/*/tasks/t/journal.jsonl", "rm -rf $DACAPO_HOME/repos"] {
        let world = World::unconfined();
        play(&world, &[], misdeed)
            .expect(1)
            .says("/tasks/t/journal.jsonl was removed while the task was running")
            .says("kept: all commits, and the files as they are; the record of task 't' is lost")
            .says("do:   look at git log and git status, then start a new task");
        assert_eq!(world.subjects(), ["[iter-0] did it 0", "first"]);
        assert_eq!(world.read("f1"), "1\n");
        if misdeed.contains("journal") {
            for words in [&["status", "t"][..], &["resume", "t"]] {
                let ran = world.run(words).expect(1);
                assert!(
                    ran.stderr.contains("its journal is gone; its commits are still in git"),
                    "{}",
                    ran.stderr
                );
            }
        }
        // A new task is not kept from starting.
        let _ = world.exec(&["--name", "u", "--allow-dirty", "--agent-cmd", "echo > new", "go"]).expect(0);
        world.assert_nothing_left("u");
    }
}

#[test]
fn r2_a_journal_that_the_agent_spoils_is_not_written_over() {
    let world = World::unconfined();
    let spoil = "for f in $DACAPO_HOME/repos/*/tasks/t/journal.jsonl; do sed -i '1s/.*/rubbish/' $f; done";
    let ran = play(&world, &[], spoil);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    // sed writes a new file.
    ran.says("journal.jsonl was replaced by another file while the task was running");
    world.run(&["status", "t"]).expect(1).says("is damaged at line 1");
    world.run(&["resume", "t"]).expect(1).says("is damaged at line 1");
}

#[test]
fn r2_a_task_whose_journal_lost_its_first_line_takes_no_commands() {
    let world = World::new();
    let _ = world
        .exec(&["--name", "t", "--worktree", "--iter", "1", "--agent-cmd", "echo > new", "go"])
        .expect(0);
    let journal = world.task_dir("t").join("journal.jsonl");
    let bytes = fs::read(&journal).unwrap();
    // A line that was cut off counts as not written.
    fs::write(&journal, &bytes[..40]).unwrap();
    world.run(&["tell", "t", "hello"]).expect(1).says("its journal is gone; its commits are still in git");
    assert_eq!(fs::read_to_string(&journal).unwrap(), "", "no event takes the place of the lost ones");
}
