//! The proof checkout: exactly the commit, with what counted at the start, kept warm between proofs (L4).

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_core::engine::Kinds;
use dacapo_core::git::Repo;
use dacapo_core::proof::{Lease, Pool, Prepared, ProofError, Request, Snapshot};
use dacapo_core::prune::{Prune, Rules};
use dacapo_core::store::Home;
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Fixture, env, git_in};

/// A repository at the start of a task, with its pool of proof checkouts.
pub(crate) struct Proofs {
    pub(crate) f: Fixture,
    pub(crate) pool: Pool,
    pub(crate) snapshot: Snapshot,
}

impl Proofs {
    pub(crate) fn start(f: Fixture) -> Self {
        let pool = Pool::at(f.dir.path().join("data/proof"));
        let snapshot = Snapshot::take(&f.repo, &f.dir.path().join("task/start")).expect("a snapshot");
        Self { f, pool, snapshot }
    }

    pub(crate) fn lease(&self) -> Lease {
        self.pool.lease("task").expect("a pool").expect("a free checkout")
    }

    pub(crate) fn try_prepare(
        &self,
        lease: &mut Lease,
        keep: &[String],
        setup: &[String],
    ) -> Result<Prepared, ProofError> {
        let commit = self.f.oid("HEAD");
        let request =
            Request { source: &self.f.repo, commit: &commit, snapshot: &self.snapshot, keep, setup };
        lease.prepare(&request)
    }

    pub(crate) fn prepare(&self, lease: &mut Lease) -> Prepared {
        self.try_prepare(lease, &[], &[]).expect("prepared")
    }

    /// A lease, at HEAD.
    pub(crate) fn prepared(&self) -> Lease {
        let mut lease = self.lease();
        self.prepare(&mut lease);
        lease
    }

    pub(crate) fn commit_all(&self) {
        self.f.git(&["add", "-A"]);
        self.f.git(&["commit", "-qm", "work"]);
    }

