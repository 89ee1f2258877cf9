//! The page of a milestone: Developer and Acceptor side by side, what they are to bring, what was said about it.

use dacapo_core::task::milestone::{AtWork, MilestonePhase, MilestoneView, RoundView};
use dacapo_core::view::{Status, TaskView};

use super::{doing, finding, tick};
use crate::messages::Messages;
use crate::present::page::{self, Arrangement, Lines, Page, Pane, Section};
use crate::present::words::{self, BAD, BOLD, WARN, paint};

pub(super) fn page(view: &TaskView, of: &MilestoneView, messages: Messages) -> Page {
    let mut page = page::frame(view, Arrangement::PanesAbove, messages);
    let round = of.round.unwrap_or(of.rounds);
    page.facts = vec![
        messages.milestone_round_short(round, of.max_rounds),
        messages.page_rejections(of.consecutive_rejections, of.max_consecutive_rejections),
    ];
    page.phase = phase(view, of, messages);
    page.steps = view.iterations.iter().map(|record| page::step(record, messages)).collect();
    page.steps.extend(view.running_iteration.map(|iteration| page::running(iteration, view, messages)));
    page.panes = vec![
        pane("Developer", &of.developer, AtWork::Developer, (view, of), messages),
        pane("Acceptor", &of.acceptor, AtWork::Acceptor, (view, of), messages),
    ];
    page.sections = sections(of, messages);
    if let Some(verdict) = of.last_verdict.as_ref().filter(|_| page.decision.is_none()) {
        // Where a person is asked, it is part of the question.
        let lines = Lines::Below(vec![super::verdict(verdict, messages)]);
        page.sections.push(Section { title: messages.page_last_verdict(), lines });
    }
    page
}

/// Who is waited for, in the words of the record; what goes on in between by who has it in hand.
fn phase(view: &TaskView, of: &MilestoneView, messages: Messages) -> Option<String> {
    let phase = of.phase?;
    if view.status == Status::Waiting {
        return Some(words::status(view.status, messages));
    }
    let name = match phase {
        MilestonePhase::Developer => messages.page_waiting_for("Developer"),
        MilestonePhase::Acceptor => messages.page_waiting_for("Acceptor"),
        MilestonePhase::FinalAcceptance => messages.milestone_final_acceptance(),
        MilestonePhase::Paused => messages.milestone_status_paused(),
    };
    let doing = doing(None, of.at_work, messages).filter(|_| view.status == Status::Running);
    Some(match doing {
        Some(doing) => messages.list_facts(&name, &doing),
        None => name,
    })
}

fn pane(
    role: &str,
    agent: &str,
    who: AtWork,
    (view, of): (&TaskView, &MilestoneView),
    messages: Messages,
) -> Pane {
    let own: Vec<u32> = of
        .history
        .iter()
        .flat_map(|round| &round.turns)
        .filter(|(_, whose)| *whose == who)
        .map(|(turn, _)| *turn)
        .collect();
    Pane {
        title: format!("{role} {}", words::line(agent, 30)),
        active: of.at_work == Some(who) && view.status == Status::Running,
        turns: page::turns(
            view,
            |turn| own.contains(&turn),
            |seen| messages.round_number(seen.iteration + 1),
        ),
    }
}

fn sections(of: &MilestoneView, messages: Messages) -> Vec<Section> {
    let open = |round: &RoundView| {
        let verdict = round.verdict.as_ref()?;
        (!verdict.accepted).then(|| verdict.findings.join(" "))
    };
    let features = of.features.iter().map(|feature| {
        format!("{} {} {}", tick(feature.done), paint(BOLD, &feature.id), words::line(&feature.text, 60))
    });
    let rounds = of.history.iter().map(|round| {
        let sign = match &round.verdict {
            Some(verdict) if verdict.accepted => paint(BOLD, "✓"),
            Some(_) => paint(BAD, "✗"),
            None => "…".to_owned(),
        };
        format!("r{} {sign}{}", round.round, open(round).unwrap_or_default())
    });
    let findings = of.open_findings().map(|open| paint(WARN, &finding(open, messages)));
    let mut all =
        vec![Section { title: messages.page_criteria_frozen(), lines: Lines::After(features.collect()) }];
    let findings: Vec<String> = findings.collect();
    if !findings.is_empty() {
        all.push(Section { title: messages.page_findings_open(), lines: Lines::Below(findings) });
    }
    let rounds: Vec<String> = rounds.collect();
    if !rounds.is_empty() {
        all.push(Section { title: messages.page_verdicts(), lines: Lines::After(rounds) });
    }
    all
}
