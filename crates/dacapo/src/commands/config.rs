//! `dacapo config`.

use std::process::Command;
use std::sync::Arc;

use dacapo_app::operations::config::{ConfigChange, Effect, Written};
use signal_hook::consts::SIGINT;

use super::print;
use crate::App;
use crate::args::{Config, ConfigCommand};
use crate::config::{self, Origin, Whose};
use crate::error::Failure;
use crate::laying::Laid;
use crate::output::words::{DIM, paint};

/// Why a setting of the project's file does not count.
const UNTRUSTED: &str = "what it sets has no effect until you trust it: dacapo trust";

pub(super) fn run(app: &App, args: &Config) -> Result<u8, Failure> {
    let sources = app.config_sources();
    match args.command.as_ref().unwrap_or(&ConfigCommand::Show { json: false }) {
        ConfigCommand::Schema => print(&format!("{:#}", config::schema())),
        ConfigCommand::Path => {
            for path in [&sources.user_file, &sources.project_file].into_iter().flatten() {
                let there = if path.exists() { "" } else { "  (not there)" };
                print(&format!("{}{there}", path.display()));
            }
        }
        ConfigCommand::Set { key, value, project } => {
            let change = app.set_config(whose(*project), key, value)?;
            match change.written {
                Written::Changed => print(&format!("{key} is set in {}", change.path)),
                Written::AsItWas => print(&format!("{key} was set so in {} already", change.path)),
            }
            tell_effect(&change);
        }
        ConfigCommand::Unset { key, project } => {
            let change = app.unset_config(whose(*project), key)?;
            match change.written {
                Written::Changed => print(&format!("{key} is no longer set in {}", change.path)),
                Written::AsItWas => print(&format!("{key} was not set in {}", change.path)),
            }
            tell_effect(&change);
        }
        ConfigCommand::Edit { project } => return edit(app, whose(*project)),
        ConfigCommand::Show { json } => {
            let loaded = config::load(&sources)?;
            if *json {
                print(&format!("{:#}", config::render_json(&loaded)));
            } else {
                print(config::render(&loaded).trim_end());
            }
            for warning in &loaded.warnings {
                complain!("warning: {warning}");
            }
        }
    }
    Ok(0)
}

fn whose(project: bool) -> Whose {
    if project { Whose::Project } else { Whose::User }
}

/// Says where the value comes from now, unless it is the file that was just written.
fn tell_effect(change: &ConfigChange) {
    match &change.effect {
        Effect::Untrusted => print(UNTRUSTED),
        Effect::StillWrong { problems } => complain!("warning: {problems}"),
        Effect::From { origin: Origin::User { path, .. } | Origin::Project { path, .. } }
            if path.display().to_string() == change.path => {}
        Effect::From { origin: Origin::Default } => {}
        Effect::From { origin } => complain!("note    in effect is what it is set to by {origin}"),
    }
}

/// Opens the file, made from a sample where there is none, and waits until it is closed.
fn edit(app: &App, whose: Whose) -> Result<u8, Failure> {
    let file = app.config_file(whose)?;
    let editor = app.config_editor()?;
    let path = file.path.display();
    if app.lay_config(&file)? == Laid::Made {
        complain!("note    {path} is new: every setting is in it, as a comment");
    }
    // Ctrl-C at a terminal is for the editor.
    let _ = signal_hook::flag::register(SIGINT, Arc::default());
    // As git does it: the setting may hold arguments, and quotes.
    let ended =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(&file.path).status();
    let another = "EDITOR=… dacapo config edit takes another one";
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Err(Failure::failed(format!("`{editor}` failed ({status})"))
                .kept(format!("{path} as it left it"))
                .hint(another));
        }
        Err(error) => {
            return Err(Failure::failed(format!("`{editor}` cannot be started: {error}"))
                .kept(format!("{path} as it was"))
                .hint(another));
        }
    }
    let again = match whose {
        Whose::User => "dacapo config edit",
        Whose::Project => "dacapo config edit --project",
    };
    let written = app.take_config(&file, again)?;
    for warning in &written.loaded.warnings {
        complain!("warning: {warning}");
    }
    print(&format!("{path} is in order"));
    print(&paint(DIM, "dacapo config shows what is in effect, and where each value comes from"));
    if written.untrusted {
        print(UNTRUSTED);
    }
    Ok(0)
}
