//! Files of ours in the user's checkout that git is not to see (C9, M8).

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::Repo;
use super::error::GitError;
use super::regular;
use super::worktree::WorktreeError;

const OPERATION: &str = "leave files out of git's sight";

/// A list of patterns that is longer is not read.
const MOST_BYTES: u64 = 4 << 20;

impl Repo {
    /// The main checkout of the repository: this one, or of a linked worktree the one that it was made from. A bare repository,
    /// or one whose git directory is elsewhere, has none that could be found from a worktree: then this one.
    pub fn main_checkout(&self) -> PathBuf {
        let main = || {
            let common = self.common_dir();
            let top = common.parent().filter(|_| common.file_name().is_some_and(|name| name == ".git"))?;
            top.is_dir().then(|| top.to_owned())
        };
        let main = if self.is_linked_worktree() { main() } else { None };
        main.unwrap_or_else(|| self.toplevel().to_owned())
    }

    /// Adds patterns to `info/exclude`, those that are not there yet. What is there stays as it is.
    pub fn exclude(&self, patterns: &[&str]) -> Result<(), WorktreeError> {
        let dir = self.common_dir().join("info");
        let path = dir.join("exclude");
        let io = |error| GitError::io(OPERATION, &path)(error);
        let missing = |text: &str| -> Vec<String> {
            let known: Vec<&str> = text.lines().map(str::trim_end).collect();
            patterns
                .iter()
                .filter(|pattern| !known.contains(pattern))
                .map(|line| format!("{line}\n"))
                .collect()
        };
        if missing(&text_of(&path).map_err(io)?).is_empty() {
            return Ok(());
        }
        self.locked(|| {
            // Read again under the lock: another task may have added the same lines since.
            let text = text_of(&path).map_err(io)?;
            let lines = missing(&text).concat();
            if lines.is_empty() {
                return Ok(());
            }
            // Where it leads is not ours to write to: an agent may have made it.
            if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
                let error = std::io::Error::new(ErrorKind::InvalidInput, "it is no file");
                return Err(io(error).into());
            }
            fs::create_dir_all(&dir).map_err(io)?;
            let between = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(io)?;
            // One write: whoever reads it meanwhile sees all of it or nothing.
            file.write_all(format!("{between}{lines}").as_bytes()).map_err(io)?;
            Ok(())
        })
    }

    /// Whether a file (from the top of the checkout) is part of the index.
    pub(crate) fn is_tracked(&self, path: &Path) -> Result<bool, GitError> {
        let call = self.call("look whether a file is tracked").args(["ls-files", "-z", "--cached", "--"]);
        Ok(!call.arg(path).stdout()?.is_empty())
    }
}

fn text_of(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    match regular::open(path) {
        Ok(file) => file.take(MOST_BYTES).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
