//! A merge that somebody else, an agent, brings to its end in the files: begun, looked at afterwards, concluded.
//!
//! What the agent did to git itself is not trusted: it was told not to commit, and some do. Only the files count, and that
//! the merge was not given up. A conflict counts as resolved by evidence: its markers are gone, or where git could write
//! none (removed on one side, binary, a submodule) somebody has staged it or changed it.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::merge::MergeStyle;
use super::stage::Rules;
use super::{Apart, LeftOut, Oid, Repo};

const OPERATION: &str = "merge";
/// A line longer than this is not looked at further for markers: they stand at its beginning.
const LINE_LOOK: usize = 4096;
/// Git's own length; `conflict-marker-size` can only be seen to be longer.
const MARKER: usize = 7;

/// A merge under way in a scratch worktree.
#[derive(Debug)]
pub struct OpenMerge {
    /// What it goes into: HEAD of the worktree.
    pub ours: Oid,
    /// The commit that is merged into it.
    pub theirs: Oid,
    pub how: MergeStyle,
    pub conflicts: Vec<PathBuf>,
    /// What git made of it by itself.
    tree: Oid,
    /// How each of these lay there when it began.
    looks: HashMap<PathBuf, Look>,
    /// What lay there that git does not know: what made the worktree usable is no part of the merge.
    litter: HashMap<PathBuf, Look>,
}

/// How a file lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Look {
    Marked,
    Plain(u64),
    Gone,
    /// A directory: a submodule, or in the way.
    Directory,
}

/// Why a merge is not resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// The merge was aborted or reset: nothing of the branch would be in it.
    GivenUp,
    /// HEAD is somewhere that does not hold both sides.
    Elsewhere,
    /// Conflict markers stand in these files.
    Markers(Vec<PathBuf>),
    /// These have conflicts without markers, and nobody has decided.
    Undecided(Vec<PathBuf>),
}

/// A merge that is resolved and staged.
#[derive(Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The tree that it comes to.
    tree: Oid,
    /// Where that differs from what git made of it by itself.
    pub touched: Vec<PathBuf>,
    /// New files that were kept out of it.
    pub left_out: Vec<LeftOut>,
}

impl Repo {
    /// Begins to merge `theirs` into HEAD of this worktree and leaves the commit to [`Repo::conclude`].
    pub fn begin_merge(&self, theirs: &Oid, how: MergeStyle) -> Result<OpenMerge, GitError> {
        let ours = self.tip()?;
        let tried = self.try_tree(&ours, theirs)?;
        let words: &[&str] = match how {
            MergeStyle::Merge => &["--no-commit", "--no-ff"],
            MergeStyle::Squash => &["--squash"],
        };
        let answer = self.merge_call(words, theirs).output()?;
        let conflicts = self.unmerged()?;
        let begun = how == MergeStyle::Squash || self.merge_head_file().exists();
        if !matches!(answer.exit, Some(0 | 1)) || !begun || answer.exit == Some(1) && conflicts.is_empty() {
            return Err(answer.error());
        }
        let look = |paths: &[PathBuf]| paths.iter().map(|path| (path.clone(), self.lies(path))).collect();
        let (looks, litter) = (look(&conflicts), look(&self.dirt()?.untracked));
        Ok(OpenMerge { ours, theirs: theirs.clone(), how, conflicts, tree: tried.tree, looks, litter })
    }

    /// Takes back what was done to tracked files here.
    pub(crate) fn discard_changes(&self) -> Result<(), GitError> {
        self.call("take changes back").args(["reset", "-q", "--hard"]).stdout().map(drop)
    }

    fn merge_head_file(&self) -> PathBuf {
        self.git_dir().join("MERGE_HEAD")
    }

