//! Gits that are started before they are needed.
//!
//! Most of what a small git command costs is starting it. While the working tree is being staged, one process at a time,
//! other cores are idle: there the git that will write the commit object and the one that will move the branch are started.
//! Both wait on their standard input, lock nothing, and do nothing if they are let go of.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::error::GitError;
use super::run::Running;
use super::{CommitDate, Oid, Repo};

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Will move the branch, for this reason.
    mover: Mutex<Option<(String, Running)>>,
    /// Will write a commit object.
    writer: Mutex<Option<Running>>,
    /// Author and committer as git itself names them; none where it knows no name.
    names: OnceLock<Option<[String; 2]>>,
}

impl Ahead {
    pub(super) fn take_mover(&self, reason: &str) -> Option<Running> {
        // Taken out whatever its reason: one that was started for another commit must not be used later either.
        let waiting = replace(&self.mover, None);
        waiting.filter(|(given, _)| given == reason).map(|(_, running)| running)
    }
}

fn replace<T>(place: &Mutex<Option<T>>, by: Option<T>) -> Option<T> {
    std::mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), by)
}

impl Repo {
    /// Starts what a commit that is landed for this reason will need.
    pub(super) fn start_ahead(&self, reason: &str) {
        let mover = self.call("move the branch").args([
            "-c",
            "core.fsync=none",
            "update-ref",
            "-m",
            reason,
            "--stdin",
        ]);
        let mover = mover.spawn_ahead().ok().map(|running| (reason.to_owned(), running));
        let writer = self.call("make the commit").args(["hash-object", "-t", "commit", "-w", "--stdin"]);
        let unused = replace(&self.ahead.mover, mover).map(|(_, running)| running);
        // Told nothing, they end without having done anything.
        for running in unused.into_iter().chain(replace(&self.ahead.writer, writer.spawn_ahead().ok())) {
            drop(running.finish_with(""));
        }
    }

    /// Writes a commit by the git that waits for it: the same object, to the byte, that `git commit-tree` would make.
    /// None where nothing waits or git knows no name to put into it.
    pub(super) fn write_ahead(
        &self,
        tree: &Oid,
        parent: &Oid,
        message: &str,
        date: CommitDate,
    ) -> Result<Option<Oid>, GitError> {
        let Some([author, committer]) = self.ahead.names.get_or_init(|| self.names()) else {
            return Ok(None);
        };
        let Some(waiting) = replace(&self.ahead.writer, None) else { return Ok(None) };
        let date = date.raw();
        let message = message.replace('\0', "\u{fffd}");
        // `git commit-tree` completes the last line. Without that the id would differ from the one that a resumed run
        // makes.
        let end = if message.ends_with('\n') { "" } else { "\n" };
        let out = waiting.finish_with(&format!(
            "tree {tree}\nparent {parent}\nauthor {author} {date}\ncommitter {committer} {date}\n\n{message}{end}"
        ))?;
        Oid::from_output(&out).map(Some).map_err(|_| GitError::unexpected("make the commit", &out))
    }

    /// `Ada <ada@example.org>`, twice; git's own words but for the date at their end.
    fn names(&self) -> Option<[String; 2]> {
        let name = |which| {
            let out = self.call("ask for a name").args(["var", which]).stdout().ok()?;
            let text = String::from_utf8(out).ok()?;
            let (name, _date) = text.trim_end().rsplit_once("> ")?;
            Some(format!("{name}>"))
        };
        Some([name("GIT_AUTHOR_IDENT")?, name("GIT_COMMITTER_IDENT")?])
    }
}
