//! The process of an agent that speaks ACP: started, kept from turn to turn, and ended.

use crate::event::Notice;
use crate::files::FileAction;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::acp_stdin::AcpStdin;
use super::context::DriverError;
use super::driver::Driver;
use super::listen::{Waited, Wakeup};
use super::machine::{Input, TurnPlan};
use super::mailbox::Report;
use super::turn::{outputs, write_prompt};
use crate::agent::acp::{AcpSettings, Memory};
use crate::process::{Finished, Running, Stdin, Stop};
use crate::spec::AgentSpec;
use crate::store::{TaskDir, files};

/// How long it may take to leave by itself once nobody talks to it any more; all known ones take a fifth of that.
pub(super) const LEAVE_TIME: Duration = Duration::from_millis(1000);

/// The conversations that are kept, each with the number of its agent, and what was said about agents already.
#[derive(Debug, Default)]
pub(super) struct AcpProcesses {
    pub(super) kept: BTreeMap<usize, AcpProcess>,
    pub(super) noted: Vec<Notice>,
}

impl AcpProcesses {
    /// A process of this agent is kept, and has nothing to do now.
    pub(super) fn is_kept(&self, agent: usize) -> bool {
        self.kept.contains_key(&agent)
    }
}

/// The process of an agent that speaks ACP.
#[derive(Debug)]
pub(super) struct AcpProcess {
    pub(super) agent: usize,
    pub(super) running: Running,
    pub(super) stdin: AcpStdin,
    /// Set when its turn is over: the conversation that it has open, and what is known of the process.
    pub(super) kept_for: Option<(String, Memory)>,
    /// Another process of the agent can open the same conversation.
    pub(super) reopens: bool,
    /// It sleeps while a commit is proven.
    frozen: bool,
}

/// Nobody may leave it running, on whatever way out.
impl Drop for AcpProcess {
    fn drop(&mut self) {
        self.running.stop(Stop::Now);
    }
}

