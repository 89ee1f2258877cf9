//! A scripted agent that speaks the Agent Client Protocol and misbehaves on demand. It is this very test program, run
//! again: `ACP_AGENT` names its script, `ACP_LOG` the file in which it leaves all that it is told.
//!
//! The script is JSON. `turns` holds what it does when it is prompted, one list an entry, counted over all its
//! processes; the last entry serves all further prompts. Each step is an object with one key:
//!
//! | step | |
//! |---|---|
//! | `say`, `think` | a chunk of text |
//! | `write` | `[path, text]`: appends to a file below its directory |
//! | `call` | `[id, kind, title]`: a tool call that succeeds |
//! | `ask` | `[id, kind, title]`: asks for permission, and says what was answered |
//! | `update`, `line` | any update, any line |
//! | `flood` | so many chunks of text |
//! | `flood_requests` | so many requests that nobody can serve, without reading an answer |
//! | `long_request` | a request of so many bytes |
//! | `run` | a shell command; says what it prints |
//! | `child` | a shell command in the background, in a session of its own |
//! | `touch` | makes a file in the folder of the log |
//! | `await_cancel` | waits for `session/cancel` |
//! | `hang` | waits for ever; `"deaf"`: and for no signal either |
//! | `exit` | ends the process with this code |
//! | `last_words` | `[line, code]`: says a line and ends; what comes after it is not heard any more, however slow the end |
//! | `error` | answers the prompt with this error |
//! | `stop` | answers it with this result |

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What makes this program the agent; the harness around it prints a few lines of its own, as programs do.
pub(crate) const ARGUMENTS: [&str; 4] =
    ["--exact", "acp_agent::is_the_agent", "--nocapture", "--test-threads=1"];

/// The agent where it was started as one; else a look at whether it answers.
#[test]
fn is_the_agent() {
    if let Some(script) = std::env::var_os("ACP_AGENT") {
        let script = serde_json::from_slice(&std::fs::read(script).unwrap()).unwrap();
        // Ends the line that the harness has begun.
        print_line("");
        let code = Agent::new(script).run();
        std::process::exit(code);
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("script"), "{}").unwrap();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .env("ACP_AGENT", dir.path().join("script"))
        .env("ACP_LOG", dir.path().join("log"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {} });
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let answers: Vec<Value> = output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(answers.len(), 1, "{output}");
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["protocolVersion"]), (&json!(7), &json!(1)));
}

struct Agent {
    script: Value,
    log: PathBuf,
    /// Held by who writes to the log.
    hearing: Arc<Mutex<()>>,
    heard: Receiver<Value>,
    cwd: PathBuf,
    session: String,
    requests: u64,
}

