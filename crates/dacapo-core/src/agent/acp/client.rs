//! Dacapo's side of a conversation in one turn: what to say next, given what was heard. It has no process and no clock.

use std::collections::VecDeque;

use super::parser::{AcpMessage, Opened, Permission, cannot_take_up};
use super::policy::{Choice, Decision, SetMode, narrowest};
use super::say::{self, Step};
use super::{Counting, Memory};
use crate::event::{AgentEvent, Notice};
use crate::spec::Approval;

/// How many requests may wait for a person at once.
const MOST_QUESTIONS: usize = 100;
const METHOD_NOT_FOUND: i32 = -32601;
const NO_OPTION: i32 = -32602;

/// What the driver is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    Say(Vec<u8>),
    /// Wait until the agent has nothing more to tell, then go on by [`Client::goes_on`].
    AwaitSilence,
    Ask(Question),
    /// Nobody needs to answer any more.
    Withdraw,
    /// This cannot go on; the event says why.
    Fail(AgentEvent),
    /// Something a person should know.
    Note(Notice),
    /// The prompt is with the agent.
    Prompted,
    /// The turn is over. What is to be known when the same process has another one.
    Over(Memory),
}

/// Something that only a person can decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Tells one from another.
    pub number: u64,
    /// What the agent wants to do.
    pub what: String,
    /// What can be answered, as the agent offers it.
    pub choices: Vec<Choice>,
}

/// What a turn is about.
#[derive(Debug, Clone)]
pub struct Assignment {
    pub task: String,
    /// Its number over the whole task.
    pub turn: u32,
    /// Where the agent works.
    pub cwd: String,
    pub prompt: String,
    /// The conversation that is to go on; none: a new one.
    pub session: Option<String>,
    /// What the agent may do.
    pub approval: Approval,
    /// What people call the agent.
    pub agent: String,
}

/// What the process is to the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// It was started for it.
    New,
    /// It has had a turn of this conversation before, and has it open.
    Kept,
}

/// Our side of the conversation.
#[derive(Debug)]
pub struct Client {
    turn: Assignment,
    can_load: bool,
    can_resume: bool,
    /// The conversation, once it is open.
    session: Option<String>,
    /// The mode to set after a history.
    pending_mode: Option<SetMode>,
    prompted: bool,
    cancelled: bool,
    /// Requests that wait for a person; the first one has been put to them.
    questions: VecDeque<Permission>,
    asked: u64,
}

impl Client {
    pub fn new(turn: Assignment) -> Self {
        Self {
            turn,
            can_load: false,
            can_resume: false,
            session: None,
            pending_mode: None,
            prompted: false,
            cancelled: false,
            questions: VecDeque::new(),
            asked: 0,
        }
    }

    /// Begins with the prompt in a process that was kept with its session, else with `initialize`.
    pub fn begin(&mut self, process: Process) -> Vec<Move> {
        match (process, self.turn.session.clone()) {
            (Process::Kept, Some(session)) => {
                self.session = Some(session);
                self.prompt()
            }
            _ => vec![Move::Say(say::initialize(self.turn.turn))],
        }
    }

    /// What follows from what was heard.
    pub fn hear(&mut self, talk: AcpMessage) -> Vec<Move> {
        match talk {
            AcpMessage::Initialized(abilities) => {
                (self.can_load, self.can_resume) = (abilities.load, abilities.resume);
                let mut moves = Vec::new();
                if abilities.counting == Counting::LastCall {
                    let agent = self.turn.agent.clone();
                    moves.push(Move::Note(Notice::UsageOfLastCallOnly { agent }));
                }
                moves.push(self.open(abilities.resume, abilities.load));
                moves
            }
            // What cannot be resumed may still be loaded, which is slower: the whole history is told first.
            AcpMessage::NotOpened(Step::Resume) if self.can_load => vec![self.open_by(Step::Load)],
            AcpMessage::NotOpened(_) => {
                vec![Move::Fail(cannot_take_up(&self.turn.task, "the agent refused"))]
            }
            AcpMessage::Opened(opened) => self.opened(opened),
            AcpMessage::ModeAnswered => self.prompt(),
            AcpMessage::Permission(permission) => self.permission(permission),
            AcpMessage::Unserved { id, why } => vec![Move::Say(say::cannot(&id, METHOD_NOT_FOUND, why))],
            AcpMessage::Over(memory) => {
                let mut moves = self.withdraw();
                moves.push(Move::Over(memory));
                moves
            }
        }
    }

    fn open(&self, can_resume: bool, can_load: bool) -> Move {
        match (&self.turn.session, can_resume, can_load) {
            (None, _, _) => self.open_by(Step::New),
            (Some(_), true, _) => self.open_by(Step::Resume),
            (Some(_), false, true) => self.open_by(Step::Load),
            (Some(_), false, false) => {
                let why = "this agent cannot take up a conversation of an earlier process";
                Move::Fail(cannot_take_up(&self.turn.task, why))
            }
        }
    }

    fn open_by(&self, step: Step) -> Move {
        Move::Say(say::open(self.turn.turn, step, &self.turn.cwd, self.turn.session.as_deref()))
    }

