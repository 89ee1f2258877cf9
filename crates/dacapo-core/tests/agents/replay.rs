//! Reads what an agent printed as a turn does, without a process.

use std::fs;
use std::path::PathBuf;

use dacapo_core::agent::{self, Ending, Observed, Observer, ParserSetting};
use dacapo_core::context;
use dacapo_core::event::{AgentEvent, FailureKind, Fault, TurnEnd, Usage};
use dacapo_core::spec::OutputFormat;

/// A file beside an agent's output.
pub(crate) fn path(agent: &str, file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures/agents", agent, file].iter().collect()
}

/// What an agent printed.
pub(crate) fn output(agent: &str, name: &str) -> Vec<u8> {
    fs::read(path(agent, &format!("{name}.jsonl"))).unwrap()
}

/// What it wrote to standard error.
pub(crate) fn stderr(agent: &str, name: &str) -> String {
    fs::read_to_string(path(agent, &format!("{name}.stderr"))).unwrap()
}

/// All output there is of an agent.
pub(crate) fn all_output(agent: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(path(agent, "")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

/// The events of a turn, its output read in pieces of this size.
pub(crate) fn events(format: OutputFormat, output: &[u8], piece: usize) -> Vec<AgentEvent> {
    events_with(ParserSetting::default(), format, output, piece)
}

/// The same, for a parser that must know more than the bytes.
pub(crate) fn events_with(
    setting: ParserSetting,
    format: OutputFormat,
    output: &[u8],
    piece: usize,
) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut parser = agent::parser(format, setting);
    for bytes in output.chunks(piece.max(1)) {
        parser.feed(bytes, &mut |event| events.push(event));
    }
    parser.finish(&mut |event| events.push(event));
    events.into_iter().map(in_words).collect()
}

/// The same event, with what went wrong in the words for agents.
pub(crate) fn in_words(event: AgentEvent) -> AgentEvent {
    match event {
        AgentEvent::Error { failure, fault } => AgentEvent::Error { failure, fault: words(&fault).into() },
        other => other,
    }
}

/// What went wrong in the words for agents, and whose login is missing.
pub(crate) fn words(fault: &Fault) -> String {
    let words = context::fault(fault);
    match fault {
        Fault::NotLoggedIn { log_in: Some(log_in), .. } => {
            let whose = log_in.agent.clone().unwrap_or_else(|| log_in.ways.join(", or "));
            format!("{words}; {whose}")
        }
        _ => words,
    }
}

/// What a turn with these events comes to; its promise is DONE.
pub(crate) fn observed(events: &[AgentEvent]) -> Observed {
    let mut observer = Observer::new(Some("DONE"));
    events.iter().for_each(|event| observer.see(event));
    observer.finish()
}

/// How a turn with this output ended.
pub(crate) fn end(format: OutputFormat, output: &[u8], ending: &Ending) -> TurnEnd {
    end_of(format, &events(format, output, output.len()), ending)
}

/// How a turn with these events ended.
pub(crate) fn end_of(format: OutputFormat, events: &[AgentEvent], ending: &Ending) -> TurnEnd {
    match agent::weigh(ending, &observed(events), agent::adapter(format).is_some()) {
        TurnEnd::Failed { failure, fault } => TurnEnd::Failed { failure, fault: words(&fault).into() },
        other => other,
    }
}

/// A turn that was printed.
pub(crate) struct Turn {
    pub(crate) events: Vec<AgentEvent>,
    format: OutputFormat,
}

impl Turn {
    pub(crate) fn of(format: OutputFormat, output: &[u8], earlier: Usage) -> Self {
        Self::with(format, output, ParserSetting { earlier, ..ParserSetting::default() })
    }

    pub(crate) fn with(format: OutputFormat, output: &[u8], setting: ParserSetting) -> Self {
        Self { events: events_with(setting, format, output, usize::MAX), format }
    }

    pub(crate) fn seen(&self) -> Observed {
        observed(&self.events)
    }

    /// What it comes to.
    pub(crate) fn end(&self, ending: &Ending) -> TurnEnd {
        end_of(self.format, &self.events, ending)
    }

    pub(crate) fn exit(&self, code: i32) -> TurnEnd {
        self.end(&Ending::Exited(code))
    }
}

pub(crate) fn session(id: &str) -> AgentEvent {
    AgentEvent::Session { id: id.into() }
}

pub(crate) fn text(text: &str) -> AgentEvent {
    AgentEvent::Text { text: text.into() }
}

pub(crate) fn call(id: &str, name: &str, summary: &str) -> AgentEvent {
    AgentEvent::ToolCall { id: id.into(), name: name.into(), summary: summary.into() }
}

pub(crate) fn result(id: &str, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), failed: false, output: output.into() }
}

pub(crate) fn failed_result(id: &str, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), failed: true, output: output.into() }
}

pub(crate) fn retry(status: Option<u16>, message: &str) -> AgentEvent {
    AgentEvent::Retry { message: message.into(), status }
}

pub(crate) fn refused(what: &str) -> AgentEvent {
    AgentEvent::Refused { what: what.into() }
}

pub(crate) fn usage(input: u64, output: u64, cached: u64, cost_usd: Option<f64>) -> AgentEvent {
    AgentEvent::Usage(Usage { input, output, cached, cost_usd, ..Usage::default() })
}

pub(crate) fn used(input: u64, output: u64, cached: u64) -> Usage {
    Usage { input, output, cached, ..Usage::default() }
}

pub(crate) fn ended(reason: &str) -> AgentEvent {
    AgentEvent::End { reason: reason.into() }
}

pub(crate) fn transient(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::Transient, fault: message.into() }
}

pub(crate) fn permanent(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::Permanent, fault: message.into() }
}

pub(crate) fn session_lost(message: &str) -> TurnEnd {
    TurnEnd::Failed { failure: FailureKind::SessionLost, fault: message.into() }
}

pub(crate) fn error(end: TurnEnd) -> AgentEvent {
    match end {
        TurnEnd::Failed { failure, fault } => AgentEvent::Error { failure, fault },
        TurnEnd::Limit { message, resets_at } => AgentEvent::Limit { message, resets_at },
        other => panic!("no error: {other:?}"),
    }
}

pub(crate) fn limit(message: &str, resets_at: Option<&str>) -> TurnEnd {
    TurnEnd::Limit { message: message.into(), resets_at: resets_at.map(|at| at.parse().unwrap()) }
}
