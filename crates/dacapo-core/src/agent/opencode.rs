//! `opencode`. Its stream has no final event: a turn has ended when its last step stopped by itself. What it tries again
//! it says only in its log, which goes to standard error here.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Parser;
use super::adapter::{Account, Adapter, Billing, ParserSetting, Unable, UserEnv, Wish};
use super::lines::ByLine;
use crate::event::{AgentEvent, AgentFault, FailureKind, Fault};
use crate::spec::{AgentCommand, AgentSpec, Approval, OutputFormat, PromptBy};

mod errors;
mod log;
mod stream;

const LOG_IN: &str =
    "run `opencode auth login`, or set the provider's key (ANTHROPIC_API_KEY, OPENAI_API_KEY, …)";

/// What it may do where it is only to read. All is named that the user's own rules may allow: they come first, and the
/// last rule that fits wins.
const READ_ONLY: &str = r#"{"*":"deny","read":"allow","glob":"allow","grep":"allow","list":"allow","lsp":"allow","todowrite":"allow","todoread":"allow","skill":"allow","invalid":"allow","edit":"deny","bash":"deny","task":"deny","webfetch":"deny","websearch":"deny","external_directory":"deny"}"#;

/// The same, and files may be changed. Its helpers are bound by the same rules.
const EDITS: &str = r#"{"*":"deny","read":"allow","glob":"allow","grep":"allow","list":"allow","lsp":"allow","todowrite":"allow","todoread":"allow","skill":"allow","invalid":"allow","edit":"allow","bash":"deny","task":"allow","webfetch":"deny","websearch":"deny","external_directory":"deny"}"#;

/// Variables that hold the key of a provider that people use it with.
const KEYS: [&str; 9] = [
    "OPENCODE_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
];

#[derive(Debug)]
pub(super) struct Opencode;

impl Adapter for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn format(&self) -> OutputFormat {
        OutputFormat::Opencode
    }

    fn profile(&self, wish: &Wish<'_>) -> Result<AgentSpec, Unable> {
        let rules = match wish.approval {
            // What the user's own rules forbid stays forbidden.
            Approval::Auto => None,
            Approval::Edits => Some(EDITS),
            Approval::ReadOnly => Some(READ_ONLY),
            Approval::Ask => {
                let acp_command = &["opencode", "acp"];
                return Err(Unable { agent: self.name(), approval: wish.approval, acp_command });
            }
        };
        let mut argv = vec!["opencode", "run", "--format", "json", "--thinking", "--auto"];
        // Where it is anyway. Version 2 does not know this flag and ends at once, before its background server is asked for
        // anything: no guard would hold what runs there. A look at the version would cost half a second, and could be out
        // of date when the program starts.
        argv.push("--dir=.");
        // Only its log tells of a model call that failed and is tried again, and of a model that does not exist.
        argv.extend(["--print-logs", "--log-level", "ERROR"]);
        argv.extend(wish.model.iter().flat_map(|model| ["--model", model]));
        // An update in the middle of a loop would change the agent under it.
        let mut env = vec![("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), "1".to_owned())];
        env.extend(rules.map(|rules| ("OPENCODE_PERMISSION".to_owned(), rules.to_owned())));
        Ok(AgentSpec {
            name: self.name().into(),
            command: AgentCommand::Argv(argv.into_iter().map(str::to_owned).collect()),
            // Without a title it asks a model for one, and does not say what that cost. Empty: the prompt's beginning.
            start: vec!["--title=".into()],
            prompt: PromptBy::Stdin,
            output: self.format(),
            resume: Some(vec!["--session".into(), "{session}".into()]),
            follow_up: "繼續".into(),
            env: env.into(),
            model: wish.model.map(str::to_owned),
            price: None,
            approval: wish.approval,
        })
    }

    fn interactive(&self, session: &str) -> Vec<String> {
        vec!["--session".to_owned(), session.to_owned()]
    }

    fn parser(&self, _: ParserSetting) -> Box<dyn Parser> {
        Box::new(ByLine::<stream::OpencodeLines>::default())
    }

    fn stderr_parser(&self) -> Option<Box<dyn Parser>> {
        Some(Box::new(ByLine::new(log::retry_note)))
    }

    /// Measured: 1.0 to 1.7, by timers of its runtime and what they leave to collect.
    fn burns_idle(&self) -> u32 {
        5
    }

    fn reports_cost(&self) -> bool {
        true
    }

    fn diagnose(&self, exit_code: i32, stderr: &str) -> Option<AgentEvent> {
        if exit_code == 0 {
            return None;
        }
        if stderr.contains("Session not found") {
            let fault = Fault::SessionGone { agent: self.name().to_owned(), said: String::new() };
            return Some(AgentEvent::Error { failure: FailureKind::SessionLost, fault });
        }
        let fault = if let Some(model) = log::between(stderr, "Model not found: ", &['"', '\\', '\n']) {
            AgentFault::ModelNotFound { model: model.to_owned() }
        } else if let Some(at) = log::between(stderr, "Configuration is invalid at ", &['\n']) {
            AgentFault::BadConfiguration { said: at.to_owned() }
        } else if stderr.contains("postinstall script was not run") {
            AgentFault::HalfInstalled { command: "node postinstall.mjs".to_owned() }
        } else if stderr.contains("Unrecognized flag: ") {
            // Words of version 2, whichever flag it met first; version 1 shows its help.
            shared_server()
        } else if stderr.contains("run opencode with a message") {
            AgentFault::OldVersion { agent: self.name().to_owned() }
        } else {
            return None;
        };
        Some(AgentEvent::Error { failure: FailureKind::Permanent, fault: fault.into() })
    }

    fn unusable(&self, version: &str) -> Option<AgentFault> {
        let major: u32 = version.split('.').next()?.parse().ok()?;
        (major >= 2).then(shared_server)
    }

    fn unattended(&self) -> &'static [&'static str] {
        &["--auto", "--yolo", "--dangerously-skip-permissions"]
    }

    fn how_to_log_in(&self) -> &'static str {
        LOG_IN
    }

    fn account(&self, user_env: &UserEnv<'_>) -> Account {
        account(user_env)
    }

    /// What npm puts on PATH is the program itself, once its set-up has run; before, and in old versions, it is a script.
    fn native_program(&self, program: &Path) -> Option<PathBuf> {
        let package = program.parent()?.parent()?;
        if package.file_name()? != "opencode-ai" || is_elf(program) {
            return None;
        }
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let plain = format!("opencode-linux-{machine}");
        let baseline = format!("{plain}-baseline");
        let names = if has_avx2() { [plain, baseline] } else { [baseline, plain] };
        let places = [package.join("node_modules"), package.parent()?.to_owned()];
        let candidates = names
            .iter()
            .flat_map(|name| places.iter().map(move |place| place.join(name).join("bin/opencode")));
        candidates.into_iter().find(|candidate| is_elf(candidate))
    }
}

