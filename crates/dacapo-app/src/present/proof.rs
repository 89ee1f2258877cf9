//! What people read about the proof of a commit (L4).

use std::fmt::Write as _;

use dacapo_core::context::{hidden_because, hidden_files};
use dacapo_core::event::HiddenWhy;
use dacapo_core::event::{Event, ProofFailure, ProofState, TaskResult, Unproven};

use super::words::{self, WARN, paint};

/// So many files are listed at the end of a task.
const FILES: usize = 8;

/// Why what passed is not proven, and what would help; nothing where it is, or where nothing passed.
pub fn not_proven(result: &TaskResult) -> String {
    let Some(ProofState::PassedHere(unproven)) = &result.proof_state else { return String::new() };
    let mut out = String::new();
    let why = words::line(&unproven_because(unproven), words::WHOLE);
    let _ = writeln!(out, "  {}", paint(WARN, &format!("passed here, not proven: {why}")));
    if let Unproven::Failed(failure) = unproven {
        out.push_str(&listed(failure));
        if failure.hidden.iter().any(|file| file.why == HiddenWhy::UntrackedBefore) {
            out.push_str("  to prove it: commit what the checks need of it, then resume\n");
        }
    }
    if let Some(cure) = unproven.cure() {
        let _ = writeln!(out, "  to prove it: {} in .dacapo/config.toml", words::line(cure, words::WHOLE));
    }
    out
}

/// Why, in a sentence without its first words: `passed here, not proven: …`.
pub fn unproven_because(unproven: &Unproven) -> String {
    match unproven {
        Unproven::WorkspaceOnly => "--proof workspace".to_owned(),
        Unproven::NoCommit => "what passed is in no commit".to_owned(),
        Unproven::Interrupted => "stopped before the proof was done".to_owned(),
        Unproven::Unavailable { message, .. } => message.clone(),
        Unproven::Failed(failure) => {
            let checks: Vec<String> =
                failure.checks.iter().map(|check| format!("`{}` {}", check.command, check.ending)).collect();
            format!("in a checkout of {}: {}", failure.commit_id.short(), checks.join(", "))
        }
    }
}

/// The files that no commit holds, a line each.
fn listed(failure: &ProofFailure) -> String {
    if failure.hidden.is_empty() {
        return String::new();
    }
    let mut out = format!("  not in commit {}:\n", failure.commit_id.short());
    for file in failure.hidden.iter().take(FILES) {
        let _ = writeln!(out, "    {}  {}", words::line(&file.path, 80), hidden_because(file.why));
    }
    let more = failure.hidden_total.saturating_sub(failure.hidden.len().min(FILES) as u64);
    if more > 0 {
        let _ = writeln!(out, "    … {more} more");
    }
    out
}

/// What happened in a proof, in one line; none for other events.
pub fn step(event: &Event) -> Option<String> {
    match event {
        Event::ProofStarted { commit_id, set_up, .. } => {
            let set_up = if *set_up { ", after its setup" } else { "" };
            Some(format!("Proof of {} in a checkout of its own{set_up}", commit_id.short()))
        }
        Event::ProofUnavailable { commit_id, message, .. } => {
            Some(format!("No proof of {}: {message}", commit_id.short()))
        }
        Event::ProofFailed { commit_id, hidden, hidden_total, .. } if !hidden.is_empty() => Some(format!(
            "Proof of {} failed; not in the commit: {}",
            commit_id.short(),
            hidden_files(hidden, *hidden_total)
        )),
        Event::ProofFailed { commit_id, .. } => Some(format!("Proof of {} failed", commit_id.short())),
        _ => None,
    }
}
