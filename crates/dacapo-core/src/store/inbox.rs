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
use crate::random;

mod watch;

pub use watch::InboxWatch;

/// No command is longer; what is was not written by us.
const LONGEST: u64 = 4 << 20;

/// How many are taken at once; when these are gone, the next.
const MOST_AT_ONCE: usize = 256;

/// How many names are looked at.
const MOST_ENTRIES: usize = 50_000;

const EXTENSION: &str = ".json";

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
    pub(crate) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// Puts a command in; gives back its id.
    pub fn put(&self, by: &str, command: Command) -> io::Result<String> {
        // Names sort by time, so commands are taken in the order in which they were given.
        let id = format!("{:020}-{}", Timestamp::now().as_microsecond().max(0), random::hex(4));
        let received = Received { id: id.clone(), by: by.to_owned(), command };
        let letter = Letter { v: COMMAND_FORMAT, received };
        files::make_dir(&self.dir)?;
        // The driver may look at any moment. It passes over names that begin with a dot, and the rename makes the
        // whole file appear at once.
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.dir)?;
        file.write_all(&serde_json::to_vec(&letter)?)?;
        // Before the rename: after a power cut a name could otherwise lead to an empty file, which would be refused
        // as no command of ours.
        file.as_file().sync_data()?;
        file.persist_noclobber(self.dir.join(format!("{id}.json"))).map_err(|error| error.error)?;
        Ok(id)
    }

    /// What lies there, the oldest first. What is not a command of ours is left alone.
    pub fn look(&self) -> io::Result<Vec<Received>> {
        let (names, _) = self.names()?;
        Ok(names.iter().filter_map(|name| read(&self.dir.join(name)).ok()).collect())
    }

    /// The same for whoever obeys: what has the name of a command and is none is put aside, so that it is read once, and
    /// the number of such files and of all others that are not ours comes with it. However many there are, no more than
    /// a few hundred are opened.
    pub(crate) fn take(&self) -> io::Result<Taken> {
        let (names, strangers) = self.names()?;
        let mut taken = Taken { orders: Vec::new(), strangers };
        for name in names {
            let path = self.dir.join(&name);
            match read(&path) {
                Ok(received) => taken.orders.push(received),
                Err(Unread::Gone) => {}
                Err(Unread::NoCommand) => {
                    taken.strangers += 1;
                    let aside = name.strip_suffix(EXTENSION).unwrap_or(&name);
                    let _ = fs::rename(&path, self.dir.join(format!("{aside}.refused")));
                }
            }
        }
        Ok(taken)
    }

    /// Names that commands have, the oldest first and only so many, and how many others there are. Names alone cost next to
    /// nothing: an agent can put thousands of files here.
    fn names(&self) -> io::Result<(Vec<String>, usize)> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
            Err(error) => return Err(error),
        };
        let (mut names, mut strangers) = (Vec::new(), 0);
        for entry in entries.flatten().take(MOST_ENTRIES) {
            match entry.file_name().into_string() {
                Ok(name) if name.starts_with('.') || name.ends_with(".refused") => {}
                Ok(name) if is_command_name(&name) => names.push(name),
                Ok(_) | Err(_) => strangers += 1,
            }
        }
        names.sort_unstable();
        names.truncate(MOST_AT_ONCE);
        Ok((names, strangers))
    }

    /// Calls `ring` after every change.
    pub(crate) fn watch(&self, ring: impl FnMut() + Send + 'static) -> io::Result<InboxWatch> {
        files::make_dir(&self.dir)?;
        InboxWatch::over(&self.dir, ring)
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
                Command::Tell { .. }
                | Command::Untell
                | Command::Set { .. }
                | Command::Refreeze { .. }
                | Command::Remember { .. } => {}
            }
        }
        Ok(())
    }

    /// Takes a command out that is in the journal now.
    pub(crate) fn done(&self, received: &Received) -> io::Result<()> {
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

/// What was taken out of an inbox.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// Commands, the oldest first.
    pub orders: Vec<Received>,
    /// Files that are no commands.
    pub strangers: usize,
}

/// `00001763301600000000-0a1b2c3d.json`: a time in microseconds, so that names sort by it, and four random bytes.
fn is_command_name(name: &str) -> bool {
    let parts = name.strip_suffix(EXTENSION).and_then(|id| id.split_once('-'));
    parts.is_some_and(|(time, random)| {
        time.len() == 20
            && time.bytes().all(|byte| byte.is_ascii_digit())
            && random.len() == 8
            && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Why a file gave no command.
enum Unread {
    /// It is not there any more.
    Gone,
    /// Its content is no command.
    NoCommand,
}

fn read(path: &Path) -> Result<Received, Unread> {
    let bytes = files::read(path, LONGEST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unread::Gone,
        _ => Unread::NoCommand,
    })?;
    let id = path.file_stem().and_then(|stem| stem.to_str());
    match serde_json::from_slice(&bytes) {
        // The id in the file must be its name: it is by the id that a command in the journal is not obeyed twice.
        Ok(Letter { v: COMMAND_FORMAT, received }) if Some(received.id.as_str()) == id => Ok(received),
        Ok(_) | Err(_) => Err(Unread::NoCommand),
    }
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
            inbox.put("dacapo tell", Command::Tell { text: text.into(), standing: true }).unwrap();
        }
        let orders = inbox.look().unwrap();
        let told: Vec<&str> = orders
            .iter()
            .map(|order| match &order.command {
                Command::Tell { text, .. } => text.as_str(),
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

    #[test]
    fn r0_thousands_of_strange_files_are_counted_and_read_at_most_once() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::at(dir.path().to_owned());
        for number in 0..3000 {
            fs::write(dir.path().join(format!("junk-{number}")), "x").unwrap();
        }
        // With the name of a command, and in its place: nothing, a huge file, a FIFO, a link.
        let named = |number: u32| dir.path().join(format!("{number:020}-0a1b2c3d.json"));
        fs::write(named(1), "{").unwrap();
        fs::File::create(named(2)).unwrap().set_len(1 << 40).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            named(3),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        std::os::unix::fs::symlink("/dev/zero", named(4)).unwrap();
        let id = inbox.put("dacapo kill", Command::Kill).unwrap();
        let taken = inbox.take().unwrap();
        assert_eq!(taken.orders.iter().map(|order| order.id.as_str()).collect::<Vec<_>>(), [id]);
        assert_eq!(taken.strangers, 3004);
        for number in 1..=4 {
            assert!(!named(number).exists() && named(number).symlink_metadata().is_err(), "put aside");
        }
        assert_eq!(inbox.take().unwrap().strangers, 3000, "read once");
        // More commands than are taken at once come one lot after the other, in order.
        inbox.done(&taken.orders[0]).unwrap();
        let ids: Vec<String> =
            (0..MOST_AT_ONCE + 5).map(|_| inbox.put("x", Command::Kill).unwrap()).collect();
        let first = inbox.take().unwrap().orders;
        assert_eq!(first.len(), MOST_AT_ONCE);
        first.iter().for_each(|order| inbox.done(order).unwrap());
        let second = inbox.take().unwrap().orders;
        assert_eq!(first.iter().chain(&second).map(|order| &order.id).collect::<Vec<_>>(), {
            let mut sorted: Vec<&String> = ids.iter().collect();
            sorted.sort();
            sorted
        });
    }
}
