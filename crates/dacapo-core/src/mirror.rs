//! Files below `.dacapo/` of the main checkout that say where a task stands (M8), for people and programs that read files.
//!
//! A machine says what they are to hold ([`Document`]); here they are written, whole or not at all, and out of git's sight.
//! The journal stays the only truth: nothing that is read from them decides anything about a task (where there is none any
//! more, its kind believes that it was begun, and how it ended), and one that cannot be written costs a notice. Whoever works in the checkout may have made anything of the directory: no link is followed.

use crate::event::MirrorProblem;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde_json::{Map, Value};

use crate::env::Env;
use crate::git::Repo;
use crate::spec::TaskSpec;

/// Where all of them are, from the top of the checkout.
const DIRECTORY: &str = ".dacapo";

/// A file in the making: it lies in [`DIRECTORY`] itself.
const IN_THE_MAKING: &str = "/.dacapo/.mirror-*";

/// A document that others write too is read up to here.
const MOST_BYTES: u64 = 64 << 10;

/// What a file is to hold. The time is added when it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Directories below `.dacapo/` that it is in, the outermost first.
    pub within: &'static [&'static str],
    pub name: String,
    pub content: Map<String, Value>,
    pub owner: Owner,
}

/// Who may overwrite a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The task owns it alone.
    Task,
    /// The one's that this key names at the time.
    Named {
        by: &'static str,
        /// Whether the task takes it over from another one.
        takes_over: bool,
    },
}

/// The mirrors of a task, and what was last written there.
#[derive(Debug)]
pub struct Mirrors {
    task: String,
    env: Env,
    written: Vec<Document>,
    unseen: bool,
}

impl Mirrors {
    /// Of which nothing was written yet.
    pub(crate) fn of(task: &str, env: &Env) -> Self {
        Self { task: task.to_owned(), env: env.clone(), written: Vec::new(), unseen: false }
    }

    /// Writes what differs from what was last written. Gives back what went wrong.
    pub(crate) fn write(&mut self, top: &Path, documents: Vec<Document>) -> Vec<MirrorProblem> {
        if documents.iter().all(|document| self.written.contains(document)) {
            return Vec::new();
        }
        let repo = match Repo::discover(top, &self.env) {
            Ok(repo) => repo,
            Err(error) => return vec![not_up_to_date(DIRECTORY, &error)],
        };
        let mut problems = Vec::new();
        let checkout = repo.main_checkout();
        if !self.unseen {
            let unseen: Vec<String> = documents.iter().map(Document::unseen).collect();
            let unseen: Vec<&str> = unseen.iter().map(String::as_str).chain([IN_THE_MAKING]).collect();
            match repo.exclude(&unseen) {
                Ok(()) => self.unseen = true,
                Err(error) => {
                    let (path, error) = (DIRECTORY.to_owned(), error.to_string());
                    problems.push(MirrorProblem::Seen { path, error });
                }
            }
        }
        for document in documents {
            if self.written.contains(&document) {
                continue;
            }
            let path = document.path();
            // A file of this name that somebody has committed is the project's, not a mirror to be overwritten.
            let tracked = repo
                .beside(&checkout)
                .is_ok_and(|main| main.is_tracked(Path::new(&path)).is_ok_and(|tracked| tracked));
            let done = if tracked {
                Err(io::Error::other("git has a file of this name"))
            } else {
                write(&checkout, &self.task, &document)
            };
            match done {
                Ok(()) => {
                    self.written.retain(|known| known.path() != path);
                    self.written.push(document);
                }
                Err(error) => problems.push(not_up_to_date(&path, &error)),
            }
        }
        problems
    }
}

impl Document {
    /// From the top of the checkout.
    fn path(&self) -> String {
        let parts: Vec<&str> =
            [DIRECTORY].into_iter().chain(self.within.iter().copied()).chain([self.name.as_str()]).collect();
        parts.join("/")
    }

