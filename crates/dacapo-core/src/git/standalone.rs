//! Git in a checkout with a git directory of its own, and the questions to a workspace that say what its commits lack.
//!
//! A proof must not depend on anything that an agent can set: not on the configuration of the repository or of the user,
//! not on replaced objects. So this git reads the one configuration file that was written for it, and nothing else.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::guard;
use super::run::{Call, Git};
use super::{LeftOutReason, Oid, Repo};

const SYNC: &str = "check the commit out";
const LIST: &str = "list the files of the commit";
const COMPARE: &str = "look for files that no commit holds";

/// A checkout with its own git directory, and an index outside of it.
#[derive(Debug)]
pub(crate) struct Standalone {
    git: Git,
    tree: PathBuf,
    /// Held by each git command.
    lock: File,
}

/// Settings of git by their full names, section and name in lower case, and their values; none: the name alone, which
/// means true.
pub(crate) type Settings = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// A path of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) oid: String,
}

impl Entry {
    pub(crate) const GITLINK: u32 = 0o160_000;
}

/// Bits of the index that hide edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flags {
    None,
    AssumeUnchanged,
    SkipWorktree,
}

/// What makes git not see an untracked path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IgnoredBy {
    Nothing,
    /// A `.gitignore`, which may be part of the commit.
    GitIgnore,
    /// `info/exclude` or the user's own file: no commit holds it.
    Excludes,
}

impl Git {
    /// Git that reads no configuration but that of the repository it works in.
    pub(super) fn alone(self) -> Self {
        self.with("GIT_CONFIG_GLOBAL", "/dev/null")
            .with("GIT_CONFIG_SYSTEM", "/dev/null")
            .with("GIT_CONFIG_NOSYSTEM", "1")
            .with("GIT_ATTR_NOSYSTEM", "1")
            // With `git replace` an agent could have one commit judged and another one shown.
            .with("GIT_NO_REPLACE_OBJECTS", "1")
    }
}

impl Standalone {
    /// Makes index and files what the commit says.
    pub(crate) fn sync(&self, commit: &Oid) -> Result<(), GitError> {
        self.call(SYNC)?.args(["read-tree", "--reset", "-u", commit.as_str()]).stdout().map(drop)
    }

    /// All that is in the index, ordered by the bytes of the paths.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, GitError> {
        let out = self.call(LIST)?.args(["ls-files", "-z", "-s"]).stdout()?;
        let entry = |record: &[u8]| {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            let words = std::str::from_utf8(&record[..tab]).ok()?;
            let [mode, oid, _stage] = words.split(' ').collect::<Vec<_>>()[..] else { return None };
            Some(Entry {
                path: record[tab + 1..].to_vec(),
                mode: u32::from_str_radix(mode, 8).ok()?,
                oid: oid.to_owned(),
            })
        };
        let records = out.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        records.map(|record| entry(record).ok_or_else(|| GitError::unexpected(LIST, record))).collect()
    }

    /// Files and directories that no commit holds, ignored ones included; directories end in `/`.
    pub(crate) fn untracked(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let out = self.call(LIST)?.args(["ls-files", "-z", "--others", "--directory"]).stdout()?;
        Ok(out.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
    }

    fn call(&self, operation: &'static str) -> Result<Call, GitError> {
        let lock = self.lock.try_clone().map_err(GitError::io(operation, &self.tree))?;
        Ok(self.git.call(operation, &self.tree).holding(lock))
    }
}

impl Repo {
    /// The checkout at `tree`, whose objects are found by its own alternates file.
    pub(crate) fn standalone(&self, tree: &Path, index: &Path, lock: File) -> Standalone {
        let git = self.base().clone().alone();
        let git =
            git.with("GIT_DIR", tree.join(".git")).with("GIT_WORK_TREE", tree).with("GIT_INDEX_FILE", index);
        Standalone { git, tree: tree.to_owned(), lock }
    }

    /// Configuration from all files that hold for this checkout, the later entries the stronger ones, and its branches, tags
    /// and remote branches as lines `ID NAME`.
    pub(crate) fn config_and_refs(&self) -> Result<(Settings, Vec<u8>), GitError> {
        let config = self.config_call().spawn()?;
        let refs = self.call("list the branches").args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let refs = refs.args(["refs/heads/", "refs/tags/", "refs/remotes/"]).spawn()?;
        Ok((listed_settings(&config.stdout()?), refs.stdout()?))
    }

    /// Configuration from all files that hold for this checkout, the later entries the stronger ones.
    pub(crate) fn config(&self) -> Result<Settings, GitError> {
        Ok(listed_settings(&self.config_call().stdout()?))
    }

    fn config_call(&self) -> Call {
        self.call("read the configuration").args(["config", "--list", "-z", "--show-scope"])
    }

