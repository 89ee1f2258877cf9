//! What a failed call means for the loop: wait, try again, or stop and say what to do. Decided by status and structured
//! fields; words of a message count only where an endpoint gives nothing else.

use std::error::Error as StdError;

use dacapo_core::context::cut;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::endpoint::Endpoint;

/// How much of what an endpoint says about an error is told.
const MESSAGE_BYTES: usize = 500;

/// No limit lasts longer; a time beyond that is a misunderstanding.
const LONGEST_LIMIT: SignedDuration = SignedDuration::from_hours(31 * 24);

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Problem {
    /// May be over in a moment.
    Again {
        message: String,
        status: Option<u16>,
    },
    /// May be over when the next turn starts.
    Transient(String),
    /// Only a person can change it.
    Permanent(String),
    Limit {
        message: String,
        resets_at: Option<Timestamp>,
    },
    /// The conversation is longer than the model takes.
    TooLong(String),
    /// Whoever started us does not listen any more.
    Unheard,
}

/// What went wrong, in the endpoint's own words.
struct Said {
    /// `type` and `code` of the error.
    kinds: Vec<String>,
    message: String,
    /// When a limit ends, in seconds from now or since 1970.
    resets: Option<f64>,
}

impl Said {
    fn is(&self, known: &[&str]) -> bool {
        self.kinds.iter().any(|kind| known.contains(&kind.as_str()))
    }

    fn resets_at(&self, now: Timestamp) -> Option<Timestamp> {
        moment(&self.resets?.to_string(), now).filter(|at| is_sensible(*at, now))
    }
}

const BILLING: [&str; 5] =
    ["insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active", "credits"];
const LOGIN: [&str; 4] =
    ["authentication_error", "permission_error", "invalid_api_key", "invalid_authentication"];
const LIMIT: [&str; 4] = ["rate_limit_error", "rate_limit_exceeded", "rate_limit", "too_many_requests"];
const TOO_LONG: [&str; 3] = ["context_length_exceeded", "exceed_context_size_error", "request_too_large"];
const WRONG: [&str; 3] = ["invalid_request_error", "not_found_error", "model_not_found"];

/// Endpoints without a code for it say so in words; each of these comes from one in use.
const TOO_LONG_WORDS: [&str; 6] = [
    "prompt is too long",
    "maximum context length",
    "context window",
    "context size",
    "context length",
    "input is too long",
];

/// Weighs an error of the library.
pub(super) fn weigh(error: genai::Error, endpoint: &Endpoint, now: Timestamp) -> Problem {
    match error {
        genai::Error::HttpError { status, body, headers, .. } => {
            by_status(status.as_u16(), &body, &headers, endpoint, now)
        }
        genai::Error::WebStream { error, cause, .. } => match error.downcast::<genai::Error>() {
            Ok(inner) => weigh(*inner, endpoint, now),
            Err(error) => match error.downcast::<reqwest::Error>() {
                Ok(error) => by_connection(&error, endpoint),
                Err(_) => again(endpoint, &format!("the answer cannot be read: {cause}"), None),
            },
        },
        genai::Error::ChatResponse { body, .. } => by_event(&said(&body), endpoint),
        genai::Error::StreamParse { serde_error, .. } => {
            again(endpoint, &format!("the answer cannot be read: {serde_error}"), None)
        }
        genai::Error::JsonValueExt(error) => {
            again(endpoint, &format!("the answer cannot be read: {error}"), None)
        }
        other => Problem::Permanent(tell(endpoint, &other.to_string())),
    }
}

fn by_status(status: u16, body: &str, headers: &HeaderMap, endpoint: &Endpoint, now: Timestamp) -> Problem {
    let said = said_in(body);
    let words = tell(endpoint, &format!("{} answered {status}: {}", endpoint.shown(), said.message));
    match status {
        _ if status == 402 || said.is(&BILLING) => billing(&words),
        401 | 403 => login(&words, endpoint),
        429 => {
            let resets_at = resets_at(headers, now).or_else(|| said.resets_at(now));
            Problem::Limit { message: words, resets_at }
        }
        408 | 409 | 425 | 500.. => Problem::Again { message: words, status: Some(status) },
        300..=399 => {
            let to = headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            Problem::Permanent(tell(
                endpoint,
                &format!("{} leads to {to}: set that as base_url", endpoint.shown()),
            ))
        }
        _ if is_too_long(&said) => Problem::TooLong(words),
        404 => Problem::Permanent(format!("{words}; base_url or model of [agents.native] may be wrong")),
        _ => Problem::Permanent(words),
    }
}

