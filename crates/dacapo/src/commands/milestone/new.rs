//! `dacapo milestone new`: the file of a milestone, with what is known of it.

use std::path::Path;

use dacapo_app::operations::milestone::which;
use dacapo_core::spec::TaskName;
use jiff::Timestamp;
use serde_json::json;

use crate::App;
use crate::args::Show;
use crate::args::milestone::NewMilestone;
use crate::commands::{open, print};
use crate::error::Failure;
use crate::laying::{Laid, lay};
use crate::milestones::{Folder, Known, Outline, Section, known_of};
use crate::output::words::{BOLD, DIM, WARN, paint};
use crate::question::asking;
use crate::trust::Using;

pub(super) fn run(app: &App, args: &NewMilestone) -> Result<u8, Failure> {
    let id = which::id(&args.id)?;
    let (repo, data) = app.repository()?;
    let folder = Folder::of(&repo);
    let known = known_of(&folder, &data, &id, app.kinds);
    refuse_what_was(&id, &known)?;
    // Before the file is there: who does not trust the editor has changed nothing.
    let settings =
        || asking(app, Show::default(), |answers| app.settings(repo.toplevel(), &[Using::Editor], answers));
    let editing = args.edit.then(settings).transpose()?;
    let title = if args.title.is_empty() { id.to_string() } else { args.title.join(" ") };
    let outline = Outline {
        title: &title,
        goal: args.goal.as_deref().filter(|goal| !goal.trim().is_empty()),
        features: &args.feature,
        criteria: &args.criterion,
        created: Timestamp::now(),
    };
    let text = outline.text().map_err(|error| {
        let hint = error.hint.clone().unwrap_or_default();
        Failure::usage(format!("what is given makes no milestone: {}", error.message))
            .kept("everything; nothing was written")
            .hint(hint)
    })?;
    let path = folder.file(&id);
    match lay(&path, text.as_bytes())? {
        Laid::Made => {}
        Laid::WasThere => {
            return Err(Failure::usage(format!("milestone '{id}' is there already: {}", path.display()))
                .kept("the file as it is")
                .hint(format!("dacapo milestone show {id}")));
        }
    }
    let empty: Vec<&str> = outline.empty().into_iter().map(Section::name).collect();
    if args.json {
        print(&json!({ "id": id, "path": path, "fill_in": empty }).to_string());
        return Ok(0);
    }
    print(&told(app, &id, &path, &empty, matches!(known, Known::OtherTask)));
    if let Some(loaded) = editing {
        let failure = match app.in_editor(&loaded.config, &path, folder.top()) {
            Ok(command) => open::become_editor(&command),
            Err(failure) => failure,
        };
        return Err(failure.kept("the file that was written"));
    }
    Ok(0)
}

/// An ID stands for one milestone for good: what came of it would be told of the new one.
fn refuse_what_was(id: &TaskName, known: &Known) -> Result<(), Failure> {
    let was = match known {
        Known::Nothing | Known::OtherTask => return Ok(()),
        Known::Task(_) => "a milestone of this ID was begun before".to_owned(),
        Known::Mirrored(mirror) => format!("a milestone of this ID was {} before", mirror.status),
        Known::Unreadable(error) => format!("there is something of a milestone of this ID: {error}"),
    };
    Err(Failure::usage(format!("'{id}' cannot be a new milestone: {was}"))
        .kept("everything; nothing was written")
        .hint("choose another ID")
        .hint(format!("dacapo milestone show {id}")))
}

fn told(app: &App, id: &TaskName, path: &Path, empty: &[&str], taken: bool) -> String {
    let path = app.here().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let mut out = format!("{} is written down in {}", paint(BOLD, id.as_str()), path.display());
    if !empty.is_empty() {
        out.push_str(&format!("\n  {}", paint(WARN, &format!("fill in: {}", empty.join(", ")))));
    }
    if taken {
        let note = format!("a task is called {id}; dacapo drop {id} before you start the milestone");
        out.push_str(&format!("\n  {}", paint(WARN, &note)));
    }
    let next = match empty {
        [] => format!("next: dacapo milestone start {id} | show {id} | list"),
        // What is not filled in cannot be started.
        _ => format!("next: $EDITOR {}, then dacapo milestone start {id}", path.display()),
    };
    out.push_str(&format!("\n{}", paint(DIM, &next)));
    out
}
