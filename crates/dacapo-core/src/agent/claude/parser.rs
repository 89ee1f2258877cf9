//! Reads `claude --output-format stream-json`.

use std::time::Duration;

use jiff::{Timestamp, Zoned};

use crate::agent::ParserSetting;
use crate::agent::api_error::{self, Cause};
use crate::agent::claude_like::{self, Conversation, Sink};
use crate::agent::excerpt;
use crate::agent::lines::LineReader;
use crate::agent::metering::Meter;
use crate::agent::patience;
use crate::agent::raw_json::{self, Object};
use crate::agent::reset_time;
use crate::event::{AgentEvent, AgentFault, FailureKind, Fault, LogIn, Usage};

/// The words for a conversation that is not there, on both streams.
pub(super) const NO_CONVERSATION: &str = "No conversation found with session ID";

/// What is known of the turn so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ClaudeLines {
    talk: Conversation,
    /// What earlier turns of the conversation used.
    earlier: Usage,
    /// About when this is written.
    now: Zoned,
    /// What results have accounted for.
    settled: Usage,
    /// What claude said in the model's place because a call had failed.
    failed_call: Option<FailedCall>,
    /// When the limit ends that requests are rejected for.
    resets_at: Option<Timestamp>,
}

/// A failed model call, as far as its line says.
#[derive(Debug, Clone, Default)]
struct FailedCall {
    /// Claude's word for it.
    kind: Option<String>,
    status: Option<u16>,
}

impl LineReader for ClaudeLines {
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) {
        let text = String::from_utf8_lossy(line);
        let Some(line) = Object::parse(&text) else { return };
        match line.text("type").as_deref() {
            Some("system") => self.system(&line, sink),
            Some("assistant") => self.assistant(&line, sink),
            Some("user") => {
                self.talk.goes_on(&line);
                self.talk.user(&line, sink);
            }
            Some("rate_limit_event") => self.rate_limit(&line),
            Some("result") => self.result(&line, sink),
            _ => {}
        }
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        self.talk.end(sink);
    }
}

impl ClaudeLines {
    pub(super) fn new(setting: &ParserSetting) -> Self {
        Self { earlier: setting.earlier, now: setting.now.clone(), ..Self::default() }
    }

