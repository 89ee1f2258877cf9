//! A milestone in words, as all surfaces say them: where it stands, its features, its findings, its rounds.

use dacapo_core::event::{Choice, Envelope, IterationRecord, Needs, TaskResult};
use dacapo_core::overview::Brief;
use dacapo_core::spec::LoopPolicy;
use dacapo_core::task::milestone::{
    AtWork, FindingView, JudgedBy, MilestoneBrief, MilestoneInFull, MilestonePhase, MilestoneStatus,
    MilestoneStep, MilestoneView, Reason, ReportView, VerdictView,
};
use dacapo_core::view::{Status, TaskView};
use schemars::JsonSchema;

use super::act::{ActArgument, ActCommand, NextAct};
use super::kind_words::{EventLines, KindWords, Unit};
use super::next::Next;
use super::page::Page;
use super::prose::plain;
use super::words::{self, BAD, BOLD, paint};
use crate::messages::Messages;

mod ended;
pub mod flaws;
pub mod json;
mod live;
mod offered;
mod page;
mod status;

/// What such tasks are called in records.
pub const KIND: &str = dacapo_core::task::milestone::Milestones::NAME;

/// How milestones are told.
#[derive(Debug)]
pub struct Milestones;

pub use dacapo_core::task::milestone::{
    MilestoneFile as OwnFile, MilestoneStep as OwnStep, StateFile as OwnState,
};
pub use json::MilestoneObject as OwnObject;

/// What programs are told of a task beside what all kinds have.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "describes what the kind itself writes")]
pub struct OwnJson {
    /// Only in a milestone: its rounds, features and findings.
    #[schemars(skip_serializing_if = "Option::is_none")]
    milestone: Option<MilestoneInFull<'static>>,
}

impl KindWords for Milestones {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn name(&self, messages: Messages) -> String {
        messages.kind_milestone()
    }

    fn unit(&self) -> Unit {
        Unit::Round
    }

    fn settings(&self, messages: Messages) -> Option<String> {
        Some(messages.settings_milestone())
    }

    fn about_setting(&self, setting: &str, messages: Messages) -> Option<String> {
        Some(match setting {
            "max_iterations_per_milestone" => messages.about_milestone_rounds(),
            "call_timeout" => messages.about_milestone_call_timeout(),
            "max_consecutive_rejections" => messages.about_milestone_rejections(),
            _ => return None,
        })
    }

    fn another_name(&self, messages: Messages) -> String {
        messages.milestone_another_name()
    }

    fn headline(&self, view: &TaskView, messages: Messages) -> Option<String> {
        let milestone = MilestoneView::of(view.own())?;
        match view.status {
            Status::Paused if milestone.status == MilestoneStatus::AwaitingReview => {
                Some(messages.milestone_awaits_review())
            }
            Status::Cancelled if milestone.status == MilestoneStatus::Abandoned => {
                Some(messages.ended_abandoned())
            }
            Status::Completed if !view.verified => Some(messages.milestone_accepted_unverified()),
            _ => None,
        }
    }

    fn unfinished(&self, view: &TaskView, messages: Messages) -> Option<String> {
        let milestone = MilestoneView::of(view.own())?;
        let (done, all) = (milestone.features_done(), milestone.features.len());
        let status = status(milestone.status, messages);
        Some(messages.milestone_unfinished(&status, done, &messages.features(all as u64)))
    }

    fn progress(&self, brief: &Brief, messages: Messages) -> Option<String> {
        let of = MilestoneBrief::of(&brief.kind, brief.own.as_ref())?;
        Some(rounds(of.rounds, of.max_rounds, messages))
    }

    fn under_way(&self, task: &Brief, messages: Messages) -> Option<String> {
        let of = MilestoneBrief::of(&task.kind, task.own.as_ref())?;
        // What it waits for is said next.
        let waits = task.status == Status::Waiting;
        let of = if waits { MilestoneBrief { phase: None, at_work: None, ..of } } else { of };
        Some(brief(&of, messages))
    }

