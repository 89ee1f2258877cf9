//! The objects of the commits that are proven: a bare repository that only Dacapo writes.
//!
//! It is filled by fetching. Fetching names every object by its content, so an object that somebody replaced in the source
//! is missing here, and the fetch fails. Nothing but objects is taken from the source.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::snapshot::{Piece, hash_of, hex};
use super::{ProofError, Request, config, files};
use crate::files::FileAction;
use crate::git::{Bare, GitError, History, Oid, Settings};

/// Counts up when a store that an earlier version made can no longer be used.
const FORMAT: &str = "proof store 1";

/// The bare repository of one user's repository.
#[derive(Debug)]
pub(super) struct Store {
    dir: PathBuf,
}

impl Store {
    pub(super) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(super) fn path(&self) -> &Path {
        &self.dir
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.dir.join("objects")
    }

    /// Fetches the commit with its history, and the branches and tags that there were at the start. What is here already
    /// costs no git process.
    pub(super) fn fill(&self, request: &Request<'_>) -> Result<(), ProofError> {
        let _lock = self.lock()?;
        let settings = request.snapshot.settings()?;
        let wanted = self.config(request, &settings)?;
        if files::read(&self.dir.join("config")).ok().as_deref() != Some(&wanted) {
            self.make(&wanted)?;
        }
        let (commit, source) = (request.commit, request.source.common_dir());
        let git = self.git(request);
        let history = match request.snapshot.piece(Piece::Shallow)? {
            Some(_) => History::Shallow,
            None => History::Whole,
        };
        let is_partial = config::is_partial(&settings);
        if !self.kept(commit).is_file() {
            let line = || format!("+{commit}:refs/dacapo/{commit}\n").into_bytes();
            self.twice(|| match is_partial {
                true => git.fetch_partial(config::PARTIAL_SOURCE, line(), commit),
                false => git.fetch(source, line(), history),
            })?;
        }
        if settings.iter().any(|(key, _)| key.starts_with(b"filter.lfs.")) {
            let storage = config::last(&settings, "lfs.storage").map_or("lfs".as_ref(), OsStr::from_bytes);
            self.copy_lfs(&source.join(storage), &git.lfs_objects(commit)?)?;
        }
        // The files that a partial clone leaves out are fetched where a check asks for them.
        if is_partial { Ok(()) } else { self.fetch_refs(request, &git, history) }
    }

    /// Fetches a commit that the history of another one need not hold, such as the base of a branch that was rewritten.
    pub(super) fn fill_with(&self, request: &Request<'_>, commit: &Oid) -> Result<(), ProofError> {
        let git = self.git(request);
        let settings = request.snapshot.settings()?;
        let line = || format!("+{commit}:refs/dacapo/{commit}\n").into_bytes();
        let is_partial = config::is_partial(&settings);
        if self.kept(commit).is_file() || (!is_partial && git.has(commit)?) {
            return Ok(());
        }
        let _lock = self.lock()?;
        let history = match request.snapshot.piece(Piece::Shallow)? {
            Some(_) => History::Shallow,
            None => History::Whole,
        };
        self.twice(|| match is_partial {
            true => git.fetch_partial(config::PARTIAL_SOURCE, line(), commit),
            false => git.fetch(request.source.common_dir(), line(), history),
        })
    }

    /// Runs git, and once more where it failed: something may have killed it or its helpers. A lock that it finds here was left
    /// by a killed git of an earlier proof, because nobody else writes while the store's own lock is held, and is removed.
    fn twice(&self, run: impl Fn() -> Result<(), GitError>) -> Result<(), ProofError> {
        let Err(error) = run() else { return Ok(()) };
        match &error {
            GitError::RefLocked { lock } | GitError::IndexLocked { lock } if lock.starts_with(&self.dir) => {
                fs::remove_file(lock).map_err(ProofError::file(FileAction::Remove, lock))?;
            }
            GitError::Failed { .. } => {}
            GitError::RefLocked { .. }
            | GitError::IndexLocked { .. }
            | GitError::Missing
            | GitError::CutShort { .. }
            | GitError::SpecialFile { .. }
            | GitError::LeadsElsewhere { .. }
            | GitError::Io { .. }
            | GitError::TooOld { .. }
            | GitError::Unexpected { .. } => return Err(error.into()),
        }
        Ok(run()?)
    }

    /// Git in it.
    pub(super) fn git(&self, request: &Request<'_>) -> Bare {
        request.source.bare(&self.dir)
    }

