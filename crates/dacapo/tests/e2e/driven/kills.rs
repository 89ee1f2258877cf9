//! `kill` and `abandon` of a milestone, alive or not: what nobody committed is kept under a ref (S8).

use std::fs;
use std::path::PathBuf;

use super::ACCEPTS;
use crate::support::{World, wait_for};

/// In its first turn the Developer leaves things behind: one staged, one not, and never ends.
const LEAVES: &str = "echo staged > staged; git add staged; echo half > half; sleep 1000";

/// A milestone whose Developer is at work, with its worktree.
fn at_work(world: &World) -> PathBuf {
    world.make(world.milestone("auth", LEAVES, ACCEPTS));
    let _ = world.run(&["resume", "auth"]).expect(0);
    wait_for("the Developer", || {
        world.status("auth")["worktree"].as_str().is_some_and(|at| PathBuf::from(at).join("half").exists())
    });
    PathBuf::from(world.status("auth")["worktree"].as_str().unwrap())
}

fn kept(world: &World) -> String {
    let refs = world.git(&["for-each-ref", "--format=%(refname)", "refs/dacapo/rescue/auth/killed"]);
    assert_eq!(refs.lines().count(), 1, "{refs}");
    refs
}

/// All that lay there is under the ref, and where it was, staged or not as it was.
fn is_kept(world: &World, worktree: &std::path::Path) {
    let kept = kept(world);
    assert_eq!(world.git(&["show", &format!("{kept}:half")]), "half");
    assert_eq!(world.git(&["show", &format!("{kept}:staged")]), "staged");
    assert_eq!(world.git_in(worktree, &["status", "--porcelain"]), "A  staged\n?? half");
    assert_eq!(world.git(&["rev-parse", "milestone/auth"]), world.git(&["rev-parse", "main"]));
    world.assert_nothing_left("auth");
}

#[cfg(target_os = "linux")]
fn sigkill(world: &World) {
    let pid = world.status("auth")["pid"].as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    wait_for("its death", || world.status("auth")["status"] == "interrupted");
}

#[test]
fn s8_killed_alive_what_was_not_committed_is_kept_and_the_index_is_as_it_was() {
    let world = World::new();
    let worktree = at_work(&world);
    let _ = world.run(&["kill", "auth"]).expect(0);
    is_kept(&world, &worktree);
}

#[test]
#[cfg(target_os = "linux")]
fn s8_killed_when_its_process_is_dead_it_is_kept_too() {
    let world = World::new();
    let worktree = at_work(&world);
    sigkill(&world);
    let _ = world.run(&["kill", "auth"]).expect(0);
    assert_eq!(world.status("auth")["status"], "cancelled");
    is_kept(&world, &worktree);
    assert_eq!(world.events("auth", "iteration_finished").len(), 0, "the round is not over");
}

#[test]
fn s8_abandoned_at_a_pause_it_is_kept_too() {
    let world = World::new();
    let worktree = at_work(&world);
    let _ = world.run(&["pause", "auth", "--now"]).expect(0);
    let _ = world.wait("auth").expect(4);
    assert_eq!(world.git(&["for-each-ref", "refs/dacapo/rescue/auth"]), "", "a pause keeps nothing apart");
    let _ = world.run(&["milestone", "abandon", "auth"]).expect(0);
    is_kept(&world, &worktree);
    assert_eq!(world.run(&["milestone", "list", "--json"]).expect(0).stdout.matches("abandoned").count(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn s8_abandoned_when_its_process_is_dead_and_when_it_is_queued() {
    let world = World::new();
    let worktree = at_work(&world);
    world.make(world.milestone("next", LEAVES, ACCEPTS));
    let _ = world.run(&["resume", "next"]).expect(0);
    wait_for("the row", || world.status("next")["status"] == "queued");
    let _ = world.run(&["milestone", "abandon", "next"]).expect(0);
    assert_eq!(world.status("next")["status"], "cancelled");
    assert_eq!(world.git(&["branch", "--list", "milestone/next"]), "", "it had not begun");
    world.assert_nothing_left("next");
    sigkill(&world);
    let _ = world.run(&["milestone", "abandon", "auth"]).expect(0);
    is_kept(&world, &worktree);
}

#[test]
fn s8_in_the_middle_of_a_merge_it_is_kept_all_the_same() {
    let world = World::new();
    let developer = "g() { git -c user.name=d -c user.email=d@d \"$@\"; }; git checkout -q -b side; echo 1 > README.md; g commit -qam a; \
                     git checkout -q milestone/auth; echo 2 > README.md; g commit -qam b; g merge side; touch half; sleep 1000";
    world.make(world.milestone("auth", developer, ACCEPTS));
    let _ = world.run(&["resume", "auth"]).expect(0);
    let worktree = || PathBuf::from(world.status("auth")["worktree"].as_str().unwrap_or("/nowhere"));
    wait_for("the Developer", || worktree().join("half").exists());
    let _ = world.run(&["kill", "auth"]).expect(0);
    let file = world.git(&["show", &format!("{}:README.md", kept(&world))]);
    assert_eq!(file, fs::read_to_string(worktree().join("README.md")).unwrap().trim_end());
    assert!(file.contains("======="), "{file}");
}
