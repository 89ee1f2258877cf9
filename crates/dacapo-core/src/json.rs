//! How values are written in JSON where that is not how they are held: spans in seconds, branches by their short names. For
//! `#[serde(with = "…")]`.

/// Whole milliseconds, written as seconds: `1.234`.
pub(crate) mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(milliseconds: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(*milliseconds as f64 / 1000.0)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        f64::deserialize(from).and_then(super::milliseconds)
    }
}

/// A duration, written as seconds.
pub(crate) mod span {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(span.as_secs_f64())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        f64::deserialize(from).and_then(super::milliseconds).map(Duration::from_millis)
    }
}

/// A duration that may be absent, written as seconds or null.
pub(crate) mod optional_span {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => super::span::serialize(span, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        Ok(seconds.map(super::milliseconds).transpose()?.map(Duration::from_millis))
    }
}

/// Nothing lasts longer; sums of spans stay far from overflow.
const LONGEST_SECONDS: f64 = 1e11;

/// The nearest whole millisecond, so that what was written is read back exactly.
fn milliseconds<E: serde::de::Error>(seconds: f64) -> Result<u64, E> {
    if (0.0..=LONGEST_SECONDS).contains(&seconds) {
        Ok((seconds * 1000.0).round() as u64)
    } else {
        Err(E::custom(format_args!("{seconds} seconds are no span of time")))
    }
}

const BRANCHES: &str = "refs/heads/";

/// The short name of a branch. One whose short name would look like a full name keeps its full name, as does a ref that is no
/// branch: so that both can be told apart when they are read.
pub fn short_branch(full: &str) -> &str {
    match full.strip_prefix(BRANCHES) {
        Some(short) if !short.starts_with("refs/") => short,
        Some(_) | None => full,
    }
}

fn full_branch(written: String) -> String {
    if written.starts_with("refs/") { written } else { format!("{BRANCHES}{written}") }
}

/// The full name of a branch, written as its short name.
pub(crate) mod branch {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(full: &str, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(super::short_branch(full))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        String::deserialize(from).map(super::full_branch)
    }
}

/// The same for a branch that may be absent.
pub(crate) mod optional_branch {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(full: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
        match full {
            Some(full) => super::branch::serialize(full, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(super::full_branch))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Written {
        #[serde(with = "super::seconds")]
        took: u64,
        #[serde(with = "super::span")]
        limit: Duration,
        #[serde(with = "super::optional_span")]
        none: Option<Duration>,
        #[serde(with = "super::branch")]
        branch: String,
        #[serde(with = "super::optional_branch")]
        base: Option<String>,
    }

    #[test]
    fn s6_spans_are_seconds_and_branches_have_their_short_names() {
        let written = Written {
            took: 1234,
            limit: Duration::from_millis(250),
            none: None,
            branch: "refs/heads/dacapo/fix".into(),
            base: Some("refs/heads/refs/odd".into()),
        };
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(
            text,
            r#"{"took":1.234,"limit":0.25,"none":null,"branch":"dacapo/fix","base":"refs/heads/refs/odd"}"#
        );
        assert_eq!(serde_json::from_str::<Written>(&text).unwrap(), written);
    }

    #[test]
    fn r4_what_cannot_be_a_span_is_refused() {
        for seconds in ["-1", "1e12", "18446744073709551615.5", "\"1\"", "null"] {
            let text = format!(r#"{{"took":{seconds},"limit":0,"none":null,"branch":"a","base":null}}"#);
            assert!(serde_json::from_str::<Written>(&text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn r4_a_span_or_branch_is_read_as_it_was_written(
            took in 0_u64..1 << 46,
            limit in 0_u64..1 << 46,
            branch in "refs/(heads/)?(refs/)?[a-z]{1,5}",
        ) {
            let limit = Duration::from_millis(limit);
            let base = Some(branch.clone());
            let written = Written { took, limit, none: Some(limit), branch, base };
            let text = serde_json::to_string(&written).unwrap();
            prop_assert_eq!(serde_json::from_str::<Written>(&text).unwrap(), written, "{}", text);
        }
    }
}
