//! The checkout of one proof: everything in it is new, and nothing of it is left afterwards.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::bases::{Base, Bases, Found, Source};
use super::caches::{self, Cache, CacheKind};
use super::config::{self, Fixed};
use super::installed::Installed;
use super::originals::Compared;
use super::room::Around;
use super::snapshot::{Included, Piece};
use super::store::{Store, alternates};
use super::tracked::Tracked;
use super::{ProofError, Snapshot, downloads, files};
use crate::event::{CheckPhase, Exposed, ProofCache, TestsChange};
use crate::files::FileAction;
use crate::git::{Bare, Oid, Repo, Standalone};
use crate::process::{Finished, Job, Room};
use crate::spec::TestsPolicy;
use crate::yardstick::Judges;

/// The commit to check out, and what counts beside it.
#[derive(Debug)]
pub struct Request<'a> {
    /// A checkout of the repository that has the commit: the task's worktree, or the user's own checkout.
    pub source: &'a Repo,
    pub commit: &'a Oid,
    /// How the repository was set up before any agent ran.
    pub snapshot: &'a Snapshot,
    pub setup: &'a [String],
    /// The last commit that is the user's own. Caches that proofs of it or of its ancestors wrote may be copied.
    pub base: Option<&'a Oid>,
    pub start: Start,
    /// With which tests, settings and scripts it is judged.
    pub run: ProofRun,
    /// What judges the work.
    pub checks: &'a [String],
    pub tests: &'a TestsPolicy,
    /// The environment of the commands that will run there.
    pub env: &'a [(OsString, OsString)],
    /// Where the agent works; none: no agent has a say in what `source` is.
    pub workspace: Option<&'a Path>,
    /// What no command may change; none: they may change everything.
    pub guarded: Option<&'a Room>,
    /// The room of held-out checks; none: that of the others.
    pub held_out: Option<&'a Room>,
}

/// With which tests a commit is judged (L20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofRun {
    /// Those of the commit.
    Commit,
    /// Those of the base: what judges the work is put back.
    Originals,
}

/// What a checkout starts with beside the files of the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A copy of the base's caches, where there are any.
    Caches,
    /// Nothing but what package managers downloaded for the base.
    Nothing,
}

/// A checkout at its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The setup commands must run before the checks. False where there are none.
    pub needs_setup: bool,
    /// The caches that it starts with; none: it starts from nothing.
    pub cache: Option<ProofCache>,
    /// What the commit changes of what judges it; none: there is no base to compare it with.
    pub tests: Option<TestsChange>,
}

/// A checkout that is ours until this, all shares of it and all git commands in it are gone. Dropping it removes it.
/// Whose words a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The project's: agents may have written what it runs, and read what it prints.
    Project,
    /// The user's alone: a held-out check.
    User,
}

impl From<CheckPhase> for Whose {
    fn from(phase: CheckPhase) -> Self {
        match phase {
            CheckPhase::HeldOut => Self::User,
            CheckPhase::Baseline | CheckPhase::Iteration | CheckPhase::Proof | CheckPhase::Originals => {
                Self::Project
            }
        }
    }
}

#[derive(Debug)]
pub struct Lease {
    dir: PathBuf,
    tree: PathBuf,
    store: Store,
    bases: Bases,
    lock: File,
    /// What commands see here.
    room: Room,
    /// What held-out checks see.
    held_out: Room,
    /// The agent's workspace has to be seen, because the user's home is in it.
    home_in_workspace: bool,
    pub(super) at: Option<At>,
}

/// What is checked out.
#[derive(Debug)]
pub(super) struct At {
    pub(super) git: Standalone,
    store: Bare,
    pub(super) commit: Oid,
    pub(super) tracked: Tracked,
    pub(super) snapshot: Snapshot,
    included: HashSet<Vec<u8>>,
    caches: Vec<Cache>,
    /// What the setup installed; none: nothing, or it has not run.
    installed: Option<Installed>,
    base: Base,
    /// It is the commit itself, so that what is built from it may be kept.
    run: ProofRun,
}

/// Where checkouts go that cannot be removed.
pub(super) const UNDELETABLE: &str = "undeletable";
/// Between the number of a place and what tells a checkout beside it from others.
const BESIDE: char = '-';

impl Lease {
    pub(super) fn new(dir: PathBuf, store: Store, bases: Bases, lock: File) -> Self {
        let (tree, room) = (dir.join("tree"), Room::default());
        let held_out = Room::default();
        Self { tree, dir, store, bases, lock, room, held_out, home_in_workspace: false, at: None }
    }

