//! What the Acceptor wants to be different, over all rounds: numbered by the engine, open or settled (M11).
//!
//! A finding is settled when the Acceptor accepts, when it rejects without naming it again, or when a person says so. It is
//! never opened again: what is wrong anew is a new finding.

use super::verdict::Found;
use crate::event::Finding;

/// So many settled ones are kept in words; of older ones it is only known that they are settled.
const MOST_SETTLED: usize = 40;

/// All findings of a milestone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// How many numbers were given.
    given: u32,
    open: Vec<Finding>,
    settled: Vec<Finding>,
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
    /// Those that are open.
    pub fn open(&self) -> &[Finding] {
        &self.open
    }

    /// Those that are settled, the newest ones.
    pub fn settled(&self) -> &[Finding] {
        &self.settled
    }

    /// What a rejection with these findings would open. Nothing is changed.
    pub(super) fn raise(&self, found: &[Found]) -> Raised {
        let mut next = self.given;
        let mut open: Vec<Finding> = Vec::new();
        let mut settled = Vec::new();
        for Found { id, text } in found {
            let known = id.and_then(|id| self.open.iter().find(|finding| finding.id == id));
            match (known, id) {
                (Some(known), _) => {
                    if !open.iter().any(|finding| finding.id == known.id) {
                        // Its newest words count, if it has any.
                        let text = if text.is_empty() { &known.text } else { text };
                        open.push(Finding { id: known.id, text: text.clone() });
                    }
                }
                (None, Some(id)) if (1..=self.given).contains(id) => settled.push(*id),
                // A number that was never given is the Acceptor's own; it gets a real one.
                (None, _) if text.is_empty() => {}
                (None, _) => {
                    next = next.saturating_add(1);
                    open.push(Finding { id: next, text: text.clone() });
                }
            }
        }
        if open.is_empty() && !settled.is_empty() { Raised::OnlySettled(settled) } else { Raised::Open(open) }
    }

    /// A rejection opens these; all others are settled.
    pub(super) fn rejected(&mut self, findings: &[Finding]) {
        let before = std::mem::take(&mut self.open);
        let gone = before.into_iter().filter(|old| !findings.iter().any(|finding| finding.id == old.id));
        self.settled.extend(gone);
        self.open = findings.to_vec();
        self.given = findings.iter().map(|finding| finding.id).fold(self.given, u32::max);
        self.forget();
    }

    /// All of them are settled.
    pub(super) fn accepted(&mut self) {
        self.settled.append(&mut self.open);
        self.forget();
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
        self.settled.drain(..many);
    }
}
