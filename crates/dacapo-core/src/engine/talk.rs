//! A turn of an agent that one talks with (ACP): the process, the thread that reads it, and [`Client`] between them.
//!
//! With `--session fresh` a process lives for one turn and is gone before anything is staged. With `--session resume` it
//! is kept, conversation and all, until the task ends, another agent takes over, or a turn did not come to a proper end. Of a
//! task whose agents converse by turns (a milestone) each one's is kept; never are two at work.

use std::fs;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use super::driver::{Driver, Message};
use super::machine::{Input, TurnPlan};
use super::surroundings::{Activity, DriverError, Reply};
use super::talker::{LEAVE_TIME, Talker};
use super::turn::{EVENTS_IN_FLIGHT, Parsed};
use super::turn_end::{Why, diagnosed, ending};
use super::vigil::Vigil;
use crate::agent::acp::{Assignment, Client, Memory, Move, Process};
use crate::agent::{Ending, GiveUp, Observed};
use crate::event::{AgentEvent, FailureKind, SessionMode};
use crate::process::{Finished, Running, Stop};
use crate::spec::AgentSpec;

/// So long may an agent take to answer `session/cancel` before its process is ended.
const CANCEL_TIME: Duration = Duration::from_secs(1);
/// A history is over when nothing came for so long. The protocol has no word for it.
const SILENCE: Duration = Duration::from_millis(300);
const LONGEST_HISTORY: Duration = Duration::from_secs(20);
/// An agent that does not answer the first request and does nothing else either does not speak the protocol. One that
/// is being downloaded is at work.
const FIRST_ANSWER: Duration = Duration::from_secs(60);
const NO_FIRST_ANSWER: &str =
    "no answer in the Agent Client Protocol: is output = \"acp\" right for this command?";

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Talking,
    /// It was asked to stop, and has until then to answer.
    Cancelling(Instant),
    /// The turn is over and nobody talks any more; it has until then to leave.
    Leaving(Instant),
    /// It is being ended.
    Ending,
}

/// What is known of a turn while it goes on.
struct TalkTurn<'a> {
    client: Client,
    permits: &'a Receiver<()>,
    vigil: Vigil,
    stage: Stage,
    why: Option<Why>,
    /// The history of a conversation is told: until when it is waited for its end, how far it had come, and the latest.
    history: Option<(Instant, u64, Instant)>,
    asked_at: Option<Instant>,
    /// What our own side saw beside the agent's words.
    own: Vec<AgentEvent>,
    /// It has shown that it speaks the protocol.
    understood: bool,
    prompted: bool,
    over: Option<Memory>,
}

/// A turn and whether its process was gone before it began.
enum Talked {
    Ended(Box<Input>),
    /// The kept process had ended unnoticed; nothing was said.
    TooLate,
}

