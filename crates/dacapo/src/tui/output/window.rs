//! The part of the output that is in memory: entries around the place that is looked at, never more than a bounded number.

use std::collections::VecDeque;

use super::entry::{Anchor, Body, Entry};

/// How many entries are held, and how many bytes of them.
pub(super) const MOST_ENTRIES: usize = 4000;
pub(super) const MOST_BYTES: usize = 2 << 20;

/// How far back the call is looked for that an answer belongs to: agents that work on several things at once answer soon.
const FAR: usize = 200;

/// Consecutive entries.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(super) entries: VecDeque<Entry>,
    pub(super) bytes: usize,
    /// The line that has no end yet, behind the last entry.
    pub(super) begun: Option<Entry>,
    /// There is nothing before the first entry.
    pub(super) begins: bool,
    /// There is nothing behind the last one now.
    pub(super) ends: bool,
    /// What was seen of the end before the rest is read: it is looked at, but nothing is put to it.
    pub(super) glimpse: bool,
}

impl Window {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Entries, with the line that has no end yet.
    pub(super) fn len(&self) -> usize {
        self.entries.len() + usize::from(self.begun.is_some())
    }

    pub(super) fn get(&self, nth: usize) -> Option<&Entry> {
        if nth == self.entries.len() { self.begun.as_ref() } else { self.entries.get(nth) }
    }

    pub(super) fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub(super) fn last(&self) -> Option<&Entry> {
        self.entries.back()
    }

    /// The entry at this place, else the nearest before it, else the first.
    pub(super) fn index_of(&self, at: Anchor) -> usize {
        let behind = self.entries.partition_point(|entry| entry.at <= at);
        match &self.begun {
            Some(begun) if begun.at <= at => self.entries.len(),
            _ => behind.saturating_sub(1),
        }
    }

    /// Whether this place is in it. An answer is where its call is, though it came later.
    pub(super) fn holds(&self, at: Anchor) -> bool {
        let behind_last = self.last().is_some_and(|last| at > last.at);
        self.first().is_some_and(|first| first.at <= at) && (!behind_last || self.ends)
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES
    }

    pub(super) fn push_back(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            if let Body::Answer(answer) = &entry.body {
                let newest = self.entries.iter_mut().rev().take(FAR);
                let call = newest.filter_map(|entry| match &mut entry.body {
                    Body::Call(call) => Some(call),
                    _ => None,
                });
                // The answer is shown under its call, which may be several entries back: agents start several calls
                // before the first one is answered.
                if let Some(call) = call.into_iter().find(|call| call.id == answer.id) {
                    self.bytes += entry.size();
                    call.answer = Some(answer.clone());
                    continue;
                }
            }
            self.bytes += entry.size();
            self.entries.push_back(entry);
        }
    }

    /// Puts entries before the first one; they are in their order.
    pub(super) fn push_front(&mut self, entries: Vec<Entry>) {
        let mut before = Window::default();
        before.push_back(entries);
        for entry in before.entries.iter_mut().rev().take(FAR) {
            let Body::Call(call) = &mut entry.body else { continue };
            if call.answer.is_some() {
                continue;
            }
            let is_answer =
                |entry: &Entry| matches!(&entry.body, Body::Answer(answer) if answer.id == call.id);
            // The edge of the window lay between a call and its answer, and the answer stood alone until now.
            if let Some(at) = self.entries.iter().take(FAR).position(is_answer)
                && let Some(Entry { body: Body::Answer(answer), .. }) = self.entries.remove(at)
            {
                call.answer = Some(answer);
            }
        }
        self.bytes += before.bytes;
        while let Some(entry) = before.entries.pop_back() {
            self.entries.push_front(entry);
        }
    }

    /// Drops what is too much at the front, but nothing from this place on.
    pub(super) fn trim_front(&mut self, keep: Anchor) {
        while self.is_full() && self.first().is_some_and(|first| first.at < keep) {
            let gone = self.entries.pop_front();
            self.bytes = self.bytes.saturating_sub(gone.map_or(0, |entry| entry.size()));
            self.begins = false;
        }
    }

    /// Drops what is too much at the back, but nothing up to this place. True: something was dropped.
    pub(super) fn trim_back(&mut self, keep: Anchor) -> bool {
        let mut dropped = false;
        while self.is_full() && self.last().is_some_and(|last| last.at > keep) {
            let gone = self.entries.pop_back();
            self.bytes = self.bytes.saturating_sub(gone.map_or(0, |entry| entry.size()));
            self.ends = false;
            // The unfinished line is behind the entries that go, and would otherwise stand right after an entry that
            // it does not follow.
            self.begun = None;
            dropped = true;
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Answer, Call};
    use super::*;

    fn at(offset: u64) -> Anchor {
        Anchor { turn: 0, offset, part: 1, line: 0 }
    }

    fn raw(offset: u64) -> Entry {
        Entry { at: at(offset), body: Body::Raw("x".repeat(100)) }
    }

    fn call(offset: u64, id: &str) -> Entry {
        let call = Call { id: id.into(), name: "Bash".into(), summary: String::new(), answer: None };
        Entry { at: at(offset), body: Body::Call(call) }
    }

    fn answer(offset: u64, id: &str) -> Entry {
        let answer = Answer { id: id.into(), failed: false, lines: vec!["ok".into()] };
        Entry { at: at(offset), body: Body::Answer(answer) }
    }

    fn shape(window: &Window) -> Vec<(u64, bool)> {
        let answered = |entry: &Entry| matches!(&entry.body, Body::Call(call) if call.answer.is_some());
        window.entries.iter().map(|entry| (entry.at.offset, answered(entry))).collect()
    }

    #[test]
    fn an_answer_goes_to_its_call_from_whichever_side_it_comes() {
        let mut window = Window::default();
        window.push_back([call(1, "a"), call(2, "b"), raw(3), answer(4, "b"), answer(5, "z")]);
        assert_eq!(shape(&window), [(1, false), (2, true), (3, false), (5, false)]);
        window.push_front(vec![raw(0), call(0, "z")]);
        assert_eq!(shape(&window), [(0, false), (0, true), (1, false), (2, true), (3, false)]);
    }

    #[test]
    fn it_never_holds_more_than_it_may() {
        let mut window = Window { begins: true, ends: true, ..Window::default() };
        window.push_back((0..20_000).map(raw));
        window.trim_front(at(19_000));
        assert!(window.len() <= MOST_ENTRIES + 1 && !window.begins && window.ends);
        assert_eq!(window.last().unwrap().at, at(19_999));
        let first = window.first().unwrap().at.offset;
        window.push_front((first - 3000..first).map(raw).collect());
        assert!(window.trim_back(at(first)));
        assert!(window.len() <= MOST_ENTRIES && !window.ends);
        assert_eq!(window.first().unwrap().at.offset, first - 3000);
        assert!(window.holds(at(first)) && !window.holds(at(19_999)));
    }

    #[test]
    fn a_place_is_found_or_the_nearest_before_it() {
        let mut window = Window::default();
        window.push_back([raw(10), raw(20), raw(30)]);
        window.begun = Some(raw(40));
        let found: Vec<usize> = [5, 10, 25, 30, 99].map(|offset| window.index_of(at(offset))).to_vec();
        assert_eq!(found, [0, 0, 1, 2, 3]);
    }
}
