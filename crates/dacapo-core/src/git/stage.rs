//! From what git sees in the working tree to an index that may be committed.
//!
//! Not `git add -A`: that fails as a whole on a nested repository without commits, loses the contents of one
//! with commits, commits left-over conflicts with their markers, and takes every secret.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::guard::{self, LeftOutReason};
use super::run::Call;
use super::status::{Entry, GITLINK, Status, Tracked};
use super::{Apart, Change, ChangeKind, LeftOut, Oid, Repo};
use crate::process::Masker;

/// Where Dacapo keeps what belongs to a run; never committed unless somebody tracks it.
const OWN_DIRECTORY: &str = ".dacapo";

/// What is to be done to the index, and what is not.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Paths to bring from the working tree into the index.
    pub(super) update: Vec<PathBuf>,
    /// Paths to take out of the index, whatever is on disk.
    pub(super) remove: Vec<PathBuf>,
    /// Entries of the index to put back as HEAD has them, as `update-index --index-info` reads them.
    pub(super) restore: Vec<Vec<u8>>,
    /// Whether the index already differs from HEAD.
    pub(super) staged: bool,
    /// Where it does, but for what was taken out of it.
    pub(super) staged_paths: Vec<PathBuf>,
    /// What HEAD has and the working tree or the index has not.
    pub(super) removed: Vec<PathBuf>,
    /// What changes by `update` alone: all of the commit, unless something was staged or is taken out.
    pub(super) changed: Vec<Change>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) nested: Vec<PathBuf>,
    pub(super) unmerged: Vec<PathBuf>,
    pub(super) dirty_submodules: Vec<PathBuf>,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.update.is_empty() && self.remove.is_empty() && self.restore.is_empty() && !self.staged
    }
}

/// By what a new path is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) max_file_bytes: u64,
    /// Paths of which nothing is said: they were there, and were left out, before.
    pub(super) known: &'a [PathBuf],
    /// What is no part of the commit as it is now.
    pub(super) apart: &'a Apart,
    /// What this commit tracks is not new, though HEAD may not have it.
    pub(super) tracked_in: Option<&'a Oid>,
    /// What must not get into the commit; none: it is kept whatever it holds.
    pub(super) secrets: Option<NewSecrets<'a>>,
}

/// Secrets, and what may hold them because it did before.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewSecrets<'a> {
    pub(super) masker: &'a Masker,
    /// The commit at the start of the iteration.
    pub(super) start: Option<&'a Oid>,
    pub(super) head: Option<&'a Oid>,
}

impl Rules<'_> {
    fn skips(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Untracked(path) => self.apart.contains(path),
            Entry::Tracked(tracked) => tracked.index == b'.' && self.apart.litter.contains(&tracked.path),
            Entry::Unmerged(_) => false,
        }
    }
}

