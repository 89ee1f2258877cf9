//! A page of what a command of this program prints, to scroll and search through.

use std::cell::{Cell, RefCell, RefMut};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dacapo_core::overview::Brief;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::effect::{Effect, Foreign, Job, Services};
use super::key::Key;
use super::live::TaskId;
use super::mouse::{Did, Mouse};
use super::output::Pressed;
use super::screen::{Answer, Binding, Context, Reply, Screen};
use super::selection::{self, Released, Selection, Spot, cut_out};
use super::text;
use super::theme::{Role, Theme};

/// More than this of an output is not shown here: `e` opens all of it.
const MOST: u64 = 4 << 20;

/// Lines by which one step of the wheel scrolls.
const WHEEL: usize = 3;

pub(crate) struct Pager {
    title: String,
    args: Vec<String>,
    directory: Option<PathBuf>,
    task: Option<TaskId>,
    text: Option<Vec<String>>,
    /// The text in lines of this many columns, as it was drawn last.
    wrapped: RefCell<Option<(usize, Vec<Line<'static>>)>>,
    /// What reads the text when the page is opened, where it is no command.
    job: Option<Job>,
    top: usize,
    /// What is marked with the mouse, by lines of what was drawn.
    marked: Selection<usize>,
    area: Cell<Rect>,
}

pub(super) struct Printed(pub(super) String);

impl Pager {
    pub(crate) fn new(title: String, args: Vec<String>) -> Self {
        Self {
            title,
            args,
            directory: None,
            task: None,
            text: None,
            wrapped: RefCell::default(),
            job: None,
            top: 0,
            marked: Selection::Nothing,
            area: Cell::default(),
        }
    }

    /// A page with a text that is known already.
    pub(crate) fn text(title: String, text: &str) -> Self {
        let text = Some(text.lines().map(str::to_owned).collect());
        Self { text, ..Self::new(title, Vec::new()) }
    }

    /// A page whose text a job gives, as [`Printed`].
    pub(crate) fn reading(title: String, job: Job) -> Self {
        Self { job: Some(job), ..Self::new(title, Vec::new()) }
    }

    /// Run in this directory.
    pub(crate) fn at(self, directory: Option<PathBuf>) -> Self {
        Self { directory, ..self }
    }

    pub(crate) fn of(self, brief: &Brief, context: &Context<'_>) -> Self {
        Self { directory: context.directory_of(brief), task: Some(TaskId::of(brief)), ..self }
    }

    fn read(&self) -> Effect {
        let (args, directory) = (self.args.clone(), self.directory.clone());
        Effect::Read(Job::new(move |services| Printed(printed(services, &args, directory.as_deref()))))
    }

    fn take(&mut self, text: &str) {
        self.text = Some(text.lines().map(str::to_owned).collect());
        self.wrapped.take();
    }

    /// The line on top when its end is shown.
    fn last(&self, context: &Context<'_>) -> usize {
        let page = usize::from(context.page.height).max(1);
        self.rows(context.page.width, context.theme).len().saturating_sub(page)
    }

    fn spot(&self, at: Position, context: &Context<'_>) -> Spot<usize> {
        let area = self.area.get();
        let row = self.top.min(self.last(context)) + usize::from(at.y.saturating_sub(area.y));
        Spot { row, column: at.x.saturating_sub(area.x).into() }
    }

    fn marked_text(&self, context: &Context<'_>) -> String {
        let rows = self.rows(context.page.width, context.theme);
        let text = |(nth, line): (usize, &Line<'static>)| {
            let whole: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            self.marked.columns(nth).map(|columns| cut_out(&whole, &columns))
        };
        rows.iter().enumerate().filter_map(text).collect::<Vec<_>>().join("\n")
    }

    /// The text in lines that fit; long ones go on below.
    fn rows(&self, columns: u16, theme: Theme) -> RefMut<'_, Vec<Line<'static>>> {
        let columns = usize::from(columns).max(10);
        let wrap = || {
            let lines = self.text.iter().flatten().map(|line| text::painted(line, theme));
            (columns, lines.flat_map(|line| text::hang(&line, columns)).collect())
        };
        let mut kept = self.wrapped.borrow_mut();
        if kept.as_ref().is_some_and(|(known, _)| *known != columns) {
            *kept = None;
        }
        RefMut::map(kept, |kept| &mut kept.get_or_insert_with(wrap).1)
    }
}

/// What the program says, its errors included: they are what came of it.
fn printed(services: &Services, args: &[String], directory: Option<&Path>) -> String {
    let app = services.app_in(directory);
    let messages = app.messages;
    let run = || {
        let here = app.here().map_err(|failure| failure.shown(messages).to_string())?;
        let mut command = Command::new(&app.program);
        command.args(["--color", "always"]).args(args).current_dir(here);
        command.env_clear().envs(app.env.iter().map(|(name, value)| (name, value)));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| messages.tui_not_started(&error.to_string()))?;
        let mut said = Vec::new();
        let stderr = child.stderr.take();
        let errors = std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stderr.map(|stream| stream.take(MOST).read_to_end(&mut said));
            said
        });
        let _ = child.stdout.take().map(|stream| stream.take(MOST).read_to_end(&mut said));
        // One that prints more than is shown has nobody who reads it.
        let _ = child.kill();
        let _ = child.wait();
        said.extend(errors.join().unwrap_or_default());
        Ok::<_, String>(String::from_utf8_lossy(&said).into_owned())
    };
    run().unwrap_or_else(|problem| problem)
}

