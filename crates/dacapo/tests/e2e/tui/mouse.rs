//! The mouse: the terminal's by default, the app's where the user wants it.

use vt100::{MouseProtocolEncoding, MouseProtocolMode};

use super::*;

/// What a terminal sends for the left button at this place, counted from 1; `M` is down, `m` is up.
fn button(column: usize, row: usize, end: char) -> String {
    format!("\u{1b}[<0;{column};{row}{end}")
}

/// Where a text stands, counted from 1.
fn place_of(app: &mut App, text: &str) -> (usize, usize) {
    let shown = app.look();
    let row = shown.lines().position(|line| line.contains(text)).unwrap();
    let line = shown.lines().nth(row).unwrap();
    (line[..line.find(text).unwrap()].chars().count() + 1, row + 1)
}

fn click(app: &mut App, text: &str) {
    let (column, row) = place_of(app, text);
    app.press(&format!("{}{}", button(column, row, 'M'), button(column, row, 'm')));
}

/// Two tasks that have ended.
fn two_tasks(world: &World) {
    for name in ["one", "two"] {
        let agent = "seq 1 200; echo copy this line; echo; echo the end; touch x";
        world.run(&["spawn", "--name", name, "--iter", "1", "--agent-cmd", agent, "go"]).expect(0);
        world.run(&["wait", name]).expect(0);
    }
}

#[test]
fn the_mouse_is_the_terminals_by_default() {
    let world = World::new();
    let mut app = App::open(&world);
    app.shows("No tasks");
    assert_eq!(app.screen.screen().mouse_protocol_mode(), MouseProtocolMode::None);
    let said = app.terminal.said();
    assert!(said.contains("\u{1b}[?1007h"), "the wheel scrolls: {said:?}");
    for mode in ["1000", "1002", "1003", "1006", "1015"] {
        assert!(!said.contains(&format!("\u{1b}[?{mode}h")), "{said:?}");
    }
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn a_mouse_that_is_ours_selects_opens_scrolls_and_copies() {
    let world = World::new();
    world.config("mouse = true\n");
    two_tasks(&world);
    let mut app = App::open(&world);
    app.shows("READY 2");
    assert_eq!(app.screen.screen().mouse_protocol_mode(), MouseProtocolMode::ButtonMotion);
    assert_eq!(app.screen.screen().mouse_protocol_encoding(), MouseProtocolEncoding::Sgr);
    click(&mut app, "two");
    click(&mut app, "two");
    app.shows("› two");
    app.shows("copy this line");
    // The wheel goes up, and what is followed is not followed any more.
    let (column, row) = place_of(&mut app, "copy this line");
    app.press(&format!("\u{1b}[<64;{column};{row}M").repeat(9));
    app.shows_no_more("copy this line");
    app.press(&format!("\u{1b}[<65;{column};{row}M").repeat(9));
    app.shows("copy this line");
    let (column, row) = place_of(&mut app, "copy this line");
    app.press(&button(column, row, 'M'));
    app.press(&format!("\u{1b}[<32;{};{row}M", column + 8));
    wait_for("the text to be marked", || {
        app.look();
        let cell = |column: usize| {
            let at = u16::try_from(column - 1).unwrap();
            app.screen.screen().cell(u16::try_from(row - 1).unwrap(), at).unwrap().inverse()
        };
        cell(column) && cell(column + 8) && !cell(column + 9)
    });
    app.press(&button(column + 8, row, 'm'));
    app.shows("copied");
    // `copy this`, as OSC 52 has it.
    assert!(app.terminal.said().contains("\u{1b}]52;c;Y29weSB0aGlz\u{7}"), "{:?}", app.terminal.said());
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn a_mouse_that_is_ours_is_given_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        let world = World::new();
        world.config("mouse = true\n");
        let mut app = App::open(&world);
        app.shows("No tasks");
        app.signal(signal);
        app.end();
    }
    let world = World::new();
    world.config("mouse = true\n");
    two_tasks(&world);
    let mut app = App::open(&world);
    app.shows("READY 2");
    // Another program gets the terminal as it is for everybody.
    app.press("P");
    app.shows("Press Enter to go back to Dacapo.");
    app.look();
    assert_clean(app.screen.screen());
    app.press("\r");
    app.shows("READY 2");
    assert_eq!(app.screen.screen().mouse_protocol_mode(), MouseProtocolMode::ButtonMotion);
    app.press("q");
    assert_eq!(app.end(), Some(0));
}
