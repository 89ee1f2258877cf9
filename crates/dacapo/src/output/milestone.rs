//! A milestone in words, as all surfaces say them: where it stands, its features, its findings, its rounds.

use dacapo_core::event::IterationRecord;
use dacapo_core::overview::MilestoneBrief;
use dacapo_core::task::milestone::{AtWork, MilestonePhase, MilestoneStatus};
use dacapo_core::view::{FindingView, JudgedBy, MilestoneView, ReportView, VerdictView};

use super::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};

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
    let reason = words::line(&verdict.reason, words::WHOLE);
    let by = if reason.is_empty() { by.trim_end_matches(", against") } else { by };
    let by = if verdict.not_itemised { format!("{by}, {NOT_ITEMISED}") } else { by.to_owned() };
    if reason.is_empty() { format!("{word} {by}") } else { format!("{word} {by}: {reason}") }
}

/// How a round ended, in a sign: green only where it is proven too.
pub fn sign(accepted: bool, record: &IterationRecord) -> String {
    let green = record.checks.iter().all(|check| check.passed);
    match (accepted, green) {
        (false, _) => paint(BAD, "✗"),
        (true, true) if !record.checks.is_empty() => paint(GOOD, "✓"),
        (true, true) => paint(BOLD, "●"),
        (true, false) => paint(WARN, "○"),
    }
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

/// What a person can answer, as commands; a finding that is open can be settled alone.
pub fn answers(name: &str, options: &[String], milestone: &MilestoneView) -> Vec<String> {
    let mut answers: Vec<String> = options.iter().map(|option| words::line(option, words::WHOLE)).collect();
    let overrule = format!("dacapo approve {name}");
    let one = format!("{overrule} R");
    if let (Some(at), Some(open)) =
        (answers.iter().position(|answer| *answer == overrule), milestone.open_findings().next())
        && !answers.iter().any(|answer| answer.starts_with(&one))
    {
        answers.insert(at + 1, format!("{overrule} {}", open.id));
    }
    answers
}

/// The same with what each is for, a line each.
pub fn explained(answers: &[String], status: MilestoneStatus) -> Vec<String> {
    let width = answers.iter().map(|answer| answer.chars().count()).max().unwrap_or(0).min(48);
    let line = |answer: &String| match meaning(answer, status) {
        "" => answer.clone(),
        meaning => format!("{answer:<width$}  {}", paint(DIM, meaning)),
    };
    answers.iter().map(line).collect()
}

fn meaning(answer: &str, status: MilestoneStatus) -> &'static str {
    let mut said = answer.split_whitespace().skip_while(|word| matches!(*word, "dacapo" | "milestone"));
    let (command, finding) = (said.next().unwrap_or_default(), said.nth(1));
    let in_review = status == MilestoneStatus::AwaitingReview;
    match command {
        "tell" => "both sides hear it; then resume",
        "resume" if answer.contains(" --rounds ") => "go on with more rounds",
        "resume" => "go on",
        "approve" if finding.is_some() => "settle this finding, then resume",
        "approve" if in_review => "it is completed",
        "approve" => "the newest round counts as accepted",
        "reject" => "back to the Developer",
        "set" => "raise the limit, then resume",
        "kill" => "end it; resume goes on all the same",
        "abandon" => "give it up for good",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
