//! How old a file is by its history.

use std::path::Path;

use jiff::Timestamp;

use super::Repo;
use super::error::GitError;

impl Repo {
    /// When a file (from the top of the checkout) was first committed; none: it never was, as far as HEAD knows.
    pub fn first_commit_of(&self, path: &Path) -> Result<Option<Timestamp>, GitError> {
        let call = self.call("look for the first commit of a file");
        let call = call.args(["--literal-pathspecs", "log", "--format=%ct", "--diff-filter=A", "--"]);
        let answer = call.arg(self.toplevel().join(path)).output()?;
        // A repository without a commit answers with an error: nothing was committed there.
        let text = String::from_utf8_lossy(&answer.stdout);
        let first = text.lines().rfind(|line| !line.is_empty());
        Ok(first.and_then(|seconds| Timestamp::from_second(seconds.parse().ok()?).ok()))
    }
}
