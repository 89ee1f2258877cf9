//! A turn: ask, do what the answer wants, tell the model what came of it, ask again.

use std::ffi::OsString;
use std::io::{self, Read as _, Write};
use std::process::ExitCode;
use std::time::Duration;

use dacapo_core::event::{AgentEvent, FailureKind};
use dacapo_core::spec::BYTES_PER_TOKEN;
use jiff::Timestamp;

use super::answer::{Answer, Asked, Stop};
use super::conversation::{self, Message, ToolAnswer};
use super::endpoint::Endpoint;
use super::event_writer::EventWriter;
use super::failure::Problem;
use super::model::{Broken, Model};
use super::options::{self, Options, Patience, Session, Task};
use super::session::Store;
use super::tools::{ToolOutcome, Tools};
use super::window::{PromptTooLarge, Talk, Window};

/// How often a call is made again that failed for no reason of ours.
const RETRIES: u32 = 4;

/// A limit that is over so soon is waited for here, once there is something to lose: the turn would begin anew.
const SHORT_LIMIT: Duration = Duration::from_secs(60);

/// More than any model takes in.
const LONGEST_PROMPT: u64 = 64 << 20;

/// The hidden command, after its name.
pub(super) fn main(args: &[OsString]) -> ExitCode {
    let options = match options::parse(args) {
        Ok(options) => options,
        Err(message) => {
            return not_started(&format!("{message}\n{}", options::USAGE));
        }
    };
    let mut events = EventWriter::stdout();
    let ended = prompt().and_then(|prompt| run(&options, prompt, &mut events));
    match ended.and_then(|reason| tell(&mut events, &AgentEvent::End { reason: reason.into() })) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // Nobody is left to tell if this fails too.
            let _ = tell_problem(&mut events, problem);
            ExitCode::FAILURE
        }
    }
}

/// It cannot even begin.
pub(crate) fn not_started(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "dacapo {}: {message}", dacapo_app::native::COMMAND);
    let error = AgentEvent::Error { failure: FailureKind::Permanent, fault: message.into() };
    let _ = EventWriter::stdout().event(&error);
    ExitCode::from(2)
}

fn prompt() -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(LONGEST_PROMPT + 1).read_to_end(&mut bytes);
    read.map_err(|error| Problem::Transient(format!("the prompt cannot be read: {error}")))?;
    if bytes.len() as u64 > LONGEST_PROMPT {
        return Err(Problem::Permanent("the prompt is larger than 64 MB".into()));
    }
    let prompt = String::from_utf8_lossy(&bytes).into_owned();
    if prompt.trim().is_empty() {
        return Err(Problem::Permanent("the prompt is empty".into()));
    }
    Ok(prompt)
}

fn tell<W: Write>(events: &mut EventWriter<W>, event: &AgentEvent) -> Result<(), Problem> {
    events.event(event).map_err(|_| Problem::Unheard)
}

fn tell_problem<W: Write>(events: &mut EventWriter<W>, problem: Problem) -> io::Result<()> {
    let (failure, message) = match problem {
        Problem::Limit { message, resets_at } => {
            return events.event(&AgentEvent::Limit { message, resets_at });
        }
        Problem::Unheard => return Ok(()),
        Problem::Again { message, .. } | Problem::Transient(message) => (FailureKind::Transient, message),
        Problem::Permanent(message) | Problem::TooLong(message) => (FailureKind::Permanent, message),
    };
    events.event(&AgentEvent::Error { failure, fault: message.into() })?;
    events.event(&AgentEvent::End { reason: "error".into() })
}

