//! What people read when a task is over: what is proven, what it cost, what to type next.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use dacapo_core::event::{
    NeedKind, Needs, Notice, Outcome, Proof, ProofState, StopReason, TaskResult, WorkspaceNotice,
};
use dacapo_core::git::Oid;
use dacapo_core::view::TaskView;

use super::act::{ActArgument, ActCommand, MORE_ITERATIONS, NextAct};
use super::conclusion::Conclusion;
use super::kind_words::Unit;
use super::next::{self, Next};
use super::proof::{self, not_proven};
use super::words::{self, BAD, BOLD, DIM, GOOD, WARN, paint};
use super::{changed_tests, ends, kind_words, needs, untracked};
use crate::messages::Messages;

/// How many further lines of a message are shown.
const MOST_SAID: usize = 8;

/// The result in a few lines, the last ones what can be typed next.
pub fn result(view: &TaskView, result: &TaskResult, messages: Messages) -> String {
    let asked = question(view, messages).filter(|_| result.outcome == Outcome::Paused);
    let mut out = came_to(view, result, messages);
    if let Some(asked) = asked {
        // The question comes right after how it ended, what can be typed last.
        let at = out.find('\n').map_or(out.len(), |at| at + 1);
        out.insert_str(at, &asked);
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&answers(view, messages));
    }
    out.truncate(out.trim_end().len());
    out
}

/// The same without what a person is asked, for who has said that already.
pub fn came_to(view: &TaskView, result: &TaskResult, messages: Messages) -> String {
    let mut out = facts(view, result, messages);
    // What was refused before it began leaves no task to go on with; the error that follows says what to do.
    let refused = result.stop_reason == StopReason::SetupFailed
        && result.iterations_attempted == 0
        && result.failed_setup.is_none()
        && !has_no_worktree(view);
    // What a kind of its own asks has answers of its own.
    let own = kind_words::of(&view.kind);
    let asks = own.is_some_and(|own| own.asks(view, messages).is_some()) && result.outcome == Outcome::Paused;
    if !refused && !asks {
        out.push_str(&next::block(&next(view, result, messages), messages));
    }
    out.truncate(out.trim_end().len());
    out
}

/// The same without what can be typed next.
pub fn facts(view: &TaskView, result: &TaskResult, messages: Messages) -> String {
    let mut out = String::new();
    let mut facts = vec![unit(view).count(u64::from(result.iterations_attempted), messages)];
    let own = kind_words::of(&view.kind);
    match own.and_then(|own| own.came_to(view, result, messages)) {
        Some(came_to) => facts.extend(came_to),
        None if result.iterations_failed > 0 => {
            facts.push(messages.ended_failed_iterations(u64::from(result.iterations_failed)));
        }
        None => {}
    }
    facts.push(words::duration(Duration::from_secs_f64(result.elapsed_seconds.max(0.0))));
    let used = result.tokens.input + result.tokens.output;
    if used > 0 {
        facts.push(words::tokens(used));
    }
    facts.extend(result.cost_usd.map(words::money));
    let _ = writeln!(out, "{} · {}", headline(view, result, messages), facts.join(" · "));
    for proof in &result.proof {
        let _ = writeln!(out, "  {}", proof_line(proof, result.proof_state.as_ref(), messages));
    }
    if let Some(ProofState::Proven { cache, .. }) = &result.proof_state {
        let made = match cache {
            None => messages.proof_made_from_nothing(),
            Some(cache) => messages.proof_made_from_caches(cache.commit_id.short()),
        };
        let _ = writeln!(out, "  {}", paint(DIM, &made));
    }
    if let Some(exposed) = result.proof_state.as_ref().and_then(ProofState::exposed) {
        let _ = writeln!(out, "  {}", paint(WARN, &proof::exposed(exposed, messages)));
    }
    if let Some(caveat) = own.and_then(|own| own.caveat(view, messages)) {
        let _ = writeln!(out, "  {}", paint(WARN, &caveat));
    }
    out.push_str(&not_proven(result, messages));
    // Who paused it knows what was typed.
    let detail = result.detail.as_ref().filter(|_| !is_paused_by_hand(view, result));
    let message = detail.map(|detail| ends::sentence(detail, &view.name, messages));
    if let Some(message) = &message {
        let _ = writeln!(out, "  {}", words::line(message, words::WHOLE));
        // What a command said that failed.
        let said = message.lines().skip(1).map(|said| words::line(said, 200)).filter(|said| !said.is_empty());
        for line in said.take(MOST_SAID) {
            let _ = writeln!(out, "    {}", paint(DIM, &line));
        }
    }
    for line in words::stderr(result.stderr_tail.as_deref(), message.as_deref(), &view.name, messages) {
        let _ = writeln!(out, "  {}", paint(DIM, &line));
    }
    // The question has said it.
    let asked = result.outcome == Outcome::Paused && asks_about_tests(view);
    if let Some(tests) = result.tests.as_ref().filter(|_| !asked) {
        out.push_str(&changed_tests::summary(tests, messages));
    }
    out.push_str(&trust_files(result, messages));
    let left_out = view.notices.iter().filter_map(|notice| match notice {
        Notice::Workspace(WorkspaceNotice::SettingsLeftOut { settings }) => {
            Some(messages.notice_settings_left_out(&settings.join(", ")))
        }
        _ => None,
    });
    let readable = view.held_out_readable.then(|| messages.notice_held_out_readable());
    for text in left_out.chain(readable) {
        let text = words::line(&text, words::WHOLE);
        let _ = writeln!(out, "  {}", paint(WARN, &format!("⚠ {text}")));
    }
    let _ = writeln!(out, "  {}", commits(view, result, messages));
    for text in untracked::summary(view, messages) {
        let _ = writeln!(out, "  {}", paint(DIM, &words::line(&text, words::WHOLE)));
    }
    if let Some(url) = &view.pull_request {
        let _ = writeln!(out, "  {}", messages.ended_pull_request(&words::line(url, words::WHOLE)));
    }
    out
}

