//! `dacapo rename`: gives a task another name, with its worktree and branch (S17).

use dacapo_app::operations::rename::Renamed;
use dacapo_app::present::act::{ActCommand, NextAct};
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::Renamed as RenamedObject;
use dacapo_app::present::next::{self, Next};
use dacapo_core::spec::SessionMode;
use dacapo_core::store::{RenameRecord, TaskDir};
use dacapo_core::view::TaskView;

use crate::args::Rename;
use crate::commands::Console;
use crate::error::Failure;
use crate::output::words::{self, DIM, paint};

pub(super) fn run(app: &Console, args: &Rename) -> Result<u8, Failure> {
    let Renamed { dir, record } = app.rename(&args.name, &args.new_name)?;
    tell(app, &dir, &record, args)
}

fn tell(app: &Console, dir: &TaskDir, record: &RenameRecord, args: &Rename) -> Result<u8, Failure> {
    let (from, to) = (&record.from.name, &record.to.name);
    if args.json {
        let own = record.to.worktree.as_ref();
        let renamed = RenamedObject {
            from: from.to_string(),
            to: to.to_string(),
            worktree: own.map(|own| own.path.display().to_string()),
            branch: own.map(|own| words::branch(&own.branch).to_owned()),
        };
        app.print(&Object::Renamed(renamed).line());
        return Ok(0);
    }
    let what = match record.to.worktree.as_ref().filter(|own| own.path.exists()) {
        Some(own) => app.messages.branch_and_path(words::branch(&own.branch), &app.messages.path(&own.path)),
        None => app.messages.its_record(),
    };
    app.print(&app.messages.renamed(from.as_str(), to.as_str(), &what));
    for note in notes(app, dir, record) {
        app.print(&paint(DIM, &format!("  {note}")));
    }
    let status = NextAct::of(ActCommand::Status, to.as_str());
    let status = Next::of(status, app.messages.next_status(), app.messages);
    app.print(&next::lines(&[status], app.messages));
    Ok(0)
}

/// What does not move along.
fn notes(app: &Console, dir: &TaskDir, record: &RenameRecord) -> Vec<String> {
    let (Ok(spec), Ok(view)) = (dir.spec(), TaskView::load(dir, app.kinds)) else { return Vec::new() };
    let moved = record.to.worktree.as_ref().is_some_and(|own| own.path.exists());
    let mut notes = Vec::new();
    if moved && !spec.place.setup().is_empty() {
        notes.push(app.messages.renamed_setup_again());
    }
    if moved && spec.policy.session == SessionMode::Resume {
        notes.push(app.messages.renamed_new_session());
    }
    if view.pull_request.is_some() {
        notes.push(app.messages.renamed_pull_request_stays());
    }
    notes
}
