//! What goes on or begins by itself when the app is opened: said first, and done unless the user says no (M2).

use std::time::Duration;

use dacapo_app::operations::kind::{ByItself, StartsByItself};
use jiff::{SignedDuration, Timestamp};
use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::chrome;
use super::effect::{Act, Effect};
use super::key::Key;
use super::screen::{Binding, Context, Reply, Screen, Shape};
use super::text;
use super::theme::Role;

/// How long it can be declined.
const NOTICE: Duration = Duration::from_secs(10);
/// Columns of its text.
const WIDTH: usize = 60;

pub(crate) struct Launch {
    task: StartsByItself,
    until: Timestamp,
}

impl Launch {
    pub(crate) fn new(task: StartsByItself, now: Timestamp) -> Self {
        let until = now + SignedDuration::try_from(NOTICE).unwrap_or_default();
        Self { task, until }
    }

    /// Full seconds that are left, the one that has begun among them.
    fn seconds(&self, now: Timestamp) -> u64 {
        let left = self.until.duration_since(now);
        let begun = i64::from(left.subsec_nanos() > 0);
        u64::try_from(left.as_secs() + begun).unwrap_or(0)
    }

    fn start(&self) -> Reply {
        let act = Act::new(self.task.operation.clone());
        Reply::back().and(Effect::Act(act))
    }
}

impl Screen for Launch {
    fn title(&self, _: &Context<'_>) -> String {
        self.task.task.clone()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn key(&mut self, key: Key, _: &Context<'_>) -> Reply {
        match key {
            Key::Enter | Key::Char('y') => self.start(),
            Key::Char('n') => Reply::back(),
            _ => Reply::unused(),
        }
    }

    fn ticked(&mut self, context: &Context<'_>) -> Reply {
        if context.now >= self.until { self.start() } else { Reply::default() }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let messages = context.messages;
        let (task, seconds) = (&self.task.task, self.seconds(context.now));
        let words = match self.task.how {
            ByItself::GoesOn => messages.tui_launch_goes_on(task, seconds),
            ByItself::Begins => messages.tui_launch_begins(task, seconds),
        };
        let columns = WIDTH.min(usize::from(area.width).saturating_sub(4)).max(1);
        let lines: Vec<Line<'_>> = text::wrap(&words, columns)
            .into_iter()
            .map(|line| Line::from(Span::styled(line, context.style(Role::Plain))))
            .collect();
        let height = u16::try_from(lines.len()).unwrap_or(2);
        let size = Size::new(u16::try_from(columns).unwrap_or(60), height);
        let inner = chrome::card(frame, area, &self.title(context), size, context);
        frame.render_widget(Paragraph::new(lines), inner);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        vec![
            Binding::new(Key::Char('n'), messages.tui_launch_key_decline()).or(Key::Esc),
            Binding::new(Key::Enter, messages.tui_launch_key_now()).or(Key::Char('y')),
        ]
    }

    fn changes_at(&self, context: &Context<'_>) -> Option<Timestamp> {
        // The second that is shown changes when what is left of it is over.
        let left = self.until.duration_since(context.now);
        let part = SignedDuration::from_nanos(i64::from(left.subsec_nanos()));
        let next = if part.is_zero() { SignedDuration::from_secs(1) } else { part };
        context.now.checked_add(next).ok()
    }
}
