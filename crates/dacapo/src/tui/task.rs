//! The page of a task: what it has done, what it does now, what it says, what it asks. Which parts there are, and how they stand to
//! each other, is for the kind of the task to say ([`Page`]); nothing here knows the kinds.

use dacapo_app::operations::diff::DiffPart;
use dacapo_app::present::page::{self, Arrangement, Page, Pane};
use dacapo_core::overview::Brief;
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::actions;
use super::carry::Carry;
use super::command_line::CommandLine;
use super::decision::DecisionCard;
use super::effect::{Effect, Job};
use super::key::Key;
use super::live::TaskId;
use super::mouse::{Clicked, Did, Mouse, Rows};
use super::output::{Output, OutputChanged, Pressed, Source, dir_of};
use super::pages;
use super::screen::{Answer, Binding, Context, Reply, Screen};
use super::slash::{self, Place};
use crate::error::Failure;
use crate::messages::Messages;

mod drawing;
mod stat;
#[cfg(test)]
mod tests;

use stat::Stats;

/// What has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Steps,
    Pane(usize),
}

pub(crate) struct TaskPage {
    id: TaskId,
    place: Place,
    page: Option<Page>,
    /// Why there is none, or not the newest.
    problem: Option<String>,
    /// It is being read; what changes meanwhile is read after that.
    reading: bool,
    stale: bool,
    panes: Vec<Output>,
    focus: Focus,
    /// The step whose output is shown; none: the newest.
    selected: Option<u32>,
    stats: Stats,
    /// The steps as they were drawn.
    drawn: Rows<u32>,
    messages: Messages,
}

/// What a read gives.
struct Read(Result<Page, Failure>);

impl TaskPage {
    #[cfg(test)]
    fn take_view(&mut self, view: &dacapo_core::view::TaskView) {
        self.take(page::page(view, self.messages));
    }

    pub(crate) fn new(brief: &Brief, context: &Context<'_>) -> Self {
        let place = Place { directory: context.directory_of(brief), selected: Some(brief.name.clone()) };
        Self {
            id: TaskId::of(brief),
            place,
            page: None,
            problem: None,
            reading: false,
            stale: false,
            panes: Vec::new(),
            focus: Focus::Pane(0),
            selected: None,
            stats: Stats::default(),
            drawn: Rows::default(),
            messages: context.messages,
        }
    }

