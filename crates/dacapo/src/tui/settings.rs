//! The settings: what each is, where it comes from, and a way to change it in the file of the user or of the project. What there
//! is to set comes from the schema, so that a new setting is here without a word.

use dacapo_app::operations::act::{Operation, OperationResult};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::choice::{ChoiceCard, Picked};
use super::effect::{Act, Effect, Job};
use super::field::{Field, Lines};
use super::key::Key;
use super::mouse::{Clicked, Did, Mouse, Rows};
use super::screen::{Answer, Binding, Context, Reply, Screen};
use super::text;
use super::theme::Role;
use crate::config::Whose;
use crate::error::Failure;

mod rows;

use rows::{Form, Setting, SettingRow};

pub(crate) struct Settings {
    read: Option<Result<Vec<SettingRow>, Failure>>,
    /// Of the settings alone, headings aside.
    selected: usize,
    top: usize,
    whose: Whose,
    /// The value that is being typed.
    typing: Option<Field>,
    /// The settings as they were drawn.
    drawn: Rows<usize>,
    /// The user's file, as it is shown.
    file: String,
}

/// What the read of this page gives.
struct Came {
    rows: Result<Vec<SettingRow>, Failure>,
    file: String,
}

impl Settings {
    pub(crate) fn new() -> Self {
        let drawn = Rows::default();
        Self { read: None, selected: 0, top: 0, whose: Whose::User, typing: None, drawn, file: String::new() }
    }

    fn read(context: &Context<'_>) -> Effect {
        let messages = context.messages;
        Effect::Read(Job::new(move |services| {
            let file = services.app.user_sources().user_file;
            let file = file.map(|file| messages.path(&file)).unwrap_or_default();
            Came { rows: rows::read(&services.app, messages), file }
        }))
    }

    fn rows(&self) -> &[SettingRow] {
        match &self.read {
            Some(Ok(rows)) => rows,
            Some(Err(_)) | None => &[],
        }
    }

    fn settings(&self) -> Vec<(usize, &Setting)> {
        let all = self.rows().iter().enumerate();
        all.filter_map(|(at, row)| match row {
            SettingRow::Setting(setting) => Some((at, setting)),
            SettingRow::Heading(_) => None,
        })
        .collect()
    }

    fn selected(&self) -> Option<&Setting> {
        self.settings().get(self.selected).map(|(_, setting)| *setting)
    }

    fn select(&mut self, to: usize, context: &Context<'_>) {
        let settings = self.settings();
        let place = to.min(settings.len().saturating_sub(1));
        let at = settings.get(place).map_or(0, |(at, _)| *at);
        let first_heading = place == 0;
        self.selected = place;
        let height = usize::from(context.page.height.saturating_sub(self.about_height(context))).max(1);
        let first = if first_heading { 0 } else { at };
        if first < self.top {
            self.top = first;
        }
        if at >= self.top + height {
            self.top = at + 1 - height;
        }
    }

    /// Changes the selected setting: a switch at once, a choice by a card, anything else by typing.
    fn change(&mut self) -> Reply {
        let Some(setting) = self.selected().cloned() else { return Reply::default() };
        match &setting.form {
            Form::Switch => {
                let on = setting.value.as_deref() == Some("true");
                self.set(&setting.key, if on { "false" } else { "true" })
            }
            Form::OneOf(choices) => {
                let now = setting.value.as_deref();
                Reply::to(ChoiceCard::new(&setting.key, choices.clone(), now))
            }
            Form::Text => {
                let value = setting.value.filter(|_| !setting.hidden).unwrap_or_default();
                self.typing = Some(Field::with(Lines::One, &value));
                Reply::default()
            }
        }
    }

    fn set(&self, key: &str, value: &str) -> Reply {
        let operation =
            Operation::SetConfig { key: key.to_owned(), value: value.to_owned(), file: self.whose };
        Reply::effect(Effect::Act(Act::new(operation)))
    }

    fn typed(&mut self, key: Key, context: &Context<'_>) -> Reply {
        let Some(field) = &mut self.typing else { return Reply::unused() };
        match key {
            Key::Enter => {
                let value = field.text().to_owned();
                self.typing = None;
                match self.selected().map(|setting| setting.key.clone()) {
                    Some(key) => self.set(&key, &value),
                    None => Reply::default(),
                }
            }
            Key::Esc | Key::Ctrl('c') => {
                self.typing = None;
                Reply::default()
            }
            key if field.key(key, context.page.width.into()) => Reply::default(),
            _ => Reply::unused(),
        }
    }

