//! `--pr` and `dacapo pr` (S12): a real push to a bare repository, and the platforms' programs as far as they were asked.

mod platforms;

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Ran, World, wait_for};

const GITHUB: &str = "https://github.com/owner/name.git";

/// Nothing is open, and what is opened has this address.
const GH: &str = "case \"$1 $2\" in 'pr list') echo '[]';; 'pr create') echo https://github.com/owner/name/pull/7;; *) exit 9;; esac";
const URL: &str = "https://github.com/owner/name/pull/7";

const AGENT: &str = "echo x >> log; echo Did the work.";

fn exec(world: &World, flags: &[&str]) -> Ran {
    let words = ["--name", "t", "--worktree", "--agent-cmd", AGENT];
    let words: Vec<&str> = words.into_iter().chain(flags.iter().copied()).chain(["make it good"]).collect();
    world.exec(&words)
}

fn tip(world: &World) -> String {
    world.git(&["rev-parse", "dacapo/t"])
}

#[test]
fn s12_a_text_behind_pr_is_the_title_and_one_word_is_a_task() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let words = ["run", "--name", "t", "--worktree", "--agent-cmd", AGENT, "--pr", "Add auth", "make", "it"];
    world.run(&words).expect(0).says("\"Add auth\" is the title of the pull request");
    assert!(world.opened("gh").argv.contains(&"--title=Add auth".to_owned()));
    let spec = fs::read_to_string(world.task_dir("t").join("spec.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&spec).unwrap()["prompt"], "make it");
    let ran = world.run(&["spawn", "--agent-cmd", AGENT, "--pr", "nobody"]).expect(2);
    assert!(ran.stderr.starts_with("error: Task 'nobody' not found"), "{}", ran.stderr);
    assert_eq!(world.tasks(), ["t"], "nothing was started");
}

#[test]
fn s12_a_completed_task_is_pushed_and_offered() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    exec(&world, &["--pr", "--check", "test -e log"]).expect(0).says(&format!("  pull request {URL}\n"));
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
    let verbs: Vec<String> = world.platform_calls("gh").iter().map(|call| call.verb()).collect();
    assert_eq!(verbs, ["pr list", "pr create"]);
    let opened = world.opened("gh");
    assert_eq!(
        opened.argv,
        [
            "pr",
            "create",
            "--head=dacapo/t",
            "--base=main",
            "--title=make it good",
            "--body-file=-",
            "--repo=github.com/owner/name"
        ]
    );
    for part in [
        "> Did the work.\n",
        "### Task\n\n> make it good\n",
        "`test -e log` ✗ → ✓ on `",
        "\\[iter-0\\] Did the work\n",
        "1 iteration · ",
        "task `t` of Dacapo",
    ] {
        assert!(opened.stdin.contains(part), "{part}\n{}", opened.stdin);
    }
    assert_eq!(opened.cwd, fs::canonicalize(world.repo()).unwrap());
    for variable in ["GH_PROMPT_DISABLED=1", "GIT_TERMINAL_PROMPT=0"] {
        assert!(opened.env.iter().any(|set| set == variable), "{variable}");
    }
    let event = &world.events("t", "pull_request")[0];
    let fields = ["url", "branch", "base_branch", "cli"].map(|field| event[field].as_str().unwrap());
    assert_eq!(fields, [URL, "dacapo/t", "main", "gh"]);
    assert_eq!(world.status("t")["pull_request"], URL);
    world.run(&["status", "t"]).expect(0).says(&format!("  pull request {URL}\n"));
    world.run(&["list"]).expect(0).says(", pull request 7");
    assert!(world.run(&["list", "--json"]).expect(0).stdout.contains(URL));
    world.run(&["logs", "t"]).expect(0).says(&format!("Pull request of dacapo/t to main: {URL}"));
    world.assert_nothing_left("t");
}

#[test]
fn s2_the_words_of_the_interface_offer_a_task() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let _ = exec(&world, &[]).expect(0);
    world.run(&["spawn", "--pr", "t"]).expect(0).says(URL);
    assert_eq!(world.tasks(), ["t"], "no task was started");
}

#[test]
fn s12_json_still_ends_with_the_result() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let ran = exec(&world, &["--pr", "--json"]).expect(0);
    assert_eq!(ran.result()["outcome"], "completed");
    assert_eq!(world.status("t")["pull_request"], URL);
}

