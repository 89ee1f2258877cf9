//! The lines of agents as types: a field may be missing, new, or of another type than last month, and none of that costs
//! the rest of its line. What a field is made of, `raw_json` reads; what no field asks for is passed over.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::value::RawValue;

use super::excerpt::EXCERPT;
use super::raw_json;

/// How many elements of a list are kept.
const MOST_ELEMENTS: usize = 100;

pub(super) fn read<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let text = String::from_utf8_lossy(line.trim_ascii());
    text.starts_with('{').then(|| serde_json::from_str(&text).ok())?
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

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flag(pub(super) Option<bool>);

/// An object of which some fields are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object<T>(pub(super) T);

/// The first elements of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct List<T>(pub(super) Vec<T>);

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

impl Count {
    /// As an HTTP status.
    pub(super) fn status(self) -> Option<u16> {
        self.0.and_then(|status| u16::try_from(status).ok())
    }
}

macro_rules! read_by {
    ($($scalar:ty: $read:expr),* $(,)?) => {
        $(impl<'de> Deserialize<'de> for $scalar {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <&RawValue>::deserialize(from).map(|raw| Self($read(raw)))
            }
        })*
    };
}

read_by! {
    Text: |raw| raw_json::text(raw).map(String::from),
    Excerpt: |raw| raw_json::excerpt(raw, EXCERPT),
    Count: raw_json::count,
    Amount: raw_json::number,
    Flag: raw_json::flag,
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(from)?.get();
        let members = raw.starts_with('{').then(|| serde_json::from_str(raw).ok()).flatten();
        Ok(Self(members.unwrap_or_default()))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut elements = Vec::new();
        raw_json::each(<&RawValue>::deserialize(from)?, |element| {
            if elements.len() < MOST_ELEMENTS {
                elements.extend(serde_json::from_str(element.get()).ok());
            }
        });
        Ok(Self(elements))
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
            assert_eq!(line(&odd).unwrap().name.as_str(), "kept", "{odd}");
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
}
