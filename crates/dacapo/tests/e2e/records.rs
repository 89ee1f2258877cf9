//! What lies in the data directory: whose it is, what may be planted there, and who may drive a task whose files an agent
//! has removed or rewritten (R0, R4).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::misdeed::play;
use crate::support::{Ran, World, wait_for};

/// A shell word for the directory of task `t`, as an agent finds it.
fn task(world: &World) -> String {
    format!("$(echo {}/repos/*/tasks/t)", world.data().display())
}

fn all_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.clone());
        // Worktrees have the modes that git gives them.
        if path.symlink_metadata().unwrap().is_dir() && !path.parent().unwrap().ends_with("worktrees") {
            all_below(&path, found);
        }
    }
}

/// Runs the program with a umask that leaves everything to everybody.
fn run_open(world: &World, words: &[&str]) -> Ran {
    let mut command = Command::new("/bin/sh");
    world.dress(&mut command);
    command.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_dacapo")]).args(words);
    Ran::from(command.output().unwrap())
}

#[test]
fn r0_records_are_the_users_alone_whatever_the_umask() {
    let world = World::new();
    fs::remove_dir(world.data()).unwrap();
    world.config("[worktree]\nsetup = [\"true\"]\n");
    let agent = "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION; echo said";
    let check = ["--check", "test -e f1"];
    for (name, place) in [("there", "--worktree"), ("here", "--noworktree")] {
        let words = ["exec", "--name", name, place, "--iter", "2", "--agent-cmd", agent];
        let _ = run_open(&world, &[&words[..], &check, &["go"]].concat()).expect(0);
    }
    let words = ["spawn", "--name", "later", "--iter", "1", "--agent-cmd", agent, "go"];
    let _ = run_open(&world, &words).expect(0);
    let _ = world.wait("later").expect(0);
    let _ = run_open(&world, &["tell", "later", "hello"]).expect(0);
    let _ = run_open(&world, &["list", "--size"]).expect(0);
    let _ = run_open(&world, &["list", "--json"]).expect(0);
    let _ = run_open(&world, &["drop", "later"]).expect(0);
    let mut all = vec![world.data()];
    all_below(&world.data(), &mut all);
    assert!(all.iter().any(|path| path.ends_with("turns/0000.raw")), "{all:?}");
    let open: Vec<String> = all
        .iter()
        // So has what is put away of them.
        .filter(|path| !path.parent().unwrap().ends_with("worktrees"))
        .filter(|path| !path.iter().any(|part| part == "tree" || part == "record" || part == "reflog"))
        .filter_map(|path| {
            let found = path.symlink_metadata().unwrap();
            let wanted = if found.is_dir() { 0o700 } else { 0o600 };
            let mode = found.mode() & 0o7777;
            // Git takes the right to write from objects.
            let is_object = path.iter().any(|part| part == "store.git") && mode == 0o400;
            (mode != wanted && !is_object)
                .then(|| format!("{mode:o} {}", path.strip_prefix(world.data()).unwrap().display()))
        })
        .collect();
    assert_eq!(open, Vec::<String>::new());
}

#[test]
fn r0_what_an_older_version_left_open_is_closed_by_the_next_that_writes() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--iter", "1", "--agent-cmd", "echo 1 > f", "go"]).expect(0);
    let dir = world.task_dir("t");
    for open in [dir.clone(), dir.join("turns"), dir.parent().unwrap().to_owned()] {
        fs::set_permissions(open, fs::Permissions::from_mode(0o777)).unwrap();
    }
    fs::set_permissions(dir.join("journal.jsonl"), fs::Permissions::from_mode(0o666)).unwrap();
    let _ = world.run(&["resume", "t", "--iter", "1", "again"]).expect(0);
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!([mode(&dir), mode(&dir.join("turns")), mode(dir.parent().unwrap())], [0o700; 3]);
    assert_eq!(mode(&dir.join("journal.jsonl")), 0o600);
}

#[test]
fn r0_a_spec_that_every_user_can_write_runs_nothing() {
    let world = World::new();
    let _ = world.exec(&["--name", "t", "--iter", "1", "--agent-cmd", "echo 1 >> f", "go"]).expect(0);
    let spec = world.task_dir("t").join("spec.json");
    fs::set_permissions(&spec, fs::Permissions::from_mode(0o666)).unwrap();
    let ran = world.run(&["resume", "t", "--iter", "1"]);
    assert_ne!(ran.code, 0);
    ran.says("can be written by every user").says("chmod 600");
    assert_eq!(world.read("f"), "1\n");
}

