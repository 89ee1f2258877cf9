//! What both sides said, as a person reads it who has to decide between them (M10).

use serde_json::Value;

use crate::support::World;

const DEFINITION: &str = "# Two files\n## Goal\nTwo files.\n## Features\n- one\n- two\n  Accept: it has a 2\n\
                          ## Acceptance Criteria\n- both are there\n## Constraints\nNo third one.\n";

/// Builds a file a round until both are there, then says that all is complete.
const DEVELOPER: &str = r#"cat > /dev/null; n=$((DACAPO_ITERATION + 1)); f=$n; [ $n -gt 1 ] && f=2
if [ $n -le 2 ] || [ -e again ]; then rm -f again; echo $n > f$n; git add -A; git commit -qm "feat: $n"
printf '## Implementation Report — Round %s\n\n**Feature**: F-%s\n**Commit**: %s\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- f%s: new\n\n### Notes\nAs said.\n' $n $f $(git rev-parse HEAD) $n
else printf '## ALL_FEATURES_COMPLETE\n\n### Commits\n'; git log --format='- %h: %s' -2; printf '\n### Summary\nBoth.\n'; fi
"#;
/// Rejects the second round and whatever is complete.
const ACCEPTOR: &str = r#"cat > /dev/null
if [ $DACAPO_ITERATION = 0 ]; then echo ACCEPTED; echo 'Good work.'; else printf 'REJECTED: it is too small\n- f2 lacks a 2\n'; fi
"#;

fn show(world: &World) -> Value {
    let ran = world.run(&["milestone", "show", "two", "--json"]).expect(0);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn paused(world: &World) {
    world.write(".dacapo/milestones/two.md", DEFINITION);
    let script = |name: &str, text: &str| {
        let path = world.scratch(name);
        std::fs::write(&path, text).unwrap();
        format!("[agents.{name}]\ncommand = [\"sh\", {path:?}]\n")
    };
    let (developer, acceptor) = (script("builder", DEVELOPER), script("judge", ACCEPTOR));
    world.config(&format!("{developer}{acceptor}[milestone]\nmax_consecutive_rejections = 1\n"));
    let words = [
        "milestone",
        "start",
        "two",
        "--developer",
        "builder",
        "--acceptor",
        "judge",
        "--check",
        "test -e f1",
    ];
    let _ = world.run(&words).expect(4);
}

#[test]
fn m10_at_a_pause_a_person_reads_both_sides() {
    let world = World::new();
    paused(&world);
    let told = show(&world);
    assert_eq!(
        (&told["status"], &told["needs"]["kind"]),
        (&"paused".into(), &"rejections".into()),
        "{told:#}"
    );
    assert_eq!(told["features"], serde_json::json!({ "done": 1, "total": 2 }));
    assert_eq!((&told["developer"], &told["acceptor"]), (&"builder".into(), &"judge".into()));
    assert_eq!(told["findings"]["open"], serde_json::json!([{ "id": "R1", "text": "f2 lacks a 2" }]));
    let rounds = told["history"].as_array().unwrap();
    assert_eq!(rounds.len(), 2);
    let who: Vec<&str> =
        rounds[1]["said"].as_array().unwrap().iter().map(|said| said["who"].as_str().unwrap()).collect();
    assert_eq!(who, ["developer", "acceptor", "dacapo"]);
    assert!(rounds[1]["said"][0]["text"].as_str().unwrap().contains("As said."), "all of the reply");
    assert_eq!(rounds[0]["verdict"]["accepted"], true);
    assert_eq!(
        (&rounds[1]["report"]["feature_id"], &rounds[1]["verdict"]["by"]),
        (&"F-2".into(), &"acceptor".into())
    );
    assert_eq!(rounds[1]["checks"][0]["passed"], true);
    let next: Vec<&str> =
        told["next"].as_array().unwrap().iter().map(|next| next["command"].as_str().unwrap()).collect();
    assert!(
        next.contains(&"dacapo milestone approve two") && next.contains(&"dacapo milestone approve two R1"),
        "{next:?}"
    );

    let page = world.run(&["milestone", "show", "two"]).expect(0).stdout;
    for line in [
        "two · paused · round 2 of 20 · 1 of 2 features · builder builds · judge judges",
        "  ✓ F-1 one",
        "  ○ F-2 two",
        "        Accept: it has a 2",
        "    C-1 both are there",
        "  No third one.",
        "  open     R1   f2 lacks a 2",
        "  check     ✓ test -e f1 exit 0",
        "    ## Implementation Report — Round 2",
        "    REJECTED: it is too small",
    ] {
        assert!(page.lines().any(|found| found.trim_end() == line), "{line}\n{page}");
    }
    assert!(page.contains("dacapo milestone resume two \"…\""), "{page}");
    let second = page.split("\nRound 2").nth(1).unwrap();
    let order = ["  Developer", "  check ", "  Acceptor", "  verdict   ✗ rejected", "  dacapo"]
        .map(|line| second.find(&format!("\n{line}")));
    assert!(order.is_sorted() && order[0].is_some(), "{order:?}\n{page}");
    let list = world.run(&["milestone", "list"]).expect(0).stdout;
    assert_eq!(
        list.split_whitespace().collect::<Vec<_>>().join(" "),
        "two paused 1/2 features round 2 of 20 builder, judge Two files"
    );
    // A file that is changed on the way is named: it is judged by what was frozen.
    world.write(".dacapo/milestones/two.md", DEFINITION.replace("Two files.", "Three files."));
    let told = show(&world);
    assert!(told["problems"][0].as_str().unwrap().contains("--refreeze"), "{told:#}");
    assert_eq!(told["definition"]["goal"], "Two files.");
    // And one that is gone does not hide what runs.
    std::fs::remove_file(world.repo().join(".dacapo/milestones/two.md")).unwrap();
    let list = world.run(&["milestone", "list"]).expect(0);
    assert!(list.stdout.starts_with("two") && list.stderr.contains("its file is gone"), "{list:?}");
}
