//! Where a milestone works: a worktree on `milestone/ID`, or the user's own checkout, put on that branch (M2).

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{ACCEPTS, BUILDS, Case};
use crate::support::{World, wait_for};

/// The spec of one in the user's own checkout.
fn in_place(world: &World, name: &str, developer: &str) -> Value {
    let mut spec = world.milestone(name, developer, ACCEPTS);
    let start = world.git(&["rev-parse", "main"]);
    let branch = json!({ "name": format!("refs/heads/milestone/{name}"), "start_commit": start });
    spec["place"] = json!({ "place": "in_place", "allow_dirty": false, "branch": branch });
    spec["foreground"] = true.into();
    spec
}

fn on(world: &World) -> String {
    world.git(&["branch", "--show-current"])
}

fn notices(world: &World, name: &str) -> String {
    world.notices(name).join("\n")
}

#[test]
fn m2_a_milestone_in_a_worktree_is_merged_dropped_and_brought_back_like_any_task() {
    let world = World::new();
    world.make(world.milestone("auth", BUILDS, ACCEPTS));
    let _ = world.run(&["resume", "auth"]).expect(0);
    let _ = world.wait("auth").expect(0);
    let tip = world.git(&["rev-parse", "milestone/auth"]);
    let worktree = PathBuf::from(world.status("auth")["worktree"].as_str().unwrap());
    fs::write(worktree.join("loose"), "not committed").unwrap();

    let _ = world.run(&["drop", "auth"]).expect(0);
    assert_eq!(world.git(&["branch", "--list", "milestone/*"]), "");
    let _ = world.run(&["undo", "auth"]).expect(0);
    assert_eq!(world.git(&["rev-parse", "milestone/auth"]), tip);
    assert_eq!(fs::read_to_string(worktree.join("loose")).unwrap(), "not committed");
    fs::remove_file(worktree.join("loose")).unwrap();

    // Main has gone on, so that it takes a commit of its own to bring the milestone home.
    world.write("other", "x");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "other"]);
    let _ = world.run(&["merge", "auth"]).expect(0);
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(message.contains("2 commits on milestone/auth."), "{message}");
    assert_eq!(world.git(&["rev-parse", "main^2"]), tip);
    assert!(!worktree.exists(), "and it is put away");
    assert_eq!(world.git(&["branch", "--list", "milestone/*"]), "");
}

#[test]
fn m2_a_worktree_that_was_removed_is_made_again_from_its_branch() {
    let world = World::new();
    let half = "if [ $n = 2 ] && ! test -e \"$GO\"; then echo > \"$BEGAN\"; sleep 1000; fi\n";
    let mut spec = world.milestone("auth", &format!("{half}{BUILDS}"), ACCEPTS);
    let (go, began) = (world.scratch("go"), world.scratch("began"));
    spec["agents"][0]["env"] = json!([["GO", go], ["BEGAN", began]]);
    world.make(spec);
    let _ = world.run(&["resume", "auth"]).expect(0);
    wait_for("the second round", || began.exists());
    let _ = world.run(&["pause", "auth", "--now"]).expect(0);
    let _ = world.wait("auth").expect(4);
    fs::remove_dir_all(world.status("auth")["worktree"].as_str().unwrap()).unwrap();
    fs::write(&go, "").unwrap();
    let _ = world.run(&["resume", "auth"]).expect(0);
    let _ = world.wait("auth").expect(0);
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/auth"]), "feat: 2\nfeat: 1");
}

#[test]
fn m2_a_milestone_and_a_task_that_conflict_are_told_of() {
    let world = World::new();
    let developer = BUILDS.replace("echo $n > f$n", "echo m >> README.md; echo $n > f$n");
    world.make(world.milestone("auth", &developer, ACCEPTS));
    let _ = world.run(&["resume", "auth"]).expect(0);
    let _ = world.wait("auth").expect(0);
    world.spawned("rival", 1, "cat > /dev/null; echo r >> README.md; echo did it");
    let _ = world.wait("rival").expect(0);
    let list = world.run(&["list"]).expect(0).stdout;
    assert!(list.contains("conflicts with"), "{list}");
}

