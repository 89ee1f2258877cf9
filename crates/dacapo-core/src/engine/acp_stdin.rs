//! The standard input of an agent that speaks ACP. One that does not read holds up a thread of its own, never the driver.

use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// How much may wait to be read: a prompt, and the answers to more questions than an agent has at once.
const MOST_WAITING: usize = 256;

/// Our end of an agent's standard input.
#[derive(Debug)]
pub(super) struct AcpStdin {
    lines: Option<SyncSender<Vec<u8>>>,
}

/// The agent has asked far more than it has read answers to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotRead;

impl AcpStdin {
    pub(super) fn new(pipe: io::PipeWriter) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(MOST_WAITING);
        std::thread::Builder::new().name("acp-stdin".into()).spawn(move || speak(pipe, &waiting))?;
        Ok(Self { lines: Some(lines) })
    }

    /// To an agent that has closed it this is lost: its end, or its silence, is noticed elsewhere.
    pub(super) fn write_line(&self, line: Vec<u8>) -> Result<(), NotRead> {
        let Some(lines) = &self.lines else { return Ok(()) };
        match lines.try_send(line) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(NotRead),
        }
    }

    /// The end of what it will hear, once all that was said has been read: agents go by that.
    pub(super) fn close(&mut self) {
        self.lines = None;
    }
}

/// Ends with the last line, or with the agent.
fn speak(mut pipe: io::PipeWriter, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if pipe.write_all(&line).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn what_is_said_arrives_whole_and_ends_when_it_is_closed() {
        let (mut hears, pipe) = io::pipe().unwrap();
        let mut stdin = AcpStdin::new(pipe).unwrap();
        let long = vec![b'x'; 1 << 20];
        stdin.write_line(long.clone()).unwrap();
        stdin.write_line(b"end\n".to_vec()).unwrap();
        stdin.close();
        let mut heard = Vec::new();
        hears.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, [long.as_slice(), b"end\n"].concat());
    }

    #[test]
    fn who_does_not_listen_is_noticed_and_holds_nobody_up() {
        let (hears, pipe) = io::pipe().unwrap();
        let stdin = AcpStdin::new(pipe).unwrap();
        let line = vec![b'x'; 1 << 20];
        let said = (0..10_000).take_while(|_| stdin.write_line(line.clone()).is_ok()).count();
        assert!(said <= MOST_WAITING + 1, "{said} lines wait");
        drop(hears);
    }
}
