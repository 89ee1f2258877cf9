//! A test's own world with a real agent in it: home, repository, settings, the CLI first on PATH, and a model server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use crate::agent_clis::{self, AgentCli, COMMANDS, UNPACKED};
use crate::agents::{Agent, Retries, Setting};
use crate::model_server::{Answer, Call, ModelServer};
use crate::support::World;

/// A world that one agent is at home in. Its task is named `t`.
pub(crate) struct Rig {
    pub(crate) world: World,
    env: BTreeMap<OsString, OsString>,
}

impl Rig {
    /// The agent talks to a server that follows the script, which is told where the repository is.
    pub(crate) fn start<S>(
        agent: &'static Agent,
        retries: Retries,
        script: impl FnOnce(PathBuf) -> S,
    ) -> (Self, ModelServer)
    where
        S: Fn(&Call) -> Answer + Send + Sync + 'static,
    {
        let world = World::new();
        let server = ModelServer::start(script(world.repo()));
        let rig = Self::within(world, agent, &server.url(), retries);
        (rig, server)
    }

    fn within(world: World, agent: &'static Agent, url: &str, retries: Retries) -> Self {
        let (cli, folder) = installed(agent.cli);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(folder.join(COMMANDS)).chain(std::env::split_paths(&path));
        let mut env = BTreeMap::from([("PATH".into(), std::env::join_paths(path).unwrap())]);
        if let Some(variable) = cli.unpacks_by {
            env.insert(variable.into(), folder.join(UNPACKED).into());
        }
        let home = world.home();
        let own = (agent.set_up)(&Setting { url, home: &home, retries });
        env.extend(own.into_iter().map(|(name, value)| (name.into(), value.into())));
        Self { world, env }
    }

    /// `dacapo exec --name t --agent NAME …` for an agent of the config, not started yet.
    pub(crate) fn command_of<S: AsRef<OsStr>>(&self, agent: &str, words: &[S]) -> Command {
        let mut command = self.world.command(&["exec", "--name", "t", "--agent", agent]);
        command.args(words).envs(&self.env);
        command
    }

    /// What is shown when a test fails: the agent's own last words.
    pub(crate) fn last_words(&self) -> String {
        let turns = self.world.task_dir("t").join("turns");
        let Ok(files) = std::fs::read_dir(&turns) else { return String::new() };
        let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let shown = |path: &PathBuf| {
            let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
            let tail: String = text.chars().rev().take(3000).collect::<Vec<_>>().into_iter().rev().collect();
            format!("--- {}\n{tail}\n", path.file_name().unwrap_or_default().to_string_lossy())
        };
        files
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "raw" || e == "err"))
            .map(shown)
            .collect()
    }
}

/// The CLI, and the folder that it is installed in.
fn installed(name: &str) -> (&'static AgentCli, PathBuf) {
    let cli = agent_clis::ALL.iter().find(|cli| cli.name == name).expect("an agent of the list");
    let cache = agent_clis::cache().expect("DACAPO_TEST_CACHE, XDG_CACHE_HOME or HOME");
    assert!(
        cli.is_installed(&cache),
        "{} {} is not in {}: `cargo xtask test` installs it, or `cargo xtask setup` alone",
        cli.name,
        cli.version,
        cli.folder(&cache).display(),
    );
    (cli, cli.folder(&cache))
}
