//! A card with a few values, one of which is picked; the screen below gets it.

use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::chrome;
use super::key::Key;
use super::screen::{Binding, Context, Reply, Screen, Shape};
use super::text;
use super::theme::Role;

/// The card.
pub(crate) struct ChoiceCard {
    title: String,
    choices: Vec<String>,
    /// The one that counts so far.
    now: Option<usize>,
    selected: usize,
}

/// What was picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picked(pub(crate) String);

impl ChoiceCard {
    pub(crate) fn new(title: &str, choices: Vec<String>, now: Option<&str>) -> Self {
        let now = choices.iter().position(|choice| Some(choice.as_str()) == now);
        Self { title: title.to_owned(), choices, now, selected: now.unwrap_or(0) }
    }

    fn pick(&self, nth: usize) -> Reply {
        self.choices.get(nth).map_or_else(Reply::default, |choice| Reply::back_with(Picked(choice.clone())))
    }
}

impl Screen for ChoiceCard {
    fn title(&self, _: &Context<'_>) -> String {
        self.title.clone()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn key(&mut self, key: Key, _: &Context<'_>) -> Reply {
        let last = self.choices.len().saturating_sub(1);
        match key {
            Key::Down | Key::Char('j') => self.selected = (self.selected + 1).min(last),
            Key::Up | Key::Char('k') => self.selected = self.selected.saturating_sub(1),
            Key::Enter | Key::Char(' ') => return self.pick(self.selected),
            Key::Char(digit @ '1'..='9') => return self.pick(digit as usize - '1' as usize),
            _ => return Reply::unused(),
        }
        Reply::default()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let row = |(nth, choice): (usize, &String)| {
            let selected = nth == self.selected;
            let sign = if selected { "▶ " } else { "  " };
            let role = if selected { Role::Strong } else { Role::Plain };
            let mut spans = vec![
                Span::styled(sign, context.style(Role::Accent)),
                Span::styled(format!("{} {}", nth + 1, text::clean(choice)), context.style(role)),
            ];
            if self.now == Some(nth) {
                let now = format!("  {}", context.messages.tui_choice_now());
                spans.push(Span::styled(now, context.style(Role::Faint)));
            }
            Line::from(spans)
        };
        let lines: Vec<Line<'_>> = self.choices.iter().enumerate().map(row).collect();
        let widest = lines.iter().map(Line::width).max().unwrap_or(0).max(text::width(&self.title) + 2);
        let size = Size::new(
            u16::try_from(widest).unwrap_or(40),
            u16::try_from(lines.len()).unwrap_or(u16::MAX - 8),
        );
        let inner = chrome::card(frame, area, &self.title, size, context);
        frame.render_widget(Paragraph::new(lines), inner);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        vec![
            Binding::new(Key::Enter, messages.tui_key_choose()).or(Key::Char('1')),
            Binding::new(Key::Down, messages.tui_key_move()).or(Key::Up),
            Binding::new(Key::Esc, messages.tui_key_cancel()),
        ]
    }
}
