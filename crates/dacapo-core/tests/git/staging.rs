//! What goes into a commit and what stays out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_core::git::{LeftOut, LeftOutReason, Notice, Operation, Problem};

use crate::fixture::{Fixture, changed};

#[test]
fn nothing_changed_is_no_commit() {
    let f = Fixture::new();
    let prepared = f.prepare();
    assert_eq!(prepared.commit, None);
    assert_eq!((prepared.changed, prepared.own_commits, prepared.head), (vec![], false, f.home));
}

#[test]
fn a_change_is_committed_and_the_tree_is_clean() {
    let mut f = Fixture::new();
    // Past the tick in which the fixture itself was committed.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let before = std::time::SystemTime::now() - std::time::Duration::from_millis(15);
    f.write("a.txt", "changed\n");
    f.write("new/deep/file", "n\n");
    let parent = f.home.commit.clone();
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["M a.txt", "A new/deep/file"]);
    assert_eq!(f.status(), "");
    let commit = prepared.commit.expect("a commit");
    assert_eq!((commit.parent, Some(commit.oid)), (parent, f.home.commit.clone()));
    assert_eq!(
        f.git(&["log", "-1", "--format=%B%an %ae %at %ai %ci"]).lines().last(),
        Some("Ada ada@example.org 1700000000 2023-11-14 23:13:20 +0100 2023-11-14 23:13:20 +0100")
    );
    assert_eq!(f.git(&["log", "-1", "--format=%s|%b"]), "[iter-1] work|body");
    assert_eq!(f.git(&["reflog", "-1", "--format=%gs", "HEAD"]), "dacapo: iter-1");
    let objects = dacapo_core::git::durable::written_since(&f.repo.objects_dir(), before);
    // Commit, root tree, blob of a.txt, two directories, blob of the new file.
    assert_eq!(objects.len(), 6, "{objects:?}");
    dacapo_core::git::durable::sync(&objects).expect("sync");
    dacapo_core::git::durable::sync(&f.repo.ref_files(f.home.branch.as_deref())).expect("sync");
}

#[test]
fn the_same_work_gives_the_same_id() {
    let f = Fixture::new();
    f.write("a.txt", "x\n");
    let first = f.prepare();
    let second = f.prepare();
    assert!(first.commit.is_some());
    // The second time everything is staged already, so only the way there differs.
    assert_eq!((first.commit, first.changed, first.head), (second.commit, second.changed, second.head));
}

#[test]
fn names_of_any_bytes() {
    let mut f = Fixture::new();
    let names: Vec<&[u8]> = vec![
        b"with space",
        b"\"quoted\"",
        b"it's",
        b"line\nbreak",
        b"tab\t",
        b"-dash",
        b"--force",
        b"\xff\xfe bytes",
        "繼續.txt".as_bytes(),
        b"back\\slash",
        b"*.glob",
        b":(top)x",
        b"trailing ",
        b"#hash",
        b"!bang",
    ];
    for name in &names {
        f.write(OsStr::from_bytes(name), "x\n");
    }
    let prepared = f.commit();
    let mut found: Vec<&[u8]> = prepared.changed.iter().map(|c| c.path.as_os_str().as_bytes()).collect();
    let mut expected = names.clone();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(f.status(), "");
    for name in &names {
        fs::remove_file(f.path(OsStr::from_bytes(name))).expect("remove");
    }
    assert_eq!(f.commit().changed.len(), names.len());
    assert_eq!(f.status(), "");
}

#[test]
fn renames_deletions_modes_and_links() {
    let mut f = Fixture::new();
    fs::rename(f.path("dir/b.txt"), f.path("moved.txt")).expect("rename");
    fs::set_permissions(f.path("a.txt"), fs::Permissions::from_mode(0o755)).expect("mode");
    symlink("a.txt", f.path("link")).expect("link");
    symlink("/nowhere", f.path("dangling")).expect("link");
    assert_eq!(changed(&f.commit()), ["M a.txt", "A dangling", "D dir/b.txt", "A link", "A moved.txt"]);
    assert!(f.git(&["ls-tree", "HEAD"]).contains("120000 blob"));
    // A link becomes a file, a file a link.
    fs::remove_file(f.path("link")).expect("remove");
    f.write("link", "now a file");
    fs::remove_file(f.path("moved.txt")).expect("remove");
    symlink("a.txt", f.path("moved.txt")).expect("link");
    assert_eq!(changed(&f.commit()), ["T link", "T moved.txt"]);
    assert_eq!(f.status(), "");
}

