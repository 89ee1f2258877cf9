//! A new task: what is to be done, by whom, until when; then what will run is shown, and only then it starts.

use dacapo_app::operations::act::{Operation, OperationResult};
use dacapo_app::operations::start::{Intent, Start};
use dacapo_app::question::{Answered, Answers, NotYet};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use super::effect::{Act, Effect, Job, Notice};
use super::field::{Field, Lines, Way};
use super::key::Key;
use super::question::QuestionCard;
use super::screen::{Answer, Binding, Context, Reply, Screen};
use super::text;
use super::theme::Role;
use crate::agents;
use crate::commands;
use crate::config::{self, Timespan};
use crate::error::Failure;
use crate::messages::Messages;
use crate::request::{self, Driven, TaskRequest};

/// What can be filled in, in the order in which Tab goes through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Prompt,
    Agent,
    Check,
    Iterations,
    Time,
    Name,
}

const PARTS: [Part; 6] = [Part::Prompt, Part::Agent, Part::Check, Part::Iterations, Part::Time, Part::Name];

pub(crate) struct NewTask {
    fields: Vec<Field>,
    at: usize,
    /// The agents that there are; none: they are still being read.
    agents: Option<Vec<String>>,
    /// Agents that were turned to before they were read.
    early: Vec<Way>,
    answers: Answers,
    step: Step,
    /// Why it cannot run as it is filled in, until the next key.
    problem: Option<String>,
}

/// What was filled in when the form was left: it is there when it is opened again.
#[derive(Debug, Clone)]
pub(crate) struct Draft(Vec<Field>);

enum Step {
    Form,
    /// What will run is being found out.
    Preparing,
    /// It is shown, and waits for a yes.
    Review {
        task: String,
        shown: Vec<String>,
        top: usize,
    },
}

/// What reads for this page give.
enum Came {
    Agents(Vec<String>),
    Prepared(Result<(String, Vec<String>), NotYet>),
}

impl NewTask {
    /// Empty, or as it was left.
    pub(crate) fn new(draft: Option<Draft>) -> Self {
        let field = |part: &Part| Field::new(if *part == Part::Prompt { Lines::Many } else { Lines::One });
        Self {
            fields: draft.map_or_else(|| PARTS.iter().map(field).collect(), |draft| draft.0),
            at: 0,
            agents: None,
            early: Vec::new(),
            answers: Answers::default(),
            step: Step::Form,
            problem: None,
        }
    }

    /// Leaves the form; what is filled in is kept.
    fn leave(&self, messages: Messages) -> Reply {
        if self.fields.iter().all(|field| field.text().trim().is_empty()) {
            return Reply::back();
        }
        let kept = Notice::info(messages.tui_new_draft_kept());
        Reply::back_with(Draft(self.fields.clone())).saying(kept)
    }

    fn field(&self, part: Part) -> &Field {
        let at = PARTS.iter().position(|own| *own == part).unwrap_or(0);
        &self.fields[at]
    }