    fn draw_rows(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let selected = self.settings().get(self.selected).map(|(at, _)| *at);
        let widest = |of: &dyn Fn(&Setting) -> usize| {
            self.settings().iter().map(|(_, setting)| of(setting)).max().unwrap_or(0)
        };
        let width = usize::from(area.width);
        let label = widest(&|setting| text::width(&setting.label)).min(width / 2);
        let value = widest(&|setting| text::width(setting.value.as_deref().unwrap_or_default()));
        let value = value.min(width.saturating_sub(label + 4) * 3 / 5).max(8);
        let numbers: Vec<usize> = self.settings().iter().map(|(at, _)| *at).collect();
        self.drawn.clear();
        let shown = self.rows().iter().enumerate().skip(self.top).take(area.height.into());
        for (nth, (at, row)) in shown.enumerate() {
            let line = Rect { y: area.y + u16::try_from(nth).unwrap_or(0), height: 1, ..area };
            match row {
                SettingRow::Heading(title) => {
                    frame.render_widget(Span::styled(title.clone(), context.style(Role::Strong)), line);
                }
                SettingRow::Setting(setting) => {
                    frame.render_widget(spans(setting, [label, value, width], context), line);
                    numbers.binary_search(&at).into_iter().for_each(|nth| self.drawn.put(line, nth));
                    if Some(at) == selected {
                        frame.buffer_mut().set_style(line, context.style(Role::Selected));
                    }
                }
            }
        }
    }

    /// Lines for what a setting means: enough for the longest, so that the list holds still, but no more than half of the page.
    fn about_height(&self, context: &Context<'_>) -> u16 {
        let columns = usize::from(context.page.width).max(1);
        let lines = |(_, setting): &(usize, &Setting)| text::wrap(&setting.about, columns).len();
        let longest = self.settings().iter().map(lines).max().unwrap_or(0).max(1);
        let files = text::wrap(&self.file_words(context), columns).len();
        u16::try_from(longest + files + 1).unwrap_or(u16::MAX).min(context.page.height / 2).max(4)
    }

    fn file_words(&self, context: &Context<'_>) -> String {
        match self.whose {
            Whose::User => context.messages.tui_settings_to_user(&self.file),
            Whose::Project => context.messages.tui_settings_to_project(&self.file),
        }
    }

    /// What the selected one means, and which file a change goes into.
    fn draw_about(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let block = Block::new().borders(Borders::TOP).border_style(context.style(Role::Border));
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let Some(setting) = self.selected() else { return };
        if let Some(field) = &self.typing {
            let label = format!("{} = ", setting.key);
            let width = u16::try_from(text::width(&label)).unwrap_or(0).min(inner.width / 2);
            let line = Rect { height: 1.min(inner.height), ..inner };
            frame.render_widget(Span::styled(label, context.style(Role::Accent)), Rect { width, ..line });
            let rest = Rect { x: line.x + width, width: line.width - width, ..line };
            field.draw(frame, rest, context);
            return;
        }
        let columns = usize::from(inner.width).max(1);
        let files = text::wrap(&self.file_words(context), columns);
        let room = usize::from(inner.height).saturating_sub(files.len());
        let about = text::wrap(&setting.about, columns).into_iter().take(room);
        let mut lines: Vec<Line<'_>> = about.map(Line::from).collect();
        lines
            .extend(files.into_iter().map(|line| Line::from(Span::styled(line, context.style(Role::Faint)))));
        frame.render_widget(Paragraph::new(lines), inner);
    }
}

