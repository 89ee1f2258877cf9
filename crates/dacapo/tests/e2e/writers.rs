//! Summaries and commit messages that a model of its own writes (C4, C5). Here scripted agents stand in for it, put into
//! the spec of a task that has had its first iteration: the driver takes any agent for a writer.

use std::fs;
use std::process::Stdio;

use dacapo_core::agent::Wish;
use dacapo_core::spec::{Approval, OutputFormat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::model_server::{Call, CallKind, Failure, Last, ModelServer, Reply, ToolUse};
use crate::support::{World, wait_for};

/// In the second iteration all that a conversation is made of, and what is not part of one.
const WORK: &str = "iterations:
  - - write: { path: first, text: x }
  - - think: nobody hears this
    - say: I will add the greeting.
    - tool: { name: Edit, summary: greet.txt, output: edited }
    - write: { path: greet.txt, text: \"one\\ntwo\\nthree\\n\" }
    - usage: { input: 100, output: 10 }
    - say: Added the greeting in my own words.
";

const SUMMARY: &str = "iterations: [[save_prompt: SCRATCH/summary.prompt, usage: { input: 30, output: 3 }, \
                       say: 'Here is the summary:\n\nAdds a greeting. It has three lines.']]";

const MESSAGE: &str = "iterations: [[save_prompt: SCRATCH/message.prompt, usage: { input: 7, output: 1 }, \
                       say: \"```\\nGreet in three lines\\n\\nThe text is what was asked for.\\n```\"]]";

/// Task `t` after its first iteration.
fn begun(work: &str) -> World {
    let world = World::new();
    let agent = world.rehearsal(work);
    let _ = world.exec(&["--name", "t", "--agent", &agent, "--iter", "1", "go"]).expect(0);
    world
}

fn writer(command: &Value) -> Value {
    json!({
        "name": "writer", "command": command, "prompt": "stdin", "output": "rehearsal", "resume": null,
        "follow_up": "", "env": [], "model": "tiny", "approval": "read_only",
    })
}

impl World {
    /// From now on this one writes for task `t`.
    fn writes(&self, which: &str, command: &Value) {
        self.change_spec(|spec| spec["context"][which] = writer(command));
    }

    /// Also in the journal, which vouches for it.
    fn change_spec(&self, change: impl FnOnce(&mut Value)) {
        let (path, journal) =
            (self.task_dir("t").join("spec.json"), self.task_dir("t").join("journal.jsonl"));
        let before = fs::read(&path).unwrap();
        let mut spec: Value = serde_json::from_slice(&before).unwrap();
        change(&mut spec);
        fs::write(&path, spec.to_string()).unwrap();
        let hash = |bytes: &[u8]| -> String {
            hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let lines = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, lines.replace(&hash(&before), &hash(spec.to_string().as_bytes()))).unwrap();
    }

    fn writes_by_script(&self, which: &str, yaml: &str) {
        let path = self.scratch(&format!("{which}.yaml"));
        let scratch = path.parent().unwrap().to_str().unwrap();
        fs::write(&path, yaml.replace("SCRATCH", scratch)).unwrap();
        self.writes(which, &json!({ "rehearsal": path }));
    }

    fn both_write(&self) {
        self.writes_by_script("summary_by", SUMMARY);
        self.writes_by_script("message_by", MESSAGE);
    }

    fn heard(&self, name: &str) -> String {
        fs::read_to_string(self.scratch(name)).unwrap_or_default()
    }

    fn message(&self) -> String {
        self.git(&["log", "-1", "--format=%B"])
    }

    /// What came of each call: what, how it ended, and its text or message.
    fn written(&self) -> Vec<(String, String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let events = self.events("t", "written");
        events
            .iter()
            .map(|event| {
                let words = if event["text"].is_null() { &event["fault"]["message"] } else { &event["text"] };
                (text(&event["what"]), text(&event["end"]), text(words))
            })
            .collect()
    }

    fn last_record(&self) -> Value {
        self.events("t", "iteration_finished").pop().unwrap()
    }
}

#[test]
fn c4_c5_models_write_the_summary_and_the_commit_message() {
    let world = begun(WORK);
    world.both_write();
    let ran = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    ran.says("[iter-1] Greet in three lines").silent_about("note ");
    assert_eq!(
        world.message(),
        "[iter-1] Greet in three lines\n\nThe text is what was asked for.\n\n\
         Dacapo-Task: t\nDacapo-Iteration: 1\nDacapo-Outcome: success"
    );
    let record = world.last_record();
    assert_eq!(record["summary"], "Adds a greeting. It has three lines.");
    assert_eq!((&record["tokens"]["input"], &record["tokens"]["output"]), (&json!(137), &json!(14)));
    let status = world.status("t");
    assert_eq!(status["tokens"], json!({"input": 137, "output": 14, "cached": 0}));
    assert_eq!(status["result"]["tokens"], status["tokens"]);
    for event in world.events("t", "written") {
        assert_eq!((&event["by"], &event["iteration"]), (&json!("tiny"), &json!(1)));
    }

    let asked = world.heard("summary.prompt");
    let conversation = asked.split("<conversation>\n").nth(1).unwrap();
    assert_eq!(
        conversation,
        "Agent: I will add the greeting.\n\nTool call: Edit greet.txt\n\nTool result: edited\n\n\
         Tool call: write greet.txt\n\nAgent: Added the greeting in my own words.\n</conversation>\n"
    );
    let asked = world.heard("message.prompt");
    assert!(asked.contains("Adds a greeting. It has three lines.\n"), "{asked}");
    assert!(asked.ends_with("Changed files:\ngreet.txt (new)\n"), "{asked}");
    let turns = world.task_dir("t").join("turns");
    assert_eq!(fs::read_to_string(turns.join("0001.message.prompt")).unwrap(), asked);
    assert!(turns.join("0001.summary.raw").exists());
    let next = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    assert!(
        world.prompt("t", 2).contains("Summary: Adds a greeting. It has three lines.\n"),
        "{}",
        next.stdout
    );
    world.run(&["logs", "t"]).expect(0).says("tiny wrote the summary (33 tok)");
    world.assert_nothing_left("t");
}

#[test]
fn c4_c5_whatever_goes_wrong_with_them_the_iteration_is_committed() {
    let cases = [
        ("fail: { message: overloaded }", "overloaded"),
        ("limit: { message: usage limit reached }", "usage limit reached"),
        ("exit: 3", "the agent exited with code 3"),
        ("say: '***'", "it answered without a word to use"),
        ("refuse: shell", "it answered without a word to use"),
        ("retry: { status: 401, message: bad key, times: 2 }, hang: true", "not logged in: bad key"),
        (
            "retry: { message: no route, times: 40 }, hang: true",
            "gave up after 40 attempts without an answer: no route",
        ),
        ("flood: { mb: 20 }, exit: 1", "the agent exited with code 1"),
    ];
    for (step, why) in cases {
        let world = begun(WORK);
        let yaml = format!("session: false\niterations: [[{step}]]");
        world.writes_by_script("summary_by", &yaml);
        world.writes_by_script("message_by", &yaml);
        let ran = world.run(&["resume", "t", "--iter", "1"]).expect(0);
        ran.says(&format!("no summary from tiny: {why}"))
            .says(&format!("no commit message from tiny: {why}"));
        let failed = |what: &str| (what.to_owned(), "failed".to_owned(), why.to_owned());
        assert_eq!(world.written(), [failed("summary"), failed("commit_message")], "{step}");
        let record = world.last_record();
        assert_eq!(
            (&record["success"], &record["summary"]),
            (&json!(true), &json!("Summary generation failed"))
        );
        assert!(
            world.message().starts_with("[iter-1] Added the greeting in my own words\n\n"),
            "{}",
            world.message()
        );
        world.assert_nothing_left("t");
    }
    let world = begun(WORK);
    world.writes("message_by", &json!({ "argv": ["no-such-program-anywhere"] }));
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    assert!(world.message().starts_with("[iter-1] Added the greeting in my own words\n\n"));
}

#[test]
fn c4_c5_nothing_said_or_changed_is_not_written_about() {
    let world = begun("iterations:\n  - - write: { path: first, text: x }\n  - - think: hm\n");
    world.both_write();
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    let nothing = |what: &str| (what.to_owned(), "nothing".to_owned(), String::new());
    assert_eq!(world.written(), [nothing("summary"), nothing("commit_message")]);
    assert_eq!(world.last_record()["summary"], "No significant actions in this iteration.");
    assert_eq!((world.heard("summary.prompt"), world.heard("message.prompt")), Default::default());
}

#[test]
fn c4_what_the_agent_committed_itself_and_what_no_commit_takes_are_told_apart() {
    let world = begun(
        "iterations:\n  - - write: { path: first, text: x }\n  - - write: { path: own, text: \"a\\nb\\n\" }\n    - commit: mine\n    \
         - delete: first\n    - secret: .env\n    - write: { path: new, text: x }\n",
    );
    world.both_write();
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    let asked = world.heard("message.prompt");
    assert!(asked.ends_with("Changed files:\nnew (new)\nown (+2 -0)\nfirst (+0 -1)\n"), "{asked}");
}

#[test]
fn s15_no_secret_reaches_a_model_beside_the_agent() {
    let world = begun(
        "iterations:\n  - - write: { path: first, text: x }\n  - - say: the key is sk-0123456789abcdefXYZ\n    \
         - write: { path: sk-0123456789abcdefXYZ.txt, text: x }\n",
    );
    world.both_write();
    let mut command = world.command(&["resume", "t", "--iter", "1"]);
    let output = command.env("MY_API_KEY", "sk-0123456789abcdefXYZ").output().unwrap();
    assert!(output.status.success());
    for name in ["summary.prompt", "message.prompt"] {
        let asked = world.heard(name);
        assert!(asked.contains("**********") && !asked.contains("0123456789abcdef"), "{asked}");
    }
}

#[test]
fn l10_a_call_ends_with_the_budget() {
    let world = begun(WORK);
    let hangs = "iterations: [[usage: { input: 5000 }, hang: true]]";
    world.writes_by_script("summary_by", hangs);
    world.writes_by_script("message_by", MESSAGE);
    world.change_spec(|spec| spec["policy"]["max_tokens"] = json!(1000));
    let ran = world.run(&["resume", "t", "--iter", "3", "--json"]).expect(3);
    let result = ran.result();
    assert_eq!(result["outcome"], "budget_exhausted");
    assert_eq!(result["tokens"], json!({"input": 5100, "output": 10, "cached": 0}));
    let ended = ("summary".to_owned(), "failed".to_owned(), "the budget is used up".to_owned());
    assert_eq!(world.written(), [ended], "and none is made after it");
    assert_eq!(world.tree("HEAD"), ["README.md", "first", "greet.txt"]);
    world.assert_nothing_left("t");
}

#[test]
fn l14_ctrl_c_does_not_wait_for_a_model() {
    let world = begun(WORK);
    let waits =
        "iterations: [[usage: { input: 5 }, ignore_signals: true, run: touch SCRATCH/ready, hang: true]]";
    world.writes_by_script("summary_by", waits);
    world.writes_by_script("message_by", MESSAGE);
    let mut child =
        world.command(&["resume", "t", "--iter", "3", "--json"]).stdout(Stdio::null()).spawn().unwrap();
    world.wait_for_file("ready");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    world.assert_nothing_left("t");
    let cancelled = ("summary".to_owned(), "cancelled".to_owned(), String::new());
    assert_eq!(world.written(), [cancelled]);
    assert_eq!(world.events("t", "written")[0]["tokens"]["input"], 5, "what it used counts");
    assert_eq!(world.heard("message.prompt"), "", "nobody was asked after the signal");
    assert!(world.message().starts_with("[iter-1] Added the greeting in my own words\n\n"));
    assert_eq!(world.status("t")["outcome"], "cancelled");
}

#[test]
fn r1_a_call_that_was_killed_is_made_again_and_what_it_used_counts() {
    let world = begun(WORK);
    let script = world.scratch("writer.sh");
    let text = format!(
        "cat > /dev/null\nif mkdir {0}/once; then echo '{{\"kind\":\"usage\",\"tokens\":{{\"input\":5}}}}'; exec sleep 1000; fi\n\
         echo '{{\"kind\":\"usage\",\"tokens\":{{\"input\":7}}}}'; echo '{{\"kind\":\"text\",\"text\":\"Second try.\"}}'; echo '{{\"kind\":\"end\"}}'\n",
        script.parent().unwrap().display()
    );
    fs::write(&script, text).unwrap();
    world.writes("summary_by", &json!({ "argv": ["sh", script] }));
    let mut child =
        world.command(&["resume", "t", "--iter", "1", "--json"]).stdout(Stdio::null()).spawn().unwrap();
    let raw = world.task_dir("t").join("turns/0001.summary.raw");
    wait_for("what it has used to be on file", || fs::read(&raw).is_ok_and(|bytes| bytes.contains(&b'\n')));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the guard to clear up", || world.processes("t").is_empty());
    let _ = world.run(&["resume", "t"]).expect(0);
    assert_eq!(world.written(), [("summary".to_owned(), "done".to_owned(), "Second try.".to_owned())]);
    assert_eq!(world.events("t", "written")[0]["tokens"]["input"], 12);
    assert_eq!(world.last_record()["summary"], "Second try.");
    assert_eq!(world.subjects().len(), 3, "one commit an iteration");
    world.assert_nothing_left("t");
}

#[test]
fn r1_an_answer_that_was_paid_for_is_not_asked_for_again() {
    let world = begun(WORK);
    world.writes_by_script("summary_by", SUMMARY);
    // As a process leaves it that was killed after the answer and before the event.
    let raw = world.task_dir("t").join("turns/0001.summary.raw");
    fs::write(&raw, "{\"kind\":\"text\",\"text\":\"From the file.\"}\n{\"kind\":\"end\"}\n").unwrap();
    let _ = world.run(&["resume", "t", "--iter", "1"]).expect(0);
    assert_eq!(world.last_record()["summary"], "From the file.");
    assert_eq!(world.heard("summary.prompt"), "");
}

#[test]
fn c4_c5_the_same_agent_with_another_model_writes_and_may_change_nothing() {
    for adapter in dacapo_core::agent::BUILT_IN {
        let name = adapter.name();
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../dacapo-core/tests/fixtures/agents");
        // An agent over ACP talks; it does not print.
        let fixture = std::path::Path::new(fixtures).join(name).join("multi.jsonl");
        if adapter.format() == OutputFormat::Acp {
            continue;
        }
        assert!(fixture.exists(), "{name} has said something");
        let world = World::new();
        let (fixture, asked) = (fixture.display(), world.scratch("asked"));
        world.program(
            name,
            &format!(
                "#!/bin/sh\ncat > /dev/null\necho \"$*\" >> {}\nenv >> {}.env\necho x > f$DACAPO_TURN\ncat {fixture}\n",
                asked.display(),
                asked.display()
            ),
        );
        let words = ["--name", "t", "--agent", name, "--iter", "1", "--model", "main-model"];
        let models = ["--summary-model", "summing-model", "--commit-message-model", "wording-model", "go"];
        let ran = world.exec(&[&words[..], &models].concat());
        if ran.code == 2 {
            ran.says("native:MODEL").says("read-only");
            continue;
        }
        let ran = ran.expect(0);
        let lines = world.heard("asked");
        let calls: Vec<&str> = lines.lines().collect();
        assert_eq!(calls.len(), 3, "{name}: {lines}\n{}", ran.stdout);
        let environment = world.heard("asked.env");
        for (call, model) in calls.iter().zip(["main-model", "summing-model", "wording-model"]) {
            let told = call.contains(model) || environment.contains(model);
            assert!(told, "{name} is not told its model: {call}");
        }
        let spec = fs::read(world.task_dir("t").join("spec.json")).unwrap();
        let spec: Value = serde_json::from_slice(&spec).unwrap();
        for (writer, model) in [("summary_by", "summing-model"), ("message_by", "wording-model")] {
            let as_root = rustix::process::geteuid().is_root();
            let wish = Wish { model: Some(model), approval: Approval::ReadOnly, as_root };
            let reads_only = serde_json::to_value(adapter.profile(&wish).unwrap()).unwrap();
            assert_eq!(spec["context"][writer], reads_only, "{name}");
        }
        let ends: Vec<(String, String)> =
            world.written().into_iter().map(|(what, end, _)| (what, end)).collect();
        let done = |what: &str| (what.to_owned(), "done".to_owned());
        assert_eq!(ends, [done("summary"), done("commit_message")], "{name}");
        assert_eq!(world.last_record()["summary"], world.events("t", "written")[0]["text"]);
        assert_eq!(world.subjects().len(), 2);
    }
}

/// Answers what a model beside the agent is asked, and nothing else.
fn endpoint() -> ModelServer {
    ModelServer::start_for_all(|call: &Call| {
        let asked = call.history();
        let answer = match asked.contains("<conversation>") {
            true => "Adds a greeting. It has three lines.",
            false => "Greet in three lines\n\nThe text is what was asked for.",
        };
        Reply::say(answer).into()
    })
}

fn configured(world: &World, api: &str, url: &str) {
    world.config(&format!(
        "[agents.native]\napi = \"{api}\"\nbase_url = \"{url}\"\nkey_env = \"MY_KEY\"\nenv = {{ MY_KEY = \"sk-of-this-test\" }}\n\
         [prices.tiny]\ninput = 1.0\noutput = 2.0\n\
         [spawn_task.context_passing]\nsummary_model = \"native:tiny\"\ncommit_message_model = \"native:small\"\n"
    ));
}

#[test]
fn c4_c5_an_endpoint_writes_in_either_wire_format() {
    for api in ["openai", "anthropic"] {
        let server = endpoint();
        let world = World::new();
        configured(&world, api, &server.url());
        let agent = world.rehearsal(WORK);
        let words = ["--name", "t", "--agent", &agent, "--iter", "2", "--json", "go"];
        let result = world.exec(&words).expect(0).result();
        assert!(
            world
                .message()
                .starts_with("[iter-1] Greet in three lines\n\nThe text is what was asked for.\n\n")
        );
        assert_eq!(world.last_record()["summary"], "Adds a greeting. It has three lines.");
        let calls = server.calls(CallKind::Side);
        let models: Vec<&str> = calls.iter().map(|call| call.model.as_str()).collect();
        // In the first iteration nothing was said that could be summed up, but a tool was used.
        assert_eq!(models, ["tiny", "small", "tiny", "small"], "{api}");
        assert_eq!(server.calls(CallKind::Main).len(), 0, "no tools are offered");
        let charged = server.usage(CallKind::Side);
        assert_eq!(
            result["tokens"],
            json!({"input": charged.input + 100, "output": charged.output + 10, "cached": charged.cached}),
            "{api}"
        );
        let priced: f64 = world
            .events("t", "written")
            .iter()
            .filter(|event| event["what"] == "summary")
            .map(|event| event["cost_usd"].as_f64().unwrap())
            .sum();
        assert!((result["cost_usd"].as_f64().unwrap() - priced).abs() < 1e-9, "only one of them has a price");
        world.assert_nothing_left("t");
    }
}

#[test]
fn c4_c5_an_endpoint_that_refuses_costs_no_iteration() {
    let server = ModelServer::start_for_all(|_: &Call| Failure::status(401).into());
    let world = World::new();
    configured(&world, "openai", &server.url());
    let agent = world.rehearsal(WORK);
    let ran = world.exec(&["--name", "t", "--agent", &agent, "--iter", "1", "go"]).expect(0);
    ran.says("no summary from tiny: ").says("no commit message from small: ");
    assert_eq!(world.last_record()["summary"], "Summary generation failed");
    assert_eq!(world.subjects(), ["[iter-0] Iteration 0 changes", "first"]);
    // An empty flag takes back what the config says.
    let without = ["--summary-model", "", "--commit-message-model", ""];
    let words = ["--name", "u", "--agent", &agent, "--iter", "1"];
    let asked = server.requests().len();
    let _ = world.exec(&[&words[..], &without, &["go"]].concat()).expect(0);
    assert_eq!((world.events("u", "written").len(), server.requests().len()), (0, asked));
}

#[test]
fn c4_c5_the_agent_of_an_endpoint_writes_with_another_of_its_models() {
    let server = ModelServer::start_for_all(|call: &Call| match (call.kind, call.last()) {
        (CallKind::Main, Last::Prompt(_)) => {
            Reply::call(ToolUse::new("write_file", json!({"path": "f", "content": "x"}))).into()
        }
        (CallKind::Main, Last::Result(_)) => Reply::say("Wrote it.").into(),
        (CallKind::Side, _) => Reply::say("Adds f.").into(),
    });
    let world = World::new();
    configured(&world, "openai", &server.url());
    let words = ["--name", "t", "--agent", "native", "--model", "big", "--iter", "1"];
    let models = ["--summary-model", "other", "--commit-message-model", "", "go"];
    let _ = world.exec(&[&words[..], &models].concat()).expect(0);
    assert_eq!(world.last_record()["summary"], "Adds f.");
    let asked: Vec<String> = server.calls(CallKind::Side).into_iter().map(|call| call.model).collect();
    assert_eq!(asked, ["other"]);
    assert_eq!(server.calls(CallKind::Main)[0].model, "big");
}

#[test]
fn c4_c5_a_command_writes_in_its_own_words_and_that_is_said() {
    let world = World::new();
    world.config(
        "[spawn_task.context_passing]\nsummary_model = \"haiku\"\ncommit_message_model = \"haiku\"\n",
    );
    let agent = "date > log; echo Wrote the log.";
    let ran = world.exec(&["--name", "t", "--agent-cmd", agent, "go"]).expect(0);
    ran.says("note    commit_message_model = \"haiku\" is not used: agent 'date' is a command")
        .says("note    summary_model = \"haiku\" is not used");
    assert_eq!(world.subjects(), ["[iter-0] Wrote the log", "first"]);
    assert_eq!(world.events("t", "written").len(), 0);
}
