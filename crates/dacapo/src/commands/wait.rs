//! `dacapo wait`: sleeps on the task's lock, which the kernel frees when the task's processes are gone.

use dacapo_core::store::Lock;

use super::{interrupted, print, task, view};
use crate::args::One;
use crate::error::Failure;
use crate::output::report;

pub(super) fn run(args: &One) -> Result<u8, Failure> {
    let (_, dir) = task(args.name.as_deref())?;
    Lock::wait_until_free(&dir.lock_target())
        .map_err(|error| Failure::failed(format!("cannot wait for task '{}': {error}", dir.name())))?;
    let view = view(&dir)?;
    let Some(result) = &view.result else {
        return Err(interrupted(&dir));
    };
    if args.json {
        print(&view.to_json().to_string());
    } else {
        print(&report::result(&view, result));
    }
    Ok(result.outcome.exit_code())
}
