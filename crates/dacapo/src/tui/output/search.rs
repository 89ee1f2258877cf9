//! What is searched for. Lower case finds both cases; a capital letter finds itself alone.

use std::ops::Range;

/// Text to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    needle: String,
    exact: bool,
}

impl Query {
    /// None: there is nothing to search for.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let exact = text.chars().any(char::is_uppercase);
        (!text.is_empty()).then(|| Self { needle: text.to_owned(), exact })
    }

    pub(crate) fn text(&self) -> &str {
        &self.needle
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// Where it is; none of these overlap.
    pub(crate) fn all_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> = Vec::new();
        while let Some(found) = self.find(text, all.last().map_or(0, |last| last.end)) {
            all.push(found);
        }
        all
    }

    fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        if self.exact {
            let at = memchr::memmem::find(rest.as_bytes(), self.needle.as_bytes())?;
            return Some(from + at..from + at + self.needle.len());
        }
        let first = self.needle.chars().next()?;
        let mut at = from;
        while let Some(next) = next_start(text, at, first) {
            if let Some(length) = self.length_at(&text[next..]) {
                return Some(next..next + length);
            }
            at = next + text[next..].chars().next().map_or(1, char::len_utf8);
        }
        None
    }

    /// How much of the text it is where the text begins with it.
    fn length_at(&self, text: &str) -> Option<usize> {
        let mut chars = text.char_indices();
        for wanted in self.needle.chars() {
            let (_, found) = chars.next()?;
            if found != wanted && !found.to_lowercase().eq(std::iter::once(wanted)) {
                return None;
            }
        }
        Some(chars.next().map_or(text.len(), |(at, _)| at))
    }
}

/// Where it may begin, from some place on.
fn next_start(text: &str, from: usize, first: char) -> Option<usize> {
    let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
    if !first.is_ascii() {
        return Some(from);
    }
    let (lower, upper) = (first as u8, first.to_ascii_uppercase() as u8);
    // The sign for kelvin is the one letter beyond ASCII that is an ASCII letter in lower case, beside the dotted I.
    let found = if first == 'k' || first == 'i' {
        rest.find(|c: char| c.to_lowercase().next() == Some(first))
    } else {
        memchr::memchr2(lower, upper, rest.as_bytes())
    };
    found.map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(query: &str, text: &str) -> Vec<Range<usize>> {
        Query::new(query).unwrap().all_in(text)
    }

    #[test]
    fn lower_case_finds_both() {
        assert_eq!(all("error", "Error: no ERROR, error"), [0..5, 10..15, 17..22]);
        assert_eq!(all("Error", "Error: no ERROR, Error"), [0..5, 17..22]);
        assert_eq!(all("繼續", "說:繼續。繼續"), [4..10, 13..19]);
        assert_eq!(all("é", "É é"), [0..2, 3..5]);
        assert_eq!(all("aa", "aaaa a"), [0..2, 2..4]);
        assert_eq!(all("k", "\u{212a}k"), [0..3, 3..4]);
        assert_eq!(Query::new(""), None);
    }

    proptest! {
        #[test]
        fn every_place_is_found_and_is_one(needle in "[a-cA繼]{1,3}", text in "[a-cA-C繼é]{0,30}") {
            let query = Query::new(&needle).unwrap();
            let found = query.all_in(&text);
            for place in &found {
                let there = &text[place.clone()];
                prop_assert!(there == needle || there.to_lowercase() == needle);
            }
            let same = if query.exact { text.contains(&needle) } else { text.to_lowercase().contains(&needle) };
            prop_assert_eq!(!found.is_empty(), same);
        }
    }
}
