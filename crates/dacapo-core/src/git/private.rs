//! A task's own repository (S3): a git directory of its own in the task's worktree, which finds the user's objects by
//! `objects/info/alternates`. Branches, tags, remotes and settings are as they were at the start, hooks do not come along.
//! Whatever an agent does with git there, the user's repository stays as it is; [`Repo::carry_now`] brings commits over.
//!
//! What is in such a git directory is the agent's to change. Before git of ours runs there, links in it are refused: they
//! would lead our writes, and an agent's branches, to wherever it likes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::config_text::{parts, put};
use super::error::GitError;
use super::regular;
use super::standalone::quoted;
use super::worktree::WorktreeError;
use super::{Oid, Repo};

const MAKE: &str = "make the task's repository";
const OPEN: &str = "open the task's repository";

/// Of the repository and not of what the user has set, or decides where a repository is.
const NOT_COPIED: [(&str, &str); 9] = [
    ("core", "bare"),
    ("core", "hookspath"),
    ("core", "repositoryformatversion"),
    ("core", "worktree"),
    ("extensions", "compatobjectformat"),
    ("extensions", "objectformat"),
    ("extensions", "refstorage"),
    ("extensions", "relativeworktrees"),
    ("extensions", "worktreeconfig"),
];

/// Below these nothing is the user's work, or it is of one working tree.
const NO_REFS: [&str; 5] =
    ["refs/dacapo/", "refs/stash", "refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// Files that decide what git sees, of the repository and of the working tree.
const SHARED: [&str; 4] = ["shallow", "info/exclude", "info/attributes", "info/grafts"];
const SPARSE: &str = "info/sparse-checkout";

/// Where git keeps objects, submodules and objects of LFS: no ref or setting of the repository is below.
const NOT_SEARCHED: [&str; 2] = ["modules", "lfs"];
/// In a git directory that git alone has written there are less.
const MOST_ENTRIES: usize = 200_000;

/// The ref of the user's repository that keeps the commit on which a branch (full name) was begun from `git gc`.
pub(crate) fn base_ref(branch: &str) -> String {
    format!("refs/dacapo/base/{}", branch.strip_prefix("refs/heads/").unwrap_or(branch))
}

impl Repo {
    /// Makes a repository of its own with a checkout at `path`, on a new branch (short name) that starts at `start`. The
    /// branch is made here too, and a ref that keeps `start`.
    pub fn add_worktree(&self, path: &Path, branch: &str, start: &Oid) -> Result<Self, WorktreeError> {
        let full = format!("refs/heads/{branch}");
        self.locked(|| {
            if self.read_ref(&full)?.is_some() {
                return Err(WorktreeError::BranchExists(branch.to_owned()));
            }
            if let Some(existing) = self.conflicting_branch(branch)? {
                return Err(WorktreeError::BranchConflict { wanted: branch.to_owned(), existing });
            }
            if fs::symlink_metadata(path).is_ok() {
                return Err(WorktreeError::PathExists(path.to_owned()));
            }
            let orders = format!("update {} {start}\ncreate {full} {start}\n", base_ref(&full));
            let call = self.call("make a branch").args(["update-ref", "-m", "dacapo: task began", "--stdin"]);
            call.stdin(orders.into_bytes()).stdout()?;
            Ok(())
        })?;
        self.check_out_private(path, &full, start)
    }

    /// Makes one whose directory somebody has removed again at `path`, on its branch (short name). None: the branch is gone
    /// too.
    pub(crate) fn add_worktree_again(
        &self,
        path: &Path,
        branch: &str,
    ) -> Result<Option<Self>, WorktreeError> {
        let full = format!("refs/heads/{branch}");
        let Some(tip) = self.read_ref(&full)? else { return Ok(None) };
        self.check_out_private(path, &full, &tip).map(Some)
    }

    fn check_out_private(&self, path: &Path, branch: &str, tip: &Oid) -> Result<Self, WorktreeError> {
        self.make_git_dir(path, branch, tip)?;
        let own = self.private(path)?;
        // As `git worktree add` does it: filters run, and patterns of a sparse checkout hold.
        own.call(MAKE).args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]).stdout()?;
        Ok(own)
    }

    /// Makes the files of a worktree again at `tip` when its directory, or the repository in it, has been removed. What was
    /// not carried over is lost with it; nothing else is.
    pub fn restore_worktree(&self, path: &Path, branch: &str, tip: &Oid) -> Result<Self, WorktreeError> {
        // Files that are still there may be work that nobody has committed: only the index says what was.
        let holds_files = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        self.make_git_dir(path, branch, tip)?;
        let own = self.private(path)?;
        let to = if holds_files { &["--reset"][..] } else { &["--reset", "-u"] };
        own.call(MAKE).arg("read-tree").args(to).arg(tip.as_str()).stdout()?;
        Ok(own)
    }

    /// The git directory, with nothing checked out.
    fn make_git_dir(&self, path: &Path, branch: &str, tip: &Oid) -> Result<(), GitError> {
        let config = self.call(MAKE).args(["config", "--list", "-z", "--show-scope"]).spawn()?;
        let refs = self.call(MAKE).args(["for-each-ref", "--format=%(objectname) %(refname) %(symref)"]);
        let refs = refs.spawn()?;
        let settings = config.stdout()?;
        let mut text = self.private_settings(&settings);
        let refs = refs.stdout()?;
        let dir = path.join(".git");
        fs::create_dir_all(path).map_err(GitError::io(MAKE, path))?;
        if self.reftable {
            let format = if self.is_sha256() { "--object-format=sha256" } else { "--object-format=sha1" };
            let init = self.base().call(MAKE, path).args(["init", "--quiet", "--template=", format]);
            init.args(["--ref-format=reftable", "."]).stdout()?;
        }
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"] {
            let folder = dir.join(folder);
            // Among tables `refs/heads` is a file that keeps older programs out.
            if fs::symlink_metadata(&folder).is_err() {
                fs::create_dir_all(&folder)
                    .or_else(|error| if self.reftable { Ok(()) } else { Err(error) })
                    .map_err(GitError::io(MAKE, &folder))?;
            }
        }
        let write = |name: &str, bytes: &[u8]| {
            let file = dir.join(name);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent).map_err(GitError::io(MAKE, parent))?;
            }
            fs::write(&file, bytes).map_err(GitError::io(MAKE, &file))
        };
        let shared = SHARED.map(|name| (name, self.common_dir())).into_iter();
        for (name, from) in shared.chain([(SPARSE, self.git_dir())]) {
            match regular::read(&from.join(name)) {
                Ok(bytes) => write(name, &bytes)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(GitError::io(MAKE, &from.join(name))(error)),
            }
        }
        let objects = self.objects_dir();
        write("objects/info/alternates", &[&quoted(objects.as_os_str().as_bytes())[..], b"\n"].concat())?;
        write("config", &text)?;
        let refs = copied_refs(&refs, (branch, tip));
        if self.reftable {
            let own = self.base().clone().with("GIT_DIR", &dir);
            let call = |words: &[&str]| own.call(MAKE, path).args(words);
            let orders: String =
                refs.plain.iter().map(|(name, oid)| format!("create {name} {oid}\n")).collect();
            call(&["update-ref", "--no-deref", "--stdin"]).stdin(orders.into_bytes()).stdout()?;
            for (name, leads_to) in
                refs.symbolic.iter().map(|(name, to)| (name.as_str(), to.as_str())).chain([("HEAD", branch)])
            {
                call(&["symbolic-ref", name, leads_to]).stdout()?;
            }
        } else {
            let lines = refs.plain.iter().map(|(name, oid)| format!("{oid} {name}\n"));
            write(
                "packed-refs",
                format!("# pack-refs with: sorted \n{}", lines.collect::<String>()).as_bytes(),
            )?;
            for (name, leads_to) in &refs.symbolic {
                write(name, format!("ref: {leads_to}\n").as_bytes())?;
            }
            write("HEAD", format!("ref: {branch}\n").as_bytes())?;
        }
        self.add_lost_settings(&settings, path, &mut text)?;
        write("config", &text)
    }

    /// The user's settings of this repository as the text of a configuration file.
    fn private_settings(&self, listed: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        let mut extended = self.is_sha256() || self.reftable;
        for (scope, key, value) in entries(listed) {
            if !matches!(scope, b"local" | b"worktree") || !is_copied(key) {
                continue;
            }
            extended |= key.starts_with(b"extensions.");
            // Git LFS finds the user's objects beside the alternates; a place of its own it would empty (`git lfs prune`).
            if key == b"lfs.storage" && !value.is_some_and(|value| value.starts_with(b"/")) {
                continue;
            }
            let value = value.map(|value| self.settled_value(key, value));
            put(&mut text, key, value.as_deref());
        }
        let version: &[u8] = if extended { b"1" } else { b"0" };
        put(&mut text, b"core.repositoryformatversion", Some(version));
        put(&mut text, b"core.bare", Some(b"false"));
        put(&mut text, b"core.logallrefupdates", Some(b"true"));
        // Also where the user's own settings name hooks for all repositories.
        put(&mut text, b"core.hooksPath", Some(b".git/hooks"));
        if self.is_sha256() {
            put(&mut text, b"extensions.objectFormat", Some(b"sha256"));
        }
        if self.reftable {
            put(&mut text, b"extensions.refStorage", Some(b"reftable"));
        }
        text
    }

    /// The address of a remote that is a path from the user's checkout leads to the same place from elsewhere.
    fn settled_value(&self, key: &[u8], value: &[u8]) -> Vec<u8> {
        let is_address = matches!(parts(key), (b"remote", _, b"url" | b"pushurl"));
        if is_address && !value.starts_with(b"/") {
            let path = self.toplevel().join(OsStr::from_bytes(value));
            if let Ok(path) = path.canonicalize() {
                return path.into_os_string().into_encoded_bytes();
            }
        }
        value.to_vec()
    }

    /// Adds the user's own settings that hold only for repositories in certain places (`includeIf.gitdir:…`): an identity, for
    /// one.
    fn add_lost_settings(&self, before: &[u8], path: &Path, text: &mut Vec<u8>) -> Result<(), GitError> {
        if !entries(before).any(|(_, key, _)| key.starts_with(b"includeif.")) {
            return Ok(());
        }
        let own = self.base().clone().with("GIT_DIR", path.join(".git"));
        let now = own.call(MAKE, path).args(["config", "--list", "-z", "--show-scope"]).stdout()?;
        let is_users = |scope: &[u8]| matches!(scope, b"global" | b"system");
        let known: BTreeSet<_> =
            entries(&now).filter(|entry| is_users(entry.0)).map(|(_, key, value)| (key, value)).collect();
        let local: BTreeSet<&[u8]> =
            entries(&now).filter(|entry| entry.0 == b"local").map(|entry| entry.1).collect();
        for (scope, key, value) in entries(before) {
            // A setting of the repository itself is the stronger one.
            if is_users(scope) && is_copied(key) && !known.contains(&(key, value)) && !local.contains(key) {
                put(text, key, value);
            }
        }
        Ok(())
    }

    /// The task's own repository at `path`. Refused where it is not as git makes one: then it may lead anywhere.
    pub fn private(&self, path: &Path) -> Result<Self, GitError> {
        refuse_links(path)?;
        let mut own = self.beside(path).map_err(|error| match error {
            super::DiscoverError::Git(error) => error,
            other => GitError::unexpected(OPEN, other.to_string().as_bytes()),
        })?;
        let dir = own.toplevel().join(".git");
        let is_there = path.canonicalize().is_ok_and(|path| own.toplevel() == path);
        if !is_there || own.git_dir() != dir || own.common_dir() != dir {
            return Err(GitError::LeadsElsewhere { operation: OPEN, path: path.to_owned() });
        }
        own.private = true;
        Ok(own)
    }
}

