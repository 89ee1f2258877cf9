//! What every screen is: state that takes keys and news and replies with what is to be done, and a picture of that state.
//!
//! A screen touches nothing: no file, clock, process or terminal. What it wants is an [`Effect`] in its [`Reply`]; what came of
//! it comes back as an [`Answer`]. So each is driven and drawn in tests without a terminal.

use std::any::Any;
use std::path::PathBuf;

use dacapo_app::operations::act::OperationResult;
use dacapo_app::operations::list::Scope;
use dacapo_core::overview::Brief;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Rect, Size};

use super::effect::{Effect, Notice};
use super::glyphs::Glyphs;
use super::key::Key;
use super::live::Tasks;
use super::mouse::{Did, Mouse};
use super::theme::{Role, Theme};
use crate::messages::Messages;

/// What a screen may know beside its own state.
pub(crate) struct Context<'a> {
    pub(crate) messages: Messages,
    pub(crate) theme: Theme,
    /// The characters that this terminal has: pictures are translated to them, names of keys are chosen by them.
    pub(crate) glyphs: Glyphs,
    /// All tasks that are followed, as they are now.
    pub(crate) tasks: &'a Tasks,
    /// By the wall clock.
    pub(crate) now: Timestamp,
    pub(crate) zone: &'a TimeZone,
    /// The checkout around the user's directory.
    pub(crate) top: Option<&'a str>,
    /// The room that a page has, so that keys such as PgDn know how far to go.
    pub(crate) page: Size,
}

impl Context<'_> {
    pub(crate) fn style(&self, role: Role) -> ratatui::style::Style {
        self.theme.style(role)
    }

    /// Where commands about a task are given; none: where the user is. What is merged goes into the branch that is checked out
    /// there.
    pub(crate) fn directory_of(&self, brief: &Brief) -> Option<PathBuf> {
        let here = self.tasks.scope == Scope::Repository || self.top == Some(brief.repo.as_str());
        (!here).then(|| brief.repo.clone().into())
    }
}

/// How much of the terminal a screen takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// All of it, between title and keys.
    Page,
    /// A box over the page below it.
    Card,
    /// The lowest line, over the page below it.
    Line,
}

/// What a job, a feed or a card gave back: whoever asked knows its type.
pub(crate) type Answer = Box<dyn Any + Send>;

