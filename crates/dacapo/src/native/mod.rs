//! `native`: a small agent of Dacapo's own, for where no agent CLI is installed (A6).
//!
//! Like the scripted agent it is started as our own program under a hidden name: it reads a prompt on standard input and
//! tells what it does as JSON lines of [`dacapo_core::event::AgentEvent`]. So the guard, time limits, raw files and
//! replay treat it as they treat any other agent.
//!
//! `dacapo __native` becomes another program, `dacapo-native` beside it. HTTP, TLS and an async runtime double the size
//! of an executable and make it slower to start, by what has to be moved to its place in memory; `dacapo` starts for
//! every guard, every listing and every waiting task, and shall not pay for what it does not use.
//!
//! ```text
//! options ─► turn ─► window (what of the conversation fits) ─► model (one call, streamed) ─► answer
//!             ▲                                                                               │
//!             └──────────────── tools (shell, read, write, edit, search) ◄────────────────────┘
//! ```

mod answer;
mod conversation;
mod deliver;
mod endpoint;
mod failure;
mod model;
mod options;
mod session;
mod tools;
mod turn;
mod voice;
mod window;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use dacapo_core::agent::Unable;
use dacapo_core::spec::Approval;

use crate::config::Api;

/// The hidden command.
pub const COMMAND: &str = "__native";

/// The hidden command that posts a notification to an address: not the agent's business, but of the one program that knows
/// HTTP and TLS.
pub const DELIVER: &str = "__deliver";

/// The program that it becomes.
const PROGRAM: &str = "dacapo-native";

/// What only a new conversation is started with; `{session}` stands for the id that was chosen for it.
pub const START: [&str; 2] = ["--new-session", "{session}"];

/// What continues a conversation.
pub const RESUME: [&str; 2] = ["--session", "{session}"];

/// Which model does the work, and what it may do: `[agents.native]` and flags, as this agent takes them.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The wire format.
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
            let why =
                "it runs unattended; --approval edits leaves the shell out, read-only all that changes files";
            return Err(Unable { agent: "native", approval: self.approval, why });
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

/// Becomes the agent when the arguments (without the program's name) ask for that, else `None`.
///
/// To be called in `main` before anything else is set up, as for the scripted agent. An exit code means that it is not
/// there.
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = args.split_first()?;
    if command != COMMAND && command != DELIVER {
        return None;
    }
    let rest = if command == DELIVER { args } else { rest };
    let program = std::env::current_exe().map(|own| own.with_file_name(PROGRAM));
    let (program, error) = match program {
        Ok(program) => {
            let error = Command::new(&program).args(rest).exec();
            (program, error)
        }
        Err(error) => (PROGRAM.into(), error),
    };
    if command == DELIVER {
        let why = format!(
            "{}: {error}; it is a program of its own that is installed beside dacapo",
            program.display()
        );
        let _ = writeln!(std::io::stdout(), "{}", serde_json::json!({ "error": why }));
        return Some(ExitCode::FAILURE);
    }
    let message = format!(
        "agent 'native' cannot be run: {}: {error}; it is a program of its own that is installed beside dacapo",
        program.display()
    );
    Some(turn::not_started(&message))
}

/// The agent itself: all of the program `dacapo-native`.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.first() {
        Some(first) if first == DELIVER => deliver::main(),
        _ => turn::main(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings<'_> = Settings {
        api: Api::Openai,
        base_url: Some("http://localhost:11434/v1"),
        key_env: None,
        model: "qwen3-coder",
        context_tokens: None,
        approval: Approval::Edits,
    };

    #[test]
    fn other_commands_are_not_its_business() {
        assert!(dispatch(&[]).is_none());
        assert!(dispatch(&["exec".into()]).is_none());
    }

    #[test]
    fn a6_settings_become_arguments_that_are_understood() {
        let arguments = SETTINGS.arguments().unwrap();
        let expected =
            "__native --api openai --base-url http://localhost:11434/v1 --model qwen3-coder --approval edits";
        assert_eq!(arguments.join(" "), expected);
        let keyed = Settings {
            api: Api::Anthropic,
            base_url: None,
            key_env: Some("MY_KEY"),
            context_tokens: Some(9000),
            ..SETTINGS
        };
        assert_eq!(
            keyed.completion().join(" "),
            "__native --complete --api anthropic --model qwen3-coder --key-env MY_KEY --context-tokens 9000"
        );
        for list in [arguments, keyed.completion()] {
            let list: Vec<OsString> = list[1..].iter().map(OsString::from).collect();
            options::parse(&list).unwrap();
        }
    }

    #[test]
    fn a8_it_says_before_it_starts_that_it_cannot_ask() {
        let unable = Settings { approval: Approval::Ask, ..SETTINGS }.arguments().unwrap_err();
        assert!(unable.to_string().contains("native cannot run with --approval ask"), "{unable}");
    }
}
