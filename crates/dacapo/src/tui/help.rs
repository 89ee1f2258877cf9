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
    everywhere: Vec<Binding>,
    scrolled: usize,
}

impl Help {
    /// The keys of a screen.
    pub(super) fn of(screen: &dyn Screen, context: &Context<'_>) -> Self {
        let mut everywhere = everywhere(context.messages);
        if screen.takes_text() {
            // Letters go into the text.
            everywhere.retain(|binding| !matches!(binding.keys[0], Key::Char(_)));
        }
        Self { keys: screen.keys(context), everywhere, scrolled: 0 }
    }

    fn lines(&self, context: &Context<'_>) -> Vec<Line<'static>> {
        let messages = context.messages;
        let names = |binding: &Binding| {
            binding.keys.iter().map(|key| key.name(context.glyphs)).collect::<Vec<_>>().join(" ")
        };
        let all = self.keys.iter().chain(&self.everywhere);
        let indent = all.map(|binding| text::width(&names(binding))).max().unwrap_or(0) + 2;
        let columns = usize::from(context.page.width).saturating_sub(4 + indent).max(10);
        let row = |key: &str, what: &str, roles: (Role, Role)| {
            let parts = text::wrap(what, columns).into_iter().enumerate();
            let line = |(nth, part): (usize, String)| {
                let key = if nth == 0 { key } else { "" };
                Line::from(vec![
                    Span::styled(text::fit(key, indent), context.style(roles.0)),
                    Span::styled(part, context.style(roles.1)),
                ])
            };
            parts.map(line).collect::<Vec<_>>()
        };
        let heading = |words: &str, role: Role| {
            let wrapped = text::wrap(words, columns + indent);
            wrapped
                .into_iter()
                .map(|line| Line::from(Span::styled(line, context.style(role))))
                .collect::<Vec<_>>()
        };
        let usable = |binding: &&Binding| binding.not_now.is_none();
        let mut lines: Vec<Line<'static>> = Vec::new();
        for binding in self.keys.iter().filter(usable) {
            lines.extend(row(&names(binding), &binding.what, (Role::Accent, Role::Plain)));
        }
        lines.push(Line::default());
        lines.extend(heading(&messages.tui_help_everywhere(), Role::Strong));
        for binding in &self.everywhere {
            lines.extend(row(&names(binding), &binding.what, (Role::Accent, Role::Plain)));
        }
        // What does nothing now, below the reason: it is said once.
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self.keys.iter().filter_map(|binding| binding.not_now.as_deref()) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if !reasons.is_empty() {
            lines.push(Line::default());
            lines.extend(heading(&messages.tui_help_not_now(), Role::Strong));
        }
        for reason in reasons {
            lines.extend(heading(reason, Role::Plain));
            for binding in self.keys.iter().filter(|binding| binding.not_now.as_deref() == Some(reason)) {
                lines.extend(row(&names(binding), &binding.what, (Role::Faint, Role::Faint)));
            }
        }
        lines.push(Line::default());
        lines.extend(heading(&messages.tui_help_symbols(), Role::Strong));
        for (symbol, role, what) in legend(messages) {
            lines.extend(row(symbol, &what, (role, Role::Plain)));
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
