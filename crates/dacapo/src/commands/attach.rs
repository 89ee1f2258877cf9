//! `dacapo attach`: a task that another process drives, shown as if it ran here (S2). Ctrl-C asks what to do with it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use dacapo_app::messages::say;
use dacapo_app::operations::follow::not_followed;
use dacapo_app::operations::run::exit_code;
use dacapo_core::engine::Sink;
use dacapo_core::event::{Command, Envelope, Event};
use dacapo_core::follow::{Bell, Follow, Hub, Item, Opening};
use dacapo_core::store::{TaskDir, read};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use crate::args::{Attach, Show};
use crate::commands::Console;
use crate::error::Failure;
use crate::inside_task;
use crate::output::Fan;
use crate::output::human::{AlreadyShown, Human, SoFar};
use crate::output::jsonl::JsonLines;
use crate::output::log::Tracing;
use crate::output::report;
use crate::output::shown::Shown;
use crate::terminal::{Key, Keys, is_ready};

/// How much of what the agent did last is shown to somebody who comes in the middle of a turn.
pub(super) const RECENT: usize = 5;

/// How many items are shown before anybody else is listened to.
const AT_ONCE: usize = 256;

/// Who leaves before the task has ended does not know how it ends; only 0 would say that it is completed.
const LEFT: u8 = 130;

pub(super) fn run(app: &Console, args: &Attach) -> Result<u8, Failure> {
    let (_, dir) = app.task(args.name.as_deref())?;
    attach(app, &dir, args.show, AlreadyShown::Nothing)
}

/// Shows the task until it ends; its exit code.
pub(super) fn attach(app: &Console, dir: &TaskDir, show: Show, told: AlreadyShown) -> Result<u8, Failure> {
    // Before anything is shown: Ctrl-C from here on is a question, not the end of the process.
    let signals = Signals::listen()?;
    let unable = |error: std::io::Error| {
        let name = dir.name();
        Failure::failed(say(|m| m.attach_cannot_watch(&name, &error.to_string())))
            .kept(say(|m| m.kept_task_goes_on()))
            .hint(say(|m| m.attach_wait_instead(&name)))
    };
    let hub = Hub::new().map_err(unable)?;
    let opening = match show {
        Show { json: true, .. } => Opening::Start,
        Show { quiet: true, .. } => Opening::Tail(0),
        Show { json: false, quiet: false } => Opening::Tail(RECENT),
    };
    let mut follow = app.follow(&hub, dir, opening)?;
    let driven = follow.is_driven();
    let ended_before = ended_at(dir);
    let spec = std::sync::Arc::clone(follow.spec());
    let mut surface = Surface { tracing: Tracing::of(&spec, app.kinds), json: None, human: None };
    let mut shown = Shown::default();
    match show {
        Show { json: true, .. } => surface.json = Some(JsonLines::new(dir.path())),
        Show { quiet: true, .. } => {
            let _ = catch_up(dir, &mut follow, |line| shown.pass_over(line))?;
        }
        Show { json: false, quiet: false } => {
            let mut so_far = SoFar::new(&spec, app.kinds);
            let first = catch_up(dir, &mut follow, |line| {
                so_far.see(line);
                shown.pass_over(line);
            })?;
            match shown.end() {
                Some((_, result)) if !driven => {
                    app.print(&report::result(so_far.view(), result, app.messages));
                    return Ok(exit_code(result, &spec.place));
                }
                _ => surface.human = Some(Human::attached(so_far, &spec, dir.path(), told, app.messages)),
            }
            shown.show(&first, &mut surface.fan());
        }
    }
    let alarm = surface.alarm().map_err(unable)?;
    let bell = Bell::new().map_err(unable)?;
    follow.ring(&bell);
    let mut attachment = Attachment {
        app,
        dir,
        follow,
        bell,
        shown,
        surface,
        alarm,
        signals,
        keys: None,
        ended_before: ended_before.filter(|_| driven),
    };
    let end = attachment.follow();
    if !matches!(end, Ok(End::Signal | End::Detached)) {
        attachment.take_question_away();
        attachment.surface.finish();
    }
    match end? {
        End::Task => match attachment.shown.end() {
            Some((_, result)) => Ok(exit_code(result, &spec.place)),
            None => Err(app.interrupted(dir)),
        },
        End::Detached => Ok(attachment.detached()),
        End::Signal | End::NobodyReads => Ok(LEFT),
    }
}

