//! Reads the agent's side of a conversation: what it does becomes events, what it wants to be answered is passed on. It
//! acts on nothing but the bytes, so a turn that is read again gives the same events; the answers are just dropped.

use std::time::Instant;

use jiff::Zoned;
use serde::{Deserialize, Serialize};

use super::failure::{self, Circumstances};
use super::policy::{self, Choice, Decision, SetMode};
use super::say::{PROTOCOL, Step};
use super::tools::{ReportedBy, ToolKind, Tools};
use super::usage::{Count, Counting};
use super::wire::{self, CodexError, Message, Params, RpcError, Update, read};
use crate::agent::excerpt::{beginning, one_line};
use crate::agent::lines::{Line, Lines};
use crate::agent::raw_json::{self, Object};
use crate::agent::{BUILT_IN, Parser, ParserSetting};
use crate::event::{AgentEvent, AgentFault, FailureKind, Fault, LogIn, Usage};
use crate::spec::Approval;

/// How much of what the agent said is looked at to tell the report of a failure from an answer.
const MOST_WORDS: usize = 2000;
/// A longer id is not accepted.
const LONGEST_ID: usize = 1024;
const MOST_STEPS: usize = 100;

/// What is heard of an agent that speaks ACP.
#[derive(Debug, Clone, PartialEq)]
pub enum AcpItem {
    Event(AgentEvent),
    /// Something for the conversation itself to react to.
    Message(AcpMessage),
}

/// What moves a conversation on.
#[derive(Debug, Clone, PartialEq)]
pub enum AcpMessage {
    /// It is there and says what it can.
    Initialized(Abilities),
    /// The conversation is open.
    Opened(Opened),
    /// It could not be opened by this step, but perhaps by another.
    NotOpened(Step),
    /// The mode is set, or cannot be.
    ModeAnswered,
    /// It wants to be allowed something.
    Permission(Permission),
    /// It wants something that it was not offered.
    Unserved {
        /// The agent's id of the request.
        id: String,
        /// Why it is not served.
        why: &'static str,
    },
    /// The turn is over.
    Over(Memory),
}

/// What must be known of a process to read a later turn of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// What its counts stand for.
    pub counting: Counting,
    /// What it has reported as used so far.
    pub reported: Usage,
    /// How a person logs in.
    pub login: LogIn,
}

/// What an agent can, by its own word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Abilities {
    pub name: String,
    /// `session/load`
    pub load: bool,
    /// `session/resume`
    pub resume: bool,
    /// What its counts stand for.
    pub counting: Counting,
}

/// An open conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The request that opened it.
    pub by: Step,
    pub session: String,
    /// The mode that it is to be put into.
    pub mode: Option<SetMode>,
    /// That mode is one that the agent has for what it is allowed. Otherwise all depends on its asking.
    pub mode_fits: bool,
}

/// A request for permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The agent's id for it.
    pub id: String,
    /// The tool and what for.
    pub what: String,
    /// The same as a person is asked it.
    pub asked: String,
    /// What kind of tool is to be used.
    pub kind: ToolKind,
    /// The answer by the task's policy.
    pub decision: Decision,
    /// What can be answered.
    pub choices: Vec<Choice>,
}

/// Where the conversation stands, seen from the agent's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The turn. A process that served earlier turns begins so.
    Turn,
    /// A process that has just begun: nothing that it tells is of this turn.
    Opening,
    /// The conversation is open and its mode being set. Some go on telling its history until then, and some put into
    /// words that the mode has changed.
    Prelude,
    Over,
}

/// Reads the lines of an agent.
#[derive(Debug, Clone)]
pub(super) struct AcpParser {
    lines: Lines,
    phase: Phase,
    task: String,
    approval: Approval,
    /// The conversation that counts. Others are those of helpers that the agent has for itself.
    session: Option<String>,
    can_load: bool,
    login: LogIn,
    /// About when the first line was written, and since when it is read: words say how long a limit still lasts.
    begun: (Zoned, Instant),
    tools: Tools,
    count: Count,
    /// What the agent said in this turn, its own remarks aside; none when that is too much for a report of a failure.
    said: Option<String>,
    codex_broken: bool,
    codex_error: Option<CodexError>,
}

impl AcpParser {
    pub(super) fn new(setting: &ParserSetting) -> Self {
        let memory = setting.talk.memory.clone().unwrap_or_default();
        Self {
            lines: Lines::default(),
            phase: Phase::Turn,
            task: setting.talk.task.clone(),
            approval: setting.talk.approval,
            session: setting.talk.session.clone(),
            can_load: false,
            login: memory.login,
            begun: (setting.now.clone(), Instant::now()),
            tools: Tools::default(),
            count: Count::new(memory.counting, memory.reported, &setting.earlier),
            said: Some(String::new()),
            codex_broken: false,
            codex_error: None,
        }
    }

