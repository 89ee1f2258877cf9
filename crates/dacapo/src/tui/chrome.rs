//! What is around every page: where one is, which keys there are, what was said last.

use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::effect::{Notice, NoticeKind};
use super::key::Key;
use super::screen::{Binding, Context, Screen, Shape};
use super::text;
use super::theme::Role;

/// How many keys are worth more than how one leaves.
const BEFORE_WAY_OUT: usize = 3;

pub(super) struct Picture<'a> {
    /// The page, and what is on top of it.
    pub(super) visible: Vec<&'a dyn Screen>,
    /// The way here, the home screen first.
    pub(super) titles: Vec<String>,
    pub(super) notice: Option<&'a Notice>,
    /// What is under way; empty: nothing.
    pub(super) acting: String,
}

/// The room that a page has: all but the title and the keys, and in a terminal of a few lines all of it.
pub(super) fn page(size: Size) -> Size {
    let around = if size.height >= 4 { 2 } else { 0 };
    Size::new(size.width, size.height.saturating_sub(around))
}

pub(super) fn draw(frame: &mut Frame<'_>, picture: &Picture<'_>, context: &Context<'_>) {
    let whole = frame.area();
    if whole.is_empty() {
        return;
    }
    let around = u16::from(whole.height >= 4);
    let body = Rect { y: whole.y + around, height: whole.height - 2 * around, ..whole };
    let foot = Rect { y: whole.bottom() - 1, height: 1, ..whole };
    if around == 1 {
        head(frame, Rect { height: 1, ..whole }, picture, context);
        keys(frame, foot, picture, context);
    }
    for screen in &picture.visible {
        match screen.shape() {
            Shape::Page | Shape::Card => screen.draw(frame, body, context),
            Shape::Line => screen.draw(frame, foot, context),
        }
    }
    if let Some(notice) = picture.notice {
        say(frame, body, notice, context);
    }
}

/// `dacapo › fix-tests › diff`, and at the right what is under way.
fn head(frame: &mut Frame<'_>, area: Rect, picture: &Picture<'_>, context: &Context<'_>) {
    let mut spans =
        vec![Span::styled("dacapo", context.style(Role::Accent).patch(context.style(Role::Strong)))];
    for title in &picture.titles {
        spans.push(Span::styled(" › ", context.style(Role::Faint)));
        spans.push(Span::styled(title.clone(), context.style(Role::Strong)));
    }
    frame.render_widget(Line::from(spans), area);
    let acting = text::cut(&picture.acting, usize::from(area.width) / 2);
    let width = u16::try_from(text::width(&acting)).unwrap_or(area.width).min(area.width);
    if width > 0 {
        let at = Rect { x: area.right() - width, width, ..area };
        frame.render_widget(Span::styled(acting, context.style(Role::Accent)), at);
    }
}

/// As many keys as fit, the most useful first.
fn keys(frame: &mut Frame<'_>, area: Rect, picture: &Picture<'_>, context: &Context<'_>) {
    let Some(top) = picture.visible.last() else { return };
    let help = if top.takes_text() { Key::Function(1) } else { Key::Char('?') };
    let all = Binding::new(help, context.messages.tui_key_help());
    let mut last = key_spans(&all, context);
    let keys = top.keys(context);
    let usable = || keys.iter().filter(|binding| binding.not_now.is_none());
    if let Some(way_out) = way_out(*top, context) {
        let way_out = key_spans(&way_out, context);
        let first = usable().take(BEFORE_WAY_OUT).flat_map(|binding| key_spans(binding, context));
        let width: usize =
            first.chain(way_out.clone()).chain(last.clone()).map(|span| text::width(&span.content)).sum();
        if width <= usize::from(area.width) {
            last.splice(0..0, way_out);
        }
    }
    let last_width: usize = last.iter().map(|span| text::width(&span.content)).sum();
    let mut spans: Vec<Span<'_>> = Vec::new();
    let mut width = 0;
    for binding in usable() {
        let own = key_spans(binding, context);
        let own_width: usize = own.iter().map(|span| text::width(&span.content)).sum();
        if width + own_width + last_width > usize::from(area.width) {
            continue;
        }
        width += own_width;
        spans.extend(own);
    }
    spans.extend(last);
    frame.render_widget(Line::from(spans), area);
}

