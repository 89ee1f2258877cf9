//! What tasks take on disk, as far as that was measured.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use dacapo_core::spec::TaskName;
use dacapo_core::store::{RepoDir, Size, TaskDir, keep_sizes, measure, sizes};

/// Measuring all tasks ends here, with what was counted until then.
pub const MEASURE_AT_MOST: Duration = Duration::from_secs(60);

/// What was measured of a repository's tasks, and which worktrees are still there.
#[derive(Debug)]
pub struct Occupied {
    sizes: BTreeMap<String, Size>,
    worktrees: HashSet<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// All tasks, however long that takes.
    Now,
    /// What was measured before is good enough.
    AsKnown,
}

impl Occupied {
    pub fn of(repo: &RepoDir, when: Measure) -> Self {
        let mut sizes = sizes(repo);
        if when == Measure::Now {
            sizes.extend(measure_all(repo));
        }
        let worktrees = if sizes.is_empty() { HashSet::new() } else { repo.worktrees().unwrap_or_default() };
        Self { sizes, worktrees }
    }

    /// Worktree and record of this very task, not of an earlier one of its name.
    pub fn task(&self, name: &str, created_at: Option<&str>) -> Option<u64> {
        let size = self.size(name, created_at)?;
        Some(self.present_bytes(name, size) + size.record)
    }

    /// The size of its worktree.
    pub fn worktree(&self, name: &str, created_at: Option<&str>) -> Option<u64> {
        Some(self.present_bytes(name, self.size(name, created_at)?))
    }

    fn size(&self, name: &str, created_at: Option<&str>) -> Option<&Size> {
        self.sizes.get(name).filter(|size| created_at == Some(size.task_created_at.to_string().as_str()))
    }

    /// A worktree that has gone since takes nothing.
    fn present_bytes(&self, name: &str, size: &Size) -> u64 {
        if self.worktrees.contains(OsStr::new(name)) { size.worktree } else { 0 }
    }
}

fn measure_all(repo: &RepoDir) -> Vec<(String, Size)> {
    let deadline = Instant::now() + MEASURE_AT_MOST;
    let mut measured = Vec::new();
    for dir in repo.tasks().unwrap_or_default() {
        let Ok(name) = TaskName::parse(&dir.name()) else { continue };
        let worktree = repo.worktree(&name);
        if let Ok(size) = measure(&dir, worktree.is_dir().then_some(&worktree), deadline) {
            if size.at_least {
                tracing::warn!("task '{name}' takes more than was counted in {MEASURE_AT_MOST:?}");
            }
            measured.push((name.to_string(), size));
        }
    }
    // A place that cannot be written keeps nothing; that is no reason to show nothing.
    if let Err(error) = keep_sizes(repo, measured.iter().cloned()) {
        tracing::warn!("what tasks take on disk cannot be kept: {error}");
    }
    measured
}

/// What a task takes on disk, as far as that was measured.
pub fn occupied(dir: &TaskDir) -> Option<u64> {
    let repo = dir.repo()?;
    let created_at = dir.spec().ok()?.created_at.to_string();
    Occupied::of(&repo, Measure::AsKnown).task(&dir.name(), Some(&created_at))
}

/// Measures a task that has just ended, for the next list. Whoever waits for its end waits for this too: not for long.
pub(crate) fn remember(dir: &TaskDir) {
    const AT_MOST: Duration = Duration::from_millis(500);
    let (Some(repo), Ok(name)) = (dir.repo(), TaskName::parse(&dir.name())) else { return };
    let worktree = repo.worktree(&name);
    // What a task in the user's own checkout takes is next to nothing, and not its own.
    if !worktree.is_dir() {
        return;
    }
    let measured = measure(dir, Some(&worktree), Instant::now() + AT_MOST);
    let kept = measured.and_then(|size| keep_sizes(&repo, [(name.to_string(), size)]));
    if let Err(error) = kept {
        tracing::debug!("what task '{name}' takes on disk is not known: {error}");
    }
}
