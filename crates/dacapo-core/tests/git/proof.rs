//! The proof checkout: exactly the commit, with what counted at the start, made from nothing each time (L4).

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_core::engine::Kinds;
use dacapo_core::git::Repo;
use dacapo_core::proof::{Lease, Pool, Prepared, ProofError, ProofRun, Request, Snapshot, Start, Suspects};
use dacapo_core::prune::{Prune, Rules};
use dacapo_core::spec::TestsPolicy;
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
        let pool = Pool::at(f.dir.path().join("data"));
        let (data, start) = (f.dir.path().join("data"), f.dir.path().join("task/start"));
        let snapshot = Snapshot::take(&f.repo, &data, &start, &Suspects::default()).expect("a snapshot");
        Self { f, pool, snapshot }
    }

    pub(crate) fn lease(&self) -> Lease {
        self.pool.lease().expect("a pool").expect("a free checkout")
    }

    pub(crate) fn try_prepare(&self, lease: &mut Lease, how: How<'_>) -> Result<Prepared, ProofError> {
        let commit = self.f.oid("HEAD");
        let base = how.base.map(|name| self.f.oid(name));
        lease.prepare(&Request {
            source: &self.f.repo,
            commit: &commit,
            snapshot: &self.snapshot,
            setup: how.setup,
            base: base.as_ref(),
            start: Start::Caches,
            run: how.run,
            checks: how.checks,
            tests: &TestsPolicy::default(),
            env: &[],
            workspace: None,
            guarded: None,
            held_out: None,
        })
    }

    pub(crate) fn prepare(&self, lease: &mut Lease) -> Prepared {
        self.try_prepare(lease, How::default()).expect("prepared")
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

/// What a checkout is made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) setup: &'a [String],
    /// The name of the commit whose caches may be used.
    pub(crate) base: Option<&'a str>,
    /// With which tests it is judged, and by which checks.
    pub(crate) run: ProofRun,
    pub(crate) checks: &'a [String],
}

impl Default for How<'_> {
    fn default() -> Self {
        Self { setup: &[], base: None, run: ProofRun::Commit, checks: &[] }
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
fn l4_nothing_that_a_proof_wrote_is_there_in_the_next() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    for name in ["target/ok", "cache/CACHEDIR.TAG", "cache/ok", "web/node_modules/y", "planted", "dir/p"] {
        fs::create_dir_all(lease.tree().join(name).parent().expect("a parent")).expect("directories");
        fs::write(lease.tree().join(name), "Signature: 8a477f597d28d172789f06886806bc55").expect("write");
    }
    proofs.prepare(&mut lease);
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt"]);
    fs::write(lease.tree().join("planted"), "x").expect("write");
    let tree = lease.tree().to_owned();
    drop(lease);
    assert!(!tree.exists(), "it is removed when it is given back");
    assert_eq!(names(proofs.prepared().tree()), ["a.txt", "dir/b.txt"]);
}

