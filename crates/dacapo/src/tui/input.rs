//! What the user types and what the system signals, read by a thread of its own that sleeps until there is something.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::low_level::pipe;

use super::key::Key;
use super::message::{Message, Signal};
use super::mouse::Mouse;
use super::terminal::Restore;

/// A loop that hangs, such as one that writes to a terminal that is stopped, gets so long to end.
const GRACE: Duration = Duration::from_secs(1);

/// The thread, and how it is kept from reading what is typed for another program.
pub(super) struct Input {
    shared: Arc<Shared>,
    nudge: UnixStream,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Reading,
    /// It shall read nothing.
    Asked,
    /// It has stopped reading.
    Paused,
}

impl Input {
    pub(super) fn start(messages: SyncSender<Message>, restore: Restore) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let (nudge, nudged) = UnixStream::pair()?;
        nudged.set_nonblocking(true)?;
        let signals = Signals::listen()?;
        let reader = Reader { shared: Arc::clone(&shared), nudged, signals, messages, restore };
        std::thread::Builder::new().name("input".into()).spawn(move || reader.run())?;
        Ok(Self { shared, nudge })
    }

    /// From when this returns until [`Input::go_on`] no key is taken from the terminal.
    pub(super) fn pause(&self) {
        let mut state = self.lock();
        if *state == State::Paused {
            return;
        }
        *state = State::Asked;
        let _ = (&self.nudge).write(&[1]);
        // Waited for, because a key that is read after this was typed for the other program.
        while *state == State::Asked {
            let (now, waited) =
                self.shared.changed.wait_timeout(state, GRACE).unwrap_or_else(PoisonError::into_inner);
            state = now;
            // A thread that has ended reads nothing either.
            if waited.timed_out() {
                return;
            }
        }
    }

    pub(super) fn go_on(&self) {
        *self.lock() = State::Reading;
        let _ = (&self.nudge).write(&[1]);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Signals as descriptors, so that one wait is enough for everything.
struct Signals {
    terminate: UnixStream,
    hang_up: UnixStream,
    interrupt: UnixStream,
    stop: UnixStream,
    resize: UnixStream,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let stream = |signal: i32| {
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            pipe::register(signal, theirs)?;
            Ok::<_, io::Error>(ours)
        };
        Ok(Self {
            terminate: stream(SIGTERM)?,
            hang_up: stream(SIGHUP)?,
            interrupt: stream(SIGINT)?,
            stop: stream(SIGTSTP)?,
            resize: stream(SIGWINCH)?,
        })
    }
}

fn came(stream: &UnixStream) -> bool {
    let mut bytes = [0_u8; 64];
    (&*stream).read(&mut bytes).is_ok_and(|count| count > 0)
}

struct Reader {
    shared: Arc<Shared>,
    nudged: UnixStream,
    signals: Signals,
    messages: SyncSender<Message>,
    restore: Restore,
}

/// The loop does not listen any more.
struct Over;

/// What ended the sleep.
enum Woken {
    /// Something was typed.
    ByTerminal,
    TerminalGone,
    /// A signal, or the loop.
    Otherwise,
}

/// Whether there was something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Typed {
    Something,
    Nothing,
}

/// The library is told only once that there is something to read, and forgets it where a resize was heard of at the same moment:
/// then keys would lie there until the next one comes. Setting the terminal to what it is has the system tell it again.
fn wake_parser() {
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    if let Ok(as_it_is) = tcgetattr(io::stdin()) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &as_it_is);
    }
}

impl Reader {
    fn run(self) {
        let _ = self.read();
    }

    fn read(&self) -> Result<(), Over> {
        loop {
            let woken = self.sleep()?;
            // Emptied before the state is looked at, so that a nudge which comes after that ends the next sleep.
            came(&self.nudged);
            let resized = self.signalled()?;
            match woken {
                Woken::ByTerminal if self.is_reading() => {
                    if self.typed()? == Typed::Nothing {
                        wake_parser();
                    }
                }
                // The library hears of resizes, too, and would take this one for the next key.
                Woken::Otherwise if resized && self.is_reading() => drop(self.typed()?),
                Woken::ByTerminal | Woken::Otherwise => {}
                Woken::TerminalGone => self.end(128 + 1)?,
            }
        }
    }

