//! What is said to an agent, on its way into the agent's standard input. An agent that does not read holds up this
//! thread, never the driver.

use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// So much may wait to be read: a prompt, and the answers to more questions than an agent has at once.
const MOST_WAITING: usize = 256;

/// Our end of an agent's standard input.
#[derive(Debug)]
pub(super) struct Voice {
    lines: Option<SyncSender<Vec<u8>>>,
}

/// The agent has asked far more than it has read answers to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotRead;

impl Voice {
    pub(super) fn new(pipe: io::PipeWriter) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(MOST_WAITING);
        std::thread::Builder::new().name("voice".into()).spawn(move || speak(pipe, &waiting))?;
        Ok(Self { lines: Some(lines) })
    }

    /// Says a line. To an agent that has closed its ears it is said in vain: its end, or its silence, is noticed
    /// elsewhere.
    pub(super) fn say(&self, line: Vec<u8>) -> Result<(), NotRead> {
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
    fn what_is_said_arrives_whole_and_ends_with_the_voice() {
        let (mut hears, pipe) = io::pipe().unwrap();
        let mut voice = Voice::new(pipe).unwrap();
        let long = vec![b'x'; 1 << 20];
        voice.say(long.clone()).unwrap();
        voice.say(b"end\n".to_vec()).unwrap();
        voice.close();
        let mut heard = Vec::new();
        hears.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, [long.as_slice(), b"end\n"].concat());
    }

    #[test]
    fn who_does_not_listen_is_noticed_and_holds_nobody_up() {
        let (hears, pipe) = io::pipe().unwrap();
        let voice = Voice::new(pipe).unwrap();
        let line = vec![b'x'; 1 << 20];
        let said = (0..10_000).take_while(|_| voice.say(line.clone()).is_ok()).count();
        assert!(said <= MOST_WAITING + 1, "{said} lines wait");
        drop(hears);
    }
}
