//! What is asked before something is done that changes much, in the words of what would happen now: into which branch, with which
//! conflicts, what comes back. That is read when the question is put.

use std::path::PathBuf;

use dacapo_app::operations::act::Operation;
use dacapo_app::operations::merge::{MergePlan, MergeRequest};
use dacapo_app::operations::undo::PutAway;
use dacapo_app::present::{changed_tests, left_out, words};
use dacapo_core::dropped::DropReason;
use dacapo_core::merge::Expected;
use dacapo_core::overview::Brief;

use super::confirm::{Confirm, Words};
use super::effect::{Act, Job};
use super::screen::{Context, Reply};
use crate::error::Failure;
use crate::messages::Messages;

/// Into which branch, and what may run.
pub(super) fn merge(brief: &Brief, context: &Context<'_>) -> Reply {
    let messages = context.messages;
    let directory = context.directory_of(brief);
    let request = MergeRequest { tasks: vec![brief.name.clone()], ..MergeRequest::default() };
    let act = Act::new(Operation::Merge { request: request.clone() }).at(directory.clone());
    let approved = brief.has_approved_tests();
    let unproven = (!brief.verified && !approved).then(|| messages.tui_confirm_merge_unproven());
    let tests = brief.tests.map(|mark| format!("⚠ {}", changed_tests::mark(mark, messages)));
    let unproven = match (unproven, tests) {
        (Some(unproven), Some(tests)) => Some(format!("{tests}\n{unproven}")),
        (unproven, tests) => unproven.or(tests),
    };
    let name = brief.name.clone();
    let known = Words {
        question: messages.tui_confirm_merge(&name),
        detail: unproven.clone(),
        acts: vec![act.clone()],
    };
    let job = Job::new(move |services| {
        let plan = services.app_in(directory.as_deref()).merge_plan(&request);
        let question = match &plan {
            Ok(plan) => messages.tui_confirm_merge_into(&name, words::branch(&plan.into)),
            // Why it cannot be is said when it is tried.
            Err(_) => messages.tui_confirm_merge(&name),
        };
        let conflicts = plan.ok().and_then(|plan| conflicts(&plan, messages));
        let detail: Vec<String> = conflicts.into_iter().chain(unproven).collect();
        Words { question, detail: (!detail.is_empty()).then(|| detail.join("\n")), acts: vec![act] }
    });
    Reply::to(Confirm::reading(known, job))
}

fn conflicts(plan: &MergePlan, messages: Messages) -> Option<String> {
    let task = plan.tasks.first()?;
    let Expected::Conflicts { files, .. } = &task.expected else { return None };
    let (branch, files) = (words::branch(&plan.into), left_out::files(files, messages));
    Some(match &task.agent {
        Some(agent) => messages.tui_confirm_merge_resolves(branch, &files, agent),
        None => messages.tui_confirm_merge_conflicts(branch, &files),
    })
}

/// What comes back: the last thing that was put away.
pub(super) fn undo(directory: Option<PathBuf>, messages: Messages) -> Reply {
    let known = Words { question: messages.tui_reading(), detail: None, acts: Vec::new() };
    let job = Job::new(move |services| {
        let app = services.app_in(directory.as_deref());
        let last = app.put_away().map(|all| all.into_iter().next());
        let undo = |id: &str| Act::new(Operation::Undo { task: Some(id.to_owned()) }).at(directory.clone());
        last_words(
            last,
            |kept| app.way_back(kept).map(|way| way.in_words(messages).to_owned()),
            undo,
            messages,
        )
    });
    Reply::to(Confirm::reading(known, job))
}

fn last_words(
    last: Result<Option<PutAway>, Failure>,
    way_back: impl Fn(&dacapo_core::dropped::DroppedRecord) -> Option<String>,
    undo: impl Fn(&str) -> Act,
    messages: Messages,
) -> Words {
    let nothing = |question| Words { question, detail: None, acts: Vec::new() };
    match last {
        Err(failure) => nothing(failure.shown(messages).to_string()),
        Ok(None) => nothing(messages.undo_list_empty()),
        Ok(Some(PutAway { kept, .. })) => {
            let (question, detail) = match &kept.why {
                DropReason::Dropped => (messages.tui_confirm_undo_dropped(&kept.name), None),
                DropReason::Merged { into, .. } => {
                    let stays = messages.undone_stays_merged(words::branch(into));
                    let way = way_back(&kept).map(|way| format!("\n{way}")).unwrap_or_default();
                    (messages.tui_confirm_undo_merged(&kept.name), Some(format!("{stays}{way}")))
                }
            };
            Words { question, detail, acts: vec![undo(&kept.id)] }
        }
    }
}

/// What happens to its agent meanwhile.
pub(super) fn takeover(brief: &Brief, context: &Context<'_>) -> Reply {
    let operation = Operation::Takeover { task: brief.name.clone(), no_resume: false };
    let act = Act::new(operation).at(context.directory_of(brief));
    let question = context.messages.tui_confirm_takeover(&brief.name);
    let detail = context.messages.tui_confirm_takeover_pauses(&brief.name);
    Reply::to(Confirm::new(question, Some(detail), act))
}
