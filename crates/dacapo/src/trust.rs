//! What a repository brings runs, or is obeyed, only after the user confirmed it once, by content (R6).
//!
//! What is not confirmed never reaches the settings ([`Project::Unconfirmed`](crate::config::Project)): a command that wants to use
//! it passes a [`Gate`], which shows it and asks; all others go by the user's own settings and say nothing.

mod gate;
mod store;

use std::path::Path;

pub(crate) use gate::{Gate, Using, in_words};
pub(crate) use store::{Record, Store};

use dacapo_core::spec::{AgentCommand, AgentSpec};
use dacapo_core::task::milestone::{Prompts, TemplateKind};

use crate::config::{Brought, Confirmed, Entry, Loaded, Origin};
use crate::output::words;

/// Confirms exactly this content, by its hash; several are separated by commas.
pub(crate) const VARIABLE: &str = "DACAPO_TRUST";

/// What the user has confirmed of the repository around `top`.
pub(crate) fn confirmed(top: &Path) -> Confirmed {
    let stored = Store::around(top).map(|store| store.hashes()).unwrap_or_default();
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let named = named.split([',', ' ']).map(|hash| hash.trim().to_ascii_lowercase());
    Confirmed(stored.into_iter().chain(named.filter(|hash| !hash.is_empty())).collect())
}

/// Who reads what is shown of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The person who decides, at a terminal.
    Person,
    /// Perhaps everybody: a log.
    Log,
}

/// `KEY = VALUE`, nothing in it hidden from the eye; a whole file over several lines.
pub(crate) fn shown(entry: &Entry, reader: Reader) -> String {
    if let Some(text) = &entry.text {
        let lines: Vec<String> = text.lines().map(|line| format!("  | {}", visible(line))).collect();
        return format!("{}\n{}", visible(&entry.key), lines.join("\n"));
    }
    let value = match reader {
        Reader::Log if entry.secret => masked(&entry.value),
        Reader::Log | Reader::Person => entry.value.clone(),
    };
    let replaces = entry.agent.as_deref().filter(|name| entry.key.ends_with(".command") && is_built_in(name));
    let remark =
        replaces.map_or_else(String::new, |name| format!("   (in place of the built-in agent '{name}')"));
    format!("{} = {}{remark}", visible(&entry.key), visible(&value))
}

/// The repository's own wording of what agents are told.
pub(crate) fn of_prompts(prompts: &Prompts) -> Option<Brought> {
    const PROMPTS: &str = ".dacapo/prompts";
    let entry = |kind: TemplateKind| {
        Some(Entry::file(&format!("{PROMPTS}/{}", kind.file_name()), prompts.text(kind)?))
    };
    Brought::new(PROMPTS, TemplateKind::ALL.into_iter().filter_map(entry).collect())
}

/// A file of the repository, as a whole.
pub(crate) fn of_file(path: &str, text: &str) -> Option<Brought> {
    Brought::new(path, vec![Entry::file(path, text)])
}

/// The script of the agent `rehearsal` that is taken where none is named: it runs commands.
pub(crate) fn of_script(top: &Path) -> Option<Brought> {
    const SCRIPT: &str = ".dacapo/rehearsal.yaml";
    of_file(SCRIPT, &std::fs::read_to_string(top.join(SCRIPT)).ok()?)
}

/// Whether one of these names is the agent that runs a script of the repository's.
pub(crate) fn names_a_script<'a>(names: impl IntoIterator<Item = &'a Option<String>>) -> bool {
    names.into_iter().flatten().any(|name| name.split(':').next() == Some("rehearsal"))
}

/// What is said of agents that are not what their names promise, however much that is trusted.
pub(crate) fn other_programs(agents: &[AgentSpec], loaded: &Loaded) -> Vec<String> {
    let one = |agent: &AgentSpec| {
        let AgentCommand::Argv(argv) = &agent.command else { return None };
        let from = match loaded.origin(&format!("agents.{}.command", agent.name)) {
            Origin::Default => return None,
            Origin::Project(..) => ".dacapo/config.toml".to_owned(),
            Origin::User(path, _) => path.display().to_string(),
            Origin::Env(name) | Origin::Flag(name) => name.clone(),
        };
        let command = visible(&argv.join(" "));
        is_built_in(&agent.name).then(|| format!("agent '{}' runs `{command}` (from {from})", agent.name))
    };
    let mut said: Vec<String> = agents.iter().filter_map(one).collect();
    said.dedup();
    said
}

/// Names that mean a certain program to whoever types them.
pub(crate) fn is_built_in(name: &str) -> bool {
    let known = dacapo_core::agent::BUILT_IN.iter().any(|adapter| adapter.name() == name);
    known || ["native", "rehearsal"].contains(&name)
}

/// Of an address the host; of another secret nothing.
fn masked(value: &str) -> String {
    let host = value.trim_matches('"').split_once("://").map(|(scheme, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest[..end].rsplit('@').next().unwrap_or_default();
        format!("\"{scheme}://{host}/***\"")
    });
    host.unwrap_or_else(|| "\"***\"".to_owned())
}

/// Characters that turn text around, or that take no place, could make one command look like another.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
    };
    let shown = |c: char| if hidden(c) && c != '\t' { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// `3 settings of .dacapo/config.toml`, for one line.
pub(crate) fn summary(source: &str, entries: usize) -> String {
    match source.ends_with(".toml") {
        true => format!("{} of {source}", words::count(entries as u64, "setting")),
        false => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_nothing_in_a_value_is_hidden_from_the_eye() {
        let entry = |key: &str, value: &str, secret: bool| Entry {
            key: key.to_owned(),
            value: value.to_owned(),
            secret,
            used_by: None,
            agent: Some("claude".to_owned()),
            text: None,
        };
        let evil = entry("agents.claude.command", "[\"sh\", \"-c\", \"ls \u{202e}\u{200b}x\"]", false);
        assert_eq!(
            shown(&evil, Reader::Person),
            "agents.claude.command = [\"sh\", \"-c\", \"ls \\u{202e}\\u{200b}x\"]   (in place of the built-in agent 'claude')"
        );
        let hook = entry("notify.webhook", "\"https://u:p@chat.example/hooks/T0K3N\"", true);
        assert_eq!(shown(&hook, Reader::Log), "notify.webhook = \"https://chat.example/***\"");
        assert_eq!(shown(&hook, Reader::Person), "notify.webhook = \"https://u:p@chat.example/hooks/T0K3N\"");
        let variable = entry("agents.x.env.A", "\"secret\"", true);
        assert_eq!(shown(&variable, Reader::Log), "agents.x.env.A = \"***\"");
        assert_eq!(
            shown(&Entry::file("a\u{1b}.md", "one\n\u{1b}[2J"), Reader::Log),
            "\"a\\u001B.md\"\n  | one\n  | \\u{1b}[2J"
        );
    }
}
