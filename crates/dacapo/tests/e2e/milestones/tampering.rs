//! A main branch that is moved, and an Acceptor that changes what it is to judge (M2, M6).

use super::{BRANCH, ID, Stage};

const COMPLETES: [&str; 2] = ["build F-2", "complete"];

/// Who did it cannot be told: a person who merges does the same as an agent that must not.
#[test]
fn m2_commits_of_the_milestone_on_the_main_branch_are_a_persons_to_judge() {
    for moves in [
        "build F-1; git -C $repo fetch -q $PWD HEAD; git -C $repo update-ref refs/heads/main FETCH_HEAD",
        "build F-1; git -C $repo pull -q --ff-only $PWD HEAD",
        "build F-1; git -C $repo pull -q --no-rebase --no-ff --no-edit $PWD HEAD > $scratch/merged",
    ] {
        let stage = Stage::unconfined();
        stage.play(&[&[moves][..], &COMPLETES].concat(), &["accept", "accept", "accept_all"]);
        let ran = stage.world.run(&["milestone", "start", ID]).expect(4);
        assert_eq!(stage.calls(), [1, 0], "{moves}\n{}{}", ran.stdout, ran.stderr);
        let (kind, question) = stage.needs();
        assert_eq!(kind, "main");
        assert!(
            question.starts_with("since round 1, main contains commits of this milestone ("),
            "{question}"
        );
        let main = stage.world.git(&["rev-parse", "main"]);
        let _ = stage.world.run(&["milestone", "resume", ID]).expect(0);
        stage.stands("completed", [3, 3, 0]);
        assert_eq!(stage.calls(), [3, 3], "the report stands");
        assert_eq!(stage.world.git(&["rev-parse", "main"]), main, "nobody but a person moves it");
        for call in 1..=3 {
            stage.assert_not_told("dev", call, "update-ref");
            stage.assert_not_told("dev", call, "was it you");
        }
    }
}

#[test]
fn m2_a_main_branch_that_is_gone_or_rewritten_is_told_to_a_person() {
    for (moves, found) in [
        ("git -C $repo update-ref -d refs/heads/main", "main has been gone since round 1; it was at "),
        ("git -C $repo commit -q --amend --allow-empty -m other", " and no longer contains its old commits"),
    ] {
        let stage = Stage::unconfined();
        let builds = format!("{moves}; build F-1");
        stage.play(&[&[builds.as_str()][..], &COMPLETES].concat(), &["accept", "accept", "accept_all"]);
        let _ = stage.world.run(&["milestone", "start", ID]).expect(4);
        let (kind, question) = stage.needs();
        assert_eq!(kind, "main");
        assert!(question.contains(found), "{question}");
        assert_eq!(stage.calls(), [1, 0]);
        let _ = stage.world.run(&["milestone", "resume", ID]).expect(0);
        stage.stands("completed", [3, 3, 0]);
    }
}

#[test]
fn m2_what_the_user_commits_meanwhile_is_nobodys_business() {
    let stage = Stage::unconfined();
    let users = "git -C $repo commit -q --allow-empty -m 'my own'; build F-1";
    stage.play(&[users, "build F-2", "complete"], &["accept", "accept", "accept_all"]);
    let _ = stage.world.run(&["milestone", "start", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.calls(), [3, 3]);
    assert_eq!(stage.world.subjects()[0], "my own");
}

#[test]
fn m6_files_that_the_acceptor_leaves_are_for_the_developer_to_put_in_order() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "git checkout -q .; rm -rf judged; build F-2", "complete"],
        &["mkdir judged; touch judged/x; echo mine > F-1; accept", "accept", "accept_all"],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [3, 3, 0]);
    assert_eq!(stage.calls(), [3, 3], "its verdict counts, and nobody is blamed for what another did");
    stage.assert_told("dev", 2, "left by the Acceptor");
    stage.assert_told("dev", 2, "judged");
    stage.assert_told("acc", 2, "you changed the working tree");
    stage.assert_not_told("acc", 3, "you changed the working tree");
    assert_eq!(stage.world.git(&["show", &format!("{BRANCH}:F-1")]), "1.0");
    assert_eq!(stage.world.tree(BRANCH), [".dacapo/milestones/two.md", "F-1", "F-2", "README.md"]);
}

/// What an Acceptor does to git, and what puts it right.
const MEDDLES: [(&str, &str); 4] = [
    ("echo mine > F-1; commit mine", "git reset -q --hard HEAD~1"),
    ("git reset -q --hard $base", "git reset -q --hard"),
    ("git checkout -q --detach; git branch -qD milestone/two", "git checkout -qb milestone/two"),
    ("git checkout -qb acceptors", "git checkout -q milestone/two"),
];

#[test]
fn m6_an_acceptance_of_what_the_acceptor_changed_itself_does_not_count() {
    for (meddles, right) in MEDDLES {
        let stage = Stage::with("max_iterations_per_milestone: 2\n", "");
        let repaired = format!("{right}; build F-1");
        stage.play(&["build F-1", &repaired], &[&format!("{meddles}; accept"), "accept"]);
        let ran = stage.start();
        assert_eq!(ran.code, 4, "{meddles}\n{}{}", ran.stdout, ran.stderr);
        stage.stands("paused", [2, 1, 0]);
        assert_eq!(
            stage.verdicts(),
            [(false, "engine".to_owned()), (true, "acceptor".to_owned())],
            "{meddles}"
        );
        stage.assert_told("dev", 2, "its verdict does not count");
        stage.assert_told("acc", 2, "you changed the working tree, a branch or HEAD");
        let subjects = stage.commits();
        assert!(!subjects.contains(&"mine".to_owned()), "{meddles}: {subjects:?}");
    }
}

#[test]
fn m6_a_rejection_counts_whatever_the_acceptor_changed() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "");
    stage.play(&["build F-1"], &["echo x > x; commit mine; reject 'not good' 'too short'"]);
    let _ = stage.start().expect(4);
    stage.stands("paused", [1, 0, 1]);
    assert_eq!(stage.verdicts(), [(false, "acceptor".to_owned())]);
    assert_eq!(stage.status()["milestone"]["findings"][0]["id"], "R1");
    let reported = stage.round(1)["report"]["commit_id"].clone();
    assert_eq!(reported, stage.world.git(&["rev-parse", &format!("{BRANCH}~1")]).as_str());
}

#[test]
fn m2_a_main_branch_that_moved_while_the_acceptor_judged_is_asked_about_and_the_verdict_counts() {
    let stage = Stage::unconfined();
    let moves = "git -C $repo fetch -q $PWD HEAD; git -C $repo update-ref refs/heads/main FETCH_HEAD; accept";
    stage.play(&[&["build F-1"][..], &COMPLETES].concat(), &[moves, "accept", "accept_all"]);
    let _ = stage.world.run(&["milestone", "start", ID]).expect(4);
    stage.stands("paused", [1, 1, 0]);
    assert_eq!(stage.needs().0, "main");
    let _ = stage.world.run(&["milestone", "resume", ID]).expect(0);
    stage.stands("completed", [3, 3, 0]);
}

#[test]
fn m5_a_final_acceptance_of_something_else_completes_nothing() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "complete", "git reset -q --hard HEAD~1; complete"],
        &["accept", "git rm -q F-1; git commit -qm gone; accept_all", "accept_all"],
    );
    let _ = stage.start().expect(0);
    stage.stands("completed", [3, 2, 0]);
    assert_eq!(stage.commits(), ["feat: F-1 in round 1"]);
}
