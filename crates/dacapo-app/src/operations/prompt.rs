//! A task that is asked for by its prompt alone: everything else has a good default, and is told before it starts (L0).

use std::time::Duration;

use dacapo_core::agent::{self, Billing};
use dacapo_core::git::Repo;
use dacapo_core::spec::AgentSpec;
use dacapo_core::store::RepoDir;
use dacapo_core::task::agent_loop::DEFAULT_PROMISE;

use super::start::uses;
use crate::App;
use crate::agents::{self, AgentChoice, Chosen};
use crate::config::{Config, Timespan};
use crate::error::{Code, Failure};
use crate::found_checks::{self, FoundCheck, Question as Remembered, remember, remembered};
use crate::messages::{Messages, say};
use crate::question::{Answer, Answers, NotYet, Question};
use crate::request::{Driven, TaskRequest, knows_its_cost};
use crate::trust::Using;

const ITERATIONS: i64 = 10;
const TIME: Duration = Duration::from_secs(8 * 60 * 60);
/// Where an API key pays.
const COST_USD: f64 = 10.0;

/// Where the task would run, and who would do it.
#[derive(Debug)]
pub struct Ground {
    pub repo: Repo,
    data: RepoDir,
    config: Config,
    chosen: Chosen,
    /// Whose key pays, if one does.
    pub payer: Option<Payer>,
}

/// Who pays: the variable, or the agent's file, that holds the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payer(pub String);

/// When the task would be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conditions {
    /// When these succeed, as the request says.
    Checks(Vec<String>),
    /// When the agent says so, as the request says.
    Promise,
    /// When these succeed, as the settings say.
    Configured(Vec<String>),
    /// When the checks that were found succeed.
    Found(Vec<FoundCheck>),
    /// When these succeed, as the user chose before; none: when the agent says so.
    Chosen(Vec<String>),
    /// Nothing was found: when the agent says so.
    NothingFound,
}

impl App {
    /// Where a task would run, and who would do it. All that it will use of the settings is confirmed here: nothing is to be
    /// asked after the agent was announced.
    pub fn ground(&self, request: &TaskRequest, answers: &Answers) -> Result<Ground, NotYet> {
        let (repo, data) = self.repository().map_err(|failure| match failure.code {
            Some(Code::NoRepository) => failure.hint(say(Messages::start_then_commit)),
            Some(_) | None => failure,
        })?;
        let no_commit = repo.head().is_ok_and(|head| head.commit.is_none());
        if no_commit && request.in_worktree(Driven::InBackground) {
            return Err(Failure::usage(say(Messages::start_needs_a_commit))
                .kept(say(Messages::kept_nothing_started))
                .hint(say(Messages::start_commit_then_again))
                .hint(say(Messages::start_exec_in_this_checkout))
                .into());
        }
        let mut uses = uses(request, Driven::InBackground);
        uses.extend([Using::Checks, Using::Setup]);
        let config = self.settings(repo.toplevel(), &uses, answers)?.config;
        let wanted = AgentChoice {
            agent: request.agent.clone(),
            agent_cmd: request.agent_cmd.clone(),
            model: request.model.clone(),
            approval: request.approval.unwrap_or_default(),
            answers: agents::Answers::ByCommand,
        };
        let chosen = agents::choose(self, &wanted, &config, repo.toplevel())?;
        let payer = payer(self, &chosen.agents);
        Ok(Ground { repo, data, config, chosen, payer })
    }
}

/// Whose key pays, if one does.
pub fn payer(app: &App, agents: &[AgentSpec]) -> Option<Payer> {
    agents.iter().find_map(|spec| match agent::account(spec, &app.env).billing {
        Billing::ApiKey(holder) => Some(Payer(holder)),
        Billing::Unknown | Billing::Subscription => None,
    })
}

impl Ground {
    /// The agents, in their order.
    pub fn agents(&self) -> &[AgentSpec] {
        &self.chosen.agents
    }

    /// Fills in what the request does not say; when it will be done.
    pub fn fill_in(&self, request: &mut TaskRequest, answers: &Answers) -> Result<Conditions, NotYet> {
        let conditions = self.conditions(request, answers)?;
        if let Conditions::Configured(own) | Conditions::Chosen(own) = &conditions {
            add(&mut request.checks, own.iter());
        } else if let Conditions::Found(found) = &conditions {
            add(&mut request.checks, found.iter().map(|found| &found.command));
        }
        request.project_checks = false;
        if request.checks.is_empty() && request.until.is_none() {
            // Nothing can be proven; then the agent's own word is the end.
            let promise = self.chosen.profile.loop_settings().and_then(|set| set.completion_promise);
            request.until = Some(promise.unwrap_or_else(|| DEFAULT_PROMISE.to_owned()));
        }
        let bounded = self.payer.is_some() && self.agents().iter().all(knows_its_cost);
        request.max_cost = request.max_cost.or(bounded.then_some(COST_USD));
        request.time.get_or_insert(Timespan::from(TIME));
        if request.iter.is_none() {
            request.max_iterations.get_or_insert(ITERATIONS);
        }
        Ok(conditions)
    }

    /// What the request says; where it says nothing the project's checks, else the agent's own word.
    fn conditions(&self, request: &TaskRequest, answers: &Answers) -> Result<Conditions, NotYet> {
        let said = !request.checks.is_empty() || request.until.is_some();
        if said && !request.project_checks {
            return Ok(match request.checks.as_slice() {
                [] => Conditions::Promise,
                checks => Conditions::Checks(checks.to_vec()),
            });
        }
        if let Some(checks) = &self.config.checks {
            return Ok(Conditions::Configured(checks.clone()));
        }
        let found = found_checks::find(self.repo.toplevel());
        let commands: Vec<String> = found.iter().map(|check| check.command.clone()).collect();
        if found.is_empty() {
            return Ok(Conditions::NothingFound);
        }
        let known = remembered(self.data.path(), Remembered::Checks, &commands);
        // Who asks for checks does not mean a "none" of earlier any more.
        let used = match known.filter(|used| !used.is_empty() || !request.project_checks) {
            Some(used) => used,
            None => {
                let used = match answers.to(Question::ChooseChecks { found: found.clone() })? {
                    Answer::Yes => commands.clone(),
                    Answer::No => Vec::new(),
                    Answer::Use(own) => own,
                    // Asking for them by a flag confirms them, this time.
                    Answer::Unasked if request.project_checks => return Ok(Conditions::Found(found)),
                    Answer::Unasked => return Err(unconfirmed(&commands).into()),
                };
                remember(self.data.path(), Remembered::Checks, &commands, &used);
                used
            }
        };
        Ok(if used == commands { Conditions::Found(found) } else { Conditions::Chosen(used) })
    }
}

/// Checks were found, nobody has confirmed them, and nobody can be asked (L3).
fn unconfirmed(commands: &[String]) -> Failure {
    let found = commands.join(", ");
    Failure::usage(say(|m| m.start_checks_unconfirmed(&found)))
        .kept(say(Messages::kept_nothing_started))
        .hint(say(Messages::start_confirm_checks))
        .hint(say(Messages::start_how_to_set_checks))
}

fn add<'a>(checks: &mut Vec<String>, own: impl Iterator<Item = &'a String>) {
    for command in own {
        if !checks.contains(command) {
            checks.push(command.clone());
        }
    }
}
