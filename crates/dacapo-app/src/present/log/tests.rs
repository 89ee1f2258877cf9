use dacapo_core::event::{Command, Notice, Received, StopDetail};

use super::*;

/// A loop of three iterations, by its journal.
fn journal() -> Vec<Envelope> {
    let text = include_str!("../../../../dacapo-core/tests/formats/v3/journal.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of that loop up to the end of its first iteration, with `event` before the first line of this type.
fn with(event: &Event, before: &str) -> Vec<(Level, String)> {
    let spec = include_str!("../../../../dacapo-core/tests/formats/v3/spec.json");
    let mut log = LogLines::for_task(&serde_json::from_str(spec).unwrap(), Kinds::default());
    let mut out = Vec::new();
    for line in journal() {
        let kind = serde_json::to_value(&line.event).unwrap()["type"].clone();
        if kind == before {
            out.extend(log.lines(&Envelope { event: event.clone(), ..line.clone() }));
        }
        out.extend(log.lines(&line));
        if matches!(line.event, Event::IterationFinished(_)) {
            break;
        }
    }
    out
}

fn says(lines: &[(Level, String)], level: Level, text: &str) -> bool {
    lines.iter().any(|(found, line)| *found == level && line.contains(text))
}

#[test]
fn s13_a_loop_that_is_to_end_cannot_continue() {
    let notice = Event::Notice(Notice::Said { message: "x".into() });
    assert!(says(&with(&notice, "iteration_finished"), Level::Info, "(can_continue=true)"));
    let signal = Event::StopRequested {
        reason: StopReason::Cancelled,
        detail: StopDetail::By { by: "SIGINT".into() },
    };
    let kill = Received { id: "1".into(), by: "dacapo kill".into(), command: Command::Kill };
    for stop in [signal, Event::CommandReceived(kill)] {
        let lines = with(&stop, "commit_intent");
        assert!(says(&lines, Level::Info, "(can_continue=false)"), "{lines:?}");
    }
}

#[test]
fn s13_a_workspace_that_is_gone_between_two_iterations_is_an_error_of_the_follow_up() {
    let gone = Event::WorkspaceFailed { problems: vec!["gone".into()] };
    let first = "Failed to prepare workspace: gone";
    assert!(says(&with(&gone, "workspace_ready"), Level::Error, first));
    let later = "Failed to prepare workspace for loop follow-up: gone";
    assert!(says(&with(&gone, "iteration_finished"), Level::Error, later));
}
