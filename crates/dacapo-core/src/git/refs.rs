//! Reading and moving refs. Reading is done from the files (10 µs against 1 ms for a git call), and by git
//! wherever the files are not of the plain kind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::regular;
use super::run::Call;
use super::{Oid, Repo, places};

/// Where HEAD is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The full name of the branch (`refs/heads/main`); none when HEAD is detached.
    pub branch: Option<String>,
    /// The commit; none on a branch without commits.
    pub commit: Option<Oid>,
}

/// A commit kept under a ref of Dacapo's own before something was overwritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescued {
    /// The full name of the ref.
    pub name: String,
    pub commit: Oid,
}

/// What a ref's file holds.
enum Stored {
    Id(Oid),
    Symbolic(String),
    Absent,
    /// Something for git to make sense of.
    Odd,
}

const READ: &str = "read HEAD";

/// Where the ref is that makes another one impossible.
#[derive(Debug)]
enum InTheWay {
    /// It is called as a directory of the other one.
    Above(String),
    /// The other one is called as one of its directories.
    Below,
}

impl Repo {
    /// Where HEAD is now.
    pub fn head(&self) -> Result<Head, GitError> {
        match self.stored(&self.git_dir().join("HEAD"))? {
            Stored::Id(oid) => Ok(Head { branch: None, commit: Some(oid) }),
            Stored::Symbolic(name)
                // With reftable the file HEAD is a stub that always says `refs/heads/.invalid`; only git knows the
                // branch.
                if name.starts_with("refs/") && !self.reftable && !name.ends_with("/.invalid") =>
            {
                let commit = self.read_ref(&name)?;
                Ok(Head { branch: Some(name), commit })
            }
            _ => self.head_by_git(),
        }
    }

    fn head_by_git(&self) -> Result<Head, GitError> {
        let answer = self.call(READ).args(["symbolic-ref", "-q", "HEAD"]).output()?;
        let branch = match answer.exit {
            Some(0) => Some(String::from_utf8_lossy(&answer.stdout).trim_end().to_owned()),
            Some(1) => None,
            _ => return Err(answer.error()),
        };
        let commit = self.ref_by_git("HEAD")?;
        Ok(Head { branch, commit })
    }

    /// The commit a ref names; none if there is no such ref.
    pub fn read_ref(&self, name: &str) -> Result<Option<Oid>, GitError> {
        if self.reftable {
            return self.ref_by_git(name);
        }
        match self.stored(&self.common_dir().join(name))? {
            Stored::Id(oid) => Ok(Some(oid)),
            // A loose file wins over the packed one. The file is looked for first: `git pack-refs` writes the pack
            // before it removes the file, so a ref is never missing from both.
            Stored::Absent => self.packed(name),
            Stored::Symbolic(_) => self.ref_by_git(name),
            Stored::Odd => {
                let path = self.common_dir().join(name);
                match places::special(&path) {
                    // Git would wait for somebody to write to it.
                    Some(kind) => Err(GitError::SpecialFile { operation: READ, path, kind }),
                    None => self.ref_by_git(name),
                }
            }
        }
    }

    fn ref_by_git(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let answer = self.call(READ).args(["rev-parse", "-q", "--verify", name]).output()?;
        match answer.exit {
            Some(0) => Oid::from_output(&answer.stdout)
                .map(Some)
                .map_err(|_| GitError::unexpected(READ, &answer.stdout)),
            Some(1) => Ok(None),
            _ => Err(answer.error()),
        }
    }

