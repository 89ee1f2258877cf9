//! What the page of a task looks like.

use std::time::Duration;

use dacapo_app::present::page::{Arrangement, Decision, Lines, Page, Section, Step};
use dacapo_app::present::words;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Focus, TaskPage};
use crate::tui::screen::Context;
use crate::tui::text;
use crate::tui::theme::Role;

/// Less than this has no room for two columns.
const TWO_COLUMNS: u16 = 64;

/// `fix-tests  running 3/10  9m12s  $1.20  dacapo/fix-tests`.
pub(super) fn title(page: &TaskPage, context: &Context<'_>) -> String {
    let Some(known) = &page.page else { return page.id.name.clone() };
    let mut parts = vec![known.name.clone()];
    parts.extend(known.facts.iter().cloned());
    let elapsed = known.clock.at(context.now);
    if elapsed >= Duration::from_secs(1) {
        parts.push(words::duration(elapsed));
    }
    parts.extend(known.more_facts.iter().cloned());
    parts.iter().map(|part| text::clean(part)).collect::<Vec<_>>().join("  ")
}

pub(super) fn draw(page: &TaskPage, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
    let Some(known) = &page.page else {
        let words = page.problem.clone().unwrap_or_else(|| context.messages.tui_reading());
        let lines = text::wrap(&text::clean(&words), usize::from(area.width).max(1));
        frame.render_widget(Paragraph::new(lines.into_iter().map(Line::from).collect::<Vec<_>>()), area);
        return;
    };
    let area = decision(known, frame, area, context);
    let area = phase(page, known, frame, area, context);
    match known.arrangement {
        Arrangement::StepsBeside => steps_beside(page, known, frame, area, context),
        Arrangement::PanesAbove => panes_above(page, known, frame, area, context),
    }
}

/// What a person is asked stands below everything else; what is left above it.
fn decision(known: &Page, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) -> Rect {
    let Some(Decision { question, offers }) = &known.decision else { return area };
    let columns = usize::from(area.width).saturating_sub(2).max(1);
    let mut lines: Vec<Line<'static>> = text::wrap(&text::one_line(question), columns)
        .into_iter()
        .take(3)
        .map(|line| Line::from(Span::styled(line, context.style(Role::Person))))
        .collect();
    let widest = offers.iter().map(|offer| text::width(&text::clean(&offer.next.meaning))).max().unwrap_or(0);
    let widest = widest.min(columns.saturating_sub(2));
    for offer in offers {
        let key = offer.key.map_or_else(|| " ".to_owned(), String::from);
        let command = text::clean(&offer.next.command);
        let meaning = text::clean(&offer.next.meaning);
        let spans = vec![
            Span::styled(format!("{key} "), context.style(Role::Accent)),
            Span::styled(text::fit(&meaning, widest), context.style(Role::Plain)),
            Span::styled(
                format!("  {}", text::cut(&command, columns.saturating_sub(widest + 4))),
                context.style(Role::Faint),
            ),
        ];
        lines.push(Line::from(spans));
    }
    let height = u16::try_from(lines.len() + 1).unwrap_or(area.height).min(area.height / 2);
    let at = Rect { y: area.bottom() - height, height, ..area };
    rule(frame, at, &context.messages.page_decide(), "", Role::Person, context);
    let inner = Rect {
        x: at.x + 1,
        y: at.y + 1,
        width: at.width.saturating_sub(1),
        height: height.saturating_sub(1),
    };
    frame.render_widget(Paragraph::new(lines), inner);
    Rect { height: area.height - height, ..area }
}

/// What goes on, in the lowest line that is left.
fn phase(page: &TaskPage, known: &Page, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) -> Rect {
    let (words, role) = match (&page.problem, &known.phase) {
        (Some(problem), _) => (problem, Role::Bad),
        (None, Some(phase)) => (phase, Role::Accent),
        (None, None) => return area,
    };
    if area.height < 6 {
        return area;
    }
    let at = Rect { y: area.bottom() - 1, height: 1, ..area };
    let words = text::cut(&text::one_line(words), usize::from(area.width).saturating_sub(3));
    let line = Line::from(vec![
        Span::styled(" ▸ ", context.style(role)),
        Span::styled(words, context.style(Role::Plain)),
    ]);
    frame.render_widget(line, at);
    Rect { height: area.height - 1, ..area }
}

/// `─ title ───────── right ─`, over the first line of an area.
fn rule(frame: &mut Frame<'_>, area: Rect, title: &str, right: &str, role: Role, context: &Context<'_>) {
    let columns = usize::from(area.width);
    let border = |text: String| Span::styled(text, context.style(Role::Border));
    let right = text::cut(&text::clean(right), columns.saturating_sub(8) * 2 / 3);
    let room = columns.saturating_sub(text::width(&right) + 6);
    let title = text::cut(&text::clean(title), room);
    let used = text::width(&title) + text::width(&right) + 3 + if right.is_empty() { 0 } else { 3 };
    let mut spans = vec![border("─ ".into()), Span::styled(title, context.style(role)), border(" ".into())];
    spans.push(border("─".repeat(columns.saturating_sub(used))));
    if !right.is_empty() {
        spans.push(Span::styled(format!(" {right} "), context.style(Role::Accent)));
        spans.push(border("─".into()));
    }
    frame.render_widget(Line::from(spans), Rect { height: 1, ..area });
}