    fn came_to(&self, view: &TaskView, result: &TaskResult, messages: Messages) -> Option<Vec<String>> {
        of(view).map(|milestone| ended::came_to(milestone, result, messages))
    }

    fn ended(&self, view: &TaskView, result: &TaskResult, messages: Messages) -> Option<String> {
        ended::ended(of(view)?, result, messages)
    }

    fn caveat(&self, view: &TaskView, messages: Messages) -> Option<String> {
        let verdict = of(view)?.last_verdict.as_ref().filter(|verdict| verdict.not_itemised);
        verdict.map(|_| messages.milestone_accepted_without_lines())
    }

    fn asks(&self, view: &TaskView, messages: Messages) -> Option<Vec<String>> {
        view.needs.as_ref()?;
        of(view).map(|milestone| ended::open_findings(milestone, &view.name, messages))
    }

    fn answers(&self, view: &TaskView, messages: Messages) -> Vec<Next> {
        let (Some(milestone), Some(needs)) = (of(view), &view.needs) else { return Vec::new() };
        answers(&view.name, needs, milestone, messages)
    }

    fn next(&self, view: &TaskView, result: &TaskResult, messages: Messages) -> Option<Vec<Next>> {
        of(view).map(|milestone| ended::next(view, milestone, result, messages))
    }

    fn asked(&self, view: &TaskView, pid: &str, messages: Messages) -> Option<String> {
        let mut out = String::new();
        status::asked(&mut out, of(view)?, pid, messages);
        Some(out)
    }

    fn status_lines(&self, view: &TaskView, messages: Messages) -> String {
        let mut out = String::new();
        of(view).iter().for_each(|milestone| status::lines(&mut out, milestone, messages));
        out
    }

    fn round(&self, view: &TaskView, record: &IterationRecord, messages: Messages) -> Option<String> {
        let mut out = String::new();
        status::round(&mut out, view, of(view)?, record, messages);
        Some(out)
    }

    fn at(&self, view: &TaskView, messages: Messages) -> Option<(String, Vec<String>)> {
        let milestone = of(view)?;
        let more = [
            rejected(milestone.consecutive_rejections, messages),
            doing(milestone.phase, milestone.at_work, messages),
        ];
        let done = rounds(view.iteration, milestone.max_rounds, messages);
        Some((done, more.into_iter().flatten().collect()))
    }

    fn preamble(&self, view: &TaskView, messages: Messages) -> Option<Vec<String>> {
        of(view).map(|milestone| live::asked(milestone, &view.name, messages))
    }

    fn limits(
        &self,
        view: &TaskView,
        policy: &LoopPolicy,
        more: Option<u32>,
        messages: Messages,
    ) -> Option<Vec<String>> {
        of(view).map(|milestone| live::limits(milestone, policy, more, messages))
    }

    fn event(&self, view: &TaskView, line: &Envelope, messages: Messages) -> EventLines {
        of(view).map(|milestone| live::event(milestone, line, messages)).unwrap_or_default()
    }

    fn earlier(&self, view: &TaskView, record: &IterationRecord, messages: Messages) -> Option<Vec<String>> {
        of(view).map(|milestone| live::round(milestone, record, None, messages))
    }

    fn so_far(&self, view: &TaskView, messages: Messages) -> Vec<String> {
        of(view).map(|milestone| live::so_far(milestone, messages)).unwrap_or_default()
    }

    fn live(&self, view: &TaskView, messages: Messages) -> Option<Vec<String>> {
        of(view).map(|milestone| live::line(milestone, messages))
    }

    fn page(&self, view: &TaskView, messages: Messages) -> Option<Page> {
        of(view).map(|milestone| page::page(view, milestone, messages))
    }

    fn pull_request(&self, view: &TaskView) -> Option<String> {
        of(view).map(offered::text)
    }

