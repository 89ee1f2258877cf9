//! `dacapo milestone`: one file a command, the ones that run it together.

mod list;
mod new;
mod run;
mod show;
mod told;

pub(super) use run::spawn;

use dacapo_core::engine::mirroring::put_right;
use dacapo_core::git::Repo;

use crate::args::milestone::MilestoneCommand;
use crate::commands::Console;
use crate::error::Failure;
use crate::milestones::Entry;

/// A milestone whose process died may have left processes, and files in the checkout that say it is still at work (M8).
fn clear_up(app: &Console, repo: &Repo, entry: &Entry) {
    let Some(told) = entry.task().filter(|told| !told.is_at_work()) else { return };
    if told.is_interrupted() {
        app.clear_up_behind(&told.dir);
    }
    put_right(repo, &told.dir, &told.spec, app.kinds);
}

pub(super) fn run(app: &Console, command: MilestoneCommand) -> Result<u8, Failure> {
    match command {
        MilestoneCommand::New(args) => new::run(app, &args),
        MilestoneCommand::List(args) => list::run(app, &args),
        MilestoneCommand::Show(args) => show::run(app, &args),
        MilestoneCommand::Start(args) => run::start(app, &args),
        MilestoneCommand::Resume(args) => run::resume(app, &args),
        MilestoneCommand::Approve(args) => run::approve(app, &args),
        MilestoneCommand::Reject(args) => run::reject(app, &args),
        MilestoneCommand::Abandon(args) => run::abandon(app, &args),
    }
}
