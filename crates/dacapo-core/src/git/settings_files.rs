//! What decides what git and Dacapo do in a repository, beside its commits: git's config, hooks and `info/`, and the project's
//! `.dacapo/`. An agent that changes them changes what the user's next command runs, and no commit shows it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Repo;

/// Larger files are compared by what the file system says of them.
const MOST_BYTES: u64 = 1 << 20;

/// No list of what the files looked like is longer: each of them has a line.
pub const LONGEST_LIST: u64 = 4 << 20;

/// Nobody has more hooks; an agent could make so many that looking at them would take for ever.
const MOST_FILES: usize = 200;

/// Dacapo's own folder in a checkout, and how many folders deep it is looked at.
const OWN: &str = ".dacapo";
const DEPTH: usize = 2;

/// The patterns that git does not see, in a git directory.
const EXCLUDE: &str = "info/exclude";

/// How these files looked at one moment, by their names for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsFiles(BTreeMap<String, Look>);

/// How a file looked. Where the first part is the same, nobody has written to it since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    inode: u64,
    size: u64,
    mode: u32,
    /// Seconds and nanoseconds of the last change of whatever kind: nobody can set this one back.
    changed: (i64, i64),
    sha256: Option<String>,
}

impl SettingsFiles {
    /// How those of the user's repository and of a working tree of it, perhaps a task's, look now. What looks as it did
    /// `before` is not read again.
    pub fn of(repo: &Repo, tree: &Path, before: Option<&SettingsFiles>) -> Self {
        let mut looks = BTreeMap::new();
        for (name, path) in files(repo, tree) {
            let known = before.and_then(|before| before.0.get(&name));
            if let Some(look) = look(&path, known) {
                looks.insert(name, look);
            }
        }
        Self(looks)
    }

    /// How these files look now, by their paths: not of a repository, but of the user. Of a directory what lies in it counts.
    pub fn of_user(paths: &[PathBuf], before: Option<&SettingsFiles>) -> Self {
        let mut found = Vec::new();
        paths.iter().for_each(|path| below(path, DEPTH, &mut found));
        let looked = found.into_iter().filter_map(|path| {
            let name = path.display().to_string();
            let look = look(&path, before.and_then(|before| before.0.get(&name)))?;
            Some((name, look))
        });
        Self(looked.collect())
    }

    /// Takes in what we have changed ourselves: a file that was as it is here `before` we did is as it is `after`.
    pub(crate) fn follow(&mut self, before: &SettingsFiles, after: SettingsFiles) {
        for (name, now) in after.0 {
            let (here, then) = (self.0.get(&name), before.0.get(&name));
            if here.zip(then).is_some_and(|(here, then)| here.says_the_same(then)) {
                self.0.insert(name, now);
            }
        }
    }

    /// The names of those that are not what they were: other content, another mode, new, or gone.
    pub fn changed_since(&self, before: &SettingsFiles) -> Vec<String> {
        let names: std::collections::BTreeSet<&String> = self.0.keys().chain(before.0.keys()).collect();
        let same = |name: &&&String| match (self.0.get(**name), before.0.get(**name)) {
            (Some(now), Some(then)) => now.says_the_same(then),
            (Some(_), None) | (None, Some(_)) => false,
            (None, None) => true,
        };
        names.iter().filter(|name| !same(name)).map(|name| (**name).clone()).collect()
    }
}

impl Look {
    fn says_the_same(&self, other: &Look) -> bool {
        match (&self.sha256, &other.sha256) {
            (Some(one), Some(another)) => one == another && self.mode == other.mode,
            _ => self == other,
        }
    }
}

/// The files there are, with their names for people.
fn files(repo: &Repo, tree: &Path) -> Vec<(String, PathBuf)> {
    let (common, own) = (repo.common_dir(), repo.git_dir());
    let mut found = Vec::new();
    let mut places = vec![(".git".to_owned(), common)];
    if own != common {
        let name = own.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        places.push((format!(".git/worktrees/{name}"), own));
    }
    for (name, dir) in places {
        for file in ["config", "config.worktree"] {
            found.push((format!("{name}/{file}"), dir.join(file)));
        }
        for folder in ["hooks", "info"] {
            let entries = fs::read_dir(dir.join(folder)).into_iter().flatten().flatten().take(MOST_FILES);
            found.extend(entries.filter_map(|entry| {
                let file = entry.file_name().to_string_lossy().into_owned();
                // Git runs no sample, and writes `info/refs` itself.
                let ignored = file.ends_with(".sample") || (folder == "info" && file == "refs");
                (!ignored).then(|| (format!("{name}/{folder}/{file}"), entry.path()))
            }));
        }
    }
    let main = repo.toplevel();
    of_dacapo(&tree.join(OWN), OWN, DEPTH, &mut found);
    if main != tree {
        let settings = main.join(OWN).join("config.toml");
        found.push((settings.display().to_string(), settings));
    }
    found
}

/// What agents and people write there; mirrors are Dacapo's own.
fn of_dacapo(dir: &Path, name: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten().take(MOST_FILES) {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        // Not through a link: it may lead anywhere.
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_dir && depth > 0 {
            of_dacapo(&entry.path(), &name, depth - 1, found);
        } else if !is_dir && !name.ends_with(".json") {
            found.push((name, entry.path()));
        }
    }
}

/// A file, or the files in a directory. What begins with a dot is about to get its name.
fn below(path: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth == 0 || !path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return found.push(path.to_owned());
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten().take(MOST_FILES);
    let named = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    named.for_each(|entry| below(&entry.path(), depth - 1, found));
}

fn look(path: &Path, known: Option<&Look>) -> Option<Look> {
    // Of a link both count: that it is one, and what it leads to.
    let meta = path.symlink_metadata().ok()?;
    let changed = (meta.ctime(), meta.ctime_nsec());
    let now = Look { inode: meta.ino(), size: meta.len(), mode: meta.mode(), changed, sha256: None };
    if meta.is_file()
        && let Some(known) = known
        && (known.inode, known.size, known.mode, known.changed)
            == (now.inode, now.size, now.mode, now.changed)
    {
        return Some(known.clone());
    }
    Some(Look { sha256: content(path).ok().flatten(), ..now })
}

/// Tasks beside this one add patterns for their mirrors in `.dacapo`. That is no agent's doing.
pub(crate) fn is_own_exclude(line: &[u8]) -> bool {
    line.starts_with(b"/.dacapo/") && (line.ends_with(b".json") || line.ends_with(b"/.mirror-*"))
}

fn without_own_lines(excludes: &[u8]) -> Vec<u8> {
    let lines = excludes.split(|byte| *byte == b'\n').filter(|line| !is_own_exclude(line));
    let kept: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    kept.join(&b'\n')
}

fn content(path: &Path) -> io::Result<Option<String>> {
    // To open a FIFO would wait for somebody to write to it.
    let meta = path.metadata()?;
    if !meta.is_file() || meta.len() > MOST_BYTES {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    if path.ends_with(EXCLUDE) {
        bytes = without_own_lines(&bytes);
    }
    let hash = hmac_sha256::Hash::hash(&bytes);
    Ok(Some(hash.iter().map(|byte| format!("{byte:02x}")).collect()))
}
