//! Finds the places of this machine that a task's room is about (R5).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::room_policy::{GitDir, Layout, WorkspaceLayout};
use crate::agent;
use crate::files;
use crate::git::Repo;
use crate::process;
use crate::spec::{AgentSpec, RoomMode};

/// What a layout is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// The environment of the user.
    pub(crate) env: &'a [(OsString, OsString)],
    /// Dacapo's data.
    pub(crate) data: &'a Path,
    /// Our own program.
    pub(crate) program: &'a Path,
    /// The directory of the user's own settings of Dacapo.
    pub(crate) settings: Option<&'a Path>,
    /// Where the agents work; none: the commands run in a checkout that has a place of its own.
    pub(crate) workspace: Option<&'a Repo>,
    /// The git directory of the user's repository, if the workspace may be a repository of its own.
    pub(crate) users_git_dir: Option<&'a Path>,
    pub(crate) agents: &'a [AgentSpec],
    /// Held-out checks, of which the commands may not know.
    pub(crate) secret: &'a [String],
    /// A directory of the task, for copies.
    pub(crate) scratch: &'a Path,
}

impl Surroundings<'_> {
    pub(crate) fn layout(&self, mode: RoomMode) -> Layout {
        let is_root = rustix::process::geteuid().is_root();
        let home = self.variable("HOME");
        let config = self.variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        // What is not there cannot be protected.
        self.settings.into_iter().for_each(|dir| drop(fs::create_dir_all(dir)));
        let of_git = [
            home.as_ref().map(|home| home.join(".gitconfig")),
            config.as_ref().map(|config| config.join("git")),
            self.variable("GIT_CONFIG_GLOBAL"),
        ];
        let kernel: &[&str] = if is_root { &["/proc/sys", "/sys"] } else { &[] };
        let guarded = self
            .settings
            .map(Path::to_path_buf)
            .into_iter()
            .chain(of_git.into_iter().flatten())
            .chain([self.program.to_owned()])
            .chain(kernel.iter().map(PathBuf::from));
        let data = real(self.data).unwrap_or_else(|| self.data.to_owned());
        let mut guarded: Vec<PathBuf> = guarded.filter_map(real).filter(|path| *path != data).collect();
        guarded.sort();
        guarded.dedup();
        let hidden = self.hidden(home.as_deref(), &data);
        Layout {
            data,
            hidden,
            guarded,
            workspace: self.workspace.map(|repo| workspace(repo, self.users_git_dir)),
            own: self.sessions(),
            open: match mode {
                RoomMode::Strict => self.open(home.as_deref()),
                RoomMode::Guarded | RoomMode::None => Vec::new(),
            },
            instead: match process::ssh_settings_for_rooms(self.scratch) {
                Ok(instead) => instead.into_iter().collect(),
                Err(error) => {
                    tracing::warn!(%error, "ssh may refuse its settings");
                    Vec::new()
                }
            },
        }
    }

    /// What would tell of held-out checks: records, settings, and the files that they name.
    fn hidden(&self, home: Option<&Path>, data: &Path) -> Vec<PathBuf> {
        if self.secret.is_empty() {
            return Vec::new();
        }
        let named = self.secret.iter().flat_map(|command| named_files(command, home));
        let top = self.workspace.and_then(|repo| real(repo.toplevel()));
        // Nothing could work without these.
        let needed = |place: &PathBuf| {
            [home, top.as_deref()].into_iter().flatten().any(|needed| needed.starts_with(place))
        };
        let records = [Some(data.join("repos")), self.settings.map(Path::to_path_buf)];
        let records = records.into_iter().flatten().filter_map(real);
        let mut hidden: Vec<PathBuf> = records.chain(named.filter(|place| !needed(place))).collect();
        hidden.sort();
        hidden.dedup();
        hidden
    }

    /// What may be changed in a strict room beside the workspace.
    fn open(&self, home: Option<&Path>) -> Vec<PathBuf> {
        // Programs make sandboxes of their own by files in /proc.
        let system = ["/dev", "/proc", "/tmp", "/var/tmp"].map(PathBuf::from);
        let temp = ["TMPDIR", "TMP", "TEMP"].into_iter().filter_map(|name| self.variable(name));
        let states = self.agents.iter().flat_map(|agent| agent::state_places(agent, home, self.env));
        let top = self.workspace.map(Repo::toplevel);
        let caches = TOOLS.iter().filter(|tool| top.is_some_and(|top| top.join(tool.sign).exists()));
        let caches = caches.flat_map(|tool| tool.caches);
        let caches = home.into_iter().flat_map(|home| caches.clone().map(|cache| home.join(cache)));
        let mut open: Vec<PathBuf> =
            system.into_iter().chain(temp).chain(states).chain(caches).filter_map(real).collect();
        // One that the user's home is in would open all of it.
        open.retain(|place| home.is_none_or(|home| !home.starts_with(place) || is_temp(place)));
        open.sort();
        open.dedup();
        open
    }

    fn sessions(&self) -> Vec<PathBuf> {
        // In a proof nobody converses.
        let agents = self.agents.iter().filter(|_| self.workspace.is_some());
        let places = agents.filter_map(agent::sessions_place);
        places.inspect(|place| drop(files::make_dir(place))).filter_map(real).collect()
    }

    fn variable(&self, wanted: &str) -> Option<PathBuf> {
        let found = self.env.iter().rev().find(|(name, _)| name == wanted);
        found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
    }
}