    fn opened(&mut self, opened: Opened) -> Vec<Move> {
        let mut moves = Vec::new();
        if !opened.mode_fits {
            let agent = self.turn.agent.clone();
            moves.push(Move::Note(Notice::NoModeFor { agent, approval: self.turn.approval }));
        }
        self.session = Some(opened.session);
        match (opened.mode, opened.by) {
            // The rest of the history may still be on its way.
            (Some(mode), Step::Load) => {
                self.pending_mode = Some(mode);
                moves.push(Move::AwaitSilence);
            }
            (Some(mode), _) => moves.extend(self.set_mode(&mode)),
            (None, _) => moves.extend(self.prompt()),
        }
        moves
    }

    /// The agent has been silent for long enough.
    pub fn goes_on(&mut self) -> Vec<Move> {
        match self.pending_mode.take() {
            Some(mode) => self.set_mode(&mode).into_iter().collect(),
            None => Vec::new(),
        }
    }

    fn set_mode(&self, mode: &SetMode) -> Option<Move> {
        let session = self.session.as_deref()?;
        Some(Move::Say(match mode {
            SetMode::Mode(id) => say::set_mode(self.turn.turn, session, id),
            SetMode::Option { id, value } => say::set_option(self.turn.turn, session, id, value),
        }))
    }

    fn prompt(&mut self) -> Vec<Move> {
        // The answer to a mode may arrive twice, or after a cancel: the prompt is sent once, and never after that.
        let Some(session) = self.session.as_deref().filter(|_| !self.prompted && !self.cancelled) else {
            return Vec::new();
        };
        self.prompted = true;
        vec![Move::Say(say::prompt(self.turn.turn, session, &self.turn.prompt)), Move::Prompted]
    }

    fn permission(&mut self, permission: Permission) -> Vec<Move> {
        // A request that was on its way when we cancelled still needs an answer, by the protocol that it was
        // cancelled: without one the agent would wait and never end the turn.
        if self.cancelled {
            return vec![Move::Say(say::chosen(&permission.id, None))];
        }
        match permission.decision {
            Decision::Allow => vec![choose(&permission, true)],
            Decision::Reject => vec![choose(&permission, false)],
            Decision::Ask if self.questions.len() >= MOST_QUESTIONS => vec![choose(&permission, false)],
            Decision::Ask => {
                self.questions.push_back(permission);
                // One question at a time: people would otherwise answer the wrong one.
                if self.questions.len() == 1 { self.put_question() } else { Vec::new() }
            }
        }
    }

    fn put_question(&mut self) -> Vec<Move> {
        let Some(permission) = self.questions.front() else { return Vec::new() };
        self.asked += 1;
        let (what, choices) = (permission.asked.clone(), permission.choices.clone());
        vec![Move::Ask(Question { number: self.asked, what, choices })]
    }

    /// A person has chosen, by the place of the choice; none: nobody can, so it is refused. Gives back what was
    /// refused, if that is what it means.
    pub fn answered(&mut self, number: u64, choice: Option<usize>) -> (Vec<Move>, Option<String>) {
        // An answer from a second surface to a question that was answered, withdrawn or overtaken meanwhile.
        if number != self.asked {
            return (Vec::new(), None);
        }
        let Some(permission) = self.questions.pop_front() else { return (Vec::new(), None) };
        let chosen = choice.and_then(|choice| permission.choices.get(choice));
        let refused = chosen.is_none_or(|choice| !choice.allows).then(|| permission.what.clone());
        let mut moves = vec![match chosen {
            Some(choice) => Move::Say(say::chosen(&permission.id, Some(&choice.id))),
            None => choose(&permission, false),
        }];
        moves.extend(self.put_question());
        (moves, refused)
    }

    /// Returns true if another process of the agent could take up the conversation, by the agent's own word.
    pub fn can_reopen(&self) -> bool {
        self.can_load || self.can_resume
    }

    /// A person is being waited for.
    pub fn awaits_a_person(&self) -> bool {
        !self.questions.is_empty()
    }

    /// The turn is to end. None: the agent has not been given it yet, so there is nothing to ask it for.
    pub fn cancel(&mut self) -> Option<Vec<Move>> {
        self.cancelled = true;
        let waiting: Vec<Permission> = self.questions.drain(..).collect();
        let session = self.session.clone().filter(|_| self.prompted)?;
        let mut moves = vec![Move::Say(say::cancel(&session))];
        // The protocol wants an outcome for every request that is open when a turn is cancelled.
        moves.extend(waiting.iter().map(|permission| Move::Say(say::chosen(&permission.id, None))));
        if !waiting.is_empty() {
            moves.push(Move::Withdraw);
        }
        Some(moves)
    }

    fn withdraw(&mut self) -> Vec<Move> {
        let any = !self.questions.is_empty();
        self.questions.clear();
        if any { vec![Move::Withdraw] } else { Vec::new() }
    }
}

fn choose(permission: &Permission, allow: bool) -> Move {
    Move::Say(match narrowest(&permission.choices, allow) {
        Some(choice) => say::chosen(&permission.id, Some(&choice.id)),
        None => say::cannot(&permission.id, NO_OPTION, "no option fits what the user allows"),
    })
}
