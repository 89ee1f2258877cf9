//! Which page shows a task, its changes, its log: one place to ask, so that keys, cards and commands open the same.

use dacapo_app::operations::diff::DiffPart;
use dacapo_core::overview::Brief;

use super::diff::DiffPage;
use super::effect::{Effect, Job, Notice};
use super::live::TaskId;
use super::output::Pressed;
use super::pager::Pager;
use super::receipt;
use super::screen::{Context, Reply};
use super::task::TaskPage;

/// The page of a task.
pub(crate) fn task(brief: &Brief, context: &Context<'_>) -> Reply {
    Reply::to(TaskPage::new(brief, context))
}

/// What a task changed, all or a part of it.
pub(crate) fn diff(brief: &Brief, part: DiffPart, context: &Context<'_>) -> Reply {
    Reply::to(DiffPage::new(brief, part, context.messages))
}

/// What is proven of it and what is not.
pub(crate) fn receipt(brief: &Brief, context: &Context<'_>) -> Reply {
    let (id, messages) = (TaskId::of(brief), context.messages);
    let job = Job::new(move |services| super::pager::Printed(receipt::text(services, &id, messages)));
    Reply::to(Pager::reading(messages.receipt_title(), job).of(brief, context))
}

/// What comes of the mouse in a document: what was marked is copied.
pub(crate) fn marked(came: Pressed, context: &Context<'_>) -> Reply {
    match came {
        Pressed::Copy(text) if !text.is_empty() => Reply::effect(Effect::Copy(text)).saying(copied(context)),
        Pressed::Copy(_) | Pressed::Used | Pressed::Unused | Pressed::SearchEnded => Reply::default(),
    }
}

/// Says that something is on the clipboard.
pub(crate) fn copied(context: &Context<'_>) -> Notice {
    Notice::done(context.messages.output_copied())
}

pub(crate) fn log(brief: &Brief, context: &Context<'_>) -> Reply {
    Reply::to(
        Pager::new(context.messages.tui_page_log(), vec!["logs".into(), brief.name.clone()])
            .of(brief, context),
    )
}
