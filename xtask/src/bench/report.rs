//! The table: as markdown, with what it was measured on, and into its place in the docs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::stats::Spread;
use crate::{Outcome, shell};

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) ours: String,
    pub(super) against: String,
    pub(super) result: String,
    pub(super) reach: String,
    pub(super) met: bool,
}

impl Row {
    /// Two sides measured in turns; their ratio is judged.
    pub(super) fn ratio(what: String, ours: String, against: String, ratio: Spread, limit: f64) -> Self {
        let Spread { median, low, high, count } = ratio;
        let result = format!("{median:.2} × ({low:.2}–{high:.2}, n={count})");
        Self { what, ours, against, result, reach: format!("≤ {limit} ×"), met: median <= limit }
    }

    /// Megabytes that must stay below a limit.
    pub(super) fn below(what: String, megabytes: f64, note: &str, limit: f64) -> Self {
        let ours = format!("{megabytes:.1} MB");
        let result = if note.is_empty() { "—".to_owned() } else { note.to_owned() };
        let reach = format!("< {limit} MB");
        Self { what, ours, against: "—".to_owned(), result, reach, met: megabytes < limit }
    }

    /// The row for a terminal.
    pub(super) fn line(&self) -> String {
        let Self { what, ours, against, result, reach, met } = self;
        let verdict = if *met { "reached" } else { "MISSED" };
        format!("{what}: {ours} against {against}; {result}; {reach}: {verdict}")
    }
}

/// The whole table with the machine it is from.
pub(super) fn table(rows: &[Row], quick: bool, load: Option<f64>) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ =
        writeln!(text, "`cargo xtask bench{}` on {}.\n", if quick { " --quick" } else { "" }, machine(load));
    text.push_str("| what | Dacapo | against | result | reach | |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let cells = [&row.what, &row.ours, &row.against, &row.result, &row.reach];
        for cell in cells {
            let _ = write!(text, "| {} ", cell.replace('|', "\\|"));
        }
        let _ = writeln!(text, "| {} |", if row.met { "reached" } else { "**missed**" });
    }
    text
}

/// Puts the table between its markers and leaves every other line as it is.
pub(super) fn write(path: &Path, table: &str) -> Outcome {
    let text = fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let text = placed(&text, table).ok_or_else(|| {
        format!("{} has no lines `{BEGIN}` and `{END}` to put the table between", path.display())
    })?;
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn placed(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", table.trim()))
}

/// Cores, system, git and the commit: what a figure means nothing without.
fn machine(load: Option<f64>) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut parts = vec![format!("{cores} cores")];
    parts.extend(processor());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    parts.push(format!("Linux {}", kernel.split('-').next().unwrap_or_default().trim()));
    parts.extend(shell::version("git", &["--version"]).map(|v| v.replace(" version", "")));
    parts.extend(shell::version("git", &["rev-parse", "--short=7", "HEAD"]).map(|c| format!("commit {c}")));
    parts.extend(load.map(|load| format!("load {load:.1} at the start")));
    parts.join(", ")
}

/// How many processes wanted to run during the last minute.
pub(super) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(name.trim_start_matches([' ', '\t', ':']).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: Spread = Spread { median: 1.1, low: 1.05, high: 1.4, count: 7 };

    #[test]
    fn judged_by_the_middle() {
        let row = Row::ratio("a | b".into(), "8.0 ms".into(), "bash: 7.3 ms".into(), SPREAD, 1.3);
        assert!(row.met);
        assert_eq!(row.result, "1.10 × (1.05–1.40, n=7)");
        assert!(!Row::ratio("x".into(), "".into(), "".into(), SPREAD, 1.0).met);
        assert!(!Row::below("m".into(), 10.0, "", 10.0).met);
        let table = table(&[row], false, Some(0.25));
        assert!(
            table.contains(
                "| a \\| b | 8.0 ms | bash: 7.3 ms | 1.10 × (1.05–1.40, n=7) | ≤ 1.3 × | reached |"
            )
        );
        assert!(table.contains(" cores, ") && table.contains(", load 0.2 at the start."), "{table}");
    }

    #[test]
    fn only_the_place_between_the_markers_changes() {
        let text = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nend\n");
        let new = placed(&text, "new\n").unwrap();
        assert_eq!(new, format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nend\n"));
        assert_eq!(placed(&new, "new\n").as_ref(), Some(&new));
        assert_eq!(placed("no markers", "new"), None);
    }
}
