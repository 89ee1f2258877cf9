//! What reaches the driver while it does something else, from other threads and from elsewhere.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use super::admission::Queue;
use super::context::{Reply, Sink};
use super::turn::Parsed;
use crate::agent::acp::{AcpMessage, Question};
use crate::event::{AgentEvent, Command, Received};
use crate::process::{Finished, StopSignal};
use crate::proof::{Lease, ProofError};
use crate::store::{Inbox, InboxWatch, ProbeLock, SlotLease};

/// All that can reach the driver while it waits.
#[derive(Debug)]
pub(super) enum Message {
    Stop {
        by: String,
    },
    /// A command may have arrived in the inbox.
    Mail,
    /// Queue whoever waits for it.
    Report(Report),
}

/// What somebody may wait for.
#[derive(Debug)]
pub(super) enum Report {
    /// It is this task's turn, or it has a slot to work in.
    Admitted(Queue, io::Result<SlotLease>),
    /// A child and all it started is gone.
    ChildGone(Box<Finished>),
    Agent(AgentEvent),
    /// What an agent that speaks ACP wants to be answered.
    Acp(Box<AcpMessage>),
    /// All of a turn's output has been read.
    Parsed(Box<Parsed>),
    /// The task that tried whether a limit is over does so no more.
    ProbeFree(io::Result<ProbeLock>),
    /// A checkout to prove a commit in is free.
    ProofLease(Box<Result<Lease, ProofError>>),
    /// The process of this agent, with which one talks, is gone, with all it started.
    AcpProcessGone(usize, Box<Finished>),
    /// The process of this agent is stopped, and what it had started is gone.
    AcpProcessFrozen(usize),
    Answer {
        number: u64,
        choice: Option<usize>,
    },
}

/// Takes messages for the driver, from any thread.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    driver: Sender<Message>,
    /// Rings for whoever waits for a git, and cannot take messages meanwhile.
    stop: StopSignal,
}

impl Outbox {
    /// False: nobody listens any more.
    pub(super) fn send(&self, message: Message) -> bool {
        if matches!(message, Message::Stop { .. }) {
            self.stop.ask();
        }
        self.driver.send(message).is_ok()
    }

    /// False: nobody listens any more.
    pub(super) fn report(&self, report: Report) -> bool {
        self.send(Message::Report(report))
    }
}

/// Where all that arrives which happens while the driver does something else, and what is known of commands.
#[derive(Debug)]
pub(super) struct Mailbox {
    outbox: Outbox,
    inbox: Receiver<Message>,
    next_tick: Instant,
    /// Commands that are in the journal.
    taken: HashSet<String>,
    /// It was said that files which are no commands lie in the task's inbox.
    strangers_named: bool,
    /// Something is in it, and we were told.
    mail: Arc<AtomicBool>,
    /// What the turn at work waits for.
    asked: Option<Question>,
}

impl Mailbox {
    /// With the commands that an earlier process has taken.
    pub(super) fn new(taken: HashSet<String>) -> Self {
        let (outbox, inbox) = mpsc::channel();
        Self {
            outbox: Outbox { driver: outbox, stop: StopSignal::default() },
            inbox,
            next_tick: Instant::now(),
            taken,
            strangers_named: false,
            mail: Arc::default(),
            asked: None,
        }
    }

    pub(super) fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }

    /// Rings when the task is to end.
    pub(super) fn stop_signal(&self) -> &StopSignal {
        &self.outbox.stop
    }

    /// The next message, or none at `deadline`. The sink ticks meanwhile.
    pub(super) fn receive(&mut self, deadline: Option<Instant>, sink: &mut dyn Sink) -> Option<Message> {
        loop {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                // Messages first, even when time is up: a stop that has arrived wins over a deadline.
                return self.inbox.try_recv().ok();
            }
            let tick = sink.tick_every().map(|every| {
                if self.next_tick <= now {
                    sink.tick();
                    self.next_tick = now + every;
                }
                self.next_tick
            });
            let wake = [deadline, tick].into_iter().flatten().min();
            let received = match wake {
                Some(wake) => self.inbox.recv_timeout(wake.saturating_duration_since(now)),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) => {}
                // We hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Listens to the task's inbox for as long as what it gives lives.
    pub(super) fn watch(&self, inbox: &Inbox) -> io::Result<InboxWatch> {
        let (outbox, mail) = (self.outbox(), Arc::clone(&self.mail));
        let commands = inbox.clone();
        inbox.watch(move || {
            // The driver reads it when it comes to it; a git that hangs must hear of it now.
            if commands
                .look()
                .is_ok_and(|waiting| waiting.iter().any(|received| received.command.ends_task()))
            {
                outbox.stop.ask();
            }
            // One look is enough for however many files came before it.
            // The flag is cleared before the inbox is read (`opens_mail`), so a file that arrives during the read
            // rings again.
            if !mail.swap(true, Ordering::SeqCst) {
                outbox.send(Message::Mail);
            }
        })
    }

    /// From here on a new file in the task's inbox is told of again.
    pub(super) fn opens_mail(&self) {
        self.mail.store(false, Ordering::SeqCst);
    }

    /// False: it was taken before.
    pub(super) fn is_new(&mut self, received: &Received) -> bool {
        self.taken.insert(received.id.clone())
    }

    /// True once: that files which are no commands lie there is yet to be said.
    pub(super) fn names_strangers(&mut self) -> bool {
        !std::mem::replace(&mut self.strangers_named, true)
    }

    /// Takes an answer to this question.
    pub(super) fn reply_to(&self, question: &Question) -> Reply {
        Reply::new(self.outbox(), question)
    }

    /// The turn at work waits for this.
    pub(super) fn asks(&mut self, question: &Question) {
        self.asked = Some(question.clone());
    }

    /// True: something was asked, and needs no answer any more.
    pub(super) fn withdraw(&mut self) -> bool {
        self.asked.take().is_some()
    }

    /// A command that answers what was asked last; one that comes too late changes nothing.
    pub(super) fn answer_with(&self, command: &Command) {
        let Some(question) = &self.asked else { return };
        let fitting = |allows: bool| {
            // `approve` without a choice means once: of the fitting answers the one that does not hold for good.
            let all = question.choices.iter().enumerate().filter(|(_, choice)| choice.allows == allows);
            all.min_by_key(|(_, choice)| choice.for_good).map(|(at, _)| at)
        };
        let choice = match command {
            Command::Approve { choice: None } => fitting(true),
            Command::Approve { choice: Some(number) } => number.checked_sub(1),
            Command::Reject { .. } => fitting(false),
            Command::Kill
            | Command::Abandon
            | Command::Pause { .. }
            | Command::Tell { .. }
            | Command::Untell
            | Command::Refreeze { .. }
            | Command::Remember { .. }
            | Command::Set { .. } => return,
        };
        self.reply_to(question).choose(choice);
    }
}
