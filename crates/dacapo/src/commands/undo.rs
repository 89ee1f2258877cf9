//! `dacapo undo`: brings back what was put away (S9).

use clap::Args;
use dacapo_core::dropped::{DropError, Dropped, Kept, Why};
use dacapo_core::git::{Oid, Repo, WorktreeError};
use dacapo_core::store::LockError;

use super::drop::shown;
use super::{at_work, print, repository};
use crate::error::{Failure, suggest};
use crate::output::words::{self, BOLD, DIM, paint};

/// Flags of `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// The task, or an id of --list; what was put away last if not given
    pub name: Option<String>,
    /// Show what can be brought back
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Undo) -> Result<u8, Failure> {
    let (repo, data) = repository()?;
    let dropped = Dropped::of(&repo, &data);
    let all = dropped.all().map_err(|error| {
        Failure::failed(format!("cannot read {}: {error}", data.dropped_path().display()))
    })?;
    if args.list {
        if args.json {
            print(&for_programs(&all, &dropped).to_string());
        } else {
            list(&all, &dropped);
        }
        return Ok(0);
    }
    let kept = choose(args.name.as_deref(), &all)?;
    let _at_work = at_work(&repo, &data);
    // Shown as it was: once it is back there is nothing to look at.
    let mut value = shown(kept, &dropped);
    dropped.bring_back(kept).map_err(|error| not_brought_back(kept, error))?;
    if args.json {
        if let Some(object) = value.as_object_mut() {
            object.insert("type".into(), "undone".into());
            object.remove("path");
        }
        print(&value.to_string());
        return Ok(0);
    }
    let name = &kept.name;
    let what = match (&kept.why, &kept.worktree, &kept.branch) {
        (_, Some(path), Some(branch)) => {
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            format!("branch {branch} and {}", path.display())
        }
        (Why::Dropped | Why::Merged { .. }, _, _) => "its record".to_owned(),
    };
    print(&format!("{name} is back: {what}"));
    if let Why::Merged { into, from, commit } = &kept.why {
        let short = words::branch(into);
        print(&paint(DIM, &format!("  what was merged into {short} stays there")));
        if let (Some(from), Some(commit)) = (from, commit) {
            print(&paint(DIM, &format!("  {}", way_back(&repo, into, from, commit))));
        }
    }
    print(&paint(DIM, &format!("  dacapo status {name}")));
    Ok(0)
}

/// How to take a merge out of the branch again, in the user's own words to git: nothing of what came later goes with it.
fn way_back(repo: &Repo, into: &str, from: &Oid, commit: &Oid) -> String {
    let branch = words::branch(into);
    let here = repo.head().ok().and_then(|head| head.branch).as_deref() == Some(into);
    let at = repo.read_ref(into).ok().flatten();
    if at.as_ref() != Some(commit) {
        let switch = if here { String::new() } else { format!("git switch {branch} && ") };
        let revert = match repo.is_merge_into(commit, from) {
            Ok(true) => format!("git revert --no-edit -m 1 {}", commit.short()),
            Ok(false) | Err(_) => format!("git revert --no-edit {}..{}", from.short(), commit.short()),
        };
        return format!("{switch}{revert} takes it back: {branch} has gone on since");
    }
    let from = from.short();
    match here {
        true => format!("git reset --keep {from} moves {branch} back"),
        false => format!("git branch -f {branch} {from} moves {branch} back"),
    }
}

fn choose<'a>(name: Option<&str>, all: &'a [Kept]) -> Result<&'a Kept, Failure> {
    let Some(name) = name else {
        return all.first().ok_or_else(|| Failure::usage("nothing was dropped in this repository"));
    };
    // The newest comes first.
    let found = all.iter().find(|kept| kept.id == name).or_else(|| all.iter().find(|kept| kept.name == name));
    found.ok_or_else(|| {
        let failure = Failure::usage(format!("nothing of a task '{name}' can be brought back"));
        let refs = format!("git for-each-ref refs/dacapo/rescue/{name} shows what git still keeps of it");
        match suggest(name, all.iter().map(|kept| kept.name.as_str())) {
            Some(close) => failure.hint(format!("did you mean '{close}'?")),
            None => failure.hint("dacapo undo --list shows what can be"),
        }
        .hint(refs)
    })
}

fn not_brought_back(kept: &Kept, error: DropError) -> Failure {
    let (name, id) = (&kept.name, &kept.id);
    let failure = Failure::usage(format!("'{name}' cannot be brought back: {error}"))
        .kept(format!("all of it, as it was put away; nothing has moved (undo {id})"));
    match &error {
        DropError::NameTaken(_) => {
            failure.hint(format!("dacapo drop {name} puts the one of now away; then dacapo undo {id}"))
        }
        DropError::Worktree(WorktreeError::BranchExists(branch)) => failure.hint(format!(
            "git branch -m {branch} NEW keeps the other under another name; then dacapo undo {id}"
        )),
        DropError::Worktree(WorktreeError::PathExists(path)) => {
            failure.hint(format!("move {} elsewhere; then dacapo undo {id}", path.display()))
        }
        DropError::Lock(LockError::Held | LockError::Lingering) => {
            failure.hint(format!("another dacapo is at work on it; dacapo status {name}"))
        }
        DropError::Worktree(_) | DropError::File { .. } | DropError::Lock(LockError::Io { .. }) => {
            Failure { kind: crate::error::Kind::Failed, ..failure }
                .kept("all of it: what is not back yet is in dropped/")
                .hint(format!("mend the cause, then dacapo undo {id} goes on"))
        }
    }
    .caused_by(error)
}

fn for_programs(all: &[Kept], dropped: &Dropped<'_>) -> serde_json::Value {
    let one = |kept: &Kept| {
        let mut value = shown(kept, dropped);
        if let Some(object) = value.as_object_mut() {
            object.insert("bytes".into(), dropped.size(kept).into());
        }
        value
    };
    all.iter().map(one).collect()
}

fn list(all: &[Kept], dropped: &Dropped<'_>) {
    if all.is_empty() {
        print("nothing to bring back");
        return;
    }
    let width = all.iter().map(|kept| kept.name.chars().count()).max().unwrap_or(0).min(40);
    for kept in all {
        let why = match (&kept.why, kept.merged, &kept.worktree) {
            (Why::Merged { .. }, _, _) => "merged",
            (Why::Dropped, _, None) => "in place",
            (Why::Dropped, true, _) => "dropped, merged",
            (Why::Dropped, false, _) => "dropped, not merged",
        };
        let when = kept.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
        let size = words::bytes(dropped.size(kept));
        print(&format!(
            "{}  {when}  {size:>8}  {why:<19}  {}  {}",
            paint(BOLD, &format!("{:<width$}", kept.name)),
            words::line(&kept.prompt, 40),
            paint(DIM, &format!("dacapo undo {}", kept.id))
        ));
    }
}
