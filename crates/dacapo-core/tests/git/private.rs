//! A task's own repository, and what is carried from it into the user's (S3).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use dacapo_core::git::{Carried, Oid, Problem, Repo, WorktreeError};

use crate::fixture::{Fixture, env, git_in, temp};

const BRANCH: &str = "refs/heads/dacapo/x";
const RESCUE: &str = "refs/dacapo/rescue/x";

/// The user's repository, and a task's own at `wt`.
struct Pair {
    user: Fixture,
    own: Repo,
}

impl Pair {
    fn new() -> Self {
        Self::of(Fixture::new())
    }

    fn of(user: Fixture) -> Self {
        let at = user.dir.path().join("wt");
        let own = user.repo.add_worktree(&at, "dacapo/x", &user.oid("HEAD")).expect("a worktree");
        Self { user, own }
    }

    fn at(&self) -> PathBuf {
        self.user.dir.path().join("wt")
    }

    fn try_git(&self, words: &[&str]) -> std::process::Output {
        git_in(self.user.dir.path(), &self.at(), words)
    }

    fn git(&self, words: &[&str]) -> String {
        let output = self.try_git(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn commit(&self, name: &str, text: &str) -> Oid {
        fs::write(self.at().join(name), text).expect("a file");
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", name]);
        Oid::parse(&self.git(&["rev-parse", "HEAD"])).expect("an id")
    }

    fn carry(&self) -> Result<Carried, WorktreeError> {
        self.user.repo.carry_now(&self.at(), BRANCH, RESCUE)
    }

    fn carried(&self) -> String {
        self.user.git(&["rev-parse", BRANCH])
    }
}

/// Every file of a git directory, but for what carrying adds.
fn digest(git_dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let ours = ["refs/heads/dacapo", "refs/dacapo", "logs/refs/heads/dacapo", "logs/refs/dacapo", "objects"];
    let (mut open, mut files) = (vec![git_dir.to_owned()], BTreeMap::new());
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a directory").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            let name = path.strip_prefix(git_dir).expect("below").to_owned();
            if ours.iter().any(|ours| name == Path::new(ours)) || name == Path::new("dacapo.lock") {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else {
                files.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    files
}

fn objects(git_dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut open = vec![git_dir.join("objects")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a directory").flatten() {
            if entry.path().is_dir() { open.push(entry.path()) } else { all.push(entry.path()) }
        }
    }
    all
}

const NASTY: &[&[&str]] = &[
    &["stash", "-u"],
    &["stash", "clear"],
    &["branch", "-D", "other"],
    &["tag", "-d", "v1"],
    &["branch", "-f", "main", "HEAD~1"],
    &["update-ref", "refs/heads/new", "HEAD~2"],
    &["config", "user.name", "Eve"],
    &["config", "core.hooksPath", "/tmp/evil"],
    &["remote", "add", "evil", "/nowhere"],
    &["pack-refs", "--all"],
    &["reflog", "expire", "--expire=now", "--all"],
    &["gc", "-q", "--prune=now"],
];

fn stays_as_it_is(options: &[&str]) {
    let f = Fixture::with_init(options);
    f.git(&["branch", "other", "HEAD~1"]);
    f.git(&["tag", "v1", "HEAD~2"]);
    f.write("a.txt", "stashed\n");
    f.git(&["stash"]);
    let pair = Pair::of(f);
    let git_dir = pair.user.repo.git_dir().to_owned();
    let refs = || -> Vec<String> {
        let all = pair.user.git(&["for-each-ref"]);
        all.lines().filter(|line| !line.contains("dacapo/")).map(str::to_owned).collect()
    };
    let reftable = git_dir.join("reftable").exists();
    let (before, refs_before, had) = (digest(&git_dir), refs(), objects(&git_dir));
    assert_eq!(
        pair.git(&["rev-parse", "main", "other", "v1"]),
        pair.user.git(&["rev-parse", "main", "other", "v1"])
    );
    let tip = pair.commit("work", "1\n");
    fs::write(pair.at().join("loose"), "x").expect("a file");
    for words in NASTY {
        pair.git(words);
    }
    assert_eq!(digest(&git_dir), before);
    assert_eq!(pair.carry().expect("carried").tip, Some(tip.clone()));
    assert_eq!(pair.carried(), tip.to_string());
    assert_eq!(refs(), refs_before);
    assert!(had.iter().all(|path| path.exists()), "no object of the user's is gone");
    if !reftable {
        assert_eq!(digest(&git_dir), before);
    }
    assert_eq!(pair.user.git(&["stash", "list"]).lines().count(), 1);
    pair.user.git(&["fsck", "--strict"]);
    // Once more there is nothing to do.
    assert_eq!(pair.carry().expect("carried"), Carried { tip: Some(tip), refs: Vec::new() });
}

#[test]
fn s3_whatever_an_agent_does_with_git_stays_in_its_own_repository() {
    stays_as_it_is(&[]);
}

#[test]
fn s3_also_with_sha256() {
    stays_as_it_is(&["--object-format=sha256"]);
}

#[test]
fn s3_also_with_reftable() {
    stays_as_it_is(&["--ref-format=reftable"]);
}

#[test]
fn s3_branches_remotes_and_settings_come_along_and_hooks_do_not() {
    let f = Fixture::new();
    let dir = f.dir.path().to_owned();
    assert!(git_in(&dir, &dir, &["clone", "-q", "--bare", "repo", "origin.git"]).status.success());
    f.git(&["remote", "add", "origin", "../origin.git"]);
    f.git(&["fetch", "-q"]);
    f.git(&["remote", "set-head", "origin", "main"]);
    f.git(&["config", "alias.last", "log -1 --format=%s"]);
    f.git(&["config", "core.hooksPath", "my-hooks"]);
    let hook = "#!/bin/sh\ntouch \"$HOME/ran\"\n";
    for at in [f.repo.git_dir().join("hooks"), f.path("my-hooks")] {
        fs::create_dir_all(&at).expect("hooks");
        fs::write(at.join("pre-commit"), hook).expect("a hook");
        fs::set_permissions(at.join("pre-commit"), fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    // An identity that holds for repositories in this place alone.
    let home = dir.join("home");
    fs::write(home.join("work.inc"), "[user]\nemail = ada@work.example\n").expect("settings");
    let text = fs::read_to_string(home.join(".gitconfig")).expect("settings");
    let more = format!("[includeIf \"gitdir:{}/repo/\"]\npath = work.inc\n", dir.display());
    fs::write(home.join(".gitconfig"), text + &more).expect("settings");

    let pair = Pair::of(f);
    assert_eq!(pair.git(&["last", "main"]), "c3");
    assert_eq!(pair.git(&["log", "-1", "--format=%s", "origin/HEAD"]), "c3");
    pair.git(&["fetch", "origin"]);
    let origin = pair.git(&["remote", "get-url", "origin"]);
    assert_eq!(Path::new(&origin), dir.join("origin.git").canonicalize().expect("a path"));
    pair.commit("work", "1");
    assert!(!home.join("ran").exists(), "a hook of the user's ran");
    assert_eq!(pair.git(&["log", "-1", "--format=%ae"]), "ada@work.example");
    // A push to `origin` goes to the user's own remote, and not to the user's checkout.
    pair.git(&["push", "-q", "origin", "HEAD:refs/heads/pushed"]);
    assert!(!pair.user.try_git(&["rev-parse", "-q", "--verify", "refs/heads/pushed"]).status.success());
    assert_eq!(pair.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(pair.user.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn s3_the_base_is_kept_from_gc() {
    let f = Fixture::new();
    let pair = Pair::of(f);
    let base = pair.user.git(&["rev-parse", "HEAD"]);
    pair.user.git(&["commit", "-q", "--amend", "-m", "another"]);
    pair.user.git(&["update-ref", "-d", BRANCH]);
    pair.user.git(&["reflog", "expire", "--expire=now", "--all"]);
    pair.user.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(pair.git(&["rev-parse", "HEAD"]), base);
    pair.git(&["fsck", "--strict"]);
    let tip = pair.commit("work", "1");
    assert_eq!(pair.carry().expect("carried").tip, Some(tip));
}

#[test]
fn s3_a_broken_object_is_named_and_moves_nothing() {
    let pair = Pair::new();
    let before = pair.carried();
    let tip = pair.commit("work", "the right content");
    let blob = pair.git(&["rev-parse", "HEAD:work"]);
    let file = pair.at().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    let other = pair.git(&["hash-object", "-w", "--stdin-paths"]);
    assert_eq!(other, "");
    // Another blob's bytes under this one's name.
    fs::write(pair.at().join("evil"), "evil").expect("a file");
    let evil = pair.git(&["hash-object", "-w", "evil"]);
    fs::remove_file(&file).expect("removed");
    fs::copy(pair.at().join(".git/objects").join(&evil[..2]).join(&evil[2..]), &file).expect("a copy");
    let error = pair.carry().expect_err("refused").to_string();
    assert!(error.contains(&blob) || error.contains(tip.as_str()) || error.contains("missing"), "{error}");
    assert_eq!(pair.carried(), before);
    pair.user.git(&["fsck", "--strict"]);
    // A commit without a name of its author is not taken over either.
    let pair = Pair::new();
    let tree = pair.git(&["rev-parse", "HEAD^{tree}"]);
    fs::write(pair.at().join("raw"), format!("tree {tree}\nauthor  <> 1 +0000\ncommitter x 1 +0000\n\nx\n"))
        .expect("a file");
    let bad = pair.git(&["hash-object", "-t", "commit", "-w", "--literally", "raw"]);
    pair.git(&["update-ref", BRANCH, &bad]);
    let error = pair.carry().expect_err("refused").to_string();
    assert!(error.contains("carry the task's commits over"), "{error}");
    assert_ne!(pair.carried(), bad);
}

#[test]
fn s3_what_leads_out_of_the_repository_is_named_and_not_followed() {
    let swap = |pair: &Pair, name: &str, to: &Path| {
        let path = pair.at().join(".git").join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).expect("removed");
        } else {
            let _ = fs::remove_file(&path);
        }
        symlink(to, path).expect("a link");
    };
    type Plant = fn(&Pair, &dyn Fn(&Pair, &str, &Path));
    let plants: [Plant; 6] = [
        |pair, swap| swap(pair, "refs", &pair.user.repo.git_dir().join("refs")),
        |pair, swap| swap(pair, "HEAD", &pair.user.repo.git_dir().join("HEAD")),
        |pair, swap| swap(pair, "objects/pack", &pair.user.repo.git_dir().join("objects/pack")),
        |pair, _| {
            let common = pair.user.repo.git_dir().display().to_string();
            fs::write(pair.at().join(".git/commondir"), common).expect("a file");
        },
        |pair, _| {
            fs::remove_dir_all(pair.at().join(".git")).expect("removed");
            symlink(pair.user.repo.git_dir(), pair.at().join(".git")).expect("a link");
        },
        |pair, _| {
            fs::remove_dir_all(pair.at().join(".git")).expect("removed");
            let text = format!("gitdir: {}\n", pair.user.repo.git_dir().display());
            fs::write(pair.at().join(".git"), text).expect("a file");
        },
    ];
    for (number, plant) in plants.iter().enumerate() {
        let pair = Pair::new();
        let before = digest(pair.user.repo.git_dir());
        fs::write(pair.at().join("work"), "1").expect("a file");
        plant(&pair, &swap);
        let error = pair.carry().expect_err("refused").to_string();
        assert!(error.contains("leads out of the task's own repository"), "{number}: {error}");
        let gone = pair.own.prepare_commit(&Fixture { exclusive: true, ..pair_fixture(&pair) }.request());
        let problems = gone.expect("told").problems;
        assert!(
            problems.iter().any(|problem| matches!(problem, Problem::LinkReplaced(_))),
            "{number}: {problems:?}"
        );
        assert_eq!(digest(pair.user.repo.git_dir()), before, "{number}");
    }
}

/// A fixture whose only use is its request.
fn pair_fixture(pair: &Pair) -> Fixture {
    let dir = temp();
    let at = dir.path().join("repo");
    assert!(git_in(dir.path(), &at, &["init", "-q"]).status.success());
    let mut fixture = Fixture::open(dir, &at);
    fixture.home = pair.user.repo.head().expect("head");
    fixture.home.branch = Some(BRANCH.into());
    fixture
}

#[test]
fn s3_settings_of_a_hostile_repository_start_nothing_and_a_fifo_is_named() {
    let pair = Pair::new();
    let ran = pair.user.dir.path().join("ran");
    let tip = pair.commit("work", "1");
    let touch = format!("touch {}", ran.display());
    for key in [
        "uploadpack.packObjectsHook",
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "core.pager",
    ] {
        pair.git(&["config", key, &touch]);
    }
    pair.git(&["config", "extensions.partialClone", "evil"]);
    pair.git(&["config", "remote.evil.url", &format!("ext::sh -c {touch}")]);
    pair.git(&["config", "remote.evil.promisor", "true"]);
    pair.git(&["config", "transfer.hideRefs", "refs"]);
    assert_eq!(pair.carry().expect("carried").tip, Some(tip));
    assert!(!ran.exists());
    pair.commit("more", "2");
    let fifo = pair.at().join(".git/objects/info/alternates");
    fs::remove_file(&fifo).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let error = pair.carry().expect_err("refused").to_string();
    assert!(error.contains("FIFO"), "{error}");
}

#[test]
fn s3_a_working_tree_set_elsewhere_is_not_followed() {
    let pair = Pair::new();
    pair.commit("work", "1");
    let top = pair.user.repo.toplevel().display().to_string();
    pair.git(&["config", "core.worktree", &top]);
    let error = pair.carry().expect_err("refused").to_string();
    assert!(error.contains("leads out of"), "{error}");
    assert_eq!(pair.user.status(), "");
}

#[test]
fn s3_what_the_user_did_on_the_branch_is_kept_before_it_moves() {
    let pair = Pair::new();
    pair.commit("first", "1");
    pair.carry().expect("carried");
    pair.user.git(&["checkout", "-q", "dacapo/x"]);
    pair.user.git(&["commit", "-q", "--allow-empty", "-m", "the user's"]);
    let users = pair.user.git(&["rev-parse", "HEAD"]);
    let tip = pair.commit("second", "2");
    let refused = pair.carry();
    assert!(matches!(refused, Err(WorktreeError::CheckedOut { .. })), "{refused:?}");
    pair.user.git(&["checkout", "-q", "main"]);
    assert_eq!(pair.carry().expect("carried").tip, Some(tip.clone()));
    assert_eq!(pair.carried(), tip.to_string());
    assert_eq!(pair.user.git(&["rev-parse", "refs/dacapo/rescue/x/replaced"]), users);
}

#[test]
fn s3_rescue_refs_are_carried_and_never_moved_back() {
    let pair = Pair::new();
    let tip = pair.commit("work", "1");
    let tree = pair.git(&["rev-parse", "HEAD^{tree}"]);
    pair.git(&["update-ref", "refs/dacapo/rescue/x/iter-1/head", tip.as_str()]);
    pair.git(&["update-ref", "refs/dacapo/rescue/x/iter-1/index", &tree]);
    pair.carry().expect("carried");
    let kept = |kind: &str| pair.user.git(&["rev-parse", &format!("refs/dacapo/rescue/x/iter-1/{kind}")]);
    assert_eq!((kept("head"), kept("index")), (tip.to_string(), tree));
    pair.git(&["update-ref", "refs/dacapo/rescue/x/iter-1/head", "HEAD~1"]);
    pair.git(&["update-ref", "-d", "refs/dacapo/rescue/x/iter-1/index"]);
    pair.carry().expect("carried");
    assert_eq!(kept("head"), tip.to_string());
    assert!(!kept("index").is_empty());
}

#[test]
fn s3_shallow_and_partial_clones_work() {
    for options in [&["--depth=1"][..], &["--filter=blob:none"], &["--filter=tree:0"]] {
        let origin = Fixture::new();
        origin.git(&["config", "uploadpack.allowFilter", "true"]);
        let dir = origin.dir.path().to_owned();
        let url = format!("file://{}", origin.repo.toplevel().display());
        let words = [&["clone", "-q"][..], options, &[url.as_str(), "clone"]].concat();
        assert!(git_in(&dir, &dir, &words).status.success(), "{options:?}");
        let at = dir.join("clone");
        let mut user = Fixture::open(origin.dir, &at);
        user.home = user.repo.head().expect("head");
        let pair = Pair::of(user);
        assert_eq!(fs::read_to_string(pair.at().join("dir/b.txt")).expect("a file"), "b\n", "{options:?}");
        let tip = pair.commit("work", "1\n");
        assert_eq!(pair.carry().expect("carried").tip, Some(tip), "{options:?}");
        assert_eq!(pair.user.git(&["show", "dacapo/x:work"]), "1");
        pair.git(&["fetch", "-q", "origin"]);
        pair.user.git(&["fsck"]);
        if options == ["--depth=1"] {
            assert_eq!(pair.git(&["log", "--format=%s"]), "work\nc3");
        }
    }
}

#[test]
fn s3_submodules_work() {
    let f = Fixture::new();
    let dir = f.dir.path().to_owned();
    assert!(git_in(&dir, &dir, &["clone", "-q", "repo", "sub.git"]).status.success());
    f.git(&["submodule", "add", "-q", &dir.join("sub.git").display().to_string(), "sub"]);
    f.git(&["commit", "-qm", "with a submodule"]);
    let before = digest(f.repo.git_dir());
    let pair = Pair::of(f);
    pair.git(&["submodule", "update", "--init", "-q"]);
    assert!(pair.at().join("sub/a.txt").exists());
    let tip = pair.commit("work", "1");
    assert_eq!(pair.carry().expect("carried").tip, Some(tip));
    assert_eq!(digest(pair.user.repo.git_dir()), before);
}

#[test]
fn s3_objects_of_lfs_are_carried_by_what_they_are() {
    let pair = Pair::new();
    let name = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let object = |git_dir: &Path, name: &str| {
        let dir = git_dir.join("lfs/objects").join(&name[..2]).join(&name[2..4]);
        fs::create_dir_all(&dir).expect("directories");
        dir.join(name)
    };
    let (own, user) = (pair.at().join(".git"), pair.user.repo.git_dir().to_owned());
    fs::write(object(&own, name), "hello").expect("an object");
    let false_name = name.replace("2cf2", "2cf3");
    fs::write(object(&own, &false_name), "hello").expect("an object");
    pair.commit(
        "pointer",
        &format!("version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize 5\n"),
    );
    pair.carry().expect("carried");
    assert_eq!(fs::read(object(&user, name)).expect("an object"), b"hello");
    assert!(!object(&user, &false_name).exists());
    fs::remove_dir_all(user.join("lfs")).expect("removed");
}

#[test]
fn s3_a_filter_of_the_users_makes_the_files() {
    let f = Fixture::new();
    f.git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    f.git(&["config", "filter.up.clean", "tr A-Z a-z"]);
    f.write(".gitattributes", "*.up filter=up\n");
    f.write("x.up", "SHOUT\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "filtered"]);
    let pair = Pair::of(f);
    assert_eq!(fs::read_to_string(pair.at().join("x.up")).expect("a file"), "SHOUT\n");
    assert_eq!(pair.git(&["show", "HEAD:x.up"]), "shout");
    assert_eq!(pair.git(&["status", "--porcelain"]), "");
}

#[test]
fn s3_a_removed_repository_is_made_again_around_the_files() {
    let pair = Pair::new();
    let tip = pair.commit("work", "1");
    pair.carry().expect("carried");
    fs::write(pair.at().join("uncommitted"), "kept").expect("a file");
    fs::remove_dir_all(pair.at().join(".git")).expect("removed");
    pair.user.repo.restore_worktree(&pair.at(), BRANCH, &tip).expect("restored");
    assert_eq!(pair.git(&["status", "--porcelain", "--branch"]), "## dacapo/x\n?? uncommitted");
    fs::remove_dir_all(pair.at()).expect("removed");
    pair.user.repo.restore_worktree(&pair.at(), BRANCH, &tip).expect("restored");
    assert_eq!(fs::read_to_string(pair.at().join("work")).expect("a file"), "1");
    let again = Repo::discover(&pair.at(), &env(pair.user.dir.path())).expect("a repository");
    assert_eq!(again.head().expect("head").commit, Some(tip));
}
