//! Git in the bare repository that holds the objects of proofs.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::carry::push_word;
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

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) mode: String,
    pub(crate) id: String,
}

/// A path in which two commits differ, with both contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: Vec<u8>,
    /// None: it was not there.
    pub(crate) was: Option<Blob>,
    /// None: it is gone.
    pub(crate) is: Option<Blob>,
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

    /// All files of a commit, by their paths.
    pub(crate) fn files(&self, commit: &Oid) -> Result<Vec<(Vec<u8>, Blob)>, GitError> {
        let out =
            self.call(COMPARE).args(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()]).stdout()?;
        // MODE TYPE ID<TAB>PATH
        let file = |record: &[u8]| {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            let words = std::str::from_utf8(&record[..tab]).ok()?;
            let [mode, _, id] = words.split(' ').collect::<Vec<_>>()[..] else { return None };
            Some((record[tab + 1..].to_vec(), Blob { mode: mode.to_owned(), id: id.to_owned() }))
        };
        let records = out.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        records.map(|record| file(record).ok_or_else(|| GitError::unexpected(COMPARE, record))).collect()
    }

    /// The paths in which two commits differ, with their contents; a renamed file is one that is gone and another one.
    pub(crate) fn changes(&self, old: &Oid, new: &Oid) -> Result<Vec<Changed>, GitError> {
        let call = self.call(COMPARE).args(["diff-tree", "-r", "-z", "--no-renames", "--raw"]);
        let out = call.args([old.as_str(), new.as_str()]).stdout()?;
        let mut fields = out.split(|byte| *byte == 0);
        let mut found = Vec::new();
        // :MODE MODE ID ID STATUS
        while let (Some(head), Some(path)) = (fields.next().filter(|head| !head.is_empty()), fields.next()) {
            let words = std::str::from_utf8(head).map(|head| head.split(' ').collect::<Vec<_>>());
            let Ok([was_mode, is_mode, was_id, is_id, _]) = words.as_deref() else {
                return Err(GitError::unexpected(COMPARE, head));
            };
            let blob = |mode: &str, id: &str| {
                (mode != "000000").then(|| Blob { mode: mode.to_owned(), id: id.to_owned() })
            };
            let was = blob(was_mode.trim_start_matches(':'), was_id);
            found.push(Changed { path: path.to_vec(), was, is: blob(is_mode, is_id) });
        }
        Ok(found)
    }

    /// The contents of files, by their ids. One that is missing, or larger than `most` bytes, is left out.
    pub(crate) fn contents(&self, ids: &[&str], most: u64) -> Result<HashMap<String, Vec<u8>>, GitError> {
        let lines =
            |ids: &[&str]| ids.iter().flat_map(|id| [id, "\n"].concat().into_bytes()).collect::<Vec<u8>>();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let listed = self.call(COMPARE).args(["cat-file", "--batch-check"]).stdin(lines(ids)).stdout()?;
        // ID blob SIZE
        let small = |line: &[u8]| {
            let words = std::str::from_utf8(line).ok()?.split(' ').collect::<Vec<_>>();
            let [id, "blob", size] = words[..] else { return None };
            size.parse::<u64>().is_ok_and(|size| size <= most).then(|| id.to_owned())
        };
        let wanted: Vec<String> = listed.split(|byte| *byte == b'\n').filter_map(small).collect();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let out = self.call(COMPARE).args(["cat-file", "--batch"]).stdin(lines(&wanted)).stdout()?;
        let mut rest = out.as_slice();
        let mut found = HashMap::new();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
            let body = end + 1;
            let Some(content) = size.and_then(|size| rest.get(body..body + size)) else {
                return Err(GitError::unexpected(COMPARE, head.as_bytes()));
            };
            let id = head.split(' ').next().unwrap_or_default().to_owned();
            found.insert(id, content.to_vec());
            rest = rest.get(body + content.len() + 1..).unwrap_or_default();
        }
        Ok(found)
    }

    /// Returns true if the commit is here.
    pub(crate) fn has(&self, commit: &Oid) -> Result<bool, GitError> {
        let call = self.call(COMPARE).args(["cat-file", "-e", &format!("{commit}^{{commit}}")]);
        Ok(call.output()?.exit == Some(0))
    }

    /// Writes a file, and returns its id.
    pub(crate) fn write(&self, content: Vec<u8>) -> Result<String, GitError> {
        let out = self.call(COMPARE).args(["hash-object", "-w", "--stdin"]).stdin(content).stdout()?;
        Ok(String::from_utf8_lossy(&out).trim_end().to_owned())
    }

    /// Writes the tree of a commit with other contents at some paths, none of which is a file of the tree any more. `index` is a
    /// file that it may use.
    pub(crate) fn tree_with(
        &self,
        commit: &Oid,
        edits: &[(&[u8], Option<Blob>)],
        index: &Path,
    ) -> Result<Oid, GitError> {
        let call = || self.call(COMPARE).env("GIT_INDEX_FILE", index);
        call().args(["read-tree", commit.as_str()]).stdout()?;
        let nothing = "0".repeat(commit.as_str().len());
        let mut lines = Vec::new();
        // What goes first: a directory may come in the place of a file.
        for (path, _) in edits {
            lines.extend_from_slice(format!("0 {nothing}\t").as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
        for (path, blob) in edits {
            let Some(Blob { mode, id }) = blob else { continue };
            lines.extend_from_slice(format!("{mode} {id}\t").as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
        call().args(["update-index", "--replace", "-z", "--index-info"]).stdin(lines).stdout()?;
        let out = call().args(["write-tree", "--missing-ok"]).stdout()?;
        let id = String::from_utf8_lossy(&out).trim_end().to_owned();
        Oid::parse(&id).map_err(|_| GitError::unexpected(COMPARE, &out))
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
        push_word(&mut command, program);
        command.extend_from_slice(
            b" -c uploadpack.allowAnySHA1InWant=true -c uploadpack.allowFilter=true -c safe.directory='*' upload-pack",
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
