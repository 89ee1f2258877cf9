//! What a repository brings runs, or is obeyed, only after the user confirmed it once, by content (R6).
//!
//! What is not confirmed never reaches the settings ([`Project::Unconfirmed`](crate::config::Project)): a command that wants to use
//! it asks for the settings by what it uses ([`Using`]) and has it confirmed first; all others go by the user's own settings and say nothing.

mod store;
mod using;

use std::ffi::OsStr;
use std::path::Path;

pub use store::{Record, Store, directory};
pub use using::{Using, in_words, refused, unconfirmed};

use dacapo_core::proof::Suspect;
use dacapo_core::spec::{AgentCommand, AgentSpec};
use dacapo_core::task::milestone::{Prompts, TemplateKind};

use crate::App;
use crate::config::{Brought, Confirmed, Entry, Loaded, Origin, PROJECT_FILE, Sources};
use crate::messages::{Messages, Text, say};

/// Confirms exactly this content, by its hash; several are separated by commas.
pub const VARIABLE: &str = "DACAPO_TRUST";

/// What the user has confirmed of the repository around `top`.
pub fn confirmed(app: &App, top: &Path) -> Confirmed {
    let stored = Store::around(app, top).map(|store| store.hashes()).unwrap_or_default();
    let named = app.var(VARIABLE).and_then(OsStr::to_str).unwrap_or_default();
    let named = named.split([',', ' ']).map(|hash| hash.trim().to_ascii_lowercase());
    Confirmed(stored.into_iter().chain(named.filter(|hash| !hash.is_empty())).collect())
}

impl App {
    /// Where the settings in the repository whose top directory is given are read from.
    pub fn project_sources(&self, top: &Path) -> Sources {
        Sources {
            project_file: Some(top.join(PROJECT_FILE)),
            confirmed: confirmed(self, top),
            ..self.user_sources()
        }
    }
}

/// Who reads what is shown of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The person who decides, at a terminal.
    Person,
    /// Perhaps everybody: a log.
    Log,
}

/// `KEY = VALUE`, nothing in it hidden from the eye; a whole file over several lines.
pub fn shown(entry: &Entry, reader: Reader, messages: Messages) -> String {
    if let Some(text) = &entry.text {
        let lines: Vec<String> = text.lines().map(|line| format!("  | {}", visible(line))).collect();
        return format!("{}\n{}", visible(&entry.key), lines.join("\n"));
    }
    let value = match reader {
        Reader::Log if entry.secret => masked(&entry.value),
        Reader::Log | Reader::Person => entry.value.clone(),
    };
    let replaces = entry.agent.as_deref().filter(|name| entry.key.ends_with(".command") && is_built_in(name));
    let remark = replaces.map_or_else(String::new, |name| messages.trust_in_place_of(name));
    format!("{} = {}{remark}", visible(&entry.key), visible(&value))
}

/// The repository's own wording of what agents are told.
pub fn of_prompts(prompts: &Prompts) -> Option<Brought> {
    const PROMPTS: &str = ".dacapo/prompts";
    let entry = |kind: TemplateKind| {
        Some(Entry::file(&format!("{PROMPTS}/{}", kind.file_name()), prompts.text(kind)?))
    };
    Brought::new(PROMPTS, TemplateKind::ALL.into_iter().filter_map(entry).collect())
}

/// A file of the repository, as a whole.
pub fn of_file(path: &str, text: &str) -> Option<Brought> {
    Brought::new(path, vec![Entry::file(path, text)])
}

/// The name under which git's own settings are confirmed.
pub(crate) const GIT_SETTINGS: &str = ".git";

/// Settings of git that were made while an agent ran: until they are confirmed, proofs do without them.
pub fn of_git(suspects: &[Suspect]) -> Option<Brought> {
    let entry = |suspect: &Suspect| Entry::of_git(&suspect.name, suspect.value.as_deref());
    Brought::new(GIT_SETTINGS, suspects.iter().map(entry).collect())
}

