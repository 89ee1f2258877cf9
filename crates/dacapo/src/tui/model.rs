//! All that the application knows and shows: screens on top of each other, the tasks, what was said last. What happens comes in
//! as a [`Message`], what is to be done goes out as effects; nothing here touches the world.

use dacapo_app::note::Note;
use dacapo_app::operations::act::OperationResult;
use dacapo_app::operations::list::Scope;
use dacapo_app::present::notes;
use dacapo_app::question::NotYet;
use dacapo_core::overview::Brief;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::Size;

use super::acting::{self, Acting};
use super::actions;
use super::chrome;
use super::command_line::CommandLine;
use super::effect::{Act, Effect, Foreign, Notice};
use super::glyphs::Glyphs;
use super::help::Help;
use super::key::Key;
use super::live::Tasks;
use super::message::{Message, ScreenId, Signal};
use super::mouse::Did;
use super::question::QuestionCard;
use super::screen::{Context, Go, Reply, Screen, Shape};
use super::stack::Stack;
use super::theme::Theme;
use crate::messages::Messages;

/// What never changes while the application runs.
#[derive(Debug, Clone)]
pub(crate) struct Outfit {
    pub(crate) messages: Messages,
    pub(crate) theme: Theme,
    pub(crate) glyphs: Glyphs,
    pub(crate) zone: TimeZone,
    /// The checkout around the user's directory.
    pub(crate) top: Option<String>,
}

pub(crate) struct Model {
    outfit: Outfit,
    tasks: Tasks,
    screens: Stack,
    notice: Option<Notice>,
    /// The task that the notice says is running: true no longer than it is.
    said_running: Option<SaidRunning>,
    /// Operations that are under way.
    acting: Acting,
    warned: Warned,
    now: Timestamp,
    size: Size,
    /// Counts whatever may have changed the picture.
    version: u64,
}

/// Whether the last key was one to quit by, and the user was told what the next one does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Warned {
    JustNow,
    #[default]
    No,
}

/// A task that was said to run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SaidRunning {
    task: String,
    /// It was seen at work since. One that was resumed may be listed as ended for a moment.
    seen: bool,
}

impl SaidRunning {
    fn by(done: &OperationResult) -> Option<Self> {
        if let OperationResult::Started { task, .. } = done {
            return Some(Self { task: task.clone(), seen: true });
        }
        let OperationResult::Resumed { task, .. } = done else { return None };
        Some(Self { task: task.clone(), seen: false })
    }
}

/// Something to be done, and the screen that wants it.
pub(crate) struct Wanted {
    pub(crate) screen: ScreenId,
    pub(crate) effect: Effect,
}

impl Model {
    pub(crate) fn new(outfit: Outfit, scope: Scope, size: Size, now: Timestamp) -> Self {
        Self {
            outfit,
            tasks: Tasks::new(scope),
            screens: Stack::default(),
            notice: None,
            said_running: None,
            acting: Acting::default(),
            warned: Warned::No,
            now,
            size,
            version: 0,
        }
    }

    /// Changes whenever the picture may have.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Opens a screen on top.
    pub(crate) fn open(&mut self, screen: Box<dyn Screen>) -> Vec<Wanted> {
        self.version += 1;
        let id = self.screens.open(screen);
        self.ask(id, |screen, context| screen.opened(context))
    }

    /// The screens that are open; feeds of any other one end.
    pub(crate) fn is_open(&self, screen: ScreenId) -> bool {
        self.screens.is_open(screen)
    }

    /// Takes in what happened; what is to be done because of it.
    pub(crate) fn update(&mut self, message: Message, now: Timestamp) -> Vec<Wanted> {
        self.now = now;
        self.version += 1;
        match message {
            Message::Key(key) => self.key(key),
            Message::Mouse(mouse) => {
                if mouse.did == Did::Press {
                    self.notice = None;
                }
                self.ask_top(|screen, context| screen.mouse(mouse, context))
            }
            Message::Pasted(text) => {
                (self.notice, self.said_running) = (None, None);
                self.ask_top(|screen, context| screen.pasted(&text, context))
            }
            Message::Resized { columns, rows } => {
                self.size = Size::new(columns, rows);
                self.ask_all(|screen, context| screen.resized(context))
            }
            Message::Tasks(news) => {
                self.tasks.take(news);
                self.forget_what_ran();
                self.ask_all(|screen, context| screen.tasks_changed(context))
            }
            Message::Answered { screen, answer } => {
                self.ask(screen, |screen, context| screen.answered(answer, context))
            }
            Message::Acted { act, came } => self.acted(act, *came),
            Message::Noted(note) => {
                self.noted(&note);
                Vec::new()
            }
            Message::Returned { problem } => {
                (self.notice, self.said_running) = (problem.map(Notice::problem), None);
                Vec::new()
            }
            Message::Tick => self.ask_all(|screen, context| screen.ticked(context)),
            Message::Signal(Signal::Interrupt) => self.key(Key::Ctrl('c')),
            Message::Signal(Signal::Stop) => self.wanted(Effect::Suspend),
            Message::Signal(Signal::End { exit_code }) => self.wanted(Effect::Quit { exit_code }),
        }
    }

