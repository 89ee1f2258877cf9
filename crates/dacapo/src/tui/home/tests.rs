use dacapo_app::operations::act::Operation;
use dacapo_app::operations::list::Scope;
use dacapo_core::overview::Brief;
use dacapo_core::view::Status;
use jiff::SignedDuration;

use crate::tui::key::Key;
use crate::tui::message::Message;
use crate::tui::mouse::Did;
use crate::tui::testing::{Stage, a_day, brief, entry, mouse, pictures};

/// The line of the selected row: only that one is reversed, and snapshots have no colours.
fn selected(stage: &Stage) -> Option<String> {
    stage.model.selected_task().map(|brief| brief.name.clone())
}

#[test]
fn u1_home_shows_what_needs_the_user_first() {
    pictures("home", |look| look.day().shown());
    pictures("home_empty", |look| look.stage().tasks(Vec::new()).shown());
    pictures("home_filter", |look| look.day().press(&[Key::Ctrl('f')]).types("depend").shown());
    pictures("home_everywhere", |look| {
        let mut all = a_day();
        all.push(entry(Brief { repo: "/home/ada/other".into(), ..brief("else", Status::Running) }));
        look.day().press(&[Key::Char('A')]).tasks_of(Scope::Everywhere, all).shown()
    });
    pictures("confirm", |look| look.day().press(&[Key::Down, Key::Down, Key::Down, Key::Char('x')]).shown());
}

#[test]
fn a_tiny_terminal_shows_what_it_can() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day());
    for (columns, rows) in [(20, 5), (10, 3), (1, 1), (200, 2), (5, 60)] {
        let shown = stage.resize(columns, rows).shown();
        assert!(shown.lines().count() <= rows.into(), "{shown}");
    }
    insta::assert_snapshot!("home_20x5", stage.resize(20, 5).shown());
}

#[test]
fn rows_hold_still_and_the_selection_follows_the_task() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day());
    assert_eq!(selected(&stage).as_deref(), Some("auth"));
    stage.press(&[Key::Down, Key::Down, Key::Down]);
    assert_eq!(selected(&stage).as_deref(), Some("deps"));
    // It ends, and goes into another group.
    let ended = a_day().into_iter().map(|mut entry| {
        if entry.brief.name == "deps" {
            entry.brief = Brief { verified: true, ..brief("deps", Status::Completed) };
        }
        entry
    });
    stage.tasks(ended.collect());
    assert_eq!(selected(&stage).as_deref(), Some("deps"));
    // It is renamed.
    let renamed = a_day().into_iter().map(|mut entry| {
        if entry.brief.name == "deps" {
            entry.brief.name = "dependencies".into();
            entry.brief.created_at += SignedDuration::from_secs(1);
        } else if entry.brief.name == "docs" {
            entry.brief.created_at += SignedDuration::from_secs(2);
        }
        entry
    });
    let renamed: Vec<_> = renamed.collect();
    let mut same: Vec<_> = renamed.clone();
    same.iter_mut().filter(|entry| entry.brief.name == "dependencies").for_each(|entry| {
        entry.brief.name = "deps".into();
    });
    stage.tasks(same).tasks(renamed);
    assert_eq!(selected(&stage).as_deref(), Some("dependencies"));
    // It is dropped: the one in its place is selected.
    let gone = a_day().into_iter().filter(|entry| entry.brief.name != "deps");
    stage.tasks(gone.collect());
    assert_eq!(selected(&stage).as_deref(), Some("limit"));
}

#[test]
fn tasks_are_filtered_as_one_types() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Ctrl('f')]).types("depend");
    assert_eq!(selected(&stage).as_deref(), Some("deps"));
    stage.types(" zzz");
    assert!(stage.shown().contains("No task matches 'depend zzz'"), "{}", stage.shown());
    stage.press(&[Key::Esc]);
    assert!(stage.shown().contains("auth"));
    // Kept by Enter, then keys are keys again.
    stage.press(&[Key::Ctrl('f')]).types("auth").press(&[Key::Enter, Key::Char('y')]);
    assert_eq!(stage.effects.last().unwrap(), "copy auth");
}

#[test]
fn all_repositories_are_shown_on_a_key() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Char('A')]);
    assert_eq!(stage.effects.last().unwrap(), "follow Everywhere");
    let mut all = a_day();
    all.push(entry(Brief { repo: "/home/ada/other".into(), ..brief("else", Status::Running) }));
    stage.tasks_of(Scope::Everywhere, all);
    // What is done to a task of another repository is done there.
    stage.press(&[Key::Ctrl('f')]).types("else").press(&[Key::Enter, Key::Char('p')]);
    assert_eq!(stage.acts[0].directory.as_deref(), Some("/home/ada/other".as_ref()));
    // News of a scope that was left is none.
    stage.tasks_of(Scope::Repository, Vec::new());
    assert!(stage.shown().contains("else"));
}

