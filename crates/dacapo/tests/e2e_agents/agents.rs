//! What a test must know of each real agent: how it is pointed at a model server, how it is kept quiet, and what its own
//! tools are called.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::model_server::{Failure, ToolInput, ToolUse, Usage};

/// Where a test's model server is, and where things are in the test's world.
pub(crate) struct Setting<'a> {
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: &'a str,
    /// The home of this test.
    pub(crate) home: &'a Path,
    /// How long the agent itself is to try again.
    pub(crate) retries: Retries,
}

/// How long an agent is to try again by itself when its model fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retries {
    /// As people have it.
    AsShipped,
    /// As little as it can be told to: the loop's own rules are tested, not the agent's.
    Few,
}

/// A real agent.
pub(crate) struct Agent {
    /// Its name for `--agent`.
    pub(crate) name: &'static str,
    /// The installed CLI that it runs.
    pub(crate) cli: &'static str,
    /// What Dacapo's config must say about it, beside prices.
    pub(crate) config: &'static str,
    /// A command line whose output Dacapo can read, without the flags that let it work unattended.
    pub(crate) shy: &'static [&'static str],
    /// Writes its settings into the home, and gives its environment.
    pub(crate) set_up: fn(&Setting<'_>) -> Vec<(&'static str, String)>,
    /// Its own tool for a new file, at an absolute path.
    pub(crate) write: fn(path: &Path, text: &str) -> ToolUse,
    /// Its own tool for a shell command.
    pub(crate) shell: fn(command: &str) -> ToolUse,
    /// What a million tokens cost: read, written, read from a cache.
    pub(crate) price: Price,
    /// What it tells of the tokens that were charged.
    pub(crate) tells: fn(Usage) -> Usage,
    /// Conversations that it has in its home, by its own ids.
    pub(crate) sessions: fn(home: &Path) -> Vec<String>,
    /// A usage limit as this agent's API words it, such that the agent tells when it ends.
    pub(crate) limit: fn() -> Limited,
}

/// A usage limit that a test makes the model server put.
pub(crate) struct Limited {
    pub(crate) answer: Failure,
    /// In how many seconds it ends, at most. An agent may take some of them to leave; one that has passed by then is
    /// waited for as one that has no end.
    pub(crate) lasts: i64,
    /// Variables that an account with such a limit has, and those that it has not.
    pub(crate) account: &'static [(&'static str, Option<&'static str>)],
}

/// One that an API tells by its number of seconds.
fn seconds() -> Limited {
    Limited { answer: Failure::limited(Some(10)), lasts: 10, account: &[] }
}

/// What tokens cost, in USD per million, and who says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Price {
    pub(crate) input: f64,
    pub(crate) output: f64,
    pub(crate) cached: f64,
    pub(crate) said_by: SaidBy,
}

/// Who knows what an agent costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SaidBy {
    /// It says so itself, by its own list of prices or its settings.
    Agent,
    /// It never does: `[prices]` of Dacapo's config.
    Config,
}

impl Price {
    /// What so much costs.
    #[expect(clippy::cast_precision_loss, reason = "tokens of a test are few")]
    pub(crate) fn of(&self, usage: Usage) -> f64 {
        let fresh = (usage.input - usage.cached) as f64;
        (fresh * self.input + usage.output as f64 * self.output + usage.cached as f64 * self.cached) / 1e6
    }
}

