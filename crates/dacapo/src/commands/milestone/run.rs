//! `dacapo milestone start`, `resume`, `approve`, `reject`, `abandon`.

use crate::args::milestone::{
    AbandonMilestone, ApproveMilestone, RejectMilestone, ResumeMilestone, StartMilestone,
};
use crate::error::Failure;

pub(super) fn start(_args: &StartMilestone) -> Result<u8, Failure> {
    Err(not_in_this_version())
}

pub(super) fn resume(_args: &ResumeMilestone) -> Result<u8, Failure> {
    Err(not_in_this_version())
}

pub(super) fn approve(_args: &ApproveMilestone) -> Result<u8, Failure> {
    Err(not_in_this_version())
}

pub(super) fn reject(_args: &RejectMilestone) -> Result<u8, Failure> {
    Err(not_in_this_version())
}

pub(super) fn abandon(_args: &AbandonMilestone) -> Result<u8, Failure> {
    Err(not_in_this_version())
}

fn not_in_this_version() -> Failure {
    Failure::usage("this version cannot run milestones").kept("everything; nothing was started")
}