    fn line(&mut self, line: &Line<'_>, sink: &mut dyn FnMut(AcpItem)) {
        // A kept process may still print after the answer to the prompt. That belongs to no turn.
        if self.phase == Phase::Over {
            return;
        }
        match line {
            // Whatever else a program prints is none of the protocol's. Bytes that are no text may stand in one that is.
            Line::Whole(line) => {
                if let Ok(message) = serde_json::from_str::<Message<'_>>(&String::from_utf8_lossy(line)) {
                    self.message(&message, sink);
                }
            }
            Line::Head(head) => {
                if let Some(id) = id_of_overlong_request(head) {
                    sink(AcpItem::Message(AcpMessage::Unserved { id, why: "the request is too large" }));
                }
            }
        }
    }

    fn message(&mut self, message: &Message<'_>, sink: &mut dyn FnMut(AcpItem)) {
        let id = message.id.filter(|id| id.get().len() <= LONGEST_ID);
        match (message.method.as_deref(), id) {
            (Some("session/update"), None) => self.update(&read(message.params), sink),
            (Some("session/request_permission"), Some(id)) => {
                self.permission(id.get(), &read(message.params), sink);
            }
            (Some(_), Some(id)) => {
                let why = "this client does not do that";
                sink(AcpItem::Message(AcpMessage::Unserved { id: id.get().to_owned(), why }));
            }
            (None, Some(id)) => {
                if let Some(step) = Step::of(id) {
                    self.answer(step, message, sink);
                }
            }
            (Some(_) | None, None) => {}
        }
    }

    fn answer(&mut self, step: Step, message: &Message<'_>, sink: &mut dyn FnMut(AcpItem)) {
        if message.error.is_some() {
            return self.refused(step, &read(message.error), sink);
        }
        match step {
            Step::Initialize => self.initialized(&read(message.result), sink),
            Step::New | Step::Resume | Step::Load => self.opened(step, &read(message.result), sink),
            Step::Mode => self.mode_answered(sink),
            Step::Prompt => self.ended(&read(message.result), sink),
        }
    }

    fn initialized(&mut self, answer: &wire::Initialized, sink: &mut dyn FnMut(AcpItem)) {
        self.phase = Phase::Opening;
        let name = answer.agent_info.as_ref().and_then(|info| info.name.clone()).unwrap_or_default();
        self.count.begins(Counting::of(&name));
        self.login = log_in(&name, answer.auth_methods.as_deref().unwrap_or_default());
        let can = answer.agent_capabilities.as_ref();
        self.can_load = can.and_then(|can| can.load_session).unwrap_or(false);
        if let Some(version) = answer.protocol_version.filter(|version| *version != PROTOCOL) {
            let fault = AgentFault::OtherProtocol { version, expected: PROTOCOL }.into();
            return self.failed(AgentEvent::Error { failure: FailureKind::Permanent, fault }, sink);
        }
        let resume =
            can.and_then(|can| can.session_capabilities.as_ref()).is_some_and(|can| can.resume.is_some());
        let counting = self.count.counting;
        let abilities = Abilities { name: one_line(&name), load: self.can_load, resume, counting };
        sink(AcpItem::Message(AcpMessage::Initialized(abilities)));
    }

    fn opened(&mut self, by: Step, answer: &wire::Opened, sink: &mut dyn FnMut(AcpItem)) {
        // `session/load` and `session/resume` need not repeat the id in their answer.
        let known = self.session.take().filter(|_| by != Step::New);
        let Some(session) = known.or_else(|| answer.session_id.clone()).filter(|id| !id.is_empty()) else {
            let fault = AgentFault::NoSessionId.into();
            return self.failed(AgentEvent::Error { failure: FailureKind::Permanent, fault }, sink);
        };
        self.session = Some(session.clone());
        let fitting = policy::mode_for(self.approval, answer);
        let mode_fits = fitting.is_some() || matches!(self.approval, Approval::Auto | Approval::Ask);
        let current = || answer.modes.as_ref()?.current_mode_id.clone().map(SetMode::Mode);
        // After a history the mode is set in any case: its answer is the border between then and now.
        let mode = if by == Step::Load { fitting.or_else(current) } else { fitting };
        self.phase = if mode.is_some() { Phase::Prelude } else { Phase::Turn };
        sink(AcpItem::Event(AgentEvent::Session { id: session.clone() }));
        sink(AcpItem::Message(AcpMessage::Opened(Opened { by, session, mode, mode_fits })));
    }

    fn mode_answered(&mut self, sink: &mut dyn FnMut(AcpItem)) {
        if self.phase == Phase::Prelude {
            self.phase = Phase::Turn;
        }
        sink(AcpItem::Message(AcpMessage::ModeAnswered));
    }

    fn refused(&mut self, step: Step, error: &RpcError, sink: &mut dyn FnMut(AcpItem)) {
        match step {
            // Permissions are answered one by one then.
            Step::Mode => self.mode_answered(sink),
            Step::Resume if self.can_load => sink(AcpItem::Message(AcpMessage::NotOpened(step))),
            Step::Resume | Step::Load if !failure::wants_login(error) => {
                let event = cannot_take_up(&self.task, &failure::words(error));
                self.failed(event, sink);
            }
            Step::Initialize | Step::New | Step::Resume | Step::Load | Step::Prompt => {
                let event = self.circumstances().of_error(error);
                self.failed(event, sink);
            }
        }
    }

    fn circumstances(&self) -> Circumstances<'_> {
        let (then, since) = &self.begun;
        let now = then.checked_add(since.elapsed()).unwrap_or_else(|_| then.clone());
        Circumstances { login: &self.login, now }
    }

    fn failed(&mut self, event: AgentEvent, sink: &mut dyn FnMut(AcpItem)) {
        sink(AcpItem::Event(event));
        self.over("error", sink);
    }

    fn over(&mut self, reason: &str, sink: &mut dyn FnMut(AcpItem)) {
        self.phase = Phase::Over;
        sink(AcpItem::Event(AgentEvent::End { reason: reason.to_owned() }));
        let Count { counting, reported, .. } = self.count;
        sink(AcpItem::Message(AcpMessage::Over(Memory { counting, reported, login: self.login.clone() })));
    }

    /// `end_turn` means that the agent has stopped, not that it has done anything.
    fn ended(&mut self, answer: &wire::Prompted, sink: &mut dyn FnMut(AcpItem)) {
        if let Some(usage) = self.count.ended(answer) {
            sink(AcpItem::Event(AgentEvent::Usage(usage)));
        }
        let reason = answer.stop_reason.as_deref().unwrap_or("end_turn");
        if let Some(failure) = self.failure_behind(reason) {
            sink(AcpItem::Event(failure));
        }
        self.over(&one_line(reason), sink);
    }

    fn failure_behind(&self, reason: &str) -> Option<AgentEvent> {
        let said = self.said.as_deref().unwrap_or_default();
        if self.codex_broken {
            return Some(self.circumstances().of_codex(self.codex_error.as_ref(), said));
        }
        let transient = |found: AgentFault| Some(failure::transient(found.into()));
        match reason {
            "refusal" => transient(AgentFault::ModelRefused),
            "max_tokens" => transient(AgentFault::AnswerCut),
            "max_turn_requests" => transient(AgentFault::CallsUsed),
            "cancelled" => transient(AgentFault::Cancelled),
            // Only of a turn that used nothing: otherwise it may be the model's own words about an error.
            _ if !self.tools.any && self.count.is_nothing() && failure::is_report_of_failure(said) => {
                Some(self.circumstances().of_report(said))
            }
            _ => None,
        }
    }

    fn update(&mut self, params: &Params<'_>, sink: &mut dyn FnMut(AcpItem)) {
        let ours = match (&self.session, &params.session_id) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        if !ours || self.phase != Phase::Turn {
            return;
        }
        let update: Update<'_> = read(params.update);
        let mut event = |event| sink(AcpItem::Event(event));
        match update.session_update.as_deref().unwrap_or_default() {
            "agent_message_chunk" => {
                if let Some(text) = text_of(&update) {
                    self.says(&text);
                    event(AgentEvent::Text { text });
                }
            }
            "agent_thought_chunk" => {
                if let Some(text) = text_of(&update) {
                    event(AgentEvent::Thinking { text });
                }
            }
            "tool_call" | "tool_call_update" => {
                self.tools.see(&update, ReportedBy::Update, &mut event);
            }
            "plan" => event(AgentEvent::Plan { steps: steps_of(&update) }),
            "usage_update" => {
                let cost =
                    update.cost.as_ref().filter(|cost| cost.currency.as_deref().is_none_or(|it| it == "USD"));
                if let Some(usage) = cost.and_then(|cost| self.count.cost(cost.amount)) {
                    event(AgentEvent::Usage(usage));
                }
            }
            "session_info_update" => {
                if let Some(codex) = update.meta.and_then(|meta| meta.codex) {
                    self.codex(codex, &mut event);
                }
            }
            // Commands on offer, modes, the user's own words, and what is yet to be invented.
            _ => {}
        }
    }

    fn says(&mut self, text: &str) {
        // A remark of the program's own, between the model's words.
        if text.starts_with("Info: ") {
            return;
        }
        if let Some(said) = &mut self.said {
            said.push_str(beginning(text, MOST_WORDS));
            if said.len() > MOST_WORDS {
                self.said = None;
            }
        }
    }

    fn codex(&mut self, codex: wire::Codex, event: &mut dyn FnMut(AgentEvent)) {
        if let Some(status) = codex.thread_status.and_then(|status| status.kind) {
            self.codex_broken = status == "systemError";
        }
        let Some(error) = codex.error else { return };
        if error.will_retry == Some(true) {
            let message = error.additional_details.as_deref().or(error.message.as_deref());
            let message = one_line(message.unwrap_or_default());
            event(AgentEvent::Retry { message, status: failure::codex_status(&error) });
        }
        self.codex_error = Some(error);
    }

    fn permission(&mut self, id: &str, params: &Params<'_>, sink: &mut dyn FnMut(AcpItem)) {
        let call: Update<'_> = read(params.tool_call);
        let wanted = self.tools.see(&call, ReportedBy::Request, &mut |event| sink(AcpItem::Event(event)));
        let options: Vec<wire::PermissionOption> = read(params.options);
        let choices: Vec<Choice> = options.into_iter().filter_map(Choice::of).collect();
        let mut decision = policy::decide(self.approval, wanted.kind);
        // The agent offers no way to allow it, so nothing else than a refusal can be answered.
        if decision == Decision::Allow && policy::narrowest(&choices, true).is_none() {
            decision = Decision::Reject;
        }
        if decision == Decision::Reject {
            sink(AcpItem::Event(AgentEvent::Refused { what: wanted.what.clone() }));
        }
        let permission = Permission {
            id: id.to_owned(),
            what: wanted.what,
            asked: wanted.asked,
            kind: wanted.kind,
            decision,
            choices,
        };
        sink(AcpItem::Message(AcpMessage::Permission(permission)));
    }
}

