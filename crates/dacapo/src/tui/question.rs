//! A question that an operation has before it does anything, as a card: whether what the repository brings is trusted, which
//! checks are the project's, what a fresh checkout needs, which plan counts.

use dacapo_app::question::{Answer, Answered, Question};
use dacapo_app::trust;
use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::chrome;
use super::effect::{Act, Effect, Notice};
use super::field::{Field, Lines};
use super::key::Key;
use super::screen::{Binding, Context, Reply, Screen, Shape};
use super::text;
use super::theme::Role;
use crate::found_checks::FoundCheck;
use crate::messages::Messages;

/// Columns of its text.
const WIDTH: usize = 72;

/// What is done with the answer.
enum Then {
    /// The operation is tried again with it.
    Act(Box<Act>),
    /// The screen below gets it, as [`Answered`].
    Hand,
}

pub(crate) struct QuestionCard {
    then: Then,
    question: Question,
    /// Commands that are used instead, while they are typed.
    instead: Option<Field>,
    top: usize,
}

impl QuestionCard {
    /// Asked by an operation.
    pub(crate) fn new(act: Act, question: Question) -> Self {
        Self { then: Then::Act(Box::new(act)), question, instead: None, top: 0 }
    }

    /// Asked by the screen below, which gets the answer.
    pub(crate) fn handing(question: Question) -> Self {
        Self { then: Then::Hand, question, instead: None, top: 0 }
    }

    /// Goes on with this answer.
    fn answer(&self, answer: Answer) -> Reply {
        let question = self.question.clone();
        match &self.then {
            Then::Act(act) => {
                let mut act = act.clone();
                act.answers.give(question, answer);
                Reply::back().and(Effect::Act(*act))
            }
            Then::Hand => Reply::back_with(Answered { question, answer }),
        }
    }

    fn found(&self) -> &[FoundCheck] {
        match &self.question {
            Question::Checks { found } | Question::ChooseChecks { found } | Question::Setup { found } => {
                found
            }
            Question::Trust { .. } | Question::Plan { .. } => &[],
        }
    }

    fn heading(&self, messages: Messages) -> String {
        match &self.question {
            Question::Trust { .. } => messages.tui_ask_trust(),
            Question::Checks { .. } | Question::ChooseChecks { .. } => messages.tui_ask_checks(),
            Question::Setup { .. } => messages.tui_ask_setup(),
            Question::Plan { .. } => messages.tui_ask_plan(),
        }
    }

    fn lines(&self, columns: usize, context: &Context<'_>) -> Vec<Line<'static>> {
        let messages = context.messages;
        let mut lines: Vec<Line<'static>> = text::wrap(&self.heading(messages), columns)
            .into_iter()
            .map(|line| Line::from(Span::styled(line, context.style(Role::Strong))))
            .collect();
        lines.push(Line::default());
        for found in self.found() {
            lines.push(Line::from(vec![
                Span::styled(text::clean(&found.command), context.style(Role::Accent)),
                Span::styled(format!("  {}", text::clean(&found.evidence)), context.style(Role::Faint)),
            ]));
        }
        match &self.question {
            Question::Trust { brought } => {
                let words = trust::in_words(brought, messages);
                let painted = words.lines().map(|line| text::painted(line, context.theme));
                lines.extend(painted.flat_map(|line| text::hang(&line, columns)));
            }
            Question::Plan { path } => lines.push(Line::from(text::clean(&path.display().to_string()))),
            Question::Checks { .. } | Question::ChooseChecks { .. } | Question::Setup { .. } => {}
        }
        lines
    }
}

impl Screen for QuestionCard {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_ask_title()
    }

    fn shape(&self) -> Shape {
        Shape::Card
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if let Some(field) = &mut self.instead {
            return match key {
                Key::Enter => {
                    let command = field.text().trim().to_owned();
                    self.answer(if command.is_empty() { Answer::No } else { Answer::Use(vec![command]) })
                }
                Key::Esc => {
                    self.instead = None;
                    Reply::default()
                }
                key if field.key(key, WIDTH) => Reply::default(),
                _ => Reply::unused(),
            };
        }
        let choose = matches!(self.question, Question::ChooseChecks { .. });
        let careful = matches!(self.question, Question::Trust { .. } | Question::Plan { .. });
        match key {
            Key::Char('y' | 'Y') => self.answer(Answer::Yes),
            // What a stranger's repository brings is not confirmed by a key that was held too long.
            Key::Enter if !careful => self.answer(Answer::Yes),
            Key::Char('n' | 'N') => self.answer(Answer::No),
            Key::Char('e') if choose => {
                let commands: Vec<&str> = self.found().iter().map(|found| found.command.as_str()).collect();
                self.instead = Some(Field::with(Lines::One, &commands.join(" && ")));
                Reply::default()
            }
            Key::Down | Key::Char('j') => {
                self.top += 1;
                Reply::default()
            }
            Key::Up | Key::Char('k') => {
                self.top = self.top.saturating_sub(1);
                Reply::default()
            }
            Key::Esc | Key::Ctrl('c') => {
                let notice = Notice::info(context.messages.tui_ask_cancelled());
                Reply::back().saying(notice)
            }
            _ => Reply::unused(),
        }
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        self.instead.iter_mut().for_each(|field| field.insert(text));
        Reply::default()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let columns = WIDTH.min(usize::from(area.width).saturating_sub(4)).max(1);
        let lines = self.lines(columns, context);
        let width = lines.iter().map(Line::width).max().unwrap_or(0).max(columns.min(40)).min(columns);
        let extra = if self.instead.is_some() { 2 } else { 0 };
        let size = Size::new(
            u16::try_from(if extra > 0 { columns } else { width }).unwrap_or(60),
            u16::try_from(lines.len() + extra).unwrap_or(u16::MAX - 8),
        );
        let inner = chrome::card(frame, area, &self.title(context), size, context);
        let room = usize::from(inner.height).saturating_sub(extra);
        let top = self.top.min(lines.len().saturating_sub(room));
        frame
            .render_widget(Paragraph::new(lines.into_iter().skip(top).take(room).collect::<Vec<_>>()), inner);
        if let Some(field) = &self.instead {
            let at = Rect { y: inner.bottom().saturating_sub(1), height: 1.min(inner.height), ..inner };
            field.draw(frame, at, context);
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        if self.instead.is_some() {
            return vec![
                Binding::new(Key::Enter, messages.tui_key_use_these()),
                Binding::new(Key::Esc, messages.tui_key_back()),
            ];
        }
        let careful = matches!(self.question, Question::Trust { .. } | Question::Plan { .. });
        let yes = Binding::new(Key::Char('y'), messages.tui_key_yes());
        let mut keys = vec![if careful { yes } else { yes.or(Key::Enter) }];
        if matches!(self.question, Question::ChooseChecks { .. }) {
            keys.push(Binding::new(Key::Char('e'), messages.tui_key_other_commands()));
        }
        keys.push(Binding::new(Key::Char('n'), messages.tui_key_no()));
        keys.push(Binding::new(Key::Esc, messages.tui_key_cancel()));
        keys
    }

    fn takes_text(&self) -> bool {
        self.instead.is_some()
    }
}
