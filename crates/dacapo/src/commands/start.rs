//! Flags become a task that could be made.

use dacapo_app::operations::start::{Intent, Prepared, Start};

use crate::args::{Exec, Show};
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::say;
use crate::question::{self, asking};
use crate::request::TaskRequest;

/// Checks everything; nothing is made yet.
pub(super) fn prepare(app: &Console, args: &Exec) -> Result<Prepared, Failure> {
    let mut request = args.task_request()?;
    // Before somebody types a prompt that nothing can be done with.
    app.repository_data()?;
    request.prompt = args.read_prompt()?;
    prepared(app, args, &request)
}

/// The same, where the request is known already.
pub(super) fn prepared(app: &Console, args: &Exec, request: &TaskRequest) -> Result<Prepared, Failure> {
    let title = args.pr_title.as_ref();
    let start = Start {
        request,
        driven: args.driven(),
        agent_answers: question::answers(args.show, args.driven()),
        intent: intent(args.dry_run),
        notes: title.map(|title| say(|m| m.pr_title_not_prompt(title))).into_iter().collect(),
    };
    asking(app, questions(args), |answers| app.prepare(&start, answers))
}

/// What `--dry-run` means.
pub(super) fn intent(dry_run: bool) -> Intent {
    if dry_run { Intent::DryRun } else { Intent::Act }
}

/// Nothing is asked where nothing starts: an answer would be remembered.
pub(super) fn questions(args: &Exec) -> Show {
    Show { quiet: args.show.quiet || args.dry_run, ..args.show }
}
