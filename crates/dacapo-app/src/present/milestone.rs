//! A milestone in words, as all surfaces say them: where it stands, its features, its findings, its rounds.

use dacapo_core::event::{Choice, Envelope, IterationRecord, Needs, TaskResult};
use dacapo_core::git::Oid;
use dacapo_core::overview::Brief;
use dacapo_core::spec::LoopPolicy;
use dacapo_core::task::milestone::{
    AtWork, FindingView, JudgedBy, MilestoneBrief, MilestonePhase, MilestoneStatus, MilestoneStep,
    MilestoneView, Reason, ReportView, VerdictView,
};
use dacapo_core::view::{Status, TaskView};

use super::face::{Face, Told};
use super::needs;
use super::prose::plain;
use super::words::{self, BAD, BOLD, DIM, paint};

mod ended;
mod live;
mod offered;
mod status;

/// How milestones are told.
#[derive(Debug)]
pub struct Milestones;

impl Face for Milestones {
    fn kind(&self) -> &'static str {
        dacapo_core::task::milestone::Milestones::NAME
    }

    fn unit(&self) -> &'static str {
        "round"
    }

    fn another_name(&self) -> &'static str {
        "or give the milestone's file another name"
    }

    fn headline(&self, view: &TaskView) -> Option<&'static str> {
        let milestone = MilestoneView::of(view.own())?;
        match view.status {
            Status::Paused if milestone.status == MilestoneStatus::AwaitingReview => {
                Some("awaits your review")
            }
            Status::Cancelled if milestone.status == MilestoneStatus::Abandoned => Some("abandoned"),
            Status::Completed if !view.verified => Some("accepted, unverified"),
            _ => None,
        }
    }

    fn unfinished(&self, view: &TaskView) -> Option<String> {
        let milestone = MilestoneView::of(view.own())?;
        let (done, all) = (milestone.features_done(), milestone.features.len());
        let status = milestone.status.as_str().replace('_', " ");
        let features = words::count(all as u64, "feature");
        Some(format!("the milestone is {status}, {done} of {features} accepted"))
    }

    fn progress(&self, brief: &Brief, sign: &str) -> Option<String> {
        let of = MilestoneBrief::of(&brief.kind, brief.own.as_ref())?;
        Some(rounds(of.rounds, of.max_rounds, sign))
    }

    fn under_way(&self, task: &Brief) -> Option<String> {
        let of = MilestoneBrief::of(&task.kind, task.own.as_ref())?;
        // What it waits for is said next.
        let waits = task.status == Status::Waiting;
        Some(brief(&if waits { MilestoneBrief { phase: None, at_work: None, ..of } } else { of }))
    }

    fn came_to(&self, view: &TaskView, result: &TaskResult) -> Option<Vec<String>> {
        of(view).map(|milestone| ended::came_to(milestone, result))
    }

    fn ended(&self, view: &TaskView, result: &TaskResult) -> Option<String> {
        ended::ended(of(view)?, result)
    }

    fn caveat(&self, view: &TaskView) -> Option<String> {
        let verdict = of(view)?.last_verdict.as_ref().filter(|verdict| verdict.not_itemised);
        verdict.map(|_| format!("{NOT_ITEMISED}: the Acceptor accepted without a line for each"))
    }

    fn asks(&self, view: &TaskView) -> Option<Vec<String>> {
        view.needs.as_ref()?;
        of(view).map(|milestone| ended::open_findings(milestone, &view.name))
    }

    fn answers(&self, view: &TaskView) -> Vec<String> {
        let (Some(milestone), Some(needs)) = (of(view), &view.needs) else { return Vec::new() };
        explained(&answers(&view.name, needs, milestone))
    }

    fn next(&self, view: &TaskView, result: &TaskResult) -> Option<Vec<String>> {
        of(view).map(|milestone| ended::next(view, milestone, result))
    }

    fn asked(&self, view: &TaskView, pid: &str) -> Option<String> {
        let mut out = String::new();
        status::asked(&mut out, of(view)?, pid);
        Some(out)
    }

    fn standing(&self, view: &TaskView) -> String {
        let mut out = String::new();
        of(view).iter().for_each(|milestone| status::standing(&mut out, milestone));
        out
    }

    fn round(&self, view: &TaskView, record: &IterationRecord) -> Option<String> {
        let mut out = String::new();
        status::round(&mut out, view, of(view)?, record);
        Some(out)
    }

    fn at(&self, view: &TaskView) -> Option<(String, Vec<String>)> {
        let milestone = of(view)?;
        let more = [
            rejected(milestone.consecutive_rejections),
            doing(milestone.phase, milestone.at_work).map(str::to_owned),
        ];
        let done = rounds(view.iteration, milestone.max_rounds, " of ");
        Some((done, more.into_iter().flatten().collect()))
    }

    fn preamble(&self, view: &TaskView) -> Option<Vec<String>> {
        of(view).map(|milestone| live::asked(milestone, &view.name))
    }

    fn limits(&self, view: &TaskView, policy: &LoopPolicy, more: Option<u32>) -> Option<Vec<String>> {
        of(view).map(|milestone| live::limits(milestone, policy, more))
    }

    fn event(&self, view: &TaskView, line: &Envelope) -> Told {
        of(view).map(|milestone| live::event(milestone, line)).unwrap_or_default()
    }

    fn earlier(&self, view: &TaskView, record: &IterationRecord) -> Option<Vec<String>> {
        of(view).map(|milestone| live::round(milestone, record, None))
    }

    fn so_far(&self, view: &TaskView) -> Vec<String> {
        of(view).map(live::so_far).unwrap_or_default()
    }

    fn live(&self, view: &TaskView) -> Option<Vec<String>> {
        of(view).map(live::line)
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

/// Nobody can tell from the verdict which criterion was looked at.
pub const NOT_ITEMISED: &str = "criteria not itemised";

/// So many open findings are said where there is little room.
pub const MOST_FINDINGS: usize = 5;

/// `2 rejected in a row`; nothing where there is none.
pub fn rejected(in_a_row: u32) -> Option<String> {
    (in_a_row > 0).then(|| format!("{in_a_row} rejected in a row"))
}

/// `Developer at work`: who has it in hand, else who is waited for.
pub fn doing(phase: Option<MilestonePhase>, at_work: Option<AtWork>) -> Option<&'static str> {
    match (at_work, phase) {
        (Some(AtWork::Developer), _) => Some("Developer at work"),
        (Some(AtWork::Checks), _) => Some("checks at work"),
        (_, Some(MilestonePhase::FinalAcceptance)) => Some("final acceptance"),
        (Some(AtWork::Acceptor), _) => Some("Acceptor at work"),
        (None, Some(phase @ (MilestonePhase::Developer | MilestonePhase::Acceptor))) => Some(phase.as_str()),
        (None, Some(MilestonePhase::Paused) | None) => None,
    }
}

