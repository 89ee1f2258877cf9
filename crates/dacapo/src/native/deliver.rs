//! `dacapo __deliver`: posts one message to an address, again and again for a bounded time, and says what came of it.
//!
//! The order comes as JSON on standard input, for the address is a secret that no list of processes may show; the answer is
//! one line of JSON that never holds it.

use std::io::Read as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};

/// One attempt may take so long.
const ATTEMPT: Duration = Duration::from_secs(15);

/// Of a refusal so much is repeated.
const LONGEST_ANSWER: usize = 200;

/// A larger order is none of ours.
const LONGEST_ORDER: u64 = 4 << 20;

#[derive(Debug, Deserialize)]
struct Order {
    url: String,
    body: Value,
    attempts: u32,
    pause_ms: u64,
    limit_ms: u64,
}

/// An attempt that did not deliver it.
struct Refused {
    why: String,
    /// Another attempt may help: after so long, where the other side says.
    again: Option<Option<Duration>>,
}

/// All of the hidden command.
pub(crate) fn main() -> ExitCode {
    let (answer, code) = match read().and_then(|order| deliver(&order)) {
        Ok((status, attempts)) => (json!({"status": status, "attempts": attempts}), ExitCode::SUCCESS),
        Err(error) => (json!({"error": error}), ExitCode::FAILURE),
    };
    // Nobody is left to tell if this fails.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), format!("{answer}\n").as_bytes());
    code
}

fn read() -> Result<Order, String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST_ORDER).read_to_string(&mut text);
    read.map_err(|error| format!("the order cannot be read: {error}"))?;
    // What serde says could repeat a part of it.
    serde_json::from_str(&text).map_err(|_| "the order is not understood".to_owned())
}

fn deliver(order: &Order) -> Result<(u16, u32), String> {
    let url = Url::parse(&order.url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or("the address is none: it begins with http:// or https:// and a host")?;
    let failed = |error: &dyn std::fmt::Display| format!("nothing can be sent: {error}");
    // Only fails where a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
    let client = reqwest::Client::builder()
        .user_agent(concat!("dacapo/", env!("CARGO_PKG_VERSION")))
        // The message is for this address and no other.
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|e| failed(&e.without_url()))?;
    let until = Instant::now() + Duration::from_millis(order.limit_ms);
    let mut pause = Duration::from_millis(order.pause_ms);
    let mut attempt = 1;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let refused = match runtime.block_on(post(&client, &url, order, left.min(ATTEMPT))) {
            Ok(status) => return Ok((status, attempt)),
            Err(refused) => refused,
        };
        let tried = if attempt == 1 { String::new() } else { format!(" (tried {attempt} times)") };
        let Some(wanted) = refused.again else { return Err(format!("{}{tried}", refused.why)) };
        let wait = wanted.unwrap_or(pause);
        if attempt >= order.attempts || Instant::now() + wait >= until {
            return Err(format!("{}{tried}", refused.why));
        }
        // The other side tells nobody when it is ready again: there is nothing to wait for but time.
        std::thread::sleep(wait);
        pause = pause.saturating_mul(4);
        attempt += 1;
    }
}

async fn post(client: &reqwest::Client, url: &Url, order: &Order, limit: Duration) -> Result<u16, Refused> {
    let request = client
        .post(url.clone())
        .header(CONTENT_TYPE, "application/json")
        .timeout(limit)
        .body(order.body.to_string());
    let mut response = request
        .send()
        .await
        // `without_url`: reqwest puts the address into its errors, and this one is a secret.
        .map_err(|error| Refused { why: cause(&error.without_url(), limit), again: Some(None) })?;
    let status = response.status();
    if status.is_success() {
        return Ok(status.as_u16());
    }
    let again = match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            Some(retry_after(response.headers(), Timestamp::now()))
        }
        status if status.is_server_error() => Some(retry_after(response.headers(), Timestamp::now())),
        _ => None,
    };
    // Its first piece says what is wrong; the rest may be endless.
    let said = response.chunk().await.ok().flatten().unwrap_or_default();
    let said =
        String::from_utf8_lossy(&said[..said.len().min(4 * LONGEST_ANSWER)]).replace(&order.url, "***");
    let said: String =
        said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST_ANSWER).collect();
    let why = if status.is_redirection() {
        format!("it answers {status}: the address has moved; set the new one")
    } else if said.is_empty() {
        format!("it answers {status}")
    } else {
        format!("it answers {status}: {said}")
    };
    Err(Refused { why, again })
}

/// The innermost reason: the outer ones only say that a request failed.
fn cause(error: &reqwest::Error, limit: Duration) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", limit.as_secs().max(1));
    }
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    format!("it cannot be reached: {inner}")
}

/// `Retry-After`: seconds or a date.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u4_a_pause_is_as_long_as_the_other_side_says() {
        let now: Timestamp = "2026-11-15T08:00:00Z".parse().unwrap();
        for (text, seconds) in [
            ("7", Some(7)),
            ("Sun, 15 Nov 2026 08:00:30 GMT", Some(30)),
            ("Sun, 15 Nov 2026 07:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            assert_eq!(retry_after(&headers, now).map(|pause| pause.as_secs()), seconds, "{text}");
        }
    }
}
