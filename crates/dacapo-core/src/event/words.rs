//! What went wrong, as an agent is told that goes on after it: without what only a person could do about it.

use std::fmt::Write as _;
use std::time::Duration;

use super::{AgentFault, Fault, HeadAt, InTheWay, TimeLimit, WorkspaceProblem};
use crate::git::Oid;
use crate::spec::duration_text;

/// All that went wrong; none where nothing did.
pub fn faults(all: &[Fault]) -> Option<String> {
    (!all.is_empty()).then(|| all.iter().map(fault).collect::<Vec<_>>().join("; "))
}

pub fn fault(fault: &Fault) -> String {
    match fault {
        Fault::NotLoggedIn { said, .. } => with("not logged in", said),
        Fault::KeyRefused { holder, said } => with(&format!("the key in {holder} was refused"), said),
        Fault::NotPaidFor { said } => with("payment required", said),
        Fault::SessionGone { agent, said } => session_gone(agent, said),
        Fault::SessionNotTakenUp { follow_up_of, said } => format!(
            "Failed to get session ID for loop follow-up (task {follow_up_of}): the agent's process had ended, and the \
             conversation could not be resumed ({said})"
        ),
        Fault::OutsideRepository { agent } => format!("{agent} refuses to work outside a git repository"),
        Fault::PromptTooLong { agent, most } => {
            format!("{agent} does not accept prompts of more than {most} characters")
        }
        Fault::TooSlow { limit: TimeLimit::Turn, limit_ms } => {
            format!("not finished within {}", span(*limit_ms))
        }
        Fault::TooSlow { limit: TimeLimit::Call, limit_ms } => {
            format!("not finished within call_timeout in [milestone] ({})", span(*limit_ms))
        }
        Fault::Silent { limit_ms, said } => with(
            &format!("no output and no activity for {}", span(*limit_ms)),
            said.as_deref().unwrap_or_default(),
        ),
        Fault::TriedInVain { attempts, said } => {
            with(&format!("gave up after {attempts} attempts without an answer"), said)
        }
        Fault::NoAcpAnswer { said } => {
            let what = "no answer in the Agent Client Protocol: is output = \"acp\" right for this command?";
            with(what, said.as_deref().unwrap_or_default())
        }
        Fault::Unfinished { said } => with("the agent exited with code 0 without ending its turn", said),
        Fault::NotRunnable { code, said } => {
            with(&format!("the agent's command cannot be run (exit {code})"), said)
        }
        Fault::Exited { code, said } => with(&format!("the agent exited with code {code}"), said),
        Fault::Signalled { signal, said } => with(&format!("the agent was ended by signal {signal}"), said),
        Fault::GuardLost => {
            "the agent's guard process was killed; everything it had started was ended".to_owned()
        }
        Fault::NotAllowed(refused) if refused.tools.is_empty() => {
            format!("{} had no tools that can change files, and changed nothing", refused.agent)
        }
        Fault::NotAllowed(refused) => {
            format!(
                "{} was not allowed to use {}, and changed nothing",
                refused.agent,
                refused.tools.join(", ")
            )
        }
        Fault::BudgetUsed => "the budget is used up".to_owned(),
        Fault::Agent(found) => agent(found),
        Fault::Workspace(problem) => workspace(problem),
        Fault::Said { message } => message.clone(),
    }
}

/// Agents differ in what they say about it, and some say nothing.
fn session_gone(agent: &str, said: &str) -> String {
    match agent {
        "gemini" | "opencode" if said.is_empty() => format!("the session is gone: {agent} does not know it"),
        "gemini" | "opencode" => format!("the session is gone: {said}"),
        _ if said.is_empty() => {
            format!("{agent} no longer knows this conversation, so it cannot be continued")
        }
        _ => format!("{agent} no longer has this conversation ({said})"),
    }
}

/// What an adapter found out.
fn agent(found: &AgentFault) -> String {
    match found {
        AgentFault::ModelRefused => "the model refused to go on".to_owned(),
        AgentFault::AnswerCut => "the model's answer was cut off at its limit of tokens".to_owned(),
        AgentFault::CallsUsed => "the agent stopped at its limit of model calls for a turn".to_owned(),
        AgentFault::Cancelled => "the agent says that the turn was cancelled".to_owned(),
        AgentFault::OtherProtocol { version, expected } => {
            format!("it speaks version {version} of the Agent Client Protocol, not {expected}")
        }
        AgentFault::NoSessionId => {
            "Failed to get session ID: the agent opened a conversation without one".to_owned()
        }
        AgentFault::NotReading => "the agent asks without reading the answers".to_owned(),
        AgentFault::OutputNotKept => {
            "what the agent says cannot be written down: is the disk full?".to_owned()
        }
        AgentFault::PathNotText { path } => {
            format!("an ACP agent cannot work in {path}: the path is no UTF-8")
        }
        AgentFault::NoAnswer { limit_ms } => format!("no answer within {}", span(*limit_ms)),
        AgentFault::NothingToUse => "it answered without a word to use".to_owned(),
        AgentFault::EndedWith { agent, word } => format!("{agent} ended with {word}"),
        AgentFault::Interrupted { agent, word } => format!("{agent} was interrupted ({word})"),
        AgentFault::RequestRefused { said } => with("the request was refused", said),
        AgentFault::Exited { agent, code, said } => with(&format!("{agent} exited with code {code}"), said),
        AgentFault::TooOld { said, .. } => said.clone(),
        AgentFault::OldVersion { agent } => {
            format!("this version of {agent} does not know an option that Dacapo uses")
        }
        AgentFault::SharedServer { version, .. } => format!(
            "{version} runs its tools in a background server that it shares with all sessions, where they cannot be ended"
        ),
        AgentFault::ModelNotFound { model } => format!("the model is not found: {model}"),
        AgentFault::BadConfiguration { said } => with("its configuration is invalid", said),
        AgentFault::HalfInstalled { .. } => "it is not fully installed".to_owned(),
    }
}

