//! `dacapo pr`: offers the branch of a task that is not running (S12).

use dacapo_app::operations::after_task::told;
use dacapo_app::operations::pull_request::Offer;
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::PullRequest;

use super::start::intent;
use crate::args::{Pr, Show};
use crate::commands::Console;
use crate::error::Failure;
use crate::pull_request::Wishes;
use crate::question::asking;

pub(super) fn run(app: &Console, args: &Pr) -> Result<u8, Failure> {
    let show = Show { json: args.json, quiet: false };
    let wishes = Wishes {
        title: args.title.clone(),
        base: args.base.clone(),
        draft: args.draft,
        allow_secret: args.allow_secret,
    };
    let Offer { plan, made } =
        asking(app, show, |answers| app.offer(args.name.as_deref(), &wishes, intent(args.dry_run), answers))?;
    let Some(made) = made else {
        app.print(&if args.json { shown(plan.object(None)) } else { plan.shown(app.messages) });
        return Ok(0);
    };
    if let Some(note) = plan.note() {
        complain!("{}{}", app.messages.label_remark(), note.in_words(app.messages));
    }
    if !args.json {
        app.print(&told(&plan, &made, app.messages));
        return Ok(0);
    }
    app.print(&shown(plan.object(Some(&made))));
    Ok(0)
}

fn shown(pull_request: PullRequest) -> String {
    Object::PullRequest(pull_request).line()
}
