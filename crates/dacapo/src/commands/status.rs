//! `dacapo status`.

use dacapo_core::view::Status;

use super::background::last_words;
use super::{print, task, view};
use crate::args::One;
use crate::error::Failure;
use crate::output::status;

pub(super) fn run(args: &One) -> Result<u8, Failure> {
    let (_, dir) = task(args.name.as_deref())?;
    let view = view(&dir)?;
    if args.json {
        print(&view.to_json().to_string());
    } else {
        let words = (view.status == Status::Interrupted).then(|| last_words(&dir)).flatten();
        print(&status::status(&view, super::list::occupied(&dir), words.as_deref()));
    }
    Ok(0)
}
