//! Claude Code, headless: `claude -p`.

use super::Parser;
use super::adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
use super::excerpt::last_words;
use super::lines::ByLine;
use crate::event::{AgentEvent, FailureKind, Fault, LogIn};
use crate::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

mod parser;

#[derive(Debug)]
pub(super) struct Claude;

/// The end of a sentence.
const HOW_TO_LOG_IN: &str = "run `claude` and then /login, or set ANTHROPIC_API_KEY";

/// What may be used where nothing may change: the tools by name, since what the user's own settings allow is more.
const READING: &str = "Read,Glob,Grep";

impl Adapter for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Claude
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        let allowed: &[&str] = match wish.approval {
            Approval::Auto => &["--dangerously-skip-permissions"],
            Approval::Edits => &["--permission-mode", "acceptEdits"],
            Approval::ReadOnly => {
                &["--permission-mode", "dontAsk", "--tools", READING, "--strict-mcp-config"]
            }
            Approval::Ask => {
                return Err(Unable {
                    agent: "claude",
                    approval: wish.approval,
                    acp_command: &["claude-agent-acp"],
                });
            }
        };
        let mut argv = vec!["claude", "-p", "--output-format", "stream-json", "--verbose"];
        argv.extend(allowed);
        // It tells what a turn cost only when the turn is over, and can stop by itself in the middle.
        argv.push("--max-budget-usd={budget}");
        argv.extend(wish.model.iter().flat_map(|model| ["--model", model]));
        // A version that changes in the middle of a loop is nobody's wish.
        let mut env = vec![("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned())];
        if wish.as_root && wish.approval == Approval::Auto {
            // Else it refuses to work unattended as root.
            env.push(("IS_SANDBOX".to_owned(), "1".to_owned()));
        }
        let own = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        Ok(AgentSpec {
            name: "claude".into(),
            command: AgentCommand::Argv(own(&argv)),
            start: own(&["--session-id", "{session}"]),
            prompt: PromptBy::Stdin,
            output: OutputFormat::Claude,
            resume: Some(own(&["--resume", "{session}"])),
            follow_up: "繼續".into(),
            env: env.into(),
            model: wish.model.map(str::to_owned),
            price: None,
            approval: wish.approval,
        })
    }

    fn parser(&self, setting: ParserSetting) -> Box<dyn Parser> {
        Box::new(ByLine::new(parser::ClaudeLines::new(&setting)))
    }

    fn reports_cost(&self) -> bool {
        true
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        let said = last_words(stderr)?;
        let permanent = |fault| AgentEvent::Error { failure: FailureKind::Permanent, fault };
        let has = |words: &[&str]| words.iter().any(|word| stderr.contains(word));
        if has(&[parser::NO_CONVERSATION]) {
            return Some(parser::no_conversation(&said));
        }
        if has(&["cannot be used with root"]) {
            return Some(permanent(format!("{said}; set IS_SANDBOX=1 where that is what you want").into()));
        }
        if has(&["Not logged in", "Invalid API key", "Please run /login"]) {
            return Some(permanent(Fault::not_logged_in(&said, Some(LogIn::of("claude")))));
        }
        if has(&["error: unknown option", "native binary not installed"]) {
            return Some(permanent(format!("{said}; install the newest version: `claude update`").into()));
        }
        (exit_code != 0).then(|| AgentEvent::Error {
            failure: FailureKind::Transient,
            fault: format!("claude exited with code {exit_code}: {said}").into(),
        })
    }

    fn unattended(&self) -> &'static [&'static str] {
        &["--dangerously-skip-permissions", "bypassPermissions", "--permission-mode=bypassPermissions"]
    }

    fn how_to_log_in(&self) -> &'static str {
        HOW_TO_LOG_IN
    }

    fn account(&self, user_env: &UserEnv<'_>) -> Account {
        account(user_env)
    }
}

