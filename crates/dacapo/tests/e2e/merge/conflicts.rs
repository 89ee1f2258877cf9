//! Conflicts, and agents that resolve them or only say so.

use std::fs;

use super::{commit, merge, of_task, task, users, world};
use crate::support::World;

/// A task that changes the line of `f` which main changes after it.
fn clash() -> World {
    let world = world();
    task(&world, "t", "sed -i s/b/TASK/ f; echo 1 > new; echo t", &[]);
    world.write("f", "a\nMAIN\nc\n");
    commit(&world, "main went on");
    world
}

/// The task is left out with these words, and nothing has changed.
fn left_out(world: &World, words: &[&str], says: &[&str]) {
    let before = (users(world), of_task(world, "t"));
    let ran = merge(world, words).expect(1);
    for text in says {
        ran.says(text);
    }
    ran.says("✗ t").says("it is unchanged").says("main has not moved");
    assert_eq!((users(world), of_task(world, "t")), before);
}

#[test]
fn s11_an_agent_resolves_and_is_told_what_both_sides_are_for() {
    let world = clash();
    let told = world.scratch("told");
    let agent = format!("cat > {}; printf 'a\\nBOTH\\nc\\n' > f; echo resolved", told.display());
    merge(&world, &["t", "--agent-cmd", &agent])
        .expect(0)
        .says("conflicts in f; cat resolves them")
        .says("✓ t  merged as")
        .says("cat resolved f")
        .says("its output: ");
    assert_eq!((world.read("f").as_str(), world.read("new").as_str()), ("a\nBOTH\nc\n", "1\n"));
    assert_eq!(world.git(&["log", "-1", "--format=%P"]).split(' ').count(), 2);
    assert!(world.git(&["log", "-1", "--format=%B"]).contains("Conflicts in f resolved by cat."));
    let told = fs::read_to_string(told).unwrap();
    for part in ["do t", "- [iter-0] t", "- main went on", "## Files with conflicts\n- f\n", "Do not commit"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn s11_a_scripted_agent_of_the_config_resolves_too() {
    let world = clash();
    let script =
        "iterations:\n  - - say: Joined both.\n    - write: { path: f, text: \"a\\nJOINED\\nc\\n\" }\n";
    world.config(&world.scripted("joiner", script));
    merge(&world, &["t", "--squash", "--agent", "joiner"]).expect(0).says("joiner resolved f");
    assert_eq!(
        (world.read("f").as_str(), world.git(&["log", "-1", "--format=%P"]).len()),
        ("a\nJOINED\nc\n", 40)
    );
}

#[test]
fn s11_an_agent_that_only_says_so_is_not_believed() {
    let world = clash();
    left_out(&world, &["t", "--agent-cmd", "echo all done"], &["conflict markers are left in f", "see "]);
    left_out(&world, &["t", "--agent-cmd", "git add -A; echo staged"], &["conflict markers are left in f"]);
    left_out(&world, &["t", "--agent-cmd", "git merge --abort; echo easy"], &["it gave the merge up"]);
    left_out(
        &world,
        &["t", "--agent-cmd", "git checkout -q --ours f; rm new; echo ours"],
        &["it gave the merge up"],
    );
    left_out(&world, &["t", "--agent-cmd", "echo cannot >&2; exit 3"], &["agent 'echo' did not resolve it"]);
    left_out(&world, &["t", "--agent-cmd", "rm -rf .git; echo oops"], &["agent 'rm' did not resolve it"]);
    // The task's own agent, which knows only how to do the task: here it replaces nothing.
    left_out(&world, &["t"], &["sed resolves them", "conflict markers are left in f"]);
}

#[test]
fn s11_a_resolution_that_breaks_the_checks_is_not_taken() {
    let world = clash();
    world.config("checks = [\"grep -q TASK f\"]\n");
    let agent = "printf 'a\\nMAIN\\nc\\n' > f; touch TASK; echo resolved";
    left_out(
        &world,
        &["t", "--agent-cmd", agent],
        &["check `grep -q TASK f` fails on the result (exit 1)", "see "],
    );
    // What the agent leaves outside of the commit proves nothing: checks see the commit alone.
    world.config("checks = [\"test -e helper.log\"]\n");
    world.write(".gitignore", "*.log\n");
    commit(&world, "ignore");
    let agent = "printf 'a\\nTASK\\nc\\n' > f; touch helper.log; echo resolved";
    left_out(&world, &["t", "--agent-cmd", agent], &["check `test -e helper.log` fails on the result"]);
    world.config("checks = [\"grep -q TASK f\"]\n");
    merge(&world, &["t", "--agent-cmd", agent]).expect(0).says("grep -q TASK f ✓");
}

#[test]
fn s11_a_query_drives_the_integration_without_a_conflict_too() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let told = world.scratch("told");
    let agent = format!("cat > {}; echo both >> new; echo joined", told.display());
    merge(&world, &["t", "keep", "both", "--agent-cmd", &agent])
        .expect(0)
        .says("query   keep both")
        .says("fast-forward, integrated by cat")
        .says("cat also changed new");
    assert_eq!(world.read("new"), "1\nboth\n");
    assert!(fs::read_to_string(told).unwrap().contains("## What the person who merges wants\nkeep both\n"));
    assert!(world.git(&["log", "-1", "--format=%B"]).contains("Integrated by cat: keep both"));
    // An agent that finds nothing to change: the branch just moves on.
    task(&world, "u", "echo 1 > u; echo u", &[]);
    let tip = world.git(&["rev-parse", "dacapo/u"]);
    merge(&world, &["u", "all as it is", "--agent-cmd", "true"]).expect(0).says("fast-forward to");
    assert_eq!(world.git(&["rev-parse", "main"]), tip);
}

#[test]
fn s11_conflicts_without_markers_are_seen() {
    let world = world();
    world.write("gone", "1\n");
    world.write("picture", b"\0one");
    commit(&world, "files");
    task(&world, "t", "echo 2 > gone; printf '\\0two' > picture; echo t", &[]);
    world.git(&["rm", "-q", "gone"]);
    world.write("picture", b"\0three");
    commit(&world, "main went on");
    let undecided = "gone, picture has a conflict without markers, which nobody has decided";
    left_out(&world, &["t", "--agent-cmd", "echo all done"], &["conflicts in gone, picture", undecided]);
    let agent = "git rm -q gone; git checkout -q --theirs picture; git add picture; echo decided";
    let _ = merge(&world, &["t", "--agent-cmd", agent]).expect(0);
    assert!(!world.repo().join("gone").exists());
    assert_eq!(fs::read(world.repo().join("picture")).unwrap(), b"\0two");
}

#[test]
fn s11_names_of_any_bytes_can_conflict() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world();
    let names: [&[u8]; 4] = [b"line\nbreak", b"\"quoted\" 'twice'", "繼續 é".as_bytes(), b"-f \xff\xfe"];
    let write = |text: &str| {
        for name in names {
            fs::write(world.repo().join(std::ffi::OsStr::from_bytes(name)), text).unwrap();
        }
    };
    write("base\n");
    commit(&world, "names");
    task(
        &world,
        "t",
        "for f in *; do case \"$f\" in f|README.md) ;; *) echo task > \"./$f\" ;; esac; done; echo t",
        &[],
    );
    write("main\n");
    commit(&world, "main went on");
    let ran = merge(&world, &["t", "--no-agent"]).expect(1);
    ran.says("line\\nbreak").says("繼續 é").says("-f \\xff\\xfe");
    assert!(!ran.stdout.contains("line\nbreak"), "{}", ran.stdout);
    let agent = "git diff --name-only --diff-filter=U -z | xargs -0 sh -c 'for f; do echo both > \"./$f\"; done' sh; echo ok";
    let _ = merge(&world, &["t", "--agent-cmd", agent]).expect(0);
    for name in names {
        let path = world.repo().join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(fs::read_to_string(path).unwrap(), "both\n");
    }
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn s11_the_radar_knows_what_a_merge_has_looked_at() {
    let world = clash();
    task(&world, "u", "echo 1 > u; echo u", &[]);
    let _ = merge(&world, &["u", "--dry-run"]).expect(0);
    let radar = fs::read_to_string(world.task_dir("t").join("../../radar")).unwrap();
    let tip = |name: &str| world.git(&["rev-parse", name]);
    let known = |one: &str, other: &str| {
        let (one, other) = (tip(one), tip(other));
        let line = radar.lines().find(|line| line.contains(&one) && line.contains(&other)).unwrap();
        line.contains(" ! [")
    };
    assert!(known("main", "dacapo/t"));
    assert!(!known("main", "dacapo/u"));
    assert!(known("dacapo/u", "dacapo/t"), "it began where main is now");
    let list = world.run(&["list"]).expect(0);
    let line = |name: &str| {
        let is_it = |line: &&str| line.split_whitespace().nth(1) == Some(name);
        list.stdout.lines().find(is_it).unwrap_or_else(|| panic!("{name} in {}", list.stdout)).to_owned()
    };
    assert!(line("t").contains("conflicts with main"), "{}", list.stdout);
    assert!(line("u").contains("conflicts with t"), "{}", list.stdout);
}
