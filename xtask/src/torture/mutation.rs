//! What can happen to a file on a disk that is old, full, or in the hands of an agent.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::case::Case;
use super::random::Random;
use crate::Outcome;

/// A change to the lines of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// Some bits are others.
    Flip,
    /// The end is gone, in the middle of a line.
    CutInside,
    /// The end is gone, with whole lines.
    CutLines,
    MissingLine,
    DoubledLine,
    SwappedLines,
    /// A whole last line of a type that only a newer version knows.
    UnknownEvent,
    /// The same, in the middle.
    UnknownInside,
    Garbage,
    Zeros,
    EmptyLine,
    WindowsLines,
    WholeTwice,
    NewerFormat,
    LongLine,
    DeepLine,
    HugeNumber,
    Empty,
}

impl Edit {
    pub(super) const ALL: [Self; 18] = [
        Self::Flip,
        Self::CutInside,
        Self::CutLines,
        Self::MissingLine,
        Self::DoubledLine,
        Self::SwappedLines,
        Self::UnknownEvent,
        Self::UnknownInside,
        Self::Garbage,
        Self::Zeros,
        Self::EmptyLine,
        Self::WindowsLines,
        Self::WholeTwice,
        Self::NewerFormat,
        Self::LongLine,
        Self::DeepLine,
        Self::HugeNumber,
        Self::Empty,
    ];

    /// Whether a reader can and must see that lines are doubled, missing or out of order (R4).
    pub(super) fn breaks_the_record(self) -> bool {
        match self {
            Self::MissingLine | Self::DoubledLine | Self::SwappedLines | Self::WholeTwice => true,
            Self::Flip
            | Self::CutInside
            | Self::CutLines
            | Self::UnknownEvent
            | Self::UnknownInside
            | Self::Garbage
            | Self::Zeros
            | Self::EmptyLine
            | Self::WindowsLines
            | Self::NewerFormat
            | Self::LongLine
            | Self::DeepLine
            | Self::HugeNumber
            | Self::Empty => false,
        }
    }

    pub(super) fn apply(self, random: &mut Random, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        // Neither the first line, without which it is no journal, nor the last, behind which none is missed.
        let Some(last) = lines.len().checked_sub(1) else { return Vec::new() };
        let inside = (1 + random.below(last.saturating_sub(1))).min(last);
        let unknown = |seq: usize| {
            let line = "{\"v\":3,\"seq\":SEQ,\"at\":\"2030-01-01T00:00:00Z\",\"elapsed_seconds\":0.009,\"task\":\"t\",\
                        \"type\":\"moon_phase\",\"phase\":\"full\"}\n";
            line.replace("SEQ", &seq.to_string()).into_bytes()
        };
        match self {
            Self::Flip => {
                let mut all = bytes.to_vec();
                for _ in 0..1 + random.below(8) {
                    let at = random.below(all.len());
                    if let Some(byte) = all.get_mut(at) {
                        *byte ^= 1 << random.below(8);
                    }
                }
                return all;
            }
            Self::CutInside => {
                let first = lines[0].len();
                return bytes[..first + random.below(bytes.len() - first)].to_vec();
            }
            Self::CutLines => lines.truncate(1 + random.below(lines.len())),
            Self::MissingLine => drop(lines.remove(inside)),
            Self::DoubledLine => lines.insert(inside, lines[inside].clone()),
            Self::SwappedLines => {
                let other = (1 + random.below(last.saturating_sub(1))).min(last);
                let other = if other == inside { (inside + 1).min(last) } else { other };
                lines.swap(inside, other);
            }
            Self::UnknownEvent => lines.push(unknown(lines.len())),
            Self::UnknownInside => lines.insert(inside, unknown(inside)),
            Self::Garbage => {
                let mut junk = random.bytes(80);
                junk.push(b'\n');
                lines.insert(inside, junk);
            }
            Self::Zeros => lines.push(vec![0; 4096]),
            Self::EmptyLine => lines.insert(inside, b"\n".to_vec()),
            Self::WindowsLines => {
                for line in &mut lines {
                    let end = line.len() - 1;
                    line.insert(end, b'\r');
                }
            }
            Self::WholeTwice => lines.extend(lines.clone()),
            Self::NewerFormat => {
                let text = String::from_utf8_lossy(&lines[inside]).replace("\"v\":3", "\"v\":99");
                lines[inside] = text.into_bytes();
            }
            Self::LongLine => lines.insert(inside, [&vec![b'x'; 5_000_000][..], b"\n"].concat()),
            Self::DeepLine => lines.insert(inside, [&vec![b'['; 200_000][..], b"\n"].concat()),
            Self::HugeNumber => {
                let text = String::from_utf8_lossy(&lines[inside]).replacen(
                    "\"elapsed_seconds\":",
                    "\"elapsed_seconds\":18446744073709551615",
                    1,
                );
                lines[inside] = text.into_bytes();
            }
            Self::Empty => lines.clear(),
        }
        lines.concat()
    }
}

