//! What people read when a task is over: what is proven, what it cost, what to type next.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_core::event::{NeedKind, Outcome, Proof, ProofState, StopReason, TaskResult};
use dacapo_core::view::TaskView;

use super::proof::not_proven;
use super::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};
use super::{ends, face, needs, untracked};

/// So many further lines of a message are shown.
const MOST_SAID: usize = 8;

/// The result in a few lines.
pub fn result(view: &TaskView, result: &TaskResult) -> String {
    let asked = question(view).filter(|_| result.outcome == Outcome::Paused);
    let mut out = came_to(view, result);
    if let Some(asked) = asked {
        // The question comes right after how it ended, what can be typed last.
        let at = out.find('\n').map_or(out.len(), |at| at + 1);
        out.insert_str(at, &asked);
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&answers(view));
    }
    out.truncate(out.trim_end().len());
    out
}

/// The same without what a person is asked, for who has said that already.
pub fn came_to(view: &TaskView, result: &TaskResult) -> String {
    let mut out = String::new();
    let mut facts = vec![words::count(u64::from(result.iterations_attempted), unit(view))];
    let own = face::of(&view.kind);
    match own.and_then(|own| own.came_to(view, result)) {
        Some(came_to) => facts.extend(came_to),
        None if result.iterations_failed > 0 => facts.push(format!("{} failed", result.iterations_failed)),
        None => {}
    }
    facts.push(words::duration(Duration::from_secs_f64(result.elapsed_seconds.max(0.0))));
    let used = result.tokens.input + result.tokens.output;
    if used > 0 {
        facts.push(words::tokens(used));
    }
    facts.extend(result.cost_usd.map(words::money));
    let _ = writeln!(out, "{} · {}", headline(view, result), facts.join(" · "));
    for proof in &result.proof {
        let _ = writeln!(out, "  {}", proof_line(proof, result.proof_state.as_ref()));
    }
    if let Some(caveat) = own.and_then(|own| own.caveat(view)) {
        let _ = writeln!(out, "  {}", paint(WARN, &caveat));
    }
    out.push_str(&not_proven(result));
    let message = result.detail.as_ref().map(|detail| ends::detail(detail, &view.name));
    if let Some(message) = &message {
        let _ = writeln!(out, "  {}", words::line(message, words::WHOLE));
        // What a command said that failed.
        let said = message.lines().skip(1).map(|said| words::line(said, 200)).filter(|said| !said.is_empty());
        for line in said.take(MOST_SAID) {
            let _ = writeln!(out, "    {}", paint(DIM, &line));
        }
    }
    for line in words::stderr(result.stderr_tail.as_deref(), message.as_deref(), &view.name) {
        let _ = writeln!(out, "  {}", paint(DIM, &line));
    }
    let (settings, proof): (Vec<&str>, Vec<&str>) =
        result.trust_files.iter().map(String::as_str).partition(|path| is_setting(path));
    for (what, files) in [("tests, CI or checks changed", proof), ("settings changed", settings)] {
        if files.is_empty() {
            continue;
        }
        let named: Vec<String> = files.iter().take(5).map(|file| words::line(file, words::WHOLE)).collect();
        let more = files.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "  {}", paint(WARN, &format!("⚠ {what}: {}{more}", named.join(", "))));
    }
    let _ = writeln!(out, "  {}", commits(view, result));
    for text in untracked::summary(view) {
        let _ = writeln!(out, "  {}", paint(DIM, &words::line(&text, words::WHOLE)));
    }
    if let Some(url) = &view.pull_request {
        let _ = writeln!(out, "  pull request {}", words::line(url, words::WHOLE));
    }
    // What was refused before it began leaves no task to go on with; the error that follows says what to do.
    let refused = result.stop_reason == StopReason::SetupFailed
        && result.iterations_attempted == 0
        && result.failed_setup.is_none()
        && !has_no_worktree(view);
    // What a kind of its own asks has answers of its own.
    let asks = own.is_some_and(|own| own.asks(view).is_some()) && result.outcome == Outcome::Paused;
    let next = next(view, result);
    if !refused && !asks && !next.is_empty() {
        let _ = write!(out, "  next: {}", next.join(" | "));
    }
    out.truncate(out.trim_end().len());
    out
}

