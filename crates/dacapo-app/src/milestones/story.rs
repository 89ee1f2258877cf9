//! What both sides said in each round, for a person who has to decide between them (M10): read from the journal.

use dacapo_core::event::{Envelope, Event, TurnEnd, TurnRecord};
use dacapo_core::task::milestone::AtWork;
use dacapo_core::task::milestone::MilestoneStep;
use dacapo_core::task::milestone::{JudgedBy, RoundView};

use super::MilestoneTask;
use super::catalog::fold;
use crate::messages::{Messages, Text};
use crate::present::{faults, words};

/// All rounds, in order.
#[derive(Debug, Default)]
pub struct Story {
    /// What people said before the first one.
    pub before: Vec<Statement>,
    pub rounds: Vec<Round>,
}

/// What was said in one round.
#[derive(Debug)]
pub struct Round {
    /// What was reported, checked and judged, as all surfaces tell it.
    pub seen: RoundView,
    /// Who said what, in order.
    pub said: Vec<Statement>,
    /// How much had been said when the checks ran.
    pub checked_after: usize,
    /// How much had been said when it was judged.
    pub judged_after: usize,
    /// How long it took; none: it is not over.
    pub duration_ms: Option<u64>,
    /// What it cost, where that is known.
    pub cost_usd: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The agent that builds.
    Developer,
    /// The agent that judges.
    Acceptor,
    Engine,
    Person,
}

impl Speaker {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Speaker::Developer => "developer",
            Speaker::Acceptor => "acceptor",
            Speaker::Engine => "dacapo",
            Speaker::Person => "person",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub who: Speaker,
    /// The turn it was said in, for `dacapo logs --turn`.
    pub turn: Option<u32>,
    pub text: String,
}

impl Story {
    /// The story of a milestone's task.
    pub fn of(told: &MilestoneTask, messages: Messages) -> Result<Self, Text> {
        let mut teller = Teller { story: Self::default(), history: &told.milestone.history, messages };
        fold(&told.dir, |line| teller.take_in(&line))?;
        Ok(teller.story)
    }
}

struct Teller<'a> {
    story: Story,
    /// Every round. The journal may have grown since: what is not in here is not told.
    history: &'a [RoundView],
    messages: Messages,
}

