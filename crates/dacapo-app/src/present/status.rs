//! `dacapo status`: what is proven, what needs a person, what it cost, what to type next.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use dacapo_core::event::{CheckPhase, CheckResult, IterationRecord, NeedKind};
use dacapo_core::git::Oid;
use dacapo_core::store::PORTS;
use dacapo_core::view::{Status, TaskView};

use super::act::{ActArgument, ActCommand, NextAct};
use super::next::{self, Next};
use super::words::{self, BAD, BOLD, DIM, WARN, paint};
use super::{faults, kind_words};
use super::{needs, notices, report, untracked};
use crate::messages::Messages;

/// Of a long loop the newest iterations are shown.
const MOST_ITERATIONS: usize = 10;

/// At most this many problems of a damaged record are shown.
const MOST_FAULTS: usize = 5;

/// Everything about a task, without a line break at its end; beside its journal what it occupies on disk, and what a
/// process that is gone said last.
pub fn status(
    view: &TaskView,
    occupies: Option<u64>,
    last_words: Option<&str>,
    messages: Messages,
) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", head(view, messages));
    asks(&mut out, view, messages);
    record(&mut out, view, messages);
    for line in last_words.unwrap_or_default().lines() {
        let _ = writeln!(out, "          {}", words::line(line, words::WHOLE));
    }
    let label = |label: String| words::padded(&label, 8);
    let pid = view.pid.map_or_else(String::new, |pid| format!(" · {}", messages.status_process(pid)));
    let own = kind_words::of(&view.kind);
    match own.and_then(|own| own.asked(view, &pid, messages)) {
        Some(asked) => out.push_str(&asked),
        None => {
            let _ = writeln!(out, "  {}{}", label(messages.label_task()), words::line(&view.prompt, 100));
            let _ = writeln!(out, "  {}{}{pid}", label(messages.label_agent()), view.agent);
        }
    }
    match &view.merged {
        // Worktree and branch went with the merge.
        Some(merged) => {
            let into = words::branch(&merged.into);
            let text = messages.status_merged_as(into, merged.commit.short());
            let _ = writeln!(out, "  {}{text}", label(messages.label_merged()));
        }
        None => {
            let _ = writeln!(out, "  {}{}", label(messages.label_where()), place(view, occupies, messages));
        }
    }
    out.push_str(&own.map(|own| own.status_lines(view, messages)).unwrap_or_default());
    limits(&mut out, view, messages);
    for text in &view.guidance {
        let text = messages.status_every_iteration(&words::line(text, 100));
        let _ = writeln!(out, "  {}{text}", label(messages.label_told()));
    }
    for check in view.baseline() {
        let _ = writeln!(out, "  {}{}", label(messages.label_before()), check_line(check, messages));
    }
    let skipped = view.iterations.len().saturating_sub(MOST_ITERATIONS);
    if skipped > 0 {
        let skipped = report::unit(view).count(skipped as u64, messages);
        let more = messages.status_earlier(&skipped, &view.name);
        let _ = writeln!(out, "{}", paint(DIM, &format!("  {more}")));
    }
    for record in &view.iterations[skipped..] {
        match own.and_then(|own| own.round(view, record, messages)) {
            Some(round) => out.push_str(&round),
            None => iteration(&mut out, view, record, messages),
        }
    }
    for notice in view.notices.iter().rev().take(10).rev() {
        let text = words::line(&notices::told(notice, &view.name, messages), words::WHOLE);
        let _ = writeln!(out, "  {}{text}", messages.label_note());
    }
    if view.result.is_none() {
        for text in untracked::summary(view, messages) {
            let _ = writeln!(out, "  {}{}", messages.label_note(), words::line(&text, words::WHOLE));
        }
    }
    match &view.result {
        // What it asks stands at the top.
        Some(ended) if own.is_some() || view.needs.is_some() => {
            out.push_str(&report::came_to(view, ended, messages));
        }
        Some(ended) => out.push_str(&report::result(view, ended, messages)),
        None => {
            out.push_str(next::block(&next(view, messages), messages).trim_end());
        }
    }
    out
}

