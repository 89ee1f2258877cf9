//! Durations as people write them (L2): `30s`, `5m`, `1h`, `1h30m`, `2d`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use dacapo_core::spec::{duration_text, parse_duration};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The `format` by which the schema marks such a value.
pub(super) const FORMAT: &str = "timespan";

/// A duration of whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timespan(Duration);

/// The text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a duration such as 30s, 5m, 1h, 1h30m or 2d")]
pub struct NotATimespan;

impl Timespan {
    /// A span of this many seconds.
    pub fn from_secs(seconds: u64) -> Self {
        Timespan(Duration::from_secs(seconds))
    }

    /// As the standard library's type.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl From<Duration> for Timespan {
    fn from(duration: Duration) -> Self {
        Timespan(duration)
    }
}

impl FromStr for Timespan {
    type Err = NotATimespan;

    fn from_str(text: &str) -> Result<Self, NotATimespan> {
        let duration = parse_duration(text).map_err(|_| NotATimespan)?;
        if duration.subsec_millis() != 0 { Err(NotATimespan) } else { Ok(Timespan(duration)) }
    }
}

impl fmt::Display for Timespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration_text(self.0))
    }
}

impl Serialize for Timespan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timespan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Timespan {
    fn schema_name() -> Cow<'static, str> {
        "Timespan".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": FORMAT,
            "pattern": "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        for (text, expected) in [
            ("30s", Ok(30)),
            ("5m", Ok(300)),
            ("1h30m", Ok(5400)),
            ("2d", Ok(172_800)),
            ("90m", Ok(5400)),
            ("", Err(NotATimespan)),
            ("0s", Err(NotATimespan)),
            ("5", Err(NotATimespan)),
            ("m", Err(NotATimespan)),
            ("30m1h", Err(NotATimespan)),
            ("1h1h", Err(NotATimespan)),
            ("1 h", Err(NotATimespan)),
            ("-5m", Err(NotATimespan)),
            ("1.5h", Err(NotATimespan)),
            ("99999999999999999999d", Err(NotATimespan)),
            ("999999999999999999d", Err(NotATimespan)),
        ] {
            assert_eq!(text.parse(), expected.map(Timespan::from_secs), "{text}");
        }
        assert_eq!(Timespan::from_secs(5400).to_string(), "1h30m");
    }
}
