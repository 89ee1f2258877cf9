//! `dacapo doctor`: which agents can be used here, who pays for them, and what is missing (A4).

use std::ffi::OsString;
use std::path::PathBuf;

use dacapo_core::git::Repo;
use dacapo_core::store::Home;

use super::print;
use crate::agents::Wanted;
use crate::args::Doctor;
use crate::config::{Brought, Config, ConfigError, Project, Sources, load};
use crate::error::{Failure, suggest};

mod ask;
mod machine;
mod probe;
mod report;
mod show;
mod survey;

use report::{Outcome, Report};

/// The user's surroundings, as far as agents depend on them.
struct Here {
    /// Where relative commands and scripts of the config are looked for: the top of the checkout, else this directory.
    top: PathBuf,
    config: Config,
    /// Settings of the repository that the user has not confirmed: nothing here is asked of them.
    untrusted: Option<Brought>,
    /// Why the settings are not what the user wrote.
    config_problem: Option<ConfigError>,
    env: Vec<(OsString, OsString)>,
    home: Result<Home, Failure>,
}

impl Here {
    fn look() -> Result<Self, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::usage(format!("the current directory cannot be used: {error}")).hint("cd somewhere else")
        })?;
        // Agents can be looked at anywhere; only in a repository is there a project that may define some.
        let (top, sources) = match Repo::discover(&here) {
            Ok(repo) => (repo.toplevel().to_owned(), Sources::for_repo(repo.toplevel())),
            Err(_) => (here, Sources::for_user()),
        };
        let (config, project, config_problem) = match load(&sources) {
            Ok(loaded) => (loaded.config, loaded.project, None),
            Err(error) => (Config::default(), Project::Harmless, Some(error)),
        };
        let untrusted = match project {
            Project::Harmless | Project::Confirmed(_) => None,
            Project::Unconfirmed { brought, .. } => Some(brought),
        };
        Ok(Self {
            top,
            config,
            untrusted,
            config_problem,
            env: std::env::vars_os().collect(),
            home: super::home(),
        })
    }

    fn var(&self, name: &str) -> Option<&OsString> {
        self.env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

pub(super) fn run(args: &Doctor) -> Result<u8, Failure> {
    let here = Here::look()?;
    let names = wanted(args, &crate::agents::names(&here.config))?;
    let mut subjects = survey::survey(&here, &names, &Wanted::default());
    let machine = machine::checks(&here);
    if !args.json {
        print(&show::agents(&subjects));
        print(&show::machine(&machine));
    }
    let mut cancelled = false;
    if args.probe {
        cancelled = probe_all(args, &here, &mut subjects)?;
    }
    let report = Report::new(subjects.into_iter().map(|subject| subject.report).collect(), machine);
    if args.json {
        print(&serde_json::to_string(&report).unwrap_or_default());
    } else {
        print(&show::verdict(&report));
    }
    Ok(match (cancelled, report.ok) {
        (true, _) => 130,
        (false, true) => 0,
        (false, false) => 1,
    })
}

/// One short turn of each that seems usable, one after the other. True: the user has had enough.
fn probe_all(args: &Doctor, here: &Here, subjects: &mut [survey::Subject]) -> Result<bool, Failure> {
    let ready = || subjects.iter().filter(|subject| subject.report.can_be_used() && subject.spec.is_some());
    let names: Vec<&str> = ready().map(|subject| subject.report.name.as_str()).collect();
    let announcement = show::before_probes(&names);
    // Standard output is the report's alone where a program reads it.
    if args.json {
        complain!("{announcement}");
    } else {
        print(&announcement);
    }
    let limits = here.home.as_ref().ok().map(Home::limits);
    for subject in subjects.iter_mut().filter(|subject| subject.report.can_be_used()) {
        let Some(spec) = &subject.spec else { continue };
        let result = probe::probe(spec, &here.env)?;
        if let (Outcome::Done, Some(limits), Some(account)) = (result.outcome, &limits, &subject.account) {
            // Loops that wait for a limit which is over by now look again before their next turn.
            let _ = limits.lift(account);
            subject.report.limit = None;
        }
        if !args.json {
            print(&show::probe(&subject.report.name, &result));
        }
        let cancelled = result.outcome == Outcome::Cancelled;
        subject.report.probe = Some(result);
        if cancelled {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All agents there are, or those that were named.
fn wanted(args: &Doctor, all: &[String]) -> Result<Vec<String>, Failure> {
    let unknown = args.agents.iter().find(|name| !all.contains(name));
    match unknown {
        None if args.agents.is_empty() => Ok(all.to_vec()),
        None => Ok(args.agents.clone()),
        Some(name) => {
            let failure = Failure::usage(format!("unknown agent '{name}'"));
            Err(match suggest(name, all.iter().map(String::as_str)) {
                Some(close) => failure.hint(format!("did you mean '{close}'?")),
                None => failure.hint(format!("there are: {}", all.join(", "))),
            })
        }
    }
}
