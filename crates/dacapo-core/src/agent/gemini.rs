//! Google's `gemini`. Its stream ends in a `result` that tells success from failure whatever the exit code is; what it
//! tries again it says only on standard error; what it costs it does not say.

use super::Parser;
use super::adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
use super::api_error::Cause;
use super::lines::ByLine;
use crate::event::{AgentEvent, FailureKind, Fault, LogIn};
use crate::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

mod errors;
mod stderr;
mod stream;

const LOG_IN: &str = "run `gemini` once and choose how to log in, or set GEMINI_API_KEY";

#[derive(Debug)]
pub(super) struct Gemini;

impl Adapter for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Gemini
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        let mode: &[&str] = match wish.approval {
            Approval::Auto => &["--yolo"],
            Approval::Edits => &["--approval-mode", "auto_edit"],
            Approval::ReadOnly => &["--approval-mode", "plan"],
            Approval::Ask => {
                let acp_command = &["gemini", "--acp"];
                return Err(Unable { agent: self.name(), approval: wish.approval, acp_command });
            }
        };
        let mut argv = vec!["gemini", "--output-format", "stream-json"];
        argv.extend(mode);
        argv.extend(wish.model.iter().flat_map(|model| ["--model", model]));
        Ok(AgentSpec {
            name: self.name().into(),
            command: AgentCommand::Argv(argv.into_iter().map(str::to_owned).collect()),
            start: vec!["--session-id".into(), "{session}".into()],
            prompt: PromptBy::Stdin,
            output: self.format(),
            resume: Some(vec!["--resume".into(), "{session}".into()]),
            follow_up: "繼續".into(),
            env: vec![
                // In a directory nobody has called trusted it exits with 55, and a new worktree is one.
                ("GEMINI_CLI_TRUST_WORKSPACE".into(), "true".into()),
                // It would start itself once more, and the first process ignores SIGTERM.
                ("GEMINI_CLI_NO_RELAUNCH".into(), "true".into()),
            ]
            .into(),
            model: wish.model.map(str::to_owned),
            price: None,
            approval: wish.approval,
        })
    }

    fn parser(&self, _: ParserSetting) -> Box<dyn Parser> {
        Box::new(ByLine::<stream::GeminiLines>::default())
    }

    fn stderr_parser(&self) -> Option<Box<dyn Parser>> {
        Some(retry_notes())
    }

    fn reports_cost(&self) -> bool {
        false
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        let said = stderr::first_words(stderr);
        let permanent =
            |message: String| AgentEvent::Error { failure: FailureKind::Permanent, fault: message.into() };
        if stderr.contains("Error when talking to Gemini API") && stderr.contains("ModelNotFoundError:") {
            return Some(permanent(format!("the model is not found: {said}")));
        }
        let status = u16::try_from(exit_code).ok().map(|code| code + 256);
        match (exit_code, status) {
            (41, _) => Some(Cause::Login.event(&said, None, &LogIn::of("gemini"))),
            (42, _) if stderr.contains("Error resuming session") => {
                let fault = Fault::SessionGone { agent: self.name().to_owned(), said };
                Some(AgentEvent::Error { failure: FailureKind::SessionLost, fault })
            }
            (42 | 44 | 52, _) => Some(permanent(said)),
            (55, _) => Some(permanent(format!("{said} (GEMINI_CLI_TRUST_WORKSPACE=true)"))),
            // An exit code is the HTTP status without its ninth bit.
            (_, Some(status @ (400..=415 | 429 | 500..=504))) => {
                Some(Cause::of_status(status, &said).event(&said, None, &LogIn::of("gemini")))
            }
            (1, _) if stderr.contains("Unknown argument") => {
                Some(permanent(format!("this version of gemini does not know an option: {said}; update it")))
            }
            _ => None,
        }
    }

    fn unattended(&self) -> &'static [&'static str] {
        &["--yolo", "-y", "--approval-mode=yolo", "yolo"]
    }

    /// Since 0.61 at the latest: `GIT_CONFIG_GLOBAL=/dev/null`, whatever the settings say.
    fn hides_git_config(&self) -> bool {
        true
    }

    /// Without a terminal, what it would have to ask for is not even offered to the model.
    fn lacks_tools(&self, agent: &AgentSpec) -> bool {
        let AgentCommand::Argv(argv) = &agent.command else { return false };
        let chosen = ["--yolo", "-y", "--approval-mode", "--allowed-tools", "--policy"];
        agent.approval == Approval::Auto
            && !argv.iter().any(|arg| chosen.contains(&arg.split('=').next().unwrap_or_default()))
    }

    fn how_to_log_in(&self) -> &'static str {
        LOG_IN
    }

    fn account(&self, user_env: &UserEnv<'_>) -> Account {
        account(user_env)
    }
}

