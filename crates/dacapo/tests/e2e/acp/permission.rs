//! A8: what an agent may do, and who says so.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

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
    let message = ran.result()["detail"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("was not allowed to use execute make clean"), "{message}");
    assert!(message.contains("--approval auto"), "{message}");
    let notices = world.notices("t");
    assert!(notices.iter().any(|notice| notice.contains("no mode for --approval edits")), "{notices:?}");
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
    assert!(ran.stderr.contains("have no effect with output = \"acp\""), "{}", ran.stderr);
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

/// What a program that runs has shown so far.
struct Screen {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Screen {
    fn of(child: &mut Child) -> Self {
        let (mut stdout, text) = (child.stdout.take().unwrap(), Arc::<Mutex<Vec<u8>>>::default());
        let shown = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut piece) {
                shown.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Self { text, reader }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    /// All of it, when the program has ended.
    fn whole(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
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
        "3s",
        "--turn-timeout",
        "8s",
        "go",
    ];
    let mut child = at_a_terminal(&world, &words).spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    let screen = Screen::of(&mut child);
    // A line that is typed before there is a question is nobody's answer.
    let asked = |count: usize| {
        wait_for("the question", || screen.text().matches("answer with a number, y or n").count() == count);
    };
    asked(1);
    // Longer than either timeout: a person may take their time.
    std::thread::sleep(std::time::Duration::from_millis(8500));
    writeln!(typed, "what?").unwrap();
    for (count, answer) in ["y", "n", "1"].into_iter().enumerate() {
        asked(count + 1);
        writeln!(typed, "{answer}").unwrap();
    }
    let status = child.wait().unwrap();
    drop(typed);
    let shown = screen.whole();
    assert!(status.success(), "{shown}");
    let told = world.told("bot");
    let chosen: Vec<&str> =
        told.iter().filter_map(|(_, message)| message["result"]["outcome"]["optionId"].as_str()).collect();
    assert_eq!(chosen, ["once", "no", "always"]);
    assert!(shown.contains("allow this?  run `make install`") && shown.contains("not understood"), "{shown}");
    let record = &world.events("t", "turn_finished")[0];
    assert!(record["not_allowed"]["message"].as_str().unwrap().contains("execute make"), "{record}");
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
