//! What a task changed, in one iteration or in all: the files, and the patch, which may be of any size.

use dacapo_app::operations::diff::DiffPart;
use dacapo_core::git::{Lines, Whitespace, display_path};
use dacapo_core::overview::Brief;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use super::actions;
use super::effect::{Effect, Foreign, Job, Services};
use super::key::Key;
use super::live::TaskId;
use super::mouse::{Did, Mouse, Rows};
use super::output::{Output, OutputChanged, Pressed, Source, app_of};
use super::pages;
use super::screen::{Answer, Binding, Context, Reply, Screen};
use super::text;
use super::theme::Role;
use crate::error::Failure;
use crate::messages::Messages;

#[cfg(test)]
mod tests;

/// Columns for the list of files, where there is room for one.
const FILES: u16 = 36;
const ROOM_FOR_FILES: u16 = 90;

pub(crate) struct DiffPage {
    id: TaskId,
    /// As people count; none: all of it.
    part: DiffPart,
    whitespace: Whitespace,
    read: Option<Result<Patch, Failure>>,
    output: Option<Output>,
    /// The file that was gone to, until one scrolls: the last ones cannot be on top.
    chosen: Option<usize>,
    /// The first file of the list that is shown.
    top: Cell<usize>,
    /// The files as they were drawn.
    drawn: Rows<usize>,
    messages: Messages,
}

struct Patch {
    /// It is gone with this.
    directory: tempfile::TempDir,
    files: Vec<FileInPatch>,
    /// The iterations that there are.
    iterations: u32,
}

/// A file, and where its part of the patch begins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileInPatch {
    name: String,
    lines: Lines,
    offset: u64,
}

/// What a read gives, and for which question.
struct Came {
    part: DiffPart,
    whitespace: Whitespace,
    patch: Result<Patch, Failure>,
}

impl DiffPage {
    pub(crate) fn new(brief: &Brief, part: DiffPart, messages: Messages) -> Self {
        Self {
            id: TaskId::of(brief),
            part,
            whitespace: Whitespace::Counts,
            read: None,
            output: None,
            chosen: None,
            top: Cell::new(0),
            drawn: Rows::default(),
            messages,
        }
    }

