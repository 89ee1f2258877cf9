//! `dacapo status`: what is proven, what needs a person, what it cost, what to type next.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_core::event::{CheckPhase, CheckResult, IterationRecord};
use dacapo_core::store::PORTS;
use dacapo_core::view::{Status, TaskView};

use super::words::{self, BAD, BOLD, DIM, WARN, paint};
use super::{face, faults};
use super::{needs, notices, report, untracked};

/// Of a long loop the newest iterations are shown.
const MOST_ITERATIONS: usize = 10;

/// Of what is wrong with a record so much is shown.
const MOST_FAULTS: usize = 5;

/// Everything about a task, without a line break at its end; beside its journal what it occupies on disk, and what a
/// process that is gone said last.
pub fn status(view: &TaskView, occupies: Option<u64>, last_words: Option<&str>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", head(view));
    asks(&mut out, view);
    record(&mut out, view);
    for line in last_words.unwrap_or_default().lines() {
        let _ = writeln!(out, "          {}", words::line(line, words::WHOLE));
    }
    let pid = view.pid.map_or_else(String::new, |pid| format!(" · process {pid}"));
    let own = face::of(&view.kind);
    match own.and_then(|own| own.asked(view, &pid)) {
        Some(asked) => out.push_str(&asked),
        None => {
            let _ = writeln!(out, "  task    {}", words::line(&view.prompt, 100));
            let _ = writeln!(out, "  agent   {}{pid}", view.agent);
        }
    }
    match &view.merged {
        // Worktree and branch went with the merge.
        Some(merged) => {
            let into = words::branch(&merged.into);
            let _ = writeln!(out, "  merged  into {into} as {}", merged.commit.short());
        }
        None => {
            let _ = writeln!(out, "  where   {}", place(view, occupies));
        }
    }
    out.push_str(&own.map(|own| own.standing(view)).unwrap_or_default());
    limits(&mut out, view);
    for text in &view.guidance {
        let _ = writeln!(out, "  told    {} (every iteration)", words::line(text, 100));
    }
    for check in view.baseline() {
        let _ = writeln!(out, "  before  {}", check_line(check));
    }
    let skipped = view.iterations.len().saturating_sub(MOST_ITERATIONS);
    if skipped > 0 {
        let skipped = words::count(skipped as u64, report::unit(view));
        let more = format!("  … {skipped} before: dacapo logs {}", view.name);
        let _ = writeln!(out, "{}", paint(DIM, &more));
    }
    for record in &view.iterations[skipped..] {
        match own.and_then(|own| own.round(view, record)) {
            Some(round) => out.push_str(&round),
            None => iteration(&mut out, view, record),
        }
    }
    for notice in view.notices.iter().rev().take(10).rev() {
        let _ = writeln!(out, "  note    {}", words::line(&notices::told(notice, &view.name), words::WHOLE));
    }
    if view.result.is_none() {
        for text in untracked::summary(view) {
            let _ = writeln!(out, "  note    {}", words::line(&text, words::WHOLE));
        }
    }
    match &view.result {
        // What it asks stands at the top.
        Some(ended) if own.is_some() || view.needs.is_some() => {
            out.push_str(&report::came_to(view, ended));
        }
        Some(ended) => out.push_str(&report::result(view, ended)),
        None => {
            let _ = write!(out, "  next: {}", next(view));
        }
    }
    out
}