/// `auth · running · iteration 5 of 10 · 9m · 184k tok · $1.20`; of what has ended the result says the rest.
fn head(view: &TaskView, messages: Messages) -> String {
    let unit = report::unit(view);
    let (done, more) = match kind_words::of(&view.kind).and_then(|own| own.at(view, messages)) {
        Some(own) => own,
        None => {
            let of = view.max_iterations.map_or_else(String::new, |max| messages.status_of(max));
            let count = unit.count(u64::from(view.iteration), messages);
            (messages.status_done(&count, &of), Vec::new())
        }
    };
    let at = match view.running_iteration {
        Some(iteration) if view.status == Status::Running => {
            unit.nth_of(iteration + 1, view.max_iterations, messages)
        }
        _ => done,
    };
    let mut facts = vec![paint(BOLD, &view.name), words::status(view.status, messages), at];
    facts.extend(more);
    if view.result.is_none() {
        if view.elapsed_seconds >= 1.0 {
            facts.push(words::duration(Duration::from_secs_f64(view.elapsed_seconds)));
        }
        let used = view.tokens.input + view.tokens.output;
        facts.extend((used > 0).then(|| words::tokens(used)));
        facts.extend(view.cost_usd.map(words::money));
    }
    facts.join(" · ")
}

/// Why it does not go on by itself, or not yet.
fn asks(out: &mut String, view: &TaskView, messages: Messages) {
    let mut line = |text: &str| {
        let _ = writeln!(out, "  {}", paint(WARN, text));
    };
    match view.status {
        Status::Paused | Status::Running => {
            let answers = report::answers(view, messages);
            if let Some(needs) = &view.needs {
                let question = words::line(&needs::question(&needs.kind, messages), words::WHOLE);
                line(&format!("{}{question}", words::padded(&messages.label_needs(), 8)));
                if view.status == Status::Paused && !answers.is_empty() {
                    out.push_str(&answers);
                    return;
                }
                // What can be typed stands at the end.
                if report::is_blocked(view) || matches!(needs.kind, NeedKind::Resume { .. }) {
                    return;
                }
                for (at, option) in needs::commands(needs, &view.name, messages).iter().enumerate() {
                    line(&format!("        {}: {}", at + 1, words::line(option, words::WHOLE)));
                }
            }
        }
        Status::Waiting => {
            line(&match view.waiting_until {
                Some(at) => messages.status_waiting_until(&super::log::moment(at), &view.agent),
                None => messages.status_waiting_for_other(&view.agent),
            });
        }
        Status::Queued => line(&messages.status_queued()),
        Status::Interrupted => line(&messages.status_interrupted()),
        Status::Completed | Status::Stopped | Status::Failed | Status::Cancelled => {}
    }
}

/// How long a loop may go on; a milestone's are with its rounds.
fn limits(out: &mut String, view: &TaskView, messages: Messages) {
    if kind_words::of(&view.kind).is_some() || !view.looping {
        return;
    }
    let iterations = view.max_iterations.map(|most| messages.iterations(u64::from(most)));
    let limits = words::limits(&view.policy, iterations, messages);
    if !limits.is_empty() {
        let _ = writeln!(
            out,
            "  {}{}",
            words::padded(&messages.label_limits(), 8),
            limits.join(&messages.comma())
        );
    }
}

/// Why its record cannot be relied on.
fn record(out: &mut String, view: &TaskView, messages: Messages) {
    for (nth, fault) in view.record.faults().iter().take(MOST_FAULTS).enumerate() {
        let label = if nth == 0 { messages.label_record() } else { String::new() };
        let _ = writeln!(out, "  {}", paint(WARN, &format!("{} {fault}", words::padded(&label, 7))));
    }
    let more = view.record.faults().len().saturating_sub(MOST_FAULTS) as u64 + view.record.unlisted();
    if more > 0 {
        let _ = writeln!(out, "          {}", messages.more_below(more));
    }
    if !view.record.is_whole() {
        let says = match view.record.doubts_spec() {
            true => messages.status_spec_not_believed(),
            false => messages.status_record_not_whole(),
        };
        let _ = writeln!(out, "          {says}");
    }
}

