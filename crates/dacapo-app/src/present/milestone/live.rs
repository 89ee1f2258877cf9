//! A milestone as it goes: whose turn it is, what was reported, what was sent back, how it was judged.
//!
//! ```text
//! round 2 of 20
//!   builds   Developer codex
//!   report   F-2 rate limit · 4be1d20 · 3 files
//!   check    cargo test ✓ exit 0 12s
//!   judges   Acceptor claude
//!   R3       no limiter in code
//! ✗ 2  4be1d20  F-2 rate limit  rejected, 1 in a row · 3 files 4m10s
//!      no rate limit
//! ```

use std::time::Duration;

use dacapo_core::event::{
    CheckPhase, CheckResult, Envelope, Event, FailureKind, IterationRecord, TurnEnd, TurnRecord,
};
use dacapo_core::spec::LoopPolicy;
use dacapo_core::task::milestone::MilestoneStep;
use dacapo_core::task::milestone::MilestoneView;
use dacapo_core::task::milestone::{AtWork, MilestonePhase};

use super as milestone;
use crate::messages::Messages;
use crate::present::faults;
use crate::present::kind_words::EventLines;
use crate::present::words::{self, BAD, BOLD, DIM, WARN, paint};

/// Features and findings of a long list that are named.
const MOST: usize = 12;

/// What it is to bring, and who works on it.
pub(super) fn asked(milestone: &MilestoneView, name: &str, messages: Messages) -> Vec<String> {
    let mut out = Vec::new();
    let about = words::line(milestone.about(), 80);
    let label = |label: String| paint(DIM, &words::padded(&label, 7));
    out.push(format!("{} {about}", label(messages.label_goal())));
    let shown = milestone.features.len().min(MOST);
    for feature in &milestone.features[..shown] {
        let text = words::line(&feature.text, 80);
        out.push(format!(
            "{} {} {text}",
            paint(DIM, &format!("{:<7}", feature.id)),
            milestone::tick(feature.done)
        ));
    }
    if shown < milestone.features.len() {
        let more = milestone.features.len() - shown;
        out.push(paint(DIM, &format!("        {}", messages.milestone_more_in_status(more, name))));
    }
    let (developer, acceptor) = (words::line(&milestone.developer, 40), words::line(&milestone.acceptor, 40));
    out.push(format!("{} Developer {developer} · Acceptor {acceptor}", label(messages.label_agents())));
    out
}

/// Its limits; with `more`, as they will be after that many more rounds.
pub(super) fn limits(
    milestone: &MilestoneView,
    policy: &LoopPolicy,
    more: Option<u32>,
    messages: Messages,
) -> Vec<String> {
    let begun = milestone.rounds.saturating_add(u32::from(milestone.round.is_some()));
    let rounds = more.map_or(milestone.max_rounds, |more| begun.saturating_add(more));
    let mut limits = vec![
        messages.rounds(u64::from(rounds)),
        messages.limit_rejections(u64::from(milestone.max_consecutive_rejections)),
    ];
    limits.extend(policy.turn_timeout.map(|limit| messages.limit_per_call(&words::duration(limit))));
    limits.extend(words::limits(policy, None, messages));
    limits
}

/// What an event of a milestone means; nothing else than in any other task: nothing is told.
pub(super) fn event(milestone: &MilestoneView, line: &Envelope, messages: Messages) -> EventLines {
    let thinking = || Some(messages.live_thinking());
    match &line.event {
        Event::IterationStarted { iteration, .. } => {
            let round = messages.round_of(iteration + 1, milestone.max_rounds);
            EventLines { lines: vec![paint(BOLD, &round)], doing: thinking(), is_all: true }
        }
        Event::TurnStarted { .. } => {
            let (what, who) = turn(milestone, messages);
            // What else begins with a turn is the same for all.
            EventLines { lines: vec![item(&what, &who, Some(DIM))], doing: thinking(), is_all: false }
        }
        Event::TurnFinished(record) => {
            let is_all = record.end == TurnEnd::Interrupted;
            EventLines { lines: turn_failed(record, messages), doing: is_all.then(String::new), is_all }
        }
        Event::CheckFinished(check) => {
            // It may have changed files.
            EventLines { lines: vec![round_check(check, messages)], doing: None, is_all: false }
        }
        Event::Own(step) => {
            let steps = MilestoneStep::read(step);
            let lines = steps.iter().flat_map(|step| of_step(milestone, step, messages)).collect();
            EventLines { lines, doing: None, is_all: true }
        }
        Event::IterationFinished(record) => {
            let in_a_row = Some(milestone.consecutive_rejections).filter(|count| *count > 0);
            EventLines { lines: round(milestone, record, in_a_row, messages), doing: None, is_all: true }
        }
        _ => EventLines::default(),
    }
}

