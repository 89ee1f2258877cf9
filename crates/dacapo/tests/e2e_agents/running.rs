//! The program at work, watched by its events.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Ran;

/// Longer takes no run of these tests, however busy the machine is; one that does will never end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The program with `--json`. A test that fails meanwhile leaves it to no one: it is ended with the test, and its guard
/// ends the agent.
pub(crate) struct Running {
    child: Option<Child>,
    lines: Receiver<String>,
    seen: Vec<String>,
    stderr: Option<JoinHandle<String>>,
    end: Instant,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let mut err = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = err.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self {
            child: Some(child),
            lines,
            seen: Vec::new(),
            stderr: Some(stderr),
            end: Instant::now() + PATIENCE,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    fn next(&mut self) -> Option<Value> {
        let left = self.end.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => {
                let event = serde_json::from_str(&line).unwrap();
                self.seen.push(line);
                Some(event)
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("no end within {PATIENCE:?}; it said\n{}", self.seen.join("\n"))
            }
        }
    }

    /// Waits for an event such that `wanted`.
    pub(crate) fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next() {
                Some(event) if wanted(&event) => return event,
                Some(_) => {}
                None => panic!("it ended without {what}; it said\n{}", self.seen.join("\n")),
            }
        }
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Ran {
        while self.next().is_some() {}
        let status = self.child.take().unwrap().wait().unwrap();
        Ran {
            code: status.code().unwrap_or(-1),
            stdout: self.seen.join("\n"),
            stderr: self.stderr.take().unwrap().join().unwrap_or_default(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