/// An error in the midst of a stream has no status, only its kind.
fn by_event(said: &Said, endpoint: &Endpoint) -> Problem {
    let words = tell(endpoint, &format!("{} broke off: {}", endpoint.shown(), said.message));
    if said.is(&BILLING) {
        billing(&words)
    } else if said.is(&LOGIN) {
        login(&words, endpoint)
    } else if said.is(&LIMIT) {
        Problem::Limit { message: words, resets_at: None }
    } else if said.is(&TOO_LONG) {
        Problem::TooLong(words)
    } else if said.is(&WRONG) {
        Problem::Permanent(words)
    } else {
        Problem::Again { message: words, status: None }
    }
}

fn by_connection(error: &reqwest::Error, endpoint: &Endpoint) -> Problem {
    // The outermost error repeats the address, with whatever secret is in it; the innermost says what happened.
    let mut inner: &dyn StdError = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let why = if std::ptr::addr_eq(inner, error) { "the connection broke".into() } else { inner.to_string() };
    let shown = endpoint.shown();
    if error.is_builder() {
        Problem::Permanent(tell(endpoint, &format!("{shown} cannot be called: {why}")))
    } else if error.is_connect() {
        again(endpoint, &format!("{shown} cannot be reached: {why}"), None)
    } else {
        again(endpoint, &format!("{shown} broke off: {why}"), None)
    }
}

fn again(endpoint: &Endpoint, message: &str, status: Option<u16>) -> Problem {
    Problem::Again { message: tell(endpoint, message), status }
}

fn billing(words: &str) -> Problem {
    Problem::Permanent(format!("{words}; the account behind the key cannot pay: see to its billing"))
}

fn login(words: &str, endpoint: &Endpoint) -> Problem {
    Problem::Permanent(format!("{words}; {}", endpoint.refused()))
}

fn is_too_long(said: &Said) -> bool {
    let message = said.message.to_ascii_lowercase();
    said.is(&TOO_LONG) || TOO_LONG_WORDS.iter().any(|words| message.contains(words))
}

fn tell(endpoint: &Endpoint, text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&endpoint.masked(&line), MESSAGE_BYTES).replace('\n', " ")
}

fn said_in(body: &str) -> Said {
    match serde_json::from_str::<Value>(body) {
        Ok(body) => said(&body),
        Err(_) => {
            let message =
                if body.trim().is_empty() { "nothing more".into() } else { cut(body, MESSAGE_BYTES * 2) };
            Said { kinds: Vec::new(), message, resets: None }
        }
    }
}

/// From `{"error": {"type", "code", "message"}}` and the ways in which endpoints differ from it.
fn said(body: &Value) -> Said {
    let inner = match body.get("error") {
        Some(inner @ (Value::Object(_) | Value::String(_))) => inner,
        _ => body,
    };
    let text = |key: &str| inner.get(key).and_then(Value::as_str).map(str::to_owned);
    let message = inner.as_str().map(str::to_owned).or_else(|| text("message")).or_else(|| text("detail"));
    Said {
        kinds: ["type", "code"].into_iter().filter_map(text).collect(),
        message: message.unwrap_or_else(|| cut(&body.to_string(), MESSAGE_BYTES)),
        resets: ["resets_in_seconds", "resets_at"]
            .iter()
            .find_map(|key| inner.get(key).and_then(Value::as_f64)),
    }
}

