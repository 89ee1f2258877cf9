//! Every command of the app's command line, in the real app: none ends it, each shows something, and Esc leads home. Which
//! commands there are the program says itself, so that a new one is tried here as soon as it exists.
//!
//! What each did is in `snapshots/`: the page, the card, the message or the program that came, and its first line.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use dacapo::args::Cli;

use super::*;

/// What was seen after a command.
struct Seen {
    what: &'static str,
    line: String,
}

/// The app in a world that is made again whenever a command has changed it.
struct Tour {
    make: fn() -> World,
    world: World,
    app: App,
    table: String,
}

impl Tour {
    fn new(make: fn() -> World) -> Self {
        let world = make();
        let app = open(&world);
        Self { make, world, app, table: String::new() }
    }

    /// Gives a command, writes down what came of it, and goes home.
    fn try_out(&mut self, line: &str) {
        let before = self.app.terminal.bytes().len();
        self.app.command(&format!("/{line}"));
        let seen = self.app.came_of(line, before);
        let home = self.world.scratch("").display().to_string();
        let shown = seen.line.replace(home.trim_end_matches('/'), "~");
        writeln!(self.table, "/{line:<36} {:<8} {}", seen.what, in_general(&shown)).unwrap();
        // What a program printed stays on the screen below the app's, and it may have changed something.
        let changed = matches!(seen.what, "quit" | "done" | "program");
        if seen.what != "quit" {
            self.app.go_home(line);
        }
        if changed {
            self.world = (self.make)();
            self.app = open(&self.world);
        }
    }

    fn end(mut self, name: &str) {
        self.app.press("q");
        assert_eq!(self.app.end(), Some(0));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, self.table);
        });
    }
}

/// The app without any agent of whoever runs the tests, and with an editor that is done at once.
fn open(world: &World) -> App {
    let mut command = world.command::<&str>(&[]);
    world.hide_other_programs(&mut command);
    command.env("EDITOR", "true");
    let mut app = App::start(&command);
    app.is_home();
    app
}

impl App {
    fn rows(&mut self) -> Vec<String> {
        self.look().lines().map(|line| line.trim_end().to_owned()).collect()
    }

    fn is_home(&mut self) {
        wait_for("the home screen", || is_home(&self.rows()));
    }

