//! `dacapo exec`: the task is made, then driven in the foreground.

use super::drive::drive;
use super::dry_run;
use super::start::prepare;
use crate::args::Exec;
use crate::commands::Console;
use crate::error::Failure;

pub(super) fn run(app: &Console, args: &Exec) -> Result<u8, Failure> {
    let prepared = prepare(app, args)?;
    if args.dry_run {
        return dry_run::show(app, &prepared, args.show);
    }
    drive(app, prepared.claim(app)?.here(), args.show)
}
