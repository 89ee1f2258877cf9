//! `dacapo list` (S2, S14): what it shows, what it needs, and what it does not stumble over.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::World;

fn elements(world: &World, words: &[&str]) -> Vec<Value> {
    serde_json::from_str(&world.run(words).expect(0).stdout).unwrap()
}

/// One task in a worktree of its own.
fn task(world: &World, name: &str, words: &[&str], code: i32) {
    let _ = world.exec(&[&["--worktree", "--name", name], words, &["go"]].concat()).expect(code);
}

/// As if the task had ended long ago: only then is anything of it remembered.
fn wait_until_old(world: &World, names: &[&str]) {
    use std::os::unix::fs::MetadataExt as _;
    let ends = names
        .iter()
        .map(|name| fs::metadata(world.task_dir(name).join("journal.jsonl")).unwrap().ctime() + 4);
    let until = ends.max().unwrap();
    crate::support::wait_for("journals to be old", || jiff::Timestamp::now().as_second() >= until);
}

#[test]
fn s14_list_groups_by_what_needs_the_user() {
    let world = World::new();
    assert!(world.run(&["list"]).expect(0).stdout.contains("no tasks yet"));
    assert_eq!(world.run(&["list", "--json"]).expect(0).stdout, "[]\n");
    task(&world, "broken", &["--agent-cmd", "exit 1"], 1);
    task(&world, "claimed", &["--agent-cmd", "touch a"], 0);
    task(&world, "proven", &["--check", "test -f b", "--agent-cmd", "touch b"], 0);
    task(&world, "capped", &["--until", "X", "--max-iterations", "1", "--agent-cmd", "true"], 3);
    task(&world, "red", &["--check", "false", "--max-iterations", "1", "--agent-cmd", "touch c"], 3);
    task(&world, "idle", &["--agent-cmd", "true"], 0);
    let _ = world.exec(&["--name", "here", "--agent-cmd", "touch d", "go"]).expect(0);
    let list = world.run(&["list"]).expect(0).stdout;
    let rows: Vec<&str> = list.lines().map(str::trim_end).collect();
    let words: Vec<Vec<&str>> = rows.iter().map(|row| row.split_whitespace().collect()).collect();
    let heads: Vec<[&str; 2]> = words.iter().take(6).map(|row| [row[0], row[1]]).collect();
    let expected = [
        ["READY", "proven"],
        ["READY", "claimed"],
        ["STOPPED", "red"],
        ["STOPPED", "capped"],
        ["STOPPED", "broken"],
        ["DONE", "here"],
    ];
    assert_eq!(heads, expected, "{list}");
    for (row, text, next) in [
        (0, "✓ proven", "dacapo merge proven"),
        (1, "finished, unverified", "dacapo merge claimed"),
        (2, "1 of 1, still red", "dacapo resume red --iter 5"),
        (3, "1 of 1, not done", "dacapo resume capped --iter 5"),
        (4, "failed", "dacapo status broken"),
        (5, "here and 1 more  1 in your checkout, 1 without changes (2 unverified)", "dacapo prune"),
    ] {
        assert!(rows[row].contains(text) && rows[row].ends_with(next), "{text} {next}\n{list}");
    }
    assert_eq!(rows[6..], ["7 tasks · 7 iterations · this repository"]);
    let done = world.run(&["list", "--done"]).expect(0).stdout;
    assert!(done.contains("DONE       here") && done.contains("DONE       idle"), "{done}");
}