/// The script of the agent `rehearsal` that is taken where none is named: it runs commands.
pub fn of_script(top: &Path) -> Option<Brought> {
    const SCRIPT: &str = ".dacapo/rehearsal.yaml";
    of_file(SCRIPT, &std::fs::read_to_string(top.join(SCRIPT)).ok()?)
}

/// Whether one of these names is the agent that runs a script of the repository's.
pub fn names_a_script<'a>(names: impl IntoIterator<Item = &'a Option<String>>) -> bool {
    names.into_iter().flatten().any(|name| name.split(':').next() == Some("rehearsal"))
}

/// What is said of agents that are not what their names promise, however much that is trusted.
pub fn other_programs(agents: &[AgentSpec], loaded: &Loaded) -> Vec<Text> {
    let one = |agent: &AgentSpec| {
        let AgentCommand::Argv(argv) = &agent.command else { return None };
        let from = match loaded.origin(&format!("agents.{}.command", agent.name)) {
            Origin::Default => return None,
            Origin::Project { .. } => ".dacapo/config.toml".to_owned(),
            Origin::User { path, .. } => path.display().to_string(),
            Origin::Env { name } | Origin::Flag { name } => name.clone(),
        };
        let command = visible(&argv.join(" "));
        is_built_in(&agent.name).then(|| say(|m| m.agent_runs_other_program(&agent.name, &command, &from)))
    };
    let mut said: Vec<Text> = agents.iter().filter_map(one).collect();
    said.dedup();
    said
}

/// Names that mean a certain program to whoever types them.
pub fn is_built_in(name: &str) -> bool {
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
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
    };
    let shown = |c: char| if hidden(c) && c != '\t' { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// `3 settings of .dacapo/config.toml`, for one line.
pub fn summary(source: &str, entries: usize, messages: Messages) -> String {
    match source.ends_with(".toml") {
        true => messages.trust_settings_of(entries as u64, source),
        false => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_from_the_users_and_the_projects_file() {
        let env = [("DACAPO_LANGUAGE", "zh-CN"), ("PATH", "/bin")];
        let app = App {
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: Ok("/here".into()),
            user_dir: Some("/home/me".into()),
            program: "dacapo".into(),
            supervision: dacapo_core::process::Supervision::default(),
            kinds: dacapo_core::engine::Kinds::default(),
            messages: Messages::ENGLISH,
            notes: crate::note::Notes::default(),
        };
        let sources = app.project_sources(Path::new("/repo"));
        assert_eq!(sources.user_file.as_deref(), Some(Path::new("/home/me/.config/dacapo/config.toml")));
        assert_eq!(sources.project_file.as_deref(), Some(Path::new("/repo/.dacapo/config.toml")));
        assert_eq!(sources.env, [("DACAPO_LANGUAGE".to_owned(), std::ffi::OsString::from("zh-CN"))]);
    }

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
            shown(&evil, Reader::Person, Messages::ENGLISH),
            "agents.claude.command = [\"sh\", \"-c\", \"ls \\u{202e}\\u{200b}x\"]   (in place of the built-in agent 'claude')"
        );
        let hook = entry("notify.webhook", "\"https://u:p@chat.example/hooks/T0K3N\"", true);
        assert_eq!(
            shown(&hook, Reader::Log, Messages::ENGLISH),
            "notify.webhook = \"https://chat.example/***\""
        );
        assert_eq!(
            shown(&hook, Reader::Person, Messages::ENGLISH),
            "notify.webhook = \"https://u:p@chat.example/hooks/T0K3N\""
        );
        let variable = entry("agents.x.env.A", "\"secret\"", true);
        assert_eq!(shown(&variable, Reader::Log, Messages::ENGLISH), "agents.x.env.A = \"***\"");
        assert_eq!(
            shown(&Entry::file("a\u{1b}.md", "one\n\u{1b}[2J"), Reader::Log, Messages::ENGLISH),
            "\"a\\u001B.md\"\n  | one\n  | \\u{1b}[2J"
        );
    }
}
