//! Removing what is not needed any more (S9): worktrees of merged tasks, what was put away, what crashes left. Whatever
//! git can keep of it is under a ref before it goes, and nothing that is neither merged nor old goes unasked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::dropped::{DropError, DropReason, Dropped, DroppedRecord};
use crate::engine::Kinds;
use crate::files::FileAction;
use crate::git::{GitError, Ignored, Oid, Repo};
use crate::proof::Pool;
use crate::spec::Place;
use crate::store::{RepoDir, TaskDir, disk_usage};
use crate::view::TaskView;

/// What was put away and is not merged stays this long.
pub const KEEP_UNMERGED: Duration = Duration::from_secs(30 * 24 * 3600);

/// A proof checkout that nobody has used for so long goes: the next proof makes another.
pub(crate) const KEEP_PROOFS: Duration = Duration::from_secs(7 * 24 * 3600);

/// Counting files ends here; the number is for people.
const COUNTING: Duration = Duration::from_secs(30);

/// Which rules decide what may be removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Only what is older than this.
    pub older_than: Option<Duration>,
    /// Which of what was put away.
    pub put_away: PutAway,
}

/// Which of what was put away may go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PutAway {
    /// What is merged and holds nothing else, and all that is older than [`KEEP_UNMERGED`].
    #[default]
    MergedOrOld,
    All,
}

/// Something that is to be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub what: PruneKind,
    pub bytes: u64,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PruneKind {
    /// The worktree and branch of a merged task; its record stays.
    Worktree {
        name: String,
        path: PathBuf,
        /// The branch, by its full name.
        branch: String,
    },
    /// Something that was put away.
    Dropped {
        /// The task it was.
        name: String,
        id: String,
    },
    /// A checkout in which commits were proven, with its build caches.
    Proof { path: PathBuf },
    /// What a crash left: a scratch checkout, or a directory that was being removed.
    Left { path: PathBuf },
}

impl PruneKind {
    /// The name that people see.
    pub fn name(&self) -> String {
        match self {
            PruneKind::Worktree { name, .. } => name.clone(),
            PruneKind::Dropped { id, .. } => id.clone(),
            PruneKind::Proof { path } => {
                format!("proof/{}", path.file_name().unwrap_or_default().to_string_lossy())
            }
            PruneKind::Left { path } => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }
}

/// Why something is removed, or stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Its work is on another branch.
    Merged {
        /// The branch, by its short name.
        into: String,
        /// How many ignored files that no build makes again are put away first.
        put_away: usize,
    },
    /// A crash left it.
    LeftByCrash,
    /// The same, and nothing is in it.
    EmptyAfterCrash,
    /// Nothing was proven in it for so long.
    NoProofFor { seconds: u64 },
    /// It was put away.
    PutAway(PutAwayState),
    /// It was put away, and not for long enough.
    KeptFor {
        state: PutAwayState,
        /// It is removed after this many days.
        days: u64,
    },
    /// Whoever put it away was interrupted.
    CutShort,
    /// A merge, a rebase, … was begun there and not finished.
    GitAtWork,
    /// Files in it are in no commit.
    Uncommitted { files: usize },
    /// It belongs to no task.
    Nobodys { path: PathBuf },
    /// What git or the system said.
    Said {
        /// What git or the system says.
        message: String,
    },
}

/// What something that was put away holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutAwayState {
    /// All of it is merged.
    Merged,
    /// What was committed is merged.
    MergedWithFiles,
    /// It is not merged.
    NotMerged,
}

/// Something that stays, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spared {
    pub name: String,
    pub reason: Reason,
}

/// What would be done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    pub items: Vec<Item>,
    /// What stays though one might expect it to go.
    pub spared: Vec<Spared>,
}

#[derive(Debug)]
pub struct Prune<'a> {
    repo: &'a Repo,
    data: &'a RepoDir,
    kinds: Kinds,
    dropped: Dropped<'a>,
    rules: Rules,
    now: Timestamp,
}

impl<'a> Prune<'a> {
    pub fn new(repo: &'a Repo, data: &'a RepoDir, kinds: Kinds, rules: Rules, now: Timestamp) -> Self {
        Self { repo, data, kinds, dropped: Dropped::of(repo, data, kinds), rules, now }
    }

