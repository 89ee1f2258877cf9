//! `?`: every key of where one is, and what the symbols mean.

use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::chrome;
use super::key::Key;
use super::screen::{Binding, Context, Reply, Screen, Shape};
use super::text;
use super::theme::Role;
use crate::messages::Messages;

pub(super) struct Help {
    keys: Vec<Binding>,
    scrolled: usize,
}

impl Help {
    pub(super) fn new(keys: Option<Vec<Binding>>) -> Self {
        Self { keys: keys.unwrap_or_default(), scrolled: 0 }
    }

    fn lines(&self, context: &Context<'_>) -> Vec<Line<'static>> {
        let messages = context.messages;
        let everywhere = everywhere(messages);
        let all = self.keys.iter().chain(&everywhere);
        let names = |binding: &Binding| {
            binding.keys.iter().map(|key| key.name(context.glyphs)).collect::<Vec<_>>().join(" ")
        };
        let widest = all.clone().map(|binding| text::width(&names(binding))).max().unwrap_or(0);
        let row = |binding: &Binding| {
            let mut spans = vec![
                Span::styled(text::fit(&names(binding), widest + 2), context.style(Role::Accent)),
                Span::raw(binding.what.clone()),
            ];
            if let Some(why) = &binding.not_now {
                spans.push(Span::styled(
                    format!("  ({})", why.trim_end_matches(['.', '。'])),
                    context.style(Role::Faint),
                ));
            }
            Line::from(spans)
        };
        let heading = |words: String| Line::from(Span::styled(words, context.style(Role::Strong)));
        let mut lines: Vec<Line<'static>> = self.keys.iter().map(row).collect();
        lines.push(Line::default());
        lines.push(heading(messages.tui_help_everywhere()));
        lines.extend(everywhere.iter().map(row));
        lines.push(Line::default());
        lines.push(heading(messages.tui_help_symbols()));
        for (symbol, role, what) in legend(messages) {
            lines.push(Line::from(vec![
                Span::styled(text::fit(symbol, widest + 2), context.style(role)),
                Span::raw(what),
            ]));
        }
        lines
    }
}

/// Keys that mean the same on every screen.
fn everywhere(messages: Messages) -> Vec<Binding> {
    vec![
        Binding::new(Key::Char('/'), messages.tui_key_command()).or(Key::Char(':')),
        Binding::new(Key::Esc, messages.tui_key_back()),
        Binding::new(Key::Char('q'), messages.tui_key_quit()),
        Binding::new(Key::Ctrl('z'), messages.tui_key_suspend()),
        Binding::new(Key::Ctrl('l'), messages.tui_key_redraw()),
    ]
}

fn legend(messages: Messages) -> [(&'static str, Role, String); 8] {
    [
        ("!", Role::Person, messages.tui_symbol_needs_you()),
        ("✓", Role::Good, messages.tui_symbol_proven()),
        ("✓", Role::Strong, messages.tui_symbol_passed()),
        ("●", Role::Strong, messages.tui_symbol_claimed()),
        ("○", Role::Warn, messages.tui_symbol_stopped()),
        ("✗", Role::Bad, messages.tui_symbol_failed()),
        ("▶", Role::Accent, messages.tui_symbol_running()),
        ("◌", Role::Faint, messages.tui_symbol_waiting()),
    ]
}

impl Screen for Help {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_help_title()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        let room = usize::from(context.page.height.saturating_sub(2));
        let most = self.lines(context).len().saturating_sub(room);
        match key {
            Key::Down | Key::Char('j') => self.scrolled = (self.scrolled + 1).min(most),
            Key::Up | Key::Char('k') => self.scrolled = self.scrolled.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => self.scrolled = (self.scrolled + room).min(most),
            Key::PageUp => self.scrolled = self.scrolled.saturating_sub(room),
            Key::Home => self.scrolled = 0,
            Key::End => self.scrolled = most,
            Key::Char('?') | Key::Enter => return Reply::back(),
            _ => return Reply::unused(),
        }
        Reply::default()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let lines = self.lines(context);
        let width = lines.iter().map(Line::width).max().unwrap_or(0);
        let size = Size::new(
            u16::try_from(width).unwrap_or(u16::MAX - 8),
            u16::try_from(lines.len()).unwrap_or(u16::MAX - 8),
        );
        let inner = chrome::card(frame, area, &self.title(context), size, context);
        let scrolled = self.scrolled.min(lines.len().saturating_sub(usize::from(inner.height)));
        let shown: Vec<Line<'_>> = lines.into_iter().skip(scrolled).collect();
        frame.render_widget(Paragraph::new(shown), inner);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        vec![
            Binding::new(Key::Esc, messages.tui_key_close()),
            Binding::new(Key::Down, messages.tui_key_scroll()).or(Key::Up),
        ]
    }
}
