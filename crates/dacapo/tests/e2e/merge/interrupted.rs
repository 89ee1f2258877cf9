//! Merges that are stopped, killed, overtaken.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use super::{commit, merge, task, users, world};
use crate::support::{World, is_gone, wait_for};

/// A merge that waits in its agent, which has written its process id.
fn waiting(world: &World) -> String {
    task(world, "t", "sed -i s/b/TASK/ f; echo t", &[]);
    world.write("f", "a\nMAIN\nc\n");
    commit(world, "main went on");
    // Complete when it appears.
    let pid = world.scratch("pid");
    format!("echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.05; done", pid.display())
}

fn agent_pid(world: &World) -> String {
    world.wait_for_file("pid");
    fs::read_to_string(world.scratch("pid")).unwrap().trim().to_owned()
}

fn scratch_worktrees(world: &World) -> usize {
    world.git(&["worktree", "list"]).lines().filter(|line| line.contains("dacapo-clean-")).count()
}

#[test]
fn s11_ctrl_c_leaves_neither_agent_nor_scratch_worktree_and_the_branch_where_it_was() {
    let world = world();
    let agent = waiting(&world);
    let before = users(&world);
    let merging = world.start(&["merge", "t", "--agent-cmd", &agent]);
    let pid = agent_pid(&world);
    assert_eq!(scratch_worktrees(&world), 1);
    // R4: one merge at a time, and no loop in this checkout meanwhile.
    merge(&world, &["t"]).expect(2).says("another merge is under way in this repository");
    world.exec(&["--agent-cmd", "true", "go"]).expect(2).says("a merge is under way in this checkout");
    world.run(&["resume", "t", "--iter", "1"]).expect(2).says("Task 't' is still running.");
    merging.signal(Signal::INT);
    merging.end().expect(130).says("■ t  stopped; it is unchanged");
    wait_for("the agent to be gone", || is_gone(&pid));
    assert_eq!(users(&world), before);
    let _ = merge(&world, &["t", "--agent-cmd", "echo both > f; echo ok"]).expect(0);
}

#[test]
fn s11_ctrl_c_ends_a_check_too() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    // Ids of processes mean nothing outside of a proof; a lock does.
    let (pid, lock) = (world.scratch("pid"), world.scratch("lock"));
    let check = format!(
        "exec 9> {1}; flock 9; echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.05; done",
        pid.display(),
        lock.display()
    );
    world.config(&format!("checks = [{check:?}]\n"));
    let before = users(&world);
    let merging = world.start(&["merge", "t"]);
    let _ = agent_pid(&world);
    merging.signal(Signal::TERM);
    let _ = merging.end().expect(130);
    let lock = std::fs::File::open(lock).unwrap();
    wait_for("the check to be gone", || lock.try_lock().is_ok());
    assert_eq!(users(&world), before);
}

#[test]
fn r1_after_sigkill_nothing_is_half_done_and_the_next_merge_clears_up() {
    let world = world();
    let agent = waiting(&world);
    let before = users(&world);
    let merging = world.start(&["merge", "t", "--agent-cmd", &agent]);
    let pid = agent_pid(&world);
    merging.signal(Signal::KILL);
    assert_eq!(merging.end().code, -1);
    wait_for("the agent to be gone", || is_gone(&pid));
    assert_eq!(scratch_worktrees(&world), 1, "only this is left");
    // Any merge clears up, also one that needs no scratch worktree itself.
    task(&world, "u", "echo 1 > u; echo u", &[]);
    let _ = merge(&world, &["u"]).expect(0);
    assert_eq!(scratch_worktrees(&world), 0);
    let now = users(&world);
    assert_eq!(now.matches("refs/heads/dacapo/t").count(), before.matches("refs/heads/dacapo/t").count());
    let _ = merge(&world, &["t", "--agent-cmd", "echo both > f; echo ok"]).expect(0);
    assert_eq!((world.read("f").as_str(), world.git(&["status", "--porcelain"]).as_str()), ("both\n", ""));
}

