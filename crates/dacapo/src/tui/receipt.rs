//! What is proven of a task and what is not: its receipt, and of every check that failed its own last lines.

use std::fmt::Write as _;
use std::io::{Read as _, Seek as _, SeekFrom};

use dacapo_app::operations::output;
use dacapo_app::present::{report, words};
use dacapo_core::store::TaskDir;
use dacapo_core::view::TaskView;

use super::effect::Services;
use super::live::TaskId;
use super::output::{app_of, dir_of};
use crate::error::Failure;
use crate::messages::Messages;

/// How many lines of a check that failed are shown; `dacapo logs --check` has all of them.
const LINES: usize = 40;
/// They are among the last bytes.
const BYTES: u64 = 64 << 10;

/// The page, as painted text.
pub(crate) fn text(services: &Services, task: &TaskId, messages: Messages) -> String {
    let read = || -> Result<String, Failure> {
        let dir = dir_of(services, task)?;
        let view = app_of(services, task).view(&dir)?;
        Ok(receipt(&view, &dir, messages))
    };
    read().unwrap_or_else(|failure| failure.shown(messages).to_string())
}

pub(super) fn receipt(view: &TaskView, dir: &TaskDir, messages: Messages) -> String {
    let mut out = match &view.result {
        Some(result) => report::facts(view, result, messages),
        None => format!("{}\n", words::paint(words::WARN, &messages.receipt_no_end_yet())),
    };
    out.push('\n');
    if view.checks.is_empty() {
        let _ = writeln!(out, "{}", messages.receipt_no_check_ran());
    }
    // The newest run of each check, in the order in which they run; what it printed is what counts.
    for command in commands(view) {
        let Some(at) = view.checks.iter().rposition(|check| check.command == command) else { continue };
        let check = &view.checks[at];
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let sign = words::check_sign(check);
        let ended = words::exit(&check.ended(), messages);
        let name = messages.receipt_of_check(number, &words::line(command, 200));
        let _ = writeln!(out, "{sign} {}  {ended}", words::paint(words::BOLD, &name));
        if check.passed() {
            let line = words::line(&check.telling_line(), 200);
            let _ = writeln!(out, "    {line}");
            continue;
        }
        let (lines, before) =
            last_lines(dir, number).unwrap_or_else(|| (check.tail.lines().map(str::to_owned).collect(), 0));
        if before > 0 {
            let _ =
                writeln!(out, "    {}", words::paint(words::DIM, &messages.receipt_lines_left_out(before)));
        }
        for line in lines {
            let _ = writeln!(out, "    {}", crate::tui::text::clean(&line));
        }
    }
    out
}

/// Each check once.
fn commands(view: &TaskView) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for check in &view.checks {
        if !all.contains(&check.command.as_str()) {
            all.push(&check.command);
        }
    }
    all
}

/// The last lines that a run of a check printed, and how many of those that were looked at are before them.
fn last_lines(dir: &TaskDir, number: u32) -> Option<(Vec<String>, u64)> {
    let mut file = output::check(dir, number).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let before = lines.len().saturating_sub(LINES);
    Some((lines[before..].iter().map(|line| (*line).to_owned()).collect(), before as u64))
}
