//! A leased checkout, brought to a commit.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::clean::{Act, Cleaner, Tracked, open_all};
use super::config::{self, Fixed};
use super::pool::{Last, SetUp};
use super::snapshot::{Included, Piece, hex};
use super::{ProofError, Snapshot, files};
use crate::files::FileAction;
use crate::git::{Oid, Repo, Standalone, quoted};

/// What package managers pin dependencies in: a change means that the setup must run again.
const LOCK_FILES: [&str; 20] = [
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "requirements.txt",
    "uv.lock",
    "yarn.lock",
];

/// What is to be checked out.
#[derive(Debug)]
pub struct Request<'a> {
    /// A checkout of the repository that has the commit: the task's worktree, or the user's own checkout.
    pub source: &'a Repo,
    pub commit: &'a Oid,
    /// What counts beside it.
    pub snapshot: &'a Snapshot,
    /// Directories that are kept as caches are, in the syntax of `.gitignore` (`[proof] keep`).
    pub keep: &'a [String],
    pub setup: &'a [String],
}

/// A checkout at its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The setup commands must run before the checks. False where there are none.
    pub needs_setup: bool,
    /// How many files that earlier proofs left were removed.
    pub removed: u64,
}

/// A checkout that is ours until this, all shares of it and all git commands in it are gone.
#[derive(Debug)]
pub struct Lease {
    dir: PathBuf,
    tree: PathBuf,
    lock: File,
    last: Last,
    pub(super) at: Option<At>,
}

/// Where a checkout stands.
#[derive(Debug)]
pub(super) struct At {
    pub(super) git: Standalone,
    pub(super) commit: Oid,
    pub(super) tracked: Tracked,
    pub(super) snapshot: Snapshot,
    included: HashSet<Vec<u8>>,
    keeps_more: bool,
    fingerprint: String,
}

impl Lease {
    pub(super) fn new(dir: PathBuf, lock: File, last: Last) -> Self {
        Self { tree: dir.join("tree"), dir, lock, last, at: None }
    }

