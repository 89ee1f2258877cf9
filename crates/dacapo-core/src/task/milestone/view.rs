//! A milestone, as shown: its rounds, its features and what is said about them (M8, M10, M11).
//!
//! Where it stands is what the machine says ([`Milestone::progress`]), folded from the same lines. What the machine has no
//! use for any more is kept here: the words of every round.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AtWork, Judge, LastRound, Milestone, MilestonePhase, MilestoneProgress, MilestoneStatus, MilestoneStep,
    feature_id,
};
use crate::engine::KindView;
use crate::event::{CheckBrief, Envelope, Event};
use crate::git::Oid;
use crate::spec::TaskSpec;

/// A milestone: its rounds, features and findings.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MilestoneView {
    /// Its status.
    pub status: MilestoneStatus,
    /// Its phase; null if it is over.
    pub phase: Option<MilestonePhase>,
    /// Who is working at the moment; null if nobody is.
    pub at_work: Option<AtWork>,
    /// The agent that builds.
    pub developer: String,
    /// The agent that judges.
    pub acceptor: String,
    /// The round that is going on, from 1; null if none is.
    pub round: Option<u32>,
    /// How many rounds have ended.
    pub rounds: u32,
    /// The limit on rounds.
    pub max_rounds: u32,
    /// How many rounds were accepted.
    pub iteration_count: u32,
    /// How many of the last rounds were rejected in a row. Rejections of the whole milestone do not count.
    pub consecutive_rejections: u32,
    /// After how many rejections in a row a person is asked.
    pub max_consecutive_rejections: u32,
    /// The heading of its file; null if it has none.
    pub title: Option<String>,
    /// What it is for.
    pub goal: String,
    /// What is to be built.
    pub features: Vec<FeatureView>,
    /// What the Acceptor wants or wanted to be different.
    pub findings: Vec<FindingView>,
    /// The Developer's last report; null if there is none.
    pub last_report: Option<ReportView>,
    /// The last verdict; null if there is none.
    pub last_verdict: Option<VerdictView>,
    /// The Developer's turn is only for putting the tree in order.
    #[serde(skip)]
    pub cleaning: bool,
    /// Every round; not part of a list.
    #[serde(skip)]
    pub history: Vec<RoundView>,
    #[serde(skip)]
    machine: Fold,
}

/// A feature of a milestone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Feature")]
pub struct FeatureView {
    /// `F-1`, `F-2`, …
    pub id: String,
    /// The feature, as the file says it.
    pub text: String,
    /// True if it was accepted, by itself or with the whole milestone.
    pub done: bool,
}

/// A finding of the Acceptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FindingState")]
pub struct FindingView {
    /// `R1`, `R2`, …
    pub id: String,
    /// The finding, in the Acceptor's latest words.
    pub text: String,
    /// True if it is not settled.
    pub open: bool,
    /// The round in which it was found, from 1.
    pub since: u32,
}

/// What the Developer reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Report")]
pub struct ReportView {
    /// The round, from 1.
    pub round: u32,
    /// The feature, in the Developer's words; null if it reported that all are complete.
    pub feature: Option<String>,
    /// The id of the feature; null if it cannot be told which one is meant.
    pub feature_id: Option<String>,
    /// The commit that was reported.
    #[serde(rename = "commit_id")]
    pub commit: Oid,
}

/// How a round was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Verdict")]
pub struct VerdictView {
    /// The round, from 1.
    pub round: u32,
    /// True if it was accepted.
    pub accepted: bool,
    /// Who judged it.
    pub by: JudgedBy,
    /// What was said about it.
    pub reason: String,
    /// The ids of the findings that it names.
    pub findings: Vec<String>,
    /// True if the whole milestone was accepted without a verdict on each criterion.
    #[serde(rename = "criteria_not_itemised", skip_serializing_if = "std::ops::Not::not")]
    pub not_itemised: bool,
}

