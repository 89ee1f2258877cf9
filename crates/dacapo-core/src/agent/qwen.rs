//! Qwen Code, headless: `qwen -o stream-json` with the prompt on standard input.

use serde_json::Value;

use super::Parser;
use super::adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
use super::excerpt::last_words;
use super::lines::ByLine;
use crate::event::{AgentEvent, AgentFault, FailureKind, Fault, LogIn};
use crate::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

mod parser;

#[derive(Debug)]
pub(super) struct Qwen;

/// The end of a sentence.
const HOW_TO_LOG_IN: &str = "run `qwen auth`, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL";

/// The tools that change something, whatever the user's own settings allow.
const CHANGING: &str = "edit,write_file,notebook_edit,run_shell_command,monitor";

impl Adapter for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Qwen
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        let allowed: &[&str] = match wish.approval {
            Approval::Auto => &["--yolo"],
            Approval::Edits => &["--approval-mode", "auto-edit"],
            Approval::ReadOnly => &["--approval-mode", "default", "--exclude-tools", CHANGING],
            Approval::Ask => {
                return Err(Unable {
                    agent: "qwen",
                    approval: wish.approval,
                    acp_command: &["qwen", "--acp"],
                });
            }
        };
        let mut argv = vec!["qwen", "-o", "stream-json"];
        argv.extend(allowed);
        argv.extend(wish.model.iter().flat_map(|model| ["--model", model]));
        let own = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        Ok(AgentSpec {
            name: "qwen".into(),
            command: AgentCommand::Argv(own(&argv)),
            start: own(&["--session-id", "{session}"]),
            prompt: PromptBy::Stdin,
            output: OutputFormat::Qwen,
            resume: Some(own(&["--resume", "{session}"])),
            follow_up: "繼續".into(),
            env: vec![
                // Else it starts itself again, and stopped it leaves that one behind.
                ("QWEN_CODE_NO_RELAUNCH".into(), "true".into()),
                // To wait for a limit without a word is the loop's business.
                ("QWEN_CODE_UNATTENDED_RETRY".into(), "0".into()),
            ]
            .into(),
            model: wish.model.map(str::to_owned),
            price: None,
            approval: wish.approval,
        })
    }

    fn parser(&self, setting: ParserSetting) -> Box<dyn Parser> {
        Box::new(ByLine::new(parser::QwenLines::new(&setting)))
    }

    fn reports_cost(&self) -> bool {
        false
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        let said = last_words(stderr).unwrap_or_default();
        let permanent = |fault| Some(AgentEvent::Error { failure: FailureKind::Permanent, fault });
        match exit_code {
            _ if stderr.contains("No saved session found with ID") => Some(AgentEvent::Error {
                failure: FailureKind::SessionLost,
                fault: Fault::SessionGone { agent: "qwen".into(), said },
            }),
            41 => permanent(Fault::not_logged_in(&said, Some(LogIn::of("qwen")))),
            // Its own codes for wrong arguments and for wrong settings.
            42 | 52 => permanent(said.into()),
            1 if stderr.contains("Unknown argument") => {
                permanent(AgentFault::TooOld { package: "@qwen-code/qwen-code".into(), said }.into())
            }
            0 => None,
            _ if said.is_empty() => None,
            _ => Some(AgentEvent::Error {
                failure: FailureKind::Transient,
                fault: AgentFault::Exited { agent: "qwen".into(), code: exit_code, said }.into(),
            }),
        }
    }

    fn unattended(&self) -> &'static [&'static str] {
        &["--yolo", "-y", "yolo", "--approval-mode=yolo"]
    }

    fn how_to_log_in(&self) -> &'static str {
        HOW_TO_LOG_IN
    }

    fn account(&self, user_env: &UserEnv<'_>) -> Account {
        account(user_env)
    }
}

/// The keys that qwen takes from the environment, with the variables for the address.
const KEYS: [(&str, &str, &str); 4] = [
    ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ("gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"),
    ("vertex-ai", "GOOGLE_API_KEY", "GOOGLE_BASE_URL"),
];

