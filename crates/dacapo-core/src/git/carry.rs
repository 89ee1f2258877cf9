//! Bringing what a task has committed from its own repository into the user's (S3).
//!
//! Git of ours reads the user's repository with the task's objects beside it, and fetches from that: so no setting, hook or
//! ref of the task's repository has a say, every object is named by its content and checked (`fetch.fsckObjects`), and all
//! that a commit refers to must have come along before a ref names it. Nothing but objects is taken.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use super::error::GitError;
use super::rescue::short;
use super::worktree::WorktreeError;
use super::{Oid, Repo, durable, regular};

const CARRY: &str = "carry the task's commits over";
const REASON: &str = "dacapo: carried over";
/// More rescue refs no task of ours makes; an agent can make any number.
const MOST_RESCUED: usize = 1000;
/// Hexadecimal digits of the SHA-256 that an object of LFS is named by.
const LFS_NAME: usize = 64;

/// What there was to carry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Carried {
    /// Where the branch is in both repositories now; none: the task's has none, or is not there.
    pub tip: Option<Oid>,
    /// Refs of the user's repository that were made or moved, by their full names.
    pub refs: Vec<String>,
}

/// Where the refs of a task's repository are that are to be carried.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    tip: Option<Oid>,
    rescued: Vec<(String, Oid)>,
}

impl Repo {
    /// Returns true if the branch (full name) of the task's repository at `worktree` is where it is here, as far as a look at
    /// the files can tell.
    pub fn is_carried(&self, worktree: &Path, branch: &str) -> bool {
        let file = worktree.join(".git").join(branch);
        let said = regular::read(&file).ok().and_then(|bytes| Oid::from_output(&bytes).ok());
        let has_rescued = worktree.join(".git/refs/dacapo").exists();
        said.is_some() && !has_rescued && self.read_ref(branch).is_ok_and(|here| here == said)
    }

    /// Brings the branch (full name) of the task's repository at `worktree`, and its refs below `rescue`, into this one: the
    /// user's. What is here already costs no git process. A branch that somebody moved here meanwhile is kept first.
    pub fn carry_now(&self, worktree: &Path, branch: &str, rescue: &str) -> Result<Carried, WorktreeError> {
        if fs::symlink_metadata(worktree.join(".git")).is_err() {
            return Ok(Carried::default());
        }
        let own = self.private(worktree)?;
        let found = Found { tip: own.read_ref(branch)?, rescued: own.refs_below(rescue)? };
        self.carry_found(&own, (&found, &own.objects_dir()), branch, rescue)
    }

    /// What this repository, a task's, holds by now: links to its objects in `into`, which no agent can take away, and where its
    /// refs are. Objects from before `since` are there already.
    pub(crate) fn link_objects(
        &self,
        (branch, rescue): (&str, &str),
        into: &Path,
        since: SystemTime,
    ) -> Result<Found, GitError> {
        super::private::refuse_links(self.toplevel())?;
        let found = Found { tip: self.read_ref(branch)?, rescued: self.refs_below(rescue)? };
        let objects = self.objects_dir();
        let packs =
            fs::read_dir(objects.join("pack")).into_iter().flatten().flatten().map(|pack| pack.path());
        for object in durable::written_since(&objects, since).into_iter().chain(packs) {
            let Ok(name) = object.strip_prefix(&objects) else { continue };
            let link = into.join(name);
            if fs::symlink_metadata(&link).is_err() {
                if let Some(parent) = link.parent() {
                    fs::create_dir_all(parent).map_err(GitError::io(CARRY, parent))?;
                }
                fs::hard_link(&object, &link).map_err(GitError::io(CARRY, &link))?;
            }
        }
        Ok(found)
    }

