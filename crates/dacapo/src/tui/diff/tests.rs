//! Patches that git wrote, as the page shows them.

use dacapo_app::operations::diff::DiffPart;
use std::fmt::Write as _;
use std::process::Command;

use super::*;
use crate::tui::sample::{Sample, Stage};
use crate::tui::testing::{mouse, pictures};

fn git(dir: &std::path::Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", dir);
    git.args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main"]);
    assert!(git.arg("-C").arg(dir).args(args).output().unwrap().status.success(), "{args:?}");
}

/// A patch of three files: some lines, many lines, none.
fn patch() -> Patch {
    let repo = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(repo.path().join(name), text).unwrap();
    git(repo.path(), &["init", "-q"]);
    write("parse.rs", b"fn split() {}\n\tlet x = 1;\n");
    git(repo.path(), &["add", "-A"]);
    git(repo.path(), &["commit", "-qm", "a"]);
    write("parse.rs", "fn split() { 修复 }\n    let x = 1;\n// \u{1b}[31mred\u{202e}\n".as_bytes());
    let long = (0..5000).fold(String::new(), |mut all, nth| {
        writeln!(all, "line {nth}").unwrap();
        all
    });
    write("a-file-with-a-name-that-is-far-too-long-for-the-list-of-files.txt", long.as_bytes());
    write("picture.png", b"\0\x01\x02");
    git(repo.path(), &["add", "-A"]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(NAME);
    git(repo.path(), &["diff", "--cached", "--no-renames", &format!("--output={}", path.display())]);
    let counted = |added, removed| Lines::Counted { added, removed };
    let names = [
        ("a-file-with-a-name-that-is-far-too-long-for-the-list-of-files.txt", counted(5000, 0)),
        ("parse.rs", counted(3, 2)),
        ("picture.png", Lines::Binary),
    ];
    let offsets = file_offsets(&path).unwrap();
    assert_eq!(offsets.len(), 3);
    let file =
        |((name, lines), offset): ((&str, Lines), u64)| FileInPatch { name: name.into(), lines, offset };
    Patch { directory, files: names.into_iter().zip(offsets).map(file).collect(), iterations: 3 }
}

fn shown(messages: Messages) -> (Stage, DiffPage) {
    let mut sample = Sample::new("text");
    sample.workspace().turn(0, b"x\n");
    let stage = Stage::new(&sample.view(), messages);
    let mut page = DiffPage::new(stage.brief(), DiffPart::All, messages);
    page.take(Came { part: DiffPart::All, whitespace: Whitespace::Counts, patch: Ok(patch()) });
    read(&mut page);
    (stage, page)
}

fn read(page: &mut DiffPage) {
    let Some(Ok(patch)) = &page.read else { return };
    let path = patch.directory.path().join(NAME);
    page.output.as_mut().unwrap().read_patch_now(&path);
}

#[test]
fn u1_a_diff_begins_at_its_first_file() {
    pictures("diff", |look| {
        let (stage, page) = shown(look.messages());
        stage.draw(&page, look.columns, look.rows)
    });
    pictures("diff_second_file", |look| {
        let (stage, mut page) = shown(look.messages());
        stage.draw(&page, look.columns, look.rows);
        page.key(Key::Char(']'), &stage.context(look.columns, look.rows));
        read(&mut page);
        stage.draw(&page, look.columns, look.rows)
    });
}

#[test]
fn u1_one_goes_from_file_to_file() {
    let (stage, mut page) = shown(Messages::ENGLISH);
    stage.draw(&page, 160, 50);
    for (nth, name) in [(1, "parse.rs"), (2, "picture.png"), (2, "picture.png")] {
        page.key(Key::Char(']'), &stage.context(160, 50));
        read(&mut page);
        let drawn = stage.draw(&page, 160, 50);
        assert_eq!(page.at(), Some(nth), "{drawn}");
        assert!(drawn.contains(&format!("diff --git a/{name}")), "{drawn}");
        assert!(!drawn.contains('\u{1b}') && !drawn.contains('\u{202e}'));
    }
    page.key(Key::Home, &stage.context(160, 50));
    read(&mut page);
    let drawn = stage.draw(&page, 160, 50);
    assert_eq!(page.at(), Some(0), "{drawn}");
}

#[test]
fn parts_of_a_patch_are_found_however_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p");
    let part = |nth: usize| format!("diff --git a/{nth} b/{nth}\n{}\n", "+x\n".repeat(nth * 100_000));
    let parts: Vec<String> = (0..6).map(part).collect();
    std::fs::write(&path, parts.concat()).unwrap();
    let mut at = 0;
    let expected: Vec<u64> = parts
        .iter()
        .map(|part| {
            let from = at;
            at += part.len() as u64;
            from
        })
        .collect();
    assert_eq!(file_offsets(&path).unwrap(), expected);
}

#[test]
fn a_file_is_clicked_and_text_is_dragged() {
    let (stage, mut page) = shown(Messages::ENGLISH);
    stage.draw(&page, 160, 50);
    let context = stage.context(160, 50);
    page.mouse(mouse(Did::Press, (2, 3)), &context);
    read(&mut page);
    let drawn = stage.draw(&page, 160, 50);
    assert_eq!(page.at(), Some(1), "{drawn}");
    let row = drawn.lines().position(|line| line.contains("diff --git a/parse.rs")).unwrap();
    let row = u16::try_from(row).unwrap();
    // `FILES` columns and the line between.
    page.mouse(mouse(Did::Press, (37, row)), &context);
    page.mouse(mouse(Did::Drag, (37 + 3, row)), &context);
    assert_eq!(stage.reversed(&page, 160, 50)[1..], ["diff"]);
    page.mouse(mouse(Did::Drag, (37 + 4, row + 1)), &context);
    let reply = page.mouse(mouse(Did::Release, (37 + 4, row + 1)), &context);
    assert!(
        matches!(&reply.effects[0], Effect::Copy(text) if text == "diff --git a/parse.rs b/parse.rs\nindex")
    );
    // The wheel over the files goes from file to file, and over the patch it scrolls.
    page.mouse(mouse(Did::WheelUp, (2, 3)), &context);
    read(&mut page);
    stage.draw(&page, 160, 50);
    assert_eq!(page.at(), Some(0));
    page.mouse(mouse(Did::WheelDown, (60, 9)), &context);
    let drawn = stage.draw(&page, 160, 50);
    assert!(!drawn.contains("diff --git") && drawn.contains("index 0000000"), "{drawn}");
}
