//! `dacapo drop`: removes a task with its worktree and branch, and keeps all of it (S9).

use dacapo_core::dropped::Kept;
use dacapo_core::spec::{Place, TaskSpec};

use super::print;
use crate::App;
use crate::args::Drop;
use crate::error::Failure;
use crate::output::words::{DIM, paint};

pub(super) fn run(app: &App, args: &Drop) -> Result<u8, Failure> {
    let drops = app.drop_tasks(&args.names)?;
    for dropped in &drops.done {
        if args.json {
            print(&dropped.json.to_string());
            continue;
        }
        print(&said(&dropped.kept, &dropped.spec));
        for reference in &dropped.untracked {
            let text = format!("  {reference} still holds what was untracked before it");
            print(&paint(DIM, &text));
        }
        let stood_in_it = dropped.kept.worktree.as_ref().zip(app.here().ok()).is_some_and(|(at, here)| {
            here.starts_with(at) || at.canonicalize().is_ok_and(|at| here.starts_with(at))
        });
        if stood_in_it {
            let top = dropped.spec.top.display();
            print(&paint(DIM, &format!("  this directory went with it: cd {top}")));
        }
    }
    drops.failure.map_or(Ok(0), Err)
}

fn said(kept: &Kept, spec: &TaskSpec) -> String {
    let name = &kept.name;
    let what = match (&spec.place, &kept.tip, &kept.branch) {
        (Place::InPlace { .. }, _, _) => "its record; its commits stay where they are".to_owned(),
        (_, Some(tip), Some(branch)) => {
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            let merged = if kept.merged { "merged" } else { "not merged" };
            format!("worktree and branch {branch} at {} ({merged})", tip.short())
        }
        _ => "its record".to_owned(),
    };
    format!("dropped {name}: {what}\n{}", paint(DIM, &format!("  dacapo undo {name} brings it back")))
}