/// Takes in all events that are on record; what comes behind them is given back.
pub(super) fn catch_up(
    dir: &TaskDir,
    follow: &mut Follow,
    mut each: impl FnMut(&Envelope),
) -> Result<Item, Failure> {
    loop {
        match follow.next(None).map_err(|error| not_followed(dir, &error))? {
            Some(Item::Event(line)) => each(&line),
            Some(other) => return Ok(other),
            // Without a deadline it is only cancelled, which nobody does here.
            None => return Ok(Item::CaughtUp),
        }
    }
}

/// The event by which the task has ended, unless it was taken up again since.
fn ended_at(dir: &TaskDir) -> Option<u64> {
    let mut end = None;
    let _ = read(&dir.journal_path(), |line| match line.event {
        Event::TaskFinished(_) => end = Some(line.seq),
        Event::TaskStarted { .. } | Event::Resumed { .. } => end = None,
        _ => {}
    });
    end
}

/// How an attachment ends.
enum End {
    /// The task has ended, or its process is gone.
    Task,
    /// The user is not interested any more.
    Detached,
    /// We are to end.
    Signal,
    /// What is printed goes nowhere.
    NobodyReads,
}

struct Attachment<'a> {
    app: &'a Console,
    dir: &'a TaskDir,
    follow: Follow,
    /// Rings when it has something.
    bell: Bell,
    shown: Shown,
    surface: Surface,
    /// Wakes us when nobody reads any more; the reader may go while the task is silent.
    alarm: Option<OwnedFd>,
    signals: Signals,
    /// Reads single keys while a question is open.
    keys: Option<Keys>,
    /// The task had ended and somebody takes it up again: this end is none.
    ended_before: Option<u64>,
}

impl Attachment<'_> {
    fn follow(&mut self) -> Result<End, Failure> {
        let mut over = false;
        let mut next_tick = Instant::now();
        loop {
            over |= self.show_news()?;
            let up_to_date = self.follow.is_up_to_date();
            let ended = self.shown.end().is_some_and(|(seq, _)| Some(seq) != self.ended_before);
            if over || (up_to_date && ended) {
                return Ok(End::Task);
            }
            if self.surface.is_gone() {
                return Ok(End::NobodyReads);
            }
            let sleep = match (up_to_date, self.surface.fan().tick_every()) {
                (false, _) => Some(Duration::ZERO),
                (true, Some(_)) => Some(next_tick.saturating_duration_since(Instant::now())),
                (true, None) => None,
            };
            self.sleep(sleep)?;
            if let Some(end) = self.signalled().or_else(|| self.answered()) {
                return Ok(end);
            }
            if let Some(every) = self.surface.fan().tick_every()
                && next_tick <= Instant::now()
            {
                self.surface.fan().tick();
                next_tick = Instant::now() + every;
            }
        }
    }

    /// True: nobody drives the task any more, and all that it said has been shown.
    fn show_news(&mut self) -> Result<bool, Failure> {
        // Before the look, so that what comes meanwhile rings again.
        self.bell.silence();
        let mut fan = self.surface.fan();
        for _ in 0..AT_ONCE {
            let item = self.follow.next(Some(Instant::now()));
            match item.map_err(|error| not_followed(self.dir, &error))? {
                Some(Item::Over(_)) => return Ok(true),
                Some(item) => self.shown.show(&item, &mut fan),
                None => break,
            }
        }
        Ok(false)
    }

    fn sleep(&mut self, at_most: Option<Duration>) -> Result<(), Failure> {
        let mut wanted = vec![self.bell.as_fd(), self.signals.interrupt.as_fd(), self.signals.end.as_fd()];
        wanted.extend(self.keys.as_ref().map(|keys| keys.as_fd()));
        wanted.extend(self.alarm.as_ref().map(|alarm| alarm.as_fd()));
        let mut wanted: Vec<PollFd<'_>> =
            wanted.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        match poll(&mut wanted, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => {
                let name = self.dir.name();
                Err(Failure::failed(say(|m| m.wait_cannot_for(&name, &error.to_string())))
                    .kept(say(|m| m.kept_task_goes_on())))
            }
        }
    }

    fn signalled(&mut self) -> Option<End> {
        if self.signals.ended() {
            return Some(End::Signal);
        }
        if !self.signals.interrupted() {
            return None;
        }
        self.keys = self.surface.human.as_ref().filter(|human| human.is_live()).and_then(|_| Keys::open());
        if self.keys.is_none() {
            return Some(End::Detached);
        }
        if let Some(human) = &mut self.surface.human {
            human.hold(Some(&self.app.messages.attach_question()));
        }
        None
    }

    fn answered(&mut self) -> Option<End> {
        let keys = self.keys.as_mut().filter(|keys| is_ready(&**keys))?;
        let key = keys.read().unwrap_or(Key::Leave);
        let name = self.dir.name();
        let messages = self.app.messages;
        let order = match key {
            Key::Char('d') | Key::Leave => {
                self.take_question_away();
                return Some(End::Detached);
            }
            Key::Char('s') => Some((Command::Pause { now: false }, messages.attach_stops(&name))),
            Key::Char('k') => Some((Command::Kill, messages.attach_kills())),
            Key::Enter => None,
            Key::Char(_) | Key::Other => return None,
        };
        self.take_question_away();
        let (command, words) = order?;
        // An agent may attach to a task, but not end it by the same door.
        let may = if command == Command::Kill { inside_task::refuse_order(self.app, "kill") } else { Ok(()) };
        let words = match may.map(|()| self.dir.inbox().put("dacapo attach", command)) {
            Ok(Ok(_)) => words,
            Ok(Err(error)) => messages.attach_cannot_tell(&error.to_string()),
            Err(refused) => refused.message.in_words(messages).to_owned(),
        };
        if let Some(human) = &mut self.surface.human {
            human.note(&words);
        }
        None
    }

    fn take_question_away(&mut self) {
        if self.keys.take().is_some()
            && let Some(human) = &mut self.surface.human
        {
            human.hold(None);
        }
    }

    fn detached(&mut self) -> u8 {
        let words = self.app.messages.attach_detached(&self.dir.name());
        match &mut self.surface.human {
            Some(human) => {
                human.leave(&words);
                human.finish();
            }
            None => complain!("{words}"),
        }
        LEFT
    }
}

