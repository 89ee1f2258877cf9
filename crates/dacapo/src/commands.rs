//! One file a command: flags become an operation, and what came of it is shown.

use unicode_width::UnicodeWidthStr as _;

use crate::args::{Command, ConfigCommand};
use crate::error::Failure;
use crate::inside_task;

mod attach;
mod background;
mod completions;
mod config;
mod console;
mod demo;
mod diff;
mod doctor;
mod drive;
mod drop;
mod dry_run;
mod exec;
mod front_door;
mod init;
mod kill;
mod list;
mod logs;
mod man;
mod merge;
mod milestone;
mod notify;
mod open;
mod orders;
mod pr;
mod prune;
mod rehearsal;
mod rename;
mod rerun;
mod resume;
mod spawn;
mod start;
mod status;
mod takeover;
mod trust;
mod undo;
mod wait;

pub use background::{ARGUMENT as RUN_ARGUMENT, main as run_in_background};
pub use console::Console;
pub(crate) use console::not_written;
pub(crate) use dry_run::details as dry_run_details;
pub use merge::halt_by_signals;
pub(crate) use merge::request as merge_request;
pub(crate) use rerun::refuse_a_second_name;
pub(crate) use spawn::{in_background, offered};

/// Carries a command out; gives back the exit code.
pub fn run(app: &Console, command: Command) -> Result<u8, Failure> {
    if let Some(order) = order(&command) {
        inside_task::refuse_order(app, order)?;
    }
    match command {
        Command::Prompt(args) => front_door::run(app, args.exec),
        Command::Exec(args) => exec::run(app, &args),
        Command::Spawn(args) => spawn::run(app, *args),
        Command::Milestone(args) => milestone::run(app, args.command),
        Command::List(args) => list::run(app, &args),
        Command::Status(args) => status::run(app, &args),
        Command::Logs(args) => logs::run(app, &args),
        Command::Attach(args) => attach::run(app, &args),
        Command::Takeover(args) => takeover::run(app, &args),
        Command::Diff(args) => diff::run(app, &args),
        Command::Wait(args) => wait::run(app, &args),
        Command::Resume(args) => resume::run(app, &args),
        Command::Merge(args) => merge::run(app, &args),
        Command::Kill(args) => kill::run(app, &args),
        Command::Pause(args) => orders::pause(app, &args),
        Command::Tell(args) => orders::tell(app, &args),
        Command::Set(args) => orders::set(app, &args),
        Command::Approve(args) => orders::approve(app, &args),
        Command::Reject(args) => orders::reject(app, &args),
        Command::Rename(args) => rename::run(app, &args),
        Command::Drop(args) => drop::run(app, &args),
        Command::Undo(args) => undo::run(app, &args),
        Command::Pr(args) => pr::run(app, &args),
        Command::Open(args) => open::run(app, &args),
        Command::Notify(args) => notify::run(app, &args.command),
        Command::Prune(args) => prune::run(app, &args),
        Command::Init(args) => init::run(app, &args),
        Command::Config(args) => config::run(app, &args),
        Command::Trust(args) => trust::run(app, &args),
        Command::Demo(args) => demo::run(app, &args),
        Command::Doctor(args) => doctor::run(app, &args),
        Command::Rehearsal(args) => rehearsal::run(app, &args.command),
        Command::Completions(args) => completions::run(app, &args),
        Command::Man(args) => man::run(app, &args),
        Command::Rerun(args) => rerun::run(app, &args),
    }
}

/// What a command that decides about tasks is called: such orders are a person's (R7). Starting tasks, telling them
/// something, pausing them and looking at them are nothing that an agent could not have without us.
fn order(command: &Command) -> Option<&'static str> {
    match command {
        Command::Set(_) => Some("set"),
        Command::Approve(_) => Some("approve"),
        Command::Reject(_) => Some("reject"),
        Command::Merge(args) => (!args.dry_run).then_some("merge"),
        Command::Resume(_) => Some("resume"),
        Command::Takeover(_) => Some("takeover"),
        Command::Kill(_) => Some("kill"),
        Command::Rename(_) => Some("rename"),
        Command::Drop(_) => Some("drop"),
        Command::Undo(_) => Some("undo"),
        Command::Prune(args) => (!args.dry_run).then_some("prune"),
        Command::Pr(args) => (!args.dry_run).then_some("pr"),
        Command::Trust(args) => (!args.list).then_some("trust"),
        // Those that only show settings are no orders.
        Command::Config(args) => match args.command {
            Some(ConfigCommand::Edit { .. }) => Some("config edit"),
            Some(ConfigCommand::Set { .. }) => Some("config set"),
            Some(ConfigCommand::Unset { .. }) => Some("config unset"),
            Some(ConfigCommand::Show { .. } | ConfigCommand::Schema | ConfigCommand::Path) | None => None,
        },
        Command::Milestone(args) => args.command.order(),
        Command::Prompt(_)
        | Command::Exec(_)
        | Command::Spawn(_)
        | Command::List(_)
        | Command::Status(_)
        | Command::Logs(_)
        | Command::Attach(_)
        | Command::Diff(_)
        | Command::Wait(_)
        | Command::Pause(_)
        | Command::Tell(_)
        | Command::Open(_)
        | Command::Notify(_)
        | Command::Init(_)
        | Command::Man(_)
        | Command::Rerun(_)
        | Command::Doctor(_)
        | Command::Demo(_)
        | Command::Rehearsal(_)
        | Command::Completions(_) => None,
    }
}

