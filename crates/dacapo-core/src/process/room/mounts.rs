//! Puts what a room shows in its place, by mounts.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

use super::kernel;
use super::{Place, Room, RoomRefused, RoomStep, Shows};

/// Puts everything in its place.
pub(super) fn furnish(room: &Room) -> Result<(), RoomRefused> {
    let places = room.ordered();
    // All of them before the first one is covered.
    let trees: Vec<Option<OwnedFd>> = places
        .iter()
        .map(|place| take_hold(place).map_err(RoomRefused::at(RoomStep::Keep)))
        .collect::<Result<_, _>>()?;
    for (place, tree) in places.iter().zip(trees) {
        let placed = match tree {
            Some(tree) => put(&tree, &place.path),
            None if place.shows == Shows::ReadOnly && place.path == Path::new("/") => {
                kernel::protect_all().map_err(RoomRefused::at(RoomStep::Protect))?;
                Ok(())
            }
            None if place.shows == Shows::Nothing => cover(&place.path),
            None => Ok(()),
        };
        placed.map_err(RoomRefused::at(RoomStep::Hide))?;
    }
    Ok(())
}

/// A copy of the mounts at what a place shows; none: there is nothing.
fn take_hold(place: &Place) -> io::Result<Option<OwnedFd>> {
    let from = match &place.shows {
        // A file is hidden by one without an end or content.
        Shows::Nothing if place.path.is_file() => Path::new("/dev/null"),
        Shows::Nothing => return Ok(None),
        // What is put on it later stays as it is.
        Shows::ReadOnly if place.path == Path::new("/") => return Ok(None),
        Shows::Other(path) => path.as_path(),
        Shows::ReadOnly | Shows::Pinned | Shows::Itself => &place.path,
    };
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        // Mounts that came from outside must not be separated from what is mounted on them.
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = match open_tree(CWD, from, flags) {
        Err(rustix::io::Errno::NOENT) if !matches!(place.shows, Shows::Other(_)) => return Ok(None),
        opened => opened?,
    };
    if place.shows == Shows::ReadOnly {
        kernel::protect_tree(tree.as_fd())?;
    }
    Ok(Some(tree))
}

/// Mounts a tree. In a directory that is covered the place has to be made first.
fn put(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    if fs::symlink_metadata(at).is_err() {
        if rustix::fs::fstat(tree).is_ok_and(|found| found.st_mode & libc::S_IFMT == libc::S_IFDIR) {
            fs::create_dir_all(at)?;
        } else {
            fs::create_dir_all(at.parent().unwrap_or(at))?;
            File::create(at)?;
        }
    }
    Ok(move_mount(tree, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Mounts an empty directory.
fn cover(path: &Path) -> io::Result<()> {
    let mode = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Permissions::mode(&found.permissions()) & 0o7777,
        // There is nothing to hide, or it is covered already.
        Ok(_) | Err(_) => return Ok(()),
    };
    let mode = CString::new(format!("mode={mode:o}"))?;
    Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, mode.as_c_str())?)
}