    fn workers(&self, view: &TaskView) -> Option<String> {
        let milestone = of(view)?;
        Some(format!("Developer {}, Acceptor {}", plain(&milestone.developer), plain(&milestone.acceptor)))
    }
}

fn of(view: &TaskView) -> Option<&MilestoneView> {
    MilestoneView::of(view.own())
}

/// How a new one is written.
pub fn new_definition(messages: Messages) -> Next {
    Next::new(messages.command("milestone new ID \"TITLE\" --edit"), messages.next_new_milestone())
}

/// How many open findings are said where there is little room.
pub const MOST_FINDINGS: usize = 5;

/// `2 rejected in a row`; nothing where there is none.
pub fn rejected(in_a_row: u32, messages: Messages) -> Option<String> {
    (in_a_row > 0).then(|| messages.milestone_rejected_in_a_row(in_a_row))
}

/// How a milestone stands, in a word or two.
pub fn status(status: MilestoneStatus, messages: Messages) -> String {
    match status {
        MilestoneStatus::InProgress => messages.milestone_status_in_progress(),
        MilestoneStatus::Paused => messages.milestone_status_paused(),
        MilestoneStatus::AwaitingReview => messages.milestone_status_awaiting_review(),
        MilestoneStatus::Completed => messages.milestone_status_completed(),
        MilestoneStatus::Abandoned => messages.milestone_status_abandoned(),
    }
}

pub fn waits_for(phase: MilestonePhase, messages: Messages) -> String {
    match phase {
        MilestonePhase::Developer => messages.milestone_waits_for_developer(),
        MilestonePhase::Acceptor => messages.milestone_waits_for_acceptor(),
        MilestonePhase::FinalAcceptance => messages.milestone_final_acceptance(),
        MilestonePhase::Paused => messages.milestone_status_paused(),
    }
}

/// `Developer at work`: who has it in hand, else who is waited for.
pub fn doing(phase: Option<MilestonePhase>, at_work: Option<AtWork>, messages: Messages) -> Option<String> {
    match (at_work, phase) {
        (Some(AtWork::Developer), _) => Some(messages.milestone_developer_works()),
        (Some(AtWork::Checks), _) => Some(messages.milestone_checks_run()),
        (_, Some(MilestonePhase::FinalAcceptance)) => Some(messages.milestone_final_acceptance()),
        (Some(AtWork::Acceptor), _) => Some(messages.milestone_acceptor_works()),
        (None, Some(phase @ (MilestonePhase::Developer | MilestonePhase::Acceptor))) => {
            Some(waits_for(phase, messages))
        }
        (None, Some(MilestonePhase::Paused) | None) => None,
    }
}

/// `round 4/20, 2 rejected in a row, Developer at work`, for a list.
pub fn brief(brief: &MilestoneBrief, messages: Messages) -> String {
    let mut text = match brief.round {
        Some(round) => messages.milestone_round_short(round, brief.max_rounds),
        None => rounds(brief.rounds, brief.max_rounds, messages),
    };
    let said = rejected(brief.rejections, messages);
    for fact in said.into_iter().chain(doing(brief.phase, brief.at_work, messages)) {
        text = messages.list_facts(&text, &fact);
    }
    text
}

/// `3 of 20 rounds`.
pub fn rounds(rounds: u32, most: u32, messages: Messages) -> String {
    messages.milestone_rounds_of(rounds, &messages.rounds(u64::from(most)))
}

/// `Developer codex`: who has the turn.
pub fn at_work(milestone: &MilestoneView) -> Option<String> {
    match milestone.at_work? {
        AtWork::Developer => Some(format!("Developer {}", words::line(&milestone.developer, 30))),
        AtWork::Acceptor => Some(format!("Acceptor {}", words::line(&milestone.acceptor, 30))),
        AtWork::Checks => None,
    }
}

