//! Where a milestone stands, in files of the main checkout (M8).

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::{ACCEPTS, BUILDS, Case};
use crate::support::{World, wait_for};

fn read(world: &World, file: &str) -> Value {
    let mut value: Value = serde_json::from_str(&world.read(&format!(".dacapo/{file}"))).unwrap();
    let at = value.as_object_mut().unwrap().remove("updated_at").unwrap();
    assert!(at.as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{at}");
    value
}

fn own(world: &World, name: &str) -> Value {
    read(world, &format!("milestones/{name}.json"))
}

fn state(status: &str, current: Option<&str>) -> Value {
    json!({ "v": 1, "status": status, "current_milestone": current })
}

fn run(world: &World, name: &str) {
    let _ = world.run(&["resume", name]).expect(0);
}

/// Nothing but mirrors is below `.dacapo/`, and git sees none of them.
fn unseen(world: &World) {
    assert_eq!(world.git(&["status", "--porcelain", "--untracked-files=all"]), "");
    let mut names: Vec<_> = fs::read_dir(world.repo().join(".dacapo")).unwrap().flatten().collect();
    names.retain(|entry| entry.file_name().to_string_lossy().starts_with(".mirror"));
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn m8_both_files_follow_a_milestone_through_its_life() {
    let world = World::new();
    let (go, began) = (world.scratch("go"), world.scratch("began"));
    let waits = "echo $n >> \"$BEGAN\"; while ! test -e \"$GO$n\"; do sleep 0.02; done\n";
    let mut spec = world.milestone("auth", &format!("{waits}{BUILDS}"), ACCEPTS);
    spec["agents"][0]["env"] = json!([["GO", go], ["BEGAN", began]]);
    world.make(spec);
    let rounds = |count: usize| {
        wait_for("the round", || fs::read_to_string(&began).unwrap_or_default().lines().count() >= count);
    };
    let base = world.git(&["rev-parse", "main"]);
    let expected = |status: &str, phase: Option<&str>, rounds: u32| {
        json!({
            "v": 1, "id": "auth", "status": status, "phase": phase, "iteration_count": rounds, "rounds": rounds,
            "consecutive_rejections": 0, "branch_name": "milestone/auth", "base_commit": base,
            "tokens_used": 0, "cost_usd": null,
        })
    };
    run(&world, "auth");
    rounds(1);
    assert_eq!(own(&world, "auth"), expected("in_progress", Some("waiting for Developer"), 0));
    assert_eq!(read(&world, "state.json"), state("awake", Some("auth")));
    unseen(&world);
    fs::write(world.scratch("go1"), "").unwrap();
    rounds(2);
    assert_eq!(own(&world, "auth"), expected("in_progress", Some("waiting for Developer"), 1));
    let _ = world.run(&["pause", "auth", "--now"]).expect(0);
    let _ = world.wait("auth").expect(4);
    assert_eq!(own(&world, "auth"), expected("paused", Some("paused"), 1));
    assert_eq!(read(&world, "state.json"), state("paused", Some("auth")));
    run(&world, "auth");
    rounds(3);
    assert_eq!(read(&world, "state.json"), state("awake", Some("auth")));
    fs::write(world.scratch("go2"), "").unwrap();
    fs::write(world.scratch("go3"), "").unwrap();
    let _ = world.wait("auth").expect(0);
    assert_eq!(own(&world, "auth"), expected("completed", None, 3));
    assert_eq!(read(&world, "state.json"), state("sleeping", None));
    unseen(&world);
    let excludes = fs::read_to_string(world.repo().join(".git/info/exclude")).unwrap();
    assert_eq!(excludes.matches("/.dacapo/state.json\n").count(), 1, "{excludes}");
}

#[test]
fn m8_what_becomes_of_another_one_is_not_the_state_of_who_is_at_work() {
    let world = World::new();
    let go = world.scratch("go");
    let waits = format!("while ! test -e {}; do sleep 0.02; done\n{BUILDS}", go.display());
    world.make(world.milestone("first", "sleep 1000", ACCEPTS));
    world.make(world.milestone("other", &waits, ACCEPTS));
    run(&world, "first");
    wait_for("the mirror", || world.repo().join(".dacapo/state.json").exists());
    run(&world, "other");
    wait_for("the row", || world.status("other")["status"] == "queued");
    assert_eq!(read(&world, "state.json"), state("awake", Some("first")), "who waits is not awake");
    assert!(!world.repo().join(".dacapo/milestones/other.json").exists());
    let _ = world.run(&["pause", "first", "--now"]).expect(0);
    let _ = world.wait("first").expect(4);
    wait_for("the other one", || read(&world, "state.json") == state("awake", Some("other")));
    assert_eq!(own(&world, "first")["status"], "paused");
    let _ = world.run(&["milestone", "abandon", "first"]).expect(0);
    assert_eq!(own(&world, "first")["status"], "abandoned");
    assert_eq!(read(&world, "state.json"), state("awake", Some("other")));
    fs::write(&go, "").unwrap();
    let _ = world.wait("other").expect(0);
    assert_eq!(read(&world, "state.json"), state("sleeping", None));
}

#[test]
fn m8_a_dropped_milestone_is_given_up_and_undone_it_is_what_it_was() {
    let world = World::new();
    world.make(world.milestone("auth", "sleep 1000", ACCEPTS));
    run(&world, "auth");
    wait_for("the mirror", || world.repo().join(".dacapo/state.json").exists());
    let _ = world.run(&["pause", "auth", "--now"]).expect(0);
    let _ = world.wait("auth").expect(4);
    let _ = world.run(&["drop", "auth"]).expect(0);
    assert_eq!(own(&world, "auth")["status"], "abandoned");
    assert_eq!(read(&world, "state.json"), state("sleeping", None));
    let _ = world.run(&["undo", "auth"]).expect(0);
    assert_eq!(own(&world, "auth")["status"], "paused");
    assert_eq!(read(&world, "state.json"), state("paused", Some("auth")));
}

#[test]
fn m8_in_a_linked_worktree_and_in_place_the_files_are_in_the_main_checkout_and_no_dirt() {
    let world = World::new();
    let linked = world.scratch("linked");
    world.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    let mut spec = world.milestone("auth", BUILDS, ACCEPTS);
    let branch =
        json!({ "name": "refs/heads/milestone/auth", "start_commit": world.git(&["rev-parse", "main"]) });
    spec["place"] = json!({ "place": "in_place", "allow_dirty": false, "branch": branch });
    spec["top"] = linked.to_str().unwrap().into();
    world.make(spec);
    run(&world, "auth");
    let _ = world.wait("auth").expect(0);
    assert_eq!(
        (own(&world, "auth")["status"].as_str(), own(&world, "auth")["rounds"].as_u64()),
        (Some("completed"), Some(3))
    );
    assert!(!linked.join(".dacapo").exists());
    assert!(world.events("auth", "milestone").iter().all(|line| line["step"] != "report_sent_back"));
    assert_eq!(world.git_in(&linked, &["status", "--porcelain"]), "");
    // And in the main checkout itself, where the mirrors lie in the place that is worked in.
    let mut spec = world.milestone("here", BUILDS, ACCEPTS);
    let branch =
        json!({ "name": "refs/heads/milestone/here", "start_commit": world.git(&["rev-parse", "main"]) });
    spec["place"] = json!({ "place": "in_place", "allow_dirty": false, "branch": branch });
    world.make(spec);
    run(&world, "here");
    let _ = world.wait("here").expect(0);
    assert_eq!(own(&world, "here")["status"], "completed");
    assert_eq!(world.git(&["log", "--format=", "--name-only", "main..milestone/here"]), "f2\nf1");
    unseen(&world);
}

#[test]
fn m8_what_is_in_the_way_of_a_mirror_costs_a_notice_and_nothing_else() {
    let cases: [Case; 5] = [
        ("a link of that name is replaced, not followed", |world| {
            fs::create_dir_all(world.repo().join(".dacapo/milestones")).unwrap();
            fs::write(world.scratch("secret"), "theirs").unwrap();
            symlink(world.scratch("secret"), world.repo().join(".dacapo/milestones/auth.json")).unwrap();
        }),
        ("milestones is no directory", |world| {
            fs::create_dir_all(world.repo().join(".dacapo")).unwrap();
            fs::create_dir_all(world.scratch("secret-dir")).unwrap();
            symlink(world.scratch("secret-dir"), world.repo().join(".dacapo/milestones")).unwrap();
        }),
        ("auth.json is out of date", |world| {
            fs::create_dir_all(world.repo().join(".dacapo/milestones/auth.json")).unwrap();
        }),
        ("git has a file of this name", |world| {
            world.write(".dacapo/milestones/auth.json", "theirs");
            world.git(&["add", "-f", ".dacapo"]);
            world.git(&["commit", "-qm", "theirs"]);
        }),
        ("state.json is out of date", |world| {
            fs::create_dir_all(world.repo().join(".dacapo")).unwrap();
            fs::set_permissions(world.repo().join(".dacapo"), fs::Permissions::from_mode(0o555)).unwrap();
        }),
    ];
    for (why, make) in cases {
        let world = World::new();
        let _ = world.milestone("unused", BUILDS, ACCEPTS);
        make(&world);
        world.make(world.milestone("auth", BUILDS, ACCEPTS));
        run(&world, "auth");
        let _ = world.wait("auth").expect(0);
        let notices = world.notices("auth");
        let said = notices.iter().filter(|said| said.contains(why)).count();
        if why.starts_with("a link") {
            assert_eq!(fs::read_to_string(world.scratch("secret")).unwrap(), "theirs");
            assert_eq!(own(&world, "auth")["status"], "completed");
        } else if why.starts_with("state.json") && rustix::process::geteuid().is_root() {
            // Nothing is closed to root.
        } else {
            assert_eq!(said, 1, "{why}: {notices:#?}");
        }
        assert!(!world.scratch("secret-dir/auth.json").exists());
        fs::set_permissions(world.repo().join(".dacapo"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}
