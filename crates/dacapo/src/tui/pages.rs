//! Which page shows a task, its changes, its log: one place to ask, so that keys, cards and commands open the same.

use dacapo_core::overview::Brief;

use super::pager::Pager;
use super::screen::{Context, Reply};

/// The page of a task.
pub(crate) fn task(brief: &Brief, context: &Context<'_>) -> Reply {
    Reply::to(Pager::new(brief.name.clone(), vec!["status".into(), brief.name.clone()]).of(brief, context))
}

/// What a task changed, in all or in one iteration, as people count.
pub(crate) fn diff(brief: &Brief, iteration: Option<u32>, context: &Context<'_>) -> Reply {
    let mut args = vec!["diff".to_owned(), brief.name.clone()];
    if let Some(iteration) = iteration {
        args.extend(["--iteration".to_owned(), iteration.to_string()]);
    }
    Reply::to(Pager::new(context.messages.tui_key_diff(), args).of(brief, context))
}

/// Its log.
pub(crate) fn log(brief: &Brief, context: &Context<'_>) -> Reply {
    Reply::to(
        Pager::new(context.messages.tui_page_log(), vec!["logs".into(), brief.name.clone()])
            .of(brief, context),
    )
}
