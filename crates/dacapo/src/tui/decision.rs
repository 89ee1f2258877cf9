//! The decision card: what a task asks a person, and the answers that it takes. Each answer is the command that the command line
//! offers, so that what is offered works as printed (M10), whatever kind of task it is.

use dacapo_app::operations::diff::DiffPart;
use dacapo_app::present::act::{ActArgument, ActCommand, NextAct};
use dacapo_app::present::next::Next;
use dacapo_app::present::{changed_tests, kind_words, needs};
use dacapo_core::event::NeedKind;
use dacapo_core::overview::Brief;
use dacapo_core::view::TaskView;
use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::carry::Carry;
use super::chrome;
use super::effect::{Effect, Job};
use super::field::{Field, Lines};
use super::key::Key;
use super::live::TaskId;
use super::pages;
use super::screen::{Answer, Binding, Context, Go, Reply, Screen, Shape};
use super::slash::Place;
use super::text;
use super::theme::Role;
use crate::error::Failure;
use crate::messages::Messages;

/// Columns of its text.
const WIDTH: usize = 76;

pub(crate) struct DecisionCard {
    id: TaskId,
    place: Place,
    asked: Option<Result<Asked, Failure>>,
    selected: usize,
    /// The words of an answer that takes some, while they are typed.
    words: Option<Field>,
    /// What was typed before the question was read: nobody waits for a card whose keys they know.
    early: Vec<Typed>,
}

/// What can be typed early.
enum Typed {
    Key(Key),
    Text(String),
}

/// What a task asks.
struct Asked {
    question: String,
    /// What goes with the question.
    detail: Vec<String>,
    /// What of the changes it is about.
    diff: DiffPart,
    answers: Vec<Offer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Offer {
    meaning: String,
    act: NextAct,
}

impl Offer {
    /// None for another program's command: it is not ours to run.
    fn of(next: &Next) -> Option<Self> {
        let meaning = if next.meaning.is_empty() { &next.command } else { &next.meaning };
        Some(Self { meaning: meaning.clone(), act: next.act.clone()? })
    }

    /// Whether the person has yet to write something.
    fn takes_words(&self) -> bool {
        self.act.arguments.iter().any(is_unwritten)
    }

    /// The words of the command, without the program; what the person wrote stands where it belongs.
    fn command(&self, written: &str, messages: Messages) -> Vec<String> {
        let mut words: Vec<String> = self.act.words().split(' ').map(str::to_owned).collect();
        words.extend(self.act.task.clone());
        for argument in &self.act.arguments {
            if is_unwritten(argument) {
                words.push(written.to_owned());
            } else {
                let one = NextAct { arguments: vec![argument.clone()], ..self.act.clone() };
                words.extend(one.flags(messages).split(' ').map(str::to_owned));
            }
        }
        words
    }
}

fn is_unwritten(argument: &ActArgument) -> bool {
    match argument {
        ActArgument::Answer | ActArgument::Message | ActArgument::MoreWork | ActArgument::Choice => true,
        ActArgument::Offered { .. }
        | ActArgument::Finding(_)
        | ActArgument::Iterations(_)
        | ActArgument::Rounds(_)
        | ActArgument::MoreRounds(_)
        | ActArgument::ProofInWorkspace
        | ActArgument::DoneTasks
        | ActArgument::Tests => false,
    }
}

/// What this task asks, from its record.
fn asked(view: &TaskView, messages: Messages) -> Asked {
    let asked = view.needs.as_ref();
    let question = asked.map(|asked| needs::question(&asked.kind, messages)).unwrap_or_default();
    let own = kind_words::of(&view.kind);
    let about_tests = || asked.map(|asked| changed_tests::details(&asked.kind, messages));
    let detail = own.and_then(|own| own.asks(view, messages)).or_else(about_tests).unwrap_or_default();
    let mut answers = own.map(|own| own.answers(view, messages)).unwrap_or_default();
    if answers.is_empty() {
        answers = asked.map(|asked| Next::answers(asked, &view.name, messages)).unwrap_or_default();
    }
    let diff = match asked.map(|asked| &asked.kind) {
        Some(NeedKind::TestsChanged { .. }) => DiffPart::Tests,
        _ => DiffPart::All,
    };
    Asked { question, detail, diff, answers: answers.iter().filter_map(Offer::of).collect() }
}

impl DecisionCard {
    pub(crate) fn new(brief: &Brief, context: &Context<'_>) -> Self {
        let place = Place { directory: context.directory_of(brief), selected: Some(brief.name.clone()) };
        Self { id: TaskId::of(brief), place, asked: None, selected: 0, words: None, early: Vec::new() }
    }