/// `  report   …`, under the round.
fn item(what: &str, text: &str, style: Option<anstyle::Style>) -> String {
    let line = format!("  {} {text}", words::padded(what, 8));
    style.map_or_else(|| line.clone(), |style| paint(style, &line))
}

fn turn_failed(record: &TurnRecord, messages: Messages) -> Vec<String> {
    let note = |text: String| paint(WARN, &format!("{}{text}", messages.label_note()));
    let mut out = Vec::new();
    match &record.end {
        TurnEnd::Interrupted => {
            out.push(note(messages.round_turn_interrupted()));
        }
        // Those end the milestone, and are told there.
        TurnEnd::Failed { failure: FailureKind::Permanent, .. } => {}
        TurnEnd::Failed { failure: FailureKind::SessionLost, .. } => {
            out.push(note(messages.round_conversation_lost()));
        }
        TurnEnd::Failed { fault, .. } => {
            out.push(item(
                &messages.label_failed(),
                &words::line(&faults::told(fault, messages), 200),
                Some(WARN),
            ));
        }
        TurnEnd::Done | TurnEnd::Limit { .. } | TurnEnd::Cancelled | TurnEnd::Budget => {}
    }
    out
}

fn round_check(check: &CheckResult, messages: Messages) -> String {
    let sign = words::check_sign(check);
    let took = words::duration(Duration::from_millis(check.duration_ms));
    let last = words::quoted(&check.telling_line()).filter(|_| !check.passed());
    let last = last.map_or_else(String::new, |last| format!("  {last}"));
    let text = format!(
        "{} {sign} {} {took}{last}",
        words::line(&check.command, 80),
        words::exit(&check.ended(), messages)
    );
    let what = match check.phase {
        CheckPhase::Baseline | CheckPhase::Iteration => messages.label_check(),
        CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => messages.label_proof(),
    };
    item(&what, &text, None)
}

fn of_step(milestone: &MilestoneView, step: &MilestoneStep, messages: Messages) -> Vec<String> {
    let mut out = Vec::new();
    match step {
        MilestoneStep::ReportTaken { changed_total, .. }
        | MilestoneStep::CompletionTaken { changed_total, .. } => {
            let Some(report) = &milestone.last_report else { return out };
            let about = milestone::reported(milestone, report, messages);
            let files = messages.files(u64::from(*changed_total));
            let text = format!("{about} · {} · {files}", report.commit.short());
            out.push(item(&messages.label_report(), &text, None));
        }
        MilestoneStep::ReportSentBack { complaints, .. } => {
            out.extend(sent_back(complaints, messages, Messages::round_sent_back_developer));
        }
        MilestoneStep::VerdictSentBack { complaint, .. } => {
            let complaints = std::slice::from_ref(complaint);
            out.extend(sent_back(complaints, messages, Messages::round_sent_back_acceptor));
        }
        // How the round ended is said at its end.
        MilestoneStep::Accepted { not_itemised, .. } => {
            if *not_itemised {
                out.push(item(&messages.label_note_short(), &messages.milestone_not_itemised(), Some(WARN)));
            }
        }
        MilestoneStep::Rejected { findings, .. } => {
            for finding in findings.iter().take(MOST) {
                let text = words::line(&finding.text, words::WHOLE);
                out.push(item(&format!("R{}", finding.id), &text, Some(WARN)));
            }
            if findings.len() > MOST {
                out.push(item("…", &messages.round_more(findings.len() - MOST), Some(WARN)));
            }
        }
        MilestoneStep::TreeLookedAt { astray, dirty, .. } => {
            if let Some(branch) = astray {
                let text = messages.round_astray(words::branch(branch));
                out.push(item(&messages.label_astray(), &words::line(&text, words::WHOLE), Some(WARN)));
            }
            if !dirty.is_empty() {
                let files = messages.uncommitted_files(dirty.len() as u64);
                let named = words::line(&dirty.join(", "), 80);
                let text = messages.round_dirty(&files, &named);
                out.push(item(&messages.label_dirty(), &text, Some(WARN)));
            }
        }
        MilestoneStep::TreeTouched { .. } => {
            out.push(item(&messages.label_touched(), &milestone::touched(step, messages), Some(WARN)));
        }
        MilestoneStep::MainMoved { .. } => {
            out.push(item(&messages.label_main(), &milestone::main_moved(step, messages), Some(WARN)));
        }
        MilestoneStep::Refrozen { changes, .. } => {
            for (nth, change) in changes.iter().take(MOST).enumerate() {
                let what = if nth == 0 { messages.label_criteria() } else { String::new() };
                out.push(item(&what, &words::line(change, words::WHOLE), None));
            }
        }
        MilestoneStep::TreeKept { reference } => {
            if let Some(reference) = reference {
                let text = messages.round_uncommitted_kept(&words::line(reference, 200));
                out.push(item(&messages.label_kept_as(), &text, None));
            }
        }
    }
    out
}

