//! `dacapo list`: grouped by what needs the user.

use std::io::IsTerminal as _;

use dacapo_app::operations::list::{Listed, Scope as Whose};
use dacapo_app::sizes::Measure;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::args::List;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::listing::{self, DoneTasks, Entry, Frame, Scope, Sizes};
use crate::output::words;

pub(super) fn run(app: &Console, args: &List) -> Result<u8, Failure> {
    let whose = if args.all { Whose::Everywhere } else { Whose::Repository };
    let measure = if args.size { Measure::Now } else { Measure::AsKnown };
    if args.json {
        app.print(&serde_json::to_string(&app.list_json(whose, measure)?).unwrap_or_default());
        return Ok(0);
    }
    let Listed { entries, elsewhere, proofs } = app.list(whose, measure)?;
    if entries.is_empty() {
        app.print(&app.messages.list_no_tasks());
        return Ok(0);
    }
    let frame = Frame {
        width: terminal_width(),
        now: Timestamp::now(),
        zone: zone(&entries),
        messages: app.messages,
        sizes: if args.size { Sizes::All } else { Sizes::Large },
        done: if args.done { DoneTasks::Shown } else { DoneTasks::Counted },
        scope: if args.all {
            Scope::Everywhere
        } else {
            Scope::Here { everywhere: entries.len() + elsewhere }
        },
    };
    app.print(&listing::list(&entries, &frame));
    if let Some((checkouts @ 1.., bytes)) = proofs {
        let what = app.messages.proof_checkouts(checkouts as u64);
        app.print(&app.messages.list_proof_checkouts(&what, &words::bytes(bytes)));
    }
    Ok(0)
}

/// Finding out which zone the system has may take longer than all the rest: only where a time is shown.
fn zone(entries: &[Entry]) -> TimeZone {
    let shown = entries.iter().any(|entry| entry.brief.waiting_until.is_some());
    if shown { TimeZone::system() } else { TimeZone::UTC }
}

/// None where the output goes elsewhere: nothing is cut there.
fn terminal_width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    Some(if columns == 0 { 80 } else { columns.max(40) })
}
