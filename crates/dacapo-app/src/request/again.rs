//! A request that is made anew (S17): what the flags say counts, the rest is as it was recorded.

use dacapo_core::spec::Writing;
use dacapo_core::spec::{
    AgentCommand, AgentSpec, ContextPolicy, LoopPolicy, Place, ProofAt, ProofPolicy, PullRequest, Setup,
    TaskSpec, random_hex,
};
use jiff::Timestamp;

use super::{
    Around, FreshSetup, Request, TaskRequest, Variables, agents_given_again, base, budget, given_again,
    held_out, place, plan, policy, refuse_without_worktree, room, tests, text, variables, wanted, writer,
};
use crate::agents::{self, AgentChoice, Chosen};
use crate::config::{AgentProfile, Config};
use crate::error::Failure;
use crate::messages::{Text, say};
use crate::present::errors;

/// A request that was made before, and the flags that change it.
#[derive(Debug)]
pub struct Again<'a> {
    before: &'a TaskSpec,
    given: &'a TaskRequest,
    flags: TaskRequest,
}

/// What was settled before it is put together.
#[derive(Debug)]
pub struct Settled {
    /// The commands that judge.
    pub checks: Vec<String>,
    /// What makes a fresh checkout usable; none: as recorded.
    pub setup: Option<FreshSetup>,
}

impl<'a> Again<'a> {
    pub fn new(before: &'a TaskSpec, given: &'a TaskRequest) -> Self {
        Self { before, given, flags: together(before, given) }
    }

    /// The flags with which `exec` would have made this very request, as far as flags can say it.
    pub fn flags(&self) -> &TaskRequest {
        &self.flags
    }

    /// Whether the agents are chosen anew: by their names in the settings of today.
    pub fn chooses_agents(&self) -> bool {
        let given = self.given;
        given.agent.is_some()
            || given.agent_cmd.is_some()
            || given.model.is_some()
            || given.approval.is_some()
    }

    /// The names of agents that the settings are asked for, as in `--agent`.
    pub fn names(&self) -> String {
        match (&self.given.agent, &self.given.agent_cmd) {
            (Some(names), _) => names.clone(),
            (None, Some(_)) => String::new(),
            (None, None) => self.before.agents.iter().map(name_of).collect::<Vec<_>>().join(","),
        }
    }

    /// Whether it needs a fresh checkout that the recorded request did not.
    pub fn needs_setup(&self) -> bool {
        let proves = |checks: bool, at: ProofAt| checks && at == ProofAt::Checkout;
        let (before, flags) = (&self.before.policy, &self.flags);
        let had = matches!(self.before.place, Place::Worktree { .. })
            || proves(!before.checks.is_empty(), before.proof.at);
        let checks = flags.project_checks || !flags.checks.is_empty();
        !had && (flags.worktree == Some(true) || proves(checks, flags.proof_at()))
    }

    /// Puts it together, under the name of the one before.
    pub fn request(&self, around: &Around<'_>, settled: Settled) -> Result<Request, Failure> {
        let Around { app, config, repo, data, .. } = *around;
        let (before, given, flags) = (self.before, self.given, &self.flags);
        let mut notes = Vec::new();
        let prompt = if given.issue.is_some() || given.prompt.is_some() {
            text(given, around, &mut notes)?.0
        } else {
            before.prompt.clone()
        };
        let chosen = self.chosen(around)?;
        let mut policy = self.policy(&chosen, settled.checks, &mut notes)?;
        policy.tests = tests(config, flags.tests);
        let setup = match settled.setup {
            Some(fresh) => {
                policy.proof = fresh.proof(config, flags.proof_at());
                fresh.setup(config)
            }
            None => {
                policy.proof = ProofPolicy { at: flags.proof_at(), ..before.policy.proof.clone() };
                self.setup()
            }
        };
        policy.proof.hidden_checks = held_out::checks(&flags.hidden_checks, around)?;
        let context = self.context(config, &chosen, &mut notes)?;
        held_out::settle(flags, &mut policy, &context)?;
        budget(flags, chosen.agents.iter().chain(&context.summary_by).chain(&context.message_by))?;
        refuse_without_worktree(flags, around.driven)?;
        // It starts from where the user is now, not from where the other one did.
        let head = repo.head().map_err(|error| Failure::failed(errors::text(&error)))?;
        let (start, base_branch) = match &flags.base {
            None => (head.commit, head.branch),
            Some(name) => base(flags, around, name, head)?,
        };
        let plan = if given.plan.is_some() || given.no_plan {
            plan::plan(given, repo, data, &mut notes)?
        } else {
            before.plan.clone()
        };
        let Variables { env, secrets } = variables(&given.env);
        let kept = before.env.iter().filter(|(name, _)| !given.env.contains_key(name));
        let mut spec = TaskSpec {
            created_at: Timestamp::now(),
            tag: random_hex(16),
            top: repo.toplevel().to_owned(),
            base_branch,
            prompt,
            plan,
            place: place(flags, around, setup, (&before.name, start)),
            agents: chosen.agents,
            policy,
            context,
            // One that was strict by a flag stays so.
            room: room(flags, config).max(before.room),
            env: kept.cloned().chain(env).collect(),
            pull_request: flags.pr.as_deref().map(PullRequest::titled),
            ..before.clone()
        };
        let command = say(|m| m.env_rerun(before.name.as_str()));
        given_again(app, &spec, &secrets, &command)?;
        agents_given_again(app, config, &mut spec, &command)?;
        Ok(Request { spec, named: given.name.is_some(), agent_why: chosen.why, notes, secrets })
    }