/// `F-2 rate limit`, or that all are complete. The author's words where it can be told which one is meant.
pub fn reported(milestone: &MilestoneView, report: &ReportView, messages: Messages) -> String {
    let Some(said) = &report.feature else { return messages.milestone_all_complete() };
    let known = milestone.features.iter().find(|feature| report.feature_id.as_ref() == Some(&feature.id));
    match known {
        Some(feature) => format!("{} {}", feature.id, words::line(&feature.text, 60)),
        None => words::line(said, 60),
    }
}

/// `✓ F-1` or `○ F-3`. Accepted is not proven, so it is not green.
pub fn tick(done: bool) -> String {
    if done { paint(BOLD, "✓") } else { "○".to_owned() }
}

/// `R3 open since round 5: no limiter in code`.
pub fn finding(finding: &FindingView, messages: Messages) -> String {
    let FindingView { id, text, since, .. } = finding;
    messages.milestone_finding_open(id, *since, &words::line(text, words::WHOLE))
}

/// `R1 R2`.
pub fn settled(milestone: &MilestoneView) -> Option<String> {
    let ids: Vec<&str> = milestone
        .findings
        .iter()
        .filter(|finding| !finding.open)
        .map(|finding| finding.id.as_str())
        .collect();
    let newest = ids.len().saturating_sub(20);
    let more = if newest > 0 { "… " } else { "" };
    (!ids.is_empty()).then(|| format!("{more}{}", ids[newest..].join(" ")))
}

/// `rejected by the Acceptor: no rate limit`.
pub fn verdict(verdict: &VerdictView, messages: Messages) -> String {
    let reason = match (verdict.accepted, verdict.by) {
        (true, JudgedBy::Acceptor | JudgedBy::Engine) => {
            words::line(&Reason::of(&verdict.reason).words, words::WHOLE)
        }
        (true, JudgedBy::Person) | (false, _) => why_rejected(&verdict.reason),
    };
    let by = match verdict.by {
        JudgedBy::Acceptor => messages.verdict_acceptor(),
        JudgedBy::Engine => messages.verdict_engine(),
        JudgedBy::Person => messages.verdict_person(),
    };
    let mut said = match (verdict.accepted, verdict.by) {
        // The reason is still the one of who rejected it.
        (true, JudgedBy::Person) if !reason.is_empty() => messages.verdict_accepted_against(&by),
        (true, _) => messages.verdict_accepted_by(&by),
        (false, _) => messages.verdict_rejected_by(&by),
    };
    if verdict.not_itemised {
        said = messages.list_facts(&said, &messages.milestone_not_itemised());
    }
    if reason.is_empty() { said } else { messages.list_about(&said, &reason) }
}

/// Why something was rejected, in a line: without what is said of each criterion, unless it is said by these alone.
pub fn why_rejected(reason: &str) -> String {
    words::line(&Reason::of_rejection(reason), words::WHOLE)
}