/// In columns of this width; the last is that of the whole line.
fn spans(setting: &Setting, [label, value, width]: [usize; 3], context: &Context<'_>) -> Line<'static> {
    let is_set = setting.is_set;
    let shown = setting.value.as_deref().unwrap_or("–");
    let role = if is_set { Role::Strong } else { Role::Plain };
    let mut spans = vec![
        Span::styled(format!("  {}  ", text::fit(&setting.label, label)), context.style(Role::Plain)),
        Span::styled(format!("{}  ", text::fit(&text::clean(shown), value)), context.style(role)),
    ];
    let warning = match setting.trusted {
        true => String::new(),
        false => format!("  {}", context.messages.tui_settings_untrusted()),
    };
    let room = width.saturating_sub(label + value + 6 + text::width(&warning));
    let fits = text::width(&setting.origin) <= room;
    let origin = if fits { &setting.origin } else { &setting.short_origin };
    let origin = text::cut(&text::clean(origin), room);
    spans.push(Span::styled(origin, context.style(Role::Faint)));
    spans.push(Span::styled(warning, context.style(Role::Warn)));
    Line::from(spans)
}

impl Screen for Settings {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_key_settings()
    }

    fn opened(&mut self, context: &Context<'_>) -> Reply {
        Reply::effect(Self::read(context))
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if self.typing.is_some() {
            return self.typed(key, context);
        }
        let page = usize::from(context.page.height.saturating_sub(self.about_height(context))).max(1);
        match key {
            Key::Down | Key::Char('j') => self.select(self.selected + 1, context),
            Key::Up | Key::Char('k') => self.select(self.selected.saturating_sub(1), context),
            Key::PageDown => self.select(self.selected + page, context),
            Key::PageUp => self.select(self.selected.saturating_sub(page), context),
            Key::Home => self.select(0, context),
            Key::End => self.select(usize::MAX, context),
            Key::Enter | Key::Char(' ') => return self.change(),
            Key::Tab => {
                self.whose = match self.whose {
                    Whose::User => Whose::Project,
                    Whose::Project => Whose::User,
                };
            }
            Key::Delete | Key::Backspace => {
                let Some(key) = self.selected().map(|setting| setting.key.clone()) else {
                    return Reply::default();
                };
                let operation = Operation::UnsetConfig { key, file: self.whose };
                return Reply::effect(Effect::Act(Act::new(operation)));
            }
            _ => return Reply::unused(),
        }
        Reply::default()
    }

    fn mouse(&mut self, mouse: Mouse, context: &Context<'_>) -> Reply {
        if self.typing.is_some() {
            return Reply::default();
        }
        match mouse.did {
            Did::WheelUp => self.select(self.selected.saturating_sub(1), context),
            Did::WheelDown => self.select(self.selected + 1, context),
            Did::Press => match self.drawn.click(mouse.at) {
                Some(Clicked::Again(nth)) if nth == self.selected => return self.change(),
                Some(Clicked::Once(nth) | Clicked::Again(nth)) => self.select(nth, context),
                None => {}
            },
            Did::Drag | Did::Release => {}
        }
        Reply::default()
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        self.typing.iter_mut().for_each(|field| field.insert(text));
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, _: &Context<'_>) -> Reply {
        let answer = match answer.downcast::<Picked>() {
            Ok(picked) => {
                let key = self.selected().map(|setting| setting.key.clone());
                return key.map_or_else(Reply::default, |key| self.set(&key, &picked.0));
            }
            Err(other) => other,
        };
        if let Ok(came) = answer.downcast::<Came>() {
            (self.read, self.file) = (Some(came.rows), came.file);
        }
        Reply::default()
    }

    fn acted(&mut self, done: &OperationResult, context: &Context<'_>) -> Reply {
        let changed = matches!(done, OperationResult::ConfigSet { .. } | OperationResult::ConfigUnset { .. });
        if changed { Reply::effect(Self::read(context)) } else { Reply::default() }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        match &self.read {
            None => {
                let words = Span::styled(context.messages.tui_reading(), context.style(Role::Faint));
                frame.render_widget(words, area);
            }
            Some(Err(failure)) => {
                let words = failure.shown(context.messages).to_string();
                let lines = text::wrap(&words, area.width.into()).into_iter().map(Line::from);
                frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
            }
            Some(Ok(_)) => {
                let about = self.about_height(context).min(area.height.saturating_sub(1));
                let list = Rect { height: area.height - about, ..area };
                self.draw_rows(frame, list, context);
                self.draw_about(frame, Rect { y: list.bottom(), height: about, ..area }, context);
            }
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        if self.typing.is_some() {
            return vec![
                Binding::new(Key::Enter, messages.tui_settings_key_write()),
                Binding::new(Key::Esc, messages.tui_key_cancel()),
            ];
        }
        vec![
            Binding::new(Key::Enter, messages.tui_settings_key_change()).or(Key::Char(' ')),
            Binding::new(Key::Delete, messages.tui_settings_key_unset()).or(Key::Backspace),
            Binding::new(Key::Tab, messages.tui_settings_key_file()),
            Binding::new(Key::Down, messages.tui_key_move()).or(Key::Up),
            Binding::new(Key::Esc, messages.tui_key_back()),
        ]
    }

    fn takes_text(&self) -> bool {
        self.typing.is_some()
    }
}

#[cfg(test)]
mod tests;