#[test]
fn s12_titles_and_prompts_of_any_kind_are_words_and_nothing_else() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let pwned = world.scratch("pwned");
    let title = format!("--draft \"q\" 'r' `touch {0}` $(touch {0}) \\ ;&|", pwned.display());
    let prompt = format!("do `touch {0}`; $(touch {0}) </details> @everyone ```", pwned.display());
    let flag = format!("--pr={title}\nsecond line");
    let words =
        ["--name", "t", "--worktree", &flag, "--agent-cmd", "cat > asked", "--no-plan", "--", &prompt];
    let _ = world.exec(&words).expect(0);
    let opened = world.opened("gh");
    assert_eq!(opened.argv[4], format!("--title={title}"));
    assert!(
        opened.stdin.contains("\\<details\\>") || opened.stdin.contains("\\</details\\>"),
        "{}",
        opened.stdin
    );
    assert!(!opened.stdin.contains("```") && !opened.stdin.contains("@everyone"), "{}", opened.stdin);
    assert!(!pwned.exists());
    // A title that looks like a flag, by hand.
    world.platform("gh", GH);
    let _ = world.run(&["pr", "t", "--title", "--fill"]).expect(0);
    assert_eq!(world.platform_calls("gh").last().unwrap().argv[4], "--title=--fill");
}

#[test]
fn s12_one_that_is_open_gets_the_new_commits() {
    let world = World::with_remote(GITHUB);
    let open =
        format!("echo '[{{\"url\":\"{URL}\",\"headRefName\":\"dacapo/t\",\"isCrossRepository\":false}}]'");
    world.platform("gh", &format!("test \"$1 $2\" = 'pr list' && {open}"));
    exec(&world, &["--pr"]).expect(0).says(URL);
    let first = world.pushed("dacapo/t");
    assert_eq!(first, tip(&world));
    world.run(&["resume", "t", "and more"]).expect(0).says(URL);
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
    assert_ne!(tip(&world), first);
    let verbs: Vec<String> = world.platform_calls("gh").iter().map(|call| call.verb()).collect();
    assert_eq!(verbs, ["pr list", "pr list"], "none is opened");
    assert_eq!(world.events("t", "pull_request").len(), 2);
    world.run(&["pr", "t"]).expect(0).says("already open").says(URL);
}

#[test]
fn s12_a_refused_push_changes_nothing_and_can_be_tried_again() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let hook = world.remote_hook("pre-receive", "#!/bin/sh\necho 'no pushes on sundays' >&2\nexit 1\n");
    let ran = exec(&world, &["--pr"]).expect(0);
    ran.says("no pull request: dacapo/t could not be pushed to origin")
        .says("no pushes on sundays")
        .says("dacapo pr t");
    assert_eq!((world.pushed("dacapo/t"), world.platform_calls("gh")), (String::new(), vec![]));
    assert_eq!(world.status("t")["outcome"], "completed");
    let notices = world.status("t")["notices"].to_string();
    assert!(notices.contains("no pushes on sundays"), "{notices}");
    let again = world.run(&["pr", "t", "--json"]).expect(1);
    again
        .says("no pushes on sundays")
        .says("kept: the task and all its commits")
        .says("dacapo pr t tries again");
    let error: Value = serde_json::from_str(again.stdout.trim()).unwrap();
    assert_eq!(error["type"], "error");
    fs::remove_file(hook).unwrap();
    world.run(&["pr", "t"]).expect(0).says(URL);
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
}

#[test]
fn s12_a_branch_that_somebody_else_moved_is_not_overwritten() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let _ = exec(&world, &["--pr"]).expect(0);
    let other = world.scratch("other");
    world.git(&["clone", "-q", "-b", "dacapo/t", world.remote().to_str().unwrap(), other.to_str().unwrap()]);
    world.git_in(&other, &["commit", "-q", "--allow-empty", "-m", "theirs"]);
    world.git_in(&other, &["push", "-q", "origin", "dacapo/t"]);
    let theirs = world.pushed("dacapo/t");
    let ran = world.run(&["resume", "t", "more"]).expect(0);
    ran.says("could not be pushed").says("dacapo pr t");
    world
        .run(&["pr", "t"])
        .expect(1)
        .says("someone else has pushed to dacapo/t")
        .says("git fetch origin dacapo/t");
    assert_eq!(world.pushed("dacapo/t"), theirs);
}

#[test]
fn s12_what_can_never_be_pushed_is_refused_before_it_starts() {
    let world = World::new();
    exec(&world, &["--pr"]).expect(2).says("has no remote").says("git remote add origin URL");
    assert!(world.tasks().is_empty());
    world
        .exec(&["--pr", "--agent-cmd", AGENT, "go"])
        .expect(2)
        .says("--pr needs a worktree")
        .says("--worktree");
    let _ = world.exec(&["--name", "here", "--agent-cmd", AGENT, "go"]).expect(0);
    world.run(&["pr", "here"]).expect(2).says("worked in your checkout");
    world.run(&["pr", "nobody"]).expect(2).says("Task 'nobody' not found");
    for (name, url) in [("one", "/nowhere/1"), ("two", "/nowhere/2")] {
        world.git(&["remote", "add", name, url]);
    }
    exec(&world, &["--pr"])
        .expect(2)
        .says("several remotes (one, two)")
        .says("--set-upstream-to=one/main main");
}

