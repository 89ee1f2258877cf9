//! Reports held against git, and verdicts held against what is settled.

use super::definition::criterion_id;
use super::findings::Raised;
use super::report::DeveloperReply;
use super::verdict::{Criteria, On, RaisedFinding, Verdict};
use super::{Milestone, Work};
use crate::engine::machine::WorkFacts;
use crate::event::Event;
use crate::task::milestone::{Judge, MilestoneStep};

/// How many are sent back or kept; each is a line or two.
const MOST_COMPLAINTS: usize = 20;
/// How often a final rejection comes back to the Developer while there is no new commit; then a person is asked.
pub(super) const MOST_ALIKE: u32 = 3;
/// How many paths are named in one.
pub(super) const MOST_PATHS: usize = 10;

/// Whether a verdict was sent back in this round: that is done once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Once,
    Again,
}

/// A reply, read together with the one that was sent back: who is asked for lines may say them alone, and what it said of
/// the work before still stands, word for word.
fn read(reply: &str, given: Option<&str>, on: On) -> Result<(Verdict, Criteria), String> {
    let now = Verdict::parse(reply, on);
    let Some(Ok((before, asked))) = given.map(|given| Verdict::parse(given, on)) else { return now };
    if matches!(before, Verdict::Accepted { .. }) && !asked.unmet.is_empty() {
        return match now {
            Ok((verdict @ Verdict::Accepted { .. }, criteria)) => {
                Ok((verdict, criteria.with_earlier(&asked)))
            }
            Ok(no) => Ok(no),
            Err(_) => Ok((before, Verdict::criteria(reply, on).with_earlier(&asked))),
        };
    }
    if asked.missing.is_empty() {
        return now;
    }
    let both = |first: &str, second: &str| match (first.trim(), second.trim()) {
        (first, second) if second.contains(first) => second.to_owned(),
        (first, second) => format!("{first}\n\n{second}").trim().to_owned(),
    };
    match (before, now) {
        (Verdict::Rejected { reason: first, .. }, Ok((Verdict::Rejected { reason, findings }, criteria))) => {
            Ok((Verdict::Rejected { reason: both(&first, &reason), findings }, criteria))
        }
        (_, Ok(now)) => Ok(now),
        (Verdict::Accepted { reason }, Err(_)) => {
            Ok((Verdict::Accepted { reason: both(&reason, reply) }, Verdict::criteria(reply, on)))
        }
        (Verdict::Rejected { reason, mut findings }, Err(_)) => {
            let criteria = Verdict::criteria(reply, on);
            findings.extend(criteria.findings());
            Ok((Verdict::Rejected { reason: both(&reason, reply), findings }, criteria))
        }
    }
}

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
                tests: facts.tests.clone(),
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
                    tests: facts.tests.clone(),
                    main,
                })
            }
        };
        match step {
            Some(step) => vec![Event::from(step)],
            None => self.send_back(vec!["there is no commit yet".to_owned()]),
        }
    }

    /// Once; the second bad one of a round counts as a rejection.
    pub(super) fn send_back(&self, mut complaints: Vec<String>) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        // They go into the next prompt and into the journal: a reply with thousands of flaws must not fill either.
        complaints.truncate(MOST_COMPLAINTS);
        if round.reports_sent_back == 0 {
            let iteration = round.number;
            return vec![Event::from(MilestoneStep::ReportSentBack { iteration, complaints })];
        }
        self.rejected_by_engine(format!("the report was invalid twice: {}", complaints.join("; ")))
    }

    pub(super) fn rejected_by_engine(&self, reason: String) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        vec![Event::from(MilestoneStep::Rejected {
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
        step.map(Event::from).into_iter().chain(verdict).collect()
    }

    fn verdict_on(&self, reply: &str, void: Option<String>) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        let on = if Work::is_final(round.work.as_ref()) {
            On::Milestone { criteria: self.definition.criteria.len() }
        } else {
            On::Feature
        };
        let asked = match round.verdicts_sent_back {
            0 => Asked::Once,
            _ => Asked::Again,
        };
        match (read(reply, round.given.as_deref(), on), void) {
            // The Acceptor changed what it judged. Its yes is void; its no still counts below.
            (Ok((Verdict::Accepted { .. }, _)) | Err(_), Some(void)) => self.rejected_by_engine(void),
            (Err(complaint), None) => match asked {
                Asked::Once => self.send_verdict_back(complaint),
                Asked::Again => {
                    self.rejected_by_engine(format!("the Acceptor twice gave no verdict: {complaint}"))
                }
            },
            (Ok((Verdict::Accepted { reason }, criteria)), None) => self.accepts(reason, &criteria, asked),
            (Ok((Verdict::Rejected { reason, findings }, criteria)), _) => {
                self.rejects(reason, &findings, &criteria, asked)
            }
        }
    }

    fn send_verdict_back(&self, complaint: String) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        let iteration = round.number;
        vec![Event::from(MilestoneStep::VerdictSentBack { iteration, complaint })]
    }

    /// A yes. One beside a criterion that is not met is none; one that does not name them all is a yes all the same (M5).
    fn accepts(&self, reason: String, criteria: &Criteria, asked: Asked) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        let iteration = round.number;
        let unmet: Vec<&str> = criteria.unmet.iter().map(|(_, found)| found.text.as_str()).collect();
        match asked {
            Asked::Once if !unmet.is_empty() => self.send_verdict_back(format!(
                "the verdict is ACCEPTED, but not every criterion is met ({}): accept only if all are, else reject",
                unmet.join("; ")
            )),
            Asked::Once if !criteria.missing.is_empty() => self.send_verdict_back(criteria.complaint()),
            Asked::Again if !unmet.is_empty() => {
                let found = format!("accepted, though not every criterion is met:\n{}", unmet.join("\n"));
                let reason = if reason.is_empty() { found } else { format!("{found}\n\n{reason}") };
                self.rejects(reason, &criteria.findings(), criteria, asked)
            }
            Asked::Once | Asked::Again => {
                let still_open = self.findings.beside(Work::about(round.work.as_ref()));
                let not_itemised = !criteria.missing.is_empty();
                vec![Event::from(MilestoneStep::Accepted { iteration, reason, still_open, not_itemised })]
            }
        }
    }

    fn rejects(
        &self,
        reason: String,
        found: &[RaisedFinding],
        criteria: &Criteria,
        asked: Asked,
    ) -> Vec<Event> {
        let Some(round) = &self.round else { return Vec::new() };
        let iteration = round.number;
        let (by, open) = (Judge::Acceptor, self.findings.open().to_vec());
        let step = match (self.findings.raise(found, Work::about(round.work.as_ref())), asked) {
            (Raised::OnlySettled(ids), Asked::Once) => {
                let ids: Vec<String> = ids.iter().map(|id| format!("R{id}")).collect();
                return self.send_verdict_back(format!(
                    "the rejection names only what is settled ({}): settled findings stay settled. Say what else is wrong, or accept",
                    ids.join(", ")
                ));
            }
            (Raised::Open(_), Asked::Once) if !criteria.missing.is_empty() => {
                return self.send_verdict_back(criteria.complaint());
            }
            (Raised::OnlySettled(_), Asked::Again) => {
                MilestoneStep::Rejected { iteration, by, reason, findings: open, needs_person: true }
            }
            (Raised::Open(findings), Asked::Once | Asked::Again) => {
                let needs_person = self.rejected_again_and_again();
                MilestoneStep::Rejected { iteration, by, reason, findings, needs_person }
            }
        };
        vec![Event::from(step)]
    }

    /// The whole milestone, at a commit that was rejected often enough before: nobody has changed anything since (M5).
    fn rejected_again_and_again(&self) -> bool {
        let work = self.round.as_ref().and_then(|round| round.work.as_ref());
        match (work, &self.final_rejections) {
            (Some(Work::Everything { commit, .. }), Some((at, times))) => {
                at == commit && times.saturating_add(1) >= MOST_ALIKE
            }
            (Some(_) | None, _) => false,
        }
    }

    /// The branch as people name it.
    pub(super) fn branch_name(&self) -> &str {
        let branch = self.life.workspace.branch.as_deref().unwrap_or("the branch of the milestone");
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
