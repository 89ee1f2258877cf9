//! What people read when a task is over: what is proven, what it cost, what to type next.

use std::fmt::Write as _;
use std::time::Duration;

use dacapo_core::event::{Outcome, Proof, ProofState, StopReason, TaskResult};
use dacapo_core::task::milestone::MilestoneStatus;
use dacapo_core::view::{FindingView, MilestoneView, TaskView};

use super::milestone as milestones;
use super::proof::not_proven;
use super::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};

/// So many further lines of a message are shown.
const MOST_SAID: usize = 8;
/// What a task needs a person for whose agent cannot go on (L18).
pub const BLOCKED: &str = "blocked";

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
    if let Some(milestone) = &view.milestone {
        facts.push(format!("{} accepted", result.iterations_succeeded));
        let (done, all) = (milestone.features_done(), milestone.features.len());
        facts.push(format!("{done} of {} done", words::count(all as u64, "feature")));
    } else if result.iterations_failed > 0 {
        facts.push(format!("{} failed", result.iterations_failed));
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
    let verdict = view.milestone.as_ref().and_then(|milestone| milestone.last_verdict.as_ref());
    if verdict.is_some_and(|verdict| verdict.not_itemised) {
        let note = format!("{}: the Acceptor accepted without a line for each", milestones::NOT_ITEMISED);
        let _ = writeln!(out, "  {}", paint(WARN, &note));
    }
    out.push_str(&not_proven(result));
    if let Some(message) = &result.message {
        let _ = writeln!(out, "  {}", words::line(message, words::WHOLE));
        // What a command said that failed.
        let said = message.lines().skip(1).map(|said| words::line(said, 200)).filter(|said| !said.is_empty());
        for line in said.take(MOST_SAID) {
            let _ = writeln!(out, "    {}", paint(DIM, &line));
        }
    }
    for line in words::stderr(result.stderr_tail.as_deref(), result.message.as_deref(), &view.name) {
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
    if let Some(url) = &view.pull_request {
        let _ = writeln!(out, "  pull request {}", words::line(url, words::WHOLE));
    }
    // What was refused before it began leaves no task to go on with; the error that follows says what to do.
    let refused = result.stop_reason == StopReason::SetupFailed
        && result.iterations_attempted == 0
        && result.failed_setup.is_none()
        && !has_no_worktree(view);
    // What a milestone asks has answers of its own.
    let asks = view.milestone.is_some() && view.needs.is_some() && result.outcome == Outcome::Paused;
    let next = next(view, result);
    if !refused && !asks && !next.is_empty() {
        let _ = write!(out, "  next: {}", next.join(" | "));
    }
    out.truncate(out.trim_end().len());
    out
}

/// What its iterations are called.
pub fn unit(view: &TaskView) -> &'static str {
    if view.milestone.is_some() { "round" } else { "iteration" }
}

/// What a blocked agent asks a person; what a paused milestone does, and what the two do not agree on.
fn question(view: &TaskView) -> Option<String> {
    let needs = view.needs.as_ref()?;
    let mut out = format!("  {}\n", paint(WARN, &words::line(&needs.question, words::WHOLE)));
    if view.milestone.is_none() && needs.kind == BLOCKED {
        return Some(out);
    }
    let milestone = view.milestone.as_ref()?;
    let open: Vec<&FindingView> = milestone.open_findings().collect();
    for finding in open.iter().take(milestones::MOST_FINDINGS) {
        let _ = writeln!(out, "  {}", milestones::finding(finding));
    }
    if let Some(more) = open.len().checked_sub(milestones::MOST_FINDINGS).filter(|more| *more > 0) {
        let _ = writeln!(out, "  … {more} more: dacapo status {}", view.name);
    }
    Some(out)
}

/// What can be answered to that, a line each.
pub fn answers(view: &TaskView) -> String {
    let (Some(milestone), Some(needs)) = (&view.milestone, &view.needs) else { return String::new() };
    let answers = milestones::answers(&view.name, &needs.options, milestone);
    let lines = milestones::explained(&answers, milestone.status);
    let mut out = String::new();
    for (nth, line) in lines.iter().enumerate() {
        let _ = writeln!(out, "  {} {line}", if nth == 0 { "next:" } else { "     " });
    }
    out
}

fn headline(view: &TaskView, result: &TaskResult) -> String {
    let milestone = view.milestone.as_ref().map(|milestone| milestone.status);
    match result.outcome {
        Outcome::Completed if milestone.is_some() && !result.verified => {
            paint(BOLD, "● accepted, unverified")
        }
        Outcome::Paused if milestone == Some(MilestoneStatus::AwaitingReview) => {
            paint(WARN.bold(), "‖ accepted: your review is awaited")
        }
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
        Outcome::Paused if view.needs.as_ref().is_some_and(|needs| needs.kind == BLOCKED) => {
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

fn next_of_milestone(view: &TaskView, milestone: &MilestoneView, result: &TaskResult) -> Vec<String> {
    let name = &view.name;
    if let Some(needs) = view.needs.as_ref().filter(|_| result.outcome == Outcome::Paused) {
        return milestones::answers(name, &needs.options, milestone);
    }
    let mut commands = Vec::new();
    let own = view.worktree.is_some();
    if result.last_commit != result.base_commit {
        commands.push(format!("dacapo diff {name}"));
        if own && view.merged.is_none() && result.outcome == Outcome::Completed {
            commands.extend([format!("dacapo merge {name}"), format!("dacapo pr {name}")]);
        }
    }
    if view.merged.is_some() {
        return commands;
    }
    if let Some(branch) = view.branch.as_deref().filter(|_| !own && result.outcome == Outcome::Completed) {
        // In place there is no worktree to bring home, but a branch.
        commands.push(format!("git merge {}", words::branch(branch)));
    }
    match milestone.status {
        MilestoneStatus::Completed | MilestoneStatus::Abandoned => {}
        MilestoneStatus::InProgress | MilestoneStatus::Paused | MilestoneStatus::AwaitingReview => {
            commands.push(format!("dacapo resume {name}"));
        }
    }
    commands.extend(own.then(|| format!("dacapo drop {name}")));
    commands
}

/// What people may want to type next, the most likely first.
pub fn next(view: &TaskView, result: &TaskResult) -> Vec<String> {
    let name = &view.name;
    if let Some(milestone) = &view.milestone {
        return next_of_milestone(view, milestone, result);
    }
    if let Some(needs) = view.needs.as_ref().filter(|needs| ["proof", BLOCKED].contains(&needs.kind.as_str()))
        && result.outcome == Outcome::Paused
    {
        return needs.options.clone();
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
