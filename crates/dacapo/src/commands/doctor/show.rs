//! What people read. Every line can be understood without its colour.

use std::time::Duration;

use crate::agents::is_variable;
use crate::output::log::clock;
use crate::output::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};
use dacapo_app::operations::doctor::Subject;
use dacapo_app::operations::doctor::report::{
    AgentReport, BillingReport, Check, CheckState, Kind, Outcome, Probed, Report, State,
};

/// The column that names stand in.
const NAMES: usize = 10;

pub(super) fn agents(subjects: &[Subject]) -> String {
    let width = subjects.iter().map(|subject| subject.report.name.len()).max().unwrap_or(0).clamp(NAMES, 30);
    let mut lines = vec![paint(BOLD, "agents")];
    for Subject { report, .. } in subjects {
        let mut told = facts(report);
        let first = if told.is_empty() { String::new() } else { told.remove(0) };
        lines.push(format!("{} {:<width$}  {first}", sign(report), report.name));
        lines.extend(told.iter().map(|line| format!("  {:width$}  {line}", "")));
        if let Some(hint) = report.hint.as_ref().filter(|_| report.state != State::Ready) {
            lines.push(format!("  {:width$}  {} {}", "", paint(DIM, "do:"), words::line(hint, words::WHOLE)));
        }
    }
    lines.join("\n")
}

fn sign(report: &AgentReport) -> String {
    match report.state {
        State::Ready if report.kind == Kind::Rehearsal => paint(DIM, "○"),
        State::Ready if report.problem.is_some() => paint(WARN, "○"),
        State::Ready => paint(GOOD, "✓"),
        State::NotFound => paint(DIM, "–"),
        State::NotLoggedIn | State::Unusable => paint(BAD, "✗"),
    }
}

/// Lines, the most important first.
fn facts(report: &AgentReport) -> Vec<String> {
    let mut first: Vec<String> = report.version.iter().cloned().collect();
    match (report.kind, report.state) {
        (Kind::Rehearsal, State::Ready) => first.push("scripted, costs nothing".into()),
        (Kind::Rehearsal, _) => first.push("scripted, costs nothing; there is no script here".into()),
        _ => first.extend(report.problem.as_deref().map(|problem| words::line(problem, words::WHOLE))),
    }
    // What is not there is logged in nowhere, whatever an earlier installation has left.
    if report.state != State::NotFound {
        first.extend(report.logged_in.filter(|logged_in| *logged_in).map(|_| "logged in".to_owned()));
        first.extend((report.billing == BillingReport::Subscription).then(|| "subscription".to_owned()));
    }
    if first.is_empty() {
        first.push(if report.state == State::Ready { "found".into() } else { "not usable".to_owned() });
    }
    let mut lines = vec![first.join(" · ")];
    if report.state == State::NotFound {
        return lines;
    }
    if let BillingReport::ApiKey { from } = &report.billing {
        lines.push(billed(from));
    }
    lines.extend(report.base_url.iter().map(|url| format!("model calls go to {}", words::line(url, 200))));
    lines.extend(report.limit.iter().map(|limit| {
        let message = words::line(&limit.message, 100);
        let text =
            format!("limited until {}, found by task {}: {message}", clock(limit.until), limit.found_by);
        paint(WARN, &text)
    }));
    lines.extend(report.path.iter().map(|path| paint(DIM, path)));
    let native = report.native_program.iter();
    lines.extend(native.map(|path| paint(DIM, &format!("runs {path} without the program that starts it"))));
    lines
}

fn billed(from: &str) -> String {
    if is_variable(from) {
        format!("{from} is set: turns are billed to it, not to a subscription")
    } else {
        format!("turns are billed to the API key in {}", words::line(from, 200))
    }
}

pub(super) fn machine(checks: &[Check]) -> String {
    let mut lines = vec![paint(BOLD, "machine")];
    for check in checks {
        let sign = match check.state {
            CheckState::Good => paint(GOOD, "✓"),
            CheckState::Note => paint(WARN, "○"),
            CheckState::Bad => paint(BAD, "✗"),
        };
        let mut told = check.detail.lines();
        let first = words::line(told.next().unwrap_or_default(), words::WHOLE);
        lines.push(format!("{sign} {:<NAMES$}  {first}", check.name));
        lines.extend(told.map(|line| format!("  {:NAMES$}  {}", "", words::line(line, words::WHOLE))));
        lines.extend(check.hint.iter().map(|hint| format!("  {:NAMES$}  {} {hint}", "", paint(DIM, "do:"))));
    }
    lines.join("\n")
}

pub(super) fn before_probes(names: &[&str]) -> String {
    if names.is_empty() {
        return "no agent is ready for a test turn".to_owned();
    }
    let turns = words::count(names.len() as u64, "short, real turn");
    format!("{} {turns} ({}); this costs a little", paint(BOLD, "probe"), names.join(", "))
}

pub(super) fn probe(name: &str, probed: &Probed) -> String {
    let (sign, word) = match probed.outcome {
        Outcome::Done => (paint(GOOD, "✓"), "answered"),
        Outcome::Limit => (paint(WARN, "○"), "at its usage limit"),
        Outcome::Failed => (paint(BAD, "✗"), "failed"),
        Outcome::Refused => (paint(BAD, "✗"), "cannot work"),
        Outcome::Cancelled => (paint(WARN, "○"), "cancelled"),
    };
    let mut told = vec![word.to_owned()];
    if !probed.reply.is_empty() {
        told.push(format!("{:?}", words::line(&probed.reply, 40)));
    }
    told.push(words::duration(Duration::from_secs_f64(probed.seconds.max(0.0))));
    let used = probed.tokens.input + probed.tokens.output;
    if used > 0 {
        told.push(words::tokens(used));
    }
    told.extend(probed.cost_usd.map(words::money));
    let why = probed
        .message
        .iter()
        .map(|message| format!("\n  {:NAMES$}  {}", "", words::line(message, words::WHOLE)));
    format!("{sign} {name:<NAMES$}  {}{}", told.join(" · "), why.collect::<String>())
}

pub(super) fn verdict(report: &Report) -> String {
    if !report.ok {
        let bad = report.machine.iter().any(|check| check.state == CheckState::Bad);
        let what = if bad { "no task can run here yet" } else { "no agent can be used yet" };
        return format!("\n{}; dacapo demo works without any", paint(BAD, what));
    }
    let probed = report.agents.iter().any(|agent| agent.probe.is_some());
    let more = if probed { "" } else { "; dacapo doctor --probe tries them with a short, real turn each" };
    format!("\n{}{more}", paint(GOOD, "ready"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a4_a_key_is_named_by_its_holder() {
        let variable = billed("ANTHROPIC_API_KEY");
        assert_eq!(variable, "ANTHROPIC_API_KEY is set: turns are billed to it, not to a subscription");
        assert_eq!(billed("~/.codex/auth.json"), "turns are billed to the API key in ~/.codex/auth.json");
    }

    #[test]
    fn a4_it_is_said_before_that_probes_cost_something() {
        let text = before_probes(&["claude", "codex"]);
        assert!(text.contains("2 short, real turns (claude, codex); this costs a little"), "{text}");
        assert!(before_probes(&[]).contains("no agent is ready"));
    }
}
