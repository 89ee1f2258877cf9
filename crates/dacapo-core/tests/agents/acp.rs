//! Conversations with real agents over the Agent Client Protocol, played again: `<` is what the agent said, `>` what it
//! was told. Our side must say the same, and read the same out of it.

use crate::replay::words;
use dacapo_core::agent::acp::{
    AcpItem, AcpMessage, AcpSettings, Assignment, Client, Memory, Move, Process, Question,
};
use dacapo_core::agent::{Ending, Observed, Observer, Parser, ParserSetting, parser, weigh};
use dacapo_core::event::{AgentEvent, FailureKind, Notice, TurnEnd, Usage};
use dacapo_core::spec::{Approval, OutputFormat};
use serde_json::{Value, json};

mod hostile;
mod recordings;
mod sessions;

/// A turn of a conversation that was played.
#[derive(Debug, Default)]
struct Turn {
    events: Vec<AgentEvent>,
    /// What our side said.
    said: Vec<Value>,
    /// What the other client had said.
    expected: Vec<Value>,
    questions: Vec<Question>,
    notes: Vec<Notice>,
    memory: Option<Memory>,
}

impl Turn {
    /// One line an event.
    fn lines(&self) -> Vec<String> {
        self.events.iter().map(line).collect()
    }

    /// What the turn amounts to.
    fn observed(&self, promise: &str) -> Observed {
        let mut observer = Observer::new(Some(promise));
        self.events.iter().for_each(|event| observer.see(event));
        observer.finish()
    }

    fn end(&self) -> TurnEnd {
        weigh(&Ending::Exited(0), &self.observed(""), true)
    }

    fn usage(&self) -> Usage {
        self.observed("").usage
    }

    /// The methods that our side used, answers as `answer OPTION`.
    fn methods(&self) -> Vec<String> {
        let word = |message: &Value| match message["method"].as_str() {
            Some(method) => method.to_owned(),
            None => match message["result"]["outcome"]["optionId"].as_str() {
                Some(option) => format!("answer {option}"),
                None => {
                    format!("answer {}", message["result"]["outcome"]["outcome"].as_str().unwrap_or("error"))
                }
            },
        };
        self.said.iter().map(word).collect()
    }
}

fn line(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Session { id } => format!("session {id}"),
        AgentEvent::Text { text } => format!("text {text:?}"),
        AgentEvent::Thinking { text } => format!("thinking {text:?}"),
        AgentEvent::ToolCall { id, name, summary } => format!("call {id} {name}: {summary}"),
        AgentEvent::ToolResult { id, failed, output } => {
            format!("result {id}{}: {output:?}", if *failed { " failed" } else { "" })
        }
        AgentEvent::Plan { steps } => format!("plan {steps:?}"),
        AgentEvent::Usage(usage) => format!(
            "usage {} {} {}{}",
            usage.input,
            usage.output,
            usage.cached,
            usage.cost_usd.map_or_else(String::new, |cost| format!(" ${cost:.6}"))
        ),
        AgentEvent::Retry { message, status } => format!("retry {status:?} {message}"),
        AgentEvent::Refused { what } => format!("refused {what}"),
        AgentEvent::Limit { message, .. } => format!("limit {message}"),
        AgentEvent::Error { failure: FailureKind::Permanent, fault } => {
            format!("permanent {}", words(fault))
        }
        AgentEvent::Error { failure: FailureKind::SessionLost, fault } => {
            format!("session lost {}", words(fault))
        }
        AgentEvent::Error { failure: FailureKind::Transient, fault } => {
            format!("transient {}", words(fault))
        }
        AgentEvent::End { reason } => format!("end {reason}"),
    }
}

/// Plays a turn: parser and client as the engine couples them, without a process.
struct Player {
    parser: Box<dyn Parser>,
    client: Client,
    turn: Turn,
}

