//! The room of a proof: what its setup and checks see of the machine.
//!
//! Hidden is what an agent can have left: worktrees, an in-place workspace, temp, and Python packages installed for the user
//! alone; and with the worktrees all that Dacapo keeps of its tasks, the caches for later proofs among it. All else stays, `~/.local/bin` and the rest of `~/.local` among it: users have tools there (uv, pipx, mise, node
//! tools) that checks call, as they have in `~/.cargo` and `~/.nvm`, and no one can tell by the place who installed them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{files, outside};
use crate::process::{Place, Room, Shows, ssh_settings_for_rooms};

/// Temp that every program knows.
const TEMP: [&str; 2] = ["/tmp", "/var/tmp"];
/// Temp that programs are told of.
const TEMP_VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];
/// Shared memory, by name.
const SHARED_MEMORY: &str = "/dev/shm";

/// The directories that a room is made for.
pub(super) struct Around<'a> {
    /// The directory of the proof, with all that is made for it.
    pub(super) proof: &'a Path,
    pub(super) store: &'a Path,
    /// The data of all repositories: worktrees, records, caches, other proofs.
    pub(super) repos: &'a Path,
    /// Where the agent works, if not in a worktree of ours.
    pub(super) workspace: Option<&'a Path>,
    /// The data of the repository that the proof is of.
    pub(super) data: &'a Path,
    /// Settings of tools outside of the checkout, as they were at the start.
    pub(super) outside: &'a [u8],
    /// What no command of the task may change; none: it may change everything.
    pub(super) guarded: Option<&'a Room>,
}

impl Around<'_> {
    /// The room of a command with this environment. Temp of its own is made below the proof.
    pub(super) fn room(&self, env: &[(OsString, OsString)]) -> io::Result<Room> {
        let home = variable(env, "HOME").and_then(real);
        let mut room = Room::default();
        let mut hidden: Vec<PathBuf> =
            real(self.repos).into_iter().chain(self.hidden_workspace(env)).collect();
        let temp = temp(env, home.as_deref());
        for (number, place) in temp.iter().enumerate() {
            let own = self.proof.join("temp").join(number.to_string());
            files::make_dir(&own)?;
            fs::set_permissions(&own, fs::Permissions::from_mode(0o1777))?;
            room.show(place, Shows::Other(own));
        }
        for kept in named_below(env, &temp, &hidden) {
            room.show(kept, Shows::Itself);
        }
        for kept in [self.proof, self.store].into_iter().filter_map(real) {
            room.show(kept, Shows::Itself);
        }
        let bases = home.iter().map(|home| home.join(".local")).chain(variable(env, "PYTHONUSERBASE"));
        hidden.extend(bases.flat_map(|base| python_packages(&base)));
        hidden.extend(real(SHARED_MEMORY));
        for place in hidden {
            room.show(place, Shows::Nothing);
        }
        if let Some((place, own)) = ssh_settings_for_rooms(self.proof)? {
            room.show(place, Shows::Other(own));
        }
        let candidates = outside::candidates(|name| variable(env, name).map(Into::into), self.data);
        for (place, shows) in outside::differing(&candidates, self.outside, &self.proof.join("outside"))? {
            // A mount in a directory that is covered would bring back the name that it hides.
            if room.is_seen(&place) {
                room.show(place, shows);
            }
        }
        if let Some(guarded) = self.guarded {
            // What is not seen cannot be changed.
            let seen = guarded.places.iter().filter(|place| room.is_seen(&place.path));
            let seen: Vec<Place> = seen.cloned().collect();
            room.places.extend(seen);
            room.otherwise = guarded.otherwise;
        }
        Ok(room)
    }

    /// The workspace, unless the user's home is in it: nothing would work without that.
    fn hidden_workspace(&self, env: &[(OsString, OsString)]) -> Option<PathBuf> {
        let workspace = real(self.workspace?)?;
        let home = variable(env, "HOME").and_then(real);
        home.is_none_or(|home| !home.starts_with(&workspace)).then_some(workspace)
    }

    /// Returns true if the workspace cannot be hidden.
    pub(super) fn has_home_in_workspace(&self, env: &[(OsString, OsString)]) -> bool {
        self.workspace.is_some() && self.hidden_workspace(env).is_none()
    }
}

/// The directories for temp. One that the user's home is in is left alone, unless it is everybody's.
fn temp(env: &[(OsString, OsString)], home: Option<&Path>) -> Vec<PathBuf> {
    let own = TEMP_VARIABLES.iter().filter_map(|name| variable(env, name)).filter_map(real);
    let own = own.filter(|path| home.is_none_or(|home| !home.starts_with(path)));
    let mut all: Vec<PathBuf> = TEMP.iter().filter_map(real).chain(own).collect();
    all.retain(|path| path.is_dir() && path != Path::new("/"));
    all.sort();
    all.dedup();
    all
}

/// What the user's environment names in temp: it is theirs, and no agent can have put it there.
fn named_below(env: &[(OsString, OsString)], temp: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let is_below = |path: &Path| temp.iter().any(|temp| path != temp && path.starts_with(temp));
    let is_free = |path: &Path| {
        !temp.iter().any(|temp| temp == path) && !hidden.iter().any(|hidden| path.starts_with(hidden))
    };
    let values = env.iter().flat_map(|(_, value)| std::env::split_paths(value));
    let mut named: Vec<PathBuf> = values
        .filter(|path| is_below(path))
        .filter_map(real)
        .filter(|path| is_below(path) && is_free(path))
        .collect();
    named.sort();
    named.dedup();
    named
}

