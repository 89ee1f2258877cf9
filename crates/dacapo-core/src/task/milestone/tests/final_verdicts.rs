//! The verdict on the whole milestone: what stands, what is asked for once more, and when a person is (M5).

use super::world::*;
use crate::event::{NeedKind, Outcome};
use crate::task::milestone::{Judge, MilestoneStep};

/// All features are there, and the Acceptor replies like this.
fn finally(replies: &[&str]) -> World {
    let script: Vec<Turn> =
        std::iter::once(complete(1)).chain(replies.iter().map(|reply| says(reply))).collect();
    World::new(spec()).script(&script).run()
}

fn sent_back(world: &World) -> Vec<String> {
    let steps = world.steps().into_iter().filter_map(|step| match step {
        MilestoneStep::VerdictSentBack { complaint, .. } => Some(complaint),
        _ => None,
    });
    steps.collect()
}

/// Of each acceptance whether it names all criteria.
fn itemised(world: &World) -> Vec<bool> {
    let steps = world.steps().into_iter().filter_map(|step| match step {
        MilestoneStep::Accepted { not_itemised, .. } => Some(!not_itemised),
        _ => None,
    });
    steps.collect()
}

const ASKED: &str = "after the verdict write one line for each criterion, 'C-1: met' or 'C-1: not met: why': nothing is said of C-1, C-2";

#[test]
fn m5_accepted_without_lines_is_asked_for_once_more_and_then_stands() {
    for again in ["ACCEPTED", "**ACCEPTED**\n\nAs I said.", "通过", "All of it is fine, as I said.", ""] {
        let world = finally(&["ACCEPTED", again]);
        assert_eq!(
            (world.order().as_str(), world.result().outcome),
            ("D1 A1 A1", Outcome::Completed),
            "{again}"
        );
        assert_eq!((sent_back(&world), itemised(&world)), (vec![ASKED.to_owned()], vec![false]), "{again}");
    }
    for again in ["ACCEPTED\nC-1: met\nC-2: met", "C-1: 满足\nC-2 ✓"] {
        let world = finally(&["ACCEPTED", again]);
        assert_eq!((world.order().as_str(), itemised(&world)), ("D1 A1 A1", vec![true]), "{again}");
    }
}

#[test]
fn m5_accepted_beside_what_is_not_met_is_asked_about_once_and_then_a_rejection() {
    let reply = "ACCEPTED\nC-1: met\nC-2: 未满足：没有审计";
    let mut world = World::new(spec()).script(&[complete(1), says(reply), says(reply), complete(2), yes()]);
    world = world.run();
    assert_eq!(world.order(), "D1 A1 A1 D2 A2");
    assert_eq!(
        sent_back(&world),
        [
            "the verdict is ACCEPTED, but not every criterion is met (C-2: 未满足：没有审计): accept only if all are, else reject"
        ]
    );
    let told = world.prompt(3);
    assert!(told.contains("- [R1] C-2: 未满足：没有审计\n"), "{told}");
    assert!(told.contains("accepted, though not every criterion is met:\nC-2: 未满足：没有审计"), "{told}");
    let beside = "ACCEPTED\nC-1: met\nC-2: not met: no audit";
    for replies in [
        ["ACCEPTED", "C-1: met\nC-2: not met: no audit"],
        // What was said is not taken back by saying nothing of it.
        [beside, "ACCEPTED\nC-1: met"],
        [beside, "It is fine."],
    ] {
        let world = finally(&replies);
        assert!(world.prompt(3).contains("- [R1] C-2: not met: no audit\n"), "{}", world.prompt(3));
        assert!(!world.records()[0].success, "{replies:?}");
    }
    let world = finally(&[beside, "ACCEPTED\nC-1: met\nC-2: met"]);
    assert_eq!((world.result().outcome, itemised(&world)), (Outcome::Completed, vec![true]));
}

#[test]
fn m5_the_reason_of_a_rejection_reaches_the_developer_word_for_word() {
    let reason = "缺少审计日志（第二条），见 `src/audit.rs`";
    let no = format!("REJECTED: {reason}");
    for (again, more) in [
        (no.as_str(), ""),
        ("REJECTED: as above\nC-1: met\nC-2: not met", "as above\nC-1: met\nC-2: not met"),
        ("C-1: met\nC-2: not met: why", "C-1: met\nC-2: not met: why"),
        ("I said so.", "I said so."),
    ] {
        let script = [complete(1), says(&no), says(again), complete(2), yes()];
        let world = World::new(spec()).script(&script).run();
        assert_eq!(
            (world.order().as_str(), sent_back(&world)),
            ("D1 A1 A1 D2 A2", vec![ASKED.to_owned()]),
            "{again}"
        );
        let told = world.prompt(3);
        let whole = format!("{reason}\n\n{more}");
        assert!(
            told.contains(&format!("## The last round was rejected\n\n```\n{}\n```\n", whole.trim_end())),
            "{told}"
        );
        let by = world.steps().into_iter().find_map(|step| match step {
            MilestoneStep::Rejected { by, .. } => Some(by),
            _ => None,
        });
        assert_eq!((by, world.result().outcome), (Some(Judge::Acceptor), Outcome::Completed));
    }
}

/// Final rejections; each time the Developer says that all is complete, at this commit.
fn stubborn(commits: &[u32]) -> World {
    let mut script = Vec::new();
    for (at, _) in commits.iter().enumerate() {
        let round = u32::try_from(at).unwrap() + 1;
        script.extend([
            complete(round),
            says(&format!("REJECTED: no docs, as said {round}×\nC-1: met\nC-2: not met")),
        ]);
    }
    let commits = commits.to_vec();
    let mut world = World::new(spec()).script(&script);
    let mut looks = 0;
    world = world.inspect(move |_, facts| {
        let at = commits.get(looks / 2).copied().unwrap_or(99);
        looks += 1;
        (facts.head, facts.tip) = (Some(oid(at)), Some(oid(at)));
    });
    world.run()
}

#[test]
fn m5_the_same_final_rejection_three_times_without_a_new_commit_goes_to_a_person() {
    let world = stubborn(&[1, 1, 1]);
    assert_eq!(world.end(), (Outcome::Paused, crate::event::StopReason::NeedsPerson, 3, 0, 3));
    assert_eq!(world.question(), NeedKind::Final { times: 3, reason: "no docs, as said 3×".into() });
    assert_eq!(world.machine.rejections, 0, "they do not count toward the three of a feature");
    let approved = stubborn(&[1, 1, 1]).resume(&[crate::event::Command::Approve { choice: None }]);
    assert_eq!(approved.result().outcome, Outcome::Completed);
    let resumed = world.resume(&[]);
    assert_eq!(resumed.result().outcome, Outcome::Completed, "whoever resumes has seen it");
    for moving in [&[1, 2, 3][..], &[1, 1, 2, 2]] {
        let world = stubborn(moving);
        assert_eq!(world.result().outcome, Outcome::Completed, "{moving:?}");
        assert_eq!(world.end().2 as usize, moving.len() + 4, "{moving:?}");
    }
}
