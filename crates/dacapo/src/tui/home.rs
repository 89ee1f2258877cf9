//! The home screen: all tasks, grouped by what they want of people, as they are now.

use std::collections::HashMap;
use std::time::Duration;

use dacapo_app::operations::act::OperationResult;
use dacapo_app::operations::kind::StartsByItself;
use dacapo_app::operations::list::Scope;
use dacapo_app::present::listing::{self, DoneTasks, Entry, Group, Sizes, rows};
use dacapo_core::overview::Brief;
use dacapo_core::view::Status;
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::actions;
use super::decision::DecisionCard;
use super::effect::{Effect, Job};
use super::key::Key;
use super::launch::Launch;
use super::live::{State, TaskId};
use super::mouse::{Clicked, Did, Mouse, Rows};
use super::new_task::{Draft, NewTask};
use super::screen::{Answer, Binding, Context, Reply, Screen};
use super::settings::Settings;

mod empty;
mod preview;
mod table;

use preview::Preview;

/// What is put off is asked again after this.
const SNOOZE: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub(crate) struct Home {
    selected: Option<TaskId>,
    /// When it was asked for: by this it is found again under another name.
    selected_created: Option<Timestamp>,
    /// Where the selection was, for when the task is gone.
    position: usize,
    /// The first line of the list that is shown.
    top: usize,
    filter: Filter,
    snoozed: HashMap<TaskId, Timestamp>,
    preview: Preview,
    /// A task that was just started, and is to be selected when it appears.
    expected: Option<String>,
    /// The tasks as they were drawn, by their place in the list.
    rows: Rows<usize>,
    /// A task that was begun to be written.
    draft: Option<Draft>,
}

#[derive(Debug, Default)]
struct Filter {
    text: String,
    /// Keys go into it.
    typing: bool,
}

/// A line of the list.
#[derive(Debug, Clone, Copy)]
enum Line<'a> {
    Heading {
        section: Section,
        tasks: usize,
    },
    Task {
        /// The how manieth of all that are shown.
        place: usize,
        entry: &'a Entry,
    },
    Gap,
}

/// A group, or those that are put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Group(Group),
    Snoozed,
}

impl Section {
    fn rank(self) -> (Group, u8) {
        match self {
            Self::Group(group) => (group, 0),
            // Behind those who wait, before those who are done.
            Self::Snoozed => (Group::Queued, 1),
        }
    }
}

impl Home {
    fn section(&self, brief: &Brief, now: Timestamp) -> Section {
        let group = Group::of(brief);
        let snoozed = || self.snoozed.get(&TaskId::of(brief)).is_some_and(|until| *until > now);
        if group == Group::NeedsYou && snoozed() { Section::Snoozed } else { Section::Group(group) }
    }

