//! How what happened changes the state of a milestone. Nothing else does.

use super::judge::MOST_ALIKE;
use super::{Judgement, Last, Milestone, Phase, Question, Role, Round, Work};
use crate::engine::machine::WorkFacts;
use crate::engine::stop::Verdict;
use crate::event::{
    CheckResult, Envelope, Event, IterationRecord, Outcome, SetupResult, StopDetail, StopReason, Usage,
};
use crate::git::Oid;
use crate::task::lifecycle::PAUSED;
use crate::task::milestone::{Judge, MilestoneStep};

impl Milestone {
    pub(super) fn take_in(&mut self, line: &Envelope) {
        self.life.at(line);
        match &line.event {
            Event::TaskCreated { .. }
            | Event::TaskStarted { .. }
            | Event::Notice(_)
            | Event::RecordAltered { .. }
            | Event::PortsLeased { .. }
            | Event::RoomTested(_)
            | Event::FilesIncluded { .. }
            | Event::UntrackedFound(_)
            | Event::UntrackedTouched(_)
            | Event::Queued
            | Event::Asked { .. }
            | Event::Answered
            | Event::Dequeued
            | Event::Paused { .. }
            | Event::MergeIntent { .. }
            | Event::Merged { .. }
            | Event::MergeUndone { .. }
            // Its name is the ID of its file, and stays.
            | Event::Renamed { .. }
            | Event::TakenOver { .. }
            | Event::PullRequest { .. }
            | Event::Notified { .. }
            // The Developer commits, the engine does not; and nobody takes over for another.
            | Event::Written(_)
            | Event::CommitIntent(_)
            | Event::NoCommit(_)
            | Event::Committed { .. }
            | Event::AgentChanged { .. } => {}
            Event::Resumed { more_iterations, follow_up, proof, .. } => {
                self.resumed(*more_iterations, follow_up.as_deref(), proof.as_ref());
            }
            Event::WorkspaceReady { branch, base_commit, .. } => {
                self.life.workspace_ready(branch.as_deref(), base_commit.as_ref());
                if self.life.spec.base_branch.is_some() {
                    self.main.clone_from(base_commit);
                }
                self.before_the_first();
            }
            Event::WorkspaceFailed { problems } => {
                // What was said cannot be held against anything; it is asked for again.
                if matches!(self.phase, Phase::Reported { .. } | Phase::Cleaned) {
                    self.phase = Phase::Asking(Role::Developer);
                } else if matches!(self.phase, Phase::Judged { .. }) {
                    self.phase = Phase::Asking(Role::Acceptor);
                }
                self.end(Outcome::Failed, StopReason::SetupFailed, StopDetail::workspace(problems));
            }
            Event::SetupFinished(result) => self.setup_finished(result),
            Event::CheckFinished(result) if !result.phase.is_of_proof() => self.check_finished(result),
            Event::CheckFinished(_)
            | Event::ProofStarted { .. }
            | Event::ProofUnavailable { .. }
            | Event::ProofFailed { .. } => self.proof_event(&line.event),
            Event::IterationStarted { iteration, start_commit } => {
                self.rounds = iteration + 1;
                self.unjudged = None;
                self.life.proof.state = None;
                let cleanup = std::mem::take(&mut self.cleanup_due);
                self.round = Some(Round { cleanup, ..Round::new(*iteration, start_commit.clone(), line) });
                self.phase = Phase::Asking(Role::Developer);
            }
            Event::TurnStarted { turn, session, continued, .. } => {
                self.turn_started(*turn, session.as_deref(), *continued);
            }
            Event::TurnFinished(record) => self.turn_finished(record),
            Event::Own(step) => MilestoneStep::read(step).iter().for_each(|step| self.step(step)),
            Event::IterationFinished(record) => self.round_finished(record),
            Event::LimitKnown(known) => self.limit_known(known),
            Event::Waiting { until, cause } => self.waiting(*until, cause.reason(), line),
            Event::WaitOver => self.wait_over(line),
            Event::StopRequested { reason, detail } => self.stop_requested(detail.clone(), *reason),
            Event::CommandReceived(received) => self.command_received(received),
            Event::TaskFinished(result) => self.life.result = Some(result.clone()),
        }
    }

    /// What makes the worktree usable comes before the first round.
    pub(super) fn before_the_first(&mut self) {
        self.phase = if self.life.is_prepared() { Phase::Between } else { Phase::Preparing };
        self.settle_between();
    }

    fn setup_finished(&mut self, result: &SetupResult) {
        match self.life.setup_finished(result) {
            Ok(()) => self.before_the_first(),
            Err(detail) => self.end(Outcome::Failed, StopReason::SetupFailed, detail),
        }
    }

    fn check_finished(&mut self, result: &CheckResult) {
        let index = result.index as usize;
        if let Some(slot) = self.life.last_checks.get_mut(index) {
            *slot = Some(result.clone());
        }
        if let Some(round) = self.round.as_mut() {
            round.checks.push(result.clone());
        }
        let next = index + 1;
        if next < self.life.policy.checks.len() {
            self.phase = Phase::Checking { index: next };
            return;
        }
        self.phase = Phase::Asking(Role::Acceptor);
        if Work::is_final(self.round.as_ref().and_then(|round| round.work.as_ref())) {
            self.begin_proof();
        }
    }