#[test]
fn m2_a_branch_that_exists_is_refused_and_nothing_is_changed() {
    let world = World::new();
    world.git(&["branch", "milestone/auth"]);
    world.make(in_place(&world, "auth", BUILDS));
    let ran = world.run(&["resume", "auth"]).expect(2);
    assert!(world.git(&["log", "--format=%s", "milestone/auth"]) == "first", "{ran:?}");
    let failed = &world.events("auth", "workspace_failed")[0]["problems"][0]["message"];
    assert_eq!(failed, "branch 'milestone/auth' already exists");
    assert_eq!(on(&world), "main");
}

#[test]
fn m2_in_place_the_checkout_is_put_on_the_branch_and_stays_there() {
    let world = World::new();
    world.git(&["switch", "-qc", "feature"]);
    world.write("feature", "x");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "feature"]);
    let main = world.git(&["rev-parse", "main"]);
    let mut spec = in_place(&world, "auth", BUILDS);
    spec["base_branch"] = "refs/heads/main".into();
    world.make(spec);
    let _ = world.run(&["resume", "auth"]).expect(0);
    assert_eq!(on(&world), "milestone/auth");
    assert_eq!(world.git(&["log", "--format=%s"]), "feat: 2\nfeat: 1\nfirst", "from main, not from feature");
    assert_eq!(world.git(&["rev-parse", "main"]), main);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    let said = notices(&world, "auth");
    for part in [
        "this checkout was switched from feature to milestone/auth",
        "this checkout stays on milestone/auth; git switch main goes back to main",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    world.assert_nothing_left("auth");
}

#[test]
fn m2_in_place_what_is_in_the_way_stays_and_the_milestone_does_not_start() {
    let cases: [Case; 4] = [
        ("there are uncommitted files here (README.md)", |world| world.write("README.md", "mine")),
        ("would be overwritten", |world| {
            // Untracked here, and tracked on main.
            world.git(&["switch", "-qc", "older"]);
            world.git(&["switch", "-q", "main"]);
            world.write("built", "theirs");
            world.git(&["add", "-A"]);
            world.git(&["commit", "-qm", "built"]);
            world.git(&["switch", "-q", "older"]);
            world.write("built", "mine");
        }),
        ("would be overwritten", |world| {
            // Ignored here, and tracked on main.
            world.git(&["switch", "-qc", "older"]);
            world.git(&["switch", "-q", "main"]);
            world.write("built", "theirs");
            world.git(&["add", "-A"]);
            world.git(&["commit", "-qm", "built"]);
            world.git(&["switch", "-q", "older"]);
            fs::write(world.repo().join(".git/info/exclude"), "built\n").unwrap();
            world.write("built", "mine");
        }),
        ("a merge is in progress here", |world| {
            fs::write(world.repo().join(".git/MERGE_HEAD"), world.git(&["rev-parse", "main"])).unwrap();
        }),
    ];
    for (why, make) in cases {
        let world = World::new();
        let _ = world.milestone("unused", BUILDS, ACCEPTS);
        make(&world);
        let (before, was) = (world.git(&["status", "--porcelain", "--ignored"]), on(&world));
        world.make(in_place(&world, "auth", BUILDS));
        let ran = world.run(&["resume", "auth"]).expect(2);
        let failed = &world.events("auth", "workspace_failed")[0]["problems"][0]["message"];
        assert!(failed.as_str().unwrap().contains(why), "{why}: {failed} {ran:?}");
        assert_eq!((world.git(&["status", "--porcelain", "--ignored"]), on(&world)), (before, was), "{why}");
        assert_eq!(world.git(&["branch", "--list", "milestone/*"]), "", "{why}");
        assert_ne!(world.read("built"), "theirs", "{why}");
    }
}