/// What a git was waiting for.
fn waited_for(programs: &[String]) -> String {
    let named: Vec<String> = programs.iter().map(|program| format!("`{program}`")).collect();
    if named.is_empty() { String::new() } else { format!(", waiting for {}", named.join(", ")) }
}

/// What is wrong with the place to work in.
pub(crate) fn workspace(problem: &WorkspaceProblem) -> String {
    match problem {
        WorkspaceProblem::HeadMoved { found, home, rescued } => {
            let moved = format!("HEAD was moved to {} and is back at {}", head(found), head(home));
            if rescued.is_empty() { moved } else { format!("{moved}; kept as {}", rescued.join(", ")) }
        }
        WorkspaceProblem::NestedRepository { path } => {
            format!("{path} is a git repository of its own and was not committed")
        }
        WorkspaceProblem::Unmerged { paths, total } => {
            format!("conflicts are left in {}; nothing was committed", named(paths, *total))
        }
        WorkspaceProblem::Unfinished { operation } => {
            format!("a {operation} was begun and not finished; nothing was committed")
        }
        WorkspaceProblem::DirectoryGone { path } => format!("the working directory {path} is gone"),
        WorkspaceProblem::RepositoryGone { path } => format!("there is no repository at {path} any more"),
        WorkspaceProblem::SpecialFile { path, kind } => {
            format!(
                "{path} is a {kind}: git would wait for ever to read it; nothing was committed; remove it"
            )
        }
        WorkspaceProblem::GitEnded { command, limit_seconds, programs } => {
            let waited = waited_for(programs);
            let ended = match limit_seconds {
                Some(limit) => format!("`{command}` did not end within {limit} s{waited}"),
                None => format!("`{command}` was ended because the task is to end{waited}"),
            };
            format!("{ended}; nothing was committed, all files are as the agent left them")
        }
        WorkspaceProblem::HistoryGone { commit_id } => {
            format!("commit {} is no longer in the repository", commit_id.short())
        }
        WorkspaceProblem::LinkReplaced { path } => {
            format!("{path} was replaced; git commands there reach another repository")
        }
        WorkspaceProblem::BranchMoved { now, rescued } => {
            let at = now.as_ref().map_or_else(|| "gone".to_owned(), |oid| format!("at {}", oid.short()));
            format!("the branch was moved by somebody else (it is {at}); this iteration is kept as {rescued}")
        }
        WorkspaceProblem::StartGone { commit_id } => {
            format!("commit {}, from which it was to start, is gone", commit_id.short())
        }
        WorkspaceProblem::NoCommits => "a repository without commits cannot have a worktree".to_owned(),
        WorkspaceProblem::BranchExists { branch } => format!("branch '{branch}' already exists"),
        WorkspaceProblem::NotSwitched { branch, found } => {
            format!("{}; it is to be switched to {branch}", in_the_way(found))
        }
        WorkspaceProblem::Astray { on, branch, found } => format!(
            "this checkout is on {}, but the task works on {branch}, and {}",
            on.as_deref().unwrap_or(NO_BRANCH),
            in_the_way(found)
        ),
        WorkspaceProblem::SwitchFailed { branch, message } => {
            format!("this checkout cannot be switched to {branch}: {message}")
        }
        WorkspaceProblem::SwitchBackFailed { on, branch, message } => format!(
            "this checkout is on {} and cannot be switched to {branch}: {message}",
            on.as_deref().unwrap_or(NO_BRANCH)
        ),
        WorkspaceProblem::Unusable { of_task, message, removed_branch } => {
            let mut text = format!("the workspace of task '{of_task}' cannot be used: {message}");
            if let Some(branch) = removed_branch {
                let _ = write!(text, "\nits worktree and branch {branch} were removed");
            }
            text
        }
        WorkspaceProblem::NotMade { because, .. } => {
            format!("cannot create the worktree: {}", workspace(because))
        }
        WorkspaceProblem::Said { message } => message.clone(),
    }
}

/// Shown in place of a branch's name when HEAD is detached.
pub(crate) const NO_BRANCH: &str = "no branch (detached)";

fn head(head: &HeadAt) -> String {
    let at = head.commit_id.as_ref().map_or("no commit", Oid::short);
    match &head.branch {
        Some(branch) => format!("{branch} ({at})"),
        None => format!("detached at {at}"),
    }
}

fn in_the_way(found: &InTheWay) -> String {
    match found {
        InTheWay::Operation { operation } => {
            format!("a {operation} is in progress here")
        }
        InTheWay::Files { paths, total } => {
            format!("there are uncommitted files here ({})", named(paths, *total))
        }
    }
}

fn named(paths: &[String], total: u64) -> String {
    let more = if total > paths.len() as u64 { ", …" } else { "" };
    format!("{}{more}", paths.join(", "))
}

fn with(what: &str, said: &str) -> String {
    let mut out = what.to_owned();
    if !said.is_empty() {
        let _ = write!(out, ": {said}");
    }
    out
}

fn span(ms: u64) -> String {
    duration_text(Duration::from_millis(ms))
}