/// Where Python looks for packages of the user alone.
fn python_packages(base: &Path) -> Vec<PathBuf> {
    let lib = ["lib", "lib64"].map(|name| base.join(name));
    let versions = lib.iter().filter_map(|lib| fs::read_dir(lib).ok()).flatten().flatten();
    let is_python = |name: &OsStr| name.to_string_lossy().starts_with("python");
    let mut all: Vec<PathBuf> = versions
        .filter(|version| is_python(&version.file_name()))
        .filter_map(|version| real(version.path().join("site-packages")))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn variable(env: &[(OsString, OsString)], wanted: &str) -> Option<PathBuf> {
    let found = env.iter().rev().find(|(name, _)| name == wanted);
    found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
}

/// A path without links; none: there is nothing.
fn real(path: impl AsRef<Path>) -> Option<PathBuf> {
    path.as_ref().canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the room of a proof in `root/data/repos/r` shows, by paths below `root`.
    fn shown(root: &Path, workspace: Option<&str>, env: &[(&str, &str)]) -> Vec<(String, String)> {
        let root = root.canonicalize().unwrap();
        let data = root.join("data/repos/r");
        for dir in ["proof/0/tree", "store.git", "worktrees/t"] {
            fs::create_dir_all(data.join(dir)).unwrap();
        }
        let env: Vec<(OsString, OsString)> = env
            .iter()
            .map(|(name, value)| (name.into(), value.replace("ROOT", root.to_str().unwrap()).into()))
            .collect();
        let workspace = workspace.map(|path| root.join(path));
        let around = Around {
            proof: &data.join("proof/0"),
            store: &data.join("store.git"),
            repos: &root.join("data/repos"),
            workspace: workspace.as_deref(),
            data: &data,
            outside: &[],
            guarded: None,
        };
        let below = |path: &Path| path.strip_prefix(&root).ok().map(|path| path.display().to_string());
        let word = |shows: &Shows| match shows {
            Shows::Nothing => "nothing".to_owned(),
            Shows::ReadOnly => "read-only".to_owned(),
            Shows::Pinned | Shows::Itself => "itself".to_owned(),
            Shows::Other(path) => below(path).unwrap(),
        };
        let places = around.room(&env).unwrap().places;
        let mut all: Vec<(String, String)> =
            places.iter().filter_map(|Place { path, shows }| Some((below(path)?, word(shows)))).collect();
        all.sort();
        all
    }

    fn made(paths: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for path in paths {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        dir
    }

    #[test]
    fn l4_worktrees_workspaces_and_packages_of_the_user_alone_are_hidden() {
        let packages = "home/.local/lib/python3.9/site-packages";
        let dir = made(&[packages, "home/.local/lib/node_modules", "home/.local/bin", "repo", "tmp"]);
        let env = [("HOME", "ROOT/home"), ("TMPDIR", "ROOT/tmp"), ("PATH", "ROOT/home/.local/bin:/bin")];
        let shown = shown(dir.path(), Some("repo"), &env);
        let own = |path: &str| shown.iter().find(|(shown, _)| shown == path).map(|(_, what)| what.as_str());
        assert_eq!(own("data/repos"), Some("nothing"));
        assert_eq!(own("repo"), Some("nothing"));
        assert_eq!(own(packages), Some("nothing"));
        assert!(own("tmp").is_some_and(|own| own.starts_with("data/repos/r/proof/0/temp/")), "{shown:?}");
        // The test's directory is in temp: what the environment names there stays.
        assert_eq!(own("home"), Some("itself"));
        assert_eq!(own("home/.local/bin"), Some("itself"));
        assert_eq!(own("data/repos/r/proof/0"), Some("itself"));
    }

    #[test]
    fn l4_a_variable_does_not_keep_what_is_to_be_hidden() {
        let dir = made(&["home", "repo/sub", "tmp/kept"]);
        let env = [
            ("HOME", "ROOT/home"),
            ("TMPDIR", "ROOT/tmp"),
            ("OLDPWD", "ROOT/repo/sub"),
            ("TOOLS", "ROOT/tmp/kept"),
            ("WORK", "ROOT/data/repos/r/worktrees/t"),
        ];
        let shown = shown(dir.path(), Some("repo"), &env);
        let kept: Vec<&str> =
            shown.iter().filter(|(_, what)| what == "itself").map(|(path, _)| path.as_str()).collect();
        assert_eq!(kept, ["data/repos/r/proof/0", "data/repos/r/store.git", "home", "tmp/kept"]);
    }

    #[test]
    fn l4_a_workspace_around_the_users_home_is_not_hidden() {
        let dir = made(&["home"]);
        let shown = shown(dir.path(), Some("home"), &[("HOME", "ROOT/home"), ("TMPDIR", "ROOT/home")]);
        assert!(shown.contains(&("home".to_owned(), "itself".to_owned())), "{shown:?}");
        assert!(!shown.iter().any(|(path, what)| path == "home" && what != "itself"), "{shown:?}");
    }
}
