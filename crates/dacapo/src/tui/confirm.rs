//! A card that asks before work is ended, dropped or merged.

use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::chrome;
use super::effect::{Act, Effect};
use super::key::Key;
use super::screen::{Binding, Context, Go, Reply, Screen, Shape};
use super::text;
use super::theme::Role;

/// Columns of its text.
const WIDTH: usize = 60;

pub(crate) struct Confirm {
    question: String,
    detail: Option<String>,
    acts: Vec<Act>,
}

impl Confirm {
    pub(crate) fn new(question: String, detail: Option<String>, act: Act) -> Self {
        Self::all(question, detail, vec![act])
    }

    /// One question for several operations.
    pub(crate) fn all(question: String, detail: Option<String>, acts: Vec<Act>) -> Self {
        Self { question, detail, acts }
    }
}

impl Screen for Confirm {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_confirm_title()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn key(&mut self, key: Key, _: &Context<'_>) -> Reply {
        match key {
            Key::Char('y' | 'Y') | Key::Enter => {
                let effects = self.acts.iter().cloned().map(Effect::Act).collect();
                Reply { effects, go: Go::Back, unused: false }
            }
            Key::Char('n' | 'N') => Reply::back(),
            _ => Reply::unused(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let columns = WIDTH.min(usize::from(area.width).saturating_sub(4)).max(1);
        let mut lines: Vec<Line<'static>> = text::wrap(&text::clean(&self.question), columns)
            .into_iter()
            .map(|line| Line::from(Span::styled(line, context.style(Role::Strong))))
            .collect();
        if let Some(detail) = &self.detail {
            lines.extend(text::wrap(&text::clean(detail), columns).into_iter().map(Line::from));
        }
        let width = lines.iter().map(Line::width).max().unwrap_or(0);
        let size = Size::new(u16::try_from(width).unwrap_or(60), u16::try_from(lines.len()).unwrap_or(3));
        let inner = chrome::card(frame, area, &self.title(context), size, context);
        frame.render_widget(Paragraph::new(lines), inner);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        vec![
            Binding::new(Key::Char('y'), messages.tui_key_yes()).or(Key::Enter),
            Binding::new(Key::Char('n'), messages.tui_key_no()).or(Key::Esc),
        ]
    }
}
