//! The newest rename of a task (S17): `name.json` in its directory.
//!
//! `spec.json` says what was asked and is never changed. A rename changes the name and the place of the work; both are kept
//! here, as they were before it and as they are after it. The name of the task's directory says which of the two holds, so
//! that name and place change in one step: when the directory is renamed.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::files;
use crate::spec::{Place, TaskName, TaskSpec};

/// The version of `name.json`.
const RENAME_FORMAT: u32 = 1;

/// It holds two names and two paths.
const LONGEST: u64 = 64 << 10;

const FILE: &str = "name.json";

/// A rename of a task, finished or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenameRecord {
    v: u32,
    /// Name and place before it.
    pub from: TaskLocation,
    /// Name and place after it.
    pub to: TaskLocation,
    pub at: Timestamp,
    /// Worktree and branch have their new names, too.
    pub done: bool,
}

/// The name of a task, and where its work is under that name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLocation {
    pub name: TaskName,
    /// Its own worktree; none: it works in the user's checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<OwnWorktree>,
}

/// A worktree and the branch that is checked out in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnWorktree {
    pub path: PathBuf,
    /// The branch, by its full name.
    pub branch: String,
}

impl TaskLocation {
    /// As the spec has it.
    pub fn of(spec: &TaskSpec) -> Self {
        let worktree = match &spec.place {
            Place::InPlace { .. } => None,
            Place::Worktree { path, branch, .. } => {
                Some(OwnWorktree { path: path.clone(), branch: branch.clone() })
            }
        };
        Self { name: spec.name.clone(), worktree }
    }

    /// The same task under another name. Worktree and branch stay in the directories that all tasks share.
    pub(crate) fn renamed(&self, name: &TaskName) -> Self {
        let worktree = self.worktree.as_ref().map(|own| {
            let above = own.branch.rsplit_once('/').map_or("refs/heads/dacapo", |(above, _)| above);
            OwnWorktree { path: own.path.with_file_name(name.as_str()), branch: format!("{above}/{name}") }
        });
        Self { name: name.clone(), worktree }
    }

    pub(super) fn apply_to(&self, spec: &mut TaskSpec) {
        spec.name = self.name.clone();
        if let (Place::Worktree { path, branch, .. }, Some(own)) = (&mut spec.place, &self.worktree) {
            path.clone_from(&own.path);
            branch.clone_from(&own.branch);
        }
    }
}

impl RenameRecord {
    /// A rename that begins now.
    pub(crate) fn begin(from: TaskLocation, to: &TaskName) -> Self {
        let to = from.renamed(to);
        Self { v: RENAME_FORMAT, from, to, at: Timestamp::now(), done: false }
    }

    pub(crate) fn finished(&self) -> Self {
        Self { done: true, ..self.clone() }
    }

    /// Which of the two holds for the task in `dir`.
    pub(super) fn now(&self, dir: &Path) -> &TaskLocation {
        // No flag says that the directory was renamed: its own name does, so record and rename cannot contradict each
        // other after a crash between the two.
        if self.done || self.is_at_its_new_name(dir) { &self.to } else { &self.from }
    }

    /// Whether the task in `dir` has its new name while worktree and branch may still have the old one.
    pub(super) fn is_unfinished(&self, dir: &Path) -> bool {
        !self.done && self.is_at_its_new_name(dir)
    }

    /// A dropped task lies elsewhere; it is never in the middle of a rename.
    fn is_at_its_new_name(&self, dir: &Path) -> bool {
        dir.parent().is_some_and(|tasks| tasks.ends_with("tasks"))
            && dir.file_name().is_some_and(|name| name == self.to.name.as_str())
    }

