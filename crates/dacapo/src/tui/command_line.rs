//! The command line: `/command` as in a shell, any other text for the selected task.

use std::ffi::OsString;

use dacapo_app::operations::act::Operation;
use dacapo_core::overview::Brief;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use super::carry::{self, Carry};
use super::effect::{Act, Effect, Job, Notice};
use super::field::{Field, Lines, Way};
use super::history;
use super::key::Key;
use super::screen::{Answer, Binding, Context, Reply, Screen, Shape};
use super::slash::{self, Place};
use super::text;
use super::theme::Role;
use crate::completion;

/// How many candidates are shown at once.
const MOST_SHOWN: usize = 8;

pub(crate) struct CommandLine {
    field: Field,
    place: Place,
    history: Vec<String>,
    /// Where in the history one is, from its end; the line that was typed is kept meanwhile.
    back: Option<(usize, String)>,
    offered: Option<Offered>,
    /// The command that is being read.
    reading: Option<Vec<String>>,
}

/// What the word at the caret can become.
struct Offered {
    /// The word as it was typed: so many bytes are replaced.
    typed: String,
    candidates: Vec<(String, Option<String>)>,
    selected: Option<usize>,
    by: By,
}

/// Who wanted to see candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Nobody: they are shown, and nothing is typed for the user.
    Itself,
    Tab,
}

/// What a read for the line gives.
enum Came {
    History(Vec<String>),
    Candidates { before: String, offered: Offered },
}

impl CommandLine {
    /// Empty but for the slash, and about this task where a command names none.
    pub(crate) fn new(selected: Option<&Brief>, context: &Context<'_>) -> Self {
        Self::with("", selected, context)
    }

    /// A command that only waits for Enter.
    pub(crate) fn with(command: &str, selected: Option<&Brief>, context: &Context<'_>) -> Self {
        let place = Place {
            directory: selected.and_then(|brief| context.directory_of(brief)),
            selected: selected.map(|brief| brief.name.clone()),
        };
        let field = Field::with(Lines::One, &format!("/{command}"));
        Self { field, place, history: Vec::new(), back: None, offered: None, reading: None }
    }

    fn enter(&mut self, context: &Context<'_>) -> Reply {
        let line = self.field.text().trim().to_owned();
        if line.is_empty() || line == "/" {
            return Reply::back();
        }
        match slash::parse(&line) {
            Err(failure) => problem(failure.shown(context.messages).to_string()),
            Ok(slash::Line::Command(words)) => {
                let job = Carry::new(words.clone(), self.place.clone()).job();
                self.reading = Some(words);
                Reply::effect(Effect::Read(job))
            }
            Ok(slash::Line::Text(text)) => match self.place.selected.clone() {
                None => problem(context.messages.tui_text_for_nobody()),
                Some(task) => {
                    let act = Act::new(Operation::Tell { task, text, once: false });
                    let act = act.at(self.place.directory.clone());
                    Reply::back().and(Effect::Act(act)).and(remember(line))
                }
            },
        }
    }

    /// Looks for what the word at the caret can become.
    fn complete(&self, by: By) -> Reply {
        let before = self.field.before().to_owned();
        let Some(typed) = before.strip_prefix('/').map(str::to_owned) else { return Reply::default() };
        let directory = self.place.directory.clone();
        Reply::effect(Effect::Read(Job::new(move |services| {
            let mut words: Vec<String> = slash::split(&typed).unwrap_or_default();
            if typed.is_empty() || typed.ends_with(char::is_whitespace) {
                words.push(String::new());
            }
            let last = words.last().cloned().unwrap_or_default();
            let argv = std::iter::once("dacapo".into()).chain(words.iter().map(OsString::from)).collect();
            let app = services.app_in(directory.as_deref());
            let here = app.here().map(std::path::Path::to_owned).unwrap_or_default();
            let candidates = completion::candidates(argv, &here);
            Came::Candidates { before, offered: Offered { typed: last, candidates, selected: None, by } }
        })))
    }