    fn setup(&self) -> Setup {
        match &self.before.place {
            Place::Worktree { setup, .. } => setup.clone(),
            Place::InPlace { .. } => self.before.policy.proof.setup.clone(),
        }
    }

    fn policy(
        &self,
        chosen: &Chosen,
        checks: Vec<String>,
        notes: &mut Vec<Text>,
    ) -> Result<LoopPolicy, Failure> {
        // What a profile added to the flags then is in the record; what it adds today was not asked for.
        let chosen = Chosen { agents: chosen.agents.clone(), profile: AgentProfile::default(), why: None };
        policy(&self.flags, &chosen, checks, notes)
    }

    fn context(
        &self,
        config: &Config,
        chosen: &Chosen,
        notes: &mut Vec<Text>,
    ) -> Result<ContextPolicy, Failure> {
        let (before, given) = (&self.before.context, self.given);
        let auto_commit = before.auto_commit && !given.no_commit;
        let generate_summary = before.generate_summary && !given.no_summary;
        let mut by = |what, model: &Option<String>, recorded: &Option<AgentSpec>| match model {
            Some(model) => writer(what, model, config, chosen, notes),
            None => Ok(recorded.clone()),
        };
        Ok(ContextPolicy {
            enabled: before.enabled && !given.no_context,
            auto_commit,
            generate_summary,
            summary_max_tokens: given.summary_max_tokens.unwrap_or(before.summary_max_tokens),
            context_max_tokens: given.context_max_tokens.unwrap_or(before.context_max_tokens),
            loop_prompt: given.loop_prompt.clone().or_else(|| before.loop_prompt.clone()),
            summary_by: by(Writing::Summary, &given.summary_model, &before.summary_by)?
                .filter(|_| generate_summary),
            message_by: by(Writing::CommitMessage, &given.commit_message_model, &before.message_by)?
                .filter(|_| auto_commit),
        })
    }

    /// The recorded agents as they are; those that flags choose or change by the settings of today.
    fn chosen(&self, around: &Around<'_>) -> Result<Chosen, Failure> {
        let Around { app, config, repo, .. } = *around;
        let recorded = &self.before.agents;
        let first = recorded.first().map_or("", |agent| agent.name.as_str());
        if !self.chooses_agents() {
            let profile = config.agent_profile(first);
            return Ok(Chosen { agents: recorded.clone(), profile, why: None });
        }
        let wanted = wanted(&self.flags, around);
        if self.given.agent.is_some() || self.given.agent_cmd.is_some() {
            return agents::choose(app, &wanted, config, repo.toplevel());
        }
        let wanted = match recorded.first().map(|agent| &agent.command) {
            Some(AgentCommand::Shell(command)) => AgentChoice { agent_cmd: Some(command.clone()), ..wanted },
            _ => AgentChoice { agent: Some(self.names()), ..wanted },
        };
        let chosen = agents::choose(app, &wanted, config, repo.toplevel())?;
        let models = |agents: &[AgentSpec]| -> Vec<Option<String>> {
            agents.iter().map(|agent| agent.model.clone()).collect()
        };
        // A model that a flag had chosen, and not the settings, is chosen once more.
        match recorded.first().and_then(|agent| agent.model.clone()) {
            Some(model) if wanted.model.is_none() && models(&chosen.agents) != models(recorded) => {
                agents::choose(app, &AgentChoice { model: Some(model), ..wanted }, config, repo.toplevel())
            }
            _ => Ok(chosen),
        }
    }
}

/// What `--agent` would be for it.
fn name_of(agent: &AgentSpec) -> String {
    match &agent.command {
        AgentCommand::Rehearsal(script) => format!("rehearsal:{}", script.display()),
        AgentCommand::Shell(_) | AgentCommand::Argv(_) | AgentCommand::Own(_) => agent.name.clone(),
    }
}

/// The flags that were given, and for the rest those that say what is recorded. A recorded value that is the default of then
/// says nothing: a default follows what it depends on.
fn together(before: &TaskSpec, given: &TaskRequest) -> TaskRequest {
    let mut flags = given.clone();
    place_of(before, given, &mut flags);
    super::policy::as_recorded(&before.policy, given, &mut flags);
    // Another agent may do no more than the one before.
    flags.approval = flags.approval.or_else(|| before.agents.first().map(|agent| agent.approval));
    if given.pr.is_none() {
        let recorded = before.pull_request.as_ref();
        flags.pr = recorded.map(|request| request.title.clone().unwrap_or_default());
    }
    flags
}

fn place_of(before: &TaskSpec, given: &TaskRequest, flags: &mut TaskRequest) {
    let worktree = given.worktree.unwrap_or(matches!(before.place, Place::Worktree { .. }));
    flags.worktree = Some(worktree);
    match &before.place {
        Place::InPlace { allow_dirty, .. } => flags.allow_dirty |= *allow_dirty && !worktree,
        Place::Worktree { with_changes, .. } => {
            // Changes go with the current commit alone.
            flags.with_changes |= *with_changes && worktree && given.base.is_none();
        }
    }
}