/// When a limit ends: what the endpoint asks for, else when what is used up is there again.
fn resets_at(headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let sensible = |at: &Timestamp| is_sensible(*at, now);
    let asked = match text("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok()) {
        Some(millis) => after(millis / 1e3, now),
        None => text("retry-after").and_then(|text| moment(text, now)),
    };
    if let Some(asked) = asked.filter(sensible) {
        return Some(asked);
    }
    let mut resets: Vec<(Timestamp, bool)> = Vec::new();
    for (name, value) in headers {
        let name = name.as_str();
        let at = value.to_str().ok().and_then(|text| moment(text, now)).filter(sensible);
        if let (true, Some(at)) = (name.contains("ratelimit") && name.contains("reset"), at) {
            resets
                .push((at, text(&name.replace("reset", "remaining")).is_some_and(|left| left.trim() == "0")));
        }
    }
    let used_up = resets.iter().any(|(_, used_up)| *used_up);
    resets.iter().filter(|(_, this)| *this == used_up).map(|(at, _)| *at).max()
}

fn is_sensible(at: Timestamp, now: Timestamp) -> bool {
    at > now && at.duration_since(now) <= LONGEST_LIMIT
}

/// Seconds, a time since 1970 in seconds or milliseconds, a date, or a duration: headers hold all of them.
fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return match number {
            1e11.. => Timestamp::from_millisecond(number as i64).ok(),
            1e9.. => Timestamp::from_second(number as i64).ok(),
            _ => after(number, now),
        };
    }
    let date = || text.parse::<Timestamp>().ok();
    let http_date = || jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let duration = || text.parse::<SignedDuration>().ok().and_then(|length| now.checked_add(length).ok());
    date().or_else(http_date).or_else(duration)
}