#[test]
fn r1_killed_after_the_branch_has_moved_the_next_merge_knows_and_tidies_up() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    // Git has moved the branch when it runs this hook; its own parent is a guard of the program.
    let hook = world.repo().join(".git/hooks/post-merge");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let text = format!(
        "#!/bin/sh\n[ \"$(git rev-parse --show-toplevel)\" = {0:?} ] || exit 0\n\
         read -r _ _ _ guard _ < /proc/$PPID/stat\nread -r _ _ _ parent _ < /proc/$guard/stat\necho $PPID > {1}.new; mv {1}.new {1}\nkill -9 $parent\n",
        world.repo().canonicalize().unwrap(),
        world.scratch("pid").display()
    );
    fs::write(&hook, text).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let killed = merge(&world, &["t", "--squash"]);
    assert_eq!(killed.code, -1, "{}{}", killed.stdout, killed.stderr);
    // It holds the locks that it got from the one that is dead.
    let git = agent_pid(&world);
    wait_for("git to be done", || is_gone(&git));
    assert_eq!(world.git(&["log", "-1", "--format=%s"]), "t");
    fs::remove_file(&hook).unwrap();
    let main = world.git(&["rev-parse", "main"]);
    merge(&world, &["t", "--squash"]).expect(0).says("✓ t  is already in main");
    assert_eq!(world.git(&["rev-parse", "main"]), main, "not merged twice");
    assert_eq!(world.git(&["branch", "--list", "dacapo/*"]), "");
    assert_eq!(world.status("t")["merged"]["commit_id"], main.as_str());
    assert_eq!((world.read("new").as_str(), world.git(&["status", "--porcelain"]).as_str()), ("1\n", ""));
}

#[test]
fn r1_killed_before_the_worktree_went_the_next_merge_puts_it_away() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    let worktree = world.status("t")["worktree"].as_str().unwrap().to_owned();
    merge(&world, &["t"]).expect(0);
    // As after a death between the record and what follows it.
    let _ = world.git(&["branch", "dacapo/t", &tip]);
    let _ = world.git(&["clone", "-q", "--shared", "-b", "dacapo/t", ".", &worktree]);
    fs::write(Path::new(&worktree).join("mine"), "kept").unwrap();
    let main = world.git(&["rev-parse", "main"]);
    merge(&world, &["t"]).expect(0).says("is already in main");
    assert_eq!(world.git(&["rev-parse", "main"]), main, "not merged twice");
    assert_eq!(
        (Path::new(&worktree).exists(), world.git(&["branch", "--list", "dacapo/*"])),
        (false, String::new())
    );
    assert_eq!(world.run(&["undo", "--list"]).expect(0).stdout.lines().count(), 2, "both are put away");
    merge(&world, &["t"]).expect(0).says("already merged");
}

/// A check in which the user commits to main, each time or only once.
fn overtaking(world: &World, once: &str) -> String {
    let repo = world.repo();
    format!("{once} cd {0} && date +%N > user.$$ && git add user.$$ && git commit -qm user", repo.display())
}

#[test]
fn s11_a_commit_of_the_users_between_check_and_move_is_never_overwritten() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let mark = world.scratch("mark");
    let once = format!("[ -e {0} ] && exit 0; touch {0};", mark.display());
    world.config(&format!("checks = [{:?}]\n", overtaking(&world, &once)));
    merge(&world, &["t"]).expect(0).says("the branch has moved in the meantime; starting again from there");
    let line = |world: &World| world.git(&["log", "--first-parent", "--format=%s"]);
    assert_eq!(line(&world), "Merge task 't': do t\nuser\nmore\nfirst");
    // Every time: it is left out, and all that the user did is there.
    task(&world, "u", "echo 1 > u; echo u", &[]);
    world.config(&format!("checks = [{:?}]\n", overtaking(&world, "")));
    merge(&world, &["u"]).expect(1).says("left out: someone else moved the branch twice in the meantime");
    assert_eq!(line(&world), "user\nuser\nMerge task 't': do t\nuser\nmore\nfirst");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert!(!world.repo().join("u").exists());
}

#[test]
fn s11_a_branch_that_is_no_longer_checked_out_is_not_moved() {
    let world = world();
    task(&world, "t", "echo 1 > new; echo t", &[]);
    let main = world.git(&["rev-parse", "main"]);
    let check = format!("cd {} && git checkout -q -b elsewhere", world.repo().display());
    world.config(&format!("checks = [{check:?}]\n"));
    merge(&world, &["t"]).expect(1).says("left out: another branch was checked out in the meantime");
    assert_eq!(
        (world.git(&["rev-parse", "main"]), world.git(&["rev-parse", "elsewhere"])),
        (main.clone(), main)
    );
}
