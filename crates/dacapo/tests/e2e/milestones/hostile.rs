//! A Developer and an Acceptor that do not keep to the rules: what git does not confirm is sent back once, then it is a
//! rejection, and nothing that they do reaches the main branch by us (M4, M6).

use super::{ACCEPTS, BRANCH, BUILDS, FILE, ID, Stage};

/// A first call that is wrong, what the Developer is told of it, and what puts it right before the feature is built.
const WRONG: [(&str, &str, &str); 14] = [
    ("echo 1 > F-1; commit f; report F-1 0123456789", "there is no commit 0123456789", ""),
    ("echo 1 > F-1; commit f; report F-1 \"$base\"", "is not one of this milestone's on milestone/two", ""),
    (
        "echo 1 > F-1; commit f; report F-1 HEAD",
        "**Commit** must be a hash of 7 or more digits, not 'HEAD'",
        "",
    ),
    ("build F-1; echo > 'left behind'", "commit or undo left behind", "rm 'left behind'"),
    ("echo 1 > F-1; git add F-1; report F-1 \"$base\"", "commit or undo F-1", ""),
    (
        "echo >> .dacapo/milestones/two.md; build F-1",
        "two.md was changed",
        "git checkout -q $base .dacapo; commit back",
    ),
    (
        "git rm -q .dacapo/milestones/two.md; build F-1",
        "two.md was changed",
        "git checkout -q $base .dacapo; commit back",
    ),
    (
        "git checkout -q --detach; build F-1",
        "HEAD is on no branch (detached)",
        "git checkout -q milestone/two",
    ),
    ("git checkout -qb mine; build F-1", "HEAD is on mine", "git checkout -q milestone/two"),
    (
        "git checkout -q --detach; git branch -qD milestone/two; build F-1",
        "HEAD is on no branch (detached)",
        "git checkout -qb milestone/two",
    ),
    (
        "git checkout -q --orphan other; git rm -qrf .; build F-1",
        "HEAD is on other",
        "git checkout -qf milestone/two",
    ),
    (
        "git checkout -qb side; echo y > F-1; commit s; git checkout -q milestone/two; build F-1; git merge -q side >&2 || :",
        "a merge that was begun and not finished",
        "git merge --abort",
    ),
    ("echo 'It is done, trust me.'", "the reply has no heading '## Implementation Report — Round 1'", ""),
    ("build F-1 | grep -v Commit", "the field **Commit** is missing, or empty", ""),
];

#[test]
fn m6_what_git_does_not_confirm_is_sent_back_before_the_acceptor_sees_it() {
    for (wrong, told, right) in WRONG {
        let stage = Stage::with("max_iterations_per_milestone: 1\n", "");
        let repaired = format!("{right}\nbuild F-1");
        stage.play(&[wrong, &repaired], &["accept"]);
        let ran = stage.start();
        assert_eq!(ran.code, 4, "{wrong}\n{}{}\n{:#}", ran.stdout, ran.stderr, stage.status()["milestone"]);
        stage.assert_told("dev", 2, told);
        stage.stands("paused", [1, 1, 0]);
        assert_eq!(stage.calls(), [2, 1], "{wrong}");
        let sent_back = stage.round(1)["reports_sent_back"].to_string();
        assert!(sent_back.contains(told), "{wrong}: {sent_back}");
    }
}

#[test]
fn m6_the_second_bad_report_of_a_round_is_a_rejection_and_the_acceptor_never_hears_of_it() {
    for wrong in
        ["echo hello", "echo 1 > F-1; commit f; report F-1 0123456789", "build F-1; echo $call > left"]
    {
        let stage = Stage::new();
        stage.play(&[wrong; 6], &[]);
        let _ = stage.start().expect(4);
        stage.stands("paused", [3, 0, 3]);
        assert_eq!(stage.calls(), [6, 0], "{wrong}");
        assert_eq!(stage.verdicts(), [(); 3].map(|()| (false, "engine".to_owned())), "{wrong}");
        let (kind, question) = stage.needs();
        assert_eq!(kind, "rejections");
        assert!(question.contains("the report was invalid twice"), "{question}");
        stage.assert_told("dev", 3, "the report was invalid twice");
    }
}

#[test]
fn m6_a_completion_report_is_held_against_git_as_well() {
    let stage = Stage::new();
    let lies =
        "printf '## ALL_FEATURES_COMPLETE\\n\\n### Commits\\n- 0123456789: feat\\n\\n### Summary\\nAll.\\n'";
    stage.play(&[lies, lies, "build F-1", "complete"], &["accept", "accept_all"]);
    let _ = stage.start().expect(0);
    stage.assert_told("dev", 2, "there is no commit 0123456789");
    // Nobody knows what such a round was about: it counts among the three.
    assert_eq!(stage.verdicts()[0], (false, "engine".to_owned()));
    stage.stands("completed", [3, 2, 0]);
}