/// `round 4/20, 2 rejected in a row, Developer at work`, for a list.
pub fn brief(brief: &MilestoneBrief) -> String {
    let at = match brief.round {
        Some(round) => format!("round {round}/{}", brief.max_rounds),
        None => rounds(brief.rounds, brief.max_rounds, " of "),
    };
    let said = rejected(brief.rejections);
    let doing = doing(brief.phase, brief.at_work).map(str::to_owned);
    [Some(at), said, doing].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `3 of 20 rounds`.
pub fn rounds(rounds: u32, most: u32, of: &str) -> String {
    format!("{rounds}{of}{}", words::count(u64::from(most), "round"))
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
pub fn reported(milestone: &MilestoneView, report: &ReportView) -> String {
    let Some(said) = &report.feature else { return "all features complete".to_owned() };
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
pub fn finding(finding: &FindingView) -> String {
    let FindingView { id, text, since, .. } = finding;
    format!("{id} open since round {since}: {}", words::line(text, words::WHOLE))
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
pub fn verdict(verdict: &VerdictView) -> String {
    let by = match verdict.by {
        JudgedBy::Acceptor => "by the Acceptor",
        JudgedBy::Engine => "by Dacapo",
        // The reason is still the one of who rejected it.
        JudgedBy::Person if verdict.accepted => "by a person, against",
        JudgedBy::Person => "by a person",
    };
    let word = if verdict.accepted { "accepted" } else { "rejected" };
    let reason = match (verdict.accepted, verdict.by) {
        (true, JudgedBy::Acceptor | JudgedBy::Engine) => {
            words::line(&Reason::of(&verdict.reason).words, words::WHOLE)
        }
        (true, JudgedBy::Person) | (false, _) => why_rejected(&verdict.reason),
    };
    let by = if reason.is_empty() { by.trim_end_matches(", against") } else { by };
    let by = if verdict.not_itemised { format!("{by}, {NOT_ITEMISED}") } else { by.to_owned() };
    if reason.is_empty() { format!("{word} {by}") } else { format!("{word} {by}: {reason}") }
}

/// Why something was rejected, in a line: without what is said of each criterion, unless it is said by these alone.
pub fn why_rejected(reason: &str) -> String {
    words::line(&Reason::of_rejection(reason), words::WHOLE)
}

/// `C-1 not met · C-2, C-3 met`; none where nothing is said of them.
pub fn criteria(verdict: &VerdictView) -> Option<String> {
    let said = Reason::of(&verdict.reason);
    let unmet: Vec<String> = said.unmet.into_iter().map(|(id, _)| id).collect();
    let part = |ids: &[String], word: &str| (!ids.is_empty()).then(|| format!("{} {word}", ids.join(", ")));
    let parts: Vec<String> =
        [part(&unmet, "not met"), part(&said.met, "met")].into_iter().flatten().collect();
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

/// An answer that a person can give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What to type.
    pub command: String,
    /// What it is for.
    pub meaning: &'static str,
}

/// What a person can answer; a finding that is open can be settled alone.
pub fn answers(name: &str, needs: &Needs, milestone: &MilestoneView) -> Vec<Answer> {
    let mut answers = Vec::new();
    for choice in &needs.choices {
        let command = needs::command(choice, name);
        let meaning = meaning(choice, milestone.status);
        let one = milestone.open_findings().next().filter(|_| *choice == Choice::Approve);
        let settle = one.map(|finding| Answer {
            command: format!("{command} {}", finding.id),
            meaning: "settle this finding, then resume",
        });
        answers.push(Answer { command: words::line(&command, words::WHOLE), meaning });
        answers.extend(settle);
    }
    answers
}

/// The same, a line each.
pub fn explained(answers: &[Answer]) -> Vec<String> {
    let width = answers.iter().map(|answer| answer.command.chars().count()).max().unwrap_or(0).min(48);
    let line = |Answer { command, meaning }: &Answer| match *meaning {
        "" => command.clone(),
        meaning => format!("{command:<width$}  {}", paint(DIM, meaning)),
    };
    answers.iter().map(line).collect()
}

fn meaning(choice: &Choice, status: MilestoneStatus) -> &'static str {
    match choice {
        Choice::Tell => "both sides hear it; then resume",
        Choice::ResumeWithRounds { .. } => "go on with more rounds",
        Choice::Resume | Choice::ResumeUnproven | Choice::Answer => "go on",
        Choice::Approve if status == MilestoneStatus::AwaitingReview => "it is completed",
        Choice::Approve => "the newest round counts as accepted",
        Choice::Reject => "back to the Developer",
        Choice::AddRounds { .. } => "raise the limit, then resume",
        Choice::Kill => "end it; resume goes on all the same",
        Choice::Abandon => "give it up for good",
        Choice::Offered { .. } => "",
    }
}

/// What an Acceptor, who is to change nothing, did to the work.
pub fn touched(step: &MilestoneStep) -> String {
    let MilestoneStep::TreeTouched { astray, judged, dirty, .. } = step else {
        return String::new();
    };
    let moved = judged.as_ref().map(|_| "moved the branch".to_owned());
    let astray = astray.as_ref().map(|name| format!("left HEAD on {}", words::branch(name)));
    let dirty = (!dirty.is_empty()).then(|| format!("changed {}", dirty.join(", ")));
    let did: Vec<String> = [moved, astray, dirty].into_iter().flatten().collect();
    words::line(&format!("the Acceptor {}", did.join(", ")), words::WHOLE)
}

/// What became of the main branch while a milestone was at work.
pub fn main_moved(step: &MilestoneStep) -> String {
    let MilestoneStep::MainMoved { was, now, lost, commits } = step else { return String::new() };
    let was = was.as_ref().map_or("elsewhere", Oid::short);
    let lost = match now {
        None => Some(format!("is gone; it was at {was}")),
        Some(now) if *lost => Some(format!("was at {was} and is at {}, without what was on it", now.short())),
        Some(_) => None,
    };
    let holds = (!commits.is_empty())
        .then(|| format!("holds commits of the milestone by now: {}", commits.join(", ")));
    let found: Vec<String> = lost.into_iter().chain(holds).collect();
    words::line(&format!("The main branch {}", found.join(", and ")), words::WHOLE)
}

#[cfg(test)]
mod tests;