#[test]
fn s14_json_has_the_fields_of_the_format() {
    let world = World::new();
    task(&world, "t", &["--check", "test -f b", "--agent-cmd", "touch b"], 0);
    let all = elements(&world, &["ls", "--all", "--json"]);
    let fields = [
        "name",
        "repo",
        "kind",
        "status",
        "outcome",
        "verified",
        "needs",
        "iteration",
        "max_iterations",
        "iterations_succeeded",
        "iterations_failed",
        "elapsed_seconds",
        "tokens",
        "cost_usd",
        "agent",
        "prompt",
        "base_branch",
        "base_commit",
        "last_commit",
        "branch",
        "worktree",
        "pid",
        "waiting_until",
        "created_at",
        "finished_at",
    ];
    let status = world.status("t");
    let known: Vec<&str> = all[0].as_object().unwrap().keys().map(String::as_str).collect();
    for field in fields {
        assert!(known.contains(&field), "{field}");
        assert_eq!(all[0][field], status[field], "{field}");
    }
    assert!(all[0].get("iterations").is_none() && status["iterations"].is_array(), "status only");
}

#[test]
fn s14_the_index_says_what_the_journals_say_and_may_go() {
    let world = World::new();
    task(&world, "a", &["--agent-cmd", "touch a"], 0);
    task(&world, "b", &["--agent-cmd", "exit 1"], 1);
    let ways: [&[&str]; 3] = [&["list"], &["list", "--done"], &["list", "--json"]];
    let lists = || ways.map(|words| world.run(words).expect(0).stdout);
    let first = lists();
    wait_until_old(&world, &["a", "b"]);
    assert_eq!(lists(), first);
    let data = world.task_dir("a").ancestors().nth(2).unwrap().to_owned();
    let index = data.join("tasks.index");
    let text = fs::read_to_string(&index).unwrap();
    assert!(text.contains("\na ") && text.contains("\nb "), "{text}");
    assert!(data.join("tasks-json.index").exists());
    assert_eq!(lists(), first, "by the index");
    for garbage in ["", "not an index\n", "{\"v\":1,\"program\":\"0.0.0\"}\na 1 2 3 4 5 {}\n"] {
        fs::write(&index, garbage).unwrap();
        assert_eq!(lists(), first, "{garbage:?}");
    }
    // A place that cannot be written to, whoever asks.
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert_eq!(lists(), first);
    // More happens: it is seen.
    let _ = world.run(&["resume", "a", "more", "--iter", "1"]).expect(0);
    assert!(lists()[0].contains("3 iterations"), "{}", lists()[0]);
}

#[test]
fn s14_no_git_is_needed_to_list_tasks() {
    let world = World::new();
    task(&world, "t", &["--agent-cmd", "touch a"], 0);
    world.program("git", "#!/bin/sh\necho called >> \"$DACAPO_HOME/../git-called\"; exit 99\n");
    world.write("below/x", "");
    let mut command = world.command(&["list"]);
    let output = command.current_dir(world.repo().join("below")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("READY      t"), "{text}");
    let worktree = elements(&world, &["list", "--json"])[0]["worktree"].as_str().unwrap().to_owned();
    let output = world.command(&["list"]).current_dir(Path::new(&worktree)).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("READY      t"));
    assert!(!world.scratch("git-called").exists());
}

#[test]
fn r2_what_does_not_read_is_a_line_and_hides_nothing() {
    let world = World::new();
    for name in ["fine", "damaged", "newer", "headless"] {
        task(&world, name, &["--iter", "2", "--agent-cmd", "date >> a"], 0);
    }
    let tasks = world.task_dir("fine").parent().unwrap().to_owned();
    fs::remove_file(tasks.join("headless/spec.json")).unwrap();
    let spec = fs::read_to_string(tasks.join("newer/spec.json")).unwrap();
    fs::write(tasks.join("newer/spec.json"), spec.replacen("\"v\": 4", "\"v\": 5", 1)).unwrap();
    let journal = fs::read_to_string(tasks.join("damaged/journal.jsonl")).unwrap();
    let broken: Vec<&str> =
        journal.lines().enumerate().map(|(at, line)| if at == 3 { "{\u{1b}[31m\"" } else { line }).collect();
    fs::write(tasks.join("damaged/journal.jsonl"), broken.join("\n") + "\n").unwrap();
    std::os::unix::fs::symlink("loop", tasks.join("loop")).unwrap();
    fs::write(tasks.join("file"), "not a task").unwrap();
    fs::create_dir(tasks.join(".new-abc")).unwrap();
    fs::create_dir(tasks.join("Not A Name")).unwrap();
    for words in [&["list"][..], &["list", "--json"], &["list", "--all"]] {
        let ran = world.run(words).expect(0);
        let said: Vec<&str> = ran.stderr.lines().collect();
        for (line, (name, why)) in said.iter().zip([
            ("damaged", "damaged at line 4"),
            ("file", "irectory"),
            ("headless", "no task at"),
            ("loop", "symbolic links"),
            ("newer", "newer Dacapo (format 5)"),
        ]) {
            assert!(line.starts_with(&format!("warning: cannot read task '{name}': ")), "{line}");
            assert!(line.contains(why) && !line.contains('\u{1b}'), "{line}");
        }
        assert_eq!(said.len(), 5, "{}", ran.stderr);
        assert!(ran.stdout.contains("fine"), "{}", ran.stdout);
    }
    assert_eq!(elements(&world, &["list", "--json"]).len(), 1);
}

