//! The agent at work: finds its steps for this turn and does them one by one.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dacapo_core::event::{AgentEvent, FailureKind};
use jiff::{SignedDuration, Timestamp};

use super::emit::Emitter;
use super::misbehave::{self, GitTrick, flood};
use super::{child, files};
use dacapo_app::rehearsal as parse;
use dacapo_app::rehearsal::{Claim, Output};
use dacapo_app::rehearsal::{Fail, Limit, Retry, Run, Script, Split, Step, Write};

/// Why the turn ends before its last step.
#[derive(Debug)]
enum Stop {
    /// It exits at once, without a word.
    Exit(u8),
    Failed(Fail),
    /// Nobody listens any more.
    Unheard,
}

impl From<io::Error> for Stop {
    /// Only standard output is written with `?`; its errors all mean that the reader is gone.
    fn from(_: io::Error) -> Self {
        Stop::Unheard
    }
}

/// Which turn this is, as Dacapo says.
#[derive(Debug, Default)]
struct Turn {
    task: String,
    iteration: usize,
    attempt: u32,
}

impl Turn {
    fn from_env() -> Result<Self, String> {
        fn number<T: std::str::FromStr + Default>(name: &str) -> Result<T, String> {
            match std::env::var(name) {
                Ok(text) if !text.is_empty() => {
                    text.parse().map_err(|_| format!("{name} is no number: {text}"))
                }
                _ => Ok(T::default()),
            }
        }
        Ok(Turn {
            task: std::env::var("DACAPO_TASK").unwrap_or_default(),
            iteration: number("DACAPO_ITERATION")?,
            attempt: number("DACAPO_ATTEMPT")?,
        })
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{iteration}", &self.iteration.to_string())
            .replace("{attempt}", &self.attempt.to_string())
            .replace("{task}", &self.task)
    }
}

/// A message for the person at the terminal.
pub(super) fn complain(message: &str) {
    to_stderr(&format!("dacapo rehearsal: {message}"));
}

/// A line on standard error. `eprintln!` would panic where nobody listens.
pub(super) fn to_stderr(line: &str) {
    let _ = io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
}

/// Plays one turn of a script, as the whole of a process.
pub(super) fn play(path: &Path, session: Option<String>) -> ExitCode {
    let ready = parse::check(path)
        .map_err(|error| error.to_string())
        .and_then(|script| Turn::from_env().map(|turn| (script, turn)));
    let (script, turn) = match ready {
        Ok(ready) => ready,
        Err(message) => {
            complain(&message);
            // A loop that hears this does not try again five times.
            if !io::stdout().is_terminal() {
                let _ = Emitter::new(Output::Events)
                    .event(&AgentEvent::Error { failure: FailureKind::Permanent, fault: message.into() });
            }
            return ExitCode::from(2);
        }
    };
    let mut player =
        Player { emitter: Emitter::new(script.output), prompt: prompt(&script), turn, ignoring: false };
    match player.all(&script, session) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Failed(fail)) => {
            let _ = player.fail(&fail);
            ExitCode::from(fail.code)
        }
        // What a shell reports for a process that died of a broken pipe.
        Err(Stop::Unheard) => ExitCode::from(141),
    }
}

/// What the agent is told. A person who tries a script at a terminal is not made to type it.
fn prompt(script: &Script) -> Vec<u8> {
    let mut prompt = Vec::new();
    let stdin = io::stdin();
    if script.reads_prompt && !stdin.is_terminal() {
        // What came before an error is all there is.
        let _ = stdin.lock().read_to_end(&mut prompt);
    }
    prompt
}

/// Where an attempt begins and at which step it is stopped. A later attempt goes on where an
/// earlier one was stopped, as an agent does that resumes its session.
fn entry(steps: &[Step], attempt: u32) -> (usize, Option<usize>) {
    let mut left = attempt;
    let mut start = 0;
    for (index, step) in steps.iter().enumerate() {
        match step.stops() {
            None | Some(Some(0)) => {}
            Some(Some(attempts)) if left >= attempts => {
                left -= attempts;
                start = index + 1;
            }
            Some(Some(_)) if left > 0 => return (index, Some(index)),
            Some(_) => return (start, Some(index)),
        }
    }
    (start, None)
}

