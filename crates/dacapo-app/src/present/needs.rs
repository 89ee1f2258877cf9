//! What a task needs a person for, and how it is answered on a command line.

use dacapo_core::event::{CheckBrief, CheckPhase, Choice, MainBranch, NeedKind, Needs, ProofFailure};

use super::act::{ActArgument, NextAct};
use super::changed_tests;
use super::proof::hidden_files;
use super::words;
use crate::messages::Messages;

/// How many commits are named.
const MOST_COMMITS: usize = 10;

/// The question, in a line but for what somebody else said.
pub fn question(kind: &NeedKind, messages: Messages) -> String {
    match kind {
        NeedKind::Resume { .. } => messages.ended_paused_by_you(),
        NeedKind::Blocked { question } | NeedKind::Permission { question } => question.clone(),
        NeedKind::Proof { failure } => {
            failure.as_ref().map(|failure| red_proof(failure, messages)).unwrap_or_default()
        }
        NeedKind::TestsChanged { .. } => changed_tests::question(kind, messages).unwrap_or_default(),
        NeedKind::Rejections { times, reason } => messages.needs_rejected(*times, reason),
        NeedKind::Settled { reason } => messages.needs_settled(reason),
        NeedKind::Final { times, reason } => messages.needs_final_rejected(*times, reason),
        NeedKind::Rounds { used, reason: Some(reason) } => {
            messages.needs_rounds_because(&messages.needs_rounds(*used), reason)
        }
        NeedKind::Rounds { used, reason: None } => messages.needs_rounds(*used),
        NeedKind::Main { found } => {
            found.as_ref().map(|found| main_branch(found, messages)).unwrap_or_default()
        }
        NeedKind::Review { found: Some(found) } => messages.needs_review_and(&main_branch(found, messages)),
        NeedKind::Review { found: None } => messages.needs_review(),
    }
}

/// What a person can answer task `name`, the most likely first.
pub fn answers(needs: &Needs, name: &str) -> Vec<NextAct> {
    let tests = matches!(needs.kind, NeedKind::TestsChanged { .. });
    let answer = |(choice, number)| match NextAct::answer(choice, number, name) {
        // It goes on with what the person says.
        act if tests && *choice == Choice::Reject => act.with(ActArgument::Message),
        act => act,
    };
    needs.choices.iter().zip(1..).map(answer).collect()
}

/// The same as a person types it; what an agent offers is called as the agent calls it.
pub fn commands(needs: &Needs, name: &str, messages: Messages) -> Vec<String> {
    answers(needs, name).iter().map(|act| act.command_line(messages)).collect()
}

/// What became of the main branch, and that it is for a person to say why.
pub fn main_branch(found: &MainBranch, messages: Messages) -> String {
    let MainBranch { branch, since_round, was, now, lost, commits } = found;
    let main = branch.clone().unwrap_or_else(|| messages.needs_main_branch());
    let was = was.as_ref().map_or_else(|| messages.needs_main_elsewhere(), |was| was.short().to_owned());
    let mut text = match now {
        None => messages.needs_main_gone(&main, *since_round, &was),
        Some(now) if *lost => messages.needs_main_lost(&main, &was, now.short(), *since_round),
        Some(_) => String::new(),
    };
    if !commits.is_empty() {
        let mut named = commits[..commits.len().min(MOST_COMMITS)].join(", ");
        if commits.len() > MOST_COMMITS {
            named += &messages.and_more((commits.len() - MOST_COMMITS) as u64);
        }
        let holds = messages.needs_main_holds(&main, *since_round, &named);
        text = if text.is_empty() { holds } else { messages.clauses(&text, &holds) };
    }
    messages.needs_main_was_it_you(&text)
}

/// The agent was told, and the proof failed again.
fn red_proof(failure: &ProofFailure, messages: Messages) -> String {
    let check =
        |check: &CheckBrief| messages.needs_check(&check.command, &words::exit(&check.ending, messages));
    let checks: Vec<String> = failure.checks.iter().map(check).collect();
    let held_out = failure.checks.iter().all(|check| check.phase == CheckPhase::HeldOut);
    if held_out && !failure.checks.is_empty() {
        return messages.needs_held_out(failure.commit_id.short(), &checks.join(", "));
    }
    let mut out = messages.needs_red_proof(failure.commit_id.short(), &checks.join(", "));
    if !failure.hidden.is_empty() {
        let files = hidden_files(&failure.hidden, failure.hidden_total, messages);
        out += &messages.needs_red_proof_hidden(&files);
    }
    let line = failure.cure.as_deref().unwrap_or("[worktree] setup = [\"COMMAND\"]");
    out + &messages.needs_red_proof_cure(line)
}

#[cfg(test)]
mod tests;
