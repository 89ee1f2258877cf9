//! What happened beside what was asked for, as it happens: said by the surface at once, kept by one that answers later.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

/// Something that a user should hear although they did not ask for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// Processes that a task left behind were ended.
    LeftoversEnded { task: String, processes: usize },
    /// A process that a task left behind cannot be ended by us.
    LeftoverUnreachable { task: String, pid: u32, program: String },
    /// A lock of git's that a killed command left was removed.
    LockRemoved { what: String },
    /// A rename that was cut short is complete now.
    RenameFinished { from: String, to: String },
    /// A rename that was cut short still is: the error, for people.
    RenameUnfinished { error: String },
    /// Files that a killed merge had begun to move went back.
    MergeTakenBack { task: String, files: usize },
    /// A task that was told to end has not yet.
    NotEndedYet { task: String, killed_in_seconds: u64 },
    /// The process of a task hears nothing, and is killed.
    NotListening { task: String },
    /// What the user confirmed cannot be stored.
    TrustNotStored { error: String },
    /// A task whose record does not read.
    TaskUnreadable { task: String, error: String, path: String },
    /// A warning about the settings.
    Settings { warning: String },
}

/// Who hears of notes.
#[derive(Clone)]
pub struct Notes(Arc<dyn Fn(&Note) + Send + Sync>);

impl Notes {
    /// Each is given to `listener` as soon as it is known.
    pub fn new(listener: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// They are kept, for whoever asks at the end.
    pub fn kept() -> (Self, Arc<Mutex<Vec<Note>>>) {
        let all = Arc::<Mutex<Vec<Note>>>::default();
        let keep = Arc::clone(&all);
        let notes = Self::new(move |note| {
            if let Ok(mut all) = keep.lock() {
                all.push(note.clone());
            }
        });
        (notes, all)
    }

    /// Tells one.
    pub fn tell(&self, note: &Note) {
        (self.0)(note);
    }
}

/// Nobody hears of them but the log.
impl Default for Notes {
    fn default() -> Self {
        Self::new(|note| tracing::info!("{note:?}"))
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notes")
    }
}
