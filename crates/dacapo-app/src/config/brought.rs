//! What a project's file brings that could hurt whoever clones the project (R6): settings that run something, name an address or
//! a credential, or speak to an agent. They count only once the user has confirmed them, by content.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::path::KeyPath;
use super::text::{inline, quoted};

/// The part of the program that acts on a setting; `x-trust` in `types.rs` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Which agent runs, how, with which key, at which address, and what it is told.
    Agents,
    /// The project's own checks are run.
    Checks,
    /// A fresh worktree, or the checkout of a proof, is made usable.
    Setup,
    /// People are told about a task.
    Notify,
    /// Opens files.
    Editor,
    /// A pull request is opened.
    PullRequests,
}

impl Use {
    const ALL: [(&str, Use); 6] = [
        ("agents", Use::Agents),
        ("checks", Use::Checks),
        ("setup", Use::Setup),
        ("notify", Use::Notify),
        ("editor", Use::Editor),
        ("pull_requests", Use::PullRequests),
    ];
}

/// How far a project's own value of a setting is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sensitivity {
    /// It counts as it stands.
    Harmless,
    /// It counts once it is confirmed; a command that uses it asks.
    For(Use),
    /// It counts as far as it is not looser than the user's: a later choice of the list is stricter.
    Tighten,
    /// It counts on top of the user's.
    Add,
    /// It may stand in the user's own file alone.
    Own,
    /// Nobody has said. It is confirmed before anything else is done.
    Unclassified,
}

impl Sensitivity {
    /// Returns true if a project may set it without being asked about.
    pub(super) fn needs_no_word(self) -> bool {
        matches!(self, Self::Harmless | Self::Tighten | Self::Add)
    }

    pub(super) fn of(mark: Option<&str>) -> Self {
        match mark {
            Some("none") => Self::Harmless,
            Some("tighten") => Self::Tighten,
            Some("add") => Self::Add,
            Some("own") => Self::Own,
            Some(mark) => {
                let known = Use::ALL.iter().find(|(name, _)| *name == mark);
                known.map_or(Self::Unclassified, |(_, of)| Self::For(*of))
            }
            None => Self::Unclassified,
        }
    }
}

/// Something that a repository brings and a person is to confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// The file, from the top of the repository.
    pub source: String,
    /// What it says, each on its own.
    pub entries: Vec<Entry>,
    /// Stands for exactly this content: SHA-256, in hexadecimal.
    pub hash: String,
}

/// One setting, or one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The path of the setting, or the name of the file.
    pub key: String,
    /// The value as TOML.
    pub value: String,
    /// The value is not for logs.
    pub secret: bool,
    /// Who uses it; `None`: everybody.
    pub used_by: Option<Use>,
    /// The name of the agent, where it is a setting of one.
    pub agent: Option<String>,
    /// The text itself, where it is a file that is confirmed as a whole.
    pub text: Option<String>,
}

impl Brought {
    /// These entries of a file; `None` where there are none. The hash does not depend on their order, nor on anything else
    /// in the file.
    pub fn new(source: &str, mut entries: Vec<Entry>) -> Option<Self> {
        if entries.is_empty() {
            return None;
        }
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        let mut text = format!("dacapo trust 1\n{}\n", quoted(source));
        for entry in &entries {
            // A value is on one line and so is a key: nothing in them can look like another entry.
            let _ = writeln!(text, "{} = {}", entry.key, entry.value);
        }
        let hash = hmac_sha256::Hash::hash(text.as_bytes());
        let hash = hash.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Some(Self { source: source.to_owned(), entries, hash })
    }
}

impl Entry {
    pub(super) fn setting(path: &KeyPath, value: &toml::Value, used_by: Option<Use>, secret: bool) -> Self {
        let agent = match path.0.as_slice() {
            [agents, name, ..] if agents == "agents" => Some(name.clone()),
            _ => None,
        };
        Self { key: path.to_string(), value: inline(value), secret, used_by, agent, text: None }
    }

    /// A setting of git, or a line of one of its files.
    pub fn of_git(name: &str, value: Option<&str>) -> Self {
        let value = value.map_or_else(String::new, quoted);
        Self { key: name.to_owned(), value, secret: false, used_by: None, agent: None, text: None }
    }

    /// A file that is confirmed as a whole.
    pub fn file(name: &str, text: &str) -> Self {
        let (key, value) = (quoted(name), quoted(text));
        let used_by = Some(Use::Agents);
        Self { key, value, secret: false, used_by, agent: None, text: Some(text.to_owned()) }
    }
}

/// What the user has confirmed, by hash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confirmed(pub BTreeSet<String>);

impl Confirmed {
    /// Whether exactly this was confirmed.
    pub fn includes(&self, brought: &Brought) -> bool {
        self.0.contains(&brought.hash)
    }
}