    /// What was filled in, where there is something.
    fn filled(&self, part: Part) -> Option<String> {
        Some(self.field(part).text().trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// What has a space or a slash in it is a command line, unless it begins with an agent's name (`rehearsal:FILE`).
    fn is_command(&self, text: &str) -> bool {
        let base = text.split(':').next().unwrap_or(text);
        let named = text.contains(':') && self.agents.iter().flatten().any(|agent| agent == base);
        // `claude, codex` are two agents.
        let listed = text.contains(',') && !text.contains('/');
        !named && !listed && text.contains(|c: char| c == '/' || c.is_whitespace())
    }

    fn request(&self) -> Result<TaskRequest, Failure> {
        let time = self.filled(Part::Time);
        Ok(TaskRequest {
            prompt: self.filled(Part::Prompt),
            agent: self.filled(Part::Agent).filter(|text| !self.is_command(text)),
            agent_cmd: self.filled(Part::Agent).filter(|text| self.is_command(text)),
            checks: self.filled(Part::Check).into_iter().collect(),
            max_iterations: self
                .filled(Part::Iterations)
                .map(|text| request::count(&text).map(i64::from))
                .transpose()?,
            time: time.map(|text| request::time(&text).map(Timespan::from)).transpose()?,
            name: self.filled(Part::Name),
            worktree: Some(true),
            ..TaskRequest::default()
        })
    }

    /// Finds out what will run: the same preparation that starts it, without its last step.
    fn prepare(&mut self, messages: Messages) -> Reply {
        if self.filled(Part::Prompt).is_none() {
            return Reply::say(messages.tui_new_prompt_missing());
        }
        let mut request = match self.request() {
            Ok(request) => request,
            Err(failure) => return self.refused(&failure, messages),
        };
        self.step = Step::Preparing;
        let answers = self.answers.clone();
        Reply::effect(Effect::Read(Job::new(move |services| {
            let app = &services.app;
            let prepared = app.ground(&request, &answers).and_then(|ground| {
                ground.fill_in(&mut request, &answers)?;
                let start = Start {
                    request: &request,
                    driven: Driven::InBackground,
                    agent_answers: agents::Answers::ByCommand,
                    intent: Intent::DryRun,
                    notes: Vec::new(),
                };
                app.prepare(&start, &answers)
            });
            Came::Prepared(prepared.map(|prepared| {
                let uncommitted = prepared.repo.dirt().map_or(0, |dirt| dirt.count());
                let name = prepared.asked.spec.name.as_str().to_owned();
                (name, commands::dry_run_details(app, &prepared.asked, uncommitted))
            }))
        })))
    }

    /// Says in the form what is wrong with it.
    fn refused(&mut self, failure: &Failure, messages: Messages) -> Reply {
        self.step = Step::Form;
        self.problem = Some(failure.shown(messages).to_string());
        Reply::default()
    }

    fn start(&mut self, messages: Messages) -> Reply {
        match self.request() {
            Ok(request) => {
                let mut act = Act::new(Operation::Prompt { request });
                act.answers = self.answers.clone();
                Reply::effect(Effect::Act(act))
            }
            Err(failure) => self.refused(&failure, messages),
        }
    }

    /// The next or the previous agent.
    fn turn(&mut self, way: Way) {
        let Some(agents) = &self.agents else { return self.early.push(way) };
        let now = self.field(Part::Agent).text();
        let many = agents.len() + 1;
        let at = agents.iter().position(|agent| agent == now).map_or(0, |at| at + 1);
        // The default is to say nothing.
        let name = way.around(at, many).checked_sub(1).map_or(String::new(), |at| agents[at].clone());
        self.fields[1].set(&name);
    }

    fn form_key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        let part = PARTS[self.at];
        self.problem = None;
        match key {
            Key::Tab => self.at = Way::Next.around(self.at, PARTS.len()),
            Key::BackTab => self.at = Way::Previous.around(self.at, PARTS.len()),
            Key::Enter => return self.prepare(context.messages),
            Key::Esc | Key::Ctrl('c') => return self.leave(context.messages),
            Key::Right if part == Part::Agent => self.turn(Way::Next),
            Key::Left if part == Part::Agent => self.turn(Way::Previous),
            Key::Down if part != Part::Prompt => self.at = (self.at + 1).min(PARTS.len() - 1),
            Key::Up if part != Part::Prompt => self.at -= 1,
            key => {
                let columns = usize::from(context.page.width.saturating_sub(4));
                let used = self.fields[self.at].key(key, columns);
                if !used && key == Key::Down {
                    self.at += 1;
                } else if !used {
                    return Reply::unused();
                }
            }
        }
        Reply::default()
    }

    fn review_key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        let Step::Review { shown, top, .. } = &mut self.step else { return Reply::unused() };
        match key {
            Key::Enter | Key::Char('y') => return self.start(context.messages),
            Key::Esc | Key::Char('n') => self.step = Step::Form,
            Key::Down | Key::Char('j') => *top = (*top + 1).min(shown.len().saturating_sub(1)),
            Key::Up | Key::Char('k') => *top = top.saturating_sub(1),
            _ => return Reply::unused(),
        }
        Reply::default()
    }

