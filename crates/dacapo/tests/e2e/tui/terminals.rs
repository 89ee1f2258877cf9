//! Terminals as people have them: light and dark, without colours, without Unicode, with wide symbols; and agents that would like
//! to have the terminal for themselves.

use unicode_width::UnicodeWidthChar as _;
use vt100::Color;

use super::*;

/// A proven task, one that failed its check, and one that asks; its agent speaks Chinese, too.
fn tasks(world: &World) {
    let spawn = |name: &str, more: &[&str], agent: &str| {
        let words =
            [&["spawn", "--name", name, "--iter", "1", "--agent-cmd", agent], more, &["修复 the parser"]];
        world.run(&words.concat()).expect(0);
        let _ = world.run(&["wait", name]);
    };
    spawn("proven", &["--check", "test -e fixed"], "echo 任务完成 done; touch fixed");
    spawn("red", &["--check", "test -e missing"], "echo no; touch other");
    spawn("asks", &["--until", "FIN-1"], "echo '<blocked>Which key, 蓝色 or red?</blocked>'");
}

fn open_with(world: &World, variables: &[(&str, &str)]) -> App {
    let mut command = world.command::<&str>(&[]);
    command.envs(variables.iter().copied());
    App::start(&command)
}

/// Goes through the screens, from the home screen; each is looked at when it is there.
fn tour(app: &mut App, words: [&str; 4], mut look: impl FnMut(&mut App)) {
    let [home, task, diff, help] = words;
    app.shows(home);
    look(app);
    app.press("\u{1b}[B\r");
    app.shows(task);
    app.shows("done");
    look(app);
    app.press("d");
    app.shows(diff);
    app.shows("new file mode");
    look(app);
    app.press("?");
    app.shows(help);
    look(app);
    app.press("\u{1b}");
    app.shows_no_more(help);
    app.press("q");
}

/// Every cell that shows something: its colours.
fn colours(app: &App) -> Vec<(Color, Color, String)> {
    let screen = app.screen.screen();
    let (rows, columns) = screen.size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let cells = cells.filter_map(|(row, column)| screen.cell(row, column));
    cells
        .filter(|cell| cell.has_contents())
        .map(|cell| (cell.fgcolor(), cell.bgcolor(), cell.contents().to_owned()))
        .collect()
}

const ENGLISH: [&str; 4] = ["NEEDS YOU 1", "iterations", "diff of everything", "Everywhere"];