/// Who judged a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// The Acceptor.
    Acceptor,
    /// Dacapo itself: there was nothing to judge, or no verdict.
    Engine,
    /// A person, who overruled the verdict.
    Person,
}

impl From<Judge> for JudgedBy {
    fn from(judge: Judge) -> Self {
        match judge {
            Judge::Acceptor => JudgedBy::Acceptor,
            Judge::Engine => JudgedBy::Engine,
        }
    }
}

/// One round of a milestone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Round")]
pub struct RoundView {
    /// Its number, from 1.
    pub round: u32,
    /// What was reported; null if nothing was that could be judged.
    pub report: Option<ReportView>,
    /// The verdict; null if the round is going on.
    pub verdict: Option<VerdictView>,
    /// Why reports went back to the Developer before the Acceptor saw them.
    pub reports_sent_back: Vec<String>,
    /// Why verdicts went back to the Acceptor.
    pub verdicts_sent_back: Vec<String>,
    /// What the project's checks came to.
    pub checks: Vec<CheckBrief>,
    /// Whose each turn was, by its number: both may be the same agent.
    #[serde(skip)]
    pub turns: Vec<(u32, AtWork)>,
}

/// The fold that decides. What it says is in the fields for everybody, so two views with the same ones are the same.
#[derive(Debug, Clone)]
struct Fold(Box<Milestone>);

impl PartialEq for Fold {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl MilestoneView {
    /// What a task's kind shows of it, where that is a milestone whose spec reads.
    pub fn of(own: Option<&dyn KindView>) -> Option<&Self> {
        own?.as_any().downcast_ref()
    }

    /// A milestone of which nothing has happened yet; none: its spec does not read.
    pub(super) fn new(spec: &TaskSpec) -> Option<Self> {
        let machine = Milestone::new(Arc::new(spec.clone())).ok()?;
        let agent = |at: usize| spec.agents.get(at).map(|agent| agent.name.clone()).unwrap_or_default();
        let mut view = Self {
            status: MilestoneStatus::InProgress,
            phase: None,
            at_work: None,
            developer: agent(0),
            acceptor: agent(1),
            round: None,
            rounds: 0,
            max_rounds: 0,
            iteration_count: 0,
            consecutive_rejections: 0,
            max_consecutive_rejections: 0,
            title: None,
            goal: String::new(),
            features: Vec::new(),
            findings: Vec::new(),
            last_report: None,
            last_verdict: None,
            cleaning: false,
            history: Vec::new(),
            machine: Fold(Box::new(machine)),
        };
        view.look();
        Some(view)
    }

    pub(super) fn take_in(&mut self, line: &Envelope) {
        use crate::engine::machine::Machine as _;
        self.machine.0.apply(line);
        match &line.event {
            Event::IterationStarted { iteration, .. } => self.history.push(RoundView {
                round: iteration.saturating_add(1),
                report: None,
                verdict: None,
                reports_sent_back: Vec::new(),
                verdicts_sent_back: Vec::new(),
                checks: Vec::new(),
                turns: Vec::new(),
            }),
            Event::TurnStarted { turn, .. } => {
                let at_work = self.machine.0.progress().at_work;
                if let (Some(round), Some(who)) = (self.history.last_mut(), at_work) {
                    round.turns.push((*turn, who));
                }
            }
            Event::CheckFinished(check) => {
                if let Some(round) = self.history.last_mut() {
                    round.checks.push(CheckBrief::from(check));
                }
            }
            Event::ProofStarted { .. } => {
                // Of an earlier try, which did not come to its end or was red for want of a setup, nothing counts.
                if let Some(round) = self.history.last_mut() {
                    round.checks.retain(|check| !check.phase.is_of_proof());
                }
            }
            Event::Own(step) => MilestoneStep::read(step).iter().for_each(|step| self.step(step)),
            _ => {}
        }
        self.look();
        self.judged_by_a_person();
    }