#[test]
fn s14_all_repositories_from_anywhere() {
    let world = World::new();
    task(&world, "t", &["--agent-cmd", "touch a"], 0);
    let other = world.scratch("other");
    fs::create_dir(&other).unwrap();
    world.git_in(&other, &["init", "-q", "-b", "main"]);
    world.git_in(&other, &["commit", "-q", "--allow-empty", "-m", "x"]);
    let mut command = world.command(&["exec", "--worktree", "--name", "t", "--agent-cmd", "touch b", "go"]);
    assert!(command.current_dir(&other).output().unwrap().status.success());
    let here = world.run(&["list"]).expect(0).stdout;
    assert!(here.ends_with("1 task · 1 iteration · this repository (--all: 2)\n"), "{here}");
    let nowhere = world.scratch("nowhere");
    fs::create_dir(&nowhere).unwrap();
    let mut command = world.command(&["list", "--all"]);
    let all = command.current_dir(&nowhere).output().unwrap();
    let all = String::from_utf8_lossy(&all.stdout).into_owned();
    let lines: Vec<&str> = all.lines().collect();
    let tops = [other.canonicalize().unwrap(), world.repo().canonicalize().unwrap()];
    assert_eq!((lines[0], lines[2]), (tops[0].to_str().unwrap(), tops[1].to_str().unwrap()), "{all}");
    assert_eq!(lines[4], "2 tasks · 2 iterations · all repositories");
    let mut command = world.command(&["list"]);
    let refused = crate::support::Ran::from(command.current_dir(&nowhere).output().unwrap());
    assert!(refused.expect(2).stderr.contains("is not in a git repository"));
}

#[test]
fn s14_what_a_task_takes_on_disk_is_measured_kept_and_forgotten_with_its_worktree() {
    let world = World::new();
    task(&world, "t", &["--agent-cmd", "head -c 3000000 /dev/urandom > large.bin"], 0);
    let _ = world.exec(&["--name", "here", "--agent-cmd", "touch x", "go"]).expect(0);
    let of = |list: &[Value], name: &str| {
        list.iter().find(|task| task["name"] == name).unwrap().get("worktree_bytes").cloned()
    };
    let measured = elements(&world, &["list", "--size", "--json"]);
    let bytes = of(&measured, "t").and_then(|bytes| bytes.as_u64()).unwrap();
    assert!((3_000_000..30_000_000).contains(&bytes), "{bytes}");
    assert_eq!(of(&measured, "here"), Some(json!(0)));
    assert_eq!(elements(&world, &["list", "--json"]), measured, "it is remembered");
    let worktree = measured.iter().find_map(|task| task["worktree"].as_str()).unwrap().to_owned();
    fs::remove_dir_all(worktree).unwrap();
    assert_eq!(of(&elements(&world, &["list", "--json"]), "t"), Some(json!(0)));
}