fn after(seconds: f64, now: Timestamp) -> Option<Timestamp> {
    now.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn endpoint() -> Endpoint {
        let args = ["--api", "openai", "--model", "m", "--base-url", "http://h/v1", "--key-env", "MY_KEY"];
        let options = super::super::options::parse(&args.map(Into::into)).unwrap();
        Endpoint::new(&options, |_| Some("sk-very-secret".into())).unwrap()
    }

    fn now() -> Timestamp {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        });
        pairs.collect()
    }

    fn problem(status: u16, body: &str) -> Problem {
        by_status(status, body, &HeaderMap::new(), &endpoint(), now())
    }

    #[test]
    fn l8_a_refused_key_is_named_and_never_shown() {
        for status in [401, 403] {
            let Problem::Permanent(message) =
                problem(status, r#"{"error":{"message":"bad key sk-very-secret","type":"x"}}"#)
            else {
                panic!("{status}")
            };
            assert!(
                message.contains("the key in MY_KEY was refused") && message.contains("bad key ****"),
                "{message}"
            );
        }
    }

    #[test]
    fn l8_who_cannot_pay_will_not_be_able_to_in_a_minute() {
        for (status, body) in [
            (402, "no money"),
            (429, r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#),
            (400, r#"{"type":"error","error":{"type":"billing_error","message":"credit balance"}}"#),
        ] {
            let Problem::Permanent(message) = problem(status, body) else { panic!("{status}") };
            assert!(message.contains("billing"), "{message}");
        }
    }

    #[test]
    fn l9_a_limit_knows_when_it_ends() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        for (pairs, expected) in [
            (&[("retry-after", "20")][..], at("2026-11-15T12:00:20Z")),
            (&[("retry-after", "Sun, 15 Nov 2026 13:00:00 GMT")], at("2026-11-15T13:00:00Z")),
            (&[("retry-after-ms", "1500"), ("retry-after", "9")], at("2026-11-15T12:00:01.5Z")),
            (&[("anthropic-ratelimit-unified-reset", "1794751200")], at("2026-11-15T14:00:00Z")),
            (&[("x-ratelimit-reset", "1794751200000")], at("2026-11-15T14:00:00Z")),
            (
                &[
                    ("anthropic-ratelimit-requests-remaining", "0"),
                    ("anthropic-ratelimit-requests-reset", "2026-11-15T12:01:00Z"),
                    ("anthropic-ratelimit-tokens-remaining", "70"),
                    ("anthropic-ratelimit-tokens-reset", "2026-11-15T12:09:00Z"),
                ],
                at("2026-11-15T12:01:00Z"),
            ),
            (
                &[("x-ratelimit-reset-requests", "20ms"), ("x-ratelimit-reset-tokens", "6m0s")],
                at("2026-11-15T12:06:00Z"),
            ),
            (&[("retry-after", "0")], None),
            (&[("retry-after", "-5")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "soon"), ("x-ratelimit-reset", "\u{1}")], None),
            (&[("x-ratelimit-reset", "99999999999999999999")], None),
            (&[], None),
        ] {
            let Problem::Limit { resets_at, .. } =
                by_status(429, "{}", &headers_lossy(pairs), &endpoint(), now())
            else {
                panic!("{pairs:?}")
            };
            assert_eq!(resets_at, expected, "{pairs:?}");
        }
    }

    #[test]
    fn l9_a_body_may_say_when_a_limit_ends() {
        for (field, expected) in [
            (r#""resets_in_seconds":60"#, Some("2026-11-15T12:01:00Z".parse().unwrap())),
            (r#""resets_at":1794751200"#, Some("2026-11-15T14:00:00Z".parse().unwrap())),
            (r#""resets_at":"never""#, None),
            (r#""resets_at":-1e308"#, None),
        ] {
            let body = format!(r#"{{"error":{{"type":"usage_limit_reached","message":"x",{field}}}}}"#);
            let Problem::Limit { resets_at, .. } = problem(429, &body) else { panic!("{field}") };
            assert_eq!(resets_at, expected, "{field}");
        }
    }

    /// Leaves out what no header can hold.
    fn headers_lossy(pairs: &[(&str, &str)]) -> HeaderMap {
        let pairs: Vec<_> =
            pairs.iter().copied().filter(|(_, value)| HeaderValue::from_str(value).is_ok()).collect();
        headers(&pairs)
    }

    #[test]
    fn l9_a_text_about_rate_limits_is_no_limit() {
        let body = r#"{"error":{"message":"rate limit docs: see 429","type":"invalid_request_error"}}"#;
        assert!(matches!(problem(400, body), Problem::Permanent(_)));
    }

    #[test]
    fn l8_what_the_server_may_get_over_is_tried_again() {
        for status in [408, 500, 502, 503, 504, 529] {
            let again = problem(status, "<html>oh no</html>");
            assert!(matches!(again, Problem::Again { status: Some(s), .. } if s == status), "{again:?}");
        }
    }

    #[test]
    fn a_conversation_that_is_too_long_is_recognised() {
        for body in [
            r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000"}}"#,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        ] {
            assert!(matches!(problem(400, body), Problem::TooLong(_)), "{body}");
        }
    }

    #[test]
    fn errors_in_the_stream_are_told_apart_by_their_kind() {
        let event = |json: &str| by_event(&said(&serde_json::from_str(json).unwrap()), &endpoint());
        let overloaded =
            event(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#);
        assert!(matches!(overloaded, Problem::Again { .. }), "{overloaded:?}");
        let limit = event(r#"{"message":"slow down","code":"rate_limit_exceeded"}"#);
        assert!(matches!(limit, Problem::Limit { resets_at: None, .. }), "{limit:?}");
        let login = event(r#"{"error":{"type":"authentication_error","message":"no"}}"#);
        assert!(matches!(login, Problem::Permanent(_)), "{login:?}");
    }

    proptest! {
        #[test]
        fn r3_headers_and_bodies_of_any_kind_are_survived(text in "\\PC{0,40}", number: f64, status in 300_u16..600) {
            for value in [text.clone(), number.to_string(), format!("{number}s"), format!("{text}{number}")] {
                if let Some(at) = moment(&value, now()) {
                    prop_assert!(!is_sensible(at, now()) || at > now());
                }
                let body = serde_json::json!({ "error": { "message": value, "type": value, "resets_at": number } });
                let _ = problem(status, &body.to_string());
                let _ = problem(status, &value);
            }
        }
    }

    #[test]
    fn r3_any_body_becomes_one_short_line() {
        for body in ["", "null", "[]", "{}", r#"{"error":null}"#, r#"{"error":"plain"}"#, "\u{0}\u{7f}"] {
            let Problem::Permanent(message) = problem(418, body) else { panic!("{body}") };
            assert!(!message.contains('\n') && message.len() < 600, "{message}");
        }
        let Problem::Permanent(message) = problem(418, &"繼".repeat(100_000)) else { panic!() };
        assert!(message.len() <= MESSAGE_BYTES + 10, "{}", message.len());
    }
}
