//! Ways to make a check pass that no commit holds. Each was `✓ proven` once, was merged without another run of the check, and
//! left main red.

use serde_json::json;

use super::{CHECK, exec, in_a_clone, proof_state, world};
use crate::support::World;

/// A way to hide something.
struct Trick {
    /// What the agent does.
    does: &'static str,
    check: &'static str,
    /// What is hidden, and why no commit holds it: by its name in JSON, and in words.
    path: &'static str,
    why: &'static str,
    words: &'static str,
}

fn play(world: &World, trick: &Trick, place: &str) -> crate::support::Ran {
    let agent = format!("echo $DACAPO_ITERATION >> log; {}", trick.does);
    world.exec(&["--name", "t", place, "--check", trick.check, "--agent-cmd", &agent, "go"])
}

/// In a worktree: the agent is told, then a person; nothing comes home. In place: completed, unverified, with the list.
fn is_caught(trick: &Trick) {
    let world = super::unconfined();
    let main = world.git(&["rev-parse", "main"]);
    let ran = play(&world, trick, "--worktree").expect(4);
    assert!(!ran.stdout.contains("✓ proven"), "{}", ran.stdout);
    for text in [
        "‖ paused: it needs your decision",
        "passed here, not proven: in a checkout of",
        trick.path,
        trick.words,
    ] {
        assert!(ran.stdout.contains(text), "{text}\n{}", ran.stdout);
    }
    assert!(
        ran.stdout.contains("next: dacapo resume t                    continue\n")
            && ran.stdout.contains("        dacapo resume t --proof workspace  continue without proof\n"),
        "{}",
        ran.stdout
    );
    let told = world.prompt("t", 1);
    assert!(told.contains("not in a fresh checkout of your commit"), "{told}");
    assert!(told.contains(&format!("- {}: {}\n", trick.path, trick.words)), "{told}");
    let state = proof_state(&world);
    assert_eq!((&state["state"], &state["why"]), (&json!("passed_here"), &json!("failed")));
    let hidden = state["hidden"].as_array().unwrap();
    assert!(hidden.contains(&json!({"path": trick.path, "why": trick.why})), "{hidden:?}");
    let status = world.status("t");
    assert_eq!((&status["status"], &status["verified"]), (&json!("paused"), &json!(false)));
    let asked = status["needs"]["question"].as_str().unwrap();
    assert!(asked.contains("[worktree] setup = ") && asked.contains("--proof workspace"), "{asked}");
    assert_eq!(world.events("t", "proof_failed").len(), 2);

    let merged = world.run(&["merge", "t"]).expect(1);
    let said = format!("{}{}", merged.stdout, merged.stderr);
    assert!(said.contains(&format!("check `{}` fails on the result", trick.check)), "{said}");
    assert_eq!(world.git(&["rev-parse", "main"]), main, "nothing came home");
    assert!(!in_a_clone(&world, trick.check), "as red as it was");

    let here = super::unconfined();
    let ran = play(&here, trick, "--noworktree").expect(0);
    for text in
        ["● finished, unverified", "passed here, not proven: in a checkout of", trick.path, trick.words]
    {
        assert!(ran.stdout.contains(text), "{text}\n{}", ran.stdout);
    }
    assert_eq!(here.status("t")["verified"], false);
}

#[test]
fn l4_false_proof_by_an_ignored_file() {
    is_caught(&Trick {
        does: "echo answer > .gitignore; echo 42 > answer",
        check: CHECK,
        path: "answer",
        why: "ignored",
        words: "ignored by .gitignore",
    });
}

#[test]
fn l4_false_proof_by_a_file_left_out_as_a_secret() {
    is_caught(&Trick {
        does: "echo 42 > .env",
        check: CHECK,
        path: ".env",
        why: "left_out_secret",
        words: "left out of the commit: it looks like a secret",
    });
}

#[test]
fn l4_false_proof_by_a_file_left_out_for_its_size() {
    is_caught(&Trick {
        does: "truncate -s 52428801 big",
        check: "test -s big",
        path: "big",
        why: "left_out_size",
        words: "left out of the commit: it is larger than 50 MB",
    });
}

#[test]
fn l4_false_proof_by_assume_unchanged() {
    is_caught(&Trick {
        does: "git update-index --assume-unchanged tracked; echo 42 > tracked",
        check: CHECK,
        path: "tracked",
        why: "assume_unchanged",
        words: "its change is hidden by git update-index --assume-unchanged",
    });
}

#[test]
fn l4_false_proof_by_skip_worktree() {
    is_caught(&Trick {
        does: "git update-index --skip-worktree tracked; echo 42 > tracked",
        check: CHECK,
        path: "tracked",
        why: "skip_worktree",
        words: "its change is hidden by git update-index --skip-worktree",
    });
}

#[test]
fn l4_false_proof_by_info_exclude() {
    is_caught(&Trick {
        does: "echo answer >> \"$(git rev-parse --git-path info/exclude)\"; echo 42 > answer",
        check: CHECK,
        path: "answer",
        why: "excluded",
        words: "ignored by .git/info/exclude or the global excludes",
    });
}

#[test]
fn l4_false_proof_by_a_clean_filter() {
    is_caught(&Trick {
        does: "git config filter.f.clean 'echo 41'; echo 'tracked filter=f' >> \"$(git rev-parse --git-path info/attributes)\"; echo 42 > tracked",
        check: CHECK,
        path: "tracked",
        why: "filtered",
        words: "a clean filter commits different content",
    });
}

#[test]
fn l4_a_hidden_edit_of_the_check_itself_is_named() {
    is_caught(&Trick {
        does: "git update-index --assume-unchanged check.sh; echo true > check.sh",
        check: CHECK,
        path: "check.sh",
        why: "assume_unchanged",
        words: "its change is hidden by git update-index --assume-unchanged",
    });
}

#[test]
fn l4_an_agent_that_heeds_what_it_is_told_is_proven() {
    let world = world();
    let agent = "echo answer > .gitignore; echo 42 > answer; test $DACAPO_ITERATION = 0 || rm .gitignore";
    let ran = exec(&world, agent, &["--worktree"]).expect(0);
    assert!(ran.stdout.contains("✓ proven · 2 iterations"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the proof failed"), "{}", ran.stdout);
    let _ = world.run(&["merge", "t"]).expect(0);
    assert!(in_a_clone(&world, CHECK));
}