fn place(view: &TaskView, occupies: Option<u64>, messages: Messages) -> String {
    let (detached, none) = (messages.status_detached(), messages.status_no_commit());
    let branch = view.branch.as_deref().map_or(detached.as_str(), words::branch);
    let base = view.base_commit.as_ref().map_or(none.as_str(), |oid| oid.short());
    let mut facts = vec![messages.path(Path::new(view.worktree.as_ref().unwrap_or(&view.repo)))];
    facts.push(messages.status_branch_from(branch, base));
    let is_leased = matches!(view.status, Status::Running | Status::Waiting | Status::Queued);
    let ports = view.port_base.filter(|_| is_leased);
    facts.extend(ports.map(|base| messages.status_ports(base, base + (PORTS - 1))));
    facts.extend(occupies.map(|bytes| messages.list_on_disk(&words::bytes(bytes))));
    facts.join(" · ")
}

fn iteration(out: &mut String, view: &TaskView, record: &IterationRecord, messages: Messages) {
    let sign = words::iteration_sign(record);
    let commit = words::commit(record, messages);
    let took = words::duration(Duration::from_millis(record.duration_ms));
    let _ = writeln!(
        out,
        "  {:<7} {sign} {commit}  {}  {} {took}",
        format!("{} (iter-{})", record.iteration + 1, record.iteration),
        words::line(&record.summary, 60),
        messages.files(u64::from(record.changed_total)),
    );
    let error = faults::all(&record.faults, messages);
    if let Some(error) = &error {
        let _ = writeln!(out, "            {}", paint(BAD, &words::line(error, words::WHOLE)));
    }
    let is_newest = record.iteration + 1 == view.iteration && view.result.is_none();
    let said = record.stderr_tail.as_deref().filter(|_| is_newest);
    for line in words::stderr(said, error.as_deref(), &view.name, messages) {
        let _ = writeln!(out, "            {}", paint(DIM, &line));
    }
    for check in view.checks.iter().filter(|check| check.iteration == Some(record.iteration)) {
        let _ = writeln!(out, "            {}", check_line(check, messages));
    }
}

/// What to do while there is no result yet.
pub fn next(view: &TaskView, messages: Messages) -> Vec<Next> {
    let name = &view.name;
    let act = |command| NextAct::of(command, name);
    let resume = Next::of(act(ActCommand::Resume), messages.next_resume(), messages);
    let tell = Next::of(act(ActCommand::Tell).with(ActArgument::Message), messages.next_tell(), messages);
    let kill = Next::of(act(ActCommand::Kill), messages.next_kill(), messages);
    let attach = Next::of(act(ActCommand::Attach), messages.next_attach(), messages);
    match view.status {
        Status::Interrupted => vec![resume],
        Status::Paused => vec![resume, tell, kill],
        Status::Running if view.needs.is_some() => vec![
            Next::of(act(ActCommand::Approve).with(ActArgument::Choice), messages.next_approve(), messages),
            Next::of(act(ActCommand::Reject), messages.next_reject(), messages),
            attach,
        ],
        Status::Queued | Status::Waiting => vec![attach, kill],
        Status::Running | Status::Completed | Status::Stopped | Status::Failed | Status::Cancelled => {
            vec![attach, tell, kill]
        }
    }
}

pub(super) fn check_line(check: &CheckResult, messages: Messages) -> String {
    let sign = words::check_sign(check);
    let took = words::duration(Duration::from_millis(check.duration_ms));
    let on = |oid: &Oid| format!(" {}", messages.proof_on_commit(oid.short()));
    let commit = check.commit.as_ref().map_or_else(String::new, on);
    let proof = match check.phase {
        CheckPhase::Proof => format!(" {}", messages.status_is_proof()),
        CheckPhase::Originals => format!(" {}", messages.status_is_with_originals()),
        CheckPhase::HeldOut => format!(" {}", messages.status_is_held_out()),
        CheckPhase::Baseline | CheckPhase::Iteration => String::new(),
    };
    let words = words::quoted(&check.telling_line()).map_or_else(String::new, |line| format!(" {line}"));
    let ended = words::exit(&check.ended(), messages);
    format!("{} {sign} {ended}{commit}{proof} {took}{words}", check.command)
}