fn run<W: Write>(
    options: &Options,
    prompt: String,
    events: &mut EventWriter<W>,
) -> Result<&'static str, Problem> {
    let endpoint = Endpoint::new(options, |name| std::env::var(name).ok())?;
    match &options.task {
        Task::Complete => {
            let mut turn = Turn::new(options, endpoint, None, Vec::new(), prompt)?;
            events.hold_back();
            let answer = turn.ask(events)?;
            events.say(&answer.text).map_err(|_| Problem::Unheard)?;
            events.used(&answer.usage).map_err(|_| Problem::Unheard)?;
            match answer.stop {
                Stop::Done => Ok("end_turn"),
                Stop::Cut => Ok("max_tokens"),
                Stop::Declined(word) => Err(declined(&word)),
            }
        }
        Task::Work { approval, session, max_steps } => {
            let (store, earlier) = remember(session)?;
            if let Some(store) = &store {
                tell(events, &AgentEvent::Session { id: store.id.clone() })?;
            }
            let workspace = std::env::current_dir()
                .map_err(|error| Problem::Permanent(format!("the workspace is gone: {error}")))?;
            let tools =
                Tools::new(&workspace, *approval, endpoint.key_env.clone()).map_err(Problem::Permanent)?;
            let mut turn = Turn::new(options, endpoint, Some(tools), earlier, prompt)?;
            turn.work(store.as_ref(), *max_steps, events)
        }
    }
}

fn remember(session: &Session) -> Result<(Option<Store>, Vec<Message>), Problem> {
    match session {
        Session::None => Ok((None, Vec::new())),
        Session::New { directory, id } => Ok((Some(Store::create(directory, id.clone())?), Vec::new())),
        Session::Continue { directory, id } => {
            let (store, earlier) = Store::open(directory, id.clone())?;
            Ok((Some(store), earlier))
        }
    }
}

fn declined(word: &str) -> Problem {
    Problem::Transient(format!("the model declined to answer ({})", word.escape_debug()))
}

/// A conversation and all it takes to go on with it.
struct Turn {
    model: Model,
    system: Option<String>,
    tools: Option<Tools>,
    talk: Talk,
    window: Window,
    /// What every request holds beside the conversation, in bytes.
    fixed: usize,
    patience: Patience,
    answered: bool,
}

impl Turn {
    fn new(
        options: &Options,
        endpoint: Endpoint,
        tools: Option<Tools>,
        earlier: Vec<Message>,
        prompt: String,
    ) -> Result<Self, Problem> {
        let system = tools.as_ref().map(system_prompt);
        let offered = tools.as_ref().map(Tools::offered).unwrap_or_default();
        let fixed = system.as_ref().map_or(0, String::len)
            + serde_json::to_string(&offered).map_or(0, |text| text.len());
        Ok(Turn {
            model: Model::new(options, endpoint)?,
            system,
            tools,
            talk: Talk::new(earlier, prompt),
            window: Window::new(options.context_tokens, options.max_output_tokens, fixed),
            fixed,
            patience: options.patience,
            answered: false,
        })
    }

