//! Why git did not do what it was asked to, with what lets go of a lock that was in the way.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::process::Cut;

/// Why a git operation of the engine did not happen.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` on `PATH`.
    #[error("git was not found on PATH")]
    Missing,
    /// Another git holds the index, or left its lock behind.
    #[error("the index is locked by {}; {}", .lock.display(), cure(.lock))]
    IndexLocked { lock: PathBuf },
    /// Another git holds a ref or another file of the repository, or left its lock behind.
    #[error("the repository is locked by {}; {}", .lock.display(), cure(.lock))]
    RefLocked { lock: PathBuf },
    /// Git ran and failed.
    #[error("{operation}: `{command}` failed ({}): {stderr}", exit_text(*.exit))]
    Failed {
        /// What the engine wanted, in words.
        operation: &'static str,
        /// The command, without the overrides.
        command: String,
        /// The exit code; none if a signal ended it.
        exit: Option<i32>,
        /// What git said, cut at 4 KB.
        stderr: String,
    },
    /// Git was ended before it was done.
    #[error("{operation}: {}", cut_text(.command, .cut, .programs))]
    CutShort {
        /// What the engine wanted, in words.
        operation: &'static str,
        /// The command, without the overrides.
        command: String,
        /// Why.
        cut: Cut,
        /// What it had started and was waiting for, by their command lines: filters, hooks, helpers.
        programs: Vec<String>,
    },
    /// Where git reads a file there is something that has no end.
    #[error("{operation}: {} is a {kind}: git would wait for ever to read it; remove it: {}", .path.display(), remove_command(.path))]
    SpecialFile {
        /// What the engine wanted, in words.
        operation: &'static str,
        path: PathBuf,
        kind: SpecialKind,
    },
    /// Something in a task's own repository would lead git out of there.
    #[error("{operation}: {} leads out of the task's own repository; remove it", .path.display())]
    LeadsElsewhere {
        /// What the engine wanted, in words.
        operation: &'static str,
        path: PathBuf,
    },
    /// Git could not be started or talked to, or a file of the repository could not be read or written.
    #[error("{operation}: {path}: {source}", path = .path.display())]
    Io {
        /// What the engine wanted, in words.
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// Git does not know what was asked of it.
    #[error("{operation}: this needs git {needs} or newer")]
    TooOld {
        /// What the engine wanted, in words.
        operation: &'static str,
        /// The first version that knows.
        needs: &'static str,
    },
    /// Git succeeded but said something this program does not understand.
    #[error("{operation}: unexpected answer from git: {what}")]
    Unexpected {
        /// What the engine wanted, in words.
        operation: &'static str,
        /// The answer, shortened.
        what: String,
    },
}

/// A file that cannot simply be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpecialKind {
    Fifo,
    Socket,
    Device,
}

impl fmt::Display for SpecialKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "FIFO",
            Self::Socket => "socket",
            Self::Device => "device",
        })
    }
}

fn cut_text(command: &str, cut: &Cut, programs: &[String]) -> String {
    let named: Vec<String> = programs.iter().map(|program| format!("`{program}`")).collect();
    let waited = if named.is_empty() { String::new() } else { format!(", waiting for {}", named.join(", ")) };
    match cut {
        Cut::Stop => format!("`{command}` was ended because somebody stopped it{waited}"),
        Cut::Limit(limit) => format!("`{command}` did not end within {} s{waited}", limit.as_secs()),
        Cut::Stuck => format!("`{command}` was ended because it would never have ended{waited}"),
    }
}

fn exit_text(exit: Option<i32>) -> String {
    exit.map_or_else(|| "killed by a signal".to_owned(), |code| format!("exit {code}"))
}

/// What lets go of a lock that nobody holds any more.
fn cure(lock: &Path) -> String {
    format!("if no git and no editor is running there, a killed one left it: {}", remove_command(lock))
}

/// The command that removes a lock, for a shell.
fn remove_command(lock: &Path) -> String {
    let path = lock.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@".contains(c);
    if path.chars().all(plain) {
        return format!("rm {path}");
    }
    format!("rm '{}'", path.replace('\'', "'\\''"))
}

impl GitError {
    /// The command that removes the lock, or the special file, which was in the way.
    pub fn unlock_command(&self) -> Option<String> {
        match self {
            Self::IndexLocked { lock: file }
            | Self::RefLocked { lock: file }
            | Self::SpecialFile { path: file, .. } => Some(remove_command(file)),
            Self::Missing
            | Self::Failed { .. }
            | Self::CutShort { .. }
            | Self::LeadsElsewhere { .. }
            | Self::Io { .. }
            | Self::TooOld { .. }
            | Self::Unexpected { .. } => None,
        }
    }

    /// It was ended because the task is to end.
    pub(crate) fn is_by_stop(&self) -> bool {
        matches!(self, Self::CutShort { cut: Cut::Stop, .. })
    }

    pub(super) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { operation, path, source }
    }

    pub(super) fn unexpected(operation: &'static str, what: &[u8]) -> Self {
        let what: String = String::from_utf8_lossy(what).chars().take(200).collect();
        Self::Unexpected { operation, what: format!("{what:?}") }
    }

    /// What git said on stderr, if it was git that failed.
    pub(super) fn stderr(&self) -> &str {
        match self {
            Self::Failed { stderr, .. } => stderr,
            _ => "",
        }
    }
}

/// Git names the lock that it could not take: `Unable to create '…/x.lock': File exists.`
pub(super) fn held_lock(stderr: &[u8]) -> Option<PathBuf> {
    if let Some(config) = between(stderr, b"could not lock config file ", b": File exists") {
        let mut path = OsStr::from_bytes(config).to_owned();
        path.push(".lock");
        return Some(path.into());
    }
    let path = between(stderr, b"Unable to create '", b".lock': File exists")?;
    let mut path = OsStr::from_bytes(path).to_owned();
    path.push(".lock");
    Some(path.into())
}

fn between<'a>(text: &'a [u8], before: &[u8], after: &[u8]) -> Option<&'a [u8]> {
    let start = memchr::memmem::find(text, before)? + before.len();
    let end = start + memchr::memmem::find(&text[start..], after)?;
    Some(&text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_recognised_by_name() {
        let said = b"fatal: Unable to create '/a b/.git/index.lock': File exists.\n\nAnother git process";
        assert_eq!(held_lock(said), Some(PathBuf::from("/a b/.git/index.lock")));
        let said = b"fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/HEAD.lock': File exists.";
        assert_eq!(held_lock(said), Some(PathBuf::from("/r/.git/HEAD.lock")));
        let said = b"error: could not lock config file .git/config: File exists";
        assert_eq!(held_lock(said), Some(PathBuf::from(".git/config.lock")));
        assert_eq!(held_lock(b"fatal: bad object"), None);
    }

    #[test]
    fn r2_the_error_names_the_command_that_removes_a_lock() {
        let error = GitError::RefLocked { lock: PathBuf::from("/it's here/.git/HEAD.lock") };
        let command = r"rm '/it'\''s here/.git/HEAD.lock'";
        assert_eq!(error.unlock_command().as_deref(), Some(command));
        assert!(error.to_string().ends_with(command), "{error}");
        let plain = GitError::IndexLocked { lock: PathBuf::from("/r/.git/index.lock") };
        assert_eq!(plain.unlock_command().as_deref(), Some("rm /r/.git/index.lock"));
    }
}
