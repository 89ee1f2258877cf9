//! Reads the JSON lines of agents as they are, not as they should be: a field may be missing, new, or of another type
//! than last month, and none of that costs the rest of its line. Only what is asked for is kept of it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// So much of what a tool returned goes into an event; all of it is in the raw file.
const EXCERPT: usize = 2_000;

/// So much of a command or path is shown in a line.
const SUMMARY: usize = 200;

/// So many elements of a list are kept.
const MOST_ELEMENTS: usize = 100;

/// Reads a line. What JavaScript writes is not always what JSON allows: a string that was cut inside a character
/// holds half of it, as an escape that stands for nothing.
pub(super) fn read<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(line).or_else(|_| serde_json::from_str(&mended(line))).ok()
}

/// The line with every half character replaced by `�`.
fn mended(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut mended = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let (escape, length): (Cow<'_, str>, usize) =
            match (surrogate(rest), surrogate(rest.get(6..).unwrap_or(""))) {
                (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (rest[..12].into(), 12),
                (Some(_), _) => ("\\ufffd".into(), 6),
                (None, _) => {
                    // A backslash and what it escapes go together, or `\\ud83d` would be taken for an escape.
                    let length = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
                    (rest[..length].into(), length)
                }
            };
        mended.push_str(&escape);
        rest = &rest[length..];
    }
    mended.push_str(rest);
    mended
}

/// The half character that `text` begins with, as an escape.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..=0xDFFF).contains(unit))
}

/// The beginning of a text, cut between characters.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One line of a text, for people.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = beginning(text, 4 * SUMMARY).split_whitespace().collect();
    let line = words.join(" ");
    match beginning(&line, SUMMARY) {
        whole if whole.len() == line.len() && text.len() <= 4 * SUMMARY => line,
        cut => format!("{cut}…"),
    }
}

/// A value that is wanted in one shape and ignored in any other.
trait Wanted: Sized {
    fn from_text(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    fn from_number(number: f64) -> Option<Self> {
        let _ = number;
        None
    }

    fn from_bool(value: bool) -> Option<Self> {
        let _ = value;
        None
    }
}

/// All of a string.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Text(pub(super) Option<String>);

/// The beginning of a string.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Excerpt(pub(super) Option<String>);

/// A number of things, never negative.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Count(pub(super) Option<u64>);

/// An amount, of money for example.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Amount(pub(super) Option<f64>);

/// Yes or no.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flag(pub(super) Option<bool>);

impl Text {
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text, where there is any.
    pub(super) fn some(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl Excerpt {
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text, where there is any.
    pub(super) fn some(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl Wanted for Text {
    fn from_text(text: &str) -> Option<Self> {
        Some(Self(Some(text.to_owned())))
    }
}

impl Wanted for Excerpt {
    fn from_text(text: &str) -> Option<Self> {
        Some(Self(Some(beginning(text, EXCERPT).to_owned())))
    }
}

impl Wanted for Count {
    fn from_number(number: f64) -> Option<Self> {
        (number >= 0.0).then_some(Self(Some(number as u64)))
    }
}

impl Wanted for Amount {
    fn from_number(number: f64) -> Option<Self> {
        (number.is_finite() && number >= 0.0).then_some(Self(Some(number)))
    }
}

impl Wanted for Flag {
    fn from_bool(value: bool) -> Option<Self> {
        Some(Self(Some(value)))
    }
}

/// An object of which some fields are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object<T>(pub(super) T);

/// The first elements of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct List<T>(pub(super) Vec<T>);

struct Scalar<T>(PhantomData<T>);
struct Members<T>(PhantomData<T>);
struct Elements<T>(PhantomData<T>);

/// What every visitor does with shapes it does not want: read past them.
macro_rules! pass_over {
    (scalars) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (null) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("anything")
        }
    };
    (map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

impl<'de, T: Wanted + Default> Visitor<'de> for Scalar<T> {
    type Value = T;

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(text).unwrap_or_default())
    }

    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::from_bool(value).unwrap_or_default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::from_number(number as f64).unwrap_or_default())
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::from_number(number as f64).unwrap_or_default())
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::from_number(number).unwrap_or_default())
    }

    pass_over!(null);
    pass_over!(map);
    pass_over!(seq);
}

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Members<T> {
    type Value = T;

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    pass_over!(scalars);
    pass_over!(null);
    pass_over!(seq);
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
    type Value = Vec<T>;

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while elements.len() < MOST_ELEMENTS {
            match seq.next_element()? {
                Some(element) => elements.push(element),
                None => return Ok(elements),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(elements)
    }

    pass_over!(scalars);
    pass_over!(null);
    pass_over!(map);
}

macro_rules! deserialize_any {
    ($($scalar:ty),*) => {
        $(impl<'de> Deserialize<'de> for $scalar {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Scalar(PhantomData))
            }
        })*
    };
}

