//! Short questions to foreign programs. A program that hangs, floods or starts others must not keep the user waiting, so
//! each runs under a guard, for a few seconds, and only the beginning of its answer is read.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use dacapo_core::process::{Exit, Follower, Job, Launcher, Masker, Running, Stderr, Stop, TAG_VARIABLE};
use dacapo_core::spec::random_hex;

use crate::commands::drive::own_program;

/// Some agents need three seconds to start on an idle machine, and one unpacks itself first where it is new.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long a stopped program may take to be gone.
const GRACE: Duration = Duration::from_secs(5);

/// No version is longer.
const MOST: u64 = 64 << 10;

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) argv: Vec<OsString>,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Its exit code and the beginning of what it printed; of its complaints, where it printed nothing else.
    Said { code: i32, text: String },
    /// No end within [`PATIENCE`]; it was ended.
    Silent,
    /// It could not be asked.
    Impossible(String),
}

/// Asks them all, several at once, and gives the answers back in order.
pub(super) fn all(questions: Vec<Question>) -> Vec<Answer> {
    let mut answers = vec![Answer::Impossible("it was not asked".into()); questions.len()];
    let at_once = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8));
    let scratch = match tempfile::Builder::new().prefix("dacapo-doctor-").tempdir() {
        Ok(scratch) => scratch,
        Err(error) => return vec![Answer::Impossible(error.to_string()); questions.len()],
    };
    let workers = at_once.min(questions.len());
    let open = Mutex::new(questions.into_iter().enumerate());
    let next = || open.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, scratch) = (sender.clone(), &next, scratch.path());
            scope.spawn(move || {
                while let Some((number, question)) = next() {
                    let answer = ask(question, &scratch.join(number.to_string()));
                    let _ = sender.send((number, answer));
                }
            });
        }
        drop(sender);
        while let Ok((number, answer)) = receiver.recv() {
            answers[number] = answer;
        }
    });
    answers
}

fn ask(question: Question, output: &Path) -> Answer {
    let impossible = |error: &dyn std::fmt::Display| Answer::Impossible(error.to_string());
    let masker = Arc::new(Masker::from_env(question.env.iter().cloned()));
    let mut launcher = match Launcher::new(own_program(), masker) {
        Ok(launcher) => launcher,
        Err(error) => return impossible(&error),
    };
    let mut env = question.env;
    env.push((TAG_VARIABLE.into(), random_hex(16).into()));
    let job = Job {
        argv: question.argv,
        cwd: question.cwd,
        env,
        stdin: Vec::new().into(),
        stdout: output.to_owned(),
        index: None,
        stderr: Stderr::File(output.with_extension("err")),
        grace: Duration::from_secs(1),
        holds: Vec::new(),
    };
    let (sender, receiver) = mpsc::channel();
    let running = match launcher.launch(job, move |finished| drop(sender.send(finished))) {
        Ok(running) => running,
        Err(error) => return impossible(&error),
    };
    stop_a_flood(&running);
    let Ok(finished) = receiver.recv_timeout(PATIENCE) else {
        running.stop(Stop::Gentle);
        let _ = receiver.recv_timeout(GRACE);
        return Answer::Silent;
    };
    let text = Some(beginning(output)).filter(|text| !text.trim().is_empty());
    let text = text.unwrap_or_else(|| beginning(&output.with_extension("err")));
    match finished.exit {
        Exit::Code(code) => Answer::Said { code, text },
        // Ended by us, at the end of what is read of it.
        Exit::Signal(_) if finished.stopped.is_some() => Answer::Said { code: 0, text },
        Exit::Signal(signal) => Answer::Impossible(format!("it was ended by signal {signal}")),
        Exit::SpawnFailed { message, .. } => Answer::Impossible(message),
        Exit::Lost => Answer::Impossible("it was ended from outside".into()),
    }
}

/// Ends a program that prints more than anybody reads.
fn stop_a_flood(running: &Running) {
    for progress in [Some(running.progress()), running.stderr_progress()].into_iter().flatten() {
        let Ok(mut follower) = Follower::live(progress, 0) else { continue };
        let running = running.clone();
        std::thread::spawn(move || {
            let (mut buffer, mut read) = (Vec::new(), 0);
            while let Ok(true) = follower.next(&mut buffer) {
                read += buffer.len() as u64;
                if read > MOST {
                    running.stop(Stop::Now);
                    break;
                }
            }
        });
    }
}

fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    // What cannot be read says nothing.
    let _ = std::fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
