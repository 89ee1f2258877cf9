//! What a test must know of each real agent: how it is pointed at a model server, how it is kept quiet, and what its own
//! tools are called.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::model_server::{ToolInput, ToolUse};

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
    /// The installed CLI that it runs.
    pub(crate) cli: &'static str,
    /// A command line that any version of Dacapo can run: prompt on standard input, plain text out.
    pub(crate) plain: &'static [&'static str],
    /// Writes its settings into the home, and gives its environment.
    pub(crate) set_up: fn(&Setting<'_>) -> Vec<(&'static str, String)>,
    /// Its own tool for a new file, at an absolute path.
    pub(crate) write: fn(path: &Path, text: &str) -> ToolUse,
}

pub(crate) const CLAUDE: Agent = Agent {
    cli: "claude",
    plain: &["claude", "-p", "--dangerously-skip-permissions"],
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
};

pub(crate) const CODEX: Agent = Agent {
    cli: "codex",
    plain: &["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"],
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
};

pub(crate) const COPILOT: Agent = Agent {
    cli: "copilot",
    plain: &["copilot", "--allow-all", "--no-color", "--silent"],
    set_up: |setting| {
        vec![
            ("COPILOT_OFFLINE", "true".into()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", setting.url)),
            ("COPILOT_PROVIDER_TYPE", "openai".into()),
            ("COPILOT_PROVIDER_API_KEY", "dummy".into()),
            ("COPILOT_MODEL", "gpt-4.1".into()),
            ("COPILOT_AUTO_UPDATE", "false".into()),
        ]
    },
    write: |path, text| ToolUse::new("create", json!({ "path": path, "file_text": text })),
};

pub(crate) const GEMINI: Agent = Agent {
    cli: "gemini",
    plain: &["gemini", "--yolo"],
    set_up: gemini,
    write: |path, text| ToolUse::new("write_file", json!({ "file_path": path, "content": text })),
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
    cli: "opencode",
    plain: &["opencode", "run"],
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
};

pub(crate) const QWEN: Agent = Agent {
    cli: "qwen",
    plain: &["qwen", "--yolo", "--auth-type", "openai"],
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
};

fn write(setting: &Setting<'_>, path: &str, text: &str) {
    let path = setting.home.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
