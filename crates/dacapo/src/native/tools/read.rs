//! Reads a file for the model: as much as is useful to it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use serde::Deserialize;

use super::place::{Place, failed};

/// How much is shown at once.
const SHOWN: usize = 48 << 10;

/// A longer line is data, not text.
const LONGEST_LINE: usize = 4 << 10;

/// How far into a file a line is looked for.
const FAR: u64 = 64 << 20;

/// Text has no NUL in its first bytes.
const LOOKED_AT: usize = 8 << 10;

#[derive(Debug, Deserialize)]
pub(super) struct ReadArguments {
    path: String,
    #[serde(default)]
    first_line: Option<u64>,
    #[serde(default)]
    last_line: Option<u64>,
}

pub(super) fn run(place: &Place, wanted: &ReadArguments) -> Result<String, String> {
    let path = wanted.path.as_str();
    let file = place.read(path)?;
    let size = file.metadata().map_err(|error| failed("read", path, &error))?.len();
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let start = reader.fill_buf().map_err(|error| failed("read", path, &error))?;
    if is_binary(&start[..start.len().min(LOOKED_AT)]) {
        return Err(format!("{} is a binary file of {size} bytes", path.escape_debug()));
    }
    let first = wanted.first_line.unwrap_or(1).max(1);
    let last = wanted.last_line.unwrap_or(u64::MAX);
    if last < first {
        return Err(format!("there are no lines from {first} to {last}"));
    }
    lines(reader, first, last, size).map_err(|error| failed("read", path, &error))
}

/// The lines from `first` to `last`, as many as can be shown, and where there are more.
fn lines(reader: BufReader<File>, first: u64, last: u64, size: u64) -> std::io::Result<String> {
    let mut reader = reader.take(FAR);
    let mut shown = String::new();
    let mut number = 0;
    let mut line = Vec::new();
    while number < last {
        line.clear();
        let (length, whole) = next_line(&mut reader, &mut line)?;
        if length == 0 {
            break;
        }
        number += 1;
        if number < first {
            continue;
        }
        if shown.len() + line.len() > SHOWN {
            return Ok(format!(
                "{shown}[more from line {number} on; the file has {size} bytes. Use first_line and last_line, or search]"
            ));
        }
        shown.push_str(&String::from_utf8_lossy(&line));
        if !whole {
            shown.push_str(&format!("[... line {number} has {length} bytes and was cut]\n"));
        }
    }
    if shown.is_empty() && reader.limit() == 0 {
        return Ok(format!("[line {first} is too far into a file of {size} bytes]"));
    }
    Ok(match (number, shown.is_empty()) {
        (0, _) => "[the file is empty]".into(),
        (_, true) => format!("[the file has only {number} lines]"),
        (_, false) => shown,
    })
}

/// Reads a line, but keeps no more than the beginning of an overlong one. Tells its length and whether it is whole.
fn next_line(reader: &mut impl std::io::BufRead, line: &mut Vec<u8>) -> std::io::Result<(usize, bool)> {
    let mut length = 0;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        let room = LONGEST_LINE.saturating_sub(line.len());
        line.extend_from_slice(&chunk[..taken.min(room)]);
        length += taken;
        reader.consume(taken);
        if end.is_some() {
            break;
        }
    }
    Ok((length, length == line.len()))
}

pub(super) fn is_binary(start: &[u8]) -> bool {
    start[..start.len().min(LOOKED_AT)].contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(content: &[u8], first_line: Option<u64>, last_line: Option<u64>) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), content).unwrap();
        run(&Place::open(dir.path()).unwrap(), &ReadArguments { path: "f".into(), first_line, last_line })
    }

    #[test]
    fn text_comes_as_it_is_or_by_lines() {
        assert_eq!(shown(b"a\nb\r\nc", None, None).unwrap(), "a\nb\r\nc");
        assert_eq!(shown(b"a\nb\nc\n", Some(2), Some(2)).unwrap(), "b\n");
        assert_eq!(shown(b"a\nb\n", Some(0), Some(1)).unwrap(), "a\n");
        assert_eq!(shown(b"a\nb\n", Some(3), None).unwrap(), "[the file has only 2 lines]");
        assert_eq!(shown(b"", None, None).unwrap(), "[the file is empty]");
        assert!(shown(b"a\n", Some(3), Some(2)).unwrap_err().contains("no lines from 3 to 2"));
    }

    #[test]
    fn r3_binary_and_huge_files_are_described() {
        assert!(shown(b"\x7fELF\0\0", None, None).unwrap_err().contains("a binary file of 6 bytes"));
        let lines = "0123456789\n".repeat(1 << 20);
        let text = shown(lines.as_bytes(), None, None).unwrap();
        assert!(
            text.len() < SHOWN + 200 && text.contains("[more from line 4469 on; the file has 11534336 bytes")
        );
        let middle = shown(lines.as_bytes(), Some(1_000_000), Some(1_000_001)).unwrap();
        assert_eq!(middle, "0123456789\n0123456789\n");
        let one_line = shown(&vec![b'x'; 10 << 20], None, None).unwrap();
        assert!(
            one_line.len() < LONGEST_LINE + 100 && one_line.contains("line 1 has 10485760 bytes and was cut")
        );
        let block = [vec![b'x'; 1 << 20], vec![b'\n']].concat().repeat(70);
        let far = shown(&block, Some(69), None).unwrap();
        assert!(far.contains("too far into a file"), "{far}");
    }
}