/// Whether a command only shows something: then there is nothing that a failure of it could have kept.
pub fn only_reads(command: &Command) -> bool {
    match command {
        Command::List(_)
        | Command::Status(_)
        | Command::Logs(_)
        | Command::Diff(_)
        | Command::Attach(_)
        | Command::Wait(_)
        | Command::Open(_)
        | Command::Doctor(_)
        | Command::Man(_)
        | Command::Completions(_) => true,
        Command::Config(args) => match args.command {
            Some(ConfigCommand::Show { .. } | ConfigCommand::Schema | ConfigCommand::Path) | None => true,
            Some(ConfigCommand::Edit { .. } | ConfigCommand::Set { .. } | ConfigCommand::Unset { .. }) => {
                false
            }
        },
        Command::Milestone(args) => args.command.only_reads(),
        Command::Trust(args) => args.list,
        Command::Prompt(_)
        | Command::Exec(_)
        | Command::Spawn(_)
        | Command::Takeover(_)
        | Command::Resume(_)
        | Command::Merge(_)
        | Command::Kill(_)
        | Command::Pause(_)
        | Command::Tell(_)
        | Command::Set(_)
        | Command::Approve(_)
        | Command::Reject(_)
        | Command::Rename(_)
        | Command::Drop(_)
        | Command::Undo(_)
        | Command::Pr(_)
        | Command::Notify(_)
        | Command::Prune(_)
        | Command::Init(_)
        | Command::Demo(_)
        | Command::Rehearsal(_)
        | Command::Rerun(_) => false,
    }
}

/// Whether the command's output is for programs: then its errors are too.
pub fn wants_json(command: &Command) -> bool {
    match command {
        Command::Exec(args) => args.show.json,
        Command::Prompt(args) | Command::Spawn(args) => args.exec.show.json,
        Command::Kill(args) => args.json,
        Command::Pause(args) => args.json,
        Command::Demo(args) => args.show.json,
        Command::Resume(args) => args.show.json,
        Command::Merge(args) => args.show.json,
        Command::Rename(args) => args.json,
        Command::Drop(args) => args.json,
        Command::Undo(args) => args.json,
        Command::Prune(args) => args.json,
        Command::Attach(args) => args.show.json,
        Command::Milestone(args) => args.command.wants_json(),
        Command::List(args) => args.json,
        Command::Status(args) => args.json,
        Command::Wait(args) => args.json,
        Command::Logs(args) => args.json,
        Command::Diff(args) => args.json,
        Command::Doctor(args) => args.json,
        Command::Pr(args) => args.json,
        Command::Trust(args) => args.json,
        Command::Init(args) => args.json,
        Command::Notify(args) => match args.command {
            crate::args::NotifyCommand::Test { json } => json,
        },
        Command::Rerun(args) => args.flags.show.json,
        Command::Takeover(_)
        | Command::Man(_)
        | Command::Config(_)
        | Command::Open(_)
        | Command::Rehearsal(_)
        | Command::Completions(_)
        | Command::Tell(_)
        | Command::Set(_)
        | Command::Approve(_)
        | Command::Reject(_) => false,
    }
}

/// Does the same with each of several tasks; what one of them is refused does not keep the others from it. The first error, or
/// the first exit code that is not 0.
fn with_each<T>(all: Vec<T>, mut act: impl FnMut(T) -> Result<u8, Failure>) -> Result<u8, Failure> {
    let mut first: Result<u8, Failure> = Ok(0);
    for one in all {
        match (&first, act(one)) {
            (Ok(0), came) => first = came,
            (_, Ok(_)) => {}
            (_, Err(failure)) => complain!("{failure}"),
        }
    }
    first
}

/// Fills a text up to so many columns of a terminal.
fn pad(text: &str, columns: usize) -> String {
    format!("{text}{:1$}", "", columns.saturating_sub(text.width()))
}