#[test]
fn directories_and_files_change_places() {
    let mut f = Fixture::new();
    f.write("tree/x/y", "y");
    f.write("tree/z", "z");
    f.write("linked/one", "1");
    f.commit();
    fs::remove_dir_all(f.path("tree")).expect("remove");
    f.write("tree", "a file now");
    fs::remove_file(f.path("a.txt")).expect("remove");
    f.write("a.txt/inside", "a directory now");
    fs::rename(f.path("linked"), f.path("real")).expect("rename");
    symlink("real", f.path("linked")).expect("link");
    let prepared = f.commit();
    assert_eq!(prepared.left_out, []);
    let mut found = changed(&prepared);
    found.sort();
    assert_eq!(
        found,
        [
            "A a.txt/inside",
            "A linked",
            "A real/one",
            "A tree",
            "D a.txt",
            "D linked/one",
            "D tree/x/y",
            "D tree/z"
        ]
    );
    assert_eq!(f.status(), "");
    // And back.
    fs::remove_file(f.path("linked")).expect("remove");
    fs::rename(f.path("real"), f.path("linked")).expect("rename");
    fs::remove_file(f.path("tree")).expect("remove");
    f.write("tree/z", "z");
    f.commit();
    assert_eq!(f.status(), "");
}

#[test]
fn all_files_deleted_is_a_change_like_any_other() {
    let mut f = Fixture::new();
    fs::remove_file(f.path("a.txt")).expect("remove");
    fs::remove_dir_all(f.path("dir")).expect("remove");
    assert_eq!(changed(&f.commit()), ["D a.txt", "D dir/b.txt"]);
}

#[test]
fn secrets_stay_out_staged_or_not() {
    let mut f = Fixture::new();
    f.write(".env", "KEY=1");
    f.write("deploy/.env.production", "KEY=2");
    f.write("tls.key", "k");
    f.write(".env.example", "KEY=");
    f.write("ok.txt", "ok");
    f.git(&["add", "-f", ".env", "tls.key"]);
    f.write("later.pem", "p");
    f.git(&["add", "-N", "later.pem"]);
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A .env.example", "A ok.txt"]);
    let mut out: Vec<PathBuf> = prepared.left_out.iter().map(|l| l.path.clone()).collect();
    out.sort();
    assert_eq!(out, [".env", "deploy/.env.production", "later.pem", "tls.key"].map(PathBuf::from));
    assert!(prepared.left_out.iter().all(|l| l.why == LeftOutReason::Secret));
    assert_eq!(f.read(".env"), "KEY=1");
    assert_eq!(f.status(), "?? .env\n?? deploy/.env.production\n?? later.pem\n?? tls.key");
    // They alone are no reason for a commit, and are not told again once known.
    f.known = out;
    let again = f.prepare();
    assert_eq!((again.commit, again.left_out), (None, vec![]));
}

#[test]
fn a_tracked_secret_is_the_projects_decision() {
    let mut f = Fixture::new();
    f.write(".env", "A=1");
    f.git(&["add", "-f", ".env"]);
    f.git(&["commit", "-qm", "tracked"]);
    f.home = f.repo.head().expect("head");
    f.write(".env", "A=2");
    assert_eq!(changed(&f.commit()), ["M .env"]);
    // Taken out of the index and changed: still not new.
    f.git(&["rm", "-q", "--cached", ".env"]);
    f.write(".env", "A=3");
    assert_eq!(changed(&f.commit()), ["M .env"]);
    // Removed by a commit of the agent's and written again: not new since the start.
    f.git(&["rm", "-q", ".env"]);
    f.git(&["commit", "-qm", "agent"]);
    f.write(".env", "A=4");
    let prepared = f.prepare();
    assert_eq!((changed(&prepared), prepared.left_out.len()), (vec!["M .env".to_owned()], 0));
}

