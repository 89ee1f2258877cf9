//! Which agents can be used here, who pays for them, and what is missing (A4).

use std::ffi::OsStr;
use std::path::PathBuf;

use dacapo_core::engine::Control;
use dacapo_core::env::Env;
use dacapo_core::store::Home;

use crate::App;
use crate::agents::AgentChoice;
use crate::config::{Brought, Config, ConfigError, Project, load};
use crate::error::{Failure, suggest};
use crate::messages::say;

mod ask;
mod machine;
mod probe;
pub mod report;
mod survey;

use report::{Check, Outcome, Probed, Report};
pub use survey::Subject;

/// What was found, before any agent was given a turn.
pub struct Examination {
    here: DoctorContext,
    pub subjects: Vec<Subject>,
    pub machine: Vec<Check>,
}

impl App {
    /// Looks at the agents of these names, or all there are, and at the machine. Nothing is asked of a model.
    pub fn examine(&self, names: &[String]) -> Result<Examination, Failure> {
        let here = DoctorContext::look(self)?;
        let names = wanted(names, &crate::agents::names(&here.config))?;
        let subjects = survey::survey(&here, &names, &AgentChoice::default());
        let machine = machine::checks(&here);
        Ok(Examination { here, subjects, machine })
    }
}

impl Examination {
    /// Those that seem usable, by name.
    pub fn ready(&self) -> Vec<&str> {
        let ready = self.subjects.iter().filter(|one| one.report.can_be_used() && one.spec.is_some());
        ready.map(|subject| subject.report.name.as_str()).collect()
    }

    /// One short turn of each that seems usable, one after the other. True: the user has had enough.
    pub fn probe(
        &mut self,
        listen: &mut dyn FnMut(Control) -> Result<(), Failure>,
        tell: &mut dyn FnMut(&str, &Probed),
    ) -> Result<bool, Failure> {
        let limits = self.here.home.as_ref().ok().map(Home::limits);
        for subject in self.subjects.iter_mut().filter(|subject| subject.report.can_be_used()) {
            let Some(spec) = &subject.spec else { continue };
            let result = probe::probe(&self.here.app, spec, &self.here.env, listen)?;
            if let (Outcome::Done, Some(limits), Some(account)) = (result.outcome, &limits, &subject.account)
            {
                // Loops that wait for a limit which is over by now look again before their next turn.
                let _ = limits.lift(account);
                subject.report.limit = None;
            }
            tell(&subject.report.name, &result);
            let cancelled = result.outcome == Outcome::Cancelled;
            subject.report.probe = Some(result);
            if cancelled {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The whole of it.
    pub fn report(self) -> Report {
        Report::new(self.subjects.into_iter().map(|subject| subject.report).collect(), self.machine)
    }
}

/// The user's environment and settings, as far as agents depend on them.
struct DoctorContext {
    /// Where relative commands and scripts of the config are looked for: the top of the checkout, else this directory.
    top: PathBuf,
    config: Config,
    /// Settings of the repository that the user has not confirmed: nothing here is asked of them.
    untrusted: Option<Brought>,
    /// Why the settings are not what the user wrote.
    config_problem: Option<ConfigError>,
    app: App,
    env: Env,
    home: Result<Home, Failure>,
}

impl DoctorContext {
    fn look(app: &App) -> Result<Self, Failure> {
        let here = app.here()?.to_owned();
        // Agents can be looked at anywhere; only in a repository is there a project that may define some.
        let (top, sources) = match app.discover(&here) {
            Ok(repo) => (repo.toplevel().to_owned(), app.project_sources(repo.toplevel())),
            Err(_) => (here, app.user_sources()),
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
            app: app.clone(),
            env: app.env.clone(),
            home: app.home(),
        })
    }

    fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(name)
    }
}

/// All agents there are, or those that were named.
fn wanted(named: &[String], all: &[String]) -> Result<Vec<String>, Failure> {
    let unknown = named.iter().find(|name| !all.contains(name));
    match unknown {
        None if named.is_empty() => Ok(all.to_vec()),
        None => Ok(named.to_vec()),
        Some(name) => {
            let failure = Failure::usage(say(|m| m.agent_unknown(name)));
            Err(match suggest(name, all.iter().map(String::as_str)) {
                Some(close) => failure.hint(say(|m| m.hint_did_you_mean(close))),
                None => {
                    let known = all.join(", ");
                    failure.hint(say(|m| m.agent_there_are(&known)))
                }
            })
        }
    }
}
