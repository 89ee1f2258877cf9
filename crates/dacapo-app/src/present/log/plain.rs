//! The lines of events that say all by themselves: no later line needs them, and they need no earlier one.

use dacapo_core::event::{Envelope, Event, SetupResult, WaitCause, WritingEnd, WritingRecord};

use super::clock;
use crate::messages::Messages;
use crate::present::{ends, faults, needs, notices, proof, rooms, untracked, words, workspace};

/// The lines for an event; none for those that need to be remembered.
pub(super) fn lines(line: &Envelope) -> Vec<String> {
    let mut out = Vec::new();
    let mut info = |text: String| out.push(text);
    let task = &line.task;
    match &line.event {
        Event::TaskStarted { pid, version } => {
            info(format!("Task {task} started (pid {pid}, dacapo {version})"));
        }
        Event::WorkspaceReady { path, base_commit, .. } => {
            let base = base_commit.as_ref().map_or("none", |oid| oid.short());
            info(format!("Workspace: {path} (base commit {base})"));
        }
        Event::PortsLeased { port_base } => info(format!("Ports: {port_base} to {}", port_base + 9)),
        Event::RoomTested(receipt) => info(rooms::told(receipt, Messages::ENGLISH)),
        Event::FilesIncluded { .. } => info(words::included(&line.event, Messages::ENGLISH)),
        Event::UntrackedFound(found) => {
            untracked::found(found, Messages::ENGLISH).into_iter().for_each(info);
        }
        Event::SetupFinished(setup) => setup_lines(setup).into_iter().for_each(info),
        Event::ProofStarted { .. } | Event::ProofUnavailable { .. } | Event::ProofFailed { .. } => {
            proof::step(&line.event, Messages::ENGLISH).into_iter().for_each(info);
        }
        Event::Written(record) => writing_line(record).into_iter().for_each(info),
        Event::CommitIntent(_) => {}
        Event::NoCommit(planned) => {
            for problem in &planned.problems {
                info(format!("Not committed: {}", workspace::told(problem, Messages::ENGLISH)));
            }
        }
        Event::Committed { commit, .. } => info(format!("Committed: {}", commit.short())),
        Event::LimitKnown(known) => {
            info(format!("Limit of {} known from task {}: {}", known.agent, known.by, known.message));
        }
        Event::Waiting { cause: cause @ WaitCause::Probe(_), .. } => {
            info(format!("Waiting: {}", ends::wait(cause, Messages::ENGLISH)));
        }
        Event::Waiting { until, cause } => {
            info(format!("Waiting until {}: {}", clock(*until), ends::wait(cause, Messages::ENGLISH)));
        }
        Event::WaitOver => info("Waiting is over".into()),
        Event::AgentChanged { agent, cause } => {
            info(format!("Agent {agent} takes over: {}", ends::change(cause, Messages::ENGLISH)));
        }
        Event::Asked { needs } => {
            info(format!("Waiting for a person: {}", needs::question(&needs.kind, Messages::ENGLISH)));
        }
        Event::Answered => info("Answered".into()),
        Event::Paused { needs } => {
            info(format!("Paused: {}", needs::question(&needs.kind, Messages::ENGLISH)));
        }
        Event::Notice(notice) => info(notices::told(notice, task, Messages::ENGLISH)),
        Event::RecordAltered { message } => info(message.clone()),
        Event::StopRequested { detail, .. } => {
            info(format!("Stop requested: {}", ends::detail(detail, task, Messages::ENGLISH)));
        }
        Event::CommandReceived(received) => info(words::command(received, Messages::ENGLISH)),
        Event::Queued => info("Waiting for a slot: all are taken".into()),
        Event::Dequeued => info("It has a slot now".into()),
        Event::MergeIntent { .. } => {}
        Event::Renamed { from, to, .. } => info(format!("Renamed from {from} to {to}")),
        Event::TakenOver { uncommitted } => {
            let files = words::count(*uncommitted, "uncommitted file");
            info(format!("Taken over by a person, who left {files}"));
        }
        Event::MergeUndone { into } => {
            info(format!("Undone: worktree and branch are back; {} stays as it is", words::branch(into)));
        }
        Event::Merged { into, commit, squash, .. } => {
            let how = if *squash { " as one commit" } else { "" };
            info(format!("Merged into {}: {}{how}", words::branch(into), commit.short()));
        }
        Event::PullRequest { url, branch, base, .. } => {
            info(format!("Pull request of {branch} to {base}: {url}"));
        }
        Event::Notified { how, error: None } => info(format!("Notified by {how}")),
        Event::Notified { how, error: Some(error) } => {
            info(format!("Not notified by {how}: {error}"));
        }
        Event::TaskCreated { .. }
        | Event::Resumed { .. }
        | Event::WorkspaceFailed { .. }
        | Event::UntrackedTouched(_)
        | Event::CheckFinished(_)
        | Event::IterationStarted { .. }
        | Event::TurnStarted { .. }
        | Event::TurnFinished(_)
        | Event::IterationFinished(_)
        | Event::TaskFinished(_)
        | Event::Own(_) => {}
    }
    out
}

fn setup_lines(setup: &SetupResult) -> Vec<String> {
    let took = words::duration(std::time::Duration::from_millis(setup.duration_ms));
    let SetupResult { command, output, .. } = setup;
    let mut out = vec![format!("Setup `{command}`: {} ({took}), output in {output}", setup.ending())];
    if !setup.passed() {
        out.extend(setup.tail.lines().map(|text| format!("  {text}")));
    }
    if !setup.changed_files.is_empty() {
        out.push(format!("The setup changed files (not committed): {}", setup.changed_files.join(", ")));
    }
    out
}

fn writing_line(record: &WritingRecord) -> Option<String> {
    let what = words::writing(record.what, Messages::ENGLISH);
    match &record.end {
        WritingEnd::Done { .. } => {
            Some(format!("{} wrote the {what} ({})", record.by, words::tokens(record.usage.tokens())))
        }
        WritingEnd::Failed { fault } => {
            Some(format!("{} wrote no {what}: {}", record.by, faults::told(fault, Messages::ENGLISH)))
        }
        WritingEnd::Nothing | WritingEnd::Cancelled => None,
    }
}
