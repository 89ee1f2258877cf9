//! The conflict radar: which branches could not be joined without help (S11, K13).
//!
//! A look costs git some 3 ms a pair, so `list` never looks: it reads what is known ([`Radar::known`], one small file).
//! Whoever has the time looks and writes it down ([`Radar::update`]): a task at its end, `merge` with its plan. A pair of
//! commits never changes its answer, so nothing here is ever stale: when a branch moves, the new pair is just unknown until
//! somebody looks. The file is derived and can be deleted. A line of it is `COMMIT COMMIT =`, or with the files that conflict
//! `COMMIT COMMIT ! ["a.rs"]`.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::git::{GitError, Joining, Oid, Repo, display_path};
use crate::store::{RepoDir, files};

/// How many pairs are looked at in one go, by one git: some tenths of a second.
const MOST_LOOKS: usize = 100;
/// How many branches are taken in, the newest first; with more, every pair would never be known.
const MOST_TIPS: usize = 30;
/// How many files of a conflict are kept: they tell a person where to look.
const MOST_FILES: usize = 20;
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
    /// Of each pair the list of files that conflict, as it is written; empty where there are none.
    pairs: HashMap<(Oid, Oid), String>,
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
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot write {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

impl Known {
    /// Whether these two conflict; none: nobody has looked yet.
    pub fn conflict(&self, one: &Oid, other: &Oid) -> Option<bool> {
        self.pairs.get(&pair(one, other)).map(|files| !files.is_empty())
    }

    /// The files in which these two conflict, as people read them.
    pub fn files(&self, one: &Oid, other: &Oid) -> Vec<String> {
        let written = self.pairs.get(&pair(one, other));
        written.and_then(|written| serde_json::from_str(written).ok()).unwrap_or_default()
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
            let Some((pair, files)) = std::str::from_utf8(line).ok().and_then(parse) else { continue };
            if !files.is_empty() && !known.pairs.contains_key(&pair) {
                known.rivals.entry(pair.0.clone()).or_default().push(pair.1.clone());
                known.rivals.entry(pair.1.clone()).or_default().push(pair.0.clone());
            }
            known.pairs.insert(pair, files);
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
        for (pair, joining) in unknown.iter().zip(answers) {
            let files = match joining {
                None => continue,
                Some(Joining::Clean) => String::new(),
                Some(Joining::Conflicts(files)) => written(&files),
            };
            lines.push_str(&line(pair, &files));
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
        for (pair, files) in &known.pairs {
            if tips.contains(&pair.0) && tips.contains(&pair.1) {
                anew.push_str(&line(pair, files));
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

/// The files of a conflict, in one line whatever their names hold.
fn written(files: &[PathBuf]) -> String {
    let files: Vec<String> = files.iter().take(MOST_FILES).map(|path| display_path(path)).collect();
    serde_json::to_string(&files).unwrap_or_else(|_| "[]".to_owned())
}

fn line((one, other): &(Oid, Oid), files: &str) -> String {
    match files {
        "" => format!("{one} {other} =\n"),
        files => format!("{one} {other} ! {files}\n"),
    }
}

fn parse(line: &str) -> Option<((Oid, Oid), String)> {
    let mut words = line.splitn(4, ' ');
    let (one, other) = (Oid::parse(words.next()?).ok()?, Oid::parse(words.next()?).ok()?);
    let files = match (words.next()?, words.next()) {
        ("=", None) => "",
        ("!", Some(files)) if files.starts_with('[') && files.ends_with(']') => files,
        _ => return None,
    };
    Some(((one, other), files.to_owned()))
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
        let files = r#"["a b.rs"]"#;
        let text = format!(
            "junk\n{a} {b} ! {files}\n{b} {a}\n\0\n{a} {a} ?\n{b} {b} = x\n{a} {b}\n{a} {a} !\n{b} {b} ! ["
        );
        fs::write(&radar.path, text).unwrap();
        let (a, b) = (Oid::parse(&a).unwrap(), Oid::parse(&b).unwrap());
        assert_eq!(radar.known().conflict(&b, &a), Some(true), "in either order");
        assert_eq!((radar.known().files(&b, &a), radar.known().pairs.len()), (vec!["a b.rs".to_owned()], 1));
        assert_eq!((radar.known().rivals(&a), radar.known().rivals(&b)), (&[b][..], &[a][..]));
    }
}