/// What its iterations are called.
pub fn unit(view: &TaskView) -> &'static str {
    super::face::unit(&view.kind)
}

/// What a blocked agent asks a person, or a paused task of a kind that asks, with what goes with it.
fn question(view: &TaskView) -> Option<String> {
    let needs = view.needs.as_ref()?;
    let mut out = format!("  {}\n", paint(WARN, &words::line(&needs::question(&needs.kind), words::WHOLE)));
    match face::of(&view.kind) {
        None if is_blocked(view) => {}
        None => return None,
        Some(own) => {
            for line in own.asks(view)? {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    Some(out)
}

/// What can be answered to that, a line each.
pub fn answers(view: &TaskView) -> String {
    let lines = face::of(&view.kind).map(|own| own.answers(view)).unwrap_or_default();
    let mut out = String::new();
    for (nth, line) in lines.iter().enumerate() {
        let _ = writeln!(out, "  {} {line}", if nth == 0 { "next:" } else { "     " });
    }
    out
}

/// Whether its agent cannot go on without an answer (L18).
pub fn is_blocked(view: &TaskView) -> bool {
    view.needs.as_ref().is_some_and(|needs| matches!(needs.kind, NeedKind::Blocked { .. }))
}

fn headline(view: &TaskView, result: &TaskResult) -> String {
    if let Some(ended) = face::of(&view.kind).and_then(|own| own.ended(view, result)) {
        return ended;
    }
    match result.outcome {
        Outcome::Cancelled if result.stop_reason == StopReason::Abandoned => {
            paint(WARN.bold(), "■ abandoned")
        }
        Outcome::Completed if result.verified => paint(GOOD.bold(), "✓ proven"),
        Outcome::Completed => paint(BOLD, "● finished, unverified"),
        Outcome::Failed => paint(BAD.bold(), &format!("✗ failed ({})", reason(view, result))),
        Outcome::MaxReached => paint(WARN.bold(), "■ stopped: all iterations used, not done"),
        Outcome::TimeElapsed if result.stop_reason == StopReason::LimitWait => {
            paint(WARN.bold(), "■ stopped: the usage limit lasts too long")
        }
        Outcome::TimeElapsed => paint(WARN.bold(), "■ stopped: time is up, not done"),
        Outcome::BudgetExhausted => paint(WARN.bold(), "■ stopped: the budget is used up"),
        Outcome::Stalled => paint(WARN.bold(), "■ stopped: no progress"),
        Outcome::Paused if is_blocked(view) => {
            paint(WARN.bold(), "‖ paused: the agent cannot go on without you")
        }
        Outcome::Paused => paint(WARN.bold(), "‖ paused: a person is needed"),
        Outcome::Cancelled => paint(WARN.bold(), "■ cancelled"),
    }
}

fn reason(view: &TaskView, result: &TaskResult) -> &'static str {
    match result.stop_reason {
        StopReason::PermanentError => "cannot go on",
        StopReason::SetupFailed if result.failed_setup.is_some() => "the worktree could not be set up",
        StopReason::SetupFailed if has_no_worktree(view) => "the worktree could not be made",
        StopReason::SetupFailed if result.iterations_attempted > 0 => "the workspace is gone",
        StopReason::SetupFailed => "could not start",
        StopReason::Failures if result.iterations_attempted == 1 => "the agent failed",
        StopReason::Failures => "too many failures in a row",
        _ => "no iteration succeeded",
    }
}

/// Whether a file decides what git or Dacapo itself do here.
fn is_setting(path: &str) -> bool {
    path.starts_with(".git/") || path.starts_with(".dacapo/") || path.ends_with("/.dacapo/config.toml")
}

/// `cargo test ✗ → ✓ "212 passed" on c0ffee1`. What only passed here says nothing about the commit.
fn proof_line(proof: &Proof, state: Option<&ProofState>) -> String {
    let proven = matches!(state, Some(ProofState::Proven { .. }));
    let sign = |passed: Option<bool>| match passed {
        Some(true) if proven => paint(GOOD, "✓"),
        Some(true) => paint(BOLD, "✓"),
        Some(false) => paint(BAD, "✗"),
        None => paint(DIM, "–"),
    };
    let way = match (proof.before, proof.after) {
        (Some(true), Some(true)) => format!("{} stayed green", sign(Some(true))),
        (None, after) => sign(after),
        (before, None) => sign(before),
        (before, after) => format!("{} → {}", sign(before), sign(after)),
    };
    let timed_out = if proof.timed_out { " timed out" } else { "" };
    let words = words::quoted(&proof.last_line).map_or_else(String::new, |line| format!(" {line}"));
    let commit = match state {
        Some(ProofState::PassedHere(_)) => " here".to_owned(),
        Some(ProofState::Proven { .. }) | None => {
            proof.commit.as_ref().map_or_else(String::new, |oid| format!(" on {}", oid.short()))
        }
    };
    format!("{} {way}{timed_out}{words}{commit}", proof.command)
}

/// It was to have one, and there is none yet.
fn has_no_worktree(view: &TaskView) -> bool {
    view.worktree.is_some() && view.branch.is_none()
}

fn commits(view: &TaskView, result: &TaskResult) -> String {
    if has_no_worktree(view) {
        return "ended before its worktree was made".to_owned();
    }
    let branch = view.branch.as_deref().map_or("a detached HEAD", words::branch);
    let range = match (&result.base_commit, &result.last_commit) {
        (base, Some(last)) if base.as_ref() != Some(last) => {
            let from = base.as_ref().map_or("", |oid| oid.short());
            format!(" ({from}..{})", last.short())
        }
        _ => String::new(),
    };
    let mut text = format!("{} on {branch}{range}", words::count(u64::from(view.commits), "commit"));
    // After a merge the worktree is gone.
    if let Some(worktree) = view.worktree.as_ref().filter(|_| view.merged.is_none()) {
        let _ = write!(text, " in {worktree}");
    }
    text
}

/// What people may want to type next, the most likely first.
pub fn next(view: &TaskView, result: &TaskResult) -> Vec<String> {
    let name = &view.name;
    if let Some(next) = face::of(&view.kind).and_then(|own| own.next(view, result)) {
        return next;
    }
    if let Some(needs) = &view.needs
        && matches!(needs.kind, NeedKind::Proof { .. } | NeedKind::Blocked { .. })
        && result.outcome == Outcome::Paused
    {
        return needs::commands(needs, name);
    }
    let mut commands = Vec::new();
    if result.last_commit != result.base_commit {
        commands.push(format!("dacapo diff {name}"));
        if view.worktree.is_some() && view.merged.is_none() {
            commands.push(format!("dacapo merge {name}"));
        }
    }
    if view.merged.is_some() {
        return commands;
    }
    commands.push(match result.outcome {
        // It goes on with the command that failed; another one takes a new task.
        _ if result.failed_setup.is_some() => format!("dacapo resume {name} | dacapo drop {name}"),
        Outcome::Completed => format!("dacapo resume {name} \"also …\""),
        Outcome::MaxReached | Outcome::Stalled => format!("dacapo resume {name} --iter 5"),
        _ if view.max_iterations.is_some_and(|max| view.iteration >= max) => {
            format!("dacapo resume {name} --iter 5")
        }
        _ => format!("dacapo resume {name}"),
    });
    if view.worktree.is_some() && result.failed_setup.is_none() {
        commands.push(format!("dacapo drop {name}"));
    }
    commands
}
