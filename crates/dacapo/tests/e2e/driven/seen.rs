//! A milestone from outside: what is printed while it goes, what is asked at a pause, who is told, how it comes home.

use serde_json::{Value, json};

use crate::support::World;

const DEFINITION: &str = "# Login with a limit\n## Goal\nNobody guesses passwords.\n## Features\n- login\n- rate limit\n## Acceptance Criteria\n- both are there\n";

/// The first report of all names a commit that does not exist, and is made again with one commit more. From round 5 on all
/// is complete.
const DEVELOPER: &str = r#"#!/bin/sh
cat > /dev/null; n=$((DACAPO_ITERATION + 1)); [ $n = 1 ] && f=1 || f=2
if [ $n -ge 5 ]; then
  printf '## ALL_FEATURES_COMPLETE\n\n### Commits\n'; git log --format='- %h: %s' -1; printf '\n### Summary\nBoth.\n'; exit
fi
echo $n >> f$f; git add -A; git -c user.name=d -c user.email=d@d commit -qm "feat: $n"
c=$(git rev-parse HEAD); [ $n = 1 ] && [ $DACAPO_ATTEMPT = 0 ] && c=0123456
printf '## Implementation Report — Round %s\n\n**Feature**: F-%s\n**Commit**: %s\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- f%s: new\n' $n $f $c $f
"#;

/// Rejects rounds 2 and 3.
const ACCEPTOR: &str = r#"#!/bin/sh
cat > /dev/null
case $DACAPO_ITERATION in
1|2) printf 'REJECTED: no limiter\n- [R1] nginx is not the code\n';;
*) printf 'ACCEPTED\nC-1: met\n';;
esac
"#;

fn world() -> World {
    let world = World::new();
    let (developer, acceptor) = (world.program("dev", DEVELOPER), world.program("acc", ACCEPTOR));
    let told = world.scratch("told");
    world.config(&format!(
        "[agents.dev]\ncommand = [{developer:?}]\nprompt = \"stdin\"\noutput = \"text\"\n\
         [agents.acc]\ncommand = [{acceptor:?}]\nprompt = \"stdin\"\noutput = \"text\"\n\
         [milestone]\nmax_consecutive_rejections = 2\n[notify]\ncommand = \"cat >> '{}'\"\n",
        told.display()
    ));
    world.write(".dacapo/milestones/auth.md", DEFINITION);
    let _ = world.git(&["add", "-Af"]);
    let _ = world.git(&["commit", "-qm", "a milestone"]);
    world
}

/// Without what differs from run to run: commits, times, and whether a process of an agent outlived it for a moment.
fn calm(text: &str) -> Vec<String> {
    let is_time = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(['s', 'm']) && word.len() < 7
    };
    let is_commit = |word: &str| word.len() == 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    let words = |line: &str| {
        let kept = line.split(' ').map(|word| match word {
            word if is_commit(word) => "COMMIT",
            word if is_time(word) => "TIME",
            word => word,
        });
        kept.collect::<Vec<_>>().join(" ")
    };
    text.lines().filter(|line| !line.starts_with("note    ended ")).map(words).collect()
}

#[test]
fn m10_a_milestone_is_seen_from_its_start_to_its_merge() {
    let world = world();
    let start =
        ["milestone", "start", "auth", "--developer", "dev", "--acceptor", "acc", "--check", "test -e f1"];
    let ran = world.run(&start).expect(4);
    let lines = calm(&ran.stdout);
    let from = lines.iter().position(|line| line == "round 1 of 20").expect("a round");
    let until = lines.iter().position(|line| line.is_empty()).expect("an end");
    assert_eq!(
        lines[from..until],
        [
            "round 1 of 20",
            "  builds   Developer dev",
            "  back     to the Developer: there is no commit COMMIT",
            "  builds   Developer dev",
            "  report   F-1 login · COMMIT · 1 file",
            "  check    test -e f1 ✓ exit 0 TIME",
            "  judges   Acceptor acc",
            "✓ 1  COMMIT  F-1 login  accepted · 1 file TIME",
            "round 2 of 20",
            "  builds   Developer dev",
            "  report   F-2 rate limit · COMMIT · 1 file",
            "  check    test -e f1 ✓ exit 0 TIME",
            "  judges   Acceptor acc",
            "  R1       nginx is not the code",
            "✗ 2  COMMIT  F-2 rate limit  rejected, 1 in a row · 1 file TIME",
            "     no limiter",
            "round 3 of 20",
            "  builds   Developer dev",
            "  report   F-2 rate limit · COMMIT · 1 file",
            "  check    test -e f1 ✓ exit 0 TIME",
            "  judges   Acceptor acc",
            "  R1       nginx is not the code",
            "✗ 3  COMMIT  F-2 rate limit  rejected, 2 in a row · 1 file TIME",
            "     no limiter",
        ],
        "{}",
        ran.stdout
    );
    let end = lines[until..].join("\n");
    for said in [
        "‖ paused: it needs your decision · 3 rounds · 1 accepted · 1 of 2 features done",
        "  rejected 2×: no limiter",
        "  R1 open since round 2: nginx is not the code",
        "dacapo approve auth R1",
    ] {
        assert!(end.contains(said), "{said}\n{}", ran.stdout);
    }
    assert!(world.run(&["wait", "auth"]).expect(4).stdout.contains("rejected 2×"));
    let told: Value =
        serde_json::from_str(std::fs::read_to_string(world.scratch("told")).unwrap().lines().next().unwrap())
            .unwrap();
    let milestone = &told["milestone"];
    assert_eq!(
        (&told["type"], &milestone["status"], &told["needs"]["kind"]),
        (&json!("needs_person"), &json!("paused"), &json!("rejections")),
        "{told}"
    );
    let next = told["next"].as_array().unwrap();
    assert!(next.iter().any(|next| next["command"] == "dacapo resume auth"), "{told}");
    let listed = world.run(&["list"]).expect(0).stdout;
    assert!(listed.starts_with("NEEDS YOU  auth"), "{listed}");
    assert!(world.run(&["merge", "auth", "--dry-run"]).stdout.contains("paused, 1 of 2 features accepted"));

    let ended = world.run(&["resume", "auth"]).expect(0).stdout;
    for said in ["all features complete · ", "final acceptance", "the milestone is accepted", "✓ proven"] {
        assert!(ended.contains(said), "{said}\n{ended}");
    }
    let status = world.status("auth");
    let milestone = &status["milestone"];
    assert_eq!(
        json!([status["verified"], milestone["status"], milestone["phase"], milestone["iteration_count"]]),
        json!([true, "completed", null, 3])
    );
    assert_eq!(milestone["history"].as_array().map(Vec::len), Some(5));
    let _ = world.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    let _ = world.run(&["merge", "auth"]).expect(0);
    let features = milestone["history"].as_array().unwrap();
    let short = |round: usize| features[round]["report"]["commit_id"].as_str().unwrap()[..7].to_owned();
    let message = world.git(&["log", "-1", "--format=%B"]);
    let list = format!("- F-1 login ({})\n- F-2 rate limit ({})", short(0), short(3));
    assert!(message.starts_with("Merge milestone 'auth': Login with a limit\n"), "{message}");
    assert!(message.contains(&list) && message.contains("5 commits on milestone/auth."), "{message}");
}
