//! Operations, carried out in this process.

use dacapo_core::dropped::DropReason;
use dacapo_core::git::{Oid, display_path};
use dacapo_core::merge::{Halt, MergeObserver, Outcome, Step};
use dacapo_core::prune::{PutAway, Rules};

use super::{MergeResult, MergedTask, Operation, OperationResult, StaysMerged};
use crate::App;
use crate::agents;
use crate::config::Timespan;
use crate::error::Failure;
use crate::inside_task;
use crate::messages::say;
use crate::note::{MergeStep, Note};
use crate::operations::after_task::Watched;
use crate::operations::kind::{self, OwnDone};
use crate::operations::merge::{MergePlan, Merged, ObserveMerge};
use crate::operations::prune::Pruned;
use crate::operations::resume::{GoesOn, Resume, Resumed};
use crate::operations::run::Run;
use crate::operations::send::{AnswerOutcome, Lasting, PauseAt};
use crate::operations::start::{Intent, Prepared, Start};
use crate::operations::takeover::Afterwards;
use crate::operations::undo::Undone;
use crate::present::left_out;
use crate::present::log::Tracing;
use crate::present::words;
use crate::pull_request::{Made, Wishes};
use crate::question::{Answers, NotYet};
use crate::request::Driven;

impl App {
    /// Does it, in this process.
    pub fn act(&self, operation: &Operation, answers: &Answers) -> Result<OperationResult, NotYet> {
        self.act_heeding(operation, answers, &|_| Ok(()))
    }

