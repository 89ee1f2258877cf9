//! JSON as agents write it: fields come and go with their versions, and a value of another type than expected is taken
//! for a missing one. So one strange field never costs an event, and what nobody asked for is passed over unread.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::excerpt::cut;

/// A text, or at most so many bytes of its beginning; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text<const MOST: usize>(pub(super) String);

/// A text of any length.
pub(super) type WholeText = Text<{ usize::MAX }>;

/// A word: a name, an id, a state.
pub(super) type Word = Text<256>;

impl<const MOST: usize> Text<MOST> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, where there is any.
    pub(super) fn some(&self) -> Option<&str> {
        Some(self.as_str()).filter(|text| !text.is_empty())
    }
}

/// A number that is not negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count(pub(super) Option<u64>);

impl Count {
    pub(super) fn or_zero(self) -> u64 {
        self.0.unwrap_or(0)
    }

    /// As an HTTP status.
    pub(super) fn status(self) -> Option<u16> {
        self.0.and_then(|number| u16::try_from(number).ok())
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flag(pub(super) Option<bool>);

/// An object, or its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Object<T>(pub(super) T);

/// At most so many elements from the beginning of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Few<T, const MOST: usize>(pub(super) Vec<T>);

/// What is made of a value; everything that is not handled is the default.
trait FromValue<'de>: Default {
    fn from_text(_: &str) -> Self {
        Self::default()
    }
    fn from_number(_: f64) -> Self {
        Self::default()
    }
    fn from_count(_: u64) -> Self {
        Self::default()
    }
    fn from_flag(_: bool) -> Self {
        Self::default()
    }
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct Any<T>(PhantomData<T>);

impl<'de, T: FromValue<'de>> Visitor<'de> for Any<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(text))
    }

    fn visit_u64<E>(self, count: u64) -> Result<T, E> {
        Ok(T::from_count(count))
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(u64::try_from(number).map_or_else(|_| T::default(), T::from_count))
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::from_number(number))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::from_flag(flag))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::from_object(object)
    }
}

impl<const MOST: usize> FromValue<'_> for Text<MOST> {
    fn from_text(text: &str) -> Self {
        Self(cut(text, MOST).to_owned())
    }
}

impl FromValue<'_> for Count {
    fn from_count(count: u64) -> Self {
        Self(Some(count))
    }

    fn from_number(number: f64) -> Self {
        // A cast saturates; what is not a number at all is none.
        Self((number >= 0.0).then_some(number as u64))
    }
}

impl FromValue<'_> for Flag {
    fn from_flag(flag: bool) -> Self {
        Self(Some(flag))
    }
}

impl<'de, T: Default + Deserialize<'de>> FromValue<'de> for Object<T> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Self)
    }
}

impl<'de, T: Default + Deserialize<'de>, const MOST: usize> FromValue<'de> for Few<T, MOST> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut few = Vec::new();
        while few.len() < MOST {
            match list.next_element()? {
                Some(element) => few.push(element),
                None => return Ok(Self(few)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(few))
    }
}

macro_rules! deserialize_any_value {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {$(
        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any(Any(PhantomData))
            }
        }
    )*};
}

deserialize_any_value! {
    [const MOST: usize] Text<MOST>,
    [] Count,
    [] Flag,
    [T: Default + Deserialize<'de>] Object<T>,
    [T: Default + Deserialize<'de>, const MOST: usize] Few<T, MOST>,
}

/// An object that stands alone, as a line of a stream does. None: these bytes are none.
pub(super) fn object<T>(bytes: &[u8]) -> Option<T>
where
    T: Default + for<'de> Deserialize<'de>,
{
    // Most lines that are no events are no JSON at all; they are not worth a parser.
    bytes.trim_ascii_start().starts_with(b"{").then_some(())?;
    let read = serde_json::from_slice::<Object<T>>(bytes);
    read.or_else(|_| serde_json::from_slice(&mended(bytes))).ok().map(|object| object.0)
}

/// JavaScript writes down half a character where it cut a string inside of one; that is no JSON. `�` takes its place.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_bytes();
    let mut mended = Vec::with_capacity(rest.len());
    while let Some(at) = memchr::memchr(b'\\', rest) {
        mended.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let length = match (half_character(rest), half_character(rest.get(6..).unwrap_or_default())) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => {
                mended.extend_from_slice("�".as_bytes());
                rest = &rest[6..];
                continue;
            }
            // With what it escapes, or the second half of `\\\\u` would be taken for an escape.
            (None, _) => 2.min(rest.len()),
        };
        mended.extend_from_slice(&rest[..length]);
        rest = &rest[length..];
    }
    mended.extend_from_slice(rest);
    mended
}