    fn lies(&self, path: &Path) -> Look {
        let full = self.toplevel().join(path);
        let Ok(found) = fs::symlink_metadata(&full) else { return Look::Gone };
        if found.is_dir() {
            return Look::Directory;
        }
        if found.is_file() && has_markers(&full) {
            return Look::Marked;
        }
        let mut hasher = DefaultHasher::new();
        found.permissions().mode().hash(&mut hasher);
        if found.is_symlink() {
            fs::read_link(&full).ok().hash(&mut hasher);
        } else if let Ok(file) = fs::File::open(&full) {
            let mut reader = io::BufReader::new(file);
            while let Ok(bytes) = reader.fill_buf()
                && !bytes.is_empty()
            {
                let read = bytes.len();
                hasher.write(bytes);
                reader.consume(read);
            }
        }
        Look::Plain(hasher.finish())
    }

    /// Looks whether the merge is resolved; if so, stages it.
    pub fn resolution(
        &self,
        open: &OpenMerge,
        max_file_bytes: u64,
    ) -> Result<Result<Resolution, Unresolved>, GitError> {
        if let Some(unresolved) = self.put_back(open)? {
            return Ok(Err(unresolved));
        }
        let still = self.unmerged()?;
        let (mut marked, mut undecided) = (Vec::new(), Vec::new());
        for path in open.conflicts.iter().chain(still.iter().filter(|path| !open.conflicts.contains(path))) {
            match self.lies(path) {
                Look::Marked => marked.push(path.clone()),
                // A directory has no content of its own to have been changed: only the index can say.
                look if still.contains(path)
                    && (open.looks.get(path) == Some(&look) || look == Look::Directory) =>
                {
                    undecided.push(path.clone());
                }
                Look::Plain(_) | Look::Gone | Look::Directory => {}
            }
        }
        if !marked.is_empty() {
            return Ok(Err(Unresolved::Markers(marked)));
        }
        if !undecided.is_empty() {
            return Ok(Err(Unresolved::Undecided(undecided)));
        }
        self.settle(open, max_file_bytes)
    }

    /// An agent that committed the merge itself is taken back to before that; its files stay.
    fn put_back(&self, open: &OpenMerge) -> Result<Option<Unresolved>, GitError> {
        let head = self.head()?;
        let at_home = head.commit.as_ref() == Some(&open.ours);
        let under_way = self.merge_head_file().exists();
        if at_home && head.branch.is_none() && (under_way || open.how == MergeStyle::Squash) {
            return Ok(None);
        }
        if at_home && open.how == MergeStyle::Merge && !under_way {
            return Ok(Some(Unresolved::GivenUp));
        }
        let Some(tip) = head.commit else { return Ok(Some(Unresolved::Elsewhere)) };
        let holds_both = self.is_ancestor(&open.ours, &tip)?
            && (open.how == MergeStyle::Squash || under_way || self.is_ancestor(&open.theirs, &tip)?);
        if !holds_both {
            return Ok(Some(Unresolved::Elsewhere));
        }
        let call = self.call(OPERATION).args(["update-ref", "--no-deref", "-m", "dacapo: merge", "HEAD"]);
        // HEAD alone goes back, detached and without touching files: what the agent wrote is what counts.
        call.arg(open.ours.as_str()).stdout()?;
        if open.how == MergeStyle::Merge {
            let file = self.merge_head_file();
            fs::write(&file, format!("{}\n", open.theirs)).map_err(GitError::io(OPERATION, &file))?;
        }
        Ok(None)
    }