#[test]
fn a_secret_in_the_agents_own_commit_is_told() {
    let f = Fixture::new();
    f.write(".env", "KEY=1");
    f.write("big", &"x".repeat(1001));
    f.git(&["add", "-f", "."]);
    f.git(&["commit", "-qm", "oops"]);
    let prepared = f.prepare();
    assert_eq!(changed(&prepared), ["A .env", "A big"]);
    let told = |path: &str, why| Notice::CommittedByAgent(LeftOut { path: path.into(), why });
    assert_eq!(
        prepared.notices,
        [told(".env", LeftOutReason::Secret), told("big", LeftOutReason::TooBig { bytes: 1001 })]
    );
}

#[test]
fn big_new_files_stay_out_tracked_ones_grow() {
    let mut f = Fixture::new();
    f.write("dump.sql", &"x".repeat(1001));
    f.write("fits", &"x".repeat(1000));
    f.write("a.txt", &"y".repeat(5000));
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["M a.txt", "A fits"]);
    assert_eq!(
        prepared.left_out,
        [LeftOut { path: "dump.sql".into(), why: LeftOutReason::TooBig { bytes: 1001 } }]
    );
}

#[test]
fn own_runtime_files_are_never_committed() {
    let mut f = Fixture::new();
    f.write(".dacapo/run/journal", "x");
    f.write(".dacapo/staged", "x");
    f.git(&["add", ".dacapo/staged"]);
    assert!(f.repo.dirt().expect("dirt").untracked.is_empty());
    let prepared = f.prepare();
    assert_eq!((prepared.commit, prepared.left_out), (None, vec![]));
    f.write("x", "x");
    assert_eq!(changed(&f.commit()), ["A x"]);
}

#[test]
fn nested_repositories_are_kept_and_fail_the_iteration() {
    let f = Fixture::new();
    f.write("plain", "p");
    for (name, commits, staged) in [("empty", false, false), ("full", true, false), ("linked", true, true)] {
        let at = f.path(name);
        fs::create_dir_all(&at).expect("directory");
        let git = |args: &[&str]| assert!(crate::fixture::git_in(f.dir.path(), &at, args).status.success());
        git(&["init", "-q"]);
        fs::write(at.join("inside"), "i").expect("write");
        if commits {
            git(&["add", "."]);
            git(&["commit", "-qm", "inner"]);
        }
        if staged {
            f.git(&["add", name]);
        }
    }
    let prepared = f.prepare();
    assert_eq!(changed(&prepared), ["A plain"]);
    let nested = |p: &str| Problem::NestedRepository(p.into());
    assert_eq!(prepared.problems, [nested("empty/"), nested("full/"), nested("linked")]);
    assert!(f.path("linked/.git").is_dir() && f.read("full/inside") == "i");
    // Committed as a link by the agent itself: told too.
    f.git(&["add", "full"]);
    f.git(&["commit", "-qm", "agent"]);
    let prepared = f.prepare();
    assert!(prepared.problems.contains(&nested("full")), "{:?}", prepared.problems);
}

