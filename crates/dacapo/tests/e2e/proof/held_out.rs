//! Held-out checks (L3): they decide with the others whether a commit is proven, and no agent gets to know them.

use serde_json::json;

use crate::support::{Ran, World};

/// What the visible check wants is in the repository; the held-out one asks for more.
const VISIBLE: &str = "test \"$(sh add.sh 2 3)\" = 5";
const SECRET: &str = "test-40-plus-2";

fn world() -> World {
    let world = World::new();
    world.write("add.sh", "echo 0\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "start"]);
    std::fs::write(world.scratch("secret.sh"), script()).unwrap();
    world
}

/// The held-out check. It prints what nobody but the user may read.
fn script() -> String {
    format!("echo {SECRET} says $(sh add.sh 40 2)\ntest \"$(sh add.sh 40 2)\" = 42\n")
}

fn hidden(world: &World) -> String {
    format!("sh {}", world.scratch("secret.sh").display())
}

fn exec(world: &World, agent: &str, flags: &[&str]) -> Ran {
    let words = ["--name", "t", "--worktree", "--agent-cmd", agent];
    world.exec(&[&words[..], flags, &["go"]].concat())
}

/// Knows the visible answer, and nothing else.
const HARD_CODED: &str = "echo 'echo 5' > add.sh; echo $DACAPO_ITERATION >> log; cat >> prompts";
const HONEST: &str = "echo 'echo $(($1 + $2))' > add.sh; cat > /dev/null";

#[test]
fn l3_a_held_out_check_catches_answers_that_are_hard_coded() {
    let world = world();
    let hidden = hidden(&world);
    let flags = ["--check", VISIBLE, "--hidden-check", &hidden, "--max-iterations", "3"];
    let ran = exec(&world, HARD_CODED, &flags).expect(4);
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    let status = world.status("t");
    assert_eq!((&status["verified"], &status["status"]), (&json!(false), &json!("paused")));
    // The agent learns that one failed, and nothing else.
    let prompt = world.prompt("t", 1);
    assert!(prompt.contains("A held-out check failed"), "{prompt}");
    for text in [SECRET, "secret.sh", "40 2"] {
        assert!(!prompt.contains(text), "{prompt}");
    }
    assert!(ran.stdout.contains("passes; a held-out check failed"), "{}", ran.stdout);
    let listed = world.run(&["list"]).expect(0).stdout;
    assert!(listed.contains("these held-out ones failed twice in a row"), "{listed}");
    // The user sees everything.
    let shown = world.run(&["status", "t"]).expect(0).stdout;
    assert!(shown.contains(&hidden), "{shown}");
    assert!(format!("{}", status["checks"]).contains(SECRET), "{}", status["checks"]);
}

#[test]
fn l3_work_that_also_passes_the_held_out_checks_is_proven() {
    let world = world();
    let ran = exec(&world, HONEST, &["--check", VISIBLE, "--hidden-check", &hidden(&world)]).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    assert_eq!(world.status("t")["verified"], true);
    let merged = world.run(&["merge", "t"]).expect(0);
    assert!(merged.stdout.contains(&hidden(&world)), "{}", merged.stdout);
}

#[test]
fn l3_held_out_checks_of_the_users_own_settings_count_for_each_task_of_the_repository() {
    let world = world();
    let settings = format!("[repos.{:?}]\nhidden_checks = [{:?}]\n", world.repo(), hidden(&world));
    world.config(&settings);
    let ran = exec(&world, HARD_CODED, &["--check", VISIBLE, "--max-iterations", "3"]).expect(4);
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    // A project cannot bring one, nor take one away.
    std::fs::create_dir_all(world.repo().join(".dacapo")).unwrap();
    world.write(".dacapo/config.toml", "[repos.\"/x\"]\nhidden_checks = [\"true\"]\n");
    let refused = world.run(&["exec", "--agent-cmd", "true", "go"]).expect(2);
    assert!(refused.stderr.contains("may only be set in your own config file"), "{}", refused.stderr);
}

#[test]
fn l3_alone_they_run_when_the_agent_says_that_it_is_done() {
    let world = world();
    let agent = format!("{HONEST}; test $DACAPO_ITERATION = 0 || echo '<promise>COMPLETE</promise>'");
    let ran = exec(&world, &agent, &["--hidden-check", &hidden(&world)]).expect(0);
    assert_eq!(world.events("t", "iteration_finished").len(), 2, "{}", ran.stdout);
    let phases: Vec<_> = world.events("t", "check_finished").iter().map(|e| e["phase"].clone()).collect();
    assert_eq!(phases, [json!("held_out")]);
}

#[test]
fn l3_without_a_proof_held_out_checks_are_refused() {
    let world = world();
    for flags in [["--proof", "workspace"], ["--no-commit", "--no-plan"]] {
        let flags = [&["--hidden-check", "true"][..], &flags].concat();
        let ran = exec(&world, HONEST, &flags).expect(2);
        assert!(ran.stderr.contains("held-out checks run only when a commit is proven"), "{}", ran.stderr);
    }
    assert_eq!(world.tasks(), Vec::<String>::new());
}

/// An agent that looks everywhere for this word, as the user it runs as; what it finds is in files of a directory.
fn looks_for(world: &World, word: &str) -> (String, std::path::PathBuf) {
    let out = world.scratch("tmp/found");
    std::fs::create_dir_all(&out).unwrap();
    // Its own command line has the word in another form.
    let (last, first) = word.chars().last().zip(word.get(..word.len() - 1)).unwrap();
    let script = format!(
        "{HONEST}; out={out:?}; env > $out/env; \
         for pid in /proc/[0-9]*; do tr '\\0' ' ' < $pid/cmdline; cat $pid/environ; done > $out/processes 2> /dev/null; \
         grep -rsa '{first}[{last}]' \"$DACAPO_HOME\" {config:?} {repo:?} . > $out/files; cat {secret:?} > $out/named 2> /dev/null; \
         for words in 'status t --json' 'logs t' 'config show' 'list --json' 'status t'; do dacapo -C {repo:?} $words; done > $out/commands 2>&1; true",
        config = world.home().join(".config"),
        repo = world.repo(),
        secret = world.scratch("secret.sh"),
    );
    (script, out)
}

/// The files in which the agent found the word.
fn found(out: &std::path::Path, word: &str) -> Vec<String> {
    let entries: Vec<_> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 5);
    let holds =
        |path: &&std::path::PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap()).contains(word);
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    entries.iter().filter(holds).map(name).collect()
}