    /// Waits until a command has been carried out; what is shown then.
    #[track_caller]
    fn came_of(&mut self, line: &str, before: usize) -> Seen {
        let start = std::time::Instant::now();
        let mut answered = Vec::new();
        loop {
            if self.terminal.has_ended() {
                return Seen { what: "quit", line: String::new() };
            }
            let rows = self.rows();
            assert!(start.elapsed() < crate::support::PATIENCE, "/{line}:\n{}", rows.join("\n"));
            if !self.screen.screen().alternate_screen() {
                if let Some(keys) = keys_for_program(&rows).filter(|_| answered != rows) {
                    answered = rows;
                    self.press(keys);
                }
            } else if self.terminal.bytes().ends_with(b"\x1b[?2026l")
                && let Some(seen) = settled(&rows)
            {
                return of_program(&self.terminal.bytes()[before..]).unwrap_or(seen);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Presses Esc until there is nothing to leave.
    #[track_caller]
    fn go_home(&mut self, line: &str) {
        let around = |rows: &[String]| (rows.first().cloned(), rows.last().cloned());
        for _ in 0..5 {
            let before = self.rows();
            if is_home(&before) {
                return;
            }
            // Esc as newer terminals send it: with a key right behind it, the single byte would be that key with Alt.
            self.press("\u{1b}[27u");
            // Whatever is closed has other keys, or another title.
            wait_for(&format!("Esc to close something after /{line}:\n{}", before.join("\n")), || {
                around(&self.rows()) != around(&before)
            });
        }
        panic!("Esc does not lead home from /{line}:\n{}", self.look());
    }
}

/// What leads on in a program that has the terminal.
fn keys_for_program(rows: &[String]) -> Option<&'static str> {
    let last = rows.iter().rfind(|row| !row.is_empty())?;
    if last.starts_with("Press Enter to go back") {
        Some("\r")
    } else if last.ends_with(['#', '$']) {
        Some("exit\r")
    } else if last.starts_with("iteration ") || last.contains("[d]etach") {
        Some("\u{3}")
    } else {
        None
    }
}

/// The first line of a program that had the terminal in between, however short that was.
fn of_program(bytes: &[u8]) -> Option<Seen> {
    let find = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|part| part == mark);
    let shown = &bytes[find(bytes, b"\x1b[?1049l")?..];
    let shown = &shown[..find(shown, b"\x1b[?1049h")?];
    let mut screen = vt100::Parser::new(lines(500), lines(200), 0);
    screen.process(shown);
    let text = screen.screen().contents();
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Some(Seen { what: "program", line: line.trim().to_owned() })
}

fn is_home(rows: &[String]) -> bool {
    let (Some(head), Some(keys)) = (rows.first(), rows.last()) else { return false };
    head.matches(" › ").count() == 1 && keys.contains("q quit") && !body(rows).contains("Reading the tasks")
}

fn body(rows: &[String]) -> String {
    rows.get(1..rows.len().saturating_sub(1)).unwrap_or_default().join("\n")
}

/// What is shown when nothing more is to come.
fn settled(rows: &[String]) -> Option<Seen> {
    let (head, keys) = (rows.first()?, rows.last()?);
    let body = body(rows);
    // An operation is under way, or something is being read.
    if head.ends_with('…') || head.contains("  merging") || body.contains("Reading ") {
        return None;
    }
    let first = |what, line: Option<&str>| line.map(|line| Seen { what, line: line.trim().to_owned() });
    // It is at the very bottom, and its further lines are indented.
    let notice = body.lines().rev().find(|line| !line.starts_with("  "));
    let said = |sign: &str| notice.and_then(|line| line.strip_prefix(sign));
    if let Some(line) = said("✗ ") {
        return first("refused", Some(line));
    }
    // The command is being read.
    if keys.starts_with("› /") {
        return None;
    }
    if body.contains('┌') {
        let mut inside = body.lines().filter_map(|line| line.split('│').nth(1));
        return first("card", inside.find(|line| !line.trim().is_empty()));
    }
    if let Some(line) = said("✓ ").or_else(|| said("› ")) {
        return first("done", Some(line));
    }
    let what = if is_home(rows) { "home" } else { "page" };
    first(what, body.lines().find(|line| !line.trim().is_empty()))
}

fn is_commit(word: &str) -> bool {
    word.len() == 7 && word.chars().all(|c| c.is_ascii_hexdigit())
}

/// Without what differs from run to run.
fn in_general(line: &str) -> String {
    let of_time = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(['s', 'm']);
    let words = line.split(' ').map(|word| match word {
        word if of_time(word) => "TIME",
        word if word.contains(':') && word.contains(|c: char| c.is_ascii_digit()) => "TIME",
        word if word.matches('.').count() == 2 && word.starts_with(|c: char| c.is_ascii_digit()) => "VERSION",
        word if is_commit(word.trim_end_matches(';')) => "COMMIT;",
        word => word,
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A value for each positional argument of a command; none: it takes no argument.
fn with_arguments(line: &str, task: &str) -> Option<String> {
    let mut command = Cli::command();
    for word in line.split(' ') {
        command = command.find_subcommand(word)?.clone();
    }
    let value = |id: &str| match id {
        "name" | "names" | "task" | "milestone" => task.to_owned(),
        "changes" => "max-failures=9".to_owned(),
        "choice" | "finding" => "R1".to_owned(),
        "key" => "keep_awake".to_owned(),
        "value" => "false".to_owned(),
        "shell" => "bash".to_owned(),
        "command" => "kill".to_owned(),
        other => format!("some-{}", other.replace('_', "-")),
    };
    let values: Vec<String> = command.get_positionals().map(|arg| value(arg.get_id().as_str())).collect();
    (!values.is_empty()).then(|| format!("{line} {}", values.join(" ")))
}

/// Whether a command is about a task.
fn names_a_task(line: &str) -> bool {
    with_arguments(line, "THE-TASK").is_some_and(|line| line.contains("THE-TASK"))
        || line.starts_with("spawn --")
}

/// Whether a command has another name that says the same.
fn is_alias(line: &str) -> bool {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let cli = Cli::command();
    let command = cli.find_subcommand(first);
    let by_name = |of: &clap::Command, name: &str| of.get_subcommands().any(|own| own.get_name() == name);
    !by_name(&cli, first)
        || (!rest.is_empty() && !rest.starts_with('-') && !command.is_some_and(|own| by_name(own, rest)))
}

/// Everything that can be done to a task in this state, selected and by its name.
fn about(make: fn() -> World, snapshot: &str) {
    let mut tour = Tour::new(make);
    for line in dacapo::tui::commands().iter().filter(|line| names_a_task(line) && !is_alias(line)) {
        tour.try_out(line);
        let named =
            if line.starts_with("spawn --") { Some(format!("{line} t")) } else { with_arguments(line, "t") };
        named.iter().for_each(|line| tour.try_out(line));
    }
    tour.end(snapshot);
}

#[test]
fn u1_every_command_without_a_task() {
    let mut tour = Tour::new(World::new);
    for line in dacapo::tui::commands() {
        tour.try_out(&line);
        with_arguments(&line, "nobody").iter().for_each(|line| tour.try_out(line));
    }
    for line in [
        "",
        "nonsense",
        "kil x",
        "list --all",
        "list --done",
        "list --size",
        "list --json",
        "spawn --list --all",
    ] {
        tour.try_out(line);
    }
    tour.end("slash_no_task");
}

#[test]
fn u1_every_command_about_a_running_task() {
    about(
        || {
            let world = World::new();
            let agent = gated(&world);
            world.run(&["spawn", "--name", "t", "--iter", "2", "--agent", &agent, "go"]).expect(0);
            world.wait_for_file("begun");
            world
        },
        "slash_running",
    );
}

#[test]
fn u1_every_command_about_a_task_that_asks() {
    about(
        || {
            let world = World::new();
            let asks = "echo '<blocked>Which key?</blocked>'";
            let words = ["spawn", "--name", "t", "--until", "FIN-1", "--agent-cmd", asks, "use the key"];
            world.run(&words).expect(0);
            wait_for("the question", || world.status("t")["status"] == "paused");
            world
        },
        "slash_paused",
    );
}

#[test]
fn u1_every_command_about_a_proven_task() {
    about(
        || {
            let world = World::new();
            let words = ["--check", "test -e fixed", "--agent-cmd", "touch fixed", "make it exist"];
            world.run(&[&["spawn", "--name", "t"][..], &words].concat()).expect(0);
            world.run(&["wait", "t"]).expect(0);
            world
        },
        "slash_proven",
    );
}

#[test]
fn u1_every_command_about_a_milestone() {
    about(
        || {
            let world = World::new();
            let script = format!("touch {}; sleep 600", world.scratch("begun").display());
            world.config(&format!(
                "[agents.dev]\ncommand = [\"sh\", \"-c\", {script:?}]\noutput = \"text\"\n"
            ));
            let text = "---\ndeveloper: dev\nacceptor: dev\n---\n# Login\n\n## Goal\n\nUsers log in.\n\n## Features\n\n- a form\n\n## Acceptance Criteria\n\n- it works\n";
            world.write(".dacapo/milestones/t.md", text);
            world.git(&["add", "-A"]);
            world.git(&["commit", "-qm", "a milestone"]);
            world.run(&["milestone", "start", "t", "--spawn"]).expect(0);
            world.wait_for_file("begun");
            world.run(&["pause", "t", "--now"]).expect(0);
            wait_for("the pause", || world.status("t")["status"] == "paused");
            world
        },
        "slash_milestone",
    );
}