#[test]
fn a_decision_is_put_off_for_an_hour() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Char('z')]);
    let shown = stage.shown();
    assert!(!shown.contains("NEEDS YOU") && shown.contains("SNOOZED 1"), "{shown}");
    assert!(shown.contains("asks again at 13:00"), "{shown}");
    assert_eq!(selected(&stage).as_deref(), Some("auth"));
    let wakes = stage.model.changes_at().unwrap();
    assert!(wakes <= stage.now + SignedDuration::from_secs(3600));
    stage.now += SignedDuration::from_secs(3601);
    stage.hear(Message::Tick);
    assert!(stage.shown().contains("NEEDS YOU 1"), "{}", stage.shown());
}

#[test]
fn what_ends_work_is_confirmed_and_what_cannot_be_done_says_why() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Down, Key::Down, Key::Down, Key::Char('x')]);
    assert!(stage.shown().contains("Kill deps?"), "{}", stage.shown());
    assert!(stage.acts.is_empty());
    stage.press(&[Key::Char('n'), Key::Char('x'), Key::Char('y')]);
    assert_eq!(*stage.acts[0].operation, Operation::Kill { task: "deps".into() });
    stage.press(&[Key::Char('m')]);
    assert!(stage.shown().contains("deps is still running. x kills it, p pauses it."), "{}", stage.shown());
    stage.press(&[Key::Char('D')]);
    assert_eq!(stage.acts.len(), 1);
}

#[test]
fn clocks_move_once_a_minute_and_nothing_else_does() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day());
    // 100 s until 30 s ago: 2m10s now.
    let at = stage.model.changes_at().unwrap();
    assert_eq!(at.duration_since(stage.now), SignedDuration::from_secs(50));
    assert!(stage.shown().contains("  2m"), "{}", stage.shown());
    stage.now = at;
    stage.hear(Message::Tick);
    assert!(stage.shown().contains("  3m"), "{}", stage.shown());
    stage.tasks(vec![entry(brief("done", Status::Completed))]);
    assert_eq!(stage.model.changes_at(), None, "who waits for nothing is not woken");
}

#[test]
fn a_thousand_tasks_scroll() {
    let mut stage = Stage::new(80, 24);
    let many = (0..1000).map(|nth| entry(brief(&format!("t{nth:04}"), Status::Stopped)));
    stage.tasks(many.collect());
    stage.press(&[Key::End]);
    let shown = stage.shown();
    assert!(shown.contains("t0999") && !shown.contains("t0000"), "{shown}");
    stage.press(&[Key::Home]);
    let shown = stage.shown();
    assert!(shown.contains("STOPPED 1000") && shown.contains("t0000"), "{shown}");
    stage.press(&[Key::PageDown]);
    assert!(stage.shown().contains("t0020"), "{}", stage.shown());
}

#[test]
fn a_click_selects_and_the_next_one_opens() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).click(3, 5);
    assert_eq!(selected(&stage).as_deref(), Some("tests"));
    // A heading is no task.
    stage.click(3, 4);
    assert_eq!(selected(&stage).as_deref(), Some("tests"));
    stage.hear(Message::Mouse(mouse(Did::WheelDown, (3, 5))));
    assert_eq!(selected(&stage).as_deref(), Some("docs"));
    stage.click(3, 5);
    assert!(stage.shown().starts_with("dacapo › app\n"), "it is selected anew: {}", stage.shown());
    stage.click(3, 5);
    assert!(stage.shown().starts_with("dacapo › app › tests"), "{}", stage.shown());
    // A card over the list takes the mouse.
    stage.press(&[Key::Esc, Key::Char('m')]).click(3, 8);
    assert_eq!(selected(&stage).as_deref(), Some("tests"));
}

#[test]
fn a_form_that_is_left_is_there_when_it_is_opened_again() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Char('n')]).types("fix it").press(&[Key::Tab]).types("./bot --fast");
    stage.press(&[Key::Esc]);
    assert!(stage.shown().contains("draft kept"), "{}", stage.shown());
    stage.press(&[Key::Char('n')]);
    assert!(stage.shown().contains("fix it") && stage.shown().contains("./bot --fast"), "{}", stage.shown());
    // An empty one is not worth a word.
    let mut empty = Stage::new(80, 24);
    empty.tasks(a_day()).press(&[Key::Char('n'), Key::Esc]);
    assert!(!empty.shown().contains("draft"), "{}", empty.shown());
}

#[test]
fn a_problem_leaves_the_fields_in_sight() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Char('n')]).types("fix it");
    stage.press(&[Key::Tab, Key::Tab, Key::Tab]).types("many").press(&[Key::Enter]);
    let shown = stage.shown();
    assert!(shown.contains("✗ ") && shown.contains("made from the prompt"), "{shown}");
    stage.press(&[Key::Backspace]);
    assert!(!stage.shown().contains("✗ "), "{}", stage.shown());
}

#[test]
fn a_filter_says_how_many_of_all_it_leaves() {
    let mut stage = Stage::new(80, 24);
    stage.tasks(a_day()).press(&[Key::Ctrl('f')]).types("docs");
    assert!(stage.shown().contains("1 of 7 tasks"), "{}", stage.shown());
}