/// The line between two columns.
fn divider(frame: &mut Frame<'_>, x: u16, area: Rect, context: &Context<'_>) {
    for y in area.y..area.bottom() {
        let sign = if y == area.y { "┬" } else { "│" };
        frame.render_widget(
            Span::styled(sign, context.style(Role::Border)),
            Rect { x, y, width: 1, height: 1 },
        );
    }
}

fn steps_beside(page: &TaskPage, known: &Page, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
    let two = area.width >= TWO_COLUMNS;
    let width = if two { (area.width * 3 / 10).clamp(26, 48) } else { area.width };
    if !two {
        match page.focus {
            Focus::Steps => {
                left(page, known, frame, area, context);
            }
            Focus::Pane(_) => pane(page, known, 0, frame, area, context),
        }
        return;
    }
    let joint = left(page, known, frame, Rect { width, ..area }, context);
    divider(frame, area.x + width, area, context);
    if let Some(y) = joint {
        let at = Rect { x: area.x + width, y, width: 1, height: 1 };
        frame.render_widget(Span::styled("┤", context.style(Role::Border)), at);
    }
    let right = Rect { x: area.x + width + 1, width: area.width - width - 1, ..area };
    pane(page, known, 0, frame, right, context);
}

/// The steps, and below them what is to be reached; where the line between them is.
fn left(
    page: &TaskPage,
    known: &Page,
    frame: &mut Frame<'_>,
    area: Rect,
    context: &Context<'_>,
) -> Option<u16> {
    let sections: Vec<Line<'static>> =
        known.sections.iter().flat_map(|section| section_lines(section, area.width, context)).collect();
    let below = u16::try_from(sections.len() + 1).unwrap_or(area.height);
    let steps: Vec<(Option<u32>, Line<'static>)> =
        known.steps.iter().flat_map(|step| step_lines(step, page, area.width, context)).collect();
    let wanted = u16::try_from(steps.len() + 1).unwrap_or(area.height);
    let height = wanted.min(area.height.saturating_sub(below.min(area.height / 2))).max(2.min(area.height));
    let at = Rect { height, ..area };
    let role = if page.focus == Focus::Steps { Role::Accent } else { Role::Strong };
    rule(frame, at, &context.messages.page_steps_iterations(), "", role, context);
    // What is selected is in sight, else the newest.
    let room = usize::from(height.saturating_sub(1));
    let shown = page.step();
    let last = steps.iter().rposition(|(step, _)| *step == shown).map_or(steps.len(), |at| at + 1);
    let from = last.max(room).saturating_sub(room).min(steps.len().saturating_sub(room));
    let inner = Rect { y: at.y + 1, height: height.saturating_sub(1), ..at };
    page.drawn.clear();
    for ((step, _), y) in steps.iter().skip(from).zip(inner.y..inner.bottom()) {
        step.iter().for_each(|step| page.drawn.put(Rect { y, height: 1, ..inner }, *step));
    }
    let lines: Vec<Line<'static>> = steps.into_iter().skip(from).take(room).map(|(_, line)| line).collect();
    frame.render_widget(Paragraph::new(lines), inner);
    let row = shown.filter(|_| page.focus == Focus::Steps).and_then(|step| page.drawn.area_of(step));
    if let Some(row) = row {
        frame.buffer_mut().set_style(row, context.style(Role::Selected));
    }
    let rest = Rect { y: at.bottom(), height: area.height - height, ..area };
    if rest.height < 2 {
        return None;
    }
    let title = known.sections.first().map(|section| section.title.clone()).unwrap_or_default();
    rule(frame, rest, &title, "", Role::Strong, context);
    let inner = Rect { y: rest.y + 1, height: rest.height - 1, ..rest };
    frame.render_widget(Paragraph::new(sections), inner);
    Some(rest.y)
}

/// A step, and what is to be said about it.
fn step_lines(
    step: &Step,
    page: &TaskPage,
    width: u16,
    context: &Context<'_>,
) -> Vec<(Option<u32>, Line<'static>)> {
    let columns = usize::from(width);
    let selected = step.number.is_some() && page.step() == step.number;
    let marker = if step.current { "▶" } else { " " };
    let number = step.number.map_or_else(String::new, |number| format!("{} ", number + 1));
    let mut spans = vec![Span::styled(format!("{marker}{number}"), context.style(Role::Accent))];
    spans.extend(text::painted(&step.sign, context.theme).spans);
    let mut facts = Vec::new();
    facts.extend(step.commit.clone());
    if let Some((added, removed)) = step.number.and_then(|number| page.stats.of(number)) {
        facts.push(format!("+{added} -{removed}"));
    }
    if step.files > 0 && columns >= 40 {
        facts.push(context.messages.diff_files(u64::from(step.files)));
    }
    facts.extend(step.took.map(words::duration));
    facts.extend(step.cost.clone().filter(|_| columns >= 36));
    let line = match facts.is_empty() {
        true => text::clean(&step.text),
        false => facts.join(" "),
    };
    spans.push(Span::raw(format!(" {}", text::cut(&line, columns.saturating_sub(text::width(&number) + 4)))));
    let mut first = Line::from(spans);
    if selected {
        first = first.patch_style(context.style(Role::Strong));
    }
    let mut lines = vec![(step.number, first)];
    let room = columns.saturating_sub(5).max(1);
    for remark in &step.remarks {
        let painted = text::painted(remark, context.theme);
        let shown: String = painted.spans.iter().map(|span| span.content.as_ref()).collect();
        let style = painted.spans.first().map(|span| span.style).unwrap_or_default();
        lines
            .push((step.number, Line::from(Span::styled(format!("    {}", text::cut(&shown, room)), style))));
    }
    // What the selected one did, in its own words, where there is room.
    if selected && !facts.is_empty() && !step.text.is_empty() {
        let said = text::cut(&text::clean(&step.text), room);
        lines
            .push((step.number, Line::from(Span::styled(format!("    {said}"), context.style(Role::Faint)))));
    }
    lines
}

fn section_lines(section: &Section, width: u16, context: &Context<'_>) -> Vec<Line<'static>> {
    let columns = usize::from(width).saturating_sub(2).max(1);
    let painted = |text: &String| text::painted(text, context.theme);
    match &section.lines {
        Lines::Below(lines) => lines
            .iter()
            .flat_map(|line| wrap_painted(painted(line), columns))
            .map(|mut line| {
                line.spans.insert(0, Span::raw(" "));
                line
            })
            .collect(),
        Lines::After(items) => {
            let mut lines: Vec<Line<'static>> = Vec::new();
            for item in items.iter().map(painted) {
                match lines.last_mut() {
                    Some(last) if last.width() + 3 + item.width() <= columns => {
                        last.spans.push(Span::raw("   "));
                        last.spans.extend(item.spans);
                    }
                    _ => {
                        let mut line = Line::from(Span::raw(" "));
                        line.spans.extend(item.spans);
                        lines.push(line);
                    }
                }
            }
            lines
        }
    }
}

/// A painted line in as many as it needs; of one with several looks only the first is kept where it is broken.
fn wrap_painted(line: Line<'static>, columns: usize) -> Vec<Line<'static>> {
    if line.width() <= columns {
        return vec![line];
    }
    let style = line.spans.last().map(|span| span.style).unwrap_or_default();
    let plain: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    let wrapped = text::wrap(&plain, columns).into_iter().take(4);
    wrapped.map(|line| Line::from(Span::styled(line, style))).collect()
}

fn pane(page: &TaskPage, known: &Page, nth: usize, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
    let (Some(pane), Some(output)) = (known.panes.get(nth), page.panes.get(nth)) else { return };
    let focused = page.focus == Focus::Pane(nth);
    let mut title = match page.step() {
        Some(step) => format!("{} · {}", step + 1, pane.title),
        None => pane.title.clone(),
    };
    let is_live = pane.active && page.selected.is_none();
    if is_live {
        title = format!("● {title}");
    }
    let role = if focused { Role::Accent } else { Role::Strong };
    rule(frame, area, &title, &output.state(), role, context);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    output.draw(frame, body, context);
}

fn panes_above(page: &TaskPage, known: &Page, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
    let sections: Vec<(String, Vec<Line<'static>>)> = known
        .sections
        .iter()
        .map(|section| (section.title.clone(), section_lines(section, area.width, context)))
        .collect();
    // At most half of it; a line that no section can use is for the panes.
    let below = sections.iter().fold(0, |below, (_, lines)| {
        let left = area.height / 2 - below;
        let wanted = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX).min(left);
        below + if left < 2 { 0 } else { wanted }
    });
    let above = Rect { height: area.height - below, ..area };
    let count = u16::try_from(known.panes.len()).unwrap_or(1).max(1);
    if area.width < TWO_COLUMNS {
        pane(page, known, page.focused_pane(), frame, above, context);
    } else {
        let width = above.width / count;
        for nth in 0..count {
            let x = above.x + nth * width;
            let last = nth + 1 == count;
            let own = if last { above.right() - x } else { width - 1 };
            pane(page, known, usize::from(nth), frame, Rect { x, width: own, ..above }, context);
            if !last {
                divider(frame, x + width - 1, above, context);
            }
        }
    }
    let mut y = above.bottom();
    for (title, lines) in sections {
        let left = area.bottom().saturating_sub(y);
        if left < 2 {
            break;
        }
        let height = u16::try_from(lines.len() + 1).unwrap_or(left).min(left);
        let at = Rect { y, height, ..area };
        rule(frame, at, &title, "", Role::Strong, context);
        frame.render_widget(Paragraph::new(lines), Rect { y: y + 1, height: height - 1, ..area });
        y += height;
    }
}