    fn brief<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        context.tasks.get(&self.id).map(|entry| &entry.brief)
    }

    fn ask(&mut self) -> Reply {
        (self.read, self.output, self.chosen) = (None, None, None);
        let (id, part, whitespace) = (self.id.clone(), self.part, self.whitespace);
        Reply::effect(Effect::Read(Job::new(move |services| {
            let patch = read(services, &id, part, whitespace);
            Came { part, whitespace, patch }
        })))
    }

    fn files(&self) -> &[FileInPatch] {
        match &self.read {
            Some(Ok(patch)) => &patch.files,
            Some(Err(_)) | None => &[],
        }
    }

    /// The file that is looked at.
    fn at(&self) -> Option<usize> {
        if self.chosen.is_some() {
            return self.chosen;
        }
        let offset = self.output.as_ref()?.offset()?;
        let behind = self.files().partition_point(|file| file.offset <= offset);
        Some(behind.saturating_sub(1)).filter(|_| !self.files().is_empty())
    }

    fn go_to_file(&mut self, forward: bool) {
        let Some(at) = self.at() else { return };
        let offset = self.output.as_ref().and_then(Output::offset);
        let begins_here = self.chosen.is_some() || offset == self.files().get(at).map(|file| file.offset);
        let next = match (forward, begins_here) {
            (true, _) => at + 1,
            (false, true) => at.saturating_sub(1),
            (false, false) => at,
        };
        self.show_file(next);
    }

    fn show_file(&mut self, nth: usize) {
        let offset = self.files().get(nth).map(|file| file.offset);
        if let (Some(offset), Some(output)) = (offset, &mut self.output) {
            output.go_to_offset(offset);
            self.chosen = Some(nth);
        }
    }

    /// Another iteration; before the first and after the last is all of it.
    fn go_to_iteration(&mut self, forward: bool) -> Reply {
        let Some(Ok(patch)) = &self.read else { return Reply::default() };
        let last = patch.iterations;
        let next = match (self.part.iteration(), forward) {
            _ if last == 0 => None,
            (None, true) => Some(1),
            (None, false) => Some(last),
            (Some(at), true) => Some(at + 1).filter(|next| *next <= last),
            (Some(at), false) => at.checked_sub(1).filter(|next| *next > 0),
        };
        self.part = next.map_or(DiffPart::All, DiffPart::Iteration);
        self.ask()
    }

    fn take(&mut self, came: Came) -> Reply {
        if came.part != self.part || came.whitespace != self.whitespace {
            return Reply::default();
        }
        self.top.set(0);
        let mut reply = Reply::default();
        if let Ok(patch) = &came.patch
            && !patch.files.is_empty()
            && let Ok(mut output) = Output::from_start(self.messages)
        {
            reply = Reply::effect(Effect::Feed(output.feed_patch(patch.directory.path().join(NAME))));
            output.show(vec![Source { turn: 0, heading: None, over: true }]);
            self.output = Some(output);
        }
        self.read = Some(came.patch);
        reply
    }

    fn draw_files(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let selected = self.at();
        let room = usize::from(area.height);
        let at = selected.unwrap_or(0);
        let mut top = self.top.get();
        if at < top {
            top = at;
        } else if at >= top + room {
            top = at + 1 - room;
        }
        self.top.set(top);
        let columns = usize::from(area.width);
        let line = |file: &FileInPatch| {
            let (added, removed) = match file.lines {
                Lines::Counted { added, removed } => (format!("+{added}"), format!(" -{removed}")),
                Lines::Binary | Lines::New => (context.messages.diff_binary(), String::new()),
            };
            let used = text::width(&added) + text::width(&removed) + 2;
            let name = text::cut_front(&file.name, columns.saturating_sub(used));
            let gap = columns.saturating_sub(used + text::width(&name)) + 1;
            Line::from(vec![
                Span::raw(name),
                Span::raw(" ".repeat(gap)),
                Span::styled(added, context.style(Role::Added)),
                Span::styled(removed, context.style(Role::Removed)),
            ])
        };
        let lines: Vec<Line<'static>> = self.files().iter().skip(top).take(room).map(line).collect();
        self.drawn.clear();
        for (y, nth) in (area.y..).zip(top..top + lines.len()) {
            self.drawn.put(Rect { y, height: 1, ..area }, nth);
        }
        frame.render_widget(Paragraph::new(lines), area);
        if let Some(row) = selected.and_then(|nth| self.drawn.area_of(nth)) {
            frame.buffer_mut().set_style(row, context.style(Role::Selected));
        }
    }

    /// What is compared, and what one sees of it.
    fn headline(&self, context: &Context<'_>) -> Line<'static> {
        let messages = context.messages;
        let (added, removed) = self.files().iter().fold((0, 0), |(added, removed), file| match file.lines {
            Lines::Counted { added: more, removed: less } => (added + more, removed + less),
            Lines::Binary | Lines::New => (added, removed),
        });
        let mut spans = vec![
            Span::styled(self.what(messages), context.style(Role::Strong)),
            Span::raw("  "),
            Span::raw(messages.diff_files(self.files().len() as u64)),
            Span::styled(format!("  +{added}"), context.style(Role::Added)),
            Span::styled(format!(" -{removed}"), context.style(Role::Removed)),
        ];
        if self.whitespace == Whitespace::Ignored {
            spans.push(Span::styled(
                format!("  {}", messages.diff_without_whitespace()),
                context.style(Role::Warn),
            ));
        }
        let state = self.output.as_ref().map(Output::state).unwrap_or_default();
        spans.push(Span::styled(format!("  {state}"), context.style(Role::Faint)));
        Line::from(spans)
    }

    fn what(&self, messages: Messages) -> String {
        match self.part {
            DiffPart::Iteration(iteration) => messages.iteration_number(iteration),
            DiffPart::All => messages.diff_all_of_it(),
            DiffPart::Tests => messages.diff_of_tests(),
        }
    }
}

/// The name of the patch in its directory.
const NAME: &str = "patch";

