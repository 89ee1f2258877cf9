//! What both sides said in each round, for a person who has to decide between them (M10): read from the journal.

use std::sync::Arc;

use dacapo_core::engine::machine::Machine as _;
use dacapo_core::event::{
    CheckBrief, Envelope, Event, Finding, Judge, MilestoneStep, Received, TurnEnd, TurnRecord,
};
use dacapo_core::git::Oid;
use dacapo_core::task::milestone::{AtWork, Milestone};

use super::Told;
use super::catalog::fold;

/// All rounds, in order.
#[derive(Debug, Default)]
pub struct Story {
    /// What people said before the first one.
    pub before: Vec<Said>,
    /// The rounds.
    pub rounds: Vec<Round>,
}

/// One round.
#[derive(Debug, Default)]
pub struct Round {
    /// Its number, from 1.
    pub number: u32,
    /// What it is about: a feature in the Developer's words. None: nothing was reported that fits.
    pub feature: Option<String>,
    /// Which feature that is, where it can be told.
    pub feature_at: Option<usize>,
    /// It is about the whole milestone.
    pub is_final: bool,
    /// The commit that was reported.
    pub commit: Option<Oid>,
    /// Who said what, in order.
    pub said: Vec<Said>,
    /// What the project's checks said of that commit.
    pub checks: Vec<CheckBrief>,
    /// So much had been said by then.
    pub checked_after: usize,
    /// How it was judged; none: it is not over.
    pub judged: Option<Judged>,
    /// So much had been said by then.
    pub judged_after: usize,
    /// How long it took; none: it is not over.
    pub duration_ms: Option<u64>,
    /// What it cost, where that is known.
    pub cost_usd: Option<f64>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The agent that builds.
    Developer,
    /// The agent that judges.
    Acceptor,
    /// Dacapo.
    Engine,
    /// A person.
    Person,
}

impl Who {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Who::Developer => "developer",
            Who::Acceptor => "acceptor",
            Who::Engine => "dacapo",
            Who::Person => "person",
        }
    }
}

/// What somebody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who.
    pub who: Who,
    /// The turn it was said in, for `dacapo logs --turn`.
    pub turn: Option<u32>,
    /// What.
    pub text: String,
}

/// How a round was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// It was accepted.
    pub accepted: bool,
    /// By whom.
    pub by: Who,
    /// Why.
    pub reason: String,
    /// What was open then.
    pub findings: Vec<Finding>,
}

impl Story {
    /// The story of a milestone's task. `command` puts what a person wanted into words.
    pub fn of(told: &Told, command: impl Fn(&Received) -> String) -> Result<Self, String> {
        // Who has a turn is for the machine to say: the two may be the same agent.
        let milestone = Milestone::new(Arc::clone(&told.spec)).map_err(|error| error.to_string())?;
        let mut teller = Teller { story: Self::default(), milestone, at_work: None, command };
        fold(&told.dir, |line| teller.take_in(&line))?;
        Ok(teller.story)
    }
}

struct Teller<F> {
    story: Story,
    milestone: Milestone,
    /// Whose turn it is.
    at_work: Option<Who>,
    command: F,
}

impl<F: Fn(&Received) -> String> Teller<F> {
    fn take_in(&mut self, line: &Envelope) {
        self.milestone.apply(line);
        match &line.event {
            Event::IterationStarted { iteration, .. } => {
                self.story.rounds.push(Round { number: iteration + 1, ..Round::default() });
            }
            Event::TurnStarted { .. } => {
                self.at_work = match self.milestone.standing().at_work {
                    Some(AtWork::Developer) => Some(Who::Developer),
                    Some(AtWork::Acceptor) => Some(Who::Acceptor),
                    Some(AtWork::Checks) | None => None,
                };
            }
            Event::TurnFinished(record) => self.turn(record),
            Event::CheckFinished(result) => {
                if let Some(round) = self.story.rounds.last_mut() {
                    round.checked_after = round.said.len();
                    round.checks.push(CheckBrief::from(result));
                }
            }
            Event::Milestone(step) => self.step(step),
            Event::IterationFinished(record) => {
                if let Some(round) = self.story.rounds.last_mut() {
                    round.duration_ms = Some(record.duration_ms);
                    round.cost_usd = record.usage.cost_usd;
                }
            }
            Event::CommandReceived(received) => {
                let text = (self.command)(received);
                self.say(Who::Person, None, text);
            }
            Event::Resumed { follow_up: Some(text), .. } => {
                let text = text.clone();
                self.say(Who::Person, None, text);
            }
            Event::Paused { needs } => {
                let text = needs.question.clone();
                self.say(Who::Engine, None, text);
            }
            // What every task has is told by `status` and `logs`.
            Event::TaskCreated { .. }
            | Event::TaskStarted { .. }
            | Event::Resumed { follow_up: None, .. }
            | Event::WorkspaceReady { .. }
            | Event::PortsLeased { .. }
            | Event::FilesIncluded { .. }
            | Event::SetupFinished(_)
            | Event::WorkspaceFailed { .. }
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
            | Event::Notice { .. }
            | Event::StopRequested { .. }
            | Event::Queued
            | Event::Dequeued
            | Event::TaskFinished(_)
            | Event::MergeIntent { .. }
            | Event::Merged { .. }
            | Event::PullRequest { .. }
            | Event::Notified { .. } => {}
        }
    }

