//! Which milestone begins when nobody names one (M2).

use std::process::Command;

use crate::support::World;

/// One feature, built at once.
const DEVELOPER: &str = r#"cat > /dev/null
if [ $DACAPO_ITERATION = 0 ]; then echo 1 > f; git add -A; git commit -qm "feat: f"
printf '## Implementation Report — Round 1\n\n**Feature**: F-1\n**Commit**: %s\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- f: new\n' $(git rev-parse HEAD)
else printf '## ALL_FEATURES_COMPLETE\n\n### Commits\n'; git log --format='- %h: %s' -1; printf '\n### Summary\nDone.\n'; fi
"#;

fn milestone(world: &World, id: &str, front: &str) {
    let text = format!("---\n{front}---\n## Goal\nx\n## Features\n- a\n## Acceptance Criteria\n- b\n");
    world.write(&format!(".dacapo/milestones/{id}.md"), text);
}

#[test]
fn m2_auto_takes_the_oldest_that_may_start_by_itself() {
    let world = World::new();
    let script = world.scratch("developer");
    std::fs::write(&script, DEVELOPER).unwrap();
    world.config(&format!(
        "checks = []\n[agents.builder]\ncommand = [\"sh\", {script:?}]\n\
         [agents.judge]\ncommand = [\"sh\", \"-c\", \"cat > /dev/null; echo ACCEPTED; echo 'C-1: met'\"]\n"
    ));
    milestone(&world, "committed", "auto_start: true\n");
    let mut commit = Command::new("sh");
    world.dress(&mut commit);
    let commit = commit
        .args(["-c", "git add .dacapo && git commit -qm plan"])
        .env("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z");
    assert!(commit.status().unwrap().success());
    // By its first commit, not by the newest or by its file.
    milestone(&world, "committed", "auto_start: true\n# Looked over.\n");
    world.git(&["commit", "-qam", "look it over"]);
    milestone(&world, "says", "auto_start: true\ncreated: 2002-01-01\n");
    milestone(&world, "file", "auto_start: true\n");
    milestone(&world, "asked", "created: 1990-01-01\n");
    milestone(&world, "done", "auto_start: true\ncreated: 1990-01-01\n");
    world.write(".dacapo/milestones/done.json", "{\"status\": \"completed\"}");
    world.write(".dacapo/milestones/broken.md", "auto_start: true\n");
    world.git(&["add", ".dacapo"]);
    world.git(&["commit", "-qm", "more"]);
    world.trust();
    let mut begun = Vec::new();
    for next in ["committed", "says", "file"] {
        let _ = world
            .run(&["milestone", "start", "--auto", "--developer", "builder", "--acceptor", "judge"])
            .expect(0);
        begun.push(next.to_owned());
        begun.sort();
        assert_eq!(world.tasks(), begun);
    }
    let ran = world.run(&["milestone", "start", "--auto", "--developer", "builder"]).expect(0);
    assert!(ran.stdout.contains("no milestone to start"), "{}", ran.stdout);
    assert_eq!(world.tasks(), begun);
    // What is completed stays so without its task, and is not begun once more.
    for id in &begun {
        let _ = world.run(&["drop", id]).expect(0);
    }
    let ran = world.run(&["milestone", "start", "--auto", "--developer", "builder"]).expect(0);
    assert!(ran.stdout.contains("no milestone to start") && world.tasks().is_empty(), "{}", ran.stdout);
    let list = world.run(&["milestone", "list"]).expect(0).stdout;
    let completed = list.lines().filter(|line| line.contains(" completed "));
    assert_eq!(completed.count(), 4, "{list}");
}