    fn step(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::ReportTaken {
                feature,
                feature_at,
                commit,
                changes,
                changed_files,
                changed_total,
                log,
                tip,
                diff,
                tests,
                main,
                ..
            } => {
                // The first journals do not say it.
                let at = feature_at.or_else(|| self.definition.feature(feature));
                let (text, commit, changes) = (feature.clone(), commit.clone(), changes.clone());
                self.log_is(log);
                self.seen(main.as_ref());
                self.taken(Work::Feature { text, at, commit, changes }, changed_files, *changed_total);
                if let Some(round) = self.round.as_mut() {
                    round.tip.clone_from(tip);
                    round.diff.clone_from(diff);
                    round.tests.clone_from(tests);
                }
            }
            MilestoneStep::CompletionTaken {
                commit,
                summary,
                changed_files,
                changed_total,
                log,
                tests,
                main,
                ..
            } => {
                let (tip, summary) = (commit.clone(), summary.clone());
                self.log_is(log);
                self.seen(main.as_ref());
                self.taken(Work::Everything { commit: tip.clone(), summary }, changed_files, *changed_total);
                if let Some(round) = self.round.as_mut() {
                    (round.tip, round.diff) = (Some(tip), None);
                    round.tests.clone_from(tests);
                }
            }
            MilestoneStep::ReportSentBack { complaints, .. } => {
                let before = std::mem::replace(&mut self.phase, Phase::Asking(Role::Developer));
                if let Some(round) = self.round.as_mut() {
                    match before {
                        Phase::Cleaned => round.cleanups_failed += 1,
                        _ => round.reports_sent_back += 1,
                    }
                    round.complaints.clone_from(complaints);
                }
            }
            MilestoneStep::VerdictSentBack { complaint, .. } => {
                let reply = match std::mem::replace(&mut self.phase, Phase::Asking(Role::Acceptor)) {
                    Phase::Judged { reply } => Some(reply),
                    _ => None,
                };
                if let Some(round) = self.round.as_mut() {
                    round.given = reply;
                    round.verdicts_sent_back += 1;
                    round.complaints = vec![complaint.clone()];
                }
            }
            MilestoneStep::Accepted { reason, still_open, .. } => {
                self.findings.accepted(still_open);
                let (by, reason) = (Judge::Acceptor, reason.clone());
                self.judged(Judgement { accepted: true, by, reason, needs_person: false });
            }
            MilestoneStep::Rejected { by, reason, findings, needs_person, .. } => {
                if *by == Judge::Acceptor {
                    let work = self.round.as_ref().and_then(|round| round.work.as_ref());
                    self.findings.rejected(findings, Work::about(work));
                }
                let (reason, needs_person) = (reason.clone(), *needs_person);
                self.judged(Judgement { accepted: false, by: *by, reason, needs_person });
            }
            MilestoneStep::MainMoved { .. } => self.main_has_moved(step),
            MilestoneStep::TreeLookedAt { .. } | MilestoneStep::TreeTouched { .. } => self.tree_step(step),
            MilestoneStep::Refrozen { definition, frozen, changes } => {
                self.refrozen(definition, frozen, changes);
            }
            MilestoneStep::TreeKept { .. } => self.kept = true,
        }
    }

    /// Where the main branch is, and that this is nobody's fault.
    fn seen(&mut self, main: Option<&Oid>) {
        if main.is_some() {
            self.main = main.cloned();
        }
    }

    pub(super) fn log_is(&mut self, log: &[String]) {
        self.log = log[..log.len().min(WorkFacts::MOST_LOG)].to_vec();
    }

    fn taken(&mut self, work: Work, changed_files: &[String], changed_total: u32) {
        let Some(round) = self.round.as_mut() else { return };
        round.work = Some(work);
        round.changed_files = changed_files.to_vec();
        round.changed_total = changed_total;
        self.check_anew();
    }

    /// The checks run on what is there now, and then the Acceptor judges it.
    pub(super) fn check_anew(&mut self) {
        if let Some(round) = self.round.as_mut() {
            round.checks.clear();
        }
        (self.life.proof.at_work, self.life.proof.state) = (None, None);
        self.phase = if self.life.policy.checks.is_empty() {
            Phase::Asking(Role::Acceptor)
        } else {
            Phase::Checking { index: 0 }
        };
    }

    fn judged(&mut self, judgement: Judgement) {
        if let Some(round) = self.round.as_mut() {
            round.judgement = Some(judgement);
            self.phase = Phase::Settling;
        }
    }

    fn round_finished(&mut self, record: &IterationRecord) {
        let Some(round) = self.round.take() else { return };
        self.finished = record.iteration + 1;
        self.phase = Phase::Between;
        let Round { number, start, work, judgement, .. } = round;
        let Some(Judgement { accepted, by, reason, needs_person }) = judgement else { return };
        let is_final = Work::is_final(work.as_ref());
        if let Some(Work::Everything { commit, .. }) =
            work.as_ref().filter(|_| !accepted && by == Judge::Acceptor)
        {
            // Only rejections of the very same commit add up: a new commit is an attempt to mend it.
            let times =
                self.final_rejections.take().filter(|(at, _)| at == commit).map_or(0, |(_, times)| times);
            self.final_rejections = Some((commit.clone(), times.saturating_add(1)));
        }
        let left_at = self.unjudged.take();
        if !accepted {
            // Nobody has accepted what the round brought: it is judged with the next one.
            self.unjudged = start.or_else(|| left_at.clone());
        }
        self.last = Some(Last { number, work, accepted: false, by, reason, needs_person, left_at });
        if accepted {
            self.accept_last();
        } else if !is_final {
            // A rejected final acceptance has a count of its own (`final_rejections`) and does not use up this one.
            self.rejections = self.rejections.saturating_add(1);
        }
        if accepted && is_final {
            // What was asked for is there, though somebody may have wanted to stop at the same moment.
            if self.details.requires_human_review {
                self.pause(Question::Review);
            } else {
                self.complete();
            }
        }
        self.settle_between();
    }

    /// The newest round counts as accepted, by the Acceptor or by a person.
    pub(super) fn accept_last(&mut self) {
        let Some(last) = self.last.as_mut() else { return };
        last.accepted = true;
        last.needs_person = false;
        if let Some(Work::Feature { at: Some(at), .. }) = last.work
            && let Some(done) = self.done.get_mut(at)
        {
            *done = true;
        }
        self.accepted += 1;
        self.rejections = 0;
    }

    pub(super) fn complete(&mut self) {
        self.life.verdict = Some(Verdict { outcome: Outcome::Completed, reason: StopReason::Promise });
        self.begin_proof();
        // Nobody is asked any more, but it is said.
        self.life.detail = self.main_found.take().map(StopDetail::Main);
        self.question = None;
    }

    pub(super) fn pause(&mut self, question: Question) {
        self.life.verdict = Some(PAUSED);
        self.life.detail = None;
        self.question = Some(question);
    }

    /// Whether another round may begin; else the task ends or needs a person.
    pub(super) fn settle_between(&mut self) {
        // What was decided stands; this only looks for a reason where there is none yet.
        if self.phase != Phase::Between || self.life.verdict.is_some() {
            return;
        }
        let elapsed = self.life.time_in_allowance();
        if self.proof_needs_person() {
            self.pause(Question::Proof);
        } else if self.last.as_ref().is_some_and(|last| last.needs_person) {
            let alike = self.final_rejections.as_ref().is_some_and(|(_, times)| *times >= MOST_ALIKE);
            self.pause(if alike { Question::Final } else { Question::Settled });
        } else if self.rejections >= self.max_rejections {
            self.pause(Question::Rejections);
        } else if self.rounds >= self.max_rounds {
            self.pause(Question::Rounds);
        } else if self.life.policy.time.is_some_and(|time| elapsed >= time) {
            self.end(Outcome::TimeElapsed, StopReason::Time, StopDetail::TimeUsed);
        } else if self.life.over_budget(&Usage::default()) {
            self.end(Outcome::BudgetExhausted, StopReason::Budget, StopDetail::BudgetUsed);
        } else if let Some(by) = self.life.pausing.take() {
            self.pause(Question::GoOn { by: Some(by) });
        }
    }

    /// The task is to end; where it stands is kept, but for what somebody wanted before.
    pub(super) fn end(&mut self, outcome: Outcome, reason: StopReason, detail: StopDetail) {
        if self.life.verdict.is_none() {
            self.life.ends(outcome, reason, detail);
            self.question = None;
        }
    }

    pub(super) fn stop_requested(&mut self, by: StopDetail, reason: StopReason) {
        if self.life.result.is_some() {
            return;
        }
        self.proof_interrupted();
        if self.life.verdict.is_some() && !self.life.is_paused() {
            return;
        }
        if reason == StopReason::NeedsPerson {
            if self.life.verdict.is_none() {
                self.pause(Question::GoOn { by: by.into_said() });
            }
            return;
        }
        self.life.stop(by, reason);
        self.question = self.question.take().filter(|question| *question == Question::Review);
    }
}

impl Round {
    fn new(number: u32, start: Option<Oid>, line: &Envelope) -> Self {
        Self {
            number,
            start,
            started_at: line.at,
            attempts: 0,
            usage: Usage::default(),
            work: None,
            tip: None,
            diff: None,
            tests: None,
            changed_files: Vec::new(),
            changed_total: 0,
            reports_sent_back: 0,
            verdicts_sent_back: 0,
            given: None,
            complaints: Vec::new(),
            cleanup: false,
            cleanups_failed: 0,
            held: Vec::new(),
            disturbed: 0,
            checks: Vec::new(),
            judgement: None,
        }
    }
}
