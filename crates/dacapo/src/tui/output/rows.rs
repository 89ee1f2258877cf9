//! Entries as rows of the screen: coloured runs of text, broken by columns.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::entry::{Answer, Body, Call, Entry, Severity};
use super::markdown;
use super::search::Query;
use crate::messages::Messages;
use crate::tui::text::cut;
use crate::tui::theme::Role;

/// Text of one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) role: Role,
    pub(crate) text: String,
    /// It is what was searched for.
    pub(crate) hit: bool,
}

impl Run {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), hit: false }
    }
}

pub(crate) type Row = Vec<Run>;

/// Whether all of an entry is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Folded,
    Unfolded,
}

/// How entries are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    pub(super) columns: usize,
    pub(super) query: Option<&'a Query>,
    pub(super) messages: Messages,
}

impl Layout<'_> {
    /// The rows of an entry, at least one.
    pub(super) fn rows(&self, entry: &Entry, fold: Fold) -> Vec<Row> {
        let mut rows = Vec::new();
        match &entry.body {
            Body::Heading(text) => {
                let line = "─".repeat(self.columns.saturating_sub(text.width() + 4).min(200));
                let runs = vec![
                    Run::new(Role::Border, "─ "),
                    Run::new(Role::Accent, text.as_str()),
                    Run::new(Role::Border, format!(" {line}")),
                ];
                self.one(&mut rows, runs);
            }
            Body::Said { text, block } => {
                let (runs, hang) = markdown::line(text, *block);
                self.wrapped(&mut rows, runs, hang);
            }
            Body::Thought(text) => self.wrapped(&mut rows, vec![Run::new(Role::Faint, text.as_str())], 0),
            Body::Call(call) => self.call(&mut rows, call, fold),
            Body::Answer(answer) => self.lone_answer(&mut rows, answer, fold),
            Body::Plan(steps) => {
                for step in steps {
                    let runs = vec![Run::new(Role::Accent, "○ "), Run::new(Role::Plain, step.as_str())];
                    self.wrapped(&mut rows, runs, 2);
                }
            }
            Body::Remark { text, severity } => {
                let role = match severity {
                    Severity::Warning => Role::Warn,
                    Severity::Error => Role::Bad,
                };
                self.wrapped(&mut rows, vec![Run::new(role, format!("! {text}"))], 2);
            }
            Body::Raw(text) => self.wrapped(&mut rows, vec![Run::new(Role::Plain, text.as_str())], 0),
            Body::Patch(text) => {
                self.wrapped(&mut rows, vec![Run::new(markdown::diff_role(text), text.as_str())], 1);
            }
        }
        if rows.is_empty() {
            rows.push(Row::new());
        }
        rows
    }

    /// `▸ Bash cargo test ✗ error: 4 failed`.
    fn call(&self, rows: &mut Vec<Row>, call: &Call, fold: Fold) {
        let sign = match (fold, &call.answer) {
            (Fold::Unfolded, Some(_)) => "▾ ",
            (Fold::Folded | Fold::Unfolded, _) => "▸ ",
        };
        let mut runs = vec![Run::new(Role::Accent, sign), Run::new(Role::Strong, call.name.as_str())];
        if !call.summary.is_empty() {
            runs.push(Run::new(Role::Plain, format!(" {}", call.summary)));
        }
        let Some(answer) = &call.answer else { return self.one(rows, runs) };
        if answer.failed {
            runs.push(Run::new(Role::Bad, " ✗"));
        }
        match fold {
            Fold::Folded => {
                let words = if answer.failed { telling(answer) } else { self.size(answer) };
                runs.extend(words.map(|words| Run::new(Role::Faint, format!("  {words}"))));
                self.one(rows, runs);
            }
            Fold::Unfolded => {
                self.one(rows, runs);
                self.answer(rows, answer);
            }
        }
    }

    fn lone_answer(&self, rows: &mut Vec<Row>, answer: &Answer, fold: Fold) {
        if fold == Fold::Unfolded {
            return self.answer(rows, answer);
        }
        let mut runs = vec![Run::new(Role::Faint, "  ")];
        if answer.failed {
            runs.push(Run::new(Role::Bad, "✗ "));
        }
        runs.extend(telling(answer).map(|line| Run::new(Role::Faint, line)));
        self.one(rows, runs);
    }

    fn answer(&self, rows: &mut Vec<Row>, answer: &Answer) {
        let diff = markdown::is_diff(&answer.lines);
        for line in &answer.lines {
            let role = if diff { markdown::diff_role(line) } else { Role::Plain };
            let runs = vec![Run::new(Role::Border, "  ▏ "), Run::new(role, line.as_str())];
            self.wrapped(rows, runs, 4);
        }
    }

    /// What there is to unfold, where that is more than nothing.
    fn size(&self, answer: &Answer) -> Option<String> {
        match answer.lines.as_slice() {
            [] => None,
            [line] if line.width() <= 40 => Some(line.clone()),
            lines => Some(self.messages.output_lines(lines.len() as u64)),
        }
    }

    /// In one row, cut where it has no room.
    fn one(&self, rows: &mut Vec<Row>, runs: Vec<Run>) {
        let mut left = self.columns;
        let mut row = Row::new();
        for run in self.marked(runs) {
            let text = cut(&run.text, left);
            let cut_short = text.width() < run.text.width();
            left = left.saturating_sub(text.width());
            row.push(Run { text, ..run });
            if cut_short || left == 0 {
                break;
            }
        }
        rows.push(row);
    }

    fn wrapped(&self, rows: &mut Vec<Row>, runs: Vec<Run>, hang: usize) {
        rows.extend(wrap(&self.marked(runs), self.columns, hang));
    }

    /// What was searched for stands out.
    fn marked(&self, runs: Vec<Run>) -> Vec<Run> {
        let Some(query) = self.query else { return runs };
        let whole: String = runs.iter().map(|run| run.text.as_str()).collect();
        let hits = query.all_in(&whole);
        if hits.is_empty() {
            return runs;
        }
        let mut out = Vec::new();
        let mut from = 0;
        for run in runs {
            let end = from + run.text.len();
            let mut at = from;
            for hit in hits.iter().filter(|hit| hit.start < end && hit.end > from) {
                let (start, stop) = (hit.start.max(from), hit.end.min(end));
                if start > at {
                    out.push(Run { text: whole[at..start].to_owned(), ..run.clone() });
                }
                out.push(Run { text: whole[start..stop].to_owned(), hit: true, ..run.clone() });
                at = stop;
            }
            if at < end {
                out.push(Run { text: whole[at..end].to_owned(), ..run });
            }
            from = end;
        }
        out
    }
}

