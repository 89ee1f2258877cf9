//! What copilot says it used: nothing in its stream, but a file at its end, over all turns of a conversation.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::agent::fields::{self, Object};
use crate::agent::metering::{Meter, Reported};
use crate::event::Usage;

/// A conversation names its models, its sub-agents and the files it changed here.
const LARGEST: u64 = 16 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Report {
    model_metrics: Option<Models>,
}

/// All models together.
#[derive(Debug, Default)]
struct Models(Usage);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model {
    usage: Option<Object<Tokens>>,
}

/// Input includes what was read from a cache and written to one, whatever the endpoint's own way of counting.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    input_tokens: Reported,
    output_tokens: Reported,
    cache_read_tokens: Reported,
}

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Sum;
        impl<'de> Visitor<'de> for Sum {
            type Value = Models;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("models by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut models: A) -> Result<Models, A::Error> {
                let mut sum = Usage::default();
                while let Some((_, Object(model))) = models.next_entry::<IgnoredAny, Object<Model>>()? {
                    let Some(Object(tokens)) = model.usage else { continue };
                    let mut meter = Meter::default();
                    sum = sum.plus(&Usage {
                        input: meter.required(tokens.input_tokens),
                        output: meter.required(tokens.output_tokens),
                        cached: tokens.cache_read_tokens.known().unwrap_or(0),
                        tokens_unknown: meter.tokens_unknown(),
                        ..Usage::default()
                    });
                }
                Ok(Models(sum))
            }
        }
        from.deserialize_map(Sum)
    }
}

/// What the conversation has used. None: there is no such file, or nothing in it.
pub(super) fn read(path: &Path) -> Option<Usage> {
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LARGEST {
        return None;
    }
    fields::read::<Report>(&bytes)?.model_metrics.map(|models| models.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(text: &str) -> Option<Usage> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path())
    }

    #[test]
    fn all_models_count_and_sub_agents_are_among_them() {
        let found = usage(
            r#"{"agentMetrics":{"main":{"modelMetrics":{"a":{"usage":{"inputTokens":9}}}}},
                "modelMetrics":{"a":{"requests":{"count":1},"usage":{"inputTokens":10,"outputTokens":2,"cacheReadTokens":4}},
                                "b":{"usage":{"inputTokens":5,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":3}},
                                "c":null}}"#,
        );
        assert_eq!(found, Some(Usage { input: 15, output: 3, cached: 4, ..Usage::default() }));
    }

    #[test]
    fn r3_what_is_no_report_says_nothing() {
        for text in ["", "x", "[]", "{}", "{\"modelMetrics\":7}", "{\"modelMetrics\":{\"a\":{\"usage\":"] {
            assert_eq!(usage(text), None, "{text}");
        }
        assert_eq!(read(Path::new("/nowhere/at/all")), None);
        assert_eq!(usage("{\"modelMetrics\":{}}"), Some(Usage::default()));
    }

    #[test]
    fn r3_a_file_without_end_is_not_read() {
        assert_eq!(read(Path::new("/dev/zero")), None);
    }
}
