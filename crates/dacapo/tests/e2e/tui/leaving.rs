//! The terminal while the app has it, and what is left of the app there.

use std::time::{Duration, Instant};

use super::*;

/// An app that shows a task that has ended: nothing moves by itself.
fn at_rest(world: &World) -> App {
    let ran = world.run(&["spawn", "--name", "t", "--iter", "1", "--agent-cmd", "touch x", "go"]);
    ran.expect(0);
    world.run(&["wait", "t"]).expect(0);
    let mut app = App::open(world);
    app.shows("READY 1");
    app
}

/// `R`, `S`, `T` for stopped, of /proc.
fn state(app: &App) -> char {
    let stat = fs::read_to_string(format!("/proc/{}/stat", app.terminal.pid().as_raw_nonzero())).unwrap();
    stat.rsplit(") ").next().unwrap().chars().next().unwrap()
}

#[test]
fn the_app_is_told_from_help_by_where_it_runs() {
    let world = World::new();
    let ran = world.run::<&str>(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("Usage:"), "{}", ran.stderr);
    let mut dumb = Command::new("sh");
    world.dress(&mut dumb);
    dumb.args(["-c", "TERM=dumb exec \"$0\"", env!("CARGO_BIN_EXE_dacapo")]);
    let (code, said) = Terminal::start(&dumb).end();
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("TERM=dumb") && said.contains("Usage:") && !said.contains("\u{1b}[?1049h"),
        "{said}"
    );
}

#[test]
fn signals_leave_the_terminal_clean() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let world = World::new();
        let app = at_rest(&world);
        assert!(app.screen.screen().alternate_screen() && app.screen.screen().bracketed_paste());
        app.signal(signal);
        assert_eq!(app.end(), Some(code), "{signal:?}");
        assert_eq!(world.status("t")["status"], "completed");
    }
}

#[test]
fn ctrl_c_asks_and_quits_the_second_time() {
    let world = World::new();
    let mut app = at_rest(&world);
    app.press("\u{3}");
    app.shows("Press Ctrl-C again or q to quit");
    app.signal(Signal::INT);
    assert_eq!(app.end(), Some(0));
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let world = World::new();
    let mut app = at_rest(&world);
    app.press("\u{1a}");
    wait_for("it to stop", || state(&app) == 'T');
    app.look();
    assert_clean(app.screen.screen());
    assert!(app.terminal.is_as_before());
    app.signal(Signal::CONT);
    app.shows("READY 1");
    assert!(app.screen.screen().alternate_screen());
    app.press("?");
    app.shows("Everywhere");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn it_fits_into_any_size() {
    let world = World::new();
    let mut app = at_rest(&world);
    app.resize(20, 5);
    app.shows("? help");
    app.shows_no_more("merges cleanly");
    app.resize(100, 40);
    app.shows("merges cleanly");
    app.shows("Enter open");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn the_first_key_after_a_resize_is_answered() {
    let world = World::new();
    let mut app = at_rest(&world);
    // Keys have been read before: only then does the library that parses them hear of resizes, too.
    app.press("?");
    app.shows("Everywhere");
    app.press("\u{1b}");
    app.shows_no_more("Everywhere");
    // The lowest line of the larger screen is not seen any more: this is the new one.
    app.resize(60, 12);
    app.shows("? help");
    app.press("s");
    app.shows("› settings");
    app.press("\u{1b}");
    app.shows_no_more("› settings");
    // A key right behind it, as by somebody who goes on typing.
    for (columns, rows) in [(90, 24), (100, 40)] {
        app.resize(columns, rows);
        app.press("s");
        app.shows("› settings");
        app.press("\u{1b}");
        app.shows_no_more("› settings");
    }
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn who_waits_writes_nothing() {
    let world = World::new();
    let mut app = at_rest(&world);
    // All that comes late has come when a key was answered after it.
    app.press("?");
    app.shows("Everywhere");
    app.press("\u{1b}");
    app.shows_no_more("Everywhere");
    // A frame is one write, but comes in pieces.
    wait_for("the frame to end", || app.terminal.bytes().ends_with(b"\x1b[?2026l"));
    let before = app.terminal.bytes().len();
    let cpu = processor_time(&app);
    let start = Instant::now();
    // Nothing but time can show that nothing happens.
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(
        app.terminal.bytes().len(),
        before,
        "{:?}",
        String::from_utf8_lossy(&app.terminal.bytes()[before..])
    );
    let used = processor_time(&app) - cpu;
    assert!(used.as_secs_f64() < start.elapsed().as_secs_f64() / 20.0, "{used:?}");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

/// What it has used so far, its threads together.
fn processor_time(app: &App) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", app.terminal.pid().as_raw_nonzero())).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

#[test]
fn an_editor_gets_the_terminal_for_a_while() {
    let world = World::new();
    world.run(&["spawn", "--name", "t", "--iter", "1", "--agent-cmd", "touch x", "go"]).expect(0);
    world.run(&["wait", "t"]).expect(0);
    let kept = world.scratch("edited");
    // It reads a line as any program does: nothing of it must go to the app.
    let text = format!(
        "#!/bin/sh\ncp \"$1\" {}\necho EDITOR HERE\nread line\necho \"$line\" >> {}\n",
        kept.display(),
        kept.display()
    );
    let editor = world.program("myedit", &text);
    let mut command = world.command::<&str>(&[]);
    command.env("EDITOR", editor);
    let mut app = App::start(&command);
    app.shows("READY 1");
    app.press("e");
    app.shows("EDITOR HERE");
    app.look();
    assert!(!app.screen.screen().alternate_screen());
    assert!(app.terminal.is_as_before());
    app.press("qqq\r");
    app.shows("READY 1");
    let text = fs::read_to_string(kept).unwrap();
    assert!(text.contains("iteration 1") && text.ends_with("qqq\n"), "{text}");
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn what_is_typed_while_another_program_runs_is_not_for_the_app() {
    let world = World::new();
    world.run(&["spawn", "--name", "t", "--iter", "1", "--agent-cmd", "touch x", "go"]).expect(0);
    world.run(&["wait", "t"]).expect(0);
    let go = world.scratch("go");
    // It reads nothing of what is typed.
    let text = format!("#!/bin/sh\necho EDITOR HERE\nuntil [ -e {} ]; do sleep 0.02; done\n", go.display());
    let editor = world.program("myedit", &text);
    let mut command = world.command::<&str>(&[]);
    command.env("EDITOR", editor);
    let mut app = App::start(&command);
    app.shows("READY 1");
    // In one burst with the key that starts it, and while it runs.
    app.press("eD");
    app.shows("EDITOR HERE");
    app.press("Dy\r");
    // The terminal echoes what it got.
    app.shows("Dy");
    fs::write(go, "").unwrap();
    app.shows("READY 1");
    app.press("?");
    app.shows("Everywhere");
    app.press("\u{1b}");
    app.shows_no_more("Everywhere");
    assert!(!app.look().contains("Drop t?"), "{}", app.look());
    app.press("q");
    assert_eq!(app.end(), Some(0));
}

#[test]
fn the_plain_stream_is_a_key_away() {
    let world = World::new();
    let mut app = at_rest(&world);
    app.press("P");
    app.shows("Press Enter to go back to Dacapo.");
    app.press("\r");
    app.shows("READY 1");
    assert!(app.screen.screen().alternate_screen());
    app.press("q");
    assert_eq!(app.end(), Some(0));
}