    /// The same; what can be ended in good order is given to `heed` when it begins.
    pub(super) fn act_heeding(
        &self,
        operation: &Operation,
        answers: &Answers,
        heed: &dyn Fn(&Halt) -> Result<(), Failure>,
    ) -> Result<OperationResult, NotYet> {
        if let Some(order) = operation.order() {
            inside_task::refuse_order(self, order)?;
        }
        // Questions are put to a person: an agent that answers them would confirm what its own repository brings.
        if answers.decide() {
            inside_task::refuse_order(self, "trust")?;
        }
        let by_command = agents::Answers::ByCommand;
        let goes_on = GoesOn { background: true, agent_answers: by_command };
        match operation {
            Operation::Prompt { request } => {
                let mut request = request.clone();
                self.ground(&request, answers)?.fill_in(&mut request, answers)?;
                self.act(&Operation::Start { request }, answers)
            }
            Operation::Start { request } => {
                let start = Start {
                    request,
                    driven: Driven::InBackground,
                    agent_answers: by_command,
                    intent: Intent::Act,
                    notes: Vec::new(),
                };
                self.let_run(self.prepare(&start, answers)?)
            }
            Operation::Rerun { task, changes } => {
                self.let_run(self.prepare_again(task, changes, by_command, Intent::Act, answers)?)
            }
            Operation::Resume { task, iter, prompt, proof } => {
                let (repo, dir) = self.task(Some(task))?;
                let how = Resume {
                    more: *iter,
                    follow_up: prompt.clone().filter(|words| !words.trim().is_empty()),
                    proof: *proof,
                    background: true,
                    agent_answers: by_command,
                    ..Resume::default()
                };
                let resumed = self.resume(&repo, &dir, &how, answers)?;
                Ok(self.resumed(resumed)?)
            }
            Operation::Tell { task, text, once } => {
                let lasting = if *once { Lasting::Once } else { Lasting::FromNowOn };
                let told = self.tell(&self.task(Some(task))?.1, text, lasting)?;
                Ok(OperationResult::Told { when: told.heard, once: told.once })
            }
            Operation::Untell { task } => {
                Ok(OperationResult::Heard { when: self.untell(&self.task(Some(task))?.1)? })
            }
            Operation::Set { task, changes } => {
                Ok(OperationResult::Heard { when: self.set(&self.task(Some(task))?.1, changes)? })
            }
            Operation::Pause { task, now } => {
                let when = if *now { PauseAt::Now } else { PauseAt::EndOfIteration };
                Ok(OperationResult::Pausing { how: self.pause(&self.task(Some(task))?.1, when)? })
            }
            Operation::Kill { task } => {
                let mut killed = self.kill(vec![self.task(Some(task))?.1]);
                let (_, killed) = killed.remove(0);
                let view = killed?.refuse_over()?;
                Ok(OperationResult::Killed { stop_reason: view.result.map(|result| result.stop_reason) })
            }
            Operation::Approve { task, choice } => {
                let given = self.approve(task, *choice, goes_on, answers)?;
                Ok(self.given(given)?)
            }
            Operation::Reject { task, reason } => {
                let given = self.reject(task, reason.clone(), goes_on, answers)?;
                Ok(self.given(given)?)
            }
            Operation::Merge { request } => {
                let mut record =
                    MergeRecord { app: self, heed, now: String::new(), tasks: Vec::new(), ends: None };
                let Merged { halted, .. } = self.merge(request, answers, &mut record)?;
                let MergeRecord { tasks, ends, .. } = record;
                let (from, to) = ends.ok_or_else(|| Failure::failed(say(|m| m.merge_came_to_no_end())))?;
                Ok(OperationResult::Merged { from, to, tasks, halted })
            }
            Operation::OpenPullRequest { task, title, base, draft, allow_secret } => {
                let wishes = Wishes {
                    title: title.clone(),
                    base: base.clone(),
                    draft: *draft,
                    allow_secret: *allow_secret,
                };
                self.open_pull_request(task, &wishes, answers)
            }
            Operation::Rename { task, name } => {
                let record = self.rename(task, name)?.record;
                Ok(OperationResult::Renamed {
                    from: record.from.name.to_string(),
                    name: record.to.name.to_string(),
                })
            }
            Operation::Drop { tasks } => {
                let drops = self.drop_tasks(tasks)?;
                Ok(OperationResult::Dropped {
                    tasks: drops.done.into_iter().map(|dropped| dropped.kept.name).collect(),
                    problem: drops.failure.map(|failure| failure.message.to_string()),
                })
            }
            Operation::Undo { task } => {
                let Undone { kept, way_back } = self.undo(task.as_deref())?;
                let merged = match kept.why {
                    DropReason::Merged { into, .. } => {
                        Some(StaysMerged { branch: words::branch(&into).to_owned(), way_back })
                    }
                    DropReason::Dropped => None,
                };
                Ok(OperationResult::Undone { task: kept.name, merged })
            }
            Operation::Prune { older_than, all_dropped } => {
                let put_away = if *all_dropped { PutAway::All } else { PutAway::MergedOrOld };
                let pruned =
                    self.prune(Rules { older_than: older_than.map(Timespan::duration), put_away })?;
                Ok(pruned.into())
            }
            Operation::SetConfig { key, value, file } => {
                Ok(OperationResult::ConfigSet { change: self.set_config(*file, key, value)? })
            }
            Operation::UnsetConfig { key, file } => {
                Ok(OperationResult::ConfigUnset { change: self.unset_config(*file, key)? })
            }
            Operation::Trust { hash } => {
                self.trust(hash)?;
                Ok(OperationResult::Trusted)
            }
            Operation::RevokeTrust { hash } => {
                Ok(OperationResult::TrustRevoked { hashes: self.revoke_trust(hash.as_deref())? })
            }
            Operation::Init { import } => {
                Ok(OperationResult::Initialized { files: self.init(import.as_deref())? })
            }
            Operation::Open { task } => {
                let plan = self.open_files(&self.files_of(Some(task))?, answers)?;
                Ok(OperationResult::ToRun { plan })
            }
            Operation::Takeover { task, no_resume } => {
                let afterwards = if *no_resume { Afterwards::Leave } else { Afterwards::AsBefore };
                Ok(OperationResult::ToRun { plan: self.takeover_plan(task, afterwards)? })
            }
            Operation::Own { kind, step } => {
                let own =
                    kind::of(kind).ok_or_else(|| Failure::usage(say(|m| m.act_no_own_operations(kind))))?;
                match own.act(self, step, answers)? {
                    OwnDone::Started(started) => Ok(OperationResult::started(*started)),
                    OwnDone::Resumed(resumed) => Ok(self.resumed(resumed)?),
                    OwnDone::Ended { task } => Ok(OperationResult::Ended { task }),
                }
            }
        }
    }

    fn open_pull_request(
        &self,
        task: &str,
        wishes: &Wishes,
        answers: &Answers,
    ) -> Result<OperationResult, NotYet> {
        let offer = self.offer(Some(task), wishes, Intent::Act, answers)?;
        let (url, message) = match offer.made {
            Some(Made::Open { url, .. }) => (Some(url), None),
            Some(Made::PushedOnly { message, .. }) => (None, Some(message)),
            None => (None, None),
        };
        Ok(OperationResult::PullRequest { branch: offer.plan.branch, url, message })
    }