    /// Step after step, until the model has nothing left to do.
    fn work<W: Write>(
        &mut self,
        store: Option<&Store>,
        max_steps: u32,
        events: &mut EventWriter<W>,
    ) -> Result<&'static str, Problem> {
        for _ in 0..max_steps {
            let answer = self.ask(events)?;
            events.used(&answer.usage).map_err(|_| Problem::Unheard)?;
            if let Stop::Declined(word) = &answer.stop {
                return Err(declined(word));
            }
            self.talk.push(answer.message());
            if !answer.calls.is_empty() {
                let answers = answer
                    .calls
                    .iter()
                    .map(|asked| self.use_tool(asked, events))
                    .collect::<Result<Vec<_>, _>>()?;
                self.talk.push(Message::Results { answers });
            } else if answer.stop == Stop::Cut {
                // Cut before the first word: there was no room left for one.
                if answer.text.is_empty() {
                    self.window = self.window.smaller();
                }
                self.talk.push(Message::Note {
                    text: "[Your answer was cut at its length limit. Go on; write less at once.]".into(),
                });
            }
            if let Some(store) = store {
                // After the results, never between calls and their results: a conversation that ends in open calls
                // cannot go on.
                store.save(&self.talk.messages())?;
            }
            if answer.calls.is_empty() && answer.stop == Stop::Done {
                return Ok("end_turn");
            }
        }
        Ok("max_steps")
    }

    fn use_tool<W: Write>(&self, asked: &Asked, events: &mut EventWriter<W>) -> Result<ToolAnswer, Problem> {
        let id = asked.call.id.clone();
        let (name, summary) = (asked.call.name.clone(), Tools::summary(asked));
        let what = format!("{name} {summary}").trim_end().to_owned();
        tell(events, &AgentEvent::ToolCall { id: id.clone(), name, summary })?;
        let Some(tools) = &self.tools else {
            return Ok(ToolAnswer { id, output: "there are no tools here".into() });
        };
        let ran = tools.run(asked);
        if ran.how == ToolOutcome::Refused {
            tell(events, &AgentEvent::Refused { what })?;
        }
        events.answered(&id, ran.how != ToolOutcome::Done, &ran.output).map_err(|_| Problem::Unheard)?;
        let output = if ran.how == ToolOutcome::Done { ran.output } else { format!("error: {}", ran.output) };
        Ok(ToolAnswer { id, output })
    }

    /// An answer, if need be at the second or third attempt.
    fn ask<W: Write>(&mut self, events: &mut EventWriter<W>) -> Result<Answer, Problem> {
        let mut failures = 0;
        loop {
            self.window.fit(&mut self.talk).map_err(|too_large| self.too_large(&too_large))?;
            let offered = self.tools.as_ref().map(Tools::offered).unwrap_or_default();
            let size = self.fixed + self.talk.size();
            let api = self.model.endpoint.api;
            let request = conversation::request(api, self.system.as_deref(), &self.talk.messages(), offered);
            let broken = match self.model.ask(request, size, events) {
                Ok(answer) => {
                    self.answered = true;
                    return Ok(answer);
                }
                Err(broken) => broken,
            };
            if failures == RETRIES {
                return Err(broken.problem);
            }
            failures += 1;
            self.prepare_retry(broken, failures, events)?;
        }
    }

    /// Waits, or makes room, for another attempt; the problem itself where none can help.
    fn prepare_retry<W: Write>(
        &mut self,
        broken: Broken,
        failures: u32,
        events: &mut EventWriter<W>,
    ) -> Result<(), Problem> {
        let backoff = self.patience.backoff.saturating_mul(2_u32.saturating_pow(failures - 1));
        let (message, status, pause) = match broken.problem {
            Problem::Again { message, status } => (message, status, backoff),
            Problem::Limit { message, resets_at: Some(at) } => {
                let left = Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
                // Before the first answer nothing is lost by ending the turn, and the loop waits better: for all
                // tasks of the account.
                if !self.answered || left > SHORT_LIMIT {
                    return Err(Problem::Limit { message, resets_at: Some(at) });
                }
                (message, Some(429), left)
            }
            Problem::TooLong(message) => {
                self.window = self.window.smaller();
                (message, Some(400), Duration::ZERO)
            }
            problem @ (Problem::Transient(_)
            | Problem::Permanent(_)
            | Problem::Limit { resets_at: None, .. }
            | Problem::Unheard) => return Err(problem),
        };
        // What was said has been heard, by a promise too: it stays said, and the model knows where it stopped.
        if !broken.said.trim().is_empty() && self.tools.is_some() {
            self.talk.push(Message::said(broken.said));
            self.talk.push(Message::Note { text: "[The connection broke here. Go on.]".into() });
        }
        let seconds = pause.as_secs_f64();
        let message = format!("{message}; trying again in {seconds:.1} s ({failures} of {RETRIES})");
        tell(events, &AgentEvent::Retry { message, status })?;
        std::thread::sleep(pause);
        Ok(())
    }

    fn too_large(&self, refused: &PromptTooLarge) -> Problem {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN);
        Problem::Permanent(format!(
            "the prompt of about {} tokens does not fit into the model's window: there is room for about {}; make it \
             shorter, or take a model with more and say so with context_tokens",
            tokens(refused.prompt_bytes),
            tokens(refused.window_bytes)
        ))
    }
}

/// What the model is told of its place.
fn system_prompt(tools: &Tools) -> String {
    format!(
        "You are a coding agent at work in the git workspace {}. Nobody sits beside you: do not ask questions, decide \
         sensibly and do the work with the tools.\n\
         - Read AGENTS.md first if there is one, and the files you are about to change.\n\
         - Keep to the style of the code around. Change what the task needs and nothing else.\n\
         - Check what you did, by the project's own tests where you can run them.\n\
         - Do not commit, push or switch branches: Dacapo, which runs you, commits what you leave when you end.\n\
         - End with a few plain sentences: what you did, and what is missing or could not be done. Claim nothing that \
         you did not see.",
        tools.workspace().display()
    )
}