struct Player {
    emitter: Emitter,
    prompt: Vec<u8>,
    turn: Turn,
    ignoring: bool,
}

impl Player {
    fn all(&mut self, script: &Script, session: Option<String>) -> Result<(), Stop> {
        if script.session {
            let id = session.unwrap_or_else(new_session);
            self.emitter.event(&AgentEvent::Session { id })?;
        }
        let last = script.iterations.len().saturating_sub(1);
        let steps = script.iterations.get(self.turn.iteration.min(last)).map_or(&[][..], Vec::as_slice);
        let (start, stop) = entry(steps, self.turn.attempt);
        for (index, step) in steps.iter().enumerate() {
            if index < start {
                // Deafness is no deed but a state: it is not over when the turn is.
                if let Step::IgnoreSignals(true) = step {
                    self.step(step)?;
                }
            } else if step.stops().is_none() || stop == Some(index) {
                self.step(step)?;
            }
        }
        self.end("end_turn")?;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Stop> {
        match step {
            Step::Say(text) => self.emitter.say(self.turn.fill(text))?,
            Step::Think(text) => self.emitter.event(&AgentEvent::Thinking { text: text.clone() })?,
            Step::Plan(steps) => self.emitter.event(&AgentEvent::Plan { steps: steps.clone() })?,
            Step::Tool(tool) => {
                let id = self.emitter.call(&tool.name, &tool.summary)?;
                self.emitter.answer(id, tool.failed, tool.output.clone())?;
            }
            Step::Write(write) => self.write(write)?,
            Step::Delete(path) => {
                let id = self.emitter.call("delete", path)?;
                let done = files::delete(path);
                self.emitter.answer(id, done.is_err(), done.err().unwrap_or_default())?;
            }
            Step::Run(run) => self.run(run)?,
            Step::Usage(usage) => self.emitter.event(&AgentEvent::Usage(usage.into()))?,
            Step::Done(claim) | Step::Lie(claim) => self.claim(claim)?,
            Step::Split(split) => self.split(split)?,
            Step::Stderr(text) => to_stderr(text),
            Step::Sleep(time) => std::thread::sleep(time.0),
            Step::Fail(fail) => return Err(Stop::Failed(fail.clone())),
            Step::Retry(retry) => self.retry(retry)?,
            Step::Refuse(what) => self.emitter.event(&AgentEvent::Refused { what: what.clone() })?,
            Step::Limit(limit) => return self.limit(limit),
            Step::Exit(exit) => return Err(Stop::Exit(exit.code)),
            Step::Hang(_) => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Step::Spin(time) => {
                let began = Instant::now();
                while began.elapsed() < time.0 {
                    std::hint::spin_loop();
                }
            }
            Step::IgnoreSignals(true) => {
                child::ignore_signals().map_err(broken)?;
                self.ignoring = true;
            }
            Step::Leak(leak) => {
                for _ in 0..leak.count.0 {
                    self.deed("leak", "", || child::leak(leak).map(|pid| format!("pid {pid}")))?;
                }
            }
            Step::ForkLoop(forks) => self.deed("fork_loop", &forks.times.0.to_string(), || {
                child::fork_loop(forks).map(|()| String::new())
            })?,
            Step::Flood(much) => flood(&mut self.emitter, much)?,
            Step::Raw(bytes) => self.emitter.raw(&bytes.0)?,
            Step::CloseStdout(true) => close_stdout().map_err(broken)?,
            Step::EchoPrompt(true) => {
                let id = self.emitter.call("prompt", "")?;
                let text = String::from_utf8_lossy(&self.prompt).into_owned();
                self.emitter.answer(id, false, text)?;
            }
            Step::Expect(text) => self.expect(text)?,
            Step::SavePrompt(path) => {
                files::save(&self.turn.fill(path), &self.prompt).map_err(broken)?;
            }
            Step::Vanish(true) => {
                let removed = || files::vanish().map(|dir| format!("removed {}", dir.display()));
                self.deed("vanish", "", removed)?;
            }
            Step::Commit(message) => self.git(GitTrick::Commit, message)?,
            Step::SwitchBranch(name) => self.git(GitTrick::SwitchBranch, name)?,
            Step::Detach(true) => self.git(GitTrick::Detach, "")?,
            Step::StaleLock(true) => self.git(GitTrick::StaleLock, "")?,
            Step::NestedRepo(path) => {
                files::inside(path).map_err(broken)?;
                self.git(GitTrick::NestedRepo, path)?;
            }
            Step::HalfMerge(true) => self.git(GitTrick::HalfMerge, "")?,
            Step::BigFile(file) => self.deed("write", &file.path, || {
                files::big(&file.path, file.mb.0).map(|()| format!("{} MiB", file.mb.0))
            })?,
            Step::Secret(path) => self.deed("write", path, || files::secret(path).map(|()| String::new()))?,
            Step::IgnoreSignals(false)
            | Step::CloseStdout(false)
            | Step::EchoPrompt(false)
            | Step::Vanish(false)
            | Step::Detach(false)
            | Step::StaleLock(false)
            | Step::HalfMerge(false) => {}
        }
        Ok(())
    }

    /// Something the agent does with a tool, and must be able to do.
    fn deed(
        &mut self,
        name: &str,
        summary: &str,
        act: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), Stop> {
        let id = self.emitter.call(name, summary)?;
        match act() {
            Ok(output) => Ok(self.emitter.answer(id, false, output)?),
            Err(message) => {
                self.emitter.answer(id, true, message.clone())?;
                Err(broken(message))
            }
        }
    }

    fn write(&mut self, write: &Write) -> Result<(), Stop> {
        let path = self.turn.fill(&write.path);
        let text = self.turn.fill(&write.text);
        self.deed("write", &path, || {
            files::write(&path, text.as_bytes(), write.append).map(|()| String::new())
        })
    }

    fn git(&mut self, trick: GitTrick, argument: &str) -> Result<(), Stop> {
        let argument = self.turn.fill(argument);
        let ignoring = self.ignoring;
        self.deed(trick.name(), &argument, || trick.play(&argument, ignoring))
    }

    fn run(&mut self, run: &Run) -> Result<(), Stop> {
        let id = self.emitter.call("run", &run.command)?;
        let ran = misbehave::shell(&run.command, "", self.ignoring).map_err(broken)?;
        self.emitter.answer(id, !ran.ok, ran.output)?;
        if run.must && !ran.ok {
            return Err(broken(format!("`{}` failed", run.command)));
        }
        Ok(())
    }

    fn claim(&mut self, claim: &Claim) -> Result<(), Stop> {
        match claim {
            Claim::Nothing => Ok(()),
            Claim::Text(text) => Ok(self.emitter.say(self.turn.fill(text))?),
            Claim::Asked => {
                let text = match promise(&String::from_utf8_lossy(&self.prompt)) {
                    Some(promise) => format!("Everything is done.\n<promise>{promise}</promise>"),
                    None => "Everything is done.".into(),
                };
                Ok(self.emitter.say(text)?)
            }
        }
    }

    fn split(&mut self, split: &Split) -> Result<(), Stop> {
        let middle = split.text.chars().count() / 2;
        let at = split.at.map_or(middle, |at| at as usize);
        let cut = split.text.char_indices().nth(at).map_or(split.text.len(), |(place, _)| place);
        self.emitter.piece(&split.text[..cut])?;
        std::thread::sleep(split.pause.0);
        self.emitter.piece(&split.text[cut..])?;
        Ok(self.emitter.end_pieces()?)
    }

    fn retry(&mut self, retry: &Retry) -> Result<(), Stop> {
        for _ in 0..retry.times.0 {
            std::thread::sleep(retry.pause.0);
            self.emitter
                .event(&AgentEvent::Retry { message: retry.message.clone(), status: retry.status })?;
        }
        Ok(())
    }

    fn limit(&mut self, limit: &Limit) -> Result<(), Stop> {
        let resets_at = limit
            .resets_in
            .and_then(|span| SignedDuration::try_from(span.0).ok())
            .and_then(|span| Timestamp::now().checked_add(span).ok());
        self.emitter.event(&AgentEvent::Limit { message: limit.message.clone(), resets_at })?;
        Err(Stop::Exit(1))
    }

    fn expect(&mut self, text: &str) -> Result<(), Stop> {
        if String::from_utf8_lossy(&self.prompt).contains(text) {
            return Ok(());
        }
        Err(broken(format!("the prompt does not contain `{text}`")))
    }

    fn fail(&mut self, fail: &Fail) -> io::Result<()> {
        self.emitter.event(&AgentEvent::Error {
            failure: if fail.permanent { FailureKind::Permanent } else { FailureKind::Transient },
            fault: fail.message.clone().into(),
        })?;
        self.end("error")
    }

    fn end(&mut self, reason: &str) -> io::Result<()> {
        self.emitter.event(&AgentEvent::End { reason: reason.into() })
    }
}

/// The script asks for something that cannot be done here. Trying again would not help.
fn broken(why: impl Into<Box<dyn std::error::Error>>) -> Stop {
    let message = why.into().to_string();
    complain(&message);
    Stop::Failed(Fail { message: format!("rehearsal: {message}"), permanent: true, ..Fail::default() })
}

/// Whoever reads sees the end, though the process lives.
fn close_stdout() -> io::Result<()> {
    let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nowhere)?)
}

