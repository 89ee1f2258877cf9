//! Where the agent left HEAD.

use std::fs;

use dacapo_core::git::{Head, Notice, Oid, Prepared, Problem};

use crate::fixture::{Fixture, PREFIX, changed};

/// Asserts that HEAD was put back, files and index included, and gives the rescued refs by kind.
fn restored(f: &Fixture, prepared: &Prepared) -> Vec<(String, Oid)> {
    assert_eq!(prepared.commit, None);
    assert_eq!((&prepared.head, f.repo.head().expect("head")), (&f.home, f.home.clone()));
    let [Problem::HeadMoved { rescued, .. }] = &prepared.problems[..] else {
        panic!("{:?}", prepared.problems)
    };
    for kept in rescued {
        assert_eq!(f.oid(&kept.name), kept.commit);
    }
    assert_eq!(f.try_git(&["diff", "--quiet", "HEAD"]).status.code(), Some(0));
    let kind = |name: &str| name.strip_prefix(PREFIX).expect("the prefix").trim_start_matches('/').to_owned();
    rescued.iter().map(|kept| (kind(&kept.name), kept.commit.clone())).collect()
}

fn kinds(rescued: &[(String, Oid)]) -> Vec<&str> {
    rescued.iter().map(|(kind, _)| kind.as_str()).collect()
}

