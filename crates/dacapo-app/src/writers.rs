//! Who writes summaries and commit messages (C4, C5), where the agent's own words are not what is wanted: the agent itself
//! with another model, or a plain call of an endpoint.

use dacapo_core::agent::{self, Adapter, Wish};
use dacapo_core::spec::Writing;
use dacapo_core::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

use crate::agents::{self, Chosen, refuse_option};
use crate::config::Config;
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::native;
use crate::present::refusals;

/// What stands before the model of an endpoint.
const NATIVE: &str = "native:";

/// Who writes commit messages and summaries.
#[derive(Debug)]
pub enum Writer {
    /// This model.
    Model(Box<AgentSpec>),
    /// Nobody but the agent itself: Dacapo cannot choose the model of a command. Why, for people.
    OwnWords(Text),
}

/// The one who writes `what` with this model: `haiku`, or `native:MODEL`.
///
/// # Errors
/// It cannot be had: said before anything is started, not after the first iteration.
pub fn writer(what: Writing, model: &str, config: &Config, chosen: &Chosen) -> Result<Writer, Failure> {
    let mut writer = match model.strip_prefix(NATIVE) {
        Some(model) => endpoint(what, model, config)?,
        None => match same_agent(what, model, config, chosen)? {
            Some(writer) => writer,
            None => return Ok(Writer::OwnWords(own_words(what, model, &chosen.agents[0]))),
        },
    };
    writer.price = agents::price(&writer, config);
    Ok(Writer::Model(Box::new(writer)))
}

fn own_words(what: Writing, model: &str, agent: &AgentSpec) -> Text {
    let (setting, _) = names(what);
    say(|m| match what {
        Writing::Summary => m.writer_summary_not_used(setting, model, &agent.name),
        Writing::CommitMessage => m.writer_message_not_used(setting, model, &agent.name),
    })
}

/// One turn of the task's first agent that may change nothing; none where the agent is a command.
fn same_agent(
    what: Writing,
    model: &str,
    config: &Config,
    chosen: &Chosen,
) -> Result<Option<AgentSpec>, Failure> {
    let first = &chosen.agents[0];
    if first.name == "native" && matches!(first.command, AgentCommand::Own(_)) {
        return endpoint(what, model, config).map(Some);
    }
    let Some(adapter) = built_in(first, chosen) else { return Ok(None) };
    refuse_option(adapter.name(), Some(model))?;
    let wish = Wish {
        model: Some(model),
        approval: Approval::ReadOnly,
        as_root: rustix::process::geteuid().is_root(),
    };
    let mut writer = adapter.profile(&wish).map_err(|unable| {
        let (setting, flag) = names(what);
        let why = refusals::unable(&unable);
        Failure::usage(say(|m| m.writer_unable(setting, model, why.in_words(m))))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(|m| m.writer_by_endpoint(setting)))
            .hint(say(|m| m.writer_own_words(flag)))
    })?;
    writer.env.extend(config.agent_profile(adapter.name()).env.clone());
    Ok(Some(writer))
}

/// The profile behind an agent, where the user has not put a command of their own in its place.
fn built_in(agent: &AgentSpec, chosen: &Chosen) -> Option<&'static dyn Adapter> {
    let by_profile = chosen.profile.command.is_none() && matches!(agent.command, AgentCommand::Argv(_));
    agent::BUILT_IN.iter().copied().find(|adapter| by_profile && adapter.name() == agent.name)
}

/// One plain question to the endpoint of `[agents.native]`.
fn endpoint(what: Writing, model: &str, config: &Config) -> Result<AgentSpec, Failure> {
    let (setting, _) = names(what);
    if model.trim().is_empty() {
        return Err(Failure::usage(say(|m| m.writer_names_no_model(setting)))
            .kept(say(Messages::kept_nothing_started))
            .hint(format!("{setting} = \"native:MODEL\"")));
    }
    let profile = config.agent_profile("native");
    let Some(api) = profile.api else {
        return Err(Failure::usage(say(|m| m.writer_no_endpoint(setting, model)))
            .kept(say(Messages::kept_nothing_started))
            .hint(say(Messages::writer_set_endpoint)));
    };
    let settings = native::Settings {
        api,
        base_url: profile.base_url.as_deref(),
        key_env: profile.key_env.as_deref(),
        model,
        context_tokens: profile.context_tokens,
        approval: Approval::ReadOnly,
    };
    Ok(AgentSpec {
        name: "native".into(),
        command: AgentCommand::Own(settings.completion()),
        start: Vec::new(),
        prompt: PromptBy::Stdin,
        output: OutputFormat::Rehearsal,
        resume: None,
        follow_up: String::new(),
        env: profile.env.into_iter().collect(),
        model: Some(model.to_owned()),
        price: None,
        approval: Approval::ReadOnly,
    })
}

/// The setting and its flag.
fn names(what: Writing) -> (&'static str, &'static str) {
    match what {
        Writing::Summary => ("summary_model", "--summary-model"),
        Writing::CommitMessage => ("commit_message_model", "--commit-message-model"),
    }
}
