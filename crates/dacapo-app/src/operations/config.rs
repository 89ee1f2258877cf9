//! The settings: read with where each comes from, and changed, one at a time by us or as a whole in the user's editor.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::App;
use crate::agents;
use crate::config::{
    ConfigError, Loaded, Origin, PROJECT_FILE, Project, Sources, Whose, load, load_as_if, sample, set, unset,
};
use crate::error::Failure;
use crate::messages::{Messages, Text, say};
use crate::new_files::{NewFile, create_new};

/// A new file of the user's: addresses in it may be secrets. The project's is for everybody who has the project.
const OWN_MODE: u32 = 0o600;
const SHARED_MODE: u32 = 0o666;

/// The setting that says who works.
const AGENT: &str = "agent";

/// What came of the change of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// The file, as it is shown.
    pub path: String,
    pub written: Written,
    pub effect: Effect,
}

/// What became of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    Changed,
    /// It says so already.
    AsItWas,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// What comes from here; for a whole table, what the file says.
    From { origin: Origin },
    /// Nothing of the project's file that needs a person's word: it was not trusted before.
    Untrusted,
    /// It has no effect yet: there are further mistakes.
    StillWrong { problems: Text },
}

/// A file that a person is about to write in.
#[derive(Debug)]
pub struct ConfigFile {
    pub path: PathBuf,
    whose: Whose,
    sources: Sources,
    /// The top of the checkout, of a project's file.
    top: Option<PathBuf>,
    /// What it says counts already: so does what the user adds to it (R6).
    trusted: bool,
}

/// What a person wrote.
#[derive(Debug)]
pub struct WrittenByHand {
    pub loaded: Loaded,
    /// It has no effect until it is trusted.
    pub untrusted: bool,
}

impl App {
    /// Where the settings that count here are read from.
    pub fn config_sources(&self) -> Sources {
        let repo = self.here().ok().and_then(|here| self.discover(here).ok());
        match repo {
            Some(repo) => self.project_sources(repo.toplevel()),
            None => self.user_sources(),
        }
    }

    /// The user's file, or the project's. It need not be there.
    pub fn config_file(&self, whose: Whose) -> Result<ConfigFile, Failure> {
        let (sources, top) = match whose {
            Whose::User => (self.user_sources(), None),
            Whose::Project => {
                let top = self.repository()?.0.toplevel().to_owned();
                (self.project_sources(&top), Some(top))
            }
        };
        let path = match &top {
            Some(top) => top.join(PROJECT_FILE),
            None => sources.user_file.clone().ok_or_else(|| {
                Failure::usage(say(Messages::config_no_home)).hint(say(Messages::config_set_home))
            })?,
        };
        let trusted = is_trusted(&load(&sources));
        Ok(ConfigFile { path, whose, sources, top, trusted })
    }

    pub fn set_config(&self, whose: Whose, key: &str, value: &str) -> Result<ConfigChange, Failure> {
        if key == AGENT {
            self.refuse_unknown_agents(value)?;
        }
        self.change_config(whose, key, |path, text| set(path, text, key, value).map(Some))
    }

    /// Takes one setting out of the file.
    pub fn unset_config(&self, whose: Whose, key: &str) -> Result<ConfigChange, Failure> {
        self.change_config(whose, key, |path, text| unset(path, text, key))
    }

    /// Who cannot work is not set to. Files that cannot be read say nothing about who can.
    fn refuse_unknown_agents(&self, listed: &str) -> Result<(), Failure> {
        let Ok(loaded) = load(&self.config_sources()) else { return Ok(()) };
        match agents::unknown_among(self, listed, &loaded.config) {
            Some(failure) => Err(failure.kept(say(Messages::kept_nothing_changed))),
            None => Ok(()),
        }
    }

    fn change_config(
        &self,
        whose: Whose,
        key: &str,
        edit: impl Fn(&Path, &str) -> Result<Option<String>, ConfigError>,
    ) -> Result<ConfigChange, Failure> {
        let file = self.config_file(whose)?;
        let path = file.path.display().to_string();
        let place = behind_links(&file.path, whose)?;
        // What is wrong with the request makes no folder.
        edit(&file.path, &text_of(&place)?.unwrap_or_default()).map_err(refused)?;
        let in_the_way = |error: io::Error| unwritten(&place, &error);
        let folder = folder(&place).map_err(in_the_way)?;
        // Two changes at once: each sees what the other wrote. The lock ends with this process.
        folder.lock().map_err(in_the_way)?;
        let text = text_of(&place)?.unwrap_or_default();
        let after = edit(&file.path, &text).map_err(refused)?.unwrap_or_else(|| text.clone());
        let stood = load_as_if(&file.sources, &file.path, text.as_bytes());
        if let Err(error) = load_as_if(&file.sources, &file.path, after.as_bytes()) {
            // Who mends one mistake after the other is let.
            let fewer = stood.as_ref().is_err_and(|before| error.problems.len() < before.problems.len());
            if !fewer {
                return Err(refused(error));
            }
        }
        let file = ConfigFile { trusted: is_trusted(&stood), ..file };
        let written = match after == text {
            true => Written::AsItWas,
            false => {
                replace(&place, &after, whose).map_err(in_the_way)?;
                Written::Changed
            }
        };
        // Another file may have the last word, or be wrong.
        let effect = match load_as_if(&self.config_sources(), &file.path, after.as_bytes()) {
            Ok(loaded) => self.effect(&file, &loaded, key),
            Err(error) => Effect::StillWrong { problems: Failure::from(error).message },
        };
        Ok(ConfigChange { path, written, effect })
    }

