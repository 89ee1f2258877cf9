//! Findings stay open or settled (M11).

use super::world::*;
use crate::event::{Command, NeedKind, Outcome};
use crate::task::milestone::findings::About;
use crate::task::milestone::{Finding, MilestoneStep};
use crate::task::milestone::{Findings, RaisedFinding};

fn rejects(items: &str) -> Turn {
    says(&format!("REJECTED: see below\n{items}"))
}

fn open(world: &World) -> Vec<Vec<(u32, String)>> {
    let steps = world.steps().into_iter().filter_map(|step| match step {
        MilestoneStep::Rejected { findings, .. } => {
            Some(findings.iter().map(|finding| (finding.id, finding.text.clone())).collect())
        }
        _ => None,
    });
    steps.collect()
}

#[test]
fn m11_findings_get_their_ids_from_the_engine_and_keep_them() {
    let world = World::new(spec()).script(&[
        report(1, "F-1"),
        rejects("- no limit\n- no test\n"),
        report(2, "F-1"),
        rejects("- [R2] still no test\n- [R7] an id of its own\n"),
        report(3, "F-1"),
        yes(),
    ]);
    let world = world.run();
    let all = [
        vec![(1, "no limit".into()), (2, "no test".into())],
        vec![(2, "still no test".into()), (3, "an id of its own".into())],
    ];
    assert_eq!(open(&world), all);
    assert!(
        world.prompt(2).contains("## Open findings\n\n```\n- [R1] no limit\n- [R2] no test\n```\n"),
        "{}",
        world.prompt(2)
    );
    assert!(
        world.prompt(3).contains("## Open findings\n\n```\n- [R1] no limit\n- [R2] no test\n```\n"),
        "the Acceptor too"
    );
    let third = world.prompt(4);
    assert!(third.contains("- [R2] still no test\n- [R3] an id of its own\n"), "{third}");
    assert!(
        third.contains("## Settled findings: leave them as they are\n\n```\n- [R1] no limit\n"),
        "{third}"
    );
    assert!(!world.prompt(6).contains("Open findings"), "an acceptance settles all");
}

#[test]
fn m11_a_rejection_that_names_only_what_is_settled_is_asked_for_once_more_then_a_person_decides() {
    let script = [
        report(1, "F-1"),
        rejects("- no limit\n- no test\n"),
        report(2, "F-1"),
        rejects("- [R2] no test\n"),
        report(3, "F-1"),
        rejects("- [R1] no limit\n"),
        rejects("- [R1] no limit!\n"),
    ];
    let world = World::new(spec()).script(&script).run();
    assert!(world.order().ends_with("D3 A3 A3"));
    assert!(world.prompt(6).contains("names only what is settled (R1)"), "{}", world.prompt(6));
    assert_eq!(world.question(), NeedKind::Settled { reason: "see below".into() });
    assert_eq!((world.result().outcome, world.end().4), (Outcome::Paused, 3));
    let approved = World { script: [].into(), ..world }.resume(&[Command::Approve { choice: None }]);
    assert_eq!(approved.result().outcome, Outcome::Completed);
    assert_eq!(approved.end(), (Outcome::Completed, crate::event::StopReason::Promise, 6, 4, 2));
}

#[test]
fn m11_asked_once_more_the_acceptor_may_say_what_else_is_wrong() {
    let script = [
        report(1, "F-1"),
        rejects("- a\n"),
        report(2, "F-1"),
        rejects("- b\n"),
        report(3, "F-1"),
        rejects("- [R1] a\n"),
        says("REJECTED: c\n- [R1] a\n- c\n"),
    ];
    let mut details = details();
    details.max_rejections = 9;
    let world = World::new(with(&details)).script(&script).run();
    assert_eq!(open(&world).last().unwrap(), &[(3, "c".to_owned())], "what is settled stays so");
    assert_eq!(world.result().outcome, Outcome::Completed);
}

