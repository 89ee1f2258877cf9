//! `dacapo rerun`: the request of a task anew, under a new name (S17).

use super::drive::drive;
use super::start::{intent, questions};
use super::{dry_run, spawn};
use crate::args::{Exec, Rerun};
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::{Messages, say};
use crate::question::{self, asking};
use crate::request::Driven;

pub(super) fn run(app: &Console, args: &Rerun) -> Result<u8, Failure> {
    let (name, given) = (args.task.as_str(), &args.flags);
    refuse_a_second_name(name, given)?;
    let mut changes = given.task_request()?;
    changes.prompt = given.read_prompt()?;
    let here = question::answers(given.show, Driven::Here);
    let prepared = asking(app, questions(given), |answers| {
        app.prepare_again(name, &changes, here, intent(given.dry_run), answers)
    })?;
    if given.dry_run {
        return dry_run::show(app, &prepared, given.show);
    }
    let made = prepared.claim(app)?;
    if made.asked.spec.foreground {
        return drive(app, made.here(), given.show);
    }
    spawn::tell(app, &made.in_background(app)?, given.show)?;
    Ok(0)
}

/// `rerun a b`: whoever types that means a name, and an agent would be paid for a prompt of one word.
pub(crate) fn refuse_a_second_name(before: &str, given: &Exec) -> Result<(), Failure> {
    match given.prompt.as_slice() {
        [word] if word != "-" && !word.contains(char::is_whitespace) => {
            Err(Failure::usage(say(|m| m.command_single_word(word)))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(|m| m.rerun_name(before, word)))
                .hint(say(Messages::rerun_another_prompt)))
        }
        _ => Ok(()),
    }
}
