//! After the branch has moved: the journal says so, and the task's own branch and worktree are put away.

use std::path::PathBuf;
use std::time::Duration;

use super::{Candidate, Merger};
use crate::dropped::{DropError, DropReason, Dropped, DroppedRecord};
use crate::event::Event;
use crate::git::{EndedRun, GitError, Oid, Repo};
use crate::spec::Place;
use crate::store::{JournalError, note, read};

/// What could not be done about the worktree and branch of a merged task.
#[derive(Debug)]
pub enum HomeProblem {
    /// They stay, as they could not be kept first.
    NotKept {
        error: DropError,
    },
    /// They stay, as the merge could not be recorded.
    NotRecorded {
        error: JournalError,
    },
    NotPutAway {
        error: DropError,
    },
}

/// What became of a merged task's worktree and branch.
#[derive(Debug, Default)]
pub struct Home {
    /// The refs that keep what they held.
    pub refs: Vec<String>,
    /// Where the worktree is now.
    pub set_aside: Option<PathBuf>,
    /// How many files in it are in no commit.
    pub uncommitted: usize,
    /// How many files and directories in it are ignored, and not made again by a build.
    pub ignored: usize,
    /// What could not be done. The merge itself stands.
    pub problems: Vec<HomeProblem>,
}

/// Where the branch goes.
#[derive(Debug, Clone)]
pub(super) struct Intent {
    /// Where it was; none: somebody else has moved it.
    pub(super) from: Option<Oid>,
    pub(super) commit: Oid,
    pub(super) squash: bool,
}

/// In the journal before the branch moves: after a crash in between, the next merge knows what has happened.
pub(super) fn intend(
    merger: &Merger<'_>,
    candidate: &Candidate,
    from: &Oid,
    intent: &Intent,
) -> Result<(), JournalError> {
    let event = Event::MergeIntent {
        into: merger.into.clone(),
        from: from.clone(),
        commit: intent.commit.clone(),
        squash: intent.squash,
    };
    note(&candidate.dir, &candidate.lock, event)
}

/// Locks that the git of a merge left which was cut short while the branch moved.
pub(super) fn clear_left_locks(repo: &Repo, candidate: &Candidate, into: &str) -> Result<(), GitError> {
    /// Moving a branch takes less.
    const MOVE: Duration = Duration::from_secs(5 * 60);
    let mut begun = None;
    let _ = read(&candidate.dir.journal_path(), |line| match line.event {
        Event::MergeIntent { into, commit, .. } => begun = Some((line.at, into, commit)),
        Event::Merged { .. } => begun = None,
        _ => {}
    });
    let Some((at, _, commit)) = begun.filter(|(_, branch, _)| branch == into) else { return Ok(()) };
    let at = std::time::SystemTime::from(at);
    let removed = repo.clear_left_locks(&EndedRun {
        worktree: None,
        branch: Some(into),
        rescue: &format!("refs/dacapo/rescue/{}", candidate.spec.name),
        commit: Some(&commit),
        at_work: (at, at + MOVE),
    })?;
    for notice in removed {
        tracing::info!("{notice:?}");
    }
    Ok(())
}

/// Puts the files of the user's checkout back that a merge was moving when it was killed. So many there were.
pub fn take_back_cut_short(repo: &Repo, candidate: &Candidate, into: &str) -> Result<usize, GitError> {
    clear_left_locks(repo, candidate, into)?;
    let mut begun = None;
    // What does not read is refused elsewhere.
    let _ = read(&candidate.dir.journal_path(), |line| match line.event {
        Event::MergeIntent { into, from, commit, .. } => begun = Some((into, from, commit)),
        Event::Merged { .. } => begun = None,
        _ => {}
    });
    let Some((branch, from, commit)) = begun else { return Ok(0) };
    let head = repo.head()?;
    let stands = head.branch.as_deref() == Some(into) && head.commit.as_ref() == Some(&from);
    if !stands || branch != into || !repo.has_commit(&commit)? {
        return Ok(0);
    }
    repo.take_back_half_move(&from, &commit)
}

