//! A program that a person works with where they are, at a terminal or on the desktop. An operation may be carried out by a
//! process that has neither, so it does not run the program: its result is the plan, and the surface runs that.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::App;

/// What is to be run, with the terminal of the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub struct TerminalPlan {
    /// What the user calls the program, for messages.
    pub name: String,
    /// None: our own, which only the process that runs it can find (`/proc/self/exe` is another one there).
    pub program: Option<OsString>,
    pub arguments: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables in addition to the user's own.
    pub env: Vec<(OsString, OsString)>,
}

impl TerminalPlan {
    /// The command, in this user's environment. The streams are those of the surface.
    pub fn command(&self, app: &App) -> Command {
        let mut command = match &self.program {
            Some(program) => Command::new(program),
            None => {
                let mut own = Command::new(&app.program);
                own.arg0("dacapo");
                own
            }
        };
        command.args(&self.arguments).current_dir(&self.cwd);
        command.env_clear().envs(app.env.iter().map(|(name, value)| (name, value)));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The plan as it passes between processes.
#[derive(Clone, Serialize, Deserialize)]
struct Wire {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<Word>,
    arguments: Vec<Word>,
    cwd: Word,
    #[serde(default)]
    env: Vec<(Word, Word)>,
}

/// A text; where it is none, as a file's name need not be one, its bytes.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Word {
    fn from(word: &OsStr) -> Self {
        word.to_str()
            .map_or_else(|| Word::Bytes(word.as_bytes().to_vec()), |text| Word::Text(text.to_owned()))
    }
}

impl From<Word> for OsString {
    fn from(word: Word) -> Self {
        match word {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

impl From<TerminalPlan> for Wire {
    fn from(plan: TerminalPlan) -> Self {
        let pair = |(name, value): &(OsString, OsString)| (name.as_os_str().into(), value.as_os_str().into());
        Wire {
            name: plan.name,
            program: plan.program.as_deref().map(Word::from),
            arguments: plan.arguments.iter().map(|word| word.as_os_str().into()).collect(),
            cwd: plan.cwd.as_os_str().into(),
            env: plan.env.iter().map(pair).collect(),
        }
    }
}

impl From<Wire> for TerminalPlan {
    fn from(wire: Wire) -> Self {
        TerminalPlan {
            name: wire.name,
            program: wire.program.map(OsString::from),
            arguments: wire.arguments.into_iter().map(OsString::from).collect(),
            cwd: OsString::from(wire.cwd).into(),
            env: wire.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_passes_between_processes_whatever_files_are_called() {
        let plan = TerminalPlan {
            name: "vi".into(),
            program: Some("/bin/vi".into()),
            arguments: vec![OsString::from_vec(b"caf\xe9".to_vec())],
            cwd: "/a b".into(),
            env: vec![("TASK".into(), "t".into())],
        };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(
            text,
            r#"{"name":"vi","program":"/bin/vi","arguments":[[99,97,102,233]],"cwd":"/a b","env":[["TASK","t"]]}"#
        );
        assert_eq!(serde_json::from_str::<TerminalPlan>(&text).unwrap(), plan);
    }
}
