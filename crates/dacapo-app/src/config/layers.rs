//! Defaults < user file < project file < environment < flags (C11), key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use toml::{Table, Value};

use super::brought::{self, Brought, Confirmed, Sensitivity};
use super::path::KeyPath;
use super::problem::{ConfigError, Problem, ValueLocation};
use super::shape::{self, Fitted, Shape};
use super::types::Config;
use super::{environment, file};
use crate::messages::{Language, Messages, Text, say};

/// The project's file, from the top of the repository.
pub const PROJECT_FILE: &str = ".dacapo/config.toml";

/// What the settings are read from. Explicit, so that a test or another program never meets the real home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The user's file; it need not exist.
    pub user_file: Option<PathBuf>,
    /// The project's file; it need not exist.
    pub project_file: Option<PathBuf>,
    /// The environment; only `DACAPO_…` is looked at.
    pub env: Vec<(String, OsString)>,
    /// What of the project's file the user has confirmed.
    pub confirmed: Confirmed,
    /// The language of the user's locale, with the variable that says so.
    pub locale: Option<(&'static str, Language)>,
}

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The user's own config file.
    User {
        /// The file.
        #[serde(serialize_with = "as_shown")]
        path: PathBuf,
        /// The line in it, from 1.
        line: usize,
    },
    /// The config file of the repository.
    Project {
        /// The file.
        #[serde(serialize_with = "as_shown")]
        path: PathBuf,
        /// The line in it, from 1.
        line: usize,
    },
    /// An environment variable.
    Env {
        /// The variable.
        name: String,
    },
    /// A flag of the command.
    Flag {
        /// The flag.
        name: String,
    },
}

/// A path may be no text, and JSON is.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl Origin {
    pub fn in_words(&self, messages: Messages) -> String {
        let at = |path: &Path, line: &usize| format!("{}:{line}", messages.path(path));
        match self {
            Origin::Default => messages.origin_default(),
            Origin::User { path, line } => messages.origin_user(&at(path, line)),
            Origin::Project { path, line } => messages.origin_project(&at(path, line)),
            Origin::Env { name } => messages.origin_env(name),
            Origin::Flag { name } => messages.origin_flag(name),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::User { path, line } => write!(f, "user {}:{line}", path.display()),
            Origin::Project { path, line } => write!(f, "project {}:{line}", path.display()),
            Origin::Env { name } => write!(f, "env {name}"),
            Origin::Flag { name } => write!(f, "flag {name}"),
        }
    }
}

/// The settings in effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub config: Config,
    /// Where each comes from, by dotted path; every setting is in it, the ones without a value too.
    pub origins: BTreeMap<String, Origin>,
    /// What was set but does not count as it stands. To be shown, never a reason to stop.
    pub warnings: Vec<Text>,
    /// What the project's file brings that needs a person's word.
    pub project: Project,
}

/// What the project's file brings that needs a person's word (R6).
#[derive(Debug, Clone, PartialEq)]
pub enum Project {
    /// Nothing that needs confirmation.
    Harmless,
    /// This, and the user has confirmed it: it takes effect.
    Confirmed(Brought),
    /// This, and nothing of it counts.
    Unconfirmed {
        brought: Brought,
        /// The settings as they would be if it did.
        then: Box<Loaded>,
    },
}

impl Loaded {
    /// The settings as they would be if everything in the project's file counted.
    pub fn as_written(&self) -> &Loaded {
        match &self.project {
            Project::Harmless | Project::Confirmed(_) => self,
            Project::Unconfirmed { then, .. } => then,
        }
    }

    /// Where the value of a setting comes from.
    pub fn origin(&self, path: &str) -> &Origin {
        self.origins.get(path).unwrap_or(&Origin::Default)
    }
}

/// Reads and merges files and environment, for callers without flags.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    Layers::read(sources)?.load()
}

