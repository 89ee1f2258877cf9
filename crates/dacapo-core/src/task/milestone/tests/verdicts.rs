//! Verdicts: what is one, what it says of the criteria, and anything at all.

use proptest::prelude::*;

use crate::task::milestone::{Found, On, Verdict};

fn rejected(reason: &str, findings: &[(Option<u32>, &str)]) -> Result<Verdict, String> {
    let findings = findings.iter().map(|(id, text)| Found { id: *id, text: (*text).into() }).collect();
    Ok(Verdict::Rejected { reason: reason.into(), findings })
}

#[test]
fn m4_the_first_line_is_the_verdict() {
    let read = |reply| Verdict::parse(reply, On::Feature);
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
    for neither in
        ["", "  \n", "**ACCEPTED**", "ACCEPTED.", "accepted", "REJECTED", "Rejected: x", "I think\nACCEPTED"]
    {
        let told = read(neither).expect_err(neither);
        assert!(told.starts_with("the first line must be 'ACCEPTED'"), "{told}");
    }
    assert!(read("REJECTED:  \n\n").unwrap_err().contains("needs a reason"));
}

#[test]
fn m5_the_final_verdict_has_a_line_for_each_criterion() {
    let read = |reply| Verdict::parse(reply, On::Milestone { criteria: 2 });
    assert!(matches!(
        read("ACCEPTED\n- C-1: met\n- **C-2**: **met**, as shown"),
        Ok(Verdict::Accepted { .. })
    ));
    assert_eq!(
        read("REJECTED: not yet\nC-1: met\nC-2: not met: no audit"),
        rejected("not yet\nC-1: met\nC-2: not met: no audit", &[(None, "C-2: not met: no audit")])
    );
    assert_eq!(
        read("REJECTED: not yet\nC-1: met\nC-2: unmet\n- [R1] no audit"),
        rejected(
            "not yet\nC-1: met\nC-2: unmet\n- [R1] no audit",
            &[(Some(1), "no audit"), (None, "C-2: unmet")]
        ),
        "what is not met is a finding, whatever else is"
    );
    assert_eq!(
        read("REJECTED: not yet\nC-1: ✗ [R2]\nC-2: not met: see [R1], [R3]\n- [R1] no audit"),
        rejected(
            "not yet\nC-1: ✗ [R2]\nC-2: not met: see [R1], [R3]\n- [R1] no audit",
            &[(Some(1), "no audit"), (Some(2), "C-1: ✗ [R2]"), (Some(1), "C-2: not met: see [R1], [R3]"),]
        ),
        "one that names a finding is that one"
    );
    for mark in
        ["met", "MET.", "✓", "✅ shown", "**met**, as shown", "met: yes", "met - by a test", "met（见测试）"]
    {
        let reply = format!("ACCEPTED\nC-1: {mark}\nC-2: met");
        assert!(Verdict::parse(&reply, On::Milestone { criteria: 2 }).is_ok(), "{reply}");
    }
    for (reply, told) in [
        ("ACCEPTED", "there is no line for C-1; there is no line for C-2"),
        ("ACCEPTED\nC-1: met\nC-2: not met", "C-2 is not met, but the verdict is ACCEPTED"),
        ("ACCEPTED\nC-1: met\nC-1: met\nC-2: met", "there are several lines for C-1"),
        ("ACCEPTED\nC-1: perhaps\nC-2: met", "the line for C-1 says neither 'met' nor 'not met'"),
        ("ACCEPTED\nC-1: met\nC-2: met\nC-3: met", "there is no criterion C-3"),
        ("REJECTED: x\nC-1: met", "there is no line for C-2"),
        ("ACCEPTED\nC-1: metrics are missing\nC-2: met", "the line for C-1 says neither 'met' nor 'not met'"),
        ("ACCEPTED\nC-1: met-ish\nC-2: met", "the line for C-1 says neither 'met' nor 'not met'"),
        (
            "REJECTED: x\nC-1: unmetered use\nC-2: not metered",
            "the line for C-1 says neither 'met' nor 'not met'; the line for C-2 says neither 'met' nor 'not met'",
        ),
    ] {
        let complaint = read(reply).expect_err(reply);
        assert!(complaint.ends_with(&format!(": {told}")), "{complaint}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m4_any_reply_is_a_verdict_or_a_complaint(text in "(\\PC|\n|ACCEPTED\n|REJECTED: |- |  - |\\[R1\\]|C-1: |met|not met|```){0,60}", criteria in 0_usize..4) {
        for on in [On::Feature, On::Milestone { criteria }] {
            match Verdict::parse(&text, on) {
                Ok(Verdict::Rejected { reason, findings }) => {
                    prop_assert!(!reason.is_empty() && !findings.is_empty() && findings.len() <= 20 + criteria);
                    prop_assert!(findings.iter().all(|found| found.text.len() <= 500));
                }
                Ok(Verdict::Accepted { .. }) => prop_assert!(text.trim_start().starts_with("ACCEPTED")),
                Err(complaint) => prop_assert!(!complaint.is_empty() && complaint.len() < 2000),
            }
        }
    }
}
