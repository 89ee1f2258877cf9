//! What people read about files that were untracked before a task in their checkout (C10).

use std::collections::BTreeMap;

use dacapo_core::event::{UntrackedFate, UntrackedFile, UntrackedFound, UntrackedTouched};
use dacapo_core::git::NotKept;
use dacapo_core::view::{TaskView, UntrackedView};

use super::report::unit;
use super::words::{self, shell_word};

/// So many files are named in a line.
const NAMED: usize = 3;
/// So many lines tell of what iterations did to them.
const LINES: usize = 5;

/// `a, b, c and 4 more`.
pub fn named<'a>(names: impl IntoIterator<Item = &'a str>, total: u64) -> String {
    let names: Vec<String> = names.into_iter().take(NAMED).map(|name| words::line(name, 80)).collect();
    let more = total.saturating_sub(names.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// `2 untracked files are left out of commits: notes.txt, todo.md`.
pub fn left_out<'a>(names: impl IntoIterator<Item = &'a str>, total: u64) -> String {
    let mut names = names.into_iter().peekable();
    let are = if total == 1 { "is" } else { "are" };
    let which = if names.peek().is_some() { format!(": {}", named(names, total)) } else { String::new() };
    format!("{} {are} left out of commits{which}", words::count(total, "untracked file"))
}

/// What was found before the task began.
pub fn found(found: &UntrackedFound) -> Vec<String> {
    let mut lines = vec![left_out(found.named.iter().map(String::as_str), found.files)];
    if !found.not_kept.is_empty() {
        let total: u64 = found.not_kept.iter().map(|group| group.files).sum();
        let it = if total == 1 { "it" } else { "them" };
        let groups = found.not_kept.iter().map(|group| {
            let names = named(group.named.iter().map(String::as_str), group.files);
            format!("{names} ({})", because(group.why))
        });
        let groups: Vec<String> = groups.collect();
        lines.push(format!("not kept in case an iteration changes {it}: {}", groups.join("; ")));
    }
    lines
}

/// Why the content of a file is not kept.
fn because(why: NotKept) -> &'static str {
    match why {
        NotKept::Secret => "looks like a secret",
        NotKept::TooBig => "larger than 50 MB",
        NotKept::Cache => "a build makes it again",
        NotKept::TooMuch => "beyond 200 MB or 10,000 files",
        NotKept::Repository => "a git repository of its own",
        NotKept::Unreadable => "cannot be read",
    }
}

/// What an iteration did to such files.
pub fn touched_now(touched: &UntrackedTouched, unit: &str) -> Vec<String> {
    let mut lines = self::touched(touched.files.iter().map(|file| (touched.iteration, file)), unit);
    let more = touched.total.saturating_sub(touched.files.len() as u64);
    if more > 0 {
        let files = words::count(more, "more file");
        lines.push(format!("the same goes for {files} that were untracked before the task"));
    }
    lines
}

/// What files have in common that are told of in one line: the iteration, what became of them, the ref.
type Same<'a> = (Option<u32>, UntrackedFate, Option<&'a str>);

/// What iterations did to files, a line for each kind of it.
pub fn touched<'a>(
    files: impl IntoIterator<Item = (Option<u32>, &'a UntrackedFile)>,
    unit: &str,
) -> Vec<String> {
    let mut groups: BTreeMap<Same<'_>, Vec<&str>> = BTreeMap::new();
    for (iteration, file) in files {
        groups.entry((iteration, file.fate, file.kept.as_deref())).or_default().push(&file.path);
    }
    let line = |(same, paths): (&Same<'_>, &Vec<&str>)| {
        let (iteration, fate, kept) = *same;
        let iteration = iteration.map_or_else(|| format!("a {unit}"), |nth| format!("{unit} {}", nth + 1));
        let several = paths.len() > 1;
        let (was, it, is) = if several { ("were", "them", "they are") } else { ("was", "it", "it is") };
        let became = match fate {
            UntrackedFate::Committed => format!("{iteration} changed {it}, and {is} committed"),
            UntrackedFate::AddedByAgent => format!("the agent committed {it} in {iteration}"),
            UntrackedFate::Changed => format!("{iteration} changed {it}, and {is} not committed"),
            UntrackedFate::Gone => format!("{is} gone since {iteration}"),
        };
        let names = named(paths.iter().copied(), paths.len() as u64);
        format!("{names} {was} untracked before the task; {became}{}", old_content(fate, kept, paths))
    };
    groups.iter().map(line).collect()
}

/// Where the content from before is.
fn old_content(fate: UntrackedFate, kept: Option<&str>, paths: &[&str]) -> String {
    let (its, path) = match paths {
        // What is escaped is no name that git would find.
        [path] => ("its", (!path.contains('\\')).then_some(*path)),
        _ => ("their", Some("PATH")),
    };
    match (fate, kept, path) {
        // It is in the commit.
        (UntrackedFate::AddedByAgent, _, _) => String::new(),
        (_, None, _) => format!("; {its} old content was not kept"),
        (_, Some(kept), None) => format!("; {its} old content is in {kept}"),
        (UntrackedFate::Gone, Some(kept), Some(path)) => {
            let it = if paths.len() > 1 { "one" } else { "it" };
            format!("; git restore --source={kept} -- {} brings {it} back", shell_word(path))
        }
        (UntrackedFate::Committed | UntrackedFate::Changed, Some(kept), Some(path)) => {
            format!("; {its} old content: git show {}", shell_word(&format!("{kept}:{path}")))
        }
    }
}

/// All that is to be said of a task.
pub fn summary(view: &TaskView) -> Vec<String> {
    let UntrackedView { left_out: count, named: names, touched: files, touched_total, .. } = &view.untracked;
    let mut lines = Vec::new();
    if *count > 0 {
        lines.push(left_out(names.iter().map(String::as_str), *count));
    }
    let mut told = touched(files.iter().map(|file| (file.iteration, &file.file)), unit(view));
    let more = told.len().saturating_sub(LINES);
    told.truncate(LINES);
    lines.extend(told);
    let unnamed = touched_total.saturating_sub(files.len() as u64);
    if more > 0 || unnamed > 0 {
        let all = words::count(*touched_total, "file");
        lines.push(format!("in all {all} that were untracked: dacapo logs {}", view.name));
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
            found(&all),
            [
                "5 untracked files are left out of commits: a, b, c and 2 more",
                "not kept in case an iteration changes them: .env (looks like a secret); d, e and 3 more (beyond 200 MB or 10,000 files)"
            ]
        );
        (all.files, all.named) = (1, vec!["a".into()]);
        all.not_kept.clear();
        assert_eq!(found(&all), ["1 untracked file is left out of commits: a"]);
        assert_eq!(left_out([], 7), "7 untracked files are left out of commits");
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
        let said = touched(files.iter().map(|file| (Some(1), file)), "iteration");
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
