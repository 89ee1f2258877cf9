//! The program in a terminal of its own, as a person has it: what is typed goes in, what is shown is read from outside.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::process;
use crate::Outcome;

/// Longer than anything that is measured takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

const ROWS: NonZeroU16 = NonZeroU16::new(50).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(160).unwrap();

/// A running program, and what its screen shows.
pub(super) struct Session {
    child: Child,
    master: File,
    pieces: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Bytes that it has written.
    pub(super) written: u64,
}

impl Session {
    /// Starts a command in a terminal of 160 columns and 50 rows.
    pub(super) fn start(mut command: Command) -> Outcome<Self> {
        let unable = |what: &'static str| move |e: rustix::io::Errno| format!("no terminal: {what}: {e}");
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .map_err(unable("openpt"))?;
        grantpt(&master).map_err(unable("grantpt"))?;
        unlockpt(&master).map_err(unable("unlockpt"))?;
        let name = ptsname(&master, Vec::new()).map_err(unable("ptsname"))?;
        let size = Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).map_err(unable("its size"))?;
        let slave = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
            .map(File::from)
            .map_err(unable("open"))?;
        let other = || slave.try_clone().map_err(|e| format!("no terminal: {e}"));
        command.env("TERM", "xterm-256color").stdin(other()?).stdout(other()?).stderr(other()?);
        let child = command.spawn().map_err(|e| format!("cannot start the program: {e}"))?;
        drop((command, slave));
        let master = File::from(master);
        let mut reader = master.try_clone().map_err(|e| format!("no terminal: {e}"))?;
        let (sender, pieces) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = vec![0; 64 << 10];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, master, pieces, screen: vt100::Parser::new(ROWS, COLUMNS, 0), written: 0 })
    }

    pub(super) fn press(&mut self, keys: &str) -> Outcome {
        self.master.write_all(keys.as_bytes()).map_err(|e| format!("the terminal takes no keys: {e}"))
    }

    /// Reads until the screen shows it; how long that took.
    pub(super) fn until(&mut self, what: &str, shows: impl Fn(&str) -> bool) -> Outcome<Duration> {
        let begun = Instant::now();
        loop {
            let shown = self.screen.screen().contents();
            if shows(&shown) {
                return Ok(begun.elapsed());
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.take(&piece),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("{what} was not shown within {PATIENCE:?}; this was:\n{shown}"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("the program ended before it showed {what}:\n{shown}"));
                }
            }
        }
    }

    /// What the screen shows, as far as it was read.
    pub(super) fn shown(&self) -> String {
        self.screen.screen().contents()
    }

    /// Reads for so long, whatever comes.
    pub(super) fn watch(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(piece) = self.pieces.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.take(&piece);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.written += piece.len() as u64;
        self.screen.process(piece);
    }

    /// Seconds of processor time that it has used, its children aside.
    pub(super) fn cpu(&self) -> Outcome<f64> {
        process::cpu_seconds(self.child.id()).ok_or_else(|| "the program is gone".to_owned())
    }

    /// Megabytes of its own.
    pub(super) fn memory(&self) -> Outcome<f64> {
        process::pss(self.child.id()).ok_or_else(|| "the program is gone".to_owned())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What it shows no more is of no interest; tasks go on without it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
