//! `dacapo pause`, `tell`, `set`: what a person wants of a task. A task that runs finds it in its inbox; into the journal
//! of one that does not, it is written here, under the task's lock.

use std::io::{self, Read as _};
use std::time::Duration;

use dacapo_core::event::{Command, Event, Needs, Received};
use dacapo_core::git::Repo;
use dacapo_core::spec::{Change, InvalidChange, random_hex};
use dacapo_core::store::{Lock, LockError, TaskDir, note};
use dacapo_core::task::milestone::Milestones;
use dacapo_core::task::{Kind, Kinds, NotThatKind};
use dacapo_core::view::Status;

use super::kill::is_free_within;
use super::resume::still_finishing;
use super::{milestone, print, task, tasks, view, with_each};
use crate::args::{Approve, Pause, Reject, Set, Show, Tell};
use crate::error::{Failure, suggest};
use crate::request::{Budget, can_hold};

/// A pause ends the turn at work as a kill does.
const AT_ONCE: Duration = Duration::from_secs(30);

pub(super) fn pause(args: &Pause) -> Result<u8, Failure> {
    with_each(tasks(&args.names)?, |(_, dir)| pause_one(&dir, args))
}

fn pause_one(dir: &TaskDir, args: &Pause) -> Result<u8, Failure> {
    let name = dir.name();
    if !dir.is_driven().map_err(|error| unreachable(&name, &error))? {
        let status = view(dir)?.status;
        return Err(Failure::usage(format!("Task '{name}' is not running ({})", status.as_str()))
            .hint(format!("dacapo resume {name} goes on with it")));
    }
    let put = dir.inbox().put("dacapo pause", Command::Pause { now: args.now });
    put.map_err(|error| unreachable(&name, &error))?;
    let over = args.now && is_free_within(dir, AT_ONCE);
    if args.json {
        print(&view(dir)?.to_json().to_string());
    } else if over {
        print(&format!("{name} is paused; dacapo resume {name} goes on with it"));
    } else {
        let when = if args.now { "as soon as it can" } else { "after this iteration" };
        print(&format!("{name} pauses {when}; dacapo wait {name} waits for that"));
    }
    Ok(0)
}

pub(super) fn tell(args: &Tell) -> Result<u8, Failure> {
    let (_, dir) = task(Some(&args.name))?;
    if args.clear {
        return take_back(&dir);
    }
    let mut text = args.text.join(" ");
    if text == "-" {
        text.clear();
        io::stdin().lock().read_to_string(&mut text).map_err(|error| {
            Failure::usage(format!("cannot read what to tell from standard input: {error}"))
        })?;
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to tell")
            .hint(format!("dacapo tell {} \"what its iterations are to hear\"", dir.name())));
    }
    let text = text.trim_end().to_owned();
    let heard = give(&dir, "dacapo tell", &[Command::Tell { text, standing: !args.once }])?;
    let name = dir.name();
    let is_milestone = dir.spec().is_ok_and(|spec| spec.kind == Milestones::NAME);
    let back = format!("dacapo tell {name} --clear takes it back");
    print(&match heard {
        Heard::Now if args.once || is_milestone => format!("the next iteration of {name} hears it"),
        Heard::Now => format!("every iteration of {name} from the next on hears it; {back}"),
        Heard::Later if args.once || is_milestone => {
            format!("{name} hears it when it goes on: dacapo resume {name}")
        }
        Heard::Later => format!("{name} hears it from when it goes on: dacapo resume {name}; {back}"),
    });
    Ok(0)
}

fn take_back(dir: &TaskDir) -> Result<u8, Failure> {
    let name = dir.name();
    let heard = give(dir, "dacapo tell", &[Command::Untell])?;
    print(&match heard {
        Heard::Now => format!("no iteration of {name} from the next on hears what was told"),
        Heard::Later => format!("{name} no longer hears what was told"),
    });
    Ok(0)
}

pub(super) fn set(args: &Set) -> Result<u8, Failure> {
    let (_, dir) = task(Some(&args.name))?;
    let spec = dir.spec().map_err(|error| Failure::failed(error.to_string()))?;
    let kind = Kinds::default().find(&spec.kind).ok_or_else(|| {
        Failure::usage(NotThatKind::Unknown(spec.kind.clone()).to_string())
            .kept("everything; nothing was changed")
    })?;
    let mut commands = Vec::new();
    for change in &args.changes {
        let (key, value) = change.split_once('=').ok_or_else(|| {
            let first = kind.limits().first().copied().unwrap_or("iter");
            Failure::usage(format!("'{change}' is not KEY=VALUE"))
                .kept("everything; nothing was changed")
                .hint(format!("dacapo set {} {first}=20", spec.name))
        })?;
        let parsed = kind.change(key, value).map_err(|error| invalid(&error, kind, value))?;
        let budget = match parsed {
            Change::MaxCost(_) => Some(Budget::Cost),
            Change::MaxTokens(_) => Some(Budget::Tokens),
            _ => None,
        };
        // Whoever writes summaries and messages is paid, too.
        let paid = spec.agents.iter().chain(&spec.context.summary_by).chain(&spec.context.message_by);
        budget
            .map_or(Ok(()), |budget| can_hold(budget, paid))
            .map_err(|failure| failure.kept("everything; nothing was changed"))?;
        commands.push(Command::Set { key: key.to_owned(), value: value.to_owned() });
    }
    let heard = give(&dir, "dacapo set", &commands)?;
    let what = args.changes.join(", ");
    print(&match heard {
        Heard::Now => format!("{}: {what}", spec.name),
        Heard::Later => format!("{}: {what}, when it goes on: dacapo resume {}", spec.name, spec.name),
    });
    Ok(0)
}

