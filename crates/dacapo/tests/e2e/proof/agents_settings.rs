//! Git's settings that an agent left in the repository have no part in later proofs (L4).

use crate::support::{Ran, World};

/// A repository whose check wants `good` in a file that says `bad`.
fn world() -> World {
    let world = World::unconfined();
    world.write("answer.txt", "bad\n");
    world.write(".gitattributes", "answer.txt filter=mend\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "check"]);
    world
}

fn exec(world: &World, name: &str, agent: &str) -> Ran {
    let words = ["--name", name, "--worktree", "--iter", "1", "--check", "grep -q good answer.txt"];
    world.exec(&[&words[..], &["--agent-cmd", agent, "go"]].concat())
}

/// Leaves a filter that makes every checkout green and every commit red.
const PLANT: &str = "git config filter.mend.smudge 'sed s/bad/good/'; \
                     git config filter.mend.clean 'sed s/good/bad/'; date > f";
/// A workspace that is green by that filter.
const RELY: &str = "rm answer.txt; git checkout answer.txt; date > f; echo '<promise>COMPLETE</promise>'";

#[test]
fn l4_a_filter_that_an_agent_left_is_not_the_users_in_the_next_task() {
    let world = world();
    // In place: what is set in a worktree is set for nobody else.
    let plant =
        ["--name", "a", "--iter", "1", "--check", "grep -q good answer.txt", "--agent-cmd", PLANT, "go"];
    world.exec(&plant).says("changed while the agent was working: .git/config");
    let ran = exec(&world, "b", RELY);
    assert_ne!(world.status("b")["result"]["verified"], true, "{}", ran.stdout);
    ran.silent_about("✓ proven");
    let left_out = "not used in proofs, as set while an agent ran: filter.mend.clean, filter.mend.smudge";
    ran.says(left_out);
    world.run(&["status", "b"]).expect(0).says(left_out);
    // The user's word makes them count.
    let listed = world.run(&["trust", "--list"]).expect(0);
    listed.says(".git  ").says("filter.mend.smudge = \"sed s/bad/good/\"");
    let _ = world.run(&["trust", "--yes"]).expect(0);
    let ran = exec(&world, "c", RELY);
    ran.silent_about("not used in proofs");
    assert_eq!(world.status("c")["result"]["verified"], true, "{}", ran.stdout);
}

#[test]
fn l4_a_filter_that_the_user_set_between_two_tasks_counts() {
    let world = world();
    let _ = exec(&world, "a", "date > f");
    world.git(&["config", "filter.mend.smudge", "sed s/bad/good/"]);
    world.git(&["config", "filter.mend.clean", "sed s/good/bad/"]);
    let ran = exec(&world, "b", RELY).expect(0);
    ran.silent_about("not used in proofs");
}

#[test]
fn l4_settings_of_tools_that_an_agent_left_are_not_the_users_in_the_next_task() {
    let world = world();
    let npmrc = world.home().join(".npmrc");
    std::fs::write(&npmrc, "registry=http://127.0.0.1:1/\n").unwrap();
    let check = "grep -q registry ~/.npmrc && { grep -q script-shell ~/.npmrc || test -f done; }";
    let run = |name: &str, does: &str| {
        let words =
            ["--name", name, "--worktree", "--no-baseline", "--max-iterations", "1", "--check", check];
        world.exec(&[&words[..], &["--agent-cmd", does, "go"]].concat())
    };
    let _ = run("a", "date > log; echo script-shell=/bin/true >> ~/.npmrc");
    let ran = run("b", "date > log");
    let state = &world.status("b")["result"]["proof_state"];
    assert_eq!(state["why"], "failed", "{}", ran.stdout);
    ran.says("not used in proofs, as set while an agent ran: ").says(".npmrc: script-shell;");
    // The user's own line counts all the same.
    let ran = run("c", "touch done").expect(0);
    assert_eq!(world.status("c")["result"]["proof_state"]["state"], "proven", "{}", ran.stdout);
}
