//! What `merge` believes, and what it proves again.

use std::fs;

use super::{CHECK, exec, world};
use crate::support::World;

fn will_check(world: &World) -> bool {
    let plan = world.run(&["merge", "t", "--dry-run"]).expect(0).stdout;
    assert!(plan.contains(CHECK), "{plan}");
    !plan.contains("(proven on this commit)")
}

#[test]
fn l4_merge_proves_what_only_passed_in_the_workspace() {
    let world = world();
    let _ = exec(&world, "echo 42 > answer", &["--worktree", "--proof", "workspace"]).expect(0);
    assert!(will_check(&world));
    let merged = world.run(&["merge", "t"]).expect(0);
    assert!(merged.stdout.contains(CHECK), "{}", merged.stdout);
}

#[test]
fn r4_merge_proves_again_where_the_record_is_not_whole() {
    let world = world();
    let _ = exec(&world, "echo 42 > answer", &["--worktree"]).expect(0);
    assert!(!will_check(&world));
    let journal = world.task_dir("t").join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let started = text.lines().find(|line| line.contains("\"proof_started\"")).unwrap();
    fs::write(&journal, format!("{text}{started}\n")).unwrap();
    assert!(will_check(&world), "a line is there twice");
}

#[test]
fn r4_merge_proves_again_where_another_process_ended_the_task() {
    let world = world();
    let _ = exec(&world, "echo 42 > answer", &["--worktree"]).expect(0);
    // As if the process had been killed after the proof, and another had written the end.
    let journal = world.task_dir("t").join("journal.jsonl");
    let lines: Vec<serde_json::Value> = world.journal("t");
    let end = lines.iter().position(|line| line["type"] == "task_finished").unwrap();
    let mut all: Vec<serde_json::Value> = lines[..end].to_vec();
    let mut resumed = lines[end].clone();
    let object = resumed.as_object_mut().unwrap();
    object.retain(|key, _| ["v", "seq", "at", "elapsed_seconds", "task"].contains(&key.as_str()));
    object.insert("type".into(), "resumed".into());
    object.insert("pid".into(), 1.into());
    object.insert("version".into(), "0".into());
    all.push(resumed);
    all.push(lines[end].clone());
    for (seq, line) in all.iter_mut().enumerate() {
        line["seq"] = seq.into();
    }
    let text: String = all.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&journal, text).unwrap();
    assert!(will_check(&world));
    let _ = world.run(&["merge", "t"]).expect(0);
}

#[test]
fn l4_merge_proves_a_result_that_is_another_commit() {
    let world = world();
    let _ = exec(&world, "echo 42 > answer", &["--worktree"]).expect(0);
    world.write("other", "x\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "other"]);
    assert!(will_check(&world));
    let _ = world.run(&["merge", "t"]).expect(0);
    assert!(super::in_a_clone(&world, CHECK));
}
