//! Completion in a real bash: commands, names of tasks and agents, values, keys.

use std::path::Path;
use std::process::Command;

use crate::support::World;

/// What bash offers for the last of these words, and what went wrong on the way.
fn offered(world: &World, dir: &Path, words: &[&str]) -> (Vec<String>, String) {
    let program = world.bin().join("dacapo");
    if !program.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dacapo"), &program).unwrap();
    }
    // As readline calls it: the words, which of them, and the last one once more.
    let script = r#"
set -u
source <(dacapo completions bash)
handler=$(complete -p dacapo) || exit 9
handler=${handler##*-F } handler=${handler%% *}
COMP_WORDS=(dacapo "$@") COMP_CWORD=$# COMP_TYPE=9 COMPREPLY=()
set +u
"$handler" dacapo "${COMP_WORDS[$#]}" "${COMP_WORDS[$#-1]}" 2> >(grep -v 'not currently executing completion' >&2)
printf '%s\n' "${COMPREPLY[@]}"
"#;
    let mut command = world.command(&[] as &[&str]);
    let path = command
        .get_envs()
        .find(|(name, _)| *name == "PATH")
        .and_then(|(_, path)| path.map(ToOwned::to_owned));
    command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-c", script, "bash"]).args(words).current_dir(dir).env_clear();
    command.env("PATH", path.unwrap()).env("HOME", world.home()).env("DACAPO_HOME", world.data());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let found = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    (found, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn names(world: &World, words: &[&str]) -> Vec<String> {
    offered(world, &world.repo(), words).0
}

#[test]
fn m1_bash_completes_milestones() {
    let world = World::new();
    for id in ["login", "logout", "Upper"] {
        world.write(&format!(".dacapo/milestones/{id}.md"), "");
    }
    for command in ["show", "start", "resume", "approve", "reject", "abandon"] {
        assert_eq!(names(&world, &["milestone", command, "lo"]), ["login", "logout"], "{command}");
    }
    assert_eq!(names(&world, &["ms", "show", "logi"]), ["login"]);
    assert_eq!(names(&world, &["milestone", "show", "U"]), [""; 0], "a name that is no ID");
}

#[test]
fn s2_bash_completes_tasks_agents_values_and_keys() {
    let world = World::new();
    world.config("[agents.clever]\ncommand = [\"true\"]\n");
    for name in ["auth", "audit", "docs"] {
        let _ = world.exec(&["--name", name, "--agent-cmd", "true", "go"]).expect(0);
    }
    for command in ["status", "logs", "diff", "wait", "resume", "kill", "pause", "tell", "set"] {
        assert_eq!(names(&world, &[command, "au"]), ["audit", "auth"], "{command}");
        assert_eq!(names(&world, &[command, "docs"]), ["docs"], "{command}");
        assert_eq!(names(&world, &[command, "x"]), [""; 0], "{command}");
    }
    assert_eq!(names(&world, &["kill", "auth,"]), ["auth,audit", "auth,docs"]);
    assert_eq!(names(&world, &["kill", "auth,docs,a"]), ["auth,docs,audit"]);
    assert_eq!(names(&world, &["exec", "--agent", "cl"]), ["claude", "clever"]);
    assert_eq!(names(&world, &["exec", "--agent", "claude,cl"]), ["claude,clever"]);
    assert_eq!(names(&world, &["exec", "--approval", "r"]), ["read-only"]);
    assert_eq!(names(&world, &["set", "auth", "max-c"]), ["max-cost="]);
    assert_eq!(names(&world, &["completions", "z"]), ["zsh"]);
    assert!(names(&world, &["st"]).contains(&"status".to_owned()));
    assert!(names(&world, &["list", "--s"]).contains(&"--size".to_owned()));
    // Only what can be merged is offered for it.
    assert_eq!(names(&world, &["merge", "do"]), [""; 0]);
    let _ = world.exec(&["--name", "done", "--worktree", "--agent-cmd", "date > log", "go"]).expect(0);
    assert_eq!(names(&world, &["merge", "do"]), ["done"]);
    assert_eq!(names(&world, &["spawn", "--base", "m"]), ["main"]);
    let _ = world.run(&["drop", "done"]).expect(0);
    // What was dropped is no task any more, and can be brought back.
    let _ = world.run(&["drop", "docs"]).expect(0);
    assert_eq!(
        (names(&world, &["status", "d"]), names(&world, &["undo", "doc"])),
        (vec![], vec!["docs".into()])
    );
    let _ = world.run(&["undo", "docs"]).expect(0);
    // A new name is the user's own.
    assert_eq!(names(&world, &["exec", "--name", "au"]), [""; 0]);
    // From below, from elsewhere, from nowhere.
    world.write("below/x", "");
    assert_eq!(offered(&world, &world.repo().join("below"), &["status", "au"]).0, ["audit", "auth"]);
    let repo = world.repo().to_str().unwrap().to_owned();
    assert_eq!(offered(&world, &world.home(), &["-C", &repo, "status", "au"]).0, ["audit", "auth"]);
    assert_eq!(offered(&world, &world.home(), &["status", "au"]), (vec![], String::new()));
}

#[test]
fn s2_completion_is_quiet_and_runs_nothing_of_what_is_typed() {
    let world = World::new();
    let _ = world.exec(&["--name", "auth", "--agent-cmd", "true", "go"]).expect(0);
    world.program("git", "#!/bin/sh\necho called >> \"$HOME/git-called\"; exit 99\n");
    let tasks = world.task_dir("auth").parent().unwrap().to_owned();
    for odd in ["$(touch pwned)", "a b", "line\nbreak", "au*", "'"] {
        std::fs::create_dir(tasks.join(odd)).unwrap();
    }
    assert_eq!(offered(&world, &world.repo(), &["status", "a"]), (vec!["auth".into()], String::new()));
    for typed in ["$(touch pwned)", "`touch pwned`", "au'; touch pwned; '", "a\nb", "*"] {
        let (_, said) = offered(&world, &world.repo(), &["status", typed]);
        assert_eq!(said, "", "{typed}");
    }
    assert!(!world.repo().join("pwned").exists());
    assert!(!world.home().join("git-called").exists(), "names need no git");
    // A config that does not read: what is built in is still there.
    world.config("nonsense = [");
    let (agents, said) = offered(&world, &world.repo(), &["exec", "--agent", "cod"]);
    assert_eq!((agents, said), (vec!["codex".to_owned()], String::new()));
}
