//! A milestone, driven by the real driver on a real repository. There is no command for it yet: the task is made here.

use dacapo_core::engine::{Answers, Driver, DriverContext, Kinds};
use dacapo_core::event::{Command, Outcome, TaskResult};
use dacapo_core::process::Supervision;
use dacapo_core::spec::{Place, TaskSpec};
use dacapo_core::store::{Home, InheritedLocks, TaskDir, read};
use dacapo_core::task::milestone::MilestoneStep;
use dacapo_core::task::milestone::{Definition, Details, Milestones};

use super::AGENT;
use super::kinds::Nobody;
use crate::support::{World, wait_for};

const DEFINITION: &str =
    "## Goal\nTwo files.\n## Features\n- one\n- two\n## Acceptance Criteria\n- both are there\n";

/// Builds a file a round, then says that all is complete. Everything before the report is chatter.
const DEVELOPER: &str = r#"cat > /dev/null; n=$((DACAPO_ITERATION + 1)); echo "On it."
commit() { git add -A; git -c user.name=d -c user.email=d@d commit -qm "feat: $n"; }
report() { printf '## Implementation Report — Round %s\n\n**Feature**: F-%s\n**Commit**: %s\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- f%s: new\n' $n $n $1 $n; }
"#;
const BUILDS: &str = r#"if [ $n -le 2 ]; then echo $n-$DACAPO_ATTEMPT > f$n; commit; report $(git rev-parse --short=9 HEAD)
else printf '## ALL_FEATURES_COMPLETE\n\n### Commits\n'; git log --format='- %h: %s' -2; printf '\n### Summary\nBoth.\n'; fi"#;
const ACCEPTOR: &str = "cat > /dev/null; echo ACCEPTED; echo 'C-1: met'";

fn milestone(world: &World, developer: &str) -> (TaskDir, TaskSpec) {
    let _ = world.exec(&["--name", "model", "--worktree", "--agent-cmd", AGENT, "go"]).expect(0);
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.task_dir("model").join("spec.json")).unwrap()).unwrap();
    json["name"] = "two".into();
    json["kind"] = Milestones::NAME.into();
    json["details"] = serde_json::to_value(Details {
        definition: DEFINITION.into(),
        path: ".dacapo/milestones/two.md".into(),
        frozen: Definition::parse(DEFINITION).unwrap().frozen(),
        max_rejections: 3,
        requires_human_review: false,
        vision: None,
        soul: None,
        memory: None,
        prompts: dacapo_core::task::milestone::Prompts::default(),
    })
    .unwrap();
    json["policy"]["looping"] = true.into();
    json["policy"]["checks"] = serde_json::json!(["test -e f1"]);
    json["policy"]["cap"] = serde_json::json!({ "iterations": 20, "source": "iter" });
    json["place"]["path"] = json["place"]["path"].as_str().unwrap().replace("model", "two").into();
    json["place"]["branch"] = "refs/heads/milestone/two".into();
    let mut agents = [json["agents"][0].clone(), json["agents"][0].clone()];
    agents[0]["command"] = serde_json::json!({ "shell": format!("{DEVELOPER}{developer}") });
    agents[1]["command"] = serde_json::json!({ "shell": ACCEPTOR });
    json["agents"] = agents.into_iter().collect();
    let spec: TaskSpec = serde_json::from_value(json).unwrap();
    (TaskDir::at(world.task_dir("model").with_file_name("two")), spec)
}

fn drive(world: &World, dir: &TaskDir, spec: &TaskSpec) -> TaskResult {
    let setting = DriverContext {
        program: env!("CARGO_BIN_EXE_dacapo").into(),
        env: std::env::vars_os().collect(),
        user_settings: Vec::new(),
        guarded: None,
        supervision: Supervision::default(),
        locks: InheritedLocks::default(),
        version: "test".into(),
        limits: Home::new(world.data()).limits(),
        more_iterations: None,
        follow_up: None,
        proof: None,
        kinds: Kinds::of(&[&Milestones]),
        answers: Answers::Here,
        repo_slot: None,
        machine_slot: None,
    };
    let mut nobody = Nobody;
    let (driver, _) = Driver::new(spec.clone(), dir.clone(), setting, &mut nobody).unwrap();
    driver.run().unwrap()
}

fn steps(dir: &TaskDir) -> Vec<MilestoneStep> {
    let mut steps = Vec::new();
    let each = |line: dacapo_core::event::Envelope| {
        steps.extend(MilestoneStep::of(&line.event));
    };
    read(&dir.journal_path(), each).unwrap();
    steps
}

