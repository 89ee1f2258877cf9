//! Worktrees, clean checkouts, and the user's own uncommitted changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use dacapo_core::git::{CommitRequest, Copied, Head, Operation, Problem, Repo, WorktreeError};

use crate::fixture::{Fixture, PREFIX, changed, env, git_in};

/// A worktree on `dacapo/x` as a fixture of its own; the first repository stays at `repo`.
fn linked(f: Fixture) -> Fixture {
    let tip = f.home.commit.clone().expect("a tip");
    let at = f.dir.path().join("wt");
    let repo = f.repo.add_worktree(&at, "dacapo/x", &tip).expect("a worktree");
    let home = repo.head().expect("head");
    Fixture { repo, home, exclusive: true, ..f }
}

#[test]
fn s3_a_loop_in_a_repository_of_its_own() {
    let mut f = linked(Fixture::new());
    assert!(f.path(".git").is_dir());
    assert_eq!(f.home.branch.as_deref(), Some("refs/heads/dacapo/x"));
    f.write("x", "x");
    assert_eq!(changed(&f.commit()), ["A x"]);
    f.git(&["checkout", "-q", "-b", "other", "HEAD~2"]);
    assert_eq!(f.prepare().problems.len(), 1);
    assert_eq!(f.repo.head().expect("head"), f.home);
    // Removed: the repository above must not be taken for ours.
    fs::remove_dir_all(f.path(".git")).expect("remove");
    assert_eq!(f.prepare().problems, [Problem::RepositoryGone(f.path(".git"))]);
}

#[test]
fn a_removed_worktree_is_told_and_made_again() {
    let mut f = linked(Fixture::new());
    f.write("x", "x");
    f.commit();
    fs::remove_dir_all(f.repo.toplevel()).expect("remove");
    let at = f.repo.toplevel().to_owned();
    let gone = [Problem::WorkspaceGone(at.clone()), Problem::RepositoryGone(at.join(".git"))];
    assert_eq!(f.prepare().problems, gone);
    let user = Repo::discover(&f.dir.path().join("repo"), &env(f.dir.path())).expect("a repository");
    let (branch, tip) = (f.home.branch.clone().expect("a branch"), f.home.commit.clone().expect("a tip"));
    // Not carried over, it went with the directory.
    assert!(!user.has_commit(&tip).expect("asked"));
    let base = user.read_ref(&branch).expect("a ref").expect("a base");
    user.restore_worktree(&at, &branch, &base).expect("restored");
    f.home.commit = Some(base);
    f.write("x", "x");
    f.commit();
    user.carry_now(&at, &branch, "refs/dacapo/rescue/x").expect("carried");
    fs::remove_dir_all(&at).expect("remove");
    user.restore_worktree(&at, &branch, f.home.commit.as_ref().expect("a tip")).expect("restored");
    assert_eq!((f.status(), f.read("x")), (String::new(), "x".into()));
    assert_eq!(f.prepare().problems, []);
}

#[test]
fn what_is_in_the_way_of_a_worktree() {
    let f = Fixture::new();
    let tip = f.home.commit.clone().expect("a tip");
    let at = f.dir.path().join("wt");
    f.git(&["branch", "taken"]);
    f.git(&["branch", "below/one"]);
    let add = |branch: &str| f.repo.add_worktree(&at, branch, &tip);
    assert!(matches!(add("taken"), Err(WorktreeError::BranchExists(_))));
    assert!(
        matches!(add("taken/x"), Err(WorktreeError::BranchConflict { existing, .. }) if existing == "taken")
    );
    assert!(
        matches!(add("below"), Err(WorktreeError::BranchConflict { existing, .. }) if existing == "below/one")
    );
    fs::create_dir(&at).expect("directory");
    assert!(matches!(add("dacapo/x"), Err(WorktreeError::PathExists(_))));
    assert!(f.try_git(&["rev-parse", "-q", "--verify", "dacapo/x"]).status.code() == Some(1));
}