    /// What git is not to see of it: of files of which each task has one, all of them.
    fn unseen(&self) -> String {
        let path = self.path();
        match (self.owner, path.rsplit_once('/')) {
            (Owner::Task, Some((directory, _))) => format!("/{directory}/*.json"),
            (Owner::Task | Owner::Named { .. }, _) => format!("/{path}"),
        }
    }
}

/// Brings the files up to date for a task that nobody drives. What goes wrong is for the log: nothing depends on it.
pub fn publish(spec: &TaskSpec, documents: Vec<Document>, env: &Env) {
    for problem in Mirrors::of(spec.name.as_str(), env).write(&spec.top, documents) {
        tracing::warn!("{problem}");
    }
}

/// Whether a file says all that it is to say, or is another task's by now.
pub(crate) fn says_so(checkout: &Path, task: &str, document: &Document) -> bool {
    let read = || -> Option<Value> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let mut place = OwnedFd::from(File::open(checkout).ok()?);
        for name in [DIRECTORY].iter().chain(document.within) {
            place = rustix::fs::openat(&place, *name, flags, Mode::empty()).ok()?;
        }
        content(&place, &document.name)
    };
    let Some(there) = read() else { return false };
    if let Owner::Named { by, takes_over: false } = document.owner
        && there.get(by).and_then(Value::as_str).is_some_and(|other| other != task)
    {
        return true;
    }
    document.content.iter().all(|(key, value)| there.get(key) == Some(value))
}

fn not_up_to_date(path: &str, error: &dyn std::fmt::Display) -> MirrorProblem {
    MirrorProblem::NotUpToDate { path: path.to_owned(), error: error.to_string() }
}

fn write(checkout: &Path, task: &str, document: &Document) -> io::Result<()> {
    let top = File::open(checkout)?;
    let own = enter(&OwnedFd::from(top), DIRECTORY)?;
    let mut place = own.try_clone()?;
    for name in document.within {
        place = enter(&place, name)?;
    }
    if let Owner::Named { by, takes_over: false } = document.owner
        && present(&place, &document.name, by).is_some_and(|other| other != task)
    {
        return Ok(());
    }
    let mut content = document.content.clone();
    content.insert("updated_at".into(), Timestamp::now().to_string().into());
    let mut text = serde_json::to_vec_pretty(&content)?;
    text.push(b'\n');
    // One name for each: what a crash leaves is in the way of nobody, and gone with the next.
    let fresh = CString::new(format!(".mirror-{task}-{}", document.name))?;
    match rustix::fs::unlinkat(&own, &fresh, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&own, &fresh, flags, Mode::from_raw_mode(0o644))?);
    let written = file
        .write_all(&text)
        .and_then(|()| file.sync_data())
        // By open directories, each entered without following a link: the checkout is where agents work, and a link
        // in it could lead the write anywhere.
        .and_then(|()| Ok(rustix::fs::renameat(&own, &fresh, &place, document.name.as_str())?));
    if written.is_err() {
        let _ = rustix::fs::unlinkat(&own, &fresh, AtFlags::empty());
    }
    written
}

/// The directory, made where it is not there.
fn enter(within: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(within, name, flags, Mode::empty());
    match open() {
        Err(Errno::NOENT) => match rustix::fs::mkdirat(within, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => Ok(open()?),
            Err(errno) => Err(errno.into()),
        },
        Err(Errno::LOOP | Errno::NOTDIR) => Err(io::Error::other(format!("{name} is no directory"))),
        opened => Ok(opened?),
    }
}

/// Who is named in the document that is there. One that does not read is nobody's.
fn present(place: &OwnedFd, name: &str, key: &str) -> Option<String> {
    content(place, name)?.get(key)?.as_str().map(str::to_owned)
}

fn content(place: &OwnedFd, name: &str) -> Option<Value> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(place, name, flags, Mode::empty()).ok()?);
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
