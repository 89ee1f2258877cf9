//! What was counted, and what was found broken: told line by line by the process of a case, added up by its parent.

use std::collections::BTreeMap;
use std::fmt;

/// A promise of the program that did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// A commit, a file or a line of a journal is gone.
    Lost,
    /// Something was done or written twice.
    Doubled,
    /// A process lives on.
    Orphan,
    /// A lock is left that a person would have to remove.
    StaleLock,
    /// A command did not end.
    Hang,
    Panic,
    /// "Verified", and a fresh clone is red.
    FalseProof,
    /// No known state, no way on, or an exit code that says something else.
    State,
}

impl Fault {
    pub(super) const ALL: [Self; 8] = [
        Self::Lost,
        Self::Doubled,
        Self::Orphan,
        Self::StaleLock,
        Self::Hang,
        Self::Panic,
        Self::FalseProof,
        Self::State,
    ];

    /// The word for it in the table and between processes.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Orphan => "orphans",
            Self::StaleLock => "stale-locks",
            Self::Hang => "hangs",
            Self::Panic => "panics",
            Self::FalseProof => "false-proofs",
            Self::State => "bad-states",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.word() == word)
    }
}

/// Counts, faults and remarks of a case, or of many.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) faults: Vec<(Fault, String)>,
    /// What could not be tried here, and why.
    pub(super) remarks: Vec<String>,
}

impl Tally {
    pub(super) fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    pub(super) fn fault(&mut self, fault: Fault, text: impl Into<String>) {
        self.faults.push((fault, text.into()));
    }

    pub(super) fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    pub(super) fn faults_of(&self, fault: Fault) -> usize {
        self.faults.iter().filter(|(one, _)| *one == fault).count()
    }

    pub(super) fn add(&mut self, other: Self) {
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.faults.extend(other.faults);
        for remark in other.remarks {
            self.remark(remark);
        }
    }

    /// Reads what [`fmt::Display`] wrote.
    pub(super) fn read(text: &str) -> Self {
        let mut tally = Self::default();
        for line in text.lines() {
            let Some((kind, rest)) = line.split_once(' ') else { continue };
            match (kind, rest.split_once(' ')) {
                ("count", Some((what, number))) => {
                    *tally.counts.entry(what.to_owned()).or_default() += number.parse::<u64>().unwrap_or(0);
                }
                ("fault", Some((word, text))) => {
                    if let Some(fault) = Fault::of(word) {
                        tally.fault(fault, text.replace('\u{2}', "\n"));
                    }
                }
                ("remark", _) => tally.remark(rest),
                _ => {}
            }
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in &self.counts {
            writeln!(f, "count {what} {count}")?;
        }
        for (fault, text) in &self.faults {
            writeln!(f, "fault {} {}", fault.word(), text.trim_end().replace('\n', "\u{2}"))?;
        }
        for remark in &self.remarks {
            writeln!(f, "remark {}", remark.replace('\n', " "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_says_another_reads() {
        let mut tally = Tally::default();
        tally.count("killed-runner");
        tally.count("killed-runner");
        tally.fault(Fault::Lost, "commit abc\nis nowhere");
        tally.remark("no tmpfs here");
        assert_eq!(Tally::read(&tally.to_string()), tally);
        let mut sum = tally.clone();
        sum.add(tally);
        assert_eq!(sum.counts["killed-runner"], 4);
        assert_eq!((sum.faults_of(Fault::Lost), sum.remarks.len()), (2, 1));
    }
}
