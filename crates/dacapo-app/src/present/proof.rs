//! What people read about the proof of a commit (L4).

use std::fmt::Write as _;

use dacapo_core::event::{Event, Exposed, Hidden, HiddenWhy, ProofFailure, ProofState, TaskResult, Unproven};

use super::words::{self, WARN, paint};
use crate::messages::Messages;

/// How many files are listed at the end of a task.
const FILES: usize = 8;
/// How many stand in one line.
const NAMED: usize = 5;

/// Why what passed is not proven, and what would help; nothing where it is, or where nothing passed.
pub fn not_proven(result: &TaskResult, messages: Messages) -> String {
    let Some(ProofState::PassedHere(unproven)) = &result.proof_state else { return String::new() };
    let mut out = String::new();
    let why = words::line(&unproven_because(unproven, messages), words::WHOLE);
    let _ = writeln!(out, "  {}", paint(WARN, &messages.proof_not_proven(&why)));
    if let Unproven::Failed(failure) = unproven {
        out.push_str(&listed(failure, messages));
        if failure.hidden.iter().any(|file| file.why == HiddenWhy::UntrackedBefore) {
            let _ = writeln!(out, "  {}", messages.proof_commit_what_is_needed());
        }
    }
    if let Some(cure) = unproven.cure() {
        let _ = writeln!(out, "  {}", messages.proof_configure(&words::line(cure, words::WHOLE)));
    }
    out
}

/// Why, in a sentence without its first words: `passed here, not proven: …`.
pub fn unproven_because(unproven: &Unproven, messages: Messages) -> String {
    match unproven {
        Unproven::WorkspaceOnly => "--proof workspace".to_owned(),
        Unproven::NoCommit => messages.proof_no_commit(),
        Unproven::Interrupted => messages.proof_interrupted(),
        Unproven::Unavailable { message, .. } => message.clone(),
        Unproven::Failed(failure) => {
            let checks: Vec<String> = failure
                .checks
                .iter()
                .map(|check| format!("`{}` {}", check.command, words::exit(&check.ending, messages)))
                .collect();
            messages.proof_failed_in_checkout(failure.commit_id.short(), &checks.join(", "))
        }
    }
}

/// The files that no commit holds, a line each.
fn listed(failure: &ProofFailure, messages: Messages) -> String {
    if failure.hidden.is_empty() {
        return String::new();
    }
    let mut out = format!("  {}\n", messages.proof_not_in_commit(failure.commit_id.short()));
    for file in failure.hidden.iter().take(FILES) {
        let _ = writeln!(out, "    {}  {}", words::line(&file.path, 80), hidden_because(file.why, messages));
    }
    let more = failure.hidden_total.saturating_sub(failure.hidden.len().min(FILES) as u64);
    if more > 0 {
        let _ = writeln!(out, "    {}", messages.more_below(more));
    }
    out
}

/// Why the commit does not have the file as it is in the workspace.
fn hidden_because(why: HiddenWhy, messages: Messages) -> String {
    match why {
        HiddenWhy::Ignored => messages.hidden_ignored(),
        HiddenWhy::Excluded => messages.hidden_excluded(),
        HiddenWhy::LeftOutSecret => messages.hidden_secret(),
        HiddenWhy::LeftOutSize => messages.hidden_size(),
        HiddenWhy::UntrackedBefore => messages.hidden_untracked_before(),
        HiddenWhy::Untracked => messages.hidden_untracked(),
        HiddenWhy::NestedRepository => messages.hidden_repository(),
        HiddenWhy::EmptyDirectory => messages.hidden_empty_directory(),
        HiddenWhy::IncludedChanged => messages.hidden_included_changed(),
        HiddenWhy::AssumeUnchanged => messages.hidden_assume_unchanged(),
        HiddenWhy::SkipWorktree => messages.hidden_skip_worktree(),
        HiddenWhy::Filtered => messages.hidden_filtered(),
        HiddenWhy::Changed => messages.hidden_changed(),
    }
}

/// `results.json (ignored by .gitignore), a.txt (not committed) and 3 more`.
pub fn hidden_files(hidden: &[Hidden], total: u64, messages: Messages) -> String {
    // A line break in a name is shown, not obeyed.
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let path = |path: &str| path.chars().map(shown).collect::<String>();
    let one = |file: &Hidden| messages.hidden_file(&path(&file.path), &hidden_because(file.why, messages));
    let named: Vec<String> = hidden.iter().take(NAMED).map(one).collect();
    let more = total.saturating_sub(named.len() as u64);
    let more = if more > 0 { messages.and_more(more) } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// Why a proof could see what the agent left, in a sentence.
pub fn exposed(exposed: &Exposed, messages: Messages) -> String {
    let why = match exposed {
        Exposed::Refused { message } => messages.proof_exposed_refused(message),
        Exposed::HomeInWorkspace => messages.proof_exposed_home(),
    };
    messages.proof_exposed(&words::line(&why, words::WHOLE))
}

/// What happened in a proof, in one line; none for other events.
pub fn step(event: &Event, messages: Messages) -> Option<String> {
    match event {
        Event::ProofStarted { commit_id, cache: Some(cache), .. } => {
            Some(messages.proof_started_from_caches(commit_id.short(), cache.commit_id.short()))
        }
        Event::ProofStarted { commit_id, set_up: true, .. } => {
            Some(messages.proof_started_after_setup(commit_id.short()))
        }
        Event::ProofStarted { commit_id, set_up: false, .. } => {
            Some(messages.proof_started(commit_id.short()))
        }
        Event::ProofUnavailable { commit_id, message, .. } => {
            Some(messages.proof_unavailable(commit_id.short(), message))
        }
        Event::ProofFailed { commit_id, hidden, hidden_total, .. } if !hidden.is_empty() => {
            let files = hidden_files(hidden, *hidden_total, messages);
            Some(messages.proof_failed_without(commit_id.short(), &files))
        }
        Event::ProofFailed { commit_id, .. } => Some(messages.proof_failed(commit_id.short())),
        _ => None,
    }
}
