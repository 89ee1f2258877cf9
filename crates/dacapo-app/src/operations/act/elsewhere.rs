//! An operation in a process of its own: `dacapo __do` reads a [`Call`] on standard input and writes a [`Reply`].

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::{Done, Operation};
use crate::App;
use crate::error::Failure;
use crate::note::{Note, Notes};
use crate::question::{Answers, NotYet, Question};

/// What makes our program do one operation.
pub const ARGUMENT: &str = "__do";

/// What the process is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    #[serde(flatten)]
    pub operation: Operation,
    /// What the user has decided so far.
    #[serde(default)]
    pub answers: Answers,
}

/// What it says of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is done.
    Done { done: Done, notes: Vec<Note> },
    /// The user must decide something first; nothing has changed.
    Ask { question: Question, notes: Vec<Note> },
    /// It was refused, or failed.
    Failed { error: Failure, notes: Vec<Note> },
}

impl App {
    /// The work of the process: carries a call out. What happens beside it is kept for the reply.
    pub fn answer_call(self, call: &[u8]) -> Reply {
        let (notes, kept) = Notes::kept();
        let app = App { notes, ..self };
        let came = serde_json::from_slice::<Call>(call)
            .map_err(|error| NotYet::Refused(Failure::usage(format!("the call does not read: {error}"))))
            .and_then(|call| app.act(&call.operation, &call.answers));
        let notes = kept.lock().map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default();
        match came {
            Ok(done) => Reply::Done { done, notes },
            Err(NotYet::Ask(question)) => Reply::Ask { question: *question, notes },
            Err(NotYet::Refused(error)) => Reply::Failed { error, notes },
        }
    }

    /// Does it in a short process of its own, with this user's environment and directory, and waits for that. This process
    /// takes no lock, and keeps nothing: it may live long, and start whatever else it likes meanwhile.
    pub fn act_elsewhere(&self, operation: &Operation, answers: &Answers) -> Result<Done, NotYet> {
        let unable = |what: &str, error: io::Error| {
            Failure::failed(format!("the operation could not be {what}: {error}"))
                .kept("everything that is on record; dacapo list shows where tasks stand")
        };
        let call = Call { operation: operation.clone(), answers: answers.clone() };
        let call = serde_json::to_vec(&call).map_err(|error| unable("written", error.into()))?;
        let mut command = Command::new(&self.program);
        command.arg0("dacapo").arg(ARGUMENT).current_dir(self.here()?);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| unable("started", error))?;
        // One that is gone already has said why, or nothing; the pipe closes with this.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(&call));
        let output = child.wait_with_output().map_err(|error| unable("waited for", error))?;
        let reply: Reply = serde_json::from_slice(&output.stdout).map_err(|error| {
            let why = format!("its process ended without a reply ({}): {error}", output.status);
            unable("done", io::Error::other(why))
        })?;
        let (came, notes) = match reply {
            Reply::Done { done, notes } => (Ok(done), notes),
            Reply::Ask { question, notes } => (Err(NotYet::Ask(Box::new(question))), notes),
            Reply::Failed { error, notes } => (Err(NotYet::Refused(error)), notes),
        };
        notes.iter().for_each(|note| self.note(note));
        came
    }
}