#[test]
fn s12_the_remote_and_branch_that_the_base_follows_are_taken() {
    let world = World::with_remote("https://elsewhere.example/x/y");
    world.git(&["remote", "rename", "origin", "fork"]);
    world.git(&["remote", "add", "origin", GITHUB]);
    world.git(&["config", "branch.main.remote", "fork"]);
    world.git(&["config", "branch.main.merge", "refs/heads/develop"]);
    world.platform("gh", GH);
    let _ = exec(&world, &[]).expect(0);
    let mut command = world.command(&["pr", "t", "--dry-run", "--json"]);
    let ran = Ran::from(command.env("DACAPO_PR_CLI", "gh").output().unwrap()).expect(0);
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&plan["remote"], &plan["base_branch"]), (&json!("fork"), &json!("develop")));
    let base = world.run(&["pr", "t", "--dry-run", "--base", "release/1"]).expect(0);
    base.says("to     release/1").says("push   dacapo/t to fork (elsewhere.example/x/y)");
}

#[test]
fn s12_a_dry_run_changes_nothing() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let _ = exec(&world, &[]).expect(0);
    let before = world.everything();
    let ran = world.run(&["pr", "--dry-run"]).expect(0);
    ran.says("with   gh (by the host's name)").says("title  make it good").says("> Did the work.");
    let mut after = world.everything();
    let lock = world.task_dir("t").join("lock");
    after.insert(lock.clone(), before[&lock].clone());
    assert_eq!(after, before);
    assert_eq!((world.pushed("dacapo/t"), world.platform_calls("gh")), (String::new(), vec![]));
}

#[test]
fn s12_only_a_completed_task_is_offered_by_itself() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let ran = exec(&world, &["--pr", "--check", "false", "--max-iterations", "1"]).expect(3);
    ran.says("no pull request: the task is not completed").says("dacapo pr t");
    assert_eq!((world.pushed("dacapo/t"), world.platform_calls("gh")), (String::new(), vec![]));
    world.run(&["pr", "t", "--draft"]).expect(0).says(URL);
    let opened = world.opened("gh");
    assert!(opened.argv.contains(&"--draft".to_owned()));
    assert!(
        opened.stdin.contains("Not proven") && opened.stdin.contains("ended as stopped"),
        "{}",
        opened.stdin
    );
}

#[test]
fn s12_a_task_without_commits_has_nothing_to_offer() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let words = ["--name", "t", "--worktree", "--pr", "--agent-cmd", "echo nothing to do", "go"];
    world.exec(&words).expect(0).says("has no commits: there is nothing to propose");
    world.run(&["pr", "t"]).expect(2).says("has no commits");
    assert_eq!((world.pushed("dacapo/t"), world.platform_calls("gh")), (String::new(), vec![]));
}

#[test]
fn s15_no_secret_gets_into_a_pull_request_or_a_message() {
    let world = World::with_remote("https://me:hunter2hunter2@github.com/owner/name");
    world.git(&["config", "remote.origin.pushurl", "https://me:hunter2hunter2@localhost:1/owner/name"]);
    world.platform("gh", "echo \"denied for https://me:hunter2hunter2@github.com\" >&2; exit 4");
    let words = [
        "exec",
        "--name",
        "t",
        "--worktree",
        "--pr",
        "--agent-cmd",
        "echo x > x; echo the key is $MY_API_KEY",
        "go",
    ];
    let key = "sk-very-secret-value-1";
    let ran = Ran::from(world.command(&words).env("MY_API_KEY", key).output().unwrap()).expect(0);
    ran.says("no pull request");
    world.git(&["config", "remote.origin.pushurl", world.remote().to_str().unwrap()]);
    let again = Ran::from(world.command(&["pr", "t"]).env("MY_API_KEY", key).output().unwrap()).expect(1);
    again.says("gh failed (exit 4)").says("denied for https://***@github.com").says("gh auth");
    let dry = Ran::from(world.command(&["pr", "t", "--dry-run"]).env("MY_API_KEY", key).output().unwrap())
        .expect(0);
    let journal = fs::read_to_string(world.task_dir("t").join("journal.jsonl")).unwrap();
    let body = fs::read_to_string(world.task_dir("t").join("pull-request.md")).unwrap();
    for text in [&ran.stdout, &ran.stderr, &again.stdout, &again.stderr, &dry.stdout, &journal, &body] {
        assert!(!text.contains("hunter2") && !text.contains(key), "{text}");
    }
}

