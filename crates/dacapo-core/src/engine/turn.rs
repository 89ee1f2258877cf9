//! One turn of an agent: start it, listen to it, end it when it must end, weigh how it went.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::confinement::READ_ONLY_VARIABLE;
use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::identity;
use super::listen::{Waited, Wakeup};
use super::machine::{Input, TurnPlan, TurnStart};
use super::mailbox::{Outbox, Report};
use super::planted::TurnBegun;
use super::reader::{Reader, setting};
use super::setup::PORT_VARIABLE;
use super::stderr_events::TurnOutput;
use super::turn_end::{CallEnded, StoppedBy, diagnosed, ending};
use super::watchdog::Watchdog;
use super::workspace::Workspace;
use crate::agent::{self, Ending, Observed, TurnRequest, acp};
use crate::event::{AgentEvent, Notice, WorkspaceProblem};
use crate::files::FileAction;
use crate::git::display_path;
use crate::process::{
    Content, Exit, Finished, Follower, Job, Outputs, Progress, Running, Stderr, Stop, TAG_VARIABLE,
};
use crate::spec::{AgentSpec, OutputFormat, TaskSpec};
use crate::store::{TaskDir, files};

/// How many events of the agent may wait for the driver; the parser waits, the agent never does.
pub(super) const EVENTS_IN_FLIGHT: usize = 64;

/// What the parser knows when all output has been read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) observed: Observed,
    pub(super) error: Option<io::Error>,
}

impl Outbox {
    /// Starts the thread that reads what the agent prints, from the file it is captured in.
    pub(super) fn follow(
        &self,
        progress: Arc<Progress>,
        permit: SyncSender<()>,
        reader: impl FnOnce(File) -> Reader,
    ) -> Result<(), DriverError> {
        let raw = progress.path().to_owned();
        let failed = |source| DriverError::File { what: FileAction::Read, path: raw.clone(), source };
        let file = progress.reader().map_err(failed)?;
        let follower = Follower::live(progress, 0).map_err(failed)?;
        let reader = reader(file);
        let outbox = self.clone();
        std::thread::Builder::new()
            .name("parser".into())
            .spawn(move || {
                let send = |heard| match heard {
                    acp::AcpItem::Event(event) => send(&permit, &outbox, Report::Agent(event)),
                    acp::AcpItem::Message(talk) => send(&permit, &outbox, Report::Acp(Box::new(talk))),
                };
                let (observed, error) = reader.read(follower, send);
                outbox.report(Report::Parsed(Box::new(Parsed { observed, error })));
            })
            .map_err(failed)?;
        Ok(())
    }
}

