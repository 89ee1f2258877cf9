//! Bringing branches home (S11).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use dacapo_core::git::{Advanced, MergeStyle, Merged, Oid, Preview, Unresolved};
use dacapo_core::radar::{Looked, Radar};
use dacapo_core::store::Home;

use crate::fixture::{Fixture, git_in};

/// Below this are the branches of tasks.
const TASKS: &str = "refs/heads/dacapo/";

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
    let merged = scratch.repo.merge_here(&f.oid("clean"), "Merge clean", MergeStyle::Merge).expect("merged");
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
    let Merged::At(tip) =
        scratch.repo.merge_here(&f.oid("ahead"), "All of it", MergeStyle::Squash).expect("merged")
    else {
        panic!("not merged")
    };
    assert_eq!(f.git(&["log", "-1", "--format=%s", tip.as_str()]), "All of it");
    assert_ne!(tip, f.oid("ahead"));
    assert_eq!(f.git(&["rev-parse", &format!("{tip}^")]), f.oid("main").as_str());
    scratch.remove(&f.repo).expect("removed");
}

const MAX: u64 = 1 << 20;

fn git_at(f: &Fixture, top: &Path, words: &[&str]) {
    let output = git_in(f.dir.path(), top, words);
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit_all(f: &Fixture, message: &str) {
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", message]);
}

#[test]
fn s11_conflicts_stay_in_the_scratch_worktree_until_they_are_resolved() {
    let f = branches();
    let scratch = f.repo.export_clean(&f.oid("main"), f.dir.path()).expect("a scratch worktree");
    let open = scratch.repo.begin_merge(&f.oid("clash"), MergeStyle::Merge).expect("begun");
    let files = vec![PathBuf::from("a.txt")];
    assert_eq!(open.conflicts, files);
    let look = || scratch.repo.resolution(&open, MAX).expect("an answer");
    assert_eq!(look(), Err(Unresolved::Markers(files.clone())));
    let write = |name: &str, text: &str| fs::write(scratch.repo.toplevel().join(name), text).expect("write");
    write("a.txt", "Heading\n=======\nresolved\n");
    write("more.txt", "new\n");
    write(".env", "KEY=1\n");
    let resolved = look().expect("a heading is no marker");
    assert_eq!(resolved.touched, vec![PathBuf::from("a.txt"), PathBuf::from("more.txt")]);
    assert_eq!(resolved.left_out.len(), 1, "a secret stays out: {:?}", resolved.left_out);
    let tip = scratch.repo.conclude(&open, &resolved, "Merge clash").expect("concluded");
    assert_eq!(f.git(&["show", &format!("{tip}:a.txt")]), "Heading\n=======\nresolved");
    assert_eq!(
        f.git(&["log", "-1", "--format=%P", tip.as_str()]),
        format!("{} {}", f.oid("main"), f.oid("clash"))
    );
    assert_eq!((f.status().as_str(), f.read("a.txt").as_str()), ("", "one\ntwo\n3\n"));
    scratch.remove(&f.repo).expect("removed");
}

#[test]
fn s11_what_an_agent_does_to_git_itself_is_not_trusted() {
    let f = branches();
    let (main, clash) = (f.oid("main"), f.oid("clash"));
    let try_it = |how: MergeStyle, acts: &[&[&str]]| {
        let scratch = f.repo.export_clean(&main, f.dir.path()).expect("a scratch worktree");
        let top = scratch.repo.toplevel().to_owned();
        let open = scratch.repo.begin_merge(&clash, how).expect("begun");
        for act in acts {
            if act[0] == "write" {
                fs::write(top.join("a.txt"), act[1]).expect("write");
            } else {
                git_at(&f, &top, act);
            }
        }
        let found = scratch.repo.resolution(&open, MAX).expect("an answer");
        let tip = found.map(|found| scratch.repo.conclude(&open, &found, "Merge clash").expect("concluded"));
        scratch.remove(&f.repo).expect("removed");
        tip
    };
    // It committed although it was told not to: the same merge, made again in the user's name.
    let commit: &[&str] = &["commit", "-qam", "by the agent"];
    let tip = try_it(MergeStyle::Merge, &[&["write", "both\n"], commit]).expect("resolved");
    assert_eq!(f.git(&["log", "-1", "--format=%s %P", tip.as_str()]), format!("Merge clash {main} {clash}"));
    let tip = try_it(MergeStyle::Squash, &[&["write", "both\n"], commit]).expect("resolved");
    assert_eq!(f.git(&["log", "-1", "--format=%s %P", tip.as_str()]), format!("Merge clash {main}"));
    // It gave up.
    assert_eq!(try_it(MergeStyle::Merge, &[&["merge", "--abort"]]), Err(Unresolved::GivenUp));
    assert_eq!(try_it(MergeStyle::Merge, &[&["reset", "-q", "--hard"]]), Err(Unresolved::GivenUp));
    assert_eq!(
        try_it(MergeStyle::Merge, &[&["checkout", "-q", "--ours", "a.txt"]]),
        Err(Unresolved::GivenUp)
    );
    assert_eq!(try_it(MergeStyle::Squash, &[&["reset", "-q", "--hard"]]), Err(Unresolved::GivenUp));
    assert_eq!(try_it(MergeStyle::Merge, &[&["checkout", "-q", "-f", "ahead"]]), Err(Unresolved::Elsewhere));
}

#[test]
fn s11_conflicts_without_markers_need_a_decision() {
    let f = Fixture::new();
    f.write("gone.txt", "1\n");
    f.write("pic.bin", "\0one");
    commit_all(&f, "base");
    let base = f.oid("main");
    f.git(&["rm", "-q", "gone.txt"]);
    f.write("pic.bin", "\0two");
    commit_all(&f, "ours");
    f.git(&["checkout", "-q", "-b", "theirs", base.as_str()]);
    f.write("gone.txt", "2\n");
    f.write("pic.bin", "\0three");
    commit_all(&f, "theirs");
    let scratch = f.repo.export_clean(&f.oid("main"), f.dir.path()).expect("a scratch worktree");
    let top = scratch.repo.toplevel().to_owned();
    let open = scratch.repo.begin_merge(&f.oid("theirs"), MergeStyle::Merge).expect("begun");
    let both = vec![PathBuf::from("gone.txt"), PathBuf::from("pic.bin")];
    assert_eq!(open.conflicts, both);
    let look = || scratch.repo.resolution(&open, MAX).expect("an answer");
    assert_eq!(look(), Err(Unresolved::Undecided(both.clone())));
    // Staged as it is: decided.
    git_at(&f, &top, &["add", "gone.txt"]);
    assert_eq!(look(), Err(Unresolved::Undecided(both[1..].to_vec())));
    // Changed: decided.
    fs::write(top.join("pic.bin"), "\0four").expect("write");
    let resolved = look().expect("resolved");
    let tip = scratch.repo.conclude(&open, &resolved, "Merge").expect("concluded");
    assert_eq!(f.git(&["show", &format!("{tip}:gone.txt")]), "2");
    assert_eq!(f.git(&["show", &format!("{tip}:pic.bin")]), "\0four");
    scratch.remove(&f.repo).expect("removed");
}

#[test]
fn s11_settings_for_merges_by_hand_do_not_change_this_one() {
    let f = branches();
    f.git(&["config", "merge.ff", "only"]);
    f.git(&["config", "rerere.enabled", "true"]);
    f.git(&["config", "rerere.autoupdate", "true"]);
    let main = f.oid("main");
    for how in [MergeStyle::Merge, MergeStyle::Squash] {
        let scratch = f.repo.export_clean(&main, f.dir.path()).expect("a scratch worktree");
        let merged = scratch.repo.merge_here(&f.oid("clean"), "Merge clean", how).expect("merged");
        assert!(matches!(merged, Merged::At(_)), "{merged:?}");
        scratch.remove(&f.repo).expect("removed");
    }
    f.git(&["config", "merge.ff", "false"]);
    let scratch = f.repo.export_clean(&main, f.dir.path()).expect("a scratch worktree");
    let merged = scratch.repo.merge_here(&f.oid("ahead"), "Merge ahead", MergeStyle::Merge).expect("merged");
    assert_eq!(merged, Merged::At(f.oid("ahead")));
    scratch.remove(&f.repo).expect("removed");
}

#[test]
fn s11_the_next_merge_is_tried_on_top_of_the_one_before() {
    let f = branches();
    let main = f.oid("main");
    assert_eq!(
        f.repo.trial_merge(&main, &f.oid("ahead"), MergeStyle::Merge).expect("tried"),
        Some(f.oid("ahead"))
    );
    assert_eq!(f.repo.trial_merge(&main, &f.oid("clash"), MergeStyle::Merge).expect("tried"), None);
    let next =
        f.repo.trial_merge(&main, &f.oid("clean"), MergeStyle::Squash).expect("tried").expect("a commit");
    assert_eq!(f.git(&["log", "-1", "--format=%P", next.as_str()]), main.as_str());
    assert_eq!(
        f.repo.preview_merge(&next, &f.oid("clash")).expect("a preview"),
        Preview::Conflicts(vec!["a.txt".into()])
    );
    assert_eq!((f.oid("main"), f.status().as_str()), (main.clone(), ""));
    assert_eq!(f.repo.commits_between(&main, &f.oid("clean")).expect("counted"), 1);
    assert_eq!(f.repo.merge_base(&main, &f.oid("clean")).expect("found"), Some(f.oid("main~1")));
}

#[test]
fn k13_the_radar_looks_once_and_keeps_what_it_saw() {
    let f = branches();
    f.git(&["checkout", "-q", "--orphan", "alone"]);
    f.git(&["commit", "-qm", "alone"]);
    f.git(&["checkout", "-q", "main"]);
    for name in ["clean", "clash", "alone"] {
        f.git(&["branch", "-m", name, &format!("dacapo/{name}")]);
    }
    let data = Home::new(f.dir.path().join("data")).repo(f.repo.common_dir());
    let radar = Radar::of(&data);
    let [main, clean, clash, alone] =
        ["main", "dacapo/clean", "dacapo/clash", "dacapo/alone"].map(|name| f.oid(name));
    // A task at its end looks at its own pairs alone.
    assert_eq!(
        radar.watch(&f.repo, Some(MAIN), &[TASKS], &clash).expect("looked"),
        Looked { new: 2, left: 0 }
    );
    assert_eq!(radar.known().conflict(&main, &clash), Some(true));
    assert_eq!(radar.known().conflict(&clash, &clean), Some(false));
    assert_eq!(radar.known().conflict(&main, &clean), None, "nobody has looked");
    // The rest, but for histories that have nothing in common; and nothing twice.
    assert_eq!(radar.survey(&f.repo, MAIN, &[TASKS]).expect("looked"), Looked { new: 1, left: 0 });
    let known = radar.known();
    assert_eq!((known.conflict(&clean, &main), known.conflict(&alone, &main)), (Some(false), None));
    assert_eq!((known.rivals(&main), known.rivals(&clean)), (&[clash.clone()][..], &[][..]));
    assert_eq!((known.files(&clash, &main), known.files(&clean, &main)), (vec!["a.txt".into()], vec![]));
    assert_eq!(radar.survey(&f.repo, MAIN, &[TASKS]).expect("looked"), Looked { new: 0, left: 0 });
}

#[test]
fn s11_submodules_in_conflict_need_a_decision_too() {
    let f = Fixture::new();
    let link = |rev: &str, message: &str| {
        f.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},sub", f.oid(rev))]);
        f.git(&["commit", "-qm", message]);
    };
    link("main~2", "base");
    let base = f.oid("main");
    link("main~1", "ours");
    f.git(&["checkout", "-q", "-b", "theirs", base.as_str()]);
    link("main", "theirs");
    let wanted = f.oid("theirs:sub");
    let scratch = f.repo.export_clean(&f.oid("main"), f.dir.path()).expect("a scratch worktree");
    let open = scratch.repo.begin_merge(&f.oid("theirs"), MergeStyle::Merge).expect("begun");
    assert_eq!(open.conflicts, vec![PathBuf::from("sub")]);
    let look = || scratch.repo.resolution(&open, MAX).expect("an answer");
    assert_eq!(look(), Err(Unresolved::Undecided(vec![PathBuf::from("sub")])));
    let decided = format!("160000,{wanted},sub");
    git_at(&f, scratch.repo.toplevel(), &["update-index", "--cacheinfo", &decided]);
    let resolved = look().expect("resolved");
    let tip = scratch.repo.conclude(&open, &resolved, "Merge").expect("concluded");
    assert_eq!(f.oid(&format!("{tip}:sub")), wanted);
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
    let refused =
        scratch.repo.merge_here(&f.oid("clean"), "Merge clean", MergeStyle::Merge).expect_err("refused");
    assert!(refused.to_string().contains("no such merges"), "{refused}");
    scratch.remove(&f.repo).expect("removed");
}

