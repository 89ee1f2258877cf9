//! What a task needs a person for, and how it is answered on a command line.

use std::fmt::Write as _;

use dacapo_core::context::hidden_files;
use dacapo_core::event::{Choice, MainBranch, NeedKind, Needs, ProofFailure};
use dacapo_core::git::Oid;

/// So many commits are named.
const MOST_COMMITS: usize = 10;

/// The question, in a line but for what somebody else said.
pub fn question(kind: &NeedKind) -> String {
    match kind {
        NeedKind::Resume { by } => format!("paused by {}", by.as_deref().unwrap_or("a person")),
        NeedKind::Blocked { question } | NeedKind::Permission { question } => question.clone(),
        NeedKind::Proof { failure } => failure.as_ref().map(red_proof).unwrap_or_default(),
        NeedKind::Rejections { times, reason } => format!("rejected {times}×: {reason}"),
        NeedKind::Settled { reason } => format!("the Acceptor insists on what is settled: {reason}"),
        NeedKind::Final { times, reason } => {
            format!("the whole milestone was rejected {times}× without a new commit: {reason}")
        }
        NeedKind::Rounds { used, reason: Some(reason) } => format!("all {used} rounds are used: {reason}"),
        NeedKind::Rounds { used, reason: None } => format!("all {used} rounds are used"),
        NeedKind::Main { found } => found.as_ref().map(main_branch).unwrap_or_default(),
        NeedKind::Review { found: Some(found) } => {
            format!("all features are accepted; have a look. And {}", main_branch(found))
        }
        NeedKind::Review { found: None } => "all features are accepted; have a look".to_owned(),
    }
}

/// What a person types to give this answer; what the agent of `name` offers is called as the agent calls it.
pub fn command(choice: &Choice, name: &str) -> String {
    match choice {
        Choice::Resume => format!("dacapo resume {name}"),
        Choice::Answer => format!("dacapo resume {name} \"your answer\""),
        Choice::ResumeUnproven => format!("dacapo resume {name} --proof workspace"),
        Choice::ResumeWithRounds { rounds } => format!("dacapo milestone resume {name} --rounds {rounds}"),
        Choice::AddRounds { rounds } => format!("dacapo set {name} rounds=+{rounds}"),
        Choice::Tell => format!("dacapo tell {name} \"…\""),
        Choice::Approve => format!("dacapo approve {name}"),
        Choice::Reject => format!("dacapo reject {name}"),
        Choice::Kill => format!("dacapo kill {name}"),
        Choice::Abandon => format!("dacapo milestone abandon {name}"),
        Choice::Offered { name } => name.clone(),
    }
}

/// All that can be answered.
pub fn commands(needs: &Needs, name: &str) -> Vec<String> {
    needs.choices.iter().map(|choice| command(choice, name)).collect()
}

/// What became of the main branch, and that it is for a person to say why.
pub fn main_branch(found: &MainBranch) -> String {
    let MainBranch { branch, since_round, was, now, lost, commits } = found;
    let main = branch.as_deref().unwrap_or("the main branch");
    let was = was.as_ref().map_or("elsewhere", Oid::short);
    let mut parts = Vec::new();
    match now {
        None => parts.push(format!("{main} is gone since round {since_round}; it was at {was}")),
        Some(now) if *lost => parts.push(format!(
            "{main} was at {was} and is at {} since round {since_round}, without what was on it",
            now.short()
        )),
        Some(_) => {}
    }
    if !commits.is_empty() {
        let mut named = commits[..commits.len().min(MOST_COMMITS)].join(", ");
        if commits.len() > MOST_COMMITS {
            let _ = write!(named, " and {} more", commits.len() - MOST_COMMITS);
        }
        parts.push(format!("{main} holds commits of this milestone since round {since_round} ({named})"));
    }
    format!("{}: was it you? Nothing was undone", parts.join("; "))
}

/// The agent was told, and the proof failed again.
fn red_proof(failure: &ProofFailure) -> String {
    let checks: Vec<String> =
        failure.checks.iter().map(|check| format!("`{}` ({})", check.command, check.ending)).collect();
    let mut out = format!(
        "the checks pass in the worktree, but twice in a row not in a checkout of the commit {}: {}",
        failure.commit_id.short(),
        checks.join(", ")
    );
    if !failure.hidden.is_empty() {
        let _ = write!(out, "; in no commit: {}", hidden_files(&failure.hidden, failure.hidden_total));
    }
    let line = failure.cure.as_deref().unwrap_or("[worktree] setup = [\"COMMAND\"]");
    let _ = write!(
        out,
        "; if a command makes what is missing, put {line} into .dacapo/config.toml and resume; --proof workspace goes without proof"
    );
    out
}
#[cfg(test)]
mod tests;
