//! Small words that all surfaces share: durations, amounts, counts, colours.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use dacapo_core::context::is_deceptive;
use dacapo_core::event::{
    CheckBrief, CheckPhase, CheckResult, Command, Event, Exit, IterationRecord, Received,
};
use dacapo_core::spec::LoopPolicy;
use dacapo_core::spec::Writing;
use dacapo_core::view::{CurrentStep, Status};
use unicode_width::UnicodeWidthStr as _;

use super::ends;
use crate::messages::Messages;

/// What a person wants of a task, in one line.
pub fn command(received: &Received, messages: Messages) -> String {
    let what = match &received.command {
        Command::Kill => messages.order_kill(),
        Command::Pause { now: true } => messages.order_pause_now(),
        Command::Pause { now: false } => messages.order_pause(),
        Command::Approve { .. } => messages.order_yes(),
        Command::Reject { reason: None } => messages.order_no(),
        Command::Reject { reason: Some(reason) } => messages.order_no_because(&line(reason, 200)),
        Command::Refreeze { .. } => messages.order_refreeze(),
        Command::Remember { memory } if memory.is_empty() => messages.order_forget(),
        Command::Remember { .. } => messages.order_remember(),
        Command::Abandon => messages.order_abandon(),
        Command::Tell { text, standing: true } => messages.order_tell_standing(&line(text, 200)),
        Command::Tell { text, standing: false } => line(text, 200),
        Command::Untell => messages.order_untell(),
        Command::Set { key, value } => format!("{}={}", line(key, 40), line(value, 40)),
    };
    messages.order_by(&line(&ends::who(&received.by, messages), 60), &what)
}

/// The limits of a loop, each in words; `iterations` is how many it may have.
pub fn limits(policy: &LoopPolicy, iterations: Option<String>, messages: Messages) -> Vec<String> {
    let mut limits: Vec<String> = iterations.into_iter().collect();
    limits.extend(policy.time.map(duration));
    limits.extend(policy.max_cost.map(money));
    limits.extend(policy.max_tokens.map(tokens));
    // What ends a loop that goes round in circles.
    let stalls = policy.looping && policy.stall > 0;
    limits.extend(stalls.then(|| messages.limit_stall(policy.stall)));
    limits
}

/// How a command ended.
pub fn exit(exit: &Exit, messages: Messages) -> String {
    match (exit.timed_out, exit.exit_code) {
        (true, _) => messages.exit_timed_out(),
        (false, Some(code)) => messages.exit_code(code),
        (false, None) => messages.exit_by_signal(),
    }
}

/// How a task stands, in a word.
pub fn status(status: Status, messages: Messages) -> String {
    match status {
        Status::Queued => messages.status_name_queued(),
        Status::Running => messages.status_name_running(),
        Status::Waiting => messages.status_name_waiting(),
        Status::Paused => messages.status_name_paused(),
        Status::Interrupted => messages.status_name_interrupted(),
        Status::Completed => messages.status_name_completed(),
        Status::Stopped => messages.status_name_stopped(),
        Status::Failed => messages.status_name_failed(),
        Status::Cancelled => messages.status_name_cancelled(),
    }
}

/// Proven.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Failed.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Look at this.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Less important.
pub const DIM: Style = Style::new().dimmed();
/// More important.
pub const BOLD: Style = Style::new().bold();

/// Columns for what must not be cut short: it names what was kept and what to do. A bound for what agents say in it.
pub const WHOLE: usize = 1000;

/// `text` in a style; the stream drops it where there are no colours.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// What a running task is doing.
pub fn current_step(step: &CurrentStep, messages: Messages) -> String {
    match step {
        CurrentStep::Preparing => messages.list_preparing(),
        CurrentStep::Agent { agent } => messages.list_agent_working(agent),
        CurrentStep::Checks => messages.list_checks_running(),
        CurrentStep::Committing => messages.list_committing(),
        CurrentStep::Proving { commit_id } => messages.list_proving(commit_id.short()),
        CurrentStep::BackingOff => messages.list_backing_off(),
    }
}

/// `45s`, `3m20s`, `1h05m`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// `950 tok`, `184k tok`, `2.1M tok`.
pub fn tokens(tokens: u64) -> String {
    match tokens {
        0..1000 => format!("{tokens} tok"),
        1000..1_000_000 => format!("{}k tok", tokens / 1000),
        _ => format!("{:.1}M tok", tokens as f64 / 1e6),
    }
}

/// `$0.91`, `$0.0042`.
pub fn money(usd: f64) -> String {
    if usd != 0.0 && usd.abs() < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// `512 B`, `4.1 kB`, `1.2 GB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = "B";
    for next in units {
        if amount < 1000.0 {
            break;
        }
        (amount, unit) = (amount / 1000.0, next);
    }
    if unit == "B" || amount >= 100.0 { format!("{amount:.0} {unit}") } else { format!("{amount:.1} {unit}") }
}

/// A word as a shell reads it back.
pub fn shell_word(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A label, padded with spaces to this many columns.
pub fn padded(text: &str, columns: usize) -> String {
    let gap = columns.saturating_sub(text.width());
    format!("{text}{:gap$}", "")
}

/// `1 file`, `4 files`.
pub fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// One line of any text: control characters shown, the rest cut to `columns`.
pub fn line(text: &str, columns: usize) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let plain: String = first
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .filter(|c| !is_deceptive(*c))
        .collect();
    dacapo_core::context::cut_columns(plain.trim(), columns)
}

