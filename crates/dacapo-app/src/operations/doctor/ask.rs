//! Short questions to foreign programs, several at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::App;
use crate::guarded_command::{CommandEnd, GuardedCommand};
use crate::messages::Text;

/// Some agents need three seconds to start on an idle machine, and one unpacks itself first where it is new.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// No version is longer.
const MOST: u64 = 64 << 10;

#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) argv: Vec<OsString>,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Its exit code and the beginning of what it printed; of its complaints, where it printed nothing else.
    Said { code: i32, text: String },
    /// No end within [`PATIENCE`]; it was ended.
    Silent,
    /// It could not be asked.
    Impossible(Text),
}

/// Asks them all, several at once, and gives the answers back in order.
pub(super) fn all(app: &App, questions: Vec<Question>) -> Vec<Answer> {
    let mut answers = vec![Answer::Impossible("it was not asked".into()); questions.len()];
    let at_once = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8));
    let scratch = match tempfile::Builder::new().prefix("dacapo-doctor-").tempdir() {
        Ok(scratch) => scratch,
        Err(error) => return vec![Answer::Impossible(error.to_string().into()); questions.len()],
    };
    let workers = at_once.min(questions.len());
    let open = Mutex::new(questions.into_iter().enumerate());
    let next = || open.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, scratch) = (sender.clone(), &next, scratch.path());
            let work = move || {
                while let Some((number, question)) = next() {
                    let answer = ask(app, question, &scratch.join(number.to_string()));
                    let _ = sender.send((number, answer));
                }
            };
            // Fewer workers only take longer; without any, nothing is asked, and that is what the answers say.
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work) {
                tracing::debug!(%error, "one worker less");
                break;
            }
        }
        drop(sender);
        while let Ok((number, answer)) = receiver.recv() {
            answers[number] = answer;
        }
    });
    answers
}

fn ask(app: &App, question: Question, scratch: &Path) -> Answer {
    if let Err(error) = std::fs::create_dir(scratch) {
        return Answer::Impossible(error.to_string().into());
    }
    let Question { argv, env, cwd } = question;
    let command = GuardedCommand { argv, cwd, env, stdin: Vec::new(), limit: PATIENCE, most: MOST };
    let done = command.run(app, scratch);
    let text = Some(done.stdout).filter(|text| !text.trim().is_empty()).unwrap_or(done.stderr);
    match done.end {
        CommandEnd::Code(code) => Answer::Said { code, text },
        // Ended by us, at the end of what is read of it.
        CommandEnd::Flood => Answer::Said { code: 0, text },
        CommandEnd::TimeLimit => Answer::Silent,
        CommandEnd::Impossible(message) => Answer::Impossible(message),
    }
}
