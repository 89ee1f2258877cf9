//! The conflict radar: which branches could not be joined without help (S11, K13).
//!
//! A look costs git some 3 ms a pair, so `list` never looks: it reads what is known ([`Radar::known`], one small file).
//! Whoever has the time looks and writes it down ([`Radar::update`]): a task at its end, `merge` with its plan. A pair of
//! commits never changes its answer, so nothing here is ever stale: when a branch moves, the new pair is just unknown until
//! somebody looks. The file is derived and can be deleted.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::git::{GitError, Oid, Repo};
use crate::store::{RepoDir, files};

/// So many pairs are looked at in one go, by one git: some tenths of a second.
const MOST_LOOKS: usize = 100;
/// So many branches are taken in, the newest first; with more, every pair would never be known.
const MOST_TIPS: usize = 30;
/// A file longer than this is written anew with what is still of use.
const MOST_BYTES: u64 = 256 << 10;

/// What is known of a repository's branches.
#[derive(Debug, Clone)]
pub struct Radar {
    path: PathBuf,
}

/// What the file says, read once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    pairs: HashMap<(Oid, Oid), bool>,
    /// Of each commit, those that it conflicts with.
    rivals: HashMap<Oid, Vec<Oid>>,
}

/// What one round of looking came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Looked {
    /// Pairs that are known now and were not before.
    pub new: usize,
    /// Pairs that nobody has looked at yet.
    pub left: usize,
}

/// The radar could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum RadarError {
    /// Git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Its file.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Known {
    /// Whether these two conflict; none: nobody has looked yet.
    pub fn conflict(&self, one: &Oid, other: &Oid) -> Option<bool> {
        self.pairs.get(&pair(one, other)).copied()
    }

    /// All that this one is known to conflict with.
    pub fn rivals(&self, one: &Oid) -> &[Oid] {
        self.rivals.get(one).map_or(&[], Vec::as_slice)
    }
}

fn pair(one: &Oid, other: &Oid) -> (Oid, Oid) {
    if one <= other { (one.clone(), other.clone()) } else { (other.clone(), one.clone()) }
}

impl Radar {
    /// The radar of a repository.
    pub fn of(data: &RepoDir) -> Self {
        Self { path: data.path().join("radar") }
    }

    /// What is known. Without a file, or with one that does not read, nothing is.
    pub fn known(&self) -> Known {
        let text = files::read(&self.path, 2 * MOST_BYTES).unwrap_or_default();
        let mut known = Known::default();
        for line in text.split(|byte| *byte == b'\n') {
            let Some((pair, conflict)) = std::str::from_utf8(line).ok().and_then(parse) else { continue };
            if conflict && !known.pairs.contains_key(&pair) {
                known.rivals.entry(pair.0.clone()).or_default().push(pair.1.clone());
                known.rivals.entry(pair.1.clone()).or_default().push(pair.0.clone());
            }
            known.pairs.insert(pair, conflict);
        }
        known
    }

    /// Looks at the pairs among these commits that are not known yet, those of the first commit first.
    pub fn update(&self, repo: &Repo, tips: &[Oid]) -> Result<Looked, RadarError> {
        let behind = |at: usize| tips[at + 1..].iter().map(move |other| (&tips[at], other));
        self.look(repo, (0..tips.len()).flat_map(behind), tips)
    }

    fn look<'p>(
        &self,
        repo: &Repo,
        pairs: impl Iterator<Item = (&'p Oid, &'p Oid)>,
        tips: &[Oid],
    ) -> Result<Looked, RadarError> {
        let known = self.known();
        let unknown = pairs.filter(|(one, other)| one != other && known.conflict(one, other).is_none());
        let mut unknown: Vec<(Oid, Oid)> = unknown.map(|(one, other)| pair(one, other)).collect();
        let left = unknown.len().saturating_sub(MOST_LOOKS);
        unknown.truncate(MOST_LOOKS);
        let answers = repo.conflicts(&unknown)?;
        let mut looked = Looked { new: 0, left };
        let mut lines = String::new();
        for ((one, other), conflict) in unknown.iter().zip(answers) {
            let Some(conflict) = conflict else { continue };
            lines.push_str(&format!("{one} {other} {}\n", if conflict { '!' } else { '=' }));
            looked.new += 1;
        }
        self.write(&known, tips, &lines)
            .map_err(|source| RadarError::File { path: self.path.clone(), source })?;
        Ok(looked)
    }

    /// Looks at the branch `main` (full name) and the branches of all tasks, which are those below `prefixes`.
    pub fn survey(&self, repo: &Repo, main: &str, prefixes: &[&str]) -> Result<Looked, RadarError> {
        self.update(repo, &around(repo, Some(main), prefixes)?)
    }

    /// Looks at one commit beside the branch `main` (full name) and the branches below `prefixes`.
    pub fn watch(
        &self,
        repo: &Repo,
        main: Option<&str>,
        prefixes: &[&str],
        tip: &Oid,
    ) -> Result<Looked, RadarError> {
        let mut tips = around(repo, main, prefixes)?;
        let others = tips.clone();
        tips.push(tip.clone());
        self.look(repo, others.iter().map(|other| (tip, other)), &tips)
    }

    /// Appended in one write: two that look at once at worst write the same line twice.
    fn write(&self, known: &Known, tips: &[Oid], lines: &str) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let parent = self.path.parent().unwrap_or(Path::new("."));
        files::make_dir(parent)?;
        if fs::symlink_metadata(&self.path).map_or(0, |found| found.len()) < MOST_BYTES {
            return files::append(&self.path)?.write_all(lines.as_bytes());
        }
        let mut anew = String::new();
        for ((one, other), conflict) in &known.pairs {
            if tips.contains(one) && tips.contains(other) {
                anew.push_str(&format!("{one} {other} {}\n", if *conflict { '!' } else { '=' }));
            }
        }
        files::replace(&self.path, (anew + lines).as_bytes())
    }
}

/// The branches that matter, each commit once.
fn around(repo: &Repo, main: Option<&str>, prefixes: &[&str]) -> Result<Vec<Oid>, GitError> {
    let mut tips: Vec<Oid> = Vec::new();
    if let Some(main) = main {
        tips.extend(repo.read_ref(main)?);
    }
    for prefix in prefixes {
        tips.extend(repo.newest_tips(prefix, MOST_TIPS)?);
    }
    let mut seen = std::collections::HashSet::new();
    tips.retain(|tip| seen.insert(tip.clone()));
    Ok(tips)
}

fn parse(line: &str) -> Option<((Oid, Oid), bool)> {
    let mut words = line.split(' ');
    let (one, other) = (Oid::parse(words.next()?).ok()?, Oid::parse(words.next()?).ok()?);
    let conflict = match words.next()? {
        "!" => true,
        "=" => false,
        _ => return None,
    };
    words.next().is_none().then_some(((one, other), conflict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_read_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let radar = Radar { path: dir.path().join("radar") };
        assert_eq!(radar.known(), Known::default());
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        fs::write(&radar.path, format!("junk\n{a} {b} !\n{b} {a}\n\0\n{a} {a} ?\n{b} {b} = x\n{a} {b}"))
            .unwrap();
        let (a, b) = (Oid::parse(&a).unwrap(), Oid::parse(&b).unwrap());
        assert_eq!(radar.known().conflict(&b, &a), Some(true), "in either order");
        assert_eq!(radar.known().pairs.len(), 1);
        assert_eq!((radar.known().rivals(&a), radar.known().rivals(&b)), (&[b][..], &[a][..]));
    }
}