/// A commit that adds, changes and removes a file each; the branch stays where it is.
fn three_changes(f: &Fixture) -> (Oid, Oid) {
    let old = f.oid("HEAD");
    f.write("a.txt", "changed\n");
    f.write("A", "added\n");
    fs::remove_file(f.path("dir/b.txt")).expect("remove");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "side"]);
    let new = f.oid("HEAD");
    f.git(&["reset", "-q", "--hard", old.as_str()]);
    (old, new)
}

#[test]
fn r1_files_and_index_that_a_killed_git_has_moved_are_put_back() {
    let f = Fixture::new();
    let (old, new) = three_changes(&f);
    f.write("mine", "untracked\n");
    f.git(&["read-tree", "-m", "-u", old.as_str(), new.as_str()]);
    assert_eq!(f.repo.take_back_half_move(&old, &new).expect("taken back"), 3);
    assert_eq!(f.status(), "?? mine");
    assert_eq!(f.repo.take_back_half_move(&old, &new).expect("nothing"), 0);
}

#[test]
fn r1_files_that_a_killed_git_has_moved_without_the_index_are_put_back() {
    let f = Fixture::new();
    let (old, new) = three_changes(&f);
    f.write("A", "added\n");
    fs::remove_file(f.path("dir/b.txt")).expect("remove");
    assert_eq!(f.repo.take_back_half_move(&old, &new).expect("taken back"), 2);
    assert_eq!(f.status(), "");
}

#[test]
fn r1_files_that_a_killed_git_had_begun_to_write_are_put_back() {
    for begun in ["", "add"] {
        let f = Fixture::new();
        let (old, new) = three_changes(&f);
        f.write("A", begun);
        f.write("a.txt", "chan");
        assert_eq!(f.repo.take_back_half_move(&old, &new).expect("taken back"), 2);
        assert_eq!(f.status(), "");
    }
}

#[test]
fn r1_what_the_user_has_changed_is_not_taken_back() {
    for mine in ["a.txt", "A", "dir/b.txt"] {
        let f = Fixture::new();
        let (old, new) = three_changes(&f);
        f.git(&["read-tree", "-m", "-u", old.as_str(), new.as_str()]);
        f.write(mine, "mine\n");
        let before = f.status();
        assert_eq!(f.repo.take_back_half_move(&old, &new).expect("left alone"), 0, "{mine}");
        assert_eq!((f.status(), f.read(mine)), (before, "mine\n".to_owned()));
    }
}
