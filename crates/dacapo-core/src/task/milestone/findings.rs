//! What the Acceptor wants to be different, over all rounds: numbered by the engine, open or settled (M11).
//!
//! A finding is about what was judged when it was raised: a feature, or the whole milestone. It is settled when that is
//! accepted, when that is rejected without naming it again, or when a person says so; a verdict on the whole milestone is one
//! on everything. It is never opened again: what is wrong anew is a new finding.

use std::collections::BTreeMap;

use super::verdict::RaisedFinding;
use crate::task::milestone::Finding;

/// How many settled ones are kept in words; of older ones it is only known that they are settled.
const MOST_SETTLED: usize = 40;

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// One feature, where it can be told which one.
    Feature(Option<usize>),
    Milestone,
}

impl About {
    /// A verdict on this is one on that. What cannot be told may be any feature.
    fn covers(self, that: About) -> bool {
        match (self, that) {
            (About::Milestone, _) => true,
            (About::Feature(_), About::Milestone) => false,
            (About::Feature(this), About::Feature(that)) => this.is_none() || that.is_none() || this == that,
        }
    }
}

/// All findings of a milestone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// How many numbers were given.
    given: u32,
    open: Vec<Finding>,
    settled: Vec<Finding>,
    /// What each is about, by its number.
    about: BTreeMap<u32, About>,
}

/// What a rejection amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raised {
    /// These are open from now on.
    Open(Vec<Finding>),
    /// All that it names is settled.
    OnlySettled(Vec<u32>),
}

impl Findings {
    pub fn open(&self) -> &[Finding] {
        &self.open
    }

    /// Those that are settled, the newest ones.
    pub fn settled(&self) -> &[Finding] {
        &self.settled
    }

    /// Open ones that a verdict on this settles unless it names them, and those that it leaves alone.
    pub(super) fn open_on(&self, about: About) -> (Vec<&Finding>, Vec<&Finding>) {
        self.open.iter().partition(|finding| about.covers(self.about(finding.id)))
    }

    fn about(&self, id: u32) -> About {
        self.about.get(&id).copied().unwrap_or(About::Feature(None))
    }

    /// What a rejection of this with these findings would open. Nothing is changed.
    pub(super) fn raise(&self, found: &[RaisedFinding], about: About) -> Raised {
        let mut next = self.given;
        let mut open: Vec<Finding> = Vec::new();
        let mut settled = Vec::new();
        for RaisedFinding { id, text } in found {
            let id = match id {
                Some(id) if (1..=self.given).contains(id) => Some(*id),
                // A number that was never given is the Acceptor's own. Who says the same again means the same.
                Some(_) | None => self.said_before(text, about),
            };
            let known = id.and_then(|id| self.open.iter().find(|finding| finding.id == id));
            match (known, id) {
                (Some(known), _) => {
                    if !open.iter().any(|finding| finding.id == known.id) {
                        // Its newest words count, if it has any.
                        let text = if text.is_empty() { &known.text } else { text };
                        open.push(Finding { id: known.id, text: text.clone() });
                    }
                }
                (None, Some(id)) => settled.push(id),
                (None, None) if text.is_empty() || open.iter().any(|raised| same(&raised.text, text)) => {}
                (None, None) => {
                    next = next.saturating_add(1);
                    open.push(Finding { id: next, text: text.clone() });
                }
            }
        }
        if open.is_empty() && !settled.is_empty() {
            return Raised::OnlySettled(settled);
        }
        for beside in self.open_on(about).1 {
            if !open.iter().any(|finding| finding.id == beside.id) {
                open.push(beside.clone());
            }
        }
        Raised::Open(open)
    }

    /// The finding that has these words, open or settled.
    fn said_before(&self, text: &str, about: About) -> Option<u32> {
        let mut all = self.open.iter().chain(self.settled.iter().rev());
        let again = |finding: &&Finding| about.covers(self.about(finding.id)) && same(&finding.text, text);
        all.find(again).map(|finding| finding.id)
    }

    /// A rejection opens these, or leaves them open; all others are settled.
    pub(super) fn rejected(&mut self, findings: &[Finding], about: About) {
        for finding in findings {
            let known = self.about.entry(finding.id).or_insert(about);
            if about == About::Milestone {
                *known = about;
            }
        }
        let before = std::mem::take(&mut self.open);
        let gone = before.into_iter().filter(|old| !findings.iter().any(|finding| finding.id == old.id));
        self.settled.extend(gone);
        self.open = findings.to_vec();
        self.given = findings.iter().map(|finding| finding.id).fold(self.given, u32::max);
        self.forget();
    }

    /// All of them are settled, but for these.
    pub(super) fn accepted(&mut self, still_open: &[u32]) {
        let (open, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|finding| still_open.contains(&finding.id));
        self.open = open;
        self.settled.extend(gone);
        self.forget();
    }

    /// What is left open by an acceptance of this.
    pub(super) fn beside(&self, about: About) -> Vec<u32> {
        self.open_on(about).1.iter().map(|finding| finding.id).collect()
    }

    /// The features have other places now, or none.
    pub(super) fn renumbered(&mut self, now: impl Fn(usize) -> Option<usize>) {
        for about in self.about.values_mut() {
            if let About::Feature(at) = about {
                *at = at.and_then(&now);
            }
        }
    }

    /// A person says that this one is. False: it is not open.
    pub(super) fn settle(&mut self, id: u32) -> bool {
        let Some(at) = self.open.iter().position(|finding| finding.id == id) else { return false };
        let finding = self.open.remove(at);
        self.settled.push(finding);
        self.forget();
        true
    }

    fn forget(&mut self) {
        let many = self.settled.len().saturating_sub(MOST_SETTLED);
        for finding in self.settled.drain(..many) {
            self.about.remove(&finding.id);
        }
    }
}

/// Word for word, however they are spaced.
fn same(one: &str, other: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    words(one) == words(other)
}
