//! Keeps the values of keys and tokens out of everything that is written to disk.
//!
//! Masking happens once, between the pipe and the raw file, so that whatever reads the file later (parser, log, page,
//! summary) cannot leak what was never stored. A secret becomes as many `*` as it has bytes: offsets stay true. Forms
//! that JSON writers give a secret are masked too; base64 and URL encoding are not recognised.
//!
//! In the lines of an agent that writes JSON only texts are masked, never what the line means (`json_line`): what is
//! read from the stored bytes is what was read live.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, packed};

use self::format_words::is_format_word;
use self::forms::Form;
use self::json_line::{AROUND, MatchContext};

mod format_words;
mod forms;
mod json_line;
mod names;

/// Whether a variable of this name holds a secret, as far as its name tells: such a value is never stored.
pub fn is_secret_name(name: &str) -> bool {
    names::is_secret(name)
}

/// What a stream is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Anything: every secret in it is masked.
    Text,
    /// A JSON object a line, between lines of anything.
    JsonLines,
}

/// Replaces known secrets in byte streams and texts.
pub struct Masker {
    forms: Vec<Form>,
    longest: usize,
    finder: Finder,
}

enum Finder {
    Nothing,
    Packed(packed::Searcher),
    Automaton(AhoCorasick),
}

impl Finder {
    fn new(forms: &[Form]) -> Self {
        let secrets: Vec<&[u8]> = forms.iter().map(|form| form.bytes.as_slice()).collect();
        if secrets.is_empty() {
            return Self::Nothing;
        }
        // The vector search knows up to 64 patterns; past that it would fall back to something slower than the automaton.
        let vectorised = (secrets.len() <= 64)
            .then(|| {
                packed::Config::new()
                    .match_kind(packed::MatchKind::LeftmostLongest)
                    .builder()
                    .extend(&secrets)
                    .build()
            })
            .flatten();
        if let Some(searcher) = vectorised {
            return Self::Packed(searcher);
        }
        AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(&secrets)
            .map_or(Self::Nothing, Self::Automaton)
    }

    /// The first secret in `bytes`, as start and end.
    fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::Nothing => None,
            Self::Packed(searcher) => searcher.find(bytes).map(|m| (m.start(), m.end())),
            Self::Automaton(automaton) => automaton.find(bytes).map(|m| (m.start(), m.end())),
        }
    }
}

impl Masker {
    /// Masks exactly these values and their escaped forms; empty ones are left out.
    pub fn new(secrets: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| !secret.is_empty());
        let mut forms: Vec<Form> = secrets.flat_map(|secret| forms::of(&secret)).collect();
        forms.sort();
        forms.dedup();
        let longest = forms.iter().map(|form| form.bytes.len()).max().unwrap_or(0);
        let finder = Finder::new(&forms);
        Self { forms, longest, finder }
    }

    /// Masks the values of those variables whose name says that they are secrets.
    pub fn from_env(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let secret = |(name, value): (OsString, OsString)| {
            let value = value.as_bytes().trim_ascii();
            let is_secret = value.len() >= names::SHORTEST
                && name.to_str().is_some_and(names::is_secret)
                && !is_format_word(value);
            is_secret.then(|| value.to_vec())
        };
        Self::new(vars.into_iter().filter_map(secret))
    }

    /// What a stream may have to hold back.
    pub(crate) fn longest(&self) -> usize {
        if self.is_empty() { 0 } else { self.longest + AROUND }
    }

    /// True when there is nothing to mask, so that callers can leave the bytes alone.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Masks a complete piece, or the end of a stream, in place.
    pub(crate) fn mask_all(&self, bytes: &mut [u8]) {
        let mut done = 0;
        while let Some((start, end)) = self.finder.find(&bytes[done..]) {
            bytes[done + start..done + end].fill(b'*');
            done += end;
        }
    }

    /// The text without its secrets.
    pub fn mask_str(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.mask_all(&mut bytes);
        match String::from_utf8(bytes) {
            Ok(masked) => masked,
            // Only a secret that is not UTF-8 itself can cut a character in two.
            Err(cut) => String::from_utf8_lossy(cut.as_bytes()).into_owned(),
        }
    }

    /// Where the longest suffix of `bytes[from..]` begins that is a proper prefix of a secret; `bytes.len()` if none.
    fn open_end(&self, bytes: &[u8], from: usize) -> usize {
        let first = bytes.len().saturating_sub(self.longest.saturating_sub(1)).max(from);
        (first..bytes.len())
            .find(|&at| {
                let tail = &bytes[at..];
                self.forms.iter().any(|form| form.bytes.len() > tail.len() && form.bytes.starts_with(tail))
            })
            .unwrap_or(bytes.len())
    }
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the values.
        f.debug_struct("Masker").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}