    fn key(&mut self, key: Key) -> Vec<Wanted> {
        (self.notice, self.said_running) = (None, None);
        let warned = std::mem::take(&mut self.warned);
        if let Some(why) = self.not_now(key) {
            self.notice = Some(Notice::info(why));
            return Vec::new();
        }
        let Some(top) = self.screens.top() else { return Vec::new() };
        let Some(reply) = self.reply(top, |screen, context| screen.key(key, context)) else {
            return Vec::new();
        };
        if reply.unused {
            return self.own_key(key, warned);
        }
        self.carry(top, reply)
    }

    /// Why a key does nothing now, where the screen knows it.
    fn not_now(&self, key: Key) -> Option<String> {
        let top = self.screens.screens().next_back()?;
        if top.takes_text() {
            return None;
        }
        let keys = top.keys(&self.context());
        keys.into_iter().find(|binding| binding.keys.contains(&key))?.not_now
    }

    /// Keys that mean the same everywhere.
    fn own_key(&mut self, key: Key, warned: Warned) -> Vec<Wanted> {
        let messages = self.outfit.messages;
        match key {
            Key::Char('?') | Key::Function(1) => {
                let Some(top) = self.screens.screens().next_back() else { return Vec::new() };
                let help = Help::of(top, &self.context());
                self.open(Box::new(help))
            }
            Key::Char('/' | ':') => {
                let context = self.context();
                let line = CommandLine::new(self.selected(&context), &context);
                self.open(Box::new(line))
            }
            Key::Char('q') => self.quit(warned),
            Key::Ctrl('c') if warned == Warned::JustNow => self.wanted(Effect::Quit { exit_code: 0 }),
            Key::Esc | Key::Ctrl('c') if self.is_above_home() => {
                self.screens.top().into_iter().for_each(|top| self.screens.close(top));
                Vec::new()
            }
            Key::Ctrl('c') if !self.acting.is_idle() => {
                self.notice = Some(Notice::info(messages.tui_cancelling(&self.acting.words())));
                self.wanted(Effect::Cancel)
            }
            Key::Ctrl('c') => {
                self.warned = Warned::JustNow;
                self.notice = Some(Notice::info(messages.tui_ctrl_c_again()));
                Vec::new()
            }
            Key::Ctrl('z') => self.wanted(Effect::Suspend),
            Key::Ctrl('l') => self.wanted(Effect::Redraw),
            _ => Vec::new(),
        }
    }

    /// What is under way goes on without us, but nobody would say what came of it.
    fn quit(&mut self, warned: Warned) -> Vec<Wanted> {
        let under_way = self.acting.long_words();
        if under_way.is_empty() || warned == Warned::JustNow {
            return self.wanted(Effect::Quit { exit_code: 0 });
        }
        self.warned = Warned::JustNow;
        self.notice = Some(Notice::info(self.outfit.messages.tui_quit_while_acting(&under_way)));
        Vec::new()
    }

    fn acted(&mut self, act: Act, came: Result<OperationResult, NotYet>) -> Vec<Wanted> {
        let messages = self.outfit.messages;
        self.acting.ended(&act);
        match came {
            Ok(OperationResult::ToRun { plan }) => self.wanted(Effect::Run(Foreign::Plan(plan))),
            Ok(done) => {
                let words = acting::done(&act.operation, &done, messages);
                self.said_running = SaidRunning::by(&done);
                self.notice =
                    Some(if acting::is_whole(&done) { Notice::done(words) } else { Notice::problem(words) });
                self.ask_all(|screen, context| screen.acted(&done, context))
            }
            Err(NotYet::Ask(question)) => self.open(Box::new(QuestionCard::new(act, *question))),
            Err(NotYet::Refused(failure)) => {
                self.said_running = None;
                self.notice = Some(Notice::problem(failure.shown(messages).to_string()));
                Vec::new()
            }
        }
    }

    /// Takes the words back that a task is running, when it is not any more.
    fn forget_what_ran(&mut self) {
        let Some(said) = &mut self.said_running else { return };
        let mut named = self.tasks.entries.iter().filter(|entry| entry.brief.name == said.task);
        let Some(entry) = named.next() else { return };
        if actions::is_driven(&entry.brief) {
            said.seen = true;
        } else if said.seen {
            self.said_running = None;
            self.notice = None;
        }
    }

    fn noted(&mut self, note: &Note) {
        match note {
            Note::Merging { task, now } => self.acting.merging(task, now, self.outfit.messages),
            other => {
                self.said_running = None;
                self.notice = Some(Notice::info(notes::line(other, self.outfit.messages)));
            }
        }
    }

