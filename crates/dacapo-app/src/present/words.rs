//! Small words that all surfaces share: durations, amounts, counts, colours.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use dacapo_core::context::is_deceptive;
use dacapo_core::event::{CheckBrief, CheckPhase, CheckResult, Command, Event, IterationRecord, Received};
use dacapo_core::spec::LoopPolicy;
use dacapo_core::spec::Writing;

/// What a person wants of a task, in one line.
pub fn command(received: &Received) -> String {
    let by = line(&received.by, 60);
    match &received.command {
        Command::Kill => format!("{by}: it is to end"),
        Command::Pause { now: true } => format!("{by}: it is to pause now"),
        Command::Pause { now: false } => format!("{by}: it is to pause after this iteration"),
        Command::Approve { .. } => format!("{by}: yes"),
        Command::Reject { reason: None } => format!("{by}: no"),
        Command::Reject { reason: Some(reason) } => format!("{by}: no: {}", line(reason, 200)),
        Command::Refreeze { .. } => format!("{by}: the criteria are those of the file now"),
        Command::Remember { memory } if memory.is_empty() => format!("{by}: the project memory is empty now"),
        Command::Remember { .. } => format!("{by}: the project memory is that of the file now"),
        Command::Abandon => format!("{by}: it is to end for good"),
        Command::Tell { text, standing: true } => format!("{by}: {} (from now on)", line(text, 200)),
        Command::Tell { text, standing: false } => format!("{by}: {}", line(text, 200)),
        Command::Untell => format!("{by}: what was told holds no longer"),
        Command::Set { key, value } => format!("{by}: {}={}", line(key, 40), line(value, 40)),
    }
}

/// The limits of a loop, each in words; `iterations` is how many it may have.
pub fn limits(policy: &LoopPolicy, iterations: Option<String>) -> Vec<String> {
    let mut limits: Vec<String> = iterations.into_iter().collect();
    limits.extend(policy.time.map(duration));
    limits.extend(policy.max_cost.map(money));
    limits.extend(policy.max_tokens.map(tokens));
    limits.extend(stall(policy));
    limits
}

/// The limit that ends a loop which goes round in circles.
fn stall(policy: &LoopPolicy) -> Option<String> {
    (policy.looping && policy.stall > 0).then(|| format!("stops after {} without progress", policy.stall))
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
        (true, CheckPhase::Proof) => paint(GOOD, "✓"),
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
    let proven = checks.iter().any(|check| check.phase == CheckPhase::Proof);
    match (success, checks.iter().all(|check| check.passed)) {
        (false, _) => paint(BAD, "✗"),
        (true, true) if proven => paint(GOOD, "✓"),
        (true, true) if !checks.is_empty() => paint(BOLD, "✓"),
        (true, true) => paint(BOLD, "●"),
        (true, false) => paint(WARN, "○"),
    }
}

/// A line of what a command printed, in quotation marks; none where there is none.
pub fn quoted(said: &str) -> Option<String> {
    let text = line(said, 60);
    (!text.is_empty()).then(|| format!("\"{text}\""))
}

/// The last lines that an agent wrote to standard error, below the message that quotes one of them.
pub fn stderr(tail: Option<&str>, message: Option<&str>, name: &str) -> Vec<String> {
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
        out.push(format!("        all of it: dacapo logs {name} --stderr"));
    }
    out
}

/// The commit of an iteration.
pub fn commit(record: &IterationRecord) -> &str {
    match &record.commit_id {
        Some(oid) => oid.short(),
        None if record.changed_total > 0 => "not committed",
        None => "no changes",
    }
}

/// A model call that an agent makes again: `retrying: 503 overloaded`.
pub fn retrying(message: &str, status: Option<u16>) -> String {
    let message = line(message, 160);
    match status.map(|status| status.to_string()) {
        Some(status) if !message.contains(&status) => format!("retrying: {status} {message}"),
        _ => format!("retrying: {message}"),
    }
}

/// What a model writes.
pub fn writing(what: Writing) -> &'static str {
    match what {
        Writing::Summary => "summary",
        Writing::CommitMessage => "commit message",
    }
}

/// What came into a fresh worktree by `.worktreeinclude`.
pub fn included(event: &Event) -> String {
    let Event::FilesIncluded { files, bytes: size, .. } = event else { return String::new() };
    format!("{} ({}) came along by .worktreeinclude", count(*files, "file"), bytes(*size))
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