    /// What stands in a part that nobody filled in.
    fn default_of(part: Part, messages: Messages) -> String {
        match part {
            Part::Prompt => messages.tui_new_prompt_hint(),
            Part::Agent => messages.tui_new_agent_default(),
            Part::Check => messages.tui_new_check_default(),
            Part::Iterations => "10".to_owned(),
            Part::Time => "8h".to_owned(),
            Part::Name => messages.tui_new_name_default(),
        }
    }

    fn draw_form(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let messages = context.messages;
        let problem = self.problem_lines(usize::from(area.width).max(10), context);
        // The fields stay in sight: what is wrong takes its room from the prompt.
        let problem_height = u16::try_from(problem.len()).unwrap_or(0).min(area.height.saturating_sub(9));
        let below = Rect { y: area.bottom() - problem_height, height: problem_height, ..area };
        frame.render_widget(Paragraph::new(problem), below);
        let area = Rect { height: area.height - problem_height, ..area };
        let rows = u16::try_from(PARTS.len() - 1).unwrap_or(5);
        let prompt_height = area.height.saturating_sub(rows + 1).clamp(3, 16).min(area.height);
        let prompt = Rect { height: prompt_height, ..area };
        let block = Block::bordered()
            .title(Span::styled(format!(" {} ", messages.tui_new_prompt()), context.style(Role::Strong)))
            .border_style(context.style(if self.at == 0 { Role::Accent } else { Role::Border }));
        let inner = block.inner(prompt);
        frame.render_widget(block, prompt);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        self.draw_part(frame, inner, Part::Prompt, context);
        let labels = PARTS[1..].iter().map(|part| label(*part, messages));
        let widest = labels.clone().map(|label| text::width(&label)).max().unwrap_or(0) + 2;
        for (nth, (part, label)) in PARTS[1..].iter().zip(labels).enumerate() {
            let y = prompt.bottom() + u16::try_from(nth).unwrap_or(0) + 1;
            if y >= area.bottom() {
                break;
            }
            let at = Rect { x: area.x + 1, y, width: area.width.saturating_sub(1), height: 1 };
            let here = PARTS[self.at] == *part;
            let style = context.style(if here { Role::Accent } else { Role::Faint });
            frame.render_widget(Span::styled(text::fit(&label, widest), style), at);
            let indent = u16::try_from(widest).unwrap_or(0).min(at.width);
            let rest = Rect { x: at.x + indent, width: at.width - indent, ..at };
            self.draw_part(frame, rest, *part, context);
        }
    }

    fn problem_lines(&self, columns: usize, context: &Context<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (nth, line) in self.problem.iter().flat_map(|problem| problem.lines()).enumerate() {
            let sign = if nth == 0 { "✗ " } else { "  " };
            let line = Line::from(vec![
                Span::styled(sign, context.style(Role::Bad)),
                Span::styled(text::clean(line), context.style(Role::Plain)),
            ]);
            lines.extend(text::hang(&line, columns));
        }
        lines
    }

    fn draw_part(&self, frame: &mut Frame<'_>, area: Rect, part: Part, context: &Context<'_>) {
        let field = self.field(part);
        if field.is_empty() {
            let hint = Span::styled(Self::default_of(part, context.messages), context.style(Role::Faint));
            frame.render_widget(Paragraph::new(hint).wrap(Wrap { trim: true }), area);
        }
        if PARTS[self.at] == part && matches!(self.step, Step::Form) {
            field.draw(frame, area, context);
        } else {
            field.draw_still(frame, area, context);
        }
    }
}

