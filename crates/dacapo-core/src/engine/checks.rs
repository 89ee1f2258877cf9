//! Runs a check and keeps its receipt (L4).

use std::ffi::OsString;
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::listen::{Waited, Wakeup};
use super::machine::{CheckPlan, Input};
use super::mailbox::Report;
use crate::context::tail_lines;
use crate::event::{CheckPhase, CheckResult, Exposed};
use crate::files::FileAction;
use crate::process::{Content, Exit, Job, Stderr, Stop, tail};
use crate::proof::Whose;
use crate::store::files;
use crate::yardstick::tests_run;

/// How much of what a check printed goes into its receipt.
pub(super) const TAIL_BYTES: usize = 8 << 10;
pub(super) const TAIL_LINES: usize = 60;
/// How much of it is looked through for the summaries of test runners.
const SUMMARY_BYTES: usize = 4 << 20;

/// A command line to be run to its end.
pub(super) struct Shell<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) output: &'a Path,
    pub(super) timeout: Duration,
    /// For whom it is.
    pub(super) whose: Whose,
}

/// How a command ended.
pub(super) struct Ran {
    pub(super) exit: Exit,
    /// Its time limit ended it.
    pub(super) timed_out: bool,
    /// In a proof: why it could see what the agent left.
    pub(super) exposed: Option<Exposed>,
    /// Something killed its guard, and so the command.
    pub(super) guard_lost: bool,
}

impl Driver<'_> {
    /// None: the task is to stop and the check was ended; its result means nothing.
    pub(super) fn run_check(&mut self, plan: &CheckPlan) -> Result<Option<Input>, DriverError> {
        self.record.sink.activity(&Activity::Check(&plan.command));
        let started = Instant::now();
        let cwd = match plan.phase {
            CheckPhase::Baseline | CheckPhase::Iteration => self.workspace()?.repo.toplevel().to_owned(),
            CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => match self.proof.tree() {
                Some(tree) => tree,
                None => {
                    let message = "the checkout of the commit is not at hand".to_owned();
                    return Ok(Some(Input::ProofUnavailable { message, cure: None }));
                }
            },
        };
        let output = self.dir.check_path(self.record.next_seq());
        self.keep_directory_of(&output)?;
        let env = as_in_ci(self.environment(&cwd));
        let (command, timeout) = (plan.command.as_str(), plan.timeout);
        let shell = Shell { command, cwd, env, output: &output, timeout, whose: plan.phase.into() };
        let Some(Ran { exit, timed_out, exposed, guard_lost }) = self.run_shell(shell)? else {
            return Ok(None);
        };
        if guard_lost && plan.phase.is_of_proof() {
            // That says nothing about the commit, and what the check has left must not meet a second run.
            let message = format!("something killed the guard process of `{}`", plan.command);
            return Ok(Some(Input::ProofUnavailable { message, cure: None }));
        }
        let changed_files = match plan.phase {
            CheckPhase::Baseline | CheckPhase::Iteration => self.workspace_mut()?.note_new_litter()?,
            CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => Vec::new(),
        };
        let ended = Ended { exit, timed_out, took: started.elapsed() };
        let result = CheckResult { changed_files, exposed, ..receipt(plan, &output, &ended) };
        if plan.phase.is_of_proof() {
            self.proof.note(&result);
        }
        Ok(Some(Input::CheckDone(result)))
    }

    /// Runs a command to its end: in the proof at work, if there is one. None: the task is to stop, and it was ended.
    pub(super) fn run_shell(&mut self, shell: Shell<'_>) -> Result<Option<Ran>, DriverError> {
        let Shell { command, cwd, env, output, timeout, whose } = shell;
        if output.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            self.clear_way(output)?;
        }
        // Of a run that a crash cut short; it is no evidence.
        match std::fs::remove_file(output) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(DriverError::File { what: FileAction::Remove, path: output.to_owned(), source });
            }
            _ => {}
        }
        let job = Job { holds: self.slot_shares(), ..job(command, cwd, env, output) };
        let job = self.proof.house(job, whose);
        let outbox = self.mailbox.outbox();
        let running = self.launcher.launch(job, move |finished| {
            outbox.report(Report::ChildGone(Box::new(finished)));
        })?;
        self.launcher.prepare();
        let mut deadline = Some(Instant::now() + timeout);
        let (mut timed_out, mut cancelled) = (false, false);
        self.wait(deadline, |driver, heard| {
            match heard {
                Wakeup::Report(Report::ChildGone(finished)) => {
                    // How a proof ran is in the receipts of its checks.
                    if driver.proof.tree().is_none() {
                        driver.turns.room = finished.room;
                    }
                    driver.report_leftovers(&finished)?;
                    let exposed = driver.proof.exposed(&finished);
                    let guard_lost = finished.guard_lost;
                    let ran = Ran { exit: finished.exit, timed_out, exposed, guard_lost };
                    return Ok(Waited::Break((!cancelled).then_some(ran)));
                }
                Wakeup::Stop => {
                    cancelled = true;
                    deadline = None;
                    running.stop(Stop::Gentle);
                }
                Wakeup::Deadline => {
                    timed_out = true;
                    deadline = None;
                    running.stop(Stop::Gentle);
                }
                other @ (Wakeup::Commands | Wakeup::Report(_)) => driver.nobody_waits_for(other),
            }
            Ok(Waited::Continue(deadline))
        })
    }
}