/// The promise a prompt asks for: the first that is not empty.
fn promise(prompt: &str) -> Option<&str> {
    prompt
        .split("<promise>")
        .skip(1)
        .filter_map(|rest| rest.split_once("</promise>"))
        .map(|(promise, _)| promise.trim())
        .find(|promise| !promise.is_empty())
}

/// An id no other session has, in the look of the agents' own. Not a secret, so the standard
/// library's own randomness is enough.
fn new_session() -> String {
    let random = || RandomState::new().hash_one((std::process::id(), Timestamp::now().as_nanosecond()));
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 48) & 0x3fff,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(steps: &str) -> Vec<(usize, Option<usize>)> {
        let text = format!("iterations: [[{steps}]]");
        let script = parse::parse(Path::new("r.yaml"), text.as_bytes()).unwrap();
        (0..4).map(|attempt| entry(&script.iterations[0], attempt)).collect()
    }

    #[test]
    fn later_attempts_go_on_where_earlier_ones_were_stopped() {
        assert_eq!(entries("say: a, say: b"), [(0, None); 4]);
        assert_eq!(entries("say: a, limit: true, say: b"), [(0, Some(1)), (2, None), (2, None), (2, None)]);
        assert_eq!(
            entries("say: a, limit: {attempts: 2}, say: b, exit: {code: 1, attempts: 1}"),
            [(0, Some(1)), (1, Some(1)), (2, Some(3)), (4, None)]
        );
        assert_eq!(
            entries("limit: true, say: a, fail: b"),
            [(0, Some(0)), (1, Some(2)), (1, Some(2)), (1, Some(2))],
            "what always fails is played again each time"
        );
        assert_eq!(entries("hang: false, say: a"), [(0, None); 4]);
    }

    #[test]
    fn the_promise_is_found_where_the_prompt_has_one() {
        assert_eq!(promise("say <promise>DONE</promise>."), Some("DONE"));
        assert_eq!(promise("<promise></promise> <promise> A B </promise>"), Some("A B"));
        assert_eq!(promise("<promise>never closed"), None);
        assert_eq!(promise(""), None);
    }

    #[test]
    fn sessions_differ_and_look_like_uuids() {
        let (one, two) = (new_session(), new_session());
        assert_ne!(one, two);
        assert_eq!(one.len(), 36);
        assert_eq!(one.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    }
}