/// A repository with a package of cargo's and one of npm's, and what a green proof of it wrote.
fn with_kept_caches() -> Proofs {
    let f = Fixture::new();
    f.write("Cargo.toml", "[package]\n");
    f.write("web/package.json", "{}\n");
    f.write(".gitignore", "target/\nnode_modules/\nother/\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "packages"]);
    let proofs = Proofs::start(f);
    let mut lease = proofs.prepared();
    let write = |lease: &Lease, name: &str| {
        fs::create_dir_all(lease.tree().join(name).parent().expect("a parent")).expect("directories");
        fs::write(lease.tree().join(name), "built").expect("write");
    };
    write(&lease, "web/node_modules/dep/index.js");
    lease.setup_done().expect("noted");
    for name in [
        "target/CACHEDIR.TAG",
        "target/planted",
        UNIT,
        LIB,
        "target/debug/deps/planted",
        "web/node_modules/planted",
        "web/node_modules/dep/planted",
        "other/cache",
    ] {
        write(&lease, name);
    }
    lease.keep_caches().expect("kept");
    proofs
}

const UNIT: &str = "target/debug/.fingerprint/x-0123456789abcdef/dep";
const LIB: &str = "target/debug/deps/libx-0123456789abcdef.rlib";

const KEPT: [&str; 4] = ["target/CACHEDIR.TAG", UNIT, LIB, "web/node_modules/dep/index.js"];

/// What a checkout has beside the files of the commit.
fn extra(proofs: &Proofs, lease: &Lease) -> Vec<String> {
    let tracked = proofs.git_there(lease, &["ls-files"]);
    names(lease.tree()).into_iter().filter(|name| !tracked.lines().any(|known| known == name)).collect()
}

#[test]
fn l4_a_proof_starts_with_a_copy_of_what_its_base_built_and_installed() {
    let proofs = with_kept_caches();
    let base = proofs.f.oid("HEAD");
    proofs.f.write("dir/b.txt", "changed\n");
    proofs.commit_all();
    let how = How { base: Some("HEAD~1"), ..How::default() };
    for _ in 0..2 {
        let mut lease = proofs.lease();
        let cache = proofs.try_prepare(&mut lease, how).expect("prepared").cache.expect("caches");
        assert_eq!((cache.commit_id, cache.confirm), (base.clone(), false));
        assert_eq!(extra(&proofs, &lease), KEPT);
        // It is a copy: the next one starts with what was kept.
        fs::write(lease.tree().join(LIB), "forged").expect("write");
        fs::write(lease.tree().join("target/debug/deps/more"), "forged").expect("write");
    }
    let mut lease = proofs.lease();
    proofs.try_prepare(&mut lease, how).expect("prepared");
    assert_eq!(fs::read_to_string(lease.tree().join(LIB)).expect("read"), "built");
}

#[test]
fn l4_what_an_agents_work_built_is_used_by_nobody_before_it_is_merged() {
    let proofs = with_kept_caches();
    proofs.f.git(&["checkout", "-q", "-b", "other", "HEAD~1"]);
    proofs.f.write("Cargo.toml", "[package]\n");
    proofs.commit_all();
    let mut lease = proofs.lease();
    for base in ["HEAD", "HEAD~1"] {
        let prepared = proofs.try_prepare(&mut lease, How { base: Some(base), ..How::default() });
        assert_eq!(prepared.expect("prepared").cache, None, "{base} has not the commit in its history");
    }
    assert_eq!(proofs.prepare(&mut lease).cache, None, "there is no base");
    // A squash merge makes another commit of the same files.
    proofs.f.git(&["checkout", "-q", "-B", "squashed", "HEAD~1"]);
    proofs.f.git(&["checkout", "-q", "main", "--", "."]);
    proofs.commit_all();
    proofs.f.write("more", "x");
    proofs.commit_all();
    let prepared = proofs.try_prepare(&mut lease, How { base: Some("HEAD~1"), ..How::default() });
    assert!(prepared.expect("prepared").cache.is_some());
}

#[test]
fn l4_what_was_installed_is_copied_only_if_its_manifest_is_the_same() {
    let setup = strings(&["npm install"]);
    let proofs = with_kept_caches();
    // Nothing was set up when these were kept: a setup is another fingerprint.
    let mut lease = proofs.lease();
    let how = How { setup: &setup, base: Some("HEAD"), ..How::default() };
    assert!(proofs.try_prepare(&mut lease, how).expect("prepared").needs_setup);
    assert!(!lease.tree().join("web/node_modules").exists());
    fs::create_dir_all(lease.tree().join("web/node_modules/dep")).expect("directories");
    lease.setup_done().expect("noted");
    lease.keep_caches().expect("kept");
    proofs.f.write("a.txt", "other\n");
    proofs.commit_all();
    let how = How { setup: &setup, base: Some("HEAD~1"), ..How::default() };
    assert!(!proofs.try_prepare(&mut lease, how).expect("prepared").needs_setup);
    assert!(lease.tree().join("web/node_modules/dep").exists());
    // No lock file: the manifest alone decides.
    proofs.f.write("web/package.json", "{\"dependencies\": {}}\n");
    proofs.commit_all();
    let how = How { setup: &setup, base: Some("HEAD~2"), ..How::default() };
    assert!(proofs.try_prepare(&mut lease, how).expect("prepared").needs_setup);
    assert!(!lease.tree().join("web/node_modules").exists());
    assert!(lease.tree().join("target/debug/deps").exists(), "cargo looks for itself");
}

#[test]
fn l4_a_setup_that_leaves_more_than_caches_runs_each_time() {
    let setup = strings(&["make generated"]);
    let proofs = with_kept_caches();
    let how = How { setup: &setup, base: Some("HEAD"), ..How::default() };
    let mut lease = proofs.lease();
    proofs.try_prepare(&mut lease, how).expect("prepared");
    fs::create_dir_all(lease.tree().join("web/node_modules")).expect("directories");
    fs::write(lease.tree().join("generated"), "x").expect("write");
    lease.setup_done().expect("noted");
    lease.keep_caches().expect("kept");
    assert!(proofs.try_prepare(&mut lease, how).expect("prepared").needs_setup);
    assert!(!lease.tree().join("generated").exists());
}

#[test]
fn l4_a_green_proof_from_caches_is_confirmed_where_files_are_gone() {
    let proofs = with_kept_caches();
    proofs.f.git(&["mv", "dir/b.txt", "dir/c.txt"]);
    proofs.commit_all();
    let mut lease = proofs.lease();
    let prepared = proofs.try_prepare(&mut lease, How { base: Some("HEAD~1"), ..How::default() });
    assert!(prepared.expect("prepared").cache.expect("caches").confirm);
}

#[test]
fn l4_files_as_in_the_base_count_as_old_and_all_others_as_new() {
    let proofs = with_kept_caches();
    proofs.f.write("dir/b.txt", "changed\n");
    proofs.commit_all();
    let mut lease = proofs.lease();
    proofs.try_prepare(&mut lease, How { base: Some("HEAD~1"), ..How::default() }).expect("prepared");
    let modified =
        |name: &str| fs::metadata(lease.tree().join(name)).expect("metadata").modified().expect("a time");
    let built = modified(LIB);
    assert!(modified("a.txt") <= built && modified("Cargo.toml") <= built);
    assert!(modified("dir/b.txt") > built);
    assert_eq!(proofs.git_there(&lease, &["status", "--porcelain"]), "");
}

#[test]
fn l4_only_a_few_caches_are_kept() {
    let proofs = with_kept_caches();
    for n in 0..5 {
        proofs.f.write("a.txt", &format!("{n}\n"));
        proofs.commit_all();
        proofs.prepared().keep_caches().expect("kept");
    }
    assert_eq!(fs::read_dir(proofs.f.dir.path().join("data/bases")).expect("a directory").count(), 3);
}

#[test]
fn l4_two_leases_at_once_get_different_checkouts() {
    let proofs = Proofs::start(Fixture::new());
    let [a, b] = [proofs.lease(), proofs.lease()];
    let (of_a, of_b) = (a.tree().to_owned(), b.tree().to_owned());
    assert_ne!(of_a, of_b);
    // A share holds it as well.
    let share = a.share().expect("a share");
    drop((a, b));
    assert_eq!(proofs.lease().tree(), of_b, "the first one is still in use");
    drop(share);
    assert_eq!(proofs.lease().tree(), of_a, "the first free one: builds remember paths");
}

#[test]
fn l4_who_finds_all_in_use_waits_for_one() {
    let proofs = Proofs::start(Fixture::new());
    let mut held: Vec<Lease> = (0..4).map(|_| proofs.lease()).collect();
    assert!(proofs.pool.lease().expect("a pool").is_none());
    let pool = proofs.pool.clone();
    let waiting = std::thread::spawn(move || pool.wait().map(|lease| lease.tree().to_owned()));
    let freed = held.remove(2).tree().to_owned();
    assert_eq!(waiting.join().expect("no panic").expect("a lease"), freed);
}

#[test]
fn s9_what_proofs_keep_and_nobody_uses_is_pruned() {
    let f = Fixture::new();
    let data = Home::new(f.dir.path().join("data")).repo(f.repo.common_dir());
    let proofs = Proofs { pool: Pool::at(data.path().to_owned()), ..Proofs::start(f) };
    let mut lease = proofs.prepared();
    lease.keep_caches().expect("kept");
    let prune = |days: i64| {
        let now = Timestamp::now() + SignedDuration::from_hours(24 * days);
        let prune = Prune::new(&proofs.f.repo, &data, Kinds::default(), Rules::default(), now);
        let plan = prune.plan().expect("a plan");
        let removed = plan.items.iter().map(|item| prune.remove(item).expect("looked at").is_some());
        (plan.items.iter().map(|item| item.what.name()).collect::<Vec<_>>(), removed.collect::<Vec<_>>())
    };
    assert_eq!(prune(6), (vec![], vec![]));
    let (found, removed) = prune(8);
    assert_eq!((found.len(), removed), (3, vec![false; 3]), "a proof is being made");
    drop(lease);
    let (found, removed) = prune(8);
    assert_eq!(removed, [true, true], "{found:?}");
    assert_eq!(proofs.pool.leftovers().expect("a list"), []);
    assert_eq!(names(proofs.prepared().tree()), ["a.txt", "dir/b.txt"]);
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
    // A directory of the commit that leads elsewhere is not followed.
    let elsewhere = proofs.f.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("directory");
    fs::remove_dir_all(proofs.f.path("conf")).expect("remove");
    std::os::unix::fs::symlink(&elsewhere, proofs.f.path("conf")).expect("a link");
    proofs.f.git(&["add", "-f", "conf"]);
    proofs.f.git(&["commit", "-qm", "a link"]);
    proofs.prepare(&mut lease);
    assert_eq!(fs::read_dir(&elsewhere).expect("a directory").count(), 0);
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
fn l4_a_sparse_checkout_is_proven_whole() {
    let f = Fixture::new();
    f.write("big/x", "x");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "more"]);
    f.git(&["sparse-checkout", "set", "dir"]);
    assert!(!f.path("big/x").exists());
    let proofs = Proofs::start(f);
    let lease = proofs.prepared();
    assert_eq!(names(lease.tree()), ["a.txt", "big/x", "dir/b.txt"]);
    assert_eq!(proofs.git_there(&lease, &["ls-files", "-t"]), "H a.txt\nH big/x\nH dir/b.txt");
}