/// The line of an answer that says most: its first error, else its last word.
fn telling(answer: &Answer) -> Option<String> {
    let mut lines = answer.lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let is_error = |line: &&str| {
        let start = line.get(..5).map(str::to_ascii_lowercase);
        start.as_deref() == Some("error") || line.contains("panicked at")
    };
    let line = lines.clone().find(is_error).or_else(|| lines.next_back())?;
    Some(line.to_owned())
}

/// Breaks runs into rows of at most so many columns; rows after the first are indented by `hang`. Broken at spaces where there
/// are some, else anywhere: Chinese has none, and a path may be wider than the screen.
pub(super) fn wrap(runs: &[Run], columns: usize, hang: usize) -> Vec<Row> {
    let columns = columns.max(2);
    let hang = if hang + 8 > columns { 0 } else { hang };
    let all: Vec<(char, usize)> =
        runs.iter().enumerate().flat_map(|(nth, run)| run.text.chars().map(move |c| (c, nth))).collect();
    let widths = widths(&all);
    let mut rows = Vec::new();
    let mut from = 0;
    while from < all.len() {
        let room = if rows.is_empty() { columns } else { columns - hang };
        let end = row_end(&all, &widths, from, room);
        rows.push(row(runs, &all[from..end], if rows.is_empty() { 0 } else { hang }));
        from = end;
        // The space at which it was broken is not shown.
        if all.get(from).is_some_and(|(c, _)| *c == ' ') && from < all.len() {
            from += 1;
        }
    }
    if rows.is_empty() {
        rows.push(Row::new());
    }
    rows
}

/// How wide each character is; those that belong to the one before them are counted with it.
fn widths(all: &[(char, usize)]) -> Vec<usize> {
    let mut widths: Vec<usize> = all.iter().map(|(c, _)| c.width().unwrap_or(0)).collect();
    for nth in 1..all.len() {
        // This asks for the picture of a character, which is wide.
        if all[nth].0 == '\u{fe0f}' && widths[nth - 1] == 1 {
            widths[nth - 1] = 2;
        }
    }
    widths
}

