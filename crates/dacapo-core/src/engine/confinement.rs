//! Confines what a driver starts, and keeps what is found out about that (R5).

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::{Arc, mpsc};

use super::context::{DriverContext, DriverError};
use super::driver::Driver;
use super::machine::{Input, TurnPlan};
use super::room_layout::Surroundings;
use super::room_policy;
use crate::agent::Invocation;
use crate::event::{Event, Notice, RoomReceipt, RoomWalls};
use crate::files::FileAction;
use crate::git::{Repo, common_dir};
use crate::process::{Content, Exit, Job, LaunchError, Launcher, Masker, Otherwise, Room, Shows, Stderr};
use crate::spec::{Place, RoomMode, TaskSpec};
use crate::store::TaskDir;

/// Lists for commands what they cannot change, joined as in `PATH`.
pub(super) const READ_ONLY_VARIABLE: &str = "DACAPO_READ_ONLY";

/// The end of the first prompt in a strict room.
const STRICT: &str = "\n\nYou work in a sandbox: you can change files in your working directory, in /tmp and in the caches of \
                      package managers. All else is read-only, and sudo does not work. Do not try to get around that.";

/// The room of a task's commands: in a workspace, or in a checkout that has a place of its own. None: they are not confined.
pub(crate) fn room_of(
    spec: &TaskSpec,
    dir: &TaskDir,
    context: &DriverContext,
    workspace: Option<&Repo>,
) -> Option<Room> {
    room_for(spec, dir, context, workspace, spec.room, &spec.policy.proof.hidden_checks)
}

/// The room of a task's held-out checks, which run where everything else has its room: they may change nothing that could tell an
/// agent of them. None: there are none.
pub(crate) fn room_of_held_out(spec: &TaskSpec, dir: &TaskDir, context: &DriverContext) -> Option<Room> {
    let confined = spec.room != RoomMode::None && !spec.policy.proof.hidden_checks.is_empty();
    let room = confined.then(|| room_for(spec, dir, context, None, RoomMode::Strict, &[])).flatten();
    // What cannot be had is no reason not to run them.
    room.map(|room| Room { otherwise: Otherwise::Run, ..room })
}

fn room_for(
    spec: &TaskSpec,
    dir: &TaskDir,
    context: &DriverContext,
    workspace: Option<&Repo>,
    mode: RoomMode,
    secret: &[String],
) -> Option<Room> {
    let guarded = context.guarded.as_ref()?;
    let users = match (&spec.place, workspace) {
        (Place::Worktree { .. }, Some(_)) => common_dir(&spec.top, &context.env).ok(),
        (Place::Worktree { .. }, None) | (Place::InPlace { .. }, _) => None,
    };
    let around = Surroundings {
        env: &context.env,
        data: &guarded.home,
        program: &context.program,
        settings: guarded.settings.as_deref(),
        workspace,
        users_git_dir: users.as_deref(),
        agents: &spec.agents,
        secret,
        scratch: dir.path(),
    };
    room_policy::room(mode, &around.layout(mode))
}

/// Tries on this machine how commands are confined; the inner error says why none would start. None: they would not be confined.
pub fn try_room(
    mode: RoomMode,
    context: &DriverContext,
    workspace: Option<&Repo>,
    scratch: &Path,
) -> Result<Option<Result<RoomReceipt, String>>, LaunchError> {
    let Some(guarded) = &context.guarded else { return Ok(None) };
    let around = Surroundings {
        env: &context.env,
        data: &guarded.home,
        program: &context.program,
        settings: guarded.settings.as_deref(),
        workspace,
        users_git_dir: None,
        agents: &[],
        secret: &[],
        scratch,
    };
    let Some(room) = room_policy::room(mode, &around.layout(mode)) else { return Ok(None) };
    let asked = room.clone();
    let launcher = Launcher::new(context.program.clone(), Arc::new(Masker::new([])));
    let mut launcher = launcher.map_err(LaunchError::Guard)?;
    let job = Job {
        argv: vec!["/bin/sh".into(), "-c".into(), ":".into()],
        cwd: "/".into(),
        env: Vec::new(),
        stdin: Vec::new().into(),
        stdout: scratch.join("room.out"),
        content: Content::Text,
        index: None,
        stderr: Stderr::WithStdout,
        grace: Job::GRACE,
        holds: Vec::new(),
        room: Some(room),
    };
    let (sender, receiver) = mpsc::channel();
    launcher.launch(job, move |finished| drop(sender.send(finished)))?;
    let lost = || LaunchError::Guard(std::io::ErrorKind::BrokenPipe.into());
    let finished = receiver.recv().map_err(|_| lost())?;
    Ok(match (finished.room, finished.exit) {
        (Some(made), _) => Some(Ok(RoomReceipt::new(mode, &asked, &made))),
        (None, Exit::SpawnFailed { message, .. }) => Some(Err(message)),
        (None, Exit::Code(_) | Exit::Signal(_) | Exit::Lost) => return Err(lost()),
    })
}

