//! Has a model write a summary or a commit message (C4, C5): one short call between an iteration's last turn and its
//! commit. What goes wrong with it is told and forgotten: no iteration is lost for want of words.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use super::context::{Activity, DriverError};
use super::driver::Driver;
use super::listen::{Waited, Wakeup};
use super::machine::{Input, WritingPlan};
use super::mailbox::Report;
use super::reader::{Reader, written};
use super::turn::EVENTS_IN_FLIGHT;
use super::turn::random_uuid;
use super::turn_end::{CallEnded, StoppedBy, diagnosed, ending};
use super::workspace::{MAX_FILE_BYTES, no_workspace};
use crate::agent::{self, Ending, Observed, ParserSetting, Patience, TurnRequest, weigh};
use crate::context::{self, About, Conversation};
use crate::event::{AgentEvent, AgentFault, Fault, LogIn, TurnEnd, Usage, WritingEnd, WritingRecord};
use crate::process::{Follower, Running, Stop};
use crate::spec::{AgentSpec, Writing};
use crate::store::files;

/// A few sentences take seconds. Whoever needs longer than this is not waited for.
const LONGEST: Duration = Duration::from_secs(3 * 60);

/// One that is stopped has nothing to save.
const GRACE: Duration = Duration::from_secs(1);

/// How much of what a turn printed is looked through; a model is told far less, and a signal must not wait for it.
const MOST_READ: u64 = 64 << 20;

/// What came of a call, and what it used.
type Answer = (WritingEnd, Usage);