    /// Git, as a check in the checkout would use it.
    pub(crate) fn git_there(&self, lease: &Lease, args: &[&str]) -> String {
        let output = git_in(self.f.dir.path(), lease.tree(), args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}

/// All files and links below a directory but for `.git` at its top, with their content.
pub(crate) fn content(top: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if path == top.join(".git") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).expect("metadata");
            if meta.is_dir() {
                open.push(path);
                continue;
            }
            let bytes = if meta.is_symlink() {
                fs::read_link(&path).expect("a link").into_os_string().as_bytes().to_vec()
            } else {
                fs::read(&path).expect("a file")
            };
            let name =
                path.strip_prefix(top).expect("below").as_os_str().as_bytes().escape_ascii().to_string();
            found.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found.sort();
    found
}

fn names(top: &Path) -> Vec<String> {
    content(top).into_iter().map(|(name, _)| name).collect()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn l4_a_proof_checkout_holds_exactly_the_commit() {
    let proofs = Proofs::start(Fixture::new());
    proofs.f.write("a.txt", "edited\n");
    proofs.f.write("untracked", "x");
    let lease = proofs.prepared();
    let expected = [("a.txt", "one\ntwo\n3\n"), ("dir/b.txt", "b\n")];
    assert_eq!(content(lease.tree()), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    assert_eq!(proofs.git_there(&lease, &["rev-parse", "HEAD"]), proofs.f.oid("HEAD").as_str());
    assert_eq!(proofs.git_there(&lease, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(proofs.git_there(&lease, &["log", "--format=%s", "main"]), "c3\nc2\nc1");
    assert!(lease.tree().join(".git").is_dir(), "a git directory of its own");
}

#[test]
fn l4_files_that_did_not_change_keep_their_times() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    let stamp = |lease: &Lease, name: &str| {
        let meta = fs::metadata(lease.tree().join(name)).expect("metadata");
        (meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec())
    };
    let (a, b) = (stamp(&lease, "a.txt"), stamp(&lease, "dir/b.txt"));
    proofs.f.write("dir/b.txt", "changed\n");
    proofs.f.write("new", "new\n");
    proofs.commit_all();
    proofs.prepare(&mut lease);
    assert_eq!(stamp(&lease, "a.txt"), a);
    assert_ne!(stamp(&lease, "dir/b.txt"), b);
    proofs.f.git(&["checkout", "-q", "HEAD~1"]);
    proofs.prepare(&mut lease);
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt"]);
    assert_eq!(stamp(&lease, "a.txt"), a);
}

#[test]
fn l4_caches_stay_between_proofs_and_everything_else_goes() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    for name in ["target/debug/x", "web/node_modules/y", "vendor/bundle/gem", "vendor/z", "planted", "dir/p"]
    {
        fs::create_dir_all(lease.tree().join(name).parent().expect("a parent")).expect("directories");
        fs::write(lease.tree().join(name), "x").expect("write");
    }
    let keep = strings(&["vendor/bundle"]);
    let prepared = proofs.try_prepare(&mut lease, &keep, &[]).expect("prepared");
    assert_eq!(prepared, Prepared { needs_setup: false, removed: 3 });
    let expected = ["a.txt", "dir/b.txt", "target/debug/x", "vendor/bundle/gem", "web/node_modules/y"];
    assert_eq!(names(lease.tree()), expected);
}

#[test]
fn l4_setup_runs_when_it_or_a_lock_file_changed() {
    let proofs = Proofs::start(Fixture::new());
    let (install, other) = (strings(&["npm ci"]), strings(&["npm install"]));
    let needs = |lease: &mut Lease, setup: &[String]| {
        proofs.try_prepare(lease, &[], setup).expect("prepared").needs_setup
    };
    let mut lease = proofs.lease();
    assert!(!needs(&mut lease, &[]), "there is none");
    assert!(needs(&mut lease, &install));
    assert!(needs(&mut lease, &install), "it did not succeed");
    lease.setup_done().expect("noted");
    assert!(!needs(&mut lease, &install));
    drop(lease);
    let mut lease = proofs.lease();
    assert!(!needs(&mut lease, &install), "the next lease knows too");
    proofs.f.write("a.txt", "other\n");
    proofs.commit_all();
    assert!(!needs(&mut lease, &install));
    proofs.f.write("web/package-lock.json", "{}");
    proofs.commit_all();
    assert!(needs(&mut lease, &install));
    lease.setup_done().expect("noted");
    assert!(!needs(&mut lease, &install));
    assert!(needs(&mut lease, &other));
    lease.setup_done().expect("noted");
    fs::remove_dir_all(lease.tree()).expect("remove");
    assert!(needs(&mut lease, &other), "nothing of it is left");
}

#[test]
fn l4_setup_whose_files_go_with_the_cleaning_runs_each_time() {
    let proofs = Proofs::start(Fixture::new());
    let setup = strings(&["make generated"]);
    let mut lease = proofs.lease();
    assert!(proofs.try_prepare(&mut lease, &[], &setup).expect("prepared").needs_setup);
    fs::write(lease.tree().join("generated"), "x").expect("write");
    lease.setup_done().expect("noted");
    assert!(proofs.try_prepare(&mut lease, &[], &setup).expect("prepared").needs_setup);
    let keep = strings(&["/generated"]);
    fs::write(lease.tree().join("generated"), "x").expect("write");
    assert!(proofs.try_prepare(&mut lease, &keep, &setup).expect("prepared").needs_setup);
    lease.setup_done().expect("noted");
    assert!(!proofs.try_prepare(&mut lease, &keep, &setup).expect("prepared").needs_setup);
    assert!(lease.tree().join("generated").exists());
}

#[test]
fn l4_two_leases_at_once_get_different_checkouts() {
    let proofs = Proofs::start(Fixture::new());
    let take = |task: &str| proofs.pool.lease(task).expect("a pool");
    let [a, b] = ["a", "b"].map(|task| take(task).expect("free"));
    assert_ne!(a.tree(), b.tree());
    let (of_a, of_b) = (a.tree().to_owned(), b.tree().to_owned());
    // A share holds it as well.
    let share = a.share().expect("a share");
    drop((a, b));
    assert_eq!(take("a").expect("free").tree(), of_b, "another's, while its own is in use");
    drop(share);
    assert_eq!(take("b").expect("free").tree(), of_a, "the one that was not used for longest");
    assert_eq!(take("a").expect("free").tree(), of_b, "its own");
    assert_eq!(take("b").expect("free").tree(), of_a, "its own");
    assert_eq!(proofs.pool.checkouts().expect("a list").len(), 2, "no third was needed");
}

#[test]
fn l4_who_finds_all_in_use_waits_for_one() {
    let proofs = Proofs::start(Fixture::new());
    let mut held: Vec<Lease> = (0..4).map(|_| proofs.lease()).collect();
    assert!(proofs.pool.lease("task").expect("a pool").is_none());
    let pool = proofs.pool.clone();
    let waiting = std::thread::spawn(move || pool.wait("other").map(|lease| lease.tree().to_owned()));
    let freed = held.remove(2).tree().to_owned();
    assert_eq!(waiting.join().expect("no panic").expect("a lease"), freed);
}

#[test]
fn l4_checkouts_are_removed_unless_they_are_in_use() {
    let proofs = Proofs::start(Fixture::new());
    let lease = proofs.prepared();
    let tree = lease.tree().to_owned();
    let all = proofs.pool.checkouts().expect("a list");
    assert!(!proofs.pool.remove(&all[0]).expect("looked at"), "it is in use");
    drop(lease);
    drop(proofs.lease());
    assert!(!proofs.pool.remove(&all[0]).expect("looked at"), "it was used meanwhile");
    let all = proofs.pool.checkouts().expect("a list");
    assert!(proofs.pool.remove(&all[0]).expect("removed"));
    assert!(!tree.exists() && proofs.pool.checkouts().expect("a list").is_empty());
    assert_eq!(names(proofs.prepared().tree()), ["a.txt", "dir/b.txt"]);
}

#[test]
fn s9_proof_checkouts_that_nobody_uses_are_pruned() {
    let f = Fixture::new();
    let data = Home::new(f.dir.path().join("data")).repo(f.repo.common_dir());
    let proofs = Proofs { pool: Pool::at(data.proofs_path()), ..Proofs::start(f) };
    let lease = proofs.prepared();
    let prune = |days: i64| {
        let now = Timestamp::now() + SignedDuration::from_hours(24 * days);
        let prune = Prune::new(&proofs.f.repo, &data, Kinds::default(), Rules::default(), now);
        let plan = prune.plan().expect("a plan");
        let removed = plan.items.iter().map(|item| prune.remove(item).expect("looked at").is_some());
        (plan.items.iter().map(|item| item.what.name()).collect::<Vec<_>>(), removed.collect::<Vec<_>>())
    };
    assert_eq!(prune(6), (vec![], vec![]));
    assert_eq!(prune(8), (vec!["proof/0".to_owned()], vec![false]), "it is in use");
    drop(lease);
    assert_eq!(prune(8), (vec!["proof/0".to_owned()], vec![true]));
    assert_eq!(proofs.pool.checkouts().expect("a list"), []);
}

#[test]
fn l4_linked_worktrees_are_proven_from_the_shared_objects() {
    let f = Fixture::new();
    let tip = f.oid("HEAD");
    let repo = f.repo.add_worktree(&f.dir.path().join("wt"), "dacapo/x", &tip).expect("a worktree");
    let proofs = Proofs::start(Fixture { home: repo.head().expect("head"), repo, ..f });
    proofs.f.write("only here", "x\n");
    proofs.commit_all();
    let lease = proofs.prepared();
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt", "only here"]);
    assert_eq!(proofs.git_there(&lease, &["fsck", "--connectivity-only"]), "");
}

#[test]
fn l4_included_files_are_those_of_the_start() {
    let f = Fixture::new();
    f.write(".gitignore", ".env\nconf/\nlink\nlater\n");
    f.write(".worktreeinclude", ".env\nconf/\nlink\nlater\n");
    f.write(".env", "KEY=start\n");
    f.write("conf/deep/x", "start\n");
    std::os::unix::fs::symlink("conf", f.path("link")).expect("a link");
    fs::set_permissions(f.path(".env"), fs::Permissions::from_mode(0o600)).expect("mode");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "work"]);
    let proofs = Proofs::start(f);
    proofs.f.write(".env", "KEY=agent\n");
    proofs.f.write("later", "agent\n");
    let mut lease = proofs.prepared();
    let expected = [".env", ".gitignore", ".worktreeinclude", "a.txt", "conf/deep/x", "dir/b.txt", "link"];
    assert_eq!(names(lease.tree()), expected);
    let read = |lease: &Lease, name| fs::read_to_string(lease.tree().join(name)).expect("read");
    assert_eq!(read(&lease, ".env"), "KEY=start\n");
    assert_eq!(fs::metadata(lease.tree().join(".env")).expect("there").mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(lease.tree().join(".env")).expect("there").mtime(),
        fs::metadata(proofs.f.path("conf/deep/x")).expect("there").mtime()
    );
    // What a check did to them is undone; directories that lead elsewhere are not followed.
    fs::write(lease.tree().join(".env"), "KEY=check\n").expect("write");
    fs::remove_dir_all(lease.tree().join("conf")).expect("remove");
    std::os::unix::fs::symlink(proofs.f.dir.path(), lease.tree().join("conf")).expect("a link");
    proofs.prepare(&mut lease);
    assert_eq!(read(&lease, ".env"), "KEY=start\n");
    assert_eq!(read(&lease, "conf/deep/x"), "start\n");
    assert!(!proofs.f.dir.path().join("deep").exists());
    // One that the commit holds is the commit's.
    proofs.f.git(&["add", "-f", ".env"]);
    proofs.f.git(&["commit", "-qm", "committed"]);
    proofs.prepare(&mut lease);
    assert_eq!(read(&lease, ".env"), "KEY=agent\n");
}

#[test]
fn l4_repositories_of_all_kinds_can_be_proven() {
    let sha256 = Fixture::with_init(&["--object-format=sha256"]);
    let reftable = Fixture::with_init(&["--ref-format=reftable"]);
    for f in [sha256, reftable] {
        let proofs = Proofs::start(f);
        let lease = proofs.prepared();
        assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt"]);
        assert_eq!(proofs.git_there(&lease, &["status", "--porcelain"]), "");
        assert_eq!(proofs.git_there(&lease, &["log", "--format=%s", "main"]), "c3\nc2\nc1");
    }
}

#[test]
fn l4_a_shallow_clone_can_be_proven() {
    let f = Fixture::new();
    let (from, to) = (format!("file://{}", f.repo.toplevel().display()), f.dir.path().join("shallow"));
    let args = ["clone", "-q", "--depth=1", &from, to.to_str().expect("a name")];
    assert!(git_in(f.dir.path(), f.dir.path(), &args).status.success());
    let proofs = Proofs::start(Fixture::open(f.dir, &to));
    let lease = proofs.prepared();
    assert_eq!(proofs.git_there(&lease, &["log", "--format=%s"]), "c3");
    assert_eq!(proofs.git_there(&lease, &["status", "--porcelain"]), "");
}

#[test]
fn l4_a_sparse_checkout_is_proven_as_sparse_as_it_was_at_the_start() {
    let f = Fixture::new();
    f.write("big/x", "x");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "more"]);
    f.git(&["sparse-checkout", "set", "dir"]);
    let proofs = Proofs::start(f);
    proofs.f.git(&["sparse-checkout", "set", "big"]);
    let mut lease = proofs.prepared();
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt"]);
    fs::create_dir(lease.tree().join("big")).expect("directory");
    fs::write(lease.tree().join("big/x"), "planted").expect("write");
    proofs.prepare(&mut lease);
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt"]);
}

