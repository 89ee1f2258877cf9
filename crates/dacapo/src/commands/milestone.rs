//! `dacapo milestone`: one file a command, the ones that run it together.

mod answers;
mod list;
mod new;
mod run;
mod show;
mod told;
mod which;

pub(super) use answers::{approve, left, reject};
pub(super) use run::{may_go_on, spawn};

use dacapo_core::git::Repo;
use dacapo_core::mirror::put_right;

use crate::args::milestone::MilestoneCommand;
use crate::error::Failure;
use crate::milestones::Entry;

/// A milestone whose process died may have left processes, and files in the checkout that say it is still at work (M8).
fn clear_up(repo: &Repo, entry: &Entry) {
    let Some(told) = entry.told().filter(|told| !told.is_at_work()) else { return };
    if told.is_interrupted() {
        super::clear_up_behind(&told.dir);
    }
    put_right(&repo.main_checkout(), &told.dir, &told.spec);
}

pub(super) fn run(command: MilestoneCommand) -> Result<u8, Failure> {
    match command {
        MilestoneCommand::New(args) => new::run(&args),
        MilestoneCommand::List(args) => list::run(&args),
        MilestoneCommand::Show(args) => show::run(&args),
        MilestoneCommand::Start(args) => run::start(&args),
        MilestoneCommand::Resume(args) => run::resume(&args),
        MilestoneCommand::Approve(args) => answers::approved(&args),
        MilestoneCommand::Reject(args) => answers::rejected(&args),
        MilestoneCommand::Abandon(args) => answers::abandon(&args),
    }
}
