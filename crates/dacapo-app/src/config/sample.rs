//! A config file that says everything and sets nothing: each setting with what it is for and its default, as a comment.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::shape::schema;

/// Where a line of explanation is broken.
const COLUMNS: usize = 100;

/// Whose file it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The user's own, for all projects.
    #[default]
    User,
    Project,
}

const OF_USER: &str = "# Your settings of Dacapo, for all projects; .dacapo/config.toml of a project counts before this file.\n";
const OF_PROJECT: &str = "# Settings of Dacapo for this project; those of ~/.config/dacapo/config.toml count where this file says nothing.\n";
const HEAD: &str = "\
# A line that begins with '#' and a key shows a default, or an example where there is none: take the '#' away to set it.
# `dacapo config` shows what is in effect and where it comes from.
";

/// What tables whose keys the user chooses are shown with.
const NAMES: [(&str, &str); 3] =
    [("agents", "mybot"), ("prices", "\"gpt-5.5\""), ("repos", "\"~/src/shop\"")];

pub fn sample(whose: Whose) -> String {
    let first = match whose {
        Whose::User => OF_USER,
        Whose::Project => OF_PROJECT,
    };
    let mut out = format!("{first}{HEAD}");
    table(&mut out, "", &schema(), whose);
    out
}

fn table(out: &mut String, path: &str, schema: &Json, whose: Whose) {
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let is_table = |schema: &Json| schema["properties"].is_object();
    let is_map = |schema: &Json| schema["additionalProperties"].is_object();
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, leaf) in properties.iter().filter(|(_, inner)| !is_table(inner)) {
        if is_map(leaf) && is_table(&leaf["additionalProperties"]) {
            continue;
        }
        explain(out, leaf);
        // What settings are made of is written the same in TOML as in JSON.
        let value =
            if is_map(leaf) { "{ NAME = \"value\" }".to_owned() } else { value(key, leaf).to_string() };
        let _ = writeln!(out, "#{key} = {value}");
    }
    for (key, inner) in properties.iter().filter(|(_, inner)| whose == Whose::User || !is_users_own(inner)) {
        if is_table(inner) {
            let path = join(key);
            heading(out, inner, &format!("[{path}]"));
            table(out, &path, inner, whose);
        } else if is_map(inner) && is_table(&inner["additionalProperties"]) {
            let name = NAMES.iter().find(|(map, _)| map == key).map_or("NAME", |(_, name)| name);
            let path = format!("{}.{name}", join(key));
            // With its name it would be an entry of its own.
            heading(out, inner, &format!("#[{path}]"));
            table(out, &path, &inner["additionalProperties"], whose);
        }
    }
}

/// Returns true if no project may set anything of a table whose keys the user chooses.
fn is_users_own(schema: &Json) -> bool {
    let properties = schema["additionalProperties"]["properties"].as_object();
    properties.is_some_and(|all| all.values().all(|leaf| leaf["x-trust"] == "own"))
}

fn heading(out: &mut String, schema: &Json, line: &str) {
    explain(out, schema);
    let _ = writeln!(out, "{line}");
}

fn explain(out: &mut String, schema: &Json) {
    out.push('\n');
    let mut line = String::from("#");
    for word in schema["description"].as_str().unwrap_or_default().split_whitespace() {
        if line.len() + 1 + word.len() > COLUMNS {
            let _ = writeln!(out, "{line}");
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    if line.len() > 1 {
        let _ = writeln!(out, "{line}");
    }
}

/// The default, else something that could stand there.
fn value(key: &str, leaf: &Json) -> Json {
    if !leaf["default"].is_null() {
        return leaf["default"].clone();
    }
    let example = match key {
        "agent" => json!("claude"),
        "checks" => json!(["cargo test"]),
        "main_branch" => json!("main"),
        "editor" => json!("code --wait"),
        "completion_promise" => json!("<promise>COMPLETE</promise>"),
        "command" if leaf["type"] == "array" => json!(["mybot", "--headless"]),
        "resume" => json!(["--resume", "{session}"]),
        "script" => json!("script.yaml"),
        "model" => json!("a-model"),
        "base_url" => json!("http://localhost:11434/v1"),
        "key_env" => json!("MYBOT_KEY"),
        "context_tokens" => json!(128_000),
        "input" => json!(1.25),
        "output" if leaf["type"] == "number" => json!(10.0),
        "cached" => json!(0.125),
        "commit_message_model" | "summary_model" => json!("haiku"),
        "loop_prompt" => json!("Go on."),
        "webhook" => json!("https://example.org/hook"),
        "command" => json!("cat >> ~/dacapo.log"),
        _ => Json::Null,
    };
    if !example.is_null() {
        return example;
    }
    match (leaf["enum"].get(0), leaf["type"].as_str()) {
        (Some(first), _) => first.clone(),
        (None, Some("boolean")) => json!(false),
        (None, Some("array")) => json!([]),
        (None, Some("integer" | "number")) => leaf["minimum"].clone(),
        (None, _) => json!("value"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sources, load};
    use super::*;

    #[test]
    fn m1_the_sample_sets_nothing_and_everything_in_it_is_right() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        let sources = Sources { project_file: Some(file.clone()), ..Sources::default() };
        assert!(!sample(Whose::Project).contains("hidden_checks"), "a project may not have any");
        std::fs::write(&file, sample(Whose::Project)).unwrap();
        let loaded = load(&sources).unwrap();
        assert_eq!(loaded.config, super::super::Config::default());
        assert_eq!(loaded.warnings, [""; 0]);
        let set = |line: &str| match line.strip_prefix('#') {
            Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest.to_owned(),
            _ => line.to_owned(),
        };
        // One agent alone may have a script, and it is not this one.
        let all: Vec<String> =
            sample(Whose::Project).lines().filter(|line| !line.starts_with("#script")).map(set).collect();
        std::fs::write(&file, all.join("\n")).unwrap();
        let loaded = load(&sources).unwrap_or_else(|error| panic!("{error}\n{}", all.join("\n")));
        assert_eq!(loaded.config.milestone, super::super::Config::default().milestone);
        assert_eq!(loaded.as_written().config.agents["mybot"].command.as_ref().unwrap()[0], "mybot");
        for key in super::super::shape::root().leaves(&|_| Vec::new()) {
            let last = key.0.last().unwrap();
            assert!(sample(Whose::User).contains(&format!("\n#{last} = ")), "{key}");
        }
    }
}
