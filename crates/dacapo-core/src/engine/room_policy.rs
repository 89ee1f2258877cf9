//! The room of a task's commands: which places they may change (R5). Pure; `room_layout` looks at the machine.

use std::path::{Path, PathBuf};

use crate::process::{Otherwise, Place, Processes, Room, Shows};
use crate::spec::RoomMode;

/// The places of a machine that a room is about. All of them exist, and their paths lead through no link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Dacapo's data.
    pub(crate) data: PathBuf,
    /// The user's settings of Dacapo and git, Dacapo's program, and what of the kernel root could turn against the room.
    pub(crate) guarded: Vec<PathBuf>,
    /// Where the commands work; none: in a checkout that has a place of its own.
    pub(crate) workspace: Option<WorkspaceLayout>,
    /// What in Dacapo's data is the agent's own.
    pub(crate) own: Vec<PathBuf>,
    /// What may be changed in a strict room beside the workspace: devices, temp, the agent's state, caches of tools.
    pub(crate) open: Vec<PathBuf>,
    /// What would tell of held-out checks: files and directories that seem to be empty.
    pub(crate) hidden: Vec<PathBuf>,
    /// Files to put in the place of others: they seem to be nobody's in a room.
    pub(crate) instead: Vec<(PathBuf, PathBuf)>,
}

/// A working tree and its git directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceLayout {
    pub(crate) top: PathBuf,
    pub(crate) git: GitDir,
}

/// The user's git directory, as a task's commands find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GitDir {
    /// Git works in it, and may change all but these: its settings, hooks and what it ignores.
    Shared { path: PathBuf, settings: Vec<PathBuf> },
    /// Only read, if at all: the workspace is a repository of its own.
    ReadOnly(PathBuf),
}

/// The room of a command; none: it is not confined.
pub(crate) fn room(mode: RoomMode, layout: &Layout) -> Option<Room> {
    let mut room = Room { processes: Processes::Shared, otherwise: Otherwise::Run, ..Room::default() };
    match mode {
        RoomMode::None => return None,
        RoomMode::Guarded => {}
        RoomMode::Strict => {
            room.otherwise = Otherwise::Refuse;
            room.show("/", Shows::ReadOnly);
        }
    }
    // The first one is where the guard tries the room.
    room.show(&layout.data, Shows::ReadOnly);
    layout.guarded.iter().for_each(|place| room.show(place, Shows::ReadOnly));
    if mode == RoomMode::Strict {
        layout.open.iter().for_each(|place| room.show(place, Shows::Itself));
    }
    layout.own.iter().for_each(|place| room.show(place, Shows::Itself));
    if let Some(WorkspaceLayout { top, git }) = &layout.workspace {
        room.show(top, Shows::Itself);
        match git {
            GitDir::Shared { path, settings } => {
                room.show(path, Shows::Itself);
                settings.iter().for_each(|place| room.show(place, Shows::ReadOnly));
            }
            GitDir::ReadOnly(path) => room.show(path, Shows::ReadOnly),
        }
    }
    layout.hidden.iter().for_each(|place| room.show(place, Shows::Nothing));
    for (place, instead) in &layout.instead {
        room.show(place, Shows::Other(instead.clone()));
    }
    pin(&mut room);
    Some(room)
}

/// Pins every directory above a read-only place that could be renamed, and the place with it.
fn pin(room: &mut Room) {
    let root = Path::new("/");
    let read_only = room.places.iter().filter(|place| place.shows == Shows::ReadOnly);
    let above = read_only.flat_map(|place| place.path.ancestors().skip(1));
    let mut pinned: Vec<PathBuf> = above
        .filter(|path| *path != root && !path.as_os_str().is_empty() && may_change(room, path))
        .map(Path::to_path_buf)
        .collect();
    pinned.sort();
    pinned.dedup();
    for path in pinned {
        room.places.push(Place { path, shows: Shows::Pinned });
    }
}