impl Driver<'_> {
    pub(super) fn begin_turn(&mut self, start: TurnStart) -> Result<Input, DriverError> {
        if let Some(known) = self.known_limit(start.agent)? {
            return Ok(Input::LimitKnown(known));
        }
        let agent = &self.spec.agents[start.agent];
        // Chosen here and put on record with the start of the turn: after a crash the conversation can be resumed
        // although the agent never came to name it.
        let session = (start.fresh && agent.presets_session()).then(random_uuid);
        let repo = &self.workspace()?.repo;
        let gone = repo.what_is_gone();
        if !gone.is_empty() {
            return Ok(Input::WorkspaceFailed(gone.iter().map(WorkspaceProblem::from).collect()));
        }
        let head = repo.head()?;
        self.turns.begun = TurnBegun::Now;
        Ok(Input::TurnBegins { head: head.commit, session })
    }

    pub(super) fn run_turn(&mut self, plan: &TurnPlan) -> Result<Input, DriverError> {
        let raw = self.dir.turn_path(plan.turn, "raw");
        let begun = std::mem::replace(&mut self.turns.begun, TurnBegun::Earlier);
        // The agent had been started when we were killed. A turn is never run a second time: its end is read from the
        // file.
        if begun == TurnBegun::Earlier && raw.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return self.finish_from_file(plan, &raw);
        }
        self.clear_turn_files(plan.turn, begun)?;
        self.clear_locks_of_last_turn()?;
        let spec = Arc::clone(&self.spec);
        let agent = &spec.agents[plan.agent];
        self.keep_directory_of(&raw)?;
        if agent.output == OutputFormat::Acp {
            return self.run_acp_turn(plan, agent);
        }
        self.end_other_acp_processes(plan.agent)?;
        let started = Instant::now();
        let job = match self.job(plan, agent)? {
            Ok(job) => job,
            Err(message) => {
                let ending = Ending::NotStarted { permanent: true, fault: message.into() };
                return Ok(self.ended(plan, &ending, Observed::default(), started.elapsed()));
            }
        };
        let outbox = self.mailbox.outbox();
        let running = self.launcher.launch(job, move |finished| {
            outbox.report(Report::ChildGone(Box::new(finished)));
        })?;
        let (permit, permits) = sync_channel(EVENTS_IN_FLIGHT);
        self.record.turn_output = Some(TurnOutput::of(plan, &running));
        self.mailbox.outbox().follow_stderr(self.adapter(plan), &running, permit.clone())?;
        self.mailbox.outbox().follow(running.progress(), permit, |file| self.reader(plan, agent, file))?;
        self.attend(plan, &running, &permits, started)
    }

    /// An agent can remove our own files too. What it printed is gone then; the loop is not.
    pub(super) fn keep_directory_of(&mut self, file: &Path) -> Result<(), DriverError> {
        let Some(directory) = file.parent().filter(|directory| !directory.is_dir()) else { return Ok(()) };
        files::make_dir(directory).map_err(|source| DriverError::File {
            what: FileAction::Create,
            path: directory.to_owned(),
            source,
        })?;
        self.input(&Input::Notice(Notice::DirectoryMadeAgain { path: display_path(directory) }))
    }

    pub(super) fn reader(&self, plan: &TurnPlan, agent: &AgentSpec, file: File) -> Reader {
        let setting = setting(self.spec.name.as_str(), &self.dir, plan, agent, &file);
        // Whatever the agent says is masked before it is read.
        let promise = plan.promise.as_deref().map(|promise| self.launcher.masker().mask_str(promise));
        Reader::new(agent, setting, promise.as_deref(), &self.launcher.masker().mask_str(&plan.prompt), file)
    }

    /// Listens until the agent is gone and all it printed has been read.
    fn attend(
        &mut self,
        plan: &TurnPlan,
        running: &Running,
        permits: &Receiver<()>,
        started: Instant,
    ) -> Result<Input, DriverError> {
        let mut watchdog = Watchdog::new(plan, self.adapter(plan), started);
        let mut why: Option<StoppedBy> = None;
        let mut ended = CallEnded::default();
        let (finished, parsed) = self.wait(Some(watchdog.deadline()), |driver, heard| {
            let reason = match heard {
                Wakeup::Report(Report::ChildGone(finished)) => {
                    ended.gone = Some(finished);
                    None
                }
                Wakeup::Report(Report::Parsed(all)) => {
                    ended.parsed = Some(all);
                    None
                }
                Wakeup::Report(Report::Agent(event)) => {
                    let _ = permits.try_recv();
                    driver.agent_did(&event, &mut watchdog)?
                }
                Wakeup::Stop => Some(StoppedBy::Cancelled),
                Wakeup::Deadline => watchdog.look(running),
                other @ (Wakeup::Commands | Wakeup::Report(_)) => {
                    driver.nobody_waits_for(other);
                    None
                }
            };
            // A person's wish to stop counts, whatever else came before it.
            if let Some(reason) =
                reason.filter(|found| why.is_none() || matches!(found, StoppedBy::Cancelled))
            {
                why = Some(driver.end_turn(running, reason));
            }
            Ok(match ended.both() {
                Some(both) => Waited::Break(both),
                None => Waited::Continue(why.is_none().then(|| watchdog.deadline())),
            })
        })?;
        self.turns.room = finished.room;
        self.report_leftovers(&finished)?;
        self.report_unread(&parsed)?;
        let ending = ending(why, &finished);
        let stderr = self.dir.turn_path(plan.turn, "err");
        let observed = diagnosed(self.adapter(plan), &stderr, &ending, parsed.observed);
        let mut input = self.ended(plan, &ending, observed, started.elapsed());
        if let Input::TurnEnded(record) = &mut input {
            record.output_bytes = finished.output_bytes;
            record.exit_code = if let Exit::Code(code) = finished.exit { Some(code) } else { None };
        }
        Ok(input)
    }

    /// Shows what the agent did. A reason to end the turn: the budget is used up, or it tries in vain.
    pub(super) fn agent_did(
        &mut self,
        event: &AgentEvent,
        watchdog: &mut Watchdog,
    ) -> Result<Option<StoppedBy>, DriverError> {
        self.record.show(event);
        self.probe_sees(event)?;
        Ok(match event {
            AgentEvent::Usage(usage) if self.machine.over_budget(usage) => Some(StoppedBy::Budget),
            _ => watchdog.see(event),
        })
    }

    pub(super) fn report_unread(&mut self, parsed: &Parsed) -> Result<(), DriverError> {
        let Some(error) = &parsed.error else { return Ok(()) };
        self.input(&Input::Notice(Notice::OutputUnread { error: error.to_string() }))
    }

    fn end_turn(&mut self, running: &Running, why: StoppedBy) -> StoppedBy {
        self.record.sink.activity(&Activity::Stopping);
        running.stop(Stop::Gentle);
        why
    }

    pub(super) fn report_leftovers(&mut self, finished: &Finished) -> Result<(), DriverError> {
        if finished.leftovers > 0 {
            let count = u64::from(finished.leftovers);
            self.input(&Input::Notice(Notice::ProcessesEnded { count }))?;
        }
        for process in &finished.unreachable {
            let (pid, program) = (process.pid, process.name.clone());
            self.input(&Input::Notice(Notice::ProcessLeft { pid, program }))?;
        }
        if let Some(error) = &finished.capture_error {
            self.input(&Input::Notice(Notice::OutputMissing { error: error.to_string() }))?;
        }
        Ok(())
    }

    /// A turn that an earlier process started. Where its output ends in the agent's final word it is not paid for twice.
    fn finish_from_file(&mut self, plan: &TurnPlan, raw: &Path) -> Result<Input, DriverError> {
        let failed = |source| DriverError::File { what: FileAction::Read, path: raw.to_owned(), source };
        let follower = Follower::replay(raw, 0).map_err(failed)?;
        let file = files::open(raw).map_err(failed)?;
        let reader = self.reader(plan, &self.spec.agents[plan.agent], file);
        let (observed, _) = reader.read(follower, |_| true);
        let bytes = fs::metadata(raw).map_or(0, |meta| meta.len());
        let mut input = self.ended(plan, &Ending::Unwatched, observed, Duration::ZERO);
        if let Input::TurnEnded(record) = &mut input {
            record.output_bytes = bytes;
        }
        Ok(input)
    }

    /// What is run for a turn; the inner error is the agent's own: no command line can be made for it.
    pub(super) fn job(&self, plan: &TurnPlan, agent: &AgentSpec) -> Result<Result<Job, String>, DriverError> {
        let prompt_file = write_prompt(&self.dir, plan)?;
        let usage_file = self.dir.usage_path(&format!("{:04}", plan.turn));
        let request = TurnRequest {
            prompt: &plan.prompt,
            prompt_file: &prompt_file,
            session: plan.session.as_deref(),
            continued: plan.continued,
            own_program: &self.context.program,
            usage_file: &usage_file,
            budget: plan.budget,
        };
        let variables = [
            ("DACAPO_ITERATION", plan.iteration.to_string()),
            ("DACAPO_TURN", plan.turn.to_string()),
            ("DACAPO_ATTEMPT", plan.attempt.to_string()),
        ];
        self.command(agent, &request, variables, |extension| self.dir.turn_path(plan.turn, extension))
    }

    /// The command line of a call in the workspace; what it prints goes to these files.
    pub(super) fn command<const N: usize>(
        &self,
        agent: &AgentSpec,
        request: &TurnRequest<'_>,
        variables: [(&str, String); N],
        file: impl Fn(&str) -> PathBuf,
    ) -> Result<Result<Job, String>, DriverError> {
        let mut invocation = match agent::invocation(agent, request) {
            Ok(invocation) => invocation,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let cwd = self.workspace()?.repo.toplevel().to_owned();
        let mut env = self.environment(&cwd);
        env.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        if agent::hides_git_config(agent)
            && let Some(identity) = self.workspace()?.repo.identity()
        {
            identity::tell(&mut env, &identity);
        }
        env.extend(agent.env.iter().map(|(name, value)| (name.into(), value.into())));
        if let Some(native) = self.native_program(agent, &cwd) {
            invocation.argv[0] = native.into();
        }
        let room = self.room_with(&invocation, request.usage_file, request.prompt_file)?;
        let Outputs { stdout, content, index, stderr } = outputs(agent, file);
        Ok(Ok(Job {
            argv: invocation.argv,
            cwd,
            env,
            stdin: invocation.stdin.into(),
            stdout,
            content,
            index,
            stderr,
            grace: Job::GRACE,
            holds: self.slot_shares(),
            room,
        }))
    }

    fn native_program(&self, agent: &AgentSpec, cwd: &Path) -> Option<PathBuf> {
        let path = self.context.env.get("PATH");
        agent::native_program(agent, &agent::program(agent)?, |program| {
            agent::find_on_path(program, path, cwd)
        })
    }

    /// The user's own environment and what every child of ours is told.
    pub(super) fn environment(&self, cwd: &Path) -> Vec<(OsString, OsString)> {
        let mut env = environment(&self.context.env, &self.spec, cwd);
        if let Some(port) = self.workspace.as_ref().and_then(Workspace::port_base) {
            env.retain(|(name, _)| name != PORT_VARIABLE);
            env.push((PORT_VARIABLE.into(), port.to_string().into()));
        }
        if let Some(places) = self.read_only_variable() {
            env.retain(|(name, _)| name != READ_ONLY_VARIABLE);
            env.push((READ_ONLY_VARIABLE.into(), places));
        }
        env
    }
}

