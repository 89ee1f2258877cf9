//! What is set aside comes back bit for bit (S9).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use dacapo_core::git::{Repo, WorktreeError};

use crate::fixture::{Fixture, env, git_in};

const BRANCH: &str = "refs/heads/dacapo/x";
const KEPT: &str = "refs/dacapo/rescue/x/1";

/// Everything below a directory: kind, mode, time, content.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            // What keeping adds there is named by its content.
            if path.ends_with(".git/objects") {
                continue;
            }
            let meta = path.symlink_metadata().expect("metadata");
            let content = if meta.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).expect("a file")
            };
            let name = path.strip_prefix(root).expect("below").to_owned();
            let time = if name == Path::new(".git") { 0 } else { meta.mtime_nsec() };
            all.insert(name, (meta.mode(), time, content));
        }
    }
    all
}

/// A worktree with all that a commit would lose.
fn worktree(f: &Fixture) -> Repo {
    let at = f.dir.path().join("worktrees/x");
    fs::create_dir_all(at.parent().expect("a parent")).expect("directories");
    let repo =
        f.repo.add_worktree(&at, "dacapo/x", f.home.commit.as_ref().expect("a tip")).expect("a worktree");
    let write = |name: &str, content: &str| fs::write(at.join(name), content).expect("write");
    write("committed", "1");
    for args in [&["add", "committed"][..], &["commit", "-qm", "work"]] {
        assert!(git_in(f.dir.path(), &at, args).status.success());
    }
    write(".gitignore", "ignored\n");
    write("ignored", "i");
    write("untracked \n\"name\"", "u");
    write("a.txt", "changed");
    write("staged", "s");
    fs::create_dir(at.join("empty")).expect("a directory");
    symlink("nowhere", at.join("link")).expect("a link");
    fs::set_permissions(at.join("staged"), fs::Permissions::from_mode(0o640)).expect("a mode");
    assert!(git_in(f.dir.path(), &at, &["add", "staged"]).status.success());
    write("staged", "and changed again");
    repo
}

#[test]
fn s9_a_worktree_comes_back_bit_for_bit() {
    let f = Fixture::new();
    let repo = worktree(&f);
    let at = repo.toplevel().to_owned();
    let status = || {
        String::from_utf8(
            git_in(
                f.dir.path(),
                &at,
                &["--no-optional-locks", "status", "--porcelain", "-uall", "--ignored"],
            )
            .stdout,
        )
    };
    let (before, said) = (snapshot(&at), status().expect("text"));
    let away = f.dir.path().join("dropped/x");

    let kept = f.repo.keep_under(KEPT, BRANCH, &at).expect("kept");
    assert_eq!(kept.refs, [format!("{KEPT}/tip"), format!("{KEPT}/index")]);
    f.repo.set_aside(&at, BRANCH, &away, &kept).expect("set aside");
    assert!(!at.exists());
    assert_eq!(f.repo.read_ref(BRANCH).expect("a ref"), None);
    // What only the set-aside index names must survive.
    f.git(&["gc", "-q", "--prune=now"]);

    f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref()).expect("back");
    assert_eq!(snapshot(&at), before);
    assert_eq!(status().expect("text"), said);
    assert_eq!(f.repo.read_ref(BRANCH).expect("a ref"), kept.tip);
    assert!(!away.exists());
}

#[test]
fn s9_what_has_come_meanwhile_is_not_overwritten() {
    let f = Fixture::new();
    let repo = worktree(&f);
    let at = repo.toplevel().to_owned();
    let away = f.dir.path().join("dropped/x");
    let kept = f.repo.keep_under(KEPT, BRANCH, &at).expect("kept");
    f.repo.set_aside(&at, BRANCH, &away, &kept).expect("set aside");
    let before = snapshot(&away);

    // The same name is used again.
    f.repo.add_worktree(&at, "dacapo/x", f.home.commit.as_ref().expect("a tip")).expect("a worktree");
    let refused = f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref());
    assert!(matches!(refused, Err(WorktreeError::BranchExists(_))), "{refused:?}");
    assert_eq!(snapshot(&away), before, "nothing has moved");

    // Gone again, with its branch.
    f.repo.remove_worktree(&at).expect("removed");
    f.git(&["branch", "-D", "dacapo/x"]);
    f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref()).expect("back");
    let again = Repo::discover(&at, &env(f.dir.path())).expect("a repository");
    assert_eq!(again.head().expect("head").branch.as_deref(), Some(BRANCH));
    assert_eq!(fs::read_to_string(at.join("staged")).expect("a file"), "and changed again");
}

