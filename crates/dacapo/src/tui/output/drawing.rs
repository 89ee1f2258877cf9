//! What a pane of output looks like: which rows are seen, and what is said about them.

use dacapo_core::follow::Side;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span as Text};

use super::entry::Anchor;
use super::rows::{Fold, Layout, Row};
use super::search::Query;
use super::shared::{Direction, Hunted, State};
use super::view::{Output, Place};
use super::window::Window;
use crate::tui::screen::Context;
use crate::tui::selection::cells;
use crate::tui::theme::Role;

impl Output {
    pub(super) fn fold(&self, at: Anchor) -> Fold {
        if self.unfolded.contains(&at) == self.all { Fold::Folded } else { Fold::Unfolded }
    }

    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { columns: self.size.get().0, query: self.query.as_ref(), messages: self.messages }
    }

    /// Rows from a place on, at most so many.
    pub(super) fn rows_from(
        &self,
        window: &Window,
        place: Place,
        columns: usize,
        most: usize,
    ) -> Vec<(Place, Row)> {
        let layout = Layout { columns, ..self.layout() };
        let first = window.index_of(place.at);
        let mut rows = Vec::new();
        for nth in first..window.len() {
            let Some(entry) = window.get(nth) else { break };
            let skip = if nth == first && entry.at == place.at { place.row } else { 0 };
            let own = layout.rows(entry, self.fold(entry.at)).into_iter().enumerate().skip(skip);
            rows.extend(own.map(|(row, shown)| (Place { at: entry.at, row }, shown)));
            if rows.len() >= most {
                rows.truncate(most);
                break;
            }
        }
        rows
    }

    /// The last rows, at most so many.
    pub(super) fn last_rows(&self, window: &Window, columns: usize, most: usize) -> Vec<(Place, Row)> {
        let layout = Layout { columns, ..self.layout() };
        let mut rows: Vec<(Place, Row)> = Vec::new();
        for nth in (0..window.len()).rev() {
            let Some(entry) = window.get(nth) else { break };
            let own = layout.rows(entry, self.fold(entry.at)).into_iter().enumerate();
            let own = own.map(|(row, shown)| (Place { at: entry.at, row }, shown));
            rows.splice(0..0, own);
            if rows.len() >= most {
                rows.drain(..rows.len() - most);
                break;
            }
        }
        rows
    }

    pub(super) fn visible(&self, window: &Window) -> Vec<(Place, Row)> {
        let (columns, height) = self.size.get();
        let Some(top) = self.top else { return self.last_rows(window, columns, height) };
        let rows = self.rows_from(window, top, columns, height);
        // Nothing is left empty below the end.
        if rows.len() < height { self.last_rows(window, columns, height) } else { rows }
    }

    pub(super) fn visible_places(&self) -> (Option<Place>, Option<Place>) {
        let state = self.shared.lock();
        let rows = self.visible(&state.window);
        (rows.first().map(|(place, _)| *place), rows.last().map(|(place, _)| *place))
    }

    pub(super) fn seen(&self) -> (Option<Anchor>, Option<Anchor>) {
        let (first, last) = self.visible_places();
        (first.map(|place| place.at), last.map(|place| place.at))
    }

    pub(super) fn shown_text(&self) -> String {
        let state = self.shared.lock();
        let rows = self.visible(&state.window);
        let line = |(_, row): &(Place, Row)| row.iter().map(|run| run.text.as_str()).collect::<String>();
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Output {
    /// What it is about, for the frame around it: which side, how far behind, what is being read or searched.
    pub(crate) fn state(&self) -> String {
        let messages = self.messages;
        let state = self.shared.lock();
        let mut parts = Vec::new();
        match self.side {
            Side::Told => {}
            Side::Raw => parts.push(messages.output_side_raw()),
            Side::Stderr => parts.push(messages.output_side_stderr()),
        }
        match (state.hunted, &self.query) {
            (Hunted::Searching(progress), _) => parts.push(messages.output_searching(progress.percent())),
            (Hunted::NotFound(direction), Some(query)) => parts.push(match direction {
                Direction::Down => messages.output_not_below(query.text()),
                Direction::Up => messages.output_not_above(query.text()),
            }),
            (Hunted::Found(_), Some(query)) => parts.extend(self.place_among_matches(query, &state.window)),
            (Hunted::Found(_) | Hunted::Nothing | Hunted::NotFound(_), _) => {}
        }
        if let Some(progress) = state.reading {
            parts.push(messages.output_reading(progress.percent()));
        } else if self.follows() {
            // Where nothing comes any more there is nothing to follow.
            if self.sources.last().is_some_and(|source| !source.over) {
                parts.push(messages.output_follows());
            }
        } else {
            parts.extend(self.behind(&state));
        }
        parts.join(" · ")
    }

    /// `3 of 17`; none where not all of it is in memory: a gigabyte is not counted for this.
    fn place_among_matches(&self, query: &Query, window: &Window) -> Option<String> {
        let hit = self.hit.filter(|_| window.begins && window.ends && !window.glimpse)?;
        let at = window.index_of(hit);
        let has =
            |nth: &usize| window.get(*nth).is_some_and(|entry| entry.texts().any(|text| query.is_in(text)));
        let matches: Vec<usize> = (0..window.len()).filter(has).collect();
        let place = matches.iter().filter(|nth| **nth <= at).count().max(1);
        Some(self.messages.output_match(place as u64, matches.len() as u64))
    }

    /// How much is below what is seen.
    fn behind(&self, state: &State) -> Option<String> {
        let last = self.visible(&state.window).last().map(|(place, _)| place.at)?;
        let entries = state.window.len().saturating_sub(state.window.index_of(last) + 1) as u64;
        if state.window.ends {
            return (entries > 0).then(|| self.messages.output_lines_below(entries));
        }
        Some(self.messages.output_bytes_below(&dacapo_app::present::words::bytes(state.below)))
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let (body, input) = match self.typing {
            Some(_) if area.height > 1 => {
                let body = Rect { height: area.height - 1, ..area };
                (body, Some(Rect { y: body.bottom(), height: 1, ..area }))
            }
            _ => (area, None),
        };
        self.size.set((usize::from(body.width), usize::from(body.height)));
        self.area.set(body);
        let state = self.shared.lock();
        let rows = self.visible(&state.window);
        if rows.is_empty() {
            let text = match &state.problem {
                Some(problem) => {
                    Line::from(Text::styled(crate::tui::text::one_line(problem), context.style(Role::Bad)))
                }
                None if self.sources.is_empty() || state.window.ends => {
                    Line::from(Text::styled(self.messages.output_nothing_yet(), context.style(Role::Faint)))
                }
                None => Line::default(),
            };
            frame.render_widget(text, body);
        }
        for ((place, row), y) in rows.iter().zip(body.y..body.bottom()) {
            let spans = row.iter().map(|run| {
                let style = context.style(run.role);
                let style = if run.hit { style.patch(context.style(Role::Selected)) } else { style };
                Text::styled(run.text.clone(), style)
            });
            let line: Line<'_> = spans.collect();
            let width = line.width();
            let at = Rect { y, height: 1, ..body };
            frame.render_widget(line, at);
            if self.selected == Some(place.at) && place.row == 0 {
                frame.buffer_mut().set_style(at, context.style(Role::Selected));
            }
            if let Some(columns) = self.marked.columns(*place) {
                let marked = cells(&columns, width, at);
                frame.buffer_mut().set_style(marked, context.style(Role::Selected));
            }
        }
        drop(state);
        if let (Some(input), Some(typed)) = (input, &self.typing) {
            let label = self.messages.output_search_for();
            let width = crate::tui::text::width(&label) + crate::tui::text::width(typed);
            let line = Line::from(vec![
                Text::styled(label, context.style(Role::Accent)),
                Text::raw(crate::tui::text::clean(typed)),
            ]);
            frame.render_widget(line, input);
            let x = input.x + u16::try_from(width).unwrap_or(u16::MAX).min(input.width.saturating_sub(1));
            frame.set_cursor_position((x, input.y));
        }
    }
}