impl Screen for Pager {
    fn title(&self, _: &Context<'_>) -> String {
        self.title.clone()
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        if let Some(job) = self.job.take() {
            return Reply::effect(Effect::Read(job));
        }
        if self.args.is_empty() { Reply::default() } else { Reply::effect(self.read()) }
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        let page = usize::from(context.page.height).max(1);
        let last = self.last(context);
        self.marked.clear();
        match key {
            Key::Down | Key::Char('j') => self.top = (self.top + 1).min(last),
            Key::Up | Key::Char('k') => self.top = self.top.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => self.top = (self.top + page).min(last),
            Key::PageUp => self.top = self.top.saturating_sub(page),
            Key::Home => self.top = 0,
            Key::End => self.top = last,
            Key::Char('e') if self.args.is_empty() => {
                let text = self.text.as_ref().map(|lines| lines.join("\n")).unwrap_or_default();
                return Reply::effect(Effect::Run(Foreign::EditText { text, name: "dacapo.txt".into() }));
            }
            Key::Char('e') => {
                let (args, directory) = (self.args.clone(), self.directory.clone());
                let name = format!("{}.txt", self.args.join("-"));
                return Reply::effect(Effect::Run(Foreign::EditOutput { args, directory, name }));
            }
            Key::Char('q') => return Reply::back(),
            Key::Ctrl('r') => return Reply::effect(self.read()),
            key => {
                let brief = self.task.as_ref().and_then(|id| context.tasks.get(id)).map(|entry| &entry.brief);
                let known = brief.filter(|_| key != Key::Enter);
                return known
                    .and_then(|brief| super::actions::key(key, brief, context))
                    .unwrap_or_else(Reply::unused);
            }
        }
        Reply::default()
    }

    fn mouse(&mut self, mouse: Mouse, context: &Context<'_>) -> Reply {
        match mouse.did {
            Did::WheelUp => self.top = self.top.saturating_sub(WHEEL),
            Did::WheelDown => self.top = (self.top + WHEEL).min(self.last(context)),
            Did::Press => self.marked.press(self.spot(mouse.at, context)),
            Did::Drag => {
                let area = self.area.get();
                if mouse.at.y < area.y {
                    self.top = self.top.saturating_sub(1);
                } else if mouse.at.y >= area.bottom() {
                    self.top = (self.top + 1).min(self.last(context));
                }
                self.marked.drag(self.spot(mouse.at, context));
            }
            Did::Release => {
                if self.marked.release() == Released::Marked {
                    return super::pages::marked(Pressed::Copy(self.marked_text(context)), context);
                }
            }
        }
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, _: &Context<'_>) -> Reply {
        if let Ok(printed) = answer.downcast::<Printed>() {
            self.take(&printed.0);
        }
        Reply::default()
    }

    fn tasks_changed(&mut self, context: &Context<'_>) -> Reply {
        let about_task = self.task.as_ref().is_some_and(|id| context.tasks.get(id).is_some());
        if about_task { Reply::effect(self.read()) } else { Reply::default() }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        if self.text.is_none() {
            let words = Span::styled(context.messages.tui_reading(), context.style(Role::Faint));
            return frame.render_widget(words, area);
        }
        let lines = self.rows(area.width, context.theme);
        let top = self.top.min(lines.len().saturating_sub(usize::from(area.height)));
        let shown: Vec<Line<'_>> = lines.iter().skip(top).take(area.height.into()).cloned().collect();
        self.area.set(area);
        let widths: Vec<usize> = shown.iter().map(Line::width).collect();
        frame.render_widget(Paragraph::new(shown), area);
        for ((nth, width), y) in (top..).zip(widths).zip(area.y..area.bottom()) {
            if let Some(columns) = self.marked.columns(nth) {
                let marked = selection::cells(&columns, width, Rect { y, height: 1, ..area });
                frame.buffer_mut().set_style(marked, context.style(Role::Selected));
            }
        }
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        let mut all = vec![
            Binding::new(Key::Esc, messages.tui_key_back()).or(Key::Char('q')),
            Binding::new(Key::Down, messages.tui_key_scroll()).or(Key::Up).or(Key::PageDown).or(Key::PageUp),
            Binding::new(Key::Char('e'), messages.tui_key_editor()),
        ];
        let brief = self.task.as_ref().and_then(|id| context.tasks.get(id)).map(|entry| &entry.brief);
        if brief.is_some() {
            let mine = super::actions::bindings(brief, messages);
            let own = |binding: &Binding| binding.keys[0] != Key::Enter && binding.keys[0] != Key::Char('e');
            all.extend(mine.into_iter().filter(own));
        }
        all
    }

    fn task<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        self.task.as_ref().and_then(|id| context.tasks.get(id)).map(|entry| &entry.brief)
    }
}