impl Repo {
    /// Decides on every path that git reported.
    pub(super) fn plan(&self, status: Status, rules: Rules<'_>) -> Result<Plan, GitError> {
        let mut plan = Plan::default();
        // A path that is out of the index but still in HEAD and on disk is reported twice.
        let in_head: HashSet<PathBuf> = status
            .entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Tracked(t) if t.mode_head != 0 && t.mode_index == 0 => Some(t.path.clone()),
                _ => None,
            })
            .collect();
        let mut suspects: Vec<(LeftOut, bool)> = Vec::new();
        let mut gitlinks: Vec<PathBuf> = Vec::new();
        // Removals come first: a directory must be out of the index before a file of its name goes in.
        let mut removals = Vec::new();
        for entry in status.entries.into_iter().filter(|entry| !rules.skips(entry)) {
            match entry {
                Entry::Unmerged(path) => plan.unmerged.push(path),
                Entry::Untracked(path) if path.starts_with(OWN_DIRECTORY) => {}
                // With `-uall` git lists files one by one; a name that still ends in a slash is a repository of its
                // own, into which git does not look.
                Entry::Untracked(path) if path.as_os_str().as_bytes().ends_with(b"/") => {
                    plan.nested.push(path);
                }
                Entry::Untracked(path) => match guard::judge(self.toplevel(), &path, rules.max_file_bytes) {
                    Some(why) if !in_head.contains(&path) => suspects.push((LeftOut { path, why }, false)),
                    _ => {
                        plan.changed.push(Change { path: path.clone(), kind: ChangeKind::Added });
                        plan.update.push(path);
                    }
                },
                Entry::Tracked(tracked)
                    if tracked.mode_head == 0 && rules.apart.users.contains(&tracked.path) =>
                {
                    // An agent's `git add -f` does not make the user's own untracked file part of the task.
                    plan.remove.push(tracked.path);
                }
                Entry::Tracked(tracked) if tracked.mode_head == 0 => {
                    self.plan_new(tracked, rules, &mut plan, &mut suspects, &mut gitlinks);
                }
                Entry::Tracked(tracked) => {
                    plan.staged |= tracked.index != b'.';
                    if tracked.index == b'D' || tracked.worktree == b'D' {
                        plan.removed.push(tracked.path.clone());
                    } else if tracked.index != b'.' {
                        plan.staged_paths.push(tracked.path.clone());
                    }
                    if tracked.mode_index == GITLINK && tracked.mode_head != GITLINK {
                        gitlinks.push(tracked.path.clone());
                    }
                    if tracked.submodule.is_some_and(|sub| sub.dirty) {
                        plan.dirty_submodules.push(tracked.path.clone());
                        if tracked.worktree == b'M' && !tracked.submodule.is_some_and(|sub| sub.moved) {
                            continue;
                        }
                    }
                    let kind = match tracked.worktree {
                        b'D' => ChangeKind::Deleted,
                        b'T' => ChangeKind::TypeChanged,
                        _ => ChangeKind::Modified,
                    };
                    if tracked.worktree != b'.' {
                        plan.changed.push(Change { path: tracked.path.clone(), kind });
                    }
                    match tracked.worktree {
                        b'.' => {}
                        // `update-index --remove` refuses such a path as "beyond a symbolic link"; `--force-remove`
                        // does not look at the disk.
                        b'D' if self.is_beyond_link(&tracked.path) => plan.remove.push(tracked.path),
                        b'D' => removals.push(tracked.path),
                        _ => plan.update.push(tracked.path),
                    }
                }
            }
        }
        removals.append(&mut plan.update);
        plan.update = removals;
        self.settle_suspects(suspects, rules, &mut plan)?;
        self.settle_gitlinks(gitlinks, &mut plan)?;
        self.leave_secrets_out(&mut plan, rules)?;
        // Who wrote a secret into a file hears of it until it is gone.
        plan.left_out.retain(|file| file.why.is_known_secret() || !rules.known.contains(&file.path));
        plan.nested.retain(|path| !rules.known.contains(path));
        Ok(plan)
    }

    /// A path that is in the index and not in HEAD: somebody staged it.
    fn plan_new(
        &self,
        tracked: Tracked,
        rules: Rules<'_>,
        plan: &mut Plan,
        suspects: &mut Vec<(LeftOut, bool)>,
        gitlinks: &mut Vec<PathBuf>,
    ) {
        let path = tracked.path;
        if path.starts_with(OWN_DIRECTORY) {
            plan.remove.push(path);
        } else if tracked.mode_index == GITLINK {
            plan.staged = true;
            gitlinks.push(path.clone());
            if tracked.submodule.is_some_and(|sub| sub.dirty) {
                plan.dirty_submodules.push(path.clone());
            }
            if tracked.worktree == b'D' || tracked.submodule.is_some_and(|sub| sub.moved) {
                plan.update.push(path);
            }
        } else if tracked.worktree == b'D' {
            // Staged, then removed again: no trace of it is wanted.
            plan.remove.push(path);
        } else if let Some(why) = guard::judge(self.toplevel(), &path, rules.max_file_bytes) {
            suspects.push((LeftOut { path, why }, true));
        } else {
            plan.staged = true;
            plan.staged_paths.push(path.clone());
            if tracked.worktree != b'.' {
                plan.update.push(path);
            }
        }
    }

    /// Suspects that the commit at the start already tracks are not new; the others stay out.
    fn settle_suspects(
        &self,
        suspects: Vec<(LeftOut, bool)>,
        rules: Rules<'_>,
        plan: &mut Plan,
    ) -> Result<(), GitError> {
        let tracked = match rules.tracked_in {
            Some(commit) if !suspects.is_empty() => {
                let paths: Vec<&Path> = suspects.iter().map(|(file, _)| file.path.as_path()).collect();
                self.present_in(commit, &paths)?
            }
            _ => HashSet::new(),
        };
        for (file, is_staged) in suspects {
            if tracked.contains(&file.path) {
                plan.update.push(file.path);
            } else {
                if is_staged {
                    plan.remove.push(file.path.clone());
                }
                plan.left_out.push(file);
            }
        }
        Ok(())
    }

    /// A repository that was added as a link without being a submodule would be lost with the working tree.
    fn settle_gitlinks(&self, gitlinks: Vec<PathBuf>, plan: &mut Plan) -> Result<(), GitError> {
        if gitlinks.is_empty() {
            return Ok(());
        }
        let registered = self.registered_submodules()?;
        for path in gitlinks.into_iter().filter(|path| !registered.contains(path)) {
            plan.update.retain(|other| *other != path);
            plan.remove.push(path.clone());
            plan.nested.push(path);
        }
        Ok(())
    }

    /// The paths that `.gitmodules` names.
    pub(super) fn registered_submodules(&self) -> Result<HashSet<PathBuf>, GitError> {
        let file = self.toplevel().join(".gitmodules");
        if fs::symlink_metadata(&file).is_err() {
            return Ok(HashSet::new());
        }
        let call = self.call("read .gitmodules").args(["config", "-z", "-f"]).arg(&file);
        let answer = call.args(["--get-regexp", r"^submodule\..*\.path$"]).output()?;
        let path = |record: &[u8]| {
            let value = memchr::memchr(b'\n', record).map(|at| &record[at + 1..])?;
            Some(PathBuf::from(OsString::from_vec(value.to_vec())))
        };
        Ok(answer.stdout.split(|&b| b == 0).filter_map(path).collect())
    }

    /// Which of these paths a commit holds.
    fn present_in(&self, commit: &Oid, paths: &[&Path]) -> Result<HashSet<PathBuf>, GitError> {
        let mut present = HashSet::new();
        // A command line has a limit, and `ls-tree` reads no paths from its standard input.
        for some in paths.chunks(200) {
            let call =
                self.call("read a commit").args(["ls-tree", "-z", "--name-only", commit.as_str(), "--"]);
            let out = call.args(some).stdout()?;
            let names = out.split(|&b| b == 0).filter(|name| !name.is_empty());
            present.extend(names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))));
        }
        Ok(present)
    }

    /// Git refuses to look at a path below a symbolic link, even to see that it is gone.
    fn is_beyond_link(&self, path: &Path) -> bool {
        let is_link = |above: &Path| {
            fs::symlink_metadata(self.toplevel().join(above)).is_ok_and(|found| found.is_symlink())
        };
        path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).any(is_link)
    }

    /// Carries the plan out on an index. What git cannot take is given back, the rest is staged all the same.
    pub(super) fn stage(&self, plan: &Plan, index: Option<&Path>) -> Result<Vec<LeftOut>, GitError> {
        if !plan.remove.is_empty() {
            let call = self.index_call("take paths out of the index", index);
            call.args(["-z", "--force-remove", "--stdin"]).stdin(nul_separated(&plan.remove)).stdout()?;
        }
        if !plan.restore.is_empty() {
            let call = self.index_call("put paths of the index back", index);
            call.args(["-z", "--index-info"]).stdin(plan.restore.concat()).stdout()?;
        }
        let mut refused = Vec::new();
        if !plan.update.is_empty() {
            self.update(&plan.update, index, &mut refused)?;
        }
        Ok(refused)
    }

    fn index_call(&self, operation: &'static str, index: Option<&Path>) -> Call {
        let call = self.call(operation).arg("update-index");
        match index {
            Some(file) => call.env("GIT_INDEX_FILE", file),
            None => call,
        }
    }

    /// One git call when all goes well. One bad path makes git throw the whole batch away: then what is plainly
    /// unreadable is taken out, and the rest is halved until the offenders are found.
    fn update(
        &self,
        paths: &[PathBuf],
        index: Option<&Path>,
        refused: &mut Vec<LeftOut>,
    ) -> Result<(), GitError> {
        let call = self.index_call("stage changes", index);
        // `--replace`: a file takes the place of a directory and the other way round. Skip-worktree entries are not
        // on disk on purpose (a sparse checkout); without the flag they would be committed as removed.
        let flags = ["-z", "--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "--stdin"];
        let error = match call.args(flags).stdin(nul_separated(paths)).stdout() {
            Ok(_) => return Ok(()),
            Err(error @ GitError::Failed { .. }) if !is_about_the_machine(error.stderr()) => error,
            Err(error) => return Err(error),
        };
        if let [path] = paths {
            let said = error.stderr().lines().next().unwrap_or_default().to_owned();
            refused.push(LeftOut { path: path.clone(), why: LeftOutReason::NotStageable(said) });
            return Ok(());
        }
        let (readable, unreadable): (Vec<_>, Vec<_>) = paths
            .iter()
            .map(|path| (path, unreadable(&self.toplevel().join(path))))
            .partition(|(_, why)| why.is_none());
        if unreadable.is_empty() {
            let (first, second) = paths.split_at(paths.len() / 2);
            self.update(first, index, refused)?;
            return self.update(second, index, refused);
        }
        refused.extend(unreadable.into_iter().map(|(path, why)| LeftOut {
            path: path.clone(),
            why: LeftOutReason::NotStageable(why.unwrap_or_default()),
        }));
        let readable: Vec<PathBuf> = readable.into_iter().map(|(path, _)| path.clone()).collect();
        if readable.is_empty() { Ok(()) } else { self.update(&readable, index, refused) }
    }
}

/// Why a path cannot be read, if it plainly cannot. A missing one is a removal.
fn unreadable(full: &Path) -> Option<String> {
    let found = fs::symlink_metadata(full).ok()?;
    if found.is_dir() || found.is_symlink() {
        None
    } else if found.is_file() {
        fs::File::open(full).err().map(|error| error.to_string())
    } else {
        Some("not a regular file".to_owned())
    }
}

/// Failures that are no path's fault: leaving files out would not help and would hide the cause.
pub(super) fn is_about_the_machine(stderr: &str) -> bool {
    let parts = [
        "No space left on device",
        "Disk quota exceeded",
        "Read-only file system",
        "insufficient permission for adding an object",
        "unable to write new index file",
        "unable to write loose object file",
        "unable to create temporary file",
        "Out of memory",
        "index file corrupt",
    ];
    parts.iter().any(|part| stderr.contains(part))
}

pub(super) fn nul_separated(paths: &[PathBuf]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(paths.iter().map(|path| path.as_os_str().len() + 1).sum());
    for path in paths {
        bytes.extend(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}
