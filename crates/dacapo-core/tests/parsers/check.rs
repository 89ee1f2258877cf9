//! What must hold of the parser of every agent, whatever bytes it is fed with. The suite checks it on fixtures and on
//! what they become by random changes; the targets in `fuzz/` on what a fuzzer makes of them.

use dacapo_core::agent::{self, Observer, ParserSetting, Patience};
use dacapo_core::context::Conversation;
use dacapo_core::event::AgentEvent;
use dacapo_core::spec::OutputFormat;

/// Every way in which an agent's output is read, by the name that its fixtures are kept under.
pub(crate) const FORMATS: [(&str, OutputFormat); 9] = [
    ("text", OutputFormat::Text),
    ("rehearsal", OutputFormat::Rehearsal),
    ("claude", OutputFormat::Claude),
    ("codex", OutputFormat::Codex),
    ("copilot", OutputFormat::Copilot),
    ("gemini", OutputFormat::Gemini),
    ("opencode", OutputFormat::Opencode),
    ("qwen", OutputFormat::Qwen),
    ("acp", OutputFormat::Acp),
];

/// A short line may become a sentence for people, so events are larger than the bytes they come from; but only so much.
const EVENT_BYTES_PER_BYTE: usize = 64;
const EVENT_BYTES: usize = 64 << 10;

/// The events that bytes become when they come in chunks of these sizes, one after the other and from the start again.
pub(crate) fn events(format: OutputFormat, bytes: &[u8], sizes: &[usize]) -> Vec<AgentEvent> {
    let mut seen = Vec::new();
    let is_text = is_text(format);
    let mut sink = |event| push(&mut seen, is_text, event);
    let mut parser = agent::parser(format, ParserSetting::default());
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(rest.len()).clamp(1, rest.len());
        parser.feed(&rest[..size], &mut sink);
        rest = &rest[size..];
    }
    parser.finish(&mut sink);
    seen
}

/// Where all of an agent's output is what it says, a text is cut where its bytes were; what it says is the same.
fn push(seen: &mut Vec<AgentEvent>, is_text: bool, event: AgentEvent) {
    match (seen.last_mut(), &event) {
        (Some(AgentEvent::Text { text }), AgentEvent::Text { text: more }) if is_text => text.push_str(more),
        _ => seen.push(event),
    }
}

/// Whether this is read as plain text, as everything is for which there is no parser of its own.
fn is_text(format: OutputFormat) -> bool {
    let mut said = false;
    let mut parser = agent::parser(format, ParserSetting::default());
    parser.feed(b"words", &mut |event| said |= matches!(event, AgentEvent::Text { .. }));
    said
}

/// No panic, the same events however the bytes are cut, not much more of them than there are bytes; and whoever listens
/// to them takes them all.
///
/// # Panics
/// When one of these does not hold.
pub(crate) fn parser_holds(format: OutputFormat, bytes: &[u8], sizes: &[usize]) {
    let whole = events(format, bytes, &[]);
    let cut = events(format, bytes, sizes);
    let text = |events: &[AgentEvent]| -> Vec<String> {
        events.iter().map(|event| serde_json::to_string(event).expect("an event is JSON")).collect()
    };
    let (whole_text, cut_text) = (text(&whole), text(&cut));
    let same = whole_text.iter().zip(&cut_text).take_while(|(whole, cut)| whole == cut).count();
    let shown = |events: &[String]| -> String {
        events.get(same).map_or_else(|| "the end".into(), |event| event.chars().take(500).collect())
    };
    assert!(
        same == whole_text.len().max(cut_text.len()),
        "{format:?} in chunks of {sizes:?}: event {same} is\n{}\nnot\n{}",
        shown(&cut_text),
        shown(&whole_text)
    );
    let size: usize = whole_text.iter().map(String::len).sum();
    assert!(
        size <= EVENT_BYTES + EVENT_BYTES_PER_BYTE * bytes.len(),
        "{format:?} makes {size} bytes of events of {} bytes",
        bytes.len()
    );
    let mut observer = Observer::new(Some("DONE"));
    let mut conversation = Conversation::default();
    let mut patience = Patience::new(std::time::Duration::from_secs(86_400));
    for event in &whole {
        observer.see(event);
        conversation.see(event);
        let _ = patience.see(event, std::time::Duration::ZERO, None);
    }
    let _ = observer.finish();
    assert!(conversation.finish().len() <= 16_000);
}

/// Sizes that hang on the input alone, so that a fuzzer can choose them: its last bytes.
pub(crate) fn sizes_of(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().rev().take(4).map(|byte| usize::from(*byte) + 1).collect()
}
