//! `dacapo init`, and what it takes over.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::World;

/// All files below, with what is in them.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn m1_init_lays_everything_out_once() {
    let world = World::new();
    world.write(".dacapo/soul.md", "Be kind.\n");
    let ran = world.run(&["init", "--json"]).expect(0);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["there"], json!([".dacapo/soul.md"]));
    let before = files(&world.repo().join(".dacapo"));
    let expected = [
        ".gitignore",
        "VISION.md",
        "config.toml",
        "memory/project.md",
        "milestones/README.md",
        "prompts/acceptor.md",
        "prompts/developer.md",
        "prompts/final.md",
        "soul.md",
    ];
    assert_eq!(before.keys().collect::<Vec<_>>(), expected);
    assert_eq!(before["soul.md"], "Be kind.\n");
    // It changes nothing that was there, however often it runs; and nothing of it counts as a milestone or a setting.
    let ran = world.run(&["init"]).expect(0);
    assert!(
        ran.stdout.contains("there   .dacapo/config.toml") && !ran.stdout.contains("made "),
        "{}",
        ran.stdout
    );
    assert_eq!(files(&world.repo().join(".dacapo")), before);
    assert!(world.run(&["milestone", "list"]).expect(0).stdout.contains("no milestones yet"));
    let shown = world.run(&["config", "show"]).expect(0).stdout;
    assert!(!shown.contains("project "), "{shown}");
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .dacapo/", "nothing is added to git");
    world.write(".dacapo/state.json", "{}");
    world.write(".dacapo/milestones/x.json", "{}");
    world.git(&["add", ".dacapo"]);
    assert!(!world.git(&["diff", "--cached", "--name-only"]).contains("json"), "mirrors are never committed");
}

#[test]
fn m1_init_needs_a_repository() {
    let world = World::without_repo();
    let ran = world.run(&["init"]).expect(2);
    assert!(ran.stderr.contains("git init"), "{}", ran.stderr);
    assert_eq!(files(&world.repo()), BTreeMap::new());
}

const GOOD: &str = "# Good\n\n## Goal\nx\n\n## Features\n- a\n  验收：b\n\n## Acceptance Criteria\n- [ ] c\n";

fn anima(world: &World) {
    world.write(".anima/soul.md", "# Soul\n");
    world.write(".anima/memory/project.md", "# Memory\n");
    world.write(".anima/memory/iterations/1.md", "old\n");
    world.write(".anima/inbox.json", "[]");
    world.write(".anima/state.json", "{\"status\": \"sleeping\", \"current_milestone\": null}");
    world.write(
        ".anima/config.json",
        "{\"auto_start\": true, \"max_iterations_per_milestone\": 7, \"agent_timeout_ms\": 300000}",
    );
    world.write(".anima/milestones/M1-done.md", GOOD);
    let state = |id: &str, status: &str| {
        json!({ "id": id, "file": format!(".anima/milestones/{id}.md"), "status": status, "iteration_count": 4,
                "branch_name": format!("milestone/{id}"), "base_commit": null, "tokens_used": 12, "cost_usd": 0.5,
                "requires_human_review": id == "waits", "created_at": "2026-02-28T00:00:00Z" })
        .to_string()
    };
    world.write(".anima/milestones/m1.json", state("M1-done", "completed"));
    world.write(".anima/milestones/waits.md", GOOD);
    world.write(".anima/milestones/waits.json", state("waits", "pending"));
    world.write(".anima/milestones/free.md", "# Free\n\n## Requirements\nwhatever\n");
    world.write(".anima/milestones/later.draft.md", "x");
    world.write(".anima/milestones/broken.json", "{");
    let odd = std::ffi::OsStr::from_bytes(b"\xff.md");
    fs::write(world.repo().join(".anima/milestones").join(odd), "x").unwrap();
}

#[test]
fn m1_an_anima_directory_is_taken_over() {
    let world = World::new();
    anima(&world);
    assert!(world.run(&["init"]).expect(0).stdout.contains("dacapo init --import"), "it is offered");
    fs::remove_dir_all(world.repo().join(".dacapo")).unwrap();
    let source = files(&world.repo().join(".anima"));
    let ran = world.run(&["init", "--import"]).expect(0);
    for said in [
        "milestones/M1-done.md → .dacapo/milestones/m1-done.md, completed",
        "milestones/waits.md → .dacapo/milestones/waits.md, pending",
        "milestones/free.md → .dacapo/milestones/free.md, pending; line 4: the section '## Goal' is missing",
        "inbox.json: ideas are not imported",
        "milestones/broken.json: it is not JSON",
        "auto_start: true",
        "\u{fffd}.md; it cannot be read",
    ] {
        assert!(ran.stdout.contains(said), "{said}\n{}", ran.stdout);
    }
    assert_eq!(files(&world.repo().join(".anima")), source, "the source is as it was");
    let made = files(&world.repo().join(".dacapo"));
    assert_eq!((made["soul.md"].as_str(), made["memory/project.md"].as_str()), ("# Soul\n", "# Memory\n"));
    assert!(!made.contains_key("milestones/later.draft.md") && !made.contains_key("milestones/waits.json"));
    assert_eq!(
        made["milestones/waits.md"],
        format!("---\ncreated: 2026-02-28T00:00:00Z\nrequires_human_review: true\n---\n\n{GOOD}")
    );
    let shown = world.run(&["config", "show"]).expect(0).stdout;
    assert!(
        shown.contains("max_iterations_per_milestone")
            && made["config.toml"].contains("\nmax_iterations_per_milestone = 7\n")
    );
    assert!(made["config.toml"].contains("\ncall_timeout = \"300s\"\n"));
    let listed = world.run(&["milestone", "list", "--json"]).expect(0);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let told: Vec<(&str, &str)> = listed
        .iter()
        .map(|entry| (entry["id"].as_str().unwrap(), entry["status"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("free", "pending"), ("m1-done", "completed"), ("waits", "pending")]);
    assert_eq!((&listed[1]["iteration_count"], &listed[1]["cost_usd"]), (&json!(4), &json!(0.5)));
    // Once more changes nothing, whatever was written here since.
    world.write(".dacapo/milestones/waits.md", "mine");
    let ran = world.run(&["init", "--import", ".anima"]).expect(0);
    assert!(ran.stdout.contains(".dacapo/milestones/waits.md already exists"), "{}", ran.stdout);
    assert_eq!(world.read(".dacapo/milestones/waits.md"), "mine");
    assert!(ran.stdout.contains("set max_iterations_per_milestone = 7"), "{}", ran.stdout);
}

#[test]
fn m1_what_is_not_there_is_not_taken_over() {
    let world = World::new();
    let ran = world.run(&["init", "--import"]).expect(2);
    assert!(ran.stderr.contains("there is no directory"), "{}", ran.stderr);
    assert!(!world.repo().join(".dacapo").exists(), "bad input changes nothing");
}