impl Player {
    fn new(assignment: Assignment, memory: Option<Memory>) -> Self {
        let process = if memory.is_some() { Process::Kept } else { Process::New };
        let talk = AcpSettings {
            task: assignment.task.clone(),
            approval: assignment.approval,
            session: assignment.session.clone(),
            memory,
        };
        let setting = ParserSetting { talk, ..ParserSetting::default() };
        let mut player = Self {
            parser: parser(OutputFormat::Acp, setting),
            client: Client::new(assignment),
            turn: Turn::default(),
        };
        let moves = player.client.begin(process);
        player.act(moves);
        player
    }

    fn hears(&mut self, line: &str) {
        let mut heard = Vec::new();
        self.parser.hear(format!("{line}\n").as_bytes(), &mut |one| heard.push(one));
        for one in heard {
            match one {
                AcpItem::Event(event) => self.turn.events.push(event),
                AcpItem::Message(talk) => {
                    let moves = self.client.hear(talk);
                    self.act(moves);
                }
            }
        }
    }

    fn act(&mut self, moves: Vec<Move>) {
        for one in moves {
            match one {
                Move::Say(bytes) => {
                    let said: Value = serde_json::from_slice(&bytes).unwrap();
                    // None of the recordings has a mode set; every agent takes it.
                    let sets_mode =
                        said["method"].as_str().is_some_and(|method| method.starts_with("session/set_"));
                    let answer = json!({ "jsonrpc": "2.0", "id": said["id"], "result": {} });
                    self.turn.said.push(said);
                    if sets_mode {
                        self.hears(&answer.to_string());
                    }
                }
                Move::AwaitSilence => {
                    let moves = self.client.goes_on();
                    self.act(moves);
                }
                Move::Ask(question) => self.turn.questions.push(question),
                Move::Fail(event) => self.turn.events.push(event),
                Move::Note(note) => self.turn.notes.push(note),
                Move::Over(memory) => self.turn.memory = Some(memory),
                Move::Withdraw | Move::Prompted => {}
            }
        }
    }
}

fn assignment(turn: u32, prompt: &str, session: Option<&str>, approval: Approval) -> Assignment {
    Assignment {
        task: "t".into(),
        turn,
        cwd: "/project".into(),
        prompt: prompt.into(),
        session: session.map(str::to_owned),
        approval,
        agent: "bot".into(),
    }
}

fn recording(name: &str) -> Vec<(bool, String)> {
    let path = format!("{}/tests/fixtures/agents/acp/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| (line.starts_with('<'), line[2..].to_owned())).collect()
}

/// Plays a recorded conversation, turn by turn.
fn play(name: &str, approval: Approval) -> Vec<Turn> {
    let recording = recording(name);
    let prompts: Vec<Value> = recording
        .iter()
        .filter(|(agents, _)| !agents)
        .map(|(_, line)| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| message["method"] == "session/prompt")
        .collect();
    let goes_on = recording.iter().any(|(agents, line)| {
        !agents && (line.contains("\"session/load\"") || line.contains("\"session/resume\""))
    });
    let prompt_of = |turn: usize| prompts[turn]["params"]["prompt"][0]["text"].as_str().unwrap();
    let session = prompts[0]["params"]["sessionId"].as_str().unwrap();
    let first = assignment(0, prompt_of(0), goes_on.then_some(session), approval);
    let mut turns = Vec::new();
    let mut player = Player::new(first, None);
    let mut prompted = 0;
    for (agents, line) in recording {
        if agents {
            player.hears(&line);
            continue;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "session/prompt" {
            prompted += 1;
            if prompted > 1 {
                let next =
                    assignment(prompted - 1, prompt_of(prompted as usize - 1), Some(session), approval);
                let memory = player.turn.memory.clone();
                turns.push(std::mem::replace(&mut player, Player::new(next, memory)).turn);
            }
        }
        if message["method"] == "session/cancel" {
            let moves = player.client.cancel().unwrap();
            player.act(moves);
        }
        player.turn.expected.push(message);
    }
    turns.push(player.turn);
    turns
}