/// Has git compare, on a worker.
fn read(services: &Services, id: &TaskId, part: DiffPart, whitespace: Whitespace) -> Result<Patch, Failure> {
    let app = app_of(services, id);
    let diff = app.diff(Some(&id.name), part)?;
    let unable = |error: io::Error| Failure::failed(error.to_string());
    let directory = tempfile::tempdir().map_err(unable)?;
    let path = directory.path().join(NAME);
    diff.write_patch(whitespace, &path)?;
    let stats = diff.stat(whitespace)?;
    let offsets = if stats.is_empty() { Vec::new() } else { file_offsets(&path).map_err(unable)? };
    let files = stats.into_iter().zip(offsets).map(|(stat, offset)| FileInPatch {
        name: display_path(&stat.path),
        lines: stat.lines,
        offset,
    });
    let iterations = u32::try_from(diff.view.iterations.len()).unwrap_or(u32::MAX);
    Ok(Patch { files: files.collect(), directory, iterations })
}

/// Where the parts of a patch begin, one for each file.
fn file_offsets(path: &PathBuf) -> io::Result<Vec<u64>> {
    const HEAD: &[u8] = b"\ndiff --git ";
    let mut file = File::open(path)?;
    let mut offsets = vec![0];
    let mut held: Vec<u8> = Vec::new();
    let mut from = 0_u64;
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(offsets);
        }
        held.extend_from_slice(&piece[..count]);
        offsets.extend(memchr::memmem::find_iter(&held, HEAD).map(|at| from + at as u64 + 1));
        // What is begun at the end may go on.
        let keep = held.len().saturating_sub(HEAD.len() - 1);
        from += keep as u64;
        held.drain(..keep);
    }
}

impl Screen for DiffPage {
    fn title(&self, context: &Context<'_>) -> String {
        context.messages.diff_title(&self.what(context.messages))
    }

    fn opened(&mut self, _: &Context<'_>) -> Reply {
        self.ask()
    }

    fn key(&mut self, key: Key, context: &Context<'_>) -> Reply {
        if let Some(output) = self.output.as_mut().filter(|output| output.is_typing()) {
            output.key(key);
            return Reply::default();
        }
        match key {
            Key::Char(']') | Key::Tab => self.go_to_file(true),
            Key::Char('[') | Key::BackTab => self.go_to_file(false),
            Key::Right => return self.go_to_iteration(true),
            Key::Left => return self.go_to_iteration(false),
            Key::Char('a') => {
                self.part = DiffPart::All;
                return self.ask();
            }
            Key::Char('w') => {
                self.whitespace = match self.whitespace {
                    Whitespace::Counts => Whitespace::Ignored,
                    Whitespace::Ignored => Whitespace::Counts,
                };
                return self.ask();
            }
            Key::Char('e') => {
                let mut args = vec!["diff".to_owned(), self.id.name.clone()];
                match self.part {
                    DiffPart::Iteration(number) => {
                        args.extend(["--iteration".to_owned(), number.to_string()]);
                    }
                    DiffPart::Tests => args.push("--tests".to_owned()),
                    DiffPart::All => {}
                }
                let directory = self.brief(context).and_then(|brief| context.directory_of(brief));
                let name = format!("{}.diff", self.id.name);
                return Reply::effect(Effect::Run(Foreign::EditOutput { args, directory, name }));
            }
            // There is nothing to follow and no other side of a patch.
            Key::Char('f' | 'v' | 'z') | Key::Enter => {}
            key => match self.output.as_mut().map_or(Pressed::Unused, |output| output.key(key)) {
                Pressed::Used => self.chosen = None,
                Pressed::Copy(text) => {
                    return Reply::effect(Effect::Copy(text)).saying(pages::copied(context));
                }
                Pressed::SearchEnded => return Reply::say(context.messages.output_search_ended()),
                Pressed::Unused => {
                    let brief = self.brief(context).filter(|_| key != Key::Char('d'));
                    let reply = brief.and_then(|brief| actions::key(key, brief, context));
                    return reply.unwrap_or_else(Reply::unused);
                }
            },
        }
        Reply::default()
    }

