//! The settings in effect, each with its origin: `dacapo config`.

use std::collections::BTreeSet;

use dacapo_core::event::FORMAT;
use serde::Serialize;
use serde_json::{Value as Json, json};
use unicode_width::UnicodeWidthStr as _;

use super::layers::{Loaded, Origin, Project, lookup, paths, tree};
use super::path::KeyPath;
use super::shape;
use super::text::inline;
use crate::messages::{Messages, Text};

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

/// The same for scripts.
pub fn render_json(loaded: &Loaded) -> Json {
    json!({"v": FORMAT, "settings": settings(loaded), "warnings": loaded.warnings.iter().map(Text::english).collect::<Vec<_>>()})
}

/// A setting as a surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its dotted path.
    pub key: String,
    /// What it is, or would be; `***` where it is not to be shown.
    pub value: Option<toml::Value>,
    pub hidden: bool,
    /// False: it would be so, and is not.
    pub trusted: bool,
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
