//! Bringing branches home (S11).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use dacapo_core::git::{Advanced, Merged, Preview};

use crate::fixture::Fixture;

const MAIN: &str = "refs/heads/main";

/// Branches off the last but one commit: `clean`, `clash` (both change a.txt on main's line), and `ahead` of main.
fn branches() -> Fixture {
    let f = Fixture::new();
    let branch = |name: &str, from: &str, file: &str, text: &str| {
        f.git(&["checkout", "-q", "-b", name, from]);
        f.write(file, text);
        f.git(&["add", "-A"]);
        f.git(&["commit", "-qm", name]);
    };
    branch("clean", "main~1", "c.txt", "c\n");
    branch("clash", "main~1", "a.txt", "one\ntwo\nother\n");
    branch("ahead", "main", "d.txt", "d\n");
    f.git(&["checkout", "-q", "main"]);
    f
}

#[test]
fn s11_a_preview_tells_what_a_merge_would_come_to() {
    let f = branches();
    let main = f.oid("main");
    let preview = |name: &str| f.repo.preview_merge(&main, &f.oid(name)).expect("a preview");
    assert_eq!(preview("main~1"), Preview::UpToDate);
    assert_eq!(preview("ahead"), Preview::FastForward);
    assert_eq!(preview("clean"), Preview::Clean);
    assert_eq!(preview("clash"), Preview::Conflicts(vec![PathBuf::from("a.txt")]));
    assert_eq!((f.status().as_str(), f.oid("main")), ("", main), "nothing was touched");
}

#[test]
fn s11_a_merge_is_made_elsewhere_and_the_branch_moves_last() {
    let f = branches();
    let main = f.oid("main");
    let scratch = f.repo.export_clean(&main, f.dir.path()).expect("a scratch worktree");
    let merged = scratch.repo.merge_here(&f.oid("clean"), "Merge clean", false).expect("merged");
    let Merged::At(tip) = merged else { panic!("{merged:?}") };
    assert_eq!(f.oid("main"), main, "the branch has not moved yet");
    assert_eq!(f.repo.advance(MAIN, &tip, &main).expect("moved"), Advanced::Done);
    assert_eq!((f.status().as_str(), f.read("c.txt").as_str()), ("", "c\n"), "the files moved with it");
    assert_eq!(f.git(&["log", "-1", "--format=%s %P"]).split(' ').count(), 4, "a commit with two parents");

    // Once more from where it was: refused, as somebody has moved it.
    assert_eq!(f.repo.advance(MAIN, &f.oid("ahead"), &main).expect("an answer"), Advanced::Moved);
    scratch.remove(&f.repo).expect("removed");
}

#[test]
fn s11_a_squash_is_one_commit() {
    let f = branches();
    let scratch = f.repo.export_clean(&f.oid("main"), f.dir.path()).expect("a scratch worktree");
    let Merged::At(tip) = scratch.repo.merge_here(&f.oid("ahead"), "All of it", true).expect("merged") else {
        panic!("not merged")
    };
    assert_eq!(f.git(&["log", "-1", "--format=%s", tip.as_str()]), "All of it");
    assert_ne!(tip, f.oid("ahead"));
    assert_eq!(f.git(&["rev-parse", &format!("{tip}^")]), f.oid("main").as_str());
    scratch.remove(&f.repo).expect("removed");
}

#[test]
fn s11_conflicts_stay_in_the_scratch_worktree_until_they_are_resolved() {
    let f = branches();
    let scratch = f.repo.export_clean(&f.oid("main"), f.dir.path()).expect("a scratch worktree");
    let merged = scratch.repo.merge_here(&f.oid("clash"), "Merge clash", false).expect("an answer");
    let files = vec![PathBuf::from("a.txt")];
    assert_eq!(merged, Merged::Conflicts(files.clone()));
    assert_eq!(scratch.repo.with_markers(&files), files);
    fs::write(scratch.repo.toplevel().join("a.txt"), "Heading\n=======\nresolved\n").expect("write");
    assert_eq!(scratch.repo.with_markers(&files), Vec::<PathBuf>::new(), "a heading is no marker");
    let tip = scratch.repo.conclude_merge("Merge clash").expect("concluded");
    assert_eq!(f.git(&["show", &format!("{tip}:a.txt")]), "Heading\n=======\nresolved");
    assert_eq!((f.status().as_str(), f.read("a.txt").as_str()), ("", "one\ntwo\n3\n"));
    scratch.remove(&f.repo).expect("removed");
}

#[test]
fn s11_files_of_the_user_are_not_overwritten() {
    let f = branches();
    let main = f.oid("main");
    f.write("d.txt", "the user's own");
    let advanced = f.repo.advance(MAIN, &f.oid("ahead"), &main).expect("an answer");
    assert!(matches!(&advanced, Advanced::InTheWay(said) if said.contains("d.txt")), "{advanced:?}");
    assert_eq!((f.oid("main"), f.read("d.txt").as_str()), (main.clone(), "the user's own"));
    // A branch that is not checked out has no files to move.
    f.git(&["checkout", "-q", "--detach"]);
    assert_eq!(f.repo.advance(MAIN, &f.oid("ahead"), &main).expect("moved"), Advanced::Done);
}

#[test]
fn c9_hooks_run_at_a_merge_and_can_refuse_it() {
    let f = branches();
    let hook = f.path(".git/hooks/commit-msg");
    fs::create_dir_all(hook.parent().expect("a parent")).expect("a directory");
    fs::write(&hook, "#!/bin/sh\necho no such merges >&2\nexit 1\n").expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("a mode");
    let scratch = f.repo.export_clean(&f.oid("main"), f.dir.path()).expect("a scratch worktree");
    let refused = scratch.repo.merge_here(&f.oid("clean"), "Merge clean", false).expect_err("refused");
    assert!(refused.to_string().contains("no such merges"), "{refused}");
    scratch.remove(&f.repo).expect("removed");
}
