//! The home screen without tasks: what a newcomer can do.

use dacapo_app::operations::list::Scope;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::error::Failure;
use crate::tui::screen::Context;
use crate::tui::text;
use crate::tui::theme::Role;

pub(super) fn loading(frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
    frame.render_widget(Span::styled(context.messages.tui_loading(), context.style(Role::Faint)), area);
}

pub(super) fn failed(frame: &mut Frame<'_>, area: Rect, failure: &Failure, context: &Context<'_>) {
    let shown = failure.shown(context.messages).to_string();
    let lines = text::wrap(&shown, usize::from(area.width).saturating_sub(2));
    frame.render_widget(Paragraph::new(lines.into_iter().map(Line::from).collect::<Vec<_>>()), area);
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
    let messages = context.messages;
    let title = match context.tasks.scope {
        Scope::Repository => messages.tui_empty_here(),
        Scope::Everywhere => messages.tui_empty_everywhere(),
    };
    let mut keys = vec![
        ("n".to_owned(), messages.tui_empty_new()),
        ("/demo".to_owned(), messages.tui_empty_demo()),
        ("/doctor".to_owned(), messages.tui_empty_doctor()),
    ];
    if context.tasks.elsewhere > 0 {
        keys.push(("A".to_owned(), messages.tui_empty_all(context.tasks.elsewhere as u64)));
    }
    keys.push(("?".to_owned(), messages.tui_empty_keys()));
    let widest = keys.iter().map(|(key, _)| text::width(key)).max().unwrap_or(0) + 3;
    let columns = usize::from(area.width).saturating_sub(widest + 4).clamp(1, 70);
    let mut lines = vec![
        Line::default(),
        Line::from(Span::styled(format!("  {title}"), context.style(Role::Strong))),
        Line::default(),
    ];
    for (key, what) in keys {
        for (nth, part) in text::wrap(&what, columns).into_iter().enumerate() {
            let key = if nth == 0 { key.as_str() } else { "" };
            lines.push(Line::from(vec![
                Span::styled(format!("  {}", text::fit(key, widest)), context.style(Role::Accent)),
                Span::raw(part),
            ]));
        }
    }
    frame.render_widget(Paragraph::new(lines), area);
}
