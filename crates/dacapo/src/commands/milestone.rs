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

use crate::args::milestone::MilestoneCommand;
use crate::error::Failure;

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