/// Says that there is something in a private git directory that leads elsewhere, or none.
pub(super) fn refuse_links(worktree: &Path) -> Result<(), GitError> {
    match link_in(&worktree.join(".git")) {
        Some(path) => Err(GitError::LeadsElsewhere { operation: OPEN, path }),
        None => Ok(()),
    }
}

/// The first thing in a private git directory by which git would leave it.
pub(super) fn link_in(git_dir: &Path) -> Option<PathBuf> {
    let meta = fs::symlink_metadata(git_dir).ok()?;
    if !meta.is_dir() {
        // A file, too, names another directory.
        return Some(git_dir.to_owned());
    }
    let common = git_dir.join("commondir");
    if fs::symlink_metadata(&common).is_ok() {
        return Some(common);
    }
    let (mut open, mut left) = (vec![git_dir.to_owned()], MOST_ENTRIES);
    while let Some(dir) = open.pop() {
        let is_objects = dir.file_name().is_some_and(|name| name == "objects");
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            // Whoever makes more hides something in them.
            let Some(fewer) = left.checked_sub(1) else { return Some(dir) };
            left = fewer;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_symlink() {
                return Some(entry.path());
            }
            // Of objects only what they are found by: their own names say what they are.
            let is_searched = !is_objects || name == "info" || name == "pack";
            if kind.is_dir() && is_searched && !NOT_SEARCHED.iter().any(|other| name == *other) {
                open.push(entry.path());
            }
        }
    }
    None
}