#[test]
fn s9_a_crash_in_the_middle_loses_nothing() {
    let f = Fixture::new();
    let repo = worktree(&f);
    let at = repo.toplevel().to_owned();
    let before = snapshot(&at);
    let away = f.dir.path().join("dropped/x");
    let kept = f.repo.keep_under(KEPT, BRANCH, &at).expect("kept");
    // Only the directory had been moved when the machine went down.
    fs::create_dir_all(&away).expect("a directory");
    fs::rename(&at, away.join("tree")).expect("renamed");
    f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref()).expect("back");
    assert_eq!(snapshot(&at), before);
    assert!(git_in(f.dir.path(), &at, &["--no-optional-locks", "status"]).status.success());
    // And done again from there, it is whole.
    f.repo.set_aside(&at, BRANCH, &away, &kept).expect("set aside");
    f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref()).expect("back");
    assert_eq!(snapshot(&at), before);
}

#[test]
fn s9_what_only_a_conflicted_index_names_survives() {
    let f = Fixture::new();
    let at = f.dir.path().join("worktrees/x");
    fs::create_dir_all(at.parent().expect("a parent")).expect("directories");
    f.repo.add_worktree(&at, "dacapo/x", f.home.commit.as_ref().expect("a tip")).expect("a worktree");
    let git = |args: &[&str]| git_in(f.dir.path(), &at, args);
    fs::write(at.join("a.txt"), "mine\n").expect("write");
    assert!(git(&["commit", "-qam", "mine"]).status.success());
    assert!(git(&["switch", "-qc", "other", "HEAD~1"]).status.success());
    fs::write(at.join("a.txt"), "theirs\n").expect("write");
    assert!(git(&["commit", "-qam", "theirs"]).status.success());
    assert!(git(&["switch", "-q", "dacapo/x"]).status.success());
    assert!(!git(&["merge", "-q", "other"]).status.success(), "a conflict");
    assert!(git(&["branch", "-qD", "other"]).status.success());
    fs::write(at.join("staged"), "staged\n").expect("write");
    fs::write(at.join("intended"), "intended\n").expect("write");
    assert!(git(&["add", "staged"]).status.success());
    assert!(git(&["add", "-N", "intended"]).status.success());
    fs::write(at.join("staged"), "changed since\n").expect("write");
    let index = || git(&["ls-files", "-s", "-z"]).stdout;
    let (before, listed) = (snapshot(&at), index());

    let away = f.dir.path().join("dropped/x");
    let kept = f.repo.keep_under(KEPT, BRANCH, &at).expect("kept");
    assert_eq!(kept.refs, [format!("{KEPT}/tip"), format!("{KEPT}/index"), format!("{KEPT}/merge-head")]);
    f.repo.set_aside(&at, BRANCH, &away, &kept).expect("set aside");
    f.git(&["reflog", "expire", "--expire=now", "--all"]);
    f.git(&["gc", "-q", "--prune=now"]);
    f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref()).expect("back");
    assert_eq!(snapshot(&at), before);
    assert_eq!(index(), listed);
    for (name, content) in [(":2:a.txt", "mine\n"), (":3:a.txt", "theirs\n"), (":staged", "staged\n")] {
        assert_eq!(git(&["cat-file", "-p", name]).stdout, content.as_bytes(), "{name}");
    }
}

#[test]
fn s9_a_branch_or_worktree_that_somebody_else_holds_is_not_taken() {
    let f = Fixture::new();
    let repo = worktree(&f);
    let at = repo.toplevel().to_owned();
    let away = f.dir.path().join("dropped/x");
    let kept = f.repo.keep_under(KEPT, BRANCH, &at).expect("kept");
    f.git(&["checkout", "-q", "dacapo/x"]);
    let refused = f.repo.set_aside(&at, BRANCH, &away, &kept);
    assert!(matches!(refused, Err(WorktreeError::CheckedOut { .. })), "{refused:?}");
    f.git(&["checkout", "-q", "main"]);
    // A commit that came after the refs were written is not dropped unseen.
    assert!(git_in(f.dir.path(), &at, &["commit", "-q", "--allow-empty", "-m", "late"]).status.success());
    let refused = f.repo.set_aside(&at, BRANCH, &away, &kept);
    assert!(matches!(refused, Err(WorktreeError::BranchMoved(_))), "{refused:?}");
    // Through a link to the data directory it is the same worktree.
    let linked = f.dir.path().join("linked");
    symlink(f.dir.path().join("worktrees"), &linked).expect("a link");
    let kept = f.repo.keep_under("refs/dacapo/rescue/x/2", BRANCH, &linked.join("x")).expect("kept");
    let before = snapshot(&at);
    f.repo.set_aside(&linked.join("x"), BRANCH, &away, &kept).expect("set aside");
    f.repo.bring_back(&away, &at, BRANCH, kept.tip.as_ref()).expect("back");
    assert_eq!(snapshot(&at), before);
}