pub(crate) const CLAUDE: Agent = Agent {
    name: "claude",
    cli: "claude",
    config: "",
    shy: &["claude", "-p", "--output-format", "stream-json", "--verbose"],
    set_up: |setting| {
        let mut env = vec![
            ("ANTHROPIC_BASE_URL", setting.url.to_owned()),
            ("ANTHROPIC_API_KEY", "dummy".into()),
            // Tests run as root too, where it refuses to work unattended unless told that this is a sandbox.
            ("IS_SANDBOX", "1".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ];
        if setting.retries == Retries::Few {
            env.push(("CLAUDE_CODE_MAX_RETRIES", "0".into()));
        }
        env
    },
    write: |path, text| ToolUse::new("Write", json!({ "file_path": path, "content": text })),
    shell: |command| {
        let arguments = json!({ "command": command, "description": "run a command", "timeout": 600_000 });
        ToolUse::new("Bash", arguments)
    },
    // Those of the model it takes by itself.
    price: Price { input: 4.0, output: 20.0, cached: 0.2, said_by: SaidBy::Agent },
    tells: |usage| usage,
    sessions: |home| {
        let files =
            found(&home.join(".claude/projects"), 2, &|path| path.extension().is_some_and(|e| e == "jsonl"));
        files.iter().map(|path| stem(path)).collect()
    },
    // With an API key it does not look at when a limit ends; with a subscription it does.
    limit: || Limited {
        answer: Failure::plan_limited(Some(15)),
        lasts: 15,
        account: &[("ANTHROPIC_API_KEY", None), ("CLAUDE_CODE_OAUTH_TOKEN", Some("sk-ant-oat01-dummy"))],
    },
};

pub(crate) const CODEX: Agent = Agent {
    name: "codex",
    cli: "codex",
    config: "",
    shy: &["codex", "exec", "--json", "--skip-git-repo-check", "-"],
    set_up: |setting| {
        let few = match setting.retries {
            Retries::AsShipped => "",
            Retries::Few => "request_max_retries = 0\nstream_max_retries = 0\n",
        };
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
             [analytics]\nenabled = false\n[features]\nplugins = false\napps = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}/v1\"\nenv_key = \"SCRIPTED_KEY\"\n\
             wire_api = \"responses\"\n{few}",
            setting.url
        );
        write(setting, ".codex/config.toml", &config);
        vec![("SCRIPTED_KEY", "dummy".into())]
    },
    write: |path, text| {
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let patch = format!("*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch\n", path.display());
        ToolUse { name: "apply_patch".into(), input: ToolInput::Text(patch) }
    },
    shell: |command| ToolUse::new("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 })),
    price: Price { input: 1.25, output: 10.0, cached: 0.125, said_by: SaidBy::Config },
    tells: |usage| usage,
    sessions: |home| {
        // rollout-TIME-ID.jsonl
        let files = found(&home.join(".codex/sessions"), 4, &|path| stem(path).starts_with("rollout-"));
        files
            .iter()
            .map(|path| stem(path).chars().rev().take(36).collect::<Vec<_>>().into_iter().rev().collect())
            .collect()
    },
    // It tells the minute, and only that of a subscription's limit: what ends in a second may end with the minute.
    limit: || Limited { answer: Failure::plan_limited(Some(1)), lasts: 62, account: &[] },
};

pub(crate) const COPILOT: Agent = Agent {
    name: "copilot",
    cli: "copilot",
    config: "",
    shy: &["copilot", "--output-format", "json", "--no-color"],
    set_up: |setting| {
        vec![
            ("COPILOT_OFFLINE", "true".into()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", setting.url)),
            ("COPILOT_PROVIDER_TYPE", "openai".into()),
            ("COPILOT_PROVIDER_API_KEY", "dummy".into()),
            ("COPILOT_MODEL", "scripted".into()),
            // A model it knows nothing of would get 64,000.
            ("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "1000000".into()),
            ("COPILOT_AUTO_UPDATE", "false".into()),
        ]
    },
    write: |path, text| ToolUse::new("create", json!({ "path": path, "file_text": text })),
    shell: |command| {
        let arguments = json!({ "command": command, "description": "run a command", "mode": "sync", "initial_wait": 120 });
        ToolUse::new("bash", arguments)
    },
    price: Price { input: 2.0, output: 8.0, cached: 0.5, said_by: SaidBy::Config },
    tells: |usage| usage,
    sessions: |home| {
        let folders =
            found(&home.join(".copilot/session-state"), 1, &|path| path.join("events.jsonl").exists());
        folders.iter().map(|path| stem(path)).collect()
    },
    limit: seconds,
};

pub(crate) const GEMINI: Agent = Agent {
    name: "gemini",
    cli: "gemini",
    config: "",
    shy: &["gemini", "-o", "stream-json"],
    set_up: gemini,
    write: |path, text| ToolUse::new("write_file", json!({ "file_path": path, "content": text })),
    shell: |command| {
        ToolUse::new("run_shell_command", json!({ "command": command, "description": "run a command" }))
    },
    price: Price { input: 1.25, output: 10.0, cached: 0.31, said_by: SaidBy::Config },
    tells: |usage| usage,
    sessions: |home| {
        let files = found(&home.join(".gemini/tmp"), 3, &|path| stem(path).starts_with("session-"));
        let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
        // Over ACP it opens one more, in which nothing is ever said.
        let answered = texts.filter(|text| text.contains("Added file-"));
        let id = |text: String| {
            let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            line["sessionId"].as_str().unwrap().to_owned()
        };
        answered.map(id).collect()
    },
    limit: seconds,
};

fn gemini(setting: &Setting<'_>) -> Vec<(&'static str, String)> {
    let mut settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "model": { "name": "gemini-2.5-pro" },
        "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
        "privacy": { "usageStatisticsEnabled": false },
    });
    if setting.retries == Retries::Few {
        settings["general"]["maxAttempts"] = 1.into();
        settings["general"]["retryFetchErrors"] = false.into();
    }
    write(setting, ".gemini/settings.json", &settings.to_string());
    vec![
        ("GEMINI_API_KEY", "dummy".into()),
        ("GOOGLE_GEMINI_BASE_URL", setting.url.to_owned()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
    ]
}

pub(crate) const OPENCODE: Agent = Agent {
    name: "opencode",
    cli: "opencode",
    config: "",
    shy: &["opencode", "run", "--format", "json"],
    set_up: |setting| {
        let config = json!({
            "model": "scripted/scripted",
            "permission": "allow",
            "autoupdate": false,
            "share": "disabled",
            "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "scripted",
                "options": { "baseURL": format!("{}/v1", setting.url), "apiKey": "dummy" },
                "models": { "scripted": {
                    "name": "scripted",
                    "limit": { "context": 200_000, "output": 8_000 },
                    "cost": { "input": 3, "output": 15, "cache_read": 0.3 },
                } },
            } },
        });
        write(setting, ".config/opencode/opencode.json", &config.to_string());
        // It would fetch a package for plugins from npm, unless it finds that it has.
        let dependencies = json!({ "@opencode-ai/plugin": "*" });
        let lock = json!({ "packages": { "": { "dependencies": dependencies } } });
        write(setting, ".config/opencode/package.json", &json!({ "dependencies": dependencies }).to_string());
        write(setting, ".config/opencode/package-lock.json", &lock.to_string());
        write(setting, ".config/opencode/node_modules/.package-lock.json", "{}");
        vec![
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".into()),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".into()),
        ]
    },
    write: |path, text| ToolUse::new("write", json!({ "filePath": path, "content": text })),
    shell: |command| {
        let arguments = json!({ "command": command, "description": "run a command", "timeout": 600_000 });
        ToolUse::new("bash", arguments)
    },
    // As its settings above say.
    price: Price { input: 3.0, output: 15.0, cached: 0.3, said_by: SaidBy::Agent },
    tells: |usage| usage,
    sessions: |home| {
        // They are in a database, in files whose bytes are enough to look at: `ses_` and 26 letters and digits.
        let files = found(&home.join(".local/share/opencode"), 1, &|path| stem(path) == "opencode");
        let bytes: Vec<u8> = files.iter().flat_map(|path| fs::read(path).unwrap()).collect();
        let ids = bytes
            .windows(30)
            .filter(|text| text.starts_with(b"ses_") && text[4..].iter().all(u8::is_ascii_alphanumeric));
        let mut ids: Vec<String> = ids.map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        ids.sort();
        ids.dedup();
        ids
    },
    limit: seconds,
};