#[test]
fn l4_a_partial_clone_can_be_proven_with_what_was_left_out() {
    let f = Fixture::new();
    f.git(&["config", "uploadpack.allowFilter", "true"]);
    let (from, to) = (format!("file://{}", f.repo.toplevel().display()), f.dir.path().join("partial"));
    let args = ["clone", "-q", "--filter=blob:none", &from, to.to_str().expect("a name")];
    assert!(git_in(f.dir.path(), f.dir.path(), &args).status.success());
    let proofs = Proofs::start(Fixture::open(f.dir, &to));
    proofs.f.write("new", "of the agent\n");
    proofs.commit_all();
    let lease = proofs.prepared();
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt", "new"]);
    assert_eq!(proofs.git_there(&lease, &["log", "--format=%s"]), "work\nc3\nc2\nc1");
    // The first version of the file was never fetched.
    assert_eq!(proofs.git_there(&lease, &["show", "HEAD~3:a.txt"]), "one\ntwo\n1");
}

#[test]
fn l4_tags_and_history_are_there() {
    let f = Fixture::new();
    f.git(&["tag", "-a", "v1.0", "-m", "one", "HEAD~1"]);
    let proofs = Proofs::start(f);
    proofs.f.write("new", "x");
    proofs.commit_all();
    let lease = proofs.prepared();
    let described = proofs.git_there(&lease, &["describe", "--tags", "--long"]);
    assert!(described.starts_with("v1.0-2-g"), "{described}");
}

