//! Files of the user's that are untracked when a task begins in their checkout (C10): left out of commits until somebody
//! changes them, their content kept first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::context::DriverError;
use super::driver::Driver;
use super::durability::Order;
use super::workspace::{MAX_FILE_BYTES, Workspace, local_date};
use crate::event::{
    Event, Outcome, UntrackedFate, UntrackedFile, UntrackedFound, UntrackedNotKept, UntrackedTouched,
    WorkspaceNotice,
};
use crate::files::FileAction;
use crate::git::{Apart, CommitRequest, Compared, GitError, KeepLimits, Repo, Untracked, display_path};
use crate::spec::Place;
use crate::store::{TaskDir, files};

/// To keep more than this would take longer than anybody waits for a start, and fill the user's repository.
const LIMITS: KeepLimits = KeepLimits { files: 10_000, bytes: 200 << 20 };

/// No list is longer: a million files with long names.
const LONGEST_LIST: u64 = 256 << 20;

/// The user's files, by the occasions on which they were found: the start, and each time that an ended task went on.
#[derive(Debug, Default)]
pub(super) struct UsersFiles(Vec<Untracked>);

impl UsersFiles {
    fn contains(&self, path: &Path) -> bool {
        self.0.iter().any(|found| found.contains(path))
    }

    fn len(&self) -> usize {
        self.0.iter().map(Untracked::len).sum()
    }

    fn kept_of(&self, path: &Path) -> Option<&str> {
        self.0.iter().find_map(|found| found.kept_of(path))
    }

    fn forget(&mut self, gone: impl Fn(&Path) -> bool) {
        self.0.iter_mut().for_each(|found| found.forget(&gone));
        self.0.retain(|found| !found.is_empty());
    }

    /// What has become of them.
    fn compare(&mut self, repo: &Repo) -> Result<Compared, GitError> {
        let mut all = Compared::default();
        for found in &mut self.0 {
            let Compared { same, changed, gone } = found.compare(repo)?;
            all.same.extend(same);
            all.changed.extend(changed);
            all.gone.extend(gone);
        }
        Ok(all)
    }
}

/// What the journal tells of them.
#[derive(Debug, Default)]
pub(super) struct UntrackedBefore {
    /// The lists that hold, by their hashes.
    lists: Vec<String>,
    last_succeeded: Option<bool>,
    /// The task has ended and all that it did is committed: what is untracked now is the user's.
    settled: bool,
}

impl UntrackedBefore {
    /// The lists that hold.
    pub(super) fn lists(&self) -> &[String] {
        &self.lists
    }

    pub(super) fn saw(&mut self, event: &Event, place: &Place) {
        match event {
            Event::UntrackedFound(found) => {
                self.lists.clone_from(&found.lists);
                self.settled = false;
            }
            Event::UntrackedTouched(touched) => self.lists.clone_from(&touched.lists),
            Event::IterationFinished(record) => self.last_succeeded = Some(record.success),
            Event::IterationStarted { .. } | Event::TakenOver { .. } => self.settled = false,
            Event::TaskFinished(result) => {
                // Where agents commit for themselves on a branch of their own, one may have been cut short.
                let own_branch = matches!(place, Place::InPlace { branch: Some(_), .. });
                let committed = match result.outcome {
                    Outcome::Completed => true,
                    Outcome::Paused => false,
                    Outcome::Failed
                    | Outcome::MaxReached
                    | Outcome::TimeElapsed
                    | Outcome::BudgetExhausted
                    | Outcome::Stalled
                    | Outcome::Cancelled => !own_branch,
                };
                self.settled = committed && self.last_succeeded.unwrap_or(true);
            }
            _ => {}
        }
    }
}

impl Workspace {
    /// What of the user's is what it was, and what is not. Nothing of it can be said where the checkout itself is gone.
    pub(super) fn compare_users(&mut self) -> Result<Compared, GitError> {
        if self.users.0.is_empty() || !self.repo.what_is_gone().is_empty() {
            return Ok(Compared::default());
        }
        self.users.compare(&self.repo)
    }
}

