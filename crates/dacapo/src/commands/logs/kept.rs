//! What agents and checks printed, as it was kept: byte for byte, known secrets aside.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use dacapo_core::event::{CheckResult, Event};
use dacapo_core::store::{TaskDir, files, read_sealed};

use crate::args::Logs;
use crate::commands::attach::unreadable;
use crate::error::Failure;
use crate::output::words;

/// Which output is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Of one turn.
    Turn(u32),
    /// Standard error of one turn.
    TurnStderr(u32),
    /// Standard error of all turns.
    Stderr,
    /// Of one run of a check, from 1.
    Check(u32),
}

impl Kept {
    pub(super) fn asked(args: &Logs) -> Option<Self> {
        match (args.turn, args.stderr, args.check) {
            (Some(turn), false, _) => Some(Kept::Turn(turn)),
            (Some(turn), true, _) => Some(Kept::TurnStderr(turn)),
            (None, true, _) => Some(Kept::Stderr),
            (None, false, Some(number)) => Some(Kept::Check(number)),
            (None, false, None) => None,
        }
    }
}

/// Prints it, or the last lines of it.
pub(super) fn show(dir: &TaskDir, kept: Kept, lines: Option<usize>) -> Result<u8, Failure> {
    match kept {
        Kept::Turn(turn) => print(&mut of_turn(dir, turn, "raw")?, lines),
        Kept::TurnStderr(turn) => {
            // Without the turn itself there is none; a turn that wrote nothing there need not have the file.
            of_turn(dir, turn, "raw")?;
            if let Ok(mut file) = files::open(&dir.turn_path(turn, "err")) {
                print(&mut file, lines);
            }
        }
        Kept::Stderr => all_stderr(dir, lines)?,
        Kept::Check(number) => print(&mut of_check(dir, number)?, lines),
    }
    Ok(0)
}

fn of_turn(dir: &TaskDir, turn: u32, extension: &str) -> Result<File, Failure> {
    files::open(&dir.turn_path(turn, extension)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("task '{}' has no turn {turn}", dir.name()))
            .hint("turns count from 0: --turn 0"),
        _ => Failure::failed(format!("cannot read turn {turn} of task '{}': {error}", dir.name())),
    })
}

/// A turn after the other, each under a heading where there are several.
fn all_stderr(dir: &TaskDir, lines: Option<usize>) -> Result<(), Failure> {
    let mut turns: Vec<(u32, u32, String)> = Vec::new();
    read_sealed(dir, |line| {
        if let Event::TurnStarted { turn, iteration, agent, .. } = line.event {
            turns.push((turn, iteration, agent));
        }
    })
    .map_err(|error| unreadable(dir, &error.into()))?;
    let mut said: Vec<(File, String)> = Vec::new();
    for (turn, iteration, agent) in &turns {
        let file = files::open(&dir.turn_path(*turn, "err")).ok();
        let file = file.filter(|file| file.metadata().is_ok_and(|found| found.len() > 0));
        said.extend(
            file.map(|file| (file, format!("--- turn {turn}, iteration {}, {agent}", iteration + 1))),
        );
    }
    if said.is_empty() {
        let turns = words::count(turns.len() as u64, "turn");
        complain!("no agent of task '{}' wrote to standard error ({turns})", dir.name());
    }
    let several = said.len() > 1;
    for (mut file, heading) in said {
        if several {
            let _ = writeln!(io::stdout().lock(), "{heading}");
        }
        print(&mut file, lines);
        if several && !ends_a_line(&mut file) {
            let _ = writeln!(io::stdout().lock());
        }
    }
    Ok(())
}

fn ends_a_line(file: &mut File) -> bool {
    let mut last = [0];
    file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).is_ok() && last == *b"\n"
}

fn of_check(dir: &TaskDir, number: u32) -> Result<File, Failure> {
    let mut runs: Vec<(u64, CheckResult)> = Vec::new();
    read_sealed(dir, |line| {
        if let Event::CheckFinished(check) = line.event {
            runs.push((line.seq, check));
        }
    })
    .map_err(|error| unreadable(dir, &error.into()))?;
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
            Some((_, check)) => Failure::failed(format!(
                "what run {number} of the checks of task '{}' printed is not there any more",
                dir.name()
            ))
            .kept(format!(
                "its receipt: `{}` {}",
                words::line(&check.command, 80),
                check.ending()
            )),
            None => {
                let have = words::count(runs.len() as u64, "time");
                Failure::usage(format!(
                    "checks of task '{}' ran {have}: there is no run {number}",
                    dir.name()
                ))
                .hint("runs count from 1, those before the first iteration and of proofs included")
            }
        });
    };
    files::open(&path).map_err(|error| Failure::failed(format!("cannot read {}: {error}", path.display())))
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

/// Byte for byte: no text layer in between. A reader that has gone is no failure.
fn print(file: &mut File, lines: Option<usize>) {
    let from = lines.map_or(Ok(0), |lines| last_lines(file, lines));
    let copied = from
        .and_then(|from| file.seek(SeekFrom::Start(from)))
        .and_then(|_| io::copy(file, &mut io::stdout().lock()));
    crate::commands::wrote(copied);
}

/// Where the last so many lines begin, found from the end: there may be gigabytes before them.
fn last_lines(file: &mut File, lines: usize) -> io::Result<u64> {
    const CHUNK: usize = 64 << 10;
    let length = file.seek(SeekFrom::End(0))?;
    let (mut at, mut left) = (length, lines);
    let mut chunk = vec![0; CHUNK];
    while at > 0 {
        let size = CHUNK.min(usize::try_from(at).unwrap_or(CHUNK));
        at -= size as u64;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut chunk[..size])?;
        for place in (0..size).rev() {
            let position = at + place as u64;
            // The newline at the very end ends the last line and begins none.
            if chunk[place] == b'\n' && position + 1 < length {
                if left <= 1 {
                    return Ok(if lines == 0 { length } else { position + 1 });
                }
                left -= 1;
            }
        }
    }
    Ok(if lines == 0 { length } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_the_last_lines_are_found_from_the_end() {
        let long = format!("{}\nlast", "x".repeat(200_000));
        for (text, lines, last) in [
            ("a\nb\nc\n", 2, "b\nc\n"),
            ("a\nb\nc", 1, "c"),
            ("a\nb\n", 9, "a\nb\n"),
            ("a\n\n", 1, "\n"),
            ("a\nb\n", 0, ""),
            ("", 3, ""),
            (long.as_str(), 1, "last"),
            (long.as_str(), 2, long.as_str()),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let from = usize::try_from(last_lines(&mut file, lines).unwrap()).unwrap();
            assert_eq!(&text[from..], last, "{lines} of {text:.20}");
        }
    }
}
