//! Verdicts: what is one, what it says of the criteria, and anything at all.

use proptest::prelude::*;

use crate::task::milestone::{Criteria, On, RaisedFinding, Reason, Verdict};

fn rejected(reason: &str, findings: &[(Option<u32>, &str)]) -> Result<Verdict, String> {
    let findings =
        findings.iter().map(|(id, text)| RaisedFinding { id: *id, text: (*text).into() }).collect();
    Ok(Verdict::Rejected { reason: reason.into(), findings })
}

#[test]
fn m4_the_first_line_is_the_verdict() {
    let read = |reply| Verdict::parse(reply, On::Feature).map(|(verdict, _)| verdict);
    assert_eq!(read("\n \nACCEPTED  \r\n\nGood.\n"), Ok(Verdict::Accepted { reason: "Good.".into() }));
    assert_eq!(read("REJECTED: no tests"), rejected("no tests", &[(None, "no tests")]));
    assert_eq!(
        read(
            "REJECTED: two things\n\n- [R3] still no limit\n  in the app\n- **[R4]**: odd\n- secrets are logged\n\n## More\nwords\n"
        ),
        rejected(
            "two things\n\n- [R3] still no limit\n  in the app\n- **[R4]**: odd\n- secrets are logged\n\n## More\nwords",
            &[(Some(3), "still no limit\nin the app"), (Some(4), "odd"), (None, "secrets are logged")]
        )
    );
    assert_eq!(
        read("REJECTED: x\n- R3 [sic] is a road\n- [R9"),
        rejected("x\n- R3 [sic] is a road\n- [R9", &[(None, "R3 [sic] is a road"), (Some(9), "")])
    );
    assert_eq!(read("REJECTED:\nbecause"), rejected("because", &[(None, "because")]));
    for neither in [
        "",
        "  \n",
        "I think\nACCEPTED",
        "ACCEPTED with one exception",
        "ACCEPTEDLY",
        "not ACCEPTED",
        "通过测试发现问题",
        "拒绝服务没有处理",
        "REJECTEDLY so",
    ] {
        let told = read(neither).expect_err(neither);
        assert!(told.starts_with("the first line must be 'ACCEPTED'"), "{told}");
    }
    assert!(read("REJECTED:  \n\n").unwrap_err().contains("needs a reason"));
    assert!(read("**REJECTED**").unwrap_err().contains("needs a reason"));
}

#[test]
fn m4_a_verdict_is_known_however_it_is_decorated() {
    let read = |reply| Verdict::parse(reply, On::Feature).map(|(verdict, _)| verdict);
    for yes in [
        "**ACCEPTED**",
        "## ACCEPTED",
        "`ACCEPTED`",
        "> ACCEPTED.",
        "✅ ACCEPTED",
        "ACCEPTED ✅",
        "accepted",
        "```\nACCEPTED\n```",
        "Verdict: **ACCEPTED**",
        "接受",
        "通过。",
        "**验收通过**",
        "结论：通过",
    ] {
        assert!(matches!(read(yes), Ok(Verdict::Accepted { .. })), "{yes}: {:?}", read(yes));
    }
    assert_eq!(read("ACCEPTED: as it should be"), Ok(Verdict::Accepted { reason: "as it should be".into() }));
    for no in [
        "**REJECTED**: no tests",
        "**REJECTED: no tests**",
        "## REJECTED：no tests",
        "REJECTED — no tests",
        "REJECTED\n\nno tests",
        "Rejected: no tests",
        "拒绝：no tests",
        "❌ 不通过：no tests",
        "驳回: no tests",
        "Verdict: REJECTED: no tests",
    ] {
        assert_eq!(read(no), rejected("no tests", &[(None, "no tests")]), "{no}");
    }
}

fn criteria(missing: &[&str], unmet: &[(Option<u32>, &str)]) -> Criteria {
    Criteria {
        missing: missing.iter().map(|id| (*id).to_owned()).collect(),
        unmet: unmet
            .iter()
            .map(|(id, text)| {
                let at = if text.contains("C-1") { "C-1" } else { "C-2" };
                (at.to_owned(), RaisedFinding { id: *id, text: (*text).into() })
            })
            .collect(),
    }
}

#[test]
fn m5_the_reason_for_people_is_told_apart_from_the_criteria() {
    for (text, words, met, unmet, why) in [
        (
            "no audit\nC-1: met\nC-2: not met: no log",
            "no audit",
            &["C-1"][..],
            &["C-2: not met: no log"][..],
            "no audit",
        ),
        (
            "C-1: met\nC-2: not met: no log\nC-3: 未满足",
            "",
            &["C-1"],
            &["C-2: not met: no log", "C-3: 未满足"],
            "C-2: not met: no log\nC-3: 未满足",
        ),
        ("C-1: met\n\nThe log is empty.", "The log is empty.", &["C-1"], &[], "The log is empty."),
        (
            "- [x] C-1\n- **C-2**: not met\n- [R1] no log",
            "- [R1] no log",
            &["C-1"],
            &["**C-2**: not met"],
            "- [R1] no log",
        ),
        (
            "C-1: met\nC-1: not met: half of it",
            "",
            &[],
            &["C-1: not met: half of it"],
            "C-1: not met: half of it",
        ),
        // Words about a criterion that do not say whether it is met are words.
        (
            "C-2 is not what was asked for",
            "C-2 is not what was asked for",
            &[],
            &[],
            "C-2 is not what was asked for",
        ),
        ("C-1: met\nC-2: met", "", &["C-1", "C-2"], &[], "C-1: met\nC-2: met"),
        ("", "", &[], &[], ""),
    ] {
        let reason = Reason::of(text);
        assert_eq!(
            (reason.words.as_str(), reason.met.as_slice()),
            (words, &met.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()[..]),
            "{text}"
        );
        assert_eq!(reason.unmet.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>(), unmet, "{text}");
        assert_eq!(Reason::of_rejection(text), why, "{text}");
    }
}