    /// Brings what was staged into this repository, the user's; from the task's repository itself where that is not enough.
    pub(crate) fn carry_staged(
        &self,
        own: &Self,
        (found, objects): (&Found, &Path),
        (branch, rescue): (&str, &str),
    ) -> Result<Carried, WorktreeError> {
        match self.carry_found(own, (found, objects), branch, rescue) {
            Err(WorktreeError::Git(error)) if !error.is_by_stop() => {
                tracing::debug!(%error, "the task's repository itself is asked");
                self.carry_now(own.toplevel(), branch, rescue)
            }
            done => done,
        }
    }

    fn carry_found(
        &self,
        own: &Self,
        (Found { tip, rescued }, objects): (&Found, &Path),
        branch: &str,
        rescue: &str,
    ) -> Result<Carried, WorktreeError> {
        let mut orders = Vec::new();
        let here = self.read_ref(branch)?;
        let moved = tip.as_ref().filter(|tip| here.as_ref() != Some(tip));
        orders.extend(moved.map(|tip| (branch.to_owned(), tip.clone(), here.clone())));
        for (name, oid) in rescued {
            // One that keeps something else here is never moved.
            if self.read_ref(name)?.is_none() {
                orders.push((name.clone(), oid.clone(), None));
            }
        }
        if orders.is_empty() {
            return Ok(Carried { tip: tip.clone(), refs: Vec::new() });
        }
        self.fetch_objects(objects, orders.iter().map(|(_, oid, _)| oid))?;
        self.copy_lfs(own)?;
        if let (Some(tip), Some(here)) = (moved, &here) {
            let elsewhere =
                self.listed_worktrees()?.into_iter().find(|at| at.branch.as_deref() == Some(branch));
            if let Some(elsewhere) = elsewhere {
                return Err(WorktreeError::CheckedOut { branch: short(branch), at: elsewhere.path });
            }
            if !self.is_ancestor(here, tip)? {
                self.rescue(rescue, "replaced", here)?;
            }
        }
        let text: String = orders
            .iter()
            .map(|(name, new, old)| {
                format!("update {name} {new} {}\n", old.as_ref().map_or(self.zero(), Oid::as_str))
            })
            .collect();
        let call =
            self.carrying().args(["update-ref", "--create-reflog", "-m", REASON, "--no-deref", "--stdin"]);
        match call.stdin(text.into_bytes()).stdout() {
            Ok(_) => {}
            // Another process has carried the same.
            Err(_) if tip.is_some() && self.read_ref(branch)? == *tip => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Carried { tip: tip.clone(), refs: orders.into_iter().map(|(name, ..)| name).collect() })
    }

    /// Heeds no first stop: what a task has committed is to be in the user's repository when it ends.
    fn carrying(&self) -> super::run::Call {
        self.call(CARRY).apart()
    }