/// The same, as if one of the files held these bytes.
pub fn load_as_if(sources: &Sources, file: &Path, bytes: &[u8]) -> Result<Loaded, ConfigError> {
    let read = |path: &Path| match path == file {
        true => file::parse(path, bytes, shape::root()),
        false => file::read(path, shape::root()),
    };
    Layers::read_by(sources, read)?.load()
}

/// Files and environment, merged and open for flags.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    settings: BTreeMap<KeyPath, Setting>,
    warnings: Vec<Text>,
    project: Withheld,
}

/// What became of what the project's file brings.
#[derive(Debug, Clone, Default)]
enum Withheld {
    #[default]
    Harmless,
    Confirmed(Brought),
    /// The settings without it.
    Unconfirmed(Brought, Box<Layers>),
}

#[derive(Debug, Clone)]
struct Setting {
    value: Value,
    origin: Origin,
    place: ValueLocation,
    /// Said only if this value wins: a clamp that is overridden changes nothing.
    note: Option<Text>,
}

impl Layers {
    /// Reads the sources. What is wrong in any of them is reported together.
    pub fn read(sources: &Sources) -> Result<Layers, ConfigError> {
        Self::read_by(sources, |path| file::read(path, shape::root()))
    }

    fn read_by(
        sources: &Sources,
        read: impl Fn(&Path) -> Result<Vec<file::Entry>, Vec<Problem>>,
    ) -> Result<Layers, ConfigError> {
        let mut problems = Vec::new();
        let mut entries = |path: &Option<PathBuf>| match path.as_deref().map(&read) {
            Some(Ok(entries)) => entries,
            Some(Err(found)) => {
                problems.extend(found);
                Vec::new()
            }
            None => Vec::new(),
        };
        let (user, mut project) = (entries(&sources.user_file), entries(&sources.project_file));
        problems.extend(not_a_projects(&project));
        let mut layers = Layers::default();
        problems.extend(layers.pile([(&user, of_user), (&project, of_project)], sources));
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        layers.project = match brought(&project) {
            None => Withheld::Harmless,
            Some(brought) if sources.confirmed.includes(&brought) => Withheld::Confirmed(brought),
            Some(brought) => {
                // Piled up again without it, rather than taken out of the pile: a value of the user's that it covered
                // must come back.
                project.retain(|entry| sensitivity(entry).needs_no_word());
                let mut without = Layers::default();
                let _ = without.pile([(&user, of_user), (&project, of_project)], sources);
                Withheld::Unconfirmed(brought, Box::new(without))
            }
        };
        Ok(layers)
    }

    /// Puts the locale, files and the environment on each other; gives back what is wrong in the latter.
    fn pile(&mut self, files: [(&Vec<file::Entry>, OriginOf); 2], sources: &Sources) -> Vec<Problem> {
        if let Some((variable, language)) = sources.locale {
            let fitted = Fitted { value: language.tag().into(), clamped: None };
            let origin = Origin::Env { name: variable.to_owned() };
            self.put(
                KeyPath(vec!["language".to_owned()]),
                fitted,
                origin,
                ValueLocation::Env(variable.to_owned()),
            );
        }
        for (entries, origin) in files {
            for entry in entries.iter().cloned() {
                if let ValueLocation::File { path, line, .. } = &entry.place {
                    let origin = origin(path.clone(), *line);
                    let tightened = self.tightened(&entry, &origin);
                    self.put(entry.path, tightened, origin, entry.place);
                }
            }
        }
        let known: Vec<KeyPath> = self.settings.keys().cloned().collect();
        let found = environment::read(&sources.env, shape::root(), &known);
        for (path, fitted, name) in found.entries {
            self.put(path, fitted, Origin::Env { name: name.clone() }, ValueLocation::Env(name));
        }
        self.warnings.extend(found.warnings);
        found.problems
    }