    /// Takes candidates in: what all of them begin with is typed at once, the only one with a space behind it.
    fn take(&mut self, before: &str, mut offered: Offered) {
        // Somebody typed on meanwhile.
        if self.field.before() != before || offered.candidates.is_empty() {
            self.offered = None;
            return;
        }
        if offered.by == By::Itself {
            self.offered = Some(offered);
            return;
        }
        let common = common_prefix(offered.candidates.iter().map(|(value, _)| value.as_str()));
        if let [(only, _)] = offered.candidates.as_slice() {
            let only = only.clone();
            self.put(&offered, &only, " ");
            self.offered = None;
            return;
        }
        if common.len() > offered.typed.len() {
            self.put(&offered, &common, "");
            offered.typed = common;
        }
        self.offered = Some(offered);
    }

    fn put(&mut self, offered: &Offered, value: &str, behind: &str) {
        let word = dacapo_app::present::words::shell_word(value);
        let word = if value.is_empty() { String::new() } else { word };
        self.field.replace_before(offered.typed.len(), &format!("{word}{behind}"));
    }

    /// The next or the previous candidate.
    fn turn(&mut self, way: Way) -> bool {
        let Some(mut offered) = self.offered.take() else { return false };
        let many = offered.candidates.len();
        let next = match (offered.selected, way) {
            (None, Way::Next) => 0,
            (None, Way::Previous) => many - 1,
            (Some(at), way) => way.around(at, many),
        };
        let value = offered.candidates[next].0.clone();
        self.put(&offered, &value, "");
        offered.typed = dacapo_app::present::words::shell_word(&value);
        offered.selected = Some(next);
        self.offered = Some(offered);
        true
    }

    /// The line that was typed before the one that is shown, or after it.
    fn recall(&mut self, way: Way) {
        let most = self.history.len();
        let (at, typed) = self.back.take().unwrap_or((0, self.field.text().to_owned()));
        let at = match way {
            Way::Previous => (at + 1).min(most),
            Way::Next => at.saturating_sub(1),
        };
        let line = match at {
            0 => typed.clone(),
            at => self.history[most - at].clone(),
        };
        self.field.set(&line);
        self.back = (at > 0).then_some((at, typed));
    }
}

fn problem(words: String) -> Reply {
    Reply::notice(Notice::problem(words))
}

fn remember(line: String) -> Effect {
    Effect::Read(Job::new(move |services| history::add(&services.app, &line)))
}

fn common_prefix<'a>(mut all: impl Iterator<Item = &'a str>) -> String {
    let mut common = all.next().unwrap_or_default().to_owned();
    for other in all {
        let same =
            common.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        common.truncate(same);
    }
    common
}

impl Screen for CommandLine {
    fn title(&self, _: &Context<'_>) -> String {
        String::new()
    }