    /// The tasks that are shown, in their order: it changes only where a task goes into another group.
    fn shown<'a>(&self, context: &Context<'a>) -> Vec<(Section, &'a Entry)> {
        let words: Vec<String> = self.filter.text.split_whitespace().map(str::to_lowercase).collect();
        let matches = |brief: &Brief| {
            let text = || format!("{} {} {} {}", brief.name, brief.prompt, brief.agent, brief.repo);
            words.is_empty() || {
                let text = text().to_lowercase();
                words.iter().all(|word| text.contains(word))
            }
        };
        let sorted = rows::sorted(&context.tasks.entries).into_iter();
        let mut all: Vec<(Section, &Entry)> = sorted
            .filter(|entry| matches(&entry.brief))
            .map(|entry| (self.section(&entry.brief, context.now), entry))
            .collect();
        all.sort_by_key(|(section, _)| section.rank());
        all
    }

    /// The list as it is drawn. Where there is room, groups are apart.
    fn lines<'a>(&self, shown: &[(Section, &'a Entry)], height: usize) -> Vec<Line<'a>> {
        let groups: Vec<&[(Section, &Entry)]> = shown.chunk_by(|(one, _), (next, _)| one == next).collect();
        let gaps = shown.len() + 2 * groups.len() <= height;
        let mut lines = Vec::new();
        let mut place = 0;
        for group in groups {
            if gaps && place > 0 {
                lines.push(Line::Gap);
            }
            lines.push(Line::Heading { section: group[0].0, tasks: group.len() });
            for (_, entry) in group {
                lines.push(Line::Task { place, entry });
                place += 1;
            }
        }
        lines
    }

    fn selected_brief<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        self.selected.as_ref().and_then(|id| context.tasks.get(id)).map(|entry| &entry.brief)
    }

    /// Selects the task at this place of the list, and has it in sight.
    fn select(&mut self, place: usize, shown: &[(Section, &Entry)], context: &Context<'_>) {
        let place = place.min(shown.len().saturating_sub(1));
        self.position = place;
        let brief = shown.get(place).map(|(_, entry)| &entry.brief);
        self.selected = brief.map(TaskId::of);
        self.selected_created = brief.map(|brief| brief.created_at);
        self.keep_in_sight(shown, context);
    }

    fn keep_in_sight(&mut self, shown: &[(Section, &Entry)], context: &Context<'_>) {
        let height = usize::from(table::height(context.page, &self.filter));
        let lines = self.lines(shown, height);
        let own = |line: &Line<'_>| matches!(line, Line::Task { place, .. } if *place == self.position);
        let at = lines.iter().position(own).unwrap_or(0);
        // The heading of the first task of a group is worth a line.
        let first = if at > 0 && matches!(lines[at - 1], Line::Heading { .. }) { at - 1 } else { at };
        if first < self.top {
            self.top = first;
        }
        if at >= self.top + height {
            self.top = at + 1 - height;
        }
        self.top = self.top.min(lines.len().saturating_sub(height));
    }

    /// The selection follows the task: to its new place, or to its new name; a task that is gone leaves it where it was.
    fn follow_selection(&mut self, context: &Context<'_>) -> Reply {
        let shown = self.shown(context);
        let place_of =
            |wanted: &dyn Fn(&Brief) -> bool| shown.iter().position(|(_, entry)| wanted(&entry.brief));
        let expected = self.expected.as_ref().and_then(|name| place_of(&|brief| brief.name == *name));
        if expected.is_some() {
            self.expected = None;
        }
        let selected = self.selected.as_ref().and_then(|id| place_of(&|brief| id.is(brief)));
        let created = self.selected_created;
        let renamed = || created.and_then(|at| place_of(&|brief| brief.created_at == at));
        let place = expected.or(selected).or_else(renamed).unwrap_or(self.position);
        self.select(place, &shown, context);
        self.load_preview(context)
    }

    fn load_preview(&mut self, context: &Context<'_>) -> Reply {
        let job = self.preview.want(self.selected_brief(context), context);
        job.map(|job| Reply::effect(Effect::Read(job))).unwrap_or_default()
    }

    fn moved(&mut self, context: &Context<'_>, to: impl Fn(usize, usize) -> usize) -> Reply {
        let shown = self.shown(context);
        let last = shown.len().saturating_sub(1);
        self.select(to(self.position, last).min(last), &shown, context);
        self.load_preview(context)
    }

    fn filter_key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        match key {
            Key::Char(c) => self.filter.text.push(c),
            Key::Backspace => drop(self.filter.text.pop()),
            Key::DeleteWord | Key::Ctrl('w' | 'u') => self.filter.text.clear(),
            Key::Esc | Key::Ctrl('c') => self.filter = Filter::default(),
            Key::Enter => self.filter.typing = false,
            Key::Up => return self.moved(context, |at, _| at.saturating_sub(1)),
            Key::Down => return self.moved(context, |at, _| at + 1),
            _ => return Reply::unused(),
        }
        // What matches best is where people look.
        self.follow_selection(context)
    }

    fn snooze(&mut self, context: &Context<'_>) -> Reply {
        let Some(brief) = self.selected_brief(context) else { return Reply::default() };
        let id = TaskId::of(brief);
        match self.section(brief, context.now) {
            Section::Snoozed => drop(self.snoozed.remove(&id)),
            Section::Group(_) => {
                let until = context.now + jiff::SignedDuration::try_from(SNOOZE).unwrap_or_default();
                self.snoozed.insert(id, until);
            }
        }
        self.follow_selection(context)
    }

    fn own_bindings(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        let everywhere = match context.tasks.scope {
            Scope::Repository => messages.tui_key_everywhere(),
            Scope::Everywhere => messages.tui_key_here(),
        };
        let brief = self.selected_brief(context);
        let asks = brief.is_some_and(|brief| Group::of(brief) == Group::NeedsYou);
        let why = brief
            .map_or_else(|| messages.tui_no_task_selected(), |brief| messages.tui_asks_nothing(&brief.name));
        let not_now = (!asks).then_some(why);
        let mut all = Vec::new();
        all.push(Binding::new(Key::Char('a'), messages.tui_key_answer()).not_now(not_now.clone()));
        all.push(Binding::new(Key::Char('n'), messages.tui_key_new()));
        all.extend(actions::bindings(brief, messages));
        all.push(Binding::new(Key::Ctrl('f'), messages.tui_key_filter()));
        all.push(Binding::new(Key::Char('A'), everywhere));
        all.push(Binding::new(Key::Char('z'), messages.tui_key_snooze()).not_now(not_now));
        all.push(Binding::new(Key::Char('s'), messages.tui_key_settings()));
        all.push(
            Binding::new(Key::Down, messages.tui_key_move())
                .or(Key::Up)
                .or(Key::Char('j'))
                .or(Key::Char('k')),
        );
        all.push(Binding::new(Key::Home, messages.tui_key_ends()).or(Key::End));
        all
    }
}

