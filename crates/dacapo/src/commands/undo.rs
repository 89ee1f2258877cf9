//! `dacapo undo`: brings back what was put away (S9).

use dacapo_app::operations::undo::{PutAway, Undone};
use dacapo_app::present::act::{ActCommand, NextAct};
use dacapo_app::present::json::objects::Dropped;
use dacapo_app::present::json::{Object, Versioned};
use dacapo_app::present::next::{self, Next};
use dacapo_core::dropped::DropReason;

use super::pad;
use crate::args::Undo;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::words::{self, BOLD, DIM, paint};

pub(super) fn run(app: &Console, args: &Undo) -> Result<u8, Failure> {
    if args.list {
        let all = app.put_away()?;
        if args.json {
            let shown = |one: PutAway| Dropped::of(&one.kept, Some(one.path), Some(one.bytes));
            let all: Vec<_> =
                all.into_iter().map(|one| Versioned::new(Object::Dropped(shown(one)))).collect();
            app.print(&serde_json::to_string(&all).unwrap_or_default());
        } else {
            list(app, &all);
        }
        return Ok(0);
    }
    let Undone { kept, way_back } = app.undo(args.name.as_deref())?;
    if args.json {
        app.print(&Object::Undone(Dropped::of(&kept, None, None)).line());
        return Ok(0);
    }
    let (name, messages) = (&kept.name, app.messages);
    let what = match (&kept.why, &kept.worktree, &kept.branch) {
        (_, Some(path), Some(branch)) => {
            messages.branch_and_path(words::branch(branch), &messages.path(path))
        }
        (DropReason::Dropped | DropReason::Merged { .. }, _, _) => messages.its_record(),
    };
    app.print(&messages.undone(name, &what));
    if let DropReason::Merged { into, .. } = &kept.why {
        let short = words::branch(into);
        app.print(&paint(DIM, &format!("  {}", messages.undone_stays_merged(short))));
        if let Some(way) = way_back {
            app.print(&paint(DIM, &format!("  {}", way.in_words(messages))));
        }
    }
    let status = Next::of(NextAct::of(ActCommand::Status, name), messages.next_status(), messages);
    app.print(&next::lines(&[status], messages));
    Ok(0)
}

fn list(app: &Console, all: &[PutAway]) {
    let messages = app.messages;
    if all.is_empty() {
        app.print(&messages.undo_list_empty());
        return;
    }
    let width = all.iter().map(|one| one.kept.name.chars().count()).max().unwrap_or(0).min(40);
    for PutAway { kept, bytes, .. } in all {
        let why = match (&kept.why, kept.merged, &kept.worktree) {
            (DropReason::Merged { .. }, _, _) => messages.undo_list_merged(),
            (DropReason::Dropped, _, None) => messages.undo_list_in_place(),
            (DropReason::Dropped, true, _) => messages.undo_list_dropped_merged(),
            (DropReason::Dropped, false, _) => messages.undo_list_dropped_not_merged(),
        };
        let when = kept.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
        let size = words::bytes(*bytes);
        app.print(&format!(
            "{}  {when}  {size:>8}  {}  {}  {}",
            paint(BOLD, &format!("{:<width$}", kept.name)),
            pad(&why, 19),
            words::line(&kept.prompt, 40),
            paint(DIM, &messages.command(format_args!("undo {}", kept.id)))
        ));
    }
}
