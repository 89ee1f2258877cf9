//! The small values of a script. They check themselves while they are read, so that a mistake is
//! reported where it stands in the file and not when the step is played, an hour into a loop.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use dacapo_core::spec::parse_duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A year: longer than any rehearsal, short enough that adding it to a clock never overflows.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// How long something takes: `50ms`, `2s`, `1m30s`, or a plain number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span(pub Duration);

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no duration: write `50ms`, `2s` or `1m30s`");
        let text = text.trim();
        // Only a number on its own goes without a unit: `1m30` is more likely a slip.
        let total = match text.parse::<f64>() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| bad())?,
            Err(_) => parse_duration(text).map_err(|_| bad())?,
        };
        if total > LONGEST {
            return Err(format!("`{text}` is longer than a year"));
        }
        Ok(Span(total))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How long: `50ms`, `2s`, `1m30s`, or a number of seconds.",
            "anyOf": [
                { "type": "string", "pattern": "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$" },
                { "type": "number", "minimum": 0 },
            ],
        })
    }
}

/// Bytes written with escapes, so that a script can hold what YAML cannot: invalid UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            match chars.next() {
                Some('n') => bytes.push(b'\n'),
                Some('r') => bytes.push(b'\r'),
                Some('t') => bytes.push(b'\t'),
                Some('0') => bytes.push(0),
                Some('e') => bytes.push(0x1b),
                Some('\\') => bytes.push(b'\\'),
                Some('x') => {
                    let mut digit = || chars.next().and_then(|c| c.to_digit(16));
                    let (Some(high), Some(low)) = (digit(), digit()) else {
                        return Err("`\\x` wants two hexadecimal digits, as in `\\xff`".into());
                    };
                    bytes.push((high * 16 + low) as u8);
                }
                Some(other) => {
                    return Err(format!(
                        "there is no escape `\\{other}`: use \\n \\r \\t \\0 \\e \\xff \\\\"
                    ));
                }
                None => return Err("it ends with a lone `\\`: write `\\\\`".into()),
            }
        }
        Ok(Bytes(bytes))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": r"Bytes with the escapes \n \r \t \0 \e \xff \\. Use single quotes: in double quotes YAML takes the escapes for itself.",
            "type": "string",
        })
    }
}

/// A count with a ceiling: a slip of the finger must not fill a disk or a process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capped<const MAX: u32>(pub u32);

impl<const MAX: u32> Capped<MAX> {
    fn new(count: u64) -> Result<Self, String> {
        u32::try_from(count)
            .ok()
            .filter(|count| *count <= MAX)
            .map(Capped)
            .ok_or_else(|| format!("{count} is too many: at most {MAX}"))
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for Capped<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(u64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<const MAX: u32> JsonSchema for Capped<MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("UpTo{MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": MAX })
    }
}

/// A step's argument that may also be written short, as one value instead of a mapping:
/// `run: make` for `run: { command: make }`.
pub(super) trait Short: DeserializeOwned + JsonSchema {
    /// For the error message: what may stand there.
    const EXPECTS: &'static str;
    /// The JSON Schema types of the short forms.
    const TYPES: &'static [&'static str];

    fn from_text(_text: String) -> Option<Self> {
        None
    }

    fn from_number(_number: u64) -> Option<Result<Self, String>> {
        None
    }

    /// From `true` or `false`.
    fn from_flag(_flag: bool) -> Option<Self> {
        None
    }
}

/// Reads a [`Short`]. Not an untagged enum, which would lose the place of a mistake in the file.
pub(super) fn short<'de, T: Short, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Reader<T>(PhantomData<T>);

    impl<'de, T: Short> Visitor<'de> for Reader<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTS)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            T::from_text(text.to_owned()).ok_or_else(|| E::custom(format!("expected {}", T::EXPECTS)))
        }

        fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
            T::from_flag(flag).ok_or_else(|| {
                E::custom(format!("expected {} (a text that looks like a flag needs quotes)", T::EXPECTS))
            })
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            match T::from_number(number) {
                Some(made) => made.map_err(E::custom),
                None => Err(E::custom(format!(
                    "expected {} (a text that looks like a number needs quotes)",
                    T::EXPECTS
                ))),
            }
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_any(Reader(PhantomData))
}

/// The schema of a [`Short`]: the short forms, or the mapping.
pub(super) fn short_schema<T: Short>(generator: &mut SchemaGenerator) -> Schema {
    let long = generator.subschema_for::<T>();
    let mut forms: Vec<serde_json::Value> =
        T::TYPES.iter().map(|name| serde_json::json!({ "type": name })).collect();
    forms.push(long.to_value());
    json_schema!({ "anyOf": forms })
}

/// What is claimed when the agent says that it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// `false`: nothing.
    Nothing,
    /// `true`: the promise the prompt asks for.
    Asked,
    /// A text of the script's own.
    Text(String),
}

impl<'de> Deserialize<'de> for Claim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Claim;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true` or the text to say")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Claim, E> {
                Ok(if flag { Claim::Asked } else { Claim::Nothing })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Claim, E> {
                Ok(Claim::Text(text.to_owned()))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Claim {
    fn schema_name() -> Cow<'static, str> {
        "Claim".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`true` says the `<promise>…</promise>` found in the prompt; a text is said as it is.",
            "type": ["boolean", "string"],
        })
    }
}

/// How the agent talks to Dacapo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// One JSON event a line.
    #[default]
    Events,
    /// Plain text, like an agent without a machine-readable mode.
    Text,
}

impl<const MAX: u32> From<Capped<MAX>> for u64 {
    fn from(count: Capped<MAX>) -> u64 {
        count.0.into()
    }
}

impl<const MAX: u32> TryFrom<u64> for Capped<MAX> {
    type Error = String;

    fn try_from(count: u64) -> Result<Self, String> {
        Capped::new(count)
    }
}
