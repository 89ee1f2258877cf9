//! Landing a commit: once, and never over somebody else's.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use dacapo_core::git::{GitError, Landed, Landing, Repo};

use crate::fixture::{Fixture, PREFIX, env};

#[test]
fn landing_is_done_once() {
    let f = Fixture::new();
    f.write("x", "x");
    let prepared = f.prepare();
    assert_eq!(f.land(&prepared), Landed::Now);
    assert_eq!(f.land(&prepared), Landed::AlreadyThere);
    // Also when others have built on it since.
    f.git(&["commit", "-q", "--allow-empty", "-m", "user"]);
    assert_eq!(f.land(&prepared), Landed::AlreadyThere);
    assert_eq!(f.git(&["rev-list", "--count", "HEAD"]), "5");
}

#[test]
fn an_overtaken_commit_is_kept() {
    let f = Fixture::new();
    f.write("x", "x");
    let prepared = f.prepare();
    f.git(&["commit", "-q", "--allow-empty", "-m", "user"]);
    let theirs = f.oid("HEAD");
    let Landed::Elsewhere { branch_at, rescued, .. } = f.land(&prepared) else {
        panic!("landed over the user's commit")
    };
    assert_eq!((branch_at, f.oid("HEAD")), (Some(theirs.clone()), theirs));
    assert_eq!(rescued.name, format!("{PREFIX}/commit"));
    assert_eq!(Some(f.oid(&rescued.name)), prepared.commit.map(|commit| commit.oid));
}

#[test]
fn our_branch_is_moved_though_head_is_elsewhere() {
    let f = Fixture::new();
    f.write("x", "x");
    let prepared = f.prepare();
    f.git(&["stash", "-q", "-u"]);
    f.git(&["checkout", "-q", "-b", "mine"]);
    assert_eq!(f.land(&prepared), Landed::Now);
    assert_eq!(
        (f.oid("main~1"), f.git(&["rev-parse", "--abbrev-ref", "HEAD"])),
        (f.oid("mine"), "mine".into())
    );
}

#[test]
fn a_detached_landing_does_not_move_a_branch() {
    let mut f = Fixture::new();
    f.git(&["checkout", "-q", "--detach"]);
    f.home = f.repo.head().expect("head");
    f.write("x", "x");
    let prepared = f.prepare();
    f.git(&["checkout", "-q", "main"]);
    assert!(matches!(f.land(&prepared), Landed::Elsewhere { .. }));
    assert_eq!(Some(f.oid("main")), f.home.commit);
}

#[test]
fn a_ref_locked_in_place_is_an_error_that_names_the_lock() {
    let mut f = Fixture::new();
    f.write("x", "x");
    let prepared = f.prepare();
    let lock = f.path(".git/refs/heads/main.lock");
    fs::write(&lock, "").expect("lock");
    let commit = prepared.commit.as_ref().expect("a commit");
    let landing = Landing {
        branch: prepared.head.branch.as_deref(),
        old: commit.parent.as_ref(),
        new: &commit.oid,
        reason: "dacapo: iter-1",
        rescue_prefix: PREFIX,
        exclusive: false,
    };
    let refused = f.repo.land(&landing);
    assert!(matches!(&refused, Err(GitError::RefLocked { lock: named }) if *named == lock), "{refused:?}");
    // In a worktree of our own it is nobody's.
    f.exclusive = true;
    assert_eq!(f.land(&prepared), Landed::Now);
    assert!(!lock.exists());
}

/// Puts a `git` first on PATH that writes a line for every call, and opens the repository with it.
pub(crate) fn counting(f: &Fixture) -> (Repo, impl Fn() -> Vec<String> + use<>) {
    let bin = f.dir.path().join("bin");
    let log = f.dir.path().join("calls");
    fs::create_dir_all(&bin).expect("bin");
    let path = std::env::var("PATH").expect("PATH");
    let shim = bin.join("git");
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nPATH='{path}' exec git \"$@\"\n", log.display());
    fs::write(&shim, script).expect("shim");
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("mode");
    let env = env(f.dir.path()).with([("PATH", format!("{}:{path}", bin.display()))]);
    let repo = Repo::discover(f.repo.toplevel(), &env).expect("a repository");
    fs::remove_file(&log).expect("log");
    let calls = move || {
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        text.lines().map(str::to_owned).collect()
    };
    (repo, calls)
}

#[test]
fn an_iteration_takes_five_git_calls_and_an_idle_one_takes_one() {
    let mut f = Fixture::new();
    let (repo, calls) = counting(&f);
    f.repo = repo;
    f.prepare();
    assert_eq!(calls().len(), 1);
    f.write("a.txt", "changed\n");
    let prepared = f.prepare();
    f.land(&prepared);
    // Three more in the first iteration: the tree of a commit that somebody else made, and what the user is called.
    let made = calls();
    assert_eq!(made.len(), 8, "{made:#?}");
    f.home.commit = prepared.commit.map(|commit| commit.oid);
    f.write("a.txt", "changed again\n");
    let prepared = f.prepare();
    f.land(&prepared);
    let made = calls();
    assert_eq!(made.len(), 5, "{made:#?}");
}
