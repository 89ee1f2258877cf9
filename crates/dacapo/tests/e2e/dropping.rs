//! `drop` and `undo`: what is dropped comes back bit for bit, whatever happens in between (S9).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Ran, World};

const AGENT: &str = "echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo did it";

fn task(world: &World, name: &str) -> PathBuf {
    let words = ["--worktree", "--name", name, "--iter", "2", "--agent-cmd", AGENT, "go"];
    let _ = world.exec(&words).expect(0);
    PathBuf::from(world.status(name)["worktree"].as_str().unwrap())
}

/// Everything below a directory: mode, time, content. Of git's files only what is the worktree's own.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            // What keeping adds there is named by its content; a killed git leaves a scratch index.
            let is_scratch =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"dacapo-scratch-"));
            if path.ends_with(".git/objects") || is_scratch {
                continue;
            }
            let content = if meta.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            let name = path.strip_prefix(root).unwrap().to_owned();
            // A scratch index comes and goes there.
            let (time, more) =
                if name == Path::new(".git") { (0, 0) } else { (meta.mtime(), meta.mtime_nsec()) };
            all.insert(name, (meta.mode(), time, more, content));
        }
    }
    all
}

/// All that `drop` takes: files, index, branch with its history, record.
#[derive(Debug, PartialEq)]
pub(crate) struct All {
    pub(crate) files: BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>,
    pub(crate) index: Vec<u8>,
    pub(crate) staged: String,
    pub(crate) status: String,
    pub(crate) log: String,
    pub(crate) reflog: Vec<u8>,
    record: BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>,
}

pub(crate) fn all(world: &World, name: &str) -> All {
    let at = PathBuf::from(world.status(name)["worktree"].as_str().unwrap());
    let git_dir = PathBuf::from(world.git_in(&at, &["rev-parse", "--absolute-git-dir"]));
    let index = fs::read(git_dir.join("index")).unwrap();
    let mut record = snapshot(&world.task_dir(name));
    // It names who had it last.
    record.remove(Path::new("lock"));
    All {
        files: snapshot(&at),
        index,
        staged: world.git_in(&at, &["ls-files", "-s", "-t", "--debug"]),
        // As a script would ask: without refreshing the index.
        status: world.git_in(
            &at,
            &["--no-optional-locks", "status", "--porcelain=v2", "--branch", "-uall", "--ignored"],
        ),
        log: world.git(&["log", "--format=%H %s", &format!("dacapo/{name}")]),
        reflog: fs::read(git_dir.join(format!("logs/refs/heads/dacapo/{name}"))).unwrap(),
        record,
    }
}

/// A worktree with all that a commit would lose or change.
pub(crate) fn make_a_mess(world: &World, at: &Path) {
    let write = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    let git = |words: &[&str]| world.git_in(at, words);
    // A clean filter that changes bytes, and line ends that git would change.
    world.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    write(".gitattributes", "*.up filter=upper\n*.crlf text eol=crlf\n");
    write("a.up", "lower\n");
    write("b.crlf", "one\r\ntwo\r\n");
    write(".gitignore", "ignored\nbuild/\n");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "attributes"]);
    // A merge that stopped at a conflict.
    git(&["switch", "-qc", "side", "HEAD~1"]);
    write("f0", "theirs\n");
    git(&["commit", "-qam", "theirs"]);
    git(&["switch", "-q", "dacapo/t"]);
    write("f0", "ours\n");
    git(&["commit", "-qam", "ours"]);
    let merge = world.git_output(&["-C", at.to_str().unwrap(), "merge", "side"]);
    assert!(!merge.status.success());
    git(&["branch", "-qD", "side"]);
    // Everything else.
    write("a.up", "changed lower\n");
    write("b.crlf", "mixed\r\nends\n");
    write("ignored", "secret\n");
    fs::create_dir_all(at.join("build/deep")).unwrap();
    write("build/deep/output", "x\n");
    fs::create_dir_all(at.join("empty/deeper")).unwrap();
    write("new\nline \"quoted\" \u{e9}\u{7e7c}", "untracked\n");
    write("run.sh", "#!/bin/sh\n");
    write("private", "0600\n");
    write("staged", "staged\n");
    write("intended", "intended\n");
    fs::set_permissions(at.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at.join("private"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(at.join("empty/deeper"), fs::Permissions::from_mode(0o700)).unwrap();
    symlink("/nowhere/at all", at.join("link")).unwrap();
    git(&["add", "staged"]);
    git(&["add", "-N", "intended"]);
    write("staged", "changed since\n");
}

fn dropped(world: &World) -> Vec<Value> {
    let ran = world.run(&["undo", "--list", "--json"]).expect(0);
    serde_json::from_str::<Vec<Value>>(&ran.stdout).unwrap()
}

#[test]
fn s9_what_was_dropped_comes_back_bit_for_bit() {
    let world = World::new();
    let at = task(&world, "t");
    make_a_mess(&world, &at);
    let before = all(&world, "t");

    world
        .run(&["drop", "t"])
        .expect(0)
        .says("dropped t: worktree and branch dacapo/t at ")
        .says("(not merged)")
        .says("next: dacapo undo t  bring it back");
    assert!(!at.exists() && world.tasks().is_empty());
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    world.run(&["status", "t"]).expect(2).says("Task 't' not found").says("dacapo undo t brings it back");
    world.run(&["drop", "t"]).expect(2).says("Task 't' is already dropped").says("dacapo undo t");
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue/t/"]);
    assert_eq!(kept.lines().filter(|name| name.ends_with("/tip")).count(), 1, "{kept}");
    // Git clears up as thoroughly as it can.
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "-q", "--prune=now"]);

    let [shown] = &dropped(&world)[..] else { panic!("one was dropped") };
    assert_eq!(
        (&shown["name"], &shown["why"], &shown["is_merged"]),
        (&"t".into(), &"dropped".into(), &false.into())
    );
    assert!(shown["bytes"].as_u64().unwrap() > 0);
    world.run(&["undo", "t"]).expect(0).says("t is back: branch dacapo/t and ");
    assert_eq!(all(&world, "t"), before);
    assert_eq!(dropped(&world), [] as [Value; 0]);
    assert_eq!(world.git_in(&at, &["show", ":3:f0"]), "theirs");
    assert_eq!(world.git_in(&at, &["show", ":staged"]), "staged");
    world.assert_nothing_left("t");
}

