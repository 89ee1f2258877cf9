//! Rows of a list: title, name, what there is to say, what to type next; in the columns of a terminal, or in a pipe,
//! where nothing is cut.

use anstyle::Style;
use dacapo_core::context::cut_columns;
use unicode_width::UnicodeWidthStr as _;

use super::words::{self, BOLD, DIM, GOOD, paint};

/// Titles and the gap behind them.
const TITLE: usize = 11;
/// The gap between other columns.
const GAP: usize = 2;
/// In a terminal a longer name has a line of its own.
const NAME: usize = 24;
/// What is said of a task is not cut shorter than this to have the command on the same line.
const LEAST: usize = 18;

#[derive(Debug, Clone)]
pub struct Line {
    /// Heading of the group that the task is listed in.
    pub title: String,
    /// Style of the title.
    pub style: Style,
    pub name: String,
    /// What there is to say.
    pub what: String,
    /// What of that is green where it begins so; empty: nothing. Only proof is.
    pub green: String,
    /// Whether all of that has to be read.
    pub room: Room,
    pub next: Option<Next>,
}

/// How much room a text gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// One line: what does not fit is cut.
    Line,
    /// One line, and no more of it than the column has, so that the commands stand below each other.
    Column,
    /// As many lines as it needs.
    All,
}

/// A command about a task.
#[derive(Debug, Clone)]
pub struct Next {
    /// The command, up to the task's name.
    pub before: String,
    /// The task; empty where it is about no single one.
    pub name: String,
    /// What comes after the task's name.
    pub after: String,
}

impl Next {
    fn text(&self) -> String {
        let words = [&self.before, &self.name, &self.after].map(String::as_str);
        words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ")
    }

    /// On a line of its own; broken as a shell understands it where even that is too short.
    fn below(&self, columns: usize) -> Vec<String> {
        let whole = self.text();
        if TITLE + whole.width() <= columns || self.name.is_empty() {
            return vec![whole];
        }
        // Flags may go before the name; an answer goes behind it.
        if self.after.starts_with('"') {
            let behind = format!("{} {}", self.name, self.after);
            let before = format!("{} \\", self.before);
            return if TITLE + behind.width() <= columns {
                vec![before, behind]
            } else {
                vec![before, format!("{} \\", self.name), self.after.clone()]
            };
        }
        let flags = [&self.before, &self.after].map(String::as_str);
        let flags: Vec<&str> = flags.iter().filter(|word| !word.is_empty()).copied().collect();
        vec![format!("{} \\", flags.join(" ")), self.name.clone()]
    }
}

/// Blocks of rows, each under its heading where it has one.
pub fn render(blocks: &[(&str, Vec<Line>)], columns: Option<usize>) -> String {
    let all = || blocks.iter().flat_map(|(_, lines)| lines);
    let most = columns.map_or(usize::MAX, |_| NAME);
    let names = all().map(|line| line.name.width()).filter(|width| *width <= most).max().unwrap_or(0);
    // What may have several lines is no reason to move the commands of all others away.
    let one_line = all().filter(|line| line.room != Room::All);
    let what = one_line.map(|line| line.what.width()).max().unwrap_or(0);
    // A command with a long name goes below, and is no reason to cut the others.
    let short = all().filter(|line| line.name.width() <= most);
    let next = short.filter_map(|line| line.next.as_ref()).map(|next| next.text().width()).max().unwrap_or(0);
    // As wide as the widest, as long as commands still fit behind it.
    let what = match columns {
        Some(columns) => what.min(columns.saturating_sub(TITLE + names + GAP + GAP + next).max(LEAST)),
        None => what.min(48),
    };
    let mut out = String::new();
    for (heading, lines) in blocks {
        if !heading.is_empty() {
            out.push_str(&paint(BOLD, &words::line(heading, columns.unwrap_or(words::WHOLE))));
            out.push('\n');
        }
        for line in lines {
            match columns {
                Some(columns) => fitted(&mut out, line, (names, what), columns),
                None => plain(&mut out, line, (names, what)),
            }
        }
    }
    out
}

