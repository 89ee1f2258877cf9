//! `dacapo init`: the files that Dacapo reads in a repository, each with what it is for.

use dacapo_app::operations::init::{Imported, InitResult, what_for};
use dacapo_app::present::json::Object;
use dacapo_app::present::json::objects::Init as InitObject;
use dacapo_app::present::kind_words;
use dacapo_app::present::next::{self, Next};

use crate::args::Init;
use crate::commands::Console;
use crate::error::Failure;
use crate::messages::Messages;
use crate::output::words::{self, BOLD, DIM, WARN, paint};

pub(super) fn run(app: &Console, args: &Init) -> Result<u8, Failure> {
    let founded = app.init(args.import.as_deref())?;
    if args.json {
        let InitResult { top, made, there, imported, notes } = founded;
        let init = InitObject {
            repo: top.display().to_string(),
            made,
            there,
            imported: imported.iter().map(Imported::file).collect(),
            notes: notes.iter().map(|note| note.english().to_owned()).collect(),
        };
        app.print(&Object::Init(init).line());
    } else {
        app.print(&told(&founded, app.messages));
    }
    Ok(0)
}

fn told(founded: &InitResult, messages: Messages) -> String {
    let mut lines = vec![messages.init_in(&paint(BOLD, ".dacapo/"), &messages.path(&founded.top))];
    let made =
        |path: &String| format!("{}{path}{}", messages.init_made(), paint(DIM, &what_for(path, messages)));
    lines.extend(founded.made.iter().map(made));
    lines.extend(founded.there.iter().map(|path| format!("{}{path}", messages.init_there())));
    for imported in &founded.imported {
        let said = words::line(&imported.in_words(messages), words::WHOLE);
        lines.push(format!("{}{said}", messages.init_imported()));
    }
    let notes = founded.notes.iter().map(|note| note.in_words(messages));
    let notes = notes.map(|note| format!("{}{}", messages.label_note(), words::line(note, words::WHOLE)));
    lines.extend(notes.map(|note| format!("  {}", paint(WARN, &note))));
    let all = [kind_words::new_definition(messages), Next::new("git add .dacapo", messages.next_git_add())];
    lines.push(next::lines(&all, messages));
    lines.join("\n")
}