pub(super) fn approve(args: &Approve) -> Result<u8, Failure> {
    let choice = args.choice.map(|number| number as usize);
    let Asked { repo, dir, needs, runs } = asked(&args.name)?;
    if runs {
        return approve_running(&dir, &needs, choice);
    }
    milestone::approve(&repo, &dir, &needs, choice, Show::default())
}

fn approve_running(dir: &TaskDir, needs: &Needs, choice: Option<usize>) -> Result<u8, Failure> {
    if let Some(number) = choice
        && number > needs.options.len()
    {
        let all = needs.options.iter().enumerate().map(|(at, option)| format!("{}: {option}", at + 1));
        return Err(Failure::usage(format!("there is no choice {number}"))
            .kept("everything; the task still waits")
            .hint(format!("the choices are {}", all.collect::<Vec<_>>().join(", "))));
    }
    answer(dir, "dacapo approve", Command::Approve { choice })
}

pub(super) fn reject(args: &Reject) -> Result<u8, Failure> {
    let words = args.reason.join(" ");
    let reason = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
    let Asked { repo, dir, needs, runs } = asked(&args.name)?;
    if runs {
        return answer(&dir, "dacapo reject", Command::Reject { reason });
    }
    milestone::reject(&repo, &dir, &needs, reason, Show::default())
}

/// A task that waits for an answer.
struct Asked {
    repo: Repo,
    dir: TaskDir,
    needs: Needs,
    /// Its process waits, in a turn of its agent; else it has paused for the answer.
    runs: bool,
}

fn asked(name: &str) -> Result<Asked, Failure> {
    let (repo, dir) = task(Some(name))?;
    let view = view(&dir)?;
    match view.needs {
        Some(needs) if view.status == Status::Running => Ok(Asked { repo, dir, needs, runs: true }),
        Some(needs) if view.status == Status::Paused && view.kind == Milestones::NAME => {
            Ok(Asked { repo, dir, needs, runs: false })
        }
        _ => Err(Failure::usage(format!("Task '{}' asks nothing ({})", view.name, view.status.as_str()))
            .kept("everything; nothing was changed")
            .hint(format!("dacapo status {} shows where it stands", view.name))),
    }
}

fn answer(dir: &TaskDir, by: &str, command: Command) -> Result<u8, Failure> {
    dir.inbox().put(by, command).map_err(|error| unreachable(&dir.name(), &error))?;
    print(&format!("{} has its answer", dir.name()));
    Ok(0)
}

fn invalid(error: &InvalidChange, kind: &dyn Kind, value: &str) -> Failure {
    let failure = Failure::usage(error.to_string()).kept("everything; nothing was changed");
    let InvalidChange::Key(key) = error else { return failure };
    if let Some((other, own)) = called_otherwise(key, value, kind) {
        return failure.hint(format!("'{key}' is a limit of a {other}; of a {} it is '{own}'", kind.name()));
    }
    match suggest(key, kind.limits().iter().copied()) {
        Some(close) => failure.hint(format!("did you mean '{close}'?")),
        None => failure.hint(format!("these can be: {}", kind.limits().join(", "))),
    }
}

/// The kind of task that knows the key, and what the same limit is called in this one.
fn called_otherwise(key: &str, value: &str, kind: &dyn Kind) -> Option<(&'static str, &'static str)> {
    let others = Kinds::default().all().iter().filter(|other| other.limits().contains(&key));
    others.filter_map(|other| Some((other.name(), other.change(key, value).ok()?))).find_map(
        |(name, meant)| {
            let own = kind.limits().iter().find(|own| kind.change(own, value) == Ok(meant));
            own.map(|own| (name, *own))
        },
    )
}

fn unreachable(name: &str, error: &io::Error) -> Failure {
    Failure::failed(format!("task '{name}' cannot be reached: {error}"))
}

/// When the task learns of a command.
enum Heard {
    /// A process drives it.
    Now,
    /// Nobody does.
    Later,
}

fn give(dir: &TaskDir, by: &str, commands: &[Command]) -> Result<Heard, Failure> {
    let name = dir.name();
    let lock = match dir.lock_briefly() {
        Ok(lock) => lock,
        Err(LockError::Held) => {
            let inbox = dir.inbox();
            for command in commands {
                inbox.put(by, command.clone()).map_err(|error| unreachable(&name, &error))?;
            }
            return Ok(Heard::Now);
        }
        Err(LockError::Lingering) => return Err(still_finishing(&name)),
        Err(error @ LockError::Io { .. }) => return Err(Failure::failed(error.to_string())),
    };
    if !dir.has_begun() {
        // Of a task that never began there is nothing to write behind.
        for command in commands {
            dir.inbox().put(by, command.clone()).map_err(|error| unreachable(&name, &error))?;
        }
        return Ok(Heard::Later);
    }
    write_down(dir, &lock, by, commands)?;
    Ok(Heard::Later)
}

/// Into the journal of a task that nobody drives.
pub(super) fn write_down(dir: &TaskDir, lock: &Lock, by: &str, commands: &[Command]) -> Result<(), Failure> {
    for command in commands {
        let received = Received { id: random_hex(8), by: by.to_owned(), command: command.clone() };
        note(dir, lock, Event::CommandReceived(received))
            .map_err(|error| Failure::failed(error.to_string()))?;
    }
    Ok(())
}
