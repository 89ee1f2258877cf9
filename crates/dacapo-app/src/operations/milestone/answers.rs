//! What a person decides at a pause of a milestone (M10).

use dacapo_core::event::{Choice, Command, NeedKind, Needs};
use dacapo_core::git::Repo;
use dacapo_core::store::{LockError, TaskDir};
use dacapo_core::task::milestone::MilestoneView;
use dacapo_core::view::{Status, TaskView};

use super::begun;
use crate::App;
use crate::error::Failure;
use crate::messages::{command, say};
use crate::operations::kind::Order;
use crate::operations::resume::{GoesOn, Resume};
use crate::operations::send::{AnswerOutcome, write_down};
use crate::operations::tasks::{still_finishing, still_running};
use crate::present::errors;
use crate::present::needs::question;
use crate::present::words;
use crate::question::{Answers, NotYet};

/// What a person had answered when a death kept it from being taken in: it still counts, while nobody says otherwise.
/// In a turn an answer is for its agent's question, and that is asked anew.
pub(super) fn left(dir: &TaskDir, seen: &TaskView) -> Result<Vec<Order>, Failure> {
    if MilestoneView::of(seen.own()).is_none_or(|milestone| milestone.at_work.is_some()) {
        return Ok(Vec::new());
    }
    let letters = dir.inbox().look().map_err(|error| {
        Failure::failed(say(|m| m.inbox_failed(&dir.name(), &error.to_string())))
            .kept(say(|m| m.kept_nothing_started()))
    })?;
    let answers = letters.into_iter().filter_map(|letter| match letter.command {
        Command::Approve { .. } => Some(("dacapo approve", letter.command)),
        Command::Reject { .. } => Some(("dacapo reject", letter.command)),
        Command::Kill
        | Command::Abandon
        | Command::Pause { .. }
        | Command::Tell { .. }
        | Command::Untell
        | Command::Set { .. }
        | Command::Refreeze { .. }
        | Command::Remember { .. } => None,
    });
    Ok(answers.collect())
}

impl App {
    /// Yes to a review, or to what the Acceptor rejected; with a finding, to that one alone.
    pub fn approve_milestone(
        &self,
        id: &str,
        finding: Option<usize>,
        goes_on: GoesOn,
        answers: &Answers,
    ) -> Result<AnswerOutcome, NotYet> {
        let (repo, dir) = begun(self, id)?;
        paused_for(&self.view(&dir)?)?;
        approve(self, (&repo, &dir), finding, goes_on, answers)
    }

    /// No to a review.
    pub fn reject_milestone(
        &self,
        id: &str,
        reason: Option<String>,
        goes_on: GoesOn,
        answers: &Answers,
    ) -> Result<AnswerOutcome, NotYet> {
        let (repo, dir) = begun(self, id)?;
        paused_for(&self.view(&dir)?)?;
        reject(self, (&repo, &dir), reason, goes_on, answers)
    }

    /// Ends a milestone for good.
    pub fn abandon_milestone(&self, id: &str) -> Result<TaskView, Failure> {
        let (_, dir) = begun(self, id)?;
        let name = dir.name();
        if self.view(&dir)?.status == Status::Completed {
            return Err(Failure::usage(say(|m| m.milestones_completed(&name)))
                .kept(say(|m| m.kept_nothing_changed()))
                .hint(say(|m| m.milestones_drop_removes(&name))));
        }
        self.abandon(&dir)
    }
}

/// Yes to a review, or to what the Acceptor rejected: the milestone goes on with it. With a finding, to that one alone.
pub(super) fn approve(
    app: &App,
    (repo, dir): (&Repo, &TaskDir),
    finding: Option<usize>,
    goes_on: GoesOn,
    answers: &Answers,
) -> Result<AnswerOutcome, NotYet> {
    if let Some(number) = finding {
        settle(app, dir, number)?;
        return Ok(AnswerOutcome::Settled { finding: number });
    }
    let seen = app.view(dir)?;
    let needs = paused_for(&seen)?;
    if !needs.offers(&Choice::Approve) {
        return Err(nothing_to_approve(&seen).into());
    }
    let orders = vec![("dacapo approve", Command::Approve { choice: None })];
    let GoesOn { background, agent_answers } = goes_on;
    let at_once = is_review(&needs);
    let how = Resume { orders, at_once, background, agent_answers, ..Resume::default() };
    app.resume(repo, dir, &how, answers).map(AnswerOutcome::Resumed)
}

fn is_review(needs: &Needs) -> bool {
    matches!(needs.kind, NeedKind::Review { .. })
}

