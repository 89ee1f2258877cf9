//! `dacapo init`: the files that Dacapo reads in a repository, each with what it is for.

use dacapo_app::operations::init::{Founded, Imported, what_for};
use serde_json::json;

use super::print;
use crate::App;
use crate::args::Init;
use crate::error::Failure;
use crate::output::words::{self, BOLD, DIM, WARN, paint};

pub(super) fn run(app: &App, args: &Init) -> Result<u8, Failure> {
    let founded = app.init(args.import.as_deref())?;
    if args.json {
        let imported = founded.imported.iter().map(Imported::to_json).collect::<Vec<_>>();
        let Founded { top, made, there, notes, .. } = &founded;
        print(
            &json!({ "top": top, "made": made, "there": there, "imported": imported, "notes": notes })
                .to_string(),
        );
    } else {
        print(&told(&founded));
    }
    Ok(0)
}

fn told(founded: &Founded) -> String {
    let mut lines = vec![format!("{} in {}", paint(BOLD, ".dacapo/"), founded.top.display())];
    lines.extend(founded.made.iter().map(|path| format!("  made    {path}{}", paint(DIM, &what_for(path)))));
    lines.extend(founded.there.iter().map(|path| format!("  there   {path}")));
    for imported in &founded.imported {
        lines.push(format!("  import  {}", words::line(&imported.in_words(), words::WHOLE)));
    }
    let notes = founded.notes.iter().map(|note| words::line(note, words::WHOLE));
    lines.extend(notes.map(|note| format!("  {}", paint(WARN, &format!("note    {note}")))));
    let next = "next: dacapo milestone new ID \"TITLE\" --edit | git add .dacapo (nothing was added to git)";
    lines.push(paint(DIM, next));
    lines.join("\n")
}
