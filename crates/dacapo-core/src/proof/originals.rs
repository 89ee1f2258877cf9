//! What a commit changes of the tests that judge it, and the tree of the commit with these as they were at its base (L20).

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::event::TestsChange;
use crate::git::{Bare, Blob, Changed, GitError, Oid, Repo};
use crate::yardstick::{self, Change, Comparison, Content, Judgement, Judges, Status};

/// A larger file is taken for an empty one: then what it held of tests is gone.
const MOST_BYTES: u64 = 4 << 20;

/// A commit compared with its base.
#[derive(Debug)]
pub(super) struct Compared {
    changes: Vec<Changed>,
    judgement: Judgement,
}

impl Compared {
    pub(super) fn new(git: &Bare, base: &Oid, commit: &Oid, judges: Judges<'_>) -> Result<Self, GitError> {
        let changes = git.changes(base, commit)?;
        if changes.is_empty() {
            let judgement = yardstick::judge(
                judges,
                &Comparison { base: &BTreeSet::new(), changes: &[], was: &|_| None, is: &|_| None },
            );
            return Ok(Self { changes, judgement });
        }
        let files: HashMap<String, Blob> =
            git.files(base)?.into_iter().map(|(path, blob)| (name(&path), blob)).collect();
        let texts = Texts::read(git, &changes)?;
        let listed: Vec<Change> = changes
            .iter()
            .map(|change| Change { path: name(&change.path), status: status(change) })
            .collect();
        let new: HashMap<String, &Blob> =
            changes.iter().filter_map(|change| Some((name(&change.path), change.is.as_ref()?))).collect();
        let paths: BTreeSet<String> = files.keys().cloned().collect();
        let judgement = yardstick::judge(
            judges,
            &Comparison {
                base: &paths,
                changes: &listed,
                was: &|path| texts.of(files.get(path)?),
                is: &|path| texts.of(new.get(path)?),
            },
        );
        match texts.problem.into_inner() {
            Some(error) => Err(error),
            None => Ok(Self { changes, judgement }),
        }
    }

    /// For the record.
    pub(super) fn facts(&self, base: &Oid) -> TestsChange {
        self.judgement.facts(base)
    }

    /// Writes the tree of the commit with what judges it as it was. `index` is a file that git may use.
    pub(super) fn originals(&self, git: &Bare, commit: &Oid, index: &Path) -> Result<Oid, GitError> {
        let mut edits: Vec<(&[u8], Option<Blob>)> = Vec::new();
        for put_back in &self.judgement.put_back {
            let change = &self.changes[put_back.change];
            let blob = match &put_back.with {
                Content::Base => change.was.clone(),
                Content::Nothing => None,
                Content::Merged(text) => {
                    let id = git.write(text.clone().into_bytes())?;
                    change.is.as_ref().map(|blob| Blob { mode: blob.mode.clone(), id })
                }
            };
            edits.push((&change.path, blob));
        }
        git.tree_with(commit, &edits, index)
    }
}

/// What commits change of the files that judge them; none: nothing.
pub(crate) fn changed_tests(
    repo: &Repo,
    base: &Oid,
    commit: &Oid,
    judges: Judges<'_>,
) -> Result<Option<TestsChange>, GitError> {
    let compared = Compared::new(&repo.bare(repo.git_dir()), base, commit, judges)?;
    Ok((!compared.judgement.changed.is_empty()).then(|| compared.facts(base)))
}

/// Puts the files that judge the work back in a working tree as they were at the base: what the tree of `commit` changes of them,
/// or does not have any more. Returns their paths. `index` is a file that git may use.
pub(crate) fn put_back(
    repo: &Repo,
    base: &Oid,
    commit: &Oid,
    judges: Judges<'_>,
    index: &Path,
) -> Result<Vec<PathBuf>, GitError> {
    let git = repo.bare(repo.git_dir());
    let mut compared = Compared::new(&git, base, commit, judges)?;
    // New tests are welcome, and what decides which tests run is left out of the proof.
    compared.judgement.put_back.retain(|put_back| put_back.with != Content::Nothing);
    let put_back = &compared.judgement.put_back;
    if put_back.is_empty() {
        return Ok(Vec::new());
    }
    let tree = compared.originals(&git, commit, index)?;
    let paths: Vec<Vec<u8>> =
        put_back.iter().map(|put_back| compared.changes[put_back.change].path.clone()).collect();
    repo.restore_files(&tree, &paths)?;
    Ok(paths.into_iter().map(|path| PathBuf::from(OsString::from_vec(path))).collect())
}

fn name(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn status(change: &Changed) -> Status {
    match (&change.was, &change.is) {
        (None, _) => Status::Added,
        (Some(_), None) => Status::Deleted,
        (Some(_), Some(_)) => Status::Changed,
    }
}

/// Texts of files, those of changed ones read at once.
struct Texts<'a> {
    git: &'a Bare,
    known: HashMap<String, Vec<u8>>,
    problem: RefCell<Option<GitError>>,
}

impl<'a> Texts<'a> {
    fn read(git: &'a Bare, changes: &[Changed]) -> Result<Self, GitError> {
        let both = changes.iter().filter(|change| yardstick::needs_text(&name(&change.path)));
        let ids: BTreeSet<&str> = both
            .flat_map(|change| [&change.was, &change.is])
            .flatten()
            .map(|blob| blob.id.as_str())
            .collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        Ok(Self { git, known: git.contents(&ids, MOST_BYTES)?, problem: RefCell::default() })
    }

    fn of(&self, blob: &Blob) -> Option<String> {
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        if let Some(bytes) = self.known.get(&blob.id) {
            return Some(text(bytes));
        }
        match self.git.contents(&[&blob.id], MOST_BYTES) {
            Ok(found) => found.get(&blob.id).map(text),
            Err(error) => {
                self.problem.borrow_mut().get_or_insert(error);
                None
            }
        }
    }
}
