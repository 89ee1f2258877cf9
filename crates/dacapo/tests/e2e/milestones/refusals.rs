//! What cannot be started or answered: exit 2, a message that helps, and nothing is changed (M1, M2).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{ACCEPTS, BRANCH, BUILDS, DEFINITION, FILE, ID, Stage};
use crate::support::World;

/// Refused, with these words, and everything is as it was.
#[track_caller]
pub(super) fn refused(world: &World, words: &[&str], told: &str) {
    let before = kept(world);
    let said = world.run(words).expect(2);
    assert!(said.stderr.contains(told), "{words:?}: {}", said.stderr);
    let after = kept(world);
    let changed: Vec<_> = before
        .iter()
        .filter(|(path, bytes)| after.get(*path) != Some(*bytes))
        .map(|(path, _)| path)
        .collect();
    let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(changed.is_empty() && new.is_empty(), "{words:?}: changed {changed:?}, new {new:?}");
}

/// Everything but who had a lock or a place last, and folders in which nothing is.
fn kept(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = world.everything();
    let ours = [world.data(), world.repo().join(".git/dacapo")];
    all.retain(|path, bytes| {
        let empty = bytes.is_empty() && ours.iter().any(|ours| path.starts_with(ours));
        let lock = path.file_name().is_some_and(|name| name == "lock" || name == "place-0");
        !lock && !empty
    });
    all
}

#[test]
fn m1_an_id_that_is_unknown_or_no_name_is_refused() {
    let stage = Stage::new();
    let world = &stage.world;
    refused(world, &["milestone", "start", "tow"], "did you mean 'two'?");
    refused(world, &["milestone", "start", "login"], "dacapo milestone new login");
    let names = ["login", "../two", "a b", "Two", ".", "", "a\nb", "-two", &"x".repeat(65)];
    for id in names {
        for command in ["start", "resume", "approve", "reject", "abandon"] {
            refused(world, &["milestone", command, "--", id], "not found");
        }
        refused(world, &["spawn", &format!("--milestone={id}")], "not found");
    }
    world.write(".dacapo/milestones/Three.md", DEFINITION);
    refused(world, &["milestone", "start", "Three"], "'Three' is not an ID");
    for command in ["resume", "approve", "reject", "abandon"] {
        refused(world, &["milestone", command, ID], "milestone 'two' is pending: it was never started");
    }
}

#[test]
fn m1_a_file_that_does_not_read_is_refused_with_its_line() {
    let stage = Stage::new();
    for (text, told) in [
        (DEFINITION.replace("## Goal", "## Gaol"), "two.md:3: '## Gaol' is not a section"),
        (DEFINITION.replace("- both files are there\n- nothing else is\n", ""), "two.md:11: "),
        (format!("---\nauto_strat: true\n---\n{DEFINITION}"), "two.md:2: 'auto_strat' is not a setting"),
        (format!("---\nmax_consecutive_rejections: 0\n---\n{DEFINITION}"), "two.md:2: "),
        (format!("---\ncall_timeout: soon\n---\n{DEFINITION}"), "two.md:2: "),
        (format!("---\ndeveloper: dev\n{DEFINITION}"), "two.md:"),
        (String::new(), "two.md:1: "),
        ("\0".to_owned(), "two.md:1: a NUL byte"),
    ] {
        stage.world.write(FILE, &text);
        refused(&stage.world, &["milestone", "start", ID], told);
    }
    stage.world.write(FILE, b"## Goal\n\xff\n");
    refused(&stage.world, &["milestone", "start", ID], "two.md");
    std::fs::remove_file(stage.world.repo().join(FILE)).unwrap();
    std::fs::create_dir(stage.world.repo().join(FILE)).unwrap();
    refused(&stage.world, &["milestone", "start", ID], "two.md");
}

#[test]
fn m1_agents_that_are_not_there_are_refused() {
    let stage = Stage::new();
    let world = &stage.world;
    refused(world, &["milestone", "start", ID, "--developer", "deb"], "deb");
    refused(world, &["milestone", "start", ID, "--acceptor", "nobody"], "nobody");
    refused(
        world,
        &["milestone", "start", ID, "--developer", "dev,acc"],
        "a milestone has one Developer, not 2",
    );
    refused(world, &["milestone", "start", ID, "--check", " "], "--check is empty");
}

