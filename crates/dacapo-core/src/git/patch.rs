//! What is different between two commits, for people: files with their lines, and the patch itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::stat::{FileStat, parse};
use super::{Oid, Repo};

const OPERATION: &str = "compare commits";

/// Whether a change of white space alone counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whitespace {
    #[default]
    Counts,
    Ignored,
}

impl Whitespace {
    fn flag(self) -> Option<&'static str> {
        match self {
            Whitespace::Counts => None,
            Whitespace::Ignored => Some("--ignore-all-space"),
        }
    }
}

impl Repo {
    /// Every file in which two commits differ, with how many lines; from `None` all that `tip` holds. A rename is both its
    /// paths. Of `paths`, from the top of the repository, where some are given; else of all.
    pub fn stat_between(
        &self,
        base: Option<&Oid>,
        tip: &Oid,
        whitespace: Whitespace,
        paths: &[PathBuf],
    ) -> Result<Vec<FileStat>, GitError> {
        let known =
            self.between(base, tip, whitespace, paths, &["--numstat".into(), "-z".into()]).stdout()?;
        parse(&known).ok_or_else(|| GitError::unexpected(OPERATION, &known))
    }

    /// Writes the patch from one commit to another into a file, files in the same order as above. It may be of any size.
    pub fn write_patch(
        &self,
        base: Option<&Oid>,
        tip: &Oid,
        whitespace: Whitespace,
        paths: &[PathBuf],
        to: &Path,
    ) -> Result<(), GitError> {
        let mut output = OsString::from("--output=");
        output.push(to);
        self.between(base, tip, whitespace, paths, &["--patch".into(), output]).stdout().map(drop)
    }

    fn between(
        &self,
        base: Option<&Oid>,
        tip: &Oid,
        whitespace: Whitespace,
        paths: &[PathBuf],
        form: &[OsString],
    ) -> super::run::Call {
        let base = base.map_or(self.empty_tree(), Oid::as_str);
        self.call(OPERATION)
            .args([
                "--literal-pathspecs",
                "diff",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--src-prefix=a/",
            ])
            .args(["--dst-prefix=b/", "--submodule=short"])
            .args(whitespace.flag())
            .args(form)
            .args([base, tip.as_str(), "--"])
            .args(paths)
    }
}