#[test]
fn light_and_dark_terminals_keep_their_own_colours() {
    let world = World::new();
    tasks(&world);
    let mut app = App::open(&world);
    let mut seen = std::collections::BTreeSet::new();
    tour(&mut app, ENGLISH, |app| {
        for (text, behind, what) in colours(app) {
            // Black and white, grey and what is behind the text are the terminal's: only so both themes can be read.
            assert_eq!(behind, Color::Default, "{what}");
            match text {
                Color::Default => {}
                Color::Idx(number) => drop(seen.insert(number)),
                Color::Rgb(..) => panic!("{what}"),
            }
        }
    });
    let allowed = [1, 2, 3, 5, 6].into();
    assert!(seen.is_subset(&allowed) && seen.len() > 2, "red, green, yellow, magenta, cyan: {seen:?}");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn without_colours_everything_is_said() {
    let world = World::new();
    tasks(&world);
    let mut app = open_with(&world, &[("NO_COLOR", "1")]);
    tour(&mut app, ENGLISH, |app| {
        let coloured: Vec<_> = colours(app)
            .into_iter()
            .filter(|(text, behind, _)| (*text, *behind) != (Color::Default, Color::Default))
            .collect();
        assert_eq!(coloured, []);
        let shown = app.look();
        if shown.contains("NEEDS YOU 1") {
            for said in ["! asks", "✓ proven", "○ red", "still red"] {
                assert!(shown.contains(said), "{said}: {shown}");
            }
            let screen = app.screen.screen();
            let selected = (0..40).filter(|row| screen.cell(*row, 0).is_some_and(vt100::Cell::inverse));
            assert_eq!(selected.count(), 1, "one sees which task is selected");
        }
    });
    assert_eq!(app.end(), Some(0));
}

#[test]
fn a_terminal_without_unicode_gets_ascii_alone() {
    let world = World::new();
    tasks(&world);
    let mut app = open_with(&world, &[("LC_ALL", "C")]);
    tour(&mut app, ENGLISH, |app| {
        let shown = app.look();
        assert!(shown.is_ascii(), "{shown}");
        if shown.contains("NEEDS YOU 1") {
            for said in ["+ proven", "o red", "Which key, ? ?  or red?"] {
                assert!(shown.contains(said), "{said}: {shown}");
            }
        }
    });
    let bytes = app.terminal.bytes();
    let high: Vec<u8> = bytes.iter().copied().filter(|byte| *byte > 0x7f).collect();
    assert_eq!(high, [0; 0], "{:?}", String::from_utf8_lossy(&bytes));
    assert_eq!(app.end(), Some(0));
}

#[test]
fn u5_a_chinese_terminal_has_no_symbol_of_two_widths() {
    let world = World::new();
    tasks(&world);
    let mut app = open_with(&world, &[("LANG", "zh_CN.UTF-8")]);
    let words = ["需要你 1", "迭代", "全部改动的差异", "任何地方"];
    tour(&mut app, words, |app| {
        let shown = app.look();
        for c in shown.chars().filter(|c| !c.is_ascii()) {
            assert_eq!(c.width(), c.width_cjk(), "{c:?} is drawn wider by some: {shown}");
        }
        if shown.contains("需要你 1") {
            assert!(shown.contains("已证明") && shown.contains("蓝色"), "{shown}");
            // What the tasks have come to stands in one column, whatever is before it.
            let ends: Vec<usize> =
                shown.lines().filter_map(|line| Some(cells(&line[..line.find("/1")?]))).collect();
            assert!(ends.len() == 3 && ends.iter().all(|end| *end == ends[0]), "{ends:?}: {shown}");
        }
    });
    assert_eq!(app.end(), Some(0));
}

fn cells(text: &str) -> usize {
    text.chars().filter_map(unicode_width::UnicodeWidthChar::width).sum()
}

/// The cursor, the title, the clipboard, the alternate screen, the mouse, bells, and letters that run the other way.
const EVIL: &str = r"\033[2J\033[10;10Hmoved\033[31m\n\033]0;evil-title\007\033]52;c;ZXZpbA==\007clip\n\033[?1049l\033[?1003h\033[?25h\033c\007bell\a\n\342\200\256txet\nend of it\n";

#[test]
fn what_an_agent_prints_never_drives_the_terminal() {
    let world = World::new();
    let agent = format!(
        "printf '{EVIL}' | tee evil.txt; printf '{EVIL}' >&2; printf '{EVIL}' > $(printf 'a\\033[2Jb')"
    );
    let check = format!("printf '{EVIL}'; false");
    let words = ["spawn", "--name", "t", "--iter", "1", "--check", &check, "--agent-cmd", &agent, "go"];
    world.run(&words).expect(0);
    let _ = world.run(&["wait", "t"]);
    let mut app = App::open(&world);
    app.shows("STOPPED 1");
    app.press("\r");
    app.shows("end of it");
    app.shows("clip");
    for (key, side) in [("v", " raw "), ("v", " stderr "), ("v", "iterations")] {
        app.press(key);
        app.shows(side);
        app.shows("end of it");
    }
    for (key, page) in [("c", "checks and proof"), ("L", "log"), ("d", "diff of everything")] {
        app.press(key);
        app.shows(&format!("› {page}"));
        app.shows(if page == "diff of everything" { "evil.txt" } else { "t" });
        app.press("\u{1b}");
        app.shows_no_more(&format!("› {page}"));
    }
    assert!(app.screen.screen().alternate_screen() && app.screen.screen().hide_cursor());
    assert_eq!(app.screen.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    let said = app.terminal.said();
    for never in [
        "\u{1b}]",
        "\u{7}",
        "\u{1b}[?1049l",
        "\u{1b}[?1003h",
        "\u{1b}c",
        "\u{202e}",
        "\u{1b}[2J\u{1b}[10;10H",
    ] {
        assert!(!said.contains(never), "{never:?} in {said:?}");
    }
    app.press("q");
    assert_eq!(app.end(), Some(0));
}