    fn brief<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        context.tasks.get(&self.id).map(|entry| &entry.brief)
    }

    /// Reads it again, unless that is under way.
    fn read(&mut self) -> Reply {
        if std::mem::replace(&mut self.reading, true) {
            self.stale = true;
            return Reply::default();
        }
        let (id, messages) = (self.id.clone(), self.messages);
        Reply::effect(Effect::Read(Job::new(move |services| {
            let app = services.app_in(Some(id.repo.as_ref()));
            Read(dir_of(services, &id).and_then(|dir| app.view(&dir)).map(|view| page::page(&view, messages)))
        })))
    }

    /// Takes a page in; panes that are new get their thread.
    fn take(&mut self, page: Page) -> Reply {
        let mut reply = Reply::default();
        while self.panes.len() < page.panes.len() {
            match Output::new(self.messages) {
                Ok(pane) => {
                    reply = reply.and(Effect::Feed(pane.feed(self.id.clone())));
                    self.panes.push(pane);
                }
                Err(error) => {
                    self.problem = Some(error.to_string());
                    break;
                }
            }
        }
        if let Some(job) = self.stats.want(&page, &self.id) {
            reply = reply.and(Effect::Read(job));
        }
        // Who works is looked at, until somebody chooses otherwise.
        if self.page.is_none()
            && let Some(active) = page.panes.iter().position(|pane| pane.active)
        {
            self.focus = Focus::Pane(active);
        }
        self.page = Some(page);
        self.show();
        reply
    }

    /// The step whose output is shown.
    fn step(&self) -> Option<u32> {
        let page = self.page.as_ref()?;
        let newest = page.panes.iter().flat_map(|pane| &pane.turns).map(|turn| turn.step).max();
        match page.arrangement {
            Arrangement::StepsBeside => self.selected.or(newest),
            Arrangement::PanesAbove => None,
        }
    }

    /// Gives the panes their turns.
    fn show(&mut self) {
        let step = self.step();
        let Some(page) = &self.page else { return };
        for (pane, output) in page.panes.iter().zip(&mut self.panes) {
            output.show(sources(pane, step));
        }
    }

    fn move_step(&mut self, down: bool) {
        let Some(page) = &self.page else { return };
        let numbers: Vec<u32> = page.steps.iter().filter_map(|step| step.number).collect();
        let at = self.step().and_then(|step| numbers.iter().position(|number| *number == step));
        let at = at.unwrap_or(numbers.len().saturating_sub(1));
        let next = if down { (at + 1).min(numbers.len().saturating_sub(1)) } else { at.saturating_sub(1) };
        // The newest is followed: when another begins, that is shown.
        self.selected = numbers.get(next).copied().filter(|_| next + 1 < numbers.len());
        self.show();
    }

    fn select_step(&mut self, step: u32) {
        let Some(page) = &self.page else { return };
        let newest = page.steps.iter().filter_map(|step| step.number).max();
        self.selected = Some(step).filter(|step| Some(*step) != newest);
        self.show();
    }

    fn next_focus(&mut self, back: bool) {
        let Some(page) = &self.page else { return };
        let mut all: Vec<Focus> = (0..self.panes.len()).map(Focus::Pane).collect();
        if page.arrangement == Arrangement::StepsBeside {
            all.insert(0, Focus::Steps);
        }
        let at = all.iter().position(|focus| *focus == self.focus).unwrap_or(0);
        let next = if back { at + all.len() - 1 } else { at + 1 };
        self.focus = all[next % all.len().max(1)];
    }

    fn focused(&mut self) -> Option<&mut Output> {
        let nth = self.focused_pane();
        self.panes.get_mut(nth)
    }

    fn focused_pane(&self) -> usize {
        match self.focus {
            Focus::Pane(nth) => nth,
            Focus::Steps => 0,
        }
    }

    /// What was offered for this key.
    fn offered(&self, key: Key, context: &Context<'_>) -> Option<Reply> {
        let Key::Char(pressed) = key else { return None };
        let decision = self.page.as_ref()?.decision.as_ref()?;
        let offer = decision.offers.iter().find(|offer| offer.key == Some(pressed))?;
        let shown = offer.next.command.as_str();
        let command = shown.strip_prefix("dacapo ").or_else(|| shown.strip_prefix('/')).unwrap_or(shown);
        if !offer.takes_words() {
            let words = slash::split(command).unwrap_or_default();
            return Some(Reply::to(Carry::new(words, self.place.clone())));
        }
        // What is yet to be written stands at the end.
        let before = command.split(" \"").next().unwrap_or(command);
        Some(Reply::to(CommandLine::with(&format!("{before} "), self.brief(context), context)))
    }

    /// Keys of the page itself.
    fn own_key(&mut self, key: Key, context: &Context<'_>) -> Option<Reply> {
        match key {
            Key::Tab | Key::Right => self.next_focus(false),
            Key::BackTab | Key::Left => self.next_focus(true),
            Key::Up | Key::Char('k') if self.focus == Focus::Steps => self.move_step(false),
            Key::Down | Key::Char('j') if self.focus == Focus::Steps => self.move_step(true),
            Key::Enter if self.focus == Focus::Steps => self.focus = Focus::Pane(0),
            Key::Char('a') => {
                let brief = self.brief(context)?;
                return Some(Reply::to(DecisionCard::new(brief, context)));
            }
            Key::Char('l') => {
                let brief = self.brief(context)?;
                let line = format!("set {} ", brief.name);
                return Some(Reply::to(CommandLine::with(&line, Some(brief), context)));
            }
            Key::Char('c') => return Some(pages::receipt(self.brief(context)?, context)),
            Key::Char('d') => {
                let part = self.selected.map_or(DiffPart::All, |step| DiffPart::Iteration(step + 1));
                return Some(pages::diff(self.brief(context)?, part, context));
            }
            _ => return None,
        }
        Some(Reply::default())
    }
}

/// The turns of a pane that are shown, with headings where there are several.
fn sources(pane: &Pane, step: Option<u32>) -> Vec<Source> {
    let turns: Vec<_> = pane.turns.iter().filter(|turn| step.is_none_or(|step| turn.step == step)).collect();
    // Side by side one sees which of them belong together.
    let several = turns.len() > 1 || step.is_none();
    let source = |turn: &&page::PageTurn| Source {
        turn: turn.turn,
        heading: several.then(|| turn.heading.clone()),
        over: turn.over,
    };
    turns.iter().map(source).collect()
}

impl Screen for TaskPage {
    fn title(&self, context: &Context<'_>) -> String {
        drawing::title(self, context)
    }

    fn crumb(&self, _: &Context<'_>) -> String {
        self.id.name.clone()
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        self.read()
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if let Some(output) = self.focused().filter(|output| output.is_typing()) {
            return match output.key(key) {
                Pressed::SearchEnded => Reply::say(context.messages.output_search_ended()),
                Pressed::Used | Pressed::Copy(_) | Pressed::Unused => Reply::default(),
            };
        }
        if let Some(reply) = self.offered(key, context) {
            return reply;
        }
        if let Some(reply) = self.own_key(key, context) {
            return reply;
        }
        // Where a pane has the keys they are about its text first.
        let pressed = match (self.focus, key) {
            (Focus::Steps, Key::Char('y')) => Pressed::Unused,
            _ => self.focused().map_or(Pressed::Unused, |output| output.key(key)),
        };
        match pressed {
            Pressed::Used => return Reply::default(),
            Pressed::Copy(text) => return Reply::effect(Effect::Copy(text)).saying(pages::copied(context)),
            Pressed::SearchEnded => return Reply::say(context.messages.output_search_ended()),
            Pressed::Unused => {}
        }
        let brief = self.brief(context).filter(|_| key != Key::Enter);
        brief.and_then(|brief| actions::key(key, brief, context)).unwrap_or_else(Reply::unused)
    }