    fn shape(&self) -> Shape {
        Shape::Line
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        let history = Effect::Read(Job::new(|services| Came::History(history::read(&services.app))));
        // A command that only waits for Enter needs no list.
        if self.field.text() == "/" { self.complete(By::Itself).and(history) } else { Reply::effect(history) }
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if key == Key::Tab || key == Key::BackTab {
            let way = if key == Key::Tab { Way::Next } else { Way::Previous };
            let turns = self.offered.as_ref().is_some_and(|offered| offered.by == By::Tab);
            return if turns && self.turn(way) { Reply::default() } else { self.complete(By::Tab) };
        }
        self.offered = None;
        match key {
            Key::Enter => self.enter(context),
            Key::Esc | Key::Ctrl('c') => Reply::back(),
            Key::Backspace if self.field.is_empty() => Reply::back(),
            Key::Up | Key::Ctrl('p') => {
                self.recall(Way::Previous);
                Reply::default()
            }
            Key::Down | Key::Ctrl('n') => {
                self.recall(Way::Next);
                Reply::default()
            }
            key if self.field.key(key, context.page.width.into()) => {
                // The names of commands are shown while one is typed; what follows is for Tab.
                let names = !self.field.before().contains(char::is_whitespace);
                if names { self.complete(By::Itself) } else { Reply::default() }
            }
            _ => Reply::unused(),
        }
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        self.field.insert(text);
        self.offered = None;
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, context: &Context<'_>) -> Reply {
        let answer = match answer.downcast::<Came>() {
            Ok(came) => {
                match *came {
                    Came::History(history) => self.history = history,
                    Came::Candidates { before, offered } => self.take(&before, offered),
                }
                return Reply::default();
            }
            Err(other) => other,
        };
        match (carry::read(answer), self.reading.take()) {
            (Some(Ok(meaning)), Some(words)) => {
                let line = self.field.text().trim().to_owned();
                carry::carry_out(meaning, &words, &self.place, context).and(remember(line))
            }
            (Some(Err(failure)), _) => problem(failure.shown(context.messages).to_string()),
            (Some(Ok(_)) | None, _) => Reply::default(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        frame.render_widget(Clear, area);
        let to = match &self.place.selected {
            Some(task) if !self.field.text().starts_with('/') => context.messages.tui_line_to(task),
            Some(_) | None => String::new(),
        };
        let sign = if to.is_empty() { "› ".to_owned() } else { format!("{to} › ") };
        let width = u16::try_from(text::width(&sign)).unwrap_or(2).min(area.width);
        frame.render_widget(Span::styled(sign, context.style(Role::Accent)), area);
        let rest = Rect { x: area.x + width, width: area.width - width, ..area };
        if self.field.is_empty() {
            let hint = context.messages.tui_line_hint();
            frame.render_widget(Span::styled(hint, context.style(Role::Faint)), rest);
        }
        self.field.draw(frame, rest, context);
        if let Some(offered) = &self.offered {
            draw_offered(frame, area, offered, context);
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        vec![
            Binding::new(Key::Enter, messages.tui_key_do_it()),
            Binding::new(Key::Tab, messages.tui_key_complete()),
            Binding::new(Key::Up, messages.tui_key_history()),
            Binding::new(Key::Esc, messages.tui_key_close()),
        ]
    }

    fn takes_text(&self) -> bool {
        true
    }
}

/// Above the line, the candidates from the selected one on.
fn draw_offered(frame: &mut Frame<'_>, line: Rect, offered: &Offered, context: &Context<'_>) {
    let room = MOST_SHOWN.min(line.y.into());
    let many = offered.candidates.len();
    let first =
        offered.selected.unwrap_or(0).saturating_sub(room.saturating_sub(1)).min(many.saturating_sub(room));
    let shown: Vec<_> = offered.candidates.iter().enumerate().skip(first).take(room).collect();
    let widest = shown.iter().map(|(_, (value, _))| text::width(value)).max().unwrap_or(0).min(30);
    let height = u16::try_from(shown.len()).unwrap_or(0);
    let area = Rect { y: line.y - height, height, ..line };
    frame.render_widget(Clear, area);
    for (row, (nth, (value, help))) in shown.into_iter().enumerate() {
        let at = Rect { y: area.y + u16::try_from(row).unwrap_or(0), height: 1, ..area };
        let help = text::one_line(help.as_deref().unwrap_or_default());
        let help = text::cut(&help, usize::from(at.width).saturating_sub(widest + 2));
        frame.render_widget(
            Line::from(vec![
                Span::styled(text::fit(&text::clean(value), widest + 2), context.style(Role::Accent)),
                Span::styled(help, context.style(Role::Faint)),
            ]),
            at,
        );
        if Some(nth) == offered.selected {
            frame.buffer_mut().set_style(at, context.style(Role::Selected));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_candidates_begin_with_is_typed_for_the_user() {
        assert_eq!(common_prefix(["--max-cost", "--max-tokens"].into_iter()), "--max-");
        assert_eq!(common_prefix(["任务", "任性"].into_iter()), "任");
        assert_eq!(common_prefix(std::iter::empty()), "");
    }
}
