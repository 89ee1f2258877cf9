//! What people read about files that were untracked before a task in their checkout (C10).

use std::collections::BTreeMap;

use dacapo_core::event::{UntrackedFate, UntrackedFile, UntrackedFound, UntrackedTouched};
use dacapo_core::git::NotKept;
use dacapo_core::view::{TaskView, UntrackedView};

use super::kind_words::Unit;
use super::report::unit;
use super::words::{self, shell_word};
use crate::messages::Messages;

/// How many files are named in a line.
const NAMED: usize = 3;
/// How many lines tell of what iterations did to them.
const LINES: usize = 5;

/// `a, b, c and 4 more`.
pub fn named<'a>(names: impl IntoIterator<Item = &'a str>, total: u64, messages: Messages) -> String {
    let names: Vec<String> = names.into_iter().take(NAMED).map(|name| words::line(name, 80)).collect();
    let more = total.saturating_sub(names.len() as u64);
    let more = if more > 0 { messages.and_more(more) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// `2 untracked files are left out of commits: notes.txt, todo.md`.
pub fn left_out<'a>(names: impl IntoIterator<Item = &'a str>, total: u64, messages: Messages) -> String {
    let mut names = names.into_iter().peekable();
    let text = messages.untracked_left_out(total);
    if names.peek().is_none() {
        return text;
    }
    messages.untracked_named(&text, &named(names, total, messages))
}

/// What was found before the task began.
pub fn found(found: &UntrackedFound, messages: Messages) -> Vec<String> {
    let mut lines = vec![left_out(found.named.iter().map(String::as_str), found.files, messages)];
    if !found.not_kept.is_empty() {
        let total: u64 = found.not_kept.iter().map(|group| group.files).sum();
        let groups = found.not_kept.iter().map(|group| {
            let names = named(group.named.iter().map(String::as_str), group.files, messages);
            messages.untracked_group(&names, &because(group.why, messages))
        });
        let groups: Vec<String> = groups.collect();
        lines.push(messages.untracked_not_kept(total, &groups.join("; ")));
    }
    lines
}

/// Why the content of a file is not kept.
fn because(why: NotKept, messages: Messages) -> String {
    match why {
        NotKept::Secret => messages.untracked_secret(),
        NotKept::TooBig => messages.untracked_too_big(),
        NotKept::Cache => messages.untracked_cache(),
        NotKept::TooMuch => messages.untracked_too_much(),
        NotKept::Repository => messages.untracked_repository(),
        NotKept::Unreadable => messages.untracked_unreadable(),
    }
}

/// What an iteration did to such files.
pub fn touched_now(touched: &UntrackedTouched, unit: Unit, messages: Messages) -> Vec<String> {
    let files = touched.files.iter().map(|file| (touched.iteration, file));
    let mut lines = self::touched(files, unit, messages);
    let more = touched.total.saturating_sub(touched.files.len() as u64);
    if more > 0 {
        lines.push(messages.untracked_same_for(more));
    }
    lines
}

/// What files have in common that are told of in one line: the iteration, what became of them, the ref.
type Same<'a> = (Option<u32>, UntrackedFate, Option<&'a str>);

/// What iterations did to files, a line for each kind of it.
pub fn touched<'a>(
    files: impl IntoIterator<Item = (Option<u32>, &'a UntrackedFile)>,
    unit: Unit,
    messages: Messages,
) -> Vec<String> {
    let mut groups: BTreeMap<Same<'_>, Vec<&str>> = BTreeMap::new();
    for (iteration, file) in files {
        groups.entry((iteration, file.fate, file.kept.as_deref())).or_default().push(&file.path);
    }
    let line = |(same, paths): (&Same<'_>, &Vec<&str>)| {
        let (iteration, fate, kept) = *same;
        let iteration = unit.nth(iteration.map(|nth| nth + 1), messages);
        let number = paths.len() as u64;
        let became = match fate {
            UntrackedFate::Committed => messages.untracked_committed(number, &iteration),
            UntrackedFate::AddedByAgent => messages.untracked_added(number, &iteration),
            UntrackedFate::Changed => messages.untracked_changed(number, &iteration),
            UntrackedFate::Gone => messages.untracked_gone(number, &iteration),
        };
        let names = named(paths.iter().copied(), number, messages);
        let became = format!("{became}{}", old_content(fate, kept, paths, messages));
        messages.untracked_before(number, &names, &became)
    };
    groups.iter().map(line).collect()
}

