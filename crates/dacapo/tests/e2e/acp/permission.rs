//! A8: what an agent may do, and who says so.

use std::process::{Command, Stdio};

use super::*;
use crate::support::{Ran, wait_for};

/// Asks for one of each kind, then says that it has done what it could.
fn asking(more: &Value) -> Value {
    let asks = json!([
        { "ask": ["look", "read", "README.md"] },
        { "ask": ["change", "edit", "README.md"] },
        { "ask": ["run", "execute", "make clean"] },
        { "ask": ["odd", "something_new", "?"] },
    ]);
    let mut script = json!({ "turns": [asks] });
    for (key, value) in more.as_object().unwrap() {
        script[key] = value.clone();
    }
    script
}

#[test]
fn a8_requests_are_answered_by_policy() {
    for (approval, mode, answers, refused) in [
        ("auto", Some("yolo"), ["once", "once", "once", "once"], vec![]),
        ("edits", Some("autoEdit"), ["once", "once", "no", "no"], vec!["execute make clean", "tool ?"]),
        (
            "read-only",
            Some("plan"),
            ["once", "no", "no", "no"],
            vec!["edit README.md", "execute make clean", "tool ?"],
        ),
    ] {
        let world = World::new();
        world.acp(&asking(&json!({ "modes": ["default", "autoEdit", "yolo", "plan"] })));
        let words = ["--name", "t", "--agent", "bot", "--approval", approval, "--json", "go"];
        let ran = world.exec(&words);
        let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let agent: Vec<&Value> =
            events.iter().filter(|line| line["type"] == "agent_event").map(|line| &line["event"]).collect();
        let of = |kind: &str, field: &str| -> Vec<String> {
            let some = agent.iter().filter(|event| event["kind"] == kind);
            some.map(|event| event[field].as_str().unwrap().trim().to_owned()).collect()
        };
        let names = ["look", "change", "run", "odd"];
        let expected: Vec<String> =
            names.iter().zip(answers).map(|(name, answer)| format!("{name}: {answer}")).collect();
        assert_eq!(of("text", "text"), expected, "{approval}");
        assert_eq!(of("refused", "what"), refused, "{approval}");
        let set: Vec<Value> = world
            .told("bot")
            .into_iter()
            .map(|(_, told)| told["params"]["modeId"].clone())
            .filter(|id| !id.is_null())
            .collect();
        assert_eq!(set.first().and_then(Value::as_str), mode, "{approval}");
        world.assert_nothing_left("t");
    }
}

#[test]
fn a8_a_turn_that_did_nothing_for_want_of_permission_says_which_flag_would_have_helped() {
    let world = World::new();
    world.acp(&asking(&json!({})));
    let words = ["--name", "t", "--agent", "bot", "--approval", "edits", "--iter", "3", "--json", "go"];
    let ran = world.exec(&words).expect(1);
    let message = ran.result()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("was not allowed to use execute make clean"), "{message}");
    assert!(message.contains("--approval auto"), "{message}");
    let notices = world.notices("t");
    assert!(
        notices.iter().any(|notice| notice.contains("no mode of its own for --approval edits")),
        "{notices:?}"
    );
}

#[test]
fn a8_ask_without_a_terminal_is_refused_before_anything_starts() {
    let world = World::new();
    world.acp(&asking(&json!({})));
    let ran = world.exec(&["--name", "t", "--agent", "bot", "--approval", "ask", "go"]).expect(2);
    assert!(
        ran.stderr.contains("nobody could answer") && ran.stderr.contains("--approval edits"),
        "{}",
        ran.stderr
    );
    assert!(world.tasks().is_empty() && world.told("bot").is_empty());
    let ran = world.exec(&["--agent-cmd", "cat", "--approval", "edits", "go"]).expect(2);
    assert!(ran.stderr.contains("cannot ask for approval"), "{}", ran.stderr);
}

