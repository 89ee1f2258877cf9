//! The settings in effect, each with its origin: `dacapo config`.

use std::collections::BTreeSet;

use dacapo_core::event::FORMAT;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::layers::{Loaded, Origin, Project, lookup, paths, tree};
use super::path::KeyPath;
use super::shape;
use super::text::inline;
use crate::messages::Messages;

/// What stands for a value that is not shown.
const HIDDEN: &str = "***";

/// Origins start at this column at the latest; one long command must not push all of them off the screen.
const WIDEST: usize = 60;

/// Every setting as a line of TOML, its origin as a comment. What has no value is a comment altogether.
pub fn render(loaded: &Loaded, messages: Messages) -> String {
    let lines: Vec<(String, String)> = settings(loaded)
        .into_iter()
        .map(|setting| {
            let origin = match setting.trusted {
                true => setting.origin.in_words(messages),
                false => messages.config_not_trusted(&setting.origin.in_words(messages)),
            };
            match setting.value {
                Some(value) => (format!("{} = {}", setting.key, inline(&value)), origin),
                None => (format!("# {} =", setting.key), messages.config_not_set()),
            }
        })
        .collect();
    let column =
        lines.iter().map(|(left, _)| left.width()).filter(|width| *width <= WIDEST).max().unwrap_or(0);
    let mut out = String::new();
    for (left, origin) in lines {
        let padding = " ".repeat(column.saturating_sub(left.width()) + 3);
        // A path may contain anything; a line break in it would end the comment.
        let origin: String = origin.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        out.push_str(&format!("{left}{padding}# {origin}\n"));
    }
    out
}

/// The settings in effect: what `config show --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfigObject {
    /// The version of this format.
    v: u32,
    /// Says what the object is.
    #[schemars(extend("const" = "config"))]
    r#type: &'static str,
    /// Every setting, also those that nobody has set.
    settings: Vec<Setting>,
    /// What is wrong with the settings, a sentence each.
    warnings: Vec<String>,
}

/// The same for scripts.
pub fn object(loaded: &Loaded) -> ConfigObject {
    let warnings = loaded.warnings.iter().map(|warning| warning.english().to_owned()).collect();
    ConfigObject { v: FORMAT, r#type: "config", settings: settings(loaded), warnings }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// Its name, with the sections it is in: `agents.copilot.max_iterations`.
    pub key: String,
    /// Its value, as in the config file; null if it has none, `***` if it is a secret.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<toml::Value>,
    /// True if the value is a secret, and not shown.
    pub hidden: bool,
    /// False if it comes from a repository that the user has not confirmed: then it has no effect.
    pub trusted: bool,
    /// Where the value comes from.
    pub origin: Origin,
}

/// All of them as they are written; what does not count says so.
pub fn settings(loaded: &Loaded) -> Vec<Setting> {
    let withheld: BTreeSet<&str> = match &loaded.project {
        Project::Harmless | Project::Confirmed(_) => BTreeSet::new(),
        Project::Unconfirmed { brought, .. } => {
            brought.entries.iter().map(|entry| entry.key.as_str()).collect()
        }
    };
    let loaded = loaded.as_written();
    let tree = tree(&loaded.config);
    let setting = |path: KeyPath| {
        let value = lookup(&tree, &path).cloned();
        let secret = shape::root().leaf(&path).is_some_and(|leaf| leaf.secret);
        let hidden = secret && value.is_some();
        let value = if hidden { Some(HIDDEN.into()) } else { value };
        let key = path.to_string();
        let origin = loaded.origin(&key).clone();
        let of_project = matches!(origin, Origin::Project { .. });
        let trusted = !(of_project && withheld.contains(key.as_str()));
        Setting { key, value, hidden, trusted, origin }
    };
    paths(&loaded.config).into_iter().map(setting).collect()
}