/// The user's environment with what an agent or a check of a task finds in it.
pub(crate) fn environment(
    users: &[(OsString, OsString)],
    spec: &TaskSpec,
    cwd: &Path,
) -> Vec<(OsString, OsString)> {
    let ours = [
        "PWD",
        "DACAPO_TASK",
        "DACAPO_WORKSPACE",
        "DACAPO_ITERATION",
        "DACAPO_TURN",
        "DACAPO_ATTEMPT",
        TAG_VARIABLE,
    ];
    let set: Vec<(&String, &String)> =
        spec.env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))).collect();
    let replaced = |name: &OsString| {
        ours.iter().any(|our| name == our) || set.iter().any(|(known, _)| name == known.as_str())
    };
    let mut env: Vec<_> = users.iter().filter(|(name, _)| !replaced(name)).cloned().collect();
    env.extend(set.into_iter().map(|(name, value)| (name.into(), value.into())));
    // Some programs believe it more than the kernel, and would work where we were called from.
    env.push(("PWD".into(), cwd.into()));
    env.push(("DACAPO_TASK".into(), spec.name.as_str().into()));
    env.push(("DACAPO_WORKSPACE".into(), cwd.into()));
    env.push((TAG_VARIABLE.into(), spec.tag.as_str().into()));
    env
}

