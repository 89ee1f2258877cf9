//! Journals that end in the middle of a line, are damaged, or find no room on the disk.

use std::fs;

use super::*;

fn five() -> Vec<&'static str> {
    [&["--agent-cmd", AGENT], &FIVE[..]].concat()
}

/// A world in which the task has died once that event was written, and its journal.
fn died_after(event: usize) -> (World, PathBuf) {
    let world = World::new();
    assert!(world.exec_dies(At::After(event), &five()));
    world.assert_nothing_left("t");
    let journal = world.task_dir("t").join("journal.jsonl");
    (world, journal)
}

#[test]
fn r1_half_a_line_at_the_end_is_no_obstacle() {
    let instants: Vec<At> = (0..40).step_by(3).map(At::Torn).collect();
    for_each(&instants, |at| {
        let world = World::new();
        assert!(world.exec_dies(*at, &five()), "{at:?}");
        world.resume_to_the_end("t");
        world.assert_five("t", "main");
    });
}

#[test]
fn r1_a_journal_cut_at_any_byte_of_its_last_line_reads_and_goes_on() {
    let (world, journal) = died_after(20);
    let bytes = fs::read(&journal).unwrap();
    let last_line = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in (last_line..bytes.len()).step_by(20) {
        fs::write(&journal, &bytes[..cut]).unwrap();
        assert_eq!(world.status("t")["status"], "interrupted", "cut at {cut}");
        assert_eq!(fs::read(&journal).unwrap(), bytes[..cut], "who only looks writes nothing");
    }
    world.resume_to_the_end("t");
    world.assert_five("t", "main");
}

#[test]
fn r1_zeros_at_the_end_are_cut_off() {
    let (world, journal) = died_after(20);
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, [&whole[..], &[0; 700]].concat()).unwrap();
    world.resume_to_the_end("t");
    assert!(fs::read(&journal).unwrap().starts_with(&whole));
    world.assert_five("t", "main");
}

/// Every command that needs the journal says what is wrong with it and leaves everything as it is.
fn assert_refused(world: &World, journal: &Path, message: &str) {
    let (before, head) = (fs::read(journal).unwrap(), world.git(&["rev-parse", "HEAD"]));
    for words in [&["resume", "t"][..], &["resume", "t", "--json"], &["status", "t"], &["logs", "t"]] {
        let ran = world.run(words).expect(1);
        assert!(ran.stderr.contains(message), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("journal.jsonl"), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(fs::read(journal).unwrap(), before, "nothing is overwritten");
    assert_eq!(world.git(&["rev-parse", "HEAD"]), head);
    world.assert_nothing_left("t");
}

#[test]
fn r2_a_broken_line_in_the_middle_is_named_and_nothing_is_overwritten() {
    let (world, journal) = died_after(20);
    let mut lines: Vec<String> = fs::read_to_string(&journal).unwrap().lines().map(str::to_owned).collect();
    lines[6].truncate(20);
    fs::write(&journal, lines.join("\n") + "\n").unwrap();
    assert_refused(&world, &journal, "damaged at line 7");
    let list = world.run(&["list"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.stderr.contains("damaged at line 7"), "{list:?}");
}

#[test]
fn r2_a_journal_of_a_newer_version_is_left_alone() {
    let (world, journal) = died_after(20);
    let mut text = fs::read_to_string(&journal).unwrap();
    text.push_str("{\"v\":4,\"seq\":21,\"type\":\"unheard_of\"}\n");
    fs::write(&journal, text).unwrap();
    assert_refused(&world, &journal, "newer Dacapo");
}

#[test]
fn r2_a_full_disk_is_said_and_the_task_goes_on_when_there_is_room() {
    let instants: Vec<usize> = (0..40).step_by(3).collect();
    for_each(&instants, |event| {
        let world = World::new();
        let (_, ran) = world.run_to(At::Full(*event), &[&["exec"], &five()[..]].concat());
        let ran = ran.expect(1);
        assert!(ran.stderr.contains("No space left on device"), "{}", ran.stderr);
        assert!(ran.stderr.contains("dacapo resume t"), "{}", ran.stderr);
        assert_eq!(world.journal_or_none("t").len(), *event, "whole lines only");
        world.assert_nothing_left("t");
        assert_eq!(world.status("t")["status"], "interrupted");
        world.resume_to_the_end("t");
        world.assert_five("t", "main");
    });
}

#[test]
fn r2_output_for_which_there_is_no_room_is_missed_and_said() {
    let world = World::new();
    // A limit of file sizes, as near to a full disk as a test without privileges comes.
    let script = format!(
        "ulimit -f 200; exec '{}' exec --name t --agent-cmd 'head -c 1000000 /dev/zero | tr \"\\0\" x; echo; echo 1 > a' --json work",
        env!("CARGO_BIN_EXE_dacapo")
    );
    let ours = world.command::<&str>(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env_clear().current_dir(world.repo()).stdin(Stdio::null());
    shell.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::from(shell.output().unwrap()).expect(0);
    assert_eq!(ran.result()["outcome"], "completed");
    let notices = world.notices("t");
    let said = notices.iter().any(|notice| notice.contains("output is missing"));
    assert!(said, "{notices:?}");
    assert_eq!(world.read("a"), "1\n");
    world.assert_in_order("t");
}

/// The task's journal without the lines whose event is one of `kinds`, and cut off behind the first turn.
fn without(world: &World, kinds: &[&str]) {
    let journal = world.task_dir("t").join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let mut kept = String::new();
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let kind = event["type"].as_str().unwrap();
        if !kinds.contains(&kind) {
            kept.push_str(line);
            kept.push('\n');
        }
        if kind == "turn_finished" {
            break;
        }
    }
    fs::write(&journal, kept).unwrap();
}

#[test]
fn r4_a_journal_that_lacks_the_start_of_its_iteration_ends_when_killed() {
    let world = World::new();
    let agent = "cat > /dev/null; echo x >> f";
    let _ = world.exec(&["--name", "t", "--worktree", "--iter", "2", "--agent-cmd", agent, "go"]).expect(0);
    without(&world, &["iteration_started", "turn_finished"]);

    let _ = world.run(&["kill", "t"]).expect(0);
    assert_eq!(world.status("t")["outcome"], "cancelled");
    assert!(world.journal("t").len() < 20, "{} lines", world.journal("t").len());
}

#[test]
fn r4_a_journal_that_lacks_its_workspace_does_not_cost_the_work_that_was_done_there() {
    let world = World::new();
    let agent = "cat > /dev/null; echo x >> f; echo precious > uncommitted";
    let _ = world.exec(&["--name", "t", "--worktree", "--iter", "1", "--agent-cmd", agent, "go"]).expect(0);
    let tip = world.git(&["rev-parse", "dacapo/t"]);
    let worktree = world.task_dir("t").parent().unwrap().parent().unwrap().join("worktrees/t");
    fs::write(worktree.join("mine"), "not committed by anybody").unwrap();
    without(&world, &["workspace_ready", "iteration_started"]);

    let _ = world.run(&["resume", "t", "--iter", "1"]);
    let found = world.git(&["log", "--format=%H", "dacapo/t"]);
    assert!(found.lines().any(|commit| commit == tip.trim()), "{found}");
    assert!(worktree.join("mine").exists(), "it is still there");
}
