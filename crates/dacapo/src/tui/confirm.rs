//! A card that asks before work is ended, dropped or merged.

use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::chrome;
use super::effect::{Act, Effect, Job};
use super::key::Key;
use super::screen::{Answer, Binding, Context, Reply, Screen, Shape};
use super::text;
use super::theme::Role;

/// Columns of its text.
const WIDTH: usize = 60;

pub(crate) struct Confirm {
    words: Words,
    /// The read that says more.
    job: Option<Job>,
}

/// What is asked.
pub(crate) struct Words {
    pub(crate) question: String,
    pub(crate) detail: Option<String>,
    /// What a yes does; none: it is not known yet, or there is nothing to do.
    pub(crate) acts: Vec<Act>,
}

impl Confirm {
    pub(crate) fn new(question: String, detail: Option<String>, act: Act) -> Self {
        Self::all(question, detail, vec![act])
    }

    /// One question for several operations.
    pub(crate) fn all(question: String, detail: Option<String>, acts: Vec<Act>) -> Self {
        Self { words: Words { question, detail, acts }, job: None }
    }

    /// Whatever is known at once; what the read gives, [`Words`], takes its place.
    pub(crate) fn reading(words: Words, job: Job) -> Self {
        Self { words, job: Some(job) }
    }
}

impl Screen for Confirm {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_confirm_title()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        self.job.take().map_or_else(Reply::default, |job| Reply::effect(Effect::Read(job)))
    }

    fn answered(&mut self, answer: Answer, _: &Context<'_>) -> Reply {
        if let Ok(words) = answer.downcast::<Words>() {
            self.words = *words;
        }
        Reply::default()
    }

    fn key(&mut self, key: Key, _: &Context<'_>) -> Reply {
        match key {
            // Nobody agrees to what is not shown yet.
            Key::Char('y' | 'Y') | Key::Enter if self.words.acts.is_empty() => Reply::default(),
            Key::Char('y' | 'Y') | Key::Enter => {
                let effects = self.words.acts.iter().cloned().map(Effect::Act).collect();
                Reply { effects, ..Reply::back() }
            }
            Key::Char('n' | 'N') => Reply::back(),
            _ => Reply::unused(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let columns = WIDTH.min(usize::from(area.width).saturating_sub(4)).max(1);
        let mut lines: Vec<Line<'static>> = text::wrap(&text::clean(&self.words.question), columns)
            .into_iter()
            .map(|line| Line::from(Span::styled(line, context.style(Role::Strong))))
            .collect();
        if let Some(detail) = &self.words.detail {
            let detail = detail.lines().map(text::clean).collect::<Vec<_>>().join("\n");
            lines.extend(text::wrap(&detail, columns).into_iter().map(Line::from));
        }
        let width = lines.iter().map(Line::width).max().unwrap_or(0);
        let size = Size::new(u16::try_from(width).unwrap_or(60), u16::try_from(lines.len()).unwrap_or(3));
        let inner = chrome::card(frame, area, &self.title(context), size, context);
        frame.render_widget(Paragraph::new(lines), inner);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        if self.words.acts.is_empty() {
            return vec![Binding::new(Key::Esc, messages.tui_key_back())];
        }
        vec![
            Binding::new(Key::Char('y'), messages.tui_key_yes()).or(Key::Enter),
            Binding::new(Key::Char('n'), messages.tui_key_no()).or(Key::Esc),
        ]
    }
}
