//! The real agent CLIs that tests run: which, in which version, and where. One place for both who installs them
//! (`cargo xtask setup`, which includes this file) and who runs them.
//!
//! A version is pinned because each changes its flags, its stream and its words from week to week: a newer one is taken
//! in a commit of its own, with whatever it changes in the adapters.

use std::path::{Path, PathBuf};

/// One CLI, as npm delivers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentCli {
    /// The command, and the agent's name in Dacapo.
    pub(crate) name: &'static str,
    /// Its package.
    pub(crate) package: &'static str,
    /// The only version of it that tests run.
    pub(crate) version: &'static str,
    /// The package's own script that puts its native binary in place, seen from the package. Nothing else that comes
    /// with an installation is run.
    pub(crate) finish: Option<&'static str>,
    /// The variable that says where it unpacks itself on its first run, for one that does: 235 MB into every new HOME.
    pub(crate) unpacks_by: Option<&'static str>,
}

/// All of them.
pub(crate) const ALL: [AgentCli; 6] = [
    AgentCli {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.1.325",
        finish: Some("install.cjs"),
        unpacks_by: None,
    },
    AgentCli { name: "codex", package: "@openai/codex", version: "0.166.0", finish: None, unpacks_by: None },
    AgentCli {
        name: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        finish: None,
        unpacks_by: Some("COPILOT_PKG_CACHE_HOME"),
    },
    AgentCli {
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        finish: None,
        unpacks_by: None,
    },
    AgentCli {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        finish: Some("postinstall.mjs"),
        unpacks_by: None,
    },
    // The newest for Node 20; later ones want 22.
    AgentCli {
        name: "qwen",
        package: "@qwen-code/qwen-code",
        version: "0.15.10",
        finish: None,
        unpacks_by: None,
    },
];

/// Written last: a folder that has it holds a whole installation that was seen to run.
pub(crate) const MARKER: &str = "dacapo-installed";

/// Where it is unpacked, seen from its folder.
pub(crate) const UNPACKED: &str = "unpacked";

/// Where its command is, seen from its folder: to go first on PATH.
pub(crate) const COMMANDS: &str = "node_modules/.bin";

impl AgentCli {
    /// Its folder under the cache, one for each version.
    pub(crate) fn folder(&self, cache: &Path) -> PathBuf {
        cache.join("agents").join(format!("{}-{}", self.name, self.version))
    }

    /// Whether it is there, whole.
    pub(crate) fn is_installed(&self, cache: &Path) -> bool {
        self.folder(cache).join(MARKER).is_file()
    }
}

/// The folder for what tests need and the repository must not hold; `None` when the environment names none.
pub(crate) fn cache() -> Option<PathBuf> {
    cache_by(|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

/// The same, for any environment.
pub(crate) fn cache_by(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("DACAPO_TEST_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|dir| dir.join("dacapo-test")))
        .or_else(|| variable("HOME").map(|dir| dir.join(".cache/dacapo-test")))
}
