//! `dacapo milestone show`: what it is to bring, what both sides said, what a person can do.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_app::messages::{Messages, Text, say};
use dacapo_app::operations::milestone;
use dacapo_app::present::milestone::waits_for;
use dacapo_app::present::next::{self, Next};
use dacapo_core::event::CheckPhase;
use dacapo_core::task::milestone::{Definition, criterion_id, feature_id};
use dacapo_core::task::milestone::{MilestonePhase, MilestoneView};

use super::told;
use crate::args::milestone::ShowMilestone;
use crate::commands::Console;
use crate::commands::pad;
use crate::error::Failure;
use crate::milestones::{Entry, MilestoneTask, Round, Statement, Story};
use crate::output;
use crate::output::needs::question;
use crate::output::words::{self, BOLD, DIM, WARN, paint};

/// Of older rounds only the verdict is shown, unless all of it is asked for.
const MOST_ROUNDS: usize = 5;
/// Columns of what stands in front of a line of a round.
const LABEL: usize = 9;
/// A longer reply is in the log.
const MOST_LINES: usize = 60;

pub(super) fn run(app: &Console, args: &ShowMilestone) -> Result<u8, Failure> {
    let (repo, _, entry) = milestone::which::entry(app, &args.milestone)?;
    super::clear_up(app, &repo, &entry);
    let story = match entry.task() {
        Some(told) => {
            let messages = if args.json { Messages::ENGLISH } else { app.messages };
            Story::of(told, messages).map_err(|error| {
                Failure::failed(say(|m| m.milestones_story_unreadable(&entry.name, error.in_words(m))))
            })?
        }
        None => Story::default(),
    };
    let next = told::next(&entry);
    if args.json {
        app.print(&told::whole(&entry, &story, &next).line());
    } else {
        let most = if args.all { usize::MAX } else { MOST_ROUNDS };
        app.print(&page(&entry, &story, &next, most, app.messages));
    }
    Ok(0)
}

fn page(entry: &Entry, story: &Story, next: &[(Text, Text)], most: usize, messages: Messages) -> String {
    let label = |text: String| pad(&text, 8);
    let mut out = String::new();
    let _ = writeln!(out, "{}", head(entry, messages));
    if let Some(title) = entry.definition().and_then(|definition| definition.title.as_ref()) {
        let _ = writeln!(out, "  {}", words::line(title, words::WHOLE));
    }
    if let Some(needs) = entry.task().and_then(|told| told.view.needs.as_ref()) {
        let _ = writeln!(
            out,
            "  {}",
            paint(
                WARN,
                &format!(
                    "{}{}",
                    label(messages.page_label_needs()),
                    words::line(&question(&needs.kind, messages), words::WHOLE)
                )
            )
        );
    }
    for problem in entry.problems() {
        let _ = writeln!(
            out,
            "  {}",
            paint(
                WARN,
                &format!(
                    "{}{}",
                    label(messages.page_label_note()),
                    words::line(problem.in_words(messages), words::WHOLE)
                )
            )
        );
    }
    if let Some(written) = &entry.written {
        let _ = writeln!(
            out,
            "  {}{}",
            label(messages.page_label_file()),
            words::line(&messages.path(&written.path), words::WHOLE)
        );
    }
    if let Some(definition) = entry.definition() {
        let hash = definition.frozen();
        let held = match entry.task() {
            Some(_) => messages.page_judged_by_frozen(&hash),
            None => messages.page_frozen_at_start(&hash),
        };
        let _ = writeln!(out, "  {}{held}", label(messages.page_label_hash()));
        brings(&mut out, definition, entry.task(), messages);
    }
    findings(&mut out, entry.task(), messages);
    if let Some(told) = entry.task() {
        rounds(&mut out, story, told, most, messages);
    }
    if !next.is_empty() {
        let all: Vec<Next> = next
            .iter()
            .map(|(command, what)| {
                let command = messages.with_short_paths(command.in_words(messages));
                Next::new(command, what.in_words(messages).to_owned())
            })
            .collect();
        let _ = write!(out, "\n{}", next::block(&all, messages));
    }
    out.trim_end().to_owned()
}

