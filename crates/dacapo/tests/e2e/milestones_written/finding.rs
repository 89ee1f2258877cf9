//! Files become milestones, and what came of each is known.

use serde_json::Value;

use crate::support::World;

const GOOD: &str = "# Good\n## Goal\nx\n## Features\n- a\n- b\n## Acceptance Criteria\n- c\n";

fn list(world: &World) -> Vec<Value> {
    let ran = world.run(&["milestone", "list", "--json"]).expect(0);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn m1_a_new_milestone_is_refused_until_it_is_filled_in() {
    let world = World::new();
    let ran = world.run(&["milestone", "new", "login", "Users", "can", "log", "in"]).expect(0);
    assert_eq!(
        ran.stdout,
        "login is written to .dacapo/milestones/login.md\n  fill in: Goal, Features, Acceptance Criteria\n  \
         next: $EDITOR .dacapo/milestones/login.md  fill it in\n        \
         dacapo milestone start login         start it here\n"
    );
    let ran = world.run(&["milestone", "start", "login"]).expect(2);
    assert!(ran.stderr.contains("the goal is empty"), "{}", ran.stderr);
    assert!(world.tasks().is_empty());
    let found = list(&world);
    assert_eq!(found[0]["status"], "pending");
    assert!(found[0]["problems"][0].as_str().unwrap().contains("the goal is empty"), "{found:?}");
    // It is never overwritten, and what is known at once needs no editor.
    let before = world.read(".dacapo/milestones/login.md");
    let ran = world.run(&["milestone", "new", "login"]).expect(2);
    assert!(ran.stderr.contains("already exists"), "{}", ran.stderr);
    assert_eq!(world.read(".dacapo/milestones/login.md"), before);
    let words = [
        "--goal",
        "Out again.",
        "--feature",
        "Log out",
        "--feature",
        "All of them",
        "--criterion",
        "it works",
    ];
    let ran = world.run(&[&["ms", "new", "logout", "--json"], &words[..]].concat()).expect(0);
    let made: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(made["fill_in"], serde_json::json!([]));
    let found = list(&world);
    assert_eq!((&found[1]["id"], &found[1]["features"]["total"]), (&"logout".into(), &2.into()));
    assert_eq!(found[1]["problems"], serde_json::json!([]));
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .dacapo/", "nothing is added to git");
}

#[test]
fn m1_an_id_that_cannot_be_one_is_refused_with_one_that_can() {
    let world = World::new();
    let ran = world.run(&["milestone", "new", "Users Log In"]).expect(2);
    assert!(
        ran.stderr.contains("is not an ID") && ran.stderr.contains("for example users-log-in"),
        "{}",
        ran.stderr
    );
    let ran = world.run(&["milestone", "new", "x", "--goal", "a\n## Features\n- b"]).expect(2);
    assert!(ran.stderr.contains("this is not a valid milestone"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("do:"), "a hint that says nothing: {}", ran.stderr);
    assert!(!world.repo().join(".dacapo").exists());
}

#[test]
fn m1_new_can_be_edited_at_once() {
    let world = World::new();
    let editor = world.program("edit", "#!/bin/sh\nprintf '%s' \"$1\" > \"$HOME/edited\"\n");
    let mut command = world.command(&["milestone", "new", "login", "--edit"]);
    let output = command.env("EDITOR", editor).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let edited = std::fs::read_to_string(world.home().join("edited")).unwrap();
    assert!(edited.ends_with(".dacapo/milestones/login.md"), "{edited}");
}

#[test]
fn m1_list_and_show_say_what_is_wrong_and_hide_nothing() {
    let world = World::new();
    assert!(world.run(&["milestone", "list"]).expect(0).stdout.contains("no milestones yet"));
    world.write(".dacapo/milestones/good.md", GOOD);
    world.write(".dacapo/milestones/bad.md", "## Gaol\nx\n");
    world.write(".dacapo/milestones/Upper.md", GOOD);
    world.write(".dacapo/milestones/two\nlines\u{1b}[31m.md", GOOD);
    world.write(".dacapo/milestones/README.md", "not one\n");
    let ran = world.run(&["milestone", "list"]).expect(0);
    assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
    let good = ran.stdout.lines().find(|line| line.starts_with("good")).unwrap();
    assert_eq!(good.split_whitespace().collect::<Vec<_>>(), ["good", "pending", "0/2", "features", "Good"]);
    assert!(ran.stderr.contains("warning: bad: line 1: '## Gaol' is not a section"), "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: Upper: 'Upper' is not an ID"), "{}", ran.stderr);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "nothing drives the terminal");
    let ran = world.run(&["milestone", "show", "bad"]).expect(0);
    assert!(ran.stdout.contains("is not a section") && ran.stdout.contains("$EDITOR"), "{}", ran.stdout);
    let ran = world.run(&["milestone", "show", "god"]).expect(2);
    assert!(ran.stderr.contains("did you mean 'good'?"), "{}", ran.stderr);
}

#[test]
fn m2_what_was_completed_and_dropped_is_not_pending() {
    let world = World::new();
    for (id, status) in [("done", "completed"), ("left", "abandoned"), ("half", "in_progress"), ("odd", "{")]
    {
        world.write(&format!(".dacapo/milestones/{id}.md"), GOOD);
        let mirror =
            format!("{{\"status\": \"{status}\", \"iteration_count\": 2, \"rounds\": 5, \"cost_usd\": 1.5}}");
        world.write(&format!(".dacapo/milestones/{id}.json"), if id == "odd" { "{" } else { &mirror });
    }
    world.write(".dacapo/milestones/new.md", GOOD);
    let found: Vec<(String, String)> = list(&world)
        .iter()
        .map(|entry| (entry["id"].as_str().unwrap().into(), entry["status"].as_str().unwrap().into()))
        .collect();
    let expected = [
        ("done", "completed"),
        ("half", "paused"),
        ("left", "abandoned"),
        ("new", "pending"),
        ("odd", "paused"),
    ];
    assert_eq!(found, expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    let ran = world.run(&["milestone", "show", "half"]).expect(0);
    assert!(ran.stdout.contains("it was in progress, and its task is gone"), "{}", ran.stdout);
    // The ID of a milestone that was stays its own.
    std::fs::remove_file(world.repo().join(".dacapo/milestones/done.md")).unwrap();
    let ran = world.run(&["milestone", "new", "done"]).expect(2);
    assert!(ran.stderr.contains("was completed before"), "{}", ran.stderr);
}

#[test]
fn m1_a_task_of_the_same_name_is_no_milestone() {
    let world = World::new();
    let _ = world.exec(&["--name", "good", "--agent-cmd", "true", "go"]).expect(0);
    world.write(".dacapo/milestones/good.md", GOOD);
    let found = list(&world);
    assert_eq!(found[0]["status"], "pending");
    assert!(
        found[0]["problems"][0].as_str().unwrap().contains("a task that is not a milestone"),
        "{found:?}"
    );
}

#[test]
fn m1_a_linked_worktree_sees_the_milestones_of_the_main_checkout() {
    let world = World::new();
    world.write(".dacapo/milestones/good.md", GOOD);
    let other = world.scratch("other");
    world.git(&["worktree", "add", "-q", other.to_str().unwrap()]);
    let output = world.command(&["milestone", "list"]).current_dir(&other).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("good "), "{output:?}");
    let output = world.command(&["milestone", "new", "more"]).current_dir(&other).output().unwrap();
    assert!(
        output.status.success() && world.repo().join(".dacapo/milestones/more.md").exists(),
        "{output:?}"
    );
}
