//! Whom everything is done for: the user's environment, where they stand, where their tasks are. A surface fills it in
//! once, at its edge; nothing below asks the process.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dacapo_core::engine::Kinds;
use dacapo_core::env::Env;
use dacapo_core::git::{DiscoverError, Repo};
use dacapo_core::process::Supervision;
use dacapo_core::store::Home;

use crate::config::{self, Confirmed, Sources};
use crate::error::Failure;
use crate::messages::{Language, Messages, say};
use crate::note::{Note, Notes};

/// What a surface knows about its user.
#[derive(Debug, Clone)]
pub struct App {
    pub env: Env,
    /// Where the user is, or why that cannot be told.
    pub cwd: Result<PathBuf, String>,
    /// The user's home directory.
    pub user_dir: Option<PathBuf>,
    /// The program `dacapo`, which is run again for guards and for tasks in the background.
    pub program: PathBuf,
    /// How git is kept from running for ever.
    pub supervision: Supervision,
    /// The kinds of task that there are.
    pub kinds: Kinds,
    /// What is said, in the language that the user reads.
    pub messages: Messages,
    /// Who hears what happens beside what was asked for.
    pub notes: Notes,
}

impl App {
    /// Tells the user something that they did not ask for.
    pub fn note(&self, note: &Note) {
        self.notes.tell(note);
    }

    /// The repository around a directory; its git can be stopped, and ends with us.
    pub fn discover(&self, dir: &Path) -> Result<Repo, DiscoverError> {
        Repo::discover_under(dir, &self.env, &self.supervision)
    }

    /// A variable of the user's environment.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(name)
    }

    pub fn here(&self) -> Result<&Path, Failure> {
        self.cwd.as_deref().map_err(|error| {
            Failure::usage(say(|m| m.directory_unusable(error))).hint(say(Messages::directory_go_elsewhere))
        })
    }

    /// The data directory: `$DACAPO_HOME`, else `dacapo` in the user's data directory.
    pub fn home(&self) -> Result<Home, Failure> {
        if let Some(path) = self.var("DACAPO_HOME").filter(|path| !path.is_empty()) {
            let path = if Path::new(path).is_absolute() { path.into() } else { self.here()?.join(path) };
            return std::path::absolute(path).map(Home::new).map_err(|error| {
                let error = error.to_string();
                Failure::usage(say(|m| m.home_unusable(&error)))
            });
        }
        self.base_dir("XDG_DATA_HOME", ".local/share").map(|dir| Home::new(dir.join("dacapo"))).ok_or_else(
            || Failure::usage(say(Messages::home_none)).hint(say(|m| m.hint_set_variable("DACAPO_HOME"))),
        )
    }

    /// The language that the user reads, by settings or locale: cheaper than reading all settings.
    pub fn language(&self) -> Language {
        let top =
            self.cwd.as_deref().ok().and_then(|cwd| cwd.ancestors().find(|dir| dir.join(".git").exists()));
        let project_file = top.map(|top| top.join(config::PROJECT_FILE));
        config::language(&Sources { project_file, ..self.user_sources() })
    }

    /// Where the settings outside of any repository are read from.
    pub fn user_sources(&self) -> Sources {
        let config_dir = self.base_dir("XDG_CONFIG_HOME", ".config");
        let env =
            self.env.iter().filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.clone())));
        Sources {
            user_file: config_dir.map(|dir| dir.join("dacapo").join("config.toml")),
            project_file: None,
            env: env.filter(|(name, _)| name.starts_with("DACAPO_")).collect(),
            confirmed: Confirmed::default(),
            locale: Language::of_environment(|name| self.var(name)),
        }
    }

    /// Where git reads the user's own settings, and so which commands it runs.
    pub(crate) fn git_settings(&self) -> impl Iterator<Item = PathBuf> {
        let own = self.user_dir.as_ref().map(|home| home.join(".gitconfig"));
        own.into_iter().chain(self.base_dir("XDG_CONFIG_HOME", ".config").map(|config| config.join("git")))
    }

    /// A directory of the XDG base directory specification: relative ones do not count.
    fn base_dir(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let set = self.var(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| self.user_dir.as_ref().map(|home| home.join(below_home)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(env: &[(&str, &str)]) -> App {
        App {
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: Ok("/here".into()),
            user_dir: Some("/home/me".into()),
            program: "dacapo".into(),
            supervision: Supervision::default(),
            kinds: Kinds::default(),
            messages: Messages::ENGLISH,
            notes: Notes::default(),
        }
    }

    #[test]
    fn the_data_directory_is_named_or_the_users_own() {
        let home = |env: &[(&str, &str)]| app(env).home().unwrap().path().to_owned();
        assert_eq!(home(&[]), Path::new("/home/me/.local/share/dacapo"));
        assert_eq!(home(&[("XDG_DATA_HOME", "/data")]), Path::new("/data/dacapo"));
        assert_eq!(home(&[("XDG_DATA_HOME", "data")]), Path::new("/home/me/.local/share/dacapo"));
        assert_eq!(home(&[("DACAPO_HOME", "/d")]), Path::new("/d"));
        assert_eq!(home(&[("DACAPO_HOME", "d")]), Path::new("/here/d"));
        assert_eq!(home(&[("DACAPO_HOME", "")]), Path::new("/home/me/.local/share/dacapo"));
        let nobody = App { user_dir: None, ..app(&[]) };
        assert_eq!(nobody.home().unwrap_err().exit_code(), 2);
    }

    #[test]
    fn the_later_of_two_variables_counts() {
        assert_eq!(app(&[("A", "1"), ("A", "2")]).var("A"), Some(OsStr::new("2")));
        assert_eq!(app(&[]).var("A"), None);
    }
}
