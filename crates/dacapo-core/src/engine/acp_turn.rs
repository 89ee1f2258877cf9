//! A turn of an agent that speaks ACP: the process, the thread that reads it, and [`Client`] between them.
//!
//! With `--session fresh` a process lives for one turn and is gone before anything is staged. With `--session resume` it
//! is kept, conversation and all, until the task ends, a commit is proven, another agent takes over, or a turn did not come to
//! a proper end. Of a task whose agents converse by turns (a milestone) each one's is kept; never are two at work.

use std::fs;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use super::acp_process::{AcpProcess, LEAVE_TIME};
use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::listen::{Waited, Wakeup};
use super::machine::{Input, TurnPlan};
use super::mailbox::Report;
use super::stderr_events::TurnOutput;
use super::turn::{EVENTS_IN_FLIGHT, Parsed};
use super::turn_end::{StoppedBy, diagnosed, ending};
use super::watchdog::Watchdog;
use crate::agent::acp::{Assignment, Client, Memory, Move, Process};
use crate::agent::{Ending, GiveUp, Observed};
use crate::event::{AgentEvent, AgentFault, FailureKind, Notice, WorkspaceProblem};
use crate::files::FileAction;
use crate::process::{Finished, Running, Stop};
use crate::spec::{AgentSpec, SessionMode};
use crate::store::TaskDir;

/// How long an agent may take to answer `session/cancel` before its process is ended.
const CANCEL_TIME: Duration = Duration::from_secs(1);
/// A history is over when nothing came for so long. The protocol has no word for it.
const SILENCE: Duration = Duration::from_millis(300);
const LONGEST_HISTORY: Duration = Duration::from_secs(20);
/// An agent that does not answer the first request and does nothing else either does not speak the protocol. One that
/// is being downloaded is at work.
const FIRST_ANSWER: Duration = Duration::from_secs(60);

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
struct AcpTurn<'a> {
    client: Client,
    permits: &'a Receiver<()>,
    watchdog: Watchdog,
    stage: Stage,
    why: Option<StoppedBy>,
    /// The history of a conversation is told: until when it is waited for its end, how far it had come, and the latest.
    history: Option<(Instant, u64, Instant)>,
    asked_at: Option<Instant>,
    /// What our own side saw beside the agent's words.
    own: Vec<AgentEvent>,
    /// It has shown that it speaks the protocol.
    understood: bool,
    prompted: bool,
    over: Option<Memory>,
    /// The process stays for the next turn, where this one comes to its proper end.
    keeps_process: bool,
}

/// A turn and whether its process was gone before it began.
enum AcpTurnEnd {
    Ended(Box<Input>),
    /// The kept process had ended unnoticed; nothing was said.
    TooLate,
}

