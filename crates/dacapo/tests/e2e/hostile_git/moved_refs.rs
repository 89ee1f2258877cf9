//! An agent that moves branches, tags or stashed changes that are none of its task: it is named once, and nothing is lost (R9).

use crate::misdeed::play;
use crate::support::World;

#[test]
fn r9_refs_that_move_while_an_agent_works_in_place_are_named_once_and_kept() {
    let world = World::new();
    world.git(&["branch", "other"]);
    world.git(&["checkout", "-q", "-b", "side"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "only here"]);
    let lost = world.git(&["rev-parse", "side"]);
    world.git(&["tag", "v1", "main"]);
    world.git(&["checkout", "-q", "main"]);
    let misdeed = "git branch -q -D side; git branch -q -f other dacapo-none 2>/dev/null \
                   || git update-ref refs/heads/other $(git commit-tree -m x HEAD^{tree}); git tag -d v1 >/dev/null";
    let ran = play(&world, &[], misdeed).expect(0);
    let said = "note    side was removed while t ran: it was at ";
    ran.says(said).says("; kept under refs/dacapo/rescue/t/moved").says("tag v1 was removed while t ran");
    ran.says("note    other moved while t ran: ").silent_about("main moved while");
    assert_eq!(ran.stdout.matches(said).count() + ran.stderr.matches(said).count(), 1, "once: {ran:?}");
    assert_eq!(world.git(&["rev-parse", "refs/dacapo/rescue/t/moved"]), lost);
    world.ended("completed", [3, 3, 0]);
    world.status_text().says("side was removed while t ran");
}

#[test]
fn r9_a_main_that_moves_while_a_worktree_task_runs_is_named() {
    let world = World::unconfined();
    let misdeed = format!("git -C {:?} commit -q --allow-empty -m 'not by the engine'", world.repo());
    play(&world, &["--worktree"], &misdeed).expect(0).says("main moved while t ran: ");
    assert_eq!(world.git(&["log", "-1", "--format=%s", "main"]), "not by the engine");
}