fn agent_commit(f: &Fixture, file: &str) {
    f.write(file, "by the agent\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "by the agent"]);
}

#[test]
fn head_is_read_from_every_place() {
    let f = Fixture::new();
    let head = f.repo.head().expect("head");
    assert_eq!(head, Head { branch: Some("refs/heads/main".into()), commit: Some(f.oid("HEAD")) });
    f.git(&["pack-refs", "--all"]);
    assert_eq!(f.repo.head().expect("head"), head);
    f.git(&["checkout", "-q", "--detach"]);
    assert_eq!(f.repo.head().expect("head"), Head { branch: None, ..head.clone() });
    f.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    f.git(&["symbolic-ref", "HEAD", "refs/heads/alias"]);
    assert_eq!(f.repo.head().expect("head").commit, head.commit);
}

#[test]
fn own_commits_on_our_branch_count() {
    let f = Fixture::new();
    agent_commit(&f, "one");
    agent_commit(&f, "two");
    let clean = f.prepare();
    assert_eq!((clean.commit.as_ref(), clean.own_commits), (None, true));
    assert_eq!(
        (changed(&clean), clean.head.commit.as_ref()),
        (vec!["A one".into(), "A two".into()], Some(&f.oid("HEAD")))
    );
    f.write("three", "3");
    let dirty = f.prepare();
    let commit = dirty.commit.as_ref().expect("one extra commit");
    assert_eq!((commit.parent.as_ref(), changed(&dirty).len()), (Some(&f.oid("HEAD")), 3));
    f.land(&dirty);
    assert_eq!(f.status(), "");
}

#[test]
fn work_reverted_after_an_own_commit_is_still_a_commit() {
    let f = Fixture::new();
    let original = f.read("a.txt");
    f.write("a.txt", "x\n");
    f.git(&["commit", "-qam", "agent"]);
    f.write("a.txt", &original);
    let prepared = f.prepare();
    assert!(prepared.commit.is_some());
    assert_eq!(prepared.changed, []);
}

#[test]
fn a_new_branch_or_detached_head_on_top_of_ours_is_taken() {
    for (how, from) in [
        (&["checkout", "-qb", "feature"][..], Some("refs/heads/feature")),
        (&["checkout", "-q", "--detach"][..], None),
    ] {
        for commits in [false, true] {
            let mut f = Fixture::new();
            f.git(how);
            if commits {
                agent_commit(&f, "theirs");
            }
            f.write("dirty", "d");
            let tip = f.oid("HEAD");
            let prepared = f.commit();
            assert_eq!(f.home.branch.as_deref(), Some("refs/heads/main"));
            let notice =
                Notice::Reattached { from: from.map(Into::into), to: Some("refs/heads/main".into()) };
            assert_eq!(prepared.notices, [notice]);
            assert_eq!((prepared.own_commits, f.oid("HEAD~1")), (commits, tip));
            assert_eq!((prepared.changed.len(), f.status().as_str()), (1 + usize::from(commits), ""));
        }
    }
}

#[test]
fn our_branch_deleted_but_the_work_builds_on_it() {
    let f = Fixture::new();
    f.git(&["checkout", "-qb", "feature"]);
    f.git(&["branch", "-qD", "main"]);
    agent_commit(&f, "theirs");
    let prepared = f.prepare();
    assert_eq!((prepared.problems.len(), changed(&prepared)), (0, vec!["A theirs".to_owned()]));
    assert_eq!(f.oid("main"), f.oid("feature"));
}

#[test]
fn another_branch_is_rescued_and_left() {
    let f = Fixture::new();
    f.git(&["branch", "old", "HEAD~2"]);
    f.git(&["checkout", "-q", "old"]);
    let prepared = f.prepare();
    assert_eq!(kinds(&restored(&f, &prepared)), ["head"]);
    // With changes, staged and not, tracked and not, and a secret that stays where it is.
    f.git(&["checkout", "-q", "old"]);
    f.write("a.txt", "staged\n");
    f.git(&["add", "a.txt"]);
    f.write("a.txt", "worktree\n");
    f.write("untracked", "u\n");
    f.write(".env", "S=1");
    let rescued = restored(&f, &f.prepare());
    assert_eq!(kinds(&rescued), ["head", "index", "tree"]);
    assert_eq!(f.show(rescued[1].1.as_str(), "a.txt"), "staged");
    assert_eq!(f.show(rescued[2].1.as_str(), "a.txt"), "worktree");
    assert_eq!(f.show(rescued[2].1.as_str(), "untracked"), "u");
    assert_eq!(f.git(&["ls-tree", "--name-only", rescued[2].1.as_str(), ".env"]), "");
    assert_eq!((f.read(".env"), f.read("a.txt")), ("S=1".into(), "one\ntwo\n3\n".into()));
    assert_eq!(f.oid("old"), f.oid("main~2"));
}

#[test]
fn rescue_never_overwrites_an_earlier_rescue() {
    let f = Fixture::new();
    for n in 0..3 {
        f.git(&["reset", "-q", "--hard", "HEAD~1"]);
        agent_commit(&f, &format!("f{n}"));
        let rescued = restored(&f, &f.prepare());
        assert_eq!(kinds(&rescued), [["head", "head-2", "head-3"][n]]);
    }
}

#[test]
fn resets_amends_orphans_and_deletions_are_undone() {
    let f = Fixture::new();
    f.git(&["reset", "-q", "--hard", "HEAD~2"]);
    assert_eq!(kinds(&restored(&f, &f.prepare())), ["head"]);

    let f = Fixture::new();
    f.write("a.txt", "amended\n");
    f.git(&["commit", "-qa", "--amend", "-m", "amended"]);
    let theirs = f.oid("HEAD");
    assert_eq!(restored(&f, &f.prepare()), [("head".to_owned(), theirs)]);

    // An orphan without a commit: all files are staged as new.
    let f = Fixture::new();
    f.git(&["checkout", "-q", "--orphan", "fresh"]);
    f.write("extra", "e");
    let rescued = restored(&f, &f.prepare());
    assert_eq!(kinds(&rescued), ["index", "tree"]);
    assert_eq!(f.show(rescued[1].1.as_str(), "extra"), "e");

    // An orphan with a commit, the old files gone.
    let f = Fixture::new();
    f.git(&["checkout", "-q", "--orphan", "fresh"]);
    f.git(&["rm", "-qrf", "."]);
    agent_commit(&f, "only");
    assert_eq!(kinds(&restored(&f, &f.prepare())), ["head"]);
    assert!(!f.path("only").exists());

    // The branch under HEAD deleted.
    let f = Fixture::new();
    f.git(&["update-ref", "-d", "refs/heads/main"]);
    f.write("extra", "e");
    let rescued = restored(&f, &f.prepare());
    assert_eq!(f.show(rescued[1].1.as_str(), "extra"), "e");

    // On another branch, and ours deleted.
    let f = Fixture::new();
    f.git(&["checkout", "-q", "-b", "old", "HEAD~2"]);
    f.git(&["branch", "-qD", "main"]);
    assert_eq!(kinds(&restored(&f, &f.prepare())), ["head"]);

    // A commit on our branch, then HEAD back at where it was, detached: two ways at once.
    let f = Fixture::new();
    agent_commit(&f, "theirs");
    let theirs = f.oid("HEAD");
    f.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    let rescued = restored(&f, &f.prepare());
    assert_eq!(kinds(&rescued), ["head", "branch"]);
    assert_eq!(rescued[1].1, theirs);
}

#[test]
fn a_secret_that_would_be_overwritten_is_rescued() {
    let mut f = Fixture::new();
    f.write(".env", "tracked=1");
    f.git(&["add", "-f", ".env"]);
    f.git(&["commit", "-qm", "env"]);
    f.home = f.repo.head().expect("head");
    f.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    f.write(".env", "precious=1");
    let rescued = restored(&f, &f.prepare());
    let tree = rescued.iter().find(|(kind, _)| kind == "tree").expect("a tree");
    assert_eq!(f.show(tree.1.as_str(), ".env"), "precious=1");
    assert_eq!(f.read(".env"), "tracked=1");
}

#[test]
fn killed_between_files_and_refs_it_is_done_again() {
    let f = Fixture::new();
    f.git(&["checkout", "-q", "-b", "old", "HEAD~2"]);
    f.git(&["read-tree", "--reset", "-u", "main"]);
    assert_eq!(kinds(&restored(&f, &f.prepare())), ["head", "tree"]);
}

#[test]
fn a_detached_start_stays_detached() {
    let mut f = Fixture::new();
    f.git(&["checkout", "-q", "--detach"]);
    f.home = f.repo.head().expect("head");
    f.write("x", "x");
    assert_eq!(changed(&f.commit()), ["A x"]);
    assert_eq!(f.home.branch, None);
    assert_ne!(f.oid("main"), f.oid("HEAD"));
    // The agent made a branch: HEAD is detached again, the branch stays.
    f.git(&["checkout", "-qb", "feature"]);
    agent_commit(&f, "y");
    let prepared = f.prepare();
    assert_eq!(prepared.notices, [Notice::Reattached { from: Some("refs/heads/feature".into()), to: None }]);
    assert_eq!((f.repo.head().expect("head").branch, f.oid("HEAD")), (None, f.oid("feature")));
    // And away from it: back.
    f.git(&["checkout", "-q", "main"]);
    assert_eq!(kinds(&restored(&f, &f.prepare())), ["head"]);
}

#[test]
fn a_repository_without_commits() {
    let mut f = Fixture::unborn(&[]);
    assert_eq!(f.home, Head { branch: Some("refs/heads/main".into()), commit: None });
    let nothing = f.prepare();
    assert_eq!((nothing.commit, nothing.head), (None, f.home.clone()));
    f.write("x", "x");
    let prepared = f.prepare();
    assert_eq!(
        (changed(&prepared), prepared.commit.as_ref().expect("commit").parent.as_ref()),
        (vec!["A x".to_owned()], None)
    );
    f.commit();
    assert_eq!(f.status(), "");

    // The agent commits first, on a branch of another name.
    let f = Fixture::unborn(&[]);
    f.git(&["checkout", "-q", "--orphan", "trunk"]);
    agent_commit(&f, "x");
    let prepared = f.prepare();
    assert_eq!((prepared.own_commits, changed(&prepared)), (true, vec!["A x".to_owned()]));
    assert_eq!(f.oid("main"), f.oid("trunk"));
}

#[test]
fn what_was_removed_is_said_exactly() {
    let f = Fixture::new();
    fs::remove_dir_all(f.repo.toplevel()).expect("remove");
    let gone = f.repo.toplevel().to_owned();
    let expected = [Problem::WorkspaceGone(gone.clone()), Problem::RepositoryGone(gone.join(".git"))];
    assert_eq!(f.prepare().problems, expected);

    let f = Fixture::new();
    fs::remove_dir_all(f.path(".git")).expect("remove");
    assert_eq!(f.prepare().problems, [Problem::RepositoryGone(f.path(".git"))]);
    f.git(&["init", "-q"]);
    let tip = f.home.commit.clone().expect("a tip");
    assert_eq!(f.prepare().problems, [Problem::HistoryGone(tip)]);
}

#[test]
fn m6_a_commit_is_found_by_its_digits_and_by_nothing_else() {
    let f = Fixture::new();
    agent_commit(&f, "one");
    let commit = f.oid("HEAD");
    for digits in [commit.as_str(), commit.short(), &commit.as_str().to_uppercase()[..12]] {
        assert_eq!(f.repo.commit_of_digits(digits).expect("git"), Some(commit.clone()), "{digits}");
    }
    let tree = f.oid("HEAD^{tree}");
    f.git(&["branch", "abcdef1"]);
    for none in ["abcdef1", "HEAD", "main", "", "-1234567", "abc", "0000000", tree.as_str()] {
        assert_eq!(f.repo.commit_of_digits(none).expect("git"), None, "{none}");
    }
}

#[test]
fn s8_work_that_no_branch_holds_is_kept_under_a_ref_of_its_own() {
    let f = Fixture::new();
    f.write("half", "done");
    let made = f.prepare().commit.expect("a commit").oid;
    let kept = f.repo.keep_commit(PREFIX, &made).expect("kept");
    assert_eq!((f.oid(&kept.name), kept.name.as_str()), (made.clone(), &*format!("{PREFIX}/work")));
    assert_eq!(f.repo.keep_commit(PREFIX, &made).expect("kept"), kept, "once is enough");
    assert_eq!(f.repo.head().expect("head"), f.home, "no branch has moved");
    let other = f.repo.keep_commit(PREFIX, &f.oid("HEAD")).expect("kept");
    assert_eq!((f.oid(&kept.name), other.name), (made, format!("{PREFIX}/work-2")), "never overwritten");
}