impl Driver<'_> {
    pub(super) fn write(&mut self, plan: &WritingPlan) -> Result<Input, DriverError> {
        let started = Instant::now();
        let spec = Arc::clone(&self.spec);
        let writer = spec.context.writer(plan.what);
        let asked = match plan.what {
            Writing::Summary => self.ask_for_summary(plan),
            Writing::CommitMessage => self.ask_for_message(plan),
        };
        let (end, usage) = match (writer, asked) {
            (None, _) | (_, Ok(None)) => (WritingEnd::Nothing, Usage::default()),
            (_, Err(message)) => (WritingEnd::Failed { fault: message.into() }, Usage::default()),
            // What the agent printed and what files are called may hold what no model is told (S15).
            (Some(agent), Ok(Some(prompt))) => {
                self.ask(plan, agent, &self.launcher.masker().mask_str(&prompt))?
            }
        };
        Ok(Input::Written(WritingRecord {
            iteration: plan.iteration,
            what: plan.what,
            end,
            by: writer.map(|agent| name_of(agent).to_owned()).unwrap_or_default(),
            usage,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }))
    }

    /// None: nothing was said or done in this iteration.
    fn ask_for_summary(&self, plan: &WritingPlan) -> Result<Option<String>, String> {
        let mut conversation = Conversation::default();
        for (turn, agent) in &plan.turns {
            // A turn whose output somebody removed has nothing to tell.
            let raw = self.dir.turn_path(*turn, "raw");
            if let Some(agent) = self.spec.agents.get(*agent) {
                let _ = listen_again(&raw, agent, &mut conversation);
            }
            conversation.end_turn();
        }
        let told = conversation.finish();
        let most = self.spec.context.summary_max_tokens;
        Ok((!told.is_empty()).then(|| context::summary_prompt(self.about(plan), &told, most)))
    }

    /// None: nothing changed, so there is nothing to commit, or the tree is not in a state to be committed.
    fn ask_for_message(&mut self, plan: &WritingPlan) -> Result<Option<String>, String> {
        let workspace = self.workspace.as_mut().ok_or_else(|| no_workspace().to_string())?;
        if !workspace.repo.what_is_gone().is_empty() {
            return Ok(None);
        }
        let users = workspace.compare_users().map_err(|error| error.to_string())?;
        let stats = workspace.repo.stat_since(plan.start.as_ref(), MAX_FILE_BYTES);
        let mut stats = stats.map_err(|error| error.to_string())?;
        let others = workspace.not_the_agents(&users);
        stats.retain(|stat| !others.contains(&stat.path));
        let changes = context::changed_files(&stats);
        Ok((!changes.is_empty()).then(|| context::message_prompt(self.about(plan), &plan.summary, &changes)))
    }

    fn about(&self, plan: &WritingPlan) -> About<'_> {
        About { task: &self.spec.prompt, iteration: plan.iteration }
    }

    fn ask(&mut self, plan: &WritingPlan, agent: &AgentSpec, prompt: &str) -> Result<Answer, DriverError> {
        let raw = self.file(plan, "raw");
        let before = match self.answer_on_file(plan, agent, &raw) {
            Some((WritingEnd::Cancelled, usage)) => usage,
            Some(answer) => return Ok(answer),
            None => Usage::default(),
        };
        self.record.sink.activity(&Activity::Writing { what: plan.what, by: name_of(agent) });
        self.keep_directory_of(&raw)?;
        let (running, permits) = match self.call(plan, agent, prompt)? {
            Ok(started) => started,
            Err(message) => return Ok((WritingEnd::Failed { fault: message.into() }, before)),
        };
        let (ending, seen) = self.hear(plan, agent, &running, &permits)?;
        let usage = before.plus(&seen.usage);
        Ok((self.judge(plan, agent, &ending, &seen), usage))
    }

    /// A call that an earlier process made. Where it ended in an answer it is not paid for twice; where it was cut short
    /// it is cancelled, and out of the way.
    fn answer_on_file(&self, plan: &WritingPlan, agent: &AgentSpec, raw: &Path) -> Option<Answer> {
        let file = files::open(raw).ok()?;
        let follower = Follower::replay(raw, 0).ok()?;
        let (seen, _) = self.writing_reader(plan, agent, file).read(follower, |_| true);
        let end = match self.judge(plan, agent, &Ending::Unwatched, &seen) {
            WritingEnd::Cancelled => {
                for extension in ["raw", "idx", "err"] {
                    let _ = fs::remove_file(self.file(plan, extension));
                }
                WritingEnd::Cancelled
            }
            end => end,
        };
        Some((end, seen.usage))
    }

    /// Starts the call; the inner error is its own: there is nothing to run.
    fn call(
        &mut self,
        plan: &WritingPlan,
        agent: &AgentSpec,
        prompt: &str,
    ) -> Result<Result<(Running, Receiver<()>), String>, DriverError> {
        let prompt_file = self.file(plan, "prompt");
        if let Err(error) = files::replace(&prompt_file, prompt.as_bytes()) {
            return Ok(Err(format!("cannot write its prompt: {error}")));
        }
        let session = agent.presets_session().then(random_uuid);
        let request = TurnRequest {
            prompt,
            prompt_file: &prompt_file,
            session: session.as_deref(),
            continued: false,
            own_program: &self.context.program,
            usage_file: &self.usage_file(plan),
            budget: None,
        };
        let variables = [("DACAPO_ITERATION", plan.iteration.to_string())];
        let mut job =
            match self.command(agent, &request, variables, |extension| self.file(plan, extension))? {
                Ok(job) => job,
                Err(message) => return Ok(Err(message)),
            };
        job.grace = GRACE;
        let outbox = self.mailbox.outbox();
        let launched = self.launcher.launch(job, move |finished| {
            outbox.report(Report::ChildGone(Box::new(finished)));
        });
        let running = match launched {
            Ok(running) => running,
            Err(error) => return Ok(Err(error.to_string())),
        };
        self.launcher.prepare();
        let (permit, permits) = sync_channel(EVENTS_IN_FLIGHT);
        self.mailbox
            .outbox()
            .follow(running.progress(), permit, |file| self.writing_reader(plan, agent, file))?;
        Ok(Ok((running, permits)))
    }

    /// Listens until the call is over; a signal, the budget and the clock end it.
    fn hear(
        &mut self,
        plan: &WritingPlan,
        agent: &AgentSpec,
        running: &Running,
        permits: &Receiver<()>,
    ) -> Result<(Ending, Observed), DriverError> {
        let started = Instant::now();
        let log_in = agent::adapter(agent.output).map(|adapter| LogIn::of(adapter.name()));
        let mut patience = Patience::new(LONGEST);
        let mut why: Option<StoppedBy> = None;
        let mut ended = CallEnded::default();
        let (finished, parsed) = self.wait(Some(started + LONGEST), |driver, heard| {
            let found = match heard {
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
                    match &event {
                        AgentEvent::Usage(usage) if driver.machine.over_budget(usage) => {
                            Some(StoppedBy::Budget)
                        }
                        event => {
                            patience.see(event, started.elapsed(), log_in.as_ref()).map(StoppedBy::GaveUp)
                        }
                    }
                }
                Wakeup::Stop => Some(StoppedBy::Cancelled),
                Wakeup::Deadline => {
                    let limit_ms = u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
                    Some(StoppedBy::TimedOut(AgentFault::NoAnswer { limit_ms }.into()))
                }
                other @ (Wakeup::Commands | Wakeup::Report(_)) => {
                    driver.nobody_waits_for(other);
                    None
                }
            };
            if let Some(found) = found {
                running.stop(Stop::Gentle);
                // A person's wish to stop counts, whatever else came before it.
                why = match why.take() {
                    Some(earlier) if !matches!(found, StoppedBy::Cancelled) => Some(earlier),
                    _ => Some(found),
                };
            }
            Ok(match ended.both() {
                Some(both) => Waited::Break(both),
                None => Waited::Continue(why.is_none().then_some(started + LONGEST)),
            })
        })?;
        self.report_leftovers(&finished)?;
        let ending = ending(why, &finished);
        let adapter = agent::adapter(agent.output);
        let seen = diagnosed(adapter, &self.file(plan, "err"), &ending, parsed.observed);
        Ok((ending, seen))
    }

    /// What the answer is worth. Cancelled is also what was never finished.
    fn judge(&self, plan: &WritingPlan, agent: &AgentSpec, ending: &Ending, seen: &Observed) -> WritingEnd {
        let final_event = agent::adapter(agent.output).is_some();
        let promise = plan.promise.as_deref();
        match weigh(ending, seen, final_event) {
            TurnEnd::Done => {
                let text = match plan.what {
                    Writing::Summary => {
                        let most = self.spec.context.summary_max_tokens;
                        context::written_summary(&seen.closing, most, promise)
                    }
                    Writing::CommitMessage => context::written_message(&seen.closing, promise),
                };
                match text.is_empty() {
                    true => WritingEnd::Failed { fault: AgentFault::NothingToUse.into() },
                    false => WritingEnd::Done { text },
                }
            }
            TurnEnd::Failed { fault, .. } => WritingEnd::Failed { fault },
            TurnEnd::Limit { message, .. } => WritingEnd::Failed { fault: message.into() },
            TurnEnd::Budget => WritingEnd::Failed { fault: Fault::BudgetUsed },
            TurnEnd::Cancelled | TurnEnd::Interrupted => WritingEnd::Cancelled,
        }
    }

    fn writing_reader(&self, plan: &WritingPlan, agent: &AgentSpec, file: fs::File) -> Reader {
        let setting = ParserSetting {
            earlier: Usage::default(),
            usage_file: Some(self.usage_file(plan)),
            now: written(&file),
            ..ParserSetting::default()
        };
        Reader::new(agent, setting, None, "", file)
    }

    /// Beside those of the iteration's last turn: `turns/0003.summary.raw`.
    fn file(&self, plan: &WritingPlan, extension: &str) -> PathBuf {
        let (turn, kind) = call(plan);
        self.dir.turn_path(turn, &format!("{kind}.{extension}"))
    }

    fn usage_file(&self, plan: &WritingPlan) -> PathBuf {
        let (turn, kind) = call(plan);
        self.dir.usage_path(&format!("{turn:04}.{kind}"))
    }
}

/// What the files of a call are named by: the turn, and what is written.
fn call(plan: &WritingPlan) -> (u32, &'static str) {
    let kind = match plan.what {
        Writing::Summary => "summary",
        Writing::CommitMessage => "message",
    };
    (plan.turns.last().map_or(0, |(turn, _)| *turn), kind)
}

/// The model, as people call it.
pub(crate) fn name_of(agent: &AgentSpec) -> &str {
    agent.model.as_deref().unwrap_or(&agent.name)
}

/// What an agent printed in a turn, through the same parser once more; of very much its end.
fn listen_again(raw: &Path, agent: &AgentSpec, conversation: &mut Conversation) -> std::io::Result<()> {
    let from = fs::metadata(raw)?.len().saturating_sub(MOST_READ);
    let mut follower = Follower::replay(raw, from)?;
    let mut parser = agent::parser(agent.output, ParserSetting::default());
    let mut buffer = Vec::new();
    while follower.next(&mut buffer)? {
        parser.feed(&buffer, &mut |event| conversation.see(&event));
    }
    parser.finish(&mut |event| conversation.see(&event));
    Ok(())
}
