//! How agents and checks of a task were confined (R5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git::display_path;
use crate::process::{Room, RoomMade, Trial, Walls};
use crate::spec::RoomMode;

/// How the agents and checks of a task were confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoomReceipt {
    /// What was asked for.
    pub mode: RoomMode,
    /// What the kernel did it with.
    pub walls: RoomWalls,
    /// What the kernel said where it refused a mount namespace. Absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The places that could not be changed, but for what is open in them: the workspace, and in a strict room what it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<String>,
    /// The ways out that were tried from inside and are closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<Trial>,
    /// The ways out that were tried from inside and are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Trial>,
}

/// What confines a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoomWalls {
    /// A mount namespace for files, and Landlock for signals.
    Namespace,
    /// Landlock alone.
    Landlock,
    /// Nothing: what was changed can only be found afterwards.
    None,
}

impl RoomReceipt {
    pub fn new(mode: RoomMode, room: &Room, made: &RoomMade) -> Self {
        let read_only = match made.walls {
            Walls::Mounts | Walls::Landlock(_) => room.read_only().map(display_path).collect(),
            Walls::None(_) => Vec::new(),
        };
        Self {
            mode,
            read_only,
            walls: match made.walls {
                Walls::Mounts => RoomWalls::Namespace,
                Walls::Landlock(_) => RoomWalls::Landlock,
                Walls::None(_) => RoomWalls::None,
            },
            refused: made.refused().map(|refused| refused.to_string()),
            closed: made.trials.held().collect(),
            open: made.trials.failed().collect(),
        }
    }

    /// Returns true if no way out was found.
    pub fn holds(&self) -> bool {
        self.walls != RoomWalls::None && self.open.is_empty()
    }
}