/// How one leaves a page that says nothing of it itself.
fn way_out(top: &dyn Screen, context: &Context<'_>) -> Option<Binding> {
    let says = top.keys(context).iter().any(|binding| binding.keys.contains(&Key::Esc));
    if says || top.shape() != Shape::Page || top.takes_text() {
        return None;
    }
    Some(match top.is_home() {
        true => Binding::new(Key::Char('q'), context.messages.tui_key_quit_short()),
        false => Binding::new(Key::Esc, context.messages.tui_key_back()),
    })
}

fn key_spans(binding: &Binding, context: &Context<'_>) -> Vec<Span<'static>> {
    let name = match binding.keys.as_slice() {
        // Who is asked wants to know what Enter does.
        [yes @ Key::Char('y'), Key::Enter, ..] => {
            format!("{}/{}", yes.name(context.glyphs), Key::Enter.name(context.glyphs))
        }
        keys => keys.first().map(|key| key.name(context.glyphs)).unwrap_or_default(),
    };
    vec![
        Span::styled(name, context.style(Role::Accent)),
        Span::styled(format!(" {}  ", binding.what), context.style(Role::Plain)),
    ]
}

/// Over the lowest lines of the page, until the next key.
fn say(frame: &mut Frame<'_>, area: Rect, notice: &Notice, context: &Context<'_>) {
    let (role, sign) = match notice.kind {
        NoticeKind::Done => (Role::Good, "✓ "),
        NoticeKind::Info => (Role::Accent, "› "),
        NoticeKind::Problem => (Role::Bad, "✗ "),
    };
    let columns = usize::from(area.width.saturating_sub(3)).max(1);
    let most = usize::from(area.height.saturating_sub(1)).max(1);
    let mut lines = text::wrap(&notice.text.lines().map(text::clean).collect::<Vec<_>>().join("\n"), columns);
    lines.truncate(most);
    let height = u16::try_from(lines.len()).unwrap_or(area.height).min(area.height);
    let at = Rect { y: area.bottom() - height, height, ..area };
    frame.render_widget(Clear, at);
    let lines: Vec<Line<'_>> = lines
        .into_iter()
        .enumerate()
        .map(|(nth, line)| {
            let sign = if nth == 0 { Span::styled(sign, context.style(role)) } else { Span::raw("  ") };
            Line::from(vec![sign, Span::styled(line, context.style(Role::Plain))])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), at);
}

/// The box of a card in the middle of a page: as wide and high as its content, and no more than there is.
pub(crate) fn card(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    size: Size,
    context: &Context<'_>,
) -> Rect {
    let width = (size.width + 4).min(area.width);
    let height = (size.height + 2).min(area.height);
    let at =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    clear(frame, at);
    let title = Line::from(Span::styled(format!(" {title} "), context.style(Role::Strong)));
    let block = Block::bordered().title(title).border_style(context.style(Role::Accent));
    let inner = block.inner(at);
    frame.render_widget(block, at);
    Rect {
        x: inner.x + u16::from(inner.width > 2),
        width: inner.width.saturating_sub(2).max(1).min(inner.width),
        ..inner
    }
}

/// Clears an area, and the halves of wide characters that would reach into it: they would cover its first column.
fn clear(frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    let Some(x) = area.x.checked_sub(1) else { return };
    for y in area.y..area.bottom() {
        let cell = &mut frame.buffer_mut()[(x, y)];
        if text::width(cell.symbol()) > 1 {
            cell.set_symbol(" ");
        }
    }
}