#[test]
fn worktrees_are_removed_with_all_that_is_in_them() {
    let f = linked(Fixture::new());
    f.write("untracked", "u");
    let at = f.repo.toplevel().to_owned();
    let first = Repo::discover(&f.dir.path().join("repo"), &env(f.dir.path())).expect("a repository");
    first.remove_worktree(&at).expect("removed");
    assert!(!at.exists());
    // Half removed already.
    let tip = f.home.commit.clone().expect("a tip");
    first.add_worktree(&at, "dacapo/y", &tip).expect("a worktree");
    fs::remove_dir_all(&at).expect("remove");
    first.remove_worktree(&at).expect("removed");
    let listed = git_in(f.dir.path(), first.toplevel(), &["worktree", "list"]).stdout;
    assert_eq!(String::from_utf8_lossy(&listed).lines().count(), 1);
}

#[test]
fn worktrees_in_parallel() {
    let f = Fixture::new();
    let tip = f.home.commit.clone().expect("a tip");
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (f, tip) = (&f, &tip);
            scope.spawn(move || {
                let at = f.dir.path().join(format!("wt{n}"));
                f.repo.add_worktree(&at, &format!("dacapo/{n}"), tip).expect("a worktree");
                f.repo.remove_worktree(&at).expect("removed");
            });
        }
    });
}

