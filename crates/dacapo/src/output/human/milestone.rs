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
    CheckResult, Envelope, Event, FailureKind, IterationRecord, MilestoneStep, TurnEnd, TurnRecord,
};
use dacapo_core::spec::{LoopPolicy, TaskSpec};
use dacapo_core::task::milestone::{AtWork, MilestonePhase};
use dacapo_core::view::MilestoneView;

use super::Human;
use crate::output::milestone;
use crate::output::words::{self, BAD, BOLD, DIM, WARN, paint};

/// Features and findings of a long list that are named.
const MOST: usize = 12;

impl Human {
    /// What it is to bring, and who works on it.
    pub(super) fn milestone_asked(&mut self, spec: &TaskSpec) {
        let Some(milestone) = self.view.milestone.clone() else { return };
        let about = words::line(milestone.about(), 80);
        self.say(&format!("{} {about}", paint(DIM, "goal   ")));
        let shown = milestone.features.len().min(MOST);
        for feature in &milestone.features[..shown] {
            let text = words::line(&feature.text, 80);
            self.say(&format!(
                "{} {} {text}",
                paint(DIM, &format!("{:<7}", feature.id)),
                milestone::tick(feature.done)
            ));
        }
        if shown < milestone.features.len() {
            let more = milestone.features.len() - shown;
            self.say(&paint(DIM, &format!("        … {more} more: dacapo status {}", spec.name)));
        }
        let (developer, acceptor) =
            (words::line(&milestone.developer, 40), words::line(&milestone.acceptor, 40));
        self.say(&format!("{} Developer {developer} · Acceptor {acceptor}", paint(DIM, "agents ")));
    }

    /// What bounds it; with `more`, after so many more rounds.
    pub(super) fn milestone_limits(
        milestone: &MilestoneView,
        policy: &LoopPolicy,
        more: Option<u32>,
    ) -> Vec<String> {
        let begun = milestone.rounds.saturating_add(u32::from(milestone.round.is_some()));
        let rounds = more.map_or(milestone.max_rounds, |more| begun.saturating_add(more));
        let mut limits = vec![
            words::count(u64::from(rounds), "round"),
            format!(
                "{} in a row",
                words::count(u64::from(milestone.max_consecutive_rejections), "rejection")
            ),
        ];
        limits.extend(policy.turn_timeout.map(|limit| format!("{} a call", words::duration(limit))));
        limits
    }

    /// Says what an event of a milestone means. False: it means nothing else than in any other task.
    pub(super) fn milestone_event(&mut self, line: &Envelope) -> bool {
        let Some(milestone) = &self.view.milestone else { return false };
        match &line.event {
            Event::IterationStarted { iteration, .. } => {
                let round = format!("round {} of {}", iteration + 1, milestone.max_rounds);
                self.say(&paint(BOLD, &round));
                "thinking".clone_into(&mut self.doing);
                true
            }
            Event::TurnStarted { .. } => {
                let (what, who) = turn(milestone);
                self.item(what, &who, Some(DIM));
                "thinking".clone_into(&mut self.doing);
                // What else begins with a turn is the same for all.
                false
            }
            Event::TurnFinished(record) => {
                self.turn_failed(record);
                record.end == TurnEnd::Interrupted
            }
            Event::CheckFinished(check) => {
                self.round_check(check);
                // It may have changed files.
                false
            }
            Event::Milestone(step) => {
                self.milestone_step(step);
                true
            }
            Event::IterationFinished(record) => {
                let in_a_row = Some(milestone.consecutive_rejections).filter(|count| *count > 0);
                self.round(record, in_a_row);
                true
            }
            _ => false,
        }
    }

    /// `  report   …`, under the round.
    fn item(&mut self, what: &str, text: &str, style: Option<anstyle::Style>) {
        let line = format!("  {what:<8} {text}");
        self.say(&style.map_or_else(|| line.clone(), |style| paint(style, &line)));
    }

    fn turn_failed(&mut self, record: &TurnRecord) {
        match &record.end {
            TurnEnd::Interrupted => {
                self.turn_usage = dacapo_core::event::Usage::default();
                self.doing.clear();
                self.say(&paint(WARN, "note    the last turn was interrupted: the round goes on"));
            }
            // Those end the milestone, and are told there.
            TurnEnd::Failed { failure: FailureKind::Permanent, .. } => {}
            TurnEnd::Failed { failure: FailureKind::SessionLost, .. } => {
                self.say(&paint(
                    WARN,
                    "note    its conversation is lost: it begins anew, with the full context",
                ));
            }
            TurnEnd::Failed { message, .. } => self.item("failed", &words::line(message, 200), Some(WARN)),
            TurnEnd::Done | TurnEnd::Limit { .. } | TurnEnd::Cancelled | TurnEnd::Budget => {}
        }
    }

    fn round_check(&mut self, check: &CheckResult) {
        let sign = words::check_sign(check);
        let took = words::duration(Duration::from_millis(check.duration_ms));
        let last = words::quoted(&check.telling_line()).filter(|_| !check.passed());
        let last = last.map_or_else(String::new, |last| format!("  {last}"));
        let text = format!("{} {sign} {} {took}{last}", words::line(&check.command, 80), check.ending());
        self.item("check", &text, None);
    }