    fn turn(&mut self, record: &TurnRecord) {
        let who = self.at_work.take().unwrap_or(Who::Engine);
        let text = match &record.end {
            TurnEnd::Done => record.reply.clone().unwrap_or_else(|| record.summary.clone()),
            TurnEnd::Failed { message, .. } => format!("(no reply: {message})"),
            TurnEnd::Limit { message, .. } => format!("(no reply, a usage limit: {message})"),
            TurnEnd::Cancelled => "(no reply: it was ended)".to_owned(),
            TurnEnd::Budget => "(no reply: the budget was used up)".to_owned(),
            TurnEnd::Interrupted => "(no reply: it was interrupted)".to_owned(),
        };
        self.say(who, Some(record.turn), text);
    }

    fn say(&mut self, who: Who, turn: Option<u32>, text: String) {
        let said = Said { who, turn, text };
        match self.story.rounds.last_mut() {
            Some(round) => round.said.push(said),
            None => self.story.before.push(said),
        }
    }

    fn step(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::ReportTaken { feature, commit, .. } => {
                let at = self.milestone.standing().feature_at;
                if let Some(round) = self.story.rounds.last_mut() {
                    round.feature = Some(feature.clone());
                    (round.feature_at, round.is_final) = (at, false);
                    round.commit = Some(commit.clone());
                    round.checks.clear();
                }
            }
            MilestoneStep::CompletionTaken { commit, .. } => {
                if let Some(round) = self.story.rounds.last_mut() {
                    (round.feature, round.feature_at, round.is_final) = (None, None, true);
                    round.commit = Some(commit.clone());
                    round.checks.clear();
                }
            }
            MilestoneStep::ReportSentBack { complaints, .. } => {
                self.say(Who::Engine, None, format!("report sent back: {}", complaints.join("; ")));
            }
            MilestoneStep::VerdictSentBack { complaint, .. } => {
                self.say(Who::Engine, None, format!("verdict sent back: {complaint}"));
            }
            MilestoneStep::Accepted { reason, .. } => self.judged(Judged {
                accepted: true,
                by: Who::Acceptor,
                reason: reason.clone(),
                findings: Vec::new(),
            }),
            MilestoneStep::Rejected { by, reason, findings, .. } => self.judged(Judged {
                accepted: false,
                by: match by {
                    Judge::Acceptor => Who::Acceptor,
                    Judge::Engine => Who::Engine,
                },
                reason: reason.clone(),
                findings: findings.clone(),
            }),
            MilestoneStep::Refrozen { changes, .. } => {
                let what = if changes.is_empty() {
                    "nothing it is judged by".to_owned()
                } else {
                    changes.join("; ")
                };
                self.say(Who::Engine, None, format!("its file was read anew; changed: {what}"));
            }
            MilestoneStep::TreeTouched { .. } => {
                self.say(Who::Engine, None, "the Acceptor changed the working tree".to_owned());
            }
            MilestoneStep::MainMoved { .. } => {
                self.say(Who::Engine, None, crate::output::words::main_moved(step))
            }
            // Of no interest to who has to decide between the two.
            MilestoneStep::TreeLookedAt { .. } | MilestoneStep::TreeKept { .. } => {}
        }
    }

    fn judged(&mut self, judged: Judged) {
        if let Some(round) = self.story.rounds.last_mut() {
            round.judged_after = round.said.len();
            round.judged = Some(judged);
        }
    }
}
