//! What agents leave behind has no say in a proof: processes, files in temp, packages installed for the user alone.

use std::process::Command;

use serde_json::json;

use super::{proof_state, world};
use crate::support::World;

/// Holds a lock for as long as it lives, as a server holds its port.
fn server(world: &World) -> String {
    format!("exec flock {} sleep 1000", world.scratch("port").display())
}

fn is_served(world: &World) -> String {
    format!("! flock -n {} true", world.scratch("port").display())
}

/// An agent that starts a server, waits until it is up, and says so.
fn serving(world: &World, more: &serde_json::Value) -> serde_json::Value {
    let up = format!("until {}; do :; done", is_served(world));
    let turn = json!([
        { "child": server(world) },
        { "run": up },
        { "write": ["log", "x\n"] },
        { "say": "Done." },
    ]);
    let mut script = json!({ "turns": [turn, [{ "write": ["log", "y\n"] }, { "say": "Again." }]] });
    for (key, value) in more.as_object().unwrap() {
        script[key] = value.clone();
    }
    script
}

const RESUMING: [&str; 8] =
    ["--name", "t", "--agent", "bot", "--worktree", "--no-baseline", "--session", "resume"];

#[test]
fn l4_a_server_that_a_live_agent_left_does_not_answer_the_proof() {
    for (can, reopened) in [(json!({ "resume": true }), true), (json!({}), false)] {
        let world = World::new();
        world.acp(&serving(&world, &can));
        let check = is_served(&world);
        let words = ["--max-iterations", "2", "--check", &check, "go"];
        let _ = world.exec(&[&RESUMING[..], &words].concat()).expect(3);
        // Green where the agent works, red in the proof; the second turn finds no server.
        assert_eq!(world.receipts("t", "proof"), [(check.clone(), Some(1), false)]);
        assert_eq!(world.status("t")["verified"], json!(false));
        let mut methods = world.methods("bot");
        assert_eq!(
            methods.split_off(3),
            match reopened {
                true => vec!["initialize", "session/resume", "session/prompt"],
                false => vec!["session/prompt"],
            }
        );
        assert_eq!(world.talkers("bot").len(), if reopened { 2 } else { 1 });
        world.assert_nothing_left("t");
    }
}

#[test]
fn l4_a_child_of_a_live_agent_does_not_write_into_the_proof_checkout() {
    let world = World::new();
    let port = world.scratch("port").display().to_string();
    let (data, script) = (world.data().display().to_string(), world.scratch("write.sh"));
    let write = format!(
        "while :; do for tree in {data}/repos/*/proof/*/tree; do echo > $tree/answer; done 2>/dev/null; done"
    );
    std::fs::write(&script, write).unwrap();
    let mut agent = serving(&world, &json!({ "load": true }));
    agent["turns"][0][0] = json!({ "child": format!("exec flock {port} sh {}", script.display()) });
    world.acp(&agent);
    // Waits for the file, as long as there is somebody who could write it.
    let check = format!(
        "case $PWD in */proof/*) until test -f answer || flock -n {port} true; do :; done; test -f answer;; esac"
    );
    let words = ["--max-iterations", "1", "--check", &check, "go"];
    let _ = world.exec(&[&RESUMING[..], &words].concat()).expect(3);
    assert_eq!(world.receipts("t", "proof"), [(check, Some(1), false)]);
}

