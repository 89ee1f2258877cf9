//! `dacapo merge`: everything is checked first, then the plan is shown, then tasks come home one by one (S11).

use dacapo_app::messages::say;
use dacapo_app::operations::merge::{MergeRequest, Merged};
use dacapo_core::merge::Halt;
use dacapo_core::store::RepoDir;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::drive;
use crate::App;
use crate::args::Merge;
use crate::commands::Console;
use crate::error::Failure;
use crate::question::asking;

mod show;

use show::Shown;

/// What is to be merged, and how.
pub(crate) fn request(app: &App, args: &Merge) -> Result<MergeRequest, Failure> {
    let names = args.names.as_deref().unwrap_or_default().split(',');
    Ok(MergeRequest {
        tasks: names.map(str::to_owned).collect(),
        ready: args.ready,
        query: query(args, &app.repository_data()?)?,
        squash: args.squash,
        agent: args.agent.clone(),
        agent_cmd: args.agent_cmd.clone(),
        model: args.model.clone(),
        no_agent: args.no_agent,
        allow_secret: args.allow_secret,
    })
}

pub(super) fn run(app: &Console, args: &Merge) -> Result<u8, Failure> {
    let request = request(app, args)?;
    let mut shown = Shown::new(app, args.show, request.query.clone(), args.dry_run);
    if args.dry_run {
        let plan = app.merge_plan(&request)?;
        shown.show(&plan);
        return Ok(u8::from(shown.needs_somebody(&plan.tasks)));
    }
    let Merged { left_out, halted } =
        asking(app, args.show, |answers| app.merge(&request, answers, &mut shown))?;
    Ok(match (halted, left_out) {
        (true, _) => 130,
        (false, left_out) => u8::from(left_out > 0),
    })
}

/// Words that are tasks' names are a mistake: `a b` was meant to be `a,b`. What is quoted is a sentence.
fn query(args: &Merge, data: &RepoDir) -> Result<Option<String>, Failure> {
    let tasks: Vec<String> = data.tasks().unwrap_or_default().iter().map(|dir| dir.name()).collect();
    let meant: Vec<&String> = args.query.iter().filter(|word| tasks.contains(word)).collect();
    if !meant.is_empty() {
        let all: Vec<&str> =
            args.names.iter().map(String::as_str).chain(meant.iter().map(|word| word.as_str())).collect();
        return Err(Failure::usage(say(|m| m.merge_task_in_query(meant[0])))
            .kept(say(|m| m.kept_nothing_merged()))
            .hint(say(|m| m.hint_did_you_mean(&all.join(","))))
            .hint(say(|m| m.merge_quote_query())));
    }
    let text = args.query.join(" ");
    if !args.query.is_empty() && text.trim().is_empty() {
        return Err(Failure::usage(say(|m| m.merge_query_empty()))
            .kept(say(|m| m.kept_nothing_merged()))
            .hint(say(|m| m.merge_leave_query_out())));
    }
    if text.contains('\0') {
        return Err(Failure::usage(say(|m| m.merge_query_nul())).kept(say(|m| m.kept_nothing_merged())));
    }
    Ok((!args.query.is_empty()).then_some(text))
}

/// The first signal ends the merge in good order, the second at once: the guards see to what is running then.
pub fn halt_by_signals(halt: &Halt) -> Result<(), Failure> {
    let halt = halt.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::failed(say(|m| m.signals_unavailable(&error.to_string()))))?;
    let listening = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if halt.is_asked() {
                std::process::exit(130);
            }
            halt.ask(if signal == SIGINT { "Ctrl-C" } else { "a signal" });
        }
    });
    listening.map(drop).map_err(|error| drive::no_more_threads(&error).kept(say(|m| m.kept_nothing_merged())))
}