impl Parser for AcpParser {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AgentEvent)) {
        self.hear(bytes, &mut |heard| match heard {
            AcpItem::Event(event) => sink(event),
            AcpItem::Message(_) => {}
        });
    }

    fn finish(&mut self, _: &mut dyn FnMut(AgentEvent)) {
        // A line without its end was never said.
    }

    fn hear(&mut self, bytes: &[u8], sink: &mut dyn FnMut(AcpItem)) {
        // Taken out, because `line` needs all of `self` while the lines are being cut.
        let mut lines = std::mem::take(&mut self.lines);
        lines.feed_all(bytes, |line| self.line(&line, sink));
        self.lines = lines;
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn checkpoint(&self) -> Box<dyn Parser> {
        Box::new(self.clone())
    }
}

/// The conversation that is to go on is not to be had any more (L13).
pub(super) fn cannot_take_up(task: &str, why: &str) -> AgentEvent {
    let fault = Fault::SessionNotTakenUp { follow_up_of: task.to_owned(), said: why.to_owned() };
    AgentEvent::Error { failure: FailureKind::SessionLost, fault }
}

/// The whole line is too large to be held. The id comes first in what agents write; what follows the method is not
/// needed to answer that it is too much.
fn id_of_overlong_request(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let before = &head[..head.find("\"params\"")?];
    let message = format!("{}}}", before.trim_end().trim_end_matches(','));
    let message: Message<'_> = serde_json::from_str(&message).ok()?;
    message.method?;
    message.id.filter(|id| id.get().len() <= LONGEST_ID).map(|id| id.get().to_owned())
}

fn text_of(update: &Update<'_>) -> Option<String> {
    let text = Object::parse(update.content?.get())?.text("text")?;
    (!text.is_empty()).then(|| text.into_owned())
}

fn steps_of(update: &Update<'_>) -> Vec<String> {
    let mut steps = Vec::new();
    let Some(entries) = update.entries else { return steps };
    raw_json::each(entries, |entry| {
        let step = Object::parse(entry.get()).and_then(|entry| entry.text("content"));
        if let Some(step) = step.filter(|_| steps.len() < MOST_STEPS) {
            steps.push(one_line(&step));
        }
    });
    steps
}

/// For an agent that is known by its command too, as for that; else in the words that it has for it.
fn log_in(name: &str, methods: &[wire::AuthMethod]) -> LogIn {
    let name = name.to_lowercase();
    if let Some(known) = BUILT_IN.iter().find(|known| name.contains(known.name())) {
        return LogIn::of(known.name());
    }
    let words = |method: &wire::AuthMethod| method.description.clone().or_else(|| method.name.clone());
    let ways = methods.iter().take(4).filter_map(words).map(|way| one_line(&way)).collect();
    LogIn { agent: None, ways }
}