/// One finding after the other can be settled, so nothing goes on by that: it is written down, as `tell` and `set` are.
fn settle(app: &App, dir: &TaskDir, number: usize) -> Result<(), Failure> {
    let name = dir.name();
    let lock = dir.lock_briefly().map_err(|error| match error {
        LockError::Held => still_running(&name),
        LockError::Lingering => still_finishing(&name),
        LockError::Io { .. } | LockError::RenameUnfinished { .. } => Failure::failed(errors::text(&error)),
    })?;
    let seen = app.view(dir)?;
    let needs = paused_for(&seen)?;
    if is_review(&needs) {
        return Err(Failure::usage(say(|m| m.milestones_verdict_on_all(&name)))
            .kept(say(|m| m.kept_nothing_changed()))
            .hint(command(format_args!("milestone approve {name}"))));
    }
    MilestoneView::of(seen.own()).map_or(Ok(()), |milestone| is_open(milestone, number))?;
    write_down(dir, &lock, "dacapo approve", &[Command::Approve { choice: Some(number) }])
}

fn is_open(milestone: &MilestoneView, number: usize) -> Result<(), Failure> {
    let id = format!("R{number}");
    let open: Vec<&str> =
        milestone.findings.iter().filter(|finding| finding.open).map(|finding| finding.id.as_str()).collect();
    if open.contains(&id.as_str()) {
        return Ok(());
    }
    let failure =
        Failure::usage(say(|m| m.milestones_finding_not_open(&id))).kept(say(|m| m.kept_nothing_changed()));
    Err(match open.as_slice() {
        [] => failure.hint(say(|m| m.milestones_all_settled())),
        open => failure.hint(say(|m| m.milestones_open_findings(&open.join(", ")))),
    })
}

/// A round without a report that fits has nothing in it to accept, and one that was accepted needs no more.
fn nothing_to_approve(seen: &TaskView) -> Failure {
    let name = &seen.name;
    let rounds = MilestoneView::of(seen.own()).into_iter().flat_map(|milestone| &milestone.history);
    let newest = rounds.filter_map(|round| Some((round, round.verdict.as_ref()?))).next_back();
    let failure = match newest {
        Some((round, verdict)) if verdict.accepted => {
            Failure::usage(say(|m| m.milestones_round_accepted(round.round, name)))
        }
        Some((round, _)) if round.report.is_none() => {
            Failure::usage(say(|m| m.milestones_round_without_report(round.round, name)))
        }
        Some(_) | None => Failure::usage(say(|m| m.milestones_nothing_to_overrule(name))),
    };
    failure
        .kept(say(|m| m.kept_nothing_changed()))
        .hint(say(|m| m.milestones_resume_with_guidance(name)))
        .hint(say(|m| m.milestones_show(name)))
}

/// No to a review: the Developer hears why, and goes on.
pub(super) fn reject(
    app: &App,
    (repo, dir): (&Repo, &TaskDir),
    reason: Option<String>,
    goes_on: GoesOn,
    answers: &Answers,
) -> Result<AnswerOutcome, NotYet> {
    let needs = paused_for(&app.view(dir)?)?;
    if !needs.offers(&Choice::Reject) {
        let name = dir.name();
        let failure = Failure::usage(say(|m| m.milestones_not_for_verdict(&name, &question(&needs.kind, m))))
            .kept(say(|m| m.kept_nothing_changed()))
            .hint(say(|m| m.milestones_resume_with_guidance(&name)));
        return Err(match needs.offers(&Choice::Approve) {
            true => failure.hint(say(|m| m.milestones_overrule(&name))),
            false => failure,
        }
        .into());
    }
    let orders = vec![("dacapo reject", Command::Reject { reason })];
    let GoesOn { background, agent_answers } = goes_on;
    let how = Resume { orders, background, agent_answers, ..Resume::default() };
    app.resume(repo, dir, &how, answers).map(AnswerOutcome::Resumed)
}

fn paused_for(seen: &TaskView) -> Result<Needs, Failure> {
    match &seen.needs {
        Some(needs) if seen.status == Status::Paused => Ok(needs.clone()),
        _ => {
            let name = &seen.name;
            let failure =
                Failure::usage(say(|m| m.milestones_asks_nothing(name, &words::status(seen.status, m))))
                    .kept(say(|m| m.kept_nothing_changed()));
            // What it may have asked or been answered before is on record, and is not lost.
            let failure = match seen.status {
                Status::Interrupted => failure.hint(say(|m| m.milestones_resume(name))),
                _ => failure,
            };
            Err(failure.hint(say(|m| m.milestones_show(name))))
        }
    }
}
