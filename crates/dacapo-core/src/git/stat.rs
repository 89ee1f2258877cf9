//! How much an iteration changed, file by file, before it is committed: for whoever writes its commit message.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use super::error::GitError;
use super::{Oid, Repo, guard};

const OPERATION: &str = "count changed lines";

/// How much of one file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    /// The path, as bytes.
    pub path: PathBuf,
    pub lines: Lines,
}

/// Lines of a file that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// Lines that were added and removed.
    Counted {
        /// Lines that were not there before.
        added: u64,
        /// Lines that are not there any more.
        removed: u64,
    },
    /// It has no lines.
    Binary,
    /// Git does not know the file yet, and so has counted nothing.
    New,
}

impl Repo {
    /// All that differs from `start` in the working tree, commits since then included. New files that no commit would
    /// take (secrets, files over `max_file_bytes`) are not named.
    pub fn stat_since(&self, start: Option<&Oid>, max_file_bytes: u64) -> Result<Vec<FileStat>, GitError> {
        let start = start.map_or(self.empty_tree(), Oid::as_str);
        let known = self
            .call(OPERATION)
            .args(["diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"])
            .args(["--ignore-submodules=dirty", start, "--"])
            .stdout()?;
        let mut stats = parse(&known).ok_or_else(|| GitError::unexpected(OPERATION, &known))?;
        let untracked = self.dirt()?.untracked.into_iter();
        let taken = untracked.filter(|path| guard::judge(self.toplevel(), path, max_file_bytes).is_none());
        stats.extend(taken.map(|path| FileStat { path, lines: Lines::New }));
        Ok(stats)
    }
}

/// `added TAB removed TAB path NUL`, with `-` for both where the file is binary.
pub(super) fn parse(output: &[u8]) -> Option<Vec<FileStat>> {
    let records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    records
        .map(|record| {
            let mut fields = record.splitn(3, |byte| *byte == b'\t');
            let (added, removed, path) = (fields.next()?, fields.next()?, fields.next()?);
            let lines = match (added, removed) {
                (b"-", b"-") => Lines::Binary,
                _ => Lines::Counted { added: number(added)?, removed: number(removed)? },
            };
            Some(FileStat { path: PathBuf::from(OsString::from_vec(path.to_vec())), lines })
        })
        .collect()
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything_but_nul() {
        let stats = parse(b"1\t2\ta\tb\nc\x00-\t-\t\xff.png\x00").unwrap();
        let shown: Vec<String> = stats.iter().map(|stat| super::super::display_path(&stat.path)).collect();
        assert_eq!(shown, ["a\\tb\\nc", "\\xff.png"]);
        assert_eq!(stats[0].lines, Lines::Counted { added: 1, removed: 2 });
        assert_eq!(stats[1].lines, Lines::Binary);
        assert_eq!(parse(b""), Some(Vec::new()));
        assert_eq!(parse(b"x\ty\tz\0"), None);
    }
}
