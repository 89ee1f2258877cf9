//! Shell completion: the shell asks this very program, so that it knows the tasks and agents that there are now.
//!
//! `dacapo completions bash` prints what a shell is to load. That calls the program with `VARIABLE` set at each Tab.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use dacapo_core::overview::{Brief, overview};
use dacapo_core::spec::TaskName;
use dacapo_core::store::{RepoDir, TaskDir};

use crate::args::Cli;
use crate::args::completions::Shell;
use crate::{App, agents, config};

/// Set by the shell that asks, to its own name.
const VARIABLE: &str = "_DACAPO_COMPLETE";

/// Answers a shell and ends the program; comes back where none has asked.
pub fn dispatch() {
    if std::env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(command).var(VARIABLE).complete();
    }
}

/// What a shell is to load.
pub fn script(shell: Shell) -> std::io::Result<String> {
    let shells = Shells::builtins();
    let completer = shells
        .completer(shell.name())
        .ok_or_else(|| std::io::Error::other(format!("no completion for {}", shell.name())))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "dacapo", "dacapo", "dacapo", &mut script)?;
    String::from_utf8(script).map_err(std::io::Error::other)
}

/// What the last of these words can become; the program's name is the first.
pub(crate) fn candidates(words: Vec<OsString>, here: &Path) -> Vec<(String, Option<String>)> {
    let last = words.len().saturating_sub(1);
    let found = clap_complete::engine::complete(&mut command(), words, last, Some(here)).unwrap_or_default();
    let words = |candidate: &CompletionCandidate| {
        let help = candidate.get_help().map(ToString::to_string);
        Some((candidate.get_value().to_str()?.to_owned(), help))
    };
    found.iter().filter(|candidate| !candidate.is_hide_set()).filter_map(words).collect()
}

/// The command line, with what is known of the values of its arguments.
///
/// By their names and in one place, so that a new command about a task completes without a word here.
fn command() -> Command {
    let away = |arg: Arg| arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &put_away())));
    Cli::command().mut_subcommands(|command| match command.get_name() {
        // What it is about is no task any more.
        "undo" => command.mut_arg("name", away),
        "merge" => command.mut_args(|arg| match arg.get_id().as_str() {
            "names" => arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &mergeable()))),
            _ => with_values(arg),
        }),
        "milestone" | "config" => command.mut_subcommands(|command| command.mut_args(with_values)),
        _ => command.mut_args(with_values),
    })
}

fn with_values(arg: Arg) -> Arg {
    match (arg.get_id().as_str(), arg.is_positional()) {
        // Lists are taken apart here, where it is known what is in them already.
        ("name" | "names" | "task", true) => {
            arg.value_delimiter(None).add(ArgValueCompleter::new(|word: &OsStr| listed(word, &tasks())))
        }
        ("milestone", true) => arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &milestones()))),
        ("agent" | "developer" | "acceptor", false) | ("agents", true) => {
            arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &agent_names())))
        }
        ("base", false) => arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &branches()))),
        ("key", true) => arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &settings()))),
        ("changes", true) => arg.add(ArgValueCompleter::new(|word: &OsStr| listed(word, &keys()))),
        _ => arg,
    }
}

/// Candidates for the last word of a list: `a,b`. One that is in it already is not offered again.
fn listed(word: &OsStr, names: &[String]) -> Vec<CompletionCandidate> {
    let Some(word) = word.to_str() else { return Vec::new() };
    let (before, last) = word.rsplit_once(',').map_or(("", word), |(before, last)| (before, last));
    let taken = |name: &str| !before.is_empty() && before.split(',').any(|taken| taken == name);
    let prefix = if before.is_empty() { String::new() } else { format!("{before},") };
    names
        .iter()
        .filter(|name| name.starts_with(last) && !taken(name))
        .map(|name| CompletionCandidate::new(format!("{prefix}{name}")))
        .collect()
}

/// The names alone: nothing is read but a directory.
fn tasks() -> Vec<String> {
    let tasks = data().and_then(|data| data.tasks().ok()).unwrap_or_default();
    tasks.iter().map(TaskDir::name).collect()
}

/// Tasks whose work is on a branch of its own and in no other yet; those that run or wait can be merged when they are done.
fn mergeable() -> Vec<String> {
    let Some(data) = data() else { return Vec::new() };
    let seen = overview::<Brief>(&data, app().kinds, SystemTime::now())
        .map(|overview| overview.tasks)
        .unwrap_or_default();
    let ready = |brief: &Brief| {
        let out = brief.own_branch.is_some() && brief.merged_into.is_none() && brief.has_changes();
        out && brief.status.is_settled()
    };
    seen.into_iter().filter(ready).map(|brief| brief.name).collect()
}

/// What a worktree can start from.
fn branches() -> Vec<String> {
    let repo = here().and_then(|dir| app().discover(&dir).ok());
    repo.and_then(|repo| repo.names_of_commits().ok()).unwrap_or_default()
}