    fn let_run(&self, prepared: Prepared) -> Result<OperationResult, NotYet> {
        let started = prepared.claim(self)?.in_background(self)?;
        if let Some(failure) = started.failed_to_begin(self) {
            return Err(failure.into());
        }
        Ok(OperationResult::started(started))
    }

    fn given(&self, given: AnswerOutcome) -> Result<OperationResult, Failure> {
        match given {
            AnswerOutcome::Heard => Ok(OperationResult::Answered),
            AnswerOutcome::Settled { finding } => Ok(OperationResult::FindingSettled { finding }),
            AnswerOutcome::Resumed(resumed) => self.resumed(resumed),
        }
    }

    fn resumed(&self, resumed: Resumed) -> Result<OperationResult, Failure> {
        match resumed {
            Resumed::InBackground { begun, dir } => Ok(OperationResult::Resumed { task: dir.name(), begun }),
            Resumed::Here(run) => self.take_answer_in(*run),
        }
    }

    /// What is over at once needs no process of its own: a verdict that ends a review.
    fn take_answer_in(&self, run: Run) -> Result<OperationResult, Failure> {
        let mut log = Tracing::taking_up(&run.spec, &run.dir, self.kinds);
        let ended = run.drive(self, &mut log, |_| Ok(()))?;
        ended.settle(self, Watched::Elsewhere, &mut |news| tracing::info!("{news:?}"));
        Ok(OperationResult::Answered)
    }
}

impl From<Pruned> for OperationResult {
    fn from(Pruned { removed, bytes, problems, .. }: Pruned) -> Self {
        let removed = removed.iter().map(|(item, _)| item.what.name().to_owned()).collect();
        OperationResult::Pruned { removed, bytes, problems }
    }
}

/// Keeps what became of each task of a merge, and tells how far it has come.
struct MergeRecord<'a> {
    app: &'a App,
    heed: &'a dyn Fn(&Halt) -> Result<(), Failure>,
    /// The task at work.
    now: String,
    tasks: Vec<MergedTask>,
    /// Where the branch was, and is.
    ends: Option<(Oid, Option<Oid>)>,
}

impl MergeRecord<'_> {
    fn tell(&self, now: MergeStep) {
        self.app.note(&Note::Merging { task: self.now.clone(), now });
    }
}

impl MergeObserver for MergeRecord<'_> {
    fn step(&mut self, step: &Step<'_>) {
        if let Step::Begin(task) = step {
            (*task).clone_into(&mut self.now);
        }
        self.tell(match step {
            Step::Begin(_) => MergeStep::Begun,
            Step::Resolving { agent, conflicts, .. } => MergeStep::Resolving {
                agent: (*agent).to_owned(),
                conflicts: conflicts.iter().map(|path| display_path(path)).collect(),
            },
            Step::Agent(event) => MergeStep::Agent { event: (*event).clone() },
            Step::Check(command) => MergeStep::Check { command: (*command).to_owned() },
            Step::Checked(result) => {
                MergeStep::Checked { command: result.command.clone(), passed: result.passed() }
            }
            Step::Again => MergeStep::Again,
        });
    }
}

impl ObserveMerge for MergeRecord<'_> {
    fn begins(&mut self, halt: &Halt) -> Result<(), Failure> {
        (self.heed)(halt)
    }

    fn plan(&mut self, plan: &MergePlan) {
        let merged = plan.merged.iter();
        self.tasks.extend(
            merged.map(|(task, _)| MergedTask { task: task.clone(), result: MergeResult::AlreadyThere }),
        );
    }

    fn outcome(&mut self, _: &str, name: &str, outcome: &Outcome) {
        let result = match outcome {
            Outcome::Merged(done) => MergeResult::Merged { commit_id: done.commit.clone() },
            Outcome::AlreadyThere(_) => MergeResult::AlreadyThere,
            Outcome::Empty => MergeResult::Empty,
            Outcome::LeftOut(why) => MergeResult::LeftOut { reason: left_out::why(why) },
            Outcome::Halted => MergeResult::Halted,
        };
        self.tell(MergeStep::Ended { result: result.clone() });
        self.tasks.push(MergedTask { task: name.to_owned(), result });
    }

    fn finished(&mut self, from: &Oid, now: Option<&Oid>) {
        self.ends = Some((from.clone(), now.cloned()));
    }
}
