//! OpenAI's codex: `codex exec --json`.

use std::path::{Path, PathBuf};

use super::adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
use super::excerpt::one_line;
use super::lines::ByLine;
use super::{Parser, npm_package, runnable};
use crate::event::{AgentEvent, FailureKind, Fault};
use crate::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

mod failure;
mod parser;

const HOW_TO_LOG_IN: &str = "run `codex login`, or set CODEX_API_KEY (the env_key of a provider of your own)";

pub(super) struct Codex;

impl Adapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Codex
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        // Without a word about it `exec` reads only, and says nothing of what it could not do.
        let allowed: &[&str] = match wish.approval {
            Approval::Auto => &["--dangerously-bypass-approvals-and-sandbox"],
            Approval::Edits => &["--sandbox", "workspace-write"],
            Approval::ReadOnly => &["--sandbox", "read-only"],
            Approval::Ask => {
                return Err(Unable {
                    agent: self.name(),
                    approval: wish.approval,
                    acp_command: &["codex-acp"],
                });
            }
        };
        // The repository is the user's choice, and each worktree of it is new to codex.
        let mut argv = vec!["codex", "exec", "--json", "--skip-git-repo-check"];
        argv.extend(allowed);
        if let Some(model) = wish.model {
            argv.extend(["--model", model]);
        }
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Ok(AgentSpec {
            name: self.name().to_owned(),
            command: AgentCommand::Argv(owned(&argv)),
            start: owned(&["-"]),
            prompt: PromptBy::Stdin,
            output: self.format(),
            // `resume` is a command of its own that takes no sandbox; it honours the flags before it.
            resume: Some(owned(&["resume", "{session}", "-"])),
            follow_up: "繼續".to_owned(),
            env: Vec::new().into(),
            model: wish.model.map(str::to_owned),
            price: None,
            approval: wish.approval,
        })
    }

    fn interactive(&self, session: &str) -> Vec<String> {
        vec!["resume".to_owned(), session.to_owned()]
    }

    fn parser(&self, setting: ParserSetting) -> Box<dyn Parser> {
        Box::new(ByLine::new(parser::CodexLines::new(setting)))
    }

    /// Measured: under 1 on one machine, 2.0 to 2.6 on another, by the many threads of its runtime that look around.
    fn burns_idle(&self) -> u32 {
        5
    }

    fn reports_cost(&self) -> bool {
        false
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        let permanent = |fault| AgentEvent::Error { failure: FailureKind::Permanent, fault };
        let agent = || self.name().to_owned();
        if stderr.contains("no rollout found for thread id") {
            return Some(AgentEvent::Error {
                failure: FailureKind::SessionLost,
                fault: Fault::SessionGone { agent: agent(), said: String::new() },
            });
        }
        if stderr.contains("Not inside a trusted directory") {
            return Some(permanent(Fault::OutsideRepository { agent: agent() }));
        }
        if let Some((_, rest)) = stderr.split_once("Input exceeds the maximum length of ") {
            let most = rest.split_whitespace().next().unwrap_or_default().to_owned();
            return Some(permanent(Fault::PromptTooLong { agent: agent(), most }));
        }
        // What it says about its own settings and arguments it will say again; a server that fails is told in the stream.
        let said = stderr.lines().map(str::trim).find(|line| {
            line.starts_with("Error loading config")
                || line.starts_with("Error parsing -c overrides")
                || (exit_code == 2 && line.starts_with("error: "))
        });
        said.map(|line| permanent(format!("codex: {}", one_line(line)).into()))
    }

    fn unattended(&self) -> &'static [&'static str] {
        &[
            "--dangerously-bypass-approvals-and-sandbox",
            "--yolo",
            "--full-auto",
            "--approve-for-me",
            "workspace-write",
            "danger-full-access",
        ]
    }

    /// `exec` reads only unless it is told otherwise. What it then cannot do shows in its output at best as a command
    /// that failed.
    fn lacks_tools(&self, agent: &AgentSpec) -> bool {
        let AgentCommand::Argv(argv) = &agent.command else { return false };
        let chosen = |arg: &String| {
            let name = arg.split('=').next().unwrap_or_default();
            self.unattended().contains(&name)
                // Which sandbox a profile or a setting chooses is not for us to know.
                || ["-s", "--sandbox", "-p", "--profile", "sandbox_mode", "default_permissions"].contains(&name)
        };
        agent.approval == Approval::Auto && !argv.iter().any(chosen)
    }

    fn how_to_log_in(&self) -> &'static str {
        HOW_TO_LOG_IN
    }

    fn account(&self, user_env: &UserEnv<'_>) -> Account {
        let config: toml::Table = user_env
            .read("CODEX_HOME", ".codex", "config.toml")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let text = |key: &str| config.get(key).and_then(toml::Value::as_str);
        let provider = text("model_provider").filter(|name| *name != "openai");
        if let Some(provider) = provider {
            let settings = config.get("model_providers").and_then(|all| all.get(provider));
            return of_provider(settings, user_env);
        }
        let account = of_openai(user_env, text("cli_auth_credentials_store"));
        Account { base_url: text("openai_base_url").map(str::to_owned), ..account }
    }

    fn native_program(&self, program: &Path) -> Option<PathBuf> {
        let root = npm_package::root(program, "@openai", "codex")?;
        let (system, processor) = npm_package::machine()?;
        let packages = npm_package::dependency(root, "@openai", &format!("codex-{system}-{processor}"));
        // Older packages held the programs of all machines themselves.
        let vendors = packages.iter().map(PathBuf::as_path).chain([root]).map(|path| path.join("vendor"));
        let family = if processor == "x64" { "x86_64-" } else { "aarch64-" };
        let system = if system == "linux" { "-linux-" } else { "-darwin" };
        for vendor in vendors {
            let targets = vendor.read_dir().into_iter().flatten().flatten().filter(|target| {
                let name = target.file_name();
                name.to_str().is_some_and(|name| name.starts_with(family) && name.contains(system))
            });
            let found = targets
                .flat_map(|target| ["bin/codex", "codex/codex"].map(|program| target.path().join(program)))
                .find(|program| runnable(program));
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// A model provider of the user's own, which brings its key or needs none.
fn of_provider(settings: Option<&toml::Value>, user_env: &UserEnv<'_>) -> Account {
    let text = |key: &str| settings.and_then(|all| all.get(key)).and_then(toml::Value::as_str);
    let base_url = text("base_url").map(str::to_owned);
    match text("env_key") {
        Some(variable) => {
            let key = user_env.var(variable);
            Account {
                logged_in: Some(key.is_some()),
                billing: Billing::ApiKey(variable.to_owned()),
                credential: key.map(str::to_owned),
                base_url,
            }
        }
        None => Account { base_url, ..Account::default() },
    }
}

/// OpenAI itself. An OPENAI_API_KEY in the environment is no login: `exec` never looks at it.
fn of_openai(user_env: &UserEnv<'_>, store: Option<&str>) -> Account {
    let account = |billing, credential: &str| Account {
        logged_in: Some(true),
        billing,
        credential: Some(credential.to_owned()),
        base_url: None,
    };
    if let Some(key) = user_env.var("CODEX_API_KEY") {
        return account(Billing::ApiKey("CODEX_API_KEY".into()), key);
    }
    if let Some(token) = user_env.var("CODEX_ACCESS_TOKEN") {
        return account(Billing::Subscription, token);
    }
    let file = user_env.read_json("CODEX_HOME", ".codex", "auth.json");
    if file.is_null() {
        // Where the system keeps the secret we do not look.
        let elsewhere = store.is_some_and(|store| store != "file");
        return Account { logged_in: (!elsewhere).then_some(false), ..Account::default() };
    }
    let text = |value: &serde_json::Value, key: &str| {
        value.get(key).and_then(|value| value.as_str()).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let by_key = text(&file, "auth_mode").is_some_and(|mode| mode.eq_ignore_ascii_case("apikey"));
    let tokens = file.get("tokens").filter(|_| !by_key);
    let of_account = tokens.and_then(|tokens| text(tokens, "account_id"));
    if let Some(id) = of_account.or_else(|| tokens.and_then(|tokens| text(tokens, "access_token"))) {
        return account(Billing::Subscription, &id);
    }
    if let Some(key) = text(&file, "OPENAI_API_KEY") {
        return account(Billing::ApiKey("auth.json".into()), &key);
    }
    match text(&file, "personal_access_token") {
        Some(token) => account(Billing::Subscription, &token),
        None => Account { logged_in: Some(false), ..Account::default() },
    }
}

#[cfg(test)]
mod tests;
