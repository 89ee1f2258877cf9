//! Commands to a task that another process drives (rule 3): each is a small file in the task's inbox, complete under its
//! name or not there at all. The driver takes them in order, writes down what it took, and only then removes the file:
//! a command that is in the journal already is not taken twice.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::files;
use crate::event::{Command, Received};
use crate::spec::random_hex;

mod watch;

pub use watch::Watch;

/// No command is longer; what is was not written by us.
const LONGEST: u64 = 4 << 20;

/// The version of a command's file.
const COMMAND_FORMAT: u32 = 1;

/// A command as it lies in the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Letter {
    v: u32,
    #[serde(flatten)]
    received: Received,
}

/// The inbox of a task.
#[derive(Debug, Clone)]
pub struct Inbox {
    dir: PathBuf,
}

impl Inbox {
    /// The inbox at `dir`; it is made when something is first put in or waited for.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Puts a command in; gives back its id.
    pub fn put(&self, by: &str, command: Command) -> io::Result<String> {
        // Names sort by time, so commands are taken in the order in which they were given.
        let id = format!("{:020}-{}", Timestamp::now().as_microsecond().max(0), random_hex(4));
        let received = Received { id: id.clone(), by: by.to_owned(), command };
        let letter = Letter { v: COMMAND_FORMAT, received };
        files::make_dir(&self.dir)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.dir)?;
        file.write_all(&serde_json::to_vec(&letter)?)?;
        file.as_file().sync_data()?;
        file.persist_noclobber(self.dir.join(format!("{id}.json"))).map_err(|error| error.error)?;
        Ok(id)
    }

    /// What lies there, the oldest first. What is not a command of ours is left alone.
    pub fn look(&self) -> io::Result<Vec<Received>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all: Vec<Received> = entries.flatten().filter_map(|entry| read(&entry.path())).collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// Calls `ring` after every change.
    pub fn watch(&self, ring: impl FnMut() + Send + 'static) -> io::Result<Watch> {
        files::make_dir(&self.dir)?;
        Watch::over(&self.dir, ring)
    }

    /// Takes out what was meant for an earlier run: whoever starts the task again does not want it to stop.
    pub fn forget_stops(&self) -> io::Result<()> {
        for received in self.look()? {
            match received.command {
                Command::Kill
                | Command::Abandon
                | Command::Pause { .. }
                | Command::Approve { .. }
                | Command::Reject { .. } => {
                    self.done(&received)?;
                }
                Command::Tell { .. } | Command::Set { .. } | Command::Refreeze { .. } => {}
            }
        }
        Ok(())
    }

    /// Takes a command out that is in the journal now.
    pub fn done(&self, received: &Received) -> io::Result<()> {
        self.forget(&received.id)
    }

    /// Takes a command back.
    pub fn forget(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(self.dir.join(format!("{id}.json"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn read(path: &Path) -> Option<Received> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    path.symlink_metadata().ok().filter(|meta| meta.is_file() && meta.len() <= LONGEST)?;
    let Letter { v, received } = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (v == COMMAND_FORMAT && received.id == name).then_some(received)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_out_in_the_order_they_went_in() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::at(dir.path().join("inbox"));
        assert_eq!(inbox.look().unwrap(), []);
        let texts = ["first", "second\n繼續", "third"];
        for text in texts {
            inbox.put("dacapo tell", Command::Tell { text: text.into() }).unwrap();
        }
        let orders = inbox.look().unwrap();
        let told: Vec<&str> = orders
            .iter()
            .map(|order| match &order.command {
                Command::Tell { text } => text.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, texts);
        inbox.done(&orders[0]).unwrap();
        inbox.done(&orders[0]).unwrap();
        assert_eq!(inbox.look().unwrap(), orders[1..]);
    }

    #[test]
    fn what_is_no_command_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::at(dir.path().to_owned());
        let id = inbox.put("dacapo kill", Command::Kill).unwrap();
        for (name, text) in [
            ("x.json", "{"),
            ("y.json", r#"{"v":1,"id":"z","by":"","command":"kill"}"#),
            ("newer.json", r#"{"v":2,"id":"newer","by":"","command":"kill"}"#),
            ("strange.json", r#"{"v":1,"id":"strange","by":"","command":"fly"}"#),
            (".new-abc", ""),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.json")).unwrap();
        let orders = inbox.look().unwrap();
        assert_eq!(orders.iter().map(|order| order.id.as_str()).collect::<Vec<_>>(), [id]);
    }
}