impl Agent {
    fn new(script: Value) -> Self {
        let (hears, heard) = channel();
        let log = PathBuf::from(std::env::var_os("ACP_LOG").unwrap());
        let (written, hearing) = (log.clone(), Arc::new(Mutex::new(())));
        let listening = Arc::clone(&hearing);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
                let _hearing = listening.lock().unwrap();
                let entry = json!({ "pid": std::process::id(), "message": message });
                let mut log = std::fs::OpenOptions::new().create(true).append(true).open(&written).unwrap();
                log.write_all(format!("{entry}\n").as_bytes()).unwrap();
                if hears.send(message).is_err() {
                    break;
                }
            }
        });
        Self { script, log, hearing, heard, cwd: PathBuf::new(), session: String::new(), requests: 0 }
    }

    fn run(&mut self) -> i32 {
        if self.script["deaf"] == true {
            ignore_signals();
        }
        while let Ok(message) = self.heard.recv() {
            if let Some(code) = self.serve(&message) {
                return code;
            }
        }
        if self.script["stays"] == true {
            std::thread::park();
        }
        0
    }

    fn serve(&mut self, message: &Value) -> Option<i32> {
        let id = &message["id"];
        if self.script["silent"] == message["method"] {
            return None;
        }
        if let Some(error) = self.script["errors"].get(message["method"].as_str().unwrap_or_default()) {
            say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            return None;
        }
        match message["method"].as_str()? {
            "initialize" => {
                let sessions =
                    if self.script["resume"] == true { json!({ "resume": {} }) } else { json!({}) };
                answer(
                    id,
                    &json!({
                        "protocolVersion": self.script.get("version").unwrap_or(&json!(1)),
                        "agentInfo": { "name": self.script.get("name").unwrap_or(&json!("scripted")) },
                        "agentCapabilities": {
                            "loadSession": self.script["load"] == true,
                            "sessionCapabilities": sessions,
                        },
                        "authMethods": [{ "id": "x", "name": "x", "description": "Run `scripted login`" }],
                    }),
                );
            }
            "session/new" => {
                self.cwd = message["params"]["cwd"].as_str().unwrap().into();
                self.session = format!("s-{}", std::process::id());
                answer(id, &json!({ "sessionId": self.session, "modes": self.modes() }));
            }
            method @ ("session/load" | "session/resume") => {
                self.cwd = message["params"]["cwd"].as_str().unwrap().into();
                self.session = message["params"]["sessionId"].as_str().unwrap().to_owned();
                let history = if method == "session/load" { self.history() } else { Vec::new() };
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "modes": self.modes() } });
                let at = if self.script["late_history"] == true { 0 } else { history.len() };
                let mut lines: Vec<String> = history.iter().map(Value::to_string).collect();
                lines.insert(at, answer.to_string());
                // At once: the other side takes silence for the end of the history, and a busy machine may be silent.
                print_line(&lines.join("\n"));
            }
            "session/set_mode" => answer(id, &json!({})),
            "session/prompt" => return self.prompted(id),
            _ => {}
        }
        None
    }

    fn modes(&self) -> Value {
        let modes = self.script["modes"].as_array().cloned().unwrap_or_default();
        if modes.is_empty() {
            return Value::Null;
        }
        let list: Vec<Value> = modes.iter().map(|id| json!({ "id": id, "name": id })).collect();
        json!({ "currentModeId": modes[0], "availableModes": list })
    }

    fn history(&self) -> Vec<Value> {
        let texts = self.script["history"].as_array().into_iter().flatten();
        texts.map(|text| self.updated(&chunk("agent_message_chunk", text))).collect()
    }

    fn prompted(&mut self, id: &Value) -> Option<i32> {
        let turns = self.script["turns"].as_array().cloned().unwrap_or_default();
        let prompts = prompts(&self.log).saturating_sub(1);
        let steps = turns.get(prompts).or(turns.last()).cloned().unwrap_or_default();
        for step in steps.as_array().into_iter().flatten() {
            let (name, value) = step.as_object().unwrap().iter().next().unwrap();
            match self.step(name, value) {
                Next::Step => {}
                Next::Answer(result) => {
                    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
                    return None;
                }
                Next::Error(error) => {
                    say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                    return None;
                }
                Next::Exit(code) => return Some(code),
            }
        }
        answer(id, &json!({ "stopReason": "end_turn" }));
        None
    }

    fn step(&mut self, name: &str, value: &Value) -> Next {
        match name {
            "say" => self.update(&chunk("agent_message_chunk", value)),
            "think" => self.update(&chunk("agent_thought_chunk", value)),
            "update" => self.update(value),
            "line" => print_line(value.as_str().unwrap()),
            "write" => {
                let path = self.cwd.join(value[0].as_str().unwrap());
                let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
                file.write_all(value[1].as_str().unwrap().as_bytes()).unwrap();
            }
            "call" => {
                let [id, kind, title] = [&value[0], &value[1], &value[2]];
                self.update(&json!({ "sessionUpdate": "tool_call", "toolCallId": id, "kind": kind, "title": title, "status": "in_progress" }));
                self.update(
                    &json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed" }),
                );
            }
            "ask" => return self.ask(value),
            "flood" => {
                for number in 0..value.as_u64().unwrap() {
                    self.update(&chunk("agent_message_chunk", &json!(format!("chunk {number}\n"))));
                }
            }
            "flood_requests" => {
                for _ in 0..value.as_u64().unwrap() {
                    self.request("fs/read_text_file", &json!({ "path": "x".repeat(1000) }));
                }
            }
            "long_request" => {
                let id = self.requests;
                let params =
                    json!({ "content": "x".repeat(usize::try_from(value.as_u64().unwrap()).unwrap()) });
                self.request("session/request_permission", &params);
                let answer = self.wait_for(|message| message["id"] == id && message.get("method").is_none());
                self.update(&chunk(
                    "agent_message_chunk",
                    &json!(format!("told: {}", answer["error"]["code"])),
                ));
            }
            "run" => {
                let mut command = std::process::Command::new("sh");
                command.args(["-c", value.as_str().unwrap()]).current_dir(&self.cwd);
                let output = command.stdin(std::process::Stdio::null()).output().unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                self.update(&chunk("agent_message_chunk", &json!(text)));
            }
            "child" => {
                use std::os::unix::process::CommandExt as _;
                let mut command = std::process::Command::new("setsid");
                command.args(["sh", "-c", value.as_str().unwrap()]).current_dir(&self.cwd).process_group(0);
                command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
                drop(command.spawn().unwrap());
            }
            "touch" => std::fs::write(self.log.with_file_name(value.as_str().unwrap()), "").unwrap(),
            "await_cancel" => {
                self.wait_for(|message| message["method"] == "session/cancel");
                return Next::Answer(json!({ "stopReason": "cancelled" }));
            }
            "hang" => {
                if value == "deaf" {
                    ignore_signals();
                }
                loop {
                    std::thread::park();
                }
            }
            "last_words" => {
                let hearing = Arc::clone(&self.hearing);
                let _deaf = hearing.lock().unwrap();
                print_line(value[0].as_str().unwrap());
                std::process::exit(i32::try_from(value[1].as_i64().unwrap()).unwrap());
            }
            "exit" => return Next::Exit(i32::try_from(value.as_i64().unwrap()).unwrap()),
            "error" => return Next::Error(value.clone()),
            "stop" => return Next::Answer(value.clone()),
            other => panic!("no such step: {other}"),
        }
        Next::Step
    }

    fn ask(&mut self, value: &Value) -> Next {
        let id = self.requests;
        let params = json!({
            "sessionId": self.session,
            "toolCall": { "toolCallId": value[0], "kind": value[1], "title": value[2], "status": "pending" },
            "options": [
                { "optionId": "always", "name": "Always", "kind": "allow_always" },
                { "optionId": "once", "name": "Once", "kind": "allow_once" },
                { "optionId": "no", "name": "No", "kind": "reject_once" },
            ],
        });
        self.request("session/request_permission", &params);
        let answer = self.wait_for(|message| message["id"] == id && message.get("method").is_none());
        let outcome = &answer["result"]["outcome"];
        if outcome["outcome"] == "cancelled" {
            return Next::Answer(json!({ "stopReason": "cancelled" }));
        }
        let text = format!("{}: {}", value[0].as_str().unwrap(), outcome["optionId"].as_str().unwrap());
        self.step("say", &json!(format!("{text}\n")))
    }

    fn wait_for(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        loop {
            match self.heard.recv() {
                Ok(message) if wanted(&message) => return message,
                Ok(_) => {}
                // Nobody will ever answer.
                Err(_) => std::process::exit(1),
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) {
        say(&json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params }));
        self.requests += 1;
    }

    fn update(&self, update: &Value) {
        say(&self.updated(update));
    }

    fn updated(&self, update: &Value) -> Value {
        let params = json!({ "sessionId": self.session, "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
    }
}

enum Next {
    Step,
    Answer(Value),
    Error(Value),
    Exit(i32),
}

fn chunk(kind: &str, text: &Value) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

/// Prompts so far, over all processes.
fn prompts(log: &std::path::Path) -> usize {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().filter(|line| line.contains("\"method\":\"session/prompt\"")).count()
}

fn answer(id: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn say(message: &Value) {
    print_line(&message.to_string());
}

/// Past the harness, which would keep it.
fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn ignore_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let ignored = std::sync::Arc::default();
        signal_hook::flag::register(signal, ignored).unwrap();
    }
}
