//! Git in the bare repository that holds the objects of proofs.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::run::{Call, Git};
use super::{Oid, Repo};

const FETCH: &str = "copy the commit for its proof";
const COMPARE: &str = "compare the commit with an earlier one";

/// How far back a commit is looked for that caches are of.
const MOST_HISTORY: &str = "500";

/// A file of LFS's that stands for an object is never longer.
const MOST_POINTER_BYTES: u64 = 1024;

/// A bare repository that reads no configuration but its own.
#[derive(Debug)]
pub(crate) struct Bare {
    git: Git,
    dir: PathBuf,
}

/// How far a fetch may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Whole,
    /// The source is a shallow clone: its history ends where it ends there.
    Shallow,
}

/// A path in which two commits differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Differs {
    pub(crate) path: Vec<u8>,
    /// The newer commit does not have it.
    pub(crate) is_gone: bool,
}

impl Bare {
    /// Fetches refs or objects, a line each, from the git directory `from`. Every object is named by its content, and all
    /// that a wanted one refers to must be there: else it fails, and no ref is written.
    pub(crate) fn fetch(&self, from: &Path, wanted: Vec<u8>, history: History) -> Result<(), GitError> {
        let call = self.fetching(history).arg(from);
        call.stdin(wanted).stdout().map(drop)
    }

    /// The same for a partial clone, from the remote `name` of this repository's own configuration; then fetches the files of
    /// the commit itself, which the filter of such a clone leaves out.
    pub(crate) fn fetch_partial(&self, name: &str, wanted: Vec<u8>, commit: &Oid) -> Result<(), GitError> {
        self.fetching(History::Whole).arg(name).stdin(wanted).stdout()?;
        let tree = format!("{commit}^{{tree}}");
        let list =
            self.call(FETCH).args(["rev-list", "--objects", "--missing=print", "--no-object-names", &tree]);
        let missing: Vec<u8> = list
            .stdout()?
            .split(|byte| *byte == b'\n')
            .filter_map(|line| line.strip_prefix(b"?"))
            .flat_map(|id| [id, b"\n"].concat())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        self.fetching(History::Whole).arg(name).stdin(missing).stdout().map(drop)
    }

    /// The ids of the newest commits of a history and of their trees; empty where the commit is not here.
    pub(crate) fn history(&self, tip: &Oid) -> Result<HashSet<String>, GitError> {
        let call =
            self.call(COMPARE).args(["log", "-n", MOST_HISTORY, "--format=%H%n%T", tip.as_str(), "--"]);
        let output = call.output()?;
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect())
    }

    /// The id of the tree of a commit.
    pub(crate) fn tree_of(&self, commit: &Oid) -> Result<String, GitError> {
        let out = self.call(COMPARE).args(["rev-parse", &format!("{commit}^{{tree}}")]).stdout()?;
        Ok(String::from_utf8_lossy(&out).trim_end().to_owned())
    }

    /// The paths in which two commits differ; a renamed file is one that is gone and another one.
    pub(crate) fn differing(&self, old: &Oid, new: &Oid) -> Result<Vec<Differs>, GitError> {
        let call = self.call(COMPARE).args(["diff-tree", "-r", "-z", "--no-renames", "--name-status"]);
        let out = call.args([old.as_str(), new.as_str()]).stdout()?;
        let mut fields = out.split(|byte| *byte == 0);
        let mut found = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            found.push(Differs { path: path.to_vec(), is_gone: status == b"D" });
        }
        Ok(found)
    }

    /// The objects of LFS that files of a commit stand for: their SHA-256, in hexadecimal.
    pub(crate) fn lfs_objects(&self, commit: &Oid) -> Result<Vec<String>, GitError> {
        const LIST: &str = "list the files of the commit";
        let out = self.call(LIST).args(["ls-tree", "-r", "-l", "-z", commit.as_str()]).stdout()?;
        // MODE blob ID SIZE<TAB>PATH
        let small = |record: &[u8]| {
            let words = std::str::from_utf8(record.split(|byte| *byte == b'\t').next()?).ok()?;
            let [_mode, "blob", id, size] = words.split_ascii_whitespace().collect::<Vec<_>>()[..] else {
                return None;
            };
            size.parse::<u64>().is_ok_and(|size| size <= MOST_POINTER_BYTES).then(|| format!("{id}\n"))
        };
        let ids: String = out.split(|byte| *byte == 0).filter_map(small).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let blobs = self.call(LIST).args(["cat-file", "--batch"]).stdin(ids.into_bytes()).stdout()?;
        let lines = blobs.split(|byte| *byte == b'\n');
        let sums = lines.filter_map(|line| std::str::from_utf8(line.strip_prefix(b"oid sha256:")?).ok());
        let is_sum = |sum: &&str| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(sums.filter(is_sum).map(str::to_owned).collect())
    }

    fn fetching(&self, history: History) -> Call {
        let call = self.call(FETCH).args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]);
        let call =
            call.args(["--no-recurse-submodules", "--stdin", "--upload-pack"]).arg(self.upload_pack(history));
        if history == History::Shallow { call.arg("--update-shallow") } else { call }
    }

    /// The command that git starts in the source, by a shell. Any commit there may be asked for, whoever owns the source, and
    /// no file there cuts its history short.
    fn upload_pack(&self, history: History) -> OsString {
        let program = self.git.program().as_os_str().as_bytes();
        let mut command = b"GIT_GRAFT_FILE=/dev/null ".to_vec();
        if history == History::Whole {
            command.extend_from_slice(b"GIT_SHALLOW_FILE=/dev/null ");
        }
        command.push(b'\'');
        for byte in program {
            match byte {
                b'\'' => command.extend_from_slice(b"'\\''"),
                _ => command.push(*byte),
            }
        }
        command.extend_from_slice(
            b"' -c uploadpack.allowAnySHA1InWant=true -c uploadpack.allowFilter=true -c safe.directory='*' upload-pack",
        );
        std::os::unix::ffi::OsStringExt::from_vec(command)
    }

    fn call(&self, operation: &'static str) -> Call {
        self.git.call(operation, &self.dir)
    }
}

impl Repo {
    /// The bare repository at `dir`, with the same git program.
    pub(crate) fn bare(&self, dir: &Path) -> Bare {
        let git = self.base().clone().alone().with("GIT_DIR", dir).with("GIT_NO_LAZY_FETCH", "1");
        Bare { git, dir: dir.to_owned() }
    }
}
