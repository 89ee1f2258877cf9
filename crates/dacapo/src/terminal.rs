//! The terminal itself: single keys without Enter, and its modes put back whatever happens.

mod line;

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

pub use line::{Edited, Line};

/// A key that means something to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A letter or other character, in lower case.
    Char(char),
    Enter,
    /// Esc, Ctrl-C or Ctrl-D: away from here.
    Leave,
    /// Anything else: arrows, function keys, what was pasted.
    Other,
}

/// What hooks look like to those who pass them on.
type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// The user's terminal, read key by key as long as this lives. Also where standard input is something else.
pub struct Keys {
    terminal: Arc<File>,
    before: Termios,
    hook: Arc<Hook>,
}

impl Keys {
    /// Reads single keys from now on; none where nobody sits at a terminal, or it belongs to another job at the moment.
    pub fn open() -> Option<Self> {
        let terminal = Arc::new(OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?);
        // In the background a change of modes would stop us.
        if rustix::termios::tcgetpgrp(&terminal).ok()? != rustix::process::getpgrp() {
            return None;
        }
        let before = tcgetattr(&terminal).ok()?;
        let mut modes = before.clone();
        // Output stays as it is. Ctrl-C is a key like any other meanwhile.
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before the question is no answer to it.
        tcsetattr(&terminal, OptionalActions::Flush, &modes).ok()?;
        let hook: Arc<Hook> = Arc::from(panic::take_hook());
        let (at, was, earlier) = (Arc::clone(&terminal), before.clone(), Arc::clone(&hook));
        // A panic ends the process at once, without anything being dropped.
        panic::set_hook(Box::new(move |info| {
            let _ = tcsetattr(&at, OptionalActions::Now, &was);
            earlier(info);
        }));
        Some(Self { terminal, before, hook })
    }

    /// The next key; sleeps until there is one.
    pub fn read(&mut self) -> io::Result<Key> {
        Ok(meaning(&self.read_bytes()?))
    }

    /// What the terminal gives away at once; sleeps until there is something.
    fn read_bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = [0_u8; 64];
        loop {
            match (&*self.terminal).read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map(|count| bytes[..count].to_vec()),
            }
        }
    }

    /// Lets the user edit a line that begins as `text`; none: it was left as it was. `show` gets the part of it that fits into
    /// `columns`, and the column of the cursor in it.
    pub fn edit(
        &mut self,
        text: &str,
        columns: usize,
        mut show: impl FnMut(&str, usize),
    ) -> io::Result<Option<String>> {
        let mut line = Line::new(text);
        loop {
            let (shown, cursor) = line.shown(columns);
            show(&shown, cursor);
            match line.take(&self.read_bytes()?) {
                Edited::GoOn => {}
                Edited::Done => return Ok(Some(line.text())),
                Edited::Cancelled => return Ok(None),
            }
        }
    }

    /// Whether somebody sits at a terminal of ours and has typed lines that no question was asked for.
    pub fn typed_ahead() -> bool {
        File::open("/dev/tty").is_ok_and(|terminal| is_ready(&terminal))
    }
}

impl AsFd for Keys {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
        if !std::thread::panicking() {
            let earlier = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |info| earlier(info)));
        }
    }
}

/// Whether something can be read without waiting. A terminal has something when a whole line was typed, or, where keys are read
/// one by one, a key.
pub fn is_ready(of: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(of, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// What came from the terminal at once is one key, or more than one and then no answer.
fn meaning(bytes: &[u8]) -> Key {
    match bytes {
        [b'\r' | b'\n'] => Key::Enter,
        // Nothing at all: the terminal is gone.
        [] | [0x03 | 0x04 | 0x1b] => Key::Leave,
        _ => {
            let mut chars = std::str::from_utf8(bytes).unwrap_or_default().chars();
            match (chars.next(), chars.next()) {
                (Some(one), None) if !one.is_control() => Key::Char(one.to_ascii_lowercase()),
                _ => Key::Other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_what_only_looks_like_one() {
        for (bytes, key) in [
            (b"d".as_slice(), Key::Char('d')),
            (b"K", Key::Char('k')),
            ("é".as_bytes(), Key::Char('é')),
            (b"\r", Key::Enter),
            (b"\n", Key::Enter),
            (b"\x03", Key::Leave),
            (b"\x1b", Key::Leave),
            (b"", Key::Leave),
            (b"\x1b[A", Key::Other),
            (b"\x1bk", Key::Other),
            (b"kill", Key::Other),
            (b"\x1a", Key::Other),
            (b"\xff", Key::Other),
        ] {
            assert_eq!(meaning(bytes), key, "{bytes:?}");
        }
    }
}