/// Where the content from before is.
fn old_content(fate: UntrackedFate, kept: Option<&str>, paths: &[&str], messages: Messages) -> String {
    let number = paths.len() as u64;
    let path = match paths {
        // What is escaped is no name that git would find.
        [path] => (!path.contains('\\')).then_some(*path),
        _ => Some("PATH"),
    };
    match (fate, kept, path) {
        // It is in the commit.
        (UntrackedFate::AddedByAgent, _, _) => String::new(),
        (_, None, _) => messages.untracked_old_lost(number),
        (_, Some(kept), None) => messages.untracked_old_in(number, kept),
        (UntrackedFate::Gone, Some(kept), Some(path)) => {
            let command = format!("git restore --source={kept} -- {}", shell_word(path));
            messages.untracked_old_restore(number, &command)
        }
        (UntrackedFate::Committed | UntrackedFate::Changed, Some(kept), Some(path)) => {
            let command = format!("git show {}", shell_word(&format!("{kept}:{path}")));
            messages.untracked_old_show(number, &command)
        }
    }
}

/// All that is to be said of a task.
pub fn summary(view: &TaskView, messages: Messages) -> Vec<String> {
    let UntrackedView { left_out: count, named: names, touched: files, touched_total, .. } = &view.untracked;
    let mut lines = Vec::new();
    if *count > 0 {
        lines.push(left_out(names.iter().map(String::as_str), *count, messages));
    }
    let mut told = touched(files.iter().map(|file| (file.iteration, &file.file)), unit(view), messages);
    let more = told.len().saturating_sub(LINES);
    told.truncate(LINES);
    lines.extend(told);
    let unnamed = touched_total.saturating_sub(files.len() as u64);
    if more > 0 || unnamed > 0 {
        lines.push(messages.untracked_in_all(*touched_total, &view.name));
    }
    lines
}

#[cfg(test)]
mod tests {
    use dacapo_core::event::UntrackedNotKept;

    use super::*;

    const REF: &str = "refs/dacapo/rescue/t/before/untracked";

    fn file(path: &str, fate: UntrackedFate) -> UntrackedFile {
        UntrackedFile { path: path.into(), fate, kept: Some(REF.into()) }
    }

    #[test]
    fn c10_what_is_left_out_is_counted_and_named() {
        let mut all = UntrackedFound {
            files: 5,
            left_out: 5,
            named: ["a", "b", "c", "d", "e"].map(str::to_owned).into(),
            kept: None,
            not_kept: vec![
                UntrackedNotKept { why: NotKept::Secret, files: 1, named: vec![".env".into()] },
                UntrackedNotKept {
                    why: NotKept::TooMuch,
                    files: 5,
                    named: ["d", "e"].map(str::to_owned).into(),
                },
            ],
            lists: Vec::new(),
        };
        assert_eq!(
            found(&all, Messages::ENGLISH),
            [
                "5 untracked files are left out of commits: a, b, c and 2 more",
                "not kept in case an iteration changes them: .env (looks like a secret); d, e and 3 more (beyond 200 MB or 10,000 files)"
            ]
        );
        (all.files, all.named) = (1, vec!["a".into()]);
        all.not_kept.clear();
        assert_eq!(found(&all, Messages::ENGLISH), ["1 untracked file is left out of commits: a"]);
        assert_eq!(left_out([], 7, Messages::ENGLISH), "7 untracked files are left out of commits");
    }

    #[test]
    fn c10_what_became_of_files_says_where_the_old_content_is() {
        let files = [
            file("my notes", UntrackedFate::Committed),
            file("a", UntrackedFate::Gone),
            file("b", UntrackedFate::Gone),
            file("odd\\n", UntrackedFate::Changed),
            file("c", UntrackedFate::AddedByAgent),
            UntrackedFile { kept: None, ..file(".env", UntrackedFate::Changed) },
        ];
        let said = touched(files.iter().map(|file| (Some(1), file)), Unit::Iteration, Messages::ENGLISH);
        assert_eq!(
            said,
            [
                format!("my notes was untracked before the task; iteration 2 changed it, and it is committed; its old content: git show '{REF}:my notes'"),
                "c was untracked before the task; the agent committed it in iteration 2".to_owned(),
                ".env was untracked before the task; iteration 2 changed it, and it is not committed; its old content was not kept".to_owned(),
                format!("odd\\n was untracked before the task; iteration 2 changed it, and it is not committed; its old content is in {REF}"),
                format!("a, b were untracked before the task; they are gone since iteration 2; git restore --source={REF} -- PATH brings one back"),
            ]
        );
    }
}
