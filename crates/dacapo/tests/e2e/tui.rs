//! The terminal app at a terminal: what it shows, what its keys do, and how it leaves the terminal behind.

use std::fs;
use std::num::NonZeroU16;
use std::process::Command;

use rustix::process::{Signal, kill_process};

use crate::support::{World, wait_for};
use crate::terminal::Terminal;

mod flows;
mod leaving;
mod mouse;
mod slash;
mod terminals;

/// The app, and a screen that shows what it writes.
pub(crate) struct App {
    terminal: Terminal,
    screen: vt100::Parser,
    /// So many bytes are on the screen already.
    seen: usize,
}

impl App {
    pub(crate) fn open(world: &World) -> Self {
        Self::start(&world.command::<&str>(&[]))
    }

    fn start(command: &Command) -> Self {
        let terminal = Terminal::start(command);
        // As large as the terminal is made.
        Self { terminal, screen: vt100::Parser::new(lines(40), lines(100), 0), seen: 0 }
    }

    fn look(&mut self) -> String {
        let bytes = self.terminal.bytes();
        self.screen.process(&bytes[self.seen..]);
        self.seen = bytes.len();
        self.screen.screen().contents()
    }

    /// Waits until the screen shows this.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        let mut last = String::new();
        let start = std::time::Instant::now();
        while !last.contains(text) {
            assert!(start.elapsed() < crate::support::PATIENCE, "waited in vain for {text:?}:\n{last}");
            std::thread::sleep(std::time::Duration::from_millis(5));
            last = self.look();
        }
    }

    /// Waits until the screen does not show this any more.
    #[track_caller]
    fn shows_no_more(&mut self, text: &str) {
        wait_for(&format!("{text:?} to go"), || !self.look().contains(text));
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.terminal.press(keys);
    }

    /// Types a command and waits until it is on the screen: what is typed faster than it is read is no test of ours.
    fn command(&mut self, line: &str) {
        self.press("/");
        self.shows("› /");
        self.press(&line[1..]);
        let end: String = line.chars().skip(line.chars().count().saturating_sub(20)).collect();
        self.shows(&end);
        self.press("\r");
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.terminal.pid(), signal).unwrap();
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.look();
        self.terminal.resize(columns, rows);
        self.screen.screen_mut().set_size(lines(rows), lines(columns));
    }

    /// The program has ended: its exit code. Nothing of it is left at the terminal.
    pub(crate) fn end(mut self) -> Option<i32> {
        let (code, said) = self.terminal.end();
        self.screen.process(&said.as_bytes()[self.seen.min(said.len())..]);
        assert_clean(self.screen.screen());
        code
    }
}

fn lines(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

/// The terminal is as a shell expects it.
fn assert_clean(screen: &vt100::Screen) {
    assert!(!screen.alternate_screen(), "the alternate screen");
    assert!(!screen.hide_cursor(), "the cursor");
    assert!(!screen.bracketed_paste(), "bracketed paste");
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
}

/// An agent that says it is at work and goes on when it is told to.
fn gated(world: &World) -> String {
    let (begun, go) = (world.scratch("begun"), world.scratch("go"));
    let home = world.scratch("home");
    world.rehearsal(&format!(
        "iterations:\n  - - say: \"I look at it.\\n\"\n    - run: touch {}; while [ -d {} ] && [ ! -e {} ]; do sleep 0.02; done\n    - write: {{ path: done.txt, text: \"done\\n\", append: true }}\n",
        begun.display(),
        home.display(),
        go.display()
    ))
}

fn let_go(world: &World) {
    fs::write(world.scratch("go"), "").unwrap();
}
