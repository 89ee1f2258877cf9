//! Repositories of every kind, and settings of the user that must not get into the way of a commit.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Ran, World};

/// One file an iteration.
const AGENT: &str = "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";

/// Runs task `t` for two iterations in `dir`.
fn run_in(world: &World, dir: &Path, flags: &[&str]) -> Ran {
    let words = ["exec", "--name", "t", "--iter", "2", "--agent-cmd", AGENT];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).chain(["go"]).collect();
    Ran::from(world.command(&words).current_dir(dir).output().unwrap())
}

fn run(world: &World, flags: &[&str]) -> Ran {
    run_in(world, &world.repo(), flags)
}

const TWO: [&str; 3] = ["[iter-1] did it", "[iter-0] did it", "first"];

#[test]
fn a_repository_without_commits_gets_its_first_from_the_loop() {
    let world = World::without_repo();
    world.git(&["init", "-q", "-b", "main"]);
    run(&world, &[]).expect(0).says("2 commits on main");
    assert_eq!(world.subjects(), TWO[..2]);
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn c10_files_without_any_commit_become_one_of_their_own() {
    let world = World::without_repo();
    world.git(&["init", "-q", "-b", "main"]);
    world.write("mine", "mine\n");
    let _ = run(&world, &["--allow-dirty"]).expect(0);
    assert_eq!(world.subjects(), ["[iter-1] did it", "[iter-0] did it", "Uncommitted changes before t"]);
    assert_eq!(world.changed("HEAD~2"), ["mine"]);
    assert_eq!(world.at("refs/dacapo/rescue/t/before/tree", "mine"), "mine");
}

#[test]
fn u6_a_repository_without_commits_cannot_have_a_worktree() {
    let world = World::without_repo();
    world.git(&["init", "-q", "-b", "main"]);
    run(&world, &["--worktree"])
        .expect(2)
        .says("a repository without commits cannot have a worktree")
        .says("do:   commit something first");
    assert!(world.tasks().is_empty());
}

#[test]
fn u6_no_repository_and_a_bare_one_are_refused() {
    let world = World::without_repo();
    run(&world, &[]).expect(2).says("is not in a git repository").says("do:   git init");
    world.git(&["init", "-q", "--bare"]);
    run(&world, &[]).expect(2).says("is a bare repository").says("do:   git clone it");
    let other = World::new();
    run_in(&other, &other.repo().join(".git"), &[]).expect(2).says("is inside a .git directory");
    assert!(world.tasks().is_empty() && other.tasks().is_empty());
}

#[test]
fn a_detached_head_stays_detached() {
    let world = World::new();
    world.git(&["checkout", "-q", "--detach"]);
    run(&world, &[]).expect(0).says("here, on a detached HEAD").says("2 commits on a detached HEAD");
    assert_eq!(world.subjects(), TWO);
    assert_eq!(world.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
    assert_eq!(world.git(&["log", "--format=%s", "main"]), "first");
    world.ended("completed", [2, 2, 0]);
}

/// `repo` with the submodule `sub`.
fn with_submodule() -> World {
    let world = World::new();
    let inner = world.scratch("inner");
    world.git(&["init", "-q", "-b", "main", inner.to_str().unwrap()]);
    fs::write(inner.join("a"), "a\n").unwrap();
    world.git_in(&inner, &["add", "-A"]);
    world.git_in(&inner, &["commit", "-qm", "inner"]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.to_str().unwrap(), "sub"];
    world.git(&add);
    world.git(&["commit", "-qm", "sub"]);
    world
}

#[test]
fn inside_a_submodule_its_own_history_grows() {
    let world = with_submodule();
    let sub = world.repo().join("sub");
    let _ = run_in(&world, &sub, &[]).expect(0);
    assert_eq!(world.git_in(&sub, &["log", "--format=%s"]), "[iter-1] did it\n[iter-0] did it\ninner");
    assert_eq!(world.subjects(), ["sub", "first"]);
    world.assert_nothing_left("t");
}

#[test]
fn a_superproject_takes_the_submodules_new_commit_and_tells_of_its_dirt() {
    let world = with_submodule();
    let agent =
        "cd sub; echo $DACAPO_ITERATION > a; git commit -qam moved$DACAPO_ITERATION; echo loose > loose";
    let words = ["--name", "t", "--iter", "2", "--agent-cmd", agent, "go"];
    world.exec(&words).expect(0).says("note    submodule sub has changes that are in no commit");
    assert_eq!(world.changed("HEAD"), ["sub"]);
    let pinned = world.git(&["rev-parse", "HEAD:sub"]);
    assert_eq!(pinned, world.git_in(&world.repo().join("sub"), &["rev-parse", "HEAD"]));
    assert_eq!(world.read("sub/loose"), "loose\n");
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn inside_a_linked_worktree_its_own_branch_grows() {
    let world = World::new();
    let linked = world.scratch("linked");
    world.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    run_in(&world, &linked, &[]).expect(0).says("here, on side");
    assert_eq!(world.git(&["log", "--format=%s", "side"]).lines().collect::<Vec<_>>(), TWO);
    assert_eq!(world.subjects(), ["first"]);
    world.ended("completed", [2, 2, 0]);
    // A repository has one set of names, whichever of its worktrees one stands in.
    let again = run_in(&world, &world.repo(), &[]).expect(2);
    again.says("Task 't' already exists");
}

#[test]
fn a_subdirectory_and_a_symbolic_link_lead_to_the_same_repository() {
    let world = World::new();
    world.write("deep/er/x", "x\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "deep"]);
    let _ = run_in(&world, &world.repo().join("deep/er"), &[]).expect(0);
    assert_eq!(world.read("f1"), "1\n", "the agent works at the top");
    let link = world.scratch("link");
    std::os::unix::fs::symlink(world.repo(), &link).unwrap();
    let shown = world.command(&["status", "t"]).current_dir(&link).output().unwrap();
    assert!(shown.status.success(), "the task is found through the link");
    let words = ["exec", "--name", "u", "--agent-cmd", "echo u > u", "go"];
    let ran = Ran::from(world.command(&words).current_dir(&link).output().unwrap()).expect(0);
    ran.says("here, on main");
    assert_eq!(world.changed("HEAD"), ["u"]);
    assert_eq!(world.tasks(), ["t", "u"]);
}

#[test]
fn a_path_with_spaces_and_other_letters_works() {
    let world = World::new();
    let odd = world.scratch("ein Haus 屋 'quoted' \"twice\"");
    fs::rename(world.repo(), &odd).unwrap();
    let _ = run_in(&world, &odd, &["--worktree"]).expect(0);
    assert_eq!(world.git_in(&odd, &["log", "--format=%s", "dacapo/t"]).lines().collect::<Vec<_>>(), TWO);
    let words = ["exec", "--name", "u", "--agent-cmd", "echo u > u", "-C", odd.to_str().unwrap(), "go"];
    let _ = Ran::from(world.command(&words).current_dir(world.home()).output().unwrap()).expect(0);
    assert_eq!(world.git_in(&odd, &["log", "-1", "--format=", "--name-only"]), "u");
}

#[test]
fn c3_every_file_name_survives() {
    const NAMES: [&[u8]; 8] = [
        b"with space",
        b"quote\"and'tick",
        b"line\nbreak",
        "屋.txt".as_bytes(),
        b"-rf",
        b"bad\xff\xfeutf8",
        b"tab\t",
        b"back\\slash",
    ];
    let world = World::new();
    let store = world.scratch("store");
    fs::create_dir(&store).unwrap();
    for name in NAMES {
        fs::write(store.join(OsStr::from_bytes(name)), name).unwrap();
    }
    // All are added, then one is moved and one removed.
    let agent = "case $DACAPO_ITERATION in 0) cp ../store/* . ;; 1) mv -- -rf -moved; rm 'with space';; esac";
    let _ = world.exec(&["--name", "t", "--iter", "2", "--agent-cmd", agent, "go"]).expect(0);
    let list = |rev: &str| {
        let out = world.git_output(&["ls-tree", "-z", "--name-only", rev]);
        let mut names: Vec<Vec<u8>> =
            out.stdout.split(|b| *b == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect();
        names.sort();
        names
    };
    let mut expected: Vec<Vec<u8>> =
        NAMES.iter().map(|name| name.to_vec()).chain([b"README.md".to_vec()]).collect();
    expected.sort();
    assert_eq!(list("HEAD~1"), expected);
    assert_eq!(list("HEAD").len(), NAMES.len());
    let records = world.events("t", "iteration_finished");
    assert_eq!(records[0]["changed_files_total"], 8);
    let moved: Vec<&str> =
        records[1]["changed_files"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(moved, ["-moved", "-rf", "with space"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn c9_hooks_are_never_run() {
    let world = World::new();
    let hook = format!("#!/bin/sh\ntouch '{}'\nsleep 1000\n", world.scratch("ran").display());
    let names = [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
    ];
    for name in names {
        let path = world.repo().join(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &hook).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let _ = run(&world, &["--worktree"]).expect(0);
    let _ = world.exec(&["--name", "u", "--agent-cmd", "echo u > u", "go"]).expect(0);
    assert!(!world.scratch("ran").exists());
    assert_eq!(world.subjects().len(), 2);
}

#[test]
fn c9_signing_is_left_for_later() {
    let world = World::new();
    let gpg = world.program("bogus-gpg", "#!/bin/sh\nexit 1\n");
    for (key, value) in
        [("commit.gpgsign", "true"), ("gpg.program", gpg.to_str().unwrap()), ("user.signingkey", "x")]
    {
        world.git(&["config", key, value]);
    }
    let _ = run(&world, &[]).expect(0);
    assert_eq!(world.subjects(), TWO);
    assert_eq!(world.git(&["log", "-1", "--format=%G?"]), "N");
}

#[test]
fn c9_a_missing_name_does_not_stop_a_commit() {
    let world = World::new();
    fs::remove_file(world.home().join(".gitconfig")).unwrap();
    world.git(&["config", "user.useConfigOnly", "true"]);
    let _ = run(&world, &[]).expect(0);
    assert_eq!(
        world.git(&["log", "-2", "--format=%an <%ae> %cn"]),
        ["Dacapo <dacapo@localhost> Dacapo"; 2].join("\n")
    );
}

#[test]
fn a_git_dir_in_the_environment_leads_nobody_astray() {
    let world = World::new();
    let other = world.scratch("other");
    world.git(&["init", "-q", other.to_str().unwrap()]);
    let words = ["exec", "--name", "t", "--iter", "2", "--agent-cmd", AGENT, "go"];
    let mut command = world.command(&words);
    command.env("GIT_DIR", other.join(".git")).env("GIT_INDEX_FILE", other.join("index"));
    command.env("GIT_WORK_TREE", &other).env("GIT_OBJECT_DIRECTORY", other.join("objects"));
    let _ = Ran::from(command.output().unwrap()).expect(0);
    assert_eq!(world.subjects(), TWO);
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1, "only its .git");
}

#[test]
fn u6_a_repository_of_somebody_else_is_refused_with_gits_own_remedy() {
    let world = World::new();
    // Only root can give a directory away; others have nothing to test here.
    if std::os::unix::fs::chown(world.repo(), Some(12345), None).is_err() {
        return;
    }
    std::os::unix::fs::chown(world.repo().join(".git"), Some(12345), None).unwrap();
    run(&world, &[])
        .expect(2)
        .says("git does not trust the repository at ")
        .says("do:   git config --global --add safe.directory ");
    assert!(world.tasks().is_empty());
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let world = World::new();
    world.git(&["config", "core.autocrlf", "true"]);
    world.write("crlf.txt", "one\r\ntwo\r\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "crlf"]);
    let agent = "printf 'one\\r\\ntwo\\r\\n' > crlf.txt; printf 'a\\r\\n' > new$DACAPO_ITERATION.txt";
    let _ = world.exec(&["--name", "t", "--iter", "2", "--agent-cmd", agent, "go"]).expect(0);
    assert_eq!(world.changed("HEAD"), ["new1.txt"]);
    assert_eq!(world.at("HEAD", "new1.txt"), "a");
    assert_eq!(world.read("new1.txt"), "a\r\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.ended("completed", [2, 2, 0]);
}

#[test]
fn sha256_and_reftable_repositories_work() {
    for format in [
        &["--object-format=sha256"][..],
        &["--ref-format=reftable"],
        &["--object-format=sha256", "--ref-format=reftable"],
    ] {
        let world = World::without_repo();
        let words: Vec<&str> = ["init", "-q", "-b", "main"].iter().chain(format).copied().collect();
        // An older git does not know one of them.
        let known = world.git_output(&words).status.success();
        if !known {
            continue;
        }
        let _ = run(&world, &[]).expect(0);
        assert_eq!(world.subjects(), TWO[..2], "{format:?}");
        let _ = world.exec(&["--name", "w", "--worktree", "--agent-cmd", "echo w > w", "go"]).expect(0);
        assert_eq!(world.git(&["log", "-1", "--format=", "--name-only", "dacapo/w"]), "w");
        let reset = "if [ $DACAPO_ITERATION = 1 ]; then git reset -q --hard HEAD~2; else echo > r$DACAPO_ITERATION; fi";
        world
            .exec(&["--name", "r", "--iter", "3", "--agent-cmd", reset, "go"])
            .expect(0)
            .says("and is back at main");
        assert_eq!(world.subjects().len(), 4);
    }
}

#[test]
fn thousands_of_ignored_files_are_left_alone() {
    let world = World::new();
    world.write(".gitignore", "target/\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "ignore"]);
    for number in 0..2000 {
        world.write(&format!("target/{}/{number}", number % 20), "");
    }
    let _ = run(&world, &[]).expect(0);
    assert_eq!(world.changed("HEAD"), ["f1"]);
    assert_eq!(fs::read_dir(world.repo().join("target")).unwrap().count(), 20);
    assert_eq!(world.events("t", "iteration_finished")[0]["changed_files_total"], 1);
}

#[test]
fn a_task_that_is_started_from_a_git_hook_works_in_its_own_worktree() {
    let world = World::new();
    let git_dir = world.repo().join(".git");
    let agent = "top=$(git rev-parse --show-toplevel); echo x > $top/x; git add $top/x; git commit -qm own";
    let check = "test \"$(git rev-parse --absolute-git-dir)\" != \"$GIT_DIR\"";
    let words =
        ["exec", "--name", "t", "--iter", "1", "--worktree", "--check", check, "--agent-cmd", agent, "go"];
    let mut command = world.command(&words);
    command.env("GIT_DIR", &git_dir).env("GIT_WORK_TREE", world.repo()).env("GIT_PREFIX", "");
    command.env("GIT_INDEX_FILE", git_dir.join("index")).env("GIT_AUTHOR_NAME", "Grace");
    command.env("GIT_OBJECT_DIRECTORY", git_dir.join("objects")).env("GIT_CONFIG_COUNT", "1");
    command.env("GIT_CONFIG_KEY_0", "user.name").env("GIT_CONFIG_VALUE_0", "Eve");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(world.subjects(), ["first"], "the user's main is left alone: {}", ran.stdout);
    assert_eq!(world.git(&["log", "-1", "--format=%s %an", "dacapo/t"]), "own Grace");
}

#[test]
fn s9_undo_works_in_a_worktree_of_a_bare_repository() {
    let world = World::new();
    let (bare, at) = (world.scratch("bare.git"), world.scratch("at"));
    world.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    world.git_in(&bare, &["worktree", "add", "-q", at.to_str().unwrap(), "main"]);
    let _ = run_in(&world, &at, &["--worktree"]).expect(0);
    let tip = world.git_in(&bare, &["rev-parse", "dacapo/t"]);
    let order = |words: &[&str]| Ran::from(world.command(words).current_dir(&at).output().unwrap());
    let _ = order(&["drop", "t"]).expect(0);
    let _ = order(&["undo", "t"]).expect(0);
    assert_eq!(world.git_in(&bare, &["rev-parse", "dacapo/t"]), tip);
    let _ = order(&["merge", "t"]).expect(0);
    let _ = order(&["undo", "t"]).expect(0);
    assert_eq!(world.git_in(&bare, &["rev-parse", "dacapo/t"]), tip);
}

#[test]
fn u6_a_repository_whose_path_is_not_text_is_refused_by_name() {
    let world = World::new();
    let odd = world.scratch("x").with_file_name(OsStr::from_bytes(b"caf\xe9"));
    fs::rename(world.repo(), &odd).unwrap();
    for flags in [&["--worktree"][..], &[]] {
        let ran = run_in(&world, &odd, flags).expect(2);
        ran.says("caf\\xe9 is not valid UTF-8")
            .says("do:   rename the directory, or work in a clone at another path");
    }
    assert!(!world.data().join("repos").exists());
}
