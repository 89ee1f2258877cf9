//! A2, A8, L13: agents that speak the Agent Client Protocol, with a scripted one as a real child.

mod ends;
mod permission;
mod sessions;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::acp_agent;
use crate::support::{World, whole_lines};

impl World {
    /// Defines the agent `bot` by a script.
    pub(crate) fn acp(&self, script: &Value) {
        self.config(&self.acp_agent("bot", script));
    }

    /// `[agents.NAME]` for a scripted agent of the protocol.
    pub(crate) fn acp_agent(&self, name: &str, script: &Value) -> String {
        let path = self.scratch(&format!("{name}.json"));
        fs::write(&path, script.to_string()).unwrap();
        let program = std::env::current_exe().unwrap();
        let command: Vec<String> = std::iter::once(program.to_str().unwrap())
            .chain(acp_agent::ARGUMENTS)
            .map(|word| format!("{word:?}"))
            .collect();
        format!(
            "[agents.{name}]\ncommand = [{}]\noutput = \"acp\"\nenv = {{ ACP_AGENT = {path:?}, ACP_LOG = {:?} }}\n",
            command.join(", "),
            self.acp_log(name),
        )
    }

    pub(crate) fn acp_log(&self, name: &str) -> PathBuf {
        self.scratch(&format!("{name}.log"))
    }

    /// What an agent was told: by which process, and the message.
    fn told(&self, name: &str) -> Vec<(u64, Value)> {
        let log = self.acp_log(name);
        let entries = if log.exists() { whole_lines(&log) } else { Vec::new() };
        entries.iter().map(|entry| (entry["pid"].as_u64().unwrap(), entry["message"].clone())).collect()
    }

    /// The methods it was told, answers as `answer`.
    pub(crate) fn methods(&self, name: &str) -> Vec<String> {
        let word = |message: &Value| message["method"].as_str().unwrap_or("answer").to_owned();
        self.told(name).iter().map(|(_, message)| word(message)).collect()
    }

    /// Its processes, in order, each once.
    pub(crate) fn talkers(&self, name: &str) -> Vec<u64> {
        let mut pids: Vec<u64> = self.told(name).into_iter().map(|(pid, _)| pid).collect();
        pids.dedup();
        pids
    }

    /// What it was prompted.
    fn prompts(&self, name: &str) -> Vec<String> {
        let prompts =
            self.told(name).into_iter().filter(|(_, message)| message["method"] == "session/prompt");
        prompts
            .map(|(_, message)| message["params"]["prompt"][0]["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// A turn that appends a line to `log`, with usage as `copilot` counts it: over the whole process.
fn working(number: u64) -> Value {
    let (input, output) = (100 * number, 10 * number);
    json!([
        { "think": "hm" },
        { "call": [format!("c{number}"), "edit", "log"] },
        { "write": ["log", format!("line {number}\n")] },
        { "say": format!("Wrote line {number}.") },
        { "stop": {
            "stopReason": "end_turn",
            "usage": { "inputTokens": input, "outputTokens": output, "totalTokens": input + output },
        } },
    ])
}

fn three_turns(more: &Value) -> Value {
    let mut script = json!({ "name": "Copilot", "turns": [working(1), working(2), working(3)] });
    for (key, value) in more.as_object().unwrap() {
        script[key] = value.clone();
    }
    script
}