impl Driver<'_> {
    pub(super) fn talk(&mut self, plan: &TurnPlan, agent: &AgentSpec) -> Result<Input, DriverError> {
        let started = Instant::now();
        let cwd = self.workspace()?.repo.toplevel().to_owned();
        let Some(cwd) = cwd.to_str().map(str::to_owned) else {
            let message = format!("an ACP agent cannot work in {}: the path is no UTF-8", cwd.display());
            let ending = Ending::NotStarted { permanent: true, message };
            return Ok(self.ended(plan, &ending, Observed::default(), started.elapsed()));
        };
        let assignment = Assignment {
            task: self.spec.name.to_string(),
            turn: plan.turn,
            cwd,
            prompt: plan.prompt.clone(),
            session: plan.session.clone().filter(|_| plan.continued),
            approval: agent.approval,
            agent: agent.name.clone(),
        };
        if let Some(talker) = self.kept_talker(plan)? {
            let talked = self.talk_with(plan, agent, talker, (assignment.clone(), Process::Kept))?;
            if let Talked::Ended(input) = talked {
                return Ok(*input);
            }
            self.forget_empty_turn(plan)?;
        }
        let talker = match self.new_talker(plan, agent)? {
            Ok(talker) => talker,
            Err(message) => {
                let ending = Ending::NotStarted { permanent: true, message };
                return Ok(self.ended(plan, &ending, Observed::default(), started.elapsed()));
            }
        };
        match self.talk_with(plan, agent, talker, (assignment, Process::New))? {
            Talked::Ended(input) => Ok(*input),
            Talked::TooLate => Err(DriverError::Workspace("a turn ended before it began".into())),
        }
    }

    /// Removes the files of a turn in which not a byte was said, so that it can begin once more.
    fn forget_empty_turn(&self, plan: &TurnPlan) -> Result<(), DriverError> {
        for extension in ["raw", "idx", "err", "acp"] {
            let path = self.dir.turn_path(plan.turn, extension);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(DriverError::File { what: "remove", path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn talk_with(
        &mut self,
        plan: &TurnPlan,
        agent: &AgentSpec,
        mut talker: Talker,
        (assignment, process): (Assignment, Process),
    ) -> Result<Talked, DriverError> {
        let started = Instant::now();
        let (permit, permits) = sync_channel(EVENTS_IN_FLIGHT);
        self.overhear(plan, &talker.running, permit.clone())?;
        self.follow(talker.running.progress(), permit, |file| self.reader(plan, agent, file))?;
        let mut vigil = self.vigil(plan, started);
        if process == Process::New {
            vigil.expect_soon(FIRST_ANSWER, NO_FIRST_ANSWER);
        }
        let mut turn = TalkTurn {
            client: Client::new(assignment),
            permits: &permits,
            vigil,
            stage: Stage::Talking,
            why: None,
            history: None,
            asked_at: None,
            own: Vec::new(),
            understood: process == Process::Kept,
            prompted: false,
            over: None,
        };
        let first = turn.client.begin(process);
        self.act(&mut turn, &mut talker, first)?;
        let (gone, parsed) = self.converse(&mut turn, &mut talker)?;
        let progress = talker.running.progress();
        let silent = progress.seen() == 0 && turn.why.is_none();
        if let Some(finished) = gone.as_ref().filter(|_| process == Process::Kept && silent) {
            self.report_lost(plan.agent, finished)?;
            return Ok(Talked::TooLate);
        }
        let output_bytes = progress.bytes();
        let mut observed = parsed.observed;
        for event in std::mem::take(&mut turn.own) {
            observe(&mut observed, event);
        }
        let properly_over = turn.why.is_none() && turn.over.is_some();
        let ending = match &gone {
            Some(finished) => {
                self.report_leftovers(finished)?;
                if properly_over { Ending::Exited(0) } else { ending(turn.why, finished) }
            }
            None => Ending::Exited(0),
        };
        if gone.is_none() {
            let session = observed.session.clone().or_else(|| plan.session.clone());
            talker.kept_for = session.zip(turn.over);
            self.talks.kept.insert(plan.agent, talker);
        }
        let stderr = self.dir.turn_path(plan.turn, "err");
        let observed = diagnosed(self.adapter(plan), &stderr, &ending, observed);
        let mut input = self.ended(plan, &ending, observed, started.elapsed());
        if let Input::TurnEnded(record) = &mut input {
            record.output_bytes = output_bytes;
        }
        Ok(Talked::Ended(Box::new(input)))
    }

    fn note_once(&mut self, note: String) -> Result<(), DriverError> {
        if self.talks.noted.insert(note.clone()) { self.input(&Input::Notice(note)) } else { Ok(()) }
    }

    /// Listens until the turn is over and, unless it is kept, its process gone.
    fn converse(
        &mut self,
        turn: &mut TalkTurn<'_>,
        talker: &mut Talker,
    ) -> Result<(Option<Finished>, Parsed), DriverError> {
        let (mut gone, mut parsed) = (None, None);
        loop {
            if let Some(all) = parsed.take_if(|_| gone.is_some() || self.may_be_kept(turn)) {
                self.report_unread(&all)?;
                return Ok((gone, all));
            }
            match self.receive(turn.deadline()) {
                Some(Message::TalkerGone(agent, finished)) if agent == talker.agent => {
                    gone = Some(*finished);
                    if turn.client.awaits_a_person() {
                        self.withdrawn(turn)?;
                    }
                }
                Some(Message::Parsed(all)) => {
                    parsed = Some(*all);
                    self.word_is_out(turn, talker);
                }
                Some(Message::Agent(event)) => {
                    let _ = turn.permits.try_recv();
                    if let Some(why) = self.agent_did(&event, &mut turn.vigil)? {
                        self.cut_short(turn, talker, why)?;
                    }
                }
                Some(Message::Talk(talk)) => {
                    let _ = turn.permits.try_recv();
                    if !std::mem::replace(&mut turn.understood, true) {
                        turn.vigil.watch_anew();
                    }
                    let moves = turn.client.hear(*talk);
                    self.act(turn, talker, moves)?;
                }
                Some(Message::Answer { number, choice }) => self.answered(turn, talker, number, choice)?,
                Some(message @ Message::Stop { .. }) => {
                    self.absorb(message)?;
                    self.cut_short(turn, talker, Why::Cancelled)?;
                }
                Some(message @ Message::Mail) => {
                    if self.absorb(message)? {
                        self.cut_short(turn, talker, Why::Cancelled)?;
                    }
                }
                Some(
                    message @ (Message::ChildGone(_)
                    | Message::ProbeFree(_)
                    | Message::ProofLease(_)
                    | Message::Place(..)
                    | Message::TalkerGone(..)),
                ) => {
                    self.absorb(message)?;
                }
                None => self.time_has_passed(turn, talker)?,
            }
        }
    }

    fn may_be_kept(&self, turn: &TalkTurn<'_>) -> bool {
        let wanted = self.spec.policy.session == SessionMode::Resume && self.spec.policy.looping;
        wanted && turn.stage == Stage::Talking && turn.prompted && turn.over.is_some()
    }

    /// All that the agent has to say in this turn was read: it may go.
    fn word_is_out(&mut self, turn: &mut TalkTurn<'_>, talker: &mut Talker) {
        match turn.stage {
            Stage::Talking if self.may_be_kept(turn) => {}
            Stage::Talking => {
                talker.voice.close();
                turn.stage = Stage::Leaving(Instant::now() + LEAVE_TIME);
            }
            Stage::Cancelling(_) => self.end_process(turn, talker),
            Stage::Leaving(_) | Stage::Ending => {}
        }
    }

    fn end_process(&mut self, turn: &mut TalkTurn<'_>, talker: &mut Talker) {
        turn.stage = Stage::Ending;
        talker.voice.close();
        talker.running.stop(Stop::Gentle);
    }

    /// The turn is to end now, whatever the agent would still like to do. One that has ended by itself is left its end.
    fn cut_short(
        &mut self,
        turn: &mut TalkTurn<'_>,
        talker: &mut Talker,
        why: Why,
    ) -> Result<(), DriverError> {
        if turn.why.is_some() {
            return Ok(());
        }
        self.sink.activity(&Activity::Stopping);
        if turn.over.is_some() {
            // The budget's own end needs no more than the turn's.
            self.end_process(turn, talker);
            return Ok(());
        }
        turn.why = Some(why);
        match turn.client.cancel() {
            Some(moves) if turn.stage == Stage::Talking => {
                turn.stage = Stage::Cancelling(Instant::now() + CANCEL_TIME);
                self.act(turn, talker, moves)
            }
            _ => {
                self.end_process(turn, talker);
                Ok(())
            }
        }
    }

    fn time_has_passed(&mut self, turn: &mut TalkTurn<'_>, talker: &mut Talker) -> Result<(), DriverError> {
        let now = Instant::now();
        match turn.stage {
            Stage::Cancelling(until) | Stage::Leaving(until) if until <= now => {
                self.end_process(turn, talker);
            }
            Stage::Cancelling(_) | Stage::Leaving(_) | Stage::Ending => {}
            Stage::Talking => {
                if let Some(moves) = turn.history_is_over(&talker.running, now) {
                    self.act(turn, talker, moves)?;
                }
                let why = turn.asked_at.is_none().then(|| self.looks(turn, talker)).flatten();
                if let Some(why) = why {
                    self.cut_short(turn, talker, why)?;
                }
            }
        }
        Ok(())
    }

    fn looks(&self, turn: &mut TalkTurn<'_>, talker: &Talker) -> Option<Why> {
        let progress = talker.running.progress();
        // What cannot be written cannot be read either: the agent would wait for its answers for ever.
        if progress.seen().saturating_sub(progress.bytes()) > self.masker.longest() as u64 {
            let message = "what the agent says cannot be written down: is the disk full?".to_owned();
            return Some(Why::GaveUp(GiveUp::Failed { failure: FailureKind::Transient, message }));
        }
        turn.vigil.look(&talker.running)
    }

    fn act(
        &mut self,
        turn: &mut TalkTurn<'_>,
        talker: &mut Talker,
        moves: Vec<Move>,
    ) -> Result<(), DriverError> {
        for one in moves {
            match one {
                Move::Say(line) => {
                    if talker.voice.say(line).is_err() {
                        let message = "the agent asks without reading the answers".to_owned();
                        let why = Why::GaveUp(GiveUp::Failed { failure: FailureKind::Transient, message });
                        self.cut_short(turn, talker, why)?;
                    }
                }
                Move::AwaitSilence => {
                    let now = Instant::now();
                    let seen = talker.running.progress().seen();
                    turn.history = Some((now + SILENCE, seen, now + LONGEST_HISTORY));
                }
                Move::Ask(question) => {
                    let reply = Reply::new(self.outbox.clone(), &question);
                    if self.is_asked(&question, &reply)? {
                        turn.asked_at.get_or_insert_with(Instant::now);
                    } else {
                        reply.choose(None);
                    }
                }
                Move::Withdraw => self.withdrawn(turn)?,
                Move::Fail(event) => {
                    self.show(&event);
                    turn.own.push(event);
                    self.end_process(turn, talker);
                }
                Move::Note(note) => self.note_once(note)?,
                Move::Prompted => turn.prompted = true,
                Move::Over(memory) => turn.over = Some(memory),
            }
        }
        Ok(())
    }

    fn answered(
        &mut self,
        turn: &mut TalkTurn<'_>,
        talker: &mut Talker,
        number: u64,
        choice: Option<usize>,
    ) -> Result<(), DriverError> {
        let (moves, refused) = turn.client.answered(number, choice);
        if let Some(what) = refused {
            let event = AgentEvent::Refused { what };
            self.show(&event);
            turn.own.push(event);
        }
        self.act(turn, talker, moves)?;
        if !turn.client.awaits_a_person() {
            self.withdrawn(turn)?;
        }
        Ok(())
    }

    fn withdrawn(&mut self, turn: &mut TalkTurn<'_>) -> Result<(), DriverError> {
        self.sink.withdraw();
        turn.waited_for_a_person();
        self.needs_no_answer()
    }
}

impl TalkTurn<'_> {
    fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Ending => None,
            Stage::Cancelling(until) | Stage::Leaving(until) => Some(until),
            Stage::Talking if self.asked_at.is_some() => None,
            Stage::Talking => {
                let history = self.history.map(|(until, _, _)| until);
                Some(history.map_or(self.vigil.deadline(), |until| until.min(self.vigil.deadline())))
            }
        }
    }

    fn history_is_over(&mut self, running: &Running, now: Instant) -> Option<Vec<Move>> {
        let (until, seen, latest) = self.history?;
        if now < until {
            return None;
        }
        let seen_now = running.progress().seen();
        if seen_now != seen && now < latest {
            self.history = Some((now + SILENCE, seen_now, latest));
            return None;
        }
        self.history = None;
        Some(self.client.goes_on())
    }

    fn waited_for_a_person(&mut self) {
        if let Some(asked_at) = self.asked_at.take() {
            self.vigil.forgive(asked_at.elapsed());
        }
    }
}

/// What only our own side knows of a turn.
fn observe(observed: &mut Observed, event: AgentEvent) {
    match event {
        AgentEvent::Refused { what } if !observed.refused.contains(&what) => observed.refused.push(what),
        AgentEvent::Error { failure, message } => observed.error = Some((failure, message)),
        _ => {}
    }
}