#[test]
fn conflicts_and_half_done_operations_commit_nothing() {
    let conflict = |f: &Fixture| {
        f.git(&["checkout", "-qb", "other", "HEAD~1"]);
        f.write("a.txt", "theirs\n");
        f.git(&["commit", "-qam", "theirs"]);
        f.git(&["checkout", "-q", "main"]);
    };
    let cases: [(&[&str], Operation); 4] = [
        (&["merge", "other"], Operation::Merge),
        (&["rebase", "other"], Operation::Rebase),
        (&["cherry-pick", "other"], Operation::CherryPick),
        (&["revert", "--no-edit", "HEAD~1"], Operation::Revert),
    ];
    for (command, operation) in cases {
        let f = Fixture::new();
        conflict(&f);
        assert!(!f.try_git(command).status.success());
        f.write("more", "m");
        let before = (f.status(), f.read("a.txt"));
        let prepared = f.prepare();
        assert_eq!(prepared.problems, [Problem::OperationInProgress(operation)]);
        assert_eq!((prepared.commit, prepared.changed.len()), (None, 0));
        assert_eq!((f.status(), f.read("a.txt")), before);
        assert_eq!(f.repo.dirt().expect("dirt").operation, Some(operation));
    }
    // A merge without conflicts that waits for its commit.
    let f = Fixture::new();
    f.git(&["checkout", "-qb", "other", "HEAD~1"]);
    f.write("theirs", "t");
    f.git(&["add", "."]);
    f.git(&["commit", "-qm", "theirs"]);
    f.git(&["checkout", "-q", "main"]);
    f.git(&["merge", "-q", "--no-commit", "--no-ff", "other"]);
    assert_eq!(f.prepare().problems, [Problem::OperationInProgress(Operation::Merge)]);
    // Bisect.
    let f = Fixture::new();
    f.git(&["bisect", "start", "HEAD", "HEAD~2"]);
    assert_eq!(f.prepare().problems, [Problem::OperationInProgress(Operation::Bisect)]);
    // A conflict without an operation: `stash pop`.
    let f = Fixture::new();
    f.write("a.txt", "stashed\n");
    f.git(&["stash", "-q"]);
    f.write("a.txt", "here\n");
    f.git(&["commit", "-qam", "here"]);
    assert!(!f.try_git(&["stash", "pop"]).status.success());
    let prepared = f.prepare();
    assert_eq!(prepared.problems, [Problem::Unmerged(vec!["a.txt".into()])]);
    assert_eq!((prepared.commit, prepared.changed.len()), (None, 1));
}

#[test]
fn special_files_do_not_lose_the_commit() {
    let mut f = Fixture::new();
    let fifo =
        |name: &str| assert!(Command::new("mkfifo").arg(f.path(name)).status().expect("mkfifo").success());
    fifo("untracked-fifo");
    fs::remove_file(f.path("a.txt")).expect("remove");
    fifo("a.txt");
    let _socket = std::os::unix::net::UnixListener::bind(f.path("socket")).expect("socket");
    f.write("x", "x");
    f.write("y", "y");
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A x", "A y"]);
    assert_eq!(prepared.left_out.len(), 1);
    assert_eq!(prepared.left_out[0].path, Path::new("a.txt"));
}

#[test]
fn what_git_refuses_is_found_among_many() {
    let mut f = Fixture::new();
    for n in 0..40 {
        f.write(format!("f{n:02}"), "x");
    }
    // A filter that must succeed and does not: git cannot take that one file.
    f.write(".gitattributes", "f17 filter=broken\n");
    f.git(&["config", "filter.broken.clean", "false"]);
    f.git(&["config", "filter.broken.required", "true"]);
    let prepared = f.commit();
    assert_eq!(prepared.changed.len(), 40);
    assert_eq!(prepared.left_out.len(), 1);
    assert_eq!(prepared.left_out[0].path, Path::new("f17"));
}

#[test]
fn unreadable_files_are_left_out() {
    let mut f = Fixture::new();
    f.write("closed", "x");
    fs::set_permissions(f.path("closed"), fs::Permissions::from_mode(0o000)).expect("mode");
    f.write("x", "x");
    // Root reads everything.
    let is_root = fs::read(f.path("closed")).is_ok();
    let prepared = f.commit();
    assert_eq!(prepared.left_out.len(), usize::from(!is_root));
    assert!(changed(&prepared).contains(&"A x".to_owned()));
}

