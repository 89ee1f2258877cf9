//! `dacapo spawn`: the task is made here and driven by a process of its own (S1).

use dacapo_app::operations::background::Begun;
use dacapo_app::operations::spawn::Started;
use dacapo_app::present::act::{ActArgument, ActCommand, NextAct};
use dacapo_app::present::next::{self, Next};
use dacapo_core::spec::Place;

use super::start::prepare;
use super::{dry_run, milestone, pr};
use crate::args::{Exec, Pr, Show, Spawn};
use crate::commands::Console;
use crate::error::{Code, Failure};
use crate::inside_task;
use crate::messages::{Messages, say};
use crate::output::json;
use crate::output::words::{BOLD, paint};

pub(super) fn run(app: &Console, args: Spawn) -> Result<u8, Failure> {
    if let Some(id) = &args.milestone {
        return milestone::spawn(app, id, &args.exec);
    }
    if let Some(offered) = offered(&args.exec) {
        inside_task::refuse_order(app, "pr")?;
        return pr::run(app, &offered).map_err(|failure| or_a_prompt(failure, offered.name.as_deref()));
    }
    let show = args.exec.show;
    let args = in_background(args.exec);
    let prepared = prepare(app, &args)?;
    if args.dry_run {
        return dry_run::show(app, &prepared, show);
    }
    let started = prepared.claim(app)?.in_background(app)?;
    if let Some(failure) = started.failed_to_begin(app) {
        return Err(failure);
    }
    tell(app, &started, show)?;
    Ok(0)
}

/// `spawn --pr NAME`, as it is typed in the interface (S2): a prompt of one word is a task's name, and no task is started.
pub(crate) fn offered(args: &Exec) -> Option<Pr> {
    let ([word], None, Some("")) = (args.prompt.as_slice(), &args.name, args.pr.as_deref()) else {
        return None;
    };
    let one_word = word != "-" && !word.is_empty() && !word.contains(char::is_whitespace);
    one_word.then(|| Pr { name: Some(word.clone()), json: args.show.json, ..Pr::default() })
}

/// A prompt of one word is possible all the same.
fn or_a_prompt(failure: Failure, name: Option<&str>) -> Failure {
    let unknown = failure.code == Some(Code::TaskNotFound);
    match name.filter(|_| unknown) {
        Some(word) => failure.hint(say(|m| m.spawn_pr_or_prompt(word))),
        None => failure,
    }
}

/// What `spawn` means by flags of `exec`.
pub(crate) fn in_background(mut args: Exec) -> Exec {
    args.background = true;
    args.worktree = !args.noworktree;
    args
}

/// Says that it runs.
pub(super) fn tell(app: &Console, started: &Started, show: Show) -> Result<(), Failure> {
    if show.json {
        app.print(&json::status(&app.view(&started.dir)?));
    } else if show.quiet {
        app.print(started.spec.name.as_str());
    } else {
        let messages = app.messages;
        started.notes.iter().for_each(|note| {
            app.print(&format!("{}{}", messages.label_note(), note.in_words(messages)));
        });
        app.print(&in_words(started, messages));
    }
    Ok(())
}

fn in_words(started: &Started, messages: Messages) -> String {
    let name = started.spec.name.as_str();
    let agent = started.spec.agents.first().map_or("", |agent| agent.name.as_str());
    let agent = match &started.agent_why {
        Some(why) => messages.spawn_agent_why(agent, why.in_words(messages)),
        None => agent.to_owned(),
    };
    let place = match &started.spec.place {
        Place::InPlace { .. } => messages.spawn_in_this_checkout(),
        Place::Worktree { branch, .. } => {
            messages.spawn_on_branch(branch.strip_prefix("refs/heads/").unwrap_or(branch))
        }
    };
    let task = paint(BOLD, name);
    let runs = match started.begun {
        Begun::Queued => messages.spawn_queued(&task, &agent, &place),
        Begun::Running => messages.spawn_running(&task, &agent, &place),
    };
    let act = |command| NextAct::of(command, name);
    let all = [
        Next::of(act(ActCommand::Attach), messages.next_attach(), messages),
        Next::of(act(ActCommand::Tell).with(ActArgument::Message), messages.next_tell(), messages),
        Next::of(act(ActCommand::Kill), messages.next_kill(), messages),
    ];
    format!("{runs}\n{}", next::lines(&all, messages))
}