/// Where a tool keeps what it has downloaded, below the user's home, and the file by which a project is known to use it.
struct Tool {
    sign: &'static str,
    caches: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        sign: "Cargo.toml",
        caches: &[".cargo/registry", ".cargo/git", ".cargo/.package-cache", ".cargo/.global-cache"],
    },
    Tool {
        sign: "package.json",
        caches: &[".npm", ".cache/yarn", ".cache/pnpm", ".local/share/pnpm/store", ".bun/install/cache"],
    },
    Tool { sign: "pyproject.toml", caches: &[".cache/pip", ".cache/uv", ".cache/pypoetry"] },
    Tool { sign: "requirements.txt", caches: &[".cache/pip", ".cache/uv"] },
    Tool { sign: "go.mod", caches: &["go/pkg", ".cache/go-build"] },
    Tool { sign: "pom.xml", caches: &[".m2/repository"] },
    Tool { sign: "build.gradle", caches: &[".gradle"] },
    Tool { sign: "build.gradle.kts", caches: &[".gradle"] },
];

/// The files and directories of the user's that a command names by their whole paths. A program that is no script is not among
/// them: others may need it, and it tells nothing.
fn named_files(command: &str, home: Option<&Path>) -> Vec<PathBuf> {
    const OF_THE_SYSTEM: [&str; 8] = ["/bin", "/dev", "/etc", "/lib", "/opt", "/proc", "/sbin", "/usr"];
    let words = command.split(|c: char| c.is_whitespace() || "'\"`;|&()<>=:,".contains(c));
    let path = |word: &str| match (word.strip_prefix("~/").or(word.strip_prefix("$HOME/")), home) {
        (Some(below), Some(home)) => real(home.join(below)),
        (Some(_) | None, _) => Path::new(word).is_absolute().then(|| real(word)).flatten(),
    };
    let of_user = |path: &PathBuf| !OF_THE_SYSTEM.iter().any(|system| path.starts_with(system));
    words.filter_map(path).filter(of_user).filter(|path| path.is_dir() || !is_binary(path)).collect()
}

/// Returns true if a file is a program that the kernel itself reads.
fn is_binary(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(4).read_to_end(&mut head));
    read.is_ok() && head == b"\x7fELF"
}

fn is_temp(place: &Path) -> bool {
    [Path::new("/tmp"), Path::new("/var/tmp")].contains(&place)
}

/// The one place that decides what of the user's git directory a task may change.
fn workspace(repo: &Repo, users_git_dir: Option<&Path>) -> WorkspaceLayout {
    let top = real(repo.toplevel()).unwrap_or_else(|| repo.toplevel().to_owned());
    let path = real(repo.common_dir()).unwrap_or_else(|| repo.common_dir().to_owned());
    if let Some(users) = users_git_dir.and_then(real).filter(|users| *users != path) {
        return WorkspaceLayout { top, git: GitDir::ReadOnly(users) };
    }
    // Directories and files that are there: what is not cannot be protected, but is named when it appears.
    let names = ["config", "config.worktree", "hooks", "info"];
    let settings = names.iter().map(|name| path.join(name)).filter_map(real).collect();
    WorkspaceLayout { top, git: GitDir::Shared { path, settings } }
}

/// A path without links; none: there is nothing.
fn real(path: impl AsRef<OsStr>) -> Option<PathBuf> {
    Path::new(path.as_ref()).canonicalize().ok()
}
