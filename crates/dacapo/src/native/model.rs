//! One call of a model: sent, listened to while it answers, given up when it says nothing.

use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint as GenaiEndpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use jiff::Timestamp;
use serde_json::json;

use super::answer::{Answer, Endless, Pieces};
use super::endpoint::Endpoint;
use super::event_writer::{EventWriter, GATHERED_FOR};
use super::failure::{Problem, weigh};
use super::options::Options;
use crate::config::Api;

/// Who is not there by then is not there.
const CONNECT: Duration = Duration::from_secs(30);

/// An endpoint may say for so many silences that it is still at work; then it is hung all the same.
const SILENCES: u32 = 4;

/// An answer has a few hundred kilobytes. An endpoint that makes us grow by this much sends something else.
const MOST_MEMORY: u64 = 256 << 20;

/// The Messages API insists on a number; this is within what all its models of today can write.
const ANTHROPIC_OUTPUT: u32 = 16_384;

/// The library reads meaning into a model's name: `qwen-max` would be sent as `qwen` that is to think hard. So it gets
/// this one, and the real name goes into the body.
const ANY_MODEL: &str = "native";

/// A model at its endpoint.
pub(super) struct Model {
    /// Never taken down: it would wait for a look-up of a name that nobody answers, and the process ends anyway.
    runtime: ManuallyDrop<tokio::runtime::Runtime>,
    client: genai::Client,
    target: ServiceTarget,
    options: ChatOptions,
    pub(super) endpoint: Endpoint,
    silence: Duration,
}

/// A call that gave no answer, and what it had said by then.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) problem: Problem,
    pub(super) said: String,
}

