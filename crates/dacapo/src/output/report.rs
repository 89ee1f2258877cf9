//! What people read when a task is over, and in `dacapo status`: what is proven, what it cost, what to type next.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_core::event::{CheckResult, Outcome, Proof, StopReason, TaskResult};
use dacapo_core::view::{Status, TaskView};

use super::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};

/// The result in a few lines.
pub fn result(view: &TaskView, result: &TaskResult) -> String {
    let mut out = String::new();
    let mut facts = vec![words::count(u64::from(result.iterations_attempted), "iteration")];
    if result.iterations_failed > 0 {
        facts.push(format!("{} failed", result.iterations_failed));
    }
    facts.push(words::duration(Duration::from_secs_f64(result.elapsed_seconds.max(0.0))));
    let used = result.tokens.input + result.tokens.output;
    if used > 0 {
        facts.push(words::tokens(used));
    }
    facts.extend(result.cost_usd.map(words::money));
    let _ = writeln!(out, "{} · {}", headline(result), facts.join(" · "));
    for proof in &result.proof {
        let _ = writeln!(out, "  {}", proof_line(proof));
    }
    if let Some(message) = &result.message {
        let _ = writeln!(out, "  {}", words::line(message, words::WHOLE));
    }
    if !result.trust_files.is_empty() {
        let named: Vec<&str> = result.trust_files.iter().take(5).map(String::as_str).collect();
        let more = result.trust_files.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(
            out,
            "  {}",
            paint(WARN, &format!("⚠ tests, CI or checks changed: {}{more}", named.join(", ")))
        );
    }
    let _ = writeln!(out, "  {}", commits(view, result));
    // What was refused before it began leaves no task to go on with; the error that follows says what to do.
    let refused = result.stop_reason == StopReason::SetupFailed
        && result.iterations_attempted == 0
        && result.failed_setup.is_none();
    if !refused {
        let _ = write!(out, "  next: {}", next(view, result));
    }
    out.truncate(out.trim_end().len());
    out
}

fn headline(result: &TaskResult) -> String {
    match result.outcome {
        Outcome::Completed if result.verified => paint(GOOD.bold(), "✓ proven"),
        Outcome::Completed => paint(BOLD, "● finished, unverified"),
        Outcome::Failed => paint(BAD.bold(), &format!("✗ failed ({})", reason(result))),
        Outcome::MaxReached => paint(WARN.bold(), "■ stopped: all iterations used, not done"),
        Outcome::TimeElapsed if result.stop_reason == StopReason::LimitWait => {
            paint(WARN.bold(), "■ stopped: the usage limit lasts too long")
        }
        Outcome::TimeElapsed => paint(WARN.bold(), "■ stopped: time is up, not done"),
        Outcome::BudgetExhausted => paint(WARN.bold(), "■ stopped: the budget is used up"),
        Outcome::Stalled => paint(WARN.bold(), "■ stopped: no progress"),
        Outcome::Paused => paint(WARN.bold(), "‖ paused: a person is needed"),
        Outcome::Cancelled => paint(WARN.bold(), "■ cancelled"),
    }
}

fn reason(result: &TaskResult) -> &'static str {
    match result.stop_reason {
        StopReason::PermanentError => "cannot go on",
        StopReason::SetupFailed if result.failed_setup.is_some() => "the worktree could not be set up",
        StopReason::SetupFailed if result.iterations_attempted > 0 => "the workspace is gone",
        StopReason::SetupFailed => "could not start",
        StopReason::Failures => "too many failures in a row",
        _ => "no iteration succeeded",
    }
}

/// `cargo test ✗ → ✓ "212 passed" on c0ffee1`.
fn proof_line(proof: &Proof) -> String {
    let sign = |passed: Option<bool>| match passed {
        Some(true) => paint(GOOD, "✓"),
        Some(false) => paint(BAD, "✗"),
        None => paint(DIM, "–"),
    };
    let way = match (proof.before, proof.after) {
        (Some(true), Some(true)) => format!("{} stayed green", sign(Some(true))),
        (None, after) => sign(after),
        (before, None) => sign(before),
        (before, after) => format!("{} → {}", sign(before), sign(after)),
    };
    let words = if proof.last_line.is_empty() {
        String::new()
    } else {
        format!(" {:?}", words::line(&proof.last_line, 60))
    };
    let commit = proof.commit.as_ref().map_or_else(String::new, |oid| format!(" on {}", oid.short()));
    format!("{} {way}{words}{commit}", proof.command)
}

