//! What agents and checks printed, byte for byte, on standard output.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use dacapo_app::operations::output;
use dacapo_core::store::TaskDir;

use crate::args::Logs;
use crate::commands::Console;
use crate::commands::console::Printer;
use crate::error::Failure;

/// Which output is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptOutput {
    /// The output of one turn.
    Turn(u32),
    /// Standard error of one turn.
    TurnStderr(u32),
    /// Standard error of all turns.
    Stderr,
    /// Of one run of a check, from 1.
    Check(u32),
}

impl KeptOutput {
    pub(super) fn asked(args: &Logs) -> Option<Self> {
        match (args.turn, args.stderr, args.check) {
            (Some(turn), false, _) => Some(KeptOutput::Turn(turn)),
            (Some(turn), true, _) => Some(KeptOutput::TurnStderr(turn)),
            (None, true, _) => Some(KeptOutput::Stderr),
            (None, false, Some(number)) => Some(KeptOutput::Check(number)),
            (None, false, None) => None,
        }
    }
}

/// Prints it, or the last lines of it.
pub(super) fn show(
    app: &Console,
    dir: &TaskDir,
    kept: KeptOutput,
    lines: Option<usize>,
) -> Result<u8, Failure> {
    let print = |file: &mut File| print(file, lines, &app.printer);
    match kept {
        KeptOutput::Turn(turn) => print(&mut output::turn(dir, turn)?),
        KeptOutput::TurnStderr(turn) => {
            if let Some(mut file) = output::turn_stderr(dir, turn)? {
                print(&mut file);
            }
        }
        KeptOutput::Stderr => all_stderr(app, dir, print)?,
        KeptOutput::Check(number) => print(&mut output::check(dir, number)?),
    }
    Ok(0)
}

/// A turn after the other, each under a heading where there are several.
fn all_stderr(app: &Console, dir: &TaskDir, print: impl Fn(&mut File)) -> Result<(), Failure> {
    let messages = app.messages;
    let (said, turns) = output::stderr(dir)?;
    if said.is_empty() {
        complain!("{}", messages.output_no_stderr(&dir.name(), &messages.turns(turns as u64)));
    }
    let several = said.len() > 1;
    for mut one in said {
        if several {
            let heading = messages.output_turn_heading(one.turn, one.iteration + 1, &one.agent);
            let _ = writeln!(io::stdout().lock(), "{heading}");
        }
        print(&mut one.file);
        if several && !ends_a_line(&mut one.file) {
            let _ = writeln!(io::stdout().lock());
        }
    }
    Ok(())
}

fn ends_a_line(file: &mut File) -> bool {
    let mut last = [0];
    file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).is_ok() && last == *b"\n"
}

/// Byte for byte: no text layer in between. A reader that has gone is no failure.
fn print(file: &mut File, lines: Option<usize>, printer: &Printer) {
    let from = lines.map_or(Ok(0), |lines| last_lines(file, lines));
    let copied = from
        .and_then(|from| file.seek(SeekFrom::Start(from)))
        .and_then(|_| io::copy(file, &mut io::stdout().lock()));
    printer.wrote(copied);
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
