use dacapo_core::event::{NeedKind, StopReason};
use dacapo_core::task::milestone::{AtWork, MilestoneBrief, MilestonePhase, MilestoneStatus};

use super::*;

pub(super) fn milestone(name: &str, status: Status) -> Brief {
    let milestone = MilestoneBrief {
        status: MilestoneStatus::InProgress,
        phase: Some(MilestonePhase::Developer),
        at_work: Some(AtWork::Developer),
        round: Some(4),
        rounds: 3,
        max_rounds: 20,
        rejections: 2,
    };
    Brief {
        iteration: 3,
        max_iterations: Some(20),
        kind: "milestone".into(),
        own: serde_json::to_value(milestone).ok(),
        ..brief(name, status)
    }
}

#[test]
fn m10_milestones_are_listed_by_rounds_and_who_is_at_work() {
    let with = |brief: Brief, change: &dyn Fn(&mut MilestoneBrief)| {
        let mut own = MilestoneBrief::of(&brief.kind, brief.own.as_ref()).unwrap();
        change(&mut own);
        entry(Brief { own: serde_json::to_value(own).ok(), ..brief })
    };
    let idle = |milestone: &mut MilestoneBrief| (milestone.at_work, milestone.round) = (None, None);
    let abandoned = StopReason::Abandoned;
    let entries = [
        entry(milestone("builds", Status::Running)),
        with(milestone("judges", Status::Running), &|milestone| {
            (milestone.at_work, milestone.phase) =
                (Some(AtWork::Acceptor), Some(MilestonePhase::FinalAcceptance));
            milestone.rejections = 0;
        }),
        with(
            Brief {
                waiting_until: Some("2026-11-16T07:40:00Z".parse().unwrap()),
                ..milestone("waits", Status::Waiting)
            },
            &|milestone| milestone.at_work = None,
        ),
        with(milestone("cut", Status::Interrupted), &idle),
        with(Brief { stop_reason: Some(abandoned), ..milestone("given-up", Status::Cancelled) }, &idle),
        entry(Brief {
            needs: Some(NeedKind::Rejections { times: 3, reason: "no rate limit".into() }),
            ..milestone("asks", Status::Paused)
        }),
        Entry {
            radar: Some(Radar::Clean),
            ..entry(Brief { verified: true, cost_usd: Some(4.1), ..milestone("done", Status::Completed) })
        },
        entry(brief("loop", Status::Running)),
    ];
    insta::assert_snapshot!(shown(&entries, &frame(None)), @r#"
    NEEDS YOU  asks      rejected 3×: no rate limit                        dacapo status asks
    READY      done      ✓ proven $4.10, merges cleanly                    dacapo merge done
    STOPPED    cut       3 of 20 rounds, interrupted                       dacapo resume cut
    STOPPED    given-up  3 of 20 rounds, abandoned                         dacapo drop given-up
    RUNNING    builds    round 4/20, 2 rejected in a row, Developer is working  dacapo attach builds
    RUNNING    judges    round 4/20, final acceptance                      dacapo attach judges
    RUNNING    waits     round 4/20, 2 rejected in a row, waiting until 07:40 (claude limit)  dacapo attach waits
    RUNNING    loop      4/10                                              dacapo attach loop
    8 tasks · 4 iterations · 21 rounds · $4.10 · this repository
    "#);
    insta::assert_snapshot!(shown(&entries[..1], &frame(Some(60))), @r#"
    RUNNING    builds  round 4/20, 2 reje…  dacapo attach builds
    1 task · 3 rounds · this repository
    "#);
}