    fn step(&mut self, step: &MilestoneStep) {
        match step {
            MilestoneStep::ReportTaken { iteration, feature, commit, .. } => {
                let feature_id = self.machine.0.progress().feature_at.map(feature_id);
                let (round, commit) = (iteration.saturating_add(1), commit.clone());
                self.reported(ReportView { round, feature: Some(feature.clone()), feature_id, commit });
            }
            MilestoneStep::CompletionTaken { iteration, commit, .. } => {
                let (round, commit) = (iteration.saturating_add(1), commit.clone());
                self.reported(ReportView { round, feature: None, feature_id: None, commit });
            }
            MilestoneStep::ReportSentBack { complaints, .. } => {
                if let Some(round) = self.history.last_mut() {
                    round.reports_sent_back.extend_from_slice(complaints);
                }
            }
            MilestoneStep::VerdictSentBack { complaint, .. } => {
                if let Some(round) = self.history.last_mut() {
                    round.verdicts_sent_back.push(complaint.clone());
                }
            }
            MilestoneStep::Accepted { iteration, reason, not_itemised, .. } => self.judged(VerdictView {
                round: iteration.saturating_add(1),
                accepted: true,
                by: JudgedBy::Acceptor,
                reason: reason.clone(),
                findings: Vec::new(),
                not_itemised: *not_itemised,
            }),
            MilestoneStep::Rejected { iteration, by, reason, findings, .. } => self.judged(VerdictView {
                round: iteration.saturating_add(1),
                accepted: false,
                by: (*by).into(),
                reason: reason.clone(),
                findings: findings.iter().map(|finding| finding_id(finding.id)).collect(),
                not_itemised: false,
            }),
            MilestoneStep::Refrozen { .. } => self.renumbered(),
            MilestoneStep::TreeLookedAt { .. }
            | MilestoneStep::TreeTouched { .. }
            | MilestoneStep::MainMoved { .. }
            | MilestoneStep::TreeKept { .. } => {}
        }
    }

    /// Ids go by place, and the places are others now: what was reported is named by the new ones, or by none.
    fn renumbered(&mut self) {
        let features = &self.machine.0.progress().definition.features;
        let now = |id: &String| {
            let text = &self.features.iter().find(|feature| feature.id == *id)?.text;
            features.iter().position(|feature| feature.text == *text).map(feature_id)
        };
        let reports = self.history.iter_mut().filter_map(|round| round.report.as_mut());
        for report in reports.chain(&mut self.last_report) {
            report.feature_id = report.feature_id.as_ref().and_then(now);
        }
    }

    fn reported(&mut self, report: ReportView) {
        if let Some(round) = self.history.last_mut() {
            round.report = Some(report.clone());
            // Those of an earlier report of the round are of something else.
            round.checks.clear();
        }
        self.last_report = Some(report);
    }

    fn judged(&mut self, verdict: VerdictView) {
        if let Some(round) = self.history.last_mut() {
            round.verdict = Some(verdict.clone());
        }
        self.last_verdict = Some(verdict);
    }

    /// Whoever overrules a verdict does so by a command, which says nothing of the round: the machine does.
    fn judged_by_a_person(&mut self) {
        let Some(LastRound { iteration, accepted, reason }) = self.machine.0.progress().last else { return };
        let Some(last) = &self.last_verdict else { return };
        if last.round != iteration.saturating_add(1) || last.accepted == accepted {
            return;
        }
        let verdict = VerdictView {
            round: last.round,
            accepted,
            by: JudgedBy::Person,
            reason: reason.to_owned(),
            findings: Vec::new(),
            not_itemised: false,
        };
        if let Some(round) = self.history.iter_mut().rfind(|round| round.round == verdict.round) {
            round.verdict = Some(verdict.clone());
        }
        self.last_verdict = Some(verdict);
    }