impl Teller<'_> {
    fn take_in(&mut self, line: &Envelope) {
        match &line.event {
            Event::IterationStarted { .. } => {
                let seen = self.history.get(self.story.rounds.len()).cloned();
                self.story.rounds.extend(seen.map(Round::begun));
            }
            Event::TurnFinished(record) => self.turn(record),
            Event::CheckFinished(_) => {
                if let Some(round) = self.story.rounds.last_mut() {
                    round.checked_after = round.said.len();
                }
            }
            Event::ProofUnavailable { .. } | Event::ProofFailed { .. } => {
                let text = crate::present::proof::step(&line.event, self.messages);
                text.into_iter().for_each(|text| self.say(Speaker::Engine, None, text));
            }
            Event::Own(step) => MilestoneStep::read(step).iter().for_each(|step| self.step(step)),
            Event::IterationFinished(record) => {
                if let Some(round) = self.story.rounds.last_mut() {
                    round.duration_ms = Some(record.duration_ms);
                    round.cost_usd = record.usage.cost_usd;
                }
            }
            Event::CommandReceived(received) => {
                let text = words::command(received, self.messages);
                self.say(Speaker::Person, None, text);
            }
            Event::Resumed { follow_up: Some(text), .. } => {
                let text = text.clone();
                self.say(Speaker::Person, None, text);
            }
            Event::Paused { needs } => {
                let text = crate::present::needs::question(&needs.kind, self.messages);
                self.say(Speaker::Engine, None, text);
            }
            // What every task has is told by `status` and `logs`.
            Event::TaskCreated { .. }
            | Event::TaskStarted { .. }
            | Event::Resumed { follow_up: None, .. }
            | Event::WorkspaceReady { .. }
            | Event::PortsLeased { .. }
            | Event::RoomTested(_)
            | Event::FilesIncluded { .. }
            | Event::UntrackedFound(_)
            | Event::UntrackedTouched(_)
            | Event::SetupFinished(_)
            | Event::WorkspaceFailed { .. }
            | Event::ProofStarted { .. }
            | Event::TurnStarted { .. }
            | Event::Written(_)
            | Event::CommitIntent(_)
            | Event::NoCommit(_)
            | Event::Committed { .. }
            | Event::LimitKnown(_)
            | Event::Waiting { .. }
            | Event::WaitOver
            | Event::AgentChanged { .. }
            | Event::Asked { .. }
            | Event::Answered
            | Event::Notice(_)
            | Event::RecordAltered { .. }
            | Event::StopRequested { .. }
            | Event::Queued
            | Event::Dequeued
            | Event::TaskFinished(_)
            | Event::MergeIntent { .. }
            | Event::Merged { .. }
            | Event::MergeUndone { .. }
            | Event::Renamed { .. }
            | Event::TakenOver { .. }
            | Event::PullRequest { .. }
            | Event::Notified { .. } => {}
        }
    }

    fn turn(&mut self, record: &TurnRecord) {
        let rounds = self.story.rounds.last().into_iter();
        let mut turns = rounds.flat_map(|round| &round.seen.turns);
        let who = match turns.find(|(turn, _)| *turn == record.turn) {
            Some((_, AtWork::Developer)) => Speaker::Developer,
            Some((_, AtWork::Acceptor)) => Speaker::Acceptor,
            Some((_, AtWork::Checks)) | None => return,
        };
        let text = match &record.end {
            TurnEnd::Done => record.reply.clone().unwrap_or_else(|| record.summary.clone()),
            TurnEnd::Failed { fault, .. } => {
                self.messages.story_no_reply(&faults::told(fault, self.messages))
            }
            TurnEnd::Limit { message, .. } => self.messages.story_limit(message),
            TurnEnd::Cancelled => self.messages.story_no_reply(&self.messages.story_ended()),
            TurnEnd::Budget => self.messages.story_no_reply(&self.messages.detail_budget_used()),
            TurnEnd::Interrupted => self.messages.story_no_reply(&self.messages.story_interrupted()),
        };
        self.say(who, Some(record.turn), text);
    }

    fn say(&mut self, who: Speaker, turn: Option<u32>, text: String) {
        let said = Statement { who, turn, text };
        match self.story.rounds.last_mut() {
            Some(round) => round.said.push(said),
            None => self.story.before.push(said),
        }
    }

    fn step(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::ReportSentBack { complaints, .. } => {
                let text = self.messages.story_report_sent_back(&complaints.join("; "));
                self.say(Speaker::Engine, None, text);
            }
            MilestoneStep::VerdictSentBack { complaint, .. } => {
                let text = self.messages.story_verdict_sent_back(complaint);
                self.say(Speaker::Engine, None, text);
            }
            MilestoneStep::Accepted { .. } | MilestoneStep::Rejected { .. } => {
                if let Some(round) = self.story.rounds.last_mut() {
                    round.judged_after = round.said.len();
                }
            }
            MilestoneStep::Refrozen { changes, .. } => {
                let what = if changes.is_empty() {
                    self.messages.story_nothing_judged()
                } else {
                    changes.join("; ")
                };
                let text = self.messages.story_refrozen(&what);
                self.say(Speaker::Engine, None, text);
            }
            MilestoneStep::TreeTouched { .. } => {
                let text = self.messages.story_tree_touched();
                self.say(Speaker::Engine, None, text);
            }
            MilestoneStep::MainMoved { .. } => {
                self.say(Speaker::Engine, None, crate::present::milestone::main_moved(step, self.messages));
            }
            // What was reported is told with the round; the rest is of no interest to who has to decide between the two.
            MilestoneStep::ReportTaken { .. }
            | MilestoneStep::CompletionTaken { .. }
            | MilestoneStep::TreeLookedAt { .. }
            | MilestoneStep::TreeKept { .. } => {}
        }
    }
}

impl Round {
    fn begun(seen: RoundView) -> Self {
        Self { seen, said: Vec::new(), checked_after: 0, judged_after: 0, duration_ms: None, cost_usd: None }
    }

    /// How much had been said when the verdict that counts was given: a person's is on what is said before it.
    pub fn decided_after(&self) -> usize {
        match &self.seen.verdict {
            Some(verdict) if verdict.by == JudgedBy::Person => self.said.len(),
            Some(_) | None => self.judged_after,
        }
    }
}