    fn sleep(&self) -> Result<Woken, Over> {
        let reading = self.is_reading();
        let stdin = io::stdin();
        let Signals { terminate, hang_up, interrupt, stop, resize } = &self.signals;
        let mut wanted: Vec<PollFd<'_>> = [&self.nudged, terminate, hang_up, interrupt, stop, resize]
            .into_iter()
            .map(|stream| PollFd::new(stream, PollFlags::IN))
            .collect();
        if reading {
            wanted.push(PollFd::new(&stdin, PollFlags::IN));
        }
        match poll(&mut wanted, None) {
            Ok(_) => {
                let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                let told =
                    wanted.last().filter(|_| reading).map(PollFd::revents).unwrap_or(PollFlags::empty());
                Ok(match told {
                    told if told.intersects(gone) => Woken::TerminalGone,
                    told if told.is_empty() => Woken::Otherwise,
                    _ => Woken::ByTerminal,
                })
            }
            Err(rustix::io::Errno::INTR) => Ok(Woken::Otherwise),
            Err(_) => Err(Over),
        }
    }

    fn is_reading(&self) -> bool {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Asked {
            *state = State::Paused;
            self.shared.changed.notify_all();
        }
        *state == State::Reading
    }

    /// True: the terminal has another size.
    fn signalled(&self) -> Result<bool, Over> {
        let signals = &self.signals;
        if came(&signals.terminate) {
            self.end(128 + 15)?;
        }
        if came(&signals.hang_up) {
            self.end(128 + 1)?;
        }
        // While another program has the terminal, Ctrl-C and Ctrl-Z there are meant for it.
        let ours = self.is_reading();
        if came(&signals.interrupt) && ours {
            self.send(Message::Signal(Signal::Interrupt))?;
        }
        if came(&signals.stop) && ours {
            self.send(Message::Signal(Signal::Stop))?;
        }
        let resized = came(&signals.resize) && ours;
        if resized {
            let size = rustix::termios::tcgetwinsize(io::stdin());
            let (columns, rows) = size.map_or((80, 24), |size| (size.ws_col, size.ws_row));
            self.send(Message::Resized { columns, rows })?;
        }
        Ok(resized)
    }

    /// Has the loop end; where it does not, ends the process.
    fn end(&self, exit_code: u8) -> Result<(), Over> {
        // Without waiting: the queue may be full because the loop hangs, and then the process is ended below.
        let _ = self.messages.try_send(Message::Signal(Signal::End { exit_code }));
        // The process ends meanwhile; this thread has nothing else to do.
        std::thread::sleep(GRACE);
        self.restore.leave();
        std::process::exit(exit_code.into());
    }

    /// All that can be read without waiting.
    fn typed(&self) -> Result<Typed, Over> {
        let mut typed = Typed::Nothing;
        while event::poll(Duration::ZERO).map_err(|_| Over)? {
            typed = Typed::Something;
            match event::read().map_err(|_| Over)? {
                Event::Key(key) => {
                    if let Some(key) = Key::parse(key) {
                        self.send(Message::Key(key))?;
                    }
                }
                Event::Paste(text) => self.send(Message::Pasted(text))?,
                // The terminal tells of it only where it was asked to.
                Event::Mouse(mouse) => {
                    if let Some(mouse) = Mouse::parse(mouse) {
                        self.send(Message::Mouse(mouse))?;
                    }
                }
                // Resizes are heard as a signal; focus is not asked for.
                Event::Resize(..) | Event::FocusGained | Event::FocusLost => {}
            }
        }
        Ok(typed)
    }

    fn send(&self, message: Message) -> Result<(), Over> {
        self.messages.send(message).map_err(|_| Over)
    }
}