    /// The newest rename of the task in `dir`; none: it still has its first name.
    pub(super) fn read(dir: &Path) -> io::Result<Option<Self>> {
        let bytes = match files::read_own(&dir.join(FILE), LONGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let record: Self = serde_json::from_slice(&bytes)?;
        if record.v > RENAME_FORMAT {
            return Err(io::Error::other(format!("written by a newer Dacapo (format {})", record.v)));
        }
        Ok(Some(record))
    }

    pub(super) fn path(dir: &Path) -> PathBuf {
        dir.join(FILE)
    }

    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        files::replace_on_disk(&Self::path(dir), &serde_json::to_vec_pretty(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{LockError, TaskDir};

    fn name(text: &str) -> TaskName {
        TaskName::parse(text).unwrap()
    }

    /// A task in a worktree, from a real spec.
    fn task(dir: &Path) -> TaskDir {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v3/spec.json");
        let mut spec: TaskSpec = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        spec.place = Place::Worktree {
            path: "/data/worktrees/old".into(),
            branch: "refs/heads/dacapo/old".into(),
            with_changes: false,
            base: None,
            setup: crate::spec::Setup::default(),
        };
        let dir = TaskDir::at(dir.join("tasks/old"));
        dir.create(&spec).unwrap();
        dir
    }

    fn called(dir: &TaskDir) -> (String, String, String) {
        let called = TaskLocation::of(&dir.spec().unwrap());
        let own = called.worktree.unwrap();
        (called.name.to_string(), own.path.display().to_string(), own.branch)
    }

    fn as_named(name: &str) -> (String, String, String) {
        (name.into(), format!("/data/worktrees/{name}"), format!("refs/heads/dacapo/{name}"))
    }

    #[test]
    fn s17_name_and_place_change_when_the_directory_is_renamed() {
        let temp = tempfile::tempdir().unwrap();
        let old = task(temp.path());
        let asked = std::fs::read(old.spec_path()).unwrap();
        let mut record = RenameRecord::begin(TaskLocation::of(&old.spec().unwrap()), &name("new"));
        old.write_rename_record(&record).unwrap();
        // Killed here: nothing has happened.
        assert_eq!(called(&old), as_named("old"));
        assert!(old.unfinished_rename().is_none());
        drop(old.lock().unwrap());

        let new = old.move_to(&temp.path().join("tasks/new")).unwrap();
        assert_eq!(called(&new), as_named("new"));
        assert_eq!(new.unfinished_rename(), Some(record.clone()));
        for taken in [new.lock(), new.lock_briefly()] {
            let error = taken.unwrap_err();
            assert!(
                matches!(&error, LockError::RenameUnfinished { from, to } if (&**from, &**to) == ("old", "new"))
            );
            assert!(error.to_string() == "Task 'new' is not completely renamed (it was 'old')");
        }
        drop(new.lock_to_rename().unwrap());

        record.done = true;
        new.write_rename_record(&record).unwrap();
        assert_eq!((called(&new), new.unfinished_rename()), (as_named("new"), None));
        drop(new.lock().unwrap());
        assert_eq!(std::fs::read(new.spec_path()).unwrap(), asked, "what was asked is never changed");
    }

    #[test]
    fn s17_a_second_rename_starts_from_the_first() {
        let temp = tempfile::tempdir().unwrap();
        let mut dir = task(temp.path());
        for to in ["new", "old", "new", "task"] {
            let before = called(&dir);
            let mut record = RenameRecord::begin(TaskLocation::of(&dir.spec().unwrap()), &name(to));
            dir.write_rename_record(&record).unwrap();
            assert_eq!(called(&dir), before);
            dir = dir.move_to(&temp.path().join("tasks").join(to)).unwrap();
            assert_eq!(called(&dir), as_named(to));
            record.done = true;
            dir.write_rename_record(&record).unwrap();
        }
    }

    #[test]
    fn s17_what_was_put_away_keeps_the_name_it_had() {
        let temp = tempfile::tempdir().unwrap();
        for (done, holds) in [(false, "old"), (true, "task")] {
            let old = task(&temp.path().join(holds));
            // Even the name that everything has which is put away.
            let record = RenameRecord {
                done,
                ..RenameRecord::begin(TaskLocation::of(&old.spec().unwrap()), &name("task"))
            };
            old.write_rename_record(&record).unwrap();
            let away = temp.path().join(holds).join("dropped/x");
            std::fs::create_dir_all(&away).unwrap();
            let away = old.move_to(&away.join("task")).unwrap();
            assert_eq!(called(&away), as_named(holds));
            drop(away.lock().unwrap());
        }
    }

    #[test]
    fn r2_a_name_that_does_not_read_is_not_guessed() {
        let temp = tempfile::tempdir().unwrap();
        let dir = task(temp.path());
        let written =
            serde_json::to_string(&RenameRecord::begin(TaskLocation::of(&dir.spec().unwrap()), &name("new")))
                .unwrap();
        for text in
            ["", "{}", &written.replace("\"new\"", "\"../x\""), &written.replace("\"v\":1", "\"v\":9")]
        {
            std::fs::write(RenameRecord::path(dir.path()), text).unwrap();
            let error = dir.spec().unwrap_err().to_string();
            assert!(error.contains("name.json"), "{text}: {error}");
        }
    }
}