#[test]
fn l4_submodules_are_empty_until_setup_fills_them() {
    let f = Fixture::new();
    let tip = f.oid("HEAD");
    f.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{tip},sub")]);
    f.git(&["commit", "-qm", "a submodule"]);
    let proofs = Proofs::start(f);
    let mut lease = proofs.prepared();
    let sub = lease.tree().join("sub");
    assert_eq!(fs::read_dir(&sub).expect("a directory").count(), 0);
    fs::create_dir(sub.join(".git")).expect("directory");
    fs::write(sub.join("file"), "x").expect("write");
    proofs.prepare(&mut lease);
    assert_eq!(fs::read_dir(&sub).expect("a directory").count(), 0);
}

#[test]
fn l4_file_names_of_any_bytes_are_kept_and_cleaned() {
    let f = Fixture::new();
    let odd = std::ffi::OsStr::from_bytes(b"new\nline \xff \"quoted\"");
    f.write(odd, "odd\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "odd"]);
    let proofs = Proofs::start(f);
    let mut lease = proofs.prepared();
    assert_eq!(fs::read(lease.tree().join(odd)).expect("read"), b"odd\n");
    let planted = lease.tree().join(std::ffi::OsStr::from_bytes(b"p\n\xfe"));
    fs::write(&planted, "x").expect("write");
    proofs.prepare(&mut lease);
    assert!(!planted.exists());
    assert_eq!(fs::read(lease.tree().join(odd)).expect("read"), b"odd\n");
}

#[test]
fn l4_a_repository_that_moved_is_found_at_its_new_place() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    let moved = proofs.f.dir.path().join("moved \"here\"");
    fs::rename(proofs.f.repo.toplevel(), &moved).expect("move");
    let repo = Repo::discover(&moved, &env(proofs.f.dir.path())).expect("a repository");
    let proofs = Proofs { f: Fixture { repo, ..proofs.f }, ..proofs };
    proofs.f.write("more", "x");
    proofs.commit_all();
    proofs.prepare(&mut lease);
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt", "more"]);
}