impl Screen for Home {
    fn title(&self, context: &Context<'_>) -> String {
        match (context.tasks.scope, context.top) {
            (Scope::Repository, Some(top)) => {
                top.rsplit('/').find(|part| !part.is_empty()).unwrap_or(top).to_owned()
            }
            (Scope::Everywhere, _) | (Scope::Repository, None) => context.messages.tui_all_repositories(),
        }
    }

    fn opened(&mut self, context: &Context<'_>) -> Reply {
        Reply::effect(Effect::Follow(context.tasks.scope))
            .and(Effect::Read(Job::new(|services| services.app.starts_by_itself().ok().flatten())))
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if self.filter.typing {
            return self.filter_key(key, context);
        }
        let page = usize::from(context.page.height.saturating_sub(2)).max(1);
        match key {
            Key::Down | Key::Char('j') => self.moved(context, |at, _| at + 1),
            Key::Up | Key::Char('k') => self.moved(context, |at, _| at.saturating_sub(1)),
            Key::PageDown => self.moved(context, |at, _| at + page),
            Key::PageUp => self.moved(context, |at, _| at.saturating_sub(page)),
            Key::Home => self.moved(context, |_, _| 0),
            Key::End => self.moved(context, |_, last| last),
            Key::Ctrl('f') => {
                self.filter.typing = true;
                Reply::default()
            }
            Key::Esc if !self.filter.text.is_empty() => {
                self.filter = Filter::default();
                self.follow_selection(context)
            }
            Key::Char('A') => {
                self.selected = None;
                let other = match context.tasks.scope {
                    Scope::Repository => Scope::Everywhere,
                    Scope::Everywhere if context.top.is_some() => Scope::Repository,
                    Scope::Everywhere => return Reply::say(context.messages.tui_no_repository_here()),
                };
                Reply::effect(Effect::Follow(other))
            }
            Key::Char('n') => Reply::to(NewTask::new(self.draft.take())),
            Key::Char('s') => Reply::to(Settings::new()),
            Key::Char('z') => self.snooze(context),
            Key::Char('a') => match self.selected_brief(context) {
                Some(brief) => Reply::to(DecisionCard::new(brief, context)),
                None => Reply::default(),
            },
            key => match self.selected_brief(context) {
                Some(brief) => actions::key(key, brief, context).unwrap_or_else(Reply::unused),
                None => Reply::unused(),
            },
        }
    }