impl Driver<'_> {
    /// The process that has this conversation open, with its output turned into the files of this turn.
    pub(super) fn kept_acp_process(&mut self, plan: &TurnPlan) -> Result<Option<AcpProcess>, DriverError> {
        self.end_other_acp_processes(plan.agent)?;
        // Another session means that the machine wants a fresh conversation; the process would answer with the old
        // one's memory.
        let fits = self.turns.acp.kept.get(&plan.agent).is_some_and(|kept| {
            let open = kept.kept_for.as_ref().map(|(session, _)| session.as_str());
            plan.continued && open.is_some() && open == plan.session.as_deref()
        });
        if !fits {
            self.end_acp_process(plan.agent)?;
            return Ok(None);
        }
        let Some(agent_process) = self.turns.acp.kept.remove(&plan.agent) else { return Ok(None) };
        write_prompt(&self.dir, plan)?;
        if let Some((_, memory)) = &agent_process.kept_for {
            let path = self.dir.turn_path(plan.turn, "acp");
            let json = serde_json::to_vec(memory).unwrap_or_default();
            // Before the turn begins: a replay of its output needs what the parser knew at its start.
            files::replace(&path, &json).map_err(|source| DriverError::File {
                what: FileAction::Write,
                path,
                source,
            })?;
        }
        let agent = &self.spec.agents[plan.agent];
        let outputs = outputs(agent, |extension| self.dir.turn_path(plan.turn, extension));
        // False means that the process died while it was idle. It has been told nothing of this turn, so a new one
        // can begin it.
        if agent_process.running.continue_in(&outputs)? {
            return Ok(Some(agent_process));
        }
        self.turns.acp.kept.insert(plan.agent, agent_process);
        self.end_acp_process(plan.agent)?;
        let _ = fs::remove_file(self.dir.turn_path(plan.turn, "acp"));
        Ok(None)
    }

    /// Starts the agent; the inner error is its own: no command line can be made for it.
    pub(super) fn start_acp_process(
        &mut self,
        plan: &TurnPlan,
        agent: &AgentSpec,
    ) -> Result<Result<AcpProcess, String>, DriverError> {
        let mut job = match self.job(plan, agent)? {
            Ok(job) => job,
            Err(message) => return Ok(Err(message)),
        };
        let failed =
            |source| DriverError::File { what: FileAction::TalkTo, path: PathBuf::from(&agent.name), source };
        let (theirs, ours) = std::io::pipe().map_err(failed)?;
        job.stdin = Stdin::From(theirs.into());
        // Not the machine's slot: the process may live through a long wait, in which the slot is given up to others.
        job.holds = self.lasting_shares();
        let stdin = AcpStdin::new(ours).map_err(failed)?;
        let (outbox, agent) = (self.mailbox.outbox(), plan.agent);
        let running = self.launcher.launch(job, move |finished| {
            outbox.report(Report::AcpProcessGone(agent, Box::new(finished)));
        })?;
        Ok(Ok(AcpProcess { agent, running, stdin, kept_for: None, reopens: false, frozen: false }))
    }

    /// Ends all processes that are kept.
    pub(super) fn end_acp_processes(&mut self) -> Result<(), DriverError> {
        let all = std::mem::take(&mut self.turns.acp.kept);
        self.take_leave_of(all)
    }

    /// Sees to it that no agent is at work while a commit is proven. One whose conversation can be opened again is ended, and
    /// its next turn does that. Of any other one the process sleeps, and what it had started is ended.
    pub(super) fn dismiss_agents(&mut self) -> Result<(), DriverError> {
        let all = std::mem::take(&mut self.turns.acp.kept);
        let (leaving, staying) = all.into_iter().partition(|(_, kept)| kept.reopens);
        self.turns.acp.kept = staying;
        self.take_leave_of(leaving)?;
        let mut awaited = Vec::new();
        for (agent, kept) in self.turns.acp.kept.iter_mut().filter(|(_, kept)| !kept.frozen) {
            let (outbox, agent) = (self.mailbox.outbox(), *agent);
            kept.running.freeze(move || {
                outbox.report(Report::AcpProcessFrozen(agent));
            });
            kept.frozen = true;
            awaited.push(agent);
        }
        if awaited.is_empty() {
            return Ok(());
        }
        self.wait(None, |driver, heard| {
            match heard {
                Wakeup::Report(Report::AcpProcessFrozen(agent)) => awaited.retain(|other| *other != agent),
                other @ (Wakeup::Stop | Wakeup::Commands | Wakeup::Report(_) | Wakeup::Deadline) => {
                    driver.nobody_waits_for(other);
                }
            }
            Ok(if awaited.is_empty() { Waited::Break(()) } else { Waited::Continue(None) })
        })
    }

    /// Wakes the agents that slept.
    pub(super) fn recall_agents(&mut self) {
        for kept in self.turns.acp.kept.values_mut().filter(|kept| kept.frozen) {
            kept.running.thaw();
            kept.frozen = false;
        }
    }

    /// Ends those of other agents, where one that is not at work is not needed any more.
    pub(super) fn end_other_acp_processes(&mut self, agent: usize) -> Result<(), DriverError> {
        if self.machine.agents_converse_by_turns() {
            return Ok(());
        }
        let mut others = std::mem::take(&mut self.turns.acp.kept);
        self.turns.acp.kept.extend(others.remove_entry(&agent));
        self.take_leave_of(others)
    }

    /// Ends the process that is kept of an agent, if there is one.
    fn end_acp_process(&mut self, agent: usize) -> Result<(), DriverError> {
        let one = self.turns.acp.kept.remove_entry(&agent);
        self.take_leave_of(one.into_iter().collect())
    }

    /// All are told before the first is waited for: they leave side by side.
    fn take_leave_of(&mut self, mut leaving: BTreeMap<usize, AcpProcess>) -> Result<(), DriverError> {
        // The end of standard input is how ACP agents are told to leave; a signal could cut short what they save.
        leaving.values_mut().for_each(|agent_process| agent_process.stdin.close());
        let mut leave = Some(Instant::now() + LEAVE_TIME);
        if leaving.is_empty() {
            return Ok(());
        }
        self.wait(leave, |driver, heard| {
            match heard {
                Wakeup::Report(Report::AcpProcessGone(agent, finished)) if leaving.contains_key(&agent) => {
                    leaving.remove(&agent);
                    driver.report_leftovers(&finished)?;
                    if leaving.is_empty() {
                        return Ok(Waited::Break(()));
                    }
                }
                Wakeup::Deadline => {
                    leave = None;
                    leaving.values().for_each(|agent_process| agent_process.running.stop(Stop::Gentle));
                }
                other @ (Wakeup::Stop | Wakeup::Commands | Wakeup::Report(_)) => {
                    driver.nobody_waits_for(other);
                }
            }
            Ok(Waited::Continue(leave))
        })
    }

    /// A kept process has ended while it had nothing to do. Its next turn opens the conversation again, where the agent can.
    pub(super) fn kept_acp_process_gone(
        &mut self,
        agent: usize,
        finished: &Finished,
    ) -> Result<(), DriverError> {
        drop(self.turns.acp.kept.remove(&agent));
        self.report_lost(agent, finished)
    }

    pub(super) fn report_lost(&mut self, agent: usize, finished: &Finished) -> Result<(), DriverError> {
        let agent = self.spec.agents[agent].name.clone();
        self.input(&Input::Notice(Notice::AgentEnded { agent }))?;
        self.report_leftovers(finished)
    }
}

/// What the reader of a turn must know; for one of a kept process it was written down before the turn began.
pub(super) fn acp_setting(task: &str, dir: &TaskDir, plan: &TurnPlan, agent: &AgentSpec) -> AcpSettings {
    AcpSettings {
        task: task.to_owned(),
        approval: agent.approval,
        session: plan.session.clone().filter(|_| plan.continued),
        memory: memory_in(&dir.turn_path(plan.turn, "acp")),
    }
}

/// What is remembered of a conversation is far less.
const LARGEST_MEMORY: u64 = 16 << 20;

fn memory_in(path: &Path) -> Option<Memory> {
    serde_json::from_slice(&files::read(path, LARGEST_MEMORY).ok()?).ok()
}
