//! The small agent of Dacapo's own (A6), as it is asked for: the program itself is not here.

use dacapo_core::agent::Unable;
use dacapo_core::spec::Approval;

use crate::config::Api;

/// The hidden command.
pub const COMMAND: &str = "__native";

/// The hidden command that posts a notification to an address: not the agent's business, but of the one program that knows
/// HTTP and TLS.
pub const DELIVER: &str = "__deliver";

/// What only a new conversation is started with; `{session}` stands for the id that was chosen for it.
pub const START: [&str; 2] = ["--new-session", "{session}"];

/// What continues a conversation.
pub const RESUME: [&str; 2] = ["--session", "{session}"];

/// Which model does the work, and what it may do: `[agents.native]` and flags, as this agent takes them.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    pub api: Api,
    /// Where the endpoint is; none: the vendor's own, and its usual key variable.
    pub base_url: Option<&'a str>,
    /// The name of the variable that holds the key; none at an own address: no key is sent.
    pub key_env: Option<&'a str>,
    /// The model, by the endpoint's name for it.
    pub model: &'a str,
    /// What the model can take in; none: 128,000 tokens.
    pub context_tokens: Option<u32>,
    /// What it may do without asking.
    pub approval: Approval,
}

impl Settings<'_> {
    /// The arguments of our own program for a turn, without those for the session ([`START`], [`RESUME`]).
    ///
    /// # Errors
    /// There is nobody whom it could ask.
    pub fn arguments(&self) -> Result<Vec<String>, Unable> {
        if self.approval == Approval::Ask {
            return Err(Unable { agent: "native", approval: self.approval, acp_command: &[] });
        }
        let mut arguments = vec![COMMAND.to_owned()];
        self.add_endpoint(&mut arguments);
        arguments.extend(["--approval".to_owned(), self.approval.as_str().to_owned()]);
        Ok(arguments)
    }

    /// The arguments for one plain question to the model: prompt in, text out, no tools.
    pub fn completion(&self) -> Vec<String> {
        let mut arguments = vec![COMMAND.to_owned(), "--complete".to_owned()];
        self.add_endpoint(&mut arguments);
        arguments
    }

    fn add_endpoint(&self, arguments: &mut Vec<String>) {
        let api = match self.api {
            Api::Openai => "openai",
            Api::Anthropic => "anthropic",
        };
        let window = self.context_tokens.map(|tokens| tokens.to_string());
        let pairs = [
            ("--api", Some(api)),
            ("--base-url", self.base_url),
            ("--model", Some(self.model)),
            ("--key-env", self.key_env),
            ("--context-tokens", window.as_deref()),
        ];
        for (name, value) in pairs {
            if let Some(value) = value {
                arguments.extend([name.to_owned(), value.to_owned()]);
            }
        }
    }
}
