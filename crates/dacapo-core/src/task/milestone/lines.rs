//! Lines of Markdown, told apart as far as definitions and reports need it: headings, list items, and what stands in a
//! code fence or an HTML comment and so is neither.

use super::definition::DefinitionError;
use super::flaw::Flaw;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The line's number, from 1.
    pub(super) number: usize,
    pub(super) text: &'a str,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Blank,
    Heading {
        level: usize,
        text: &'a str,
    },
    /// `- …`, `* …`, `+ …`, `1. …`, `1) …`.
    Item {
        indent: usize,
        text: &'a str,
    },
    Text,
    /// Inside a code fence, or its first or last line.
    Fenced,
}

/// The lines of a text. Comments are left out; a fence that has no end is an error.
pub(super) struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    from: usize,
    /// The fence that is open: its character, its length, its line.
    fence: Option<(u8, usize, usize)>,
    in_comment: bool,
    ended: bool,
}

impl<'a> Lines<'a> {
    /// Of `text`, the first line of which has the number `from`.
    pub(super) fn of(text: &'a str, from: usize) -> Self {
        Self { lines: text.lines().enumerate(), from, fence: None, in_comment: false, ended: false }
    }

    /// The same, where an open fence just goes on to the end.
    pub(super) fn lenient(text: &'a str) -> impl Iterator<Item = Line<'a>> {
        Self::of(text, 1).filter_map(Result::ok)
    }

    fn kind(&mut self, number: usize, text: &'a str) -> Kind<'a> {
        let trimmed = text.trim();
        let run = |byte: u8| trimmed.bytes().take_while(|b| *b == byte).count();
        if let Some((byte, length, _)) = self.fence {
            if run(byte) >= length && trimmed.len() == run(byte) {
                self.fence = None;
            }
            return Kind::Fenced;
        }
        for byte in [b'`', b'~'] {
            // An inline `code` of three ticks has them again behind it.
            if run(byte) >= 3 && !trimmed[run(byte)..].contains(char::from(byte)) {
                self.fence = Some((byte, run(byte), number));
                return Kind::Fenced;
            }
        }
        if trimmed.is_empty() {
            return Kind::Blank;
        }
        let indent = text.len() - text.trim_start().len();
        let level = run(b'#');
        // Without a space it is none, but for scripts that have none.
        let apart = |c: char| matches!(c, ' ' | '\t') || (level >= 2 && !c.is_ascii());
        if indent <= 3 && (1..=6).contains(&level) && trimmed[level..].starts_with(apart) {
            return Kind::Heading { level, text: trimmed[level..].trim().trim_end_matches('#').trim_end() };
        }
        match item(trimmed) {
            Some(text) => Kind::Item { indent, text },
            None => Kind::Text,
        }
    }
}

/// What follows the marker of a list item.
pub(super) fn item(trimmed: &str) -> Option<&str> {
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => trimmed.strip_prefix(['-', '*', '+'])?,
        1..=9 => trimmed[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

impl<'a> Iterator for Lines<'a> {
    type Item = Result<Line<'a>, DefinitionError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((at, text)) = self.lines.next() else {
                let open = self.fence.filter(|_| !std::mem::replace(&mut self.ended, true));
                return open.map(|(_, _, number)| Err(DefinitionError::at(number, Flaw::CodeFenceNotClosed)));
            };
            let number = self.from + at;
            if self.in_comment || (self.fence.is_none() && text.trim_start().starts_with("<!--")) {
                self.in_comment = !text.contains("-->");
                continue;
            }
            let kind = self.kind(number, text);
            return Some(Ok(Line { number, text, kind }));
        }
    }
}
