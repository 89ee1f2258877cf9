//! `dacapo status`.

use dacapo_core::mirror::put_right;
use dacapo_core::view::Status;

use super::background::last_words;
use super::{print, task, view};
use crate::args::One;
use crate::error::Failure;
use crate::output::status;

pub(super) fn run(args: &One) -> Result<u8, Failure> {
    let (repo, dir) = task(args.name.as_deref())?;
    let view = view(&dir)?;
    if view.milestone.is_some()
        && view.status.is_settled()
        && let Ok(spec) = dir.spec()
    {
        // Its process may have died before it could say so in the checkout (M8).
        put_right(&repo.main_checkout(), &dir, &spec);
    }
    if args.json {
        print(&view.to_json().to_string());
    } else {
        let words = (view.status == Status::Interrupted).then(|| last_words(&dir)).flatten();
        print(&status::status(&view, super::list::occupied(&dir), words.as_deref()));
    }
    Ok(0)
}
