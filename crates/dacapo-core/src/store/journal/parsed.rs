//! One line of a journal, and what to make of one that is no event.

use crate::event::{Envelope, Event, FORMAT};

/// What a whole line is.
pub(super) enum Parsed {
    Event(Box<Envelope>),
    /// A later version of the same format has more types of events; they decide nothing for this one.
    Unknown {
        seq: u64,
    },
    Newer(u32),
    Older(u32),
    NoJson,
    NoEvent(String),
}

impl Parsed {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let why = match serde_json::from_slice::<Envelope>(bytes) {
            Ok(line) if line.v == FORMAT => return Self::Event(Box::new(line)),
            Ok(line) => return Self::of_another_format(line.v),
            Err(why) => why,
        };
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return Self::NoJson };
        let number = |field: &str| value.get(field).and_then(serde_json::Value::as_u64);
        match (number("v"), number("seq")) {
            (Some(v), _) if v != u64::from(FORMAT) => {
                Self::of_another_format(u32::try_from(v).unwrap_or(u32::MAX))
            }
            (Some(_), Some(seq)) if !Event::is_known(&value) => Self::Unknown { seq },
            _ => Self::NoEvent(why.to_string()),
        }
    }

    fn of_another_format(v: u32) -> Self {
        if v > FORMAT { Self::Newer(v) } else { Self::Older(v) }
    }
}
