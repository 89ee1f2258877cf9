use dacapo_core::event::{CheckBrief, CheckPhase, Choice, Exit, Hidden, HiddenWhy};
use dacapo_core::git::Oid;

use super::*;

fn oid(end: &str) -> Oid {
    Oid::parse(&format!("{end:0>7}{}", "0".repeat(33))).unwrap()
}

fn main_is(change: impl FnOnce(&mut MainBranch)) -> MainBranch {
    let mut found = MainBranch {
        branch: Some("main".into()),
        since_round: 1,
        was: Some(oid("ba5e")),
        now: Some(oid("fee")),
        lost: false,
        commits: Vec::new(),
    };
    change(&mut found);
    found
}

#[test]
fn m10_what_is_asked_in_a_line() {
    let gone = main_is(|found| found.now = None);
    let reason = || "no limit".to_owned();
    let asked = [
        NeedKind::Resume { by: Some("dacapo pause".into()) },
        NeedKind::Resume { by: None },
        NeedKind::Blocked { question: "Which key?".into() },
        NeedKind::Rejections { times: 3, reason: reason() },
        NeedKind::Settled { reason: reason() },
        NeedKind::Final { times: 3, reason: reason() },
        NeedKind::Rounds { used: 1, reason: None },
        NeedKind::Rounds { used: 20, reason: Some(reason()) },
        NeedKind::Main { found: Some(main_is(|found| found.commits = vec!["0000fee feat: it".into()])) },
        NeedKind::Main { found: Some(main_is(|found| found.lost = true)) },
        NeedKind::Review { found: None },
        NeedKind::Review { found: Some(gone) },
    ];
    assert_eq!(
        asked.each_ref().map(|kind| question(kind, Messages::ENGLISH)),
        [
            "paused by you",
            "paused by you",
            "Which key?",
            "rejected 3×: no limit",
            "the Acceptor rejected it for settled findings only: no limit",
            "the whole milestone was rejected 3× without a new commit: no limit",
            "the only round is used up",
            "all 20 rounds are used up: no limit",
            "since round 1, main contains commits of this milestone (0000fee feat: it): was it you? Nothing was undone",
            "since round 1, main has moved from 000ba5e to 0000fee and no longer contains its old commits: was it you? Nothing was undone",
            "all features are accepted; please review",
            "all features are accepted; please review. Also: main has been gone since round 1; it was at 000ba5e: was it you? \
             Nothing was undone",
        ]
    );
}

#[test]
fn l4_a_red_proof_names_checks_files_and_what_helps() {
    let ending = Exit { exit_code: Some(1), timed_out: false };
    let failed = CheckBrief { command: "a".into(), phase: CheckPhase::Proof, passed: false, ending };
    let hidden = |n: u32| Hidden { path: format!("node_modules/{n}\n"), why: HiddenWhy::Ignored };
    let failure = ProofFailure {
        commit_id: oid("1001"),
        checks: vec![failed],
        hidden: (0..8).map(hidden).collect(),
        hidden_total: 8,
        cure: Some("[worktree] setup = [\"npm ci\"]".into()),
    };
    assert_eq!(
        question(&NeedKind::Proof { failure: Some(failure) }, Messages::ENGLISH),
        "the checks pass in the worktree, but failed twice in a row in a checkout of commit 0001001: `a` (exit 1); \
         in no commit: node_modules/0\\n (ignored by .gitignore), node_modules/1\\n (ignored by .gitignore), \
         node_modules/2\\n (ignored by .gitignore), node_modules/3\\n (ignored by .gitignore), \
         node_modules/4\\n (ignored by .gitignore) and 3 more; \
         if a command creates what is missing, put [worktree] setup = [\"npm ci\"] into .dacapo/config.toml and resume; \
         --proof workspace continues without proof"
    );
}

#[test]
fn m10_every_answer_is_a_command_to_type() {
    let choices = vec![
        Choice::Resume,
        Choice::Answer,
        Choice::ResumeUnproven,
        Choice::ResumeWithRounds { rounds: 30 },
        Choice::AddRounds { rounds: 10 },
        Choice::Tell,
        Choice::Approve,
        Choice::Reject,
        Choice::Kill,
        Choice::Abandon,
        Choice::Offered { name: "Allow once".into() },
    ];
    let needs = Needs { kind: NeedKind::Resume { by: None }, choices };
    assert_eq!(
        commands(&needs, "x", Messages::ENGLISH),
        [
            "dacapo resume x",
            "dacapo resume x \"your answer\"",
            "dacapo resume x --proof workspace",
            "dacapo milestone resume x --rounds 30",
            "dacapo set x rounds=+10",
            "dacapo tell x \"…\"",
            "dacapo approve x",
            "dacapo reject x",
            "dacapo kill x",
            "dacapo milestone abandon x",
            "Allow once",
        ]
    );
}
