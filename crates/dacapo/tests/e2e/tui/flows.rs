//! What a person does in the app, from beginning to end.

use super::*;

#[test]
fn u1_a_task_is_spawned_watched_told_and_killed() {
    let world = World::new();
    let agent = gated(&world);
    let mut app = App::open(&world);
    app.shows("No tasks in this repository yet.");
    app.command(&format!("/spawn --name slow --iter 3 --agent {agent} make it so"));
    app.shows("✓ slow is running");
    app.shows("RUNNING 1");
    app.shows("rehearsal working: make it so");
    // Plain text goes to the selected task.
    app.press("/");
    app.shows("› /");
    app.press("\u{7f}use the blue key\r");
    app.shows("slow will get this");
    assert_eq!(world.status("slow")["guidance"][0], "use the blue key");
    // S7, as it is said on the command line.
    app.command("/spawn --drop slow");
    app.shows("Task 'slow' is still running.");
    app.press("x");
    app.shows("Kill slow?");
    app.press("n");
    app.shows_no_more("Kill slow?");
    assert_eq!(world.status("slow")["status"], "running");
    app.press("x");
    app.shows("Kill slow?");
    app.press("y");
    app.shows("✓ slow was killed");
    app.shows("STOPPED 1");
    assert_eq!(world.status("slow")["status"], "cancelled");
    app.press("q");
    assert_eq!(app.end(), Some(0));
    world.assert_nothing_left("slow");
}

