//! What there is to set, from the schema and the settings that count now.

use std::collections::BTreeMap;
use std::path::Path;

use dacapo_app::present::settings as present;
use serde_json::Value as Json;

use crate::App;
use crate::agents;
use crate::config::{self, Config, Origin};
use crate::error::Failure;
use crate::messages::Messages;

/// What people change of an agent that they have not set up.
const OF_AGENT: [&str; 3] = ["loop_enabled", "max_iterations", "completion_promise"];

/// The table of agents.
const AGENTS: &str = "agents";

/// A line of the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SettingRow {
    Heading(String),
    Setting(Setting),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    /// As it is written in a file.
    pub(super) key: String,
    /// The key below its heading.
    pub(super) label: String,
    /// As it is typed.
    pub(super) value: Option<String>,
    pub(super) hidden: bool,
    pub(super) trusted: bool,
    /// Somebody has set it: it is no default.
    pub(super) is_set: bool,
    pub(super) origin: String,
    /// The same with the name of the file alone, for where there is no room for its path.
    pub(super) short_origin: String,
    pub(super) about: String,
    pub(super) form: Form,
}

/// How it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    Switch,
    OneOf(Vec<String>),
    Text,
}

/// All settings, those that people change most first.
pub(super) fn read(app: &App, messages: Messages) -> Result<Vec<SettingRow>, Failure> {
    let loaded = config::load(&app.config_sources())?;
    let schema = config::schema();
    let mut all: Vec<Setting> =
        config::settings(&loaded).iter().map(|setting| of_setting(setting, &schema, messages)).collect();
    add_agents(&mut all, &loaded.config, &schema, messages);
    Ok(in_groups(all, messages))
}

fn of_setting(setting: &config::Setting, schema: &Json, messages: Messages) -> Setting {
    let is_set = setting.origin != Origin::Default;
    let origin = setting.origin.in_words(messages);
    let typed = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let leaf = leaf(schema, &setting.key);
    Setting {
        key: setting.key.clone(),
        label: setting.key.clone(),
        value: setting.value.as_ref().map(typed),
        hidden: setting.hidden,
        trusted: setting.trusted,
        is_set,
        origin,
        short_origin: short(&setting.origin).in_words(messages),
        about: about(&setting.key, leaf, messages),
        form: form(leaf),
    }
}

fn short(origin: &Origin) -> Origin {
    let name = |path: &Path| path.file_name().map_or_else(|| path.into(), Into::into);
    match origin {
        Origin::User { path, line } => Origin::User { path: name(path), line: *line },
        Origin::Project { path, line } => Origin::Project { path: name(path), line: *line },
        Origin::Default | Origin::Env { .. } | Origin::Flag { .. } => origin.clone(),
    }
}

/// Agents that nobody has set up can be set up here.
fn add_agents(all: &mut Vec<Setting>, config: &Config, schema: &Json, messages: Messages) {
    let defaults = serde_json::to_value(config::AgentProfile::default()).unwrap_or_default();
    for name in agents::names(config) {
        // Whoever does not loop has nothing more to set.
        let has_table = all.iter().any(|setting| setting.key.starts_with(&format!("{AGENTS}.{name}.")));
        let own = if has_table { &OF_AGENT[..] } else { &OF_AGENT[..1] };
        for own in own {
            let key = format!("{AGENTS}.{name}.{own}");
            if all.iter().any(|setting| setting.key == key) {
                continue;
            }
            let leaf = leaf(schema, &key);
            let value = match &defaults[*own] {
                Json::Null => None,
                Json::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            all.push(Setting {
                about: about(&key, leaf, messages),
                label: key.clone(),
                key,
                value,
                hidden: false,
                trusted: true,
                is_set: false,
                origin: Origin::Default.in_words(messages),
                short_origin: Origin::Default.in_words(messages),
                form: form(leaf),
            });
        }
    }
}

/// Below the title of the table that they are in; what is in none comes first, agents next.
fn in_groups(all: Vec<Setting>, messages: Messages) -> Vec<SettingRow> {
    let mut groups: BTreeMap<(u8, usize, String), Vec<Setting>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for mut setting in all {
        let (table, rest) = match setting.key.split_once('.') {
            Some((table, rest)) => (table.to_owned(), rest.to_owned()),
            None => (String::new(), setting.key.clone()),
        };
        setting.label = rest;
        if !order.contains(&table) {
            order.push(table.clone());
        }
        let nth = order.iter().position(|known| *known == table).unwrap_or(0);
        let rank = match table.as_str() {
            "" => 0,
            AGENTS => 1,
            _ => 2,
        };
        groups.entry((rank, nth, table)).or_default().push(setting);
    }
    let mut rows = Vec::new();
    for ((_, _, table), mut settings) in groups {
        let title = match table.as_str() {
            "" => messages.tui_settings_general(),
            table => present::table(table, messages).unwrap_or_else(|| table.to_owned()),
        };
        if table == AGENTS {
            // What belongs to one agent stands together, its loop first.
            settings.sort_by_key(|setting| {
                let (agent, own) = setting.label.split_once('.').unwrap_or((&setting.label, ""));
                let rank = OF_AGENT.iter().position(|known| *known == own).unwrap_or(OF_AGENT.len());
                (agent.to_owned(), rank)
            });
        }
        rows.push(SettingRow::Heading(title));
        rows.extend(settings.into_iter().map(SettingRow::Setting));
    }
    rows
}

/// What the schema says of a key.
fn leaf<'a>(schema: &'a Json, key: &str) -> &'a Json {
    parts(key).iter().fold(schema, |schema, part| {
        let own = &schema["properties"][part.as_str()];
        if own.is_null() { &schema["additionalProperties"] } else { own }
    })
}

/// The parts of a dotted key; a part in quotation marks may have dots in it.
fn parts(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in key.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            c => parts.iter_mut().last().into_iter().for_each(|part| part.push(c)),
        }
    }
    parts
}

/// In the user's language; a new setting is explained by its schema until somebody has said it in all of them.
fn about(key: &str, leaf: &Json, messages: Messages) -> String {
    let parts = parts(key);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let of_schema = || leaf["description"].as_str().unwrap_or_default().replace('\n', " ");
    present::about(&parts, messages).unwrap_or_else(of_schema)
}

fn form(leaf: &Json) -> Form {
    let choices = leaf["enum"].as_array().map(|all| all.iter().filter_map(Json::as_str).map(str::to_owned));
    match choices.map(Iterator::collect::<Vec<_>>) {
        Some(choices) if !choices.is_empty() => Form::OneOf(choices),
        _ if leaf["type"] == "boolean" => Form::Switch,
        _ => Form::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_the_schema() {
        let schema = config::schema();
        assert_eq!(form(leaf(&schema, "keep_awake")), Form::Switch);
        assert_eq!(form(leaf(&schema, "agents.claude.loop_enabled")), Form::Switch);
        assert_eq!(form(leaf(&schema, "agents.my.completion_promise")), Form::Text);
        assert_eq!(
            form(leaf(&schema, "language")),
            Form::OneOf(vec!["en".into(), "zh-CN".into(), "zh-TW".into()])
        );
        let price = "prices.\"gpt-5.5\".input";
        assert!(about(price, leaf(&schema, price), Messages::ENGLISH).contains("per million"));
        assert_eq!(parts("prices.\"gpt-5.5\".input"), ["prices", "gpt-5.5", "input"]);
    }
}