/// Masks a stream that comes in pieces.
#[derive(Debug)]
pub struct StreamMask {
    masker: Arc<Masker>,
    content: Content,
    /// The end of what is final already.
    before: Vec<u8>,
    line: Line,
}

/// The line in which the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing of it was seen but blanks.
    Begins,
    Json,
    Other,
}

/// Whether more can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Possible,
    Never,
}

impl Line {
    fn after(self, bytes: &[u8]) -> Self {
        let (line, bytes) = match memchr::memrchr(b'\n', bytes) {
            Some(newline) => (Self::Begins, &bytes[newline + 1..]),
            None => (self, bytes),
        };
        match (line, bytes.trim_ascii_start().first()) {
            (Self::Begins, Some(b'{')) => Self::Json,
            (Self::Begins, Some(_)) => Self::Other,
            (line, _) => line,
        }
    }
}

impl StreamMask {
    /// For a stream of this content, from its beginning.
    pub fn new(masker: Arc<Masker>, content: Content) -> Self {
        Self { masker, content, before: Vec::new(), line: Line::Begins }
    }

    /// What it may have to hold back.
    pub(crate) fn longest(&self) -> usize {
        self.masker.longest()
    }

    /// Masks `bytes`, the newest part of the stream, in place and returns how many of them are final.
    ///
    /// The rest may be the beginning of a secret: the caller keeps it and passes it again in front of what follows.
    #[must_use]
    pub fn mask(&mut self, bytes: &mut [u8]) -> usize {
        if self.masker.is_empty() {
            return bytes.len();
        }
        let done = self.mask_until(bytes, More::Possible);
        self.passed(&bytes[..done]);
        done
    }

    /// Masks what was held back: nothing follows it.
    pub fn finish(&mut self, bytes: &mut [u8]) {
        self.mask_until(bytes, More::Never);
    }

    fn mask_until(&self, bytes: &mut [u8], more: More) -> usize {
        let masker = &self.masker;
        let mut done = 0;
        loop {
            let open = match more {
                More::Possible => masker.open_end(bytes, done),
                More::Never => bytes.len(),
            };
            let (start, longest) = match masker.finder.find(&bytes[done..]) {
                // A match behind an open end would lose against the longer, earlier secret that may still complete.
                Some((start, end)) if done + start < open => (done + start, done + end),
                _ => return open,
            };
            done = match self.end_of_secret(bytes, start, longest) {
                (MatchContext::Text, end) => {
                    bytes[start..end].fill(b'*');
                    end
                }
                // Held back until enough of the line has come to judge it; a secret that is written cannot be masked
                // any more.
                (MatchContext::Unknown, _) if more == More::Possible => return start,
                // Only one byte further: another secret may begin inside of this match.
                (MatchContext::Structure | MatchContext::Unknown, _) => start + 1,
            };
        }
    }

