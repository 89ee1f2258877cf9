//! What only tasks of one kind do: on record under the name of the kind, and read by nobody else.
//!
//! ```json
//! {"type": "KIND", "step": "…", …}
//! ```
//!
//! No other event has a `step`; the names of an [`super::Envelope`] are taken. So a journal reads without knowing any kind, and a new one adds nothing here.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Event;

const TYPE: &str = "type";
const STEP: &str = "step";

/// A step that only tasks of its kind take.
#[derive(Debug, Clone, PartialEq)]
pub struct KindStep {
    kind: String,
    /// Which one (`step`), and what there is to say about it.
    fields: Map<String, Value>,
}

impl KindStep {
    /// A step of this kind: an enum of its own that is tagged by `step`.
    pub fn new(kind: &str, step: &impl Serialize) -> Self {
        let fields = match serde_json::to_value(step) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) | Err(_) => Map::new(),
        };
        Self { kind: kind.to_owned(), fields }
    }

    /// The step, as its kind knows it; none: it is another kind's, or a later version took it.
    pub fn read<T: DeserializeOwned>(&self, kind: &str) -> Option<T> {
        if self.kind != kind {
            return None;
        }
        T::deserialize(self.fields.clone().into_deserializer()).ok()
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Event::Own(KindStep { kind, fields }) = self else {
            return Event::serialize(self, serializer);
        };
        let mut map = serializer.serialize_map(Some(fields.len() + 1))?;
        map.serialize_entry(TYPE, kind)?;
        for (key, value) in fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    /// As it is written, the type comes first and a step right after it: of all other events nothing is kept in between.
    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Event, A::Error> {
        let mut before = Map::new();
        let mut kind = None;
        while let Some(key) = rest.next_key::<String>()? {
            if key == TYPE {
                kind = Some(rest.next_value::<Value>()?);
                break;
            }
            before.insert(key, rest.next_value()?);
        }
        let next = if before.contains_key(STEP) { None } else { rest.next_key::<String>()? };
        let is_step = before.contains_key(STEP) || next.as_deref() == Some(STEP);
        match kind {
            Some(Value::String(kind)) if is_step => {
                let mut fields = before;
                if let Some(next) = next {
                    fields.insert(next, rest.next_value()?);
                }
                while let Some((key, value)) = rest.next_entry()? {
                    fields.insert(key, value);
                }
                Ok(Event::Own(KindStep { kind, fields }))
            }
            kind => {
                let tag = kind.map(|kind| (TYPE.to_owned(), kind));
                let entries = Entries { before: tag.into_iter().chain(before), value: None, next, rest };
                Event::deserialize(MapAccessDeserializer::new(entries))
            }
        }
    }
}

/// What was read of an object already, and the rest of it.
struct Entries<I, A> {
    before: I,
    value: Option<Value>,
    next: Option<String>,
    rest: A,
}

impl<'de, I: Iterator<Item = (String, Value)>, A: MapAccess<'de>> MapAccess<'de> for Entries<I, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        if let Some((key, value)) = self.before.next() {
            self.value = Some(value);
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        match self.next.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.rest.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Notice;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "step", rename_all = "snake_case")]
    enum Toy {
        Wound { turns: u32 },
    }

    #[test]
    fn s5_a_step_of_a_kind_that_nobody_knows_stays_word_for_word() {
        let line = r#"{"type":"clockwork","step":"wound","turns":3,"extra":[1,{"a":null}]}"#;
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
        let Event::Own(step) = &event else { panic!("{event:?}") };
        assert_eq!(step.read("clockwork"), Some(Toy::Wound { turns: 3 }));
        assert_eq!(step.read::<Toy>("milestone"), None);
        assert_eq!(
            KindStep::new("clockwork", &Toy::Wound { turns: 3 }).read("clockwork"),
            Some(Toy::Wound { turns: 3 })
        );
    }

    #[test]
    fn s5_the_order_of_what_is_written_says_nothing() {
        let step: Event = serde_json::from_str(r#"{"step":"wound","turns":3,"type":"clockwork"}"#).unwrap();
        assert_eq!(step, Event::Own(KindStep::new("clockwork", &Toy::Wound { turns: 3 })));
        for line in [
            r#"{"type":"notice","notice":"said","message":"a"}"#,
            r#"{"message":"a","notice":"said","type":"notice"}"#,
        ] {
            let read: Event = serde_json::from_str(line).unwrap();
            assert_eq!(read, Event::Notice(Notice::Said { message: "a".into() }), "{line}");
        }
    }

    #[test]
    fn r4_what_is_no_event_says_why() {
        let why = |line: &str| serde_json::from_str::<Event>(line).unwrap_err().to_string();
        assert!(
            why(r#"{"type":"notice"}"#).starts_with("missing field `notice`"),
            "{}",
            why(r#"{"type":"notice"}"#)
        );
        assert!(why(r#"{"type":"new"}"#).starts_with("unknown variant `new`"));
        assert!(why(r#"{"message":"a"}"#).starts_with("missing field `type`"));
        assert!(why("[]").contains("an event"));
    }
}