#[test]
fn u1_a_proven_task_is_merged_and_brought_back() {
    let world = World::new();
    let mut app = App::open(&world);
    app.shows("No tasks");
    app.command("/spawn --name fix --check 'test -e fixed' --agent-cmd 'touch fixed' make it exist");
    app.shows("READY 1");
    app.shows("✓ proven");
    app.press("m");
    app.shows("Merge fix into main?");
    app.press("\r");
    app.shows("✓ fix merged as");
    app.shows("DONE 1");
    assert!(world.repo().join("fixed").exists());
    app.press("u");
    app.shows("Bring back fix, which was merged?");
    app.shows("git reset --keep");
    app.press("y");
    app.shows("✓ fix is back; what was merged into main stays there");
    app.shows("READY 1");
    app.press("D");
    app.shows("Drop fix?");
    app.press("y");
    app.shows("fix dropped");
    app.shows("No tasks");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn u1_quitting_leaves_tasks_running_and_the_next_one_shows_them() {
    let world = World::new();
    let agent = gated(&world);
    let mut app = App::open(&world);
    app.shows("No tasks");
    app.command(&format!("/spawn --name on --iter 1 --agent {agent} go on"));
    app.shows("RUNNING 1");
    world.wait_for_file("begun");
    app.press("q");
    assert_eq!(app.end(), Some(0));
    assert_eq!(world.status("on")["status"], "running");
    let mut again = App::open(&world);
    again.shows("RUNNING 1");
    // Two at once see the same.
    let mut second = App::open(&world);
    second.shows("RUNNING 1");
    let_go(&world);
    again.shows("READY 1");
    second.shows("READY 1");
    for mut app in [again, second] {
        app.press("q");
        assert_eq!(app.end(), Some(0));
    }
}

#[test]
fn u1_a_new_task_is_shown_before_it_starts() {
    let world = World::new();
    world.write("Makefile", "test:\n\ttest -e fixed\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "a check"]);
    let agent = world.rehearsal("iterations:\n  - - write: { path: fixed, text: x, append: false }\n");
    let mut app = App::open(&world);
    app.shows("No tasks");
    app.press("n");
    app.shows("What should be done?");
    app.press("make the test pass\t");
    app.press(&agent);
    app.shows(&agent[agent.len() - 12..]);
    app.press("\r");
    // Which checks are the project's is asked first, as a card.
    app.shows("Do these checks prove that the work is done?");
    app.shows("make test");
    app.press("\r");
    app.shows("make-the-test-pass will run:");
    assert!(world.tasks().is_empty(), "nothing has started yet");
    app.press("\r");
    app.shows("READY 1");
    app.shows("✓ proven");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn l18_an_agent_that_asks_is_answered_from_the_list() {
    let world = World::new();
    let asks =
        "case $(cat) in *'the blue'*) touch key; echo FIN-1;; *) echo '<blocked>Which key?</blocked>';; esac";
    let mut app = App::open(&world);
    app.shows("No tasks");
    app.command(&format!("/spawn --name t --until FIN-1 --agent-cmd \"{asks}\" use the key"));
    app.shows("NEEDS YOU 1");
    app.shows("Which key?");
    app.press("a");
    app.shows("t needs you");
    app.press("1");
    app.press("the blue one");
    app.shows("the blue one");
    app.press("\r");
    app.shows("READY 1");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn settings_are_written_with_their_comments_kept() {
    let world = World::new();
    world.config("# mine, and dear to me\nkeep_awake = true # as always\n");
    let mut app = App::open(&world);
    app.shows("No tasks");
    app.press("s");
    app.shows("keep_awake");
    // agent, checks, language, glyphs, mouse, keep_awake
    app.press("jjjjj ");
    app.shows("keep_awake");
    let path = world.home().join(".config/dacapo/config.toml");
    wait_for("the file to be written", || fs::read_to_string(&path).unwrap().contains("false"));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "# mine, and dear to me\nkeep_awake = false # as always\n");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn the_command_line_completes_and_remembers() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let mut app = App::open(&world);
    app.shows("No tasks");
    app.press("/");
    app.shows("› /");
    app.press("doct\t");
    app.shows("› /doctor");
    app.press("\r");
    app.shows("git");
    app.press("\u{1b}");
    app.shows("No tasks");
    let history = world.data().join("history");
    wait_for("the line to be remembered", || history.exists());
    assert_eq!(fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    app.press("/");
    app.shows("› /");
    app.press("\u{1b}[A");
    app.shows("› /doctor");
    // With a key right behind it, Esc would be that key with Alt.
    app.press("\u{1b}");
    app.shows_no_more("› /doctor");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn what_agents_and_people_write_cannot_drive_the_terminal() {
    let world = World::new();
    let evil = "\u{1b}[2J\u{1b}]0;evil\u{7}\u{1b}[?1049l\u{202e}txet";
    let ran = world.run(&["spawn", "--name", "t", "--iter", "1", "--agent-cmd", "sleep 30", evil]);
    ran.expect(0);
    let mut app = App::open(&world);
    app.shows("RUNNING 1");
    app.press("x");
    app.shows("Kill t?");
    app.press("y");
    app.shows("STOPPED 1");
    let said = app.terminal.said();
    assert!(!said.contains("\u{1b}]0;evil") && !said.contains('\u{202e}'), "{said:?}");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn m2_what_starts_by_itself_is_announced_if_it_is_trusted() {
    let world = World::new();
    let text = "---\nauto_start: true\n---\n# Login\n\n## Goal\n\nUsers log in.\n\n## Features\n\n- a form\n\n## Acceptance Criteria\n\n- [ ] it works\n";
    world.write(".dacapo/milestones/login.md", text);
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "a milestone"]);
    let mut stranger = App::open(&world);
    stranger.shows("No tasks");
    // What comes at launch has come when a key was answered after it.
    stranger.press("?");
    stranger.shows("Everywhere");
    assert!(!stranger.look().contains("auto_start"), "nobody has agreed to it");
    stranger.press("q");
    assert_eq!(stranger.end(), Some(0));
    world.run(&["trust", "--yes"]).expect(0);
    let mut app = App::open(&world);
    app.shows("login starts by itself (auto_start) in");
    app.press("n");
    app.shows_no_more("auto_start");
    app.press("q");
    assert_eq!(app.end(), Some(0));
    assert!(world.tasks().is_empty(), "it was declined");
}
