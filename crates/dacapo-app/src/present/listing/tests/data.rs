//! Rows as facts, for surfaces that show them in another way than a terminal does.

use std::time::Duration;

use super::*;
use crate::present::act::{ActArgument, ActCommand};

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

#[test]
fn u8_every_row_has_its_group_its_facts_and_what_to_do_next() {
    let question = NeedKind::Blocked { question: "which port?".into() };
    let entries = [
        entry(brief("done-in-place", Status::Completed)).in_checkout(),
        entry(Brief { iteration: 10, red: true, ..brief("docs", Status::Stopped) }),
        entry(Brief { needs: Some(question.clone()), ..brief("auth", Status::Paused) }),
        Entry {
            radar: Some(Radar::Task("docs".into())),
            ..entry(Brief { verified: true, cost_usd: Some(1.2), ..brief("tests", Status::Completed) })
        },
        entry(Brief {
            elapsed_seconds: 60.0,
            last_at: Some(at("2026-11-16T01:59:00Z")),
            prompt: "Fix it".into(),
            ..brief("fix", Status::Running)
        }),
    ];
    let blocks =
        rows::blocks(&entries, Scope::Here { everywhere: 0 }, DoneTasks::Counted, at("2026-11-16T02:00:00Z"));
    let [block] = blocks.as_slice() else { panic!("{blocks:?}") };
    let seen: Vec<_> = block.rows.iter().map(|row| (row.group, row.task(), row.facts.clone())).collect();
    let reached = Fact::Reached { iteration: 10, max: Some(10) };
    let under_way = Fact::UnderWay { iteration: 4, max: Some(10) };
    assert_eq!(
        seen,
        [
            (Group::NeedsYou, "auth", vec![Fact::Question(&question)]),
            (Group::Ready, "tests", vec![Fact::Ended(Ended::Proven)]),
            (Group::Stopped, "docs", vec![reached, Fact::Stopped(Stopped::StillRed)]),
            (
                Group::Running,
                "fix",
                vec![under_way, Fact::Elapsed(Duration::from_secs(120)), Fact::Prompt("Fix it")]
            ),
        ]
    );
    let acts: Vec<NextAct> = block.rows.iter().map(|row| row.next.clone()).collect();
    let act = NextAct::of;
    assert_eq!(
        acts,
        [
            act(ActCommand::Resume, "auth").with(ActArgument::Answer),
            act(ActCommand::Merge, "tests"),
            act(ActCommand::Resume, "docs").with(ActArgument::Iterations(5)),
            act(ActCommand::Attach, "fix"),
        ]
    );
    let ready = &block.rows[1];
    assert_eq!((ready.cost_usd, ready.role()), (Some(1.2), Role::Proven));
    assert_eq!(ready.remarks, [Fact::Merges(&Radar::Task("docs".into()))]);
    let done = block.done.as_ref().expect("one that needs nothing any more");
    assert_eq!((done.newest.brief.name.as_str(), done.total(), done.in_checkout), ("done-in-place", 1, 1));
    assert_eq!(done.next, NextAct::general(ActCommand::List).with(ActArgument::DoneTasks));
}

#[test]
fn u8_a_list_of_all_repositories_has_a_block_for_each() {
    let of = |name: &str, repo: &str| entry(Brief { repo: repo.into(), ..brief(name, Status::Interrupted) });
    let entries = [of("b", "/two"), of("a", "/one"), of("c", "/two")];
    let blocks = rows::blocks(&entries, Scope::Everywhere, DoneTasks::Shown, at("2026-11-16T02:00:00Z"));
    let seen: Vec<(Option<&str>, usize)> =
        blocks.iter().map(|block| (block.repo, block.rows.len())).collect();
    assert_eq!(seen, [(Some("/one"), 1), (Some("/two"), 2)]);
}

impl Entry {
    fn in_checkout(mut self) -> Self {
        self.brief.own_branch = None;
        self
    }
}