    fn stored(&self, file: &Path) -> Result<Stored, GitError> {
        match fs::symlink_metadata(file) {
            Ok(found) if found.is_file() => {}
            // A directory is a name like `refs/heads/a` beside a branch `a/b`: there may be nothing or a packed ref.
            Ok(found) if found.is_dir() => return Ok(Stored::Absent),
            Ok(_) => return Ok(Stored::Odd),
            Err(error) if is_absent(&error) => return Ok(Stored::Absent),
            Err(error) => return Err(GitError::io(READ, file)(error)),
        }
        let bytes = match regular::read(file) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Ok(Stored::Absent),
            Err(error) => return Err(GitError::io(READ, file)(error)),
        };
        let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(Stored::Odd) };
        Ok(match text.strip_prefix("ref:") {
            Some(name) => Stored::Symbolic(name.trim().to_owned()),
            None => Oid::parse(text.trim_end()).map_or(Stored::Odd, Stored::Id),
        })
    }

    fn packed(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let file = self.common_dir().join("packed-refs");
        let bytes = match regular::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(GitError::io(READ, &file)(error)),
        };
        let wanted = format!(" {name}\n");
        for at in memchr::memmem::find_iter(&bytes, wanted.as_bytes()) {
            let line = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
            if let Ok(oid) = Oid::from_output(&bytes[line..at]) {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// The commit that a person means by `name`, and the branch (full name), where it names one: of a branch of a remote
    /// the name that it has there. None: it names no commit.
    pub fn meant_by(&self, name: &str) -> Result<Option<(Oid, Option<String>)>, GitError> {
        if name.is_empty() || name.starts_with('-') {
            return Ok(None);
        }
        let Some(commit) = self.ref_by_git(&format!("{name}^{{commit}}"))? else { return Ok(None) };
        let call = self.call(READ).args(["rev-parse", "--symbolic-full-name", name]);
        let full = String::from_utf8_lossy(&call.stdout()?).trim().to_owned();
        let branch = match full.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/')) {
            Some((_, there)) => Some(format!("refs/heads/{there}")),
            None => Some(full).filter(|full| full.starts_with("refs/heads/")),
        };
        Ok(Some((commit, branch)))
    }

    /// What a person could mean: branches, branches of remotes, tags.
    pub fn names_of_commits(&self) -> Result<Vec<String>, GitError> {
        let call = self.call(READ).args(["for-each-ref", "--format=%(refname:short)"]);
        let out = call.args(["refs/heads", "refs/remotes", "refs/tags"]).stdout()?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }

    /// Moves a ref from `old` (none: it must not exist) to `new`; refused if it is not at `old`.
    pub(super) fn move_ref(
        &self,
        name: &str,
        new: &Oid,
        old: Option<&Oid>,
        reason: &str,
    ) -> Result<(), GitError> {
        self.update_ref(self.call("move a ref"), name, new, old, reason)
    }

    fn update_ref(
        &self,
        call: Call,
        name: &str,
        new: &Oid,
        old: Option<&Oid>,
        reason: &str,
    ) -> Result<(), GitError> {
        let old = old.map_or(self.zero(), Oid::as_str);
        // The old value makes it a compare-and-swap under git's own lock: a commit that somebody made meanwhile is
        // never lost.
        let call = call.args(["update-ref", "-m", reason, "--no-deref", name, new.as_str(), old]);
        call.stdout().map(drop)
    }

    /// Moves the branch to an iteration's commit, past a lock that nobody holds when the caller owns the working
    /// tree. Git would force the ref to disk here, before the objects that it names; [`super::durable`] does both
    /// later, in the right order.
    pub(super) fn land_branch(
        &self,
        name: &str,
        new: &Oid,
        old: Option<&Oid>,
        reason: &str,
        exclusive: bool,
    ) -> Result<(), GitError> {
        let move_it = || {
            let call = self.call("move the branch").args(["-c", "core.fsync=none"]);
            self.update_ref(call, name, new, old, reason)
        };
        let first = match self.ahead.take_mover(reason) {
            Some(waiting) => {
                let old = old.map_or(self.zero(), Oid::as_str);
                waiting
                    .finish_with(&format!(
                        "start\noption no-deref\nupdate {name} {new} {old}\nprepare\ncommit\n"
                    ))
                    .map(drop)
            }
            None => move_it(),
        };
        let Err(GitError::RefLocked { lock }) = &first else { return first };
        // Only locks of what is this worktree's alone; `packed-refs.lock` belongs to everybody.
        let own = [self.git_dir().join("HEAD.lock"), self.common_dir().join(format!("{name}.lock"))];
        if !exclusive || !own.contains(lock) {
            return first;
        }
        // All processes of the agent are dead, and this worktree and branch are the task's alone.
        fs::remove_file(lock).map_err(GitError::io("remove a stale lock", lock))?;
        move_it()
    }

    /// Keeps a commit under `prefix/kind`; a name that already keeps another commit is never overwritten.
    pub(crate) fn rescue(&self, prefix: &str, kind: &str, commit: &Oid) -> Result<Rescued, GitError> {
        let mut prefix = prefix.to_owned();
        let mut name = format!("{prefix}/{kind}");
        for n in 2.. {
            match self.read_ref(&name)? {
                // Kept before a crash: the same rescue is asked for again, and must not pile up refs.
                Some(kept) if kept == *commit => break,
                Some(_) => name = format!("{prefix}/{kind}-{n}"),
                None => match self.move_ref(&name, commit, None, "dacapo: rescue") {
                    Ok(()) => break,
                    // A ref is a file: below one there can be no other.
                    Err(error) => match self.in_the_way(&name)? {
                        Some(InTheWay::Above(above)) => {
                            prefix = format!("{above}-{n}{}", &prefix[above.len()..]);
                            name = format!("{prefix}/{kind}");
                        }
                        Some(InTheWay::Below) => name = format!("{prefix}/{kind}-{n}"),
                        None => return Err(error),
                    },
                },
            }
        }
        Ok(Rescued { name, commit: commit.clone() })
    }

    /// A ref that makes it impossible to have one of this name.
    fn in_the_way(&self, name: &str) -> Result<Option<InTheWay>, GitError> {
        for (at, _) in name.match_indices('/').skip(1) {
            if self.read_ref(&name[..at])?.is_some() {
                return Ok(Some(InTheWay::Above(name[..at].to_owned())));
            }
        }
        let call = self.call("look for refs").args(["for-each-ref", "--count=1", "--format=%(refname)"]);
        let below = call.arg(format!("{name}/")).stdout()?;
        Ok((!below.is_empty()).then_some(InTheWay::Below))
    }

    /// Keeps a commit that no branch holds under `prefix/work`.
    pub fn keep_commit(&self, prefix: &str, commit: &Oid) -> Result<Rescued, GitError> {
        self.rescue(prefix, "work", commit)
    }

    /// The one commit whose id begins with these hexadecimal digits. None: there is no such one, or there are several. A
    /// branch of that name is not meant.
    pub fn commit_of_digits(&self, digits: &str) -> Result<Option<Oid>, GitError> {
        if digits.len() < 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let wanted = format!("{digits}^{{commit}}");
        let answer =
            self.call("look for a commit").args(["rev-parse", "-q", "--verify", &wanted]).output()?;
        let found = Oid::from_output(&answer.stdout).ok().filter(|_| answer.exit == Some(0));
        Ok(found.filter(|oid| oid.as_str().starts_with(&digits.to_ascii_lowercase())))
    }

    /// Whether a commit merges something into `onto`.
    pub fn is_merge_into(&self, commit: &Oid, onto: &Oid) -> Result<bool, GitError> {
        let parent = |number: u8| self.ref_by_git(&format!("{commit}^{number}"));
        Ok(parent(1)?.as_ref() == Some(onto) && parent(2)?.is_some())
    }

    /// Puts HEAD where `home` says, without touching index or files.
    pub(super) fn attach(&self, home: &Head, reason: &str) -> Result<(), GitError> {
        const OPERATION: &str = "restore HEAD";
        let call = self.call(OPERATION);
        let call = match (&home.branch, &home.commit) {
            (Some(branch), _) => call.args(["symbolic-ref", "-m", reason, "HEAD", branch]),
            (None, Some(commit)) => {
                call.args(["update-ref", "-m", reason, "--no-deref", "HEAD", commit.as_str()])
            }
            (None, None) => return Err(GitError::unexpected(OPERATION, b"a detached HEAD without a commit")),
        };
        call.stdout().map(drop)
    }

    /// The commits that refs below `prefix` name, the newest first, at most `most`.
    pub(crate) fn newest_tips(&self, prefix: &str, most: usize) -> Result<Vec<Oid>, GitError> {
        const OPERATION: &str = "list branches";
        let count = format!("--count={most}");
        let call = self.call(OPERATION).args(["for-each-ref", "--sort=-committerdate", &count]);
        let out = call.args(["--format=%(objectname)", prefix]).stdout()?;
        let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| Oid::from_output(line).map_err(|_| GitError::unexpected(OPERATION, line))).collect()
    }

    /// The files that must be on disk for a ref to be: itself, and where its directory is recorded.
    pub fn ref_files(&self, branch: Option<&str>) -> Vec<PathBuf> {
        vec![branch.map_or_else(|| self.git_dir().join("HEAD"), |name| self.common_dir().join(name))]
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
