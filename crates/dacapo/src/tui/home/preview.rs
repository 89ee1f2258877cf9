//! What `dacapo status` says of the selected task, beside the list where there is room.

use dacapo_app::present::status;
use dacapo_core::overview::Brief;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::tui::effect::Job;
use crate::tui::live::TaskId;
use crate::tui::screen::{Answer, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// From so many columns on there is room for it.
const FROM: u16 = 120;
/// In a high terminal it goes below the list.
const FROM_LINES: u16 = 36;

#[derive(Default)]
pub(super) struct Preview {
    shown: Option<(TaskId, String)>,
    reading: Option<TaskId>,
    stale: bool,
}

/// What a read gives.
struct Read {
    id: TaskId,
    text: String,
}

/// The list, and the pane where there is room for it.
pub(super) fn split(area: Rect) -> (Rect, Option<Rect>) {
    if area.width >= FROM {
        let width = (area.width * 2 / 5).max(56);
        // The line between them has a column of its own on both sides.
        let list = Rect { width: area.width - width - 1, ..area };
        return (list, Some(Rect { x: list.right() + 1, width, ..area }));
    }
    if area.height >= FROM_LINES {
        let height = area.height * 2 / 5;
        let list = Rect { height: area.height - height, ..area };
        return (list, Some(Rect { y: list.bottom(), height, ..area }));
    }
    (area, None)
}

impl Preview {
    pub(super) fn is_stale(&mut self) {
        self.stale = true;
    }

    /// What is to be read so that it shows this task; only one read is under way at a time.
    pub(super) fn want(&mut self, brief: Option<&Brief>, context: &Context<'_>) -> Option<Job> {
        let area = Rect { x: 0, y: 0, width: context.page.width, height: context.page.height };
        split(area).1?;
        let brief = brief?;
        let id = TaskId::of(brief);
        let is_shown = self.shown.as_ref().is_some_and(|(shown, _)| *shown == id);
        if self.reading.is_some() || (is_shown && !self.stale) {
            return None;
        }
        self.stale = false;
        self.reading = Some(id.clone());
        let messages = context.messages;
        let directory = context.directory_of(brief);
        Some(Job::new(move |services| {
            let app = services.app_in(directory.as_deref());
            let text = match app.task(Some(&id.name)).and_then(|(_, dir)| app.view(&dir)) {
                Ok(view) => status::status(&view, None, None, messages),
                Err(failure) => failure.shown(messages).to_string(),
            };
            Read { id, text }
        }))
    }

    pub(super) fn take(&mut self, answer: Answer) {
        if let Ok(read) = answer.downcast::<Read>() {
            self.reading = None;
            self.shown = Some((read.id, read.text));
        }
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let side = if area.x > 0 { Borders::LEFT } else { Borders::TOP };
        let block = Block::new().borders(side).border_style(context.style(Role::Border));
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(1), ..inner };
        let Some((_, shown)) = &self.shown else { return };
        let columns = usize::from(inner.width).max(10);
        let painted = shown.lines().map(|line| text::painted(line, context.theme));
        let lines: Vec<Line<'static>> = painted.flat_map(|line| text::hang(&line, columns)).collect();
        frame.render_widget(Paragraph::new(lines), inner);
    }
}