#[test]
fn s9_a_task_in_the_checkout_only_loses_its_record() {
    let world = World::new();
    let _ = world.exec(&["--name", "here", "--iter", "2", "--agent-cmd", AGENT, "go"]).expect(0);
    world.write("mine", "uncommitted\n");
    let (log, record) = (world.git(&["log", "--format=%H"]), snapshot(&world.task_dir("here")));
    world.run(&["drop", "here"]).expect(0).says("dropped here: its record; its commits stay where they are");
    assert!(world.tasks().is_empty());
    assert_eq!((world.git(&["log", "--format=%H"]), world.read("mine")), (log, "uncommitted\n".into()));
    // Without a name: what was put away last.
    world.run(&["undo"]).expect(0).says("here is back: its record");
    let mut back = snapshot(&world.task_dir("here"));
    let lock = PathBuf::from("lock");
    assert_eq!(back.remove(&lock).is_some(), record.contains_key(&lock));
    assert_eq!(back, record.into_iter().filter(|(name, _)| *name != lock).collect());
}

#[test]
fn s9_bad_input_drops_nothing() {
    let world = World::new();
    let at = task(&world, "a");
    let other = task(&world, "b");
    let before = world.everything();
    world.run(&["drop", "a,b,c"]).expect(2).says("Task 'c' not found").says("nothing was dropped");
    world.run(&["drop", "../a"]).expect(2).says("Task '../a' not found");
    world.run(&["drop", ","]).expect(2).says("no task was named");
    // The second is held by somebody: then the first stays too.
    world.git(&["checkout", "-q", "dacapo/b"]);
    world.run(&["drop", "a,b"]).expect(2).says("branch 'dacapo/b' is checked out at ").says(" switch ");
    world.git(&["checkout", "-q", "main"]);
    assert!(at.exists() && other.exists());
    // A look at a lock leaves the name of who looked.
    let without_locks = |mut files: BTreeMap<PathBuf, Vec<u8>>| {
        files.retain(|path, _| !path.ends_with("lock") && !path.starts_with(world.repo().join(".git")));
        files
    };
    assert_eq!(without_locks(world.everything()), without_locks(before));
    let _ = world.run(&["drop", "a,b", "--json"]).expect(0);
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
}

#[test]
fn s9_a_running_task_is_not_dropped() {
    let world = World::new();
    let (at_work, home) = (world.scratch("at-work"), world.home());
    let agent = format!("touch {}; while [ -d {} ]; do sleep 0.02; done", at_work.display(), home.display());
    let running = world.start(&["exec", "--worktree", "--name", "t", "--agent-cmd", &agent, "go"]);
    world.wait_for_file("at-work");
    world.run(&["drop", "t"]).expect(2).says("Task 't' is still running.").says("dacapo kill t");
    world.run(&["drop", "t", "--json"]).expect(2).says("\"exit_code\":2");
    running.signal(rustix::process::Signal::TERM);
    let _ = running.end();
    let _ = world.run(&["drop", "t"]).expect(0);
}