/// `C-1 not met · C-2, C-3 met`; none where nothing is said of them.
pub fn criteria(verdict: &VerdictView, messages: Messages) -> Option<String> {
    let said = Reason::of(&verdict.reason);
    let unmet: Vec<String> = said.unmet.into_iter().map(|(id, _)| id).collect();
    let unmet = (!unmet.is_empty()).then(|| messages.verdict_not_met(&unmet.join(", ")));
    let met = (!said.met.is_empty()).then(|| messages.verdict_met(&said.met.join(", ")));
    let parts: Vec<String> = unmet.into_iter().chain(met).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// How a round ended, in a sign: as that of an iteration, but the verdict says whether it is a success.
pub fn sign(accepted: bool, record: &IterationRecord) -> String {
    words::ended_sign(accepted, &record.checks)
}

/// How somebody judged. A verdict is a claim as any other: it is not green.
pub fn verdict_sign(accepted: bool) -> String {
    if accepted { paint(BOLD, "✓") } else { paint(BAD, "✗") }
}

/// What a round was about, without how it ended: the record says both. A feature by its id is named in full.
pub fn subject(milestone: &MilestoneView, record: &IterationRecord) -> String {
    let summary = record.summary.as_str();
    let about =
        summary.strip_prefix("accepted: ").or_else(|| summary.strip_prefix("rejected: ")).unwrap_or(summary);
    let first = about.split(|c: char| c.is_whitespace() || c == ':').next().unwrap_or_default();
    match milestone.features.iter().find(|feature| feature.id == first) {
        Some(feature) => format!("{first} {}", words::line(&feature.text, 60)),
        None => words::line(about, 60),
    }
}

/// What a person can answer; a finding that is open can be settled alone.
pub fn answers(name: &str, needs: &Needs, milestone: &MilestoneView, messages: Messages) -> Vec<Next> {
    let mut answers = Vec::new();
    for (choice, mut answer) in needs.choices.iter().zip(Next::answers(needs, name, messages)) {
        answer.command = words::line(&answer.command, words::WHOLE);
        if let Some(meaning) = meaning(choice, milestone.status, messages) {
            answer.meaning = meaning;
        }
        let one = milestone.open_findings().next().filter(|_| *choice == Choice::Approve);
        let settle = one.map(|finding| {
            let settle = NextAct::of(ActCommand::Approve, name);
            Next::of(
                settle.with(ActArgument::Finding(finding.id.to_string())),
                messages.next_settle(),
                messages,
            )
        });
        answers.push(answer);
        answers.extend(settle);
    }
    answers
}

/// What an answer does, where that is not what it does to a loop.
fn meaning(choice: &Choice, status: MilestoneStatus, messages: Messages) -> Option<String> {
    match choice {
        Choice::Tell => Some(messages.next_tell_both()),
        Choice::Approve if status == MilestoneStatus::AwaitingReview => Some(messages.next_complete()),
        Choice::Approve => Some(messages.next_accept_round()),
        Choice::Reject => Some(messages.next_reject_round()),
        Choice::Kill => Some(messages.next_kill_milestone()),
        Choice::Resume
        | Choice::ResumeUnproven
        | Choice::Answer
        | Choice::ResumeWithRounds { .. }
        | Choice::AddRounds { .. }
        | Choice::Abandon
        | Choice::Offered { .. } => None,
    }
}

/// What an Acceptor, who is to change nothing, did to the work.
pub fn touched(step: &MilestoneStep, messages: Messages) -> String {
    let MilestoneStep::TreeTouched { astray, judged, dirty, .. } = step else {
        return String::new();
    };
    let moved = judged.as_ref().map(|_| messages.touched_branch());
    let astray = astray.as_ref().map(|name| messages.touched_head(words::branch(name)));
    let dirty = (!dirty.is_empty()).then(|| messages.touched_files(&dirty.join(", ")));
    let did: Vec<String> = [moved, astray, dirty].into_iter().flatten().collect();
    words::line(&messages.touched_acceptor(&did.join(", ")), words::WHOLE)
}

/// What became of the main branch while a milestone was at work.
pub fn main_moved(step: &MilestoneStep, messages: Messages) -> String {
    let MilestoneStep::MainMoved { was, now, lost, commits } = step else { return String::new() };
    let was = was.as_ref().map_or_else(|| messages.needs_main_elsewhere(), |was| was.short().to_owned());
    let lost = match now {
        None => Some(messages.main_moved_gone(&was)),
        Some(now) if *lost => Some(messages.main_moved_lost(&was, now.short())),
        Some(_) => None,
    };
    let holds = (!commits.is_empty()).then(|| messages.main_moved_holds(&commits.join(", ")));
    let found = match (lost, holds) {
        (Some(lost), Some(holds)) => messages.main_moved_both(&lost, &holds),
        (lost, holds) => lost.or(holds).unwrap_or_default(),
    };
    words::line(&messages.main_moved(&found), words::WHOLE)
}

#[cfg(test)]
mod tests;
