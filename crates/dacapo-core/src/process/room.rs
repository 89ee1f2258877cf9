//! Rooms: what a job sees of the machine and may change of it, as plain data, and whether the kernel granted it.
//!
//! A room is a mount namespace, and a pid namespace if asked for, that the guard makes for one job (`room/linux.rs`). Places in
//! it can be read-only, empty, or show another directory; everything else is as it is outside. Processes outside of it cannot be
//! signalled. The job starts only when the room has been tried from inside ([`Trial`]). Where the kernel refuses the namespaces,
//! Landlock stands in for what it can express; [`Finished::room`](super::Finished) says how the job ran.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod trials;

pub(super) use platform::{Inside, enter};

/// The places that differ from outside. Where one lies in another, the inner one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    pub places: Vec<Place>,
    pub processes: Processes,
    pub otherwise: Otherwise,
}

/// The processes that a job sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Processes {
    /// Those of the job alone; nothing of them outlives it.
    #[default]
    Own,
    /// All of the machine. Those outside the job can be seen but not signalled.
    Shared,
}

/// What becomes of a job whose room cannot be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// It runs with as much of it as there is, and that is reported.
    #[default]
    Run,
    /// It does not start.
    Refuse,
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
    /// An empty directory, in memory, or an empty file.
    Nothing,
    /// What is at another path outside.
    Other(PathBuf),
    /// What is there outside, but it cannot be changed.
    ReadOnly,
    /// What is there outside. Nobody can rename or replace the directory itself.
    Pinned,
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
        nearest.is_none_or(|place| matches!(place.shows, Shows::Itself | Shows::Pinned | Shows::ReadOnly))
    }

    /// The places that cannot be changed.
    pub fn read_only(&self) -> impl Iterator<Item = &Path> {
        let places = self.places.iter().filter(|place| place.shows == Shows::ReadOnly);
        places.map(|place| place.path.as_path())
    }

    /// The directory that the trials are made on.
    pub(super) fn protected(&self) -> Option<&Path> {
        self.read_only().find(|path| *path != Path::new("/") && path.is_dir())
    }

    /// What Landlock would have to leave writable, if it can express the room: it can only take rights away from everything and
    /// give them back to whole directories.
    pub(super) fn granted(&self) -> Option<Vec<&Path>> {
        let made = self.ordered();
        let (first, inner) = made.split_first()?;
        let is_strict = first.path == Path::new("/") && first.shows == Shows::ReadOnly;
        // Nothing can be hidden by it, or shown elsewhere.
        let granted = inner
            .iter()
            .filter(|place| matches!(place.shows, Shows::Itself | Shows::Pinned | Shows::Other(_)));
        let granted = granted.map(|place| place.path.as_path());
        // What root is kept from in /proc cannot be kept from it otherwise.
        let is_kernels =
            |path: &Path| self.read_only().any(|place| place.starts_with("/proc")) && path == "/proc";
        let granted: Vec<&Path> = granted.filter(|path| !is_kernels(path)).collect();
        let is_below = |path: &Path| granted.iter().any(|granted| path.starts_with(granted));
        let is_open =
            |place: &&&Place| place.shows == Shows::ReadOnly && is_below(&place.path) && place.path.exists();
        (is_strict && !inner.iter().any(|place| is_open(&place))).then_some(granted)
    }

    /// The places to be made: outer ones first, one for each path, none that would change nothing.
    fn ordered(&self) -> Vec<&Place> {
        let mut places: Vec<&Place> = self.places.iter().collect();
        places.sort();
        places.dedup_by(|later, kept| later.path == kept.path);
        let is_inside = |place: &Place, outer: &Path| place.path != outer && place.path.starts_with(outer);
        let changed: Vec<PathBuf> = places
            .iter()
            .filter(|place| !matches!(place.shows, Shows::Itself | Shows::Pinned))
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
    /// To make a place read-only.
    Protect,
    /// To keep it from signalling others, or, without mounts, from writing.
    Landlock,
    /// To find from inside that it holds.
    Trials,
}

impl RoomStep {
    const ALL: [Self; 10] = [
        Self::Namespaces,
        Self::User,
        Self::Mounts,
        Self::Keep,
        Self::Hide,
        Self::Processes,
        Self::Rights,
        Self::Protect,
        Self::Landlock,
        Self::Trials,
    ];

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
            Self::Protect => "mount_setattr",
            Self::Landlock => "landlock",
            Self::Trials => "self-test",
        }
    }
}

/// Something that a job would do to get out of its room. The guard tries it inside, before the job starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// To write in a read-only place.
    Write,
    /// To signal its guard.
    Signal,
    /// To unmount a read-only place.
    Unmount,
    /// To unmount it in a namespace of its own.
    Namespace,
    /// To rename the directory around it.
    Rename,
    /// To use a descriptor that the guard left open.
    Descriptor,
}

impl Trial {
    pub const ALL: [Self; 6] =
        [Self::Write, Self::Signal, Self::Unmount, Self::Namespace, Self::Rename, Self::Descriptor];

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// What came of the trials of a room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trials {
    made: u8,
    failed: u8,
}

impl Trials {
    pub(super) fn from_bytes([made, failed]: [u8; 2]) -> Self {
        Self { made, failed: failed & made }
    }

    pub(super) fn to_bytes(self) -> [u8; 2] {
        [self.made, self.failed]
    }

    #[cfg(target_os = "linux")]
    fn note(&mut self, trial: Trial, holds: bool) {
        self.made |= trial.bit();
        if !holds {
            self.failed |= trial.bit();
        }
    }

    /// The ways out of the room that are closed.
    pub fn held(self) -> impl Iterator<Item = Trial> {
        Trial::ALL.into_iter().filter(move |trial| (self.made & !self.failed) & trial.bit() != 0)
    }

    /// The ways out of the room that are open.
    pub fn failed(self) -> impl Iterator<Item = Trial> {
        Trial::ALL.into_iter().filter(move |trial| self.failed & trial.bit() != 0)
    }
}

/// What keeps a job in its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walls {
    /// A mount namespace.
    Mounts,
    /// Landlock alone: the kernel refused this for a mount namespace.
    Landlock(RoomRefused),
    /// Nothing.
    None(RoomRefused),
}

/// How a job ran that was to have a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoomMade {
    pub walls: Walls,
    pub trials: Trials,
}

impl RoomMade {
    /// Why there is no mount namespace.
    pub fn refused(&self) -> Option<RoomRefused> {
        match self.walls {
            Walls::Mounts => None,
            Walls::Landlock(refused) | Walls::None(refused) => Some(refused),
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
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "rooms are made on Linux alone"))]
    fn because(step: RoomStep, errno: i32) -> Self {
        Self { step, errno }
    }

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
        assert_eq!(RoomStep::from_byte(10), None);
    }

    #[test]
    fn r5_landlock_can_express_a_room_in_which_whole_directories_are_writable() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("work/.git/hooks")).unwrap();
        let mut room = Room::default();
        room.show("/", Shows::ReadOnly);
        room.show(root.join("work"), Shows::Itself);
        room.show("/nowhere/data", Shows::ReadOnly);
        assert_eq!(room.granted(), Some(vec![root.join("work").as_path()]));
        room.show(root.join("work/.git/hooks"), Shows::ReadOnly);
        assert_eq!(room.granted(), None, "hooks would be writable");
        let mut guarded = Room::default();
        guarded.show("/data", Shows::ReadOnly);
        assert_eq!(guarded.granted(), None, "nothing can be taken away from a directory that is granted");
    }
}