    fn mouse(&mut self, mouse: Mouse, context: &Context<'_>) -> Reply {
        if let Some(nth) = self.panes.iter().position(|output| output.is_under(mouse)) {
            if mouse.did == Did::Press {
                self.focus = Focus::Pane(nth);
            }
            return pages::marked(self.panes[nth].mouse(mouse), context);
        }
        let step = self.drawn.at(mouse.at);
        match (mouse.did, step) {
            (Did::WheelUp, Some(_)) => self.move_step(false),
            (Did::WheelDown, Some(_)) => self.move_step(true),
            (Did::Press, _) => match self.drawn.click(mouse.at) {
                Some(Clicked::Once(step)) => {
                    self.focus = Focus::Steps;
                    self.select_step(step);
                }
                Some(Clicked::Again(_)) => self.focus = Focus::Pane(0),
                None => {}
            },
            (Did::WheelUp | Did::WheelDown | Did::Drag | Did::Release, _) => {}
        }
        Reply::default()
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        if let Some(output) = self.focused() {
            output.pasted(text);
        }
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, _: &Context<'_>) -> Reply {
        let answer = match answer.downcast::<OutputChanged>() {
            Ok(_) => {
                self.panes.iter_mut().for_each(Output::changed);
                return Reply::default();
            }
            Err(answer) => answer,
        };
        let answer = match answer.downcast::<stat::Counted>() {
            Ok(counted) => {
                self.stats.take(*counted);
                return Reply::default();
            }
            Err(answer) => answer,
        };
        let Ok(read) = answer.downcast::<Read>() else { return Reply::default() };
        self.reading = false;
        let mut reply = match read.0 {
            Ok(page) => {
                self.problem = None;
                self.take(page)
            }
            Err(failure) => {
                self.problem = Some(failure.shown(self.messages).to_string());
                Reply::default()
            }
        };
        if std::mem::take(&mut self.stale) {
            reply.effects.extend(self.read().effects);
        }
        reply
    }

    fn tasks_changed(&mut self, context: &Context<'_>) -> Reply {
        if self.brief(context).is_none() && self.page.is_some() {
            self.problem = Some(context.messages.page_no_task());
            return Reply::default();
        }
        self.read()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        drawing::draw(self, frame, area, context);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        let brief = self.brief(context);
        if self.panes.get(self.focused_pane()).is_some_and(Output::is_typing) {
            return vec![
                Binding::new(Key::Enter, messages.output_key_search()),
                Binding::new(Key::Esc, messages.tui_key_back()),
            ];
        }
        let asked = self.page.as_ref().and_then(|page| page.decision.as_ref());
        let offers = asked.into_iter().flat_map(|decision| &decision.offers);
        let offers =
            offers.filter_map(|offer| Some(Binding::new(Key::Char(offer.key?), &offer.next.meaning)));
        let mut all: Vec<Binding> = offers.collect();
        let not_asked = asked.is_none().then(|| messages.page_not_asked(&self.id.name));
        let own = [
            Binding::new(Key::Char('a'), messages.page_key_decide()).not_now(not_asked),
            Binding::new(Key::Tab, messages.page_key_switch()).or(Key::Right).or(Key::Left),
            Binding::new(Key::Char('c'), messages.page_key_receipt()),
            Binding::new(Key::Char('g'), messages.page_key_guide()),
            Binding::new(Key::Char('l'), messages.page_key_limits()),
            Binding::new(Key::Char('L'), messages.page_key_log()),
        ];
        let output = self.panes.get(self.focused_pane()).map(Output::bindings).unwrap_or_default();
        let mut actions = actions::bindings(brief, messages).into_iter().filter(|binding| {
            binding.keys[0] != Key::Enter && (binding.keys[0] != Key::Char('y') || self.focus == Focus::Steps)
        });
        let mut more: Vec<Binding> = actions.by_ref().take(7).collect();
        // The first keys of the output are among those that are used most.
        let mut output = output.into_iter();
        more.extend(output.by_ref().take(2));
        more.extend(own);
        more.extend(actions);
        more.extend(output);
        for binding in more {
            if !all.iter().any(|known| known.keys[0] == binding.keys[0]) {
                all.push(binding);
            }
        }
        all
    }

    fn takes_text(&self) -> bool {
        self.panes.get(self.focused_pane()).is_some_and(Output::is_typing)
    }

    fn task<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        self.brief(context)
    }

    fn changes_at(&self, context: &Context<'_>) -> Option<Timestamp> {
        let clock = self.page.as_ref()?.clock;
        clock.since?;
        let elapsed = clock.at(context.now);
        // Hours change by the minute.
        let step = if elapsed.as_secs() >= 3600 { 60_000 } else { 1000 };
        let passed = u64::try_from(elapsed.as_millis()).unwrap_or(0) % step;
        context.now.checked_add(std::time::Duration::from_millis(step - passed)).ok()
    }
}
