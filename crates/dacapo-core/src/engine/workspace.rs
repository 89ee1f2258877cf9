//! The place to work in, and what git is asked to do there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::durability::Order;
use super::litter::Look;
use super::machine::{CommitPlan, Input, Landing};
use super::own_worktree::not_made;
use super::untracked::UsersFiles;
use crate::event::{CommitPlanned, LeftFile, Notice, WorkspaceNotice, WorkspaceProblem};
use crate::git::{self, Apart, CommitDate, CommitRequest, Head, Landed, Oid, Problem, Repo, display_path};
use crate::proof;
use crate::spec::{Place, TaskSpec, TestsMode};
use crate::store::PortLease;
use crate::suspect_files::TrustedFiles;
use crate::yardstick::Judges;

/// New files over this size are left out of commits (C9).
pub(super) const MAX_FILE_BYTES: u64 = 50 << 20;

/// The place to work in.
pub(super) struct Workspace {
    pub(super) repo: Repo,
    /// The user's repository, where the task has one of its own: nobody else works there.
    pub(super) user: Option<Repo>,
    /// What checks left behind, and how it looked then.
    pub(super) litter: BTreeMap<PathBuf, Look>,
    /// What was untracked before the task, where this is the user's checkout.
    pub(super) users: UsersFiles,
    /// Left out of the last commit; said once.
    pub(super) left_out: Vec<PathBuf>,
    /// The newest commit that was searched for secrets.
    pub(super) searched: Option<Oid>,
    /// Its ports, where it is a worktree of its own.
    pub(super) ports: Option<PortLease>,
}

/// A fresh worktree, and the ref that keeps what of the user's came along.
pub(super) type Worktree = (Workspace, Option<String>);

impl Workspace {
    pub(super) fn new(repo: Repo, user: Option<Repo>) -> Self {
        Self {
            repo,
            user,
            litter: BTreeMap::new(),
            users: UsersFiles::default(),
            left_out: Vec::new(),
            searched: None,
            ports: None,
        }
    }

    /// Nobody else works here.
    pub(super) fn exclusive(&self) -> bool {
        self.user.is_some()
    }

    /// The repository that the user's branches, settings and hooks are in.
    pub(super) fn users(&self) -> &Repo {
        self.user.as_ref().unwrap_or(&self.repo)
    }

    pub(super) fn port_base(&self) -> Option<u16> {
        self.ports.as_ref().map(PortLease::base)
    }

    /// For a job, so that nobody else has the ports before all that may use them is gone.
    pub(super) fn share_of_ports(&self) -> Option<OwnedFd> {
        self.ports.as_ref()?.share().ok()
    }

    /// `--no-commit`: what changed is seen, nothing is touched.
    fn look_only(&self, plan: &CommitPlan) -> Result<CommitPlanned, DriverError> {
        let repo = &self.repo;
        let gone = repo.what_is_gone();
        if !gone.is_empty() {
            let problems = gone.iter().map(WorkspaceProblem::from).collect();
            return Ok(CommitPlanned { iteration: plan.iteration, problems, ..CommitPlanned::default() });
        }
        let head = repo.head()?;
        let dirt = repo.dirt()?;
        let mut changed: Vec<PathBuf> = match (&head.commit, head.commit == plan.start) {
            (Some(tip), false) => repo
                .changed_between(plan.start.as_ref(), tip)?
                .into_iter()
                .map(|change| change.path)
                .collect(),
            _ => Vec::new(),
        };
        changed.extend(dirt.tracked.into_iter().chain(dirt.untracked));
        changed.sort();
        changed.dedup();
        Ok(CommitPlanned {
            iteration: plan.iteration,
            commit: None,
            parent: head.commit,
            subject: String::new(),
            changed_files: changed
                .iter()
                .take(CommitPlanned::MOST_FILES)
                .map(|path| display_path(path))
                .collect(),
            changed_total: u32::try_from(changed.len()).unwrap_or(u32::MAX),
            left_out: Vec::new(),
            problems: Vec::new(),
        })
    }
}

pub(super) fn no_workspace() -> DriverError {
    DriverError::Workspace(WorkspaceProblem::said("the task has no workspace yet"))
}

