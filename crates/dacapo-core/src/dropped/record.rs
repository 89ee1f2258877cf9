//! The paper that says what was put away, why, and under which refs it is kept: `dropped.json`.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::git::Oid;
use crate::spec::{Place, TaskSpec, random_hex};
use crate::store::files;

/// The version of `dropped.json`.
const KEPT_FORMAT: u32 = 1;
pub(super) const PAPER: &str = "dropped.json";

/// Why something was put away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum DropReason {
    /// By `dacapo drop`: all of it, the record too.
    Dropped,
    /// Its work is in another branch now: worktree and branch went, the record stays.
    Merged {
        /// The branch, by its full name.
        into: String,
        /// Where that branch was before, if this program moved it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Oid>,
        /// The commit that brought the work there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<Oid>,
    },
}

/// What was put away: `dropped/ID/dropped.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DroppedRecord {
    v: u32,
    /// Names it: `NAME-STAMP-RANDOM`.
    pub id: String,
    pub name: String,
    /// The task's tag: a later task of the same name has another.
    pub tag: String,
    #[serde(flatten)]
    pub why: DropReason,
    pub at: Timestamp,
    /// What the task was about.
    pub prompt: String,
    /// Its worktree; none for a task in the user's own checkout.
    pub worktree: Option<PathBuf>,
    /// Its branch, by its full name.
    pub branch: Option<String>,
    /// The tip of that branch.
    pub tip: Option<Oid>,
    /// The tip was part of another branch.
    pub merged: bool,
    /// The refs that keep what git knows.
    pub refs: Vec<String>,
    /// The branch that its worktree was on, where the task was renamed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) was_on: Option<String>,
}

impl DroppedRecord {
    /// Where its refs are: when it was put away, and which it is.
    pub(super) fn prefix(&self) -> String {
        let stamp = self.id.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
        let kind = match self.why {
            DropReason::Dropped => "",
            DropReason::Merged { .. } => "merged-",
        };
        format!("refs/dacapo/rescue/{}/{kind}{}", self.name, stamp.unwrap_or(&self.id))
    }
}

pub(super) fn new_paper(spec: &TaskSpec, why: DropReason) -> DroppedRecord {
    let at = Timestamp::now();
    let (worktree, branch) = match &spec.place {
        Place::InPlace { .. } => (None, None),
        Place::Worktree { path, branch, .. } => (Some(path.clone()), Some(branch.clone())),
    };
    DroppedRecord {
        v: KEPT_FORMAT,
        id: format!("{}-{}-{}", spec.name, at.strftime("%Y%m%dT%H%M%SZ"), random_hex(3)),
        name: spec.name.to_string(),
        tag: spec.tag.clone(),
        why,
        at,
        prompt: spec.prompt.lines().next().unwrap_or_default().chars().take(200).collect(),
        worktree,
        branch,
        tip: None,
        merged: false,
        refs: Vec::new(),
        was_on: None,
    }
}

/// What is written of one that was put away is a few lines.
const LONGEST_PAPER: u64 = 16 << 20;

pub(super) fn read(dir: &Path) -> Option<DroppedRecord> {
    let kept: DroppedRecord =
        serde_json::from_slice(&files::read(&dir.join(PAPER), LONGEST_PAPER).ok()?).ok()?;
    (kept.v <= KEPT_FORMAT && dir.file_name()?.to_str()? == kept.id).then_some(kept)
}