    fn system(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        match line.text("subtype").as_deref() {
            Some("init") => {
                self.talk.goes_on(line);
                self.talk.session(line, sink);
            }
            Some("api_retry") => {
                let status = status_of(line, "error_status");
                let error = line.text("error").unwrap_or_default();
                let message = match status {
                    Some(status) => format!("HTTP {status} ({})", excerpt::message(&error)),
                    None => "no answer from the model server".to_owned(),
                };
                // It says how long it will sleep; where that is long, the loop does so in its place.
                let delay = Duration::from_millis(line.count("retry_delay_ms").unwrap_or(0));
                if patience::wants_patience(status) && delay > patience::LONGEST_LIMIT {
                    let resets_at = self.resets_at.or_else(|| self.now.timestamp().checked_add(delay).ok());
                    self.talk.tell(AgentEvent::Limit { message: message.clone(), resets_at }, sink);
                }
                self.talk.tell(AgentEvent::Retry { message, status }, sink);
            }
            Some("permission_denied") => self.talk.refused(line, sink),
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        self.talk.goes_on(line);
        self.talk.session(line, sink);
        let model = line.object("message").and_then(|message| message.text("model"));
        let in_its_place = model.as_deref() == Some("<synthetic>") || line.is_true("is_api_error_message");
        if in_its_place {
            if claude_like::is_main(line) {
                self.failed_call(line);
            }
            return;
        }
        if claude_like::is_main(line) {
            self.failed_call = None;
        }
        self.talk.assistant(line, sink);
        self.talk.count(line, tokens);
        self.usage(sink);
    }

    fn failed_call(&mut self, line: &Object<'_>) {
        let kind = line.text("error").map(|kind| excerpt::message(&kind));
        self.failed_call = Some(FailedCall { kind, status: status_of(line, "api_error_status") });
        if let Some(params) = line.object("api_error_params") {
            self.rate_limit(&params);
        }
    }

    fn rate_limit(&mut self, line: &Object<'_>) {
        let Some(info) = line.object("rate_limit_info") else { return };
        let rejected = info.text("status").as_deref() == Some("rejected");
        self.resets_at = info.number("resetsAt").filter(|_| rejected).and_then(reset_time::epoch);
    }

    fn usage(&mut self, sink: &mut Sink<'_>) {
        self.talk.uses(self.settled.plus(&self.talk.open()), sink);
    }

    fn result(&mut self, line: &Object<'_>, sink: &mut Sink<'_>) {
        self.talk.session(line, sink);
        self.talk.denials(line, sink);
        self.settle(line);
        self.usage(sink);
        self.talk.ends(self.ending_of(line));
        self.failed_call = None;
    }

    /// A result accounts for all calls of all models. Newer versions say what came since the last result (2.1.315). Those
    /// before give a total of the whole conversation (2.1.280) or of their process (2.1.273); the oldest (1.0) name only
    /// the tokens of the last call.
    fn settle(&mut self, line: &Object<'_>) {
        let open = self.talk.open();
        let models = |name| line.object(name).filter(|models| models.objects().next().is_some());
        if let Some(models) = line.object("model_usage_since_last_result") {
            self.settled = self.settled.plus(&sum(&models));
        } else if let Some(models) = models("modelUsage") {
            let seen = self.settled.plus(&open);
            // Results were numbered shortly before totals went beyond the process.
            let earlier = if line.raw("result_index").is_some() { self.earlier } else { Usage::default() };
            self.settled = claude_like::this_turn(&sum(&models), &earlier, &seen);
        } else {
            let said = line.object("usage").map(|usage| tokens(&usage));
            // Without a final account the messages' own is all there is.
            let tokens_unknown = said.map_or(open.tokens_unknown, |said| said.tokens_unknown);
            let said = said.unwrap_or_default();
            self.settled = self.settled.plus(&Usage {
                input: said.input.max(open.input),
                output: said.output.max(open.output),
                cached: said.cached.max(open.cached),
                tokens_unknown,
                ..Usage::default()
            });
            let cost = line.number("total_cost_usd");
            self.settled.cost_unknown = cost.is_none();
            self.settled.cost_usd = cost.or(self.settled.cost_usd);
        }
        self.talk.settle();
    }

    fn ending_of(&self, line: &Object<'_>) -> AgentEvent {
        let subtype = line.text("subtype").unwrap_or_default();
        let reason = line.text("terminal_reason");
        let failed = line.is_true("is_error")
            || subtype.starts_with("error")
            || reason.as_deref() == Some("api_error");
        if !failed {
            let word = line.text("stop_reason").or(reason).unwrap_or(subtype);
            return AgentEvent::End { reason: excerpt::message(&word) };
        }
        let mut said = Vec::new();
        line.each("errors", |error| said.extend(raw_json::text(error)));
        said.truncate(3);
        let said = said.join("; ");
        if said.contains(NO_CONVERSATION) {
            return no_conversation(&said);
        }
        match line.text("result") {
            Some(text) if subtype == "success" => self.api_error(&text, line),
            _ => {
                let word = reason.unwrap_or(subtype);
                let agent = || "claude".to_owned();
                let fault: Fault = match (word.starts_with("aborted"), said.is_empty()) {
                    (true, _) => {
                        AgentFault::Interrupted { agent: agent(), word: excerpt::message(&word) }.into()
                    }
                    (false, true) => {
                        AgentFault::EndedWith { agent: agent(), word: excerpt::message(&word) }.into()
                    }
                    (false, false) => excerpt::message(&said).into(),
                };
                AgentEvent::Error { failure: FailureKind::Transient, fault }
            }
        }
    }

    fn api_error(&self, text: &str, line: &Object<'_>) -> AgentEvent {
        let message = excerpt::message(text);
        let call = self.failed_call.as_ref();
        let status = status_of(line, "api_error_status").or_else(|| call?.status);
        let kind = call.and_then(|call| call.kind.as_deref());
        let cause = kind.and_then(cause_of_kind).unwrap_or_else(|| cause_of(status, &message));
        let cause = if self.talk.answered() { cause.after_answers() } else { cause };
        let in_words = || reset_time::in_words(&message, &self.now);
        let resets_at = self.resets_at.or_else(|| epoch_after_bar(&message)).or_else(in_words);
        cause.event(&message, resets_at, &LogIn::of("claude"))
    }
}

/// A conversation that is to go on and is not there.
pub(super) fn no_conversation(said: &str) -> AgentEvent {
    let said = excerpt::message(said);
    let fault = Fault::SessionGone { agent: "claude".to_owned(), said };
    AgentEvent::Error { failure: FailureKind::SessionLost, fault }
}

fn status_of(line: &Object<'_>, name: &str) -> Option<u16> {
    line.count(name).and_then(|status| u16::try_from(status).ok())
}

/// Tokens as Anthropic counts them: what was read from a cache or written to one comes on top.
fn tokens(usage: &Object<'_>) -> Usage {
    let mut meter = Meter::default();
    let read = meter.optional(usage.reported("cache_read_input_tokens"));
    let written = meter.optional(usage.reported("cache_creation_input_tokens"));
    let input = meter.required(usage.reported("input_tokens"));
    Usage {
        input: input.saturating_add(read).saturating_add(written),
        output: meter.required(usage.reported("output_tokens")),
        cached: read,
        tokens_unknown: meter.tokens_unknown(),
        ..Usage::default()
    }
}

/// All models together.
fn sum(models: &Object<'_>) -> Usage {
    let none = Usage { cost_usd: Some(0.0), ..Usage::default() };
    models.objects().fold(none, |sum, model| {
        let mut meter = Meter::default();
        let read = meter.required(model.reported("cacheReadInputTokens"));
        let written = meter.required(model.reported("cacheCreationInputTokens"));
        let input = meter.required(model.reported("inputTokens"));
        let cost_usd = model.number("costUSD");
        sum.plus(&Usage {
            input: input.saturating_add(read).saturating_add(written),
            output: meter.required(model.reported("outputTokens")),
            cached: read,
            cost_usd,
            tokens_unknown: meter.tokens_unknown(),
            cost_unknown: cost_usd.is_none(),
        })
    })
}

/// Claude's own word for why a call failed, where it leaves no doubt.
fn cause_of_kind(kind: &str) -> Option<Cause> {
    Some(match kind {
        "authentication_failed" | "cloud_credential_error" => Cause::Login,
        "billing_error" => Cause::Billing,
        "oauth_org_not_allowed" | "account_on_hold" | "verification_required" | "model_not_found" => {
            Cause::Setting
        }
        "rate_limit" => Cause::Limit,
        "invalid_request" => Cause::Request,
        "overloaded" | "server_error" | "max_output_tokens" => Cause::Passing,
        _ => return None,
    })
}

/// By the status, else by the words that older versions use: `API Error: 401 {…}`, `Invalid API key`, `… limit reached`.
/// These are claude's own words in a failed result, never the model's.
fn cause_of(status: Option<u16>, message: &str) -> Cause {
    let by_text = || message.strip_prefix("API Error: ").and_then(api_error::leading_status);
    if let Some(status) = status.or_else(by_text) {
        return Cause::of_status(status, message);
    }
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if has(&["limit reached", "cap reached", "hit your "]) {
        Cause::Limit
    } else if has(&["credit balance"]) {
        Cause::Billing
    } else if has(&["invalid api key", "/login", "oauth token"]) {
        Cause::Login
    } else {
        Cause::Passing
    }
}

/// `Claude AI usage limit reached|1794787690`.
fn epoch_after_bar(message: &str) -> Option<Timestamp> {
    let (_, time) = message.rsplit_once('|')?;
    time.trim().parse().ok().and_then(reset_time::epoch)
}