fn plain(out: &mut String, line: &Line, (names, what): (usize, usize)) {
    head(out, line);
    pad(out, line.name.width(), names);
    out.push_str(&styled(&line.what, line));
    if let Some(next) = &line.next {
        pad(out, line.what.width(), what);
        out.push_str(&paint(DIM, &next.text()));
    }
    out.push('\n');
}

fn fitted(out: &mut String, line: &Line, (names, what): (usize, usize), columns: usize) {
    head(out, line);
    let mut name = line.name.width();
    if name > names {
        out.push_str(&format!("\n{:TITLE$}", ""));
        name = 0;
    }
    let used = TITLE + names + GAP;
    let own = line.what.width();
    let next = line.next.as_ref().map(Next::text).unwrap_or_default();
    let beside = columns.saturating_sub(used + GAP + next.width());
    let cuts = beside < own;
    if cuts && line.room == Room::All {
        let indent = if columns.saturating_sub(used) >= LEAST { used } else { TITLE };
        for (nth, part) in broken(&line.what, columns.saturating_sub(indent)).iter().enumerate() {
            match (nth, indent == used) {
                (0, true) => pad(out, name, names),
                _ => out.push_str(&format!("\n{:indent$}", "")),
            }
            out.push_str(&styled(part, line));
        }
        out.push('\n');
        below(out, line, columns);
        return;
    }
    if beside >= own.min(what.max(LEAST)) && (beside >= LEAST || beside >= own) {
        let room = if line.room == Room::Column { beside.min(what.max(LEAST)) } else { beside };
        let text = cut_columns(&line.what, room);
        pad(out, name, names);
        out.push_str(&styled(&text, line));
        if !next.is_empty() {
            pad(out, text.width(), what.min(beside));
            out.push_str(&paint(DIM, &next));
        }
        out.push('\n');
        return;
    }
    let room = columns.saturating_sub(used);
    if room >= own.min(LEAST) {
        pad(out, name, names);
        out.push_str(&styled(&cut_columns(&line.what, room), line));
    } else {
        out.push_str(&format!("\n{:TITLE$}", ""));
        out.push_str(&styled(&cut_columns(&line.what, columns.saturating_sub(TITLE)), line));
    }
    out.push('\n');
    below(out, line, columns);
}

fn below(out: &mut String, line: &Line, columns: usize) {
    for part in line.next.iter().flat_map(|next| next.below(columns)) {
        out.push_str(&format!("{:TITLE$}{}\n", "", paint(DIM, &part)));
    }
}

/// Breaks the text into lines of at most this many columns, between words where possible.
fn broken(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut_columns(word, columns)),
        }
    }
    lines
}

fn head(out: &mut String, line: &Line) {
    out.push_str(&paint(line.style, &line.title));
    pad(out, line.title.width(), TITLE - GAP);
    out.push_str(&line.name);
}

fn pad(out: &mut String, width: usize, to: usize) {
    out.extend(std::iter::repeat_n(' ', to.saturating_sub(width) + GAP));
}

fn styled(what: &str, line: &Line) -> String {
    match what.strip_prefix(line.green.as_str()) {
        Some(rest) if !line.green.is_empty() => paint(GOOD, &line.green) + rest,
        _ => what.to_owned(),
    }
}

/// Parts with dots between them, broken between two of them where the terminal is too narrow.
pub fn wrapped(parts: &[String], columns: Option<usize>, style: Style) -> String {
    const DOT: &str = " · ";
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line)
                if columns.is_none_or(|columns| line.width() + DOT.width() + part.width() <= columns) =>
            {
                line.push_str(DOT);
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines.iter().map(|line| paint(style, line)).collect::<Vec<_>>().join("\n")
}