/// Files it changed that decide what passes, or what the user's own commands do.
fn trust_files(result: &TaskResult, messages: Messages) -> String {
    // What was said of these already is not said again.
    let judged = result.tests.as_ref().filter(|tests| tests.affected);
    let is_said = |path: &str| judged.is_some_and(|tests| tests.changed.iter().any(|file| file.path == path));
    let (settings, proof): (Vec<&str>, Vec<&str>) = result
        .trust_files
        .iter()
        .map(String::as_str)
        .filter(|path| !is_said(path))
        .partition(|path| is_setting(path));
    let named = |files: &[&str]| {
        let named: Vec<String> = files.iter().take(5).map(|file| words::line(file, words::WHOLE)).collect();
        let more = (files.len() - named.len()) as u64;
        let more = if more > 0 { messages.and_more(more) } else { String::new() };
        format!("{}{more}", named.join(", "))
    };
    let mut out = String::new();
    if !proof.is_empty() {
        let text = messages.ended_tests_changed(&named(&proof));
        let _ = writeln!(out, "  {}", paint(WARN, &format!("⚠ {text}")));
    }
    if !settings.is_empty() {
        let text = messages.ended_settings_changed(&named(&settings));
        let _ = writeln!(out, "  {}", paint(WARN, &format!("⚠ {text}")));
    }
    out
}

/// What its iterations are called.
pub fn unit(view: &TaskView) -> Unit {
    super::kind_words::unit(&view.kind)
}

