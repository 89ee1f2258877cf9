//! What an agent says, as far as it is read. Every field may be missing, null or of another type than expected: then it
//! is as if it were not there. What is not listed here is passed over without being built.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::agent::metering::Reported;
use crate::agent::raw_json;

/// A line: a request, a notification or an answer.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "text")]
    pub(super) method: Option<String>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// As much of `raw` as is of the expected form.
pub(super) fn read<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// A value of the expected form, or none.
fn soft<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw: Option<&'de RawValue> = Deserialize::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(from).map(|raw| raw.and_then(raw_json::text).map(String::from))
}

fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Option::deserialize(from).map(|raw| raw.and_then(raw_json::count))
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(from).map(|raw| raw.and_then(raw_json::number))
}

/// The parameters of what an agent tells or asks in a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Params<'a> {
    #[serde(deserialize_with = "text")]
    pub(super) session_id: Option<String>,
    #[serde(borrow)]
    pub(super) update: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) options: Option<&'a RawValue>,
}

/// One update of a session; a tool call in a request for permission has the same fields.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Update<'a> {
    #[serde(deserialize_with = "text")]
    pub(super) session_update: Option<String>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(deserialize_with = "text")]
    pub(super) tool_call_id: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) title: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) status: Option<String>,
    #[serde(borrow)]
    pub(super) raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) raw_output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) locations: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) entries: Option<&'a RawValue>,
    #[serde(deserialize_with = "soft")]
    pub(super) cost: Option<Cost>,
    #[serde(rename = "_meta", deserialize_with = "soft")]
    pub(super) meta: Option<Meta>,
}

/// What a session has cost so far.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    #[serde(deserialize_with = "number")]
    pub(super) amount: Option<f64>,
    #[serde(deserialize_with = "text")]
    pub(super) currency: Option<String>,
}

/// What single agents add.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Meta {
    #[serde(deserialize_with = "soft")]
    pub(super) codex: Option<Codex>,
    #[serde(deserialize_with = "soft")]
    pub(super) claude_code: Option<ClaudeCode>,
    #[serde(deserialize_with = "soft")]
    pub(super) quota: Option<Quota>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClaudeCode {
    #[serde(deserialize_with = "text")]
    pub(super) tool_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Codex {
    #[serde(deserialize_with = "soft")]
    pub(super) thread_status: Option<Typed>,
    #[serde(deserialize_with = "soft")]
    pub(super) error: Option<CodexError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    #[serde(rename = "type", deserialize_with = "text")]
    pub(super) kind: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CodexError {
    #[serde(deserialize_with = "text")]
    pub(super) message: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) additional_details: Option<String>,
    /// A word, or an object with one key that may hold `httpStatusCode`.
    #[serde(deserialize_with = "soft")]
    pub(super) codex_error_info: Option<serde_json::Value>,
    #[serde(deserialize_with = "soft")]
    pub(super) will_retry: Option<bool>,
}

/// What a turn used, by the word of gemini, claude and codex.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Quota {
    #[serde(deserialize_with = "soft")]
    pub(super) token_count: Option<Tokens>,
    #[serde(deserialize_with = "soft")]
    pub(super) model_usage: Option<Vec<ModelUsage>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelUsage {
    #[serde(deserialize_with = "soft")]
    pub(super) token_count: Option<Tokens>,
}

/// Counts under all the names that are in use for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tokens {
    #[serde(alias = "total_tokens")]
    pub(super) total_tokens: Reported,
    #[serde(alias = "input_tokens")]
    pub(super) input_tokens: Reported,
    #[serde(alias = "output_tokens")]
    pub(super) output_tokens: Reported,
    #[serde(alias = "cachedInputTokens", alias = "cached_read_tokens")]
    pub(super) cached_read_tokens: Reported,
    #[serde(alias = "cacheWriteInputTokens", alias = "cached_write_tokens")]
    pub(super) cached_write_tokens: Reported,
    #[serde(alias = "reasoningOutputTokens", alias = "thought_tokens")]
    pub(super) thought_tokens: Reported,
}

/// The answer to `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Initialized {
    #[serde(deserialize_with = "count")]
    pub(super) protocol_version: Option<u64>,
    #[serde(deserialize_with = "soft")]
    pub(super) agent_info: Option<AgentInfo>,
    #[serde(deserialize_with = "soft")]
    pub(super) agent_capabilities: Option<Capabilities>,
    #[serde(deserialize_with = "soft")]
    pub(super) auth_methods: Option<Vec<AuthMethod>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentInfo {
    #[serde(deserialize_with = "text")]
    pub(super) name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Capabilities {
    #[serde(deserialize_with = "soft")]
    pub(super) load_session: Option<bool>,
    #[serde(deserialize_with = "soft")]
    pub(super) session_capabilities: Option<SessionCapabilities>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionCapabilities {
    /// Present if the agent can do it.
    #[serde(deserialize_with = "soft")]
    pub(super) resume: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuthMethod {
    #[serde(deserialize_with = "text")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) description: Option<String>,
}

/// The answer to `session/new`, `session/load` and `session/resume`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Opened {
    #[serde(deserialize_with = "text")]
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "soft")]
    pub(super) modes: Option<Modes>,
    #[serde(deserialize_with = "soft")]
    pub(super) config_options: Option<Vec<ConfigOption>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Modes {
    #[serde(deserialize_with = "text")]
    pub(super) current_mode_id: Option<String>,
    #[serde(deserialize_with = "soft")]
    pub(super) available_modes: Option<Vec<Mode>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mode {
    #[serde(deserialize_with = "text")]
    pub(super) id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConfigOption {
    #[serde(deserialize_with = "text")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) category: Option<String>,
    #[serde(deserialize_with = "soft")]
    pub(super) options: Option<Vec<ConfigValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConfigValue {
    #[serde(deserialize_with = "text")]
    pub(super) value: Option<String>,
}

/// The answer to `session/prompt`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Prompted {
    #[serde(deserialize_with = "text")]
    pub(super) stop_reason: Option<String>,
    #[serde(deserialize_with = "soft")]
    pub(super) usage: Option<Tokens>,
    #[serde(rename = "_meta", deserialize_with = "soft")]
    pub(super) meta: Option<Meta>,
}

/// An answer that is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RpcError {
    #[serde(deserialize_with = "soft")]
    pub(super) code: Option<i64>,
    #[serde(deserialize_with = "text")]
    pub(super) message: Option<String>,
    #[serde(deserialize_with = "soft")]
    pub(super) data: Option<ErrorData>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ErrorData {
    #[serde(deserialize_with = "text")]
    pub(super) error_kind: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) error_name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) details: Option<String>,
    #[serde(alias = "statusCode", alias = "httpStatusCode", deserialize_with = "soft")]
    pub(super) status: Option<u16>,
}

/// A choice that a request for permission offers.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PermissionOption {
    #[serde(deserialize_with = "text")]
    pub(super) option_id: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) kind: Option<String>,
}