pub(crate) const QWEN: Agent = Agent {
    name: "qwen",
    cli: "qwen",
    config: "",
    shy: &["qwen", "-o", "stream-json", "--auth-type", "openai"],
    set_up: |setting| {
        let settings = json!({
            "security": { "auth": { "selectedType": "openai" } },
            "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
            "privacy": { "usageStatisticsEnabled": false },
            // After each turn it would ask the model, with tools, what to remember.
            "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        });
        write(setting, ".qwen/settings.json", &settings.to_string());
        vec![
            ("OPENAI_BASE_URL", format!("{}/v1", setting.url)),
            ("OPENAI_API_KEY", "dummy".into()),
            ("OPENAI_MODEL", "scripted".into()),
        ]
    },
    write: |path, text| ToolUse::new("write_file", json!({ "file_path": path, "content": text })),
    shell: |command| {
        let arguments = json!({ "command": command, "description": "run a command", "is_background": false });
        ToolUse::new("run_shell_command", arguments)
    },
    price: Price { input: 0.5, output: 2.0, cached: 0.1, said_by: SaidBy::Config },
    tells: |usage| usage,
    sessions: |home| {
        let files =
            found(&home.join(".qwen/projects"), 3, &|path| path.extension().is_some_and(|e| e == "jsonl"));
        files.iter().map(|path| stem(path)).collect()
    },
    limit: seconds,
};

/// Gemini over the Agent Client Protocol.
pub(crate) const GEMINI_ACP: Agent = Agent {
    name: "gemini-acp",
    config: "[agents.gemini-acp]\ncommand = [\"gemini\", \"--acp\"]\noutput = \"acp\"\n",
    // Nothing of what came from a cache.
    tells: |usage| Usage { cached: 0, ..usage },
    ..GEMINI
};

/// Opencode over the Agent Client Protocol. What it tells of tokens is less than was charged: that of its last call.
pub(crate) const OPENCODE_ACP: Agent = Agent {
    name: "opencode-acp",
    config: "[agents.opencode-acp]\ncommand = [\"opencode\", \"acp\"]\noutput = \"acp\"\n",
    ..OPENCODE
};

/// Copilot over the Agent Client Protocol.
pub(crate) const COPILOT_ACP: Agent = Agent {
    name: "copilot-acp",
    config: "[agents.copilot-acp]\ncommand = [\"copilot\", \"--acp\"]\noutput = \"acp\"\n",
    ..COPILOT
};

fn write(setting: &Setting<'_>, path: &str, text: &str) {
    let path = setting.home.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Entries so many levels below a folder.
fn found(folder: &Path, depth: u32, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.map(|entry| entry.unwrap().path());
    match depth {
        0 | 1 => entries.filter(|path| wanted(path)).collect(),
        _ => entries.flat_map(|path| found(&path, depth - 1, wanted)).collect(),
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}