    fn read(&self, messages: Messages) -> Effect {
        let (name, directory) = (self.id.name.clone(), self.place.directory.clone());
        Effect::Read(Job::new(move |services| {
            let app = services.app_in(directory.as_deref());
            app.task(Some(&name)).and_then(|(_, dir)| app.view(&dir)).map(|view| asked(&view, messages))
        }))
    }

    fn offers(&self) -> &[Offer] {
        match &self.asked {
            Some(Ok(asked)) => &asked.answers,
            Some(Err(_)) | None => &[],
        }
    }

    /// Takes the selected answer: at once, or when its words are typed.
    fn take(&mut self) -> Reply {
        let Some(offer) = self.offers().get(self.selected).cloned() else { return Reply::default() };
        let mut written = String::new();
        if offer.takes_words() {
            let Some(field) = &self.words else {
                self.words = Some(Field::new(Lines::Many));
                return Reply::default();
            };
            field.text().trim().clone_into(&mut written);
            if written.is_empty() {
                return Reply::default();
            }
        }
        let words = offer.command(&written, Messages::ENGLISH);
        Reply::instead(Carry::new(words, self.place.clone()))
    }

    /// What of the changes the question is about.
    fn about(&self) -> DiffPart {
        match &self.asked {
            Some(Ok(asked)) => asked.diff,
            Some(Err(_)) | None => DiffPart::All,
        }
    }

    /// Takes the answer that is this command, if there is one.
    fn take_first(&mut self, command: ActCommand) -> Reply {
        match self.offers().iter().position(|offer| offer.act.command == command) {
            Some(nth) => {
                self.selected = nth;
                self.take()
            }
            None => Reply::default(),
        }
    }

