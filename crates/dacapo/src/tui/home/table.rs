//! The rows of the home screen.

use std::time::Duration;

use dacapo_app::operations::list::Scope;
use dacapo_app::present::listing::columns::{self, Sign};
use dacapo_app::present::listing::{Entry, Group, rows};
use dacapo_core::overview::Brief;
use jiff::{SignedDuration, Timestamp};
use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line as TextLine, Span};

use super::{Filter, Home, Line, Section};
use crate::tui::live::TaskId;
use crate::tui::screen::Context;
use crate::tui::text;
use crate::tui::theme::Role;

/// Longer names are cut.
const LONGEST_NAME: usize = 24;
/// Names of repositories, where there are several.
const LONGEST_REPO: usize = 14;
/// What a task is at has at least so much room, or the columns behind it go.
const LEAST_WHAT: usize = 24;

/// How many lines the list has.
pub(super) fn height(page: Size, filter: &Filter) -> u16 {
    let around = if filter.is_off() { 1 } else { 2 };
    page.height.saturating_sub(around).max(1)
}

impl Filter {
    pub(super) fn is_off(&self) -> bool {
        self.text.is_empty() && !self.typing
    }
}

/// A row, and whose it is.
struct Shown<'a> {
    brief: &'a Brief,
    group: Group,
    words: columns::Columns,
}

/// The list, and what it comes to in the last line.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    home: &Home,
    shown: &[(Section, &Entry)],
    context: &Context<'_>,
) {
    let room = usize::from(height(Size::new(area.width, area.height), &home.filter));
    let lines = home.lines(shown, room);
    let in_words = Home::frame(context);
    let row = |entry| {
        let row = rows::row(entry, context.now);
        Shown { brief: &entry.brief, group: row.group, words: columns::columns(&row, &in_words) }
    };
    let visible: Vec<(Line<'_>, Option<Shown<'_>>)> = lines
        .into_iter()
        .skip(home.top)
        .take(room)
        .map(|line| match line {
            Line::Task { entry, .. } => (line, Some(row(entry))),
            Line::Heading { .. } | Line::Gap => (line, None),
        })
        .collect();
    let widths = Widths::of(&visible, usize::from(area.width), context);
    home.rows.clear();
    for (nth, (line, row)) in visible.iter().enumerate() {
        let at = Rect { y: area.y + u16::try_from(nth).unwrap_or(0), height: 1, ..area };
        if let Line::Heading { section, tasks } = line {
            frame.render_widget(heading(*section, *tasks, context), at);
        }
        if let Line::Task { place, .. } = line {
            home.rows.put(at, *place);
        }
        if let Some(row) = row {
            frame.render_widget(TextLine::from(widths.spans(row, home, context)), at);
            if home.selected.as_ref().is_some_and(|id| id.is(row.brief)) {
                frame.buffer_mut().set_style(at, context.style(Role::Selected));
            }
        }
    }
    if shown.is_empty() {
        let words = context.messages.tui_no_match(&home.filter.text);
        let at = Rect { height: 1.min(area.height), ..area };
        frame.render_widget(Span::styled(words, context.style(Role::Faint)), at);
    }
    foot(frame, area, (home, shown.len()), context);
}

