//! How tasks of a kind are told to people, where that is not how loops are. Each kind that has something to say has an entry in `KINDS`;
//! whoever tells of tasks asks that, and never which kind a task is.

use dacapo_core::event::{Envelope, IterationRecord, TaskResult};
use dacapo_core::overview::Brief;
use dacapo_core::spec::LoopPolicy;
use dacapo_core::view::TaskView;

use super::milestone as own;
use super::next::Next;
use super::page::Page;
use crate::messages::Messages;

/// What only some kinds have of what programs are told: for the page that documents it.
pub use own::{OwnFile, OwnJson, OwnObject, OwnState, OwnStep};

/// What a task does again and again, and is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Iteration,
    Round,
}

impl Unit {
    /// All there are, those of loops first.
    pub const ALL: [Self; 2] = [Self::Iteration, Self::Round];

    /// `3 iterations`.
    pub fn count(self, number: u64, messages: Messages) -> String {
        match self {
            Self::Iteration => messages.iterations(number),
            Self::Round => messages.rounds(number),
        }
    }

    /// `3 earlier iterations`.
    pub fn earlier(self, number: u64, messages: Messages) -> String {
        match self {
            Self::Iteration => messages.iterations_earlier(number),
            Self::Round => messages.rounds_earlier(number),
        }
    }

    /// `iteration 3`, as people count; without a number `an iteration`.
    pub fn nth(self, number: Option<u32>, messages: Messages) -> String {
        match (self, number) {
            (Self::Iteration, Some(number)) => messages.iteration_number(number),
            (Self::Iteration, None) => messages.iteration_some(),
            (Self::Round, Some(number)) => messages.round_number(number),
            (Self::Round, None) => messages.round_some(),
        }
    }

    /// `iteration 3 of 10`; without a limit `iteration 3`.
    pub fn nth_of(self, number: u32, most: Option<u32>, messages: Messages) -> String {
        match (self, most) {
            (Self::Iteration, Some(most)) => messages.iteration_of(number, most),
            (Self::Round, Some(most)) => messages.round_of(number, most),
            (Self::Iteration | Self::Round, None) => self.nth(Some(number), messages),
        }
    }
}

/// How tasks of one kind are put into words. What it does not say is said as of a loop.
pub trait KindWords: Sync {
    fn kind(&self) -> &'static str;

    /// The kind, in a word.
    fn name(&self, messages: Messages) -> String;

    /// What it does again and again.
    fn unit(&self) -> Unit;

    /// The title of its table of settings, which has its name.
    fn settings(&self, _: Messages) -> Option<String> {
        None
    }

    /// What a setting in that table means.
    fn about_setting(&self, _: &str, _: Messages) -> Option<String> {
        None
    }

    /// How another one gets another name, where one of this name is there.
    fn another_name(&self, messages: Messages) -> String;

    /// How it stands, in a few words, where these are its own.
    fn headline(&self, view: &TaskView, messages: Messages) -> Option<String>;

    /// What there is to say about merging one that is not completed.
    fn unfinished(&self, view: &TaskView, messages: Messages) -> Option<String>;

    /// How far it has come: `3 of 20 rounds`.
    fn progress(&self, brief: &Brief, messages: Messages) -> Option<String>;

    /// What it is at, of one that is under way.
    fn under_way(&self, brief: &Brief, messages: Messages) -> Option<String>;

    /// What its rounds came to, beside how many there were: `3 accepted`.
    fn came_to(&self, view: &TaskView, result: &TaskResult, messages: Messages) -> Option<Vec<String>>;

    /// How it ended, painted, where that is not as loops end.
    fn ended(&self, view: &TaskView, result: &TaskResult, messages: Messages) -> Option<String>;

    /// What to know about a result that looks better than it is.
    fn caveat(&self, view: &TaskView, messages: Messages) -> Option<String>;

    /// What goes with its question to a person, a line each; none: it asks nobody.
    fn asks(&self, view: &TaskView, messages: Messages) -> Option<Vec<String>>;

    /// What a person can answer.
    fn answers(&self, view: &TaskView, messages: Messages) -> Vec<Next>;

    /// What people may want to type when it has ended, the most likely first.
    fn next(&self, view: &TaskView, result: &TaskResult, messages: Messages) -> Option<Vec<Next>>;

    /// What it is for and who works on it, in lines of `status`; `pid` is its process, in words.
    fn asked(&self, view: &TaskView, pid: &str, messages: Messages) -> Option<String>;

    /// What it has to bring, and how far that is, in lines of `status`.
    fn status_lines(&self, view: &TaskView, messages: Messages) -> String;

    /// One of its rounds, in lines of `status`.
    fn round(&self, view: &TaskView, record: &IterationRecord, messages: Messages) -> Option<String>;

    /// How many of its rounds are done, and what else is said of it in one line.
    fn at(&self, view: &TaskView, messages: Messages) -> Option<(String, Vec<String>)>;

    /// What is going to happen, before it does: what it is for and who works on it.
    fn preamble(&self, view: &TaskView, messages: Messages) -> Option<Vec<String>>;

    /// Its limits; with `more`, as they will be after that many more rounds.
    fn limits(
        &self,
        view: &TaskView,
        policy: &LoopPolicy,
        more: Option<u32>,
        messages: Messages,
    ) -> Option<Vec<String>>;

    /// What an event of it means, as it happens.
    fn event(&self, view: &TaskView, line: &Envelope, messages: Messages) -> EventLines;

    /// One of its rounds, for who comes in the middle.
    fn earlier(&self, view: &TaskView, record: &IterationRecord, messages: Messages) -> Option<Vec<String>>;

    /// Where it stands, for who comes in the middle.
    fn so_far(&self, view: &TaskView, messages: Messages) -> Vec<String>;

    /// The part of a live line that says which round, and whose.
    fn live(&self, view: &TaskView, messages: Messages) -> Option<Vec<String>>;

    /// Its page, where that is not the one of a loop.
    fn page(&self, view: &TaskView, messages: Messages) -> Option<Page>;

    /// How the text of its pull request begins, in Markdown.
    fn pull_request(&self, view: &TaskView) -> Option<String>;

    /// Who worked on it, in Markdown.
    fn workers(&self, view: &TaskView) -> Option<String>;
}

/// What is said of an event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EventLines {
    pub lines: Vec<String>,
    /// What goes on from now on; empty: nothing. None: what did before.
    pub doing: Option<String>,
    /// Nothing else is to be said of it.
    pub is_all: bool,
}

/// The kind that has these.
pub const OWN_KIND: &str = own::KIND;

/// The heading and the introduction of their objects in docs/json.md.
pub const OWN_SECTION: (&str, &str) = own::json::SECTION;

/// Their files for other programs.
pub const OWN_FILES: (&str, &str) = own::json::FILES;

/// How the file of a task of such a kind is written, for those who have just set up a repository.
pub fn new_definition(messages: Messages) -> Next {
    own::new_definition(messages)
}

const KINDS: &[&dyn KindWords] = &[&own::Milestones];

/// The words for tasks of this kind; none: they are told as loops are.
pub fn of(kind: &str) -> Option<&'static dyn KindWords> {
    KINDS.iter().copied().find(|own| own.kind() == kind)
}

/// A kind, in a word.
pub fn name(kind: &str, messages: Messages) -> String {
    of(kind).map_or_else(|| kind.to_owned(), |own| own.name(messages))
}

/// What a task of this kind does again and again.
pub fn unit(kind: &str) -> Unit {
    of(kind).map_or(Unit::Iteration, KindWords::unit)
}