impl Driver<'_> {
    pub(super) fn workspace(&self) -> Result<&Workspace, DriverError> {
        self.workspace.as_ref().ok_or_else(no_workspace)
    }

    pub(super) fn workspace_mut(&mut self) -> Result<&mut Workspace, DriverError> {
        self.workspace.as_mut().ok_or_else(no_workspace)
    }

    pub(super) fn prepare_workspace(&mut self) -> Result<Input, DriverError> {
        match self.make_workspace() {
            Err(error) if matches!(self.spec.place, Place::Worktree { .. }) => not_made(error),
            made => made,
        }
    }

    fn make_workspace(&mut self) -> Result<Input, DriverError> {
        if let Some(workspace) = &self.workspace {
            // Its line is missing from the record. What was done there must not be done away with.
            let head = workspace.repo.head()?;
            return Ok(Input::WorkspaceReady {
                path: display_path(workspace.repo.toplevel()),
                branch: head.branch,
                base: head.commit,
                kept_changes: None,
                port_base: workspace.port_base(),
                start_sha256: self.proof.start_sha256.clone(),
            });
        }
        let user = self.discover(&self.spec.top)?;
        // Before the worktree is made and before any agent runs: what an agent changes later has no part in proofs.
        self.take_snapshot(&user)?;
        let (mut workspace, kept) = match &self.spec.place {
            Place::InPlace { branch: Some(new), .. } => match self.take_branch(&user, &new.clone())? {
                Ok(()) => (Workspace::new(user, None), None),
                Err(problem) => return Ok(Input::WorkspaceFailed(vec![problem])),
            },
            Place::InPlace { allow_dirty: false, branch: None } => (Workspace::new(user, None), None),
            Place::InPlace { allow_dirty: true, branch: None } => {
                let (kept, left_out) = self.keep_user_changes(&user)?;
                (Workspace { left_out, ..Workspace::new(user, None) }, kept)
            }
            Place::Worktree { .. } => match self.add_worktree(&user)? {
                Ok((mut workspace, kept)) => {
                    self.furnish(&user, &mut workspace)?;
                    workspace.ports = self.lease_ports()?;
                    (workspace, kept)
                }
                Err(problem) => return Ok(Input::WorkspaceFailed(vec![problem])),
            },
        };
        self.take_untracked(&mut workspace)?;
        let head = workspace.repo.head()?;
        let path = display_path(workspace.repo.toplevel());
        let port_base = workspace.port_base();
        self.workspace = Some(workspace);
        self.begin_carrying();
        self.confine()?;
        Ok(Input::WorkspaceReady {
            path,
            branch: head.branch,
            base: head.commit,
            kept_changes: kept,
            port_base,
            start_sha256: self.proof.start_sha256.clone(),
        })
    }

    /// A task that is taken up again finds its workspace where it was.
    pub(super) fn reopen_workspace(&mut self) -> Result<(), DriverError> {
        // Stopped before it was made, the task ends without one.
        if !self.earlier.workspace_was_made || self.machine.next().is_none() {
            return Ok(());
        }
        let spec = Arc::clone(&self.spec);
        if let Place::InPlace { branch: Some(own), .. } = &spec.place
            && !self.may_reopen(own)?
        {
            return Ok(());
        }
        let mut workspace = match &spec.place {
            Place::InPlace { .. } => Workspace::new(self.discover(&spec.top)?, None),
            Place::Worktree { path, branch, .. } => self.reopen_worktree(path, branch)?,
        };
        workspace.recall_litter(&self.earlier.litter)?;
        self.recall_untracked(&mut workspace)?;
        workspace.ports = self.lease_ports_again()?;
        self.workspace = Some(workspace);
        self.begin_carrying();
        self.confine()?;
        Ok(())
    }

    pub(super) fn note_of_workspace(&mut self, notice: WorkspaceNotice) -> Result<(), DriverError> {
        self.input(&Input::Notice(Notice::Workspace(notice)))
    }

    /// `--allow-dirty`: the user's changes become a commit of their own under the base, so that no iteration's commit
    /// holds any of them; a rescue ref keeps them as they were.
    pub(super) fn keep_user_changes(
        &mut self,
        repo: &Repo,
    ) -> Result<(Option<String>, Vec<PathBuf>), DriverError> {
        let head = repo.head()?;
        let message =
            format!("Uncommitted changes before {}\n\nDacapo-Task: {}\n", self.spec.name, self.spec.name);
        let prefix = format!("refs/dacapo/rescue/{}/before", self.spec.name);
        let kept = repo.keep_user_changes(&CommitRequest {
            start: head.commit.as_ref(),
            home: &head,
            message: &message,
            date: local_date(self.spec.created_at),
            rescue_prefix: &prefix,
            exclusive: false,
            max_file_bytes: MAX_FILE_BYTES,
            known: &[],
            landing: None,
            apart: Apart::nothing(),
            secrets: Some(self.launcher.masker()),
        })?;
        if let Some(problem) = kept.problems.first() {
            return Err(DriverError::Workspace(problem.into()));
        }
        let known = kept.left_out.iter().map(|left| left.path.clone()).chain(kept.nested).collect();
        // Of the user's own checkout all that stays untracked is said together.
        for left in kept.left_out.iter().filter(|_| !self.is_users_checkout()).collect::<Vec<_>>() {
            self.input(&Input::Notice(Notice::LeftUncommitted(left.into())))?;
        }
        Ok((kept.rescued.first().map(|rescued| rescued.name.clone()), known))
    }

    /// Where the work starts: main may have moved while the task stood in a row. Or why it cannot.
    pub(super) fn start_now(
        &self,
        user: &Repo,
        asked: &Oid,
    ) -> Result<Result<Oid, WorkspaceProblem>, DriverError> {
        if self.machine.starts_from_base_branch()
            && let Some(branch) = &self.spec.base_branch
            && let Some(tip) = user.read_ref(branch)?
        {
            return Ok(Ok(tip));
        }
        let commit_id = asked.clone();
        Ok(if user.has_commit(asked)? {
            Ok(commit_id)
        } else {
            Err(WorkspaceProblem::StartGone { commit_id })
        })
    }

    pub(super) fn commit_what_is_left(&mut self, plan: &CommitPlan) -> Result<Input, DriverError> {
        self.record.sink.activity(&Activity::Committing);
        let home = Head { branch: plan.branch.clone(), commit: plan.tip.clone() };
        self.mend_repository(&home)?;
        self.clear_locks_of_last_turn()?;
        // The guard of what comes next starts while git, one process at a time, leaves the other cores idle.
        self.launcher.prepare();
        let prefix = rescue_prefix(&self.spec, plan.iteration);
        if !plan.commit {
            let looked = self.workspace()?.look_only(plan)?;
            self.report_committed_secrets(plan.tip.as_ref(), looked.parent.as_ref())?;
            return Ok(Input::Prepared(looked));
        }
        let users = self.workspace_mut()?.compare_users()?;
        let workspace = self.workspace()?;
        let apart = workspace.apart(&users);
        let request = CommitRequest {
            start: plan.start.as_ref(),
            home: &home,
            message: &plan.message,
            date: local_date(plan.at),
            rescue_prefix: &prefix,
            exclusive: workspace.exclusive(),
            max_file_bytes: MAX_FILE_BYTES,
            known: &workspace.left_out,
            landing: Some(&landing_reason(plan.iteration)),
            apart: &apart,
            secrets: Some(self.launcher.masker()),
        };
        let mut prepared = workspace.repo.prepare_commit(&request)?;
        let put_back = self.put_tests_back(plan, &prepared, &prefix)?;
        if put_back.is_some() {
            prepared = workspace.repo.prepare_commit(&request)?;
        }
        let is_new = |left: &&git::LeftOut| !workspace.left_out.contains(&left.path);
        let left_out: Vec<git::LeftOut> = prepared.left_out.iter().filter(is_new).cloned().collect();
        let is_gone =
            |problem: &Problem| matches!(problem, Problem::WorkspaceGone(_) | Problem::RepositoryGone(_));
        if !prepared.problems.is_empty() && prepared.problems.iter().all(is_gone) {
            self.restore_worktree(&home)?;
        }
        for notice in &prepared.notices {
            self.input(&Input::Notice(notice.into()))?;
        }
        if let Some(put_back) = put_back {
            self.note_of_workspace(put_back)?;
        }
        for left in &left_out {
            self.input(&Input::Notice(Notice::NotCommitted(left.into())))?;
        }
        self.report_committed_secrets(plan.tip.as_ref(), prepared.head.commit.as_ref())?;
        let committed = prepared.committed();
        self.report_touched(Some(plan.iteration), &users, &committed)?;
        let branch = prepared.head.branch.clone();
        if let Some(workspace) = self.workspace.as_mut() {
            workspace.left_out.extend(left_out.into_iter().map(|left| left.path));
            let refs = workspace.repo.ref_files(branch.as_deref());
            // Carried out at the end of the iteration, when the journal names the commit.
            self.record.durability.set(Order::of(workspace.repo.objects_dir(), refs));
        }
        let files = prepared.changed.iter().map(|change| display_path(&change.path));
        Ok(Input::Prepared(CommitPlanned {
            iteration: plan.iteration,
            parent: prepared
                .commit
                .as_ref()
                .map_or(prepared.head.commit.clone(), |commit| commit.parent.clone()),
            commit: prepared.commit.map(|commit| commit.oid),
            subject: plan.message.lines().next().unwrap_or_default().to_owned(),
            changed_files: files.take(CommitPlanned::MOST_FILES).collect(),
            changed_total: u32::try_from(prepared.changed.len()).unwrap_or(u32::MAX),
            left_out: prepared.left_out.iter().map(LeftFile::from).collect(),
            problems: prepared.problems.iter().map(WorkspaceProblem::from).collect(),
        }))
    }

    /// Where the user has locked the tests: puts back what the iteration changed of them. What it was is kept.
    fn put_tests_back(
        &self,
        plan: &CommitPlan,
        prepared: &git::Prepared,
        prefix: &str,
    ) -> Result<Option<WorkspaceNotice>, DriverError> {
        let policy = &self.spec.policy;
        let committed = prepared.commit.as_ref().map(|commit| &commit.oid);
        let own = prepared.head.commit.as_ref().filter(|_| prepared.own_commits);
        let (TestsMode::Locked, Some(base), Some(commit)) =
            (policy.tests.mode, &plan.base, committed.or(own))
        else {
            return Ok(None);
        };
        let repo = &self.workspace()?.repo;
        let judges = Judges { checks: &policy.checks, protect: &policy.tests.protect };
        let index = self.dir.path().join("put-back.index");
        let files = proof::put_back(repo, base, commit, judges, &index);
        // It is made anew each time.
        let _ = std::fs::remove_file(&index);
        let files = files?;
        let Some((first, more)) = files.split_first() else { return Ok(None) };
        let rescued = committed.map(|commit| repo.rescue(prefix, "tests", commit)).transpose()?;
        Ok(Some(WorkspaceNotice::TestsPutBack {
            first: display_path(first),
            more: more.len() as u64,
            kept: rescued.map(|rescued| rescued.name),
        }))
    }

    pub(super) fn land(&mut self, landing: &Landing) -> Result<Input, DriverError> {
        let prefix = rescue_prefix(&self.spec, landing.iteration);
        let workspace = self.workspace()?;
        let landed = workspace.repo.land(&git::Landing {
            branch: landing.branch.as_deref(),
            old: landing.parent.as_ref(),
            new: &landing.commit,
            reason: &landing_reason(landing.iteration),
            rescue_prefix: &prefix,
            exclusive: workspace.exclusive(),
        })?;
        Ok(match landed {
            Landed::Now | Landed::AlreadyThere => Input::Landed,
            Landed::Elsewhere { branch_at, rescued, .. } => {
                let problem = WorkspaceProblem::BranchMoved { now: branch_at, rescued: rescued.name };
                Input::LandedElsewhere { problem }
            }
        })
    }

    pub(super) fn gather_result(&mut self, base: Option<&Oid>) -> Result<Input, DriverError> {
        let (mut last_commit, mut trust_files) = (None, Vec::new());
        if let Some(workspace) = &self.workspace {
            // The repository may be what the agent removed; that is no reason to end without a result.
            let repo = &workspace.repo;
            if repo.what_is_gone().is_empty() {
                last_commit = repo.head()?.commit;
            }
            if let Some(tip) = &last_commit
                && Some(tip) != base
                && base.map_or(Ok(true), |base| repo.has_commit(base))?
            {
                let trusted = TrustedFiles::new(self.spec.policy.checks.iter().map(String::as_str), []);
                let changed = workspace.repo.changed_between(base, tip)?;
                let names = changed.iter().map(|change| display_path(&change.path));
                trust_files = names.filter(|name| trusted.role(name).is_some()).collect();
            }
        }
        // Git's own are in no commit, and the project's settings need not be.
        let beside = self.changed_settings_files();
        trust_files.extend(beside.into_iter().filter(|name| !trust_files.contains(name)).collect::<Vec<_>>());
        Ok(Input::Finishing { last_commit, trust_files, elapsed: self.record.clock.elapsed() })
    }

    pub(super) fn discover(&self, dir: &std::path::Path) -> Result<Repo, DriverError> {
        // Secrets of `--env` are for the agent, its checks and the setup; git may run filters of the repository's.
        let is_secret = |name: &OsStr| {
            self.spec.env.iter().any(|(known, value)| value.is_none() && name == known.as_str())
        };
        let env = self.context.env.without(is_secret);
        let supervision = self.context.supervision.clone();
        let supervision = supervision
            .under(self.launcher.guards())
            .stopped_by(self.mailbox.stop_signal())
            .tagged(&self.spec.tag);
        let found = Repo::discover_under(dir, &env, &supervision);
        let found = found.map(|repo| repo.holding(&self.context.locks));
        found.map_err(|error| {
            DriverError::Workspace(WorkspaceProblem::Unusable {
                of_task: self.spec.name.to_string(),
                message: error.to_string(),
                removed_branch: None,
            })
        })
    }
}

fn rescue_prefix(spec: &TaskSpec, iteration: u32) -> String {
    format!("refs/dacapo/rescue/{}/iter-{iteration}", spec.name)
}

/// What the reflog says.
fn landing_reason(iteration: u32) -> String {
    format!("dacapo: iter-{iteration}")
}

/// A date as the user's own git would write it.
pub(super) fn local_date(at: Timestamp) -> CommitDate {
    CommitDate::from(&at.to_zoned(jiff::tz::TimeZone::system()))
}
