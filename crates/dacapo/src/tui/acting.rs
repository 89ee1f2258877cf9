//! Operations that are under way, and what came of them in words.

use dacapo_app::note::MergeStep;
use dacapo_app::operations::act::{MergeResult, MergedTask, Operation, OperationResult, StaysMerged};
use dacapo_app::operations::background::Begun;
use dacapo_app::operations::config::Written;
use dacapo_app::operations::send::{Delivery, Pausing};
use dacapo_app::present::notes;

use super::effect::Act;
use crate::messages::Messages;

/// Operations that are under way.
#[derive(Debug, Default)]
pub(crate) struct Acting(Vec<UnderWay>);

#[derive(Debug)]
struct UnderWay {
    operation: Box<Operation>,
    words: String,
}

impl Acting {
    pub(crate) fn began(&mut self, act: &Act, messages: Messages) {
        self.0.push(UnderWay { operation: act.operation.clone(), words: doing(&act.operation, messages) });
    }

    pub(crate) fn ended(&mut self, act: &Act) {
        if let Some(at) = self.0.iter().position(|under_way| under_way.operation == act.operation) {
            self.0.remove(at);
        }
    }

    /// How far the merge of a task has come.
    pub(crate) fn merging(&mut self, task: &str, now: &MergeStep, messages: Messages) {
        let merge = self.0.iter_mut().find(|under_way| match under_way.operation.as_ref() {
            Operation::Merge { request } => request.ready || request.tasks.iter().any(|own| own == task),
            _ => false,
        });
        if let Some(merge) = merge {
            merge.words = notes::line(
                &dacapo_app::note::Note::Merging { task: task.to_owned(), now: now.clone() },
                messages,
            );
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.is_empty()
    }

    /// What is under way and takes so long that somebody wants to see what comes of it; empty: nothing.
    pub(crate) fn long_words(&self) -> String {
        let long = |under_way: &&UnderWay| match under_way.operation.as_ref() {
            Operation::Merge { .. } | Operation::OpenPullRequest { .. } | Operation::Prune { .. } => true,
            Operation::Prompt { .. }
            | Operation::Start { .. }
            | Operation::Rerun { .. }
            | Operation::Resume { .. }
            | Operation::Tell { .. }
            | Operation::Untell { .. }
            | Operation::Set { .. }
            | Operation::Pause { .. }
            | Operation::Kill { .. }
            | Operation::Approve { .. }
            | Operation::Reject { .. }
            | Operation::Rename { .. }
            | Operation::Drop { .. }
            | Operation::Undo { .. }
            | Operation::SetConfig { .. }
            | Operation::UnsetConfig { .. }
            | Operation::Trust { .. }
            | Operation::RevokeTrust { .. }
            | Operation::Init { .. }
            | Operation::Open { .. }
            | Operation::Takeover { .. }
            | Operation::Own { .. } => false,
        };
        self.0.iter().filter(long).map(|under_way| under_way.words.as_str()).collect::<Vec<_>>().join(" · ")
    }

    /// What is under way, the newest last; empty: nothing.
    pub(crate) fn words(&self) -> String {
        self.0.iter().map(|under_way| under_way.words.as_str()).collect::<Vec<_>>().join(" · ")
    }
}

fn doing(operation: &Operation, messages: Messages) -> String {
    match operation {
        Operation::Prompt { .. } | Operation::Start { .. } | Operation::Rerun { .. } => {
            messages.tui_starting()
        }
        Operation::Resume { task, .. } => messages.tui_resuming(task),
        Operation::Merge { request } => messages.note_merging(&request.tasks.join(", ")),
        Operation::Kill { task } => messages.tui_killing(task),
        Operation::Drop { tasks } => messages.tui_dropping(&tasks.join(", ")),
        Operation::OpenPullRequest { task, .. } => messages.tui_opening_pull_request(task),
        Operation::Tell { .. }
        | Operation::Untell { .. }
        | Operation::Set { .. }
        | Operation::Pause { .. }
        | Operation::Approve { .. }
        | Operation::Reject { .. }
        | Operation::Rename { .. }
        | Operation::Undo { .. }
        | Operation::Prune { .. }
        | Operation::SetConfig { .. }
        | Operation::UnsetConfig { .. }
        | Operation::Trust { .. }
        | Operation::RevokeTrust { .. }
        | Operation::Init { .. }
        | Operation::Open { .. }
        | Operation::Takeover { .. }
        | Operation::Own { .. } => messages.tui_working(),
    }
}

/// What was done, as the command line says it.
pub(crate) fn done(operation: &Operation, done: &OperationResult, messages: Messages) -> String {
    let task = task_of(operation);
    match done {
        OperationResult::Started { task, begun, notes } => {
            let mut words = match begun {
                Begun::Queued => messages.tui_started_queued(task),
                Begun::Running => messages.tui_started(task),
            };
            for note in notes {
                words += &format!("\n{}{}", messages.label_note(), note.in_words(messages));
            }
            words
        }
        OperationResult::Resumed { task, begun: Begun::Queued } => messages.resumed_queued(task),
        OperationResult::Resumed { task, begun: Begun::Running } => messages.resumed_in_background(task),
        OperationResult::Heard { when } => heard(operation, *when, messages),
        OperationResult::Told { when: Delivery::Now, once: true } => messages.tell_next_iteration(task),
        OperationResult::Told { when: Delivery::Now, once: false } => messages.tell_every_iteration(task),
        OperationResult::Told { when: Delivery::Later, once: true } => messages.tell_when_resumed(task),
        OperationResult::Told { when: Delivery::Later, once: false } => messages.tell_from_when_resumed(task),
        OperationResult::Pausing { how: Pausing::Paused } => messages.pause_done(task),
        OperationResult::Pausing { how: Pausing::Soon } => messages.pause_after_iteration(task),
        OperationResult::Killed { .. } => messages.tui_killed(task),
        OperationResult::Answered => messages.answer_given(task),
        OperationResult::FindingSettled { finding } => messages.answer_settled(*finding, task),
        OperationResult::Merged { tasks, halted, .. } => merged(tasks, *halted, messages),
        OperationResult::PullRequest { branch, url, message } => match (url, message) {
            (Some(url), _) => messages.tui_pull_request(url),
            (None, Some(message)) => message.in_words(messages).to_owned(),
            (None, None) => messages.tui_pushed(branch),
        },
        OperationResult::Renamed { from, name } => messages.renamed(from, name, &messages.its_record()),
        OperationResult::Dropped { tasks, problem } => {
            let gone = messages.tui_dropped(&tasks.join(", "));
            problem.as_ref().map_or_else(|| gone.clone(), |problem| format!("{gone}\n{problem}"))
        }
        OperationResult::Undone { task, merged: None } => messages.tui_undone(task),
        OperationResult::Undone { task, merged: Some(StaysMerged { branch, way_back }) } => {
            let way = way_back.as_ref().map(|way| format!("\n{}", way.in_words(messages)));
            let stays = messages.undone_stays_merged(branch);
            format!("{}; {stays}{}", messages.tui_undone(task), way.unwrap_or_default())
        }
        OperationResult::Pruned { removed, bytes, problems } => {
            let size = dacapo_app::present::words::bytes(*bytes);
            let mut words = messages.tui_pruned(removed.len() as u64, &size);
            for problem in problems {
                words += &format!("\n{}", problem.in_words(messages));
            }
            words
        }
        OperationResult::ConfigSet { change } => match change.written {
            Written::Changed => messages.config_set_in(key_of(operation), &change.path),
            Written::AsItWas => messages.config_set_already(key_of(operation), &change.path),
        },
        OperationResult::ConfigUnset { change } => match change.written {
            Written::Changed => messages.config_unset_in(key_of(operation), &change.path),
            Written::AsItWas => messages.config_not_set_in(key_of(operation), &change.path),
        },
        OperationResult::Trusted => messages.tui_trusted(),
        OperationResult::TrustRevoked { hashes } => messages.tui_trust_revoked(hashes.len() as u64),
        OperationResult::Initialized { files } => {
            messages.tui_initialized(files.made.len() as u64, &files.top.display().to_string())
        }
        // It is run, and says for itself what it is.
        OperationResult::ToRun { .. } => String::new(),
        OperationResult::Ended { task } => messages.tui_ended(task),
    }
}

fn heard(operation: &Operation, when: Delivery, messages: Messages) -> String {
    let task = task_of(operation);
    match (operation, when) {
        (Operation::Set { changes, .. }, Delivery::Now) => format!("{task}: {}", changes.join(", ")),
        (Operation::Set { changes, .. }, Delivery::Later) => {
            messages.set_when_resumed(task, &changes.join(", "))
        }
        (_, Delivery::Now) => messages.tell_cleared_from_next(task),
        (_, Delivery::Later) => messages.tell_cleared(task),
    }
}

fn merged(tasks: &[MergedTask], halted: bool, messages: Messages) -> String {
    let mut lines: Vec<String> = tasks
        .iter()
        .map(|MergedTask { task, result }| match result {
            MergeResult::Merged { commit_id } => messages.tui_merged(task, commit_id.short()),
            MergeResult::AlreadyThere => messages.tui_merged_already(task),
            MergeResult::Empty => messages.tui_merged_empty(task),
            MergeResult::LeftOut { reason } => messages.tui_merge_left_out(task, reason.in_words(messages)),
            MergeResult::Halted => messages.tui_merge_halted(task),
        })
        .collect();
    if halted && lines.is_empty() {
        lines.push(messages.tui_merge_halted(""));
    }
    lines.join("\n")
}

/// Whether everything that was asked for came to be.
pub(crate) fn is_whole(done: &OperationResult) -> bool {
    match done {
        OperationResult::Merged { tasks, halted, .. } => {
            let left =
                |result: &MergeResult| matches!(result, MergeResult::LeftOut { .. } | MergeResult::Halted);
            !halted && !tasks.iter().any(|task| left(&task.result))
        }
        OperationResult::Dropped { problem, .. } => problem.is_none(),
        OperationResult::Pruned { problems, .. } => problems.is_empty(),
        OperationResult::Started { .. }
        | OperationResult::Resumed { .. }
        | OperationResult::Heard { .. }
        | OperationResult::Told { .. }
        | OperationResult::Pausing { .. }
        | OperationResult::Killed { .. }
        | OperationResult::Answered
        | OperationResult::FindingSettled { .. }
        | OperationResult::PullRequest { .. }
        | OperationResult::Renamed { .. }
        | OperationResult::Undone { .. }
        | OperationResult::ConfigSet { .. }
        | OperationResult::ConfigUnset { .. }
        | OperationResult::Trusted
        | OperationResult::TrustRevoked { .. }
        | OperationResult::Initialized { .. }
        | OperationResult::ToRun { .. }
        | OperationResult::Ended { .. } => true,
    }
}

/// The task that an operation is about; empty: none, or several.
fn task_of(operation: &Operation) -> &str {
    match operation {
        Operation::Rerun { task, .. }
        | Operation::Resume { task, .. }
        | Operation::Tell { task, .. }
        | Operation::Untell { task }
        | Operation::Set { task, .. }
        | Operation::Pause { task, .. }
        | Operation::Kill { task }
        | Operation::Approve { task, .. }
        | Operation::Reject { task, .. }
        | Operation::OpenPullRequest { task, .. }
        | Operation::Open { task }
        | Operation::Takeover { task, .. }
        | Operation::Rename { task, .. } => task,
        Operation::Undo { task } => task.as_deref().unwrap_or_default(),
        Operation::Prompt { .. }
        | Operation::Start { .. }
        | Operation::Merge { .. }
        | Operation::Drop { .. }
        | Operation::Prune { .. }
        | Operation::SetConfig { .. }
        | Operation::UnsetConfig { .. }
        | Operation::Trust { .. }
        | Operation::RevokeTrust { .. }
        | Operation::Init { .. }
        | Operation::Own { .. } => "",
    }
}

fn key_of(operation: &Operation) -> &str {
    match operation {
        Operation::SetConfig { key, .. } | Operation::UnsetConfig { key, .. } => key,
        _ => "",
    }
}
