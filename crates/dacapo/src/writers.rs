//! Who writes summaries and commit messages (C4, C5), where the agent's own words are not what is wanted: the agent itself
//! with another model, or a plain call of an endpoint.

use dacapo_core::agent::{self, Adapter, Wish};
use dacapo_core::event::Writing;
use dacapo_core::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

use crate::agents::{self, Chosen};
use crate::config::Config;
use crate::error::Failure;
use crate::native;

/// What stands before the model of an endpoint.
const NATIVE: &str = "native:";

/// The one who writes `what` with this model: `haiku`, or `native:MODEL`.
///
/// # Errors
/// It cannot be had: said before anything is started, not after the first iteration.
pub fn writer(what: Writing, model: &str, config: &Config, chosen: &Chosen) -> Result<AgentSpec, Failure> {
    let mut writer = match model.strip_prefix(NATIVE) {
        Some(model) => endpoint(what, model, config)?,
        None => same_agent(what, model, config, chosen)?,
    };
    writer.price = agents::price(&writer, config);
    Ok(writer)
}

/// One turn of the task's first agent that may change nothing.
fn same_agent(what: Writing, model: &str, config: &Config, chosen: &Chosen) -> Result<AgentSpec, Failure> {
    let first = &chosen.agents[0];
    if first.name == "native" && matches!(first.command, AgentCommand::Own(_)) {
        return endpoint(what, model, config);
    }
    let Some(adapter) = built_in(first, chosen) else {
        let (setting, flag) = names(what);
        return Err(Failure::usage(format!(
            "agent '{}' is a command: Dacapo cannot choose the model for {setting} = \"{model}\"",
            first.name
        ))
        .kept("everything; nothing was started")
        .hint(format!("{setting} = \"native:MODEL\" asks an endpoint ([agents.native]) instead"))
        .hint(format!("{flag} '' leaves it to the agent's own words")));
    };
    let wish = Wish {
        model: Some(model),
        approval: Approval::ReadOnly,
        as_root: rustix::process::geteuid().is_root(),
    };
    let mut writer = adapter.profile(&wish).map_err(|unable| {
        let (setting, flag) = names(what);
        Failure::usage(format!("{setting} = \"{model}\": {unable}"))
            .kept("everything; nothing was started")
            .hint(format!("{setting} = \"native:MODEL\" asks an endpoint ([agents.native]) instead"))
            .hint(format!("{flag} '' leaves it to the agent's own words"))
    })?;
    writer.env.extend(config.agent_profile(adapter.name()).env.clone());
    Ok(writer)
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
        return Err(Failure::usage(format!("{setting} = \"{NATIVE}\" names no model"))
            .kept("everything; nothing was started")
            .hint(format!("{setting} = \"native:MODEL\"")));
    }
    let profile = config.agent_profile("native");
    let Some(api) = profile.api else {
        return Err(Failure::usage(format!("{setting} = \"{NATIVE}{model}\": which endpoint is not set"))
            .kept("everything; nothing was started")
            .hint("set [agents.native] api = \"openai\" or \"anthropic\", and base_url, key_env, in config.toml"));
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
