//! Files that lie where a turn or a check is about to write. An agent can plant them in an earlier turn: a FIFO that would
//! stop the task for good, or an answer that nobody gave. They are moved, named and never read (R0).

use crate::event::Notice;
use crate::files::FileAction;
use std::path::Path;

use super::context::DriverError;
use super::driver::Driver;
use super::machine::Input;
use crate::git::display_path;
use crate::store::files;

/// All that a turn may leave: see [`crate::store::TaskDir::turn_path`].
const OF_A_TURN: [&str; 6] = ["raw", "idx", "err", "acp", "usage", "prompt"];

/// Which process wrote down that the turn begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TurnBegun {
    /// This process.
    Now,
    /// An earlier process.
    #[default]
    Earlier,
}

impl Driver<'_> {
    /// Makes way for the files of a turn that is about to start. Regular files may be of an earlier process that was killed
    /// as it started the turn; where there was none, they are strangers too.
    pub(super) fn clear_turn_files(&mut self, turn: u32, begun: TurnBegun) -> Result<(), DriverError> {
        for extension in OF_A_TURN {
            let path = self.dir.turn_path(turn, extension);
            let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
            match begun {
                TurnBegun::Earlier if is_file => {}
                TurnBegun::Earlier | TurnBegun::Now => self.clear_way(&path)?,
            }
        }
        Ok(())
    }

    pub(super) fn clear_way(&mut self, path: &Path) -> Result<(), DriverError> {
        let moved = files::set_aside(path).map_err(|source| DriverError::File {
            what: FileAction::Move,
            path: path.to_owned(),
            source,
        })?;
        let Some((what, aside)) = moved else { return Ok(()) };
        let (path, aside) = (display_path(path), display_path(&aside));
        self.input(&Input::Notice(Notice::SetAside { found: what.to_owned(), path, aside }))
    }
}