/// How it will log in: by its settings, else by the variables it looks at, in its own order.
fn account(user_env: &UserEnv<'_>) -> Account {
    let file = |name: &str| user_env.read("GEMINI_CLI_HOME", "", &format!(".gemini/{name}"));
    let json = |name: &str| user_env.read_json("GEMINI_CLI_HOME", "", &format!(".gemini/{name}"));
    let settings = json("settings.json");
    let chosen = settings.pointer("/security/auth/selectedType").or_else(|| settings.get("selectedAuthType"));
    let is_true = |name: &str| user_env.var(name) == Some("true");
    let gateway = user_env.var("GOOGLE_GEMINI_BASE_URL").map(str::to_owned);
    let by_environment = || {
        if is_true("GOOGLE_GENAI_USE_GCA") {
            Some("oauth-personal")
        } else if is_true("GOOGLE_GENAI_USE_VERTEXAI") {
            Some("vertex-ai")
        } else if gateway.is_some() {
            Some("gateway")
        } else {
            user_env.var("GEMINI_API_KEY").map(|_| "gemini-api-key")
        }
    };
    match chosen.and_then(|chosen| chosen.as_str()).or_else(by_environment) {
        Some("oauth-personal") => {
            let who = json("google_accounts.json")["active"].as_str().map(str::to_owned);
            // A newer version keeps the token in a sealed file, or in the keyring, where it cannot be seen.
            let known = file("oauth_creds.json").is_some() || file("gemini-credentials.json").is_some();
            Account {
                logged_in: (known || who.is_some()).then_some(true),
                billing: Billing::Subscription,
                credential: who,
                base_url: None,
            }
        }
        Some("gemini-api-key" | "gateway") => {
            let variable = user_env.var("GEMINI_API_KEY").map(str::to_owned);
            let in_file = || file(".env").and_then(|text| dotenv_value(&text, "GEMINI_API_KEY"));
            let key = variable.or_else(in_file);
            let stored = file("gemini-credentials.json").is_some();
            Account {
                logged_in: if key.is_some() { Some(true) } else { (!stored).then_some(false) },
                billing: Billing::ApiKey("GEMINI_API_KEY".into()),
                credential: key,
                base_url: gateway,
            }
        }
        Some("vertex-ai") => {
            let key = user_env.var("GOOGLE_API_KEY").map(str::to_owned);
            let project = user_env.var("GOOGLE_CLOUD_PROJECT").map(str::to_owned);
            Account {
                logged_in: key.is_some().then_some(true),
                billing: key.as_ref().map_or(Billing::Unknown, |_| Billing::ApiKey("GOOGLE_API_KEY".into())),
                credential: key.or(project),
                base_url: user_env.var("GOOGLE_VERTEX_BASE_URL").map(str::to_owned),
            }
        }
        Some(_) => Account::default(),
        None => Account { logged_in: Some(false), ..Account::default() },
    }
}

/// A variable in a file of `NAME=value` lines.
fn dotenv_value(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
        line.strip_prefix(name)?.trim_start().strip_prefix('=')
    })?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// Finds on its standard error the model calls that it tries again.
pub(super) fn retry_notes() -> Box<dyn Parser> {
    Box::new(ByLine::new(stderr::retry_note))
}
