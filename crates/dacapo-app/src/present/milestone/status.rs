//! What `dacapo status` says of a milestone: its features with ticks, what is open, its rounds.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_core::event::IterationRecord;
use dacapo_core::task::milestone::MilestoneView;
use dacapo_core::view::TaskView;

use crate::messages::Messages;
use crate::present::milestone;
use crate::present::status::check_line;
use crate::present::words::{self, BAD, DIM, WARN, paint};

/// What is to be brought, and who works on it.
pub(super) fn asked(out: &mut String, milestone: &MilestoneView, pid: &str, messages: Messages) {
    let about = words::line(milestone.about(), 100);
    let _ = writeln!(out, "  {}{about}", words::padded(&messages.label_goal(), 8));
    let agents = words::padded(&messages.label_agents(), 8);
    let (developer, acceptor) = (words::line(&milestone.developer, 40), words::line(&milestone.acceptor, 40));
    let _ = writeln!(out, "  {agents}Developer {developer} · Acceptor {acceptor}{pid}");
}

/// Features and findings. Those that are open come last: they are what somebody looks for.
pub(super) fn lines(out: &mut String, milestone: &MilestoneView, messages: Messages) {
    for feature in &milestone.features {
        let (tick, id) = (milestone::tick(feature.done), &feature.id);
        let _ = writeln!(out, "  {tick} {id:<5} {}", words::line(&feature.text, 100));
    }
    if let Some(ids) = milestone::settled(milestone) {
        let _ = writeln!(
            out,
            "{}",
            paint(DIM, &format!("  {}{ids}", words::padded(&messages.label_settled(), 8)))
        );
    }
    for finding in milestone.open_findings() {
        let since = messages.milestone_since_round(finding.since);
        let text = words::line(&finding.text, words::WHOLE);
        let _ =
            writeln!(out, "  {} {text} {}", paint(WARN, &format!("✗ {:<5}", finding.id)), paint(DIM, &since));
    }
}

/// One round: what was reported, how it was judged, what the checks said.
pub(super) fn round(
    out: &mut String,
    view: &TaskView,
    of: &MilestoneView,
    record: &IterationRecord,
    messages: Messages,
) {
    let number = record.iteration + 1;
    let round = of.history.iter().find(|round| round.round == number);
    let verdict = round.and_then(|round| round.verdict.as_ref());
    let accepted = verdict.map_or(record.success, |verdict| verdict.accepted);
    let about = match round.and_then(|round| round.report.as_ref()) {
        Some(report) => milestone::reported(of, report, messages),
        None => milestone::subject(of, record),
    };
    let took = words::duration(Duration::from_millis(record.duration_ms));
    let files = messages.files(u64::from(record.changed_total));
    let commit =
        record.commit_id.as_ref().map_or_else(|| messages.commit_none(), |oid| oid.short().to_owned());
    let sign = milestone::sign(accepted, record);
    let nth = words::padded(&messages.round_number(number), 7);
    let _ = writeln!(out, "  {nth} {sign} {commit}  {about}  {files} {took}");
    if let Some(verdict) = verdict {
        let text = milestone::verdict(verdict, messages);
        let text = if verdict.accepted { text } else { paint(BAD, &text) };
        let named = if verdict.findings.is_empty() {
            String::new()
        } else {
            format!(" ({})", verdict.findings.join(" "))
        };
        let _ = writeln!(out, "            {text}{named}");
        if let Some(criteria) = milestone::criteria(verdict, messages) {
            let _ = writeln!(out, "            {}", messages.round_criteria(&criteria));
        }
    }
    for complaint in round.iter().flat_map(|round| &round.reports_sent_back) {
        let complaint = words::line(complaint, words::WHOLE);
        let _ = writeln!(out, "            {}", messages.round_was_sent_back_developer(&complaint));
    }
    for complaint in round.iter().flat_map(|round| &round.verdicts_sent_back) {
        let complaint = words::line(complaint, words::WHOLE);
        let _ = writeln!(out, "            {}", messages.round_was_sent_back_acceptor(&complaint));
    }
    for check in view.checks.iter().filter(|check| check.iteration == Some(record.iteration)) {
        let _ = writeln!(out, "            {}", check_line(check, messages));
    }
}
