//! What an agent and people are told when checks pass where the agent works and fail in a checkout of its commit (L4).

use std::fmt::Write as _;

use super::history::one_line;
use super::prompt::checks;
use crate::event::{CheckPhase, CheckResult, ProofFailure};
use crate::event::{Hidden, HiddenWhy, LeftFile, LeftWhy};
use crate::git::Oid;

/// How many files are named to the agent.
const FILES_TOLD: usize = 40;
/// And to a person, in one line.
const FILES_ASKED: usize = 5;

/// A red proof, as the next prompt tells it.
#[derive(Debug, Clone)]
pub struct Shortfall<'a> {
    pub failure: &'a ProofFailure,
    /// What the failed checks printed.
    pub checks: &'a [CheckResult],
}

impl Shortfall<'_> {
    /// In words, what the checks printed within so many bytes.
    pub(crate) fn told(&self, bytes: usize) -> String {
        let ProofFailure { commit_id, hidden, hidden_total, .. } = self.failure;
        if self.checks.iter().all(|check| check.phase == CheckPhase::HeldOut) {
            return held_out(commit_id);
        }
        let visible = self.checks.iter().filter(|check| check.phase != CheckPhase::HeldOut);
        let failed = checks(visible, bytes);
        let mut out = format!(
            "All checks pass in this directory, but not in a fresh checkout of your commit {}, and only that counts:\n{failed}\n",
            commit_id.short()
        );
        if hidden.is_empty() {
            out.push_str("No file here differs from that checkout: look for what else the checks depend on (paths outside the repository, times, services, what is installed).");
            return out;
        }
        out.push_str("These files are in no commit as they are here, so that checkout does not have them:\n");
        for file in hidden.iter().take(FILES_TOLD) {
            let _ = writeln!(out, "- {}: {}", one_line(&file.path), hidden_because(file.why));
        }
        let more = hidden_total.saturating_sub(hidden.len().min(FILES_TOLD) as u64);
        if more > 0 {
            let _ = writeln!(out, "- … and {more} more");
        }
        out.push_str("Put what the checks need into files that git tracks (take it out of the ignore rules, undo index flags and filters), or make the checks work without it.");
        out
    }
}

/// What an agent gets to know of a held-out check that failed.
fn held_out(commit: &Oid) -> String {
    format!(
        "A held-out check failed on your commit {}. It tests what was asked for in ways that you are not shown, and all checks \
         that you are shown pass. Read again what was asked for, and make it true in general, not only for the cases that \
         those checks cover.",
        commit.short()
    )
}

/// What is told of files that hold a secret; none where there are none.
pub(super) fn secrets(left_out: &[&LeftFile]) -> Option<String> {
    let line = |file: &&LeftFile| {
        let (path, variable, holder) = match &file.why {
            LeftWhy::HoldsSecret { variable } => (&file.path, variable, "it holds"),
            LeftWhy::NameHoldsSecret { variable } => (&file.path, variable, "its name holds"),
            LeftWhy::Secret | LeftWhy::TooBig { .. } | LeftWhy::NotStageable { .. } => return None,
        };
        Some(format!("- {}: {holder} the value of {variable}", one_line(path)))
    };
    let mut lines: Vec<String> = left_out.iter().filter_map(line).collect();
    let more = lines.len().saturating_sub(FILES_TOLD);
    lines.truncate(FILES_TOLD);
    if more > 0 {
        lines.push(format!("- … and {more} more"));
    }
    (!lines.is_empty()).then(|| {
        format!(
            "These files, as they are now, are left out of your commits, because an environment variable that is a secret is in them:\n{}\n\
             Read the variable where the program runs, and write its value into no file and no name; then they are committed.",
            lines.join("\n")
        )
    })
}

/// Why the commit does not have the file as it is in the workspace.
pub fn hidden_because(why: HiddenWhy) -> &'static str {
    match why {
        HiddenWhy::Ignored => "ignored by .gitignore",
        HiddenWhy::Excluded => "ignored by .git/info/exclude or the global excludes",
        HiddenWhy::LeftOutSecret => "left out of the commit: it looks like a secret",
        HiddenWhy::LeftOutSize => "left out of the commit: it is larger than 50 MB",
        HiddenWhy::UntrackedBefore => "untracked before the task, and so left out of its commits",
        HiddenWhy::Untracked => "not committed",
        HiddenWhy::NestedRepository => "in a git repository of its own",
        HiddenWhy::EmptyDirectory => "an empty directory, which git does not keep",
        HiddenWhy::IncludedChanged => "copied by .worktreeinclude and changed here",
        HiddenWhy::AssumeUnchanged => "its change is hidden by git update-index --assume-unchanged",
        HiddenWhy::SkipWorktree => "its change is hidden by git update-index --skip-worktree",
        HiddenWhy::Filtered => "a clean filter commits different content",
        HiddenWhy::Changed => "it differs from the commit",
    }
}

/// `results.json (ignored by .gitignore), a.txt (not committed) and 3 more`.
pub fn hidden_files(hidden: &[Hidden], total: u64) -> String {
    let named: Vec<String> = hidden
        .iter()
        .take(FILES_ASKED)
        .map(|file| format!("{} ({})", one_line(&file.path), hidden_because(file.why)))
        .collect();
    let more = total.saturating_sub(named.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}