/// In the order in which `claude -p` itself looks: a cloud, a key or token in the environment or the settings, the login.
fn account(here: &UserEnv<'_>) -> Account {
    let settings = here.read_json("CLAUDE_CONFIG_DIR", ".claude", "settings.json");
    // Its own settings win over the environment.
    let set = |name: &str| {
        let in_settings = settings["env"][name].as_str().filter(|value| !value.is_empty());
        in_settings.or_else(|| here.var(name)).map(str::to_owned)
    };
    let base_url = set("ANTHROPIC_BASE_URL");
    for cloud in ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"] {
        if set(cloud).is_some_and(|on| on != "0" && on != "false") {
            return Account { billing: Billing::ApiKey(cloud.into()), base_url, ..Account::default() };
        }
    }
    for key in ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"] {
        if let Some(value) = set(key) {
            return Account {
                logged_in: Some(true),
                billing: Billing::ApiKey(key.into()),
                credential: Some(value),
                base_url,
            };
        }
    }
    if settings["apiKeyHelper"].is_string() {
        let billing = Billing::ApiKey("apiKeyHelper in settings.json".into());
        return Account { billing, base_url, ..Account::default() };
    }
    if let Some(token) = set("CLAUDE_CODE_OAUTH_TOKEN") {
        return Account {
            logged_in: Some(true),
            billing: Billing::Subscription,
            credential: Some(token),
            base_url,
        };
    }
    let login = here.read_json("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json");
    let state = here.read_json("CLAUDE_CONFIG_DIR", "", ".claude.json");
    // Tokens are renewed every few hours; the account stays.
    let id = state["oauthAccount"]["accountUuid"].as_str();
    let token = login["claudeAiOauth"]["accessToken"].as_str();
    if token.is_some() || id.is_some() {
        return Account {
            logged_in: Some(true),
            billing: Billing::Subscription,
            credential: id.or(token).map(str::to_owned),
            base_url,
        };
    }
    if let Some(key) = state["primaryApiKey"].as_str() {
        return Account {
            logged_in: Some(true),
            billing: Billing::ApiKey("~/.claude.json".into()),
            credential: Some(key.to_owned()),
            base_url,
        };
    }
    // On a Mac the login lies in the keychain, which asks people before it answers.
    let logged_in = if cfg!(target_os = "macos") { None } else { Some(false) };
    Account { logged_in, base_url, ..Account::default() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::agent::adapter::testing::{self, argv};

    fn wish(approval: Approval) -> Wish<'static> {
        Wish { model: None, approval, as_root: true }
    }

    #[test]
    fn a8_each_approval_has_its_flags() {
        let base = "claude -p --output-format stream-json --verbose";
        let budget = "--max-budget-usd={budget}";
        let auto = Claude.profile(&Wish { model: Some("haiku"), ..wish(Approval::Auto) }).unwrap();
        assert_eq!(argv(&auto), format!("{base} --dangerously-skip-permissions {budget} --model haiku"));
        let edits = Claude.profile(&wish(Approval::Edits)).unwrap();
        assert_eq!(argv(&edits), format!("{base} --permission-mode acceptEdits {budget}"));
        let read = Claude.profile(&wish(Approval::ReadOnly)).unwrap();
        let flags = "--permission-mode dontAsk --tools Read,Glob,Grep --strict-mcp-config";
        assert_eq!(argv(&read), format!("{base} {flags} {budget}"));
        let unable = Claude.profile(&wish(Approval::Ask)).unwrap_err();
        assert_eq!(unable.acp_command, ["claude-agent-acp"]);
    }

    #[test]
    fn a1_root_says_that_it_is_in_a_sandbox_only_where_claude_would_refuse() {
        let sandbox = |wish: &Wish<'_>| {
            Claude.profile(wish).unwrap().env.iter().any(|(name, value)| name == "IS_SANDBOX" && value == "1")
        };
        assert!(sandbox(&wish(Approval::Auto)));
        assert!(!sandbox(&wish(Approval::Edits)));
        assert!(!sandbox(&Wish { as_root: false, ..wish(Approval::Auto) }));
    }

    fn account_in(home: &Path, variables: &[(&str, &str)]) -> Account {
        testing::account(&Claude, home, variables)
    }

    fn login(billing: Billing, credential: &str) -> Account {
        Account { logged_in: Some(true), billing, credential: Some(credential.into()), base_url: None }
    }

    #[test]
    fn a4_an_inherited_key_pays_before_the_subscription() {
        let home = tempfile::tempdir().unwrap();
        let nobody = account_in(home.path(), &[]);
        assert_eq!(nobody.billing, Billing::Unknown);
        assert_ne!(nobody.logged_in, Some(true));

        fs::create_dir(home.path().join(".claude")).unwrap();
        let tokens = r#"{"claudeAiOauth":{"accessToken":"at","refreshToken":"rt"}}"#;
        fs::write(home.path().join(".claude/.credentials.json"), tokens).unwrap();
        assert_eq!(account_in(home.path(), &[]), login(Billing::Subscription, "at"));
        fs::write(home.path().join(".claude.json"), r#"{"oauthAccount":{"accountUuid":"me"}}"#).unwrap();
        assert_eq!(
            account_in(home.path(), &[]),
            login(Billing::Subscription, "me"),
            "tokens change, people do not"
        );

        let key = account_in(home.path(), &[("ANTHROPIC_API_KEY", "sk"), ("ANTHROPIC_BASE_URL", "http://x")]);
        let expected = Account {
            base_url: Some("http://x".into()),
            ..login(Billing::ApiKey("ANTHROPIC_API_KEY".into()), "sk")
        };
        assert_eq!(key, expected);
        let settings = r#"{"env":{"ANTHROPIC_API_KEY":"own","ANTHROPIC_BASE_URL":"http://own"}}"#;
        fs::write(home.path().join(".claude/settings.json"), settings).unwrap();
        let set = account_in(home.path(), &[("ANTHROPIC_API_KEY", "sk")]);
        assert_eq!((set.credential.as_deref(), set.base_url.as_deref()), (Some("own"), Some("http://own")));
    }

    #[test]
    fn a4_a_login_elsewhere_and_files_that_make_no_sense() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let tokens = r#"{"claudeAiOauth":{"accessToken":"there"}}"#;
        fs::write(elsewhere.path().join(".credentials.json"), tokens).unwrap();
        let directory = elsewhere.path().to_str().unwrap();
        let there = account_in(home.path(), &[("CLAUDE_CONFIG_DIR", directory)]);
        assert_eq!(there, login(Billing::Subscription, "there"));
        for file in [".credentials.json", "settings.json", ".claude.json"] {
            fs::write(elsewhere.path().join(file), b"[\xff{").unwrap();
        }
        let broken = account_in(home.path(), &[("CLAUDE_CONFIG_DIR", directory)]);
        assert_eq!(broken.credential, None);
        let token = account_in(home.path(), &[("CLAUDE_CODE_OAUTH_TOKEN", "oat")]);
        assert_eq!(token, login(Billing::Subscription, "oat"));
        let cloud = account_in(home.path(), &[("CLAUDE_CODE_USE_VERTEX", "1"), ("ANTHROPIC_API_KEY", "sk")]);
        assert_eq!(cloud.billing, Billing::ApiKey("CLAUDE_CODE_USE_VERTEX".into()));
    }
}
