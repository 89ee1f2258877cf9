//! What was untracked before a task stays out of its commits, and its content is kept (C10).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_core::git::{Apart, Compared, KeepLimits, NotKept, Problem, Untracked, display_path};

use crate::fixture::{Fixture, changed};
use crate::landing::counting;

const REF: &str = "refs/dacapo/rescue/task/iter-1/untracked";
const LIMITS: KeepLimits = KeepLimits { files: 100, bytes: 100_000 };

fn take(f: &Fixture, limits: KeepLimits) -> Untracked {
    let untracked = f.repo.dirt().expect("dirt").untracked;
    f.repo.take_untracked(untracked, limits, &f.request()).expect("taken")
}

fn names<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<String> {
    paths.into_iter().map(|path| display_path(path)).collect()
}

fn not_kept(untracked: &Untracked) -> Vec<(String, NotKept)> {
    untracked.not_kept().map(|(path, why)| (display_path(path), why)).collect()
}

/// What the ref holds, with its modes.
fn kept(f: &Fixture, name: &str) -> Vec<String> {
    let listed = f.git(&["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", name]);
    listed.split('\0').filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// In a commit nothing of the user's is, as long as it looks like this.
fn set_apart(f: &mut Fixture, untracked: &mut Untracked) -> Compared {
    let compared = untracked.compare(&f.repo).expect("compared");
    f.apart = Apart { users: compared.same.clone(), changed: compared.changed.clone(), ..Apart::default() };
    compared
}

#[test]
fn c10_content_is_kept_byte_for_byte_and_nothing_is_touched() {
    let f = Fixture::new();
    f.git(&["config", "core.autocrlf", "true"]);
    f.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    fs::write(f.repo.git_dir().join("info/attributes"), "*.up filter=upper\n").expect("attributes");
    let odd: [&[u8]; 6] = [b"with space", b"line\nbreak", b"\"quoted\" \\", b"\xff\xfe", b"#hash", b"end\r"];
    for name in odd {
        f.write(OsStr::from_bytes(name), "odd\n");
    }
    f.write("dos.txt", "one\r\ntwo\r\n");
    f.write("low.up", "low\n");
    f.write("deep/er/run.sh", "#!/bin/sh\n");
    fs::set_permissions(f.path("deep/er/run.sh"), fs::Permissions::from_mode(0o755)).expect("mode");
    symlink("nowhere \n at all", f.path("link")).expect("link");
    let before = (fs::read(f.repo.git_dir().join("index")).expect("index"), f.status());
    let untracked = take(&f, LIMITS);
    assert_eq!((fs::read(f.repo.git_dir().join("index")).expect("index"), f.status()), before);
    assert_eq!((untracked.kept(), not_kept(&untracked)), (Some(REF), vec![]));
    assert_eq!(untracked.len(), 10);
    let bytes = |name: &str| f.try_git(&["cat-file", "blob", &format!("{REF}:{name}")]).stdout;
    assert_eq!(bytes("dos.txt"), b"one\r\ntwo\r\n");
    assert_eq!(bytes("low.up"), b"low\n");
    assert_eq!(bytes("line\nbreak"), b"odd\n");
    assert_eq!(bytes("end\r"), b"odd\n");
    assert_eq!(bytes("link"), b"nowhere \n at all");
    let modes = kept(&f, REF);
    assert_eq!(modes.len(), 10, "{modes:?}");
    assert!(modes.contains(&"100755 deep/er/run.sh".to_owned()), "{modes:?}");
    assert!(modes.contains(&"120000 link".to_owned()), "{modes:?}");
    assert_eq!(f.git(&["rev-list", "--count", REF]), "1", "a commit of its own, on nothing");
    let read = Untracked::parsed(&untracked.written()).expect("what was written");
    assert_eq!(read, untracked);
    assert_eq!(Untracked::parsed(b"dacapo untracked files 2\0-\0"), None);
    assert_eq!(Untracked::parsed(&untracked.written()[..60]), None);
}

#[test]
fn c10_secrets_large_files_caches_and_repositories_are_named_and_not_kept() {
    let f = Fixture::new();
    f.write(".env", "KEY=x\n");
    f.write("big", &"x".repeat(1001));
    f.write("node_modules/a/index.js", "x\n");
    f.write("built/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    f.write("built/x.o", "x\n");
    f.write("notes", "mine\n");
    f.git(&["init", "-q", "vendor"]);
    f.write("vendor/x", "theirs\n");
    let made = Command::new("mkfifo").arg(f.path("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let untracked = take(&f, LIMITS);
    let expected = [
        (".env", NotKept::Secret),
        ("big", NotKept::TooBig),
        ("built/CACHEDIR.TAG", NotKept::Cache),
        ("built/x.o", NotKept::Cache),
        ("node_modules/a/index.js", NotKept::Cache),
        ("vendor/", NotKept::Repository),
    ];
    let found = not_kept(&untracked);
    let found: Vec<(&str, NotKept)> =
        found.iter().map(|(path, why)| (path.as_str(), *why)).filter(|(path, _)| *path != "pipe").collect();
    assert_eq!(found, expected);
    assert_eq!(kept(&f, REF), ["100644 notes"]);
    assert_eq!(untracked.kept_of(Path::new("notes")), Some(REF));
    assert_eq!(untracked.kept_of(Path::new(".env")), None);
    let read = Untracked::parsed(&untracked.written()).expect("what was written");
    assert_eq!(not_kept(&read), not_kept(&untracked));
}

#[test]
fn c10_of_many_files_the_smallest_are_kept() {
    let f = Fixture::new();
    for (name, length) in [("a", 50), ("b", 10), ("c", 20), ("d", 30)] {
        f.write(name, &"x".repeat(length));
    }
    let two = take(&f, KeepLimits { files: 2, bytes: 1000 });
    assert_eq!(kept(&f, REF), ["100644 b", "100644 c"]);
    let left = [("a".to_owned(), NotKept::TooMuch), ("d".to_owned(), NotKept::TooMuch)];
    assert_eq!(not_kept(&two), left);
    let few_bytes = take(&f, KeepLimits { files: 10, bytes: 60 });
    assert_eq!(few_bytes.kept(), Some(&*format!("{REF}-2")), "what is kept is never overwritten");
    assert_eq!(kept(&f, &format!("{REF}-2")), ["100644 b", "100644 c", "100644 d"]);
    assert_eq!(take(&f, KeepLimits { files: 2, bytes: 1000 }).kept(), Some(REF), "the same again");
    let none = take(&f, KeepLimits { files: 0, bytes: 0 });
    assert_eq!((none.kept(), none.len()), (None, 4));
}

#[test]
fn c10_what_became_of_a_file_is_told_by_its_content() {
    let f = Fixture::new();
    for name in ["as it was", "touched", "written anew", "other", "program", "link", "gone", "becomes"] {
        f.write(name, "mine\n");
    }
    symlink("a", f.path("turned")).expect("link");
    let mut untracked = take(&f, LIMITS);
    assert_eq!(untracked.compare(&f.repo).expect("compared").same.len(), 9);
    let touched = Command::new("touch").arg("-d").arg("2001-02-03").arg(f.path("touched")).status();
    assert!(touched.expect("touch").success());
    fs::remove_file(f.path("written anew")).expect("removed");
    f.write("written anew", "mine\n");
    f.write("other", "ours\n");
    fs::set_permissions(f.path("program"), fs::Permissions::from_mode(0o755)).expect("mode");
    for name in ["link", "gone", "becomes", "turned"] {
        fs::remove_file(f.path(name)).expect("removed");
    }
    symlink("other", f.path("link")).expect("link");
    symlink("b", f.path("turned")).expect("link");
    f.write("becomes/below", "x\n");
    // The same from the record of another process.
    let mut again = Untracked::parsed(&untracked.written()).expect("what was written");
    for untracked in [&mut untracked, &mut again] {
        for _ in 0..2 {
            let compared = untracked.compare(&f.repo).expect("compared");
            assert_eq!(names(&compared.same), ["as it was", "touched", "written anew"]);
            assert_eq!(names(&compared.changed), ["becomes", "link", "other", "program", "turned"]);
            assert_eq!(names(&compared.gone), ["gone"]);
        }
    }
    assert_eq!(f.show(REF, "gone"), "mine");
    assert_eq!(f.show(REF, "other"), "mine");
}

#[test]
fn p1_what_nobody_touched_costs_no_git_call_and_a_change_costs_one() {
    let mut f = Fixture::new();
    for number in 0..300 {
        f.write(format!("mine/{number}"), "mine\n");
    }
    let mut untracked = take(&f, KeepLimits { files: 1000, bytes: 100_000 });
    let (repo, calls) = counting(&f);
    f.repo = repo;
    assert_eq!(untracked.compare(&f.repo).expect("compared").same.len(), 300);
    assert_eq!(calls(), [""; 0]);
    f.write("mine/1", "ours\n");
    f.write("mine/2", "mine\n");
    for made in [1, 0] {
        assert_eq!(names(&untracked.compare(&f.repo).expect("compared").changed), ["mine/1"]);
        assert_eq!(calls().len(), made, "what was seen to be another is not read again");
    }
}

#[test]
fn c10_what_was_untracked_is_no_part_of_a_commit_until_it_changes() {
    let mut f = Fixture::new();
    f.write("notes", "mine\n");
    f.write("todo", "mine\n");
    f.write(".env", "KEY=x\n");
    f.git(&["init", "-q", "vendor"]);
    f.write("vendor/x", "theirs\n");
    let mut untracked = take(&f, LIMITS);
    f.write("work", "agent\n");
    set_apart(&mut f, &mut untracked);
    let prepared = f.commit();
    assert_eq!((changed(&prepared), prepared.left_out), (vec!["A work".to_owned()], vec![]));
    f.write("todo", "agent\n");
    // Whoever stages everything does not make it the task's.
    f.git(&[
        "-c",
        "advice.addEmbeddedRepo=false",
        "-C",
        "vendor",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    ]);
    f.git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    let compared = set_apart(&mut f, &mut untracked);
    assert_eq!(names(&compared.changed), ["todo"]);
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A todo"]);
    assert_eq!(f.status(), "?? .env\n?? notes\n?? vendor/");
    assert_eq!((f.read("notes"), f.show(REF, "todo")), ("mine\n".into(), "mine".into()));
    untracked.forget(|path| path == Path::new("todo"));
    // Nothing but that: no commit.
    f.git(&["add", "notes"]);
    set_apart(&mut f, &mut untracked);
    let prepared = f.prepare();
    assert_eq!((changed(&prepared), prepared.commit, prepared.problems), (vec![], None, vec![]));
    assert_eq!(f.status(), "?? .env\n?? notes\n?? vendor/");
}

#[test]
fn c10_a_head_that_is_put_back_takes_nothing_of_the_users_along() {
    let mut f = Fixture::new();
    f.write("notes", "mine\n");
    f.write("deep/data", "mine\n");
    f.write("todo", "mine\n");
    let mut untracked = take(&f, LIMITS);
    f.write("a.txt", "agent\n");
    f.write("todo", "agent\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-q", "--amend", "-m", "all in one"]);
    let amended = f.oid("HEAD");
    set_apart(&mut f, &mut untracked);
    let prepared = f.prepare();
    assert!(matches!(&prepared.problems[..], [Problem::HeadMoved { .. }]), "{:?}", prepared.problems);
    assert_eq!(f.repo.head().expect("head"), f.home);
    assert_eq!(f.status(), "?? deep/data\n?? notes\n?? todo");
    assert_eq!((f.read("notes"), f.read("deep/data")), ("mine\n".into(), "mine\n".into()));
    assert_eq!((f.read("todo"), f.show(REF, "todo")), ("agent\n".into(), "mine".into()));
    assert_eq!(f.oid("refs/dacapo/rescue/task/iter-1/head"), amended);
}

#[test]
fn c10_in_a_repository_without_commits_everything_is_the_users() {
    let mut f = Fixture::unborn(&[]);
    f.write("mine", "mine\n");
    let mut untracked = take(&f, LIMITS);
    f.write("new", "agent\n");
    set_apart(&mut f, &mut untracked);
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A new"]);
    assert_eq!(f.status(), "?? mine");
    assert_eq!(f.show(REF, "mine"), "mine");
}