/// What a blocked agent asks a person, or a paused task of a kind that asks, with what goes with it.
fn question(view: &TaskView, messages: Messages) -> Option<String> {
    let needs = view.needs.as_ref()?;
    // The headline has said so.
    let by_hand = matches!(needs.kind, NeedKind::Resume { .. });
    let asked = words::line(&needs::question(&needs.kind, messages), words::WHOLE);
    let mut out = if by_hand { String::new() } else { format!("  {}\n", paint(WARN, &asked)) };
    match kind_words::of(&view.kind) {
        None if is_blocked(view) => {}
        None if asks_about_tests(view) => {
            for line in changed_tests::details(&needs.kind, messages) {
                let _ = writeln!(out, "  {line}");
            }
        }
        None => return None,
        Some(own) => {
            for line in own.asks(view, messages)? {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    Some(out)
}

/// What can be answered to that, a line each.
pub fn answers(view: &TaskView, messages: Messages) -> String {
    let answers = kind_words::of(&view.kind).map(|own| own.answers(view, messages)).unwrap_or_default();
    next::block(&answers, messages)
}

/// Whether a person stopped it to go on later.
pub fn is_paused_by_hand(view: &TaskView, result: &TaskResult) -> bool {
    let by_hand = |needs: &Needs| matches!(needs.kind, NeedKind::Resume { .. });
    result.outcome == Outcome::Paused && view.needs.as_ref().is_some_and(by_hand)
}

/// Whether its agent cannot go on without an answer (L18).
pub fn is_blocked(view: &TaskView) -> bool {
    view.needs.as_ref().is_some_and(|needs| matches!(needs.kind, NeedKind::Blocked { .. }))
}

/// Whether it passes only with tests that it changed, and a person decides (L20).
pub fn asks_about_tests(view: &TaskView) -> bool {
    view.needs.as_ref().is_some_and(|needs| matches!(needs.kind, NeedKind::TestsChanged { .. }))
}

/// How it ended, painted: `✓ proven`.
pub fn headline(view: &TaskView, result: &TaskResult, messages: Messages) -> String {
    if let Some(ended) = kind_words::of(&view.kind).and_then(|own| own.ended(view, result, messages)) {
        return ended;
    }
    let conclusion = Conclusion::of(view, result);
    let text = format!("{} {}", conclusion.sign(), conclusion.words(messages));
    paint(conclusion.role().style().bold(), &text)
}

/// Whether a file decides what git or Dacapo itself do here.
fn is_setting(path: &str) -> bool {
    path.starts_with(".git/") || path.starts_with(".dacapo/") || path.ends_with("/.dacapo/config.toml")
}

/// `cargo test ✗ → ✓ "212 passed" on c0ffee1`. What only passed here says nothing about the commit.
fn proof_line(proof: &Proof, state: Option<&ProofState>, messages: Messages) -> String {
    let proven = matches!(state, Some(ProofState::Proven { .. }));
    let sign = |passed: Option<bool>| match passed {
        Some(true) if proven => paint(GOOD, "✓"),
        Some(true) => paint(BOLD, "✓"),
        Some(false) => paint(BAD, "✗"),
        None => paint(DIM, "–"),
    };
    let way = match (proof.before, proof.after) {
        (Some(true), Some(true)) => format!("{} {}", sign(Some(true)), messages.proof_stayed_green()),
        (None, after) => sign(after),
        (before, None) => sign(before),
        (before, after) => format!("{} → {}", sign(before), sign(after)),
    };
    let timed_out = if proof.timed_out { format!(" {}", messages.proof_timed_out()) } else { String::new() };
    let words = words::quoted(&proof.last_line).map_or_else(String::new, |line| format!(" {line}"));
    let commit = match state {
        Some(ProofState::PassedHere(_)) => format!(" {}", messages.proof_passed_here()),
        Some(ProofState::Proven { .. } | ProofState::TestsChanged { .. }) | None => {
            let on = |oid: &Oid| format!(" {}", messages.proof_on_commit(oid.short()));
            proof.commit.as_ref().map_or_else(String::new, on)
        }
    };
    format!("{} {way}{timed_out}{words}{commit}", proof.command)
}

/// It was to have one, and there is none yet.
pub(super) fn has_no_worktree(view: &TaskView) -> bool {
    view.worktree.is_some() && view.branch.is_none()
}

fn commits(view: &TaskView, result: &TaskResult, messages: Messages) -> String {
    if has_no_worktree(view) {
        return messages.ended_before_worktree();
    }
    let detached = messages.detached_head();
    let branch = view.branch.as_deref().map_or(detached.as_str(), words::branch);
    let range = match (&result.base_commit, &result.last_commit) {
        (base, Some(last)) if base.as_ref() != Some(last) => {
            let from = base.as_ref().map_or("", |oid| oid.short());
            format!(" ({from}..{})", last.short())
        }
        _ => String::new(),
    };
    let commits = messages.commits(u64::from(view.commits));
    let text = messages.ended_commits_on(&commits, branch, &range);
    // After a merge the worktree is gone.
    match view.worktree.as_ref().filter(|_| view.merged.is_none()) {
        Some(worktree) => messages.ended_in_worktree(&text, &messages.path(Path::new(worktree))),
        None => text,
    }
}

/// What people may want to type next, the most likely first.
pub fn next(view: &TaskView, result: &TaskResult, messages: Messages) -> Vec<Next> {
    let name = &view.name;
    if let Some(next) = kind_words::of(&view.kind).and_then(|own| own.next(view, result, messages)) {
        return next;
    }
    if let Some(needs) = &view.needs
        && matches!(needs.kind, NeedKind::Proof { .. } | NeedKind::Blocked { .. })
        && result.outcome == Outcome::Paused
    {
        return Next::answers(needs, name, messages);
    }
    if let Some(needs) = view.needs.as_ref().filter(|_| asks_about_tests(view))
        && result.outcome == Outcome::Paused
    {
        let diff = NextAct::of(ActCommand::Diff, name).with(ActArgument::Tests);
        let diff = Next::of(diff, messages.next_diff_of_tests(), messages);
        return std::iter::once(diff).chain(Next::answers(needs, name, messages)).collect();
    }
    let act = |command| NextAct::of(command, name);
    let resume = Next::of(act(ActCommand::Resume), messages.next_resume(), messages);
    let more = act(ActCommand::Resume).with(ActArgument::Iterations(MORE_ITERATIONS));
    let more = Next::of(more, messages.next_more_iterations(u64::from(MORE_ITERATIONS)), messages);
    let drop = Next::of(act(ActCommand::Drop), messages.next_drop(), messages);
    let mut all = Vec::new();
    if is_paused_by_hand(view, result) {
        all.push(resume.clone());
    }
    if result.last_commit != result.base_commit {
        all.push(Next::of(act(ActCommand::Diff), messages.next_diff(), messages));
        if view.worktree.is_some() && view.merged.is_none() {
            all.push(Next::of(act(ActCommand::Merge), messages.next_merge(), messages));
        }
    }
    if view.merged.is_some() {
        return all;
    }
    match result.outcome {
        // It goes on with the command that failed; another one takes a new task.
        _ if result.failed_setup.is_some() => {
            all.extend([resume, drop]);
            return all;
        }
        Outcome::Completed => {
            let more_work = act(ActCommand::Resume).with(ActArgument::MoreWork);
            all.push(Next::of(more_work, messages.next_more_work(), messages));
        }
        Outcome::MaxReached | Outcome::Stalled => all.push(more),
        _ if is_paused_by_hand(view, result) => {}
        _ if view.max_iterations.is_some_and(|max| view.iteration >= max) => all.push(more),
        _ => all.push(resume),
    }
    all.extend(view.worktree.is_some().then_some(drop));
    all
}