    fn effect(&self, file: &ConfigFile, loaded: &Loaded, key: &str) -> Effect {
        let untrusted = self.trust_own(file, loaded);
        let origin = loaded.as_written().origin(key).clone();
        match untrusted && loaded.origin(key) != &origin {
            true => Effect::Untrusted,
            false => Effect::From { origin },
        }
    }

    /// Trusts what the user wrote (R6), unless something in it came with the repository. Whether it is left untrusted.
    fn trust_own(&self, file: &ConfigFile, loaded: &Loaded) -> bool {
        match (&loaded.project, &file.top) {
            (Project::Unconfirmed { brought, .. }, Some(top)) if file.trusted => {
                self.keep_trust(top, brought);
                false
            }
            (Project::Unconfirmed { .. }, Some(_)) => true,
            (Project::Unconfirmed { .. } | Project::Harmless | Project::Confirmed(_), _) => false,
        }
    }

    /// Makes the file from a sample where there is none.
    pub fn create_config(&self, file: &ConfigFile) -> Result<NewFile, Failure> {
        create_new(&file.path, sample(file.whose).as_bytes())
    }

    /// Checks what a person wrote. It is kept, whatever it is; `again` are the words of the command that opens the file once more.
    pub fn take_config(&self, file: &ConfigFile, again: &str) -> Result<WrittenByHand, Failure> {
        let loaded = load(&file.sources).map_err(|error| Failure {
            hints: vec![
                say(|m| m.config_opens_again(&m.command(again))),
                say(Messages::hint_schema_lists_keys),
            ],
            ..Failure::from(error)
                .kept(say(|m| m.config_kept_what_you_wrote(&file.path.display().to_string())))
        })?;
        let untrusted = self.trust_own(file, &loaded);
        Ok(WrittenByHand { loaded, untrusted })
    }

    /// The editor for the settings. The project has no say: its settings may be what is to be mended.
    pub fn config_editor(&self) -> Result<String, Failure> {
        let set =
            ["VISUAL", "EDITOR"].into_iter().filter_map(|name| self.var(name)?.to_str().map(str::to_owned));
        let own = load(&self.user_sources()).ok().and_then(|loaded| loaded.config.editor);
        if let Some(editor) = set.chain(own).find(|editor| !editor.trim().is_empty()) {
            return Ok(editor);
        }
        match ["nano", "vim", "vi"].into_iter().find(|name| self.on_path(name).is_some()) {
            Some(name) => Ok(name.to_owned()),
            None => Err(Failure::usage(say(Messages::open_no_editor))
                .hint("EDITOR=… dacapo config edit")
                .hint(say(Messages::config_path_shows))),
        }
    }
}

fn is_trusted(loaded: &Result<Loaded, ConfigError>) -> bool {
    loaded.as_ref().is_ok_and(|loaded| match loaded.project {
        Project::Harmless | Project::Confirmed(_) => true,
        Project::Unconfirmed { .. } => false,
    })
}

fn refused(error: ConfigError) -> Failure {
    Failure {
        hints: vec![say(Messages::hint_schema_lists_keys)],
        ..Failure::from(error).kept(say(Messages::kept_nothing_changed))
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let (path, error) = (path.display().to_string(), error.to_string());
    Failure::failed(say(|m| m.cannot_be_written(&path, &error)))
        .kept(say(Messages::kept_nothing_changed))
        .hint(say(Messages::config_path_shows))
}

/// Where the file itself is. Users keep their settings among their dotfiles and link to them, or to the folder; the project's file
/// stays where it is said to be, since a repository can bring a link that leads anywhere.
fn behind_links(path: &Path, whose: Whose) -> Result<PathBuf, Failure> {
    match whose {
        Whose::Project => return Ok(path.to_owned()),
        Whose::User => {}
    }
    if let Ok(file) = path.canonicalize() {
        return Ok(file);
    }
    if path.is_symlink() {
        let path = path.display().to_string();
        return Err(unusable(say(|m| m.config_link_to_nothing(&path))));
    }
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    Ok(folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name)))
}

fn unusable(message: Text) -> Failure {
    Failure::usage(message)
        .kept(say(Messages::kept_nothing_changed))
        .hint(say(Messages::config_plain_file_instead))
}

/// The text of the file, `None` if it does not exist. A symbolic link is not followed.
fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    let shown = path.display().to_string();
    let unreadable = |error: io::Error| {
        let error = error.to_string();
        unusable(say(|m| m.cannot_read(&shown, &error)))
    };
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(found) if found.is_symlink() => {
            return Err(unusable(say(|m| m.config_is_a_link(&shown))));
        }
        Ok(_) => return Err(unusable(say(|m| m.config_not_a_file(&shown)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    }
    // What was put in its place since is not followed, nor waited for.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut text = String::new();
    let read = fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    read.and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text)).map_err(unreadable)?;
    Ok(Some(text))
}

/// More than a config file may have; one that is longer is refused by whoever reads it for its settings.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// The folder of the file, which is made where it is not there, and is no link.
fn folder(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let flags = (OFlags::NOFOLLOW | OFlags::DIRECTORY).bits().cast_signed();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(folder)
}

/// Puts a new text in the place of the file, complete or not at all, with the permissions it had.
fn replace(path: &Path, text: &str, whose: Whose) -> io::Result<()> {
    let mode = match whose {
        Whose::User => OWN_MODE,
        Whose::Project => SHARED_MODE,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new()
        .prefix(".config-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Ok(found) = path.symlink_metadata() {
        new.as_file().set_permissions(Permissions::from_mode(found.permissions().mode() & 0o777))?;
    }
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests;
