//! Reads `spec.json`, of any version.

use serde::Deserialize;

use super::{LoopPolicy, SPEC_FORMAT, TaskSpec};

/// What is in `spec.json` is no spec.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSpec {
    /// It has another form.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// Which form it has, only a newer Dacapo knows.
    #[error("written by a newer Dacapo (format {0})")]
    Newer(u32),
}

impl TaskSpec {
    /// Reads `spec.json`. Of one that an older Dacapo wrote, this reads what it takes to put the task away, and its version says
    /// so: limits and setup had other names then, and are not needed for that.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, InvalidSpec> {
        #[derive(Deserialize)]
        struct Version {
            v: u32,
        }
        let Version { v } = serde_json::from_slice(bytes)?;
        if v == SPEC_FORMAT {
            return Ok(serde_json::from_slice(bytes)?);
        }
        if v > SPEC_FORMAT {
            return Err(InvalidSpec::Newer(v));
        }
        let mut older: serde_json::Value = serde_json::from_slice(bytes)?;
        older["policy"] = serde_json::to_value(LoopPolicy::default())?;
        if let Some(place) = older["place"].as_object_mut() {
            place.remove("setup");
            // Of a task in the user's own checkout only the record is put away.
            if place.get("place").is_some_and(|kind| kind == "in_place") {
                place.remove("branch");
            }
        }
        Ok(Self::deserialize(older)?)
    }
}