deserialize_any!(Text, Excerpt, Count, Amount, Flag);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Members(PhantomData)).map(Self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Elements(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Line {
        name: Text,
        count: Count,
        cost: Amount,
        part: Object<Part>,
        list: List<Text>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Part {
        output: Excerpt,
        last: Flag,
    }

    fn line(json: &str) -> Option<Line> {
        read(json.as_bytes())
    }

    #[test]
    fn a3_a_field_of_another_type_costs_nothing_but_itself() {
        let whole = line(
            r#"{"part":{"last":true,"output":"ok"},"count":3,"new":[{}],"cost":0.5,"name":"a","list":["x",1]}"#,
        );
        let part = Part { output: Excerpt(Some("ok".into())), last: Flag(Some(true)) };
        let expected = Line {
            name: Text(Some("a".into())),
            count: Count(Some(3)),
            cost: Amount(Some(0.5)),
            part: Object(part),
            list: List(vec![Text(Some("x".into())), Text(None)]),
        };
        assert_eq!(whole, Some(expected));
        for other in ["null", "true", "-1", "18446744073709551615", "1e999", "\"s\"", "[1,[2]]", "{\"a\":{}}"]
        {
            let odd =
                format!(r#"{{"count":{other},"cost":{other},"part":{other},"list":{other},"name":"kept"}}"#);
            match line(&odd) {
                Some(line) => assert_eq!(line.name.as_str(), "kept", "{odd}"),
                None => assert_eq!(other, "1e999", "only what is no number at all"),
            }
        }
    }

    #[test]
    fn a3_half_a_character_costs_nothing_but_itself() {
        let named = |json: &str| line(json).map(|line| line.name.as_str().to_owned());
        assert_eq!(named(r#"{"name":"a\ud83d"}"#).as_deref(), Some("a\u{fffd}"));
        assert_eq!(
            named(r#"{"name":"\ud83d\ude00 \ude00\ud83dx"}"#).as_deref(),
            Some("😀 \u{fffd}\u{fffd}x")
        );
        assert_eq!(named(r#"{"name":"\\ud83d \ud83d"}"#).as_deref(), Some("\\ud83d \u{fffd}"));
        assert_eq!(named("{\"name\":\"a\\u").as_deref(), None);
        assert_eq!(read::<Line>(b"{\"name\":\"a\xff\"}").unwrap().name.as_str(), "a\u{fffd}");
    }

    #[test]
    fn r3_what_is_kept_of_a_line_is_bounded() {
        let output = "繼".repeat(1 << 20);
        let elements = "\"x\",".repeat(1000);
        let json = format!(r#"{{"part":{{"output":"{output}"}},"list":[{elements}"y"]}}"#);
        let line = line(&json).unwrap();
        assert_eq!(line.part.0.output.0.unwrap().len(), 1_998, "cut between characters");
        assert_eq!(line.list.0.len(), MOST_ELEMENTS);
    }

    #[test]
    fn a_summary_is_one_line() {
        assert_eq!(one_line("  echo\n  a \t b "), "echo a b");
        assert_eq!(one_line(&"x".repeat(1000)), format!("{}…", "x".repeat(200)));
        assert_eq!(one_line(&" ".repeat(1000)), "…");
    }
}