#[test]
fn m4_a_whole_milestone_on_a_real_repository() {
    let world = World::new();
    let (dir, spec) = milestone(&world, BUILDS);
    let main = world.git(&["rev-parse", "main"]);
    let _lock = dir.create(&spec).unwrap();
    let result = drive(&world, &dir, &spec);
    let counts = (result.iterations_attempted, result.iterations_succeeded);
    assert_eq!(
        (result.outcome, counts, result.verified),
        (Outcome::Completed, (3, 3), true),
        "{:#?}",
        steps(&dir)
    );
    assert_eq!(world.git(&["log", "--format=%s", "main..milestone/two"]).trim(), "feat: 2\nfeat: 1");
    assert_eq!(world.git(&["rev-parse", "main"]), main, "main is never touched");
    let taken = steps(&dir).into_iter().find_map(|step| match step {
        MilestoneStep::ReportTaken { commit, changed_files, log, .. } => Some((commit, changed_files, log)),
        _ => None,
    });
    let (commit, changed, log) = taken.unwrap();
    assert_eq!(commit.as_str(), world.git(&["rev-parse", "milestone/two~1"]).trim());
    assert_eq!((changed, log.len()), (vec!["f1".to_owned()], 1));
}

#[test]
fn m6_what_git_does_not_confirm_is_sent_back() {
    let cases = [
        ("echo $n > f$n; commit; report 0123456", "there is no commit 0123456"),
        (
            "echo $n > f$n; commit; report $(git rev-parse main)",
            "is not one of this milestone's on milestone/two",
        ),
        ("echo $n > f$n; commit; echo > left; report $(git rev-parse HEAD)", "commit or undo left"),
        (
            "git checkout -q --detach; echo $n > f$n; commit; report $(git rev-parse HEAD)",
            "HEAD is on no branch (detached)",
        ),
        (
            "mkdir -p .dacapo/milestones; echo > .dacapo/milestones/two.md; git add -f .dacapo; commit; report $(git rev-parse HEAD)",
            "two.md was changed",
        ),
    ];
    for (wrong, told) in cases {
        let world = World::new();
        // The second attempt of the round puts it right.
        let right = "git checkout -q milestone/two; git rm -rfq --ignore-unmatch .dacapo; rm -f left; ";
        let developer =
            format!("if [ $n = 1 ] && [ $DACAPO_ATTEMPT = 0 ]; then {wrong}; else {right} {BUILDS}\nfi");
        let (dir, spec) = milestone(&world, &developer);
        let _lock = dir.create(&spec).unwrap();
        let result = drive(&world, &dir, &spec);
        let steps = steps(&dir);
        let MilestoneStep::ReportSentBack { complaints, .. } = &steps[0] else {
            panic!("{told}: {steps:#?}")
        };
        assert!(complaints.iter().any(|complaint| complaint.contains(told)), "{told}: {complaints:?}");
        let counts = (result.iterations_attempted, result.iterations_failed);
        assert_eq!((result.outcome, counts), (Outcome::Completed, (3, 0)), "{told}: {steps:#?}");
    }
}

#[test]
fn s8_what_a_killed_milestone_had_not_committed_is_kept() {
    let world = World::new();
    let (dir, spec) = milestone(&world, "echo half > half.txt; sleep 1000");
    let _lock = dir.create(&spec).unwrap();
    let Place::Worktree { path: worktree, .. } = &spec.place else { panic!("a worktree") };
    let result = std::thread::scope(|scope| {
        let driven = scope.spawn(|| drive(&world, &dir, &spec));
        wait_for("the Developer to begin", || worktree.join("half.txt").exists());
        dir.inbox().put("test", Command::Kill).unwrap();
        driven.join().unwrap()
    });
    assert_eq!((result.outcome, result.iterations_attempted), (Outcome::Cancelled, 1));
    let Some(MilestoneStep::TreeKept { reference: Some(kept) }) = steps(&dir).pop() else {
        panic!("{:?}", steps(&dir))
    };
    assert_eq!(world.git(&["show", &format!("{kept}:half.txt")]).trim(), "half");
    assert_eq!(
        world.git(&["rev-parse", "milestone/two"]),
        world.git(&["rev-parse", "main"]),
        "no commit of ours"
    );
    assert!(worktree.join("half.txt").exists(), "and it is where it was");
}