#[test]
fn r0_a_link_at_the_place_of_a_prompt_is_not_followed() {
    let world = World::new();
    let target = world.scratch("precious");
    fs::write(&target, "mine").unwrap();
    let plant = format!("ln -s {} {}/turns/0002.prompt", target.display(), task(&world));
    let _ = play(&world, &[], &plant).expect(0);
    assert!(world.task_dir("t").join("turns/0002.prompt").is_file());
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
}

#[test]
fn r0_what_is_planted_at_the_place_of_a_turns_output_is_moved_and_stops_nothing() {
    for plant in ["mkfifo", "mkdir", "ln -s /dev/zero"] {
        let world = World::unconfined();
        let ran = play(&world, &[], &format!("{plant} {}/turns/0002.raw", task(&world))).expect(0);
        ran.says("0002.raw").says("aside-1");
        world.ended("completed", [3, 3, 0]);
        world.run(&["logs", "t", "--turn", "2"]).expect(0).says("did it 2");
    }
}

#[test]
fn r0_an_answer_that_is_planted_for_a_later_turn_is_not_read() {
    let world = World::unconfined();
    let ran = play(&world, &["--until", "FORGED"], &format!("echo FORGED > {}/turns/0002.raw", task(&world)));
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    ran.says("a file was in the way");
    assert_eq!(world.read("f2"), "2\n");
}

/// What lets nobody in beside the process that drives the task: each is done by its agent in the second iteration.
const LOCK_BREAKERS: [&str; 4] = [
    "rm {TASK}/lock",
    "rm -f {TASK}/lock; echo 1 > {TASK}/lock",
    "cp {TASK}/journal.jsonl {TASK}/copy; mv {TASK}/copy {TASK}/journal.jsonl; rm {TASK}/lock",
    "rm -rf .git/dacapo {TASK}/lock",
];