fn sent_back(
    complaints: &[String],
    messages: Messages,
    first: impl Fn(Messages, &str) -> String,
) -> Vec<String> {
    let mut out = Vec::new();
    for (nth, complaint) in complaints.iter().take(MOST).enumerate() {
        let complaint = words::line(complaint, words::WHOLE);
        let (what, text) = match nth {
            0 => (messages.label_sent_back(), first(messages, &complaint)),
            _ => (String::new(), complaint),
        };
        out.push(item(&what, &text, Some(WARN)));
    }
    out
}

/// How a round ended.
pub(super) fn round(
    of: &MilestoneView,
    record: &IterationRecord,
    in_a_row: Option<u32>,
    messages: Messages,
) -> Vec<String> {
    let mut out = Vec::new();
    let sign = milestone::sign(record.success, record);
    let commit =
        record.commit_id.as_ref().map_or_else(|| messages.commit_none(), |oid| oid.short().to_owned());
    let took = words::duration(Duration::from_millis(record.duration_ms));
    let files = messages.files(u64::from(record.changed_total));
    let about = milestone::subject(of, record);
    let ended = match (record.success, record.promise) {
        (true, true) => messages.verdict_milestone_accepted(),
        (true, false) => messages.verdict_accepted(),
        (false, _) => {
            in_a_row.map_or_else(|| messages.verdict_rejected(), |row| messages.verdict_rejected_row(row))
        }
    };
    out.push(format!("{sign} {}  {commit}  {about}  {ended} · {files} {took}", record.iteration + 1));
    if let Some(reason) = faults::all(&record.faults, messages) {
        out.push(paint(BAD, &format!("     {}", milestone::why_rejected(&reason))));
    }
    out
}

/// Where it stands, for who comes in the middle.
pub(super) fn so_far(milestone: &MilestoneView, messages: Messages) -> Vec<String> {
    let mut out = Vec::new();
    for finding in milestone.open_findings().take(MOST) {
        let since = messages.milestone_since_round(finding.since);
        let text = format!("{} {since}", words::line(&finding.text, words::WHOLE));
        out.push(item(&finding.id, &text, Some(WARN)));
    }
    if let (Some(round), Some(_)) = (milestone.round, milestone.at_work) {
        out.push(paint(BOLD, &messages.round_of(round, milestone.max_rounds)));
        if milestone.at_work != Some(AtWork::Checks) {
            let (what, who) = turn(milestone, messages);
            out.push(item(&what, &who, Some(DIM)));
        }
    }
    out
}

/// The part of the live line that says which round, and whose.
pub(super) fn line(milestone: &MilestoneView, messages: Messages) -> Vec<String> {
    let round = milestone.round.map(|round| messages.round_of(round, milestone.max_rounds));
    round.into_iter().chain(milestone::at_work(milestone)).collect()
}

/// Whose turn it is, and what for.
fn turn(milestone: &MilestoneView, messages: Messages) -> (String, String) {
    let who = milestone::at_work(milestone).unwrap_or_default();
    match (milestone.at_work, milestone.phase) {
        (Some(AtWork::Acceptor), Some(MilestonePhase::FinalAcceptance)) => {
            (messages.label_judges(), messages.round_final_acceptance(&who))
        }
        (Some(AtWork::Acceptor), _) => (messages.label_judges(), who),
        _ if milestone.cleaning => (messages.label_cleans(), who),
        _ => (messages.label_builds(), who),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m10_the_run_that_proves_a_commit_is_called_proof() {
        let line = |phase| {
            let check: CheckResult = serde_json::from_value(serde_json::json!({
                "phase": phase, "iteration": 0, "index": 0, "command": "make test", "exit_code": 0,
                "timed_out": false, "duration_seconds": 0.005, "commit_id": null, "tail": "", "fingerprint": "",
            }))
            .unwrap();
            anstream::adapter::strip_str(&round_check(&check, Messages::ENGLISH)).to_string()
        };
        assert_eq!(line(CheckPhase::Iteration), "  check    make test ✓ exit 0 5ms");
        assert_eq!(line(CheckPhase::Proof), "  proof    make test ✓ exit 0 5ms");
    }
}
