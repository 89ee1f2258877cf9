//! `prune`: what is merged or long gone is removed, nothing else, and git keeps what it can (S9).

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::World;

const AGENT: &str = "echo $DACAPO_TASK > f-$DACAPO_TASK; echo did it";

fn task(world: &World, name: &str) -> PathBuf {
    let _ = world.exec(&["--worktree", "--name", name, "--agent-cmd", AGENT, "go"]).expect(0);
    PathBuf::from(world.status(name)["worktree"].as_str().unwrap())
}

fn prune(world: &World, flags: &[&str]) -> Value {
    let words: Vec<&str> = ["prune", "--json"].into_iter().chain(flags.iter().copied()).collect();
    serde_json::from_str(&world.run(&words).expect(0).stdout).unwrap()
}

/// `kind name` of what was removed, and the names of what stays.
fn in_short(pruned: &Value) -> (Vec<String>, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let removed = pruned["removed"].as_array().unwrap().iter();
    let spared = pruned["spared"].as_array().unwrap().iter();
    (
        removed.map(|item| format!("{} {}", text(&item["kind"]), text(&item["task"]))).collect(),
        spared.map(|item| text(&item["name"])).collect(),
    )
}

fn id(world: &World, name: &str) -> String {
    let listed = world.run(&["undo", "--list", "--json"]).expect(0).stdout;
    let all: Vec<Value> = serde_json::from_str(&listed).unwrap();
    all.iter().find(|kept| kept["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
}

/// As if it had been put away so many days ago.
fn age(world: &World, name: &str, at: &str) {
    let repos = fs::read_dir(world.data().join("repos")).unwrap().next().unwrap().unwrap().path();
    let paper = repos.join("dropped").join(id(world, name)).join("dropped.json");
    let mut kept: Value = serde_json::from_slice(&fs::read(&paper).unwrap()).unwrap();
    kept["at"] = at.into();
    fs::write(&paper, kept.to_string()).unwrap();
}

#[test]
fn s9_worktrees_of_merged_tasks_go_and_nothing_else_does() {
    let world = World::new();
    let [merged, open, dirty, idle] = ["merged", "open", "dirty", "idle"].map(|name| {
        if name == "idle" {
            let _ = world.exec(&["--worktree", "--name", name, "--agent-cmd", "true", "go"]).expect(0);
            return PathBuf::from(world.status(name)["worktree"].as_str().unwrap());
        }
        task(&world, name)
    });
    world.git(&["merge", "-q", "--no-edit", "dacapo/merged"]);
    world.git(&["merge", "-q", "--no-edit", "dacapo/dirty"]);
    fs::write(dirty.join("precious"), "1\n").unwrap();
    let tip = world.git(&["rev-parse", "dacapo/merged"]);

    let planned = prune(&world, &["--dry-run"]);
    assert_eq!(in_short(&planned), (vec!["worktree merged".into()], vec!["dirty".into()]));
    assert!(merged.exists() && planned["bytes"].as_u64().unwrap() > 0);
    assert_eq!(in_short(&prune(&world, &["--older-than", "1h"])).0, [] as [&str; 0]);
    world
        .run(&["prune", "--dry-run"])
        .expect(0)
        .says("would free ")
        .says("1 uncommitted file; dacapo drop keeps it");

    let done = prune(&world, &[]);
    assert_eq!(in_short(&done).0, ["worktree merged"]);
    assert_eq!(done["removed"][0]["message"], "merged into main");
    assert!(!merged.exists() && open.exists() && dirty.join("precious").exists() && idle.exists());
    assert_eq!(
        world.git(&["branch", "--list", "dacapo/*", "--format=%(refname:short)"]),
        "dacapo/dirty\ndacapo/idle\ndacapo/open"
    );
    let kept = done["removed"][0]["refs"][0].as_str().unwrap();
    assert_eq!(world.git(&["rev-parse", kept]), tip);
    assert_eq!(world.status("merged")["status"], "completed", "its record stays");
    world.run(&["prune"]).expect(0).says("nothing to remove");
}

#[test]
fn s9_what_was_dropped_goes_when_it_is_merged_or_old_or_asked_for() {
    let world = World::new();
    for name in ["merged", "fresh", "old"] {
        task(&world, name);
    }
    let old = PathBuf::from(world.status("old")["worktree"].as_str().unwrap());
    world.git(&["merge", "-q", "--no-edit", "dacapo/merged"]);
    fs::write(old.join("note \u{e9}\n.txt"), "untracked\n").unwrap();
    fs::write(old.join(".env"), "TOKEN=1\n").unwrap();
    fs::write(old.join("f-old"), "changed\n").unwrap();
    let _ = world.run(&["drop", "merged,fresh,old"]).expect(0);
    age(&world, "old", "2020-01-01T00:00:00Z");
    let fresh = id(&world, "fresh");

    let (removed, spared) = in_short(&prune(&world, &["--dry-run"]));
    assert_eq!((removed, spared), (vec!["dropped merged".into(), "dropped old".into()], vec![fresh.clone()]));
    // An age is not a word about what is not merged.
    let yesterday = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24);
    age(&world, "fresh", &yesterday.to_string());
    let (removed, spared) = in_short(&prune(&world, &["--dry-run", "--older-than", "1h"]));
    assert_eq!((removed, spared), (vec!["dropped old".into()], vec![fresh.clone()]));

    let done = prune(&world, &[]);
    assert_eq!(in_short(&done).0, ["dropped merged", "dropped old"]);
    let refs: Vec<&str> =
        done["removed"][1]["refs"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let files = refs.iter().find(|name| name.ends_with("/files")).unwrap();
    assert_eq!(world.git(&["show", &format!("{files}:note \u{e9}\n.txt")]), "untracked");
    assert_eq!(world.git(&["show", &format!("{files}:f-old")]), "changed");
    assert!(!world.git(&["ls-tree", "-r", "--name-only", files]).contains(".env"));
    world.run(&["undo", "old"]).expect(2).says("git for-each-ref refs/dacapo/rescue/old");
    // What is fresh can still be brought back.
    let _ = world.run(&["undo", "fresh"]).expect(0);
    let _ = world.run(&["drop", "fresh"]).expect(0);
    assert_eq!(in_short(&prune(&world, &["--dropped"])).0, ["dropped fresh"]);
    world.run(&["undo", "--list"]).expect(0).says("nothing to bring back");
    assert!(world.git(&["for-each-ref", "refs/dacapo/rescue/fresh"]).contains("/tip"));
}

#[test]
fn s9_prune_says_that_undo_brings_nothing_back() {
    let world = World::new();
    task(&world, "t");
    world.git(&["merge", "-q", "--no-edit", "dacapo/t"]);
    world.run(&["drop", "t"]).expect(0).says("next: dacapo undo t  bring it back");
    let would = "1 dropped task would be gone for good: dacapo undo could not bring it back";
    world.run(&["prune", "--dry-run"]).expect(0).says(would);
    let gone = "1 dropped task is gone for good: dacapo undo cannot bring it back";
    world.run(&["prune"]).expect(0).says(gone);
    world.run(&["undo", "t"]).expect(2).says("nothing to undo: there is no dropped or merged task 't'");
    let again = world.run(&["prune"]).expect(0);
    assert_eq!(again.stdout, "nothing to remove\n");
}

#[test]
fn s9_what_crashes_left_is_removed_or_named() {
    let world = World::new();
    let at = task(&world, "t");
    let _ = world.run(&["drop", "t"]).expect(0);
    let repo = world.data().join("repos");
    let repo = fs::read_dir(repo).unwrap().next().unwrap().unwrap().path();
    // A removal that was cut short, a directory that nobody knows, a drop that was cut short.
    fs::create_dir_all(repo.join("dropped/.gone-x/tree")).unwrap();
    fs::create_dir_all(repo.join("worktrees/unknown")).unwrap();
    fs::rename(repo.join("dropped").join(id(&world, "t")).join("task"), repo.join("tasks/t")).unwrap();
    let done = prune(&world, &["--dropped"]);
    assert_eq!(in_short(&done), (vec!["left ".into()], vec!["t".into(), "unknown".into()]));
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    assert!(done["spared"][0]["message"].as_str().unwrap().contains("dacapo undo t reverts it"));
    assert!(!repo.join("dropped/.gone-x").exists() && repo.join("worktrees/unknown").exists());
    let _ = world.run(&["undo", "t"]).expect(0);
    assert_eq!(fs::read_to_string(at.join("f-t")).unwrap(), "t\n");
    world.run(&["prune", "--older-than", "soon"]).expect(2).says("--older-than 30d");
}