#[test]
fn m2_what_is_in_the_way_is_named() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    let world = &stage.world;
    let _ = world.exec(&["--name", ID, "--worktree", "--agent-cmd", "echo did it", "go"]).expect(0);
    refused(world, &["milestone", "start", ID], "Task 'two' already exists, and is not a milestone");
    for command in ["resume", "approve", "reject", "abandon"] {
        refused(world, &["milestone", command, ID], "Task 'two' is not a milestone");
    }
    let stage = Stage::new();
    stage.world.git(&["branch", BRANCH]);
    refused(&stage.world, &["milestone", "start", ID], "branch 'milestone/two' already exists");
    stage.world.git(&["branch", "-D", BRANCH]);
    // A branch of this name leaves no room for any below it.
    stage.world.git(&["branch", "milestone"]);
    refused(
        &stage.world,
        &["milestone", "start", ID],
        "git cannot create branch 'milestone/two' while there is a branch 'milestone'",
    );
}

#[test]
fn m2_a_milestone_is_started_once() {
    let stage = Stage::new();
    stage.play(&["build F-1"; 3], &["reject a", "reject b", "reject c"]);
    let _ = stage.start().expect(4);
    refused(&stage.world, &["milestone", "start", ID], "milestone 'two' was already started (paused)");
    refused(&stage.world, &["milestone", "start", ID, "--spawn"], "was already started (paused)");
    refused(&stage.world, &["spawn", "--milestone", ID], "was already started (paused)");
}

#[test]
fn m2_without_a_main_branch_there_is_nothing_to_start_from() {
    let empty = World::without_repo();
    refused(&empty, &["milestone", "start", ID], "git");
    empty.git(&["init", "-q", "-b", "main"]);
    empty.write(FILE, DEFINITION);
    empty.config("agent = \"dev\"\n[agents.dev]\ncommand = [\"true\"]\n");
    refused(&empty, &["milestone", "start", ID], "there is neither main nor master");
    let stage = Stage::new();
    stage.world.git(&["branch", "-m", "trunk"]);
    refused(&stage.world, &["milestone", "start", ID], "there is neither main nor master");
    let config = stage.world.home().join(".config/dacapo/config.toml");
    let agents = std::fs::read_to_string(&config).unwrap();
    stage.world.config(&format!("main_branch = \"gone\"\n{agents}"));
    refused(
        &stage.world,
        &["milestone", "start", ID],
        "main_branch = \"gone\" in the config is not a branch here",
    );
    stage.world.config(&format!("main_branch = \"trunk\"\n{agents}"));
    let stage = Stage { main: "trunk", ..stage }.with_all_this();
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(0);
    assert_eq!(stage.commits(), ["feat: F-1 in round 1", "feat: F-2 in round 2"]);
}

#[test]
fn m2_it_begins_at_the_main_branch_wherever_the_user_is() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    stage.world.git(&["checkout", "-qb", "wip"]);
    stage.world.write("unfinished", "mine\n");
    stage.world.git(&["commit", "-qm", "wip", "--allow-empty"]);
    let stage = stage.with_all_this();
    let _ = stage.start().expect(0);
    let base = stage.status()["base_commit"].clone();
    assert_eq!(base, stage.world.git(&["rev-parse", "main"]).as_str());
    assert_eq!(stage.commits(), ["feat: F-1 in round 1", "feat: F-2 in round 2"]);
    assert_eq!(stage.world.read("unfinished"), "mine\n");
}

/// A limit that is silently not held is worse than none.
#[test]
fn s5_flags_that_say_nothing_about_a_milestone_are_refused() {
    let stage = Stage::new();
    for flags in [
        ["--max-cost", "3"].as_slice(),
        &["--max-tokens", "3"],
        &["--turn-timeout", "3m"],
        &["--idle-timeout", "3m"],
        &["--max-wait", "3m"],
        &["--check-timeout", "3m"],
        &["--max-failures", "3"],
        &["--stall", "3"],
        &["--approval", "ask"],
        &["--session", "fresh"],
        &["--model", "m"],
        &["--agent", "dev"],
        &["--iter", "3"],
        &["--time", "3h"],
        &["--until", "done"],
        &["--plan", "plan.md"],
        &["--allow-dirty"],
        &["--no-commit"],
        &["--name", "other"],
        &["a prompt"],
    ] {
        let words: Vec<&str> = ["spawn", "--milestone", ID].iter().chain(flags).copied().collect();
        refused(&stage.world, &words, "cannot be used with");
    }
}

#[test]
fn s17_the_name_of_a_milestone_is_its_id_and_stays() {
    let stage = Stage::new();
    stage.play(&BUILDS, &ACCEPTS);
    let _ = stage.start().expect(0);
    refused(&stage.world, &["rename", ID, "three"], ".dacapo/milestones/two.md gives it its name");
}