fn commits(view: &TaskView, result: &TaskResult) -> String {
    let branch = view.branch.as_deref().map_or("a detached HEAD", words::branch);
    let range = match (&result.base_commit, &result.last_commit) {
        (base, Some(last)) if base.as_ref() != Some(last) => {
            let from = base.as_ref().map_or("", |oid| oid.short());
            format!(" ({from}..{})", last.short())
        }
        _ => String::new(),
    };
    let mut text = format!("{} on {branch}{range}", words::count(u64::from(view.commits), "commit"));
    if let Some(worktree) = &view.worktree {
        let _ = write!(text, " in {worktree}");
    }
    text
}

fn next(view: &TaskView, result: &TaskResult) -> String {
    let name = &view.name;
    let mut commands = Vec::new();
    if result.last_commit != result.base_commit {
        commands.push(format!("dacapo diff {name}"));
    }
    commands.push(match result.outcome {
        // It goes on with the command that failed; another one takes a new task.
        _ if result.failed_setup.is_some() => format!("dacapo resume {name} | dacapo drop {name}"),
        Outcome::Completed => format!("dacapo resume {name} \"also …\""),
        Outcome::MaxReached | Outcome::Stalled => format!("dacapo resume {name} --iter 5"),
        _ => format!("dacapo resume {name}"),
    });
    commands.join(" | ")
}

/// Everything about a task.
pub fn status(view: &TaskView) -> String {
    let mut out = String::new();
    let of = view.max_iterations.map_or_else(String::new, |max| format!(" of {max}"));
    let at = match view.running_iteration {
        Some(iteration) if view.status == Status::Running => format!("iteration {}{of}", iteration + 1),
        _ => format!("{}{of} done", words::count(u64::from(view.iteration), "iteration")),
    };
    let _ = writeln!(out, "{} · {} · {at}", paint(BOLD, &view.name), view.status.as_str());
    let _ = writeln!(out, "  task    {}", words::line(&view.prompt, 100));
    let _ = writeln!(out, "  agent   {}", view.agent);
    let branch = view.branch.as_deref().map_or("detached", words::branch);
    let base = view.base_commit.as_ref().map_or("none", |oid| oid.short());
    let _ =
        writeln!(out, "  where   {} · {branch} from {base}", view.worktree.as_deref().unwrap_or(&view.repo));
    if let Some(merged) = &view.merged {
        let into = words::branch(&merged.into);
        let _ = writeln!(out, "  merged  into {into} as {}", merged.commit.short());
    }
    if let Some(until) = view.waiting_until {
        let _ = writeln!(
            out,
            "  {}",
            paint(WARN, &format!("waiting until {} (usage limit)", super::log::clock(until)))
        );
    }
    for check in view.baseline() {
        let _ = writeln!(out, "  before  {}", check_line(check));
    }
    for record in &view.iterations {
        let sign = if record.success { paint(GOOD, "✓") } else { paint(BAD, "✗") };
        let commit = words::commit(record);
        let took = words::duration(Duration::from_millis(record.duration_ms));
        let _ = writeln!(
            out,
            "  {:<7} {sign} {commit}  {}  {} {took}",
            format!("{} (iter-{})", record.iteration + 1, record.iteration),
            words::line(&record.summary, 60),
            words::count(u64::from(record.changed_total), "file"),
        );
        if let Some(error) = &record.error {
            let _ = writeln!(out, "            {}", paint(BAD, &words::line(error, words::WHOLE)));
        }
        let own = |check: &&CheckResult| check.iteration == Some(record.iteration);
        for check in view.checks.iter().filter(own) {
            let _ = writeln!(out, "            {}", check_line(check));
        }
    }
    for notice in view.notices.iter().rev().take(10).rev() {
        let _ = writeln!(out, "  note    {}", words::line(notice, words::WHOLE));
    }
    match &view.result {
        Some(ended) => {
            let _ = write!(out, "{}", result(view, ended));
        }
        None if view.status == Status::Interrupted => {
            let _ =
                write!(out, "  its process is gone; nothing is lost\n  next: dacapo resume {}", view.name);
        }
        None => {
            let _ = write!(out, "  next: dacapo logs -f {} | dacapo wait {}", view.name, view.name);
        }
    }
    out
}

fn check_line(check: &CheckResult) -> String {
    let sign = if check.passed() { paint(GOOD, "✓") } else { paint(BAD, "✗") };
    let took = words::duration(Duration::from_millis(check.duration_ms));
    let commit = check.commit.as_ref().map_or_else(String::new, |oid| format!(" on {}", oid.short()));
    let clean = if check.phase == dacapo_core::event::CheckPhase::Clean { " (clean checkout)" } else { "" };
    let words =
        check.tail.lines().last().map_or_else(String::new, |last| format!(" {:?}", words::line(last, 60)));
    format!("{} {sign} {}{commit}{clean} {took}{words}", check.command, check.ending())
}
