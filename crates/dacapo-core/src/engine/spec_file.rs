//! `spec.json` while its task is driven (R4): an agent that edits it changes neither what this process does nor what the next one
//! believes was asked for.

use super::context::DriverError;
use super::driver::Driver;
use crate::event::Event;
use crate::files::FileAction;
use crate::store::{Fault, OpenError, TaskDir, files, sha256};

/// The file as it was when this process took the task up.
#[derive(Debug)]
pub(super) struct SpecFile(Vec<u8>);

impl SpecFile {
    /// Reads the file. An error: it is not the one that the journal vouches for.
    pub(super) fn read(dir: &TaskDir) -> Result<Self, OpenError> {
        let bytes = dir.spec_bytes()?;
        dir.vouch_for(&sha256(&bytes))?;
        Ok(Self(bytes))
    }

    pub(super) fn sha256(&self) -> String {
        sha256(&self.0)
    }

    fn is_still_in(&self, dir: &TaskDir) -> bool {
        dir.spec_bytes().is_ok_and(|now| now == self.0)
    }

    fn put_back(&self, dir: &TaskDir) -> std::io::Result<()> {
        let path = dir.spec_path();
        // A file is replaced; a directory or a FIFO would be in the way.
        if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            files::set_aside(&path)?;
        }
        files::replace(&path, &self.0)
    }
}

impl Driver<'_> {
    /// Puts `spec.json` back where somebody has changed it, and says so: from then on nothing is proven.
    pub(super) fn keep_spec_file(&mut self) -> Result<(), DriverError> {
        // Where all of the task is gone, the next line of its journal says so.
        if self.spec_file.is_still_in(&self.dir) || !self.dir.path().is_dir() {
            return Ok(());
        }
        let path = self.dir.spec_path();
        self.spec_file.put_back(&self.dir).map_err(|source| DriverError::File {
            what: FileAction::Repair,
            path: path.clone(),
            source,
        })?;
        let message = format!(
            "something other than Dacapo changed {} while the task was running; it was put back",
            path.display()
        );
        self.record.add_fault(Fault::Altered { message: message.clone() });
        self.record(Event::RecordAltered { message })
    }
}