#[test]
fn s9_what_has_taken_its_place_is_not_overwritten() {
    let world = World::new();
    let at = task(&world, "t");
    fs::write(at.join("precious"), "1\n").unwrap();
    let _ = world.run(&["drop", "t"]).expect(0);
    let id = dropped(&world)[0]["id"].as_str().unwrap().to_owned();

    // The name is used again: the newer one goes first.
    task(&world, "t");
    world.run(&["undo", "t"]).expect(2).says("Task 't' already exists").says(&format!("dacapo undo {id}"));
    let _ = world.run(&["drop", "t"]).expect(0);
    // The branch, then the directory, is somebody's.
    world.git(&["branch", "dacapo/t"]);
    world
        .run(&["undo", &id])
        .expect(2)
        .says("branch 'dacapo/t' already exists")
        .says("git branch -m dacapo/t NEW");
    assert!(world.tasks().is_empty(), "nothing has moved");
    world.git(&["branch", "-D", "dacapo/t"]);
    fs::create_dir(&at).unwrap();
    world.run(&["undo", &id]).expect(2).says("already exists").says("elsewhere; then dacapo undo");
    fs::remove_dir(&at).unwrap();
    let _ = world.run(&["undo", &id]).expect(0);
    assert_eq!(fs::read_to_string(at.join("precious")).unwrap(), "1\n");
    assert_eq!(dropped(&world).len(), 1, "the other one is still there");
    world
        .run(&["undo", "nothing"])
        .expect(2)
        .says("nothing to undo: there is no dropped or merged task 'nothing'");
}

#[test]
fn s9_what_was_removed_by_hand_is_no_obstacle() {
    // The directory.
    let world = World::new();
    let at = task(&world, "t");
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    fs::remove_dir_all(&at).unwrap();
    let _ = world.run(&["drop", "t"]).expect(0);
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(world.git(&["rev-parse", "dacapo/t"]), tip);
    // The branch and git's record: the files are kept all the same.
    let world = World::new();
    let at = task(&world, "t");
    fs::write(at.join("precious"), "1\n").unwrap();
    world.git_in(&at, &["checkout", "-q", "--detach"]);
    world.git_in(&at, &["branch", "-D", "dacapo/t"]);
    world.git(&["branch", "-D", "dacapo/t"]);
    let head = world.git_in(&at, &["rev-parse", "HEAD"]);
    let _ = world.run(&["drop", "t"]).expect(0);
    let kept = world.git(&["for-each-ref", "--format=%(objectname)", "refs/dacapo/rescue/t/"]);
    assert!(kept.contains(&head), "{kept}");
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(fs::read_to_string(at.join("precious")).unwrap(), "1\n");
    assert_eq!(world.git_in(&at, &["rev-parse", "HEAD"]), head);
}

/// Stands in for git as Debian 11 and Ubuntu 22.04 have it.
#[test]
fn s9_an_older_git_is_enough_and_where_it_is_not_that_is_said() {
    let world = World::new();
    let at = task(&world, "t");
    world.write("README.md", "main went on\n");
    world.git(&["commit", "-qam", "more"]);
    let old = r#"#!/bin/sh
case " $* " in
*" worktree list --porcelain -z "*) echo "error: unknown switch \`z'" >&2; exit 129 ;;
*" merge-tree --write-tree "*) echo "usage: git merge-tree" >&2; exit 129 ;;
esac
PATH=${PATH#"$(dirname "$0")":}
exec git "$@"
"#;
    world.program("git", old);
    world.run(&["merge", "t"]).expect(1).says("this needs git 2.38 or newer").says("nothing was merged");
    let before = all(&world, "t");
    let _ = world.run(&["drop", "t"]).expect(0);
    assert!(!at.exists());
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(all(&world, "t"), before);
}

#[test]
fn s9_from_inside_the_worktree() {
    let world = World::new();
    let at = task(&world, "t");
    let ran = Ran::from(world.command(&["drop", "t"]).current_dir(&at).output().unwrap()).expect(0);
    ran.says("this directory is gone: cd ");
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
    let _ = world.run(&["undo"]).expect(0);
    assert_eq!(fs::read_to_string(at.join("f0")).unwrap(), "0\n");
}