#[test]
fn m11_what_is_said_again_word_for_word_is_the_same_finding_though_its_id_is_missing() {
    let script = [
        report(1, "F-1"),
        rejects("- no limit\n- No  test\n"),
        report(2, "F-1"),
        rejects("- no test\n- no\n  TEST\n- [R9] no test\n"),
        report(3, "F-1"),
        rejects("- No limit\n"),
        rejects("- no limit\n"),
    ];
    let world = World::new(spec()).script(&script).run();
    assert_eq!(open(&world)[1], [(2, "no test".to_owned())], "one finding, and the one that was open");
    assert!(world.prompt(6).contains("names only what is settled (R1)"), "{}", world.prompt(6));
    assert_eq!(tag(&world.question()), "settled");
}

#[test]
fn m11_the_same_words_about_another_feature_are_another_finding() {
    let script = [
        report(1, "F-1"),
        rejects("- no test\n"),
        report(2, "F-1"),
        yes(),
        report(3, "F-2"),
        rejects("- no test\n"),
    ];
    let world = World::new(spec()).script(&script).run();
    assert_eq!(open(&world)[1], [(2, "no test".to_owned())]);
}

#[test]
fn m11_what_the_final_acceptance_found_stays_open_until_the_next_one() {
    let found = says("REJECTED: a hole\n- secrets are logged\nC-1: met\nC-2: met\n");
    let script = [
        complete(1),
        found,
        report(2, "F-1"),
        rejects("- no limit\n"),
        report(3, "F-1"),
        yes(),
        report(4, "F-2"),
        yes(),
        complete(5),
        yes(),
    ];
    let world = World::new(spec()).script(&script).run();
    assert_eq!(
        open(&world)[1],
        [(2, "no limit".to_owned()), (1, "secrets are logged".to_owned())],
        "a feature that is rejected for something else does not settle it"
    );
    let told = world.prompt(7);
    assert!(
        told.contains("## Findings that are not about this feature: they stay open, whatever you say\n\n```\n- [R1] secrets are logged\n```"),
        "{told}"
    );
    assert!(!told.contains("## Open findings"), "R2 was settled with its feature: {told}");
    let developer = world.prompt(6);
    assert!(developer.contains("## Open findings\n\n```\n- [R1] secrets are logged\n```"), "{developer}");
    assert!(developer.contains("Settle the open findings, and implement the next feature"), "{developer}");
    assert!(world.prompt(9).contains("## Open findings\n\n```\n- [R1] secrets are logged\n```"));
    assert_eq!(world.result().outcome, Outcome::Completed);
    assert!(world.machine.findings.open().is_empty(), "the next one settles it");
}

#[test]
fn m11_one_feature_does_not_settle_what_is_open_on_another() {
    let script = [
        report(1, "F-1"),
        rejects("- no limit\n"),
        report(2, "F-2"),
        yes(),
        report(3, "F-1"),
        rejects("- [R1] no limit\n"),
    ];
    let world = World::new(spec()).script(&script).run();
    assert!(world.prompt(3).contains("not about this feature"), "{}", world.prompt(3));
    assert_eq!(open(&world)[1], [(1, "no limit".to_owned())], "still open, not settled");
    let mut world = World::new(spec()).script(&[complete(1), no("C-1"), report(2, "F-1"), no("a")]);
    world =
        world.during(4, crate::engine::machine::Input::Command(command(Command::Pause { now: true }))).run();
    let settled = world.resume(&[Command::Approve { choice: Some(1) }]);
    let told = settled.prompt(5);
    assert!(
        told.contains("## Settled findings: leave them as they are\n\n```\n- [R1] "),
        "a person may: {told}"
    );
}

#[test]
fn m11_findings_are_bounded_and_numbers_never_come_back() {
    let mut findings = Findings::default();
    let found = |text: &str| vec![RaisedFinding { id: None, text: text.into() }];
    for n in 0..500 {
        let super::super::findings::Raised::Open(open) =
            findings.raise(&found(&format!("f{n}")), About::Milestone)
        else {
            panic!("a new one is open")
        };
        assert_eq!(open, [Finding { id: n + 1, text: format!("f{n}") }]);
        findings.rejected(&open, About::Milestone);
    }
    assert!(findings.settled().len() <= 40 && findings.open().len() == 1);
    let old = vec![RaisedFinding { id: Some(1), text: "f0".into() }];
    assert_eq!(
        findings.raise(&old, About::Milestone),
        super::super::findings::Raised::OnlySettled(vec![1]),
        "long forgotten"
    );
}