#[test]
fn staged_states_are_committed_as_they_end_up() {
    let mut f = Fixture::new();
    f.write("staged", "1");
    f.git(&["add", "staged"]);
    f.write("staged", "2");
    f.write("gone", "g");
    f.git(&["add", "gone"]);
    fs::remove_file(f.path("gone")).expect("remove");
    f.write("intent", "i");
    f.git(&["add", "-N", "intent"]);
    f.git(&["mv", "dir/b.txt", "dir/c.txt"]);
    f.git(&["rm", "-q", "--cached", "a.txt"]);
    assert_eq!(changed(&f.commit()), ["D dir/b.txt", "A dir/c.txt", "A intent", "A staged"]);
    assert_eq!((f.status(), f.show("HEAD", "staged")), (String::new(), "2".to_owned()));
}

#[test]
fn changes_that_cancel_out_are_no_commit() {
    let f = Fixture::new();
    let original = f.read("a.txt");
    f.write("a.txt", "staged\n");
    f.git(&["add", "a.txt"]);
    f.write("a.txt", &original);
    let prepared = f.prepare();
    assert_eq!((prepared.commit, prepared.changed), (None, vec![]));
    assert_eq!(f.status(), "");
}

#[test]
fn line_ends_and_filters_are_gits() {
    let mut f = Fixture::new();
    f.write(".gitattributes", "*.win text eol=crlf\n*.up filter=up\n");
    f.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    f.write("x.win", "one\r\ntwo\r\n");
    f.write("x.up", "shout");
    f.commit();
    assert_eq!(f.git(&["cat-file", "-s", "HEAD:x.win"]), "8");
    assert_eq!((f.show("HEAD", "x.up"), f.read("x.up")), ("SHOUT".into(), "shout".into()));
    assert_eq!(f.status(), "");
    f.write("x.win", "one\ntwo\n");
    let prepared = f.prepare();
    assert_eq!((prepared.commit, prepared.changed), (None, vec![]));
}

#[test]
fn hidden_and_sparse_entries_are_not_deleted() {
    let mut f = Fixture::new();
    f.write("sparse/one", "1");
    f.write("hidden", "h");
    f.write("assumed", "a");
    f.commit();
    f.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/sparse/"]);
    assert!(!f.path("sparse").exists());
    f.git(&["update-index", "--assume-unchanged", "assumed"]);
    f.git(&["update-index", "--skip-worktree", "hidden"]);
    f.write("assumed", "changed");
    fs::remove_file(f.path("hidden")).expect("remove");
    f.write("x", "x");
    assert_eq!(changed(&f.commit()), ["A x"]);
    // A new file outside of the sparse pattern is work like any other.
    f.write("sparse/two", "2");
    assert_eq!(changed(&f.commit()), ["A sparse/two"]);
    assert_eq!(f.show("HEAD", "sparse/one"), "1");
}

#[test]
fn submodules_move_by_their_pointer() {
    let mut f = Fixture::new();
    let library = Fixture::new();
    let url = library.repo.toplevel().to_str().expect("a path").to_owned();
    f.git(&["submodule", "--quiet", "add", &url, "lib"]);
    let prepared = f.commit();
    assert_eq!(changed(&prepared), ["A .gitmodules", "A lib"]);
    // Dirty inside only: told, not committed.
    f.write("lib/a.txt", "dirty");
    let prepared = f.prepare();
    assert_eq!((prepared.commit, prepared.notices), (None, vec![Notice::SubmoduleDirty("lib".into())]));
    // A commit inside moves the pointer.
    let lib = f.path("lib");
    assert!(crate::fixture::git_in(f.dir.path(), &lib, &["commit", "-qam", "inner"]).status.success());
    assert_eq!(changed(&f.commit()), ["M lib"]);
    // The loop may run inside the submodule itself.
    let mut inner = Fixture::open(f.dir, &lib);
    inner.write("a.txt", "again");
    assert_eq!(changed(&inner.commit()), ["M a.txt"]);
    inner.write(".git.bak", "x");
    fs::remove_file(inner.path(".git")).expect("remove");
    let prepared = inner.commit();
    assert!(matches!(prepared.notices[..], [Notice::LinkRestored(_)]), "{:?}", prepared.notices);
}
