//! GitHub's copilot: `copilot --output-format json`.

use std::path::{Path, PathBuf};

use super::adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
use super::api_error::Cause;
use super::excerpt::one_line;
use super::lines::ByLine;
use super::{Parser, npm_package, runnable};
use crate::event::{AgentEvent, FailureKind, Fault, LogIn};
use crate::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

mod failure;
mod parser;
mod usage_file;

const HOW_TO_LOG_IN: &str =
    "run `copilot login`, or set COPILOT_GITHUB_TOKEN (COPILOT_PROVIDER_API_KEY for an endpoint of your own)";

pub(super) struct Copilot;

impl Adapter for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Copilot
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        // What is not allowed is refused where nobody can be asked. Rules against something win over what the user's own
        // settings allow.
        let allowed: &[&str] = match wish.approval {
            Approval::Auto => &["--allow-all"],
            Approval::Edits => &["--allow-tool=write"],
            Approval::ReadOnly => &["--deny-tool=write", "--deny-tool=shell"],
            Approval::Ask => {
                return Err(Unable {
                    agent: self.name(),
                    approval: wish.approval,
                    acp_command: &["copilot", "--acp"],
                });
            }
        };
        let mut argv = vec!["copilot", "--output-format", "json", "--usage-output-file", "{usage_file}"];
        argv.extend(allowed);
        if let Some(model) = wish.model {
            argv.extend(["--model", model]);
        }
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut env = vec![
            // A program that replaces itself between two turns is not the one that was tried.
            ("COPILOT_AUTO_UPDATE".to_owned(), "false".to_owned()),
        ];
        if wish.approval != Approval::Auto {
            env.push(("COPILOT_ALLOW_ALL".to_owned(), "false".to_owned()));
        }
        Ok(AgentSpec {
            name: self.name().to_owned(),
            command: AgentCommand::Argv(owned(&argv)),
            start: owned(&["--session-id", "{session}"]),
            prompt: PromptBy::Stdin,
            output: self.format(),
            resume: Some(owned(&["--resume={session}"])),
            follow_up: "繼續".to_owned(),
            env: env.into(),
            model: wish.model.map(str::to_owned),
            price: None,
            approval: wish.approval,
        })
    }

    fn interactive(&self, session: &str) -> Vec<String> {
        vec![format!("--resume={session}")]
    }

    fn parser(&self, setting: ParserSetting) -> Box<dyn Parser> {
        Box::new(ByLine::new(parser::CopilotLines::new(setting)))
    }

    fn reports_cost(&self) -> bool {
        false
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        if exit_code == 0 {
            return None;
        }
        let error =
            stderr.lines().map(str::trim).find(|line| line.to_ascii_lowercase().starts_with("error:"))?;
        if error.contains("No authentication information found") {
            return Some(Cause::Login.event("copilot has no login", None, &LogIn::of("copilot")));
        }
        if error.starts_with("Error: No session, task, or name matched") {
            return Some(AgentEvent::Error {
                failure: FailureKind::SessionLost,
                fault: Fault::SessionGone { agent: self.name().to_owned(), said: String::new() },
            });
        }
        // In small letters: what it says of its arguments.
        let message = format!("copilot: {}", one_line(error));
        let failure =
            if error.starts_with("error:") { FailureKind::Permanent } else { FailureKind::Transient };
        Some(AgentEvent::Error { failure, fault: message.into() })
    }

    fn unattended(&self) -> &'static [&'static str] {
        &["--allow-all", "--yolo", "--allow-all-tools"]
    }

    fn how_to_log_in(&self) -> &'static str {
        HOW_TO_LOG_IN
    }

    fn account(&self, user_env: &UserEnv<'_>) -> Account {
        if let Some(base_url) = user_env.var("COPILOT_PROVIDER_BASE_URL") {
            let keys = ["COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_API_KEY"];
            let key = keys.iter().find_map(|name| Some((*name, user_env.var(name)?)));
            return Account {
                // An endpoint on the same machine needs no key.
                logged_in: key.map(|_| true),
                billing: key.map_or(Billing::Unknown, |(name, _)| Billing::ApiKey(name.to_owned())),
                credential: key.map(|(_, value)| value.to_owned()),
                base_url: Some(base_url.to_owned()),
            };
        }
        let of_user = |credential: String| Account {
            logged_in: Some(true),
            billing: Billing::Subscription,
            credential: Some(credential),
            base_url: None,
        };
        let tokens = ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"];
        if let Some(token) = tokens.iter().find_map(|name| user_env.var(name)) {
            return of_user(token.to_owned());
        }
        let file = user_env.read("COPILOT_HOME", ".copilot", "config.json");
        match file.as_deref().and_then(last_user) {
            Some(user) => of_user(user),
            // It also takes the login of `gh`, which only that program can tell.
            None => Account::default(),
        }
    }

    fn native_program(&self, program: &Path) -> Option<PathBuf> {
        let root = npm_package::root(program, "@github", "copilot")?;
        let (system, processor) = npm_package::machine()?;
        let of = |system: &str| {
            npm_package::dependency(root, "@github", &format!("copilot-{system}-{processor}"))
                .into_iter()
                .map(|package| package.join("copilot"))
                .find(|program| runnable(program))
        };
        // Only the script can tell which C library this system has; where npm has left no choice there is nothing to tell.
        match (of(system), of("linuxmusl").filter(|_| system == "linux")) {
            (Some(_), Some(_)) => None,
            (one, other) => one.or(other),
        }
    }
}

/// Who logged in last. The file is JSON with lines of comment.
fn last_user(file: &str) -> Option<String> {
    let json: String = file.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let config: serde_json::Value = serde_json::from_str(&json).ok()?;
    let last = config.get("lastLoggedInUser").or_else(|| config.get("last_logged_in_user"))?;
    let text = |key: &str| last.get(key).and_then(|value| value.as_str()).unwrap_or_default();
    let user = format!("{} {}", text("host"), text("login"));
    (!text("login").is_empty()).then_some(user)
}

#[cfg(test)]
mod tests;