/// `RUNNING 3`.
fn heading(section: Section, tasks: usize, context: &Context<'_>) -> TextLine<'static> {
    let (title, role) = match section {
        Section::Group(group) => (group.title(context.messages), heading_role(group)),
        Section::Snoozed => (context.messages.tui_snoozed(), Role::Faint),
    };
    TextLine::from(vec![
        Span::styled(title, context.style(role).patch(context.style(Role::Strong))),
        Span::styled(format!(" {tasks}"), context.style(Role::Faint)),
    ])
}

fn heading_role(group: Group) -> Role {
    match group {
        Group::NeedsYou => Role::Person,
        Group::Ready => Role::Good,
        Group::Stopped => Role::Warn,
        Group::Running => Role::Accent,
        Group::Queued | Group::Done => Role::Faint,
    }
}

fn sign(sign: Sign) -> (&'static str, Role) {
    match sign {
        Sign::NeedsYou => ("!", Role::Person),
        Sign::Proven => ("✓", Role::Good),
        Sign::Claimed => ("●", Role::Strong),
        Sign::Stopped => ("○", Role::Warn),
        Sign::Failed => ("✗", Role::Bad),
        Sign::Running => ("▶", Role::Accent),
        Sign::Waiting => ("◌", Role::Faint),
        Sign::Over => ("·", Role::Faint),
    }
}

/// How wide each column is; none has room that nothing needs.
struct Widths {
    name: usize,
    repo: usize,
    what: usize,
    progress: usize,
    cost: usize,
    elapsed: usize,
}

impl Widths {
    fn of(visible: &[(Line<'_>, Option<Shown<'_>>)], width: usize, context: &Context<'_>) -> Self {
        let rows = || visible.iter().filter_map(|(_, row)| row.as_ref());
        let widest = |of: &dyn Fn(&Shown<'_>) -> usize| rows().map(of).max().unwrap_or(0);
        let or_none = |text: &Option<String>| text.as_deref().map_or(0, text::width);
        let repos = context.tasks.scope == Scope::Everywhere;
        let mut all = Self {
            name: widest(&|row| text::width(&row.brief.name)).min(LONGEST_NAME.min(width / 3)),
            repo: if repos { widest(&|row| text::width(&repo_name(row.brief))).min(LONGEST_REPO) } else { 0 },
            what: 0,
            progress: widest(&|row| or_none(&row.words.progress)),
            cost: widest(&|row| or_none(&row.words.cost)),
            elapsed: widest(&|row| row.words.elapsed.map_or(0, |elapsed| text::width(&clock(elapsed)))),
        };
        let left = |all: &Self| {
            let gap = |columns: usize| if columns == 0 { 0 } else { columns + 2 };
            let others = [all.name, all.repo, all.progress, all.cost, all.elapsed];
            width.saturating_sub(2 + others.into_iter().map(gap).sum::<usize>())
        };
        // In a narrow terminal what it is at matters more than what it took.
        if left(&all) < LEAST_WHAT {
            all.elapsed = 0;
        }
        if left(&all) < LEAST_WHAT {
            all.cost = 0;
        }
        if left(&all) < LEAST_WHAT {
            (all.progress, all.repo) = (0, 0);
        }
        all.what = left(&all);
        all
    }

    fn spans(&self, row: &Shown<'_>, home: &Home, context: &Context<'_>) -> Vec<Span<'static>> {
        let (sign, role) = sign(row.words.sign);
        let faint = context.style(Role::Faint);
        let name = if row.group == Group::Done { faint } else { context.style(Role::Strong) };
        let mut spans = vec![
            Span::styled(format!("{sign} "), context.style(role)),
            Span::styled(format!("{}  ", text::fit(&row.brief.name, self.name)), name),
        ];
        if self.repo > 0 {
            spans.push(Span::styled(format!("{}  ", text::fit(&repo_name(row.brief), self.repo)), faint));
        }
        spans.extend(self.what(row, home, context));
        let right = |text: Option<String>, columns: usize| {
            let text = text.unwrap_or_default();
            let gap = columns.saturating_sub(text::width(&text));
            (columns > 0).then(|| Span::styled(format!("  {:gap$}{text}", ""), faint))
        };
        spans.extend(right(row.words.progress.clone(), self.progress));
        spans.extend(right(row.words.cost.clone(), self.cost));
        spans.extend(right(row.words.elapsed.map(clock), self.elapsed));
        spans
    }

    /// What it is at. Only proof is green.
    fn what(&self, row: &Shown<'_>, home: &Home, context: &Context<'_>) -> Vec<Span<'static>> {
        let mut what = text::clean(&row.words.what);
        let until = home.snoozed.get(&TaskId::of(row.brief)).filter(|until| **until > context.now);
        if let Some(until) = until {
            let at = until.to_zoned(context.zone.clone()).strftime("%H:%M").to_string();
            what = context.messages.list_facts(&context.messages.tui_snoozed_until(&at), &what);
        }
        let fitted = text::fit(&what, self.what);
        let plain = if row.group == Group::Done { Role::Faint } else { Role::Plain };
        let green = format!("✓ {}", context.messages.ended_proven());
        match fitted.strip_prefix(&green).filter(|_| row.words.sign == Sign::Proven) {
            Some(rest) => vec![
                Span::styled(green, context.style(Role::Good)),
                Span::styled(rest.to_owned(), context.style(plain)),
            ],
            None => vec![Span::styled(fitted, context.style(plain))],
        }
    }
}

fn repo_name(brief: &Brief) -> String {
    text::clean(brief.repo.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&brief.repo))
}

/// `45s`, `12m`, `3h05m`: as coarse as a glance is, so that the screen changes once a minute.
fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// When the clock of a task that runs shows something else.
pub(super) fn clock_moves_at(brief: &Brief, now: Timestamp) -> Option<Timestamp> {
    let since = now.duration_since(brief.last_at?);
    let elapsed = since + SignedDuration::try_from_secs_f64(brief.elapsed_seconds.max(0.0)).ok()?;
    let step = if elapsed < SignedDuration::from_secs(60) { 1 } else { 60 };
    let left = step - elapsed.as_secs().rem_euclid(step);
    let left =
        SignedDuration::from_secs(left) - SignedDuration::from_nanos(i64::from(elapsed.subsec_nanos()));
    now.checked_add(left).ok()
}

/// What it all comes to, and what is filtered by.
fn foot(frame: &mut Frame<'_>, area: Rect, (home, shown): (&Home, usize), context: &Context<'_>) {
    let entries = &context.tasks.entries;
    let messages = context.messages;
    let cost: f64 = entries.iter().filter_map(|entry| entry.brief.cost_usd).sum();
    let all = entries.len();
    let mut parts = vec![match shown == all {
        true => messages.tasks(all as u64),
        false => messages.tui_tasks_of(shown as u64, all as u64),
    }];
    parts.extend((cost > 0.0).then(|| dacapo_app::present::words::money(cost)));
    parts.extend(
        (context.tasks.elsewhere > 0).then(|| messages.tui_empty_all(context.tasks.elsewhere as u64)),
    );
    let at = Rect { y: area.bottom().saturating_sub(1), height: 1.min(area.height), ..area };
    let words = text::cut(&parts.join(" · "), usize::from(area.width));
    frame.render_widget(Span::styled(words, context.style(Role::Faint)), at);
    if home.filter.is_off() || area.height < 3 {
        return;
    }
    let at = Rect { y: at.y - 1, ..at };
    let text = messages.tui_filter(&home.filter.text);
    let caret = text::width(&text);
    let style = if home.filter.typing { context.style(Role::Accent) } else { Style::new() };
    frame.render_widget(Span::styled(text, style), at);
    if home.filter.typing {
        let x = at.x + u16::try_from(caret).unwrap_or(0).min(at.width.saturating_sub(1));
        frame.set_cursor_position((x, at.y));
    }
}