/// Returns true if something at this path can be changed in the room.
fn may_change(room: &Room, path: &Path) -> bool {
    let around = room.places.iter().filter(|place| path.starts_with(&place.path));
    let nearest = around.max_by(|one, other| {
        let depth = |place: &Place| place.path.components().count();
        // Of two for the same path the stricter one counts.
        depth(one).cmp(&depth(other)).then_with(|| other.shows.cmp(&one.shows))
    });
    nearest.is_none_or(|place| place.shows != Shows::ReadOnly)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths(list: &[&str]) -> Vec<PathBuf> {
        list.iter().map(PathBuf::from).collect()
    }

    fn layout() -> Layout {
        Layout {
            data: "/home/me/.local/share/dacapo".into(),
            guarded: paths(&["/home/me/.config/dacapo", "/home/me/.gitconfig", "/usr/bin/dacapo"]),
            workspace: Some(WorkspaceLayout {
                top: "/home/me/.local/share/dacapo/repos/r/worktrees/t".into(),
                git: GitDir::Shared {
                    path: "/home/me/code/.git".into(),
                    settings: paths(&["/home/me/code/.git/config", "/home/me/code/.git/hooks"]),
                },
            }),
            own: Vec::new(),
            open: paths(&["/tmp", "/dev", "/home/me/.claude"]),
            hidden: Vec::new(),
            instead: Vec::new(),
        }
    }

    fn changes(mode: RoomMode, layout: &Layout, path: &str) -> bool {
        room(mode, layout).is_none_or(|room| may_change(&room, Path::new(path)))
    }

    #[test]
    fn r5_a_guarded_room_keeps_what_judges_and_nothing_else() {
        let layout = layout();
        let may = |path| changes(RoomMode::Guarded, &layout, path);
        for kept in [
            "/home/me/.local/share/dacapo/repos/r/tasks/t/journal.jsonl",
            "/home/me/.local/share/dacapo/repos/r/worktrees/other/file",
            "/home/me/.config/dacapo/config.toml",
            "/home/me/.gitconfig",
            "/usr/bin/dacapo",
            "/home/me/code/.git/hooks/pre-commit",
            "/home/me/code/.git/config",
        ] {
            assert!(!may(kept), "{kept}");
        }
        for open in [
            "/home/me/.local/share/dacapo/repos/r/worktrees/t/src/main.rs",
            "/home/me/code/.git/objects/00",
            "/home/me/code/file",
            "/home/me/.bashrc",
            "/tmp/x",
        ] {
            assert!(may(open), "{open}");
        }
    }

    #[test]
    fn r5_a_strict_room_opens_only_what_is_named() {
        let layout = layout();
        let may = |path| changes(RoomMode::Strict, &layout, path);
        for kept in ["/home/me/.bashrc", "/etc/passwd", "/home/me/code/file", "/home/me/code/.git/config"] {
            assert!(!may(kept), "{kept}");
        }
        for open in ["/tmp/x", "/home/me/.claude/x", "/home/me/code/.git/objects/00", "/dev/null"] {
            assert!(may(open), "{open}");
        }
        assert_eq!(room(RoomMode::Strict, &layout).map(|room| room.otherwise), Some(Otherwise::Refuse));
        assert_eq!(room(RoomMode::None, &layout), None);
    }

    #[test]
    fn l3_what_tells_of_held_out_checks_is_not_seen() {
        let hidden = paths(&["/home/me/.local/share/dacapo/repos", "/home/me/secret.sh"]);
        let room = room(RoomMode::Guarded, &Layout { hidden, ..layout() }).unwrap();
        for unseen in ["/home/me/.local/share/dacapo/repos/r/tasks/t/spec.json", "/home/me/secret.sh"] {
            assert!(!room.is_seen(Path::new(unseen)), "{unseen}");
        }
        assert!(room.is_seen(Path::new("/home/me/.local/share/dacapo/repos/r/worktrees/t/src")));
    }

    #[test]
    fn r5_every_directory_above_a_read_only_place_is_pinned() {
        let room = room(RoomMode::Guarded, &layout()).unwrap();
        let pinned = room.places.iter().filter(|place| place.shows == Shows::Pinned);
        let pinned: Vec<&str> = pinned.filter_map(|place| place.path.to_str()).collect();
        assert_eq!(
            pinned,
            [
                "/home",
                "/home/me",
                "/home/me/.config",
                "/home/me/.local",
                "/home/me/.local/share",
                "/home/me/code",
                "/home/me/code/.git",
                "/usr",
                "/usr/bin",
            ]
        );
    }

    #[test]
    fn r5_a_repository_of_its_own_leaves_nothing_of_the_users_git_directory_open() {
        let git = GitDir::ReadOnly("/home/me/code/.git".into());
        let workspace = layout().workspace.map(|workspace| WorkspaceLayout { git, ..workspace });
        let layout = Layout { workspace, ..layout() };
        for mode in [RoomMode::Guarded, RoomMode::Strict] {
            assert!(!changes(mode, &layout, "/home/me/code/.git/objects/00"));
        }
    }

    fn path() -> impl Strategy<Value = PathBuf> {
        proptest::collection::vec("[ab]", 1..5).prop_map(|parts| Path::new("/").join(parts.join("/")))
    }

    proptest! {
        #[test]
        fn r5_nothing_protected_can_be_changed_or_moved_in_any_layout(
            data in path(),
            guarded in proptest::collection::vec(path(), 0..4),
            open in proptest::collection::vec(path(), 0..3),
            strict in any::<bool>(),
        ) {
            let layout = Layout { data, guarded, open, ..Layout::default() };
            let mode = if strict { RoomMode::Strict } else { RoomMode::Guarded };
            let room = room(mode, &layout).unwrap();
            for place in layout.guarded.iter().chain([&layout.data]) {
                prop_assert!(!may_change(&room, place), "{place:?} in {room:?}");
                for above in place.ancestors().skip(1).filter(|above| *above != Path::new("/")) {
                    let is_mounted = room.places.iter().any(|place| place.path == above);
                    prop_assert!(is_mounted || !may_change(&room, above), "{above:?} in {room:?}");
                }
            }
        }
    }
}