/// Something else in the place of a file, or of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swap {
    Gone,
    Fifo,
    /// A link to a file of the user's.
    Link,
    /// A link to where nothing is.
    LinkToNothing,
    /// A link to itself.
    LinkInCircles,
    Directory,
    /// Nobody may read it, where one is not root.
    Closed,
    /// Everybody may write it.
    Open,
    Truncated,
    Noise,
}

impl Swap {
    pub(super) const ALL: [Self; 10] = [
        Self::Gone,
        Self::Fifo,
        Self::Link,
        Self::LinkToNothing,
        Self::LinkInCircles,
        Self::Directory,
        Self::Closed,
        Self::Open,
        Self::Truncated,
        Self::Noise,
    ];

    /// Puts it there, whatever is there now.
    pub(super) fn apply(self, case: &mut Case, path: &Path) -> Outcome {
        let noise = case.random.bytes(500);
        // Not through a link that was planted before: what it leads to is the user's.
        let is_link = path.is_symlink();
        let mode = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        let done = match self {
            Self::Closed | Self::Open if is_link => Ok(()),
            Self::Closed => mode(0o000),
            Self::Open => mode(0o777),
            Self::Truncated if path.is_file() && !is_link => fs::write(path, ""),
            Self::Noise if path.is_file() && !is_link => fs::write(path, noise),
            Self::Gone
            | Self::Fifo
            | Self::Link
            | Self::LinkToNothing
            | Self::LinkInCircles
            | Self::Directory
            | Self::Truncated
            | Self::Noise => {
                clear(path)?;
                match self {
                    Self::Fifo => fifo(path),
                    Self::Link => symlink(case.path("home/letter.txt"), path),
                    Self::LinkToNothing => symlink("/nowhere/at/all", path),
                    Self::LinkInCircles => symlink(path, path),
                    Self::Directory => fs::create_dir(path),
                    Self::Noise => fs::write(path, noise),
                    Self::Gone | Self::Closed | Self::Open | Self::Truncated => Ok(()),
                }
            }
        };
        done.map_err(|e| format!("cannot put {self:?} at {}: {e}", path.display()))
    }
}

pub(super) fn fifo(path: &Path) -> std::io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

fn clear(path: &Path) -> Outcome {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.map_err(|e| format!("cannot remove {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edit_changes_something_and_none_breaks() {
        let journal: String =
            (0..12).map(|n| format!("{{\"v\":3,\"seq\":{n},\"elapsed_seconds\":{n}}}\n")).collect();
        for edit in Edit::ALL {
            for case in 0..50 {
                let mut random = Random::of_case(1, case);
                let edited = edit.apply(&mut random, journal.as_bytes());
                // Cutting may cut nothing, and two bits may flip each other back.
                let may_be_same = matches!(edit, Edit::CutLines | Edit::Flip);
                assert!(may_be_same || edited != journal.as_bytes(), "{edit:?} {case}");
            }
        }
    }

    #[test]
    fn short_journals_are_edited_too() {
        for journal in ["{\"v\":3}\n", "{\"v\":3}\n{\"v\":3}\n", "{\"v\":3}\n{\"v\":3}\n{\"v\":3}\n"] {
            for edit in Edit::ALL {
                edit.apply(&mut Random::of_case(1, 1), journal.as_bytes());
            }
        }
    }
}
