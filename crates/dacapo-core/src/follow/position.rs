//! Where a client stands in what a task says.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much of a file of the turn at work was delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// Bytes, up to the end of a line.
    pub bytes: u64,
    /// Things that come of the line behind them: a line can tell of several.
    pub part: u32,
}

impl Mark {
    /// At this offset, before anything of the line that begins there.
    pub fn at(bytes: u64) -> Self {
        Self { bytes, part: 0 }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            0 => write!(f, "{}", self.bytes),
            part => write!(f, "{}+{part}", self.bytes),
        }
    }
}

/// Behind the last thing that was delivered: [`Opening::After`](super::Opening::After) goes on exactly there, live or
/// from file. It counts bytes, which are the same whenever they are read. As text it is short and has no character that an
/// HTTP header or a query would mind: `TAG.EVENTS.RAW.STDERR`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position {
    /// The task's tag: a later task of the same name has another one.
    pub tag: String,
    /// The number of the first event that was not delivered yet.
    pub seq: u64,
    /// Of what the agent prints in the turn at work.
    pub raw: Mark,
    /// The same of its standard error.
    pub stderr: Mark,
}

impl Position {
    /// Before everything.
    pub fn start(tag: impl Into<String>) -> Self {
        Self { tag: tag.into(), seq: 0, raw: Mark::default(), stderr: Mark::default() }
    }
}

/// Earlier and later are said of positions in one task. Output and standard error grow side by side: of two that are each
/// ahead in one of them neither is the earlier.
impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.tag != other.tag {
            return None;
        }
        let by_event = self.seq.cmp(&other.seq);
        if by_event != Ordering::Equal {
            return Some(by_event);
        }
        match (self.raw.cmp(&other.raw), self.stderr.cmp(&other.stderr)) {
            (raw, stderr) if raw == stderr => Some(raw),
            (Ordering::Equal, stderr) => Some(stderr),
            (raw, Ordering::Equal) => Some(raw),
            _ => None,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tag, seq, raw, stderr } = self;
        write!(f, "{tag}.{seq}.{raw}.{stderr}")
    }
}

/// A text that is no position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no position in a task: begin at the start")]
pub struct NoPosition {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let read = || {
            let mut parts = text.rsplitn(4, '.');
            let (stderr, raw) = (mark(parts.next()?)?, mark(parts.next()?)?);
            let (seq, tag) = (parts.next()?.parse().ok()?, parts.next()?.to_owned());
            Some(Self { tag, seq, raw, stderr })
        };
        read().ok_or_else(|| NoPosition { text: text.chars().take(200).collect() })
    }
}

fn mark(text: &str) -> Option<Mark> {
    match text.split_once('+') {
        None => Some(Mark::at(text.parse().ok()?)),
        Some((bytes, part)) => Some(Mark { bytes: bytes.parse().ok()?, part: part.parse().ok()? }),
    }
}

impl Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seq: u64, raw: u64, stderr: u64) -> Position {
        Position { tag: "a1".into(), seq, raw: Mark::at(raw), stderr: Mark::at(stderr) }
    }

    #[test]
    fn positions_are_ordered_within_a_task() {
        assert!(at(1, 900, 0) < at(2, 0, 0));
        assert!(at(2, 5, 7) < at(2, 6, 7) && at(2, 5, 7) < at(2, 5, 8) && at(2, 5, 7) < at(2, 6, 8));
        assert!(at(2, 5, 7) < Position { raw: Mark { bytes: 5, part: 1 }, ..at(2, 5, 7) });
        assert_eq!(at(2, 5, 8).partial_cmp(&at(2, 6, 7)), None);
        assert_eq!(at(2, 5, 8).partial_cmp(&Position { tag: "b".into(), ..at(2, 5, 8) }), None);
    }

    #[test]
    fn what_is_no_position_is_refused() {
        for text in ["", "a", "a.1.2", "a.1.2.x", "a.-1.2.3", "a.1.2.3+", "a.1.2+y.3"] {
            assert_eq!(text.parse::<Position>(), Err(NoPosition { text: text.into() }));
        }
    }

    proptest! {
        #[test]
        fn a_position_reads_as_it_was_written(tag in "[0-9a-f.]{1,20}", seq: u64, raw: (u64, u32), stderr: (u64, u32)) {
            let mark = |(bytes, part)| Mark { bytes, part };
            let position = Position { tag, seq, raw: mark(raw), stderr: mark(stderr) };
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position.clone());
            let json = serde_json::to_string(&position).unwrap();
            prop_assert_eq!(serde_json::from_str::<Position>(&json).unwrap(), position);
        }
    }
}
