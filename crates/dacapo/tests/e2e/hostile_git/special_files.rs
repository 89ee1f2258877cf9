//! A FIFO where git, and Dacapo itself, read a file: it is refused by its name, and nothing waits for somebody to write to
//! it (r05).

use std::fs;
use std::process::Stdio;

use crate::crash::for_each;
use crate::misdeed::agent;
use crate::support::{PATIENCE, Ran, World};

/// Where git reads in every command or nearly so.
const PLACES: [&str; 16] = [
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".git/index",
    ".git/HEAD",
    ".git/config",
    ".git/packed-refs",
    ".git/shallow",
    ".git/MERGE_HEAD",
    ".git/info/exclude",
    ".git/info/attributes",
    ".git/info/grafts",
    ".git/logs/HEAD",
    ".git/objects/info/alternates",
    ".git/refs/heads/main",
    "sub/.gitignore",
];

/// Runs the program, which must end.
fn run(world: &World, words: &[&str]) -> Ran {
    let mut child = world.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            let ran = Ran::from(child.wait_with_output().unwrap());
            panic!("{words:?} does not end\n{}{}", ran.stdout, ran.stderr);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn r05_a_fifo_where_git_reads_is_named_and_nothing_hangs() {
    for_each(&PLACES, |place| {
        let world = World::unconfined();
        let name = place.rsplit('/').next().unwrap();
        let misdeed = format!(
            "f={place}; mkdir -p $(dirname $f); if [ -e $f ]; then mv $f ../kept; fi; mkfifo $f || exit 7"
        );
        let agent = agent(&misdeed);
        let ran = run(&world, &["exec", "--name", "t", "--iter", "2", "--agent-cmd", &agent, "go"]);
        ran.says(&format!("{name} is a FIFO"));
        for words in
            [&["list"][..], &["status", "t"], &["diff", "t"], &["kill", "t"], &["drop", "t", "--yes"]]
        {
            let ran = run(&world, words);
            assert!(ran.code <= 2, "{place} {words:?}: {ran:?}");
        }
        fs::remove_file(world.repo().join(place)).unwrap();
        if world.scratch("kept").exists() {
            fs::rename(world.scratch("kept"), world.repo().join(place)).unwrap();
        }
        assert_eq!(world.read("f1"), "1\n", "what the agent left is there");
        let _ = run(&world, &["list"]).expect(0);
    });
}

#[test]
fn r05_a_fifo_in_place_of_the_tasks_branch_is_named_at_the_start() {
    let world = World::new();
    let branch = world.repo().join(".git/refs/heads/dacapo/t");
    fs::create_dir_all(branch.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&branch).status().unwrap().success());
    let words = ["exec", "--name", "t", "--worktree", "--iter", "1", "--agent-cmd", "date > f", "go"];
    run(&world, &words).expect(1).says("refs/heads/dacapo/t is a FIFO");
}
