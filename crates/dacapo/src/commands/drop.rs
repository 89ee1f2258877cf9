//! `dacapo drop`: removes a task with its worktree and branch, and keeps all of it (S9).

use dacapo_app::messages::Messages;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::Dropped;
use dacapo_app::present::next::{self, Next};
use dacapo_core::dropped::DroppedRecord;
use dacapo_core::spec::{Place, TaskSpec};

use crate::args::Drop;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::words::{self, DIM, paint};

pub(super) fn run(app: &Console, args: &Drop) -> Result<u8, Failure> {
    let drops = app.drop_tasks(&args.names)?;
    for dropped in &drops.done {
        if args.json {
            app.print(&Object::Dropped(Dropped::of(&dropped.kept, Some(dropped.path.clone()), None)).line());
            continue;
        }
        app.print(&said(&dropped.kept, &dropped.spec, app.messages));
        for reference in &dropped.untracked {
            app.print(&paint(DIM, &format!("  {}", app.messages.dropped_untracked_held(reference))));
        }
        let stood_in_it = dropped.kept.worktree.as_ref().zip(app.here().ok()).is_some_and(|(at, here)| {
            here.starts_with(at) || at.canonicalize().is_ok_and(|at| here.starts_with(at))
        });
        if stood_in_it {
            let top = app.messages.path(&dropped.spec.top);
            app.print(&paint(DIM, &format!("  {}", app.messages.dropped_directory_gone(&top))));
        }
        let undo = app.messages.command(format_args!("undo {}", dropped.kept.name));
        app.print(&next::lines(&[Next::new(undo, app.messages.next_undo())], app.messages));
    }
    drops.failure.map_or(Ok(0), Err)
}

fn said(kept: &DroppedRecord, spec: &TaskSpec, messages: Messages) -> String {
    let name = &kept.name;
    let what = match (&spec.place, &kept.tip, &kept.branch) {
        (Place::InPlace { .. }, _, _) => messages.dropped_record_only(),
        (_, Some(tip), Some(branch)) => {
            let branch = words::branch(branch);
            match kept.merged {
                true => messages.dropped_merged(branch, tip.short()),
                false => messages.dropped_not_merged(branch, tip.short()),
            }
        }
        _ => messages.its_record(),
    };
    messages.dropped(name, &what)
}
