//! `native`: a small agent of Dacapo's own, for where no agent CLI is installed (A6).
//!
//! Like the scripted agent it is started as our own program under a hidden name: it reads a prompt on standard input and
//! tells what it does as JSON lines of [`dacapo_core::event::AgentEvent`]. So the guard, time limits, raw files and
//! replay treat it as they treat any other agent.
//!
//! It is a part of the program `dacapo-net` ([`crate::net`]).
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
mod event_writer;
mod failure;
mod model;
mod options;
mod session;
mod tools;
mod turn;
mod window;

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use deliver::main as deliver;
pub(crate) use turn::not_started;

pub(crate) fn main(args: &[OsString]) -> ExitCode {
    turn::main(args)
}

#[cfg(test)]
mod tests {
    use dacapo_app::config::Api;
    use dacapo_app::native::Settings;
    use dacapo_core::spec::Approval;

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
        assert_eq!((unable.agent, unable.approval), ("native", Approval::Ask));
    }
}
