//! What was typed in the command line before, for the next time: in the data directory, for its user alone.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::App;

/// How many lines are offered again.
const MOST: usize = 500;
/// The file is cut back when it has grown to this.
const MOST_BYTES: u64 = 256 << 10;

fn path(app: &App) -> Option<PathBuf> {
    Some(app.home().ok()?.path().join("history"))
}

/// The oldest first; what was typed twice in a row is there once.
pub(super) fn read(app: &App) -> Vec<String> {
    let text = path(app).and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.dedup();
    lines.split_off(lines.len().saturating_sub(MOST))
}

/// Remembers a line. That it cannot is no reason to trouble anybody: it was done all the same.
pub(super) fn add(app: &App, line: &str) {
    let Some(path) = path(app) else { return };
    if fs::metadata(&path).is_ok_and(|found| found.len() > MOST_BYTES) {
        let kept = read(app).join("\n") + "\n";
        let mut whole = OpenOptions::new();
        let whole = whole.write(true).truncate(true).mode(0o600).open(&path);
        let _ = whole.and_then(|mut file| file.write_all(kept.as_bytes()));
    }
    if let Some(parent) = path.parent() {
        let _ = fs::create_dir_all(parent);
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    // One write, so that two of us do not mix their lines.
    let _ = file.and_then(|mut file| file.write_all(format!("{}\n", line.replace('\n', " ")).as_bytes()));
}
