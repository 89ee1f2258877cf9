//! The terminal while it is ours, and how it is left: clean, however that comes about.
//!
//! Raw mode, the alternate screen, bracketed paste, and the wheel as arrow keys (`?1007`), so that the mouse still selects and
//! copies as everywhere else, unless the user wants it to be ours. Every frame is one write between the marks of a synchronised update (DEC 2026), and a frame in
//! which nothing changed is no byte at all.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::panic::{self, PanicHookInfo};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Frame;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr};

/// The alternate screen, bracketed paste, no cursor. The alternate screen comes empty.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?2004h\u{1b}[?25l";
/// The wheel as arrow keys.
const WHEEL: &str = "\u{1b}[?1007h";
/// Buttons, and moves while one is down, with positions of any size.
const CAPTURE: &str = "\u{1b}[?1002h\u{1b}[?1006h";
/// The reverse of it all, whatever was being drawn.
const LEAVE: &str =
    "\u{1b}[?2026l\u{1b}[0m\u{1b}[?2004l\u{1b}[?1007l\u{1b}[?1002l\u{1b}[?1006l\u{1b}[?25h\u{1b}[?1049l";
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
const END_FRAME: &[u8] = b"\x1b[?2026l";

/// Whose the mouse is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MouseOf {
    /// It selects and copies as everywhere else.
    Terminal,
    /// We hear of it.
    App,
}

/// What a terminal needs to be put back, from whichever thread.
#[derive(Clone)]
pub(super) struct Restore(Arc<Saved>);

struct Saved {
    terminal: File,
    before: Termios,
    mouse: MouseOf,
    /// It is ours at the moment.
    ours: AtomicBool,
}

impl Restore {
    /// Puts the terminal back, once; it may be gone already.
    pub(super) fn leave(&self) {
        // Input thread, panic hook and `Drop` may all come here; only the first one writes.
        if self.0.ours.swap(false, Ordering::AcqRel) {
            let _ = (&self.0.terminal).write_all(LEAVE.as_bytes());
            // Not `Drain`, which waits until everything was shown: a terminal that is stopped (Ctrl-S) would hold us
            // here.
            let _ = tcsetattr(&self.0.terminal, OptionalActions::Now, &self.0.before);
        }
    }

    fn enter(&self) -> io::Result<()> {
        let mut raw = self.0.before.clone();
        raw.make_raw();
        tcsetattr(&self.0.terminal, OptionalActions::Now, &raw)?;
        // Before the first byte: if the write fails half-way, `leave` still undoes it.
        self.0.ours.store(true, Ordering::Release);
        let mouse = match self.0.mouse {
            MouseOf::Terminal => WHEEL,
            MouseOf::App => CAPTURE,
        };
        (&self.0.terminal).write_all(format!("{ENTER}{mouse}").as_bytes())
    }
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// The terminal, ours as long as this lives.
pub(super) struct Terminal {
    screen: ratatui::Terminal<Painter>,
    restore: Restore,
    hook: Arc<Hook>,
}

impl Terminal {
    /// Takes the terminal over.
    pub(super) fn enter(mouse: MouseOf) -> io::Result<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&terminal)?;
        let out = terminal.try_clone()?;
        let restore = Restore(Arc::new(Saved { terminal, before, mouse, ours: AtomicBool::new(false) }));
        let hook: Arc<Hook> = Arc::from(panic::take_hook());
        let (at_panic, earlier) = (restore.clone(), Arc::clone(&hook));
        // A panic ends the process at once, without anything being dropped; what it says must be readable.
        panic::set_hook(Box::new(move |info| {
            at_panic.leave();
            earlier(info);
        }));
        // The hook is in place before the modes change: a panic in between would leave the terminal raw.
        restore.enter()?;
        let screen = ratatui::Terminal::new(Painter::new(out))?;
        Ok(Self { screen, restore, hook })
    }

    /// How other threads put it back.
    pub(super) fn restore(&self) -> Restore {
        self.restore.clone()
    }

    /// Draws a frame; only what differs from the last one is written.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.screen.draw(view).map(drop)
    }

    /// Leaves the terminal to the shell or another program for a while.
    pub(super) fn leave(&self) {
        self.restore.leave();
    }

    /// Takes it over again. Nothing is known of what it shows, and what was typed meanwhile was for another program.
    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        // First: who sees the app again may type.
        tcflush(&self.restore.0.terminal, QueueSelector::IFlush)?;
        self.restore.enter()?;
        self.redraw()
    }

    /// Draws everything anew with the next frame.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        self.screen.backend_mut().forget();
        self.screen.clear()
    }

    /// Has the terminal put something on its clipboard.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let sequence = format!("\u{1b}]52;c;{}\u{7}", base64(text.as_bytes()));
        self.screen.backend_mut().write_now(sequence.as_bytes())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore.leave();
        if !std::thread::panicking() {
            let earlier = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |info| earlier(info)));
        }
    }
}

/// Takes what the backend writes. It asks for a flush after every change of the cursor: there is one a frame.
#[derive(Clone, Default)]
struct Gathered(Rc<RefCell<Vec<u8>>>);

impl io::Write for Gathered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gathers a frame and writes it at once.
struct Painter {
    frame: CrosstermBackend<Gathered>,
    gathered: Gathered,
    out: File,
    cursor: Cursor,
    /// Where it is; unknown after something was drawn.
    at: Option<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Shown,
    Hidden,
}

impl Painter {
    fn new(out: File) -> Self {
        let gathered = Gathered::default();
        let frame = CrosstermBackend::new(gathered.clone());
        Self { frame, gathered, out, cursor: Cursor::Hidden, at: None }
    }

    /// Nothing is known any more of what the terminal shows.
    fn forget(&mut self) {
        self.cursor = Cursor::Hidden;
        self.at = None;
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }
}

impl Backend for Painter {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(());
        }
        self.at = None;
        self.frame.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if self.cursor == Cursor::Hidden {
            return Ok(());
        }
        self.cursor = Cursor::Hidden;
        self.frame.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if self.cursor == Cursor::Shown {
            return Ok(());
        }
        self.cursor = Cursor::Shown;
        self.frame.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.at.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.at == Some(position) {
            return Ok(());
        }
        self.at = Some(position);
        self.frame.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.at = None;
        self.frame.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.at = None;
        self.frame.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        let size = tcgetwinsize(&self.out)?;
        // A terminal that does not know its size is the smallest that people expect.
        Ok(Size::new(
            if size.ws_col == 0 { 80 } else { size.ws_col },
            if size.ws_row == 0 { 24 } else { size.ws_row },
        ))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut frame = self.gathered.0.borrow_mut();
        if frame.is_empty() {
            return Ok(());
        }
        let mut whole = Vec::with_capacity(frame.len() + BEGIN_FRAME.len() + END_FRAME.len());
        whole.extend_from_slice(BEGIN_FRAME);
        whole.append(&mut frame);
        whole.extend_from_slice(END_FRAME);
        // One write, so that a slow connection does not show half a frame, even where the marks mean nothing to the
        // terminal.
        self.out.write_all(&whole)
    }
}

/// As OSC 52 wants it. A crate for these few lines would be one more to trust.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            if digit > chunk.len() {
                out.push('=');
            } else {
                let index = group >> (18 - 6 * digit) & 63;
                out.push(char::from(DIGITS[index as usize]));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