/// What its settings select, else what the environment holds.
fn account(here: &UserEnv<'_>) -> Account {
    let settings = here.read_json("QWEN_HOME", ".qwen", "settings.json");
    let auth = &settings["security"]["auth"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let set = |name: &str| here.var(name).map(str::to_owned).or_else(|| text(&settings["env"][name]));
    let selected = text(&auth["selectedType"]);
    if selected.as_deref() == Some("qwen-oauth") || (selected.is_none() && here.var("QWEN_OAUTH").is_some()) {
        let login = here.read_json("QWEN_HOME", ".qwen", "oauth_creds.json");
        let token = text(&login["refresh_token"]).or_else(|| text(&login["access_token"]));
        return Account {
            logged_in: Some(token.is_some()),
            billing: Billing::Subscription,
            credential: token,
            base_url: None,
        };
    }
    for (kind, key, address) in KEYS {
        if selected.as_deref().is_none_or(|selected| selected == kind)
            && let Some(value) = set(key)
        {
            return Account {
                logged_in: Some(true),
                billing: Billing::ApiKey(key.into()),
                credential: Some(value),
                base_url: set(address).or_else(|| text(&auth["baseUrl"])),
            };
        }
    }
    match (selected, text(&auth["apiKey"])) {
        (Some(_), Some(key)) => Account {
            logged_in: Some(true),
            billing: Billing::ApiKey("~/.qwen/settings.json".into()),
            credential: Some(key),
            base_url: text(&auth["baseUrl"]),
        },
        // Keys can also come from its list of providers, by variables of any name.
        (Some(_), None) => Account { base_url: text(&auth["baseUrl"]), ..Account::default() },
        (None, _) => Account { logged_in: Some(false), ..Account::default() },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::agent::adapter::testing;

    #[test]
    fn a8_each_approval_has_its_flags() {
        let argv = |approval| {
            let wish = Wish { model: Some("qwen3"), approval, as_root: true };
            match Qwen.profile(&wish).map(|spec| spec.command) {
                Ok(AgentCommand::Argv(argv)) => argv.join(" "),
                Ok(other) => panic!("{other:?}"),
                Err(unable) => unable.acp_command.join(" "),
            }
        };
        assert_eq!(argv(Approval::Auto), "qwen -o stream-json --yolo --model qwen3");
        assert_eq!(argv(Approval::Edits), "qwen -o stream-json --approval-mode auto-edit --model qwen3");
        let read =
            "--approval-mode default --exclude-tools edit,write_file,notebook_edit,run_shell_command,monitor";
        assert_eq!(argv(Approval::ReadOnly), format!("qwen -o stream-json {read} --model qwen3"));
        assert_eq!(argv(Approval::Ask), "qwen --acp");
    }

    fn account_in(home: &Path, variables: &[(&str, &str)]) -> Account {
        testing::account(&Qwen, home, variables)
    }

    #[test]
    fn a4_the_selected_way_to_pay_comes_first() {
        let home = tempfile::tempdir().unwrap();
        let set = |settings: &str| {
            fs::create_dir_all(home.path().join(".qwen")).unwrap();
            fs::write(home.path().join(".qwen/settings.json"), settings).unwrap();
        };
        assert_eq!(account_in(home.path(), &[]), Account { logged_in: Some(false), ..Account::default() });
        let keys = [("OPENAI_API_KEY", "sk"), ("OPENAI_BASE_URL", "http://x"), ("GEMINI_API_KEY", "g")];
        let paid = |key: &str, value: &str, url: Option<&str>| Account {
            logged_in: Some(true),
            billing: Billing::ApiKey(key.into()),
            credential: Some(value.into()),
            base_url: url.map(str::to_owned),
        };
        assert_eq!(account_in(home.path(), &keys), paid("OPENAI_API_KEY", "sk", Some("http://x")));
        set(r#"{"security":{"auth":{"selectedType":"gemini"}}}"#);
        assert_eq!(account_in(home.path(), &keys), paid("GEMINI_API_KEY", "g", None));
        set(r#"{"security":{"auth":{"selectedType":"openai","apiKey":"own","baseUrl":"http://own"}}}"#);
        assert_eq!(account_in(home.path(), &[]), paid("~/.qwen/settings.json", "own", Some("http://own")));
        set(r#"{"security":{"auth":{"selectedType":"qwen-oauth"}}}"#);
        assert_eq!(account_in(home.path(), &keys).logged_in, Some(false));
        fs::write(home.path().join(".qwen/oauth_creds.json"), r#"{"refresh_token":"rt"}"#).unwrap();
        let login = account_in(home.path(), &keys);
        assert_eq!((login.logged_in, login.billing), (Some(true), Billing::Subscription));
        set("[");
        assert_eq!(account_in(home.path(), &[]).logged_in, Some(false));
    }
}