#[test]
fn r4_no_file_that_an_agent_removes_lets_a_second_driver_in() {
    for breaker in LOCK_BREAKERS {
        let world = World::new();
        let (ready, go) = (world.scratch("ready"), world.scratch("go"));
        let agent = format!(
            "cat > /dev/null; echo $DACAPO_ITERATION > f$DACAPO_ITERATION; if [ $DACAPO_ITERATION = 1 ]; then {}; \
             touch {}; while ! test -e {}; do sleep 0.02; done; fi",
            breaker.replace("{TASK}", &task(&world)),
            ready.display(),
            go.display()
        );
        let mut first = world
            .command(&["exec", "--name", "t", "--iter", "4", "--agent-cmd", &agent, "go"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_for("the agent", || ready.exists());
        let more = [&["drop", "t"][..], &["merge", "t"]];
        let more = more.into_iter().filter(|_| breaker == LOCK_BREAKERS[0]);
        for words in std::iter::once(&["resume", "t"][..]).chain(more) {
            let ran = world.run(words);
            assert_ne!(ran.code, 0, "{breaker}: {words:?}");
            assert!(world.tasks().contains(&"t".to_owned()), "{breaker}: {words:?}");
        }
        let other =
            world.exec(&["--name", "other", "--iter", "1", "--agent-cmd", "echo other > other", "go"]);
        assert_eq!(other.code, 2, "{breaker}: two in one checkout: {}", other.stderr);
        fs::write(&go, "").unwrap();
        let _ = first.wait().unwrap();
        let iterations: Vec<String> = world
            .git(&["log", "--reverse", "--format=%(trailers:key=Dacapo-Iteration,valueonly,separator=)"])
            .lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        let mut once = iterations.clone();
        once.dedup();
        assert_eq!(iterations, once, "{breaker}");
    }
}

/// A task in a worktree that ends red: its check looks for a file that its agent never writes.
fn red(world: &World, more: &str) {
    let agent = format!("echo $DACAPO_ITERATION > f; {more}");
    let words = ["--worktree", "--name", "t", "--iter", "1", "--check", "test -e done"];
    let _ = world.exec(&[&words[..], &["--agent-cmd", &agent, "go"]].concat()).expect(3);
}

/// Makes the check of a task one that always passes, as an agent would.
const EDIT_CHECK: &str = "sed -i s/test.-e.done/true/";

/// What is said of a spec that was changed.
const SPEC_CHANGED: &str = "spec.json was changed after the task was created";

#[track_caller]
fn refused_for_its_spec(world: &World, words: &[&str]) {
    world.run(words).expect(2).says(SPEC_CHANGED).says("dacapo drop t");
    assert_eq!(world.subjects(), ["first"], "{words:?}");
}

#[test]
fn r4_a_check_that_the_agent_edits_in_its_spec_is_put_back_and_merges_nothing() {
    let world = World::unconfined();
    red(&world, &format!("{EDIT_CHECK} {}/spec.json", task(&world)));
    let spec = fs::read_to_string(world.task_dir("t").join("spec.json")).unwrap();
    assert!(spec.contains("test -e done"), "put back");
    world.status_text().says("spec.json");
    assert_eq!(world.status("t")["record"]["whole"], false);
    assert_ne!(world.run(&["merge", "t"]).code, 0);
    assert_eq!(world.subjects(), ["first"]);
}

#[test]
fn r4_a_spec_that_was_changed_after_the_end_is_neither_merged_nor_resumed() {
    let world = World::new();
    red(&world, "");
    let spec = world.task_dir("t").join("spec.json");
    let before = fs::read_to_string(&spec).unwrap();
    fs::write(&spec, before.replace("test -e done", "true")).unwrap();
    refused_for_its_spec(&world, &["merge", "t"]);
    refused_for_its_spec(&world, &["resume", "t", "--iter", "1"]);
    world.status_text().says(SPEC_CHANGED);
    // Put back as it was, it is what was asked for again.
    fs::write(&spec, &before).unwrap();
    assert_eq!(world.status("t")["record"]["whole"], true);
    fs::write(&spec, before.replace("test -e done", "true")).unwrap();
    world.run(&["drop", "t"]).expect(0).silent_about(SPEC_CHANGED);
    assert_eq!(world.tasks(), [] as [String; 0]);
}

#[test]
fn r4_a_task_that_was_killed_does_not_go_on_with_another_spec() {
    let world = World::unconfined();
    let ready = world.scratch("ready");
    let agent =
        format!("echo 1 > f; {EDIT_CHECK} {}/spec.json; touch {}; sleep 1000", task(&world), ready.display());
    let words = ["exec", "--worktree", "--name", "t", "--iter", "2", "--check", "test -e done"];
    let mut runner = world.command(&[&words[..], &["--agent-cmd", &agent, "go"]].concat());
    let mut runner = runner.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("the agent", || ready.exists());
    runner.kill().unwrap();
    runner.wait().unwrap();
    refused_for_its_spec(&world, &["resume", "t"]);
    refused_for_its_spec(&world, &["merge", "t"]);
    world.assert_nothing_left("t");
}

/// SHA-256 of a file, as hexadecimal digits.
fn sha256(path: &Path) -> String {
    hmac_sha256::Hash::hash(&fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn r4_nobody_can_seal_a_record_anew_after_the_task_has_ended() {
    let world = World::new();
    let words = ["--worktree", "--name", "t", "--iter", "1", "--check", "grep -q 1 f"];
    let _ = world.exec(&[&words[..], &["--agent-cmd", "echo 1 > f", "go"]].concat()).expect(0);
    assert_eq!(world.status("t")["verified"], true);
    // The last line is rewritten, with all that lies in the task's directory to help.
    let dir = world.task_dir("t");
    let journal = dir.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"task_finished\"", "\"task_finished\" ")).unwrap();
    let seal = dir.join("seal.json");
    let mut sealed: serde_json::Value = serde_json::from_slice(&fs::read(&seal).unwrap()).unwrap();
    sealed["length"] = journal.metadata().unwrap().len().into();
    sealed["journal"] = sha256(&journal).into();
    fs::write(&seal, sealed.to_string()).unwrap();
    let status = world.status("t");
    assert_eq!((&status["verified"], &status["record"]["whole"]), (&false.into(), &false.into()));
    world.run(&["merge", "t"]).expect(0).says("grep -q 1 f");
    assert_eq!(world.events("t", "merged").len(), 1, "proven anew, and merged");
}

#[test]
fn r4_an_honest_record_stays_proven_whatever_happens_to_the_task_later() {
    let world = World::new();
    let words = ["--worktree", "--name", "t", "--iter", "1", "--check", "grep -q 1 f"];
    let _ = world.exec(&[&words[..], &["--agent-cmd", "echo 1 > f", "go"]].concat()).expect(0);
    let steps: [&[&str]; 5] =
        [&["tell", "t", "later"], &["rename", "t", "u"], &["drop", "u"], &["undo", "u"], &["list"]];
    for words in steps {
        let _ = world.run(words).expect(0);
    }
    let status = world.status("u");
    assert_eq!((&status["verified"], &status["record"]["whole"]), (&true.into(), &true.into()), "{status}");
    let _ = world.run(&["merge", "u"]).expect(0);
    assert_eq!(world.status("u")["verified"], true);
}