    /// Stages what is in the files, by the same rules as an iteration's commit (C9).
    fn settle(
        &self,
        open: &OpenMerge,
        max_file_bytes: u64,
    ) -> Result<Result<Resolution, Unresolved>, GitError> {
        let untouched = |(path, look): &(&PathBuf, &Look)| self.lies(path) == **look;
        let litter = open.litter.iter().filter(untouched).map(|(path, _)| path.clone()).collect();
        let apart = Apart { litter, ..Apart::default() };
        let rules = Rules {
            max_file_bytes,
            known: &[],
            apart: &apart,
            tracked_in: Some(&open.theirs),
            secrets: None,
        };
        let (status, _) = self.status(None)?;
        let mut plan = self.plan(status, rules)?;
        plan.update.append(&mut plan.unmerged);
        let mut left_out = std::mem::take(&mut plan.left_out);
        left_out.extend(self.stage(&plan, None)?);
        let tree = self.oid_from(OPERATION, self.call(OPERATION).arg("write-tree"))?;
        // The result is exactly our side, though git itself would have taken something from theirs: a `git checkout
        // --ours .` or a reset, not a resolution.
        if tree == self.tree_of(&open.ours)? && tree != open.tree {
            return Ok(Err(Unresolved::GivenUp));
        }
        let touched: Vec<PathBuf> =
            self.changed_between(Some(&open.tree), &tree)?.into_iter().map(|change| change.path).collect();
        let marked: Vec<PathBuf> =
            touched.iter().filter(|path| self.lies(path) == Look::Marked).cloned().collect();
        if !marked.is_empty() {
            return Ok(Err(Unresolved::Markers(marked)));
        }
        Ok(Ok(Resolution { tree, touched, left_out }))
    }

    /// Commits what was resolved, in the user's name. Where that is just what the branch holds and nothing else has
    /// happened since it began, the branch itself is the result.
    pub fn conclude(
        &self,
        open: &OpenMerge,
        resolution: &Resolution,
        message: &str,
    ) -> Result<Oid, GitError> {
        let same = open.how == MergeStyle::Merge
            && self.is_ancestor(&open.ours, &open.theirs)?
            && resolution.tree == self.tree_of(&open.theirs)?;
        if !same {
            return self.commit_as_user(message);
        }
        self.call(OPERATION).args(["reset", "-q", "--hard", open.theirs.as_str()]).stdout()?;
        Ok(open.theirs.clone())
    }
}

/// Whether the beginning or the end of a conflict stands in a file, as git writes them: a lone `=======` is a heading in
/// many a text.
fn has_markers(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let mut reader = io::BufReader::with_capacity(64 << 10, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        match io::Read::take(&mut reader, LINE_LOOK as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        if is_marker(&line) {
            return true;
        }
        if line.last() != Some(&b'\n') && skip_line(&mut reader).is_err() {
            return false;
        }
    }
}

fn skip_line(reader: &mut impl io::BufRead) -> io::Result<()> {
    loop {
        let bytes = reader.fill_buf()?;
        let (read, over) = match memchr::memchr(b'\n', bytes) {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        reader.consume(read);
        if over {
            return Ok(());
        }
    }
}

fn is_marker(line: &[u8]) -> bool {
    [b'<', b'>'].into_iter().any(|mark| {
        let run = line.iter().take_while(|byte| **byte == mark).count();
        run >= MARKER && line.get(run).is_none_or(|next| next.is_ascii_whitespace())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_known_by_their_beginning() {
        for line in ["<<<<<<< HEAD\n", ">>>>>>> theirs", "<<<<<<<\r\n", "<<<<<<<<<<<<<<< longer\n", ">>>>>>>"]
        {
            assert!(is_marker(line.as_bytes()), "{line:?}");
        }
        for line in ["=======\n", " <<<<<<< indented\n", "<<<<<< six\n", "<<<<<<<x\n", ">>> quoted\n", ""] {
            assert!(!is_marker(line.as_bytes()), "{line:?}");
        }
    }

    #[test]
    fn markers_are_found_behind_long_lines_and_not_inside_them() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let file = dir.path().join("f");
        let long = "x".repeat(LINE_LOOK);
        fs::write(&file, format!("{long}<<<<<<< a\n{long}{long}\n>>>>>>> b")).expect("write");
        assert!(has_markers(&file));
        fs::write(&file, format!("{long}<<<<<<< a\n{long}{long}\n")).expect("write");
        assert!(!has_markers(&file));
    }
}