    /// What the machine says now.
    fn look(&mut self) {
        let MilestoneProgress {
            status,
            phase,
            at_work,
            cleaning,
            round,
            rounds,
            max_rounds,
            accepted,
            rejections,
            max_rejections,
            definition,
            done,
            findings,
            ..
        } = self.machine.0.progress();
        (self.status, self.phase, self.at_work, self.cleaning) = (status, phase, at_work, cleaning);
        (self.round, self.rounds, self.max_rounds) = (round, rounds, max_rounds);
        self.iteration_count = accepted;
        (self.consecutive_rejections, self.max_consecutive_rejections) = (rejections, max_rejections);
        // Told again only where they changed: this is done for every line.
        let shown = self.features.iter().map(|feature| &feature.text);
        if self.goal != definition.goal || !shown.eq(definition.features.iter().map(|feature| &feature.text))
        {
            self.goal.clone_from(&definition.goal);
            self.title.clone_from(&definition.title);
            let features = definition.features.iter().enumerate();
            self.features = features
                .map(|(at, feature)| FeatureView {
                    id: feature_id(at),
                    text: feature.text.clone(),
                    done: false,
                })
                .collect();
        }
        // Who accepts the whole accepts every part of it, also what no round had been about by itself.
        let whole = match status {
            MilestoneStatus::Completed | MilestoneStatus::AwaitingReview => true,
            MilestoneStatus::InProgress | MilestoneStatus::Paused | MilestoneStatus::Abandoned => false,
        };
        for (at, feature) in self.features.iter_mut().enumerate() {
            feature.done = whole || done.get(at).copied().unwrap_or(false);
        }
        for finding in &mut self.findings {
            finding.open = findings.open().iter().any(|open| finding_id(open.id) == finding.id);
        }
        for open in findings.open() {
            let id = finding_id(open.id);
            match self.findings.iter_mut().find(|known| known.id == id) {
                Some(known) => known.text.clone_from(&open.text),
                None => {
                    let since = round.unwrap_or(rounds);
                    self.findings.push(FindingView { id, text: open.text.clone(), open: true, since });
                }
            }
        }
    }

    /// What the machine itself says.
    pub fn progress(&self) -> MilestoneProgress<'_> {
        self.machine.0.progress()
    }

    /// The findings that are not settled.
    pub fn open_findings(&self) -> impl Iterator<Item = &FindingView> {
        self.findings.iter().filter(|finding| finding.open)
    }

    /// The features that were accepted.
    pub fn features_done(&self) -> usize {
        self.features.iter().filter(|feature| feature.done).count()
    }

    /// `F-1 login (4be1d20)`: each feature with the commit that was accepted, or that none was.
    pub fn features_told(&self) -> Vec<String> {
        let told = self.features.iter().map(|FeatureView { id, text, done }| {
            let text = text.lines().next().unwrap_or_default();
            let commit = self.accepted(id).map(|report| report.commit.short());
            match (done, commit) {
                (true, Some(commit)) => format!("{id} {text} ({commit})"),
                (true, None) => format!("{id} {text}"),
                (false, _) => format!("{id} {text} (not accepted)"),
            }
        });
        told.collect()
    }

    /// The newest report of a feature that was accepted.
    pub fn accepted(&self, feature: &str) -> Option<&ReportView> {
        let rounds = self.history.iter().rev();
        let accepted = rounds.filter(|round| round.verdict.as_ref().is_some_and(|verdict| verdict.accepted));
        accepted
            .filter_map(|round| round.report.as_ref())
            .find(|report| report.feature_id.as_deref() == Some(feature))
    }

    /// What it is called: its heading, else the first line of its goal.
    pub fn about(&self) -> &str {
        let title = self.title.as_deref().filter(|title| !title.trim().is_empty());
        title.unwrap_or_else(|| {
            self.goal.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
        })
    }
}

/// `R3`.
fn finding_id(id: u32) -> String {
    format!("R{id}")
}
