//! `dacapo status`.

use dacapo_app::operations::tasks::last_words;
use dacapo_app::sizes;
use dacapo_core::engine::mirroring::put_right;
use dacapo_core::view::Status;

use super::print;
use crate::App;
use crate::args::TaskArgs;
use crate::error::Failure;
use crate::output::json;
use crate::output::status;

pub(super) fn run(app: &App, args: &TaskArgs) -> Result<u8, Failure> {
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
        print(&json::status(&view).to_string());
    } else {
        let words = (view.status == Status::Interrupted).then(|| last_words(&dir)).flatten();
        print(&status::status(&view, sizes::occupied(&dir), words.as_deref(), app.messages));
    }
    Ok(0)
}