/// A check that passes by what the agent left, and nothing in the commit.
fn is_red(does: &str, check: &str, place: &str) {
    let world = World::unconfined();
    world.write(".gitignore", "answer\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "ignore"]);
    let agent = format!("echo $DACAPO_ITERATION >> log; {does}");
    let words = ["--name", "t", place, "--max-iterations", "1", "--check", check];
    let ran = world.exec(&[&words[..], &["--agent-cmd", &agent, "go"]].concat());
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    let workspace = world.receipts("t", "iteration");
    assert_eq!(workspace[0].1, Some(0), "green where the agent works");
    assert_eq!(proof_state(&world)["why"], json!("failed"), "{}", ran.stdout);
}

/// What `pip install -e .` leaves: a package of the user's own that leads to the worktree.
const EDITABLE: &str =
    "site=$HOME/.local/lib/python3.9/site-packages; mkdir -p $site; pwd > $site/mine.pth; touch answer";

#[test]
fn l4_an_editable_install_does_not_lead_a_proof_into_the_worktree() {
    let check = "test -f \"$(cat $HOME/.local/lib/python3.9/site-packages/mine.pth)/answer\"";
    is_red(EDITABLE, check, "--worktree");
    is_red(EDITABLE, check, "--noworktree");
    // Noted where nothing hides it.
    let noted = "touch answer; pwd > $HOME/where";
    is_red(noted, "test -f \"$(cat $HOME/where)/answer\"", "--worktree");
    is_red(noted, "test -f \"$(cat $HOME/where)/answer\"", "--noworktree");
}

#[test]
fn l4_settings_of_tools_that_an_agent_wrote_are_not_a_proofs() {
    for place in ["--worktree", "--noworktree"] {
        is_red("echo script-shell=true >> $HOME/.npmrc", "grep -q script-shell $HOME/.npmrc", place);
        // Above the checkout, where pytest looks for its settings.
        is_red("echo '[pytest]' > $DACAPO_HOME/pytest.ini", "grep -q pytest $DACAPO_HOME/pytest.ini", place);
    }
}

#[test]
fn l4_what_an_agent_left_in_temp_is_not_there_in_a_proof() {
    is_red("touch $TMPDIR/answer", "test -f $TMPDIR/answer", "--worktree");
}

#[test]
fn l4_a_proof_has_a_temp_of_its_own_that_is_gone_afterwards() {
    let world = world();
    let check = "sh check.sh && f=$(mktemp) && test -f $f && test \"$(ls -A $TMPDIR | wc -l)\" = 1 && rm $f";
    let check = format!("case $PWD in */proof/*) {check};; *) sh check.sh;; esac");
    let words = ["--name", "t", "--check", &check, "--agent-cmd", "echo 42 > answer", "go"];
    let ran = world.exec(&words).expect(0);
    assert!(ran.stdout.contains("✓ proven"), "{}", ran.stdout);
}

#[test]
fn l4_where_the_kernel_cannot_hide_them_the_receipt_says_so() {
    let world = world();
    let words = ["exec", "--name", "t", "--check", "sh check.sh", "--agent-cmd", "echo 42 > answer", "go"];
    let mut command = world.command(&words);
    without_namespaces(&mut command);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("✓ proven"), "{said}");
    assert!(said.contains("the agent's files were not hidden from this proof"), "{said}");
    assert_eq!(proof_state(&world)["exposed"]["why"], json!("refused"));
    let status = world.run(&["status", "t"]).expect(0).stdout;
    assert!(status.contains("the agent's files were not hidden from this proof"), "{status}");
}

/// A machine on which no namespace can be had.
fn without_namespaces(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    assert!(rustix::process::geteuid().is_root(), "only root can give up its rights to namespaces");
    #[expect(unsafe_code, reason = "what the child does to itself before exec has no safe form")]
    // SAFETY: one call of the kernel.
    unsafe {
        command.pre_exec(|| {
            let right = rustix::thread::CapabilitySet::SYS_ADMIN;
            Ok(rustix::thread::remove_capability_from_bounding_set(right)?)
        });
    }
}

#[test]
fn l4_proofs_by_merge_hide_the_same() {
    let world = world();
    let check = "test -f $TMPDIR/answer || sh check.sh";
    let words = ["--name", "t", "--worktree", "--proof", "workspace", "--check", check];
    let agent = "echo x >> log; touch $TMPDIR/answer";
    let _ = world.exec(&[&words[..], &["--agent-cmd", agent, "go"]].concat()).expect(0);
    let merged = world.run(&["merge", "t"]).expect(1);
    assert!(merged.stdout.contains("fails on the result") || merged.stderr.contains("fails on the result"));
}