impl Driver<'_> {
    /// Gives all jobs their room from now on.
    pub(super) fn confine(&mut self) -> Result<(), DriverError> {
        let repo = self.workspace.as_ref().map(|workspace| &workspace.repo);
        let room = room_of(&self.spec, &self.dir, &self.context, repo);
        let readable = room.is_none();
        self.launcher.confine(room);
        if readable { self.held_out_readable() } else { Ok(()) }
    }

    /// The room of an agent, in which it has the files of ours that its command line names; none: that of all jobs.
    pub(super) fn room_with(
        &self,
        invocation: &Invocation,
        usage: &Path,
        prompt: &Path,
    ) -> Result<Option<Room>, DriverError> {
        let is_named = |path: &Path| invocation.argv.iter().any(|argument| argument == path);
        // A directory of its own: a file may come by a rename.
        let reports = usage.parent().filter(|_| is_named(usage));
        if let Some(dir) = reports {
            // Of a run that a crash cut short.
            let _ = fs::remove_dir_all(dir);
            fs::create_dir_all(dir).map_err(|source| DriverError::File {
                what: FileAction::Create,
                path: dir.to_owned(),
                source,
            })?;
        }
        let Some(room) = self.launcher.room() else { return Ok(None) };
        if reports.is_none() && !is_named(prompt) {
            return Ok(None);
        }
        let mut room = room.clone();
        if let Some(dir) = reports {
            room.show(dir, Shows::Itself);
        }
        if is_named(prompt) {
            room.show(prompt, Shows::ReadOnly);
        }
        Ok(Some(room))
    }

    /// Tells the agent in a strict room what it can change: nearly nothing is as it expects. In a guarded one it has the user's
    /// rights but for a few places, which it is told by the kernel when it comes to them.
    pub(super) fn told_of_room(&self, plan: &TurnPlan) -> TurnPlan {
        let mut plan = plan.clone();
        if self.spec.room == RoomMode::Strict && !plan.continued {
            plan.prompt.push_str(STRICT);
        }
        plan
    }

    /// The places that commands cannot change, as a variable for them; none: they can change all.
    pub(super) fn read_only_variable(&self) -> Option<OsString> {
        let read_only: Vec<&Path> = self.launcher.room()?.read_only().collect();
        std::env::join_paths(read_only).ok()
    }

    /// Writes down how the last command was confined, where that is news: after what came of the command.
    pub(super) fn note_room(&mut self) -> Result<(), DriverError> {
        let (Some(made), Some(room)) = (self.turns.room.take(), self.launcher.room()) else {
            return Ok(());
        };
        let receipt = RoomReceipt::new(self.spec.room, room, &made);
        if self.earlier.room.as_ref() == Some(&receipt) {
            return Ok(());
        }
        self.earlier.room = Some(receipt.clone());
        let walls = receipt.walls;
        self.record(Event::RoomTested(receipt))?;
        if walls == RoomWalls::Namespace { Ok(()) } else { self.held_out_readable() }
    }

    /// Tells the user where nothing keeps agents from reading held-out checks.
    fn held_out_readable(&mut self) -> Result<(), DriverError> {
        if self.spec.policy.proof.hidden_checks.is_empty() {
            return Ok(());
        }
        self.input(&Input::Notice(Notice::HeldOutReadable))
    }
}