/// Refs by name.
struct CopiedRefs {
    plain: Vec<(String, String)>,
    symbolic: Vec<(String, String)>,
}

/// Lines of `ID NAME LEADS_TO`. The task's own branch stands where it begins.
fn copied_refs(listed: &[u8], (own, tip): (&str, &Oid)) -> CopiedRefs {
    let mut refs = CopiedRefs { plain: vec![(own.to_owned(), tip.to_string())], symbolic: Vec::new() };
    for line in String::from_utf8_lossy(listed).lines() {
        let mut words = line.split(' ');
        let (Some(oid), Some(name)) = (words.next(), words.next()) else { continue };
        if name == own || NO_REFS.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        match words.next().filter(|leads_to| !leads_to.is_empty()) {
            Some(leads_to) => refs.symbolic.push((name.to_owned(), leads_to.to_owned())),
            None => refs.plain.push((name.to_owned(), oid.to_owned())),
        }
    }
    refs.plain.sort();
    refs
}

fn is_copied(key: &[u8]) -> bool {
    let (section, _, name) = parts(key);
    let is_listed =
        NOT_COPIED.iter().any(|(known, key)| section == known.as_bytes() && name == key.as_bytes());
    // What is included is listed by itself.
    !is_listed && !matches!(section, b"include" | b"includeif")
}

/// What `git config --list -z --show-scope` prints: scope, name, value.
fn entries(listed: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], Option<&[u8]>)> {
    let mut fields = listed.split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let (scope, entry) = (fields.next()?, fields.next()?);
        Some(match entry.iter().position(|byte| *byte == b'\n') {
            Some(end) => (scope, &entry[..end], Some(&entry[end + 1..])),
            None => (scope, entry, None),
        })
    })
}