/// A milestone in place that is paused in its second round.
fn paused_in_place(world: &World) -> PathBuf {
    let (go, began) = (world.scratch("go"), world.scratch("began"));
    let half = "if [ $n = 2 ] && ! test -e \"$GO\"; then echo > \"$BEGAN\"; sleep 1000; fi\n";
    let mut spec = in_place(world, "auth", &format!("{half}{BUILDS}"));
    spec["agents"][0]["env"] = json!([["GO", go], ["BEGAN", began]]);
    spec["foreground"] = false.into();
    world.make(spec);
    let _ = world.run(&["resume", "auth"]).expect(0);
    wait_for("the second round", || began.exists());
    let _ = world.run(&["pause", "auth", "--now"]).expect(0);
    let _ = world.wait("auth").expect(4);
    go
}

#[test]
fn m9_in_place_it_goes_on_only_on_its_branch_and_a_clean_tree_is_switched() {
    let world = World::new();
    let go = paused_in_place(&world);
    world.git(&["switch", "-q", "main"]);
    world.write("mine", "not committed");
    let lines = world.journal("auth").len();
    let refused = world.run(&["resume", "auth"]).expect(2);
    let said = "this checkout is on main, but the task works on milestone/auth, and there are uncommitted files here (mine)";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert_eq!((world.journal("auth").len(), on(&world).as_str()), (lines, "main"), "nothing has changed");
    assert_eq!(world.status("auth")["status"], "paused");
    // A clean one is switched, and that is said (M9).
    fs::remove_file(world.repo().join("mine")).unwrap();
    fs::write(go, "").unwrap();
    let _ = world.run(&["resume", "auth"]).expect(0);
    let _ = world.wait("auth").expect(0);
    let notices = world.notices("auth");
    let switched = "this checkout was on main; it was switched to milestone/auth to continue";
    assert!(notices.iter().any(|notice| notice == switched), "{notices:#?}");
    assert_eq!(on(&world), "milestone/auth");
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/auth"]), "feat: 2\nfeat: 1");
}

#[test]
fn m2_in_place_a_kill_from_another_branch_touches_nothing_there() {
    let world = World::new();
    let _ = paused_in_place(&world);
    world.git(&["switch", "-q", "main"]);
    world.write("mine", "not committed");
    let _ = world.run(&["kill", "auth"]).expect(0);
    assert_eq!(world.status("auth")["status"], "cancelled");
    assert_eq!(world.git(&["for-each-ref", "refs/dacapo/rescue/auth"]), "", "what lies here is the user's");
    assert_eq!((world.git(&["status", "--porcelain"]).as_str(), on(&world).as_str()), ("?? mine", "main"));
    world.assert_nothing_left("auth");
}

#[test]
fn m2_in_place_a_start_that_was_cut_short_goes_on() {
    for switched in [true, false] {
        let world = World::new();
        let dir = world.make(in_place(&world, "auth", BUILDS));
        // As SIGKILL leaves it: begun, the branch made, and `workspace_ready` not written.
        let begun = world.run(&["resume", "auth"]).expect(0);
        let text = fs::read_to_string(dir.journal_path()).unwrap();
        let whole: Vec<&str> = text.lines().take_while(|line| !line.contains("\"notice\"")).collect();
        assert!(whole.len() >= 2, "{begun:?}\n{text}");
        world.git(&["switch", "-q", "main"]);
        world.git(&["branch", "-f", "milestone/auth", "main"]);
        if switched {
            world.git(&["switch", "-q", "milestone/auth"]);
        }
        fs::write(dir.journal_path(), format!("{}\n", whole.join("\n"))).unwrap();
        fs::remove_dir_all(dir.path().join("turns")).unwrap();
        let _ = world.run(&["resume", "auth"]).expect(0);
        assert_eq!(world.git(&["log", "--format=%s", "main..milestone/auth"]), "feat: 2\nfeat: 1");
        assert_eq!(on(&world), "milestone/auth");
    }
}