impl Model {
    pub(super) fn new(options: &Options, endpoint: Endpoint) -> Result<Self, Problem> {
        let failed =
            |error: &dyn std::fmt::Display| Problem::Permanent(format!("no calls can be made: {error}"));
        // Only fails where a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
        let http = reqwest::Client::builder()
            .user_agent(concat!("dacapo/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // A key would go wherever an endpoint points to.
            .redirect(reqwest::redirect::Policy::none())
            // Tools may take minutes, in which nobody sees that a kept connection was closed.
            .pool_max_idle_per_host(0)
            // What is small on the wire may be endless in memory.
            .gzip(false)
            .build()
            .map_err(|e| failed(&e))?;
        let kind = match endpoint.api {
            Api::Openai => AdapterKind::OpenAI,
            Api::Anthropic => AdapterKind::Anthropic,
        };
        let target = ServiceTarget {
            endpoint: GenaiEndpoint::from_owned(endpoint.url.as_str()),
            auth: AuthData::RequestOverride {
                url: endpoint.url.to_string(),
                headers: Headers::from(endpoint.headers.clone()),
            },
            model: ModelIden::new(kind, ANY_MODEL),
        };
        let mut chat = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(false)
            .with_capture_tool_calls(false)
            // Signed thoughts are wanted back with the results of tools.
            .with_capture_reasoning_content(endpoint.api == Api::Anthropic)
            .with_extra_body(json!({ "model": options.model }));
        let most = options.max_output_tokens;
        let most = if endpoint.api == Api::Anthropic { most.or(Some(ANTHROPIC_OUTPUT)) } else { most };
        if let Some(most) = most {
            chat = chat.with_max_tokens(most);
        }
        Ok(Model {
            runtime: ManuallyDrop::new(runtime),
            client: genai::Client::builder().with_reqwest(http).build().map_err(|e| failed(&e))?,
            target,
            options: chat,
            endpoint,
            silence: options.patience.silence,
        })
    }

    /// The answer to a request; its words are told as they come. `size` is the request's in bytes.
    pub(super) fn ask<W: std::io::Write>(
        &self,
        request: ChatRequest,
        size: usize,
        events: &mut EventWriter<W>,
    ) -> Result<Answer, Broken> {
        let mut pieces = Pieces::new(self.endpoint.api);
        let outcome = self.runtime.block_on(self.listen(request, &mut pieces, events));
        // Also after a failure: words that were gathered have been said.
        let flushed = events.flush().map_err(|_| Problem::Unheard);
        match outcome.and_then(|end| flushed.map(|()| end)) {
            Ok(end) => Ok(pieces.finish(end, size)),
            Err(problem) => Err(Broken { problem, said: pieces.text }),
        }
    }

    async fn listen<W: std::io::Write>(
        &self,
        request: ChatRequest,
        pieces: &mut Pieces,
        events: &mut EventWriter<W>,
    ) -> Result<genai::chat::StreamEnd, Problem> {
        let weighed = |error| weigh(error, &self.endpoint, Timestamp::now());
        let asked = self.client.exec_chat_stream(self.target.clone(), request, Some(&self.options)).await;
        let mut stream = asked.map_err(weighed)?.stream;
        let before = memory();
        let (mut alive, mut spoke) = (Instant::now(), Instant::now());
        let mut began = false;
        loop {
            // The wait ends now and then: words that were gathered are to be seen, and nothing else would tell that
            // the library is taking in an endless line.
            let Ok(next) = tokio::time::timeout(GATHERED_FOR, stream.next()).await else {
                events.flush().map_err(|_| Problem::Unheard)?;
                self.is_it_hung(alive, spoke)?;
                if memory().saturating_sub(before) > MOST_MEMORY {
                    return Err(endless(&self.endpoint));
                }
                continue;
            };
            let event = match next {
                Some(event) => event.map_err(weighed)?,
                None if began => return Err(self.again("broke off in the midst of its answer")),
                None => return Err(self.again("sent no answer that can be read; is base_url right?")),
            };
            alive = Instant::now();
            match event {
                ChatStreamEvent::Start => continue,
                ChatStreamEvent::Heartbeat => {
                    self.is_it_hung(alive, spoke)?;
                    continue;
                }
                ChatStreamEvent::End(end) => return Ok(end),
                event => take_in(event, pieces, events, &self.endpoint)?,
            }
            spoke = alive;
            began = true;
        }
    }

    fn is_it_hung(&self, alive: Instant, spoke: Instant) -> Result<(), Problem> {
        if alive.elapsed() >= self.silence || spoke.elapsed() >= self.silence * SILENCES {
            let longest = spoke.elapsed().as_secs().max(1);
            return Err(Problem::Transient(format!(
                "{} said nothing for {longest} s and was given up",
                self.endpoint.shown()
            )));
        }
        Ok(())
    }

    fn again(&self, what: &str) -> Problem {
        Problem::Again { message: format!("{} {what}", self.endpoint.shown()), status: None }
    }
}

fn take_in<W: std::io::Write>(
    event: ChatStreamEvent,
    pieces: &mut Pieces,
    events: &mut EventWriter<W>,
    endpoint: &Endpoint,
) -> Result<(), Problem> {
    let too_long = |_: Endless| endless(endpoint);
    match event {
        ChatStreamEvent::Chunk(chunk) => {
            pieces.text(&chunk.content).map_err(too_long)?;
            events.words(&chunk.content, false).map_err(|_| Problem::Unheard)
        }
        ChatStreamEvent::ReasoningChunk(chunk) => {
            pieces.thought(&chunk.content).map_err(too_long)?;
            events.words(&chunk.content, true).map_err(|_| Problem::Unheard)
        }
        ChatStreamEvent::ToolCallChunk(chunk) => {
            let call = chunk.tool_call;
            let arguments = call.fn_arguments.as_str().unwrap_or_default();
            pieces.call(&call.call_id, &call.fn_name, arguments).map_err(too_long)
        }
        // Comes again, whole, at the end.
        ChatStreamEvent::ThoughtSignatureChunk(chunk) => {
            pieces.thought_seal(chunk.content.len()).map_err(too_long)
        }
        ChatStreamEvent::Start | ChatStreamEvent::Heartbeat | ChatStreamEvent::End(_) => Ok(()),
    }
}

fn endless(endpoint: &Endpoint) -> Problem {
    Problem::Transient(format!("{} sent far more than an answer and was given up", endpoint.shown()))
}

/// What this process holds in memory. Where the system does not say, nothing: then only what the library passes on is
/// bounded.
fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0).saturating_mul(rustix::param::page_size() as u64)
}