    fn is_above_home(&self) -> bool {
        self.screens.top().is_some_and(|top| self.screens.below(top).is_some())
    }

    fn selected<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        self.screens.screens().rev().find_map(|screen| screen.task(context))
    }

    #[cfg(test)]
    pub(super) fn selected_task(&self) -> Option<&Brief> {
        self.selected(&self.context())
    }

    fn wanted(&self, effect: Effect) -> Vec<Wanted> {
        let screen = self.screens.top().unwrap_or(ScreenId(0));
        vec![Wanted { screen, effect }]
    }

    fn ask_top(&mut self, what: impl FnOnce(&mut dyn Screen, &Context<'_>) -> Reply) -> Vec<Wanted> {
        self.screens.top().map(|top| self.ask(top, what)).unwrap_or_default()
    }

    fn ask_all(&mut self, what: impl Fn(&mut dyn Screen, &Context<'_>) -> Reply) -> Vec<Wanted> {
        self.screens.ids().into_iter().flat_map(|screen| self.ask(screen, &what)).collect()
    }

    /// Lets one screen say what it wants, and does that.
    fn ask(
        &mut self,
        screen: ScreenId,
        what: impl FnOnce(&mut dyn Screen, &Context<'_>) -> Reply,
    ) -> Vec<Wanted> {
        self.reply(screen, what).map(|reply| self.carry(screen, reply)).unwrap_or_default()
    }

    /// What a screen says; nothing, if it is closed.
    fn reply(
        &mut self,
        screen: ScreenId,
        what: impl FnOnce(&mut dyn Screen, &Context<'_>) -> Reply,
    ) -> Option<Reply> {
        let context = context(&self.outfit, &self.tasks, self.now, self.size);
        self.screens.get_mut(screen).map(|screen| what(screen, &context))
    }

    /// Does what a screen wants: the model says and goes, all else is for the world.
    fn carry(&mut self, screen: ScreenId, reply: Reply) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        if let Some(notice) = reply.notice {
            (self.notice, self.said_running) = (Some(notice), None);
        }
        for effect in reply.effects {
            match effect {
                Effect::Follow(scope) => {
                    self.tasks = Tasks::new(scope);
                    wanted.push(Wanted { screen, effect: Effect::Follow(scope) });
                }
                Effect::Act(act) => {
                    self.acting.began(&act, self.outfit.messages);
                    wanted.push(Wanted { screen, effect: Effect::Act(act) });
                }
                effect @ (Effect::Read(_)
                | Effect::Feed(_)
                | Effect::Copy(_)
                | Effect::Run(_)
                | Effect::Suspend
                | Effect::Redraw
                | Effect::Cancel
                | Effect::Quit { .. }) => wanted.push(Wanted { screen, effect }),
            }
        }
        match reply.go {
            Go::Stay => {}
            Go::To(next) => wanted.extend(self.open(next)),
            Go::Instead(next) => {
                self.screens.close(screen);
                wanted.extend(self.open(next));
            }
            Go::Back => self.screens.close(screen),
            Go::BackWith(answer) => {
                if let Some(below) = self.screens.below(screen) {
                    self.screens.close(screen);
                    wanted.extend(self.ask(below, |screen, context| screen.answered(answer, context)));
                }
            }
            Go::Home => self.screens.close_all(),
        }
        wanted
    }

    pub(super) fn context(&self) -> Context<'_> {
        context(&self.outfit, &self.tasks, self.now, self.size)
    }

    /// When the picture changes although nothing happens.
    pub(crate) fn changes_at(&self) -> Option<Timestamp> {
        let context = self.context();
        self.screens.visible().filter_map(|screen| screen.changes_at(&context)).min()
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        let context = self.context();
        let visible: Vec<&dyn Screen> = self.screens.visible().collect();
        let pages: Vec<&dyn Screen> =
            self.screens.screens().filter(|screen| screen.shape() == Shape::Page).collect();
        let mut titles: Vec<String> = pages.iter().map(|screen| screen.crumb(&context)).collect();
        if let (Some(last), Some(top)) = (titles.last_mut(), pages.last()) {
            *last = top.title(&context);
        }
        chrome::draw(
            frame,
            &chrome::Picture { visible, titles, notice: self.notice.as_ref(), acting: self.acting.words() },
            &context,
        );
        self.outfit.glyphs.translate(frame.buffer_mut());
    }
}

fn context<'a>(outfit: &'a Outfit, tasks: &'a Tasks, now: Timestamp, size: Size) -> Context<'a> {
    Context {
        messages: outfit.messages,
        theme: outfit.theme,
        glyphs: outfit.glyphs,
        tasks,
        now,
        zone: &outfit.zone,
        top: outfit.top.as_deref(),
        page: chrome::page(size),
    }
}