#[test]
fn l4_a_branch_whose_objects_are_gone_does_not_keep_a_commit_from_its_proof() {
    let f = Fixture::new();
    f.git(&["checkout", "-q", "--orphan", "lost"]);
    f.git(&["commit", "-qm", "lost"]);
    f.git(&["checkout", "-q", "main"]);
    let proofs = Proofs::start(f);
    proofs.f.git(&["branch", "-D", "-q", "lost"]);
    proofs.f.git(&["reflog", "expire", "--expire=now", "--all"]);
    proofs.f.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(names(proofs.prepared().tree()), ["a.txt", "dir/b.txt"]);
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
fn l4_a_commit_that_is_gone_is_said() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    let gone = dacapo_core::git::Oid::parse(&"1".repeat(40)).expect("an id");
    let request = Request {
        source: &proofs.f.repo,
        commit: &gone,
        snapshot: &proofs.snapshot,
        setup: &[],
        base: None,
        start: Start::Caches,
        run: ProofRun::Commit,
        checks: &[],
        tests: &TestsPolicy::default(),
        env: &[],
        workspace: None,
        guarded: None,
        held_out: None,
    };
    let error = lease.prepare(&request).expect_err("no such commit").to_string();
    assert!(error.contains("copy the commit for its proof"), "{error}");
    proofs.prepare(&mut lease);
    assert_eq!(names(lease.tree()), ["a.txt", "dir/b.txt"]);
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
    // Open to all, as temp is, in a directory that nobody else can enter.
    let temp = lease.tree().with_file_name("temp");
    while let Some(path) = open.pop() {
        let meta = fs::symlink_metadata(&path).expect("metadata");
        let expected = if meta.is_dir() { 0o700 } else { 0o600 };
        if meta.mode() & 0o777 != expected {
            wrong.push(path.clone());
        }
        if meta.is_dir() {
            let below = fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("entry").path());
            open.extend(below.filter(|path| path != lease.tree() && path.parent() != Some(&temp)));
        }
    }
    assert_eq!(wrong, [] as [PathBuf; 0]);
}