    fn mouse(&mut self, mouse: Mouse, context: &Context<'_>) -> Reply {
        match mouse.did {
            Did::WheelUp => self.moved(context, |at, _| at.saturating_sub(1)),
            Did::WheelDown => self.moved(context, |at, _| at + 1),
            Did::Press => match self.rows.click(mouse.at) {
                Some(Clicked::Again(place)) if place == self.position => self.key(Key::Enter, context),
                Some(Clicked::Once(place) | Clicked::Again(place)) => self.moved(context, |_, _| place),
                None => Reply::default(),
            },
            Did::Drag | Did::Release => Reply::default(),
        }
    }

    fn pasted(&mut self, text: &str, context: &Context<'_>) -> Reply {
        if !self.filter.typing {
            return Reply::default();
        }
        self.filter.text.push_str(&super::text::one_line(text));
        self.follow_selection(context)
    }

    fn answered(&mut self, answer: Answer, context: &Context<'_>) -> Reply {
        let answer = match answer.downcast::<Draft>() {
            Ok(draft) => {
                self.draft = Some(*draft);
                return Reply::default();
            }
            Err(other) => other,
        };
        let answer = match answer.downcast::<Option<StartsByItself>>() {
            Ok(task) => {
                let card = task.map(|task| Launch::new(task, context.now));
                return card.map_or_else(Reply::default, Reply::to);
            }
            Err(other) => other,
        };
        self.preview.take(answer);
        self.load_preview(context)
    }

    fn acted(&mut self, done: &OperationResult, context: &Context<'_>) -> Reply {
        if let OperationResult::Started { task, .. } = done {
            self.expected = Some(task.clone());
            return self.follow_selection(context);
        }
        Reply::default()
    }

    fn tasks_changed(&mut self, context: &Context<'_>) -> Reply {
        self.preview.is_stale();
        self.follow_selection(context)
    }

    fn resized(&mut self, context: &Context<'_>) -> Reply {
        self.follow_selection(context)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let shown = self.shown(context);
        match &context.tasks.state {
            State::Known if context.tasks.entries.is_empty() => empty::draw(frame, area, context),
            State::Loading => empty::loading(frame, area, context),
            State::Failed(failure) => empty::failed(frame, area, failure, context),
            State::Known => {
                let (list, preview) = preview::split(area);
                table::draw(frame, list, self, &shown, context);
                if let Some(preview) = preview {
                    self.preview.draw(frame, preview, context);
                }
            }
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        if self.filter.typing {
            let messages = context.messages;
            return vec![
                Binding::new(Key::Enter, messages.tui_key_filter_done()),
                Binding::new(Key::Esc, messages.tui_key_filter_off()),
                Binding::new(Key::Down, messages.tui_key_move()).or(Key::Up),
            ];
        }
        self.own_bindings(context)
    }

    fn takes_text(&self) -> bool {
        self.filter.typing
    }

    fn is_home(&self) -> bool {
        true
    }

    fn task<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        self.selected_brief(context)
    }

    fn changes_at(&self, context: &Context<'_>) -> Option<Timestamp> {
        let clock = context
            .tasks
            .entries
            .iter()
            .filter(|entry| entry.brief.status == Status::Running)
            .filter_map(|entry| table::clock_moves_at(&entry.brief, context.now))
            .min();
        let wakes = self.snoozed.values().copied().filter(|until| *until > context.now).min();
        [clock, wakes].into_iter().flatten().min()
    }
}

impl Home {
    /// How rows are put into words here.
    fn frame(context: &Context<'_>) -> listing::Frame {
        listing::Frame {
            width: None,
            now: context.now,
            zone: context.zone.clone(),
            done: DoneTasks::Shown,
            scope: listing::Scope::Everywhere,
            sizes: Sizes::Large,
            messages: context.messages,
        }
    }
}

#[cfg(test)]
mod tests;
