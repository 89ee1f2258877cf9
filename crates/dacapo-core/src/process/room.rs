//! Rooms: what a job sees of the machine, as plain data, and whether the kernel granted it.
//!
//! A room is a mount and a pid namespace that the guard makes for one job (`room/linux.rs`). Directories in it can be empty,
//! or show another directory; everything else is as it is outside. Where the kernel refuses, the job runs without, and
//! [`Finished::room_refused`](super::Finished) says so.

use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

pub(super) use platform::{Inside, enter};

/// The places that differ from outside. Where one lies in another, the inner one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    pub places: Vec<Place>,
}

/// A directory or file of a room, by a path without links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub path: PathBuf,
    pub shows: Shows,
}

/// What is found at a place. In the order of strictness: of two for the same path the first counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shows {
    /// An empty directory, in memory.
    Nothing,
    /// What is at another path outside.
    Other(PathBuf),
    /// What is there outside, although the directory around it shows something else.
    Itself,
}

impl Room {
    /// Adds a place.
    pub fn show(&mut self, path: impl Into<PathBuf>, shows: Shows) {
        self.places.push(Place { path: path.into(), shows });
    }

    /// Returns true if a path leads to the same in the room as outside.
    pub fn is_seen(&self, path: &Path) -> bool {
        let around = self.places.iter().filter(|place| path.starts_with(&place.path));
        // Of two for the same path the stricter one counts.
        let nearest = around.min_by(|one, other| {
            let length = |place: &Place| place.path.components().count();
            length(other).cmp(&length(one)).then_with(|| one.shows.cmp(&other.shows))
        });
        nearest.is_none_or(|place| place.shows == Shows::Itself)
    }

    /// The places to be made: outer ones first, one for each path, none that would change nothing.
    fn ordered(&self) -> Vec<&Place> {
        let mut places: Vec<&Place> = self.places.iter().collect();
        places.sort();
        places.dedup_by(|later, kept| later.path == kept.path);
        let is_inside = |place: &Place, outer: &Path| place.path != outer && place.path.starts_with(outer);
        let changed: Vec<PathBuf> = places
            .iter()
            .filter(|place| place.shows != Shows::Itself)
            .map(|place| place.path.clone())
            .collect();
        let matters = |place: &&Place| {
            place.shows != Shows::Itself || changed.iter().any(|outer| is_inside(place, outer))
        };
        places.into_iter().filter(matters).collect()
    }
}

/// The step of making a room that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomStep {
    /// To make the namespaces.
    Namespaces,
    /// To name the user in the new user namespace.
    User,
    /// To take mounts out of the sight of others.
    Mounts,
    /// To take hold of what stays, or is shown elsewhere.
    Keep,
    /// To put something else in a directory's place.
    Hide,
    /// To show its own processes only.
    Processes,
    /// To give up the rights that could undo all this.
    Rights,
}

impl RoomStep {
    const ALL: [Self; 7] =
        [Self::Namespaces, Self::User, Self::Mounts, Self::Keep, Self::Hide, Self::Processes, Self::Rights];

    pub(super) fn to_byte(self) -> u8 {
        self as u8
    }

    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// The call of the kernel that it stands for, as people know it.
    pub fn call(self) -> &'static str {
        match self {
            Self::Namespaces => "clone",
            Self::User => "uid_map",
            Self::Mounts | Self::Hide => "mount",
            Self::Keep => "open_tree",
            Self::Processes => "mount /proc",
            Self::Rights => "capset",
        }
    }
}

/// Why a job ran without the room it was to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoomRefused {
    pub step: RoomStep,
    /// The system's number for the error.
    pub errno: i32,
}

impl RoomRefused {
    fn at(step: RoomStep) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self { step, errno: error.raw_os_error().unwrap_or(libc::EINVAL) }
    }
}

impl std::fmt::Display for RoomRefused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.step.call(), io::Error::from_raw_os_error(self.errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_places_come_after_outer_ones_and_stricter_ones_win() {
        let mut room = Room::default();
        room.show("/data/proof/0", Shows::Itself);
        room.show("/tmp/x/home", Shows::Itself);
        room.show("/tmp/x/repo", Shows::Itself);
        room.show("/tmp", Shows::Other("/data/proof/0/temp".into()));
        room.show("/tmp/x/repo", Shows::Nothing);
        room.show("/tmpfiles", Shows::Itself);
        let made: Vec<(&str, &Shows)> =
            room.ordered().iter().map(|place| (place.path.to_str().unwrap(), &place.shows)).collect();
        assert_eq!(
            made,
            [
                ("/tmp", &Shows::Other("/data/proof/0/temp".into())),
                ("/tmp/x/home", &Shows::Itself),
                ("/tmp/x/repo", &Shows::Nothing),
            ]
        );
    }

    #[test]
    fn every_step_has_a_byte() {
        for step in RoomStep::ALL {
            assert_eq!(RoomStep::from_byte(step.to_byte()), Some(step));
        }
        assert_eq!(RoomStep::from_byte(7), None);
    }
}
