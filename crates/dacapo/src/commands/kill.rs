//! `dacapo kill`: ends tasks and all they started (S8).

use dacapo_app::messages::say;
use dacapo_core::git::Repo;
use dacapo_core::store::TaskDir;

use super::with_each;
use crate::args::{Kill, Show};
use crate::commands::Console;
use crate::error::Failure;
use crate::output::json;
use crate::output::{report, status};
use crate::question::{self, Audience, Default};

pub(super) fn run(app: &Console, args: &Kill) -> Result<u8, Failure> {
    let tasks = app.tasks(&args.names)?;
    if args.ask {
        confirmed(app, &tasks, args)?;
    }
    let killed = app.kill(tasks.into_iter().map(|(_, dir)| dir).collect());
    with_each(killed, |(_, killed)| {
        let view = killed?.refuse_over()?;
        match &view.result {
            _ if args.json => app.print(&json::status(&view)),
            Some(result) => app.print(&report::result(&view, result, app.messages)),
            None => app.print(&status::status(&view, None, None, app.messages)),
        }
        Ok(0)
    })
}

/// `stop` asks the person at the terminal; a script means what it says.
fn confirmed(app: &Console, tasks: &[(Repo, TaskDir)], args: &Kill) -> Result<(), Failure> {
    let names: Vec<String> = tasks.iter().map(|(_, dir)| dir.name()).collect();
    let kill = say(|m| m.kill_without_asking(&names.join(",")));
    let show = Show { json: args.json, quiet: false };
    let asked = app.messages.kill_asks(&names.join(", "));
    match Audience::now(show) {
        Audience::Nobody => Ok(()),
        Audience::Person if question::yes(&asked, Default::No) => Ok(()),
        Audience::Person => Err(Failure::cancelled(say(|m| m.kill_nothing_ended()))
            .kept(say(|m| m.kept_runs_on()))
            .hint(kill)),
        Audience::TypedAhead => {
            Err(Failure::usage(say(|m| m.kill_not_asked())).kept(say(|m| m.kept_runs_on())).hint(kill))
        }
    }
}
