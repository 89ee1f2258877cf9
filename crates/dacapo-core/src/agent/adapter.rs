//! What Dacapo knows of the agents people use. Each is one file beside this one: a wish becomes a command line, bytes
//! become [`AgentEvent`]s, an exit code becomes a reason.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Parser;
use super::acp::AcpSettings;
use crate::event::{AgentEvent, AgentFault, Usage};
use crate::spec::{AgentSpec, Approval, OutputFormat};

/// An agent that Dacapo has a profile for.
pub trait Adapter: Sync {
    /// What people call it, which is also the name of its program.
    fn name(&self) -> &'static str;

    /// How its output is read.
    fn format(&self) -> OutputFormat;

    /// How it is run so that nobody needs to sit beside it.
    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable>;

    /// What makes it go on in a conversation with a person at its terminal; without one it just starts. Nothing is
    /// allowed to it beforehand: the person is there.
    fn interactive(&self, session: &str) -> Vec<String> {
        vec!["--resume".to_owned(), session.to_owned()]
    }

    /// Reads what it prints. The events of a whole turn end in [`AgentEvent::End`] or say why not: without one it failed.
    fn parser(&self, setting: ParserSetting) -> Box<dyn Parser>;

    /// Reads what it writes to standard error, for an agent that says only there that it tries a model call again.
    /// Nothing but [`AgentEvent::Retry`] comes of it.
    fn stderr_parser(&self) -> Option<Box<dyn Parser>> {
        None
    }

    /// Percent of one core that it burns while it merely waits for its model, where that is more than next to nothing.
    fn burns_idle(&self) -> u32 {
        0
    }

    /// Whether it says what a turn cost.
    fn reports_cost(&self) -> bool;

    /// What its exit code and its last words on standard error mean, asked only where the stream itself gives no
    /// reason: an [`AgentEvent::Error`] or [`AgentEvent::Limit`]. A transient error of the stream may turn out to be a
    /// limit or a permanent one.
    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent>;

    /// Why a version of it, as it says itself, cannot be used.
    fn unusable(&self, version: &str) -> Option<AgentFault> {
        let _ = version;
        None
    }

    /// Arguments of which any one lets it work unattended; the first is the one to recommend. None: it needs none.
    fn unattended(&self) -> &'static [&'static str];

    /// Commands that it runs do not see the user's git config (`~/.gitconfig`), so that they have no name to commit under.
    fn hides_git_config(&self) -> bool {
        false
    }

    /// Whether this command keeps the tools from it that change anything, without a word about it in its output.
    fn lacks_tools(&self, agent: &AgentSpec) -> bool {
        let _ = agent;
        false
    }

    /// How a person logs in, as the end of a sentence: "run `codex login`, or set OPENAI_API_KEY".
    fn how_to_log_in(&self) -> &'static str;

    /// Who pays for it in this environment, as far as that can be told without starting it.
    fn account(&self, user_env: &UserEnv<'_>) -> Account;

    /// The program that does the work, where the one on PATH (`program`, links resolved) merely starts it and would
    /// leave it behind when stopped.
    fn native_program(&self, program: &Path) -> Option<PathBuf> {
        let _ = program;
        None
    }
}

/// What is wanted of a built-in agent.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The model, by the agent's own name for it.
    pub model: Option<&'a str>,
    /// What it may do without asking.
    pub approval: Approval,
    /// Dacapo runs as root, which some agents object to.
    pub as_root: bool,
}

/// The agent cannot do what is wished for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{agent} cannot run with the approval '{}'", approval.as_str())]
pub struct Unable {
    pub agent: &'static str,
    pub approval: Approval,
    /// The command that can, as an agent that speaks ACP; empty: none is known.
    pub acp_command: &'static [&'static str],
}

/// What a parser must know beside the bytes.
#[derive(Debug, Clone, Default)]
pub struct ParserSetting {
    /// What earlier turns of the same conversation used, for agents that count over all of it.
    pub earlier: Usage,
    /// The file that `{usage_file}` stood for. It is whole when the output has ended.
    pub usage_file: Option<PathBuf>,
    /// About when the output was written, in the user's time zone: some agents name times of day.
    pub now: jiff::Zoned,
    /// For an agent that speaks ACP.
    pub talk: AcpSettings,
}

/// The user's environment, as data.
#[derive(Debug, Clone, Copy)]
pub struct UserEnv<'a> {
    pub env: &'a [(OsString, OsString)],
}

impl UserEnv<'_> {
    /// A variable that is set to something; the last one of its name counts.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().rev().find(|(key, _)| key == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.var("HOME").map(PathBuf::from)
    }

    /// A small file below a directory that a variable names, else below the home directory.
    pub fn read(&self, variable: &str, below_home: &str, file: &str) -> Option<String> {
        /// What holds a login is small; what is not, holds none.
        const MOST: u64 = 1 << 20;
        let directory = match self.var(variable) {
            Some(directory) => PathBuf::from(directory),
            None => self.home()?.join(below_home),
        };
        let path = directory.join(file);
        path.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= MOST)?;
        std::fs::read_to_string(path).ok()
    }

    /// The same, of a file that holds JSON; null where it does not.
    pub(super) fn read_json(&self, variable: &str, below_home: &str, file: &str) -> Value {
        let text = self.read(variable, below_home, file);
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// Who pays for an agent here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Whether it is logged in, as far as files and variables tell. None: they do not.
    pub logged_in: Option<bool>,
    pub billing: Billing,
    /// What tells one account from another (a key, a token, an account id); only its hash is ever kept.
    pub credential: Option<String>,
    /// The address that model calls go to, where it is not the vendor's own.
    pub base_url: Option<String>,
}

/// Who is charged for a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Billing {
    /// It cannot be told.
    #[default]
    Unknown,
    /// A subscription: turns cost nothing extra up to its limits.
    Subscription,
    /// An API key, by use: the variable or file that holds it.
    ApiKey(String),
}

/// What the tests of all adapters need.
#[cfg(test)]
pub(super) mod testing {
    use std::ffi::OsString;
    use std::path::Path;

    use super::{Account, Adapter, UserEnv};
    use crate::spec::{AgentCommand, AgentSpec};

    /// The command as one line.
    pub(in crate::agent) fn argv(spec: &AgentSpec) -> String {
        match &spec.command {
            AgentCommand::Argv(argv) => argv.join(" "),
            other => panic!("{other:?}"),
        }
    }

    /// Who pays, for a user with this home and these variables.
    pub(in crate::agent) fn account(
        adapter: &dyn Adapter,
        home: &Path,
        variables: &[(&str, &str)],
    ) -> Account {
        let own = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        let mut env: Vec<_> = variables.iter().map(own).collect();
        env.push(("HOME".into(), home.into()));
        adapter.account(&UserEnv { env: &env })
    }
}
