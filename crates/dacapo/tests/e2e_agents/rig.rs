//! A test's own world with a real agent in it: home, repository, settings, the CLI first on PATH, and a model server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::agent_clis::{self, AgentCli, COMMANDS, UNPACKED};
use crate::agents::{Agent, Retries, SaidBy, Setting};
use crate::model_server::{Answer, Call, ModelServer};
use crate::running::Running;
use crate::support::{Ran, World};

/// A world that one agent is at home in. Its task is named `t`.
pub(crate) struct Rig {
    pub(crate) world: World,
    pub(crate) agent: &'static Agent,
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

    /// Its agents reach what a room keeps from them.
    pub(crate) fn unconfined(self) -> Self {
        Self { world: self.world.without_rooms(), ..self }
    }

    /// The agent talks to whoever is at `url`.
    pub(crate) fn at(url: &str, agent: &'static Agent, retries: Retries) -> Self {
        Self::within(World::new(), agent, url, retries)
    }

    fn within(world: World, agent: &'static Agent, url: &str, retries: Retries) -> Self {
        let env = environment(&world, &[agent], url, retries);
        let rig = Self { world, agent, env };
        rig.configure("");
        rig
    }

    /// Adds to Dacapo's config.
    pub(crate) fn configure(&self, more: &str) {
        self.world.config(&format!("{}{more}", config(self.agent)));
    }

    /// One more variable, another value of one, or one less.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.env.insert(name.into(), value.into()),
            None => self.env.remove(OsStr::new(name)),
        };
    }

    /// `dacapo exec --name t --agent NAME …`, not started yet.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        self.command_of(self.agent.name, words)
    }

    /// The same for an agent of another name, from the config.
    pub(crate) fn command_of<S: AsRef<OsStr>>(&self, agent: &str, words: &[S]) -> Command {
        let mut command = self.world.command(&["exec", "--name", "t", "--agent", agent]);
        command.args(words).envs(&self.env);
        command
    }

    /// Runs it with `--json` to its end.
    #[must_use]
    pub(crate) fn exec<S: AsRef<OsStr>>(&self, words: &[S]) -> Ran {
        Running::start(self.command(words)).finish()
    }

    /// The turns, as the journal has them.
    pub(crate) fn turns(&self) -> Vec<Value> {
        self.world.events("t", "turn_finished")
    }

    /// Sessions of the turns, in order.
    pub(crate) fn sessions(&self) -> Vec<String> {
        self.turns().iter().map(|turn| turn["session_id"].as_str().unwrap_or("none").to_owned()).collect()
    }

    /// What is shown when a test fails: the agent's own last words.
    pub(crate) fn last_words(&self) -> String {
        last_words(&self.world, "t")
    }
}

/// The last words of a task's agents.
pub(crate) fn last_words(world: &World, task: &str) -> String {
    let turns = world.task_dir(task).join("turns");
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

/// Makes the agents at home in a world, where each talks to whoever is at `url`: the environment of all of them.
pub(crate) fn environment(
    world: &World,
    agents: &[&'static Agent],
    url: &str,
    retries: Retries,
) -> BTreeMap<OsString, OsString> {
    let home = world.home();
    let mut env = BTreeMap::new();
    let mut path = Vec::new();
    for agent in agents {
        let (cli, folder) = installed(agent.cli);
        path.push(folder.join(COMMANDS));
        if let Some(variable) = cli.unpacks_by {
            env.insert(variable.into(), folder.join(UNPACKED).into());
        }
        let own = (agent.set_up)(&Setting { url, home: &home, retries });
        env.extend(own.into_iter().map(|(name, value)| (name.into(), value.into())));
    }
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    env.insert("PATH".into(), std::env::join_paths(path).unwrap());
    env
}

/// What Dacapo's config says about an agent.
pub(crate) fn config(agent: &Agent) -> String {
    let Agent { name, price, .. } = agent;
    let prices = match price.said_by {
        SaidBy::Agent => String::new(),
        SaidBy::Config => format!(
            "[prices.{name}]\ninput = {:?}\noutput = {:?}\ncached = {:?}\n",
            price.input, price.output, price.cached
        ),
    };
    format!("{}\n{prices}", agent.config)
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

/// Whether a process is still there and is this command.
pub(crate) fn runs(pid: u32, command: &str) -> bool {
    let line = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ").contains(command)
}