/// Stands in for git: call N of the program kills it, before or after git did its work.
pub(crate) const DEADLY_GIT: &str = r#"#!/bin/sh
bin=$(dirname "$0")
PATH=${PATH#"$bin":}
if [ -z "$DIES_AT" ]; then exec git "$@"; fi
n=0
while ! mkdir "$CALLS/$n" 2>/dev/null; do n=$((n + 1)); done
# Never whoever takes in orphans, should the program be gone already.
# It may be a guard of the program that has started us.
die() {
    victim=$PPID
    if [ "$(cat /proc/$PPID/comm)" = dacapo-guard ]; then victim=$(cut -d' ' -f4 /proc/$PPID/stat); fi
    case $(cat /proc/$victim/comm) in dacapo*) kill -9 $victim ;; esac
}
if [ "$DIES_AT" = "before:$n" ]; then die; exit 1; fi
git "$@"
code=$?
if [ "$DIES_AT" = "after:$n" ]; then die; fi
exit $code
"#;

/// Runs a command that is killed there; false when it had ended before.
pub(crate) fn dies(world: &World, words: &[&str], plan: &str) -> bool {
    let calls = tempfile::tempdir().unwrap();
    let mut command = world.command(words);
    let status = command.env("DIES_AT", plan).env("CALLS", calls.path()).output().unwrap().status;
    match status.signal() {
        Some(signal) => {
            assert_eq!(signal, 9);
            true
        }
        None => {
            assert!(status.success(), "{plan}: {status}");
            false
        }
    }
}

/// SIGKILL at every git call of `words`, then each of the ways on; each must lead to the same end.
fn at_every_call(words: &[&str], prepare: impl Fn(&World), on: impl Fn(&World, &str)) {
    let world = World::new();
    task(&world, "t");
    world.program("git", DEADLY_GIT);
    let mut died = 0;
    for call in 0..100 {
        let mut over = true;
        for when in ["before", "after"] {
            prepare(&world);
            let plan = format!("{when}:{call}");
            if dies(&world, words, &plan) {
                over = false;
                died += 1;
            }
            on(&world, &plan);
        }
        if over {
            assert!(died >= 6, "{words:?} has more git calls than {died}");
            return;
        }
    }
    panic!("no end");
}

fn back_as_it_was(world: &World, plan: &str, before: &All) {
    assert_eq!(world.tasks(), ["t"], "{plan}");
    assert_eq!(&all(world, "t"), before, "{plan}");
    assert_eq!(dropped(world), [] as [Value; 0], "{plan}");
}

#[test]
fn r1_a_drop_that_was_killed_can_be_finished_and_undone() {
    let before = std::cell::OnceCell::new();
    at_every_call(
        &["drop", "t"],
        |world| {
            before.get_or_init(|| all(world, "t"));
        },
        |world, plan| {
            if !world.tasks().is_empty() {
                let _ = world.run(&["list"]).expect(0);
                let _ = world.run(&["drop", "t"]).expect(0);
            }
            assert!(world.tasks().is_empty(), "{plan}");
            assert_eq!(dropped(world).len(), 1, "{plan}");
            assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "", "{plan}");
            let _ = world.run(&["undo", "t"]).expect(0);
            back_as_it_was(world, plan, before.get().unwrap());
        },
    );
}

#[test]
fn r1_a_drop_that_was_killed_can_be_taken_back_at_once() {
    let before = std::cell::OnceCell::new();
    at_every_call(
        &["drop", "t"],
        |world| {
            before.get_or_init(|| all(world, "t"));
        },
        |world, plan| {
            if !dropped(world).is_empty() {
                let _ = world.run(&["undo", "t"]).expect(0);
            }
            back_as_it_was(world, plan, before.get().unwrap());
        },
    );
}

#[test]
fn r1_an_undo_that_was_killed_can_be_finished() {
    let before = std::cell::OnceCell::new();
    at_every_call(
        &["undo", "t"],
        |world| {
            before.get_or_init(|| all(world, "t"));
            let _ = world.run(&["drop", "t"]).expect(0);
        },
        |world, plan| {
            if !dropped(world).is_empty() {
                let _ = world.run(&["undo", "t"]).expect(0);
            }
            back_as_it_was(world, plan, before.get().unwrap());
        },
    );
}

#[test]
fn s9_a_ref_where_the_rescue_belongs_does_not_block_drop() {
    let world = World::new();
    let _ = task(&world, "t");
    let (tip, planted) = (world.git(&["rev-parse", "dacapo/t"]), world.git(&["rev-parse", "main"]));
    world.git(&["update-ref", "refs/dacapo/rescue/t", "main"]);
    let ran = world.run(&["drop", "t"]).expect(0);
    let refs = world.git(&["for-each-ref", "--format=%(objectname)", "refs/dacapo/rescue"]);
    assert!(refs.contains(&tip) && refs.contains(&planted), "{refs}\n{}", ran.stdout);
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(world.git(&["rev-parse", "dacapo/t"]), tip);
}
