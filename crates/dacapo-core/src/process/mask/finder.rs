//! Finds forms of secrets in bytes, fast: by their beginnings, and the rest only where one of these stands.
//!
//! A secret has many forms, and most of them begin alike. The vector search takes few patterns, so it is given each
//! beginning once.

use aho_corasick::{AhoCorasick, packed};

use super::forms::Form;

/// How much of a form the search looks for.
const BEGINNING: usize = 12;
/// What one vector search takes; past that it is slower than the automaton.
const PATTERNS: usize = 64;
/// So many of them are together still faster than the automaton.
const SEARCHERS: usize = 4;

#[derive(Debug)]
pub(super) enum Finder {
    Nothing,
    Packed(Vec<packed::Searcher>),
    Automaton(AhoCorasick),
}

/// Where each of the searches has come to in one piece of bytes, so that none looks at a byte twice.
#[derive(Debug, Default)]
pub(super) struct Progress([Option<usize>; SEARCHERS]);

impl Finder {
    /// For forms that are sorted.
    pub(super) fn new(forms: &[Form]) -> Self {
        let mut beginnings: Vec<&[u8]> = forms.iter().map(beginning).collect();
        beginnings.dedup();
        if beginnings.is_empty() {
            return Self::Nothing;
        }
        let vectorised = |patterns: &[&[u8]]| {
            let config = packed::Config::new().match_kind(packed::MatchKind::LeftmostFirst).clone();
            config.builder().extend(patterns).build()
        };
        if beginnings.len() <= PATTERNS * SEARCHERS
            && let Some(searchers) = beginnings.chunks(PATTERNS).map(vectorised).collect()
        {
            return Self::Packed(searchers);
        }
        AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostFirst)
            .build(&beginnings)
            .map_or(Self::Nothing, Self::Automaton)
    }

    /// The first place from `from` on where a form of `forms` stands, and the longest of those that do.
    pub(super) fn find<'f>(
        &self,
        forms: &'f [Form],
        bytes: &[u8],
        mut from: usize,
        progress: &mut Progress,
    ) -> Option<(usize, &'f Form)> {
        while let Some(start) = self.candidate(bytes, from, progress) {
            let longest = at(forms, &bytes[start..]).max_by_key(|form| form.bytes.len());
            if let Some(form) = longest {
                return Some((start, form));
            }
            from = start + 1;
        }
        None
    }

    fn candidate(&self, bytes: &[u8], from: usize, progress: &mut Progress) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Automaton(automaton) => automaton.find(&bytes[from..]).map(|found| from + found.start()),
            Self::Packed(searchers) => {
                let places = searchers.iter().zip(&mut progress.0).map(|(searcher, known)| match *known {
                    Some(place) if place >= from => place,
                    _ => {
                        let found = searcher.find(&bytes[from..]).map(|found| from + found.start());
                        *known.insert(found.unwrap_or(usize::MAX))
                    }
                });
                places.min().filter(|place| *place < bytes.len())
            }
        }
    }
}

fn beginning(form: &Form) -> &[u8] {
    &form.bytes[..form.bytes.len().min(BEGINNING)]
}

/// The forms of `forms`, which are sorted, that `bytes` begins with.
pub(super) fn at<'f>(forms: &'f [Form], bytes: &[u8]) -> impl Iterator<Item = &'f Form> {
    // A form that `bytes` begins with is not greater than `bytes`, and between it and the greatest such form are only
    // forms that share its first byte.
    let first = forms.partition_point(|form| form.bytes.first() < bytes.first());
    let end = forms.partition_point(|form| form.bytes.as_slice() <= bytes);
    forms[first.min(end)..end].iter().filter(move |form| bytes.starts_with(&form.bytes))
}

/// Whether `tail` is the beginning of a form of `forms`, which are sorted, and more of it can follow.
pub(super) fn begins_one(forms: &[Form], tail: &[u8]) -> bool {
    let first = forms.partition_point(|form| form.bytes.as_slice() <= tail);
    forms.get(first).is_some_and(|form| form.bytes.starts_with(tail))
}