#[test]
fn l3_no_file_process_or_command_tells_an_agent_about_held_out_checks() {
    // Other tests have held-out checks, too, and processes are seen by all.
    const ONLY_HERE: &str = "only-in-this-test";
    let world = world();
    world.config(&format!("[repos.{:?}]\nhidden_checks = [\"true {ONLY_HERE}\"]\n", world.repo()));
    std::fs::write(world.scratch("secret.sh"), format!("echo {ONLY_HERE}\n")).unwrap();
    let (agent, out) = looks_for(&world, ONLY_HERE);
    let flags = ["--check", VISIBLE, "--hidden-check", &hidden(&world), "--max-iterations", "2"];
    let ran = exec(&world, &agent, &flags).expect(0);
    assert_eq!(found(&out, ONLY_HERE), [] as [&str; 0]);
    assert!(!world.prompt("t", 0).contains(ONLY_HERE));
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("✓ proven") && !said.contains("readable here"), "{said}");
}

#[test]
fn l3_where_held_out_checks_can_be_read_that_is_said() {
    const ONLY_HERE: &str = "only-in-that-test";
    let world = world();
    world.config("room = \"none\"\n");
    let (agent, out) = looks_for(&world, ONLY_HERE);
    let hidden = format!("true {ONLY_HERE}");
    let flags = ["--check", VISIBLE, "--hidden-check", &hidden, "--max-iterations", "2"];
    let ran = exec(&world, &agent, &flags).expect(0);
    // Nothing comes to it; whoever looks into the records finds them, and that is said at the start and at the end.
    let found = found(&out, ONLY_HERE);
    assert!(!found.contains(&"env".to_owned()) && !found.contains(&"processes".to_owned()), "{found:?}");
    assert!(!world.prompt("t", 0).contains(ONLY_HERE));
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(said.matches("held-out checks are readable here").count(), 2, "{said}");
}