/// A merge into this branch that was cut short when the branch had moved already.
pub(super) fn landed_before(
    repo: &Repo,
    candidate: &Candidate,
    into: &str,
) -> Result<Option<Intent>, GitError> {
    let mut intended = None;
    // What does not read has been refused before.
    let _ = read(&candidate.dir.journal_path(), |line| match line.event {
        Event::MergeIntent { into, from, commit, squash } => {
            intended = Some((into, Intent { from: Some(from), commit, squash }));
        }
        // It went on: whatever was merged then is not all of it.
        Event::Resumed { .. } => intended = None,
        _ => {}
    });
    let Some((branch, intent)) = intended else { return Ok(None) };
    if branch != into || !repo.has_commit(&intent.commit)? {
        return Ok(None);
    }
    let Some(tip) = repo.read_ref(into)? else { return Ok(None) };
    // A branch that has grown since has something left to merge.
    let whole = intent.squash || repo.is_ancestor(&candidate.tip, &tip)?;
    Ok((whole && repo.is_ancestor(&intent.commit, &tip)?).then_some(intent))
}

/// Records the merge and puts worktree and branch away. Nothing that fails here takes the merge back, and all of it can be
/// done again.
pub(super) fn settle(merger: &Merger<'_>, candidate: &Candidate, intent: &Intent) -> Home {
    let mut home = Home::default();
    let Place::Worktree { path, .. } = &candidate.spec.place else { return home };
    home.uncommitted = uncommitted(merger.repo, path);
    let dropped = Dropped::of(merger.repo, merger.data, merger.kinds);
    let why = DropReason::Merged {
        into: merger.into.clone(),
        from: intent.from.clone(),
        commit: Some(intent.commit.clone()),
    };
    // Refs and paper first, then the event, then the move: after a crash the next merge finds how far it came.
    let kept = match dropped.prepare(&candidate.spec, why) {
        Ok(kept) => {
            home.refs.clone_from(&kept.refs);
            Some(kept)
        }
        Err(error) => {
            home.problems.push(HomeProblem::NotKept { error });
            None
        }
    };
    let event = Event::Merged {
        into: merger.into.clone(),
        commit: intent.commit.clone(),
        squash: intent.squash,
        kept: home.refs.clone(),
    };
    if let Err(error) = note(&candidate.dir, &candidate.lock, event) {
        home.problems.push(HomeProblem::NotRecorded { error });
        return home;
    }
    let Some(kept) = kept else { return home };
    match dropped.finish(&candidate.dir, &candidate.spec, kept) {
        Ok(kept) => {
            home.set_aside = Some(dropped.path(&kept));
            home.ignored = remove_caches(&dropped, &kept);
        }
        Err(error) => home.problems.push(HomeProblem::NotPutAway { error }),
    }
    home
}

/// Removes what a build makes again; gives back how much else is ignored.
fn remove_caches(dropped: &Dropped<'_>, kept: &DroppedRecord) -> usize {
    match dropped.ignored(kept) {
        Ok(ignored) => {
            ignored.remove_caches();
            ignored.others.len()
        }
        // All of it is kept then.
        Err(error) => {
            tracing::debug!(%error, "caches stay");
            0
        }
    }
}

/// How many files of a task's worktree are in no commit. One that cannot be looked at counts as having some.
pub(super) fn uncommitted(repo: &Repo, worktree: &std::path::Path) -> usize {
    if !worktree.join(".git").exists() {
        return usize::from(worktree.read_dir().is_ok_and(|mut entries| entries.next().is_some()));
    }
    let dirt = repo.beside(worktree).map_err(|_| ()).and_then(|own| own.dirt().map_err(|_| ()));
    dirt.map_or(1, |dirt| dirt.count() + usize::from(dirt.operation.is_some()))
}