/// `auth · running · iteration 5 of 10 · 9m · 184k tok · $1.20`; of what has ended the result says the rest.
fn head(view: &TaskView) -> String {
    let of = view.max_iterations.map_or_else(String::new, |max| format!(" of {max}"));
    let unit = report::unit(view);
    let (done, more) = match face::of(&view.kind).and_then(|own| own.at(view)) {
        Some(own) => own,
        None => (format!("{}{of} done", words::count(u64::from(view.iteration), unit)), Vec::new()),
    };
    let at = match view.running_iteration {
        Some(iteration) if view.status == Status::Running => format!("{unit} {}{of}", iteration + 1),
        _ => done,
    };
    let mut facts = vec![paint(BOLD, &view.name), view.status.as_str().to_owned(), at];
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
fn asks(out: &mut String, view: &TaskView) {
    let mut line = |text: &str| {
        let _ = writeln!(out, "  {}", paint(WARN, text));
    };
    match view.status {
        Status::Paused | Status::Running => {
            let answers = report::answers(view);
            if let Some(needs) = &view.needs {
                line(&format!("needs   {}", words::line(&needs::question(&needs.kind), words::WHOLE)));
                if view.status == Status::Paused && !answers.is_empty() {
                    out.push_str(&answers);
                    return;
                }
                // What can be typed stands at the end.
                if report::is_blocked(view) {
                    return;
                }
                for (at, option) in needs::commands(needs, &view.name).iter().enumerate() {
                    line(&format!("        {}: {}", at + 1, words::line(option, words::WHOLE)));
                }
            }
        }
        Status::Waiting => {
            let until = view.waiting_until.map(|at| format!("waiting until {}", super::log::clock(at)));
            let until = until.unwrap_or_else(|| "waiting while another task tries".to_owned());
            line(&format!("{until} ({} usage limit); it goes on by itself", view.agent));
        }
        Status::Queued => line("queued: waits for a place; it starts by itself"),
        Status::Interrupted => line("interrupted: its process is gone; nothing is lost"),
        Status::Completed | Status::Stopped | Status::Failed | Status::Cancelled => {}
    }
}

/// How long a loop may go on; a milestone's are with its rounds.
fn limits(out: &mut String, view: &TaskView) {
    if face::of(&view.kind).is_some() || !view.looping {
        return;
    }
    let iterations = view.max_iterations.map(|most| words::count(u64::from(most), "iteration"));
    let limits = words::limits(&view.policy, iterations);
    if !limits.is_empty() {
        let _ = writeln!(out, "  limits  {}", limits.join(", "));
    }
}

/// Why its record cannot be relied on.
fn record(out: &mut String, view: &TaskView) {
    for (nth, fault) in view.record.faults().iter().take(MOST_FAULTS).enumerate() {
        let label = if nth == 0 { "record" } else { "" };
        let _ = writeln!(out, "  {}", paint(WARN, &format!("{label:<7} {fault}")));
    }
    let more = view.record.faults().len().saturating_sub(MOST_FAULTS) as u64 + view.record.unlisted();
    if more > 0 {
        let _ = writeln!(out, "          … {more} more");
    }
    if !view.record.is_whole() {
        let _ = writeln!(
            out,
            "          nothing counts as proven by this record; dacapo merge runs the checks again"
        );
    }
}

fn place(view: &TaskView, occupies: Option<u64>) -> String {
    let branch = view.branch.as_deref().map_or("detached", words::branch);
    let base = view.base_commit.as_ref().map_or("none", |oid| oid.short());
    let size = occupies.map_or_else(String::new, |bytes| format!(" · {} on disk", words::bytes(bytes)));
    let is_leased = matches!(view.status, Status::Running | Status::Waiting | Status::Queued);
    let ports = view.port_base.filter(|_| is_leased);
    let ports = ports.map_or_else(String::new, |base| format!(" · ports {base}–{}", base + (PORTS - 1)));
    format!("{} · {branch} from {base}{ports}{size}", view.worktree.as_deref().unwrap_or(&view.repo))
}

fn iteration(out: &mut String, view: &TaskView, record: &IterationRecord) {
    let sign = words::iteration_sign(record);
    let commit = words::commit(record);
    let took = words::duration(Duration::from_millis(record.duration_ms));
    let _ = writeln!(
        out,
        "  {:<7} {sign} {commit}  {}  {} {took}",
        format!("{} (iter-{})", record.iteration + 1, record.iteration),
        words::line(&record.summary, 60),
        words::count(u64::from(record.changed_total), "file"),
    );
    let error = faults::all(&record.faults);
    if let Some(error) = &error {
        let _ = writeln!(out, "            {}", paint(BAD, &words::line(error, words::WHOLE)));
    }
    let is_newest = record.iteration + 1 == view.iteration && view.result.is_none();
    let said = record.stderr_tail.as_deref().filter(|_| is_newest);
    for line in words::stderr(said, error.as_deref(), &view.name) {
        let _ = writeln!(out, "            {}", paint(DIM, &line));
    }
    for check in view.checks.iter().filter(|check| check.iteration == Some(record.iteration)) {
        let _ = writeln!(out, "            {}", check_line(check));
    }
}

/// What to type while there is no result yet.
fn next(view: &TaskView) -> String {
    let name = &view.name;
    match view.status {
        Status::Interrupted => format!("dacapo resume {name}"),
        Status::Paused => format!("dacapo resume {name} | dacapo tell {name} \"…\" | dacapo kill {name}"),
        Status::Running if view.needs.is_some() => {
            format!("dacapo approve {name} [CHOICE] | dacapo reject {name} | dacapo attach {name}")
        }
        Status::Queued | Status::Waiting => format!("dacapo attach {name} | dacapo kill {name}"),
        Status::Running | Status::Completed | Status::Stopped | Status::Failed | Status::Cancelled => {
            format!("dacapo attach {name} | dacapo tell {name} \"…\" | dacapo kill {name}")
        }
    }
}

pub(super) fn check_line(check: &CheckResult) -> String {
    let sign = words::check_sign(check);
    let took = words::duration(Duration::from_millis(check.duration_ms));
    let commit = check.commit.as_ref().map_or_else(String::new, |oid| format!(" on {}", oid.short()));
    let proof = match check.phase {
        CheckPhase::Proof => " (proof)",
        CheckPhase::Baseline | CheckPhase::Iteration => "",
    };
    let words = words::quoted(&check.telling_line()).map_or_else(String::new, |line| format!(" {line}"));
    format!("{} {sign} {}{commit}{proof} {took}{words}", check.command, check.ending())
}
