//! Journals as a bad disk or a hostile agent leaves them, for the tests of every kind.

use crate::event::Envelope;

/// The journal with one wound for each pair: what happens, and about where.
pub(super) fn damage(journal: &[Envelope], wounds: &[(u8, u16)]) -> Vec<Envelope> {
    let mut lines = journal.to_vec();
    for (what, place) in wounds {
        if lines.len() < 3 {
            break;
        }
        let at = usize::from(*place) % (lines.len() - 1);
        match what % 5 {
            0 | 1 => drop(lines.remove(at)),
            2 => lines.insert(at, lines[at].clone()),
            3 => lines.swap(at, at + 1),
            _ => lines.truncate(at + 1),
        }
    }
    lines
}
