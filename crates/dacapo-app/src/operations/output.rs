//! What agents and checks printed, as it was kept: byte for byte, known secrets aside.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use dacapo_core::event::{CheckResult, Event};
use dacapo_core::store::{TaskDir, files, read_sealed};

use super::follow::not_followed;
use crate::error::Failure;
use crate::messages::say;
use crate::present::words;

/// What the agent of one turn wrote to standard error.
#[derive(Debug)]
pub struct TurnStderr {
    pub turn: u32,
    /// From 0.
    pub iteration: u32,
    pub agent: String,
    pub file: File,
}

/// What the agent printed in a turn.
pub fn turn(dir: &TaskDir, turn: u32) -> Result<File, Failure> {
    of_turn(dir, turn, "raw")
}

/// What it wrote to standard error then; none: nothing.
pub fn turn_stderr(dir: &TaskDir, turn: u32) -> Result<Option<File>, Failure> {
    // Without the turn itself there is none; a turn that wrote nothing there need not have the file.
    of_turn(dir, turn, "raw")?;
    Ok(files::open(&dir.turn_path(turn, "err")).ok())
}

/// Standard error of all turns that wrote something there, and how many turns there were.
pub fn stderr(dir: &TaskDir) -> Result<(Vec<TurnStderr>, usize), Failure> {
    let mut turns: Vec<(u32, u32, String)> = Vec::new();
    read_sealed(dir, |line| {
        if let Event::TurnStarted { turn, iteration, agent, .. } = line.event {
            turns.push((turn, iteration, agent));
        }
    })
    .map_err(|error| not_followed(dir, &error.into()))?;
    let count = turns.len();
    let wrote = turns.into_iter().filter_map(|(turn, iteration, agent)| {
        let file = files::open(&dir.turn_path(turn, "err")).ok()?;
        let some = file.metadata().is_ok_and(|found| found.len() > 0);
        some.then_some(TurnStderr { turn, iteration, agent, file })
    });
    Ok((wrote.collect(), count))
}

/// What one run of a check printed; runs count from 1, those before the first iteration and of proofs included.
pub fn check(dir: &TaskDir, number: u32) -> Result<File, Failure> {
    of_check(dir, number)
}

fn of_turn(dir: &TaskDir, turn: u32, extension: &str) -> Result<File, Failure> {
    files::open(&dir.turn_path(turn, extension)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(say(|m| m.output_no_turn(&dir.name(), turn)))
            .hint(say(|m| m.output_turns_from_zero())),
        _ => Failure::failed(say(|m| m.output_turn_unreadable(turn, &dir.name(), &error.to_string()))),
    })
}

fn of_check(dir: &TaskDir, number: u32) -> Result<File, Failure> {
    let mut runs: Vec<(u64, CheckResult)> = Vec::new();
    read_sealed(dir, |line| {
        if let Event::CheckFinished(check) = line.event {
            runs.push((line.seq, check));
        }
    })
    .map_err(|error| not_followed(dir, &error.into()))?;
    let at = number as usize;
    let before = at.checked_sub(2).and_then(|at| runs.get(at)).map(|(seq, _)| *seq);
    let until = match at.checked_sub(1).map(|at| (at, runs.get(at))) {
        Some((_, Some((seq, _)))) => Some(*seq),
        // The one at work, or one that was ended with its task.
        Some((at, None)) if at == runs.len() => Some(u64::MAX),
        _ => None,
    };
    let path = until.and_then(|until| newest_file(dir, before, until));
    let Some(path) = path else {
        return Err(match runs.get(at.wrapping_sub(1)) {
            Some((_, check)) => {
                Failure::failed(say(|m| m.output_check_gone(number, &dir.name()))).kept(say(|m| {
                    let ending = words::exit(&check.ended(), m);
                    m.output_kept_receipt(&words::line(&check.command, 80), &ending)
                }))
            }
            None => Failure::usage(say(|m| m.output_no_check_run(&dir.name(), runs.len() as u64, number)))
                .hint(say(|m| m.output_runs_from_one())),
        });
    };
    files::open(&path).map_err(|error| {
        Failure::failed(say(|m| m.cannot_read(&path.display().to_string(), &error.to_string())))
    })
}

/// The output of a check is named after where the journal was when it began: behind the end of the check before it and
/// before its own.
fn newest_file(dir: &TaskDir, behind: Option<u64>, until: u64) -> Option<PathBuf> {
    let directory = dir.check_path(0).parent()?.to_owned();
    let numbers = std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".raw")?.parse::<u64>().ok());
    let own =
        numbers.filter(|number| *number <= until && behind.is_none_or(|behind| *number > behind)).max()?;
    Some(dir.check_path(own))
}