    /// The checkout itself, the working directory of setup and checks.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// For `Job::holds`: the checkout stays ours until the guard of that job says that its tree is empty.
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.lock.try_clone()?.into())
    }

    /// Makes a command one of this proof, whoever runs it: it has download caches of the proof's own, sees nothing that an
    /// agent left, and the checkout stays ours until the guard of the job says that its tree is empty.
    pub fn house(&self, job: Job, whose: Whose) -> Job {
        let env = downloads::environment(job.env, &self.downloads(), &self.tree);
        let share = self.share().ok();
        let room = match whose {
            Whose::Project => self.room.clone(),
            Whose::User => self.held_out.clone(),
        };
        Job { env, room: Some(room), holds: job.holds.into_iter().chain(share).collect(), ..job }
    }

    /// Why a command of this proof could see what the agent left.
    pub fn exposed(&self, finished: &Finished) -> Option<Exposed> {
        let refused = finished
            .room
            .and_then(|made| made.refused())
            .map(|refused| Exposed::Refused { message: refused.to_string() });
        refused.or_else(|| self.home_in_workspace.then_some(Exposed::HomeInWorkspace))
    }

    /// Makes the room of the commands that will run here.
    fn make_room(&mut self, request: &Request<'_>) -> Result<(), ProofError> {
        // Places are in the data of a repository, which is beside that of others.
        let above = |levels| self.dir.ancestors().nth(levels).unwrap_or(&self.dir);
        let mut around = Around {
            proof: &self.dir,
            store: self.store.path(),
            repos: above(3),
            workspace: request.workspace,
            data: above(2),
            outside: &request.snapshot.piece(Piece::Outside)?.unwrap_or_default(),
            guarded: request.guarded,
        };
        let room = around.room(request.env).map_err(ProofError::file(FileAction::Create, &self.dir))?;
        let home_in_workspace = around.has_home_in_workspace(request.env);
        (self.room, self.home_in_workspace) = (room, home_in_workspace);
        around.guarded = request.held_out.or(request.guarded);
        self.held_out = around.room(request.env).map_err(ProofError::file(FileAction::Create, &self.dir))?;
        Ok(())
    }

    /// Makes the checkout anew at a commit. What was here before is thrown away.
    pub fn prepare(&mut self, request: &Request<'_>) -> Result<Prepared, ProofError> {
        self.at = None;
        self.discard()?;
        files::make_dir(&self.dir).map_err(ProofError::file(FileAction::Create, &self.dir))?;
        fs::create_dir(&self.tree).map_err(ProofError::file(FileAction::Create, &self.tree))?;
        downloads::make(&self.downloads(), request.env)
            .map_err(ProofError::file(FileAction::Create, self.downloads()))?;
        self.store.fill(request)?;
        self.make_room(request)?;
        self.write_git_dir(request)?;
        let judged = self.compare(request)?;
        let (tests, tree) = judged.map_or((None, None), |(tests, tree)| (Some(tests), tree));
        let tree = tree.as_ref().unwrap_or(request.commit);
        let checked_out_at = SystemTime::now();
        let lock = self.lock.try_clone().map_err(ProofError::file(FileAction::Lock, &self.dir))?;
        let git = request.source.standalone(&self.tree, &self.index(), lock);
        git.sync(tree)?;
        let tracked = Tracked::new(git.entries()?);
        let included: Vec<&Included> = laid_out(request.snapshot, &tracked);
        for file in &included {
            self.lay_out(request.snapshot, file)?;
        }
        self.give_index().map_err(ProofError::file(FileAction::Copy, &self.dir))?;
        let fingerprint = caches::fingerprint(request.setup, &tracked);
        let mut at = At {
            included: included.iter().map(|file| file.path.as_os_str().as_bytes().to_vec()).collect(),
            git,
            store: self.store.git(request),
            commit: request.commit.clone(),
            caches: caches::of(&tracked),
            installed: None,
            tracked,
            snapshot: request.snapshot.clone(),
            base: Base::new(request.commit.clone(), checked_out_at, fingerprint),
            run: request.run,
        };
        let prepared = Prepared { tests, ..self.start_from(&mut at, request, tree)? };
        if !prepared.needs_setup {
            self.note_installed(&mut at)?;
        }
        self.at = Some(at);
        Ok(prepared)
    }

    /// What the commit changes of what judges it, and for a run with the originals the tree that has them.
    fn compare(&self, request: &Request<'_>) -> Result<Option<(TestsChange, Option<Oid>)>, ProofError> {
        let Some(base) = request.base else { return Ok(None) };
        self.store.fill_with(request, base)?;
        let git = self.store.git(request);
        let judges = Judges { checks: request.checks, protect: &request.tests.protect };
        let compared = Compared::new(&git, base, request.commit, judges)?;
        let tree = match request.run {
            ProofRun::Commit => None,
            ProofRun::Originals => {
                Some(compared.originals(&git, request.commit, &self.dir.join("originals-index"))?)
            }
        };
        Ok(Some((compared.facts(base), tree)))
    }

    /// Copies what the request allows of the base's caches.
    fn start_from(&self, at: &mut At, request: &Request<'_>, tree: &Oid) -> Result<Prepared, ProofError> {
        let has_setup = !request.setup.is_empty();
        let from_nothing = Prepared { needs_setup: has_setup, cache: None, tests: None };
        let git = &at.store;
        let Some(base) = request.base else { return Ok(from_nothing) };
        let Some(found) = self.bases.find(git, base)? else { return Ok(from_nothing) };
        let wanted = match request.start {
            Start::Caches => at.caches.as_slice(),
            Start::Nothing => &[],
        };
        let to = Source { tree: &self.tree, downloads: &self.downloads() };
        let copied = found
            .copy(wanted, &at.base.fingerprint, to)
            .map_err(ProofError::file(FileAction::Copy, &self.tree))?;
        if copied.is_empty() {
            return Ok(from_nothing);
        }
        let differing = git.differing(&found.base.commit, tree)?;
        if copied.contains(&CacheKind::Cargo) {
            let changed = differing.iter().map(|differs| differs.path.as_slice()).collect();
            self.set_old_times(at, &changed, &found)
                .map_err(ProofError::file(FileAction::Write, &self.tree))?;
            // Built files are older than this checkout: what is kept of it must go by the older time again.
            at.base.checked_out_at = found.base.checked_out_at;
        }
        let is_installed = copied.contains(&CacheKind::Installed)
            && found.base.fingerprint == at.base.fingerprint
            && !found.base.setup_leaves_files;
        let confirm = differing.iter().any(|differs| differs.is_gone);
        let cache = ProofCache { commit_id: found.base.commit.clone(), confirm };
        Ok(Prepared { needs_setup: has_setup && !is_installed, cache: Some(cache), tests: None })
    }

    /// Gives files that are as they were in the base the time they had then. Cargo compares times: all other files are newer
    /// than what was built, and are built again.
    fn set_old_times(&self, at: &At, changed: &HashSet<&[u8]>, found: &Found) -> io::Result<()> {
        let times = FileTimes::new().set_modified(found.base.checked_out_at);
        for entry in at.tracked.iter().filter(|entry| !changed.contains(entry.path.as_slice())) {
            let path = self.tree.join(OsStr::from_bytes(&entry.path));
            if fs::symlink_metadata(&path)?.is_file() {
                File::open(&path)?.set_times(times)?;
            }
        }
        Ok(())
    }

    /// From here on, what is written into installed caches is the checks' doing.
    fn note_installed(&self, at: &mut At) -> Result<(), ProofError> {
        let marker = self.dir.join("installed");
        let noted = Installed::note(&self.tree, &at.caches, &marker);
        at.installed = noted.map_err(ProofError::file(FileAction::Read, &self.tree))?;
        Ok(())
    }

    /// Notes that all setup commands of the request succeeded here.
    pub fn setup_done(&mut self) -> Result<(), ProofError> {
        let Some(mut at) = self.at.take() else { return Ok(()) };
        let noted = self.note_installed(&mut at);
        let at = self.at.insert(at);
        noted?;
        let counts = |path: &Vec<u8>| {
            let path = path.strip_suffix(b"/").unwrap_or(path);
            let is_cache = at.caches.iter().any(|cache| cache.path.as_os_str().as_bytes() == path);
            !is_cache && !at.included.contains(path)
        };
        at.base.setup_leaves_files = at.git.untracked()?.iter().any(counts);
        Ok(())
    }

    /// Keeps the caches of a green proof for those of commits that are built on this one.
    pub fn keep_caches(&mut self) -> Result<(), ProofError> {
        let kept = self.at.take().filter(|at| at.run == ProofRun::Commit);
        let Some(mut at) = kept else { return Ok(()) };
        match &at.installed {
            Some(installed) => installed
                .restore(&self.tree, &at.caches)
                .map_err(ProofError::file(FileAction::Write, &self.tree))?,
            // Nobody knows what checks added to them.
            None => at.caches.retain(|cache| cache.kind != CacheKind::Installed),
        }
        let from = Source { tree: &self.tree, downloads: &self.downloads() };
        self.bases.keep(at.base, &at.store, &at.caches, from)
    }

    /// Outside of the tree: commands that run there must not set bits in it that hide files from us.
    fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    fn downloads(&self) -> PathBuf {
        self.dir.join("downloads")
    }

    /// Removes the checkout. What cannot be removed (files of another user, or made undeletable) is moved out of the way;
    /// what cannot be moved either is left where it is, and the checkout is made elsewhere.
    fn discard(&mut self) -> Result<(), ProofError> {
        let Err(error) = files::remove(&self.dir) else { return Ok(()) };
        let trash = self.dir.with_file_name(UNDELETABLE);
        let away = trash.join(crate::spec::random_hex(8));
        match files::make_dir(&trash).and_then(|()| fs::rename(&self.dir, &away)) {
            Ok(()) => tracing::warn!(%error, dir = %away.display(), "a proof checkout cannot be removed"),
            Err(_) => {
                tracing::warn!(%error, dir = %self.dir.display(), "a proof checkout cannot be removed");
                let name = self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let name = name.split(BESIDE).next().unwrap_or_default();
                self.dir.set_file_name(format!("{name}{BESIDE}{}", crate::spec::random_hex(8)));
                self.tree = self.dir.join("tree");
            }
        }
        Ok(())
    }

    /// By hand: no git has to be started for it, and no template of the user's has a say in it.
    fn write_git_dir(&self, request: &Request<'_>) -> Result<(), ProofError> {
        let (git_dir, snapshot) = (self.tree.join(".git"), request.snapshot);
        let attributes = self.dir.join("attributes");
        let piece = |piece| snapshot.piece(piece);
        let sha256 = request.commit.as_str().len() == 64;
        let fixed = Fixed { sha256, attributes: &attributes, lfs: &self.store.lfs() };
        let texts = [
            (git_dir.join("HEAD"), Some(format!("{}\n", request.commit).into_bytes())),
            (git_dir.join("config"), Some(config::render(&snapshot.settings()?, &fixed))),
            (git_dir.join("packed-refs"), piece(Piece::Refs)?),
            (git_dir.join("shallow"), piece(Piece::Shallow)?),
            (git_dir.join("info/exclude"), piece(Piece::Excludes)?),
            (git_dir.join("info/attributes"), piece(Piece::Attributes)?),
            (git_dir.join("objects/info/alternates"), Some(alternates(&self.store.objects()))),
            (attributes.clone(), Some(piece(Piece::UsersAttributes)?.unwrap_or_default())),
        ];
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

    /// Makes tracked files again what the commit says, after checks have run.
    pub(super) fn sync_again(&self, at: &At) -> Result<(), ProofError> {
        if at.git.sync(&at.commit).is_ok() {
            return Ok(());
        }
        // A check has closed directories.
        files::open_all(&self.tree).map_err(ProofError::file(FileAction::Open, &self.tree))?;
        Ok(at.git.sync(&at.commit)?)
    }

    fn lay_out(&self, snapshot: &Snapshot, file: &Included) -> Result<(), ProofError> {
        let to = self.tree.join(&file.path);
        let mut parent = self.tree.clone();
        for part in file.path.parent().unwrap_or(Path::new("")).components() {
            let Component::Normal(name) = part else { return Ok(()) };
            parent.push(name);
            // A directory of the commit may be a link that leads elsewhere.
            let made = match fs::symlink_metadata(&parent) {
                Ok(found) if found.is_dir() => continue,
                Ok(_) => return Ok(()),
                Err(_) => fs::create_dir(&parent),
            };
            made.map_err(ProofError::file(FileAction::Create, &parent))?;
        }
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

impl Drop for Lease {
    fn drop(&mut self) {
        // A guard that still holds a share has something running here. Whoever takes the place next throws it away.
        if let Err(error) = self.discard() {
            tracing::warn!(%error, "a proof checkout is left behind");
        }
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