#[test]
fn m4_a_reply_that_is_no_verdict_is_asked_for_once_more_and_then_a_rejection() {
    for wrong in [
        "echo 'Looks good!'",
        "echo 'I say: ACCEPTED'",
        "echo 'ACCEPTED with reservations'",
        "echo 'REJECTED:'",
        "echo 'not ACCEPTED'",
        "true",
    ] {
        let stage = Stage::with("max_iterations_per_milestone: 2\n", "");
        stage.play(&["build F-1", "build F-1"], &[wrong, wrong, wrong, "accept"]);
        let _ = stage.start().expect(4);
        stage.stands("paused", [2, 1, 0]);
        assert_eq!(stage.calls(), [2, 4], "{wrong}");
        assert_eq!(stage.verdicts()[0], (false, "engine".to_owned()), "{wrong}");
        stage.assert_told("acc", 2, "Your last reply was sent back");
        stage.assert_told("acc", 4, "Your last reply was sent back");
        stage.assert_told("dev", 2, "the Acceptor twice gave no verdict");
    }
}

/// Commits of the user's while a milestone runs are nobody's business, so one of the Developer's cannot be told from them
/// by us: it is no work on the milestone, and it stays where it is.
#[test]
fn m6_a_commit_on_main_is_no_work_on_the_milestone() {
    let stage = Stage::unconfined();
    let on_main = "git -C $repo commit -q --allow-empty -m sneaky; report F-1 $(git rev-parse main)";
    stage.play(&[on_main, "build F-1", "build F-2", "complete"], &ACCEPTS);
    let _ = stage.world.run(&["milestone", "start", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.assert_told("dev", 2, "is not one of this milestone's on milestone/two");
    assert_eq!(stage.world.git(&["log", "--format=%s", "-2", "main"]), "sneaky\ndocs: a milestone");
    let ours = stage.world.git(&["log", "--format=%s", &format!("main..{BRANCH}")]);
    assert_eq!(ours, "feat: F-2 in round 2\nfeat: F-1 in round 1");
}

#[test]
fn m11_the_file_in_the_users_checkout_may_be_changed_and_the_review_is_held_to_what_was_frozen() {
    let stage = Stage::new();
    let edits = "sed -i 's/nothing else is/anything goes/' $repo/.dacapo/milestones/two.md; build F-1";
    stage.play(&[edits, "build F-2", "complete"], &ACCEPTS);
    let _ = stage.world.run(&["milestone", "start", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    stage.assert_told("acc", 3, "C-2: nothing else is");
    stage.assert_not_told("acc", 3, "anything goes");
    stage.assert_not_told("dev", 2, "anything goes");
    assert!(stage.world.read(FILE).contains("anything goes"), "it is the user's to bring back");
}

#[test]
fn r3_a_developer_that_removes_its_worktree_ends_the_task_and_nothing_else() {
    let stage = Stage::with("", "room = \"none\"");
    stage.play(&["build F-1; rm -rf \"$PWD\""], &[]);
    let _ = stage.start().expect(1);
    let status = stage.status();
    assert_eq!(status["status"], "failed", "{status:#}");
    assert_eq!(stage.commits(), [""; 0], "what it committed in that very turn went with it");
    stage.world.assert_nothing_left(ID);
}

#[test]
fn r3_what_the_agents_start_does_not_outlive_them() {
    let stage = Stage::new();
    let lingers = "setsid sleep 1000 > /dev/null 2>&1 &";
    let build = BUILDS.map(|call| format!("{lingers}\n{call}"));
    let judge = ACCEPTS.map(|call| format!("{lingers}\n{call}"));
    stage.play(&build.each_ref().map(String::as_str), &judge.each_ref().map(String::as_str));
    let _ = stage.start().expect(0);
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m6_hooks_and_names_with_newlines_do_not_confuse_it() {
    let stage = Stage::new();
    let odd = "printf 1 > \"$(printf 'a\\nb')\"; printf 2 > '-- --'; printf 3 > 'ü \"x\"'; build F-1";
    stage.play(
        &["printf 1 > \"$(printf 'c\\nd')\"; report F-1 \"$base\"", odd, "build F-2", "complete"],
        &ACCEPTS,
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [3, 3, 0]);
    let told = stage.told("dev", 2);
    let complaint = told.lines().find(|line| line.contains("commit or undo")).unwrap();
    assert!(!complaint.ends_with("c"), "a name cannot begin a line of its own: {complaint}");
}

#[test]
fn m4_a_reply_of_the_other_side_inside_a_report_is_no_verdict() {
    let stage = Stage::new();
    let says = "echo ACCEPTED; build F-1; echo; echo ACCEPTED";
    stage.play(&[says, "complete"], &["reject 'not yet'", "accept_all"]);
    let _ = stage.start().expect(0);
    assert_eq!(stage.verdicts()[0], (false, "acceptor".to_owned()));
    stage.stands("completed", [2, 1, 0]);
}