/// Keeps what the agent is told.
pub(super) fn write_prompt(dir: &TaskDir, plan: &TurnPlan) -> Result<PathBuf, DriverError> {
    let path = dir.turn_path(plan.turn, "prompt");
    match files::replace(&path, plan.prompt.as_bytes()) {
        Ok(()) => Ok(path),
        Err(source) => Err(DriverError::File { what: FileAction::Write, path, source }),
    }
}

/// Where what an agent prints goes.
pub(super) fn outputs(agent: &AgentSpec, file: impl Fn(&str) -> PathBuf) -> Outputs {
    let content = if agent.output == OutputFormat::Text { Content::Text } else { Content::JsonLines };
    Outputs { stdout: file("raw"), content, index: Some(file("idx")), stderr: Stderr::File(file("err")) }
}

/// Sends what was read of an agent to the driver, once it has room for it. False: nobody listens any more.
pub(super) fn send(permit: &SyncSender<()>, outbox: &Outbox, report: Report) -> bool {
    // The permit bounds what waits in the unbounded channel: the parser blocks here while the driver is busy, and the
    // agent never does, because its output goes to the file in any case.
    permit.send(()).is_ok() && outbox.report(report)
}

/// A random id in the form that agents take for one.
pub(super) fn random_uuid() -> String {
    let hex = crate::spec::random_hex(16);
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}
