//! `dacapo logs`: the journal as people read it, the raw output of a turn, and both as they grow.

use std::io::{self, Write as _};
use std::sync::mpsc;

use dacapo_core::event::Envelope;
use dacapo_core::store::{Lock, Reader, TaskDir};

use super::task;
use crate::args::Logs;
use crate::error::Failure;
use crate::output::log::{LogLines, clock};

pub(super) fn run(args: &Logs) -> Result<u8, Failure> {
    let (_, dir) = task(args.name.as_deref())?;
    if let Some(turn) = args.turn {
        return raw(&dir, turn);
    }
    let failed = |error: dacapo_core::store::JournalError| {
        Failure::failed(error.to_string()).kept("everything as it is; nothing was written")
    };
    let mut reader = Reader::open(&dir.journal_path()).map_err(failed)?;
    let mut lines = LogLines::default();
    // Told of growth before the first look, so that none is missed.
    let changes = args.follow.then(|| changes(&dir));
    loop {
        while let Some(line) = reader.next_line().map_err(failed)? {
            if show(&line, &mut lines, args.json).is_err() {
                return Ok(0);
            }
        }
        match changes.as_ref().map(mpsc::Receiver::recv) {
            Some(Ok(Change::Grown)) => {}
            // What was written last before the end is read once more above.
            Some(Ok(Change::Over)) => {
                while let Some(line) = reader.next_line().map_err(failed)? {
                    if show(&line, &mut lines, args.json).is_err() {
                        break;
                    }
                }
                return Ok(0);
            }
            Some(Err(_)) | None => return Ok(0),
        }
    }
}

fn show(line: &Envelope, lines: &mut LogLines, json: bool) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if json {
        return writeln!(out, "{}", serde_json::to_string(line)?);
    }
    for (_, text) in lines.lines(line) {
        writeln!(out, "[{}] {text}", clock(line.at))?;
    }
    out.flush()
}

/// Byte for byte: no text layer in between.
fn raw(dir: &TaskDir, turn: u32) -> Result<u8, Failure> {
    let path = dir.turn_path(turn, "raw");
    let mut file = std::fs::File::open(&path).map_err(|_| {
        Failure::usage(format!("task '{}' has no turn {turn}", dir.name()))
            .hint("turns count from 0: --turn 0")
    })?;
    // A reader that has gone is no failure.
    let _ = io::copy(&mut file, &mut io::stdout().lock());
    Ok(0)
}

enum Change {
    Grown,
    Over,
}

/// Tells when the journal grows and when nobody drives the task any more.
fn changes(dir: &TaskDir) -> mpsc::Receiver<Change> {
    let (send, receive) = mpsc::channel();
    let lock = dir.lock_path();
    let over = send.clone();
    std::thread::spawn(move || {
        let _ = Lock::wait_until_free(&lock);
        let _ = over.send(Change::Over);
    });
    let journal = dir.journal_path();
    std::thread::spawn(move || {
        let _ = watch(&journal, || send.send(Change::Grown).is_ok());
    });
    receive
}

#[cfg(target_os = "linux")]
fn watch(path: &std::path::Path, mut grown: impl FnMut() -> bool) -> io::Result<()> {
    use rustix::fs::inotify;
    let events = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&events, path, inotify::WatchFlags::MODIFY)?;
    let mut buffer = [0_u8; 4096];
    // Once at the start: it may have grown before the watch was there.
    while grown() {
        if rustix::io::read(&events, &mut buffer)? == 0 {
            break;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn watch(_: &std::path::Path, mut grown: impl FnMut() -> bool) -> io::Result<()> {
    // No file event that std or rustix offers here: a look now and then.
    while grown() {
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    Ok(())
}