/// `login · paused · round 3 of 20 · 1 of 3 features · claude builds, codex judges · 9k tok · $0.42`
fn head(entry: &Entry, messages: Messages) -> String {
    let mut facts = vec![paint(BOLD, &words::line(&entry.name, 80)), told::status(entry, messages)];
    if let Some(phase) = entry.task().and_then(|told| told.progress().phase)
        && phase != MilestonePhase::Paused
    {
        facts.push(waits_for(phase, messages));
    }
    facts.extend(told::rounds(entry).map(|(at, of)| match of {
        Some(of) => messages.milestones_round_of(at, of),
        None => messages.rounds(u64::from(at)),
    }));
    facts.extend(told::features(entry).and_then(|(done, total)| {
        let done = done?;
        Some(messages.page_features_of(done, &messages.features(total as u64)))
    }));
    let (developer, acceptor) = told::agents(entry);
    facts.extend(developer.map(|agent| messages.page_builds(&words::line(&agent, 40))));
    facts.extend(acceptor.map(|agent| messages.page_judges(&words::line(&agent, 40))));
    if let Some(told) = entry.task() {
        let used = told.view.tokens.input + told.view.tokens.output;
        facts.extend((used > 0).then(|| words::tokens(used)));
    }
    facts.extend(told::cost(entry).map(words::money));
    facts.join(" · ")
}

fn brings(out: &mut String, definition: &Definition, told: Option<&MilestoneTask>, messages: Messages) {
    let heading = |out: &mut String, name: String| {
        let _ = writeln!(out, "\n{}", paint(BOLD, &name));
    };
    heading(out, messages.page_goal());
    block(out, "  ", &definition.goal);
    heading(out, messages.page_features());
    let done =
        |at: usize| told.and_then(|told| told.milestone.features.get(at)).is_some_and(|feature| feature.done);
    for (at, feature) in definition.features.iter().enumerate() {
        let tick = output::milestone::tick(done(at));
        item(out, &format!("{tick} {}", feature_id(at)), &feature.text);
        if let Some(accept) = &feature.accept {
            block(out, "        ", &messages.page_accept(accept));
        }
    }
    heading(out, messages.page_criteria());
    for (at, criterion) in definition.criteria.iter().enumerate() {
        item(out, &format!("  {}", criterion_id(at)), criterion);
    }
    if !definition.constraints.is_empty() {
        heading(out, messages.page_constraints());
        block(out, "  ", &definition.constraints);
    }
    if !definition.others.is_empty() {
        heading(out, messages.page_others());
        block(out, "  ", &definition.others);
    }
}

fn item(out: &mut String, mark: &str, text: &str) {
    let mut lines = text.lines();
    let _ = writeln!(out, "  {mark} {}", words::line(lines.next().unwrap_or_default(), words::WHOLE));
    block(out, "        ", &lines.collect::<Vec<_>>().join("\n"));
}

/// Lines of any text, which cannot drive the terminal.
fn block(out: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        let lead = line.len() - line.trim_start_matches(' ').len();
        let line = format!("{indent}{:lead$}{}", "", words::line(line, words::WHOLE), lead = lead.min(40));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn findings(out: &mut String, told: Option<&MilestoneTask>, messages: Messages) {
    let Some(progress) = told.map(MilestoneTask::progress) else { return };
    let (open, settled) = (progress.findings.open(), progress.findings.settled());
    if open.is_empty() && settled.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint(BOLD, &messages.page_findings()));
    for (word, style, findings) in
        [(messages.page_open(), WARN, open), (messages.page_settled(), DIM, settled)]
    {
        for finding in findings {
            let id = format!("R{}", finding.id);
            let text = words::line(&finding.text, words::WHOLE);
            let _ = writeln!(out, "  {} {id:<4} {text}", paint(style, &pad(&word, 8)));
        }
    }
}