/// What is shown, and to whom.
struct Surface {
    tracing: Tracing,
    json: Option<JsonLines>,
    human: Option<Human>,
}

impl Surface {
    fn fan(&mut self) -> Fan<'_> {
        // As in the foreground: who is told by words for people does not need the log's.
        let logged = self.human.is_none() || std::env::var_os("DACAPO_LOG").is_some();
        let mut sinks: Vec<&mut dyn Sink> = Vec::new();
        sinks.extend(logged.then_some(&mut self.tracing as &mut dyn Sink));
        sinks.extend(self.json.as_mut().map(|json| json as &mut dyn Sink));
        sinks.extend(self.human.as_mut().map(|human| human as &mut dyn Sink));
        Fan(sinks)
    }

    /// Who reads gets time to take the rest.
    fn finish(&mut self) {
        self.json.iter_mut().for_each(JsonLines::finish);
        self.human.iter_mut().for_each(Human::finish);
    }

    fn alarm(&self) -> io::Result<Option<OwnedFd>> {
        match (&self.json, &self.human) {
            (Some(json), _) => json.alarm().map(Some),
            (None, Some(human)) => human.alarm().map(Some),
            (None, None) => Ok(None),
        }
    }

    fn is_gone(&self) -> bool {
        self.json.as_ref().is_some_and(JsonLines::is_gone) || self.human.as_ref().is_some_and(Human::is_gone)
    }
}

/// Signals as descriptors, so that one wait is enough for everything.
struct Signals {
    interrupt: UnixStream,
    end: UnixStream,
}

impl Signals {
    fn listen() -> Result<Self, Failure> {
        let unable =
            |error: std::io::Error| Failure::failed(say(|m| m.attach_no_signals(&error.to_string())));
        let stream = |signals: &[i32]| {
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            for signal in signals {
                pipe::register(*signal, theirs.try_clone()?)?;
            }
            Ok(ours)
        };
        Ok(Self {
            interrupt: stream(&[SIGINT]).map_err(unable)?,
            end: stream(&[SIGTERM, SIGHUP]).map_err(unable)?,
        })
    }

    fn interrupted(&self) -> bool {
        came(&self.interrupt)
    }

    fn ended(&self) -> bool {
        came(&self.end)
    }
}

fn came(stream: &UnixStream) -> bool {
    use std::io::Read as _;
    let mut bytes = [0_u8; 64];
    (&*stream).read(&mut bytes).is_ok_and(|count| count > 0)
}