#[test]
fn l4_a_commit_that_is_gone_is_said_and_caches_stay() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    fs::create_dir(lease.tree().join("target")).expect("directory");
    fs::write(lease.tree().join("target/x"), "x").expect("write");
    let gone = dacapo_core::git::Oid::parse(&"1".repeat(40)).expect("an id");
    let request =
        Request { source: &proofs.f.repo, commit: &gone, snapshot: &proofs.snapshot, keep: &[], setup: &[] };
    let error = lease.prepare(&request).expect_err("no such commit").to_string();
    assert!(error.contains("check the commit out"), "{error}");
    proofs.prepare(&mut lease);
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt", "target/x"]);
}

#[test]
fn r0_what_a_pool_and_a_snapshot_write_is_the_users_alone() {
    let f = Fixture::new();
    f.write(".worktreeinclude", "extra\n");
    f.write(".gitignore", "extra\n");
    f.write("extra", "x");
    let proofs = Proofs::start(f);
    let lease = proofs.prepared();
    let mut wrong: Vec<PathBuf> = Vec::new();
    let mut open = vec![proofs.f.dir.path().join("data/proof"), proofs.snapshot.dir().to_owned()];
    while let Some(path) = open.pop() {
        let meta = fs::symlink_metadata(&path).expect("metadata");
        let expected = if meta.is_dir() { 0o700 } else { 0o600 };
        if meta.mode() & 0o777 != expected {
            wrong.push(path.clone());
        }
        if meta.is_dir() {
            let below = fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("entry").path());
            open.extend(below.filter(|path| path != lease.tree()));
        }
    }
    assert_eq!(wrong, [] as [PathBuf; 0]);
}

#[test]
fn l4_a_warm_proof_starts_two_git_processes() {
    let proofs = Proofs::start(Fixture::new());
    let bin = proofs.f.dir.path().join("bin");
    fs::create_dir(&bin).expect("directory");
    let real =
        String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().expect("sh").stdout);
    let real = real.expect("a path");
    let log = proofs.f.dir.path().join("log");
    let script = format!("#!/bin/sh\necho x >> {}\nexec {} \"$@\"\n", log.display(), real.trim());
    fs::write(bin.join("git"), script).expect("write");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("mode");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(bin).chain(std::env::split_paths(&path));
    let env = env(proofs.f.dir.path()).with([("PATH", std::env::join_paths(all).expect("a path"))]);
    let repo = Repo::discover(proofs.f.repo.toplevel(), &env).expect("a repository");
    let proofs = Proofs { f: Fixture { repo, ..proofs.f }, ..proofs };
    let mut lease = proofs.prepared();
    proofs.f.write("a.txt", "changed\n");
    proofs.commit_all();
    fs::remove_file(&log).expect("remove");
    proofs.prepare(&mut lease);
    assert_eq!(fs::read_to_string(&log).expect("read").lines().count(), 2);
}