    /// Looks at everything, changes nothing.
    pub fn plan(&self) -> Result<Plan, DropError> {
        let mut plan = Plan::default();
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| DropError::File { what: FileAction::Read, path, source }
        };
        let tasks = self.data.tasks().map_err(unreadable(&self.data.tasks_path()))?;
        for dir in &tasks {
            self.look_at_task(dir, &mut plan)?;
        }
        for kept in self.dropped.all().map_err(unreadable(&self.data.dropped_path()))? {
            self.look_at_kept(&kept, &mut plan)?;
        }
        let left = self.repo.left_checkouts()?.into_iter().chain(self.dropped.half_removed());
        plan.items.extend(left.map(|path| Item {
            bytes: size(&path),
            what: PruneKind::Left { path },
            reason: Reason::LeftByCrash,
        }));
        for leftover in self.pool().leftovers().map_err(unreadable(self.data.path()))? {
            let least = self.rules.older_than.unwrap_or(KEEP_PROOFS);
            if self.is_old_enough(leftover.used_at, Some(least)) {
                let reason = Reason::NoProofFor { seconds: least.as_secs() };
                let bytes = size(&leftover.path);
                plan.items.push(Item { what: PruneKind::Proof { path: leftover.path }, bytes, reason });
            }
        }
        self.look_for_orphans(&tasks, &mut plan);
        Ok(plan)
    }

    /// Removes one thing; gives back the refs that keep what git can keep of it. None: it is not as it was planned.
    pub fn remove(&self, item: &Item) -> Result<Option<Vec<String>>, DropError> {
        match &item.what {
            PruneKind::Worktree { name, path, branch } => self.remove_worktree(name, path, branch),
            PruneKind::Dropped { id, .. } => {
                let all = self.dropped.all().unwrap_or_default();
                match all.iter().find(|kept| kept.id == *id) {
                    Some(kept) => self.dropped.remove_for_good(kept).map(Some),
                    None => Ok(None),
                }
            }
            PruneKind::Proof { path } => {
                let failed =
                    |source| DropError::File { what: FileAction::Remove, path: path.clone(), source };
                let all = self.pool().leftovers().map_err(failed)?;
                let least = self.rules.older_than.unwrap_or(KEEP_PROOFS);
                let found = all.iter().find(|leftover| leftover.path == *path);
                match found.filter(|leftover| self.is_old_enough(leftover.used_at, Some(least))) {
                    Some(leftover) if self.pool().remove(leftover).map_err(failed)? => Ok(Some(Vec::new())),
                    Some(_) | None => Ok(None),
                }
            }
            PruneKind::Left { path } => {
                self.repo.remove_left_checkouts()?;
                match fs::remove_dir_all(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(DropError::File { what: FileAction::Remove, path: path.clone(), source: error })
                    }
                    _ => Ok(Some(Vec::new())),
                }
            }
        }
    }

    fn pool(&self) -> Pool {
        Pool::at(self.data.path().to_owned())
    }

    fn worktrees(&self) -> PathBuf {
        self.data.path().join("worktrees")
    }

    fn is_old_enough(&self, since: Option<Timestamp>, least: Option<Duration>) -> bool {
        let age = since.map(|since| Duration::try_from(self.now.duration_since(since)).unwrap_or_default());
        least.is_none_or(|least| age.is_some_and(|age| age >= least))
    }

    fn look_at_task(&self, dir: &TaskDir, plan: &mut Plan) -> Result<(), DropError> {
        // One that does not read, or is at work, is nobody's business here.
        let (Ok(spec), Ok(view)) = (dir.spec(), TaskView::load(dir, self.kinds)) else { return Ok(()) };
        let Place::Worktree { path, branch, .. } = &spec.place else { return Ok(()) };
        // A merge that was cut short may have left the branch alone.
        let is_left = path.join(".git").exists() || view.merged.is_some();
        if !view.status.has_ended() || !is_left {
            return Ok(());
        }
        let Some(tip) = self.repo.read_ref(branch)? else { return Ok(()) };
        let Some(into) = self.merged_into(&view, &tip, branch)? else { return Ok(()) };
        if !self.is_old_enough(view.finished_at, self.rules.older_than) {
            return Ok(());
        }
        let name = view.name;
        match self.in_the_way(path, branch) {
            Some(reason) => plan.spared.push(Spared { name, reason }),
            None => {
                let what = PruneKind::Worktree { name, path: path.clone(), branch: branch.clone() };
                plan.items.push(self.worktree_item(what, path, &tip, &into)?);
            }
        }
        Ok(())
    }

    /// Files that no commit holds are put away and not removed; the rest of the worktree goes.
    fn worktree_item(&self, what: PruneKind, path: &Path, tip: &Oid, into: &str) -> Result<Item, DropError> {
        let ignored = if path.exists() { self.repo.ignored_in(path, Some(tip))? } else { Ignored::default() };
        let put_away = ignored.others.len();
        let bytes = match put_away {
            0 => size(path),
            _ => ignored.caches.iter().map(|cache| size(cache)).sum(),
        };
        Ok(Item { bytes, what, reason: Reason::Merged { into: into.to_owned(), put_away } })
    }

    /// A task that committed nothing has nothing merged either.
    fn merged_into(&self, view: &TaskView, tip: &Oid, own: &str) -> Result<Option<String>, GitError> {
        let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
        if let Some(merged) = &view.merged
            && view.last_commit.as_ref() == Some(tip)
            // Somebody may have moved that branch back.
            && let Some(there) = self.repo.read_ref(&merged.into)?
            && self.repo.has_commit(&merged.commit)?
            && self.repo.is_ancestor(&merged.commit, &there)?
        {
            return Ok(Some(short(&merged.into)));
        }
        if view.base_commit.as_ref() == Some(tip) {
            return Ok(None);
        }
        Ok(self.dropped.branch_with(tip, own)?.map(|name| short(&name)))
    }

    fn in_the_way(&self, path: &Path, branch: &str) -> Option<Reason> {
        let said = |message: String| Some(Reason::Said { message });
        if let Err(error) = self.repo.can_set_aside(branch) {
            return said(error.to_string());
        }
        if !path.exists() {
            return None;
        }
        let dirt = self.repo.private(path).map_err(|error| error.to_string());
        match dirt.and_then(|own| own.dirt().map_err(|error| error.to_string())) {
            Ok(dirt) if dirt.is_clean() => None,
            Ok(dirt) if dirt.operation.is_some() => Some(Reason::GitAtWork),
            Ok(dirt) => Some(Reason::Uncommitted { files: dirt.count() }),
            Err(error) => said(error),
        }
    }

    fn look_at_kept(&self, kept: &DroppedRecord, plan: &mut Plan) -> Result<(), DropError> {
        let item = |reason: Reason| Item {
            what: PruneKind::Dropped { name: kept.name.clone(), id: kept.id.clone() },
            bytes: self.dropped.size(kept),
            reason,
        };
        let under_way = self.dropped.is_under_way(kept)?;
        if under_way && kept.why != DropReason::Dropped {
            // The task's own worktree and branch are looked at; what they hold goes where this is.
            return Ok(());
        }
        if under_way && !self.dropped.is_empty(kept) {
            plan.spared.push(Spared { name: kept.name.clone(), reason: Reason::CutShort });
            return Ok(());
        }
        if under_way {
            plan.items.push(item(Reason::EmptyAfterCrash));
            return Ok(());
        }
        let asked = self.rules.put_away == PutAway::All;
        let merged = kept.merged || matches!(kept.why, DropReason::Merged { .. });
        let clean = merged && self.dropped.is_clean(kept)?;
        let least = if asked || clean {
            self.rules.older_than
        } else {
            self.rules.older_than.or(Some(KEEP_UNMERGED))
        };
        let old = self.is_old_enough(Some(kept.at), least);
        // An age that was asked for is no word about what is not merged: that takes `PutAway::All`, or 30 days.
        let may = clean || asked || self.is_old_enough(Some(kept.at), Some(KEEP_UNMERGED));
        let state = match (merged, clean) {
            (true, true) => PutAwayState::Merged,
            (true, false) => PutAwayState::MergedWithFiles,
            (false, _) => PutAwayState::NotMerged,
        };
        if old && may {
            plan.items.push(item(Reason::PutAway(state)));
        } else if !may {
            let reason = Reason::KeptFor { state, days: KEEP_UNMERGED.as_secs() / (24 * 3600) };
            plan.spared.push(Spared { name: kept.id.clone(), reason });
        }
        Ok(())
    }

    /// A directory beside the worktrees that no task knows is somebody's.
    fn look_for_orphans(&self, tasks: &[TaskDir], plan: &mut Plan) {
        let Ok(entries) = fs::read_dir(self.worktrees()) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !tasks.iter().any(|task| task.name() == name) {
                plan.spared.push(Spared { name, reason: Reason::Nobodys { path } });
            }
        }
    }

    fn remove_worktree(
        &self,
        name: &str,
        path: &Path,
        branch: &str,
    ) -> Result<Option<Vec<String>>, DropError> {
        let dir = TaskDir::at(self.data.tasks_path().join(name));
        let lock = dir.lock()?;
        self.repo.hand_down(&lock);
        if let Err(error) = self.repo.carry_now(path, branch, &format!("refs/dacapo/rescue/{name}")) {
            tracing::warn!(%error, "the worktree stays: what was committed there cannot be carried over");
            return Ok(None);
        }
        // It may have changed since it was looked at.
        let (Ok(spec), Ok(view), Some(tip)) =
            (dir.spec(), TaskView::load(&dir, self.kinds), self.repo.read_ref(branch)?)
        else {
            return Ok(None);
        };
        let Some(into) = self.merged_into(&view, &tip, branch)? else { return Ok(None) };
        if self.in_the_way(path, branch).is_some() {
            return Ok(None);
        }
        let commit = view.merged.map(|merged| merged.commit);
        let into = format!("refs/heads/{into}");
        let kept = self.dropped.put_away(&dir, &spec, DropReason::Merged { into, from: None, commit })?;
        if self.dropped.is_clean(&kept)? {
            return self.dropped.remove_for_good(&kept).map(Some);
        }
        self.dropped.ignored(&kept)?.remove_caches();
        Ok(Some(kept.refs))
    }
}

fn size(path: &Path) -> u64 {
    disk_usage(path, Instant::now() + COUNTING).0
}
