//! Repositories of every kind, and configurations that must not matter.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use dacapo_core::env::Env;
use dacapo_core::git::{DiscoverError, Lines, Repo, Whitespace, display_path};

use crate::fixture::{Fixture, changed, env, git_in, temp};

#[test]
fn what_is_no_repository_is_said() {
    let dir = temp();
    let at = dir.path().join("repo");
    let env = env(dir.path());
    let found = Repo::discover(&at, &env);
    assert!(matches!(found, Err(DiscoverError::NotARepository(_))), "{found:?}");
    assert!(git_in(dir.path(), &at, &["init", "-q", "--bare", "bare"]).status.success());
    let found = Repo::discover(&at.join("bare"), &env);
    assert!(matches!(found, Err(DiscoverError::Bare(_))), "{found:?}");
    assert!(git_in(dir.path(), &at, &["init", "-q", "full"]).status.success());
    let found = Repo::discover(&at.join("full/.git"), &env);
    assert!(matches!(found, Err(DiscoverError::InsideGitDir(_))), "{found:?}");
    let found = Repo::discover(&at, &env.with([("PATH", "/nonexistent-dir")]));
    assert!(matches!(found, Err(DiscoverError::Git(dacapo_core::git::GitError::Missing))), "{found:?}");
}

#[test]
fn git_is_run_with_the_environment_that_was_given_and_finds_no_other_repository_by_it() {
    let f = Fixture::new();
    let (bin, seen) = (f.dir.path().join("bin"), f.dir.path().join("seen"));
    fs::create_dir(&bin).expect("bin");
    let path = std::env::var("PATH").expect("PATH");
    let shim =
        format!("#!/bin/sh\nPATH='{path}' env > '{}'\nPATH='{path}' exec git \"$@\"\n", seen.display());
    fs::write(bin.join("git"), shim).expect("shim");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("mode");
    let other = f.dir.path().join("other");
    assert!(git_in(f.dir.path(), f.dir.path(), &["init", "-q", "other"]).status.success());
    let env: Env = [
        ("PATH", bin.as_os_str()),
        ("HOME", f.dir.path().join("home").as_os_str()),
        ("GIT_DIR", other.join(".git").as_os_str()),
        ("GIT_WORK_TREE", other.as_os_str()),
        ("GIT_INDEX_FILE", other.join("index").as_os_str()),
        ("OWN", "value".as_ref()),
    ]
    .map(|(name, value)| (name.into(), value.to_owned()))
    .into_iter()
    .collect();
    let repo = Repo::discover(f.repo.toplevel(), &env).expect("a repository");
    assert_eq!(repo.git_dir(), f.repo.git_dir());
    assert!(repo.dirt().expect("git").is_clean());
    let seen = fs::read_to_string(&seen).expect("the shim ran");
    assert!(seen.lines().any(|line| line == "OWN=value"), "{seen}");
    assert!(!seen.contains("GIT_INDEX_FILE"), "{seen}");
    // A shell sets these by itself.
    let strange = |line: &&str| {
        let name = line.split('=').next().unwrap_or_default();
        !["PATH", "HOME", "OWN", "PWD", "OLDPWD", "SHLVL", "_", "LC_ALL", "LANG"].contains(&name)
            && !name.starts_with("GIT_")
    };
    assert_eq!(seen.lines().filter(strange).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn found_from_below_and_with_a_line_break_in_its_name() {
    let dir = temp();
    let at = dir.path().join("repo/odd\nname");
    fs::create_dir_all(at.join("below")).expect("directories");
    assert!(git_in(dir.path(), &at, &["init", "-q"]).status.success());
    let mut f = Fixture::open(dir, &at.join("below"));
    assert_eq!(f.repo.toplevel(), at.canonicalize().expect("path"));
    f.write("x", "x");
    assert_eq!(changed(&f.commit()), ["A x"]);
}

#[test]
fn object_and_ref_formats() {
    for options in [&["--object-format=sha256"][..], &["--ref-format=reftable"][..]] {
        let probe = temp();
        if !git_in(probe.path(), &probe.path().join("repo"), &[&["init", "-q"], options].concat())
            .status
            .success()
        {
            continue;
        }
        let mut f = Fixture::unborn(options);
        f.write("first", "1");
        assert_eq!(changed(&f.commit()), ["A first"]);
        f.write("second", "2");
        f.commit();
        assert_eq!(f.status(), "");
        f.git(&["reset", "-q", "--hard", "HEAD~1"]);
        let prepared = f.prepare();
        assert_eq!((prepared.problems.len(), f.repo.head().expect("head")), (1, f.home.clone()));
    }
}

#[test]
fn hooks_signing_and_helpers_never_run() {
    let mut f = Fixture::new();
    let hooks = f.path(".git/hooks");
    fs::create_dir_all(&hooks).expect("hooks");
    let touched = f.dir.path().join("touched");
    let script = format!("#!/bin/sh\necho $0 >> '{}'\nexit 1\n", touched.display());
    let program = f.dir.path().join("program");
    let hook_names = [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "post-checkout",
        "fsmonitor-watchman",
        "pre-auto-gc",
    ];
    let files = hook_names.iter().map(|name| hooks.join(name)).chain([program.clone()]);
    for file in files {
        fs::write(&file, &script).expect("hook");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("mode");
    }
    let program = program.to_str().expect("a path");
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.program", program),
        ("core.fsmonitor", program),
        ("core.pager", program),
        ("core.editor", program),
        ("diff.external", program),
        ("gc.auto", "1"),
        ("core.hooksPath", hooks.to_str().expect("a path")),
        ("status.showUntrackedFiles", "no"),
        ("status.renames", "copies"),
        ("diff.renames", "copies"),
        ("core.quotePath", "true"),
        ("color.ui", "always"),
        ("status.relativePaths", "true"),
        ("diff.noprefix", "true"),
    ] {
        f.git(&["config", name, value]);
    }
    f.write("new é", "x");
    assert_eq!(changed(&f.commit()), ["A new é"]);
    let tip = f.home.commit.clone().expect("a tip");
    let made = f.repo.add_worktree(&f.dir.path().join("wt"), "dacapo/x", &tip).expect("a worktree");
    f.repo.remove_worktree(made.toplevel()).expect("removed");
    // HEAD moved behind our back, without hooks either.
    f.git(&[
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "reset",
        "-q",
        "--hard",
        "HEAD~1",
    ]);
    assert_eq!(f.prepare().problems.len(), 1);
    assert!(!touched.exists(), "{}", fs::read_to_string(&touched).unwrap_or_default());
}

#[test]
fn a_missing_name_does_not_stop_it() {
    let f = Fixture::new();
    f.git(&["config", "user.useConfigOnly", "true"]);
    fs::write(f.dir.path().join("home/.gitconfig"), "").expect("configuration");
    f.write("x", "x");
    let prepared = f.prepare();
    f.land(&prepared);
    assert_eq!(
        f.git(&["log", "-1", "--format=%an <%ae> %cn <%ce>"]),
        "Dacapo <dacapo@localhost> Dacapo <dacapo@localhost>"
    );
    f.write("y", "y");
    assert!(f.prepare().commit.is_some());
}

#[test]
fn messages_of_any_kind() {
    let f = Fixture::new();
    f.write("x", "x");
    let long = "長".repeat(60_000);
    for message in ["", "a\0b", "# not a comment\n\n\n\nx", long.as_str()] {
        let request = dacapo_core::git::CommitRequest { message, ..f.request() };
        assert!(f.repo.prepare_commit(&request).expect("prepared").commit.is_some());
    }
}

#[test]
fn the_environment_cannot_point_elsewhere() {
    // Variables of the process are not changed in tests that run in parallel: a child runs this test's other half.
    if std::env::var_os("DACAPO_TEST_CHILD").is_some() {
        let mut f = Fixture::new();
        f.write("x", "x");
        assert_eq!(changed(&f.commit()), ["A x"]);
        assert_eq!(f.status(), "");
        return;
    }
    let program = std::env::current_exe().expect("this test");
    let output = std::process::Command::new(program)
        .args(["--exact", "repositories::the_environment_cannot_point_elsewhere"])
        .envs([
            ("DACAPO_TEST_CHILD", "1"),
            ("GIT_DIR", "/nonexistent"),
            ("GIT_WORK_TREE", "/nonexistent"),
            ("GIT_INDEX_FILE", "/nonexistent/index"),
            ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
            ("GIT_NAMESPACE", "x"),
            ("GIT_AUTHOR_DATE", "bogus"),
            ("GIT_GLOB_PATHSPECS", "1"),
            ("LC_ALL", "de_DE.UTF-8"),
        ])
        .output()
        .expect("the child runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn c4_how_much_changed_is_known_before_the_commit() {
    let f = Fixture::new();
    let start = f.home.commit.clone().expect("a tip");
    f.write("own.txt", "1\n2\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "by the agent itself"]);
    f.write("a.txt", "one\nzwei\n");
    fs::remove_file(f.path("dir/b.txt")).expect("remove");
    fs::write(f.path("bin"), b"\0\x01").expect("write");
    f.git(&["add", "bin"]);
    f.write("new\nname", "x");
    f.write(".env", "KEY=1");
    f.write("big", &"x".repeat(101));
    let stats = f.repo.stat_since(Some(&start), 100).expect("counted");
    let shown: Vec<(String, Lines)> =
        stats.into_iter().map(|stat| (display_path(&stat.path), stat.lines)).collect();
    let counted = |added, removed| Lines::Counted { added, removed };
    assert_eq!(
        shown,
        [
            ("a.txt".to_owned(), counted(1, 2)),
            ("bin".to_owned(), Lines::Binary),
            ("dir/b.txt".to_owned(), counted(0, 1)),
            ("own.txt".to_owned(), counted(2, 0)),
            ("new\\nname".to_owned(), Lines::New),
        ]
    );
    let all = f.repo.stat_since(None, 100).expect("counted from nothing");
    assert_eq!(all.len(), 4, "a.txt, bin, own.txt and the new one: {all:?}");
}

#[test]
fn what_two_commits_differ_in_is_counted_and_written_as_a_patch() {
    let f = Fixture::new();
    let start = f.oid("HEAD");
    f.write("a.txt", "one\n\ttwo\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "first"]);
    let before = f.oid("HEAD");
    f.write("a.txt", "one\n  two\nthree\n");
    f.write("space only", "x\n");
    fs::write(f.path("bin"), b"\0\x01").expect("write");
    f.git(&["add", "-A"]);
    f.git(&["config", "diff.noprefix", "true"]);
    f.git(&["commit", "-qm", "second"]);
    let tip = f.oid("HEAD");
    let stat = |base, whitespace| {
        let stats = f.repo.stat_between(base, &tip, whitespace, &[]).expect("counted");
        stats.into_iter().map(|stat| (display_path(&stat.path), stat.lines)).collect::<Vec<_>>()
    };
    let counted = |added, removed| Lines::Counted { added, removed };
    let named = |name: &str, lines| (name.to_owned(), lines);
    assert_eq!(
        stat(Some(&before), Whitespace::Counts),
        [named("a.txt", counted(2, 1)), named("bin", Lines::Binary), named("space only", counted(1, 0))]
    );
    assert_eq!(stat(Some(&before), Whitespace::Ignored)[0], named("a.txt", counted(1, 0)));
    assert!(stat(None, Whitespace::Counts).len() > stat(Some(&start), Whitespace::Counts).len() - 1);
    let one = f.repo.stat_between(Some(&before), &tip, Whitespace::Counts, &["space only".into()]);
    assert_eq!(one.expect("counted").len(), 1, "a path with a space is one path");
    let to = f.dir.path().join("patch");
    f.repo.write_patch(Some(&before), &tip, Whitespace::Counts, &[], &to).expect("written");
    let patch = fs::read_to_string(&to).expect("a patch");
    let files: Vec<&str> = patch.lines().filter(|line| line.starts_with("diff --git ")).collect();
    assert_eq!(
        files,
        ["diff --git a/a.txt b/a.txt", "diff --git a/bin b/bin", "diff --git a/space only b/space only"],
        "the prefixes that people have turned off are there"
    );
    assert!(patch.contains("\n-\ttwo\n+  two\n+three\n"), "{patch}");
}