/// Behind the last character of the row that begins at `from`.
fn row_end(all: &[(char, usize)], widths: &[usize], from: usize, room: usize) -> usize {
    let mut width = 0;
    let mut space = None;
    let mut wide = None;
    for at in from..all.len() {
        let c = all[at].0;
        if width + widths[at] > room {
            // What is glued to a character stays with it.
            let mut end = at.max(from + 1);
            while end < all.len() && widths[end] == 0 {
                end += 1;
            }
            if c == ' ' || end == all.len() {
                return end;
            }
            return wide.max(space).unwrap_or(end);
        }
        width += widths[at];
        if c == ' ' && at > from {
            space = Some(at);
        }
        // Between two wide characters one may break.
        if widths[at] == 2 && all.get(at + 1).is_some_and(|_| widths[at + 1] == 2) {
            wide = Some(at + 1);
        }
    }
    all.len()
}

fn row(runs: &[Run], chars: &[(char, usize)], hang: usize) -> Row {
    let mut row = Row::new();
    if hang > 0 {
        row.push(Run::new(Role::Plain, " ".repeat(hang)));
    }
    let mut last = None;
    for (c, nth) in chars {
        if last != Some(*nth) {
            row.push(Run { text: String::new(), ..runs[*nth].clone() });
            last = Some(*nth);
        }
        if let Some(run) = row.last_mut() {
            run.text.push(*c);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::output::entry::Anchor;

    fn text(row: &Row) -> String {
        row.iter().map(|run| run.text.as_str()).collect()
    }

    fn wrapped(said: &str, columns: usize, hang: usize) -> Vec<String> {
        wrap(&[Run::new(Role::Plain, said)], columns, hang).iter().map(text).collect()
    }

    #[test]
    fn rows_are_broken_where_people_break_lines() {
        assert_eq!(wrapped("the quick brown fox", 10, 0), ["the quick", "brown fox"]);
        assert_eq!(wrapped("abcdefghijkl", 5, 0), ["abcde", "fghij", "kl"]);
        assert_eq!(wrapped("任务已经完成", 5, 0), ["任务", "已经", "完成"]);
        assert_eq!(wrapped("see 任务已经完成了", 9, 0), ["see 任务", "已经完成", "了"]);
        assert_eq!(wrapped("• one two three four", 11, 2), ["• one two", "  three", "  four"]);
        assert_eq!(wrapped("", 5, 0), [""]);
    }

    fn layout(columns: usize) -> Layout<'static> {
        Layout { columns, query: None, messages: Messages::ENGLISH }
    }

    fn call(failed: bool, lines: &[&str]) -> Entry {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        let answer = Some(Answer { id: "1".into(), failed, lines });
        let call = Call { id: "1".into(), name: "Bash".into(), summary: "cargo test".into(), answer };
        Entry { at: Anchor::default(), body: Body::Call(call) }
    }

    #[test]
    fn a_tool_call_is_one_row_until_it_is_unfolded() {
        let entry = call(true, &["error: 4 failed", "more"]);
        let shown = |fold| layout(60).rows(&entry, fold).iter().map(text).collect::<Vec<_>>();
        assert_eq!(shown(Fold::Folded), ["▸ Bash cargo test ✗  error: 4 failed"]);
        assert_eq!(shown(Fold::Unfolded), ["▾ Bash cargo test ✗", "  ▏ error: 4 failed", "  ▏ more"]);
        let long = call(false, &["a", "b", "c"]);
        assert_eq!(text(&layout(60).rows(&long, Fold::Folded)[0]), "▸ Bash cargo test  3 lines");
        let made = call(true, &["cc -c a.c", "make: *** [test] Error 1", ""]);
        let shown = text(&layout(80).rows(&made, Fold::Folded)[0]);
        assert_eq!(shown, "▸ Bash cargo test ✗  make: *** [test] Error 1");
        assert_eq!(text(&layout(12).rows(&long, Fold::Folded)[0]), "▸ Bash carg…");
    }

    #[test]
    fn what_is_searched_for_stands_out_across_runs() {
        let query = Query::new("fix it").unwrap();
        let layout = Layout { query: Some(&query), ..layout(40) };
        let entry = Entry {
            at: Anchor::default(),
            body: Body::Said { text: "I **fix** it".into(), block: markdown::Block::Prose },
        };
        let rows = layout.rows(&entry, Fold::Folded);
        let hits: Vec<&str> = rows[0].iter().filter(|run| run.hit).map(|run| run.text.as_str()).collect();
        assert_eq!(hits, ["fix", " it"]);
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_nothing_is_lost(said in "[a-z 繼續한é\u{301}☀\u{fe0f}👩\u{200d}💻]{0,60}", columns in 2_usize..30, hang in 0_usize..4) {
            let rows = wrapped(&said, columns, hang);
            for row in &rows {
                prop_assert!(row.width() <= columns, "{row:?} has {} of {columns} columns", row.width());
            }
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&rows.concat()), letters(&said));
        }
    }
}