    /// Refs of a task's repository, from its files where there are none.
    fn refs_below(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        let packed = || regular::read(&self.common_dir().join("packed-refs")).unwrap_or_default();
        let wanted = format!(" {prefix}/");
        if !self.reftable
            && !self.common_dir().join(prefix).exists()
            && memchr::memmem::find(&packed(), wanted.as_bytes()).is_none()
        {
            return Ok(Vec::new());
        }
        let most = format!("--count={MOST_RESCUED}");
        let call = self.call(CARRY).args(["for-each-ref", &most, "--format=%(objectname) %(refname)"]);
        let out = call.arg(format!("{prefix}/")).stdout()?;
        let text = String::from_utf8_lossy(&out);
        let line = |line: &str| {
            let (oid, name) = line.split_once(' ')?;
            Some((name.to_owned(), Oid::parse(oid).ok()?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    pub(super) fn fetch_objects<'a>(
        &self,
        objects: &Path,
        wanted: impl Iterator<Item = &'a Oid>,
    ) -> Result<(), GitError> {
        let wanted: String = wanted.map(|oid| format!("{oid}\n")).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let call = self.carrying().args([
            "-c",
            "fetch.fsckObjects=true",
            "-c",
            "fetch.writeCommitGraph=false",
            "-c",
            "fetch.unpackLimit=1000",
            "-c",
            "protocol.file.allow=always",
            "-c",
            "core.commitGraph=false",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-show-forced-updates",
            "--stdin",
            "--upload-pack",
        ]);
        let call = call.arg(self.upload_pack(objects)).arg(self.common_dir());
        call.env("GIT_NO_LAZY_FETCH", "1").stdin(wanted.into_bytes()).stdout().map(drop)
    }

    /// The command that git starts in this repository, by a shell: it reads the objects of another one beside its own.
    fn upload_pack(&self, objects: &Path) -> OsString {
        let mut command = b"GIT_ALTERNATE_OBJECT_DIRECTORIES=".to_vec();
        push_word(&mut command, &alternate(objects));
        command.extend_from_slice(b" GIT_NO_REPLACE_OBJECTS=1 ");
        push_word(&mut command, self.git().program().as_os_str().as_bytes());
        let settings = [
            "uploadpack.allowAnySHA1InWant=true",
            "safe.directory=*",
            "core.commitGraph=false",
            "core.multiPackIndex=false",
            "pack.useBitmaps=false",
            // Objects that a partial clone lacks are named by no new tree.
            "pack.useSparse=false",
        ];
        for setting in settings {
            command.extend_from_slice(b" -c ");
            push_word(&mut command, setting.as_bytes());
        }
        command.extend_from_slice(b" upload-pack");
        OsString::from_vec(command)
    }

    /// Copies objects of LFS that the task's repository has and this one has not, and whose content is what their name says.
    fn copy_lfs(&self, own: &Self) -> Result<(), GitError> {
        let from = own.common_dir().join("lfs/objects");
        if !fs::symlink_metadata(&from).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        let set = self.call(CARRY).args(["config", "--get", "--type=path", "lfs.storage"]).output()?;
        let set = set.stdout.strip_suffix(b"\n").unwrap_or_default().to_vec();
        let storage = if set.is_empty() { b"lfs".to_vec() } else { set };
        let to = self.common_dir().join(OsString::from_vec(storage)).join("objects");
        let below = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let objects = below(&from).flat_map(|dir| below(&dir).collect::<Vec<_>>());
        for object in objects.flat_map(|dir| below(&dir).collect::<Vec<_>>()) {
            let Some(name) = object.file_name().and_then(|name| name.to_str()) else { continue };
            let is_name = name.len() == LFS_NAME && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            // One with several names is the user's own, which Git LFS has linked.
            let is_new = fs::symlink_metadata(&object).is_ok_and(|meta| meta.is_file() && meta.nlink() == 1);
            if is_name && is_new {
                let target = to.join(&name[..2]).join(&name[2..4]).join(name);
                copy_named(&object, &target, name).map_err(GitError::io(CARRY, &object))?;
            }
        }
        Ok(())
    }
}

fn copy_named(from: &Path, to: &Path, name: &str) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Ok(());
    }
    let Some(parent) = to.parent() else { return Ok(()) };
    fs::create_dir_all(parent)?;
    let mut source = regular::open(from)?;
    let mut target = tempfile::Builder::new().prefix(".dacapo-").tempfile_in(parent)?;
    let (mut hash, mut buffer) = (hmac_sha256::Hash::new(), vec![0; 1 << 16]);
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        target.write_all(&buffer[..read])?;
    }
    let is: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    // One that is not what its name says is left to the filter, which asks the server for it.
    if is == name {
        target.persist(to).map_err(|error| error.error)?;
    }
    Ok(())
}

/// A path as `GIT_ALTERNATE_OBJECT_DIRECTORIES` takes it, where a colon would begin another one.
fn alternate(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\' | b'\n')) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'"'];
    for byte in bytes {
        match byte {
            b'\n' => quoted.extend_from_slice(b"\\n"),
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Adds a word for a shell.
pub(super) fn push_word(command: &mut Vec<u8>, word: &[u8]) {
    command.push(b'\'');
    for byte in word {
        match byte {
            b'\'' => command.extend_from_slice(b"'\\''"),
            _ => command.push(*byte),
        }
    }
    command.push(b'\'');
}