    /// The checkout itself, the working directory of setup and checks.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// For `Job::holds`: the checkout stays ours until the guard of that job says that its tree is empty.
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.lock.try_clone()?.into())
    }

    /// Brings it to a commit. Whatever a crash or an earlier proof left is repaired or removed; caches stay.
    pub fn prepare(&mut self, request: &Request<'_>) -> Result<Prepared, ProofError> {
        self.at = None;
        let is_new = !fs::symlink_metadata(&self.tree).is_ok_and(|found| found.is_dir());
        if is_new {
            self.note_setup(None)?;
            files::remove(&self.tree).map_err(ProofError::file(FileAction::Remove, &self.tree))?;
            fs::create_dir(&self.tree).map_err(ProofError::file(FileAction::Create, &self.tree))?;
        }
        self.write_git_dir(request)?;
        let keep = self.dir.join("keep");
        let patterns = request.keep.join("\n");
        files::write(&keep, patterns.as_bytes()).map_err(ProofError::file(FileAction::Write, &keep))?;
        let lock = self.lock.try_clone().map_err(ProofError::file(FileAction::Lock, &self.dir))?;
        let git = request.source.standalone(&self.tree, &self.index(), lock);
        self.sync(&git, request.commit)?;
        let tracked = Tracked::new(git.entries()?);
        let fingerprint = fingerprint(request.setup, &tracked);
        let included: Vec<&Included> = laid_out(request.snapshot, &tracked);
        let at = At {
            included: included.iter().map(|file| file.path.as_os_str().as_bytes().to_vec()).collect(),
            git,
            commit: request.commit.clone(),
            tracked,
            snapshot: request.snapshot.clone(),
            keeps_more: !request.keep.is_empty(),
            fingerprint,
        };
        // After `sync`, which only knows tracked files: what an earlier check left untracked could make this one
        // pass.
        let removed = self.clean(&at, Act::Remove)?;
        for file in included {
            self.lay_out(request.snapshot, file)?;
        }
        self.give_index().map_err(ProofError::file(FileAction::Copy, &self.dir))?;
        let done = self.last.setup.as_ref();
        let done = done.is_some_and(|done| done.fingerprint == at.fingerprint && !done.leaves_files);
        let needs_setup = !request.setup.is_empty() && !done;
        if needs_setup {
            // Until it has succeeded again, whoever comes next runs it too.
            self.note_setup(None)?;
        }
        self.at = Some(at);
        Ok(Prepared { needs_setup, removed })
    }

    /// All setup commands of the request succeeded here: they run again when they or a lock file change.
    pub fn setup_done(&mut self) -> Result<(), ProofError> {
        let Some(at) = &self.at else { return Ok(()) };
        let leaves_files = self.clean(at, Act::Count)? > 0;
        let setup = SetUp { fingerprint: at.fingerprint.clone(), leaves_files };
        self.note_setup(Some(setup))
    }

    fn note_setup(&mut self, setup: Option<SetUp>) -> Result<(), ProofError> {
        if self.last.setup == setup {
            return Ok(());
        }
        self.last.setup = setup;
        self.last.write(&self.dir)
    }

    /// Outside of the tree: commands that run there must not set bits in it that hide files from us.
    fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    /// Made anew each time, by hand: nothing that was done to the one before counts, and no git has to be started for it.
    fn write_git_dir(&self, request: &Request<'_>) -> Result<(), ProofError> {
        let (git_dir, snapshot) = (self.tree.join(".git"), request.snapshot);
        let attributes = self.dir.join("attributes");
        let piece = |piece| snapshot.piece(piece);
        let fixed = Fixed {
            sha256: request.commit.as_str().len() == 64,
            attributes: &attributes,
            common_dir: request.source.common_dir(),
        };
        let objects = request.source.objects_dir();
        let texts = [
            (git_dir.join("HEAD"), Some(format!("{}\n", request.commit).into_bytes())),
            (git_dir.join("config"), Some(config::render(&snapshot.settings()?, &fixed))),
            (git_dir.join("packed-refs"), piece(Piece::Refs)?),
            (git_dir.join("shallow"), piece(Piece::Shallow)?),
            (git_dir.join("info/exclude"), piece(Piece::Excludes)?),
            (git_dir.join("info/attributes"), piece(Piece::Attributes)?),
            (git_dir.join("info/sparse-checkout"), piece(Piece::Sparse)?),
            (
                git_dir.join("objects/info/alternates"),
                Some([quoted(objects.as_os_str().as_bytes()), b"\n".to_vec()].concat()),
            ),
            (attributes.clone(), Some(piece(Piece::UsersAttributes)?.unwrap_or_default())),
        ];
        let entered = fs::symlink_metadata(&self.tree).and_then(|found| files::open_up(&self.tree, &found));
        entered.map_err(ProofError::file(FileAction::Open, &self.tree))?;
        files::remove(&git_dir).map_err(ProofError::file(FileAction::Remove, &git_dir))?;
        for dir in ["info", "objects/info", "refs"].map(|name| git_dir.join(name)) {
            files::make_dir(&dir).map_err(ProofError::file(FileAction::Create, &dir))?;
        }
        for (path, text) in texts {
            if let Some(text) = text {
                files::write(&path, &text).map_err(ProofError::file(FileAction::Write, path))?;
            }
        }
        Ok(())
    }

    /// If it does not work at once, directories may be closed or the index broken; the second try writes every file.
    fn sync(&self, git: &Standalone, commit: &Oid) -> Result<(), ProofError> {
        let lock = self.dir.join("index.lock");
        // The lease is ours: no git is at work that it could belong to.
        files::remove(&lock).map_err(ProofError::file(FileAction::Remove, &lock))?;
        // The ordinary way first. What makes it fail is an index that a kill left half written, or directories that a
        // check has closed: both are cleared away below, at the price of writing all files anew.
        if git.sync(commit).is_ok() {
            return Ok(());
        }
        for left in [lock, self.index()] {
            files::remove(&left).map_err(ProofError::file(FileAction::Remove, left))?;
        }
        open_all(&self.tree).map_err(ProofError::file(FileAction::Open, &self.tree))?;
        Ok(git.sync(commit)?)
    }

    /// Makes tracked files again what the commit says.
    pub(super) fn sync_again(&self, at: &At) -> Result<(), ProofError> {
        self.sync(&at.git, &at.commit)
    }

    fn clean(&self, at: &At, act: Act) -> Result<u64, ProofError> {
        let mut kept = HashSet::new();
        if at.keeps_more {
            for path in at.git.untracked_named_in(&self.dir.join("keep"))? {
                let name = path.as_os_str().as_bytes();
                kept.insert(name.strip_suffix(b"/").unwrap_or(name).to_vec());
            }
        }
        let (tree, tracked, included) = (&self.tree, &at.tracked, &at.included);
        let cleaner = Cleaner { tree, tracked, included, kept: &kept, act };
        cleaner.run().map_err(ProofError::file(FileAction::Clean, tree))
    }

    fn lay_out(&self, snapshot: &Snapshot, file: &Included) -> Result<(), ProofError> {
        let to = self.tree.join(&file.path);
        let io = || ProofError::file(FileAction::Write, &to);
        if snapshot.is_same(file, &to).map_err(io())? {
            return Ok(());
        }
        // A directory of a cache may be in the way, or be a link that leads elsewhere.
        let mut parent = self.tree.clone();
        for part in file.path.parent().unwrap_or(Path::new("")).components() {
            let Component::Normal(name) = part else { return Ok(()) };
            parent.push(name);
            if !fs::symlink_metadata(&parent).is_ok_and(|found| found.is_dir()) {
                files::remove(&parent).map_err(io())?;
                fs::create_dir(&parent).map_err(io())?;
            }
        }
        files::remove(&to).map_err(io())?;
        snapshot.lay_out(file, &to)
    }

    /// Git works in the checkout, with an index of its own.
    fn give_index(&self) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let ours = self.index();
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o600))?;
        let copy = self.tree.join(".git/index");
        io::copy(&mut files::open(&ours)?, &mut files::create(&copy)?)?;
        // By its age git tells which files may have changed after they were looked at.
        let modified = fs::symlink_metadata(&ours)?.modified()?;
        File::open(&copy)?.set_times(FileTimes::new().set_modified(modified))
    }
}

/// Of the included files, those whose place the commit leaves free.
fn laid_out<'a>(snapshot: &'a Snapshot, tracked: &Tracked) -> Vec<&'a Included> {
    let is_free = |file: &&Included| {
        let path = file.path.as_os_str().as_bytes();
        let is_tracked = |dir: &Path| tracked.get(dir.as_os_str().as_bytes()).is_some();
        !file.path.ancestors().any(is_tracked) && !tracked.has_below(path)
    };
    snapshot.included().filter(is_free).collect()
}

/// Of what decides whether a setup is still right.
fn fingerprint(setup: &[String], tracked: &Tracked) -> String {
    let mut hash = hmac_sha256::Hash::new();
    for command in setup {
        hash.update(command.as_bytes());
        hash.update([0]);
    }
    for entry in &tracked.present {
        let name = Path::new(OsStr::from_bytes(&entry.path)).file_name();
        if LOCK_FILES.iter().any(|known| name == Some(OsStr::new(known))) {
            hash.update(&entry.path);
            hash.update([0]);
            hash.update(entry.oid.as_bytes());
            hash.update([0]);
        }
    }
    hex(&hash.finalize())
}
