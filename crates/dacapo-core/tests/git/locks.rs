//! Locks that others left, and an index that is missing or broken.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use dacapo_core::git::{Notice, Repo};

use crate::fixture::{Fixture, changed, env};

#[test]
fn in_our_own_worktree_a_stale_lock_goes() {
    let mut f = Fixture::new();
    f.exclusive = true;
    let locks = [".git/index.lock", ".git/HEAD.lock", ".git/refs/heads/main.lock"].map(|name| f.path(name));
    for lock in &locks {
        fs::write(lock, "").expect("lock");
    }
    f.write("x", "x");
    let prepared = f.commit();
    assert_eq!(prepared.notices, locks.map(Notice::StaleLockRemoved));
    assert_eq!((changed(&prepared), f.status().as_str()), (vec!["A x".to_owned()], ""));
}

#[test]
fn in_place_a_lock_is_respected_and_the_index_catches_up() {
    let mut f = Fixture::new();
    let lock = f.path(".git/index.lock");
    fs::write(&lock, "").expect("lock");
    f.write("a.txt", "first\n");
    f.write("x", "x");
    let first = f.commit();
    assert_eq!(first.notices, [Notice::IndexLocked(lock.clone())]);
    assert!(lock.exists());
    // Still locked: the second iteration builds on the first all the same.
    fs::remove_file(f.path("x")).expect("remove");
    f.write("y", "y");
    let second = f.commit();
    assert_eq!(changed(&second), ["D x", "A y"]);
    let idle = f.prepare();
    assert_eq!((idle.commit, idle.notices), (None, vec![Notice::IndexLocked(lock.clone())]));
    // The lock has gone: the next commit brings the index up to date.
    fs::remove_file(&lock).expect("unlock");
    f.write("z", "z");
    let third = f.commit();
    assert_eq!((changed(&third), third.notices), (vec!["A z".to_owned()], vec![]));
    assert_eq!(f.status(), "");
    assert!(!f.path(".git/dacapo.index").exists());
}

#[test]
fn r1_in_place_the_lock_of_a_git_of_ours_that_was_killed_goes() {
    let mut f = Fixture::new();
    let (bin, struck) = (f.dir.path().join("bin"), f.dir.path().join("struck"));
    fs::create_dir(&bin).expect("bin");
    // Dies once, with the index locked.
    let git = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ncase \"$*\" in *update-index*) if ! test -e {struck}; then : > {struck}; \
         : > .git/index.lock; kill -9 $$; fi;; esac\nexec git \"$@\"\n",
        struck = struck.display()
    );
    fs::write(bin.join("git"), git).expect("git");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("mode");
    let path = std::env::var("PATH").expect("PATH");
    let env = env(f.dir.path()).with([("PATH", format!("{}:{path}", bin.display()))]);
    f.repo = Repo::discover(f.repo.toplevel(), &env).expect("a repository");
    f.write("x", "x");
    let lock = f.path(".git/index.lock");
    let prepared = f.commit();
    assert!(struck.exists(), "no git was killed");
    assert_eq!(prepared.notices, [Notice::StaleLockRemoved(lock)]);
    assert_eq!((changed(&prepared), f.status().as_str()), (vec!["A x".to_owned()], ""));
}

#[test]
fn in_place_a_short_lock_is_waited_for() {
    let mut f = Fixture::new();
    let lock = f.path(".git/index.lock");
    fs::write(&lock, "").expect("lock");
    f.write("x", "x");
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        fs::remove_file(lock).expect("unlock");
    });
    let prepared = f.commit();
    release.join().expect("released");
    assert_eq!((prepared.notices, f.status()), (vec![], String::new()));
}

#[test]
fn a_lock_that_goes_before_landing_leaves_nothing_stale() {
    let f = Fixture::new();
    let lock = f.path(".git/index.lock");
    fs::write(&lock, "").expect("lock");
    f.write("a.txt", "first\n");
    let prepared = f.prepare();
    fs::remove_file(&lock).expect("unlock");
    f.land(&prepared);
    assert_eq!(f.status(), "");
}

