//! Which platform it is, by its host or by who is logged in there, and what its program is asked.

use std::fs;

use serde_json::{Value, json};

use super::{AGENT, GH, GITHUB, exec, tip};
use crate::support::{Ran, World};

#[test]
fn s12_without_the_program_the_branch_is_pushed_and_the_command_is_shown() {
    let world = World::with_remote(GITHUB);
    let words = ["exec", "--name", "t", "--worktree", "--pr=It's \"here\"", "--agent-cmd", AGENT, "go"];
    let mut command = world.command(&words);
    world.hide_other_programs(&mut command);
    let ran = Ran::from(command.output().unwrap()).expect(0);
    ran.says("note    gh is not installed").says("dacapo/t is pushed to origin, but no pull request is open");
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
    let line =
        ran.stdout.lines().find(|line| line.trim_start().starts_with("gh pr create")).expect("a command");
    // As a person would: pasted into a shell, with the program there.
    world.platform("gh", GH);
    let script = world.program("paste", &format!("#!/bin/sh\n{line}\n"));
    let done = std::process::Command::new(script)
        .env("PATH", format!("{}:/usr/bin:/bin", world.bin().display()))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let opened = world.opened("gh");
    let body = world.task_dir("t").join("pull-request.md");
    assert_eq!(
        opened.argv,
        [
            "pr",
            "create",
            "--head=dacapo/t",
            "--base=main",
            "--title=It's \"here\"",
            &format!("--body-file={}", body.display()),
            "--repo=github.com/owner/name"
        ]
    );
    assert!(fs::read_to_string(body).unwrap().contains("> Did the work.\n"));
}

#[test]
fn s12_gitlab_and_gitea_are_asked_in_their_own_words() {
    let world = World::with_remote("git@gitlab.com:group/sub/name.git");
    world.platform("glab", "test \"$2\" = list && echo '[]' || printf '!3 t\\n https://gitlab.com/group/sub/name/-/merge_requests/3\\n'");
    exec(&world, &["--pr=T"]).expect(0).says("https://gitlab.com/group/sub/name/-/merge_requests/3");
    let opened = world.opened("glab");
    let repo = "--repo=https://gitlab.com/group/sub/name";
    let start = ["mr", "create", "--source-branch=dacapo/t", "--target-branch=main", "--yes", "--title=T"];
    assert_eq!(opened.argv[..6], start);
    assert!(opened.argv[6].starts_with("--description=> Did the work.\n"), "{}", opened.argv[6]);
    assert_eq!(opened.argv[7..], [repo]);
    assert_eq!(
        world.platform_calls("glab")[0].argv,
        ["mr", "list", "--source-branch=dacapo/t", "--output=json", repo]
    );

    let world = World::with_remote("ssh://git@codeberg.org/owner/name.git");
    world.platform(
        "tea",
        "test \"$2\" = list && echo '[]' || printf '# t\\n\\nhttps://codeberg.org/owner/name/pulls/1\\n'",
    );
    let _ = exec(&world, &[]).expect(0);
    world.run(&["pr", "--draft", "--title", "T"]).expect(0).says("https://codeberg.org/owner/name/pulls/1");
    let opened = world.opened("tea");
    assert_eq!(opened.argv[..5], ["pulls", "create", "--head=dacapo/t", "--base=main", "--title=WIP: T"]);
    assert!(opened.argv[5].starts_with("--description=> "), "{}", opened.argv[5]);
    assert_eq!(opened.argv[6..], ["--remote=origin"]);
}

#[test]
fn s12_at_an_unknown_host_the_program_that_is_logged_in_there_is_used() {
    let world = World::with_remote("https://git.example.org/owner/name");
    world.platform("gh", "exit 1");
    world.platform("glab", "test \"$1 $2 $3 $4\" = 'auth status --hostname git.example.org' || { test \"$2\" = list && echo '[]'; } || echo https://git.example.org/mr/1");
    world.platform("tea", "exit 1");
    exec(&world, &["--pr"]).expect(0).says("https://git.example.org/mr/1");
    assert_eq!(world.platform_calls("gh")[0].argv, ["auth", "status", "--hostname", "git.example.org"]);
    assert_eq!(world.platform_calls("tea"), []);
    // What the user says wins, and nobody is asked.
    world.platform("tea", "test \"$2\" = list && echo '[]' || echo https://git.example.org/pr/2");
    let mut command = world.command(&["pr", "t", "--json"]);
    let ran = Ran::from(command.env("DACAPO_PR_CLI", "tea").output().unwrap()).expect(0);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&shown["url"], &shown["cli"]), (&json!("https://git.example.org/pr/2"), &json!("tea")));
    assert_eq!(world.platform_calls("gh").len(), 1);
}

#[test]
fn s12_where_nobody_knows_the_host_the_branch_is_pushed_and_the_hosts_own_words_are_shown() {
    let world = World::with_remote("https://git.example.org/owner/name");
    for name in ["gh", "glab", "tea"] {
        world.platform(name, "exit 1");
    }
    world.remote_hook(
        "post-receive",
        "#!/bin/sh\necho 'Open one at:' >&2\necho '  https://git.example.org/new/dacapo/t' >&2\n",
    );
    exec(&world, &["--pr"])
        .expect(0)
        .says("open it at https://git.example.org/new/dacapo/t")
        .says("[pr] cli = ");
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
}
