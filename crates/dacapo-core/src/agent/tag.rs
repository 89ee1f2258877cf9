//! What an agent can say besides its work: `<blocked>why</blocked>` (L18) and `<tests-changed>why</tests-changed>` (L20), read
//! as the promise is.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::observe::{RawSearch, WhichMatch};

/// What stands between the marks in the rule that tells of them: who repeats the rule says nothing.
pub const PLACEHOLDER: &str = "why";
/// A question is not longer; what is, is no question.
const LONGEST: usize = 8 << 10;

/// What an agent says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// It cannot go on without a person.
    Blocked,
    /// Tests must change.
    TestsChanged,
}

impl Tag {
    fn open(self) -> &'static str {
        match self {
            Tag::Blocked => "<blocked>",
            Tag::TestsChanged => "<tests-changed>",
        }
    }

    fn close(self) -> &'static str {
        match self {
            Tag::Blocked => "</blocked>",
            Tag::TestsChanged => "</tests-changed>",
        }
    }
}

/// Finds the newest reason in what an agent says, across pieces, in bounded memory.
#[derive(Debug)]
pub(super) struct TagSearch {
    tag: Tag,
    held: String,
    inside: bool,
    newest: Option<String>,
}

impl TagSearch {
    pub(super) fn new(tag: Tag) -> Self {
        Self { tag, held: String::new(), inside: false, newest: None }
    }

    pub(super) fn feed(&mut self, text: &str) {
        self.held.push_str(text);
        loop {
            let mark = if self.inside { self.tag.close() } else { self.tag.open() };
            let Some(at) = self.held.find(mark) else { break };
            if self.inside {
                self.newest = reason(self.tag, &self.held[..at]).or(self.newest.take());
            }
            self.held.drain(..at + mark.len());
            self.inside = !self.inside;
        }
        if self.inside && self.held.len() > LONGEST {
            self.inside = false;
        }
        if !self.inside {
            let mut from = self.held.len().saturating_sub(self.tag.open().len() - 1);
            while !self.held.is_char_boundary(from) {
                from += 1;
            }
            self.held.drain(..from);
        }
    }

    pub(super) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }
}

/// The same in the raw bytes of a plain-text agent, with echoes of the prompt left aside.
#[derive(Debug)]
pub(crate) struct RawTag {
    tag: Tag,
    search: RawSearch,
}

impl RawTag {
    pub(crate) fn new(tag: Tag, masked_prompt: &str) -> Option<Self> {
        let search = RawSearch::new(tag.close(), masked_prompt, WhichMatch::Newest)?;
        Some(Self { tag, search })
    }

    pub(crate) fn feed(&mut self, bytes: &[u8], raw: &File) {
        self.search.feed(bytes, raw);
    }

    pub(crate) fn finish(self, raw: &File) -> Option<String> {
        let Self { tag, search } = self;
        let end = search.finish(raw)?;
        let from = end.saturating_sub(LONGEST as u64);
        let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(0)];
        raw.read_exact_at(&mut bytes, from).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        text.rfind(tag.open()).and_then(|at| reason(tag, &text[at + tag.open().len()..]))
    }
}

/// Of several beginnings the last counts.
fn reason(tag: Tag, inside: &str) -> Option<String> {
    let words = inside.rsplit(tag.open()).next().unwrap_or_default().trim();
    (words != PLACEHOLDER).then(|| words.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn said(pieces: &[&str]) -> Option<String> {
        let mut search = TagSearch::new(Tag::Blocked);
        pieces.iter().for_each(|piece| search.feed(piece));
        search.newest().map(str::to_owned)
    }

    fn printed(prompt: &str, output: &str, size: usize) -> Option<String> {
        let mut raw = tempfile::tempfile().unwrap();
        let mut search = RawTag::new(Tag::Blocked, prompt).unwrap();
        for chunk in output.as_bytes().chunks(size) {
            raw.write_all(chunk).unwrap();
            search.feed(chunk, &raw);
        }
        search.finish(&raw)
    }

    #[test]
    fn l18_a_reason_is_found_wherever_it_is_cut() {
        let text = "I tried. <blocked>Which key, 甲 or 乙?</blocked> Bye.";
        for size in 1..text.len() {
            let mut search = TagSearch::new(Tag::Blocked);
            let mut from = 0;
            while from < text.len() {
                let mut to = (from + size).min(text.len());
                while !text.is_char_boundary(to) {
                    to += 1;
                }
                search.feed(&text[from..to]);
                from = to;
            }
            assert_eq!(search.newest(), Some("Which key, 甲 or 乙?"), "pieces of {size}");
            assert_eq!(printed("Do it.", text, size).as_deref(), Some("Which key, 甲 or 乙?"));
        }
    }

    #[test]
    fn l18_the_newest_counts_and_half_of_one_does_not() {
        assert_eq!(said(&["<blocked>a</blocked> then <blocked>b</blocked>"]).as_deref(), Some("b"));
        assert_eq!(said(&["I never use <blocked> here"]), None);
        assert_eq!(said(&["<blocked>why</blocked>"]), None, "the rule repeated");
        assert_eq!(said(&["<blocked>", &"x".repeat(LONGEST + 1), "</blocked>"]), None);
        assert_eq!(said(&["<blocked> the <blocked>key</blocked>"]).as_deref(), Some("key"));
        assert_eq!(printed("Do it.", "no <blocked> and </promise>", 5), None);
        assert_eq!(printed("Do it.", "</blocked>", 5), None);
    }

    #[test]
    fn l18_a_repeated_or_quoted_prompt_is_not_the_agents_own_word() {
        let prompt = "Do it.\nIf you cannot, end with <blocked>ask me first</blocked> instead.\nGood luck.\n";
        for echo in [prompt.to_owned(), format!("> {}", prompt.trim_end().replace('\n', "\n> "))] {
            assert_eq!(printed(prompt, &format!("{echo}\nworking\n"), 7), None, "{echo}");
            let own = format!("{echo}\nworking\n<blocked>No access.</blocked>\n");
            assert_eq!(printed(prompt, &own, 7).as_deref(), Some("No access."), "{echo}");
        }
    }

    proptest! {
        #[test]
        fn r3_what_is_held_is_bounded(pieces in prop::collection::vec("(<blocked>|</blocked>|[a-z<>長]){0,50}", 0..60)) {
            let mut search = TagSearch::new(Tag::Blocked);
            for piece in &pieces {
                search.feed(piece);
                prop_assert!(search.held.len() <= LONGEST + piece.len());
            }
        }
    }
}
