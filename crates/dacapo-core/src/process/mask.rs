//! Keeps the values of keys and tokens out of everything that is written to disk.
//!
//! Masking happens once, between the pipe and the raw file, so that whatever reads the file later (parser, log, page,
//! summary) cannot leak what was never stored. A secret becomes as many `*` as it has bytes: offsets stay true. Forms
//! that others give a secret are masked too: escaped for JSON, encoded for addresses and in base64, and each line of a key
//! that has several (`forms`).
//!
//! In the lines of an agent that writes JSON only texts are masked, never what the line means (`json_line`): what is
//! read from the stored bytes is what was read live.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use self::finder::{Finder, Progress};
use self::format_words::is_format_word;
use self::forms::Form;
use self::json_line::{AROUND, MatchContext};

mod base64;
mod finder;
mod format_words;
mod forms;
mod json_line;
mod lines;
mod names;
mod scan;
mod url;

pub use scan::SecretScan;

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

/// Replaces known secrets in byte streams and texts, and finds them in files.
pub struct Masker {
    /// Sorted, each once.
    forms: Vec<Form>,
    /// The names of the variables that hold them.
    variables: Vec<String>,
    longest: usize,
    finder: Finder,
}

impl Masker {
    /// Masks exactly these values and their other forms; empty ones are left out.
    pub fn new(secrets: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self::of(secrets.into_iter().map(|secret| (String::new(), secret)))
    }

    /// Masks the values of those variables whose name says that they are secrets.
    pub fn from_env(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let secret = |(name, value): (OsString, OsString)| {
            let value = value.as_bytes().trim_ascii();
            let name = name.into_string().ok()?;
            let is_secret =
                value.len() >= names::SHORTEST && names::is_secret(&name) && !is_format_word(value);
            is_secret.then(|| (name, value.to_vec()))
        };
        Self::of(vars.into_iter().filter_map(secret))
    }

    fn of(secrets: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let (mut variables, mut forms) = (Vec::new(), Vec::new());
        for (variable, secret) in secrets.into_iter().filter(|(_, secret)| !secret.is_empty()) {
            forms.extend(forms::of(&secret, variables.len()));
            variables.push(variable);
        }
        let forms = forms::once_each(forms);
        let longest = forms.iter().map(|form| form.bytes.len()).max().unwrap_or(0);
        let finder = Finder::new(&forms);
        Self { forms, variables, longest, finder }
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
        let (mut done, mut progress) = (0, Progress::default());
        while let Some((start, form)) = self.finder.find(&self.forms, bytes, done, &mut progress) {
            done = start + form.bytes.len();
            bytes[start..done].fill(b'*');
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
        (first..bytes.len()).find(|&at| finder::begins_one(&self.forms, &bytes[at..])).unwrap_or(bytes.len())
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
        let (mut done, mut progress) = (0, Progress::default());
        loop {
            let open = match more {
                More::Possible => masker.open_end(bytes, done),
                More::Never => bytes.len(),
            };
            let (start, longest) = match masker.finder.find(&masker.forms, bytes, done, &mut progress) {
                // A match behind an open end would lose against the longer, earlier secret that may still complete.
                Some((start, form)) if start < open => (start, start + form.bytes.len()),
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
        let forms = finder::at(&self.masker.forms, &bytes[start..]).filter(|form| form.in_json);
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
mod tests;