/// The same with a git that first runs `line` of a shell script, with git's arguments.
fn with_git(proofs: Proofs, line: &str) -> Proofs {
    let bin = proofs.f.dir.path().join("bin");
    fs::create_dir(&bin).expect("directory");
    let real =
        String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().expect("sh").stdout);
    let real = real.expect("a path");
    fs::write(bin.join("git"), format!("#!/bin/sh\n{line}\nexec {} \"$@\"\n", real.trim())).expect("write");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("mode");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(bin).chain(std::env::split_paths(&path));
    let env = env(proofs.f.dir.path()).with([("PATH", std::env::join_paths(all).expect("a path"))]);
    let repo = Repo::discover(proofs.f.repo.toplevel(), &env).expect("a repository");
    Proofs { f: Fixture { repo, ..proofs.f }, ..proofs }
}

#[test]
fn l4_a_proof_starts_few_git_processes() {
    let proofs = Proofs::start(Fixture::new());
    let log = proofs.f.dir.path().join("log");
    let proofs = with_git(proofs, &format!("echo x >> {}", log.display()));
    let mut lease = proofs.prepared();
    proofs.f.write("a.txt", "changed\n");
    proofs.commit_all();
    fs::remove_file(&log).expect("remove");
    proofs.prepare(&mut lease);
    // The fetch itself, and those that it starts with the same program (upload-pack, and its pack-objects by git's own
    // path); the checkout; the list of its files.
    assert_eq!(fs::read_to_string(&log).expect("read").lines().count(), 4);
    fs::remove_file(&log).expect("remove");
    proofs.prepare(&mut lease);
    assert_eq!(fs::read_to_string(&log).expect("read").lines().count(), 2, "the store has it already");
}

#[test]
fn r1_a_lock_that_a_killed_git_left_in_the_store_is_in_no_way() {
    let proofs = Proofs::start(Fixture::new());
    let mut lease = proofs.prepared();
    proofs.f.write("a.txt", "changed\n");
    proofs.commit_all();
    let refs = proofs.f.dir.path().join("data/store.git/refs/dacapo");
    let lock = refs.join(format!("{}.lock", proofs.f.oid("HEAD").as_str()));
    fs::write(&lock, "").expect("write");
    proofs.prepare(&mut lease);
    assert_eq!(fs::read_to_string(lease.tree().join("a.txt")).expect("read"), "changed\n");
    assert!(!lock.exists());
}

#[test]
fn l4_a_git_that_something_killed_is_started_once_more() {
    let proofs = Proofs::start(Fixture::new());
    let killed = proofs.f.dir.path().join("killed");
    let line = "case \"$*\" in *upload-pack*) [ -e KILLED ] || { : > KILLED; kill -9 $$; };; esac";
    let proofs = with_git(proofs, &line.replace("KILLED", &killed.display().to_string()));
    let lease = proofs.prepared();
    assert!(killed.exists());
    assert_eq!(proofs.git_there(&lease, &["rev-parse", "HEAD"]), proofs.f.oid("HEAD").as_str());
}
