//! Brings back what was put away (S9).

use dacapo_core::dropped::{DropError, DropReason, Dropped, DroppedRecord};
use dacapo_core::git::{Oid, Repo, WorktreeError};
use dacapo_core::store::{LockError, RepoDir};

use super::rename::finish_all;
use crate::App;
use crate::error::{Failure, suggest};
use crate::messages::{Text, say};
use crate::present::errors::InWords as _;
use crate::present::words;

#[derive(Debug)]
pub struct Undone {
    /// What was kept of it.
    pub kept: DroppedRecord,
    /// How a merge of it is taken out of its branch, in git's own words.
    pub way_back: Option<Text>,
}

/// Something that can be brought back.
#[derive(Debug)]
pub struct PutAway {
    pub kept: DroppedRecord,
    pub bytes: u64,
    /// Where everything is that is no part of git.
    pub path: String,
}

impl App {
    /// All that can be brought back, the newest first.
    pub fn put_away(&self) -> Result<Vec<PutAway>, Failure> {
        let (repo, data) = self.repository()?;
        let dropped = Dropped::of(&repo, &data, self.kinds);
        let one = |kept: DroppedRecord| {
            let path = dropped.path(&kept).display().to_string();
            PutAway { bytes: dropped.size(&kept), kept, path }
        };
        Ok(all(&dropped, &data)?.into_iter().map(one).collect())
    }

    /// Brings back what was put away: the newest of this name or id, or the newest of all (S9).
    pub fn undo(&self, name: Option<&str>) -> Result<Undone, Failure> {
        let (repo, data) = self.repository()?;
        // What was put away has the name of its task.
        finish_all(self, &repo, &data);
        let dropped = Dropped::of(&repo, &data, self.kinds);
        let all = all(&dropped, &data)?;
        let kept = choose(name, &all)?.clone();
        let _at_work = self.at_work(&repo, &data);
        dropped.bring_back(&kept).map_err(|error| not_brought_back(&kept, error))?;
        let way_back = way_back_of(&repo, &kept);
        Ok(Undone { kept, way_back })
    }

    /// How a merge is taken out of its branch, in git's own words, as it would be said after [`App::undo`].
    pub fn way_back(&self, kept: &DroppedRecord) -> Option<Text> {
        self.repository().ok().and_then(|(repo, _)| way_back_of(&repo, kept))
    }
}

fn way_back_of(repo: &Repo, kept: &DroppedRecord) -> Option<Text> {
    match &kept.why {
        DropReason::Merged { into, from: Some(from), commit: Some(commit) } => {
            Some(way_back(repo, into, from, commit))
        }
        DropReason::Merged { .. } | DropReason::Dropped => None,
    }
}

fn all(dropped: &Dropped<'_>, data: &RepoDir) -> Result<Vec<DroppedRecord>, Failure> {
    let path = data.dropped_path().display().to_string();
    dropped.all().map_err(|error| Failure::failed(say(|m| m.cannot_read(&path, &error.to_string()))))
}

/// How to take a merge out of the branch again, in the user's own words to git: nothing of what came later goes with it.
fn way_back(repo: &Repo, into: &str, from: &Oid, commit: &Oid) -> Text {
    let branch = words::branch(into);
    let here = repo.head().ok().and_then(|head| head.branch).as_deref() == Some(into);
    let at = repo.read_ref(into).ok().flatten();
    // Somebody has committed on top of the merge: moving the branch back would lose that, so it is reverted instead.
    if at.as_ref() != Some(commit) {
        let switch = if here { String::new() } else { format!("git switch {branch} && ") };
        let revert = match repo.is_merge_into(commit, from) {
            Ok(true) => format!("git revert --no-edit -m 1 {}", commit.short()),
            Ok(false) | Err(_) => format!("git revert --no-edit {}..{}", from.short(), commit.short()),
        };
        let command = format!("{switch}{revert}");
        return say(|m| m.undo_way_revert(&command, branch));
    }
    let from = from.short();
    let command = match here {
        true => format!("git reset --keep {from}"),
        false => format!("git branch -f {branch} {from}"),
    };
    say(|m| m.undo_way_move(&command, branch))
}

fn choose<'a>(name: Option<&str>, all: &'a [DroppedRecord]) -> Result<&'a DroppedRecord, Failure> {
    let Some(name) = name else {
        return all.first().ok_or_else(|| Failure::usage(say(|m| m.undo_nothing_dropped())));
    };
    // The newest comes first.
    let found = all.iter().find(|kept| kept.id == name).or_else(|| all.iter().find(|kept| kept.name == name));
    // An id keeps the name that the task had then.
    let had_it = |kept: &&DroppedRecord| kept.id.rsplitn(3, '-').nth(2) == Some(name);
    let found = found.or_else(|| all.iter().find(had_it));
    found.ok_or_else(|| {
        let failure = Failure::usage(say(|m| m.undo_nothing_of(name)));
        match suggest(name, all.iter().map(|kept| kept.name.as_str())) {
            Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
            None => failure.hint(say(|m| m.undo_list_shows())),
        }
        .hint(say(|m| m.undo_rescue_refs(name)))
    })
}

fn not_brought_back(kept: &DroppedRecord, error: DropError) -> Failure {
    let (name, id) = (&kept.name, &kept.id);
    let failure = Failure::usage(say(|m| m.undo_refused(name, &error.in_words(m))))
        .kept(say(|m| m.undo_kept_unmoved(id)));
    match &error {
        DropError::NameTaken(_) => failure.hint(say(|m| m.undo_drop_current(name, id))),
        DropError::Worktree(WorktreeError::BranchExists(branch)) => {
            failure.hint(say(|m| m.undo_rename_branch(branch, id)))
        }
        DropError::Worktree(WorktreeError::PathExists(path)) => {
            failure.hint(say(|m| m.undo_move_away(&path.display().to_string(), id)))
        }
        DropError::Lock(LockError::Held | LockError::Lingering) => {
            failure.hint(say(|m| m.undo_at_work(name)))
        }
        DropError::Worktree(_)
        | DropError::File { .. }
        | DropError::Lock(LockError::Io { .. } | LockError::RenameUnfinished { .. }) => {
            Failure { kind: crate::error::Kind::Failed, ..failure }
                .kept(say(|m| m.undo_kept_partly_back()))
                .hint(say(|m| m.undo_fix_then_again(id)))
        }
    }
    .caused_by(error)
}