    /// What an entry sets: of a project's, what is not looser than what the user has.
    fn tightened(&mut self, entry: &file::Entry, origin: &Origin) -> Fitted {
        if !matches!(origin, Origin::Project { .. }) {
            return entry.fitted.clone();
        }
        let Some(leaf) = shape::root().leaf(&entry.path) else { return entry.fitted.clone() };
        let users = self.settings.get(&entry.path).map(|setting| &setting.value);
        let given = &entry.fitted.value;
        let Some(value) = leaf.beside(given, users) else { return entry.fitted.clone() };
        if leaf.sensitivity == Sensitivity::Tighten {
            let (key, place) = (entry.path.to_string(), entry.place.clone());
            let (given, used) = (given.to_string(), value.to_string());
            self.warnings
                .push(say(|m| m.config_project_may_not_loosen(&key, &place.in_words(m), &given, &used)));
        }
        Fitted { value, clamped: None }
    }

    /// Sets what a flag says, over everything else. `flag` is its name for messages (`--no-commit`), `path` the
    /// setting's (`spawn_task.context_passing.auto_commit`).
    pub fn set_flag(&mut self, flag: &str, path: &str, value: impl Into<Value>) -> Result<(), ConfigError> {
        let place = ValueLocation::Flag(flag.to_owned());
        let leaf = KeyPath::parse(path).and_then(|keys| shape::root().leaf(&keys).map(|leaf| (keys, leaf)));
        let Some((keys, leaf)) = leaf else {
            let suggestion = shape::root().suggest_key(path);
            return Err(Problem::UnknownKey { key: path.to_owned(), place, suggestion }.into());
        };
        let fitted = leaf
            .fit(&value.into())
            .map_err(|misfit| ConfigError::from(Problem::wrong_value(&keys, place.clone(), misfit)))?;
        if let Withheld::Unconfirmed(_, without) = &mut self.project {
            without.put(keys.clone(), fitted.clone(), Origin::Flag { name: flag.to_owned() }, place.clone());
        }
        self.put(keys, fitted, Origin::Flag { name: flag.to_owned() }, place);
        Ok(())
    }

    fn put(&mut self, path: KeyPath, fitted: Fitted, origin: Origin, place: ValueLocation) {
        let Fitted { value, clamped } = fitted;
        let (key, used) = (path.to_string(), value.to_string());
        let note =
            clamped.map(|(min, max)| say(|m| m.config_clamped(&key, &place.in_words(m), min, max, &used)));
        self.settings.insert(path, Setting { value, origin, place, note });
    }

    /// The settings in effect.
    pub fn load(mut self) -> Result<Loaded, ConfigError> {
        match std::mem::take(&mut self.project) {
            Withheld::Harmless => self.merged(Project::Harmless),
            Withheld::Confirmed(brought) => self.merged(Project::Confirmed(brought)),
            Withheld::Unconfirmed(brought, without) => {
                let then = self.merged(Project::Confirmed(brought.clone()))?;
                without.merged(Project::Unconfirmed { brought, then: Box::new(then) })
            }
        }
    }

    fn merged(self, project: Project) -> Result<Loaded, ConfigError> {
        let mut problems = self.missing_keys();
        problems.extend(self.misplaced_keys());
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        let mut root = Table::new();
        let mut warnings = self.warnings.clone();
        for (path, setting) in &self.settings {
            insert(&mut root, &path.0, setting.value.clone());
            warnings.extend(setting.note.clone());
        }
        let config: Config = root.try_into().map_err(|error: toml::de::Error| {
            // Every value fitted its shape, so this is a mistake in the types; say so rather than panic.
            let place = ValueLocation::Flag("the merged settings".to_owned());
            ConfigError::from(Problem::NotToml { place, message: error.message().to_owned() })
        })?;
        let mut origins: BTreeMap<String, Origin> =
            paths(&config).into_iter().map(|path| (path.to_string(), Origin::Default)).collect();
        origins.extend(self.settings.into_iter().map(|(path, setting)| (path.to_string(), setting.origin)));
        Ok(Loaded { config, origins, warnings, project })
    }