    /// Whether the bytes from `start` on are a secret to be masked, and up to where.
    fn end_of_secret(&self, bytes: &[u8], start: usize, longest: usize) -> (MatchContext, usize) {
        let is_json = self.content == Content::JsonLines && self.line.after(&bytes[..start]) == Line::Json;
        if !is_json {
            return (MatchContext::Text, longest);
        }
        // Of what matches here only what can stand in a string does.
        let forms =
            self.masker.forms.iter().filter(|form| form.in_json && bytes[start..].starts_with(&form.bytes));
        match forms.map(|form| form.bytes.len()).max() {
            Some(length) => {
                let end = start + length;
                (json_line::place(&self.before, bytes, (start, end)), end)
            }
            None => (MatchContext::Structure, start),
        }
    }

    fn passed(&mut self, bytes: &[u8]) {
        if self.content == Content::Text {
            return;
        }
        self.line = self.line.after(bytes);
        let kept = &bytes[bytes.len().saturating_sub(AROUND)..];
        let over = (self.before.len() + kept.len()).saturating_sub(AROUND);
        self.before.drain(..over);
        self.before.extend_from_slice(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masker(secrets: &[&str]) -> Masker {
        Masker::new(secrets.iter().map(|secret| secret.as_bytes().to_vec()))
    }

    /// Feeds the pieces as a stream would.
    fn stream<'a>(masker: Masker, content: Content, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut mask = StreamMask::new(Arc::new(masker), content);
        let (mut held, mut out) = (Vec::new(), Vec::new());
        for piece in pieces {
            held.extend_from_slice(piece);
            let done = mask.mask(&mut held);
            out.extend(held.drain(..done));
        }
        mask.finish(&mut held);
        out.extend(held);
        out
    }

    fn in_json(secrets: &[&str], text: &str) -> String {
        let masked = stream(masker(secrets), Content::JsonLines, [text.as_bytes()]);
        for size in 1..40 {
            let pieces = text.as_bytes().chunks(size);
            assert_eq!(stream(masker(secrets), Content::JsonLines, pieces), masked, "in pieces of {size}");
        }
        assert_eq!(masked.len(), text.len());
        String::from_utf8(masked).unwrap()
    }

    #[test]
    fn s15_only_texts_of_a_json_line_are_masked() {
        let secret = "0123456789ab";
        let line = r#"{"session_id":"0123456789ab","n":0123456789ab,"text":"x 0123456789ab"}"#;
        assert_eq!(
            in_json(&[secret], line),
            r#"{"session_id":"0123456789ab","n":************,"text":"x ************"}"#,
            "letters outside a string are no JSON"
        );
        let digits = "123456789012";
        let line =
            r#"{"at":123456789012,"list":[1, 123456789012],"id":"123456789012","text":"123456789012, 9"}"#;
        let masked =
            r#"{"at":123456789012,"list":[1, 123456789012],"id":"123456789012","text":"************, 9"}"#;
        assert_eq!(in_json(&[digits], line), masked);
        assert_eq!(
            in_json(&[digits], "told 123456789012\n{\"a\":123456789012}\n: 123456789012\n"),
            "told ************\n{\"a\":123456789012}\n: ************\n",
            "other lines are text"
        );
        let nested = r#"{"output":"{\"session_id\":\"0123456789ab\"}"}"#;
        assert_eq!(in_json(&[secret], nested), r#"{"output":"{\"session_id\":\"************\"}"}"#);
        let long = format!(r#"{{"id":"0123456789ab{}"}}"#, "x".repeat(300));
        assert!(in_json(&[secret], &long).starts_with(r#"{"id":"************x"#), "no id is that long");
    }

    #[test]
    fn s15_an_escape_is_never_cut() {
        let secrets = ["nothing-to-see", "00e9-and-more", "e9-and-more-x"];
        let line = r#"{"text":"a\nothing-to-see \u00e9-and-more-x \\nothing-to-see"}"#;
        assert_eq!(
            in_json(&secrets, line),
            r#"{"text":"a\nothing-to-see \u00e9-and-more-x \\**************"}"#
        );
    }

    #[test]
    fn s15_escaped_forms_are_masked_and_structure_is_not() {
        let secret = "pa\"ss\\wörd/\nend";
        let all = ["plain", r"\u00f6", r"\u00F6"].map(|style| {
            let json = serde_json::to_string(secret).unwrap();
            if style == "plain" { json } else { json.replace('ö', style) }
        });
        for json in all {
            for json in [json.clone(), json.replace('/', "\\/")] {
                let line = format!(r#"{{"text":"x","said":{json}}}"#);
                let masked = in_json(&[secret], &line);
                let value: serde_json::Value = serde_json::from_str(&masked).unwrap();
                assert_eq!(value["said"], "*".repeat(json.len() - 2), "{json}");
            }
        }
        // What looks like a secret with quotes is the line's own structure.
        let line = r#"{"type":"text","text":"hello"}"#;
        assert_eq!(in_json(&[r#""type":"text""#, r#"text":"hello""#], line), line);
        assert_eq!(
            masker(&[r#"a"b"c"d"e"f"g"h"#]).mask_str(r#"echo a"b"c"d"e"f"g"h"#),
            format!("echo {}", "*".repeat(15))
        );
    }

    #[test]
    fn a_secret_split_at_any_byte_is_caught() {
        let masker = || masker(&["sk-0123456789abcdef", "sk-0123456789abcdef-long", "f-other-secret"]);
        let text = b"a sk-0123456789abcdef-long b sk-0123456789abcdef c f-other-secret sk-01".as_slice();
        let whole = stream(masker(), Content::Text, [text]);
        assert_eq!(
            whole,
            b"a ************************ b ******************* c ************** sk-01".as_slice()
        );
        for first in 0..text.len() {
            for second in first..text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(stream(masker(), Content::Text, pieces), whole, "split at {first} and {second}");
            }
        }
        assert_eq!(stream(masker(), Content::Text, text.chunks(1)), whole);
    }

    #[test]
    fn only_a_possible_beginning_is_held_back() {
        let mask = || StreamMask::new(Arc::new(masker(&["abcdefghijkl"])), Content::Text);
        assert_eq!(mask().mask(&mut b"hello abc".to_vec()), 6);
        assert_eq!(mask().mask(&mut b"hello abd".to_vec()), 9);
    }

    #[test]
    fn more_secrets_than_the_vector_search_knows() {
        let masker = Masker::new((0..300).map(|n| format!("secret-number-{n:04}").into_bytes()));
        assert_eq!(masker.mask_str("x secret-number-0299 y"), "x ****************** y");
    }

    #[test]
    fn s15_whatever_the_value_looks_like() {
        let masked = |name: &str, value: &str| !Masker::from_env([(name.into(), value.into())]).is_empty();
        for value in
            ["correct horse battery", "alllowercase", "/etc/no/place", "000000000000", " 12bytesvalue "]
        {
            assert!(masked("PGPASSWORD", value), "{value}");
            assert!(!masked("EDITOR", value), "{value}");
        }
        assert!(!masked("PGPASSWORD", "elevenbytes"), "too short");
        for word in ["input_tokens", "cache_read_input_tokens", "RESOURCE_EXHAUSTED"] {
            assert!(!masked("FOO_TOKEN", word), "{word} is a word of a format");
        }
    }

    proptest! {
        #[test]
        fn chunks_never_matter(text in "[ab*]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..8)) {
            let masker = || masker(&["aab", "ab", "abba", "b*a"]);
            let whole = stream(masker(), Content::Text, [text.as_bytes()]);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]);
            prop_assert_eq!(&stream(masker(), Content::Text, pieces), &whole);
            let mut at_once = text.into_bytes();
            masker().mask_all(&mut at_once);
            prop_assert_eq!(at_once, whole);
        }
    }
}