#[test]
fn a_clean_checkout_and_what_a_crash_leaves_of_it() {
    let f = Fixture::new();
    f.write("untracked", "u");
    f.write("a.txt", "dirty");
    let tip = f.home.commit.clone().expect("a tip");
    let clean = f.repo.export_clean(&tip, f.dir.path()).expect("a checkout");
    assert_eq!(clean.repo.head().expect("head"), Head { branch: None, commit: Some(tip.clone()) });
    assert_eq!(fs::read_to_string(clean.repo.toplevel().join("a.txt")).expect("read"), "one\ntwo\n3\n");
    assert!(!clean.repo.toplevel().join("untracked").exists());
    let kept = clean.repo.toplevel().to_owned();
    // In use: another one leaves it alone.
    let second = f.repo.export_clean(&tip, f.dir.path()).expect("a checkout");
    assert!(kept.exists());
    second.remove(&f.repo).expect("removed");
    // Its owner died: the next one clears up.
    drop(clean);
    // A child that another test starts right now shares our descriptors until it is another program: so more than once.
    for _ in 0..20 {
        let third = f.repo.export_clean(&tip, f.dir.path()).expect("a checkout");
        third.remove(&f.repo).expect("removed");
        if !kept.exists() {
            break;
        }
    }
    assert!(!kept.exists());
    assert_eq!(f.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn r1_a_clean_checkout_that_a_crash_left_goes_where_git_writes_relative_paths() {
    let f = Fixture::new();
    let tip = f.home.commit.clone().expect("a tip");
    let clean = f.repo.export_clean(&tip, f.dir.path()).expect("a checkout");
    let kept = clean.repo.toplevel().to_owned();
    let name = kept.file_name().expect("a name").to_str().expect("text").to_owned();
    // As with `worktree.useRelativePaths`: relative to the record.
    let record = f.path(".git/worktrees").join(&name).join("gitdir");
    fs::write(&record, format!("../../../../{name}/.git\n")).expect("write");
    drop(clean);
    // A child that another test starts right now shares our descriptors until it is another program: so more than once.
    for _ in 0..20 {
        f.repo.export_clean(&tip, f.dir.path()).expect("a checkout").remove(&f.repo).expect("removed");
        if !record.exists() {
            break;
        }
    }
    assert!(!record.exists() && !kept.exists());
}

#[test]
fn dirt_is_told_by_kind() {
    let f = Fixture::new();
    assert!(f.repo.dirt().expect("dirt").is_clean());
    f.write(".gitignore", "ignored\n");
    f.write("ignored", "i");
    f.write("a.txt", "changed");
    f.git(&["rm", "-q", "--cached", "dir/b.txt"]);
    let dirt = f.repo.dirt().expect("dirt");
    assert_eq!(dirt.tracked, ["a.txt", "dir/b.txt"].map(PathBuf::from));
    assert_eq!((dirt.untracked, dirt.operation), (vec![PathBuf::from(".gitignore")], None));
}

#[test]
fn the_users_changes_become_a_commit_of_their_own() {
    let f = Fixture::new();
    f.write("a.txt", "staged\n");
    f.git(&["add", "a.txt"]);
    f.write("a.txt", "worktree\n");
    f.write("mine", "m");
    f.write(".env", "S=1");
    fs::create_dir(f.path("nested")).expect("directory");
    assert!(git_in(f.dir.path(), &f.path("nested"), &["init", "-q"]).status.success());
    let kept = f.repo.keep_user_changes(&f.request()).expect("kept");
    assert_eq!(kept.head, f.repo.head().expect("head"));
    assert_eq!(f.oid("HEAD~1"), f.home.commit.clone().expect("a tip"));
    assert_eq!(f.show("HEAD", "a.txt"), "worktree");
    let names: Vec<&str> = kept.rescued.iter().map(|kept| kept.name.as_str()).collect();
    assert_eq!(names, [format!("{PREFIX}/index"), format!("{PREFIX}/tree")]);
    assert_eq!(f.show(names[0], "a.txt"), "staged");
    assert_eq!((kept.left_out.len(), kept.nested.clone()), (1, vec![PathBuf::from("nested/")]));
    assert_eq!(f.git(&["status", "--porcelain"]), "?? .env\n?? nested/");
    // From here on nothing is said of them.
    let known: Vec<PathBuf> =
        kept.nested.iter().cloned().chain(kept.left_out.iter().map(|file| file.path.clone())).collect();
    let mut next = Fixture { home: kept.head, known, ..f };
    next.write("x", "x");
    assert_eq!(changed(&next.commit()), ["A x"]);
    // Half a merge is nobody's to commit.
    next.git(&["checkout", "-qb", "other", "HEAD~1"]);
    next.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
    next.git(&["checkout", "-q", "main"]);
    next.git(&["merge", "-q", "--no-commit", "--no-ff", "other"]);
    let kept = next.repo.keep_user_changes(&next.request()).expect("kept");
    assert_eq!(kept.problems, [Problem::OperationInProgress(Operation::Merge)]);
}

#[test]
fn s9_what_was_staged_is_under_a_ref_before_the_index_changes() {
    let f = Fixture::new();
    // git runs the filter while it stages: whatever is under a ref then would survive a SIGKILL in that moment.
    f.write(".gitattributes", "a.txt filter=look\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "attributes"]);
    let seen = f.dir.path().join("seen");
    f.write("a.txt", "staged\n");
    f.git(&["add", "a.txt"]);
    f.write("a.txt", "worktree\n");
    let look = format!("cat; git for-each-ref --format='%(refname)' refs/dacapo >'{}'", seen.display());
    f.git(&["config", "filter.look.clean", &look]);
    let home = f.repo.head().expect("head");
    let f = Fixture { home, ..f };
    f.repo.keep_user_changes(&f.request()).expect("kept");
    assert_eq!(fs::read_to_string(seen).expect("the filter ran"), format!("{PREFIX}/index\n"));
    assert_eq!(f.show(&format!("{PREFIX}/index"), "a.txt"), "staged");
}

#[test]
fn s9_what_was_staged_is_kept_though_the_files_are_as_committed() {
    let f = Fixture::new();
    let committed = f.read("a.txt");
    f.write("a.txt", "staged\n");
    f.git(&["add", "a.txt"]);
    f.write("a.txt", &committed);
    let kept = f.repo.keep_user_changes(&f.request()).expect("kept");
    assert_eq!(f.show(&format!("{PREFIX}/index"), "a.txt"), "staged");
    assert_eq!(
        kept.rescued.iter().map(|kept| kept.name.as_str()).collect::<Vec<_>>(),
        [format!("{PREFIX}/index")]
    );
    // Where files and index say the same, one ref keeps both.
    f.write("a.txt", "both\n");
    f.git(&["add", "a.txt"]);
    let request = CommitRequest { rescue_prefix: "refs/dacapo/rescue/other", ..f.request() };
    f.repo.keep_user_changes(&request).expect("kept");
    let refs = f.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue/other"]);
    assert_eq!(refs, "refs/dacapo/rescue/other/tree");
}

#[test]
fn uncommitted_changes_are_copied_as_they_are() {
    let mut f = Fixture::new();
    f.write("tree/one", "1");
    f.write("exit/passwd", "p");
    f.write("gone/deep/file", "g");
    f.commit();
    symlink("/etc", f.path("way")).expect("link");
    f.commit();
    let tip = f.home.commit.clone().expect("a tip");
    let to = f.repo.add_worktree(&f.dir.path().join("wt"), "dacapo/x", &tip).expect("a worktree");

    f.write("a.txt", "crlf\r\n");
    fs::set_permissions(f.path("a.txt"), fs::Permissions::from_mode(0o755)).expect("mode");
    f.write("new dir/new\nfile", "n");
    fs::remove_dir_all(f.path("gone")).expect("remove");
    fs::remove_dir_all(f.path("tree")).expect("remove");
    f.write("tree", "a file");
    // A link that becomes a directory must not be written through.
    fs::remove_file(f.path("way")).expect("remove");
    f.write("way/dacapo-test-out", "must stay inside");
    // A directory that becomes a link.
    fs::remove_dir_all(f.path("exit")).expect("remove");
    symlink("/nowhere", f.path("exit")).expect("link");
    f.write(".dacapo/x", "not copied");
    f.write(".gitignore", "ignored\n");
    f.write("ignored", "not copied");
    fs::create_dir(f.path("nested")).expect("directory");
    assert!(git_in(f.dir.path(), &f.path("nested"), &["init", "-q"]).status.success());

    let copied = f.repo.copy_uncommitted(&to).expect("copied");
    assert_eq!(copied, Copied { written: 6, removed: 4, skipped: vec!["nested/".into()] });
    let there = |name: &str| to.toplevel().join(name);
    assert_eq!(fs::read(there("a.txt")).expect("read"), b"crlf\r\n");
    assert_eq!(fs::metadata(there("a.txt")).expect("mode").permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read(there("way/dacapo-test-out")).expect("read"), b"must stay inside");
    assert!(fs::symlink_metadata(there("way")).expect("way").is_dir());
    assert!(fs::symlink_metadata(there("exit")).expect("exit").is_symlink());
    assert!(!there("gone").exists() && !there("ignored").exists() && !there(".dacapo").exists());
    let status = |at: &std::path::Path| {
        let out = git_in(f.dir.path(), at, &["status", "--porcelain", "-uall"]).stdout;
        String::from_utf8_lossy(&out)
            .lines()
            .filter(|line| !line.contains("nested") && !line.contains(".dacapo"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(status(to.toplevel()), status(f.repo.toplevel()));
}

#[test]
fn k8_forty_worktrees_are_made_and_removed_at_once() {
    let f = Fixture::new();
    let start = f.home.commit.clone().expect("a tip");
    let dirs = f.dir.path().join("worktrees");
    fs::create_dir(&dirs).expect("a directory");
    let all = |act: &(dyn Fn(usize) + Sync)| {
        std::thread::scope(|scope| {
            for n in 0..40 {
                scope.spawn(move || act(n));
            }
        });
    };
    let branch = |n: usize| format!("refs/heads/dacapo/t{n}");
    all(&|n| {
        f.repo
            .add_worktree(&dirs.join(format!("t{n}")), &format!("dacapo/t{n}"), &start)
            .expect("a worktree");
    });
    // Some are removed, some are put away, some are put away and come back.
    all(&|n| {
        let at = dirs.join(format!("t{n}"));
        if n % 4 == 0 {
            f.repo.remove_worktree(&at).expect("removed");
            f.repo.delete_branch_at(&branch(n), &start).expect("deleted");
            return;
        }
        let away = f.dir.path().join(format!("dropped/t{n}"));
        let kept = f.repo.keep_under(&format!("refs/dacapo/rescue/t{n}/1"), &branch(n), &at).expect("kept");
        f.repo.set_aside(&at, &branch(n), &away, &kept).expect("set aside");
        if n % 4 == 3 {
            f.repo.bring_back(&away, &at, &branch(n), kept.tip.as_ref()).expect("back");
        }
    });
    assert_eq!(f.git(&["branch", "--list", "dacapo/*"]).lines().count(), 10);
    let tracking = f.try_git(&["config", "--get-regexp", "^branch\\..*\\.remote"]).stdout;
    assert_eq!(tracking, b"", "no branch follows another");
}
