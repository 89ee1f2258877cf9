//! `dacapo milestone new`: the file of a milestone, with what is known of it.

use std::path::Path;

use dacapo_app::messages::{Messages, command, say};
use dacapo_app::operations::milestone::which;
use dacapo_app::present::milestone::flaws;
use dacapo_app::present::milestone::json::{MilestoneCreated, MilestoneObject};
use dacapo_app::present::next::{self, Next};
use dacapo_core::spec::TaskName;
use jiff::Timestamp;

use crate::args::Show;
use crate::args::milestone::NewMilestone;
use crate::commands::Console;
use crate::commands::open;
use crate::error::Failure;
use crate::milestones::{Folder, Known, Outline, Section, known_of};
use crate::new_files::{NewFile, create_new};
use crate::output::words::{BOLD, WARN, paint};
use crate::question::asking;
use crate::trust::Using;

pub(super) fn run(app: &Console, args: &NewMilestone) -> Result<u8, Failure> {
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
        let failure = Failure::usage(say(|m| m.milestones_invalid(&flaws::flaw(&error.flaw, m))))
            .kept(say(|m| m.kept_nothing_written()));
        match flaws::cure(&error.flaw, Messages::ENGLISH) {
            Some(_) => failure.hint(say(|m| flaws::cure(&error.flaw, m).unwrap_or_default())),
            None => failure,
        }
    })?;
    let path = folder.file(&id);
    match create_new(&path, text.as_bytes())? {
        NewFile::Created => {}
        NewFile::Exists => {
            return Err(Failure::usage(say(|m| {
                m.milestones_exists(id.as_str(), &path.display().to_string())
            }))
            .kept(say(|m| m.milestones_kept_file()))
            .hint(command(format_args!("milestone show {id}"))));
        }
    }
    let empty: Vec<&str> = outline.empty().into_iter().map(Section::name).collect();
    if args.json {
        let created = MilestoneCreated {
            id: id.to_string(),
            path: path.display().to_string(),
            fill_in: empty.iter().map(|&section| section.to_owned()).collect(),
        };
        app.print(&MilestoneObject::MilestoneCreated(created).line());
        return Ok(0);
    }
    app.print(&told(app, &id, &path, &empty, matches!(known, Known::OtherTask)));
    if let Some(loaded) = editing {
        let failure = match app.in_editor(&loaded.config, &path, folder.top()) {
            Ok(plan) => open::become_editor(app, &plan),
            Err(failure) => failure,
        };
        return Err(failure.kept(say(|m| m.milestones_kept_written_file())));
    }
    Ok(0)
}

/// An ID stands for one milestone for good: what came of it would be told of the new one.
fn refuse_what_was(id: &TaskName, known: &Known) -> Result<(), Failure> {
    if matches!(known, Known::Nothing | Known::OtherTask) {
        return Ok(());
    }
    let was = |m: Messages| match known {
        Known::Nothing | Known::OtherTask | Known::Task(_) => m.milestones_id_begun(),
        Known::Mirrored(mirror) => m.milestones_id_was(&mirror.status_in_words(m)),
        Known::Unreadable(error) => m.milestones_id_unreadable(error.in_words(m)),
    };
    Err(Failure::usage(say(|m| m.milestones_id_taken(id.as_str(), &was(m))))
        .kept(say(|m| m.kept_nothing_written()))
        .hint(say(|m| m.milestones_choose_id()))
        .hint(command(format_args!("milestone show {id}"))))
}

fn told(app: &Console, id: &TaskName, path: &Path, empty: &[&str], taken: bool) -> String {
    let path = app.here().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let (messages, path) = (app.messages, app.messages.path(path));
    let mut out = messages.milestones_written(&paint(BOLD, id.as_str()), &path);
    if !empty.is_empty() {
        out.push_str(&format!("\n  {}", paint(WARN, &messages.milestones_fill_in(&empty.join(", ")))));
    }
    if taken {
        let note = messages.milestones_name_taken(id.as_str());
        out.push_str(&format!("\n  {}", paint(WARN, &note)));
    }
    let start = messages.command(format_args!("milestone start {id}"));
    let mut all = vec![Next::new(start, messages.page_do_start())];
    // What is not filled in cannot be started.
    if !empty.is_empty() {
        all.insert(0, Next::new(format!("$EDITOR {path}"), messages.milestones_do_fill_in()));
    }
    out.push_str(&format!("\n{}", next::lines(&all, messages)));
    out
}