/// The files that define milestones, in the checkout around the current directory: likewise.
fn milestones() -> Vec<String> {
    let top = here().and_then(|dir| top(&dir));
    let entries = top.and_then(|top| std::fs::read_dir(top.join(".dacapo/milestones")).ok());
    let files =
        entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let ids = files.filter_map(|file| file.strip_suffix(".md").map(str::to_owned));
    let mut ids: Vec<String> = ids.filter(|id| TaskName::parse(id).is_ok()).collect();
    ids.sort();
    ids
}

/// The same, of what was put away: `NAME-STAMP-RANDOM`.
fn put_away() -> Vec<String> {
    let entries = data().and_then(|data| std::fs::read_dir(data.dropped_path()).ok());
    let ids =
        entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = ids.filter_map(|id| Some(id.rsplitn(3, '-').nth(2)?.to_owned())).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names.dedup();
    names
}

/// The user where the command would run.
fn app() -> App {
    App { cwd: here().ok_or_else(String::new), ..crate::app() }
}

fn data() -> Option<RepoDir> {
    app().repository_data().ok()
}

fn agent_names() -> Vec<String> {
    let config = config::load(&app().config_sources()).map(|loaded| loaded.config).unwrap_or_default();
    agents::names(&config)
}

/// The keys of all settings: those of the agents and prices that are configured, too.
fn settings() -> Vec<String> {
    let loaded = config::load(&app().config_sources()).map(|loaded| config::settings(&loaded));
    loaded.unwrap_or_default().into_iter().map(|setting| setting.key).collect()
}

fn keys() -> Vec<String> {
    let mut all: Vec<&str> = app().kinds.all().iter().flat_map(|kind| kind.limits()).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.iter().map(|key| format!("{key}=")).collect()
}

/// The checkout around a directory.
fn top(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().find(|level| level.join(".git").exists()).map(Path::to_owned)
}

/// Where the command would run: `-C DIR` counts.
fn here() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(2).collect();
    Some(directory(&words).map_or(here.clone(), |dir| here.join(dir)))
}

/// The value of `-C`, as typed so far.
fn directory(words: &[OsString]) -> Option<PathBuf> {
    let at = words.iter().position(|word| {
        word.to_str().is_some_and(|word| word.starts_with("-C") || word.starts_with("--directory"))
    })?;
    let word = words[at].to_str()?;
    match word.strip_prefix("--directory").or_else(|| word.strip_prefix("-C"))? {
        "" => words.get(at + 1).map(PathBuf::from),
        rest => Some(PathBuf::from(rest.strip_prefix('=').unwrap_or(rest))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(word: &str, names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let found = listed(OsStr::new(word), &names);
        found.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_last_of_a_list_is_completed() {
        let names = ["auth", "audit", "docs"];
        assert_eq!(offered("", &names), names);
        assert_eq!(offered("au", &names), ["auth", "audit"]);
        assert_eq!(offered("auth,", &names), ["auth,audit", "auth,docs"]);
        assert_eq!(offered("auth,docs,a", &names), ["auth,docs,audit"]);
        assert_eq!(offered("x", &names), [""; 0]);
    }

    #[test]
    fn the_directory_is_found_as_it_is_written() {
        let found = |words: &[&str]| directory(&words.iter().map(OsString::from).collect::<Vec<_>>());
        for words in [
            &["-C", "a b", "status"][..],
            &["-Ca b"],
            &["status", "--directory=a b"],
            &["--directory", "a b"],
        ] {
            assert_eq!(found(words), Some("a b".into()), "{words:?}");
        }
        assert_eq!(found(&["status", "x"]), None);
        assert_eq!(found(&["-C"]), None);
    }

    #[test]
    fn every_task_argument_has_a_completer() {
        let command = command();
        let mut found = Vec::new();
        let of = |name: &str| command.find_subcommand(name).unwrap().get_subcommands();
        for command in command.get_subcommands().chain(of("milestone")).chain(of("config")) {
            for arg in command.get_arguments().filter(|arg| arg.get::<ArgValueCompleter>().is_some()) {
                found.push(format!("{} {}", command.get_name(), arg.get_id()));
            }
        }
        for wanted in [
            "status name",
            "logs name",
            "diff name",
            "wait names",
            "pause names",
            "resume name",
            "kill names",
            "rename name",
            "set name",
            "set key",
            "unset key",
            "set changes",
            "exec agent",
            "spawn agent",
            "spawn base",
            "rerun task",
            "rerun agent",
            "merge names",
            "doctor agents",
            "show milestone",
            "start milestone",
            "start developer",
            "abandon milestone",
        ] {
            assert!(found.iter().any(|found| found == wanted), "{wanted} in {found:?}");
        }
        for own in ["exec name", "rename new_name"] {
            assert!(!found.iter().any(|found| found == own), "a new name is the user's own");
        }
    }

    #[test]
    fn every_shell_has_a_script() {
        for shell in Shell::ALL {
            let script = script(*shell).unwrap();
            assert!(script.contains(VARIABLE) && script.contains("dacapo"), "{}", shell.name());
        }
    }
}
