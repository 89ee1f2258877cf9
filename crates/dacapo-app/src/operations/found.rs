//! The project's own checks and setup: as configured, else found by its files, shown and confirmed once per repository.

use dacapo_core::git::Repo;
use dacapo_core::store::RepoDir;

use crate::config::Config;
use crate::error::Failure;
use crate::found_checks::{self, FoundCheck, Question as Remembered, remember, remembered};
use crate::messages::{Messages, say};
use crate::question::{Answer, Answers, NotYet, Question};
use crate::request::FreshSetup;

/// Whether the user wants the project's own commands run, where nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// `--checks`, or the like.
    Given,
    /// Neither agreed nor refused.
    None,
}

/// The project's own checks: from the config, else found; there may be none.
pub(super) fn project_checks(
    config: &Config,
    (repo, data): (&Repo, &RepoDir),
    answers: &Answers,
) -> Result<Vec<String>, NotYet> {
    if let Some(checks) = &config.checks {
        return Ok(checks.clone());
    }
    let found = found_checks::find(repo.toplevel());
    let commands = commands(&found);
    if commands.is_empty() {
        return Ok(commands);
    }
    // Who asks for checks has not said that there are to be none.
    let known = remembered(data.path(), Remembered::Checks, &commands).filter(|used| !used.is_empty());
    if let Some(used) = known {
        return Ok(used);
    }
    match answers.to(Question::Checks { found })? {
        Answer::Yes => remember(data.path(), Remembered::Checks, &commands, &commands),
        // Asking for them by a flag confirms them, this time.
        Answer::Unasked => {}
        Answer::No => {
            return Err(Failure::usage(say(Messages::start_checks_declined))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::start_how_to_set_checks))
                .into());
        }
        Answer::Use(own) => return Ok(own),
    }
    Ok(commands)
}

/// What makes a fresh checkout usable: from the config, else by lock files.
pub(super) fn fresh_setup(
    config: &Config,
    (repo, data): (&Repo, &RepoDir),
    consent: Consent,
    answers: &Answers,
) -> Result<FreshSetup, NotYet> {
    if !config.worktree.setup.is_empty() {
        return Ok(FreshSetup { commands: config.worktree.setup.clone(), suggested: Vec::new() });
    }
    let found = found_checks::find_setup(repo.toplevel());
    let commands = commands(&found);
    if commands.is_empty() {
        return Ok(FreshSetup::default());
    }
    if let Some(used) = remembered(data.path(), Remembered::Setup, &commands) {
        let suggested = if used.is_empty() { commands } else { Vec::new() };
        return Ok(FreshSetup { commands: used, suggested });
    }
    let use_them = match answers.to(Question::Setup { found })? {
        Answer::Yes => true,
        Answer::No => false,
        Answer::Unasked | Answer::Use(_) => {
            return Ok(match consent {
                Consent::Given => FreshSetup { commands, suggested: Vec::new() },
                Consent::None => FreshSetup { commands: Vec::new(), suggested: commands },
            });
        }
    };
    let used = if use_them { commands.clone() } else { Vec::new() };
    remember(data.path(), Remembered::Setup, &commands, &used);
    Ok(FreshSetup { commands: used, suggested: if use_them { Vec::new() } else { commands } })
}

fn commands(found: &[FoundCheck]) -> Vec<String> {
    found.iter().map(|found| found.command.clone()).collect()
}