/// How the run of a check ended.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) timed_out: bool,
    pub(crate) took: Duration,
}

/// A check as it is run, wherever it is run from.
pub(crate) fn job(command: &str, cwd: PathBuf, env: Vec<(OsString, OsString)>, output: &Path) -> Job {
    Job {
        argv: vec!["sh".into(), "-c".into(), command.into()],
        cwd,
        env,
        stdin: Vec::new().into(),
        stdout: output.to_owned(),
        content: Content::Text,
        index: None,
        stderr: Stderr::WithStdout,
        grace: Duration::from_secs(1),
        holds: Vec::new(),
        room: None,
    }
}

/// The environment of a check (L4).
pub(crate) fn as_in_ci(mut env: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    // Removed first: of a variable that is given twice, programs see either one.
    env.retain(|(name, _)| name != "CI");
    env.push(("CI".into(), "1".into()));
    env
}

/// The receipt of a run whose output is on file.
pub(crate) fn receipt(plan: &CheckPlan, output: &Path, ended: &Ended) -> CheckResult {
    let text = tail(output, TAIL_BYTES * 2).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    CheckResult {
        phase: plan.phase,
        iteration: plan.iteration,
        index: plan.index,
        command: plan.command.clone(),
        exit_code: if let Exit::Code(code) = ended.exit { Some(code) } else { None },
        timed_out: ended.timed_out,
        duration_ms: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
        commit: plan.commit.clone(),
        tail: tail_lines(&text, TAIL_LINES, TAIL_BYTES).to_owned(),
        fingerprint: fingerprint(output, &ended.exit, ended.timed_out),
        tests_run: tail(output, SUMMARY_BYTES)
            .ok()
            .and_then(|text| tests_run(&String::from_utf8_lossy(&text))),
        changed_files: Vec::new(),
        exposed: None,
    }
}

/// A digest of what a check printed, digits and colours aside: counts, times and addresses differ from run to run.
fn fingerprint(output: &Path, exit: &Exit, timed_out: bool) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(format!("{exit:?} {timed_out}").as_bytes());
    if let Ok(file) = files::open(output) {
        let mut plain = Plain::default();
        let mut reader = io::BufReader::with_capacity(64 << 10, file);
        let mut chunk = vec![0; 64 << 10];
        while let Ok(read @ 1..) = reader.read(&mut chunk) {
            hasher.write(plain.keep(&mut chunk[..read]));
        }
    }
    format!("{:016x}", hasher.finish())
}

/// Drops digits and terminal escapes from a stream of bytes.
#[derive(Debug, Default)]
struct Plain {
    escape: Escape,
}

#[derive(Debug, Default, PartialEq)]
enum Escape {
    #[default]
    None,
    Begun,
    Sequence,
}

impl Plain {
    fn keep<'a>(&mut self, bytes: &'a mut [u8]) -> &'a [u8] {
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            let keep = match self.escape {
                Escape::None if byte == 0x1b => {
                    self.escape = Escape::Begun;
                    false
                }
                Escape::None => !byte.is_ascii_digit(),
                Escape::Begun => {
                    self.escape = if byte == b'[' { Escape::Sequence } else { Escape::None };
                    false
                }
                // A sequence that begins with `ESC [` ends with a byte from `@` to `~`.
                Escape::Sequence => {
                    if (0x40..=0x7e).contains(&byte) {
                        self.escape = Escape::None;
                    }
                    false
                }
            };
            if keep {
                bytes[kept] = byte;
                kept += 1;
            }
        }
        &bytes[..kept]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print_of(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, text).unwrap();
        fingerprint(&path, &Exit::Code(1), false)
    }

    #[test]
    fn l11_the_same_failure_has_the_same_fingerprint_digits_and_colours_aside() {
        assert_eq!(print_of("1 failed in 0.53s\n"), print_of("\u{1b}[31m1 failed\u{1b}[0m in 12.1s\n"));
        assert_ne!(print_of("a failed"), print_of("b failed"));
    }
}
