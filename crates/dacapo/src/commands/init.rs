//! `dacapo init`: the files that Dacapo reads in a repository, each with what it is for.

mod anima;
mod layout;

use std::path::Path;

use serde_json::json;

use super::print;
use crate::App;
use crate::args::Init;
use crate::config::{Project, Whose, load};
use crate::error::Failure;
use crate::inside::is_inside;
use crate::laying::{Laid, lay};
use crate::milestones::Folder;
use crate::output::words::{self, BOLD, DIM, WARN, paint};

/// What came of it; paths are from the top of the checkout.
#[derive(Debug, Default)]
struct Report {
    made: Vec<String>,
    there: Vec<String>,
    imported: Vec<anima::Imported>,
    notes: Vec<String>,
}

impl Report {
    fn lay(&mut self, top: &Path, path: &str, text: &str) -> Result<Laid, Failure> {
        let laid = lay(&top.join(path), text.as_bytes()).map_err(|failure| {
            failure.hint("make room and run dacapo init again: it goes on where it was")
        })?;
        match laid {
            Laid::Made => self.made.push(path.to_owned()),
            Laid::WasThere => self.there.push(path.to_owned()),
        }
        Ok(laid)
    }
}

pub(super) fn run(app: &App, args: &Init) -> Result<u8, Failure> {
    let (repo, _) = app.repository()?;
    let folder = Folder::of(&repo);
    let top = folder.top();
    let mut report = Report::default();
    let (mut config, mut settings) = (crate::config::sample(Whose::Project), Vec::new());
    if let Some(from) = &args.import {
        let from = if from.is_dir() { from.clone() } else { top.join(from) };
        let anima = anima::Anima::at(&from)?;
        // First: what is taken over is not in the way of itself.
        anima.import(&folder, &mut report)?;
        settings = anima.settings();
        config = anima::Anima::put_in(&config, &settings);
    } else if top.join(anima::DIRECTORY).is_dir() {
        report.notes.push(".anima/ is here: dacapo init --import takes its milestones over".to_owned());
    }
    for (path, text) in layout::files(&config) {
        report.lay(top, &path, &text)?;
    }
    if report.made.iter().any(|path| path == layout::CONFIG) {
        trust_what_was_written(app, top)?;
    }
    if report.there.iter().any(|path| path == layout::CONFIG) {
        let unset = settings.iter().map(|(key, value)| {
            format!("{} is there already: set {key} = {value} in its [milestone] yourself", layout::CONFIG)
        });
        report.notes.extend(unset);
    }
    if top.join("VISION.md").exists() {
        report
            .notes
            .push("VISION.md at the top is what agents are given, before .dacapo/VISION.md".to_owned());
    }
    if args.json {
        let imported = report.imported.iter().map(anima::Imported::to_json).collect::<Vec<_>>();
        let Report { made, there, notes, .. } = &report;
        print(
            &json!({ "top": top, "made": made, "there": there, "imported": imported, "notes": notes })
                .to_string(),
        );
    } else {
        print(&told(&report, top));
    }
    Ok(0)
}

/// Settings that Dacapo wrote for this user need no further word (R6); what an agent has it write does.
fn trust_what_was_written(app: &App, top: &Path) -> Result<(), Failure> {
    if let Project::Unconfirmed { brought, .. } = load(&app.project_sources(top))?.project
        && !is_inside(app)?
    {
        app.keep_trust(top, &brought);
    }
    Ok(())
}

fn told(report: &Report, top: &Path) -> String {
    let mut lines = vec![format!("{} in {}", paint(BOLD, ".dacapo/"), top.display())];
    lines.extend(
        report.made.iter().map(|path| format!("  made    {path}{}", paint(DIM, &layout::what_for(path)))),
    );
    lines.extend(report.there.iter().map(|path| format!("  there   {path}")));
    for imported in &report.imported {
        lines.push(format!("  import  {}", words::line(&imported.in_words(), words::WHOLE)));
    }
    let notes = report.notes.iter().map(|note| words::line(note, words::WHOLE));
    lines.extend(notes.map(|note| format!("  {}", paint(WARN, &format!("note    {note}")))));
    let next = "next: dacapo milestone new ID \"TITLE\" --edit | git add .dacapo (nothing was added to git)";
    lines.push(paint(DIM, next));
    lines.join("\n")
}
