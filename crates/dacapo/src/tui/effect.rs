//! What screens want the world to do, as values: the runtime carries it out, away from the loop that answers keys.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use dacapo_app::operations::act::Operation;
use dacapo_app::operations::follow::Hub;
use dacapo_app::operations::terminal_plan::TerminalPlan;
use dacapo_app::question::Answers;
use dacapo_core::follow::Bell;

use super::message::{Message, ScreenId};
use super::screen::Answer;
use crate::App;

pub(crate) enum Effect {
    /// Changes something, in a short process of its own ([`App::act_elsewhere`]). What it asks is put to the user as a card,
    /// what came of it is said in the line of notices; tasks that change are heard of as always.
    Act(Act),
    /// Ends all operations that are under way, each in its own way.
    Cancel,
    /// Reads something that may take a while; what it gives comes back to the screen that asked ([`Job::new`]).
    Read(Job),
    /// A thread that lives as long as the screen and tells it what is new ([`Feed::new`]).
    Feed(Feed),
    /// Puts text on the clipboard of the terminal (OSC 52).
    Copy(String),
    /// Gives the terminal to another program, and comes back when that ends.
    Run(Foreign),
    /// Which repositories' tasks are followed.
    Follow(dacapo_app::operations::list::Scope),
    /// Stops like any other job of the shell.
    Suspend,
    /// Clears the terminal and draws every cell again.
    Redraw,
    Quit {
        exit_code: u8,
    },
}

/// An operation, and what the user has decided about it so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Act {
    pub(crate) operation: Box<Operation>,
    pub(crate) answers: Answers,
    /// Where it is done; none: where the user is ([`Context::directory_of`](super::screen::Context::directory_of)).
    pub(crate) directory: Option<PathBuf>,
}

impl Act {
    pub(crate) fn new(operation: Operation) -> Self {
        Self { operation: Box::new(operation), answers: Answers::default(), directory: None }
    }

    pub(crate) fn at(self, directory: Option<PathBuf>) -> Self {
        Self { directory, ..self }
    }
}

/// What jobs and feeds work with.
#[derive(Clone)]
pub(crate) struct Services {
    pub(crate) app: App,
    pub(crate) hub: Hub,
}

impl Services {
    /// The user in another directory.
    pub(crate) fn app_in(&self, directory: Option<&Path>) -> App {
        match directory {
            Some(directory) => App { cwd: Ok(directory.to_owned()), ..self.app.clone() },
            None => self.app.clone(),
        }
    }
}

/// A read on a worker thread.
pub(crate) struct Job(Box<dyn FnOnce(&Services) -> Answer + Send>);

impl Job {
    /// What `read` gives back is the answer that the screen gets.
    pub(crate) fn new<T: Any + Send>(read: impl FnOnce(&Services) -> T + Send + 'static) -> Self {
        Self(Box::new(|services| Box::new(read(services))))
    }

    pub(crate) fn run(self, services: &Services) -> Answer {
        (self.0)(services)
    }
}

/// What a thread of a screen does.
type Run = Box<dyn FnOnce(&Services, &Feeder) + Send>;

/// A thread of a screen.
pub(crate) struct Feed {
    pub(crate) bell: Bell,
    run: Run,
}

impl Feed {
    /// `run` waits for `bell` ([`Feeder::wait`]), which it may hand to the hub and which the screen can ring, too; it ends when it
    /// is told that the screen is closed.
    pub(crate) fn new(bell: Bell, run: impl FnOnce(&Services, &Feeder) + Send + 'static) -> Self {
        Self { bell, run: Box::new(run) }
    }

    pub(crate) fn run(self, services: &Services, feeder: &Feeder) {
        (self.run)(services, feeder);
    }
}

/// A feed's way to its screen.
pub(crate) struct Feeder {
    screen: ScreenId,
    bell: Bell,
    closed: Arc<AtomicBool>,
    messages: SyncSender<Message>,
}

/// The screen is closed: nobody wants to hear any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl Feeder {
    pub(crate) fn new(
        screen: ScreenId,
        bell: Bell,
        closed: Arc<AtomicBool>,
        messages: SyncSender<Message>,
    ) -> Self {
        Self { screen, bell, closed, messages }
    }

    /// Tells the screen. Waits while the screen is behind: send what is new as one value, not one by one.
    pub(crate) fn send(&self, news: impl Any + Send) -> Result<(), Closed> {
        if self.is_closed() {
            return Err(Closed);
        }
        let message = Message::Answered { screen: self.screen, answer: Box::new(news) };
        self.messages.send(message).map_err(|_| Closed)
    }

    /// Sleeps until the bell rings, or for so long; then the bell is silent, so look what is new.
    pub(crate) fn wait(&self, at_most: Option<std::time::Duration>) -> Result<(), Closed> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        if self.is_closed() {
            return Err(Closed);
        }
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let mut ready = [PollFd::new(&self.bell, PollFlags::IN)];
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(Closed),
        }
        self.bell.silence();
        if self.is_closed() { Err(Closed) } else { Ok(()) }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

/// A line that is said once, until the next key or for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) kind: NoticeKind,
    pub(crate) text: String,
}

/// How serious it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    Done,
    Info,
    /// It was not done, and why.
    Problem,
}

impl Notice {
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { kind: NoticeKind::Done, text: text.into() }
    }

    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self { kind: NoticeKind::Info, text: text.into() }
    }

    pub(crate) fn problem(text: impl Into<String>) -> Self {
        Self { kind: NoticeKind::Problem, text: text.into() }
    }
}

/// Another program that gets the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// This program with these arguments, such as `attach NAME`. `pause`: its last lines can be read before the screen comes back.
    Ourselves { args: Vec<String>, directory: Option<PathBuf>, pause: Pause },
    /// What an operation found out, such as the agent's own session in a task's place.
    Plan(TerminalPlan),
    /// The user's editor, on what this program prints when it is given these arguments, such as `logs NAME`.
    EditOutput { args: Vec<String>, directory: Option<PathBuf>, name: String },
    /// The user's editor, on a text.
    EditText { text: String, name: String },
}

/// Whether Enter is waited for before the screen comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    ForEnter,
    /// Only where it failed, so that its error can be read.
    IfFailed,
}
