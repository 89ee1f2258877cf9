//! Looking for the promise (L7): across chunk borders, in any output size, in constant memory.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use memchr::memmem::Finder;

use super::quotation::{Output, Quotations};

/// Finds a text in a stream of chunks.
#[derive(Debug)]
pub(crate) struct PromiseSearch {
    finder: Finder<'static>,
    /// The last bytes of the chunk before, in which a match may have begun.
    tail: Vec<u8>,
    /// How many bytes have gone by.
    seen: u64,
}

impl PromiseSearch {
    /// Looks for `promise`; an empty one is never found.
    pub(crate) fn new(promise: &str) -> Option<Self> {
        (!promise.is_empty()).then(|| Self {
            finder: Finder::new(promise).into_owned(),
            tail: Vec::new(),
            seen: 0,
        })
    }

    /// Calls `found` with the offset of each match that ends in these bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(u64)) {
        let width = self.finder.needle().len();
        // Across the border: the tail and just enough of the new bytes.
        if !self.tail.is_empty() {
            let before = self.tail.len();
            let mut border = self.tail.clone();
            border.extend_from_slice(&bytes[..bytes.len().min(width - 1)]);
            let start = self.seen - before as u64;
            for at in self.finder.find_iter(&border).filter(|at| *at < before) {
                found(start + at as u64);
            }
        }
        for at in self.finder.find_iter(bytes) {
            found(self.seen + at as u64);
        }
        self.seen += bytes.len() as u64;
        let keep = width - 1;
        if bytes.len() >= keep {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - keep..]);
        } else {
            self.tail.extend_from_slice(bytes);
            let over = self.tail.len().saturating_sub(keep);
            self.tail.drain(..over);
        }
    }
}

/// Tells a promise that the agent makes from one that stands in a prompt it merely repeats.
///
/// A plain-text agent may echo its whole prompt. Where the bytes around a match are the prompt itself, word for word, the
/// match is not the agent's own. The raw file is the memory for that; nothing is held here.
#[derive(Debug)]
pub(crate) struct EchoFilter {
    prompt: Vec<u8>,
    /// Where the promise stands in the prompt.
    places: Vec<usize>,
    quotations: Quotations,
}

impl EchoFilter {
    /// For a prompt as it stands in the raw file, that is with secrets masked.
    pub(crate) fn new(prompt: &str, promise: &str) -> Self {
        let quotations = Quotations::new(prompt, promise);
        let prompt = prompt.trim_end().as_bytes().to_vec();
        let places = if promise.is_empty() {
            Vec::new()
        } else {
            memchr::memmem::find_iter(&prompt, promise).collect()
        };
        Self { prompt, places, quotations }
    }

    /// Whether a match at `offset` lies inside a repetition or a quotation of the prompt; none while too little has been
    /// written to tell.
    pub(crate) fn is_echo(&self, raw: &File, offset: u64, written: u64, output: Output) -> Option<bool> {
        let mut undecided = false;
        for &place in &self.places {
            let Some(start) = offset.checked_sub(place as u64) else { continue };
            let there =
                usize::try_from(written.saturating_sub(start)).unwrap_or(usize::MAX).min(self.prompt.len());
            match self.begins_at(raw, start, there) {
                true if there == self.prompt.len() => return Some(true),
                true => undecided = true,
                false => {}
            }
        }
        match self.quotations.is_quoted(raw, offset, written, output) {
            Some(false) if undecided && output == Output::Open => None,
            quoted => quoted,
        }
    }

    /// Whether the first `length` bytes of the prompt stand at `start`.
    fn begins_at(&self, raw: &File, start: u64, length: usize) -> bool {
        let mut buffer = [0_u8; 8192];
        self.prompt[..length].chunks(buffer.len()).enumerate().all(|(index, expected)| {
            let read = &mut buffer[..expected.len()];
            let at = start + (index * 8192) as u64;
            raw.read_exact_at(read, at).is_ok() && read == expected
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn found(text: &[u8], promise: &str, size: usize) -> Vec<u64> {
        let mut search = PromiseSearch::new(promise).unwrap();
        let mut all = Vec::new();
        for chunk in text.chunks(size) {
            search.feed(chunk, |at| all.push(at));
        }
        all
    }

    #[test]
    fn l7_a_promise_is_found_wherever_it_is_cut() {
        let text = b"so: <promise>COMPLETE</promise> and more";
        for size in 1..text.len() {
            assert_eq!(found(text, "<promise>COMPLETE</promise>", size), [4], "chunks of {size}");
        }
        assert!(found(text, "<promise>complete</promise>", 7).is_empty(), "case matters");
        assert!(PromiseSearch::new("").is_none());
        assert_eq!(found(b"ab", "b", 1), [1]);
    }

    proptest! {
        #[test]
        fn l7_found_exactly_where_it_stands(before in "[ab]{0,20}", after in "[ab]{0,20}", size in 1_usize..8) {
            let text = format!("{before}xyz{after}");
            prop_assert_eq!(found(text.as_bytes(), "xyz", size), [before.len() as u64]);
        }
    }

    #[test]
    fn l7_a_repeated_prompt_is_not_the_agents_own_promise() {
        let prompt = "Do it.\nSay DONE when done.\n";
        let filter = EchoFilter::new(prompt, "DONE");
        let mut raw = tempfile::tempfile().unwrap();
        let text = format!("> {prompt}\nworking\nDONE\n");
        raw.write_all(text.as_bytes()).unwrap();
        let matches = found(text.as_bytes(), "DONE", 5);
        let verdicts: Vec<_> =
            matches.iter().map(|at| filter.is_echo(&raw, *at, text.len() as u64, Output::Ended)).collect();
        assert_eq!(verdicts, [Some(true), Some(false)]);
        let early = filter.is_echo(&raw, matches[0], matches[0] + 4, Output::Open);
        assert_eq!(early, None, "too early to tell");
    }
}