    fn milestone_step(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::ReportTaken { changed_total, .. }
            | MilestoneStep::CompletionTaken { changed_total, .. } => {
                let Some(milestone) = &self.view.milestone else { return };
                let Some(report) = &milestone.last_report else { return };
                let about = milestone::reported(milestone, report);
                let files = words::count(u64::from(*changed_total), "file");
                let text = format!("{about} · {} · {files}", report.commit.short());
                self.item("report", &text, None);
            }
            MilestoneStep::ReportSentBack { complaints, .. } => {
                self.sent_back("to the Developer", complaints);
            }
            MilestoneStep::VerdictSentBack { complaint, .. } => {
                self.sent_back("to the Acceptor", std::slice::from_ref(complaint));
            }
            // How the round ended is said at its end.
            MilestoneStep::Accepted { not_itemised, .. } => {
                if *not_itemised {
                    self.item("note", milestone::NOT_ITEMISED, Some(WARN));
                }
            }
            MilestoneStep::Rejected { findings, .. } => {
                for finding in findings.iter().take(MOST) {
                    let text = words::line(&finding.text, words::WHOLE);
                    self.item(&format!("R{}", finding.id), &text, Some(WARN));
                }
                if findings.len() > MOST {
                    self.item("…", &format!("{} more", findings.len() - MOST), Some(WARN));
                }
            }
            MilestoneStep::TreeLookedAt { astray, dirty, .. } => {
                if let Some(branch) = astray {
                    let text = format!("HEAD is on {}; the Developer goes back first", words::branch(branch));
                    self.item("astray", &words::line(&text, words::WHOLE), Some(WARN));
                }
                if !dirty.is_empty() {
                    let files = words::count(dirty.len() as u64, "uncommitted file");
                    let named = words::line(&dirty.join(", "), 80);
                    let text = format!("{files}, the Developer puts that in order first: {named}");
                    self.item("dirty", &text, Some(WARN));
                }
            }
            MilestoneStep::TreeTouched { .. } => {
                self.item("touched", &words::touched(step), Some(WARN));
            }
            MilestoneStep::MainMoved { .. } => self.item("main", &words::main_moved(step), Some(WARN)),
            MilestoneStep::Refrozen { changes, .. } => {
                for (nth, change) in changes.iter().take(MOST).enumerate() {
                    let what = if nth == 0 { "criteria" } else { "" };
                    self.item(what, &words::line(change, words::WHOLE), None);
                }
            }
            MilestoneStep::TreeKept { reference } => {
                if let Some(reference) = reference {
                    let text = format!("what nobody had committed: {}", words::line(reference, 200));
                    self.item("kept", &text, None);
                }
            }
        }
    }

    fn sent_back(&mut self, to: &str, complaints: &[String]) {
        for (nth, complaint) in complaints.iter().take(MOST).enumerate() {
            let what = if nth == 0 { "back" } else { "" };
            let to = if nth == 0 { format!("{to}: ") } else { String::new() };
            self.item(what, &format!("{to}{}", words::line(complaint, words::WHOLE)), Some(WARN));
        }
    }

    /// How a round ended.
    pub(super) fn round(&mut self, record: &IterationRecord, in_a_row: Option<u32>) {
        let sign = milestone::sign(record.success, record);
        let commit = record.commit_id.as_ref().map_or("no commit", |oid| oid.short());
        let took = words::duration(Duration::from_millis(record.duration_ms));
        let files = words::count(u64::from(record.changed_total), "file");
        let Some(of) = &self.view.milestone else { return };
        let about = milestone::subject(of, record);
        let row = in_a_row.map_or_else(String::new, |count| format!(", {count} in a row"));
        let ended = match (record.success, record.promise) {
            (true, true) => "the milestone is accepted".to_owned(),
            (true, false) => "accepted".to_owned(),
            (false, _) => format!("rejected{row}"),
        };
        self.say(&format!("{sign} {}  {commit}  {about}  {ended} · {files} {took}", record.iteration + 1));
        if let Some(reason) = &record.error {
            self.say(&paint(BAD, &format!("     {}", words::line(reason, words::WHOLE))));
        }
    }

    /// Where it stands, for who comes in the middle.
    pub(super) fn milestone_so_far(&mut self) {
        let Some(milestone) = self.view.milestone.clone() else { return };
        for finding in milestone.open_findings().take(MOST) {
            let text =
                format!("{} (since round {})", words::line(&finding.text, words::WHOLE), finding.since);
            self.item(&finding.id, &text, Some(WARN));
        }
        if let (Some(round), Some(_)) = (milestone.round, milestone.at_work) {
            self.say(&paint(BOLD, &format!("round {round} of {}", milestone.max_rounds)));
            if milestone.at_work != Some(AtWork::Checks) {
                let (what, who) = turn(&milestone);
                self.item(what, &who, Some(DIM));
            }
        }
    }

    /// The part of the live line that says which round, and whose.
    pub(super) fn milestone_live(&self) -> Option<Vec<String>> {
        let milestone = self.view.milestone.as_ref()?;
        let round = milestone.round.map(|round| format!("round {round} of {}", milestone.max_rounds));
        Some(round.into_iter().chain(milestone::at_work(milestone)).collect())
    }
}

/// Whose turn it is, and what for.
fn turn(milestone: &MilestoneView) -> (&'static str, String) {
    let who = milestone::at_work(milestone).unwrap_or_default();
    match (milestone.at_work, milestone.phase) {
        (Some(AtWork::Acceptor), Some(MilestonePhase::FinalAcceptance)) => {
            ("judges", format!("{who} · final acceptance, every criterion"))
        }
        (Some(AtWork::Acceptor), _) => ("judges", who),
        _ if milestone.cleaning => ("cleans", who),
        _ => ("builds", who),
    }
}
