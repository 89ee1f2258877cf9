//! Masking never changes what an agent's stream means (S15): whichever word of its output is a secret of the environment,
//! kinds of events, ids, numbers and how the turn ended stay the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use dacapo_core::agent;
use dacapo_core::event::AgentEvent;
use dacapo_core::process::{Content, Masker, StreamMask};
use dacapo_core::spec::OutputFormat;

use crate::replay::{all_output, events, output};

/// What is stored of a stream that comes in pieces of this size.
fn stored(masker: &Arc<Masker>, output: &[u8], piece: usize) -> Vec<u8> {
    let mut mask = StreamMask::new(Arc::clone(masker), Content::JsonLines);
    let (mut held, mut file) = (Vec::new(), Vec::new());
    for bytes in output.chunks(piece) {
        held.extend_from_slice(bytes);
        let done = mask.mask(&mut held);
        file.extend(held.drain(..done));
    }
    mask.finish(&mut held);
    file.extend(held);
    file
}

/// An event without its words.
fn meaning(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Text { .. } => "text".into(),
        AgentEvent::Thinking { .. } => "thinking".into(),
        AgentEvent::ToolCall { id, .. } => format!("call {id}"),
        AgentEvent::ToolResult { id, failed, .. } => format!("result {id} {failed}"),
        AgentEvent::Plan { steps } => format!("plan of {}", steps.len()),
        AgentEvent::Retry { status, .. } => format!("retry {status:?}"),
        AgentEvent::Refused { .. } => "refused".into(),
        AgentEvent::Limit { .. } => "limit".into(),
        AgentEvent::Error { failure, .. } => format!("error {failure:?}"),
        AgentEvent::Session { .. } | AgentEvent::Usage(_) | AgentEvent::End { .. } => format!("{event:?}"),
    }
}

fn meanings(format: OutputFormat, output: &[u8]) -> Vec<String> {
    events(format, output, usize::MAX).iter().map(meaning).collect()
}

/// All that could be a secret: runs of characters without blanks and quotes, and what they are made of.
fn words(output: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(output);
    let mut words = BTreeSet::new();
    for separators in [&[' ', '"', '\n'][..], &[' ', '"', '\n', ',', ':', '{', '}', '[', ']', '(', ')', '|']]
    {
        words.extend(text.split(separators).map(|word| word.trim_matches('\\')).map(str::to_owned));
    }
    words.retain(|word| word.len() >= 12 && word.len() <= 200);
    words
}

fn streams() -> impl Iterator<Item = (&'static str, OutputFormat, Vec<u8>)> {
    let agents = agent::BUILT_IN.iter().map(|adapter| (adapter.name(), adapter.format()));
    let agents = agents.chain([("rehearsal", OutputFormat::Rehearsal)]);
    agents.flat_map(|(name, format)| all_output(name).into_iter().map(move |output| (name, format, output)))
}

#[test]
fn s15_masking_any_word_of_a_stream_changes_no_meaning() {
    let mut masked = 0;
    for (name, format, output) in streams() {
        let expected = meanings(format, &output);
        for word in words(&output) {
            let masker = Arc::new(Masker::from_env([("FOO_TOKEN".into(), word.as_str().into())]));
            let file = stored(&masker, &output, usize::MAX);
            assert_eq!(file.len(), output.len());
            masked += u32::from(file != output);
            assert_eq!(meanings(format, &file), expected, "{name}: {word}");
        }
    }
    assert!(masked > 100, "secrets were masked: {masked}");
}

#[test]
fn s15_what_is_stored_does_not_depend_on_how_it_came() {
    for (name, _, output) in streams().filter(|(_, _, output)| output.len() < 8000) {
        for word in words(&output).into_iter().step_by(7) {
            let masker = Arc::new(Masker::from_env([("FOO_TOKEN".into(), word.as_str().into())]));
            let whole = stored(&masker, &output, usize::MAX);
            for piece in [13, 300] {
                assert_eq!(stored(&masker, &output, piece), whole, "{name}: {word} in pieces of {piece}");
            }
        }
    }
}

#[test]
fn s15_a_word_of_the_format_is_no_secret() {
    let printed = output("claude", "multi");
    let masker = Arc::new(Masker::from_env([("FOO_TOKEN".into(), "input_tokens".into())]));
    assert!(masker.is_empty());
    assert_eq!(stored(&masker, &printed, 100), printed);
}
