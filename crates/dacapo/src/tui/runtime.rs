//! The one loop: hears what happens, has the model take it in, has done what that wants, and draws when something changed. It
//! waits for nothing but the next message or the next change of a clock; all else is done by other threads.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use dacapo_app::operations::follow::Hub;
use dacapo_app::operations::list::Scope;
use dacapo_core::follow::Bell;
use jiff::Timestamp;
use tempfile::TempDir;

use super::effect::{Effect, Feed, Feeder, Services};
use super::follow_tasks;
use super::foreign;
use super::input::Input;
use super::message::{Message, ScreenId};
use super::model::{Model, Wanted};
use super::terminal::{MouseOf, Terminal};
use super::workers::Workers;
use crate::App;

/// How much may be waiting for the loop; who has more waits.
const QUEUE: usize = 256;
/// How many messages are taken in before a frame is drawn.
const AT_ONCE: usize = 64;
/// Frames are not drawn faster than this, however much happens.
const FRAME: Duration = Duration::from_millis(16);

/// What the loop works with.
pub(super) struct Runtime {
    services: Services,
    terminal: Terminal,
    input: Input,
    workers: Workers,
    sender: SyncSender<Message>,
    messages: Receiver<Message>,
    /// The threads of screens: how each is ended.
    feeds: HashMap<ScreenId, Vec<Stop>>,
    /// The thread that follows all tasks.
    tasks: Option<Stop>,
    /// What is shown in an editor: some go on when their window is open, so it stays until the end.
    scratch: TempDir,
}

/// Tells a thread to end when it is dropped.
struct Stop {
    closed: Arc<AtomicBool>,
    bell: Bell,
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        self.bell.ring();
    }
}

impl Runtime {
    pub(super) fn new(app: &App, mouse: MouseOf) -> io::Result<Self> {
        let (sender, messages) = sync_channel(QUEUE);
        let app = App { notes: note_listener(&sender), ..app.clone() };
        let services = Services { app, hub: Hub::new()? };
        // After everything that can fail without the screen, so that an error is seen on the ordinary one.
        let terminal = Terminal::enter(mouse)?;
        let input = Input::start(sender.clone(), terminal.restore())?;
        let workers = Workers::new(services.clone(), sender.clone());
        Ok(Self {
            services,
            terminal,
            input,
            workers,
            sender,
            messages,
            feeds: HashMap::new(),
            tasks: None,
            scratch: tempfile::tempdir()?,
        })
    }

    /// Shows the model until the user quits; the exit code.
    pub(super) fn run(mut self, mut model: Model, first: Vec<Wanted>) -> io::Result<u8> {
        if let Some(code) = self.carry_out(&mut model, first)? {
            return Ok(code);
        }
        let mut drawn = None;
        loop {
            let version = model.version();
            let at = Instant::now();
            if drawn != Some(version) {
                self.terminal.draw(|frame| model.draw(frame))?;
                drawn = Some(version);
            }
            let Some(message) = self.hear(&model) else { return Ok(0) };
            let mut next = Some(message);
            let mut taken = 0;
            while let Some(message) = next.take() {
                let wanted = model.update(message, Timestamp::now());
                if let Some(code) = self.carry_out(&mut model, wanted)? {
                    return Ok(code);
                }
                taken += 1;
                if taken < AT_ONCE {
                    next = self.messages.try_recv().ok();
                    // What comes in a stream is drawn together.
                    let left = FRAME.saturating_sub(at.elapsed());
                    if next.is_none() && taken > 1 && !left.is_zero() {
                        next = self.messages.recv_timeout(left).ok();
                    }
                }
            }
        }
    }

    /// Waits for the next thing that happens, or for a clock.
    fn hear(&self, model: &Model) -> Option<Message> {
        let Some(at) = model.changes_at() else { return self.messages.recv().ok() };
        let left = Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
        match self.messages.recv_timeout(left) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => Some(Message::Tick),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The exit code, where this is the end.
    fn carry_out(&mut self, model: &mut Model, wanted: Vec<Wanted>) -> io::Result<Option<u8>> {
        let mut wanted: std::collections::VecDeque<Wanted> = wanted.into();
        while let Some(Wanted { screen, effect }) = wanted.pop_front() {
            match effect {
                Effect::Act(act) => self.workers.act(act),
                Effect::Cancel => self.workers.cancel(),
                Effect::Read(job) => self.workers.read(screen, job),
                Effect::Feed(feed) => self.feed(screen, feed)?,
                Effect::Follow(scope) => self.follow(scope)?,
                Effect::Copy(text) => self.terminal.copy(&text)?,
                Effect::Run(foreign) => {
                    self.input.pause();
                    self.terminal.leave();
                    let problem = foreign::run(&self.services.app, &foreign, self.scratch.path()).err();
                    self.terminal.enter_again()?;
                    // Keys that were typed ahead of the other program were for it.
                    let meanwhile: Vec<Message> = self.messages.try_iter().collect();
                    self.input.go_on();
                    for message in meanwhile {
                        match message {
                            Message::Key(_) | Message::Pasted(_) => {}
                            other => wanted.extend(model.update(other, Timestamp::now())),
                        }
                    }
                    let returned = Message::Returned { problem };
                    wanted.extend(model.update(returned, Timestamp::now()));
                }
                Effect::Suspend => self.suspend()?,
                Effect::Redraw => self.terminal.redraw()?,
                Effect::Quit { exit_code } => return Ok(Some(exit_code)),
            }
        }
        // Dropping a `Stop` ends its thread, so a screen that was closed in any way leaves none behind.
        self.feeds.retain(|screen, _| model.is_open(*screen));
        Ok(None)
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.input.pause();
        self.terminal.leave();
        // The whole job, as the terminal itself would have done it; we go on here when the shell says so.
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::STOP);
        self.terminal.enter_again()?;
        self.input.go_on();
        Ok(())
    }

    fn feed(&mut self, screen: ScreenId, feed: Feed) -> io::Result<()> {
        let closed = Arc::<AtomicBool>::default();
        let stop = Stop { closed: Arc::clone(&closed), bell: feed.bell.clone() };
        let feeder = Feeder::new(screen, feed.bell.clone(), closed, self.sender.clone());
        let services = self.services.clone();
        std::thread::Builder::new().name("feed".into()).spawn(move || feed.run(&services, &feeder))?;
        self.feeds.entry(screen).or_default().push(stop);
        Ok(())
    }

    /// Follows the tasks of a scope from now on, and those of no other.
    fn follow(&mut self, scope: Scope) -> io::Result<()> {
        // Ends the thread before: news of the old scope that are on their way are dropped by `Tasks::take`.
        self.tasks = None;
        let (closed, bell) = (Arc::<AtomicBool>::default(), Bell::new()?);
        let stop = Stop { closed: Arc::clone(&closed), bell: bell.clone() };
        let (services, sender) = (self.services.clone(), self.sender.clone());
        std::thread::Builder::new()
            .name("tasks".into())
            .spawn(move || follow_tasks::run(&services, scope, &bell, &closed, &sender))?;
        self.tasks = Some(stop);
        Ok(())
    }
}

fn note_listener(sender: &SyncSender<Message>) -> dacapo_app::note::Notes {
    let sender = sender.clone();
    // Whoever is too far behind to hear of it has other things to show.
    dacapo_app::note::Notes::new(move |note| drop(sender.try_send(Message::Noted(note.clone()))))
}