/// How a check went. Only proof is green.
pub fn check_sign(check: &CheckResult) -> String {
    checked_sign(check.passed(), check.phase)
}

/// The same of one whose output is not at hand.
pub fn checked_sign(passed: bool, phase: CheckPhase) -> String {
    match (passed, phase) {
        (true, CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut) => paint(GOOD, "✓"),
        (true, CheckPhase::Baseline | CheckPhase::Iteration) => paint(BOLD, "✓"),
        (false, _) => paint(BAD, "✗"),
    }
}

/// How an iteration went. Only proof is green.
pub fn iteration_sign(record: &IterationRecord) -> String {
    ended_sign(record.success, &record.checks)
}

/// How something went that was checked.
pub fn ended_sign(success: bool, checks: &[CheckBrief]) -> String {
    let proven = checks.iter().any(|check| check.phase.is_of_proof());
    match (success, checks.iter().all(|check| check.passed)) {
        (false, _) => paint(BAD, "✗"),
        (true, true) if proven => paint(GOOD, "✓"),
        (true, true) if !checks.is_empty() => paint(BOLD, "✓"),
        (true, true) => paint(BOLD, "●"),
        (true, false) => paint(WARN, "○"),
    }
}

/// A line of a command's output in quotation marks; empty if there is no line.
pub fn quoted(said: &str) -> Option<String> {
    let text = line(said, 60);
    (!text.is_empty()).then(|| format!("\"{text}\""))
}

/// The last lines that an agent wrote to standard error, below the message that quotes one of them.
pub fn stderr(tail: Option<&str>, message: Option<&str>, name: &str, messages: Messages) -> Vec<String> {
    const MOST: usize = 5;
    let lines: Vec<String> = tail
        .unwrap_or_default()
        .lines()
        .map(|said| line(said, 200))
        .filter(|said| !said.is_empty())
        .collect();
    let told = lines.len() == 1 && message.is_some_and(|message| message.contains(&lines[0]));
    if told || lines.is_empty() {
        return Vec::new();
    }
    let older = lines.len().saturating_sub(MOST);
    let mut out: Vec<String> = Vec::new();
    for (nth, said) in lines[older..].iter().enumerate() {
        let label = if nth == 0 { "stderr:" } else { "" };
        out.push(format!("{label:<7} {said}"));
    }
    if older > 0 {
        out.push(format!("        {}", messages.stderr_all(name)));
    }
    out
}

/// The commit of an iteration.
pub fn commit(record: &IterationRecord, messages: Messages) -> String {
    match &record.commit_id {
        Some(oid) => oid.short().to_owned(),
        None if record.changed_total > 0 => messages.commit_none_yet(),
        None => messages.commit_no_changes(),
    }
}

/// A model call that an agent makes again: `retrying: 503 overloaded`.
pub fn retrying(message: &str, status: Option<u16>, messages: Messages) -> String {
    let message = line(message, 160);
    match status.map(|status| status.to_string()) {
        Some(status) if !message.contains(&status) => messages.retrying(&format!("{status} {message}")),
        _ => messages.retrying(&message),
    }
}

/// What a model writes.
pub fn writing(what: Writing, messages: Messages) -> String {
    match what {
        Writing::Summary => messages.writing_summary(),
        Writing::CommitMessage => messages.writing_commit_message(),
    }
}

/// What came into a fresh worktree by `.worktreeinclude`.
pub fn included(event: &Event, messages: Messages) -> String {
    let Event::FilesIncluded { files, bytes: size, .. } = event else { return String::new() };
    messages.files_included(&messages.files(*files), &bytes(*size))
}

/// Branches as people say them.
pub fn branch(full: &str) -> &str {
    full.strip_prefix("refs/heads/").unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_short_as_they_can_be() {
        for (seconds, text) in [(5, "5s"), (65, "1m05s"), (3900, "1h05m"), (90_000, "1d01h")] {
            assert_eq!(duration(Duration::from_secs(seconds)), text);
        }
        assert_eq!(duration(Duration::from_millis(40)), "40ms");
    }

    #[test]
    fn a_retry_names_its_status_once() {
        let retrying = |message, status| retrying(message, status, Messages::ENGLISH);
        assert_eq!(retrying("overloaded", Some(503)), "retrying: 503 overloaded");
        assert_eq!(retrying("HTTP 503: overloaded\nmore", Some(503)), "retrying: HTTP 503: overloaded");
        assert_eq!(retrying("no route to host", None), "retrying: no route to host");
    }

    #[test]
    fn amounts_are_readable() {
        assert_eq!(
            (tokens(950), tokens(184_020), tokens(2_100_000)),
            ("950 tok".into(), "184k tok".into(), "2.1M tok".into())
        );
        assert_eq!(
            (money(0.91), money(0.0042), money(0.0)),
            ("$0.91".into(), "$0.0042".into(), "$0.00".into())
        );
        let sizes = [0, 512, 4_100, 98_304, 250_000_000, 1_234_000_000].map(bytes);
        assert_eq!(sizes, ["0 B", "512 B", "4.1 kB", "98.3 kB", "250 MB", "1.2 GB"]);
        assert_eq!((count(1, "file"), count(4, "file")), ("1 file".into(), "4 files".into()));
    }

    #[test]
    fn u6_a_line_cannot_drive_the_terminal() {
        assert_eq!(line("\n\n  red \u{1b}[31m\u{202e}txet\u{2028}end\u{7}\nnext", 80), "red  [31mtxet end");
        assert_eq!(line("繼續繼續", 5), "繼續…");
    }
}
