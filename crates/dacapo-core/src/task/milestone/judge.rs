//! Reports held against git, and verdicts held against what is settled.

use super::definition::criterion_id;
use super::findings::Raised;
use super::report::DeveloperReply;
use super::verdict::{On, Verdict};
use super::{Milestone, Work};
use crate::event::{Event, Judge, MilestoneStep, WorkFacts};

/// So many are sent back or kept; each is a line or two.
const MOST_COMPLAINTS: usize = 20;
/// So many paths are named in one.
pub(super) const MOST_PATHS: usize = 10;

impl Milestone {
    /// The Developer's reply: taken, sent back once, and then a rejection (M6).
    pub(super) fn report(&self, reply: &str, facts: &WorkFacts) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        let read = match DeveloperReply::parse(reply, round.number.saturating_add(1)) {
            Ok(read) => read,
            Err(mut complaints) => {
                complaints.extend(self.disorder_in(facts));
                return self.send_back(complaints);
            }
        };
        let mut complaints = self.disorder_in(facts);
        if facts.definition_changed {
            complaints.push(format!(
                "{} was changed: what the milestone is held to is not yours to change; bring it back as it was and commit that",
                self.details.path
            ));
        }
        if matches!(read, DeveloperReply::Completion(_)) && facts.log.is_empty() {
            complaints.push("there is no commit of this milestone yet".to_owned());
        }
        for named in read.commits() {
            let known = facts.commits.iter().find(|commit| commit.named == named);
            match known.map(|commit| (&commit.found, commit.on_branch)) {
                None | Some((None, _)) => complaints.push(format!("there is no commit {named}")),
                Some((Some(_), false)) => {
                    complaints.push(format!(
                        "commit {named} is not one of this milestone's on {}",
                        self.branch_name()
                    ));
                }
                Some((Some(_), true)) => {}
            }
        }
        if !complaints.is_empty() {
            return self.send_back(complaints);
        }
        let iteration = round.number;
        let (changed_files, changed_total) = (facts.changed_files.clone(), facts.changed_total);
        let (log, main) = (facts.log.clone(), facts.main.clone());
        let named = facts.commits.first().and_then(|commit| commit.found.clone());
        let step = match read {
            DeveloperReply::Report(report) => named.map(|commit| MilestoneStep::ReportTaken {
                iteration,
                feature_at: self.definition.feature(&report.feature),
                feature: report.feature,
                commit,
                changes: report.changes,
                changed_files,
                changed_total,
                log,
                tip: facts.tip.clone(),
                diff: facts.diff.clone(),
                main,
            }),
            DeveloperReply::Completion(completion) => {
                facts.head.clone().map(|commit| MilestoneStep::CompletionTaken {
                    iteration,
                    commit,
                    summary: completion.summary,
                    changed_files,
                    changed_total,
                    log,
                    main,
                })
            }
        };
        match step {
            Some(step) => vec![Event::Milestone(step)],
            None => self.send_back(vec!["there is no commit yet".to_owned()]),
        }
    }

    /// Once; the second bad one of a round counts as a rejection.
    pub(super) fn send_back(&self, mut complaints: Vec<String>) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        complaints.truncate(MOST_COMPLAINTS);
        if round.reports_sent_back == 0 {
            let iteration = round.number;
            return vec![Event::Milestone(MilestoneStep::ReportSentBack { iteration, complaints })];
        }
        self.rejected_by_engine(format!("the report did not fit twice: {}", complaints.join("; ")))
    }

    pub(super) fn rejected_by_engine(&self, reason: String) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        vec![Event::Milestone(MilestoneStep::Rejected {
            iteration: round.number,
            by: Judge::Engine,
            reason,
            findings: Vec::new(),
            needs_person: false,
        })]
    }

    /// The Acceptor's reply: a verdict, or sent back once (M4, M5, M11).
    pub(super) fn judgement(&self, reply: &str, facts: &WorkFacts) -> Vec<Event> {
        let touched = self.touched(facts);
        let (step, void) = touched.map_or((None, None), |touched| (Some(touched.step), touched.void));
        let verdict = self.verdict_on(reply, void);
        step.map(Event::Milestone).into_iter().chain(verdict).collect()
    }

    fn verdict_on(&self, reply: &str, void: Option<String>) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        let iteration = round.number;
        let on = if Work::is_final(round.work.as_ref()) {
            On::Milestone { criteria: self.definition.criteria.len() }
        } else {
            On::Feature
        };
        let about = Work::about(round.work.as_ref());
        let first = round.verdicts_sent_back == 0;
        let step = match (Verdict::parse(reply, on), void) {
            (Ok(Verdict::Accepted { .. }) | Err(_), Some(void)) => return self.rejected_by_engine(void),
            (Err(complaint), None) if first => MilestoneStep::VerdictSentBack { iteration, complaint },
            (Err(complaint), None) => {
                return self.rejected_by_engine(format!("the Acceptor gave no verdict twice: {complaint}"));
            }
            (Ok(Verdict::Accepted { reason }), None) => {
                let still_open = self.findings.beside(about);
                MilestoneStep::Accepted { iteration, reason, still_open }
            }
            (Ok(Verdict::Rejected { reason, findings }), _) => match self.findings.raise(&findings, about) {
                Raised::OnlySettled(ids) if first => {
                    let ids: Vec<String> = ids.iter().map(|id| format!("R{id}")).collect();
                    let complaint = format!(
                        "the rejection names only what is settled ({}): settled findings stay settled. Say what else is wrong, or accept",
                        ids.join(", ")
                    );
                    MilestoneStep::VerdictSentBack { iteration, complaint }
                }
                Raised::OnlySettled(_) => MilestoneStep::Rejected {
                    iteration,
                    by: Judge::Acceptor,
                    reason,
                    findings: self.findings.open().to_vec(),
                    needs_person: true,
                },
                Raised::Open(findings) => MilestoneStep::Rejected {
                    iteration,
                    by: Judge::Acceptor,
                    reason,
                    findings,
                    needs_person: false,
                },
            },
        };
        vec![Event::Milestone(step)]
    }

    /// The branch as people name it.
    pub(super) fn branch_name(&self) -> &str {
        let branch = self.branch.as_deref().unwrap_or("the branch of the milestone");
        branch.strip_prefix("refs/heads/").unwrap_or(branch)
    }

    /// All criteria, a line each.
    pub(super) fn criteria(&self) -> impl Iterator<Item = (String, &str)> {
        self.definition.criteria.iter().enumerate().map(|(at, text)| (criterion_id(at), text.as_str()))
    }
}

/// The first few of the paths.
pub(super) fn named(paths: &[String]) -> String {
    let mut text = paths[..paths.len().min(MOST_PATHS)].join(", ");
    if paths.len() > MOST_PATHS {
        text.push_str(&format!(" and {} more", paths.len() - MOST_PATHS));
    }
    text
}