impl Driver<'_> {
    pub(super) fn run_acp_turn(&mut self, plan: &TurnPlan, agent: &AgentSpec) -> Result<Input, DriverError> {
        let started = Instant::now();
        let cwd = self.workspace()?.repo.toplevel().to_owned();
        let Some(cwd) = cwd.to_str().map(str::to_owned) else {
            let fault = AgentFault::PathNotText { path: cwd.display().to_string() }.into();
            let ending = Ending::NotStarted { permanent: true, fault };
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
        if let Some(agent_process) = self.kept_acp_process(plan)? {
            let ended =
                self.run_acp_turn_in(plan, agent, agent_process, (assignment.clone(), Process::Kept))?;
            if let AcpTurnEnd::Ended(input) = ended {
                return Ok(*input);
            }
            // The kept process had died unnoticed. Nothing was said in this turn, so it is run once more with a new
            // process, and raw files must not exist when that starts.
            forget_empty_turn(&self.dir, plan)?;
        }
        let agent_process = match self.start_acp_process(plan, agent)? {
            Ok(agent_process) => agent_process,
            Err(message) => {
                let ending = Ending::NotStarted { permanent: true, fault: message.into() };
                return Ok(self.ended(plan, &ending, Observed::default(), started.elapsed()));
            }
        };
        match self.run_acp_turn_in(plan, agent, agent_process, (assignment, Process::New))? {
            AcpTurnEnd::Ended(input) => Ok(*input),
            AcpTurnEnd::TooLate => {
                Err(DriverError::Workspace(WorkspaceProblem::said("a turn ended before it began")))
            }
        }
    }

    fn run_acp_turn_in(
        &mut self,
        plan: &TurnPlan,
        agent: &AgentSpec,
        mut agent_process: AcpProcess,
        (assignment, process): (Assignment, Process),
    ) -> Result<AcpTurnEnd, DriverError> {
        let started = Instant::now();
        let (permit, permits) = sync_channel(EVENTS_IN_FLIGHT);
        self.record.turn_output = Some(TurnOutput::of(plan, &agent_process.running));
        self.mailbox.outbox().follow_stderr(self.adapter(plan), &agent_process.running, permit.clone())?;
        self.mailbox
            .outbox()
            .follow(agent_process.running.progress(), permit, |file| self.reader(plan, agent, file))?;
        let mut watchdog = Watchdog::new(plan, self.adapter(plan), started);
        if process == Process::New {
            watchdog.expect_first_answer(FIRST_ANSWER);
        }
        let mut turn = AcpTurn {
            client: Client::new(assignment),
            permits: &permits,
            watchdog,
            stage: Stage::Talking,
            why: None,
            history: None,
            asked_at: None,
            own: Vec::new(),
            understood: process == Process::Kept,
            prompted: false,
            over: None,
            keeps_process: self.spec.policy.session == SessionMode::Resume && self.spec.policy.looping,
        };
        let first = turn.client.begin(process);
        self.act(&mut turn, &mut agent_process, first)?;
        let (gone, parsed) = self.converse(&mut turn, &mut agent_process)?;
        let progress = agent_process.running.progress();
        // Not a single byte in this turn: the prompt never reached it, so to send it again cannot do the work twice.
        let silent = progress.seen() == 0 && turn.why.is_none();
        if let Some(finished) = gone.as_ref().filter(|_| process == Process::Kept && silent) {
            self.report_lost(plan.agent, finished)?;
            return Ok(AcpTurnEnd::TooLate);
        }
        let output_bytes = progress.bytes();
        self.turns.room = agent_process.running.room();
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
            // One that was kept said so in its first turn.
            agent_process.reopens |= turn.client.can_reopen();
            let session = observed.session.clone().or_else(|| plan.session.clone());
            agent_process.kept_for = session.zip(turn.over);
            self.turns.acp.kept.insert(plan.agent, agent_process);
        }
        let stderr = self.dir.turn_path(plan.turn, "err");
        let observed = diagnosed(self.adapter(plan), &stderr, &ending, observed);
        let mut input = self.ended(plan, &ending, observed, started.elapsed());
        if let Input::TurnEnded(record) = &mut input {
            record.output_bytes = output_bytes;
        }
        Ok(AcpTurnEnd::Ended(Box::new(input)))
    }

    fn note_once(&mut self, note: Notice) -> Result<(), DriverError> {
        if self.turns.acp.noted.contains(&note) {
            return Ok(());
        }
        self.turns.acp.noted.push(note.clone());
        self.input(&Input::Notice(note))
    }

    /// Listens until the turn is over and, unless it is kept, its process gone.
    fn converse(
        &mut self,
        turn: &mut AcpTurn<'_>,
        agent_process: &mut AcpProcess,
    ) -> Result<(Option<Finished>, Parsed), DriverError> {
        let (mut gone, mut parsed) = (None, None);
        self.wait(turn.deadline(), |driver, heard| {
            match heard {
                Wakeup::Report(Report::AcpProcessGone(agent, finished)) if agent == agent_process.agent => {
                    gone = Some(*finished);
                    // Nobody can answer a dead process; surfaces stop asking.
                    if turn.client.awaits_a_person() {
                        driver.withdrawn(turn)?;
                    }
                }
                Wakeup::Report(Report::Parsed(all)) => {
                    parsed = Some(*all);
                    turn.word_is_out(agent_process);
                }
                Wakeup::Report(Report::Agent(event)) => {
                    let _ = turn.permits.try_recv();
                    if let Some(why) = driver.agent_did(&event, &mut turn.watchdog)? {
                        driver.cut_short(turn, agent_process, why)?;
                    }
                }
                Wakeup::Report(Report::Acp(talk)) => {
                    let _ = turn.permits.try_recv();
                    if !std::mem::replace(&mut turn.understood, true) {
                        turn.watchdog.watch_anew();
                    }
                    let moves = turn.client.hear(*talk);
                    driver.act(turn, agent_process, moves)?;
                }
                Wakeup::Report(Report::Answer { number, choice }) => {
                    driver.answered(turn, agent_process, number, choice)?;
                }
                Wakeup::Stop => driver.cut_short(turn, agent_process, StoppedBy::Cancelled)?,
                Wakeup::Deadline => driver.time_has_passed(turn, agent_process)?,
                other @ (Wakeup::Commands | Wakeup::Report(_)) => driver.nobody_waits_for(other),
            }
            // The end of the process and the end of its output arrive from two threads, in either order. Both are
            // needed unless the process is kept, which has no end.
            let Some(all) = parsed.take_if(|_| gone.is_some() || turn.may_be_kept()) else {
                return Ok(Waited::Continue(turn.deadline()));
            };
            driver.report_unread(&all)?;
            Ok(Waited::Break((gone.take(), all)))
        })
    }

    /// The turn is to end now, whatever the agent would still like to do. One that has ended by itself is left its end.
    fn cut_short(
        &mut self,
        turn: &mut AcpTurn<'_>,
        agent_process: &mut AcpProcess,
        why: StoppedBy,
    ) -> Result<(), DriverError> {
        if turn.why.is_some() {
            return Ok(());
        }
        self.record.sink.activity(&Activity::Stopping);
        if turn.over.is_some() {
            // The budget's own end needs no more than the turn's.
            turn.end_process(agent_process);
            return Ok(());
        }
        turn.why = Some(why);
        match turn.client.cancel() {
            // `session/cancel` first: the agent can then say how the turn ended, and a kept conversation stays whole.
            Some(moves) if turn.stage == Stage::Talking => {
                turn.stage = Stage::Cancelling(Instant::now() + CANCEL_TIME);
                self.act(turn, agent_process, moves)
            }
            _ => {
                turn.end_process(agent_process);
                Ok(())
            }
        }
    }

    fn time_has_passed(
        &mut self,
        turn: &mut AcpTurn<'_>,
        agent_process: &mut AcpProcess,
    ) -> Result<(), DriverError> {
        let now = Instant::now();
        match turn.stage {
            Stage::Cancelling(until) | Stage::Leaving(until) if until <= now => {
                turn.end_process(agent_process);
            }
            Stage::Cancelling(_) | Stage::Leaving(_) | Stage::Ending => {}
            Stage::Talking => {
                if let Some(moves) = turn.history_is_over(&agent_process.running, now) {
                    self.act(turn, agent_process, moves)?;
                }
                let longest_secret = self.launcher.masker().longest();
                let why =
                    // While a person is asked the agent is silent by right; the time is given back to it afterwards
                    // (`forgive`).
                    turn.asked_at.is_none().then(|| turn.looks(agent_process, longest_secret)).flatten();
                if let Some(why) = why {
                    self.cut_short(turn, agent_process, why)?;
                }
            }
        }
        Ok(())
    }

    fn act(
        &mut self,
        turn: &mut AcpTurn<'_>,
        agent_process: &mut AcpProcess,
        moves: Vec<Move>,
    ) -> Result<(), DriverError> {
        // What it starts from its first prompt on is its work, and ends if the process has to sleep.
        if turn.keeps_process && agent_process.kept_for.is_none() && moves.contains(&Move::Prompted) {
            agent_process.running.remember();
        }
        for one in moves {
            match one {
                Move::Say(line) => {
                    if agent_process.stdin.write_line(line).is_err() {
                        let why = StoppedBy::GaveUp(GiveUp::Failed {
                            failure: FailureKind::Transient,
                            fault: AgentFault::NotReading.into(),
                        });
                        self.cut_short(turn, agent_process, why)?;
                    }
                }
                Move::AwaitSilence => {
                    let now = Instant::now();
                    let seen = agent_process.running.progress().seen();
                    turn.history = Some((now + SILENCE, seen, now + LONGEST_HISTORY));
                }
                Move::Ask(question) => {
                    let reply = self.mailbox.reply_to(&question);
                    if self.is_asked(&question, &reply)? {
                        // Several questions can be open at once; the time counts from the first.
                        turn.asked_at.get_or_insert_with(Instant::now);
                    } else {
                        reply.choose(None);
                    }
                }
                Move::Withdraw => self.withdrawn(turn)?,
                Move::Fail(event) => {
                    self.record.show(&event);
                    turn.own.push(event);
                    turn.end_process(agent_process);
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
        turn: &mut AcpTurn<'_>,
        agent_process: &mut AcpProcess,
        number: u64,
        choice: Option<usize>,
    ) -> Result<(), DriverError> {
        let (moves, refused) = turn.client.answered(number, choice);
        if let Some(what) = refused {
            let event = AgentEvent::Refused { what };
            self.record.show(&event);
            turn.own.push(event);
        }
        self.act(turn, agent_process, moves)?;
        if !turn.client.awaits_a_person() {
            self.withdrawn(turn)?;
        }
        Ok(())
    }

    fn withdrawn(&mut self, turn: &mut AcpTurn<'_>) -> Result<(), DriverError> {
        self.record.sink.withdraw();
        turn.waited_for_a_person();
        self.needs_no_answer()
    }
}

impl AcpTurn<'_> {
    fn may_be_kept(&self) -> bool {
        self.keeps_process && self.stage == Stage::Talking && self.prompted && self.over.is_some()
    }

    /// All that the agent has to say in this turn was read: it may go.
    fn word_is_out(&mut self, agent_process: &mut AcpProcess) {
        match self.stage {
            Stage::Talking if self.may_be_kept() => {}
            Stage::Talking => {
                agent_process.stdin.close();
                self.stage = Stage::Leaving(Instant::now() + LEAVE_TIME);
            }
            Stage::Cancelling(_) => self.end_process(agent_process),
            Stage::Leaving(_) | Stage::Ending => {}
        }
    }

    fn end_process(&mut self, agent_process: &mut AcpProcess) {
        self.stage = Stage::Ending;
        agent_process.stdin.close();
        agent_process.running.stop(Stop::Gentle);
    }

    fn looks(&mut self, agent_process: &AcpProcess, longest_secret: usize) -> Option<StoppedBy> {
        let progress = agent_process.running.progress();
        // What cannot be written cannot be read either: the agent would wait for its answers for ever.
        if progress.seen().saturating_sub(progress.bytes()) > longest_secret as u64 {
            return Some(StoppedBy::GaveUp(GiveUp::Failed {
                failure: FailureKind::Transient,
                fault: AgentFault::OutputNotKept.into(),
            }));
        }
        self.watchdog.look(&agent_process.running)
    }

    fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Ending => None,
            Stage::Cancelling(until) | Stage::Leaving(until) => Some(until),
            Stage::Talking if self.asked_at.is_some() => None,
            Stage::Talking => {
                let history = self.history.map(|(until, _, _)| until);
                Some(history.map_or(self.watchdog.deadline(), |until| until.min(self.watchdog.deadline())))
            }
        }
    }

    fn history_is_over(&mut self, running: &Running, now: Instant) -> Option<Vec<Move>> {
        let (until, seen, latest) = self.history?;
        if now < until {
            return None;
        }
        let seen_now = running.progress().seen();
        // The history may go on after the answer to `session/load`. What follows the answer to the mode counts as
        // this turn's, so the mode is set only once the history has fallen silent.
        if seen_now != seen && now < latest {
            self.history = Some((now + SILENCE, seen_now, latest));
            return None;
        }
        self.history = None;
        Some(self.client.goes_on())
    }

    fn waited_for_a_person(&mut self) {
        if let Some(asked_at) = self.asked_at.take() {
            self.watchdog.forgive(asked_at.elapsed());
        }
    }
}

/// Removes the files of a turn in which not a byte was said, so that it can begin once more.
fn forget_empty_turn(dir: &TaskDir, plan: &TurnPlan) -> Result<(), DriverError> {
    for extension in ["raw", "idx", "err", "acp"] {
        let path = dir.turn_path(plan.turn, extension);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(DriverError::File { what: FileAction::Remove, path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// What only our own side knows of a turn.
fn observe(observed: &mut Observed, event: AgentEvent) {
    match event {
        AgentEvent::Refused { what } if !observed.refused.contains(&what) => observed.refused.push(what),
        AgentEvent::Error { failure, fault } => observed.error = Some((failure, fault)),
        _ => {}
    }
}
