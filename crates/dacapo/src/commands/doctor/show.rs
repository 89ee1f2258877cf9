//! What people read. Every line can be understood without its colour.

use std::time::Duration;

use unicode_width::UnicodeWidthStr as _;

use crate::agents::is_variable;
use crate::output::log::moment;
use crate::output::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};
use dacapo_app::messages::{Messages, Text};
use dacapo_app::operations::doctor::Subject;
use dacapo_app::operations::doctor::report::{
    AgentReport, BillingReport, Check, CheckState, Kind, Outcome, Probed, Report, State,
};

/// The column that names stand in.
const NAMES: usize = 10;

pub(super) fn agents(subjects: &[Subject], messages: Messages) -> String {
    let width = subjects.iter().map(|subject| subject.report.name.len()).max().unwrap_or(0).clamp(NAMES, 30);
    let mut lines = vec![paint(BOLD, &messages.doctor_agents())];
    for Subject { report, .. } in subjects {
        let mut told = facts(report, messages);
        let first = if told.is_empty() { String::new() } else { told.remove(0) };
        lines.push(format!("{} {:<width$}  {first}", sign(report), report.name));
        lines.extend(told.iter().map(|line| format!("  {:width$}  {line}", "")));
        if let Some(hint) = report.hint.as_ref().filter(|_| report.state != State::Ready) {
            lines.push(format!("  {:width$}  {}", "", to_do(hint, messages)));
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

fn line(text: &Text, messages: Messages) -> String {
    words::line(&messages.with_short_paths(text.in_words(messages)), words::WHOLE)
}

fn to_do(hint: &Text, messages: Messages) -> String {
    format!("{}{}", paint(DIM, &messages.doctor_label_do()), line(hint, messages))
}

/// What is looked at, in words; git and root are called so everywhere.
fn name(name: &str, messages: Messages) -> String {
    match name {
        "data" => messages.doctor_name_data(),
        "disk" => messages.doctor_name_disk(),
        "locks" => messages.doctor_name_locks(),
        "config" => messages.doctor_name_config(),
        "trust" => messages.doctor_name_trust(),
        "awake" => messages.doctor_name_awake(),
        other => other.to_owned(),
    }
}

/// Lines, the most important first.
fn facts(report: &AgentReport, messages: Messages) -> Vec<String> {
    let mut first: Vec<String> = report.version.iter().cloned().collect();
    match (report.kind, report.state) {
        (Kind::Rehearsal, State::Ready) => first.push(messages.doctor_scripted()),
        (Kind::Rehearsal, _) => first.push(messages.doctor_scripted_without_script()),
        _ => first.extend(report.problem.iter().map(|problem| line(problem, messages))),
    }
    // What is not there is logged in nowhere, whatever an earlier installation has left.
    if report.state != State::NotFound {
        first.extend(report.logged_in.filter(|logged_in| *logged_in).map(|_| messages.doctor_logged_in()));
        first.extend((report.billing == BillingReport::Subscription).then(|| messages.doctor_subscription()));
    }
    if first.is_empty() {
        let ready = report.state == State::Ready;
        first.push(if ready { messages.doctor_found() } else { messages.doctor_not_usable() });
    }
    let mut lines = vec![first.join(" · ")];
    if report.state == State::NotFound {
        return lines;
    }
    if let BillingReport::ApiKey { from } = &report.billing {
        lines.push(billed(from, messages));
    }
    lines.extend(report.base_url.iter().map(|url| messages.doctor_calls_go_to(&words::line(url, 200))));
    lines.extend(report.limit.iter().map(|limit| {
        let message = words::line(&limit.message, 100);
        let text = messages.doctor_limited(&moment(limit.until), &limit.found_by, &message);
        paint(WARN, &text)
    }));
    lines.extend(report.path.iter().map(|path| paint(DIM, path)));
    let native = report.native_program.iter();
    lines.extend(native.map(|path| paint(DIM, &messages.doctor_runs_directly(path))));
    lines
}

fn billed(from: &str, messages: Messages) -> String {
    if is_variable(from) {
        messages.doctor_billed_to_variable(from)
    } else {
        messages.doctor_billed_to_key(&words::line(from, 200))
    }
}

pub(super) fn machine(checks: &[Check], messages: Messages) -> String {
    let mut lines = vec![paint(BOLD, &messages.doctor_machine())];
    for check in checks {
        let sign = match check.state {
            CheckState::Good => paint(GOOD, "✓"),
            CheckState::Note => paint(WARN, "○"),
            CheckState::Bad => paint(BAD, "✗"),
        };
        let detail = messages.with_short_paths(check.detail.in_words(messages));
        let mut told = detail.lines();
        let first = words::line(told.next().unwrap_or_default(), words::WHOLE);
        let name = name(check.name, messages);
        lines.push(format!("{sign} {name}{:1$}  {first}", "", NAMES.saturating_sub(name.width())));
        lines.extend(told.map(|line| format!("  {:NAMES$}  {}", "", words::line(line, words::WHOLE))));
        let hint = check.hint.iter();
        lines.extend(hint.map(|hint| format!("  {:NAMES$}  {}", "", to_do(hint, messages))));
    }
    lines.join("\n")
}

pub(super) fn before_probes(names: &[&str], messages: Messages) -> String {
    if names.is_empty() {
        return messages.doctor_no_probe();
    }
    let turns = messages.doctor_probes(names.len() as u64, &names.join(", "));
    format!("{} {turns}", paint(BOLD, &messages.doctor_probe()))
}

pub(super) fn probe(name: &str, probed: &Probed, messages: Messages) -> String {
    let (sign, word) = match probed.outcome {
        Outcome::Done => (paint(GOOD, "✓"), messages.doctor_answered()),
        Outcome::Limit => (paint(WARN, "○"), messages.doctor_at_limit()),
        Outcome::Failed => (paint(BAD, "✗"), messages.doctor_failed()),
        Outcome::Refused => (paint(BAD, "✗"), messages.doctor_cannot_work()),
        Outcome::Cancelled => (paint(WARN, "○"), messages.doctor_cancelled()),
    };
    let mut told = vec![word];
    if !probed.reply.is_empty() {
        told.push(format!("{:?}", words::line(&probed.reply, 40)));
    }
    told.push(words::duration(Duration::from_secs_f64(probed.seconds.max(0.0))));
    let used = probed.tokens.input + probed.tokens.output;
    if used > 0 {
        told.push(words::tokens(used));
    }
    told.extend(probed.cost_usd.map(words::money));
    let why = probed.message.iter().map(|message| {
        format!("\n  {:NAMES$}  {}", "", words::line(message.in_words(messages), words::WHOLE))
    });
    format!("{sign} {name:<NAMES$}  {}{}", told.join(" · "), why.collect::<String>())
}

pub(super) fn verdict(report: &Report, messages: Messages) -> String {
    if !report.ok {
        let bad = report.machine.iter().any(|check| check.state == CheckState::Bad);
        let what = if bad { messages.doctor_no_task_can_run() } else { messages.doctor_no_agent_usable() };
        return format!("\n{}", messages.clauses(&paint(BAD, &what), &messages.doctor_demo_works()));
    }
    let ready = paint(GOOD, &messages.doctor_ready());
    let probed = report.agents.iter().any(|agent| agent.probe.is_some());
    let more = messages.doctor_probe_tries_them();
    format!("\n{}", if probed { ready } else { messages.clauses(&ready, &more) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a4_a_key_is_named_by_its_holder() {
        let variable = billed("ANTHROPIC_API_KEY", Messages::ENGLISH);
        assert_eq!(variable, "ANTHROPIC_API_KEY is set: turns are billed to it, not to a subscription");
        let place = billed("~/.codex/auth.json", Messages::ENGLISH);
        assert_eq!(place, "turns are billed to the API key in ~/.codex/auth.json");
    }

    #[test]
    fn a4_it_is_said_before_that_probes_cost_something() {
        let text = before_probes(&["claude", "codex"], Messages::ENGLISH);
        assert!(text.contains("2 short, real turns (claude, codex); this costs a little"), "{text}");
        assert!(before_probes(&[], Messages::ENGLISH).contains("no agent is ready"));
    }
}
