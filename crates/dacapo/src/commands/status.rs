//! `dacapo status`.

use dacapo_app::operations::tasks::last_words;
use dacapo_app::sizes;
use dacapo_core::engine::mirroring::put_right;
use dacapo_core::view::Status;

use crate::args::TaskArgs;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::json;
use crate::output::status;

pub(super) fn run(app: &Console, args: &TaskArgs) -> Result<u8, Failure> {
    let (repo, dir) = app.task(args.name.as_deref())?;
    let view = app.view(&dir)?;
    if view.status.is_settled()
        && app.kinds.publish(&view.kind)
        && let Ok(spec) = dir.spec()
    {
        // Its process may have died before it could say so in the checkout (M8).
        put_right(&repo, &dir, &spec, app.kinds);
    }
    if args.json {
        app.print(&json::status(&view));
    } else {
        let words = (view.status == Status::Interrupted).then(|| last_words(&dir)).flatten();
        app.print(&status::status(&view, sizes::occupied(&dir), words.as_deref(), app.messages));
    }
    Ok(0)
}
