//! The environment as a value.
//!
//! The engine reads nothing of the process that it happens to run in: whoever calls it says what git, agents and checks
//! find around them. A program that lives long and works for several people or shells has more than one environment.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::process::Command;
use std::sync::Arc;

/// What of the `GIT_*` environment is kept: how to reach and authenticate, who the user is, which configuration files are
/// theirs. None of it says *which repository*.
const KEPT_OF_GIT: [&str; 7] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Whether a variable can make git work in another repository, or work otherwise there: nothing that Dacapo starts gets it.
/// git itself sets such variables for hooks and for `rebase -x`.
pub fn is_of_another_git(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.starts_with(b"GIT_")
        && !bytes.starts_with(b"GIT_SSL")
        && !bytes.starts_with(b"GIT_SSH")
        && !KEPT_OF_GIT.iter().any(|kept| name == *kept)
}

/// Variables by name, each once. Clones share them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env(Arc<[(OsString, OsString)]>);

impl Env {
    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// The same with these variables, in place of what they were.
    #[must_use]
    pub fn with<N: Into<OsString>, V: Into<OsString>>(&self, more: impl IntoIterator<Item = (N, V)>) -> Self {
        let more = more.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.iter().cloned().chain(more).collect()
    }

    /// The same without the variables that `unwanted` is true of.
    #[must_use]
    pub fn without(&self, unwanted: impl Fn(&OsStr) -> bool) -> Self {
        Self(self.iter().filter(|(name, _)| !unwanted(name)).cloned().collect())
    }

    /// Gives a command exactly these variables and nothing of the process's own.
    pub fn dress<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env_clear().envs(self.iter().map(|(name, value)| (name, value)))
    }
}

/// Of two with the same name the later one counts.
impl FromIterator<(OsString, OsString)> for Env {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        let mut all: Vec<(OsString, OsString)> = Vec::new();
        for (name, value) in variables {
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => all.push((name, value)),
            }
        }
        Self(all.into())
    }
}

impl Deref for Env {
    type Target = [(OsString, OsString)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The names alone: values can be secrets.
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_there_once_and_the_later_value_counts() {
        let env: Env =
            [("A", "1"), ("B", "2"), ("A", "3")].map(|(n, v)| (n.into(), v.into())).into_iter().collect();
        let changed = env.with([("B", "4"), ("C", "5")]);
        let shown: Vec<_> = changed.iter().map(|(n, v)| (n.to_str().unwrap(), v.to_str().unwrap())).collect();
        assert_eq!(shown, [("A", "3"), ("B", "4"), ("C", "5")]);
        assert_eq!(env.get("B"), Some(OsStr::new("2")), "the first is as it was");
        assert_eq!(changed.without(|name| name == "A").get("A"), None);
    }

    #[test]
    fn what_names_a_repository_is_told_from_who_the_user_is() {
        let of_another = |name: &&str| is_of_another_git(OsStr::new(name));
        let names = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"];
        assert!(names.iter().all(of_another));
        assert!(["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_PARAMETERS"].iter().all(of_another));
        assert!(
            !["GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GITHUB_TOKEN"]
                .iter()
                .any(of_another)
        );
    }

    #[test]
    fn a_command_gets_these_and_no_others() {
        let env = Env::default().with([("ONLY", "this")]);
        let output = env.dress(&mut Command::new("/usr/bin/env")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ONLY=this\n");
    }

    #[test]
    fn s15_a_value_is_not_shown() {
        assert_eq!(format!("{:?}", Env::default().with([("KEY", "hush")])), r#"["KEY"]"#);
    }
}