#[test]
fn a1_settings_that_mean_nothing_to_the_protocol_are_refused() {
    let world = World::new();
    world.config("[agents.bot]\ncommand = [\"cat\"]\noutput = \"acp\"\nresume = [\"-r\"]\n");
    let ran = world.exec(&["--agent", "bot", "go"]).expect(2);
    assert!(ran.stderr.contains("mean nothing with output = \"acp\""), "{}", ran.stderr);
}

/// Runs the program at a terminal of its own. What is typed comes from a pipe.
fn at_a_terminal(world: &World, words: &[&str]) -> Command {
    let plain = world.command::<&str>(&[]);
    let line: Vec<String> = std::iter::once(plain.get_program().to_str().unwrap())
        .chain(words.iter().copied())
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    let mut command = Command::new("script");
    command.args(["-qec", &line.join(" "), "/dev/null"]).env_clear().current_dir(world.repo());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a8_a_person_answers_at_the_terminal_and_nobody_is_called_idle_meanwhile() {
    use std::io::Write as _;
    let world = World::new();
    let turn = json!([
        { "ask": ["first", "edit", "README.md"] },
        { "ask": ["second", "execute", "make"] },
        { "ask": ["third", "execute", "make install"] },
        { "write": ["log", "x\n"] },
    ]);
    world.acp(&json!({ "turns": [turn] }));
    let words = [
        "exec",
        "--name",
        "t",
        "--agent",
        "bot",
        "--approval",
        "ask",
        "--idle-timeout",
        "1s",
        "--turn-timeout",
        "2s",
        "go",
    ];
    let mut child = at_a_terminal(&world, &words).spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    let answered = |count: usize| {
        let answers = || world.methods("bot").iter().filter(|method| *method == "answer").count();
        wait_for("the answer to be heard", || answers() == count);
    };
    wait_for("the first question", || world.methods("bot").contains(&"session/prompt".to_owned()));
    // Longer than either timeout: a person may take their time.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    writeln!(typed, "what?").unwrap();
    for (count, answer) in ["y", "n", "1"].into_iter().enumerate() {
        writeln!(typed, "{answer}").unwrap();
        answered(count + 1);
    }
    let output = child.wait_with_output().unwrap();
    drop(typed);
    let ran = Ran::from(output).expect(0);
    let told = world.told("bot");
    let chosen: Vec<&str> =
        told.iter().filter_map(|(_, message)| message["result"]["outcome"]["optionId"].as_str()).collect();
    assert_eq!(chosen, ["once", "no", "always"]);
    assert!(
        ran.stdout.contains("execute make install") && ran.stdout.contains("not understood"),
        "{}",
        ran.stdout
    );
    let record = &world.events("t", "turn_finished")[0];
    assert!(record["refused"].as_str().unwrap().contains("execute make"), "{record}");
    assert_eq!(world.subjects().len(), 2);
    world.assert_nothing_left("t");
}

#[test]
fn l14_ctrl_c_takes_an_open_question_back() {
    use std::io::Write as _;
    let world = World::new();
    world.acp(&json!({ "turns": [[{ "write": ["log", "x\n"] }, { "touch": "ready" }, { "ask": ["run", "execute", "make"] }]] }));
    let words = ["exec", "--name", "t", "--agent", "bot", "--approval", "ask", "--iter", "2", "go"];
    let mut child = at_a_terminal(&world, &words).spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    let raw = || fs::read_to_string(world.task_dir("t").join("turns/0000.raw")).unwrap_or_default();
    world.wait_for_file("ready");
    wait_for("the question", || raw().contains("request_permission"));
    typed.write_all(b"\x03").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(130);
    let told = world.told("bot");
    let last: Vec<&Value> = told.iter().rev().take(2).map(|(_, message)| message).collect();
    assert_eq!(last[1]["method"], "session/cancel", "{}", ran.stdout);
    assert_eq!(last[0]["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(world.subjects().len(), 2, "what was there is committed");
    world.assert_nothing_left("t");
}
