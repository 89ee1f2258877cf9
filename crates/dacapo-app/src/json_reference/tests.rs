use dacapo_core::event::{
    AgentEvent, Choice, Event, FORMAT, FailureKind, Fault, NeedKind, Needs, NotAllowed, Notice, StopDetail,
    StopReason, Usage, WritingEnd, WritingRecord,
};
use dacapo_core::spec::Writing;
use jiff::Timestamp;

use super::*;
use crate::present::json;

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn fixtures() -> [&'static str; 2] {
    [
        include_str!("../../../dacapo-core/tests/formats/v3/journal.jsonl"),
        include_str!("../../tests/fixtures/milestone/journal.jsonl"),
    ]
}

#[test]
fn l16_every_line_of_a_journal_is_as_documented() {
    let (journal, printed) = (Reference::journal(), Reference::printed());
    for line in fixtures().into_iter().flat_map(lines) {
        assert_eq!(journal.problems(Root::Event, &line), [""; 0], "{line}");
        let event: Envelope = serde_json::from_value(line).unwrap();
        let shown = json::event(&event);
        assert_eq!(printed.problems(Root::Event, &shown), [""; 0], "{shown}");
    }
    let spec = serde_json::from_str(include_str!("../../../dacapo-core/tests/formats/v3/spec.json")).unwrap();
    assert_eq!(journal.problems(Root::Spec, &spec), [""; 0]);
}

#[test]
fn u6_the_examples_of_the_page_are_as_documented() {
    let introduction = include_str!("introduction.md");
    let events: Vec<&str> = introduction.lines().filter(|line| line.contains(r#""seq":"#)).collect();
    assert_eq!(events.len(), 3);
    for line in events.into_iter().flat_map(lines) {
        assert_eq!(Reference::printed().problems(Root::Event, &line), [""; 0], "{line}");
    }
}

/// Events that have words beside them when they are printed.
fn with_words() -> Vec<Event> {
    let refused = NotAllowed { agent: "one".into(), tools: vec!["Edit".into()], argument: None };
    let faults =
        vec![Fault::GuardLost, Fault::NotAllowed(refused), Fault::Exited { code: 1, said: String::new() }];
    let mut events = vec![
        Event::Written(WritingRecord {
            iteration: 0,
            what: Writing::Summary,
            end: WritingEnd::Failed { fault: Fault::BudgetUsed },
            by: "one".into(),
            usage: Usage::default(),
            duration_ms: 5,
        }),
        Event::StopRequested {
            reason: StopReason::PermanentError,
            detail: StopDetail::Faults { faults: faults.clone() },
        },
        Event::StopRequested {
            reason: StopReason::Cancelled,
            detail: StopDetail::By { by: "SIGINT".into() },
        },
        Event::Notice(Notice::ProofCheckoutsInUse),
    ];
    let asks = [
        NeedKind::Resume { by: None },
        NeedKind::Blocked { question: "Which?".into() },
        NeedKind::Rounds { used: 3, reason: None },
    ];
    events.extend(asks.map(|kind| Event::Asked { needs: Needs { kind, choices: vec![Choice::Kill] } }));
    events
}

#[test]
fn l16_words_for_people_are_documented_and_not_in_the_journal() {
    let (journal, printed) = (Reference::journal(), Reference::printed());
    for event in with_words() {
        let line = Envelope {
            v: FORMAT,
            seq: 1,
            at: Timestamp::UNIX_EPOCH,
            elapsed_ms: 1,
            task: "t".into(),
            came_at: None,
            event,
        };
        let (raw, shown) = (serde_json::to_value(&line).unwrap(), json::event(&line));
        assert_eq!(journal.problems(Root::Event, &raw), [""; 0], "{raw}");
        assert_eq!(printed.problems(Root::Event, &shown), [""; 0], "{shown}");
        assert_ne!(raw, shown, "words are added");
    }
    let error = AgentEvent::Error { failure: FailureKind::Permanent, fault: Fault::GuardLost };
    assert_eq!(json::agent(&error)["fault"]["kind"], "guard_lost");
    assert!(json::agent(&error)["fault"]["message"].is_string());
}

#[test]
fn s2_what_is_not_documented_is_found() {
    let printed = Reference::printed();
    let fine = lines(fixtures()[0]).last().unwrap();
    assert_eq!(printed.problems(Root::Event, &fine), [""; 0]);
    let problems = |change: &dyn Fn(&mut Value)| {
        let mut line = fine.clone();
        change(&mut line);
        printed.problems(Root::Event, &line)
    };
    assert_eq!(problems(&|line| line["colour"] = "red".into()), ["/colour is not documented"]);
    assert_eq!(
        problems(&|line| line["tokens"]["dollars"] = 3.into()),
        ["/tokens/dollars is not documented"],
        "in a field of a field, too"
    );
    assert_eq!(problems(&|line| line["seq"] = "1".into()), [r#"/seq is "1", which is no "integer""#]);
    let gone = problems(&|line| _ = line.as_object_mut().unwrap().remove("tokens"));
    assert_eq!(gone, ["the object has no 'tokens'"]);
    assert!(!problems(&|line| line["type"] = "moon_phase".into()).is_empty());
    assert!(!problems(&|line| line["outcome"] = "sunny".into()).is_empty());
}

#[test]
fn s2_every_field_and_every_value_on_the_page_has_a_meaning() {
    let page = page();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let (last, meaning) = (cells.last().unwrap(), cells.get(1).unwrap());
        assert!(!meaning.trim().is_empty(), "{line}");
        // A table of fields has its meaning last; one of forms has the fields of each there, which may be none.
        assert!(cells.len() != 3 || !last.starts_with("|"), "{line}");
        assert!(!line.contains("): <br>") && !line.ends_with("):  |"), "{line}");
    }
    for mark in ["::", "[`", "#value:", "(L1", "(C2", "(M8", "(S6"] {
        let found = page.lines().find(|line| line.contains(mark) && !line.contains("`](#"));
        assert_eq!(found, None, "{mark} is for readers of the code");
    }
}