#[test]
fn m5_the_final_verdict_has_a_line_for_each_criterion() {
    let read = |reply: &str| Verdict::parse(reply, On::Milestone { criteria: 2 }).unwrap();
    assert_eq!(
        read("REJECTED: not yet\nC-1: met\nC-2: not met: no audit"),
        (
            rejected("not yet\nC-1: met\nC-2: not met: no audit", &[(None, "C-2: not met: no audit")])
                .unwrap(),
            criteria(&[], &[(None, "C-2: not met: no audit")])
        )
    );
    assert_eq!(
        read("REJECTED: not yet\nC-1: met\nC-2: unmet\n- [R1] no audit").0,
        rejected(
            "not yet\nC-1: met\nC-2: unmet\n- [R1] no audit",
            &[(Some(1), "no audit"), (None, "C-2: unmet")]
        )
        .unwrap(),
        "what is not met is a finding, whatever else is"
    );
    assert_eq!(
        read("REJECTED: not yet\nC-1: ✗ [R2]\nC-2: not met: see [R1], [R3]\n- [R1] no audit").0,
        rejected(
            "not yet\nC-1: ✗ [R2]\nC-2: not met: see [R1], [R3]\n- [R1] no audit",
            &[(Some(1), "no audit"), (Some(2), "C-1: ✗ [R2]"), (Some(1), "C-2: not met: see [R1], [R3]"),]
        )
        .unwrap(),
        "one that names a finding is that one"
    );
    let met = [
        "C-1: met",
        "- **C-1**: **met**, as shown",
        "C-1: MET.",
        "C-1 ✓",
        "C-1: ✅ shown",
        "C-1: met: yes",
        "C-1: met - by a test",
        "C-1: met（见测试）",
        "C-1: 满足",
        "**C-1**：已满足，见测试",
        "- [x] C-1: both are there",
        "✅ C-1",
        "| C-1 | met |",
        "C-1: passed",
    ];
    for line in met {
        assert_eq!(read(&format!("ACCEPTED\n{line}\nC-2: met")).1, criteria(&[], &[]), "{line}");
    }
    let unmet = [
        "C-1: not met",
        "C-1: 未满足：没有审计",
        "C-1 ✗ no audit",
        "C-1：不满足",
        "[ ] C-1: no audit",
        "❌ C-1: no audit",
        "C-1: failed",
    ];
    for line in unmet {
        assert_eq!(
            read(&format!("ACCEPTED\n- {line}\nC-2: met")).1,
            criteria(&[], &[(None, line)]),
            "{line}"
        );
    }
    for (reply, missing) in [
        ("ACCEPTED", &["C-1", "C-2"][..]),
        ("ACCEPTED\nC-1: perhaps\nC-2: met", &["C-1"]),
        ("ACCEPTED\nC-1: met\nC-1: met\nC-2: met\nC-3: met", &[]),
        ("REJECTED: x\nC-1: met", &["C-2"]),
        ("REJECTED: C-1: met\nC-2 满足", &[]),
        ("ACCEPTED\nC-1: metrics are missing\nC-2: met-ish", &["C-1", "C-2"]),
        ("REJECTED: x\nC-1: unmetered use\nC-2: not metered", &["C-1", "C-2"]),
    ] {
        assert_eq!(read(reply).1, criteria(missing, &[]), "{reply}");
    }
    let both = read("ACCEPTED\nC-1: met\nC-1: not met\nC-2: met").1;
    assert_eq!(both, criteria(&[], &[(None, "C-1: not met")]), "of two lines the no counts");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m4_any_reply_is_a_verdict_or_a_complaint(text in "(\\PC|\n|ACCEPTED\n|REJECTED: |- |  - |\\[R1\\]|C-1: |met|not met|```){0,60}", criteria in 0_usize..4) {
        for on in [On::Feature, On::Milestone { criteria }] {
            match Verdict::parse(&text, on) {
                Ok((Verdict::Rejected { reason, findings }, criteria_said)) => {
                    prop_assert!(criteria_said.missing.len() + criteria_said.unmet.len() <= criteria);
                    prop_assert!(!reason.is_empty() && !findings.is_empty() && findings.len() <= 20 + criteria);
                    prop_assert!(findings.iter().all(|found| found.text.len() <= 500));
                }
                Ok((Verdict::Accepted { .. }, _)) => {
                    let first = text.lines().map(str::to_lowercase).find(|line| {
                        ["accepted", "接受", "通过", "通過"].iter().any(|word| line.contains(word))
                    });
                    prop_assert!(first.is_some());
                }
                Err(complaint) => prop_assert!(!complaint.is_empty() && complaint.len() < 2000),
            }
        }
    }
}
