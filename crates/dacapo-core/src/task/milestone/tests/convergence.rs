//! Findings stay open or settled (M11).

use super::world::*;
use crate::event::{Command, Finding, MilestoneStep, Outcome};
use crate::task::milestone::{Findings, Found};

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
    assert_eq!(
        world.question(),
        ("settled".into(), "the Acceptor insists on what is settled: see below".into())
    );
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
fn m11_findings_are_bounded_and_numbers_never_come_back() {
    let mut findings = Findings::default();
    let found = |text: &str| vec![Found { id: None, text: text.into() }];
    for n in 0..500 {
        let super::super::findings::Raised::Open(open) = findings.raise(&found(&format!("f{n}"))) else {
            panic!("a new one is open")
        };
        assert_eq!(open, [Finding { id: n + 1, text: format!("f{n}") }]);
        findings.rejected(&open);
    }
    assert!(findings.settled().len() <= 40 && findings.open().len() == 1);
    let old = vec![Found { id: Some(1), text: "f0".into() }];
    assert_eq!(findings.raise(&old), super::super::findings::Raised::OnlySettled(vec![1]), "long forgotten");
}