fn rounds(out: &mut String, story: &Story, told: &MilestoneTask, most: usize, messages: Messages) {
    let name = told.spec.name.as_str();
    story.before.iter().for_each(|said| speech(out, said, name, messages));
    let older = story.rounds.len().saturating_sub(most);
    for (at, round) in story.rounds.iter().enumerate() {
        if at == older && older > 0 {
            let note = match older {
                1 => messages.page_round_left_out(name),
                _ => messages.page_rounds_left_out(older, name),
            };
            let _ = writeln!(out, "\n{}", paint(DIM, &note));
        }
        let _ = writeln!(out, "\n{}", title(round, messages));
        if at < older {
            verdict(out, round, &told.milestone, messages);
            continue;
        }
        // As it happened: the checks before the Acceptor, the verdict before what people said about it.
        for nth in 0..=round.said.len() {
            if nth == round.checked_after {
                checks(out, round, messages);
            }
            if nth == round.decided_after() {
                verdict(out, round, &told.milestone, messages);
            }
            if let Some(said) = round.said.get(nth) {
                speech(out, said, name, messages);
            }
        }
    }
}

fn checks(out: &mut String, round: &Round, messages: Messages) {
    for check in &round.seen.checks {
        let sign = words::checked_sign(check.passed, check.phase);
        let what = match check.phase {
            CheckPhase::Baseline | CheckPhase::Iteration => messages.page_label_check(),
            CheckPhase::Proof | CheckPhase::Originals | CheckPhase::HeldOut => messages.label_proof(),
        };
        let command = words::line(&check.command, 200);
        let _ = writeln!(
            out,
            "  {} {sign} {command} {}",
            pad(&what, LABEL),
            words::exit(&check.ending, messages)
        );
    }
}

fn title(round: &Round, messages: Messages) -> String {
    let mut facts = vec![paint(BOLD, &messages.page_round(round.seen.round))];
    if let Some(report) = &round.seen.report {
        let final_one = || messages.page_final_acceptance();
        facts.push(report.feature.as_ref().map_or_else(final_one, |feature| words::line(feature, 100)));
        facts.push(report.commit.short().to_owned());
    }
    facts.extend(round.duration_ms.map(|took| words::duration(Duration::from_millis(took))));
    facts.extend(round.cost_usd.map(words::money));
    facts.join(" · ")
}

fn verdict(out: &mut String, round: &Round, milestone: &MilestoneView, messages: Messages) {
    let Some(verdict) = &round.seen.verdict else { return };
    let sign = output::milestone::verdict_sign(verdict.accepted);
    let _ = writeln!(
        out,
        "  {} {sign} {}",
        pad(&messages.page_label_verdict(), LABEL),
        output::milestone::verdict(verdict, messages)
    );
    for finding in milestone.findings.iter().filter(|finding| verdict.findings.contains(&finding.id)) {
        let _ = writeln!(out, "            {} {}", finding.id, words::line(&finding.text, words::WHOLE));
    }
    if let Some(criteria) = output::milestone::criteria(verdict, messages) {
        let _ = writeln!(out, "  {} {criteria}", pad(&messages.page_label_criteria(), LABEL));
    }
}

fn speech(out: &mut String, said: &Statement, name: &str, messages: Messages) {
    let _ = writeln!(out, "  {}", paint(BOLD, &told::speaker(said.who, messages)));
    let lines: Vec<&str> = said.text.trim().lines().collect();
    block(out, "    ", &lines[..lines.len().min(MOST_LINES)].join("\n"));
    if lines.len() > MOST_LINES {
        let at = said.turn.map_or_else(String::new, |turn| messages.page_logs_turn(name, turn));
        let more = messages.page_more_lines(lines.len() - MOST_LINES, &at);
        let _ = writeln!(out, "    {}", paint(DIM, &more));
    }
}
