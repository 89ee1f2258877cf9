use std::time::Duration;

use dacapo_core::view::CurrentStep;

use super::*;
use crate::present::listing::columns::{Columns, Sign, columns};

fn in_columns(entry: &Entry) -> Columns {
    let frame = frame(None);
    columns(&rows::row(entry, frame.now), &frame)
}

#[test]
fn what_a_sentence_says_of_a_task_stands_in_columns() {
    let running = Brief {
        doing: Some(CurrentStep::Agent { agent: "claude".into() }),
        prompt: "Fix the tests".into(),
        cost_usd: Some(0.4),
        elapsed_seconds: 90.0,
        last_at: Some("2026-11-16T01:59:30Z".parse().unwrap()),
        ..brief("deps", Status::Running)
    };
    assert_eq!(
        in_columns(&entry(running)),
        Columns {
            sign: Sign::Running,
            what: "claude working: Fix the tests".into(),
            progress: Some("4/10".into()),
            cost: Some("$0.40".into()),
            elapsed: Some(Duration::from_secs(120)),
        }
    );
    let red = Brief { red: true, elapsed_seconds: 0.2, ..brief("docs", Status::Stopped) };
    assert_eq!(
        in_columns(&entry(red)),
        Columns {
            sign: Sign::Stopped,
            what: "still red".into(),
            progress: Some("4/10".into()),
            cost: None,
            elapsed: None,
        }
    );
    let proven = Brief { verified: true, ..brief("tests", Status::Completed) };
    let ready = in_columns(&Entry { radar: Some(Radar::Clean), ..entry(proven) });
    assert_eq!((ready.sign, ready.what.as_str()), (Sign::Proven, "✓ proven, merges cleanly"));
}

#[test]
fn what_a_kind_says_of_its_progress_is_what_it_is_at() {
    let shown = in_columns(&entry(milestone("auth", Status::Running)));
    assert_eq!(shown.progress, None);
    assert!(shown.what.contains("round 4"), "{}", shown.what);
}
