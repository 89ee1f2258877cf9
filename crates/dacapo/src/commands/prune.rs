//! `dacapo prune`: removes what is merged, what was dropped long ago, and what crashes left (S9).

use std::path::Path;

use dacapo_app::messages::{Messages, say};
use dacapo_app::operations::prune::Pruned;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::{Pruned as PrunedObject, PrunedItem, PrunedKind, SparedItem};
use dacapo_core::prune::{Item, PruneKind, PutAway, Rules, Spared};
use dacapo_core::spec::parse_duration;

use super::pad;
use crate::args::Prune;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::leftovers::because;
use crate::output::words::{self, DIM, WARN, paint};

/// Columns of what stands in front of a row.
const KIND: usize = 9;

pub(super) fn run(app: &Console, args: &Prune) -> Result<u8, Failure> {
    let older_than = args.older_than.as_deref().map(|text| {
        parse_duration(text).map_err(|error| {
            Failure::usage(say(|m| m.prune_older_than(&error.to_string()))).hint("--older-than 30d")
        })
    });
    let rules = Rules {
        older_than: older_than.transpose()?,
        put_away: if args.dropped { PutAway::All } else { PutAway::MergedOrOld },
    };
    let pruned = if args.dry_run { app.prune_plan(rules)? } else { app.prune(rules)? };
    let Pruned { removed, spared, problems, bytes: freed } = pruned;
    let failed = !problems.is_empty();
    if args.json {
        app.print(&object(&Pruned { removed, spared, problems, bytes: freed }, args).line());
        return Ok(u8::from(failed));
    } else {
        let messages = app.messages;
        for (item, refs) in &removed {
            app.print(&row(item, refs, messages));
        }
        for spared in &spared {
            app.print(&paint(
                DIM,
                &format!(
                    "{} {}  {}",
                    pad(&messages.prune_label_stays(), KIND),
                    spared.name,
                    words::line(&because(&spared.reason, &spared.name, messages), words::WHOLE)
                ),
            ));
        }
        for problem in &problems {
            let label = pad(&messages.prune_label_problem(), KIND);
            app.print(&paint(WARN, &format!("{label} {}", problem.in_words(messages))));
        }
        app.print(&match (removed.len() as u64, args.dry_run) {
            (0, _) => messages.prune_nothing(),
            (items, true) => messages.prune_would_free(&words::bytes(freed), items),
            (items, false) => messages.prune_freed(&words::bytes(freed), items),
        });
        // `drop` said that `undo` brings them back.
        let dropped =
            removed.iter().filter(|(item, _)| matches!(item.what, PruneKind::Dropped { .. })).count();
        match (dropped as u64, args.dry_run) {
            (0, _) => {}
            (tasks, true) => app.print(&paint(WARN, &messages.prune_undo_would_be_gone(tasks))),
            (tasks, false) => app.print(&paint(WARN, &messages.prune_undo_gone(tasks))),
        }
    }
    Ok(u8::from(failed))
}

fn object(pruned: &Pruned, args: &Prune) -> Object {
    let item = |(item, refs): &(Item, Vec<String>)| {
        let path = |path: &Path| Some(path.display().to_string());
        let (kind, task, id, path, branch) = match &item.what {
            PruneKind::Worktree { name, path: at, branch } => {
                let branch = words::branch(branch).to_owned();
                (PrunedKind::Worktree, Some(name.clone()), None, path(at), Some(branch))
            }
            PruneKind::Dropped { name, id } => {
                (PrunedKind::Dropped, Some(name.clone()), Some(id.clone()), None, None)
            }
            PruneKind::Proof { path: at } => (PrunedKind::Proof, None, None, path(at), None),
            PruneKind::Left { path: at } => (PrunedKind::Left, None, None, path(at), None),
        };
        let message = because(&item.reason, &item.what.name(), Messages::ENGLISH);
        PrunedItem { kind, task, id, path, branch, bytes: item.bytes, message, refs: refs.clone() }
    };
    let spared = |spared: &Spared| SparedItem {
        name: spared.name.clone(),
        message: because(&spared.reason, &spared.name, Messages::ENGLISH),
    };
    Object::Pruned(PrunedObject {
        dry_run: args.dry_run,
        bytes: pruned.bytes,
        removed: pruned.removed.iter().map(item).collect(),
        spared: pruned.spared.iter().map(spared).collect(),
        problems: pruned.problems.iter().map(|problem| problem.english().to_owned()).collect(),
    })
}

fn row(item: &Item, refs: &[String], messages: Messages) -> String {
    let kind = match item.what {
        PruneKind::Worktree { .. } => messages.prune_kind_worktree(),
        PruneKind::Dropped { .. } => messages.prune_kind_dropped(),
        PruneKind::Proof { .. } => messages.prune_kind_proof(),
        PruneKind::Left { .. } => messages.prune_kind_left(),
    };
    let kept = refs.iter().find(|name| name.ends_with("/tip")).or(refs.first());
    let reason = because(&item.reason, &item.what.name(), messages);
    let reason = match kept {
        Some(name) => messages.prune_kept_as(&reason, name),
        None => reason,
    };
    let (kind, name, size) = (pad(&kind, KIND), item.what.name(), words::bytes(item.bytes));
    format!("{kind} {name}  {size}  {}", paint(DIM, &reason))
}
