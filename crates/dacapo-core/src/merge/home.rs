//! After the branch has moved: the journal says so, what the task's own branch and worktree held is kept, then they go.

use std::path::PathBuf;

use jiff::Timestamp;

use super::{Candidate, Merger};
use crate::dropped::{DropError, Dropped, Why};
use crate::event::Event;
use crate::git::{GitError, Oid, Repo};
use crate::spec::Place;
use crate::store::{JournalError, note, read};

/// What became of a merged task's worktree and branch.
#[derive(Debug, Default)]
pub struct Home {
    /// The refs that keep what they held.
    pub refs: Vec<String>,
    /// Where the worktree is, because there were files in it that are in no commit.
    pub set_aside: Option<PathBuf>,
    /// How many these were.
    pub uncommitted: usize,
    /// What could not be done. The merge itself stands.
    pub problems: Vec<String>,
}

/// Where the branch goes.
#[derive(Debug, Clone)]
pub(super) struct Intent {
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

/// A merge into this branch that was cut short when the branch had moved already.
pub(super) fn landed_before(
    repo: &Repo,
    candidate: &Candidate,
    into: &str,
) -> Result<Option<Intent>, GitError> {
    let mut intended = None;
    // What does not read has been refused before.
    let _ = read(&candidate.dir.journal_path(), |line| match line.event {
        Event::MergeIntent { into, commit, squash, .. } => intended = Some((into, Intent { commit, squash })),
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

/// Records the merge and tidies up. Nothing that fails here takes the merge back.
pub(super) fn settle(merger: &Merger<'_>, candidate: &Candidate, intent: &Intent) -> Home {
    let mut home = Home::default();
    let Place::Worktree { path, .. } = &candidate.spec.place else { return home };
    let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let name = candidate.spec.name.as_str();
    let prefix = format!("refs/dacapo/rescue/{name}/merged-{stamp}");
    let kept = merger.repo.keep_under(&prefix, &candidate.branch, path);
    match kept {
        Ok(kept) => home.refs = kept.refs,
        Err(error) => {
            home.problems
                .push(format!("its worktree and branch stay, as they could not be kept first: {error}"));
        }
    }
    let event = Event::Merged {
        into: merger.into.clone(),
        commit: intent.commit.clone(),
        squash: intent.squash,
        kept: home.refs.clone(),
    };
    if let Err(error) = note(&candidate.dir, &candidate.lock, event) {
        home.problems
            .push(format!("its worktree and branch stay, as the merge could not be recorded: {error}"));
    }
    if home.problems.is_empty()
        && let Err(error) = go(merger, candidate, &mut home)
    {
        home.problems.push(format!("its worktree or branch could not be removed: {error}"));
    }
    home
}

/// Files that are in no commit go aside with the worktree; a clean one is removed.
fn go(merger: &Merger<'_>, candidate: &Candidate, home: &mut Home) -> Result<(), DropError> {
    let Place::Worktree { path, .. } = &candidate.spec.place else { return Ok(()) };
    home.uncommitted = uncommitted(path);
    if home.uncommitted > 0 {
        let dropped = Dropped::of(merger.repo, merger.data);
        let kept =
            dropped.put_away(&candidate.dir, &candidate.spec, Why::Merged { into: merger.into.clone() })?;
        home.set_aside = Some(dropped.path(&kept));
        return Ok(());
    }
    // Not one that the user has locked, nor a branch that is checked out elsewhere too.
    merger.repo.can_set_aside(path, &candidate.branch)?;
    merger.repo.remove_worktree(path)?;
    match merger.repo.read_ref(&candidate.branch)? {
        // Somebody has committed to it since: that is not merged.
        Some(at) if at != candidate.tip => {
            let branch = candidate.branch.trim_start_matches("refs/heads/");
            home.problems.push(format!("branch {branch} stays: it has moved since"));
            Ok(())
        }
        Some(at) => Ok(merger.repo.delete_branch_at(&candidate.branch, &at)?),
        None => Ok(()),
    }
}

/// How many files of a task's worktree are in no commit. One that cannot be looked at counts as having some.
pub(super) fn uncommitted(worktree: &std::path::Path) -> usize {
    if !worktree.join(".git").exists() {
        return usize::from(worktree.read_dir().is_ok_and(|mut entries| entries.next().is_some()));
    }
    let dirt = Repo::discover(worktree).map_err(|_| ()).and_then(|own| own.dirt().map_err(|_| ()));
    dirt.map_or(1, |dirt| dirt.count() + usize::from(dirt.operation.is_some()))
}