fn shared_server() -> AgentFault {
    AgentFault::SharedServer {
        version: "opencode 2".to_owned(),
        instead: "opencode 1".to_owned(),
        command: "npm install -g opencode-ai@1".to_owned(),
    }
}

fn is_elf(program: &Path) -> bool {
    let mut magic = [0; 4];
    std::fs::File::open(program).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}

/// Which provider it will use is decided by its settings, so what is known is: any login, any key.
fn account(user_env: &UserEnv<'_>) -> Account {
    let kept = user_env.read("XDG_DATA_HOME", ".local/share", "opencode/auth.json");
    let given = user_env.var("OPENCODE_AUTH_CONTENT").map(str::to_owned);
    let logins = given.or(kept).map(|text| logins(&text)).unwrap_or_default();
    let keys: Vec<_> = KEYS.iter().filter_map(|name| Some((*name, user_env.var(name)?))).collect();
    let set = user_env.var("OPENCODE_CONFIG_CONTENT").and_then(|text| serde_json::from_str(text).ok());
    let endpoint = set.as_ref().and_then(endpoint);
    let billing = match (logins.as_slice(), keys.as_slice()) {
        ([Login { subscribed: true, .. }, ..], []) => Billing::Subscription,
        ([Login { provider, .. }, ..], []) => Billing::ApiKey(format!("{provider} in auth.json")),
        ([], [(name, _), ..]) => Billing::ApiKey((*name).to_owned()),
        _ => Billing::Unknown,
    };
    let known: Vec<String> = logins
        .iter()
        .map(|login| format!("{}={}", login.provider, login.identity))
        .chain(keys.iter().map(|(name, key)| format!("{name}={key}")))
        .chain(endpoint.iter().filter_map(|endpoint| endpoint.key.clone()))
        .collect();
    Account {
        // Some models need no login, and a provider's key can come from its settings.
        logged_in: (!known.is_empty()).then_some(true),
        billing,
        credential: (!known.is_empty()).then(|| known.join("\n")),
        base_url: endpoint.and_then(|endpoint| endpoint.base_url),
    }
}

struct Login {
    provider: String,
    /// What stays the same while tokens are renewed.
    identity: String,
    subscribed: bool,
}

fn logins(auth: &str) -> Vec<Login> {
    let Ok(serde_json::Value::Object(providers)) = serde_json::from_str(auth) else { return Vec::new() };
    let text = |login: &serde_json::Value, name: &str| login.get(name)?.as_str().map(str::to_owned);
    let logins = providers.iter().map(|(provider, login)| Login {
        provider: provider.clone(),
        identity: text(login, "key").or_else(|| text(login, "accountId")).unwrap_or_default(),
        subscribed: text(login, "type").as_deref() == Some("oauth"),
    });
    logins.collect()
}

struct Endpoint {
    base_url: Option<String>,
    key: Option<String>,
}

/// The endpoint of the model that is chosen in settings that come by the environment.
fn endpoint(set: &serde_json::Value) -> Option<Endpoint> {
    let (provider, _) = set.get("model")?.as_str()?.split_once('/')?;
    let options = set.get("provider")?.get(provider)?.get("options")?;
    let text = |name: &str| options.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    Some(Endpoint { base_url: text("baseURL"), key: text("apiKey") })
}