pub(crate) trait Screen {
    /// Where one is, for the top line: `fix-tests`. A page below it has said its own.
    fn title(&self, context: &Context<'_>) -> String;

    /// The same in a word, for when another page is on top of it.
    fn crumb(&self, context: &Context<'_>) -> String {
        self.title(context)
    }

    fn shape(&self) -> Shape {
        Shape::Page
    }

    /// Once, when it is opened: what it needs from the beginning.
    fn opened(&mut self, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// A key was pressed. One that means nothing here is handed back ([`Reply::unused`]): the application may know it.
    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply;

    /// The mouse did something. Where nothing else is said, the wheel goes up and down as the arrows do.
    fn mouse(&mut self, mouse: Mouse, context: &Context<'_>) -> Reply {
        match mouse.did {
            Did::WheelUp if !self.takes_text() => self.key(Key::Up, context),
            Did::WheelDown if !self.takes_text() => self.key(Key::Down, context),
            Did::WheelUp | Did::WheelDown | Did::Press | Did::Drag | Did::Release => Reply::default(),
        }
    }

    /// Text was pasted. Where there is no text to be typed it is nothing: no line of it is a command.
    fn pasted(&mut self, _: &str, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// Something that this screen asked for has come: of its jobs and feeds, or of a card that it opened.
    fn answered(&mut self, _: Answer, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// An operation that somebody asked for here was done; every screen hears of it.
    fn acted(&mut self, _: &OperationResult, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// Tasks have changed ([`Context::tasks`]).
    fn tasks_changed(&mut self, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// The terminal has another size ([`Context::page`]).
    fn resized(&mut self, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// The time has come that it named ([`Screen::changes_at`]), or another screen did.
    fn ticked(&mut self, _: &Context<'_>) -> Reply {
        Reply::default()
    }

    /// Draws what it is. A cursor is set where one types, so that input methods open there.
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>);

    /// The keys that mean something here, the most useful first: the lowest line shows as many as fit, `?` all of them.
    fn keys(&self, context: &Context<'_>) -> Vec<Binding>;

    /// Whether letters go into a text: then they are no keys, and no page of keys comes by `?`.
    fn takes_text(&self) -> bool {
        false
    }

    /// Whether nothing is below it: one leaves the application from here.
    fn is_home(&self) -> bool {
        false
    }

    /// The task that is selected: plain text in the command line goes to it, and commands without a name are about it.
    fn task<'a>(&self, _: &Context<'a>) -> Option<&'a Brief> {
        None
    }

    /// When the picture changes although nothing happens, such as a clock in it.
    fn changes_at(&self, _: &Context<'_>) -> Option<Timestamp> {
        None
    }
}

/// A key, and what it does here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    /// Keys that do the same, the one to show first.
    pub(crate) keys: Vec<Key>,
    pub(crate) what: String,
    /// Why it would do nothing now; such a key is shown by `?` alone, and says so when it is pressed.
    pub(crate) not_now: Option<String>,
}

impl Binding {
    pub(crate) fn new(key: Key, what: impl Into<String>) -> Self {
        Self { keys: vec![key], what: what.into(), not_now: None }
    }

    pub(crate) fn or(mut self, key: Key) -> Self {
        self.keys.push(key);
        self
    }

    pub(crate) fn not_now(mut self, why: Option<String>) -> Self {
        self.not_now = why;
        self
    }
}

/// What a screen wants to happen.
#[derive(Default)]
pub(crate) struct Reply {
    /// What the world is to do.
    pub(crate) effects: Vec<Effect>,
    /// What is said in the line of notices.
    pub(crate) notice: Option<Notice>,
    /// Where one is afterwards: the one way to open and close screens.
    pub(crate) go: Go,
    /// The key means nothing to this screen.
    pub(crate) unused: bool,
}

#[derive(Default)]
pub(crate) enum Go {
    #[default]
    Stay,
    /// Opens a screen on top of this one.
    To(Box<dyn Screen>),
    /// Closes this one, and opens another in its place.
    Instead(Box<dyn Screen>),
    Back,
    /// Closes this one, and gives the one below what it came to.
    BackWith(Answer),
    /// Closes every screen but the home screen.
    Home,
}

impl Reply {
    /// The key means nothing here.
    pub(crate) fn unused() -> Self {
        Self { unused: true, ..Self::default() }
    }

    pub(crate) fn effect(effect: Effect) -> Self {
        Self { effects: vec![effect], ..Self::default() }
    }

    /// Says something, and nothing else.
    pub(crate) fn say(words: impl Into<String>) -> Self {
        Self::notice(Notice::info(words))
    }

    pub(crate) fn notice(notice: Notice) -> Self {
        Self { notice: Some(notice), ..Self::default() }
    }

    /// Also says this.
    pub(crate) fn saying(self, notice: Notice) -> Self {
        Self { notice: Some(notice), ..self }
    }

    pub(crate) fn to(screen: impl Screen + 'static) -> Self {
        Self { go: Go::To(Box::new(screen)), ..Self::default() }
    }

    pub(crate) fn instead(screen: impl Screen + 'static) -> Self {
        Self { go: Go::Instead(Box::new(screen)), ..Self::default() }
    }

    pub(crate) fn back() -> Self {
        Self { go: Go::Back, ..Self::default() }
    }

    pub(crate) fn back_with(answer: impl Any + Send) -> Self {
        Self { go: Go::BackWith(Box::new(answer)), ..Self::default() }
    }

    pub(crate) fn and(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}
