//! A plain-text agent: all of its stdout is what it says.

use super::Parser;
use crate::event::AgentEvent;

/// Cuts text into pieces of bounded size, never inside a character. Bytes that are no text become `�`.
#[derive(Debug, Clone, Default)]
pub(super) struct TextParser {
    /// The beginning of a character whose end has not come yet; at most three bytes.
    held: Vec<u8>,
}

impl Parser for TextParser {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        if self.held.is_empty() {
            self.say(bytes, sink);
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(bytes);
            self.say(&joined, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn FnMut(AgentEvent)) {
        if !self.held.is_empty() {
            let text = String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned();
            sink(AgentEvent::Text { text });
        }
    }

    fn checkpoint(&self) -> Box<dyn Parser> {
        Box::new(self.clone())
    }
}

impl TextParser {
    fn say(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        let whole = match std::str::from_utf8(bytes) {
            Ok(_) => bytes,
            Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
            // Somewhere in the middle it is no text at all; only what may be the start of a character at the end waits.
            Err(_) => &bytes[..bytes.len() - unfinished(bytes)],
        };
        self.held = bytes[whole.len()..].to_vec();
        if !whole.is_empty() {
            sink(AgentEvent::Text { text: String::from_utf8_lossy(whole).into_owned() });
        }
    }
}

/// How many bytes at the end may be the start of a character.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    (1..=3.min(bytes.len()))
        .find(|&back| {
            let start = &bytes[bytes.len() - back..];
            std::str::from_utf8(start)
                .is_err_and(|error| error.error_len().is_none() && error.valid_up_to() == 0)
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(bytes: &[u8], size: usize) -> String {
        let mut out = String::new();
        let mut sink = |event| match event {
            AgentEvent::Text { text } => out.push_str(&text),
            other => panic!("{other:?}"),
        };
        let mut parser = TextParser::default();
        for chunk in bytes.chunks(size) {
            parser.feed(chunk, &mut sink);
        }
        parser.finish(&mut sink);
        out
    }

    proptest! {
        #[test]
        fn text_is_the_same_however_it_is_cut(text in "\\PC{0,100}", size in 1_usize..9) {
            prop_assert_eq!(parsed(text.as_bytes(), size), text);
        }

        #[test]
        fn r3_any_bytes_become_text(bytes in prop::collection::vec(any::<u8>(), 0..100), size in 1_usize..9) {
            let text = parsed(&bytes, size);
            prop_assert!(text.len() <= bytes.len() * 3);
        }
    }
}
