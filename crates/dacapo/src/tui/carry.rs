//! Finds out what a command means, and does it. It shows nothing itself: it is gone as soon as that is known.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::confirm::Confirm;
use super::effect::{Act, Effect, Foreign, Job, Notice};
use super::key::Key;
use super::pager::Pager;
use super::pages;
use super::screen::{Answer, Binding, Context, Go, Reply, Screen, Shape};
use super::settings::Settings;
use super::slash::{self, Meaning, Place};
use crate::error::Failure;

/// A command that is being read.
pub(crate) struct Carry {
    words: Vec<String>,
    place: Place,
}

impl Carry {
    pub(crate) fn new(words: Vec<String>, place: Place) -> Self {
        Self { words, place }
    }

    /// The read that says what the words mean.
    pub(crate) fn job(&self) -> Job {
        let (words, place) = (self.words.clone(), self.place.clone());
        Job::new(move |services| slash::meaning(&services.app_in(place.directory.as_deref()), &words, &place))
    }
}

/// Does what a command means, in place of the screen that took it.
pub(crate) fn carry_out(meaning: Meaning, words: &[String], place: &Place, context: &Context<'_>) -> Reply {
    let title = || format!("/{}", words.join(" "));
    let acts = |operations: Vec<_>| {
        let act = |operation| Act::new(operation).at(place.directory.clone());
        operations.into_iter().map(act).collect::<Vec<_>>()
    };
    let brief = |name: Option<String>| {
        let name = name?;
        let named = |entry: &&dacapo_app::present::listing::Entry| entry.brief.name == name;
        let mut all = context.tasks.entries.iter().filter(named);
        // Of tasks of the same name, the one of the place where the command was given.
        let here = all.clone().find(|entry| context.directory_of(&entry.brief) == place.directory);
        here.or_else(|| all.next()).map(|entry| &entry.brief)
    };
    let page = |reply: Reply| match reply.go {
        Go::To(screen) => Reply { go: Go::Instead(screen), ..reply },
        go => Reply { go, ..reply },
    };
    let gone = |effects: Vec<Effect>| Reply { effects, ..Reply::back() };
    match meaning {
        Meaning::Do(operations) => gone(acts(operations).into_iter().map(Effect::Act).collect()),
        Meaning::Ask(operations) => {
            let question = context.messages.tui_confirm_command(&title());
            Reply::instead(Confirm::all(question, None, acts(operations)))
        }
        Meaning::Home(scope) => Reply { go: Go::Home, ..Reply::effect(Effect::Follow(scope)) },
        Meaning::Settings => Reply::instead(Settings::new()),
        Meaning::Task(name) => match brief(name.clone()) {
            Some(brief) => page(pages::task(brief, context)),
            None => Reply::instead(Pager::new(title(), with("status", name)).at(place.directory.clone())),
        },
        Meaning::Log(name) => match brief(name.clone()) {
            Some(brief) => page(pages::log(brief, context)),
            None => Reply::instead(Pager::new(title(), with("logs", name)).at(place.directory.clone())),
        },
        Meaning::Diff { task, part } => match brief(task.clone()) {
            Some(brief) => page(pages::diff(brief, part, context)),
            None => Reply::instead(Pager::new(title(), with("diff", task)).at(place.directory.clone())),
        },
        Meaning::Show(args) => Reply::instead(Pager::new(title(), args).at(place.directory.clone())),
        Meaning::Text(text) => Reply::instead(Pager::text(title(), &text)),
        Meaning::Run { args, pause } => {
            gone(vec![Effect::Run(Foreign::Ourselves { args, directory: place.directory.clone(), pause })])
        }
        Meaning::Quit => gone(vec![Effect::Quit { exit_code: 0 }]),
    }
}

fn with(command: &str, name: Option<String>) -> Vec<String> {
    std::iter::once(command.to_owned()).chain(name).collect()
}

/// What came of reading a command.
pub(crate) fn read(answer: Answer) -> Option<Result<Meaning, Failure>> {
    answer.downcast::<Result<Meaning, Failure>>().ok().map(|read| *read)
}

impl Screen for Carry {
    fn title(&self, _: &Context<'_>) -> String {
        String::new()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        Reply::effect(Effect::Read(self.job()))
    }

    fn key(&mut self, _: Key, _: &Context<'_>) -> Reply {
        Reply::unused()
    }

    fn answered(&mut self, answer: Answer, context: &Context<'_>) -> Reply {
        match read(answer) {
            Some(Ok(meaning)) => carry_out(meaning, &self.words, &self.place, context),
            Some(Err(failure)) => {
                let notice = Notice::problem(failure.shown(context.messages).to_string());
                Reply::back().saying(notice)
            }
            None => Reply::default(),
        }
    }

    fn draw(&self, _: &mut Frame<'_>, _: Rect, _: &Context<'_>) {}

    fn keys(&self, _: &Context<'_>) -> Vec<Binding> {
        Vec::new()
    }
}