    /// Keys without which a table means nothing: a price for input but none for output would make costs too low.
    fn missing_keys(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        for (path, setting) in &self.settings {
            let Some((_, parent)) = path.0.split_last() else { continue };
            let Some(Shape::Table { required, .. }) =
                parent.iter().try_fold(shape::root(), |shape, key| shape.get(key))
            else {
                continue;
            };
            let table = KeyPath(parent.to_vec());
            for key in required {
                if !self.settings.contains_key(&table.join(key)) && seen.insert(table.join(key)) {
                    let (key, table) = (key.clone(), table.to_string());
                    problems.push(Problem::MissingKey { key, table, place: setting.place.clone() });
                }
            }
        }
        problems
    }

    /// `script` belongs to the scripted agent alone (A5); elsewhere it would be silently ignored.
    fn misplaced_keys(&self) -> Vec<Problem> {
        const AGENT: &str = "rehearsal";
        let misplaced = self.settings.iter().filter(|(path, _)| {
            matches!(path.0.iter().map(String::as_str).collect::<Vec<_>>()[..],
                     ["agents", name, "script"] if name != AGENT)
        });
        misplaced
            .map(|(path, setting)| {
                let (key, place) = (path.to_string(), setting.place.clone());
                Problem::OnlyFor { key, agent: AGENT, place }
            })
            .collect()
    }
}

/// What origin an entry of a file has.
type OriginOf = fn(PathBuf, usize) -> Origin;

fn of_user(path: PathBuf, line: usize) -> Origin {
    Origin::User { path, line }
}

fn of_project(path: PathBuf, line: usize) -> Origin {
    Origin::Project { path, line }
}

fn sensitivity(entry: &file::Entry) -> Sensitivity {
    shape::root().leaf(&entry.path).map_or(Sensitivity::Unclassified, |leaf| leaf.sensitivity)
}

/// Settings of a project's file that only the user's own file may have.
fn not_a_projects(entries: &[file::Entry]) -> Vec<Problem> {
    let own = entries.iter().filter(|entry| sensitivity(entry) == Sensitivity::Own);
    own.map(|entry| Problem::OwnFileOnly { key: entry.path.to_string(), place: entry.place.clone() })
        .collect()
}

/// What of these settings needs a person's word.
fn brought(entries: &[file::Entry]) -> Option<Brought> {
    let sensitive = entries.iter().filter_map(|entry| {
        let used_by = match sensitivity(entry) {
            Sensitivity::Harmless | Sensitivity::Tighten | Sensitivity::Add => return None,
            Sensitivity::For(used_by) => Some(used_by),
            Sensitivity::Own | Sensitivity::Unclassified => None,
        };
        let secret = shape::root().leaf(&entry.path).is_none_or(|leaf| leaf.secret);
        Some(brought::Entry::setting(&entry.path, &entry.fitted.value, used_by, secret))
    });
    Brought::new(PROJECT_FILE, sensitive.collect())
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> ConfigError {
        ConfigError { problems: vec![problem] }
    }
}

/// The paths of all settings, in the order of the types.
pub(super) fn paths(config: &Config) -> Vec<KeyPath> {
    let tree = tree(config);
    shape::root().leaves(&|map| {
        lookup(&tree, map)
            .and_then(Value::as_table)
            .map_or(Vec::new(), |names| names.keys().cloned().collect())
    })
}

/// The config as plain values.
pub(super) fn tree(config: &Config) -> Value {
    // Cannot fail: every type in it is a TOML one (a test serialises each).
    Value::try_from(config).unwrap_or_else(|_| Value::Table(Table::new()))
}

/// The value at a path, where there is one.
pub(super) fn lookup<'a>(tree: &'a Value, path: &KeyPath) -> Option<&'a Value> {
    path.0.iter().try_fold(tree, |value, key| value.get(key))
}

fn insert(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [key] => {
            table.insert(key.clone(), value);
        }
        [key, rest @ ..] => {
            let inner = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
