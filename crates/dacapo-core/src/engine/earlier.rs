//! What processes that drove the task before have left, as the journal tells it.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::left_locks::EarlierRun;
use super::untracked::UntrackedBefore;
use crate::event::{Envelope, Event, RoomReceipt, SetupResult};
use crate::spec::Place;

/// Folded from the journal before the driver begins.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// The journal already had events: the task is being resumed.
    pub(super) taken_up: bool,
    /// The place to work in was made.
    pub(super) workspace_was_made: bool,
    pub(super) ports: Option<u16>,
    /// The hash of what proofs are made with.
    pub(super) start_sha256: Option<String>,
    /// What checks left behind, and when that was seen.
    pub(super) litter: HashMap<String, Timestamp>,
    pub(super) untracked: UntrackedBefore,
    pub(super) run: EarlierRun,
    /// How commands were confined last.
    pub(super) room: Option<RoomReceipt>,
    /// Commands that are in the journal.
    pub(super) commands: HashSet<String>,
}

impl Earlier {
    pub(super) fn saw(&mut self, line: &Envelope, place: &Place) {
        self.taken_up = true;
        self.run.saw(line);
        self.workspace_was_made |= line.event.needs_workspace();
        self.untracked.saw(&line.event, place);
        match &line.event {
            Event::CheckFinished(check) => {
                self.litter.extend(check.changed_files.iter().map(|name| (name.clone(), line.at)));
            }
            Event::WorkspaceReady { port_base, start_sha256, .. } => {
                self.start_sha256.clone_from(start_sha256);
                self.ports = *port_base;
            }
            Event::RoomTested(receipt) => self.room = Some(receipt.clone()),
            Event::PortsLeased { port_base } => self.ports = Some(*port_base),
            Event::FilesIncluded { uncommitted: files, .. }
            | Event::SetupFinished(SetupResult { changed_files: files, .. }) => {
                self.litter.extend(files.iter().map(|name| (name.clone(), line.at)));
            }
            Event::CommandReceived(received) => drop(self.commands.insert(received.id.clone())),
            _ => {}
        }
    }
}