    /// A variable of the environment that git runs in.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.base().variable(name)
    }

    /// A file of the user's that git's configuration names; without a name, git's default place for it.
    pub(crate) fn users_file(&self, named: Option<&[u8]>, default: &str) -> Option<PathBuf> {
        let home = || self.base().variable("HOME").map(PathBuf::from);
        match named {
            Some(b"") => None,
            Some(named) => match named.strip_prefix(b"~/") {
                Some(rest) => Some(home()?.join(OsStr::from_bytes(rest))),
                None => Some(self.toplevel().join(OsStr::from_bytes(named))),
            },
            None => {
                let config = self.base().variable("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty());
                let config = config.map(PathBuf::from).or_else(|| Some(home()?.join(".config")))?;
                Some(config.join("git").join(default))
            }
        }
    }

    /// The bits of this checkout's own index that hide edits; paths without any are left out.
    pub(crate) fn hiding_flags(&self) -> Result<Vec<(Vec<u8>, Flags)>, GitError> {
        let out = self.call(COMPARE).args(["ls-files", "-z", "-v"]).stdout()?;
        let records = out.split(|byte| *byte == 0).filter(|record| record.len() > 2);
        let flagged = |record: &[u8]| {
            let flags = match record[0] {
                b'S' | b's' => Flags::SkipWorktree,
                tag if tag.is_ascii_lowercase() => Flags::AssumeUnchanged,
                _ => Flags::None,
            };
            (record[2..].to_vec(), flags)
        };
        Ok(records.map(flagged).filter(|(_, flags)| *flags != Flags::None).collect())
    }

    /// The id that a file of this checkout would have as a blob, after this checkout's filters.
    pub(crate) fn id_after_filters(&self, path: &[u8]) -> Result<String, GitError> {
        let call = self.call(COMPARE).args(["hash-object", "--"]).arg(OsStr::from_bytes(path));
        Ok(String::from_utf8_lossy(&call.stdout()?).trim_end().to_owned())
    }

    /// For each path, what makes this checkout's git not see it.
    pub(crate) fn ignored_by(&self, paths: &[&[u8]]) -> Result<Vec<IgnoredBy>, GitError> {
        let mut names = Vec::new();
        for path in paths {
            // This command takes no literal paths, and one that begins with `:` would mean something else.
            names.extend_from_slice(b"./");
            names.extend_from_slice(path);
            names.push(0);
        }
        let call = self.call(COMPARE).env("GIT_LITERAL_PATHSPECS", "0");
        let call = call.args(["check-ignore", "-z", "-v", "-n", "--no-index", "--stdin"]);
        let answer = call.stdin(names).output()?;
        // 1: none of them is ignored.
        if !matches!(answer.exit, Some(0 | 1)) {
            return Err(answer.error());
        }
        // Source, line, pattern, path.
        let fields: Vec<&[u8]> = answer.stdout.split(|byte| *byte == 0).collect();
        let by = |fields: &[&[u8]]| match (fields[0], fields[2]) {
            ([], _) | (_, [b'!', ..]) => IgnoredBy::Nothing,
            (source, _) if Path::new(OsStr::from_bytes(source)).ends_with(".gitignore") => {
                IgnoredBy::GitIgnore
            }
            _ => IgnoredBy::Excludes,
        };
        let all: Vec<IgnoredBy> = fields.chunks_exact(4).map(by).collect();
        if all.len() == paths.len() { Ok(all) } else { Err(GitError::unexpected(COMPARE, b"too little")) }
    }

    /// Why staging would leave a new file out of commits.
    pub(crate) fn left_out(&self, path: &Path, max_file_bytes: u64) -> Option<LeftOutReason> {
        guard::judge(self.toplevel(), path, max_file_bytes)
    }
}

/// A path as git reads it from a line of text.
pub(crate) fn quoted(path: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| !matches!(byte, 0..=0x1f | b'"' | b'\\' | 0x7f);
    if path.iter().all(plain) && !path.starts_with(b"#") {
        return path.to_vec();
    }
    let mut quoted = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            0..=0x1f | 0x7f => quoted.extend(format!("\\{byte:03o}").into_bytes()),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// What `git config --list -z --show-scope` prints, without what our own command line set.
fn listed_settings(listed: &[u8]) -> Settings {
    let mut fields = listed.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        if scope == b"command" {
            continue;
        }
        let (key, value) = match entry.iter().position(|byte| *byte == b'\n') {
            Some(end) => (&entry[..end], Some(entry[end + 1..].to_vec())),
            None => (entry, None),
        };
        entries.push((key.to_vec(), value));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_quoted_as_git_reads_them() {
        assert_eq!(quoted(b"/a b/\xff"), b"/a b/\xff");
        assert_eq!(quoted(b"a\n\"b\\"), b"\"a\\012\\\"b\\\\\"");
        assert_eq!(quoted(b"#a"), b"\"#a\"");
    }
}