#[test]
fn c9_the_users_own_push_hook_runs_and_may_refuse() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let seen = world.scratch("seen");
    let hook = world.program(
        "pre-push",
        &format!(
            "#!/bin/sh\n{{ pwd; echo $1; env | grep '^GIT_' | sort; cat; }} > {}\nexit 1\n",
            seen.display()
        ),
    );
    let place = world.repo().join(".git/hooks/pre-push");
    fs::rename(hook, &place).unwrap();
    exec(&world, &["--pr"]).expect(0).says("could not be pushed to origin");
    assert_eq!(world.pushed("dacapo/t"), "");
    let text = fs::read_to_string(&seen).unwrap();
    assert!(text.starts_with(&format!("{}\norigin\n", world.repo().display())), "{text}");
    assert!(text.contains("GIT_TERMINAL_PROMPT=0") && !text.contains("GIT_LITERAL_PATHSPECS"), "{text}");
    assert!(text.contains(&format!("refs/heads/dacapo/t {} refs/heads/dacapo/t", tip(&world))), "{text}");
    fs::remove_file(place).unwrap();
    world.run(&["pr", "t"]).expect(0).says(URL);
}

#[cfg(target_os = "linux")]
#[test]
fn r1_killed_between_push_and_pull_request_nothing_is_left_and_it_is_tried_again() {
    let world = World::with_remote(GITHUB);
    let begun = world.scratch("begun");
    world.platform(
        "gh",
        &format!("test \"$2\" = list && echo '[]' && exit; touch {}; sleep 1000", begun.display()),
    );
    let task = world.start(&["exec", "--name", "t", "--worktree", "--pr", "--agent-cmd", AGENT, "go"]);
    world.wait_for_file("begun");
    world.run(&["pr", "t"]).expect(2).says("Task 't' is still running.");
    assert_eq!(world.status("t")["status"], "completed");
    task.signal(Signal::KILL);
    drop(task);
    world.assert_nothing_left("t");
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
    assert_eq!(world.status("t")["pull_request"], Value::Null);
    world.platform("gh", GH);
    world.run(&["pr", "t"]).expect(0).says(URL);
    assert_eq!(world.status("t")["pull_request"], URL);
}

#[test]
fn s12_ctrl_c_during_a_push_ends_it_and_the_task_stays_completed() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let begun = world.scratch("begun");
    world.remote_hook("pre-receive", &format!("#!/bin/sh\ntouch {}\nsleep 1000\n", begun.display()));
    let task = world.start(&["exec", "--name", "t", "--worktree", "--pr", "--agent-cmd", AGENT, "go"]);
    world.wait_for_file("begun");
    task.signal(Signal::INT);
    let _ = task.end().expect(130);
    world.assert_nothing_left("t");
    assert_eq!(
        (world.status("t")["status"].clone(), world.pushed("dacapo/t")),
        (json!("completed"), String::new())
    );
}

#[test]
fn s8_kill_ends_a_push_at_once_and_the_task_stays_completed() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let begun = world.scratch("begun");
    world.remote_hook("pre-receive", &format!("#!/bin/sh\ntouch {}\nsleep 1000\n", begun.display()));
    let _ = world.run(&["spawn", "--name", "t", "--pr", "--agent-cmd", AGENT, "go"]).expect(0);
    world.wait_for_file("begun");
    let _ = world.run(&["kill", "t"]).expect(0);
    world.assert_nothing_left("t");
    assert_eq!(world.status("t")["status"], "completed");
}

#[test]
fn s12_a_task_in_the_background_is_offered_too() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    let (begun, go) = (world.scratch("begun"), world.scratch("go"));
    let command = format!("touch {}; while ! test -e {}; do sleep 0.05; done", begun.display(), go.display());
    world.config(&format!("[notify]\ndesktop = false\ncommand = {command:?}\n"));
    let _ = world.run(&["spawn", "--name", "t", "--pr=In the night", "--agent-cmd", AGENT, "go"]).expect(0);
    // Who waits for the task has the pull request, and does not wait for the notification.
    let _ = world.run(&["wait", "t"]).expect(0);
    assert_eq!(world.status("t")["pull_request"], URL);
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
    assert_eq!(world.opened("gh").argv[4], "--title=In the night");
    world.wait_for_file("begun");
    fs::write(go, "").unwrap();
    wait_for("the notification", || !world.events("t", "notified").is_empty());
    assert_eq!(world.events("t", "notified")[0]["how"], "command");
    world.assert_nothing_left("t");
}

#[test]
fn c9_that_the_commits_are_not_signed_is_said_to_who_signs() {
    let world = World::with_remote(GITHUB);
    world.platform("gh", GH);
    exec(&world, &["--pr"]).expect(0).silent_about("sign");
    world.git(&["config", "commit.gpgsign", "true"]);
    let ran = world.run(&["pr", "t"]).expect(0);
    ran.says("note: your git signs commits (commit.gpgsign), and those of the task are not signed");
    assert_eq!(world.pushed("dacapo/t"), tip(&world));
}