impl Driver<'_> {
    /// Whether what is untracked in the workspace can be the user's.
    pub(super) fn is_users_checkout(&self) -> bool {
        match &self.spec.place {
            // Its agents commit for themselves.
            Place::InPlace { branch: Some(_), .. } => true,
            // Where nothing is committed, nothing is left out.
            Place::InPlace { branch: None, .. } => self.spec.context.auto_commit,
            Place::Worktree { .. } => false,
        }
    }

    /// Before anybody works in the user's checkout, or works there again: what is untracked and not known yet is theirs.
    pub(super) fn take_untracked(&mut self, workspace: &mut Workspace) -> Result<(), DriverError> {
        if !self.is_users_checkout() {
            return Ok(());
        }
        let known = workspace.apart(&Compared::default()).litter;
        let mut paths = workspace.repo.dirt()?.untracked;
        paths.retain(|path| !workspace.users.contains(path) && !known.contains(path));
        if paths.is_empty() {
            return Ok(());
        }
        let head = workspace.repo.head()?;
        let name = &self.spec.name;
        let found = workspace.repo.take_untracked(
            paths,
            LIMITS,
            &CommitRequest {
                start: None,
                home: &head,
                message: &format!("Untracked files before {name}\n\nDacapo-Task: {name}\n"),
                date: local_date(self.spec.created_at),
                rescue_prefix: &format!("refs/dacapo/rescue/{name}/before"),
                exclusive: false,
                max_file_bytes: MAX_FILE_BYTES,
                known: &[],
                landing: None,
                apart: Apart::nothing(),
                secrets: None,
            },
        )?;
        if found.is_empty() {
            return Ok(());
        }
        let mut lists = write_lists(&self.dir, &workspace.users)?;
        // The lists are files named by their hash, written before the event that names them: a journal never names a
        // list that is not there.
        lists.push(write_list(&self.dir, &found)?);
        let left_out = (workspace.users.len() + found.len()) as u64;
        self.record(Event::UntrackedFound(UntrackedFound { left_out, lists, ..described(&found) }))?;
        // On disk beside the first turn: an agent that overwrites a file does so in the page cache as well.
        let objects = workspace.repo.objects_dir();
        self.record.durability.set(Order::of(objects, workspace.repo.ref_files(found.kept())));
        self.record.durability.begin();
        workspace.left_out.retain(|path| !found.contains(path));
        workspace.users.0.push(found);
        Ok(())
    }

    /// A process that takes the task up knows what was found by those before it.
    pub(super) fn recall_untracked(&mut self, workspace: &mut Workspace) -> Result<(), DriverError> {
        if !self.is_users_checkout() {
            return Ok(());
        }
        let before = std::mem::take(&mut self.earlier.untracked);
        let mut lost = None;
        for sha256 in &before.lists {
            match read_list(&self.dir, sha256) {
                Ok(found) => workspace.users.0.push(found),
                Err(why) => lost = Some(Some(why)),
            }
        }
        if !self.record.is_whole() {
            lost = Some(None);
        }
        let known = workspace.users.0.len();
        if lost.is_some() || before.settled {
            self.take_untracked(workspace)?;
        }
        if let Some(error) = lost.filter(|_| workspace.users.0.len() > known) {
            self.note_of_workspace(WorkspaceNotice::UntrackedUnknown { error })?;
        }
        Ok(())
    }

    /// Says which of the user's files are not what they were; from now on they are like any other. `committed`: what a commit
    /// of this iteration holds.
    pub(super) fn report_touched(
        &mut self,
        iteration: Option<u32>,
        compared: &Compared,
        committed: &BTreeSet<PathBuf>,
    ) -> Result<(), DriverError> {
        let Some(workspace) = self.workspace.as_mut() else { return Ok(()) };
        // What a check did to them was said of the check.
        let litter = workspace.apart(&Compared::default()).litter;
        let mut touched = Vec::new();
        let mut add = |path: &Path, fate| {
            let kept = workspace.users.kept_of(path).map(str::to_owned);
            touched.push((path.to_owned(), UntrackedFile { path: display_path(path), fate, kept }));
        };
        for path in &compared.changed {
            match committed.contains(path) {
                true => add(path, UntrackedFate::Committed),
                false if litter.contains(path) => {}
                false => add(path, UntrackedFate::Changed),
            }
        }
        let added = compared.same.intersection(committed);
        added.for_each(|path| add(path, UntrackedFate::AddedByAgent));
        let gone = compared.gone.iter().filter(|path| !litter.contains(*path));
        gone.for_each(|path| add(path, UntrackedFate::Gone));
        if touched.is_empty() {
            return Ok(());
        }
        let (paths, mut files): (BTreeSet<PathBuf>, Vec<UntrackedFile>) = touched.into_iter().unzip();
        workspace.users.forget(|path| paths.contains(path));
        let total = files.len() as u64;
        files.truncate(UntrackedTouched::MOST);
        let left_out = workspace.users.len() as u64;
        let lists = write_lists(&self.dir, &workspace.users)?;
        let touched = UntrackedTouched { iteration, files, total, left_out, lists: lists.clone() };
        self.record(Event::UntrackedTouched(touched))?;
        // Last: until the event above is written, the journal still names the old lists.
        remove_lists_but(&self.dir, &lists);
        Ok(())
    }
}

