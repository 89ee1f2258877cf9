//! The review converges: findings have ids, and what is settled stays settled (M11).

use serde_json::{Value, json};

use super::refusals::refused;
use super::{ID, Stage};

impl Stage {
    /// Every finding: its id, and whether it is open.
    fn findings(&self) -> Vec<(String, bool)> {
        let findings = self.status()["milestone"]["findings"].clone();
        let mut all: Vec<(String, bool)> = findings
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| (finding["id"].as_str().unwrap().to_owned(), finding["open"].as_bool().unwrap()))
            .collect();
        all.sort();
        all
    }
}

fn named(id: &str, open: bool) -> (String, bool) {
    (id.to_owned(), open)
}

/// R1 and R2 are raised, R2 is settled, and then the Acceptor insists on it twice.
fn insisting() -> Stage {
    let stage = Stage::with("max_consecutive_rejections: 9\n", "");
    stage.play(
        &["build F-1", "build F-1", "build F-1", "build F-1", "complete"],
        &[
            "reject bad 'too short' 'too long'",
            "reject bad '[R1] still too short'",
            "reject bad '[R2] too long again'",
            "reject bad '[R2] I insist'",
            "accept",
            "accept_all",
        ],
    );
    stage
}

#[test]
fn m11_findings_get_ids_and_who_insists_on_settled_ones_needs_a_person() {
    let stage = insisting();
    let _ = stage.start().expect(4);
    let (kind, _) = stage.needs();
    assert_eq!((kind.as_str(), stage.calls()), ("settled", [3, 4]));
    stage.stands("paused", [3, 0, 3]);
    for text in ["[R1] too short", "[R2] too long"] {
        stage.assert_told("dev", 2, text);
        stage.assert_told("acc", 2, text);
    }
    stage.assert_told("dev", 3, "[R1] still too short");
    stage.assert_told("acc", 4, "names only what is settled (R2)");
    assert_eq!(stage.findings(), [named("R1", true), named("R2", false)]);
    let _ = stage.milestone("resume", &["R2 is settled"]).expect(0);
    stage.stands("completed", [5, 2, 0]);
    assert_eq!(stage.findings(), [named("R1", false), named("R2", false)]);
}

#[test]
fn m11_a_person_settles_a_finding_by_its_name() {
    let stage = insisting();
    let _ = stage.start().expect(4);
    let _ = stage.milestone("approve", &["R1"]).expect(0);
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [5, 2, 0]);
    let told = stage.told("dev", 4);
    let settled = told.find("Settled findings").expect("settled ones are shown");
    assert!(told[settled..].contains("[R1] still too short"), "{told}");
    assert!(!told.contains("## Open findings"), "{told}");
}

/// One after the other: settling starts nothing, so that there is time for the next one.
#[test]
fn m11_all_findings_can_be_settled_before_it_goes_on() {
    let stage = Stage::with("max_consecutive_rejections: 1\n", "");
    stage.play(
        &["build F-1", "build F-1", "build F-2", "complete"],
        &["reject bad 'too short' 'too long'", "accept", "accept", "accept_all"],
    );
    let _ = stage.start().expect(4);
    let said = stage.milestone("approve", &["R1"]).expect(0);
    assert!(said.stdout.contains("R1 of two is settled; dacapo milestone resume two"), "{}", said.stdout);
    assert_eq!((stage.calls(), stage.needs().0.as_str()), ([1, 1], "rejections"), "it still asks");
    assert_eq!(stage.findings(), [named("R1", false), named("R2", true)]);
    refused(&stage.world, &["milestone", "approve", ID, "R1"], "open findings: R2");
    let _ = stage.run(&["approve", ID, "2"]).expect(0);
    stage.stands("paused", [1, 0, 1]);
    assert_eq!((stage.calls(), stage.findings()), ([1, 1], vec![named("R1", false), named("R2", false)]));
    let _ = stage.milestone("resume", &[]).expect(0);
    stage.stands("completed", [4, 3, 0]);
    stage.assert_not_told("dev", 2, "## Open findings");
    stage.world.assert_nothing_left(ID);
}

#[test]
fn m11_a_new_finding_beside_a_settled_one_is_a_rejection_as_any_other() {
    let stage = Stage::new();
    stage.play(
        &["build F-1", "build F-1", "build F-1", "build F-1", "complete"],
        &[
            "reject bad 'too short'",
            "accept",
            "reject bad '[R1] short' 'too blue'",
            "reject bad '[R77] a number of my own'",
            "accept_all",
        ],
    );
    let _ = stage.start().expect(0);
    assert_eq!(stage.calls(), [5, 5]);
    assert_eq!(stage.findings(), ["R1", "R2", "R3"].map(|id| named(id, false)));
    let texts = stage.status()["milestone"]["findings"].clone();
    let texts: Vec<&Value> = texts.as_array().unwrap().iter().map(|finding| &finding["text"]).collect();
    assert!(texts.contains(&&json!("a number of my own")), "{texts:?}");
    stage.world.assert_nothing_left(ID);
}