    fn lines(&self, columns: usize, context: &Context<'_>) -> Vec<Line<'static>> {
        let asked = match &self.asked {
            None => return vec![Line::from(context.messages.tui_reading())],
            Some(Err(failure)) => {
                let words = failure.shown(context.messages).to_string();
                return text::wrap(&words, columns).into_iter().map(Line::from).collect();
            }
            Some(Ok(asked)) => asked,
        };
        let clean = |words: &str| words.lines().map(text::clean).collect::<Vec<_>>().join("\n");
        let question = text::wrap(&clean(&asked.question), columns).into_iter();
        let mut lines: Vec<Line<'static>> =
            question.map(|line| Line::from(Span::styled(line, context.style(Role::Person)))).collect();
        for detail in &asked.detail {
            lines.extend(text::hang(&text::painted(detail, context.theme), columns));
        }
        lines.push(Line::default());
        for (nth, offer) in asked.answers.iter().enumerate() {
            let sign = if nth == self.selected { "▶ " } else { "  " };
            let style =
                if nth == self.selected { context.style(Role::Strong) } else { context.style(Role::Plain) };
            let more = if offer.takes_words() { " …" } else { "" };
            let text = text::cut(
                &format!("{} {}{more}", nth + 1, text::clean(&offer.meaning)),
                columns.saturating_sub(2),
            );
            lines.push(Line::from(vec![
                Span::styled(sign, context.style(Role::Accent)),
                Span::styled(text, style),
            ]));
        }
        lines
    }
}

impl Screen for DecisionCard {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_decision_title(&self.id.name)
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn opened(&mut self, context: &Context<'_>) -> Reply {
        Reply::effect(self.read(context.messages))
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if self.asked.is_none() {
            if matches!(key, Key::Esc | Key::Ctrl(_)) {
                return Reply::unused();
            }
            self.early.push(Typed::Key(key));
            return Reply::default();
        }
        if let Some(field) = &mut self.words {
            return match key {
                Key::Enter => self.take(),
                Key::Esc => {
                    self.words = None;
                    Reply::default()
                }
                key if field.key(key, WIDTH) => Reply::default(),
                _ => Reply::unused(),
            };
        }
        let last = self.offers().len().saturating_sub(1);
        match key {
            Key::Down | Key::Char('j') => self.selected = (self.selected + 1).min(last),
            Key::Up | Key::Char('k') => self.selected = self.selected.saturating_sub(1),
            Key::Char(digit @ '1'..='9') => {
                let nth = digit as usize - '1' as usize;
                if nth <= last {
                    self.selected = nth;
                    return self.take();
                }
            }
            Key::Enter => return self.take(),
            Key::Char('a') => return self.take_first(ActCommand::Approve),
            Key::Char('r') => return self.take_first(ActCommand::Reject),
            Key::Char('d') => {
                return match context.tasks.get(&self.id) {
                    Some(entry) => pages::diff(&entry.brief, self.about(), context),
                    None => Reply::default(),
                };
            }
            _ => return Reply::unused(),
        }
        Reply::default()
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        if self.asked.is_none() {
            self.early.push(Typed::Text(text.to_owned()));
        }
        self.words.iter_mut().for_each(|field| field.insert(text));
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, context: &Context<'_>) -> Reply {
        let Ok(asked) = answer.downcast::<Result<Asked, Failure>>() else { return Reply::default() };
        self.asked = Some(*asked);
        for typed in std::mem::take(&mut self.early) {
            let reply = match typed {
                Typed::Key(key) => self.key(key, context),
                Typed::Text(text) => self.pasted(&text, context),
            };
            // The card is answered; what comes behind is for nobody.
            if !matches!(reply.go, Go::Stay) {
                return reply;
            }
        }
        Reply::default()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let columns = WIDTH.min(usize::from(area.width).saturating_sub(4)).max(1);
        let lines = self.lines(columns, context);
        let typed = self.words.as_ref().map_or(0, |field| field.height(columns).clamp(1, 6) + 1);
        let size = Size::new(
            u16::try_from(columns).unwrap_or(60),
            u16::try_from(lines.len() + typed).unwrap_or(u16::MAX - 8),
        );
        let inner = chrome::card(frame, area, &self.title(context), size, context);
        let typed = u16::try_from(typed).unwrap_or(0).min(inner.height);
        let above = Rect { height: inner.height - typed, ..inner };
        frame.render_widget(Paragraph::new(lines), above);
        if let Some(field) = self.words.as_ref().filter(|_| typed > 0) {
            let at = Rect {
                y: above.bottom() + 1.min(typed - 1),
                height: typed.saturating_sub(1).max(1),
                ..inner
            };
            let at = at.intersection(inner);
            field.draw(frame, at, context);
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        if self.words.is_some() {
            return vec![
                Binding::new(Key::Enter, messages.tui_key_send()),
                Binding::new(Key::NewLine, messages.tui_key_new_line()),
                Binding::new(Key::Esc, messages.tui_key_back()),
            ];
        }
        vec![
            Binding::new(Key::Enter, messages.tui_key_choose()).or(Key::Char('1')),
            Binding::new(Key::Down, messages.tui_key_move()).or(Key::Up),
            Binding::new(Key::Char('d'), messages.tui_key_diff()),
            Binding::new(Key::Esc, messages.tui_key_later()),
        ]
    }

    fn takes_text(&self) -> bool {
        self.words.is_some()
    }

    fn task<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        context.tasks.get(&self.id).map(|entry| &entry.brief)
    }
}

#[cfg(test)]
mod tests;