/// The files that were untracked before a task, by lists that its journal names. What cannot be read is left out.
pub fn untracked_before(dir: &TaskDir, lists: &[String]) -> BTreeSet<PathBuf> {
    let read = lists.iter().filter_map(|sha256| read_list(dir, sha256).ok());
    read.flat_map(|found| found.paths().map(Path::to_owned).collect::<Vec<_>>()).collect()
}

/// Lists of files of which some have changed since. One that stays costs room, and nothing else.
fn remove_lists_but(dir: &TaskDir, hold: &[String]) {
    let dir = dir.untracked_path();
    // Behind a link that somebody has put there, the files are not ours.
    if !std::fs::symlink_metadata(&dir).is_ok_and(|found| found.is_dir()) {
        return;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_list = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_list && !hold.contains(&name) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn write_lists(dir: &TaskDir, users: &UsersFiles) -> Result<Vec<String>, DriverError> {
    users.0.iter().map(|found| write_list(dir, found)).collect()
}

/// Gives back its hash, which is its name.
fn write_list(dir: &TaskDir, found: &Untracked) -> Result<String, DriverError> {
    let bytes = found.written();
    let sha256 = sha256(&bytes);
    let parent = dir.untracked_path();
    let path = parent.join(&sha256);
    let failed = |source| DriverError::File { what: FileAction::Write, path: path.clone(), source };
    files::make_dir(&parent).map_err(failed)?;
    files::replace(&path, &bytes).map_err(failed)?;
    Ok(sha256)
}

fn read_list(dir: &TaskDir, named: &str) -> Result<Untracked, String> {
    let path = dir.untracked_path().join(named);
    let bytes = files::read(&path, LONGEST_LIST)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let list = Untracked::parsed(&bytes).filter(|_| sha256(&bytes) == named);
    list.ok_or_else(|| format!("{} was changed", path.display()))
}

fn sha256(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn described(found: &Untracked) -> UntrackedFound {
    let mut not_kept: Vec<UntrackedNotKept> = Vec::new();
    for (path, why) in found.not_kept() {
        let at = not_kept.iter().position(|group| group.why == why).unwrap_or_else(|| {
            not_kept.push(UntrackedNotKept { why, files: 0, named: Vec::new() });
            not_kept.len() - 1
        });
        let group = &mut not_kept[at];
        group.files += 1;
        if group.named.len() < UntrackedNotKept::MOST {
            group.named.push(display_path(path));
        }
    }
    UntrackedFound {
        files: found.len() as u64,
        left_out: found.len() as u64,
        named: found.paths().take(UntrackedFound::MOST).map(display_path).collect(),
        kept: found.kept().map(str::to_owned),
        not_kept,
        lists: Vec::new(),
    }
}