/// The half of a character that the bytes begin with, as an escape.
fn half_character(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

/// The arguments of a tool, as far as one of them can stand for the call.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Arguments {
    command: Text<1000>,
    cmd: Text<1000>,
    path: Text<1000>,
    file_path: Text<1000>,
    pattern: Text<1000>,
    query: Text<1000>,
    url: Text<1000>,
    description: Text<1000>,
    prompt: Text<1000>,
}

impl Arguments {
    /// The one that says most to people.
    pub(super) fn telling(&self) -> &str {
        [
            &self.command,
            &self.cmd,
            &self.path,
            &self.file_path,
            &self.pattern,
            &self.query,
            &self.url,
            &self.description,
            &self.prompt,
        ]
        .into_iter()
        .find_map(Text::some)
        .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Line {
        #[serde(rename = "type")]
        kind: Word,
        text: Text<3>,
        count: Count,
        flag: Flag,
        inner: Object<Inner>,
        list: Few<Object<Inner>, 2>,
    }

    #[derive(Debug, Default, Deserialize, PartialEq, Clone)]
    #[serde(default)]
    struct Inner {
        name: Word,
    }

    fn named(name: &str) -> Object<Inner> {
        Object(Inner { name: Text(name.into()) })
    }

    #[test]
    fn the_fields_that_are_known_are_read_in_any_order() {
        let line: Line = object(
            br#" {"new":[{"x":[1]}],"list":[{"name":"a"},{"name":"b"},{"name":"c"}],"inner":{"name":"in"},
                "flag":true,"count":7,"text":"abcd","type":"t"}"#,
        )
        .unwrap();
        assert_eq!(
            line,
            Line {
                kind: Text("t".into()),
                text: Text("abc".into()),
                count: Count(Some(7)),
                flag: Flag(Some(true)),
                inner: named("in"),
                list: Few(vec![named("a"), named("b")]),
            }
        );
    }

    #[test]
    fn a_value_of_another_type_is_a_missing_one() {
        for value in ["null", "true", "-1", "1.5e3", "\"x\"", "[1,[2]]", "{\"a\":{}}"] {
            for field in ["text", "count", "flag", "inner", "list", "new"] {
                let json = format!("{{\"{field}\":{value},\"type\":\"t\"}}");
                let line: Line = object(json.as_bytes()).unwrap();
                assert_eq!(line.kind.as_str(), "t", "{json}");
            }
        }
        let line: Line = object(br#"{"count":1500.0}"#).unwrap();
        assert_eq!(line.count, Count(Some(1500)));
        let line: Line = object(br#"{"count":-1}"#).unwrap();
        assert_eq!(line.count, Count(None));
    }

    #[test]
    fn half_a_character_does_not_cost_the_line() {
        for (json, expected) in [
            (r#"{"type":"a\ud83d"}"#, "a�"),
            (r#"{"type":"\udc00b\\"}"#, "�b\\"),
            (r#"{"type":"\ud83d\ude00\ud83d"}"#, "😀�"),
            (r#"{"type":"\\ud83d","text":"\ud83dx"}"#, "\\ud83d"),
        ] {
            let line: Line = object(json.as_bytes()).unwrap();
            assert_eq!(line.kind.as_str(), expected, "{json}");
        }
        let line: Line = object(b"{\"type\":\"a\xff\"}").unwrap();
        assert_eq!(line.kind.as_str(), "a�", "bytes that are no text");
    }

    #[test]
    fn what_is_no_object_is_no_line() {
        for bytes in ["", "WARNING: x", "[\"t\"]", "\"t\"", "{\"type\":", "{}x"] {
            assert_eq!(object::<Line>(bytes.as_bytes()), None, "{bytes}");
        }
    }
}