fn label(part: Part, messages: Messages) -> String {
    match part {
        Part::Prompt => messages.tui_new_prompt(),
        Part::Agent => messages.label_agent(),
        Part::Check => messages.label_check(),
        Part::Iterations => messages.tui_new_iterations(),
        Part::Time => messages.tui_new_time(),
        Part::Name => messages.tui_new_name(),
    }
}

impl Screen for NewTask {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.tui_key_new()
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        Reply::effect(Effect::Read(Job::new(|services| {
            let loaded = config::load(&services.app.config_sources());
            let config = loaded.map(|loaded| loaded.config).unwrap_or_default();
            Came::Agents(agents::names(&config))
        })))
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        match self.step {
            Step::Form => self.form_key(key, context),
            Step::Preparing => Reply::unused(),
            Step::Review { .. } => self.review_key(key, context),
        }
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        if matches!(self.step, Step::Form) {
            self.problem = None;
            self.fields[self.at].insert(text);
        }
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, context: &Context<'_>) -> Reply {
        let answer = match answer.downcast::<Answered>() {
            // A question was answered: once more, with that.
            Ok(answered) => {
                let Answered { question, answer } = *answered;
                self.answers.give(question, answer);
                return self.prepare(context.messages);
            }
            Err(other) => other,
        };
        let Ok(came) = answer.downcast::<Came>() else { return Reply::default() };
        match *came {
            Came::Agents(agents) => {
                self.agents = Some(agents);
                std::mem::take(&mut self.early).into_iter().for_each(|way| self.turn(way));
            }
            Came::Prepared(Ok((task, shown))) => self.step = Step::Review { task, shown, top: 0 },
            Came::Prepared(Err(NotYet::Ask(question))) => {
                self.step = Step::Form;
                return Reply::to(QuestionCard::handing(*question));
            }
            Came::Prepared(Err(NotYet::Refused(failure))) => {
                return self.refused(&failure, context.messages);
            }
        }
        Reply::default()
    }

    fn acted(&mut self, done: &OperationResult, _: &Context<'_>) -> Reply {
        let started = matches!(done, OperationResult::Started { .. });
        if started { Reply::back() } else { Reply::default() }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        match &self.step {
            Step::Form => self.draw_form(frame, area, context),
            Step::Preparing => {
                let words = Span::styled(context.messages.tui_new_preparing(), context.style(Role::Faint));
                frame.render_widget(words, area);
            }
            Step::Review { task, shown, top } => {
                let title = context.messages.tui_new_review(task);
                let title = Span::styled(title, context.style(Role::Strong));
                let mut lines = vec![Line::from(title), Line::default()];
                let columns = usize::from(area.width).max(10);
                let painted = shown.iter().skip(*top).map(|line| text::painted(line, context.theme));
                lines.extend(painted.flat_map(|line| text::hang(&line, columns)));
                frame.render_widget(Paragraph::new(lines), area);
            }
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        match self.step {
            Step::Form => {
                let mut keys = vec![
                    Binding::new(Key::Enter, messages.tui_new_key_review()),
                    Binding::new(Key::Tab, messages.tui_new_key_next()),
                ];
                match PARTS[self.at] {
                    Part::Prompt => keys.push(Binding::new(Key::NewLine, messages.tui_key_new_line())),
                    Part::Agent => {
                        keys.push(Binding::new(Key::Right, messages.tui_new_key_agent()).or(Key::Left));
                    }
                    Part::Check | Part::Iterations | Part::Time | Part::Name => {}
                }
                keys.push(Binding::new(Key::Esc, messages.tui_key_back()));
                keys
            }
            Step::Preparing => vec![Binding::new(Key::Esc, messages.tui_key_cancel())],
            Step::Review { .. } => vec![
                Binding::new(Key::Enter, messages.tui_new_key_start()),
                Binding::new(Key::Esc, messages.tui_new_key_change()),
                Binding::new(Key::Down, messages.tui_key_scroll()).or(Key::Up),
            ],
        }
    }

    fn takes_text(&self) -> bool {
        matches!(self.step, Step::Form)
    }
}