    /// Where the objects of LFS are.
    pub(super) fn lfs(&self) -> PathBuf {
        self.dir.join("lfs")
    }

    /// Copies objects of LFS whose content is what their name says. Another one is left to the filter, which asks the
    /// server for it, as in a fresh clone.
    fn copy_lfs(&self, from: &Path, names: &[String]) -> Result<(), ProofError> {
        for name in names {
            let below = Path::new("objects").join(&name[..2]).join(&name[2..4]).join(name);
            let (source, target) = (from.join(&below), self.lfs().join(&below));
            if target.is_file() {
                continue;
            }
            let copied = || -> io::Result<()> {
                let Ok(mut source) = files::open(&source) else { return Ok(()) };
                files::make_dir(target.parent().unwrap_or(&self.dir))?;
                let new = target.with_extension("new");
                if hash_of(&mut source, &mut files::create(&new)?)? == *name {
                    fs::rename(new, &target)
                } else {
                    fs::remove_file(new)
                }
            };
            copied().map_err(ProofError::file(FileAction::Copy, &source))?;
        }
        Ok(())
    }

    /// Fetches what branches and tags pointed to at the start, once for each set of them. The proof of a commit does not
    /// depend on it: an agent may have deleted a branch, and with it the only way to its objects.
    fn fetch_refs(&self, request: &Request<'_>, git: &Bare, history: History) -> Result<(), ProofError> {
        let refs = request.snapshot.piece(Piece::Refs)?.unwrap_or_default();
        let hash = hex(&hmac_sha256::Hash::hash(&refs));
        let noted = self.dir.join("refs-fetched");
        if files::read(&noted).is_ok_and(|found| found == hash.as_bytes()) {
            return Ok(());
        }
        let ids =
            refs.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').next());
        let ids: std::collections::BTreeSet<&[u8]> = ids.filter(|id| !id.is_empty()).collect();
        let lines: Vec<u8> = ids.into_iter().flat_map(|id| [id, b"\n"].concat()).collect();
        if lines.is_empty() {
            return Ok(());
        }
        match git.fetch(request.source.common_dir(), lines, history) {
            Ok(()) => {
                files::replace(&noted, hash.as_bytes()).map_err(ProofError::file(FileAction::Write, &noted))
            }
            Err(error) => {
                tracing::warn!(%error, "branches or tags of the start cannot be fetched");
                Ok(())
            }
        }
    }

    /// The ref that a fetch writes once everything the commit needs is here.
    fn kept(&self, commit: &Oid) -> PathBuf {
        self.dir.join("refs/dacapo").join(commit.as_str())
    }

    /// Waits for another proof that fills it.
    fn lock(&self) -> Result<File, ProofError> {
        let path = self.dir.with_extension("lock");
        let opened = self.dir.parent().map_or(Ok(()), files::make_dir);
        let opened = opened.and_then(|()| crate::files::open_or_create(&path));
        let locked = opened.and_then(|file| file.lock().map(|()| file));
        locked.map_err(ProofError::file(FileAction::Lock, path))
    }

    /// The text of its configuration. Where it is not the one that is there (a shallow clone was completed, the remote of
    /// a partial clone is another), the store is made anew.
    fn config(&self, request: &Request<'_>, settings: &Settings) -> Result<Vec<u8>, ProofError> {
        let mut text = format!("# {FORMAT}\n").into_bytes();
        if request.snapshot.piece(Piece::Shallow)?.is_some() {
            text.extend_from_slice(b"# shallow\n");
        }
        let sha256 = request.commit.as_str().len() == 64;
        text.extend(config::of_store(settings, request.source.common_dir(), sha256));
        Ok(text)
    }

    fn make(&self, config: &[u8]) -> Result<(), ProofError> {
        let made = || {
            files::remove(&self.dir)?;
            for dir in ["objects/info", "objects/pack", "refs/heads"] {
                files::make_dir(&self.dir.join(dir))?;
            }
            files::write(&self.dir.join("HEAD"), b"ref: refs/heads/none\n")?;
            // Last: one that a crash left without it is made anew.
            files::write(&self.dir.join("config"), config)
        };
        made().map_err(ProofError::file(FileAction::Create, &self.dir))
    }
}

/// The text of an alternates file that leads to the objects at `dir`.
pub(super) fn alternates(dir: &Path) -> Vec<u8> {
    [crate::git::quoted(dir.as_os_str().as_bytes()), b"\n".to_vec()].concat()
}