#[test]
fn a_missing_or_broken_index_is_made_again() {
    let mut f = Fixture::new();
    f.write(".gitignore", "*.log\n");
    f.write("kept.log", "tracked though ignored\n");
    f.git(&["add", "-f", "."]);
    f.git(&["commit", "-qm", "ignored"]);
    f.home = f.repo.head().expect("head");
    let index = f.path(".git/index");

    fs::remove_file(&index).expect("remove");
    f.write("x", "x");
    let prepared = f.commit();
    assert_eq!(
        (changed(&prepared), prepared.notices),
        (vec!["A x".to_owned()], vec![Notice::IndexRebuilt(None)])
    );

    for garbage in [&b"garbage that is long enough to be looked at as an index file"[..], b"", &[0; 200]] {
        fs::write(&index, garbage).expect("write");
        f.write("x", &format!("{}", garbage.len()));
        let prepared = f.commit();
        assert_eq!(changed(&prepared), ["M x"]);
        let kept = f.path(".git/index.broken");
        assert_eq!(prepared.notices, [Notice::IndexRebuilt(Some(kept))]);
    }
    assert_eq!(f.status(), "");
}

#[test]
fn r1_an_index_that_was_adopted_before_a_crash_leaves_no_lock() {
    let mut f = Fixture::new();
    // As after SIGKILL between the rename that puts the copy in the index's place and the removal of the copy's own name:
    // both names lead to the same file.
    fs::hard_link(f.path(".git/index"), f.path(".git/dacapo.index")).expect("link");
    f.write("x", "x");
    let prepared = f.commit();
    assert_eq!((changed(&prepared), prepared.notices), (vec!["A x".to_owned()], vec![]));
    assert!(!f.path(".git/index.lock").exists());
    assert!(!f.path(".git/dacapo.index").exists());
    assert_eq!(f.status(), "");
}

#[test]
fn r1_a_git_that_we_end_ourselves_leaves_the_users_lock_alone() {
    let mut f = Fixture::new();
    f.write("big", &"x".repeat(200_000));
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "big"]);
    f.home = f.repo.head().expect("head");
    let tip = f.home.commit.clone().expect("a commit");
    // It has more to say than is wanted, and is ended while it says it. `cat-file` takes no locks.
    assert_eq!(f.repo.file_at(&tip, "big".as_ref(), 10).expect("read"), None);
    assert_eq!(f.repo.git_killed().get(), None);
    let lock = f.path(".git/index.lock");
    fs::write(&lock, "").expect("lock");
    f.write("x", "x");
    assert_eq!(f.commit().notices, [Notice::IndexLocked(lock)]);
}

#[test]
fn r1_a_git_that_complains_at_length_does_not_hang() {
    let mut f = Fixture::new();
    let bin = f.dir.path().join("bin");
    fs::create_dir(&bin).expect("bin");
    let git = "#!/bin/sh\nPATH=${PATH#*:}\ncase \"$*\" in *cat-file*) head -c 300000 /dev/zero >&2;; esac\nexec git \"$@\"\n";
    fs::write(bin.join("git"), git).expect("git");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("mode");
    let path = std::env::var("PATH").expect("PATH");
    let env = env(f.dir.path()).with([("PATH", format!("{}:{path}", bin.display()))]);
    f.repo = Repo::discover(f.repo.toplevel(), &env).expect("a repository");
    let tip = f.repo.head().expect("head").commit.expect("a commit");
    let (done, read) = std::sync::mpsc::channel();
    let repo = f.repo.clone();
    std::thread::spawn(move || done.send(repo.file_at(&tip, "a.txt".as_ref(), 1000).expect("read")));
    let read = read.recv_timeout(Duration::from_secs(10)).expect("it ends");
    assert!(read.is_some());
}