    fn mouse(&mut self, mouse: Mouse, context: &Context<'_>) -> Reply {
        if let Some(output) = self.output.as_mut().filter(|output| output.is_under(mouse)) {
            let copied = output.mouse(mouse);
            // Only what scrolls leaves the file that was gone to.
            if matches!(mouse.did, Did::WheelUp | Did::WheelDown | Did::Drag) {
                self.chosen = None;
            }
            return pages::marked(copied, context);
        }
        let file = self.drawn.at(mouse.at);
        match (mouse.did, file) {
            (Did::WheelUp, Some(_)) => self.go_to_file(false),
            (Did::WheelDown, Some(_)) => self.go_to_file(true),
            (Did::Press, Some(file)) => self.show_file(file),
            (Did::WheelUp | Did::WheelDown | Did::Press | Did::Drag | Did::Release, _) => {}
        }
        Reply::default()
    }

    fn pasted(&mut self, text: &str, _: &Context<'_>) -> Reply {
        if let Some(output) = &mut self.output {
            output.pasted(text);
        }
        Reply::default()
    }

    fn answered(&mut self, answer: Answer, _: &Context<'_>) -> Reply {
        let answer = match answer.downcast::<OutputChanged>() {
            Ok(_) => {
                self.output.iter_mut().for_each(Output::changed);
                return Reply::default();
            }
            Err(answer) => answer,
        };
        match answer.downcast::<Came>() {
            Ok(came) => self.take(*came),
            Err(_) => Reply::default(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, context: &Context<'_>) {
        let message = match &self.read {
            None => Some(context.messages.tui_reading()),
            Some(Err(failure)) => Some(failure.shown(context.messages).to_string()),
            Some(Ok(patch)) if patch.files.is_empty() => Some(context.messages.diff_nothing()),
            Some(Ok(_)) => None,
        };
        if area.height < 2 {
            return;
        }
        frame.render_widget(self.headline(context), Rect { height: 1, ..area });
        let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
        if let Some(message) = message {
            let lines = text::wrap(&text::clean(&message), usize::from(area.width).max(1));
            let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
            frame.render_widget(Paragraph::new(lines), body);
            return;
        }
        let Some(output) = &self.output else { return };
        if area.width < ROOM_FOR_FILES {
            // The list goes above, as far as there is room.
            let files = u16::try_from(self.files().len()).unwrap_or(u16::MAX).min(body.height / 4);
            self.draw_files(frame, Rect { height: files, ..body }, context);
            output.draw(frame, Rect { y: body.y + files, height: body.height - files, ..body }, context);
            return;
        }
        self.draw_files(frame, Rect { width: FILES, ..body }, context);
        for y in body.y..body.bottom() {
            let at = Rect { x: body.x + FILES, y, width: 1, height: 1 };
            frame.render_widget(Span::styled("│", context.style(Role::Border)), at);
        }
        let at = Rect { x: body.x + FILES + 1, width: body.width - FILES - 1, ..body };
        output.draw(frame, at, context);
    }

    fn keys(&self, context: &Context<'_>) -> Vec<Binding> {
        let messages = context.messages;
        let mut all = vec![
            Binding::new(Key::Char(']'), messages.diff_key_file()).or(Key::Char('[')).or(Key::Tab),
            Binding::new(Key::Right, messages.diff_key_iteration()).or(Key::Left),
            Binding::new(Key::Char('a'), messages.diff_key_all()),
            Binding::new(Key::Ctrl('f'), messages.output_key_search()),
            Binding::new(Key::Char('w'), messages.diff_key_whitespace()),
            Binding::new(Key::Char('e'), messages.tui_key_editor()),
        ];
        let more = self.output.as_ref().map(Output::bindings).unwrap_or_default();
        let own = |key: &Key| matches!(key, Key::Char('n' | 'N' | 'y') | Key::PageUp | Key::Home | Key::End);
        all.extend(more.into_iter().filter(|binding| own(&binding.keys[0])));
        let actions = actions::bindings(self.brief(context), messages);
        let known = |binding: &Binding| !matches!(binding.keys[0], Key::Enter | Key::Char('d' | 'e' | 'y'));
        all.extend(actions.into_iter().filter(known));
        all
    }

    fn takes_text(&self) -> bool {
        self.output.as_ref().is_some_and(Output::is_typing)
    }

    fn task<'a>(&self, context: &Context<'a>) -> Option<&'a Brief> {
        self.brief(context)
    }
}
